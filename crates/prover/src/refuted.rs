//! Which outcomes of conditions are impossible in an activation that came to the head of a loop last?
//!
//! Method: formulas of proofs that a checker accepted hold whenever control arrives at their cuts. From each cut, and from the entry, every
//! outcome of the function's own conditions is asked about within one segment. What is impossible there no input can do, whatever its path
//! was before, so a search need not ask about it. Limit: calls may do anything; branches without a condition are left out.

use std::collections::{BTreeMap, BTreeSet};

use bitwuzla_sys::TermManager;
use model::{BlockId, ConditionId, FunctionId, GapKind, Program};
use proof::{Assumption, Body, Context, Formula, Goal, Proof};

use crate::attempt::jumps;
use crate::calls::MayCall;
use crate::claims::marks;
use crate::encode::Encoder;
use crate::graph::{Graph, Inlining};
use crate::question::{Answer, Effort};
use crate::system::System;
use crate::terms::{Terms, Truth};
use crate::watch::Watch;

/// An outcome that no run has, in activations that came to this head of a loop last, or to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refutation {
    pub condition: ConditionId,
    pub value: bool,
    pub head: Option<BlockId>,
}

/// What is impossible in these functions, by proofs that were accepted.
pub fn refutations(
    program: &Program,
    functions: &BTreeSet<FunctionId>,
    accepted: &[Proof],
    effort: &Effort,
) -> Vec<Refutation> {
    if program.gaps.iter().any(|gap| gap.kind == GapKind::Thread) {
        return Vec::new();
    }
    let (may_call, marked) = (MayCall::of(program), marks(program));
    let mut found = Vec::new();
    for &function in functions {
        let is_own = |(_, of): &(&ConditionId, &BTreeSet<FunctionId>)| of.iter().all(|of| *of == function);
        let conditions = marked.iter().filter(is_own).map(|(condition, _)| *condition);
        let outcomes: Vec<(ConditionId, bool)> =
            conditions.flat_map(|condition| [(condition, true), (condition, false)]).collect();
        let formulas = formulas(accepted, function);
        found.extend(of_function(program, &may_call, function, &outcomes, &formulas, effort));
    }
    found
}

/// What holds at the loops of a function by these proofs. Of a proof by induction over several segments, or by unrolling, formulas do not count.
fn formulas(accepted: &[Proof], function: FunctionId) -> BTreeMap<BlockId, Vec<Formula>> {
    let mut formulas: BTreeMap<BlockId, Vec<Formula>> = BTreeMap::new();
    let usable = accepted.iter().filter(|proof| {
        let Proof { claim, body, .. } = proof;
        // runs may break that assumption
        let is_certain = !claim.assumptions.contains(&Assumption::Allocation);
        claim.entry == function && matches!(body, Body::Inductive | Body::Listed(_)) && is_certain
    });
    for cut in usable.flat_map(|proof| &proof.cuts) {
        if cut.context == Context::entry() && !speaks_of_flow(&cut.formula) {
            formulas.entry(cut.block).or_default().push(cut.formula.clone());
        }
    }
    formulas
}

/// Whether the formula has a meaning for the goal of its proof alone.
fn speaks_of_flow(formula: &Formula) -> bool {
    match formula {
        Formula::Flag(_) => true,
        Formula::Load { address, .. } => speaks_of_flow(address),
        Formula::Apply(_, operands) => operands.iter().any(speaks_of_flow),
        Formula::Bool(_)
        | Formula::Bits { .. }
        | Formula::Local { .. }
        | Formula::Parameter(_)
        | Formula::Global(_)
        | Formula::Function(_)
        | Formula::Alloca { .. } => false,
    }
}

fn of_function(
    program: &Program,
    may_call: &MayCall,
    function: FunctionId,
    outcomes: &[(ConditionId, bool)],
    formulas: &BTreeMap<BlockId, Vec<Formula>>,
    effort: &Effort,
) -> Vec<Refutation> {
    let inlining = Inlining { towards: BTreeSet::new(), max_instrs: 0, max_recursion: 0, has_stubs: false };
    let Ok(graph) = Graph::new(program, may_call, function, &inlining) else { return Vec::new() };
    if jumps(program, &graph) || program.gaps.iter().any(|gap| gap.function == Some(function)) {
        return Vec::new();
    }
    let goals: Vec<Goal> =
        outcomes.iter().map(|&(condition, value)| Goal::Outcome { condition, value }).collect();
    let (watch, _) = Watch::of(program, &goals);
    let manager = TermManager::new();
    let encoder = Encoder::new(&graph, Terms::new(&manager, effort), &watch, true, false);
    let Ok(mut system) = System::new(encoder) else { return Vec::new() };
    let heads: Vec<Option<BlockId>> =
        std::iter::once(None).chain(graph.cuts().map(|(_, node)| Some(node.block))).collect();
    let mut found = Vec::new();
    for (segment, head) in heads.into_iter().enumerate() {
        let of_head = head.and_then(|head| formulas.get(&head)).into_iter().flatten();
        let known: Vec<Truth<'_>> = of_head.filter_map(|formula| system.at_start(segment, formula)).collect();
        let mut questions = system.questions(effort);
        known.into_iter().for_each(|truth| questions.assert(truth));
        for (goal, &(condition, value)) in outcomes.iter().enumerate() {
            let event = system.bad(segment, 1, goal);
            if system.encoder.terms.is_false(event) || questions.ask(&[event]) == Answer::Impossible {
                found.push(Refutation { condition, value, head });
            }
        }
    }
    found
}
