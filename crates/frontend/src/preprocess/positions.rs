//! Reads what `-dump-tokens` prints: `kind 'spelling'<tab> [flags]<tab>Loc=<file:line:column <Spelling=file:line:column>>`.

/// A token with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenPosition<'a> {
    pub spelling: &'a [u8],
    pub at: FilePosition<'a>,
    /// For a token out of a macro, where its text is written, unless the preprocessor made the text itself.
    pub spelled: Option<FilePosition<'a>>,
}

/// A position by file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePosition<'a> {
    pub file: &'a [u8],
    pub line: u32,
    pub column: u32,
}

/// All tokens but the end of the file; lines that are none (diagnostics) are skipped.
pub fn token_positions(dump: &[u8]) -> impl Iterator<Item = TokenPosition<'_>> {
    dump.split(|&byte| byte == b'\n').filter_map(token_position)
}

fn token_position(line: &[u8]) -> Option<TokenPosition<'_>> {
    const LOCATION: &[u8] = b"\tLoc=<";
    let quote = line.iter().position(|&byte| byte == b'\'')?;
    let location_at = last_position(line, LOCATION)?;
    let head = line.get(quote + 1..location_at + 1)?;
    let spelling = &head[..last_position(head, b"'\t")?];
    if spelling.is_empty() {
        return None;
    }
    let location = line[location_at + LOCATION.len()..].strip_suffix(b">")?;
    let (at, spelled) = match first_position(location, b" <Spelling=") {
        Some(split) => {
            let spelled = location[split + b" <Spelling=".len()..].strip_suffix(b">")?;
            (&location[..split], file_position(spelled).filter(|position| !is_made_up(position.file)))
        }
        None => (location, None),
    };
    Some(TokenPosition { spelling, at: file_position(at)?, spelled })
}

/// Text pasted or stringised by the preprocessor stands in no file.
fn is_made_up(file: &[u8]) -> bool {
    file.starts_with(b"<")
}

fn file_position(text: &[u8]) -> Option<FilePosition<'_>> {
    let column_at = text.iter().rposition(|&byte| byte == b':')?;
    let line_at = text[..column_at].iter().rposition(|&byte| byte == b':')?;
    Some(FilePosition {
        file: &text[..line_at],
        line: number(&text[line_at + 1..column_at])?,
        column: number(&text[column_at + 1..])?,
    })
}

/// A decimal number and nothing else.
pub fn number(digits: &[u8]) -> Option<u32> {
    let add = |value: u32, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

fn first_position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn last_position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(file: &str, line: u32, column: u32) -> FilePosition<'_> {
        FilePosition { file: file.as_bytes(), line, column }
    }

    #[test]
    fn positions_of_plain_tokens_and_macros_are_read() {
        let dump = b"int 'int'\t [StartOfLine]\tLoc=<a:b.c:6:1>\n\
            a.c:1:1: warning: no token\n\
            string_literal '\"it's'\t\"'\t [LeadingSpace]\tLoc=<a.c:8:40 <Spelling=<scratch space>:54:1>>\n\
            greater '>'\t\tLoc=<a.c:8:69 <Spelling=./a.h:1:22>>\neof ''\t\tLoc=<a.c:9:58>\n";
        let tokens: Vec<_> = token_positions(dump).collect();
        let expected = [
            TokenPosition { spelling: b"int", at: at("a:b.c", 6, 1), spelled: None },
            TokenPosition { spelling: b"\"it's'\t\"", at: at("a.c", 8, 40), spelled: None },
            TokenPosition { spelling: b">", at: at("a.c", 8, 69), spelled: Some(at("./a.h", 1, 22)) },
        ];
        assert_eq!(tokens, expected);
    }
}
