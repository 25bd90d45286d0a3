//! A measured suite: what each input adds, what is covered by criterion, and what no input covers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use coverage::{Facts, Goal, GoalId, Status};
use engine::executor::End;
use serde::Serialize;

use report::mcdc::{DecisionTable, LEGEND, tables};
use report::place::place;
use report::record::{self, Counts, GoalLine, SCHEMA, gaps};
use report::words::{counted, goal_word, line};
use runner::cover::{MeasuredInput, MeasuredSuite, Unmeasured};

use crate::exit::Failure;

/// What is said of a measured suite.
pub struct SuiteText<'a> {
    suite: &'a MeasuredSuite,
}

/// The last line of stdout with `--message-format json`.
#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    goals: Counts,
    per_criterion: BTreeMap<String, Counts>,
    tests: usize,
    executions: usize,
    crashes: usize,
    hangs: usize,
    seconds: f64,
    stop: &'static str,
    function: &'a str,
    suite: &'a Path,
    inputs: Vec<InputLine<'a>>,
    unmeasured: &'a [Unmeasured],
    uncovered: Vec<GoalLine>,
    /// Decisions with MC/DC obligations that are not covered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<DecisionTable>,
}

#[derive(Serialize)]
struct InputLine<'a> {
    file: &'a str,
    end: String,
    covers: usize,
    adds: Vec<GoalLine>,
}

impl<'a> SuiteText<'a> {
    /// Of this suite.
    pub fn of(suite: &'a MeasuredSuite) -> Self {
        Self { suite }
    }

    /// All goals, and the goals of each criterion.
    pub fn counts(&self) -> (Counts, BTreeMap<String, Counts>) {
        record::counts(&self.suite.coverage)
    }

    /// One JSON object.
    pub fn json(&self) -> Result<String, Failure> {
        let program = self.suite.subject.program();
        let (goals, per_criterion) = self.counts();
        let summary = Summary {
            schema: SCHEMA,
            goals,
            per_criterion,
            tests: self.suite.inputs.iter().filter(|input| input.end.is_orderly()).count(),
            executions: self.suite.inputs.len(),
            crashes: self.suite.inputs.iter().filter(|input| is_crash(input.end)).count(),
            hangs: self.suite.inputs.iter().filter(|input| input.end == End::TimedOut).count(),
            seconds: (self.suite.seconds * 1000.0).round() / 1000.0,
            stop: if self.suite.interrupted { "interrupted" } else { "measured" },
            function: self.suite.subject.function(),
            suite: &self.suite.directory,
            inputs: self.suite.inputs.iter().map(|input| self.input_line(input)).collect(),
            unmeasured: &self.suite.unmeasured,
            decisions: self.tables(),
            uncovered: self
                .uncovered()
                .map(|(id, _)| GoalLine::listed(program, &self.suite.coverage, id))
                .collect(),
        };
        serde_json::to_string(&summary)
            .map_err(|error| Failure::internal(format!("cannot write the summary as JSON: {error}")))
    }

    fn input_line<'i>(&self, input: &'i MeasuredInput) -> InputLine<'i> {
        let program = self.suite.subject.program();
        InputLine {
            file: &input.file,
            end: input.end.to_string(),
            covers: input.covers,
            adds: self
                .added(input)
                .map(|(id, _)| GoalLine::listed(program, &self.suite.coverage, id))
                .collect(),
        }
    }

    /// The goals that an input adds.
    fn added<'r>(&'r self, input: &'r MeasuredInput) -> impl Iterator<Item = (GoalId, &'r Goal)> {
        input.adds.iter().map(|id| (*id, self.suite.coverage.goal(*id)))
    }

    /// For a person.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for input in &self.suite.inputs {
            self.input(&mut text, input);
        }
        if !self.suite.inputs.is_empty() {
            text.push('\n');
        }
        self.summary_lines(&mut text);
        self.notes(&mut text);
        self.not_covered(&mut text);
        self.missing_vectors(&mut text);
        text
    }

    fn input(&self, text: &mut String, input: &MeasuredInput) {
        let call = self.suite.subject.call(&input.input);
        let adds = match (input.adds.len(), input.covers) {
            (0, covers) => format!("covers {}, adds none", counted(covers, "goal")),
            (adds, covers) if adds == covers => format!("adds {}", counted(adds, "goal")),
            (adds, covers) => format!("adds {adds} of {}", counted(covers, "goal")),
        };
        line(text, format_args!("{}  {call}  {}: {adds}", input.file, input.end));
        for (_, goal) in self.added(input) {
            line(text, format_args!("    {}", self.goal(goal)));
        }
    }

    /// `bubble.c:12:9  (n >= 6) is true`, and the criterion when there are several.
    fn goal(&self, goal: &Goal) -> String {
        let program = self.suite.subject.program();
        let criterion =
            if self.suite.several_criteria { format!("  [{}]", goal.criterion) } else { String::new() };
        format!("{}  {}{criterion}", place(program, goal.span), goal.describe(program))
    }

    /// `6 of 8 branches covered (75.0%) by 4 inputs`, a line per criterion.
    fn summary_lines(&self, text: &mut String) {
        let (all, per_criterion) = self.counts();
        let inputs = counted(self.suite.inputs.len(), "input");
        for (criterion, counts) in &per_criterion {
            let share = counts.share(goal_word(criterion));
            let by = if per_criterion.len() == 1 { format!(" by {inputs}") } else { String::new() };
            line(text, format_args!("{share} covered ({:.1}%){by}", counts.percentage()));
        }
        if per_criterion.len() != 1 {
            let (share, percentage) = (all.share("goals"), all.percentage());
            line(text, format_args!("{share} covered ({percentage:.1}%) by {inputs}"));
        }
    }

    fn notes(&self, text: &mut String) {
        let count = |predicate: fn(&MeasuredInput) -> bool| {
            self.suite.inputs.iter().filter(|input| predicate(input)).count()
        };
        let notes = [
            (count(|input| is_crash(input.end)), "executions that crashed, counted up to the crash"),
            (
                count(|input| input.end == End::TimedOut),
                "executions that timed out, counted up to the timeout",
            ),
            (count(|input| input.log_full), "executions that ran out of path log, counted up to that point"),
            (self.suite.unmeasured.len(), "inputs that could not be measured"),
            (
                gaps(self.suite.subject.program(), &Facts::default()).len(),
                "gaps: unsupported constructs, executed concretely",
            ),
        ];
        for (n, what) in notes.into_iter().filter(|(n, _)| *n > 0) {
            line(text, format_args!("note: {what}: {n}"));
        }
    }

    fn not_covered(&self, text: &mut String) {
        if self.uncovered().next().is_some() {
            writeln!(text, "\nnot covered:").expect("writing to a string succeeds");
        }
        for (_, goal) in self.uncovered() {
            line(text, format_args!("    {}", self.goal(goal)));
        }
    }

    /// What would show the MC/DC obligations that nothing shows.
    fn missing_vectors(&self, text: &mut String) {
        let program = self.suite.subject.program();
        let tables: Vec<DecisionTable> =
            self.tables().into_iter().filter(|table| table.is_composite(program)).collect();
        if tables.is_empty() {
            return;
        }
        line(text, format_args!("\nvectors that would cover the rest, * already evaluated"));
        line(text, format_args!("({LEGEND}):"));
        for table in &tables {
            line(text, format_args!("    {}", table.head()));
            if let Some(evaluated) = table.evaluated() {
                line(text, format_args!("        {evaluated}"));
            }
            let file = program.span(program.decision(table.decision).span).at.file;
            for row in table.lines(program, Some(file), "missing") {
                line(text, format_args!("        {row}"));
            }
        }
    }

    fn tables(&self) -> Vec<DecisionTable> {
        tables(self.suite.subject.program(), self.uncovered(), Some(&self.suite.seen))
    }

    fn uncovered(&self) -> impl Iterator<Item = (GoalId, &Goal)> {
        self.suite.coverage.goals().filter_map(|(id, goal, status)| match status {
            Status::Covered { .. } | Status::Infeasible { .. } => None,
            Status::Undecided(_) => Some((id, goal)),
        })
    }
}

fn is_crash(end: End) -> bool {
    !end.is_orderly() && end != End::TimedOut
}
