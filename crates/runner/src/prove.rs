//! Which of the goals that a search leaves open can no input cover, and which does an input cover that the prover finds?
//!
//! Method: the campaign asks between turns of the search ([`Adviser`]). The prover gets all open goals at once. Inputs that it
//! finds go to the search, which runs them. Proofs are given to the checker, and only what that accepts is written to
//! `proofs/` and decides a goal. Effort is counted, but where the budget is one of time the clock counts it: only so does the search keep its share.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use coverage::{Coverage, Evidence, GoalId};
use engine::campaign::{Advice, Adviser, Asked, Clock};
use engine::pool::Refuted;
use model::Program;
use model::input::Input;
use model::walk::{Choice, Site};
use proof::{Answer, Assumption, Checker, Claim, Decide, Proof, Solvers, Verdict};
use prover::{Counterexample, Effort, Engine, Known, Outcome, Refutation, Task};
use tracing::{debug, info};

use crate::allowance::effort_of;
use crate::argument::{how, invariants};
use crate::contradiction;
use crate::error::Error;
use crate::finishing::{Cut, Step};
use crate::interrupt::Interrupt;
use crate::spec::ProverChoice;
use crate::store::output::{Output, cannot};
use crate::subject::{Subject, function_id};

/// Where proofs are, within the output directory.
pub const PROOFS: &str = "proofs";
/// What a query of the checker counts as: two processes are started for it.
const PER_QUERY: u64 = 500;
/// This part of the time that is left when the prover is asked is kept for checking what it finds.
const CHECKED_PART: u32 = 5;
/// This part of the effort, and of the time that is left, may go into what proofs exclude besides their goals.
const REFUTED_PART: u32 = 8;
/// Units of effort in a millisecond.
const UNITS_PER_MILLISECOND: u64 = 10;

/// Proves, and finds inputs, for one campaign.
pub struct Proving<'a> {
    subject: &'a Subject,
    output: &'a Output,
    choice: ProverChoice,
    interrupt: &'a Interrupt,
    /// When the time for search and proofs ends; nothing with a budget of executions.
    end: Option<(&'a dyn Clock, Duration)>,
    /// What earlier turns found.
    known: Known,
    /// Proofs that the checker accepted, and functions that have new ones.
    accepted: Vec<Proof>,
    newly_proved: BTreeSet<model::FunctionId>,
    /// Started with the first proof.
    solvers: Option<Solvers>,
    /// Goals that inputs were found for, with what the encoding did not follow exactly.
    expected: BTreeMap<GoalId, Vec<String>>,
    /// Proofs that the checker did not accept, and why.
    unchecked: BTreeMap<GoalId, String>,
    failure: Option<Error>,
}

/// What did not come out as it should.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Proofs that the checker did not accept, with the reason of the first.
    pub n_unchecked: usize,
    pub unchecked: Option<String>,
    /// Inputs that do not cover the goal that they were found for, with the reason of the first.
    pub n_disagreements: usize,
    pub disagreement: Option<String>,
}

impl<'a> Proving<'a> {
    pub fn new(
        subject: &'a Subject,
        output: &'a Output,
        choice: ProverChoice,
        interrupt: &'a Interrupt,
        end: Option<(&'a dyn Clock, Duration)>,
    ) -> Self {
        Self {
            subject,
            output,
            choice,
            interrupt,
            end,
            known: Known::default(),
            accepted: Vec::new(),
            newly_proved: BTreeSet::new(),
            solvers: None,
            expected: BTreeMap::new(),
            unchecked: BTreeMap::new(),
            failure: None,
        }
    }

    /// What did not come out as it should, when the campaign is over.
    ///
    /// # Errors
    ///
    /// When the checker found two solvers to disagree, or a proof could not be written.
    pub fn finish(self, coverage: &Coverage) -> Result<Remarks, Error> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut disagreements =
            self.expected.iter().filter(|(goal, _)| coverage.is_open(**goal)).map(|(_, why)| reason(why));
        let mut unchecked = self.unchecked.into_iter().filter(|(goal, _)| coverage.is_open(*goal));
        let (disagreement, first) = (disagreements.next(), unchecked.next());
        Ok(Remarks {
            n_unchecked: usize::from(first.is_some()) + unchecked.count(),
            unchecked: first.map(|(_, why)| why),
            n_disagreements: usize::from(disagreement.is_some()) + disagreements.count(),
            disagreement,
        })
    }

    /// Goals that inputs were found for.
    pub fn promised(&self) -> BTreeSet<GoalId> {
        self.expected.keys().copied().collect()
    }

    /// Lets engines look at goals; what they found, by goal.
    fn ask(
        &mut self,
        goals: &[(GoalId, proof::Goal)],
        engine: Engine,
        asked: &Asked<'_>,
        effort: &Effort,
    ) -> Found {
        let program = self.subject.program();
        let task = Task {
            program,
            goals: goals.iter().map(|(_, goal)| goal.clone()).collect(),
            under_test: function_id(program, self.subject.function()).ok(),
            inputs: asked.tests.iter().map(|test| test.input.clone()).collect(),
            misled: (0..)
                .zip(goals)
                .filter(|(_, (id, _))| self.is_misled(*id))
                .map(|(number, _)| number)
                .collect(),
            engine,
        };
        let Outcome { proofs, counterexamples, gave_up, ran_short, is_under_way } =
            prover::prove(&task, &mut self.known, effort);
        info!(
            left = effort.left(),
            n_goals = goals.len(),
            n_proofs = proofs.len(),
            n_counterexamples = counterexamples.len(),
            "prover done"
        );
        let id = |number: usize| goals[number].0;
        Found {
            proofs: proofs.into_iter().map(|(number, proof)| (id(number), proof)).collect(),
            inputs: counterexamples.into_iter().map(|(number, input)| (id(number), input)).collect(),
            gave_up: gave_up.into_iter().map(|(number, why)| (id(number), why)).collect(),
            ran_short,
            is_under_way,
        }
    }

    /// Keeps what the checker accepts of the proofs.
    fn check(
        &mut self,
        proofs: Vec<(GoalId, Proof)>,
        coverage: &Coverage,
        cut: &Interrupt,
        advice: &mut Advice,
    ) {
        let checker = Checker::new(self.subject.program());
        let installed = self.solvers.get_or_insert_with(Solvers::installed).clone();
        let solvers = installed.with_effort(effort_per_query(advice.effort)).until(cut.flag());
        let mut solvers = UntilCut { solvers, cut, n_queries: 0 };
        let all: Vec<&Proof> = proofs.iter().map(|(_, proof)| proof).collect();
        let verdicts = checker.check_all(&all, &mut solvers);
        for ((id, proof), verdict) in proofs.into_iter().zip(verdicts) {
            debug!(goal = coverage.key(id), ?verdict, "proof checked");
            match verdict {
                Verdict::Accepted { .. } => match self.keep(&proof, coverage.key(id)) {
                    Ok(evidence) => {
                        self.unchecked.remove(&id);
                        self.newly_proved.insert(proof.claim.entry);
                        self.accepted.push(proof);
                        advice.infeasible.push((id, evidence));
                    }
                    Err(error) => self.fail(error),
                },
                Verdict::Rejected(why) => drop(self.unchecked.insert(id, why.to_string())),
                Verdict::Unknown(why) => drop(self.unchecked.insert(id, why)),
                Verdict::Disagreement(why) => {
                    let (text, program) = (proof::text::print(&proof), self.subject.program());
                    self.fail(contradiction::of_solvers(self.output.root(), &text, program, &why));
                }
            }
        }
        advice.effort += solvers.n_queries * PER_QUERY;
    }

    /// What accepted proofs exclude besides their goals, for the search.
    fn refute(&mut self, advice: &mut Advice) {
        let functions = std::mem::take(&mut self.newly_proved);
        let cut = self.cut(|left| left / REFUTED_PART);
        let share = advice.effort / u64::from(REFUTED_PART);
        let effort = self.effort(share, &cut);
        let found = prover::refutations(self.subject.program(), &functions, &self.accepted, &effort);
        debug!(n_functions = functions.len(), n_found = found.len(), left = effort.left(), "refuted");
        let refuted = found.into_iter().map(|Refutation { condition, value, head }| Refuted {
            site: Site::Condition(condition),
            choice: Choice::Outcome(value),
            head,
        });
        advice.refuted.extend(refuted);
        advice.effort += share - effort.left();
    }

    /// Writes a proof.
    fn keep(&self, proof: &Proof, key: &str) -> Result<Evidence, Error> {
        let directory = self.output.root().join(PROOFS);
        std::fs::create_dir_all(&directory).map_err(|error| cannot("create", &directory, &error))?;
        let file = format!("{PROOFS}/{key}.proof");
        self.output.write(&file, &proof::text::print_with_names(proof, self.subject.program()))?;
        let under =
            assumed(self.subject.program(), &proof.claim).map(|assumption| words(assumption).to_owned());
        let invariants = invariants(self.subject.program(), proof);
        let is_refutable = proof.claim.assumptions.iter().any(|assumption| may_break(*assumption));
        Ok(Evidence {
            proof: file,
            under: under.collect(),
            is_refutable,
            invariants,
            how: how(self.subject.program(), proof),
        })
    }

    /// An interrupt at the end of a part of the time that is left.
    fn cut(&self, part: impl Fn(Duration) -> Duration) -> Cut {
        let left = self.end.map(|(clock, end)| part(end.saturating_sub(clock.elapsed())));
        Cut::new(self.interrupt, Step::Prove, left)
    }

    /// Effort that ends with the cut: by the clock where the budget is one of time, because what is counted may take far longer or less.
    fn effort(&self, limit: u64, cut: &Cut) -> Effort {
        let stop = cut.interrupt().clone();
        let stop = move || stop.is_requested();
        match self.end {
            Some(_) => {
                let begun = Instant::now();
                Effort::timed(limit, move || effort_of(begun.elapsed()), stop)
            }
            None => Effort::new(limit, stop),
        }
    }

    /// Since the program was built; nothing where executions are counted.
    fn elapsed(&self) -> Option<Duration> {
        self.end.map(|(clock, _)| clock.elapsed())
    }

    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    /// Where inputs were found that do not cover the goal, more of them are of no use.
    fn is_misled(&self, goal: GoalId) -> bool {
        self.expected.contains_key(&goal)
    }
}

/// What engines found.
struct Found {
    proofs: Vec<(GoalId, Proof)>,
    inputs: Vec<(GoalId, Counterexample)>,
    gave_up: Vec<(GoalId, (Engine, String))>,
    /// Whether more effort might decide more, and whether the next turn goes on from what this one found.
    ran_short: bool,
    is_under_way: bool,
}

impl Adviser for Proving<'_> {
    fn advise(&mut self, asked: &Asked<'_>) -> Advice {
        let program = self.subject.program();
        let coverage = asked.coverage;
        let open = coverage.goals().filter(|(id, ..)| coverage.is_open(*id));
        let flow = coverage.data_flow().map(AsRef::as_ref);
        let goal_of = |demand| prover::goal_of(program, flow, demand);
        let goals: Vec<(GoalId, proof::Goal)> =
            open.filter_map(|(id, goal, _)| Some((id, goal_of(goal.demand)?))).collect();
        if goals.is_empty() {
            return Advice { is_final: true, ..Advice::default() };
        }
        let begun = self.elapsed();
        let proving = self.cut(|left| left * (CHECKED_PART - 1) / CHECKED_PART);
        let effort = self.effort(asked.effort, &proving);
        let found = self.ask(&goals, self.choice.into(), asked, &effort);
        let spent = asked.effort - effort.left();
        let is_final = !found.ran_short && !proving.interrupt().is_requested();
        let mut advice =
            Advice { effort: spent, is_final, is_under_way: found.is_under_way, ..Advice::default() };
        let checking = self.cut(|left| left);
        self.check(found.proofs, coverage, checking.interrupt(), &mut advice);
        if !self.newly_proved.is_empty() {
            self.refute(&mut advice);
        }
        // what the checker could not decide it may decide with more effort
        advice.is_final &= self.unchecked.is_empty();
        let mut inputs: BTreeSet<Input> = BTreeSet::new();
        for (goal, Counterexample { input, approximations }) in found.inputs {
            self.expected.entry(goal).or_insert(approximations);
            if inputs.insert(input.clone()) {
                advice.inputs.push(input);
            }
        }
        let why = |(engine, why): (Engine, String)| format!("{why} ({})", engine_name(engine));
        advice.gave_up = found.gave_up.into_iter().map(|(goal, gave_up)| (goal, why(gave_up))).collect();
        let unchecked = self.unchecked.iter();
        advice.gave_up.extend(unchecked.map(|(goal, why)| {
            (*goal, format!("a proof was found that the checker does not accept: {why}"))
        }));
        advice.is_broken = self.failure.is_some();
        let took = self.elapsed().zip(begun).map_or(Duration::ZERO, |(now, begun)| now.saturating_sub(begun));
        advice.effort = advice.effort.max(effort_of(took));
        debug!(asked = asked.effort, counted = spent, charged = advice.effort, ?took, "turn of the prover");
        advice
    }
}

/// Solvers that are asked nothing more when the time is over.
struct UntilCut<'a> {
    solvers: Solvers,
    cut: &'a Interrupt,
    n_queries: u64,
}

impl Decide for UntilCut<'_> {
    fn decide(&mut self, script: &str) -> Answer {
        self.n_queries += 1;
        let answer =
            if self.is_over() { Answer::Unknown(String::new()) } else { self.solvers.decide(script) };
        match answer {
            // solvers were stopped, or not asked
            Answer::Unknown(_) if self.is_over() => {
                Answer::Unknown("the time for proofs ended before it was checked".to_owned())
            }
            answer => answer,
        }
    }

    fn is_over(&self) -> bool {
        self.cut.is_requested()
    }
}

/// What one query of the checker may cost, in milliseconds: some of what the prover spent.
fn effort_per_query(effort: u64) -> u64 {
    (effort / UNITS_PER_MILLISECOND / 2).clamp(1_000, 20_000)
}

fn reason(approximations: &[String]) -> String {
    match approximations {
        [] => "nothing was approximated".to_owned(),
        some => format!("not followed exactly: {}", some.join(", ")),
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
            ProverChoice::Pdr => Self::Pdr,
            ProverChoice::States => Self::States,
            ProverChoice::Houdini => Self::Houdini,
            ProverChoice::Bounded => Self::Bounded,
        }
    }
}

fn engine_name(engine: Engine) -> &'static str {
    match engine {
        Engine::Auto => "auto",
        Engine::LoopFree => "loop-free",
        Engine::KInduction => "k-induction",
        Engine::Houdini => "houdini",
        Engine::Unrolled => "unrolled",
        Engine::Cegar => "cegar",
        Engine::Pdr => "pdr",
        Engine::States => "states",
        Engine::Bounded => "bounded",
    }
}

/// Whether runs of the harness may break an assumption.
fn may_break(assumption: Assumption) -> bool {
    match assumption {
        Assumption::InitialGlobals | Assumption::Stubs => false,
        // inputs may ask for more than there is
        Assumption::Allocation => true,
    }
}

/// What a claim assumes that need not be so: a program's `main` begins with the initial values of all globals.
pub(crate) fn assumed<'a>(program: &Program, claim: &'a Claim) -> impl Iterator<Item = Assumption> + 'a {
    let begins_program = prover::begins_program(program, claim.entry);
    let is_open = move |assumption: &Assumption| match assumption {
        Assumption::InitialGlobals => !begins_program,
        Assumption::Stubs | Assumption::Allocation => true,
    };
    claim.assumptions.iter().copied().filter(is_open)
}

/// An assumption as reports say it.
pub(crate) fn words(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::InitialGlobals => "globals hold their initial values at first",
        Assumption::Stubs => "functions that are defined nowhere do what their stubs do",
        Assumption::Allocation => "malloc and calloc never return null",
    }
}
