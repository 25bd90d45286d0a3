//! The steps of the folded graph downstream of a definition.

use model::FunctionId;

use super::kills::Kills;
use super::{DefinedValue, Dominance, Extent};
use crate::icfg::{Callees, Exit, NodeId};

/// Which activation of a function it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// One that was open at the definition.
    Up,
    /// One that was entered since.
    Down,
}

/// A vertex of the folded graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RegionPoint {
    /// From behind the definition to the end of its node.
    Start,
    At(NodeId, Side),
    /// Code that is not known.
    Outside,
    /// Where a function returns that was called by its address, to whichever call that may have been.
    Back,
}

/// Where one step leads.
pub(super) struct Steps<'s, 'a> {
    pub(super) dominance: &'s Dominance<'a>,
    pub(super) definition: DefinedValue<'s>,
    pub(super) kills: &'s Kills,
    /// Whether paths may go into a function and not leave it again.
    pub(super) interests: &'s dyn Fn(FunctionId) -> bool,
}

impl Steps<'_, '_> {
    /// Adds where one step leads.
    pub(super) fn add_from(&self, point: RegionPoint, ahead: &mut Vec<RegionPoint>) {
        let graph = self.dominance.graph;
        match point {
            RegionPoint::Start => {
                let place = self.definition.place;
                self.leave(graph.at(place), Side::Up, place.at + 1, ahead);
            }
            RegionPoint::At(node, side) => self.leave(node, side, graph.node(node).first, ahead),
            RegionPoint::Outside => {
                let taken = graph.address_taken.iter().filter(|taken| (self.interests)(**taken));
                let entries = taken.filter_map(|taken| graph.entry(*taken));
                ahead.extend(entries.map(|entry| RegionPoint::At(entry, Side::Down)));
            }
            RegionPoint::Back => self.come_back(&self.dominance.indirect, ahead),
        }
    }

    /// Adds where control may go from this instruction of a node.
    fn leave(&self, node: NodeId, side: Side, from: u32, ahead: &mut Vec<RegionPoint>) {
        let dominance = self.dominance;
        let code = dominance.graph.node(node);
        let passes = self.kills.passes(dominance, node, from);
        let on = |to: NodeId| RegionPoint::At(to, side);
        match &code.exit {
            // the definition is the call, which has come back
            Exit::Call { then, .. } if from >= code.end => ahead.extend(then.map(on)),
            Exit::Call { callees, then } => {
                ahead.extend(then.filter(|_| passes).map(on));
                if self.kills.enters(dominance, node, from) {
                    ahead.extend(self.enter(*callees));
                    self.jump(*callees, then.is_some(), ahead);
                }
            }
            Exit::Return if passes && side == Side::Up => self.callers(code.function, ahead),
            Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) if passes => {
                ahead.extend(dominance.graph.successors(node).iter().copied().map(on));
            }
            Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) | Exit::Return | Exit::Dead => {}
        }
    }

    /// Into a callee.
    fn enter(&self, callees: Callees) -> Option<RegionPoint> {
        match (self.definition.extent, callees) {
            (Extent::Activation, _) => None,
            (Extent::Below(_) | Extent::Program, Callees::One(callee)) => {
                let entry = self.dominance.graph.entry(callee).filter(|_| (self.interests)(callee));
                entry.map(|entry| RegionPoint::At(entry, Side::Down))
            }
            (Extent::Below(_) | Extent::Program, Callees::Indirect | Callees::Unknown) => {
                Some(RegionPoint::Outside)
            }
        }
    }

    /// Adds where `setjmp` comes back to.
    fn jump(&self, callees: Callees, returns: bool, ahead: &mut Vec<RegionPoint>) {
        let (graph, may_jump) = (self.dominance.graph, &self.dominance.may_jump);
        let landings = self.dominance.landings(self.definition.extent);
        match self.definition.extent {
            Extent::Activation => {
                let jumps = match callees {
                    Callees::One(callee) => may_jump[callee.index()],
                    Callees::Indirect | Callees::Unknown => {
                        !returns || graph.address_taken.iter().any(|taken| may_jump[taken.index()])
                    }
                };
                let function = self.definition.place.function;
                let own = landings.filter(|node| jumps && graph.node(*node).function == function);
                ahead.extend(own.map(|node| RegionPoint::At(node, Side::Up)));
            }
            // what callees do is seen in them
            Extent::Below(_) | Extent::Program if returns => {}
            Extent::Below(_) | Extent::Program => {
                ahead.extend(
                    landings.flat_map(|node| [Side::Up, Side::Down].map(|side| RegionPoint::At(node, side))),
                );
            }
        }
    }

    /// Adds where a function that was called before the definition may return to.
    fn callers(&self, function: FunctionId, ahead: &mut Vec<RegionPoint>) {
        match self.definition.extent {
            Extent::Activation => return,
            Extent::Below(owner) if owner == function => return,
            Extent::Below(_) | Extent::Program => {}
        }
        self.come_back(&self.dominance.callers[function.index()], ahead);
        ahead.extend(self.dominance.is_taken[function.index()].then_some(RegionPoint::Back));
    }

    /// Adds what is behind these calls, if they may have been made before the definition.
    fn come_back(&self, calls: &[NodeId], ahead: &mut Vec<RegionPoint>) {
        let (dominance, owner) = (self.dominance, self.definition.extent.owner());
        for call in calls.iter().filter(|call| dominance.rooted().is_reached(**call)) {
            let code = dominance.graph.node(*call);
            if let Exit::Call { callees, then } = &code.exit
                && dominance.is_below(owner, code.function)
            {
                ahead.extend(then.map(|then| RegionPoint::At(then, Side::Up)));
                if *callees == Callees::Unknown {
                    ahead.push(RegionPoint::Outside);
                }
            }
        }
    }
}
