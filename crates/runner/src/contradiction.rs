//! Does a run cover a goal that a proof calls infeasible?
//!
//! One of the two is wrong, and nothing that rests on either can be believed: the run ends with an error of its own. What is
//! needed to find the mistake is kept in `contradiction/`: the proof, the input, the program as both saw it, and what
//! was asked.

use std::path::Path;

use coverage::{Coverage, GoalId, Status};
use engine::campaign::{CampaignResult, Test};
use model::Program;
use report::place::place;

use crate::error::Error;
use crate::store::output::cannot;

/// Where everything is kept, within the output directory.
pub const CONTRADICTION: &str = "contradiction";

/// A goal that is called infeasible, and the input whose run covers it.
pub struct Contradiction {
    pub goal: GoalId,
    /// The proof's file, within the output directory.
    pub proof: String,
    /// The input as files of tests have it.
    pub input: String,
}

/// The first contradiction between what was proved and what the tests of a campaign cover.
pub fn find(result: &CampaignResult, input: impl Fn(&Test) -> String) -> Option<Contradiction> {
    let coverage = &result.coverage;
    let findings = result.crashes.iter().chain(&result.hangs).chain(&result.suspicions);
    let tests = result.tests.iter().chain(findings.map(|finding| &finding.test));
    let mut both = tests.flat_map(|test| test.satisfies.iter().map(move |goal| (test, *goal)));
    let of_test = both.find_map(|(test, goal)| {
        let proof = proof_of(coverage, goal)?;
        Some(Contradiction { goal, proof, input: input(test) })
    });
    of_test.or_else(|| {
        // the test that was noted is not kept
        let noted = coverage.contradictions().first()?;
        let (proof, input) = (noted.evidence.proof.clone(), String::new());
        Some(Contradiction { goal: noted.goal, proof, input })
    })
}

fn proof_of(coverage: &Coverage, goal: GoalId) -> Option<String> {
    match coverage.status(goal) {
        Status::Infeasible { evidence } => Some(evidence.proof.clone()),
        Status::Covered { .. } | Status::Undecided(_) => None,
    }
}

impl Contradiction {
    /// Keeps what is needed to find the mistake below `root`, and gives the error that ends the run.
    pub fn keep(&self, root: &Path, program: &Program, coverage: &Coverage, command: &[String]) -> Error {
        let goal = coverage.goal(self.goal);
        let what = format!("{}  {}", place(program, goal.span), goal.describe(program));
        let directory = root.join(CONTRADICTION);
        let asked = format!(
            "Quarry {}\ncommand: {}\ngoal: {} ({})\nproof: {}\n",
            env!("CARGO_PKG_VERSION"),
            command.join(" "),
            coverage.key(self.goal),
            what,
            self.proof
        );
        let proof = std::fs::read_to_string(root.join(&self.proof)).unwrap_or_default();
        let files = [
            ("asked.txt", asked),
            ("goal.proof", proof),
            ("input.json", self.input.clone()),
            ("program.txt", model::text::print(program)),
        ];
        if let Err(error) = write(&directory, &files) {
            return error;
        }
        Error::contradiction(format!("a run covers a goal that {} calls infeasible: {what}", self.proof))
            .help(format!(
                "one of them is wrong, so no result of this run can be relied on; please report it with {}",
                directory.display()
            ))
    }
}

/// Two solvers that say the opposite of each other about a proof, which is kept.
pub fn of_solvers(root: &Path, proof: &str, program: &Program, who: &str) -> Error {
    let directory = root.join(CONTRADICTION);
    let files = [
        ("asked.txt", format!("Quarry {}\n{who}\n", env!("CARGO_PKG_VERSION"))),
        ("goal.proof", proof.to_owned()),
        ("program.txt", model::text::print(program)),
    ];
    if let Err(error) = write(&directory, &files) {
        return error;
    }
    Error::contradiction(format!("two solvers disagree about a proof: {who}"))
        .help(format!("one of them is wrong; please report it with {}", directory.display()))
}

fn write(directory: &Path, files: &[(&str, String)]) -> Result<(), Error> {
    std::fs::create_dir_all(directory).map_err(|error| cannot("create", directory, &error))?;
    for (name, text) in files {
        let file = directory.join(name);
        std::fs::write(&file, text).map_err(|error| cannot("write", &file, &error))?;
    }
    Ok(())
}
