//! Which pair does the search aim at?
//!
//! Method: the ways to cover open goals of data flow stand in a queue, in the order of the goals and, where a goal has several
//! pairs, of these. The first is aimed at until it is covered, no candidate can cover it, or its time is spent; what was
//! not covered goes to the end of the queue, and has twice the time when the queue comes round. When a whole round finds no
//! candidate to try, the search goes on without a pair for some picks: for goals of other criteria, and because what it
//! runs into may help.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use analysis::cut_points::Dominance;
use analysis::dataflow::DataFlow;
use coverage::{Coverage, GoalId};

use crate::target::{Guidance, Target, Way};

/// Picks without a pair after a round in vain.
const REST: u32 = 16;

/// How a search for one pair goes on.
pub(super) struct Aim<'a> {
    guidance: Guidance,
    prunes: bool,
    flow: Arc<DataFlow>,
    dominance: &'a Dominance<'a>,
    /// With the round that each is in.
    queue: VecDeque<(u32, Way)>,
    /// What is aimed at, with its round.
    present: Option<(u32, Target)>,
    /// When the present pair's turn began, and executions then.
    since: (Duration, u64),
    /// Ways that were given up since a candidate was picked.
    n_in_vain: usize,
    /// Picks to be made without a pair.
    rest: u32,
    searches: BTreeMap<GoalId, Search>,
}

/// What was spent while a goal was aimed at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Search {
    pub seconds: f64,
    pub executions: u64,
}

impl<'a> Aim<'a> {
    pub(super) fn new(
        guidance: Guidance,
        prunes: bool,
        coverage: &Coverage,
        dominance: &'a Dominance<'a>,
    ) -> Option<Self> {
        let flow = Arc::clone(coverage.data_flow()?);
        let queue = coverage.goals().flat_map(|(goal, asked, _)| {
            asked.demand.pairs(&flow).into_iter().map(move |pair| (0, Way { goal, pair }))
        });
        let (queue, searches) = (queue.collect(), BTreeMap::new());
        let (present, since) = (None, (Duration::ZERO, 0));
        Some(Self {
            guidance,
            prunes,
            flow,
            dominance,
            queue,
            present,
            since,
            n_in_vain: 0,
            rest: 0,
            searches,
        })
    }

    /// What is aimed at.
    pub(super) fn target(&self) -> Option<&Target> {
        self.present.as_ref().map(|(_, target)| target)
    }

    pub(super) fn target_mut(&mut self) -> Option<&mut Target> {
        self.present.as_mut().map(|(_, target)| target)
    }

    pub(super) fn flow(&self) -> &Arc<DataFlow> {
        &self.flow
    }

    /// Whether it is time for another pair: the present one is covered, or its turn is over.
    pub(super) fn is_over(&mut self, coverage: &Coverage, now: Duration, per_goal: Duration) -> bool {
        match &self.present {
            Some((round, target)) => {
                let limit = per_goal.saturating_mul(1 << (*round).min(16));
                !coverage.is_open(target.goal) || now.saturating_sub(self.since.0) >= limit
            }
            None => {
                let is_rested = self.rest == 0;
                self.rest = self.rest.saturating_sub(1);
                is_rested
            }
        }
    }

    /// Notes that a candidate was picked for the present pair.
    pub(super) fn picked(&mut self) {
        self.n_in_vain = 0;
    }

    /// Ends the turn of the present pair, and says what was spent on it.
    pub(super) fn finish(&mut self, coverage: &Coverage, now: Duration, executions: u64) {
        let Some((round, target)) = self.present.take() else { return };
        let search = self.searches.entry(target.goal).or_default();
        search.seconds += now.saturating_sub(self.since.0).as_secs_f64();
        search.executions += executions - self.since.1;
        if coverage.is_open(target.goal) {
            self.queue.push_back((round + 1, Way { goal: target.goal, pair: target.pair }));
        }
        self.n_in_vain += 1;
    }

    /// Aims at the next way to cover something open; false when there is none, or all were given up in turn.
    pub(super) fn next(&mut self, coverage: &Coverage, now: Duration, executions: u64) -> bool {
        while self.n_in_vain <= self.queue.len() {
            let Some((round, way)) = self.queue.pop_front() else { break };
            if !coverage.is_open(way.goal) {
                continue;
            }
            // one that no path of the graph covers is never aimed at again
            if let Some(target) = Target::new(way, &self.flow, self.dominance, self.guidance, self.prunes) {
                self.present = Some((round, target));
                self.since = (now, executions);
                return true;
            }
        }
        (self.n_in_vain, self.rest) = (0, REST);
        false
    }

    /// What was spent on each goal that was aimed at.
    pub(super) fn searches(self) -> BTreeMap<GoalId, Search> {
        self.searches
    }
}
