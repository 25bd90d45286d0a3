//! Corpora of fuzzers: files whose bytes are an input each.
//!
//! Method: a directory that AFL++ works in has a `queue/`, or directories of fuzzers that have one; crashes and hangs are tests as
//! well. Any other directory is a corpus as libFuzzer keeps it. For a program the bytes are standard input, or the file
//! that `@@` stands for in the arguments: those given with `--corpus-args`, or those of AFL++'s own command line
//! (`fuzzer_stats`). For a function they are what its harness reads.

use std::path::{Path, PathBuf};

use model::invocation::Invocation;

use super::command_line::add_file;
use super::shell::{Piece, Token, tokens};
use super::{Found, FoundTest, Given, Reading, files_in};
use crate::error::Error;

/// Directories of a fuzzer that hold inputs.
const PARTS: [&str; 3] = ["queue", "crashes", "hangs"];
/// What the file is called that the arguments name by `@@`.
const FILE: &str = "input";

/// How a program is run on a file of the corpus.
#[derive(Clone, Debug, Default)]
struct Way {
    /// Behind the program's name; `@@` is the file.
    arguments: Vec<Vec<u8>>,
    /// The file's name, when the arguments do not say it.
    file: Option<String>,
}

/// Whether AFL++ works in a directory.
pub(super) fn is_afl(path: &Path) -> bool {
    path.join("queue").is_dir() || fuzzers(path).is_ok_and(|fuzzers| !fuzzers.is_empty())
}

/// The directories of its fuzzers.
fn fuzzers(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error| Error::usage(format!("cannot read {}: {error}", path.display()));
    let mut fuzzers = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.join("queue").is_dir() {
            fuzzers.push(path);
        }
    }
    fuzzers.sort();
    Ok(fuzzers)
}

/// Reads what AFL++ found.
pub(super) fn read_afl(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let is_one = reading.path.join("queue").is_dir();
    let fuzzers = if is_one { vec![reading.path.to_owned()] } else { fuzzers(reading.path)? };
    for fuzzer in &fuzzers {
        let way = match way_asked(reading)? {
            Some(way) => way,
            None => command_line(fuzzer).map(|line| way_of_afl(&line)).unwrap_or_default(),
        };
        for part in PARTS.map(|part| fuzzer.join(part)).into_iter().filter(|part| part.is_dir()) {
            let is_input =
                |file: &PathBuf| name_of(file).starts_with("id:") || name_of(file).starts_with("id_");
            for file in files_in(&part)?.into_iter().filter(is_input) {
                let part = name_of(&part);
                let prefix = if part == "queue" { String::new() } else { format!("{part}_") };
                // what follows the number says how the fuzzer made it
                let number = name_of(&file);
                let number = number.split(',').next().unwrap_or_default().replace(':', "_");
                let of = if is_one { String::new() } else { format!("{}_", name_of(fuzzer)) };
                read_input(reading, &way, &file, format!("{of}{prefix}{number}"), found);
            }
        }
    }
    Ok(())
}

/// Reads a directory of inputs.
pub(super) fn read(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let way = way_asked(reading)?.unwrap_or_default();
    for file in files_in(reading.path)? {
        read_input(reading, &way, &file, name_of(&file), found);
    }
    if found.tests.is_empty() && found.left_out.is_empty() {
        return Err(Error::usage(format!("{} has no tests: it has no files", reading.place.display())));
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read_input(reading: &Reading<'_>, way: &Way, file: &Path, name: String, found: &mut Found) {
    let bytes = match super::read_bytes(file) {
        Ok(bytes) => bytes,
        Err(why) => return found.left_out.push(reading.left_out(file, why)),
    };
    let given =
        if reading.is_program { Given::Invocation(way.invocation(bytes)) } else { Given::Bytes(bytes) };
    found.tests.push(FoundTest { name, origin: reading.origin(file), given });
}

/// What the user says.
fn way_asked(reading: &Reading<'_>) -> Result<Option<Way>, Error> {
    let Some(asked) = &reading.asked.corpus_args else { return Ok(None) };
    let wrong = |why: &str| Error::usage(format!("cannot read --corpus-args '{asked}': {why}"));
    let mut arguments = Vec::new();
    for token in tokens(asked.as_bytes()).map_err(|error| wrong(&error.to_string()))? {
        match token {
            Token::Word(pieces) => {
                arguments.push(text(&pieces).ok_or_else(|| wrong("nothing is expanded in it"))?)
            }
            Token::Operator(operator) => return Err(wrong(&format!("{operator} is no argument"))),
        }
    }
    Ok(Some(Way { arguments, file: None }))
}

fn text(pieces: &[Piece]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(bytes) => text.extend(bytes),
            Piece::Pattern(byte) => text.push(*byte),
            Piece::Variable(_) | Piece::Substitution(_) => return None,
        }
    }
    Some(text)
}

/// The command line that AFL++ noted.
fn command_line(fuzzer: &Path) -> Option<String> {
    let stats = std::fs::read_to_string(fuzzer.join("fuzzer_stats")).ok()?;
    let line = stats.lines().find_map(|line| line.strip_prefix("command_line"))?;
    Some(line.trim_start_matches([' ', ':']).to_owned())
}

/// How it ran the program: what stands behind `--`, and the file of `-f`.
fn way_of_afl(line: &str) -> Way {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(at) = words.iter().position(|word| *word == "--") else { return Way::default() };
    let file = words[..at].iter().position(|word| *word == "-f").and_then(|at| words.get(at + 1));
    let file = file.map(|file| name_of(Path::new(file)));
    let arguments = words.iter().skip(at + 2).map(|word| word.as_bytes().to_vec()).collect();
    Way { arguments, file }
}

impl Way {
    /// The program's input with these bytes.
    fn invocation(&self, bytes: Vec<u8>) -> Invocation {
        let is_file = |word: &Vec<u8>| word.windows(2).any(|part| part == b"@@");
        let mut invocation = Invocation { arguments: self.arguments.clone(), ..Invocation::default() };
        let name = self.file.as_deref().unwrap_or(FILE);
        if self.file.is_none() && !self.arguments.iter().any(is_file) {
            invocation.stdin = bytes;
            return invocation;
        }
        let name = add_file(&mut invocation, name, bytes);
        for argument in invocation.arguments.iter_mut().filter(|word| is_file(word)) {
            // AFL++ replaces it anywhere in a word
            *argument = String::from_utf8_lossy(argument).replace("@@", &name).into_bytes();
        }
        invocation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_file_that_the_arguments_name_or_standard_input() {
        let way = way_of_afl("afl-fuzz -i in -o out -V 10 -- ./prog -x --in=@@");
        let invocation = way.invocation(b"abc".to_vec());
        assert_eq!(invocation.arguments, [b"-x".to_vec(), b"--in=input".to_vec()]);
        assert_eq!(invocation.files, [("input".to_owned(), Some(b"abc".to_vec()))]);
        let way = way_of_afl("afl-fuzz -i in -o out -f data.txt -- ./prog data.txt");
        let invocation = way.invocation(b"abc".to_vec());
        assert_eq!(invocation.files, [("data.txt".to_owned(), Some(b"abc".to_vec()))]);
        let way = way_of_afl("afl-fuzz -i in -o out -- ./prog");
        assert_eq!(way.invocation(b"abc".to_vec()).stdin, b"abc");
    }
}
