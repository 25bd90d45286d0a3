//! What does work cost, counted like the solver's effort?
//!
//! Time would make campaigns differ from machine to machine, so everything that takes time is counted, and converted such that
//! one unit of effort takes about as long as one of the solver's.

/// An execution by itself.
pub(super) const EXECUTION_EFFORT: u64 = 4;
/// Expressions and terms that one unit makes.
const NODES_PER_EFFORT: u64 = 1 << 10;
const TERMS_PER_EFFORT: u64 = 32;
/// A try of a whole program, which makes its files anew.
const PROGRAM_TRY_EFFORT: u64 = 2;
/// Bytes of path logs that one unit walks.
const WALKED_PER_EFFORT: u64 = 1 << 13;
/// Tries, and bytes of their path logs, for one unit.
const TRIES_PER_EFFORT: u64 = 16;
const LOGGED_PER_EFFORT: u64 = 1 << 15;
/// A batch of tries that runs into its time limit.
const TIMED_OUT_EFFORT: u64 = 1 << 11;

/// What was done for one job besides solving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) n_executions: u64,
    pub(super) n_nodes: u64,
    pub(super) n_walked: u64,
    pub(super) n_terms: u64,
}

impl Done {
    pub(super) fn effort(self) -> u64 {
        self.n_executions * EXECUTION_EFFORT
            + self.n_nodes / NODES_PER_EFFORT
            + self.n_walked / WALKED_PER_EFFORT
            + self.n_terms / TERMS_PER_EFFORT
    }
}

/// What a batch of tries costs; `has_all` when all of them were tried in time.
pub(super) fn effort_of_tries(n_tried: u64, n_logged: u64, one_process_per_try: bool, has_all: bool) -> u64 {
    let of_tries =
        if one_process_per_try { n_tried * PROGRAM_TRY_EFFORT } else { n_tried.div_ceil(TRIES_PER_EFFORT) };
    let effort = n_logged / LOGGED_PER_EFFORT + of_tries;
    if has_all { effort } else { effort.max(TIMED_OUT_EFFORT) }
}
