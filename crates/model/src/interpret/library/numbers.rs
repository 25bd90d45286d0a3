//! Arithmetic of `<stdlib.h>`, and of `<math.h>` where the result is exact and so the same in every library.

use super::super::intrinsics::real;
use super::super::machine::Argument;
use super::super::memory::Checked;
use super::super::{float, integer};
use super::{Native, int, signed, too_few};
use crate::{FloatBinaryOp, FloatKind, Type};

pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "abs" => |_, arguments| signed(int(arguments, 0)?.wrapping_abs().into()),
        "labs" | "llabs" => |_, arguments| {
            let argument = arguments.first().ok_or_else(|| too_few(0))?;
            let bits = match argument.ty {
                Type::Int(bits) => bits.min(64),
                Type::Void | Type::Ptr | Type::Float(_) | Type::Record(_) | Type::Opaque => 64,
            };
            signed((integer::signed(argument.value, bits) as i64).wrapping_abs())
        },
        "fabs" | "fabsf" => |_, arguments| real(arguments, f32::abs, f64::abs),
        "sqrt" | "sqrtf" => |_, arguments| real(arguments, f32::sqrt, f64::sqrt),
        "floor" | "floorf" => |_, arguments| real(arguments, f32::floor, f64::floor),
        "ceil" | "ceilf" => |_, arguments| real(arguments, f32::ceil, f64::ceil),
        "trunc" | "truncf" => |_, arguments| real(arguments, f32::trunc, f64::trunc),
        "round" | "roundf" => |_, arguments| real(arguments, f32::round, f64::round),
        "fmod" => |_, arguments| remainder(arguments, FloatKind::Double),
        "fmodf" => |_, arguments| remainder(arguments, FloatKind::Single),
        _ => return None,
    })
}

fn remainder(arguments: &[Argument], kind: FloatKind) -> Checked<[u128; 2]> {
    let argument = |number: usize| arguments.get(number).ok_or_else(|| too_few(number));
    Ok([float::binary(FloatBinaryOp::Rem, kind, argument(0)?.value, argument(1)?.value)?, 0])
}
