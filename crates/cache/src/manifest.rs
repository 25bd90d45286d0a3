//! Which files an entry has: their names, lengths and hashes, in a text whose last line is the hash of the rest.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use crate::key::sha256;

/// The manifest's own name in an entry.
pub const FILE: &str = "manifest";

const FIRST_LINE: &str = "quarry cache entry 1";

/// The manifest of all files below a directory.
pub fn of(directory: &Path) -> io::Result<String> {
    let mut text = format!("{FIRST_LINE}\n");
    for name in files(directory)? {
        let Some(shown) = name.to_str().filter(|name| !name.contains('\n')) else {
            return Err(io::Error::other(format!("{} cannot be named in a manifest", name.display())));
        };
        let (length, hash) = fingerprint(&directory.join(&name))?;
        writeln!(text, "{length} {hash} {shown}").expect("writing to a string succeeds");
    }
    let hash = sha256(text.as_bytes());
    text.push_str(&hash);
    text.push('\n');
    Ok(text)
}

/// Whether the files below a directory are those of a manifest, unaltered.
pub fn holds(text: &str, directory: &Path) -> bool {
    let Some(files) = parse(text) else { return false };
    files.into_iter().all(|(length, hash, name)| {
        let path = directory.join(name);
        // a cut file need not be read
        std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() == length)
            && fingerprint(&path).is_ok_and(|(length_now, hash_now)| length_now == length && hash_now == hash)
    })
}

/// Lengths, hashes and names; nothing when the text is not a whole manifest.
fn parse(text: &str) -> Option<Vec<(u64, &str, &str)>> {
    let (rest, hash) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    // the hash covers the line end before it
    let covered = &text[..=rest.len()];
    if hash != sha256(covered.as_bytes()) {
        return None;
    }
    let lines = rest.strip_prefix(FIRST_LINE)?;
    // what follows the first line starts with its line end
    lines.split('\n').skip(1).map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<(u64, &str, &str)> {
    let (length, line) = line.split_once(' ')?;
    let (hash, name) = line.split_once(' ')?;
    Some((length.parse().ok()?, hash, name))
}

fn fingerprint(path: &Path) -> io::Result<(u64, String)> {
    let bytes = std::fs::read(path)?;
    Ok((bytes.len() as u64, sha256(&bytes)))
}

/// All files below a directory but the manifest, relative to it, in order.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for found in std::fs::read_dir(directory.join(&below))? {
            let found = found?;
            let name = below.join(found.file_name());
            if found.file_type()?.is_dir() {
                open.push(name);
            } else if name != Path::new(FILE) {
                files.push(name);
            }
        }
    }
    files.sort();
    Ok(files)
}
