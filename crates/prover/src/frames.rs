//! Clauses that exclude states at cuts, by how many segments they are known to hold for.
//!
//! Method: a *cube* is a conjunction of values of predicates at a cut; a *lemma* says that a cube is not reached within so many
//! segments from the entry on, or never. Solvers know lemmas by the literal of their level, which a question assumes for its own
//! level and all above. So what holds within n segments holds within fewer, and a question names one literal per level.

use std::collections::{BTreeMap, BTreeSet};

use proof::{Formula, Operator};

use crate::domains::Domains;
use crate::graph::CutId;
use crate::predicates::{Group, predicates};
use crate::question::{Answer, Effort, Questions};
use crate::system::System;
use crate::terms::Truth;

/// A predicate of a cut by number, and its value.
pub(crate) type Literal = (usize, bool);

/// Values of predicates of a cut.
pub(crate) type Cube = BTreeSet<Literal>;

/// The level of what holds always.
pub(crate) const ALWAYS: usize = usize::MAX;

/// Predicates of one variable, by number.
#[derive(Clone, Debug)]
enum Kind {
    Values(Vec<usize>),
    AtMost(Vec<usize>),
    Single(usize),
}

/// The predicates of a cut in terms of the segments.
struct Pool<'m> {
    formulas: Vec<Formula>,
    kinds: Vec<Kind>,
    at_start: Vec<Truth<'m>>,
    /// By segment that arrives here: when, and what each is then.
    arrivals: Vec<(usize, Truth<'m>, Vec<Truth<'m>>)>,
}

/// A cube that is not reached.
#[derive(Clone, Debug)]
pub(crate) struct Lemma {
    pub(crate) cut: CutId,
    pub(crate) cube: Cube,
    /// Within how many segments.
    pub(crate) level: usize,
    /// A state that leads to it, by which it could not be raised to the next level.
    pub(crate) witness: Option<(CutId, Cube)>,
}

/// What became of a cube.
pub(crate) enum Step {
    /// The entry's own segment may arrive there.
    Entered,
    /// A state of this cube leads there.
    From(CutId, Cube),
    /// Nothing does, by these of its literals.
    Excluded(Cube),
    Unknown,
}

/// All lemmas, with the solvers that know them.
pub(crate) struct Frames<'m> {
    pools: Vec<Pool<'m>>,
    /// By segment.
    questions: Vec<Questions<'m>>,
    /// By level; the first is of what holds always.
    levels: Vec<Truth<'m>>,
    pub(crate) lemmas: Vec<Lemma>,
    /// By segment and goal: when the goal is covered.
    events: BTreeMap<(usize, usize), Truth<'m>>,
    /// The goal whose flags count.
    goal: Option<usize>,
    /// The highest level that goals were excluded for.
    pub(crate) highest: usize,
}

impl<'m> Frames<'m> {
    /// Nothing is excluded yet but what is known at cuts. None if the encoding would be too large.
    pub(crate) fn new(
        system: &mut System<'_, 'm>,
        domains: &Domains,
        known: &[Vec<Truth<'m>>],
        goal: Option<usize>,
        effort: &Effort,
    ) -> Option<Self> {
        let cuts: Vec<_> = system.encoder.graph.cuts().collect();
        let mut pools = Vec::new();
        system.encoder.flag_goal = goal;
        for (cut, node) in cuts {
            let groups = predicates(&system.encoder, domains, node);
            pools.push(Pool::new(system, cut, groups, goal)?);
        }
        let mut questions: Vec<Questions<'m>> =
            (0..system.segments.len()).map(|_| system.similar_questions(effort)).collect();
        for (cut, known) in known.iter().enumerate() {
            known.iter().for_each(|truth| questions[cut + 1].assert(*truth));
        }
        for (cut, pool) in pools.iter_mut().enumerate() {
            pool.at_start.iter_mut().for_each(|truth| *truth = name(system, &mut questions[cut + 1], *truth));
            for (segment, path, truths) in &mut pool.arrivals {
                let questions = &mut questions[*segment];
                *path = name(system, questions, *path);
                truths.iter_mut().for_each(|truth| *truth = name(system, questions, *truth));
            }
        }
        let mut frames = Self {
            pools,
            questions,
            levels: Vec::new(),
            lemmas: Vec::new(),
            events: BTreeMap::new(),
            goal,
            highest: 1,
        };
        frames.add_level(system);
        Some(frames)
    }

    fn add_level(&mut self, system: &mut System<'_, 'm>) {
        let bit = system.encoder.terms.fresh(1);
        self.levels.push(system.encoder.terms.is_set(bit));
    }

    /// What a question about states within so many segments assumes.
    fn assumed(&mut self, system: &mut System<'_, 'm>, level: usize) -> Vec<Truth<'m>> {
        while self.levels.len() <= level {
            self.add_level(system);
        }
        let mut assumed = vec![self.levels[0]];
        assumed.extend(&self.levels[level..]);
        assumed
    }

    /// A state in which the goal is covered next, after so many segments: the inner one is none if there is none, the outer
    /// one if nobody knows, or if the entry's own segment covers the goal.
    pub(crate) fn bad(
        &mut self,
        system: &mut System<'_, 'm>,
        goal: usize,
        level: usize,
    ) -> Option<Option<(CutId, Cube)>> {
        let assumed = self.assumed(system, level);
        for segment in 0..system.segments.len() {
            let event = match self.events.get(&(segment, goal)) {
                Some(event) => *event,
                None => {
                    let event = system.bad(segment, 1, goal);
                    let event = name(system, &mut self.questions[segment], event);
                    self.events.insert((segment, goal), event);
                    event
                }
            };
            if system.encoder.terms.is_false(event) {
                continue;
            }
            let Some(cut) = segment.checked_sub(1) else {
                match self.questions[0].ask(&[event]) {
                    Answer::Impossible => continue,
                    Answer::Possible | Answer::Unknown => return None,
                }
            };
            match self.questions[segment].ask(&[assumed.clone(), vec![event]].concat()) {
                Answer::Impossible => {}
                Answer::Unknown => return None,
                Answer::Possible => {
                    let cut = CutId::new(cut);
                    return Some(Some((cut, self.cube(cut))));
                }
            }
        }
        Some(None)
    }

    /// The values of the predicates at the start of the segment that was asked about last.
    fn cube(&mut self, cut: CutId) -> Cube {
        let pool = &self.pools[cut.index()];
        let questions = &mut self.questions[System::segment_of(cut)];
        let mut cube = Cube::new();
        let mut holds = |at: &usize| questions.holds(pool.at_start[*at]);
        for kind in &pool.kinds {
            match kind {
                Kind::Values(all) => match all.iter().find(|at| holds(at)) {
                    Some(at) => _ = cube.insert((*at, true)),
                    None => cube.extend(all.iter().map(|at| (*at, false))),
                },
                Kind::AtMost(all) => {
                    let first = all.iter().position(&mut holds).unwrap_or(all.len());
                    cube.extend(all.get(first).map(|at| (*at, true)));
                    cube.extend(first.checked_sub(1).map(|before| (all[before], false)));
                }
                Kind::Single(at) => _ = cube.insert((*at, holds(at))),
            }
        }
        cube
    }

    /// The cube with what follows from it: a variable that has a value has no other, and is at most what more is.
    fn implied(&self, cut: CutId, cube: &Cube) -> Cube {
        let mut implied = cube.clone();
        for kind in &self.pools[cut.index()].kinds {
            match kind {
                Kind::Values(all) => {
                    if let Some(value) = all.iter().find(|at| cube.contains(&(**at, true))) {
                        implied.extend(all.iter().filter(|at| *at != value).map(|at| (*at, false)));
                    }
                }
                Kind::AtMost(all) => {
                    if let Some(first) = all.iter().position(|at| cube.contains(&(*at, true))) {
                        implied.extend(all[first..].iter().map(|at| (*at, true)));
                    }
                    if let Some(last) = all.iter().rposition(|at| cube.contains(&(*at, false))) {
                        implied.extend(all[..last].iter().map(|at| (*at, false)));
                    }
                }
                Kind::Single(_) => {}
            }
        }
        implied
    }

    /// Whether a lemma excludes the cube within so many segments.
    pub(crate) fn excludes(&self, cut: CutId, cube: &Cube, level: usize) -> bool {
        let cube = &self.implied(cut, cube);
        let of_cut = self.lemmas.iter().filter(|lemma| lemma.cut == cut && lemma.level >= level);
        of_cut.into_iter().any(|lemma| lemma.cube.is_subset(cube))
    }

    /// Whether a state that is reached within one segment less leads to the cube.
    pub(crate) fn step(
        &mut self,
        system: &mut System<'_, 'm>,
        cut: CutId,
        cube: &Cube,
        level: usize,
    ) -> Step {
        let mut needed = Cube::new();
        let own = System::segment_of(cut);
        for number in 0..self.pools[cut.index()].arrivals.len() {
            let (segment, path, ref truths) = self.pools[cut.index()].arrivals[number];
            if segment > 0 && level == 1 {
                continue;
            }
            let literals: Vec<Literal> = cube.iter().copied().collect();
            let terms = &mut system.encoder.terms;
            let literal = |(at, value): &Literal| if *value { truths[*at] } else { terms.not(truths[*at]) };
            let mut asked: Vec<Truth<'m>> = literals.iter().map(literal).collect();
            asked.push(path);
            if segment == own {
                asked.push(self.excluded(system, cut, cube));
            }
            if segment > 0 {
                asked.extend(self.assumed(system, level - 1));
            }
            match self.questions[segment].ask(&asked) {
                Answer::Impossible => {
                    let core = self.questions[segment].needed(&asked).into_iter();
                    needed.extend(core.filter_map(|at| literals.get(at)));
                }
                Answer::Unknown => return Step::Unknown,
                Answer::Possible => {
                    let Some(before) = segment.checked_sub(1).map(CutId::new) else { return Step::Entered };
                    return Step::From(before, self.cube(before));
                }
            }
        }
        Step::Excluded(needed)
    }

    /// That the cube's own segment does not begin in it.
    fn excluded(&self, system: &mut System<'_, 'm>, cut: CutId, cube: &Cube) -> Truth<'m> {
        let (truths, terms) = (&self.pools[cut.index()].at_start, &mut system.encoder.terms);
        let mut all = terms.truth(true);
        for (at, value) in cube {
            let literal = if *value { truths[*at] } else { terms.not(truths[*at]) };
            all = terms.and(all, literal);
        }
        terms.not(all)
    }

    /// The cube with "it has this value" replaced by "it has none of the others", of which some may not be needed.
    pub(crate) fn spread(&self, cut: CutId, cube: &Cube) -> Cube {
        let mut spread = Cube::new();
        for &(at, value) in cube {
            let values = self.pools[cut.index()].kinds.iter().find_map(|kind| match kind {
                Kind::Values(all) if value && all.len() > 1 && all.contains(&at) => Some(all),
                Kind::Values(_) | Kind::AtMost(_) | Kind::Single(_) => None,
            });
            match values {
                Some(all) => spread.extend(all.iter().filter(|other| **other != at).map(|at| (*at, false))),
                None => _ = spread.insert((at, value)),
            }
        }
        spread
    }

    /// Excludes a cube from now on.
    pub(crate) fn add(&mut self, system: &mut System<'_, 'm>, lemma: Lemma) {
        self.state(system, &lemma);
        let is_weaker = |other: &Lemma| {
            other.cut == lemma.cut && other.level <= lemma.level && lemma.cube.is_subset(&other.cube)
        };
        self.lemmas.retain(|other| !is_weaker(other));
        self.lemmas.push(lemma);
    }

    /// Raises a lemma, given by its place, to a level.
    pub(crate) fn raise(&mut self, system: &mut System<'_, 'm>, at: usize, level: usize) {
        self.lemmas[at].level = level;
        self.lemmas[at].witness = None;
        let lemma = self.lemmas[at].clone();
        self.state(system, &lemma);
    }

    fn state(&mut self, system: &mut System<'_, 'm>, lemma: &Lemma) {
        let level = if lemma.level == ALWAYS { 0 } else { lemma.level };
        self.assumed(system, level);
        let clause = self.excluded(system, lemma.cut, &lemma.cube);
        let stated = system.encoder.terms.implies(self.levels[level], clause);
        self.questions[System::segment_of(lemma.cut)].assert(stated);
    }

    /// A lemma as a formula.
    pub(crate) fn formula(&self, lemma: &Lemma) -> Formula {
        let formulas = &self.pools[lemma.cut.index()].formulas;
        let mut parts: Vec<Formula> = lemma
            .cube
            .iter()
            .map(|(at, value)| {
                let formula = formulas[*at].clone();
                if *value { Formula::apply(Operator::Not, [formula]) } else { formula }
            })
            .collect();
        match parts.len() {
            0 => Formula::Bool(false),
            1 => parts.remove(0),
            _ => Formula::apply(Operator::Or, parts),
        }
    }

    pub(crate) fn goal(&self) -> Option<usize> {
        self.goal
    }
}

/// A symbol for a boolean: questions that differ in their assumptions are asked soon after each other if these are symbols.
pub(crate) fn name<'m>(
    system: &mut System<'_, 'm>,
    questions: &mut Questions<'m>,
    truth: Truth<'m>,
) -> Truth<'m> {
    let terms = &mut system.encoder.terms;
    if terms.is_false(truth) || terms.is_true(truth) {
        return truth;
    }
    let bit = terms.fresh(1);
    let name = terms.is_set(bit);
    let (there, back) = (terms.implies(name, truth), terms.implies(truth, name));
    questions.assert(there);
    questions.assert(back);
    name
}

impl<'m> Pool<'m> {
    fn new(system: &mut System<'_, 'm>, cut: CutId, groups: Vec<Group>, goal: Option<usize>) -> Option<Self> {
        let (formulas, at_start) = (Vec::new(), Vec::new());
        let mut pool = Self { formulas, kinds: Vec::new(), at_start, arrivals: Vec::new() };
        for group in groups {
            let members: Vec<Formula> = match &group {
                Group::Values(all) | Group::AtMost(all) => all.clone(),
                Group::Single(one) => vec![one.clone()],
                Group::Flag(of, one) => {
                    if goal != Some(*of) {
                        continue;
                    }
                    vec![one.clone()]
                }
            };
            let truths: Option<Vec<Truth<'m>>> =
                members.iter().map(|formula| system.at_start(System::segment_of(cut), formula)).collect();
            let Some(truths) = truths else { continue };
            let first = pool.formulas.len();
            let numbers: Vec<usize> = (first..first + members.len()).collect();
            pool.formulas.extend(members);
            pool.at_start.extend(truths);
            pool.kinds.push(match group {
                Group::Values(_) => Kind::Values(numbers),
                Group::AtMost(_) => Kind::AtMost(numbers),
                Group::Single(_) | Group::Flag(..) => Kind::Single(first),
            });
        }
        for segment in 0..system.segments.len() {
            let Some(path) = system.segments[segment].arrivals().get(&cut).map(|state| state.path) else {
                continue;
            };
            let truths: Option<Vec<Truth<'m>>> =
                pool.formulas.iter().map(|formula| system.at_arrival(segment, cut, formula)).collect();
            pool.arrivals.push((segment, path, truths?));
            if system.encoder.is_too_large() {
                return None;
            }
        }
        Some(pool)
    }
}
