//! The part of the C library that the interpreter supports, by name.
//!
//! Written from the C standard and, where results may differ, after the GNU C library (text of `(nil)`, order of
//! comparisons in `qsort`, the difference that `strcmp` returns on x86-64). A call of any other function ends the run as
//! unsupported. Accesses of these functions are checked like the program's own but not reported to the observer, because a
//! native run does not see into the library either.

mod characters;
mod format;
mod memory;
mod numbers;
mod output;
mod process;
mod strings;

pub(super) use characters::Tables;

use super::intrinsics;
use super::machine::{Argument, Machine};
use super::memory::{Checked, Stop};

/// A function without a model: takes scalars, gives at most two.
pub(super) type Native = fn(&mut Machine<'_>, &[Argument]) -> Checked<[u128; 2]>;

/// The function of this name, if the interpreter knows it.
pub(super) fn find(name: &str) -> Option<Native> {
    match name.strip_prefix("llvm.") {
        Some(intrinsic) => intrinsics::find(intrinsic),
        None => output::find(name)
            .or_else(|| strings::find(name))
            .or_else(|| memory::find(name))
            .or_else(|| characters::find(name))
            .or_else(|| numbers::find(name))
            .or_else(|| process::find(name)),
    }
}

/// One result.
fn one(value: u64) -> Checked<[u128; 2]> {
    Ok([value.into(), 0])
}

/// A signed result; the call cuts it to its type.
fn signed(value: i64) -> Checked<[u128; 2]> {
    Ok([value as u128, 0])
}

/// No result.
fn nothing() -> Checked<[u128; 2]> {
    Ok([0, 0])
}

/// The argument with this number as an address or count.
fn word(arguments: &[Argument], number: usize) -> Checked<u64> {
    let argument = arguments.get(number).ok_or_else(|| too_few(number))?;
    Ok(argument.value as u64)
}

/// The argument with this number as a C `int`.
fn int(arguments: &[Argument], number: usize) -> Checked<i32> {
    Ok(word(arguments, number)? as u32 as i32)
}

fn too_few(number: usize) -> Stop {
    Stop::Unsupported(format!("library function called without argument {}", number + 1).into())
}
