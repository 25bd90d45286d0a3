//! Parses operands and constants.

use super::ParseError;
use super::lexer::{Token, Tokens};
use super::parse::{Parsed, displacement, id, result, ty};
use crate::{FloatKind, FunctionId, GlobalId, Operand, Type};

/// Two operands with a comma between.
pub(super) fn two(tokens: &mut Tokens, first: Type, second: Type) -> Parsed<(Operand, Operand)> {
    let first = operand(tokens, first)?;
    tokens.sign(",")?;
    Ok((first, operand(tokens, second)?))
}

/// An operand in a place of this type; a constant of another type carries its own after `:`.
pub(super) fn operand(tokens: &mut Tokens, place: Type) -> Parsed<Operand> {
    match tokens.peek() {
        Token::Result(_) => result(tokens).map(Operand::Result),
        Token::Number(_) | Token::Bits(_) => constant(tokens, place),
        Token::Word(word) => {
            let prefix = word.chars().next();
            match (word, prefix) {
                ("null", _) => {
                    tokens.next();
                    Ok(Operand::Null)
                }
                ("undef", _) => {
                    tokens.next();
                    Ok(Operand::Undefined(own_type(tokens, place)?))
                }
                (_, Some('p')) => id(tokens, "p").map(Operand::Parameter),
                (_, Some('f')) => id(tokens, "f").map(|id| Operand::Function(FunctionId(id))),
                (_, Some('g')) => {
                    let global = GlobalId(id(tokens, "g")?);
                    Ok(Operand::Global { global, offset: displacement(tokens)? })
                }
                _ => Err(tokens.expected("an operand")),
            }
        }
        _ => Err(tokens.expected("an operand")),
    }
}

fn own_type(tokens: &mut Tokens, place: Type) -> Parsed<Type> {
    if tokens.take_sign(":") { ty(tokens) } else { Ok(place) }
}

fn constant(tokens: &mut Tokens, place: Type) -> Parsed<Operand> {
    let token = tokens.next();
    let line_of = |tokens: &mut Tokens, message: String| -> ParseError {
        tokens.back();
        tokens.error(message)
    };
    let of = own_type(tokens, place)?;
    match (of, token) {
        (Type::Int(bits), Token::Number(digits)) => match integer_value(digits, bits) {
            Some(value) => Ok(Operand::Int { bits, value }),
            None => Err(line_of(tokens, format!("{digits} is no i{bits}"))),
        },
        (Type::Float(kind), Token::Bits(bits)) => Ok(Operand::Float { kind, bits }),
        (Type::Float(FloatKind::Single), Token::Number(digits)) => match digits.parse::<f32>() {
            Ok(value) => Ok(Operand::Float { kind: FloatKind::Single, bits: value.to_bits().into() }),
            Err(_) => Err(line_of(tokens, format!("{digits} is no f32"))),
        },
        (Type::Float(FloatKind::Double), Token::Number(digits)) => match digits.parse::<f64>() {
            Ok(value) => Ok(Operand::Float { kind: FloatKind::Double, bits: value.to_bits().into() }),
            Err(_) => Err(line_of(tokens, format!("{digits} is no f64"))),
        },
        _ => Err(line_of(tokens, format!("a constant cannot be a {of} here (`:type` may follow it)"))),
    }
}

/// An integer of this width.
pub(super) fn integer(tokens: &mut Tokens, bits: u32) -> Parsed<u128> {
    let value = match tokens.peek() {
        Token::Number(digits) => integer_value(digits, bits),
        _ => None,
    };
    let value = value.ok_or_else(|| tokens.expected(&format!("an integer of {bits} bits")))?;
    tokens.next();
    Ok(value)
}

/// Decimal numbers are cut to the width, hexadecimal ones are taken as they are.
fn integer_value(digits: &str, bits: u32) -> Option<u128> {
    if let Some(hex) = digits.strip_prefix("0x") {
        return u128::from_str_radix(hex, 16).ok();
    }
    if !(1..=128).contains(&bits) {
        return None;
    }
    let mask = u128::MAX >> (128 - bits);
    let value = match digits.strip_prefix('-') {
        Some(magnitude) => magnitude.parse::<u128>().ok()?.wrapping_neg() & mask,
        None => digits.parse().ok()?,
    };
    (value <= mask).then_some(value)
}
