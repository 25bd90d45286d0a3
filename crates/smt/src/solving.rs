//! How is a query answered with as little solving as possible, and never on trust?
//!
//! Method, cheapest first: constants → slice → exact cache → domains of small variables → values tried by evaluation (the
//! hint, variations of it, recent models) → known unsat cores → ranges of small variables → the solver on the part nearest
//! to the goal → the solver on the whole slice. A model is evaluated on our own terms before it is accepted, and values of
//! the hint are restored where the assertions still hold. Limits: caches hold the newest entries of one store and are
//! cleared when another store comes; undecided queries are not cached. The same calls in the same order give the same
//! verdicts, apart from time limits.

mod cache;
mod domain;
mod guess;
mod near;
mod range;

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tracing::{Level, debug, enabled};

use crate::assignment::Assignment;
use crate::evaluate::{Evaluator, Memo};
use crate::slice::slice;
use crate::solver::{Limit, Solver, UnknownReason, Verdict};
use crate::term::{StoreId, Term, TermStore, Var};
use cache::{CoreCache, ExactCache, ModelCache};
use domain::{Domains, Narrowed};

/// What a call of a solver that does not count costs at least, and what one costs that is given up.
const EFFORT_OF_CALL: u64 = 10;
const EFFORT_GIVEN_UP: u64 = 2500;
/// What is done for one unit of effort, with or without the solver: constraints looked through, terms evaluated.
const LOOKED_THROUGH: usize = 512;
const EVALUATED: u64 = 8192;
/// How many variables of a model are tried with the hint's value.
const MAX_RESTORED: usize = 64;
/// Terms evaluated before trying is given up: about a hundredth of a second.
const MAX_EVALUATED: u64 = 1 << 20;
/// How many values of a small variable are tried.
const MAX_SMALL_VALUES: usize = 16;

/// The layered front of a solver.
pub struct Solving {
    solver: Box<dyn Solver>,
    stats: SolvingStats,
    store: Option<StoreId>,
    exact: ExactCache,
    models: ModelCache,
    cores: CoreCache,
    domains: Domains,
    memo: Memo,
}

/// What was asked and how it was answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SolvingStats {
    /// Queries asked.
    pub queries: u64,
    /// Queries with values found.
    pub sat: u64,
    /// Queries shown to have none.
    pub unsat: u64,
    /// Queries not decided.
    pub unknown: u64,
    /// Answered because the same slice was asked before.
    pub cache_hits: u64,
    /// Answered by values found without the solver.
    pub model_reuse: u64,
    /// Answered because a known core is part of the slice.
    pub core_subsumed: u64,
    /// Refuted because no value of a small variable is left.
    pub domain_empty: u64,
    /// Refuted because ranges of small variables do not allow it.
    pub out_of_range: u64,
    /// Calls of the solver.
    pub solver_calls: u64,
    /// What answers took, roughly in tenths of a millisecond; the same on every machine.
    pub effort: u64,
    /// Time spent in the solver.
    pub solver_time: Duration,
}

impl Solving {
    /// A front without memories.
    pub fn new(solver: Box<dyn Solver>) -> Solving {
        Solving {
            solver,
            stats: SolvingStats::default(),
            store: None,
            exact: ExactCache::default(),
            models: ModelCache::default(),
            cores: CoreCache::default(),
            domains: Domains::default(),
            memo: Memo::default(),
        }
    }

    /// What was asked so far.
    pub fn stats(&self) -> SolvingStats {
        self.stats
    }

    /// Calls `step` at fixed points of the solver's searches ([`Solver::on_step`]).
    pub fn on_step(&mut self, step: Rc<dyn Fn()>) {
        self.solver.on_step(step);
    }

    /// The solver behind the front.
    pub fn solver_name(&self) -> &str {
        self.solver.name()
    }

    /// Looks for values under which `goal` holds together with `prefix`, which holds under `hint`.
    ///
    /// Only the part of the prefix that shares variables with the goal is looked at; the values found cover the
    /// variables of that part and of the goal, and all others keep the hint's. An unsat core is a subset of the prefix
    /// and the goal.
    pub fn solve(
        &mut self,
        store: &TermStore,
        prefix: &[Term],
        goal: Term,
        hint: &Assignment,
        limit: Limit,
    ) -> Verdict {
        self.stats.queries += 1;
        let (n_solver_calls, n_computed) = (self.stats.solver_calls, self.memo.n_computed());
        // not asked for when nobody reads it
        let started = enabled!(Level::DEBUG).then(Instant::now);
        let verdict = self.answer(store, prefix, goal, hint, limit);
        let evaluated = (self.memo.n_computed() - n_computed) / EVALUATED;
        self.stats.effort += 1 + (prefix.len() / LOOKED_THROUGH) as u64 + evaluated;
        match verdict {
            Verdict::Sat(_) => self.stats.sat += 1,
            Verdict::Unsat { .. } => self.stats.unsat += 1,
            Verdict::Unknown(_) => self.stats.unknown += 1,
        }
        if let Some(started) = started {
            let n_solver_calls = self.stats.solver_calls - n_solver_calls;
            debug!(%verdict, time = ?started.elapsed(), n_prefix = prefix.len(), n_solver_calls, "query");
        }
        verdict
    }

    fn answer(
        &mut self,
        store: &TermStore,
        prefix: &[Term],
        goal: Term,
        hint: &Assignment,
        limit: Limit,
    ) -> Verdict {
        if let Some(&never) = [goal].iter().chain(prefix).find(|&&term| store.is_false(term)) {
            return Verdict::Unsat { core: vec![never] };
        }
        if store.is_true(goal) {
            return Verdict::Sat(Assignment::new());
        }
        self.forget_other_stores(store);
        // The goal first: guesses mostly fail there.
        let mut assertions = vec![goal];
        assertions.extend(slice(store, prefix, goal).into_iter().filter(|&term| term != goal));

        let mut key = assertions.clone();
        key.sort_unstable();
        if let Some(verdict) = self.exact.get(&key) {
            self.stats.cache_hits += 1;
            return verdict.clone();
        }
        let verdict = self.decide(store, &assertions, &key, hint, limit);
        match &verdict {
            Verdict::Sat(model) => self.models.insert(model.clone()),
            Verdict::Unsat { core } => self.cores.insert(core),
            Verdict::Unknown(_) => return verdict,
        }
        self.exact.insert(key, verdict.clone());
        verdict
    }

    fn decide(
        &mut self,
        store: &TermStore,
        assertions: &[Term],
        key: &[Term],
        hint: &Assignment,
        limit: Limit,
    ) -> Verdict {
        let narrowed = self.domains.narrow(store, assertions, &mut self.memo);
        if let Some(Narrowed::Empty { core }) = narrowed {
            self.stats.domain_empty += 1;
            return Verdict::Unsat { core };
        }
        let vars = vars_of(store, assertions);
        let base = hint.restricted_to(&vars);
        if let Some(found) = self.try_values(store, assertions, &vars, &base, narrowed) {
            self.stats.model_reuse += 1;
            return Verdict::Sat(found);
        }
        if let Some(core) = self.cores.subset_of(key) {
            self.stats.core_subsumed += 1;
            return Verdict::Unsat { core };
        }
        if let Some(core) = self.refuted_by_ranges(store, assertions) {
            self.stats.out_of_range += 1;
            return Verdict::Unsat { core };
        }
        if let Some(part) = near::part(store, assertions) {
            match self.ask(store, &part, limit) {
                Verdict::Sat(found) => {
                    let found = merged(&base, &found, &vars);
                    if self.satisfies(store, assertions, &found) {
                        return Verdict::Sat(self.restore_hint(store, assertions, &base, found));
                    }
                }
                verdict => return verdict,
            }
        }
        match self.ask(store, assertions, limit) {
            Verdict::Sat(model) => {
                let model = model.restricted_to(&vars);
                if self.satisfies(store, assertions, &model) {
                    Verdict::Sat(self.restore_hint(store, assertions, &base, model))
                } else {
                    Verdict::Unknown(UnknownReason::WrongModel)
                }
            }
            verdict => verdict,
        }
    }

    /// What excludes the goal, whatever values small variables have between their bounds.
    fn refuted_by_ranges(&mut self, store: &TermStore, assertions: &[Term]) -> Option<Vec<Term>> {
        let &goal = assertions.first()?;
        let bounds = self.domains.bounds(store, assertions, &mut self.memo);
        let is_refuted = !bounds.of.is_empty() && range::refutes(store, goal, &bounds.of);
        is_refuted.then(|| bounds.core.into_iter().filter(|term| *term != goal).chain([goal]).collect())
    }

    fn ask(&mut self, store: &TermStore, assertions: &[Term], limit: Limit) -> Verdict {
        let started = Instant::now();
        let verdict = self.solver.check(store, assertions, limit);
        self.stats.solver_calls += 1;
        self.stats.solver_time += started.elapsed();
        self.stats.effort += self.solver.effort().unwrap_or_else(|| match &verdict {
            Verdict::Sat(_) | Verdict::Unsat { .. } => EFFORT_OF_CALL + assertions.len() as u64,
            Verdict::Unknown(_) => EFFORT_GIVEN_UP,
        });
        verdict
    }

    /// Values known or easily guessed that satisfy all assertions.
    fn try_values(
        &mut self,
        store: &TermStore,
        assertions: &[Term],
        vars: &[Var],
        base: &Assignment,
        narrowed: Option<Narrowed>,
    ) -> Option<Assignment> {
        let (small, left) = match narrowed {
            Some(Narrowed::To { var, values }) => (Some(var), values),
            Some(Narrowed::Empty { .. }) | None => (None, Vec::new()),
        };
        let is_left = |values: &Assignment| small.is_none_or(|var| left.contains(&values.value(var)));
        let guesses = guess::variations(store, assertions[0], base).filter(is_left);
        // Newest first: it comes from the most similar path.
        let reused: Vec<Assignment> =
            self.models.newest_first().map(|model| merged(base, model, vars)).collect();
        let narrowest = left.iter().take(MAX_SMALL_VALUES).filter_map(|&bits| {
            let mut varied = base.clone();
            varied.set(small?, bits);
            Some(varied)
        });
        let mut trials = guesses.chain(reused.into_iter().filter(is_left)).chain(narrowest);
        let enough = self.memo.n_computed() + MAX_EVALUATED;
        while self.memo.n_computed() < enough {
            let values = trials.next()?;
            if self.satisfies(store, assertions, &values) {
                return Some(values);
            }
        }
        None
    }

    fn satisfies(&mut self, store: &TermStore, assertions: &[Term], values: &Assignment) -> bool {
        let mut evaluator = Evaluator::with_memo(store, values, std::mem::take(&mut self.memo));
        let all_hold = assertions.iter().all(|&assertion| evaluator.holds(assertion));
        self.memo = evaluator.into_memo();
        all_hold
    }

    /// Puts the hint's values back, variable by variable, where the assertions still hold: people find inputs easier
    /// to read that differ only where they must.
    fn restore_hint(
        &mut self,
        store: &TermStore,
        assertions: &[Term],
        base: &Assignment,
        mut model: Assignment,
    ) -> Assignment {
        let differing: Vec<(Var, u128)> =
            base.iter().filter(|&(var, bits)| model.value(var) != bits).take(MAX_RESTORED).collect();
        let enough = self.memo.n_computed() + MAX_EVALUATED;
        for (var, bits) in differing {
            if self.memo.n_computed() > enough {
                break;
            }
            let found = model.set(var, bits);
            if !self.satisfies(store, assertions, &model) {
                model.set(var, found.expect("the model covers the variables of the slice"));
            }
        }
        model
    }

    fn forget_other_stores(&mut self, store: &TermStore) {
        if self.store != Some(store.id()) {
            self.store = Some(store.id());
            self.exact = ExactCache::default();
            self.models = ModelCache::default();
            self.cores = CoreCache::default();
            self.domains = Domains::default();
        }
    }
}

/// The variables of all assertions, sorted.
fn vars_of(store: &TermStore, assertions: &[Term]) -> Vec<Var> {
    let mut seen = HashSet::new();
    let distinct = assertions.iter().filter(|&&assertion| seen.insert(store.var_set(assertion)));
    let vars: BTreeSet<Var> = distinct.flat_map(|&assertion| store.vars_of(assertion)).collect();
    vars.into_iter().collect()
}

fn merged(base: &Assignment, model: &Assignment, vars: &[Var]) -> Assignment {
    vars.iter().map(|&var| (var, model.get(var).unwrap_or_else(|| base.value(var)))).collect()
}
