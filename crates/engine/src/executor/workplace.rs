//! The directory a program runs in: its own, and empty when a run starts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ExecutorError, failed};

pub(super) struct Workplace {
    path: PathBuf,
}

impl Workplace {
    pub(super) fn new(path: &Path) -> Result<Self, ExecutorError> {
        fs::create_dir_all(path).map_err(failed(format!("make the directory {}", path.display())))?;
        let path = path.canonicalize().map_err(failed(format!("find the directory {}", path.display())))?;
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what a run left.
    pub(super) fn empty(&self) -> Result<(), ExecutorError> {
        self.remove_all().map_err(failed(format!("empty the directory {}", self.path.display())))
    }

    fn remove_all(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}
