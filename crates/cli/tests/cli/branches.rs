//! What gcov and llvm-cov call branches: the criterion `gcov-branch` has as many goals as llvm-cov counts.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Bench, fixture};

#[track_caller]
fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// How many branches llvm-cov counts in a file, by an object that was never run and the profile of an empty program.
fn counted_by_llvm_cov(source: &str, work: &Path) -> u64 {
    let coverage = ["-w", "-fprofile-instr-generate", "-fcoverage-mapping"];
    let at = |name: &str| work.join(name);
    std::fs::write(at("empty.c"), "int main(void) { return 0; }\n").expect("writable");
    run(Command::new("clang-19").args(coverage).arg(at("empty.c")).arg("-o").arg(at("empty")));
    run(Command::new(at("empty")).env("LLVM_PROFILE_FILE", at("raw")));
    run(Command::new("llvm-profdata-19").arg("merge").arg(at("raw")).arg("-o").arg(at("profile")));
    // another name, because the empty program has a main too
    run(Command::new("clang-19")
        .args(coverage)
        .args(["-Dmain=renamed", "-c", source, "-o"])
        .arg(at("object.o")));
    let mut export = Command::new("llvm-cov-19");
    export.args(["export", "-summary-only", "-instr-profile"]).arg(at("profile")).arg(at("object.o"));
    let summary: Value = serde_json::from_slice(&run(&mut export)).expect("JSON");
    summary["data"][0]["totals"]["branches"]["count"].as_u64().expect("a number")
}

#[test]
fn gcov_branches_are_as_many_as_llvm_cov_counts() {
    let fixtures = [
        "branch/logic_mix.c",
        "branch/ternary.c",
        "branch/tokenizer.c",
        "branch/macros.c",
        "mcdc/boolean_operators.c",
        "mcdc/values.c",
    ];
    for name in fixtures {
        let bench = Bench::new(&[]);
        let source = fixture(name);
        let ran = bench.quarry(&["goals", &source, "--criterion", "gcov-branch", "--message-format", "json"]);
        let listed = ran.check(0, &[]).summary();
        let goals = listed["goals"].as_array().expect("goals");
        let is_label =
            |goal: &&Value| goal["demand"].as_str().is_some_and(|demand| demand.starts_with("switch"));
        let n_labels = goals.iter().filter(is_label).count();
        // of a label llvm-cov 19 also counts that it was not taken
        let expected = counted_by_llvm_cov(&source, &bench.path("."));
        assert_eq!((goals.len() + n_labels) as u64, expected, "{name}: {n_labels} labels");
    }
}
