//! A path prefix named by one number: equal paths have equal numbers, different ones almost never.

use std::fmt;

use model::SpanId;
use model::walk::Site;

use super::Choice;

/// Hash of the sites and choices of a path prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathHash(u64);

impl Default for PathHash {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PathHash {
    /// The path without steps.
    pub const EMPTY: Self = Self(0x5175_6172_7279);

    /// The path with one more step.
    pub fn then(self, site: Site, choice: Choice) -> Self {
        let (kind, a, b) = match site {
            Site::Condition(condition) => (1, condition.0, 0),
            Site::Branch(function, block) => (2, function.0, block.0),
            Site::Switch(function, block) => (3, function.0, block.0),
        };
        let choice = match choice {
            Choice::Outcome(taken) => u64::from(taken),
            Choice::Default => 2,
            Choice::Case(case) => 3 + u64::from(case),
        };
        let step = mix(u64::from(a) << 32 | u64::from(b)) ^ (choice << 2 | kind);
        Self(mix(self.0.rotate_left(5) ^ step))
    }

    /// The pin with this number after the path's last step.
    pub fn then_pin(self, number: u32) -> Self {
        Self(mix(self.0 ^ 0x70_696e << 32 ^ u64::from(number)))
    }
}

impl PathHash {
    /// With one more object that a pointer led to.
    pub fn then_object(self, address: u64) -> Self {
        Self(mix(self.0.rotate_left(7) ^ mix(address)))
    }

    /// With an access that went outside of its object, wherever that led.
    pub fn then_outside(self) -> Self {
        self.then_object(u64::MAX)
    }

    /// The path among those that follow the same pointers to these objects.
    pub fn among(self, objects: Self) -> Self {
        if objects == Self::EMPTY { self } else { Self(mix(self.0 ^ objects.0.rotate_left(32))) }
    }

    /// The access at this place of the source, with this number among the run's notes.
    pub fn then_access(self, place: SpanId, note: u32) -> Self {
        Self(mix(self.0 ^ 0x6163_6373 << 32 ^ u64::from(place.0).rotate_left(20) ^ u64::from(note)))
    }
}

impl fmt::Display for PathHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The finaliser of SplitMix64: every bit of the argument reaches every bit of the result.
fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
