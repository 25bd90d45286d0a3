//! How long may each of several functions take?
//!
//! Method: a turn gets an equal part of the time that is left, but no less than a function needs: its build, a search worth
//! the name, and making a suite of what was found, as earlier turns took them. If there is less time than all functions
//! need, the last ones get no turn: results for some are worth more than builds of all. Limit: costs are those of the
//! functions before, which are smaller.

use std::time::Duration;

/// A search shorter than this finds next to nothing.
const LEAST_SEARCH: Duration = Duration::from_millis(300);

/// Of more time than this the first turn gets half: then it is known who can use more.
const LONG_TURN: Duration = Duration::from_secs(8);

/// Turns after which it is known what one costs.
const TELLING_TURNS: u32 = 4;

/// What a turn takes besides its search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub build: Duration,
    pub finish: Duration,
}

/// What a function may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Building included.
    pub share: Duration,
    /// Once it is built, however long that took.
    pub least: Duration,
}

/// Divides time among functions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schedule {
    /// As far as earlier turns tell: the least that a build took, because the first ones build what all share, and
    /// what finishing usually takes.
    cost: Cost,
    n_turns: u32,
}

impl Schedule {
    /// The next turn, of `n_waiting` functions that share what is left, `at_a_time` of them; none if that is too little.
    pub fn turn(&self, left: Duration, n_waiting: u32, at_a_time: u32, is_first: bool) -> Option<Turn> {
        let needed = self.needed();
        let is_known = self.n_turns >= TELLING_TURNS;
        if left < if is_known { needed } else { LEAST_SEARCH } {
            return None;
        }
        let equal = left / n_waiting.max(1) * at_a_time;
        let share = if is_first && equal > LONG_TURN { equal / 2 } else { equal };
        Some(Turn { share: share.max(needed).min(left), least: LEAST_SEARCH + self.cost.finish })
    }

    /// What a function takes at least.
    pub fn needed(&self) -> Duration {
        self.cost.build + LEAST_SEARCH + self.cost.finish
    }

    /// Learns from a turn that is over.
    pub fn note(&mut self, cost: Cost) {
        self.cost = match self.n_turns {
            0 => cost,
            _ => Cost {
                build: self.cost.build.min(cost.build),
                finish: (self.cost.finish * 3 + cost.finish) / 4,
            },
        };
        self.n_turns += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn after(build: u64, finish: u64) -> Schedule {
        let mut schedule = Schedule::default();
        for _ in 0..TELLING_TURNS {
            schedule.note(Cost { build: milliseconds(build), finish: milliseconds(finish) });
        }
        schedule
    }

    #[test]
    fn everyone_gets_an_equal_part_and_of_much_time_half_of_it_at_first() {
        let share = |left: u64, n, is_first| {
            after(500, 200).turn(milliseconds(left), n, 1, is_first).map(|turn| turn.share)
        };
        assert_eq!(share(12_000, 4, true), Some(milliseconds(3_000)));
        assert_eq!(share(80_000, 4, true), Some(milliseconds(10_000)));
        assert_eq!(share(80_000, 4, false), Some(milliseconds(20_000)));
        let two = after(500, 200).turn(milliseconds(12_000), 4, 2, true);
        assert_eq!(two.map(|turn| turn.share), Some(milliseconds(6_000)), "two at a time have twice as long");
    }

    #[test]
    fn with_little_time_some_functions_get_what_they_need_and_the_last_nothing() {
        let schedule = after(500, 200);
        let mut left = milliseconds(5_500);
        let mut n_turns = 0;
        while let Some(turn) = schedule.turn(left, 100 - n_turns, 1, true) {
            assert_eq!(turn, Turn { share: milliseconds(1_000), least: milliseconds(500) });
            left -= turn.share;
            n_turns += 1;
        }
        assert_eq!(n_turns, 5);
    }

    #[test]
    fn the_first_turns_do_not_deter_the_others() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.needed(), LEAST_SEARCH);
        schedule.note(Cost { build: milliseconds(20_000), finish: milliseconds(800) });
        assert!(schedule.turn(milliseconds(5_000), 9, 1, true).is_some(), "it may have built what all share");
        schedule.note(Cost { build: milliseconds(400), finish: milliseconds(400) });
        assert_eq!(schedule.needed(), milliseconds(400 + 700) + LEAST_SEARCH);
    }
}
