//! What no input covers is proved, and the proofs can be checked again.

use crate::support::Bench;

/// A guard that excludes another, and a loop whose counter cannot pass its limit.
const SOURCE: &str = "int f(int n)\n{\n    int i = 0;\n    if (n < 0 || n > 9)\n        return -1;\n    \
    if (n > 12)\n        return 1;\n    while (i < n)\n        i++;\n    if (i > 9)\n        return 2;\n    \
    if (i == 4)\n        return 3;\n    return 0;\n}\n";

fn prove() -> Bench {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    // counted, so that a busy machine finds the same proofs
    let ran = bench.quarry(&["gen", "f.c", "--function", "f", "--max-executions", "500"]);
    ran.check(0, &[]).shows(&[
        "infeasible:",
        "(n > 12) is true: proofs/",
        "the conditions on every path to it exclude each other",
        "(i > 9) is true: proofs/",
        "whenever f.c:8 is reached, `n >= 0`",
    ]);
    bench
}

fn write(bench: &Bench, file: &str, text: &str) {
    std::fs::write(bench.path(file), text).expect("writable");
}

#[test]
fn what_is_proved_is_infeasible_and_its_proof_can_be_checked_again() {
    let bench = prove();
    let result = bench.json("quarry.out/run.json")["result"].clone();
    assert_eq!(bench.list("quarry.out/proofs").len(), 2, "{result}");
    bench.quarry(&["check-proof"]).check(0, &[]).shows(&["accepted"]);
}

#[test]
fn a_damaged_or_exchanged_proof_is_refused() {
    let bench = prove();
    let proofs = bench.list("quarry.out/proofs");
    let [first, second] = &proofs[..] else { panic!("two proofs, not {proofs:?}") };
    let path = |name: &str| bench.path(&format!("quarry.out/proofs/{name}"));
    let text = std::fs::read_to_string(path(first)).expect("readable");
    std::fs::write(path(first), text.replace("goal", "gaol")).expect("writable");
    bench.quarry(&["check-proof"]).check(1, &[]).shows(&["accepted", first]);
    std::fs::copy(path(second), path(first)).expect("writable");
    bench.quarry(&["check-proof"]).check(1, &[]).shows(&["the proof is about another goal"]);
}

#[test]
fn without_a_proof_nothing_is_called_infeasible() {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    let ran = bench.quarry(&["gen", "f.c", "--function", "f", "--budget", "30s", "--prover", "loop-free"]);
    // nothing is known behind the loop
    ran.check(0, &[]).shows(&["undecided:", "(loop-free)", "(n > 12) is true: proofs/"]);
    bench
        .quarry(&["gen", "f.c", "--function", "f", "--budget", "30s", "--fresh", "--no-prove"])
        .check(0, &[]);
    bench.quarry(&["check-proof"]).check(0, &[]).shows(&["no goal is called infeasible"]);
}

/// One flag that eight comparisons may clear.
const FLAG: &str = "int f(const int v[8])\n{\n    int ok = 1;\n    for (int i = 0; i < 8; i++)\n        \
    if (v[i] != 3 * i + 1)\n            ok = 0;\n    if (ok)\n        return 1;\n    return 0;\n}\n";

#[test]
fn an_input_that_the_prover_finds_becomes_a_test() {
    let bench = Bench::new(&[("f.c", FLAG)]);
    // inputs that sanitizers try would cover one goal more
    let search =
        ["gen", "f.c", "--function", "f", "--budget", "30s", "--max-executions", "1", "--no-sanitize"];
    let without = [&search[..], &["--no-prove"]].concat();
    bench.quarry(&without).check(0, &[]).shows(&["4 of 6 branches covered", "(ok) is true: "]);
    for prover in [&[][..], &["--prove-only"], &["--prover", "bounded"]] {
        let ran = bench.quarry(&[&search[..], &["--fresh"], prover].concat());
        ran.check(0, &[]).shows(&[
            "6 of 6 branches covered",
            "[counterexample]",
            "{1, 4, 7, 10, 13, 16, 19, 22}",
        ]);
        bench.quarry(&["replay"]).check(0, &[]);
    }
    let journal = std::fs::read_to_string(bench.path("quarry.out/journal.jsonl")).expect("readable");
    assert!(journal.contains("counterexample"), "inputs of the prover are recorded: {journal}");
}

/// The same with a division by zero behind the flag.
#[test]
fn an_input_of_the_prover_that_crashes_is_a_finding() {
    let bench = Bench::new(&[("f.c", &FLAG.replace("return 1;", "return 5 / (v[0] - 1);"))]);
    let ran = bench.quarry(&["gen", "f.c", "--function", "f", "--max-executions", "1", "--no-sanitize"]);
    ran.check(0, &[]).shows(&["crash:", "[counterexample]"]);
}

#[test]
fn the_same_seed_gives_the_same_verdicts() {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    let mut said = Vec::new();
    for out in ["first", "second"] {
        bench.quarry(&["gen", "f.c", "--max-executions", "40", "-o", out]).check(0, &[]);
        let goals = std::fs::read_to_string(bench.path(&format!("{out}/goals.jsonl"))).expect("readable");
        said.push(goals);
    }
    assert_eq!(said[0], said[1]);
}

#[test]
fn proofs_are_taken_over_by_the_next_run_and_by_cover() {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    let search = ["gen", "f.c", "--function", "f", "--max-executions", "2", "--prover", "loop-free"];
    bench.quarry(&search).check(0, &[]).shows(&["(n > 12) is true: proofs/"]);
    let measured = bench.quarry(&["cover", "f.c", "quarry.out", "--message-format", "json"]);
    measured.check(0, &[]);
    assert_eq!(measured.summary()["goals"]["infeasible"], 1, "{}", measured.summary());
    // another program: what was proved of the first says nothing of it
    write(&bench, "f.c", &SOURCE.replace("n > 12", "n > 3"));
    let measured = bench.quarry(&["cover", "f.c", "quarry.out", "--message-format", "json"]);
    measured.check(0, &[]);
    assert_eq!(measured.summary()["goals"]["infeasible"], 0, "{}", measured.summary());
}

#[test]
fn a_merged_run_keeps_what_one_of_them_proved() {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    // so many that the search ends by itself: then the prover has more than a few executions are worth
    let search = ["gen", "f.c", "--function", "f", "--max-executions", "40"];
    bench.quarry(&[&search[..], &["-o", "one", "--seed", "1"]].concat()).check(0, &[]);
    bench.quarry(&[&search[..], &["-o", "two", "--seed", "2"]].concat()).check(0, &[]);
    let merged = bench.quarry(&["merge", "one", "two", "-o", "both", "--message-format", "json"]);
    merged.check(0, &[]);
    assert_eq!(merged.summary()["goals"]["infeasible"], 2, "{}", merged.summary());
    bench.quarry(&["check-proof", "both"]).check(0, &[]).shows(&["accepted"]);
}

/// A proof of a goal that inputs cover: that of another goal, with the goal exchanged.
#[test]
fn a_run_that_covers_what_is_called_infeasible_ends_everything() {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    let search = ["gen", "f.c", "--function", "f", "--max-executions", "2", "--prover", "loop-free"];
    bench.quarry(&search).check(0, &[]);
    bench.quarry(&[&search[..], &["-o", "other", "--no-prove"]].concat()).check(0, &[]);
    let goals = std::fs::read_to_string(bench.path("quarry.out/goals.jsonl")).expect("readable");
    let lines: Vec<serde_json::Value> =
        goals.lines().map(|line| serde_json::from_str(line).expect("a goal")).collect();
    let proved = lines.iter().find(|line| line["state"] == "infeasible").expect("one is proved");
    let file = proved["evidence"]["proof"].as_str().expect("it names its proof");
    let proof = std::fs::read_to_string(bench.path(&format!("quarry.out/{file}"))).expect("readable");
    let goal = proof.lines().find(|line| line.starts_with("goal")).expect("it names its goal");
    // (n > 12) being false instead of true
    let forged = proof.replace(goal, &goal.replace("true", "false"));
    assert_ne!(forged, proof);
    write(&bench, &format!("quarry.out/{file}"), &forged);
    let line = |line: &serde_json::Value| {
        let mut line = line.clone();
        let is_other = line["line"] == proved["line"] && line["state"] == "covered";
        if is_other {
            line["state"] = "infeasible".into();
            line["evidence"] = proved["evidence"].clone();
            line.as_object_mut().expect("a goal").remove("test");
        }
        line.to_string() + "\n"
    };
    write(&bench, "quarry.out/goals.jsonl", &lines.iter().map(line).collect::<String>());
    let cover = bench.quarry(&["cover", "f.c", "quarry.out"]);
    cover.check(71, &["a run covers a goal that proofs/", "(n > 12) is false", "please report it with"]);
    std::fs::remove_dir_all(bench.path("quarry.out/contradiction")).expect("cover kept everything");
    // whichever came first: the other run has the test, and no proof
    for [first, second, to] in [["quarry.out", "other", "one"], ["other", "quarry.out", "two"]] {
        let merged = bench.quarry(&["merge", first, second, "-o", to]);
        merged.check(71, &["a run covers a goal that proofs/", "(n > 12) is false"]);
    }
    let again = bench.quarry(&search);
    again.check(71, &["a run covers a goal that proofs/", "(n > 12) is false", "please report it with"]);
    for kept in ["asked.txt", "goal.proof", "input.json", "program.txt"] {
        let text = std::fs::read_to_string(bench.path(&format!("quarry.out/contradiction/{kept}")));
        assert!(text.is_ok_and(|text| !text.is_empty()), "{kept} is kept");
    }
}

/// A guard that only other values of the global could open.
const GLOBAL: &str = "static int mode = 3;\nint f(int n)\n{\n    if (mode == 7)\n        return 1;\n    \
    return n > 0;\n}\n";

#[test]
fn what_only_an_assumption_excludes_is_counted_apart() {
    let bench = Bench::new(&[("f.c", GLOBAL)]);
    let search = ["gen", "f.c", "--function", "f", "--fail-under", "100"];
    let ran = bench.quarry(&[&search[..], &["--message-format", "json"]].concat());
    ran.check(10, &[]);
    let goals = ran.summary()["goals"].clone();
    assert_eq!((&goals["infeasible"], &goals["infeasible_bounded"]), (&0.into(), &1.into()), "{goals}");
    let ran = bench.quarry(&[&search[..], &["--accept-bounded", "--fresh"]].concat());
    ran.check(0, &[]).shows(&["under: globals hold their initial values at first"]);
}
