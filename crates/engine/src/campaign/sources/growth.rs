//! Which input has too little room for what is still open?
//!
//! How many elements an array has is part of the input, but no constraint of a run depends on it: the run reads what is
//! there. Nor does any depend on which member of a union is there. So both are changed from outside. Method: when nothing
//! else is left to try, or nothing new was covered for a while, a kept test is run again with one of its sizes doubled; the
//! new elements are zero and the search continues from there. Smaller sizes and earlier tests come first, each step is made
//! once, and growth that covers nothing is given up after a while. Limit: sizes grow one at a time and never shrink.

use std::collections::BTreeSet;

use coverage::TestId;
use model::input::{Input, Key};
use wire::CellKind;

use crate::campaign::source::{Answer, CampaignView, KnownCells, News, Occasion, Origin, Proposal, Source};
use crate::campaign::{Provenance, Test};
use crate::rng::Rng;

/// Executions without anything new after which a size is grown.
const MANY_WITHOUT_NEW: u64 = 256;
/// Steps granted at the start, and for each that led to something new.
const STEPS: u64 = 64;

#[derive(Default)]
pub(super) struct Growth {
    /// Steps made: the test, the size that was changed, and to what.
    made: BTreeSet<(TestId, Key, u64)>,
    /// The inputs that came of it.
    grown: BTreeSet<Input>,
    n_since_new: u64,
    n_steps: u64,
    n_fruitful: u64,
    /// Whether something was grown since anything new was covered.
    is_pending: bool,
}

impl Growth {
    /// Counts a run.
    fn ran(&mut self, is_new: bool) {
        self.n_since_new += 1;
        if is_new {
            self.n_since_new = 0;
            self.n_fruitful += u64::from(self.is_pending);
            self.is_pending = false;
        }
    }

    /// Whether the search seems stuck although there is something to try.
    fn is_due(&self) -> bool {
        self.n_since_new >= MANY_WITHOUT_NEW
    }

    /// The next input to try, if growing is still worth it.
    fn next(&mut self, tests: &[Test], cells: &KnownCells) -> Option<Input> {
        self.n_since_new = 0;
        while self.n_steps < STEPS * (1 + self.n_fruitful) {
            let (size, test, key) = self.smallest(tests, cells)?;
            self.made.insert((test.id, key, size));
            let mut input = test.input.clone();
            input.values.insert(key, size);
            if self.grown.insert(input.clone()) {
                self.n_steps += 1;
                self.is_pending = true;
                return Some(input);
            }
        }
        None
    }

    /// The step to the smallest size that was not made yet.
    fn smallest<'t>(&self, tests: &'t [Test], cells: &KnownCells) -> Option<(u64, &'t Test, Key)> {
        let steps = cells.iter().flat_map(|(key, (_, kind))| {
            tests.iter().enumerate().filter_map(move |(at, test)| {
                let value = *test.input.values.get(key)?;
                let is_open = |value: &u64| !self.made.contains(&(test.id, *key, *value));
                let open = match kind {
                    CellKind::Size { most } | CellKind::Count { most } => {
                        larger(value, u64::from(*most)).find(is_open)
                    }
                    CellKind::Option { n_options } => {
                        (0..u64::from(*n_options)).find(|option| *option != value && is_open(option))
                    }
                    CellKind::Value | CellKind::Choice { .. } => None,
                };
                Some((open?, at, test, *key))
            })
        });
        let (size, _, test, key) = steps.min_by_key(|(size, at, _, key)| (*size, *at, *key))?;
        Some((size, test, key))
    }
}

impl Source for Growth {
    fn propose(&mut self, occasion: Occasion, view: &CampaignView<'_>, _: &mut Rng) -> Answer {
        let is_time = match occasion {
            Occasion::InTurn => self.is_due(),
            Occasion::LastResort => true,
        };
        match is_time.then(|| self.next(view.tests, view.cells)).flatten() {
            Some(input) => {
                Answer::Propose(Proposal::Run { input, provenance: Provenance::Grown, symbolic: true })
            }
            None => Answer::Pass,
        }
    }

    fn heard(&mut self, news: &News<'_>, _: &CampaignView<'_>) {
        match news {
            // mutation that covers nothing is no sign that the search is stuck
            News::Ran(run) if run.origin != Origin::Trial || run.covers_new => self.ran(run.covers_new),
            News::Ran(_)
            | News::Worked { .. }
            | News::Tried { .. }
            | News::Unsolved { .. }
            | News::Read { .. }
            | News::Collected { .. } => {}
        }
    }
}

/// The sizes that a size grows to, one after the other.
fn larger(size: u64, most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(size), move |size| (*size < most).then(|| (2 * size).clamp(1, most))).skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{End, Output};

    fn test(id: u32, size: u64) -> Test {
        Test {
            id: TestId(id),
            input: Input { values: [(Key(1), size), (Key(2), 7)].into() },
            provenance: Provenance::Zero,
            end: End::Returned,
            covers: Vec::new(),
            satisfies: Vec::new(),
            output: Output::default(),
            is_unchecked: false,
        }
    }

    #[test]
    fn sizes_double_smallest_first_up_to_their_limit() {
        let cells = [(Key(1), (32, CellKind::Size { most: 20 })), (Key(2), (8, CellKind::Value))].into();
        let tests = [test(1, 4), test(2, 0)];
        let mut growth = Growth::default();
        let grown = std::iter::from_fn(|| growth.next(&tests, &cells));
        let sizes: Vec<u64> = grown.map(|input| input.values[&Key(1)]).collect();
        assert_eq!(sizes, [1, 2, 4, 8, 16, 20], "the same input is made once");
    }

    #[test]
    fn growing_that_covers_nothing_is_given_up() {
        let cells = (0..50).map(|key| (Key(key), (32, CellKind::Size { most: 64 }))).collect();
        let input = Input { values: (0..50).map(|key| (Key(key), 1)).collect() };
        let tests = [Test { input, ..test(1, 1) }];
        let mut growth = Growth::default();
        let n_made = std::iter::from_fn(|| growth.next(&tests, &cells)).count() as u64;
        assert_eq!(n_made, STEPS);
        growth.ran(true);
        assert!(growth.next(&tests, &cells).is_some(), "what was grown led to something new");
    }
}
