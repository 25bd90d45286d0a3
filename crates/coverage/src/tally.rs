//! How often did a run do what goals ask about? Counts for a reader; whether a goal is covered is told by
//! [`crate::observe`], which shares no counting with this.
//!
//! Method: blocks are counted when they are entered. A block that was left half-way is remembered with the last
//! instruction begun in it, one that `longjmp` came back to with the instruction it came back behind; a statement's count
//! is made of these at the end. Limit: as for observations, a decision that control leaves half-way counts its
//! conditions, but no evaluation.

use std::collections::BTreeMap;

use model::walk::{Call, Site, Visitor};
use model::{
    BlockId, ConditionId, DecisionId, FunctionId, Program, RangeTest, StatementId, SwitchId, Terminator,
};

use crate::Case;
use crate::marking::Marking;
use crate::observe::{case_of, leads_to_range_test};
use crate::vector::{Progress, Vector, progress};

/// How often a run did what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    entered: Vec<u64>,
    statements: Vec<u64>,
    /// By condition: how often it was false, and true.
    conditions: Vec<[u64; 2]>,
    vectors: BTreeMap<DecisionId, BTreeMap<Vector, Evaluated>>,
    labels: BTreeMap<(SwitchId, Case), u64>,
}

/// An evaluation of a decision: its outcome, and how often it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluated {
    pub outcome: bool,
    pub n: u64,
}

impl Tally {
    /// How often the function was entered.
    pub fn entered(&self, function: FunctionId) -> u64 {
        self.entered[function.index()]
    }

    /// How often the statement was executed.
    pub fn executed(&self, statement: StatementId) -> u64 {
        self.statements[statement.index()]
    }

    /// How often the condition had this outcome.
    pub fn condition(&self, condition: ConditionId, outcome: bool) -> u64 {
        self.conditions[condition.index()][usize::from(outcome)]
    }

    /// How often the decision had this outcome.
    pub fn decision(&self, decision: DecisionId, outcome: bool) -> u64 {
        self.vectors(decision).filter(|(_, seen)| seen.outcome == outcome).map(|(_, seen)| seen.n).sum()
    }

    /// The different evaluations of the decision.
    pub fn vectors(&self, decision: DecisionId) -> impl Iterator<Item = (&Vector, Evaluated)> {
        self.vectors.get(&decision).into_iter().flatten().map(|(vector, seen)| (vector, *seen))
    }

    /// How often the switch went this way.
    pub fn label(&self, switch: SwitchId, case: Case) -> u64 {
        self.labels.get(&(switch, case)).copied().unwrap_or(0)
    }
}

/// Counts along a walk.
pub struct Teller<'a> {
    marking: &'a Marking<'a>,
    tally: Tally,
    activations: Vec<Vec<Evaluation>>,
    /// By block, counted over all functions: how often it was entered.
    entered: Vec<u64>,
    /// Blocks left half-way: the last instruction begun.
    left: BTreeMap<usize, Vec<u32>>,
    /// Blocks that were come back to: the instruction before.
    resumed: BTreeMap<usize, Vec<u32>>,
}

/// A decision that has begun.
struct Evaluation {
    decision: DecisionId,
    outcomes: Vec<Option<bool>>,
}

impl<'a> Teller<'a> {
    /// A teller that has counted nothing.
    pub fn new(marking: &'a Marking<'a>) -> Self {
        let program = marking.program();
        let tally = Tally {
            entered: vec![0; program.functions.len()],
            conditions: vec![[0; 2]; program.conditions.len()],
            ..Tally::default()
        };
        Self {
            marking,
            tally,
            activations: Vec::new(),
            entered: vec![0; marking.n_blocks()],
            left: BTreeMap::new(),
            resumed: BTreeMap::new(),
        }
    }

    /// What was counted.
    pub fn finish(self) -> Tally {
        let mut tally = self.tally;
        let times = |places: Option<&Vec<u32>>, counts: &dyn Fn(u32) -> bool| {
            places.map_or(0, |places| places.iter().filter(|at| counts(**at)).count() as u64)
        };
        let executed = |statement: &model::Statement| {
            statement.code.map_or(0, |(block, at)| {
                let block = self.marking.block(statement.function, block);
                let not_begun = times(self.left.get(&block), &|last| last < at);
                let again = times(self.resumed.get(&block), &|before| before < at);
                (self.entered[block] + again).saturating_sub(not_begun)
            })
        };
        tally.statements = self.marking.program().statements.iter().map(executed).collect();
        tally
    }

    fn program(&self) -> &'a Program {
        self.marking.program()
    }

    fn condition(&mut self, condition: ConditionId, taken: bool) {
        self.tally.conditions[condition.index()][usize::from(taken)] += 1;
        let decision = self.program().condition(condition).decision;
        let shape = &self.program().decision(decision).shape;
        let place = self.marking.place(condition);
        let evaluations = self.activations.last_mut().expect("conditions are evaluated in a function");
        let at = evaluations.iter().position(|known| known.decision == decision).unwrap_or_else(|| {
            let outcomes = vec![None; shape.conditions().len()];
            evaluations.push(Evaluation { decision, outcomes });
            evaluations.len() - 1
        });
        let outcomes = &mut evaluations[at].outcomes;
        if outcomes[place].is_some() {
            // the evaluation begun before was abandoned
            outcomes.fill(None);
        }
        outcomes[place] = Some(taken);
        if let Progress::Done(outcome) = progress(shape, outcomes) {
            let vector = Vector::from(evaluations.swap_remove(at).outcomes.as_slice());
            let vectors = self.tally.vectors.entry(decision).or_default();
            vectors.entry(vector).or_insert(Evaluated { outcome, n: 0 }).n += 1;
        }
    }

    fn label(&mut self, switch: SwitchId, case: Option<Case>) {
        if let Some(case) = case {
            *self.tally.labels.entry((switch, case)).or_default() += 1;
        }
    }

    /// The test of a large case range; when the last one of a switch fails, control goes to the default.
    fn range_test(&mut self, function: FunctionId, test: RangeTest, taken: bool, otherwise: BlockId) {
        let RangeTest { switch, label } = test;
        if taken {
            self.label(switch, Some(Case::Label(label)));
        } else if !leads_to_range_test(self.program(), function, otherwise, switch) {
            self.label(switch, case_of(self.program(), switch, None, 0));
        }
    }
}

impl<P> Visitor<P> for Teller<'_> {
    fn enter(&mut self, function: FunctionId, _: Option<Call>) {
        self.activations.push(Vec::new());
        self.tally.entered[function.index()] += 1;
    }

    fn leave(&mut self) {
        self.activations.pop();
    }

    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.entered[self.marking.block(function, block)] += 1;
    }

    fn abandon(&mut self, function: FunctionId, block: BlockId, at: u32) {
        self.left.entry(self.marking.block(function, block)).or_default().push(at);
    }

    fn resume(&mut self, function: FunctionId, block: BlockId, at: u32) {
        self.resumed.entry(self.marking.block(function, block)).or_default().push(at);
    }

    fn outcome(&mut self, site: Site, taken: bool, _: P) {
        match site {
            Site::Condition(condition) => self.condition(condition, taken),
            Site::Branch(function, block) => {
                if let Terminator::Branch { range: Some(test), otherwise, .. } =
                    self.program().function(function).block(block).terminator
                {
                    self.range_test(function, test, taken, otherwise);
                }
            }
            Site::Switch(..) => {}
        }
    }

    fn switch(&mut self, function: FunctionId, block: BlockId, case: usize, _: P) {
        let program = self.program();
        if let Terminator::Switch { cases, bits, source: Some(source), default, .. } =
            &program.function(function).block(block).terminator
        {
            let value = cases.get(case).map(|case| case.value);
            // with a large case range the default edge leads to a test of it, which tells where control goes
            if value.is_some() || !leads_to_range_test(program, function, *default, *source) {
                self.label(*source, case_of(program, *source, value, *bits));
            }
        }
    }
}
