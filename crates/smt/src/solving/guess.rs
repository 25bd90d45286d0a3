//! Values worth trying before a solver is called.
//!
//! Method: most goals compare one input with a constant, so the hint with one of the goal's variables set to one of the
//! goal's constants, or next to it, often satisfies the query. For comparisons of floating-point numbers, a constant is
//! tried both in the variable's own format and as an integer. Trying costs an evaluation: microseconds instead of hundreds
//! of them. Limit: considers only the first nodes of the goal, and changes one variable at a time.

use std::collections::{BTreeSet, VecDeque};

use crate::assignment::Assignment;
use crate::term::{Format, Node, Term, TermStore, Value, Var, value};

const MAX_NODES: usize = 64;
const MAX_VARS: usize = 4;
const MAX_CONSTANTS: usize = 6;

/// The hint itself, then the hint with one variable of the goal changed.
pub(super) fn variations(
    store: &TermStore,
    goal: Term,
    base: &Assignment,
) -> impl Iterator<Item = Assignment> + use<> {
    let base = base.clone();
    let trials = trials(store, goal);
    std::iter::once(base.clone()).chain(trials.into_iter().filter_map(move |(var, bits)| {
        let mut varied = base.clone();
        (varied.set(var, bits) != Some(bits)).then_some(varied)
    }))
}

/// Variables with values to try, without repetition.
fn trials(store: &TermStore, goal: Term) -> Vec<(Var, u128)> {
    let Leaves { vars, constants, has_floats } = leaves(store, goal);
    let mut seen = BTreeSet::new();
    let mut trials = Vec::new();
    for &var in &vars {
        let mask = value::mask(store.var_width(var));
        let around = constants.iter().flat_map(|constant| {
            let bits = constant.bits();
            [bits, bits.wrapping_add(1), bits.wrapping_sub(1)]
        });
        let read =
            constants.iter().filter(|_| has_floats).flat_map(|&constant| readings(store, var, constant));
        for bits in around.chain(read).chain([0, 1]) {
            if seen.insert((var, bits & mask)) {
                trials.push((var, bits & mask));
            }
        }
    }
    trials
}

/// The number that a constant is, in the formats that a variable may have.
fn readings(store: &TermStore, var: Var, constant: Value) -> impl Iterator<Item = u128> + use<> {
    let width = store.var_width(var);
    let number = Format::of_width(constant.width()).map(|format| format.number(constant.bits()));
    let number = number.filter(|number| number.is_finite());
    let in_format = number.zip(Format::of_width(width)).map(|(number, format)| format.bits(number));
    let as_integer = number.map(|number| number as i128 as u128);
    in_format.into_iter().chain(as_integer)
}

/// What a term's leaves are.
struct Leaves {
    vars: Vec<Var>,
    constants: Vec<Value>,
    /// Whether there is floating-point arithmetic above them.
    has_floats: bool,
}

/// The nearest variables and constants of a term, breadth first.
fn leaves(store: &TermStore, goal: Term) -> Leaves {
    let (mut vars, mut constants, mut has_floats) = (Vec::new(), Vec::new(), false);
    let mut seen = BTreeSet::from([goal]);
    let mut queue = VecDeque::from([goal]);
    let mut n_visited = 0;
    while let Some(term) = queue.pop_front()
        && n_visited < MAX_NODES
    {
        n_visited += 1;
        let node = store.node(term);
        has_floats |= matches!(node, Node::FloatUnary(..) | Node::FloatBinary(..) | Node::FloatFused(..));
        match node {
            Node::Constant(constant) if constants.len() < MAX_CONSTANTS => constants.push(constant),
            Node::Variable(var) if vars.len() < MAX_VARS => vars.push(var),
            node => node.for_each_operand(|operand| {
                if seen.insert(operand) {
                    queue.push_back(operand);
                }
            }),
        }
    }
    Leaves { vars, constants, has_floats }
}
