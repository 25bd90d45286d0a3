//! Constructors of sums, products, quotients and remainders.

use crate::term::{BinaryOp, Extension, Node, Term, TermStore, UnaryOp, value};

impl TermStore {
    /// `left + right`, modulo 2^width.
    pub fn add(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("add", left, right);
        // All constants float to the outermost sum.
        let (left, left_constant) = self.split_sum(left);
        let (right, right_constant) = self.split_sum(right);
        let constant = left_constant.wrapping_add(right_constant) & value::mask(width);
        let sum = match (left, right) {
            (None, None) => return self.constant(width, constant),
            (Some(term), None) | (None, Some(term)) => term,
            (Some(left), Some(right)) => self.sum_of_unknowns(width, left, right),
        };
        self.plus_constant(width, sum, constant)
    }

    /// `left - right`, modulo 2^width.
    pub fn sub(&mut self, left: Term, right: Term) -> Term {
        self.same_width("sub", left, right);
        let negated = self.neg(right);
        self.add(left, negated)
    }

    /// `-operand`, modulo 2^width.
    pub fn neg(&mut self, operand: Term) -> Term {
        let width = self.width(operand);
        if width == 1 {
            return operand;
        }
        match self.node(operand) {
            Node::Constant(constant) => {
                self.constant(width, value::unary(UnaryOp::Neg, width, constant.bits()))
            }
            Node::Unary(UnaryOp::Neg, inner) => inner,
            Node::Binary(BinaryOp::Add, term, addend) if self.bits_of(addend).is_some() => {
                let (term, addend) = (self.raw_neg(term), self.neg(addend));
                self.add(term, addend)
            }
            _ => self.raw_neg(operand),
        }
    }

    /// `left * right`, modulo 2^width.
    pub fn mul(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("mul", left, right);
        if let Some(folded) = self.fold_binary(BinaryOp::Mul, left, right) {
            return folded;
        }
        if width == 1 {
            return self.and(left, right);
        }
        let (left, right) = self.constant_right(left, right);
        let Some(factor) = self.bits_of(right) else {
            return self.raw_binary(BinaryOp::Mul, left, right);
        };
        if factor == 0 {
            return right;
        }
        if factor == value::mask(width) {
            return self.neg(left);
        }
        if factor.is_power_of_two() {
            return self.shl_by(left, factor.trailing_zeros());
        }
        match self.as_binary_constant(BinaryOp::Mul, left) {
            Some((term, inner)) => {
                let factor = self.constant(width, factor.wrapping_mul(inner));
                self.mul(term, factor)
            }
            None => self.raw_binary(BinaryOp::Mul, left, right),
        }
    }

    /// Unsigned quotient; all ones for division by zero.
    pub fn udiv(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("udiv", left, right);
        if let Some(folded) = self.fold_binary(BinaryOp::Udiv, left, right) {
            return folded;
        }
        let Some(divisor) = self.bits_of(right) else {
            return self.raw_binary(BinaryOp::Udiv, left, right);
        };
        if divisor == 0 {
            return self.ones(width);
        }
        if divisor.is_power_of_two() {
            return self.lshr_by(left, divisor.trailing_zeros());
        }
        match self.as_extend(Extension::Zero, left) {
            Some(narrow) if divisor > value::mask(self.width(narrow)) => self.zero(width),
            Some(narrow) => {
                let divisor = self.constant(self.width(narrow), divisor);
                let quotient = self.udiv(narrow, divisor);
                self.zext(quotient, width)
            }
            None => self.raw_binary(BinaryOp::Udiv, left, right),
        }
    }

    /// Unsigned remainder; the dividend for division by zero.
    pub fn urem(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("urem", left, right);
        if let Some(folded) = self.fold_binary(BinaryOp::Urem, left, right) {
            return folded;
        }
        let Some(divisor) = self.bits_of(right) else {
            return self.raw_binary(BinaryOp::Urem, left, right);
        };
        if divisor == 0 {
            return left;
        }
        if divisor.is_power_of_two() {
            let low_bits = self.constant(width, divisor - 1);
            return self.and(left, low_bits);
        }
        match self.as_extend(Extension::Zero, left) {
            Some(narrow) if divisor > value::mask(self.width(narrow)) => left,
            Some(narrow) => {
                let divisor = self.constant(self.width(narrow), divisor);
                let remainder = self.urem(narrow, divisor);
                self.zext(remainder, width)
            }
            None => self.raw_binary(BinaryOp::Urem, left, right),
        }
    }

    /// Signed quotient, rounded towards zero; for division by zero 1 if the dividend is negative, else -1.
    pub fn sdiv(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("sdiv", left, right);
        if let Some(folded) = self.fold_binary(BinaryOp::Sdiv, left, right) {
            return folded;
        }
        if self.is_non_negative(left) && self.is_non_negative(right) {
            return self.udiv(left, right);
        }
        match self.bits_of(right) {
            Some(1) if width > 1 => left,
            Some(divisor) if divisor == value::mask(width) && width > 1 => self.neg(left),
            Some(_) | None => self.raw_binary(BinaryOp::Sdiv, left, right),
        }
    }

    /// Signed remainder with the sign of the dividend; the dividend for division by zero.
    pub fn srem(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("srem", left, right);
        if let Some(folded) = self.fold_binary(BinaryOp::Srem, left, right) {
            return folded;
        }
        if self.is_non_negative(left) && self.is_non_negative(right) {
            return self.urem(left, right);
        }
        match self.bits_of(right) {
            Some(0) => left,
            Some(divisor) if divisor == 1 || divisor == value::mask(width) => self.zero(width),
            Some(_) | None => self.raw_binary(BinaryOp::Srem, left, right),
        }
    }

    /// Whether the sign bit is 0 whatever the variables are.
    pub(super) fn is_non_negative(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Constant(constant) => constant.signed() >= 0,
            Node::Extend { extension: Extension::Zero, .. } => true,
            _ => false,
        }
    }

    /// A term as something unknown plus a constant.
    pub(super) fn split_sum(&self, term: Term) -> (Option<Term>, u128) {
        if let Some(bits) = self.bits_of(term) {
            return (None, bits);
        }
        match self.as_binary_constant(BinaryOp::Add, term) {
            Some((unknown, constant)) => (Some(unknown), constant),
            None => (Some(term), 0),
        }
    }

    /// Neither operand is a constant or a sum with one.
    fn sum_of_unknowns(&mut self, width: u32, left: Term, right: Term) -> Term {
        if self.as_unary(UnaryOp::Neg, left) == Some(right)
            || self.as_unary(UnaryOp::Neg, right) == Some(left)
        {
            return self.zero(width);
        }
        if self.as_unary(UnaryOp::Not, left) == Some(right)
            || self.as_unary(UnaryOp::Not, right) == Some(left)
        {
            return self.ones(width);
        }
        if width == 1 {
            return self.xor(left, right);
        }
        if left == right {
            return self.shl_by(left, 1);
        }
        // Parts that share no bit add without carry.
        if let Some(joined) = self.join_disjoint(left, right) {
            return joined;
        }
        self.raw_binary(BinaryOp::Add, left, right)
    }

    fn plus_constant(&mut self, width: u32, term: Term, constant: u128) -> Term {
        if constant == 0 {
            return term;
        }
        if width == 1 {
            return self.not(term);
        }
        // ~x + 1 = -x
        if let (1, Some(inner)) = (constant, self.as_unary(UnaryOp::Not, term)) {
            return self.neg(inner);
        }
        // The unknown part may itself have become a constant or a sum (x + ~x, -(x + 1)).
        let (unknown, inner) = self.split_sum(term);
        let total = self.constant(width, constant.wrapping_add(inner));
        match unknown {
            None => total,
            Some(unknown) if self.bits_of(total) == Some(0) => unknown,
            Some(unknown) => self.raw_binary(BinaryOp::Add, unknown, total),
        }
    }

    /// Negates what is neither a constant nor a sum with one.
    fn raw_neg(&mut self, term: Term) -> Term {
        // -~x = x + 1; a rule, and not only a shortcut: without such nodes no rule here recurses deeply.
        if let Some(inner) = self.as_unary(UnaryOp::Not, term) {
            let one = self.constant(self.width(term), 1);
            return self.add(inner, one);
        }
        match self.as_unary(UnaryOp::Neg, term) {
            Some(inner) => inner,
            None => match self.as_binary_constant(BinaryOp::Mul, term) {
                Some((factor, constant)) => {
                    let constant = self.constant(self.width(term), constant.wrapping_neg());
                    self.mul(factor, constant)
                }
                None => self.raw_unary(UnaryOp::Neg, term),
            },
        }
    }
}
