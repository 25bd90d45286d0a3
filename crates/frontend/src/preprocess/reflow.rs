//! Walks the preprocessor's text and clang's token list side by side.

use std::collections::HashMap;
use std::path::{Component, Path};

use model::{FileId, Position, SourceFile, Span, SpanId};

use super::lexer::token_length;
use super::positions::{FilePosition, TokenPosition, number, token_positions};
use super::{Line, Text};

/// How far to look for a place where text and token list agree again.
const RESYNC_WINDOW: usize = 64;

/// Tokens that must agree there.
const RESYNC_LENGTH: usize = 4;

/// Pragmas that only steer the preprocessor or diagnostics; seen again they could only complain.
const DROPPED_PRAGMAS: &[&str] = &[
    "once",
    "message",
    "mark",
    "push_macro",
    "pop_macro",
    "GCC poison",
    "GCC dependency",
    "GCC system_header",
    "GCC warning",
    "GCC error",
    "GCC diagnostic",
    "clang system_header",
    "clang diagnostic",
    "clang deprecated",
    "clang final",
    "clang restrict_expansion",
];

/// Makes the text of one token per line out of the output of `-E` and of `-dump-tokens`.
pub fn reflow(output: Vec<u8>, dump: &[u8]) -> Text {
    let positions: Vec<TokenPosition<'_>> = token_positions(dump).collect();
    let mut reflow = Reflow::default();
    // Line 1 is kept free for the marker's declaration.
    reflow.lines.push(Line { start: 0, end: 0, span: None });
    let mut next = Some(0);
    let mut at = 0;
    let mut line_start = true;
    while at < output.len() {
        match output[at] {
            b'\n' => {
                line_start = true;
                reflow.marker.line += 1;
                reflow.marker.line_start = at + 1;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => at += 1,
            b'#' if line_start => at = reflow.directive(&output, at),
            _ => {
                line_start = false;
                at = reflow.token(&output, at, &positions, &mut next);
            }
        }
    }
    let Reflow { lines, files, spans, .. } = reflow;
    Text { output, lines, files, spans }
}

#[derive(Default)]
struct Reflow {
    lines: Vec<Line>,
    files: Vec<SourceFile>,
    file_ids: HashMap<Vec<u8>, FileId>,
    last_file: Option<(Vec<u8>, FileId)>,
    spans: Vec<Span>,
    marker: Marker,
}

/// Where the line markers say the text is.
#[derive(Default)]
struct Marker {
    file: Option<FileId>,
    line: u32,
    /// Offset of the current line in the text.
    line_start: usize,
}

impl Reflow {
    /// Handles a line that starts with `#`; gives the offset of its end.
    fn directive(&mut self, output: &[u8], at: usize) -> usize {
        let end = output[at..].iter().position(|&byte| byte == b'\n').map_or(output.len(), |n| at + n);
        let line = output[at..end].trim_ascii_end();
        let rest = line[1..].trim_ascii_start();
        if rest.first().is_some_and(u8::is_ascii_digit) {
            self.line_marker(rest);
        } else if let Some(pragma) = rest.strip_prefix(b"pragma") {
            let words = String::from_utf8_lossy(pragma);
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            let dropped = DROPPED_PRAGMAS.iter().any(|name| {
                words.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
            });
            if !dropped {
                self.lines.push(Line { start: at as u32, end: (at + line.len()) as u32, span: None });
            }
        }
        end
    }

    /// `12 "file" 1 3`: the next line is line 12 of the file; 3 says that it is a system header.
    fn line_marker(&mut self, rest: &[u8]) {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let Some(line) = number(&rest[..digits]) else { return };
        let name = rest[digits..].trim_ascii_start();
        if name.first() != Some(&b'"') {
            self.marker.line = line.wrapping_sub(1);
            return;
        }
        let length = token_length(name);
        let file = unescape(&name[1..length.max(2) - 1]);
        let system = name[length..].split(|&byte| byte == b' ').any(|flag| flag == b"3");
        let id = self.file(&file);
        self.files[id.index()].system |= system;
        self.marker.file = Some(id);
        // The end of the marker's own line counts one up.
        self.marker.line = line.wrapping_sub(1);
    }

    /// Handles the token at `at`; gives the offset of its end. `next` is the token list's place, `None` once it is lost.
    fn token(
        &mut self,
        output: &[u8],
        at: usize,
        positions: &[TokenPosition<'_>],
        next: &mut Option<usize>,
    ) -> usize {
        let text = &output[at..];
        let mut length = token_length(text);
        if let Some(index) = *next
            && let Some(listed) = positions.get(index)
            && listed.spelling != &text[..length]
        {
            if text.starts_with(listed.spelling) {
                // clang knows better where a token ends (`::`, odd literals).
                length = listed.spelling.len();
            } else {
                *next = resync(text, positions, index);
            }
        }
        let position = next.and_then(|index| positions.get(index));
        // After a resync the text may have a token that the list lacks: its line marker places it.
        let position = position.filter(|listed| listed.spelling == &text[..length]);
        if let Some(index) = next
            && position.is_some()
        {
            *index += 1;
        }
        let span = match position {
            Some(listed) => Some(self.listed_span(listed)),
            None => self.marker_span(at),
        };
        self.lines.push(Line { start: at as u32, end: (at + length) as u32, span });
        at + length
    }

    fn listed_span(&mut self, listed: &TokenPosition<'_>) -> SpanId {
        let at = self.position(listed.at);
        let spelled = listed.spelled.map(|spelled| self.position(spelled));
        self.spans.push(Span { at, spelled });
        SpanId::new(self.spans.len() - 1)
    }

    fn marker_span(&mut self, at: usize) -> Option<SpanId> {
        let column = u32::try_from(at - self.marker.line_start).unwrap_or(0) + 1;
        let at = Position { file: self.marker.file?, line: self.marker.line, column };
        self.spans.push(Span { at, spelled: None });
        Some(SpanId::new(self.spans.len() - 1))
    }

    fn position(&mut self, position: FilePosition<'_>) -> Position {
        Position { file: self.file(position.file), line: position.line, column: position.column }
    }

    fn file(&mut self, name: &[u8]) -> FileId {
        if let Some((last, id)) = &self.last_file
            && last == name
        {
            return *id;
        }
        let path = tidy(&String::from_utf8_lossy(name));
        let id = match self.file_ids.get(path.as_bytes()) {
            Some(id) => *id,
            None => {
                let id = FileId::new(self.files.len());
                self.files.push(SourceFile { path: path.clone(), system: false });
                self.file_ids.insert(path.into_bytes(), id);
                id
            }
        };
        self.last_file = Some((name.to_owned(), id));
        id
    }
}

/// The place in the token list where it agrees with the text again, or with the text after one or more tokens
/// (then the place stays where it is).
fn resync(text: &[u8], positions: &[TokenPosition<'_>], from: usize) -> Option<usize> {
    let tokens = upcoming(text, RESYNC_WINDOW + RESYNC_LENGTH);
    let agree = |skipped_text: usize, skipped_list: usize| {
        (0..RESYNC_LENGTH).all(|offset| {
            let token = tokens.get(skipped_text + offset);
            let listed = positions.get(from + skipped_list + offset).map(|listed| listed.spelling);
            token.copied() == listed
        })
    };
    for distance in 1..=RESYNC_WINDOW {
        for skipped_list in 0..=distance {
            if agree(distance - skipped_list, skipped_list) {
                let in_step = skipped_list == distance;
                return Some(if in_step { from + skipped_list } else { from });
            }
        }
    }
    None
}

/// The next tokens of the text, without directives.
fn upcoming(text: &[u8], count: usize) -> Vec<&[u8]> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line_start = false;
    while at < text.len() && tokens.len() < count {
        match text[at] {
            b'\n' => {
                line_start = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => at += 1,
            b'#' if line_start => {
                at += text[at..].iter().position(|&byte| byte == b'\n').unwrap_or(text.len() - at);
            }
            _ => {
                let length = token_length(&text[at..]);
                tokens.push(&text[at..at + length]);
                line_start = false;
                at += length;
            }
        }
    }
    tokens
}

/// A file name without its C escapes.
fn unescape(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter().copied();
    while let Some(byte) = bytes.next() {
        plain.push(if byte == b'\\' { bytes.next().unwrap_or(byte) } else { byte });
    }
    plain
}

/// A path without `.` parts, as people write it.
fn tidy(path: &str) -> String {
    if !path.contains("./") {
        return path.to_owned();
    }
    let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
    parts.collect::<std::path::PathBuf>().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &Text) -> Vec<String> {
        (2..=text.n_lines())
            .map(|line| {
                let token = String::from_utf8_lossy(text.line(line)).into_owned();
                let Some(span) = text.span(line) else { return token };
                let at = text.spans[span.index()].at;
                format!("{token} {}:{}:{}", text.files[at.file.index()].path, at.line, at.column)
            })
            .collect()
    }

    #[test]
    fn pragmas_keep_their_lines_and_markers_vanish() {
        let output =
            b"# 1 \"a.c\"\n# 1 \"h.h\" 1 3\nint x;\n# 2 \"a.c\" 2\n#pragma pack(1)\n#pragma once\n y\n";
        let dump =
            b"int 'int'\t\tLoc=<h.h:1:1>\nidentifier 'x'\t\tLoc=<h.h:1:5>\nsemi ';'\t\tLoc=<h.h:1:6>\n\
            identifier 'y'\t\tLoc=<./a.c:9:2>\n";
        let text = reflow(output.to_vec(), dump);
        assert_eq!(
            described(&text),
            ["int h.h:1:1", "x h.h:1:5", "; h.h:1:6", "#pragma pack(1)", "y a.c:9:2"]
        );
        assert!(text.in_system_header(2) && !text.in_system_header(6));
    }

    #[test]
    fn tokens_the_list_lacks_fall_back_to_line_markers() {
        let output = b"# 1 \"a.c\"\na odd\n b c d e\n";
        let dump = "a b c d e".split(' ').enumerate();
        let dump: String =
            dump.map(|(n, token)| format!("identifier '{token}'\t\tLoc=<a.c:7:{}>\n", n + 1)).collect();
        let text = reflow(output.to_vec(), dump.as_bytes());
        assert_eq!(
            described(&text),
            ["a a.c:7:1", "odd a.c:1:3", "b a.c:7:2", "c a.c:7:3", "d a.c:7:4", "e a.c:7:5"]
        );
        let lost = reflow(output.to_vec(), b"");
        assert_eq!(described(&lost)[4], "d a.c:2:6");
    }
}
