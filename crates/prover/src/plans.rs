//! From which functions, with which calls inlined and under which assumptions are proofs of a goal attempted?
//!
//! Method: the weakest claim is the easiest to find and the strongest to hold: first the goal's own function, without its callees, then
//! with them; then the function under test with everything that leads to the goal inlined; then the same from the initial values of
//! globals, and under assumptions that the program gives a reason for. Limit: recursion is
//! inlined only from the function under test, up to a depth.

use std::collections::{BTreeMap, BTreeSet};

use model::{Callee, FunctionId, Op, Program};
use proof::{FlowHome, FlowObject, Goal};

use crate::calls::MayCall;
use crate::claims::begins_with_initial_globals;
use crate::graph::{Graph, Inlining, is_stub};
use crate::plan::{Method, Plan, Task, from, inlining};

/// Instructions up to which callees are inlined that do not lead to the goal.
const MAX_CALLEE_INSTRS: usize = 8000;

/// Activations of a function within another of the same that are inlined where recursion is.
const MAX_RECURSION: usize = 60;

/// Goals by the functions that they are in, and for flows also where these lead.
pub(crate) type Groups = BTreeMap<(FunctionId, Option<BTreeSet<FunctionId>>), BTreeSet<usize>>;

/// Plans for goals of several functions: what leads to one of them leads to others, and is encoded and excluded once.
pub(crate) fn together(
    task: &Task<'_>,
    method: Method,
    may_call: &MayCall,
    groups: &Groups,
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
    let uses_variables = may_call.uses_variables(task.program, under_test);
    let is_initial =
        begins_with_initial_globals(task.program, &around) && !may_call.reenters(task.program, under_test);
    let initial = Plan { initial_globals: true, ..plain.clone() };
    let plans = match (uses_variables && is_initial, method.lists_states()) {
        (true, true) => vec![initial],
        (true, false) => vec![plain, initial],
        (false, true) if uses_variables => return None,
        (false, _) => vec![plain],
    };
    Some((plans, numbers))
}

pub(crate) fn plans(task: &Task<'_>, may_call: &MayCall, function: FunctionId, method: Method) -> Vec<Plan> {
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
            // without variables, there is nothing to assume
            if may_call.uses_variables(task.program, under_test)
                && begins_with_initial_globals(task.program, &around)
                && !may_call.reenters(task.program, under_test)
            {
                let inlining = inlining(towards.clone(), MAX_CALLEE_INSTRS);
                plans.push(Plan { initial_globals: true, ..from(under_test, inlining) });
            }
            if method.follows_recursion() && may_call.has_recursion(task.program, under_test) {
                // calls with constants end somewhere, and what they give is known then
                let initial = plans.last().is_some_and(|plan| plan.initial_globals);
                let deep = Inlining { max_recursion: MAX_RECURSION, ..inlining(towards, MAX_CALLEE_INSTRS) };
                plans.push(Plan { initial_globals: initial, ..from(under_test, deep) });
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
pub(crate) fn flow_plans(
    task: &Task<'_>,
    may_call: &MayCall,
    towards: &BTreeSet<FunctionId>,
    goal: &Goal,
) -> Vec<Plan> {
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
pub(crate) fn with_assumptions(program: &Program, plans: Vec<Plan>) -> Vec<Plan> {
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
