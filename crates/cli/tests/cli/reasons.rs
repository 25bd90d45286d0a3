//! Undecided goals say truly why, and gaps are never silent.

use serde_json::Value;

use crate::support::Bench;

fn goals(bench: &Bench) -> Vec<Value> {
    let text = std::fs::read_to_string(bench.path("quarry.out/goals.jsonl")).expect("readable");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The cause and the sentence of an undecided goal.
fn reason(goals: &[Value], demand: &str) -> (String, String) {
    let goal = goals.iter().find(|goal| goal["demand"] == demand);
    let goal = goal.unwrap_or_else(|| panic!("no goal {demand}"));
    let text = |value: &Value| value.as_str().unwrap_or("covered").to_owned();
    (text(&goal["why"]["cause"]), text(&goal["reason"]))
}

#[test]
fn a_library_function_that_is_not_followed_is_a_gap_and_a_reason() {
    let source = "#include <string.h>\nint f(const char *s)\n{\n    if (!s)\n        return 0;\n    \
        if (strverscmp(s, \"a10\") == 12345)\n        return 1;\n    return 2;\n}\n";
    let source = format!("#define _GNU_SOURCE\n{source}");
    let bench = Bench::new(&[("f.c", &source)]);
    let ran = bench.quarry(&["gen", "f.c", "--function", "f", "--budget", "20s"]);
    ran.check(0, &[]).shows(&["library function: strverscmp", "undecided:"]);
    let gaps = bench.json("quarry.out/run.json")["gaps"].clone();
    assert_eq!((&gaps[0]["kind"], &gaps[0]["what"]), (&"library function".into(), &"strverscmp".into()));
    assert!(gaps[0]["runs"].as_u64().is_some_and(|n| n > 0) && gaps[0]["at"] == "f.c:7:9", "{gaps}");
    let (cause, words) = reason(&goals(&bench), "(strverscmp(s, \"a10\") == 12345) is true");
    assert_eq!(cause, "library", "{words}");
    assert!(words.contains("strverscmp does at f.c:7:9"), "{words}");
}

#[test]
fn a_goal_that_no_run_came_to_names_what_stands_before_it() {
    let source = "static int inner(int x)\n{\n    if (x == 4)\n        return 9;\n    return 3;\n}\n\
        static int unused(int x)\n{\n    if (x)\n        return 1;\n    return 0;\n}\n\
        int (*kept)(int) = unused;\n\
        int f(int x)\n{\n    if (x > 5 && x < 3)\n        return inner(x);\n    return 2;\n}\n";
    let bench = Bench::new(&[("f.c", source)]);
    bench.quarry(&["gen", "f.c", "--function", "f", "--budget", "20s", "--no-prove"]).check(0, &[]);
    let goals = goals(&bench);
    let (cause, words) = reason(&goals, "(x > 5 && x < 3) is true");
    assert_eq!(cause, "unsatisfiable", "{words}");
    assert!(words.starts_with("reached by "), "{words}");
    let (cause, words) = reason(&goals, "(x == 4) is true");
    assert_eq!(cause, "unsatisfiable", "{words}");
    assert!(words.starts_with("never reached: (x < 3) at f.c:16:18 was never true; "), "{words}");
    let (_, words) = reason(&goals, "(x > 5 && x < 3) is false");
    assert_eq!(words, "covered");
}

#[test]
fn the_budget_is_the_reason_only_when_it_ended_first() {
    let source = "int f(const unsigned char *s, int n)\n{\n    unsigned h = 7;\n    \
        for (int i = 0; i < n; i++)\n        h = h * 31 + s[i];\n    \
        if (h == 0x1234567 && n == 2)\n        return 1;\n    return 0;\n}\n";
    let bench = Bench::new(&[("f.c", source)]);
    bench.quarry(&["gen", "f.c", "--function", "f", "--max-executions", "2"]).check(0, &[]);
    let (cause, words) = reason(&goals(&bench), "(h == 0x1234567 && n == 2) is true");
    assert_eq!(cause, "budget", "{words}");
    let again = ["gen", "f.c", "--function", "f", "--budget", "20s", "--no-prove", "--fresh"];
    bench.quarry(&again).check(0, &[]);
    let stop = bench.json("quarry.out/run.json")["result"]["stop"].clone();
    for goal in goals(&bench) {
        let is_budget = goal["why"]["cause"] == "budget";
        assert!(!(stop == "exhausted" && is_budget), "{goal}");
    }
}

#[test]
fn explaining_a_goal_names_the_definition_that_it_takes_and_what_overwrites_it() {
    let source = "int f(const int a[20])\n{\n    int all = 1;\n    for (int i = 0; i < 20; i++)\n        \
        if (a[i] != 25)\n            all = 0;\n    if (all)\n        return 1;\n    return 0;\n}\n";
    let bench = Bench::new(&[("f.c", source)]);
    let search = ["--no-prove", "--strategy", "bfs", "--max-executions", "5"];
    bench.quarry(&[&["gen", "f.c", "--function", "f"], &search[..]].concat()).check(0, &[]);
    let explained = bench.quarry(&["explain", "quarry.out", "f.c:7"]);
    explained.check(0, &[]).shows(&[
        "problem: f.c:7:9  (all) should be true",
        "all from f.c:3:9  int all = 1;\n        no test brings it there; its value would do",
        "all from f.c:6:17  all = 0;",
        "        if (all)\n    1 of 1 test come there\n    all is 0 there",
        "the search followed no event sequences for it",
        "start → int all = 1; at f.c:3:9 [all] → (all) is true at f.c:7:9 → f.c:8:9",
        "all is defined anew at f.c:6:17, where (a[i] != 25) at f.c:5:13 leads if it is true",
    ]);
    let json = bench.quarry(&["explain", "quarry.out", "5", "--message-format", "json"]);
    json.check(0, &[]).shows(&["\"promise\":\"solves\""]);
    bench.quarry(&["explain", "quarry.out", "f.c:99"]).check(2, &["no goal is called f.c:99"]);
}
