//! A built program that is kept in a directory, to be used again while nothing has changed.
//!
//! Method: the directory has the subject ([`Subject::write`]) and what it was built from: sources, flags, what is tested, how inputs
//! are built, and the files as the preprocessor sees them. Another command that asks for the same takes it; anything else is
//! built and replaces it. Limit: one program per directory, and one command at a time.

use std::path::Path;

use frontend::instrument::Mode;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::spec::{InputSpec, SourceSpec, Spec, SubjectSpec};
use crate::subject::Subject;

/// What a kept program was built from.
const KEY_FILE: &str = "built-from.json";

/// What decides how a program is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BuiltFrom {
    sources: SourceSpec,
    subject: SubjectSpec,
    inputs: InputSpec,
    files: Fingerprint,
}

impl BuiltFrom {
    fn of(spec: &Spec, root: &Path) -> Result<Self, Error> {
        let mut subject = spec.subject.clone();
        // a program starts with main, whatever else is said
        subject.function = subject.function.filter(|_| subject.program.is_none());
        let inputs = match &subject.function {
            Some(function) => spec.inputs.for_function(function).0,
            None => spec.inputs.clone(),
        };
        Ok(Self { sources: spec.sources.clone(), subject, inputs, files: Fingerprint::of(spec, root)? })
    }
}

/// The program that `spec` names, in one of these modes at least: the one kept in `directory` if it is that, else a new one, which is kept
/// there.
pub fn kept(
    directory: &Path,
    spec: &Spec,
    root: &Path,
    work: &Path,
    modes: &[Mode],
) -> Result<Subject, Error> {
    let wanted = BuiltFrom::of(spec, root)?;
    let key = directory.join(KEY_FILE);
    let there = std::fs::read(&key).ok().and_then(|text| serde_json::from_slice::<BuiltFrom>(&text).ok());
    if there.as_ref() == Some(&wanted)
        && let Ok(subject) = Subject::read(directory)
        && subject.modes().any(|mode| modes.contains(&mode))
    {
        return Ok(subject);
    }
    let subject = Subject::build(spec, root, work, &modes[..modes.len().min(1)])?;
    // without its key, what is there is no program of anything
    let _ = std::fs::remove_file(&key);
    subject.write(directory)?;
    let text = serde_json::to_vec(&wanted)
        .map_err(|error| Error::internal(format!("cannot write what a program was built from: {error}")))?;
    std::fs::write(&key, text)
        .map_err(|error| Error::internal(format!("cannot write {}: {error}", key.display())))?;
    Ok(subject)
}
