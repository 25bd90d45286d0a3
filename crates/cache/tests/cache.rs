//! What holds of a cache whatever happens to its files.

#![expect(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

use cache::{Cache, CacheError, Entry, Key};

const KIND: &str = "unit";
const LIMIT: u64 = 1 << 30;

#[derive(Debug, thiserror::Error)]
enum MakeError {
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error(transparent)]
    File(#[from] io::Error),
    #[error("asked to fail")]
    Asked,
}

fn key(name: &str) -> Key {
    Key::new().part("name", name)
}

/// Files that depend on the key, one of them empty and one in a directory.
fn fill(directory: &Path, name: &str) -> Result<(), MakeError> {
    std::fs::write(directory.join("text"), format!("made of {name}\n"))?;
    std::fs::write(directory.join("empty"), "")?;
    std::fs::create_dir(directory.join("below"))?;
    std::fs::write(directory.join("below/number"), name.len().to_le_bytes())?;
    Ok(())
}

/// The entry of a name, and whether it had to be made.
fn get_or_make(cache: &Cache, name: &str) -> (Entry, bool) {
    let mut is_made = false;
    let entry = cache.get_or_make(KIND, &key(name), |directory| {
        is_made = true;
        fill(directory, name)
    });
    let entry = entry.expect("what can be made is made");
    check_content(&entry, name);
    (entry, is_made)
}

#[track_caller]
fn check_content(entry: &Entry, name: &str) {
    assert_eq!(std::fs::read_to_string(entry.file("text")).unwrap(), format!("made of {name}\n"));
    assert_eq!(std::fs::read(entry.file("empty")).unwrap(), b"");
    assert_eq!(std::fs::read(entry.file("below/number")).unwrap(), name.len().to_le_bytes());
}

fn files(entry: &Path) -> Vec<PathBuf> {
    ["text", "empty", "below/number", "manifest"].map(|name| entry.join(name)).to_vec()
}

#[test]
fn an_entry_is_made_once() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    assert!(cache.get(KIND, &key("a")).is_none());
    assert!(get_or_make(&cache, "a").1);
    assert!(!get_or_make(&cache, "a").1);
    assert!(get_or_make(&cache, "b").1);
    let later = Cache::open(directory.path(), LIMIT);
    assert!(!get_or_make(&later, "a").1);
    assert!(later.get("model", &key("a")).is_none(), "kinds are apart");
}

#[test]
fn a_failure_to_make_an_entry_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let failed = cache.get_or_make(KIND, &key("a"), |directory| {
        std::fs::write(directory.join("text"), "half")?;
        Err(MakeError::Asked)
    });
    assert!(matches!(failed, Err(MakeError::Asked)));
    assert_eq!(std::fs::read_dir(directory.path().join("v1/making")).unwrap().count(), 0);
    assert!(get_or_make(&cache, "a").1);
}

/// Damages one file of an entry and wants it made again.
#[track_caller]
fn check_damage(cache: &Cache, what: &str, damage: impl FnOnce(&Path)) {
    let path = get_or_make(cache, "damaged").0.path().to_owned();
    damage(&path);
    let (entry, is_made) = get_or_make(cache, "damaged");
    assert!(is_made, "{what} goes unnoticed");
    assert_eq!(entry.path(), path, "{what}: the entry is not replaced");
    drop(entry);
    assert!(!get_or_make(cache, "damaged").1, "{what}: the new entry is not kept");
}

#[test]
fn an_entry_cut_at_any_length_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let path = get_or_make(&cache, "damaged").0.path().to_owned();
    let mut n_cuts = 0;
    for file in files(&path) {
        for length in 0..std::fs::metadata(&file).unwrap().len() {
            check_damage(&cache, &format!("{} cut to {length} bytes", file.display()), |_| {
                std::fs::File::options().write(true).open(&file).unwrap().set_len(length).unwrap();
            });
            n_cuts += 1;
        }
    }
    assert!(n_cuts > 300, "only {n_cuts} cuts");
}

#[test]
fn an_entry_with_any_byte_altered_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let path = get_or_make(&cache, "damaged").0.path().to_owned();
    for file in files(&path) {
        let whole = std::fs::read(&file).unwrap();
        for at in 0..whole.len() {
            check_damage(&cache, &format!("{} altered at {at}", file.display()), |_| {
                let mut altered = whole.clone();
                altered[at] ^= 0x10;
                std::fs::write(&file, altered).unwrap();
            });
        }
        check_damage(&cache, &format!("{} longer", file.display()), |_| {
            std::fs::write(&file, [whole.as_slice(), b"1"].concat()).unwrap();
        });
    }
}

#[test]
fn an_entry_that_lacks_a_file_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let path = get_or_make(&cache, "damaged").0.path().to_owned();
    for file in files(&path) {
        check_damage(&cache, &format!("{} missing", file.display()), |_| {
            std::fs::remove_file(&file).unwrap()
        });
    }
    check_damage(&cache, "an empty directory", |path| {
        std::fs::remove_dir_all(path).unwrap();
        std::fs::create_dir(path).unwrap();
    });
}

#[test]
fn a_broken_entry_in_use_is_replaced_for_others_only_later() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let (user, _) = get_or_make(&cache, "a");
    std::fs::write(user.file("text"), "mad").unwrap();
    let (other, is_made) = get_or_make(&cache, "a");
    assert!(is_made && other.path() != user.path());
    assert!(user.path().exists());
    let elsewhere = other.path().to_owned();
    drop((user, other));
    assert!(!elsewhere.exists());
    assert!(get_or_make(&cache, "a").1);
    assert!(!get_or_make(&cache, "a").1);
}

/// Cuts a file of an entry that no process uses at the moment.
fn damage_unless_used(directory: &Path) {
    let Ok(lock) = std::fs::File::open(directory) else { return };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
        // it may be removed already
        let file = std::fs::File::options().write(true).open(directory.join("text"));
        let _ = file.and_then(|file| file.set_len(3));
    }
}

/// What the process does that [`several_processes_fill_a_cache_at_once`] starts.
#[test]
fn fill_in_another_process() {
    let Some(directory) = std::env::var_os("CACHE_TO_FILL") else { return };
    // small enough that entries are removed all the time
    let cache = Cache::open(Path::new(&directory), 12 * 20_480);
    for round in 0..20 {
        for n in 0..20 {
            let name = format!("entry {n}");
            let (entry, _) = get_or_make(&cache, &name);
            std::thread::yield_now();
            check_content(&entry, &name);
            if (round + n) % 7 == 0 {
                let directory = entry.path().to_owned();
                drop(entry);
                damage_unless_used(&directory);
            }
        }
    }
}

#[test]
fn several_processes_fill_a_cache_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "fill_in_another_process", "--nocapture"])
            .env("CACHE_TO_FILL", directory.path())
            .spawn()
            .unwrap()
    };
    let processes: Vec<_> = (0..4).map(|_| start()).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    let drafts = std::fs::read_dir(directory.path().join("v1/making")).unwrap();
    assert_eq!(drafts.count(), 0);
}

#[test]
fn two_who_make_the_same_entry_share_the_first_one() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let mut first = None;
    let second = cache.make(KIND, &key("a"), |directory| {
        first = Some(get_or_make(&cache, "a").0);
        fill(directory, "a")
    });
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.path(), second.path());
    assert_eq!(cache.stats().total().n_entries, 1);
}

fn use_at(cache: &Cache, name: &str, seconds: u64) {
    let (entry, _) = get_or_make(cache, name);
    let manifest = std::fs::File::open(entry.file("manifest")).unwrap();
    manifest.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

fn names(cache: &Cache, all: &[&str]) -> Vec<String> {
    // by their paths: to get an entry is to use it
    let root = cache.stats().directory.join(KIND);
    let is_there = |name: &&&str| root.join(key(name).hex()).exists();
    all.iter().filter(is_there).map(|name| (*name).to_owned()).collect()
}

/// What an entry takes: two directories, three files with something in them.
const SIZE: u64 = 5 * 4096;

#[test]
fn entries_used_least_recently_are_removed_first() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), 4 * SIZE);
    let all = ["a", "b", "c", "d", "e", "f"];
    for (name, at) in [("a", 10), ("b", 20), ("c", 30), ("d", 40)] {
        use_at(&cache, name, at);
    }
    assert_eq!(cache.stats().total().bytes, 4 * SIZE);
    use_at(&cache, "a", 50);
    // with less than a tenth free, one more entry removes two
    get_or_make(&cache, "e");
    assert_eq!(names(&cache, &all), ["a", "d", "e"]);
    get_or_make(&cache, "f");
    assert_eq!(names(&cache, &all), ["a", "d", "e", "f"]);
    assert!(cache.stats().total().bytes <= 4 * SIZE);
}

#[test]
fn entries_in_use_stay_in_a_full_cache() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), 2 * SIZE);
    let used: Vec<Entry> = (0..5).map(|n| get_or_make(&cache, &n.to_string()).0).collect();
    (0..5).for_each(|n| check_content(&used[n], &n.to_string()));
    assert_eq!(cache.clean().left.n_entries, 5);
    drop(used);
    get_or_make(&cache, "more");
    assert!(cache.stats().total().bytes <= 2 * SIZE);
    assert!(!get_or_make(&cache, "more").1);
}

#[test]
fn the_limit_holds_after_the_sum_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), 4 * SIZE);
    for n in 0..20 {
        get_or_make(&cache, &n.to_string());
        match n % 3 {
            0 => std::fs::write(directory.path().join("v1/size"), "nonsense").unwrap(),
            1 => std::fs::remove_file(directory.path().join("v1/size")).unwrap(),
            _ => {}
        }
        assert!(cache.stats().total().bytes <= 4 * SIZE);
    }
}

#[test]
fn a_cleaned_cache_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let (used, _) = get_or_make(&cache, "used");
    get_or_make(&cache, "a");
    let cleaned = cache.clean();
    assert_eq!((cleaned.removed.n_entries, cleaned.left.n_entries), (1, 1));
    drop(used);
    assert_eq!(cache.clean().removed.n_entries, 1);
    assert_eq!(cache.stats().total().bytes, 0);
    assert_eq!(std::fs::read_dir(directory.path().join("v1/making")).unwrap().count(), 0);
}

#[test]
fn a_cache_that_cannot_be_written_makes_entries_once_per_process() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let cache = Cache::open(&file.join("cache"), LIMIT);
    let (entry, is_made) = get_or_make(&cache, "a");
    assert!(is_made);
    assert!(!get_or_make(&cache.clone(), "a").1);
    let path = entry.path().to_owned();
    drop(cache);
    check_content(&entry, "a");
    drop(entry);
    assert!(!path.exists(), "what was made is left behind");
}

#[test]
fn a_temporary_cache_goes_with_its_last_user() {
    let cache = Cache::temporary().unwrap();
    let (entry, is_made) = get_or_make(&cache, "a");
    assert!(is_made && !get_or_make(&cache, "a").1);
    let directory = cache.stats().directory;
    drop(cache);
    check_content(&entry, "a");
    drop(entry);
    assert!(!directory.exists());
}

#[test]
fn drafts_of_processes_that_ended_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let drafts = directory.path().join("v1/making");
    for name in ["ended", "used", "just started"] {
        std::fs::create_dir_all(drafts.join(name)).unwrap();
        std::fs::write(drafts.join(name).join("half"), "").unwrap();
    }
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    for name in ["ended", "used"] {
        std::fs::File::open(drafts.join(name)).unwrap().set_modified(hour_ago).unwrap();
    }
    let used = std::fs::File::open(drafts.join("used")).unwrap();
    flock(&used, FlockOperation::LockShared).unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    get_or_make(&cache, "a");
    let left = ["ended", "used", "just started"].map(|name| drafts.join(name).exists());
    assert_eq!(left, [false, true, true]);
}

#[test]
fn what_is_not_what_its_key_says_is_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let entry = cache.make_if(KIND, &key("a"), |directory| fill(directory, "a").map(|()| false)).unwrap();
    check_content(&entry, "a");
    assert!(cache.get(KIND, &key("a")).is_none());
    let path = entry.path().to_owned();
    drop(entry);
    assert!(!path.exists());
}

#[test]
fn a_note_is_replaced_by_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    assert_eq!(cache.note(KIND, &key("a")), None);
    for note in ["first", "", "a longer third"] {
        cache.keep_note(KIND, &key("a"), note.as_bytes());
        assert_eq!(cache.note(KIND, &key("a")).unwrap(), note.as_bytes());
    }
    assert_eq!(cache.stats().total().n_entries, 1);
    assert_eq!(cache.clean().removed.n_entries, 1);
    assert_eq!(cache.note(KIND, &key("a")), None);
}

#[test]
fn a_damaged_note_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), LIMIT);
    let file = directory.path().join("v1").join(KIND).join(key("a").hex());
    cache.keep_note(KIND, &key("a"), b"read these files");
    let whole = std::fs::read(&file).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&file, &whole[..length]).unwrap();
        assert_eq!(cache.note(KIND, &key("a")), None, "cut to {length} bytes");
        let mut altered = whole.clone();
        altered[length] ^= 1;
        std::fs::write(&file, &altered).unwrap();
        assert_eq!(cache.note(KIND, &key("a")), None, "altered at {length}");
    }
}

#[test]
fn a_cache_that_cannot_be_written_has_notes_for_this_process() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let cache = Cache::open(&file.join("cache"), LIMIT);
    cache.keep_note(KIND, &key("a"), b"noted");
    assert_eq!(cache.note(KIND, &key("a")).unwrap(), b"noted");
}

#[test]
fn notes_count_for_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::open(directory.path(), 10 * 4096);
    for n in 0..30 {
        cache.keep_note(KIND, &key(&n.to_string()), b"noted");
    }
    assert!(cache.stats().total().bytes <= 11 * 4096, "one may be written before room is made for it");
    assert_eq!(cache.note(KIND, &key("29")).unwrap(), b"noted");
}
