//! Options of `quarry gen`, and some of `goals` and `cover`, that nobody gave on the command line: from the environment,
//! then from `quarry.toml`.
//!
//! Method: what is found is added to the command line in front of what was given, and all of it is read again: a value means
//! the same wherever it stands, and is checked by the same code. Precedence: command line, `QUARRY_…` variables, the profile
//! asked for, `[gen]`. Limit: what says what to test (sources, `--function`, `--program`) is given on the command line only.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use serde::Deserialize;
use toml::Spanned;

use crate::arguments::CommandLine;
use crate::config::Config;
use crate::exit::Failure;

/// A table of options.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Defaults(pub BTreeMap<Spanned<String>, Value>);

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Switch(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
}

/// How an option is written on the command line.
enum Form {
    /// `--name=value`, as often as there are values.
    Long,
    /// `-x=value`.
    Short(char),
    /// `--name`, or nothing.
    Switch,
    /// Behind `--`.
    Flags,
}

/// The options that have defaults: their names, what clap calls them, and their form.
const OPTIONS: &[(&str, &str, Form)] = &[
    ("build-dir", "build_dir", Form::Short('p')),
    ("flags", "flags", Form::Flags),
    ("criterion", "criterion", Form::Long),
    ("mcdc", "mcdc", Form::Long),
    ("dataflow-elements", "dataflow_elements", Form::Switch),
    ("strategy", "strategy", Form::Long),
    ("pps-depth", "pps_depth", Form::Long),
    ("no-filter", "no_filter", Form::Switch),
    ("per-goal", "per_goal", Form::Long),
    ("no-redefinition-pruning", "no_redefinition_pruning", Form::Switch),
    ("budget", "budget", Form::Long),
    ("max-executions", "max_executions", Form::Long),
    ("seed", "seed", Form::Long),
    ("jobs", "jobs", Form::Short('j')),
    ("max-len", "max_len", Form::Long),
    ("max-depth", "max_depth", Form::Long),
    ("no-couple", "no_couple", Form::Switch),
    ("globals", "globals", Form::Switch),
    ("stubs", "files", Form::Long),
    ("self-check", "self_check", Form::Switch),
    ("confirm", "confirm", Form::Switch),
    ("solver", "solver", Form::Long),
    ("out", "out", Form::Short('o')),
    ("message-format", "message_format", Form::Long),
    ("quiet", "quiet", Form::Switch),
    ("timings", "timings", Form::Switch),
    ("fail-under", "fail_under", Form::Long),
    ("fail-on-crash", "fail_on_crash", Form::Switch),
];

/// Those that other commands have, too: what there is to cover, and how it is built. How inputs are built is in the record
/// of a run.
const ELSEWHERE: [(&str, &[&str]); 2] = [
    ("goals", &["build-dir", "flags", "criterion", "mcdc", "dataflow-elements", "message-format"]),
    (
        "cover",
        &["build-dir", "flags", "criterion", "mcdc", "dataflow-elements", "message-format", "fail-under"],
    ),
];

/// Those that name files to read.
const PATHS: [&str; 2] = ["build-dir", "stubs"];

/// The names of the options that have defaults.
pub fn keys() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|(key, _, _)| *key)
}

/// Whether an option of this name has a default.
pub fn is_known(key: &str) -> bool {
    keys().any(|known| known == key)
}

/// Something that was not given, and where it is from.
struct Added {
    words: Vec<OsString>,
    flags: Vec<OsString>,
    from: String,
}

/// The command line of this process, with everything that has a default.
pub fn command_line() -> Result<CommandLine, Failure> {
    let given: Vec<OsString> = std::env::args_os().collect();
    // what is missing may be among the defaults
    let lenient = CommandLine::command().ignore_errors(true).try_get_matches_from(&given);
    let Ok(matches) = lenient else { return Ok(CommandLine::parse_from(given)) };
    let Some((command, options)) = matches.subcommand() else { return Ok(CommandLine::parse_from(given)) };
    let Some(keys) = keys_of(command) else { return Ok(CommandLine::parse_from(given)) };
    let added = added(options, &keys)?;
    if added.is_empty() {
        return Ok(CommandLine::parse_from(given));
    }
    match read(command, &given, &added) {
        Ok(line) => Ok(line),
        Err(error) => Err(blame(command, &given, &added).unwrap_or_else(|| error.exit())),
    }
}

/// The options of a command that have defaults, if it has such.
fn keys_of(command: &str) -> Option<Vec<&'static str>> {
    if command == "gen" {
        return Some(keys().collect());
    }
    ELSEWHERE.iter().find(|(known, _)| *known == command).map(|(_, keys)| keys.to_vec())
}

/// Everything among these that was not given and is said elsewhere.
fn added(options: &ArgMatches, keys: &[&str]) -> Result<Vec<Added>, Failure> {
    // not every command can be told of another file or profile
    let file = options.try_get_one::<std::path::PathBuf>("config").ok().flatten();
    let config = Config::load(file.map(|path| path.as_path()))?;
    let named = options.try_get_one::<String>("profile").ok().flatten().cloned();
    let profile = match named.or_else(|| std::env::var("QUARRY_PROFILE").ok()) {
        None => None,
        Some(name) => Some(profile(&config, &name)?),
    };
    let mut added = Vec::new();
    for (key, id, form) in OPTIONS.iter().filter(|(key, _, _)| keys.contains(key)) {
        if options.value_source(id) == Some(ValueSource::CommandLine) {
            continue;
        }
        let variable = format!("QUARRY_{}", key.replace('-', "_").to_uppercase());
        let in_environment = std::env::var(&variable).ok().map(|text| environment(form, &text));
        let tables = profile.into_iter().chain([&config.generate]);
        let in_file = || tables.into_iter().find_map(|table| table.0.get(*key));
        let (value, from) = match in_environment {
            Some(value) => (value, variable),
            None => match in_file() {
                Some(value) => {
                    (from_file(key, value, &config), format!("{key} of {}", config.path().display()))
                }
                None => continue,
            },
        };
        added.push(Added::new(key, form, &value, from));
    }
    Ok(added)
}

/// A value of the file; paths of what is read are meant from where the file is.
fn from_file(key: &str, value: &Value, config: &Config) -> Value {
    let directory = config.path().with_file_name("");
    match value {
        Value::Text(text) if PATHS.contains(&key) => Value::Text(directory.join(text).display().to_string()),
        Value::List(values) => {
            Value::List(values.iter().map(|value| from_file(key, value, config)).collect())
        }
        Value::Text(_) | Value::Switch(_) | Value::Integer(_) | Value::Float(_) => value.clone(),
    }
}

fn profile<'c>(config: &'c Config, name: &str) -> Result<&'c Defaults, Failure> {
    config.profile.get(name).ok_or_else(|| {
        let names: Vec<&str> = config.profile.keys().map(String::as_str).collect();
        let failure = Failure::usage(format!("there is no profile '{name}'"));
        if names.is_empty() {
            failure.help(
                "profiles are tables of quarry.toml such as [profile.ci]; quarry init writes an example",
            )
        } else {
            failure.help(format!("{} has {}", config.path().display(), names.join(", ")))
        }
    })
}

/// A variable's text as a value.
fn environment(form: &Form, text: &str) -> Value {
    match form {
        Form::Switch => Value::Switch(!matches!(text, "" | "0" | "false" | "no")),
        Form::Flags => {
            Value::List(text.split_whitespace().map(|word| Value::Text(word.to_owned())).collect())
        }
        Form::Long | Form::Short(_) => Value::Text(text.to_owned()),
    }
}

impl Added {
    fn new(key: &str, form: &Form, value: &Value, from: String) -> Self {
        let values = value.texts();
        let mut added = Self { words: Vec::new(), flags: Vec::new(), from };
        match form {
            // criteria may also stand in one value
            Form::Long => added.words.extend(values.iter().map(|value| format!("--{key}={value}").into())),
            Form::Short(letter) => {
                added.words.extend(values.iter().map(|value| format!("-{letter}{value}").into()));
            }
            Form::Switch if *value == Value::Switch(false) => {}
            Form::Switch => added.words.push(format!("--{key}").into()),
            Form::Flags => added.flags.extend(values.into_iter().map(OsString::from)),
        }
        added
    }
}

impl Value {
    fn texts(&self) -> Vec<String> {
        match self {
            Self::Switch(value) => vec![value.to_string()],
            Self::Integer(value) => vec![value.to_string()],
            Self::Float(value) => vec![value.to_string()],
            Self::Text(value) => vec![value.clone()],
            Self::List(values) => values.iter().flat_map(Self::texts).collect(),
        }
    }
}

/// Reads the command line with additions.
fn read(command: &str, given: &[OsString], added: &[Added]) -> Result<CommandLine, clap::Error> {
    let command = given.iter().position(|word| word == command).map_or(given.len(), |at| at + 1);
    let mut words = given[..command].to_vec();
    words.extend(added.iter().flat_map(|added| added.words.iter().cloned()));
    words.extend_from_slice(&given[command..]);
    let flags: Vec<OsString> = added.iter().flat_map(|added| added.flags.iter().cloned()).collect();
    if !flags.is_empty() {
        words.push("--".into());
        words.extend(flags);
    }
    let matches = CommandLine::command().try_get_matches_from(words)?;
    CommandLine::from_arg_matches(&matches)
}

/// Which addition is wrong, if the command line itself is right.
fn blame(command: &str, given: &[OsString], added: &[Added]) -> Option<Failure> {
    read(command, given, &[]).ok()?;
    let wrong = |added: &&Added| read(command, given, std::slice::from_ref(*added)).is_err();
    let culprit = added.iter().find(wrong)?;
    let error = read(command, given, std::slice::from_ref(culprit)).err()?.to_string();
    let words = error.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    Some(Failure::usage(format!("{}: {words}", culprit.from)))
}
