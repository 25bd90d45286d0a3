//! What do all runs do that take no loop more than so many times?
//!
//! Method: the node that is next is executed with all states that wait there merged into one, so no path is enumerated.
//! Limit: the number of executed nodes is bounded, because reads of memory walk back through all of them.

use crate::encode::{Encoder, MAX_TERMS, Run, Start};
use crate::question::Effort;
use crate::unrolling::Unrolling;

/// Nodes that are executed at most.
const MAX_NODES: usize = 6_000;

impl Run<'_> {
    /// Notes that a result is not exact, if inputs are looked for.
    pub(crate) fn approximate(&mut self, what: &str) {
        if let Some(unrolling) = &mut self.unrolling
            && !unrolling.approximations.contains(what)
        {
            unrolling.approximations.insert(what.to_owned());
        }
    }
}

impl<'m> Encoder<'_, 'm> {
    /// Executes the entry as far as the unrolling goes.
    pub(crate) fn unroll(&mut self, unrolling: Unrolling<'m>, effort: &Effort) -> Run<'m> {
        let (mut run, first) = self.begin(Start::Entry, true);
        run.unrolling = Some(unrolling);
        self.go(&mut run, self.graph.entry(), first);
        let mut n_nodes = 0;
        while let Some((node, states)) = unrolling_of(&mut run).next(self.graph) {
            n_nodes += 1;
            if n_nodes > MAX_NODES || self.terms.n_terms() > MAX_TERMS || effort.is_spent() {
                unrolling_of(&mut run).is_cut_short = true;
                break;
            }
            let state = self.merge(&mut run.symbols, states);
            self.node(&mut run, node, state);
        }
        run
    }
}

/// The unrolling of a run that unrolls.
pub(crate) fn unrolling_of<'a, 'm>(run: &'a mut Run<'m>) -> &'a mut Unrolling<'m> {
    run.unrolling.as_mut().expect("only runs that unroll come here")
}
