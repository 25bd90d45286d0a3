//! The output directory: where everything a run leaves behind goes, and nothing outside it.
//!
//! Method: the directory of the last run is kept as `DIR.old`. A directory that is not empty and holds no `run.json` is not
//! Quarry's and is never moved. `run.json` is written first, so a directory is recognised even when a run is cut short.
//! Build files live in the hidden `.work/`, which goes away at the end.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::exit::Failure;

/// Name of the file that makes a directory Quarry's.
pub const RUN_FILE: &str = "run.json";

/// An output directory that this run owns.
#[derive(Debug)]
pub struct Output {
    root: PathBuf,
}

impl Output {
    /// Moves what the last run left out of the way and makes a fresh directory.
    pub fn create(root: &Path) -> Result<Self, Failure> {
        match state_of(root).map_err(|error| cannot("read", root, &error))? {
            State::Missing | State::Empty => {}
            State::Ours => move_to_old(root)?,
            State::Foreign => {
                return Err(Failure::usage(format!(
                    "{} is not empty and holds no {RUN_FILE}: Quarry did not make it and leaves it alone",
                    root.display()
                ))
                .help("choose another output directory with -o"));
            }
        }
        fs::create_dir_all(root).map_err(|error| cannot("create", root, &error))?;
        let root = root.canonicalize().map_err(|error| cannot("find", root, &error))?;
        let output = Self { root };
        for directory in ["tests", "crashes", "hangs", "harness", "logs", ".work"] {
            let path = output.root.join(directory);
            fs::create_dir_all(&path).map_err(|error| cannot("create", &path, &error))?;
        }
        Ok(output)
    }

    /// The directory itself, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where build files go; removed when the run ends.
    pub fn work(&self) -> PathBuf {
        self.root.join(".work")
    }

    /// Writes a text file.
    pub fn write(&self, relative: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.root.join(relative);
        fs::write(&path, text).map_err(|error| cannot("write", &path, &error))?;
        Ok(path)
    }

    /// Writes a value as indented JSON.
    pub fn write_json(&self, relative: &str, value: &impl Serialize) -> Result<PathBuf, Failure> {
        let mut text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::internal(format!("cannot write {relative} as JSON: {error}")))?;
        text.push('\n');
        self.write(relative, &text)
    }

    /// Writes values as JSON, one per line.
    pub fn write_lines<T: Serialize>(
        &self,
        relative: &str,
        values: impl Iterator<Item = T>,
    ) -> Result<PathBuf, Failure> {
        let mut text = String::new();
        for value in values {
            let line = serde_json::to_string(&value)
                .map_err(|error| Failure::internal(format!("cannot write {relative} as JSON: {error}")))?;
            text.push_str(&line);
            text.push('\n');
        }
        self.write(relative, &text)
    }
}

impl Drop for Output {
    /// Removes build files, however the run ended.
    fn drop(&mut self) {
        // what cannot be removed now goes away with the directory
        let _ = fs::remove_dir_all(self.work());
    }
}

enum State {
    Missing,
    Empty,
    Ours,
    Foreign,
}

fn state_of(path: &Path) -> io::Result<State> {
    let mut entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Missing),
        Err(error) => return Err(error),
    };
    Ok(if path.join(RUN_FILE).is_file() {
        State::Ours
    } else if entries.next().is_none() {
        State::Empty
    } else {
        State::Foreign
    })
}

fn move_to_old(root: &Path) -> Result<(), Failure> {
    let real = root.canonicalize().map_err(|error| cannot("find", root, &error))?;
    let mut name: OsString = real.clone().into_os_string();
    name.push(".old");
    let old = PathBuf::from(name);
    match state_of(&old).map_err(|error| cannot("read", &old, &error))? {
        State::Missing => {}
        State::Empty | State::Ours => {
            fs::remove_dir_all(&old).map_err(|error| cannot("remove", &old, &error))?;
        }
        State::Foreign => {
            return Err(Failure::usage(format!(
                "{} is in the way: it is not empty and Quarry did not make it",
                old.display()
            ))
            .help("choose another output directory with -o"));
        }
    }
    fs::rename(&real, &old).map_err(|error| cannot("move", &real, &error))
}

fn cannot(act: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot {act} {}: {error}", path.display()))
        .help("choose an output directory that can be written with -o")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_by(path: &Path, text: &str) {
        let output = Output::create(path).expect("the directory is free");
        output.write(RUN_FILE, text).expect("writable");
    }

    #[test]
    fn the_last_run_is_kept_as_old() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let root = directory.path().join("out");
        for run in ["1", "2", "3"] {
            made_by(&root, run);
        }
        assert_eq!(fs::read_to_string(root.join(RUN_FILE)).expect("there"), "3");
        assert_eq!(fs::read_to_string(directory.path().join("out.old/run.json")).expect("there"), "2");
        assert!(!root.join(".work").exists());
    }

    #[test]
    fn a_directory_of_somebody_else_is_left_alone() {
        let directory = tempfile::tempdir().expect("temporary directory");
        fs::write(directory.path().join("thesis.txt"), "years of work").expect("writable");
        let failure = Output::create(directory.path()).expect_err("not ours");
        assert!(failure.to_string().contains("is not empty"), "{failure}");
        assert!(directory.path().join("thesis.txt").exists());
    }

    #[test]
    fn a_foreign_directory_named_old_is_left_alone() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let root = directory.path().join("out");
        made_by(&root, "1");
        fs::create_dir(directory.path().join("out.old")).expect("created");
        fs::write(directory.path().join("out.old/thesis.txt"), "years of work").expect("writable");
        let failure = Output::create(&root).expect_err("the old place is taken");
        assert!(failure.to_string().contains("is in the way"), "{failure}");
        assert_eq!(fs::read_to_string(root.join(RUN_FILE)).expect("still there"), "1");
    }
}
