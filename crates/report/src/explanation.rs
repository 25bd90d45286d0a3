//! `explanations.jsonl` and `chains.jsonl`: why goals are open, as `quarry explain` prints it and the page shows it, and which event
//! sequences the search followed.

use serde::{Deserialize, Serialize};

/// Where they are, within an output directory.
pub const EXPLANATIONS_FILE: &str = "explanations.jsonl";
pub const CHAINS_FILE: &str = "chains.jsonl";

/// What is known about a goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    pub id: u32,
    pub key: String,
    /// `a.c:12:7  (n > 3) is true  [branch]`
    pub goal: String,
    pub state: String,
    pub tests: usize,
    pub problems: Vec<ExplainedProblem>,
}

/// A branch that no test takes as it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedProblem {
    pub at: String,
    /// `(success) should be true`
    pub wanted: String,
    /// The line of the source.
    pub line: String,
    /// Tests that come there.
    pub reached: usize,
    /// What the variables that decide it held there, in tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<SeenValues>,
    pub definitions: Vec<ExplainedDefinition>,
    pub sequences: Vec<ExplainedSequence>,
    /// Sequences beyond those that are listed.
    pub more_sequences: usize,
    /// What the search followed to solve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<TriedSequences>,
}

/// What a variable held where it decides a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenValues {
    pub variable: String,
    /// The first few, in order.
    pub values: Vec<String>,
    /// Values beyond those that are listed.
    pub more: usize,
}

/// A definition that may reach it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedDefinition {
    pub variable: String,
    pub at: String,
    /// The line of the source.
    pub line: String,
    /// What its value makes of the problem: `solves`, `fails`, `open`.
    pub promise: String,
    /// Tests that bring it there.
    pub tests: usize,
}

/// What would have to happen, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedSequence {
    pub events: Vec<String>,
    /// What must not happen in between.
    pub threats: Vec<String>,
}

/// A line of `chains.jsonl`: the event sequences that the search followed for one outcome of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainLine {
    /// As in [`ExplainedProblem`], by which the two are brought together.
    pub at: String,
    pub wanted: String,
    #[serde(flatten)]
    pub tried: TriedSequences,
}

/// Event sequences that were followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedSequences {
    /// Executions that were made for them.
    pub runs: u64,
    /// How many there were, those that were refuted without a run with them.
    pub sequences: u64,
    /// Whether all of them were tried to their end.
    pub saturated: bool,
    /// Those that got furthest, in the order in which they were tried.
    pub tried: Vec<TriedSequence>,
}

/// An event sequence, and where it broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedSequence {
    pub events: Vec<String>,
    /// How many of the events a run passed.
    pub passed: usize,
    /// `no run passed (n > 3) is true at a.c:9:9`
    pub broke: String,
    pub runs: u64,
}
