//! What every solver must do. Each fact is checked for Bitwuzla in process and for z3 as a process.
//!
//! The evaluator is the judge of models, brute force over small domains the judge of verdicts.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use smt::{
    Assignment, BitwuzlaSolver, Cancel, Evaluator, Limit, ProcessSolver, Solver, Term, TermStore,
    UnknownReason, Verdict, evaluate,
};

const AMPLE: Duration = Duration::from_secs(60);

/// Every solver installed here, with its way to be cancelled.
fn solvers() -> Vec<(Box<dyn Solver>, Cancel)> {
    static HAS_Z3: OnceLock<bool> = OnceLock::new();
    let cancel = Cancel::new();
    let mut solvers: Vec<(Box<dyn Solver>, Cancel)> =
        vec![(Box::new(BitwuzlaSolver::with_cancel(cancel.clone())), cancel)];
    let has_z3 = *HAS_Z3.get_or_init(|| {
        let found = std::process::Command::new("z3").arg("--version").output().is_ok();
        if !found {
            eprintln!("SKIPPED for z3: it is not installed (Debian package z3)");
        }
        found
    });
    if has_z3 {
        let cancel = Cancel::new();
        solvers.push((Box::new(ProcessSolver::with_cancel("z3", &["-in"], cancel.clone())), cancel));
    }
    solvers
}

fn for_each_solver(check: impl Fn(&mut dyn Solver)) {
    for (mut solver, _) in solvers() {
        check(solver.as_mut());
    }
}

fn expect_sat(solver: &mut dyn Solver, store: &TermStore, assertions: &[Term]) -> Assignment {
    match solver.check(store, assertions, AMPLE.into()) {
        Verdict::Sat(model) => {
            let mut evaluator = Evaluator::new(store, &model);
            for &assertion in assertions {
                assert!(evaluator.holds(assertion), "{}'s model violates {assertion}", solver.name());
            }
            model
        }
        other => panic!("{} should find a model, not {other:?}", solver.name()),
    }
}

fn expect_unsat(solver: &mut dyn Solver, store: &TermStore, assertions: &[Term]) -> Vec<Term> {
    match solver.check(store, assertions, AMPLE.into()) {
        Verdict::Unsat { core } => core,
        other => panic!("{} should find no model, not {other:?}", solver.name()),
    }
}

/// Two primes have to be found from their 62-bit product: far beyond any limit used here.
fn hard_query(store: &mut TermStore) -> Vec<Term> {
    let (x, y) = (store.var("x", 64), store.var("y", 64));
    let product = store.mul(x, y);
    let wanted = store.constant(64, 1_812_433_261 * 2_038_074_743);
    let bound = store.constant(64, 1 << 31);
    let one = store.constant(64, 1);
    vec![
        store.eq(product, wanted),
        store.ult(x, bound),
        store.ult(y, bound),
        store.ult(one, x),
        store.ult(x, y),
    ]
}

#[test]
fn no_assertions_are_satisfied_by_no_values() {
    for_each_solver(|solver| {
        assert!(expect_sat(solver, &TermStore::new(), &[]).is_empty());
    });
}

#[test]
fn constants_are_decided() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let (yes, no) = (store.bool(true), store.bool(false));
        expect_sat(solver, &store, &[yes]);
        assert_eq!(expect_unsat(solver, &store, &[yes, no]), [no]);
    });
}

#[test]
fn a_core_is_an_unsatisfiable_subset_of_the_assertions() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let (x, y, z) = (store.var("x", 8), store.var("y", 8), store.var("z", 8));
        let (five, nine) = (store.constant(8, 5), store.constant(8, 9));
        let assertions = [
            store.ult(z, five),
            store.ult(x, y),
            store.ult(y, five),
            store.ult(nine, z),
            store.ult(nine, x),
            store.ne(x, z),
        ];
        let core = expect_unsat(solver, &store, &assertions);
        assert!(!core.is_empty() && core.iter().all(|term| assertions.contains(term)));
        assert!(core.len() < assertions.len(), "{} blames everything", solver.name());
        expect_unsat(solver, &store, &core);
    });
}

type Operator = (&'static str, fn(&mut TermStore, Term, Term) -> Term);

const OPERATORS: [Operator; 29] = [
    ("add", TermStore::add),
    ("sub", TermStore::sub),
    ("mul", TermStore::mul),
    ("udiv", TermStore::udiv),
    ("sdiv", TermStore::sdiv),
    ("urem", TermStore::urem),
    ("srem", TermStore::srem),
    ("and", TermStore::and),
    ("or", TermStore::or),
    ("xor", TermStore::xor),
    ("shl", TermStore::shl),
    ("lshr", TermStore::lshr),
    ("ashr", TermStore::ashr),
    ("eq", TermStore::eq),
    ("ne", TermStore::ne),
    ("ult", TermStore::ult),
    ("ule", TermStore::ule),
    ("ugt", TermStore::ugt),
    ("uge", TermStore::uge),
    ("slt", TermStore::slt),
    ("sle", TermStore::sle),
    ("sgt", TermStore::sgt),
    ("sge", TermStore::sge),
    ("concat", TermStore::concat),
    ("not", |store, a, _| store.not(a)),
    ("neg", |store, a, _| store.neg(a)),
    ("zext", |store, a, _| store.zext(a, 9)),
    ("sext", |store, a, _| store.sext(a, 9)),
    ("ite", |store, a, b| {
        let condition = store.ult(a, b);
        store.ite(condition, a, b)
    }),
];

/// The solver agrees with the evaluator on every pair of operands: the disjunction of "operands are this pair and the
/// result differs from the evaluator's" has no model.
#[test]
fn every_operator_means_what_the_evaluator_computes() {
    for_each_solver(|solver| {
        for width in [1, 3, 4] {
            for (name, operator) in OPERATORS {
                let mut store = TermStore::new();
                let (a, b) = (store.var("a", width), store.var("b", width));
                let result = operator(&mut store, a, b);
                let counterexample = disagreement(&mut store, width, a, b, result);
                match solver.check(&store, &[counterexample], AMPLE.into()) {
                    Verdict::Unsat { .. } => {}
                    other => panic!("{} disagrees about {name} of width {width}: {other:?}", solver.name()),
                }
            }
        }
    });
}

fn disagreement(store: &mut TermStore, width: u32, a: Term, b: Term, result: Term) -> Term {
    let (var_a, var_b) = (store.var_of(a).expect("a variable"), store.var_of(b).expect("a variable"));
    let mut disagreement = store.bool(false);
    for bits_a in 0..1_u128 << width {
        for bits_b in 0..1_u128 << width {
            let assignment = [(var_a, bits_a), (var_b, bits_b)].into_iter().collect();
            let expected = evaluate(store, result, &assignment);
            let (constant_a, constant_b) = (store.constant(width, bits_a), store.constant(width, bits_b));
            let expected = store.constant(store.width(result), expected);
            let (here_a, here_b) = (store.eq(a, constant_a), store.eq(b, constant_b));
            let here = store.and(here_a, here_b);
            let wrong = store.ne(result, expected);
            let wrong_here = store.and(here, wrong);
            disagreement = store.or(disagreement, wrong_here);
        }
    }
    disagreement
}

#[test]
fn extracts_mean_what_the_evaluator_computes() {
    for_each_solver(|solver| {
        for (high, low) in [(0, 0), (2, 1), (3, 3), (3, 1)] {
            let mut store = TermStore::new();
            let (a, b) = (store.var("a", 4), store.var("b", 4));
            let product = store.mul(a, b);
            let result = store.extract(product, high, low);
            let counterexample = disagreement(&mut store, 4, a, b, result);
            expect_unsat(solver, &store, &[counterexample]);
        }
    });
}

#[test]
fn values_of_128_bits_come_back_whole() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let (x, y) = (store.var("x", 128), store.var("y", 128));
        let wanted = 0xfedc_ba98_7654_3210_0123_4567_89ab_cdef_u128;
        let constant = store.constant(128, wanted);
        let sum = store.add(x, y);
        let is_wanted = store.eq(sum, constant);
        let less = store.slt(x, y);
        let top = store.extract(x, 127, 127);
        let model = expect_sat(solver, &store, &[is_wanted, less, top]);
        let vars = store.vars_of(sum).to_vec();
        assert_eq!(model.value(vars[0]).wrapping_add(model.value(vars[1])), wanted);
    });
}

#[test]
fn variables_of_one_name_and_two_widths_are_two_variables() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let (narrow, wide) = (store.var("x | y \\ (", 8), store.var("x | y \\ (", 16));
        let (one, two) = (store.constant(8, 1), store.constant(16, 2));
        let assertions = [store.eq(narrow, one), store.eq(wide, two)];
        expect_sat(solver, &store, &assertions);
    });
}

#[test]
fn solvers_give_up_by_effort_long_before_their_time_is_up() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let assertions = hard_query(&mut store);
        let limit = Limit { effort: Some(100), ..AMPLE.into() };
        let started = Instant::now();
        let verdict = solver.check(&store, &assertions, limit);
        assert_eq!(verdict, Verdict::Unknown(UnknownReason::Timeout), "{}", solver.name());
        assert!(started.elapsed() < AMPLE);
    });
}

#[test]
fn a_query_that_processor_time_ends_says_so() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let assertions = hard_query(&mut store);
        let limit =
            Limit { effort: Some(1 << 30), processor_time: Duration::from_millis(100), ..AMPLE.into() };
        let verdict = solver.check(&store, &assertions, limit);
        assert_eq!(verdict, Verdict::Unknown(UnknownReason::Overdue), "{}", solver.name());
    });
}

#[test]
fn a_hard_query_ends_near_its_time_limit() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let assertions = hard_query(&mut store);
        let started = Instant::now();
        let verdict = solver.check(&store, &assertions, Duration::from_millis(300).into());
        assert_eq!(verdict, Verdict::Unknown(UnknownReason::Timeout), "{}", solver.name());
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{} overran: {:?}",
            solver.name(),
            started.elapsed()
        );
        // And the solver is still usable.
        let x = store.var("x", 64);
        let odd = store.extract(x, 0, 0);
        expect_sat(solver, &store, &[odd]);
    });
}

#[test]
fn a_cancelled_query_ends_soon_and_later_ones_at_once() {
    for (mut solver, cancel) in solvers() {
        let mut store = TermStore::new();
        let assertions = hard_query(&mut store);
        let started = Instant::now();
        let canceller = thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            cancel.cancel();
        });
        let verdict = solver.check(&store, &assertions, AMPLE.into());
        canceller.join().expect("the canceller does not panic");
        assert_eq!(verdict, Verdict::Unknown(UnknownReason::Cancelled), "{}", solver.name());
        assert!(started.elapsed() < Duration::from_secs(5), "{} took {:?}", solver.name(), started.elapsed());
        let verdict = solver.check(&store, &assertions, AMPLE.into());
        assert_eq!(verdict, Verdict::Unknown(UnknownReason::Cancelled));
    }
}

/// A chain of `2 * n_links` operators; it is 7 under a suitable `y` when `x` is.
fn chain(store: &mut TermStore, n_links: usize) -> [Term; 2] {
    let (x, y) = (store.var("x", 8), store.var("y", 8));
    let mut term = x;
    for _ in 0..n_links {
        let disjunction = store.or(term, y);
        term = store.xor(disjunction, x);
    }
    let seven = store.constant(8, 7);
    [store.eq(term, seven), store.eq(x, seven)]
}

#[test]
fn a_chain_of_a_thousand_links_is_solved() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let assertions = chain(&mut store, 500);
        expect_sat(solver, &store, &assertions);
    });
}

/// z3 itself takes quadratic time on such chains, so beyond our own part only Bitwuzla is asked.
#[test]
fn deep_terms_do_not_exhaust_a_small_stack() {
    let small_stack = thread::Builder::new().stack_size(512 * 1024);
    let solved = small_stack.spawn(|| {
        let mut store = TermStore::new();
        let assertions = chain(&mut store, 30_000);
        expect_sat(&mut BitwuzlaSolver::new(), &store, &assertions);
        assert!(smt::script(&store, &assertions).lines().count() > 60_000);
    });
    solved.expect("a thread starts").join().expect("deep terms are solved");
}

#[test]
fn the_same_query_gets_the_same_model_again() {
    for_each_solver(|solver| {
        let mut store = TermStore::new();
        let (x, y) = (store.var("x", 32), store.var("y", 32));
        let product = store.mul(x, y);
        let bound = store.constant(32, 1_000);
        let assertions = [store.ult(bound, product), store.ult(x, y)];
        let first = expect_sat(solver, &store, &assertions);
        let no = store.bool(false);
        expect_unsat(solver, &store, &[assertions[0], no]);
        assert_eq!(expect_sat(solver, &store, &assertions), first);
    });
}
