//! Several runs of the same campaign, made with different seeds or on different machines, as one.
//!
//! Method: the specs must agree in everything but seed and budget, and the files in everything. A new output directory gets
//! the journals and suites of all; every one of their inputs is executed again, so the result covers what they cover
//! together, and the suite is minimised as a whole. What one of them proved infeasible stays so. Nothing else is searched. Limit: the merged run does not know which
//! inputs an earlier run tried without success.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use report::functions::{FUNCTIONS_FILE, FunctionEntry, Functions, total};
use report::record::SCHEMA;

use crate::campaign::{self, Ended, Order};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::generate::Generated;
use crate::kept_proofs::infeasible_lines;
use crate::reports;
use crate::session::Session;
use crate::several::SeveralEnded;
use crate::spec::Spec;
use crate::store::journal::{self, Journal};
use crate::store::output::{Claim, Output, RUN_FILE, cannot};
use crate::store::recorder::GOALS_FILE;
use crate::store::results;
use crate::store::run::{Run, RunState};
use crate::store::suite::{INPUT_DIRECTORIES, read_record, tests_in};

/// Merges output directories into a new one, for the command line `command`.
pub fn merge(
    directories: &[PathBuf],
    out: &Path,
    command: &[String],
    session: &mut Session<'_>,
) -> Result<Generated, Error> {
    let mut merge = Merge { command, session };
    let mut several = Vec::new();
    for directory in directories {
        several.push(results::functions(directory)?);
    }
    let with_functions: Option<Vec<Functions>> = several.iter().cloned().collect();
    match with_functions {
        Some(functions) => merge.several(directories, functions, out),
        None if several.iter().all(Option::is_none) => merge.one(directories, out, None).map(Generated::One),
        None => Err(Error::usage("some of these runs are of one function, others of several")),
    }
}

struct Merge<'a, 's> {
    command: &'a [String],
    session: &'a mut Session<'s>,
}

impl Merge<'_, '_> {
    fn one(&mut self, directories: &[PathBuf], out: &Path, title: Option<String>) -> Result<Ended, Error> {
        let first = agreed(directories)?;
        let now = Fingerprint::of(&first.spec, &first.directory, self.session.cache)?;
        if let Some(difference) = now.differences(&first.fingerprint).first() {
            return Err(Error::usage(format!("the runs are not of what is there now: {difference}"))
                .help("run quarry gen again"));
        }
        let run = Run::new(first.spec.clone(), &first.directory, self.command.to_vec(), now);
        let output = new_output(out, &run)?;
        for directory in directories {
            take_over(directory, &output)?;
            take_over_proofs(directory, &output)?;
        }
        let order = Order {
            until: None,
            spec: first.spec,
            root: first.directory,
            out: output.root().to_owned(),
            title,
            command: self.command.to_vec(),
            fresh: false,
            searches: false,
            confirm: false,
            format: None,
        };
        campaign::run(&order, None, &output, run, self.session)
    }

    fn several(
        mut self,
        directories: &[PathBuf],
        functions: Vec<Functions>,
        out: &Path,
    ) -> Result<Generated, Error> {
        let first = agreed(directories)?;
        let run = Run::new(first.spec, &first.directory, self.command.to_vec(), first.fingerprint);
        let output = new_output(out, &run)?;
        let mut interrupted = false;
        let mut entries = Vec::new();
        for (entry, parts) in parts(directories, functions) {
            let mut entry = FunctionEntry { result: None, ..entry };
            if let (Some(directory), false) = (&entry.directory, parts.is_empty() || interrupted) {
                let title = Some(entry.function.clone());
                match self.one(&parts, &output.root().join(directory), title)? {
                    Ended::Searched(searched) => {
                        interrupted = searched.was_interrupted();
                        entry.result = Some(searched.summary);
                    }
                    Ended::NothingLeft { summary, .. } => entry.result = Some(*summary),
                    Ended::Early { .. } => interrupted = true,
                }
            }
            self.session.watcher.function_done(&entry);
            entries.push(entry);
        }
        self.finish(run, &output, entries, interrupted)
    }

    fn finish(
        &mut self,
        mut run: Run,
        output: &Output,
        entries: Vec<FunctionEntry>,
        interrupted: bool,
    ) -> Result<Generated, Error> {
        self.session.watcher.clear();
        let total = total(&entries, interrupted, output.root());
        (run.state, run.result) = (RunState::Finished, Some(total.clone()));
        output.write_json(RUN_FILE, &run)?;
        output.write_json(FUNCTIONS_FILE, &Functions { schema: SCHEMA, functions: entries.clone() })?;
        reports::write_summary(output.root(), &entries, &total)?;
        Ok(Generated::Several(Box::new(SeveralEnded { entries, total, confirmation: None, interrupted })))
    }
}

/// Each function once, with the directories that have results of it.
fn parts(directories: &[PathBuf], functions: Vec<Functions>) -> Vec<(FunctionEntry, Vec<PathBuf>)> {
    let mut parts: Vec<(FunctionEntry, Vec<PathBuf>)> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (root, functions) in directories.iter().zip(functions) {
        for entry in functions.functions {
            let place = *places.entry((entry.file.clone(), entry.function.clone())).or_insert_with(|| {
                parts.push((entry.clone(), Vec::new()));
                parts.len() - 1
            });
            if let (Some(directory), Some(_)) = (&entry.directory, &entry.result) {
                parts[place].1.push(root.join(directory));
            }
        }
    }
    parts
}

/// The record of the first run, if all are of the same campaign.
fn agreed(directories: &[PathBuf]) -> Result<Run, Error> {
    let (first, others) =
        directories.split_first().ok_or_else(|| Error::usage("there is nothing to merge"))?;
    let read = |directory: &PathBuf| {
        if !directory.join(RUN_FILE).is_file() {
            let directory = directory.display();
            return Err(Error::usage(format!(
                "{directory} is no output directory of quarry gen: there is no {RUN_FILE}"
            )));
        }
        read_record::<Run>(&directory.join(RUN_FILE))
    };
    let run = read(first)?;
    for directory in others {
        let other = read(directory)?;
        let mut differences = with_seed(&other.spec, run.spec.search.seed).differences(&run.spec);
        differences.extend(other.fingerprint.differences(&run.fingerprint));
        if let Some(difference) = differences.first() {
            let (first, other) = (first.display(), directory.display());
            return Err(Error::usage(format!("{other} is another campaign than {first}: {difference}"))
                .help("runs can be merged when they differ in nothing but seed and budget"));
        }
    }
    Ok(run)
}

fn with_seed(spec: &Spec, seed: u64) -> Spec {
    let mut spec = spec.clone();
    spec.search.seed = seed;
    spec
}

/// A directory that holds nothing yet.
fn new_output(out: &Path, run: &Run) -> Result<Output, Error> {
    let claim = Claim::new(out)?;
    if claim.has_run() {
        return Err(Error::usage(format!("{} has results already", out.display()))
            .help("choose another output directory with -o"));
    }
    claim.begin(run)
}

/// Adds what a directory calls infeasible, with the proofs.
fn take_over_proofs(directory: &Path, output: &Output) -> Result<(), Error> {
    // a directory without goals has no proofs
    let proved = infeasible_lines(directory).unwrap_or_default();
    let known = std::fs::read_to_string(output.root().join(GOALS_FILE)).unwrap_or_default();
    let mut lines: Vec<serde_json::Value> =
        known.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for (line, evidence) in &proved {
        let (from, to) = (directory.join(&evidence.proof), output.root().join(&evidence.proof));
        if let Some(place) = to.parent() {
            fs::create_dir_all(place).map_err(|error| cannot("create", place, &error))?;
        }
        fs::copy(&from, &to).map_err(|error| cannot("write", &to, &error))?;
        lines.push(serde_json::to_value(line).map_err(Error::internal)?);
    }
    if proved.is_empty() { Ok(()) } else { output.write_lines(GOALS_FILE, lines.iter()).map(drop) }
}

/// Adds the journal and the suite of a directory, under numbers that are free.
fn take_over(directory: &Path, output: &Output) -> Result<(), Error> {
    let entries = journal::read(directory).map_err(|error| cannot("read", directory, &error))?;
    let mut journal = Journal::open(output.root()).map_err(|error| cannot("write", output.root(), &error))?;
    for entry in &entries {
        journal.append(entry).map_err(|error| cannot("write", output.root(), &error))?;
    }
    for name in INPUT_DIRECTORIES {
        let (from, to) = (directory.join(name), output.root().join(name));
        let mut number = tests_in(&to)?.len();
        for file in if from.is_dir() { tests_in(&from)? } else { Vec::new() } {
            number += 1;
            let copy = to.join(format!("test_{number:03}.json"));
            fs::copy(&file, &copy).map_err(|error| cannot("write", &copy, &error))?;
        }
    }
    Ok(())
}
