//! `quarry.toml`: what must hold of the inputs of a function, written down once instead of on every command line.
//!
//! Method: the nearest `quarry.toml` in the current directory or above it (or the file that `--config` names) has a table per
//! function; what the command line says wins, assumptions add up. Ranges and fixed values are assumptions, too. Defaults of
//! options are in tables of their own, see [`crate::defaults`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::defaults::{self, Defaults};
use crate::exit::Failure;
use crate::inputs::Inputs;

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
        let config = Self { path, ..config };
        config.check_defaults(&text)?;
        Ok(config)
    }

    /// Looks at words that only the command line knows.
    fn check_defaults(&self, text: &str) -> Result<(), Failure> {
        let tables = std::iter::once(&self.generate).chain(self.profile.values());
        let is_unknown = |key: &&Spanned<String>| !defaults::is_known(key.as_ref());
        let Some(key) = tables.flat_map(|defaults| defaults.0.keys()).find(is_unknown) else {
            return Ok(());
        };
        let (line, column) = place(text, key.span().start);
        let word = key.as_ref();
        let path = self.path.display();
        let failure =
            Failure::usage(format!("{path}:{line}:{column}: '{word}' is no option that can be set here"));
        Err(match nearest_word(word, defaults::keys()) {
            Some(known) => failure.help(format!("did you mean '{known}'?")),
            None => failure.help(format!("options are {}", defaults::keys().collect::<Vec<_>>().join(", "))),
        })
    }

    /// Adds what is written of a function to what the command line said; false when nothing is.
    pub fn apply(&self, function: &str, inputs: &mut Inputs, assumptions: &mut Vec<String>) -> bool {
        let Some(preconditions) = self.function.get(function) else { return false };
        for (parameter, length) in &preconditions.len {
            inputs.len.entry(parameter.clone()).or_insert(*length);
        }
        if let (None, Some(file)) = (&inputs.precondition, &preconditions.precondition) {
            inputs.precondition = Some(self.path.with_file_name("").join(file));
        }
        assumptions.extend(preconditions.expressions());
        true
    }

    /// What is written of a function, or of all of them, in words that change when it does; the files it names by path.
    pub fn words(&self, function: Option<&str>) -> (String, Vec<PathBuf>) {
        let concerns = |name: &str| function.is_none_or(|function| function == name);
        let tables: Vec<_> = self.function.iter().filter(|(name, _)| concerns(name)).collect();
        let files = tables.iter().filter_map(|(_, preconditions)| preconditions.precondition.as_ref());
        let files = files.map(|file| self.path.with_file_name("").join(file)).collect();
        (if tables.is_empty() { String::new() } else { format!("{tables:?}") }, files)
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
fn nearest_word<'w>(unknown: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
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

    fn applied(text: &str, given: &[(&str, u64)]) -> (BTreeMap<String, u64>, Vec<String>) {
        let config: Config = toml::from_str(text).expect("well formed");
        let len = given.iter().map(|(name, length)| ((*name).to_owned(), *length)).collect();
        let mut inputs = Inputs { len, ..Inputs::default() };
        let mut assumptions = vec!["first".to_owned()];
        config.apply("parse", &mut inputs, &mut assumptions);
        (inputs.len, assumptions)
    }

    #[test]
    fn ranges_and_fixed_values_are_assumptions() {
        let text = "[function.parse]\nassume = ['n % 2 == 0']\nrange = { n = [0, 64], 'p->x' = [-1.5, 2.0] }\n\
                    fixed = { mode = 'FAST | SAFE', depth = 3, on = true, low = -9223372036854775808 }\n";
        let (_, assumptions) = applied(text, &[]);
        assert_eq!(
            assumptions,
            [
                "first",
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
    fn lengths_of_the_command_line_win() {
        let (lengths, _) = applied("[function.parse.len]\ntext = 16\nout = 8\n", &[("text", 4)]);
        assert_eq!(lengths, BTreeMap::from([("text".to_owned(), 4), ("out".to_owned(), 8)]));
    }

    #[test]
    fn files_are_looked_for_beside_the_configuration() {
        let config: Config =
            toml::from_str("[function.parse]\nprecondition = 'valid.h'\n").expect("well formed");
        let config = Config { path: PathBuf::from("/project/quarry.toml"), ..config };
        let mut inputs = Inputs::default();
        config.apply("parse", &mut inputs, &mut Vec::new());
        assert_eq!(inputs.precondition, Some(PathBuf::from("/project/valid.h")));
    }

    #[test]
    fn other_functions_are_not_concerned() {
        let (lengths, assumptions) = applied("[function.other]\nlen = { text = 16 }\nassume = ['0']\n", &[]);
        assert!(lengths.is_empty());
        assert_eq!(assumptions, ["first"]);
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

    #[test]
    fn an_option_that_is_none_is_named_with_its_place() {
        let text = "[gen]\nseed = 3\n\n[profile.ci]\n  bugdet = '1m'\n";
        let config: Config = toml::from_str(text).expect("well formed");
        let failure = config.check_defaults(text).expect_err("a typo").to_string();
        assert!(
            failure.contains(":5:3: 'bugdet' is no option") && failure.contains("did you mean 'budget'?"),
            "{failure}"
        );
    }
}
