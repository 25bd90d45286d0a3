//! Keys of goals survive changes of the source elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::Bench;

const POWER: &str = "\
static int clamp(int n) { return n > 9 ? 9 : n; }
int power(int x, int n)
{
    int result = 1;
    n = clamp(n);
    while (n > 0) {
        if (n & 1)
            result = result * x;
        x = x * x;
        n = n >> 1;
    }
    switch (x) {
    case 1: return result;
    case 2: return result + 1;
    }
    return result;
}
";

/// The demand of each goal by its key, of all criteria.
fn keys(source: &str) -> BTreeMap<String, String> {
    let bench = Bench::new(&[("power.c", source)]);
    let criteria = "statement,branch,condition-decision,mcdc,multiple-condition,def-use,all-defs,all-uses";
    let listed = bench.quarry(&[
        "goals",
        "power.c",
        "--function",
        "power",
        "--criterion",
        criteria,
        "--message-format",
        "json",
    ]);
    listed.check(0, &[]);
    let summary = listed.summary();
    let goals = summary["goals"].as_array().expect("goals").clone();
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let keys: BTreeMap<String, String> =
        goals.iter().map(|goal| (text(&goal["key"]), text(&goal["demand"]))).collect();
    assert_eq!(keys.len(), goals.len(), "keys are unique");
    keys
}

#[test]
fn inserted_lines_decisions_and_functions_change_no_other_key() {
    let before = keys(POWER);
    assert!(before.keys().any(|key| key.starts_with("clamp~power.c.branch.t-")), "{before:?}");
    for (what, after) in [
        ("a line", format!("/* a\n   comment */\n\n{}", POWER.replace("    x = ", "\n    x = "))),
        (
            "a decision",
            POWER.replace("    while (n > 0)", "    if (x == 77)\n        return 5;\n    while (n > 0)"),
        ),
        ("a function", format!("int twice(int x) {{ return x > 3 ? x : 2 * x; }}\n{POWER}")),
    ] {
        assert_ne!(after, POWER, "{what} is inserted");
        let after = keys(&after);
        let known: BTreeSet<&String> = after.keys().collect();
        let lost: Vec<_> = before.iter().filter(|(key, _)| !known.contains(key)).collect();
        assert!(lost.is_empty(), "{what} changes {lost:?}");
    }
}
