//! The output directory: everything a run writes goes there, and nothing outside it.
//!
//! Method: a lock ensures that a directory belongs to one campaign at a time. The campaign in it is resumed, or kept as
//! `DIR.old` and started anew; what was kept there before becomes `DIR.old.1` and so on. That happens only when the program is built
//! and nothing that was asked is wrong: a command that fails before leaves everything as it was. A non-empty directory without
//! `run.json` is not Quarry's and is never moved; `run.json` is written first, so that a directory is recognised even if a run is
//! interrupted. Files are replaced atomically, and so are the directories of the suite: readers see whole files at any moment
//! and after any end. What Quarry wrote to these is listed with its hash ([`super::written`]); anything else in them a person added or
//! changed, and it stays, also in a suite that is started anew. Build files are in the hidden `.work/`, which is removed at the
//! end.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::Serialize;

use super::lock::{LOCK_FILE, Lock, LockError};
use super::suite::INPUT_DIRECTORIES;
use super::written::{Written, note};
use crate::error::{Error, Explanation};

/// Name of the file that makes a directory Quarry's.
pub const RUN_FILE: &str = "run.json";

const WORK: &str = ".work";

/// Earlier results that are kept by number, besides the latest.
const KEPT: usize = 9;

/// An output directory that no other run uses, and what may be in it.
#[derive(Debug)]
pub struct Claim {
    root: PathBuf,
    lock: Lock,
    has_run: bool,
    /// Whether the directory was not there.
    is_new: bool,
}

/// An output directory that this run owns.
#[derive(Debug)]
pub struct Output {
    root: PathBuf,
    lock: Mutex<Option<Lock>>,
    /// Whether the directory was not there.
    is_new: bool,
    /// Whether an earlier run is to be moved out of the way.
    starts_over: bool,
    /// Another directory whose owner's files are to be carried over.
    inherited: Mutex<Option<PathBuf>>,
    /// Set when results may be written: where the earlier ones are.
    begun: OnceLock<Option<PathBuf>>,
    /// Whether the directories of the suite are being written anew.
    staged: AtomicBool,
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
        let is_new = matches!(state, State::Missing);
        fs::create_dir_all(root).map_err(|error| cannot("create", root, &error))?;
        let root = root.canonicalize().map_err(|error| cannot("find", root, &error))?;
        let lock = lock(&root)?;
        let has_run = root.join(RUN_FILE).is_file();
        Ok(Self { root, lock, has_run, is_new })
    }

    /// The directory itself, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether an earlier run left something.
    pub fn has_run(&self) -> bool {
        self.has_run
    }

    /// A directory to start over in. Until [`Output::begin`] only build files are written.
    pub fn start_over(self) -> Result<Output, Error> {
        let starts_over = self.has_run;
        self.output(starts_over)
    }

    /// Moves what the last run left out of the way and begins a fresh directory with this record.
    pub fn begin(self, record: &impl Serialize) -> Result<Output, Error> {
        let output = self.start_over()?;
        output.begin(record)?;
        Ok(output)
    }

    /// Goes on in the directory as it is.
    pub fn go_on(self) -> Result<Output, Error> {
        let output = self.output(false)?;
        output.begun.set(None).expect("nobody has begun");
        output.make_directories()?;
        Ok(output)
    }

    fn output(self, starts_over: bool) -> Result<Output, Error> {
        let Self { root, lock, is_new, .. } = self;
        remove_work(&root)?;
        let work = root.join(WORK);
        fs::create_dir_all(&work).map_err(|error| cannot("create", &work, &error))?;
        Ok(Output {
            root,
            lock: Mutex::new(Some(lock)),
            is_new,
            starts_over,
            inherited: Mutex::default(),
            begun: OnceLock::new(),
            staged: AtomicBool::new(false),
        })
    }
}

impl Output {
    /// From here on results are written: this record first. Earlier results are moved out of the way unless they are gone on
    /// with.
    pub fn begin(&self, record: &impl Serialize) -> Result<(), Error> {
        if self.begun.get().is_none() {
            let earlier = if self.starts_over { Some(self.move_earlier()?) } else { None };
            let earlier = earlier.or_else(|| held(&self.inherited).take());
            self.begun.set(earlier).expect("nobody has begun");
        }
        self.write_json(RUN_FILE, record)?;
        self.make_directories()?;
        for (earlier, name) in
            self.earlier().into_iter().flat_map(|root| INPUT_DIRECTORIES.map(|name| (root, name)))
        {
            let to = self.root.join(name);
            carry_over(&earlier.join(name), &to).map_err(|error| cannot("write", &to, &error))?;
        }
        Ok(())
    }

    /// Where the results are that these take the place of.
    pub fn earlier(&self) -> Option<&Path> {
        self.begun.get()?.as_deref()
    }

    /// Carries over what a person left in another output directory.
    pub fn inherit(&self, earlier: PathBuf) {
        held(&self.inherited).replace(earlier);
    }

    /// Moves the earlier results away, build files excepted; where they are now.
    fn move_earlier(&self) -> Result<PathBuf, Error> {
        let mut lock = held(&self.lock);
        let old = move_to_old(&self.root)?;
        if let Some(lock) = lock.as_mut() {
            lock.moved_to(&old);
        }
        fs::create_dir_all(&self.root).map_err(|error| cannot("create", &self.root, &error))?;
        *lock = Some(self::lock(&self.root)?);
        let work = self.work();
        fs::rename(old.join(WORK), &work).map_err(|error| cannot("create", &work, &error))?;
        Ok(old)
    }

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
        self.staged.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Puts the directories written anew in their places, each in one step. What a person added or changed stays.
    pub fn commit(&self) -> Result<(), Error> {
        for name in INPUT_DIRECTORIES {
            let (new, path) = (self.staging().join(name), self.root.join(name));
            exchange(&new, &path).map_err(|error| cannot("replace", &path, &error))?;
            carry_over(&new, &path).map_err(|error| cannot("write", &path, &error))?;
        }
        self.staged.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn staging(&self) -> PathBuf {
        self.work().join("staged")
    }

    /// Where a file is written now.
    fn place(&self, relative: &str) -> PathBuf {
        if self.staged.load(Ordering::Relaxed) && is_of_suite(relative) {
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
        let is_noted = if is_of_suite(relative) { note(&path, text.as_bytes()) } else { Ok(()) };
        let written =
            is_noted.and_then(|()| fs::write(&beside, text)).and_then(|()| fs::rename(&beside, &path));
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
    /// Removes build files, however the run ended, and a directory that was made for nothing.
    fn drop(&mut self) {
        // what cannot be removed now goes away when the next run begins
        let _ = fs::remove_dir_all(self.work());
        drop(held(&self.lock).take());
        if self.is_new && self.begun.get().is_none() {
            // another run may have come in between
            let _ = fs::remove_dir(&self.root);
        }
    }
}

/// What a lock guards, also after a panic.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Returns the new place. What was there gets the next number, and numbers long past go.
fn move_to_old(root: &Path) -> Result<PathBuf, Error> {
    let old = with_suffix(root, ".old");
    match state_of(&old).map_err(|error| cannot("read", &old, &error))? {
        State::Missing => {}
        State::Empty => fs::remove_dir_all(&old).map_err(|error| cannot("remove", &old, &error))?,
        State::Ours => {
            let numbered = numbered(&old);
            let number = numbered.last().map_or(1, |(number, _)| number + 1);
            let place = with_suffix(&old, &format!(".{number}"));
            fs::rename(&old, &place).map_err(|error| cannot("move", &old, &error))?;
            let n_past = (numbered.len() + 1).saturating_sub(KEPT);
            for (_, past) in numbered.into_iter().take(n_past) {
                // what cannot be removed does no harm
                let _ = fs::remove_dir_all(past);
            }
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

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.to_owned().into_os_string();
    name.push(suffix);
    name.into()
}

/// Results of Quarry's that are kept as `DIR.old.N`, by number.
fn numbered(old: &Path) -> Vec<(u32, PathBuf)> {
    let (Some(parent), Some(name)) = (old.parent(), old.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let number =
        |path: &Path| path.file_name()?.to_str()?.strip_prefix(name)?.strip_prefix('.')?.parse::<u32>().ok();
    let entries = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    let ours = |path: &PathBuf| matches!(state_of(path), Ok(State::Ours));
    let mut numbered: Vec<_> =
        entries.filter_map(|path| Some((number(&path)?, path))).filter(|(_, path)| ours(path)).collect();
    numbered.sort();
    numbered
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

/// Copies what a person added or changed in a directory of a suite to the one that takes its place. A changed file whose name is
/// taken there gets `.edited` into its name.
fn carry_over(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let written = Written::read(from)?;
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !path.is_file() || written.has(&path) {
            continue;
        }
        let place = to.join(name);
        let is_same = || Ok::<_, io::Error>(fs::read(&place)? == fs::read(&path)?);
        if !place.exists() {
            fs::copy(&path, &place)?;
        } else if !is_same()? {
            fs::copy(&path, free_name(&place))?;
        }
    }
    Ok(())
}

/// `test_001.edited.json`, with a number when that is taken.
fn free_name(taken: &Path) -> PathBuf {
    let extension = taken.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    let extension = extension.unwrap_or_default();
    let names = (1..).map(|number| if number == 1 { String::new() } else { number.to_string() });
    let mut places = names.map(|number| taken.with_extension(format!("edited{number}{extension}")));
    places.find(|place| !place.exists()).expect("numbers do not end")
}

/// Whether a file belongs to the suite.
fn is_of_suite(relative: &str) -> bool {
    INPUT_DIRECTORIES.iter().any(|name| Path::new(relative).starts_with(name))
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
        assert_eq!(record(&directory.path().join("out.old.1")), "1");
        for left in [WORK, LOCK_FILE] {
            assert!(!root.join(left).exists() && !directory.path().join("out.old").join(left).exists());
        }
    }

    #[test]
    fn earlier_results_are_kept_by_number_up_to_a_limit() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let root = directory.path().join("out");
        for run in 1..=13 {
            made_by(&root, &run.to_string());
        }
        let kept: Vec<_> = numbered(&directory.path().join("out.old")).into_iter().map(|(n, _)| n).collect();
        assert_eq!(kept, (3..=11).collect::<Vec<_>>());
        assert_eq!(record(&directory.path().join("out.old.11")), "11");
    }

    #[test]
    fn a_run_that_never_begins_leaves_everything_as_it_was() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let root = directory.path().join("out");
        drop(Claim::new(&root).and_then(Claim::start_over).expect("free"));
        assert!(!root.exists(), "made for nothing");
        made_by(&root, "1");
        let output = Claim::new(&root).and_then(Claim::start_over).expect("free");
        fs::write(output.work().join("unit.bc"), "built").expect("writable");
        drop(output);
        assert_eq!(record(&root), "1");
        let names = || fs::read_dir(directory.path()).expect("readable").count();
        assert!(names() == 1 && !root.join(WORK).exists());
        let output = Claim::new(&root).and_then(Claim::start_over).expect("free");
        fs::write(output.work().join("unit.bc"), "built").expect("writable");
        output.begin(&"2").expect("writable");
        assert!(output.work().join("unit.bc").exists(), "build files stay where they were made");
        assert_eq!((record(&root), record(output.earlier().expect("moved"))), ("2".into(), "1".into()));
    }

    #[test]
    fn what_a_person_added_or_changed_is_carried_over() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let root = directory.path().join("out");
        let output = Claim::new(&root).and_then(|claim| claim.begin(&"1")).expect("free");
        for name in ["tests/test_001.json", "tests/test_002.json"] {
            output.write(name, "found").expect("writable");
        }
        fs::write(root.join("tests/test_002.json"), "changed").expect("writable");
        fs::write(root.join("tests/mine.json"), "added").expect("writable");
        output.stage().expect("staged");
        output.write("tests/test_001.json", "better").expect("writable");
        output.write("tests/test_002.json", "better").expect("writable");
        output.commit().expect("committed");
        let read = |name: &str| fs::read_to_string(root.join("tests").join(name)).ok();
        let texts = |names: [&str; 4]| names.map(|name| read(name).unwrap_or_default());
        let names = ["test_001.json", "test_002.json", "test_002.edited.json", "mine.json"];
        assert_eq!(texts(names), ["better", "better", "changed", "added"]);
        drop(output);
        made_by(&root, "2");
        assert_eq!(texts(names), ["", "", "changed", "added"], "also when it is started over");
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
        for name in ["tests/test_001.json", "tests/test_002.json", "crashes/test_003.c"] {
            output.write(name, "old").expect("writable");
        }
        fs::write(directory.path().join("tests/notes.txt"), "old").expect("writable");
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
