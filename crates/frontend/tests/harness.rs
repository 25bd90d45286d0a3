//! Harnesses and replay programs: what they look like, and that both build the same input.

#[path = "support/marking.rs"]
mod marking;
#[path = "support/running.rs"]
mod running;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use expect_test::{expect, expect_file};
use frontend::harness::{Harness, HarnessOptions, find, generate};
use frontend::marks::Marks;
use marking::{fixture, mark_file};
use model::ctype::FunctionKey;
use model::input::{Input, Kind, Node, Objects, Shape, Stream};
use model::stub::Stubs;
use running::run;
use testwriter::{FunctionUnderTest, Test, replay_program};

const FUNCTIONS: [&str; 8] = ["scalars", "arrays", "structs", "globals", "odd", "knr", "list", "main"];

/// The runtime's side: every cell gets a value made of its key, as [`value`] does.
const CELLS: &str = "
#include <stdlib.h>
#include <string.h>
_Bool __q(unsigned i, _Bool b) { (void)i; return b; }
void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits)
{
    unsigned long long value = (key + 1) * 0x9e3779b97f4a7c15ull >> 7;
    if (bits < 64) value &= (1ull << bits) - 1;
    memcpy(memory, &value, bytes);
}
unsigned long long __quarry_part_key(unsigned long long object, unsigned long long index)
{
    unsigned long long x = object * 0x9e3779b97f4a7c15u + (index + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) | 1ull << 63;
}
unsigned long long __quarry_size(unsigned long long key, unsigned long long first, unsigned long long least,
                                 unsigned long long most)
{
    return (void)key, (void)least, (void)most, first;
}
void *__quarry_new(unsigned long long count, unsigned long long size) { return calloc(count, size); }
int __quarry_is_fresh(unsigned long long key, unsigned first) { return (void)key, first == 1; }
int __quarry_pointer(unsigned long long key, void *where, const void *fresh, unsigned type, unsigned first,
                     unsigned long long n_elements)
{
    (void)key, (void)type, (void)n_elements;
    *(const void **)where = first ? fresh : 0;
    return first;
}
void __quarry_input_file(unsigned long long key, const char *name, unsigned long long most)
{
    (void)key, (void)most, (void)name;
}
unsigned __quarry_option(unsigned long long key, unsigned first, unsigned n) { return (void)key, (void)n, first; }
void __quarry_object(const void *address, unsigned type, unsigned long long n) { (void)address, (void)type, (void)n; }
void __quarry_function(unsigned long long key, void *where, const void *const *functions, unsigned n, unsigned first)
{
    (void)key, (void)n;
    *(const void **)where = functions[first - 1];
}
void __quarry_harness(void);
int main(void) { __quarry_harness(); return 0; }
";

fn value(key: u64, bits: u32) -> u64 {
    let value = key.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
    if bits < 64 { value & ((1 << bits) - 1) } else { value }
}

fn input(shape: &Shape) -> Input {
    let mut input = Input::default();
    let objects = Objects::of(shape, &input);
    for node in shape.roots.iter().chain(objects.objects.iter().map(|object| &object.node)) {
        fill(node, &mut input);
    }
    input
}

/// No file, as nobody makes one here.
fn leave_out(stream: &Stream, input: &mut Input) {
    input.values.insert(stream.is_missing, 1);
}

/// Gives the scalars of a node their values.
fn fill(node: &Node, input: &mut Input) {
    match &node.kind {
        Kind::Scalar(cell) => {
            input.values.insert(cell.key, value(cell.key.0, cell.scalar.bits()));
        }
        Kind::Array { elements, .. } => elements.iter().for_each(|element| fill(element, input)),
        Kind::Struct { members } => members.iter().for_each(|member| fill(member, input)),
        Kind::Sized(sized) => sized.elements(input).iter().for_each(|element| fill(element, input)),
        Kind::Union(union) => {
            if let Some(member) = union.chosen(input) {
                fill(&member, input);
            }
        }
        Kind::Stream(stream) => leave_out(stream, input),
        Kind::Pointer(_)
        | Kind::Function(_)
        | Kind::Results(_)
        | Kind::Sequence { .. }
        | Kind::Optional { .. }
        | Kind::Unsupported { .. } => {}
    }
}

fn options(function: &str) -> HarnessOptions {
    let mut options = HarnessOptions::default();
    if function == "globals" {
        options.globals = ["counter", "table", "store"].map(str::to_owned).to_vec();
    }
    if function == "arrays" {
        options.lengths = [("text".to_owned(), 2), ("raw".to_owned(), 3)].into();
    }
    options
}

fn harness(marks: &Marks, function: &str) -> Harness {
    let key = find(marks, function).expect("the function is defined");
    generate(marks, &key, &options(function)).expect("a harness")
}

fn replay(marks: &Marks, key: &FunctionKey, shape: &Shape, tests: &[Test<Input>]) -> String {
    let under_test = FunctionUnderTest {
        function: marks.declarations.definition(key).expect("the function is defined"),
        declarations: &marks.declarations,
        source: &marks.units[key.unit].real_path,
        shape,
        stubs: &Stubs::default(),
    };
    replay_program(&under_test, tests)
}

#[test]
fn harnesses_are_readable() {
    let (marks, _directory) = mark_file(&fixture("inputs"), &[], true);
    let mut out = String::new();
    for function in FUNCTIONS {
        let harness = harness(&marks, function);
        let _ = writeln!(out, "{}", harness.text.lines().skip(14).collect::<Vec<_>>().join("\n"));
        let cells: Vec<_> = harness.shape.cells().into_iter().map(|(path, _)| path).collect();
        let _ = writeln!(out, "// cells: {}", cells.join(" "));
        for gap in harness.gaps {
            let _ = writeln!(out, "// gap: {}", gap.what);
        }
        out.push('\n');
    }
    expect_file!["../fixtures/mark/inputs.harness.txt"].assert_eq(&out);
}

#[test]
fn keys_count_in_the_order_of_cells() {
    let (marks, _directory) = mark_file(&fixture("inputs"), &[], true);
    for function in FUNCTIONS {
        let shape = harness(&marks, function).shape;
        let keys: Vec<_> = shape.cells().iter().map(|(_, cell)| cell.key.0).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{function}");
    }
}

/// Compiles the unit with a harness appended and runs it.
fn run_harness(marks: &Marks, harness: &Harness, directory: &Path) -> String {
    let unit = &marks.units[0];
    let mut text = std::fs::read(&unit.text).expect("the marked text");
    text.extend_from_slice(harness.text.as_bytes());
    std::fs::write(directory.join("unit.i"), text).expect("write");
    std::fs::write(directory.join("cells.c"), CELLS).expect("write");
    run(Command::new("clang-19")
        .args(&unit.flags)
        .args(["-fsanitize=address", "-o"])
        .arg(directory.join("harness"))
        .args(["-x", "cpp-output"])
        .arg(directory.join("unit.i"))
        .args(["-x", "c"])
        .arg(directory.join("cells.c")));
    // what a harness builds stays until the process ends
    let output = run(Command::new(directory.join("harness")).env("ASAN_OPTIONS", "detect_leaks=0"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compiles a replay program without warnings and runs it.
fn run_replay(program: &str, compiler: &str, directory: &Path) -> String {
    std::fs::write(directory.join("replay.c"), program).expect("write");
    run(Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-Wno-c23-extensions", "-Wno-deprecated-non-prototype"])
        .args(["-Wno-unused-function", "-o"])
        .arg(directory.join("replay"))
        .arg(directory.join("replay.c")));
    let output = run(&mut Command::new(directory.join("replay")));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn harness_and_replay_build_the_same_input() {
    let (marks, directory) = mark_file(&fixture("inputs"), &[], true);
    for function in ["scalars", "arrays", "structs", "globals", "odd", "knr"] {
        let harness = harness(&marks, function);
        let native = run_harness(&marks, &harness, directory.path());
        let key = find(&marks, function).expect("the function is defined");
        let tests = [("test_001".to_owned(), input(&harness.shape))];
        let program = replay(&marks, &key, &harness.shape, &named(&tests));
        for compiler in ["clang-19", "gcc"] {
            let replayed = run_replay(&program, compiler, directory.path());
            let (printed, returned) = replayed.split_once("test_001: returned").expect("the test's line");
            assert_eq!(native, printed, "{function} by {compiler}");
            assert!(returned.ends_with('\n'));
        }
    }
}

#[test]
fn replay_programs_are_readable() {
    let (marks, _directory) = mark_file(&fixture("inputs"), &[], true);
    let mut out = String::new();
    for function in FUNCTIONS {
        let harness = harness(&marks, function);
        let key = find(&marks, function).expect("the function is defined");
        let mut first = input(&harness.shape);
        for (path, cell) in harness.shape.cells() {
            if path.starts_with("text") {
                first.values.insert(cell.key, 104);
            }
        }
        let tests = [("test_001".to_owned(), first), ("2nd!".to_owned(), Input::default())];
        let program = replay(&marks, &key, &harness.shape, &named(&tests));
        let start = program.find("static void").expect("a test");
        let end = program.find("static const struct {").expect("the list of tests");
        out.push_str(&program[start..end]);
    }
    expect_file!["../fixtures/mark/inputs.replay.txt"].assert_eq(&out);
}

#[test]
fn tests_run_by_name_or_number() {
    let (marks, directory) = mark_file(&fixture("bubble"), &[], true);
    let key = find(&marks, "main").expect("the function is defined");
    let shape = generate(&marks, &key, &HarnessOptions::default()).expect("a harness").shape;
    let tests = [("test_001".to_owned(), Input::default()), ("main".to_owned(), Input::default())];
    let program = replay(&marks, &key, &shape, &named(&tests));
    assert_eq!(run_replay(&program, "gcc", directory.path()).lines().count(), 4);
    let output = run(Command::new(directory.path().join("replay")).arg("2"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.lines().last().map(|line| line.split(' ').next()), Some(Some("quarry_main:")));
    assert_eq!(text.lines().count(), 2);
}

fn message(function: &str, options: &HarnessOptions) -> String {
    let (marks, _directory) = mark_file(&fixture("inputs"), &[], true);
    let harness = find(&marks, function).and_then(|key| generate(&marks, &key, options));
    harness.map_or_else(
        |error| error.to_string().replace(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mark/"), ""),
        |harness| harness.text,
    )
}

#[test]
fn unknown_names_get_advice() {
    let lengths =
        |name: &str| HarnessOptions { lengths: [(name.to_owned(), 3)].into(), ..HarnessOptions::default() };
    let globals = |name: &str| HarnessOptions { globals: vec![name.to_owned()], ..HarnessOptions::default() };
    let messages = [
        message("scalar", &HarnessOptions::default()),
        message("nothing_like_it", &HarnessOptions::default()),
        message("other.c:knr", &HarnessOptions::default()),
        message("arrays", &lengths("txet")),
        message("scalars", &lengths("n")),
        message("scalars", &globals("tabel")),
    ];
    expect![[r#"
        no function scalar is defined in inputs.c (there is scalars (inputs.c:32))
        no function nothing_like_it is defined in inputs.c
        no function knr is defined in inputs.c (there is knr (inputs.c:64))
        --len txet: arrays has no pointer parameter of that name (there is text)
        --len n: scalars has no pointer parameter of that name
        no global variable tabel is defined in inputs.c (there is table)"#]]
    .assert_eq(&messages.join("\n"));
}

#[test]
fn assumptions_see_parameters_and_macros() {
    let assume = |text: &str| HarnessOptions { assume: vec![text.to_owned()], ..HarnessOptions::default() };
    let text = message("knr", &assume("a < LIMIT && s[0] != 'x'"));
    assert!(
        text.contains("    if (!(a < 100 && s[0] != 'x'))\n        return;\n    (void)knr(a, s);"),
        "{text}"
    );
    let messages = [
        message("knr", &assume("a <")),
        message("knr", &assume("(a")),
        message("knr", &assume("unknown > 1")),
        message("knr", &assume(" ")),
    ];
    expect![[r#"
        cannot assume 'a <': expected expression
        cannot assume '(a': expected ')'
        cannot assume 'unknown > 1': use of undeclared identifier 'unknown'
        cannot assume ' ': the expression is empty"#]]
    .assert_eq(&messages.join("\n"));
}

/// Tests of a replay program.
fn named(tests: &[(String, Input)]) -> Vec<Test<Input>> {
    let test = |(name, input): &(String, Input)| Test {
        name: name.clone(),
        about: String::new(),
        input: input.clone(),
    };
    tests.iter().map(test).collect()
}
