//! How near is a run to a target?
//!
//! Method: the approach level, the number of branches that a run is away from the target, and below one level how far it was there from
//! the wanted direction, as branch distance: less is nearer. Limit: only conditions that depend on tracked input have a
//! distance; anything else counts as half a level.

use std::collections::BTreeMap;

use analysis::approach::Approach;
use analysis::icfg::NodeId;
use coverage::observe::Observations;

use super::Direction;
use crate::branch_distance::NearestStep;
use crate::campaign::source::CampaignView;

/// The nodes of the graph that a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached(Vec<u64>);

impl Reached {
    pub(super) fn of(observations: &Observations, view: &CampaignView<'_>) -> Self {
        let (graph, marking) = (view.structure.icfg(), view.tracer.marking());
        let mut words = vec![0; graph.nodes.len().div_ceil(64)];
        for id in graph.ids() {
            let node = graph.node(id);
            let begun = observations.begun().get(marking.block(node.function, node.block));
            if begun.is_some_and(|n| *n > node.first) {
                words[id.index() / 64] |= 1 << (id.index() % 64);
            }
        }
        Self(words)
    }

    fn has(&self, node: NodeId) -> bool {
        self.0.get(node.index() / 64).is_some_and(|word| word >> (node.index() % 64) & 1 == 1)
    }

    /// The level that a run came to, with the nodes where it went wrong; `None` when it came to none.
    pub(super) fn level(&self, approach: &Approach) -> Option<(u32, Vec<NodeId>)> {
        let reached = || approach.stages.iter().filter(|(node, _)| self.has(**node));
        let level = reached().map(|(_, stage)| stage.level).min()?;
        Some((level, reached().filter(|(_, stage)| stage.level == level).map(|(node, _)| *node).collect()))
    }
}

/// How near a run is: less is nearer; `None` when it came nowhere near.
pub(super) fn fitness(
    approach: &Approach,
    reached: &Reached,
    distances: &BTreeMap<Direction, NearestStep>,
    view: &CampaignView<'_>,
) -> Option<f64> {
    /// Where no distance is known.
    const UNKNOWN: f64 = 0.5;
    let (level, nodes) = reached.level(approach)?;
    let graph = view.structure.icfg();
    let wanted = nodes.iter().flat_map(|node| &approach.stages[node].wanted);
    let directions = wanted.map(|id| &graph.directions[id.index()]);
    let distance = directions
        .filter_map(|direction| distances.get(&(direction.site, direction.choice)))
        .map(|nearest| normalised(nearest.distance))
        .fold(None, |least: Option<f64>, distance| Some(least.map_or(distance, |least| least.min(distance))));
    Some(f64::from(level) + distance.unwrap_or(UNKNOWN))
}

/// A distance between 0 and 1.
fn normalised(distance: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "what is that far is far")]
    let distance = distance as f64;
    distance / (distance + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_stay_below_a_level_and_keep_their_order() {
        let all = [0, 1, 2, 100, u64::MAX].map(normalised);
        assert!(all.is_sorted() && all[0] == 0.0 && all.iter().all(|distance| *distance <= 1.0), "{all:?}");
    }
}
