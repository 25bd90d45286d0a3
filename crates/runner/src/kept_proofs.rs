//! Which proofs of an earlier run still say something about the goals of this one?
//!
//! Method: a line of `goals.jsonl` that calls a goal infeasible names its proof. It counts if the proof can be read, is about
//! that goal of exactly this program, and needs no assumption that the line does not state. Limit: solvers are not asked
//! again; `quarry check-proof` does that.

use std::path::Path;

use coverage::{Coverage, GoalId};
use model::Program;
use proof::{Assumption, ProgramHash, Proof};
use report::record::{EvidenceRecord, GoalLine, State};
use tracing::info;

use crate::error::Error;
use crate::prove::{assumed, words};
use crate::store::recorder::{GOALS_FILE, goal_of};
use crate::store::results::goals;

/// The goals that a directory calls infeasible.
pub fn infeasible_lines(root: &Path) -> Result<Vec<(GoalLine, EvidenceRecord)>, Error> {
    let lines = goals(&root.join(GOALS_FILE))?.into_iter();
    let proved = lines.filter_map(|line| match (line.state, line.evidence.clone()) {
        (Some(State::Infeasible), Some(evidence)) => Some((line, evidence)),
        (_, _) => None,
    });
    Ok(proved.collect())
}

/// The proof that a line of the directory names, if it is about that goal and assumes no more than the line says.
pub fn proof_of(
    root: &Path,
    program: &Program,
    coverage: &Coverage,
    line: &GoalLine,
    evidence: &EvidenceRecord,
) -> Result<(GoalId, Proof), String> {
    let id: GoalId = goal_of(program, coverage, line).ok_or("the program has no such goal")?;
    let text = std::fs::read_to_string(root.join(&evidence.proof))
        .map_err(|error| format!("cannot read the proof: {error}"))?;
    let proof: Proof = proof::text::parse(&text).map_err(|error| error.to_string())?;
    let flow = coverage.data_flow().map(AsRef::as_ref);
    if prover::goal_of(program, flow, coverage.goal(id).demand).as_ref() != Some(&proof.claim.goal) {
        return Err("the proof is about another goal".to_owned());
    }
    if !prover::decides(program, &proof.claim) {
        return Err("runs may come to the goal without the function that the proof is about".to_owned());
    }
    let is_stated = |assumption: Assumption| evidence.under.iter().any(|stated| stated == words(assumption));
    if !assumed(program, &proof.claim).all(is_stated) {
        return Err("the proof assumes more than the run states".to_owned());
    }
    Ok((id, proof))
}

/// Takes over what the run in a directory proved of the same program. None of the goals may be covered yet.
pub fn take_over(root: &Path, program: &Program, coverage: &mut Coverage) {
    // a directory without goals has no proofs
    let lines = infeasible_lines(root).unwrap_or_default();
    if lines.is_empty() {
        return;
    }
    let hash = ProgramHash::of(program);
    for (line, evidence) in lines {
        match proof_of(root, program, coverage, &line, &evidence) {
            Ok((id, proof)) if proof.claim.program == hash => {
                coverage.decide(id, (&evidence).into()).expect("nothing is covered before the first run");
            }
            Ok(_) => info!(goal = line.key, "a proof is about another program"),
            Err(why) => info!(goal = line.key, why, "a proof is not taken over"),
        }
    }
}
