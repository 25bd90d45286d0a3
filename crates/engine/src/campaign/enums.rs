//! Values of an enum: one of its enumerators, most of the time.
//!
//! Method: the shape of the input says which cells are enums. Where such a cell has a random value, or none, that is no
//! enumerator, one of them takes its place, most of the time: others are legal C and sometimes matter. Limit: values that
//! the solver finds stay as they are.

use model::input::{Cell, Input, Kind, Node, Scalar, Shape};

use crate::executor::Values;
use crate::rng::Rng;

/// One value in so many stays what it is.
const STAYS: usize = 8;

/// Which cells of inputs are enums.
#[derive(Clone, Debug, Default)]
pub struct Enums {
    /// Nothing when there are none.
    shape: Option<Shape>,
}

impl Enums {
    /// The enums in inputs of this shape.
    pub fn of(shape: &Shape) -> Self {
        let all = shape.roots.iter().chain(&shape.targets).chain(&shape.stubs);
        Self { shape: all.into_iter().any(has_enum).then(|| shape.clone()) }
    }

    /// Gives enums that the input says nothing of, and whose zero is no enumerator, their first one.
    pub(super) fn begin(&self, input: &mut Input) {
        for (cell, values) in self.cells(input) {
            if !input.values.contains_key(&cell.key) && !values.contains(&0) {
                input.values.insert(cell.key, values[0]);
            }
        }
    }

    /// Replaces most values that are no enumerators.
    pub(super) fn prefer(&self, input: &mut Input, rng: &mut Rng) {
        for (cell, values) in self.cells(input) {
            let is_other = input.values.get(&cell.key).is_some_and(|value| !values.contains(value));
            if is_other && rng.below(STAYS) != 0 {
                input.values.insert(cell.key, values[rng.below(values.len())]);
            }
        }
    }

    /// The same in a list of values.
    pub(super) fn prefer_in(&self, values: &mut Values, rng: &mut Rng) {
        if self.shape.is_some() {
            let mut input = Input { values: values.iter().copied().collect() };
            self.prefer(&mut input, rng);
            *values = input.values.into_iter().collect();
        }
    }

    /// The enums of an input, each with the values of its enumerators.
    fn cells(&self, input: &Input) -> Vec<(Cell, Vec<u64>)> {
        let Some(shape) = &self.shape else { return Vec::new() };
        let with_values = |cell: Cell| match &cell.scalar {
            Scalar::Enum { enumerators, bits, .. } if !enumerators.is_empty() => {
                let mask = u64::MAX >> (64 - (*bits).clamp(1, 64));
                let bits_of = |(_, number): &(String, i128)| {
                    u64::from_le_bytes(number.to_le_bytes()[..8].try_into().expect("eight bytes")) & mask
                };
                let values = enumerators.iter().map(bits_of).collect();
                Some((cell, values))
            }
            Scalar::Enum { .. }
            | Scalar::Integer { .. }
            | Scalar::Bool
            | Scalar::Char { .. }
            | Scalar::Float { .. } => None,
        };
        shape.scalars(input).into_iter().filter_map(with_values).collect()
    }
}

/// Whether an enum may be in it; what pointers lead to is looked at elsewhere.
fn has_enum(node: &Node) -> bool {
    match &node.kind {
        Kind::Scalar(cell) => matches!(cell.scalar, Scalar::Enum { .. }),
        Kind::Array { elements, .. } => elements.iter().any(has_enum),
        Kind::Struct { members } => members.iter().any(has_enum),
        Kind::Union(union) => union.members.iter().any(has_enum),
        Kind::Sized(sized) => has_enum(&sized.element),
        Kind::Results(results) => has_enum(&results.result),
        Kind::Sequence { results, .. } => results.iter().any(has_enum),
        Kind::Optional { to, .. } => has_enum(to),
        Kind::Pointer(_) | Kind::Function(_) | Kind::Stream(_) | Kind::Unsupported { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use model::input::Key;

    use super::*;

    fn shape() -> Shape {
        let enumerators = vec![("LOW".to_owned(), -4), ("HIGH".to_owned(), 9)];
        let scalar = Scalar::Enum { bits: 32, signed: true, enumerators };
        let kind = Kind::Scalar(Cell { key: Key(3), scalar });
        let node = Node { name: "level".to_owned(), c_type: "enum level".to_owned(), kind };
        Shape { roots: vec![node], ..Shape::default() }
    }

    const LOW: u64 = 0xffff_fffc;

    #[test]
    fn the_first_value_is_the_first_enumerator() {
        let mut input = Input::default();
        Enums::of(&shape()).begin(&mut input);
        assert_eq!(input.values, [(Key(3), LOW)].into());
        assert!(Enums::of(&Shape::default()).shape.is_none());
    }

    #[test]
    fn most_random_values_are_enumerators() {
        let (enums, mut rng) = (Enums::of(&shape()), Rng::new(1));
        let mut n_others = 0;
        for value in 0..1000 {
            let mut input = Input { values: [(Key(3), value)].into() };
            enums.prefer(&mut input, &mut rng);
            n_others += usize::from(![LOW, 9].contains(&input.values[&Key(3)]));
        }
        assert!((50..250).contains(&n_others), "{n_others}");
    }
}
