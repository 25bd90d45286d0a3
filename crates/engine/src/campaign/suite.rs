//! Which runs are worth keeping as tests, and which of them are needed in the end?
//!
//! Kept is what covers a goal first, what covers in order a goal that only crashes and hangs covered so far, and the
//! first crash or hang of its kind at its place; also what shows one half of something that two runs may cover together.
//! In the end only tests stay that are needed for a goal ([`necessary`]).

use std::collections::{BTreeMap, BTreeSet};

use coverage::{Contradiction, Coverage, Covered, Evidence, GoalId, TestId};
use model::input::Input;
use model::walk::WalkEnd;
use model::{BlockId, FunctionId};

use super::set_cover::necessary;
use super::{CampaignResult, Finding, Judge, Provenance, Test};
use crate::executor::{End, Output};
use crate::trace::Trace;

pub(super) struct Suite {
    coverage: Coverage,
    tests: Vec<Test>,
    crashes: Vec<Finding>,
    hangs: Vec<Finding>,
    /// The first finding of each kind of end at each place.
    first: BTreeMap<(End, At), SuiteSlot>,
    /// Goals covered by crashes and hangs only.
    disorderly: BTreeSet<GoalId>,
    /// Whether crashes and hangs cover goals.
    crashes_cover: bool,
    /// Whether tests that were there already are kept whatever they cover.
    keeps_existing: bool,
    n_ids: u32,
    /// Inputs that were not kept, as many as there is room for.
    others: Vec<(Input, Provenance)>,
}

/// Inputs that are remembered although they were not kept.
const MAX_OTHERS: usize = 256;

type At = Option<(FunctionId, BlockId)>;

/// Where a test was put, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SuiteSlot {
    Test(usize),
    Crash(usize),
    Hang(usize),
}

/// What became of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) slot: Option<SuiteSlot>,
    /// With outcomes that goals need in combination.
    pub(super) n_new_goals: usize,
    /// Whether goals may have become nearer or out of reach.
    pub(super) changed: bool,
}

impl Suite {
    pub(super) fn new(coverage: Coverage, crashes_cover: bool, keeps_existing: bool) -> Self {
        Self {
            coverage,
            crashes_cover,
            keeps_existing,
            tests: Vec::new(),
            crashes: Vec::new(),
            hangs: Vec::new(),
            first: BTreeMap::new(),
            disorderly: BTreeSet::new(),
            n_ids: 0,
            others: Vec::new(),
        }
    }

    pub(super) fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    pub(super) fn tests(&self) -> &[Test] {
        &self.tests
    }

    pub(super) fn crashes(&self) -> &[Finding] {
        &self.crashes
    }

    pub(super) fn hangs(&self) -> &[Finding] {
        &self.hangs
    }

    /// Takes in a proof that no input covers the goal.
    pub(super) fn decide(&mut self, goal: GoalId, evidence: Evidence) -> Result<(), Contradiction> {
        self.coverage.decide(goal, evidence)
    }

    /// Notes why the adviser did not decide a goal.
    pub(super) fn give_up(&mut self, goal: GoalId, why: String) {
        self.coverage.note_attempt(goal, why);
    }

    /// Marks what a run covers and keeps it if it is worth it.
    pub(super) fn take_in(
        &mut self,
        input: &Input,
        provenance: Provenance,
        end: End,
        output: Output,
        trace: &Trace,
        judge: Judge<'_>,
    ) -> Kept {
        let id = TestId(self.n_ids + 1);
        let counts = self.crashes_cover || (end.is_orderly() && self.is_accepted(input, trace, judge));
        let covered = if counts { self.coverage.cover(id, &trace.observations) } else { Covered::default() };
        // what goals need in combination guides the search like a goal
        let n_new_goals = covered.goals.len() + covered.n_milestones;
        let changed = n_new_goals > 0 || covered.is_promising;
        let (own, of_others): (Vec<_>, Vec<_>) = covered.goals.into_iter().partition(|(_, by)| *by == id);
        for (goal, by) in of_others {
            self.credit(by, goal);
        }
        let covers: Vec<GoalId> = own.into_iter().map(|(goal, _)| goal).collect();
        // most runs show nothing new, and then it does not matter what else they cover
        let is_routine = !changed && self.disorderly.is_empty() && end.is_orderly();
        let is_existing = self.is_kept_anyway(provenance);
        if is_routine && !self.needs_any() && !is_existing {
            self.remember(input, provenance);
            return Kept::default();
        }
        let mut satisfies = self.coverage.satisfied(&trace.observations);
        satisfies.extend(&covers);
        satisfies.sort_unstable();
        satisfies.dedup();
        let test = Test {
            id,
            input: input.clone(),
            provenance,
            end,
            covers,
            satisfies,
            output,
            is_unchecked: false,
        };
        let slot = if end.is_orderly() {
            self.keep_orderly(test, covered.is_promising)
        } else {
            self.keep_finding(test, trace.end, covered.is_promising)
        };
        self.n_ids += u32::from(slot.is_some());
        if slot.is_none() && end.is_orderly() {
            self.remember(input, provenance);
        }
        Kept { slot, n_new_goals, changed }
    }

    /// Whether a run may cover what it covers. The judge is asked only when that is anything.
    fn is_accepted(&self, input: &Input, trace: &Trace, judge: Judge<'_>) -> bool {
        let satisfied = self.coverage.satisfied(&trace.observations);
        let is_new = satisfied.iter().any(|goal| self.coverage.is_open(*goal))
            || self.coverage.nears(&trace.observations);
        is_new && judge(input)
    }

    fn is_kept_anyway(&self, provenance: Provenance) -> bool {
        self.keeps_existing && provenance.imported().is_some()
    }

    /// A function without goals still deserves one test.
    fn needs_any(&self) -> bool {
        self.coverage.n_goals() == 0 && self.tests.is_empty()
    }

    fn remember(&mut self, input: &Input, provenance: Provenance) {
        if self.others.len() < MAX_OTHERS {
            self.others.push((input.clone(), provenance));
        }
    }

    /// Gives an earlier test a goal of which a later one showed the other half.
    fn credit(&mut self, by: TestId, goal: GoalId) {
        let findings = self.crashes.iter_mut().chain(&mut self.hangs).map(|finding| &mut finding.test);
        let test = self.tests.iter_mut().chain(findings).find(|test| test.id == by);
        let test = test.expect("a test that showed something promising was kept");
        test.covers.push(goal);
        test.satisfies.push(goal);
    }

    fn keep_orderly(&mut self, mut test: Test, is_promising: bool) -> Option<SuiteSlot> {
        let bettered: Vec<GoalId> =
            test.satisfies.iter().copied().filter(|goal| self.disorderly.remove(goal)).collect();
        test.covers.extend(bettered);
        test.covers.sort_unstable();
        let is_wanted = is_promising || self.needs_any() || self.is_kept_anyway(test.provenance);
        if test.covers.is_empty() && !is_wanted {
            return None;
        }
        test.covers.iter().for_each(|goal| self.coverage.rewitness(*goal, test.id));
        self.tests.push(test);
        Some(SuiteSlot::Test(self.tests.len() - 1))
    }

    fn keep_finding(&mut self, test: Test, walk_end: WalkEnd, is_promising: bool) -> Option<SuiteSlot> {
        let at = match walk_end {
            WalkEnd::Returned => None,
            WalkEnd::NoReturn(function, block) | WalkEnd::CutOff(function, block) => Some((function, block)),
        };
        self.disorderly.extend(&test.covers);
        let kind = test.end.without_address();
        let known = self.first.get(&(kind, at)).copied();
        let repeats = known.and_then(|slot| self.finding(slot)).map(|first| {
            first.n_runs += 1;
            first.test.id
        });
        let is_wanted = is_promising || self.is_kept_anyway(test.provenance);
        if repeats.is_some() && test.covers.is_empty() && !is_wanted {
            return None;
        }
        let hangs = test.end == End::TimedOut;
        let findings = if hangs { &mut self.hangs } else { &mut self.crashes };
        findings.push(Finding { test, at, n_runs: 1, repeats, sighting: None });
        let index = findings.len() - 1;
        let slot = if hangs { SuiteSlot::Hang(index) } else { SuiteSlot::Crash(index) };
        self.first.entry((kind, at)).or_insert(slot);
        Some(slot)
    }

    fn finding(&mut self, slot: SuiteSlot) -> Option<&mut Finding> {
        match slot {
            SuiteSlot::Test(_) => None,
            SuiteSlot::Crash(index) => self.crashes.get_mut(index),
            SuiteSlot::Hang(index) => self.hangs.get_mut(index),
        }
    }

    /// Leaves out what is not needed if so asked, and numbers anew.
    pub(super) fn finish(self, minimise: bool, result: &mut CampaignResult) {
        result.coverage = self.coverage;
        result.tests = if minimise { needed(self.tests, self.keeps_existing) } else { self.tests };
        result.others = self.others;
        result.crashes = self.crashes;
        result.hangs = self.hangs;
        result.renumber();
    }
}

/// The places of tests that together cover what all of them cover; if so asked with all that were there already.
pub fn necessary_tests(tests: &[Test], keeps_existing: bool) -> BTreeSet<usize> {
    let is_existing = |test: &Test| keeps_existing && test.provenance.imported().is_some();
    let existing: BTreeSet<usize> =
        tests.iter().enumerate().filter(|(_, test)| is_existing(test)).map(|(place, _)| place).collect();
    let covered: BTreeSet<GoalId> =
        existing.iter().flat_map(|place| tests[*place].satisfies.iter().copied()).collect();
    let left = |test: &Test| -> Vec<GoalId> {
        if is_existing(test) {
            return Vec::new();
        }
        test.satisfies.iter().copied().filter(|goal| !covered.contains(goal)).collect()
    };
    let left: Vec<Vec<GoalId>> = tests.iter().map(left).collect();
    let goals: Vec<&[GoalId]> = left.iter().map(Vec::as_slice).collect();
    existing.into_iter().chain(necessary(&goals)).collect()
}

/// The tests that together cover what all of them cover, in their order; one of a function without goals. Those that were there
/// already may all be kept.
pub(super) fn needed(tests: Vec<Test>, keeps_existing: bool) -> Vec<Test> {
    let mut needed = necessary_tests(&tests, keeps_existing);
    if needed.is_empty() && !tests.is_empty() {
        needed.insert(0);
    }
    (0..).zip(tests).filter(|(index, _)| needed.contains(index)).map(|(_, test)| test).collect()
}
