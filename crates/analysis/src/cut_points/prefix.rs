//! The call chains to a definition from which the use can be reached.
//!
//! When the use comes only after the function of the definition has returned, not every caller will do: behind the call
//! there must be a way on to the use.

use std::collections::BTreeSet;

use model::FunctionId;

use super::region::START;
use super::{Behind, Dominance, Extent};
use crate::dominators::Dominators;
use crate::icfg::{Exit, NodeId};

impl Behind<'_, '_> {
    /// Dominators from the root on such call chains only; `None` when all of them will do. `targets` are where the use is.
    pub(super) fn prefix(&self, targets: &[u32]) -> Option<Dominators> {
        let dominance = self.dominance;
        match self.definition.extent {
            Extent::Activation => return None,
            Extent::Program => {}
        }
        let staying = self.region.stays(dominance, targets);
        if targets.is_empty() || staying[START as usize] {
            return None;
        }
        let leading = self.region.leads_to(targets, |_| true);
        let ancestors = dominance.ancestors([self.definition.place.function]);
        let whole = self.whole(&ancestors, &staying);
        let keeps = |call: NodeId, callee: FunctionId| {
            ancestors.contains(&callee) && (whole.contains(&callee) || self.goes_on(call, callee, &leading))
        };
        let nodes = ancestors.iter().flat_map(|function| dominance.graph.nodes_of(*function)).map(NodeId);
        Some(dominance.dominators(nodes, keeps))
    }

    /// The functions that may bring the definition to the use without returning.
    fn whole(&self, ancestors: &BTreeSet<FunctionId>, staying: &[bool]) -> BTreeSet<FunctionId> {
        let dominance = self.dominance;
        let callees = ancestors.iter();
        let calls = callees.flat_map(|callee| dominance.calls_of(*callee).map(move |call| (call, *callee)));
        let meeting = calls.filter(|(call, callee)| self.goes_on(*call, *callee, staying));
        dominance.ancestors(meeting.map(|(call, _)| dominance.graph.node(call).function))
    }

    /// Whether the callee may return with the definition made to behind the call, and that is one of the vertices marked.
    fn goes_on(&self, call: NodeId, callee: FunctionId, vertices: &[bool]) -> bool {
        let Exit::Call { then: Some(then), .. } = self.dominance.graph.node(call).exit else { return false };
        self.region.up(then).is_some_and(|vertex| {
            vertices[vertex as usize] && self.region.is_returned_to(self.dominance, vertex, callee)
        })
    }
}

impl Dominance<'_> {
    /// The calls that may enter a function.
    fn calls_of(&self, function: FunctionId) -> impl Iterator<Item = NodeId> {
        let by_address = self.indirect.iter().filter(move |_| self.is_taken[function.index()]);
        self.callers[function.index()].iter().chain(by_address).copied()
    }

    /// These functions and all from which they may be called.
    fn ancestors(&self, functions: impl IntoIterator<Item = FunctionId>) -> BTreeSet<FunctionId> {
        let mut ancestors = BTreeSet::new();
        let mut open: Vec<FunctionId> = functions.into_iter().collect();
        while let Some(function) = open.pop() {
            if ancestors.insert(function) {
                open.extend(self.calls_of(function).map(|call| self.graph.node(call).function));
            }
        }
        ancestors
    }
}
