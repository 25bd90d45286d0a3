//! Which part of a query is likely to decide it?
//!
//! A flip is usually refuted by an earlier test of the same inputs, however long the path to it. So the constraints over
//! the goal's variables alone are solved first: if they are unsatisfiable, so is the query, and values for them often
//! satisfy all of it. If they decide nothing, that costs an extra small query; so a part that is hardly smaller than the
//! whole is skipped.

use crate::term::hash::FastMap;
use crate::term::{Term, TermStore};

/// Assertions of a query that are too few to look at apart.
const FEW: usize = 8;

/// The assertions over the variables of the first one, the goal; `None` when that is most of them.
pub(super) fn part(store: &TermStore, assertions: &[Term]) -> Option<Vec<Term>> {
    let goal = *assertions.first()?;
    if assertions.len() <= FEW {
        return None;
    }
    let known = store.vars_of(goal).to_vec();
    let mut verdicts = FastMap::default();
    let part: Vec<Term> = assertions
        .iter()
        .copied()
        .filter(|&assertion| {
            *verdicts.entry(store.var_set(assertion)).or_insert_with(|| {
                store.vars_of(assertion).into_iter().all(|var| known.binary_search(&var).is_ok())
            })
        })
        .collect();
    (2 * part.len() <= assertions.len()).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_has_the_goals_variables_only() {
        let mut store = TermStore::new();
        let vars: Vec<Term> = (0..12).map(|index| store.var(format!("x{index}"), 32)).collect();
        let goal = store.ult(vars[0], vars[1]);
        let near = store.ult(vars[1], vars[0]);
        let far: Vec<Term> = vars[1..].windows(2).map(|pair| store.ult(pair[0], pair[1])).collect();
        let assertions = [&[goal], &far[..], &[near]].concat();
        assert_eq!(part(&store, &assertions), Some(vec![goal, near]));
        assert_eq!(part(&store, &[goal, near, far[0]]), None, "too few");
        assert_eq!(part(&store, &[goal, near].repeat(8)), None, "nothing is left out");
    }
}
