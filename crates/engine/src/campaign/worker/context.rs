//! What all workers share.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coverage::Coverage;

use crate::campaign::Clock;
use crate::trace::Tracer;

/// What all workers share.
pub(in crate::campaign) struct Context<'a> {
    pub(in crate::campaign) tracer: &'a Tracer<'a>,
    /// The goals before the first run.
    pub(in crate::campaign) goals: Coverage,
    pub(in crate::campaign) clock: &'a (dyn Clock + Sync),
    pub(in crate::campaign) interrupt: &'a AtomicBool,
    /// Set when nobody waits for results any more.
    pub(in crate::campaign) has_ended: AtomicBool,
    /// When the search must end; known when it begins.
    pub(in crate::campaign) deadline: OnceLock<Duration>,
    pub(in crate::campaign) execution_limit: Duration,
    pub(in crate::campaign) self_check: bool,
    /// Whether runs make expressions.
    pub(in crate::campaign) symbolic: bool,
    /// Whether paths are kept to be walked again.
    pub(in crate::campaign) keeps_paths: bool,
    /// Bytes of expressions with which a run is still held.
    pub(in crate::campaign) max_bytes_held: usize,
    /// Whether kept inputs are mutated.
    pub(in crate::campaign) mutates: bool,
    /// Whether every try needs a process of its own.
    pub(in crate::campaign) one_process_per_try: bool,
}

impl Context<'_> {
    pub(in crate::campaign) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    pub(in crate::campaign) fn time_left(&self) -> Duration {
        let left = |deadline: &Duration| deadline.saturating_sub(self.clock.elapsed());
        self.deadline.get().map_or(Duration::MAX, left)
    }

    /// Lets jobs end soon whose results nobody waits for.
    pub(in crate::campaign) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn must_stop(&self) -> bool {
        self.is_interrupted() || self.has_ended.load(Ordering::Relaxed) || self.time_left().is_zero()
    }
}
