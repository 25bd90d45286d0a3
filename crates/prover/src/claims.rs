//! What does a proof claim, and of which goals can anything be claimed?
//!
//! Method: a claim is about one activation of the entry from which it was attempted; that it decides a goal follows from who calls
//! what. Limit: code that the model does not have may do anything, so a goal in it is not proved.

use std::collections::{BTreeMap, BTreeSet};

use model::{ConditionId, FunctionId, GlobalId, Op, Operand, Program};
use proof::{Assumption, Claim, Cut, FlowHome, FlowObject, Formula, Goal, ProgramHash, Proof};

use crate::calls::MayCall;
use crate::graph::{Graph, is_stub};
use crate::plan::Plan;
use crate::system::Argument;
use crate::watch::{function_of, functions_of};

/// What is in the way if the goal's events are not all in the code of its function: code that the model does not have may do anything.
pub(crate) fn not_in_code(
    program: &Program,
    marked: &BTreeMap<ConditionId, BTreeSet<FunctionId>>,
    goal: &Goal,
) -> Option<&'static str> {
    let function = function_of(program, goal);
    if !program.function(function).is_defined()
        || program.gaps.iter().any(|gap| gap.function == Some(function))
    {
        return Some("its function has code that is not followed");
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
    let is_elsewhere = |condition: &ConditionId| {
        marked.get(condition).is_some_and(|functions| functions.iter().any(|of| *of != function))
    };
    conditions.iter().any(is_elsewhere).then_some("its condition is evaluated in several functions")
}

/// By condition, the functions with marks of it.
pub(crate) fn marks(program: &Program) -> BTreeMap<ConditionId, BTreeSet<FunctionId>> {
    let mut marked: BTreeMap<ConditionId, BTreeSet<FunctionId>> = BTreeMap::new();
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        for instr in &function.instrs {
            if let Op::Mark { condition, .. } = instr.op {
                marked.entry(condition).or_default().insert(id);
            }
        }
    }
    marked
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

/// Whether it is what a program begins with, so that globals hold their initial values when it does.
pub fn begins_program(program: &Program, function: FunctionId) -> bool {
    program.function(function).name == "main"
}

/// Whether nothing that runs before the function under test changes what the program's own code uses.
pub(crate) fn begins_with_initial_globals(program: &Program, around: &BTreeSet<FunctionId>) -> bool {
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
