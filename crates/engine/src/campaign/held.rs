//! Which runs can still be asked about without executing them again?
//!
//! What a query needs of a run (its steps, its notes, its expressions as the runtime wrote them) is held while there is room,
//! so that picking a candidate of it costs no execution, whichever worker does it. When room is short, runs without open
//! candidates go first, then those that were used least recently. Room is counted, not measured, and bounded by an option:
//! the same seed gives the same campaign on every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use wire::NodeId;

use crate::pool::RunId;
use crate::terms::{Expressions, KeptExpressions};
use crate::trace::{Access, Note, PathStep, Pin, Trace};

/// A run takes at most this fraction of the room.
const LARGEST_PART: usize = 8;

/// What queries need of a run.
#[derive(Debug)]
pub(super) struct HeldRun {
    pub(super) steps: Box<[PathStep]>,
    pub(super) notes: Box<[Note]>,
    pub(super) pins: Box<[Pin]>,
    pub(super) accesses: Box<[Access]>,
    pub(super) expressions: KeptExpressions,
}

impl HeldRun {
    pub(super) fn new(trace: Trace, expressions: KeptExpressions) -> Self {
        let Trace { steps, notes, pins, accesses, .. } = trace;
        Self {
            steps: steps.into(),
            notes: notes.into(),
            pins: pins.into(),
            accesses: accesses.into(),
            expressions,
        }
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.steps)
            + size_of_val(&*self.notes)
            + size_of_val(&*self.pins)
            + size_of_val(&*self.accesses)
            + self.expressions.n_bytes()
    }
}

/// The expressions that queries about a trace can need.
pub(super) fn keep_expressions(trace: &Trace, expressions: &Expressions<'_>) -> KeptExpressions {
    let of_steps = trace.steps.iter().map(|step| step.node);
    let of_notes = trace.notes.iter().map(Note::node);
    KeptExpressions::copy(expressions, of_steps.chain(of_notes).max().unwrap_or(NodeId(0)))
}

/// The runs that are held.
pub(super) struct HeldRuns {
    runs: BTreeMap<RunId, Entry>,
    /// In the order in which they go.
    order: BTreeSet<(Usefulness, RunId)>,
    n_bytes: usize,
    max_bytes: usize,
    n_uses: u64,
}

struct Entry {
    run: Arc<HeldRun>,
    usefulness: Usefulness,
}

/// Whether the run has open candidates, and when it was used last.
type Usefulness = (bool, u64);

impl HeldRuns {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { runs: BTreeMap::new(), order: BTreeSet::new(), n_bytes: 0, max_bytes, n_uses: 0 }
    }

    /// Bytes of expressions and path that one run may have to be held.
    pub(super) fn max_bytes_per_run(max_bytes: usize) -> usize {
        max_bytes / LARGEST_PART
    }

    /// Holds a run, if it is not too large, and lets go of others for it.
    pub(super) fn hold(&mut self, id: RunId, run: Arc<HeldRun>, has_open: bool) {
        self.let_go(id);
        let n_bytes = run.n_bytes();
        if n_bytes > Self::max_bytes_per_run(self.max_bytes) {
            return;
        }
        while self.n_bytes + n_bytes > self.max_bytes
            && let Some((_, oldest)) = self.order.first().copied()
        {
            self.let_go(oldest);
        }
        self.n_uses += 1;
        let usefulness = (has_open, self.n_uses);
        self.order.insert((usefulness, id));
        self.runs.insert(id, Entry { run, usefulness });
        self.n_bytes += n_bytes;
    }

    /// A run that is to be used now, if it is held.
    pub(super) fn take_up(&mut self, id: RunId) -> Option<Arc<HeldRun>> {
        self.n_uses += 1;
        let n_uses = self.n_uses;
        self.reorder(id, |(is_open, _)| (is_open, n_uses));
        self.runs.get(&id).map(|entry| Arc::clone(&entry.run))
    }

    /// Notes that a run has no open candidate left. It may still be asked about: queries are retried.
    pub(super) fn close(&mut self, id: RunId) {
        self.reorder(id, |(_, last_use)| (false, last_use));
    }

    /// Lets go of half of what is held, and holds no more than that from now on.
    pub(super) fn halve(&mut self) {
        self.max_bytes = self.n_bytes / 2;
        while self.n_bytes > self.max_bytes
            && let Some((_, oldest)) = self.order.first().copied()
        {
            self.let_go(oldest);
        }
    }

    fn reorder(&mut self, id: RunId, change: impl FnOnce(Usefulness) -> Usefulness) {
        let Some(entry) = self.runs.get_mut(&id) else { return };
        self.order.remove(&(entry.usefulness, id));
        entry.usefulness = change(entry.usefulness);
        self.order.insert((entry.usefulness, id));
    }

    fn let_go(&mut self, id: RunId) {
        if let Some(Entry { run, usefulness }) = self.runs.remove(&id) {
            self.order.remove(&(usefulness, id));
            self.n_bytes -= run.n_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Cells, Nodes};

    fn run(n_bytes: usize) -> Arc<HeldRun> {
        let bytes = vec![0; n_bytes - size_of::<HeldRun>()];
        let expressions = Expressions { nodes: Nodes::new(&[]), cells: Cells::new(&bytes) };
        Arc::new(HeldRun {
            steps: Box::default(),
            notes: Box::default(),
            pins: Box::default(),
            accesses: Box::default(),
            expressions: KeptExpressions::copy(&expressions, NodeId(0)),
        })
    }

    fn held(runs: &HeldRuns) -> Vec<u32> {
        runs.runs.keys().map(|id| id.0).collect()
    }

    #[test]
    fn runs_without_open_candidates_go_first_then_those_used_least_recently() {
        let mut runs = HeldRuns::new(8000);
        (0..8).for_each(|id| runs.hold(RunId(id), run(1000), true));
        assert!(runs.take_up(RunId(0)).is_some());
        runs.close(RunId(5));
        assert!(runs.take_up(RunId(5)).is_some(), "it is there as long as there is room");
        let after = |runs: &mut HeldRuns, id: u32| {
            runs.hold(RunId(id), run(1000), true);
            held(runs)
        };
        assert_eq!(after(&mut runs, 8), [0, 1, 2, 3, 4, 6, 7, 8]);
        assert_eq!(after(&mut runs, 9), [0, 2, 3, 4, 6, 7, 8, 9]);
        assert_eq!(after(&mut runs, 2), [0, 2, 3, 4, 6, 7, 8, 9], "held again, it counts once");
    }

    #[test]
    fn a_run_too_large_is_not_held_and_drives_out_nothing() {
        let mut runs = HeldRuns::new(8000);
        runs.hold(RunId(0), run(1000), true);
        runs.hold(RunId(1), run(1001), true);
        assert_eq!((held(&runs), runs.n_bytes), (vec![0], 1000));
        assert!(runs.take_up(RunId(1)).is_none());
    }
}
