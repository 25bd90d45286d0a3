//! Which files of a suite's directory are as Quarry wrote them? The others are a person's.
//!
//! Method: a hidden file lists name and hash of each file before it is written; the last line of a name counts. In a directory
//! without the list, names decide.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::output::test_number;
use cache::sha256;

/// Name of the list.
const LIST: &str = ".written";

/// What was written to a directory.
pub struct Written {
    /// Hashes by name; `None` where there is no list.
    files: Option<BTreeMap<String, String>>,
}

/// Notes that a file is about to be written.
pub fn note(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let line = format!("{}  {}\n", sha256(bytes), name.to_string_lossy());
    // in one piece: a killed run leaves whole lines
    OpenOptions::new().create(true).append(true).open(directory.join(LIST))?.write_all(line.as_bytes())
}

impl Written {
    /// What is known of a directory.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let text = match fs::read_to_string(directory.join(LIST)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self { files: None }),
            Err(error) => return Err(error),
        };
        let words = |line: &str| line.split_once("  ").map(|(hash, name)| (name.to_owned(), hash.to_owned()));
        Ok(Self { files: Some(text.lines().filter_map(words).collect()) })
    }

    /// Whether a file of the directory is as it was written.
    pub fn has(&self, path: &Path) -> bool {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
        if name == LIST || name.ends_with(".tmp") {
            return true;
        }
        match &self.files {
            None => matches!(name, "replay.c" | "failing_allocations.c") || test_number(name).is_some(),
            Some(files) => {
                let hash = fs::read(path).map(|bytes| sha256(&bytes));
                files.get(name).is_some_and(|listed| hash.is_ok_and(|hash| hash == *listed))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_a_persons() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let path = |name: &str| directory.path().join(name);
        for (name, text) in [("test_001.json", "1"), ("test_002.json", "2"), ("replay.c", "main")] {
            note(&path(name), text.as_bytes()).expect("writable");
            fs::write(path(name), text).expect("writable");
        }
        fs::write(path("test_002.json"), "two").expect("writable");
        fs::write(path("test_003.json"), "3").expect("writable");
        let written = Written::read(directory.path()).expect("readable");
        let names = ["test_001.json", "test_002.json", "test_003.json", "replay.c", LIST];
        assert_eq!(names.map(|name| written.has(&path(name))), [true, false, false, true, true]);
    }

    #[test]
    fn without_a_list_names_decide() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let written = Written::read(directory.path()).expect("readable");
        assert!(written.has(Path::new("test_012.json")) && !written.has(Path::new("notes.txt")));
    }
}
