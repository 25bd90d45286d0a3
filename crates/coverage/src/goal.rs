//! Goals: what a criterion asks for, and where.

use std::fmt;

use analysis::decision::vectors;
use model::{DecisionKind, FunctionId, Position, Program, SpanId, StatementKind};

use crate::flow_goal::FlowGoal;
use crate::vector::Vector;
use crate::{Case, Demand};

/// Number of a goal within a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoalId(pub u32);

impl GoalId {
    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 goals"))
    }

    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for GoalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "goal{}", self.0)
    }
}

/// One thing to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Name of the criterion that asks for it.
    pub criterion: &'static str,
    pub function: FunctionId,
    pub span: Option<SpanId>,
    pub demand: Demand,
    /// What a goal of data flow is about.
    pub flow: Option<Box<FlowGoal>>,
}

impl Goal {
    /// Where a reader looks for it.
    pub fn position(&self, program: &Program) -> Option<Position> {
        self.span.map(|span| program.span(span).at)
    }

    /// What it asks, in words that stand behind a position: `(n >= 6) is true`.
    pub fn describe(&self, program: &Program) -> String {
        match self.demand {
            Demand::Entered(function) => format!("{} is entered", program.function(function).name),
            Demand::Ended(function) => format!("{} returns at its end", program.function(function).name),
            Demand::Executed(statement) => match program.statement(statement).kind {
                StatementKind::Return => "the function returns here".to_owned(),
                StatementKind::Other => "the statement is executed".to_owned(),
            },
            Demand::Decision(decision, value) => format!("({}) is {value}", program.decision(decision).text),
            Demand::Condition(condition, value) => {
                let condition = program.condition(condition);
                let decision = program.decision(condition.decision);
                match decision.kind {
                    DecisionKind::Boundary => {
                        format!("({}) meets its boundary: {}", decision.text, condition.text)
                    }
                    DecisionKind::If
                    | DecisionKind::While
                    | DecisionKind::DoWhile
                    | DecisionKind::For
                    | DecisionKind::Ternary
                    | DecisionKind::Value => format!("({}) is {value}", condition.text),
                }
            }
            Demand::Independent(condition, value) | Demand::Paired(condition, value) => {
                let condition = program.condition(condition);
                let decision = &program.decision(condition.decision).text;
                format!("({}) being {value} decides ({decision})", condition.text)
            }
            Demand::Vector(decision, number) => {
                let decision = program.decision(decision);
                let outcomes = vectors(&decision.shape).into_iter().nth(number as usize).unwrap_or_default();
                format!("({}) is evaluated as {}", decision.text, Vector::from(outcomes.as_slice()))
            }
            Demand::Defined(_) | Demand::Used(_) | Demand::Pair(_) => {
                self.flow.as_ref().map_or_else(String::new, |flow| flow.describe(program, self.span))
            }
            Demand::Label(switch, case) => {
                let switch = program.switch(switch);
                match case {
                    Case::ImplicitDefault => format!("switch ({}) matches no case", switch.text),
                    Case::Label(index) => {
                        format!("switch ({}) goes to {}", switch.text, switch.labels[index as usize])
                    }
                }
            }
        }
    }
}
