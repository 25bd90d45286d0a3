//! The user's own C to a plain executable: what an instrumented program is compared with, replayed and measured on.

use std::path::{Path, PathBuf};

use cache::{Cache, Entry, Key};

use super::{AT_A_TIME, BuildError, compile::run};
use crate::{
    clang::{ClangError, LENIENT, clang},
    compilers::in_parallel,
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
    /// Whether its object can be used again.
    pub kept: Option<KeptObject<'a>>,
}

/// Where an object is kept for later builds.
#[derive(Clone, Copy)]
pub struct KeptObject<'a> {
    pub cache: &'a Cache,
    /// What decides the object, besides flags and paths: the contents of all files that the compiler reads.
    pub sources: &'a Key,
    /// Whether these contents are still the same.
    pub is_current: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for KeptObject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptObject").field("sources", self.sources).finish_non_exhaustive()
    }
}

/// The kind of entry that has an object, and its file.
const KIND: &str = "native";
const FILE: &str = "unit.o";

impl<'a> From<&'a Unit> for NativeUnit<'a> {
    /// The file that the user named, unmarked.
    fn from(unit: &'a Unit) -> Self {
        Self {
            file: &unit.source,
            directory: &unit.directory,
            flags: [&unit.preprocess, &unit.flags],
            kept: None,
        }
    }
}

/// Compiles and links the units to `output`, which is below `root` unless it is absolute; `extra` flags are given to every compile and to the link. Objects that
/// are not kept elsewhere stay in `output` with `.objects` appended.
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
    let numbered: Vec<(usize, &NativeUnit<'_>)> = units.iter().enumerate().collect();
    let made = in_parallel(&numbered, AT_A_TIME, |(number, unit)| {
        object(unit, extra, &objects.join(format!("unit{number}.o")))
    });
    let made = made.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut link = clang(root);
    link.args(made.iter().map(|(object, _)| object)).args(link_flags).args(extra).arg("-o").arg(output);
    run(&mut link, output).map_err(|error| match error {
        ClangError::Rejected { file, diagnostics } => BuildError::Link { output: file, diagnostics },
        other => other.into(),
    })
}

/// The object of a unit, kept or compiled to `output`, and what has it if it is kept.
fn object(
    unit: &NativeUnit<'_>,
    extra: &[&str],
    output: &Path,
) -> Result<(PathBuf, Option<Entry>), BuildError> {
    let Some(KeptObject { cache, sources, is_current }) = unit.kept else {
        compile(unit, extra, output)?;
        return Ok((output.to_owned(), None));
    };
    let paths = [unit.file, unit.directory].map(|path| path.as_os_str().as_encoded_bytes());
    let key = sources.clone().parts("paths", paths).parts("extra", extra);
    let key = unit.flags.iter().fold(key, |key, flags| key.parts("flags", *flags));
    if let Some(entry) = cache.get(KIND, &key) {
        return Ok((entry.file(FILE), Some(entry)));
    }
    let entry = cache.make_if(KIND, &key, |directory| {
        compile(unit, extra, &directory.join(FILE))?;
        Ok::<bool, BuildError>(is_current())
    })?;
    Ok((entry.file(FILE), Some(entry)))
}

fn compile(unit: &NativeUnit<'_>, extra: &[&str], object: &Path) -> Result<(), ClangError> {
    let mut command = clang(unit.directory);
    command.args(unit.flags.concat()).args(LENIENT).args(extra);
    if unit.file.extension().is_some_and(|extension| extension == "h") {
        command.args(["-x", "c"]); // clang would precompile a header
    }
    command.arg("-c").arg(unit.file).arg("-o").arg(object);
    run(&mut command, unit.file)
}
