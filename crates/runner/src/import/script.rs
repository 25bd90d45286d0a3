//! Command lines of the program under test in a shell script of tests.
//!
//! Method: the script is read line by line, not executed. A command is one of the program when its first word is the program's
//! name, alone or behind a directory, or a variable that was given such a value; `VALUE=… command`, `cd` into a directory, `if`, `!`, `time`
//! and the like in front of it are looked through, a here-document is its standard input, and so is `cat FILE |`, `printf`
//! and `echo` in front of a pipe. Variables that were given a plain value before are replaced. Limit: loops, functions and
//! substitutions are not carried out; a command that needs one is left out, with the reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::command_line::CommandLines;
use super::shell::{Piece, Token, tokens};
use super::{Found, FoundTest, Given, LeftOut, Reading};
use crate::error::Error;

/// Words in front of a command that do not change what it is.
const PREFIXES: [&str; 14] = [
    "if", "elif", "while", "until", "then", "else", "do", "!", "time", "exec", "command", "env", "{",
    "valgrind",
];

/// Whether a file is a shell script.
pub(super) fn is_script(path: &Path) -> bool {
    let begins = std::fs::read(path).is_ok_and(|text| {
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        line.starts_with(b"#!") && line.windows(2).any(|part| part == b"sh")
    });
    begins || path.extension().is_some_and(|extension| extension == "sh" || extension == "test")
}

/// Reads the commands of a script that call the program.
pub(super) fn read(reading: &Reading<'_>, found: &mut Found) -> Result<(), Error> {
    let place = reading.place.display();
    if !reading.is_program {
        return Err(Error::usage(format!(
            "{place} is a script, whose command lines are tests of a whole program"
        ))
        .help("add --program"));
    }
    let text = super::read_bytes(reading.path).map_err(|why| Error::usage(format!("{place} {why}")))?;
    let home = reading.path.parent().map(Path::to_owned).unwrap_or_default();
    let mut script =
        Script { program: &reading.programs, directories: vec![home], variables: BTreeMap::new() };
    let n_before = found.tests.len() + found.left_out.len();
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut at = 0;
    while at < lines.len() {
        let number = at + 1;
        let mut line = lines[at].to_vec();
        at += 1;
        while line.ends_with(b"\\") && at < lines.len() {
            line.pop();
            line.extend(lines[at]);
            at += 1;
        }
        // a quote that goes on in the next line
        let mut read = tokens(&line);
        while read.is_err() && at < lines.len() && at - number < MOST_LINES {
            line.push(b'\n');
            line.extend(lines[at]);
            at += 1;
            read = tokens(&line);
        }
        let Ok(tokens) = read else {
            at = number;
            continue;
        };
        let document = here_document(&tokens, &lines, &mut at);
        for command in script.commands(&tokens, document.as_deref()) {
            let name = format!("line_{number}");
            let origin = format!("{place}:{number}");
            match command {
                Ok(invocation) => {
                    found.tests.push(FoundTest { name, origin, given: Given::Invocation(invocation) });
                }
                Err(why) => found.left_out.push(LeftOut { name, origin, why }),
            }
        }
    }
    if found.tests.len() + found.left_out.len() == n_before {
        let names = reading.programs.join(", ");
        return Err(Error::usage(format!("{place} has no command that calls {names}"))
            .help("--command NAME says what the program is called in the script"));
    }
    Ok(())
}

/// Lines that a quote may go on for.
const MOST_LINES: usize = 64;

/// The text of `<< END`, which stands in the next lines.
fn here_document(tokens: &[Token], lines: &[&[u8]], at: &mut usize) -> Option<Vec<u8>> {
    let place = tokens.iter().position(
        |token| matches!(token, Token::Operator(operator) if operator == "<<" || operator == "<<-"),
    )?;
    let strips = matches!(&tokens[place], Token::Operator(operator) if operator == "<<-");
    let Some(Token::Word(pieces)) = tokens.get(place + 1) else { return None };
    let end: Vec<u8> = pieces
        .iter()
        .flat_map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Pattern(byte) => vec![*byte],
            Piece::Variable(_) | Piece::Substitution(_) => Vec::new(),
        })
        .collect();
    let mut text = Vec::new();
    while *at < lines.len() {
        let line = if strips { lines[*at].trim_ascii_start() } else { lines[*at] };
        *at += 1;
        if line == end {
            break;
        }
        text.extend(line);
        text.push(b'\n');
    }
    Some(text)
}

struct Script<'a> {
    /// What the program may be called.
    program: &'a [String],
    /// Where its paths start.
    directories: Vec<PathBuf>,
    /// Plain values.
    variables: BTreeMap<String, Vec<u8>>,
}

type Command = Result<model::invocation::Invocation, String>;

impl Script<'_> {
    /// The commands of a line that call the program.
    fn commands(&mut self, tokens: &[Token], document: Option<&[u8]>) -> Vec<Command> {
        let is_end = |token: &Token| matches!(token, Token::Operator(operator) if matches!(operator.as_str(), ";" | "&&" | "||" | "|" | "&" | "(" | ")" | ";;"));
        let mut commands = Vec::new();
        let mut before: Option<&[Token]> = None;
        for part in split(tokens, is_end) {
            let (command, end) = part;
            if let Some(mut command) = self.command(command) {
                if let (Ok(invocation), Some(document)) = (&mut command, document) {
                    invocation.stdin = document.to_vec();
                }
                if let (Ok(invocation), Some(before)) = (&mut command, before) {
                    match self.output_of(before) {
                        Some(text) => invocation.stdin = text,
                        None => command = Err("what is piped into it is not known".to_owned()),
                    }
                }
                commands.push(command);
            } else {
                self.assign(command);
            }
            let is_pipe = matches!(end, Some(Token::Operator(operator)) if operator == "|");
            before = is_pipe.then_some(command);
        }
        commands
    }

    /// What the program is given, if the command calls it.
    fn command(&self, tokens: &[Token]) -> Option<Command> {
        let mut tokens = tokens;
        let mut variables = Vec::new();
        loop {
            let (Token::Word(pieces), rest) = tokens.split_first()? else { return None };
            let word = self.value(pieces).ok()?;
            let text = String::from_utf8_lossy(&word).into_owned();
            if let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_name(name)) {
                variables.push((name.to_owned(), Some(value.as_bytes().to_vec())));
            } else if !PREFIXES.contains(&text.as_str()) {
                let own = Path::new(&text).file_name()?.to_string_lossy().into_owned();
                if !self.program.contains(&own) {
                    return None;
                }
                let replaced: Result<Vec<Token>, String> =
                    rest.iter().map(|token| self.replaced(token)).collect();
                let lines = CommandLines { directories: &self.directories };
                return Some(
                    replaced
                        .and_then(|tokens| lines.invocation(&without_here(&tokens)))
                        .map(|invocation| model::invocation::Invocation { variables, ..invocation }),
                );
            }
            tokens = rest;
        }
    }

    /// Text that `cat`, `echo` or `printf` write.
    fn output_of(&self, tokens: &[Token]) -> Option<Vec<u8>> {
        let words: Option<Vec<Vec<u8>>> = tokens
            .iter()
            .map(|token| match token {
                Token::Word(pieces) => self.value(pieces).ok(),
                Token::Operator(_) => None,
            })
            .collect();
        let words = words?;
        let (command, words) = words.split_first()?;
        match command.as_slice() {
            b"echo" => {
                let has_end = words.first().is_none_or(|word| word != b"-n");
                let words = if has_end { words } else { &words[1..] };
                let mut text = words.join(&b' ');
                text.extend(has_end.then_some(b'\n'));
                Some(text)
            }
            b"printf" => {
                let [format] = words else { return None };
                (!format.contains(&b'%')).then(|| unescaped(format))
            }
            b"cat" => {
                let mut text = Vec::new();
                for word in words {
                    let name = String::from_utf8_lossy(word).into_owned();
                    let path = self
                        .directories
                        .iter()
                        .map(|directory| directory.join(&name))
                        .find(|path| path.is_file());
                    text.extend(std::fs::read(path?).ok()?);
                }
                Some(text)
            }
            _ => None,
        }
    }

    /// Takes note of `NAME=value` and `cd DIR`.
    fn assign(&mut self, tokens: &[Token]) {
        let word = |token: &Token| match token {
            Token::Word(pieces) => self.value(pieces).ok(),
            Token::Operator(_) => None,
        };
        let words: Vec<Option<Vec<u8>>> = tokens.iter().map(word).collect();
        if let [Some(cd), Some(to)] = words.as_slice()
            && cd == b"cd"
        {
            let to = self.directories[0].join(String::from_utf8_lossy(to).as_ref());
            if to.is_dir() {
                self.directories.insert(0, to);
            }
            return;
        }
        for (token, word) in tokens.iter().zip(words) {
            let Token::Word(pieces) = token else { continue };
            let Some(Piece::Text(first)) = pieces.first() else { continue };
            let Some(at) = first.iter().position(|byte| *byte == b'=') else { continue };
            let name = String::from_utf8_lossy(&first[..at]).into_owned();
            if !is_name(&name) {
                continue;
            }
            match word {
                Some(word) => drop(self.variables.insert(name, word[at + 1..].to_vec())),
                // what it is now is not known
                None => drop(self.variables.remove(&name)),
            }
        }
    }

    fn replaced(&self, token: &Token) -> Result<Token, String> {
        let Token::Word(pieces) = token else { return Ok(token.clone()) };
        let replaced = pieces.iter().map(|piece| match piece {
            Piece::Variable(name) => match self.variables.get(name) {
                Some(value) => Ok(Piece::Text(value.clone())),
                None => Err(format!("the value of ${name} is not known")),
            },
            Piece::Text(_) | Piece::Substitution(_) | Piece::Pattern(_) => Ok(piece.clone()),
        });
        Ok(Token::Word(replaced.collect::<Result<_, _>>()?))
    }

    fn value(&self, pieces: &[Piece]) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(bytes) => text.extend(bytes),
                Piece::Pattern(byte) => text.push(*byte),
                Piece::Variable(name) => {
                    let value = self.variables.get(name);
                    text.extend(value.ok_or_else(|| format!("the value of ${name} is not known"))?);
                }
                Piece::Substitution(what) => return Err(format!("{what} is not carried out")),
            }
        }
        Ok(text)
    }
}

/// The parts of a line between operators that end a command, each with the operator behind it.
fn split(tokens: &[Token], is_end: impl Fn(&Token) -> bool) -> Vec<(&[Token], Option<&Token>)> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, token) in tokens.iter().enumerate() {
        if is_end(token) {
            parts.push((&tokens[start..place], Some(token)));
            start = place + 1;
        }
    }
    parts.push((&tokens[start..], None));
    parts
}

/// A here-document is read elsewhere.
fn without_here(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut skips = false;
    for token in tokens {
        if std::mem::take(&mut skips) {
            continue;
        }
        match token {
            Token::Operator(operator) if operator == "<<" || operator == "<<-" => skips = true,
            Token::Operator(_) | Token::Word(_) => kept.push(token.clone()),
        }
    }
    kept
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    bytes.next().is_some_and(is_first) && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The escapes of `printf`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, byte == b'\\') {
            (_, true) => out.push(match bytes.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'0') => 0,
                Some(other) => other,
                None => b'\\',
            }),
            (byte, false) => out.push(byte),
        }
    }
    out
}
