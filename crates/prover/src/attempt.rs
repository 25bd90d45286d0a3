//! In which order are proofs of a function's open goals, and inputs for them, attempted?
//!
//! Method: the weakest claim is the easiest to find and the strongest to hold: first the goal's own function, without its
//! callees, then with them; then the function under test with everything that leads to the goal inlined; then the same from
//! the initial values of globals. What is proved is not attempted again, so no proof has an assumption that it could do
//! without, as far as the same engines tell. Inputs are looked for before invariants: they are found sooner.

use std::collections::{BTreeMap, BTreeSet};

use bitwuzla_sys::TermManager;
use model::input::Input;
use model::{Callee, FunctionId, GapKind, GlobalId, Op, Operand, Program};
use proof::{Assumption, Claim, Cut, FlowHome, FlowObject, Formula, Goal, ProgramHash, Proof};
use tracing::debug;

use crate::bounded::{Counterexample, Found, counterexamples};
use crate::calls::MayCall;
use crate::candidates::Richness;
use crate::cegar::Cegar;
use crate::encode::Encoder;
use crate::graph::{Graph, Inlining, is_stub};
use crate::halves::Split;
use crate::houdini::{Houdini, KInduction};
use crate::pdr::Pdr;
use crate::question::Effort;
use crate::states::States;
use crate::system::{Argument, LoopFree, Prover, System};
use crate::terms::Terms;
use crate::uncalled::uncalled;
use crate::unwinding::Unwinding;
use crate::watch::{Watch, function_of, functions_of};

/// Instructions up to which callees are inlined that do not lead to the goal.
const MAX_CALLEE_INSTRS: usize = 8000;

/// Why an engine gave up that might decide more with more effort.
const SPENT: &str = "the effort was spent";

/// Functions with goals up to which k-induction takes each goal from the function under test, too.
const FEW_FUNCTIONS: usize = 4;

/// Segments that an induction takes one after the other, without and with invariants.
const MAX_DEPTH: usize = 4;
const MAX_DEPTH_WITH_FORMULAS: usize = 2;

/// What is to be proved.
pub struct Task<'a> {
    pub program: &'a Program,
    pub goals: Vec<Goal>,
    /// The function that runs are made for.
    pub under_test: Option<FunctionId>,
    /// Inputs that were executed: counterexamples have their shapes.
    pub inputs: Vec<Input>,
    /// Goals, by number, for which an input was found that does not cover them: another one is of no more use.
    pub misled: BTreeSet<usize>,
    pub engine: Engine,
}

/// Which engines are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// All, one after the other.
    #[default]
    Auto,
    /// Nothing is known where loops are cut.
    LoopFree,
    /// Several iterations are looked at together.
    KInduction,
    /// Invariants of loops are guessed and checked.
    Houdini,
    /// Loops are unrolled until they end.
    Unrolled,
    /// Predicates are tracked that counterexamples call for.
    Cegar,
    /// What leads to a goal is excluded backwards from it.
    Pdr,
    /// The states that are reached are listed.
    States,
    /// Loops are unrolled to find inputs; nothing is proved.
    Bounded,
}

/// What became of the goals of a task, by their number in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// A proof counts only when a checker accepts it.
    pub proofs: BTreeMap<usize, Proof>,
    /// An input counts only when its execution covers the goal.
    pub counterexamples: BTreeMap<usize, Counterexample>,
    /// The last engine that gave up, and why.
    pub gave_up: BTreeMap<usize, (Engine, String)>,
}

/// From where and with what a proof is attempted.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) entry: FunctionId,
    pub(crate) inlining: Inlining,
    initial_globals: bool,
    is_allocated: bool,
}

/// Tries to decide the goals.
pub fn prove(task: &Task<'_>, effort: &Effort) -> Outcome {
    let program = task.program;
    let mut outcome = Outcome::default();
    let mut open: BTreeSet<usize> = (0..task.goals.len()).collect();
    if program.gaps.iter().any(|gap| gap.kind == GapKind::Thread) {
        outcome.give_up(&open, task.engine, "the program has threads");
        return outcome;
    }
    let may_call = MayCall::of(program);
    if task.engine != Engine::Bounded {
        let proofs = uncalled(task, &may_call, ProgramHash::of(program), open.iter().copied());
        for (number, proof) in proofs {
            outcome.decide(number, &mut open);
            outcome.proofs.insert(number, proof);
        }
    }
    for stage in stages(task.engine) {
        if open.is_empty() || effort.is_spent() {
            break;
        }
        let share = effort.part(stage.parts);
        match stage.work {
            Work::Inputs => find_inputs(task, &may_call, &mut open, &share, &mut outcome),
            Work::Proofs(method) => find_proofs(task, method, &may_call, &mut open, &share, &mut outcome),
        }
    }
    outcome
}

/// A part of the work.
struct Stage {
    work: Work,
    /// It gets one of so many parts of the effort that is left.
    parts: u64,
}

/// What decides most goals gets one of so many parts of what is left; the others get as much as each other.
const PARTS_OF_FIRST: u64 = 3;

enum Work {
    Inputs,
    Proofs(Method),
}

/// How proofs are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    LoopFree,
    KInduction,
    Houdini(Richness),
    Unrolled,
    Cegar,
    Pdr,
    States,
    /// Without invariants, with much effort for each question.
    Patience,
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
            States,
            Houdini(Richness::Plain),
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
        Engine::Auto => work.insert(3, Work::Inputs),
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
    task: &Task<'_>,
    may_call: &MayCall,
    open: &mut BTreeSet<usize>,
    effort: &Effort,
    outcome: &mut Outcome,
) {
    let wanted: BTreeSet<usize> = open.difference(&task.misled).copied().collect();
    let Found { counterexamples, reason } =
        counterexamples(task.program, may_call, &task.goals, &wanted, &task.inputs, effort);
    outcome.give_up(&wanted, Engine::Bounded, &reason);
    for (goal, counterexample) in counterexamples {
        outcome.decide(goal, open);
        outcome.counterexamples.insert(goal, counterexample);
    }
}

fn find_proofs(
    task: &Task<'_>,
    method: Method,
    may_call: &MayCall,
    open: &mut BTreeSet<usize>,
    effort: &Effort,
    outcome: &mut Outcome,
) {
    let program = task.program;
    let hash = ProgramHash::of(program);
    // goals of the same functions share what is encoded
    let mut groups: BTreeMap<(FunctionId, Option<BTreeSet<FunctionId>>), BTreeSet<usize>> = BTreeMap::new();
    for &number in open.iter() {
        let goal = &task.goals[number];
        if is_in_code(program, goal) {
            let towards = matches!(goal, Goal::Flow { .. }).then(|| functions_of(program, goal));
            groups.entry((function_of(program, goal), towards)).or_default().insert(number);
        }
    }
    let mut together = if method.takes_all() { together(task, method, may_call, &groups) } else { None };
    if let Some((plans, numbers)) = together.clone() {
        for plan in with_assumptions(program, plans) {
            let goals: Vec<usize> = numbers.intersection(open).copied().collect();
            if goals.is_empty() || effort.is_spent() {
                break;
            }
            let Some(found) = attempt(task, method, may_call, hash, plan.entry, &plan, &goals, effort) else {
                together = None; // each function alone may not be too large
                break;
            };
            for (number, proof) in found {
                outcome.decide(number, open);
                outcome.proofs.insert(number, proof);
            }
        }
    }
    let n_groups = groups.len();
    for ((function, towards), numbers) in groups {
        let mut left: BTreeSet<usize> = numbers.intersection(open).copied().collect();
        let Some(first) = left.first() else { continue };
        let mut plans = match towards {
            Some(towards) => flow_plans(task, may_call, &towards, &task.goals[*first]),
            None => plans(task, may_call, function, method),
        };
        if method == Method::KInduction && n_groups > FEW_FUNCTIONS {
            // several passes through all of a large program are too much to encode for each function
            plans.retain(|plan| plan.entry == function);
        }
        // what goes through the function under test was looked at for all
        let was_together = |plan: &Plan| {
            let of_group = together.as_ref().filter(|(_, numbers)| numbers.contains(first));
            of_group.is_some_and(|(plans, _)| {
                plans
                    .iter()
                    .any(|known| known.entry == plan.entry && known.initial_globals == plan.initial_globals)
            })
        };
        plans.retain(|plan| !was_together(plan));
        for plan in with_assumptions(program, plans) {
            if left.is_empty() || effort.is_spent() {
                break;
            }
            let goals: Vec<usize> = left.iter().copied().collect();
            let found = attempt(task, method, may_call, hash, function, &plan, &goals, effort);
            for (number, proof) in found.unwrap_or_default() {
                left.remove(&number);
                outcome.decide(number, open);
                outcome.proofs.insert(number, proof);
            }
        }
    }
    let why = if effort.is_spent() { SPENT } else { method.found_nothing() };
    // patience comes last, and is no reason where other engines have one
    if method != Method::Patience || effort.is_spent() {
        outcome.give_up(open, method.engine(), why);
    }
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

/// Whether the goal's events are all in the code of its function: code that the model does not have may do anything.
pub(crate) fn is_in_code(program: &Program, goal: &Goal) -> bool {
    let function = function_of(program, goal);
    if !program.function(function).is_defined()
        || program.gaps.iter().any(|gap| gap.function == Some(function))
    {
        return false;
    }
    let conditions = match goal {
        Goal::Outcome { condition, .. }
        | Goal::Independent { condition, .. }
        | Goal::Paired { condition, .. } => {
            program.decision(program.condition(*condition).decision).shape.conditions()
        }
        Goal::Decision { decision, .. } | Goal::Vector { decision, .. } => {
            program.decision(*decision).shape.conditions()
        }
        Goal::Reach { .. }
        | Goal::Label { .. }
        | Goal::Pair { .. }
        | Goal::End { .. }
        | Goal::Flow { .. } => Vec::new(),
    };
    // one without any mark is never evaluated: the compiler saw that
    marks(program).all(|(of, marked)| of == function || !conditions.contains(&marked))
}

fn marks(program: &Program) -> impl Iterator<Item = (FunctionId, model::ConditionId)> {
    let functions = program.functions.iter().zip((0..).map(FunctionId));
    functions.flat_map(|(function, id)| {
        function.instrs.iter().filter_map(move |instr| match instr.op {
            Op::Mark { condition, .. } => Some((id, condition)),
            _ => None,
        })
    })
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

pub(crate) fn inlining(towards: BTreeSet<FunctionId>, max_instrs: usize) -> Inlining {
    Inlining { towards, max_instrs, max_recursion: 0, has_stubs: false }
}

pub(crate) fn from(entry: FunctionId, inlining: Inlining) -> Plan {
    Plan { entry, inlining, initial_globals: false, is_allocated: false }
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

impl Plan {
    fn assumptions(&self, graph: &Graph<'_>) -> BTreeSet<Assumption> {
        let has_stub =
            || graph.contexts.iter().any(|context| is_stub(graph.program.function(context.function)));
        let mut assumptions = BTreeSet::new();
        if self.initial_globals {
            assumptions.insert(Assumption::InitialGlobals);
        }
        if self.inlining.has_stubs && has_stub() {
            assumptions.insert(Assumption::Stubs);
        }
        if self.is_allocated {
            assumptions.insert(Assumption::Allocation);
        }
        assumptions
    }
}

/// Whether a claim, if it holds, says of all runs of the program that they do not cover its goal: the goal is the entry's own, or
/// runs come to it only from the entry, which they enter once where that matters.
pub fn decides(program: &Program, claim: &Claim) -> bool {
    let (entry, functions) = (claim.entry, functions_of(program, &claim.goal));
    let is_initial = claim.assumptions.contains(&Assumption::InitialGlobals);
    let is_shared =
        matches!(claim.goal, Goal::Flow { object: FlowObject { home: FlowHome::Global(_), .. }, .. });
    if functions.contains(&entry) && !is_initial && !is_shared {
        return match &claim.goal {
            Goal::Flow { object: FlowObject { home: FlowHome::Local(function, _), .. }, .. } => {
                *function == entry
            }
            _ => true,
        };
    }
    let Some(root) = program.root else { return false };
    let may_call = MayCall::of(program);
    let around = may_call.around(root, entry);
    let is_only_way = around.is_disjoint(&functions);
    let is_entered_once = || !may_call.reenters(program, entry);
    is_only_way
        && (!is_initial || begins_with_initial_globals(program, &around))
        && (!(is_initial || is_shared) || is_entered_once())
}

/// Whether nothing that runs before the function under test changes what the program's own code uses.
fn begins_with_initial_globals(program: &Program, around: &BTreeSet<FunctionId>) -> bool {
    let mentioned = |function: &model::Function| {
        let operands = function.instrs.iter().flat_map(|instr| instr.op.operands()).collect::<Vec<_>>();
        operands.into_iter().filter_map(|operand| match operand {
            Operand::Global { global, .. } => Some(global),
            _ => None,
        })
    };
    let own = program.functions.iter().filter(|function| !function.generated);
    let used: BTreeSet<GlobalId> = own.flat_map(mentioned).collect();
    let has_constructors = program.globals.iter().any(|global| global.name.starts_with("llvm."));
    !has_constructors
        && around.iter().map(|id| program.function(*id)).all(|function| {
            let is_apart = mentioned(function).all(|global| !used.contains(&global));
            !function.is_defined() || function.generated && is_apart
        })
}

/// Whether a call in these functions could come back in a way that the encoding does not follow.
fn jumps(program: &Program, graph: &Graph<'_>) -> bool {
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

/// What is proved; none if that could not be attempted.
#[expect(clippy::too_many_arguments, reason = "what is attempted, with what, and how long")]
fn attempt(
    task: &Task<'_>,
    method: Method,
    may_call: &MayCall,
    hash: ProgramHash,
    function: FunctionId,
    plan: &Plan,
    numbers: &[usize],
    effort: &Effort,
) -> Option<Vec<(usize, Proof)>> {
    let program = task.program;
    let graph = match Graph::new(program, may_call, plan.entry, &plan.inlining) {
        Ok(graph) => graph,
        Err(why) => {
            debug!(entry = %plan.entry, why, "no proof attempted");
            return None;
        }
    };
    if jumps(program, &graph) {
        return None;
    }
    let given: Vec<Goal> = numbers.iter().map(|number| task.goals[*number].clone()).collect();
    let split = Split::of(program, &given);
    let (watch, left_out) = Watch::of(program, &split.goals);
    let manager = TermManager::new();
    let is_flow = matches!(given.first(), Some(Goal::Flow { .. }));
    let are_own = given.iter().all(|goal| is_flow || function_of(program, goal) == function);
    let counts_entry_only = function == plan.entry && !plan.initial_globals && !is_flow && are_own;
    let encode = |is_by_place: bool| {
        let mut encoder =
            Encoder::new(&graph, Terms::new(&manager), &watch, counts_entry_only, plan.initial_globals);
        encoder.is_allocated = plan.is_allocated;
        encoder.memories.is_by_place = is_by_place;
        System::new(encoder)
    };
    // where all places are known, no array is needed
    let encoded = match encode(true) {
        Ok(system) if system.encoder.memories.has_unknown_places => encode(false),
        other => other,
    };
    let Ok(mut system) = encoded else {
        debug!(entry = %plan.entry, "the encoding is too large");
        return None;
    };
    effort.spend(system.encoder.terms.n_terms() as u64 / 20);
    let before = effort.left();
    let mut arguments: BTreeMap<usize, Argument> = BTreeMap::new();
    let mut open: BTreeSet<usize> = (0..given.len()).collect();
    let mut found = Vec::new();
    for prover in provers(method, system.n_cuts() > 0) {
        let wanted = split.open(&open);
        let wanted = wanted.into_iter().filter(|at| !left_out.contains(at) && !arguments.contains_key(at));
        let wanted: BTreeSet<usize> = wanted.collect();
        if wanted.is_empty() || effort.is_spent() {
            break;
        }
        arguments.extend(prover.prove(&mut system, &wanted, effort));
        for (at, (halves, argument)) in split.shown(program, &given, &arguments) {
            if open.remove(&at) {
                found.push((numbers[at], proof_by(&graph, hash, plan, given[at].clone(), halves, argument)));
            }
        }
    }
    debug!(entry = %plan.entry, engine = ?method.engine(), n_goals = numbers.len(), n_found = found.len(), spent = before - effort.left(), "attempted");
    Some(found)
}

/// The proof that an argument makes.
pub(crate) fn proof_by(
    graph: &Graph<'_>,
    hash: ProgramHash,
    plan: &Plan,
    goal: Goal,
    halves: Option<Vec<u32>>,
    argument: Argument,
) -> Proof {
    // without any vector to refute, an argument has no formulas
    let formulas = argument.invariants.into_iter().chain(std::iter::repeat(Formula::Bool(true)));
    let cuts = graph.cuts().zip(formulas).map(|((_, node), formula)| Cut {
        context: graph.context(node.context).path.clone(),
        block: node.block,
        formula,
    });
    let claim = Claim { program: hash, entry: plan.entry, goal, assumptions: plan.assumptions(graph) };
    let contexts = graph.contexts.iter().skip(1).map(|context| context.path.clone()).collect();
    Proof { claim, contexts, cuts: cuts.collect(), halves, body: argument.body }
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
