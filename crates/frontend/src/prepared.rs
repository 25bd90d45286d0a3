//! Code that was compiled when this program was, so that nobody waits for it.
//!
//! Limit: it is for the machine that this program was built on, and what the compiler of that day made: with another one that is there now
//! it is compiled again, when it is first needed.

use crate::tools;

/// What was prepared.
pub struct Prepared {
    /// The functions of the runtime that are inlined, as bitcode.
    pub inlined: &'static [u8],
    /// The runtime, as an object.
    pub object: &'static [u8],
    /// The models of library functions, as bitcode.
    pub models: &'static [u8],
    /// The library that makes a compiler buffer its output.
    pub buffered: &'static [u8],
    /// The linker and its words, one per line.
    pub linker: &'static str,
}

const PREPARED: Prepared = Prepared {
    inlined: include_bytes!(concat!(env!("OUT_DIR"), "/inlined.bc")),
    object: include_bytes!(concat!(env!("OUT_DIR"), "/runtime.o")),
    models: include_bytes!(concat!(env!("OUT_DIR"), "/library.bc")),
    buffered: include_bytes!(concat!(env!("OUT_DIR"), "/buffered.so")),
    linker: include_str!(concat!(env!("OUT_DIR"), "/linker")),
};

/// What was prepared, if the compiler would make the same now for these flags.
pub fn get(target_flags: &[String]) -> Option<&'static Prepared> {
    let is_same = target_flags.is_empty() && tools::compiler() == env!("QUARRY_PREPARED_BY");
    is_same.then_some(&PREPARED)
}
