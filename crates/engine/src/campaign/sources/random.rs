//! What do random inputs find?
//!
//! One of them is the second input of most campaigns; where the strategy uses no candidates they are all there is. Uniform
//! bits alone would hardly ever compare equal to anything, so small numbers, limits of the types and text are mixed in. No
//! input is proposed twice, and when chance repeats itself too often nothing new is expected of it.

use std::collections::BTreeSet;

use model::input::Input;
use wire::CellKind;

use crate::campaign::Provenance;
use crate::campaign::source::{Answer, CampaignView, KnownCells, News, Occasion, Proposal, Source};
use crate::rng::Rng;

/// Sizes that are tried; what needs more has to grow.
const LARGEST_SIZE: u32 = 16;
/// How many times in a row an input may be one that was proposed before.
const MAX_REPEATED: u32 = 1000;

pub(super) struct RandomInputs {
    /// Whether one is to be the second input of the campaign.
    is_second: bool,
    /// Whether they take the place of the search.
    is_search: bool,
    proposed: BTreeSet<Input>,
    /// Repeated inputs since work was done.
    n_repeated: u32,
    is_waiting: bool,
}

impl RandomInputs {
    pub(super) fn new(is_second: bool, is_search: bool) -> Self {
        Self { is_second, is_search, proposed: BTreeSet::new(), n_repeated: 0, is_waiting: false }
    }

    /// An input that was not proposed before.
    fn next(&mut self, view: &CampaignView<'_>, rng: &mut Rng) -> Option<Proposal> {
        while self.n_repeated < MAX_REPEATED {
            let mut input = random_input(view.cells, rng);
            view.enums.prefer(&mut input, rng);
            if self.proposed.insert(input.clone()) {
                return Some(Proposal::Run { input, provenance: Provenance::Random, symbolic: true });
            }
            self.n_repeated += 1;
        }
        None
    }
}

impl Source for RandomInputs {
    fn propose(&mut self, occasion: Occasion, view: &CampaignView<'_>, rng: &mut Rng) -> Answer {
        match occasion {
            Occasion::InTurn if self.is_waiting => Answer::Wait,
            Occasion::InTurn => {
                let is_due = std::mem::take(&mut self.is_second) && !view.is_complete_from_the_start();
                let proposal = if is_due { self.next(view, rng) } else { None };
                self.is_waiting = proposal.is_some();
                proposal.map_or(Answer::Pass, Answer::Propose)
            }
            Occasion::LastResort if self.is_search => {
                self.next(view, rng).map_or(Answer::Wait, Answer::Propose)
            }
            Occasion::LastResort => Answer::Pass,
        }
    }

    fn heard(&mut self, news: &News<'_>, _: &CampaignView<'_>) {
        match news {
            News::Worked { .. } => (self.n_repeated, self.is_waiting) = (0, false),
            News::Tried { .. }
            | News::Unsolved { .. }
            | News::Ran(_)
            | News::Read { .. }
            | News::Collected { .. } => {}
        }
    }
}

/// A value for every cell.
fn random_input(cells: &KnownCells, rng: &mut Rng) -> Input {
    let mut value = |(width, kind): (u32, CellKind)| match kind {
        CellKind::Value => random_value(width, rng),
        CellKind::Size { most } | CellKind::Count { most } => {
            rng.below(most.min(LARGEST_SIZE) as usize + 1) as u64
        }
        // mostly an object of its own: null and pointers to known objects end or repeat most paths
        CellKind::Choice { n_options } if rng.below(4) == 0 => rng.below(n_options.max(1) as usize) as u64,
        CellKind::Choice { .. } => 1,
        CellKind::Option { n_options } => rng.below(n_options.max(1) as usize) as u64,
    };
    Input { values: cells.iter().map(|(key, cell)| (*key, value(*cell))).collect() }
}

/// A value of so many bits.
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
    use model::input::Key;

    use super::*;

    #[test]
    fn values_fit_their_cells_and_differ() {
        let widths = [1, 8, 13, 32, 64].into_iter().map(|width| (width, CellKind::Value));
        let cells: KnownCells = (0..).map(Key).zip(widths).collect();
        let mut rng = Rng::new(3);
        let inputs: Vec<Input> = (0..100).map(|_| random_input(&cells, &mut rng)).collect();
        for input in &inputs {
            for (key, value) in &input.values {
                let (width, _) = cells[key];
                assert!(width == 64 || *value < 1 << width, "{value} in {width} bits");
            }
        }
        let distinct: BTreeSet<&Input> = inputs.iter().collect();
        assert!(distinct.len() > 95);
    }
}
