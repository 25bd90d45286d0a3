//! Which runs in a process that is reused are to be seen once more in a process of their own?
//!
//! All that may be kept: what covers something that no orderly run of this worker covered, every end that is not in order,
//! every run that left its predicted path or ran out of memory. The campaign keeps less, as it knows the runs of all workers.
//! For a self-check, all. If the two traces differ, the one of the process of its own counts, and processes are reused no more.

use coverage::{Coverage, TestId};

use crate::executor::Execution;
use crate::trace::{Trace, TraceError};

pub(super) struct Confirming {
    /// What orderly runs covered.
    seen: Coverage,
    /// Whether every run is needed.
    all: bool,
    n_unlike: u64,
}

impl Confirming {
    pub(super) fn new(goals: &Coverage, all: bool) -> Self {
        Self { seen: goals.clone(), all, n_unlike: 0 }
    }

    /// Asked once about each run in a process that is reused.
    pub(super) fn is_needed(&mut self, execution: &Execution<'_>, trace: &Result<Trace, TraceError>) -> bool {
        let Ok(trace) = trace else { return true };
        if self.all {
            return true;
        }
        if !execution.end.is_orderly() || !trace.as_expected || execution.marks.out_of_memory {
            return true;
        }
        if execution.marks.rejected {
            return false;
        }
        let covered = self.seen.cover(TestId(1), &trace.observations);
        !covered.goals.is_empty() || covered.is_promising
    }

    pub(super) fn note_unlike(&mut self) {
        self.n_unlike += 1;
    }

    pub(super) fn take_unlike(&mut self) -> u64 {
        std::mem::take(&mut self.n_unlike)
    }
}
