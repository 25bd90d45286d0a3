//! Inputs made by chance. Uniform bits alone would hardly ever compare equal to anything, so small numbers, limits of the
//! types and text are mixed in.

use std::collections::BTreeMap;

use model::input::{Input, Key};
use wire::CellKind;

use crate::rng::Rng;

/// Sizes that chance tries; what needs more has to grow.
const LARGEST_SIZE: u32 = 16;

/// A value for every cell.
pub(super) fn random_input(cells: &BTreeMap<Key, (u32, CellKind)>, rng: &mut Rng) -> Input {
    let mut value = |(width, kind): (u32, CellKind)| match kind {
        CellKind::Value => random_value(width, rng),
        CellKind::Size { most } | CellKind::Count { most } => {
            rng.below(most.min(LARGEST_SIZE) as usize + 1) as u64
        }
        // mostly something of its own: null and what is there already end or repeat most paths
        CellKind::Choice { n_options } if rng.below(4) == 0 => rng.below(n_options.max(1) as usize) as u64,
        CellKind::Choice { .. } => 1,
        CellKind::Option { n_options } => rng.below(n_options.max(1) as usize) as u64,
    };
    Input { values: cells.iter().map(|(key, cell)| (*key, value(*cell))).collect() }
}

pub(super) fn random_value(width: u32, rng: &mut Rng) -> u64 {
    let mask = u64::MAX >> (64 - width.clamp(1, 64));
    let value = match rng.below(4) {
        0 => rng.bits(),
        1 => (rng.below(33) as u64).wrapping_sub(16),
        2 if width == 8 => 32 + rng.below(95) as u64,
        2 => rng.below(256) as u64,
        _ => {
            let power = 1u64 << rng.below(width.clamp(1, 64) as usize);
            power.wrapping_add(rng.below(3) as u64).wrapping_sub(1)
        }
    };
    value & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_cells_and_differ() {
        let widths = [1, 8, 13, 32, 64].into_iter().map(|width| (width, CellKind::Value));
        let cells: BTreeMap<Key, (u32, CellKind)> = (0..).map(Key).zip(widths).collect();
        let mut rng = Rng::new(3);
        let inputs: Vec<Input> = (0..100).map(|_| random_input(&cells, &mut rng)).collect();
        for input in &inputs {
            for (key, value) in &input.values {
                let (width, _) = cells[key];
                assert!(width == 64 || *value < 1 << width, "{value} in {width} bits");
            }
        }
        let distinct: std::collections::BTreeSet<&Input> = inputs.iter().collect();
        assert!(distinct.len() > 95);
    }
}
