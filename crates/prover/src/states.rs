//! Lists the states that a program of few values reaches, and from them what excludes a goal.
//!
//! Method: from the entry on, states at cuts are listed one after the other, each with the values of the scalars that matter to a
//! goal or to where control goes ([`crate::simulation`]). Inputs take the values that comparisons tell apart. A scalar with too many
//! values is dropped. Then clauses are looked for that hold in all listed states and exclude the goal: a solver names a state that
//! leads to the goal, or past a clause that is there; a clause excludes it that is as strong as the listed states allow
//! ([`crate::reached`]). So no clause is ever taken back, and none is more special than it must be. A state that is listed and leads
//! past a clause says that the list was not complete: what it leads to is added. Where too many clauses are needed, the list itself is the
//! proof, which a checker follows state by state, with the few clauses that exclude the goal. Limit: what is compared with other inputs or
//! computed from them is not known.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use proof::{Body, Formula, Operator};
use tracing::debug;

use crate::domains::Domains;
use crate::frames::name;
use crate::graph::{ContextId, CutId};
use crate::known::Listed;
use crate::nodes::{Made, Node, NodeId};
use crate::predicates::scalars;
use crate::question::{Answer, Effort, Questions};
use crate::reached::{Clause, Reached, Table, Values};
use crate::simulation::{Known, Simulation, is_symbol, telling_values};
use crate::system::{Argument, Prover, System};
use crate::terms::{Bits, Truth, signed};

/// States at all cuts together at most.
const MAX_STATES: usize = 60_000;
/// Values of one scalar at most; one with more is dropped. At first: most scalars with more are counters. What that leaves open is tried again with more values.
const MAX_VALUES: [usize; 2] = [150, 900];
/// Choices of inputs that one state is followed with at most.
const MAX_CHOICES: usize = 20_000;
/// States after which, and after each doubling of which, it is looked for scalars to drop: at first for those that have another value in nearly each state,
/// then for those whose values still become more.
const FIRST_LOOK: usize = 300;
const SECOND_LOOK: usize = 2_400;
/// How often scalars are dropped.
const MAX_DROPPED: usize = 6;
/// How often states are added that the list lacked.
const MAX_REPAIRS: usize = 12;
/// Clauses at most that a checker has to see to hold together. Where more would be needed, it follows the listed states, and also where it can compute all of them.
const MAX_CLAUSES: usize = 300;
/// The part of the effort that may be spent on them, and the number of states up to which that is tried.
const CLAUSES: u64 = 3;
const MAX_STATES_FOR_CLAUSES: usize = 2_500;
/// Combinations of values up to which clauses are made for all at once.
const MAX_COMBINATIONS: usize = 300_000;
/// The part of the effort that listing leaves to what comes behind it.
const BEHIND_LISTING: u64 = 4;
/// Questions that had no answer may cost so many times the usual effort when all others were asked.
const PATIENCE: u64 = 10;
/// Terms that are evaluated for a unit of effort, and states that are listed.
const STEPS_PER_UNIT: u64 = 12_000;
const STEPS_PER_STATE: u64 = 3_000;
/// Consecutive values from which on a formula names the first and the last.
const MIN_RUN: usize = 4;

/// The engine.
pub(crate) struct States;

/// A scalar where a cut sees it.
struct Scalar<'m> {
    formula: Formula,
    width: u32,
    start: Bits<'m>,
    start_node: NodeId,
    /// By segment that arrives: what it is then.
    arrival_nodes: BTreeMap<usize, NodeId>,
}

/// What is listed, and how.
struct Listing<'m> {
    /// By cut: the scalars that count.
    scalars: Vec<Vec<Scalar<'m>>>,
    /// By segment: cuts, and when control arrives there.
    arrivals: Vec<Vec<(CutId, NodeId)>>,
    /// By segment: goals that were not seen to be covered, and when they are.
    events: Vec<Vec<(usize, NodeId)>>,
    covered: BTreeSet<usize>,
    values: HashMap<NodeId, Vec<Known>>,
    /// Whether inputs have values by themselves only where they are equal to a constant: then a checker computes the same states.
    is_by_equality: bool,
    /// By cut.
    reached: Vec<Reached>,
    /// States that were not followed yet.
    open: Vec<(usize, usize)>,
    is_begun: bool,
    /// Values of a scalar with which it is dropped.
    max_values: usize,
}

/// Why states could not be listed.
enum Stop {
    /// This scalar should be dropped.
    Drop(Formula),
    Spent,
}

impl Prover for States {
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Argument> {
        system.encoder.allow_more();
        let (mut proved, mut left) = (BTreeMap::new(), open.clone());
        let begun = system.facts.listed.as_ref().map_or(0, |listed| listed.max_values);
        for max_values in MAX_VALUES.into_iter().filter(|max_values| *max_values >= begun) {
            let (found, has_dropped) = prove(system, &left, max_values, effort);
            left.retain(|goal| !found.contains_key(goal));
            proved.extend(found);
            if left.is_empty() || !has_dropped || effort.is_spent() {
                break;
            }
        }
        proved
    }
}

/// The goals that are excluded by listed scalars of so many values, and whether there were scalars with more.
fn prove(
    system: &mut System<'_, '_>,
    open: &BTreeSet<usize>,
    max_values: usize,
    effort: &Effort,
) -> (BTreeMap<usize, Argument>, bool) {
    // where there are too many states, other engines need what is left
    let listed = effort.keeping(BEHIND_LISTING);
    let mut kept = system.facts.listed.take().filter(|kept| kept.max_values == max_values);
    let mut dropped: Vec<Formula> = kept.as_ref().map_or(Vec::new(), |kept| kept.dropped.clone());
    let mut listing = loop {
        let Some(mut listing) = Listing::of(system, open, &dropped, max_values, kept.take().as_deref())
        else {
            return (BTreeMap::new(), false);
        };
        match listing.follow(system, &listed) {
            Ok(()) => break listing,
            Err(Stop::Drop(formula)) if dropped.len() < MAX_DROPPED => {
                debug!(?formula, n_states = listing.n_states(), "too many values");
                dropped.push(formula);
            }
            Err(Stop::Drop(_)) => return (BTreeMap::new(), false),
            Err(Stop::Spent) => {
                debug!(
                    n_states = listing.n_states(),
                    n_open = listing.open.len(),
                    "not all states were followed"
                );
                system.facts.listed = listing.is_begun.then(|| Arc::new(listing.kept(dropped)));
                return (BTreeMap::new(), false);
            }
        }
    };
    system.facts.listed = Some(Arc::new(listing.kept(dropped.clone())));
    let mut asked = open.clone();
    let mut proved = BTreeMap::new();
    for _ in 0..MAX_REPAIRS {
        asked.retain(|goal| !listing.covered.contains(goal));
        debug!(
            n_states = listing.n_states(),
            n_scalars = listing.scalars.iter().map(Vec::len).sum::<usize>(),
            n_asked = asked.len(),
            left = effort.left(),
            "listed"
        );
        if asked.is_empty() || listing.is_by_equality || listing.n_states() > MAX_STATES_FOR_CLAUSES {
            break;
        }
        let mut exclusion = Exclusion::new(system, &listing, &effort.part(CLAUSES).watched());
        exclusion.state_all(system);
        match exclusion.exclude_all(system, &mut asked) {
            Ended::Lacking(cut, state) => {
                if !listing.add(cut, state) || listing.follow(system, effort).is_err() {
                    return (BTreeMap::new(), false);
                }
            }
            Ended::Closed { excluded, clauses } => {
                debug!(
                    n_excluded = excluded.len(),
                    n_clauses = clauses.len(),
                    left = effort.left(),
                    "excluded"
                );
                asked.retain(|goal| !excluded.contains(goal));
                proved = argue(&listing, &clauses, &excluded);
                break;
            }
        }
    }
    asked.retain(|goal| !listing.covered.contains(goal));
    if !asked.is_empty() {
        proved.extend(argue_by_rows(system, &listing, &asked, effort));
    }
    (proved, !dropped.is_empty())
}

/// The proofs of those goals that no listed state leads to, by the list itself and the clauses that each needs.
fn argue_by_rows<'m>(
    system: &mut System<'_, 'm>,
    listing: &Listing<'m>,
    goals: &BTreeSet<usize>,
    effort: &Effort,
) -> BTreeMap<usize, Argument> {
    let mut exclusion = Exclusion::new(system, listing, effort);
    let mut excluded: Vec<usize> = Vec::new();
    let mut asked: Vec<usize> = goals.iter().copied().collect();
    for patience in [1, PATIENCE] {
        exclusion.questions.iter_mut().for_each(|questions| questions.allow(patience));
        let mut unknown = Vec::new();
        for goal in asked {
            match exclusion.exclude(system, goal) {
                Met::Excluded => excluded.push(goal),
                Met::Unknown => unknown.push(goal),
                Met::Reached | Met::Lacking(..) => {}
            }
        }
        asked = unknown;
    }
    let clauses = exclusion.clauses;
    debug!(
        n_excluded = excluded.len(),
        n_unknown = asked.len(),
        n_clauses = clauses.len(),
        left = effort.left(),
        "excluded by rows"
    );
    let formulas: Vec<(usize, Formula)> =
        clauses.iter().map(|(cut, clause)| (*cut, listing.formula(*cut, clause))).collect();
    let mut questions: Vec<Questions<'m>> =
        (0..system.segments.len()).map(|_| system.similar_questions(effort)).collect();
    let rows = Arc::new(listing.rows());
    let mut proved = BTreeMap::new();
    for goal in excluded {
        // where nothing is left to tell which are needed, all are as good
        let needed = needed(system, &mut questions, &formulas, goal);
        let needed = needed.unwrap_or_else(|| (0..formulas.len()).collect());
        let invariants = (0..listing.scalars.len()).map(|cut| {
            let of_cut = needed.iter().filter(|at| formulas[**at].0 == cut);
            conjunction(of_cut.map(|at| formulas[*at].1.clone()).collect())
        });
        let argument = Argument { invariants: invariants.collect(), body: Body::Listed(Arc::clone(&rows)) };
        proved.insert(goal, argument);
    }
    proved
}

/// Which of the formulas exclude the goal.
fn needed<'m>(
    system: &mut System<'_, 'm>,
    questions: &mut [Questions<'m>],
    formulas: &[(usize, Formula)],
    goal: usize,
) -> Option<BTreeSet<usize>> {
    let mut needed = BTreeSet::new();
    for (segment, questions) in questions.iter_mut().enumerate() {
        let event = system.bad(segment, 1, goal);
        if system.encoder.terms.is_false(event) {
            continue;
        }
        let own: Vec<usize> = (0..formulas.len()).filter(|at| formulas[*at].0 + 1 == segment).collect();
        let mut asked: Vec<Truth<'m>> =
            own.iter().map(|at| system.at_start(segment, &formulas[*at].1)).collect::<Option<_>>()?;
        asked.push(event);
        match questions.ask(&asked) {
            Answer::Impossible => {
                needed.extend(questions.needed(&asked).iter().filter_map(|at| own.get(*at)))
            }
            Answer::Possible | Answer::Unknown => return None,
        }
    }
    Some(needed)
}

fn conjunction(mut formulas: Vec<Formula>) -> Formula {
    match formulas.len() {
        0 => Formula::Bool(true),
        1 => formulas.remove(0),
        _ => Formula::apply(Operator::And, formulas),
    }
}

/// The proofs of these goals by all clauses: they were seen to hold together, and to exclude each goal.
fn argue(
    listing: &Listing<'_>,
    clauses: &[(usize, Clause)],
    goals: &BTreeSet<usize>,
) -> BTreeMap<usize, Argument> {
    let of_cut = |cut: usize| {
        let of_cut = clauses.iter().filter(|(of, _)| *of == cut);
        conjunction(of_cut.map(|(cut, clause)| listing.formula(*cut, clause)).collect())
    };
    let invariants: Vec<Formula> = (0..listing.scalars.len()).map(of_cut).collect();
    let argument = |goal: &usize| (*goal, Argument { invariants: invariants.clone(), body: Body::Inductive });
    goals.iter().map(argument).collect()
}

impl<'m> Listing<'m> {
    /// Nothing is listed but what was kept. None if the encoding would be too large.
    fn of(
        system: &mut System<'_, 'm>,
        goals: &BTreeSet<usize>,
        dropped: &[Formula],
        max_values: usize,
        kept: Option<&Listed>,
    ) -> Option<Self> {
        let functions = system.encoder.graph.contexts.iter().map(|context| context.function).collect();
        let entry = system.encoder.graph.context(ContextId::ENTRY).function;
        let domains = Domains::of(system.encoder.program, entry, &functions);
        let cuts: Vec<_> = system.encoder.graph.cuts().collect();
        let mut all = Vec::new();
        for (cut, node) in cuts {
            let mut of_cut = Vec::new();
            for (formula, width) in scalars(&system.encoder, &domains, node) {
                if !dropped.contains(&formula) {
                    of_cut.extend(scalar(system, cut, formula, width));
                }
            }
            all.push(of_cut);
            if system.encoder.is_too_large() {
                return None;
            }
        }
        let mut roots: Vec<NodeId> = Vec::new();
        let (mut arrivals, mut events) = (Vec::new(), Vec::new());
        for segment in 0..system.segments.len() {
            let of_segment = system.segments[segment].arrivals().iter();
            let of_segment: Vec<(CutId, NodeId)> = of_segment
                .map(|(cut, state)| (*cut, system.encoder.terms.node_of_truth(state.path)))
                .collect();
            roots.extend(of_segment.iter().map(|(_, path)| *path));
            arrivals.push(of_segment);
            let mut of_segment = Vec::new();
            for goal in goals {
                let event = system.bad(segment, 1, *goal);
                if !system.encoder.terms.is_false(event) {
                    of_segment.push((*goal, system.encoder.terms.node_of_truth(event)));
                }
            }
            roots.extend(of_segment.iter().map(|(_, event)| *event));
            events.push(of_segment);
        }
        let nodes = system.encoder.terms.nodes().all();
        let formulas = |scalars: &[Vec<Scalar<'m>>]| -> Vec<Vec<Formula>> {
            let of_cut =
                |scalars: &Vec<Scalar<'m>>| scalars.iter().map(|scalar| scalar.formula.clone()).collect();
            scalars.iter().map(of_cut).collect()
        };
        let has_kept = |of_cut: &Vec<Scalar<'m>>, kept: &Vec<Formula>| {
            kept.iter().all(|formula| of_cut.iter().any(|scalar| scalar.formula == *formula))
        };
        let kept = kept.filter(|kept| all.iter().zip(&kept.scalars).all(|(all, kept)| has_kept(all, kept)));
        let scalars = match kept {
            Some(kept) => {
                for (of_cut, kept) in all.iter_mut().zip(&kept.scalars) {
                    of_cut.retain(|scalar| kept.contains(&scalar.formula));
                }
                all
            }
            None => that_matter(nodes, roots, all),
        };
        let kept = kept.filter(|kept| formulas(&scalars) == kept.scalars);
        let (reached, open, is_begun) = match kept {
            Some(kept) => (kept.reached.clone(), kept.open.clone(), true),
            None => (scalars.iter().map(|_| Reached::default()).collect(), Vec::new(), false),
        };
        let (values, mut ordered) = telling_values(nodes);
        // what a state says is not chosen
        scalars.iter().flatten().for_each(|scalar| _ = ordered.remove(&scalar.start_node));
        let is_by_equality = ordered.is_empty();
        let covered = BTreeSet::new();
        Some(Self {
            scalars,
            arrivals,
            events,
            covered,
            values,
            is_by_equality,
            reached,
            open,
            is_begun,
            max_values,
        })
    }

    /// What a later turn needs to go on.
    fn kept(&self, dropped: Vec<Formula>) -> Listed {
        let of_cut =
            |scalars: &Vec<Scalar<'m>>| scalars.iter().map(|scalar| scalar.formula.clone()).collect();
        Listed {
            scalars: self.scalars.iter().map(of_cut).collect(),
            dropped,
            max_values: self.max_values,
            reached: self.reached.clone(),
            open: self.open.clone(),
        }
    }

    /// The list as a checker takes it.
    fn rows(&self) -> Vec<proof::Listing> {
        let of_cut = |cut: usize| proof::Listing {
            cut: cut as u32,
            scalars: self.scalars[cut].iter().map(|scalar| scalar.formula.clone()).collect(),
            rows: self.reached[cut].states.clone(),
        };
        (0..self.scalars.len()).map(of_cut).collect()
    }

    fn n_states(&self) -> usize {
        self.reached.iter().map(|reached| reached.states.len()).sum()
    }

    /// Adds a state, whether or not it was seen; whether it is new.
    fn add(&mut self, cut: usize, state: Values) -> bool {
        let number = self.reached[cut].add(state);
        self.open.extend(number.map(|number| (cut, number)));
        number.is_some()
    }

    /// Lists all that states lead to which were not followed yet.
    fn follow(&mut self, system: &System<'_, 'm>, effort: &Effort) -> Result<(), Stop> {
        let nodes = system.encoder.terms.nodes().all();
        let values = std::mem::take(&mut self.values);
        let mut simulation = Simulation::new(nodes, &values);
        let mut followed = Ok(());
        if !self.is_begun {
            followed = self.follow_one(&mut simulation, 0, None);
            self.is_begun = followed.is_ok();
        }
        while followed.is_ok()
            && let Some((cut, number)) = self.open.pop()
        {
            let state = self.reached[cut].states[number].clone();
            followed = self.follow_one(&mut simulation, cut + 1, Some(&state));
            if followed.is_err() {
                self.open.push((cut, number));
            }
            effort.spend(simulation.n_steps / STEPS_PER_UNIT);
            simulation.n_steps %= STEPS_PER_UNIT;
            if effort.is_spent() {
                followed = Err(Stop::Spent);
            }
        }
        self.values = values;
        followed
    }

    /// Lists what a segment leads to from a state.
    fn follow_one(
        &mut self,
        simulation: &mut Simulation<'_>,
        segment: usize,
        state: Option<&Values>,
    ) -> Result<(), Stop> {
        let arrivals = self.arrivals[segment].clone();
        simulation.begin();
        for _ in 0..MAX_CHOICES {
            if let Some((state, cut)) = state.zip(segment.checked_sub(1)) {
                for (scalar, value) in self.scalars[cut].iter().zip(state) {
                    if let Some(value) = value {
                        simulation.give(scalar.start_node, *value);
                    }
                }
            }
            if let Some((cut, _)) = arrivals.iter().find(|(_, path)| simulation.holds(*path)) {
                let cut = cut.index();
                let value = |scalar: &Scalar<'m>| match simulation.evaluate(scalar.arrival_nodes[&segment]) {
                    Known::Exactly(value) => Some(value),
                    Known::Guess(_) | Known::Nothing => None,
                };
                let state: Values = self.scalars[cut].iter().map(value).collect();
                if self.add(cut, state) {
                    simulation.n_steps += STEPS_PER_STATE;
                    self.limit(cut)?;
                }
            }
            self.mark(simulation, segment);
            if !simulation.next() {
                return Ok(());
            }
        }
        Err(Stop::Spent)
    }

    /// Takes out the goals that are covered.
    fn mark(&mut self, simulation: &mut Simulation<'_>, segment: usize) {
        let is_covered = |event: NodeId, simulation: &mut Simulation<'_>| {
            let holds = simulation.holds(event);
            holds && !simulation.is_doubtful
        };
        let of_segment = &mut self.events[segment];
        let before = of_segment.len();
        let mut covered = BTreeSet::new();
        of_segment.retain(|(goal, event)| {
            let is_open = !is_covered(*event, simulation);
            covered.extend((!is_open).then_some(*goal));
            is_open
        });
        if of_segment.len() < before {
            for of_segment in &mut self.events {
                of_segment.retain(|(goal, _)| !covered.contains(goal));
            }
            self.covered.extend(covered);
        }
    }

    /// Says what to drop where there are too many states.
    fn limit(&self, cut: usize) -> Result<(), Stop> {
        let n_states = self.reached[cut].states.len();
        if self.n_states() > MAX_STATES {
            return Err(self.worst());
        }
        if !n_states.is_multiple_of(FIRST_LOOK) || !(n_states / FIRST_LOOK).is_power_of_two() {
            return Ok(());
        }
        // one whose values become ever more is a counter, others have many values and no more
        let is_counter = |at: usize| {
            let reached = &self.reached[cut];
            let n_values = reached.n_values(at);
            let is_new_in_each = n_values * 10 > n_states * 9;
            let grows =
                n_states >= SECOND_LOOK && n_values * 2 > reached.n_values_of_first(at, n_states / 2) * 3;
            n_values > self.max_values && (is_new_in_each || grows)
        };
        let mut scalars = self.scalars[cut].iter().enumerate();
        match scalars.find(|(at, _)| is_counter(*at)) {
            Some((_, counter)) => Err(Stop::Drop(counter.formula.clone())),
            None => Ok(()),
        }
    }

    /// The scalar with the most values.
    fn worst(&self) -> Stop {
        let mut worst: Option<(usize, &Formula)> = None;
        for (scalars, reached) in self.scalars.iter().zip(&self.reached) {
            for (at, scalar) in scalars.iter().enumerate() {
                let n_values = reached.n_values(at);
                if n_values > 1 && worst.is_none_or(|(most, _)| n_values > most) {
                    worst = Some((n_values, &scalar.formula));
                }
            }
        }
        worst.map_or(Stop::Spent, |(_, formula)| Stop::Drop(formula.clone()))
    }

    /// A clause as a formula.
    fn formula(&self, cut: usize, clause: &Clause) -> Formula {
        let mut parts: Vec<Formula> = clause
            .iter()
            .flat_map(|(at, values)| {
                let scalar = &self.scalars[cut][*at];
                runs(values, scalar.width).into_iter().map(|run| in_run(scalar, run))
            })
            .collect();
        match parts.len() {
            0 => Formula::Bool(false),
            1 => parts.remove(0),
            _ => Formula::apply(Operator::Or, parts),
        }
    }
}

/// A scalar at a cut; none if it is not made of symbols there.
fn scalar<'m>(system: &mut System<'_, 'm>, cut: CutId, formula: Formula, width: u32) -> Option<Scalar<'m>> {
    let start = system.bits_at_start(System::segment_of(cut), &formula)?;
    let start_node = system.encoder.terms.node_of_bits(start);
    if !is_symbol(system.encoder.terms.nodes().all(), start_node) {
        return None;
    }
    let mut arrival_nodes = BTreeMap::new();
    for segment in 0..system.segments.len() {
        if system.segments[segment].arrivals().contains_key(&cut) {
            let bits = system.bits_at_arrival(segment, cut, &formula)?;
            arrival_nodes.insert(segment, system.encoder.terms.node_of_bits(bits));
        }
    }
    Some(Scalar { formula, width, start, start_node, arrival_nodes })
}

/// Those of the scalars on which these terms depend, and those on which what arrives in them depends.
fn that_matter<'m>(
    nodes: &[Node],
    roots: Vec<NodeId>,
    mut all: Vec<Vec<Scalar<'m>>>,
) -> Vec<Vec<Scalar<'m>>> {
    let mut seen = vec![false; nodes.len()];
    let mut matters: Vec<Vec<bool>> = all.iter().map(|of_cut| vec![false; of_cut.len()]).collect();
    let mut open = roots;
    loop {
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            match nodes[at as usize].made {
                Made::Leaf | Made::Constant(_) => {}
                Made::One(_, of) | Made::Extract(of, _) => open.push(of),
                Made::Two(_, one, other) => open.extend([one, other]),
                Made::Ite(condition, then, otherwise) => open.extend([condition, then, otherwise]),
            }
        }
        for (of_cut, matters) in all.iter().zip(&mut matters) {
            for (scalar, matters) in of_cut.iter().zip(matters) {
                if !*matters && leaves(nodes, scalar.start_node).iter().any(|leaf| seen[*leaf as usize]) {
                    *matters = true;
                    open.extend(scalar.arrival_nodes.values());
                }
            }
        }
        if open.is_empty() {
            break;
        }
    }
    for (of_cut, matters) in all.iter_mut().zip(matters) {
        let mut matters = matters.into_iter();
        of_cut.retain(|_| matters.next().unwrap_or(false));
    }
    all
}

/// The symbols of which a scalar is made.
fn leaves(nodes: &[Node], node: NodeId) -> Vec<NodeId> {
    match nodes[node as usize].made {
        Made::Two(_, high, low) => [leaves(nodes, high), leaves(nodes, low)].concat(),
        _ => vec![node],
    }
}

/// The first and the last of values that follow each other.
type Run = (u64, u64);

/// The values as runs, the short ones taken apart.
fn runs(values: &[u64], width: u32) -> Vec<Run> {
    let number = |value: u64| signed(value.into(), width);
    let mut sorted = values.to_vec();
    sorted.sort_by_key(|value| number(*value));
    let mut runs: Vec<Run> = Vec::new();
    for group in sorted.chunk_by(|one, next| number(*next) == number(*one) + 1) {
        match group {
            [first, .., last] if group.len() >= MIN_RUN => runs.push((*first, *last)),
            few => runs.extend(few.iter().map(|value| (*value, *value))),
        }
    }
    runs
}

fn in_run(scalar: &Scalar<'_>, (first, last): Run) -> Formula {
    let against = |operator, value: u64| {
        let constant = Formula::Bits { bits: scalar.width, value: value.into() };
        Formula::apply(operator, [scalar.formula.clone(), constant])
    };
    if first == last {
        return against(Operator::Equal, first);
    }
    Formula::apply(Operator::And, [against(Operator::BvSge, first), against(Operator::BvSle, last)])
}

/// How a search for clauses ended.
enum Ended {
    /// This state is reached, and not listed.
    Lacking(usize, Values),
    Closed {
        excluded: BTreeSet<usize>,
        clauses: Vec<(usize, Clause)>,
    },
}

/// What became of a state or a clause.
enum Met {
    Excluded,
    /// A listed state, or the entry, leads there.
    Reached,
    Lacking(usize, Values),
    Unknown,
}

/// Looks for clauses that exclude goals.
struct Exclusion<'l, 'm> {
    listing: &'l Listing<'m>,
    tables: Vec<Table>,
    /// By segment.
    questions: Vec<Questions<'m>>,
    clauses: Vec<(usize, Clause)>,
    /// Clauses that were stated all at once.
    n_stated: usize,
    /// Up to here clauses were seen to hold wherever control arrives.
    n_held: usize,
    /// By cut, scalar and run: where the cut's segment begins.
    at_start: HashMap<(usize, usize, Run), Truth<'m>>,
    /// By segment and the same: where it arrives.
    at_arrival: HashMap<(usize, usize, usize, Run), Truth<'m>>,
    effort: Effort,
}

impl<'l, 'm> Exclusion<'l, 'm> {
    fn new(system: &mut System<'_, 'm>, listing: &'l Listing<'m>, effort: &Effort) -> Self {
        let tables = listing.reached.iter().zip(&listing.scalars);
        Self {
            listing,
            tables: tables.map(|(reached, scalars)| Table::of(reached, scalars.len())).collect(),
            questions: (0..system.segments.len()).map(|_| system.similar_questions(effort)).collect(),
            clauses: Vec::new(),
            n_stated: 0,
            n_held: 0,
            at_start: HashMap::new(),
            at_arrival: HashMap::new(),
            effort: effort.clone(),
        }
    }

    /// States all that holds in the listed states alone, where that is not too much: that is inductive if the list is complete.
    fn state_all(&mut self, system: &mut System<'_, 'm>) {
        let all: Option<Vec<Vec<Clause>>> =
            self.tables.iter().map(|table| table.clauses(MAX_COMBINATIONS)).collect();
        let Some(all) = all.filter(|all| all.iter().map(Vec::len).sum::<usize>() < MAX_CLAUSES) else {
            return;
        };
        for (cut, clauses) in all.into_iter().enumerate() {
            for clause in clauses {
                self.state(system, cut, clause);
            }
        }
        self.n_stated = self.clauses.len();
    }

    /// Excludes the goals one after the other; those that a listed state leads to are not asked about again.
    fn exclude_all(&mut self, system: &mut System<'_, 'm>, goals: &mut BTreeSet<usize>) -> Ended {
        let (mut excluded, mut n_clauses) = (BTreeSet::new(), 0);
        for goal in goals.clone() {
            let n_before = self.clauses.len();
            let met = match self.exclude(system, goal) {
                Met::Excluded => self.hold(system),
                other => other,
            };
            debug!(goal, n_new = self.clauses.len() - n_before, left = self.effort.left(), "goal");
            match met {
                Met::Excluded => {
                    excluded.insert(goal);
                    n_clauses = self.clauses.len();
                }
                Met::Reached => _ = goals.remove(&goal),
                Met::Lacking(cut, state) => return Ended::Lacking(cut, state),
                // what was not seen to hold is asserted already
                Met::Unknown => break,
            }
        }
        self.clauses.truncate(n_clauses);
        Ended::Closed { excluded, clauses: std::mem::take(&mut self.clauses) }
    }

    /// Excludes all states from which the goal is covered next.
    fn exclude(&mut self, system: &mut System<'_, 'm>, goal: usize) -> Met {
        for segment in 0..system.segments.len() {
            let event = system.bad(segment, 1, goal);
            if system.encoder.terms.is_false(event) {
                continue;
            }
            loop {
                match self.questions[segment].ask(&[event]) {
                    Answer::Impossible => break,
                    Answer::Unknown => return Met::Unknown,
                    Answer::Possible => {}
                }
                let Some(cut) = segment.checked_sub(1) else { return Met::Reached };
                if !self.exclude_state(system, cut) {
                    return Met::Reached;
                }
            }
        }
        Met::Excluded
    }

    /// Excludes the state in which the segment of a cut was just seen to begin; false if that is listed.
    fn exclude_state(&mut self, system: &mut System<'_, 'm>, cut: usize) -> bool {
        let questions = &mut self.questions[cut + 1];
        let scalars = &self.listing.scalars[cut];
        let state: Vec<u64> =
            scalars.iter().map(|scalar| questions.value(scalar.start).unwrap_or(0) as u64).collect();
        let Some(clause) = self.tables[cut].clause(&state) else { return false };
        self.state(system, cut, clause);
        true
    }

    fn state(&mut self, system: &mut System<'_, 'm>, cut: usize, clause: Clause) {
        let literals = self.literals(system, cut, &clause, None);
        let stated = any(system, literals);
        self.questions[cut + 1].assert(stated);
        self.clauses.push((cut, clause));
    }

    /// Whether nothing leads past clauses of which there are many.
    fn hold_together(&mut self, system: &mut System<'_, 'm>) -> Met {
        for segment in 0..system.segments.len() {
            let arrivals: Vec<_> = system.segments[segment]
                .arrivals()
                .iter()
                .map(|(cut, state)| (cut.index(), state.path))
                .collect();
            for (cut, path) in arrivals {
                let mut broken = system.encoder.terms.truth(false);
                for (_, clause) in self.clauses.clone().iter().filter(|(of, _)| *of == cut) {
                    let literals = self.literals(system, cut, clause, Some(segment));
                    let holds = any(system, literals);
                    let fails = system.encoder.terms.not(holds);
                    broken = system.encoder.terms.or(broken, fails);
                }
                match self.questions[segment].ask(&[path, broken]) {
                    Answer::Impossible => {}
                    Answer::Unknown => return Met::Unknown,
                    Answer::Possible => return self.arrived(system, segment, cut),
                }
            }
        }
        self.n_held = self.clauses.len();
        Met::Excluded
    }

    /// Excludes what leads past the clauses that are there.
    fn hold(&mut self, system: &mut System<'_, 'm>) -> Met {
        if self.n_held < self.n_stated {
            match self.hold_together(system) {
                Met::Excluded => {}
                other => return other,
            }
        }
        while let Some((cut, clause)) = self.clauses.get(self.n_held).cloned() {
            if self.clauses.len() > MAX_CLAUSES {
                return Met::Unknown;
            }
            for segment in 0..system.segments.len() {
                let arrivals = system.segments[segment].arrivals();
                let Some(path) = arrivals.get(&CutId::new(cut)).map(|state| state.path) else { continue };
                let literals = self.literals(system, cut, &clause, Some(segment));
                let mut asked = vec![path];
                asked.extend(literals.into_iter().map(|literal| system.encoder.terms.not(literal)));
                loop {
                    match self.questions[segment].ask(&asked) {
                        Answer::Impossible => break,
                        Answer::Unknown => return Met::Unknown,
                        Answer::Possible => {}
                    }
                    let is_excluded = match segment.checked_sub(1) {
                        Some(before) => self.exclude_state(system, before),
                        None => false,
                    };
                    if !is_excluded {
                        return self.arrived(system, segment, cut);
                    }
                }
            }
            self.n_held += 1;
        }
        Met::Excluded
    }

    /// The state in which the segment was just seen to arrive at a cut.
    fn arrived(&mut self, system: &mut System<'_, 'm>, segment: usize, cut: usize) -> Met {
        let mut state = Values::new();
        for scalar in &self.listing.scalars[cut] {
            let bits = system.bits_at_arrival(segment, CutId::new(cut), &scalar.formula);
            state.push(bits.and_then(|bits| self.questions[segment].value(bits)).map(|value| value as u64));
        }
        Met::Lacking(cut, state)
    }

    /// What a clause says, where its cut's segment begins or where a segment arrives.
    fn literals(
        &mut self,
        system: &mut System<'_, 'm>,
        cut: usize,
        clause: &Clause,
        arriving: Option<usize>,
    ) -> Vec<Truth<'m>> {
        let mut literals = Vec::new();
        for (at, values) in clause {
            let scalar = &self.listing.scalars[cut][*at];
            for run in runs(values, scalar.width) {
                let known = match arriving {
                    None => self.at_start.get(&(cut, *at, run)),
                    Some(segment) => self.at_arrival.get(&(segment, cut, *at, run)),
                };
                if let Some(known) = known {
                    literals.push(*known);
                    continue;
                }
                let formula = in_run(scalar, run);
                let truth = match arriving {
                    None => system.at_start(cut + 1, &formula),
                    Some(segment) => system.at_arrival(segment, CutId::new(cut), &formula),
                };
                let truth = truth.unwrap_or(system.encoder.terms.truth(false));
                let questions = &mut self.questions[arriving.unwrap_or(cut + 1)];
                let named = name(system, questions, truth);
                match arriving {
                    None => _ = self.at_start.insert((cut, *at, run), named),
                    Some(segment) => _ = self.at_arrival.insert((segment, cut, *at, run), named),
                }
                literals.push(named);
            }
        }
        literals
    }
}

fn any<'m>(system: &mut System<'_, 'm>, truths: Vec<Truth<'m>>) -> Truth<'m> {
    let terms = &mut system.encoder.terms;
    let no = terms.truth(false);
    truths.into_iter().fold(no, |any, truth| terms.or(any, truth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_follow_each_other_are_one_run() {
        assert_eq!(runs(&[7, 1, 2, 9, 3], 8), [(1, 1), (2, 2), (3, 3), (7, 7), (9, 9)]);
        assert_eq!(runs(&[0, 1, 2, 255, 3], 8), [(255, 3)]);
        assert_eq!(runs(&[], 8), []);
    }
}
