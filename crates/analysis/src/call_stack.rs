//! Call stacks: where does control go when the current function returns?
//!
//! Stacks share their lower parts: a stack is a place to return to and the stack below.

use std::collections::BTreeMap;

use crate::icfg::NodeId;

/// A call stack; the empty one is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(u32);

impl ContextId {
    /// Nobody called.
    pub const ROOT: Self = Self(0);

    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

struct Context {
    below: ContextId,
    back: NodeId,
}

/// All call stacks met so far; one comes after the one below it.
#[derive(Default)]
pub struct CallStacks {
    /// The root has no entry.
    contexts: Vec<Context>,
    known: BTreeMap<(ContextId, NodeId), ContextId>,
}

impl CallStacks {
    /// The stack with one more place to return to.
    pub fn push(&mut self, below: ContextId, back: NodeId) -> ContextId {
        if let Some(known) = self.known.get(&(below, back)) {
            return *known;
        }
        self.contexts.push(Context { below, back });
        let id = self.last();
        self.known.insert((below, back), id);
        id
    }

    /// Where the present function returns to, and the stack then.
    pub fn pop(&self, id: ContextId) -> Option<(NodeId, ContextId)> {
        let context = &self.contexts[id.index().checked_sub(1)?];
        Some((context.back, context.below))
    }

    /// The stacks from the `n`-th on, the root being the first.
    pub fn from(&self, n: usize) -> impl Iterator<Item = ContextId> + use<> {
        let n = u32::try_from(n).expect("fewer than 2^32 call stacks");
        (n..=self.last().0).map(ContextId)
    }

    fn last(&self) -> ContextId {
        ContextId(u32::try_from(self.contexts.len()).expect("fewer than 2^32 call stacks"))
    }
}
