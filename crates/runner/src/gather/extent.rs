//! Where does an expression of the source end? The model knows where it begins and what its tokens are.
//!
//! Method: the text is compared with the file from the beginning of the expression, ignoring white space. Limit: an
//! expression that comes from a macro or contains a comment is not found; the report then shows only the name it begins
//! with.

/// Line and column behind `expression`, which begins at this line and column of `text`.
pub fn end_of(text: &str, (line, column): (u32, u32), expression: &str) -> Option<(u32, u32)> {
    let mut wanted = expression.chars().filter(|c| !c.is_whitespace());
    let (mut line_at, mut column_at) = (line, column);
    let mut expected = wanted.next()?;
    for c in from(text, line, column)?.chars() {
        if c == '\n' {
            (line_at, column_at) = (line_at + 1, 1);
            continue;
        }
        // columns count bytes
        column_at += u32::try_from(c.len_utf8()).expect("a character has few bytes");
        if c.is_whitespace() || c == '\\' && expected != '\\' {
            continue;
        }
        if c != expected {
            return None;
        }
        match wanted.next() {
            Some(next) => expected = next,
            None => return Some((line_at, column_at)),
        }
    }
    None
}

fn from(text: &str, line: u32, column: u32) -> Option<&str> {
    let mut rest = text;
    for _ in 1..line {
        rest = &rest[rest.find('\n')? + 1..];
    }
    rest.get(usize::try_from(column.checked_sub(1)?).ok()?..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_ends_behind_its_last_token() {
        let text = "if (a  <= 0 ||\n    b<= 0) x();\n";
        assert_eq!(end_of(text, (1, 5), "a <= 0"), Some((1, 12)));
        assert_eq!(end_of(text, (1, 5), "a <= 0 || b <= 0"), Some((2, 10)));
    }

    #[test]
    fn what_stands_otherwise_in_the_file_has_no_end() {
        assert_eq!(end_of("if (IS_DIGIT(c))", (1, 5), "((c) >= '0')"), None);
        assert_eq!(end_of("if (a", (1, 5), "a <= 0"), None);
        assert_eq!(end_of("if (a", (7, 5), "a"), None);
    }
}
