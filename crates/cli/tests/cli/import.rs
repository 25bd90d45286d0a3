//! `quarry import`, `gen --tests` and `quarry augment`: every form in which tests are written down, and broken files of each.

use std::fs;

use serde_json::{Value, json};

use crate::support::Bench;

/// Reads a mode from its arguments and counts letters of standard input, or of a file.
const COUNT: &str = "\
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    FILE *from = stdin;
    int c, letters = 0;
    if (argc > 1 && strcmp(argv[1], \"-q\") == 0)
        return 3;
    if (argc > 2)
        from = fopen(argv[2], \"r\");
    if (!from)
        return 2;
    while ((c = getc(from)) != EOF)
        if (c >= 'a' && c <= 'z')
            letters++;
    printf(\"%d\\n\", letters);
    return letters > 9;
}
";
const FIND: &str = "\
struct range { short low; int high; };
int find(const unsigned char *data, unsigned long size, struct range range)
{
    for (unsigned long i = 0; i < size; i++)
        if (data[i] > range.low && data[i] < range.high)
            return 1;
    return 0;
}
";

/// The imported tests by name, with their inputs.
fn inputs(bench: &Bench, out: &str) -> Vec<(String, Value)> {
    let tests = bench.list(&format!("{out}/tests"));
    let tests = tests.iter().filter(|name| name.ends_with(".json"));
    let input = |name: &String| {
        let test = bench.json(&format!("{out}/tests/{name}"));
        (test["name"].as_str().expect("a name").to_owned(), test["input"].clone())
    };
    tests.map(input).collect()
}

fn named(tests: &[(&str, Value)]) -> Vec<(String, Value)> {
    tests.iter().map(|(name, input)| ((*name).to_owned(), input.clone())).collect()
}

#[test]
fn command_lines_keep_their_names_and_bring_their_files() {
    let lines = "# of ours\nquiet: -q\nletters: -n words.txt\npiped: -x < words.txt\nlost: -x < none.txt\nshell: a | b\n";
    let bench = Bench::new(&[("count.c", COUNT), ("tests.txt", lines), ("words.txt", "ab c\n")]);
    bench
        .quarry(&["import", "count.c", "--program", "--tests", "tests.txt", "-o", "suite"])
        .check(
            1,
            &[
                "left out: lost (tests.txt:5): there is no file none.txt for its standard input",
                "left out: shell (tests.txt:6): | cannot be expressed: a test is one command",
            ],
        )
        .shows(&[
            "letters  count -n words.txt",
            "note: the tests need --file words.txt=64",
            "3 tests imported, 2 left out",
        ]);
    assert_eq!(
        inputs(&bench, "suite"),
        named(&[
            ("letters", json!({"argv": ["-n", "words.txt"], "stdin": "", "files": {"words.txt": "ab c\n"}})),
            ("piped", json!({"argv": ["-x"], "stdin": "ab c\n", "files": {"words.txt": null}})),
            ("quiet", json!({"argv": ["-q"], "stdin": "", "files": {"words.txt": null}})),
        ])
    );
    assert_eq!(bench.json("suite/tests/piped.json")["origin"], "tests.txt:4");
    bench.quarry(&["cover", "count.c", "suite"]).check(0, &[]).shows(&["by 3 inputs"]);
    // a suite of Quarry's own, and KLEE's format, are read back
    bench.quarry(&["export", "suite", "--format", "ktest", "-o", "ktest"]).check(0, &[]);
    for (tests, out) in [("suite", "again"), ("ktest", "klee")] {
        bench.quarry(&["import", "count.c", "--program", "--tests", tests, "-o", out]).check(0, &[]);
        assert_eq!(inputs(&bench, out), inputs(&bench, "suite"), "{tests}");
    }
    // what the search adds stands beside tests that keep their names
    let generated = bench.quarry(&[
        "gen",
        "count.c",
        "--program",
        "--tests",
        "suite",
        "-o",
        "more",
        "--max-executions",
        "60",
        "--no-prove",
    ]);
    generated.check(0, &[]);
    let (more, suite) = (inputs(&bench, "more"), inputs(&bench, "suite"));
    let is_old = |test: &&(String, Value)| suite.contains(test);
    assert!(more.iter().any(|test| is_old(&test)) && !more.iter().all(|test| is_old(&test)), "{more:?}");
    let tests = bench.list("more/tests");
    let origins: Vec<Value> = tests
        .iter()
        .filter(|name| name.ends_with(".json"))
        .map(|name| bench.json(&format!("more/tests/{name}"))["origin"].clone())
        .collect();
    assert!(origins.contains(&json!("tests.txt:2")), "{origins:?}");
}

#[test]
fn augmented_tests_stay_and_new_ones_say_what_they_are_like() {
    let lines = "words: -x < words.txt\nquiet: -q\nsame: -x < words.txt\n";
    let bench = Bench::new(&[("count.c", COUNT), ("tests.txt", lines), ("words.txt", "ab c\n")]);
    let augment = |out: &str, more: &[&str]| {
        let given =
            ["augment", "count.c", "--program", "--tests", "tests.txt", "--no-prove", "--budget", "20s"];
        bench.quarry(&[&given, more, &["-o", out]].concat())
    };
    for (generator, out) in [("concolic", "concolic"), ("hybrid", "hybrid"), ("hybrid", "again")] {
        augment(out, &["--generator", generator, "--no-search", "--generations", "4"])
            .check(0, &[])
            .shows(&["3 tests were there and cover"]);
    }
    let tests = inputs(&bench, "hybrid");
    assert_eq!(tests, inputs(&bench, "again"), "the same seed gives the same tests");
    let words = json!({"argv": ["-x"], "stdin": "ab c\n", "files": {"input.txt": null}});
    let old: Vec<&(String, Value)> = tests.iter().filter(|(_, input)| *input == words).collect();
    assert_eq!(old.len(), 2, "existing tests stay although one adds nothing: {tests:?}");
    let new = bench.list("concolic/tests");
    let new: Vec<Value> = new
        .iter()
        .filter(|name| name.ends_with(".json"))
        .map(|name| bench.json(&format!("concolic/tests/{name}")))
        .filter(|test| test["origin"].is_null())
        .collect();
    assert!(!new.is_empty());
    for test in &new {
        let like = test["like"]["test"].as_str().expect("a test");
        assert!(["words", "quiet", "same"].contains(&like), "{test}");
        assert!(test["like"]["differences"].as_array().is_some_and(|all| !all.is_empty()), "{test}");
    }
    augment("tests.txt", &[]).check(2, &[]);
    bench
        .quarry(&["augment", "count.c", "--program"])
        .check(2, &["name the tests that are there with --tests"]);
}

#[test]
fn commands_of_a_script_are_read_and_not_executed() {
    let script = "#!/bin/sh\nexe=./build/count\nif ! $exe -q; then exit 1; fi\nMODE=x \"$exe\" -n words.txt > out\n\
        printf 'a\\nb\\n' | ./count -x | grep 2\n./count -x <<END\nzz\nEND\nfor i in 1 2; do ./count $i; done\nother -q\n";
    let bench = Bench::new(&[("count.c", COUNT), ("run_tests", script), ("words.txt", "ab\n")]);
    bench
        .quarry(&["import", "count.c", "--program", "--tests", "run_tests", "-o", "suite"])
        .check(1, &["left out: line_9 (run_tests:9): the value of $i is not known"]);
    let with = |argv: Value, stdin: &str, mode: Value| {
        let words = if mode == "x" { json!("ab\n") } else { Value::Null };
        json!({"argv": argv, "stdin": stdin, "files": {"words.txt": words}, "env": {"MODE": mode}})
    };
    assert_eq!(
        inputs(&bench, "suite"),
        named(&[
            ("line_3", with(json!(["-q"]), "", Value::Null)),
            ("line_4", with(json!(["-n", "words.txt"]), "", json!("x"))),
            ("line_5", with(json!(["-x"]), "a\nb\n", Value::Null)),
            ("line_6", with(json!(["-x"]), "zz\n", Value::Null)),
        ])
    );
}

#[test]
fn corpora_are_standard_input_or_the_file_that_the_fuzzer_named() {
    let bench = Bench::new(&[("count.c", COUNT)]);
    for directory in ["corpus", "out/default/queue", "out/default/crashes"] {
        fs::create_dir_all(bench.path(directory)).expect("created");
    }
    fs::write(bench.path("corpus/0a1b"), "xyz").expect("written");
    fs::write(bench.path("out/default/queue/id:000000,time:0,orig:a"), "ab").expect("written");
    fs::write(bench.path("out/default/crashes/id:000001,sig:06"), "c\0").expect("written");
    fs::write(bench.path("out/default/crashes/README.txt"), "no input").expect("written");
    let stats = "start_time        : 1\ncommand_line      : afl-fuzz -i in -o out -- ./count -x @@\n";
    fs::write(bench.path("out/default/fuzzer_stats"), stats).expect("written");
    let import = |tests: &str, out: &str| {
        bench.quarry(&["import", "count.c", "--program", "--tests", tests, "-o", out]).check(0, &[]);
        inputs(&bench, out)
    };
    assert_eq!(
        import("corpus", "a"),
        named(&[("0a1b", json!({"argv": [], "stdin": "xyz", "files": {"input.txt": null}}))])
    );
    let of_afl = |bytes: &str| json!({"argv": ["-x", "input"], "stdin": "", "files": {"input": bytes}});
    assert_eq!(
        import("out", "b"),
        named(&[("default_crashes_id_000001", of_afl("c\0")), ("default_id_000000", of_afl("ab"))])
    );
}

#[test]
fn inputs_of_functions_come_from_json_corpora_and_klee() {
    let two = r#"[{"name": "low", "input": {"data": [5], "size": 1, "range": {"low": 1, "high": 9}}}, {"size": 0}]"#;
    let bench =
        Bench::new(&[("find.c", FIND), ("two.json", two), ("broken.json", "{"), ("bad.ktest", "KTEST\0")]);
    fs::create_dir(bench.path("corpus")).expect("created");
    fs::write(bench.path("corpus/x"), [7, 0]).expect("written");
    let number = |number: u32| number.to_be_bytes().to_vec();
    let block = |bytes: &[u8]| [number(bytes.len().try_into().expect("small")), bytes.to_vec()].concat();
    let ktest = [
        [b"KTEST".as_slice(), &number(3), &number(1), &block(b"f.bc"), &number(0), &number(0)].concat(),
        [number(3), block(b"data"), block(&[3, 4])].concat(),
        [block(b"size"), block(&[2, 0, 0, 0, 0, 0, 0, 0])].concat(),
        // the member behind a short stands at the next multiple of four
        [block(b"range"), block(&[255, 255, 0xaa, 0xaa, 4, 0, 0, 0])].concat(),
    ];
    fs::write(bench.path("klee.ktest"), ktest.concat()).expect("written");
    let mut arguments = vec!["import", "find.c", "--function", "find", "-o", "suite"];
    for tests in ["two.json", "broken.json", "corpus", "klee.ktest", "bad.ktest"] {
        arguments.extend(["--tests", tests]);
    }
    bench.quarry(&arguments).check(
        1,
        &[
            "left out: broken (broken.json): is not JSON: ",
            "left out: bad (bad.ktest): it is damaged: it ends within the 4 bytes from byte 5 on",
        ],
    );
    let zero = json!({"low": 0, "high": 0});
    assert_eq!(
        inputs(&bench, "suite"),
        named(&[
            ("klee", json!({"data": [3, 4], "size": 2, "range": {"low": -1, "high": 4}})),
            ("low", json!({"data": [5], "size": 1, "range": {"low": 1, "high": 9}})),
            (
                "two_2",
                json!({"data": bench.json("suite/tests/two_2.json")["input"]["data"], "size": 0, "range": zero})
            ),
            ("x", json!({"data": [7, 0], "size": 2, "range": zero})),
        ])
    );
    for (tests, why) in [
        ("none", "cannot find the tests none"),
        ("broken.json", "none of 1 test can be imported"),
        ("find.c.zip", "cannot find"),
    ] {
        bench.quarry(&["import", "find.c", "--tests", tests, "-o", "x"]).check(2, &[why]);
    }
}

#[test]
fn a_test_comp_suite_is_read_back_from_its_archive() {
    let source = "extern int __VERIFIER_nondet_int(void);\nextern char __VERIFIER_nondet_char(void);\n\
        int main(void)\n{\n    int n = __VERIFIER_nondet_int();\n    if (n == 7 && __VERIFIER_nondet_char() == 'x')\n        return 1;\n    return 0;\n}\n";
    let untyped = "<testcase><input>7</input><input>'x'</input></testcase>";
    let bench = Bench::new(&[("main.c", source), ("test.xml", untyped), ("broken.zip", "PK")]);
    let import = |tests: &str, out: &str| {
        bench.quarry(&["import", "main.c", "--function", "main", "--tests", tests, "-o", out])
    };
    import("test.xml", "one").check(0, &[]).shows(&["test  main("]);
    let covered = |out: &str| bench.json(&format!("{out}/tests/test.json"))["covers"].clone();
    assert!(
        covered("one")
            .as_array()
            .expect("goals")
            .iter()
            .any(|goal| goal["demand"].as_str().is_some_and(|it| it.ends_with("is true")))
    );
    bench.quarry(&["export", "one", "--format", "testcomp", "-o", "comp"]).check(0, &[]);
    for (tests, out) in [("comp.zip", "zip"), ("comp", "directory")] {
        import(tests, out).check(0, &[]);
        assert_eq!(inputs(&bench, out)[0].1, inputs(&bench, "one")[0].1, "{tests}");
    }
    import("broken.zip", "none").check(2, &["broken.zip is not a zip archive that can be read"]);
}
