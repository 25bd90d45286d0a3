//! The directory a program runs in: its own, and empty when a run starts.
//!
//! A confined server has file systems of its own over it and over the places for scratch files; they are reached by way of
//! the server and vanish with it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

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

    /// Removes what a run of this server left.
    pub(super) fn empty(&self, server: Option<Pid>) -> Result<(), ExecutorError> {
        let places = match server.filter(|pid| has_own_mounts(*pid)) {
            Some(pid) => ["cwd", "root/tmp", "root/dev/shm"]
                .map(|place| format!("/proc/{}/{place}", pid.as_raw_pid()).into())
                .to_vec(),
            None => vec![self.path.clone()],
        };
        for place in places {
            remove_contents(&place).map_err(failed(format!("empty the directory {}", place.display())))?;
        }
        Ok(())
    }
}

fn has_own_mounts(pid: Pid) -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let theirs = namespace(&pid.as_raw_pid().to_string());
    theirs.is_some() && theirs != namespace("self")
}

fn remove_contents(directory: &Path) -> io::Result<()> {
    for entry in open(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_contents(&entry.path())?;
            match fs::remove_dir(entry.path()) {
                // something is mounted there, or further below
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::ResourceBusy | io::ErrorKind::DirectoryNotEmpty
                    ) => {}
                removed => removed?,
            }
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
