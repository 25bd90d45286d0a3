//! Where does an expression of the source end? The model knows where it begins and what its tokens are.
//!
//! Method: the text is compared with the file from the beginning of the expression, ignoring white space. Limit: an
//! expression that comes from a macro or contains a comment is not found; the report then shows only the name it begins
//! with.

/// Where each line of a text begins.
pub struct LineStarts(Vec<usize>);

impl LineStarts {
    pub fn of(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// The text from a line and column on.
    fn from<'t>(&self, text: &'t str, line: u32, column: u32) -> Option<&'t str> {
        let line = self.0.get(usize::try_from(line.checked_sub(1)?).ok()?)?;
        text.get(line + usize::try_from(column.checked_sub(1)?).ok()?..)
    }
}

/// Line and column behind `expression`, which begins at this line and column of `text`.
pub fn end_of(
    text: &str,
    lines: &LineStarts,
    (line, column): (u32, u32),
    expression: &str,
) -> Option<(u32, u32)> {
    let mut wanted = expression.chars().filter(|c| !c.is_whitespace());
    let (mut line_at, mut column_at) = (line, column);
    let mut expected = wanted.next()?;
    for c in lines.from(text, line, column)?.chars() {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str, at: (u32, u32), expression: &str) -> Option<(u32, u32)> {
        end_of(text, &LineStarts::of(text), at, expression)
    }

    #[test]
    fn an_expression_ends_behind_its_last_token() {
        let text = "if (a  <= 0 ||\n    b<= 0) x();\n";
        assert_eq!(end(text, (1, 5), "a <= 0"), Some((1, 12)));
        assert_eq!(end(text, (1, 5), "a <= 0 || b <= 0"), Some((2, 10)));
    }

    #[test]
    fn what_stands_otherwise_in_the_file_has_no_end() {
        assert_eq!(end("if (IS_DIGIT(c))", (1, 5), "((c) >= '0')"), None);
        assert_eq!(end("if (a", (1, 5), "a <= 0"), None);
        assert_eq!(end("if (a", (7, 5), "a"), None);
    }
}
