//! What must not happen: the events that would cover the goals of a batch.
//!
//! Method: each goal becomes a place of the code, a mark with what was evaluated before it, an edge of a switch, or a load
//! behind a store. Demands on whole evaluations become the vectors that meet them, listed by the mark that completes each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use analysis::decision::{independent, n_vectors, vectors};
use model::{
    BlockId, ConditionId, DecisionId, FunctionId, InstrId, Program, Shape, Statement, StatementKind, SwitchId,
};
use proof::{FlowHome, FlowObject, FlowPlace, Goal, SwitchTarget};

/// Vectors of a decision up to which its goals are attempted.
pub(crate) const MAX_VECTORS: u64 = 256;

/// Conditions with their values, in order of evaluation.
pub(crate) type Evaluated = Vec<(ConditionId, bool)>;

/// A mark that may complete a goal.
pub(crate) struct MarkGoal {
    pub(crate) goal: usize,
    pub(crate) value: bool,
    /// What was evaluated before, one list for each evaluation that covers the goal.
    pub(crate) before: Vec<Evaluated>,
}

/// A local whose definitions and uses count.
pub(crate) struct FlowGoal {
    pub(crate) goal: usize,
    pub(crate) local: InstrId,
    pub(crate) definitions: BTreeSet<InstrId>,
    pub(crate) uses: BTreeSet<InstrId>,
}

/// Bytes in memory whose definitions and uses count.
pub(crate) struct MemoryFlow {
    pub(crate) goal: usize,
    pub(crate) object: FlowObject,
    pub(crate) definitions: BTreeSet<FlowPlace>,
    pub(crate) uses: BTreeSet<FlowPlace>,
}

/// A return without a `return` statement.
pub(crate) struct EndGoal {
    pub(crate) goal: usize,
    /// The blocks in which such statements begin.
    pub(crate) returning: BTreeSet<BlockId>,
}

/// The events of a batch; goals are numbered by their place in it.
#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) reach: HashMap<(FunctionId, BlockId), Vec<(u32, usize)>>,
    pub(crate) marks: HashMap<ConditionId, Vec<MarkGoal>>,
    pub(crate) labels: HashMap<SwitchId, Vec<(SwitchTarget, usize)>>,
    pub(crate) flows: HashMap<FunctionId, Vec<FlowGoal>>,
    pub(crate) ends: HashMap<FunctionId, Vec<EndGoal>>,
    pub(crate) memory: Vec<MemoryFlow>,
    /// Decisions whose evaluations are recorded.
    pub(crate) decisions: BTreeSet<DecisionId>,
}

/// The function whose activations may cover the goal.
pub(crate) fn function_of(program: &Program, goal: &Goal) -> FunctionId {
    let of_condition =
        |condition: ConditionId| program.decision(program.condition(condition).decision).function;
    match goal {
        Goal::Reach { function, .. } | Goal::Pair { function, .. } | Goal::End { function } => *function,
        Goal::Outcome { condition, .. }
        | Goal::Independent { condition, .. }
        | Goal::Paired { condition, .. } => of_condition(*condition),
        Goal::Label { switch, .. } => program.switch(*switch).function,
        Goal::Flow { object, uses, .. } => match (object.home, uses.first()) {
            (FlowHome::Local(function, _), _) => function,
            (FlowHome::Global(_), Some(place)) => place.function,
            (FlowHome::Global(_), None) => FunctionId(0),
        },
        Goal::Decision { decision, .. } | Goal::Vector { decision, .. } => {
            program.decision(*decision).function
        }
    }
}

/// The functions in which something counts for the goal.
pub(crate) fn functions_of(program: &Program, goal: &Goal) -> BTreeSet<FunctionId> {
    let mut functions = BTreeSet::from([function_of(program, goal)]);
    if let Goal::Flow { definitions, uses, .. } = goal {
        functions.extend(definitions.iter().chain(uses).map(|place| place.function));
    }
    functions
}

impl Watch {
    /// Whether the goal's flag is set when the entry begins.
    pub(crate) fn begins_set(&self, goal: usize) -> bool {
        self.memory.iter().any(|flow| flow.goal == goal && flow.object.is_initial)
    }

    /// Whether a flag says if a definition of the goal reaches a point.
    pub(crate) fn has_flag(&self, goal: usize) -> bool {
        self.memory.iter().any(|flow| flow.goal == goal)
            || self.flows.values().flatten().any(|flow| flow.goal == goal)
    }

    /// The events of these goals. A goal without events here is not attempted: its number is in the second part.
    pub(crate) fn of(program: &Program, goals: &[Goal]) -> (Self, BTreeSet<usize>) {
        let mut watch = Self::default();
        let mut left_out = BTreeSet::new();
        for (number, goal) in goals.iter().enumerate() {
            if !watch.add(program, number, goal) {
                left_out.insert(number);
            }
        }
        (watch, left_out)
    }

    fn add(&mut self, program: &Program, goal_number: usize, goal: &Goal) -> bool {
        match goal {
            Goal::Reach { function, block, position } => {
                self.reach.entry((*function, *block)).or_default().push((*position, goal_number));
                true
            }
            Goal::Outcome { condition, value } => {
                let event = MarkGoal { goal: goal_number, value: *value, before: vec![Vec::new()] };
                self.marks.entry(*condition).or_default().push(event);
                true
            }
            Goal::Label { switch, to } => {
                self.labels.entry(*switch).or_default().push((*to, goal_number));
                true
            }
            Goal::Decision { decision, value } => {
                self.evaluations(program, goal_number, *decision, |shape, vector, _| {
                    outcome(shape, vector) == Some(*value)
                })
            }
            Goal::Independent { condition, value } => {
                let decision = program.condition(*condition).decision;
                self.evaluations(program, goal_number, decision, |shape, vector, _| {
                    let outcomes = by_condition(shape, vector).into_iter().collect();
                    independent(shape, &outcomes).get(condition) == Some(value)
                })
            }
            Goal::Vector { decision, number } => {
                self.evaluations(program, goal_number, *decision, |_, _, at| at == *number as usize)
            }
            Goal::Pair { function, local, definitions, uses } => {
                self.flows.entry(*function).or_default().push(FlowGoal {
                    goal: goal_number,
                    local: *local,
                    definitions: definitions.clone(),
                    uses: uses.clone(),
                });
                true
            }
            Goal::End { function } => {
                let is_return = |statement: &&Statement| {
                    statement.function == *function && statement.kind == StatementKind::Return
                };
                let returns = program.statements.iter().filter(is_return);
                let returning = returns.filter_map(|statement| Some(statement.code?.0)).collect();
                self.ends.entry(*function).or_default().push(EndGoal { goal: goal_number, returning });
                true
            }
            Goal::Flow { object, definitions, uses } => {
                self.memory.push(MemoryFlow {
                    goal: goal_number,
                    object: *object,
                    definitions: definitions.clone(),
                    uses: uses.clone(),
                });
                true
            }
            Goal::Paired { .. } => false,
        }
    }

    fn evaluations(
        &mut self,
        program: &Program,
        goal: usize,
        decision: DecisionId,
        is_meant: impl Fn(&Shape, &[Option<bool>], usize) -> bool,
    ) -> bool {
        let shape = &program.decision(decision).shape;
        if n_vectors(shape) > MAX_VECTORS {
            return false;
        }
        let mut events: BTreeMap<(ConditionId, bool), Vec<Evaluated>> = BTreeMap::new();
        for (number, vector) in vectors(shape).iter().enumerate() {
            if !is_meant(shape, vector, number) {
                continue;
            }
            let mut evaluated = by_condition(shape, vector);
            // nothing of a decision without conditions is ever evaluated
            let Some(last) = evaluated.pop() else { return false };
            events.entry(last).or_default().push(evaluated);
        }
        for ((condition, value), before) in events {
            self.marks.entry(condition).or_default().push(MarkGoal { goal, value, before });
        }
        self.decisions.insert(decision);
        true
    }
}

/// The conditions that a vector evaluates, in order.
fn by_condition(shape: &Shape, vector: &[Option<bool>]) -> Vec<(ConditionId, bool)> {
    let conditions = shape.conditions().into_iter().zip(vector);
    conditions.filter_map(|(condition, value)| Some((condition, (*value)?))).collect()
}

/// The decision's outcome by a whole vector.
pub(crate) fn outcome(shape: &Shape, vector: &[Option<bool>]) -> Option<bool> {
    match coverage::vector::progress(shape, vector) {
        coverage::vector::Progress::Done(value) => Some(value),
        coverage::vector::Progress::Waiting(_) => None,
    }
}
