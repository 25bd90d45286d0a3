//! One entry: found, made, used, removed.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_NOW, flock, futimens};
use tempfile::TempDir;

use crate::error::CacheError;
use crate::manifest;

/// Where entries are made, beside the kinds; no kind has this name.
pub const DRAFTS: &str = "making";

/// Something that was made. It stays where it is for as long as the value or one of its clones lives.
#[derive(Clone, Debug)]
pub struct Entry {
    directory: PathBuf,
    _lease: Arc<Lease>,
}

/// What keeps an entry in place.
#[derive(Debug)]
enum Lease {
    /// The shared lock on the entry's directory, and the directory of a temporary cache.
    Shared { _lock: File, _cache: Option<Arc<TempDir>> },
    /// It is not in its place, and nobody else finds it.
    Private { _directory: TempDir, _cache: Option<Arc<TempDir>> },
}

impl Entry {
    /// The directory with its files. They are shared: nobody may change them.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// One of its files.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// What is at a place of the cache.
pub enum Found {
    Whole(Entry),
    Broken,
    Missing,
}

/// Looks for an entry, checks it and notes its use.
pub fn find(path: &Path, cache: Option<&Arc<TempDir>>) -> Found {
    let Some(lock) = locked(path, FlockOperation::LockShared) else { return Found::Missing };
    let Ok(mut manifest) = File::open(path.join(manifest::FILE)) else { return Found::Broken };
    let mut text = String::new();
    let is_whole = manifest.read_to_string(&mut text).is_ok() && manifest::holds(&text, path);
    if !is_whole {
        return Found::Broken;
    }
    touch(&manifest);
    let lease = Lease::Shared { _lock: lock, _cache: cache.cloned() };
    Found::Whole(Entry { directory: path.to_owned(), _lease: Arc::new(lease) })
}

/// Records that a file was used now. In a cache that cannot be written, nothing is recorded.
pub fn touch(file: &File) {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let _ = futimens(file, &Timestamps { last_access: now, last_modification: now });
}

/// Removes an entry unless a process uses it; says whether it has. What cannot be removed at once is left among the drafts.
pub fn remove(path: &Path, drafts: &Path) -> bool {
    if path.is_file() {
        // a note, which nobody uses for longer than it takes to read it
        return std::fs::remove_file(path).is_ok();
    }
    let Some(_lock) = locked(path, FlockOperation::NonBlockingLockExclusive) else { return false };
    let Ok(aside) = tempfile::tempdir_in(drafts) else { return false };
    // renamed first: whoever looks for the entry sees all of it or nothing
    std::fs::rename(path, aside.path().join("removed")).is_ok()
}

/// A directory, locked; nothing when there is none, when another process has the lock, or when the directory was moved while this waited
/// for the lock.
fn locked(path: &Path, operation: FlockOperation) -> Option<File> {
    let directory = File::open(path).ok()?;
    flock(&directory, operation).ok()?;
    let (locked, there) = (directory.metadata().ok()?, std::fs::metadata(path).ok()?);
    ((locked.dev(), locked.ino()) == (there.dev(), there.ino())).then_some(directory)
}

/// An entry that is being made, locked: a draft without a lock was left by a process that ended.
pub struct Draft {
    directory: TempDir,
    lock: File,
}

/// A draft that is not locked after this time never will be.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);

impl Draft {
    /// Starts an entry below the directory of drafts, and removes what others have left there.
    pub fn new(drafts: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(drafts)?;
        remove_abandoned(drafts);
        let directory = tempfile::tempdir_in(drafts)?;
        let lock = File::open(directory.path())?;
        flock(&lock, FlockOperation::LockShared)?;
        Ok(Self { directory, lock })
    }

    /// Where its files go.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes the manifest; returns the size of the entry.
    pub fn complete(&self) -> Result<u64, CacheError> {
        let cannot = |act| CacheError::new(act, self.path());
        let text = manifest::of(self.path()).map_err(cannot("read what was made in"))?;
        std::fs::write(self.path().join(manifest::FILE), text).map_err(cannot("write the manifest of"))?;
        size(self.path()).map_err(cannot("read what was made in"))
    }

    /// The entry, after the draft was renamed.
    pub fn published(self, path: &Path, cache: Option<&Arc<TempDir>>) -> Entry {
        // there is nothing to remove at the old place
        let _ = self.directory.keep();
        let lease = Lease::Shared { _lock: self.lock, _cache: cache.cloned() };
        Entry { directory: path.to_owned(), _lease: Arc::new(lease) }
    }

    /// The draft as an entry that nobody else finds.
    pub fn unpublished(self, cache: Option<&Arc<TempDir>>) -> Entry {
        let directory = self.path().to_owned();
        let lease = Lease::Private { _directory: self.directory, _cache: cache.cloned() };
        Entry { directory, _lease: Arc::new(lease) }
    }
}

/// Removes drafts of processes that ended.
pub fn remove_abandoned(drafts: &Path) {
    let Ok(found) = std::fs::read_dir(drafts) else { return };
    for draft in found.flatten() {
        let path = draft.path();
        let started = draft.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = started.and_then(|started| SystemTime::now().duration_since(started).ok());
        let is_abandoned = age.is_some_and(|age| age > ABANDONED_AFTER)
            && locked(&path, FlockOperation::NonBlockingLockExclusive).is_some();
        if is_abandoned {
            // another process may remove it, too
            let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        }
    }
}

/// What a file takes on disk is a multiple of this.
pub const BLOCK: u64 = 4096;

/// The space that the files of an entry take.
pub fn size(directory: &Path) -> std::io::Result<u64> {
    let mut size = BLOCK;
    for found in std::fs::read_dir(directory)? {
        let found = found?;
        let metadata = found.metadata()?;
        size += if metadata.is_dir() {
            self::size(&found.path())?
        } else {
            metadata.len().next_multiple_of(BLOCK)
        };
    }
    Ok(size)
}
