//! Which symbols do C's own libraries have? Read off their files, without starting a linker.
//!
//! Method: the dynamic symbols of the library that this process itself has loaded and of the one beside it, which are those that a program for the same machine is
//! linked with; a version that is only there for old programs does not count. Limit: what is in the compiler's own
//! library or in the parts that are linked statically is not known here, and on another machine nothing is.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The files that every program is linked with; they lie in one directory.
const LIBRARY: &str = "libc.so.6";
const MATHEMATICS: &str = "libm.so.6";

/// The symbols that these libraries define or ask for.
#[derive(Debug, Default)]
pub struct SystemSymbols {
    defined: HashSet<Vec<u8>>,
    used: HashSet<Vec<u8>>,
}

impl SystemSymbols {
    /// Those of this machine; nothing when they cannot be read.
    pub fn get() -> Option<&'static Self> {
        static SYMBOLS: OnceLock<Option<SystemSymbols>> = OnceLock::new();
        SYMBOLS.get_or_init(read).as_ref()
    }

    /// Whether a library defines it for programs that are linked now.
    pub fn defines(&self, name: &str) -> bool {
        self.defined.contains(name.as_bytes())
    }

    /// Whether a library has the name in any way. Names with an underscore in front may also be those of parts that are not known here.
    pub fn may_name(&self, name: &str) -> bool {
        name.starts_with('_') || self.defines(name) || self.used.contains(name.as_bytes())
    }
}

fn read() -> Option<SystemSymbols> {
    if !cfg!(all(target_arch = "x86_64", target_endian = "little")) {
        return None;
    }
    let mut symbols = SystemSymbols::default();
    let library = loaded_library()?;
    for file in [library.with_file_name(MATHEMATICS), library] {
        add_symbols(&std::fs::read(file).ok()?, &mut symbols)?;
    }
    Some(symbols)
}

/// The library of C that this process has loaded.
fn loaded_library() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])));
    paths.into_iter().find(|path| path.ends_with(LIBRARY))
}

/// Kinds of sections.
const DYNAMIC_SYMBOLS: u32 = 11;
const VERSIONS: u32 = 0x6fff_ffff;
/// Marks a version that only old programs use.
const HIDDEN: u16 = 0x8000;

/// Adds the dynamic symbols of a library; nothing when it is no ELF file of 64 bits with sections.
fn add_symbols(file: &[u8], symbols: &mut SystemSymbols) -> Option<()> {
    if file.get(..6)? != [0x7f, b'E', b'L', b'F', 2, 1] {
        return None;
    }
    let sections = Sections {
        file,
        start: number(file, 0x28, 8)?,
        size: number(file, 0x3a, 2)?,
        n: number(file, 0x3c, 2)?,
    };
    let table = sections.of_kind(DYNAMIC_SYMBOLS)?;
    let versions = sections.bytes(sections.of_kind(VERSIONS)?)?;
    let names = sections.bytes(number(sections.header(table)?, 0x28, 4)?)?;
    for (index, symbol) in sections.bytes(table)?.chunks_exact(24).enumerate() {
        let name = names.get(number(symbol, 0, 4)?..)?;
        let name = name[..name.iter().position(|byte| *byte == 0)?].to_vec();
        let is_defined = number(symbol, 6, 2)? != 0;
        let is_hidden = number(versions, 2 * index, 2)? & usize::from(HIDDEN) != 0;
        if is_defined && !is_hidden {
            symbols.defined.insert(name);
        } else {
            symbols.used.insert(name);
        }
    }
    Some(())
}

/// The sections of a file.
struct Sections<'a> {
    file: &'a [u8],
    start: usize,
    size: usize,
    n: usize,
}

impl<'a> Sections<'a> {
    fn header(&self, index: usize) -> Option<&'a [u8]> {
        let start = self.start.checked_add(index.checked_mul(self.size)?)?;
        self.file.get(start..start.checked_add(self.size)?)
    }

    fn of_kind(&self, kind: u32) -> Option<usize> {
        (0..self.n).find(|index| {
            let found = self.header(*index).and_then(|header| number(header, 4, 4));
            found == usize::try_from(kind).ok()
        })
    }

    fn bytes(&self, index: usize) -> Option<&'a [u8]> {
        let header = self.header(index)?;
        let (start, size) = (number(header, 0x18, 8)?, number(header, 0x20, 8)?);
        self.file.get(start..start.checked_add(size)?)
    }
}

/// A number of some bytes, the least significant first.
fn number(bytes: &[u8], at: usize, n_bytes: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(n_bytes)?)?;
    usize::try_from(bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_symbols_of_the_library_are_known() {
        let symbols = SystemSymbols::get().expect("this machine has a library of C");
        for name in ["printf", "malloc", "environ", "sin", "strtol"] {
            assert!(symbols.defines(name), "{name}");
        }
        for name in ["compress", "quarry", "no_such_function"] {
            assert!(!symbols.defines(name) && !symbols.may_name(name), "{name}");
        }
    }

    #[test]
    fn what_only_old_programs_use_is_not_defined() {
        let symbols = SystemSymbols::get().expect("this machine has a library of C");
        // removed from the headers in 2020 (glibc 2.32); it stays in the library
        assert!(!symbols.defines("sys_errlist") && symbols.may_name("sys_errlist"));
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_refused_or_read() {
        let library = loaded_library().expect("this machine has a library of C");
        let file = std::fs::read(library.with_file_name(MATHEMATICS)).expect("the library can be read");
        for length in (0..file.len()).step_by(4001) {
            let mut symbols = SystemSymbols::default();
            assert!(add_symbols(&file[..length], &mut symbols).is_none(), "{length}");
        }
    }
}
