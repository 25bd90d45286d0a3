//! `quarry check-proof`: does the checker still accept every proof of a run?

use cache::Cache;
use runner::recheck::{ProofVerdict, check_proofs};
use runner::store::output::Claim;

use super::check_output;
use crate::arguments::CheckProof;
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::say::say;

/// Runs the command.
pub fn check_proof(arguments: &CheckProof, cache: &Cache) -> Result<Exit, Failure> {
    let directory = &arguments.run;
    check_output(directory)?;
    let checked = check_proofs(Claim::new(directory)?, &interrupt(), cache)?;
    let mut is_accepted = true;
    for proof in &checked {
        match &proof.verdict {
            ProofVerdict::Accepted => say(format_args!("{}: accepted", proof.file)),
            ProofVerdict::Refused(why) => {
                is_accepted = false;
                say(format_args!("{}: {why}", proof.file));
            }
        }
    }
    if checked.is_empty() {
        say(format_args!("no goal is called infeasible"));
    }
    Ok(if is_accepted { Exit::Done } else { Exit::No })
}
