//! Which runs came to a block? Of each block the first run and the last few are kept, to be followed from there.

use coverage::Marking;
use coverage::observe::Observations;
use model::{BlockId, FunctionId};

use crate::pool::RunId;

/// Runs that came to a block.
#[derive(Clone, Copy, Default)]
struct Came {
    first: Option<RunId>,
    last: [Option<RunId>; 2],
}

/// By block: runs that came there.
#[derive(Default)]
pub(super) struct Reaching {
    came: Vec<Came>,
}

impl Reaching {
    /// Takes in what a run observed.
    pub(super) fn note(&mut self, run: RunId, observations: &Observations) {
        let begun = observations.begun();
        self.came.resize(begun.len(), Came::default());
        for (came, _) in self.came.iter_mut().zip(begun).filter(|(_, begun)| **begun > 0) {
            came.first.get_or_insert(run);
            came.last = [Some(run), came.last[0]];
        }
    }

    /// Runs that came to a block, the newest first.
    pub(super) fn runs(
        &self,
        marking: &Marking<'_>,
        function: FunctionId,
        block: BlockId,
    ) -> impl Iterator<Item = RunId> + use<> {
        let came = self.came.get(marking.block(function, block)).copied().unwrap_or_default();
        let first = came.first.filter(|first| !came.last.contains(&Some(*first)));
        came.last.into_iter().flatten().chain(first)
    }
}
