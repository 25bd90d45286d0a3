//! Programs for verifiers, run natively on the tests of a suite: one calls `reach_error` exactly if the test covers its goal.

mod witness;
mod yaml;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cache::Cache;
use frontend::instrument::Mode;
use model::input::Input;
use report::record::GoalLine;
use runner::export::{self, ExportFormat, ExportOptions};
use runner::interrupt::Interrupt;
use runner::measure::{Measurer, Settings};
use runner::recheck::coverage_of;
use runner::spec::Spec;
use runner::store::recorder::goal_of;
use runner::store::run::Run;
use runner::store::suite::{read_input, read_record, tests_in};
use runner::subject::{Need, Subject};

use crate::{LIMIT, checkout, generate, spec_of, test_cache};

/// A bit of everything that has goals: short circuits, `?:`, loops, switches with ranges, statements without braces,
/// pointers that choose, a static helper, a function of the name that verifiers look for.
const MIXED: &str = "
struct node { int value; struct node *next; };
static unsigned long total;
static void reach_error(void) { total++; }
static int weight(c, deep) unsigned char c; int deep;
{
    switch (c) {
    case 'a': return 1;
    case '0' ... '9': if (deep) return 2; else return 3;
    default: break;
    case 200: deep++;
    }
    return deep;
}
int mixed(struct node *list, const char *text, unsigned n, short mode)
{
    int k = 0;
    for (unsigned i = 0; i < n && text; i++)
        k += weight((unsigned char)text[i], i > 1 && !(mode & 1));
    while (list && (list->value > 3 || mode == 7)) {
        k++;
        list = list->next;
    }
    if (mode < 0 ? k == 2 : (k > 1) == (n > 2))
        reach_error();
    switch (mode) { case -1: k = 0; case 3: k++; }
    if (k == 5) do k--; while (k > 2);
    else k = 9;
    return (k & 1) && mode != 4;
}
";

/// Definitions and uses of every form that has a monitor: assignments, compound ones, steps before and behind, initialisers,
/// parameters, members, elements, globals, results of calls, conditions that assign.
const FLOWS: &str = "
struct point { int x, y; };
static int limit = 3;
int steps;
static int twice(int v) { if (v > 10) return v; return v + v; }
static void count(void) { steps += 2; limit = limit > 5 ? limit - 1 : limit + 1; }
int flows(int n, unsigned char kind, const char *text)
{
    struct point p = { 1, 2 }, q;
    int total = 0, last = kind ? n : 4, table[4];
    for (int i = 0; i < 4; i++)
        table[i] = i * n;
    q.x = n; q.y = total;
    p = q;
    while (n-- > limit && total < 50) {
        total += twice(n), last = total;
        if (kind & 1) ++steps; else count();
        if ((last = total - n) > 9 && kind != 4) p.x += table[n & 3];
        p.y = p.x > 3 ? p.y : (q.y = n, q.x);
    }
    if (text && (last = text[0]) != 0) total -= last++;
    switch (kind) { case 1: total = -total; break; case 2: --total; default: last--; }
    table[kind & 3] ^= total;
    return twice(total) + table[1] + p.x * last - q.y + steps;
}
";

/// Files of a program for a verifier, and the goal.
struct Program {
    key: String,
    files: Vec<String>,
}

#[test]
fn a_program_for_a_verifier_fails_on_exactly_the_tests_that_cover_its_goal() {
    let criteria = ["function", "statement", "branch", "decision", "condition", "mcdc", "multiple-condition"];
    check_programs(MIXED, "mixed", &criteria, 60, &[]);
}

#[test]
fn a_program_for_a_pair_fails_on_exactly_the_tests_that_cover_it() {
    let left_out = ["a list of initialisers defines it"];
    check_programs(FLOWS, "flows", &["def-use", "all-defs", "all-uses"], 60, &left_out);
}

/// Compares what programs for verifiers do on tests with what the tests cover. So many goals must be covered; these may be the reasons
/// for goals without a program.
fn check_programs(source: &str, function: &str, criteria: &[&str], least: usize, left_out: &[&str]) {
    let file = format!("{function}.c");
    let checkout = checkout(&[(&file, source)]);
    let (root, out) = (checkout.path(), checkout.path().join("out"));
    let mut spec: Spec = spec_of(&file, function);
    spec.criteria.criterion = criteria.iter().map(|&criterion| criterion.to_owned()).collect();
    spec.budget.max_executions = Some(400);
    generate(spec, root, &out);
    let n_covered = forget_states(&out);
    assert!(n_covered > least, "{n_covered} goals are covered");

    let cache: Cache = test_cache();
    let options = ExportOptions::usual(&out, ExportFormat::Verifier, &Interrupt::default(), &cache);
    let exported = export::write(&out, &options).unwrap_or_else(|error| panic!("{error}"));
    let unexpected = exported.left_out.iter().filter(|(_, why)| !left_out.contains(&why.as_str()));
    assert_eq!(
        unexpected.collect::<Vec<_>>(),
        Vec::<&(String, String)>::new(),
        "all other goals are expressed"
    );

    let run: Run = read_record(&out.join("run.json")).unwrap_or_else(|error| panic!("{error}"));
    let work = tempfile::tempdir().expect("temporary directory");
    let need = Need::Mode(Mode::Fast);
    let subject = run
        .rebuild(work.path(), need, &Interrupt::default(), &cache)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut n_reached = 0;
    let programs = listed(&options.directory);
    assert_eq!(programs.len(), exported.n_tests);
    let read = |file: &PathBuf| read_input(file, &subject).expect("an input");
    let inputs: Vec<Input> = tests_in(&out.join("tests")).expect("a suite").iter().map(read).collect();
    let covered: Vec<_> = inputs.iter().map(|input| covered_keys(&subject, &run, &out, input)).collect();
    let driver = driver(&inputs, work.path());
    for program in &programs {
        let binary = built(program, &options.directory, &driver, work.path());
        for (number, covered) in covered.iter().enumerate() {
            let reached = reaches(&binary, number);
            assert_eq!(reached, covered.contains(&program.key), "{} by test {number}", program.key);
            n_reached += usize::from(reached);
        }
    }
    assert!(n_reached > least, "{n_reached} programs were reached");
}

/// Makes every goal of a run an open one; gives the number of those that were not.
fn forget_states(out: &Path) -> usize {
    let file = out.join("goals.jsonl");
    let mut n_covered = 0;
    let mut open = String::new();
    for line in fs::read_to_string(&file).expect("goals").lines() {
        let mut line: GoalLine = serde_json::from_str(line).expect("a goal");
        n_covered += usize::from(line.test.take().is_some());
        line.state = None;
        writeln!(open, "{}", serde_json::to_string(&line).expect("JSON")).expect("a string");
    }
    fs::write(&file, open).expect("writable");
    n_covered
}

fn listed(directory: &Path) -> Vec<Program> {
    let text = fs::read_to_string(directory.join("goals.jsonl")).expect("a list");
    let program = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let files = line["files"].as_array().expect("files").iter();
        Program {
            key: line["key"].as_str().expect("a key").to_owned(),
            files: files.map(|file| file.as_str().expect("a name").to_owned()).collect(),
        }
    };
    text.lines().map(program).collect()
}

/// The keys of the goals that one input covers.
fn covered_keys(subject: &Subject, run: &Run, out: &Path, input: &Input) -> BTreeSet<String> {
    let coverage = coverage_of(subject, run).unwrap_or_else(|error| panic!("{error}"));
    let interrupt = Interrupt::default();
    let work = out.join("measured");
    let settings = Settings { mode: Mode::Fast, work: &work, limit: LIMIT, interrupt: &interrupt };
    let measurer = Measurer::new(subject, settings).unwrap_or_else(|error| panic!("{error}"));
    let measured = measurer.for_goals(&coverage).measure(input).expect("executed");
    let satisfied: BTreeSet<_> = coverage.satisfied(&measured.observations).into_iter().collect();
    let lines = fs::read_to_string(out.join("goals.jsonl")).expect("goals");
    let lines = lines.lines().map(|line| serde_json::from_str::<GoalLine>(line).expect("a goal"));
    let is_covered = |line: &GoalLine| {
        let id = goal_of(subject.program(), &coverage, line).expect("the same goals");
        satisfied.contains(&id)
    };
    lines.filter(is_covered).map(|line| line.key).collect()
}

/// The driver with the cells of these inputs.
fn driver(inputs: &[Input], work: &Path) -> PathBuf {
    let mut text = include_str!("driver.c").to_owned();
    text.push_str("const struct cell cells[] = {\n");
    let mut n_cells = 0;
    for (number, input) in inputs.iter().enumerate() {
        for (key, value) in &input.values {
            writeln!(text, "    {{{number}, {}ull, {value}ull}},", key.0).expect("a string");
            n_cells += 1;
        }
    }
    write!(text, "    {{0, 0, 0}}}};\nconst unsigned n_cells = {n_cells};\n").expect("a string");
    let (file, object) = (work.join("driver.c"), work.join("driver.o"));
    fs::write(&file, text).expect("writable");
    compile(&["-c".as_ref(), file.as_os_str(), "-o".as_ref(), object.as_os_str()]);
    object
}

fn built(program: &Program, directory: &Path, driver: &Path, work: &Path) -> PathBuf {
    let binary = work.join("program");
    let files: Vec<_> = program.files.iter().map(|file| directory.join(file)).collect();
    let mut arguments: Vec<&std::ffi::OsStr> = files.iter().map(|file| file.as_os_str()).collect();
    arguments.extend([driver.as_os_str(), "-o".as_ref(), binary.as_os_str()]);
    compile(&arguments);
    binary
}

/// Whether a program calls `reach_error` on a test.
fn reaches(binary: &Path, test: usize) -> bool {
    let status = Command::new(binary).env("TEST", test.to_string()).status().expect("started");
    assert!(matches!(status.code(), Some(0 | 77)), "{status}");
    status.code() == Some(77)
}

fn compile(arguments: &[&std::ffi::OsStr]) {
    let flags = ["-w", "-O0", "-fwrapv"];
    let status = Command::new("clang-19").args(flags).args(arguments).status().expect("clang is there");
    assert!(status.success(), "{arguments:?}");
}

/// A verifier for programs whose input is one byte: it runs them on every value.
const BRUTE_FORCE: &str = "#!/bin/sh
here=$(dirname \"$0\")
clang-19 -w -Dmain=program -c \"$1\" -o program.o && clang-19 -w \"$here/brute.c\" program.o -o brute && ./brute
";

const ONE_BYTE: &str = "
int one_byte(unsigned char x)
{
    int r = 0;
    if (x * x % 251 == 73)
        r = 1;
    if ((x & 1) && x % 2 == 0)
        r = 2;
    return r;
}
";

#[test]
fn what_a_verifier_says_is_a_claim_and_its_counterexample_is_executed() {
    let checkout =
        checkout(&[("one_byte.c", ONE_BYTE), ("brute.c", include_str!("brute.c")), ("verify", BRUTE_FORCE)]);
    let (root, out) = (checkout.path(), checkout.path().join("out"));
    let mut spec: Spec = spec_of("one_byte.c", "one_byte");
    spec.budget.max_executions = Some(1);
    // inputs that sanitizers try would cover more, and the prover would decide both
    spec.budget.no_prove = true;
    spec.search.no_sanitize = true;
    generate(spec, root, &out);
    let cache = test_cache();
    let asked = |command: String| {
        let options = ExportOptions::usual(&out, ExportFormat::Verifier, &Interrupt::default(), &cache);
        export::write(&out, &ExportOptions { verifier: Some(command), limit: LIMIT * 6, ..options })
    };
    let notes = asked(format!("sh {}", root.join("verify").display()))
        .unwrap_or_else(|error| panic!("{error}"))
        .notes;
    let [first, second] = &notes[..] else { panic!("two goals are open: {notes:?}") };
    assert!(first.contains("covered by"), "{first}");
    assert!(second.contains("claimed unreachable by"), "{second}");
    let claims = fs::read_to_string(out.join("verifier/claims.jsonl")).expect("claims");
    assert!(claims.lines().next().is_some_and(|line| line.contains("\"covers\":true")), "{claims}");

    let liar = asked("echo VERIFICATION SUCCESSFUL".to_owned());
    let error = liar.expect_err("a verifier that proves what a test covers is refused");
    assert!(error.to_string().contains("which a test covers"), "{error}");
}
