//! Where in the graph can each goal be covered?

use std::collections::{BTreeMap, BTreeSet};

use analysis::dataflow::{DataFlow, UseId};
use analysis::decision::{n_vectors, vectors};
use analysis::icfg::{Callees, DirectionId, Exit, Icfg, NodeId};
use model::walk::{Choice, Site};
use model::{ConditionId, DecisionId, FunctionId, Program, Shape, SwitchId, Terminator};

use crate::observe::{case_of, leads_to_range_test};
use crate::vector::{Next, Progress, Vector};
use crate::{Case, Coverage, Demand, EvaluationDemand, GoalId, MAX_VECTORS, Marking};

/// The goals of a campaign by place.
pub(super) struct Attached {
    /// By node: goals that entering it covers.
    pub(super) on_entry: Vec<Vec<GoalId>>,
    /// By direction: goals that taking it covers.
    pub(super) on_direction: Vec<Vec<GoalId>>,
    /// By node: all goals that entering it, a choice at its end or an evaluation begun there may cover.
    pub(super) around: Vec<Vec<GoalId>>,
    /// Goals about whole evaluations.
    pub(super) of_decision: BTreeMap<DecisionId, Vec<(GoalId, EvaluationDemand)>>,
    /// All vectors of decisions whose goals are about vectors, in order, unless there are too many.
    pub(super) vectors: BTreeMap<DecisionId, Vec<Vector>>,
}

/// Decisions with more vectors than this are not searched for those that a begun evaluation leads to.
const MAX_LISTED: u64 = MAX_VECTORS;

impl Attached {
    pub(super) fn new(marking: &Marking<'_>, graph: &Icfg, coverage: &Coverage) -> Self {
        let mut attached = Self {
            on_entry: vec![Vec::new(); graph.nodes.len()],
            on_direction: vec![Vec::new(); graph.directions.len()],
            around: vec![Vec::new(); graph.nodes.len()],
            of_decision: BTreeMap::new(),
            vectors: BTreeMap::new(),
        };
        let labels = labels(marking.program(), graph);
        let goals = coverage.goals().map(|(id, goal, _)| (id, goal.demand));
        for (id, demand) in goals.chain(coverage.milestones()) {
            attached.attach(marking, graph, &labels, id, demand);
        }
        attached
    }

    /// By node: whether an open goal is around.
    pub(super) fn wanted(&self, coverage: &Coverage) -> Vec<bool> {
        let is_wanted = |goals: &Vec<GoalId>| goals.iter().any(|goal| coverage.is_open(*goal));
        self.around.iter().map(is_wanted).collect()
    }

    fn attach(&mut self, marking: &Marking<'_>, graph: &Icfg, labels: &Labels, id: GoalId, demand: Demand) {
        let program = marking.program();
        if let (Some(decision), Some(asked)) = (demand.decision(program), demand.of_evaluation()) {
            self.of_decision.entry(decision).or_default().push((id, asked));
        }
        match demand {
            Demand::Entered(function) => self.entry(graph.entry(function), id),
            Demand::Executed(statement) => {
                let statement = program.statement(statement);
                let code = statement.code;
                self.entry(code.map(|(block, at)| graph.node_at(statement.function, block, at)), id);
            }
            Demand::Ended(function) => {
                for (block, _) in program.function(function).blocks() {
                    let node = graph.node_at(function, block, u32::MAX);
                    if matches!(graph.node(node).exit, Exit::Return) {
                        self.around[node.index()].push(id);
                    }
                }
            }
            Demand::Condition(condition, value) => {
                self.direction(
                    graph,
                    graph.direction(Site::Condition(condition), Choice::Outcome(value)),
                    id,
                );
            }
            Demand::Label(switch, case) => {
                for direction in labels.get(&(switch, case)).into_iter().flatten() {
                    self.direction(graph, Some(*direction), id);
                }
            }
            Demand::Decision(decision, outcome) => {
                for direction in ending_directions(marking, graph, decision, outcome) {
                    for node in &graph.directions[direction.index()].sources {
                        add(&mut self.around[node.index()], id);
                    }
                }
            }
            Demand::Independent(condition, _) => {
                self.evaluation(marking, graph, program.condition(condition).decision, id);
            }
            Demand::Paired(condition, _) => {
                let decision = program.condition(condition).decision;
                self.list(&program.decision(decision).shape, decision);
                self.evaluation(marking, graph, decision, id);
            }
            Demand::Defined(definition) => {
                self.flow(marking, graph, id, |flow| flow.uses_of(definition).collect());
            }
            Demand::Used(use_) => self.flow(marking, graph, id, |_| BTreeSet::from([use_])),
            Demand::Pair(pair) => {
                self.flow(marking, graph, id, |flow| BTreeSet::from([flow.pair(pair).use_]))
            }
            Demand::Vector(decision, _) => {
                self.list(&program.decision(decision).shape, decision);
                self.evaluation(marking, graph, decision, id);
            }
        }
    }

    /// A run that covers more than its prefix did executes the use behind the flip; a definition before the flip was
    /// executed by the prefix. So a goal belongs to its uses.
    fn flow(
        &mut self,
        marking: &Marking<'_>,
        graph: &Icfg,
        id: GoalId,
        uses: impl FnOnce(&DataFlow) -> BTreeSet<UseId>,
    ) {
        let Some(flow) = marking.data_flow() else { return };
        for place in uses(flow).into_iter().flat_map(|use_| &flow.use_(use_).places) {
            // what a call returns is taken behind the call
            for at in [place.at, place.at + 1] {
                let node = graph.node_at(place.function, place.block, at);
                if !self.around[node.index()].contains(&id) {
                    self.around[node.index()].push(id);
                }
            }
        }
    }

    fn list(&mut self, shape: &Shape, decision: DecisionId) {
        if n_vectors(shape) <= MAX_LISTED {
            let all = || vectors(shape).iter().map(|outcomes| Vector::from(outcomes.as_slice())).collect();
            self.vectors.entry(decision).or_insert_with(all);
        }
    }

    fn entry(&mut self, node: Option<NodeId>, id: GoalId) {
        if let Some(node) = node {
            self.on_entry[node.index()].push(id);
            add(&mut self.around[node.index()], id);
        }
    }

    fn direction(&mut self, graph: &Icfg, direction: Option<DirectionId>, id: GoalId) {
        if let Some(direction) = direction {
            self.on_direction[direction.index()].push(id);
            for node in &graph.directions[direction.index()].sources {
                add(&mut self.around[node.index()], id);
            }
        }
    }

    /// A goal about whole evaluations belongs to where they begin. An evaluation that has begun is known to the candidate,
    /// except while another function runs that one of its conditions calls: then every condition counts.
    fn evaluation(&mut self, marking: &Marking<'_>, graph: &Icfg, decision: DecisionId, id: GoalId) {
        let conditions = marking.program().decision(decision).shape.conditions();
        let n_counting =
            if calls_between(marking, graph, decision, &conditions) { conditions.len() } else { 1 };
        for condition in conditions.into_iter().take(n_counting) {
            if let Some(direction) = graph.direction(Site::Condition(condition), Choice::Outcome(true)) {
                for node in &graph.directions[direction.index()].sources {
                    add(&mut self.around[node.index()], id);
                }
            }
        }
    }
}

fn add(goals: &mut Vec<GoalId>, id: GoalId) {
    if goals.last() != Some(&id) {
        goals.push(id);
    }
}

/// The ways on which an evaluation of the decision may end with this outcome.
fn ending_directions(
    marking: &Marking<'_>,
    graph: &Icfg,
    decision: DecisionId,
    outcome: bool,
) -> Vec<DirectionId> {
    let conditions = marking.program().decision(decision).shape.conditions();
    let mut directions = Vec::new();
    for (place, condition) in conditions.into_iter().enumerate() {
        for value in [true, false] {
            let ends = match marking.flow(decision).next(place, value) {
                Next::Known(Progress::Done(known)) => known == outcome,
                Next::Known(Progress::Waiting(_)) => false,
                Next::Depends => true,
            };
            if ends {
                directions.extend(graph.direction(Site::Condition(condition), Choice::Outcome(value)));
            }
        }
    }
    directions
}

/// Whether a function with code may be called between two conditions of the decision.
fn calls_between(
    marking: &Marking<'_>,
    graph: &Icfg,
    decision: DecisionId,
    conditions: &[ConditionId],
) -> bool {
    let mut open = Vec::new();
    for (place, condition) in conditions.iter().enumerate() {
        for value in [true, false] {
            let goes_on =
                !matches!(marking.flow(decision).next(place, value), Next::Known(Progress::Done(_)));
            let direction =
                graph.direction(Site::Condition(*condition), Choice::Outcome(value)).filter(|_| goes_on);
            open.extend(
                direction
                    .into_iter()
                    .flat_map(|direction| &graph.directions[direction.index()].targets)
                    .copied(),
            );
        }
    }
    let mut seen = BTreeSet::new();
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        match &graph.node(node).exit {
            Exit::Call { callees: Callees::One(_) | Callees::Indirect, .. } => return true,
            Exit::Jump(_) | Exit::Follow(_) | Exit::Call { callees: Callees::Unknown, .. } => {
                open.extend(graph.successors(node));
            }
            // the next condition, or one of a decision inside an operand: beyond it the search would leave the decision
            Exit::Choose(directions) => {
                let own = |direction: &DirectionId| {
                    let site = graph.directions[direction.index()].site;
                    matches!(site, Site::Condition(condition) if conditions.contains(&condition))
                };
                if !directions.iter().any(own) {
                    open.extend(graph.successors(node));
                }
            }
            Exit::Return | Exit::Dead => {}
        }
    }
    false
}

type Labels = BTreeMap<(SwitchId, Case), Vec<DirectionId>>;

/// The ways that lead to each label.
fn labels(program: &Program, graph: &Icfg) -> Labels {
    let mut labels = Labels::new();
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        for (block_id, block) in function.blocks() {
            for (choice, switch, case) in label_choices(program, id, &block.terminator) {
                let site = match choice {
                    Choice::Outcome(_) => Site::Branch(id, block_id),
                    Choice::Case(_) | Choice::Default => Site::Switch(id, block_id),
                };
                labels.entry((switch, case)).or_default().extend(graph.direction(site, choice));
            }
        }
    }
    labels
}

fn label_choices(
    program: &Program,
    function: FunctionId,
    terminator: &Terminator,
) -> Vec<(Choice, SwitchId, Case)> {
    match terminator {
        Terminator::Switch { cases, bits, source: Some(switch), default, .. } => {
            let of_cases = cases.iter().zip((0..).map(Choice::Case)).filter_map(|(case, choice)| {
                Some((choice, *switch, case_of(program, *switch, Some(case.value), *bits)?))
            });
            let of_default = (!leads_to_range_test(program, function, *default, *switch))
                .then(|| case_of(program, *switch, None, *bits))
                .flatten();
            of_cases.chain(of_default.map(|case| (Choice::Default, *switch, case))).collect()
        }
        Terminator::Branch { range: Some(test), otherwise, .. } => {
            let mut choices = vec![(Choice::Outcome(true), test.switch, Case::Label(test.label))];
            if !leads_to_range_test(program, function, *otherwise, test.switch) {
                let case = case_of(program, test.switch, None, 0);
                choices.extend(case.map(|case| (Choice::Outcome(false), test.switch, case)));
            }
            choices
        }
        Terminator::Switch { source: None, .. }
        | Terminator::Branch { range: None, .. }
        | Terminator::Jump(_)
        | Terminator::IndirectJump { .. }
        | Terminator::Return(_)
        | Terminator::Unreachable => Vec::new(),
    }
}
