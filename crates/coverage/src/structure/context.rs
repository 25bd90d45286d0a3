//! Call stacks: where does control go when the present function returns?
//!
//! Stacks share their lower parts: one is a place to return to and the stack below.

use std::collections::BTreeMap;

use super::graph::NodeId;
use super::reach::{FAR, Ways};

/// A call stack; the empty one is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(u32);

impl ContextId {
    /// Nobody called.
    pub const ROOT: Self = Self(0);

    fn index(self) -> usize {
        self.0 as usize
    }
}

struct Context {
    below: ContextId,
    back: NodeId,
}

/// All call stacks met so far.
pub(super) struct Contexts {
    /// The root has no entry.
    contexts: Vec<Context>,
    known: BTreeMap<(ContextId, NodeId), ContextId>,
    /// By stack, the root's first: how far it is, after the present function's return, to the nearest wanted node.
    distances: Vec<u32>,
}

impl Contexts {
    pub(super) fn new() -> Self {
        Self { contexts: Vec::new(), known: BTreeMap::new(), distances: vec![FAR] }
    }

    /// The stack with one more place to return to.
    pub(super) fn push(
        &mut self,
        below: ContextId,
        back: NodeId,
        ways: &Ways,
        distances: &[u32],
    ) -> ContextId {
        if let Some(known) = self.known.get(&(below, back)) {
            return *known;
        }
        self.contexts.push(Context { below, back });
        let id = ContextId(u32::try_from(self.contexts.len()).expect("fewer than 2^32 call stacks"));
        self.known.insert((below, back), id);
        self.distances.push(self.distance_of(id, ways, distances));
        id
    }

    /// Where the present function returns to, and the stack then.
    pub(super) fn pop(&self, id: ContextId) -> Option<(NodeId, ContextId)> {
        let context = &self.contexts[id.index().checked_sub(1)?];
        Some((context.back, context.below))
    }

    /// How far it is to the nearest wanted node after the present function's return.
    pub(super) fn distance(&self, id: ContextId) -> u32 {
        self.distances[id.index()]
    }

    /// Computes all distances anew; a stack comes after the one below it.
    pub(super) fn refresh(&mut self, ways: &Ways, distances: &[u32]) {
        for index in 1..self.distances.len() {
            let id = ContextId(u32::try_from(index).expect("fewer than 2^32 call stacks"));
            self.distances[index] = self.distance_of(id, ways, distances);
        }
    }

    fn distance_of(&self, id: ContextId, ways: &Ways, distances: &[u32]) -> u32 {
        let (back, below) = self.pop(id).expect("only the root is empty");
        let further = ways.to_return(back).saturating_add(self.distances[below.index()]);
        distances[back.index()].min(further)
    }
}
