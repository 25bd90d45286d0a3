//! What a program prints: kept in memory, the beginning only.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{OFlags, fcntl_setfl, fstat};

use super::{ExecutorError, failed, file_in_memory};

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
        let make = || {
            let file = file_in_memory(c"quarry-output")?;
            // appending survives truncation between runs
            fcntl_setfl(&file, OFlags::APPEND)?;
            Ok(Self { file })
        };
        make().map_err(failed("make a file for output"))
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
        // cheaper than the metadata of std, which asks for more
        let length = usize::try_from(fstat(&self.file)?.st_size).unwrap_or(0);
        if length == 0 {
            return Ok((Vec::new(), false));
        }
        let mut bytes = vec![0; length.min(most)];
        self.file.read_exact_at(&mut bytes, 0)?;
        self.file.set_len(0)?;
        Ok((bytes, length > most))
    }
}
