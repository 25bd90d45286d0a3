//! What follows the search: which of its inputs make a suite worth keeping, and what is said of it.
//!
//! Method: tests are checked with sanitizers until all were; then the suite is minimised, its inputs are simplified, expected
//! results are recorded, and findings are run natively. Each step has its part of the time that is kept for what comes last
//! ([`crate::finishing`]), and what is cut short is said. Limit: tests that could not be checked in time are kept apart.

use std::collections::BTreeMap;
use std::time::Duration;

use coverage::TestId;
use engine::campaign::{CampaignResult, Finding, Provenance, StopReason, Test};
use model::input::Input;
use report::confirmation::Confirmation;
use report::record::Expected;
use report::timeline::Timeline;
use report::words::counted;

use super::Work;
use crate::allowance::Allowance;
use crate::confirm::confirm_run;
use crate::error::Error;
use crate::expected;
use crate::finishing::{Step, Stopwatch};
use crate::interrupt::Interrupt;
use crate::measure::{Measurer, Settings};
use crate::minimise::{arrange, simplify_suite};
use crate::reports;
use crate::sanitized::Sanitized;
use crate::soundness::{self, Checker, Pending, Probing};
use crate::watcher::Watcher;

/// Bounds of the quarter of the budget whose work minimising may do, on top of it.
const SHORTEST_MINIMISING: Duration = Duration::from_secs(2);
const LONGEST_MINIMISING: Duration = Duration::from_secs(60);

/// Inputs that are tried for errors after the search, at most, and the time of the budget that there must be for each.
const MOST_PROBES: usize = 512;
const MILLISECONDS_PER_PROBE: usize = 15;

impl Work<'_> {
    /// Makes the suite easy to keep: tests that nothing is wrong with, findings that a native run shows. Gives what must come of each
    /// test, as far as a native build says.
    pub(super) fn tidy_up(
        &self,
        result: &mut CampaignResult,
        sanitized: Option<Pending>,
        watcher: &mut dyn Watcher,
        stopwatch: &mut Stopwatch<'_>,
    ) -> Result<BTreeMap<TestId, Expected>, Error> {
        let no_minimise = self.order.spec.search.no_minimise;
        let sanitized = sanitized.and_then(|pending| self.sanitized(pending, result, watcher));
        let (mode, work) = (self.mode, self.output.work().join("minimise"));
        let settings = Settings { mode, work: &work, limit: self.limit(), interrupt: self.interrupt };
        if !self.order.spec.search.no_sanitize {
            self.vet(result, sanitized.as_ref(), settings, watcher)?;
        }
        stopwatch.note("check");
        self.search_cleanly(result, sanitized.as_ref(), settings, watcher)?;
        stopwatch.note("search for clean inputs");
        let mut finer = Vec::new();
        if self.strengthens() {
            finer =
                self.finer_inputs(result, sanitized.as_ref(), settings, watcher).unwrap_or_else(|error| {
                    watcher.warn(&format!("boundaries are not searched: {}", error.message()));
                    Vec::new()
                });
            stopwatch.note("search for boundaries");
        }
        if !no_minimise {
            result.keep_needed(self.order.spec.augment.is_some());
        }
        let found: Vec<Test> = result.tests.clone();
        let as_found: Vec<(Input, Provenance)> =
            found.iter().map(|test| (test.input.clone(), test.provenance)).chain(finer).collect();
        let findings: Vec<Finding> = result.crashes.clone();
        let mut alternatives: Vec<Vec<Test>> = if no_minimise {
            found.iter().map(|test| vec![test.clone()]).collect()
        } else {
            let cut = self.cut(Step::Simplify);
            let settings = Settings { interrupt: cut.interrupt(), ..settings };
            let time = (self.order.spec.budget.time() / 4).clamp(SHORTEST_MINIMISING, LONGEST_MINIMISING);
            let allowance = Allowance::new(time, self.clock);
            let simplifying = (allowance, self.reuses_processes());
            // what is made from tests stays like them
            let originals = self.order.spec.augment.as_ref().map(|_| self.existing);
            let simplified = simplify_suite(self.subject, settings, simplifying, originals, result, watcher)?;
            if cut.was_late() {
                watcher.remark("the budget ended before all inputs were simplified");
            }
            simplified
        };
        stopwatch.note("simplify");
        if let Some(sanitized) = sanitized.as_ref().filter(|_| !no_minimise) {
            // what was found is known to be right
            for (alternatives, found) in alternatives.iter_mut().zip(found) {
                alternatives.push(found);
            }
            let cut = self.cut(Step::CheckAgain);
            let checker = self.checker(sanitized, cut.interrupt());
            let settings = Settings { interrupt: cut.interrupt(), ..settings };
            let mut measurer = Measurer::new(self.subject, settings)?.for_goals(&result.coverage);
            soundness::settle_alternatives(&checker, self.subject, &mut measurer, result, &mut alternatives)
                .unwrap_or_else(|error| self.not_checked(&error, watcher));
            soundness::show_again(&checker, &findings, result)
                .unwrap_or_else(|error| self.not_checked(&error, watcher));
        }
        stopwatch.note("check again");
        watcher.step("recording expected results");
        let inputs: Vec<Input> = alternatives.iter().flatten().map(|test| test.input.clone()).collect();
        let work = self.output.work().join("expected");
        let cut = self.cut(Step::Expect { confirms: self.order.confirm });
        let recorded = expected::record(self.subject, &inputs, &work, self.limit(), cut.interrupt());
        // the suite is worth having without
        let mut recorded = match (recorded, cut.was_late()) {
            (Ok(recorded), false) => recorded,
            (recorded, true) => {
                watcher.remark("the budget ended before all expected results were recorded");
                recorded.unwrap_or_default()
            }
            (Err(_), false) if self.interrupt.is_requested() => BTreeMap::new(),
            (Err(error), false) => {
                watcher.warn(&format!("cannot record expected results: {}", error.message()));
                BTreeMap::new()
            }
        };
        stopwatch.note("expect");
        let mut chosen = Vec::new();
        let mut first = 0;
        for (test, alternatives) in result.tests.iter_mut().zip(alternatives) {
            let n = alternatives.len();
            let best = expected::most_telling(&recorded, first..first + n);
            *test = alternatives.into_iter().nth(best - first).expect("one of the alternatives");
            chosen.push(recorded.remove(&best));
            first += n;
        }
        let kept = if self.order.spec.search.no_sanitize {
            (0..chosen.len()).collect()
        } else {
            soundness::suspect_differing(self.subject, &chosen, result)
        };
        let places = if no_minimise {
            result.renumber();
            soundness::group_findings(result);
            kept
        } else {
            let originals = self.order.spec.augment.as_ref().map(|_| self.existing);
            let places = arrange(self.subject, originals, result);
            places.into_iter().map(|place| kept[place]).collect()
        };
        self.tell_of_unchecked(result, watcher);
        let of_place = |(test, place): (&Test, usize)| Some((test.id, chosen.get_mut(place)?.take()?));
        let mut expected = result.tests.iter().zip(places).filter_map(of_place).collect();
        if self.strengthens() {
            self.strengthen(result, &mut expected, as_found, sanitized.as_ref(), watcher)
                .unwrap_or_else(|error| watcher.warn(&format!("no tests were added: {}", error.message())));
            stopwatch.note("strengthen");
        }
        Ok(expected)
    }

    /// Says which tests nobody can rely on yet.
    fn tell_of_unchecked(&self, result: &CampaignResult, watcher: &mut dyn Watcher) {
        let n = result.n_unchecked();
        if n > 0 {
            let tests = counted(n, "test");
            watcher.remark(&format!(
                "{tests} could not be checked with sanitizers in time, and {} left out of replay.c and of exports: \
                 run the same command with a larger --budget",
                if n == 1 { "is" } else { "are" }
            ));
        }
    }

    /// How many inputs beyond those of the search are tried: what fits into a small part of the budget, fewer when that is spent.
    fn probing(&self, result: &CampaignResult) -> Probing {
        let milliseconds = usize::try_from(self.order.spec.budget.time().as_millis()).unwrap_or(usize::MAX);
        let n = (milliseconds / MILLISECONDS_PER_PROBE).min(MOST_PROBES);
        let is_spent = matches!(result.stop, StopReason::Budget(_) | StopReason::Interrupted);
        Probing { n: if is_spent { n / 4 } else { n }, seed: self.order.spec.search.seed }
    }

    /// Asks native runs what can be kept as a test, and which findings are true.
    fn vet(
        &self,
        result: &mut CampaignResult,
        sanitized: Option<&Sanitized>,
        settings: Settings<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        if sanitized.is_none() && soundness::unconfirmed(result).is_empty() {
            return Ok(());
        }
        let vouching = self.cut(Step::Vouch);
        let Some(sanitized) = sanitized else {
            self.confirm_natively(result, vouching.interrupt(), watcher);
            return Ok(());
        };
        watcher.step("checking");
        let measurer = |interrupt| Measurer::new(self.subject, Settings { interrupt, ..settings });
        let checker = self.checker(sanitized, vouching.interrupt());
        let mut tests = measurer(vouching.interrupt())?.for_goals(&result.coverage);
        soundness::vet(&checker, self.subject, &mut tests, result)
            .unwrap_or_else(|error| self.not_checked(&error, watcher));
        self.confirm_natively(result, vouching.interrupt(), watcher);
        let cut = self.cut(Step::Check);
        let mut others = measurer(cut.interrupt())?.for_goals(&result.coverage);
        let (checker, probing) = (checker.until(cut.interrupt()), self.probing(result));
        soundness::look_for_errors(&checker, self.subject, &mut others, probing, result)
            .unwrap_or_else(|error| self.not_checked(&error, watcher));
        if cut.was_late() {
            watcher.remark(
                "the part of the budget that is kept for checks ended before all inputs were tried with sanitizers",
            );
        }
        Ok(())
    }

    /// Of the findings that no sanitizer was asked about keeps those that a plain native build shows.
    fn confirm_natively(
        &self,
        result: &mut CampaignResult,
        interrupt: &Interrupt,
        watcher: &mut dyn Watcher,
    ) {
        let inputs = soundness::unconfirmed(result);
        if inputs.is_empty() {
            return;
        }
        let work = self.output.work().join("findings");
        let ends = match expected::record(self.subject, &inputs, &work, self.limit(), interrupt) {
            Ok(ends) => ends,
            Err(_) if interrupt.is_requested() => BTreeMap::new(),
            Err(error) => {
                watcher.warn(&format!("findings are not confirmed: {}", error.message()));
                BTreeMap::new()
            }
        };
        soundness::keep_shown(&ends, result);
    }

    /// The build with sanitizers, when it is there in time.
    fn sanitized(
        &self,
        pending: Pending,
        result: &mut CampaignResult,
        watcher: &mut dyn Watcher,
    ) -> Option<Sanitized> {
        watcher.step("building with sanitizers");
        let cut = self.cut(Step::Await);
        let built = pending.wait(cut.interrupt());
        match built {
            Some(Err(error)) if !cut.interrupt().is_requested() => {
                self.not_checked::<()>(&error, watcher);
                None
            }
            Some(Ok(sanitized)) => Some(sanitized),
            // without the time for it
            Some(Err(_)) | None => {
                result.tests.iter_mut().for_each(|test| test.is_unchecked = true);
                None
            }
        }
    }

    pub(super) fn checker<'a>(&'a self, sanitized: &'a Sanitized, interrupt: &'a Interrupt) -> Checker<'a> {
        let work = self.output.work().join("checked");
        Checker::new(self.subject, sanitized, work, self.limit(), interrupt)
    }

    fn not_checked<T: Default>(&self, error: &Error, watcher: &mut dyn Watcher) -> T {
        watcher.warn(&format!("tests are not checked with sanitizers: {}", error.message()));
        T::default()
    }

    /// Asks other tools about the suite as it was written.
    pub(super) fn confirm(&self, watcher: &mut dyn Watcher) -> Option<Confirmation> {
        watcher.step("confirming");
        let cut = self.cut(Step::Confirm);
        let confirmed = confirm_run(self.output, self.subject, self.limit(), cut.interrupt());
        watcher.clear();
        if cut.was_late() {
            watcher.remark("the budget ended before the results were confirmed (quarry confirm does it)");
            return None;
        }
        // the suite is worth having without
        confirmed
            .map_err(|error| watcher.warn(&format!("cannot confirm the results: {}", error.message())))
            .ok()
    }

    /// Measures the suite as it was written, and reports; also after the user wanted to stop.
    pub(super) fn report(&self, timeline: &Timeline) -> Result<(), Error> {
        let (mode, work) = (self.mode, self.output.work());
        let cut = self.cut(Step::Report);
        let settings = Settings { mode, work: &work, limit: self.limit(), interrupt: cut.interrupt() };
        reports::measure(self.output, self.subject, settings, timeline)
    }
}
