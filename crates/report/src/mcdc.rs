//! MC/DC as text: for each decision a table of its conditions, the effect of each value, and the evaluations that show it.
//!
//! Conditions are `c1`, `c2`, … in order of evaluation; a vector such as `TF-` has a letter for each of them, `-` for one
//! that is not evaluated. Limit: only the first few vectors that show an obligation are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use analysis::decision::{Row, Terminates, table};
use coverage::vector::Vector;
use coverage::{Goal, GoalId, pairs_showing, showing};
use model::{ConditionId, Decision, DecisionId, FileId, Program, SpanId};
use serde::Serialize;

use crate::place::short_place;
use crate::record::SourcePosition;

/// Vectors, or pairs of them, that are named for an obligation.
const SHOWN: usize = 4;
/// Pairs among which the nearest are chosen.
const MAX_PAIRS: usize = 256;
/// Vectors that were seen and are named.
const SEEN_SHOWN: usize = 16;
/// A condition with more letters has a line of its own.
const WIDEST_CONDITION: usize = 32;

/// How to read a table.
pub const LEGEND: &str =
    "c1, c2, … are conditions in order of evaluation; in a vector T is true, F false, - not evaluated";

/// The evaluations of decisions that a suite has, with the decision's outcome.
pub type Seen = BTreeMap<DecisionId, BTreeMap<Vector, bool>>;

/// A decision whose conditions have obligations.
#[derive(Debug, Serialize)]
pub struct DecisionTable {
    #[serde(skip)]
    pub decision: DecisionId,
    #[serde(flatten)]
    place: SourcePosition,
    function: String,
    text: String,
    /// The evaluations that a suite has, when one is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluated: Option<Vec<Evaluated>>,
    conditions: Vec<ConditionTable>,
}

#[derive(Debug, Serialize)]
struct Evaluated {
    vector: String,
    outcome: bool,
}

/// A condition and what each of its values is to show.
#[derive(Debug, Serialize)]
struct ConditionTable {
    /// `c1`.
    name: String,
    #[serde(flatten)]
    place: SourcePosition,
    #[serde(skip)]
    span: SpanId,
    text: String,
    obligations: Vec<Obligation>,
}

#[derive(Debug, Serialize)]
struct Obligation {
    value: bool,
    goal: u32,
    /// Earlier conditions whose effect this value hides.
    masks: Vec<String>,
    ends: Ends,
    /// Vectors, or pairs of vectors, that show it.
    shown_by: Vec<String>,
    /// There are more.
    more: bool,
}

/// Whether a value ends the decision.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Ends {
    /// With true.
    True,
    /// With false.
    False,
    /// The evaluation goes on.
    No,
    /// It does, and conditions before say with which outcome.
    Depends,
}

/// The tables of all decisions with obligations among `goals`, in order; with the evaluations of a suite, if there is one.
pub fn tables<'g>(
    program: &Program,
    goals: impl Iterator<Item = (GoalId, &'g Goal)>,
    seen: Option<&Seen>,
) -> Vec<DecisionTable> {
    let mut obligations: BTreeMap<DecisionId, BTreeMap<(ConditionId, bool), GoalId>> = BTreeMap::new();
    let mut paired = BTreeSet::new();
    for (id, goal) in goals {
        if let Some(asked) = goal.demand.obligation() {
            if goal.demand.half_of_pair().is_some() {
                paired.insert(asked);
            }
            obligations.entry(program.condition(asked.0).decision).or_default().insert(asked, id);
        }
    }
    let maker = Maker { program, paired, seen };
    obligations.into_iter().map(|(decision, obligations)| maker.decision(decision, &obligations)).collect()
}

/// The decisions that have obligations among `goals`, with no evaluation seen.
pub fn unseen<'g>(program: &Program, goals: impl Iterator<Item = &'g Goal>) -> Seen {
    let asked = goals.filter_map(|goal| goal.demand.obligation());
    asked.map(|(condition, _)| (program.condition(condition).decision, BTreeMap::new())).collect()
}

struct Maker<'a> {
    program: &'a Program,
    /// Obligations that two evaluations show together.
    paired: BTreeSet<(ConditionId, bool)>,
    seen: Option<&'a Seen>,
}

impl Maker<'_> {
    fn decision(&self, id: DecisionId, obligations: &BTreeMap<(ConditionId, bool), GoalId>) -> DecisionTable {
        let decision = self.program.decision(id);
        let names: BTreeMap<ConditionId, String> = (1..)
            .zip(decision.shape.conditions())
            .map(|(n, condition)| (condition, format!("c{n}")))
            .collect();
        let mut conditions: Vec<ConditionTable> = Vec::new();
        for row in table(&decision.shape) {
            let Some(goal) = obligations.get(&(row.condition, row.value)) else { continue };
            if conditions.last().is_none_or(|last| last.name != names[&row.condition]) {
                let condition = self.program.condition(row.condition);
                conditions.push(ConditionTable {
                    name: names[&row.condition].clone(),
                    place: SourcePosition::of(self.program, condition.span),
                    span: condition.span,
                    text: condition.text.clone(),
                    obligations: Vec::new(),
                });
            }
            let condition = conditions.last_mut().expect("pushed when there was none");
            condition.obligations.push(self.obligation(id, decision, &row, *goal, &names));
        }
        let evaluated = |seen: &Seen| {
            let vectors = seen.get(&id).into_iter().flatten();
            vectors
                .map(|(vector, outcome)| Evaluated { vector: vector.to_string(), outcome: *outcome })
                .collect()
        };
        DecisionTable {
            decision: id,
            place: SourcePosition::of(self.program, decision.span),
            function: self.program.function(decision.function).name.clone(),
            text: decision.text.clone(),
            evaluated: self.seen.map(evaluated),
            conditions,
        }
    }

    fn obligation(
        &self,
        id: DecisionId,
        decision: &Decision,
        row: &Row,
        goal: GoalId,
        names: &BTreeMap<ConditionId, String>,
    ) -> Obligation {
        let mut shown_by: Vec<String> = if self.paired.contains(&(row.condition, row.value)) {
            self.pairs(id, decision, row)
        } else {
            let vectors = showing(&decision.shape, row.condition, row.value, SHOWN + 1);
            vectors.iter().map(Vector::to_string).collect()
        };
        let more = shown_by.len() > SHOWN;
        shown_by.truncate(SHOWN);
        Obligation {
            value: row.value,
            goal: goal.0,
            masks: row.masks.iter().map(|condition| names[condition].clone()).collect(),
            ends: match row.terminates {
                Terminates::Always(true) => Ends::True,
                Terminates::Always(false) => Ends::False,
                Terminates::Never => Ends::No,
                Terminates::Depends => Ends::Depends,
            },
            shown_by,
            more,
        }
    }

    /// `TT* with TF`: the star marks what was seen. Pairs that lack only one half come first.
    fn pairs(&self, id: DecisionId, decision: &Decision, row: &Row) -> Vec<String> {
        let mut pairs = pairs_showing(&decision.shape, row.condition, row.value, MAX_PAIRS);
        pairs.sort_by_key(|(half, other)| !(self.has_seen(id, half) || self.has_seen(id, other)));
        let mark = |vector: &Vector| format!("{vector}{}", if self.has_seen(id, vector) { "*" } else { "" });
        pairs.iter().map(|(half, other)| format!("{} with {}", mark(half), mark(other))).collect()
    }

    fn has_seen(&self, decision: DecisionId, vector: &Vector) -> bool {
        self.seen.and_then(|seen| seen.get(&decision)).is_some_and(|vectors| vectors.contains_key(vector))
    }
}

impl DecisionTable {
    /// Whether there is more to say than that both outcomes are asked for.
    pub fn is_composite(&self, program: &Program) -> bool {
        program.decision(self.decision).shape.conditions().len() > 1
    }

    /// `triangle.c:7:9  a <= 0 || b <= 0`.
    pub fn head(&self) -> String {
        let SourcePosition { file, line, column } = &self.place;
        format!("{file}:{line}:{column}  {}", self.text)
    }

    /// `T-- (true), FFF (false)`, when a suite is measured.
    pub fn evaluated(&self) -> Option<String> {
        let evaluated = self.evaluated.as_ref()?;
        let mut words: Vec<String> = evaluated
            .iter()
            .take(SEEN_SHOWN)
            .map(|Evaluated { vector, outcome }| format!("{vector} ({outcome})"))
            .collect();
        if evaluated.len() > SEEN_SHOWN {
            words.push("…".to_owned());
        }
        Some(if words.is_empty() {
            "never evaluated".to_owned()
        } else {
            format!("evaluated as {}", words.join(", "))
        })
    }

    /// The table as lines; positions in `file`, which has been named, are short.
    pub fn lines(&self, program: &Program, file: Option<FileId>, last_column: &'static str) -> Vec<String> {
        let mut cells: Vec<Cells> =
            vec![["", "", "condition", "value", "masks", "ends", "goal", last_column].map(str::to_owned)];
        for condition in &self.conditions {
            let at = short_place(program, condition.span, file);
            let mut head = [at, condition.name.clone(), condition.text.clone()];
            if condition.text.chars().count() > WIDEST_CONDITION {
                cells.push(cells_of(head, Default::default()));
                head = Default::default();
            }
            for obligation in &condition.obligations {
                cells.push(cells_of(std::mem::take(&mut head), obligation.cells()));
            }
        }
        aligned(&cells)
    }
}

impl Obligation {
    fn cells(&self) -> [String; 5] {
        let masks = if self.masks.is_empty() { "-".to_owned() } else { self.masks.join(" ") };
        let ends = match self.ends {
            Ends::True => "true",
            Ends::False => "false",
            Ends::No => "-",
            Ends::Depends => "depends",
        };
        let mut shown_by = self.shown_by.join(", ");
        if self.shown_by.is_empty() {
            shown_by.push_str("nothing: the outcome never depends on it");
        }
        if self.more {
            shown_by.push_str(", …");
        }
        [self.value.to_string(), masks, ends.to_owned(), GoalId(self.goal).to_string(), shown_by]
    }
}

const N_COLUMNS: usize = 8;
type Cells = [String; N_COLUMNS];

fn cells_of([at, name, text]: [String; 3], [value, masks, ends, goal, shown_by]: [String; 5]) -> Cells {
    [at, name, text, value, masks, ends, goal, shown_by]
}

/// Lines in columns of equal width. A cell that stands last on its line makes no column wider.
fn aligned(rows: &[Cells]) -> Vec<String> {
    let is_last = |row: &Cells, column: usize| row[column + 1..].iter().all(String::is_empty);
    let width = |column: usize| {
        let counting = rows.iter().filter(|row| !is_last(row, column));
        counting.map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: [usize; N_COLUMNS] = std::array::from_fn(width);
    let line = |row: &Cells| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            write!(line, "{cell:<width$}  ").expect("writing to a string succeeds");
        }
        line.truncate(line.trim_end().len());
        line
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_last_cell_does_not_widen_its_column() {
        let row = |cells: [&str; N_COLUMNS]| cells.map(str::to_owned);
        let rows = [
            row(["", "", "condition", "value", "", "", "", "shown by"]),
            row(["7:9", "c1", "a_condition_that_is_very_long()", "", "", "", "", ""]),
            row(["", "", "", "true", "", "", "", "T-"]),
            row(["17:9", "c10", "b", "false", "", "", "", "F-"]),
        ];
        let lines = aligned(&rows);
        assert_eq!(lines[1], "7:9   c1   a_condition_that_is_very_long()");
        assert_eq!(lines[2].find("true"), lines[3].find("false"));
        assert_eq!(lines[2].find("T-"), lines[0].find("shown by"));
    }
}
