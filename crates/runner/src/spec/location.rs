//! `--only WHERE`: a part of a program as its user names it.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A part of the program as its user names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Where {
    File(PathBuf),
    /// Lines of a file, both ends included.
    Lines {
        file: PathBuf,
        first: u32,
        last: u32,
    },
    Function(String),
}

impl Where {
    /// Reads `file.c`, `file.c:10`, `file.c:10-80` and `function=f`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("'{text}' is none of file.c, file.c:10, file.c:10-80, function=NAME");
        if let Some(name) = text.strip_prefix("function=") {
            let name = name.trim();
            return if name.is_empty() { Err(expected()) } else { Ok(Self::Function(name.to_owned())) };
        }
        let (file, lines) = match text.rsplit_once(':') {
            Some((file, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => (file, Some(lines)),
            Some(_) | None => (text, None),
        };
        if file.is_empty() {
            return Err(expected());
        }
        let file = PathBuf::from(file);
        let Some(lines) = lines else { return Ok(Self::File(file)) };
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let line = |digits: &str| digits.parse::<u32>().map_err(|_| expected());
        let (first, last) = (line(first)?, line(last)?);
        if first == 0 || first > last {
            return Err(format!(
                "'{lines}' is not a range of lines: lines count from 1, the smaller one comes first"
            ));
        }
        Ok(Self::Lines { file, first, last })
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Lines { file, first, last } if first == last => write!(f, "{}:{first}", file.display()),
            Self::Lines { file, first, last } => write!(f, "{}:{first}-{last}", file.display()),
            Self::Function(name) => write!(f, "function={name}"),
        }
    }
}

impl From<Where> for String {
    fn from(place: Where) -> Self {
        place.to_string()
    }
}

impl TryFrom<String> for Where {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_where_is_a_file_lines_or_a_function() {
        let lines = |first, last| Where::Lines { file: PathBuf::from("src/a.c"), first, last };
        for (text, expected) in [
            ("src/a.c", Where::File(PathBuf::from("src/a.c"))),
            ("src/a.c:7", lines(7, 7)),
            ("src/a.c:10-80", lines(10, 80)),
            ("function=f", Where::Function("f".to_owned())),
            ("odd:name.c", Where::File(PathBuf::from("odd:name.c"))),
        ] {
            let read = Where::parse(text).expect("valid");
            assert_eq!(read, expected);
            assert_eq!(read.to_string(), text);
        }
        for text in
            ["", ":7", "a.c:7-", "a.c:9-7", "a.c:0", "a.c:1-2-3", "a.c:4x", "function=", "a.c:99999999999"]
        {
            assert!(Where::parse(text).is_err(), "{text}");
        }
    }
}
