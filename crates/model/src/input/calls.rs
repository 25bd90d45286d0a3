//! Inputs that calls request: for which calls does an input have values, and which?
//!
//! Call number j of a sequence is the object `root.part(j)`; its cells are that object's parts. Every call requests at
//! least one cell, so an input has values for the calls up to the first one without. A program may ask for ever: the input also says how
//! many calls a run may make, and one more ends the run. Limit: if an input has values of two functions for one call, the first one
//! counts.

use super::{Cell, Input, Key, Kind, Node};

/// A call and what it gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function, among those that share the sequence.
    pub function: usize,
    /// What the call gave, with the keys of its own cells.
    pub value: Node,
}

/// The part of a sequence that says how many calls a run may make.
const LIMIT: u64 = u64::MAX - 1;
/// Calls that a run may make when its input does not say, and at most.
pub const FIRST_LIMIT: u64 = 256;
pub const LAST_LIMIT: u64 = 1 << 20;

/// The cell with the number of calls of a sequence that a run may make.
pub fn limit(root: Key) -> Key {
    root.part(LIMIT)
}

/// Whether a run ends when it makes one call more than the input answers.
pub fn ends_behind(root: Key, n_calls: usize, input: &Input) -> bool {
    input.values.get(&limit(root)).is_some_and(|limit| *limit <= n_calls as u64)
}

/// Whether an input answers any call.
pub fn answers_any(root: Key, results: &[Node], input: &Input) -> bool {
    call(root, results, input, 0).is_some()
}

/// The calls that an input answers, in their order. `results` says what each function gives.
pub fn calls(root: Key, results: &[Node], input: &Input) -> Vec<Call> {
    let limit = input.values.get(&limit(root)).copied().unwrap_or(u64::MAX);
    (0..limit).map_while(|number| call(root, results, input, number)).collect()
}

fn call(root: Key, results: &[Node], input: &Input, number: u64) -> Option<Call> {
    let object = root.part(number);
    let function = results.iter().position(|result| has_value(result, object, input))?;
    Some(Call { function, value: results[function].instance(object) })
}

/// What call number `number` of one of the functions gives.
pub fn value_of_call(root: Key, result: &Node, number: u64) -> Node {
    result.instance(root.part(number))
}

fn has_value(result: &Node, object: Key, input: &Input) -> bool {
    let is_there = |cell: &Cell| input.values.contains_key(&object.part(cell.key.0));
    match &result.kind {
        Kind::Scalar(cell) | Kind::Optional { present: cell, .. } => is_there(cell),
        Kind::Array { elements, .. } => elements.iter().any(|element| has_value(element, object, input)),
        Kind::Struct { members } => members.iter().any(|member| has_value(member, object, input)),
        Kind::Union(union) => input.values.contains_key(&object.part(union.choice.0)),
        Kind::Sized(_)
        | Kind::Pointer(_)
        | Kind::Function(_)
        | Kind::Results(_)
        | Kind::Stream(_)
        | Kind::Sequence { .. }
        | Kind::Unsupported { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scalar;
    use super::*;

    fn scalar(name: &str, key: u64) -> Node {
        let scalar = Scalar::Integer { bits: 32, signed: true };
        Node {
            name: name.to_owned(),
            c_type: "int".to_owned(),
            kind: Kind::Scalar(Cell { key: Key(key), scalar }),
        }
    }

    #[test]
    fn calls_are_answered_up_to_the_first_without_a_value() {
        let (root, results) = (Key(7), [scalar("a", 0), scalar("b", 1)]);
        let mut input = Input::default();
        for (number, cell) in [(0, 1), (1, 0), (3, 0)] {
            input.values.insert(root.part(number).part(cell), 10 + number);
        }
        let functions: Vec<usize> = calls(root, &results, &input).iter().map(|call| call.function).collect();
        assert_eq!(functions, [1, 0]);
        assert_eq!(calls(root, &results, &input)[1].value, value_of_call(root, &results[0], 1));
        assert!(!ends_behind(root, 2, &input), "nothing says so");
        input.values.insert(limit(root), 1);
        assert_eq!(calls(root, &results, &input).len(), 1, "the run never makes the second");
        assert!(ends_behind(root, 1, &input));
    }
}
