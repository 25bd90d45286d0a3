//! The models of library functions do what the library does.

#[path = "support/running.rs"]
mod running;

use std::path::Path;
use std::process::Command;

use running::run;

/// Fewer comparisons would mean that a part of the driver did not run.
const FEWEST: u64 = 500_000;

fn check(target_flags: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = tempfile::tempdir().expect("a directory for the test");
    let driver = directory.path().join("compare");
    run(Command::new("clang-19")
        .args(["-std=gnu11", "-O0", "-w", "-fno-builtin", "-fwrapv", "-I"])
        .arg(root.join("../../runtime/library"))
        .args(target_flags)
        .arg(root.join("tests/library/compare.c"))
        .arg("-o")
        .arg(&driver));
    let output = Command::new(&driver).output().expect("the driver starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let n_compared = said.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    assert!(n_compared.is_some_and(|n| n > FEWEST), "{said}");
}

#[test]
fn models_agree_with_the_library() {
    check(&[]);
}

#[test]
fn models_agree_with_the_library_on_32_bits() {
    check(&["-m32"]);
}
