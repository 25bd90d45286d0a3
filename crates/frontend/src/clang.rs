//! clang as Quarry uses it: the `clang-19` program for preprocessing, and libclang for reading C.
//!
//! Nothing outside this module calls libclang. Its handles are wrapped so that a cursor or type cannot outlive the
//! parsed unit it belongs to.

mod cursor;
mod driver;
mod types;
mod unit;

pub use cursor::{BinaryOperator, Constant, Cursor, Node, UnaryOperator};
pub use driver::{CLANG, ClangError, clang, failure};
pub use types::{ClangType, TypeNode};
pub use unit::{Diagnostic, ParsedUnit};

/// Flags for reading and compiling every text: Quarry accepts what gcc accepts, and the user saw
/// the warnings when building the program.
pub const LENIENT: &[&str] = &[
    "-w",
    "-Qunused-arguments",
    "-Wno-error",
    "-Wno-implicit-function-declaration",
    "-Wno-implicit-int",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-return-mismatch",
    "-Wno-return-type",
];
