//! Does the checker accept every proof of a finished run, against a program that is built anew?
//!
//! Method: each goal that the run calls infeasible names its proof; the proof must be about that goal and about the program as it
//! is now, rely on no assumption that the run does not state, and be accepted. Limit: a directory of one function at a time.

use std::path::Path;

use cache::Cache;
use coverage::Coverage;
use proof::{Checker, Decide, Solvers, Verdict};
use report::record::{EvidenceRecord, GoalLine};

use crate::error::{Error, Explanation};
use crate::interrupt::Interrupt;
use crate::kept_proofs::{infeasible_lines, proof_of};
use crate::scope::narrow;
use crate::store::output::{Claim, RUN_FILE};
use crate::store::results;
use crate::store::run::Run;
use crate::store::suite::read_record;
use crate::subject::{Need, Subject};

/// A proof and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedProof {
    /// Within the output directory.
    pub file: String,
    pub verdict: ProofVerdict,
}

/// Whether a proof counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofVerdict {
    Accepted,
    /// Rejected, not decided, or not about what it should be about; why.
    Refused(String),
}

/// Checks every proof that the run in a directory relies on.
///
/// # Errors
///
/// When the directory is not of one function, its program does not build, or the user interrupts.
pub fn check_proofs(claim: Claim, interrupt: &Interrupt, cache: &Cache) -> Result<Vec<CheckedProof>, Error> {
    if results::functions(claim.root())?.is_some() {
        let advice = "name the directory of one of its functions";
        return Err(Error::usage("the directory holds the results of several functions").help(advice));
    }
    let output = claim.go_on()?;
    let root = output.root();
    let run: Run = read_record(&root.join(RUN_FILE))?;
    let subject = run.rebuild(&output.work().join("check-proof"), Need::Model, interrupt, cache)?;
    let coverage = coverage_of(&subject, &run)?;
    let checker = Checker::new(subject.program());
    let mut solvers = Solvers::installed().until(interrupt.flag());
    let mut checked = Vec::new();
    let lines = infeasible_lines(root)?;
    for (line, evidence) in &lines {
        let verdict = check(root, &subject, &coverage, &checker, &mut solvers, (line, evidence));
        if interrupt.is_requested() {
            let so_far = format!("interrupted; {} of {} proofs were checked", checked.len(), lines.len());
            return Err(Error::Interrupted(Explanation::new(so_far)));
        }
        let verdict = verdict.map_or_else(ProofVerdict::Refused, |()| ProofVerdict::Accepted);
        checked.push(CheckedProof { file: evidence.proof.clone(), verdict });
    }
    Ok(checked)
}

/// The goals of a run, all of them open.
pub fn coverage_of(subject: &Subject, run: &Run) -> Result<Coverage, Error> {
    let criteria = run.spec.criteria.criteria()?;
    let program = subject.program();
    let scope = narrow(program, subject.scope()?, &criteria, &run.spec.criteria.only, subject.root())?;
    Ok(Coverage::new(program, &scope, &criteria))
}

/// Nothing if the proof shows that the goal is infeasible as the line says; else why not.
fn check(
    root: &Path,
    subject: &Subject,
    coverage: &Coverage,
    checker: &Checker<'_>,
    solvers: &mut dyn Decide,
    (line, evidence): (&GoalLine, &EvidenceRecord),
) -> Result<(), String> {
    let (_, proof) = proof_of(root, subject.program(), coverage, line, evidence)?;
    match checker.check(&proof, solvers) {
        Verdict::Accepted { .. } => Ok(()),
        Verdict::Rejected(why) => Err(format!("rejected at {why}")),
        Verdict::Unknown(why) => Err(format!("not decided: {why}")),
        Verdict::Disagreement(why) => Err(format!("two solvers disagree: {why}")),
    }
}
