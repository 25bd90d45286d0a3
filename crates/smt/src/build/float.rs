//! Constructors of floating-point arithmetic on the bits of numbers.
//!
//! Few rules hold: `x + 0` is another zero than `x` for -0, `x == x` is false for a NaN, and an operator may return another
//! NaN than its operand.

use crate::term::{FloatBinaryOp, FloatUnaryOp, Format, Node, Term, TermStore, float};

impl TermStore {
    /// The format of a term that is the bits of a number.
    ///
    /// # Panics
    /// When no format has its width.
    pub fn format(&self, term: Term) -> Format {
        let width = self.width(term);
        Format::of_width(width).unwrap_or_else(|| panic!("{width} bits are no number"))
    }

    /// The result of an operator with one operand.
    ///
    /// # Panics
    /// When the operator takes no operand of this width.
    pub fn float_unary(&mut self, op: FloatUnaryOp, operand: Term) -> Term {
        let width = self.width(operand);
        assert!(op.takes(width), "{op:?} takes no operand of {width} bits");
        if let Some(bits) = self.bits_of(operand) {
            return self.constant(op.result_width(width), float::unary(op, width, bits));
        }
        match (op, self.node(operand)) {
            // Integers are numbers.
            (
                FloatUnaryOp::IsNan,
                Node::FloatUnary(FloatUnaryOp::FromSigned(_) | FloatUnaryOp::FromUnsigned(_), _),
            ) => self.bool(false),
            // Another format has the same NaNs.
            (FloatUnaryOp::IsNan, Node::FloatUnary(FloatUnaryOp::Convert(_), number)) => {
                self.float_unary(FloatUnaryOp::IsNan, number)
            }
            _ => self.intern(Node::FloatUnary(op, operand)),
        }
    }

    /// The result of an operator with two operands of one format.
    ///
    /// # Panics
    /// When the operands are not of one format.
    pub fn float_binary(&mut self, op: FloatBinaryOp, left: Term, right: Term) -> Term {
        self.same_width("floating-point arithmetic", left, right);
        let format = self.format(left);
        if let (Some(left), Some(right)) = (self.bits_of(left), self.bits_of(right)) {
            let width = if op.is_predicate() { 1 } else { format.width() };
            return self.constant(width, float::binary(op, format, left, right));
        }
        if left == right && op.is_predicate() {
            return match op {
                FloatBinaryOp::Lt => self.bool(false),
                _ => {
                    let is_nan = self.float_unary(FloatUnaryOp::IsNan, left);
                    self.not(is_nan)
                }
            };
        }
        let (left, right) = if op.is_commutative() && self.order_key(right) < self.order_key(left) {
            (right, left)
        } else {
            (left, right)
        };
        self.intern(Node::FloatBinary(op, left, right))
    }

    /// `a * b + c`, rounded once.
    ///
    /// # Panics
    /// When the operands are not of one format.
    pub fn float_fused(&mut self, a: Term, b: Term, c: Term) -> Term {
        self.same_width("a fused product", a, b);
        self.same_width("a fused product", a, c);
        let format = self.format(a);
        match (self.bits_of(a), self.bits_of(b), self.bits_of(c)) {
            (Some(a), Some(b), Some(c)) => self.constant(format.width(), float::fused(format, a, b, c)),
            _ => self.intern(Node::FloatFused(a, b, c)),
        }
    }
}
