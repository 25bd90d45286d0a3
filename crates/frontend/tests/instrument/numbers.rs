//! Values of floating-point nodes, by the machine's own operations.

use wire::{FloatOp, FloatUnary, Rounding};

/// The bits of a result; a NaN is the machine's default one.
fn bits(width: u8, number: f64) -> u64 {
    match (width, number.is_nan()) {
        (32, true) => 0xffc0_0000,
        (32, false) => u64::from((number as f32).to_bits()),
        (_, true) => 0xfff8_0000_0000_0000,
        (_, false) => number.to_bits(),
    }
}

pub fn number(width: u8, bits: u64) -> f64 {
    match width {
        32 => f64::from(f32::from_bits(u32::try_from(bits).expect("32 bits"))),
        64 => f64::from_bits(bits),
        _ => panic!("{width} bits are no number"),
    }
}

/// The result of an operation of `width` bits on an operand of `from` bits.
pub fn unary(op: FloatUnary, width: u8, from: u8, operand: u64) -> u64 {
    let signed = (operand << (64 - from)).cast_signed() >> (64 - from);
    match op {
        FloatUnary::FromSigned if width == 32 => bits(width, f64::from(signed as f32)),
        FloatUnary::FromUnsigned if width == 32 => bits(width, f64::from(operand as f32)),
        FloatUnary::FromSigned => bits(width, signed as f64),
        FloatUnary::FromUnsigned => bits(width, operand as f64),
        FloatUnary::IsNan => u64::from(number(from, operand).is_nan()),
        FloatUnary::Sqrt => bits(width, number(from, operand).sqrt()),
        FloatUnary::Convert => bits(width, number(from, operand)),
        FloatUnary::Round(rounding) => {
            let x = number(from, operand);
            bits(
                width,
                match rounding {
                    Rounding::ToEven => x.round_ties_even(),
                    Rounding::Away => x.round(),
                    Rounding::Up => x.ceil(),
                    Rounding::Down => x.floor(),
                    Rounding::ToZero => x.trunc(),
                },
            )
        }
        FloatUnary::ToSigned => {
            let (x, bound) = (number(from, operand).trunc(), (1_u128 << (width - 1)) as f64);
            if x >= -bound && x < bound { (x as i64).cast_unsigned() } else { 1 << (width - 1) }
        }
    }
}

/// The result of an operation on operands of `width` bits.
pub fn binary(op: FloatOp, width: u8, a: u64, b: u64) -> u64 {
    let (x, y) = (number(width, a), number(width, b));
    let single = |bits: u64| f32::from_bits(u32::try_from(bits).expect("32 bits"));
    let arithmetic = |f: fn(f64, f64) -> f64, g: fn(f32, f32) -> f32| {
        if width == 32 { bits(32, f64::from(g(single(a), single(b)))) } else { bits(64, f(x, y)) }
    };
    match op {
        FloatOp::Add => arithmetic(|x, y| x + y, |x, y| x + y),
        FloatOp::Sub => arithmetic(|x, y| x - y, |x, y| x - y),
        FloatOp::Mul => arithmetic(|x, y| x * y, |x, y| x * y),
        FloatOp::Div => arithmetic(|x, y| x / y, |x, y| x / y),
        FloatOp::Rem => arithmetic(|x, y| x % y, |x, y| x % y),
        FloatOp::Eq => u64::from(x == y),
        FloatOp::Lt => u64::from(x < y),
        FloatOp::Le => u64::from(x <= y),
    }
}

pub fn fused(width: u8, a: u64, b: u64, c: u64) -> u64 {
    let [x, y, z] = [a, b, c].map(|bits| number(width, bits));
    if width == 32 {
        bits(32, f64::from((x as f32).mul_add(y as f32, z as f32)))
    } else {
        bits(64, x.mul_add(y, z))
    }
}
