//! What did a run evaluate? Facts about the original source, gathered while the run's path is walked.
//!
//! Method: a buffer per activation collects condition outcomes until their decision is done, so recursion and decisions
//! inside another one's condition do not mix. Each vector that is new to the run is looked at once: which conditions it
//! shows, and its number among the decision's vectors. Limit: a decision that control leaves half-way (by `longjmp` or
//! `goto` out of a statement expression) yields its conditions but no outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use analysis::decision::{independent, rank};
use model::walk::{Call, Site, Visitor};
use model::{
    BlockId, ConditionId, DecisionId, FunctionId, LabelValues, Program, RangeTest, SwitchId, Terminator,
};

use crate::flow::{Collector, FlowsSeen, Tracker};
use crate::marking::Marking;
use crate::vector::{Next, Progress, Vector, progress};
use crate::{Case, Demand};

/// Everything a run showed that a goal may demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    entered: Vec<bool>,
    /// By function: whether control reached its end without a `return`.
    ended: Vec<bool>,
    conditions: Vec<Seen>,
    decisions: Vec<Seen>,
    /// By condition: the values it was shown with to affect its decision independently.
    shown: Vec<Seen>,
    labels: BTreeSet<(SwitchId, Case)>,
    vectors: BTreeMap<DecisionId, BTreeMap<Vector, bool>>,
    /// Numbers of the vectors.
    ranks: BTreeSet<(DecisionId, u64)>,
    statements: Vec<bool>,
    /// By block, counted over all functions: how many of its instructions were begun.
    begun: Vec<u32>,
    flows: FlowsSeen,
}

/// The outcomes seen of one condition or decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    outcomes: [bool; 2],
}

impl Seen {
    fn has(self, outcome: bool) -> bool {
        self.outcomes[usize::from(outcome)]
    }

    /// Notes an outcome; whether it is the first of its kind.
    fn note(&mut self, outcome: bool) -> bool {
        !std::mem::replace(&mut self.outcomes[usize::from(outcome)], true)
    }
}

impl Observations {
    /// A hash of the outcomes that were seen.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for seen in &self.conditions {
            seen.outcomes.hash(&mut hasher);
        }
        (&self.labels, &self.ranks, &self.entered).hash(&mut hasher);
        hasher.finish()
    }

    fn none(program: &Program) -> Self {
        Self {
            entered: vec![false; program.functions.len()],
            ended: vec![false; program.functions.len()],
            conditions: vec![Seen::default(); program.conditions.len()],
            decisions: vec![Seen::default(); program.decisions.len()],
            shown: vec![Seen::default(); program.conditions.len()],
            ..Self::default()
        }
    }

    /// Whether the run alone did what is demanded.
    pub fn satisfy(&self, demand: Demand) -> bool {
        match demand {
            Demand::Entered(function) => self.entered[function.index()],
            Demand::Ended(function) => self.ended[function.index()],
            Demand::Executed(statement) => self.statements[statement.index()],
            Demand::Decision(decision, outcome) => self.decisions[decision.index()].has(outcome),
            Demand::Condition(condition, outcome) => self.conditions[condition.index()].has(outcome),
            Demand::Independent(condition, outcome) => self.shown[condition.index()].has(outcome),
            Demand::Vector(decision, number) => self.ranks.contains(&(decision, u64::from(number))),
            Demand::Label(switch, case) => self.labels.contains(&(switch, case)),
            Demand::Defined(definition) => self.flows.definitions.contains(&definition),
            Demand::Used(use_) => self.flows.uses.contains(&use_),
            Demand::Pair(pair) => self.flows.pairs.contains(&pair),
            // a pair is shown by two evaluations, often of two runs
            Demand::Paired(..) => false,
        }
    }

    /// Whether the run did what is demanded, or its half where two runs may do it together.
    pub fn do_their_part(&self, demand: Demand) -> bool {
        match demand.half_of_pair() {
            // either of two evaluations that differ in one condition shows that it matters
            Some((condition, outcome)) => self.satisfy(Demand::Independent(condition, outcome)),
            None => self.satisfy(demand),
        }
    }

    /// By block, in the order of [`Marking::block`]: how many of its instructions were begun.
    pub fn begun(&self) -> &[u32] {
        &self.begun
    }

    /// Whether a condition was false, and whether it was true.
    pub(crate) fn outcomes(&self, condition: ConditionId) -> [bool; 2] {
        self.conditions[condition.index()].outcomes
    }

    /// The different evaluations of a decision, with its outcome.
    pub fn vectors(&self, decision: DecisionId) -> impl Iterator<Item = (&Vector, bool)> {
        self.vectors.get(&decision).into_iter().flatten().map(|(vector, outcome)| (vector, *outcome))
    }
}

/// Gathers observations along a walk.
#[derive(Clone)]
pub struct Observer<'a> {
    marking: &'a Marking<'a>,
    activations: Vec<Activation>,
    observations: Observations,
    /// By block, counted over all functions: how many of its instructions were begun; all, when it was left in order.
    begun: Vec<u32>,
    /// By decision: the vector seen last, because most evaluations repeat it.
    latest: Vec<Vec<Option<bool>>>,
    /// Buffers to be used again.
    spare: Vec<Vec<Option<bool>>>,
    /// When data flow counts.
    tracker: Option<Tracker<'a, Collector<'a>>>,
}

/// A function that was entered and not left.
#[derive(Clone)]
struct Activation {
    function: FunctionId,
    /// Number of the block it is in.
    block: Option<usize>,
    /// Whether a `return` statement was executed.
    returning: bool,
    /// How the activation was left behind, if it was.
    abandoned: bool,
    evaluations: Vec<Evaluation>,
}

/// A decision that has begun.
#[derive(Clone)]
struct Evaluation {
    decision: DecisionId,
    outcomes: Vec<Option<bool>>,
}

const ALL: u32 = u32::MAX;

impl<'a> Observer<'a> {
    /// An observer that has seen nothing.
    pub fn new(marking: &'a Marking<'a>) -> Self {
        let program = marking.program();
        Self {
            marking,
            activations: Vec::new(),
            observations: Observations::none(program),
            begun: vec![0; marking.n_blocks()],
            latest: vec![Vec::new(); program.decisions.len()],
            spare: Vec::new(),
            tracker: marking.data_flow().map(|flow| Tracker::new(program, flow, Collector::new(flow))),
        }
    }

    /// What was seen.
    pub fn finish(self) -> Observations {
        let mut observations = self.observations;
        let program = self.marking.program();
        let executed = |statement: &model::Statement| {
            statement
                .code
                .is_some_and(|(block, at)| self.begun[self.marking.block(statement.function, block)] > at)
        };
        observations.statements = program.statements.iter().map(executed).collect();
        observations.begun = self.begun;
        if let Some(tracker) = self.tracker {
            observations.flows = tracker.finish().finish();
        }
        observations
    }

    /// The outcomes so far in the present evaluation of the condition's decision, by place; `None` when the decision has
    /// no other condition.
    pub fn begun(&self, condition: ConditionId) -> Option<&[Option<bool>]> {
        let decision = self.marking.program().condition(condition).decision;
        if self.marking.flow(decision).n_conditions() < 2 {
            return None;
        }
        let evaluations = self.activations.last().map_or(&[][..], |activation| &activation.evaluations);
        let evaluation = evaluations.iter().find(|evaluation| evaluation.decision == decision);
        // one that has this condition already was abandoned
        let place = self.marking.place(condition);
        Some(
            evaluation
                .filter(|evaluation| evaluation.outcomes[place].is_none())
                .map_or(&[], |known| &known.outcomes),
        )
    }

    fn condition(&mut self, condition: ConditionId, taken: bool) {
        let first = self.observations.conditions[condition.index()].note(taken);
        let decision = self.marking.program().condition(condition).decision;
        let flow = self.marking.flow(decision);
        if flow.n_conditions() == 1 {
            // most decisions are a single condition: nothing to collect, and nothing new after the first time
            if first {
                let outcomes = [Some(taken)];
                let shape = &self.marking.program().decision(decision).shape;
                if let Progress::Done(outcome) = progress(shape, &outcomes) {
                    self.decided(decision, &outcomes, outcome);
                }
            }
            return;
        }
        let place = self.marking.place(condition);
        let activation = self.activations.last_mut().expect("conditions are evaluated in a function");
        let known = activation.evaluations.iter().position(|evaluation| evaluation.decision == decision);
        let at = known.unwrap_or_else(|| {
            let mut outcomes = self.spare.pop().unwrap_or_default();
            outcomes.resize(flow.n_conditions(), None);
            activation.evaluations.push(Evaluation { decision, outcomes });
            activation.evaluations.len() - 1
        });
        let outcomes = &mut activation.evaluations[at].outcomes;
        if outcomes[place].is_some() {
            // the evaluation begun before was abandoned
            outcomes.fill(None);
        }
        outcomes[place] = Some(taken);
        let now = match flow.next(place, taken) {
            Next::Known(progress) => progress,
            Next::Depends => progress(&self.marking.program().decision(decision).shape, outcomes),
        };
        if let Progress::Done(outcome) = now {
            let mut outcomes = activation.evaluations.swap_remove(at).outcomes;
            self.decided(decision, &outcomes, outcome);
            outcomes.clear();
            self.spare.push(outcomes);
        }
    }

    fn decided(&mut self, decision: DecisionId, outcomes: &[Option<bool>], outcome: bool) {
        let latest = &mut self.latest[decision.index()];
        if latest == outcomes {
            return;
        }
        outcomes.clone_into(latest);
        let vectors = self.observations.vectors.entry(decision).or_default();
        let vector = Vector::from(outcomes);
        if vectors.contains_key(&vector) {
            return;
        }
        let shape = &self.marking.program().decision(decision).shape;
        for (condition, value) in independent(shape, &vector.by_condition(shape)) {
            self.observations.shown[condition.index()].note(value);
        }
        if let Some(rank) = rank(shape, outcomes) {
            self.observations.ranks.insert((decision, rank));
        }
        vectors.insert(vector, outcome);
        self.observations.decisions[decision.index()].note(outcome);
    }

    fn label(&mut self, switch: SwitchId, value: Option<u128>, bits: u32) {
        let case = case_of(self.marking.program(), switch, value, bits);
        self.observations.labels.extend(case.map(|case| (switch, case)));
    }
}

/// The way through a switch with this value; without, none of the compiler's cases matched.
pub(crate) fn case_of(program: &Program, switch: SwitchId, value: Option<u128>, bits: u32) -> Option<Case> {
    let matching = |values: LabelValues| match (values, value) {
        (LabelValues::Range { low, high }, Some(value)) => in_range(value, bits, low, high),
        (LabelValues::Default, None) => true,
        (LabelValues::Range { .. }, None) | (LabelValues::Default, Some(_)) => false,
    };
    match program.switch(switch).labels.iter().position(|label| matching(label.values)) {
        Some(index) => Some(Case::Label(u32::try_from(index).expect("fewer than 2^32 labels"))),
        None if value.is_none() => Some(Case::ImplicitDefault),
        None => None,
    }
}

/// Whether the block tests a large case range of the switch, so that the way through the switch is not known before.
pub(crate) fn leads_to_range_test(
    program: &Program,
    function: FunctionId,
    block: BlockId,
    switch: SwitchId,
) -> bool {
    let terminator = &program.function(function).block(block).terminator;
    matches!(terminator, Terminator::Branch { range: Some(test), .. } if test.switch == switch)
}

/// Whether the bits lie in the range, read as either signed or unsigned as the range itself is.
fn in_range(value: u128, bits: u32, low: i128, high: i128) -> bool {
    let unsigned = i128::try_from(value).unwrap_or(i128::MAX);
    let sign = bits > 0 && bits < 128 && value >> (bits - 1) & 1 == 1;
    let signed = if sign { unsigned - (1i128 << bits) } else { unsigned };
    (low..=high).contains(&unsigned) || (low..=high).contains(&signed)
}

impl<P> Visitor<P> for Observer<'_> {
    fn enter(&mut self, function: FunctionId, call: Option<Call>) {
        self.track(|tracker| tracker.enter(function, call));
        let (block, returning, abandoned, evaluations) = (None, false, false, Vec::new());
        self.activations.push(Activation { function, block, returning, abandoned, evaluations });
        self.observations.entered[function.index()] = true;
    }

    fn wait(&mut self, call: Call) {
        self.track(|tracker| tracker.wait(call));
    }

    fn abandon(&mut self, function: FunctionId, block: BlockId, at: u32) {
        self.track(|tracker| tracker.abandon(function, block, at));
        let begun = &mut self.begun[self.marking.block(function, block)];
        *begun = (*begun).max(at + 1);
        let activation = self.activations.last_mut().expect("what is abandoned was entered");
        (activation.block, activation.abandoned) = (None, true);
    }

    fn resume(&mut self, function: FunctionId, block: BlockId, at: u32) {
        self.track(|tracker| tracker.resume(function, block, at));
        let activation = self.activations.last_mut().expect("what is resumed was entered");
        (activation.block, activation.abandoned) = (Some(self.marking.block(function, block)), false);
    }

    fn address(&mut self, at: u32, address: u64, size: u64) {
        self.track(|tracker| tracker.address(at, address, size));
    }

    fn leave(&mut self) {
        self.track(|tracker| tracker.leave());
        let activation = self.activations.pop().expect("what is left was entered");
        if !activation.abandoned {
            if let Some(block) = activation.block {
                self.begun[block] = ALL;
            }
            self.observations.ended[activation.function.index()] |= !activation.returning;
        }
    }

    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.track(|tracker| tracker.block(function, block));
        let activation = self.activations.last_mut().expect("blocks are entered in a function");
        let number = self.marking.block(function, block);
        if let Some(left) = activation.block.replace(number) {
            self.begun[left] = ALL;
        }
        activation.returning |= self.marking.returns(number);
    }

    fn outcome(&mut self, site: Site, taken: bool, _: P) {
        self.track(|tracker| tracker.outcome(site, taken, ()));
        match site {
            Site::Condition(condition) => self.condition(condition, taken),
            Site::Branch(function, block) => {
                if let Terminator::Branch { range: Some(test), otherwise, .. } =
                    self.marking.program().function(function).block(block).terminator
                {
                    self.range_test(function, test, taken, otherwise);
                }
            }
            Site::Switch(..) => {}
        }
    }

    fn switch(&mut self, function: FunctionId, block: BlockId, case: usize, _: P) {
        self.track(|tracker| tracker.switch(function, block, case, ()));
        if let Terminator::Switch { cases, bits, source: Some(source), default, .. } =
            &self.marking.program().function(function).block(block).terminator
        {
            let value = cases.get(case).map(|case| case.value);
            // with a large case range the default edge leads to a test of it, which tells where control goes
            if value.is_some() || !leads_to_range_test(self.marking.program(), function, *default, *source) {
                self.label(*source, value, *bits);
            }
        }
    }
}

impl Observer<'_> {
    fn track(&mut self, tell: impl FnOnce(&mut dyn Visitor<()>)) {
        if let Some(tracker) = &mut self.tracker {
            tell(tracker);
        }
    }

    /// The test of a large case range; when the last one of a switch fails, control goes to the default.
    fn range_test(&mut self, function: FunctionId, test: RangeTest, taken: bool, otherwise: BlockId) {
        let RangeTest { switch, label } = test;
        if taken {
            self.observations.labels.insert((switch, Case::Label(label)));
        } else if !leads_to_range_test(self.marking.program(), function, otherwise, switch) {
            self.label(switch, None, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Condition, Decision, DecisionKind, Function, Shape, SpanId};

    use super::*;

    /// One function with the decision `c0 && c1` and a second decision `c2`.
    fn program() -> Program {
        let leaf = |condition| Box::new(Shape::Leaf(ConditionId(condition)));
        let decision = |shape| Decision {
            function: FunctionId(0),
            span: SpanId(0),
            kind: DecisionKind::If,
            shape,
            text: String::new(),
        };
        let condition =
            |decision| Condition { decision: DecisionId(decision), span: SpanId(0), text: String::new() };
        let function = Function::procedure("f", Vec::new(), Vec::new());
        Program {
            functions: vec![function],
            decisions: vec![decision(Shape::And(leaf(0), leaf(1))), decision(*leaf(2))],
            conditions: vec![condition(0), condition(0), condition(1)],
            ..Program::default()
        }
    }

    enum Happening {
        Enter,
        Leave,
        Outcome(u32, bool),
    }

    fn observe(happenings: &[Happening]) -> Observations {
        let program = program();
        let marking = Marking::new(&program);
        let mut observer = Observer::new(&marking);
        let visitor: &mut dyn Visitor<()> = &mut observer;
        for happening in happenings {
            match *happening {
                Happening::Enter => visitor.enter(FunctionId(0), None),
                Happening::Leave => visitor.leave(),
                Happening::Outcome(condition, taken) => {
                    visitor.outcome(Site::Condition(ConditionId(condition)), taken, ());
                }
            }
        }
        observer.finish()
    }

    #[test]
    fn recursion_inside_a_condition_does_not_mix_evaluations() {
        use Happening::{Enter, Leave, Outcome};
        // the outer evaluation has c0 true, then c1's operand calls the function again, where c0 is false
        let seen =
            observe(&[Enter, Outcome(0, true), Enter, Outcome(0, false), Leave, Outcome(1, true), Leave]);
        assert!(seen.satisfy(Demand::Decision(DecisionId(0), true)));
        assert!(seen.satisfy(Demand::Decision(DecisionId(0), false)));
        let vectors: Vec<String> =
            seen.vectors(DecisionId(0)).map(|(vector, _)| vector.to_string()).collect();
        assert_eq!(vectors, ["F-", "TT"]);
    }

    #[test]
    fn a_decision_left_half_way_has_no_outcome() {
        use Happening::{Enter, Outcome};
        let seen = observe(&[Enter, Outcome(0, true), Outcome(0, true)]);
        assert!(seen.satisfy(Demand::Condition(ConditionId(0), true)));
        assert!(!seen.satisfy(Demand::Decision(DecisionId(0), true)));
    }

    #[test]
    fn case_values_match_labels_as_signed_or_unsigned() {
        assert!(in_range(0xffff_ffff, 32, -1, -1));
        assert!(in_range(0xffff_ffff, 32, 0xffff_ffff, 0xffff_ffff));
        assert!(!in_range(5, 32, 6, 9));
    }
}
