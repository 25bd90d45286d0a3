//! Constructors that move bits about or choose between values: extract, concat, extensions, if-then-else.

use crate::term::{BinaryOp, Extension, MAX_WIDTH, Node, Term, TermStore, UnaryOp, Value, value};

impl TermStore {
    /// Bits `high` down to `low` of `operand`, both included.
    pub fn extract(&mut self, operand: Term, high: u32, low: u32) -> Term {
        let operand_width = self.width(operand);
        assert!(
            low <= high && high < operand_width,
            "bits {high}..{low} are not in a term of {operand_width}"
        );
        let width = high - low + 1;
        if width == operand_width {
            return operand;
        }
        match self.node(operand) {
            Node::Constant(constant) => self.constant(width, value::extract(constant.bits(), high, low)),
            Node::Extract { operand, low: inner_low, .. } => {
                self.extract(operand, high + inner_low, low + inner_low)
            }
            Node::Extend { extension, operand, .. } => self.extract_extended(extension, operand, high, low),
            Node::Binary(BinaryOp::Concat, left, right) => self.extract_concat(left, right, high, low),
            Node::Binary(op, left, right) => match self.extract_narrowed(op, left, right, high, low) {
                Some(narrowed) => narrowed,
                None => self.intern(Node::Extract { operand, high, low }),
            },
            Node::Ite { condition, .. } => match self.as_constant_choice(operand) {
                Some((_, then, otherwise)) => {
                    let then = self.constant(width, value::extract(then, high, low));
                    let otherwise = self.constant(width, value::extract(otherwise, high, low));
                    self.ite(condition, then, otherwise)
                }
                None => self.intern(Node::Extract { operand, high, low }),
            },
            Node::Variable(_)
            | Node::Unary(..)
            | Node::FloatUnary(..)
            | Node::FloatBinary(..)
            | Node::FloatFused(..) => self.intern(Node::Extract { operand, high, low }),
        }
    }

    /// The bits of `high` above those of `low`.
    ///
    /// # Panics
    /// When the result would be wider than [`MAX_WIDTH`].
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let width = self.width(high) + self.width(low);
        assert!(width <= MAX_WIDTH, "concatenation of {width} bits is wider than {MAX_WIDTH}");
        if let Some(folded) = self.fold_binary(BinaryOp::Concat, high, low) {
            return folded;
        }
        if self.bits_of(high) == Some(0) {
            return self.zext(low, width);
        }
        // Leading zeros move out, the rest associates to the right, where neighbours fuse.
        if let Some(narrow) = self.as_extend(Extension::Zero, high) {
            let inner = self.concat(narrow, low);
            return self.zext(inner, width);
        }
        if let Some((top, middle)) = self.as_binary(BinaryOp::Concat, high) {
            let tail = self.concat(middle, low);
            return self.concat(top, tail);
        }
        if let Some(fused) = self.fuse(high, low) {
            return fused;
        }
        if let Some((middle, tail)) = self.as_binary(BinaryOp::Concat, low)
            && let Some(fused) = self.fuse(high, middle)
        {
            return self.concat(fused, tail);
        }
        self.raw_binary(BinaryOp::Concat, high, low)
    }

    /// Zero extension to `width` bits; the term itself when it has that width already.
    pub fn zext(&mut self, operand: Term, width: u32) -> Term {
        if !self.is_wider("zext", operand, width) {
            return operand;
        }
        match self.node(operand) {
            Node::Constant(constant) => self.constant(width, constant.bits()),
            Node::Extend { extension: Extension::Zero, operand, .. } => self.zext(operand, width),
            _ => self.intern(Node::Extend { extension: Extension::Zero, operand, width }),
        }
    }

    /// Sign extension to `width` bits; the term itself when it has that width already.
    pub fn sext(&mut self, operand: Term, width: u32) -> Term {
        if !self.is_wider("sext", operand, width) {
            return operand;
        }
        match self.node(operand) {
            Node::Constant(constant) => self.constant(width, constant.signed() as u128),
            // The sign bit of what was extended with zeros is 0.
            Node::Extend { extension: Extension::Zero, operand, .. } => self.zext(operand, width),
            Node::Extend { extension: Extension::Sign, operand, .. } => self.sext(operand, width),
            _ => self.intern(Node::Extend { extension: Extension::Sign, operand, width }),
        }
    }

    /// `then` where `condition` (of width 1) is 1, else `otherwise`.
    pub fn ite(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        assert_eq!(self.width(condition), 1, "the condition of an ite has width 1");
        let width = self.same_width("ite", then, otherwise);
        if let Some(bit) = self.bits_of(condition) {
            return if bit == 1 { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        if let Some(inner) = self.as_unary(UnaryOp::Not, condition) {
            return self.ite(inner, otherwise, then);
        }
        let then = self.assume(condition, true, then);
        let otherwise = self.assume(condition, false, otherwise);
        if then == otherwise {
            return then;
        }
        match (self.constant_of(then), self.constant_of(otherwise)) {
            (Some(then), Some(otherwise)) => self.constant_choice(condition, then, otherwise),
            (then_value, otherwise_value) if width == 1 => {
                self.bool_choice(condition, then, then_value, otherwise, otherwise_value)
            }
            _ => self.intern(Node::Ite { condition, then, otherwise }),
        }
    }

    /// The row that `index` chooses by as many of its low bits as are needed to count the rows; beyond the last row the
    /// last one. A balanced tree of choices, in which equal halves are one.
    ///
    /// # Panics
    /// When there are no rows.
    pub fn table(&mut self, index: Term, rows: &[Term]) -> Term {
        let last = *rows.last().expect("a table has rows");
        let mut level = rows.to_vec();
        for bit in 0..self.width(index) {
            if level.len() == 1 {
                break;
            }
            let chosen = self.extract(index, bit, bit);
            level = level
                .chunks(2)
                .map(|pair| match *pair {
                    [even, odd] => self.ite(chosen, odd, even),
                    [even] => self.ite(chosen, last, even),
                    _ => unreachable!("chunks of two"),
                })
                .collect();
        }
        level[0]
    }

    fn is_wider(&self, act: &str, operand: Term, width: u32) -> bool {
        let from = self.width(operand);
        assert!((from..=MAX_WIDTH).contains(&width), "cannot {act} a term of {from} bits to {width}");
        width > from
    }

    fn extract_extended(&mut self, extension: Extension, operand: Term, high: u32, low: u32) -> Term {
        let inner_width = self.width(operand);
        let width = high - low + 1;
        if high < inner_width {
            return self.extract(operand, high, low);
        }
        match extension {
            Extension::Zero if low >= inner_width => self.zero(width),
            Extension::Zero => {
                let kept = self.extract(operand, inner_width - 1, low);
                self.zext(kept, width)
            }
            Extension::Sign => {
                let kept = self.extract(operand, inner_width - 1, low.min(inner_width - 1));
                self.sext(kept, width)
            }
        }
    }

    fn extract_concat(&mut self, left: Term, right: Term, high: u32, low: u32) -> Term {
        let right_width = self.width(right);
        if high < right_width {
            return self.extract(right, high, low);
        }
        if low >= right_width {
            return self.extract(left, high - right_width, low - right_width);
        }
        let top = self.extract(left, high - right_width, 0);
        let bottom = self.extract(right, right_width - 1, low);
        self.concat(top, bottom)
    }

    /// Cuts the operands instead of the result where that costs no new extract: `(char)((int)c + 1)` is `c + 1`.
    fn extract_narrowed(
        &mut self,
        op: BinaryOp,
        left: Term,
        right: Term,
        high: u32,
        low: u32,
    ) -> Option<Term> {
        let from_bit_zero = low == 0;
        let narrowable = match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => true,
            BinaryOp::Add | BinaryOp::Mul => from_bit_zero,
            BinaryOp::Udiv
            | BinaryOp::Sdiv
            | BinaryOp::Urem
            | BinaryOp::Srem
            | BinaryOp::Shl
            | BinaryOp::Lshr
            | BinaryOp::Ashr
            | BinaryOp::Concat
            | BinaryOp::Eq
            | BinaryOp::Ult
            | BinaryOp::Ule
            | BinaryOp::Slt
            | BinaryOp::Sle => false,
        };
        if !narrowable || !self.cuts_freely(left, high) || !self.cuts_freely(right, high) {
            return None;
        }
        let (left, right) = (self.extract(left, high, low), self.extract(right, high, low));
        Some(match op {
            BinaryOp::And => self.and(left, right),
            BinaryOp::Or => self.or(left, right),
            BinaryOp::Xor => self.xor(left, right),
            BinaryOp::Add => self.add(left, right),
            BinaryOp::Mul => self.mul(left, right),
            _ => unreachable!("no other operator is narrowable"),
        })
    }

    /// Whether an extract of bits up to `high` disappears into the term.
    fn cuts_freely(&self, term: Term, high: u32) -> bool {
        match self.node(term) {
            Node::Constant(_) => true,
            Node::Extend { operand, .. } => high < self.width(operand),
            Node::Binary(BinaryOp::Concat, _, low) => high < self.width(low),
            _ => false,
        }
    }

    /// One term for two neighbours in a concatenation.
    fn fuse(&mut self, high: Term, low: Term) -> Option<Term> {
        match (self.node(high), self.node(low)) {
            (Node::Constant(_), Node::Constant(_)) => self.fold_binary(BinaryOp::Concat, high, low),
            (
                Node::Extract { operand, high: top, low: seam },
                Node::Extract { operand: other, high: below, low: bottom },
            ) if operand == other && seam == below + 1 => Some(self.extract(operand, top, bottom)),
            _ => None,
        }
    }

    /// A choice that repeats the condition inside a branch is already decided there.
    fn assume(&self, condition: Term, taken: bool, branch: Term) -> Term {
        match self.node(branch) {
            Node::Ite { condition: inner, then, otherwise } if inner == condition => {
                if taken {
                    then
                } else {
                    otherwise
                }
            }
            _ => branch,
        }
    }

    fn constant_choice(&mut self, condition: Term, then: Value, otherwise: Value) -> Term {
        let width = then.width();
        match (then.bits(), otherwise.bits()) {
            (1, 0) => self.zext(condition, width),
            (0, 1) => {
                let negated = self.not(condition);
                self.zext(negated, width)
            }
            (ones, 0) if ones == value::mask(width) => self.sext(condition, width),
            (0, ones) if ones == value::mask(width) => {
                let negated = self.not(condition);
                self.sext(negated, width)
            }
            _ => {
                let (then, otherwise) =
                    (self.intern(Node::Constant(then)), self.intern(Node::Constant(otherwise)));
                self.intern(Node::Ite { condition, then, otherwise })
            }
        }
    }

    /// A choice between truth values, one of them known, is a conjunction or disjunction.
    fn bool_choice(
        &mut self,
        condition: Term,
        then: Term,
        then_value: Option<Value>,
        otherwise: Term,
        otherwise_value: Option<Value>,
    ) -> Term {
        match (then_value.map(Value::bits), otherwise_value.map(Value::bits)) {
            (Some(0), _) => {
                let negated = self.not(condition);
                self.and(negated, otherwise)
            }
            (Some(_), _) => self.or(condition, otherwise),
            (None, Some(0)) => self.and(condition, then),
            (None, Some(_)) => {
                let negated = self.not(condition);
                self.or(negated, then)
            }
            (None, None) => self.intern(Node::Ite { condition, then, otherwise }),
        }
    }
}
