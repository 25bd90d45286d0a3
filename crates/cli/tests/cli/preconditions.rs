//! What must hold of inputs, said in `quarry.toml` or by C of the user's.

use std::fs;

use crate::support::{Bench, read_json};
use serde_json::Value;

const STEPS: &str = "\
enum mode { SLOW = 1, FAST = 3 };
int steps(int n, int mode)
{
    if (n < 0)
        return -1;
    if (mode != FAST)
        return 0;
    return n > 10 ? 1 : 2;
}
";

const LIST: &str = "\
#define STEP 1
struct node {
    int value;
    struct node *next;
};
int falls(const struct node *list)
{
    for (; list; list = list->next)
        if (list->next && list->next->value < list->value)
            return 1;
    return 0;
}
";

/// Lists of one element at least that rise by steps.
const RISING: &str = "\
static void quarry_precondition_falls(const struct node *list)
{
    quarry_assume(list != 0);
    quarry_range(list->value, 0, 9);
    for (; list->next; list = list->next)
        quarry_assume(list->next->value >= list->value + STEP && list->value < 100);
}
";

/// The inputs of the suite.
fn inputs(bench: &Bench) -> Vec<Value> {
    let is_test = |name: &&String| name.ends_with(".json");
    let read = |name: &String| read_json(&bench.path("quarry.out/tests").join(name))["input"].clone();
    bench.list("quarry.out/tests").iter().filter(is_test).map(read).collect()
}

#[test]
fn inputs_keep_to_what_the_configuration_says() {
    let bench = Bench::new(&[("steps.c", STEPS)]);
    fs::create_dir(bench.path("below")).expect("created");
    let config = "[function.steps]\nrange = { n = [-5, 10] }\nfixed = { mode = 'FAST' }\n";
    fs::write(bench.path("quarry.toml"), config).expect("writable");
    let ran = bench.quarry(&["gen", "steps.c", "--quiet", "--message-format", "json"]);
    let summary = ran.check(0, &[]).summary();
    // what is left: another mode, and more than ten
    assert_eq!((&summary["goals"]["covered"], &summary["goals"]["total"]), (&4.into(), &6.into()));
    for input in inputs(&bench) {
        let n = input["n"].as_i64().expect("a number");
        assert!((-5..=10).contains(&n) && input["mode"] == 3, "{input}");
    }
    let run = read_json(&bench.path("quarry.out/run.json"));
    assert_eq!(run["assume"].as_array().map(Vec::len), Some(2), "a replay knows them too");
    bench.quarry(&["replay"]).check(0, &[]);
}

#[test]
fn a_precondition_walks_what_pointers_lead_to() {
    let bench = Bench::new(&[("list.c", LIST), ("rising.h", RISING)]);
    let arguments =
        ["gen", "list.c", "--precondition", "rising.h", "--budget", "5s", "--self-check", "--quiet"];
    let criteria = ["--criterion", "branch,function,statement", "--message-format", "json"];
    let summary = bench.quarry(&[&arguments[..], &criteria].concat()).check(0, &[]).summary();
    let branches = &summary["per_criterion"]["branch"];
    // a list that rises never falls
    assert_eq!((&branches["covered"], &branches["total"]), (&3.into(), &4.into()));
    assert_eq!(summary["per_criterion"]["function"]["total"], 1, "the precondition has no goals");
    for input in inputs(&bench) {
        let mut node = &input["list"];
        assert!(node["value"].as_i64().is_some_and(|value| (0..=9).contains(&value)), "{input}");
        while !node["next"].is_null() {
            assert!(node["next"]["value"].as_i64() > node["value"].as_i64(), "{input}");
            node = &node["next"];
        }
    }
}

#[test]
fn the_configuration_names_the_precondition_beside_it() {
    let bench = Bench::new(&[("list.c", LIST), ("rising.h", RISING)]);
    fs::write(bench.path("quarry.toml"), "[function.falls]\nprecondition = 'rising.h'\n").expect("writable");
    let ran = bench.quarry(&["gen", "list.c", "--budget", "5s", "--quiet", "--message-format", "json"]);
    assert_eq!(ran.check(0, &[]).summary()["goals"]["covered"], 3);
}

#[test]
fn mistakes_are_told_with_their_place() {
    let bench = Bench::new(&[("list.c", LIST), ("other.h", "static int unused;\n")]);
    let wrong = RISING.replace("list->value < 100", "list->valeu < 100");
    fs::write(bench.path("wrong.h"), wrong).expect("writable");
    bench
        .quarry(&["gen", "list.c", "--precondition", "other.h"])
        .check(2, &["other.h defines no quarry_precondition_falls"]);
    bench.quarry(&["gen", "list.c", "--precondition", "wrong.h"]).check(2, &["wrong.h", "valeu"]);
    bench.quarry(&["gen", "list.c", "--precondition", "nowhere.h"]).check(2, &["nowhere.h"]);
    bench.quarry(&["gen", "list.c", "--config", "nowhere.toml"]).check(2, &["nowhere.toml"]);
    fs::write(bench.path("quarry.toml"), "[function.falls]\nlenght = { list = 3 }\n").expect("writable");
    bench.quarry(&["gen", "list.c"]).check(2, &["quarry.toml", "line 2", "lenght"]);
    fs::write(bench.path("quarry.toml"), "[function.falls]\nassume = ['lst != 0']\n").expect("writable");
    bench.quarry(&["gen", "list.c"]).check(2, &["cannot assume 'lst != 0'", "quarry.toml"]);
}
