//! Where does an input come from?

/// Where an input comes from. A test that was simplified keeps the provenance of the input that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provenance {
    /// Zero in every cell, or the first enumerator where zero is none.
    Zero,
    /// Something of everything that a whole program may be given.
    Full,
    /// Made of what the program's own text says of its input.
    Dictionary,
    /// Random values.
    Random,
    /// The solver's answer for a candidate.
    Solved,
    /// A numeric search, where the solver had no answer.
    Numeric,
    /// A mutation of a kept input.
    Mutated,
    /// A child of tests that were crossed, to come nearer to a goal.
    Genetic,
    /// A kept input with another size or another member of a union.
    Grown,
    /// The user's first input.
    Given,
    /// An earlier campaign in the same directory that did not record more.
    Resumed,
    /// A test that was there already, by its number from 1; 0 where a record does not say which.
    Imported(u32),
    /// The counterexample of a proof that failed.
    Counterexample,
}

impl Provenance {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Zero,
        Self::Full,
        Self::Dictionary,
        Self::Random,
        Self::Solved,
        Self::Numeric,
        Self::Mutated,
        Self::Genetic,
        Self::Grown,
        Self::Given,
        Self::Resumed,
        Self::Imported(0),
        Self::Counterexample,
    ];

    /// The word that records keep.
    pub fn word(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Full => "full",
            Self::Dictionary => "dictionary",
            Self::Random => "random",
            Self::Solved => "solved",
            Self::Numeric => "numeric",
            Self::Mutated => "mutated",
            Self::Genetic => "genetic",
            Self::Grown => "grown",
            Self::Given => "given",
            Self::Resumed => "resumed",
            Self::Imported(_) => "imported",
            Self::Counterexample => "counterexample",
        }
    }

    /// The number of the test that was there already, if it is one.
    pub fn imported(self) -> Option<u32> {
        if let Self::Imported(number) = self { Some(number).filter(|number| *number > 0) } else { None }
    }

    /// What a word of a record stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provenance| provenance.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_for_one_provenance() {
        for provenance in Provenance::ALL {
            assert_eq!(Provenance::from_word(provenance.word()), Some(provenance));
        }
        assert_eq!(Provenance::from_word("found"), None);
    }
}
