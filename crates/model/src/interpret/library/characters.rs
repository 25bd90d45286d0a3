//! `<ctype.h>` in the C locale, as functions and as the tables that the GNU library's macros read.

use super::super::FaultKind;
use super::super::machine::{Argument, Machine};
use super::super::memory::{Checked, Stop};
use super::{Native, int, one, signed};

/// Addresses of tables made when first asked for.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Tables {
    classes: Option<u64>,
    lower: Option<u64>,
    upper: Option<u64>,
    errno: Option<u64>,
}

/// Tables have entries for -128 to 255.
const FIRST: i32 = -128;
const LAST: i32 = 255;

pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "isalpha" => |_, arguments| test(arguments, |byte| byte.is_ascii_alphabetic()),
        "isdigit" => |_, arguments| test(arguments, |byte| byte.is_ascii_digit()),
        "isalnum" => |_, arguments| test(arguments, |byte| byte.is_ascii_alphanumeric()),
        "isspace" => |_, arguments| test(arguments, is_space),
        "isupper" => |_, arguments| test(arguments, |byte| byte.is_ascii_uppercase()),
        "islower" => |_, arguments| test(arguments, |byte| byte.is_ascii_lowercase()),
        "isxdigit" => |_, arguments| test(arguments, |byte| byte.is_ascii_hexdigit()),
        "ispunct" => |_, arguments| test(arguments, |byte| byte.is_ascii_punctuation()),
        "isprint" => |_, arguments| test(arguments, |byte| matches!(byte, 0x20..=0x7e)),
        "isgraph" => |_, arguments| test(arguments, |byte| byte.is_ascii_graphic()),
        "iscntrl" => |_, arguments| test(arguments, |byte| byte.is_ascii_control()),
        "isblank" => |_, arguments| test(arguments, |byte| matches!(byte, b' ' | b'\t')),
        "isascii" => |_, arguments| one((0..128).contains(&int(arguments, 0)?).into()),
        "toupper" => |_, arguments| signed(upper(int(arguments, 0)?).into()),
        "tolower" => |_, arguments| signed(lower(int(arguments, 0)?).into()),
        "__ctype_b_loc" => |machine, _| {
            let known = machine.tables.classes;
            let place = table(machine, known, 2, |character| classes(character).into())?;
            machine.tables.classes = Some(place);
            one(place)
        },
        "__ctype_tolower_loc" => |machine, _| {
            let known = machine.tables.lower;
            let place = table(machine, known, 4, |character| lower(character) as u32)?;
            machine.tables.lower = Some(place);
            one(place)
        },
        "__ctype_toupper_loc" => |machine, _| {
            let known = machine.tables.upper;
            let place = table(machine, known, 4, |character| upper(character) as u32)?;
            machine.tables.upper = Some(place);
            one(place)
        },
        "__errno_location" => |machine, _| {
            let place = match machine.tables.errno {
                Some(place) => place,
                None => machine.memory.allocate(4).ok_or(Stop::Fault(FaultKind::OutOfMemory))?,
            };
            machine.tables.errno = Some(place);
            one(place)
        },
        _ => return None,
    })
}

fn test(arguments: &[Argument], holds: fn(&u8) -> bool) -> Checked<[u128; 2]> {
    let character = u8::try_from(int(arguments, 0)?);
    one(character.is_ok_and(|byte| holds(&byte)).into())
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

fn upper(character: i32) -> i32 {
    u8::try_from(character).map_or(character, |byte| byte.to_ascii_uppercase().into())
}

fn lower(character: i32) -> i32 {
    u8::try_from(character).map_or(character, |byte| byte.to_ascii_lowercase().into())
}

/// The bits that the GNU library's macros test, on a little-endian machine.
fn classes(character: i32) -> u16 {
    let Ok(byte) = u8::try_from(character) else { return 0 };
    let holds = [
        byte.is_ascii_uppercase(),
        byte.is_ascii_lowercase(),
        byte.is_ascii_alphabetic(),
        byte.is_ascii_digit(),
        byte.is_ascii_hexdigit(),
        is_space(&byte),
        matches!(byte, 0x20..=0x7e),
        byte.is_ascii_graphic(),
        matches!(byte, b' ' | b'\t'),
        byte.is_ascii_control(),
        byte.is_ascii_punctuation(),
        byte.is_ascii_alphanumeric(),
    ];
    let bit = |number: usize| if number < 8 { 1u16 << (number + 8) } else { 1 << (number - 8) };
    (0..holds.len()).filter(|number| holds[*number]).map(bit).fold(0, |bits, bit| bits | bit)
}

/// The address of a pointer to entry 0 of a table.
fn table(machine: &mut Machine<'_>, known: Option<u64>, bytes: u8, entry: fn(i32) -> u32) -> Checked<u64> {
    if let Some(place) = known {
        return Ok(place);
    }
    let out_of_memory = Stop::Fault(FaultKind::OutOfMemory);
    let n_entries = (LAST - FIRST + 1) as u64;
    let entries = machine.memory.allocate(n_entries * u64::from(bytes)).ok_or(out_of_memory.clone())?;
    for (position, character) in (0..).zip(FIRST..=LAST) {
        machine.memory.store(entries + position * u64::from(bytes), entry(character).into(), bytes)?;
    }
    let pointer_bytes = (machine.program.pointer_bits / 8) as u8;
    let place = machine.memory.allocate(pointer_bytes.into()).ok_or(out_of_memory)?;
    let zero = entries + u64::from(FIRST.unsigned_abs()) * u64::from(bytes);
    machine.memory.store(place, zero.into(), pointer_bytes)?;
    Ok(place)
}
