//! Inputs on which two versions of a program behave differently, as records and as text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::{Expected, Test};
use crate::words::counted;

/// Where they are, within an output directory; a directory with tests of its own.
pub const DIFFERENCES: &str = "differences";
/// All of them in one file, within the output directory.
pub const DIFFERENCES_FILE: &str = "differences.json";

/// What looking for differences came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DifferencesRecord {
    pub schema: u32,
    /// What the version before is called.
    pub old: String,
    /// Inputs that ran on both versions.
    pub compared: usize,
    /// Why inputs could not be compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// The search for differences, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<DifferenceSearch>,
    /// The smallest input first.
    pub differences: Vec<DifferenceRecord>,
}

/// A search of both versions at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceSearch {
    pub executions: u64,
    pub seconds: f64,
    /// Whether nothing was left to try within the limits of the input.
    pub exhausted: bool,
}

/// One input and what comes of it in either version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceRecord {
    /// The test of the suite, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The call as a reader sees it.
    pub call: String,
    pub what: Vec<DifferentValue>,
    pub input: Value,
    pub old: Expected,
    pub new: Expected,
}

/// Something that is not the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferentValue {
    /// An expression of C, `end`, `stdout` or `stderr`.
    pub what: String,
    pub old: String,
    pub new: String,
}

impl DifferenceRecord {
    /// What differs, on one line: `result: 3, was 5`.
    pub fn words(&self) -> String {
        let word = |DifferentValue { what, old, new }: &DifferentValue| format!("{what}: {new}, was {old}");
        self.what.iter().map(word).collect::<Vec<_>>().join("; ")
    }

    /// The test that pins what the new version does.
    pub fn pinned(&self, function: &str, number: usize) -> Test {
        let what = self.what.first().map_or("end", |value| value.what.as_str());
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let word: String = what.chars().map(word).collect();
        Test {
            schema: crate::record::SCHEMA,
            name: format!("differs_in_{}_{number}", word.trim_matches('_')),
            description: format!("the versions differ: {}", self.words()),
            function: function.to_owned(),
            origin: None,
            like: None,
            input: self.input.clone(),
            provenance: None,
            unchecked: false,
            end: self.new.end.clone(),
            expected: Some(self.new.clone()),
            finding: None,
            covers: Vec::new(),
        }
    }
}

impl DifferencesRecord {
    /// For people.
    pub fn listing(&self) -> String {
        let mut text = String::new();
        if self.differences.is_empty() {
            text.push_str(&self.none());
        } else {
            text.push_str(&format!("{} to {}\n", counted(self.differences.len(), "difference"), self.old));
        }
        /// More are in the file.
        const SHOWN: usize = 5;
        for difference in self.differences.iter().take(SHOWN) {
            text.push_str(&format!("    {}\n        {}\n", difference.call, difference.words()));
        }
        if self.differences.len() > SHOWN {
            text.push_str(&format!(
                "    and {} more in {DIFFERENCES_FILE}\n",
                self.differences.len() - SHOWN
            ));
        }
        for reason in &self.not_compared {
            text.push_str(&format!("    not compared: {reason}\n"));
        }
        text
    }

    /// That there is none, and how far that was looked for.
    fn none(&self) -> String {
        if self.compared == 0 && self.search.is_none() {
            return if self.not_compared.is_empty() {
                format!("nothing of this differs from {}\n", self.old)
            } else {
                format!("{} was not compared\n", self.old)
            };
        }
        let mut within = vec![counted(self.compared, "input") + " run on both versions"];
        if let Some(DifferenceSearch { executions, seconds, exhausted }) = &self.search {
            within.push(format!("{executions} executions of a search in {seconds:.1} s"));
            if *exhausted {
                within.push("which left nothing to try within the limits of the input".to_owned());
            }
        }
        format!("no difference found within {}\n", within.join(", "))
    }
}
