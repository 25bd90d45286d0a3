//! Progress as text.

use std::time::Duration;

use engine::campaign::{Progress, Timings};

use super::screen::{Meaning, Paint};
use report::words::counted;

/// Cells of the bar.
const BAR: usize = 20;

/// One line: everything that matters, for logs.
pub fn sentence(title: &str, progress: &Progress) -> String {
    let mut text = format!("{}{:.0} s: ", prefix(title), progress.elapsed.as_secs_f64());
    if progress.n_recorded_left > 0 {
        text.push_str(&format!("{} found earlier to replay, ", counted(progress.n_recorded_left, "input")));
    }
    text.push_str(&format!("{}, {}", goals(progress), found(progress)));
    text.push_str(&format!(", {}, {}", executions(progress), solving(progress)));
    text.push_str(&format!(", last new goal {} ago", time(since_new(progress))));
    if let Some(left) = left(progress) {
        text.push_str(&format!(", {left} left"));
    }
    text
}

/// A step that begins.
pub fn step(title: &str, what: &str) -> String {
    format!("{}{what}", prefix(title))
}

/// A step that has gone on for a while: `parse: building, compiling reader.c, 12 s`.
pub fn phase(title: &str, what: &str, phase: Option<&str>, elapsed: Duration) -> String {
    let phase = phase.map(|phase| format!(", {phase}")).unwrap_or_default();
    format!("{}{what}{phase}, {}", prefix(title), time(elapsed))
}

/// A few lines, for a terminal.
pub fn lines(title: &str, progress: &Progress, paint: Paint) -> Vec<String> {
    let mut first = format!("{}{}", prefix(title), bar(progress, paint));
    if progress.n_recorded_left > 0 {
        first.push_str(&format!(", {} to replay", counted(progress.n_recorded_left, "input")));
    }
    let aside = |text: &str| paint.text(Meaning::Aside, text);
    let mut time_line = time(progress.elapsed);
    if let Some(left) = left(progress) {
        time_line.push_str(&format!(", {left} left"));
    }
    let crashes = match progress.n_crashes + progress.n_hangs {
        0 => found(progress),
        _ => paint.text(Meaning::Bad, &found(progress)),
    };
    vec![
        first,
        format!(
            "  {crashes} {}",
            aside(&format!("· last new goal {} ago · {time_line}", time(since_new(progress))))
        ),
        format!(
            "  {}",
            aside(&format!(
                "{} · {} · {} candidates",
                executions(progress),
                solving(progress),
                grouped(progress.n_candidates as u64)
            ))
        ),
    ]
}

fn prefix(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("{title}: ") }
}

/// `█████░░░ 5 of 8 goals covered, 3 open`.
fn bar(progress: &Progress, paint: Paint) -> String {
    let n_feasible = progress.n_goals - progress.n_infeasible;
    let n_filled = (BAR * progress.n_covered).checked_div(n_feasible).unwrap_or(BAR);
    let filled = paint.text(Meaning::Good, &"█".repeat(n_filled));
    let empty = paint.text(Meaning::Aside, &"░".repeat(BAR - n_filled));
    let n_open = progress.n_open();
    let covered = paint.text(Meaning::Good, &share(progress));
    let open =
        if n_open == 0 { String::new() } else { paint.text(Meaning::Open, &format!(", {n_open} open")) };
    format!("{filled}{empty} {covered}{open}")
}

fn goals(progress: &Progress) -> String {
    let n_open = progress.n_open();
    format!("{}, {n_open} open", share(progress))
}

/// `5 of 8 goals covered`, `5 of 7 goals covered, 1 more infeasible`.
fn share(progress: &Progress) -> String {
    let n_infeasible = progress.n_infeasible;
    let more = if n_infeasible > 0 { format!(", {n_infeasible} more infeasible") } else { String::new() };
    format!("{} of {} goals covered{more}", progress.n_covered, progress.n_goals - n_infeasible)
}

/// `12 tests, 1 crash`.
fn found(progress: &Progress) -> String {
    let mut text = counted(progress.n_tests, "test");
    match progress.n_crashes {
        0 => {}
        1 => text.push_str(", 1 crash"),
        n => text.push_str(&format!(", {n} crashes")),
    }
    if progress.n_hangs > 0 {
        text.push_str(&format!(", {}", counted(progress.n_hangs, "hang")));
    }
    text
}

/// `1,204 executions (602/s)`.
fn executions(progress: &Progress) -> String {
    let rate = progress.executions as f64 / progress.elapsed.as_secs_f64().max(0.001);
    format!("{} executions ({rate:.0}/s)", grouped(progress.executions))
}

/// `40 queries (solver 61 %)`.
fn solving(progress: &Progress) -> String {
    let n_queries = progress.queries.sat + progress.queries.unsat + progress.queries.unknown;
    format!("{} queries (solver {} %)", grouped(n_queries), solver_share(&progress.timings))
}

/// The part of the work that the solver does, in percent.
pub fn solver_share(timings: &Timings) -> u32 {
    let all = timings.execute + timings.walk + timings.terms + timings.solve;
    if all.is_zero() { 0 } else { (timings.solve.as_secs_f64() * 100.0 / all.as_secs_f64()).round() as u32 }
}

fn since_new(progress: &Progress) -> Duration {
    progress.elapsed.saturating_sub(progress.last_new)
}

/// What is left of the budget, where it has a bound.
fn left(progress: &Progress) -> Option<String> {
    let executions = progress.executions_left.map(|n| format!("{} executions", grouped(n)));
    let parts: Vec<String> = progress.time_left.map(time).into_iter().chain(executions).collect();
    (!parts.is_empty()).then(|| parts.join(" or "))
}

/// `8 s`, `2 m 05 s`, `1 h 20 m`.
pub fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} m", seconds / 3600, seconds / 60 % 60),
    }
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use engine::campaign::Queries;

    use super::*;

    fn progress() -> Progress {
        Progress {
            elapsed: Duration::from_secs(20),
            executions: 12_000,
            n_goals: 8,
            n_covered: 5,
            n_candidates: 7,
            n_tests: 2,
            queries: Queries { sat: 3, unsat: 4, unknown: 0 },
            last_new: Duration::from_secs(12),
            time_left: Some(Duration::from_secs(100)),
            timings: Timings {
                solve: Duration::from_secs(3),
                execute: Duration::from_secs(1),
                ..Timings::default()
            },
            ..Progress::default()
        }
    }

    #[test]
    fn a_line_tells_everything_that_matters() {
        assert_eq!(
            sentence("parse", &progress()),
            "parse: 20 s: 5 of 8 goals covered, 3 open, 2 tests, 12,000 executions (600/s), 7 queries (solver 75 %), \
             last new goal 8 s ago, 1 m 40 s left"
        );
    }

    #[test]
    fn crashes_and_what_is_to_be_repeated_are_named_when_there_are_some() {
        let progress =
            Progress { n_crashes: 1, n_hangs: 2, n_recorded_left: 3, time_left: None, ..progress() };
        let text = sentence("", &progress);
        assert!(text.starts_with("20 s: 3 inputs found earlier to replay, 5 of 8"), "{text}");
        assert!(text.contains("2 tests, 1 crash, 2 hangs, ") && text.ends_with("8 s ago"), "{text}");
    }

    #[test]
    fn a_terminal_gets_three_lines() {
        let lines = lines("parse (3 of 12)", &progress(), Paint(false));
        assert_eq!(
            lines,
            [
                "parse (3 of 12): ████████████░░░░░░░░ 5 of 8 goals covered, 3 open",
                "  2 tests · last new goal 8 s ago · 20 s, 1 m 40 s left",
                "  12,000 executions (600/s) · 7 queries (solver 75 %) · 7 candidates",
            ]
        );
    }

    #[test]
    fn a_long_step_tells_its_phase_and_its_time() {
        let elapsed = Duration::from_secs(72);
        let text = phase("parse", "building", Some("compiling reader.c"), elapsed);
        assert_eq!(text, "parse: building, compiling reader.c, 1 m 12 s");
        assert_eq!(phase("", "reading", None, elapsed), "reading, 1 m 12 s");
    }

    #[test]
    fn times_are_told_as_people_do() {
        let texts = [59, 60, 3599, 3600, 5400].map(|seconds| time(Duration::from_secs(seconds)));
        assert_eq!(texts, ["59 s", "1 m 00 s", "59 m 59 s", "1 h 00 m", "1 h 30 m"]);
    }
}
