//! States at a cut, and clauses that hold in all of them.
//!
//! Method: for each value of each variable, a set of the states that may have it. Whether any state meets a cube is an intersection
//! of such sets. A clause for a state that is not among them is made as strong as they allow: variables that are not needed are
//! left out, and of each that is left it says all values that occur together with the others.

use std::collections::{BTreeMap, HashMap};

/// A state: the values of the variables of a cut, as far as they are known.
pub(crate) type Values = Vec<Option<u64>>;

/// That a variable, by number, has one of these values.
pub(crate) type Literal = (usize, Vec<u64>);

/// That one of these holds; in no particular order of variables.
pub(crate) type Clause = Vec<Literal>;

/// The states of one cut, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reached {
    pub(crate) states: Vec<Values>,
    numbers: HashMap<Values, usize>,
}

impl Reached {
    /// Adds a state; its number if it is new.
    pub(crate) fn add(&mut self, state: Values) -> Option<usize> {
        let number = self.states.len();
        if self.numbers.contains_key(&state) {
            return None;
        }
        self.numbers.insert(state.clone(), number);
        self.states.push(state);
        Some(number)
    }

    /// Values that a variable has in these states.
    pub(crate) fn n_values(&self, variable: usize) -> usize {
        self.n_values_of_first(variable, self.states.len())
    }

    /// Values that a variable has in so many of these states, from the first on.
    pub(crate) fn n_values_of_first(&self, variable: usize, n_states: usize) -> usize {
        let values = self.states[..n_states].iter().filter_map(|state| state[variable]);
        values.collect::<std::collections::HashSet<u64>>().len()
    }
}

/// A set of states.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn none(n_states: usize) -> Self {
        Self(vec![0; n_states.div_ceil(64)])
    }

    fn all(n_states: usize) -> Self {
        let mut all = Self::none(n_states);
        (0..n_states).for_each(|state| all.insert(state));
        all
    }

    fn insert(&mut self, state: usize) {
        self.0[state / 64] |= 1 << (state % 64);
    }

    fn contains(&self, state: usize) -> bool {
        self.0[state / 64] >> (state % 64) & 1 == 1
    }

    fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(own, other)| own & other != 0)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The states of one cut by what they have.
pub(crate) struct Table {
    n_states: usize,
    /// By variable and value: which states have it.
    with: Vec<BTreeMap<u64, Set>>,
    /// By variable: which states do not say what it has.
    open: Vec<Set>,
}

impl Table {
    pub(crate) fn of(reached: &Reached, n_variables: usize) -> Self {
        let n_states = reached.states.len();
        let mut table = Self {
            n_states,
            with: vec![BTreeMap::new(); n_variables],
            open: vec![Set::none(n_states); n_variables],
        };
        for (number, state) in reached.states.iter().enumerate() {
            for (variable, value) in state.iter().enumerate() {
                match value {
                    Some(value) => {
                        let with = &mut table.with[variable];
                        with.entry(*value).or_insert_with(|| Set::none(n_states)).insert(number);
                    }
                    None => table.open[variable].insert(number),
                }
            }
        }
        table
    }

    /// The states in which the variable may have the value.
    fn may_have(&self, variable: usize, value: u64) -> Set {
        let mut may_have = self.open[variable].clone();
        if let Some(with) = self.with[variable].get(&value) {
            may_have.join(with);
        }
        may_have
    }

    /// A clause that holds in all states and not in this one; none if this one is among them.
    pub(crate) fn clause(&self, state: &[u64]) -> Option<Clause> {
        let sets: Vec<Set> =
            state.iter().enumerate().map(|(variable, value)| self.may_have(variable, *value)).collect();
        // what leaves out few states is dropped first
        let mut order: Vec<usize> = (0..state.len()).collect();
        order.sort_by_key(|variable| std::cmp::Reverse(sets[*variable].len()));
        let kept = self.needed(&order, &sets)?;
        // a second attempt, from the other end, may leave less
        let other = self.needed(&order.iter().rev().copied().collect::<Vec<_>>(), &sets)?;
        let kept = if other.len() < kept.len() { other } else { kept };
        Some(self.widened(&kept, sets))
    }

    /// Clauses that hold in the listed states and in no others; none if there are too many combinations of values to look at.
    pub(crate) fn clauses(&self, max_combinations: usize) -> Option<Vec<Clause>> {
        let values: Vec<Vec<u64>> = self.with.iter().map(|with| with.keys().copied().collect()).collect();
        let n_combinations = values
            .iter()
            .try_fold(1_usize, |all, values| all.checked_mul(values.len().max(1)))
            .filter(|all| *all <= max_combinations)?;
        // each variable has one of its values, if it is known in all states
        let is_known = |variable: &usize| self.n_states > 0 && self.open[*variable].is_empty();
        let mut clauses: Vec<Clause> = (0..values.len())
            .filter(is_known)
            .map(|variable| vec![(variable, values[variable].clone())])
            .collect();
        let mut excluded = Set::none(n_combinations);
        for number in 0..n_combinations {
            if excluded.contains(number) {
                continue;
            }
            let mut rest = number;
            let mut state = Vec::new();
            for values in &values {
                state.push(values.get(rest % values.len().max(1)).copied().unwrap_or(0));
                rest /= values.len().max(1);
            }
            let Some(clause) = self.clause(&state) else { continue };
            // all combinations that it excludes
            let mut numbers = vec![0];
            let mut step = 1;
            for (variable, values) in values.iter().enumerate() {
                let allowed = clause.iter().find(|(of, _)| *of == variable).map(|(_, allowed)| allowed);
                let others = values
                    .iter()
                    .enumerate()
                    .filter(|(_, value)| allowed.is_none_or(|allowed| !allowed.contains(value)));
                let moved: Vec<usize> = match values.is_empty() {
                    true => vec![0],
                    false => others.map(|(at, _)| at * step).collect(),
                };
                numbers = numbers.iter().flat_map(|number| moved.iter().map(move |by| number + by)).collect();
                step *= values.len().max(1);
            }
            numbers.into_iter().for_each(|number| excluded.insert(number));
            clauses.push(clause);
        }
        Some(clauses)
    }

    /// Variables without which some state would meet the cube of these sets, dropped in this order; none if some state does.
    fn needed(&self, order: &[usize], sets: &[Set]) -> Option<Vec<usize>> {
        // what all that come later allow
        let mut later = vec![Set::all(self.n_states)];
        for variable in order.iter().rev() {
            let mut set = later.last().expect("begun with one").clone();
            set.keep(&sets[*variable]);
            later.push(set);
        }
        later.reverse();
        if !later[0].is_empty() {
            return None;
        }
        let (mut kept, mut allowed) = (Vec::new(), Set::all(self.n_states));
        for (at, variable) in order.iter().enumerate() {
            if allowed.meets(&later[at + 1]) {
                allowed.keep(&sets[*variable]);
                kept.push(*variable);
            }
        }
        Some(kept)
    }

    /// The clause that a cube of these variables makes, with as few values as the states allow.
    fn widened(&self, kept: &[usize], mut sets: Vec<Set>) -> Clause {
        let mut clause = Clause::new();
        for &variable in kept {
            let mut others = Set::all(self.n_states);
            kept.iter().filter(|other| **other != variable).for_each(|other| others.keep(&sets[*other]));
            let with = &self.with[variable];
            let values: Vec<u64> =
                with.iter().filter(|(_, with)| with.meets(&others)).map(|(value, _)| *value).collect();
            let mut without = self.open[variable].clone();
            with.iter().filter(|(value, _)| !values.contains(value)).for_each(|(_, with)| without.join(with));
            sets[variable] = without;
            clause.push((variable, values));
        }
        clause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(states: &[[Option<u64>; 3]]) -> Table {
        let mut reached = Reached::default();
        for state in states {
            reached.add(state.to_vec());
        }
        Table::of(&reached, 3)
    }

    fn holds(clause: &Clause, state: &[u64]) -> bool {
        clause.iter().any(|(variable, values)| values.contains(&state[*variable]))
    }

    #[test]
    fn a_clause_holds_in_all_states_but_not_in_the_one_that_it_excludes() {
        // variables of up to four values, and states of all kinds
        let mut state = 17_u64;
        let mut next = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let n_states = 1 + next(20);
            let states: Vec<[Option<u64>; 3]> =
                (0..n_states).map(|_| std::array::from_fn(|_| (next(10) > 0).then(|| next(4)))).collect();
            let table = table(&states);
            for number in 0..125 {
                let state = [number % 5, number / 5 % 5, number / 25];
                let is_in = states.iter().any(|known| {
                    known.iter().zip(state).all(|(known, value)| known.is_none_or(|known| known == value))
                });
                let clause = table.clause(&state);
                assert_eq!(clause.is_none(), is_in, "{states:?} {state:?}");
                let Some(clause) = clause else { continue };
                assert!(!holds(&clause, &state));
                for known in &states {
                    // whatever an unknown value is
                    let somewhere = |variable: usize| known[variable].unwrap_or(77);
                    let concrete = [somewhere(0), somewhere(1), somewhere(2)];
                    assert!(holds(&clause, &concrete), "{clause:?} {known:?}");
                }
            }
        }
    }

    #[test]
    fn all_clauses_together_hold_in_the_listed_states_alone() {
        let states = [[0, 5, 0], [1, 6, 0], [1, 6, 1], [2, 5, 1]].map(|state| state.map(Some));
        let clauses = table(&states).clauses(100).expect("few combinations");
        for number in 0..4 * 3 * 3 {
            let state = [number % 4, 4 + number / 4 % 3, number / 12];
            let is_listed = states.contains(&state.map(Some));
            assert_eq!(
                clauses.iter().all(|clause| holds(clause, &state)),
                is_listed,
                "{state:?} {clauses:?}"
            );
        }
        assert_eq!(table(&states).clauses(11), None, "3 * 2 * 2 combinations");
    }

    #[test]
    fn a_clause_says_no_more_than_it_needs() {
        // the second variable follows from the first; the third is anything
        let states = [[Some(0), Some(5), Some(0)], [Some(1), Some(6), Some(0)], [Some(1), Some(6), Some(1)]];
        let clause = table(&states).clause(&[0, 6, 1]).expect("not reached");
        assert_eq!(clause.len(), 2);
        // a value that no state has
        let clause = table(&states).clause(&[9, 5, 0]).expect("not reached");
        assert_eq!(clause, [(0, vec![0, 1])]);
    }
}
