//! How large a cache is, and what goes when it is too large.
//!
//! A file has the sum of all entries. Whoever makes an entry adds its size before the entry is in its place, so the sum is never
//! too small; when it exceeds the limit, all entries are counted anew and those used least recently are removed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};

use crate::entry::DRAFTS;
use crate::{entry, manifest};

/// The file with the sum.
const SUM_FILE: &str = "size";

/// What a cache has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The directory, with the version of its layout.
    pub directory: PathBuf,
    pub limit: u64,
    pub kinds: BTreeMap<String, KindStats>,
}

/// The entries of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindStats {
    pub n_entries: u64,
    pub bytes: u64,
}

impl Stats {
    /// All kinds together.
    #[must_use]
    pub fn total(&self) -> KindStats {
        self.kinds.values().fold(KindStats::default(), |sum, kind| KindStats {
            n_entries: sum.n_entries + kind.n_entries,
            bytes: sum.bytes + kind.bytes,
        })
    }
}

/// What [`crate::Cache::clean`] has removed, and what it has left because it is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub removed: KindStats,
    pub left: KindStats,
}

/// An entry as the one who makes room sees it.
struct Kept {
    kind: String,
    path: PathBuf,
    bytes: u64,
    last_use: SystemTime,
}

/// Makes room for an entry of this size. Entries in use stay, and so the limit holds as soon as they no longer are.
pub fn make_room(root: &Path, limit: u64, size: u64) {
    let path = root.join(SUM_FILE);
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let Ok(mut file) = opened else { return };
    if flock(&file, FlockOperation::LockExclusive).is_err() {
        return;
    }
    let sum = match read_sum(&mut file) {
        Some(sum) if sum.saturating_add(size) <= limit => sum,
        Some(_) | None => remove_least_recent(root, limit, size),
    };
    // a sum that cannot be written or read is counted anew
    let _ = file.set_len(0);
    let _ = file.rewind().and_then(|()| writeln!(file, "{}", sum.saturating_add(size)));
}

fn read_sum(file: &mut File) -> Option<u64> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.strip_suffix('\n')?.parse().ok()
}

/// Counts all entries, and removes some when there is no room; returns the sum of what is left.
fn remove_least_recent(root: &Path, limit: u64, size: u64) -> u64 {
    let mut kept = entries(root);
    let mut sum: u64 = kept.iter().map(|kept| kept.bytes).sum();
    if sum.saturating_add(size) <= limit {
        return sum;
    }
    // more than is needed: else each further entry would count all others again
    let wanted = (limit - limit / 10).saturating_sub(size);
    kept.sort_by(|a, b| (a.last_use, &a.path).cmp(&(b.last_use, &b.path)));
    for kept in kept {
        if sum <= wanted {
            break;
        }
        if entry::remove(&kept.path, &root.join(DRAFTS)) {
            sum -= kept.bytes;
        }
    }
    tracing::debug!(sum, limit, "removed the entries used least recently from the cache");
    sum
}

/// Every entry, whole or not, and every note.
fn entries(root: &Path) -> Vec<Kept> {
    let within = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut kept = Vec::new();
    for kind in within(root).filter(|kind| kind.file_name() != DRAFTS) {
        for found in within(&kind.path()) {
            // what vanishes meanwhile takes no space
            kept.extend(kept_at(&kind.file_name().to_string_lossy(), found.path()).ok());
        }
    }
    kept
}

fn kept_at(kind: &str, path: PathBuf) -> io::Result<Kept> {
    let metadata = std::fs::metadata(&path)?;
    let (bytes, used) = if metadata.is_dir() {
        let manifest = std::fs::metadata(path.join(manifest::FILE));
        (entry::size(&path)?, manifest.and_then(|manifest| manifest.modified()))
    } else {
        (metadata.len().next_multiple_of(entry::BLOCK), metadata.modified())
    };
    let last_use = used.unwrap_or(SystemTime::UNIX_EPOCH);
    Ok(Kept { kind: kind.to_owned(), path, bytes, last_use })
}

pub fn stats(root: &Path, limit: u64) -> Stats {
    let mut kinds: BTreeMap<String, KindStats> = BTreeMap::new();
    for kept in entries(root) {
        let kind = kinds.entry(kept.kind).or_default();
        kind.n_entries += 1;
        kind.bytes += kept.bytes;
    }
    Stats { directory: root.to_owned(), limit, kinds }
}

pub fn clean(root: &Path) -> Removed {
    let drafts = root.join(DRAFTS);
    entry::remove_abandoned(&drafts);
    let mut result = Removed::default();
    for kept in entries(root) {
        let is_removed = entry::remove(&kept.path, &drafts);
        let stats = if is_removed { &mut result.removed } else { &mut result.left };
        stats.n_entries += 1;
        stats.bytes += kept.bytes;
    }
    // without it, the next one to make an entry counts
    let _ = std::fs::remove_file(root.join(SUM_FILE));
    result
}
