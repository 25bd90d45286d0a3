//! Inputs made by chance. Uniform bits alone would hardly ever compare equal to anything, so small numbers, limits of the
//! types and text are mixed in.

use std::collections::BTreeMap;

use model::input::{Input, Key};

use crate::rng::Rng;

/// A value for every cell.
pub(super) fn random_input(cells: &BTreeMap<Key, u32>, rng: &mut Rng) -> Input {
    Input { values: cells.iter().map(|(key, width)| (*key, random_value(*width, rng))).collect() }
}

fn random_value(width: u32, rng: &mut Rng) -> u64 {
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
        let cells: BTreeMap<Key, u32> =
            [1, 8, 13, 32, 64].into_iter().zip((0..).map(Key)).map(|(w, k)| (k, w)).collect();
        let mut rng = Rng::new(3);
        let inputs: Vec<Input> = (0..100).map(|_| random_input(&cells, &mut rng)).collect();
        for input in &inputs {
            for (key, value) in &input.values {
                let width = cells[key];
                assert!(width == 64 || *value < 1 << width, "{value} in {width} bits");
            }
        }
        let distinct: std::collections::BTreeSet<&Input> = inputs.iter().collect();
        assert!(distinct.len() > 95);
    }
}
