//! Constructors of comparisons. Constants narrow them: `(int)byte < 300` is true, `(int)byte == 65` is `byte == 65`.

use crate::term::{BinaryOp, Extension, Term, TermStore, UnaryOp, value};

impl TermStore {
    /// Equality.
    pub fn eq(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("eq", left, right);
        if left == right {
            return self.bool(true);
        }
        let (left, right) = self.constant_right(left, right);
        match self.bits_of(right) {
            Some(bits) => self.eq_constant(width, left, right, bits),
            None => self.eq_unknowns(width, left, right),
        }
    }

    /// Inequality.
    pub fn ne(&mut self, left: Term, right: Term) -> Term {
        let equal = self.eq(left, right);
        self.not(equal)
    }

    /// Unsigned `left < right`.
    pub fn ult(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("ult", left, right);
        if let Some(decided) = self.decide_strict(BinaryOp::Ult, left, right) {
            return decided;
        }
        if width == 1 {
            let negated = self.not(left);
            return self.and(negated, right);
        }
        match (self.bits_of(left), self.bits_of(right)) {
            (_, Some(0)) => return self.bool(false),
            (_, Some(1)) => return self.eq_zero(left),
            (Some(0), _) => {
                let is_zero = self.eq_zero(right);
                return self.not(is_zero);
            }
            (Some(bits), _) if bits == value::mask(width) => return self.bool(false),
            (_, Some(bits)) if bits == value::mask(width) => return self.ne(left, right),
            _ => {}
        }
        self.ult_extended(left, right).unwrap_or_else(|| self.raw_binary(BinaryOp::Ult, left, right))
    }

    /// Unsigned `left <= right`.
    pub fn ule(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("ule", left, right);
        if left == right {
            return self.bool(true);
        }
        // With a constant on either side, the strict form is the only one.
        if let Some(bits) = self.bits_of(right) {
            if bits == value::mask(width) {
                return self.bool(true);
            }
            let above = self.constant(width, bits + 1);
            return self.ult(left, above);
        }
        if let Some(bits) = self.bits_of(left) {
            if bits == 0 {
                return self.bool(true);
            }
            let below = self.constant(width, bits - 1);
            return self.ult(below, right);
        }
        if width == 1 {
            let negated = self.not(left);
            return self.or(negated, right);
        }
        match self.common_extension(left, right) {
            Some((_, left, right)) => self.ule(left, right),
            None => self.raw_binary(BinaryOp::Ule, left, right),
        }
    }

    /// Signed `left < right`.
    pub fn slt(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("slt", left, right);
        if let Some(decided) = self.decide_strict(BinaryOp::Slt, left, right) {
            return decided;
        }
        if width == 1 {
            let negated = self.not(right);
            return self.and(left, negated);
        }
        if self.is_non_negative(left) && self.is_non_negative(right) {
            return self.ult(left, right);
        }
        let (least, greatest) = (value::sign_bit(width), value::sign_bit(width) - 1);
        match (self.bits_of(left), self.bits_of(right)) {
            (_, Some(bits)) if bits == least => return self.bool(false),
            (Some(bits), _) if bits == greatest => return self.bool(false),
            (_, Some(bits)) if bits == greatest => return self.ne(left, right),
            (Some(bits), _) if bits == least => return self.ne(left, right),
            // What is never negative lies above every negative constant.
            (Some(_), None) if self.is_non_negative(right) => return self.bool(true),
            (None, Some(_)) if self.is_non_negative(left) => return self.bool(false),
            _ => {}
        }
        self.slt_extended(left, right).unwrap_or_else(|| self.raw_binary(BinaryOp::Slt, left, right))
    }

    /// Signed `left <= right`.
    pub fn sle(&mut self, left: Term, right: Term) -> Term {
        let width = self.same_width("sle", left, right);
        if left == right {
            return self.bool(true);
        }
        let (least, greatest) = (value::sign_bit(width), value::sign_bit(width) - 1);
        if let Some(bits) = self.bits_of(right) {
            if bits == greatest {
                return self.bool(true);
            }
            let above = self.constant(width, bits.wrapping_add(1));
            return self.slt(left, above);
        }
        if let Some(bits) = self.bits_of(left) {
            if bits == least {
                return self.bool(true);
            }
            let below = self.constant(width, bits.wrapping_sub(1));
            return self.slt(below, right);
        }
        if width == 1 {
            let negated = self.not(right);
            return self.or(left, negated);
        }
        if self.is_non_negative(left) && self.is_non_negative(right) {
            return self.ule(left, right);
        }
        match self.common_extension(left, right) {
            Some((Extension::Sign, left, right)) => self.sle(left, right),
            Some((Extension::Zero, left, right)) => self.ule(left, right),
            None => self.raw_binary(BinaryOp::Sle, left, right),
        }
    }

    /// Unsigned `left > right`.
    pub fn ugt(&mut self, left: Term, right: Term) -> Term {
        self.ult(right, left)
    }

    /// Unsigned `left >= right`.
    pub fn uge(&mut self, left: Term, right: Term) -> Term {
        self.ule(right, left)
    }

    /// Signed `left > right`.
    pub fn sgt(&mut self, left: Term, right: Term) -> Term {
        self.slt(right, left)
    }

    /// Signed `left >= right`.
    pub fn sge(&mut self, left: Term, right: Term) -> Term {
        self.sle(right, left)
    }

    fn eq_zero(&mut self, term: Term) -> Term {
        let zero = self.zero(self.width(term));
        self.eq(term, zero)
    }

    fn eq_bits(&mut self, term: Term, bits: u128) -> Term {
        let constant = self.constant(self.width(term), bits);
        self.eq(term, constant)
    }

    fn eq_constant(&mut self, width: u32, left: Term, right: Term, bits: u128) -> Term {
        if let Some(left_bits) = self.bits_of(left) {
            return self.bool(left_bits == bits);
        }
        if width == 1 {
            return if bits == 1 { left } else { self.not(left) };
        }
        let (left, right, bits) = self.solve_for_operand(width, left, right, bits);
        if let Some((a, b)) = self.as_zero_test_of_difference(left, bits) {
            return self.eq(a, b);
        }
        match self.eq_narrowed(width, left, bits).or_else(|| self.eq_masked(left, bits)) {
            Some(simpler) => simpler,
            None => self.raw_binary(BinaryOp::Eq, left, right),
        }
    }

    /// `f(x) == bits` as an equation of `x`, as long as `f` can be undone. A loop: such chains may be deep.
    fn solve_for_operand(&mut self, width: u32, left: Term, right: Term, bits: u128) -> (Term, Term, u128) {
        let (mut term, mut solved) = (left, bits);
        loop {
            (term, solved) = if let Some(inner) = self.as_unary(UnaryOp::Not, term) {
                (inner, !solved)
            } else if let Some(inner) = self.as_unary(UnaryOp::Neg, term) {
                (inner, solved.wrapping_neg())
            } else if let Some((inner, mask)) = self.as_binary_constant(BinaryOp::Xor, term) {
                (inner, solved ^ mask)
            } else if let Some((inner, addend)) = self.as_binary_constant(BinaryOp::Add, term) {
                (inner, solved.wrapping_sub(addend))
            } else {
                break;
            }
        }
        if term == left {
            return (left, right, bits);
        }
        (term, self.constant(width, solved), solved & value::mask(width))
    }

    /// `a` and `b` of `a - b == 0` and `a ^ b == 0`.
    fn as_zero_test_of_difference(&self, left: Term, bits: u128) -> Option<(Term, Term)> {
        if bits != 0 {
            return None;
        }
        if let Some(operands) = self.as_binary(BinaryOp::Xor, left) {
            return Some(operands);
        }
        let (a, b) = self.as_binary(BinaryOp::Add, left)?;
        if let Some(subtrahend) = self.as_unary(UnaryOp::Neg, b) {
            return Some((a, subtrahend));
        }
        self.as_unary(UnaryOp::Neg, a).map(|subtrahend| (subtrahend, b))
    }

    /// An extension or concatenation equals a constant when its parts do.
    fn eq_narrowed(&mut self, width: u32, left: Term, bits: u128) -> Option<Term> {
        if let Some(narrow) = self.as_extend(Extension::Zero, left) {
            let fits = bits <= value::mask(self.width(narrow));
            return Some(if fits { self.eq_bits(narrow, bits) } else { self.bool(false) });
        }
        if let Some(narrow) = self.as_extend(Extension::Sign, left) {
            let narrow_width = self.width(narrow);
            let low = bits & value::mask(narrow_width);
            let fits = value::extend(Extension::Sign, narrow_width, width, low) == bits;
            return Some(if fits { self.eq_bits(narrow, bits) } else { self.bool(false) });
        }
        let (high, low) = self.as_binary(BinaryOp::Concat, left)?;
        let high_equal = self.eq_bits(high, bits >> self.width(low));
        let low_equal = self.eq_bits(low, bits);
        Some(self.and(high_equal, low_equal))
    }

    /// Choices between constants, bit tests, and masks that exclude the constant.
    fn eq_masked(&mut self, left: Term, bits: u128) -> Option<Term> {
        if let Some((condition, then, otherwise)) = self.as_constant_choice(left) {
            return Some(match (then == bits, otherwise == bits) {
                (true, _) => condition,
                (false, true) => self.not(condition),
                (false, false) => self.bool(false),
            });
        }
        if let Some((term, mask)) = self.as_binary_constant(BinaryOp::And, left) {
            if bits & !mask != 0 {
                return Some(self.bool(false));
            }
            if mask.is_power_of_two() {
                let bit = self.extract(term, mask.trailing_zeros(), mask.trailing_zeros());
                return Some(if bits == 0 { self.not(bit) } else { bit });
            }
        }
        let (_, set) = self.as_binary_constant(BinaryOp::Or, left)?;
        (set & !bits != 0).then(|| self.bool(false))
    }

    fn eq_unknowns(&mut self, width: u32, left: Term, right: Term) -> Term {
        let (left, right) = self.without_common_inversions(left, right);
        if left == right {
            return self.bool(true);
        }
        match (self.as_unary(UnaryOp::Not, left), self.as_unary(UnaryOp::Not, right)) {
            (Some(inner), _) if inner == right => return self.bool(false),
            (_, Some(inner)) if inner == left => return self.bool(false),
            (Some(left), None) if width == 1 => {
                let equal = self.eq(left, right);
                return self.not(equal);
            }
            (None, Some(right)) if width == 1 => {
                let equal = self.eq(left, right);
                return self.not(equal);
            }
            _ => {}
        }
        if let Some((_, left, right)) = self.common_extension(left, right) {
            return self.eq(left, right);
        }
        let ((left_unknown, left_constant), (right_unknown, right_constant)) =
            (self.split_sum(left), self.split_sum(right));
        if left_unknown == right_unknown {
            return self.bool(left_constant == right_constant);
        }
        if let (Some((left_high, left_low)), Some((right_high, right_low))) =
            (self.as_binary(BinaryOp::Concat, left), self.as_binary(BinaryOp::Concat, right))
            && self.width(left_low) == self.width(right_low)
        {
            let high_equal = self.eq(left_high, right_high);
            let low_equal = self.eq(left_low, right_low);
            return self.and(high_equal, low_equal);
        }
        self.raw_binary(BinaryOp::Eq, left, right)
    }

    /// Drops `not` and `neg` from both sides while both have them. A loop: such chains may be deep.
    fn without_common_inversions(&self, mut left: Term, mut right: Term) -> (Term, Term) {
        'strip: loop {
            for op in [UnaryOp::Not, UnaryOp::Neg] {
                if let (Some(inner_left), Some(inner_right)) =
                    (self.as_unary(op, left), self.as_unary(op, right))
                {
                    (left, right) = (inner_left, inner_right);
                    continue 'strip;
                }
            }
            return (left, right);
        }
    }

    fn decide_strict(&mut self, op: BinaryOp, left: Term, right: Term) -> Option<Term> {
        if left == right {
            return Some(self.bool(false));
        }
        self.fold_binary(op, left, right)
    }

    /// Both operands before the same kind of extension, brought to the wider of their widths.
    /// Extensions of one kind keep both orders, but signed order of zero extensions is the unsigned one below.
    fn common_extension(&mut self, left: Term, right: Term) -> Option<(Extension, Term, Term)> {
        for extension in [Extension::Zero, Extension::Sign] {
            if let (Some(left), Some(right)) =
                (self.as_extend(extension, left), self.as_extend(extension, right))
            {
                let width = self.width(left).max(self.width(right));
                return Some(match extension {
                    Extension::Zero => (extension, self.zext(left, width), self.zext(right, width)),
                    Extension::Sign => (extension, self.sext(left, width), self.sext(right, width)),
                });
            }
        }
        None
    }

    fn ult_extended(&mut self, left: Term, right: Term) -> Option<Term> {
        if let Some((_, left, right)) = self.common_extension(left, right) {
            return Some(self.ult(left, right));
        }
        if let (Some(narrow), Some(bits)) = (self.as_extend(Extension::Zero, left), self.bits_of(right)) {
            return Some(if bits > value::mask(self.width(narrow)) {
                self.bool(true)
            } else {
                let bound = self.constant(self.width(narrow), bits);
                self.ult(narrow, bound)
            });
        }
        if let (Some(bits), Some(narrow)) = (self.bits_of(left), self.as_extend(Extension::Zero, right)) {
            return Some(if bits >= value::mask(self.width(narrow)) {
                self.bool(false)
            } else {
                let bound = self.constant(self.width(narrow), bits);
                self.ult(bound, narrow)
            });
        }
        None
    }

    fn slt_extended(&mut self, left: Term, right: Term) -> Option<Term> {
        if let Some((extension, left, right)) = self.common_extension(left, right) {
            return Some(match extension {
                Extension::Zero => self.ult(left, right),
                Extension::Sign => self.slt(left, right),
            });
        }
        if let (Some(narrow), Some(bound)) = (self.as_extend(Extension::Sign, left), self.constant_of(right))
        {
            let narrow_width = self.width(narrow);
            let greatest = value::to_signed(narrow_width, value::sign_bit(narrow_width) - 1);
            return Some(if bound.signed() > greatest {
                self.bool(true)
            } else if bound.signed() < -greatest {
                self.bool(false)
            } else {
                let bound = self.constant(narrow_width, bound.bits());
                self.slt(narrow, bound)
            });
        }
        if let (Some(bound), Some(narrow)) = (self.constant_of(left), self.as_extend(Extension::Sign, right))
        {
            let narrow_width = self.width(narrow);
            let greatest = value::to_signed(narrow_width, value::sign_bit(narrow_width) - 1);
            return Some(if bound.signed() >= greatest {
                self.bool(false)
            } else if bound.signed() < -greatest - 1 {
                self.bool(true)
            } else {
                let bound = self.constant(narrow_width, bound.bits());
                self.slt(bound, narrow)
            });
        }
        None
    }
}
