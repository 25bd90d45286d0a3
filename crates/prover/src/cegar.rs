//! Predicate abstraction with refinement from counterexamples that cannot be.
//!
//! Method: the abstract states of a cut are the values that its *tracked* predicates take together whenever control arrives;
//! they are listed one by one, each with the segment that it was first seen behind. A goal that no segment from an abstract
//! state covers is infeasible, and the disjunction of the states is the invariant. Otherwise the model that covers it is
//! followed back: if the segment before cannot arrive in a state that agrees with the model on all predicates of the pool,
//! those that the contradiction needs are tracked from now on; if it can, its own model is followed further. The pool holds
//! comparisons that the program's text suggests ([`crate::candidates`]). Which of its few values a variable has is tracked from
//! the beginning, as long as there are few combinations: state machines are told by that. Limit: what no predicate of the
//! pool tells apart.

use std::collections::{BTreeMap, BTreeSet};

use proof::{Body, Formula, Operator};

use crate::candidates::Richness;
use crate::graph::CutId;
use crate::houdini::Candidates;
use crate::question::{Answer, Effort, Questions};
use crate::system::{Argument, Prover, System};
use crate::terms::Truth;

/// Abstract states of all cuts at most.
const MAX_STATES: usize = 3000;
/// States that the predicates which are tracked from the beginning may make.
const MAX_FIRST: usize = 5000;
/// Refinements for one goal.
const MAX_REFINEMENTS: usize = 60;

/// The engine.
pub(crate) struct Cegar;

/// Values of the tracked predicates of a cut, by their number in the pool.
type Cube = Vec<(usize, bool)>;

/// An abstract state.
struct AbstractState {
    cube: Cube,
    /// The segment behind which it was seen, and the abstract state there.
    segment: usize,
    before: Option<(CutId, usize)>,
}

struct Abstraction<'m> {
    pool: Candidates<'m>,
    /// By cut: predicates by number.
    tracked: Vec<BTreeSet<usize>>,
    /// By cut.
    states: Vec<Vec<AbstractState>>,
    /// By segment and cut: that the segment arrives there in no state that is listed.
    unlisted: BTreeMap<(usize, CutId), Truth<'m>>,
}

/// What became of a model that was followed back.
enum Refined {
    Yes,
    /// The pool does not tell it from what is reached, or nobody knows.
    No,
}

impl Prover for Cegar {
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Argument> {
        system.encoder.allow_more();
        let Some(pool) = Candidates::new(system, Richness::Plain) else { return BTreeMap::new() };
        let n_cuts = system.n_cuts();
        let tracked = pool.formulas.iter().map(|formulas| enumerated(formulas)).collect();
        let mut abstraction = Abstraction { pool, tracked, states: Vec::new(), unlisted: BTreeMap::new() };
        let mut questions: Vec<Questions<'_>> =
            (0..system.segments.len()).map(|_| system.questions(effort)).collect();
        let mut proved = BTreeMap::new();
        let mut is_listed = false;
        for &goal in open {
            for _ in 0..MAX_REFINEMENTS {
                if !is_listed && !abstraction.list(system, &mut questions) {
                    return proved; // too many states, or the effort is spent
                }
                is_listed = true;
                let Some(found) = abstraction.counterexample(system, &mut questions, goal) else { break };
                let Some((cut, state, model)) = found else {
                    let invariants = (0..n_cuts).map(|cut| abstraction.invariant(cut)).collect();
                    proved.insert(goal, Argument { invariants, body: Body::Inductive });
                    break;
                };
                match abstraction.refine(system, &mut questions, cut, state, model) {
                    Refined::Yes => is_listed = false,
                    Refined::No => break,
                }
            }
        }
        proved
    }
}

impl<'m> Abstraction<'m> {
    /// Lists the abstract states; false if there are too many.
    fn list(&mut self, system: &mut System<'_, 'm>, questions: &mut [Questions<'m>]) -> bool {
        self.states = self.tracked.iter().map(|_| Vec::new()).collect();
        self.unlisted.clear();
        for (segment, arrivals) in self.pool.at_arrival.iter().enumerate() {
            self.unlisted.extend(arrivals.iter().map(|(cut, (path, _))| ((segment, *cut), *path)));
        }
        let mut open: BTreeMap<CutId, Vec<usize>> = BTreeMap::new();
        if !self.follow(system, &mut questions[0], None, &mut open) {
            return false;
        }
        while let Some((cut, states)) = open.pop_first() {
            let segment = System::segment_of(cut);
            if !self.follow(system, &mut questions[segment], Some((cut, &states)), &mut open) {
                return false;
            }
        }
        true
    }

    /// Lists what the segment leads to from these abstract states, or from the entry; false if that is too much.
    fn follow(
        &mut self,
        system: &mut System<'_, 'm>,
        questions: &mut Questions<'m>,
        from: Option<(CutId, &[usize])>,
        open: &mut BTreeMap<CutId, Vec<usize>>,
    ) -> bool {
        let segment = from.map_or(0, |(cut, _)| System::segment_of(cut));
        let starts: Vec<(usize, Truth<'m>)> = match from {
            Some((cut, states)) => states.iter().map(|at| (*at, self.at_start(system, cut, *at))).collect(),
            None => Vec::new(),
        };
        let no = system.encoder.terms.truth(false);
        let any = starts.iter().fold(no, |any, (_, state)| system.encoder.terms.or(any, *state));
        let cuts: Vec<CutId> = self.pool.at_arrival[segment].keys().copied().collect();
        for cut in cuts {
            loop {
                let mut asked = vec![self.unlisted[&(segment, cut)]];
                asked.extend(from.is_some().then_some(any));
                match questions.ask(&asked) {
                    Answer::Impossible => break,
                    Answer::Unknown => return false,
                    Answer::Possible => {}
                }
                let truths = &self.pool.at_arrival[segment][&cut].1;
                let value = |at: &usize| (*at, questions.holds(truths[*at]));
                let cube: Cube = self.tracked[cut.index()].iter().map(value).collect();
                let began = starts.iter().find(|(_, state)| questions.holds(*state));
                let before = from.zip(began).map(|((cut, _), (at, _))| (cut, *at));
                self.add(system, cut, AbstractState { cube, segment, before });
                open.entry(cut).or_default().push(self.states[cut.index()].len() - 1);
                if self.states.iter().map(Vec::len).sum::<usize>() > MAX_STATES {
                    return false;
                }
            }
        }
        true
    }

    fn add(&mut self, system: &mut System<'_, 'm>, cut: CutId, state: AbstractState) {
        for (segment, arrivals) in self.pool.at_arrival.iter().enumerate() {
            if let Some((_, truths)) = arrivals.get(&cut) {
                let is_it = conjunction(system, &state.cube, truths);
                let other = system.encoder.terms.not(is_it);
                let unlisted = self.unlisted.get_mut(&(segment, cut)).expect("every arrival has one");
                *unlisted = system.encoder.terms.and(*unlisted, other);
            }
        }
        self.states[cut.index()].push(state);
    }

    /// That a segment begins in this abstract state.
    fn at_start(&self, system: &mut System<'_, 'm>, cut: CutId, state: usize) -> Truth<'m> {
        let cube = &self.states[cut.index()][state].cube;
        conjunction(system, cube, &self.pool.at_start[cut.index()])
    }

    /// How the goal is covered: from which abstract state, with which values of the pool. The inner one is none if it is
    /// not; the outer one if nobody knows, or if the entry's own segment does.
    fn counterexample(
        &self,
        system: &mut System<'_, 'm>,
        questions: &mut [Questions<'m>],
        goal: usize,
    ) -> Option<Option<(CutId, usize, Vec<bool>)>> {
        for (segment, questions) in questions.iter_mut().enumerate() {
            let event = system.bad(segment, 1, goal);
            if system.encoder.terms.is_false(event) {
                continue;
            }
            let Some(cut) = segment.checked_sub(1).map(|at| system.encoder.graph.cuts().nth(at)) else {
                match questions.ask(&[event]) {
                    Answer::Impossible => continue,
                    Answer::Possible | Answer::Unknown => return None,
                }
            };
            let (cut, _) = cut.expect("segments begin at cuts");
            let n_states = self.states[cut.index()].len();
            let states: Vec<Truth<'m>> = (0..n_states).map(|at| self.at_start(system, cut, at)).collect();
            let no = system.encoder.terms.truth(false);
            let any = states.iter().fold(no, |any, state| system.encoder.terms.or(any, *state));
            match questions.ask(&[any, event]) {
                Answer::Impossible => {}
                Answer::Unknown => return None,
                Answer::Possible => {
                    let state = states.iter().position(|state| questions.holds(*state))?;
                    let pool = &self.pool.at_start[cut.index()];
                    let model = pool.iter().map(|truth| questions.holds(*truth)).collect();
                    return Some(Some((cut, state, model)));
                }
            }
        }
        Some(None)
    }

    /// Follows a model back until a contradiction says what to track.
    fn refine(
        &mut self,
        system: &mut System<'_, 'm>,
        questions: &mut [Questions<'m>],
        mut cut: CutId,
        mut state: usize,
        mut model: Vec<bool>,
    ) -> Refined {
        loop {
            let AbstractState { segment, before, .. } = self.states[cut.index()][state];
            let (path, truths) = &self.pool.at_arrival[segment][&cut];
            let mut asked: Vec<Truth<'m>> = truths
                .iter()
                .zip(&model)
                .map(|(truth, value)| if *value { *truth } else { system.encoder.terms.not(*truth) })
                .collect();
            asked.push(*path);
            asked.extend(before.map(|(cut, state)| self.at_start(system, cut, state)));
            match questions[segment].ask(&asked) {
                Answer::Impossible => {
                    let n_before = self.tracked[cut.index()].len();
                    let needed = questions[segment].needed(&asked).into_iter();
                    self.tracked[cut.index()].extend(needed.filter(|at| *at < model.len()));
                    let is_finer = self.tracked[cut.index()].len() > n_before;
                    return if is_finer { Refined::Yes } else { Refined::No };
                }
                Answer::Unknown => return Refined::No,
                Answer::Possible => {}
            }
            let Some((cut_before, state_before)) = before else { return Refined::No };
            let pool = &self.pool.at_start[cut_before.index()];
            model = pool.iter().map(|truth| questions[segment].holds(*truth)).collect();
            (cut, state) = (cut_before, state_before);
        }
    }

    /// The disjunction of the abstract states of a cut.
    fn invariant(&self, cut: usize) -> Formula {
        let cubes = merged(self.states[cut].iter().map(|state| state.cube.clone()).collect());
        let literal = |(at, value): &(usize, bool)| {
            let predicate = self.pool.formulas[cut][*at].clone();
            if *value { predicate } else { Formula::apply(Operator::Not, [predicate]) }
        };
        let of_cube = |cube: &Cube| junction(Operator::And, true, cube.iter().map(literal).collect());
        junction(Operator::Or, false, cubes.iter().map(of_cube).collect())
    }
}

/// The predicates that say which of its few values a variable has; of the variables with the fewest, if there are many.
fn enumerated(formulas: &[Formula]) -> BTreeSet<usize> {
    let mut variables: Vec<&Vec<Formula>> = Vec::new();
    for formula in formulas {
        if let Formula::Apply(Operator::Or, members) = formula {
            variables.push(members);
        }
    }
    variables.sort_by_key(|members| members.len());
    let (mut tracked, mut n_states) = (BTreeSet::new(), 1_usize);
    for members in variables {
        n_states = n_states.saturating_mul(members.len());
        if n_states > MAX_FIRST {
            break;
        }
        tracked.extend(members.iter().filter_map(|member| formulas.iter().position(|known| known == member)));
    }
    tracked
}

fn conjunction<'m>(system: &mut System<'_, 'm>, cube: &Cube, truths: &[Truth<'m>]) -> Truth<'m> {
    let terms = &mut system.encoder.terms;
    let mut all = terms.truth(true);
    for (at, value) in cube {
        let literal = if *value { truths[*at] } else { terms.not(truths[*at]) };
        all = terms.and(all, literal);
    }
    all
}

fn junction(operator: Operator, neutral: bool, mut operands: Vec<Formula>) -> Formula {
    match operands.len() {
        0 => Formula::Bool(neutral),
        1 => operands.remove(0),
        _ => Formula::apply(operator, operands),
    }
}

/// The same states with fewer cubes: two that differ in the value of one predicate are one without it.
fn merged(mut cubes: Vec<Cube>) -> Vec<Cube> {
    'again: loop {
        for first in 0..cubes.len() {
            for second in first + 1..cubes.len() {
                if let Some(at) = only_difference(&cubes[first], &cubes[second]) {
                    cubes.remove(second);
                    cubes[first].remove(at);
                    continue 'again;
                }
            }
        }
        return cubes;
    }
}

fn only_difference(a: &Cube, b: &Cube) -> Option<usize> {
    if a.len() != b.len() || a.iter().zip(b).any(|(a, b)| a.0 != b.0) {
        return None;
    }
    let mut different = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a.1 != b.1);
    let (at, _) = different.next()?;
    different.next().is_none().then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_that_differ_in_one_value_are_one() {
        let cube = |values: [bool; 2]| values.into_iter().enumerate().collect::<Cube>();
        let all = [[true, true], [true, false], [false, true]].map(cube);
        assert_eq!(merged(all.to_vec()), [vec![(0, true)], cube([false, true])]);
        assert_eq!(
            merged([[true, true], [false, true], [true, false], [false, false]].map(cube).to_vec()),
            [Vec::new()]
        );
    }
}
