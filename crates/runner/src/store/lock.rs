//! One campaign at a time in an output directory.
//!
//! Method: an advisory lock of the kernel on a file in the directory, which is released when its process ends, however that
//! happens. The file may be moved or removed with the directory while another process waits for it, so after locking it
//! must still be the one at its path.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Name of the file.
pub const LOCK_FILE: &str = ".lock";

/// A directory that no other campaign uses; released when dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

/// Why a directory cannot be had.
#[derive(Debug)]
pub enum LockError {
    /// Another process works there; its number where it is known.
    Taken(Option<u32>),
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Lock {
    /// Takes the lock of a directory that exists.
    pub fn take(directory: &Path) -> Result<Self, LockError> {
        let path = directory.join(LOCK_FILE);
        loop {
            let mut file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Taken(owner(&mut file))),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            let is_current = std::fs::metadata(&path).is_ok_and(|there| {
                file.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
            });
            if is_current {
                // who it is only helps the reader of a message: a full disk is noticed where it matters
                let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                return Ok(Self { path, _file: file });
            }
        }
    }

    /// Hears that its directory is now elsewhere.
    pub fn moved_to(&mut self, directory: &Path) {
        self.path = directory.join(LOCK_FILE);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // whoever opened it in between sees that it is gone
        let _ = std::fs::remove_file(&self.path);
    }
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_had_once_at_a_time() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let first = Lock::take(directory.path()).expect("free");
        match Lock::take(directory.path()) {
            Err(LockError::Taken(Some(owner))) => assert_eq!(owner, std::process::id()),
            other => panic!("{other:?}"),
        }
        drop(first);
        assert!(!directory.path().join(LOCK_FILE).exists());
        drop(Lock::take(directory.path()).expect("free again"));
    }

    #[test]
    fn a_lock_left_behind_holds_nobody_up() {
        let directory = tempfile::tempdir().expect("temporary directory");
        std::fs::write(directory.path().join(LOCK_FILE), "99999").expect("writable");
        drop(Lock::take(directory.path()).expect("nobody holds it"));
    }
}
