//! Prints microseconds per small query: in Bitwuzla, in a z3 process, and through the layered front.
//! Wall time, and the processor time of this thread, which other load on the machine does not disturb.

use std::time::{Duration, Instant};

use smt::{Assignment, BitwuzlaSolver, ProcessSolver, Solver, Solving, Term, TermStore, Verdict};

const LIMIT: Duration = Duration::from_secs(10);
const N_QUERIES: u32 = 500;

fn main() {
    let mut store = TermStore::new();
    let tiny: Vec<Vec<Term>> = (0..N_QUERIES).map(|index| tiny_query(&mut store, index)).collect();
    let numbers: Vec<Vec<Term>> = (0..N_QUERIES).map(|index| number_query(&mut store, index)).collect();
    for (what, queries) in [("tiny", tiny), ("number", numbers)] {
        let mut bitwuzla = BitwuzlaSolver::new();
        measure(what, "bitwuzla", &queries, &mut |query| bitwuzla.check(&store, query, LIMIT.into()));
        let mut z3 = ProcessSolver::new("z3", &["-in"]);
        measure(what, "z3 process", &queries, &mut |query| z3.check(&store, query, LIMIT.into()));
        let mut solving = Solving::new(Box::new(BitwuzlaSolver::new()));
        let hint = Assignment::new();
        measure(what, "layered front", &queries, &mut |query| {
            solving.solve(&store, &query[..query.len() - 1], query[query.len() - 1], &hint, LIMIT.into())
        });
        println!("{:?}", solving.stats());
    }
}

/// Two bytes in relation to each other and to a constant.
fn tiny_query(store: &mut TermStore, index: u32) -> Vec<Term> {
    let (x, y) = (store.var("in0", 8), store.var("in1", 8));
    let (bound, offset) =
        (store.constant(8, u128::from(index % 200)), store.constant(8, u128::from(index % 7)));
    let moved = store.add(y, offset);
    vec![store.ult(x, bound), store.ult(moved, x)]
}

/// A path that reads a number of three digits, and a comparison of its value.
fn number_query(store: &mut TermStore, index: u32) -> Vec<Term> {
    let mut value = store.constant(32, 0);
    let mut constraints = Vec::new();
    let (ten, zero, after_nine) = (store.constant(32, 10), store.constant(8, 48), store.constant(8, 58));
    for position in 0..3 {
        let byte = store.var(format!("in{position}"), 8);
        constraints.push(store.uge(byte, zero));
        constraints.push(store.ult(byte, after_nine));
        let digit = store.sub(byte, zero);
        let digit = store.zext(digit, 32);
        let shifted = store.mul(value, ten);
        value = store.add(shifted, digit);
    }
    let wanted = store.constant(32, u128::from(index * 3));
    constraints.push(store.eq(value, wanted));
    constraints
}

fn measure(what: &str, name: &str, queries: &[Vec<Term>], check: &mut dyn FnMut(&[Term]) -> Verdict) {
    let (mut n_sat, mut n_unsat) = (0, 0);
    let (started, started_cpu) = (Instant::now(), thread_cpu_time());
    for query in queries {
        match check(query) {
            Verdict::Sat(_) => n_sat += 1,
            Verdict::Unsat { .. } => n_unsat += 1,
            Verdict::Unknown(reason) => println!("{name}: {reason:?}"),
        }
    }
    let per_query = |time: Duration| time.as_micros() / queries.len() as u128;
    let (wall, cpu) = (per_query(started.elapsed()), per_query(thread_cpu_time() - started_cpu));
    println!("{what:8} {name:16} {wall:6} us per query, {cpu:6} us cpu ({n_sat} sat, {n_unsat} unsat)");
}

/// Zero where the kernel does not tell.
fn thread_cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
    Duration::from_nanos(nanos)
}
