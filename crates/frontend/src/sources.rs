//! What to compile and how: the files the user named, with flags given directly or taken from `compile_commands.json`.
//!
//! Method: every flag is sorted into three lists, for preprocessing the file, for compiling the preprocessed text, and
//! for linking. Limit: flags that choose optimisation, debug information, warnings or instrumentation are dropped,
//! because those are Quarry's own choice.

mod database;
mod flags;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use database::Database;

/// What the user named on the command line.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Absolute directory that relative paths start from, and in which the compiler runs unless a database says otherwise.
    pub root: PathBuf,
    pub files: Vec<PathBuf>,
    /// Compiler flags given after `--`.
    pub flags: Vec<String>,
    /// Directory that holds `compile_commands.json`.
    pub build_dir: Option<PathBuf>,
}

/// How one file is compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileCommand {
    /// The file, as it is named to the compiler.
    pub source: PathBuf,
    /// Directory the compiler runs in.
    pub directory: PathBuf,
    /// Flags for preprocessing the file.
    pub preprocess: Vec<String>,
    /// Flags for compiling the preprocessed text.
    pub compile: Vec<String>,
    /// Flags for linking the program.
    pub link: Vec<String>,
}

/// Why the files cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("no source file was named: give at least one C file")]
    NoFiles,
    #[error("cannot read {}: {error} (is the path right?)", file.display())]
    Missing { file: PathBuf, error: std::io::Error },
    #[error("{} is not a C file: Quarry reads C (.c, .i, .h), not {language}", file.display())]
    NotC { file: PathBuf, language: &'static str },
    #[error("{} is not a C file: expected a name that ends in .c, .i or .h", file.display())]
    UnknownKind { file: PathBuf },
    #[error("cannot read {}: {error} (let the build system write it, e.g. cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)", file.display())]
    DatabaseMissing { file: PathBuf, error: std::io::Error },
    #[error("cannot understand {}: {error}", file.display())]
    DatabaseSyntax { file: PathBuf, error: serde_json::Error },
    #[error("{}: the entry for {} has neither \"arguments\" nor \"command\"", file.display(), entry.display())]
    DatabaseEntry { file: PathBuf, entry: PathBuf },
    #[error("{} is not in {}: build it with that build directory, or give its flags after -- instead of -p", file.display(), database.display())]
    NotInDatabase { file: PathBuf, database: PathBuf },
}

/// The C files that `compile_commands.json` in a build directory lists, each once and in order.
pub fn listed(root: &Path, build_dir: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let mut files = Vec::new();
    for file in Database::read(root, build_dir)?.files() {
        let is_c = file.extension().is_some_and(|extension| extension == "c");
        if is_c && !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

impl Sources {
    /// No files yet, and no flags.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), files: Vec::new(), flags: Vec::new(), build_dir: None }
    }

    /// One command per file, in the order given.
    pub fn commands(&self) -> Result<Vec<CompileCommand>, SourceError> {
        if self.files.is_empty() {
            return Err(SourceError::NoFiles);
        }
        for file in &self.files {
            self.check_file(file)?;
        }
        match &self.build_dir {
            None => Ok(self.files.iter().map(|file| self.direct(file)).collect()),
            Some(build_dir) => {
                let database = Database::read(&self.root, build_dir)?;
                self.files.iter().map(|file| self.listed(file, &database)).collect()
            }
        }
    }

    fn direct(&self, file: &Path) -> CompileCommand {
        command(file.to_owned(), self.root.clone(), &self.flags)
    }

    fn listed(&self, file: &Path, database: &Database) -> Result<CompileCommand, SourceError> {
        let entry = database.find(file)?;
        let source = if entry.directory == self.root { file.to_owned() } else { self.root.join(file) };
        let mut flags = entry.flags;
        flags.extend(self.flags.iter().cloned());
        Ok(command(source, entry.directory, &flags))
    }

    fn check_file(&self, file: &Path) -> Result<(), SourceError> {
        let missing = |error| SourceError::Missing { file: file.to_owned(), error };
        let path = self.root.join(file);
        let metadata = std::fs::metadata(&path).map_err(missing)?;
        if metadata.is_dir() {
            return Err(missing(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
        }
        std::fs::File::open(&path).map_err(missing)?;
        check_language(file)
    }
}

fn command(source: PathBuf, directory: PathBuf, flags: &[String]) -> CompileCommand {
    let sorted = flags::sort(flags, &directory);
    CompileCommand {
        source,
        directory,
        preprocess: sorted.preprocess,
        compile: sorted.compile,
        link: sorted.link,
    }
}

fn check_language(file: &Path) -> Result<(), SourceError> {
    let language = match file.extension().and_then(|extension| extension.to_str()) {
        // the code of a header-only library is in its header
        Some("c" | "i" | "h") => return Ok(()),
        Some("cc" | "cpp" | "cxx" | "c++" | "C" | "ii" | "hpp" | "hh") => "C++",
        Some("m" | "mm") => "Objective-C",
        Some("s" | "S" | "asm") => "assembly",
        Some("rs") => "Rust",
        Some("o" | "a" | "so") => "object code",
        _ => return Err(SourceError::UnknownKind { file: file.to_owned() }),
    };
    Err(SourceError::NotC { file: file.to_owned(), language })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(file: &Path) -> Sources {
        Sources { files: vec![file.to_owned()], ..Sources::below("/") }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = sources(Path::new("no/such/file.c")).commands().expect_err("the file is missing");
        assert!(error.to_string().starts_with("cannot read no/such/file.c: "), "{error}");
    }

    #[test]
    fn cpp_is_refused_by_name() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let file = directory.path().join("x.cpp");
        std::fs::write(&file, "").expect("write");
        let error = sources(&file).commands().expect_err("C++ is refused");
        assert!(error.to_string().ends_with("x.cpp is not a C file: Quarry reads C (.c, .i, .h), not C++"));
    }

    #[test]
    fn the_database_gives_directory_and_flags() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let root = directory.path().canonicalize().expect("real path");
        std::fs::create_dir(root.join("src")).expect("create");
        std::fs::write(root.join("src/a.c"), "").expect("write");
        let json = format!(
            r#"[{{"directory": "{0}", "file": "src/a.c", "command": "cc -Iinc -DX='a b' -O2 -Wall -std=gnu99 -o a.o -c src/a.c -lm"}}]"#,
            root.display()
        );
        std::fs::write(root.join("compile_commands.json"), json).expect("write");
        let sources = Sources {
            root: root.clone(),
            files: vec!["src/a.c".into()],
            flags: vec!["-DY".into()],
            build_dir: Some(".".into()),
        };
        let commands = sources.commands().expect("the file is in the database");
        assert_eq!(commands[0].source, Path::new("src/a.c"));
        assert_eq!(commands[0].directory, root);
        assert_eq!(commands[0].preprocess, ["-Iinc", "-DX=a b", "-O2", "-std=gnu99", "-DY"]);
        assert_eq!(commands[0].compile, ["-std=gnu99"]);
        assert_eq!(commands[0].link, ["-lm"]);
    }

    #[test]
    fn a_file_outside_the_database_is_named() {
        let directory = tempfile::tempdir().expect("temporary directory");
        std::fs::write(directory.path().join("b.c"), "").expect("write");
        std::fs::write(directory.path().join("compile_commands.json"), "[]").expect("write");
        let mut sources = sources(&directory.path().join("b.c"));
        sources.build_dir = Some(directory.path().to_owned());
        let error = sources.commands().expect_err("b.c is not in the database");
        assert!(error.to_string().contains("b.c is not in "), "{error}");
        std::fs::write(directory.path().join("compile_commands.json"), "[{").expect("write");
        let error = sources.commands().expect_err("the database is broken");
        assert!(error.to_string().starts_with("cannot understand "), "{error}");
    }
}
