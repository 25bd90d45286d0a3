//! From C source to a program model and instrumented binaries; the only part of Quarry that knows clang and LLVM.
//!
//! The way of a translation unit: [`sources`] says what to compile and how, [`preprocess`] makes one text with a token per
//! line, [`mark`] wraps every condition in a marker call, [`harness`] appends the code that builds inputs, [`stubs`] stands
//! in for functions that are defined nowhere, [`build`] compiles and links the units to one module, [`lower`] turns it into
//! a [`model::Program`], [`instrument`] into the code that runs. `agreement` holds what these two must see
//! alike; [`compilers`] starts clang's processes. libclang is called in `clang` alone, LLVM's C interface in `llvm` alone. Beside all that, [`witness`] says what clang's
//! tools see in a native build.

mod agreement;
pub mod build;
mod clang;
pub mod compilers;
mod declarations;
mod embedded;
mod error;
pub mod harness;
pub mod instrument;
mod linking;
mod llvm;
pub mod lower;
pub mod mark;
pub mod marks;
pub mod mutate;
mod prepared;
pub mod preprocess;
mod reads;
pub mod sources;
pub mod stubs;
pub mod tools;
pub mod witness;

pub use agreement::RUNTIME_PREFIX;
pub use clang::ClangError;
pub use error::{Blame, Error};
