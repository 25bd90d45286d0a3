//! Which goals are in functions that no call leads to?
//!
//! Method: a call leads where [`MayCall`] says, so through a pointer, and from code that is not known, to every function whose
//! address is taken. Where no call of the function under test does, and runs come to the goal in no other way, nothing has to be
//! encoded: the code of the function under test with no call inlined is the whole argument, and it does not ask where loops go.

use std::collections::{BTreeMap, BTreeSet};

use model::{ConditionId, FunctionId};
use proof::{Body, Formula, Goal, ProgramHash, Proof};

use crate::calls::MayCall;
use crate::claims::{decides, not_in_code, proof_by};
use crate::graph::Graph;
use crate::plan::{Plan, Task, from, inlining};
use crate::system::Argument;
use crate::watch::functions_of;

/// The proofs of these goals, by number.
pub(crate) fn uncalled(
    may_call: &MayCall,
    task: &Task<'_>,
    hash: ProgramHash,
    numbers: &BTreeSet<usize>,
    marked: &BTreeMap<ConditionId, BTreeSet<FunctionId>>,
) -> BTreeMap<usize, Proof> {
    let mut proofs = BTreeMap::new();
    let Some((under_test, root)) = task.under_test.zip(task.program.root) else { return proofs };
    let around = may_call.around(root, under_test);
    let is_apart = |function: &FunctionId| {
        *function != under_test && !around.contains(function) && !may_call.enters(under_test, *function)
    };
    for &number in numbers {
        let goal = &task.goals[number];
        // where halves of pairs are broken one by one, this has nothing to add
        if matches!(goal, Goal::Paired { .. }) || not_in_code(task.program, marked, goal).is_some() {
            continue;
        }
        let functions = functions_of(task.program, goal);
        if !functions.iter().all(is_apart) {
            continue;
        }
        let plan = from(under_test, inlining(functions, 0));
        proofs.extend(proof(task, may_call, hash, &plan, goal).map(|proof| (number, proof)));
    }
    proofs
}

fn proof(task: &Task<'_>, may_call: &MayCall, hash: ProgramHash, plan: &Plan, goal: &Goal) -> Option<Proof> {
    let graph = Graph::new(task.program, may_call, plan.entry, &plan.inlining).ok()?;
    let invariants = vec![Formula::Bool(true); graph.cuts().count()];
    let argument = Argument { invariants, body: Body::Inductive };
    let proof = proof_by(&graph, hash, plan, goal.clone(), None, argument);
    decides(task.program, &proof.claim).then_some(proof)
}
