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

/// A place between two characters of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPlace {
    pub line: u32,
    /// Bytes before it.
    pub column: usize,
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

    /// The token of a line, without marks around it.
    pub fn token(&self, line: u32) -> &'t str {
        split(self.line(line)).1
    }

    /// Where the token of a line begins.
    pub fn before(&self, line: u32) -> TextPlace {
        TextPlace { line, column: split(self.line(line)).0.len() }
    }

    /// Where the token of a line ends.
    pub fn after(&self, line: u32) -> TextPlace {
        let (marks, token) = split(self.line(line));
        TextPlace { line, column: marks.len() + token.len() }
    }

    /// The text between two places, on one line.
    pub fn between(&self, from: TextPlace, to: TextPlace) -> String {
        let part = |line: u32| {
            let text = self.line(line);
            let first = if line == from.line { from.column } else { 0 };
            let last = if line == to.line { to.column } else { text.len() };
            text.get(first..last).unwrap_or_default()
        };
        (from.line..=to.line).map(part).collect::<Vec<_>>().join(" ")
    }

    /// Where the expression ends that is assigned, returned or an argument, and begins at a place.
    pub fn expression_end(&self, from: TextPlace) -> Option<TextPlace> {
        let (mut depth, mut n_choices) = (0, 0);
        for line in from.line..=self.n_lines() {
            let text = self.line(line);
            let literal = literal(text);
            for (column, c) in text.char_indices() {
                if (line == from.line && column < from.column) || literal.contains(&column) {
                    continue;
                }
                let is_end = match c {
                    '(' | '{' | '[' => {
                        depth += 1;
                        false
                    }
                    ')' | '}' | ']' => {
                        depth -= 1;
                        depth < 0
                    }
                    '?' if depth == 0 => {
                        n_choices += 1;
                        false
                    }
                    ':' if depth == 0 => {
                        n_choices -= 1;
                        n_choices < 0
                    }
                    ',' | ';' => depth == 0,
                    _ => false,
                };
                if is_end {
                    return Some(TextPlace { line, column });
                }
            }
        }
        None
    }

    /// The line at which the operand begins that ends with the token of a line: `s.x`, `a[i]`, `f(x)->y`, `(x)`.
    pub fn operand_start(&self, mut line: u32) -> Option<u32> {
        loop {
            while matches!(self.token(line), "]" | ")") {
                let is_group = self.token(line) == ")";
                let open = (1..line).rev().find(|open| self.matches(*open, line))?;
                if is_group && !is_operand_end(self.token(open - 1)) {
                    return Some(open);
                }
                line = open - 1;
            }
            if !is_operand_end(self.token(line)) {
                return None;
            }
            match self.token(line.checked_sub(1)?) {
                "." | "->" => line -= 2,
                _ => return Some(line),
            }
        }
    }

    /// The line at which the operand ends that begins with, or goes on behind, the token of a line.
    pub fn operand_end(&self, mut line: u32) -> Option<u32> {
        while self.token(line) == "*" {
            line += 1;
        }
        if self.token(line) == "(" {
            line = self.closing(line)?;
        }
        loop {
            match self.token(line + 1) {
                "[" | "(" => line = self.closing(line + 1)?,
                "." | "->" => line += 2,
                _ => return Some(line),
            }
        }
    }

    /// The line of the bracket that closes the one that is a line's token.
    fn closing(&self, open: u32) -> Option<u32> {
        let mut depth = 0;
        for line in open..=self.n_lines() {
            match self.token(line) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(line);
            }
        }
        None
    }

    fn matches(&self, open: u32, close: u32) -> bool {
        matches!(self.token(open), "(" | "[") && self.closing(open) == Some(close)
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

/// Whether an operand can end with the token.
fn is_operand_end(token: &str) -> bool {
    let is_keyword =
        matches!(token, "return" | "if" | "while" | "for" | "switch" | "sizeof" | "else" | "do" | "case");
    token == "]"
        || token == ")"
        || !is_keyword && token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// The marks before the token of a line, and the token; more marks may follow.
fn split(line: &str) -> (&str, &str) {
    let mut at = 0;
    while let Some(rest) = line[at..].strip_prefix("__q(") {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some(after) = rest[digits..].strip_prefix(",(") else { break };
        at = line.len() - after.len();
    }
    let (marks, rest) = line.split_at(at);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let literal = literal(rest);
    let end = if !literal.is_empty() {
        literal.end
    } else if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        rest.find(|c| !word(c)).unwrap_or(rest.len())
    } else if rest.starts_with(['(', ')', '[', ']', '{', '}', ';', ',']) {
        1
    } else {
        // an operator
        rest.find(['(', ')']).unwrap_or(rest.len())
    };
    (marks, &rest[..end])
}

/// Where the literal of a line is that brackets may be in; nothing where there is none.
fn literal(line: &str) -> std::ops::Range<usize> {
    let none = 0..0;
    let Some(open) = line.find(['"', '\'']) else { return none };
    let prefix = line[..open].rfind('(').map_or(0, |at| at + 1);
    let close = line.rfind(['"', '\'']).unwrap_or(open);
    if close > open { prefix..close + 1 } else { none }
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
    fn marks_are_no_part_of_a_token() {
        let cases = [
            ("__q(0,(x", ("__q(0,(", "x")),
            ("__q(3,(__q(4,('('))", ("__q(3,(__q(4,(", "'('")),
            (")))", ("", ")")),
            ("++))", ("", "++")),
            ("L\"a)\"", ("", "L\"a)\"")),
            ("1.5))", ("", "1.5")),
            (">>=", ("", ">>=")),
        ];
        for (line, expected) in cases {
            assert_eq!(split(line), expected, "{line}");
        }
    }

    #[test]
    fn operands_and_expressions_end_where_c_says() {
        let text = |tokens: &str| tokens.replace(' ', "\n");
        let place = |line, column| Some(TextPlace { line, column });
        let joined = text("s . x [ i ] ++ ;");
        let tokens = Tokens::of(&joined);
        assert_eq!((tokens.operand_start(6), tokens.operand_end(1)), (Some(1), Some(6)));
        let joined = text("y = a ? b : ( c , d ) , z");
        let tokens = Tokens::of(&joined);
        assert_eq!(tokens.expression_end(tokens.after(2)), place(12, 0));
        let joined = text("__q(0,(x = f ( ))) )");
        let tokens = Tokens::of(&joined);
        assert_eq!(tokens.expression_end(tokens.after(2)), place(5, 1), "before the marks");
    }

    #[test]
    fn literals_open_no_brackets() {
        assert_eq!(Tokens::of(TEXT).brackets(18), Some(Brackets { open: 18, close: 22 }));
    }
}
