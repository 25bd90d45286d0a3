//! Several functions: a campaign for each, with one budget.
//!
//! Method: files that do not build are left out, with the reason. Every function has its own directory in the output
//! directory, like that of a single run. Every function gets a turn, small ones first, with an equal part of the time that is left,
//! so what one does not use goes to those after it; what is left at the end goes to those with the most goals left. The budget
//! covers all that the command does: a turn ends when its part does, building and finishing included.
//!
//! All sources are read once. A function is built with the files of its program ([`Front::program_of`]); if that does not
//! work, with its own file alone. Limit: the files of a program are told by what they define, not by what a build system links.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cache::Cache;
use engine::campaign::Clock;
use report::confirmation::Confirmation;
use report::functions::{FUNCTIONS_FILE, FunctionEntry, Functions, total};
use report::record::{SCHEMA, Summary};

use crate::campaign::{self, Ended, Entered, Order, enter};
use crate::confirm;
use crate::error::Error;
use crate::front::{self, Front, TestableFunction};
use crate::reports;
use crate::session::Session;
use crate::spec::SourceSpec;
use crate::store::output::{Output, RUN_FILE};
use crate::store::run::{Run, RunState};
use crate::store::suite::INPUT_DIRECTORIES;

/// Less time than this is not worth another turn.
const SHORTEST_TURN: Duration = Duration::from_secs(1);

/// Of more time than this the first turn gets half: then it is known who can use more.
const LONG_TURN: Duration = Duration::from_secs(8);

/// This part of the budget is kept for what comes last.
const KEPT_PART: u32 = 50;

const NO_TURN: &str = "the budget ended before its turn";

/// What there is to test when no function is named.
pub enum Found {
    /// One function, or none: the sources.
    One(Arc<Front>),
    Several(Several),
}

/// Functions to test, and files that do not build.
pub struct Several {
    front: Arc<Front>,
    functions: Vec<TestableFunction>,
    sources: SourceSpec,
    broken: Vec<(PathBuf, Error)>,
}

/// What came of several campaigns.
pub struct SeveralEnded {
    pub entries: Vec<FunctionEntry>,
    pub total: Summary,
    pub confirmation: Option<Confirmation>,
    pub interrupted: bool,
}

/// Reads the sources and finds the functions in them; files go below `work`.
pub fn find(order: &Order, work: &Path, cache: &Cache) -> Result<Found, Error> {
    let (mut sources, root) = (order.spec.sources.clone(), &order.root);
    let stand_ins = &order.spec.subject.stubs;
    let read = |sources: &SourceSpec| Front::with_stand_ins(sources, stand_ins, root, work, cache);
    let mut broken = Vec::new();
    let front = match read(&sources) {
        Err(Error::Build(_)) if sources.files.len() > 1 => {
            broken = take_broken(&mut sources, root)?;
            if sources.files.is_empty() {
                let (_, error) = broken.swap_remove(0);
                return Err(error);
            }
            read(&sources)
        }
        read => read,
    };
    let front = Arc::new(front?);
    let functions = front.testable();
    if functions.len() < 2 && broken.is_empty() {
        return Ok(Found::One(front));
    }
    Ok(Found::Several(Several { front, functions, sources, broken }))
}

/// Takes the files out that the compiler does not accept.
fn take_broken(sources: &mut SourceSpec, root: &Path) -> Result<Vec<(PathBuf, Error)>, Error> {
    let commands = front::commands(sources, root)?;
    let mut broken = Vec::new();
    for (file, command) in std::mem::take(&mut sources.files).into_iter().zip(&commands) {
        match front::objection(command) {
            Ok(()) => sources.files.push(file),
            Err(error) => broken.push((file, error)),
        }
    }
    Ok(broken)
}

/// Runs a campaign for each function.
pub fn run(
    order: &Order,
    several: Several,
    output: &Output,
    mut run: Run,
    clock: &dyn Clock,
    session: &mut Session<'_>,
) -> Result<SeveralEnded, Error> {
    run.state = RunState::Running;
    output.begin(&run)?;
    for directory in INPUT_DIRECTORIES.iter().chain(&["harness", "logs"]) {
        // each function has its own; a non-empty directory is left alone
        let _ = std::fs::remove_dir(output.root().join(directory));
    }
    let mut campaigns = Campaigns {
        order,
        entries: entries(&several),
        alone: None,
        several,
        output,
        run: &run,
        clock,
        overhead: None,
        session,
    };
    let interrupted = campaigns.work()?;
    let entries = campaigns.entries;
    session.watcher.clear();
    let total = total(&entries, interrupted, output.root());
    (run.state, run.result) = (RunState::Finished, Some(total.clone()));
    run.confirmation = order.confirm.then(|| confirm::of_several(output.root(), &entries));
    output.write_json(RUN_FILE, &run)?;
    reports::write_summary(output.root(), &entries, &total)?;
    Ok(SeveralEnded { entries, total, confirmation: run.confirmation, interrupted })
}

/// A line per function and per file that does not build, before anything is done.
fn entries(several: &Several) -> Vec<FunctionEntry> {
    let entry = |function: &TestableFunction| FunctionEntry {
        function: function.qualified.clone(),
        file: function.file.display().to_string(),
        directory: Some(directory(function)),
        result: None,
        reason: None,
    };
    let broken = several.broken.iter().map(|(file, error)| FunctionEntry {
        function: String::new(),
        file: file.display().to_string(),
        directory: None,
        result: None,
        reason: Some(error.message().to_owned()),
    });
    several.functions.iter().map(entry).chain(broken).collect()
}

/// `parse`, or `reader-parse` when there are several of that name.
fn directory(function: &TestableFunction) -> String {
    if function.name == function.qualified {
        return function.name.clone();
    }
    let path = function.file.with_extension("");
    let parts = path.components().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        std::path::Component::Prefix(_)
        | std::path::Component::RootDir
        | std::path::Component::CurDir
        | std::path::Component::ParentDir => None,
    });
    let parts: Vec<String> = parts.chain([function.name.clone()]).collect();
    parts.join("-")
}

struct Campaigns<'a, 's> {
    order: &'a Order,
    several: Several,
    /// The functions first, in their order.
    entries: Vec<FunctionEntry>,
    output: &'a Output,
    run: &'a Run,
    /// Counts from the beginning of the command.
    clock: &'a dyn Clock,
    /// What a turn takes besides its search, as far as earlier ones tell.
    overhead: Option<Duration>,
    /// The file marked last because it did not build with its program.
    alone: Option<(PathBuf, Arc<Front>)>,
    session: &'a mut Session<'s>,
}

impl Campaigns<'_, '_> {
    /// Works until everything is done or the time is over; whether it was interrupted.
    fn work(&mut self) -> Result<bool, Error> {
        let mut order: Vec<usize> = (0..self.several.functions.len()).collect();
        order.sort_by_key(|index| self.several.functions[*index].n_decisions);
        let mut is_first = true;
        while !order.is_empty() {
            let n_turns = u32::try_from(order.len()).unwrap_or(u32::MAX);
            for (turn, index) in (0..).zip(order) {
                let mut share = self.left() / (n_turns - turn);
                if is_first && share > LONG_TURN {
                    share /= 2;
                }
                // without a budget everything is built and nothing searched
                if share.is_zero() && !self.order.spec.budget.time().is_zero() {
                    if self.entries[index].result.is_none() {
                        self.entries[index].reason = Some(NO_TURN.to_owned());
                    }
                    continue;
                }
                let interrupted = self.timed_turn(index, share)?;
                self.session.watcher.function_done(&self.entries[index]);
                self.write()?;
                if interrupted {
                    return Ok(true);
                }
            }
            is_first = false;
            order = self.worth_another_turn();
        }
        self.write().map(|()| false)
    }

    /// Time for further turns.
    fn left(&self) -> Duration {
        let budget = self.order.spec.budget.time();
        (budget - budget / KEPT_PART).saturating_sub(self.clock.elapsed())
    }

    /// The functions that could use more time, as many as there is time for, those with the most goals left first.
    fn worth_another_turn(&self) -> Vec<usize> {
        let mut open: Vec<usize> =
            (0..self.several.functions.len()).filter(|index| self.entries[*index].is_open()).collect();
        let n_undecided =
            |index: &usize| self.entries[*index].result.as_ref().map_or(0, |result| result.goals.undecided);
        open.sort_by_key(|index| std::cmp::Reverse(n_undecided(index))); // stable: in their order
        let turn = SHORTEST_TURN + self.overhead.unwrap_or_default();
        let n_turns = self.left().as_millis() / turn.as_millis();
        open.truncate(usize::try_from(n_turns).unwrap_or(usize::MAX));
        open
    }

    /// One function's turn of at most `share`; whether it was interrupted.
    fn timed_turn(&mut self, index: usize, share: Duration) -> Result<bool, Error> {
        let begin = self.clock.elapsed();
        let interrupted = self.turn(index, share)?;
        let took = self.clock.elapsed().saturating_sub(begin);
        let searched = self.entries[index].result.as_ref().map_or(0.0, |result| result.seconds);
        let searched = Duration::from_secs_f64(searched).min(share);
        let overhead = took.saturating_sub(searched);
        // the last ones count most: what programs share is built by the first
        self.overhead = Some(self.overhead.map_or(overhead, |before| (before * 3 + overhead) / 4));
        Ok(interrupted)
    }

    fn write(&self) -> Result<(), Error> {
        let functions = Functions { schema: SCHEMA, functions: self.entries.clone() };
        self.output.write_json(FUNCTIONS_FILE, &functions).map(drop)
    }

    /// One function's turn; whether it was interrupted.
    fn turn(&mut self, index: usize, share: Duration) -> Result<bool, Error> {
        let function = self.several.functions[index].clone();
        let ended = self.campaign(index, &function, share);
        let entry = &mut self.entries[index];
        match ended {
            Ok(Ended::NothingLeft { summary, .. }) => entry.result = Some(*summary),
            Ok(Ended::Early { .. }) => return Ok(true),
            Ok(Ended::Searched(searched)) => {
                for line in searched.faults() {
                    self.session.watcher.warn(&format!("{}: {line}", function.qualified));
                }
                let was_interrupted = searched.was_interrupted();
                entry.result = Some(searched.summary);
                return Ok(was_interrupted);
            }
            Err(error @ (Error::DiskFull(_) | Error::Contradiction(_))) => return Err(error),
            Err(_) if self.session.interrupt.is_requested() => return Ok(true),
            Err(error) => entry.reason = Some(error.message().to_owned()),
        }
        Ok(false)
    }

    fn campaign(
        &mut self,
        index: usize,
        function: &TestableFunction,
        share: Duration,
    ) -> Result<Ended, Error> {
        let front = Arc::clone(&self.several.front);
        let whole = &self.several.sources;
        let files = front.program_of(&function.file);
        let is_alone = files.len() < 2;
        let sources = SourceSpec { files, ..whole.clone() };
        match self.campaign_with(index, function, share, front, sources) {
            Err(Error::Build(_)) if !is_alone => {}
            ended => return ended,
        }
        let sources = SourceSpec { files: vec![function.file.clone()], ..self.several.sources.clone() };
        let front = self.front_alone(&function.file, &sources)?;
        self.campaign_with(index, function, share, front, sources)
    }

    /// The marks of one file.
    fn front_alone(&mut self, file: &Path, sources: &SourceSpec) -> Result<Arc<Front>, Error> {
        if let Some((marked, front)) = &self.alone
            && marked == file
        {
            return Ok(Arc::clone(front));
        }
        let work = self.output.work().join("alone");
        let Order { spec, root, .. } = self.order;
        let front =
            Arc::new(Front::with_stand_ins(sources, &spec.subject.stubs, root, &work, self.session.cache)?);
        self.alone = Some((file.to_owned(), Arc::clone(&front)));
        Ok(front)
    }

    fn campaign_with(
        &mut self,
        index: usize,
        function: &TestableFunction,
        share: Duration,
        front: Arc<Front>,
        sources: SourceSpec,
    ) -> Result<Ended, Error> {
        let mut spec = self.order.spec.for_function(&function.qualified, sources);
        spec.budget.budget = share.as_secs_f64();
        let n_functions = self.several.functions.len();
        let order = Order {
            spec,
            out: self.output.root().join(directory(function)),
            title: Some(format!("{} ({} of {n_functions})", function.name, index + 1)),
            until: Some(self.session.clock.elapsed() + share),
            fresh: false,
            ..self.order.clone()
        };
        let fingerprint = self.run.fingerprint.for_function(&order.spec, &order.root);
        match enter(&order, fingerprint, self.session)? {
            Entered::Done(root, summary) => Ok(Ended::NothingLeft { root, summary, exported: None }),
            Entered::Work(entered) => {
                let (output, run) = *entered;
                if let Some(earlier) = self.output.earlier() {
                    output.inherit(earlier.join(directory(function)));
                }
                campaign::run(&order, Some(front), &output, run, self.session)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_named_by_the_function_and_by_the_file_where_that_is_needed() {
        let function = |qualified: &str| TestableFunction {
            name: "parse".to_owned(),
            qualified: qualified.to_owned(),
            file: PathBuf::from("/src/./reader.c"),
            n_decisions: 0,
        };
        assert_eq!(directory(&function("parse")), "parse");
        assert_eq!(directory(&function("/src/./reader.c:parse")), "src-reader-parse");
    }
}
