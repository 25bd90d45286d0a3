//! Progress of a campaign: a few lines that are updated in place on a terminal, a line every few seconds elsewhere, events
//! for programs.
//!
//! Lines go to stderr; events are JSON lines on stdout, before the result. The terminal is never put into a state that
//! would have to be restored: a killed run leaves it as it is.

mod events;
mod screen;
mod text;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use engine::campaign::{Finding, Observer, Progress, Test};
use engine::executor::End;

use report::functions::FunctionEntry;
use runner::watcher::Watcher;

use crate::say::say;
use events::Event;
use screen::Screen;

const ON_TERMINAL: Duration = Duration::from_millis(100);
const AS_EVENTS: Duration = Duration::from_secs(1);
const ELSEWHERE: Duration = Duration::from_secs(5);

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Nobody,
    /// A person who looks at stderr.
    Person,
    /// A program that reads stdout.
    Program,
}

/// Tells how campaigns go.
pub struct ProgressView {
    mode: Mode,
    /// What is worked on: `parse`, or `parse (3 of 12)`.
    title: String,
    /// When something was shown last.
    shown: Instant,
}

enum Mode {
    Quiet,
    Terminal(Screen),
    Lines,
    Events,
}

impl Mode {
    fn pause(&self) -> Duration {
        match self {
            Self::Terminal(_) => ON_TERMINAL,
            Self::Events => AS_EVENTS,
            Self::Quiet | Self::Lines => ELSEWHERE,
        }
    }
}

impl ProgressView {
    /// What fits the audience and this terminal.
    pub fn new(audience: Audience) -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let mode = match audience {
            Audience::Nobody => Mode::Quiet,
            Audience::Program => Mode::Events,
            Audience::Person if std::io::stderr().is_terminal() && !is_dumb => Mode::Terminal(Screen::new()),
            Audience::Person => Mode::Lines,
        };
        Self { mode, title: String::new(), shown: Instant::now() }
    }

    /// Whether it is time to show something again.
    fn is_due(&mut self) -> bool {
        let is_due = self.shown.elapsed() >= self.mode.pause();
        if is_due {
            self.shown = Instant::now();
        }
        is_due
    }

    fn show(&mut self, progress: &Progress) {
        match &mut self.mode {
            Mode::Quiet => {}
            Mode::Terminal(screen) => {
                let lines = text::lines(&self.title, progress, screen.paint());
                screen.show(&lines);
            }
            Mode::Lines => eprintln!("{}", text::sentence(&self.title, progress)),
            Mode::Events => Event::progress(&self.title, progress).say(),
        }
    }

    fn found(&mut self, kind: &str, test: &Test, progress: &Progress) {
        match self.mode {
            Mode::Events => Event::found(&self.title, kind, test, progress).say(),
            Mode::Quiet | Mode::Terminal(_) | Mode::Lines => {}
        }
    }
}

impl Drop for ProgressView {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Watcher for ProgressView {
    fn begin(&mut self, title: &str) {
        title.clone_into(&mut self.title);
    }

    fn step(&mut self, what: &str) {
        self.shown = Instant::now();
        let text = text::step(&self.title, what);
        match &mut self.mode {
            Mode::Terminal(screen) => screen.show(&[text]),
            Mode::Events => Event::Step { function: &self.title, step: what }.say(),
            // what may take long is announced, its parts are not
            Mode::Lines if !what.contains(|c: char| c.is_ascii_digit()) => eprintln!("{text}"),
            Mode::Quiet | Mode::Lines => {}
        }
    }

    fn phase(&mut self, what: &str, phase: Option<&str>, elapsed: Duration) {
        if !self.is_due() {
            return;
        }
        let text = text::phase(&self.title, what, phase, elapsed);
        match &mut self.mode {
            Mode::Terminal(screen) => screen.show(&[text]),
            Mode::Lines => eprintln!("{text}"),
            Mode::Events => Event::Step { function: &self.title, step: phase.unwrap_or(what) }.say(),
            Mode::Quiet => {}
        }
    }

    fn clear(&mut self) {
        match &mut self.mode {
            Mode::Terminal(screen) => screen.clear(),
            Mode::Quiet | Mode::Lines | Mode::Events => {}
        }
    }

    fn remark(&mut self, text: &str) {
        self.clear();
        match self.mode {
            Mode::Terminal(_) | Mode::Lines => eprintln!("{text}"),
            Mode::Quiet | Mode::Events => {}
        }
    }

    fn warn(&mut self, text: &str) {
        self.clear();
        eprintln!("note: {text}");
    }

    fn function_done(&mut self, entry: &FunctionEntry) {
        self.clear();
        match self.mode {
            Mode::Events => Event::Function { entry }.say(),
            Mode::Lines => eprintln!("{}", entry.sentence()),
            Mode::Quiet | Mode::Terminal(_) => {}
        }
    }
}

impl Observer for ProgressView {
    fn worked(&mut self, progress: &Progress) {
        if self.is_due() {
            self.show(progress);
        }
    }

    fn kept(&mut self, test: &Test, progress: &Progress) {
        self.found("test", test, progress);
    }

    fn found(&mut self, finding: &Finding, progress: &Progress) {
        let kind = if finding.test.end == End::TimedOut { "hang" } else { "crash" };
        self.found(kind, &finding.test, progress);
    }
}

impl Event<'_> {
    fn say(&self) {
        // a line that cannot be written is one that nobody reads
        if let Ok(line) = serde_json::to_string(self) {
            say(line);
        }
    }
}
