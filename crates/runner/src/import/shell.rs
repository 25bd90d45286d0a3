//! Words of a command line, as a POSIX shell splits it.
//!
//! Method: blanks separate words; single and double quotes, backslashes and `$'…'` quote; `#` at the beginning of a word starts a
//! comment. Operators outside of quotes are tokens of their own. Limit: nothing is expanded; variables and
//! substitutions are pieces of a word that the caller may replace.

/// A part of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(Vec<Piece>),
    /// `<`, `<<<`, `|`, `;`, `&&`, `2>` and so on.
    Operator(String),
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(Vec<u8>),
    /// `$NAME` or `${NAME}`, outside of single quotes.
    Variable(String),
    /// A substitution that nobody here carries out, as it is written.
    Substitution(String),
    /// `*`, `?` or `[` outside of quotes: a pattern of file names.
    Pattern(u8),
}

/// Why a line cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ShellError {
    #[error("a quote is not closed")]
    OpenQuote,
}

/// The tokens of a line.
pub(super) fn tokens(line: &[u8]) -> Result<Vec<Token>, ShellError> {
    let mut reader = Reader { rest: line, tokens: Vec::new(), word: None };
    while let Some(byte) = reader.next() {
        reader.take(byte)?;
    }
    reader.end_word();
    Ok(reader.tokens)
}

struct Reader<'a> {
    rest: &'a [u8],
    tokens: Vec<Token>,
    word: Option<Vec<Piece>>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn end_word(&mut self) {
        self.tokens.extend(self.word.take().map(Token::Word));
    }

    fn push(&mut self, bytes: &[u8]) {
        let word = self.word.get_or_insert_default();
        match word.last_mut() {
            Some(Piece::Text(text)) => text.extend(bytes),
            Some(Piece::Variable(_) | Piece::Substitution(_) | Piece::Pattern(_)) | None => {
                word.push(Piece::Text(bytes.to_vec()));
            }
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), ShellError> {
        match byte {
            b' ' | b'\t' | b'\r' => self.end_word(),
            b'\n' => {
                self.end_word();
                self.tokens.push(Token::Operator(";".to_owned()));
            }
            b'#' if self.word.is_none() => {
                let end = self.rest.iter().position(|byte| *byte == b'\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            }
            b'\'' => {
                let end = self.rest.iter().position(|byte| *byte == b'\'').ok_or(ShellError::OpenQuote)?;
                let text = self.rest[..end].to_vec();
                self.rest = &self.rest[end + 1..];
                self.push(&text);
            }
            b'"' => self.double_quoted()?,
            b'\\' => match self.next() {
                // a line that is continued
                Some(b'\n') => {}
                Some(byte) => self.push(&[byte]),
                None => self.push(b"\\"),
            },
            b'$' => self.dollar(false)?,
            b'`' => self.substitution(b'`', "`"),
            b'<' | b'>' | b'|' | b';' | b'&' | b'(' | b')' => self.operator(byte),
            b'*' | b'?' | b'[' => {
                self.word.get_or_insert_default().push(Piece::Pattern(byte));
            }
            byte => self.push(&[byte]),
        }
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), ShellError> {
        self.push(b"");
        loop {
            match self.next().ok_or(ShellError::OpenQuote)? {
                b'"' => return Ok(()),
                b'\\' => match self.next().ok_or(ShellError::OpenQuote)? {
                    b'\n' => {}
                    byte @ (b'"' | b'\\' | b'$' | b'`') => self.push(&[byte]),
                    byte => self.push(&[b'\\', byte]),
                },
                b'$' => self.dollar(true)?,
                b'`' => self.substitution(b'`', "`"),
                byte => self.push(&[byte]),
            }
        }
    }

    fn dollar(&mut self, in_quotes: bool) -> Result<(), ShellError> {
        let piece = match self.rest.first() {
            Some(b'\'') if !in_quotes => return self.escaped(),
            Some(b'{') => {
                let end = self.rest.iter().position(|byte| *byte == b'}').ok_or(ShellError::OpenQuote)?;
                let name = String::from_utf8_lossy(&self.rest[1..end]).into_owned();
                self.rest = &self.rest[end + 1..];
                let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if is_plain { Piece::Variable(name) } else { Piece::Substitution(format!("${{{name}}}")) }
            }
            Some(b'(') => {
                self.rest = &self.rest[1..];
                self.substitution(b')', "$(");
                return Ok(());
            }
            Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => {
                let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                let end = self.rest.iter().take_while(is_of_name).count();
                let name = String::from_utf8_lossy(&self.rest[..end]).into_owned();
                self.rest = &self.rest[end..];
                Piece::Variable(name)
            }
            Some(byte @ (b'0'..=b'9' | b'?' | b'#' | b'@' | b'*' | b'$')) => {
                let name = char::from(*byte).to_string();
                self.rest = &self.rest[1..];
                Piece::Variable(name)
            }
            Some(_) | None => {
                self.push(b"$");
                return Ok(());
            }
        };
        self.word.get_or_insert_default().push(piece);
        Ok(())
    }

    /// `$'…'`, with C's escapes.
    fn escaped(&mut self) -> Result<(), ShellError> {
        self.next();
        self.push(b"");
        loop {
            let byte = match self.next().ok_or(ShellError::OpenQuote)? {
                b'\'' => return Ok(()),
                b'\\' => match self.next().ok_or(ShellError::OpenQuote)? {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'a' => 7,
                    b'b' => 8,
                    b'f' => 12,
                    b'v' => 11,
                    b'e' => 27,
                    b'x' => self.number(16, 2, 0),
                    digit @ b'0'..=b'7' => self.number(8, 2, digit - b'0'),
                    byte => byte,
                },
                byte => byte,
            };
            self.push(&[byte]);
        }
    }

    fn number(&mut self, base: u32, most: usize, first: u8) -> u8 {
        let mut value = u32::from(first);
        for _ in 0..most {
            let Some(digit) = self.rest.first().and_then(|byte| char::from(*byte).to_digit(base)) else {
                break;
            };
            value = value * base + digit;
            self.rest = &self.rest[1..];
        }
        value.to_le_bytes()[0]
    }

    fn substitution(&mut self, end: u8, begin: &str) {
        let length = self.rest.iter().position(|byte| *byte == end).unwrap_or(self.rest.len());
        let text = format!("{begin}{}", String::from_utf8_lossy(&self.rest[..length]));
        self.rest = &self.rest[(length + 1).min(self.rest.len())..];
        self.word.get_or_insert_default().push(Piece::Substitution(format!("{text}{}", char::from(end))));
    }

    fn operator(&mut self, first: u8) {
        // a number right before a redirection is its descriptor
        let descriptor = match (&self.word, first) {
            (Some(word), b'<' | b'>') => match word.as_slice() {
                [Piece::Text(text)] if !text.is_empty() && text.iter().all(u8::is_ascii_digit) => {
                    Some(String::from_utf8_lossy(text).into_owned())
                }
                _ => None,
            },
            _ => None,
        };
        if descriptor.is_some() {
            self.word = None;
        }
        self.end_word();
        let mut text = descriptor.unwrap_or_default();
        text.push(char::from(first));
        let is_of_operator = |byte: u8| match first {
            b'<' => matches!(byte, b'<' | b'&' | b'>' | b'-'),
            b'>' => matches!(byte, b'>' | b'&' | b'|'),
            b'&' => matches!(byte, b'&' | b'>'),
            b'|' | b';' => byte == first,
            _ => false,
        };
        while let Some(byte) = self.rest.first().copied().filter(|byte| is_of_operator(*byte)) {
            text.push(char::from(byte));
            self.rest = &self.rest[1..];
        }
        self.tokens.push(Token::Operator(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Token {
        Token::Word(vec![Piece::Text(text.as_bytes().to_vec())])
    }

    fn operator(text: &str) -> Token {
        Token::Operator(text.to_owned())
    }

    #[test]
    fn words_are_split_and_quotes_removed() {
        let check =
            |line: &str, expected: &[Token]| assert_eq!(tokens(line.as_bytes()), Ok(expected.to_vec()));
        check(
            " -x  'a b' \"c \\\"d\" e\\ f ''",
            &[word("-x"), word("a b"), word("c \"d"), word("e f"), word("")],
        );
        check("a'b'\"c\" # a comment", &[word("abc")]);
        check("a#b", &[word("a#b")]);
        check("$'\\x41\\n\\101' '$x' a$ b", &[word("A\nA"), word("$x"), word("a$"), word("b")]);
        check(
            "x <in.txt >out 2>&1",
            &[
                word("x"),
                operator("<"),
                word("in.txt"),
                operator(">"),
                word("out"),
                operator("2>&"),
                word("1"),
            ],
        );
        check(
            "a|b && c; d",
            &[word("a"), operator("|"), word("b"), operator("&&"), word("c"), operator(";"), word("d")],
        );
    }

    #[test]
    fn what_a_shell_would_expand_is_told_apart() {
        let text = |text: &str| Piece::Text(text.as_bytes().to_vec());
        let variable = |name: &str| Piece::Variable(name.to_owned());
        assert_eq!(
            tokens(b"\"$a/b\"${c}d $(ls x) *.c"),
            Ok(vec![
                Token::Word(vec![text(""), variable("a"), text("/b"), variable("c"), text("d")]),
                Token::Word(vec![Piece::Substitution("$(ls x)".to_owned())]),
                Token::Word(vec![Piece::Pattern(b'*'), text(".c")]),
            ])
        );
        assert_eq!(tokens(b"a 'b"), Err(ShellError::OpenQuote));
    }
}
