/* The byte layout shared by the runtime and the engine; the Rust side is crates/wire. All integers little-endian. */
#ifndef QUARRY_WIRE_H
#define QUARRY_WIRE_H

#include <stdint.h>

#define Q_MAGIC 0x59525251u /* "QRRY" */
#define Q_WIRE_VERSION 5u
#define Q_SHM_FD 198
#define Q_COMMAND_FD 199
#define Q_REPLY_FD 200
#define Q_AGAIN_FD 201
#define Q_HEADER_SIZE 4096u
#define Q_TRY_OFFSET 4096u /* of the records of tries */
/* Bytes of path log after which a try is cut off: no multiple of 256, because counters wrap. */
#define Q_LONGEST_TRY 1000000u
#define Q_MAX_TRIES 256u

/* The engine fills the first part before each run, the run the second. Offsets are from the start of the memory. */
struct q_header {
    uint32_t magic;
    uint32_t version;
    uint32_t flags;    /* Q_FLAG_* */
    uint32_t n_inputs; /* input records, sorted by key */
    uint64_t input_offset;
    uint64_t cell_offset;
    uint64_t node_offset;
    uint64_t log_offset;
    uint64_t total_size;
    uint32_t input_capacity; /* records */
    uint32_t cell_capacity;  /* records */
    uint32_t node_capacity;  /* nodes; ids run from 1, so node k lies at node_offset + 16 * k */
    uint32_t n_tries;        /* records of tries, when tries are asked for */
    uint64_t log_capacity; /* bytes */
    uint64_t memory_limit; /* bytes of address space the program may use besides the runtime's own; 0: none */
    uint64_t file_limit;   /* bytes a file written by the program may have; 0: none */
    uint64_t cpu_limit_ms; /* 0: none */

    uint32_t state;   /* Q_STATE_* */
    uint32_t marks;   /* Q_MARK_*: what went short in this run */
    uint32_t n_cells; /* cells the run asked for */
    uint32_t n_nodes; /* nodes made; also the id of the newest */
    uint64_t log_length;
    int32_t exit_code;
    uint32_t n_tried; /* tries that came to an end */
    uint64_t fault_address;

    /* The first access outside of its object, when Q_MARK_OUT_OF_BOUNDS is set. */
    uint64_t outside_offset; /* of the access from the start of the object, signed */
    uint64_t outside_size;   /* of the object */
    uint32_t outside_bytes;  /* accessed; Q_ACCESS_WRITE added for a write */
    uint32_t outside_object; /* Q_OBJECT_* */
    uint32_t outside_place;  /* as in Q_EV_BOUNDS */
    uint32_t fresh_reason;   /* Q_FRESH_*: why the run was given up and needs a process of its own; 0: it was not */
    uint32_t fresh_detail;   /* the number of a system call, KiB of memory */
    uint32_t pad2;
};

enum {
    Q_FRESH_FILE = 1,      /* it opens files, or uses others than the standard streams */
    Q_FRESH_SIGNAL = 2,    /* it handles signals or sets timers */
    Q_FRESH_THREAD = 3,    /* it asks for a thread or a process */
    Q_FRESH_MAPPING = 4,   /* it maps memory in a way that is not undone */
    Q_FRESH_CALL = 5,      /* another system call */
    Q_FRESH_TOO_LARGE = 6, /* there is too much memory to set back */
    Q_FRESH_REGIONS = 7,   /* it lies in too many places, or these are not known */
    Q_FRESH_SHARED = 8,    /* it is shared with other processes */
    Q_FRESH_KERNEL = 9,    /* the kernel lacks what reuse needs */
};

enum {
    Q_OBJECT_GLOBAL = 1,
    Q_OBJECT_LOCAL = 2,
    Q_OBJECT_HEAP = 3,
    Q_OBJECT_FOREIGN = 4, /* of the C library */
};
#define Q_ACCESS_WRITE 0x80000000u

enum {
    Q_FLAG_SYMBOLIC = 1, /* make input cells symbolic; without it the run only logs */
    Q_FLAG_ADDRESSES = 2, /* log where variables lie and pointers lead */
    Q_FLAG_ALONE = 4,     /* one try per process */
};

enum {
    Q_STATE_READY = 0,    /* set by the engine */
    Q_STATE_STARTED = 1,  /* the child runs */
    Q_STATE_RETURNED = 2, /* the harness (or main) came back */
    Q_STATE_EXITED = 3,   /* exit() or _exit() was called by the program: exit_code holds its argument */
    Q_STATE_STACK_OVERFLOW = 4,
};

enum {
    Q_MARK_NODES_FULL = 1,     /* no more expression nodes: the rest of the run was concrete */
    Q_MARK_LOG_FULL = 2,       /* no more path log: the trace ends early */
    Q_MARK_CELLS_FULL = 4,     /* no more cells: later ones were concrete */
    Q_MARK_OUT_OF_MEMORY = 8,  /* an allocation failed under the memory limit */
    Q_MARK_OVERWRITTEN = 16,   /* uninstrumented code wrote over symbolic bytes (they became concrete) */
    Q_MARK_THREADS = 32,       /* the program asked for a thread or a process and was refused */
    Q_MARK_LARGE_OBJECT = 64,  /* a read at a symbolic address had too many entries for a table: pinned */
    Q_MARK_OUT_OF_BOUNDS = 128, /* an access went outside of its object: see outside_* */
    Q_MARK_ABORTS = 512,       /* the program itself asked for its abnormal end: the log is whole */
    Q_MARK_REJECTED = 256,     /* an assumption of the program did not hold: the run counts for nothing */
};

/* Engine to run: value for the cell of this key. A cell whose key is missing keeps what is in memory. */
struct q_input {
    uint64_t key;
    uint64_t value;
};

/* What the server is asked to do: a byte each. */
enum {
    Q_COMMAND_RUN = 'r',   /* in a process of its own */
    Q_COMMAND_REUSE = 'u', /* in a process that then waits for bytes on Q_AGAIN_FD, and runs again for each */
    Q_COMMAND_TRY = 't', /* go on with the tries, in one process, until all were tried, it ends, or that is enough work */
};

/* One of many inputs to be tried: the engine says where its records are, the run what came of it. */
struct q_try {
    uint32_t first_input; /* of the input records */
    uint32_t n_inputs;
    uint32_t verdict; /* Q_TRY_* */
    uint32_t n_logged; /* bytes of its path log */
};

enum {
    Q_TRY_OPEN = 0, /* set by the engine */
    Q_TRY_KNOWN = 1, /* it did nothing that no run before it did */
    Q_TRY_NEW = 2,
};

/* Run to engine: a cell in the order of asking. */
struct q_cell {
    uint64_t key;
    uint64_t value;
    uint32_t node;  /* its Q_INPUT node, 0 when concrete */
    uint32_t width; /* bits */
    uint32_t kind;  /* Q_CELL_* */
    uint32_t limit; /* of a size or count: the largest; of a choice: how many there are to choose from */
};

enum {
    Q_CELL_VALUE = 0,
    Q_CELL_SIZE = 1,   /* a number of elements; never symbolic */
    Q_CELL_CHOICE = 2, /* which of several things is there */
    Q_CELL_OPTION = 3, /* the same, but never symbolic */
    Q_CELL_COUNT = 4,  /* a number of things that conditions of the program speak of */
};

/* Expression node. `width` is the width of the result in bits (1..64). Shape by op and aux:
 *   Q_CONST     imm
 *   Q_INPUT     a = index of the cell
 *   binary      a, b; with Q_AUX_IMM: a, imm; with Q_AUX_IMM|Q_AUX_SWAP: imm, a. Compares have width 1 and their
 *               operands' width is that of operand a.
 *   Q_NOT Q_ZEXT Q_SEXT   a
 *   Q_EXTRACT   a, aux = lowest bit taken
 *   Q_CONCAT    a = high part, b = low part
 *   Q_ITE       a = condition (width 1), b = then, c = else
 *   Q_FADD .. Q_FLE   as binary, on the bits of numbers of 32 or 64 bits
 *   Q_FNAN .. Q_FTO_SIGNED   a; Q_FROUND: aux = direction
 *   Q_FMA       a, b, c
 *   Q_OPAQUE    what a function not looked into returned: a, b (0: none) = arguments, c = its value, a Q_CONST
 *   Q_TABLE     a = index, b = first of c nodes in a row that are the entries. As many low bits of the index as are
 *               needed to count the entries choose one; beyond the last the last one counts.
 *   Q_SAME      a: an entry of a table that is another node
 */
struct q_node {
    uint8_t op;
    uint8_t width;
    uint16_t aux;
    uint32_t a;
    union {
        struct {
            uint32_t b;
            uint32_t c;
        };
        uint64_t imm;
    };
};

enum { Q_AUX_IMM = 1, Q_AUX_SWAP = 2 };

enum {
    Q_CONST = 1,
    Q_INPUT = 2,
    Q_ADD = 3,
    Q_SUB = 4,
    Q_MUL = 5,
    Q_UDIV = 6,
    Q_SDIV = 7,
    Q_UREM = 8,
    Q_SREM = 9,
    Q_AND = 10,
    Q_OR = 11,
    Q_XOR = 12,
    Q_SHL = 13,
    Q_LSHR = 14,
    Q_ASHR = 15,
    Q_EQ = 16,
    Q_NE = 17,
    Q_ULT = 18,
    Q_ULE = 19,
    Q_SLT = 20,
    Q_SLE = 21,
    Q_NOT = 22,
    Q_ZEXT = 23,
    Q_SEXT = 24,
    Q_EXTRACT = 25,
    Q_CONCAT = 26,
    Q_ITE = 27,
    Q_TABLE = 60,
    Q_SAME = 61,
};

/* Floating-point arithmetic, rounded to nearest; a NaN made by it is the machine's default one. */
enum {
    Q_FADD = 64,
    Q_FSUB = 65,
    Q_FMUL = 66,
    Q_FDIV = 67,
    Q_FREM = 68, /* fmod */
    Q_FEQ = 69,
    Q_FLT = 70,
    Q_FLE = 71,
    Q_FNAN = 72,
    Q_FSQRT = 73,
    Q_FROUND = 74,
    Q_FCONVERT = 75, /* between the formats */
    Q_FFROM_SIGNED = 76,
    Q_FFROM_UNSIGNED = 77,
    Q_FTO_SIGNED = 78, /* to 32 or 64 bits, cut towards zero; the least integer when there is none */
    Q_FMA = 79,
    Q_OPAQUE = 80,
};

/* Directions of Q_FROUND. */
enum { Q_TO_EVEN = 0, Q_AWAY = 1, Q_UP = 2, Q_DOWN = 3, Q_TO_ZERO = 4 };

/* Path log: a byte stream. `varint` is LEB128, `node` a u32. Which site an entry belongs to is recovered by walking the
 * program model with the outcomes. */
enum {
    Q_EV_FALSE = 0x00,          /* marked condition, or branch that no mark decides, concrete */
    Q_EV_TRUE = 0x01,
    Q_EV_FALSE_SYMBOLIC = 0x02, /* node */
    Q_EV_TRUE_SYMBOLIC = 0x03,  /* node */
    Q_EV_SWITCH = 0x04,         /* varint: index of the case in the switch's list, the number of cases for default */
    Q_EV_SWITCH_SYMBOLIC = 0x05, /* varint as above, node of the operand */
    Q_EV_CALLEE = 0x06,         /* indirect call: varint 0 = not instrumented, else function + 1 */
    Q_EV_CALLBACK = 0x07,       /* instrumented function entered from uninstrumented code: varint function */
    Q_EV_SETJMP = 0x08,         /* setjmp came back: varint activation, counted from 1 by first return */
    Q_EV_PIN = 0x09,            /* node, u64 value, varint place: the run depends on node == value in a way not tracked
                                   further. The place is 0 when unknown, else twice the number of a site (from 1), or
                                   twice the number of a span (from 1) plus 1 */
    Q_EV_ASSUME = 0x0a,         /* node of width 1 that was true and must stay so (divisor not 0, shift in range) */
    Q_EV_ADDRESS = 0x0b,        /* u64 address, varint bytes: of an access, or of a variable; 0 bytes: nobody knows */
    Q_EV_JUMP = 0x0c,           /* computed goto: varint index of the successor */
    Q_EV_PREFER = 0x0d,         /* node of width 1 that was true and should stay so while nothing speaks against it */
    Q_EV_BOUNDS = 0x0e,         /* node of width 1 that was true and must stay so: an access lies within its object;
                                   varint: twice the place of the access (0 when unknown, else number of the span + 1),
                                   plus 1 when it holds only as long as the pins do */
    Q_EV_SIZE = 0x0f,           /* like Q_EV_PIN, of a number of bytes allocated, copied or filled */
    Q_EV_POINTER = 0x10,        /* like Q_EV_PIN, of a pointer that is followed: another value is another object */
    Q_EV_UNFOLLOWED = 0x11,     /* varint site: code that is not followed was given symbolic bytes there, for the first time */
    Q_EV_OUTSIDE = 0x12,        /* an access goes outside of its object, for the first time */
};

/* Fork server. Command: one byte. Reply: struct q_started after the fork, struct q_ended after the wait. A process that is
 * reused says itself that a run is over, and is still there; the server says it when the process has ended. */
struct q_started {
    int32_t pid;
};
struct q_ended {
    int32_t wait_status; /* with Q_ENDED_ALIVE: what it would be if the process had ended */
};
#define Q_ENDED_ALIVE 0x10000

#endif
