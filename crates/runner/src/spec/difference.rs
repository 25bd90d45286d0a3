//! In which options do two specs differ?
//!
//! Method: both are compared as the data they serialise to, leaf by leaf, so a new option is compared without any code
//! here. A leaf has the name of its option. Budgets may differ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Spec;

/// The part that may differ.
const BUDGET: &str = "budget";
/// Leaves that are not options by their own name, and what users call them.
const NAMES: [(&str, &str); 2] = [("files", "sources"), ("flags", "flags")];

impl Spec {
    /// What an earlier campaign was asked differently, in words; nothing when both are the same campaign.
    pub fn differences(&self, earlier: &Self) -> Vec<String> {
        let (now, before) = (leaves(self), leaves(earlier));
        let names: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
        let words = |name: &&String| match (before.get(*name), now.get(*name)) {
            (before, now) if before == now => None,
            (Some(before), Some(now)) => Some(format!("{name} was {before}, now {now}")),
            (Some(before), None) => Some(format!("{name} was {before}")),
            (None, now) => Some(format!("{name} is {}", now.map_or("", String::as_str))),
        };
        names.iter().filter_map(words).collect()
    }
}

/// By option, what was said; nothing of options that say nothing.
fn leaves(spec: &Spec) -> BTreeMap<String, String> {
    let Ok(Value::Object(parts)) = serde_json::to_value(spec) else {
        unreachable!("a spec is plain data with named parts");
    };
    let mut leaves = BTreeMap::new();
    for (part, options) in parts.iter().filter(|(part, _)| *part != BUDGET) {
        let Value::Object(options) = options else { unreachable!("{part} has named options") };
        for (option, value) in options {
            let known = NAMES.iter().find(|(name, _)| name == option);
            let name = known.map_or_else(|| format!("--{option}"), |(_, name)| (*name).to_owned());
            let words = words(value);
            if !words.is_empty() {
                leaves.insert(name, words);
            }
        }
    }
    leaves
}

fn words(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(false) => String::new(),
        Value::Bool(true) => "given".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{name}={}", words(value));
            members.iter().map(member).collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_by_option() {
        let mut earlier = Spec::default();
        earlier.inputs.len.insert("v".to_owned(), 6);
        let mut now = Spec::default();
        now.criteria.criterion = vec!["mcdc".to_owned()];
        now.inputs.assume = vec!["n > 0".to_owned()];
        now.search.no_filter = true;
        assert_eq!(
            now.differences(&earlier),
            [
                "--assume is n > 0",
                "--criterion was branch, now mcdc",
                "--len was v=6",
                "--no-filter is given"
            ]
        );
    }

    #[test]
    fn another_budget_is_the_same_campaign() {
        let earlier = Spec::default();
        let mut now = earlier.clone();
        now.budget.budget = 1.0;
        now.budget.max_executions = Some(7);
        assert!(now.differences(&earlier).is_empty());
    }
}
