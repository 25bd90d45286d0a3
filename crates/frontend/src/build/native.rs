//! The user's own C to a plain executable: what an instrumented program is compared with, replayed and measured on.

use std::path::{Path, PathBuf};

use super::{BuildError, compile::run};
use crate::{
    clang::{ClangError, LENIENT, clang},
    marks::Unit,
};

/// A C file and how to compile it.
#[derive(Clone, Copy, Debug)]
pub struct NativeUnit<'a> {
    pub file: &'a Path,
    /// Directory the compiler runs in.
    pub directory: &'a Path,
    /// Flags for preprocessing, then for compiling.
    pub flags: [&'a [String]; 2],
}

impl<'a> From<&'a Unit> for NativeUnit<'a> {
    /// The file that the user named, unmarked.
    fn from(unit: &'a Unit) -> Self {
        Self { file: &unit.source, directory: &unit.directory, flags: [&unit.preprocess, &unit.flags] }
    }
}

/// Compiles and links the units to `output`, which is below `root` unless it is absolute; `extra` flags are given to every compile and to the link. Objects stay in
/// `output` with `.objects` appended, where coverage tools look for their notes.
pub fn compile_native(
    root: &Path,
    units: &[NativeUnit<'_>],
    link_flags: &[String],
    output: &Path,
    extra: &[&str],
) -> Result<(), BuildError> {
    // Absolute: compilers run in the units' own directories.
    let output = &root.join(output);
    let objects = PathBuf::from(format!("{}.objects", output.display()));
    std::fs::create_dir_all(&objects).map_err(|error| BuildError::File {
        act: "make directory",
        file: objects.clone(),
        error,
    })?;
    let mut link = clang(root);
    for (number, unit) in units.iter().enumerate() {
        let object = objects.join(format!("unit{number}.o"));
        let mut command = clang(unit.directory);
        command.args(unit.flags.concat()).args(LENIENT).args(extra);
        if unit.file.extension().is_some_and(|extension| extension == "h") {
            command.args(["-x", "c"]); // clang would precompile a header
        }
        command.arg("-c").arg(unit.file).arg("-o").arg(&object);
        run(&mut command, unit.file)?;
        link.arg(object);
    }
    link.args(link_flags).args(extra).arg("-o").arg(output);
    run(&mut link, output).map_err(|error| match error {
        ClangError::Rejected { file, diagnostics } => BuildError::Link { output: file, diagnostics },
        other => other.into(),
    })
}
