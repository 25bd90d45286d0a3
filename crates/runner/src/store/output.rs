//! The output directory: everything a run writes goes there, and nothing outside it.
//!
//! Method: a lock ensures that a directory belongs to one campaign at a time. The campaign in it is resumed, or kept as
//! `DIR.old` and started anew. A non-empty directory without `run.json` is not Quarry's and is never moved; `run.json` is
//! written first, so that a directory is recognised even if a run is interrupted. Files are replaced atomically, and so are
//! the directories of the suite: readers see whole files at any moment and after any end. Build files are in the hidden
//! `.work/`, which is removed at the end.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::Serialize;

use super::lock::{LOCK_FILE, Lock, LockError};
use super::suite::INPUT_DIRECTORIES;
use crate::error::{Error, Explanation};

/// Name of the file that makes a directory Quarry's.
pub const RUN_FILE: &str = "run.json";

const WORK: &str = ".work";

/// An output directory that no other run uses, and what may be in it.
#[derive(Debug)]
pub struct Claim {
    root: PathBuf,
    lock: Lock,
    has_run: bool,
}

/// An output directory that this run owns.
#[derive(Debug)]
pub struct Output {
    root: PathBuf,
    _lock: Lock,
    /// Whether the directories of the suite are being written anew.
    staged: Cell<bool>,
}

impl Claim {
    /// Makes the directory if there is none, and keeps other runs out of it.
    pub fn new(root: &Path) -> Result<Self, Error> {
        let state = state_of(root).map_err(|error| cannot("read", root, &error))?;
        if matches!(state, State::Foreign) {
            return Err(Error::usage(format!(
                "{} is not empty and has no {RUN_FILE}: Quarry did not create it and leaves it alone",
                root.display()
            ))
            .help("choose another output directory with -o"));
        }
        fs::create_dir_all(root).map_err(|error| cannot("create", root, &error))?;
        let root = root.canonicalize().map_err(|error| cannot("find", root, &error))?;
        let lock = lock(&root)?;
        let has_run = root.join(RUN_FILE).is_file();
        Ok(Self { root, lock, has_run })
    }

    /// The directory itself, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether an earlier run left something.
    pub fn has_run(&self) -> bool {
        self.has_run
    }

    /// Moves what the last run left out of the way and begins a fresh directory with this record.
    pub fn begin(self, record: &impl Serialize) -> Result<Output, Error> {
        let Self { root, mut lock, has_run } = self;
        if has_run {
            remove_work(&root)?;
            lock.moved_to(&move_to_old(&root)?);
            fs::create_dir_all(&root).map_err(|error| cannot("create", &root, &error))?;
            lock = self::lock(&root)?;
        }
        let output = Output { root, _lock: lock, staged: Cell::new(false) };
        output.write_json(RUN_FILE, record)?;
        output.make_directories()?;
        Ok(output)
    }

    /// Goes on in the directory as it is.
    pub fn go_on(self) -> Result<Output, Error> {
        let output = Output { root: self.root, _lock: self.lock, staged: Cell::new(false) };
        remove_work(&output.root)?;
        output.make_directories()?;
        Ok(output)
    }
}

impl Output {
    fn make_directories(&self) -> Result<(), Error> {
        for directory in INPUT_DIRECTORIES.iter().chain(&["harness", "logs", WORK]) {
            let path = self.root.join(directory);
            fs::create_dir_all(&path).map_err(|error| cannot("create", &path, &error))?;
        }
        Ok(())
    }

    /// The directory itself, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where build files go; removed when the run ends.
    pub fn work(&self) -> PathBuf {
        self.root.join(WORK)
    }

    /// From here on the directories of the suite are written anew, beside those that are there.
    pub fn stage(&self) -> Result<(), Error> {
        for name in INPUT_DIRECTORIES {
            let path = self.staging().join(name);
            fs::create_dir_all(&path).map_err(|error| cannot("create", &path, &error))?;
        }
        self.staged.set(true);
        Ok(())
    }

    /// Puts the directories written anew in their places, each in one step. Files that Quarry does not write stay.
    pub fn commit(&self) -> Result<(), Error> {
        for name in INPUT_DIRECTORIES {
            let (new, path) = (self.staging().join(name), self.root.join(name));
            exchange(&new, &path).map_err(|error| cannot("replace", &path, &error))?;
            keep_foreign(&new, &path).map_err(|error| cannot("write", &path, &error))?;
        }
        self.staged.set(false);
        Ok(())
    }

    fn staging(&self) -> PathBuf {
        self.work().join("staged")
    }

    /// Where a file is written now.
    fn place(&self, relative: &str) -> PathBuf {
        let is_of_suite = INPUT_DIRECTORIES.iter().any(|name| Path::new(relative).starts_with(name));
        if self.staged.get() && is_of_suite {
            self.staging().join(relative)
        } else {
            self.root.join(relative)
        }
    }

    /// Writes a text file, whole or not at all.
    pub fn write(&self, relative: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.place(relative);
        let mut name = path.clone().into_os_string();
        name.push(".tmp");
        let beside = PathBuf::from(name);
        let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &path));
        written.map_err(|error| {
            let _ = fs::remove_file(&beside); // it holds nothing that can be used
            cannot("write", &path, &error)
        })?;
        Ok(path)
    }

    /// Writes a value as indented JSON.
    pub fn write_json(&self, relative: &str, value: &impl Serialize) -> Result<PathBuf, Error> {
        let mut text = serde_json::to_string_pretty(value)
            .map_err(|error| Error::internal(format!("cannot write {relative} as JSON: {error}")))?;
        text.push('\n');
        self.write(relative, &text)
    }

    /// Writes values as JSON, one per line.
    pub fn write_lines<T: Serialize>(
        &self,
        relative: &str,
        values: impl Iterator<Item = T>,
    ) -> Result<PathBuf, Error> {
        let mut text = String::new();
        for value in values {
            let line = serde_json::to_string(&value)
                .map_err(|error| Error::internal(format!("cannot write {relative} as JSON: {error}")))?;
            text.push_str(&line);
            text.push('\n');
        }
        self.write(relative, &text)
    }
}

impl Drop for Output {
    /// Removes build files, however the run ended.
    fn drop(&mut self) {
        // what cannot be removed now goes away when the next run begins
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
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Missing),
        Err(error) => return Err(error),
    };
    if path.join(RUN_FILE).is_file() {
        return Ok(State::Ours);
    }
    // a run that ended before it wrote anything leaves its lock
    let own = [LOCK_FILE, WORK, "run.json.tmp"];
    for entry in entries {
        let name = entry?.file_name();
        if !own.iter().any(|own| name == *own) {
            return Ok(State::Foreign);
        }
    }
    Ok(State::Empty)
}

fn lock(root: &Path) -> Result<Lock, Error> {
    Lock::take(root).map_err(|error| match error {
        LockError::Taken(owner) => {
            let owner = owner.map(|process| format!(" (process {process})")).unwrap_or_default();
            Error::usage(format!("another run of quarry{owner} is using {}", root.display()))
                .help("wait until it ends, or choose another output directory with -o")
        }
        LockError::Io(error) => cannot("lock", root, &error),
    })
}

fn remove_work(root: &Path) -> Result<(), Error> {
    let work = root.join(WORK);
    match fs::remove_dir_all(&work) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot("remove", &work, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns the new place.
fn move_to_old(root: &Path) -> Result<PathBuf, Error> {
    let mut name: OsString = root.to_owned().into_os_string();
    name.push(".old");
    let old = PathBuf::from(name);
    match state_of(&old).map_err(|error| cannot("read", &old, &error))? {
        State::Missing => {}
        State::Empty | State::Ours => {
            fs::remove_dir_all(&old).map_err(|error| cannot("remove", &old, &error))?;
        }
        State::Foreign => {
            return Err(Error::usage(format!(
                "cannot move the earlier results to {}: it is not empty and Quarry did not create it",
                old.display()
            ))
            .help("choose another output directory with -o"));
        }
    }
    fs::rename(root, &old).map_err(|error| cannot("move", root, &error))?;
    Ok(old)
}

/// Puts a new directory in the place of an old one, and the old one in its place.
fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    // not every file system can do it in one step; the journal has what is missing in between
    let aside = new.with_extension("before");
    fs::rename(old, &aside)?;
    fs::rename(new, old)?;
    fs::rename(&aside, new)
}

/// Moves what Quarry did not write from a directory that was replaced to the one in its place.
fn keep_foreign(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_own = name.to_str().is_some_and(is_own_name);
        if !is_own && !to.join(&name).exists() {
            fs::rename(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

/// Whether a file of the suite's directories has a name that Quarry gives.
fn is_own_name(name: &str) -> bool {
    name.ends_with(".tmp")
        || matches!(name, "replay.c" | "failing_allocations.c")
        || test_number(name).is_some()
}

/// The number in the name of a test's file.
pub fn test_number(name: &str) -> Option<u32> {
    let (stem, extension) = name.rsplit_once('.')?;
    if !matches!(extension, "json" | "c") {
        return None;
    }
    stem.strip_prefix("test_")?.parse().ok()
}

/// Why a file or directory cannot be had; a full disk is not the user's mistake.
pub fn cannot(act: &str, path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot {act} {}: {error}", path.display());
    let is_full = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG, Errno::IO].map(Errno::raw_os_error);
    if error.raw_os_error().is_some_and(|code| is_full.contains(&code)) {
        return Error::DiskFull(Explanation::new(message))
            .help("what was written stays; free some space and run the same command again to resume");
    }
    Error::usage(message).help("choose a writable output directory with -o")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_by(path: &Path, text: &str) {
        Claim::new(path).and_then(|claim| claim.begin(&text)).expect("the directory is free");
    }

    fn record(path: &Path) -> String {
        let text = fs::read_to_string(path.join(RUN_FILE)).expect("there");
        serde_json::from_str(&text).expect("JSON")
    }

    #[test]
    fn the_last_run_is_kept_as_old() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let root = directory.path().join("out");
        for run in ["1", "2", "3"] {
            made_by(&root, run);
        }
        assert_eq!((record(&root), record(&directory.path().join("out.old"))), ("3".into(), "2".into()));
        for left in [WORK, LOCK_FILE] {
            assert!(!root.join(left).exists() && !directory.path().join("out.old").join(left).exists());
        }
    }

    #[test]
    fn a_directory_of_somebody_else_is_left_alone() {
        let directory = tempfile::tempdir().expect("temporary directory");
        fs::write(directory.path().join("thesis.txt"), "years of work").expect("writable");
        let failure = Claim::new(directory.path()).expect_err("not ours");
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
        let failure =
            Claim::new(&root).and_then(|claim| claim.begin(&"2")).expect_err("the old place is taken");
        assert!(failure.to_string().contains("cannot move the earlier results"), "{failure}");
        assert_eq!(record(&root), "1", "still there");
    }

    #[test]
    fn a_directory_is_for_one_run_at_a_time() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let output = Claim::new(directory.path()).and_then(|claim| claim.begin(&"1")).expect("free");
        let failure = Claim::new(directory.path()).expect_err("taken");
        assert!(failure.to_string().contains("another run of quarry (process "), "{failure}");
        drop(output);
        Claim::new(directory.path()).expect("free again");
    }

    #[test]
    fn a_suite_is_replaced_as_a_whole_and_other_files_stay() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let output = Claim::new(directory.path()).and_then(|claim| claim.begin(&"1")).expect("free");
        for name in ["tests/test_001.json", "tests/test_002.json", "tests/notes.txt", "crashes/test_003.c"] {
            output.write(name, "old").expect("writable");
        }
        output.stage().expect("staged");
        output.write("tests/test_001.json", "new").expect("writable");
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).ok();
        assert_eq!(read("tests/test_001.json").as_deref(), Some("old"), "nobody sees half a suite");
        output.commit().expect("committed");
        assert_eq!(read("tests/test_001.json").as_deref(), Some("new"));
        assert_eq!(read("tests/notes.txt").as_deref(), Some("old"), "it is somebody's");
        assert_eq!((read("tests/test_002.json"), read("crashes/test_003.c")), (None, None));
    }
}
