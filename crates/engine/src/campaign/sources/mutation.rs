//! What does mutation find where the solver is too slow?
//!
//! Method: the effort of the search earns tries: half of the effort it took, as much as it took when nothing new has been
//! covered for long, and three times as much when mutation found what was covered last. Tries are mutations of kept inputs
//! (of a whole program's mostly by [words and lines](texts)), run many at a time between two picks of the search, without expressions and even without following their paths. An input
//! that seems to take a new path, or an old one a new number of times, is run once more by itself and becomes a seed; what
//! covers something new is run with expressions too, and the search continues from there, also from the rest when nothing
//! new has been covered for long. The longer mutation finds nothing while the search does, the less it gets. Cells without
//! influence on the path of any run with expressions, such as a buffer that is only written to, are seldom changed. Effort
//! is counted, not timed: the same seed gives the same campaign. A search that has nothing left to try but
//! lost values that the input decides is granted some more. Limit: a campaign with a budget of executions spends none of
//! them on mutation.

pub(super) mod mutate;
mod texts;

use std::collections::{BTreeSet, VecDeque};

use model::Program;
use model::input::{Input, Key};
use model::invocation::InvocationShape;
use wire::Cell;

use crate::campaign::Provenance;
use crate::campaign::effort::EXECUTION_EFFORT;
use crate::campaign::source::{Answer, CampaignView, News, Occasion, Origin, Proposal, RunNews, Source};
use crate::campaign::worker::MAX_SEPARATE_TRIES;
use crate::executor::{End, Values};
use crate::rng::Rng;
use mutate::{Seed, Vocabulary, mutated};
use texts::Texts;

/// Effort of the search before mutation begins: most searches are over by then.
const HEAD_START: u64 = 512;
/// Effort without anything new before mutation gets as much as the search, and by what the search's effort is divided
/// before that.
const STUCK: u64 = 4096;
const SHARE: u64 = 2;
/// By what the search's effort is multiplied as long as mutation is the one that finds something.
const REWARD: u64 = 3;
/// Fruitless tries after which they cost twice as much, and how often that happens at most.
const MANY_FRUITLESS: u64 = 1 << 16;
const MAX_DOUBLINGS: u64 = 3;
/// What a search gets that lost values and has nothing left to try, again when that covers something: about a second.
const BLIND_GRANT: i64 = 10_000;
/// Tries at a time, and how many times in a row before the search has a pick.
const BATCH: usize = wire::MAX_TRIES;
/// Values in a batch, if it has several tries: making them must not take longer than running them.
const BATCH_VALUES: usize = 1 << 18;
const BATCHES_IN_A_ROW: u32 = 32;
/// One in so many tries of a whole program changes cells, not words and lines.
const OTHER_THAN_TEXT: usize = 4;
/// Inputs that are mutated, the newest ones.
const MAX_SEEDS: usize = 1024;

/// Tries mutations of kept inputs.
pub(super) struct Mutation {
    vocabulary: Vocabulary,
    /// Of a whole program: what is known of the texts that it reads.
    texts: Option<Texts>,
    /// Kept inputs.
    seeds: VecDeque<Seed>,
    /// Cells with influence on the path of some run, and those that have been asked for without.
    influential: BTreeSet<Key>,
    idle: BTreeSet<Key>,
    /// Inputs that covered something new and have not been run with expressions.
    found: VecDeque<Input>,
    /// Inputs that look new and have not been run by themselves.
    promising: VecDeque<Input>,
    /// Inputs that took a new path, covered nothing by that, and have not been run with expressions.
    beside: VecDeque<Input>,
    effort: u64,
    effort_since_new: u64,
    /// What there is to spend; what a batch costs is known when it is over.
    credit: i64,
    n_fruitless: u64,
    /// Whether mutation found what was covered last.
    found_last: bool,
    /// Batches since the search had a pick.
    n_in_a_row: u32,
    /// Whether a blind search has had its grant since something new was covered.
    was_granted: bool,
}

impl Mutation {
    pub(super) fn new(program: &Program, invocation: Option<&InvocationShape>) -> Self {
        Self {
            vocabulary: Vocabulary::of(program),
            texts: invocation.map(|shape| Texts::new(program, shape)),
            seeds: VecDeque::new(),
            influential: BTreeSet::new(),
            idle: BTreeSet::new(),
            found: VecDeque::new(),
            promising: VecDeque::new(),
            beside: VecDeque::new(),
            effort: 0,
            effort_since_new: 0,
            credit: 0,
            n_fruitless: 0,
            found_last: false,
            n_in_a_row: 0,
            was_granted: false,
        }
    }

    /// Gets its share of what the search spent.
    fn earn(&mut self, effort: u64) {
        self.effort += effort;
        self.effort_since_new += effort;
        // a try of a whole program costs as much as a run of the search
        let reward = if self.texts.is_some() { 1 } else { REWARD };
        let earned = if self.found_last {
            effort * reward
        } else if self.effort_since_new > STUCK {
            effort
        } else {
            effort / SHARE
        };
        if self.effort > HEAD_START {
            self.credit = self.credit.saturating_add_unsigned(earned);
        }
    }

    /// Learns which cells had no influence on the path of a run.
    fn learn(&mut self, cells: &[Cell], idle: &[Key]) {
        let (idle, n_before): (BTreeSet<Key>, _) = (idle.iter().copied().collect(), self.n_known());
        for key in cells.iter().map(|cell| Key(cell.key)) {
            if !idle.contains(&key) {
                self.influential.insert(key);
                self.idle.remove(&key);
            } else if !self.influential.contains(&key) {
                self.idle.insert(key);
            }
        }
        if self.n_known() != n_before {
            self.seeds.iter_mut().for_each(|seed| seed.look_for_idle(&self.idle));
        }
    }

    /// Grows whenever something is learnt.
    fn n_known(&self) -> usize {
        2 * self.influential.len() + self.idle.len()
    }

    /// Takes a run that the search kept as a seed.
    fn keep(&mut self, cells: &[Cell]) {
        self.effort_since_new = 0;
        self.found_last = false;
        self.add_seed(cells);
    }

    /// Pays for a batch; what looks new is to be run by itself.
    fn tried(&mut self, n_tries: usize, effort: u64, looks_new: &[Input]) {
        self.n_fruitless += n_tries as u64;
        self.spend(effort);
        self.promising.extend(looks_new.iter().cloned());
    }

    /// Takes in a run that looked new, and whether it covered something.
    fn ran(&mut self, input: &Input, cells: &[Cell], found_last: bool) {
        self.spend(EXECUTION_EFFORT);
        self.add_seed(cells);
        if found_last {
            self.was_granted = false;
            self.found.push_back(input.clone());
            self.n_fruitless = 0;
            self.effort_since_new = 0;
            self.found_last = true;
        } else if self.beside.len() < MAX_SEEDS {
            self.beside.push_back(input.clone());
        }
    }

    fn spend(&mut self, effort: u64) {
        // who alone is fruitless gets less; when the search is, too, there is no reason to prefer it
        let is_alone = self.effort_since_new <= STUCK;
        let n_doublings = if is_alone { (self.n_fruitless / MANY_FRUITLESS).min(MAX_DOUBLINGS) } else { 0 };
        self.credit = self.credit.saturating_sub_unsigned(effort << n_doublings);
    }

    fn add_seed(&mut self, cells: &[Cell]) {
        if self.seeds.len() == MAX_SEEDS {
            self.seeds.pop_front();
        }
        self.seeds.push_back(Seed::new(cells.to_vec(), &self.idle));
    }

    /// The next run, if it is mutation's turn and there is effort to spend.
    fn next(&mut self, rng: &mut Rng) -> Option<Proposal> {
        if let Some(input) = self.found.pop_front() {
            return Some(run(input, true));
        }
        if let Some(input) = self.promising.pop_front() {
            return Some(run(input, false));
        }
        if self.n_in_a_row == BATCHES_IN_A_ROW || !self.has_credit() {
            self.n_in_a_row = 0;
            return None;
        }
        self.n_in_a_row += 1;
        if let Some(input) = self.beside.pop_front_if(|_| self.effort_since_new > STUCK) {
            return Some(run(input, true));
        }
        let seeds = self.seeds.make_contiguous();
        let (texts, vocabulary) = (self.texts.as_ref(), &self.vocabulary);
        let most = if texts.is_some() { MAX_SEPARATE_TRIES } else { BATCH };
        let largest = seeds.iter().map(Seed::n_cells).max().unwrap_or(0);
        let n_tries = (BATCH_VALUES / largest.max(1)).clamp(1, most);
        let tries = (0..n_tries).map(|_| {
            let texts = texts.filter(|_| rng.below(OTHER_THAN_TEXT) > 0);
            let varied = texts.and_then(|texts| texts.varied(seeds, rng));
            varied.unwrap_or_else(|| values(&mutated(seeds, vocabulary, rng)))
        });
        Some(Proposal::Try(tries.collect()))
    }

    /// Gives a search that is over, and was blind, something to spend by mutation: no query leads to what it did not see.
    fn grant(&mut self) {
        if !self.was_granted && !self.has_credit() {
            self.was_granted = true;
            self.credit = BLIND_GRANT;
        }
    }

    /// Whether there is something to spend.
    fn has_credit(&self) -> bool {
        self.credit > 0 && !self.seeds.is_empty()
    }

    fn take_in(&mut self, run: &RunNews<'_>, is_blind: bool) {
        // what resembles an endless run is likely to be one
        if run.end == End::TimedOut {
            return;
        }
        // what a run lost may be what decides
        if let Some(idle) = run.without_influence.filter(|_| !is_blind) {
            self.learn(run.cells, idle);
        }
        match run.origin {
            Origin::Trial => self.ran(run.input, run.cells, run.changed),
            Origin::Input | Origin::Candidate(_) | Origin::Change if run.changed => self.keep(run.cells),
            Origin::Input | Origin::Candidate(_) | Origin::Change | Origin::Read(_) => {}
        }
    }
}

impl Source for Mutation {
    fn propose(&mut self, occasion: Occasion, view: &CampaignView<'_>, rng: &mut Rng) -> Answer {
        let is_time = match occasion {
            Occasion::InTurn => true,
            Occasion::LastResort => {
                if view.is_blind {
                    self.grant();
                }
                self.has_credit()
            }
        };
        let proposal = if is_time { self.next(rng) } else { None };
        match proposal {
            Some(Proposal::Try(mut tries)) => {
                tries.iter_mut().for_each(|values| view.enums.prefer_in(values, rng));
                Answer::Propose(Proposal::Try(tries))
            }
            Some(
                proposal @ (Proposal::Run { .. }
                | Proposal::Flip(_)
                | Proposal::Change { .. }
                | Proposal::Alike(_)
                | Proposal::Read(_)),
            ) => Answer::Propose(proposal),
            None => Answer::Pass,
        }
    }

    fn heard(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        match news {
            News::Worked {
                origin: Origin::Input | Origin::Candidate(_) | Origin::Change, effort, ..
            } => {
                self.earn(*effort);
            }
            News::Worked { origin: Origin::Trial | Origin::Read(_), .. } => {}
            News::Tried { n_tries, effort, looks_new } => self.tried(*n_tries, *effort, looks_new),
            News::Ran(run) => self.take_in(run, view.is_blind),
            News::Unsolved { .. } | News::Read { .. } | News::Collected { .. } => {}
        }
    }
}

fn run(input: Input, symbolic: bool) -> Proposal {
    Proposal::Run { input, provenance: Provenance::Mutated, symbolic }
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

    /// A source with this much to spend.
    fn mutation_with(credit: u64) -> Mutation {
        let mut mutation = Mutation::new(&Program::default(), None);
        mutation.keep(&[cell()]);
        mutation.earn(HEAD_START);
        assert!(mutation.next(&mut Rng::new(1)).is_none(), "the search is given some time");
        mutation.earn(SHARE * credit);
        mutation
    }

    /// How many batches there are at this price until all is spent.
    fn n_batches(mutation: &mut Mutation, price: u64) -> u64 {
        let mut rng = Rng::new(1);
        let mut n_batches = 0;
        while mutation.has_credit() {
            if let Some(Proposal::Try(tries)) = mutation.next(&mut rng) {
                assert_eq!(tries.len(), BATCH);
                mutation.tried(tries.len(), price, &[]);
                n_batches += 1;
            }
        }
        n_batches
    }

    #[test]
    fn mutation_waits_for_the_solver_and_spends_what_it_earned() {
        assert_eq!(n_batches(&mut mutation_with(30), 10), 3);
    }

    #[test]
    fn the_search_has_picks_between_turns_of_mutation() {
        let (mut mutation, mut rng) = (mutation_with(100), Rng::new(1));
        let turns: Vec<usize> =
            (0..3).map(|_| std::iter::from_fn(|| mutation.next(&mut rng)).count()).collect();
        assert_eq!(turns, [BATCHES_IN_A_ROW as usize; 3]);
    }

    #[test]
    fn mutation_gets_more_while_the_search_finds_nothing() {
        let earned = |mutation: &mut Mutation| {
            mutation.credit = 0;
            mutation.earn(100);
            mutation.credit
        };
        let mut mutation = mutation_with(STUCK);
        assert_eq!(earned(&mut mutation), 100);
        mutation.keep(&[cell()]);
        assert_eq!(earned(&mut mutation), 50);
        mutation.ran(&Input::default(), &[cell()], true);
        assert_eq!(earned(&mut mutation), 300);
    }

    #[test]
    fn fruitless_mutation_gets_dearer_until_it_finds_something() {
        let cheap = MANY_FRUITLESS / BATCH as u64;
        let mut mutation = mutation_with(cheap + 10);
        assert_eq!(n_batches(&mut mutation, 1), cheap - 1 + 11_u64.div_ceil(2));
        mutation.ran(&Input::default(), &[cell()], true);
        assert!(matches!(mutation.next(&mut Rng::new(1)), Some(Proposal::Run { symbolic: true, .. })));
        mutation.credit = 10;
        assert_eq!(n_batches(&mut mutation, 1), 10);
    }

    #[test]
    fn fruitless_mutation_costs_no_more_when_the_search_is_stuck_too() {
        let mut mutation = mutation_with(1);
        mutation.n_fruitless = MANY_FRUITLESS;
        mutation.earn(STUCK);
        mutation.credit = 10;
        assert_eq!(n_batches(&mut mutation, 1), 10);
        mutation.keep(&[cell()]);
        mutation.credit = 10;
        assert_eq!(n_batches(&mut mutation, 1), 5);
    }

    #[test]
    fn what_looks_new_is_run_by_itself_and_then_mutated() {
        let mut mutation = mutation_with(1);
        mutation.tried(BATCH, 1, &[Input::default()]);
        assert!(matches!(mutation.next(&mut Rng::new(1)), Some(Proposal::Run { symbolic: false, .. })));
        let n_seeds = mutation.seeds.len();
        mutation.ran(&Input::default(), &[cell()], false);
        assert_eq!(mutation.seeds.len(), n_seeds + 1);
        assert!(mutation.next(&mut Rng::new(1)).is_none(), "nothing was covered, and all is spent");
    }

    #[test]
    fn what_took_a_new_path_is_followed_when_the_search_is_stuck() {
        let mut mutation = mutation_with(100);
        mutation.ran(&Input::default(), &[cell()], false);
        let follows = |mutation: &mut Mutation| {
            matches!(mutation.next(&mut Rng::new(1)), Some(Proposal::Run { symbolic: true, .. }))
        };
        assert!(!follows(&mut mutation));
        mutation.earn(STUCK);
        assert!(follows(&mut mutation));
        assert!(!follows(&mut mutation), "once");
    }

    #[test]
    fn a_cell_is_idle_until_it_influences_some_run() {
        let mut mutation = Mutation::new(&Program::default(), None);
        let cells = [1, 2].map(|key| Cell { key, ..cell() });
        let n_idle = |mutation: &Mutation| mutation.seeds[0].n_idle();
        mutation.keep(&cells);
        mutation.learn(&cells, &[Key(1), Key(2)]);
        assert_eq!(n_idle(&mutation), 2);
        mutation.learn(&cells, &[Key(1)]);
        assert_eq!(n_idle(&mutation), 1);
        mutation.learn(&cells, &[Key(1), Key(2)]);
        assert_eq!(n_idle(&mutation), 1, "what had influence once stays influential");
        mutation.learn(&cells, &[]);
        assert_eq!(n_idle(&mutation), 0);
    }

    #[test]
    fn values_are_sorted_by_key_and_have_each_once() {
        let cells = [3, 1, 3].map(|key| Cell { key, value: key, ..cell() });
        assert_eq!(values(&cells), [(Key(1), 1), (Key(3), 3)]);
    }
}
