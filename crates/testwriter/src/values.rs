//! Values as people write them, and as C reads them.

use model::ctype::declare::c_string;
use model::float_text;
use model::input::{Cell, Input, Node, Scalar};

/// A value as people read it: a number, `'a'`, `true`, an enumerator.
pub fn value_text(scalar: &Scalar, bits: u64) -> String {
    let number = scalar.number(bits);
    match scalar {
        Scalar::Integer { .. } => number.to_string(),
        Scalar::Float { bits: width } => float_text::to_text(*width, bits),
        Scalar::Bool => if number == 0 { "false" } else { "true" }.to_owned(),
        Scalar::Char { .. } => match u8::try_from(number) {
            Ok(byte @ (b'\'' | b'\\')) => format!("'\\{}'", byte as char),
            Ok(byte @ b' '..=b'~') => format!("'{}'", byte as char),
            Ok(b'\n') => "'\\n'".to_owned(),
            Ok(b'\t') => "'\\t'".to_owned(),
            _ => number.to_string(),
        },
        Scalar::Enum { enumerators, .. } => {
            let named = enumerators.iter().find(|(_, value)| *value == number);
            named.map_or_else(|| number.to_string(), |(name, _)| name.clone())
        }
    }
}

/// A value as C takes it without a warning.
pub fn literal(scalar: &Scalar, bits: u64) -> String {
    if let Scalar::Float { bits: width } = scalar {
        return float_text::to_c(*width, bits);
    }
    let text = value_text(scalar, bits);
    let number = scalar.number(bits);
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if !plain {
        text
    } else if number == i128::from(i64::MIN) {
        "-9223372036854775807LL - 1".to_owned()
    } else if number > i128::from(i64::MAX) {
        format!("{text}ULL")
    } else if number > i128::from(i32::MAX) && number <= i128::from(u32::MAX) && !scalar.signed() {
        format!("{text}U")
    } else if number > i128::from(i32::MAX) || number < i128::from(i32::MIN) + 1 {
        format!("{text}{}", if scalar.signed() { "LL" } else { "ULL" })
    } else {
        text
    }
}

/// Characters as a string literal, when they are readable text followed by zeros. `extra` says that the array has a zero
/// element more.
pub fn string(elements: &[Node], input: &Input, extra: bool) -> Option<String> {
    let byte = |cell: &Cell| input.values.get(&cell.key).copied().unwrap_or(0) as u8;
    let bytes = elements.iter().map(|element| element.kind.character().map(byte));
    let bytes = bytes.collect::<Option<Vec<u8>>>()?;
    let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let fits = length < bytes.len() || extra;
    let readable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t') && *byte != b'?';
    if !fits || (length == 0 && !extra) || !bytes[..length].iter().all(readable) {
        return None;
    }
    Some(c_string(&bytes[..length]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_people_write_them() {
        let int = |bits, signed| Scalar::Integer { bits, signed };
        assert_eq!(value_text(&int(8, true), 0xff), "-1");
        assert_eq!(value_text(&int(64, false), u64::MAX), "18446744073709551615");
        assert_eq!(value_text(&Scalar::Bool, 1), "true");
        assert_eq!(value_text(&Scalar::Char { signed: true }, 0x27), "'\\''");
        assert_eq!(value_text(&Scalar::Char { signed: true }, 0xff), "-1");
        assert_eq!(value_text(&Scalar::Char { signed: false }, 200), "200");
        let color = Scalar::Enum { bits: 32, signed: true, enumerators: vec![("RED".into(), -1)] };
        assert_eq!(value_text(&color, 0xffff_ffff), "RED");
        assert_eq!(value_text(&color, 7), "7");
    }

    #[test]
    fn literals_fit_their_types() {
        let int = |bits, signed| Scalar::Integer { bits, signed };
        assert_eq!(literal(&int(64, true), 1 << 63), "-9223372036854775807LL - 1");
        assert_eq!(literal(&int(64, false), 1 << 63), "9223372036854775808ULL");
        assert_eq!(literal(&int(32, true), 1 << 31), "-2147483648LL");
        assert_eq!(literal(&int(32, false), 7), "7");
        assert_eq!(literal(&int(32, false), 1 << 31), "2147483648U");
    }
}
