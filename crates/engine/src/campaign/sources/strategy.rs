//! Which candidate does the strategy pick?
//!
//! The strategy hears of every candidate that turns at a step, and picks. One that is guided to def-use pairs has a target
//! at a time: when the present pair is covered, has had its time, or has no candidate left, the next of the
//! [`TargetQueue`] takes its place, and the paths of runs with open candidates are walked again for it.

use std::collections::BTreeMap;

use coverage::GoalId;

use super::target_queue::{Search, TargetQueue};
use crate::campaign::source::{Answer, CampaignView, News, Occasion, Proposal, Source};
use crate::pool::{CandidateId, RunId, Turn};
use crate::rng::Rng;
use crate::strategy::{Strategy, View};

/// Paths that are walked again for a new target, at most.
const MAX_WALKED: usize = 256;

/// A strategy with its targets.
pub(in crate::campaign) struct StrategySource<'a> {
    strategy: Box<dyn Strategy + Send>,
    targets: Option<TargetQueue<'a>>,
}

impl<'a> StrategySource<'a> {
    pub(in crate::campaign) fn new(
        strategy: Box<dyn Strategy + Send>,
        targets: Option<TargetQueue<'a>>,
    ) -> Self {
        Self { strategy, targets }
    }

    pub(super) fn uses_candidates(&self) -> bool {
        self.strategy.uses_candidates()
    }

    /// What was spent on each pair that was a target.
    pub(in crate::campaign) fn into_searches(self, view: &CampaignView<'_>) -> BTreeMap<GoalId, Search> {
        let Some(mut targets) = self.targets else { return BTreeMap::new() };
        targets.finish(view.coverage, view.clock.elapsed(), view.executions);
        targets.searches()
    }

    /// Takes another target when the present one is covered or has had its time.
    fn keep_target(&mut self, view: &CampaignView<'_>) {
        let Some(targets) = &mut self.targets else { return };
        if targets.is_over(view.coverage, view.clock.elapsed()) {
            self.take_next_target(view);
        }
    }

    fn take_next_target(&mut self, view: &CampaignView<'_>) {
        let Some(targets) = &mut self.targets else { return };
        let now = view.clock.elapsed();
        targets.finish(view.coverage, now, view.executions);
        if targets.next(view.coverage, now, view.executions) {
            view.pool.open_runs().take(MAX_WALKED).for_each(|run| self.measure_progress(run, view));
        }
        let strategy_view = strategy_view(self.targets.as_ref(), view);
        self.strategy.aim(&strategy_view);
    }

    /// Finds out how much of the present target's cut points a run passed.
    fn measure_progress(&mut self, run: RunId, view: &CampaignView<'_>) {
        let Some(targets) = &mut self.targets else { return };
        let (Some(path), Some(target)) = (&view.pool.run(run).path, targets.target()) else { return };
        let mut follower = target.follower(view.program, targets.flow());
        // a path that was understood before is so again
        if view.tracer.follow_path(path, &mut follower).is_ok() {
            let progress = follower.finish();
            targets.target_mut().expect("there is a target").add(run, progress);
        }
    }

    fn collect(&mut self, run: RunId, candidates: &[CandidateId], view: &CampaignView<'_>) {
        self.measure_progress(run, view);
        let strategy_view = strategy_view(self.targets.as_ref(), view);
        for id in candidates {
            match view.pool.candidate(*id).turn {
                Turn::Step { .. } => self.strategy.add(*id, &strategy_view),
                Turn::Pin { .. } | Turn::Bounds { .. } => {}
            }
        }
        self.strategy.ran(run, &strategy_view);
    }
}

impl Source for StrategySource<'_> {
    fn propose(&mut self, _: Occasion, view: &CampaignView<'_>, rng: &mut Rng) -> Answer {
        self.keep_target(view);
        let strategy_view = strategy_view(self.targets.as_ref(), view);
        match self.strategy.next(&strategy_view, rng) {
            Some(candidate) => {
                self.targets.as_mut().map(TargetQueue::picked);
                if !view.admits(candidate) {
                    self.strategy.refused(candidate);
                }
                Answer::Propose(Proposal::Flip(candidate))
            }
            None if strategy_view.target.is_some() => {
                self.take_next_target(view);
                Answer::AskAgain
            }
            None => Answer::Pass,
        }
    }

    fn heard(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        match news {
            News::Worked { origin, solver_effort, .. } => {
                if let Some(candidate) = origin.candidate() {
                    self.strategy.cost(candidate, *solver_effort);
                }
            }
            News::Collected { run, candidates } => self.collect(*run, candidates, view),
            News::Tried { .. } | News::Unsolved { .. } | News::Ran(_) => {}
        }
    }
}

/// The campaign as a strategy sees it.
fn strategy_view<'v>(targets: Option<&'v TargetQueue<'_>>, view: &CampaignView<'v>) -> View<'v> {
    View {
        program: view.program,
        coverage: view.coverage,
        structure: view.structure,
        pool: view.pool,
        target: targets.and_then(TargetQueue::target),
    }
}
