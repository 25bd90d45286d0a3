//! Constructors of terms. Each simplifies with rules that look at the operands and at most a few nodes below.
//!
//! Method: constants fold; operands of commutative operators are ordered (constants last); `a - b` becomes
//! `a + -b`, `>` and `>=` change sides, `!=` is `not ==`; shifts and products by powers of two, masks and zero-filled
//! concatenations become extracts, extensions and concatenations, which fuse.
//! Invariant: every rule keeps the value under every assignment (property-tested). Recursion descends only into
//! concatenations and extensions, whose depth the width bounds, so deep terms are safe to build.

mod arithmetic;
mod bitwise;
mod compare;
mod float;
mod structure;

use crate::term::{BinaryOp, Extension, Node, Term, TermStore, UnaryOp, Value, value};

impl TermStore {
    /// The constant with the low `width` bits of `bits`.
    pub fn constant(&mut self, width: u32, bits: u128) -> Term {
        self.intern(Node::Constant(Value::new(width, bits)))
    }

    /// The truth value as a term of width 1.
    pub fn bool(&mut self, value: bool) -> Term {
        self.constant(1, u128::from(value))
    }

    fn zero(&mut self, width: u32) -> Term {
        self.constant(width, 0)
    }

    fn ones(&mut self, width: u32) -> Term {
        self.constant(width, u128::MAX)
    }

    fn raw_unary(&mut self, op: UnaryOp, operand: Term) -> Term {
        self.intern(Node::Unary(op, operand))
    }

    /// Interns without further rules, operands in canonical order.
    fn raw_binary(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        let swap = op.is_commutative() && self.order_key(right) < self.order_key(left);
        let (left, right) = if swap { (right, left) } else { (left, right) };
        self.intern(Node::Binary(op, left, right))
    }

    /// Constants come last.
    fn order_key(&self, term: Term) -> (bool, Term) {
        (self.constant_of(term).is_some(), term)
    }

    /// Moves the constant operand of a commutative operator, if any, to the right.
    fn constant_right(&self, left: Term, right: Term) -> (Term, Term) {
        if self.order_key(right) < self.order_key(left) { (right, left) } else { (left, right) }
    }

    fn fold_binary(&mut self, op: BinaryOp, left: Term, right: Term) -> Option<Term> {
        let (left_bits, right_bits) = (self.bits_of(left)?, self.bits_of(right)?);
        let operand_width = self.width(if op == BinaryOp::Concat { right } else { left });
        let width = match op {
            BinaryOp::Concat => self.width(left) + operand_width,
            _ if op.is_predicate() => 1,
            _ => operand_width,
        };
        Some(self.constant(width, value::binary(op, operand_width, left_bits, right_bits)))
    }

    fn bits_of(&self, term: Term) -> Option<u128> {
        self.constant_of(term).map(Value::bits)
    }

    fn same_width(&self, act: &str, left: Term, right: Term) -> u32 {
        let width = self.width(left);
        assert_eq!(width, self.width(right), "operands of {act} differ in width");
        width
    }

    fn as_unary(&self, op: UnaryOp, term: Term) -> Option<Term> {
        match self.node(term) {
            Node::Unary(found, operand) if found == op => Some(operand),
            _ => None,
        }
    }

    fn as_binary(&self, op: BinaryOp, term: Term) -> Option<(Term, Term)> {
        match self.node(term) {
            Node::Binary(found, left, right) if found == op => Some((left, right)),
            _ => None,
        }
    }

    /// The operands of `op` when the right one is a constant.
    fn as_binary_constant(&self, op: BinaryOp, term: Term) -> Option<(Term, u128)> {
        let (left, right) = self.as_binary(op, term)?;
        Some((left, self.bits_of(right)?))
    }

    fn as_extend(&self, extension: Extension, term: Term) -> Option<Term> {
        match self.node(term) {
            Node::Extend { extension: found, operand, .. } if found == extension => Some(operand),
            _ => None,
        }
    }

    /// Condition and values of a choice between two constants.
    fn as_constant_choice(&self, term: Term) -> Option<(Term, u128, u128)> {
        match self.node(term) {
            Node::Ite { condition, then, otherwise } => {
                Some((condition, self.bits_of(then)?, self.bits_of(otherwise)?))
            }
            _ => None,
        }
    }
}
