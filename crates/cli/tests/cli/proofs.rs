//! What no input covers is proved, and the proofs can be checked again.

use crate::support::Bench;

/// A guard that excludes another, and a loop whose counter cannot pass its limit.
const SOURCE: &str = "int f(int n)\n{\n    int i = 0;\n    if (n < 0 || n > 9)\n        return -1;\n    \
    if (n > 12)\n        return 1;\n    while (i < n)\n        i++;\n    if (i > 9)\n        return 2;\n    \
    if (i == 4)\n        return 3;\n    return 0;\n}\n";

fn prove() -> Bench {
    let bench = Bench::new(&[("f.c", SOURCE)]);
    let ran = bench.quarry(&["gen", "f.c", "--function", "f", "--budget", "30s", "--prove"]);
    ran.check(0, &[]).shows(&["infeasible:", "(n > 12) is true: proofs/", "(i > 9) is true: proofs/"]);
    bench
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
    let ran = bench.quarry(&[
        "gen",
        "f.c",
        "--function",
        "f",
        "--budget",
        "30s",
        "--prove",
        "--prover",
        "loop-free",
    ]);
    // nothing is known behind the loop
    ran.check(0, &[]).shows(&["undecided:", "(n > 12) is true: proofs/"]);
    bench.quarry(&["gen", "f.c", "--function", "f", "--budget", "30s", "--fresh"]).check(0, &[]);
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
    bench.quarry(&search).check(0, &[]).shows(&["4 of 6 branches covered", "(ok) is true: "]);
    let with_prover = [&search[..], &["--prove", "--prover", "bounded", "--fresh"]].concat();
    let ran = bench.quarry(&with_prover);
    ran.check(0, &[]).shows(&[
        "6 of 6 branches covered",
        "[counterexample]",
        "{1, 4, 7, 10, 13, 16, 19, 22}",
    ]);
    bench.quarry(&["replay"]).check(0, &[]);
}
