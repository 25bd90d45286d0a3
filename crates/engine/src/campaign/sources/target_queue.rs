//! Which def-use pair is the search's target?
//!
//! Method: the pairs by which open goals of data flow can be covered stand in a queue, in the order of the goals and, where a
//! goal has several pairs, of these. The first is the target until it is covered, no candidate can cover it, or its time is
//! spent; what was not covered goes to the end of the queue, and has twice the time when the queue comes round. When a whole
//! round finds no candidate to try, the search continues without a target for some picks: for goals of other criteria, and
//! because what it runs into may help.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use analysis::cut_points::Dominance;
use analysis::dataflow::DataFlow;
use coverage::{Coverage, GoalId};

use crate::campaign::CampaignOptions;
use crate::target::{Guidance, Target, TargetPair};

/// Picks without a target after a round without candidates.
const REST: u32 = 16;

/// The pairs that the search is guided to, one at a time.
pub(in crate::campaign) struct TargetQueue<'a> {
    guidance: Guidance,
    prunes: bool,
    /// Time for a target when its turn comes first.
    per_goal: Duration,
    flow: Arc<DataFlow>,
    dominance: &'a Dominance<'a>,
    /// With the round that each is in.
    queue: VecDeque<(u32, TargetPair)>,
    /// The target, with its round.
    present: Option<(u32, Target)>,
    /// When the target's turn began, and executions then.
    since: (Duration, u64),
    /// OpenBranches that were given up since a candidate was picked.
    n_given_up: usize,
    /// Picks to be made without a target.
    rest: u32,
    searches: BTreeMap<GoalId, Search>,
}

/// What was spent while a goal was the target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Search {
    pub seconds: f64,
    pub executions: u64,
}

impl<'a> TargetQueue<'a> {
    pub(in crate::campaign) fn new(
        guidance: Guidance,
        options: &CampaignOptions,
        coverage: &Coverage,
        dominance: &'a Dominance<'a>,
    ) -> Option<Self> {
        let flow = Arc::clone(coverage.data_flow()?);
        let open = coverage.goals().filter(|(goal, ..)| coverage.is_open(*goal));
        let queue = open.flat_map(|(goal, asked, _)| {
            asked.demand.pairs(&flow).into_iter().map(move |pair| (0, TargetPair { goal, pair }))
        });
        let (queue, searches) = (queue.collect(), BTreeMap::new());
        let (present, since) = (None, (Duration::ZERO, 0));
        let (prunes, per_goal) = (options.prune_redefinitions, options.per_goal);
        Some(Self {
            guidance,
            prunes,
            per_goal,
            flow,
            dominance,
            queue,
            present,
            since,
            n_given_up: 0,
            rest: 0,
            searches,
        })
    }

    pub(super) fn target(&self) -> Option<&Target> {
        self.present.as_ref().map(|(_, target)| target)
    }

    pub(super) fn target_mut(&mut self) -> Option<&mut Target> {
        self.present.as_mut().map(|(_, target)| target)
    }

    pub(super) fn flow(&self) -> &Arc<DataFlow> {
        &self.flow
    }

    /// Whether it is time for another target: the present one is covered, or its turn is over.
    pub(super) fn is_over(&mut self, coverage: &Coverage, now: Duration) -> bool {
        match &self.present {
            Some((round, target)) => {
                let limit = self.per_goal.saturating_mul(1 << (*round).min(16));
                !coverage.is_open(target.goal) || now.saturating_sub(self.since.0) >= limit
            }
            None => {
                let is_rested = self.rest == 0;
                self.rest = self.rest.saturating_sub(1);
                is_rested
            }
        }
    }

    /// Notes that a candidate was picked for the target.
    pub(super) fn picked(&mut self) {
        self.n_given_up = 0;
    }

    /// Ends the target's turn, and notes what was spent on it.
    pub(super) fn finish(&mut self, coverage: &Coverage, now: Duration, executions: u64) {
        let Some((round, target)) = self.present.take() else { return };
        let search = self.searches.entry(target.goal).or_default();
        search.seconds += now.saturating_sub(self.since.0).as_secs_f64();
        search.executions += executions - self.since.1;
        if coverage.is_open(target.goal) {
            self.queue.push_back((round + 1, TargetPair { goal: target.goal, pair: target.pair }));
        }
        self.n_given_up += 1;
    }

    /// Takes the next pair that covers something open as target; false when there is none, or all were given up in turn.
    pub(super) fn next(&mut self, coverage: &Coverage, now: Duration, executions: u64) -> bool {
        while self.n_given_up <= self.queue.len() {
            let Some((round, pair)) = self.queue.pop_front() else { break };
            if !coverage.is_open(pair.goal) {
                continue;
            }
            // one that no path of the graph covers never becomes the target again
            if let Some(target) = Target::new(pair, &self.flow, self.dominance, self.guidance, self.prunes) {
                self.present = Some((round, target));
                self.since = (now, executions);
                return true;
            }
        }
        (self.n_given_up, self.rest) = (0, REST);
        false
    }

    /// What was spent on each goal that was the target.
    pub(super) fn searches(self) -> BTreeMap<GoalId, Search> {
        self.searches
    }
}
