//! Cut points of a value that a function returns: what every path passes up to the call, in the callee up to the `return`,
//! and from there back.

use super::kills::Kills;
use super::{CutPoints, Dominance};
use crate::Place;
use crate::dominators::Dominators;
use crate::icfg::NodeId;

/// A value that is put together at a place of a function, which returns it.
pub struct Returned<'d, 'a> {
    dominance: &'d Dominance<'a>,
    defined: Place,
    /// What is passed in the function before and after; `None` when it does not return from there.
    around: Option<[Vec<NodeId>; 2]>,
}

impl<'a> Dominance<'a> {
    /// How a value that is put together at a place of a function gets to its calls.
    pub fn returned(&self, defined: Place) -> Returned<'_, 'a> {
        Returned { dominance: self, defined, around: self.around(defined) }
    }

    /// What every path through a function that passes this place passes before and after.
    fn around(&self, place: Place) -> Option<[Vec<NodeId>; 2]> {
        let (base, exit, graph) = self.graph_of(place.function, &Kills::none());
        let node = |vertex: &u32| NodeId(base + vertex);
        let at = self.graph.at(place).0 - base;
        let until = Dominators::of(&graph, 0).chain(at)?;
        let back = Dominators::of(&graph, at).chain(exit)?;
        let until: Vec<NodeId> = until[..until.len() - 1].iter().map(node).collect();
        let back: Vec<NodeId> = back[1..back.len() - 1].iter().map(node).collect();
        Some([until, back].map(|chain| self.unfolded(&chain)))
    }
}

impl Returned<'_, '_> {
    /// The cut points of the pair with the call at this place; `None` when no path covers it.
    pub fn cut_points(&self, used: Place) -> Option<CutPoints> {
        let graph = self.dominance.graph;
        let place = |node: &NodeId| graph.node(*node).place();
        let [until, back] = self.around.as_ref()?;
        let mut places: Vec<Place> = self.dominance.before(graph.at(used))?.iter().map(place).collect();
        places.extend(until.iter().map(place));
        let definition = places.len();
        places.push(self.defined);
        places.extend(back.iter().map(place));
        places.push(used);
        Some(CutPoints { places, definition })
    }
}
