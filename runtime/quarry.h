/* Declarations shared by the parts of the runtime.
 *
 * The runtime is one translation unit (quarry.c includes the parts), linked as bitcode into the instrumented program
 * before optimisation. Names that instrumented code uses start with __quarry_ and become internal after linking;
 * everything else is static. The code under test may define any libc function itself, so the runtime calls as few of
 * them as possible and is compiled without builtins. */
#ifndef QUARRY_H
#define QUARRY_H

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

#include "quarry_wire.h"

/* Called by instrumented code: a short test, inlined, that leaves the rest to a cold function. */
#define Q_INLINE __attribute__((always_inline, visibility("hidden")))
/* Called by instrumented code as a plain function. */
#define Q_ENTRY __attribute__((noinline, visibility("hidden")))
/* The rare side of an inlined test. On x86-64 it saves the registers itself, so the common side need not. */
#if defined(__x86_64__)
#define Q_COLD static __attribute__((noinline, cold, preserve_most))
#else
#define Q_COLD static __attribute__((noinline, cold))
#endif

#define q_likely(x) __builtin_expect(!!(x), 1)
#define q_unlikely(x) __builtin_expect(!!(x), 0)

typedef uint32_t q_id; /* number of an expression node, 0: concrete */

/* The header lives in the program's own zero page until the server maps the shared one over it: logging needs no test
 * whether anybody listens, not even in constructors that run before main. */
static union {
    struct q_header header;
    uint8_t page[Q_HEADER_SIZE];
} q_shared __attribute__((aligned(4096)));
#define H (q_shared.header)

static uint8_t *q_log;         /* start of the path log */
static size_t q_log_limit;     /* its capacity; 0 when there is none or it is full */
static struct q_node *q_nodes; /* node 0 is never used */
static struct q_cell *q_cells;
static const struct q_input *q_inputs;

/* Made by the instrumentation: how often each outcome of each place came about in this run, modulo 256. */
extern uint8_t __quarry_counters[] __attribute__((visibility("hidden")));

static inline uint64_t q_mask(unsigned width)
{
    return width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
}

/* Made by the instrumentation: calls the harness, or the program's own main. */
extern int __quarry_root(int argc, char **argv, char **envp) __attribute__((visibility("hidden")));

/* log.c */
static void q_log_node(uint8_t event, q_id node);
static void q_log_varint(uint8_t event, uint64_t value);
Q_COLD void q_pin(q_id node, uint64_t value);
Q_COLD void q_pin_pointer(q_id node, uint64_t value);

/* nodes.c */
static q_id q_make(unsigned op, unsigned width, q_id a, uint64_t value_a, q_id b, uint64_t value_b);
static q_id q_constant(unsigned width, uint64_t value);
static q_id q_extend(unsigned op, unsigned width, q_id a);
static q_id q_extract(unsigned width, q_id a, unsigned low);
static q_id q_concat(q_id high, q_id low);
static int q_is_choice(q_id node);
static q_id q_choose(unsigned width, q_id condition, q_id then_node, uint64_t then_value, q_id else_node,
                     uint64_t else_value);

/* extents.c */
static uint32_t q_n_locals;
static uint32_t q_size_is_symbolic;
static void q_note_block(uintptr_t start, size_t size);

/* objects.c */
Q_COLD void q_pin_access(q_id node, uint64_t address);

/* reuse.c */
static long q_own_call(long number, long a, long b, long c, long d, long e, long f);
static void q_zero(uintptr_t start, size_t n);

/* memory.c */
static void q_set_bytes(uintptr_t address, unsigned bytes, q_id node, uint64_t value);
static int q_shadow_reserve(void);

#endif
