//! Which activation of a function is meant?

use std::fmt;

use model::InstrId;

/// An activation: the call instructions that lead to it from the entry's activation, which is `@`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context(pub Vec<InstrId>);

impl Context {
    /// The activation of the entry.
    pub fn entry() -> Self {
        Self::default()
    }

    /// The activation that this call makes in this one.
    pub fn call(&self, call: InstrId) -> Self {
        Self(self.0.iter().copied().chain([call]).collect())
    }

    /// The activation that made this one, and the call in it.
    pub fn caller(&self) -> Option<(Self, InstrId)> {
        let (call, before) = self.0.split_last()?;
        Some((Self(before.to_vec()), *call))
    }

    /// Whether this activation still exists while `other` runs: it is the same or made the calls that led there.
    pub fn encloses(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

/// `@.%14.%3`.
impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("@")?;
        self.0.iter().try_for_each(|call| write!(f, ".{call}"))
    }
}
