//! An output directory as reports read it.

use std::path::Path;

use super::facts::{FACTS_FILE, Facts, TestFacts};
use super::record::{GoalLine, Run, Test};
use super::timeline::{TIMELINE_FILE, Timeline};
use crate::exit::Failure;
use crate::output::RUN_FILE;
use crate::suite::{INPUT_DIRECTORIES, read_record, tests_in};

/// Everything a run left behind.
#[derive(Debug)]
pub struct Results {
    pub run: Run,
    pub goals: Vec<GoalLine>,
    /// The suite, then inputs that crash, then inputs that hang.
    pub tests: Vec<Kept>,
    pub facts: Facts,
    pub timeline: Timeline,
}

/// One of the functions that a report is of.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its directory within the output directory; empty when that is its own.
    pub directory: &'a str,
    pub results: &'a Results,
}

impl Part<'_> {
    /// The path of one of its files in the output directory.
    pub fn within(&self, file: &str) -> String {
        if self.directory.is_empty() { file.to_owned() } else { format!("{}/{file}", self.directory) }
    }
}

/// A test, or an input that crashes or hangs.
#[derive(Debug)]
pub struct Kept {
    pub kind: Kind,
    pub name: String,
    /// Within the output directory.
    pub file: String,
    pub record: Test,
    /// A C program that does the same, for what does not end in order.
    pub reproducer: Option<Reproducer>,
}

/// A C program.
#[derive(Debug)]
pub struct Reproducer {
    /// Within the output directory.
    pub file: String,
    pub text: String,
}

/// Where an input is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Test,
    Crash,
    Hang,
}

impl Kind {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Crash => "crash",
            Self::Hang => "hang",
        }
    }
}

impl Results {
    /// Reads a directory that `quarry gen` wrote.
    pub fn read(root: &Path) -> Result<Self, Failure> {
        let mut tests = Vec::new();
        for (directory, kind) in INPUT_DIRECTORIES.into_iter().zip([Kind::Test, Kind::Crash, Kind::Hang]) {
            let path = root.join(directory);
            for file in if path.is_dir() { tests_in(&path)? } else { Vec::new() } {
                tests.push(Kept::read(&file, directory, kind)?);
            }
        }
        Ok(Self {
            run: read_record(&root.join(RUN_FILE))?,
            goals: goals(&root.join("goals.jsonl"))?,
            tests,
            facts: read_record(&root.join(FACTS_FILE)).map_err(cut_short)?,
            timeline: read_record(&root.join(TIMELINE_FILE)).map_err(cut_short)?,
        })
    }

    /// What is known of a test's execution.
    pub fn facts_of(&self, kept: &Kept) -> Option<&TestFacts> {
        self.facts.tests.iter().find(|facts| facts.file == kept.file)
    }

    /// The call that a test makes, on one line.
    pub fn call(&self, kept: &Kept) -> &str {
        self.facts_of(kept).map(|facts| facts.call.as_str()).unwrap_or_default()
    }

    /// Inputs that crash or hang.
    pub fn findings(&self) -> impl Iterator<Item = &Kept> {
        self.tests.iter().filter(|kept| kept.kind != Kind::Test)
    }
}

impl Kept {
    fn read(file: &Path, directory: &str, kind: Kind) -> Result<Self, Failure> {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let program = file.with_extension("c");
        let reproducer = std::fs::read_to_string(&program)
            .ok()
            .map(|text| Reproducer { file: format!("{directory}/{name}.c"), text });
        Ok(Self {
            kind,
            file: format!("{directory}/{name}.json"),
            record: read_record(file)?,
            reproducer: reproducer.filter(|_| kind != Kind::Test),
            name,
        })
    }
}

/// The lines of `goals.jsonl`.
pub fn goals(file: &Path) -> Result<Vec<GoalLine>, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| cut_short(Failure::usage(format!("cannot read {}: {error}", file.display()))))?;
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            Failure::usage(format!("{}:{}: no goal of Quarry: {error}", file.display(), number + 1))
        })
    };
    text.lines().enumerate().map(line).collect()
}

fn cut_short(failure: Failure) -> Failure {
    failure.help("the run was cut short, or is an older version's: run quarry gen again")
}
