//! Values for variables.

use std::collections::BTreeMap;

use crate::term::Var;

/// A value for some variables, iterated in order of the variables' creation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Assignment {
    values: BTreeMap<Var, u128>,
}

impl Assignment {
    /// No values.
    pub fn new() -> Assignment {
        Assignment::default()
    }

    /// The value of a variable, if it has one.
    pub fn get(&self, var: Var) -> Option<u128> {
        self.values.get(&var).copied()
    }

    /// The value of a variable; what has none counts as 0.
    pub fn value(&self, var: Var) -> u128 {
        self.get(var).unwrap_or(0)
    }

    /// Gives a variable a value and returns the one it had.
    pub fn set(&mut self, var: Var, bits: u128) -> Option<u128> {
        self.values.insert(var, bits)
    }

    /// Takes over all values of `other`.
    pub fn overlay(&mut self, other: &Assignment) {
        self.values.extend(other.iter());
    }

    /// The values of these variables only, 0 where there is none.
    pub fn restricted_to(&self, vars: &[Var]) -> Assignment {
        vars.iter().map(|&var| (var, self.value(var))).collect()
    }

    /// All variables with their values.
    pub fn iter(&self) -> impl Iterator<Item = (Var, u128)> + '_ {
        self.values.iter().map(|(&var, &bits)| (var, bits))
    }

    /// The number of variables with a value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no variable has a value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl FromIterator<(Var, u128)> for Assignment {
    fn from_iter<I: IntoIterator<Item = (Var, u128)>>(pairs: I) -> Assignment {
        Assignment { values: pairs.into_iter().collect() }
    }
}
