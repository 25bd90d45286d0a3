//! IEEE 754 values of 32 and 64 bits as text, and back, without losing a bit.
//!
//! Method: finite values print as the shortest decimal that reads back as the same bits; infinities as `inf` and `-inf`;
//! the quiet NaN that arithmetic makes as `nan`, every other NaN with all its bits (`nan:0x7ff8000000000001`).

/// Bits of the NaN that prints as `nan`, for a width of 32 or 64.
pub fn quiet_nan(width: u32) -> u64 {
    if width == 32 { u64::from(f32::NAN.to_bits()) } else { f64::NAN.to_bits() }
}

/// The value as text.
pub fn to_text(width: u32, bits: u64) -> String {
    if is_nan(width, bits) {
        return if bits == quiet_nan(width) { "nan".to_owned() } else { format!("nan:{bits:#x}") };
    }
    // Rust's debug format is the shortest decimal, with a fraction or an exponent.
    if width == 32 { format!("{:?}", single(bits)) } else { format!("{:?}", f64::from_bits(bits)) }
}

/// The bits that a text stands for.
pub fn from_text(width: u32, text: &str) -> Option<u64> {
    if text == "nan" {
        return Some(quiet_nan(width));
    }
    if let Some(digits) = text.strip_prefix("nan:0x") {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        let fits = width == 64 || bits >> width == 0;
        return (fits && is_nan(width, bits)).then_some(bits);
    }
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !matches!(text, "inf" | "-inf") && !text.chars().all(is_number) {
        return None;
    }
    if width == 32 {
        text.parse::<f32>().ok().map(|value| u64::from(value.to_bits()))
    } else {
        text.parse::<f64>().ok().map(f64::to_bits)
    }
}

/// The value as a C expression that every compiler reads without rounding.
///
/// Whole numbers are decimal, other finite values hexadecimal with the decimal in a comment: a compiler that computes in a
/// wider format would round a decimal fraction twice.
pub fn to_c(width: u32, bits: u64) -> String {
    let suffix = if width == 32 { "f" } else { "" };
    // every 32-bit value is one of 64 bits
    let value = if width == 32 { f64::from(single(bits)) } else { f64::from_bits(bits) };
    let sign = if bits >> (width - 1) & 1 == 1 { "-" } else { "" };
    if is_nan(width, bits) {
        let (fraction, quiet) =
            if width == 32 { (bits & 0x3f_ffff, 1 << 22) } else { (bits & !(!0 << 51), 1 << 51) };
        let maker = if bits & quiet == 0 { "nans" } else { "nan" };
        return format!("{sign}__builtin_{maker}{suffix}(\"{fraction:#x}\")");
    }
    if value.is_infinite() {
        return format!("{sign}__builtin_inf{suffix}()");
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.1}{suffix}");
    }
    let (exponent, fraction) = (value.to_bits() >> 52 & 0x7ff, value.to_bits() & !(!0 << 52));
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    let (leading, power) = if exponent == 0 { (0, -1022) } else { (1, exponent.cast_signed() - 1023) };
    format!("{sign}0x{leading}{point}{digits}p{power}{suffix} /* {} */", to_text(width, bits))
}

/// Whether the bits are no number.
pub fn is_nan(width: u32, bits: u64) -> bool {
    if width == 32 { single(bits).is_nan() } else { f64::from_bits(bits).is_nan() }
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: u32, bits: u64, text: &str, c: &str) {
        assert_eq!(to_text(width, bits), text);
        assert_eq!(from_text(width, text), Some(bits));
        assert_eq!(to_c(width, bits), c);
    }

    #[test]
    fn values_read_as_people_write_them() {
        check(64, 0, "0.0", "0.0");
        check(64, 1 << 63, "-0.0", "-0.0");
        check(64, (-2.5_f64).to_bits(), "-2.5", "-0x1.4p1 /* -2.5 */");
        check(64, 0.1_f64.to_bits(), "0.1", "0x1.999999999999ap-4 /* 0.1 */");
        check(64, 1, "5e-324", "0x0.0000000000001p-1022 /* 5e-324 */");
        check(64, 1e300_f64.to_bits(), "1e300", "0x1.7e43c8800759cp996 /* 1e300 */");
        check(32, u64::from(3.0_f32.to_bits()), "3.0", "3.0f");
        check(32, u64::from(0.1_f32.to_bits()), "0.1", "0x1.99999ap-4f /* 0.1 */");
        check(32, 1, "1e-45", "0x1p-149f /* 1e-45 */");
    }

    #[test]
    fn what_is_no_number_keeps_its_bits() {
        check(64, f64::NEG_INFINITY.to_bits(), "-inf", "-__builtin_inf()");
        check(32, u64::from(f32::INFINITY.to_bits()), "inf", "__builtin_inff()");
        check(64, 0x7ff8_0000_0000_0000, "nan", "__builtin_nan(\"0x0\")");
        check(64, 0xfff8_0000_0000_0001, "nan:0xfff8000000000001", "-__builtin_nan(\"0x1\")");
        check(32, 0x7f80_0002, "nan:0x7f800002", "__builtin_nansf(\"0x2\")");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "x", "infinity", "nan:0x0", "nan:0x3ff0000000000000", "NaN", "1,5"] {
            assert_eq!(from_text(64, text), None, "{text:?}");
        }
        assert_eq!(from_text(32, "nan:0x7ff8000000000001"), None);
    }
}
