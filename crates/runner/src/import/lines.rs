//! A text file with a test per line: `name: arguments [< file]`.
//!
//! Words are quoted as in a shell, `#` begins a comment, and a line that ends with a backslash goes on in the next one. Paths
//! start at the directory of the file, or at the one that the command was given in. A line without a name is called by
//! its number.

use std::path::{Path, PathBuf};

use super::command_line::CommandLines;
use super::shell::tokens;
use super::{Found, FoundTest, Given, LeftOut, Reading};
use crate::error::Error;

/// Reads the file.
pub(super) fn read(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let place = reading.place.display();
    if !reading.is_program {
        return Err(Error::usage(format!("{place} has command lines, which are tests of a whole program"))
            .help("add --program, or name JSON inputs, a .ktest file or a corpus for a function"));
    }
    let text = super::read_bytes(reading.path).map_err(|why| Error::usage(format!("{place} {why}")))?;
    if text.contains(&0) {
        return Err(Error::usage(format!("{place} is not a text file with a command line per line"))
            .help("a corpus of a fuzzer is a directory; other forms are told apart by their extensions"));
    }
    let home = reading.path.parent().map(Path::to_owned).unwrap_or_default();
    let directories: Vec<PathBuf> = vec![home];
    let command_lines = CommandLines { directories: &directories };
    for (number, line) in joined(&text) {
        let (name, rest) = named(&line);
        let name = name.map_or_else(|| format!("line_{number}"), str::to_owned);
        let origin = format!("{place}:{number}");
        let invocation = tokens(rest)
            .map_err(|error| error.to_string())
            .and_then(|tokens| command_lines.invocation(&tokens));
        match invocation {
            Ok(invocation) => {
                found.tests.push(FoundTest { name, origin, given: Given::Invocation(invocation) })
            }
            Err(why) => found.left_out.push(LeftOut { name, origin, why }),
        }
    }
    Ok(())
}

/// The lines that say something, with their numbers; those that go on are joined.
fn joined(text: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut lines: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut goes_on = false;
    for (line, number) in text.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let body = line.strip_suffix(b"\\");
        match lines.last_mut().filter(|_| goes_on) {
            Some((_, before)) => before.extend(body.unwrap_or(line)),
            None => lines.push((number, body.unwrap_or(line).to_vec())),
        }
        goes_on = body.is_some();
    }
    let says_something = |line: &[u8]| {
        let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
        first.is_some_and(|byte| *byte != b'#')
    };
    lines.retain(|(_, line)| says_something(line));
    lines
}

/// A line's name, and what stands behind it.
fn named(line: &[u8]) -> (Option<&str>, &[u8]) {
    let line = line.trim_ascii_start();
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-+/@".contains(byte);
    let end = line.iter().take_while(|byte| is_of_name(byte)).count();
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    if end > 0 && line.get(end) == Some(&b':') && is_end(line.get(end + 1)) {
        let name = std::str::from_utf8(&line[..end]).expect("it is ASCII");
        (Some(name), &line[end + 1..])
    } else {
        (None, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_names_and_comments() {
        let text = b"# tests\n\nlong: -l \\\n  x\nshort:\n-v 3\n";
        let lines: Vec<(usize, Vec<u8>)> = joined(text);
        let lines: Vec<(usize, &str)> =
            lines.iter().map(|(number, line)| (*number, std::str::from_utf8(line).expect("text"))).collect();
        assert_eq!(lines, [(3, "long: -l   x"), (5, "short:"), (6, "-v 3")]);
        assert_eq!(named(b"short:"), (Some("short"), b"".as_slice()));
        assert_eq!(named(b" a-1: b: c"), (Some("a-1"), b" b: c".as_slice()));
        assert_eq!(named(b"a:b c"), (None, b"a:b c".as_slice()));
    }
}
