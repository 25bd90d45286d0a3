//! Floating-point arithmetic on bits, by the machine's own operations.
//!
//! Widths that are no number's count as double precision: what does not fit is found when nodes become terms.

use wire::{FloatOp, FloatUnary, Rounding};

use super::signed;

const NAN_32: u32 = 0xffc0_0000;
const NAN_64: u64 = 0xfff8_0000_0000_0000;

/// A result's bits; of NaNs always those of the machine's default one.
trait Bits {
    fn bits(self) -> u64;
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        u64::from(if self.is_nan() { NAN_32 } else { self.to_bits() })
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        if self.is_nan() { NAN_64 } else { self.to_bits() }
    }
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The number of a width, widened.
pub(crate) fn number(width: u8, bits: u64) -> f64 {
    if width == 32 { f64::from(single(bits)) } else { f64::from_bits(bits) }
}

pub(super) fn unary(op: FloatUnary, width: u8, (from, a): (u8, u64)) -> u64 {
    let x = number(from, a);
    match op {
        FloatUnary::IsNan => u64::from(x.is_nan()),
        // widening, then one operation, then narrowing: exact but for the last rounding of a square root, which stays
        // correct because a double has more than twice the digits of a float
        FloatUnary::Sqrt => narrowed(width, x.sqrt()),
        FloatUnary::Round(rounding) => narrowed(
            width,
            match rounding {
                Rounding::ToEven => x.round_ties_even(),
                Rounding::Away => x.round(),
                Rounding::Up => x.ceil(),
                Rounding::Down => x.floor(),
                Rounding::ToZero => x.trunc(),
            },
        ),
        FloatUnary::Convert => narrowed(width, x),
        FloatUnary::FromSigned if width == 32 => (signed(from, a) as f32).bits(),
        FloatUnary::FromSigned => (signed(from, a) as f64).bits(),
        FloatUnary::FromUnsigned if width == 32 => (a as f32).bits(),
        FloatUnary::FromUnsigned => (a as f64).bits(),
        FloatUnary::ToSigned => to_signed(width, x),
    }
}

/// The cut integer; the least one for what has none.
fn to_signed(width: u8, x: f64) -> u64 {
    if width == 32 {
        let fits = x > -2_147_483_649.0 && x < 2_147_483_648.0;
        u64::from((if fits { x as i32 } else { i32::MIN }).cast_unsigned())
    } else {
        let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x);
        (if fits { x as i64 } else { i64::MIN }).cast_unsigned()
    }
}

fn narrowed(width: u8, x: f64) -> u64 {
    if width == 32 { (x as f32).bits() } else { x.bits() }
}

pub(super) fn binary(op: FloatOp, width: u8, a: u64, b: u64) -> u64 {
    let (x, y) = (number(width, a), number(width, b));
    match op {
        FloatOp::Add if width == 32 => (single(a) + single(b)).bits(),
        FloatOp::Sub if width == 32 => (single(a) - single(b)).bits(),
        FloatOp::Mul if width == 32 => (single(a) * single(b)).bits(),
        FloatOp::Div if width == 32 => (single(a) / single(b)).bits(),
        FloatOp::Rem if width == 32 => (single(a) % single(b)).bits(),
        FloatOp::Add => (x + y).bits(),
        FloatOp::Sub => (x - y).bits(),
        FloatOp::Mul => (x * y).bits(),
        FloatOp::Div => (x / y).bits(),
        FloatOp::Rem => (x % y).bits(),
        FloatOp::Eq => u64::from(x == y),
        FloatOp::Lt => u64::from(x < y),
        FloatOp::Le => u64::from(x <= y),
    }
}

pub(super) fn fused(width: u8, [a, b, c]: [u64; 3]) -> u64 {
    if width == 32 {
        single(a).mul_add(single(b), single(c)).bits()
    } else {
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).bits()
    }
}

/// How many numbers lie between two of them; far for a NaN.
pub(crate) fn ulps_between(width: u8, a: u64, b: u64) -> u64 {
    let (x, y) = (number(width, a), number(width, b));
    if x.is_nan() || y.is_nan() {
        return u64::MAX / 2;
    }
    let rank = |bits: u64| {
        let magnitude = i128::from(if width == 32 { bits & 0x7fff_ffff } else { bits & (u64::MAX >> 1) });
        let is_negative = bits >> (width - 1) & 1 == 1;
        if is_negative { -magnitude } else { magnitude }
    };
    u64::try_from((rank(a) - rank(b)).unsigned_abs()).unwrap_or(u64::MAX)
}
