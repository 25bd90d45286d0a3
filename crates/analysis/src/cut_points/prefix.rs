//! The call chains to a definition from which the use can be reached.
//!
//! When the use comes only after the function of the definition has returned, not every caller will do: behind the call
//! there must be a way on to the use.

use std::collections::BTreeSet;

use model::FunctionId;

use super::region::START;
use super::{Behind, Dominance, Extent};
use crate::icfg::{Exit, NodeId};

impl Behind<'_, '_> {
    /// What every path to the definition passes, on call chains from which the use can be reached; `targets` are where it is.
    pub(super) fn prefix(&self, targets: &[u32]) -> Option<Vec<u32>> {
        let dominance = self.dominance;
        let place = self.definition.place;
        let defined = dominance.graph.at(place).0;
        let owner = match self.definition.extent {
            Extent::Below(owner) if owner != place.function => Some(owner),
            Extent::Activation | Extent::Below(_) => return dominance.from_root.chain(defined),
            Extent::Program => None,
        };
        if self.region.is_large() {
            return dominance.from_root.chain(defined);
        }
        let staying = self.region.stays(dominance, targets);
        let all_do = targets.is_empty() || staying[START as usize];
        if all_do && owner.is_none() {
            return dominance.from_root.chain(defined);
        }
        let ancestors = dominance.ancestors(owner, [place.function]);
        let leading = self.region.leads_to(targets, |_| true);
        let whole = if all_do { ancestors.clone() } else { self.whole(owner, &ancestors, &staying) };
        let keeps = |call: NodeId, callee: FunctionId| {
            ancestors.contains(&callee) && (whole.contains(&callee) || self.goes_on(call, callee, &leading))
        };
        let nodes = ancestors.iter().flat_map(|function| dominance.graph.nodes_of(*function)).map(NodeId);
        let start = owner.unwrap_or(dominance.root);
        let chain = dominance.dominators(start, nodes, keeps).chain(defined)?;
        // the owner was entered before
        let entry = owner.and_then(|owner| dominance.graph.entry(owner));
        let mut before = entry.map_or(Some(Vec::new()), |entry| dominance.from_root.chain(entry.0))?;
        before.pop();
        before.extend(chain);
        Some(before)
    }

    /// The functions that may bring the definition to the use without returning.
    fn whole(
        &self,
        owner: Option<FunctionId>,
        ancestors: &BTreeSet<FunctionId>,
        staying: &[bool],
    ) -> BTreeSet<FunctionId> {
        let graph = self.dominance.graph;
        // where one of the ancestors returns to, and the way on stays
        let returns = |node: NodeId| {
            let code = graph.node(node);
            matches!(code.exit, Exit::Return) && ancestors.contains(&code.function)
        };
        let meeting = self.region.entered_by(returns, staying);
        self.dominance.ancestors(owner, meeting.into_iter().map(|node| graph.node(node).function))
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

    /// These functions and all from which they may be called, as far as they are entered from the owner.
    fn ancestors(
        &self,
        owner: Option<FunctionId>,
        functions: impl IntoIterator<Item = FunctionId>,
    ) -> BTreeSet<FunctionId> {
        let is_below = |function: FunctionId| {
            owner.is_none_or(|owner| function == owner || self.entered(owner)[function.index()])
        };
        let mut ancestors = BTreeSet::new();
        let mut open: Vec<FunctionId> = functions.into_iter().collect();
        while let Some(function) = open.pop() {
            if is_below(function) && ancestors.insert(function) {
                open.extend(self.calls_of(function).map(|call| self.graph.node(call).function));
            }
        }
        ancestors
    }
}
