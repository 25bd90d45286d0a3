//! Why does a campaign end?

use coverage::Contradiction;

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

/// A [`StopReason`] as records keep it: without the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopWord {
    Complete,
    Exhausted,
    /// The time of the budget is spent.
    Budget,
    /// The executions of the budget are spent.
    Executions,
    Interrupted,
    Failed,
}

impl StopReason {
    /// What a record keeps of it.
    pub fn word(&self) -> StopWord {
        match self {
            Self::Complete => StopWord::Complete,
            Self::Exhausted => StopWord::Exhausted,
            Self::Budget(BudgetKind::Time) => StopWord::Budget,
            Self::Budget(BudgetKind::Executions) => StopWord::Executions,
            Self::Interrupted => StopWord::Interrupted,
            Self::Failed(_) => StopWord::Failed,
        }
    }
}

impl StopWord {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Complete, Self::Exhausted, Self::Budget, Self::Executions, Self::Interrupted, Self::Failed];

    /// The word itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Exhausted => "exhausted",
            Self::Budget => "budget",
            Self::Executions => "executions",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }

    /// What a word of a record stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stop| stop.as_str() == word)
    }

    /// Whether there was nothing left to do.
    pub fn is_final(self) -> bool {
        match self {
            Self::Complete | Self::Exhausted => true,
            Self::Budget | Self::Executions | Self::Interrupted | Self::Failed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_for_one_reason() {
        for stop in StopWord::ALL {
            assert_eq!(StopWord::parse(stop.as_str()), Some(stop));
        }
        assert_eq!(StopWord::parse("time"), None);
    }
}
