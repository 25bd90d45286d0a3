//! A fixture: a C file that says of itself what is to be covered in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::Bench;

/// Fixtures at work at a time.
const THREADS: usize = 2;

/// What a fixture says of itself.
pub struct Fixture {
    pub path: PathBuf,
    pub function: String,
    pub arguments: Vec<String>,
    directives: BTreeMap<String, String>,
}

/// Fails with everything that `check` finds wrong with a fixture of this directory.
pub fn check_each(directory: &str, check: fn(&Fixture) -> Vec<String>) {
    let fixtures = fixtures(directory);
    assert!(!fixtures.is_empty(), "there are fixtures");
    let next = AtomicUsize::new(0);
    let work = || {
        let mut complaints = Vec::new();
        while let Some(fixture) = fixtures.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = fixture.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            complaints.extend(check(fixture).into_iter().map(|complaint| format!("{name}: {complaint}")));
        }
        complaints
    };
    let complaints: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no fixture panics")).collect()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn fixtures(directory: &str) -> Vec<Fixture> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(directory);
    let mut paths: Vec<PathBuf> = fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Fixture::read(&path.canonicalize().expect("a real path"))).collect()
}

impl Fixture {
    /// The fixture with this path.
    pub fn named(path: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        Self::read(&path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("readable");
        let directives: BTreeMap<String, String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("//@ ")?.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let arguments = directives.get("args").map(String::as_str).unwrap_or_default();
        Self {
            path: path.to_owned(),
            function: directives["function"].clone(),
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            directives,
        }
    }

    /// Whether the whole program is the subject.
    pub fn is_program(&self) -> bool {
        self.arguments.iter().any(|argument| argument == "--program")
    }

    /// What says which function is meant.
    fn subject(&self) -> Vec<&str> {
        if self.is_program() { Vec::new() } else { vec!["--function", &self.function] }
    }

    /// A directive that is a number.
    pub fn number(&self, name: &str) -> u64 {
        self.number_if_stated(name).unwrap_or_else(|| panic!("{}: no {name}", self.path.display()))
    }

    /// A directive that is a number, if it is there.
    pub fn number_if_stated(&self, name: &str) -> Option<u64> {
        self.directives.get(name).map(|value| value.parse().expect("a number"))
    }

    /// Generates a suite and gives the summary, or what went wrong.
    pub fn generate(&self, bench: &Bench, criterion: &[&str], out: &str) -> Result<Value, String> {
        self.generate_for(bench, criterion, out, &[])
    }

    /// The same with flags for the compiler.
    pub fn generate_for(
        &self,
        bench: &Bench,
        criterion: &[&str],
        out: &str,
        flags: &[&str],
    ) -> Result<Value, String> {
        let source = self.path.display().to_string();
        let mut arguments = vec!["gen", &source, "--budget", "60s", "--quiet"];
        arguments.extend(self.subject());
        arguments.extend(["--self-check", "--message-format", "json", "-o", out]);
        arguments.extend(criterion);
        arguments.extend(self.arguments.iter().map(String::as_str));
        if !flags.is_empty() {
            arguments.push("--");
            arguments.extend(flags);
        }
        let ran = bench.quarry(&arguments);
        if ran.code == Some(0) {
            Ok(ran.summary())
        } else {
            Err(format!("exit {:?}\n{}", ran.code, ran.stderr))
        }
    }

    /// Every goal by `criterion`, and whether the tests in `suite` cover it, on `source`.
    pub fn measure(
        &self,
        bench: &Bench,
        source: &Path,
        suite: &str,
        criterion: &[&str],
    ) -> Result<Vec<(Value, bool)>, String> {
        let source = source.display().to_string();
        let mut arguments = vec!["cover", &source, suite, "--message-format", "json"];
        arguments.extend(self.subject());
        arguments.extend(criterion);
        arguments.extend(self.arguments.iter().map(String::as_str));
        let ran = bench.quarry(&arguments);
        if ran.code != Some(0) {
            return Err(format!("quarry cover: exit {:?}\n{}", ran.code, ran.stderr));
        }
        let summary = ran.summary();
        let listed = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let added = listed(&summary["inputs"]).into_iter().flat_map(|input| listed(&input["adds"]));
        let uncovered = listed(&summary["uncovered"]).into_iter().map(|goal| (goal, false));
        Ok(added.map(|goal| (goal, true)).chain(uncovered).collect())
    }
}
