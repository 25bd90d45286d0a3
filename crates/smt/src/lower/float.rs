//! Floating-point numbers in the form that solvers understand.
//!
//! Method: operators become those of SMT-LIB's theory of floating-point numbers. Three have no counterpart there:
//! - The bits of a computed number: a bit-vector constrained to be that number and, for a NaN, to be the default one. This
//!   is exact, and needed only where a program looks at the bits.
//! - Conversion to an integer: `fp.to_sbv` where it is defined, x86's result elsewhere.
//! - C's `fmod`, by quotients below 2^53 (2^24 for single precision), where it is exact. Beyond that the solver may choose;
//!   its choice is checked when its model is evaluated. `fp.rem` rounds its quotient differently, and its circuits have a
//!   stage for every exponent.

use super::{Lowering, Slot, Sort, Step, Wants};
use crate::term::{
    BinaryOp, Extension, FloatBinaryOp, FloatUnaryOp, Format, Node, Rounding, Term, Value, value,
};

/// Steps about numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatStep {
    /// The number with these bits.
    FromBits(Format, Slot),
    /// The bits of a number: a constant of its own, tied to the number by assertions of the solver's.
    Bits(Slot),
    /// Any number.
    Any(Format),
    Negated(Slot),
    Absolute(Slot),
    Sqrt(Slot),
    Round(Rounding, Slot),
    Convert(Format, Slot),
    FromSigned(Format, Slot),
    FromUnsigned(Format, Slot),
    /// The integer of so many bits, cut towards zero; anything where there is none.
    ToSigned(u32, Slot),
    /// Sum, difference, product or quotient.
    Arithmetic(FloatBinaryOp, Slot, Slot),
    Fused(Slot, Slot, Slot),
    /// A comparison, giving Bool.
    Compare(FloatBinaryOp, Slot, Slot),
    IsNan(Slot),
    IsNegative(Slot),
}

impl Lowering<'_> {
    /// What has to exist before something about numbers can be produced; `None` for everything else.
    pub(super) fn wants_float(&self, term: Term, sort: Sort, node: &Node) -> Option<Wants> {
        let number = |term: Term| Some((term, Sort::Float(self.store.format(term))));
        let bits = |term: Term| Some((term, Sort::BitVector));
        let natural = self.natural_sort(term, node);
        if natural.is_some_and(|natural| natural != sort) {
            return Some([natural.map(|natural| (term, natural)), None, None]);
        }
        Some(match *node {
            Node::FloatUnary(FloatUnaryOp::FromSigned(_) | FloatUnaryOp::FromUnsigned(_), operand) => {
                [bits(operand), None, None]
            }
            Node::FloatUnary(_, operand) => [number(operand), None, None],
            Node::FloatBinary(_, left, right) => [number(left), number(right), None],
            Node::FloatFused(a, b, c) => [number(a), number(b), number(c)],
            Node::Constant(_)
            | Node::Variable(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Extract { .. }
            | Node::Extend { .. }
            | Node::Ite { .. } => match sort {
                Sort::Bool | Sort::BitVector => return None,
                Sort::Float(_) => match self.view(node) {
                    View::Same(operand) | View::Negated(operand) | View::Absolute(operand) => {
                        [number(operand), None, None]
                    }
                    View::Choice(condition, then, otherwise) => {
                        [Some((condition, Sort::Bool)), number(then), number(otherwise)]
                    }
                    View::Bits => [bits(term), None, None],
                },
            },
        })
    }

    /// Produces something about numbers; `None` for everything else.
    pub(super) fn produce_float(
        &mut self,
        sort: Sort,
        node: &Node,
        slots: [Option<Slot>; 3],
    ) -> Option<Slot> {
        let slot = |position: usize| slots[position].expect("the node has this operand");
        let step = match *node {
            Node::FloatUnary(op, operand) => {
                let operand_width = self.store.width(operand);
                return Some(self.produce_unary(op, operand_width, slot(0)));
            }
            Node::FloatBinary(FloatBinaryOp::Rem, left, _) => {
                let format = self.store.format(left);
                return Some(self.remainder(format, slot(0), slot(1)));
            }
            Node::FloatBinary(op, ..) if op.is_predicate() => FloatStep::Compare(op, slot(0), slot(1)),
            Node::FloatBinary(op, ..) => FloatStep::Arithmetic(op, slot(0), slot(1)),
            Node::FloatFused(..) => FloatStep::Fused(slot(0), slot(1), slot(2)),
            Node::Constant(_)
            | Node::Variable(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Extract { .. }
            | Node::Extend { .. }
            | Node::Ite { .. } => match sort {
                Sort::Bool | Sort::BitVector => return None,
                Sort::Float(_) => match self.view(node) {
                    View::Same(_) => return Some(slot(0)),
                    View::Negated(_) => FloatStep::Negated(slot(0)),
                    View::Absolute(_) => FloatStep::Absolute(slot(0)),
                    View::Choice(..) | View::Bits => return None,
                },
            },
        };
        Some(self.push_float(step))
    }

    fn produce_unary(&mut self, op: FloatUnaryOp, operand_width: u32, operand: Slot) -> Slot {
        let step = match op {
            FloatUnaryOp::IsNan => FloatStep::IsNan(operand),
            FloatUnaryOp::Sqrt => FloatStep::Sqrt(operand),
            FloatUnaryOp::Round(rounding) => FloatStep::Round(rounding, operand),
            FloatUnaryOp::Convert(format) if format.width() == operand_width => return operand,
            FloatUnaryOp::Convert(format) => FloatStep::Convert(format, operand),
            FloatUnaryOp::FromSigned(format) => FloatStep::FromSigned(format, operand),
            FloatUnaryOp::FromUnsigned(format) => FloatStep::FromUnsigned(format, operand),
            FloatUnaryOp::ToSigned(width) => return self.integer_of(width, operand),
        };
        self.push_float(step)
    }

    /// The sort in which a node of floating-point arithmetic comes about.
    fn natural_sort(&self, term: Term, node: &Node) -> Option<Sort> {
        match *node {
            Node::FloatUnary(FloatUnaryOp::IsNan, _) => Some(Sort::Bool),
            Node::FloatUnary(FloatUnaryOp::ToSigned(_), _) => Some(Sort::BitVector),
            Node::FloatBinary(op, ..) if op.is_predicate() => Some(Sort::Bool),
            Node::FloatUnary(..) | Node::FloatBinary(..) | Node::FloatFused(..) => {
                Some(Sort::Float(self.store.format(term)))
            }
            Node::Constant(_)
            | Node::Variable(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Extract { .. }
            | Node::Extend { .. }
            | Node::Ite { .. } => None,
        }
    }

    /// What a term on bits means for the number.
    fn view(&self, node: &Node) -> View {
        let store = self.store;
        let is_nan = |term| match store.constant_of(term) {
            Some(value) => store.format(term).number(value.bits()).is_nan(),
            None => false,
        };
        match *node {
            // a NaN with other bits is the same number
            Node::Ite { condition, then, otherwise }
                if store.node(condition) == Node::FloatUnary(FloatUnaryOp::IsNan, otherwise)
                    && is_nan(then) =>
            {
                View::Same(otherwise)
            }
            Node::Ite { condition, then, otherwise } => View::Choice(condition, then, otherwise),
            Node::Binary(BinaryOp::Xor, operand, mask) => match store.constant_of(mask) {
                Some(mask) if mask.bits() == value::sign_bit(mask.width()) => View::Negated(operand),
                Some(_) | None => View::Bits,
            },
            Node::Extend { extension: Extension::Zero, operand, width } => match store.node(operand) {
                Node::Extract { operand: whole, high, low: 0 }
                    if high + 2 == width && store.width(whole) == width =>
                {
                    View::Absolute(whole)
                }
                _ => View::Bits,
            },
            Node::Constant(_)
            | Node::Variable(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Extract { .. }
            | Node::Extend { .. }
            | Node::FloatUnary(..)
            | Node::FloatBinary(..)
            | Node::FloatFused(..) => View::Bits,
        }
    }

    /// `fp.to_sbv` where there is such an integer, else the least one.
    fn integer_of(&mut self, width: u32, operand: Slot) -> Slot {
        let Sort::Float(format) = self.lowered.sorts[operand.index()] else {
            unreachable!("the operand was wanted as a number")
        };
        let bound = (1_u128 << (width - 1)) as f64;
        let upper = self.number(format, bound);
        // what lies between the least integer and the one below is cut to the least, if the format has such numbers
        let (lower, compare) = if format == Format::Double && width == 32 {
            (-bound - 1.0, FloatBinaryOp::Lt)
        } else {
            (-bound, FloatBinaryOp::Le)
        };
        let lower = self.number(format, lower);
        let above = self.push_float(FloatStep::Compare(compare, lower, operand));
        let below = self.push_float(FloatStep::Compare(FloatBinaryOp::Lt, operand, upper));
        let fits = self.push(Step::BoolAnd(above, below), Sort::Bool, 1);
        let integer = self.push_float(FloatStep::ToSigned(width, operand));
        let least = Step::BitVector(Value::new(width, value::sign_bit(width)));
        let least = self.push(least, Sort::BitVector, width);
        self.push(Step::Ite(fits, integer, least), Sort::BitVector, width)
    }

    /// C's `fmod(x, y)`.
    fn remainder(&mut self, format: Format, x: Slot, y: Slot) -> Slot {
        use FloatBinaryOp::{Add, Div, Lt};
        let sort = Sort::Float(format);
        let (zero, infinity) = (self.number(format, 0.0), self.number(format, f64::INFINITY));
        let nan = self.number(format, f64::NAN);
        let most = self.number(format, (1_u64 << format.significand_bits()) as f64);
        let (dividend, divisor) =
            (self.push_float(FloatStep::Absolute(x)), self.push_float(FloatStep::Absolute(y)));
        let quotient = self.push_float(FloatStep::Arithmetic(Div, dividend, divisor));
        let whole = self.push_float(FloatStep::Round(Rounding::ToZero, quotient));
        let negated = self.push_float(FloatStep::Negated(whole));
        // exact: the difference is a multiple of the operands' last digits and not larger than the divisor
        let rest = self.push_float(FloatStep::Fused(negated, divisor, dividend));
        let raised = self.push_float(FloatStep::Arithmetic(Add, rest, divisor));
        let too_large = self.push_float(FloatStep::Compare(Lt, rest, zero)); // the quotient was rounded up
        let rest = self.push(Step::Ite(too_large, raised, rest), sort, format.width());
        let is_small = self.push_float(FloatStep::Compare(Lt, whole, most));
        let any = self.push_float(FloatStep::Any(format));
        let rest = self.push(Step::Ite(is_small, rest, any), sort, format.width());
        let is_rest = self.push_float(FloatStep::Compare(Lt, dividend, divisor));
        let rest = self.push(Step::Ite(is_rest, dividend, rest), sort, format.width());
        let is_finite = self.push_float(FloatStep::Compare(Lt, dividend, infinity));
        let divides = self.push_float(FloatStep::Compare(Lt, zero, divisor));
        let is_valid = self.push(Step::BoolAnd(is_finite, divides), Sort::Bool, 1);
        let rest = self.push(Step::Ite(is_valid, rest, nan), sort, format.width());
        let negated = self.push_float(FloatStep::Negated(rest));
        let is_negative = self.push_float(FloatStep::IsNegative(x));
        self.push(Step::Ite(is_negative, negated, rest), sort, format.width())
    }

    fn number(&mut self, format: Format, number: f64) -> Slot {
        let bits = Value::new(format.width(), format.bits(number));
        let bits = self.push(Step::BitVector(bits), Sort::BitVector, format.width());
        self.push_float(FloatStep::FromBits(format, bits))
    }

    /// Adds a step whose sort follows from itself and its operands.
    pub(super) fn push_float(&mut self, step: FloatStep) -> Slot {
        let sort = match step {
            FloatStep::FromBits(format, _)
            | FloatStep::Any(format)
            | FloatStep::Convert(format, _)
            | FloatStep::FromSigned(format, _)
            | FloatStep::FromUnsigned(format, _) => Sort::Float(format),
            FloatStep::Negated(operand)
            | FloatStep::Absolute(operand)
            | FloatStep::Sqrt(operand)
            | FloatStep::Round(_, operand)
            | FloatStep::Arithmetic(_, operand, _)
            | FloatStep::Fused(operand, ..) => self.lowered.sorts[operand.index()],
            FloatStep::Compare(..) | FloatStep::IsNan(_) | FloatStep::IsNegative(_) => Sort::Bool,
            FloatStep::Bits(_) | FloatStep::ToSigned(..) => Sort::BitVector,
        };
        let width = match (sort, step) {
            (Sort::Float(format), _) => format.width(),
            (_, FloatStep::ToSigned(width, _)) => width,
            (_, FloatStep::Bits(number)) => self.lowered.widths[number.index()],
            (_, _) => 1,
        };
        self.push(Step::Float(step), sort, width)
    }
}

/// What a term on bits means for the number that they are.
enum View {
    /// The number of another term.
    Same(Term),
    Negated(Term),
    Absolute(Term),
    Choice(Term, Term, Term),
    /// Nothing simpler than the bits.
    Bits,
}
