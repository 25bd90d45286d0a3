//! Invocations of a program that resemble a known one, as a person would vary it.
//!
//! Method: a few changes to the arguments, words and lines of one kept invocation. A word is replaced, put in, left out, repeated or
//! made a number; what is put in is a word of the program's text, an option, a number, a word from elsewhere in this invocation or in
//! another one, or two of these joined. Lines are repeated, left out, exchanged or taken from another invocation, so that
//! commands which worked alone come one after the other. Changes are made where the path is influenced. Limit: words are runs of
//! letters and digits, or what stands between spaces; no other structure of a text is known.

use std::collections::BTreeMap;

use analysis::dictionary::formats::{Filling, formatted};
use analysis::dictionary::{CommandOption, Dictionary, Hint, OptionName, OptionValue};
use model::Program;
use model::input::{Input, Key};
use model::invocation::{Invocation, InvocationShape};

use super::mutate::Seed;
use crate::executor::Values;
use crate::rng::Rng;

/// Changes made to one invocation at most; few are more likely.
const MAX_CHANGES: usize = 6;
/// How often something is repeated at most.
const MAX_REPEATED: usize = 64;
/// Words of a new line at most.
const MAX_WORDS: usize = 4;
/// One in so many words that are put in is text of a format of `scanf`.
const FORMATTED: usize = 4;
/// Tries to find a text that can be changed.
const MAX_ATTEMPTS: usize = 8;
/// Numbers that programs treat apart, as text.
const NUMBERS: [&[u8]; 16] = [
    b"0",
    b"1",
    b"2",
    b"3",
    b"4",
    b"5",
    b"7",
    b"10",
    b"12",
    b"100",
    b"-1",
    b"0.5",
    b"1.5",
    b"007",
    b"0x1f",
    b"99999999999",
];
/// What stands between words.
const SEPARATORS: [&[u8]; 5] = [b" ", b"\n", b",", b"", b" "];

/// The part of an invocation that a cell belongs to, and which byte of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    NumberOfArguments,
    Argument(usize, usize),
    Stdin(usize),
    File(usize, usize),
    Variable(usize, usize),
}

/// What is known of texts that the program reads.
pub(super) struct Texts {
    shape: InvocationShape,
    parts: BTreeMap<Key, Part>,
    words: Vec<Vec<u8>>,
    options: Vec<CommandOption>,
    formats: Vec<Vec<u8>>,
}

impl Texts {
    pub(super) fn new(program: &Program, shape: &InvocationShape) -> Self {
        let (mut words, mut options, mut formats) = (Vec::new(), Vec::new(), Vec::new());
        for hint in Dictionary::of(program).hints.into_keys() {
            match hint {
                Hint::Word(word) => words.push(word),
                Hint::Character(character) => words.push(vec![character]),
                Hint::Number(number) => {
                    words.extend([number - 1, number, number + 1].map(|it| it.to_string().into_bytes()));
                }
                Hint::Option(option) => options.push(option),
                Hint::File(name) => words.push(name),
                Hint::Format(format) => formats.push(format),
                Hint::ArgumentCount(_)
                | Hint::NumericArgument
                | Hint::NumericText
                | Hint::NamedFile
                | Hint::Variable(_) => {}
            }
        }
        words.extend(shape.files.iter().filter_map(|file| file.name.clone()).map(String::into_bytes));
        Self { parts: parts(shape), shape: shape.clone(), words, options, formats }
    }

    /// The values of an invocation that resembles one of these; none where nothing could be changed within the limits.
    pub(super) fn varied(&self, seeds: &[Seed], rng: &mut Rng) -> Option<Values> {
        let seed = &seeds[seeds.len() - 1 - rng.below(seeds.len()).min(rng.below(seeds.len()))];
        if seed.cells().is_empty() {
            return None;
        }
        let given = self.given(seed);
        let mut changed = given.invocation.clone();
        let n_changes = 1 + rng.below(MAX_CHANGES).min(rng.below(MAX_CHANGES));
        for _ in 0..n_changes {
            let part = (0..MAX_ATTEMPTS).find_map(|_| {
                let key = Key(seed.cells()[seed.place(rng)].key);
                self.parts.get(&key).copied()
            })?;
            let other = &self.given(&seeds[rng.below(seeds.len())]).invocation;
            let mut next = changed.clone();
            Change { texts: self, other, rng }.make(&mut next, part);
            // what does not fit is not changed
            if self.fits(&next) {
                changed = next;
            }
        }
        let values = self.shape.input(&changed).ok().filter(|_| changed != given.invocation)?.values;
        let mut values: Values = values.into_iter().chain(given.beside.iter().copied()).collect();
        values.sort_by_key(|(key, _)| *key);
        values.dedup_by_key(|(key, _)| *key);
        Some(values)
    }

    fn given<'s>(&self, seed: &'s Seed) -> &'s Given {
        seed.given(|cells| {
            let values = || cells.iter().map(|cell| (Key(cell.key), cell.value));
            let beside: BTreeMap<Key, u64> =
                values().filter(|(key, _)| !self.parts.contains_key(key)).collect();
            Given {
                invocation: self.shape.invocation(&Input { values: values().collect() }),
                beside: beside.into_iter().collect(),
            }
        })
    }

    /// Whether an invocation is within the limits.
    fn fits(&self, given: &Invocation) -> bool {
        let shape = &self.shape;
        let is_within = |n: usize, most: u64| n as u64 <= most;
        let is_text = |text: &[u8], most: u64| is_within(text.len(), most) && !text.contains(&0);
        let files = given.files.iter().map(|(_, text)| text.as_deref().unwrap_or_default());
        let sizes = [given.stdin.as_slice()].into_iter().chain(files);
        let mut variables = shape.variables.iter().zip(&given.variables);
        is_within(given.arguments.len(), shape.arguments.most)
            && given.arguments.iter().all(|argument| is_text(argument, shape.arguments.length))
            && shape.files.iter().zip(sizes).all(|(file, text)| is_within(text.len(), file.most))
            && variables
                .all(|(variable, (_, text))| is_text(text.as_deref().unwrap_or_default(), variable.length))
    }
}

/// A kept input as an invocation, and what it has beside that.
pub(super) struct Given {
    invocation: Invocation,
    beside: Values,
}

/// Which part of an invocation the cells belong to.
fn parts(shape: &InvocationShape) -> BTreeMap<Key, Part> {
    let size = |most: u64| usize::try_from(most).unwrap_or(usize::MAX);
    let mut parts = BTreeMap::new();
    parts.insert(shape.arguments.key, Part::NumberOfArguments);
    for index in 0..shape.arguments.most {
        let base = shape.arguments.key.part(index);
        for at in 0..shape.arguments.length {
            parts.insert(base.part(at), Part::Argument(size(index), size(at)));
        }
    }
    for (number, file) in shape.files.iter().enumerate() {
        let part = |at| if number == 0 { Part::Stdin(at) } else { Part::File(number - 1, at) };
        parts.insert(file.key, part(usize::MAX));
        parts.insert(file.missing(), part(0));
        for at in 0..file.most {
            parts.insert(file.key.part(at).part(0), part(size(at)));
        }
    }
    for (number, variable) in shape.variables.iter().enumerate() {
        parts.insert(variable.key, Part::Variable(number, 0));
        for at in 0..variable.length {
            parts.insert(variable.key.part(at), Part::Variable(number, size(at)));
        }
    }
    parts
}

/// One change, with what it takes from elsewhere.
struct Change<'a> {
    texts: &'a Texts,
    other: &'a Invocation,
    rng: &'a mut Rng,
}

impl Change<'_> {
    fn make(&mut self, given: &mut Invocation, part: Part) {
        match part {
            Part::NumberOfArguments => self.change_arguments(given, None),
            Part::Argument(number, at) if number < given.arguments.len() => {
                if self.rng.below(2) == 0 {
                    self.change_arguments(given, Some(number));
                } else {
                    let stdin = given.stdin.clone();
                    self.change_words(&mut given.arguments[number], at, &stdin);
                }
            }
            Part::Argument(..) => self.change_arguments(given, None),
            Part::Stdin(at) => {
                let other = self.other.stdin.clone();
                self.change_text(&mut given.stdin, at, &other);
            }
            Part::File(number, at) => {
                let other =
                    self.other.files.get(number).and_then(|(_, text)| text.clone()).unwrap_or_default();
                if let Some((_, text)) = given.files.get_mut(number) {
                    match text {
                        Some(text) if self.rng.below(64) > 0 => self.change_text(text, at, &other),
                        Some(_) => *text = None,
                        None => *text = Some(other),
                    }
                }
            }
            Part::Variable(number, at) => {
                if let Some((_, value)) = given.variables.get_mut(number) {
                    match value {
                        Some(value) => self.change_words(value, at, b""),
                        None => *value = Some(self.piece(b"")),
                    }
                }
            }
        }
    }

    /// Arguments as a list.
    fn change_arguments(&mut self, given: &mut Invocation, number: Option<usize>) {
        let arguments = &mut given.arguments;
        let number = number.unwrap_or_else(|| self.rng.below(arguments.len() + 1));
        let end = number.min(arguments.len());
        match self.rng.below(10) {
            0 if number < arguments.len() => drop(arguments.remove(number)),
            1 if number < arguments.len() => {
                let again = arguments[number].clone();
                arguments.insert(number, again);
            }
            2 if number < arguments.len() => {
                let elsewhere = self.rng.below(arguments.len());
                arguments.swap(number, elsewhere);
            }
            3 => *arguments = self.other.arguments.clone(),
            4 if !self.other.arguments.is_empty() => {
                let from = self.rng.below(self.other.arguments.len());
                let taken = self.other.arguments[from..].iter().take(1 + self.rng.below(2)).cloned();
                arguments.splice(end..end, taken);
            }
            5 | 6 if !self.texts.options.is_empty() => {
                let option = self.option();
                arguments.splice(end..end, option);
            }
            7 if number < arguments.len() => arguments[number] = self.piece(&given.stdin),
            8 => arguments.truncate(number),
            _ => arguments.insert(end, self.piece(&given.stdin)),
        }
    }

    /// An option, and its value if it has one.
    fn option(&mut self) -> Vec<Vec<u8>> {
        let texts = self.texts;
        let option = &texts.options[self.rng.below(texts.options.len())];
        let has_value = match option.value {
            OptionValue::None => self.rng.below(16) == 0,
            OptionValue::Required => true,
            OptionValue::Optional => self.rng.below(2) == 0,
        };
        let value = if has_value { self.piece(b"") } else { Vec::new() };
        match &option.name {
            OptionName::Short(letter) if has_value && self.rng.below(2) == 0 => {
                vec![vec![b'-', *letter], value]
            }
            OptionName::Short(letter) => vec![[vec![b'-', *letter], value].concat()],
            OptionName::Long(name) if has_value => vec![[b"--".as_slice(), name, b"=", &value].concat()],
            OptionName::Long(name) => vec![[b"--".as_slice(), name].concat()],
        }
    }

    /// A text of lines.
    fn change_text(&mut self, text: &mut Vec<u8>, at: usize, other: &[u8]) {
        if self.rng.below(2) == 0 {
            let own = text.clone();
            let elsewhere = if self.rng.below(2) == 0 { &own } else { other };
            return self.change_words(text, at, elsewhere);
        }
        let mut lines: Vec<Vec<u8>> =
            text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let others: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
        let place = place_of(&lines, at);
        // before or behind the line
        let beside = (place + self.rng.below(2)).min(lines.len());
        match self.rng.below(10) {
            0 if place < lines.len() => drop(lines.remove(place)),
            1 if place < lines.len() => {
                let again = self.again(&ended(lines[place].clone()));
                lines.splice(place..place, again);
            }
            2 if place < lines.len() => {
                let elsewhere = self.rng.below(lines.len());
                lines.swap(place, elsewhere);
            }
            3 if place < lines.len() => lines.truncate(place),
            4 => lines.extend(others.iter().map(|line| line.to_vec())),
            5 => drop(lines.splice(0..0, others.iter().map(|line| ended(line.to_vec())))),
            6 | 7 if !others.is_empty() => {
                let line = others[self.rng.below(others.len())];
                lines.insert(beside, ended(line.to_vec()));
            }
            _ => {
                let line = self.line(text);
                lines.insert(beside, line);
            }
        }
        // a line behind one without an end would be no line
        let n_lines = lines.len();
        for line in lines.iter_mut().take(n_lines.saturating_sub(1)) {
            *line = ended(std::mem::take(line));
        }
        *text = lines.concat();
    }

    /// A line again and again; as it is, or each time with another number behind one of its words, as names of one kind have.
    fn again(&mut self, line: &[u8]) -> Vec<Vec<u8>> {
        let (n_times, words) = (self.n_times(), words(line, false));
        if words.is_empty() || self.rng.below(2) == 0 {
            return vec![line.to_vec(); n_times];
        }
        let (_, end) = words[self.rng.below(words.len())];
        let numbered = |number: usize| [&line[..end], number.to_string().as_bytes(), &line[end..]].concat();
        (0..n_times).map(numbered).collect()
    }

    /// A line of some words.
    fn line(&mut self, text: &[u8]) -> Vec<u8> {
        let mut line = Vec::new();
        for number in 0..1 + self.rng.below(MAX_WORDS) {
            if number > 0 {
                line.push(b' ');
            }
            line.extend(self.piece(text));
        }
        line.push(b'\n');
        line
    }

    /// Words of a text: runs of letters and digits, or what stands between spaces.
    fn change_words(&mut self, text: &mut Vec<u8>, at: usize, elsewhere: &[u8]) {
        let words = words(text, self.rng.below(2) == 0);
        let at = at.min(text.len());
        let word = words.iter().copied().rfind(|(begin, _)| *begin <= at).or(words.first().copied());
        let (begin, end) = word.unwrap_or((at, at));
        let old = text[begin..end].to_vec();
        let new = match self.rng.below(8) {
            0 => Vec::new(),
            1 => {
                let separator = self.separator();
                [old.as_slice(), separator, &self.piece(elsewhere)].concat()
            }
            2 => {
                let separator = self.separator();
                [self.piece(elsewhere).as_slice(), separator, &old].concat()
            }
            3 => old.repeat(1 + self.n_times()),
            4 => [old, self.separator().to_vec()].concat().repeat(1 + self.n_times()),
            5 if old.iter().any(u8::is_ascii_digit) => neighbour(&old, self.rng),
            _ => self.piece(elsewhere),
        };
        text.splice(begin..end, new);
    }

    fn n_times(&mut self) -> usize {
        let magnitude = 1 + self.rng.below(MAX_REPEATED.ilog2() as usize);
        1 + self.rng.below(1 << magnitude)
    }

    fn separator(&mut self) -> &'static [u8] {
        SEPARATORS[self.rng.below(SEPARATORS.len())]
    }

    /// Something to put in.
    fn piece(&mut self, elsewhere: &[u8]) -> Vec<u8> {
        let (texts, other) = (self.texts, self.other);
        if !texts.formats.is_empty() && self.rng.below(FORMATTED) == 0 {
            let format = &texts.formats[self.rng.below(texts.formats.len())];
            return formatted(format, self);
        }
        let number = NUMBERS[self.rng.below(NUMBERS.len())];
        let found = words(elsewhere, self.rng.below(2) == 0);
        let found = (!found.is_empty()).then(|| {
            let (begin, end) = found[self.rng.below(found.len())];
            &elsewhere[begin..end]
        });
        let word = match texts.words.len() {
            0 => None,
            n => Some(texts.words[self.rng.below(n)].as_slice()),
        };
        let other = match other.arguments.len() {
            0 => None,
            n => Some(other.arguments[self.rng.below(n)].as_slice()),
        };
        match self.rng.below(10) {
            0 | 1 => number.to_vec(),
            2 | 3 => found.or(word).unwrap_or(number).to_vec(),
            4 => [word.unwrap_or(b"a"), number].concat(),
            5 => [word.unwrap_or(b"a"), found.unwrap_or(number)].concat(),
            6 => [found.unwrap_or(b"a"), word.unwrap_or(number)].concat(),
            7 => other.or(word).unwrap_or(number).to_vec(),
            _ => word.unwrap_or(number).to_vec(),
        }
    }
}

impl Filling for Change<'_> {
    fn number(&mut self, most_digits: usize) -> Vec<u8> {
        let n_digits = 1 + self.rng.below(most_digits.min(4));
        let number = self.rng.below(10_usize.pow(n_digits as u32));
        // a number that the program compares with is more likely to matter
        let words = &self.texts.words;
        let known = (!words.is_empty()).then(|| words[self.rng.below(words.len())].clone());
        let is_number = |word: &Vec<u8>| word.iter().all(u8::is_ascii_digit) && word.len() <= most_digits;
        known.filter(is_number).unwrap_or_else(|| number.to_string().into_bytes())
    }

    fn word(&mut self) -> Vec<u8> {
        let words = &self.texts.words;
        if words.is_empty() { b"a".to_vec() } else { words[self.rng.below(words.len())].clone() }
    }

    fn character(&mut self) -> u8 {
        self.word()[0]
    }
}

/// The line that a byte belongs to.
fn place_of(lines: &[Vec<u8>], at: usize) -> usize {
    let mut n_before = 0;
    lines
        .iter()
        .position(|line| {
            n_before += line.len();
            at < n_before
        })
        .unwrap_or(lines.len())
}

fn ended(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    line
}

/// Where words begin and end: runs of letters and digits and single other characters, or what stands between spaces.
fn words(text: &[u8], by_spaces: bool) -> Vec<(usize, usize)> {
    let belongs =
        |byte: u8| if by_spaces { !byte.is_ascii_whitespace() } else { byte.is_ascii_alphanumeric() };
    let (mut words, mut begin) = (Vec::new(), None);
    for (at, byte) in text.iter().enumerate() {
        if belongs(*byte) {
            begin.get_or_insert(at);
            continue;
        }
        words.extend(begin.take().map(|begin| (begin, at)));
        if !byte.is_ascii_whitespace() {
            words.push((at, at + 1));
        }
    }
    words.extend(begin.map(|begin| (begin, text.len())));
    words
}

/// A number near to one in a text.
fn neighbour(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let begin = text.iter().position(u8::is_ascii_digit).unwrap_or(0);
    let n = text[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = std::str::from_utf8(&text[begin..begin + n]).unwrap_or_default();
    let number: i64 = digits.parse().unwrap_or(0);
    let magnitude = 1 + rng.below(16);
    let changed = match rng.below(6) {
        0 => number.saturating_add(1),
        1 => number.saturating_sub(1),
        2 => number.saturating_mul(10),
        3 => number / 2,
        4 => number.saturating_neg(),
        _ => rng.below(1 << magnitude) as i64,
    };
    [&text[..begin], changed.to_string().as_bytes(), &text[begin + n..]].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::invocation::InvocationLimits;
    use wire::{Cell, CellKind};

    use super::*;

    fn texts(words: &[&str]) -> Texts {
        let limits = InvocationLimits {
            arguments: 4,
            length: 16,
            stdin: 64,
            files: vec![("data".to_owned(), 32)],
            variables: Vec::new(),
            allocations: 0,
        };
        let mut texts = Texts::new(&Program::default(), &InvocationShape::new(&limits));
        texts.words = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        texts.options = vec![CommandOption { name: OptionName::Short(b'n'), value: OptionValue::Required }];
        texts
    }

    fn seed(texts: &Texts, arguments: &[&str], stdin: &str) -> Seed {
        let invocation = Invocation {
            arguments: arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
            stdin: stdin.as_bytes().to_vec(),
            files: vec![("data".to_owned(), Some(b"x\n".to_vec()))],
            ..Invocation::default()
        };
        let cell =
            |(key, value): (Key, u64)| Cell { key: key.0, value, node: 0, width: 8, kind: CellKind::Value };
        let input = texts.shape.input(&invocation).expect("is within the limits");
        Seed::new(input.values.into_iter().map(cell).collect(), &BTreeSet::new())
    }

    /// What many tries amount to.
    fn tried(texts: &Texts, seeds: &[Seed], n_tries: usize) -> Vec<Invocation> {
        let mut rng = Rng::new(3);
        let tries = (0..n_tries).filter_map(|_| texts.varied(seeds, &mut rng));
        tries.map(|values| texts.shape.invocation(&Input { values: values.into_iter().collect() })).collect()
    }

    #[test]
    fn commands_that_worked_alone_come_one_after_the_other() {
        let texts = texts(&[]);
        let seeds = [seed(&texts, &[], "add x\n"), seed(&texts, &[], "run 3\n")];
        let tried = tried(&texts, &seeds, 3000);
        for together in ["add x\nrun 3\n", "run 3\nadd x\n", "add x\nadd x\n"] {
            assert!(tried.iter().any(|it| it.stdin == together.as_bytes()), "{together:?}");
        }
        let numbered = |it: &Invocation| it.stdin.windows(14).any(|run| run == b"add x0\nadd x1\n");
        assert!(tried.iter().any(numbered), "names of one kind");
    }

    #[test]
    fn words_take_the_place_of_words_whatever_their_length() {
        let texts = texts(&["strict", "cost="]);
        let tried = tried(&texts, &[seed(&texts, &["a"], "set 1 2\n")], 3000);
        for wanted in ["set strict 2\n", "set 1 1 2\n"] {
            assert!(tried.iter().any(|it| it.stdin == wanted.as_bytes()), "{wanted:?}");
        }
        let joined = |it: &Invocation| {
            it.stdin.windows(6).any(|run| run.starts_with(b"cost=") && run[5].is_ascii_digit())
        };
        assert!(tried.iter().any(joined), "words are joined with numbers");
    }

    #[test]
    fn options_are_put_before_operands_with_values() {
        let texts = texts(&["tab"]);
        let tried = tried(&texts, &[seed(&texts, &["a"], "")], 3000);
        let wanted = [b"-n".to_vec(), b"tab".to_vec(), b"a".to_vec()];
        assert!(tried.iter().any(|it| it.arguments == wanted));
    }

    #[test]
    fn what_the_invocation_does_not_have_is_kept() {
        let texts = texts(&[]);
        let known = seed(&texts, &["a"], "b\n");
        let mut cells = known.cells().to_vec();
        cells.push(Cell { key: 77 | 1 << 62, value: 5, node: 0, width: 8, kind: CellKind::Value });
        let seeds = [Seed::new(cells, &BTreeSet::new())];
        let mut rng = Rng::new(3);
        let values = (0..50).filter_map(|_| texts.varied(&seeds, &mut rng));
        assert!(values.into_iter().all(|values| values.contains(&(Key(77 | 1 << 62), 5))));
    }

    #[test]
    fn words_are_found_both_ways() {
        let found = |by_spaces| {
            words(b"a-b cd", by_spaces)
                .into_iter()
                .map(|(begin, end)| &b"a-b cd"[begin..end])
                .collect::<Vec<_>>()
        };
        assert_eq!(found(true), [b"a-b".as_slice(), b"cd"]);
        assert_eq!(found(false), [b"a".as_slice(), b"-", b"b", b"cd"]);
    }
}
