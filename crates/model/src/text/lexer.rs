//! Tokens of the text form, each with its line.

use super::ParseError;

/// The smallest piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A keyword, type or id.
    Word(String),
    /// `%3`.
    Result(u32),
    /// A number as written: decimal, `0x…` or floating-point.
    Number(String),
    /// `#7ff0…`: a constant by its bits.
    Bits(u128),
    /// A quoted string, escapes resolved.
    Quoted(Vec<u8>),
    Sign(&'static str),
    End,
}

/// Longest first, so that `...` is not read as three dots.
const SIGNS: [&str; 19] =
    ["...", "&&", "||", "==", "!=", "->", "(", ")", "{", "}", "[", "]", ",", ":", "=", "+", "!", "?", "*"];

/// The tokens of a text, read one after the other.
pub(super) struct Tokens {
    tokens: Vec<(Token, u32)>,
    at: usize,
}

impl Tokens {
    /// Splits a text.
    pub(super) fn of(text: &str) -> Result<Self, ParseError> {
        let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, line: 1 };
        let mut tokens = Vec::new();
        loop {
            lexer.skip_blanks();
            let line = lexer.line;
            let token = lexer.token()?;
            let end = token == Token::End;
            tokens.push((token, line));
            if end {
                return Ok(Self { tokens, at: 0 });
            }
        }
    }

    /// The next token, which stays.
    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// Takes the next token; the end is never passed.
    pub(super) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    /// Steps back over the token taken last, so that an error names its line.
    pub(super) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { line: self.tokens[self.at].1, message: message.into() }
    }

    /// An error that says what was expected instead of the next token.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Result(id) => format!("`%{id}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Bits(bits) => format!("`#{bits:x}`"),
            Token::Quoted(_) => "a string".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// Whether the sign comes next; takes it if so.
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(next) if *next == sign);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes the sign or fails.
    pub(super) fn sign(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Whether the word comes next; takes it if so.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(next) if next == word);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes the keyword or fails.
    pub(super) fn keyword(&mut self, word: &str) -> Result<(), ParseError> {
        if self.take_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Takes any word; `what` is for the error.
    pub(super) fn word(&mut self, what: &str) -> Result<String, ParseError> {
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { line: self.line, message: message.into() }
    }

    fn skip_blanks(&mut self) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\n' => self.line += 1,
                byte if byte.is_ascii_whitespace() => {}
                b'/' if self.peek(1) == b'/' => {
                    while self.at < self.bytes.len() && self.peek(0) != b'\n' {
                        self.at += 1;
                    }
                    continue;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        if self.at == self.bytes.len() {
            return Ok(Token::End);
        }
        match self.peek(0) {
            b'"' => self.quoted(),
            b'%' => {
                self.at += 1;
                let digits = self.take_while(|byte| byte.is_ascii_digit());
                digits.parse().map(Token::Result).map_err(|_| self.error("`%` needs a number"))
            }
            b'#' => {
                self.at += 1;
                let digits = self.take_while(|byte| byte.is_ascii_hexdigit());
                let bits = u128::from_str_radix(&digits, 16);
                bits.map(Token::Bits).map_err(|_| self.error("`#` needs hexadecimal digits"))
            }
            byte if byte.is_ascii_digit() => Ok(Token::Number(self.number())),
            b'-' if self.peek(1).is_ascii_digit() => {
                self.at += 1;
                Ok(Token::Number(format!("-{}", self.number())))
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                Ok(Token::Word(self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_')))
            }
            _ => self.operator(),
        }
    }

    fn operator(&mut self) -> Result<Token, ParseError> {
        let rest = &self.bytes[self.at..];
        let sign = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()));
        let Some(sign) = sign else {
            return Err(self.error(format!("no token starts with `{}`", self.peek(0).escape_ascii())));
        };
        self.at += sign.len();
        Ok(Token::Sign(sign))
    }

    fn take_while(&mut self, holds: impl Fn(u8) -> bool) -> String {
        let start = self.at;
        while self.at < self.bytes.len() && holds(self.bytes[self.at]) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned()
    }

    fn number(&mut self) -> String {
        if self.peek(0) == b'0' && self.peek(1) == b'x' {
            self.at += 2;
            return format!("0x{}", self.take_while(|byte| byte.is_ascii_hexdigit()));
        }
        let mut number = self.take_while(|byte| byte.is_ascii_digit());
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            number = format!("{number}.{}", self.take_while(|byte| byte.is_ascii_digit()));
        }
        let signed = matches!(self.peek(1), b'-' | b'+');
        if self.peek(0) == b'e' && self.peek(1 + usize::from(signed)).is_ascii_digit() {
            self.at += 1;
            let exponent = self.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+'));
            number = format!("{number}e{exponent}");
        }
        number
    }

    fn quoted(&mut self) -> Result<Token, ParseError> {
        self.at += 1;
        let mut bytes = Vec::new();
        while self.at < self.bytes.len() {
            let byte = self.peek(0);
            self.at += 1;
            match byte {
                b'"' => return Ok(Token::Quoted(bytes)),
                b'\\' => bytes.push(self.escape()?),
                b'\n' => return Err(self.error("a string ends on its line")),
                byte => bytes.push(byte),
            }
        }
        Err(self.error("a string is not closed"))
    }

    fn escape(&mut self) -> Result<u8, ParseError> {
        let byte = self.peek(0);
        self.at += 1;
        match byte {
            b'n' => Ok(b'\n'),
            b't' => Ok(b'\t'),
            b'"' | b'\\' => Ok(byte),
            b'x' => {
                let digits = [self.peek(0), self.peek(1)];
                self.at += 2;
                let digits = std::str::from_utf8(&digits).unwrap_or_default();
                u8::from_str_radix(digits, 16).map_err(|_| self.error("`\\x` needs two hexadecimal digits"))
            }
            other => Err(self.error(format!("no escape `\\{}`", other.escape_ascii()))),
        }
    }
}
