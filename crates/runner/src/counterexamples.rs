//! Do the inputs that the prover found cover their goals?
//!
//! Method: each is executed once. One that covers an open goal and ends in order becomes a test. One that does not is a
//! disagreement between encoding and program, counted with what the encoding did not follow exactly.

use coverage::{GoalId, TestId};
use engine::campaign::{CampaignResult, Provenance, Test};
use prover::Counterexample;
use tracing::info;

use crate::measure::Measurer;

/// What came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Goals that are covered now.
    pub n_covered: usize,
    /// Inputs that do not cover the goal that they were found for, with the reason of the first.
    pub n_disagreements: usize,
    pub disagreement: Option<String>,
}

/// Executes the inputs for these goals.
pub fn take_in(
    counterexamples: &[(GoalId, Counterexample)],
    measurer: &mut Measurer<'_>,
    result: &mut CampaignResult,
) -> Tried {
    let mut tried = Tried::default();
    for (goal, counterexample) in counterexamples {
        if !result.coverage.is_open(*goal) {
            continue; // an earlier one covers it
        }
        if let Err(why) = take_one(counterexample, measurer, result, &mut tried) {
            tried.disagree(why);
        } else if result.coverage.is_open(*goal) {
            tried.disagree(reason(&counterexample.approximations));
        }
    }
    tried
}

fn take_one(
    counterexample: &Counterexample,
    measurer: &mut Measurer<'_>,
    result: &mut CampaignResult,
    tried: &mut Tried,
) -> Result<(), String> {
    let measured = measurer.measure(&counterexample.input).map_err(|error| error.to_string())?;
    result.executions += 1;
    if !measured.end.is_orderly() {
        return Err(format!("the run ended otherwise: {:?}", measured.end));
    }
    let mut satisfies = result.coverage.satisfied(&measured.observations);
    if !satisfies.iter().any(|goal| result.coverage.is_open(*goal)) {
        return Ok(());
    }
    let id = next_id(result);
    let covered = result.coverage.cover(id, &measured.observations);
    let covers: Vec<GoalId> =
        covered.goals.iter().filter(|(_, by)| *by == id).map(|(goal, _)| *goal).collect();
    satisfies.extend(&covers);
    satisfies.sort_unstable();
    satisfies.dedup();
    tried.n_covered += covered.goals.len();
    result.tests.push(Test {
        id,
        input: measured.used,
        provenance: Provenance::Counterexample,
        end: measured.end,
        covers,
        satisfies,
        output: measured.output,
    });
    Ok(())
}

/// A number that no test has yet.
fn next_id(result: &CampaignResult) -> TestId {
    let findings = result.crashes.iter().chain(&result.hangs).chain(&result.suspicions);
    let ids = result.tests.iter().chain(findings.map(|finding| &finding.test)).map(|test| test.id.0);
    TestId(ids.max().map_or(1, |last| last + 1))
}

fn reason(approximations: &[String]) -> String {
    match approximations {
        [] => "nothing was approximated".to_owned(),
        some => format!("not followed exactly: {}", some.join(", ")),
    }
}

impl Tried {
    fn disagree(&mut self, why: String) {
        info!(why, "a counterexample does not cover its goal");
        self.n_disagreements += 1;
        self.disagreement.get_or_insert(why);
    }
}
