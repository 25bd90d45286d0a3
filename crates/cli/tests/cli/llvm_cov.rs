//! Branch coverage of a replayed suite as clang's own tools measure it, on code that Quarry did not touch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// How often each side of a branch was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    pub when_true: u64,
    pub when_false: u64,
}

/// Line and column.
pub type Place = (u64, u64);

/// Branch records of a source file.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// Those written in the file itself.
    pub written: BTreeMap<Place, Sides>,
    /// Those out of a macro, by where the macro is used.
    pub expanded: BTreeMap<Place, Vec<Sides>>,
}

/// Builds `replay` natively, runs it and reads what was covered in `source`.
pub fn measure(replay: &Path, source: &Path, n_tests: usize, work: &Path) -> Branches {
    let program = work.join("replay");
    tool(
        Command::new("clang-19")
            // counters live in the profile's mapping, so that ends without exit handlers keep them
            .args(["-w", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping"])
            .args(["-mllvm", "-runtime-counter-relocation"])
            .arg(replay)
            .arg("-o")
            .arg(&program),
    );
    let profiles: Vec<PathBuf> = (1..=n_tests).map(|number| run(&program, number, work)).collect();
    let merged = work.join("merged.profdata");
    tool(Command::new("llvm-profdata-19").arg("merge").args(&profiles).arg("-o").arg(&merged));
    let exported =
        tool(Command::new("llvm-cov-19").arg("export").arg(&program).arg("-instr-profile").arg(&merged));
    branches(&serde_json::from_slice(&exported).expect("llvm-cov writes JSON"), source)
}

/// Runs one test; how it ends is not looked at here.
fn run(program: &Path, number: usize, work: &Path) -> PathBuf {
    let profile = work.join(format!("{number}.profraw"));
    Command::new(program)
        .arg(number.to_string())
        .env("LLVM_PROFILE_FILE", format!("{}%c", profile.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the replay program runs");
    profile
}

fn tool(command: &mut Command) -> Vec<u8> {
    let output = command.stdin(Stdio::null()).output().expect("the tool is installed");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn branches(export: &Value, source: &Path) -> Branches {
    let mut branches = Branches::default();
    for file in export["data"][0]["files"].as_array().into_iter().flatten() {
        if Path::new(file["filename"].as_str().unwrap_or_default()).file_name() != source.file_name() {
            continue;
        }
        for branch in file["branches"].as_array().into_iter().flatten() {
            // the same place twice: a function compiled twice
            let sides = branches.written.entry(place(branch)).or_default();
            sides.when_true += number(branch, 4);
            sides.when_false += number(branch, 5);
        }
        for expansion in file["expansions"].as_array().into_iter().flatten() {
            let records = branches.expanded.entry(place(&expansion["source_region"])).or_default();
            for branch in expansion["branches"].as_array().into_iter().flatten() {
                records.push(Sides { when_true: number(branch, 4), when_false: number(branch, 5) });
            }
        }
    }
    branches
}

fn place(region: &Value) -> Place {
    (number(region, 0), number(region, 1))
}

fn number(region: &Value, at: usize) -> u64 {
    region[at].as_u64().expect("regions are numbers")
}
