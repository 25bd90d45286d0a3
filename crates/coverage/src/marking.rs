//! What an observer looks up while a run is walked; made once per program, from its text alone.

use std::sync::Arc;

use analysis::dataflow::DataFlow;
use model::{BlockId, ConditionId, DecisionId, FunctionId, Program, StatementKind};

use crate::vector::Flow;

/// Tables of one program.
#[derive(Clone, Debug)]
pub struct Marking<'p> {
    program: &'p Program,
    /// By decision.
    flows: Vec<Flow>,
    /// By condition: its place in its decision.
    places: Vec<usize>,
    /// By function: the number of its first block when the blocks of all functions are counted in order.
    first_block: Vec<usize>,
    /// By that number: whether a `return` statement begins there.
    returns: Vec<bool>,
    flow: Option<Arc<DataFlow>>,
}

impl<'p> Marking<'p> {
    /// The tables of `program`.
    pub fn new(program: &'p Program) -> Self {
        let mut places = vec![0; program.conditions.len()];
        for decision in &program.decisions {
            for (place, condition) in decision.shape.conditions().into_iter().enumerate() {
                places[condition.index()] = place;
            }
        }
        let mut first_block = Vec::with_capacity(program.functions.len());
        let mut n_blocks = 0;
        for function in &program.functions {
            first_block.push(n_blocks);
            n_blocks += function.blocks.len();
        }
        let mut returns = vec![false; n_blocks];
        for statement in &program.statements {
            if let (StatementKind::Return, Some((block, _))) = (statement.kind, statement.code) {
                returns[first_block[statement.function.index()] + block.index()] = true;
            }
        }
        let flows = program.decisions.iter().map(|decision| Flow::of(&decision.shape)).collect();
        Self { program, flows, places, first_block, returns, flow: None }
    }

    /// The same, for runs whose data flow counts.
    #[must_use]
    pub fn with_data_flow(self, flow: Option<Arc<DataFlow>>) -> Self {
        Self { flow, ..self }
    }

    /// The data flow that counts, if any does.
    pub fn data_flow(&self) -> Option<&DataFlow> {
        self.flow.as_deref()
    }

    /// The program they are of.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    pub(crate) fn flow(&self, decision: DecisionId) -> &Flow {
        &self.flows[decision.index()]
    }

    /// The condition's place in its decision.
    pub(crate) fn place(&self, condition: ConditionId) -> usize {
        self.places[condition.index()]
    }

    /// The block's number among those of all functions.
    pub fn block(&self, function: FunctionId, block: BlockId) -> usize {
        self.first_block[function.index()] + block.index()
    }

    pub(crate) fn n_blocks(&self) -> usize {
        self.returns.len()
    }

    /// Whether a `return` statement begins in the block with this number.
    pub(crate) fn returns(&self, block: usize) -> bool {
        self.returns[block]
    }
}
