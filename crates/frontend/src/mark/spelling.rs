//! How does the source itself spell a piece of the preprocessed text?
//!
//! Method: tokens that one use of a macro gave share the place of that use. Where all of them belong to the piece, the use
//! is read from the file: its name, and its operands when the text goes on behind them. Within the text of a macro, the
//! tokens that make up the whole of another macro without parameters are replaced by its name, found where they are
//! written. What the file does not confirm stays expanded. Limit: within the text of a macro, uses of macros with
//! parameters stay expanded.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use model::{FileId, Position, Span};

use crate::preprocess::{Text, token_length};

use super::tokens;

/// The files behind a text, read when they are first asked for.
pub struct Spelling<'a> {
    text: &'a Text,
    directory: PathBuf,
    files: RefCell<HashMap<FileId, Rc<File>>>,
}

impl<'a> Spelling<'a> {
    /// `directory` is where the compiler runs.
    pub fn new(text: &'a Text, directory: &Path) -> Self {
        Self { text, directory: directory.to_owned(), files: RefCell::default() }
    }

    /// The tokens of these lines as the source spells them, on one line.
    pub fn of(&self, first: u32, last: u32) -> String {
        if let Some(tokens) = self.around(first, last) {
            return tokens::spaced(&tokens);
        }
        let mut spelled = Vec::new();
        let mut line = first;
        while line <= last {
            let used = self.use_at(line, last).or_else(|| self.constant_at(line, last));
            let (end, tokens) = used.unwrap_or_else(|| (line, vec![self.token(line)]));
            spelled.extend(tokens);
            line = end + 1;
        }
        tokens::spaced(&spelled)
    }

    /// The use of a macro whose whole text is this piece, but for parentheses around it.
    fn around(&self, first: u32, last: u32) -> Option<Vec<String>> {
        let (mut begin, mut end) = self.expansion(first)?;
        if (begin, end) == (first, last) || end < last {
            return None;
        }
        let (_, tokens) = self.use_at(begin, end)?;
        while (begin, end) != (first, last) {
            if begin >= first || self.text.line(begin) != b"(" || tokens::closing(self.text, begin) != end {
                return None;
            }
            (begin, end) = (begin + 1, end - 1);
        }
        // an operand that the macro only puts into parentheses has a text of its own
        let is_operand = |line| self.span(line).is_some_and(|span| self.is_in_use(span));
        (!is_operand(first) || !is_operand(last)).then_some(tokens)
    }

    /// The use of a macro whose text begins on this line and ends up to `last`: where it ends, and its tokens.
    fn use_at(&self, line: u32, last: u32) -> Option<(u32, Vec<String>)> {
        let at = self.place_of_use(line)?;
        if self.is_of(at, line.wrapping_sub(1)) {
            return None;
        }
        let end = (line..=last).find(|end| !self.is_of(at, end + 1))?;
        let file = self.file(at.file);
        let name_at = file.offset(at)?;
        let name = file.name(name_at)?;
        let behind = self.behind(end);
        if let Some((plain, token)) = &behind
            && !file.text.get(file.offset(*plain)?..)?.starts_with(token)
        {
            return None; // the file is not the one that was compiled
        }
        let mut used = vec![String::from_utf8_lossy(name).into_owned()];
        let open = file.skip_blank(name_at + name.len());
        let goes_on_there = behind.is_some_and(|(plain, _)| file.offset(plain) == Some(open));
        if file.text.get(open) == Some(&b'(') && !goes_on_there {
            used.extend(file.operands(open)?);
        }
        Some((end, used))
    }

    /// The macro without parameters whose whole text begins on this line, within the text of another.
    fn constant_at(&self, line: u32, last: u32) -> Option<(u32, Vec<String>)> {
        let spelled = self.span(line)?.spelled?;
        let file = self.file(spelled.file);
        let Definition { name, body } = file.definition(file.offset(spelled)?)?;
        let mut next = line;
        for (at, token) in body {
            if next > last {
                return None;
            }
            let here = self.span(next)?.spelled.filter(|here| here.file == spelled.file);
            let is_here =
                here.and_then(|here| file.offset(here)) == Some(at) && self.text.line(next) == token;
            let end = if is_here {
                next
            } else {
                self.constant_at(next, last).filter(|(_, name)| name[0].as_bytes() == token)?.0
            };
            next = end + 1;
        }
        let end = next - 1;
        Some((end, vec![String::from_utf8_lossy(name).into_owned()]))
    }

    /// The first and last line of what the use of a macro gave, `None` for a token that stands in the file.
    fn expansion(&self, line: u32) -> Option<(u32, u32)> {
        let at = self.place_of_use(line)?;
        let (mut begin, mut end) = (line, line);
        while self.is_of(at, begin.wrapping_sub(1)) {
            begin -= 1;
        }
        while self.is_of(at, end + 1) {
            end += 1;
        }
        Some((begin, end))
    }

    /// Where the macro that gave this token is used.
    fn place_of_use(&self, line: u32) -> Option<Position> {
        let span = self.span(line)?;
        (span.spelled.is_some() || !self.is_written_there(line, span.at)).then_some(span.at)
    }

    fn is_of(&self, at: Position, line: u32) -> bool {
        self.span(line).is_some_and(|other| other.at == at)
    }

    /// Whether a token out of a macro was given to it by its use.
    fn is_in_use(&self, span: Span) -> bool {
        let Some(spelled) = span.spelled else { return false };
        let file = self.file(spelled.file);
        let at = file.offset(spelled).filter(|_| spelled.file == span.at.file && spelled > span.at);
        at.is_some_and(|at| !file.is_directive(at))
    }

    fn is_written_there(&self, line: u32, at: Position) -> bool {
        let file = self.file(at.file);
        // without the file, a token is taken to stand where it says
        file.offset(at)
            .and_then(|at| file.text.get(at..))
            .is_none_or(|text| text.starts_with(self.text.line(line)))
    }

    /// The first token behind a line that stands in the file by itself.
    fn behind(&self, line: u32) -> Option<(Position, &[u8])> {
        let span = self.span(line + 1)?;
        (span.spelled.is_none() && self.is_written_there(line + 1, span.at))
            .then(|| (span.at, self.text.line(line + 1)))
    }

    fn span(&self, line: u32) -> Option<Span> {
        self.text.span(line).map(|span| self.text.spans[span.index()])
    }

    fn token(&self, line: u32) -> String {
        String::from_utf8_lossy(self.text.line(line)).into_owned()
    }

    fn file(&self, id: FileId) -> Rc<File> {
        let read = || {
            let path = self.directory.join(&self.text.files[id.index()].path);
            Rc::new(File::new(std::fs::read(path).unwrap_or_default()))
        };
        self.files.borrow_mut().entry(id).or_insert_with(read).clone()
    }
}

/// A macro without parameters.
struct Definition<'f> {
    name: &'f [u8],
    /// The tokens of its text, with their places.
    body: Vec<(usize, &'f [u8])>,
}

/// A file of the source.
struct File {
    text: Vec<u8>,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl File {
    fn new(text: Vec<u8>) -> Self {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text, lines }
    }

    fn offset(&self, at: Position) -> Option<usize> {
        let line = *self.lines.get((at.line as usize).checked_sub(1)?)?;
        Some(line + (at.column as usize).checked_sub(1)?).filter(|offset| *offset < self.text.len())
    }

    /// The identifier that begins here.
    fn name(&self, at: usize) -> Option<&[u8]> {
        let rest = self.text.get(at..)?;
        let is_name =
            rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'));
        is_name.then(|| &rest[..token_length(rest)])
    }

    /// The first place from here on that is no white space, comment or continued line.
    fn skip_blank(&self, mut at: usize) -> usize {
        loop {
            let rest = self.text.get(at..).unwrap_or_default();
            let skipped = match rest {
                [b'\\', b'\n', ..] => 2,
                [b'\\', b'\r', b'\n', ..] => 3,
                [b'/', b'*', comment @ ..] => {
                    comment.windows(2).position(|end| end == b"*/").map_or(rest.len(), |end| end + 4)
                }
                [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                _ => return at,
            };
            at += skipped;
        }
    }

    /// The tokens from the parenthesis that opens here to the one that closes it.
    fn operands(&self, open: usize) -> Option<Vec<String>> {
        let (mut at, mut depth) = (open, 0usize);
        let mut tokens = Vec::new();
        loop {
            at = self.skip_blank(at);
            let rest = self.text.get(at..).filter(|rest| !rest.is_empty())?;
            let token = &rest[..token_length(rest)];
            tokens.push(String::from_utf8_lossy(token).into_owned());
            match token {
                b"(" => depth += 1,
                b")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(tokens);
            }
            at += token.len();
        }
    }

    /// The line, with those it continues, that holds this place.
    fn logical_line(&self, at: usize) -> (usize, usize) {
        let is_continued = |end: usize| {
            let line = self.text[..end].strip_suffix(b"\r").unwrap_or(&self.text[..end]);
            line.ends_with(b"\\")
        };
        let mut number = self.lines.partition_point(|begin| *begin <= at).saturating_sub(1);
        while number > 0 && is_continued(self.lines[number] - 1) {
            number -= 1;
        }
        let begin = self.lines[number];
        let mut end = self.lines.get(number + 1).map_or(self.text.len(), |next| next - 1);
        while is_continued(end) && number + 2 < self.lines.len() {
            number += 1;
            end = self.lines.get(number + 1).map_or(self.text.len(), |next| next - 1);
        }
        (begin, end)
    }

    fn is_directive(&self, at: usize) -> bool {
        let (begin, _) = self.logical_line(at);
        self.text.get(self.skip_blank(begin)) == Some(&b'#')
    }

    /// The macro without parameters whose text begins at this place.
    fn definition(&self, at: usize) -> Option<Definition<'_>> {
        let (begin, end) = self.logical_line(at);
        let hash = self.skip_blank(begin);
        let rest = self.text.get(hash..)?.strip_prefix(b"#")?.trim_ascii_start();
        let rest = rest.strip_prefix(b"define")?.trim_ascii_start();
        let name_at = self.text.len() - rest.len();
        let name = self.name(name_at)?;
        if self.text.get(name_at + name.len()) == Some(&b'(') || self.skip_blank(name_at + name.len()) != at {
            return None;
        }
        let mut body = Vec::new();
        let mut next = at;
        while next < end {
            let token = &self.text[next..];
            let token = &token[..token_length(token)];
            body.push((next, token));
            next = self.skip_blank(next + token.len());
        }
        Some(Definition { name, body })
    }
}
