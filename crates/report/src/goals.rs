//! Goals as text: for each function its decisions, conditions and switches, each with its goals.

use std::collections::BTreeMap;
use std::fmt::Write;

use analysis::decision::{n_vectors, vectors};
use coverage::vector::{Progress, Vector, progress};
use coverage::{Case, Coverage, Demand, GoalId, MAX_VECTORS, Scope};
use model::{
    ConditionId, DecisionId, DecisionKind, FileId, FunctionId, LabelValues, Program, SpanId, StatementId,
    StatementKind, SwitchId,
};

use crate::cut_points::{self, CutPoints, cut_points};
use crate::mcdc::{DecisionTable, LEGEND, tables};
use crate::place::{place, short_place};
use crate::words::kind_word;

/// The listing of `quarry goals`.
pub fn listing(program: &Program, scope: &Scope, coverage: &Coverage) -> String {
    let mut goals: BTreeMap<Demand, Vec<GoalId>> = BTreeMap::new();
    let mut per_criterion: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, goal, _) in coverage.goals() {
        goals.entry(goal.demand).or_default().push(id);
        *per_criterion.entry(goal.criterion).or_default() += 1;
    }
    let tables = tables(program, coverage.goals().map(|(id, goal, _)| (id, goal)), None);
    let tables = tables.into_iter().map(|table| (table.decision, table)).collect();
    let counts_vectors = per_criterion.contains_key("multiple-condition");
    let cut_points = cut_points(program, scope, coverage);
    let (file, text) = (None, String::new());
    let mut listing =
        Listing { program, scope, coverage, goals, tables, cut_points, counts_vectors, file, text };
    for function in scope.functions() {
        listing.function(function);
    }
    if listing.tables.values().any(|table| table.is_composite(program)) {
        listing.line(0, "", "", LEGEND.to_owned());
    }
    for (criterion, n_goals) in per_criterion {
        listing.line(0, "", "", format!("{n_goals} goals for {criterion}"));
    }
    listing.text
}

struct Listing<'p> {
    program: &'p Program,
    scope: &'p Scope,
    coverage: &'p Coverage,
    goals: BTreeMap<Demand, Vec<GoalId>>,
    /// Decisions with MC/DC obligations.
    tables: BTreeMap<DecisionId, DecisionTable>,
    cut_points: CutPoints,
    counts_vectors: bool,
    file: Option<FileId>,
    text: String,
}

impl Listing<'_> {
    fn function(&mut self, id: FunctionId) {
        let function = self.program.function(id);
        let at = function.span.map(|span| self.program.span(span).at);
        let mut sites = self.sites(id);
        if sites.is_empty() && !self.scope.is_of_interest(id, at) {
            return;
        }
        self.file = at.map(|at| at.file);
        let goals = self.goals_of(&[("entered", Demand::Entered(id)), ("ended", Demand::Ended(id))]);
        let head = format!("{}  {}  {goals}", function.name, place(self.program, function.span));
        self.line(0, "", "", head);
        sites.sort();
        for (_, site) in sites {
            match site {
                Site::Statement(statement) => self.statement(statement),
                Site::Decision(decision) => self.decision(decision),
                Site::Switch(switch) => self.switch(switch),
                Site::Flow(goal) => self.flow(goal),
            }
        }
        self.text.push('\n');
    }

    /// The decisions and switches of a function that are of interest, at least in part.
    fn sites(&self, function: FunctionId) -> Vec<(model::Position, Site)> {
        let program = self.program;
        let is_of_interest = |span| self.scope.is_of_interest(function, Some(program.span(span).at));
        let mut sites = Vec::new();
        for (index, decision) in program.decisions.iter().enumerate() {
            let parts = decision.shape.conditions().into_iter().map(|id| program.condition(id).span);
            if decision.function == function && parts.chain([decision.span]).any(is_of_interest) {
                sites.push((program.span(decision.span).at, Site::Decision(DecisionId::new(index))));
            }
        }
        for (index, switch) in program.switches.iter().enumerate() {
            let parts = switch.labels.iter().map(|label| label.span);
            if switch.function == function && parts.chain([switch.span]).any(is_of_interest) {
                sites.push((program.span(switch.span).at, Site::Switch(SwitchId::new(index))));
            }
        }
        for (index, statement) in program.statements.iter().enumerate() {
            let id = StatementId::new(index);
            if statement.function == function && self.goals.contains_key(&Demand::Executed(id)) {
                sites.push((program.span(statement.span).at, Site::Statement(id)));
            }
        }
        for (id, goal, _) in self.coverage.goals() {
            if let (true, Some(_), Some(at)) = (goal.function == function, &goal.flow, goal.position(program))
            {
                sites.push((at, Site::Flow(id)));
            }
        }
        sites
    }

    fn flow(&mut self, id: GoalId) {
        let goal = self.coverage.goal(id);
        if let Some(span) = goal.span {
            let at = short_place(self.program, span, self.file);
            self.line(2, &at, "flow", format!("{}  [{id}]", goal.describe(self.program)));
        }
        if let Some(pair) = goal.demand.pair()
            && let Some(points) = self.cut_points.get(&pair)
        {
            let lines = cut_points::lines(self.program, points, self.file);
            self.line(20, "", "", format!("cut points {lines}"));
        }
    }

    fn statement(&mut self, id: StatementId) {
        let statement = self.program.statement(id);
        let word = match statement.kind {
            StatementKind::Return => "return",
            StatementKind::Other => "statement",
        };
        let goals = self.goals_of(&[("executed", Demand::Executed(id))]);
        let at = short_place(self.program, statement.span, self.file);
        self.line(2, &at, word, goals);
    }

    fn decision(&mut self, id: DecisionId) {
        let decision = self.program.decision(id);
        let conditions = decision.shape.conditions();
        if let (false, [only]) = (decision.kind.is_of_source(), conditions.as_slice()) {
            self.boundary(*only, decision.span);
            return;
        }
        let mut demands = vec![("true", Demand::Decision(id, true)), ("false", Demand::Decision(id, false))];
        if let [only] = conditions[..] {
            // its outcomes are all there is to show
            demands.extend([
                ("true", Demand::Independent(only, true)),
                ("false", Demand::Independent(only, false)),
            ]);
            demands.extend([("true", Demand::Paired(only, true)), ("false", Demand::Paired(only, false))]);
            demands.extend([("true", Demand::Vector(id, 0)), ("false", Demand::Vector(id, 1))]);
        }
        let goals = self.goals_of(&demands);
        let at = short_place(self.program, decision.span, self.file);
        self.line(2, &at, kind_word(decision.kind), format!("{}  {goals}", decision.text));
        if conditions.is_empty() {
            self.line(4, "", "", "constant: no goals".to_owned());
        }
        let has_table = self.tables.contains_key(&id);
        if (conditions.len() > 1 && !has_table) || conditions.iter().any(|condition| self.counts(*condition))
        {
            for condition in &conditions {
                self.condition(*condition);
            }
        }
        if conditions.len() > 1 {
            self.table(id);
            self.vectors(id);
        }
    }

    /// How near the sides of a comparison must come.
    fn boundary(&mut self, id: ConditionId, span: SpanId) {
        let goals = self.goals_of(&[("met", Demand::Condition(id, true))]);
        let at = short_place(self.program, span, self.file);
        let text = format!("{}  {goals}", self.program.condition(id).text);
        self.line(2, &at, kind_word(DecisionKind::Boundary), text);
    }

    /// What MC/DC asks of a decision.
    fn table(&mut self, id: DecisionId) {
        let Some(table) = self.tables.get(&id) else { return };
        for line in table.lines(self.program, self.file, "shown by") {
            self.line(4, "", "", line);
        }
    }

    /// What multiple-condition coverage asks of a decision.
    fn vectors(&mut self, id: DecisionId) {
        let shape = &self.program.decision(id).shape;
        if !self.counts_vectors {
            return;
        }
        let n_vectors = n_vectors(shape);
        if n_vectors > MAX_VECTORS {
            self.line(4, "", "", format!("{n_vectors} vectors, too many: no goals"));
            return;
        }
        for (outcomes, number) in vectors(shape).iter().zip(0..) {
            let goals = self.goals_of(&[("seen", Demand::Vector(id, number))]);
            let outcome = match progress(shape, outcomes) {
                Progress::Done(true) => "true",
                Progress::Done(false) => "false",
                Progress::Waiting(_) => unreachable!("a vector finishes its decision"),
            };
            self.line(4, "", "", format!("{}  {outcome:<5}  {goals}", Vector::from(outcomes.as_slice())));
        }
    }

    fn condition(&mut self, id: ConditionId) {
        let condition = self.program.condition(id);
        let goals =
            self.goals_of(&[("true", Demand::Condition(id, true)), ("false", Demand::Condition(id, false))]);
        let at = short_place(self.program, condition.span, self.file);
        self.line(4, &at, "condition", format!("{}  {goals}", condition.text));
    }

    fn switch(&mut self, id: SwitchId) {
        let switch = self.program.switch(id);
        let at = short_place(self.program, switch.span, self.file);
        self.line(2, &at, "switch", switch.text.clone());
        for (label, index) in switch.labels.iter().zip(0..) {
            let goals = self.goals_of(&[("reached", Demand::Label(id, Case::Label(index)))]);
            let at = short_place(self.program, label.span, self.file);
            self.line(4, &at, "", format!("{label}  {goals}"));
        }
        if !switch.labels.iter().any(|label| label.values == LabelValues::Default) {
            let goals = self.goals_of(&[("reached", Demand::Label(id, Case::ImplicitDefault))]);
            self.line(4, &at, "", format!("no case matches  {goals}"));
        }
    }

    fn counts(&self, condition: ConditionId) -> bool {
        self.goals.contains_key(&Demand::Condition(condition, true))
    }

    /// `[true goal3, false goal4]`, with nothing for demands that no criterion makes.
    fn goals_of(&self, demands: &[(&str, Demand)]) -> String {
        let mut parts = Vec::new();
        for (word, demand) in demands {
            for goal in self.goals.get(demand).into_iter().flatten() {
                parts.push(format!("{word} {goal}"));
            }
        }
        if parts.is_empty() { String::new() } else { format!("[{}]", parts.join(", ")) }
    }

    fn line(&mut self, indent: usize, at: &str, kind: &str, rest: String) {
        let mut line = " ".repeat(indent);
        if !at.is_empty() {
            write!(line, "{at:<8}").expect("writing to a string succeeds");
        }
        if !kind.is_empty() {
            write!(line, "{kind:<10}").expect("writing to a string succeeds");
        }
        line.push_str(&rest);
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Site {
    Statement(StatementId),
    Decision(DecisionId),
    Switch(SwitchId),
    /// A goal of data flow.
    Flow(GoalId),
}
