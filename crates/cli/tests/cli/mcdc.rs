//! MC/DC for a reader: what `quarry goals` and `quarry cover` say of the conditions of a decision.

use std::fs;

use serde_json::{Value, json};

use crate::support::Bench;

const DOOR: &str = "\
int open(int key, int code, int forced)
{
    if ((key && code == 42) || forced > 9)
        return 1;
    return 0;
}
";

#[test]
fn goals_show_what_each_value_of_a_condition_does() {
    let bench = Bench::new(&[("door.c", DOOR)]);
    bench.quarry(&["goals", "door.c", "--criterion", "mcdc"]).check(0, &[]).shows(&[
        "\
open  door.c:1:5  [entered goal0]
  3:9     if        (key && code == 42) || forced > 9
              condition   value  masks  ends   goal   shown by
    3:10  c1  key         true   -      -      goal2  TT-
                          false  -      -      goal1  F-F
    3:17  c2  code == 42  true   -      true   goal4  TT-
                          false  c1     -      goal3  TFF
    3:32  c3  forced > 9  true   c1 c2  true   goal6  TFT, F-T
                          false  -      false  goal5  TFF, F-F
  4:9     return    [executed goal7]
  5:5     return    [executed goal8]
",
        "in a vector T is true",
        "9 goals for mcdc",
    ]);
}

#[test]
fn unique_cause_asks_for_pairs() {
    let bench = Bench::new(&[("door.c", DOOR)]);
    let arguments =
        ["goals", "door.c", "--criterion", "mcdc", "--mcdc", "unique-cause", "--only", "door.c:3"];
    bench.quarry(&arguments).check(0, &[]).shows(&[
        "c1  key         true   -      -      goal1  TT- with F-F\n",
        "c3  forced > 9  true   c1 c2  true   goal5  TFT with TFF, F-T with F-F\n",
    ]);
}

#[test]
fn the_tables_are_there_for_programs_too() {
    let bench = Bench::new(&[("door.c", DOOR)]);
    let ran = bench.quarry(&["goals", "door.c", "--criterion", "mcdc", "--message-format", "json"]);
    let decision = &ran.check(0, &[]).summary()["decisions"][0];
    assert_eq!(
        (&decision["line"], &decision["text"]),
        (&json!(3), &json!("(key && code == 42) || forced > 9"))
    );
    assert_eq!(
        decision["conditions"][2],
        json!({
            "name": "c3", "file": "door.c", "line": 3, "column": 32, "text": "forced > 9",
            "obligations": [
                {"value": true, "goal": 6, "masks": ["c1", "c2"], "ends": "true", "shown_by": ["TFT", "F-T"], "more": false},
                {"value": false, "goal": 5, "masks": [], "ends": "false", "shown_by": ["TFF", "F-F"], "more": false},
            ]
        })
    );
}

#[test]
fn a_condition_that_cannot_matter_says_so() {
    let bench = Bench::new(&[("dead.c", "int f(int a, int b) { if ((a && 0) || b) return 1; return 0; }\n")]);
    bench
        .quarry(&["goals", "dead.c", "--criterion", "mcdc"])
        .check(0, &[])
        .shows(&["nothing: the outcome never depends on it"]);
}

#[test]
fn cover_names_the_vectors_that_are_missing() {
    let bench = Bench::new(&[("door.c", DOOR)]);
    fs::create_dir(bench.path("suite")).expect("created");
    for (name, text) in [("1.json", r#"{"key": 1, "code": 42}"#), ("2.json", r#"{"key": 0, "forced": 1}"#)] {
        fs::write(bench.path("suite").join(name), text).expect("writable");
    }
    let arguments = ["cover", "door.c", "suite", "--criterion", "mcdc"];
    bench.quarry(&arguments).check(0, &[]).shows(&["\
    door.c:3:9  (key && code == 42) || forced > 9
        evaluated as F-F (false), TT- (true)
                  condition   value  masks  ends  goal   missing
        3:17  c2  code == 42  false  c1     -     goal3  TFF
        3:32  c3  forced > 9  true   c1 c2  true  goal6  TFT, F-T
"]);
    let ran = bench.quarry(&[&arguments[..], &["--message-format", "json"]].concat());
    let decision = ran.check(0, &[]).summary()["decisions"][0].clone();
    let seen = json!([{"vector": "F-F", "outcome": false}, {"vector": "TT-", "outcome": true}]);
    assert_eq!(decision["evaluated"], seen);
    let named = |condition: &Value| condition["name"].clone();
    let names: Vec<Value> =
        decision["conditions"].as_array().expect("conditions").iter().map(named).collect();
    assert_eq!(names, ["c2", "c3"]);
    bench
        .quarry(&[&arguments[..], &["--mcdc", "unique-cause"]].concat())
        .check(0, &[])
        .shows(&["goal6  F-T with F-F*, TFT with TFF\n"]);
}

#[test]
fn every_criterion_measures_what_it_generated() {
    let bench = Bench::new(&[("door.c", DOOR)]);
    let all = "function,statement,branch,decision,condition,condition-decision,mcdc,multiple-condition";
    for rule in ["masking", "unique-cause"] {
        let arguments = ["--criterion", all, "--mcdc", rule, "--message-format", "json"];
        let generated = bench.quarry(&[&["gen", "door.c", "--quiet"], &arguments[..]].concat());
        let generated = generated.check(0, &[]).summary();
        assert_eq!(generated["goals"]["undecided"], 0, "{generated}");
        let measured = bench.quarry(&[&["cover", "door.c", "quarry.out"], &arguments[..]].concat());
        assert_eq!(measured.check(0, &[]).summary()["per_criterion"], generated["per_criterion"]);
    }
}
