//! Preprocessed texts between the moment when a source is looked at and the one when it is marked: one run of the compiler serves both.
//!
//! Limit: they are kept while there is room; a text that is not here is made again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cache::Key;

/// Bytes that may be kept in all.
const MOST: usize = 256 << 20;

#[derive(Default)]
struct Texts {
    /// With the hash of the files that each was made of.
    texts: BTreeMap<String, (String, Vec<u8>)>,
    n_bytes: usize,
}

static TEXTS: Mutex<Texts> = Mutex::new(Texts { texts: BTreeMap::new(), n_bytes: 0 });

/// Keeps the text of a source, which is known by a key, as these files make it.
pub fn keep(source: &Key, files: &str, text: Vec<u8>) {
    let mut kept = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, old)) = kept.texts.remove(&source.hex()) {
        kept.n_bytes -= old.len();
    }
    if kept.n_bytes + text.len() <= MOST {
        kept.n_bytes += text.len();
        kept.texts.insert(source.hex(), (files.to_owned(), text));
    }
}

/// Takes the text of a source out, with the hash of its files.
pub fn take(source: &Key) -> Option<(String, Vec<u8>)> {
    let mut kept = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = kept.texts.remove(&source.hex())?;
    kept.n_bytes -= found.1.len();
    Some(found)
}
