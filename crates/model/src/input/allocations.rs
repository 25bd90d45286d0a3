//! Which allocations of a run fail?

use serde::{Deserialize, Serialize};

use super::{Input, Key};

/// Allocations that may fail: number `n`, from 1, does when the part `n - 1` of the key says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocations {
    pub key: Key,
    /// Those behind are never made to fail.
    pub most: u64,
}

impl Allocations {
    /// The cell that says whether this one fails.
    pub fn choice(&self, number: u64) -> Key {
        self.key.part(number.saturating_sub(1))
    }

    /// The numbers of those that fail in an input.
    pub fn failing(&self, input: &Input) -> Vec<u64> {
        let fails = |number: &u64| input.values.get(&self.choice(*number)).copied().unwrap_or(0) & 1 == 1;
        (1..=self.most).filter(fails).collect()
    }
}
