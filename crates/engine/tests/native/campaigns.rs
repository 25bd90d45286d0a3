//! Campaigns from C text to a covering suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use coverage::{Cause, Coverage, Criterion, Scope, Status, criterion_named};
use engine::campaign::{
    Budget, BudgetKind, CampaignOptions, CampaignResult, Clock, Setup, StopReason, SystemClock, run,
};
use engine::executor::{End, Execution, Executor, ExecutorError, ForkServer};
use engine::strategy::{StrategyOptions, strategy_named};
use model::input::Input;
use smt::{BitwuzlaSolver, Solver};
use wire::Flags;

use crate::build::{Built, LONG, with_cells};

const SEARCHING: [&str; 9] =
    ["dfs", "bfs", "random-path", "generational", "cfg-directed", "rp-md2u", "pps", "fitness", "pps+fitness"];

/// A campaign of one worker for these criteria.
pub fn campaign_for(
    built: &Built,
    criteria: &[&str],
    strategy: &str,
    options: &CampaignOptions,
) -> CampaignResult {
    let criteria: Vec<_> = criteria.iter().map(|name| criterion_named(name).expect("known")).collect();
    with_workers(built, &criteria, strategy, 1, options)
}

fn campaign(built: &Built, strategy: &str, n_workers: usize, options: &CampaignOptions) -> CampaignResult {
    with_workers(built, &[criterion_named("branch").expect("known")], strategy, n_workers, options)
}

fn with_workers(
    built: &Built,
    criteria: &[Box<dyn Criterion>],
    strategy: &str,
    n_workers: usize,
    options: &CampaignOptions,
) -> CampaignResult {
    let executors = (0..n_workers).map(|_| Box::new(built.server()) as Box<dyn Executor + Send>).collect();
    with_executors(built, criteria, strategy, executors, &SystemClock::start(), options)
}

fn with_executors(
    built: &Built,
    criteria: &[Box<dyn Criterion>],
    strategy: &str,
    executors: Vec<Box<dyn Executor + Send>>,
    clock: &(dyn Clock + Sync),
    options: &CampaignOptions,
) -> CampaignResult {
    let program = &built.program;
    let scope = Scope::reachable_from(program, program.root.expect("a root"));
    let interrupt = Arc::new(AtomicBool::new(false));
    let cancel = Arc::clone(&interrupt);
    let setup = Setup {
        memory: None,
        program,
        coverage: Coverage::new(program, &scope, criteria),
        strategy: strategy_named(strategy, &StrategyOptions::default()).expect("known"),
        executors,
        solver: &move || -> Box<dyn Solver> {
            Box::new(BitwuzlaSolver::with_cancel(Arc::clone(&cancel).into()))
        },
        clock,
        interrupt,
        adviser: None,
    };
    run(setup, options, &mut ())
}

fn options() -> CampaignOptions {
    let budget = Budget { time: Some(Duration::from_secs(60)), executions: None };
    CampaignOptions { budget, self_check: true, ..CampaignOptions::default() }
}

fn assert_clean(result: &CampaignResult, what: &str) {
    assert_eq!(result.n_troubles, 0, "{what}: {:?}", result.troubles);
    assert_eq!(result.n_mismatches, 0, "{what}: {:?}", result.mismatches);
    assert_eq!((result.divergences, result.unrepeated), (0, 0), "{what}");
}

/// Each test run again covers what it is said to cover.
fn assert_confirmed(built: &Built, result: &CampaignResult) {
    let mut fresh = built.fresh();
    for test in &result.tests {
        let values: Vec<u64> = test.input.values.values().copied().collect();
        let left = built.run(&mut fresh, &values, LONG);
        assert_eq!(left.end, test.end);
        let satisfied = result.coverage.satisfied(&left.trace.observations);
        assert!(test.covers.iter().all(|goal| satisfied.contains(goal)), "{}", test.id);
    }
}

const TRIANGLE: &str = "
    int triangle(int a, int b, int c) {
        if (a <= 0 || b <= 0 || c <= 0) return 0;
        if (a + b <= c || b + c <= a || a + c <= b) return 1;
        if (a == b && b == c) return 2;
        if (a == b || b == c || a == c) return 3;
        return 4;
    }";

#[test]
fn a_triangle_is_classified_completely() {
    let built = with_cells(TRIANGLE, 3, "triangle(a, b, c)");
    for strategy in SEARCHING {
        let result = campaign(&built, strategy, 1, &options());
        assert!(matches!(result.stop, StopReason::Complete), "{strategy}: {:?}", result.stop);
        assert_eq!((result.coverage.n_covered(), result.coverage.n_goals()), (8, 8), "{strategy}");
        assert!(result.tests.len() <= 5, "{strategy}: {} tests", result.tests.len());
        assert_clean(&result, strategy);
        assert_confirmed(&built, &result);
    }
}

#[test]
fn several_workers_repeat_themselves() {
    let built = with_cells(TRIANGLE, 3, "triangle(a, b, c)");
    let first = campaign(&built, "generational", 2, &options());
    let second = campaign(&built, "generational", 2, &options());
    assert!(matches!(first.stop, StopReason::Complete));
    assert_eq!(first.tests, second.tests);
}

#[test]
fn loops_recursion_and_switches_are_covered() {
    let text = "
        int bits(unsigned n) { int k = 0; while (n) { if (n & 1) k++; n >>= 1; } return k == 3 ? 1 : 0; }
        int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
        int machine(int x) {
            int state = 0;
            for (int i = 0; i < 4; i++, x >>= 2) {
                switch (state) {
                case 0: switch (x & 3) { case 1: state = 1; break; case 2: state = 2; break; } break;
                case 1: state = (x & 3) == 3 ? 3 : 0; break;
                case 2: state = 0; break;
                case 3: return 1;
                }
            }
            return 0;
        }
        int f(int a, int b, int c, int d) {
            if (a > 0 && b > 0 && gcd(a, b) == 7 && a > 20) return 1;
            return bits((unsigned)c) + machine(d);
        }";
    let built = with_cells(text, 4, "f(a, b, c, d)");
    let budget = Budget { executions: Some(2000), ..options().budget };
    let result = campaign(&built, "generational", 1, &CampaignOptions { budget, ..options() });
    let open: Vec<String> = result
        .coverage
        .goals()
        .filter(|(_, _, status)| !matches!(status, Status::Covered { .. }))
        .map(|(_, goal, _)| goal.describe(&built.program))
        .collect();
    // the state is never anything but 0 to 3
    assert_eq!(open, ["switch (state) matches no case"], "{:?}", result.stop);
    assert_clean(&result, "generational");
    assert_confirmed(&built, &result);
}

#[test]
fn what_cannot_happen_saturates() {
    let text = "int f(int a) { if (a > 10) { if (a < 5) return 1; } return 0; }";
    let built = with_cells(text, 1, "f(a)");
    for strategy in SEARCHING {
        let result = campaign(&built, strategy, 1, &options());
        assert!(matches!(result.stop, StopReason::Exhausted), "{strategy}");
        let is_unsatisfiable = |status: &Status| matches!(status, Status::Undecided(reason) if reason.cause == Cause::Unsatisfiable);
        assert_eq!(result.coverage.goals().filter(|(.., status)| is_unsatisfiable(status)).count(), 1);
        assert_eq!(result.coverage.n_covered(), 3, "{strategy}");
    }
}

#[test]
fn crashes_and_hangs_are_found_with_their_inputs() {
    let text = "
        int f(int a, int b) {
            if (a == 1234) *(volatile int *)16 = b;
            if (b == 99) for (;;) {}
            return 0;
        }";
    let built = with_cells(text, 2, "f(a, b)");
    let options = CampaignOptions { execution_limit: Duration::from_millis(300), ..options() };
    let result = campaign(&built, "dfs", 1, &options);
    assert_eq!((result.crashes.len(), result.hangs.len()), (1, 1));
    let crash = &result.crashes[0].test;
    assert_eq!(crash.end, End::Signalled { signal: libc::SIGSEGV, address: Some(16) });
    assert_eq!(crash.input.values.values().next(), Some(&1234));
    assert_eq!(result.hangs[0].test.input.values.values().last(), Some(&99));
    assert_clean(&result, "dfs");
}

/// Counts as time what executions may take at the most, so that nothing depends on the machine.
#[derive(Clone, Default)]
struct Granted(Arc<AtomicU64>);

impl Clock for Granted {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }
}

/// An executor whose runs take all of the time that they are given.
struct Taking {
    server: ForkServer,
    granted: Granted,
}

impl Executor for Taking {
    fn execute(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        let nanoseconds = u64::try_from(limit.as_nanos()).expect("short");
        self.granted.0.fetch_add(nanoseconds, Ordering::SeqCst);
        self.server.execute(input, flags, limit)
    }

    fn newest(&self) -> Option<Execution<'_>> {
        self.server.newest()
    }
}

#[test]
fn time_budgets_are_kept_also_by_programs_that_never_return() {
    let built = with_cells("int f(int a) { for (;;) { if (a == 3) a++; } }", 1, "f(a)");
    let time = Duration::from_millis(500);
    let execution_limit = Duration::from_millis(200);
    let budget = Budget { time: Some(time), executions: None };
    let options = CampaignOptions { budget, execution_limit, ..CampaignOptions::default() };
    let clock = Granted::default();
    let taking = Taking { server: built.server(), granted: clock.clone() };
    let branches = [criterion_named("branch").expect("known")];
    let result = with_executors(&built, &branches, "dfs", vec![Box::new(taking)], &clock, &options);
    // two whole runs, and one that gets what is left
    assert_eq!(clock.elapsed(), time);
    assert!(matches!(result.stop, StopReason::Budget(BudgetKind::Time)), "{:?}", result.stop);
}

#[test]
fn functions_called_through_a_table_are_all_reached() {
    let text = "
        static int zero(int a) { return a == 7; }
        static int one(int a) { return a > 100 ? 1 : 2; }
        static int two(int a) { switch (a) { case 4: return 9; default: return 8; } }
        static int (*const table[])(int) = {zero, one, two};
        int f(unsigned which, int a) { return which < 3 ? table[which](a) : -1; }";
    let built = with_cells(text, 2, "f((unsigned)a, b)");
    for strategy in SEARCHING {
        let result = campaign(&built, strategy, 1, &options());
        assert!(matches!(result.stop, StopReason::Complete), "{strategy}: {:?}", result.stop);
        assert_clean(&result, strategy);
    }
}
