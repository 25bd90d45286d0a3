//! What the operators of floating-point arithmetic compute, on bit patterns of IEEE 754's single and double precision.
//!
//! Method: the machine's own operations, each rounded once to nearest (ties to even) unless the operator says otherwise. A
//! NaN that an operator produces is always [`Format::default_nan`], whatever its operands were. Where C leaves a conversion
//! to an integer undefined, the result is x86's.

/// A format of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// 32 bits: C's `float`.
    Single,
    /// 64 bits: C's `double`.
    Double,
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatUnaryOp {
    /// Whether a number is a NaN; of width 1.
    IsNan,
    /// Square root.
    Sqrt,
    /// The nearest whole number in a direction.
    Round(Rounding),
    /// The same number in another format.
    Convert(Format),
    /// The number that a two's complement integer of any width is.
    FromSigned(Format),
    /// The number that an unsigned integer of any width is.
    FromUnsigned(Format),
    /// The integer of 32 or 64 bits, cut towards zero; the least one for what has none, as x86's `cvttsd2si` does.
    ToSigned(u32),
}

/// Operators with two operands of one format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatBinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// C's `fmod`: what is left when the quotient is cut towards zero.
    Rem,
    /// Whether the numbers are equal; zeros are, NaNs never.
    Eq,
    /// Whether the first is less.
    Lt,
    /// Whether the first is less or equal.
    Le,
}

/// Which whole number is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `rint`: the nearer one, the even one of two.
    ToEven,
    /// `round`: the nearer one, of two the one away from zero.
    Away,
    /// `ceil`.
    Up,
    /// `floor`.
    Down,
    /// `trunc`.
    ToZero,
}

impl Format {
    /// The format of so many bits.
    pub fn of_width(width: u32) -> Option<Format> {
        match width {
            32 => Some(Format::Single),
            64 => Some(Format::Double),
            _ => None,
        }
    }

    /// Bits of a number.
    pub fn width(self) -> u32 {
        match self {
            Format::Single => 32,
            Format::Double => 64,
        }
    }

    /// Bits of the exponent.
    pub fn exponent_bits(self) -> u32 {
        match self {
            Format::Single => 8,
            Format::Double => 11,
        }
    }

    /// Bits of the significand, with the one that is not stored.
    pub fn significand_bits(self) -> u32 {
        self.width() - self.exponent_bits()
    }

    /// The NaN that operators make: the one that x86 makes where there was none before.
    pub fn default_nan(self) -> u128 {
        match self {
            Format::Single => 0xffc0_0000,
            Format::Double => 0xfff8_0000_0000_0000,
        }
    }

    /// The bits of infinity.
    pub fn infinity(self) -> u128 {
        match self {
            Format::Single => f32::INFINITY.to_bits().into(),
            Format::Double => f64::INFINITY.to_bits().into(),
        }
    }

    /// The bits of a number, rounded to the format.
    pub fn bits(self, number: f64) -> u128 {
        if number.is_nan() {
            return self.default_nan();
        }
        match self {
            Format::Single => (number as f32).to_bits().into(),
            Format::Double => number.to_bits().into(),
        }
    }

    /// The number, which a double holds exactly.
    pub fn number(self, bits: u128) -> f64 {
        match self {
            Format::Single => f32::from_bits(bits as u32).into(),
            Format::Double => f64::from_bits(bits as u64),
        }
    }
}

impl FloatUnaryOp {
    /// Width of the result for an operand of `operand_width` bits.
    pub fn result_width(self, operand_width: u32) -> u32 {
        match self {
            FloatUnaryOp::IsNan => 1,
            FloatUnaryOp::Sqrt | FloatUnaryOp::Round(_) => operand_width,
            FloatUnaryOp::Convert(format)
            | FloatUnaryOp::FromSigned(format)
            | FloatUnaryOp::FromUnsigned(format) => format.width(),
            FloatUnaryOp::ToSigned(width) => width,
        }
    }

    /// Whether an operand of `width` bits is one that the operator takes.
    pub fn takes(self, width: u32) -> bool {
        match self {
            FloatUnaryOp::FromSigned(_) | FloatUnaryOp::FromUnsigned(_) => width <= 64,
            FloatUnaryOp::ToSigned(to) => matches!(to, 32 | 64) && Format::of_width(width).is_some(),
            FloatUnaryOp::IsNan | FloatUnaryOp::Sqrt | FloatUnaryOp::Round(_) | FloatUnaryOp::Convert(_) => {
                Format::of_width(width).is_some()
            }
        }
    }
}

impl FloatBinaryOp {
    /// Whether the operands may change places.
    pub fn is_commutative(self) -> bool {
        match self {
            FloatBinaryOp::Add | FloatBinaryOp::Mul | FloatBinaryOp::Eq => true,
            FloatBinaryOp::Sub
            | FloatBinaryOp::Div
            | FloatBinaryOp::Rem
            | FloatBinaryOp::Lt
            | FloatBinaryOp::Le => false,
        }
    }

    /// Whether the result is a truth value of width 1.
    pub fn is_predicate(self) -> bool {
        matches!(self, FloatBinaryOp::Eq | FloatBinaryOp::Lt | FloatBinaryOp::Le)
    }
}

/// Rounded to a whole number; a macro because the two formats share no trait.
macro_rules! rounded {
    ($number:expr, $rounding:expr) => {
        match $rounding {
            Rounding::ToEven => $number.round_ties_even(),
            Rounding::Away => $number.round(),
            Rounding::Up => $number.ceil(),
            Rounding::Down => $number.floor(),
            Rounding::ToZero => $number.trunc(),
        }
    };
}

macro_rules! computed {
    ($op:expr, $left:expr, $right:expr) => {
        match $op {
            FloatBinaryOp::Add => Ok($left + $right),
            FloatBinaryOp::Sub => Ok($left - $right),
            FloatBinaryOp::Mul => Ok($left * $right),
            FloatBinaryOp::Div => Ok($left / $right),
            FloatBinaryOp::Rem => Ok($left % $right),
            FloatBinaryOp::Eq => Err($left == $right),
            FloatBinaryOp::Lt => Err($left < $right),
            FloatBinaryOp::Le => Err($left <= $right),
        }
    };
}

/// The result of a unary operator on an operand of `width` bits.
///
/// # Panics
/// When the operator does not take operands of this width.
pub fn unary(op: FloatUnaryOp, width: u32, operand: u128) -> u128 {
    assert!(op.takes(width), "{op:?} takes no operand of {width} bits");
    let format = || Format::of_width(width).expect("the width was just checked");
    match op {
        FloatUnaryOp::FromSigned(to) => from_integer(to, super::value::to_signed(width, operand)),
        FloatUnaryOp::FromUnsigned(to) => from_integer(to, operand as i128),
        FloatUnaryOp::IsNan => u128::from(format().number(operand).is_nan()),
        FloatUnaryOp::Convert(to) => to.bits(format().number(operand)),
        FloatUnaryOp::ToSigned(to) => to_integer(to, format().number(operand)),
        FloatUnaryOp::Sqrt => match format() {
            Format::Single => single(f32::from_bits(operand as u32).sqrt()),
            Format::Double => double(f64::from_bits(operand as u64).sqrt()),
        },
        FloatUnaryOp::Round(rounding) => match format() {
            Format::Single => single(rounded!(f32::from_bits(operand as u32), rounding)),
            Format::Double => double(rounded!(f64::from_bits(operand as u64), rounding)),
        },
    }
}

/// The result of a binary operator on numbers of one format.
pub fn binary(op: FloatBinaryOp, format: Format, left: u128, right: u128) -> u128 {
    let result = match format {
        Format::Single => {
            computed!(op, f32::from_bits(left as u32), f32::from_bits(right as u32)).map(single)
        }
        Format::Double => {
            computed!(op, f64::from_bits(left as u64), f64::from_bits(right as u64)).map(double)
        }
    };
    result.unwrap_or_else(u128::from)
}

/// `a * b + c`, rounded once.
pub fn fused(format: Format, a: u128, b: u128, c: u128) -> u128 {
    match format {
        Format::Single => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            single(a.mul_add(b, c))
        }
        Format::Double => {
            let [a, b, c] = [a, b, c].map(|bits| f64::from_bits(bits as u64));
            double(a.mul_add(b, c))
        }
    }
}

fn single(number: f32) -> u128 {
    if number.is_nan() { Format::Single.default_nan() } else { number.to_bits().into() }
}

fn double(number: f64) -> u128 {
    if number.is_nan() { Format::Double.default_nan() } else { number.to_bits().into() }
}

/// Rust's conversion rounds to nearest, ties to even; there is no way through another format.
fn from_integer(to: Format, integer: i128) -> u128 {
    match to {
        Format::Single => single(integer as f32),
        Format::Double => double(integer as f64),
    }
}

fn to_integer(width: u32, number: f64) -> u128 {
    let bound = (1_u128 << (width - 1)) as f64; // a power of two: exact
    let cut = number.trunc();
    let fits = cut >= -bound && cut < bound; // false for a NaN
    let integer = if fits { cut as i128 } else { -(1_i128 << (width - 1)) };
    integer as u128 & super::value::mask(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nan_made_is_the_default_one() {
        let format = Format::Double;
        let signalling = 0x7ff0_0000_0000_0001;
        assert_eq!(binary(FloatBinaryOp::Add, format, signalling, 0), format.default_nan());
        assert_eq!(binary(FloatBinaryOp::Div, format, 0, 0), format.default_nan());
        assert_eq!(unary(FloatUnaryOp::Sqrt, 64, format.bits(-1.0)), format.default_nan());
        assert_eq!(unary(FloatUnaryOp::Convert(Format::Single), 64, signalling), 0xffc0_0000);
    }

    #[test]
    fn what_no_integer_can_hold_becomes_the_least_one() {
        let to = |width, number| unary(FloatUnaryOp::ToSigned(width), 64, Format::Double.bits(number));
        assert_eq!(to(32, -1.9), 0xffff_ffff);
        assert_eq!(to(32, -2_147_483_648.9), 0x8000_0000);
        assert_eq!(to(32, 2_147_483_647.9), 0x7fff_ffff);
        for number in [2_147_483_648.0, -2_147_483_649.0, f64::NAN, f64::INFINITY] {
            assert_eq!(to(32, number), 0x8000_0000);
        }
        assert_eq!(to(64, 9_223_372_036_854_775_808.0), 1 << 63);
        assert_eq!(to(64, -9_223_372_036_854_775_808.0), 1 << 63);
    }

    #[test]
    fn integers_are_rounded_once() {
        let single = |op, width, bits| unary(op, width, bits) as u32;
        // above the middle of two singles, but on it once rounded to a double
        let above = (1 << 60) + (1 << 36) + 1;
        let expected = f32::from_bits(((1_u64 << 60) as f32).to_bits() + 1);
        assert_eq!(single(FloatUnaryOp::FromUnsigned(Format::Single), 64, above), expected.to_bits());
        assert_eq!(single(FloatUnaryOp::FromSigned(Format::Single), 64, above), expected.to_bits());
        assert_eq!(f32::from_bits(single(FloatUnaryOp::FromSigned(Format::Single), 8, 0xff)), -1.0);
        assert_eq!(f32::from_bits(single(FloatUnaryOp::FromUnsigned(Format::Single), 8, 0xff)), 255.0);
    }
}
