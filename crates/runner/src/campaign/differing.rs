//! Where does the version before behave differently?
//!
//! Method: first the tests and findings of the campaign run on native builds of both versions. Then a search in a program with both
//! ([`crate::versions::product`]) looks for inputs on which they differ, in the time that the campaign left, and what it finds runs
//! natively as well. Limit: of whole programs only the tests are compared.

use coverage::{Coverage, Demand};
use engine::campaign::{
    self, Budget, CampaignOptions, Enums, GivenInput, GivenPlace, Provenance, Setup, StopReason,
};
use frontend::instrument::Mode;
use model::input::Input;
use report::differences::{DIFFERENCES, DIFFERENCES_FILE, DifferenceSearch, DifferencesRecord};
use report::record::SCHEMA;

use super::{CampaignResult, Since, Work, given_input};
use crate::error::Error;
use crate::solvers::SolverChoice;
use crate::store::output::{Output, RUN_FILE};
use crate::subject::{Need, Subject};
use crate::versions::differences::{self, Candidate};
use crate::versions::{Before, product};
use crate::watcher::Watcher;

/// Inputs of the campaign that the search begins with, at most.
const MOST_GIVEN: usize = 64;

impl Work<'_> {
    /// Inputs on which the version before behaves differently, as far as they can be found.
    pub(super) fn differences(
        &self,
        before: &Before,
        result: &CampaignResult,
        watcher: &mut dyn Watcher,
    ) -> Result<DifferencesRecord, Error> {
        let title = &before.version.title;
        let none = |why: String| DifferencesRecord {
            schema: SCHEMA,
            old: title.clone(),
            not_compared: vec![why],
            ..DifferencesRecord::default()
        };
        let is_program = self.order.spec.subject.program.is_some();
        if before.function.is_none() && !is_program {
            return Ok(none(format!("{title} has no {}", self.subject.function())));
        }
        if result.coverage.goals().next().is_none()
            && before.record.changes.iter().all(|change| change.items.is_empty())
        {
            // nothing changed
            return Ok(DifferencesRecord { not_compared: Vec::new(), ..none(String::new()) });
        }
        watcher.step("comparing with the version before");
        let work = self.output.work().join("versions");
        let (spec, cache) = (&self.order.spec, self.subject.cache());
        let old = differences::old_subject(spec, &before.version, before.function.as_deref(), &work, cache);
        let old = match old {
            Ok(old) => old,
            Err(error) => {
                watcher.warn(&format!("{title} is not compared: {}", error.message()));
                return Ok(none(error.message().to_owned()));
            }
        };
        let crashes = result.crashes.iter().map(|finding| (&finding.test, "crashes"));
        let tests = result.tests.iter().map(|test| (test, "tests")).chain(crashes);
        let mut candidates: Vec<Candidate> = tests
            .map(|(test, directory)| Candidate {
                input: test.input.clone(),
                test: Some(format!("{directory}/{}.json", test.id)),
            })
            .collect();
        let mut search = None;
        if !is_program && differences::incomparable(&old, self.subject).is_none() {
            watcher.step("searching for differences");
            match self.search_differences(&old, result) {
                Ok((found, inputs)) => {
                    search = Some(found);
                    candidates.extend(inputs.into_iter().map(|input| Candidate { input, test: None }));
                }
                Err(error) => {
                    watcher.remark(&format!("no search for differences: {}", error.message()));
                }
            }
        }
        let compared =
            differences::compare(&old, self.subject, &candidates, &work, self.limit(), self.interrupt);
        let mut record = match compared {
            Ok(record) => record,
            Err(error) => {
                watcher.warn(&format!("{title} is not compared: {}", error.message()));
                none(error.message().to_owned())
            }
        };
        record.old.clone_from(title);
        record.search = search;
        watcher.clear();
        Ok(record)
    }

    /// Inputs on which both versions in one program seem to differ.
    fn search_differences(
        &self,
        old: &Subject,
        result: &CampaignResult,
    ) -> Result<(DifferenceSearch, Vec<Input>), Error> {
        let work = self.output.work().join("product");
        let spec = product::write(&self.order.spec, self.subject, old, &work)?;
        let both = Subject::build(&spec, &work, &work, Need::Mode(Mode::Symbolic), self.subject.cache())?;
        let program = both.program();
        let branches = spec.criteria.criteria()?;
        let all = Coverage::new(program, &both.scope()?, &branches);
        let own = |function| program.function(function).name == product::DIFFERS;
        let coverage = all.with(program, |_, goal| {
            own(goal.function)
                && matches!(goal.demand, Demand::Decision(decision, true) if is_verdict(program, decision))
        });
        let known = result.tests.iter().take(MOST_GIVEN);
        let given: Vec<GivenInput> = known
            .filter_map(|test| both.read_json(&self.subject.to_json(&test.input)).ok())
            .map(|input| given_input(input, Provenance::Given, GivenPlace::BeforeBudget))
            .collect();
        let left = self.times.left_aside(self.clock.elapsed());
        let executions = self.order.spec.budget.max_executions;
        let budget = Budget { time: executions.is_none().then_some(left), executions };
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
            coverage,
            strategy: spec.search.strategy()?,
            executors: self.executors_of(&both, Mode::Symbolic, "both")?,
            solver: &|| solver.make(self.interrupt.flag().into()),
            clock: &Since::now(self.clock),
            interrupt: self.interrupt.flag(),
            adviser: None,
        };
        let found = campaign::run(setup, &options, &mut ());
        if let StopReason::Failed(error) = &found.stop {
            return Err(Error::caused(error));
        }
        let search = DifferenceSearch {
            executions: found.executions,
            seconds: (found.seconds * 10.0).round() / 10.0,
            exhausted: matches!(found.stop, StopReason::Exhausted),
        };
        let crashes = found.crashes.iter().map(|finding| &finding.test);
        let tests = found.tests.iter().filter(|test| !test.satisfies.is_empty()).chain(crashes);
        let inputs = tests.filter_map(|test| self.subject.read_json(&both.to_json(&test.input)).ok());
        Ok((search, inputs.collect()))
    }
}

/// Whether a decision of the function that calls both says that they differ.
pub(super) fn is_verdict(program: &model::Program, decision: model::DecisionId) -> bool {
    program.decision(decision).kind == model::DecisionKind::If
}

/// Writes what was found: all in one file, and a directory with a test for each that pins what the new version does.
pub(super) fn write(output: &Output, subject: &Subject, record: &DifferencesRecord) -> Result<(), Error> {
    output.write_json(DIFFERENCES_FILE, record)?;
    let directory = output.root().join(DIFFERENCES);
    // those of an earlier run of the same campaign
    let _ = std::fs::remove_dir_all(&directory);
    if !record.differences.is_empty() {
        let tests = directory.join("tests");
        std::fs::create_dir_all(&tests)
            .map_err(|error| Error::internal(format!("cannot create {}: {error}", tests.display())))?;
    }
    for (difference, number) in record.differences.iter().zip(1..) {
        let test = difference.pinned(subject.function(), number);
        output.write_json(&format!("{DIFFERENCES}/tests/test_{number:03}.json"), &test)?;
    }
    if !record.differences.is_empty() {
        let run = output.root().join(RUN_FILE);
        let copied = std::fs::copy(&run, directory.join(RUN_FILE));
        copied.map_err(|error| Error::internal(format!("cannot copy {}: {error}", run.display())))?;
    }
    Ok(())
}
