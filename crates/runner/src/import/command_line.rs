//! A command line as an invocation: words are arguments, `< file` is standard input, and words that name files bring these with
//! them.
//!
//! Limit: output redirections are ignored; pipes and further commands are not expressed.

use std::path::{Component, Path, PathBuf};

use model::invocation::Invocation;

use super::shell::{Piece, Token};

/// Reads command lines whose files lie here.
pub(super) struct CommandLines<'a> {
    /// Where paths of the command line start; further places are tried in order.
    pub(super) directories: &'a [PathBuf],
}

impl CommandLines<'_> {
    /// What a program is given by these tokens, or why that cannot be said.
    pub(super) fn invocation(&self, tokens: &[Token]) -> Result<Invocation, String> {
        let mut invocation = Invocation::default();
        let mut tokens = tokens.iter();
        while let Some(token) = tokens.next() {
            let operator = match token {
                Token::Word(pieces) => {
                    let word = literal(pieces)?;
                    self.argument(word, &mut invocation)?;
                    continue;
                }
                Token::Operator(operator) => operator.as_str(),
            };
            let mut operand = || match tokens.next() {
                Some(Token::Word(pieces)) => literal(pieces),
                Some(Token::Operator(_)) | None => Err(format!("nothing follows {operator}")),
            };
            match operator {
                "<" | "0<" => {
                    let word = operand()?;
                    let name = String::from_utf8_lossy(&word).into_owned();
                    let file = self
                        .file(&name)
                        .ok_or_else(|| format!("there is no file {name} for its standard input"))?;
                    invocation.stdin = super::read_bytes(&file).map_err(|why| format!("{name} {why}"))?;
                }
                "<<<" => {
                    invocation.stdin = operand()?;
                    invocation.stdin.push(b'\n');
                }
                // where its output goes is no input
                output if output.contains('>') => drop(operand()?),
                other => return Err(format!("{other} cannot be expressed: a test is one command")),
            }
        }
        Ok(invocation)
    }

    /// Adds an argument, with the file that it names.
    fn argument(&self, word: Vec<u8>, invocation: &mut Invocation) -> Result<(), String> {
        let Ok(text) = std::str::from_utf8(&word) else {
            invocation.arguments.push(word);
            return Ok(());
        };
        // the file may be the value of an option
        let (option, name) = match text.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (format!("{option}="), value),
            _ => (String::new(), text),
        };
        match self.file(name) {
            Some(file) => {
                let contents = super::read_bytes(&file).map_err(|why| format!("{name} {why}"))?;
                let name = add_file(invocation, name, contents);
                invocation.arguments.push(format!("{option}{name}").into_bytes());
            }
            None => invocation.arguments.push(word),
        }
        Ok(())
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        if name.is_empty() || name.contains('\0') {
            return None;
        }
        self.directories.iter().map(|directory| directory.join(name)).find(|path| path.is_file())
    }
}

/// Adds a file; gives the name by which the program finds it.
pub(super) fn add_file(invocation: &mut Invocation, name: &str, contents: Vec<u8>) -> String {
    let path = Path::new(name);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let base = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let wanted = if is_inside { name.to_owned() } else { base };
    let mut name = wanted.clone();
    let mut number = 1;
    loop {
        match invocation.files.iter().find(|(known, _)| *known == name) {
            None => {
                invocation.files.push((name.clone(), Some(contents)));
                return name;
            }
            Some((_, known)) if *known == Some(contents.clone()) => return name,
            Some(_) => {
                number += 1;
                name = format!("{number}_{wanted}");
            }
        }
    }
}

/// The text of a word that nothing has to be expanded in; patterns stand for themselves.
fn literal(pieces: &[Piece]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(bytes) => text.extend(bytes),
            Piece::Pattern(byte) => text.push(*byte),
            Piece::Variable(name) => return Err(format!("the value of ${name} is not known")),
            Piece::Substitution(what) => return Err(format!("{what} is not carried out")),
        }
    }
    Ok(text)
}
