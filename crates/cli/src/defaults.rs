//! Options of `quarry gen`, and some of `goals` and `cover`, that are not on the command line: from the environment, then
//! from `quarry.toml`.
//!
//! Method: the options found are inserted in front of those on the command line, and the whole line is parsed again: a
//! value means the same wherever it comes from, and the same code checks it. Precedence: command line, `QUARRY_…`
//! variables, the selected profile, `[gen]`. Limit: what to test (sources, `--function`, `--program`) can only be given on
//! the command line.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser};
use toml::Spanned;

use crate::arguments::CommandLine;
use crate::config::{Config, Defaults, OptionValue, nearest_word};
use crate::exit::Failure;

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

/// An option that may be set elsewhere than on the command line.
struct Known {
    /// Its long name, or what its letter stands for.
    key: String,
    /// What clap calls it.
    id: String,
    form: Form,
}

/// Options of `quarry gen` that are given on the command line only: what is tested, what holds of one function's inputs, and
/// what is done once.
const COMMAND_LINE_ONLY: [&str; 31] = [
    "sources",
    "function",
    "program",
    "max-args",
    "arg-len",
    "stdin-size",
    "file",
    "env",
    "len",
    "global",
    "malloc-failure",
    "precondition",
    "assume",
    "stub-writes",
    "only",
    "since",
    "changed-only",
    "equivalent",
    "fail-on-difference",
    "first-input",
    "tests",
    "corpus-args",
    "tests-form",
    "tests-flags",
    "command",
    "from",
    "directory",
    "fresh",
    "config",
    "profile",
    "help",
];

/// Options of `quarry cover` that the record of a run has instead.
const OF_THE_RECORD: [&str; 5] = ["max-len", "max-depth", "no-couple", "globals", "stubs"];

/// Those that name files to read.
const PATHS: [&str; 2] = ["build-dir", "stubs"];

/// The options of a command that may be set elsewhere; none for commands whose options are all their own.
fn known(command: &str) -> Vec<Known> {
    let line = CommandLine::command();
    let options = |name: &str| {
        let command = line.find_subcommand(name).expect("a command of the command line");
        command
            .get_arguments()
            .filter(|argument| !argument.is_hide_set())
            .filter_map(Known::of)
            .collect::<Vec<Known>>()
    };
    let of_gen: Vec<Known> =
        options("gen").into_iter().filter(|known| !COMMAND_LINE_ONLY.contains(&known.key.as_str())).collect();
    match command {
        "gen" | "augment" => of_gen,
        "goals" | "cover" => {
            let is_shared = |known: &Known| {
                !OF_THE_RECORD.contains(&known.key.as_str()) && of_gen.iter().any(|one| one.key == known.key)
            };
            options(command).into_iter().filter(is_shared).collect()
        }
        _ => Vec::new(),
    }
}

impl Known {
    fn of(argument: &clap::Arg) -> Option<Self> {
        let id = argument.get_id().to_string();
        let (key, form) = match (argument.get_long(), argument.get_short()) {
            (Some(long), _) if matches!(argument.get_action(), ArgAction::SetTrue) => {
                (long.to_owned(), Form::Switch)
            }
            (Some(long), _) => (long.to_owned(), Form::Long),
            (None, Some(letter)) => (id.replace('_', "-"), Form::Short(letter)),
            (None, None) if argument.is_last_set() => (id.clone(), Form::Flags),
            (None, None) => return None,
        };
        Some(Self { key, id, form })
    }
}

/// The names of the options that can be set in a configuration.
pub fn keys() -> Vec<String> {
    known("gen").into_iter().map(|known| known.key).collect()
}

/// The configuration that holds here; options in it that are none are an error with its place.
pub fn load(named: Option<&Path>) -> Result<Config, Failure> {
    let config = Config::load(named)?;
    let keys = keys();
    let tables = std::iter::once(&config.generate).chain(config.profile.values());
    let is_unknown = |key: &&Spanned<String>| !keys.contains(key.as_ref());
    let Some(key) = tables.flat_map(|defaults| defaults.0.keys()).find(is_unknown) else {
        return Ok(config);
    };
    let (line, column) = config.position(key.span().start);
    let word = key.as_ref();
    let path = config.path().display();
    let failure =
        Failure::usage(format!("{path}:{line}:{column}: '{word}' is not an option that can be set here"));
    Err(match nearest_word(word, keys.iter().map(String::as_str)) {
        Some(known) => failure.help(format!("did you mean '{known}'?")),
        None => failure.help(format!("options are {}", keys.join(", "))),
    })
}

/// Something that was not given, and where it is from.
struct Added {
    words: Vec<OsString>,
    flags: Vec<OsString>,
    from: String,
}

/// A command line, and which options stand on it.
pub struct Given {
    pub line: CommandLine,
    /// By their names: those that were given on the command line itself.
    pub options: Vec<String>,
}

/// The command line of this process, with everything that has a default.
pub fn command_line() -> Result<Given, Failure> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let plain = |words: &[OsString]| Given { line: CommandLine::parse_from(words), options: Vec::new() };
    // what is missing may be among the defaults
    let lenient = CommandLine::command().ignore_errors(true).try_get_matches_from(&words);
    let Ok(matches) = lenient else { return Ok(plain(&words)) };
    let Some((command, given)) = matches.subcommand() else { return Ok(plain(&words)) };
    let options = on_the_line(command, given);
    // what was set elsewhere is in the earlier run already
    let is_stored = options.iter().any(|name| name == "from");
    let added = if is_stored { Vec::new() } else { added(given, &known(command))? };
    if added.is_empty() {
        return Ok(Given { options, ..plain(&words) });
    }
    match read(command, &words, &added) {
        Ok(line) => Ok(Given { line, options }),
        Err(error) => Err(blame(command, &words, &added).unwrap_or_else(|| error.exit())),
    }
}

/// The names of options that stand on the command line.
fn on_the_line(command: &str, given: &ArgMatches) -> Vec<String> {
    let line = CommandLine::command();
    let Some(command) = line.find_subcommand(command) else { return Vec::new() };
    let stands = |argument: &&clap::Arg| {
        given.try_contains_id(argument.get_id().as_str()).unwrap_or(false)
            && given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let name = |argument: &clap::Arg| {
        argument.get_long().map_or_else(|| argument.get_id().to_string().replace('_', "-"), str::to_owned)
    };
    command.get_arguments().filter(stands).map(name).collect()
}

/// Everything among these that was not given and is said elsewhere.
fn added(options: &ArgMatches, known: &[Known]) -> Result<Vec<Added>, Failure> {
    if known.is_empty() {
        return Ok(Vec::new());
    }
    // not every command can be told of another file or profile
    let file = options.try_get_one::<std::path::PathBuf>("config").ok().flatten();
    let config = load(file.map(|path| path.as_path()))?;
    let named = options.try_get_one::<String>("profile").ok().flatten().cloned();
    let profile = match named.or_else(|| std::env::var("QUARRY_PROFILE").ok()) {
        None => None,
        Some(name) => Some(profile(&config, &name)?),
    };
    let mut added = Vec::new();
    for Known { key, id, form } in known {
        if options.value_source(id) == Some(ValueSource::CommandLine) {
            continue;
        }
        let variable = format!("QUARRY_{}", key.replace('-', "_").to_uppercase());
        let in_environment = std::env::var(&variable).ok().map(|text| environment(form, &text));
        let tables = profile.into_iter().chain([&config.generate]);
        let in_file = || tables.into_iter().find_map(|table| table.0.get(key.as_str()));
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
fn from_file(key: &str, value: &OptionValue, config: &Config) -> OptionValue {
    let directory = config.path().with_file_name("");
    // here, paths read as they are written
    let is_here = std::env::current_dir().is_ok_and(|here| here == directory);
    match value {
        OptionValue::Text(text) if PATHS.contains(&key) && !is_here => {
            OptionValue::Text(directory.join(text).display().to_string())
        }
        OptionValue::List(values) => {
            OptionValue::List(values.iter().map(|value| from_file(key, value, config)).collect())
        }
        OptionValue::Text(_) | OptionValue::Switch(_) | OptionValue::Integer(_) | OptionValue::Float(_) => {
            value.clone()
        }
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
fn environment(form: &Form, text: &str) -> OptionValue {
    match form {
        Form::Switch => OptionValue::Switch(!matches!(text, "" | "0" | "false" | "no")),
        Form::Flags => OptionValue::List(
            text.split_whitespace().map(|word| OptionValue::Text(word.to_owned())).collect(),
        ),
        Form::Long | Form::Short(_) => OptionValue::Text(text.to_owned()),
    }
}

impl Added {
    fn new(key: &str, form: &Form, value: &OptionValue, from: String) -> Self {
        let values = value.texts();
        let mut added = Self { words: Vec::new(), flags: Vec::new(), from };
        match form {
            // criteria may also stand in one value
            Form::Long => added.words.extend(values.iter().map(|value| format!("--{key}={value}").into())),
            Form::Short(letter) => {
                added.words.extend(values.iter().map(|value| format!("-{letter}{value}").into()));
            }
            Form::Switch if *value == OptionValue::Switch(false) => {}
            Form::Switch => added.words.push(format!("--{key}").into()),
            Form::Flags => added.flags.extend(values.into_iter().map(OsString::from)),
        }
        added
    }
}

impl OptionValue {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_is_none_is_named_with_its_place() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let file = directory.path().join("quarry.toml");
        std::fs::write(&file, "[gen]\nseed = 3\n\n[profile.ci]\n  bugdet = '1m'\n").expect("writable");
        let failure = load(Some(&file)).expect_err("a typo").to_string();
        assert!(
            failure.contains(":5:3: 'bugdet' is not an option") && failure.contains("did you mean 'budget'?"),
            "{failure}"
        );
    }

    #[test]
    fn every_option_of_the_command_line_can_be_set_elsewhere_unless_it_is_excluded() {
        let keys = |command: &str| known(command).into_iter().map(|known| known.key).collect::<Vec<_>>();
        for key in ["build-dir", "flags", "criterion", "jobs", "stubs", "out", "per-goal", "fail-on-crash"] {
            assert!(keys("gen").iter().any(|known| known == key), "{key}");
        }
        assert!(!keys("gen").iter().any(|known| known == "function" || known == "sources"));
        assert_eq!(
            keys("cover"),
            [
                "build-dir",
                "flags",
                "criterion",
                "mcdc",
                "dataflow-elements",
                "message-format",
                "fail-under",
                "accept-bounded"
            ]
        );
    }
}
