//! Which inputs cover without a crash what only crashes cover so far?
//!
//! Method: a second search, when the first is over and its inputs were checked, for these goals alone. In it a run that crashes,
//! hangs or goes out of bounds covers nothing, so that its goals stay targets, and neither does one with which sanitizers find an error; it begins with what the first one found. It has
//! what is left of the budget. The first search is not changed by this: there such goals count as covered, because what lies
//! behind them must not wait. Limit: a first search that uses its whole budget leaves nothing for the second.

use engine::campaign::{
    self, Budget, CampaignOptions, CampaignResult, GivenInput, GivenPlace, Provenance, Setup, Test,
};
use model::input::Input;

use super::{Since, Work, given_input};
use crate::error::Error;
use crate::measure::{Measurer, Settings};
use crate::sanitized::Sanitized;
use crate::solvers::SolverChoice;
use crate::soundness::{self, Checker};
use crate::watcher::Watcher;

/// Inputs of the first search that the second begins with, at most.
const MOST_GIVEN: usize = 64;

impl Work<'_> {
    /// Searches once more, for goals that only crashes cover.
    pub(super) fn search_cleanly(
        &self,
        result: &mut CampaignResult,
        sanitized: Option<&Sanitized>,
        settings: Settings<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        let Some(budget) = self.left_for_clean(result) else { return Ok(()) };
        watcher.step("searching for inputs without errors");
        let checker = sanitized.map(|sanitized| self.checker(sanitized, self.interrupt));
        let found = self.clean_inputs(result, budget, checker.as_ref())?;
        let mut measurer = Measurer::new(self.subject, settings)?.for_goals(&result.coverage);
        soundness::adopt_clean(checker.as_ref(), self.subject, &mut measurer, &found, result)?;
        watcher.clear();
        self.times.search_ended(self.clock.elapsed());
        Ok(())
    }

    /// What the first search has left, if there is anything to do.
    fn left_for_clean(&self, result: &CampaignResult) -> Option<Budget> {
        if result.coverage.n_only_by_crash() == 0 || self.interrupt.is_requested() || !self.order.searches {
            return None;
        }
        let time = self.times.search.saturating_sub(self.clock.elapsed());
        let executions =
            self.order.spec.budget.max_executions.map(|most| most.saturating_sub(result.executions));
        let is_spent = executions.map_or(time.is_zero(), |left| left == 0);
        (!is_spent).then_some(Budget { time: Some(time), executions })
    }

    /// Inputs that cover such goals and end in order.
    fn clean_inputs(
        &self,
        result: &mut CampaignResult,
        budget: Budget,
        checker: Option<&Checker<'_>>,
    ) -> Result<Vec<(Input, Provenance)>, Error> {
        let search = &self.order.spec.search;
        let program = self.subject.program();
        let coverage = result.coverage.with(program, |goal, _| result.coverage.is_only_by_crash(goal));
        let findings = result.crashes.iter().chain(&result.hangs).map(|finding| &finding.test);
        let known = result.tests.iter().chain(findings).take(MOST_GIVEN);
        let given = |test: &Test| given_input(test.input.clone(), test.provenance, GivenPlace::BeforeBudget);
        let given: Vec<GivenInput> = known.map(given).collect();
        // a path that leaves a crashing one behind all of these goals may be the one that covers them
        let options = CampaignOptions { given, crashes_cover: false, filter: false, ..self.options(budget) };
        let solver = SolverChoice::parse(&search.solver)?;
        let setup = Setup {
            memory: None,
            program,
            coverage,
            strategy: search.strategy()?,
            executors: self.executors()?,
            solver: &|| solver.make(self.interrupt.flag().into()),
            clock: &Since::now(self.clock),
            interrupt: self.interrupt.flag(),
            adviser: None,
        };
        let judge = |input: &Input| checker.is_none_or(|checker| checker.accepts(input));
        let found = campaign::run_judged(setup, &options, &mut (), &judge);
        result.executions += found.executions;
        Ok(found.tests.into_iter().map(|test| (test.input, test.provenance)).collect())
    }
}
