//! Simpler values of one cell.

use std::collections::BTreeSet;

use model::float_text;
use model::input::Scalar;

/// Values that are simpler than `bits`, the simplest first.
pub fn simpler(scalar: &Scalar, bits: u64) -> Vec<u64> {
    match scalar {
        Scalar::Bool => {
            if bits & 1 == 1 {
                vec![0]
            } else {
                Vec::new()
            }
        }
        Scalar::Enum { enumerators, .. } => enumerator(scalar, enumerators, bits),
        Scalar::Integer { .. } | Scalar::Char { .. } => {
            let numbers = nearer_to_zero(scalar.number(bits)).into_iter();
            // no number of this type is negative
            let fits = |number: &i128| scalar.signed() || *number >= 0;
            numbers.filter(fits).map(|number| masked(scalar, number)).collect()
        }
        Scalar::Float { bits: width } => float(*width, bits),
    }
}

/// Values near `bits` that tell more than zeros and repetitions do; `number` makes them different from cell to cell.
pub fn telling(scalar: &Scalar, bits: u64, number: usize) -> Vec<u64> {
    let step = 1 + number % 9;
    match scalar {
        Scalar::Bool | Scalar::Enum { .. } => Vec::new(),
        Scalar::Integer { .. } | Scalar::Char { .. } => {
            let value = scalar.number(bits);
            let near = [value + step as i128, value + 1, value - 1].into_iter();
            let most = (1i128 << (scalar.bits().min(64) - u32::from(scalar.signed()))) - 1;
            let least = if scalar.signed() { -most } else { 0 };
            near.filter(|near| (least..=most).contains(near)).map(|near| masked(scalar, near)).collect()
        }
        Scalar::Float { bits: width } => {
            let value: Option<f64> = float_text::to_text(*width, bits).parse().ok();
            let near =
                value.filter(|value| value.is_finite()).map(|value| [value + step as f64, value + 0.5]);
            near.into_iter().flatten().filter_map(|value| of_value(*width, value)).collect()
        }
    }
}

/// The same for a character of a text: letters and digits.
pub fn telling_character(byte: u8, number: usize) -> Vec<u8> {
    if byte == 0 {
        return Vec::new();
    }
    let step = u8::try_from(1 + number % 9).unwrap_or(1);
    let near = [byte.saturating_add(step), byte.saturating_add(1), byte.saturating_sub(1)];
    near.into_iter().filter(u8::is_ascii_alphanumeric).collect()
}

/// Simpler characters of a text than `byte`; `last` says that only zeros follow.
pub fn simpler_character(byte: u8, last: bool) -> Vec<u8> {
    const EASY: [u8; 6] = [b'a', b'0', b'A', b' ', b'-', b'~'];
    let mut simpler = if last && byte != 0 { vec![0] } else { Vec::new() };
    if !(last && byte == 0) {
        let easy = EASY.into_iter().chain([byte.to_ascii_lowercase()]);
        simpler.extend(easy.filter(|easy| difficulty(*easy) < difficulty(byte)));
    }
    simpler
}

/// Simpler characters than `byte` that are not `used`: what the code may tell apart stays different.
pub fn simpler_unused(byte: u8, used: &BTreeSet<u8>) -> Vec<u8> {
    let unused = |mut all: std::ops::RangeInclusive<u8>| all.find(|easy| !used.contains(easy));
    let easy = [b'a'..=b'z', b'0'..=b'9', b'A'..=b'Z', b' '..=b' ', b'-'..=b'-', b'~'..=b'~'].map(unused);
    let lower = Some(byte.to_ascii_lowercase()).filter(|lower| !used.contains(lower));
    let easy = easy.into_iter().flatten().chain(lower);
    easy.filter(|easy| difficulty(*easy) < difficulty(byte)).collect()
}

/// How hard a character reads.
fn difficulty(byte: u8) -> u8 {
    match byte {
        b'a' => 0,
        b'b'..=b'z' | b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b' '..=b'~' => 3,
        _ => 4,
    }
}

fn masked(scalar: &Scalar, number: i128) -> u64 {
    let bits = scalar.bits().min(64);
    u64::from_le_bytes(number.to_le_bytes()[..8].try_into().expect("eight bytes")) & (u64::MAX >> (64 - bits))
}

/// Smaller numbers, then the positive one: 0, 1, then as far towards zero as possible by halves.
fn nearer_to_zero(number: i128) -> Vec<i128> {
    let size = number.abs();
    let mut nearer: Vec<i128> = [0, 1, -1].into_iter().filter(|few: &i128| few.abs() < size).collect();
    let sign = number.signum();
    let mut step = size / 2;
    while step > 0 && nearer.len() < 12 {
        nearer.push(sign * (size - step));
        step /= 2;
    }
    if number < 0 {
        nearer.push(size);
    }
    nearer
}

/// Enumerators before the one it is; all of them for a number that is none.
fn enumerator(scalar: &Scalar, enumerators: &[(String, i128)], bits: u64) -> Vec<u64> {
    const MOST: usize = 8;
    let number = scalar.number(bits);
    let place = enumerators.iter().position(|(_, value)| *value == number).unwrap_or(enumerators.len());
    enumerators[..place].iter().take(MOST).map(|(_, value)| masked(scalar, *value)).collect()
}

/// Values with fewer digits.
fn float(width: u32, bits: u64) -> Vec<u64> {
    let text = float_text::to_text(width, bits);
    let Ok(value) = text.parse::<f64>() else {
        return [0.0, 1.0].into_iter().filter_map(|value| of_value(width, value)).collect();
    };
    let tenths = (value * 10.0).trunc() / 10.0;
    let candidates = [0.0, 1.0, -1.0, 2.0, 10.0, 0.5, value.trunc(), value.round(), tenths, value.abs()];
    let easier = |candidate: f64| effort(&format!("{candidate:?}")) < effort(&text);
    candidates.into_iter().filter(|value| easier(*value)).filter_map(|value| of_value(width, value)).collect()
}

/// How much there is to read: whole numbers first, then short ones, then those that are small by their first digit.
fn effort(text: &str) -> (bool, bool, usize, u32) {
    let digit = text.trim_start_matches('-').chars().next().and_then(|c| c.to_digit(10)).unwrap_or(10);
    (text.contains("inf") || text.contains("nan"), !text.ends_with(".0"), text.len(), digit)
}

fn of_value(width: u32, value: f64) -> Option<u64> {
    float_text::from_text(width, &format!("{value:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: Scalar = Scalar::Integer { bits: 32, signed: true };

    #[test]
    fn numbers_are_tried_from_zero_upwards() {
        assert_eq!(nearer_to_zero(100)[..4], [0, 1, -1, 50]);
        assert_eq!(nearer_to_zero(0), []);
        assert_eq!(nearer_to_zero(1), [0]);
        assert_eq!(nearer_to_zero(-1), [0, 1]);
        assert_eq!(nearer_to_zero(3), [0, 1, -1, 2]);
        assert_eq!(simpler(&INT, 0xffff_ffff), [0, 1]);
        assert_eq!(simpler(&Scalar::Integer { bits: 32, signed: false }, 3), [0, 1, 2]);
    }

    #[test]
    fn texts_become_shorter_and_easier_to_read() {
        assert_eq!(simpler_character(0, true), []);
        assert_eq!(simpler_character(b'a', true), [0]);
        assert_eq!(simpler_character(b'a', false), []);
        assert_eq!(simpler_character(b'q', false), [b'a']);
        assert_eq!(simpler_character(b'Q', false), [b'a', b'0', b'q']);
        assert_eq!(simpler_character(1, false), [b'a', b'0', b'A', b' ', b'-', b'~']);
    }

    #[test]
    fn telling_values_fit_their_types() {
        assert_eq!(telling(&INT, 0, 1), [2, 1, 0xffff_ffff]);
        assert_eq!(telling(&Scalar::Integer { bits: 8, signed: false }, 255, 3), [254]);
        assert_eq!(telling(&Scalar::Bool, 0, 3), []);
        assert_eq!(telling_character(b'0', 1), [b'2', b'1']);
        assert_eq!(telling_character(0, 1), []);
    }

    #[test]
    fn floating_point_values_lose_digits() {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(simpler(&Scalar::Float { bits: 64 }, 0f64.to_bits()), []);
        assert_eq!(simpler(&Scalar::Float { bits: 64 }, 1f64.to_bits()), bits(&[0.0]));
        assert!(simpler(&Scalar::Float { bits: 64 }, 12.3456f64.to_bits()).contains(&12.3f64.to_bits()));
    }

    #[test]
    fn earlier_enumerators_are_simpler() {
        let color = Scalar::Enum {
            bits: 32,
            signed: true,
            enumerators: vec![("RED".into(), 5), ("BLUE".into(), -1)],
        };
        assert_eq!(simpler(&color, 5), []);
        assert_eq!(simpler(&color, 0xffff_ffff), [5]);
        assert_eq!(simpler(&color, 9), [5, 0xffff_ffff]);
    }
}
