//! Parsers of option values: times, sizes, percentages.

use std::time::Duration;

/// Bytes of a file or of standard input, when nothing else is said.
pub(super) const DEFAULT_FILE_SIZE: u32 = 1024;

/// Reads `60s`, `2m`, `1h`, `500ms`; a number alone is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 =
        number.parse().map_err(|_| format!("'{text}' is not a time such as 60s, 2m or 500ms"))?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("unknown unit '{unit}': use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Reads `2G`, `500M`, `64K`; a number alone is bytes.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| format!("'{text}' is not a size such as 500M or 2G"))?;
    let shift = match unit {
        "" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        _ => return Err(format!("unknown unit '{unit}': use K, M, G or T")),
    };
    number.checked_mul(1 << shift).ok_or_else(|| format!("'{text}' is too large"))
}

/// Reads `NAME` or `NAME=SIZE`; the file lies in the program's own directory.
pub(super) fn input_file(text: &str) -> Result<(String, u32), String> {
    let (name, size) = match text.rsplit_once('=') {
        None => (text, DEFAULT_FILE_SIZE),
        Some((name, size)) => {
            (name, size.trim().parse().map_err(|_| format!("'{text}' is not of the form NAME=SIZE"))?)
        }
    };
    let is_inside = |part: &str| !part.is_empty() && part != "..";
    if !name.split('/').all(is_inside) {
        return Err(format!("'{name}' is not a path inside the program's directory"));
    }
    Ok((name.to_owned(), size))
}

/// Reads `NAME` or `NAME=PARAM,…`.
pub(super) fn stub_writes(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, parameters) = text.split_once('=').unwrap_or((text, ""));
    let parameters: Vec<String> =
        parameters.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if name.trim().is_empty() || (text.contains('=') && parameters.is_empty()) {
        return Err(format!("'{text}' is not of the form NAME or NAME=PARAM,PARAM"));
    }
    Ok((name.trim().to_owned(), parameters))
}

/// Reads `80` or `80%`.
pub(super) fn percentage(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').parse().map_err(|_| format!("'{text}' is not a percentage"))?;
    if !(0.0..=100.0).contains(&number) {
        return Err("a percentage must be between 0 and 100".to_owned());
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_carry_their_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert!(duration("soon").is_err());
        assert!(duration("3 fortnights").is_err());
    }

    #[test]
    fn sizes_carry_their_unit() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("500M"), Ok(500 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert!(size("large").is_err());
        assert!(size("2 apples").is_err());
        assert!(size("99999999999T").is_err());
    }

    #[test]
    fn input_files_lie_in_the_programs_directory() {
        assert_eq!(input_file("a/b.txt=10"), Ok(("a/b.txt".to_owned(), 10)));
        assert_eq!(input_file("b.txt"), Ok(("b.txt".to_owned(), DEFAULT_FILE_SIZE)));
        assert!(input_file("/etc/passwd").is_err());
        assert!(input_file("a/../../b").is_err());
        assert!(input_file("a=many").is_err());
    }

    #[test]
    fn stubs_write_through_all_pointers_or_those_named() {
        assert_eq!(stub_writes("get"), Ok(("get".to_owned(), vec![])));
        assert_eq!(stub_writes("get=a, b"), Ok(("get".to_owned(), vec!["a".to_owned(), "b".to_owned()])));
        assert!(stub_writes("get=").is_err());
        assert!(stub_writes("=a").is_err());
    }
}
