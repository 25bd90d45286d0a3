//! Which parts of its input had no influence on the path of a run?
//!
//! Method: from what the path log names (outcomes, pins, bounds) back over the expressions; operands come first, so one pass
//! from the newest to the oldest finds all that had influence. Limit: what code that is not followed did with a value is not
//! seen, and every entry of a table counts, whichever was read.

use model::input::Key;
use wire::{Node, NodeId};

use crate::terms::{Expressions, few_operands};
use crate::trace::{Note, Trace};

/// The keys of the cells without influence; none of a run that made no expressions.
pub(crate) fn cells_without_influence(expressions: &Expressions<'_>, trace: &Trace) -> Vec<Key> {
    let has_influence = influential_nodes(expressions, trace);
    let idle = expressions.cells.iter().filter(|cell| cell.node != 0 && !has_influence[cell.node as usize]);
    idle.map(|cell| Key(cell.key)).collect()
}

/// By number: whether an outcome, a pin or a bound depends on the node.
fn influential_nodes(expressions: &Expressions<'_>, trace: &Trace) -> Vec<bool> {
    let n_cells = expressions.cells.iter().map(|cell| cell.node as usize).max().unwrap_or(0);
    let mut has_influence = vec![false; expressions.nodes.len().max(n_cells) + 1];
    let named = trace.steps.iter().map(|step| step.node).chain(trace.notes.iter().map(node_of));
    named.for_each(|node| mark(&mut has_influence, node));
    for number in (1..has_influence.len()).rev() {
        let Ok(id) = u32::try_from(number).map(NodeId) else { continue };
        let Some(Ok(node)) = expressions.nodes.get(id) else { continue };
        if has_influence[number] || matches!(node, Node::Same { .. }) {
            few_operands(&node).into_iter().flatten().for_each(|operand| mark(&mut has_influence, operand));
        }
    }
    has_influence
}

fn mark(has_influence: &mut [bool], node: NodeId) {
    // the program under test may have overwritten its nodes
    if let Some(influences) = has_influence.get_mut(node.0 as usize) {
        *influences = true;
    }
}

fn node_of(note: &Note) -> NodeId {
    match *note {
        Note::Pin { node, .. }
        | Note::Pointer { node, .. }
        | Note::Assume { node }
        | Note::Prefer { node }
        | Note::Bounds { node, .. }
        | Note::Size { node, .. } => node,
    }
}

#[cfg(test)]
mod tests {
    use model::input::Input;

    use super::*;
    use crate::executor::{End, Output};
    use crate::testing::{Machine, To, program};
    use crate::trace::Tracer;

    #[test]
    fn what_outcomes_and_pins_depend_on_has_influence() {
        let mut machine = Machine::new(&Input::default());
        let [compared, added, summed, pinned, _untouched] = [1, 2, 3, 4, 5].map(|key| machine.cell(key, 8));
        let sum = machine.add(compared, added);
        machine.add(sum, summed); // no outcome depends on it
        machine.pin(pinned);
        machine.equals(sum, 0);
        let output = Output::default();
        let execution = machine.execution(End::Returned, &output);
        let program = program(vec![To::If(1, 1), To::Return]);
        let trace = Tracer::new(&program).trace(&execution, None, &|| false).expect("the log is whole");
        assert_eq!(cells_without_influence(&Expressions::of(&execution), &trace), [3, 5].map(Key));
    }
}
