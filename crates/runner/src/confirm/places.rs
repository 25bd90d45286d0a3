//! Where in llvm-cov's counts is an element of the program?
//!
//! Method: both identify positions by file, line and column. A condition may begin with parentheses and negations that only
//! one of them counts as part of it; they are skipped on both sides, and an odd number of negations between the two swaps
//! outcomes. Text of a macro is found by where the macro is used and where its text is written. Limit: uses of one macro
//! within the text of another are not distinguished; operands passed to a macro are found only where llvm-cov has them.

use std::collections::BTreeMap;
use std::path::Path;

use frontend::witness::{Branch, Measured, MeasuredPosition, Region};
use model::{FileId, Position, Program, Span};

/// The conditions that begin where a condition begins.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours {
    /// Whether it is the only one that begins there for a reader.
    pub is_lonely: bool,
    /// How many, with itself, begin with the same token.
    pub n_alike: usize,
    /// Its place among them, outermost first.
    pub rank: usize,
}

/// The files of a program as llvm-cov numbers them, with their texts.
pub struct Places<'a> {
    measured: &'a Measured,
    files: BTreeMap<FileId, usize>,
    texts: Vec<Text>,
}

impl<'a> Places<'a> {
    /// `absolute` gives the real path of a file that the program names.
    pub fn new(
        program: &Program,
        measured: &'a Measured,
        absolute: impl Fn(&str) -> std::path::PathBuf,
    ) -> Self {
        let known = (0..).map(FileId::new).zip(&program.files);
        let numbered =
            |(id, file): (FileId, &model::SourceFile)| Some((id, measured.file(&absolute(&file.path))?));
        let files = known.filter_map(numbered).collect();
        let texts = measured.files.iter().map(|path| Text::read(path)).collect();
        Self { measured, files, texts }
    }

    /// A position of the program.
    pub fn place(&self, at: Position) -> Option<MeasuredPosition> {
        let file = *self.files.get(&at.file)?;
        Some(MeasuredPosition { file, line: at.line, column: at.column })
    }

    /// How often the code at a place was executed; `None` where nothing is counted.
    pub fn count_at(&self, span: Span) -> Option<u64> {
        let at = self.place(span.at)?;
        let in_macro = span.spelled.and_then(|written| {
            let written = self.place(written)?;
            innermost(self.measured.regions.iter().filter(|region| region.used_at == Some(at)), written)
        });
        in_macro.or_else(|| {
            let written_out = self.measured.regions.iter().filter(|region| region.used_at.is_none());
            innermost(written_out, self.behind_while(at))
        })
    }

    /// The `while` at the end of a `do` counts with its condition, not with what stands around it.
    fn behind_while(&self, at: MeasuredPosition) -> MeasuredPosition {
        let text = &self.texts[at.file];
        let Some(rest) = text.offset(at).and_then(|offset| text.text.get(offset..)) else { return at };
        let Some(inside) = rest
            .strip_prefix("while")
            .and_then(|rest| rest.trim_start_matches([' ', '\t']).strip_prefix('('))
        else {
            return at;
        };
        let skipped = u32::try_from(rest.len() - inside.len()).unwrap_or(0);
        MeasuredPosition { column: at.column + skipped, ..at }
    }

    /// How often the condition that begins at a place was true, and how often false.
    pub fn outcomes(&self, span: Span, text: &str, neighbours: Neighbours) -> Option<[u64; 2]> {
        let at = self.place(span.at)?;
        let branches = &self.measured.branches;
        let from_macro = || {
            let written_out = branches.iter().filter(|branch| branch.used_at.is_none());
            let mut whole = self.beginning(at, written_out);
            whole.retain(|branch| self.letters_of(branch) == letters(text));
            whole
        };
        let (begin, found) = match span.spelled {
            // it begins with a macro and goes on behind it: what the macro itself decides is another condition
            Some(_) if !from_macro().is_empty() => (at, from_macro()),
            None => (at, self.beginning(at, branches.iter().filter(|branch| branch.used_at.is_none()))),
            Some(written) => {
                let written = self.place(written)?;
                let found =
                    self.beginning(written, branches.iter().filter(|branch| branch.used_at == Some(at)));
                if found.is_empty() && neighbours.is_lonely {
                    // it begins with a macro and goes on behind it
                    (at, self.beginning(at, branches.iter().filter(|branch| branch.used_at.is_none())))
                } else {
                    (written, found)
                }
            }
        };
        let found = self.the_one(begin, found, text, neighbours);
        let (found, is_negated) = match found.first() {
            Some(first) => {
                let is_negated = self.is_negated(first.begin, begin)?;
                (found, is_negated)
            }
            None => self.behind_comma(at, text).filter(|_| span.spelled.is_none())?,
        };
        let sum = |count: fn(&Branch) -> u64| found.iter().map(|branch| count(branch)).sum();
        let (when_true, when_false) = (sum(|branch| branch.when_true), sum(|branch| branch.when_false));
        Some(if is_negated { [when_false, when_true] } else { [when_true, when_false] })
    }

    /// The branch whose last operand, behind a comma, is this condition; and whether it is negated there.
    fn behind_comma(&self, at: MeasuredPosition, text: &str) -> Option<(Vec<&Branch>, bool)> {
        let file = &self.texts[at.file];
        let here = file.offset(at)?;
        let written = |branch: &Branch| {
            let end = MeasuredPosition { line: branch.end.0, column: branch.end.1, ..branch.begin };
            let before = file.text.get(file.offset(branch.begin)?..here)?;
            Some((before, file.text.get(here..file.offset(end)?)?))
        };
        let mut is_negated = None;
        let is_it = |branch: &&Branch| {
            if branch.used_at.is_some() || branch.begin.file != at.file {
                return false;
            }
            let Some((before, rest)) = written(branch) else { return false };
            let effects = before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '(' | '!'));
            let is_behind = effects.ends_with(',') && letters(rest) == letters(text);
            if is_behind {
                is_negated = Some(before[effects.len()..].matches('!').count() % 2 == 1);
            }
            is_behind
        };
        let found: Vec<&Branch> = self.measured.branches.iter().filter(is_it).collect();
        Some((found, is_negated?))
    }

    /// How often a `switch` went to the label at this place.
    pub fn label(&self, span: Span) -> Option<u64> {
        let at = self.place(span.at)?;
        let of_label = |branch: &&Branch| match span.spelled.and_then(|written| self.place(written)) {
            None => branch.used_at.is_none() && branch.begin == at,
            Some(written) => branch.used_at == Some(at) && branch.begin == written,
        };
        let mut counts = self.measured.branches.iter().filter(of_label).map(|branch| branch.when_true);
        let first = counts.next()?;
        Some(counts.fold(first, |sum, count| sum + count))
    }

    /// How often the `switch` at this place had no label for its value.
    pub fn unmatched(&self, span: Span) -> Option<u64> {
        if span.spelled.is_some() {
            return None;
        }
        let at = self.place(span.at)?;
        let text = &self.texts[at.file];
        let rest = text.text.get(text.offset(at)?..)?;
        let inside = rest.strip_prefix("switch")?.trim_start().strip_prefix('(')?;
        let begin = text.operand(text.offset(at)? + rest.len() - inside.len());
        let here = |branch: &&Branch| {
            branch.used_at.is_none()
                && branch.begin.file == at.file
                && self.operand(branch.begin) == Some(begin)
        };
        let mut counts = self.measured.branches.iter().filter(here).map(|branch| branch.when_true);
        let first = counts.next()?;
        // more than one: a condition begins the expression
        counts.next().is_none().then_some(first)
    }

    /// Those that begin at a place, parentheses and negations aside.
    fn beginning<'b>(
        &self,
        at: MeasuredPosition,
        branches: impl Iterator<Item = &'b Branch>,
    ) -> Vec<&'b Branch> {
        let operand = self.operand(at);
        let here = |branch: &&Branch| branch.begin.file == at.file && self.operand(branch.begin) == operand;
        branches.filter(here).collect()
    }

    /// Of several that begin alike, the one with this text; nothing when that cannot be said.
    fn the_one<'b>(
        &self,
        at: MeasuredPosition,
        found: Vec<&'b Branch>,
        text: &str,
        neighbours: Neighbours,
    ) -> Vec<&'b Branch> {
        let extent = |branch: &Branch| (branch.begin, std::cmp::Reverse(branch.end));
        let extents: std::collections::BTreeSet<_> = found.iter().map(|branch| extent(branch)).collect();
        if extents.len() < 2 {
            return found;
        }
        let written = |branch: &Branch| self.letters_of(branch);
        let text = letters(text);
        let same: Vec<&Branch> = found.iter().filter(|branch| written(branch) == text).copied().collect();
        if same.is_empty() {
            // macros in it are written out in our text: it is the one that goes on like it where all others have ended
            let shared = |branch: &Branch| {
                written(branch).chars().zip(text.chars()).take_while(|(a, b)| a == b).count()
            };
            let goes_on = |branch: &&&Branch| {
                let others =
                    found.iter().filter(|other| (other.begin, other.end) != (branch.begin, branch.end));
                others.into_iter().all(|other| shared(branch) > written(other).chars().count())
            };
            let one: Vec<&Branch> = found.iter().filter(goes_on).copied().collect();
            if !one.is_empty() || extents.len() != neighbours.n_alike {
                return one;
            }
            // both lists have the outermost first
            let meant = extents.into_iter().nth(neighbours.rank);
            return found.into_iter().filter(|branch| Some(extent(branch)) == meant).collect();
        }
        let exact: Vec<&Branch> = same.iter().filter(|branch| branch.begin == at).copied().collect();
        if exact.is_empty() { same } else { exact }
    }

    /// What a branch covers in the source.
    fn letters_of(&self, branch: &Branch) -> String {
        let file = &self.texts[branch.begin.file];
        let end = MeasuredPosition { line: branch.end.0, column: branch.end.1, ..branch.begin };
        let extent = file.offset(branch.begin).zip(file.offset(end));
        letters(extent.and_then(|(begin, end)| file.text.get(begin..end)).unwrap_or_default())
    }

    /// Whether an odd number of negations stands between two places; `None` when something else does.
    pub fn is_negated(&self, from: MeasuredPosition, to: MeasuredPosition) -> Option<bool> {
        if from.file != to.file || from >= to {
            return Some(false);
        }
        let text = &self.texts[from.file];
        let between = text.text.get(text.offset(from)?..text.offset(to)?)?;
        let is_harmless = between.chars().all(|c| c.is_whitespace() || matches!(c, '(' | '!'));
        is_harmless.then(|| between.matches('!').count() % 2 == 1)
    }

    /// Whether two places are the same, parentheses and negations aside.
    pub fn is_same(&self, a: MeasuredPosition, b: MeasuredPosition) -> bool {
        a.file == b.file && self.operand(a).is_some() && self.operand(a) == self.operand(b)
    }

    fn operand(&self, at: MeasuredPosition) -> Option<usize> {
        let text = &self.texts[at.file];
        Some(text.operand(text.offset(at)?))
    }
}

/// The count of the smallest of these regions that holds a place; the most of its instances.
fn innermost<'b>(regions: impl Iterator<Item = &'b Region>, at: MeasuredPosition) -> Option<u64> {
    let holds = |region: &&Region| {
        let place = (at.line, at.column);
        let begin = (region.begin.line, region.begin.column);
        region.begin.file == at.file && begin <= place && place < region.end
    };
    let key = |region: &&Region| (region.begin, std::cmp::Reverse(region.end), region.count);
    regions.filter(holds).max_by_key(key).map(|region| region.count)
}

/// An expression without what makes no difference to which one it is.
fn letters(expression: &str) -> String {
    expression.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')' | '!')).collect()
}

/// A file's text.
struct Text {
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl Text {
    /// Empty when it cannot be read: then no place is found in it.
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_default();
        // bytes that are no text would move what comes behind them
        Self::new(String::from_utf8(bytes).unwrap_or_else(|error| latin(error.as_bytes())))
    }

    fn new(text: String) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, lines }
    }

    fn offset(&self, at: MeasuredPosition) -> Option<usize> {
        let line = *self.lines.get(usize::try_from(at.line).ok()?.checked_sub(1)?)?;
        let offset = line + usize::try_from(at.column).ok()?.checked_sub(1)?;
        (offset <= self.text.len()).then_some(offset)
    }

    /// The first place from here on that is no space, parenthesis or negation.
    fn operand(&self, offset: usize) -> usize {
        let rest = self.text.as_bytes().get(offset..).unwrap_or_default();
        let skipped =
            rest.iter().take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'!'));
        offset + skipped.count()
    }
}

/// A text in which every byte that is no ASCII is a question mark.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(begin: (u32, u32), end: (u32, u32), when_true: u64, when_false: u64) -> Branch {
        let begin = MeasuredPosition { file: 0, line: begin.0, column: begin.1 };
        Branch { begin, end, used_at: None, when_true, when_false }
    }

    #[track_caller]
    fn check(text: &str, branches: Vec<Branch>, at: u32, condition: &str, expected: Option<[u64; 2]>) {
        let measured = Measured { files: vec!["a.c".into()], branches, ..Measured::default() };
        let files = BTreeMap::from([(FileId::new(0), 0)]);
        let places = Places { measured: &measured, files, texts: vec![Text::new(text.to_owned())] };
        let span = Span { at: Position { file: FileId::new(0), line: 1, column: at }, spelled: None };
        let neighbours = Neighbours { is_lonely: true, n_alike: 1, rank: 0 };
        assert_eq!(places.outcomes(span, condition, neighbours), expected, "{text}");
    }

    #[test]
    fn negations_that_llvm_cov_takes_as_part_of_a_condition_turn_its_outcomes_around() {
        check("if (!a && b)", vec![branch((1, 5), (1, 7), 2, 3)], 6, "a", Some([3, 2]));
        check("if (!(!a) && b)", vec![branch((1, 5), (1, 10), 2, 3)], 8, "a", Some([2, 3]));
        check("if ((a) && b)", vec![branch((1, 5), (1, 8), 2, 3)], 6, "a", Some([2, 3]));
        check("if (-a && b)", vec![branch((1, 5), (1, 7), 2, 3)], 6, "a", None);
        check("if (f(), !a)", vec![branch((1, 5), (1, 12), 2, 3)], 11, "a", Some([3, 2]));
    }

    #[test]
    fn conditions_that_begin_alike_are_told_apart_by_their_texts() {
        let branches = || vec![branch((1, 5), (1, 20), 2, 3), branch((1, 6), (1, 7), 4, 5)];
        check("if ((a ? b : c) > 0)", branches(), 6, "a", Some([4, 5]));
        let branches = || vec![branch((1, 5), (1, 20), 2, 3), branch((1, 6), (1, 7), 4, 5)];
        check("if ((a ? b : c) > 0)", branches(), 5, "(a ? b : c) > 0", Some([2, 3]));
        // with a macro, which is written out in the text of the condition
        let branches = || vec![branch((1, 5), (1, 20), 2, 3), branch((1, 6), (1, 7), 4, 5)];
        check("if ((a ? b : C) > 0)", branches(), 5, "(a ? b : 17) > 0", Some([2, 3]));
        check("if ((a ? b : C) > 0)", branches(), 6, "a", Some([4, 5]));
    }

    #[test]
    fn a_condition_that_begins_with_a_macro_is_not_what_the_macro_decides() {
        let text = "#define C(p) (*p ? *p++ : 0)\nif (C(p) == 1)";
        let at = |line, column| MeasuredPosition { file: 0, line, column };
        let inner =
            Branch { begin: at(1, 15), end: (1, 17), used_at: Some(at(2, 5)), when_true: 9, when_false: 0 };
        let outer = branch((2, 5), (2, 14), 4, 5);
        let measured =
            Measured { files: vec!["a.c".into()], branches: vec![inner, outer], ..Measured::default() };
        let files = BTreeMap::from([(FileId::new(0), 0)]);
        let places = Places { measured: &measured, files, texts: vec![Text::new(text.to_owned())] };
        let position = |line, column| Position { file: FileId::new(0), line, column };
        let outcomes = |spelled, text, rank| {
            let span = Span { at: position(2, 5), spelled: Some(position(1, spelled)) };
            places.outcomes(span, text, Neighbours { is_lonely: false, n_alike: 1, rank })
        };
        assert_eq!(outcomes(14, "C(p) == 1", 0), Some([4, 5]));
        assert_eq!(outcomes(15, "*p", 0), Some([9, 0]));
    }

    #[test]
    fn the_innermost_region_counts() {
        let region = |begin: (u32, u32), end, count| Region {
            begin: MeasuredPosition { file: 0, line: begin.0, column: begin.1 },
            end,
            used_at: None,
            count,
        };
        let regions = [region((1, 1), (9, 1), 5), region((2, 1), (4, 1), 3), region((2, 1), (3, 1), 0)];
        let at = |line| innermost(regions.iter(), MeasuredPosition { file: 0, line, column: 1 });
        assert_eq!([at(1), at(2), at(3), at(5), at(9)], [Some(5), Some(0), Some(3), Some(5), None]);
    }
}
