//! Adding tests that notice more than goals ask for.

use std::collections::BTreeMap;
use std::time::Duration;

use coverage::{BOUNDARY, Coverage, TestId};
use engine::campaign::{
    self, Budget, CampaignOptions, CampaignResult, GivenInput, GivenPlace, Provenance, Setup, Test,
};
use model::input::Input;
use report::record::Expected;
use report::words::counted;
use tracing::debug;

use super::{Error, Since, Step, Watcher, Work, given_input};
use crate::expected;
use crate::measure::{Measurer, Settings};
use crate::sanitized::Sanitized;
use crate::scope::narrow;
use crate::solvers::SolverChoice;
use crate::soundness::{self, Verdict};
use crate::strengthen::{Added, Means, strengthen, thin_out};

/// What a search is for whose inputs are tried.
const FINER: [&str; 2] = ["mcdc", BOUNDARY];
/// The longest such search, the fewest executions where these are counted, and the tests that it begins with at most.
const MOST_TIME: Duration = Duration::from_secs(15);
const FEWEST_EXECUTIONS: u64 = 50;
const MOST_GIVEN: usize = 64;
/// Inputs of a search that it did not keep and that are tried.
const MOST_OTHERS: usize = 128;
/// Instructions for which builds with mutants and for boundaries together are sure to take no more than a second.
const INSTRUCTIONS_PER_SECOND: u64 = 10_000;
/// Runs per second of the budget, and bounds of them.
const RUNS_PER_SECOND: f64 = 50.0;
const FEWEST_RUNS: usize = 300;
const MOST_RUNS: usize = 4000;

impl Work<'_> {
    /// Whether tests are added: where somebody asks for it, and else to whole programs, if there is time.
    pub(super) fn strengthens(&self) -> bool {
        let is_asked = self.order.spec.strengthens() && self.order.searches && !self.interrupt.is_requested();
        let n_instructions: usize =
            self.subject.program().functions.iter().map(|function| function.instrs.len()).sum();
        let building = Duration::from_millis(n_instructions as u64 * 1000 / INSTRUCTIONS_PER_SECOND);
        let left = self.times.left(Step::Strengthen, self.clock.elapsed());
        is_asked && left.is_none_or(|left| building < left / 2)
    }

    /// Inputs that show each condition to matter and meet the boundaries of comparisons: a search of its own, for as long as the time of all
    /// that follows allows. What they cover beyond the tests is taken into the suite at once.
    pub(super) fn finer_inputs(
        &self,
        result: &mut CampaignResult,
        sanitized: Option<&Sanitized>,
        settings: Settings<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<(Input, Provenance)>, Error> {
        watcher.step("searching for boundaries");
        let mut spec = self.order.spec.clone();
        spec.criteria.criterion = FINER.map(str::to_owned).to_vec();
        let subject = self.subject.noting_boundaries(&spec, self.mode)?;
        let program = subject.program();
        let criteria = spec.criteria.criteria()?;
        let scope = narrow(program, subject.scope()?, &criteria, &spec.criteria.only, subject.root())?;
        let left = self.times.left(Step::Strengthen, self.clock.elapsed());
        let budget = Budget {
            time: Some(left.map_or(MOST_TIME, |left| (left / 2).min(MOST_TIME))),
            executions: spec.budget.max_executions.map(|most| (most / 2).max(FEWEST_EXECUTIONS)),
        };
        let known = result.tests.iter().take(MOST_GIVEN);
        let given = |test: &Test| given_input(test.input.clone(), test.provenance, GivenPlace::BeforeBudget);
        let given: Vec<GivenInput> = known.map(given).collect();
        let options = CampaignOptions { given, crashes_cover: false, ..self.options(budget) };
        let solver = SolverChoice::parse(&spec.search.solver)?;
        let setup = Setup {
            memory: None,
            program,
            coverage: Coverage::new(program, &scope, &criteria),
            strategy: spec.search.strategy()?,
            executors: self.executors_of(&subject, self.mode, "finer")?,
            solver: &|| solver.make(self.interrupt.flag().into()),
            clock: &Since::now(self.clock),
            interrupt: self.interrupt.flag(),
            adviser: None,
        };
        let found = campaign::run(setup, &options, &mut ());
        result.executions += found.executions;
        let n_covered = found.coverage.n_covered();
        debug!(
            n_covered,
            n_goals = found.coverage.n_goals(),
            n_tests = found.tests.len(),
            "searched boundaries"
        );
        let tests = found.tests.into_iter().map(|test| (test.input, test.provenance));
        let mut others = found.others;
        thin_out(&mut others, MOST_OTHERS);
        let found: Vec<_> = tests.chain(others).collect();
        let checker = sanitized.map(|sanitized| self.checker(sanitized, self.interrupt));
        let mut measurer = Measurer::new(self.subject, settings)?.for_goals(&result.coverage);
        soundness::adopt_clean(checker.as_ref(), self.subject, &mut measurer, &found, result)?;
        Ok(found)
    }

    /// Adds tests to the suite, and what must come of them.
    pub(super) fn strengthen(
        &self,
        result: &mut CampaignResult,
        expected: &mut BTreeMap<TestId, Expected>,
        as_found: Vec<(Input, Provenance)>,
        sanitized: Option<&Sanitized>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        watcher.step("looking for what the suite does not notice");
        let cut = self.cut(Step::Strengthen);
        let spec = &self.order.spec;
        let scope = narrow(
            self.subject.program(),
            self.subject.scope()?,
            &spec.criteria.criteria()?,
            &spec.criteria.only,
            self.subject.root(),
        )?;
        let known = |test: &Test| Some((test.input.clone(), expected.get(&test.id)?.clone()));
        let tests: Vec<(Input, Expected)> = result.tests.iter().filter_map(known).collect();
        let mut others = std::mem::take(&mut result.others);
        thin_out(&mut others, MOST_OTHERS);
        let candidates = as_found.into_iter().chain(others).collect();
        let work = self.output.work().join("strengthen");
        let n_runs = (spec.budget.time().as_secs_f64() * RUNS_PER_SECOND) as usize;
        let means = Means {
            n_runs: n_runs.clamp(FEWEST_RUNS, MOST_RUNS),
            seed: spec.search.seed,
            work: &work,
            interrupt: cut.interrupt(),
        };
        let added = strengthen(self.subject, &scope, tests, candidates, means);
        // what was found in time is worth having
        let added = match added {
            Err(_) if cut.interrupt().is_requested() => return Ok(()),
            added => self.sound(added?, sanitized),
        };
        let inputs: Vec<Input> = added.iter().map(|added| added.input.clone()).collect();
        let mut recorded = expected::record(self.subject, &inputs, &work, self.limit(), self.interrupt)?;
        let settings =
            Settings { mode: self.mode, work: &work, limit: self.limit(), interrupt: self.interrupt };
        let mut measurer = Measurer::new(self.subject, settings)?.for_goals(&result.coverage);
        let mut n_added = 0;
        for (number, added) in added.into_iter().enumerate() {
            let (Some(recorded), Ok(measured)) = (recorded.remove(&number), measurer.measure(&added.input))
            else {
                continue;
            };
            if !measured.end.is_orderly() || recorded.end.is_empty() {
                continue;
            }
            let coverage = &result.coverage;
            let covered = coverage.satisfied(&measured.observations);
            let satisfies = covered.into_iter().filter(|goal| !coverage.is_open(*goal)).collect();
            let id = TestId(u32::MAX);
            result.tests.push(Test {
                id,
                input: added.input,
                provenance: added.provenance,
                end: measured.end,
                covers: Vec::new(),
                satisfies,
                output: measured.output,
                is_unchecked: false,
            });
            result.renumber();
            let id = result.tests.last().map_or(id, |test| test.id);
            expected.insert(id, recorded);
            n_added += 1;
        }
        if n_added > 0 {
            let tests = counted(n_added, "test");
            watcher.remark(&format!(
                "{tests} notice what those for the goals do not (--no-strengthen leaves them out)"
            ));
        }
        Ok(())
    }

    /// Those of which sanitizers report nothing.
    fn sound(&self, added: Vec<Added>, sanitized: Option<&Sanitized>) -> Vec<Added> {
        let Some(sanitized) = sanitized else { return added };
        let checker = self.checker(sanitized, self.interrupt);
        let inputs: Vec<&Input> = added.iter().map(|added| &added.input).collect();
        let Ok(verdicts) = checker.check(&inputs) else { return Vec::new() };
        let is_clean = |verdict: &Verdict| matches!(verdict, Verdict::Clean { .. });
        added
            .into_iter()
            .zip(verdicts)
            .filter(|(_, verdict)| is_clean(verdict))
            .map(|(added, _)| added)
            .collect()
    }
}
