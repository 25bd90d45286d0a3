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
    stored_value,
};
use analysis::dataflow::{DataFlow, DefinitionId, ObjectId};
use analysis::icfg::{Icfg, NodeId};
use model::Program;
use model::walk::{Choice, Site};

use super::aim::{Aim, Outlook};
use super::record::{Meeting, Record};
use super::values::{Change, Question, Reached, State, Value};
use crate::branch_distance::NearestStep;
use crate::trace::{PathHash, other_choices};

/// Moments and stretches that are looked at, from the beginning and from the end.
const MOST_LOOKS: usize = 3;
/// Outcomes of a stretch that is long, and of all stretches that are looked at when a shorter one helped.
const LONG: u32 = 400;
const MOST_LOOKED_AT: u32 = 1000;
const MOST_LOOKED_AT_IN_ALL: u32 = 6_000;
/// Variables whose values are followed together.
pub(super) const MOST_OBJECTS: usize = 10;
/// What a plan is worth that only comes nearer, in changes.
pub(super) const FAR: u32 = 10_000;

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
    /// What that run says of the problem.
    pub outlook: Outlook,
    pub stores: &'l RefCell<Stores>,
    /// Steps of thought so far: nodes walked, states reached.
    pub work: &'l Cell<u64>,
}

/// What is looked up again and again, found in one pass over a program.
#[derive(Debug, Default)]
pub(crate) struct ProgramIndex {
    pub(super) deciders: Deciders,
    /// By object: its definitions.
    definitions: Vec<Vec<DefinitionId>>,
    /// By site: the outcomes that it can have.
    pub(super) choices: BTreeMap<Site, Vec<Choice>>,
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

    pub(super) fn definitions_of(&self, object: ObjectId) -> &[DefinitionId] {
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
    /// All values that can come to where the next event is needed fail there.
    Excluded,
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
        (self.missing, self.outlook) = (None, Outlook::Unknown);
        let mut n_looked_at = 0;
        let aim = self.aim(task, consumer);
        for (from, until) in stretches {
            // long ones only where short ones do not suffice
            n_looked_at += until - from;
            let is_enough = n_looked_at > MOST_LOOKED_AT && nearest.is_some();
            if is_enough || n_looked_at > MOST_LOOKED_AT_IN_ALL && until - from < n_looked_at {
                break;
            }
            for found in self.answers(task, &aim, (from, until)) {
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
        if self.outlook == Outlook::Excluded {
            return Move::Excluded;
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

    /// What the event before a consumer is for.
    fn aim<'t>(&self, task: Task<'t>, consumer: usize) -> Aim<'t> {
        let events = &task.sequence.events;
        let defined = match events[consumer - 1].happening {
            Happening::Defined(definition) => Some(definition),
            Happening::Taken(..) | Happening::Start | Happening::Reached => None,
        };
        let direction = match events[consumer].happening {
            Happening::Taken(site, choice) => Some((site, choice)),
            Happening::Defined(_) | Happening::Start | Happening::Reached => None,
        };
        Aim {
            problem: self.problem_of(task, consumer),
            kept: &events[consumer - 1].keeps,
            defined,
            direction,
        }
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
    pub(super) fn problems_at(&self, site: Site, choice: Choice) -> Arc<[Problem]> {
        let mut known = self.problems.borrow_mut();
        let found = || Problem::at_site(self.program, self.flow, &self.index.deciders, site, choice).into();
        Arc::clone(known.entry((site, choice)).or_insert_with(found))
    }

    pub(super) fn objects_of(&self, problem: &Problem) -> Vec<ObjectId> {
        problem.uses.iter().map(|use_| self.flow.use_(*use_).object).collect()
    }

    pub(super) fn levels(&mut self, place: Place) -> &BTreeMap<(Site, Choice), u32> {
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
        let missing = self.missing.filter(|_| self.is_repeated(next)).unwrap_or(0);
        let mut problem = None;
        let mut n_redirected = 0;
        for (level, index, choice) in turns {
            let happened = task.record.outcomes[index as usize];
            if happened.step.is_none() || task.avoid.contains(&happened.path_with(choice)) {
                let redirected = (happened.step.is_none() && level == 0 && n_redirected < MOST_LOOKS)
                    .then(|| self.redirect(task, passed, index, choice));
                n_redirected += usize::from(redirected.is_some());
                if let Some(reached) = redirected.flatten() {
                    return Move::Change(reached.changes, FAR + 1 + reached.cost + 64 * missing);
                }
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
            return Move::Change(changes, FAR + level + 64 * missing);
        }
        // what stands in the way of doing it once more stands before it
        let before = passed.event - usize::from(again);
        match problem {
            Some(problem) => Move::Problem(before, problem),
            None => Move::Stuck,
        }
    }

    /// The changes after which an outcome that depends on no input is another one, with everything that must be kept.
    fn redirect(&mut self, task: Task<'_>, passed: &Passed, index: u32, choice: Choice) -> Option<Reached> {
        let site = task.record.outcomes[index as usize].site;
        let kept = &task.sequence.events[passed.event].keeps;
        let from = passed.moments.iter().rev().copied().find(|moment| *moment <= index)?;
        let from = if kept.is_empty() { from.max(index.saturating_sub(LONG)) } else { from };
        let problem = self.problems_at(site, choice).first().cloned()?;
        let outlook = std::mem::replace(&mut self.outlook, Outlook::Unknown);
        let aim = Aim { problem: Some(problem), kept, defined: None, direction: None };
        let answers = self.answers(task, &aim, (from, index));
        // what nobody knows the value of may be anything
        let is_known = std::mem::replace(&mut self.outlook, outlook) == Outlook::Unknown;
        let changed = answers.into_iter().filter(|reached| is_known && !reached.changes.is_empty());
        changed.min_by_key(|reached| reached.cost)
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
            .0
            .into_iter()
            .find(|found| is_kept(&found.state))
            .map(|found| found.changes)
            .unwrap_or_default()
    }
}

/// Where paths that have another outcome may come to a run's path again, in order.
pub(super) fn meetings(graph: &Icfg, record: &Record, outcome: u32, choice: Choice) -> Vec<Meeting> {
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

/// The first few and the last few.
fn of_both_ends(all: &[u32]) -> Vec<u32> {
    if all.len() <= 2 * MOST_LOOKS {
        return all.to_vec();
    }
    [&all[..MOST_LOOKS], &all[all.len() - MOST_LOOKS..]].concat()
}
