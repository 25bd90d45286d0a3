//! The records written as JSON: `goals.jsonl`, `tests/*.json` and the last line of stdout.

use std::collections::BTreeMap;
use std::path::PathBuf;

use coverage::flow::FlowGoal;
use coverage::{Coverage, Evidence, Facts, GoalId, Invariant, Lost, Reason, Status, TestId};
use model::{GapKind, Program, SpanId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::place::place;

/// Version of all records.
pub const SCHEMA: u32 = 1;

/// What stands in for a function that is defined nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StubRecord {
    pub name: String,
    pub prototype: String,
    /// What a call does.
    pub does: String,
    /// Calls in the test that makes most of them; missing when they give nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<usize>,
}

/// The last line of stdout with `--message-format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub schema: u32,
    pub goals: Counts,
    pub per_criterion: BTreeMap<String, Counts>,
    pub tests: usize,
    /// Of those: not checked with sanitizers, because the budget ended; told when there are any.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unchecked: usize,
    pub executions: u64,
    pub queries: Queries,
    pub divergences: u64,
    /// Runs that left a path which was only a guess; told when there were any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_guesses: u64,
    /// Different findings that a native run shows.
    pub crashes: usize,
    /// What looked like one and no native run showed; told when there are any.
    #[serde(default, skip_serializing_if = "is_none")]
    pub suspicions: usize,
    pub seconds: f64,
    pub stop: Stop,
    /// Inputs on which the version before behaves differently, when one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<usize>,
    /// What other tools say of it, when they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<ConfirmationCounts>,
    pub out: PathBuf,
}

/// Why a campaign ended, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Every goal is covered.
    Complete,
    /// Nothing is left to try.
    #[default]
    Exhausted,
    /// The time of the budget is spent.
    Budget,
    /// The executions of the budget are spent.
    Executions,
    Interrupted,
    /// The program could not be run any more.
    Failed,
}

impl Stop {
    /// Whether the same campaign has nothing left to do.
    pub fn is_final(self) -> bool {
        match self {
            Self::Complete | Self::Exhausted => true,
            Self::Budget | Self::Executions | Self::Interrupted | Self::Failed => false,
        }
    }

    /// Whether more time could bring more.
    pub fn wants_time(self) -> bool {
        match self {
            Self::Budget | Self::Interrupted => true,
            Self::Complete | Self::Exhausted | Self::Executions | Self::Failed => false,
        }
    }

    /// For a person.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Complete => "everything covered",
            Self::Exhausted => "everything tried",
            Self::Budget => "time ran out",
            Self::Executions => "executions ran out",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_none(number: &usize) -> bool {
    *number == 0
}

fn is_false(truth: &bool) -> bool {
    !*truth
}

/// What a confirmation comes to, in the last line of stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmationCounts {
    pub confirmed: usize,
    pub unseen: usize,
    pub disagreements: usize,
    pub findings: usize,
}

impl ConfirmationCounts {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            confirmed: self.confirmed + other.confirmed,
            unseen: self.unseen + other.unseen,
            disagreements: self.disagreements + other.disagreements,
            findings: self.findings + other.findings,
        }
    }
}

/// Goals by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub total: usize,
    pub covered: usize,
    /// Proved infeasible for every input.
    pub infeasible: usize,
    /// Proved infeasible under assumptions of the input model; the proof names them.
    #[serde(default)]
    pub infeasible_bounded: usize,
    pub undecided: usize,
    /// Of those covered: only by runs that crash, hang or go outside of an object. Told when there are any.
    #[serde(default, skip_serializing_if = "is_none")]
    pub only_by_crash: usize,
}

/// Solver queries by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queries {
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
}

/// A line of `goals.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalLine {
    /// Its number in this run.
    pub id: u32,
    /// What names it in every run; empty in records of before there were keys.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    pub criterion: String,
    #[serde(flatten)]
    pub place: Option<SourcePosition>,
    pub function: String,
    pub demand: String,
    #[serde(flatten)]
    pub flow: Option<FlowLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// No input covers it that could be kept as a test.
    #[serde(default, skip_serializing_if = "is_false")]
    pub only_by_crash: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<WhyRecord>,
    /// How it is known that no input covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
}

/// Why a goal is undecided, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyRecord {
    /// One word of those that docs/reasons.md lists.
    pub cause: String,
    /// The function, option or value that is meant, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What no run passed, when none came to the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Which prover gave up on it, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_proved: Option<String>,
    /// Runs that came to where it is decided, and candidates by what came of them.
    pub reached: u64,
    pub unsatisfiable: u64,
    pub unsolved: u64,
    pub diverged: u64,
    pub waiting: u64,
    pub left_out: u64,
}

impl WhyRecord {
    fn of(program: &Program, reason: &Reason) -> Self {
        let (by, at) = reason.cause.about(program);
        let tried = reason.tried;
        Self {
            cause: reason.cause.word().to_owned(),
            by,
            at: at.map(|span| place(program, Some(span))),
            before: reason.before.map(|before| before.describe(program)),
            not_proved: reason.attempt.clone(),
            reached: tried.reached,
            unsatisfiable: tried.unsatisfiable,
            unsolved: tried.unsolved,
            diverged: tried.diverged,
            waiting: tried.waiting,
            left_out: tried.left_out,
        }
    }
}

/// How it is known that no input covers a goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceRecord {
    /// The certificate, within the output directory.
    pub proof: String,
    /// The limits that the proof needs; none when it holds for every input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under: Vec<String>,
    /// Whether a run may break what the proof assumes: one that covers the goal is right then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refutable: bool,
    /// What holds at places of the source; none when the ways to the goal exclude it by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<InvariantRecord>,
    /// How they make an argument; missing where each follows from those before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub how: String,
}

/// What holds whenever control is at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvariantRecord {
    #[serde(flatten)]
    pub place: SourcePosition,
    /// C expressions, all of which are true.
    pub holds: Vec<String>,
}

impl From<&Evidence> for EvidenceRecord {
    fn from(evidence: &Evidence) -> Self {
        let invariant = |Invariant { file, line, column, holds }: &Invariant| InvariantRecord {
            place: SourcePosition { file: file.clone(), line: *line, column: *column },
            holds: holds.clone(),
        };
        Self {
            proof: evidence.proof.clone(),
            under: evidence.under.clone(),
            refutable: evidence.is_refutable,
            invariants: evidence.invariants.iter().map(invariant).collect(),
            how: evidence.how.clone(),
        }
    }
}

impl From<&EvidenceRecord> for Evidence {
    fn from(record: &EvidenceRecord) -> Self {
        let invariant = |InvariantRecord { place, holds }: &InvariantRecord| Invariant {
            file: place.file.clone(),
            line: place.line,
            column: place.column,
            holds: holds.clone(),
        };
        Self {
            proof: record.proof.clone(),
            under: record.under.clone(),
            is_refutable: record.refutable,
            invariants: record.invariants.iter().map(invariant).collect(),
            how: record.how.clone(),
        }
    }
}

/// What was spent while the search aimed at a goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    pub seconds: f64,
    pub executions: u64,
}

/// What a goal of data flow is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowLine {
    pub variable: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<SourcePosition>,
    /// `c-use` or `p-use`; the goal's own place is where it is.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub use_: Option<String>,
    /// What every path passes that covers the pair; only where goals are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_points: Vec<SourcePosition>,
}

/// Where something begins in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePosition {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// State of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Covered,
    Infeasible,
    Undecided,
}

/// `tests/test_001.json`, and the inputs in `crashes/` and `hangs/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test {
    pub schema: u32,
    /// What it is called, by what it covers and how it ends.
    #[serde(default)]
    pub name: String,
    /// The same as a sentence.
    #[serde(default)]
    pub description: String,
    pub function: String,
    /// By parameter name; may be edited.
    pub input: Value,
    /// Where the input comes from: `zero`, `random`, `solved` and so on; missing in tests that people wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<String>,
    /// Where an imported test comes from: file, and line where it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// For a test that was made from others: which of them it is most like, and what is different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<Likeness>,
    /// The budget ended before it was checked with sanitizers: it may misuse what it passes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unchecked: bool,
    /// How the execution ended.
    pub end: String,
    /// What must come of it, as a native build showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// What a native run showed of it, when it is a finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<FindingRecord>,
    /// Everything the execution covers.
    pub covers: Vec<Covered>,
}

/// A test that another one is like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Likeness {
    /// Its name.
    pub test: String,
    /// What is different, in words.
    pub differences: Vec<String>,
}

impl std::fmt::Display for Likeness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "like {}, but {}", self.test, self.differences.join(", "))
    }
}

/// An error that a native run showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRecord {
    /// The sanitizer's name for it, such as `heap-buffer-overflow`, or `signal`.
    pub kind: String,
    pub message: String,
    /// Where it happens.
    #[serde(flatten)]
    pub place: Option<SourcePosition>,
    /// The calls that led there, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<FrameRecord>,
    /// The file of the first input that shows the same; this one is kept for what it covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// A command that shows it again.
    pub reproduce: String,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameRecord {
    pub function: String,
    #[serde(flatten)]
    pub place: SourcePosition,
}

/// What must come of a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// How it ends; empty when that is not the same in every run.
    pub end: String,
    /// What it returns and changes, by C expression.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Value>,
    /// What it prints, a character per byte; of a function only if it prints something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// What is not compared, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The objects of the test that the call frees, when it leaves no memory of its own behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freed: Option<Vec<String>>,
}

/// A goal that a test covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    pub goal: u32,
    /// What names the goal in every run; empty in records of before there were keys.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    pub criterion: String,
    pub at: String,
    pub demand: String,
    /// Whether this test was the first.
    pub new: bool,
}

/// A named gap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    pub kind: String,
    pub what: String,
    pub at: String,
    pub function: Option<String>,
    /// How many runs met it; missing for one that every run would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
}

impl GoalLine {
    /// A goal without its state.
    pub fn listed(program: &Program, coverage: &Coverage, id: GoalId) -> Self {
        let goal = coverage.goal(id);
        Self {
            id: id.0,
            key: coverage.key(id).to_owned(),
            criterion: goal.criterion.to_owned(),
            place: goal.span.map(|span| SourcePosition::of(program, span)),
            function: program.function(goal.function).name.clone(),
            demand: goal.describe(program),
            flow: goal.flow.as_deref().map(|flow| FlowLine::of(program, flow)),
            state: None,
            test: None,
            only_by_crash: false,
            reason: None,
            why: None,
            evidence: None,
            search: None,
        }
    }

    /// A goal with its state.
    pub fn decided(
        program: &Program,
        coverage: &Coverage,
        id: GoalId,
        file: impl Fn(TestId) -> String,
    ) -> Self {
        let listed = Self::listed(program, coverage, id);
        match coverage.status(id) {
            Status::Covered { by } => {
                let only_by_crash = coverage.is_only_by_crash(id);
                Self { state: Some(State::Covered), test: Some(file(*by)), only_by_crash, ..listed }
            }
            Status::Infeasible { evidence } => {
                Self { state: Some(State::Infeasible), evidence: Some(evidence.into()), ..listed }
            }
            Status::Undecided(reason) => {
                let why = Some(WhyRecord::of(program, reason));
                let (state, reason) = (Some(State::Undecided), Some(reason.describe(program)));
                Self { state, reason, why, ..listed }
            }
        }
    }
}

impl FlowLine {
    fn of(program: &Program, flow: &FlowGoal) -> Self {
        Self {
            variable: flow.variable.clone(),
            definition: flow.definition.map(|span| SourcePosition::of(program, span)),
            use_: flow.use_.map(|(_, kind)| kind.to_string()),
            cut_points: Vec::new(),
        }
    }
}

impl SourcePosition {
    /// Where a reader sees it.
    pub fn of(program: &Program, span: SpanId) -> Self {
        let at = program.span(span).at;
        Self { file: program.file(at.file).path.clone(), line: at.line, column: at.column }
    }
}

impl Covered {
    /// A goal as the record of a test names it.
    pub fn from_goal(program: &Program, coverage: &Coverage, id: GoalId, new: bool) -> Self {
        let goal = coverage.goal(id);
        Self {
            goal: id.0,
            key: coverage.key(id).to_owned(),
            criterion: goal.criterion.to_owned(),
            at: place(program, goal.span),
            demand: goal.describe(program),
            new,
        }
    }

    /// The goal that it is, among those of a program that may have been changed.
    pub fn find<'c>(&self, among: &'c [Self]) -> Option<&'c Self> {
        among.iter().find(|other| match self.key.as_str() {
            "" => (&self.criterion, &self.at, &self.demand) == (&other.criterion, &other.at, &other.demand),
            key => key == other.key,
        })
    }
}

impl Counts {
    /// Those that no proof rules out for every input: what percentages are of.
    pub fn feasible(&self) -> usize {
        self.total - self.infeasible
    }

    /// `6 of 8 branches`; when one of the 8 is infeasible, `6 of 6 feasible branches`, or `6 of 7 branches (1 more infeasible)` while
    /// nobody knows whether others are.
    pub fn share(&self, word: &str) -> String {
        let Self { covered, infeasible, .. } = self;
        let n = self.feasible();
        match (infeasible, n == *covered) {
            (0, _) => format!("{covered} of {n} {word}"),
            (_, true) => format!("{covered} of {n} feasible {word}"),
            (_, false) => format!("{covered} of {n} {word} ({infeasible} more infeasible)"),
        }
    }

    /// Together with others.
    pub fn add_all(&mut self, other: Self) {
        self.total += other.total;
        self.covered += other.covered;
        self.infeasible += other.infeasible;
        self.infeasible_bounded += other.infeasible_bounded;
        self.undecided += other.undecided;
        self.only_by_crash += other.only_by_crash;
    }

    fn add(&mut self, status: &Status) {
        self.total += 1;
        match status {
            Status::Covered { .. } => self.covered += 1,
            Status::Infeasible { evidence } if evidence.is_bounded() => self.infeasible_bounded += 1,
            Status::Infeasible { .. } => self.infeasible += 1,
            Status::Undecided(_) => self.undecided += 1,
        }
    }

    /// Covered of what is not infeasible, in percent.
    pub fn percentage(&self) -> f64 {
        let possible = self.feasible();
        if possible == 0 { 100.0 } else { self.covered as f64 * 100.0 / possible as f64 }
    }
}

impl Counts {
    /// The same where limits of the input model are accepted: what only they exclude counts as infeasible, too.
    #[must_use]
    pub fn accepting_bounded(self) -> Self {
        let infeasible = self.infeasible + self.infeasible_bounded;
        Self { infeasible, infeasible_bounded: 0, ..self }
    }
}

/// All goals, and the goals of each criterion.
pub fn counts(coverage: &Coverage) -> (Counts, BTreeMap<String, Counts>) {
    let mut all = Counts::default();
    let mut per_criterion: BTreeMap<String, Counts> = BTreeMap::new();
    for (id, goal, status) in coverage.goals() {
        for counts in [&mut all, per_criterion.entry(goal.criterion.to_owned()).or_default()] {
            counts.add(status);
            counts.only_by_crash += usize::from(coverage.is_only_by_crash(id));
        }
    }
    (all, per_criterion)
}

/// The program's gaps in source order, each once, then those that runs met, with the number of runs.
pub fn gaps(program: &Program, facts: &Facts) -> Vec<Gap> {
    let record = |gap: &model::Gap, runs: Option<u64>| Gap {
        kind: gap_kind(gap.kind).to_owned(),
        what: gap.what.clone(),
        at: place(program, gap.span),
        function: gap.function.map(|function| program.function(function).name.clone()),
        runs,
    };
    let mut gaps: Vec<Gap> = Vec::new();
    for gap in program.gaps.iter().map(|gap| record(gap, None)) {
        if !gaps.contains(&gap) {
            gaps.push(gap);
        }
    }
    let mut met: BTreeMap<Option<u32>, (model::Gap, u64)> = BTreeMap::new();
    let mut add = |place: Lost, n_runs: u64| {
        let (key, gap) = match place {
            Lost::Site(site) => (Some(site), program.sites.get(site as usize).cloned()),
            Lost::Access(span) => (Some(ACCESSES + span.0), Some(pinned("an address", Some(span)))),
            Lost::Unknown => (None, Some(pinned("a value", None))),
        };
        let Some(gap) = gap else { return };
        let (_, known) = met.entry(key).or_insert((gap, 0));
        *known = (*known).max(n_runs);
    };
    facts.all_unfollowed().iter().for_each(|(site, n_runs)| add(Lost::Site(*site), *n_runs));
    facts.all_pinned().iter().for_each(|(place, n_runs)| add(*place, *n_runs));
    gaps.extend(met.into_values().map(|(gap, n_runs)| record(&gap, Some(n_runs))));
    gaps
}

/// Accesses are counted behind sites.
const ACCESSES: u32 = 1 << 31;

fn pinned(what: &str, span: Option<SpanId>) -> model::Gap {
    model::Gap { kind: GapKind::PinnedValue, function: None, span, what: what.to_owned() }
}

fn gap_kind(kind: GapKind) -> &'static str {
    match kind {
        GapKind::InlineAssembly => "inline assembly",
        GapKind::Vector => "vector code",
        GapKind::WideInteger => "wide integer",
        GapKind::FloatingPoint => "floating point",
        GapKind::VariableArguments => "variable arguments",
        GapKind::AtomicOperation => "atomic operation",
        GapKind::Exception => "exception",
        GapKind::UndefinedSymbol => "undefined symbol",
        GapKind::UnmarkedCondition => "unmarked condition",
        GapKind::Input => "input",
        GapKind::Instruction => "instruction",
        GapKind::Thread => "thread",
        GapKind::LibraryFunction => "library function",
        GapKind::PinnedValue => "pinned value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> GoalLine {
        serde_json::from_str(text).expect("a line of goals.jsonl")
    }

    #[test]
    fn a_line_of_an_infeasible_goal_survives_reading_and_writing() {
        for written in [
            r#"{"id":3,"criterion":"branch","file":"f.c","line":2,"column":9,"function":"f","demand":"(n > 3) is true","state":"infeasible","evidence":{"proof":"proofs/f.proof"}}"#,
            r#"{"id":3,"criterion":"branch","file":"f.c","line":2,"column":9,"function":"f","demand":"(n > 3) is true","state":"infeasible","evidence":{"proof":"proofs/f.proof","under":["arrays have at most 64 elements"]}}"#,
        ] {
            let line = line(written);
            assert_eq!(line.state, Some(State::Infeasible));
            let evidence = Evidence::from(line.evidence.as_ref().expect("it has evidence"));
            assert_eq!(evidence.is_bounded(), written.contains("under"));
            assert_eq!(EvidenceRecord::from(&evidence), *line.evidence.as_ref().expect("it has evidence"));
            assert_eq!(serde_json::to_string(&line).expect("JSON"), written);
        }
    }

    #[test]
    fn counts_written_before_there_were_proofs_are_read() {
        let counts = r#"{"total":4,"covered":3,"infeasible":0,"undecided":1}"#;
        let counts: Counts = serde_json::from_str(counts).expect("counts");
        assert_eq!(counts.infeasible_bounded, 0);
    }

    #[test]
    fn percentages_leave_out_what_no_input_covers_but_not_what_limits_exclude() {
        let proved = |under: &[&str]| Status::Infeasible {
            evidence: Evidence {
                proof: "p".to_owned(),
                under: under.iter().map(|limit| (*limit).to_owned()).collect(),
                ..Evidence::default()
            },
        };
        let mut counts = Counts::default();
        let covered = Status::Covered { by: TestId(1) };
        for status in [&covered, &covered, &covered, &proved(&[]), &proved(&["strings are short"])] {
            counts.add(status);
        }
        let expected =
            Counts { total: 5, covered: 3, infeasible: 1, infeasible_bounded: 1, ..Counts::default() };
        assert_eq!(counts, expected);
        assert_eq!(
            (counts.percentage(), counts.share("branches")),
            (75.0, "3 of 4 branches (1 more infeasible)".to_owned())
        );
    }
}
