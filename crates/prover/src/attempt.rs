//! Attempts proofs of a function's open goals, and inputs for them, with counted effort.
//!
//! Method: engines work one after the other ([`crate::stages`]), each with plans from the weakest claim to the strongest ([`crate::plans`]).
//! What is proved is not attempted again, so no proof has an assumption that it could do without, as far as the same engines
//! tell. Limit: where the effort ends first, what is left may need less than was spent on others.

use std::collections::{BTreeMap, BTreeSet};

use bitwuzla_sys::TermManager;
use model::{Callee, ConditionId, FunctionId, GapKind, Op, Program};
use proof::{Goal, ProgramHash, Proof};
use tracing::debug;

use crate::bounded::{Counterexample, Found, counterexamples};
use crate::calls::MayCall;
use crate::cegar::Cegar;
use crate::claims::{begins_program, marks, not_in_code, proof_by};
use crate::encode::{Encoder, MAX_TERMS};
use crate::graph::Graph;
use crate::halves::Split;
use crate::houdini::{Houdini, KInduction};
use crate::known::{Known, Settled};
use crate::loop_free::LoopFree;
use crate::pdr::Pdr;
use crate::plan::{Engine, Method, Plan, Task};
use crate::plans::{Groups, flow_plans, plans, together, with_assumptions};
use crate::question::Effort;
use crate::stages::{Work, stages};
use crate::states::States;
use crate::system::{Argument, Prover, System};
use crate::terms::{TERMS_PER_UNIT, Terms};
use crate::uncalled::uncalled;
use crate::unwinding::Unwinding;
use crate::watch::{Watch, function_of, functions_of};

/// Why an engine gave up that might decide more with more effort.
const SPENT: &str = "the effort was spent";

/// Functions with goals up to which k-induction takes each goal from the function under test, too.
const FEW_FUNCTIONS: usize = 4;
/// What is kept of the effort for each function alone, after goals of several functions were looked at together: one of so many parts; and
/// with engines for which the whole program is the natural piece.
const ALONE_PART: u64 = 2;
const ALONE_PART_OF_STATES: u64 = 4;
const ALONE_PART_OF_PROGRAMS: u64 = 16;

/// Rounds of all engines in one turn, and the part of its effort that another one must have.
const MAX_ROUNDS: usize = 4;
const LEAST_LEFT: u64 = 4;

/// Segments that an induction takes one after the other, without and with invariants.
const MAX_DEPTH: usize = 4;
const MAX_DEPTH_WITH_FORMULAS: usize = 2;

/// What became of the goals of a task, by their number in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// A proof counts only when a checker accepts it.
    pub proofs: BTreeMap<usize, Proof>,
    /// An input counts only when its execution covers the goal.
    pub counterexamples: BTreeMap<usize, Counterexample>,
    /// The last engine that gave up, and why.
    pub gave_up: BTreeMap<usize, (Engine, String)>,
    /// Whether more effort might decide more.
    pub ran_short: bool,
    /// Whether something was found on the way that a later turn goes on from.
    pub is_under_way: bool,
}

/// What all attempts of a turn use.
struct Turn<'a> {
    task: &'a Task<'a>,
    may_call: MayCall,
    hash: ProgramHash,
    /// By condition, the functions with marks of it.
    marked: BTreeMap<ConditionId, BTreeSet<FunctionId>>,
    /// Whether runs begin with `main`.
    is_program: bool,
}

/// Tries to decide the goals, with what earlier turns found about the same program.
pub fn prove(task: &Task<'_>, known: &mut Known, effort: &Effort) -> Outcome {
    let program = task.program;
    let mut outcome = Outcome::default();
    let mut open: BTreeSet<usize> = (0..task.goals.len()).collect();
    if program.gaps.iter().any(|gap| gap.kind == GapKind::Thread) {
        outcome.give_up(&open, task.engine, "the program has threads");
        return outcome;
    }
    let (may_call, hash, marked) = (MayCall::of(program), known.hash_of(program), marks(program));
    let is_program = task.under_test.is_some_and(|entry| begins_program(program, entry));
    let turn = Turn { task, may_call, hash, marked, is_program };
    if task.engine != Engine::Bounded {
        for (number, proof) in uncalled(&turn.may_call, task, turn.hash, &open, &turn.marked) {
            outcome.decide(number, &mut open);
            outcome.proofs.insert(number, proof);
        }
    }
    // what is left goes to the engines that had too little
    for _ in 0..MAX_ROUNDS {
        let before = effort.left();
        outcome.ran_short = false;
        round(&turn, known, &mut open, effort, &mut outcome);
        if !outcome.ran_short || effort.left() < before / LEAST_LEFT {
            break;
        }
    }
    outcome.is_under_way = known.take_progress();
    outcome
}

/// Lets all engines work, one after the other.
fn round(
    turn: &Turn<'_>,
    known: &mut Known,
    open: &mut BTreeSet<usize>,
    effort: &Effort,
    outcome: &mut Outcome,
) {
    for stage in stages(turn.task.engine, turn.is_program) {
        if open.is_empty() {
            break;
        }
        if effort.is_spent() {
            outcome.ran_short = true;
            break;
        }
        let share = effort.part(stage.parts);
        let before = effort.left();
        match stage.work {
            Work::Inputs => find_inputs(turn, known, open, &share, outcome),
            Work::Proofs(method) => find_proofs(turn, known, method, open, &share, outcome),
        }
        debug!(stage = ?stage.work, spent = before - effort.left(), n_open = open.len(), "stage done");
    }
}

impl Outcome {
    /// Notes that an engine gave up; that one had too little effort says more than that a later one found nothing.
    fn give_up(&mut self, goals: &BTreeSet<usize>, engine: Engine, why: &str) {
        for goal in goals {
            let was_spent = self.gave_up.get(goal).is_some_and(|(_, before)| before == SPENT);
            if !was_spent || why == SPENT {
                self.gave_up.insert(*goal, (engine, why.to_owned()));
            }
        }
    }

    fn decide(&mut self, goal: usize, open: &mut BTreeSet<usize>) {
        open.remove(&goal);
        self.gave_up.remove(&goal);
    }
}

fn find_inputs(
    turn: &Turn<'_>,
    known: &mut Known,
    open: &mut BTreeSet<usize>,
    effort: &Effort,
    outcome: &mut Outcome,
) {
    let task = turn.task;
    let wanted: BTreeSet<usize> = open.difference(&task.misled).copied().collect();
    let effort = effort.watched();
    let Found { counterexamples, reason } = counterexamples(task, &turn.may_call, known, &wanted, &effort);
    outcome.ran_short |= effort.ran_short();
    outcome.give_up(&wanted, Engine::Bounded, &reason);
    for (goal, counterexample) in counterexamples {
        outcome.decide(goal, open);
        outcome.counterexamples.insert(goal, counterexample);
    }
}

fn find_proofs(
    turn: &Turn<'_>,
    known: &mut Known,
    method: Method,
    open: &mut BTreeSet<usize>,
    effort: &Effort,
    outcome: &mut Outcome,
) {
    let Turn { task, may_call, marked, is_program, .. } = turn;
    let program = task.program;
    let mut ends: BTreeMap<usize, End> = BTreeMap::new();
    // goals of the same functions share what is encoded
    let mut groups = Groups::new();
    for &number in open.iter() {
        let goal = &task.goals[number];
        if let Some(why) = not_in_code(program, marked, goal) {
            ends.insert(number, End::Done(Settled::Obstacle(why)));
        } else {
            let towards = matches!(goal, Goal::Flow { .. }).then(|| functions_of(program, goal));
            groups.entry((function_of(program, goal), towards)).or_default().insert(number);
        }
    }
    let mut together = if method.takes_all() { together(task, method, may_call, &groups) } else { None };
    if let Some((plans, numbers)) = together.clone() {
        let alone = match (is_program, method.lists_states()) {
            (true, _) => ALONE_PART_OF_PROGRAMS,
            (false, true) => ALONE_PART_OF_STATES,
            (false, false) => ALONE_PART,
        };
        let effort = &effort.keeping(alone);
        for plan in with_assumptions(program, plans) {
            let goals: Vec<usize> = numbers.intersection(open).copied().collect();
            let mut own_ends = BTreeMap::new();
            let attempt = Attempt { turn, method, function: plan.entry, plan: &plan, effort };
            for (number, proof) in attempt.all(known, &goals, &mut own_ends) {
                outcome.decide(number, open);
                outcome.proofs.insert(number, proof);
            }
            for (number, end) in &own_ends {
                note(&mut ends, *number, *end);
            }
            if own_ends.values().any(|end| matches!(end, End::Done(Settled::Obstacle(_)))) {
                together = None; // each function alone may not be too large
                break;
            }
        }
    }
    let n_groups = groups.len();
    let mut queue: Vec<(FunctionId, BTreeSet<usize>, Vec<Plan>)> = Vec::new();
    for ((function, towards), numbers) in groups {
        let Some(first) = numbers.intersection(open).next() else { continue };
        let mut plans = match towards {
            Some(towards) => flow_plans(task, may_call, &towards, &task.goals[*first]),
            None => plans(task, may_call, function, method),
        };
        if method == Method::KInduction && n_groups > FEW_FUNCTIONS {
            // several passes through all of a large program are too much to encode for each function
            plans.retain(|plan| plan.entry == function);
        }
        // what goes through the function under test was looked at for all
        let of_group = together.as_ref().filter(|(_, numbers)| numbers.contains(first));
        plans.retain(|plan| {
            let is_same =
                |other: &Plan| (other.entry, other.initial_globals) == (plan.entry, plan.initial_globals);
            let is_deep = plan.inlining.max_recursion > 0;
            is_deep || !of_group.is_some_and(|(plans, _)| *is_program || plans.iter().any(is_same))
        });
        if *is_program && method.lists_states() && plans.iter().any(|plan| plan.initial_globals) {
            plans.retain(|plan| plan.initial_globals); // a program has no other beginning
        }
        queue.push((function, numbers, with_assumptions(program, plans)));
    }
    // the first plan of all functions comes before the second of any, and each function has its share
    let n_ranks = queue.iter().map(|(.., plans)| plans.len()).max().unwrap_or(0);
    for rank in 0..n_ranks {
        let of_rank = effort.part(if rank + 1 == n_ranks { 1 } else { 2 });
        let mut waiting: Vec<(FunctionId, &Plan, Vec<usize>)> = Vec::new();
        for (function, numbers, plans) in &queue {
            let Some(plan) = plans.get(rank) else { continue };
            let left: Vec<usize> = numbers.intersection(open).copied().collect();
            let has_new = left.iter().any(|at| known.settled(plan, method, &task.goals[*at]).is_none());
            // what is settled comes first: it costs nothing
            let at = if has_new { waiting.len() } else { 0 };
            waiting.insert(at, (*function, plan, left));
        }
        let mut n_waiting: usize = waiting.iter().map(|(.., left)| left.len()).sum();
        for (function, plan, goals) in waiting {
            let effort = &of_rank.share(goals.len(), n_waiting);
            n_waiting -= goals.len();
            let attempt = Attempt { turn, method, function, plan, effort };
            for (number, proof) in attempt.all(known, &goals, &mut ends) {
                outcome.decide(number, open);
                outcome.proofs.insert(number, proof);
            }
        }
    }
    for &number in open.iter() {
        let why = match ends.get(&number) {
            Some(End::Short) => {
                outcome.ran_short = true;
                SPENT
            }
            Some(End::Done(Settled::Obstacle(why))) => why,
            // patience comes last, and is no reason where other engines have one
            Some(End::Done(Settled::NothingFound)) | None if method == Method::Patience => continue,
            Some(End::Done(Settled::NothingFound)) | None => method.found_nothing(),
        };
        outcome.give_up(&BTreeSet::from([number]), method.engine(), why);
    }
}

/// How attempts of one method at a goal ended, over all plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// There was not enough effort.
    Short,
    Done(Settled),
}

impl End {
    /// What says most of two plans: effort that was missing, then that nothing was found, then what was in the way.
    fn with(self, other: Self) -> Self {
        use Settled::{NothingFound, Obstacle};
        match (self, other) {
            (Self::Short, _) | (_, Self::Short) => Self::Short,
            (Self::Done(NothingFound), _) | (_, Self::Done(NothingFound)) => Self::Done(NothingFound),
            (Self::Done(Obstacle(_)), Self::Done(Obstacle(_))) => self,
        }
    }
}

/// Notes how an attempt at a goal ended.
fn note(ends: &mut BTreeMap<usize, End>, number: usize, end: End) {
    let before = ends.get(&number).copied();
    ends.insert(number, before.map_or(end, |before| before.with(end)));
}

/// Whether a call in these functions could come back in a way that the encoding does not follow.
pub(crate) fn jumps(program: &Program, graph: &Graph<'_>) -> bool {
    let functions: BTreeSet<FunctionId> = graph.contexts.iter().map(|context| context.function).collect();
    functions.into_iter().any(|function| {
        program.function(function).instrs.iter().any(|instr| match instr.op {
            Op::Call { callee: Callee::Direct(callee), .. } => {
                let callee = program.function(callee);
                callee.returns_twice || callee.name.ends_with("longjmp")
            }
            _ => false,
        })
    })
}

/// One method with one plan.
struct Attempt<'a> {
    turn: &'a Turn<'a>,
    method: Method,
    /// The function that the goals belong to.
    function: FunctionId,
    plan: &'a Plan,
    effort: &'a Effort,
}

/// What came of it.
struct Attempted {
    found: Vec<(usize, Proof)>,
    /// Why the others are not decided, if there was enough effort.
    settled: Settled,
}

impl Attempted {
    fn nothing(why: &'static str) -> Self {
        Self { found: Vec::new(), settled: Settled::Obstacle(why) }
    }
}

/// Why there is no encoding.
const TOO_LARGE: &str = "the code on the way to it is too large";
/// The encoding may take this part of the effort.
const ENCODED_PART: u64 = 3;
/// What a graph costs.
const GRAPH_EFFORT: u64 = 5;

impl Attempt<'_> {
    /// Proofs of goals, given by number, that were not settled before.
    fn all(
        &self,
        known: &mut Known,
        numbers: &[usize],
        ends: &mut BTreeMap<usize, End>,
    ) -> Vec<(usize, Proof)> {
        let goals = &self.turn.task.goals;
        let mut note = |number: usize, end: End| note(ends, number, end);
        let mut left = Vec::new();
        for &number in numbers {
            match known.settled(self.plan, self.method, &goals[number]) {
                Some(settled) => note(number, End::Done(settled)),
                None => left.push(number),
            }
        }
        if left.is_empty() {
            return Vec::new();
        }
        let max_terms = self.max_terms();
        if known.is_too_large(self.plan, max_terms) {
            let end =
                if max_terms < MAX_TERMS { End::Short } else { End::Done(Settled::Obstacle(TOO_LARGE)) };
            left.iter().for_each(|number| note(*number, end));
            return Vec::new();
        }
        let effort = self.effort.watched();
        let Attempted { found, settled } = match effort.is_spent() {
            true => Attempted::nothing(SPENT),
            false => Attempt { effort: &effort, ..*self }.new_ones(known, &left),
        };
        let (ran_short, n_found) = (effort.ran_short(), found.len());
        let (entry, n_goals, size) = (self.plan.entry, left.len(), self.plan.inlining.max_instrs);
        debug!(%entry, size, initial = self.plan.initial_globals, n_goals, n_found, ran_short, ?settled, left = effort.left(), "attempted");
        left.retain(|number| found.iter().all(|(of, _)| of != number));
        left.retain(|number| match known.settled(self.plan, self.method, &goals[*number]) {
            None => true,
            Some(settled) => {
                note(*number, End::Done(settled));
                false
            }
        });
        if ran_short {
            left.iter().for_each(|number| note(*number, End::Short));
        } else {
            left.iter().for_each(|number| note(*number, End::Done(settled)));
            known.settle(self.plan, self.method, left.iter().map(|number| &goals[*number]), settled);
        }
        found
    }

    /// Terms that the encoding may have: some of the effort must be left for questions.
    fn max_terms(&self) -> usize {
        let affordable = usize::try_from(self.effort.left() / ENCODED_PART).unwrap_or(usize::MAX);
        affordable.saturating_mul(TERMS_PER_UNIT).min(MAX_TERMS)
    }

    fn new_ones(&self, known: &mut Known, numbers: &[usize]) -> Attempted {
        let Attempt { turn: Turn { task, may_call, hash, .. }, method, function, plan, effort } = *self;
        let (program, max_terms) = (task.program, self.max_terms());
        effort.spend(GRAPH_EFFORT);
        let graph = match Graph::new(program, may_call, plan.entry, &plan.inlining) {
            Ok(graph) => graph,
            Err(why) => {
                debug!(entry = %plan.entry, why, "no proof attempted");
                return Attempted::nothing(why);
            }
        };
        if jumps(program, &graph) {
            return Attempted::nothing("setjmp or longjmp may be called");
        }
        let given: Vec<Goal> = numbers.iter().map(|number| task.goals[*number].clone()).collect();
        let split = Split::of(program, &given);
        let (watch, left_out) = Watch::of(program, &split.goals);
        let manager = TermManager::new();
        let is_flow = matches!(given.first(), Some(Goal::Flow { .. }));
        let are_own = given.iter().all(|goal| is_flow || function_of(program, goal) == function);
        let counts_entry_only = function == plan.entry && !plan.initial_globals && !is_flow && are_own;
        let encode = |is_by_place: bool| {
            let mut encoder = Encoder::new(
                &graph,
                Terms::new(&manager, effort),
                &watch,
                counts_entry_only,
                plan.initial_globals,
            );
            encoder.is_allocated = plan.is_allocated;
            encoder.limit(max_terms);
            encoder.memories.is_by_place = is_by_place;
            System::new(encoder)
        };
        // where all places are known, no array is needed
        let encoded = match encode(true) {
            Ok(system) if system.encoder.memories.has_unknown_places => encode(false),
            other => other,
        };
        let Ok(mut system) = encoded else {
            debug!(entry = %plan.entry, max_terms, "the encoding is too large");
            known.too_large(plan, max_terms);
            if max_terms < MAX_TERMS {
                effort.fall_short();
            }
            return Attempted::nothing(TOO_LARGE);
        };
        system.facts = known.facts(plan);
        let mut arguments: BTreeMap<usize, Argument> = BTreeMap::new();
        let mut open: BTreeSet<usize> = (0..given.len()).collect();
        let mut found = Vec::new();
        for prover in provers(method, system.n_cuts() > 0) {
            let wanted = split.open(&open);
            let wanted = wanted.into_iter().filter(|at| {
                !left_out.contains(at) && !arguments.contains_key(at) && !system.reached.contains(at)
            });
            let wanted: BTreeSet<usize> = wanted.collect();
            if wanted.is_empty() || effort.is_spent() {
                break;
            }
            arguments.extend(prover.prove(&mut system, &wanted, effort));
            for (at, (halves, argument)) in split.shown(program, &given, &arguments) {
                if open.remove(&at) {
                    found.push((
                        numbers[at],
                        proof_by(&graph, *hash, plan, given[at].clone(), halves, argument),
                    ));
                }
            }
        }
        known.keep(plan, std::mem::take(&mut system.facts));
        for at in split.among(&system.reached) {
            known.reach(plan, given[at].clone());
        }
        Attempted { found, settled: Settled::NothingFound }
    }
}

/// What a method does with one system. Where there is no loop, nothing is known more than without a method.
fn provers(method: Method, has_loops: bool) -> Vec<Box<dyn Prover>> {
    let prover: Box<dyn Prover> = match method {
        Method::LoopFree => Box::new(LoopFree { patience: 1 }),
        Method::Patience => Box::new(LoopFree { patience: 20 }),
        _ if !has_loops => return Vec::new(),
        Method::KInduction => Box::new(KInduction { depth: MAX_DEPTH }),
        Method::Houdini(richness) => Box::new(Houdini { richness, depth: MAX_DEPTH_WITH_FORMULAS }),
        Method::Unrolled => Box::new(Unwinding),
        Method::Cegar => Box::new(Cegar),
        Method::Pdr => Box::new(Pdr),
        Method::States => Box::new(States),
    };
    vec![prover]
}
