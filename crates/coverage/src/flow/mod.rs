//! Data-flow coverage: the goals of `all-defs`, `all-uses` and `def-use`, and which of them a run covers.
//!
//! A goal names a definition, a use or a pair of [`analysis::dataflow::DataFlow`]. What a run covers follows from its path
//! alone: a [`Tracker`] walks along and keeps, per activation and object, which definition was last.

mod criteria;
mod regions;
mod tracker;

use std::collections::BTreeSet;

use analysis::dataflow::{DataFlow, DataFlowOptions, DefinitionId, PairId, UseId, UseKind};
use model::{FunctionId, Program, SpanId};

pub(crate) use criteria::{DataFlowCriterion, Wanted};
pub use tracker::{FlowEvent, Listener, Tracker};

use crate::Scope;

/// What a goal of data flow is about, for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGoal {
    /// As the source names it.
    pub variable: String,
    /// Where it is defined; missing when any definition counts.
    pub definition: Option<SpanId>,
    /// Where it is used, and for what; missing when any use counts.
    pub use_: Option<(Option<SpanId>, UseKind)>,
}

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

impl FlowGoal {
    /// What it asks, in words that stand behind the position `at`: `res defined at 8:5 is used (c-use)`.
    pub fn describe(&self, program: &Program, at: Option<SpanId>) -> String {
        let file = at.map(|at| program.span(at).at.file);
        let text = |span: Option<SpanId>| match span.map(|span| program.span(span).at) {
            None => "an unknown place".to_owned(),
            Some(place) if Some(place.file) == file => format!("{}:{}", place.line, place.column),
            Some(place) => program.describe(place),
        };
        let variable = &self.variable;
        match (self.definition, self.use_) {
            (definition @ Some(_), Some((_, kind))) => {
                format!("{variable} defined at {} is used ({kind})", text(definition))
            }
            (None, Some((_, kind))) => format!("{variable} is used ({kind})"),
            (_, None) => format!("{variable} defined here is used"),
        }
    }
}
