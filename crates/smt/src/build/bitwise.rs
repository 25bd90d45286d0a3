//! Constructors of bitwise operators and shifts.

use crate::term::{BinaryOp, Extension, Node, Term, TermStore, UnaryOp, value};

impl TermStore {
    /// Bitwise complement; for width 1, logical negation.
    pub fn not(&mut self, operand: Term) -> Term {
        let width = self.width(operand);
        match self.node(operand) {
            Node::Constant(constant) => self.constant(width, !constant.bits()),
            Node::Unary(UnaryOp::Not, inner) => inner,
            Node::Binary(BinaryOp::Ult, left, right) => self.ule(right, left),
            Node::Binary(BinaryOp::Ule, left, right) => self.ult(right, left),
            Node::Binary(BinaryOp::Slt, left, right) => self.sle(right, left),
            Node::Binary(BinaryOp::Sle, left, right) => self.slt(right, left),
            _ => self.raw_unary(UnaryOp::Not, operand),
        }
    }

    /// Bitwise and.
    pub fn and(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("and", left, right);
        let (left, right) = self.constant_right(left, right);
        if left == right {
            return left;
        }
        if self.are_complements(left, right) {
            return self.zero(width);
        }
        match self.bits_of(right) {
            Some(0) => right,
            Some(bits) if bits == value::mask(width) => left,
            // A mask of low bits cuts.
            Some(bits) if (bits + 1).is_power_of_two() && self.bits_of(left).is_none() => {
                let low = self.extract(left, bits.trailing_ones() - 1, 0);
                self.zext(low, width)
            }
            Some(_) | None => self.bitwise(BinaryOp::And, left, right),
        }
    }

    /// Bitwise or.
    pub fn or(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("or", left, right);
        let (left, right) = self.constant_right(left, right);
        if left == right {
            return left;
        }
        if self.are_complements(left, right) {
            return self.ones(width);
        }
        match self.bits_of(right) {
            Some(0) => return left,
            Some(bits) if bits == value::mask(width) => return right,
            Some(_) | None => {}
        }
        match self.join_disjoint(left, right) {
            Some(joined) => joined,
            None => self.bitwise(BinaryOp::Or, left, right),
        }
    }

    /// Bitwise exclusive or.
    pub fn xor(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("xor", left, right);
        let (left, right) = self.constant_right(left, right);
        if left == right {
            return self.zero(width);
        }
        if self.are_complements(left, right) {
            return self.ones(width);
        }
        if width == 1 && self.bits_of(left).is_none() && self.bits_of(right).is_none() {
            let equal = self.eq(left, right);
            return self.not(equal);
        }
        match self.bits_of(right) {
            Some(0) => return left,
            Some(bits) if bits == value::mask(width) => return self.not(left),
            Some(_) | None => {}
        }
        match (self.as_unary(UnaryOp::Not, left), self.as_unary(UnaryOp::Not, right)) {
            (Some(left), Some(right)) => self.bitwise(BinaryOp::Xor, left, right),
            _ => self.bitwise(BinaryOp::Xor, left, right),
        }
    }

    /// Shift towards the high bits; 0 when the amount is not below the width.
    pub fn shl(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("shl", left, right);
        match self.bits_of(right) {
            Some(amount) if amount >= u128::from(width) => self.zero(width),
            Some(amount) => self.shl_by(left, amount as u32),
            None if self.bits_of(left) == Some(0) => left,
            None => self.raw_binary(BinaryOp::Shl, left, right),
        }
    }

    /// Shift towards the low bits, filling with zeros; 0 when the amount is not below the width.
    pub fn lshr(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("lshr", left, right);
        match self.bits_of(right) {
            Some(amount) if amount >= u128::from(width) => self.zero(width),
            Some(amount) => self.lshr_by(left, amount as u32),
            None if self.bits_of(left) == Some(0) => left,
            None => self.raw_binary(BinaryOp::Lshr, left, right),
        }
    }

    /// Shift towards the low bits, filling with the sign; only signs when the amount is not below the width.
    pub fn ashr(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("ashr", left, right);
        if self.is_non_negative(left) {
            return self.lshr(left, right);
        }
        match self.bits_of(right) {
            Some(amount) => {
                let amount = amount.min(u128::from(width - 1)) as u32;
                let high = self.extract(left, width - 1, amount);
                self.sext(high, width)
            }
            None => self.raw_binary(BinaryOp::Ashr, left, right),
        }
    }

    pub(super) fn shl_by(&mut self, operand: Term, amount: u32) -> Term {
        let width = self.width(operand);
        if amount == 0 {
            return operand;
        }
        let kept = self.extract(operand, width - 1 - amount, 0);
        let fill = self.zero(amount);
        self.concat(kept, fill)
    }

    pub(super) fn lshr_by(&mut self, operand: Term, amount: u32) -> Term {
        let width = self.width(operand);
        let kept = self.extract(operand, width - 1, amount);
        self.zext(kept, width)
    }

    /// One term for the sum or union of two that have no bit in common by construction.
    pub(super) fn join_disjoint(&mut self, left: Term, right: Term) -> Option<Term> {
        self.join_above(left, right).or_else(|| self.join_above(right, left))
    }

    /// `high` ends in at least as many zeros as `low` has bits that may be set.
    fn join_above(&mut self, high: Term, low: Term) -> Option<Term> {
        let width = self.width(high);
        let narrow = match self.bits_of(low) {
            Some(bits) => {
                let n_bits = (u128::BITS - bits.leading_zeros()).max(1);
                self.constant(n_bits, bits)
            }
            None => self.as_extend(Extension::Zero, low)?,
        };
        let n_zeros = self.n_trailing_zeros(high);
        if n_zeros < self.width(narrow) || n_zeros >= width || self.bits_of(high).is_some() {
            return None;
        }
        let top = self.extract(high, width - 1, n_zeros);
        let bottom = self.zext(narrow, n_zeros);
        Some(self.concat(top, bottom))
    }

    /// How many low bits are zeros by construction.
    fn n_trailing_zeros(&self, term: Term) -> u32 {
        match self.node(term) {
            Node::Constant(constant) => constant.bits().trailing_zeros().min(constant.width()),
            Node::Extend { operand, .. } => self.n_trailing_zeros(operand),
            Node::Binary(BinaryOp::Concat, high, low) => {
                let n_low = self.n_trailing_zeros(low);
                if n_low == self.width(low) { n_low + self.n_trailing_zeros(high) } else { n_low }
            }
            _ => 0,
        }
    }

    fn are_complements(&self, left: Term, right: Term) -> bool {
        self.as_unary(UnaryOp::Not, left) == Some(right) || self.as_unary(UnaryOp::Not, right) == Some(left)
    }

    /// What and, or and xor have in common, after their own rules.
    fn bitwise(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        if let Some(folded) = self.fold_binary(op, left, right) {
            return folded;
        }
        let width = self.width(left);
        let (left_narrow, right_bits) = (self.as_extend(Extension::Zero, left), self.bits_of(right));
        match (left_narrow, self.as_extend(Extension::Zero, right), right_bits) {
            (Some(left), Some(right), _) if self.width(left) == self.width(right) => {
                let narrow = self.bitwise_op(op, left, right);
                return self.zext(narrow, width);
            }
            (Some(left), _, Some(bits)) if op == BinaryOp::And || bits <= value::mask(self.width(left)) => {
                let constant = self.constant(self.width(left), bits);
                let narrow = self.bitwise_op(op, left, constant);
                return self.zext(narrow, width);
            }
            _ => {}
        }
        if let (Some((term, inner)), Some(bits)) = (self.as_binary_constant(op, left), right_bits) {
            let merged = self.constant(width, value::binary(op, width, inner, bits));
            return self.bitwise_op(op, term, merged);
        }
        self.raw_binary(op, left, right)
    }

    fn bitwise_op(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        match op {
            BinaryOp::And => self.and(left, right),
            BinaryOp::Or => self.or(left, right),
            BinaryOp::Xor => self.xor(left, right),
            _ => unreachable!("only called for bitwise operators"),
        }
    }
}
