//! `compile_commands.json`: which flags a build system compiles a file with.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::SourceError;

/// The entries of one database.
pub struct Database {
    root: PathBuf,
    /// As the user named it; a relative path starts at the root.
    path: PathBuf,
    entries: Vec<RawEntry>,
}

/// The entry of one file, without compiler, input and output.
pub struct Entry {
    pub directory: PathBuf,
    pub flags: Vec<String>,
}

#[derive(Deserialize)]
struct RawEntry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
}

impl Database {
    /// Reads `compile_commands.json` in `build_dir`, or `build_dir` itself when it is a file; it is below `root` unless it is
    /// absolute.
    pub fn read(root: &Path, build_dir: &Path) -> Result<Self, SourceError> {
        let is_file = root.join(build_dir).is_file();
        let path = if is_file { build_dir.to_owned() } else { build_dir.join("compile_commands.json") };
        let text = std::fs::read(root.join(&path))
            .map_err(|error| SourceError::DatabaseMissing { file: path.clone(), error })?;
        let entries = serde_json::from_slice(&text)
            .map_err(|error| SourceError::DatabaseSyntax { file: path.clone(), error })?;
        Ok(Self { root: root.to_owned(), path, entries })
    }

    /// The files of all entries.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.entries.iter().map(|entry| self.entry_directory(entry).join(&entry.file))
    }

    /// The first entry for `file`.
    pub fn find(&self, file: &Path) -> Result<Entry, SourceError> {
        let missing = |error| SourceError::Missing { file: file.to_owned(), error };
        let wanted = self.root.join(file).canonicalize().map_err(missing)?;
        let same = |entry: &&RawEntry| {
            self.entry_directory(entry).join(&entry.file).canonicalize().is_ok_and(|path| path == wanted)
        };
        let entry = self.entries.iter().find(same).ok_or_else(|| SourceError::NotInDatabase {
            file: file.to_owned(),
            database: self.path.clone(),
        })?;
        let words = match (&entry.arguments, &entry.command) {
            (Some(arguments), _) => arguments.clone(),
            (None, Some(command)) => split_words(command),
            (None, None) => {
                return Err(SourceError::DatabaseEntry {
                    file: self.path.clone(),
                    entry: entry.file.clone(),
                });
            }
        };
        let directory = self.entry_directory(entry);
        let is_input = |word: &String| {
            !word.starts_with('-') && directory.join(word).canonicalize().is_ok_and(|path| path == wanted)
        };
        let flags = words.into_iter().skip(1).filter(|word| !is_input(word)).collect();
        Ok(Entry { directory, flags })
    }

    /// A relative directory starts where the database is.
    fn entry_directory(&self, entry: &RawEntry) -> PathBuf {
        let database = self.root.join(&self.path);
        database.parent().unwrap_or(&self.root).join(&entry.directory)
    }
}

/// Splits a command as a shell does: blanks separate, quotes and backslashes protect; nothing is expanded.
fn split_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(characters.by_ref().take_while(|&c| c != '\''));
            }
            '"' => quoted(&mut characters, word.get_or_insert_default()),
            '\\' => word.get_or_insert_default().extend(characters.next()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// The rest of a double-quoted part, in which a backslash protects only quotes, backslashes, `$` and backquotes.
fn quoted(characters: &mut std::str::Chars<'_>, word: &mut String) {
    while let Some(character) = characters.next() {
        match character {
            '"' => return,
            '\\' => match characters.next() {
                Some(protected @ ('"' | '\\' | '$' | '`')) => word.push(protected),
                other => {
                    word.push('\\');
                    word.extend(other);
                }
            },
            other => word.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let words = split_words(r#"cc  -DA="b c" '-DD=e"f' -DG=\"h\" "-DI=\"j\n\"" ''"#);
        assert_eq!(words, ["cc", "-DA=b c", "-DD=e\"f", "-DG=\"h\"", "-DI=\"j\\n\"", ""]);
    }
}
