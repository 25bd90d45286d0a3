//! The byte layout shared by the runtime (C) and the engine (Rust).
//!
//! One memfd holds everything: a header page, the records of tries, the input records the engine writes before a run, and
//! what the run writes: requested cells, expression nodes, the path log. `runtime/quarry_wire.h` states the same layout in
//! C; the test `header_matches_the_c_side` compares the two. All integers are little-endian.

mod event;
mod float;
mod layout;
mod node;

pub use event::{Event, EventError, Events, LogPlace};
pub use float::{FloatOp, FloatUnary, Rounding};
pub use layout::{
    CELL_SIZE, Cell, CellKind, Flags, HEADER_SIZE, Header, INPUT_SIZE, InputRecord, LONGEST_TRY, Layout,
    MAGIC, MAX_TRIES, Marks, NotUndone, ObjectKind, Outside, RunState, TRY_OFFSET, TRY_SIZE, TryRecord,
    TryVerdict, WIRE_VERSION, field,
};
pub use node::{NODE_SIZE, Node, NodeError, NodeId, NodeOp, Operand, row_of};

/// File descriptor of the shared memory in the program under test.
pub const SHM_FD: i32 = 198;
/// Asks the fork server for a run.
pub const RUN_COMMAND: u8 = b'r';
/// Asks it for a process that runs, and runs again for every byte that it reads from [`AGAIN_FD`].
pub const REUSE_COMMAND: u8 = b'u';
/// Asks it to go on with the tries.
pub const TRY_COMMAND: u8 = b't';
/// File descriptor from which the fork server reads commands.
pub const COMMAND_FD: i32 = 199;
/// File descriptor to which the fork server writes replies.
pub const REPLY_FD: i32 = 200;
/// File descriptor from which a process that is reused reads a byte for every further run.
pub const AGAIN_FD: i32 = 201;
/// In the reply about a run: its process is still there, and the other bits are as if it had ended.
pub const ENDED_ALIVE: i32 = 0x10000;
/// Set in the environment of a program that is to act as a fork server.
pub const SERVER_VARIABLE: &str = "QUARRY_SERVER";
