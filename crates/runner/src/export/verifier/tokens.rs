//! Where things are in a marked text, which has a token per line; lines count from 1.
//!
//! Limit: marks precede and follow tokens on their lines, so brackets are counted by character, outside of literals.

/// The lines of a unit's text.
pub struct Tokens<'t> {
    lines: Vec<&'t str>,
}

/// A pair of brackets, by their lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brackets {
    pub open: u32,
    pub close: u32,
}

impl<'t> Tokens<'t> {
    pub fn of(text: &'t str) -> Self {
        Self { lines: text.lines().collect() }
    }

    pub fn n_lines(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// What is on a line; nothing outside of the text.
    pub fn line(&self, line: u32) -> &'t str {
        (line as usize).checked_sub(1).and_then(|at| self.lines.get(at)).copied().unwrap_or("")
    }

    /// The lines from one to another, as one.
    pub fn joined(&self, first: u32, last: u32) -> String {
        (first..=last).map(|line| self.line(line)).collect::<Vec<_>>().join(" ")
    }

    /// The brackets that open on a line.
    pub fn brackets(&self, open: u32) -> Option<Brackets> {
        let mut depth = 0;
        for line in open..=self.n_lines() {
            depth += depth_of(self.line(line));
            if depth == 0 {
                return Some(Brackets { open, close: line });
            }
        }
        None
    }

    /// The braces around the body of a function.
    pub fn body(&self, function: &str) -> Option<Brackets> {
        let mut line = 1;
        while line <= self.n_lines() {
            if self.line(line) == function && self.line(line + 1) == "(" {
                let parameters = self.brackets(line + 1)?;
                if let Some(open) = self.opening_brace(parameters.close + 1) {
                    return self.brackets(open);
                }
            }
            // names within braces are calls or members
            line = match self.line(line) {
                "{" => self.brackets(line)?.close + 1,
                _ => line + 1,
            };
        }
        None
    }

    /// The brace of the definition whose parameters end before `line`; nothing for a declaration.
    fn opening_brace(&self, mut line: u32) -> Option<u32> {
        while self.line(line).starts_with("__attribute") || self.line(line).starts_with("__asm") {
            line = self.brackets(line + 1)?.close + 1;
        }
        if matches!(self.line(line), ";" | "," | "=" | ")" | "") {
            return None;
        }
        // declarations of parameters may stand between
        (line..=self.n_lines()).find(|line| self.line(*line) == "{")
    }
}

/// How many more brackets open than close.
fn depth_of(line: &str) -> i32 {
    let token =
        line.trim_start_matches(|c: char| c == '(' || c == '_' || c == 'q' || c == ',' || c.is_ascii_digit());
    let literal = ["\"", "'", "L\"", "L'", "u\"", "u'", "U\"", "U'", "u8\""];
    let (marks, token) = if literal.iter().any(|start| token.starts_with(start)) {
        let end = token.rfind(['"', '\'']).map_or(token.len(), |at| at + 1);
        (format!("{}{}", &line[..line.len() - token.len()], &token[end..]), "")
    } else {
        (String::new(), line)
    };
    marks.chars().chain(token.chars()).fold(0, |depth, c| match c {
        '(' | '{' | '[' => depth + 1,
        ')' | '}' | ']' => depth - 1,
        _ => depth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "int\nf\n(\nint\nx\n)\n;\nint\nf\n(\nx\n)\nint\nx\n;\n{\nif\n(\n__q(0,(x\n==\n'('))\n)\n{\n}\n}";

    #[test]
    fn a_body_is_found_behind_a_declaration_and_old_parameters() {
        assert_eq!(Tokens::of(TEXT).body("f"), Some(Brackets { open: 16, close: 25 }));
        assert_eq!(Tokens::of(TEXT).body("g"), None);
    }

    #[test]
    fn literals_open_no_brackets() {
        assert_eq!(Tokens::of(TEXT).brackets(18), Some(Brackets { open: 18, close: 22 }));
    }
}
