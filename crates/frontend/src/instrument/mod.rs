//! From the program's LLVM module to the code that runs.
//!
//! Order: [`link_models`], [`annotate`], [`insert_watch`] and [`hide`] on the -O0 module (the first before the model is
//! lowered from it), [`instrument`] on a copy of it per [`Mode`], [`finish`] to link the runtime, optimise and make an
//! executable.
//!
//! # What is logged
//!
//! Walking the model with the log recovers the whole path, so both sides follow these rules:
//! - Every `__q` mark logs its outcome; a symbolic one with the node of the leaf as evaluated. Afterwards the mark's
//!   result is concrete: the path fixes it.
//! - Every conditional branch logs its outcome, except those decided by a mark ([`crate::agreement::decided_by_mark`]).
//! - Every `switch` logs the index of the case in LLVM's list, the number of cases for default.
//! - Every call that is indirect at -O0 logs the callee, found by address, before it happens: number + 1 of an
//!   instrumented function, else 0.
//! - An instrumented function entered from uninstrumented code logs a callback. The root is entered as expected. Static
//!   functions that are only called directly log nothing, because nobody else can call them.
//! - Every return of a `returns_twice` function logs the number of its activation.
//! - A computed goto logs the index of its successor.
//! - What a [`model::walk::Watch`] lists logs its address ([`insert_watch`]) when the run's flags ask for it.
//! - Direct calls, blocks and returns log nothing. Functions listed as gaps with `asm goto`, exceptions or `naked` log
//!   nothing at all.
//!
//! # What is shadowed
//!
//! Every integer of at most 64 bits, every pointer, `float` and `double` has the number of an expression node beside it, 0
//! when concrete: in registers as a value of its own, in memory in the runtime's tables. Where a symbolic value meets
//! something without shadow, the log gets a pin: the run depends on that value in a way not tracked further.

mod annotate;
mod arithmetic;
mod calls;
mod code;
mod control;
mod finish;
mod float;
mod function;
mod gap;
mod intrinsics;
mod leaf;
mod library;
mod linker;
mod memory;
mod objects;
mod parts;
mod pass;
mod prepare;
mod reachable;
mod runtime;
mod system;
mod terms;
mod tries;
mod undefined;
mod variadic;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cache::CacheError;
use inkwell::module::Module;
use serde::{Deserialize, Serialize};

pub use crate::linking::MATHEMATICS;
use crate::llvm::{Builder, LlvmError, run_passes, use_sse2};

pub use annotate::annotate;
pub use finish::{Build, finish};
pub use gap::{CodeGap, NotFollowed};
pub use library::link_models;
pub use reachable::hide;
pub(crate) use system::SystemSymbols;
pub use undefined::{Libraries, undefined};
pub use watch::{WATCH_HOOK, insert_watch};

/// What an instrumented program does besides running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// Logs the path and builds expressions.
    Symbolic,
    /// Logs the path only.
    Fast,
}

/// The number of a line of a function's unit in the source, by the function's symbol.
pub type Places<'a> = dyn Fn(&str, u32) -> Option<u32> + 'a;

/// Why there is no executable.
#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    /// Neither a harness nor a program.
    #[error("the program has neither a harness nor a function main to start from")]
    NoRoot,
    #[error(transparent)]
    Llvm(#[from] LlvmError),
    /// A compiler or linker run failed.
    #[error("cannot {act}: {output}")]
    Compiler { act: &'static str, output: String },
    /// A file could not be read or written.
    #[error("cannot {act} {path}: {source}")]
    File { act: &'static str, path: PathBuf, source: std::io::Error },
    /// Nothing can be kept, not even for a moment.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// Turns the annotated module into one that logs, and in symbolic mode builds expressions.
///
/// Functions are instrumented when `numbers` names them and they have a body, those of `free_of_input` without expressions; `place` gives a line of a function's unit
/// its number in the log. Returns what is not followed.
pub fn instrument(
    module: &Module<'_>,
    mode: Mode,
    numbers: &BTreeMap<String, u32>,
    free_of_input: &BTreeSet<u32>,
    place: &Places<'_>,
) -> Result<NotFollowed, InstrumentError> {
    // what nothing uses needs no place among the objects; registers cost nothing, memory does; the control flow must
    // stay that of the model
    run_passes(module, "globaldce,function(sroa<preserve-cfg>,mem2reg)")?;
    // of x87's registers nobody could say which digits are kept
    let is_other_rounding = mode == Mode::Symbolic && use_sse2(module);
    pass::run(&Builder::new(module), mode, is_other_rounding, numbers, free_of_input, place)
}
