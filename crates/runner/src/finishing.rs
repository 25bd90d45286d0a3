//! When must the work after a search be over?
//!
//! A budget covers everything after the program was built: the search, and making a suite of what it found. A share of the
//! budget is kept for the latter, by the size of the program, because its native build is part of it. Each of its steps may
//! take until a point in time, at which a thread requests an interrupt and ends compilers; it does so at once when the user
//! wants to stop. What a step has not done by then is left out. With a budget of executions nothing depends on time: steps
//! have no end then but the user's.

use std::cell::Cell;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::campaign::Clock;
use frontend::compilers::Group;
use model::Program;

use crate::interrupt::Interrupt;
use crate::spec::BudgetSpec;

/// The part of a budget that is kept for what comes after the search, with its bounds.
const SHARE: u32 = 8;
const LEAST: Duration = Duration::from_millis(800);
/// The same when inputs are checked with sanitizers.
const CHECKED_SHARE: u32 = 5;
const CHECKED_LEAST: Duration = Duration::from_millis(1500);
const MOST: Duration = Duration::from_secs(20);
/// By how much checking may exceed a budget that is no longer than this.
const GRACE: Duration = Duration::from_secs(2);
const SHORT: Duration = Duration::from_secs(10);
/// Instructions that a compiler is sure to translate in a second.
const INSTRUCTIONS_PER_SECOND: u64 = 60_000;
/// How often a step looks at the user's interrupt.
const PAUSE: Duration = Duration::from_millis(20);
/// What a step may still take after the user wanted to stop.
const AFTER_INTERRUPT: Duration = Duration::from_millis(500);

/// A step after the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Proving, a part of the search.
    Prove,
    /// Waiting for the build with sanitizers, which began with the search.
    Await,
    /// Running the tests and findings with sanitizers: what is kept as a test must be known to be sound.
    Vouch,
    /// Running other inputs with sanitizers.
    Check,
    Simplify,
    /// The same for simplified inputs.
    CheckAgain,
    /// Recording expected results.
    Expect {
        confirms: bool,
    },
    Confirm,
    /// Measuring the suite as it was written, and all files that others read.
    Report,
}

impl Step {
    /// When it must be over, in hundredths of the time that is kept for all steps.
    fn until(self) -> u32 {
        match self {
            Self::Prove => 0,
            Self::Await => 60,
            Self::Vouch => 85,
            Self::Check => 50,
            Self::Simplify => 56,
            Self::CheckAgain => 66,
            Self::Expect { confirms: true } => 72,
            Self::Expect { confirms: false } => 82,
            Self::Confirm => 85,
            Self::Report => 95,
        }
    }

    /// How much of the time that the search did not use may be gone when it is over: half of it is for a second search.
    fn of_unused(self, unused: Duration) -> Duration {
        match self {
            Self::Prove => Duration::ZERO,
            Self::Check => unused / 2,
            Self::Await
            | Self::Vouch
            | Self::Simplify
            | Self::CheckAgain
            | Self::Expect { .. }
            | Self::Confirm
            | Self::Report => unused,
        }
    }

    /// Whether it may exceed a short budget: a suite that was not checked is worth little.
    fn has_grace(self) -> bool {
        match self {
            Self::Await | Self::Vouch | Self::Report => true,
            Self::Prove
            | Self::Check
            | Self::Simplify
            | Self::CheckAgain
            | Self::Expect { .. }
            | Self::Confirm => false,
        }
    }
}

/// How the time of a budget is divided.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Time for the search.
    pub search: Duration,
    /// Time for everything; `None` when executions are counted instead.
    whole: Option<Duration>,
    /// What the budget may be exceeded by.
    grace: Duration,
    /// When the search was over.
    searched: Cell<Option<Duration>>,
    /// Time for looking for differences to the version before, which is part of neither.
    aside: Duration,
    /// What of it was used.
    used_aside: Cell<Duration>,
}

impl Plan {
    /// For a program that is built, and what is left of the budget; `checks` when inputs run with sanitizers.
    pub fn new(program: &Program, budget: &BudgetSpec, left: Duration, checks: bool) -> Self {
        if budget.max_executions.is_some() {
            return Self::of(left, None, Duration::ZERO);
        }
        let n_instructions: usize = program.functions.iter().map(|function| function.instrs.len()).sum();
        let compiling = Duration::from_millis(n_instructions as u64 * 1000 / INSTRUCTIONS_PER_SECOND);
        let (share, least) = if checks { (CHECKED_SHARE, CHECKED_LEAST) } else { (SHARE, LEAST) };
        let share = (left / share).clamp(least, MOST) + compiling.min(left / 4);
        let search = left - share.min(left / 2);
        let grace = if checks && left <= SHORT { GRACE } else { Duration::ZERO };
        Self::of(search, Some(left), grace)
    }

    fn of(search: Duration, whole: Option<Duration>, grace: Duration) -> Self {
        let (aside, searched, used_aside) = (Duration::ZERO, Cell::new(None), Cell::new(Duration::ZERO));
        Self { search, whole, grace, searched, aside, used_aside }
    }

    /// With this part of the search's time set aside for differences to the version before.
    #[must_use]
    pub fn setting_aside(self, part: u32) -> Self {
        let aside = self.search / part;
        let whole = self.whole.map(|whole| whole - aside);
        Self { search: self.search - aside, whole, aside, ..self }
    }

    /// What there is for differences, when everything before them is done; a part of it is for the builds of both versions.
    pub fn left_aside(&self, elapsed: Duration) -> Duration {
        let Some(whole) = self.whole else { return self.search };
        let kept = whole - self.search;
        let left = (whole + self.aside).saturating_sub(elapsed).saturating_sub(kept / 5);
        left.min(self.aside.max(left / 2)) * 7 / 10
    }

    /// Notes what differences took: the steps that follow have their time all the same.
    pub fn aside_ended(&self, took: Duration) {
        self.used_aside.set(took);
    }

    /// Without any time beyond the budget: others wait for theirs.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { grace: Duration::ZERO, ..self }
    }

    /// Notes that the search is over: what it did not use is for the steps that follow.
    pub fn search_ended(&self, elapsed: Duration) {
        self.searched.set(Some(elapsed.min(self.search)));
    }

    /// What a step may take from now on; `elapsed` since the program was built.
    pub fn left(&self, step: Step, elapsed: Duration) -> Option<Duration> {
        let whole = self.whole?;
        let searched = self.searched.get().unwrap_or(self.search);
        let kept = whole - self.search;
        let grace = if step.has_grace() { self.grace } else { Duration::ZERO };
        let end = searched + step.of_unused(self.search - searched) + kept * step.until() / 100 + grace;
        Some(end.saturating_sub(elapsed.saturating_sub(self.used_aside.get())))
    }
}

/// An interrupt for one step: the user's, or the end of its time.
pub struct Cut {
    interrupt: Interrupt,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<bool>>,
}

impl Cut {
    /// Requests an interrupt after this time, or when the user does, and then ends the compilers that the step may have
    /// started. Reports are written whatever the user wants, and get a moment more.
    pub fn new(user: &Interrupt, step: Step, left: Option<Duration>) -> Self {
        let is_done_anyway = step == Step::Report;
        let compiles = match step {
            Step::Await | Step::Vouch | Step::Check | Step::Expect { .. } | Step::Confirm => true,
            Step::Prove | Step::Simplify | Step::CheckAgain | Step::Report => false,
        };
        let interrupt = Interrupt::default();
        let (end, ended) = channel();
        let (own, user) = (interrupt.clone(), user.clone());
        let compilers = Group::current();
        // a timer of its own: on a busy machine each pause is longer than asked for
        let (start, mut limit) = (Instant::now(), left);
        let watch = move || {
            let mut was_told = false;
            loop {
                if user.is_requested() && !was_told {
                    was_told = true;
                    let moment = if is_done_anyway { AFTER_INTERRUPT } else { Duration::ZERO };
                    let end = start.elapsed() + moment;
                    limit = Some(limit.map_or(end, |limit| limit.min(end)));
                }
                let left = limit.map(|limit| limit.saturating_sub(start.elapsed()));
                let is_over = left.is_some_and(|left| left.is_zero());
                if is_over {
                    own.request();
                    if compiles {
                        // again and again, until the step has seen it: it may be about to start one
                        compilers.stop();
                    }
                }
                let pause = left.filter(|_| !is_over).unwrap_or(PAUSE).min(PAUSE);
                match ended.recv_timeout(pause) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return is_over && !was_told,
                }
            }
        };
        Self { interrupt, end: Some(end), thread: Some(thread::spawn(watch)) }
    }

    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The step is over; whether its time was, before.
    pub fn was_late(mut self) -> bool {
        self.end.take();
        self.thread.take().is_some_and(|thread| thread.join().unwrap_or(false))
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            // nothing in it panics
            let _ = thread.join();
        }
    }
}

/// How long each step took, in order.
pub struct Stopwatch<'a> {
    clock: &'a dyn Clock,
    last: Duration,
    pub steps: Vec<(&'static str, Duration)>,
}

impl<'a> Stopwatch<'a> {
    pub fn start(clock: &'a dyn Clock) -> Self {
        Self { clock, last: clock.elapsed(), steps: Vec::new() }
    }

    /// What was done since the last look was this.
    pub fn note(&mut self, what: &'static str) {
        let now = self.clock.elapsed();
        self.steps.push((what, now.saturating_sub(self.last)));
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(max_executions: Option<u64>) -> BudgetSpec {
        BudgetSpec { max_executions, ..BudgetSpec::default() }
    }

    #[test]
    fn a_share_of_the_budget_is_kept_and_steps_end_in_order() {
        let seconds = Duration::from_secs;
        let plan = Plan::new(&Program::default(), &budget(None), seconds(30), false);
        assert_eq!(plan.search, Duration::from_millis(26_250));
        let checked = Plan::new(&Program::default(), &budget(None), seconds(30), true);
        assert_eq!(checked.search, seconds(24), "checking takes its share");
        let at = |step| plan.left(step, plan.search).expect("time is limited");
        let steps = [
            Step::Check,
            Step::Simplify,
            Step::CheckAgain,
            Step::Expect { confirms: true },
            Step::Confirm,
            Step::Report,
        ];
        let ends = steps.map(at);
        assert!(ends.is_sorted() && ends[5] < Duration::from_millis(3_750), "{ends:?}");
        assert!(
            at(Step::Await) > at(Step::Check) && at(Step::Vouch) < at(Step::Report),
            "the tests come first"
        );
        assert_eq!(plan.left(Step::Report, seconds(40)), Some(Duration::ZERO));
        plan.search_ended(seconds(1));
        let early = |step| plan.left(step, seconds(1)).expect("time is limited");
        assert!(early(Step::Check) > seconds(13), "a search that ended early leaves its time");
        assert_eq!(
            early(Step::Report),
            at(Step::Report) + plan.search - seconds(1),
            "to the last step all of it"
        );
        let counted = Plan::new(&Program::default(), &budget(Some(9)), seconds(30), true);
        assert_eq!((counted.search, counted.left(Step::Report, seconds(99))), (seconds(30), None));
    }

    #[test]
    fn a_short_budget_is_halved_at_most() {
        let plan = Plan::new(&Program::default(), &budget(None), Duration::from_secs(1), true);
        assert_eq!(plan.search, Duration::from_millis(500));
        let vouching = |plan: &Plan| plan.left(Step::Vouch, Duration::from_secs(2)).expect("time is limited");
        assert!(vouching(&plan) > Duration::ZERO, "the tests are checked beyond its end");
        assert_eq!(vouching(&plan.strict()), Duration::ZERO);
    }

    #[test]
    fn a_cut_follows_the_user_and_the_time() {
        let user = Interrupt::default();
        let cut = Cut::new(&user, Step::Simplify, None);
        assert!(!cut.interrupt().is_requested() && !cut.was_late());
        let late = Cut::new(&user, Step::Simplify, Some(Duration::ZERO));
        while !late.interrupt().is_requested() {
            thread::yield_now();
        }
        assert!(late.was_late());
        user.request();
        let stopped = Cut::new(&user, Step::Simplify, None);
        while !stopped.interrupt().is_requested() {
            thread::yield_now();
        }
        assert!(!stopped.was_late(), "the user wanted it");
    }
}
