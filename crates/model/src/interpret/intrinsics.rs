//! LLVM's intrinsics that calls may name, without their `llvm.` prefix.

use super::library::Native;
use super::machine::{Argument, Machine};
use super::memory::{Checked, Stop};
use super::{FaultKind, float, integer};
use crate::{FloatBinaryOp, FloatKind, Type};

/// The intrinsic of this name, whose width is that of its arguments.
pub(super) fn find(name: &str) -> Option<Native> {
    let nothing: Native = |_, _| Ok([0, 0]);
    let known: [(&str, Native); 34] = [
        ("dbg.", nothing),
        ("lifetime.", nothing),
        ("assume", nothing),
        ("donothing", nothing),
        ("prefetch", nothing),
        ("trap", |_, _| Err(Stop::Abort)),
        ("debugtrap", |_, _| Err(Stop::Abort)),
        ("expect.", |_, arguments| Ok([at(arguments, 0)?.value, 0])),
        ("stacksave", |machine, _| Ok([machine.memory.stack_top().into(), 0])),
        ("stackrestore", |machine, arguments| {
            machine.memory.release_to(at(arguments, 0)?.value as u64);
            Ok([0, 0])
        }),
        ("bswap.", |_, arguments| unary(arguments, |value, bits| value.swap_bytes() >> (128 - bits))),
        ("bitreverse.", |_, arguments| unary(arguments, |value, bits| value.reverse_bits() >> (128 - bits))),
        ("ctpop.", |_, arguments| unary(arguments, |value, _| value.count_ones().into())),
        ("ctlz.", |_, arguments| zeros(arguments, |value, bits| value.leading_zeros() + bits - 128)),
        ("cttz.", |_, arguments| zeros(arguments, |value, bits| value.trailing_zeros().min(bits))),
        ("abs.", |_, arguments| unary(arguments, |value, bits| integer::signed(value, bits).unsigned_abs())),
        ("smin.", |_, arguments| {
            choose(arguments, |left, right, bits| signed(left, bits) < signed(right, bits))
        }),
        ("smax.", |_, arguments| {
            choose(arguments, |left, right, bits| signed(left, bits) > signed(right, bits))
        }),
        ("umin.", |_, arguments| choose(arguments, |left, right, _| left < right)),
        ("umax.", |_, arguments| choose(arguments, |left, right, _| left > right)),
        ("fshl.", |_, arguments| funnel(arguments, true)),
        ("fshr.", |_, arguments| funnel(arguments, false)),
        ("sadd.with.overflow.", |_, arguments| signed_overflow(arguments, i128::overflowing_add)),
        ("ssub.with.overflow.", |_, arguments| signed_overflow(arguments, i128::overflowing_sub)),
        ("smul.with.overflow.", |_, arguments| signed_overflow(arguments, i128::overflowing_mul)),
        ("uadd.with.overflow.", |_, arguments| unsigned_overflow(arguments, u128::overflowing_add)),
        ("usub.with.overflow.", |_, arguments| unsigned_overflow(arguments, u128::overflowing_sub)),
        ("umul.with.overflow.", |_, arguments| unsigned_overflow(arguments, u128::overflowing_mul)),
        ("memcpy.", copy),
        ("memmove.", copy),
        ("memset.", |machine, arguments| {
            let (to, byte) = (at(arguments, 0)?.value as u64, at(arguments, 1)?.value as u8);
            machine.memory.bytes_mut(to, at(arguments, 2)?.value as u64)?.fill(byte);
            Ok([0, 0])
        }),
        ("fmuladd.", multiply_add),
        ("is.constant.", nothing),
        ("objectsize.", |_, arguments| {
            // Unknown: all ones when the largest is asked for, else zero.
            Ok([if at(arguments, 1)?.value == 0 { u128::MAX } else { 0 }, 0])
        }),
    ];
    let found = known.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, native)| *native);
    found.or_else(|| find_rounding(name))
}

fn find_rounding(name: &str) -> Option<Native> {
    let known: [(&str, Native); 9] = [
        ("fabs.", |_, arguments| {
            let argument = at(arguments, 0)?;
            Ok([argument.value & !(1 << (kind(argument)?.bits() - 1)), 0])
        }),
        ("sqrt.", |_, arguments| real(arguments, f32::sqrt, f64::sqrt)),
        ("floor.", |_, arguments| real(arguments, f32::floor, f64::floor)),
        ("ceil.", |_, arguments| real(arguments, f32::ceil, f64::ceil)),
        ("trunc.", |_, arguments| real(arguments, f32::trunc, f64::trunc)),
        ("round.", |_, arguments| real(arguments, f32::round, f64::round)),
        ("rint.", |_, arguments| real(arguments, f32::round_ties_even, f64::round_ties_even)),
        ("nearbyint.", |_, arguments| real(arguments, f32::round_ties_even, f64::round_ties_even)),
        ("copysign.", |_, arguments| {
            let (value, sign) = (at(arguments, 0)?, at(arguments, 1)?);
            let bit = 1u128 << (kind(value)?.bits() - 1);
            Ok([value.value & !bit | sign.value & bit, 0])
        }),
    ];
    known.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, native)| *native)
}

fn at(arguments: &[Argument], number: usize) -> Checked<Argument> {
    let missing = || Stop::Unsupported("intrinsic with too few arguments".into());
    arguments.get(number).copied().ok_or_else(missing)
}

fn width(argument: Argument) -> Checked<u32> {
    match argument.ty {
        Type::Int(bits) => Ok(bits),
        ty => Err(Stop::Unsupported(format!("integer intrinsic on {ty}").into())),
    }
}

fn kind(argument: Argument) -> Checked<FloatKind> {
    match argument.ty {
        Type::Float(kind) => Ok(kind),
        ty => Err(Stop::Unsupported(format!("floating-point intrinsic on {ty}").into())),
    }
}

fn signed(value: u128, bits: u32) -> i128 {
    integer::signed(value, bits)
}

fn unary(arguments: &[Argument], apply: fn(u128, u32) -> u128) -> Checked<[u128; 2]> {
    let argument = at(arguments, 0)?;
    Ok([apply(argument.value, width(argument)?), 0])
}

/// Counts zeros; the second argument says that there must be a one.
fn zeros(arguments: &[Argument], count: fn(u128, u32) -> u32) -> Checked<[u128; 2]> {
    let argument = at(arguments, 0)?;
    if argument.value == 0 && at(arguments, 1)?.value != 0 {
        return Err(FaultKind::Undefined.into());
    }
    Ok([count(argument.value, width(argument)?).into(), 0])
}

fn choose(arguments: &[Argument], first: fn(u128, u128, u32) -> bool) -> Checked<[u128; 2]> {
    let (left, right) = (at(arguments, 0)?, at(arguments, 1)?);
    let chosen = if first(left.value, right.value, width(left)?) { left } else { right };
    Ok([chosen.value, 0])
}

fn funnel(arguments: &[Argument], left: bool) -> Checked<[u128; 2]> {
    let (high, low) = (at(arguments, 0)?, at(arguments, 1)?);
    let bits = width(high)?;
    let amount = (at(arguments, 2)?.value % u128::from(bits)) as u32;
    let (up, down) = if left { (amount, bits - amount) } else { (bits - amount, amount) };
    // A shift by the whole width leaves nothing.
    let shifted_up = high.value.checked_shl(up).unwrap_or(0);
    let shifted_down = low.value.checked_shr(down).unwrap_or(0);
    Ok([(shifted_up | shifted_down) & integer::mask(bits), 0])
}

fn signed_overflow(arguments: &[Argument], apply: fn(i128, i128) -> (i128, bool)) -> Checked<[u128; 2]> {
    let (left, right) = (at(arguments, 0)?, at(arguments, 1)?);
    let bits = width(left)?;
    let (exact, wide) = apply(signed(left.value, bits), signed(right.value, bits));
    let result = exact as u128 & integer::mask(bits);
    Ok([result, (wide || signed(result, bits) != exact).into()])
}

fn unsigned_overflow(arguments: &[Argument], apply: fn(u128, u128) -> (u128, bool)) -> Checked<[u128; 2]> {
    let (left, right) = (at(arguments, 0)?, at(arguments, 1)?);
    let (exact, wide) = apply(left.value, right.value);
    let result = exact & integer::mask(width(left)?);
    Ok([result, (wide || result != exact).into()])
}

fn copy(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let (to, from) = (at(arguments, 0)?.value as u64, at(arguments, 1)?.value as u64);
    machine.memory.copy(to, from, at(arguments, 2)?.value as u64)?;
    Ok([0, 0])
}

/// Rounded after each operation, as code without fused multiplication does.
fn multiply_add(_: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let (left, right, sum) = (at(arguments, 0)?, at(arguments, 1)?, at(arguments, 2)?);
    let kind = kind(left)?;
    let product = float::binary(FloatBinaryOp::Mul, kind, left.value, right.value)?;
    Ok([float::binary(FloatBinaryOp::Add, kind, product, sum.value)?, 0])
}

pub(super) fn real(
    arguments: &[Argument],
    single: fn(f32) -> f32,
    double: fn(f64) -> f64,
) -> Checked<[u128; 2]> {
    let argument = at(arguments, 0)?;
    let bits = match kind(argument)? {
        FloatKind::Single => single(f32::from_bits(argument.value as u32)).to_bits().into(),
        FloatKind::Double => double(f64::from_bits(argument.value as u64)).to_bits().into(),
        kind @ (FloatKind::Half | FloatKind::X87 | FloatKind::Quad) => {
            return Err(Stop::Unsupported(format!("arithmetic in {kind}").into()));
        }
    };
    Ok([bits, 0])
}
