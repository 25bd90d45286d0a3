//! `quarry-dev prove` and `quarry-dev check-proofs`: the prover and the checker without a search, a line of JSON per goal or proof.

use serde_json::json;

use crate::arguments::{CheckProofs, Prove, ProveSubject, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::interrupt::interrupt;
use runner::front::work_directory;
use runner::prove_all::{Asking, Said, SaidOf};
use runner::spec::{BudgetSpec, CriteriaSpec, ProverChoice, Spec, SubjectSpec};

fn spec(subject: &ProveSubject, prover: ProverChoice) -> Spec {
    let names: Vec<&str> = subject.criterion.iter().map(String::as_str).collect();
    Spec {
        sources: sources(&subject.sources),
        subject: SubjectSpec { function: Some(subject.function.clone()), ..SubjectSpec::default() },
        criteria: CriteriaSpec::named(&names),
        budget: BudgetSpec { prover, ..BudgetSpec::default() },
        ..Spec::default()
    }
}

/// Asks the prover about every goal, also those that runs cover.
pub fn prove(arguments: &Prove) -> Result<Exit, Failure> {
    quarry_cli::log::begin(&arguments.log)?;
    let prover = serde_json::from_value(json!(arguments.prover)).map_err(Failure::usage)?;
    let spec = spec(&arguments.subject, prover);
    let work = work_directory()?;
    let asking = Asking::build(&spec, &here()?, work.path(), &cache()?)?;
    for Said { goal, verdict, gave_up } in
        asking.prove(&spec, &arguments.out, arguments.effort, &interrupt())?
    {
        let (word, evidence) = match &verdict {
            SaidOf::Infeasible(evidence) => ("infeasible", Some(evidence)),
            SaidOf::Covered => ("covered", None),
            SaidOf::Misled => ("misled", None),
            SaidOf::Open => ("open", None),
        };
        println!("{}", json!({ "goal": goal, "verdict": word, "evidence": evidence, "gave_up": gave_up }));
    }
    Ok(Exit::Done)
}

/// Checks the text of proofs.
pub fn check(arguments: &CheckProofs) -> Result<Exit, Failure> {
    let spec = spec(&arguments.subject, ProverChoice::default());
    let work = work_directory()?;
    let asking = Asking::build(&spec, &here()?, work.path(), &cache()?)?;
    let mut files: Vec<_> = std::fs::read_dir(&arguments.proofs)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", arguments.proofs.display())))?;
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "proof")) {
        let text = std::fs::read_to_string(file).map_err(Failure::usage)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match asking.check(&text) {
            Ok(key) => println!("{}", json!({ "file": name, "accepted": key })),
            Err(why) => println!("{}", json!({ "file": name, "refused": why })),
        }
    }
    Ok(Exit::Done)
}
