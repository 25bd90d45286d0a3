//! Which branches must a path take otherwise, so that variables hold what a problem needs when control comes to it?
//!
//! Method: between two moments of a path, the outcomes that depend on the input are taken as choices. Each keeps what it led to,
//! or has another outcome, which undoes what it led to and does what control dependence says of that outcome. Along the path it is
//! kept which definition each variable holds and, where that follows from constants, its value, with the fewest changed outcomes for
//! each such state. An outcome that does not depend on the input is decided anew where these variables decide it, as is what it leads
//! to. So the definition that must last, those that must not happen, and how often a counter must be increased come out of one
//! pass. Limits: what the other outcome leads to behind further branches is not seen; of very many states the cheapest are kept.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use analysis::dataflow::{DefinitionId, ObjectId};
use analysis::icfg::NodeId;
use model::walk::{Choice, Site};

use super::fast_hash::FastMap;
use super::record::{Happened, Meeting, Record, Written};

/// States kept at a time.
const MAX_STATES: usize = 300;
const MIN_STATES: usize = 6;
/// The same for all moments of a stretch together.
const MOST_STATES_IN_ALL: usize = 80_000;
/// What it costs to change an outcome that leads to a definition through others, for each of those between.
const COST_OF_DETOUR: u32 = 4;
/// What it costs more to change an outcome right behind another change: tests that follow each other often ask about the same input, and then
/// not both can be had.
const COST_OF_NEIGHBOUR: u32 = 3;
/// Outcomes between a definition and one that is changed to avoid it.
const MAX_DETOURS: usize = 3;

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Held {
    /// Its newest definition.
    pub definition: Option<DefinitionId>,
    pub value: Value,
}

/// A value that a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Value {
    Known(u128),
    /// By how much definitions have added to a value that is not known.
    Added(i128),
}

impl Value {
    pub fn known(self) -> Option<u128> {
        match self {
            Self::Known(value) => Some(value),
            Self::Added(_) => None,
        }
    }
}

/// What the variables of a question hold, in its order.
pub(super) type State = Vec<Held>;

/// What a definition makes of a state.
pub(super) type Store<'q> = dyn Fn(DefinitionId, &State) -> Value + 'q;

/// What a state may become between another outcome of a site and the first of some nodes, each with that and with what it costs to hope for.
pub(super) type Alternative<'q> = dyn Fn(Site, Choice, &[NodeId], &State) -> Vec<(State, u32, NodeId)> + 'q;

/// An outcome that is to be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The number of the outcome on the path.
    pub outcome: u32,
    pub site: Site,
    pub choice: Choice,
    /// Outcomes of the path from this one on are there again.
    pub until: u32,
}

/// What is asked of a path.
pub(super) struct Question<'q> {
    pub record: &'q Record,
    pub objects: &'q [ObjectId],
    /// From this outcome on, until before this one.
    pub from: u32,
    pub until: u32,
    /// The directions that lead to definitions of these objects, soon.
    pub leads_to: &'q BTreeSet<(Site, Choice)>,
    pub alternative: &'q Alternative<'q>,
    /// Where paths that have this outcome instead may come to the path again.
    pub meetings: &'q dyn Fn(u32, Choice) -> Vec<Meeting>,
    pub store: &'q Store<'q>,
    /// Whether an outcome may be changed so.
    pub may_change: &'q dyn Fn(u32, Choice) -> bool,
    pub alternatives: &'q dyn Fn(Site, Choice) -> Vec<Choice>,
    /// What becomes of an outcome that does not depend on the input, where a state decides it.
    pub decide: &'q dyn Fn(Site, &State) -> Option<Choice>,
    /// The sites that states may decide.
    pub decided: &'q BTreeSet<Site>,
    /// Counts states.
    pub work: &'q Cell<u64>,
}

/// A state that can be reached, with what it costs and the changes that lead there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub state: State,
    pub cost: u32,
    pub changes: Vec<Change>,
}

/// Number of a state: the same few come again and again.
type StateId = u32;

/// The cheapest changes for each state, with the number of the last one.
type States = BTreeMap<StateId, (u32, Option<usize>)>;

/// Another outcome with the nodes where the path may be met again, and its number.
type OtherWay = (Site, Choice, Vec<NodeId>);
type Way = u32;

/// What a walk comes to: a state, what it costs to hope for, the node where it meets the path.
type Met = (StateId, u32, NodeId);

struct Pass<'q> {
    question: &'q Question<'q>,
    states: Vec<State>,
    ids: FastMap<State, StateId>,
    /// What was found out before.
    written: FastMap<(usize, Option<DefinitionId>, StateId), StateId>,
    decisions: FastMap<(Site, StateId), Option<Choice>>,
    walked: FastMap<(Way, StateId), Vec<Met>>,
    ways: Vec<OtherWay>,
    way_ids: FastMap<OtherWay, Way>,
    /// Changes, each with the one before it.
    changes: Vec<(Option<usize>, Change)>,
    /// By outcome: what it costs to change it, where that makes a difference.
    costs: BTreeMap<u32, u32>,
    /// Moments at which something happens, in order; the end is the last.
    moments: Vec<u32>,
    /// By moment: states before what is written there, and after.
    before: Vec<States>,
    after: Vec<States>,
    /// Whether states were left out.
    is_thinned: bool,
}

impl Question<'_> {
    /// What the variables hold at the beginning of the stretch.
    pub fn first(&self) -> State {
        let nothing = Held { definition: None, value: Value::Added(0) };
        let mut state: State = vec![nothing; self.objects.len()];
        for write in self.record.writes.iter().take_while(|write| write.at <= self.from) {
            if let Some(index) = self.index(write.object) {
                self.apply(index, write.definition, &mut state);
                self.count(1);
            }
        }
        state
    }

    fn count(&self, work: u64) {
        self.work.set(self.work.get() + work);
    }

    fn index(&self, object: ObjectId) -> Option<usize> {
        self.objects.iter().position(|known| *known == object)
    }

    fn apply(&self, index: usize, definition: Option<DefinitionId>, state: &mut State) {
        let value = definition.map_or(Value::Added(0), |definition| (self.store)(definition, state));
        state[index] = Held { definition, value };
    }

    /// The writes that come before outcomes in this range.
    fn writes(&self, from: u32, until: u32) -> &[Written] {
        let (first, end) = self.writes_between(from, until);
        &self.record.writes[first..end]
    }

    fn writes_between(&self, from: u32, until: u32) -> (usize, usize) {
        let writes = &self.record.writes;
        let first = writes.partition_point(|write| write.at < from);
        let end = writes.partition_point(|write| write.at < until);
        (first, end.max(first))
    }

    /// The states at the end of the stretch, the cheapest first, and whether these are all.
    pub fn answer(&self) -> (Vec<Reached>, bool) {
        let mut pass = Pass::new(self);
        pass.walk();
        let last = pass.after.pop().unwrap_or_default();
        let reached = |(state, (cost, change)): (StateId, (u32, Option<usize>))| Reached {
            changes: pass.path_of(change),
            state: pass.states[state as usize].clone(),
            cost,
        };
        self.count(last.len() as u64);
        let mut found: Vec<Reached> = last.into_iter().map(reached).collect();
        found.sort_by(|a, b| (a.cost, &a.state).cmp(&(b.cost, &b.state)));
        (found, !pass.is_thinned)
    }
}

impl<'q> Pass<'q> {
    fn new(question: &'q Question<'q>) -> Self {
        let mut costs: BTreeMap<u32, u32> = BTreeMap::new();
        let mut put = |outcome: u32, cost: u32| {
            let known = costs.entry(outcome).or_insert(cost);
            *known = cost.min(*known);
        };
        let happened = |outcome: u32| &question.record.outcomes[outcome as usize];
        // the moment at which the stretch begins has had its writes
        let written = question.writes(question.from + 1, question.until + 1).iter();
        let written: Vec<&Written> = written.filter(|write| question.index(write.object).is_some()).collect();
        for write in &written {
            let mut led_by = write.led_by;
            let mut n_between = 0;
            while let Some(leader) =
                led_by.filter(|leader| *leader >= question.from && n_between <= MAX_DETOURS)
            {
                if happened(leader).step.is_some() {
                    put(leader, 1 + COST_OF_DETOUR * u32::try_from(n_between).unwrap_or(u32::MAX));
                    n_between += 1;
                }
                led_by = happened(leader).led_by;
            }
        }
        for outcome in question.from..question.until {
            let Happened { site, taken, step, .. } = *happened(outcome);
            let leads = |choice: &Choice| question.leads_to.contains(&(site, *choice));
            if step.is_some() && (question.alternatives)(site, taken).iter().any(leads) {
                put(outcome, 1);
            }
        }
        let decided = (question.from..question.until).filter(|outcome| {
            let Happened { site, step, .. } = happened(*outcome);
            step.is_none() && question.decided.contains(site)
        });
        let mut moments: Vec<u32> =
            written.iter().map(|write| write.at).chain(costs.keys().copied()).collect();
        moments.extend(decided);
        moments.extend([question.from, question.until]);
        moments.sort_unstable();
        moments.dedup();
        let states = || vec![States::new(); moments.len()];
        let (before, after) = (states(), states());
        Self {
            question,
            states: Vec::new(),
            ids: FastMap::default(),
            written: FastMap::default(),
            decisions: FastMap::default(),
            walked: FastMap::default(),
            ways: Vec::new(),
            way_ids: FastMap::default(),
            changes: Vec::new(),
            costs,
            moments,
            before,
            after,
            is_thinned: false,
        }
    }

    fn id(&mut self, state: State) -> StateId {
        if let Some(id) = self.ids.get(&state) {
            return *id;
        }
        self.question.count(1);
        let id = StateId::try_from(self.states.len()).expect("fewer than 2^32 states");
        self.states.push(state.clone());
        self.ids.insert(state, id);
        id
    }

    fn write(&mut self, write: &Written, id: StateId) -> StateId {
        let Some(index) = self.question.index(write.object) else { return id };
        let key = (index, write.definition, id);
        if let Some(known) = self.written.get(&key) {
            return *known;
        }
        let mut state = self.states[id as usize].clone();
        self.question.apply(index, write.definition, &mut state);
        let after = self.id(state);
        self.written.insert(key, after);
        after
    }

    fn walk(&mut self) {
        let question = self.question;
        let first = self.id(question.first());
        merge(&mut self.after[0], first, (0, None));
        let most = (MOST_STATES_IN_ALL / self.moments.len()).clamp(MIN_STATES, MAX_STATES);
        for index in 0..self.moments.len() {
            let moment = self.moments[index];
            let came = std::mem::take(&mut self.before[index]);
            let written = question.writes(moment, moment + 1).iter();
            for (state, reached) in came {
                let state = written.clone().fold(state, |state, write| self.write(write, state));
                merge(&mut self.after[index], state, reached);
            }
            if index + 1 == self.moments.len() {
                return;
            }
            self.is_thinned |= thin(&mut self.after[index], most);
            question.count(1 + self.after[index].len() as u64);
            let mut states = std::mem::take(&mut self.after[index]);
            self.decide(moment, &mut states);
            if let Some(cost) = self.costs.get(&moment).copied() {
                self.change(moment, cost, &states);
            }
            for (state, reached) in states {
                merge(&mut self.before[index + 1], state, reached);
            }
        }
    }

    /// Lets states decide an outcome that does not depend on the input. Those in which it is as it was are left.
    fn decide(&mut self, outcome: u32, states: &mut States) {
        let question = self.question;
        let happened = match question.record.outcomes.get(outcome as usize) {
            Some(happened) if happened.step.is_none() && question.decided.contains(&happened.site) => {
                *happened
            }
            _ => return,
        };
        let mut changed = Vec::new();
        for (id, so_far) in states.iter() {
            let state = &self.states[*id as usize];
            let decided = self.decisions.entry((happened.site, *id));
            let decided = *decided.or_insert_with(|| (question.decide)(happened.site, state));
            changed.extend(
                decided.filter(|choice| *choice != happened.taken).map(|choice| (*id, *so_far, choice)),
            );
        }
        for (state, so_far, choice) in changed {
            states.remove(&state);
            let (way, meetings) = self.way(outcome, choice);
            self.skip((way, &meetings), state, so_far, None);
        }
    }

    /// Another choice of an outcome: where its paths may come to this one again before the stretch ends.
    fn way(&mut self, outcome: u32, choice: Choice) -> (Way, Vec<Meeting>) {
        let site = self.question.record.outcomes[outcome as usize].site;
        let mut meetings = (self.question.meetings)(outcome, choice);
        // what the stretch is about would not be there
        meetings.retain(|meeting| meeting.outcomes <= self.question.until);
        let way = (site, choice, meetings.iter().map(|meeting| meeting.node).collect());
        let next = Way::try_from(self.ways.len()).expect("fewer than 2^32 of them");
        let id = *self.way_ids.entry(way.clone()).or_insert(next);
        if id == next {
            self.ways.push(way);
        }
        (id, meetings)
    }

    /// Continues where another choice comes to the path again, with what it does until then. A change is made by `change`.
    fn skip(
        &mut self,
        (way, meetings): (Way, &[Meeting]),
        id: StateId,
        (cost, last): (u32, Option<usize>),
        change: Option<Change>,
    ) {
        let question = self.question;
        if meetings.is_empty() {
            return;
        }
        if !self.walked.contains_key(&(way, id)) {
            let found = self.walk_apart(way, id);
            self.walked.insert((way, id), found);
        }
        for (id, hope, node) in self.walked[&(way, id)].clone() {
            let Some(meeting) = meetings.iter().find(|meeting| meeting.node == node) else { continue };
            let next = meeting.outcomes;
            let index = self.moments.partition_point(|moment| *moment < next);
            let last = match change {
                Some(change) => {
                    self.changes.push((last, Change { until: next, ..change }));
                    Some(self.changes.len() - 1)
                }
                None => last,
            };
            let reached = (cost + hope, last);
            if self.moments[index] == next {
                let (first, end) = question.writes_between(next, next + 1);
                let left = &question.record.writes[first.max(meeting.writes as usize).min(end)..end];
                let id = left.iter().fold(id, |id, write| self.write(write, id));
                merge(&mut self.after[index], id, reached);
            } else {
                merge(&mut self.before[index], id, reached);
            }
        }
    }

    fn walk_apart(&mut self, way: Way, id: StateId) -> Vec<Met> {
        let (site, choice, nodes) = &self.ways[way as usize];
        let found = (self.question.alternative)(*site, *choice, nodes, &self.states[id as usize]);
        found.into_iter().map(|(state, hope, node)| (self.id(state), hope, node)).collect()
    }

    /// Gives an outcome each other choice that it may have.
    fn change(&mut self, outcome: u32, cost: u32, states: &States) {
        let question = self.question;
        let happened = question.record.outcomes[outcome as usize];
        for choice in (question.alternatives)(happened.site, happened.taken) {
            if !(question.may_change)(outcome, choice) {
                continue;
            }
            let change = Change { outcome, site: happened.site, choice, until: outcome + 1 };
            let (way, meetings) = self.way(outcome, choice);
            for (state, (so_far, last)) in states {
                let is_neighbour = last.is_some_and(|last| self.changes[last].1.until == outcome);
                let cost = cost + if is_neighbour { COST_OF_NEIGHBOUR } else { 0 };
                self.skip((way, &meetings), *state, (so_far + cost, *last), Some(change));
            }
        }
    }

    fn path_of(&self, mut last: Option<usize>) -> Vec<Change> {
        let mut changes = Vec::new();
        while let Some(number) = last {
            let (before, change) = self.changes[number];
            changes.push(change);
            last = before;
        }
        changes.reverse();
        changes
    }
}

fn merge(states: &mut States, state: StateId, reached: (u32, Option<usize>)) {
    let known = states.entry(state).or_insert(reached);
    if reached.0 < known.0 {
        *known = reached;
    }
}

/// Leaves the cheapest states; whether there were more.
fn thin(states: &mut States, most: usize) -> bool {
    let is_much = states.len() > most;
    if is_much {
        let mut all: Vec<(StateId, (u32, Option<usize>))> = std::mem::take(states).into_iter().collect();
        all.sort_by_key(|(_, (cost, _))| *cost);
        all.truncate(most);
        states.extend(all);
    }
    is_much
}

#[cfg(test)]
mod tests {
    use model::ConditionId;

    use super::*;

    const FLAG: ObjectId = ObjectId(0);
    const SET: DefinitionId = DefinitionId(0);
    const CLEARED: DefinitionId = DefinitionId(1);
    const COUNTED: DefinitionId = DefinitionId(2);

    fn site(number: u32) -> Site {
        Site::Condition(ConditionId(number))
    }

    /// Outcomes of `site(0)` in a loop, each of which leads to a definition or not.
    fn record(outcomes: &[bool], first: DefinitionId, led: Option<DefinitionId>) -> Record {
        let mut record = Record::default();
        let write =
            |definition, at, led_by| Written { object: FLAG, definition: Some(definition), at, led_by };
        record.writes.push(write(first, 0, None));
        for (taken, number) in outcomes.iter().zip(0..) {
            record.outcomes.push(Happened {
                site: site(0),
                taken: Choice::Outcome(*taken),
                step: Some(number),
                before: Default::default(),
                led_by: None,
            });
            if let Some(led) = led.filter(|_| *taken) {
                record.writes.push(write(led, number + 1, Some(number)));
            }
        }
        record
    }

    fn store(definition: DefinitionId, state: &State) -> Value {
        match (definition, state[0].value) {
            (SET, _) => Value::Known(1),
            (CLEARED, _) => Value::Known(0),
            (_, Value::Known(before)) => Value::Known(before + 1),
            (_, Value::Added(before)) => Value::Added(before + 1),
        }
    }

    fn answer(record: &Record, leads: DefinitionId) -> Vec<Reached> {
        let leads_to = BTreeSet::from([(site(0), Choice::Outcome(true))]);
        let alternative = |_: Site, choice: Choice, nodes: &[NodeId], state: &State| {
            let mut state = state.clone();
            if choice == Choice::Outcome(true) {
                state[0] = Held { definition: Some(leads), value: store(leads, &state) };
            }
            vec![(state, 0, nodes[0])]
        };
        let until = u32::try_from(record.outcomes.len()).expect("few");
        let alternatives = |_: Site, taken: Choice| vec![Choice::Outcome(taken != Choice::Outcome(true))];
        let may_change = |_: u32, _: Choice| true;
        // behind what the outcome led to
        let meetings = |outcome: u32, _: Choice| {
            let writes = record.writes.iter().take_while(|write| write.at <= outcome + 1).count();
            let writes = u32::try_from(writes).expect("few");
            vec![Meeting { node: NodeId(0), outcomes: outcome + 1, writes }]
        };
        Question {
            record,
            objects: &[FLAG],
            from: 0,
            until,
            leads_to: &leads_to,
            alternative: &alternative,
            meetings: &meetings,
            store: &store,
            may_change: &may_change,
            alternatives: &alternatives,
            decide: &|_, _| None,
            decided: &BTreeSet::new(),
            work: &Cell::new(0),
        }
        .answer()
        .0
    }

    fn cheapest(answer: &[Reached], value: u128) -> Vec<u32> {
        let found = answer
            .iter()
            .find(|reached| reached.state[0].value == Value::Known(value))
            .expect("it can be had");
        found.changes.iter().map(|change| change.outcome).collect()
    }

    #[test]
    fn a_flag_is_kept_by_changing_every_outcome_that_clears_it() {
        let record = record(&[true, false, true, true], SET, Some(CLEARED));
        let answer = answer(&record, CLEARED);
        assert_eq!(cheapest(&answer, 1), [0, 2, 3]);
        assert_eq!(cheapest(&answer, 0), [0_u32; 0]);
    }

    #[test]
    fn a_flag_is_set_by_changing_one() {
        let record = record(&[false; 4], CLEARED, Some(SET));
        assert_eq!(cheapest(&answer(&record, SET), 1).len(), 1);
    }

    #[test]
    fn a_counter_comes_out_exact_by_as_many_changes_as_it_takes() {
        let record = record(&[true, false, false, true, false, false], CLEARED, Some(COUNTED));
        let answer = answer(&record, COUNTED);
        assert_eq!(cheapest(&answer, 2).len(), 0);
        assert_eq!(cheapest(&answer, 5).len(), 3);
        assert_eq!(cheapest(&answer, 0), [0, 3]);
        assert!(answer.iter().all(|reached| reached.state[0].value <= Value::Known(6)));
    }
}
