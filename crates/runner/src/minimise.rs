//! Minimises the suite of a campaign: no redundant test, simple inputs, in an order that reads well.
//!
//! Method: each test's input is simplified ([`engine::simplify`]) while its execution ends as before and covers every goal
//! that the test is kept for. Two more inputs compete with the simplest one because they may show more: one with small
//! distinct values instead of zeros, and the input as it was found with the same change. The choice is made when their
//! results are known: the simplest, unless another shows more; the one that was found only where the others show nothing. Then tests whose goals the others now cover are dropped, and
//! the rest is sorted, the shortest inputs first. Crashes keep their end and place; one that ends like another stays only
//! for what nothing else covers. Every variant is executed like an input of the search, so assumptions and preconditions
//! hold: an execution that violates them is rejected. Limits: [`N_TRIES`] executions per input and an allowance for the
//! whole suite, which counts work instead of time, so that a busy machine gives the same suite; inputs that hang are not
//! simplified, because each try would take the whole timeout.

use std::collections::BTreeSet;

use coverage::observe::Observations;
use coverage::{Coverage, GoalId};
use engine::campaign::{CampaignResult, Finding, StopReason, Test, necessary_tests};
use engine::executor::End;
use engine::simplify::{Limits, Of, Try, diversify, simplify};
use model::input::{Input, Key};
use model::walk::WalkEnd;
use model::{DecisionId, Program};

use crate::allowance::Allowance;
use crate::error::Error;
use crate::existing::ExistingTest;
use crate::interrupt::Interrupt;
use crate::likeness::Originals;
use crate::measure::{MeasureError, Measured, Measurer, Settings};
use crate::soundness::group_findings;
use crate::subject::Subject;
use crate::watcher::Watcher;
use report::words::counted;

/// Executions to simplify one input.
const N_TRIES: usize = 400;
/// Executions to give an input values that tell more.
const N_VARIED: usize = 100;
/// Executions to simplify an input that crashes, and how many of them are simplified.
const N_CRASH_TRIES: usize = 100;
const N_CRASHES: usize = 20;

/// Inputs that serve a test's purpose: the simplest, that with small distinct values, the one that was found. A program has the
/// simplest alone.
pub type Alternatives = Vec<Test>;

/// Simplifies tests and crashes of `result`, in place, or makes them like tests that were there already, if there are any; with many executions in one process if it `reuses` them; gives the alternatives of each test, that itself first.
pub fn simplify_suite(
    subject: &Subject,
    settings: Settings<'_>,
    (allowance, reuses): (Allowance<'_>, bool),
    existing: Option<&[ExistingTest]>,
    result: &mut CampaignResult,
    watcher: &mut dyn Watcher,
) -> Result<Vec<Alternatives>, Error> {
    if settings.interrupt.is_requested() || matches!(result.stop, StopReason::Failed(_)) {
        return Ok(result.tests.iter().map(|test| vec![test.clone()]).collect());
    }
    let mut measurer = Measurer::new(subject, settings)?.for_goals(&result.coverage);
    measurer.set_reuse(reuses);
    let originals = existing.map(|tests| (Originals::of(subject, tests), tests));
    let mut minimiser = Minimiser { subject, measurer, interrupt: settings.interrupt, allowance };
    let mut all = Vec::new();
    let n_tests = result.tests.len();
    for (index, test) in result.tests.iter_mut().enumerate() {
        watcher.step(&format!("simplifying {index} of {}", counted(n_tests, "test")));
        if test.provenance.imported().is_some() {
            // somebody wrote it, and wants to find it again
            all.push(vec![test.clone()]);
            continue;
        }
        match &originals {
            Some((originals, tests)) => {
                if let Some(place) = originals.nearest(&test.input) {
                    minimiser.restore(test, &tests[place].input, &result.coverage);
                }
                all.push(vec![test.clone()]);
            }
            None => all.push(minimiser.alternatives(test, &result.coverage)),
        }
    }
    // what only a sanitizer sees would be lost
    let visible = result.crashes.iter_mut().filter(|finding| !finding.test.end.is_orderly());
    for finding in visible.take(N_CRASHES) {
        minimiser.simplify(&mut finding.test, &result.coverage, N_CRASH_TRIES);
    }
    if minimiser.allowance.is_overdue() {
        watcher.warn(
            "simplifying took far longer than expected and was stopped: the same seed may give other inputs",
        );
    }
    Ok(all)
}

/// Drops what became redundant, sorts and numbers anew; gives for each test its place before.
/// Tests that were there already, if these are augmented, all stay, each before the new ones that are like it.
pub fn arrange(
    subject: &Subject,
    existing: Option<&[ExistingTest]>,
    result: &mut CampaignResult,
) -> Vec<usize> {
    let mut tests: Vec<(usize, Test)> = std::mem::take(&mut result.tests).into_iter().enumerate().collect();
    let originals = existing.map(|existing| Originals::of(subject, existing));
    tests.sort_by_cached_key(|(_, test)| {
        let text = subject.to_json(&test.input).to_string();
        let own = test.provenance.imported().map(|number| number as usize);
        let beside = originals.as_ref().map_or(0, |originals| {
            own.unwrap_or_else(|| originals.nearest(&test.input).map_or(usize::MAX, |place| place + 1))
        });
        (beside, originals.is_some() && own.is_none(), text.len(), text)
    });
    let (places, in_order): (Vec<usize>, Vec<Test>) = tests.into_iter().unzip();
    let needed = necessary_tests(&in_order, existing.is_some());
    let mut tests: Vec<(usize, Test)> = places.into_iter().zip(in_order).collect();
    if !needed.is_empty() {
        let mut index = 0..;
        tests.retain(|_| index.next().is_some_and(|index| needed.contains(&index)));
    }
    let (places, tests) = tests.into_iter().unzip();
    result.tests = tests;
    result.renumber();
    group_findings(result);
    // crashes and hangs that were kept for what they cover, which others cover now
    let is_needed = |finding: &Finding| finding.repeats.is_none() || !finding.test.covers.is_empty();
    result.crashes.retain(is_needed);
    result.hangs.retain(is_needed);
    result.renumber();
    places
}

struct Minimiser<'a> {
    subject: &'a Subject,
    measurer: Measurer<'a>,
    interrupt: &'a Interrupt,
    allowance: Allowance<'a>,
}

impl Minimiser<'_> {
    /// Simplifies a test; gives it and, where they differ, others that tell more.
    fn alternatives(&mut self, test: &mut Test, coverage: &Coverage) -> Alternatives {
        let found = test.clone();
        self.simplify(test, coverage, N_TRIES);
        if let Of::Program(..) = self.subject.simplified() {
            return vec![test.clone()];
        }
        let varied = self.vary(test, coverage).unwrap_or_else(|| test.clone());
        let mut all = vec![test.clone(), varied];
        let found = self.vary(&found, coverage);
        all.extend(found.filter(|found| all.iter().all(|known| known.input != found.input)));
        all
    }

    /// Simplifies one test; leaves one alone that does not repeat what the search saw.
    fn simplify(&mut self, test: &mut Test, coverage: &Coverage, n_tries: usize) {
        self.change(test, coverage, |this, purpose, input, best| {
            // as its file will say it, without what no object of it asks for
            let rewritten = this.subject.read_json(&this.subject.to_json(input)).ok();
            let mut first = input.clone();
            for input in rewritten.into_iter().chain([input.clone()]) {
                let Ok(measured) = this.measurer.measure(&input) else { continue };
                if purpose.is_served(coverage, &measured) {
                    (first, *best) = (measured.used.clone(), measured);
                    break;
                }
            }
            let of = this.subject.simplified();
            let interrupt = this.interrupt;
            let limits = Limits { n_tries, is_over: &|| interrupt.is_requested() };
            simplify(of, &first, limits, &mut |input| this.attempt(purpose, coverage, input, best))
        });
    }

    /// Gives a test everything of another one that its purpose allows: what is left is the difference.
    fn restore(&mut self, test: &mut Test, original: &Input, coverage: &Coverage) {
        self.change(test, coverage, |this, purpose, input, best| {
            let mut current = input.clone();
            let mut left = differing(&current, original);
            let (mut n, mut n_tries) = (left.len().div_ceil(2), 0);
            while n > 0 && n_tries < N_TRIES {
                let mut at = 0;
                while at < left.len() && n_tries < N_TRIES {
                    let end = (at + n).min(left.len());
                    let mut restored = current.clone();
                    for key in &left[at..end] {
                        match original.values.get(key) {
                            Some(value) => restored.values.insert(*key, *value),
                            None => restored.values.remove(key),
                        };
                    }
                    n_tries += 1;
                    match this.attempt(purpose, coverage, &restored, best) {
                        Try::Holds(used) => {
                            current = used;
                            left.drain(at..end);
                        }
                        Try::Fails => at = end,
                        Try::Stop => return current,
                    }
                }
                n = if n > 1 { n.div_ceil(2) } else { 0 };
            }
            current
        });
    }

    /// The test with values of their own where they do not matter to its purpose.
    fn vary(&mut self, test: &Test, coverage: &Coverage) -> Option<Test> {
        let mut other = test.clone();
        let is_changed = self.change(&mut other, coverage, |this, purpose, input, best| {
            let of = this.subject.simplified();
            let interrupt = this.interrupt;
            let limits = Limits { n_tries: N_VARIED, is_over: &|| interrupt.is_requested() };
            diversify(of, input, limits, &mut |input| this.attempt(purpose, coverage, input, best))
        });
        is_changed.then_some(other)
    }

    /// Gives a test another input that serves its purpose, and what it does; false when it does not repeat itself. Executions
    /// share a process; the last one is repeated in its own, and all are if that goes differently.
    fn change(
        &mut self,
        test: &mut Test,
        coverage: &Coverage,
        by: impl Fn(&mut Self, &Purpose, &Input, &mut Measured) -> Input,
    ) -> bool {
        loop {
            let Some((purpose, mut best)) = self.purpose(test, coverage) else { return false };
            let input = by(self, &purpose, &test.input, &mut best);
            match self.measurer.confirm(&input) {
                None => {}
                Some(Ok(confirmed)) if purpose.is_served(coverage, &confirmed) => best = confirmed,
                Some(Err(MeasureError::Interrupted)) => return false,
                Some(Ok(_) | Err(_)) => {
                    self.measurer.set_reuse(false);
                    continue;
                }
            }
            test.input = input;
            take_over(test, coverage, best);
            return true;
        }
    }

    /// What a test is for, and what it does now; nothing when the allowance is spent or it does not repeat itself.
    fn purpose(&mut self, test: &Test, coverage: &Coverage) -> Option<(Purpose, Measured)> {
        if self.must_stop() {
            return None;
        }
        let first = self.measurer.measure(&test.input).ok()?;
        let purpose = Purpose::new(self.subject.program(), coverage, test, &first);
        purpose.is_served(coverage, &first).then_some((purpose, first))
    }

    fn must_stop(&mut self) -> bool {
        self.interrupt.is_requested() || self.allowance.is_spent(self.measurer.effort())
    }

    fn attempt(&mut self, purpose: &Purpose, coverage: &Coverage, input: &Input, best: &mut Measured) -> Try {
        if self.must_stop() {
            return Try::Stop;
        }
        match self.measurer.measure(input) {
            Ok(measured) if purpose.is_served(coverage, &measured) => {
                *best = measured;
                Try::Holds(best.used.clone())
            }
            Ok(_) | Err(_) => Try::Fails,
        }
    }
}

/// The cells in which two inputs differ.
fn differing(one: &Input, other: &Input) -> Vec<Key> {
    let keys: BTreeSet<Key> = one.values.keys().chain(other.values.keys()).copied().collect();
    keys.into_iter().filter(|key| one.values.get(key) != other.values.get(key)).collect()
}

/// Makes a test what its new input does.
fn take_over(test: &mut Test, coverage: &Coverage, measured: Measured) {
    test.end = measured.end;
    let paired = |goal: &&GoalId| coverage.goal(**goal).demand.half_of_pair().is_some();
    let mut satisfies: BTreeSet<GoalId> = test.covers.iter().filter(paired).copied().collect();
    satisfies.extend(coverage.satisfied(&measured.observations));
    test.satisfies = satisfies.into_iter().filter(|goal| !coverage.is_open(*goal)).collect();
    test.output = measured.output;
}

/// What a test is kept for.
struct Purpose {
    end: End,
    at: Option<WalkEnd>,
    goals: Vec<GoalId>,
    /// Decisions of which two tests show something together, with what this one shows.
    shown: Vec<(DecisionId, Observations)>,
}

impl Purpose {
    fn new(program: &Program, coverage: &Coverage, test: &Test, measured: &Measured) -> Self {
        let decision = |goal: &GoalId| {
            let (condition, _) = coverage.goal(*goal).demand.half_of_pair()?;
            Some(program.condition(condition).decision)
        };
        let decisions: BTreeSet<DecisionId> = test.covers.iter().filter_map(decision).collect();
        Self {
            end: test.end.without_address(),
            at: (!test.end.is_orderly()).then_some(measured.walk_end),
            goals: test.covers.iter().copied().filter(|goal| decision(goal).is_none()).collect(),
            shown: decisions.into_iter().map(|decision| (decision, measured.observations.clone())).collect(),
        }
    }

    fn is_served(&self, coverage: &Coverage, measured: &Measured) -> bool {
        let covers = |goal: &GoalId| measured.observations.satisfy(coverage.goal(*goal).demand);
        let shows = |(decision, before): &(DecisionId, Observations)| {
            let now: BTreeSet<_> = measured.observations.vectors(*decision).collect();
            before.vectors(*decision).all(|vector| now.contains(&vector))
        };
        measured.end.without_address() == self.end
            && self.at.is_none_or(|at| at == measured.walk_end)
            && self.goals.iter().all(covers)
            && self.shown.iter().all(shows)
    }
}
