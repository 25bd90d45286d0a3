//! Formatting as `printf` does it.

use super::super::machine::{Argument, Machine};
use super::super::memory::{Checked, Stop};
use super::super::{FaultKind, float, integer};
use super::too_few;
use crate::{FloatKind, Type};

/// A conversion such as `%-08.3ld`.
#[derive(Clone, Copy, Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of an integer argument.
    bits: u32,
}

/// The text of a format string, which is the argument with this number, and of the arguments after it.
pub(super) fn format(machine: &mut Machine<'_>, arguments: &[Argument], number: usize) -> Checked<Vec<u8>> {
    let address = arguments.get(number).ok_or_else(|| too_few(number))?;
    let template = machine.memory.string(address.value as u64)?;
    let mut formatter = Formatter { machine, template: &template, at: 0, arguments, next: number + 1 };
    let mut text = Vec::new();
    while let Some(&byte) = formatter.template.get(formatter.at) {
        formatter.at += 1;
        if byte == b'%' { formatter.conversion(&mut text)? } else { text.push(byte) }
    }
    Ok(text)
}

struct Formatter<'a, 'm> {
    machine: &'a mut Machine<'m>,
    template: &'a [u8],
    at: usize,
    arguments: &'a [Argument],
    next: usize,
}

impl Formatter<'_, '_> {
    fn peek(&self) -> u8 {
        self.template.get(self.at).copied().unwrap_or(0)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn argument(&mut self) -> Checked<Argument> {
        let argument = self.arguments.get(self.next).copied().ok_or_else(|| too_few(self.next))?;
        self.next += 1;
        Ok(argument)
    }

    fn conversion(&mut self, text: &mut Vec<u8>) -> Checked<()> {
        let spec = self.spec()?;
        let conversion = self.peek();
        self.at += 1;
        match conversion {
            b'%' => text.push(b'%'),
            b'd' | b'i' => {
                let value = integer::signed(self.argument()?.value & integer::mask(spec.bits), spec.bits);
                let digits = value.unsigned_abs().to_string();
                number(text, spec, sign(spec, value < 0), digits);
            }
            b'u' | b'x' | b'X' | b'o' => {
                let value = self.argument()?.value & integer::mask(spec.bits);
                unsigned(text, spec, conversion, value);
            }
            b'c' => {
                let byte = self.argument()?.value as u8;
                pad(text, Spec { zero: false, ..spec }, "", &[byte]);
            }
            b's' => {
                let address = self.argument()?.value as u64;
                let bytes = self.string(address, spec.precision)?;
                pad(text, Spec { zero: false, ..spec }, "", &bytes);
            }
            b'p' => {
                let address = self.argument()?.value;
                let shown = if address == 0 { "(nil)".to_owned() } else { format!("{address:#x}") };
                pad(text, Spec { zero: false, ..spec }, "", shown.as_bytes());
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => {
                let argument = self.argument()?;
                let Type::Float(FloatKind::Double) = argument.ty else {
                    return Err(unsupported(conversion));
                };
                real(text, spec, conversion, float::as_double(FloatKind::Double, argument.value)?);
            }
            other => return Err(unsupported(other)),
        }
        Ok(())
    }

    fn spec(&mut self) -> Checked<Spec> {
        let mut spec = Spec { bits: 32, ..Spec::default() };
        loop {
            match self.peek() {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            self.at += 1;
        }
        if let Some(width) = self.count()? {
            spec.left |= width < 0;
            spec.width = width.unsigned_abs() as usize;
        }
        if self.take(b'.') {
            // A negative precision counts as none.
            spec.precision = usize::try_from(self.count()?.unwrap_or(0)).ok();
        }
        let long = self.machine.program.pointer_bits;
        spec.bits = match self.peek() {
            b'h' if self.template.get(self.at + 1) == Some(&b'h') => 8,
            b'h' => 16,
            b'l' if self.template.get(self.at + 1) == Some(&b'l') => 64,
            b'l' | b'z' | b't' => long,
            b'j' => 64,
            _ => return Ok(spec),
        };
        let modifier = self.peek();
        self.at += 1;
        self.take(modifier);
        Ok(spec)
    }

    /// Digits, or `*` for an argument.
    fn count(&mut self) -> Checked<Option<i32>> {
        if self.take(b'*') {
            return Ok(Some(self.argument()?.value as u32 as i32));
        }
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.template[start..self.at]).unwrap_or_default();
        if digits.is_empty() {
            Ok(None)
        } else {
            Ok(Some(digits.parse().map_err(|_| FaultKind::OutOfMemory)?))
        }
    }

    fn string(&mut self, address: u64, most: Option<usize>) -> Checked<Vec<u8>> {
        if address == 0 {
            return Ok(b"(null)"[..most.unwrap_or(6).min(6)].to_vec());
        }
        match most {
            None => self.machine.memory.string(address),
            Some(0) => Ok(Vec::new()),
            Some(most) => {
                let rest = self.machine.memory.rest(address)?;
                let within = &rest[..rest.len().min(most)];
                match within.iter().position(|byte| *byte == 0) {
                    Some(length) => Ok(within[..length].to_vec()),
                    None if within.len() == most => Ok(within.to_vec()),
                    None => Err(FaultKind::InvalidAccess.into()),
                }
            }
        }
    }
}

fn unsupported(conversion: u8) -> Stop {
    Stop::Unsupported(format!("format conversion `{}`", conversion.escape_ascii()).into())
}

fn sign(spec: Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn unsigned(text: &mut Vec<u8>, spec: Spec, conversion: u8, value: u128) {
    let (prefix, mut digits) = match conversion {
        b'x' => ("0x", format!("{value:x}")),
        b'X' => ("0X", format!("{value:X}")),
        b'o' => ("", format!("{value:o}")),
        _ => ("", value.to_string()),
    };
    if conversion == b'o' && spec.alternate && value != 0 {
        digits.insert(0, '0');
    }
    let prefix = if spec.alternate && value != 0 { prefix } else { "" };
    number(text, spec, prefix, digits);
}

/// An integer: a precision gives the least number of digits and turns padding with zeros off.
fn number(text: &mut Vec<u8>, spec: Spec, prefix: &str, digits: String) {
    let digits = match spec.precision {
        Some(0) if digits == "0" => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    };
    let zero = spec.zero && spec.precision.is_none();
    pad(text, Spec { zero, ..spec }, prefix, digits.as_bytes());
}

fn pad(text: &mut Vec<u8>, spec: Spec, prefix: &str, body: &[u8]) {
    let missing = spec.width.saturating_sub(prefix.len() + body.len());
    let blanks = |text: &mut Vec<u8>, byte| text.extend(std::iter::repeat_n(byte, missing));
    if !spec.left && !spec.zero {
        blanks(text, b' ');
    }
    text.extend_from_slice(prefix.as_bytes());
    if !spec.left && spec.zero {
        blanks(text, b'0');
    }
    text.extend_from_slice(body);
    if spec.left {
        blanks(text, b' ');
    }
}

fn real(text: &mut Vec<u8>, spec: Spec, conversion: u8, value: f64) {
    let prefix = sign(spec, value.is_sign_negative());
    let magnitude = value.abs();
    let body = if !magnitude.is_finite() {
        (if magnitude.is_nan() { "nan" } else { "inf" }).to_owned()
    } else {
        let precision = spec.precision.unwrap_or(6);
        match conversion.to_ascii_lowercase() {
            b'f' => fixed(magnitude, precision, spec.alternate),
            b'e' => scientific(magnitude, precision, spec.alternate),
            _ => shortest(magnitude, precision.max(1), spec.alternate),
        }
    };
    let body = if conversion.is_ascii_uppercase() { body.to_ascii_uppercase() } else { body };
    let zero = spec.zero && magnitude.is_finite();
    pad(text, Spec { zero, ..spec }, prefix, body.as_bytes());
}

fn fixed(magnitude: f64, precision: usize, point: bool) -> String {
    let dot = if point && precision == 0 { "." } else { "" };
    format!("{magnitude:.precision$}{dot}")
}

fn scientific(magnitude: f64, precision: usize, point: bool) -> String {
    let (mantissa, exponent) = split(magnitude, precision);
    let dot = if point && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{dot}e{sign}{:02}", exponent.abs())
}

/// Mantissa and decimal exponent after rounding.
fn split(magnitude: f64, precision: usize) -> (String, i32) {
    let shown = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = shown.split_once('e').expect("scientific notation has an exponent");
    (mantissa.to_owned(), exponent.parse().expect("the exponent is a number"))
}

fn shortest(magnitude: f64, significant: usize, keep_zeros: bool) -> String {
    let (_, exponent) = split(magnitude, significant - 1);
    let whole = significant as i32;
    if exponent < -4 || exponent >= whole {
        let shown = scientific(magnitude, significant - 1, keep_zeros);
        let (mantissa, exponent) = shown.split_once('e').expect("scientific notation has an exponent");
        return format!("{}e{exponent}", trimmed(mantissa, keep_zeros));
    }
    let precision = (whole - 1 - exponent) as usize;
    trimmed(&fixed(magnitude, precision, keep_zeros), keep_zeros).to_owned()
}

fn trimmed(digits: &str, keep_zeros: bool) -> &str {
    if keep_zeros || !digits.contains('.') {
        return digits;
    }
    digits.trim_end_matches('0').trim_end_matches('.')
}
