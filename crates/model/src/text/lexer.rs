//! Tokens of the text form, each with its line.

use super::ParseError;

/// The smallest piece of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A keyword, type or id.
    Word(&'a str),
    /// `%3`.
    Result(u32),
    /// A number as written: decimal, `0x…` or floating-point.
    Number(&'a str),
    /// `#7ff0…`: a constant by its bits.
    Bits(u128),
    /// What is between quotes, as written.
    Quoted(&'a str),
    Sign(&'static str),
    End,
}

/// Longest first, so that `...` is not read as three dots.
const SIGNS: [&str; 19] =
    ["...", "&&", "||", "==", "!=", "->", "(", ")", "{", "}", "[", "]", ",", ":", "=", "+", "!", "?", "*"];

/// The tokens of a text, read one after the other: a text of a large program has millions. A token that cannot be read ends
/// the text, and is the error.
pub(super) struct Tokens<'a> {
    lexer: Lexer<'a>,
    /// The next token with its line, the one before it, and the one behind it if that was the next already.
    next: (Token<'a>, u32),
    last: Option<(Token<'a>, u32)>,
    ahead: Option<(Token<'a>, u32)>,
    failure: Option<ParseError>,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let lexer = Lexer { text, bytes: text.as_bytes(), at: 0, line: 1 };
        let mut tokens = Self { lexer, next: (Token::End, 1), last: None, ahead: None, failure: None };
        tokens.next = tokens.read();
        tokens
    }

    fn read(&mut self) -> (Token<'a>, u32) {
        self.lexer.skip_blanks();
        let line = self.lexer.line;
        let token = self.lexer.token().unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            self.lexer.at = self.lexer.bytes.len();
            Token::End
        });
        (token, line)
    }

    /// Fails if something could not be read.
    pub(super) fn finish(self) -> Result<(), ParseError> {
        self.failure.map_or(Ok(()), Err)
    }

    /// The next token, which stays.
    pub(super) fn peek(&self) -> Token<'a> {
        self.next.0
    }

    /// Takes the next token; the end is never passed.
    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.next.0;
        if token != Token::End {
            self.last = Some(self.next);
            self.next = match self.ahead.take() {
                Some(ahead) => ahead,
                None => self.read(),
            };
        }
        token
    }

    /// Steps back over the token taken last, to read it again or so that an error names its line.
    pub(super) fn back(&mut self) {
        if let Some(last) = self.last.take() {
            self.ahead = Some(std::mem::replace(&mut self.next, last));
        }
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        let here = || ParseError { line: self.next.1, message: message.into() };
        self.failure.clone().unwrap_or_else(here)
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
        let found = matches!(self.peek(), Token::Sign(next) if next == sign);
        if found {
            self.next();
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
            self.next();
        }
        found
    }

    /// Takes the keyword or fails.
    pub(super) fn keyword(&mut self, word: &str) -> Result<(), ParseError> {
        if self.take_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Takes any word; `what` is for the error.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, ParseError> {
        match self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes a string, escapes resolved, or fails.
    pub(super) fn quoted(&mut self) -> Result<Vec<u8>, ParseError> {
        match self.peek() {
            Token::Quoted(written) => {
                let bytes = unescaped(written).map_err(|message| self.error(message))?;
                self.next();
                Ok(bytes)
            }
            _ => Err(self.expected("a string")),
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
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

    fn token(&mut self) -> Result<Token<'a>, ParseError> {
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
                let bits = u128::from_str_radix(digits, 16);
                bits.map(Token::Bits).map_err(|_| self.error("`#` needs hexadecimal digits"))
            }
            byte if byte.is_ascii_digit() => Ok(Token::Number(self.number())),
            b'-' if self.peek(1).is_ascii_digit() => Ok(Token::Number(self.number())),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                Ok(Token::Word(self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_')))
            }
            _ => self.operator(),
        }
    }

    fn operator(&mut self) -> Result<Token<'a>, ParseError> {
        let rest = &self.bytes[self.at..];
        let sign = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()));
        let Some(sign) = sign else {
            return Err(self.error(format!("no token starts with `{}`", self.peek(0).escape_ascii())));
        };
        self.at += sign.len();
        Ok(Token::Sign(sign))
    }

    fn take_while(&mut self, holds: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.at < self.bytes.len() && holds(self.bytes[self.at]) {
            self.at += 1;
        }
        self.since(start)
    }

    /// What was passed since then, which begins and ends at ASCII characters.
    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn number(&mut self) -> &'a str {
        let start = self.at;
        self.at += usize::from(self.peek(0) == b'-');
        if self.peek(0) == b'0' && self.peek(1) == b'x' {
            self.at += 2;
            self.take_while(|byte| byte.is_ascii_hexdigit());
            return self.since(start);
        }
        self.take_while(|byte| byte.is_ascii_digit());
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.take_while(|byte| byte.is_ascii_digit());
        }
        let signed = matches!(self.peek(1), b'-' | b'+');
        if self.peek(0) == b'e' && self.peek(1 + usize::from(signed)).is_ascii_digit() {
            self.at += 1;
            self.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+'));
        }
        self.since(start)
    }

    fn quoted(&mut self) -> Result<Token<'a>, ParseError> {
        self.at += 1;
        let start = self.at;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'"' => {
                    let written = self.since(start);
                    self.at += 1;
                    return Ok(Token::Quoted(written));
                }
                b'\n' => return Err(self.error("a string ends on its line")),
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        Err(self.error("a string is not closed"))
    }
}

/// A string without its escapes.
fn unescaped(written: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, behind) = rest.split_first().ok_or("a string ends in an escape")?;
        rest = behind;
        bytes.push(match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'"' | b'\\' => escape,
            b'x' => {
                let digits =
                    rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or_default();
                rest = rest.get(2..).unwrap_or_default();
                u8::from_str_radix(digits, 16).map_err(|_| "`\\x` needs two hexadecimal digits")?
            }
            other => return Err(format!("no escape `\\{}`", other.escape_ascii())),
        });
    }
    Ok(bytes)
}
