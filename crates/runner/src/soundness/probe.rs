//! Which other inputs may show an error? A search ends when its goals are covered, and most errors need a value of their own.
//!
//! Method: inputs of the suite with one number replaced by a boundary value, then with random sizes, texts and numbers, most of
//! them small. They run with sanitizers only, which costs a fork each, and are not counted as executions. The same seed
//! gives the same inputs. Limit: pointers stay as they are; that a function fails without an object to work on is no news.

use std::collections::BTreeSet;

use engine::rng::Rng;
use model::input::{Cell, Input, Kind, Node, Objects, Scalar, Shape, Sized};

/// What numbers are set to: around powers of two, of ten, and the ends of types.
const BOUNDARIES: [i64; 34] = [
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    100,
    127,
    128,
    255,
    256,
    1000,
    9999,
    65535,
    i32::MAX as i64,
    i32::MIN as i64,
    i64::MAX,
];
/// Sizes of arrays beyond the smallest.
const SIZES: [u64; 6] = [17, 24, 32, 33, 48, 64];
/// Sizes that are all tried.
const SMALL: usize = 17;
/// Inputs of the suite, and numbers of each, that are varied one by one.
const BASES: usize = 4;
const NUMBERS: usize = 6;

/// Values in all of them together: large inputs are varied less.
const MOST_VALUES: usize = 1 << 19;

/// At most `n` inputs, none of them among `bases`.
pub fn probes(shape: &Shape, bases: &[&Input], n: usize, seed: u64) -> Vec<Input> {
    let largest = bases.iter().map(|input| input.values.len()).max().unwrap_or(0);
    let n = n.min(MOST_VALUES / largest.max(1));
    let mut known: BTreeSet<Input> = bases.iter().map(|input| (*input).clone()).collect();
    let mut found = Vec::new();
    let mut take = |input: Input, found: &mut Vec<Input>| {
        if found.len() < n && known.insert(input.clone()) {
            found.push(input);
        }
    };
    let single: Vec<(&Input, Cell)> = bases
        .iter()
        .take(BASES)
        .flat_map(|base| numbers(shape, base).into_iter().take(NUMBERS).map(|cell| (*base, cell)))
        .collect();
    // one value for all before the next: what is left out is spread evenly
    for boundary in BOUNDARIES {
        for (base, cell) in &single {
            if found.len() < n / 2 {
                let mut input = (*base).clone();
                input.values.insert(cell.key, masked(cell, boundary.cast_unsigned()));
                take(input, &mut found);
            }
        }
    }
    let mut rng = Rng::new(seed);
    for attempt in 0..2 * n {
        let Some(base) = bases.get(attempt % bases.len().max(1)) else { break };
        take(varied(shape, base, &mut rng), &mut found);
    }
    found
}

/// An input with other sizes and values.
fn varied(shape: &Shape, base: &Input, rng: &mut Rng) -> Input {
    let mut input = base.clone();
    for sized in arrays(shape, base) {
        let choice = rng.below(SMALL + SIZES.len());
        let size = choice.checked_sub(SMALL).map_or(choice as u64, |larger| SIZES[larger]);
        input.values.insert(sized.size, size.min(sized.most));
    }
    for cell in numbers(shape, &input) {
        let value = match (&cell.scalar, rng.below(4)) {
            (Scalar::Char { .. }, 0..2) => u64::from(b'a') + rng.below(26) as u64,
            (_, 0) => continue,
            (_, 1) => BOUNDARIES[rng.below(BOUNDARIES.len())].cast_unsigned(),
            (_, _) => rng.below(40) as u64,
        };
        input.values.insert(cell.key, masked(&cell, value));
    }
    input
}

fn masked(cell: &Cell, value: u64) -> u64 {
    let bits = cell.scalar.bits();
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The integers and characters that an input has.
fn numbers(shape: &Shape, input: &Input) -> Vec<Cell> {
    let mut cells = Vec::new();
    visit(shape, input, &mut |node| {
        if let Kind::Scalar(cell) = &node.kind
            && matches!(cell.scalar, Scalar::Integer { .. } | Scalar::Char { .. } | Scalar::Bool)
        {
            cells.push(cell.clone());
        }
    });
    cells
}

/// The arrays of varying size.
fn arrays(shape: &Shape, input: &Input) -> Vec<Sized> {
    let mut arrays = Vec::new();
    visit(shape, input, &mut |node| {
        if let Kind::Sized(sized) = &node.kind {
            arrays.push(sized.clone());
        }
    });
    arrays
}

fn visit(shape: &Shape, input: &Input, act: &mut impl FnMut(&Node)) {
    let objects = Objects::of(shape, input);
    let nodes = shape.roots.iter().chain(objects.objects.iter().map(|object| &object.node));
    nodes.for_each(|node| visit_node(node, input, act));
}

fn visit_node(node: &Node, input: &Input, act: &mut impl FnMut(&Node)) {
    act(node);
    match &node.kind {
        Kind::Array { elements, .. } => elements.iter().for_each(|element| visit_node(element, input, act)),
        Kind::Struct { members } => members.iter().for_each(|member| visit_node(member, input, act)),
        Kind::Sized(sized) => {
            sized.elements(input).iter().for_each(|element| visit_node(element, input, act));
        }
        Kind::Union(union) => {
            union.chosen(input).iter().for_each(|member| visit_node(member, input, act));
        }
        // what pointers lead to is among the objects
        Kind::Scalar(_)
        | Kind::Pointer(_)
        | Kind::Function(_)
        | Kind::Stream(_)
        | Kind::Results(_)
        | Kind::Sequence { .. }
        | Kind::Optional { .. }
        | Kind::Unsupported { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::input::Key;

    fn shape() -> Shape {
        let scalar = Scalar::Integer { bits: 32, signed: true };
        let kind = Kind::Scalar(Cell { key: Key(0), scalar });
        let node = Node { name: "n".to_owned(), c_type: "int".to_owned(), kind };
        Shape { roots: vec![node], ..Shape::default() }
    }

    #[test]
    fn a_seed_gives_the_same_inputs_and_none_twice() {
        let base = Input { values: [(Key(0), 3)].into() };
        let made = |seed| probes(&shape(), &[&base], 60, seed);
        assert_eq!(made(7), made(7));
        let all: BTreeSet<Input> = made(7).into_iter().collect();
        assert_eq!(all.len(), made(7).len());
        assert!(!all.contains(&base));
        let values: BTreeSet<u64> = all.iter().map(|input| input.values[&Key(0)]).collect();
        assert!(values.contains(&8) && values.contains(&u64::from(u32::MAX)), "{values:?}");
    }

    #[test]
    fn without_an_input_there_is_nothing_to_vary() {
        assert_eq!(probes(&shape(), &[], 60, 1), []);
    }
}
