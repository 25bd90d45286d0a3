//! In which order does a campaign do what?
//!
//! First it executes what an earlier one found, then it searches; whenever the search is over for now, the adviser is asked, whose
//! inputs are executed before the search goes on. The adviser is asked on the thread that called, while nothing is in flight.

use tracing::info;

use super::worker_pool::WorkerPool;
use super::{Advice, Adviser, Asked, BudgetKind, Campaign, Pause, Phase, StopReason};

/// Lets workers resume and search until the end, with the adviser in between.
pub(super) fn conduct<'a>(
    mut campaign: Box<Campaign<'a>>,
    workers: &mut WorkerPool<'_, 'a>,
    mut adviser: Option<&mut dyn Adviser>,
) -> (Box<Campaign<'a>>, StopReason) {
    campaign = campaign.work_off(Phase::Resume, workers);
    campaign.state.result.n_recorded = campaign.state.result.executions;
    campaign.state.start_budget();
    let stop = loop {
        campaign = campaign.work_off(Phase::Search, workers);
        match campaign.pause.take().expect("a search says why it is over") {
            Pause::End(stop) => break stop,
            Pause::Advice { otherwise } => {
                campaign = campaign.work_off(Phase::Drain, workers);
                let adviser = adviser.as_deref_mut().filter(|_| campaign.has_advice());
                match (adviser, otherwise) {
                    (Some(adviser), _) => campaign = campaign.ask(adviser, workers),
                    (None, Some(stop)) => break stop,
                    (None, None) => {}
                }
            }
        }
    };
    match stop {
        // what is in flight at that moment is dropped: with one worker it would not have been started
        StopReason::Complete | StopReason::Exhausted | StopReason::Budget(BudgetKind::Executions) => {}
        // work that was done is kept, although another session would have done something else
        StopReason::Budget(BudgetKind::Time) | StopReason::Interrupted | StopReason::Failed(_) => {
            campaign = campaign.work_off(Phase::Drain, workers);
        }
    }
    (campaign, stop)
}

impl<'a> Campaign<'a> {
    fn work_off(mut self: Box<Self>, phase: Phase, workers: &mut WorkerPool<'_, 'a>) -> Box<Self> {
        self.phase = phase;
        workers.work_off(self)
    }

    /// Lets the adviser look at what is open and runs its inputs. Nothing is in flight.
    fn ask(mut self: Box<Self>, adviser: &mut dyn Adviser, workers: &mut WorkerPool<'_, 'a>) -> Box<Self> {
        let coverage = self.state.coverage();
        self.observer.asked(&self.state.progress());
        let (n_before, effort) = (coverage.n_covered() + coverage.n_infeasible(), self.turns.effort());
        let advice = adviser.advise(&Asked { coverage, tests: self.state.suite.tests(), effort });
        let Advice { infeasible, refuted, inputs, gave_up, effort, is_final, is_under_way, is_broken } =
            advice;
        info!(n_infeasible = infeasible.len(), n_inputs = inputs.len(), effort, is_final, "adviser asked");
        for (goal, why) in gave_up {
            self.state.suite.give_up(goal, why);
        }
        for (goal, evidence) in infeasible {
            match self.state.suite.decide(goal, evidence) {
                Ok(()) => self.observer.decided(goal, self.state.coverage(), &self.state.progress()),
                Err(contradiction) => {
                    self.state.failure.get_or_insert(contradiction.into());
                }
            }
        }
        if is_broken {
            self.state.is_broken = true;
        }
        self.state.pool.refute(refuted);
        self.state.refresh();
        self.sources.advised.take_up(inputs);
        let (turns, n_covered) = (self.turns.clone(), self.state.coverage().n_covered());
        let n_run = self.state.result.executions;
        let mut campaign = self.work_off(Phase::Advised, workers);
        campaign.state.result.n_advised += campaign.state.result.executions - n_run;
        // what its inputs cover is the adviser's, not the search's
        campaign.turns = turns;
        let coverage = campaign.state.coverage();
        let n_decided = coverage.n_covered() + coverage.n_infeasible() - n_before;
        let is_final = is_final && coverage.n_covered() == n_covered;
        campaign.turns.advised(n_decided, effort, is_final, is_under_way);
        campaign
    }
}
