//! What `quarry dev bench-strategies` prints is what `bench/strategies.py` reads.

use serde_json::Value;

use crate::support::Bench;

/// A loop, decisions of several conditions, and a branch that cannot be covered.
const COUNT: &str = "
int count(const int v[3], int wanted)
{
    int n = 0;

    for (int i = 0; i < 3; i++) {
        if (v[i] == 7)
            n++;
    }
    if (n == 3 && wanted == 5 && v[0] != 7)
        return 1; /* no input comes here: a search ends by its budget */
    return n == 2 && wanted > 5;
}
";

fn lines(arguments: &[&str]) -> Vec<Value> {
    let bench = Bench::new(&[("count.c", COUNT)]);
    let command = [&["dev", "bench-strategies", "count.c", "--function", "count"], arguments].concat();
    let ran = bench.quarry(&command);
    ran.check(0, &[]);
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn a_series_has_a_line_per_seed_and_its_curve_ends_at_what_was_covered() {
    let lines = lines(&["--run", "branch:pps:off:2:30", "--run", "mcdc:dfs:on:1:30"]);
    let campaigns: Vec<_> =
        lines.iter().map(|line| (line["criterion"].as_str(), line["seed"].as_u64())).collect();
    assert_eq!(campaigns, [(Some("branch"), Some(1)), (Some("branch"), Some(2)), (Some("mcdc"), Some(1))]);
    for line in &lines {
        let (last, decisions) = (last(&line["curve"]), last(&line["decision_curve"]));
        assert_eq!(last.1, line["n_covered"], "{line}");
        assert_eq!(decisions.1, line["n_decisions_covered"], "{line}");
        assert!(last.0.as_u64() <= line["executions"].as_u64(), "{line}");
    }
}

fn last(curve: &Value) -> (Value, Value) {
    let point = curve.as_array().and_then(|points| points.last()).expect("something was covered");
    (point[0].clone(), point[1].clone())
}

#[test]
fn filtering_is_switched_per_series() {
    let lines = lines(&["--run", "branch:dfs:off:1:30", "--run", "branch:dfs:on:1:30"]);
    let filtered: Vec<_> = lines.iter().map(|line| line["filtered"].as_u64().expect("a number")).collect();
    assert!(filtered[0] == 0 && filtered[1] > 0, "{filtered:?}");
}

#[test]
fn what_does_not_exist_is_skipped_and_named() {
    let lines = lines(&["--run", "branch:no-such-strategy:off:3:30", "--run", "branch:bfs:off:1:30"]);
    assert_eq!(lines[0]["skipped"], "no-such-strategy");
    assert_eq!(lines[1]["strategy"], "bfs");
}

#[test]
fn overhead_is_measured_on_the_same_executions() {
    let lines = lines(&["--overhead", "2", "--overhead-executions", "6"]);
    let line = &lines[0];
    assert_eq!(line["executions"], 6);
    for criterion in ["branch", "mcdc"] {
        assert_eq!(line[criterion].as_array().map(Vec::len), Some(2), "{line}");
    }
}
