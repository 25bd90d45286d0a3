//! What an earlier run left, and whether this one resumes it.
//!
//! Method: the same spec and the same files mean the same campaign ([`Spec::differences`], [`Fingerprint`]). Its inputs are
//! those of the journal, and those in the suite's files that the journal lacks: they were edited or added by hand.

use std::collections::BTreeSet;
use std::path::Path;

use engine::campaign::Provenance;
use model::input::Input;

use super::journal;
use super::output::{Claim, RUN_FILE, cannot};
use super::run::{Run, RunState};
use super::suite::{INPUT_DIRECTORIES, read_input, read_record, tests_in};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::spec::Spec;
use crate::subject::Subject;
use report::functions::FUNCTIONS_FILE;
use report::record::{self, Summary};
use report::words::counted;

/// What is to be done with a directory.
pub enum Decision {
    /// Nothing is there, or it is to be started over.
    Begin,
    /// Go on with this run.
    Resume(Box<Run>),
    /// It is done, with this result.
    Done(Box<Summary>),
}

/// What to do, and why when that is a surprise.
pub fn decide(
    claim: &Claim,
    spec: &Spec,
    fingerprint: &Fingerprint,
    fresh: bool,
) -> (Decision, Option<String>) {
    if !claim.has_run() || fresh {
        return (Decision::Begin, None);
    }
    let run: Run = match read_record(&claim.root().join(RUN_FILE)) {
        Ok(run) => run,
        Err(failure) => return (Decision::Begin, Some(format!("starting over: {}", failure.message()))),
    };
    let mut differences = spec.differences(&run.spec);
    differences.extend(fingerprint.differences(&run.fingerprint));
    if !differences.is_empty() {
        return (Decision::Begin, Some(starting_over(&differences)));
    }
    match &run.result {
        Some(result) if is_done(&run, result, claim.root()) => {
            (Decision::Done(Box::new(result.clone())), None)
        }
        Some(_) | None => (Decision::Resume(Box::new(run)), None),
    }
}

fn starting_over(differences: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut text = format!("starting over: {}", differences[..differences.len().min(SHOWN)].join("; "));
    if differences.len() > SHOWN {
        text.push_str(&format!("; and {}", counted(differences.len() - SHOWN, "other difference")));
    }
    text
}

/// Whether nothing is left to do and everything is where it was.
fn is_done(run: &Run, result: &Summary, root: &Path) -> bool {
    let has_suite = root.join(FUNCTIONS_FILE).is_file()
        || tests_in(&root.join("tests")).is_ok_and(|tests| tests.len() == result.tests);
    run.state == RunState::Finished && has_suite && result.stop.is_final() && result.unchecked == 0
}

/// The inputs that a campaign found before.
#[derive(Default)]
pub struct Recorded {
    /// Each once, with where it comes from: those of the journal in their order, then others of the suite.
    pub inputs: Vec<(Input, Provenance)>,
    /// Those that only a file of the suite has, with its directory.
    pub edited: Vec<(&'static str, Input, Provenance)>,
    /// Files that cannot be read, and why.
    pub unread: Vec<String>,
}

impl Recorded {
    /// What a directory holds for a function; files that cannot be read are named and left out.
    pub fn read(root: &Path, subject: &Subject) -> Result<Self, Error> {
        let entries = journal::read(root).map_err(|error| cannot("read", root, &error))?;
        let mut recorded = Self::default();
        let mut seen: BTreeSet<Input> = BTreeSet::new();
        for (entry, input) in entries.iter().filter_map(|entry| Some((entry, entry.input()?))) {
            if seen.insert(input.clone()) {
                recorded.inputs.push((input, entry.provenance()));
            }
        }
        // an input reads the same in the form of the suite's files
        let same = |input: &Input| subject.to_json(input).to_string();
        let told: BTreeSet<String> = recorded.inputs.iter().map(|(input, _)| same(input)).collect();
        for directory in INPUT_DIRECTORIES {
            for file in tests_in(&root.join(directory))? {
                match read_input(&file, subject) {
                    Ok(input) if told.contains(&same(&input)) => {}
                    Ok(input) => {
                        let provenance = provenance_in(&file);
                        recorded.inputs.push((input.clone(), provenance));
                        recorded.edited.push((directory, input, provenance));
                    }
                    Err(error) => recorded.unread.push(format!("{} {error}", file.display())),
                }
            }
        }
        Ok(recorded)
    }
}

/// Where the input of a test's file comes from; one without that was written by hand.
fn provenance_in(file: &Path) -> Provenance {
    let record: Option<record::Test> = read_record(file).ok();
    let word = record.and_then(|record| record.provenance);
    word.map_or(Provenance::Given, |word| Provenance::from_word(&word).unwrap_or(Provenance::Resumed))
}
