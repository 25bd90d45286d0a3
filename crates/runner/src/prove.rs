//! Which of the goals that a search left open can no input cover, and which does an input cover that the prover finds?
//!
//! Method: the prover gets all of them at once. Inputs that it finds are executed. Proofs are given to the checker, and only
//! what that accepts is written to `proofs/` and decides a goal. Effort is counted; a clock ends the work only as a net.

use std::time::{Duration, Instant};

use coverage::{Evidence, GoalId};
use engine::campaign::CampaignResult;
use model::input::Input;
use proof::{Assumption, Checker, Solvers, Verdict};
use prover::{Effort, Engine, Outcome, Task};
use tracing::{debug, info};

use crate::allowance::effort_of;
use crate::counterexamples::{Tried, take_in};
use crate::error::Error;
use crate::measure::{Measurer, Settings};
use crate::spec::ProverChoice;
use crate::store::output::{Output, cannot};
use crate::subject::{Subject, function_id};

/// Where proofs are, within the output directory.
const PROOFS: &str = "proofs";

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    /// Goals that are infeasible now.
    pub n_accepted: usize,
    /// Proofs that the checker did not accept, with the reason of the first.
    pub n_unchecked: usize,
    pub unchecked: Option<String>,
    /// What came of inputs that the prover found.
    pub tried: Tried,
}

/// Decides what it can of the open goals.
///
/// # Errors
///
/// When the checker finds two solvers to disagree, or a proof cannot be written.
pub fn prove_open(
    subject: &Subject,
    result: &mut CampaignResult,
    output: &Output,
    engine: Engine,
    time: Duration,
    settings: Settings<'_>,
) -> Result<Proved, Error> {
    let program = subject.program();
    let interrupt = settings.interrupt;
    let coverage = &result.coverage;
    let flow = coverage.data_flow().map(AsRef::as_ref);
    let open = coverage.goals().filter(|(id, ..)| coverage.is_open(*id));
    let (ids, goals): (Vec<GoalId>, Vec<_>) =
        open.filter_map(|(id, goal, _)| Some((id, prover::goal_of(program, flow, goal.demand)?))).unzip();
    let mut proved = Proved::default();
    if goals.is_empty() {
        return Ok(proved);
    }
    let deadline = Instant::now() + time;
    let asked = interrupt.clone();
    let effort = Effort::new(effort_of(time), move || asked.is_requested() || Instant::now() >= deadline);
    let under_test = function_id(program, subject.function()).ok();
    let inputs: Vec<Input> = result.tests.iter().map(|test| test.input.clone()).collect();
    let task = Task { program, goals, under_test, inputs, engine };
    let Outcome { proofs, counterexamples, gave_up } = prover::prove(&task, &effort);
    info!(
        n_goals = task.goals.len(),
        n_proofs = proofs.len(),
        n_counterexamples = counterexamples.len(),
        "prover done"
    );
    for (number, (engine, why)) in gave_up {
        debug!(goal = %coverage.key(ids[number]), ?engine, why, "not decided by the prover");
    }
    if !counterexamples.is_empty() {
        let found: Vec<_> = counterexamples.into_iter().map(|(number, found)| (ids[number], found)).collect();
        let mut measurer = Measurer::new(subject, settings)?.for_goals(&result.coverage);
        proved.tried = take_in(&found, &mut measurer, result);
    }
    let coverage = &mut result.coverage;
    let checker = Checker::new(program);
    let mut solvers = Solvers::installed().with_effort(effort_per_query(time));
    for (number, proof) in proofs {
        let id = ids[number];
        if interrupt.is_requested() || Instant::now() >= deadline {
            proved.leave("the time for proofs ended before it was checked".to_owned());
            continue;
        }
        match checker.check(&proof, &mut solvers) {
            Verdict::Accepted { .. } => {
                let directory = output.root().join(PROOFS);
                std::fs::create_dir_all(&directory).map_err(|error| cannot("create", &directory, &error))?;
                let file = format!("{PROOFS}/{}.proof", coverage.key(id));
                output.write(&file, &proof::text::print_with_names(&proof, program))?;
                let under = proof.claim.assumptions.iter().map(|assumption| words(*assumption).to_owned());
                let evidence = Evidence { proof: file, under: under.collect() };
                coverage.decide(id, evidence).map_err(Error::internal)?;
                proved.n_accepted += 1;
            }
            Verdict::Rejected(why) => proved.leave(why.to_string()),
            Verdict::Unknown(why) => proved.leave(why),
            Verdict::Disagreement(why) => {
                return Err(Error::internal(format!("two solvers disagree about a proof: {why}")));
            }
        }
    }
    Ok(proved)
}

/// What one query of the checker may cost, in milliseconds: some of the time for all proofs.
pub fn effort_per_query(time: Duration) -> u64 {
    u64::try_from(time.as_millis() / 4).unwrap_or(u64::MAX).clamp(500, 20_000)
}

impl Proved {
    fn leave(&mut self, why: String) {
        info!(why, "a proof does not count");
        self.n_unchecked += 1;
        self.unchecked.get_or_insert(why);
    }
}

impl From<ProverChoice> for Engine {
    fn from(choice: ProverChoice) -> Self {
        match choice {
            ProverChoice::Auto => Self::Auto,
            ProverChoice::LoopFree => Self::LoopFree,
            ProverChoice::KInduction => Self::KInduction,
            ProverChoice::Unrolled => Self::Unrolled,
            ProverChoice::Cegar => Self::Cegar,
            ProverChoice::Houdini => Self::Houdini,
            ProverChoice::Bounded => Self::Bounded,
        }
    }
}

/// An assumption as reports say it.
pub(crate) fn words(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::InitialGlobals => "globals hold their initial values at first",
        Assumption::Stubs => "functions that are defined nowhere do what their stubs do",
        Assumption::Allocation => "malloc and calloc never return null",
    }
}
