//! What a goal of coverage is as a goal of a proof.

use std::collections::BTreeSet;

use analysis::Place;
use analysis::dataflow::{DataFlow, DefinitionKind, Object, Pair};
use coverage::{Case, Demand};
use model::{BlockId, FunctionId, InstrId, Op, Operand, Program, Storage};
use proof::{FlowHome, FlowObject, FlowPlace, Goal, SwitchTarget};

use crate::locals::Locals;

/// The goal that no run covers exactly when none meets the demand; none where proofs have no such goal. Demands on data flow
/// need the flow that they are about.
pub fn goal_of(program: &Program, flow: Option<&DataFlow>, demand: Demand) -> Option<Goal> {
    match demand {
        Demand::Entered(function) => {
            let is_defined = program.function(function).is_defined();
            is_defined.then_some(Goal::Reach { function, block: BlockId(0), position: 0 })
        }
        Demand::Executed(statement) => {
            let statement = program.statement(statement);
            let (block, position) = statement.code?;
            Some(Goal::Reach { function: statement.function, block, position })
        }
        Demand::Decision(decision, value) => Some(Goal::Decision { decision, value }),
        Demand::Condition(condition, value) => Some(Goal::Outcome { condition, value }),
        Demand::Independent(condition, value) => Some(Goal::Independent { condition, value }),
        Demand::Paired(condition, value) => Some(Goal::Paired { condition, value }),
        Demand::Vector(decision, number) => Some(Goal::Vector { decision, number }),
        Demand::Label(switch, case) => {
            let to = match case {
                Case::Label(label) => SwitchTarget::Label(label),
                Case::ImplicitDefault => SwitchTarget::ImplicitDefault,
            };
            Some(Goal::Label { switch, to })
        }
        Demand::Ended(function) => program.function(function).is_defined().then_some(Goal::End { function }),
        Demand::Defined(_) | Demand::Used(_) | Demand::Pair(_) => pair(program, flow?, &demand.pairs(flow?)),
    }
}

/// That one of these pairs, which are of one object, is covered.
fn pair(program: &Program, flow: &DataFlow, pairs: &[Pair]) -> Option<Goal> {
    let object = flow.definition(pairs.first()?.definition).object;
    let variable = flow.variable(object)?;
    let home = match program.variables[variable.index()].storage {
        Storage::Stack(function, local) => {
            if Locals::of(program, program.function(function)).promoted.contains_key(&local) {
                return local_pair(program, flow, pairs, function, local);
            }
            FlowHome::Local(function, local)
        }
        Storage::Global(global) => FlowHome::Global(global),
    };
    let mut is_initial = false;
    let mut ends = (BTreeSet::new(), BTreeSet::new());
    for pair in pairs {
        if flow.definition(pair.definition).kind == DefinitionKind::Initial {
            is_initial = true;
        } else {
            for place in flow.definition_places(*pair) {
                ends.0.insert(in_memory(program, *place, false)?);
            }
        }
        for place in flow.use_places(*pair) {
            ends.1.insert(in_memory(program, *place, true)?);
        }
    }
    let Object { offset, size, .. } = *flow.object(object);
    let object = FlowObject { home, offset, size, is_initial };
    Some(Goal::Flow { object, definitions: ends.0, uses: ends.1 })
}

/// The load, store or copy that is there; none for a call, whose effects are not followed.
fn in_memory(program: &Program, place: Place, is_use: bool) -> Option<FlowPlace> {
    let code = program.function(place.function);
    let instr = *code.block(place.block).instrs.get(place.at as usize)?;
    let is_meant = match code.instr(instr).op {
        Op::Load { .. } => is_use,
        Op::Store { .. } => !is_use,
        Op::Memory { .. } => true,
        _ => false,
    };
    is_meant.then_some(FlowPlace { function: place.function, instr })
}

/// That one of these pairs of a local is covered whose address is not taken.
fn local_pair(
    program: &Program,
    flow: &DataFlow,
    pairs: &[Pair],
    function: FunctionId,
    local: InstrId,
) -> Option<Goal> {
    let mut ends = (BTreeSet::new(), BTreeSet::new());
    for pair in pairs {
        for place in flow.definition_places(*pair) {
            ends.0.insert(access(program, function, local, *place, false)?);
        }
        for place in flow.use_places(*pair) {
            ends.1.insert(access(program, function, local, *place, true)?);
        }
    }
    Some(Goal::Pair { function, local, definitions: ends.0, uses: ends.1 })
}

/// The load from the local, or the store to it, that is there.
fn access(
    program: &Program,
    function: FunctionId,
    local: InstrId,
    place: Place,
    is_load: bool,
) -> Option<InstrId> {
    let code = program.function(function);
    let instr =
        *code.block(place.block).instrs.get(place.at as usize).filter(|_| place.function == function)?;
    let is_meant = match code.instr(instr).op {
        Op::Load { address, .. } => is_load && address == Operand::Result(local),
        Op::Store { address, .. } => !is_load && address == Operand::Result(local),
        _ => false,
    };
    is_meant.then_some(instr)
}
