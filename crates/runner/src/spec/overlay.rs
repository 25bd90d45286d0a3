//! A stored spec in which some options are replaced by those of another one.
//!
//! Method: both are taken as the data they serialise to; a leaf whose option was given replaces the stored one. So a new
//! option takes part without any code here.

use serde_json::Value;

use super::Spec;

/// Options that have a leaf of another name.
const LEAVES: [(&str, &str); 6] = [
    ("sources", "files"),
    ("max-args", "program"),
    ("arg-len", "program"),
    ("stdin-size", "program"),
    ("file", "program"),
    ("env", "program"),
];

impl Spec {
    /// This one, with the options of `newer` that are named in `given`.
    #[must_use]
    pub fn overridden(&self, newer: &Self, given: &[String]) -> Self {
        let as_value = |spec: &Self| serde_json::to_value(spec).expect("a spec is plain data");
        let (mut merged, newer) = (as_value(self), as_value(newer));
        let parts = merged.as_object_mut().expect("a spec has named parts");
        for (part, options) in parts.iter_mut() {
            let Value::Object(options) = options else { unreachable!("{part} has named options") };
            for name in given {
                let known = LEAVES.iter().find(|(option, _)| option == name);
                let leaf = known.map_or(name.as_str(), |(_, leaf)| leaf);
                if let Some(value) = newer[part.as_str()].get(leaf) {
                    options.insert(leaf.to_owned(), value.clone());
                }
            }
        }
        serde_json::from_value(merged).expect("a spec is made of leaves of specs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_were_given_replace_the_stored_ones() {
        let mut stored = Spec::default();
        stored.criteria.criterion = vec!["mcdc".to_owned()];
        stored.search.seed = 7;
        stored.sources.files = vec!["a.c".into()];
        let mut newer = Spec::default();
        newer.search.seed = 9;
        newer.budget.budget = 5.0;
        let merged = stored.overridden(&newer, &["seed".to_owned(), "budget".to_owned()]);
        assert_eq!((merged.search.seed, merged.budget.budget), (9, 5.0));
        assert_eq!(merged.criteria, stored.criteria);
        assert_eq!(merged.sources, stored.sources);
    }
}
