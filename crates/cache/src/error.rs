//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};

/// Nothing can be made, not even in a temporary directory.
#[derive(Debug, thiserror::Error)]
#[error("cannot {act} {}", path.display())]
pub struct CacheError {
    act: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl CacheError {
    pub(crate) fn new(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { act, path: path.to_owned(), source }
    }
}
