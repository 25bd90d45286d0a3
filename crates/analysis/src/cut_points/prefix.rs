//! The call chains to a definition from which the use can be reached.
//!
//! If the use comes only after the function of the definition has returned, not every caller qualifies: a path must lead
//! from after the call to the use.

use std::collections::BTreeSet;

use model::FunctionId;

use super::folded::Folded;
use super::region::START;
use super::{Dominance, Downstream, Extent};
use crate::icfg::{Callees, Exit, NodeId};

/// The call chains that bring a path to a definition.
pub(super) enum Chains {
    /// From all of them the use can be reached.
    All,
    /// What paths on those from which it can be reached pass up to the definition, its node among it; `None` when there are
    /// none.
    Some(Option<Vec<NodeId>>),
}

impl Downstream<'_, '_> {
    /// The call chains from which the use can be reached; `targets` are where it is.
    pub(super) fn chosen_chains(&self, targets: &[u32]) -> Chains {
        let place = self.definition.place;
        let owner = match self.definition.extent {
            Extent::Below(owner) if owner != place.function => Some(owner),
            Extent::Activation | Extent::Below(_) => return Chains::All,
            Extent::Program => None,
        };
        if self.region.is_large() {
            return Chains::All;
        }
        let staying = self.region.stays(self.dominance, targets);
        let all_do = targets.is_empty() || staying[START as usize];
        let ancestors = self.dominance.ancestors(owner, [place.function]);
        if all_do {
            let Some(owner) = owner else { return Chains::All };
            return Chains::Some(self.chain(owner, targets, &ancestors, &ancestors));
        }
        let meeting = self.meeting(&ancestors, &staying);
        let Some(owner) = owner.or_else(|| self.last_over(&meeting)) else { return Chains::Some(None) };
        let whole = self.dominance.ancestors(Some(owner), meeting);
        let ancestors = self.dominance.ancestors(Some(owner), [place.function]);
        Chains::Some(self.chain(owner, targets, &ancestors, &whole))
    }

    /// What every path to the definition passes that enters the owner and whose calls go on to the use, by the functions that
    /// a call chain may consist of from there and those of them that need not return for that.
    fn chain(
        &self,
        owner: FunctionId,
        targets: &[u32],
        ancestors: &BTreeSet<FunctionId>,
        whole: &BTreeSet<FunctionId>,
    ) -> Option<Vec<NodeId>> {
        let dominance = self.dominance;
        let leading = self.region.leads_to(targets, |_| true);
        let keeps = |call: NodeId, callee: FunctionId| {
            ancestors.contains(&callee) && (whole.contains(&callee) || self.goes_on(call, callee, &leading))
        };
        let folded = Folded::new(dominance, owner, ancestors.iter().copied(), keeps);
        let chain = folded.chain(dominance.graph.at(self.definition.place))?;
        let mut before = dominance.rooted().chain(dominance.graph.entry(owner)?)?;
        // where the chain begins
        before.pop();
        before.extend(chain);
        Some(before)
    }

    /// The functions to which one of the ancestors returns, and that are not left on a way on to the use.
    fn meeting(&self, ancestors: &BTreeSet<FunctionId>, staying: &[bool]) -> BTreeSet<FunctionId> {
        let returns =
            |node: NodeId| self.dominance.is_return_of(node, |function| ancestors.contains(&function));
        self.region.returned_to(self.dominance, returns, staying)
    }

    /// A function that every path has entered before the definition and in which all of these are entered, if possible the
    /// last; `None` when no path leads to the definition.
    fn last_over(&self, meeting: &BTreeSet<FunctionId>) -> Option<FunctionId> {
        let dominance = self.dominance;
        if meeting.len() == 1 {
            return meeting.first().copied();
        }
        let chain = dominance.rooted().chain(dominance.graph.at(self.definition.place))?;
        let starts = |node: &NodeId| {
            let function = dominance.graph.node(*node).function;
            (dominance.graph.entry(function) == Some(*node)).then_some(function)
        };
        let is_over =
            |function: &FunctionId| meeting.iter().all(|below| dominance.is_below(Some(*function), *below));
        chain.iter().rev().filter_map(starts).find(is_over)
    }

    /// Whether the callee may return with the definition made to behind the call, and that is one of the vertices marked.
    fn goes_on(&self, call: NodeId, callee: FunctionId, vertices: &[bool]) -> bool {
        let Exit::Call { then: Some(then), .. } = self.dominance.graph.node(call).exit else { return false };
        self.region.up(then).is_some_and(|vertex| {
            let returns = |node: NodeId| self.dominance.is_return_of(node, |function| function == callee);
            vertices[vertex as usize] && self.region.is_returned_to(vertex, returns)
        })
    }
}

impl Dominance<'_> {
    /// The calls that may enter a function.
    fn calls_of(&self, function: FunctionId) -> impl Iterator<Item = NodeId> {
        let by_address = self.indirect.iter().filter(move |_| self.is_taken[function.index()]);
        self.callers[function.index()].iter().chain(by_address).copied()
    }

    /// Whether one of these functions returns at the node.
    fn is_return_of(&self, node: NodeId, is_one: impl Fn(FunctionId) -> bool) -> bool {
        let code = self.graph.node(node);
        matches!(code.exit, Exit::Return) && is_one(code.function)
    }

    /// The functions that call code that is not known.
    pub(super) fn calls_outside(&self) -> impl Iterator<Item = FunctionId> {
        let is_unknown = |node: &&NodeId| {
            let exit = &self.graph.node(**node).exit;
            matches!(exit, Exit::Call { callees: Callees::Unknown, .. }) && self.rooted().is_reached(**node)
        };
        self.indirect.iter().filter(is_unknown).map(|node| self.graph.node(*node).function)
    }

    /// These functions and all from which they may be called, as far as they are entered from the owner.
    fn ancestors(
        &self,
        owner: Option<FunctionId>,
        functions: impl IntoIterator<Item = FunctionId>,
    ) -> BTreeSet<FunctionId> {
        let mut ancestors = BTreeSet::new();
        let mut open: Vec<FunctionId> = functions.into_iter().collect();
        while let Some(function) = open.pop() {
            if self.is_below(owner, function) && ancestors.insert(function) {
                open.extend(self.calls_of(function).map(|call| self.graph.node(call).function));
            }
        }
        ancestors
    }
}
