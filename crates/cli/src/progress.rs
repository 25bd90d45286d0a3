//! Progress on stderr: one line that changes on a terminal, a line every few seconds elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use engine::campaign::{Observer, Progress};

const ON_TERMINAL: Duration = Duration::from_millis(100);
const ELSEWHERE: Duration = Duration::from_secs(5);

/// Prints how a campaign goes.
pub struct ProgressLine {
    mode: Mode,
    next: Duration,
    /// Something stands on the terminal's line.
    shown: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Quiet,
    Terminal,
    Lines,
}

impl ProgressLine {
    /// What fits this stderr; nothing when quiet.
    pub fn new(quiet: bool) -> Self {
        let mode = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Mode::Quiet,
            (false, true) => Mode::Terminal,
            (false, false) => Mode::Lines,
        };
        let next = if mode == Mode::Lines { ELSEWHERE } else { ON_TERMINAL };
        Self { mode, next, shown: false }
    }

    /// Says which step is under way, before there is a campaign.
    pub fn step(&mut self, what: &str) {
        if self.mode == Mode::Terminal {
            self.replace(what);
        }
    }

    /// Takes the line off the terminal.
    pub fn clear(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
            self.shown = false;
        }
    }

    fn replace(&mut self, text: &str) {
        eprint!("\r\x1b[K{text}");
        // a terminal that went away is no reason to stop
        let _ = std::io::stderr().flush();
        self.shown = true;
    }

    fn show(&mut self, progress: &Progress) {
        match self.mode {
            Mode::Quiet => {}
            Mode::Terminal => self.replace(&sentence(progress)),
            Mode::Lines => eprintln!("{}", sentence(progress)),
        }
    }
}

impl Observer for ProgressLine {
    fn worked(&mut self, progress: &Progress) {
        if progress.elapsed >= self.next {
            self.next = progress.elapsed + if self.mode == Mode::Lines { ELSEWHERE } else { ON_TERMINAL };
            self.show(progress);
        }
    }
}

fn sentence(progress: &Progress) -> String {
    let mut text = format!(
        "{:.0} s: {} of {} goals, {} tests, {} executions, {} queries, {} candidates",
        progress.elapsed.as_secs_f64(),
        progress.n_covered,
        progress.n_goals,
        progress.n_tests,
        progress.executions,
        progress.queries.sat + progress.queries.unsat + progress.queries.unknown,
        progress.n_candidates,
    );
    for (n, word) in [(progress.n_crashes, "crashes"), (progress.n_hangs, "hangs")] {
        if n > 0 {
            text.push_str(&format!(", {n} {word}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use engine::campaign::Queries;

    use super::*;

    #[test]
    fn progress_names_crashes_only_when_there_are_some() {
        let mut progress = Progress {
            elapsed: Duration::from_secs(3),
            executions: 40,
            n_goals: 8,
            n_covered: 5,
            n_candidates: 7,
            n_tests: 2,
            n_crashes: 0,
            n_hangs: 0,
            queries: Queries { sat: 3, unsat: 4, unknown: 0 },
            ..Progress::default()
        };
        assert_eq!(sentence(&progress), "3 s: 5 of 8 goals, 2 tests, 40 executions, 7 queries, 7 candidates");
        progress.n_crashes = 1;
        assert!(sentence(&progress).ends_with(", 1 crashes"));
    }
}
