//! What sources are at the moment, with all files that they include: known without the compiler as long as nothing has changed.

use std::process::Command;
use std::thread;
use std::time::Duration;

use cache::{Cache, Key};
use serde::{Deserialize, Serialize};
use tracing::info_span;

use super::{preprocessor, texts};
use crate::clang::{ClangError, failure};
use crate::compilers::{self, in_parallel, processors};
use crate::reads::{FileHashes, Listing, ReadFiles, search_path};
use crate::sources::CompileCommand;
use crate::tools;

/// A source and all that it includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// The hash of all files as they are; nothing when one of them changed at this moment.
    pub files: Option<String>,
    /// The hash of the preprocessed text: comments do not count.
    pub preprocessed: String,
}

/// What is kept of a source.
#[derive(Serialize, Deserialize)]
struct Noted {
    read: ReadFiles,
    preprocessed: String,
}

/// The kind of note under which it is kept.
const KIND: &str = "reads";

/// The time of compiling is no part of a file.
const TIME: [&[u8]; 2] = [b"__DATE__", b"__TIME__"];
const WITHOUT_TIME: &[&str] = &["-Wno-builtin-macro-redefined", "-D__DATE__=\"\"", "-D__TIME__=\"\""];

/// The states of some sources now, in their order.
pub fn states(commands: &[CompileCommand], cache: &Cache) -> Vec<Result<SourceState, ClangError>> {
    let _span = info_span!("look for changes", n_units = commands.len()).entered();
    let mut hashes = FileHashes::default();
    let known: Vec<Option<SourceState>> =
        commands.iter().map(|command| known(command, cache, &mut hashes)).collect();
    let changed: Vec<&CompileCommand> = commands
        .iter()
        .zip(&known)
        .filter(|(_, known)| known.is_none())
        .map(|(command, _)| command)
        .collect();
    let mut found = found(&changed, cache).into_iter();
    let state = |known: Option<SourceState>| match known {
        Some(state) => Ok(state),
        None => found.next().expect("each changed source was looked at"),
    };
    known.into_iter().map(state).collect()
}

/// What is noted of a source, if it holds.
fn known(command: &CompileCommand, cache: &Cache, hashes: &mut FileHashes) -> Option<SourceState> {
    let noted: Noted = serde_json::from_slice(&cache.note(KIND, &key(command))?).ok()?;
    let search = search_path(&command.directory, &command.source, &command.preprocess);
    let holds = noted.read.hold(&search, hashes);
    holds.then(|| SourceState { files: Some(noted.read.hash()), preprocessed: noted.preprocessed })
}

/// What the compiler says of sources, some at a time.
fn found(commands: &[&CompileCommand], cache: &Cache) -> Vec<Result<SourceState, ClangError>> {
    in_parallel(commands, processors(), |command| settled(command, cache))
}

/// The clock of a file system stands still for up to ten milliseconds; a file as young as that may have changed while it was read.
const TICK: Duration = Duration::from_millis(10);

/// What the compiler says of a source, asked again when a file has changed just now: most often it was saved right before.
fn settled(command: &CompileCommand, cache: &Cache) -> Result<SourceState, ClangError> {
    let first = preprocessed(command, cache)?;
    if first.files.is_some() {
        return Ok(first);
    }
    thread::sleep(TICK);
    preprocessed(command, cache)
}

fn preprocessed(command: &CompileCommand, cache: &Cache) -> Result<SourceState, ClangError> {
    let mut process = preprocessor(command);
    let listing = Listing::of(&mut process).map_err(ClangError::NotRun)?;
    let text = output(process, command)?;
    let search = search_path(&command.directory, &command.source, &command.preprocess);
    let read = listing.read(&command.directory, &search, None, &mut FileHashes::default());
    let is_timed = read.as_ref().is_none_or(|read| read.mention(&TIME));
    let preprocessed = if is_timed {
        let mut process = preprocessor(command);
        process.args(WITHOUT_TIME);
        cache::sha256(&output(process, command)?)
    } else {
        cache::sha256(&text)
    };
    let Some(read) = read else { return Ok(SourceState { files: None, preprocessed }) };
    let files = read.hash();
    let noted = Noted { read, preprocessed: preprocessed.clone() };
    // what cannot be written is found out again
    if let Ok(note) = serde_json::to_vec(&noted) {
        cache.keep_note(KIND, &key(command), &note);
    }
    texts::keep(&key(command), &files, text);
    Ok(SourceState { files: Some(files), preprocessed })
}

/// The text that a source was preprocessed to in this process, if it is still that source; it is given once.
pub fn take_text(command: &CompileCommand, cache: &Cache) -> Option<Vec<u8>> {
    let (of, text) = texts::take(&key(command))?;
    let now = known(command, cache, &mut FileHashes::default())?;
    (now.files == Some(of)).then_some(text)
}

fn output(mut process: Command, command: &CompileCommand) -> Result<Vec<u8>, ClangError> {
    let output = compilers::output(&mut process).map_err(ClangError::NotRun)?;
    if output.status.success() { Ok(output.stdout) } else { Err(failure(&command.source, &output)) }
}

fn key(command: &CompileCommand) -> Key {
    tools::key()
        .part("directory", command.directory.as_os_str().as_encoded_bytes())
        .part("source", command.source.as_os_str().as_encoded_bytes())
        .parts("flags", &command.preprocess)
}
