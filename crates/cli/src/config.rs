//! `quarry.toml`: preconditions of functions, stored once instead of on every command line.
//!
//! Method: the nearest `quarry.toml` in the current directory or above it (or the file that `--config` names) has a table
//! per function; the command line takes precedence, assumptions add up. Ranges and fixed values are assumptions as well.
//! Defaults of options are in tables of their own, which `defaults` reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use runner::spec;
use serde::Deserialize;
use toml::Spanned;

use crate::exit::Failure;

/// The name of the file.
pub const FILE: &str = "quarry.toml";

/// What a configuration says of every function it names.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default)]
    function: BTreeMap<String, Preconditions>,
    /// Options of `quarry gen` that nobody gave.
    #[serde(default, rename = "gen")]
    pub generate: Defaults,
    /// The same by name, for `--profile`.
    #[serde(default)]
    pub profile: BTreeMap<String, Defaults>,
    /// Where it was read from.
    #[serde(skip)]
    path: PathBuf,
    #[serde(skip)]
    text: String,
}

/// A table of options.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Defaults(pub BTreeMap<Spanned<String>, OptionValue>);

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    Switch(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<OptionValue>),
}

/// What must hold of a function's inputs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Preconditions {
    /// Elements behind pointer parameters.
    #[serde(default)]
    len: BTreeMap<String, u64>,
    /// C expressions over the parameters.
    #[serde(default)]
    assume: Vec<String>,
    /// The least and the greatest value of a parameter or of a part of it.
    #[serde(default)]
    range: BTreeMap<String, [Number; 2]>,
    /// The only value of a parameter or of a part of it.
    #[serde(default)]
    fixed: BTreeMap<String, Value>,
    /// A file with C that checks inputs, from where the configuration is.
    precondition: Option<PathBuf>,
}

/// A bound.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Number {
    Integer(i64),
    Float(f64),
}

/// A value, or C that has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Value {
    Bool(bool),
    Number(Number),
    Expression(String),
}

impl Config {
    /// The configuration that holds here: the file named, or the nearest one, or none.
    pub fn load(named: Option<&Path>) -> Result<Self, Failure> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => match nearest() {
                Some(path) => path,
                None => return Ok(Self::default()),
            },
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        let config: Self = toml::from_str(&text).map_err(|error| {
            let failure = Failure::usage(format!("{}: {}", path.display(), error.to_string().trim_end()));
            match suggestion(error.message()) {
                Some(word) => failure.help(format!("did you mean '{word}'?")),
                None => failure,
            }
        })?;
        Ok(Self { path, text, ..config })
    }

    /// What is written of functions. Paths are made to start at `root` where they lie below it.
    pub fn preconditions(&self, root: &Path) -> BTreeMap<String, spec::Preconditions> {
        let below = |path: PathBuf| {
            let path = std::path::absolute(&path).unwrap_or(path);
            path.strip_prefix(root).map(Path::to_owned).unwrap_or(path)
        };
        let of_function = |(name, one): (&String, &Preconditions)| {
            let beside = |file: &PathBuf| below(self.path.with_file_name("").join(file));
            let preconditions = spec::Preconditions {
                len: one.len.clone(),
                assume: one.expressions().collect(),
                precondition: one.precondition.as_ref().map(beside),
                said_in: below(self.path.clone()),
            };
            (name.clone(), preconditions)
        };
        self.function.iter().map(of_function).collect()
    }

    /// Line and column of something in its text.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        place(&self.text, offset)
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Preconditions {
    fn expressions(&self) -> impl Iterator<Item = String> {
        let ranges = self.range.iter().map(|(part, [least, greatest])| {
            format!("({part}) >= {} && ({part}) <= {}", least.c(), greatest.c())
        });
        let fixed = self.fixed.iter().map(|(part, value)| format!("({part}) == {}", value.c()));
        self.assume.iter().cloned().chain(ranges).chain(fixed)
    }
}

impl Number {
    fn c(self) -> String {
        match self {
            // its absolute value is no constant of C
            Self::Integer(i64::MIN) => format!("(-{}LL - 1)", i64::MAX),
            Self::Integer(number) if i32::try_from(number).is_ok() => format!("({number})"),
            Self::Integer(number) => format!("({number}LL)"),
            Self::Float(number) => format!("({number:?})"),
        }
    }
}

impl Value {
    fn c(&self) -> String {
        match self {
            Self::Bool(value) => u8::from(*value).to_string(),
            Self::Number(number) => number.c(),
            Self::Expression(text) => format!("({text})"),
        }
    }
}

/// Line and column of an offset, from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The word that was meant by one that a table does not have: `unknown field `a`, expected one of `b`, `c``.
fn suggestion(message: &str) -> Option<String> {
    let mut words = message.split('`').skip(1).step_by(2);
    let unknown = message.starts_with("unknown field").then(|| words.next())??;
    nearest_word(unknown, words).map(str::to_owned)
}

/// The most similar word, if it is similar.
pub fn nearest_word<'w>(unknown: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let (distance, word) = known.map(|word| (distance(unknown, word), word)).min()?;
    (distance <= unknown.chars().count().div_ceil(2)).then_some(word)
}

/// Characters to insert, remove or replace (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.chars().count()]
}

fn nearest() -> Option<PathBuf> {
    let directory = std::env::current_dir().ok()?;
    directory.ancestors().map(|above| above.join(FILE)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preconditions(text: &str) -> spec::Preconditions {
        let config: Config = toml::from_str(text).expect("well formed");
        let config = Config { path: PathBuf::from("/project/quarry.toml"), ..config };
        config.preconditions(Path::new("/project")).remove("parse").expect("parse is named")
    }

    #[test]
    fn ranges_and_fixed_values_are_assumptions() {
        let text = "[function.parse]\nassume = ['n % 2 == 0']\nrange = { n = [0, 64], 'p->x' = [-1.5, 2.0] }\n\
                    fixed = { mode = 'FAST | SAFE', depth = 3, on = true, low = -9223372036854775808 }\n";
        assert_eq!(
            preconditions(text).assume,
            [
                "n % 2 == 0",
                "(n) >= (0) && (n) <= (64)",
                "(p->x) >= (-1.5) && (p->x) <= (2.0)",
                "(depth) == (3)",
                "(low) == (-9223372036854775807LL - 1)",
                "(mode) == (FAST | SAFE)",
                "(on) == 1",
            ]
        );
    }

    #[test]
    fn files_are_looked_for_beside_the_configuration() {
        let found = preconditions("[function.parse]\nprecondition = 'valid.h'\nlen = { text = 16 }\n");
        assert_eq!(found.precondition, Some(PathBuf::from("valid.h")), "below the directory of the run");
        assert_eq!(found.said_in, PathBuf::from("quarry.toml"));
        assert_eq!(found.len, BTreeMap::from([("text".to_owned(), 16)]));
    }

    #[test]
    fn a_word_it_does_not_know_is_an_error_with_its_place() {
        let error =
            toml::from_str::<Config>("[function.parse]\nlenght = { text = 16 }\n").expect_err("a typo");
        let text = error.to_string();
        assert!(text.contains("lenght") && text.contains("line 2"), "{text}");
    }

    #[test]
    fn a_similar_word_is_suggested() {
        let known = ["budget", "max-executions", "seed"];
        assert_eq!(nearest_word("bugdet", known.into_iter()), Some("budget"));
        assert_eq!(nearest_word("maxexecutions", known.into_iter()), Some("max-executions"));
        assert_eq!(nearest_word("colour", known.into_iter()), None);
        let error = toml::from_str::<Config>("[functoin.parse]\n").expect_err("a typo");
        assert_eq!(suggestion(error.message()).as_deref(), Some("function"));
    }
}
