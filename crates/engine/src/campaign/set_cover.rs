//! Which tests are needed to cover what all of them cover?
//!
//! Method: greedy set cover (the test that covers most of what is left comes next, the first of several), then tests whose
//! goals the other chosen ones cover are dropped, those chosen last first. The result has no redundant test; that there is
//! no smaller one is not claimed. Deterministic.

use std::collections::{BTreeMap, BTreeSet};

use coverage::GoalId;

/// The indices of tests that together cover what all cover, in order; `goals` has what each test covers.
pub fn necessary(goals: &[&[GoalId]]) -> Vec<usize> {
    let mut left: BTreeSet<GoalId> = goals.iter().flat_map(|goals| goals.iter().copied()).collect();
    let mut chosen: Vec<usize> = Vec::new();
    while !left.is_empty() {
        let gain = |index: &usize| goals[*index].iter().filter(|goal| left.contains(goal)).count();
        let best = (0..goals.len()).rev().max_by_key(gain).expect("what is left belongs to some test");
        goals[best].iter().for_each(|goal| {
            left.remove(goal);
        });
        chosen.push(best);
    }
    let mut n_covering: BTreeMap<GoalId, usize> = BTreeMap::new();
    for goal in chosen.iter().flat_map(|index| goals[*index]) {
        *n_covering.entry(*goal).or_default() += 1;
    }
    for at in (0..chosen.len()).rev() {
        let own = goals[chosen[at]];
        if own.iter().all(|goal| n_covering[goal] > 1) {
            own.iter().for_each(|goal| *n_covering.get_mut(goal).expect("counted above") -= 1);
            chosen.remove(at);
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tests: &[&[u32]], expected: &[usize]) {
        let goals: Vec<Vec<GoalId>> =
            tests.iter().map(|goals| goals.iter().copied().map(GoalId).collect()).collect();
        let goals: Vec<&[GoalId]> = goals.iter().map(Vec::as_slice).collect();
        assert_eq!(necessary(&goals), expected);
    }

    #[test]
    fn a_test_that_covers_everything_is_enough() {
        check(&[&[1], &[1, 2], &[1, 2, 3], &[3]], &[2]);
    }

    #[test]
    fn the_first_of_equal_tests_is_taken() {
        check(&[&[1], &[1], &[2], &[2]], &[0, 2]);
    }

    #[test]
    fn what_later_choices_made_redundant_is_dropped() {
        // greedy takes the large one first, then both others, which cover all of it
        check(&[&[1, 2, 3, 4], &[1, 2, 5], &[3, 4, 6]], &[1, 2]);
    }

    #[test]
    fn nothing_is_needed_to_cover_nothing() {
        check(&[&[], &[]], &[]);
    }
}
