//! What happened along a path, as far as event sequences need it: outcomes, definitions, and which outcome led to each.
//!
//! Method: coverage's tracker follows definitions by address and activation along the walk. An outcome or definition was led to
//! by the newest outcome of its activation that control dependence names for its place, else by what led to the call of the
//! function. Where another outcome would have met the path again is found while the path is walked ([`analysis::chaining::Ahead`]). Limit:
//! jumps out of functions (`longjmp`, signals) leave what led to them unknown.

use std::collections::BTreeMap;

use analysis::Place;
use analysis::chaining::{Ahead, AheadId, ControlDependence};
use analysis::dataflow::{DataFlow, DefinitionId, Home, ObjectId};
use analysis::icfg::{Exit, Icfg, NodeId};
use coverage::flow::{FlowEvent, Listener, Tracker};
use model::walk::{Call, Choice, Site, Visitor};
use model::{BlockId, FunctionId, Program};

use crate::branch_distance::NearestStep;
use crate::trace::{PathHash, Payload, switch_cases};

/// An outcome of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Happened {
    pub site: Site,
    pub taken: Choice,
    /// Its number among those that depend on the input, if it does.
    pub step: Option<u32>,
    /// The path before it, and the objects that pointers led to: with another outcome they name a path.
    pub before: (PathHash, PathHash),
    /// The outcome that led to it.
    pub led_by: Option<u32>,
}

/// Where a path with another direction of an outcome may come to this path again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meeting {
    pub node: NodeId,
    /// The outcomes and the definitions before.
    pub outcomes: u32,
    pub writes: u32,
}

impl Record {
    /// How much there is of it.
    pub fn size(&self) -> usize {
        self.outcomes.len() + self.writes.len() + self.meetings.len()
    }

    /// Where paths that go to another node behind an outcome may come to this one before they leave the function, in order.
    pub fn meetings(&self, outcome: u32, target: NodeId) -> impl Iterator<Item = Meeting> + '_ {
        let first = self.meetings.partition_point(|(key, _)| *key < (outcome, target));
        let end = self.meetings.partition_point(|(key, _)| *key <= (outcome, target));
        self.meetings[first..end].iter().map(|(_, meeting)| *meeting)
    }
}

impl Happened {
    /// Names the path that has another outcome here.
    pub fn path_with(&self, choice: Choice) -> PathHash {
        let (path, objects) = self.before;
        path.then(self.site, choice).among(objects)
    }
}

/// A definition that was executed, or the end of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub object: ObjectId,
    /// Nothing when the variable is no more.
    pub definition: Option<DefinitionId>,
    /// The outcome that comes next.
    pub at: u32,
    /// The outcome that led to it.
    pub led_by: Option<u32>,
}

/// What happened along a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub outcomes: Vec<Happened>,
    pub writes: Vec<Written>,
    /// In order: by outcome and the node behind another direction of it.
    pub meetings: Vec<((u32, NodeId), Meeting)>,
}

/// A run that may be followed.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    pub record: Record,
    /// How near it came to directions that no run has taken.
    pub distances: BTreeMap<(Site, Choice), NearestStep>,
}

/// What a path is read by.
pub(crate) struct Reader<'r> {
    pub program: &'r Program,
    pub graph: &'r Icfg,
    pub flow: &'r DataFlow,
    pub dependence: &'r mut ControlDependence,
    pub ahead: &'r mut Ahead,
}

/// Reads a path.
pub(crate) struct Recorder<'r> {
    tracker: Tracker<'r, Heard>,
    graph: &'r Icfg,
    program: &'r Program,
    flow: &'r DataFlow,
    dependence: &'r mut ControlDependence,
    ahead: &'r mut Ahead,
    activations: Vec<Activation>,
    n_steps: u32,
    path: PathHash,
    record: Record,
}

/// What the tracker told since it was asked.
#[derive(Default)]
struct Heard {
    events: Vec<FlowEvent>,
}

impl Listener for Heard {
    fn tell(&mut self, event: FlowEvent, _: u64) {
        match event {
            FlowEvent::Defined(_) | FlowEvent::Killed(_) => self.events.push(event),
            FlowEvent::Used { .. } => {}
        }
    }
}

/// A function that was entered.
struct Activation {
    function: FunctionId,
    block: BlockId,
    /// What led to its call.
    led_by: Option<u32>,
    /// The newest outcome of each site.
    newest: BTreeMap<Site, u32>,
    /// What lies ahead of directions that it did not take, with where those lead to and the outcomes at which that was.
    apart: BTreeMap<(AheadId, NodeId), Vec<u32>>,
}

impl<'r> Recorder<'r> {
    pub fn new(reader: Reader<'r>) -> Self {
        let Reader { program, graph, flow, dependence, ahead } = reader;
        let mut recorder = Self {
            tracker: Tracker::new(program, flow, Heard::default()),
            graph,
            program,
            flow,
            dependence,
            ahead,
            activations: Vec::new(),
            n_steps: 0,
            path: PathHash::EMPTY,
            record: Record::default(),
        };
        recorder.listen(false);
        recorder
    }

    pub fn finish(self) -> Record {
        let mut record = self.record;
        record.meetings.sort_by_key(|(key, _)| *key);
        record
    }

    fn n_outcomes(&self) -> u32 {
        u32::try_from(self.record.outcomes.len()).expect("a log holds fewer than 2^32 outcomes")
    }

    /// Takes in what the tracker told. Where a function `is_left`, its variables are no more.
    fn listen(&mut self, is_left: bool) {
        let events = std::mem::take(&mut self.tracker.listener_mut().events);
        for (number, event) in events.iter().enumerate() {
            match event {
                FlowEvent::Defined(definition) => self.write(*definition),
                // what another definition replaces is told of again at once
                FlowEvent::Killed(definition)
                    if is_left && !matches!(events.get(number + 1), Some(FlowEvent::Defined(_))) =>
                {
                    let object = self.flow.definition(*definition).object;
                    // whoever called takes it
                    if matches!(self.flow.object(object).home, Home::Result(_)) {
                        continue;
                    }
                    let (at, led_by) = (self.n_outcomes(), None);
                    self.record.writes.push(Written { object, definition: None, at, led_by });
                }
                FlowEvent::Killed(_) | FlowEvent::Used { .. } => {}
            }
        }
    }

    fn write(&mut self, id: DefinitionId) {
        let definition = self.flow.definition(id);
        let (object, at) = (definition.object, self.n_outcomes());
        let here = self.activations.last().map(|activation| (activation.function, activation.block));
        let place = definition.places.iter().find(|place| Some((place.function, place.block)) == here);
        let led_by = place.map(|place| self.graph.at(*place)).and_then(|node| self.leader(node));
        self.record.writes.push(Written { object, definition: Some(id), at, led_by });
    }

    /// The outcome that led to a node of the innermost function.
    fn leader(&mut self, node: NodeId) -> Option<u32> {
        let activation = self.activations.last()?;
        let mut leader = None;
        for direction in self.dependence.of(self.graph, node) {
            let direction = &self.graph.directions[direction.index()];
            if let Some(newest) = activation.newest.get(&direction.site)
                && self.record.outcomes[*newest as usize].taken == direction.choice
            {
                leader = leader.max(Some(*newest));
            }
        }
        leader.or(activation.led_by)
    }

    /// The node of the innermost function that decides a site.
    fn node_of(&self, site: Site, choice: Choice) -> Option<NodeId> {
        let activation = self.activations.last()?;
        let direction = self.graph.direction(site, choice)?;
        let sources = self.graph.directions[direction.index()].sources.iter();
        let is_here = |node: &&NodeId| {
            let node = self.graph.node(**node);
            (node.function, node.block) == (activation.function, activation.block)
        };
        sources.copied().find(|node| is_here(&node))
    }

    /// The innermost function comes to a node: there it meets what other directions lead to.
    fn visit(&mut self, node: NodeId) {
        let (outcomes, writes) = (self.n_outcomes(), self.record.writes.len());
        let Some(activation) = self.activations.last_mut() else { return };
        let writes = u32::try_from(writes).expect("a path has fewer than 2^32 definitions");
        let meeting = Meeting { node, outcomes, writes };
        let mut left: Vec<((AheadId, NodeId), Vec<u32>)> = Vec::new();
        let (ahead, graph, record) = (&mut *self.ahead, self.graph, &mut self.record);
        let mut passed = |(id, target): (AheadId, NodeId), outcomes: &mut Vec<u32>| {
            if ahead.contains(id, node) {
                record.meetings.extend(outcomes.iter().map(|outcome| ((*outcome, target), meeting)));
            }
            let now = ahead.passed(graph, id, node);
            if let Some(now) = now.filter(|now| *now != id) {
                left.push(((now, target), std::mem::take(outcomes)));
            }
            now != Some(id)
        };
        activation.apart.retain(|key, outcomes| !passed(*key, outcomes));
        for (key, outcomes) in left {
            activation.apart.entry(key).or_default().extend(outcomes);
        }
    }

    /// Takes note of the directions of a node that the path does not take.
    fn part(&mut self, node: NodeId, taken: Choice, outcome: u32) {
        let Exit::Choose(directions) = &self.graph.node(node).exit else { return };
        let Some(activation) = self.activations.last_mut() else { return };
        for direction in directions {
            let direction = &self.graph.directions[direction.index()];
            let edges = direction.sources.iter().zip(&direction.targets);
            let target = edges.filter(|(source, _)| **source == node).map(|(_, target)| *target).next();
            let Some(target) = target.filter(|_| direction.choice != taken) else { continue };
            let outcomes =
                activation.apart.entry((self.ahead.of(self.graph, (node, target)), target)).or_default();
            // several cases may lead to one node
            if outcomes.last() != Some(&outcome) {
                outcomes.push(outcome);
            }
        }
        // what follows a condition without a branch is in the same block
        let behind = directions.iter().flat_map(|id| &self.graph.directions[id.index()].targets);
        let (function, block) = (activation.function, activation.block);
        let here = |id: &&NodeId| {
            let behind = self.graph.node(**id);
            behind.first > 0 && (behind.function, behind.block) == (function, block)
        };
        if let Some(next) = behind.copied().find(|id| here(&id)) {
            self.visit(next);
        }
    }

    fn happened(&mut self, site: Site, taken: Choice, payload: Payload) {
        let node = self.node_of(site, taken);
        let led_by = node.and_then(|node| self.leader(node));
        let number = self.n_outcomes();
        let step = payload.node.map(|_| self.n_steps);
        self.n_steps += u32::from(payload.node.is_some());
        let before = (self.path, payload.objects);
        self.path = self.path.then(site, taken);
        self.record.outcomes.push(Happened { site, taken, step, before, led_by });
        if let Some(activation) = self.activations.last_mut() {
            activation.newest.insert(site, number);
        }
        if let Some(node) = node {
            self.part(node, taken, number);
        }
    }
}

impl Visitor<Payload> for Recorder<'_> {
    fn enter(&mut self, function: FunctionId, call: Option<Call>) {
        Visitor::<Payload>::enter(&mut self.tracker, function, call);
        self.listen(false);
        let node =
            call.map(|call| self.graph.at(Place { function: call.function, block: call.block, at: call.at }));
        let led_by = node.and_then(|node| self.leader(node));
        let (newest, apart) = (BTreeMap::new(), BTreeMap::new());
        self.activations.push(Activation { function, block: BlockId(0), led_by, newest, apart });
    }

    fn wait(&mut self, call: Call) {
        Visitor::<Payload>::wait(&mut self.tracker, call);
        self.listen(false);
    }

    fn leave(&mut self) {
        Visitor::<Payload>::leave(&mut self.tracker);
        self.listen(true);
        self.activations.pop();
    }

    fn block(&mut self, function: FunctionId, block: BlockId) {
        Visitor::<Payload>::block(&mut self.tracker, function, block);
        self.listen(false);
        if let Some(activation) = self.activations.last_mut() {
            activation.block = block;
        }
        self.visit(self.graph.block(function, block));
    }

    fn abandon(&mut self, function: FunctionId, block: BlockId, at: u32) {
        Visitor::<Payload>::abandon(&mut self.tracker, function, block, at);
        self.listen(false);
    }

    fn resume(&mut self, function: FunctionId, block: BlockId, at: u32) {
        Visitor::<Payload>::resume(&mut self.tracker, function, block, at);
        self.listen(false);
        if let Some(activation) = self.activations.last_mut() {
            activation.block = block;
        }
        self.visit(self.graph.node_at(function, block, at));
    }

    fn address(&mut self, at: u32, address: u64, size: u64) {
        Visitor::<Payload>::address(&mut self.tracker, at, address, size);
    }

    fn outcome(&mut self, site: Site, taken: bool, payload: Payload) {
        self.tracker.outcome(site, taken, payload);
        self.listen(false);
        self.happened(site, Choice::Outcome(taken), payload);
    }

    fn switch(&mut self, function: FunctionId, block: BlockId, case: usize, payload: Payload) {
        self.tracker.switch(function, block, case, payload);
        self.listen(false);
        let n_cases = switch_cases(self.program, function, block).len();
        let number = u32::try_from(case).expect("a switch has fewer than 2^32 cases");
        let taken = if case < n_cases { Choice::Case(number) } else { Choice::Default };
        self.happened(Site::Switch(function, block), taken, payload);
    }
}
