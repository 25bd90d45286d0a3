//! Does llvm-cov count what a goal demands?
//!
//! Method: functions by how often they were entered, statements by the count of the region they begin in, conditions and
//! labels by their branch counts, decisions by the conditions that end them, vectors and MC/DC by the evaluations that
//! llvm-cov prints for decisions of several conditions. What an evaluation shows is computed here from its values. Limits
//! are values: [`Unseen`] lists what llvm-cov has no record of, as `docs/mcdc.md` explains.

use std::collections::BTreeSet;

use analysis::decision::{Terminates, independent, rank, table, vectors};
use coverage::vector::{Progress, Vector, progress};
use coverage::{Case, Demand, only_difference};
use frontend::witness::{self, Measured, MeasuredPosition};
use model::{
    Callee, Condition, ConditionId, DecisionId, FunctionId, Op, Position, Program, Shape, Span, StatementId,
    SwitchId,
};

use super::places::{Neighbours, Places};

/// Why llvm-cov says nothing of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unseen {
    /// It comes out of a macro, where llvm-cov's records cannot be told apart.
    Macro,
    /// llvm-cov does not split at `?:` and at boolean `==`, `!=` and `^`.
    Joined,
    /// Decisions within the operands of a decision, and below a negation, are refused by clang.
    Nested,
    /// Several conditions without `&&` and `||`.
    NoOperator,
    /// clang has no record for it.
    NoRecord,
    /// clang takes it for a constant.
    Folded,
    /// The end of a body that is left without `return`.
    EndOfBody,
    /// A definition that reaches a use.
    DataFlow,
    /// How near the sides of a comparison are.
    Boundary,
    /// The function is in a file that llvm-cov does not know.
    NoFile,
}

impl Unseen {
    /// Its name, which stands behind a number.
    pub fn name(self) -> &'static str {
        match self {
            Self::Macro => "in a macro",
            Self::Joined => "joined to another condition",
            Self::Nested => "nested in a decision",
            Self::NoOperator => "without && and ||",
            Self::NoRecord => "without a record",
            Self::Folded => "taken for a constant",
            Self::EndOfBody => "at the end of a body",
            Self::DataFlow => "about data flow",
            Self::Boundary => "about boundaries",
            Self::NoFile => "in a file it does not know",
        }
    }
}

/// Compares a program with what llvm-cov counted in it.
pub struct Comparer<'a> {
    program: &'a Program,
    measured: &'a Measured,
    places: Places<'a>,
    /// Where only one condition begins for a reader.
    lonely: BTreeSet<Position>,
}

fn is_of_source(program: &Program, condition: &Condition) -> bool {
    program.decision(condition.decision).kind.is_of_source()
}

impl<'a> Comparer<'a> {
    /// `absolute` gives the real path of a file that the program names.
    pub fn new(
        program: &'a Program,
        measured: &'a Measured,
        absolute: impl Fn(&str) -> std::path::PathBuf,
    ) -> Self {
        let (mut seen, mut lonely) = (BTreeSet::new(), BTreeSet::new());
        for condition in program.conditions.iter().filter(|condition| is_of_source(program, condition)) {
            let at = program.span(condition.span).at;
            if seen.insert(at) {
                lonely.insert(at);
            } else {
                lonely.remove(&at);
            }
        }
        Self { program, measured, places: Places::new(program, measured, absolute), lonely }
    }

    /// Whether llvm-cov counts it, when it can see it.
    pub fn counts(&self, demand: Demand) -> Result<bool, Unseen> {
        match demand {
            Demand::Entered(function) => self.entered(function),
            Demand::Ended(_) => Err(Unseen::EndOfBody),
            Demand::Executed(statement) => self.executed(statement),
            Demand::Decision(decision, value) => self.decision(decision, value),
            Demand::Condition(condition, _)
                if !is_of_source(self.program, self.program.condition(condition)) =>
            {
                Err(Unseen::Boundary)
            }
            Demand::Condition(condition, value) => self.outcome(condition, value),
            Demand::Independent(condition, value) => self.independent(condition, value),
            Demand::Paired(condition, value) => self.paired(condition, value),
            Demand::Vector(decision, number) => self.vector(decision, number),
            Demand::Label(switch, case) => self.label(switch, case),
            Demand::Defined(_) | Demand::Used(_) | Demand::Pair(_) => Err(Unseen::DataFlow),
        }
    }

    /// Whether calls in a function may come back more than once: then the differences that llvm-cov takes for counts are wrong.
    pub fn returns_twice(&self, function: FunctionId) -> bool {
        let is_such = |op: &Op| match op {
            Op::Call { callee: Callee::Direct(callee), .. } => self.program.function(*callee).returns_twice,
            _ => false,
        };
        self.program.function(function).instrs.iter().any(|instr| is_such(&instr.op))
    }

    fn entered(&self, function: FunctionId) -> Result<bool, Unseen> {
        let function = self.program.function(function);
        let name = |written: &str| {
            written == function.name || (function.name == "main" && written.starts_with("quarry_"))
        };
        let file = function.span.and_then(|span| self.places.place(self.program.span(span).at));
        let file = file.ok_or(Unseen::NoFile)?.file;
        let counts =
            self.measured.functions.iter().filter(|((home, written), _)| *home == file && name(written));
        let counts: Vec<u64> = counts.map(|(_, count)| *count).collect();
        if counts.is_empty() { Err(Unseen::Macro) } else { Ok(counts.iter().any(|count| *count > 0)) }
    }

    fn executed(&self, statement: StatementId) -> Result<bool, Unseen> {
        let span = self.span(self.program.statement(statement).span);
        self.places.count_at(span).map(|count| count > 0).ok_or(Unseen::NoRecord)
    }

    fn span(&self, id: model::SpanId) -> Span {
        self.program.span(id)
    }

    /// A condition has an outcome.
    fn outcome(&self, id: ConditionId, value: bool) -> Result<bool, Unseen> {
        let condition = self.program.condition(id);
        let span = self.span(condition.span);
        let Some(counts) = self.places.outcomes(span, &condition.text, self.neighbours(id)) else {
            return self.evaluated_as(id, value).ok_or_else(|| self.why_no_branch(id, span));
        };
        if counts == [0, 0] && self.places.count_at(span).is_some_and(|count| count > 0) {
            return Err(Unseen::Folded);
        }
        Ok(counts[usize::from(!value)] > 0)
    }

    fn neighbours(&self, id: ConditionId) -> Neighbours {
        let span = self.span(self.program.condition(id).span);
        let conditions = self.program.conditions.iter().zip((0..).map(ConditionId));
        let is_alike = |other: &Condition| is_of_source(self.program, other) && self.span(other.span) == span;
        let alike: Vec<ConditionId> =
            conditions.filter(|(other, _)| is_alike(other)).map(|(_, id)| id).collect();
        let rank = alike.iter().position(|other| *other == id).unwrap_or(0);
        Neighbours { is_lonely: self.lonely.contains(&span.at), n_alike: alike.len(), rank }
    }

    /// Whether a condition has an outcome in a finished evaluation; `None` when there is none, which proves nothing.
    fn evaluated_as(&self, id: ConditionId, value: bool) -> Option<bool> {
        let decision = self.program.condition(id).decision;
        let conditions = self.program.decision(decision).shape.conditions();
        let place = conditions.iter().position(|condition| *condition == id)?;
        let evaluations = self.evaluations(decision).ok()?;
        let has_it = |(vector, _): &(Vector, bool)| vector.outcomes().get(place) == Some(&Some(value));
        evaluations.iter().any(has_it).then_some(true)
    }

    fn why_no_branch(&self, id: ConditionId, span: Span) -> Unseen {
        if span.spelled.is_some() {
            return Unseen::Macro;
        }
        let shape = &self.program.decision(self.program.condition(id).decision).shape;
        if splits_otherwise(shape) { Unseen::Joined } else { Unseen::NoRecord }
    }

    /// A decision has an outcome: one of the conditions that end it so was counted.
    fn decision(&self, id: DecisionId, value: bool) -> Result<bool, Unseen> {
        let mut unseen = None;
        for row in table(&self.program.decision(id).shape) {
            match row.terminates {
                Terminates::Always(outcome) if outcome == value => {
                    match self.outcome(row.condition, row.value) {
                        Ok(true) => return Ok(true),
                        Ok(false) => {}
                        Err(why) => unseen = Some(why),
                    }
                }
                Terminates::Always(_) | Terminates::Never => {}
                Terminates::Depends => unseen = Some(Unseen::Joined),
            }
        }
        unseen.map_or(Ok(false), Err)
    }

    fn independent(&self, id: ConditionId, value: bool) -> Result<bool, Unseen> {
        let decision = self.program.condition(id).decision;
        let shape = &self.program.decision(decision).shape;
        if is_single(shape) {
            return self.outcome(id, value);
        }
        let shows = |vector: &Vector| {
            independent(shape, &vector.by_condition(shape)).get(&id).is_some_and(|shown| *shown == value)
        };
        Ok(self.evaluations(decision)?.iter().any(|(vector, _)| shows(vector)))
    }

    fn paired(&self, id: ConditionId, value: bool) -> Result<bool, Unseen> {
        let decision = self.program.condition(id).decision;
        let shape = &self.program.decision(decision).shape;
        if is_single(shape) {
            return Ok(self.outcome(id, value)? && self.outcome(id, !value)?);
        }
        let place = shape.conditions().iter().position(|condition| *condition == id);
        let evaluations = self.evaluations(decision)?;
        let is_half = |vector: &Vector| {
            place.and_then(|place| vector.outcomes().get(place).copied().flatten()) == Some(value)
        };
        let halves = evaluations.iter().filter(|(vector, _)| is_half(vector));
        let is_pair = |(half, outcome): &(Vector, bool), (other, other_outcome): &(Vector, bool)| {
            outcome != other_outcome && only_difference(half, other) == place
        };
        Ok(halves.into_iter().any(|half| evaluations.iter().any(|other| is_pair(half, other))))
    }

    fn vector(&self, id: DecisionId, number: u32) -> Result<bool, Unseen> {
        let shape = &self.program.decision(id).shape;
        if let ([condition], true) = (&shape.conditions()[..], is_single(shape)) {
            let outcomes = vectors(shape).into_iter().nth(number as usize).unwrap_or_default();
            let value = outcomes.first().copied().flatten().ok_or(Unseen::NoRecord)?;
            return self.outcome(*condition, value);
        }
        let is_it = |vector: &Vector| rank(shape, vector.outcomes()) == Some(number.into());
        Ok(self.evaluations(id)?.iter().any(|(vector, _)| is_it(vector)))
    }

    fn label(&self, id: SwitchId, case: Case) -> Result<bool, Unseen> {
        let switch = self.program.switch(id);
        let (span, count) = match case {
            Case::Label(index) => {
                let span = self.span(switch.labels[index as usize].span);
                (span, self.places.label(span))
            }
            Case::ImplicitDefault => {
                let span = self.span(switch.span);
                (span, self.places.unmatched(span))
            }
        };
        let why = if span.spelled.is_some() { Unseen::Macro } else { Unseen::NoRecord };
        count.map(|count| count > 0).ok_or(why)
    }

    /// The evaluations of a decision of several conditions, as vectors of ours with the decision's outcome.
    fn evaluations(&self, id: DecisionId) -> Result<Vec<(Vector, bool)>, Unseen> {
        let decision = self.program.decision(id);
        let span = self.span(decision.span);
        let at = self.places.place(span.at).ok_or(Unseen::NoFile)?;
        let of_file = self.measured.decisions.get(&at.file).map(Vec::as_slice).unwrap_or_default();
        let here = |record: &&witness::MeasuredDecision| {
            let begin = MeasuredPosition { file: at.file, line: record.begin.0, column: record.begin.1 };
            self.places.is_same(begin, at)
        };
        let n_conditions = decision.shape.conditions().len();
        let records: Vec<&witness::MeasuredDecision> = of_file.iter().filter(here).collect();
        if records.is_empty() {
            return Err(self.why_no_record(id, span));
        }
        let is_alike = |record: &&witness::MeasuredDecision| real(record).count() == n_conditions;
        let alike: Vec<&witness::MeasuredDecision> = records.into_iter().filter(is_alike).collect();
        let [record] = alike[..] else { return Err(Unseen::Joined) };
        let columns = self.columns(id, record)?;
        let folded: Vec<bool> = record.conditions.iter().map(|(_, folded)| *folded).collect();
        let is_plain = matches!(decision.shape, Shape::And(..) | Shape::Or(..));
        let mut evaluations = Vec::new();
        for evaluation in &record.evaluations {
            let values = evaluation.values.iter().zip(&folded).filter(|(_, folded)| !**folded);
            let values: Vec<Option<bool>> = values.map(|(value, _)| *value).collect();
            let outcomes: Vec<Option<bool>> = columns
                .iter()
                .map(|column| values.get(column.at).copied().flatten().map(|value| value != column.negated))
                .collect();
            if !is_in_order(&decision.shape, &outcomes) {
                return Err(Unseen::Macro); // which condition is which cannot be told
            }
            match progress(&decision.shape, &outcomes) {
                Progress::Done(outcome) if is_plain && outcome != evaluation.outcome => {
                    return Err(Unseen::Joined); // the record is of something else
                }
                Progress::Done(outcome) => evaluations.push((Vector::from(outcomes.as_slice()), outcome)),
                // only constants were evaluated
                Progress::Waiting(_) => {}
            }
        }
        Ok(evaluations)
    }

    /// Where llvm-cov has the values of each of our conditions. It lists those that a macro writes behind those that stand
    /// outside of it, whichever is evaluated first.
    fn columns(&self, id: DecisionId, record: &witness::MeasuredDecision) -> Result<Vec<Column>, Unseen> {
        let shape = &self.program.decision(id).shape;
        let mut by_shape = Vec::new();
        negations(shape, false, &mut by_shape);
        let spans: Vec<Span> = shape
            .conditions()
            .into_iter()
            .map(|condition| self.span(self.program.condition(condition).span))
            .collect();
        let mut columns: Vec<Option<Column>> = vec![None; spans.len()];
        let mut left: Vec<(usize, (u32, u32))> = real(record).enumerate().collect();
        for (span, column) in spans.iter().zip(&mut columns) {
            let at = self.places.place(span.at).ok_or(Unseen::NoFile)?;
            let begins = |(line, column): (u32, u32)| MeasuredPosition { file: at.file, line, column };
            let is_alone = spans.iter().filter(|other| other.at == span.at).count() == 1;
            let found = left.iter().position(|(_, begin)| self.places.is_same(begins(*begin), at));
            let Some(found) = found.filter(|_| is_alone) else { continue };
            let (number, begin) = left.remove(found);
            let negated = self.places.is_negated(begins(begin), at).ok_or(Unseen::Joined)?;
            *column = Some(Column { at: number, negated });
        }
        // an operand that a macro is given has another place for llvm-cov
        let mut left = left.into_iter();
        for ((span, column), negated) in spans.iter().zip(&mut columns).zip(by_shape) {
            if column.is_none() && span.spelled.is_some() {
                *column = left.next().map(|(at, _)| Column { at, negated });
            }
        }
        columns.into_iter().collect::<Option<_>>().ok_or(Unseen::Joined)
    }

    fn why_no_record(&self, id: DecisionId, span: Span) -> Unseen {
        let decision = self.program.decision(id);
        if span.spelled.is_some() {
            Unseen::Macro
        } else if !joins(&decision.shape) {
            Unseen::NoOperator
        } else if splits_otherwise(&decision.shape) {
            Unseen::Joined
        } else if negates_a_group(&decision.shape) || self.is_nested(id) {
            Unseen::Nested
        } else {
            Unseen::NoRecord
        }
    }

    /// Whether another decision stands in the text of this one, or this one in another's.
    fn is_nested(&self, id: DecisionId) -> bool {
        let this = self.program.decision(id);
        let others =
            self.program.decisions.iter().filter(|other| {
                other.kind.is_of_source() && other.function == this.function && *other != this
            });
        let holds = |outer: &str, inner: &str| outer.len() > inner.len() && outer.contains(inner);
        others.into_iter().any(|other| holds(&this.text, &other.text) || holds(&other.text, &this.text))
    }
}

/// Where llvm-cov has the values of a condition.
#[derive(Clone, Copy)]
struct Column {
    /// Among the conditions that are no constants.
    at: usize,
    /// Whether its values are turned around: negations before an operand are part of it there.
    negated: bool,
}

/// Whether just the conditions have values that are evaluated.
fn is_in_order(shape: &Shape, outcomes: &[Option<bool>]) -> bool {
    let mut evaluated = vec![None; outcomes.len()];
    while let Progress::Waiting(place) = progress(shape, &evaluated) {
        match outcomes.get(place) {
            Some(Some(value)) => evaluated[place] = Some(*value),
            // only constants were evaluated
            Some(None) | None => break,
        }
    }
    evaluated == outcomes
}

/// Where the conditions that are no constants begin.
fn real(record: &witness::MeasuredDecision) -> impl Iterator<Item = (u32, u32)> + '_ {
    record.conditions.iter().filter(|(_, folded)| !folded).map(|(at, _)| *at)
}

/// For each condition whether an odd number of negations stands directly before it.
fn negations(shape: &Shape, negated: bool, all: &mut Vec<bool>) {
    match shape {
        Shape::Leaf(_) => all.push(negated),
        Shape::Constant(_) => {}
        Shape::Not(inner) => negations(inner, !negated, all),
        Shape::And(a, b) | Shape::Or(a, b) | Shape::Equal(a, b) | Shape::Differ(a, b) => {
            negations(a, false, all);
            negations(b, false, all);
        }
        Shape::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|part| negations(part, false, all)),
    }
}

/// Whether there is but one condition, and nothing else.
fn is_single(shape: &Shape) -> bool {
    match shape {
        Shape::Leaf(_) => true,
        Shape::Not(inner) => is_single(inner),
        Shape::Constant(_)
        | Shape::And(..)
        | Shape::Or(..)
        | Shape::Ternary(..)
        | Shape::Equal(..)
        | Shape::Differ(..) => false,
    }
}

/// Whether there is an operator that joins conditions for clang.
fn joins(shape: &Shape) -> bool {
    match shape {
        Shape::Leaf(_) | Shape::Constant(_) => false,
        Shape::And(..) | Shape::Or(..) => true,
        Shape::Not(inner) => joins(inner),
        Shape::Ternary(a, b, c) => joins(a) || joins(b) || joins(c),
        Shape::Equal(a, b) | Shape::Differ(a, b) => joins(a) || joins(b),
    }
}

/// Whether there are operators at which clang does not split.
fn splits_otherwise(shape: &Shape) -> bool {
    match shape {
        Shape::Leaf(_) | Shape::Constant(_) => false,
        Shape::Not(inner) => splits_otherwise(inner),
        Shape::And(a, b) | Shape::Or(a, b) => splits_otherwise(a) || splits_otherwise(b),
        Shape::Ternary(..) | Shape::Equal(..) | Shape::Differ(..) => true,
    }
}

/// Whether a negation stands before several conditions.
fn negates_a_group(shape: &Shape) -> bool {
    match shape {
        Shape::Leaf(_) | Shape::Constant(_) => false,
        Shape::Not(inner) => !is_single(inner),
        Shape::And(a, b) | Shape::Or(a, b) | Shape::Equal(a, b) | Shape::Differ(a, b) => {
            negates_a_group(a) || negates_a_group(b)
        }
        Shape::Ternary(a, b, c) => negates_a_group(a) || negates_a_group(b) || negates_a_group(c),
    }
}
