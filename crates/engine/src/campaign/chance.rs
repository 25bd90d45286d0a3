//! What does chance find that the solver is too slow for?
//!
//! Method: the effort of the solver since anything new was covered earns executions, about as many as would have taken the
//! same time. They are spent on mutations of kept inputs, run without making expressions; what covers something new is run
//! once more with them, and the search goes on from there. The longer chance finds nothing, the less it gets.
//! Effort is counted, not timed: the same seed gives the same campaign. Limit: a campaign with a budget of executions leaves
//! none of them to chance.

mod mutate;

use std::collections::VecDeque;

use model::Program;
use model::input::{Input, Key};
use wire::Cell;

use crate::rng::Rng;
use mutate::{Vocabulary, mutated};

/// Effort of the solver without anything new before chance has a turn: the search is given some time.
const PATIENCE: u64 = 256;
/// Executions in vain after which one costs twice as much.
const MANY_IN_VAIN: u64 = 2048;
/// The highest price of an execution.
const MAX_PRICE: u64 = 32;
/// Inputs that are mutated, the newest ones.
const MAX_SEEDS: usize = 1024;

pub(super) struct Chance {
    vocabulary: Vocabulary,
    /// The cells of kept inputs, in the order in which their runs asked for them.
    seeds: VecDeque<Vec<Cell>>,
    /// Inputs that covered something new and have not been run with expressions.
    found: VecDeque<Input>,
    effort_since_new: u64,
    credit: u64,
    n_in_vain: u64,
}

/// What chance wants to run.
pub(super) enum Turn {
    /// Only to see what it covers.
    Try(Input),
    /// For its candidates: it covered something.
    Follow(Input),
}

impl Chance {
    pub(super) fn new(program: &Program) -> Self {
        Self {
            vocabulary: Vocabulary::of(program),
            seeds: VecDeque::new(),
            found: VecDeque::new(),
            effort_since_new: 0,
            credit: 0,
            n_in_vain: 0,
        }
    }

    /// Hears what the solver spent.
    pub(super) fn earn(&mut self, effort: u64) {
        self.effort_since_new += effort;
        if self.effort_since_new > PATIENCE {
            self.credit += effort;
        }
    }

    /// Hears of a kept run.
    pub(super) fn keep(&mut self, cells: &[Cell]) {
        if self.seeds.len() == MAX_SEEDS {
            self.seeds.pop_front();
        }
        self.seeds.push_back(cells.to_vec());
        self.effort_since_new = 0;
    }

    /// Hears that an input of its own covered something new.
    pub(super) fn was_lucky(&mut self, input: Input) {
        self.found.push_back(input);
        self.n_in_vain = 0;
    }

    /// The next run, if chance has one to spend.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<Turn> {
        if let Some(input) = self.found.pop_front() {
            return Some(Turn::Follow(input));
        }
        let price = (1 << (self.n_in_vain / MANY_IN_VAIN).min(63)).min(MAX_PRICE);
        self.credit = self.credit.checked_sub(price).filter(|_| !self.seeds.is_empty())?;
        self.n_in_vain += 1;
        let cells = mutated(self.seeds.make_contiguous(), &self.vocabulary, rng);
        let values = cells.into_iter().map(|cell| (Key(cell.key), cell.value)).collect();
        Some(Turn::Try(Input { values }))
    }
}

#[cfg(test)]
mod tests {
    use wire::CellKind;

    use super::*;

    fn cell() -> Cell {
        Cell { key: 1, value: 7, node: 0, width: 8, kind: CellKind::Value }
    }

    #[test]
    fn chance_waits_for_the_solver_and_spends_what_it_earned() {
        let mut chance = Chance::new(&Program::default());
        let mut rng = Rng::new(1);
        chance.keep(&[cell()]);
        chance.earn(PATIENCE);
        assert!(chance.next(&mut rng).is_none(), "the search is given some time");
        chance.earn(3);
        assert_eq!(std::iter::from_fn(|| chance.next(&mut rng)).count(), 3);
    }

    #[test]
    fn chance_in_vain_gets_dearer_until_it_is_lucky() {
        let mut chance = Chance::new(&Program::default());
        let mut rng = Rng::new(1);
        chance.keep(&[cell()]);
        chance.earn(PATIENCE + 1);
        chance.credit = MANY_IN_VAIN + 10;
        let n_tries = std::iter::from_fn(|| chance.next(&mut rng)).count() as u64;
        assert_eq!(n_tries, MANY_IN_VAIN + 5);
        chance.was_lucky(Input::default());
        assert!(matches!(chance.next(&mut rng), Some(Turn::Follow(_))));
        chance.credit = 10;
        assert_eq!(std::iter::from_fn(|| chance.next(&mut rng)).count(), 10);
    }
}
