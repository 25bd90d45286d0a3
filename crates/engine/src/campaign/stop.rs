//! Why does a campaign end?

use coverage::{Contradiction, SearchEnd};

use crate::executor::ExecutorError;

/// Why a campaign ended.
#[derive(Debug, Default)]
pub enum StopReason {
    /// Every goal is covered or infeasible, or the one that is enough is.
    Complete,
    /// Nothing is left to try.
    #[default]
    Exhausted,
    /// The budget is spent.
    Budget(BudgetKind),
    /// The user or the caller interrupted it.
    Interrupted,
    /// The program cannot be run any more.
    Failed(CampaignError),
}

impl StopReason {
    /// Whether there was more to try.
    pub fn search_end(&self) -> SearchEnd {
        match self {
            Self::Exhausted => SearchEnd::Exhausted,
            Self::Complete | Self::Budget(_) | Self::Interrupted | Self::Failed(_) => SearchEnd::CutShort,
        }
    }
}

/// Which bound was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetKind {
    Time,
    Executions,
}

/// Why a campaign cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    #[error("cannot execute the program under test")]
    Executor(#[from] ExecutorError),
    #[error("a proof is wrong, or what a run covers is")]
    Contradiction(#[from] Contradiction),
}
