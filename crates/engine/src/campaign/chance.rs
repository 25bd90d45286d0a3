//! What does chance find that the solver is too slow for?
//!
//! Method: the effort of the search earns tries: half of the time that it took, as much as it took when nothing new has been
//! covered for long, and three times as much when chance found what was covered last. They are mutations of kept inputs, run
//! many at a time between two picks of the search without making expressions or even following their paths. What seems to go
//! a new way, or an old one a new number of times, is run once more by itself and mutated further; what covers something new
//! is run with expressions too, and the search goes on from there, also from the rest when nothing new has been covered for
//! long. The longer chance finds nothing while the search does, the less it gets. Parts of an input that had no say in where
//! any run with expressions went, such as a buffer that is only written to, are seldom changed. Effort is counted, not
//! timed: the same seed gives the same campaign. Limit: a campaign with a budget of executions leaves none of them to
//! chance.

mod mutate;

use std::collections::{BTreeSet, VecDeque};

use model::Program;
use model::input::{Input, Key};
use wire::Cell;

use super::worker::EXECUTION_EFFORT;
use crate::executor::Values;
use crate::rng::Rng;
use mutate::{Seed, Vocabulary, mutated};

/// Effort of the search before chance has a turn: most searches are over by then.
const PATIENCE: u64 = 512;
/// Effort without anything new before chance has as much as the search, and its part of what the search has before that.
const LONG_IN_VAIN: u64 = 4096;
const PART: u64 = 2;
/// How many times what the search has chance has as long as it is the one that finds something.
const REWARD: u64 = 3;
/// Tries in vain after which they cost twice as much, and how often that happens at most.
const MANY_IN_VAIN: u64 = 1 << 16;
const MAX_DOUBLINGS: u64 = 3;
/// Tries at a time, and how many times in a row before the search has a pick.
const BATCH: usize = wire::MAX_TRIES;
const TURN: u32 = 32;
/// Inputs that are mutated, the newest ones.
const MAX_SEEDS: usize = 1024;

pub(super) struct Chance {
    vocabulary: Vocabulary,
    /// Kept inputs.
    seeds: VecDeque<Seed>,
    /// Cells that had a say in where some run went, and those that have been there without.
    busy: BTreeSet<Key>,
    idle: BTreeSet<Key>,
    /// Inputs that covered something new and have not been run with expressions.
    found: VecDeque<Input>,
    /// Inputs that look new and have not been run by themselves.
    promising: VecDeque<Input>,
    /// Inputs that went a new way, covered nothing by that, and have not been run with expressions.
    beside: VecDeque<Input>,
    effort: u64,
    effort_since_new: u64,
    /// What there is to spend; what a turn takes is known when it is over.
    credit: i64,
    n_in_vain: u64,
    /// Whether what was covered last was found by chance.
    was_lucky: bool,
    /// How many times it has tried since the search had a pick.
    n_in_turn: u32,
}

/// What chance wants to run.
pub(super) enum Turn {
    /// To see which of them look new.
    TryAll(Vec<Values>),
    /// To see what it covers.
    Try(Input),
    /// For its candidates.
    Follow(Input),
}

impl Chance {
    pub(super) fn new(program: &Program) -> Self {
        Self {
            vocabulary: Vocabulary::of(program),
            seeds: VecDeque::new(),
            busy: BTreeSet::new(),
            idle: BTreeSet::new(),
            found: VecDeque::new(),
            promising: VecDeque::new(),
            beside: VecDeque::new(),
            effort: 0,
            effort_since_new: 0,
            credit: 0,
            n_in_vain: 0,
            was_lucky: false,
            n_in_turn: 0,
        }
    }

    /// Hears what the search spent.
    pub(super) fn earn(&mut self, effort: u64) {
        self.effort += effort;
        self.effort_since_new += effort;
        let earned = if self.was_lucky {
            effort * REWARD
        } else if self.effort_since_new > LONG_IN_VAIN {
            effort
        } else {
            effort / PART
        };
        if self.effort > PATIENCE {
            self.credit = self.credit.saturating_add_unsigned(earned);
        }
    }

    /// Hears which cells of a run had no say in where it went.
    pub(super) fn learn(&mut self, cells: &[Cell], idle: &[Key]) {
        let (idle, n_before): (BTreeSet<Key>, _) = (idle.iter().copied().collect(), self.n_known());
        for key in cells.iter().map(|cell| Key(cell.key)) {
            if !idle.contains(&key) {
                self.busy.insert(key);
                self.idle.remove(&key);
            } else if !self.busy.contains(&key) {
                self.idle.insert(key);
            }
        }
        if self.n_known() != n_before {
            self.seeds.iter_mut().for_each(|seed| seed.look_for_idle(&self.idle));
        }
    }

    /// Grows whenever something is learnt.
    fn n_known(&self) -> usize {
        2 * self.busy.len() + self.idle.len()
    }

    /// Hears of a run that the search kept.
    pub(super) fn keep(&mut self, cells: &[Cell]) {
        self.effort_since_new = 0;
        self.was_lucky = false;
        self.add_seed(cells);
    }

    /// Hears what a turn took and which of its tries look new.
    pub(super) fn tried(&mut self, n_tries: usize, effort: u64, new: Vec<Input>) {
        self.n_in_vain += n_tries as u64;
        self.spend(effort);
        self.promising.extend(new);
    }

    /// Hears of a run that looked new, and whether it covered something.
    pub(super) fn ran(&mut self, input: &Input, cells: &[Cell], was_lucky: bool) {
        self.spend(EXECUTION_EFFORT);
        self.add_seed(cells);
        if was_lucky {
            self.found.push_back(input.clone());
            self.n_in_vain = 0;
            self.effort_since_new = 0;
            self.was_lucky = true;
        } else if self.beside.len() < MAX_SEEDS {
            self.beside.push_back(input.clone());
        }
    }

    fn spend(&mut self, effort: u64) {
        // who is in vain alone gets less; when the search is, too, there is no reason to prefer it
        let is_alone = self.effort_since_new <= LONG_IN_VAIN;
        let n_doublings = if is_alone { (self.n_in_vain / MANY_IN_VAIN).min(MAX_DOUBLINGS) } else { 0 };
        self.credit = self.credit.saturating_sub_unsigned(effort << n_doublings);
    }

    fn add_seed(&mut self, cells: &[Cell]) {
        if self.seeds.len() == MAX_SEEDS {
            self.seeds.pop_front();
        }
        self.seeds.push_back(Seed::new(cells.to_vec(), &self.idle));
    }

    /// The next run, if it is chance's turn and there is one to spend.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<Turn> {
        if let Some(input) = self.found.pop_front() {
            return Some(Turn::Follow(input));
        }
        if let Some(input) = self.promising.pop_front() {
            return Some(Turn::Try(input));
        }
        if self.n_in_turn == TURN || !self.has_credit() {
            self.n_in_turn = 0;
            return None;
        }
        self.n_in_turn += 1;
        if let Some(input) = self.beside.pop_front_if(|_| self.effort_since_new > LONG_IN_VAIN) {
            return Some(Turn::Follow(input));
        }
        let seeds = self.seeds.make_contiguous();
        Some(Turn::TryAll((0..BATCH).map(|_| values(&mutated(seeds, &self.vocabulary, rng))).collect()))
    }

    /// Whether there is something to spend.
    pub(super) fn has_credit(&self) -> bool {
        self.credit > 0 && !self.seeds.is_empty()
    }
}

/// The values of cells by key, each once.
fn values(cells: &[Cell]) -> Values {
    let mut values: Values = cells.iter().map(|cell| (Key(cell.key), cell.value)).collect();
    values.sort_by_key(|(key, _)| *key);
    values.dedup_by_key(|(key, _)| *key);
    values
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
        chance.earn(PART * credit);
        chance
    }

    /// How many times chance tries at this price until all is spent.
    fn n_batches(chance: &mut Chance, price: u64) -> u64 {
        let mut rng = Rng::new(1);
        let mut n_batches = 0;
        while chance.has_credit() {
            if let Some(Turn::TryAll(tries)) = chance.next(&mut rng) {
                assert_eq!(tries.len(), BATCH);
                chance.tried(tries.len(), price, Vec::new());
                n_batches += 1;
            }
        }
        n_batches
    }

    #[test]
    fn chance_waits_for_the_solver_and_spends_what_it_earned() {
        assert_eq!(n_batches(&mut chance_with(30), 10), 3);
    }

    #[test]
    fn the_search_has_picks_between_turns_of_chance() {
        let (mut chance, mut rng) = (chance_with(100), Rng::new(1));
        let turns: Vec<usize> =
            (0..3).map(|_| std::iter::from_fn(|| chance.next(&mut rng)).count()).collect();
        assert_eq!(turns, [TURN as usize; 3]);
    }

    #[test]
    fn chance_has_more_while_the_search_finds_nothing() {
        let earned = |chance: &mut Chance| {
            chance.credit = 0;
            chance.earn(100);
            chance.credit
        };
        let mut chance = chance_with(LONG_IN_VAIN);
        assert_eq!(earned(&mut chance), 100);
        chance.keep(&[cell()]);
        assert_eq!(earned(&mut chance), 50);
        chance.ran(&Input::default(), &[cell()], true);
        assert_eq!(earned(&mut chance), 300);
    }

    #[test]
    fn chance_in_vain_gets_dearer_until_it_is_lucky() {
        let cheap = MANY_IN_VAIN / BATCH as u64;
        let mut chance = chance_with(cheap + 10);
        assert_eq!(n_batches(&mut chance, 1), cheap - 1 + 11_u64.div_ceil(2));
        chance.ran(&Input::default(), &[cell()], true);
        assert!(matches!(chance.next(&mut Rng::new(1)), Some(Turn::Follow(_))));
        chance.credit = 10;
        assert_eq!(n_batches(&mut chance, 1), 10);
    }

    #[test]
    fn chance_in_vain_costs_no_more_when_the_search_is_in_vain_too() {
        let mut chance = chance_with(1);
        chance.n_in_vain = MANY_IN_VAIN;
        chance.earn(LONG_IN_VAIN);
        chance.credit = 10;
        assert_eq!(n_batches(&mut chance, 1), 10);
        chance.keep(&[cell()]);
        chance.credit = 10;
        assert_eq!(n_batches(&mut chance, 1), 5);
    }

    #[test]
    fn what_looks_new_is_run_by_itself_and_then_mutated() {
        let mut chance = chance_with(1);
        chance.tried(BATCH, 1, vec![Input::default()]);
        assert!(matches!(chance.next(&mut Rng::new(1)), Some(Turn::Try(_))));
        let n_seeds = chance.seeds.len();
        chance.ran(&Input::default(), &[cell()], false);
        assert_eq!(chance.seeds.len(), n_seeds + 1);
        assert!(chance.next(&mut Rng::new(1)).is_none(), "nothing was covered, and all is spent");
    }

    #[test]
    fn what_went_a_new_way_is_followed_when_the_search_is_long_in_vain() {
        let mut chance = chance_with(100);
        chance.ran(&Input::default(), &[cell()], false);
        let follows = |chance: &mut Chance| matches!(chance.next(&mut Rng::new(1)), Some(Turn::Follow(_)));
        assert!(!follows(&mut chance));
        chance.earn(LONG_IN_VAIN);
        assert!(follows(&mut chance));
        assert!(!follows(&mut chance), "once");
    }

    #[test]
    fn a_cell_is_idle_until_some_run_gives_it_a_say() {
        let mut chance = Chance::new(&Program::default());
        let cells = [1, 2].map(|key| Cell { key, ..cell() });
        let n_idle = |chance: &Chance| chance.seeds[0].n_idle();
        chance.keep(&cells);
        chance.learn(&cells, &[Key(1), Key(2)]);
        assert_eq!(n_idle(&chance), 2);
        chance.learn(&cells, &[Key(1)]);
        assert_eq!(n_idle(&chance), 1);
        chance.learn(&cells, &[Key(1), Key(2)]);
        assert_eq!(n_idle(&chance), 1, "what had a say once keeps it");
        chance.learn(&cells, &[]);
        assert_eq!(n_idle(&chance), 0);
    }

    #[test]
    fn values_are_sorted_by_key_and_have_each_once() {
        let cells = [3, 1, 3].map(|key| Cell { key, value: key, ..cell() });
        assert_eq!(values(&cells), [(Key(1), 1), (Key(3), 3)]);
    }
}
