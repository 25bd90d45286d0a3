//! A solver process may be missing, die or babble: each is an answer, never a hang or a panic.

use std::time::Duration;

use smt::{ProcessSolver, Solver, TermStore, UnknownReason, Verdict};

const LIMIT: Duration = Duration::from_secs(10);

fn verdict_of(solver: &mut ProcessSolver) -> Verdict {
    let mut store = TermStore::new();
    let flag = store.var("flag", 1);
    solver.check(&store, &[flag], LIMIT.into())
}

fn error_of(program: &str, arguments: &[&str]) -> String {
    match verdict_of(&mut ProcessSolver::new(program, arguments)) {
        Verdict::Unknown(UnknownReason::SolverError(message)) => message,
        other => panic!("expected a solver error, not {other:?}"),
    }
}

#[test]
fn a_missing_program_is_named() {
    let message = error_of("no-such-solver", &[]);
    assert!(message.contains("cannot start the solver no-such-solver"), "{message}");
}

#[test]
fn a_process_that_ends_is_reported() {
    assert_eq!(error_of("true", &[]), "the solver process true ended");
}

#[test]
fn an_error_message_with_parentheses_is_passed_on() {
    let message = error_of("sh", &["-c", "read line; echo '(error \"what (is this\")'; cat >/dev/null"]);
    assert_eq!(message, "(error \"what (is this\")");
}

#[test]
fn an_unreadable_model_is_an_error() {
    let message = error_of("sh", &["-c", "echo sat; echo '((v0 banana))'; cat >/dev/null"]);
    assert!(message.starts_with("unreadable model"), "{message}");
}

#[test]
fn a_silent_process_is_killed_at_the_time_limit() {
    let mut solver = ProcessSolver::new("sleep", &["1000"]);
    let mut store = TermStore::new();
    let flag = store.var("flag", 1);
    let verdict = solver.check(&store, &[flag], Duration::from_millis(100).into());
    assert_eq!(verdict, Verdict::Unknown(UnknownReason::Timeout));
}

#[test]
fn after_a_death_the_next_query_has_a_new_process() {
    // Answers one query, then ends.
    let script = "echo sat; echo '((v0 #b1))'; read line; sleep 0.1";
    let mut solver = ProcessSolver::new("sh", &["-c", script]);
    assert!(matches!(verdict_of(&mut solver), Verdict::Sat(_)));
    std::thread::sleep(Duration::from_millis(500));
    let after_death = verdict_of(&mut solver);
    assert!(matches!(after_death, Verdict::Sat(_) | Verdict::Unknown(UnknownReason::SolverError(_))));
    assert!(matches!(verdict_of(&mut solver), Verdict::Sat(_)));
}
