//! The symbolic state of a program between two instructions, and what joins two of them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::{ConditionId, InstrId};

use crate::graph::ContextId;
use crate::memory::Memory;
use crate::terms::{Bits, Truth};

/// Where a value of the state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Slot {
    /// A promoted local.
    Local(ContextId, InstrId),
    /// The result of an instruction.
    Result(ContextId, InstrId),
    Parameter(ContextId, u32),
    /// Whether the condition was evaluated in the present evaluation of its decision.
    Evaluated(ContextId, ConditionId),
    /// Its value there.
    Outcome(ContextId, ConditionId),
    /// Whether a definition of this goal's local is the last one, or a block of this goal began.
    Defined(ContextId, usize),
}

impl Slot {
    pub(crate) fn context(self) -> ContextId {
        match self {
            Self::Local(context, _)
            | Self::Result(context, _)
            | Self::Parameter(context, _)
            | Self::Evaluated(context, _)
            | Self::Outcome(context, _)
            | Self::Defined(context, _) => context,
        }
    }
}

/// A value: bits, or the leaves of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'m> {
    Bits(Bits<'m>),
    Record(Rc<[Bits<'m>]>),
}

/// What is known at a place; slots that are missing are as they were when the segment began.
#[derive(Clone, Debug)]
pub(crate) struct State<'m> {
    /// When control is here.
    pub(crate) path: Truth<'m>,
    pub(crate) values: BTreeMap<Slot, Value<'m>>,
    pub(crate) memory: Memory,
}

impl State<'_> {
    /// Forgets the results that nothing outside of their block uses.
    pub(crate) fn leave_block(&mut self, context: ContextId, lasting: &BTreeSet<InstrId>) {
        self.values.retain(|slot, _| match slot {
            Slot::Result(of, id) => *of != context || lasting.contains(id),
            Slot::Local(..)
            | Slot::Parameter(..)
            | Slot::Evaluated(..)
            | Slot::Outcome(..)
            | Slot::Defined(..) => true,
        });
    }

    /// Forgets an activation.
    pub(crate) fn leave_context(&mut self, context: ContextId) {
        self.values.retain(|slot, _| slot.context() != context);
    }
}
