//! The value of a term under an assignment.
//!
//! Method: depth first with an explicit stack, so that depth costs memory but no call stack, and a memo, so that a shared
//! term is computed once. The memo is an array stamped with an epoch: clearing it is one increment.

use crate::assignment::Assignment;
use crate::term::{BinaryOp, Node, Term, TermStore, float, value};

/// The value of `term`; variables without a value count as 0.
pub fn evaluate(store: &TermStore, term: Term, assignment: &Assignment) -> u128 {
    Evaluator::new(store, assignment).evaluate(term)
}

/// Evaluates many terms under one assignment, each shared part once.
pub struct Evaluator<'s> {
    store: &'s TermStore,
    assignment: &'s Assignment,
    memo: Memo,
}

/// Values known so far, reusable between evaluators of the same or another store.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    values: Vec<u128>,
    /// The epoch in which the value was computed; 0 means never.
    epochs: Vec<u32>,
    epoch: u32,
    stack: Vec<Term>,
    n_computed: u64,
}

impl<'s> Evaluator<'s> {
    /// Knows nothing yet.
    pub fn new(store: &'s TermStore, assignment: &'s Assignment) -> Evaluator<'s> {
        Evaluator::with_memo(store, assignment, Memo::default())
    }

    pub(crate) fn with_memo(
        store: &'s TermStore,
        assignment: &'s Assignment,
        mut memo: Memo,
    ) -> Evaluator<'s> {
        memo.start(store.n_terms());
        Evaluator { store, assignment, memo }
    }

    pub(crate) fn into_memo(self) -> Memo {
        self.memo
    }

    /// Whether a term of width 1 is 1.
    pub fn holds(&mut self, term: Term) -> bool {
        self.evaluate(term) == 1
    }

    /// The value of a term.
    pub fn evaluate(&mut self, term: Term) -> u128 {
        self.memo.stack.push(term);
        while let Some(&top) = self.memo.stack.last() {
            if self.memo.get(top).is_some() {
                self.memo.stack.pop();
                continue;
            }
            let node = self.store.node(top);
            let n_waiting = self.memo.stack.len();
            match node {
                Node::Ite { condition, then, otherwise } => match self.memo.get(condition) {
                    None => self.memo.stack.push(condition),
                    // Only the branch taken is computed: long tables stay cheap.
                    Some(bit) => {
                        let branch = if bit == 1 { then } else { otherwise };
                        match self.memo.get(branch) {
                            None => self.memo.stack.push(branch),
                            Some(bits) => self.memo.set(top, bits),
                        }
                    }
                },
                Node::Constant(_)
                | Node::Variable(_)
                | Node::Unary(..)
                | Node::Binary(..)
                | Node::Extract { .. }
                | Node::Extend { .. }
                | Node::FloatUnary(..)
                | Node::FloatBinary(..)
                | Node::FloatFused(..) => {
                    let memo = &mut self.memo;
                    node.for_each_operand(|operand| {
                        if memo.get(operand).is_none() {
                            memo.stack.push(operand);
                        }
                    });
                    if self.memo.stack.len() == n_waiting {
                        let bits = self.compute(&node);
                        self.memo.set(top, bits);
                    }
                }
            }
        }
        self.known(term)
    }

    fn compute(&self, node: &Node) -> u128 {
        match *node {
            Node::Constant(constant) => constant.bits(),
            Node::Variable(var) => self.assignment.value(var) & value::mask(self.store.var_width(var)),
            Node::Unary(op, operand) => value::unary(op, self.store.width(operand), self.known(operand)),
            Node::Binary(op, left, right) => {
                let width = self.store.width(if op == BinaryOp::Concat { right } else { left });
                value::binary(op, width, self.known(left), self.known(right))
            }
            Node::Extract { operand, high, low } => value::extract(self.known(operand), high, low),
            Node::Extend { extension, operand, width } => {
                value::extend(extension, self.store.width(operand), width, self.known(operand))
            }
            Node::Ite { condition, then, otherwise } => {
                self.known(if self.known(condition) == 1 { then } else { otherwise })
            }
            Node::FloatUnary(op, operand) => float::unary(op, self.store.width(operand), self.known(operand)),
            Node::FloatBinary(op, left, right) => {
                float::binary(op, self.store.format(left), self.known(left), self.known(right))
            }
            Node::FloatFused(a, b, c) => {
                float::fused(self.store.format(a), self.known(a), self.known(b), self.known(c))
            }
        }
    }

    fn known(&self, term: Term) -> u128 {
        self.memo.get(term).expect("operands are computed before the terms built from them")
    }
}

impl Memo {
    fn start(&mut self, n_terms: usize) {
        if self.values.len() < n_terms {
            // Zeroed allocations are mapped lazily: untouched parts of a large store cost nothing.
            self.values = vec![0; n_terms + n_terms / 2];
            self.epochs = vec![0; n_terms + n_terms / 2];
            self.epoch = 0;
        }
        self.epoch = match self.epoch.checked_add(1) {
            Some(epoch) => epoch,
            None => {
                self.epochs.fill(0);
                1
            }
        };
    }

    /// Values computed so far: what evaluating has cost.
    pub(crate) fn n_computed(&self) -> u64 {
        self.n_computed
    }

    fn get(&self, term: Term) -> Option<u128> {
        (self.epochs[term.index()] == self.epoch).then(|| self.values[term.index()])
    }

    fn set(&mut self, term: Term, bits: u128) {
        self.values[term.index()] = bits;
        self.epochs[term.index()] = self.epoch;
        self.n_computed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_a_million_levels_deep_is_evaluated() {
        let mut store = TermStore::new();
        let (x, y) = (store.var("x", 32), store.var("y", 32));
        let mut term = x;
        for _ in 0..500_000 {
            let product = store.mul(term, y);
            term = store.xor(product, x);
        }
        let vars = store.vars_of(term).to_vec();
        let assignment: Assignment = vars.into_iter().zip([7, 1]).collect();
        assert_eq!(evaluate(&store, term, &assignment), 7);
    }

    #[test]
    fn a_missing_variable_is_zero() {
        let mut store = TermStore::new();
        let x = store.var("x", 8);
        let term = store.not(x);
        assert_eq!(evaluate(&store, term, &Assignment::new()), 0xff);
    }

    #[test]
    fn values_wider_than_their_variable_are_cut() {
        let mut store = TermStore::new();
        let x = store.var("x", 4);
        let wide = store.zext(x, 8);
        let var = store.var_of(x).expect("x is a variable");
        assert_eq!(evaluate(&store, wide, &[(var, 0xff)].into_iter().collect()), 0x0f);
    }
}
