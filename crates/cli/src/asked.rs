//! Is this the campaign that an earlier run began?
//!
//! Method: everything that says which goals there are, which inputs are possible and in which order the search goes is kept in
//! words by name: options as given, files by their hash (sources as the preprocessor sees them, so that a changed header counts
//! and a changed comment does not). How long to search, with how many workers and what to print may differ.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::arguments::Gen;
use crate::config::Config;
use crate::exit::Failure;
use crate::export::hash::sha256;
use crate::only::Where;
use crate::pipeline;

/// What a run was asked for, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Asked(BTreeMap<String, String>);

/// Names that start like this stand for files, whose words nobody reads.
const FILE: &str = "file ";

/// The name of what a configuration says.
const CONFIG: &str = "what quarry.toml says of functions";

impl Asked {
    /// What these arguments ask for; fails when a source cannot be preprocessed.
    pub fn of(arguments: &Gen, config: &Config) -> Result<Self, Failure> {
        let mut asked = Self::default();
        asked.say("version of quarry", env!("CARGO_PKG_VERSION"));
        asked.sources(arguments)?;
        asked.search(arguments);
        asked.inputs(arguments, config);
        Ok(asked)
    }

    /// The same for one of the functions.
    #[must_use]
    pub fn for_function(&self, arguments: &Gen, config: &Config) -> Self {
        let mut asked = self.clone();
        asked.0.retain(|name, _| name != CONFIG);
        asked.inputs(arguments, config);
        asked
    }

    fn sources(&mut self, arguments: &Gen) -> Result<(), Failure> {
        let mut sources = arguments.sources.clone();
        sources.sources.extend_from_slice(&arguments.stubs.files);
        let mut flags = Vec::new();
        // of several functions those that can be built are tested
        let may_fail =
            arguments.function.is_none() && !arguments.program.program && sources.sources.len() > 1;
        for command in pipeline::commands(&sources)? {
            let words = match pipeline::preprocessed(&command) {
                Ok(text) => sha256(&text),
                Err(failure) if may_fail => failure.message().to_owned(),
                Err(failure) => return Err(failure),
            };
            self.say(&format!("{FILE}{}", command.source.display()), &words);
            flags.push([command.preprocess, command.compile, command.link].concat().join(" "));
        }
        flags.dedup();
        self.say("flags", &flags.join("; "));
        Ok(())
    }

    fn search(&mut self, arguments: &Gen) {
        let criteria = &arguments.criteria;
        self.say("--criterion", &criteria.criterion.join(","));
        self.say("--mcdc", &format!("{:?}", criteria.mcdc));
        self.say("--dataflow-elements", &criteria.dataflow_elements.to_string());
        self.say("--only", &list(arguments.only.iter().map(Where::to_string)));
        self.say("--strategy", &arguments.strategy);
        self.say("--pps-depth", &arguments.pps_depth.to_string());
        self.say("--no-filter", &arguments.no_filter.to_string());
        self.say("--no-redefinition-pruning", &arguments.no_redefinition_pruning.to_string());
        self.say("--solver", &arguments.solver);
        self.say("--seed", &arguments.seed.to_string());
        self.say("--no-minimise", &arguments.no_minimise.to_string());
        self.say("--self-check", &arguments.self_check.to_string());
    }

    fn inputs(&mut self, arguments: &Gen, config: &Config) {
        let inputs = &arguments.inputs;
        self.say("--function", arguments.function.as_deref().unwrap_or_default());
        self.say("--len", &list(inputs.len.iter().map(|(name, length)| format!("{name}={length}"))));
        self.say("--max-len", &number(inputs.max_len));
        self.say("--max-depth", &number(inputs.max_depth));
        self.say("--no-couple", &inputs.no_couple.to_string());
        self.say("--global", &inputs.global.join(", "));
        self.say("--globals", &inputs.globals.to_string());
        self.say("--malloc-failure", &number(inputs.malloc_failure));
        self.say("--assume", &arguments.assume.join("; "));
        self.say("--stubs", &list(arguments.stubs.files.iter().map(|file| file.display().to_string())));
        let writes = arguments.stubs.writes.iter();
        self.say("--stub-writes", &list(writes.map(|(name, parts)| format!("{name}={}", parts.join(",")))));
        let program = arguments.program.limits(inputs).map(|limits| format!("{limits:?}"));
        self.say("--program", &program.unwrap_or_default());
        let (words, files) = config.words(arguments.function.as_deref());
        self.say(CONFIG, &words);
        for file in files.iter().chain(&inputs.precondition).chain(&arguments.first_input) {
            self.file(file);
        }
    }

    fn say(&mut self, name: &str, words: &str) {
        if !words.is_empty() {
            self.0.insert(name.to_owned(), words.to_owned());
        }
    }

    fn file(&mut self, path: &Path) {
        // one that cannot be read is told where it is needed
        let text = std::fs::read(path).unwrap_or_default();
        self.say(&format!("{FILE}{}", path.display()), &sha256(&text));
    }

    /// What an earlier run was asked differently, in words.
    pub fn differences(&self, earlier: &Self) -> Vec<String> {
        let names: std::collections::BTreeSet<&String> = self.0.keys().chain(earlier.0.keys()).collect();
        let differs = |name: &&String| self.0.get(*name) != earlier.0.get(*name);
        let words = |name: &String| {
            let (now, before) = (self.0.get(name), earlier.0.get(name));
            match (name.strip_prefix(FILE), before, now) {
                (Some(file), Some(_), Some(_)) => format!("{file} has changed"),
                (Some(file), None, _) => format!("{file} is new"),
                (Some(file), Some(_), None) => format!("{file} was there"),
                (None, Some(before), Some(now)) => format!("{name} was {before}, now {now}"),
                (None, Some(before), None) => format!("{name} was {before}"),
                (None, None, _) => format!("{name} is {}", now.map_or("", String::as_str)),
            }
        };
        names.into_iter().filter(differs).map(words).collect()
    }
}

fn list(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

fn number(number: Option<impl ToString>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[(&str, &str)]) -> Asked {
        Asked(words.iter().map(|(name, words)| ((*name).to_owned(), (*words).to_owned())).collect())
    }

    #[test]
    fn differences_are_told_in_words() {
        let earlier = asked(&[("--criterion", "branch"), ("--len", "v=6"), ("file a.c", "12")]);
        let now =
            asked(&[("--criterion", "mcdc"), ("--assume", "n > 0"), ("file a.c", "34"), ("file b.c", "5")]);
        assert_eq!(
            now.differences(&earlier),
            [
                "--assume is n > 0",
                "--criterion was branch, now mcdc",
                "--len was v=6",
                "a.c has changed",
                "b.c is new"
            ]
        );
        assert!(now.differences(&now).is_empty());
    }
}
