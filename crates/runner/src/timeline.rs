//! Keeps a campaign's timeline: how its coverage grew, over time and executions.
//!
//! Method: observes the campaign next to other observers; adds a point when the number of covered goals or of findings
//! grows, and one at the end. A resumed campaign continues the timeline where it ended.

use coverage::{Coverage, GoalId};
use engine::campaign::{Finding, Observer, Progress, Test};
use report::timeline::{Point, Timeline};

/// Keeps the timeline while another observer hears everything too.
pub struct Keeper<'o> {
    other: &'o mut dyn Observer,
    timeline: Timeline,
    /// Where the timeline stood before this campaign began.
    before: Point,
    newest: Point,
}

impl<'o> Keeper<'o> {
    /// Passes everything on to `other`; goes on behind `earlier`.
    pub fn new(other: &'o mut dyn Observer, earlier: Timeline) -> Self {
        let before = earlier.points.last().copied().unwrap_or_default();
        Self { other, timeline: earlier, before, newest: before }
    }

    /// What was kept.
    pub fn finish(mut self) -> Timeline {
        if self.timeline.points.last() != Some(&self.newest) {
            self.timeline.points.push(self.newest);
        }
        self.timeline
    }

    fn note(&mut self, progress: &Progress) {
        let point = Point {
            seconds: rounded(self.before.seconds + progress.elapsed.as_secs_f64()),
            executions: self.before.executions + progress.executions,
            // what was known before is found again first
            covered: progress.n_covered.max(self.before.covered),
            findings: (progress.n_crashes + progress.n_hangs).max(self.before.findings),
        };
        let last = self.timeline.points.last();
        if last.is_none_or(|last| point.covered > last.covered || point.findings > last.findings) {
            self.timeline.points.push(point);
        }
        self.newest = point;
    }
}

impl Observer for Keeper<'_> {
    fn worked(&mut self, progress: &Progress) {
        self.note(progress);
        self.other.worked(progress);
    }

    fn kept(&mut self, test: &Test, progress: &Progress) {
        self.note(progress);
        self.other.kept(test, progress);
    }

    fn found(&mut self, finding: &Finding, progress: &Progress) {
        self.note(progress);
        self.other.found(finding, progress);
    }

    fn asked(&mut self, progress: &Progress) {
        self.other.asked(progress);
    }

    fn decided(&mut self, goal: GoalId, coverage: &Coverage, progress: &Progress) {
        self.other.decided(goal, coverage, progress);
    }
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::campaign::{Queries, Timings};

    use super::*;

    fn progress(seconds: u64, n_covered: usize) -> Progress {
        Progress {
            elapsed: Duration::from_secs(seconds),
            executions: seconds * 10,
            n_goals: 8,
            n_covered,
            n_infeasible: 0,
            n_candidates: 0,
            n_tests: 0,
            n_crashes: 0,
            n_hangs: 0,
            queries: Queries::default(),
            n_recorded_left: 0,
            last_new: Duration::ZERO,
            time_left: None,
            executions_left: None,
            timings: Timings::default(),
        }
    }

    fn kept(earlier: Timeline, reports: &[(u64, usize)]) -> Vec<(f64, u64, usize)> {
        let mut nobody = ();
        let mut keeper = Keeper::new(&mut nobody, earlier);
        for (seconds, n_covered) in reports {
            keeper.worked(&progress(*seconds, *n_covered));
        }
        let points = keeper.finish().points;
        points.iter().map(|point| (point.seconds, point.executions, point.covered)).collect()
    }

    #[test]
    fn points_are_kept_when_coverage_grows_and_at_the_end() {
        let points = kept(Timeline::default(), &[(0, 2), (1, 2), (2, 5), (3, 5), (9, 5)]);
        assert_eq!(points, [(0.0, 0, 2), (2.0, 20, 5), (9.0, 90, 5)]);
    }

    #[test]
    fn a_campaign_that_is_gone_on_with_goes_on_where_its_timeline_ended() {
        let earlier =
            Timeline { points: vec![Point { seconds: 9.0, executions: 90, covered: 5, findings: 0 }] };
        let points = kept(earlier, &[(0, 1), (1, 5), (2, 7)]);
        assert_eq!(points, [(9.0, 90, 5), (11.0, 110, 7)]);
    }
}
