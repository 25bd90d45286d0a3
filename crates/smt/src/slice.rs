//! Which constraints of a path does a flipped one depend on?
//!
//! Method: union-find over variables; constraints that share a variable, directly or through others, form one class, and
//! the slice is the goal's class. If the rest holds under known values, slice and goal decide the whole.

use std::collections::HashSet;

use crate::term::hash::FastMap;
use crate::term::{Term, TermStore};

/// The constraints that share variables with `goal`, directly or through other constraints, in their order and
/// without repetition. Constraints that are constantly true are left out, constantly false ones kept.
pub fn slice(store: &TermStore, constraints: &[Term], goal: Term) -> Vec<Term> {
    let mut classes = Classes { parents: (0..store.n_vars()).collect() };
    // Paths test the same inputs again and again: equal sets of variables are joined once.
    let mut representatives = FastMap::default();
    let mut representative_of = |classes: &mut Classes, term: Term| {
        *representatives.entry(store.var_set(term)).or_insert_with(|| {
            let mut vars = store.vars_of(term).into_iter();
            let first = vars.next()?.index();
            vars.for_each(|var| classes.join(first, var.index()));
            Some(first)
        })
    };
    let goal_var = representative_of(&mut classes, goal);
    let vars: Vec<Option<usize>> =
        constraints.iter().map(|&constraint| representative_of(&mut classes, constraint)).collect();

    let goal_class = goal_var.map(|var| classes.find(var));
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for (&constraint, var) in constraints.iter().zip(vars) {
        let wanted = match var {
            Some(var) => Some(classes.find(var)) == goal_class,
            None => store.is_false(constraint),
        };
        if wanted && seen.insert(constraint) {
            kept.push(constraint);
        }
    }
    kept
}

/// Disjoint sets of variable indices.
struct Classes {
    parents: Vec<usize>,
}

impl Classes {
    fn find(&mut self, mut var: usize) -> usize {
        while self.parents[var] != var {
            self.parents[var] = self.parents[self.parents[var]];
            var = self.parents[var];
        }
        var
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_follows_shared_variables_through_other_constraints() {
        let mut store = TermStore::new();
        let vars: Vec<Term> = (0..6).map(|index| store.var(format!("x{index}"), 8)).collect();
        let a = store.ult(vars[0], vars[1]);
        let b = store.ult(vars[3], vars[4]);
        let c = store.ult(vars[1], vars[2]);
        let goal = store.eq(vars[2], vars[5]);
        assert_eq!(slice(&store, &[a, b, c, a], goal), [a, c]);
    }

    #[test]
    fn constants_are_dropped_when_true_and_kept_when_false() {
        let mut store = TermStore::new();
        let (yes, no) = (store.bool(true), store.bool(false));
        let goal = store.var("flag", 1);
        assert_eq!(slice(&store, &[yes, no], goal), [no]);
    }

    #[test]
    fn a_constant_goal_has_an_empty_slice() {
        let mut store = TermStore::new();
        let x = store.var("x", 1);
        let goal = store.bool(true);
        assert!(slice(&store, &[x], goal).is_empty());
    }
}
