//! In which order are proofs of a function's open goals, and inputs for them, attempted?
//!
//! Method: the weakest claim is the easiest to find and the strongest to hold: first the goal's own function, without its
//! callees, then with them; then the function under test with everything that leads to the goal inlined; then the same from
//! the initial values of globals. What is proved is not attempted again, so no proof has an assumption that it could do
//! without, as far as the same engines tell. Inputs are looked for before invariants: they are found sooner.

use std::collections::{BTreeMap, BTreeSet};

use bitwuzla_sys::TermManager;
use model::{Callee, ConditionId, FunctionId, GapKind, Op, Program};
use proof::{FlowHome, FlowObject, Goal, ProgramHash, Proof};
use tracing::debug;

use crate::bounded::{Counterexample, Found, counterexamples};
use crate::calls::MayCall;
use crate::candidates::Richness;
use crate::cegar::Cegar;
use crate::claims::{begins_with_initial_globals, marks, not_in_code, proof_by};
use crate::encode::{Encoder, MAX_TERMS};
use crate::graph::{Graph, Inlining, is_stub};
use crate::halves::Split;
use crate::houdini::{Houdini, KInduction};
use crate::known::{Known, Settled};
use crate::loop_free::LoopFree;
use crate::pdr::Pdr;
use crate::plan::{Engine, Method, Plan, Task, from, inlining};
use crate::question::Effort;
use crate::states::States;
use crate::system::{Argument, Prover, System};
use crate::terms::{TERMS_PER_UNIT, Terms};
use crate::uncalled::uncalled;
use crate::unwinding::Unwinding;
use crate::watch::{Watch, function_of, functions_of};

/// Instructions up to which callees are inlined that do not lead to the goal.
const MAX_CALLEE_INSTRS: usize = 8000;

/// Why an engine gave up that might decide more with more effort.
const SPENT: &str = "the effort was spent";

/// Functions with goals up to which k-induction takes each goal from the function under test, too.
const FEW_FUNCTIONS: usize = 4;
/// What goals of several functions together get of the effort: one of so many parts.
const TOGETHER_PART: u64 = 2;

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
}

/// What all attempts of a turn use.
struct Turn<'a> {
    task: &'a Task<'a>,
    may_call: MayCall,
    hash: ProgramHash,
    /// By condition, the functions with marks of it.
    marked: BTreeMap<ConditionId, BTreeSet<FunctionId>>,
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
    let turn = Turn { task, may_call, hash, marked };
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
    for stage in stages(turn.task.engine) {
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

/// A part of the work.
struct Stage {
    work: Work,
    /// It gets one of so many parts of the effort that is left.
    parts: u64,
}

/// What decides most goals gets one of so many parts of what is left; the others get as much as each other.
const PARTS_OF_FIRST: u64 = 3;

#[derive(Debug)]
enum Work {
    Inputs,
    Proofs(Method),
}

impl Method {
    fn engine(self) -> Engine {
        match self {
            Self::LoopFree | Self::Patience => Engine::LoopFree,
            Self::KInduction => Engine::KInduction,
            Self::Houdini(_) => Engine::Houdini,
            Self::Unrolled => Engine::Unrolled,
            Self::Cegar => Engine::Cegar,
            Self::Pdr => Engine::Pdr,
            Self::States => Engine::States,
        }
    }

    /// What it says of goals that it had enough effort for.
    fn found_nothing(self) -> &'static str {
        match self {
            Self::LoopFree | Self::Patience => "the conditions on the way to it do not exclude it",
            Self::KInduction => "no induction over a few passes of its loops shows it",
            Self::Houdini(_) => "no invariant that excludes it was found",
            Self::Unrolled => "no bound of its loops was found",
            Self::Cegar => "no predicates that exclude it were found",
            Self::Pdr => "no states that exclude it were found",
            Self::States => "the states that are reached do not exclude it, or are too many",
        }
    }

    /// Whether it looks at goals of several functions together.
    fn takes_all(self) -> bool {
        !matches!(self, Self::KInduction | Self::Cegar | Self::Unrolled | Self::Patience)
    }

    /// Whether it needs to know where everything begins.
    fn lists_states(self) -> bool {
        matches!(self, Self::Cegar | Self::Pdr | Self::States)
    }

    /// Whether it gives up soon where it does not help.
    fn is_quick(self) -> bool {
        matches!(self, Self::LoopFree | Self::KInduction)
    }
}

/// What is done in which order: what decides soon first, and inputs before invariants, because what has one needs none.
fn stages(engine: Engine) -> Vec<Stage> {
    use Method::{Cegar, Houdini, KInduction, LoopFree, Patience, Pdr, States, Unrolled};
    let proofs: &[Method] = match engine {
        Engine::LoopFree => &[LoopFree],
        Engine::KInduction => &[LoopFree, KInduction],
        Engine::Houdini => &[LoopFree, Houdini(Richness::Plain), Houdini(Richness::Conditional)],
        Engine::Unrolled => &[LoopFree, Unrolled],
        Engine::Cegar => &[LoopFree, Cegar],
        Engine::Pdr => &[LoopFree, Pdr],
        Engine::States => &[LoopFree, States],
        Engine::Bounded => &[],
        Engine::Auto => &[
            LoopFree,
            KInduction,
            Houdini(Richness::Plain),
            // begins with the initial values of globals: what needs no such assumption comes before
            States,
            Unrolled,
            Pdr,
            Houdini(Richness::Conditional),
            Cegar,
            Patience,
        ],
    };
    let mut work: Vec<Work> = proofs.iter().map(|method| Work::Proofs(*method)).collect();
    match engine {
        Engine::Bounded => work.push(Work::Inputs),
        Engine::Auto => work.insert(2, Work::Inputs),
        Engine::LoopFree
        | Engine::KInduction
        | Engine::Houdini
        | Engine::Unrolled
        | Engine::Cegar
        | Engine::Pdr
        | Engine::States => {}
    }
    let n_stages = work.len();
    let parts = |at: usize, work: &Work| {
        let n_left = (n_stages - at) as u64;
        let is_first = match work {
            Work::Inputs => true,
            Work::Proofs(method) => method.is_quick() || *method == States,
        };
        if is_first { n_left.min(PARTS_OF_FIRST) } else { n_left }
    };
    work.into_iter().enumerate().map(|(at, work)| Stage { parts: parts(at, &work), work }).collect()
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
    let Turn { task, may_call, marked, .. } = turn;
    let program = task.program;
    let mut ends: BTreeMap<usize, End> = BTreeMap::new();
    // goals of the same functions share what is encoded
    let mut groups: BTreeMap<(FunctionId, Option<BTreeSet<FunctionId>>), BTreeSet<usize>> = BTreeMap::new();
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
        let effort = &effort.part(TOGETHER_PART);
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
            !of_group.is_some_and(|(plans, _)| plans.iter().any(is_same))
        });
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

/// Plans for goals of several functions: what leads to one of them leads to others, and is encoded and excluded once.
fn together(
    task: &Task<'_>,
    method: Method,
    may_call: &MayCall,
    groups: &BTreeMap<(FunctionId, Option<BTreeSet<FunctionId>>), BTreeSet<usize>>,
) -> Option<(Vec<Plan>, BTreeSet<usize>)> {
    let (under_test, root) = task.under_test.zip(task.program.root)?;
    let around = may_call.around(root, under_test);
    let (mut functions, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for ((function, towards), goals) in groups {
        if towards.is_none() && !around.contains(function) {
            functions.insert(*function);
            numbers.extend(goals);
        }
    }
    if functions.len() < 2 {
        return None;
    }
    functions.remove(&under_test);
    let plain = from(under_test, inlining(functions, MAX_CALLEE_INSTRS));
    Graph::new(task.program, may_call, under_test, &plain.inlining).ok()?;
    let is_initial =
        begins_with_initial_globals(task.program, &around) && !may_call.reenters(task.program, under_test);
    let initial = Plan { initial_globals: true, ..plain.clone() };
    let plans = match (is_initial, method.lists_states()) {
        (true, true) => vec![initial],
        (true, false) => vec![plain, initial],
        (false, true) => return None,
        (false, false) => vec![plain],
    };
    Some((plans, numbers))
}

fn plans(task: &Task<'_>, may_call: &MayCall, function: FunctionId, method: Method) -> Vec<Plan> {
    let own = |max_instrs| inlining(BTreeSet::new(), max_instrs);
    let mut plans = vec![from(function, own(0))];
    let calls = |instr: &model::Instr| match instr.op {
        Op::Call { callee: Callee::Direct(callee), .. } => task.program.function(callee).is_defined(),
        _ => false,
    };
    if task.program.function(function).instrs.iter().any(calls) {
        if !method.is_quick() {
            plans.clear(); // with what is called more is known
        }
        plans.push(from(function, own(MAX_CALLEE_INSTRS)));
    }
    if let Some((under_test, root)) = task.under_test.zip(task.program.root) {
        // a goal that is reached in another way is not decided by what the function under test does
        let around = may_call.around(root, under_test);
        if !around.contains(&function) {
            let towards: BTreeSet<FunctionId> =
                (under_test != function).then_some(function).into_iter().collect();
            if !towards.is_empty() {
                plans.push(from(under_test, inlining(towards.clone(), MAX_CALLEE_INSTRS)));
            }
            if begins_with_initial_globals(task.program, &around)
                && !may_call.reenters(task.program, under_test)
            {
                let inlining = inlining(towards, MAX_CALLEE_INSTRS);
                plans.push(Plan { initial_globals: true, ..from(under_test, inlining) });
            }
        }
    }
    if method.lists_states() {
        plans.reverse(); // where everything begins somewhere, there are fewer states
    }
    plans
}

/// Plans for flows of an object in memory, with definitions and uses in these functions. What becomes of a local is decided by
/// the activation that has it; of a global, by the one activation of the function under test in a run.
fn flow_plans(task: &Task<'_>, may_call: &MayCall, towards: &BTreeSet<FunctionId>, goal: &Goal) -> Vec<Plan> {
    let mut plans = Vec::new();
    if let Goal::Flow { object: FlowObject { home: FlowHome::Local(function, _), .. }, .. } = goal {
        for max_instrs in [0, MAX_CALLEE_INSTRS] {
            plans.push(from(*function, inlining(towards.clone(), max_instrs)));
        }
    }
    if let Some((under_test, root)) = task.under_test.zip(task.program.root) {
        let around = may_call.around(root, under_test);
        if around.is_disjoint(towards) && !may_call.reenters(task.program, under_test) {
            let plan = from(under_test, inlining(towards.clone(), MAX_CALLEE_INSTRS));
            plans.push(plan.clone());
            if begins_with_initial_globals(task.program, &around) {
                plans.push(Plan { initial_globals: true, ..plan });
            }
        }
    }
    plans
}

/// The plans, and then those of them with inlined calls under assumptions that the program gives a reason for.
fn with_assumptions(program: &Program, plans: Vec<Plan>) -> Vec<Plan> {
    let calls = |is_meant: &dyn Fn(&model::Function) -> bool| {
        program.functions.iter().flat_map(|function| &function.instrs).any(|instr| match instr.op {
            Op::Call { callee: Callee::Direct(callee), .. } => is_meant(program.function(callee)),
            _ => false,
        })
    };
    let uses_stubs = calls(&is_stub);
    let allocates =
        calls(&|function| !function.is_defined() && ["malloc", "calloc"].contains(&function.name.as_str()));
    let mut all = plans.clone();
    for (has_stubs, is_allocated) in [(true, false), (false, true), (true, true)] {
        if (has_stubs && !uses_stubs) || (is_allocated && !allocates) {
            continue;
        }
        let wide = plans.iter().filter(|plan| plan.inlining.max_instrs > 0 || !has_stubs);
        all.extend(wide.map(|plan| Plan {
            is_allocated,
            inlining: Inlining { has_stubs, ..plan.inlining.clone() },
            ..plan.clone()
        }));
    }
    all
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
