//! A goal as ordinary C: code that calls `reach_error` exactly when a run covers the goal.
//!
//! Method: every condition of a marked text is an argument of `__q`, so demands on conditions and on evaluations of decisions become
//! the body of that function; the others become statements inserted into the text, those of data flow by `flow`. Limits: unique-cause
//! MC/DC is not expressed; nor are decisions of recursive functions, of which two evaluations may be under way at once.

use std::fmt::Write;

use analysis::call_graph::is_recursive;
use analysis::dataflow::DataFlow;
use analysis::decision::{evaluations, independent, n_vectors};
use coverage::{Case, Demand};
use frontend::marks::Marks;
use model::{ConditionId, Decision, DecisionId, FunctionId, LabelValues, Program, StatementId, SwitchId};

use super::tokens::{Brackets, Tokens};

/// More vectors of a decision than this are not listed.
const MOST_VECTORS: u64 = 1024;

/// What shows that a run covers a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monitor {
    /// Statements about `id` and `leaf`, executed for every condition.
    pub at_conditions: String,
    /// Declarations of what these remember.
    pub state: String,
    /// Declarations for units other than the function's own.
    pub shared: String,
    /// What is inserted into the text of a unit.
    pub edits: Vec<Edit>,
}

/// Text to be inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub unit: usize,
    pub line: u32,
    pub side: Side,
    pub text: String,
}

/// Where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before the line, or behind it.
    Before,
    After,
    /// At this column: the first half of a pair of brackets, around what was inserted there before, or the second.
    Opening(usize),
    Closing(usize),
}

/// A program and its texts.
pub struct Texts<'a> {
    pub program: &'a Program,
    pub marks: &'a Marks,
    /// By unit.
    pub units: &'a [String],
    /// What goals of data flow are about.
    pub flow: Option<&'a DataFlow>,
}

impl Texts<'_> {
    /// The monitor of a demand, or why there is none.
    pub fn monitor(&self, demand: Demand) -> Result<Monitor, String> {
        match demand {
            Demand::Condition(condition, value) => self.condition(condition, value),
            Demand::Decision(decision, outcome) => self.evaluation(decision, |_, _, value| value == outcome),
            Demand::Vector(decision, number) => {
                self.evaluation(decision, |index, _, _| index == number as usize)
            }
            Demand::Independent(condition, value) => {
                let decision = self.program.condition(condition).decision;
                let shape = &self.program.decisions[decision.index()].shape;
                let conditions = shape.conditions();
                self.evaluation(decision, |_, vector, _| {
                    let reached =
                        conditions.iter().zip(vector).filter_map(|(id, value)| Some((*id, (*value)?)));
                    independent(shape, &reached.collect()).get(&condition) == Some(&value)
                })
            }
            Demand::Label(switch, case) => self.label(switch, case),
            Demand::Executed(statement) => self.statement(statement),
            Demand::Entered(function) => self.body(function, true),
            Demand::Ended(function) => self.body(function, false),
            Demand::Paired(..) => Err("unique-cause MC/DC needs two runs".to_owned()),
            Demand::Defined(_) | Demand::Used(_) | Demand::Pair(_) => {
                self.flow(self.flow.ok_or("its data flow is not known")?, demand)
            }
        }
    }

    fn condition(&self, condition: ConditionId, value: bool) -> Result<Monitor, String> {
        self.check_marked(&[condition])?;
        let at_conditions = format!(
            "    if (id == {} && leaf == {})\n        reach_error();\n",
            condition.index(),
            u8::from(value)
        );
        Ok(Monitor { at_conditions, ..Monitor::default() })
    }

    /// A monitor for the evaluations of a decision that `wanted` chooses, by number, vector and value.
    fn evaluation(
        &self,
        decision: DecisionId,
        wanted: impl Fn(usize, &[Option<bool>], bool) -> bool,
    ) -> Result<Monitor, String> {
        let Decision { shape, function, .. } = &self.program.decisions[decision.index()];
        let conditions = shape.conditions();
        self.check_marked(&conditions)?;
        if n_vectors(shape) > MOST_VECTORS {
            return Err(format!("its decision can be evaluated in more than {MOST_VECTORS} ways"));
        }
        if conditions.len() > 1 && is_recursive(self.program, *function) {
            return Err(
                "its function is recursive: two evaluations of the decision may be under way".to_owned()
            );
        }
        let first = conditions.first().ok_or("its decision has no conditions")?.index();
        let mut text = String::new();
        for (slot, condition) in conditions.iter().enumerate() {
            let id = condition.index();
            let reset = if id == first { "quarry_begin(); " } else { "" };
            let _ = writeln!(text, "    if (id == {id}) {{ {reset}quarry_outcomes[{slot}] = leaf; }}");
        }
        let ids: Vec<String> = conditions.iter().map(|id| format!("id == {}", id.index())).collect();
        let mut any = Vec::new();
        for (number, (vector, value)) in evaluations(shape).iter().enumerate() {
            if wanted(number, vector, *value) {
                let is = |(slot, value): (usize, &Option<bool>)| {
                    format!("quarry_outcomes[{slot}] == {}", value.map_or(2, u8::from))
                };
                any.push(format!("({})", vector.iter().enumerate().map(is).collect::<Vec<_>>().join(" && ")));
            }
        }
        if any.is_empty() {
            any.push("0".to_owned());
        }
        let _ = writeln!(
            text,
            "    if (({}) &&\n        ({}))\n        reach_error();",
            ids.join(" || "),
            any.join(" ||\n         ")
        );
        let n = conditions.len();
        let state = format!(
            "/* 0, 1, or 2 for a condition that is not evaluated */\nstatic unsigned char quarry_outcomes[{n}];\n\
             static void quarry_begin(void)\n{{\n    for (int i = 0; i < {n}; i++)\n        quarry_outcomes[i] = 2;\n}}\n"
        );
        Ok(Monitor { at_conditions: text, state, ..Monitor::default() })
    }

    /// A condition without a mark would never be seen, and whatever it decides would seem unreachable.
    fn check_marked(&self, conditions: &[ConditionId]) -> Result<(), String> {
        let missing = conditions.iter().find(|condition| {
            let mark = format!("__q({},(", condition.index());
            !self.units.iter().any(|text| text.contains(&mark))
        });
        missing.map_or(Ok(()), |condition| {
            Err(format!("({}) is not marked in the text", self.program.condition(*condition).text))
        })
    }

    fn label(&self, switch: SwitchId, case: Case) -> Result<Monitor, String> {
        let marked = &self.marks.switches[switch.index()];
        let (unit, tokens) = (marked.function.unit, Tokens::of(&self.units[marked.function.unit]));
        let not_found = || "the operand of its switch is not found in the text".to_owned();
        if !tokens.line(marked.line).ends_with("switch") || tokens.line(marked.line + 1) != "(" {
            return Err(not_found());
        }
        let operand = tokens.brackets(marked.line + 1).ok_or_else(not_found)?;
        let is = |values: &LabelValues| match values {
            LabelValues::Range { low, high } if low == high => format!("quarry_operand == {}", bits(*low)),
            LabelValues::Range { low, high } => {
                format!("(quarry_operand >= {} && quarry_operand <= {})", bits(*low), bits(*high))
            }
            LabelValues::Default => "0".to_owned(),
        };
        let default = || {
            let others: Vec<String> = marked.labels.iter().map(|label| is(&label.values)).collect();
            if others.is_empty() { "1".to_owned() } else { format!("!({})", others.join(" || ")) }
        };
        let test = match case {
            Case::ImplicitDefault => default(),
            Case::Label(index) => match &marked.labels[index as usize].values {
                LabelValues::Default => default(),
                values @ LabelValues::Range { .. } => is(values),
            },
        };
        let text = tokens.joined(operand.open + 1, operand.close - 1);
        let begin = format!("({{ __typeof__(+({text})) quarry_operand = (");
        let end = format!("); if ({test}) reach_error(); quarry_operand; }})");
        let edit = |line, side, text| Edit { unit, line, side, text };
        let edits = vec![edit(operand.open, Side::After, begin), edit(operand.close, Side::Before, end)];
        Ok(Monitor { edits, ..Monitor::default() })
    }

    fn statement(&self, statement: StatementId) -> Result<Monitor, String> {
        let marked = &self.marks.statements[statement.index()];
        let (unit, line) = (marked.function.unit, marked.lines.0);
        let tokens = Tokens::of(&self.units[unit]);
        let (line, side, text) = match (tokens.line(line - 1), tokens.line(line)) {
            // it may be the one behind the body of `do`
            (_, "while") => (line + 1, Side::After, "reach_error(),"),
            ("{" | "}" | ";" | ":", _) => (line, Side::Before, "reach_error();"),
            // the body of `if`, `else` or a loop is one statement and must stay one
            _ => (line, Side::Before, "if (reach_error(), 0) ; else"),
        };
        let edits = vec![Edit { unit, line, side, text: text.to_owned() }];
        Ok(Monitor { edits, ..Monitor::default() })
    }

    /// A monitor at the first or at the last brace of a function.
    fn body(&self, function: FunctionId, is_entry: bool) -> Result<Monitor, String> {
        let (unit, braces) = self.braces(function)?;
        let (line, side) = if is_entry { (braces.open, Side::After) } else { (braces.close, Side::Before) };
        let edits = vec![Edit { unit, line, side, text: "reach_error();".to_owned() }];
        Ok(Monitor { edits, ..Monitor::default() })
    }

    /// The unit of a function, and the braces around its body.
    pub(super) fn braces(&self, function: FunctionId) -> Result<(usize, Brackets), String> {
        let name = &self.program.functions[function.index()].name;
        let units = self.units.iter().enumerate();
        let found = units.filter_map(|(unit, text)| Some((unit, Tokens::of(text).body(name)?)));
        match found.collect::<Vec<_>>()[..] {
            [found] => Ok(found),
            [] => Err(format!("the body of {name} is not found in the text")),
            _ => Err(format!("several functions have the name {name}")),
        }
    }
}

/// A constant that keeps its bits when it is converted to the type of a switch.
fn bits(value: i128) -> String {
    format!("(__typeof__(quarry_operand)){:#x}ull", value as u64)
}
