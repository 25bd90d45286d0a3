//! Marking must not change what a program does: marked and native builds are run side by side.

#[path = "support/marking.rs"]
mod marking;
#[path = "support/running.rs"]
mod running;

use std::path::Path;
use std::process::Command;

use marking::{fixture, mark_file};
use running::run;

/// What a marker does when nobody listens.
const MARKER: &str = "_Bool __q(unsigned i, _Bool b) { (void)i; return b; }\n";

/// Output and exit code of the program as it is, and of its marked text.
fn compare(file: &Path, flags: &[&str], n_conditions_at_least: usize) {
    let (marks, directory) = mark_file(file, flags, false);
    assert!(
        marks.conditions.len() >= n_conditions_at_least,
        "{} conditions in {}",
        marks.conditions.len(),
        file.display()
    );
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("marker.c"), MARKER).expect("write");
    run(Command::new("clang-19").args(["-w", "-o"]).arg(path("native")).args(flags).arg(file));
    let unit = &marks.units[0];
    run(Command::new("clang-19")
        .args(&unit.flags)
        .args(["-c", "-x", "cpp-output", "-o"])
        .arg(path("marked.o"))
        .arg(&unit.text));
    run(Command::new("clang-19").arg("-o").arg(path("marked")).arg(path("marked.o")).arg(path("marker.c")));
    let native = Command::new(path("native")).output().expect("the native program runs");
    let marked = Command::new(path("marked")).output().expect("the marked program runs");
    assert_eq!(native.status, marked.status, "{}", file.display());
    assert_eq!(
        String::from_utf8_lossy(&native.stdout),
        String::from_utf8_lossy(&marked.stdout),
        "{}",
        file.display()
    );
}

#[test]
fn fixtures_behave_the_same() {
    for name in ["bubble", "shapes", "constants", "statements", "macros", "gnu"] {
        compare(&fixture(name), &[], 4);
    }
}

#[test]
fn flags_of_the_user_reach_every_step() {
    compare(&fixture("statements"), &["-std=gnu99", "-O2", "-DUNUSED=1", "-funsigned-char"], 4);
}

/// csmith writes programs free of undefined behaviour; where it is not installed the fixtures must do.
#[test]
fn random_programs_behave_the_same() {
    let directory = tempfile::tempdir().expect("temporary directory");
    for seed in 1..=6 {
        let file = directory.path().join(format!("r{seed}.c"));
        let options = ["--max-funcs", "4", "--max-block-depth", "3", "--no-argc", "--seed"];
        // csmith writes a file of its own where it runs.
        let mut csmith = Command::new("csmith");
        csmith.current_dir(directory.path()).args(options).arg(seed.to_string()).arg("-o").arg(&file);
        let made = csmith.status();
        if made.is_err() {
            eprintln!("csmith is not installed: no random programs were tried");
            return;
        }
        compare(&file, &["-I/usr/include/csmith"], 10);
    }
}
