//! What does a step demand of the input? Answered as a term for the solver.
//!
//! Method: expression nodes become terms when a wanted constraint reaches them, each once per execution, with an
//! explicit stack. Cells become variables named by their key, so that terms of different executions are shared.
//! Limit: the program under test may have overwritten its nodes; whatever does not fit is an error, not a panic.

mod float;
mod kept;
mod memo;

use std::collections::BTreeMap;

use model::Program;
use model::input::{Input, Key};
use model::walk::Site;
use smt::{Assignment, Term, TermStore, Var};
use wire::{Node, NodeError, NodeId, NodeOp, Operand};

use crate::executor::{Cells, Execution, Nodes};
use crate::trace::{Choice, Note, PathStep, switch_cases};
pub use kept::KeptExpressions;
pub(crate) use memo::Meets;
pub use memo::Memo;

/// Expression nodes that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    #[error("there is no expression {0}")]
    NoNode(NodeId),
    #[error("expression {node} cannot be decoded: {error}")]
    Undecodable { node: NodeId, error: NodeError },
    #[error("expression {0} takes an operand that is not older than itself")]
    Disordered(NodeId),
    #[error("expression {0} has operands of the wrong width")]
    Width(NodeId),
    #[error("expression {0} names a cell that the run did not ask for")]
    NoCell(NodeId),
}

/// The expressions of one execution.
#[derive(Clone, Copy, Debug)]
pub struct Expressions<'m> {
    pub nodes: Nodes<'m>,
    pub cells: Cells<'m>,
}

impl<'m> Expressions<'m> {
    /// Those that `execution` left.
    pub fn of(execution: &Execution<'m>) -> Self {
        Self { nodes: execution.nodes, cells: execution.cells }
    }

    /// The decoded node; operands are checked to be older.
    pub fn node(&self, id: NodeId) -> Result<Node, TermError> {
        let node = self.nodes.get(id).ok_or(TermError::NoNode(id))?;
        let node = node.map_err(|error| TermError::Undecodable { node: id, error })?;
        let ordered = operands(&node).all(|operand| operand.0 > 0 && operand < id);
        if ordered { Ok(node) } else { Err(TermError::Disordered(id)) }
    }
}

/// The operands that are nodes; for a table the index, then the rows.
pub(crate) fn operands(node: &Node) -> impl Iterator<Item = NodeId> + use<> {
    let rows =
        if let Node::Table { first, n, .. } = *node { first.0..first.0.saturating_add(n) } else { 0..0 };
    few_operands(node).into_iter().flatten().chain(rows.map(NodeId))
}

/// The operands but for the rows of a table.
pub(crate) fn few_operands(node: &Node) -> [Option<NodeId>; 3] {
    let in_node = |operand: Operand| match operand {
        Operand::Node(id) => Some(id),
        Operand::Constant(_) => None,
    };
    match *node {
        Node::Constant { .. } | Node::Input { .. } => [None; 3],
        Node::Binary { a, b, .. } | Node::FloatBinary { a, b, .. } => [in_node(a), in_node(b), None],
        Node::Not { a, .. }
        | Node::Zext { a, .. }
        | Node::Sext { a, .. }
        | Node::Extract { a, .. }
        | Node::Same { a, .. } => [Some(a), None, None],
        Node::Table { index, .. } => [Some(index), None, None],
        Node::Concat { high, low, .. } => [Some(high), Some(low), None],
        Node::Ite { condition, then, otherwise, .. } => [Some(condition), Some(then), Some(otherwise)],
        Node::FloatUnary { a, .. } => [Some(a), None, None],
        Node::FloatFused { a, b, c, .. } => [Some(a), Some(b), Some(c)],
        Node::Opaque { a, b, value, .. } => [Some(a), b, Some(value)],
    }
}

/// A store of terms whose variables are input cells.
#[derive(Default)]
pub struct Vocabulary {
    store: TermStore,
    keys: BTreeMap<Var, Key>,
}

impl Vocabulary {
    /// The terms made so far.
    pub fn store(&self) -> &TermStore {
        &self.store
    }

    /// What it takes for `step` to have this outcome.
    pub fn constraint(
        &mut self,
        program: &Program,
        expressions: &Expressions<'_>,
        memo: &mut Memo,
        step: &PathStep,
        choice: Choice,
    ) -> Result<Term, TermError> {
        let term = self.term(expressions, memo, step.node)?;
        let cases = match step.site {
            Site::Switch(function, block) => switch_cases(program, function, block),
            Site::Condition(_) | Site::Branch(..) => &[],
        };
        Ok(match choice {
            Choice::Outcome(wanted) => self.truth(term, wanted),
            Choice::Case(case) => {
                let value = cases.get(case as usize).map(|case| case.value);
                self.equals(term, value.ok_or(TermError::NoNode(step.node))?)
            }
            Choice::Default => self.differs_from(term, cases.iter().map(|case| case.value)),
        })
    }

    /// What a note demands.
    pub fn note(
        &mut self,
        expressions: &Expressions<'_>,
        memo: &mut Memo,
        note: &Note,
    ) -> Result<Term, TermError> {
        match *note {
            Note::Pin { node, value, .. }
            | Note::Pointer { node, value, .. }
            | Note::Size { node, value, .. } => {
                let term = self.term(expressions, memo, node)?;
                Ok(self.equals(term, u128::from(value)))
            }
            Note::Assume { node } | Note::Prefer { node } | Note::Bounds { node, .. } => {
                let term = self.term(expressions, memo, node)?;
                Ok(self.truth(term, true))
            }
        }
    }

    /// What it takes for a node to have none of these values.
    pub fn none_of(
        &mut self,
        expressions: &Expressions<'_>,
        memo: &mut Memo,
        node: NodeId,
        values: &[u64],
    ) -> Result<Term, TermError> {
        let term = self.term(expressions, memo, node)?;
        Ok(self.differs_from(term, values.iter().map(|value| u128::from(*value))))
    }

    /// What it takes for a truth value to be false.
    pub fn not(
        &mut self,
        expressions: &Expressions<'_>,
        memo: &mut Memo,
        node: NodeId,
    ) -> Result<Term, TermError> {
        let term = self.term(expressions, memo, node)?;
        Ok(self.truth(term, false))
    }

    /// What it takes for a size to be worth a try after it was `value`, for the try with this number: very large (or
    /// negative), zero, one more, much more, one less.
    pub fn notable_size(
        &mut self,
        expressions: &Expressions<'_>,
        memo: &mut Memo,
        (node, value): (NodeId, u64),
        n_tried: usize,
    ) -> Result<Option<Term>, TermError> {
        let term = self.term(expressions, memo, node)?;
        let width = self.store.width(term);
        let value = u128::from(value);
        Ok(Some(match n_tried {
            1 => self.store.extract(term, width - 1, width - 1),
            2 => self.equals(term, 0),
            3 => self.equals(term, value + 1),
            4 => {
                let much = self.store.constant(width, 16 * value + 64);
                let top = self.store.extract(term, width - 1, width - 1);
                let (more, positive) = (self.store.ult(much, term), self.store.not(top));
                self.store.and(more, positive)
            }
            5 if value > 0 => self.equals(term, value - 1),
            _ => return Ok(None),
        }))
    }

    /// A conjunction.
    pub fn both(&mut self, a: Term, b: Term) -> Term {
        self.store.and(a, b)
    }

    /// The variables' values in an input.
    pub fn assignment(&self, input: &Input) -> Assignment {
        let value = |(var, key): (&Var, &Key)| input.values.get(key).map(|value| (*var, u128::from(*value)));
        self.keys.iter().filter_map(value).collect()
    }

    /// The input that `base` becomes with the values found.
    pub fn input(&self, base: &Input, found: &Assignment) -> Input {
        let mut input = base.clone();
        for (var, bits) in found.iter() {
            if let Some(key) = self.keys.get(&var) {
                input.values.insert(*key, bits as u64);
            }
        }
        input
    }

    fn truth(&mut self, term: Term, wanted: bool) -> Term {
        let zero = self.store.constant(self.store.width(term), 0);
        let truth = if self.store.width(term) == 1 { term } else { self.store.ne(term, zero) };
        if wanted { truth } else { self.store.not(truth) }
    }

    fn equals(&mut self, term: Term, value: u128) -> Term {
        let constant = self.store.constant(self.store.width(term), value);
        self.store.eq(term, constant)
    }

    fn differs_from(&mut self, term: Term, values: impl Iterator<Item = u128>) -> Term {
        let mut none = self.store.bool(true);
        for value in values {
            let equal = self.equals(term, value);
            let differs = self.store.not(equal);
            none = self.store.and(none, differs);
        }
        none
    }

    /// The term of a node and, before it, of everything it is made from.
    fn term(
        &mut self,
        expressions: &Expressions<'_>,
        memo: &mut Memo,
        id: NodeId,
    ) -> Result<Term, TermError> {
        let mut open = vec![id];
        while let Some(&id) = open.last() {
            if memo.get(id).is_some() {
                open.pop();
                continue;
            }
            let node = expressions.node(id)?;
            let n_open = open.len();
            open.extend(operands(&node).filter(|operand| memo.get(*operand).is_none()));
            if open.len() == n_open {
                let term = self.build(expressions, memo, id, &node)?;
                memo.set(id, &node, term);
            }
        }
        Ok(memo.get(id).expect("the term was made last"))
    }

    fn build(
        &mut self,
        expressions: &Expressions<'_>,
        memo: &Memo,
        id: NodeId,
        node: &Node,
    ) -> Result<Term, TermError> {
        let of = |operand: NodeId| memo.get(operand).expect("operands are made first");
        let width = u32::from(node.width());
        let store = &mut self.store;
        let require = |fits: bool| if fits { Ok(()) } else { Err(TermError::Width(id)) };
        Ok(match *node {
            Node::Constant { value, .. } => store.constant(width, u128::from(value)),
            Node::Input { cell, .. } => return self.variable(expressions, id, cell, width),
            Node::Binary { op, a, b, .. } => {
                let [a, b] = pair(store, memo, a, b).ok_or(TermError::Width(id))?;
                let result = if op.is_compare() { 1 } else { store.width(a) };
                require(width == result)?;
                binary(store, op, a, b)
            }
            Node::Not { a, .. } => {
                require(store.width(of(a)) == width)?;
                store.not(of(a))
            }
            Node::Zext { a, .. } => {
                require(store.width(of(a)) <= width)?;
                store.zext(of(a), width)
            }
            Node::Sext { a, .. } => {
                require(store.width(of(a)) <= width)?;
                store.sext(of(a), width)
            }
            Node::Extract { a, low, .. } => {
                let low = u32::from(low);
                require(low + width <= store.width(of(a)))?;
                store.extract(of(a), low + width - 1, low)
            }
            Node::Concat { high, low, .. } => {
                require(store.width(of(high)) + store.width(of(low)) == width)?;
                store.concat(of(high), of(low))
            }
            Node::Ite { condition, then, otherwise, .. } => {
                let widths = [condition, then, otherwise].map(|operand| store.width(of(operand)));
                require(widths == [1, width, width])?;
                store.ite(of(condition), of(then), of(otherwise))
            }
            Node::FloatUnary { op, a, .. } => {
                float::unary(store, op, width, of(a)).ok_or(TermError::Width(id))?
            }
            Node::FloatBinary { op, a, b, .. } => {
                let [a, b] = pair(store, memo, a, b).ok_or(TermError::Width(id))?;
                float::binary(store, op, width, a, b).ok_or(TermError::Width(id))?
            }
            Node::FloatFused { a, b, c, .. } => {
                float::fused(store, width, [a, b, c].map(of)).ok_or(TermError::Width(id))?
            }
            // the arguments are pinned: what came of them is known
            Node::Opaque { value, .. } => {
                require(store.width(of(value)) == width)?;
                of(value)
            }
            Node::Table { index, first, n, .. } => {
                let rows: Vec<Term> = (first.0..first.0 + n).map(|row| of(NodeId(row))).collect();
                require(rows.iter().all(|row| store.width(*row) == width))?;
                store.table(of(index), &rows)
            }
            Node::Same { a, .. } => {
                require(store.width(of(a)) == width)?;
                of(a)
            }
        })
    }

    fn variable(
        &mut self,
        expressions: &Expressions<'_>,
        id: NodeId,
        cell: u32,
        width: u32,
    ) -> Result<Term, TermError> {
        let cell = expressions.cells.get(cell as usize).ok_or(TermError::NoCell(id))?;
        if cell.width != width {
            return Err(TermError::Width(id));
        }
        let key = Key(cell.key);
        let term = self.store.var(key.to_string(), width);
        let var = self.store.var_of(term).expect("a variable was asked for");
        self.keys.insert(var, key);
        Ok(term)
    }
}

/// Two operands of one width, at least one of them a node.
fn pair(store: &mut TermStore, memo: &Memo, a: Operand, b: Operand) -> Option<[Term; 2]> {
    let term = |operand| match operand {
        Operand::Node(node) => memo.get(node),
        Operand::Constant(_) => None,
    };
    let width = store.width(term(a).or_else(|| term(b))?);
    let pair = [a, b].map(|operand| match operand {
        Operand::Node(node) => memo.get(node).expect("operands are made first"),
        Operand::Constant(value) => store.constant(width, u128::from(value)),
    });
    (store.width(pair[0]) == store.width(pair[1])).then_some(pair)
}

fn binary(store: &mut TermStore, op: NodeOp, a: Term, b: Term) -> Term {
    match op {
        NodeOp::Add => store.add(a, b),
        NodeOp::Sub => store.sub(a, b),
        NodeOp::Mul => store.mul(a, b),
        NodeOp::Udiv => store.udiv(a, b),
        NodeOp::Sdiv => store.sdiv(a, b),
        NodeOp::Urem => store.urem(a, b),
        NodeOp::Srem => store.srem(a, b),
        NodeOp::And => store.and(a, b),
        NodeOp::Or => store.or(a, b),
        NodeOp::Xor => store.xor(a, b),
        NodeOp::Shl => store.shl(a, b),
        NodeOp::Lshr => store.lshr(a, b),
        NodeOp::Ashr => store.ashr(a, b),
        NodeOp::Eq => store.eq(a, b),
        NodeOp::Ne => store.ne(a, b),
        NodeOp::Ult => store.ult(a, b),
        NodeOp::Ule => store.ule(a, b),
        NodeOp::Slt => store.slt(a, b),
        NodeOp::Sle => store.sle(a, b),
    }
}

#[cfg(test)]
mod tests;
