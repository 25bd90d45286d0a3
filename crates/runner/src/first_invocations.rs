//! With which invocations is it worth to begin, judging by a program's own text?
//!
//! Method: a few invocations for each kind of [hint](analysis::dictionary): as many arguments as the program asks about, numbers where
//! it reads numbers; each option with and without others; the words, formats and characters that it knows, as lines, as tokens and
//! one at a time, in standard input and in every file. Each that is within the limits comes once. Limit: what belongs
//! together is not known, only what occurs.

use analysis::dictionary::formats::{Filling, formatted};
use analysis::dictionary::{CommandOption, Dictionary, Hint, OptionName, OptionValue};
use model::invocation::{Invocation, InvocationShape};

/// Invocations at most, and of each kind.
const MOST: usize = 48;
const MOST_OF_A_KIND: usize = 16;
/// Numbers that most programs take.
const SMALL: [i64; 6] = [1, 2, 3, 5, 8, 13];

/// The invocations, the most ordinary ones first.
pub fn first_invocations(shape: &InvocationShape, dictionary: &Dictionary) -> Vec<Invocation> {
    let texts = Texts::of(dictionary);
    let mut made = Made { shape, texts: &texts, all: Vec::new() };
    made.counts(dictionary);
    made.options();
    made.documents();
    made.words();
    made.all
}

/// What the dictionary has, by kind.
struct Texts {
    options: Vec<CommandOption>,
    words: Vec<Vec<u8>>,
    characters: Vec<u8>,
    numbers: Vec<i64>,
    formats: Vec<Vec<u8>>,
    has_numeric_arguments: bool,
    has_numbers: bool,
}

impl Texts {
    fn of(dictionary: &Dictionary) -> Self {
        let mut texts = Self {
            options: Vec::new(),
            words: Vec::new(),
            characters: Vec::new(),
            numbers: SMALL.to_vec(),
            formats: Vec::new(),
            has_numeric_arguments: false,
            has_numbers: false,
        };
        for hint in dictionary.hints.keys() {
            match hint {
                Hint::Option(option) => texts.options.push(option.clone()),
                Hint::NumericArgument => texts.has_numeric_arguments = true,
                Hint::NumericText => texts.has_numbers = true,
                Hint::Format(format) => texts.formats.push(format.clone()),
                Hint::Word(word) => texts.words.push(word.clone()),
                Hint::Character(character) => texts.characters.push(*character),
                Hint::Number(number) if !texts.numbers.contains(number) => texts.numbers.push(*number),
                Hint::ArgumentCount(_)
                | Hint::File(_)
                | Hint::NamedFile
                | Hint::Variable(_)
                | Hint::Number(_) => {}
            }
        }
        // who looks at digits reads numbers
        texts.has_numbers |= texts.characters.iter().any(u8::is_ascii_digit);
        texts
    }

    /// The number in a place, as text.
    fn number(&self, place: usize) -> Vec<u8> {
        self.numbers[place % self.numbers.len()].to_string().into_bytes()
    }

    /// An operand of a command.
    fn operand(&self, place: usize) -> Vec<u8> {
        if self.has_numeric_arguments { self.number(place) } else { b"a".to_vec() }
    }

    /// Text that a format of `scanf` reads.
    fn formatted(&self, format: &[u8], place: usize) -> Vec<u8> {
        formatted(format, &mut Counted { texts: self, place })
    }
}

/// One after the other, from a place on.
struct Counted<'a> {
    texts: &'a Texts,
    place: usize,
}

impl Counted<'_> {
    fn next(&mut self) -> usize {
        self.place += 1;
        self.place - 1
    }
}

impl Filling for Counted<'_> {
    /// Where there is room for several digits, a number that has as many.
    fn number(&mut self, most_digits: usize) -> Vec<u8> {
        let place = self.next();
        let numbers = self.texts.numbers.iter().map(|number| number.to_string().into_bytes());
        let wide: Vec<Vec<u8>> = numbers
            .filter(|number| most_digits > 2 && number.len() == most_digits && number[0] != b'-')
            .collect();
        if !wide.is_empty() {
            return wide[place % wide.len()].clone();
        }
        let number = self.texts.number(place);
        number[..number.len().min(most_digits)].to_vec()
    }

    fn word(&mut self) -> Vec<u8> {
        let place = self.next();
        let word = self.texts.words.get(place % self.texts.words.len().max(1));
        word.cloned().unwrap_or_else(|| b"a".to_vec())
    }

    fn character(&mut self) -> u8 {
        let place = self.next();
        self.texts.characters.get(place % self.texts.characters.len().max(1)).copied().unwrap_or(b'a')
    }
}

struct Made<'a> {
    shape: &'a InvocationShape,
    texts: &'a Texts,
    all: Vec<Invocation>,
}

impl Made<'_> {
    /// Takes an invocation that is within all limits and new.
    fn add(&mut self, arguments: Vec<Vec<u8>>, text: &[u8]) {
        let cut = |most: u64| text[..text.len().min(usize::try_from(most).unwrap_or(usize::MAX))].to_vec();
        let files =
            self.shape.files.iter().filter_map(|file| Some((file.name.clone()?, Some(cut(file.most)))));
        let invocation = Invocation {
            arguments,
            stdin: self.shape.files.first().map(|stdin| cut(stdin.most)).unwrap_or_default(),
            files: files.collect(),
            ..Invocation::default()
        };
        let is_possible = self.shape.input(&invocation).is_ok();
        if is_possible && self.all.len() < MOST && !self.all.contains(&invocation) {
            self.all.push(invocation);
        }
    }

    /// Operands of a command: an input file where there is one.
    fn operands(&self) -> Vec<Vec<u8>> {
        let files = self.shape.files.iter().filter_map(|file| file.name.clone()).map(String::into_bytes);
        let mut operands: Vec<Vec<u8>> = files.collect();
        if operands.is_empty() {
            operands.push(self.texts.operand(0));
        }
        operands
    }

    /// As many arguments as the program asks about.
    fn counts(&mut self, dictionary: &Dictionary) {
        let counts = dictionary.hints.keys().filter_map(|hint| match hint {
            Hint::ArgumentCount(n) => usize::try_from(*n).ok(),
            _ => None,
        });
        let document = self.document(0);
        // most first: fewer are soon tried
        for n in counts.collect::<Vec<_>>().into_iter().rev().take(MOST_OF_A_KIND) {
            let most = usize::try_from(self.shape.arguments.most).unwrap_or(usize::MAX);
            for shift in 0..2 {
                let arguments = (0..n.min(most)).map(|place| self.texts.operand(place + shift)).collect();
                self.add(arguments, &document);
            }
        }
    }

    /// Each option, and all of them that fit.
    fn options(&mut self) {
        let document = self.document(0);
        let mut together = Vec::new();
        for option in self.texts.options.iter().take(MOST_OF_A_KIND * 2) {
            let mut arguments = Vec::new();
            match &option.name {
                OptionName::Short(letter) => {
                    arguments.push(vec![b'-', *letter]);
                    if option.value == OptionValue::Required {
                        arguments.push(self.texts.number(0));
                    } else {
                        together.push(*letter);
                    }
                }
                OptionName::Long(name) => {
                    let mut text = [b"--".as_slice(), name].concat();
                    if option.value != OptionValue::None {
                        text.extend([b"=".to_vec(), self.texts.number(0)].concat());
                    }
                    arguments.push(text);
                }
            }
            arguments.extend(self.operands());
            self.add(arguments, &document);
        }
        if together.len() > 1 {
            let all = [vec![b'-'], together].concat();
            self.add([vec![all], self.operands()].concat(), &document);
        }
        // options that the program compares by itself
        let dashed: Vec<Vec<u8>> = self
            .texts
            .words
            .iter()
            .filter(|word| word.starts_with(b"-") && word.len() > 1)
            .cloned()
            .collect();
        for word in dashed.into_iter().take(MOST_OF_A_KIND) {
            self.add(vec![word, self.texts.number(0), self.texts.operand(1)], &document);
        }
    }

    /// Text for standard input and files, with what a program of no arguments, or of a file's name, reads.
    fn documents(&mut self) {
        for form in 0..FORMS {
            let text = self.document(form);
            if !text.is_empty() {
                self.add(Vec::new(), &text);
                self.add(self.operands(), &text);
            }
        }
    }

    /// Words as arguments.
    fn words(&mut self) {
        let plain: Vec<Vec<u8>> =
            self.texts.words.iter().filter(|word| !word.starts_with(b"-")).cloned().collect();
        for (place, word) in plain.into_iter().take(MOST_OF_A_KIND).enumerate() {
            let document = [word.as_slice(), b" 1 2\n"].concat();
            let formats = &self.texts.formats;
            // text of the formats that the program knows is no worse than numbers
            let operand = |number: usize| match formats.len() {
                0 => self.texts.number(number),
                n => self.texts.formatted(&formats[(place + number) % n], 0),
            };
            self.add(vec![word, operand(0), operand(1)], &document);
        }
    }

    /// Text made of everything that the program knows, in one form or another.
    fn document(&self, form: usize) -> Vec<u8> {
        let texts = self.texts;
        let words = || texts.words.iter().filter(|word| !word.starts_with(b"-"));
        let line = |mut text: Vec<u8>| {
            text.push(b'\n');
            text
        };
        match form {
            // what the formats read, or lines of numbers
            0 if !texts.formats.is_empty() => {
                let line_of = |(place, format): (usize, &Vec<u8>)| line(texts.formatted(format, place));
                texts
                    .formats
                    .iter()
                    .cycle()
                    .take(texts.formats.len() * 2)
                    .enumerate()
                    .flat_map(line_of)
                    .collect()
            }
            0 => match words().next() {
                None if texts.has_numbers => b"1 2 3\n4 5 6\n7 8 9\n".to_vec(),
                None => b"a b\nc\n".to_vec(),
                // commands, each with numbers behind it
                Some(_) => words().flat_map(|word| line([word.as_slice(), b" 1 2"].concat())).collect(),
            },
            1 => words().flat_map(|word| line(word.clone())).collect(),
            2 => words().flat_map(|word| [word.as_slice(), b" "].concat()).collect(),
            // each character between names and numbers
            3 => texts.characters.iter().flat_map(|character| [b'a', *character, b'1', b' ']).collect(),
            4 => texts.characters.clone(),
            _ => {
                let numbers = texts.numbers.iter().enumerate();
                let text = |(place, number): (usize, &i64)| {
                    format!("{number}{}", if place % 4 == 3 { '\n' } else { ' ' }).into_bytes()
                };
                if texts.has_numbers || !texts.formats.is_empty() {
                    numbers.flat_map(text).collect()
                } else {
                    Vec::new()
                }
            }
        }
    }
}

/// Forms of documents.
const FORMS: usize = 6;

#[cfg(test)]
mod tests {
    use model::invocation::InvocationLimits;

    use super::*;

    fn made(hints: &[Hint]) -> Vec<Invocation> {
        let limits = InvocationLimits {
            arguments: 12,
            length: 16,
            stdin: 64,
            files: Vec::new(),
            variables: Vec::new(),
            allocations: 0,
        };
        let hints = hints.iter().map(|hint| (hint.clone(), None)).collect();
        first_invocations(&InvocationShape::new(&limits), &Dictionary { hints })
    }

    #[test]
    fn a_program_that_counts_numbers_is_given_as_many() {
        let made = made(&[Hint::ArgumentCount(12), Hint::NumericArgument]);
        let first = &made.first().expect("there is one").arguments;
        assert_eq!(first.len(), 12);
        assert!(first.iter().all(|argument| argument.iter().all(u8::is_ascii_digit)), "{first:?}");
    }

    #[test]
    fn options_are_given_their_values() {
        let option = |letter, value| Hint::Option(CommandOption { name: OptionName::Short(letter), value });
        let made = made(&[option(b'f', OptionValue::None), option(b'o', OptionValue::Required)]);
        let has = |wanted: &[&[u8]]| {
            made.iter()
                .any(|it| it.arguments.starts_with(&wanted.iter().map(|it| it.to_vec()).collect::<Vec<_>>()))
        };
        assert!(has(&[b"-f", b"a"]) && has(&[b"-o", b"1"]), "{made:?}");
    }

    #[test]
    fn commands_come_as_lines_with_numbers() {
        let made = made(&[Hint::Word(b"add".to_vec()), Hint::Word(b"run".to_vec())]);
        assert!(made.iter().any(|it| it.stdin == b"add 1 2\nrun 1 2\n"), "{made:?}");
    }

    #[test]
    fn a_format_is_followed() {
        let texts = Texts::of(&Dictionary::default());
        assert_eq!(texts.formatted(b"%d,%3ld:%s", 0), b"1,2:a");
        assert_eq!(texts.formatted(b"%[abc]%d", 0), b"a 1");
    }
}
