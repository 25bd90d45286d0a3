//! Which of very many candidates of one run that lead to the same are kept?
//!
//! A run through a long loop leaves its path at the same branch a hundred thousand times, each time with the same outlook. The first ones
//! of an outlook are kept, the last ones, and in between ever fewer: as many between the thousandth and the two-thousandth as
//! between the five-hundredth and the thousandth. What is left out is not forgotten: a later run with the same beginning proposes it again.

use std::collections::{BTreeMap, VecDeque};

/// Candidates of one outlook that are kept in any case, at the beginning of a path and at its end.
const FIRST: usize = 128;
const LAST: usize = 32;

/// Candidates of one run, thinned out by outlook `O`. They are ordered as the path is.
#[derive(Debug)]
pub(super) struct Thinning<O, T> {
    kept: Vec<T>,
    by_outlook: BTreeMap<O, Offered<T>>,
}

#[derive(Debug)]
struct Offered<T> {
    n_offered: usize,
    /// The last ones, with how many came before.
    last: VecDeque<(usize, T)>,
}

impl<O: Ord, T: Ord> Thinning<O, T> {
    pub fn new() -> Self {
        Self { kept: Vec::new(), by_outlook: BTreeMap::new() }
    }

    /// Keeps this in any case.
    pub fn keep(&mut self, candidate: T) {
        self.kept.push(candidate);
    }

    /// Takes the next candidate of the outlook; gives one that is left out for it.
    pub fn offer(&mut self, outlook: O, candidate: T) -> Option<T> {
        let known = self.by_outlook.entry(outlook);
        let known = known.or_insert_with(|| Offered { n_offered: 0, last: VecDeque::new() });
        let number = known.n_offered;
        known.n_offered += 1;
        if number < FIRST {
            self.kept.push(candidate);
            return None;
        }
        known.last.push_back((number, candidate));
        let (number, leaving) = known.last.pop_front_if(|_| number >= FIRST + LAST)?;
        if is_sample(number) {
            self.kept.push(leaving);
            return None;
        }
        Some(leaving)
    }

    /// What is kept, in the order of the path.
    pub fn finish(self) -> Vec<T> {
        let Self { mut kept, by_outlook } = self;
        let last = by_outlook.into_values().flat_map(|offered| offered.last);
        kept.extend(last.map(|(_, candidate)| candidate));
        kept.sort_unstable();
        kept
    }
}

/// Whether a candidate in the middle of a path is kept.
fn is_sample(number: usize) -> bool {
    number.is_multiple_of((number / FIRST).next_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinned(n: usize) -> (Vec<usize>, usize) {
        let mut thinning = Thinning::new();
        let n_left_out = (0..n).filter_map(|number| thinning.offer('o', number)).count();
        (thinning.finish(), n_left_out)
    }

    #[test]
    fn few_are_all_kept() {
        assert_eq!(thinned(FIRST + LAST), ((0..FIRST + LAST).collect(), 0));
    }

    #[test]
    fn of_many_the_first_and_last_are_kept_and_some_between() {
        let (kept, n_left_out) = thinned(100_000);
        assert_eq!(kept.len() + n_left_out, 100_000);
        assert!(kept.len() < 1000, "{}", kept.len());
        assert!(kept.is_sorted());
        assert_eq!(kept[..FIRST], (0..FIRST).collect::<Vec<_>>());
        assert_eq!(kept[kept.len() - LAST..], (100_000 - LAST..100_000).collect::<Vec<_>>());
        let between = kept.iter().filter(|number| (1000..2000).contains(*number)).count();
        let later = kept.iter().filter(|number| (16_000..32_000).contains(*number)).count();
        assert!(between.abs_diff(later) < 40, "{between} {later}");
    }
}
