//! Coverage of a replayed suite as clang's own tools measure it, on code that Quarry did not touch.

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

/// A decision of several conditions.
#[derive(Clone, Debug)]
pub struct McdcRecord {
    pub begin: Place,
    pub end: Place,
    /// Per condition, whether a pair of evaluations shows its effect.
    pub covered: Vec<bool>,
}

/// What was measured of a source file.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub branches: Branches,
    pub decisions: Vec<McdcRecord>,
    /// From here on: how often, if something counts there at all.
    segments: BTreeMap<Place, Option<u64>>,
}

impl Measured {
    /// How often the code at this place was executed.
    pub fn count_at(&self, place: Place) -> Option<u64> {
        self.segments.range(..=place).next_back().and_then(|(_, count)| *count)
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Counts, which survive ends without exit handlers.
    Counts,
    /// Counts and MC/DC, of tests that end in order.
    Mcdc,
}

/// A replay program and the profile of each of its tests.
pub struct Native {
    program: PathBuf,
    work: PathBuf,
    /// By the name of the test.
    profiles: BTreeMap<String, PathBuf>,
}

impl Native {
    /// Builds `replay` natively and runs its tests one by one; files go to `work`, which is made.
    pub fn replay(replay: &Path, tests: &[String], work: &Path, tools: Tools) -> Self {
        std::fs::create_dir(work).expect("created");
        let program = work.join("replay");
        let mut build = Command::new("clang-19");
        build.args(["-w", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping"]);
        match tools {
            // counters live in the profile's mapping, so that ends without exit handlers keep them
            Tools::Counts => build.args(["-mllvm", "-runtime-counter-relocation"]),
            Tools::Mcdc => build.arg("-fcoverage-mcdc"),
        };
        let object = work.join("replay.o");
        tool(
            Command::new(build.get_program())
                .args(build.get_args())
                .arg("-c")
                .arg(replay)
                .arg("-o")
                .arg(&object),
        );
        build.arg(&object).args(allocations(replay, &object));
        tool(build.arg("-o").arg(&program).arg("-lm"));
        let profile = |test: &String| (test.clone(), run(&program, test, work, tools));
        let profiles = tests.iter().map(profile).collect();
        Self { program, work: work.to_owned(), profiles }
    }

    /// Builds a whole program natively and lets `replay` start it for each test; each must end as its record says.
    pub fn replay_program(source: &Path, replay: &Path, tests: &[String], work: &Path) -> Self {
        std::fs::create_dir(work).expect("created");
        let (program, driver) = (work.join("program"), work.join("driver"));
        tool(Command::new("clang-19").arg("-w").arg(replay).arg("-o").arg(&driver));
        let object = work.join("program.o");
        let coverage = ["-w", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping"];
        let mut compile = Command::new("clang-19");
        compile.args(coverage).args(["-mllvm", "-runtime-counter-relocation", "-c"]);
        let has_stubs = std::fs::read_to_string(replay).expect("readable").contains("#ifdef QUARRY_STUBS");
        let unit = if has_stubs { compile.arg("-DQUARRY_STUBS").arg(replay) } else { compile.arg(source) };
        tool(unit.arg("-o").arg(&object));
        let mut link = Command::new("clang-19");
        link.args(coverage).arg(&object);
        tool(link.args(allocations(replay, &object)).arg("-o").arg(&program));
        let profile = |test: &String| {
            let profile = work.join(format!("{test}.profraw"));
            let mut started = Command::new(&driver);
            started.arg(&program).arg(test).env("LLVM_PROFILE_FILE", format!("{}%c", profile.display()));
            let said = String::from_utf8_lossy(&tool(&mut started)).into_owned();
            let record = crate::support::read_json(&replay.with_file_name(format!("{test}.json")));
            let end = format!("{test}: {}", record["end"].as_str().expect("an end"));
            assert!(said.contains(&end), "{}: '{end}' expected\n{said}", source.display());
            (test.clone(), profile)
        };
        let profiles = tests.iter().map(profile).collect();
        Self { program, work: work.to_owned(), profiles }
    }

    /// What these tests cover in `source`.
    pub fn measure(&self, source: &Path, tests: &[String]) -> Measured {
        let exported = self.export(tests, "text");
        read(&serde_json::from_slice(&exported).expect("llvm-cov writes JSON"), source)
    }

    /// What these tests cover, as lcov writes it.
    pub fn tracefile(&self, tests: &[String]) -> String {
        String::from_utf8(self.export(tests, "lcov")).expect("a tracefile is text")
    }

    fn export(&self, tests: &[String], format: &str) -> Vec<u8> {
        let merged = self.work.join("merged.profdata");
        let profiles = tests.iter().map(|test| &self.profiles[test]);
        let mut merge = Command::new("llvm-profdata-19");
        tool(merge.arg("merge").args(profiles).arg("-o").arg(&merged));
        let mut export = Command::new("llvm-cov-19");
        export.arg("export").arg(format!("-format={format}")).arg(&self.program);
        tool(export.arg("-instr-profile").arg(&merged))
    }
}

/// Lets the object call what makes allocations fail, if some must; gives what it is then linked with.
fn allocations(replay: &Path, object: &Path) -> Option<PathBuf> {
    let file = replay.with_file_name("failing_allocations.c");
    if !file.exists() {
        return None;
    }
    // the program's own calls alone are counted
    let names = ["malloc", "calloc", "realloc", "strdup", "strndup"];
    let renamed = names.map(|name| format!("--redefine-sym={name}=quarry_{name}"));
    tool(Command::new("objcopy").args(renamed).arg(object));
    Some(file)
}

/// Runs one test; how it ends is not looked at here.
fn run(program: &Path, test: &str, work: &Path, tools: Tools) -> PathBuf {
    let profile = work.join(format!("{test}.profraw"));
    let pattern = match tools {
        Tools::Counts => format!("{}%c", profile.display()),
        Tools::Mcdc => profile.display().to_string(),
    };
    Command::new(program)
        .arg(test)
        .env("LLVM_PROFILE_FILE", pattern)
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

fn read(export: &Value, source: &Path) -> Measured {
    let mut measured = Measured::default();
    for file in listed(&export["data"][0]["files"]) {
        if Path::new(file["filename"].as_str().unwrap_or_default()).file_name() != source.file_name() {
            continue;
        }
        read_branches(file, &mut measured.branches);
        for record in listed(&file["mcdc_records"]) {
            let covered = record.as_array().and_then(|fields| fields.last()).map(listed).unwrap_or_default();
            measured.decisions.push(McdcRecord {
                begin: place(record),
                end: (number(record, 2), number(record, 3)),
                covered: covered.iter().map(|covered| covered.as_bool().expect("covered or not")).collect(),
            });
        }
        for segment in listed(&file["segments"]) {
            let counts = segment[3].as_bool().expect("whether it counts");
            measured.segments.insert(place(segment), counts.then(|| number(segment, 2)));
        }
    }
    measured
}

fn read_branches(file: &Value, branches: &mut Branches) {
    for branch in listed(&file["branches"]) {
        // the same place twice: a function compiled twice
        let sides = branches.written.entry(place(branch)).or_default();
        sides.when_true += number(branch, 4);
        sides.when_false += number(branch, 5);
    }
    for expansion in listed(&file["expansions"]) {
        let records = branches.expanded.entry(place(&expansion["source_region"])).or_default();
        for branch in listed(&expansion["branches"]) {
            records.push(Sides { when_true: number(branch, 4), when_false: number(branch, 5) });
        }
    }
}

fn listed(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn place(region: &Value) -> Place {
    (number(region, 0), number(region, 1))
}

fn number(region: &Value, at: usize) -> u64 {
    region[at].as_u64().expect("regions are numbers")
}
