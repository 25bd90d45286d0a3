//! What a program prints: kept in memory, the beginning only.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::fs::FileExt;

use super::{ExecutorError, failed};

/// Bytes of each stream that are kept.
const KEPT: usize = 64 << 10;

/// What a run printed: the first 64 KiB of each stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether a stream went on after what is kept.
    pub truncated: bool,
}

/// A file in memory that a stream goes to.
pub(super) struct Capture {
    file: File,
}

impl Capture {
    pub(super) fn new() -> Result<Self, ExecutorError> {
        // SAFETY: the name is a C string; the result is checked.
        let fd = unsafe { libc::memfd_create(c"quarry-output".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(failed("make a file for output")(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and nobody else's. Appending survives truncation between runs.
        let file = unsafe {
            libc::fcntl(fd, libc::F_SETFL, libc::O_APPEND);
            File::from_raw_fd(fd)
        };
        Ok(Self { file })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Takes what was written since the last time; the flag says whether there was more than is kept.
    pub(super) fn take(&self) -> io::Result<(Vec<u8>, bool)> {
        self.take_most(KEPT)
    }

    /// The same with another bound.
    pub(super) fn take_most(&self, most: usize) -> io::Result<(Vec<u8>, bool)> {
        let length = self.length()?;
        if length == 0 {
            return Ok((Vec::new(), false));
        }
        let mut bytes = vec![0; length.min(most)];
        self.file.read_exact_at(&mut bytes, 0)?;
        self.file.set_len(0)?;
        Ok((bytes, length > most))
    }

    fn length(&self) -> io::Result<usize> {
        // SAFETY: all bytes zero is a valid value of this plain C structure.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open and the structure writable.
        if unsafe { libc::fstat(self.file.as_raw_fd(), &raw mut stat) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(usize::try_from(stat.st_size).unwrap_or(0))
    }
}
