//! A few bytes in a file, with their hash behind them, replaced as a whole.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::entry::{BLOCK, touch};

/// Length of a hash.
const HASH: usize = 32;

/// What a note says; nothing when there is none or when it is damaged.
pub fn read(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let length = bytes.len().checked_sub(HASH)?;
    let hash = bytes.split_off(length);
    if Sha256::digest(&bytes).as_slice() != hash {
        return None;
    }
    touch(&file);
    Some(bytes)
}

/// Writes a note; returns the space it takes.
pub fn write(path: &Path, drafts: &Path, note: &[u8]) -> io::Result<u64> {
    std::fs::create_dir_all(drafts)?;
    if let Some(kind) = path.parent() {
        std::fs::create_dir_all(kind)?;
    }
    let mut file = tempfile::NamedTempFile::new_in(drafts)?;
    file.write_all(note)?;
    file.write_all(&Sha256::digest(note))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(((note.len() + HASH) as u64).next_multiple_of(BLOCK))
}
