//! The criteria: from a program to its goals, in source order.

use model::{ConditionId, DecisionId, FunctionId, LabelValues, Program, SwitchId};

use crate::{Case, Demand, Goal, Scope};

/// A way to say what must be covered.
pub trait Criterion {
    /// The name users give.
    fn name(&self) -> &'static str;
    /// What it asks for within `scope`.
    fn goals(&self, program: &Program, scope: &Scope) -> Vec<Goal>;
}

/// A criterion nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no criterion '{name}'; known are {}", CRITERIA.join(", "))]
pub struct UnknownCriterion {
    pub name: String,
}

/// Names of all criteria.
pub const CRITERIA: [&str; 5] = ["function", "branch", "decision", "condition", "condition-decision"];

/// The criterion with this name.
pub fn criterion_named(name: &str) -> Result<Box<dyn Criterion>, UnknownCriterion> {
    let parts: &'static [Part] = match name {
        "function" => &[Part::Functions],
        "branch" => &[Part::ControlDecisions, Part::Labels],
        "decision" => &[Part::Decisions],
        "condition" => &[Part::Conditions],
        "condition-decision" => &[Part::Decisions, Part::Conditions],
        _ => return Err(UnknownCriterion { name: name.to_owned() }),
    };
    let name = CRITERIA.into_iter().find(|known| *known == name).expect("every criterion matched is listed");
    Ok(Box::new(Structural { name, parts }))
}

/// What a structural criterion is put together from.
enum Part {
    Functions,
    ControlDecisions,
    Decisions,
    Conditions,
    Labels,
}

/// A criterion whose goals are outcomes seen in single evaluations.
struct Structural {
    name: &'static str,
    parts: &'static [Part],
}

impl Criterion for Structural {
    fn name(&self) -> &'static str {
        self.name
    }

    fn goals(&self, program: &Program, scope: &Scope) -> Vec<Goal> {
        let mut goals: Vec<Goal> =
            self.parts.iter().flat_map(|part| part.goals(self.name, program, scope)).collect();
        goals.sort_by_key(|goal| (goal.function, goal.position(program), goal.demand));
        goals
    }
}

impl Part {
    fn goals(&self, criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
        match self {
            Self::Functions => functions(criterion, program, scope),
            Self::ControlDecisions => decisions(criterion, program, scope, true),
            Self::Decisions => decisions(criterion, program, scope, false),
            Self::Conditions => conditions(criterion, program, scope),
            Self::Labels => labels(criterion, program, scope),
        }
    }
}

fn functions(criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
    let goal = |function: FunctionId| {
        let span = program.function(function).span;
        Goal { criterion, function, span, demand: Demand::Entered(function) }
    };
    scope.functions().map(goal).collect()
}

fn decisions(criterion: &'static str, program: &Program, scope: &Scope, control_only: bool) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (index, decision) in program.decisions.iter().enumerate() {
        let counts = scope.contains(decision.function)
            && (decision.kind.controls_flow() || !control_only)
            && !decision.shape.is_constant();
        if counts {
            for value in [true, false] {
                let demand = Demand::Decision(DecisionId::new(index), value);
                goals.push(Goal {
                    criterion,
                    function: decision.function,
                    span: Some(decision.span),
                    demand,
                });
            }
        }
    }
    goals
}

fn conditions(criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (index, condition) in program.conditions.iter().enumerate() {
        let function = program.decision(condition.decision).function;
        if scope.contains(function) {
            for value in [true, false] {
                let demand = Demand::Condition(ConditionId::new(index), value);
                goals.push(Goal { criterion, function, span: Some(condition.span), demand });
            }
        }
    }
    goals
}

fn labels(criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (index, switch) in program.switches.iter().enumerate() {
        if !scope.contains(switch.function) {
            continue;
        }
        let id = SwitchId::new(index);
        for (label, at) in switch.labels.iter().zip(0..) {
            let demand = Demand::Label(id, Case::Label(at));
            goals.push(Goal { criterion, function: switch.function, span: Some(label.span), demand });
        }
        if !switch.labels.iter().any(|label| label.values == LabelValues::Default) {
            let demand = Demand::Label(id, Case::ImplicitDefault);
            goals.push(Goal { criterion, function: switch.function, span: Some(switch.span), demand });
        }
    }
    goals
}
