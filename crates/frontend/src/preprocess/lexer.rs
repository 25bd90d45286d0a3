//! Cuts preprocessed C into tokens.

/// Length of the token at the start of `text`, which is not empty and does not start with a blank.
pub fn token_length(text: &[u8]) -> usize {
    let first = text[0];
    if let Some(length) = literal_length(text) {
        length
    } else if first.is_ascii_digit() || (first == b'.' && text.get(1).is_some_and(u8::is_ascii_digit)) {
        number_length(text)
    } else if is_identifier(first) || first == b'\\' {
        1 + text[1..].iter().take_while(|&&byte| is_identifier(byte) || byte == b'\\').count()
    } else {
        punctuator_length(text)
    }
}

/// Letters, digits, `_`, `$`, and every byte of a character outside ASCII.
fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// A string or character literal with its prefix.
fn literal_length(text: &[u8]) -> Option<usize> {
    let prefix = ["u8", "L", "u", "U", ""].iter().find(|prefix| {
        text.starts_with(prefix.as_bytes()) && matches!(text.get(prefix.len()), Some(b'"' | b'\''))
    })?;
    let quote = text[prefix.len()];
    let mut at = prefix.len() + 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return Some(at),
            _ if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    Some(text.len())
}

/// A preprocessing number: digits, letters, dots, and signs after an exponent.
fn number_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        let signed = matches!(byte, b'+' | b'-') && matches!(text[at - 1], b'e' | b'E' | b'p' | b'P');
        if !(signed || is_identifier(byte) || byte == b'.') {
            break;
        }
        at += 1;
    }
    at
}

/// Punctuators longer than one byte, longest first.
const PUNCTUATORS: &[&str] = &[
    "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=",
    "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##", "<:", ":>", "<%", "%>", "%:",
];

fn punctuator_length(text: &[u8]) -> usize {
    PUNCTUATORS.iter().find(|punctuator| text.starts_with(punctuator.as_bytes())).map_or(1, |p| p.len())
}

#[cfg(test)]
mod tests {
    use super::token_length;

    #[test]
    fn tokens_are_cut_where_c_cuts_them() {
        let text = br#"a+++b 0x1p-3.f.5e+x L"a\"b" u8'\'' <:%:%> ...->x$y 1'2 "#;
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < text.len() {
            if text[at] == b' ' {
                at += 1;
                continue;
            }
            let length = token_length(&text[at..]);
            tokens.push(std::str::from_utf8(&text[at..at + length]).expect("ASCII"));
            at += length;
        }
        let expected = [
            "a",
            "++",
            "+",
            "b",
            "0x1p-3.f.5e+x",
            r#"L"a\"b""#,
            r"u8'\''",
            "<:",
            "%:",
            "%>",
            "...",
            "->",
            "x$y",
            "1",
            "'2 ",
        ];
        assert_eq!(tokens, expected);
    }
}
