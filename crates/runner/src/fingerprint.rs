//! The files that a campaign depends on: with the same [`crate::spec::Spec`], is it still the same campaign?
//!
//! Method: files by their hash (sources after preprocessing, so that a changed header counts and a changed comment does
//! not), compiler flags from the build directory, and Quarry's version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cache::{Cache, sha256};
use frontend::preprocess::states;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::front;
use crate::spec::Spec;
use crate::versions;

/// What was read, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(BTreeMap<String, String>);

/// Names that start like this stand for files, whose hashes nobody reads.
const FILE: &str = "file ";

impl Fingerprint {
    /// What the files of a spec are now; fails when a source cannot be preprocessed.
    pub fn of(spec: &Spec, root: &Path, cache: &Cache) -> Result<Self, Error> {
        let mut fingerprint = Self::default();
        fingerprint.add("version of quarry", env!("CARGO_PKG_VERSION"));
        fingerprint.sources(spec, root, cache)?;
        for file in spec.input_files() {
            fingerprint.file(file, root);
        }
        if let Some(since) = &spec.criteria.since {
            fingerprint.add("version before", &versions::identity(since, &spec.sources, root, cache)?);
        }
        for place in &spec.tests.tests {
            fingerprint.tests(place, root);
        }
        Ok(fingerprint)
    }

    /// The same for a spec of one of the functions: the sources are the same, other files may differ.
    #[must_use]
    pub fn for_function(&self, spec: &Spec, root: &Path) -> Self {
        let mut fingerprint = self.clone();
        for file in spec.input_files() {
            fingerprint.file(file, root);
        }
        fingerprint
    }

    fn sources(&mut self, spec: &Spec, root: &Path, cache: &Cache) -> Result<(), Error> {
        let mut sources = spec.sources.clone();
        sources.files.extend_from_slice(&spec.subject.stubs);
        let mut flags = Vec::new();
        // of several functions those that can be built are tested
        let may_fail = spec.is_open() && sources.files.len() > 1;
        let commands = front::commands(&sources, root)?;
        let states = states(&commands, cache);
        for (command, state) in commands.into_iter().zip(states) {
            let words = match state.map_err(front::clang_failure) {
                Ok(state) => state.preprocessed,
                Err(error) if may_fail => error.message().to_owned(),
                Err(error) => return Err(error),
            };
            self.add(&format!("{FILE}{}", command.source.display()), &words);
            flags.push([command.preprocess, command.compile, command.link].concat().join(" "));
        }
        flags.dedup();
        self.add("flags", &flags.join("; "));
        Ok(())
    }

    fn add(&mut self, name: &str, words: &str) {
        if !words.is_empty() {
            self.0.insert(name.to_owned(), words.to_owned());
        }
    }

    fn file(&mut self, path: &Path, root: &Path) {
        // one that cannot be read is reported where it is needed
        let text = std::fs::read(root.join(path)).unwrap_or_default();
        self.add(&format!("{FILE}{}", path.display()), &sha256(&text));
    }

    /// All files of a place with tests together.
    fn tests(&mut self, place: &Path, root: &Path) {
        let mut text = Vec::new();
        let mut open = vec![root.join(place)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
                let mut below: Vec<_> = entries.map(|entry| entry.path()).collect();
                below.sort();
                open.extend(below.into_iter().rev());
            } else {
                text.extend(path.as_os_str().as_encoded_bytes());
                text.extend(std::fs::read(&path).unwrap_or_default());
            }
        }
        self.add(&format!("{FILE}{}", place.display()), &sha256(&text));
    }

    /// What has changed since an earlier run, in words.
    pub fn differences(&self, earlier: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(earlier.0.keys()).collect();
        let differs = |name: &&String| self.0.get(*name) != earlier.0.get(*name);
        let words = |name: &String| {
            let (now, before) = (self.0.get(name), earlier.0.get(name));
            match (name.strip_prefix(FILE), before, now) {
                (Some(file), Some(_), Some(_)) => format!("{file} has changed"),
                (Some(file), None, _) => format!("{file} is new"),
                (Some(file), Some(_), None) => format!("{file} was removed"),
                (None, Some(before), Some(now)) => format!("{name} was {before}, now {now}"),
                (None, Some(before), None) => format!("{name} was {before}"),
                (None, None, _) => format!("{name} is {}", now.map_or("", String::as_str)),
            }
        };
        names.into_iter().filter(differs).map(words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(words: &[(&str, &str)]) -> Fingerprint {
        Fingerprint(words.iter().map(|(name, words)| ((*name).to_owned(), (*words).to_owned())).collect())
    }

    #[test]
    fn changed_files_are_named() {
        let earlier = fingerprint(&[("flags", "-O2"), ("file a.c", "12")]);
        let now = fingerprint(&[("flags", "-O1"), ("file a.c", "34"), ("file b.c", "5")]);
        assert_eq!(now.differences(&earlier), ["a.c has changed", "b.c is new", "flags was -O2, now -O1"]);
        assert!(now.differences(&now).is_empty());
    }
}
