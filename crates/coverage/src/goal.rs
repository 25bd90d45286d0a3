//! Goals: what a criterion asks for, and where.

use std::fmt;

use model::{ConditionId, DecisionId, FunctionId, Position, Program, SpanId, SwitchId};

/// Number of a goal within a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoalId(pub u32);

impl GoalId {
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
}

/// What a goal may demand of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Demand {
    /// The function is entered.
    Entered(FunctionId),
    /// The decision has this outcome.
    Decision(DecisionId, bool),
    /// The condition has this outcome.
    Condition(ConditionId, bool),
    /// The switch goes to this label.
    Label(SwitchId, Case),
}

/// A way through a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Case {
    /// The label with this index in the source's order.
    Label(u32),
    /// No label matches and there is no `default`.
    ImplicitDefault,
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
            Demand::Decision(decision, value) => format!("({}) is {value}", program.decision(decision).text),
            Demand::Condition(condition, value) => {
                format!("({}) is {value}", program.condition(condition).text)
            }
            Demand::Label(switch, case) => {
                let switch = program.switch(switch);
                match case {
                    Case::ImplicitDefault => format!("switch ({}) matches no case", switch.text),
                    Case::Label(index) => {
                        format!("switch ({}) goes to {}", switch.text, switch.labels[index as usize].values)
                    }
                }
            }
        }
    }
}
