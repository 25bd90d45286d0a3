//! What does the prover alone say of every goal of a function, and does the checker accept a proof's text?
//!
//! For checks of the prover: no search goes before, so it is also asked about goals that any run covers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use cache::Cache;
use coverage::{Coverage, GoalId};
use engine::campaign::{Adviser, Asked};
use frontend::instrument::Mode;
use proof::{Checker, Solvers, Verdict};
use report::record::{EvidenceRecord, GoalLine};

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::measure::{Measurer, Settings};
use crate::prove::Proving;
use crate::scope::narrow;
use crate::spec::Spec;
use crate::store::output::Claim;
use crate::subject::{Need, Subject};

/// Time for an execution.
const LIMIT: Duration = Duration::from_secs(2);

/// What the prover says of a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub goal: GoalLine,
    pub verdict: SaidOf,
    /// The engine that gave up last, and why.
    pub gave_up: Option<String>,
}

/// The same in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaidOf {
    /// The checker accepts a proof.
    Infeasible(EvidenceRecord),
    /// An input of the prover covers it.
    Covered,
    /// An input was found for it and does not cover it.
    Misled,
    Open,
}

/// What is made of a spec for such checks.
pub struct Asking {
    subject: Subject,
    coverage: Coverage,
}

impl Asking {
    /// Builds the program.
    pub fn build(spec: &Spec, root: &Path, work: &Path, cache: &Cache) -> Result<Self, Error> {
        let subject = Subject::build(spec, root, work, Need::Mode(Mode::Fast), cache)?;
        let criteria = spec.criteria.criteria()?;
        let scope = narrow(subject.program(), subject.scope()?, &criteria, &spec.criteria.only, root)?;
        let coverage = Coverage::new(subject.program(), &scope, &criteria);
        Ok(Self { subject, coverage })
    }

    /// Asks about all goals, with this effort; proofs are written below `out`.
    pub fn prove(
        &self,
        spec: &Spec,
        out: &Path,
        effort: u64,
        interrupt: &Interrupt,
    ) -> Result<Vec<Said>, Error> {
        let output = Claim::new(out)?.start_over()?;
        let mut proving = Proving::new(&self.subject, &output, spec.budget.prover, interrupt, None);
        let advice = proving.advise(&Asked { coverage: &self.coverage, tests: &[], effort });
        let promised = proving.promised();
        proving.finish(&self.coverage)?;
        let work = output.work();
        let settings = Settings { mode: Mode::Fast, work: &work, limit: LIMIT, interrupt };
        let mut measurer = Measurer::new(&self.subject, settings)?.for_goals(&self.coverage);
        let mut covered: BTreeSet<GoalId> = BTreeSet::new();
        for input in &advice.inputs {
            if let Ok(measured) = measurer.measure(input) {
                covered.extend(self.coverage.satisfied(&measured.observations));
            }
        }
        let program = self.subject.program();
        let verdict = |id: GoalId| match advice.infeasible.iter().find(|(goal, _)| *goal == id) {
            Some((_, evidence)) => SaidOf::Infeasible(evidence.into()),
            None if covered.contains(&id) => SaidOf::Covered,
            None if promised.contains(&id) => SaidOf::Misled,
            None => SaidOf::Open,
        };
        let gave_up: BTreeMap<GoalId, &String> = advice.gave_up.iter().map(|(id, why)| (*id, why)).collect();
        let said = |id| Said {
            goal: GoalLine::listed(program, &self.coverage, id),
            verdict: verdict(id),
            gave_up: gave_up.get(&id).map(|why| (*why).clone()),
        };
        Ok(self.coverage.goals().map(|(id, ..)| said(id)).collect())
    }

    /// What the checker says of the text of a proof: the key of its goal when it accepts it, or else why not.
    pub fn check(&self, text: &str) -> Result<String, String> {
        let proof = proof::text::parse(text).map_err(|error| format!("malformed: {error}"))?;
        let program = self.subject.program();
        let mut goals = self.coverage.goals();
        let flow = self.coverage.data_flow().map(AsRef::as_ref);
        let goal_of = |demand| prover::goal_of(program, flow, demand);
        let about = goals.find(|(_, goal, _)| goal_of(goal.demand).as_ref() == Some(&proof.claim.goal));
        let (id, ..) = about.ok_or("rejected: it is about no goal of the function")?;
        match Checker::new(program).check(&proof, &mut Solvers::installed()) {
            Verdict::Accepted { .. } => Ok(self.coverage.key(id).to_owned()),
            Verdict::Rejected(why) => Err(format!("rejected: {why}")),
            Verdict::Unknown(why) => Err(format!("unknown: {why}")),
            Verdict::Disagreement(why) => Err(format!("disagreement: {why}")),
        }
    }
}
