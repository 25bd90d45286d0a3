//! Which values can one small variable still have?
//!
//! Method: a constraint over a single variable of at most 8 bits is a set of values, computed once by evaluating it for
//! each of them. The sets of all constraints over the goal's variable are intersected: an empty set refutes the query, and
//! only the remaining values are worth trying. Programs that read text ask little else. Limit: constraints over several
//! variables, and large ones, are ignored.

use crate::assignment::Assignment;
use crate::evaluate::{Evaluator, Memo};
use crate::term::hash::FastMap;
use crate::term::{Term, TermStore, Var, VarSet};

/// The widest variable whose values are tried one by one.
const MAX_WIDTH: u32 = 8;
/// The nodes of the largest constraint that is evaluated for every value.
const MAX_NODES: u64 = 64;

/// Constraints as sets of values, as far as they were looked at.
#[derive(Debug, Default)]
pub(super) struct Domains {
    sets: FastMap<Term, ValueSet>,
}

/// What is known of the goal's variable.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Narrowed {
    /// No value is left; these constraints exclude all.
    Empty { core: Vec<Term> },
    /// Only these values are left, readable characters first.
    To { var: Var, values: Vec<u128> },
}

/// What is known of small variables.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// The least and greatest value.
    pub(super) of: FastMap<Var, (u128, u128)>,
    /// The constraints that say so.
    pub(super) core: Vec<Term>,
}

impl Domains {
    /// What the assertions, of which the first is the goal, leave of the goal's variable; `None` when it has several
    /// variables or a large one.
    pub(super) fn narrow(
        &mut self,
        store: &TermStore,
        assertions: &[Term],
        memo: &mut Memo,
    ) -> Option<Narrowed> {
        let (&goal, rest) = assertions.split_first()?;
        let [var] = store.vars_of(goal).to_vec()[..] else { return None };
        if store.var_width(var) > MAX_WIDTH {
            return None;
        }
        let mut left = self.set(store, goal, var, memo);
        let mut core = vec![goal];
        let set_of_vars = store.var_set(goal);
        for &constraint in rest.iter().filter(|&&constraint| store.var_set(constraint) == set_of_vars) {
            let narrower = left.and(self.set(store, constraint, var, memo));
            if narrower != left {
                left = narrower;
                core.push(constraint);
            }
        }
        if left == ValueSet::default() {
            return Some(Narrowed::Empty { core });
        }
        let n_values = 1 << store.var_width(var);
        let mut values: Vec<u128> = left.values().take_while(|&value| value < n_values).collect();
        values.sort_by_key(|&value| !is_readable(value));
        Some(Narrowed::To { var, values })
    }

    /// The least and greatest value that the assertions, of which the first is the goal, leave of each small variable of the
    /// goal, by constraints over it alone.
    pub(super) fn bounds(&mut self, store: &TermStore, assertions: &[Term], memo: &mut Memo) -> Bounds {
        let mut singles: FastMap<VarSet, Option<Var>> = FastMap::default();
        let mut sets: FastMap<Var, ValueSet> = FastMap::default();
        let mut core = Vec::new();
        let vars = assertions.first().map(|goal| store.vars_of(*goal).to_vec()).unwrap_or_default();
        for &constraint in assertions {
            let single = *singles.entry(store.var_set(constraint)).or_insert_with(|| {
                let [var] = store.vars_of(constraint).to_vec()[..] else { return None };
                let counts = store.var_width(var) <= MAX_WIDTH && vars.binary_search(&var).is_ok();
                counts.then_some(var)
            });
            let Some(var) = single else { continue };
            let known = sets.get(&var).copied().unwrap_or(ValueSet::ALL);
            let narrower = known.and(self.set(store, constraint, var, memo));
            if narrower != known {
                sets.insert(var, narrower);
                core.push(constraint);
            }
        }
        let bounds = |(var, set): (Var, ValueSet)| {
            let most = (1 << store.var_width(var)) - 1;
            let mut values = set.values().take_while(|value| *value <= most);
            let least = values.next()?;
            Some((var, (least, values.last().unwrap_or(least))))
        };
        Bounds { of: sets.into_iter().filter_map(bounds).collect(), core }
    }

    fn set(&mut self, store: &TermStore, constraint: Term, var: Var, memo: &mut Memo) -> ValueSet {
        *self.sets.entry(constraint).or_insert_with(|| {
            let mut set = ValueSet::default();
            for value in 0..1 << store.var_width(var) {
                let n_before = memo.n_computed();
                let values: Assignment = [(var, value)].into_iter().collect();
                let mut evaluator = Evaluator::with_memo(store, &values, std::mem::take(memo));
                if evaluator.holds(constraint) {
                    set.insert(value);
                }
                *memo = evaluator.into_memo();
                if memo.n_computed() - n_before > MAX_NODES {
                    return ValueSet::ALL;
                }
            }
            set
        })
    }
}

fn is_readable(value: u128) -> bool {
    u8::try_from(value).is_ok_and(|byte| byte.is_ascii_graphic())
}

/// A set of numbers below 256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ValueSet([u128; 2]);

impl ValueSet {
    const ALL: ValueSet = ValueSet([u128::MAX; 2]);

    fn insert(&mut self, value: u128) {
        self.0[(value >> 7) as usize] |= 1 << (value & 127);
    }

    fn contains(self, value: u128) -> bool {
        self.0[(value >> 7) as usize] >> (value & 127) & 1 == 1
    }

    fn and(self, other: ValueSet) -> ValueSet {
        ValueSet([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    fn values(self) -> impl Iterator<Item = u128> {
        (0..1 << MAX_WIDTH).filter(move |&value| self.contains(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_over_the_goals_variable_are_intersected() {
        let mut store = TermStore::new();
        let (x, y) = (store.var("x", 8), store.var("y", 8));
        let (small, large) = (store.constant(8, 60), store.constant(8, 250));
        let (above, below, other) = (store.ult(large, x), store.ult(x, small), store.ult(y, x));
        let var = store.var_of(x).expect("a variable");
        let mut domains = Domains::default();
        let mut narrow = |assertions: &[Term]| domains.narrow(&store, assertions, &mut Memo::default());
        let values = vec![251, 252, 253, 254, 255];
        assert_eq!(narrow(&[above, other]), Some(Narrowed::To { var, values }));
        assert_eq!(narrow(&[above, other, below]), Some(Narrowed::Empty { core: vec![above, below] }));
        assert_eq!(narrow(&[other, below]), None, "two variables");
    }

    #[test]
    fn large_variables_are_left_alone() {
        let mut store = TermStore::new();
        let x = store.var("x", 16);
        let constant = store.constant(16, 3);
        let goal = store.eq(x, constant);
        assert_eq!(Domains::default().narrow(&store, &[goal], &mut Memo::default()), None);
    }

    #[test]
    fn readable_characters_come_first() {
        let mut store = TermStore::new();
        let x = store.var("x", 8);
        let constant = store.constant(8, 34);
        let goal = store.ult(x, constant);
        let narrowed = Domains::default().narrow(&store, &[goal], &mut Memo::default());
        let Some(Narrowed::To { values, .. }) = narrowed else { panic!("values are left") };
        assert_eq!(values[..3], [33, 0, 1]);
    }
}
