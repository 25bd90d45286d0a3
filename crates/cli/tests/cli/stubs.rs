//! Functions that are defined nowhere: how they are told of, directed and replaced.

use crate::support::Bench;
use serde_json::json;

const WATCH: &str = "\
extern int read_sensor(int channel);
extern void notify(int *level);
int watch(int channel)
{
    int level = 7;
    notify(&level);
    if (level == 9)
        return 1;
    return read_sensor(channel) == 1234 ? 2 : 0;
}
";

const OWN: &str = "\
int read_sensor(int channel)
{
    if (channel > 3)
        return 1234;
    return 0;
}
";

#[test]
fn stubs_are_listed_with_what_they_do() {
    let bench = Bench::new(&[("watch.c", WATCH)]);
    let ran = bench.quarry(&["gen", "watch.c"]);
    ran.check(0, &[]).shows(&[
        "read_sensor() = {1234}",
        "3 of 4 branches covered",
        "int read_sensor(int channel)  returns input, at most 1 call in a test",
        "void notify(int *level)  does nothing",
    ]);
    let run = bench.json("quarry.out/run.json");
    assert_eq!(run["stubs"][1]["name"], "read_sensor");
    assert_eq!(run["stubs"][1]["calls"], 1);
    let inputs: Vec<_> =
        bench.list("quarry.out/tests").into_iter().filter(|name| name.ends_with("json")).collect();
    let calls =
        |name: &String| bench.json(&format!("quarry.out/tests/{name}"))["input"]["read_sensor()"].clone();
    assert!(inputs.iter().any(|name| calls(name) == json!([1234])));
}

#[test]
fn what_only_a_stub_keeps_from_being_covered_names_the_stub() {
    let source = "\
extern int *table_of(int which);\nextern void fill(int *out);\nextern int plain(void);\n\
static int nested(int x)\n{\n    if (x > 3)\n        return 5;\n    return 6;\n}\n\
int f(int n)\n{\n    int out[2] = {0}, *table = table_of(n);\n    fill(out);\n    \
    if (table && table[0] == 4 && out[1] == 9)\n        return nested(n);\n    \
    if (plain() > 3 && n != n)\n        return 7;\n    return 0;\n}\n";
    let bench = Bench::new(&[("f.c", source)]);
    bench.quarry(&["gen", "f.c", "--function", "f", "--budget", "20s", "--no-prove"]).check(0, &[]);
    let goals = std::fs::read_to_string(bench.path("quarry.out/goals.jsonl")).expect("readable");
    let goals: Vec<serde_json::Value> =
        goals.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let reason = |demand: &str| {
        let goal = goals.iter().find(|goal| goal["demand"] == demand);
        let goal = goal.unwrap_or_else(|| panic!("no {demand}"));
        let [cause, by] =
            ["cause", "by"].map(|part| goal["why"][part].as_str().unwrap_or_default().to_owned());
        (cause, by, goal["reason"].as_str().unwrap_or("covered").to_owned())
    };
    let (cause, by, words) = reason("(table && table[0] == 4 && out[1] == 9) is true");
    assert_eq!((cause.as_str(), by.as_str()), ("stub", "fill"));
    assert!(words.ends_with("the stub of fill may not give what it takes"), "{words}");
    let (cause, by, words) = reason("(x > 3) is true");
    assert_eq!((cause.as_str(), by.as_str()), ("stub", "fill"), "it stands behind");
    assert!(words.starts_with("never reached: (out[1] == 9) at "), "{words}");
    let (cause, ..) = reason("(plain() > 3 && n != n) is true");
    assert_eq!(cause, "unsatisfiable", "what plain gives is not the reason");
}

#[test]
fn a_stub_writes_through_its_pointers_when_told_so() {
    let bench = Bench::new(&[("watch.c", WATCH)]);
    let ran = bench.quarry(&["gen", "watch.c", "--stub-writes", "notify"]);
    ran.check(0, &[]).shows(&["4 of 4 branches covered", "void notify(int *level)  writes input"]);
    // what was said of stubs is remembered with the suite
    bench.quarry(&["replay"]).check(0, &[]);
    bench.quarry(&["cover", "watch.c", "quarry.out"]).check(0, &[]).shows(&["4 of 4 branches covered"]);
    let wrong = bench.quarry(&["gen", "watch.c", "--stub-writes", "notfy"]);
    wrong.check(2, &["no function of that name needs a stub (there is notify"]);
    let wrong = bench.quarry(&["gen", "watch.c", "--stub-writes", "notify=channel"]);
    wrong.check(2, &["notify has no parameter of that name that could be written through (there is level)"]);
}

#[test]
fn the_users_own_stand_ins_take_the_place_of_stubs_and_have_no_goals() {
    let bench = Bench::new(&[("watch.c", WATCH), ("own.c", OWN)]);
    let ran = bench.quarry(&["gen", "watch.c", "--stubs", "own.c", "--stub-writes", "notify"]);
    ran.check(0, &[]).shows(&["4 of 4 branches covered"]);
    assert!(!ran.stdout.contains("read_sensor()"), "{}", ran.stdout);
    bench.quarry(&["replay"]).check(0, &[]);
}

#[test]
fn a_stub_that_another_unit_calls_is_replayed_by_its_width() {
    // both see the declaration, as of a header, and one calls it
    let other = "extern unsigned char step(int);\nint twice(void) { return step(1) + step(2); }\n";
    let main =
        "int twice(void);\nextern unsigned char step(int);\nint f(void) { return twice() == 300 ? 1 : 0; }\n";
    let bench = Bench::new(&[("main.c", main), ("other.c", other)]);
    let ran = bench.quarry(&["gen", "main.c", "other.c", "--function", "f"]);
    ran.check(0, &[]).shows(&["2 of 2 branches covered"]);
    let replay = bench.path("quarry.out/tests/replay.c");
    let built = std::process::Command::new("gcc")
        .args(["-Wall", "-Werror"])
        .arg(replay)
        .arg(bench.path("other.c"))
        .arg("-o")
        .arg(bench.path("replay"))
        .output()
        .expect("gcc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = std::process::Command::new(bench.path("replay")).output().expect("the replay runs");
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(text.contains("returned 1") && text.contains("returned 0"), "{text}");
}

#[test]
fn variables_that_are_defined_nowhere_are_zero_natively_too() {
    let source = "extern int table[512];\nextern const char *names[];\n\
int f(unsigned n)\n{\n    if (table[n % 512] == 0 && !names[0])\n        return n > 700 ? 2 : 1;\n    return 0;\n}\n";
    let bench = Bench::new(&[("f.c", source)]);
    let ran = bench.quarry(&["gen", "f.c", "--function", "f", "--budget", "20s"]);
    ran.check(0, &[]).shows(&["3 of 4 branches covered"]);
    assert!(!ran.stderr.contains("cannot record expected results"), "{}", ran.stderr);
    let tests: Vec<_> =
        bench.list("quarry.out/tests").into_iter().filter(|name| name.ends_with("json")).collect();
    let results: Vec<_> = tests
        .iter()
        .map(|name| bench.json(&format!("quarry.out/tests/{name}"))["expected"]["values"]["result"].clone())
        .collect();
    assert!(results.contains(&json!(1)) && results.contains(&json!(2)), "{results:?}");
    bench.quarry(&["confirm"]).check(0, &[]).shows(&["llvm-cov counts 3 of the 3"]);
}

#[test]
fn a_source_with_a_bool_of_its_own_is_replayed() {
    let source = "typedef enum { FALSE, TRUE } bool;\nvoid emit(int n, bool full);\nbool ask(void);\n\
int f(_Bool really)\n{\n    emit(1, TRUE);\n    return really && ask() == TRUE;\n}\n";
    let bench = Bench::new(&[("f.c", source)]);
    let ran = bench.quarry(&["gen", "f.c", "--function", "f", "--criterion", "condition", "--budget", "20s"]);
    ran.check(0, &[]);
    assert!(!ran.stderr.contains("cannot record expected results"), "{}", ran.stderr);
}
