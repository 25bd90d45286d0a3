//! Programs of tests that are there already, built with the function's unit and observed by AddressSanitizer.

use std::path::{Path, PathBuf};

use frontend::build::NativeUnit;

use super::{Subject, target_flags, without_main};
use crate::error::Error;

/// The files of a program of tests.
pub struct TestProgram<'a> {
    /// Files that include the unit with the function, and are compiled as it is.
    pub capturing: &'a [PathBuf],
    /// Tests and what belongs to them, in C or C++.
    pub beside: &'a [PathBuf],
    /// Where tests find their headers, besides where the unit does.
    pub directories: &'a [PathBuf],
    /// What the user says about tests: flags for compiling and linking.
    pub flags: &'a [String],
    /// Flags for the linker.
    pub link: &'a [String],
}

/// Flags by which every part is built: addresses in notes are those of the file.
const OBSERVED: [&str; 6] = [
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address",
    "-fsanitize-recover=address",
    "-fno-pie",
    "-no-pie",
];

impl Subject {
    /// Builds a program of tests.
    pub fn build_tests(&self, program: &TestProgram<'_>, output: &Path) -> Result<(), Error> {
        let (unit, others) = self.units();
        let include: Vec<String> =
            program.directories.iter().map(|directory| format!("-I{}", directory.display())).collect();
        let own: Vec<String> = [unit.preprocess.as_slice(), &include, program.flags].concat();
        let is_for_c = |flag: &&String| flag.starts_with("-std=") || *flag == "-ansi";
        let preprocess = unit.preprocess.iter().filter(|flag| !is_for_c(flag)).cloned();
        let beside: Vec<String> =
            [target_flags(unit), preprocess.collect(), include, program.flags.to_vec()].concat();
        let mut units: Vec<NativeUnit<'_>> = Vec::new();
        for file in program.capturing {
            units.push(NativeUnit { file, flags: [&own, &unit.flags], ..NativeUnit::from(unit) });
        }
        for file in program.beside {
            units.push(NativeUnit { file, flags: [&beside, &[]], ..NativeUnit::from(unit) });
        }
        let is_current = || self.is_current();
        let flags = without_main(&others);
        for ((number, other), preprocess) in others.iter().zip(&flags) {
            let kept = self.kept_object(*number, &is_current);
            units.push(NativeUnit { flags: [preprocess, &other.flags], kept, ..NativeUnit::from(*other) });
        }
        let link = program.link.iter().chain(program.flags).map(String::as_str);
        let extra: Vec<&str> = OBSERVED.into_iter().chain(link).collect();
        self.build_native(&units, output, &extra)
    }

    /// Whether a file is one of the program's own.
    pub fn has_source(&self, file: &Path) -> bool {
        self.front.marks.units.iter().any(|unit| unit.real_path == file || unit.source == file)
    }

    /// Where the function's unit finds its headers.
    pub fn include_directories(&self) -> impl Iterator<Item = PathBuf> {
        let (unit, _) = self.units();
        let named = unit.preprocess.iter().filter_map(|flag| flag.strip_prefix("-I"));
        named.filter(|name| !name.is_empty()).map(|name| unit.directory.join(name))
    }
}
