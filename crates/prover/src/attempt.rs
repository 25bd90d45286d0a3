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
use proof::{Assumption, Body, Claim, Cut, Goal, ProgramHash, Proof};
use tracing::debug;

use crate::bounded::{Counterexample, Found, counterexamples};
use crate::calls::MayCall;
use crate::candidates::Richness;
use crate::encode::Encoder;
use crate::graph::{Graph, Inlining};
use crate::houdini::Houdini;
use crate::question::Effort;
use crate::system::{LoopFree, Prover, System};
use crate::terms::Terms;
use crate::watch::{Watch, function_of};

/// Instructions up to which callees are inlined that do not lead to the goal.
const MAX_CALLEE_INSTRS: usize = 3000;

/// What is to be proved.
pub struct Task<'a> {
    pub program: &'a Program,
    pub goals: Vec<Goal>,
    /// The function that runs are made for.
    pub under_test: Option<FunctionId>,
    /// Inputs that were executed: counterexamples have their shapes.
    pub inputs: Vec<Input>,
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
    /// Invariants of loops are guessed and checked.
    Houdini,
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
#[derive(Clone, Copy)]
struct Plan {
    entry: FunctionId,
    inlining: Inlining,
    initial_globals: bool,
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
    match task.engine {
        Engine::LoopFree | Engine::Houdini => {
            find_proofs(task, task.engine, &may_call, &mut open, effort, &mut outcome)
        }
        Engine::Bounded => find_inputs(task, &may_call, &mut open, effort, &mut outcome),
        Engine::Auto => {
            find_proofs(task, Engine::LoopFree, &may_call, &mut open, effort, &mut outcome);
            // what has an input needs no invariants
            find_inputs(task, &may_call, &mut open, &effort.half(), &mut outcome);
            find_proofs(task, Engine::Houdini, &may_call, &mut open, effort, &mut outcome);
        }
    }
    outcome
}

impl Outcome {
    fn give_up(&mut self, goals: &BTreeSet<usize>, engine: Engine, why: &str) {
        self.gave_up.extend(goals.iter().map(|goal| (*goal, (engine, why.to_owned()))));
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
    let Found { counterexamples, reason } =
        counterexamples(task.program, may_call, &task.goals, open, &task.inputs, effort);
    outcome.give_up(open, Engine::Bounded, &reason);
    for (goal, counterexample) in counterexamples {
        outcome.decide(goal, open);
        outcome.counterexamples.insert(goal, counterexample);
    }
}

fn find_proofs(
    task: &Task<'_>,
    engine: Engine,
    may_call: &MayCall,
    open: &mut BTreeSet<usize>,
    effort: &Effort,
    outcome: &mut Outcome,
) {
    let program = task.program;
    let hash = ProgramHash::of(program);
    let mut by_function: BTreeMap<FunctionId, BTreeSet<usize>> = BTreeMap::new();
    for &number in open.iter() {
        let goal = &task.goals[number];
        if is_in_code(program, goal) {
            by_function.entry(function_of(program, goal)).or_default().insert(number);
        }
    }
    for (function, numbers) in by_function {
        let mut left = numbers;
        for plan in plans(task, may_call, function) {
            if left.is_empty() || effort.is_spent() {
                break;
            }
            let goals: Vec<usize> = left.iter().copied().collect();
            for (number, proof) in attempt(task, engine, may_call, hash, function, plan, &goals, effort) {
                left.remove(&number);
                outcome.decide(number, open);
                outcome.proofs.insert(number, proof);
            }
        }
    }
    let why =
        if effort.is_spent() { "the effort was spent" } else { "no invariant that excludes it was found" };
    outcome.give_up(open, engine, why);
}

/// Whether the goal's events are all in the code of its function: code that the model does not have may do anything.
fn is_in_code(program: &Program, goal: &Goal) -> bool {
    let function = function_of(program, goal);
    if !program.function(function).is_defined() {
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
        Goal::Reach { .. } | Goal::Label { .. } | Goal::Pair { .. } => Vec::new(),
    };
    conditions.iter().all(|condition| {
        let mut marks = marks(program).filter(|(_, marked)| marked == condition).peekable();
        marks.peek().is_some() && marks.all(|(of, _)| of == function)
    })
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

fn plans(task: &Task<'_>, may_call: &MayCall, function: FunctionId) -> Vec<Plan> {
    let own = |max_instrs| Inlining { towards: None, max_instrs, max_recursion: 0 };
    let mut plans = vec![Plan { entry: function, inlining: own(0), initial_globals: false }];
    let calls = |instr: &model::Instr| match instr.op {
        Op::Call { callee: Callee::Direct(callee), .. } => task.program.function(callee).is_defined(),
        _ => false,
    };
    if task.program.function(function).instrs.iter().any(calls) {
        plans.push(Plan { entry: function, inlining: own(MAX_CALLEE_INSTRS), initial_globals: false });
    }
    let Some((under_test, root)) = task.under_test.zip(task.program.root) else { return plans };
    // a goal that is reached in another way is not decided by what the function under test does
    let around = may_call.around(root, under_test);
    if around.contains(&function) {
        return plans;
    }
    let towards = (under_test != function).then_some(function);
    let inlining = Inlining { towards, max_instrs: MAX_CALLEE_INSTRS, max_recursion: 0 };
    if towards.is_some() {
        plans.push(Plan { entry: under_test, inlining, initial_globals: false });
    }
    if begins_with_initial_globals(task.program, &around) && !may_call.reenters(task.program, under_test) {
        plans.push(Plan { entry: under_test, inlining, initial_globals: true });
    }
    plans
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

#[expect(clippy::too_many_arguments, reason = "what is attempted, with what, and how long")]
fn attempt(
    task: &Task<'_>,
    engine: Engine,
    may_call: &MayCall,
    hash: ProgramHash,
    function: FunctionId,
    plan: Plan,
    numbers: &[usize],
    effort: &Effort,
) -> Vec<(usize, Proof)> {
    let program = task.program;
    let graph = match Graph::new(program, may_call, plan.entry, plan.inlining) {
        Ok(graph) => graph,
        Err(why) => {
            debug!(entry = %plan.entry, why, "no proof attempted");
            return Vec::new();
        }
    };
    if jumps(program, &graph) {
        return Vec::new();
    }
    let goals: Vec<Goal> = numbers.iter().map(|number| task.goals[*number].clone()).collect();
    let (watch, left_out) = Watch::of(program, &goals);
    let manager = TermManager::new();
    let encoder =
        Encoder::new(&graph, Terms::new(&manager), &watch, function == plan.entry, plan.initial_globals);
    let Ok(mut system) = System::new(encoder) else {
        debug!(entry = %plan.entry, "the encoding is too large");
        return Vec::new();
    };
    effort.spend(system.encoder.terms.n_terms() as u64 / 20);
    let mut open: BTreeSet<usize> = (0..goals.len()).filter(|number| !left_out.contains(number)).collect();
    let mut found = Vec::new();
    for prover in engines(engine, system.n_cuts() > 0) {
        if open.is_empty() || effort.is_spent() {
            break;
        }
        for (number, invariants) in prover.prove(&mut system, &open, effort) {
            open.remove(&number);
            let cuts = graph.cuts().zip(invariants).map(|((_, node), formula)| Cut {
                context: graph.context(node.context).path.clone(),
                block: node.block,
                formula,
            });
            let claim = Claim {
                program: hash,
                entry: plan.entry,
                goal: goals[number].clone(),
                assumptions: plan.initial_globals.then_some(Assumption::InitialGlobals).into_iter().collect(),
            };
            let contexts = graph.contexts.iter().skip(1).map(|context| context.path.clone()).collect();
            found.push((
                numbers[number],
                Proof { claim, contexts, cuts: cuts.collect(), body: Body::Inductive },
            ));
        }
    }
    found
}

fn engines(engine: Engine, has_loops: bool) -> Vec<Box<dyn Prover>> {
    let mut engines: Vec<Box<dyn Prover>> = vec![Box::new(LoopFree)];
    match engine {
        Engine::LoopFree | Engine::Bounded => {}
        Engine::Auto | Engine::Houdini if has_loops => {
            engines.push(Box::new(Houdini { richness: Richness::Plain }));
            engines.push(Box::new(Houdini { richness: Richness::Conditional }));
        }
        Engine::Auto | Engine::Houdini => {}
    }
    engines
}
