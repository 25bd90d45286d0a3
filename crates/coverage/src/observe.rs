//! What did a run evaluate? Facts about the original source, gathered while the run's path is walked.
//!
//! Method: a buffer per activation collects condition outcomes until their decision is done, so recursion and decisions
//! inside another one's condition do not mix. Limit: a decision that control leaves half-way (by `longjmp` or `goto` out
//! of a statement expression) yields its conditions but no outcome.

use std::collections::{BTreeMap, BTreeSet};

use model::walk::{Call, Site, Visitor};
use model::{
    BlockId, ConditionId, DecisionId, FunctionId, LabelValues, Program, RangeTest, Shape, SwitchId,
    Terminator,
};

use crate::vector::{Progress, Vector, progress};
use crate::{Case, Demand};

/// Everything a run showed that a goal may demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    entered: Vec<bool>,
    conditions: Vec<Seen>,
    decisions: Vec<Seen>,
    labels: BTreeSet<(SwitchId, Case)>,
    vectors: BTreeSet<(DecisionId, Vector, bool)>,
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
    fn none(program: &Program) -> Self {
        Self {
            entered: vec![false; program.functions.len()],
            conditions: vec![Seen::default(); program.conditions.len()],
            decisions: vec![Seen::default(); program.decisions.len()],
            labels: BTreeSet::new(),
            vectors: BTreeSet::new(),
        }
    }

    /// Whether the run did what is demanded.
    pub fn satisfy(&self, demand: Demand) -> bool {
        match demand {
            Demand::Entered(function) => self.entered[function.index()],
            Demand::Decision(decision, outcome) => self.decisions[decision.index()].has(outcome),
            Demand::Condition(condition, outcome) => self.conditions[condition.index()].has(outcome),
            Demand::Label(switch, case) => self.labels.contains(&(switch, case)),
        }
    }

    /// The evaluations of decisions, each once.
    pub fn vectors(&self) -> impl Iterator<Item = &(DecisionId, Vector, bool)> {
        self.vectors.iter()
    }
}

/// Gathers observations along a walk.
pub struct Observer<'p> {
    program: &'p Program,
    activations: Vec<Vec<(DecisionId, Vector)>>,
    observations: Observations,
}

impl<'p> Observer<'p> {
    /// An observer that has seen nothing.
    pub fn new(program: &'p Program) -> Self {
        Self { program, activations: Vec::new(), observations: Observations::none(program) }
    }

    /// What was seen.
    pub fn finish(self) -> Observations {
        self.observations
    }

    fn condition(&mut self, condition: ConditionId, taken: bool) {
        let first = self.observations.conditions[condition.index()].note(taken);
        let id = self.program.condition(condition).decision;
        let shape = &self.program.decision(id).shape;
        if matches!(shape, Shape::Leaf(_)) {
            // most decisions are a single condition: nothing to collect, and nothing new after the first time
            if first {
                let vector = Vector { outcomes: BTreeMap::from([(condition, taken)]) };
                self.decided(id, vector, taken);
            }
            return;
        }
        let activation = self.activations.last_mut().expect("conditions are evaluated in a function");
        let at = match activation.iter().position(|(decision, _)| *decision == id) {
            Some(at) => at,
            None => {
                activation.push((id, Vector::default()));
                activation.len() - 1
            }
        };
        let vector = &mut activation[at].1;
        if vector.outcomes.contains_key(&condition) {
            // the evaluation begun before was abandoned
            vector.outcomes.clear();
        }
        vector.outcomes.insert(condition, taken);
        if let Progress::Done(outcome) = progress(shape, vector) {
            let (decision, vector) = activation.swap_remove(at);
            self.decided(decision, vector, outcome);
        }
    }

    fn decided(&mut self, decision: DecisionId, vector: Vector, outcome: bool) {
        self.observations.decisions[decision.index()].note(outcome);
        self.observations.vectors.insert((decision, vector, outcome));
    }

    fn label(&mut self, switch: SwitchId, value: Option<u128>, bits: u32) {
        let labels = &self.program.switch(switch).labels;
        let matching = |values: LabelValues| match (values, value) {
            (LabelValues::Range { low, high }, Some(value)) => in_range(value, bits, low, high),
            (LabelValues::Default, None) => true,
            (LabelValues::Range { .. }, None) | (LabelValues::Default, Some(_)) => false,
        };
        let case = match labels.iter().position(|label| matching(label.values)) {
            Some(index) => Case::Label(u32::try_from(index).expect("fewer than 2^32 labels")),
            None if value.is_none() => Case::ImplicitDefault,
            None => return,
        };
        self.observations.labels.insert((switch, case));
    }
}

/// Whether the bits lie in the range, read as either signed or unsigned as the range itself is.
fn in_range(value: u128, bits: u32, low: i128, high: i128) -> bool {
    let unsigned = i128::try_from(value).unwrap_or(i128::MAX);
    let sign = bits > 0 && bits < 128 && value >> (bits - 1) & 1 == 1;
    let signed = if sign { unsigned - (1i128 << bits) } else { unsigned };
    (low..=high).contains(&unsigned) || (low..=high).contains(&signed)
}

impl<P> Visitor<P> for Observer<'_> {
    fn enter(&mut self, function: FunctionId, _: Option<Call>) {
        self.activations.push(Vec::new());
        self.observations.entered[function.index()] = true;
    }

    fn leave(&mut self) {
        self.activations.pop();
    }

    fn outcome(&mut self, site: Site, taken: bool, _: P) {
        match site {
            Site::Condition(condition) => self.condition(condition, taken),
            Site::Branch(function, block) => {
                if let Terminator::Branch { range: Some(test), otherwise, .. } =
                    self.program.function(function).block(block).terminator
                {
                    self.range_test(function, test, taken, otherwise);
                }
            }
            Site::Switch(..) => {}
        }
    }

    fn switch(&mut self, function: FunctionId, block: BlockId, case: usize, _: P) {
        if let Terminator::Switch { cases, bits, source: Some(source), default, .. } =
            &self.program.function(function).block(block).terminator
        {
            let value = cases.get(case).map(|case| case.value);
            // with a large case range the default edge leads to a test of it, which tells where control goes
            if value.is_some() || !self.tests_range(function, *default, *source) {
                self.label(*source, value, *bits);
            }
        }
    }
}

impl Observer<'_> {
    /// The test of a large case range; when the last one of a switch fails, control goes to the default.
    fn range_test(&mut self, function: FunctionId, test: RangeTest, taken: bool, otherwise: BlockId) {
        let RangeTest { switch, label } = test;
        if taken {
            self.observations.labels.insert((switch, Case::Label(label)));
        } else if !self.tests_range(function, otherwise, switch) {
            self.label(switch, None, 0);
        }
    }

    fn tests_range(&self, function: FunctionId, block: BlockId, switch: SwitchId) -> bool {
        let terminator = &self.program.function(function).block(block).terminator;
        matches!(terminator, Terminator::Branch { range: Some(test), .. } if test.switch == switch)
    }
}

#[cfg(test)]
mod tests {
    use model::{Condition, Decision, DecisionKind, Function, Linkage, SpanId, Type};

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
        let function = Function {
            name: "f".to_owned(),
            linkage: Linkage::Exported,
            parameters: Vec::new(),
            variadic: false,
            result: Type::Void,
            span: None,
            no_return: false,
            returns_twice: false,
            generated: false,
            instrs: Vec::new(),
            blocks: Vec::new(),
        };
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
        let mut observer = Observer::new(&program);
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
        assert_eq!(seen.vectors().count(), 2);
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
