//! Several functions: a campaign for each, with one budget.
//!
//! Method: files that do not build are left out, with the reason. Every function has its own directory in the output
//! directory, like that of a single run. Every function gets a turn for which there is time ([`schedule`]), small ones first; what one
//! does not use goes to those after it, and what is left at the end to those with the most goals left. As many campaigns run at a time
//! as there are jobs, each with one worker: functions have nothing to wait for from each other. The budget covers all that
//! the command does, building and finishing included.
//!
//! All sources are read once. A function is built with the files of its program ([`Front::program_of`]); if that does not
//! work, with its own file alone. Limit: the files of a program are told by what they define, not by what a build system links.

mod relay;
mod schedule;

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use cache::Cache;
use engine::campaign::Clock;
use frontend::compilers::Group;
use report::confirmation::Confirmation;
use report::functions::{FUNCTIONS_FILE, FunctionEntry, Functions, total};
use report::record::{SCHEMA, Summary};

use crate::campaign::{self, Ended, Entered, Order, Until, enter};
use crate::confirm;
use crate::error::Error;
use crate::front::{self, Front, Programs, TestableFunction};
use crate::interrupt::Interrupt;
use crate::memory::MemoryPlan;
use crate::phases::Phases;
use crate::reports;
use crate::session::Session;
use crate::spec::{SourceSpec, Spec};
use crate::store::output::{Output, RUN_FILE};
use crate::store::run::{Run, RunState};
use crate::store::suite::INPUT_DIRECTORIES;
use crate::versions;
use crate::watcher::Watcher;
use relay::{Relay, Switchboard};
use schedule::{Cost, Schedule, Turn};

/// This part of the budget is kept for what comes last.
const KEPT_PART: u32 = 50;

const UNPOISONED: &str = "no thread panics while it has the state of the campaigns";

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
    programs: Programs,
    sources: SourceSpec,
    broken: Vec<(PathBuf, Error)>,
    /// How many functions no change concerns, when only those count that one does.
    n_left_alone: Option<usize>,
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
    let front = Arc::new(front?.for_criteria(&order.spec.criteria));
    let mut functions = front.testable();
    if functions.len() < 2 && broken.is_empty() {
        return Ok(Found::One(front));
    }
    let n_functions = functions.len();
    let spec = Spec { sources: sources.clone(), ..order.spec.clone() };
    let concerned = versions::concerned(&spec, &front, &functions, root, work)?;
    let n_left_alone = concerned.map(|concerned| {
        functions.retain(|function| concerned.contains(&function.qualified));
        n_functions - functions.len()
    });
    let programs = front.programs()?;
    Ok(Found::Several(Several { front, functions, programs, sources, broken, n_left_alone }))
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
    clock: &(dyn Clock + Sync),
    session: &mut Session<'_>,
) -> Result<SeveralEnded, Error> {
    run.state = RunState::Running;
    output.begin(&run)?;
    for directory in INPUT_DIRECTORIES.iter().chain(&["harness", "logs"]) {
        // each function has its own; a non-empty directory is left alone
        let _ = std::fs::remove_dir(output.root().join(directory));
    }
    if let Some(n) = several.n_left_alone.filter(|n| *n > 0) {
        let functions = report::words::counted(n, "function");
        session.watcher.remark(&format!("{functions} left alone: no change concerns them"));
    }
    let switchboard = Switchboard::new(session.watcher);
    let surroundings = Surroundings {
        interrupt: session.interrupt,
        clock: session.clock,
        phases: session.phases,
        cache: session.cache,
    };
    let campaigns = Campaigns {
        order,
        state: Mutex::new(State::new(&several)),
        several: &several,
        root: output.root(),
        work: output.work(),
        earlier: output.earlier().map(Path::to_owned),
        run: &run,
        clock,
        surroundings,
        switchboard: &switchboard,
    };
    let (entries, interrupted) = campaigns.work(output)?;
    switchboard.finish();
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
        waits: false,
    };
    let broken = several.broken.iter().map(|(file, error)| FunctionEntry {
        function: String::new(),
        file: file.display().to_string(),
        directory: None,
        result: None,
        reason: Some(error.message().to_owned()),
        waits: false,
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

/// What all campaigns are given, besides a watcher.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    interrupt: &'a Interrupt,
    clock: &'a (dyn Clock + Sync),
    phases: &'a Phases,
    cache: &'a Cache,
}

/// Campaigns that run some at a time.
struct Campaigns<'a> {
    order: &'a Order,
    several: &'a Several,
    /// The output directory, where files of no lasting use go, and the results of an earlier run.
    root: &'a Path,
    work: PathBuf,
    earlier: Option<PathBuf>,
    run: &'a Run,
    /// Counts from the beginning of the command.
    clock: &'a (dyn Clock + Sync),
    surroundings: Surroundings<'a>,
    switchboard: &'a Switchboard<'a>,
    state: Mutex<State>,
}

/// What the threads share.
struct State {
    /// The functions first, in their order.
    entries: Vec<FunctionEntry>,
    schedule: Schedule,
    /// Functions that have no turn in this round yet.
    waiting: VecDeque<usize>,
    /// The file marked last because it did not build with its program.
    alone: Option<(PathBuf, Arc<Front>)>,
    is_interrupted: bool,
}

impl State {
    fn new(several: &Several) -> Self {
        Self {
            entries: entries(several),
            schedule: Schedule::default(),
            waiting: VecDeque::new(),
            alone: None,
            is_interrupted: false,
        }
    }
}

/// A round of turns.
#[derive(Clone, Copy)]
struct Round {
    is_first: bool,
    /// Campaigns that run at a time, and the workers of each.
    n_threads: NonZeroUsize,
    n_workers: NonZeroUsize,
}

impl Campaigns<'_> {
    /// Works until everything is done or the time is over; what became of each function, and whether it was interrupted.
    fn work(self, output: &Output) -> Result<(Vec<FunctionEntry>, bool), Error> {
        let mut order: Vec<usize> = (0..self.several.functions.len()).collect();
        order.sort_by_key(|index| self.several.functions[*index].n_decisions);
        let mut is_first = true;
        while !order.is_empty() {
            let round = self.round(order.len(), is_first);
            self.state().waiting = order.into();
            self.take_round(round, output)?;
            if self.state().is_interrupted {
                break;
            }
            is_first = false;
            order = self.worth_another_turn(round);
        }
        self.write(output)?;
        let state = self.state.into_inner().expect(UNPOISONED);
        Ok((state.entries, state.is_interrupted))
    }

    fn round(&self, n_functions: usize, is_first: bool) -> Round {
        let jobs = self.order.spec.budget.jobs.or_else(|| thread::available_parallelism().ok());
        let jobs = jobs.unwrap_or(NonZeroUsize::MIN);
        let n_threads = NonZeroUsize::new(n_functions).map_or(jobs, |n_functions| jobs.min(n_functions));
        let n_workers = NonZeroUsize::new(jobs.get() / n_threads).unwrap_or(NonZeroUsize::MIN);
        Round { is_first, n_threads, n_workers }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNPOISONED)
    }

    /// Gives every function that waits a turn, some at a time.
    fn take_round(&self, round: Round, output: &Output) -> Result<(), Error> {
        thread::scope(|scope| {
            let (send, receive) = channel();
            for _ in 0..round.n_threads.get() {
                let send = send.clone();
                scope.spawn(move || self.take_turns(round, &send));
            }
            drop(send);
            let mut outcome = Ok(());
            for done in receive {
                let noted = done.and_then(|index| {
                    self.switchboard.done(&self.state().entries[index]);
                    self.write(output)
                });
                if noted.is_err() {
                    self.state().waiting.clear();
                    outcome = outcome.and(noted);
                }
            }
            outcome
        })
    }

    /// Takes one function after the other, until none waits. Compilers that are ended for one are not those of another.
    fn take_turns(&self, round: Round, done: &Sender<Result<usize, Error>>) {
        Group::default().run(|| {
            while let Some((index, turn)) = self.next(round) {
                // whoever listens does so until all threads are over
                let _ = done.send(self.turn(index, turn, round).map(|()| index));
            }
        });
    }

    /// The next function and what it may take; those for which there is no time get no turn.
    fn next(&self, round: Round) -> Option<(usize, Turn)> {
        let mut state = self.state();
        let n_waiting = u32::try_from(state.waiting.len()).unwrap_or(u32::MAX);
        let index = state.waiting.pop_front()?;
        let turn = if self.order.spec.budget.time().is_zero() {
            // everything is built and nothing searched
            Some(Turn { share: Duration::ZERO, least: Duration::ZERO })
        } else {
            let n_threads = u32::try_from(round.n_threads.get()).unwrap_or(1).min(n_waiting);
            state.schedule.turn(self.left(), n_waiting, n_threads, round.is_first)
        };
        if turn.is_none() {
            let without: Vec<usize> = std::iter::once(index).chain(state.waiting.drain(..)).collect();
            let why = self.no_turn(&state.schedule, round);
            for index in without {
                let entry = &mut state.entries[index];
                if entry.result.is_none() {
                    (entry.reason, entry.waits) = (Some(why.clone()), true);
                }
            }
        }
        turn.map(|turn| (index, turn))
    }

    /// Time for further turns.
    fn left(&self) -> Duration {
        let budget = self.order.spec.budget.time();
        (budget - budget / KEPT_PART).saturating_sub(self.clock.elapsed())
    }

    /// The functions that could use more time, as many as there is time for, those with the most goals left first.
    fn worth_another_turn(&self, round: Round) -> Vec<usize> {
        let state = self.state();
        let mut open: Vec<usize> =
            (0..self.several.functions.len()).filter(|index| state.entries[*index].is_open()).collect();
        let n_undecided =
            |index: &usize| state.entries[*index].result.as_ref().map_or(0, |result| result.goals.undecided);
        open.sort_by_key(|index| std::cmp::Reverse(n_undecided(index))); // stable: in their order
        let n_turns = self.left().as_millis() / state.schedule.needed().as_millis();
        open.truncate(usize::try_from(n_turns).unwrap_or(usize::MAX).saturating_mul(round.n_threads.get()));
        open
    }

    /// Why a function has no result, and what would help.
    fn no_turn(&self, schedule: &Schedule, round: Round) -> String {
        let needed = schedule.needed().as_secs_f64();
        let n_turns = self.several.functions.len().div_ceil(round.n_threads.get());
        let all = needed * n_turns as f64 * (1.0 + 1.0 / f64::from(KEPT_PART));
        format!(
            "the budget ended before its turn: a function takes {needed:.1} s, all of them --budget {:.0}s",
            all.ceil()
        )
    }

    fn write(&self, output: &Output) -> Result<(), Error> {
        let functions = Functions { schema: SCHEMA, functions: self.state().entries.clone() };
        output.write_json(FUNCTIONS_FILE, &functions).map(drop)
    }

    /// One function's turn.
    fn turn(&self, index: usize, turn: Turn, round: Round) -> Result<(), Error> {
        let function = &self.several.functions[index];
        let mut relay = self.switchboard.relay(&function.name, self.surroundings.clock);
        let ended = self.campaign(index, turn, round, &mut relay);
        let mut state = self.state();
        let entry = &mut state.entries[index];
        (entry.reason, entry.waits) = (None, false);
        match ended {
            Ok(Ended::NothingLeft { summary, .. }) => entry.result = Some(*summary),
            Ok(Ended::Early { .. }) => state.interrupt(),
            Ok(Ended::Searched(searched)) => {
                searched.faults().iter().for_each(|line| relay.warn(line));
                let was_interrupted = searched.was_interrupted();
                let finish = searched.finishing.iter().map(|(_, took)| *took).sum();
                let cost = Cost { build: searched.built, finish };
                entry.result = Some(searched.summary);
                state.schedule.note(cost);
                if was_interrupted {
                    state.interrupt();
                }
            }
            Err(error @ (Error::DiskFull(_) | Error::Contradiction(_))) => return Err(error),
            Err(_) if self.surroundings.interrupt.is_requested() => state.interrupt(),
            Err(error) => {
                // nobody interrupted it but the end of the budget
                entry.waits = matches!(error, Error::Interrupted(_));
                entry.reason = Some(error.message().to_owned());
            }
        }
        Ok(())
    }

    fn campaign(
        &self,
        index: usize,
        turn: Turn,
        round: Round,
        relay: &mut Relay<'_, '_>,
    ) -> Result<Ended, Error> {
        let function = &self.several.functions[index];
        let front = Arc::clone(&self.several.front);
        let files = front.program_of(&function.file, &self.several.programs);
        let is_alone = files.len() < 2;
        let sources = SourceSpec { files, ..self.several.sources.clone() };
        match self.campaign_with(index, turn, round, front, sources, relay) {
            Err(Error::Build(_)) if !is_alone => {}
            ended => return ended,
        }
        let sources = SourceSpec { files: vec![function.file.clone()], ..self.several.sources.clone() };
        let front = self.front_alone(&function.file, &sources)?;
        self.campaign_with(index, turn, round, front, sources, relay)
    }

    /// The marks of one file.
    fn front_alone(&self, file: &Path, sources: &SourceSpec) -> Result<Arc<Front>, Error> {
        if let Some((marked, front)) = &self.state().alone
            && marked == file
        {
            return Ok(Arc::clone(front));
        }
        let work = self.work.join("alone");
        let Order { spec, root, .. } = self.order;
        let cache = self.surroundings.cache;
        let front = Front::with_stand_ins(sources, &spec.subject.stubs, root, &work, cache)?;
        let front = Arc::new(front.for_criteria(&spec.criteria));
        self.state().alone = Some((file.to_owned(), Arc::clone(&front)));
        Ok(front)
    }

    fn campaign_with(
        &self,
        index: usize,
        turn: Turn,
        round: Round,
        front: Arc<Front>,
        sources: SourceSpec,
        relay: &mut Relay<'_, '_>,
    ) -> Result<Ended, Error> {
        let Surroundings { interrupt, clock, phases, cache } = self.surroundings;
        let session = &mut Session { interrupt, clock, watcher: relay, phases, cache };
        let function = &self.several.functions[index];
        let mut spec = self.order.spec.for_function(&function.qualified, sources);
        spec.budget.budget = turn.share.as_secs_f64();
        spec.budget.jobs = Some(round.n_workers);
        spec.budget.memory = Some(MemoryPlan::share(spec.budget.memory, round.n_threads));
        let n_functions = self.several.functions.len();
        let now = clock.elapsed();
        let order = Order {
            spec,
            out: self.root.join(directory(function)),
            title: Some(format!("{} ({} of {n_functions})", function.name, index + 1)),
            until: (!turn.share.is_zero()).then(|| Until {
                turn: now + turn.share,
                least: turn.least,
                end: now + self.left(),
            }),
            fresh: false,
            ..self.order.clone()
        };
        let fingerprint = self.run.fingerprint.for_function(&order.spec, &order.root);
        match enter(&order, fingerprint, session)? {
            Entered::Done(root, summary) => Ok(Ended::NothingLeft { root, summary, exported: None }),
            Entered::Work(entered) => {
                let (output, run) = *entered;
                if let Some(earlier) = &self.earlier {
                    output.inherit(earlier.join(directory(function)));
                }
                campaign::run(&order, Some(front), &output, run, session)
            }
        }
    }
}

impl State {
    /// The user wants to stop: nobody gets a turn any more.
    fn interrupt(&mut self) {
        self.is_interrupted = true;
        self.waiting.clear();
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
