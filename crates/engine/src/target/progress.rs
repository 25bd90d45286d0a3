//! How many cut points of a pair had a path passed before each of its steps?
//!
//! Method: along the walk, a point is passed when control reaches its place and all before it were passed. Coverage's
//! tracker follows the definition and its value, by address and activation. When the value is lost, what was passed behind
//! the definition no longer counts.

use std::collections::BTreeMap;

use analysis::Place;
use analysis::dataflow::{DataFlow, DefinitionId};
use coverage::flow::{FlowEvent, Listener, Tracker};
use model::walk::{Call, Site, Visitor};
use model::{BlockId, FunctionId, Program};

use crate::trace::Payload;

/// Points passed by a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// After so many steps that depend on the input, so many points were passed; only where that changes.
    changes: Vec<(u32, u32)>,
}

impl Progress {
    /// Points passed when so many steps were taken, before the next.
    pub fn before(&self, step: u32) -> u32 {
        let after = self.changes.partition_point(|(n_steps, _)| *n_steps <= step);
        after.checked_sub(1).map_or(0, |last| self.changes[last].1)
    }
}

/// Walks along a path and counts points.
pub(crate) struct Follower<'t> {
    tracker: Tracker<'t, Value>,
    /// Points by block, with their instruction.
    points: BTreeMap<(FunctionId, BlockId), Vec<(u32, usize)>>,
    definition: usize,
    prunes: bool,
    activations: Vec<Standing>,
    n_steps: u32,
    n_passed: usize,
    progress: Progress,
}

/// Where a function that was entered stands: instructions before `at` of the block were looked at.
struct Standing {
    function: FunctionId,
    block: BlockId,
    at: u32,
    call: Option<Call>,
}

/// What becomes of the definition's value.
struct Value {
    definition: DefinitionId,
    /// In how many variables it is: each activation has its own.
    n_live: u32,
    /// Since the last look.
    is_new: bool,
}

impl Listener for Value {
    fn tell(&mut self, event: FlowEvent, _: u64) {
        match event {
            FlowEvent::Defined(definition) if definition == self.definition => {
                self.n_live += 1;
                self.is_new = true;
            }
            FlowEvent::Killed(definition) if definition == self.definition => {
                self.n_live = self.n_live.saturating_sub(1);
            }
            FlowEvent::Defined(_) | FlowEvent::Killed(_) | FlowEvent::Used { .. } => {}
        }
    }
}

const END: u32 = u32::MAX;

impl<'t> Follower<'t> {
    pub(super) fn new(
        program: &'t Program,
        flow: &'t DataFlow,
        definition: DefinitionId,
        places: &[Place],
        index: usize,
        prunes: bool,
    ) -> Self {
        let mut points: BTreeMap<(FunctionId, BlockId), Vec<(u32, usize)>> = BTreeMap::new();
        for (number, place) in places.iter().enumerate().filter(|(number, _)| *number != index) {
            points.entry((place.function, place.block)).or_default().push((place.at, number));
        }
        let mut follower = Self {
            tracker: Tracker::new(program, flow, Value { definition, n_live: 0, is_new: false }),
            points,
            definition: index,
            prunes,
            activations: Vec::new(),
            n_steps: 0,
            n_passed: 0,
            progress: Progress::default(),
        };
        // an initial value is there from the start
        follower.look();
        follower
    }

    /// What the path passed.
    pub fn finish(self) -> Progress {
        self.progress
    }

    /// Takes in what the tracker heard.
    fn look(&mut self) {
        let value = self.tracker.listener_mut();
        if std::mem::take(&mut value.is_new) {
            self.n_passed = self.definition + 1;
        } else if value.n_live == 0 && self.n_passed > self.definition && self.prunes {
            self.n_passed = self.definition;
        }
        self.note();
    }

    /// The innermost function reached this instruction of its block.
    fn reach(&mut self, at: u32) {
        let Some(standing) = self.activations.last_mut() else { return };
        let from = std::mem::replace(&mut standing.at, at.saturating_add(1));
        if let Some(points) = self.points.get(&(standing.function, standing.block)) {
            for &(place, number) in points {
                if (from..=at).contains(&place) && number == self.n_passed {
                    self.n_passed += 1;
                }
            }
        }
        self.note();
    }

    fn note(&mut self) {
        let n_passed = u32::try_from(self.n_passed).expect("fewer than 2^32 cut points");
        match self.progress.changes.last_mut() {
            Some((_, known)) if *known == n_passed => {}
            Some((n_steps, known)) if *n_steps == self.n_steps => *known = n_passed,
            Some(_) | None => self.progress.changes.push((self.n_steps, n_passed)),
        }
    }

    fn stepped(&mut self, payload: Payload) {
        self.n_steps += u32::from(payload.node.is_some());
    }
}

impl Visitor<Payload> for Follower<'_> {
    fn enter(&mut self, function: FunctionId, call: Option<Call>) {
        if let Some(call) = call {
            self.reach(call.at);
        }
        Visitor::<Payload>::enter(&mut self.tracker, function, call);
        self.look();
        self.activations.push(Standing { function, block: BlockId(0), at: 0, call });
    }

    fn wait(&mut self, call: Call) {
        Visitor::<Payload>::wait(&mut self.tracker, call);
        self.look();
    }

    fn leave(&mut self) {
        Visitor::<Payload>::leave(&mut self.tracker);
        self.look();
        let left = self.activations.pop();
        if let Some(call) = left.and_then(|left| left.call) {
            self.reach(call.at + 1);
        }
    }

    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.reach(END);
        Visitor::<Payload>::block(&mut self.tracker, function, block);
        self.look();
        if let Some(standing) = self.activations.last_mut() {
            (standing.block, standing.at) = (block, 0);
        }
        self.reach(0);
    }

    fn abandon(&mut self, function: FunctionId, block: BlockId, at: u32) {
        self.reach(at);
        Visitor::<Payload>::abandon(&mut self.tracker, function, block, at);
        self.look();
    }

    fn resume(&mut self, function: FunctionId, block: BlockId, at: u32) {
        Visitor::<Payload>::resume(&mut self.tracker, function, block, at);
        self.look();
        if let Some(standing) = self.activations.last_mut() {
            (standing.block, standing.at) = (block, at);
        }
    }

    fn address(&mut self, at: u32, address: u64, size: u64) {
        Visitor::<Payload>::address(&mut self.tracker, at, address, size);
    }

    fn outcome(&mut self, site: Site, taken: bool, payload: Payload) {
        self.tracker.outcome(site, taken, payload);
        self.look();
        self.stepped(payload);
    }

    fn switch(&mut self, function: FunctionId, block: BlockId, case: usize, payload: Payload) {
        self.tracker.switch(function, block, case, payload);
        self.look();
        self.stepped(payload);
    }
}
