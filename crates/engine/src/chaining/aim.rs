//! Which outcomes of a stretch of a run are to be changed, so that variables hold at its end what is needed and keep what must be kept?
//!
//! Method: [`super::values`] follows these variables and those that feed them, with the definitions and decisions of the program. Where what is needed is
//! not to be had at once, the answer is what comes nearest, by how often a definition would have to be repeated. Where no state that
//! the stretch can end in helps, and repeating the definition leads nowhere, what is needed is excluded. Limit: that is said of one run.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use analysis::Place;
use analysis::chaining::{Problem, StoredValue, computed_from};
use analysis::dataflow::{DataFlow, DefinitionId, ObjectId, UseId};
use analysis::icfg::NodeId;
use model::Program;
use model::walk::{Choice, Site};

use super::plan::{FAR, Lore, MOST_OBJECTS, Stores, Task, meetings};
use super::record::Record;
use super::region::Region;
use super::values::{Question, Reached, State, Value};
use crate::trace::other_choices;

/// Steps of thought that one question may take before alternatives are left out.
const MOST_WORK: u64 = 20_000;
/// How often a definition is repeated in thought, to see how far a value is from what is needed.
const MOST_REPEATED: u32 = 8192;
const MOST_REPEATED_OFTEN: u32 = 64;
/// Branches between a definition and one whose variables are followed as well.
const NEAR: u32 = 2;
/// Definitions of them whose branches are looked for.
const MOST_DEFINITIONS: usize = 64;

/// What should be so at the end of a stretch.
pub(super) struct Aim<'a> {
    /// The problem that is to be solved, where it is known.
    pub problem: Option<Problem>,
    /// The variables that keep what they hold at its beginning.
    pub kept: &'a BTreeSet<ObjectId>,
    /// The definition that is to reach the end.
    pub defined: Option<DefinitionId>,
    /// The direction that the problem is.
    pub direction: Option<(Site, Choice)>,
}

/// What the stretches that were looked at say of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// Nothing yet.
    Unknown,
    /// It may be solved.
    Open,
    /// All values that can come there fail.
    Excluded,
}

/// By outcome of a site: the problems that are solved when it has it.
type Decisions = Vec<(Choice, Problem)>;

impl Lore<'_> {
    /// The changes after which it is so at the end of a stretch.
    pub(super) fn answers(
        &mut self,
        task: Task<'_>,
        aim: &Aim<'_>,
        (from, until): (u32, u32),
    ) -> Vec<Reached> {
        let Aim { problem, kept, defined, .. } = aim;
        let of_problem = problem.as_ref().map(|problem| self.objects_of(problem)).unwrap_or_default();
        let mut asked: BTreeSet<ObjectId> = kept.iter().copied().chain(of_problem).collect();
        let concrete = concrete_sites(task.record, (from, until));
        asked.extend(self.deciding(task.record, (from, until)));
        let objects = self.feeding(asked, &concrete);
        // besides what states take
        self.work.set(self.work.get() + 64 + concrete.len() as u64);
        let decisions: BTreeMap<Site, Decisions> =
            concrete.iter().map(|site| (*site, self.decisions(*site, &objects))).collect();
        let decided = decisions.iter().filter(|(_, of_site)| !of_site.is_empty());
        let decided: BTreeSet<Site> = decided.map(|(site, _)| *site).collect();
        let decisions = RefCell::new(decisions);
        if objects.is_empty() {
            self.outlook = Outlook::Open;
            return Vec::new();
        }
        let guards = defined.map(|definition| self.guards(definition)).unwrap_or_default();
        let leads_to = self.leads_to(&objects);
        let lore = &*self;
        let (program, flow) = (self.program, self.flow);
        let (stores, work) = (self.stores, self.work);
        let store = |definition: DefinitionId, state: &State| {
            stored((program, stores), flow, definition, &objects, state)
        };
        let index = |object: ObjectId| objects.iter().position(|known| *known == object);
        let decide = |site: Site, state: &State| {
            let held = |use_: UseId| state[index(flow.use_(use_).object)?].value.known();
            let mut known = decisions.borrow_mut();
            // behind other outcomes there are sites that the run did not come to
            let of_site = known.entry(site).or_insert_with(|| lore.decisions(site, &objects));
            of_site.iter().find(|(_, problem)| problem.holds(&held) == Some(true)).map(|(choice, _)| *choice)
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
        let (answers, is_all) = question.answer();
        let fits = |reached: &&Reached| is_kept(&reached.state) && holds(&reached.state) != Some(false);
        let mut fitting: Vec<Reached> = answers.iter().filter(fits).cloned().collect();
        if fitting.iter().any(|reached| holds(&reached.state) == Some(true)) {
            fitting.retain(|reached| holds(&reached.state) == Some(true));
            return fitting;
        }
        if !fitting.is_empty() {
            self.outlook = Outlook::Open;
            return nearer(task, aim, fitting);
        }
        // not to be had at once: as near as it gets, by how often the definition would have to be repeated
        let object = defined.and_then(|defined| number(flow.definition(defined).object));
        let (Some(defined), Some(object)) = (*defined, object) else {
            self.outlook = Outlook::Open;
            return Vec::new();
        };
        let is_own_guard = guards.iter().all(|(site, choice)| {
            let problems = self.problems_at(*site, *choice);
            problems.iter().all(|problem| self.objects_of(problem).iter().all(|of| *of == objects[object]))
        });
        let most_repeated = Cell::new(MOST_REPEATED);
        let is_open = Cell::new(false);
        let missing = |state: &State| -> Option<u32> {
            let mut state = state.clone();
            for n in 0..most_repeated.get() {
                match holds(&state) {
                    Some(true) => return Some(n),
                    Some(false) => {}
                    None => is_open.set(true),
                }
                // its own branch does not lead to it any more
                let is_kept_from =
                    |guard: &(Site, Choice)| decide(guard.0, &state).is_some_and(|choice| choice != guard.1);
                if !guards.is_empty() && guards.iter().all(is_kept_from) {
                    // other variables may be made to let it
                    is_open.set(is_open.get() || !is_own_guard);
                    return None;
                }
                let before = state[object].value;
                state[object].value = store(defined, &state);
                // what does not move comes no nearer
                let after = state[object].value;
                if before == after {
                    return None;
                }
                if after.known().is_none() || work.get() >= most {
                    is_open.set(true);
                    return None;
                }
                work.set(work.get() + 1);
            }
            is_open.set(true);
            None
        };
        let now = answers.iter().find(|reached| reached.changes.is_empty());
        let missing_now = now.and_then(|now| missing(&now.state)).unwrap_or(MOST_REPEATED);
        most_repeated.set(missing_now.min(MOST_REPEATED_OFTEN));
        let nearer = answers.iter().filter(|reached| !reached.changes.is_empty());
        let nearer = nearer.filter_map(|reached| Some((missing(&reached.state)?, reached)));
        let best = nearer.filter(|(n, _)| *n < missing_now).min_by_key(|(n, reached)| (*n, reached.cost));
        if is_open.get() || best.is_some() || missing_now < MOST_REPEATED {
            self.outlook = Outlook::Open;
        } else if is_all && self.outlook == Outlook::Unknown {
            self.outlook = Outlook::Excluded;
        }
        self.missing = Some(self.missing.map_or(missing_now, |known| known.min(missing_now)));
        best.map(|(n, reached)| Reached { cost: FAR / 2 + n, ..reached.clone() }).into_iter().collect()
    }

    /// The directions that a definition depends on directly.
    fn guards(&mut self, definition: DefinitionId) -> Vec<(Site, Choice)> {
        let Some(place) = self.flow.definition(definition).places.first() else { return Vec::new() };
        let graph = self.graph;
        let directions = self.dependence.of(graph, graph.at(*place)).iter();
        let of = |id: &analysis::icfg::DirectionId| &graph.directions[id.index()];
        directions.map(of).map(|direction| (direction.site, direction.choice)).collect()
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

    /// How a site is decided by variables, as far as that is by these.
    fn decisions(&self, site: Site, objects: &[ObjectId]) -> Decisions {
        let mut decisions = Decisions::new();
        for choice in self.index.choices.get(&site).into_iter().flatten() {
            for problem in self.problems_at(site, *choice).iter() {
                let mut of_problem = problem.uses.iter().map(|use_| self.flow.use_(*use_).object);
                if !problem.uses.is_empty() && of_problem.all(|object| objects.contains(&object)) {
                    decisions.push((*choice, problem.clone()));
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
}

/// Where nobody knows what the values are: the run tells how far they are from what is needed, and those that come nearest to
/// having that added or taken away are better than the rest.
fn nearer(task: Task<'_>, aim: &Aim<'_>, fitting: Vec<Reached>) -> Vec<Reached> {
    let Some(direction) = aim.direction else { return fitting };
    let (Some(distance), Some(now)) = (
        task.distances.get(&direction).map(|nearest| i128::from(nearest.distance)),
        fitting.iter().find(|reached| reached.changes.is_empty()).map(|now| now.state.clone()),
    ) else {
        return fitting;
    };
    let left = |reached: &Reached| {
        let added = reached.state.iter().zip(&now).filter_map(|(then, now)| match (then.value, now.value) {
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
