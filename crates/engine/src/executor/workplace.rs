//! The directory a program runs in: its own, and empty when a run starts.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
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
        remove_contents(&self.path).map_err(failed(format!("empty the directory {}", self.path.display())))
    }
}

fn remove_contents(directory: &Path) -> io::Result<()> {
    for entry in open(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_contents(&entry.path())?;
            fs::remove_dir(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The run may have taken its own directories' permissions away.
fn open(directory: &Path) -> io::Result<fs::ReadDir> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
            fs::read_dir(directory)
        }
        opened => opened,
    }
}
