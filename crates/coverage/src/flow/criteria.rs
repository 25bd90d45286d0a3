//! The criteria of data-flow testing: from definitions, uses and pairs to goals.

use std::collections::BTreeMap;

use analysis::dataflow::{DataFlow, Definition, DefinitionId, DefinitionKind, Pair, UseId};
use model::Program;

use super::FlowGoal;
use crate::{Criterion, Demand, Goal, Scope};

/// What a criterion of data flow wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Each definition reaches some use.
    Definitions,
    /// Each use is reached by some definition.
    Uses,
    /// Each pair.
    Pairs,
}

/// A criterion of data flow.
pub(crate) struct DataFlowCriterion {
    pub(crate) name: &'static str,
    pub(crate) wanted: Wanted,
    pub(crate) elements: bool,
}

impl Criterion for DataFlowCriterion {
    fn name(&self) -> &'static str {
        self.name
    }

    fn needs_data_flow(&self) -> bool {
        true
    }

    fn tells_elements_apart(&self) -> bool {
        self.elements
    }

    fn goals(&self, program: &Program, scope: &Scope, flow: Option<&DataFlow>) -> Vec<Goal> {
        let Some(flow) = flow else { return Vec::new() };
        let counting = flow.pairs().filter(|(_, pair)| counts(flow, scope, *pair));
        let mut goals: Vec<Goal> = match self.wanted {
            Wanted::Pairs => counting.map(|(id, pair)| self.goal(flow, pair, Demand::Pair(id))).collect(),
            Wanted::Definitions => {
                let mut first: BTreeMap<DefinitionId, Pair> = BTreeMap::new();
                counting.for_each(|(_, pair)| _ = first.entry(pair.definition).or_insert(pair));
                first.into_values().map(|pair| self.of_definition(flow, scope, pair)).collect()
            }
            Wanted::Uses => {
                let mut first: BTreeMap<UseId, Pair> = BTreeMap::new();
                counting.for_each(|(_, pair)| _ = first.entry(pair.use_).or_insert(pair));
                let goal = |(use_, pair)| {
                    let mut goal = self.goal(flow, pair, Demand::Used(use_));
                    goal.flow.iter_mut().for_each(|flow| flow.definition = None);
                    goal
                };
                first.into_iter().map(goal).collect()
            }
        };
        goals.sort_by_key(|goal| (goal.function, goal.position(program), goal.demand));
        goals
    }
}

impl DataFlowCriterion {
    fn goal(&self, flow: &DataFlow, pair: Pair, demand: Demand) -> Goal {
        let (definition, use_) = (flow.definition(pair.definition), flow.use_(pair.use_));
        let about = FlowGoal {
            variable: flow.name(pair).to_owned(),
            definition: definition.span,
            use_: Some((use_.span, use_.kind)),
        };
        let (criterion, function, span) = (self.name, use_.function, use_.span);
        Goal { criterion, function, span, demand, flow: Some(Box::new(about)) }
    }

    fn of_definition(&self, flow: &DataFlow, scope: &Scope, pair: Pair) -> Goal {
        let mut goal = self.goal(flow, pair, Demand::Defined(pair.definition));
        let definition = flow.definition(pair.definition);
        // an initial value belongs to who takes it
        if scope.contains(definition.function) {
            goal.function = definition.function;
        }
        goal.span = definition.span;
        goal.flow.iter_mut().for_each(|flow| flow.use_ = None);
        goal
    }
}

/// Whether both ends are of interest; where a run starts is nobody's function.
fn counts(flow: &DataFlow, scope: &Scope, pair: Pair) -> bool {
    let is_in = |definition: &Definition| {
        definition.kind == DefinitionKind::Initial || scope.contains(definition.function)
    };
    is_in(flow.definition(pair.definition)) && scope.contains(flow.use_(pair.use_).function)
}
