//! A harness runs natively, fed by `bench/rivals/`, on the cells of Quarry's tests and on the bytes of a fuzzer.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The comparison with other tools on a unit of ours; the line it leaves.
fn compared(unit: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = tempfile::tempdir().expect("temporary directory");
    let done = Command::new("python3")
        .arg(root.join("bench/real.py"))
        .args(["--quarry", env!("CARGO_BIN_EXE_quarry"), "--budget", "2", "--functions", unit, "-o"])
        .arg(out.path())
        .output()
        .expect("python3 starts");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let lines = std::fs::read_to_string(out.path().join("real.jsonl")).expect(&said);
    serde_json::from_str(&lines).expect(&said)
}

#[test]
fn a_suite_covers_natively_what_it_covers_under_quarry() {
    let row = compared("bubble");
    assert_eq!(row["failure"], "", "{row}");
    // outcomes of conditions, as llvm-cov counts them
    assert_eq!(row["n_branches"], 34, "{row}");
    for tool in ["quarry", "libfuzzer", "random"] {
        assert!(row["branches"][tool].as_u64() >= Some(20), "{tool} gets past the first checks: {row}");
    }
    assert!(!row["cause"].to_string().contains("not natively"), "{row}");
}
