//! The criteria: from a program to its goals, in source order.

use std::collections::BTreeSet;

use analysis::dataflow::DataFlow;
use analysis::decision::n_vectors;
use model::{
    BlockId, ConditionId, Decision, DecisionId, DecisionKind, FunctionId, LabelValues, Program, Shape,
    Statement, StatementId, StatementKind, SwitchId, Terminator,
};

use crate::criterion::Criterion;
use crate::flow::{DataFlowCriterion, Wanted};
use crate::{Case, Demand, Goal, Scope};

/// A criterion nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no criterion '{name}'; known are {}", CRITERIA.join(", "))]
pub struct UnknownCriterion {
    pub name: String,
}

/// Names of all criteria.
pub const CRITERIA: [&str; 13] = [
    "function",
    "statement",
    "branch",
    "gcov-branch",
    "decision",
    "condition",
    "condition-decision",
    "mcdc",
    "multiple-condition",
    BOUNDARY,
    "all-defs",
    "all-uses",
    "def-use",
];

/// The criterion that needs [notes](DecisionKind::Boundary) beside comparisons.
pub const BOUNDARY: &str = "boundary";

/// A decision with more vectors than this has no multiple-condition goals: nobody would read, let alone test, them all.
pub const MAX_VECTORS: u64 = 4096;

/// How MC/DC is to be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Independence {
    /// By evaluations in which nothing masks the condition.
    #[default]
    Masking,
    /// By two evaluations that differ in nothing else.
    UniqueCause,
}

/// The criterion with this name; MC/DC by masking.
pub fn criterion_named(name: &str) -> Result<Box<dyn Criterion>, UnknownCriterion> {
    let parts: &'static [Part] = match name {
        "function" => &[Part::Functions],
        "statement" => &[Part::Statements],
        "branch" => &[Part::ControlDecisions, Part::Labels],
        "gcov-branch" => &[Part::Outcomes, Part::Labels],
        "decision" => &[Part::Decisions],
        "condition" => &[Part::Conditions],
        "condition-decision" => &[Part::Decisions, Part::Conditions],
        "mcdc" => return Ok(mcdc(Independence::Masking)),
        "multiple-condition" => &[Part::Vectors],
        BOUNDARY => &[Part::Boundaries],
        "all-defs" | "all-uses" | "def-use" => {
            return Ok(data_flow_criterion(name, false).expect("each is one of data flow"));
        }
        _ => return Err(UnknownCriterion { name: name.to_owned() }),
    };
    let name = CRITERIA.into_iter().find(|known| *known == name).expect("every criterion matched is listed");
    Ok(Box::new(Structural { name, parts }))
}

/// Modified condition/decision coverage with entry and exit points.
pub fn mcdc(independence: Independence) -> Box<dyn Criterion> {
    let parts: &'static [Part] = match independence {
        Independence::Masking => &[Part::Functions, Part::Exits, Part::Independence],
        Independence::UniqueCause => &[Part::Functions, Part::Exits, Part::Pairs],
    };
    Box::new(Structural { name: "mcdc", parts })
}

/// The criterion of data flow with this name, if there is one; with `elements`, elements of small arrays are looked at one by
/// one.
pub fn data_flow_criterion(name: &str, elements: bool) -> Option<Box<dyn Criterion>> {
    let (name, wanted) = match name {
        "all-defs" => ("all-defs", Wanted::Definitions),
        "all-uses" => ("all-uses", Wanted::Uses),
        "def-use" => ("def-use", Wanted::Pairs),
        _ => return None,
    };
    Some(Box::new(DataFlowCriterion { name, wanted, elements }))
}

/// What a criterion is put together from.
enum Part {
    Functions,
    /// Ways out of functions: `return` statements and the end of the body.
    Exits,
    Statements,
    ControlDecisions,
    /// What clang's and gcc's coverage counts as branches of conditions.
    Outcomes,
    Decisions,
    Conditions,
    Independence,
    Pairs,
    Vectors,
    /// Comparisons with equal sides, and with sides one step apart.
    Boundaries,
    Labels,
}

/// A criterion put together from parts.
struct Structural {
    name: &'static str,
    parts: &'static [Part],
}

impl Criterion for Structural {
    fn name(&self) -> &'static str {
        self.name
    }

    fn goals(&self, program: &Program, scope: &Scope, _: Option<&DataFlow>) -> Vec<Goal> {
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
            Self::Exits => exits(criterion, program, scope),
            Self::Statements => statements(criterion, program, scope, |_| true),
            Self::ControlDecisions => decisions(criterion, program, scope, true),
            Self::Outcomes => outcomes(criterion, program, scope),
            Self::Decisions => decisions(criterion, program, scope, false),
            Self::Conditions => conditions(criterion, program, scope, Demand::Condition),
            Self::Independence => conditions(criterion, program, scope, Demand::Independent),
            Self::Pairs => conditions(criterion, program, scope, Demand::Paired),
            Self::Vectors => vectors(criterion, program, scope),
            Self::Boundaries => boundaries(criterion, program, scope),
            Self::Labels => labels(criterion, program, scope),
        }
    }
}

fn functions(criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
    let goal = |function: FunctionId| {
        let span = program.function(function).span;
        Goal { criterion, function, span, demand: Demand::Entered(function), flow: None }
    };
    scope.functions().map(goal).collect()
}

/// Statements for which there is code: the others, such as `((void)0)`, cannot be seen to be executed.
fn statements(
    criterion: &'static str,
    program: &Program,
    scope: &Scope,
    counts: impl Fn(&Statement) -> bool,
) -> Vec<Goal> {
    let ids = (0..).map(StatementId);
    let counting = program.statements.iter().zip(ids).filter(|(statement, _)| {
        statement.code.is_some() && scope.contains(statement.function) && counts(statement)
    });
    let goal = |(statement, id): (&Statement, StatementId)| {
        let demand = Demand::Executed(id);
        Goal { criterion, function: statement.function, span: Some(statement.span), demand, flow: None }
    };
    counting.map(goal).collect()
}

fn exits(criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
    let is_return = |statement: &Statement| statement.kind == StatementKind::Return;
    let mut goals = statements(criterion, program, scope, is_return);
    let returns = program.statements.iter().filter(|statement| is_return(statement));
    let returns: BTreeSet<(FunctionId, BlockId)> =
        returns.filter_map(|statement| Some((statement.function, statement.code?.0))).collect();
    for function in scope.functions().filter(|function| may_end(program, *function, &returns)) {
        let span = program.function(function).span;
        goals.push(Goal { criterion, function, span, demand: Demand::Ended(function), flow: None });
    }
    goals
}

/// Whether there is a way to the function's end past all blocks where a `return` statement begins.
fn may_end(program: &Program, id: FunctionId, returns: &BTreeSet<(FunctionId, BlockId)>) -> bool {
    let function = program.function(id);
    let mut reached = BTreeSet::from([BlockId(0)]);
    let mut open = vec![BlockId(0)];
    while let Some(block) = open.pop() {
        if returns.contains(&(id, block)) {
            continue;
        }
        let terminator = &function.block(block).terminator;
        if matches!(terminator, Terminator::Return(_)) {
            return true;
        }
        open.extend(terminator.successors().into_iter().filter(|next| reached.insert(*next)));
    }
    false
}

fn decisions(criterion: &'static str, program: &Program, scope: &Scope, control_only: bool) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (index, decision) in program.decisions.iter().enumerate() {
        let counts = scope.contains(decision.function)
            && decision.kind.is_of_source()
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
                    flow: None,
                });
            }
        }
    }
    goals
}

fn conditions(
    criterion: &'static str,
    program: &Program,
    scope: &Scope,
    demand: fn(ConditionId, bool) -> Demand,
) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (index, condition) in program.conditions.iter().enumerate() {
        let decision = program.decision(condition.decision);
        let function = decision.function;
        if scope.contains(function) && decision.kind.is_of_source() {
            for value in [true, false] {
                let demand = demand(ConditionId::new(index), value);
                goals.push(Goal { criterion, function, span: Some(condition.span), demand, flow: None });
            }
        }
    }
    goals
}

/// Both outcomes of everything that clang's coverage calls a branch condition: operands of `&&` and `||` anywhere, and the
/// whole of what controls `if`, a loop or `?:` when it is neither of them, negations aside. `==` of two truth values is one
/// such condition, and so is `?:`, whose own condition counts besides.
fn outcomes(criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (decision, id) in program.decisions.iter().zip((0..).map(DecisionId)) {
        if !scope.contains(decision.function) || !decision.kind.is_of_source() {
            continue;
        }
        let mut demanded = Vec::new();
        branch_conditions(&decision.shape, decision.kind.controls_flow(), &mut demanded);
        for condition in demanded {
            let span = condition.map_or(decision.span, |condition| program.condition(condition).span);
            for value in [true, false] {
                let whole = Demand::Decision(id, value);
                let demand = condition.map_or(whole, |condition| Demand::Condition(condition, value));
                goals.push(Goal {
                    criterion,
                    function: decision.function,
                    span: Some(span),
                    demand,
                    flow: None,
                });
            }
        }
    }
    goals
}

/// The branch conditions of a boolean expression, `None` for the whole of it; `is_branch` says that it is one itself.
fn branch_conditions(shape: &Shape, is_branch: bool, found: &mut Vec<Option<ConditionId>>) {
    match shape {
        Shape::Leaf(condition) if is_branch => found.push(Some(*condition)),
        Shape::Leaf(_) | Shape::Constant(_) => {}
        Shape::Not(inner) => branch_conditions(inner, is_branch, found),
        Shape::And(a, b) | Shape::Or(a, b) => {
            branch_conditions(a, true, found);
            branch_conditions(b, true, found);
        }
        Shape::Equal(a, b) | Shape::Differ(a, b) => {
            found.extend(is_branch.then_some(None));
            branch_conditions(a, false, found);
            branch_conditions(b, false, found);
        }
        Shape::Ternary(condition, then, otherwise) => {
            found.extend(is_branch.then_some(None));
            branch_conditions(condition, true, found);
            branch_conditions(then, false, found);
            branch_conditions(otherwise, false, found);
        }
    }
}

fn vectors(criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (decision, id) in program.decisions.iter().zip((0..).map(DecisionId)) {
        let n_vectors = n_vectors(&decision.shape);
        if !decision.kind.is_of_source() {
            continue;
        }
        if scope.contains(decision.function) && !decision.shape.is_constant() && n_vectors <= MAX_VECTORS {
            let (function, span) = (decision.function, Some(decision.span));
            let numbers = (0..).take_while(|number| u64::from(*number) < n_vectors);
            goals.extend(numbers.map(|number| {
                let demand = Demand::Vector(id, number);
                Goal { criterion, function, span, demand, flow: None }
            }));
        }
    }
    goals
}

fn boundaries(criterion: &'static str, program: &Program, scope: &Scope) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (condition, id) in program.conditions.iter().zip((0..).map(ConditionId)) {
        let Decision { function, kind, .. } = *program.decision(condition.decision);
        if kind == DecisionKind::Boundary && scope.contains(function) {
            let demand = Demand::Condition(id, true);
            goals.push(Goal { criterion, function, span: Some(condition.span), demand, flow: None });
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
            goals.push(Goal {
                criterion,
                function: switch.function,
                span: Some(label.span),
                demand,
                flow: None,
            });
        }
        if !switch.labels.iter().any(|label| label.values == LabelValues::Default) {
            let demand = Demand::Label(id, Case::ImplicitDefault);
            goals.push(Goal {
                criterion,
                function: switch.function,
                span: Some(switch.span),
                demand,
                flow: None,
            });
        }
    }
    goals
}
