//! `<string.h>` for strings, and numbers in strings.

use super::super::FaultKind;
use super::super::machine::{Argument, Machine};
use super::super::memory::Checked;
use super::{Native, int, one, signed, word};

pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "strlen" => |machine, arguments| one(machine.memory.string(word(arguments, 0)?)?.len() as u64),
        "strnlen" => {
            |machine, arguments| one(bounded(machine, word(arguments, 0)?, word(arguments, 1)?)?.len() as u64)
        }
        "strcmp" => |machine, arguments| compare(machine, arguments, u64::MAX, |byte| byte),
        "strncmp" => |machine, arguments| compare(machine, arguments, word(arguments, 2)?, |byte| byte),
        "strcasecmp" => {
            |machine, arguments| compare(machine, arguments, u64::MAX, |b| b.to_ascii_lowercase())
        }
        "strncasecmp" => {
            |machine, arguments| compare(machine, arguments, word(arguments, 2)?, |b| b.to_ascii_lowercase())
        }
        "strcpy" => |machine, arguments| {
            let text = machine.memory.string(word(arguments, 1)?)?;
            put(machine, word(arguments, 0)?, &text)?;
            one(word(arguments, 0)?)
        },
        "strncpy" => strncpy,
        "strcat" => |machine, arguments| concatenate(machine, arguments, u64::MAX),
        "strncat" => |machine, arguments| concatenate(machine, arguments, word(arguments, 2)?),
        "strchr" => |machine, arguments| {
            search(machine, arguments, |text, byte| text.iter().position(|other| *other == byte))
        },
        "strrchr" => |machine, arguments| {
            search(machine, arguments, |text, byte| text.iter().rposition(|other| *other == byte))
        },
        "strstr" => strstr,
        "strspn" => |machine, arguments| span(machine, arguments, true),
        "strcspn" => |machine, arguments| span(machine, arguments, false),
        "strdup" => strdup,
        "atoi" => |machine, arguments| {
            let text = machine.memory.string(word(arguments, 0)?)?;
            // The GNU library converts to long and drops the upper half.
            signed(number(&text).into_long(machine.program.pointer_bits) as i32 as i64)
        },
        "atol" => |machine, arguments| {
            let text = machine.memory.string(word(arguments, 0)?)?;
            signed(number(&text).into_long(machine.program.pointer_bits))
        },
        "atoll" => |machine, arguments| {
            let text = machine.memory.string(word(arguments, 0)?)?;
            signed(number(&text).into_long(64))
        },
        _ => return None,
    })
}

/// The bytes of a string up to its zero or this many.
fn bounded(machine: &mut Machine<'_>, address: u64, most: u64) -> Checked<Vec<u8>> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let rest = machine.memory.rest(address)?;
    let within = &rest[..rest.len().min(usize::try_from(most).unwrap_or(usize::MAX))];
    match within.iter().position(|byte| *byte == 0) {
        Some(length) => Ok(within[..length].to_vec()),
        None if within.len() as u64 == most => Ok(within.to_vec()),
        None => Err(FaultKind::InvalidAccess.into()),
    }
}

/// Writes a string and its zero.
fn put(machine: &mut Machine<'_>, to: u64, text: &[u8]) -> Checked<()> {
    let place = machine.memory.bytes_mut(to, text.len() as u64 + 1)?;
    place[..text.len()].copy_from_slice(text);
    place[text.len()] = 0;
    Ok(())
}

fn compare(
    machine: &mut Machine<'_>,
    arguments: &[Argument],
    most: u64,
    fold: fn(u8) -> u8,
) -> Checked<[u128; 2]> {
    let (left, right) = (word(arguments, 0)?, word(arguments, 1)?);
    for offset in 0..most {
        // Byte by byte: what lies behind the first difference need not exist.
        let left = fold(machine.memory.load(left.wrapping_add(offset), 1)? as u8);
        let right = fold(machine.memory.load(right.wrapping_add(offset), 1)? as u8);
        if left != right || left == 0 {
            return signed(i64::from(left) - i64::from(right));
        }
    }
    one(0)
}

fn strncpy(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let (to, length) = (word(arguments, 0)?, word(arguments, 2)?);
    let text = bounded(machine, word(arguments, 1)?, length)?;
    let place = machine.memory.bytes_mut(to, length)?;
    place[..text.len()].copy_from_slice(&text);
    place[text.len()..].fill(0);
    one(to)
}

fn concatenate(machine: &mut Machine<'_>, arguments: &[Argument], most: u64) -> Checked<[u128; 2]> {
    let to = word(arguments, 0)?;
    let text = bounded(machine, word(arguments, 1)?, most)?;
    let end = to + machine.memory.string(to)?.len() as u64;
    put(machine, end, &text)?;
    one(to)
}

fn search(
    machine: &mut Machine<'_>,
    arguments: &[Argument],
    find: fn(&[u8], u8) -> Option<usize>,
) -> Checked<[u128; 2]> {
    let from = word(arguments, 0)?;
    let mut text = machine.memory.string(from)?;
    text.push(0);
    let found = find(&text, int(arguments, 1)? as u8);
    one(found.map_or(0, |position| from + position as u64))
}

fn strstr(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let from = word(arguments, 0)?;
    let (text, wanted) = (machine.memory.string(from)?, machine.memory.string(word(arguments, 1)?)?);
    let found = (0..=text.len()).find(|start| text[*start..].starts_with(&wanted));
    one(found.map_or(0, |position| from + position as u64))
}

fn span(machine: &mut Machine<'_>, arguments: &[Argument], accepted: bool) -> Checked<[u128; 2]> {
    let text = machine.memory.string(word(arguments, 0)?)?;
    let set = machine.memory.string(word(arguments, 1)?)?;
    one(text.iter().take_while(|byte| set.contains(byte) == accepted).count() as u64)
}

fn strdup(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let text = machine.memory.string(word(arguments, 0)?)?;
    let Some(copy) = machine.memory.allocate(text.len() as u64 + 1) else { return one(0) };
    put(machine, copy, &text)?;
    one(copy)
}

/// A decimal number at the start of a text, saturated.
struct Decimal(i128);

impl Decimal {
    fn into_long(self, bits: u32) -> i64 {
        let greatest = (1i128 << (bits - 1)) - 1;
        self.0.clamp(-greatest - 1, greatest) as i64
    }
}

fn number(text: &[u8]) -> Decimal {
    let blank = |byte: &u8| matches!(*byte, b' ' | 9..=13);
    let text = &text[text.iter().take_while(|byte| blank(byte)).count()..];
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let value =
        digits.fold(0i128, |value, digit| value.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
    Decimal(if negative { -value } else { value })
}
