//! What was built once, kept by what it was built from.
//!
//! An entry is a directory of files, `v1/<kind>/<hash of its key>` below the cache's directory. Method: an entry is made in a directory
//! of its own and renamed whole, so processes that fill the same cache at once see all of an entry or none of it; of two
//! that make the same one, the second takes the first one's. A manifest states length and hash of every file, and each use
//! checks them: nothing is flushed to disk, and a cut or altered entry is dropped and made again. The manifest's modification time is
//! the last use. When the cache outgrows its limit, the entries that were used least recently go.
//!
//! A process that uses an entry holds a shared lock on its directory, and nobody removes an entry without the exclusive one. Copies or
//! hard links would need no lock, but cost a copy per use or a common file system.
//!
//! A *note* is a file with a few bytes that may be replaced, for what must be known to find a key.
//!
//! A cache that cannot be written is no error: what is made then goes to a temporary one.
//!
//! Limits: a lock holds on one machine only, so a cache on a network file system should have one machine. Hashes guard against damage,
//! not against someone who may write to the cache.

mod entry;
mod error;
mod key;
mod limit;
mod manifest;
mod note;
mod sources;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;
use tempfile::TempDir;

pub use entry::Entry;
use entry::{DRAFTS, Draft, Found};
pub use error::CacheError;
pub use key::{Key, sha256};
pub use limit::{KindStats, Removed, Stats};
pub use sources::hash_of_sources;

/// How many bytes a cache may take by default.
pub const DEFAULT_LIMIT: u64 = 2 << 30;

/// The layout of the cache; another layout is another directory.
const VERSION: &str = "v1";

/// Where what was built is kept. Clones are the same cache.
#[derive(Clone, Debug)]
pub struct Cache {
    /// With the version of its layout.
    root: PathBuf,
    limit: u64,
    /// A cache for this process only is removed with its last user.
    temporary: Option<Arc<TempDir>>,
    /// Where entries go when this cache cannot be written.
    substitute: Arc<OnceLock<Cache>>,
}

impl Cache {
    /// The cache in a directory, which need not exist yet, of at most `limit` bytes.
    #[must_use]
    pub fn open(directory: &Path, limit: u64) -> Self {
        let root = directory.join(VERSION);
        Self { root, limit, temporary: None, substitute: Arc::default() }
    }

    /// The user's cache: in the directory that `QUARRY_CACHE` names, else in `quarry` below `XDG_CACHE_HOME` or `~/.cache`. A temporary
    /// one when nothing says where it is.
    pub fn of_user(limit: u64) -> Result<Self, CacheError> {
        let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let directory = from("QUARRY_CACHE")
            .or_else(|| from("XDG_CACHE_HOME").map(|path| path.join("quarry")))
            .or_else(|| from("HOME").map(|path| path.join(".cache/quarry")));
        match directory {
            // compilers run in other directories
            Some(directory) => Ok(Self::open(&std::path::absolute(&directory).unwrap_or(directory), limit)),
            None => Self::temporary(),
        }
    }

    /// A cache that starts empty and is removed when nobody uses it any more: what is built is built once per process.
    pub fn temporary() -> Result<Self, CacheError> {
        let directory = tempfile::Builder::new()
            .prefix("quarry-")
            .tempdir()
            .map_err(CacheError::new("create a directory in", &std::env::temp_dir()))?;
        let cache = Self::open(directory.path(), u64::MAX);
        Ok(Self { temporary: Some(Arc::new(directory)), ..cache })
    }

    /// The entry of a key, or the one that `make` fills: it is given an empty directory.
    pub fn get_or_make<E: From<CacheError>>(
        &self,
        kind: &'static str,
        key: &Key,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Entry, E> {
        match self.get(kind, key) {
            Some(entry) => Ok(entry),
            None => self.make(kind, key, make),
        }
    }

    /// The entry of a key, if it is there and whole.
    #[must_use]
    pub fn get(&self, kind: &'static str, key: &Key) -> Option<Entry> {
        let path = self.path(kind, key);
        match entry::find(&path, self.temporary.as_ref()) {
            Found::Whole(entry) => {
                tracing::debug!(kind, key = key.short(), "found in the cache");
                Some(entry)
            }
            Found::Broken => {
                tracing::warn!(path = %path.display(), "an entry of the cache is broken and is dropped");
                entry::remove(&path, &self.drafts());
                None
            }
            Found::Missing => self.substitute.get().and_then(|cache| cache.get(kind, key)),
        }
    }

    /// Makes the entry of a key that [`Self::get`] does not have. One that another process has made meanwhile is taken instead.
    pub fn make<E: From<CacheError>>(
        &self,
        kind: &'static str,
        key: &Key,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Entry, E> {
        self.make_if(kind, key, |directory| make(directory).map(|()| true))
    }

    /// The same, of what may turn out not to be what the key says: when `make` returns false, what it made is the caller's alone.
    pub fn make_if<E: From<CacheError>>(
        &self,
        kind: &'static str,
        key: &Key,
        make: impl FnOnce(&Path) -> Result<bool, E>,
    ) -> Result<Entry, E> {
        let draft = match Draft::new(&self.drafts()) {
            Ok(draft) => draft,
            Err(error) if self.temporary.is_none() => {
                tracing::warn!(cache = %self.root.display(), %error, "the cache cannot be written");
                let substitute = self.substitute()?;
                return match substitute.get(kind, key) {
                    Some(entry) => Ok(entry),
                    None => substitute.make_if(kind, key, make),
                };
            }
            Err(error) => return Err(CacheError::new("create a directory in", &self.root)(error).into()),
        };
        if !make(draft.path())? {
            return Ok(draft.unpublished(self.temporary.as_ref()));
        }
        tracing::debug!(kind, key = key.short(), "made for the cache");
        let size = draft.complete()?;
        limit::make_room(&self.root, self.limit, size);
        Ok(self.publish(draft, &self.path(kind, key)))
    }

    /// What was noted under a key last, if anything.
    #[must_use]
    pub fn note(&self, kind: &'static str, key: &Key) -> Option<Vec<u8>> {
        let found = note::read(&self.path(kind, key));
        found.or_else(|| self.substitute.get()?.note(kind, key))
    }

    /// Notes something small under a key, in place of what was noted before. What cannot be noted is found out again.
    pub fn keep_note(&self, kind: &'static str, key: &Key, note: &[u8]) {
        match note::write(&self.path(kind, key), &self.drafts(), note) {
            Ok(size) => limit::make_room(&self.root, self.limit, size),
            Err(error) => {
                tracing::warn!(cache = %self.root.display(), %error, "the cache cannot be written");
                if let (None, Ok(substitute)) = (&self.temporary, self.substitute()) {
                    substitute.keep_note(kind, key, note);
                }
            }
        }
    }

    /// Moves a complete draft to its place.
    fn publish(&self, draft: Draft, path: &Path) -> Entry {
        if let Some(kind) = path.parent() {
            // what fails here fails again when the draft is renamed
            let _ = std::fs::create_dir_all(kind);
        }
        // each round that fails met another process that made or removed the same entry
        for _ in 0..3 {
            match rustix::fs::rename(draft.path(), path) {
                Ok(()) => return draft.published(path, self.temporary.as_ref()),
                Err(Errno::EXIST | Errno::NOTEMPTY) => match entry::find(path, self.temporary.as_ref()) {
                    Found::Whole(entry) => return entry,
                    Found::Broken => {
                        entry::remove(path, &self.drafts());
                    }
                    Found::Missing => {}
                },
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "cannot keep an entry of the cache");
                    break;
                }
            }
        }
        draft.unpublished(self.temporary.as_ref())
    }

    /// How many entries there are, and how large they are.
    #[must_use]
    pub fn stats(&self) -> Stats {
        limit::stats(&self.root, self.limit)
    }

    /// Removes everything that no process uses.
    pub fn clean(&self) -> Removed {
        limit::clean(&self.root)
    }

    fn substitute(&self) -> Result<&Self, CacheError> {
        if self.substitute.get().is_none() {
            // of two threads that come here at once, one has made a directory too many
            let _ = self.substitute.set(Self::temporary()?);
        }
        Ok(self.substitute.get().expect("it was set above"))
    }

    fn path(&self, kind: &'static str, key: &Key) -> PathBuf {
        self.root.join(kind).join(key.hex())
    }

    fn drafts(&self) -> PathBuf {
        self.root.join(DRAFTS)
    }
}
