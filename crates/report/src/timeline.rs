//! `coverage/timeline.json`: how a campaign's coverage grew, over time and executions.

use serde::{Deserialize, Serialize};

/// Where the timeline is, within an output directory.
pub const TIMELINE_FILE: &str = "coverage/timeline.json";

/// How coverage grew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// In order of time.
    pub points: Vec<Point>,
}

/// How things stood at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Since the search began.
    pub seconds: f64,
    pub executions: u64,
    pub covered: usize,
    /// Crashes and hangs.
    pub findings: usize,
}
