//! Which candidate does the strategy pick?
//!
//! The strategy hears of every candidate that turns at a step, and picks. One that is guided to def-use pairs has a target
//! at a time: when the present pair is covered, has had its time, or has no candidate left, the next of the
//! [`TargetQueue`] takes its place, and the paths of runs with open candidates are walked again for it.

use std::collections::BTreeMap;

use coverage::GoalId;
use model::Program;

use super::chaser::{Allowance, Chaser};
use super::target_queue::{Search, TargetQueue};
use crate::campaign::source::{Answer, CampaignView, News, Occasion, Origin, Proposal, Source};
use crate::chaining::Chases;
use crate::pool::{CandidateId, RunId, Turn};
use crate::rng::Rng;
use crate::strategy::{Helped, Strategy, View};

/// Paths that are walked again for a new target, at most.
const MAX_WALKED: usize = 256;

/// What event sequences may take where they are the strategy, and where they are a part of it: most searches are over before they have a
/// turn, and what they take without covering anything is a small part of the rest.
const AS_STRATEGY: Allowance = Allowance { free: 1 << 15, percent: 6400 };
const AS_PART: Allowance = Allowance { free: 1 << 9, percent: 10 };
/// Picks after event sequences called everything that runs reach saturated, without anything new: another path may show more.
const MOST_BEYOND: u32 = 32;

/// A strategy with its targets.
pub(in crate::campaign) struct StrategySource<'a> {
    strategy: Box<dyn Strategy + Send>,
    targets: Option<TargetQueue<'a>>,
    /// Where the strategy chains.
    chaser: Option<Chaser<'a>>,
    /// Picks since it called everything saturated, at this version of the structure.
    saturated: Option<(u64, u32)>,
}

impl<'a> StrategySource<'a> {
    pub(in crate::campaign) fn new(
        strategy: Box<dyn Strategy + Send>,
        targets: Option<TargetQueue<'a>>,
        program: &'a Program,
    ) -> Self {
        let allowance = if strategy.ends_when_saturated() { AS_STRATEGY } else { AS_PART };
        let chaser = strategy.chains().of(program).then(|| Chaser::new(program, allowance));
        Self { strategy, targets, chaser, saturated: None }
    }

    pub(super) fn uses_candidates(&self) -> bool {
        self.strategy.uses_candidates()
    }

    /// What came of the directions that event sequences were followed for.
    pub(in crate::campaign) fn chased(&self) -> Chases {
        self.chaser.as_ref().map(Chaser::ended).unwrap_or_default()
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
        let is_busy = self.chaser.as_ref().is_some_and(Chaser::is_busy);
        if is_busy || self.strategy.gives_way(&strategy_view) {
            if let Some(answer) = chase(&mut self.chaser, view) {
                return answer;
            }
            let is_saturated = || self.chaser.as_ref().is_some_and(|chaser| chaser.is_saturated(view));
            if self.strategy.ends_when_saturated() && is_saturated() {
                let version = view.structure.version();
                let since = self.saturated.filter(|(known, _)| *known == version).map_or(0, |(_, n)| n);
                self.saturated = Some((version, since + 1));
                if since >= MOST_BEYOND {
                    return Answer::Pass;
                }
            }
        }
        match self.strategy.next(&strategy_view, rng) {
            // another source was there before
            Some(candidate) if !view.pool.is_open(candidate) => {
                self.strategy.refused(candidate);
                Answer::AskAgain
            }
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
            None => chase(&mut self.chaser, view).unwrap_or(Answer::Pass),
        }
    }

    fn heard(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        if let Some(chaser) = &mut self.chaser {
            chaser.heard(news, view);
        }
        match news {
            News::Worked { origin, solver_effort, .. } => {
                if let Some(candidate) = origin.candidate() {
                    self.strategy.cost(candidate, *solver_effort);
                }
            }
            News::Collected { run, candidates } => self.collect(*run, candidates, view),
            News::Ran(ran) if ran.origin == Origin::Change => {
                // what came of this one is known when its path has been read
                let came_nearer = self.chaser.as_mut().is_some_and(Chaser::came_nearer);
                self.strategy.gave_way(match (ran.covers_new, came_nearer) {
                    (true, _) => Helped::Covered,
                    (false, true) => Helped::CameNearer,
                    (false, false) => Helped::No,
                });
            }
            News::Tried { .. } | News::Unsolved { .. } | News::Ran(_) | News::Read { .. } => {}
        }
    }
}

/// What the chaser proposes, unless it has nothing.
fn chase(chaser: &mut Option<Chaser<'_>>, view: &CampaignView<'_>) -> Option<Answer> {
    match chaser.as_mut()?.propose(view) {
        Answer::Pass => None,
        answer @ (Answer::Propose(_) | Answer::AskAgain | Answer::Wait) => Some(answer),
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
