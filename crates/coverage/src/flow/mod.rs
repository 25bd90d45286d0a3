//! Data-flow coverage: the goals of `all-defs`, `all-uses` and `def-use`, and which of them a run covers.
//!
//! A goal names a definition, a use or a pair of [`analysis::dataflow::DataFlow`]. What a run covers follows from its path
//! alone: a [`Tracker`] walks along and keeps, per activation and object, which definition was last.

mod criteria;
mod regions;
mod tracker;

use std::collections::BTreeSet;

use analysis::dataflow::{DataFlow, DataFlowOptions, DefinitionId, PairId, UseId};
use model::{FunctionId, Program};

pub(crate) use criteria::{DataFlowCriterion, Wanted};
pub use tracker::{FlowEvent, Listener, Tracker};

use crate::Scope;
pub use crate::flow_goal::FlowGoal;

/// The data flow of what a scope is about.
pub fn data_flow(program: &Program, scope: &Scope, elements: bool) -> DataFlow {
    let starts_generated = |root: &FunctionId| program.function(*root).generated;
    // a harness calls what is tested, and inputs come from there
    let root = program.root.filter(starts_generated).or(scope.start()).or(program.root);
    DataFlow::of(program, &DataFlowOptions { roots: root.into_iter().collect(), elements })
}

/// Pairs, definitions and uses that a run covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowsSeen {
    pub pairs: BTreeSet<PairId>,
    pub definitions: BTreeSet<DefinitionId>,
    pub uses: BTreeSet<UseId>,
}

/// Collects what is covered.
#[derive(Clone)]
pub(crate) struct Collector<'a> {
    flow: &'a DataFlow,
    seen: FlowsSeen,
    /// Ends that met last: loops repeat them.
    last: Option<(DefinitionId, UseId)>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(flow: &'a DataFlow) -> Self {
        Self { flow, seen: FlowsSeen::default(), last: None }
    }

    pub(crate) fn finish(self) -> FlowsSeen {
        self.seen
    }
}

impl Listener for Collector<'_> {
    fn tell(&mut self, event: FlowEvent, _: u64) {
        match event {
            FlowEvent::Used { definition, use_ } if self.last != Some((definition, use_)) => {
                self.last = Some((definition, use_));
                if let Some(pair) = self.flow.pair_of(definition, use_) {
                    self.seen.pairs.insert(pair);
                    self.seen.definitions.insert(definition);
                    self.seen.uses.insert(use_);
                }
            }
            FlowEvent::Used { .. } | FlowEvent::Defined(_) | FlowEvent::Killed(_) => {}
        }
    }
}
