//! What a campaign returns, and what an observer hears while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use coverage::{Coverage, Facts, GoalId, TestId};
use model::input::Input;
use model::{BlockId, FunctionId, SpanId};
use wire::Marks;

use super::suite::needed;
use super::{CampaignError, Provenance, Search, StopReason};
use crate::chaining::Chases;
use crate::executor::{End, Output, ProcessCounts};
use crate::self_check::Mismatch;
use crate::terms::TermError;
use crate::trace::TraceError;

/// A campaign's result.
#[derive(Debug, Default)]
pub struct CampaignResult {
    /// The suite: tests that end in order, none without need if so asked, in the order they were found.
    pub tests: Vec<Test>,
    /// Tests that crash. Each kind of end at each place comes once, except where a repetition is the only test that
    /// covers a goal.
    pub crashes: Vec<Finding>,
    /// Tests that run out of time, likewise.
    pub hangs: Vec<Finding>,
    /// What looked like a finding and no native run showed.
    pub suspicions: Vec<Finding>,
    /// Some of the inputs that were run and are none of these.
    pub others: Vec<(Input, Provenance)>,
    /// The goals; those covered name a test of the suite, or of the crashes and hangs where no other covers them.
    pub coverage: Coverage,
    /// Runs of new inputs.
    pub executions: u64,
    /// How many of them ran what an earlier campaign had found, and how many of those inputs were not run.
    pub n_recorded: u64,
    pub n_recorded_left: usize,
    /// How many of them ran inputs of the adviser.
    pub n_advised: u64,
    /// Candidates picked, and how many of their parents were executed again to have their expressions.
    pub n_picks: u64,
    pub n_parents_repeated: u64,
    /// The latter, with trials of numeric searches.
    pub re_executions: u64,
    /// Inputs tried in a hurry, which only say where to look.
    pub tries: u64,
    /// Of these, those that were cut off because they took too long.
    pub tries_cut_off: u64,
    pub queries: Queries,
    /// Candidates that the solver did not decide.
    pub n_unsolved: u64,
    /// Queries that the solver's processor time ended, not its effort: another run may fare better or worse.
    pub n_overdue: u64,
    /// Runs that left their predicted path.
    pub divergences: u64,
    /// Runs that did so after values were given up which the prediction relied on.
    pub failed_guesses: u64,
    /// Runs that left another trace in a process of their own: what counts is that trace.
    pub n_unlike: u64,
    /// What processes were started, and what for.
    pub processes: ProcessCounts,
    /// Candidates given up because their parent took another path when executed again.
    pub unrepeated: u64,
    /// Candidates not collected because their run had too many.
    pub candidates_left_out: u64,
    /// Candidates dropped because they could not reach anything open.
    pub candidates_filtered: u64,
    /// Candidates dropped because proofs exclude that a run follows them.
    pub candidates_refuted: u64,
    /// How often memory was short, so that something was let go.
    pub n_memory_met: u64,
    pub shortages: Shortages,
    /// Expressions that differ from what the program computed (the first few), and how many there were.
    pub mismatches: Vec<Mismatch>,
    pub n_mismatches: u64,
    /// Runs that could not be understood (the first few), and how many there were.
    pub troubles: Vec<Trouble>,
    pub n_troubles: u64,
    pub stop: StopReason,
    pub seconds: f64,
    /// What is known about goals that stay open.
    pub facts: Facts,
    /// What was spent on each goal that the search aimed at.
    pub searches: BTreeMap<GoalId, Search>,
    /// Time by kind of work, summed over workers.
    pub timings: Timings,
    /// What came of event sequences.
    pub chases: Chases,
}

impl CampaignResult {
    /// Runs that the budget bounds.
    pub(super) fn n_searched(&self) -> u64 {
        self.executions - self.n_recorded - self.n_advised
    }

    /// Tests for which there was no time to check them.
    pub fn n_unchecked(&self) -> usize {
        self.tests.iter().filter(|test| test.is_unchecked).count()
    }

    /// Leaves out tests that the others make redundant, if so asked none of those that were there already.
    pub fn keep_needed(&mut self, keeps_existing: bool) {
        self.tests = needed(std::mem::take(&mut self.tests), keeps_existing);
        self.renumber();
    }

    /// Numbers the tests as they stand, then crashes and hangs. Each goal's witness becomes the first test that covers it.
    pub fn renumber(&mut self) {
        let mut renamed = BTreeMap::new();
        let mut witnessed = BTreeSet::new();
        let findings = self.crashes.iter_mut().chain(&mut self.hangs).chain(&mut self.suspicions);
        let findings = findings.map(|finding| &mut finding.test);
        for (test, id) in self.tests.iter_mut().chain(findings).zip((1..).map(TestId)) {
            renamed.insert(test.id, id);
            test.id = id;
            test.covers = test.satisfies.iter().copied().filter(|goal| witnessed.insert(*goal)).collect();
            test.covers.iter().for_each(|goal| self.coverage.rewitness(*goal, id));
        }
        if let StopReason::Failed(CampaignError::Contradiction(contradiction)) = &mut self.stop
            && let Some(id) = renamed.get(&contradiction.test)
        {
            contradiction.test = *id;
        }
        let in_tests: BTreeSet<GoalId> = self.tests.iter().flat_map(|test| test.satisfies.clone()).collect();
        self.coverage.note_clean(|goal| in_tests.contains(&goal));
        for finding in self.crashes.iter_mut().chain(&mut self.hangs).chain(&mut self.suspicions) {
            finding.repeats = finding.repeats.and_then(|id| renamed.get(&id).copied());
        }
    }
}

/// An input worth keeping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub id: TestId,
    pub input: Input,
    pub provenance: Provenance,
    pub end: End,
    /// The goals it is the witness of.
    pub covers: Vec<GoalId>,
    /// All goals it covers.
    pub satisfies: Vec<GoalId>,
    pub output: Output,
    /// There was no time to find out whether the input itself is to blame for what it does.
    pub is_unchecked: bool,
}

/// A test that does not end in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub test: Test,
    /// The last block that was certainly entered.
    pub at: Option<(FunctionId, BlockId)>,
    /// How many runs ended like this.
    pub n_runs: u64,
    /// The first test that ended like this; this one was kept for what it covers.
    pub repeats: Option<TestId>,
    /// What a native run showed of it.
    pub sighting: Option<Sighting>,
}

impl Finding {
    /// Whether no other finding is known to be the same error.
    pub fn is_distinct(&self) -> bool {
        self.repeats.is_none() || self.sighting.is_none()
    }
}

/// An error as a native run shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The sanitizer's name for it, such as `heap-buffer-overflow`; else how the run ended.
    pub kind: String,
    pub message: String,
    /// Where it happens.
    pub place: Option<SpanId>,
    /// The calls that led there, innermost first: functions, and where they were.
    pub stack: Vec<(String, SpanId)>,
}

impl Sighting {
    /// What errors have in common that are one.
    pub fn group(&self) -> (&str, Option<SpanId>, Vec<SpanId>) {
        (&self.kind, self.place, self.stack.iter().map(|(_, place)| *place).collect())
    }
}

/// Something about a run that Quarry does not understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    Trace {
        input: Input,
        error: TraceError,
    },
    Expressions {
        input: Input,
        error: TermError,
    },
    /// A proof excludes what this run did.
    Refuted {
        input: Input,
    },
}

/// Answers of the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queries {
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
}

impl Queries {
    pub(super) fn add(&mut self, other: Self) {
        self.sat += other.sat;
        self.unsat += other.unsat;
        self.unknown += other.unknown;
    }
}

/// How many executions went short of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortages {
    /// The expression arena was full.
    pub nodes: u64,
    /// The path log was full.
    pub log: u64,
    /// There were more cells than fit.
    pub cells: u64,
    /// Uninstrumented code wrote over symbolic bytes.
    pub overwritten: u64,
    /// A thread or process was refused.
    pub threads: u64,
    /// An object read at a symbolic address was too large for a table.
    pub large_objects: u64,
    /// An assumption of the program did not hold.
    pub rejected: u64,
}

impl Shortages {
    pub(super) fn add(&mut self, marks: Marks) {
        self.nodes += u64::from(marks.nodes_full);
        self.log += u64::from(marks.log_full);
        self.cells += u64::from(marks.cells_full);
        self.overwritten += u64::from(marks.overwritten);
        self.threads += u64::from(marks.threads);
        self.large_objects += u64::from(marks.large_object);
        self.rejected += u64::from(marks.rejected);
    }
}

/// Time by kind of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    pub execute: Duration,
    pub walk: Duration,
    pub terms: Duration,
    pub solve: Duration,
}

impl Timings {
    pub(super) fn add(&mut self, other: Self) {
        self.execute += other.execute;
        self.walk += other.walk;
        self.terms += other.terms;
        self.solve += other.solve;
    }
}

/// Where a campaign stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub elapsed: Duration,
    pub executions: u64,
    pub n_goals: usize,
    pub n_covered: usize,
    pub n_infeasible: usize,
    pub n_candidates: usize,
    pub n_tests: usize,
    pub n_crashes: usize,
    pub n_hangs: usize,
    pub queries: Queries,
    /// Inputs of an earlier campaign that are still to be run before the search begins.
    pub n_recorded_left: usize,
    /// When a goal was covered last; zero before.
    pub last_new: Duration,
    /// What is left of the budget, where it has a bound.
    pub time_left: Option<Duration>,
    pub executions_left: Option<u64>,
    /// Time by kind of work, summed over workers.
    pub timings: Timings,
}

impl Progress {
    /// Goals that are neither covered nor infeasible.
    pub fn n_open(&self) -> usize {
        self.n_goals - self.n_covered - self.n_infeasible
    }
}

/// Hears how a campaign goes, on one thread after another. Tests are numbered anew when the suite has been minimised.
pub trait Observer: Send {
    /// A pick was worked off.
    fn worked(&mut self, _progress: &Progress) {}
    /// A test was kept.
    fn kept(&mut self, _test: &Test, _progress: &Progress) {}
    /// A crash or hang of a new kind or place was found.
    fn found(&mut self, _finding: &Finding, _progress: &Progress) {}
    /// The adviser is asked now.
    fn asked(&mut self, _progress: &Progress) {}
    /// A goal was proved infeasible.
    fn decided(&mut self, _goal: GoalId, _coverage: &Coverage, _progress: &Progress) {}
}

/// Nobody listens.
impl Observer for () {}
