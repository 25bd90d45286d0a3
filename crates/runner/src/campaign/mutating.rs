//! `--criterion mutation`: each mutant of the code under test is a goal, covered when a test's results tell it from the original.
//!
//! Method: a mutant is a version. First the suite of the campaign runs natively on all mutants ([`crate::mutants`]). For each one that it does not
//! notice, a search in a program with both the original and all mutants ([`crate::versions::product`]) looks for inputs on which the two differ; the
//! mutant is chosen from outside, so no input depends on it. What is found runs natively, and is kept as a test when its expected results kill a
//! mutant. Mutants that compile to the same code are equivalent; every other one that is left is undecided. Limits: of whole programs the suite alone
//! is measured; the search has mutants of the function's own unit.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use coverage::{Coverage, Demand, TestId};
use engine::campaign::{
    self, Budget, CampaignOptions, CampaignResult, Enums, GivenInput, GivenPlace, Provenance, Setup, Test,
};
use engine::executor::End;
use frontend::instrument::Mode;
use model::input::Input;
use report::mutation::{MutantState, Mutation};
use report::record::Expected;

use super::differing::is_verdict;
use super::{Since, Work, given_input};
use crate::error::Error;
use crate::expected;
use crate::mutants::MutantProgram;
use crate::mutate::{Kept, MutateOrder, measure};
use crate::scope::narrow;
use crate::solvers::SolverChoice;
use crate::subject::{Need, Subject};
use crate::versions::product::{self, Product};
use crate::watcher::Watcher;

/// Inputs that a search for one mutant begins with, at most.
const MOST_GIVEN: usize = 24;

/// Time for one mutant, at most.
const LONGEST: Duration = Duration::from_secs(20);

/// Executions for one mutant where executions are counted.
const MOST_EXECUTIONS: u64 = 300;

/// Which mutants some tests notice; built in a directory of this name.
type Measure<'a> = dyn Fn(&[Kept], &str) -> Result<Mutation, Error> + 'a;

impl Work<'_> {
    /// Measures the suite by mutants, and adds tests that kill more of them.
    pub(super) fn kill_mutants(
        &self,
        result: &mut CampaignResult,
        expected: &mut BTreeMap<TestId, Expected>,
        watcher: &mut dyn Watcher,
    ) -> Result<Mutation, Error> {
        let spec = &self.order.spec;
        let criteria = spec.criteria.criteria()?;
        let program = self.subject.program();
        let scope =
            narrow(program, self.subject.scope()?, &criteria, &spec.criteria.only, self.subject.root())?;
        let work = self.output.work().join("mutants");
        watcher.step("running mutants");
        let kept = |result: &CampaignResult, expected: &BTreeMap<TestId, Expected>| -> Vec<Kept> {
            let kept = |test: &Test| Kept {
                file: format!("tests/{}.json", test.id),
                input: test.input.clone(),
                expected: expected.get(&test.id).filter(|expected| !expected.end.is_empty()).cloned(),
            };
            result.tests.iter().map(kept).collect()
        };
        let clock = self.clock;
        let end = clock.elapsed() + self.times.left_aside(clock.elapsed());
        let is_over = move || clock.elapsed() >= end;
        let order = MutateOrder {
            lanes: spec.budget.workers().get(),
            is_over: &is_over,
            progress: &|_, _, _| {},
            interrupt: self.interrupt,
            cache: self.subject.cache(),
        };
        let measured = |tests: &[Kept], name: &str| {
            let inputs = tests.iter().map(|test| test.input.clone()).collect();
            let built = MutantProgram::build(self.subject, &scope, inputs, &work.join(name))?;
            measure(&built, tests, &order, self.subject.function())
        };
        let mutation = measured(&kept(result, expected), "suite")?;
        let alive: Vec<u32> = mutation
            .list
            .iter()
            .filter(|mutant| matches!(mutant.state, MutantState::Alive))
            .map(|mutant| mutant.id)
            .collect();
        if alive.is_empty() || spec.subject.program.is_some() || self.interrupt.is_requested() {
            return Ok(mutation);
        }
        watcher.step("searching for inputs that kill mutants");
        let inputs = match self.killing_inputs(&scope, &mutation, &alive, result) {
            Ok(inputs) => inputs,
            Err(error) => {
                watcher.remark(&format!("no search for mutants: {}", error.message()));
                return Ok(mutation);
            }
        };
        let known: BTreeSet<String> =
            result.tests.iter().map(|test| self.subject.to_json(&test.input).to_string()).collect();
        let mut seen = known;
        let inputs: Vec<Input> =
            inputs.into_iter().filter(|input| seen.insert(self.subject.to_json(input).to_string())).collect();
        if inputs.is_empty() {
            return Ok(mutation);
        }
        watcher.step("running mutants");
        self.adopt(inputs, &alive, result, expected, &measured)?;
        let mutation = measured(&kept(result, expected), "all")?;
        watcher.clear();
        Ok(mutation)
    }

    /// Keeps of some inputs those that kill a mutant, as tests with what must come of them.
    fn adopt(
        &self,
        inputs: Vec<Input>,
        alive: &[u32],
        result: &mut CampaignResult,
        expected: &mut BTreeMap<TestId, Expected>,
        measured: &Measure<'_>,
    ) -> Result<(), Error> {
        let work = self.output.work().join("killing");
        let mut recorded = expected::record(self.subject, &inputs, &work, self.limit(), self.interrupt)?;
        let ends_in_order =
            |expected: &Expected| expected.end == "returned" || expected.end.starts_with("exited");
        let tests: Vec<Kept> = inputs
            .iter()
            .enumerate()
            .map(|(number, input)| Kept {
                file: number.to_string(),
                input: input.clone(),
                expected: recorded.get(&number).filter(|expected| ends_in_order(expected)).cloned(),
            })
            .collect();
        let found = measured(&tests, "found")?;
        let killers = found.list.iter().filter(|mutant| alive.contains(&mutant.id));
        let killers = killers.filter_map(|mutant| mutant.test.as_ref()?.parse::<usize>().ok());
        let killers: BTreeSet<usize> = killers.collect();
        let mut next = result.tests.iter().map(|test| test.id.0).max().unwrap_or(0);
        for number in killers {
            next += 1;
            let id = TestId(next);
            result.tests.push(Test {
                id,
                input: inputs[number].clone(),
                provenance: Provenance::Solved,
                end: End::Returned,
                covers: Vec::new(),
                satisfies: Vec::new(),
                output: Default::default(),
                is_unchecked: false,
            });
            expected.extend(recorded.remove(&number).map(|expected| (id, expected)));
        }
        Ok(())
    }

    /// Inputs on which mutants seem to differ from the original.
    fn killing_inputs(
        &self,
        scope: &coverage::Scope,
        mutation: &Mutation,
        alive: &[u32],
        result: &CampaignResult,
    ) -> Result<Vec<Input>, Error> {
        let work = self.output.work().join("mutant-product");
        let spec = &self.order.spec;
        let Product { spec, numbers } = product::write_mutants(spec, self.subject, scope, mutation, &work)?;
        let both = Subject::build(&spec, &work, &work, Need::Mode(Mode::Symbolic), self.subject.cache())?;
        let program = both.program();
        let all = Coverage::new(program, &both.scope()?, &spec.criteria.criteria()?);
        let coverage = all.with(program, |_, goal| {
            program.function(goal.function).name == product::DIFFERS
                && matches!(goal.demand, Demand::Decision(decision, true) if is_verdict(program, decision))
        });
        let known: Vec<Input> = result
            .tests
            .iter()
            .take(MOST_GIVEN)
            .filter_map(|test| both.read_json(&self.subject.to_json(&test.input)).ok())
            .collect();
        let counts_executions = self.order.spec.budget.max_executions.is_some();
        let mut found = Vec::new();
        for (position, mutant) in alive.iter().enumerate() {
            let Some(number) = numbers.get(mutant) else { continue };
            let left = self.times.left_aside(self.clock.elapsed());
            if self.interrupt.is_requested() || left.is_zero() {
                break;
            }
            let n_left = u32::try_from(alive.len() - position).unwrap_or(u32::MAX);
            // what easy ones leave is for those that follow
            let share = (left / n_left * 4).min(LONGEST).min(left);
            let budget = Budget {
                time: (!counts_executions).then_some(share),
                executions: counts_executions.then_some(MOST_EXECUTIONS),
            };
            let given = known.iter().cloned();
            let given: Vec<GivenInput> =
                given.map(|input| given_input(input, Provenance::Given, GivenPlace::BeforeBudget)).collect();
            let options = CampaignOptions {
                given,
                crashes_cover: false,
                enums: Enums::of(both.shape()),
                limited_stubs: both.limited_stubs(),
                limits: both.input_limits(),
                ..self.options(budget)
            };
            let solver = SolverChoice::parse(&spec.search.solver)?;
            let setup = Setup {
                memory: None,
                program,
                coverage: coverage.clone(),
                strategy: spec.search.strategy()?,
                executors: self.executors_with(&both, Mode::Symbolic, "mutant", &[number.to_string()])?,
                solver: &|| solver.make(self.interrupt.flag().into()),
                clock: &Since::now(self.clock),
                interrupt: self.interrupt.flag(),
                adviser: None,
            };
            let searched = campaign::run(setup, &options, &mut ());
            let crashes = searched.crashes.iter().map(|finding| &finding.test);
            let tests = searched.tests.iter().filter(|test| !test.satisfies.is_empty()).chain(crashes);
            found.extend(tests.filter_map(|test| self.subject.read_json(&both.to_json(&test.input)).ok()));
        }
        Ok(found)
    }
}
