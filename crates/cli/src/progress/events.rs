//! Progress for programs: one JSON object per line, each with the name of its event.

use engine::campaign::{Progress, Test};
use serde::Serialize;

use super::text::solver_share;
use report::functions::FunctionEntry;
use report::record::Queries;
use runner::store::journal::seconds;

/// Something that happened. The members are documented: programs depend on them.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event<'a> {
    /// A step before the search is under way.
    Step { function: &'a str, step: &'a str },
    /// One of several functions is done.
    Function {
        #[serde(flatten)]
        entry: &'a FunctionEntry,
    },
    /// A test, crash or hang was kept.
    Found {
        function: &'a str,
        kind: &'a str,
        /// Goals it covers first.
        new: usize,
        end: String,
        #[serde(flatten)]
        state: State,
    },
    /// Where the campaign stands.
    Progress {
        function: &'a str,
        #[serde(flatten)]
        state: State,
        candidates: usize,
        executions_per_second: f64,
        /// Of the time spent working, in percent.
        solver_percent: u32,
        seconds_since_new: f64,
        /// Missing where the budget has no bound.
        #[serde(skip_serializing_if = "Option::is_none")]
        seconds_left: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        executions_left: Option<u64>,
    },
}

/// Numbers that every event of a search has.
#[derive(Serialize)]
pub struct State {
    seconds: f64,
    executions: u64,
    queries: Queries,
    goals: Goals,
    tests: usize,
    crashes: usize,
    hangs: usize,
}

#[derive(Serialize)]
struct Goals {
    total: usize,
    covered: usize,
    /// With and without limits; told when there are any.
    #[serde(skip_serializing_if = "is_zero")]
    infeasible: usize,
    undecided: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl<'a> Event<'a> {
    /// A test was kept.
    pub fn found(function: &'a str, kind: &'a str, test: &Test, progress: &Progress) -> Self {
        let (new, end) = (test.covers.len(), test.end.to_string());
        Self::Found { function, kind, new, end, state: State::of(progress) }
    }

    /// The campaign goes on.
    pub fn progress(function: &'a str, progress: &Progress) -> Self {
        let elapsed = progress.elapsed.as_secs_f64();
        Self::Progress {
            function,
            state: State::of(progress),
            candidates: progress.n_candidates,
            executions_per_second: (progress.executions as f64 / elapsed.max(0.001)).round(),
            solver_percent: solver_share(&progress.timings),
            seconds_since_new: seconds(progress.elapsed.saturating_sub(progress.last_new)),
            seconds_left: progress.time_left.map(seconds),
            executions_left: progress.executions_left,
        }
    }
}

impl State {
    fn of(progress: &Progress) -> Self {
        let engine::campaign::Queries { sat, unsat, unknown } = progress.queries;
        let goals = Goals {
            total: progress.n_goals,
            covered: progress.n_covered,
            infeasible: progress.n_infeasible,
            undecided: progress.n_open(),
        };
        Self {
            seconds: seconds(progress.elapsed),
            executions: progress.executions,
            queries: Queries { sat, unsat, unknown },
            goals,
            tests: progress.n_tests,
            crashes: progress.n_crashes,
            hangs: progress.n_hangs,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_event_is_one_flat_object() {
        let progress = Progress {
            elapsed: Duration::from_millis(2500),
            executions: 100,
            n_goals: 8,
            n_covered: 5,
            last_new: Duration::from_secs(1),
            time_left: Some(Duration::from_millis(57_500)),
            ..Progress::default()
        };
        let text = serde_json::to_string(&Event::progress("parse", &progress)).expect("JSON");
        assert_eq!(
            text,
            r#"{"event":"progress","function":"parse","seconds":2.5,"executions":100,"queries":{"sat":0,"unsat":0,"unknown":0},"goals":{"total":8,"covered":5,"undecided":3},"tests":0,"crashes":0,"hangs":0,"candidates":0,"executions_per_second":40.0,"solver_percent":0,"seconds_since_new":1.5,"seconds_left":57.5}"#
        );
    }
}
