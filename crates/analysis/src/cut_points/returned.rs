//! Cut points of a value that a function returns: what every path passes to the call, in the callee up to the `return`, and
//! from there back.

use super::kills::Kills;
use super::{CutPoints, Dominance, Unfolded};
use crate::Place;
use crate::dominators::Dominators;
use crate::icfg::NodeId;

impl Dominance<'_> {
    /// The cut points of a value that is put together at a place of a function and taken by a call of it; `None` when no path
    /// covers the pair.
    pub fn returned(&self, defined: Place, used: Place) -> Option<CutPoints> {
        let defining = self.graph.at(defined);
        let calls = self.nodes(&self.from_root.chain(self.graph.at(used).0)?);
        let (base, exit, graph) = self.graph_of(defined.function, &Kills::none());
        let node = |vertex: &u32| NodeId(base + vertex);
        let until = Dominators::of(&graph, 0).chain(defining.0 - base)?;
        let back = Dominators::of(&graph, defining.0 - base).chain(exit)?;
        let until: Vec<NodeId> = until[..until.len() - 1].iter().map(node).collect();
        let back: Vec<NodeId> = back[1..back.len() - 1].iter().map(node).collect();
        let mut places = self.places(&calls);
        places.extend(self.places(&until));
        let definition = places.len();
        places.push(defined);
        places.extend(self.places(&back));
        places.push(used);
        Some(CutPoints { places, definition })
    }

    /// Where the nodes of a chain begin, calls that come back unfolded.
    fn places(&self, chain: &[NodeId]) -> Vec<Place> {
        let mut unfolded = Unfolded::default();
        self.unfold(chain, &Kills::none(), &mut unfolded);
        unfolded.nodes.iter().map(|node| self.graph.node(*node).place()).collect()
    }
}
