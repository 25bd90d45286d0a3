//! Which files did the compiler read of a source, and are they still the same? Answered without the compiler.
//!
//! Method: the compiler lists them (`-MD`) when it runs. They are kept with their hashes; as long as all hashes are the same and no
//! file has appeared or vanished where the compiler would look for one of their names, it would read the same again. Files
//! are always hashed: times of change are too coarse to trust. Limit: a header that only `__has_include` asks for and that did not exist is not
//! known, nor are files that inline assembly includes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use cache::Key;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// Files that were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFiles {
    /// With their hashes.
    files: Vec<(PathBuf, String)>,
    /// Files that the compiler would take for one of them in another order of directories.
    alike: BTreeSet<PathBuf>,
}

/// Hashes of files as they are now. For one moment: a value that lives longer misses changes.
#[derive(Debug, Default)]
pub struct FileHashes(BTreeMap<PathBuf, Option<String>>);

impl FileHashes {
    /// The hash of a file; nothing when it cannot be read.
    pub fn of(&mut self, file: &Path) -> Option<&str> {
        if !self.0.contains_key(file) {
            let hash = std::fs::read(file).ok().map(|bytes| cache::sha256(&bytes));
            self.0.insert(file.to_owned(), hash);
        }
        self.0[file].as_deref()
    }
}

/// Asks a compiler which files it reads.
pub struct Listing {
    file: NamedTempFile,
    begin: SystemTime,
}

impl Listing {
    /// Adds the flags to a command that is about to run.
    pub fn of(command: &mut Command) -> std::io::Result<Self> {
        let file = tempfile::Builder::new().prefix("quarry-reads-").tempfile()?;
        // of the file system, whose clock differs from the others
        let begin = file.as_file().metadata()?.modified()?;
        command.args(["-MD", "-MT", "source", "-MF"]).arg(file.path());
        Ok(Self { file, begin })
    }

    /// What the command has read. `search` has the directories in which it looks for headers, `own` a file that is not to be listed. Nothing when a
    /// file has changed since the command started, so that nobody knows what was read.
    pub fn read(
        &self,
        directory: &Path,
        search: &[PathBuf],
        own: Option<&Path>,
        hashes: &mut FileHashes,
    ) -> Option<ReadFiles> {
        let text = std::fs::read_to_string(self.file.path()).ok()?;
        let mut files = Vec::new();
        for name in names(&text)? {
            let file = directory.join(name);
            if own == Some(file.as_path()) {
                continue;
            }
            let metadata = std::fs::metadata(&file).ok()?;
            if changed(&metadata)? >= self.begin {
                return None;
            }
            files.push((file.clone(), hashes.of(&file)?.to_owned()));
        }
        files.sort();
        files.dedup();
        let alike = alike(&files, search);
        Some(ReadFiles { files, alike })
    }
}

impl ReadFiles {
    /// Whether the compiler would read the same again.
    pub fn hold(&self, search: &[PathBuf], hashes: &mut FileHashes) -> bool {
        self.files.iter().all(|(file, hash)| hashes.of(file) == Some(hash.as_str()))
            && alike(&self.files, search) == self.alike
    }

    /// Whether one of these words stands in a file.
    pub fn mention(&self, words: &[&[u8]]) -> bool {
        let has = |text: &[u8], word: &&[u8]| text.windows(word.len()).any(|part| part == *word);
        self.files.iter().any(|(file, _)| {
            std::fs::read(file).map_or(true, |text| words.iter().any(|word| has(&text, word)))
        })
    }

    /// All names and hashes as one hash.
    pub fn hash(&self) -> String {
        let parts =
            self.files.iter().flat_map(|(file, hash)| [file.as_os_str().as_encoded_bytes(), hash.as_bytes()]);
        Key::new().parts("files", parts).hex()
    }
}

/// When a file was changed, renamed or linked last.
fn changed(metadata: &std::fs::Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let nanoseconds = u64::try_from(metadata.ctime_nsec()).ok()?;
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds);
    Some(changed.max(metadata.modified().ok()?))
}

/// The names in a rule of make: `source: a.c b.h \` and so on.
fn names(rule: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut characters = rule.strip_prefix("source:")?.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('\n')) => {}
            ('\\', Some(' ' | '#' | '\\')) | ('$', Some('$')) => name.extend(characters.next()),
            (' ' | '\n', _) => {
                if !name.is_empty() {
                    names.push(std::mem::take(&mut name));
                }
            }
            _ => name.push(character),
        }
    }
    if !name.is_empty() {
        names.push(name);
    }
    Some(names)
}

/// Directories in which every compiler looks for headers.
const SYSTEM: [&str; 2] = ["/usr/local/include", "/usr/include"];

/// Where flags let the compiler look for headers, and the directories of a source.
pub fn search_path(directory: &Path, source: &Path, flags: &[String]) -> Vec<PathBuf> {
    let mut search: Vec<PathBuf> = source.parent().map(|parent| directory.join(parent)).into_iter().collect();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let of_flag =
            ["-iquote", "-isystem", "-idirafter", "-I"].iter().find_map(|name| flag.strip_prefix(name));
        let named = match of_flag {
            Some("") => flags.next().map(String::as_str),
            attached => attached,
        };
        search.extend(named.map(|named| directory.join(named)));
    }
    search.extend(SYSTEM.map(PathBuf::from));
    search
}

/// The files that exist under the names that the read ones have, in other directories where the compiler looks: of the source, of
/// the flags, and of the files that include others.
fn alike(files: &[(PathBuf, String)], search: &[PathBuf]) -> BTreeSet<PathBuf> {
    let is_own = |directory: &&Path| !directory.starts_with("/usr");
    let parents: BTreeSet<&Path> = files.iter().filter_map(|(file, _)| file.parent()).collect();
    let searched: BTreeSet<&Path> =
        search.iter().map(PathBuf::as_path).chain(parents.iter().copied().filter(is_own)).collect();
    let mut names: BTreeSet<&Path> = BTreeSet::new();
    for (file, _) in files {
        names.extend(
            searched.iter().chain(&parents).filter_map(|directory| file.strip_prefix(directory).ok()),
        );
    }
    let read: BTreeSet<&Path> = files.iter().map(|(file, _)| file.as_path()).collect();
    let mut alike = BTreeSet::new();
    for directory in searched {
        let others =
            names.iter().map(|name| directory.join(name)).filter(|other| !read.contains(other.as_path()));
        alike.extend(others.filter(|other| other.exists()));
    }
    alike
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_spaces_and_signs() {
        let rule = "source: a.c /usr/include/stdio.h \\\n  my\\ own/\\#1.h cost$$.h\n";
        assert_eq!(names(rule).expect("a rule"), ["a.c", "/usr/include/stdio.h", "my own/#1.h", "cost$.h"]);
        assert_eq!(names("other: a.c"), None);
    }

    #[test]
    fn headers_are_searched_where_flags_say() {
        let flags = ["-Iinclude", "-DX", "-isystem", "/opt/include", "-iquotelocal"].map(str::to_owned);
        let search = search_path(Path::new("/src"), Path::new("lib/a.c"), &flags);
        let expected =
            ["/src/lib", "/src/include", "/opt/include", "/src/local", "/usr/local/include", "/usr/include"];
        assert_eq!(search, expected.map(PathBuf::from));
    }

    #[test]
    fn a_header_that_appears_in_front_of_another_counts() {
        let directory = tempfile::tempdir().expect("a directory");
        let [first, second] = ["first", "second"].map(|name| directory.path().join(name));
        std::fs::create_dir_all(first.join("sub")).expect("a directory");
        std::fs::create_dir_all(second.join("sub")).expect("a directory");
        let header = second.join("sub/a.h");
        std::fs::write(&header, "int a;").expect("a file");
        let search = [first.clone(), second];
        let files = vec![(header.clone(), FileHashes::default().of(&header).expect("a file").to_owned())];
        let read = ReadFiles { alike: alike(&files, &search), files };
        assert!(read.hold(&search, &mut FileHashes::default()));
        std::fs::write(first.join("sub/a.h"), "int b;").expect("a file");
        assert!(!read.hold(&search, &mut FileHashes::default()));
    }
}
