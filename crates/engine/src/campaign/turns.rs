//! When is the adviser asked, and how much may it spend?
//!
//! The search begins. It hands over when it has covered nothing new for a share of the budget, or has nothing left to try.
//! Turns grow from round to round, and the time of a round is shared by what each side decided per effort in the last one.
//! When the search has nothing left, only the adviser has turns, until it says that more effort would not help or has spent
//! as much effort as the whole budget is worth; before, at most a part of that. A budget of executions says nothing of time, and there the adviser may
//! spend what the search did, or what so many executions are worth. All of it is counted in units of effort, never timed; the exceptions are campaigns whose budget is one of
//! time: the adviser is asked when an eighth of the time is over, and in the last part of it once more, with all that it may still spend. An adviser that decided nothing gives way while the
//! search comes to something new: its turns do not grow then, and it gets little of the last time.

use std::time::Duration;

/// The search hands over after this part of the budget without a new goal, in the first round.
const FIRST_PATIENCE: u64 = 20;
/// The adviser gets this part of the budget in the first round, and at most the other in all.
const FIRST_ADVICE: u64 = 20;
/// It is asked for the first time when this part of the time is over, also while the search covers new goals, because what proofs exclude is not searched; and again
/// after as long if it is under way.
const LONGEST_WAIT: u32 = 8;
const ALL_ADVICE: u64 = 3;
/// With a budget of executions the adviser may spend what the search has spent, or this for each execution of the budget if that is
/// more, within limits; the upper one it has in any case while the search has nothing left.
const PER_EXECUTION: u64 = 100;
const LEAST_BY_COUNT: u64 = 5_000;
const MOST_BY_COUNT: u64 = 20_000;
/// The least that a turn is worth.
const LEAST_TURN: u64 = 2_000;
/// The adviser is not asked with less.
const LEAST_ADVICE: u64 = 50;
/// Neither side gets more than this part of a round, out of `PARTS`.
const MOST_PARTS: u64 = 4;
const PARTS: u64 = 5;
/// The adviser is asked at last when this part of the time is left.
const LAST_PART: u32 = 5;
/// Of what it may still spend, it gets this part then if it decided nothing when it was asked before, and the search covers new goals.
const FRUITLESS_PART: u64 = 8;
/// With each turn that decided nothing, its part of a round is halved while the search covers new goals; so often at most.
const MOST_HALVINGS: u32 = 6;

/// What one side did in its last turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Turn {
    n_decided: u64,
    effort: u64,
}

/// What both sides have spent of a budget of executions.
#[derive(Clone, Copy, Debug)]
struct Counted {
    searched: u64,
    advised: u64,
    /// What the budget's executions are worth.
    worth: u64,
}

/// Whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Effort that the adviser may spend, in all, next, and whether more would help.
    left: u64,
    /// What it may spend on top of that while the search has nothing left.
    kept: u64,
    is_search_over: bool,
    advice: u64,
    is_final: bool,
    /// Whether it was asked in the last part of the time.
    was_asked_at_last: bool,
    /// Turns of it, one after the other, that decided nothing.
    n_fruitless: u32,
    /// With as much effort it decided nothing, and nothing was covered since: with less than half of that it is not asked.
    fruitless: u64,
    /// What both have spent, where executions are counted.
    counted: Option<Counted>,
    /// Whether the adviser is to be asked after a while in any case: for the first time, or because it is under way.
    is_awaited: bool,
    /// When the search was given its turn, by the clock.
    searches_since: Option<Duration>,
    /// Effort without a new goal after which the search hands over.
    patience: u64,
    least_patience: u64,
    since_new: u64,
    /// What both do in a round.
    round: u64,
    search: Turn,
}

impl Turns {
    /// For a budget that is worth this effort, and perhaps of so many executions.
    pub(super) fn new(budget: u64, executions: Option<u64>) -> Self {
        let patience = (budget / FIRST_PATIENCE).max(LEAST_TURN);
        let advice = (budget / FIRST_ADVICE).max(LEAST_TURN);
        let left = (budget / ALL_ADVICE).max(LEAST_TURN);
        Self {
            left,
            kept: budget.saturating_sub(left),
            is_search_over: false,
            advice,
            is_final: false,
            was_asked_at_last: false,
            n_fruitless: 0,
            fruitless: 0,
            counted: executions.map(|n_executions| {
                let worth = n_executions.saturating_mul(PER_EXECUTION).clamp(LEAST_BY_COUNT, MOST_BY_COUNT);
                Counted { searched: 0, advised: 0, worth }
            }),
            is_awaited: true,
            searches_since: Some(Duration::ZERO),
            patience,
            least_patience: patience,
            since_new: 0,
            round: patience + advice,
            search: Turn::default(),
        }
    }

    /// The search did this.
    pub(super) fn searched(&mut self, effort: u64) {
        self.is_search_over = false;
        self.since_new += effort;
        self.search.effort += effort;
        if let Some(counted) = &mut self.counted {
            counted.searched += effort;
        }
    }

    /// The search covered so many goals, perhaps none.
    pub(super) fn covered(&mut self, n_goals: usize) {
        if n_goals > 0 {
            self.search.n_decided += n_goals as u64;
            (self.since_new, self.fruitless) = (0, 0);
            self.is_final = false;
        }
    }

    /// Whether it is the adviser's turn while the search has more to do; `time` is the whole budget of time and what is left of it.
    pub(super) fn is_due(&mut self, time: Option<(Duration, Duration)>) -> bool {
        let is_last_part = time.is_some_and(|(whole, left)| left < whole / LAST_PART);
        if is_last_part && !self.was_asked_at_last && self.can_advise() {
            self.was_asked_at_last = true;
            let gives_way = self.n_fruitless > 0 && self.since_new < self.least_patience;
            self.advice = if gives_way { self.left / FRUITLESS_PART } else { self.left }.max(LEAST_TURN);
            return true;
        }
        let is_late = self.is_awaited
            && time.is_some_and(|(whole, left)| {
                let elapsed = whole.saturating_sub(left);
                elapsed.saturating_sub(*self.searches_since.get_or_insert(elapsed)) >= whole / LONGEST_WAIT
            });
        self.can_advise() && (is_late || self.since_new >= self.patience)
    }

    /// The search has nothing left for now: the adviser may have all that there is.
    pub(super) fn search_is_over(&mut self) {
        self.is_search_over = true;
    }

    /// Whether there is any use in asking the adviser.
    pub(super) fn can_advise(&self) -> bool {
        self.effort() >= LEAST_ADVICE.max(self.fruitless / 2) && !self.is_final
    }

    /// What the adviser may spend now; not less than before when the search waits for nothing else.
    pub(super) fn effort(&self) -> u64 {
        let advice = if self.is_search_over { self.advice.max(self.fruitless) } else { self.advice };
        advice.min(self.available())
    }

    fn available(&self) -> u64 {
        let most = if self.is_search_over { self.left + self.kept } else { self.left };
        let fair = |counted: Counted| {
            let worth = if self.is_search_over { MOST_BY_COUNT } else { counted.worth };
            counted.searched.max(worth).saturating_sub(counted.advised)
        };
        most.min(self.counted.map_or(u64::MAX, fair))
    }

    /// The adviser decided so many goals with this effort; if it `is_under_way`, it found something that its next turn goes on from.
    pub(super) fn advised(&mut self, n_decided: usize, effort: u64, is_final: bool, is_under_way: bool) {
        let is_fruitless = n_decided == 0 && !is_under_way;
        self.fruitless = if is_fruitless { self.effort() } else { 0 };
        // a turn that costs nothing would never end
        let effort = effort.max(1);
        self.kept = self.kept.saturating_sub(effort.saturating_sub(self.left));
        self.left = self.left.saturating_sub(effort);
        if let Some(counted) = &mut self.counted {
            counted.advised += effort;
        }
        (self.is_final, self.since_new) = (is_final, 0);
        (self.is_awaited, self.searches_since) = (is_under_way, None);
        self.n_fruitless = if is_fruitless { self.n_fruitless + 1 } else { 0 };
        self.round *= 2;
        let advice = Turn { n_decided: n_decided as u64, effort };
        let searching = share(self.search, advice, self.round);
        let halvings = if self.search.n_decided > 0 { self.n_fruitless.min(MOST_HALVINGS) } else { 0 };
        let advising = (self.round - searching) >> halvings;
        (self.patience, self.advice) = (searching.max(LEAST_TURN), advising.max(LEAST_TURN));
        self.search = Turn::default();
    }
}

/// The search's part of a round, by what each side decided per effort.
fn share(search: Turn, advice: Turn, round: u64) -> u64 {
    let per_effort = |turn: Turn, other: Turn| u128::from(turn.n_decided) * u128::from(other.effort.max(1));
    let (searching, advising) = (per_effort(search, advice), per_effort(advice, search));
    let round_wide = u128::from(round);
    let part = (round_wide * searching).checked_div(searching + advising).unwrap_or(round_wide / 2);
    let part = u64::try_from(part).unwrap_or(round);
    part.clamp(round * (PARTS - MOST_PARTS) / PARTS, round * MOST_PARTS / PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_hands_over_after_a_share_of_the_budget_without_a_new_goal() {
        let mut turns = Turns::new(400_000, None);
        turns.searched(19_999);
        assert!(!turns.is_due(None));
        turns.covered(1);
        turns.searched(19_999);
        assert!(!turns.is_due(None), "it covered something meanwhile");
        turns.searched(1);
        assert!(turns.is_due(None));
        assert_eq!(turns.effort(), 20_000);
    }

    #[test]
    fn a_search_that_always_covers_something_hands_over_after_an_eighth_of_the_time() {
        let seconds = Duration::from_secs;
        let mut turns = Turns::new(400_000, None);
        turns.searched(15_000);
        turns.covered(1);
        assert!(!turns.is_due(None), "where executions are counted, no clock is looked at");
        assert!(!turns.is_due(Some((seconds(40), seconds(36)))));
        assert!(turns.is_due(Some((seconds(40), seconds(35)))));
        turns.advised(1, 10_000, false, false);
        turns.searched(15_000);
        turns.covered(1);
        assert!(!turns.is_due(Some((seconds(40), seconds(9)))), "and once");
    }

    #[test]
    fn an_adviser_that_is_under_way_is_asked_again_soon() {
        let seconds = Duration::from_secs;
        let mut turns = Turns::new(400_000, None);
        turns.searched(15_000);
        turns.covered(10);
        assert!(turns.is_due(Some((seconds(40), seconds(35)))));
        turns.advised(0, 20_000, false, true);
        turns.covered(1);
        assert!(!turns.is_due(Some((seconds(40), seconds(29)))), "the search has its turn first");
        assert!(turns.is_due(Some((seconds(40), seconds(24)))));
        assert_eq!(turns.effort(), 16_000, "a fifth of a round, not half of that");
    }

    #[test]
    fn who_decided_more_gets_more_of_a_round_that_grows() {
        let mut turns = Turns::new(4_000_000, None);
        turns.searched(200_000);
        turns.advised(3, 100_000, false, false);
        assert_eq!((turns.patience, turns.advice), (160_000, 640_000), "the adviser decided all");
        turns.searched(160_000);
        turns.covered(5);
        turns.searched(160_000);
        turns.advised(0, 640_000, false, false);
        assert_eq!(
            (turns.patience, turns.advice),
            (1_280_000, 160_000),
            "now the search did, so the adviser gives way"
        );
        turns.advised(0, 1, false, false);
        assert_eq!((turns.patience, turns.advice), (1_600_000, 1_600_000), "none did");
    }

    #[test]
    fn the_adviser_ends_when_its_part_is_spent_or_more_would_not_help() {
        let mut turns = Turns::new(300_000, None);
        turns.advised(0, 70_000, false, false);
        assert_eq!(turns.effort(), 30_000, "that is left of a third of the budget");
        turns.advised(0, 30_000, false, false);
        assert!(!turns.can_advise());
        let mut turns = Turns::new(400_000, None);
        turns.advised(0, 5, true, false);
        assert!(!turns.can_advise());
        turns.covered(1);
        assert!(turns.can_advise(), "the search came to something new");
    }

    #[test]
    fn without_anything_left_to_search_the_adviser_has_the_whole_budget() {
        let mut turns = Turns::new(300_000, None);
        turns.advised(0, 100_000, false, false);
        assert!(!turns.can_advise());
        turns.search_is_over();
        assert!(turns.can_advise());
        turns.searched(1);
        assert!(!turns.can_advise(), "its inputs gave the search something to do");
        turns.search_is_over();
        turns.advised(0, 150_000, false, false);
        assert_eq!(turns.effort(), 50_000, "that is left of all");
        turns.advised(0, 50_000, false, false);
        assert!(!turns.can_advise());
    }

    #[test]
    fn at_last_the_adviser_has_all_that_is_left_unless_it_decided_nothing_and_the_search_does() {
        let seconds = Duration::from_secs;
        let at_last = |n_decided: usize, searched: u64| {
            let mut turns = Turns::new(300_000, None);
            turns.advised(n_decided, 20_000, false, false);
            turns.searched(searched);
            assert!(!turns.is_due(Some((seconds(60), seconds(30)))));
            assert!(turns.is_due(Some((seconds(60), seconds(10)))));
            turns.effort()
        };
        assert_eq!((at_last(1, 0), at_last(0, 0), at_last(0, 15_000)), (80_000, 10_000, 80_000));
    }

    #[test]
    fn an_adviser_that_decides_nothing_gets_no_longer_turns_while_the_search_covers_goals() {
        let mut turns = Turns::new(40_000_000, None);
        let mut of_turns = Vec::new();
        for _ in 0..4 {
            turns.searched(turns.patience);
            turns.covered(1);
            turns.searched(turns.patience);
            of_turns.push(turns.effort());
            turns.advised(0, turns.effort(), false, false);
        }
        assert_eq!(of_turns, [2_000_000, 800_000, 800_000, 800_000]);
    }

    #[test]
    fn where_executions_are_counted_it_spends_what_the_search_did() {
        let mut turns = Turns::new(400_000, Some(1_000));
        turns.advised(0, 19_000, false, false);
        assert_eq!(turns.effort(), 1_000, "the most that executions are worth");
        turns.advised(0, 1_000, false, false);
        assert!(!turns.can_advise());
        turns.searched(50_000);
        assert_eq!(turns.effort(), 30_000);
    }

    #[test]
    fn few_executions_are_worth_little_unless_the_search_has_nothing_left() {
        let mut turns = Turns::new(400_000, Some(12));
        turns.searched(300);
        assert_eq!(turns.effort(), LEAST_BY_COUNT);
        turns.advised(0, LEAST_BY_COUNT, false, false);
        assert!(!turns.can_advise());
        turns.search_is_over();
        assert_eq!(turns.effort(), MOST_BY_COUNT - LEAST_BY_COUNT);
        let mut more = Turns::new(400_000, Some(100));
        more.searched(300);
        assert_eq!(more.effort(), 10_000, "a hundred executions are worth more");
    }

    #[test]
    fn it_is_asked_once_before_the_time_ends_with_all_that_is_left() {
        let mut turns = Turns::new(300_000, None);
        turns.advised(1, 1, false, false);
        let seconds = Duration::from_secs;
        assert!(!turns.is_due(Some((seconds(50), seconds(10)))));
        assert!(turns.is_due(Some((seconds(50), seconds(9)))));
        assert_eq!(turns.effort(), 99_999);
        turns.advised(0, 10, false, false);
        assert!(!turns.is_due(Some((seconds(50), seconds(9)))), "it was asked");
    }
}
