//! What decides how sources are marked and how a program is built, as keys of the cache.
//!
//! Every file counts by its content: the sources with all that they include, files that say what inputs are, and libraries that are
//! named by their path or lie in a directory that the flags name. Limit: libraries of the system are taken to stay the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cache::{Cache, Key, sha256};
use frontend::ClangError;
use frontend::instrument::Mode;
use frontend::preprocess::{SourceState, states};
use frontend::sources::CompileCommand;
use frontend::tools;
use model::ctype::FunctionKey;

use crate::spec::{InputSpec, SubjectSpec};

/// What each source with all its headers is now, and how it is marked; nothing for one of which a file changes at this moment.
pub fn of_units(
    commands: &[CompileCommand],
    root: &Path,
    rename_main: bool,
    cache: &Cache,
) -> Result<Vec<Option<Key>>, ClangError> {
    let all = tools::key().part("quarry", env!("QUARRY_RUNNER_SOURCES")).part("root", bytes(root));
    let all = all.part("main", if rename_main { "renamed" } else { "as it is" });
    let of_unit = |(command, state): (&CompileCommand, Result<SourceState, ClangError>)| {
        let Some(files) = state?.files else { return Ok(None) };
        let key = all.clone().part("source", bytes(&command.source));
        let key = key.part("directory", bytes(&command.directory)).part("files", files);
        Ok(Some(key.parts("flags", &command.preprocess).parts("flags", &command.compile)))
    };
    commands.iter().zip(states(commands, cache)).map(of_unit).collect()
}

/// What a program of these units is; nothing when that is not known of one of them.
pub fn of_marks(commands: &[CompileCommand], units: &[Option<Key>]) -> Option<Key> {
    let units = units.iter().map(|unit| unit.as_ref().map(Key::hex)).collect::<Option<Vec<_>>>()?;
    let link = commands.iter().flat_map(|command| &command.link);
    Some(Key::new().parts("units", units).parts("link", link))
}

/// Whether runs can be asked which addresses they access. Which accesses that may be takes an analysis of the whole program, whose
/// cost grows faster than the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    Never,
    /// Where it costs next to nothing.
    InSmallPrograms,
    OnRequest,
}

/// A function or program of marked sources, and what its inputs are.
pub struct Wanted<'a> {
    pub root: &'a Path,
    /// The units of the program; all when none are named.
    pub units: Option<&'a BTreeSet<usize>>,
    pub function: &'a FunctionKey,
    pub subject: &'a SubjectSpec,
    pub inputs: &'a InputSpec,
    pub addresses: Addresses,
    /// How the unit with the function is compiled.
    pub command: &'a CompileCommand,
    pub link_flags: &'a [String],
}

impl Wanted<'_> {
    /// What decides how it is built, besides its marks.
    pub fn key(&self, marks: &Key, modes: &[Mode], cache: &Cache) -> Result<Option<Key>, ClangError> {
        // the files that stand in for others are among the marks
        let subject = serde_json::to_vec(&(&self.subject.program, &self.subject.stub_writes));
        let inputs = serde_json::to_vec(self.inputs);
        let (Ok(subject), Ok(inputs)) = (subject, inputs) else { return Ok(None) };
        let mut key = marks.clone().part("modes", format!("{modes:?}")).part("subject", subject);
        key = key.part("function", format!("{:?}", self.function)).part("inputs", inputs);
        if let Some(units) = self.units {
            key = key.part("units", format!("{units:?}"));
        }
        if !modes.is_empty() {
            key = key.part("addresses", format!("{:?}", self.addresses)); // the model is the same
        }
        if let Some(file) = &self.inputs.precondition {
            let Some(state) = self.precondition(file, cache)? else { return Ok(None) };
            key = key.part("precondition", state);
        }
        for library in libraries(self.root, self.link_flags) {
            // one that is missing is a failure of the build
            let hash = std::fs::read(&library).map(|bytes| sha256(&bytes)).unwrap_or_default();
            key = key.part("library", bytes(&library)).part("hash", hash);
        }
        Ok(Some(key))
    }

    /// A file with a precondition as it is now, with what it includes.
    fn precondition(&self, file: &Path, cache: &Cache) -> Result<Option<String>, ClangError> {
        let source = self.root.join(file);
        let text = std::fs::read(&source).unwrap_or_default();
        if !String::from_utf8_lossy(&text).contains("include") {
            return Ok(Some(sha256(&text)));
        }
        let command = CompileCommand { source, ..self.command.clone() };
        let state = states(std::slice::from_ref(&command), cache).pop().expect("a state per source");
        Ok(state?.files)
    }
}

/// The libraries and objects in linker flags that are no part of the system.
fn libraries(root: &Path, flags: &[String]) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    let mut files = Vec::new();
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        let value = |attached: &str| match attached {
            "" => words.clone().next().cloned().unwrap_or_default(),
            attached => attached.to_owned(),
        };
        if let Some(directory) = word.strip_prefix("-L") {
            directories.push(root.join(value(directory)));
        } else if let Some(name) = word.strip_prefix("-l") {
            let name = value(name);
            let names =
                [format!("lib{name}.so"), format!("lib{name}.a"), name.trim_start_matches(':').to_owned()];
            let found =
                directories.iter().flat_map(|directory| names.iter().map(move |name| directory.join(name)));
            files.extend(found.filter(|file| file.is_file()));
        } else if !word.starts_with('-') {
            files.extend(Some(root.join(word)).filter(|file| file.is_file()));
        }
    }
    files
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_the_project_are_found() {
        let directory = tempfile::tempdir().expect("a directory");
        for file in ["libown.a", "part.o", "lib/libother.so"] {
            let file = directory.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
            std::fs::write(file, "").expect("a file");
        }
        let flags =
            ["-L.", "-lown", "part.o", "-Llib", "-lother", "-lm", "-Wl,--as-needed"].map(str::to_owned);
        let found = libraries(directory.path(), &flags);
        let expected = ["./libown.a", "part.o", "lib/libother.so"].map(|file| directory.path().join(file));
        assert_eq!(found, expected);
    }
}
