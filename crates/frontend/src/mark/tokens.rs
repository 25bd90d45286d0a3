//! Tokens of a text as people read them, and brackets among them.

use crate::preprocess::Text;

/// Tokens on one line, spaced as C is usually written.
pub fn spaced(tokens: &[String]) -> String {
    let mut spaced = String::new();
    let mut before: Option<Piece> = None;
    for token in tokens {
        if token.is_empty() || token.starts_with('#') {
            continue;
        }
        let piece = Piece::of(token, before);
        if let Some(before) = before
            && space_between(before, piece)
        {
            spaced.push(' ');
        }
        spaced.push_str(token);
        before = Some(piece);
    }
    spaced
}

/// What a token is to spacing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A name or literal.
    Operand,
    Keyword,
    Open,
    Close,
    /// `.`, `->`.
    Member,
    /// `,`, `;`.
    Separator,
    Prefix,
    Postfix,
    Infix,
}

impl Piece {
    fn of(token: &str, before: Option<Self>) -> Self {
        let after_operand = matches!(before, Some(Self::Operand | Self::Close | Self::Postfix));
        match token {
            "(" | "[" | "{" | "<:" | "<%" => Self::Open,
            ")" | "]" | "}" | ":>" | "%>" => Self::Close,
            "." | "->" => Self::Member,
            "," | ";" => Self::Separator,
            "!" | "~" => Self::Prefix,
            "++" | "--" if after_operand => Self::Postfix,
            "++" | "--" => Self::Prefix,
            "*" | "&" | "-" | "+" if !after_operand => Self::Prefix,
            "return" | "case" | "goto" | "if" | "while" | "for" | "switch" | "do" | "else" => Self::Keyword,
            _ if token
                .starts_with(|c: char| c.is_ascii_punctuation() && !matches!(c, '_' | '"' | '\'' | '$')) =>
            {
                if token.starts_with('.') {
                    Self::Operand
                } else {
                    Self::Infix
                }
            }
            _ => Self::Operand,
        }
    }
}

fn space_between(before: Piece, piece: Piece) -> bool {
    match (before, piece) {
        (_, Piece::Close | Piece::Member | Piece::Separator | Piece::Postfix) => false,
        (Piece::Open | Piece::Member | Piece::Prefix, _) => false,
        (Piece::Operand | Piece::Close | Piece::Postfix, Piece::Open) => false,
        (
            Piece::Operand | Piece::Keyword | Piece::Close | Piece::Separator | Piece::Postfix | Piece::Infix,
            _,
        ) => true,
    }
}

/// The line of the bracket that closes the one opened on `open`, or the last line of the text.
pub fn closing(text: &Text, open: u32) -> u32 {
    let mut depth = 0usize;
    for line in open..=text.n_lines() {
        match bracket(text.line(line)) {
            Bracket::Open => depth += 1,
            Bracket::Close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return line;
                }
            }
            Bracket::None => {}
        }
    }
    text.n_lines()
}

/// The lines of the semicolons that stand directly between the brackets on `open` and `close`.
pub fn semicolons(text: &Text, open: u32, close: u32) -> Vec<u32> {
    let mut depth = 0usize;
    let mut found = Vec::new();
    for line in open..close {
        match bracket(text.line(line)) {
            Bracket::Open => depth += 1,
            Bracket::Close => depth = depth.saturating_sub(1),
            Bracket::None if depth == 1 && text.line(line) == b";" => found.push(line),
            Bracket::None => {}
        }
    }
    found
}

enum Bracket {
    Open,
    Close,
    None,
}

fn bracket(token: &[u8]) -> Bracket {
    match token {
        b"(" | b"[" | b"{" | b"<:" | b"<%" => Bracket::Open,
        b")" | b"]" | b"}" | b":>" | b"%>" => Bracket::Close,
        _ => Bracket::None,
    }
}
