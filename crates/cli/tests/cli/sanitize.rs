//! By default, tests have no errors of their own making, and errors of the program are findings.

use crate::support::Bench;

const GENERATE: [&str; 7] = ["gen", "f.c", "--max-executions", "200", "--quiet", "--message-format", "json"];

/// Copies the text to an array that is too short for it.
const COPY: &str = "#include <string.h>\n\
    int match(const char *pattern, const char *text, int *length)\n{\n    int n = 0;\n    while (pattern[n] && pattern[n] == text[n])\n        n++;\n    \
    *length = n;\n    char small[4];\n    if (n > 5) {\n        strcpy(small, text);\n        return small[0];\n    }\n    return pattern[n] == 0;\n}\n";

#[test]
fn an_error_of_the_function_is_a_finding_that_replay_shows_again() {
    let bench = Bench::new(&[("f.c", COPY)]);
    let ran = bench.quarry(&GENERATE);
    ran.check(0, &[]);
    assert_eq!(ran.summary()["crashes"], 1);
    assert_eq!(ran.summary()["goals"]["only_by_crash"], 1, "no test covers what overflows");
    let findings = bench.list("quarry.out/crashes");
    let file = findings.iter().find(|name| name.ends_with(".json")).expect("a finding");
    let file = format!("quarry.out/crashes/{file}");
    let finding = &bench.json(&file)["finding"];
    assert_eq!(
        (&finding["kind"], &finding["line"]),
        (&"stack-buffer-overflow".into(), &10.into()),
        "{finding}"
    );
    bench.quarry(&["replay", &file]).check(0, &[]).shows(&["stack-buffer-overflow: write of", "f.c:10:"]);
}

/// Writes sixteen numbers wherever it is told to.
const FILL: &str = "int fill(int *out, int mode)\n{\n    for (int i = 0; i < 16; i++)\n        out[i] = mode == 3 ? 1 : 2;\n    \
    return out[0];\n}\n";

#[test]
fn a_buffer_of_the_harness_grows_until_the_accesses_fit() {
    let bench = Bench::new(&[("f.c", FILL)]);
    // the number is no length
    let ran = bench.quarry(&[&GENERATE[..], &["--no-couple"]].concat());
    ran.check(0, &[]);
    assert_eq!(ran.summary()["crashes"], 0, "the test made the buffer");
    assert_eq!(ran.summary()["goals"]["undecided"], 0);
    for name in bench.list("quarry.out/tests").iter().filter(|name| name.ends_with(".json")) {
        let test = bench.json(&format!("quarry.out/tests/{name}"));
        let n_numbers = test["input"]["out"].as_array().map_or(0, Vec::len);
        assert!(n_numbers >= 16, "{name} passes {n_numbers} numbers: {test}");
    }
}
