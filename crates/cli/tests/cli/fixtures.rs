//! Every fixture's feasible branches are covered, clang's own coverage tools agree, and a seed repeats its suite.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::llvm_cov::{Place, Sides, measure};
use crate::support::{Bench, read_json};
use serde_json::Value;

/// Fixtures at work at a time.
const THREADS: usize = 2;

/// What a fixture says of itself.
struct Fixture {
    path: PathBuf,
    function: String,
    arguments: Vec<String>,
    n_branches: u64,
    n_infeasible: u64,
}

#[test]
fn fixtures_are_covered_and_llvm_cov_agrees() {
    let fixtures = fixtures();
    assert!(!fixtures.is_empty(), "there are fixtures");
    let next = AtomicUsize::new(0);
    let work = || {
        let mut complaints = Vec::new();
        while let Some(fixture) = fixtures.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = fixture.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            complaints.extend(check(fixture).into_iter().map(|complaint| format!("{name}: {complaint}")));
        }
        complaints
    };
    let complaints: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no fixture panics")).collect()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn fixtures() -> Vec<Fixture> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/branch");
    let mut paths: Vec<PathBuf> = fs::read_dir(&directory)
        .expect("fixtures/branch exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Fixture::read(&path.canonicalize().expect("a real path"))).collect()
}

impl Fixture {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("readable");
        let directives: BTreeMap<&str, &str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("//@ ")?.split_once(':'))
            .map(|(name, value)| (name, value.trim()))
            .collect();
        let number = |name: &str| directives[name].parse().expect("a number");
        Self {
            path: path.to_owned(),
            function: directives["function"].to_owned(),
            arguments: directives
                .get("args")
                .map(|arguments| arguments.split_whitespace().map(str::to_owned).collect())
                .unwrap_or_default(),
            n_branches: number("branches"),
            n_infeasible: number("infeasible"),
        }
    }

    fn generate(&self, bench: &Bench, criterion: &str, out: &str) -> Result<Value, String> {
        let source = self.path.display().to_string();
        let mut arguments = vec!["gen", &source, "--function", &self.function, "--budget", "60s", "--quiet"];
        arguments.extend(["--criterion", criterion, "--self-check", "--message-format", "json", "-o", out]);
        arguments.extend(self.arguments.iter().map(String::as_str));
        let ran = bench.quarry(&arguments);
        if ran.code == Some(0) {
            Ok(ran.summary())
        } else {
            Err(format!("exit {:?}\n{}", ran.code, ran.stderr))
        }
    }
}

/// Everything that is wrong with a fixture.
fn check(fixture: &Fixture) -> Vec<String> {
    let bench = Bench::new(&[]);
    let summary = match fixture.generate(&bench, "branch", "first") {
        Ok(summary) => summary,
        Err(complaint) => return vec![complaint],
    };
    let mut complaints = Vec::new();
    let goals = read_goals(&bench.path("first/goals.jsonl"));
    let counts = &summary["goals"];
    let expected = fixture.n_branches - fixture.n_infeasible;
    if counts["total"] != fixture.n_branches || counts["covered"] != expected {
        let open = goals.iter().filter(|goal| goal["state"] != "covered").map(Value::to_string);
        let open: Vec<_> = open.collect();
        complaints.push(format!(
            "{} of {} covered, expected {expected} of {}; stop: {}\n{}",
            counts["covered"],
            counts["total"],
            fixture.n_branches,
            summary["stop"],
            open.join("\n")
        ));
    }
    complaints.extend(compare_with_llvm_cov(fixture, &bench, "first"));
    complaints.extend(measure_again(fixture, &bench, "branch", "first", &summary));
    match fixture.generate(&bench, "branch", "second") {
        Ok(_) => complaints.extend(compare_suites(&bench)),
        Err(complaint) => complaints.push(complaint),
    }
    // llvm-cov counts conditions, not what they add up to: where they do, look at them one by one
    if goals.iter().any(has_several_conditions) {
        match fixture.generate(&bench, "condition", "conditions") {
            Ok(summary) => {
                complaints.extend(compare_with_llvm_cov(fixture, &bench, "conditions"));
                complaints.extend(measure_again(fixture, &bench, "condition", "conditions", &summary));
            }
            Err(complaint) => complaints.push(complaint),
        }
    }
    complaints
}

/// Measured as an existing suite, what was generated covers the same.
fn measure_again(
    fixture: &Fixture,
    bench: &Bench,
    criterion: &str,
    out: &str,
    summary: &Value,
) -> Option<String> {
    let source = fixture.path.display().to_string();
    let ran = bench.quarry(&["cover", &source, out, "--criterion", criterion, "--message-format", "json"]);
    if ran.code != Some(0) {
        return Some(format!("quarry cover: exit {:?}\n{}", ran.code, ran.stderr));
    }
    let measured = ran.summary();
    // an execution that was too slow on a busy machine is no hang the second time, but covers the same
    (measured["per_criterion"] != summary["per_criterion"])
        .then(|| format!("generated: {summary}\nmeasured: {measured}"))
}

fn read_goals(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("goals were written");
    text.lines().map(|line| serde_json::from_str(line).expect("a goal per line")).collect()
}

/// The same seed, the same tests.
fn compare_suites(bench: &Bench) -> Vec<String> {
    let (first, second) = (bench.list("first/tests"), bench.list("second/tests"));
    if first != second {
        return vec![format!("the same seed gave {first:?} and {second:?}")];
    }
    let differs = |name: &&String| {
        fs::read(bench.path("first/tests").join(name)).ok()
            != fs::read(bench.path("second/tests").join(name)).ok()
    };
    first.iter().filter(differs).map(|name| format!("the same seed gave two versions of {name}")).collect()
}

/// Where llvm-cov has a record at a goal's place, both must say the same of it.
fn compare_with_llvm_cov(fixture: &Fixture, bench: &Bench, out: &str) -> Vec<String> {
    let goals = read_goals(&bench.path(&format!("{out}/goals.jsonl")));
    let tests = format!("{out}/tests");
    let work = bench.path(&format!("{out}.native"));
    fs::create_dir(&work).expect("created");
    let n_tests = bench.list(&tests).iter().filter(|name| name.ends_with(".json")).count();
    let branches = measure(&bench.path(&tests).join("replay.c"), &fixture.path, n_tests, &work);
    let covered_in_suite = goals_of_suite(bench, &tests);
    let covered = |goal: &Value| covered_in_suite.contains(&goal["id"].as_u64().expect("goals have ids"));
    let mut complaints = Vec::new();
    let mut n_compared = 0;
    let mut in_macros: BTreeMap<Place, Vec<&Value>> = BTreeMap::new();
    for goal in &goals {
        let Some(place) = place_of(goal) else { continue };
        if !branches.written.contains_key(&place) {
            in_macros.entry(place).or_default().push(goal);
        } else if let Some(count) = count_of(goal, branches.written[&place]) {
            n_compared += 1;
            if covered(goal) != (count > 0) {
                complaints.push(format!("covered: {}, but llvm-cov counts {count}: {goal}", covered(goal)));
            }
        }
    }
    for (place, goals) in in_macros {
        let records = branches.expanded.get(&place).map(Vec::as_slice).unwrap_or_default();
        // within one use of a macro goals and records cannot be told apart, but they must be as many
        if goals.len() != 2 * records.len() || goals.iter().any(|goal| has_several_conditions(goal)) {
            continue;
        }
        n_compared += goals.len();
        let n_covered = goals.iter().filter(|goal| covered(goal)).count();
        let taken = |sides: &Sides| usize::from(sides.when_true > 0) + usize::from(sides.when_false > 0);
        let n_taken: usize = records.iter().map(taken).sum();
        if n_covered != n_taken {
            complaints.push(format!("{place:?}: {n_covered} goals are covered, llvm-cov counts {n_taken}"));
        }
    }
    if n_compared == 0 {
        complaints.push(format!("llvm-cov knows none of {} goals", goals.len()));
    }
    complaints
}

/// Ids of the goals that the tests that end in order cover; crashes and hangs are not part of the replayed suite.
fn goals_of_suite(bench: &Bench, tests: &str) -> Vec<u64> {
    let names = bench.list(tests).into_iter().filter(|name| name.ends_with(".json"));
    let covers = |name: String| read_json(&bench.path(tests).join(name))["covers"].clone();
    let ids = names.flat_map(|name| covers(name).as_array().cloned().unwrap_or_default());
    ids.filter_map(|covered| covered["goal"].as_u64()).collect()
}

/// How often llvm-cov saw what the goal demands; `None` where it has no record of its own for it.
fn count_of(goal: &Value, sides: Sides) -> Option<u64> {
    let demand = goal["demand"].as_str()?;
    if has_several_conditions(goal) {
        return None;
    }
    if demand.ends_with(" is true") || demand.contains(" goes to ") {
        Some(sides.when_true)
    } else if demand.ends_with(" is false") {
        Some(sides.when_false)
    } else {
        None
    }
}

fn place_of(goal: &Value) -> Option<Place> {
    Some((goal["line"].as_u64()?, goal["column"].as_u64()?))
}

/// Of a decision with several conditions llvm-cov only knows the conditions.
fn has_several_conditions(goal: &Value) -> bool {
    goal["demand"].as_str().is_some_and(|demand| demand.contains("&&") || demand.contains("||"))
}
