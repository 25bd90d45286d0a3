//! What may a goal demand of a run? A closed language, and questions about what is said in it.

use analysis::dataflow::{DataFlow, DefinitionId, Pair, PairId, UseId};
use model::{
    Block, BlockId, ConditionId, DecisionId, FunctionId, Op, Operand, Program, StatementId, SwitchId,
    Terminator,
};

/// What a goal may demand of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Demand {
    /// The function is entered.
    Entered(FunctionId),
    /// Control reaches the function's end without a `return` statement.
    Ended(FunctionId),
    /// The statement is executed.
    Executed(StatementId),
    /// The decision has this outcome.
    Decision(DecisionId, bool),
    /// The condition has this outcome.
    Condition(ConditionId, bool),
    /// The condition, with this outcome, is shown to affect its decision's outcome independently: the conditions whose
    /// change would be seen are those that nothing masks.
    Independent(ConditionId, bool),
    /// The condition, with this outcome, is one of two evaluations that differ in it and in the decision's outcome, and
    /// in no other condition that both evaluate.
    Paired(ConditionId, bool),
    /// The decision is evaluated with the vector of this number.
    Vector(DecisionId, u32),
    /// The switch goes to this label.
    Label(SwitchId, Case),
    /// The definition reaches some use.
    Defined(DefinitionId),
    /// The use is reached by some definition.
    Used(UseId),
    /// The definition reaches the use with no other definition in between.
    Pair(PairId),
}

/// A way through a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Case {
    /// The label with this index in the source's order.
    Label(u32),
    /// No label matches and there is no `default`.
    ImplicitDefault,
}

/// A demand on whole evaluations of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationDemand {
    /// The decision has this outcome.
    Outcome(bool),
    /// As [`Demand::Independent`].
    Independent(ConditionId, bool),
    /// As [`Demand::Paired`].
    Paired(ConditionId, bool),
    /// The evaluation is the vector of this number.
    Vector(u32),
}

/// A block that decides whether a demand is met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemandPlace {
    pub function: FunctionId,
    pub block: BlockId,
    /// The value that decides there; without one, reaching the block decides.
    pub value: Option<Operand>,
}

impl Demand {
    /// Whether it is about a definition that reaches a use.
    pub fn is_flow(self) -> bool {
        match self {
            Self::Defined(_) | Self::Used(_) | Self::Pair(_) => true,
            Self::Entered(_)
            | Self::Ended(_)
            | Self::Executed(_)
            | Self::Decision(..)
            | Self::Condition(..)
            | Self::Independent(..)
            | Self::Paired(..)
            | Self::Vector(..)
            | Self::Label(..) => false,
        }
    }

    /// The pair that is asked for by itself.
    pub fn pair(self) -> Option<PairId> {
        if let Self::Pair(pair) = self { Some(pair) } else { None }
    }

    /// The pairs of data flow each of which meets it.
    pub fn pairs(self, flow: &DataFlow) -> Vec<Pair> {
        let all = || flow.pairs().map(|(_, pair)| pair);
        match self {
            Self::Pair(pair) => vec![flow.pair(pair)],
            Self::Defined(definition) => all().filter(|pair| pair.definition == definition).collect(),
            Self::Used(use_) => all().filter(|pair| pair.use_ == use_).collect(),
            Self::Entered(_)
            | Self::Ended(_)
            | Self::Executed(_)
            | Self::Decision(..)
            | Self::Condition(..)
            | Self::Independent(..)
            | Self::Paired(..)
            | Self::Vector(..)
            | Self::Label(..) => Vec::new(),
        }
    }

    /// The condition and its value when two evaluations show it together, as unique-cause MC/DC asks.
    pub fn half_of_pair(self) -> Option<(ConditionId, bool)> {
        if let Self::Paired(condition, value) = self { Some((condition, value)) } else { None }
    }

    /// The condition and its value whose effect must be shown: an obligation of MC/DC.
    pub fn obligation(self) -> Option<(ConditionId, bool)> {
        match self.of_evaluation() {
            Some(
                EvaluationDemand::Independent(condition, value) | EvaluationDemand::Paired(condition, value),
            ) => Some((condition, value)),
            Some(EvaluationDemand::Outcome(_) | EvaluationDemand::Vector(_)) | None => None,
        }
    }

    /// What it asks of whole evaluations, if it is about them.
    pub fn of_evaluation(self) -> Option<EvaluationDemand> {
        match self {
            Self::Decision(_, outcome) => Some(EvaluationDemand::Outcome(outcome)),
            Self::Independent(condition, value) => Some(EvaluationDemand::Independent(condition, value)),
            Self::Paired(condition, value) => Some(EvaluationDemand::Paired(condition, value)),
            Self::Vector(_, number) => Some(EvaluationDemand::Vector(number)),
            Self::Entered(_)
            | Self::Ended(_)
            | Self::Executed(_)
            | Self::Condition(..)
            | Self::Label(..)
            | Self::Defined(_)
            | Self::Used(_)
            | Self::Pair(_) => None,
        }
    }

    /// The decision that it is about, by itself or by one of its conditions.
    pub fn decision(self, program: &Program) -> Option<DecisionId> {
        match self {
            Self::Decision(decision, _) | Self::Vector(decision, _) => Some(decision),
            Self::Condition(condition, _) | Self::Independent(condition, _) | Self::Paired(condition, _) => {
                Some(program.condition(condition).decision)
            }
            Self::Entered(_)
            | Self::Ended(_)
            | Self::Executed(_)
            | Self::Label(..)
            | Self::Defined(_)
            | Self::Used(_)
            | Self::Pair(_) => None,
        }
    }
}

/// The blocks that decide demands, found in one pass over a program.
pub struct DemandPlaces<'p> {
    program: &'p Program,
    /// By condition: where it is evaluated, with its value.
    conditions: Vec<Vec<DemandPlace>>,
    /// By switch: where it is decided which way it goes.
    switches: Vec<Vec<DemandPlace>>,
}

impl<'p> DemandPlaces<'p> {
    pub fn of(program: &'p Program) -> Self {
        let mut conditions = vec![Vec::new(); program.conditions.len()];
        let mut switches = vec![Vec::new(); program.switches.len()];
        for (function, id, block) in blocks(program) {
            for instr in &block.instrs {
                if let Op::Mark { condition, value } = program.function(function).instr(*instr).op {
                    conditions[condition.index()].push(DemandPlace {
                        function,
                        block: id,
                        value: Some(value),
                    });
                }
            }
            if let Some((switch, value)) = switch_of(block) {
                switches[switch.index()].push(DemandPlace { function, block: id, value: Some(value) });
            }
        }
        Self { program, conditions, switches }
    }

    /// The blocks that decide a demand; none for one of data flow, which no single block decides.
    pub fn deciding(&self, demand: Demand) -> Vec<DemandPlace> {
        let place = |function, block| DemandPlace { function, block, value: None };
        match demand {
            Demand::Entered(function) => {
                let entry = self.program.function(function).blocks().next();
                entry.map(|(block, _)| place(function, block)).into_iter().collect()
            }
            Demand::Ended(function) => {
                let returns =
                    |(_, block): &(BlockId, &Block)| matches!(block.terminator, Terminator::Return(_));
                let blocks = self.program.function(function).blocks().filter(returns);
                blocks.map(|(block, _)| place(function, block)).collect()
            }
            Demand::Executed(statement) => {
                let statement = self.program.statement(statement);
                statement.code.map(|(block, _)| place(statement.function, block)).into_iter().collect()
            }
            Demand::Decision(decision, _) | Demand::Vector(decision, _) => {
                let conditions = self.program.decision(decision).shape.conditions();
                let places = conditions.iter().flat_map(|condition| &self.conditions[condition.index()]);
                let mut places: Vec<DemandPlace> = places.copied().collect();
                places.sort_by_key(|place| (place.function, place.block));
                places
            }
            Demand::Condition(condition, _)
            | Demand::Independent(condition, _)
            | Demand::Paired(condition, _) => self.conditions[condition.index()].clone(),
            Demand::Label(switch, _) => self.switches[switch.index()].clone(),
            Demand::Defined(_) | Demand::Used(_) | Demand::Pair(_) => Vec::new(),
        }
    }
}

fn blocks(program: &Program) -> impl Iterator<Item = (FunctionId, BlockId, &Block)> {
    let functions = program.functions.iter().zip((0..).map(FunctionId));
    functions.flat_map(|(function, id)| function.blocks().map(move |(block_id, block)| (id, block_id, block)))
}

/// The switch that a block decides, and by which value.
fn switch_of(block: &Block) -> Option<(SwitchId, Operand)> {
    match &block.terminator {
        Terminator::Switch { value, source: Some(source), .. } => Some((*source, *value)),
        Terminator::Branch { condition, range: Some(range), .. } => Some((range.switch, *condition)),
        Terminator::Switch { .. }
        | Terminator::Branch { .. }
        | Terminator::Jump(_)
        | Terminator::IndirectJump { .. }
        | Terminator::Return(_)
        | Terminator::Unreachable => None,
    }
}
