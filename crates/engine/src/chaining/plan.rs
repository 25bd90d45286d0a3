//! Given a run and an event sequence: which outcomes of the run are to be changed next, or which branch stands in the way?
//!
//! Method: the run passes the first events as far as it keeps what they keep. For what comes next, all stretches of the run are
//! looked at in which it could happen, up to where it is needed, and the cheapest changes taken that keep everything
//! ([`super::values`]). Where no stretch can be changed so, the outcome nearest to the event by control dependence is changed; where that
//! depends on no input, it is a problem of its own. Limit: of many moments and stretches the first and the last are looked at.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use analysis::Place;
use analysis::chaining::{
    ControlDependence, Deciders, Event, Happening, Made, Problem, Sequence, StoredValue, approach,
    computed_from, stored_value,
};
use analysis::dataflow::{DataFlow, DefinitionId, ObjectId, UseId};
use analysis::icfg::{Icfg, NodeId};
use model::Program;
use model::walk::{Choice, Site};

use super::record::{Meeting, Record};
use super::region::Region;
use super::values::{Change, Question, Reached, State, Value};
use crate::branch_distance::NearestStep;
use crate::trace::{PathHash, other_choices};

/// Moments and stretches that are looked at, from the beginning and from the end.
const MOST_LOOKS: usize = 3;
/// Steps of thought that one question may take before alternatives are left out.
const MOST_WORK: u64 = 20_000;
/// How often a definition is repeated in thought, to see how far a value is from what is needed.
const MOST_REPEATED: u32 = 8192;
const MOST_REPEATED_OFTEN: u32 = 64;
/// Outcomes of a stretch that is long, and of all stretches that are looked at when a shorter one helped.
const LONG: u32 = 400;
const MOST_LOOKED_AT: u32 = 4000;
const MOST_LOOKED_AT_IN_ALL: u32 = 6_000;
/// Variables whose values are followed together.
const MOST_OBJECTS: usize = 10;
/// Branches between a definition and one whose variables are followed as well.
const NEAR: u32 = 2;
/// Definitions of them whose branches are looked for.
const MOST_DEFINITIONS: usize = 64;
/// What a plan is worth that only comes nearer, in changes.
const FAR: u32 = 10_000;

/// What is known of a program, found when it is needed.
pub(crate) struct Lore<'l> {
    pub program: &'l Program,
    pub graph: &'l Icfg,
    pub flow: &'l DataFlow,
    pub dependence: &'l mut ControlDependence,
    pub levels: &'l mut Levels,
    pub index: &'l ProgramIndex,
    pub problems: &'l RefCell<Problems>,
    /// How often a definition would have to be repeated in the run that was planned last.
    pub missing: Option<u32>,
    pub stores: &'l RefCell<Stores>,
    /// Steps of thought so far: nodes walked, states reached.
    pub work: &'l Cell<u64>,
}

/// What is looked up again and again, found in one pass over a program.
#[derive(Debug, Default)]
pub(crate) struct ProgramIndex {
    deciders: Deciders,
    /// By object: its definitions.
    definitions: Vec<Vec<DefinitionId>>,
    /// By site: the outcomes that it can have.
    choices: BTreeMap<Site, Vec<Choice>>,
}

impl ProgramIndex {
    pub fn of(program: &Program, graph: &Icfg, flow: &DataFlow) -> Self {
        let mut definitions = vec![Vec::new(); flow.objects().count()];
        for (id, definition) in flow.definitions() {
            definitions[definition.object.index()].push(id);
        }
        let mut choices: BTreeMap<Site, Vec<Choice>> = BTreeMap::new();
        for direction in &graph.directions {
            choices.entry(direction.site).or_default().push(direction.choice);
        }
        Self { deciders: Deciders::of(program), definitions, choices }
    }

    fn definitions_of(&self, object: ObjectId) -> &[DefinitionId] {
        self.definitions.get(object.index()).map(Vec::as_slice).unwrap_or_default()
    }
}

/// By definition: what it stores, once that was asked.
pub(crate) type Stores = BTreeMap<DefinitionId, Option<StoredValue>>;

/// By direction: the places where a site should have this outcome.
pub(crate) type Problems = BTreeMap<(Site, Choice), Arc<[Problem]>>;

/// By place: how far each direction is from it.
pub(crate) type Levels = BTreeMap<Place, BTreeMap<(Site, Choice), u32>>;

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Move {
    /// Change these outcomes of the run, in the order of its path. How far the run is from what the sequence wants, in changes.
    Change(Vec<Change>, u32),
    /// The run does not pass this problem, behind the event with this number.
    Problem(usize, Problem),
    /// Nothing of the run can be changed so that it helps.
    Stuck,
}

/// What is asked: a run, a sequence, and what made it.
#[derive(Clone, Copy)]
pub(crate) struct Task<'t> {
    pub record: &'t Record,
    pub sequence: &'t Sequence,
    pub made: Option<Made>,
    /// What the problem is that the newest definition is for.
    pub problem: Option<&'t Problem>,
    /// How near the run came to directions that none has taken.
    pub distances: &'t BTreeMap<(Site, Choice), NearestStep>,
    /// Paths that are not to be tried again.
    pub avoid: &'t BTreeSet<PathHash>,
}

/// How far a run passes a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// The number of the last event that it passes.
    pub event: usize,
    /// When it does, by outcomes before; more than once where what the event keeps was lost and made anew.
    pub moments: Vec<u32>,
}

/// How far a run passes a sequence, keeping what its events keep.
pub(crate) fn passed(record: &Record, events: &[Event]) -> Passed {
    let mut best = Passed { event: 0, moments: vec![0] };
    let mut event = 0;
    let mut writes = record.writes.iter().peekable();
    for index in 0..=record.outcomes.len() {
        let moment = u32::try_from(index).unwrap_or(u32::MAX);
        while let Some(write) = writes.next_if(|write| write.at as usize <= index) {
            let is_next =
                |number: usize| match (events.get(number).map(|next| next.happening), write.definition) {
                    (Some(Happening::Defined(wanted)), Some(definition)) => wanted == definition,
                    _ => false,
                };
            if is_next(event + 1) {
                // a definition that is a problem and then an event is one
                while is_next(event + 1) {
                    event += 1;
                    note(&mut best, event, moment);
                }
            } else if let Some(kept_since) = kept_since(events, event, write.object) {
                match kept_since.checked_sub(1) {
                    Some(before) => event = before,
                    // what was there from the beginning is lost for good
                    None => return best,
                }
            }
        }
        let Some(happened) = record.outcomes.get(index) else { break };
        while let Some(Event { happening: Happening::Taken(site, choice), .. }) = events.get(event + 1)
            && (*site, *choice) == (happened.site, happened.taken)
        {
            event += 1;
            note(&mut best, event, moment + 1);
        }
    }
    best
}

fn note(best: &mut Passed, event: usize, moment: u32) {
    if event > best.event {
        *best = Passed { event, moments: Vec::new() };
    }
    if event == best.event {
        best.moments.push(moment);
    }
}

/// The first of the events up to this one that all keep an object.
fn kept_since(events: &[Event], event: usize, object: ObjectId) -> Option<usize> {
    let keeps = |number: &usize| events[*number].keeps.contains(&object);
    (0..=event).rev().take_while(keeps).last()
}

impl Lore<'_> {
    /// What to do with a run for a sequence.
    pub(crate) fn plan(&mut self, task: Task<'_>) -> Move {
        let events = &task.sequence.events;
        let passed = passed(task.record, events);
        let Some(next) = events.get(passed.event + 1) else { return Move::Stuck };
        let consumer = match next.happening {
            Happening::Defined(_) => (passed.event + 2).min(events.len() - 1),
            Happening::Taken(..) | Happening::Reached | Happening::Start => passed.event + 1,
        };
        let stretches = self.stretches(task, &passed, consumer);
        let mut nearest: Option<(u32, Vec<Change>)> = None;
        let mut is_satisfied = None;
        self.missing = None;
        let mut n_looked_at = 0;
        for (from, until) in stretches {
            // long ones only where short ones do not suffice
            n_looked_at += until - from;
            let is_enough = n_looked_at > MOST_LOOKED_AT && nearest.is_some();
            if is_enough || n_looked_at > MOST_LOOKED_AT_IN_ALL && until - from < n_looked_at {
                break;
            }
            for found in self.answers(task, consumer, (from, until)) {
                if found.changes.is_empty() {
                    is_satisfied.get_or_insert(until);
                } else if nearest.as_ref().is_none_or(|(cost, _)| found.cost < *cost) {
                    nearest = Some((found.cost, found.changes));
                }
            }
        }
        if let Some(flip) = is_satisfied.and_then(|until| flip(self.graph, task, consumer, until)) {
            return flip;
        }
        if let Some((cost, changes)) = nearest {
            return Move::Change(changes, cost);
        }
        if is_satisfied.is_some() {
            return self.at_problem(task, &passed, consumer);
        }
        self.approach(task, &passed)
    }

    /// Where a definition that the next event is, or what the present one keeps, may matter: from when an event is passed to when the
    /// consumer is there.
    fn stretches(&self, task: Task<'_>, passed: &Passed, consumer: usize) -> Vec<(u32, u32)> {
        let first = passed.moments.first().copied().unwrap_or(0);
        let ends: Vec<u32> = match task.sequence.events[consumer].happening {
            Happening::Taken(site, _) => {
                let outcomes = task.record.outcomes.iter().zip(0..);
                let at_site = outcomes.filter(|(happened, index)| happened.site == site && *index >= first);
                at_site.map(|(_, index)| index).collect()
            }
            Happening::Defined(definition) => {
                let writes = task.record.writes.iter();
                let at = writes.filter(|write| write.definition == Some(definition) && write.at >= first);
                at.map(|write| write.at).collect()
            }
            Happening::Start | Happening::Reached => Vec::new(),
        };
        let ends = of_both_ends(&ends);
        let begins = of_both_ends(&passed.moments);
        let pairs = begins.iter().flat_map(|from| ends.iter().map(move |until| (*from, *until)));
        let whole: Vec<(u32, u32)> = pairs.filter(|(from, until)| from <= until).collect();
        let is_long = |(from, until): &&(u32, u32)| until - from > LONG;
        // where nothing must be kept, a stretch may begin anywhere
        let is_free = task.sequence.events[passed.event].keeps.is_empty();
        let short = whole
            .iter()
            .filter(|stretch| is_free && is_long(stretch))
            .map(|(_, until)| (until - LONG, *until));
        let mut stretches: Vec<(u32, u32)> = short.chain(whole.iter().copied()).collect();
        stretches.sort_by_key(|(from, until)| until - from);
        stretches.dedup();
        stretches
    }

    /// The changes after which the consumer finds what it needs.
    fn answers(&mut self, task: Task<'_>, consumer: usize, (from, until): (u32, u32)) -> Vec<Reached> {
        let events = &task.sequence.events;
        let problem = self.problem_of(task, consumer);
        let kept = &events[consumer - 1].keeps;
        let of_problem = problem.as_ref().map(|problem| self.objects_of(problem)).unwrap_or_default();
        let mut asked: BTreeSet<ObjectId> = kept.iter().copied().chain(of_problem).collect();
        let concrete = concrete_sites(task.record, (from, until));
        asked.extend(self.deciding(task.record, (from, until)));
        let objects = self.feeding(asked, &concrete);
        let decisions = self.decisions(&concrete, &objects);
        // besides what states take
        self.work.set(self.work.get() + 64 + concrete.len() as u64);
        let decided: BTreeSet<Site> = decisions.keys().copied().collect();
        if objects.is_empty() {
            return Vec::new();
        }
        let defined = match events[consumer - 1].happening {
            Happening::Defined(definition) => Some(definition),
            Happening::Taken(..) | Happening::Start | Happening::Reached => None,
        };
        let leads_to = self.leads_to(&objects);
        let (program, flow) = (self.program, self.flow);
        let (stores, work) = (self.stores, self.work);
        let store = |definition: DefinitionId, state: &State| {
            stored((program, stores), flow, definition, &objects, state)
        };
        let index = |object: ObjectId| objects.iter().position(|known| *known == object);
        let decide = |site: Site, state: &State| {
            let held = |use_: UseId| state[index(flow.use_(use_).object)?].value.known();
            let mut of_site = decisions.get(&site)?.iter();
            of_site.find(|(_, problem)| problem.holds(&held) == Some(true)).map(|(choice, _)| *choice)
        };
        let graph = self.graph;
        let most = work.get() + MOST_WORK;
        let alternative = |site: Site, choice: Choice, joins: &[NodeId], state: &State| {
            if work.get() >= most {
                return Vec::new();
            }
            Region { graph, flow, objects: &objects, store: &store, decide: &decide, work }
                .walk(site, choice, joins, state)
        };
        let record = task.record;
        let meetings = |outcome: u32, choice: Choice| meetings(graph, record, outcome, choice);
        let may_change = |outcome: u32, choice: Choice| {
            !task.avoid.contains(&record.outcomes[outcome as usize].path_with(choice))
        };
        let alternatives = |site: Site, taken: Choice| other_choices(program, site, taken);
        let question = Question {
            record,
            objects: &objects,
            from,
            until,
            leads_to: &leads_to,
            alternative: &alternative,
            meetings: &meetings,
            store: &store,
            may_change: &may_change,
            alternatives: &alternatives,
            decide: &decide,
            decided: &decided,
            work,
        };
        let first = question.first();
        let number = |object: ObjectId| objects.iter().position(|known| *known == object);
        let is_kept = |state: &State| {
            kept.iter().filter_map(|object| number(*object)).all(|index| {
                let wanted =
                    defined.filter(|definition| flow.definition(*definition).object == objects[index]);
                state[index].definition == wanted.or(first[index].definition)
            })
        };
        let value_of = |state: &State, use_: UseId| state[number(flow.use_(use_).object)?].value.known();
        let holds =
            |state: &State| problem.as_ref().and_then(|problem| problem.holds(&|use_| value_of(state, use_)));
        let answers = question.answer();
        let fits = |reached: &&Reached| is_kept(&reached.state) && holds(&reached.state) != Some(false);
        let mut fitting: Vec<Reached> = answers.iter().filter(fits).cloned().collect();
        if fitting.iter().any(|reached| holds(&reached.state) == Some(true)) {
            fitting.retain(|reached| holds(&reached.state) == Some(true));
            return fitting;
        }
        if !fitting.is_empty() {
            return self.nearer(task, consumer, fitting);
        }
        // not to be had at once: as near as it gets, by how often the definition would have to be repeated
        let Some(defined) = defined else { return Vec::new() };
        let Some(object) = number(flow.definition(defined).object) else { return Vec::new() };
        let most_repeated = Cell::new(MOST_REPEATED);
        let missing = |state: &State| -> Option<u32> {
            let mut state = state.clone();
            for n in 0..most_repeated.get() {
                if holds(&state) == Some(true) {
                    return Some(n);
                }
                let before = state[object].value;
                state[object].value = store(defined, &state);
                // what does not move comes no nearer
                let after = state[object].value;
                if before == after || after.known().is_none() || work.get() >= most {
                    return None;
                }
                work.set(work.get() + 1);
            }
            None
        };
        let now = answers.iter().find(|reached| reached.changes.is_empty());
        let missing_now = now.and_then(|now| missing(&now.state)).unwrap_or(MOST_REPEATED);
        most_repeated.set(missing_now.min(MOST_REPEATED_OFTEN));
        let nearer = answers.iter().filter(|reached| !reached.changes.is_empty());
        let nearer = nearer.filter_map(|reached| Some((missing(&reached.state)?, reached)));
        let best = nearer.filter(|(n, _)| *n < missing_now).min_by_key(|(n, reached)| (*n, reached.cost));
        self.missing = Some(self.missing.map_or(missing_now, |known| known.min(missing_now)));
        best.map(|(n, reached)| Reached { cost: FAR / 2 + n, ..reached.clone() }).into_iter().collect()
    }

    /// Where nobody knows what the values are: the run tells how far they are from what is needed, and those that come nearest to
    /// having that added or taken away are better than the rest.
    fn nearer(&self, task: Task<'_>, consumer: usize, fitting: Vec<Reached>) -> Vec<Reached> {
        let Happening::Taken(site, choice) = task.sequence.events[consumer].happening else { return fitting };
        let (Some(distance), Some(now)) = (
            task.distances.get(&(site, choice)).map(|nearest| i128::from(nearest.distance)),
            fitting.iter().find(|reached| reached.changes.is_empty()).map(|now| now.state.clone()),
        ) else {
            return fitting;
        };
        let left = |reached: &Reached| {
            let added =
                reached.state.iter().zip(&now).filter_map(|(then, now)| match (then.value, now.value) {
                    (Value::Added(then), Value::Added(now)) if then != now => Some(then - now),
                    (Value::Added(_) | Value::Known(_), _) => None,
                });
            added.map(|added| (distance - added.abs()).unsigned_abs()).min()
        };
        let best = fitting.iter().filter_map(|reached| Some((left(reached)?, reached)));
        let best = best
            .filter(|(left, _)| *left < distance.unsigned_abs())
            .min_by_key(|(left, reached)| (*left, reached.cost));
        match best {
            Some((left, reached)) => {
                let left = u32::try_from(left).unwrap_or(FAR).min(FAR / 2);
                let unchanged = fitting.iter().filter(|reached| reached.changes.is_empty()).cloned();
                let nearer = Reached { cost: reached.cost + left, ..reached.clone() };
                unchanged.chain([nearer]).collect()
            }
            None => fitting,
        }
    }

    /// The variables that decide whether control comes to the end of a stretch.
    fn deciding(&self, record: &Record, (from, until): (u32, u32)) -> BTreeSet<ObjectId> {
        let mut leaders: Vec<(Site, Choice)> = Vec::new();
        let mut again: BTreeSet<Site> = BTreeSet::new();
        let mut led_by = record.outcomes.get(until as usize).and_then(|happened| happened.led_by);
        while let Some(leader) = led_by.filter(|leader| *leader >= from) {
            let happened = record.outcomes[leader as usize];
            if leaders.iter().any(|(site, _)| *site == happened.site) {
                again.insert(happened.site);
            } else if happened.step.is_none() {
                leaders.push((happened.site, happened.taken));
            }
            led_by = happened.led_by;
        }
        // what is asked in every turn of a loop is about the loop itself
        let mut objects = BTreeSet::new();
        for (site, taken) in leaders.into_iter().filter(|(site, _)| !again.contains(site)) {
            if objects.len() < MOST_OBJECTS / 2 {
                let problems = self.problems_at(site, taken);
                objects.extend(problems.iter().flat_map(|problem| self.objects_of(problem)));
            }
        }
        objects
    }

    /// How these sites are decided by variables, as far as that is by these.
    fn decisions(
        &self,
        sites: &BTreeSet<Site>,
        objects: &[ObjectId],
    ) -> BTreeMap<Site, Vec<(Choice, Problem)>> {
        let mut decisions: BTreeMap<Site, Vec<(Choice, Problem)>> = BTreeMap::new();
        for site in sites {
            for choice in self.index.choices.get(site).into_iter().flatten() {
                for problem in self.problems_at(*site, *choice).iter() {
                    let mut of_problem = problem.uses.iter().map(|use_| self.flow.use_(*use_).object);
                    if !problem.uses.is_empty() && of_problem.all(|object| objects.contains(&object)) {
                        decisions.entry(*site).or_default().push((*choice, problem.clone()));
                    }
                }
            }
        }
        decisions
    }

    /// These objects with those that what they hold is computed from, and those that decide at these sites whether they are defined.
    fn feeding(&mut self, objects: BTreeSet<ObjectId>, sites: &BTreeSet<Site>) -> Vec<ObjectId> {
        let mut found: Vec<ObjectId> = objects.into_iter().take(MOST_OBJECTS).collect();
        let mut next = 0;
        while let Some(object) = found.get(next).copied() {
            next += 1;
            let index = self.index;
            for id in index.definitions_of(object).iter().take(MOST_DEFINITIONS) {
                let mut feeds = computed_from(self.program, self.flow, *id);
                for place in &self.flow.definition(*id).places {
                    let near = self.levels(*place).iter().filter(|(_, level)| **level <= NEAR);
                    let near: Vec<_> = near.map(|(direction, _)| *direction).collect();
                    for (site, choice) in near.into_iter().filter(|(site, _)| sites.contains(site)) {
                        let problems = self.problems_at(site, choice);
                        feeds.extend(problems.iter().flat_map(|problem| self.objects_of(problem)));
                    }
                }
                for feeding in feeds {
                    if found.len() < MOST_OBJECTS && !found.contains(&feeding) {
                        found.push(feeding);
                    }
                }
            }
        }
        found
    }

    /// The problem that a consumer is, where it is known.
    fn problem_of(&self, task: Task<'_>, consumer: usize) -> Option<Problem> {
        let event = &task.sequence.events[consumer];
        if let Some(problem) = task.problem.filter(|problem| {
            task.made.is_some_and(|made| made.problem == consumer) && problem.happening == event.happening
        }) {
            return Some(problem.clone());
        }
        match event.happening {
            Happening::Taken(site, choice) => self.problems_at(site, choice).first().cloned(),
            Happening::Defined(definition) => Problem::at_definition(self.program, self.flow, definition),
            Happening::Start | Happening::Reached => None,
        }
    }

    /// The places where a site should have this outcome.
    fn problems_at(&self, site: Site, choice: Choice) -> Arc<[Problem]> {
        let mut known = self.problems.borrow_mut();
        let found = || Problem::at_site(self.program, self.flow, &self.index.deciders, site, choice).into();
        Arc::clone(known.entry((site, choice)).or_insert_with(found))
    }

    fn objects_of(&self, problem: &Problem) -> Vec<ObjectId> {
        problem.uses.iter().map(|use_| self.flow.use_(*use_).object).collect()
    }

    /// The directions that lead to definitions of these objects, soon.
    fn leads_to(&mut self, objects: &[ObjectId]) -> BTreeSet<(Site, Choice)> {
        let (flow, index) = (self.flow, self.index);
        let asked = objects.iter().flat_map(|object| index.definitions_of(*object));
        let places: Vec<Place> = asked
            .take(MOST_DEFINITIONS)
            .flat_map(|definition| flow.definition(*definition).places.iter().copied())
            .collect();
        let mut leads_to = BTreeSet::new();
        for place in places {
            let near = self.levels(place).iter().filter(|(_, level)| **level <= NEAR);
            leads_to.extend(near.map(|(direction, _)| *direction));
        }
        leads_to
    }

    fn levels(&mut self, place: Place) -> &BTreeMap<(Site, Choice), u32> {
        let Self { program, graph, dependence, levels, .. } = self;
        levels.entry(place).or_insert_with(|| approach(dependence, program, graph, place))
    }

    /// The consumer is reached with everything kept and cannot be flipped: it is a problem.
    fn at_problem(&mut self, task: Task<'_>, passed: &Passed, consumer: usize) -> Move {
        let events = &task.sequence.events;
        let before = consumer - 1;
        let Some(problem) = self.problem_of(task, consumer) else { return Move::Stuck };
        // what the definition's own value is made of comes first
        let through = match events[before].happening {
            Happening::Defined(definition) => problem.uses.iter().find_map(|use_| {
                let is_its = self.flow.pair_of(definition, *use_).is_some();
                let is_known = stored_value(self.program, self.flow, definition, &|_| Some(0)).is_some();
                (is_its && !is_known)
                    .then(|| problem.through(self.program, self.flow, definition, *use_))
                    .flatten()
            }),
            Happening::Taken(..) | Happening::Start | Happening::Reached => None,
        };
        match through {
            Some(through) => Move::Problem(before.saturating_sub(1).min(passed.event), through),
            None => Move::Problem(passed.event, problem),
        }
    }

    /// Changes the outcome that is nearest to the next event.
    fn approach(&mut self, task: Task<'_>, passed: &Passed) -> Move {
        let events = &task.sequence.events;
        // a definition that counts on what it finds may have to be repeated
        let again = matches!(events[passed.event + 1].happening, Happening::Taken(..))
            && self.is_repeated(&events[passed.event]);
        let next = &events[passed.event + usize::from(!again)];
        let place = next.place;
        let first = if again { passed.moments.last() } else { passed.moments.first() };
        let from = first.copied().unwrap_or(0);
        let program = self.program;
        let own = match next.happening {
            Happening::Taken(site, choice) => Some((site, choice)),
            Happening::Defined(_) | Happening::Start | Happening::Reached => None,
        };
        let (graph, record) = (self.graph, task.record);
        let levels = self.levels(place);
        let mut turns: Vec<(u32, u32, Choice)> = Vec::new();
        for (happened, index) in task.record.outcomes.iter().zip(0..).skip(from as usize) {
            for choice in other_choices(program, happened.site, happened.taken) {
                let level = match own {
                    Some(own) if own == (happened.site, choice) => Some(0),
                    Some(_) => levels.get(&(happened.site, choice)).map(|level| level + 1),
                    None => levels.get(&(happened.site, choice)).copied(),
                };
                // what the path does anyway is not done once more
                let is_own = own == Some((happened.site, choice));
                let may_lead = |_: &u32| is_own || passes(graph, record, (index, choice), place);
                turns.extend(level.filter(may_lead).map(|level| (level, index, choice)));
            }
        }
        turns.sort_by_key(|(level, index, _)| (*level, *index));
        let mut problem = None;
        for (level, index, choice) in turns {
            let happened = task.record.outcomes[index as usize];
            if happened.step.is_none() || task.avoid.contains(&happened.path_with(choice)) {
                if problem.is_none() {
                    problem = self.problems_at(happened.site, choice).first().cloned();
                }
                continue;
            }
            // a turn further away only where nothing nearer is in the way
            if problem.is_some() && level > 0 && !self.is_repeated(next) {
                break;
            }
            let mut changes = self.keeping(task, passed, index);
            changes.retain(|change| change.outcome < index);
            changes.push(change(self.graph, task.record, index, choice));
            let missing = self.missing.filter(|_| self.is_repeated(next)).unwrap_or(0);
            return Move::Change(changes, FAR + level + 64 * missing);
        }
        match problem {
            Some(problem) => Move::Problem(passed.event, problem),
            None => Move::Stuck,
        }
    }

    /// Whether an event is a definition that counts on what it finds.
    fn is_repeated(&self, event: &Event) -> bool {
        match event.happening {
            Happening::Defined(definition) => {
                stored_value(self.program, self.flow, definition, &|_| None).is_none()
                    && stored_value(self.program, self.flow, definition, &|_| Some(0)).is_some()
            }
            Happening::Taken(..) | Happening::Start | Happening::Reached => false,
        }
    }

    /// The changes that keep what the event passed last keeps, up to this outcome.
    fn keeping(&mut self, task: Task<'_>, passed: &Passed, until: u32) -> Vec<Change> {
        let kept = &task.sequence.events[passed.event].keeps;
        let from = passed.moments.iter().rev().find(|moment| **moment <= until);
        let (false, Some(from)) = (kept.is_empty(), from) else { return Vec::new() };
        let objects: Vec<ObjectId> = kept.iter().copied().take(MOST_OBJECTS).collect();
        let program = self.program;
        let (record, graph) = (task.record, self.graph);
        let may_change = |outcome: u32, choice: Choice| {
            !task.avoid.contains(&record.outcomes[outcome as usize].path_with(choice))
        };
        let meetings = |outcome: u32, choice: Choice| meetings(graph, record, outcome, choice);
        let question = Question {
            record,
            objects: &objects,
            from: *from,
            until,
            leads_to: &BTreeSet::new(),
            alternative: &|_, _, joins, state| joins.iter().map(|join| (state.clone(), 0, *join)).collect(),
            meetings: &meetings,
            // which definition it is suffices
            store: &|_, _| Value::Added(0),
            may_change: &may_change,
            alternatives: &|site, taken| other_choices(program, site, taken),
            decide: &|_, _| None,
            decided: &BTreeSet::new(),
            work: self.work,
        };
        let first: Vec<_> = question.first().into_iter().map(|held| held.definition).collect();
        let is_kept = |state: &State| state.iter().zip(&first).all(|(now, first)| now.definition == *first);
        question
            .answer()
            .into_iter()
            .find(|found| is_kept(&found.state))
            .map(|found| found.changes)
            .unwrap_or_default()
    }
}

/// Where paths that have another outcome may come to a run's path again, in order.
fn meetings(graph: &Icfg, record: &Record, outcome: u32, choice: Choice) -> Vec<Meeting> {
    let Some(direction) = graph.direction(record.outcomes[outcome as usize].site, choice) else {
        return Vec::new();
    };
    let targets = graph.directions[direction.index()].targets.iter();
    targets
        .map(|target| record.meetings(outcome, *target).collect())
        .find(|found: &Vec<_>| !found.is_empty())
        .unwrap_or_default()
}

/// Whether a path with another outcome may come to a place before it is on the run's path again.
fn passes(graph: &Icfg, record: &Record, (outcome, choice): (u32, Choice), place: Place) -> bool {
    let goal = graph.at(place);
    let met = meetings(graph, record, outcome, choice);
    let Some(direction) = graph.direction(record.outcomes[outcome as usize].site, choice) else {
        return true;
    };
    let targets = &graph.directions[direction.index()].targets;
    let is_here = |target: &NodeId| graph.node(*target).function == place.function;
    if met.is_empty() || !targets.iter().all(is_here) {
        return true;
    }
    let mut seen: BTreeSet<NodeId> = met.iter().map(|meeting| meeting.node).collect();
    let mut open = targets.clone();
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        if node == goal {
            return true;
        }
        open.extend(graph.successors(node));
    }
    false
}

/// The change of an outcome, where nobody knows what its path does until it comes to the run's path again.
fn change(graph: &Icfg, record: &Record, outcome: u32, choice: Choice) -> Change {
    let until = meetings(graph, record, outcome, choice).first().map(|meeting| meeting.outcomes);
    let n_outcomes = u32::try_from(record.outcomes.len()).expect("a log holds fewer than 2^32 outcomes");
    let site = record.outcomes[outcome as usize].site;
    Change { outcome, site, choice, until: until.unwrap_or(n_outcomes) }
}

/// The consumer's own outcome, flipped if it depends on the input.
fn flip(graph: &Icfg, task: Task<'_>, consumer: usize, until: u32) -> Option<Move> {
    let Happening::Taken(_, choice) = task.sequence.events[consumer].happening else { return None };
    let happened = task.record.outcomes[until as usize];
    let may = happened.step.is_some() && !task.avoid.contains(&happened.path_with(choice));
    may.then(|| Move::Change(vec![change(graph, task.record, until, choice)], 1))
}

/// The sites of a stretch whose outcomes depend on no input.
fn concrete_sites(record: &Record, (from, until): (u32, u32)) -> BTreeSet<Site> {
    let stretch = record.outcomes.get(from as usize..until as usize).unwrap_or_default();
    stretch.iter().filter(|happened| happened.step.is_none()).map(|happened| happened.site).collect()
}

/// A value that additions are told by.
const BASE: u128 = 1 << 20;

/// What a definition stores in a state.
fn stored(
    (program, stores): (&Program, &RefCell<Stores>),
    flow: &DataFlow,
    definition: DefinitionId,
    objects: &[ObjectId],
    state: &State,
) -> Value {
    let mut stores = stores.borrow_mut();
    let stores = stores.entry(definition).or_insert_with(|| StoredValue::of(program, flow, definition));
    let Some(stored) = stores else { return Value::Added(0) };
    let own = flow.definition(definition).object;
    let index = |object: ObjectId| objects.iter().position(|known| *known == object);
    let held = |object: ObjectId| state[index(object)?].value.known();
    if let Some(value) = stored.value(&held) {
        return Value::Known(value);
    }
    let added = |base: u128| {
        let held = |object: ObjectId| if object == own { Some(base) } else { held(object) };
        let after = stored.value(&held)?;
        Some(i128::try_from(after).ok()? - i128::try_from(base).ok()?)
    };
    match (index(own).map(|own| state[own].value), added(BASE), added(BASE + 1)) {
        (Some(Value::Added(before)), Some(once), Some(again)) if once == again => Value::Added(before + once),
        _ => Value::Added(0),
    }
}

/// The first few and the last few.
fn of_both_ends(all: &[u32]) -> Vec<u32> {
    if all.len() <= 2 * MOST_LOOKS {
        return all.to_vec();
    }
    [&all[..MOST_LOOKS], &all[all.len() - MOST_LOOKS..]].concat()
}
