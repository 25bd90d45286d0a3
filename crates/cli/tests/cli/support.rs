//! Runs the real `quarry` in a directory of its own and says what came of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory with C sources, and what commands given in it say.
pub struct Bench {
    directory: TempDir,
    /// Where what is built is kept.
    cache: PathBuf,
}

/// A finished command.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    /// A directory with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("temporary directory");
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("writable");
            fs::write(path, text).expect("writable");
        }
        // one for all tests, which share the compiled runtime
        Self { directory, cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache") }
    }

    /// The same, with a cache of its own.
    pub fn with_own_cache(self) -> Self {
        let cache = self.path("cache");
        Self { cache, ..self }
    }

    /// A path within the directory.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    /// The command, not started yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quarry"));
        command.args(arguments).current_dir(self.directory.path()).stdin(Stdio::null());
        command.env("QUARRY_CACHE", &self.cache).env("QUARRY_CACHE_SIZE", "500M");
        command
    }

    /// Runs `quarry` with these arguments.
    pub fn quarry(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().expect("quarry starts").into()
    }

    /// A JSON file within the directory.
    pub fn json(&self, relative: &str) -> Value {
        read_json(&self.path(relative))
    }

    /// Names of the files in a directory, sorted.
    pub fn list(&self, relative: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(relative)).expect("a directory");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> = entries.map(|entry| name(entry.expect("readable"))).collect();
        names.sort();
        names
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Asserts the exit code and parts of what is said on stderr.
    #[track_caller]
    pub fn check(&self, code: i32, says: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "exit code\n{}", self.transcript());
        for part in says {
            assert!(self.stderr.contains(part), "stderr lacks '{part}'\n{}", self.transcript());
        }
        assert!(!self.stderr.contains("panicked"), "a panic\n{}", self.transcript());
        self
    }

    /// Asserts parts of what is said on stdout.
    #[track_caller]
    pub fn shows(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(self.stdout.contains(part), "stdout lacks '{part}'\n{}", self.transcript());
        }
        self
    }

    /// The JSON object on the last line of stdout.
    #[track_caller]
    pub fn summary(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}\n{}", self.transcript()))
    }

    fn transcript(&self) -> String {
        format!("code: {:?}\nstdout:\n{}\nstderr:\n{}", self.code, self.stdout, self.stderr)
    }
}

/// The path of a fixture, such as `branch/bubble.c`.
pub fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name).display().to_string()
}

/// A JSON file.
pub fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
