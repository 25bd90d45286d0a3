//! What does chance find that the solver is too slow for?
//!
//! Method: the effort of solving since anything new was covered earns executions, about as many as would have taken the
//! same time. They are spent on mutations of kept inputs, a few between two picks of the search, run without making
//! expressions; what covers something new is run once more with them, and the search goes on from there. The longer chance
//! finds nothing, the less it gets; when the search finds something by itself, what was earned is forfeited.
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
const PATIENCE: u64 = 4096;
/// What an execution takes, measured like the solver's effort.
const PRICE: u64 = 4;
/// Executions in vain after which one costs twice as much.
const MANY_IN_VAIN: u64 = 2048;
/// The highest price of an execution.
const MAX_PRICE: u64 = 32 * PRICE;
/// Executions in a row before the search has a pick.
const TURN: u64 = 16;
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
    /// Executions in this turn.
    n_in_turn: u64,
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
            n_in_turn: 0,
        }
    }

    /// Hears what the solver spent.
    pub(super) fn earn(&mut self, effort: u64) {
        self.effort_since_new += effort;
        if self.effort_since_new > PATIENCE {
            self.credit += effort;
        }
    }

    /// Hears of a run that the search kept.
    pub(super) fn keep(&mut self, cells: &[Cell]) {
        self.credit = 0;
        self.add_seed(cells);
    }

    /// Hears that an input of its own covered something new.
    pub(super) fn was_lucky(&mut self, input: Input, cells: &[Cell]) {
        self.found.push_back(input);
        self.n_in_vain = 0;
        self.add_seed(cells);
    }

    fn add_seed(&mut self, cells: &[Cell]) {
        if self.seeds.len() == MAX_SEEDS {
            self.seeds.pop_front();
        }
        self.seeds.push_back(cells.to_vec());
        self.effort_since_new = 0;
    }

    /// The next run, if it is chance's turn and there is one to spend.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<Turn> {
        if let Some(input) = self.found.pop_front() {
            return Some(Turn::Follow(input));
        }
        if self.n_in_turn == TURN {
            self.n_in_turn = 0;
            return None;
        }
        self.credit = self.credit.checked_sub(self.price()).filter(|_| !self.seeds.is_empty())?;
        self.n_in_turn += 1;
        self.n_in_vain += 1;
        let cells = mutated(self.seeds.make_contiguous(), &self.vocabulary, rng);
        let values = cells.into_iter().map(|cell| (Key(cell.key), cell.value)).collect();
        Some(Turn::Try(Input { values }))
    }

    /// Whether there is something to spend.
    pub(super) fn has_credit(&self) -> bool {
        !self.found.is_empty() || (self.credit >= self.price() && !self.seeds.is_empty())
    }

    fn price(&self) -> u64 {
        (PRICE << (self.n_in_vain / MANY_IN_VAIN).min(32)).min(MAX_PRICE)
    }
}

#[cfg(test)]
mod tests {
    use wire::CellKind;

    use super::*;

    fn cell() -> Cell {
        Cell { key: 1, value: 7, node: 0, width: 8, kind: CellKind::Value }
    }

    /// A chance with this much to spend.
    fn chance_with(credit: u64) -> Chance {
        let mut chance = Chance::new(&Program::default());
        chance.keep(&[cell()]);
        chance.earn(PATIENCE);
        assert!(chance.next(&mut Rng::new(1)).is_none(), "the search is given some time");
        chance.earn(credit);
        chance
    }

    /// How often chance tries until all is spent, however many turns that takes.
    fn n_tries(chance: &mut Chance) -> u64 {
        let mut rng = Rng::new(1);
        let mut n_tries = 0;
        while chance.has_credit() {
            n_tries += u64::from(matches!(chance.next(&mut rng), Some(Turn::Try(_))));
        }
        n_tries
    }

    #[test]
    fn chance_waits_for_the_solver_and_spends_what_it_earned() {
        assert_eq!(n_tries(&mut chance_with(3 * PRICE)), 3);
    }

    #[test]
    fn the_search_has_picks_between_turns_of_chance() {
        let (mut chance, mut rng) = (chance_with(100 * PRICE), Rng::new(1));
        let turns: Vec<usize> =
            (0..3).map(|_| std::iter::from_fn(|| chance.next(&mut rng)).count()).collect();
        assert_eq!(turns, [TURN as usize; 3]);
    }

    #[test]
    fn chance_loses_its_credit_when_the_search_finds_something() {
        let mut chance = chance_with(100 * PRICE);
        chance.keep(&[cell()]);
        assert!(!chance.has_credit());
    }

    #[test]
    fn chance_in_vain_gets_dearer_until_it_is_lucky() {
        let mut chance = chance_with((MANY_IN_VAIN + 10) * PRICE);
        assert_eq!(n_tries(&mut chance), MANY_IN_VAIN + 5);
        chance.was_lucky(Input::default(), &[cell()]);
        assert!(matches!(chance.next(&mut Rng::new(1)), Some(Turn::Follow(_))));
        chance.credit = 10 * PRICE;
        assert_eq!(n_tries(&mut chance), 10);
    }
}
