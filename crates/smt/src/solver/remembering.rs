//! A solver with a memo, for many campaigns on one program: a repeated query gets the same verdict without solving.
//!
//! Method: the key is the text of the query, as a hash of 128 bits, so that terms of different stores match. Limit:
//! undecided queries are solved again; nothing is ever evicted.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crate::assignment::Assignment;
use crate::smtlib::script;
use crate::term::{Term, TermStore};

use super::{Limit, Solver, Verdict};

/// Answers shared by the solvers that were made with it.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<HashMap<[u64; 2], Answer>>>);

/// A verdict without terms: a core is told by the positions of its assertions.
#[derive(Clone, Debug)]
enum Answer {
    Sat(Assignment),
    Unsat(Vec<usize>),
}

/// A solver with a memory.
pub struct RememberingSolver {
    solver: Box<dyn Solver>,
    memory: Memory,
}

impl RememberingSolver {
    /// Asks `solver` what `memory` does not know.
    pub fn new(solver: Box<dyn Solver>, memory: Memory) -> Self {
        Self { solver, memory }
    }
}

impl Solver for RememberingSolver {
    fn name(&self) -> &str {
        self.solver.name()
    }

    fn check(&mut self, store: &TermStore, assertions: &[Term], limit: Limit) -> Verdict {
        let key = key(&script(store, assertions));
        let known = self.memory.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        match known {
            Some(Answer::Sat(model)) => return Verdict::Sat(model),
            Some(Answer::Unsat(core)) => {
                return Verdict::Unsat { core: core.into_iter().map(|index| assertions[index]).collect() };
            }
            None => {}
        }
        let verdict = self.solver.check(store, assertions, limit);
        let answer = match &verdict {
            Verdict::Sat(model) => Answer::Sat(model.clone()),
            Verdict::Unsat { core } => Answer::Unsat(positions(assertions, core)),
            Verdict::Unknown(_) => return verdict,
        };
        self.memory.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, answer);
        verdict
    }
}

fn positions(assertions: &[Term], core: &[Term]) -> Vec<usize> {
    (0..assertions.len()).filter(|&index| core.contains(&assertions[index])).collect()
}

fn key(script: &str) -> [u64; 2] {
    [0u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, script).hash(&mut hasher);
        hasher.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::BitwuzlaSolver;
    use crate::solver::UnknownReason;

    /// Knows nothing, so that an answer must have been remembered.
    struct Helpless;

    impl Solver for Helpless {
        fn name(&self) -> &str {
            "helpless"
        }

        fn check(&mut self, _: &TermStore, _: &[Term], _: Limit) -> Verdict {
            Verdict::Unknown(UnknownReason::Timeout)
        }
    }

    /// `x < 5`, and `x > 9` too if asked for, in a store of its own.
    fn question(both: bool) -> (TermStore, Vec<Term>) {
        let mut store = TermStore::new();
        let x = store.var("x", 8);
        let (five, nine) = (store.constant(8, 5), store.constant(8, 9));
        let (low, high) = (store.ult(x, five), store.ult(nine, x));
        (store, if both { vec![low, high] } else { vec![low] })
    }

    #[test]
    fn a_query_of_another_store_is_known() {
        let limit = Limit::from(std::time::Duration::from_secs(10));
        for both in [false, true] {
            let memory = Memory::default();
            let (store, assertions) = question(both);
            let mut knowing = RememberingSolver::new(Box::new(BitwuzlaSolver::new()), memory.clone());
            let first = knowing.check(&store, &assertions, limit);
            let (store, assertions) = question(both);
            let mut helpless = RememberingSolver::new(Box::new(Helpless), memory);
            assert_eq!(helpless.check(&store, &assertions, limit), first);
            let (store, assertions) = question(!both);
            assert!(matches!(helpless.check(&store, &assertions, limit), Verdict::Unknown(_)));
        }
    }
}
