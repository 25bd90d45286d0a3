//! `quarry import` of tests in C: programs with and without a framework, whose calls are recorded.

use serde_json::{Value, json};

use crate::support::Bench;

const HEADER: &str = "\
#ifndef STACK_H
#define STACK_H
#ifdef __cplusplus
extern \"C\" {
#endif
struct node { int value; struct node *next; };
struct stack { struct node *top; double weight; unsigned flags : 3; char name[6]; };
extern int n_calls;
int sum(const struct stack *stack, const char *mode, int limit);
int find(const int *values, unsigned long n, int *at);
int apply(int (*f)(int), int x);
int same(const struct node *a, const struct node *b);
#ifdef __cplusplus
}
#endif
#endif
";
const STACK: &str = "\
#include \"stack.h\"
#include <string.h>
int n_calls;
static int clamp(int x, int limit) { return x > limit ? limit : x; }
int sum(const struct stack *stack, const char *mode, int limit)
{
    int all = 0;
    n_calls++;
    if (!stack)
        return -1;
    for (struct node *node = stack->top; node; node = node->next)
        all += strcmp(mode, \"abs\") == 0 && node->value < 0 ? -node->value : node->value;
    return clamp(stack->flags & 4 || stack->weight > 1.5 ? 2 * all : all, limit);
}
int find(const int *values, unsigned long n, int *at)
{
    for (*at = 0; (unsigned long)*at < n; ++*at)
        if (values[*at] == 7)
            return 1;
    return 0;
}
int twice(int x) { return 2 * x; }
int apply(int (*f)(int), int x) { return f && f(x) > 10; }
int same(const struct node *a, const struct node *b) { return a == b; }
int known(int x) { return apply(twice, x); }
";
const PLAIN: &str = "\
#include \"stack.h\"
#include <assert.h>
#include <stdlib.h>
static void check_sum(struct stack *stack, int expected) { assert(sum(stack, \"abs\", 100) == expected); }
static void test_empty(void) { struct stack empty = {0}; check_sum(&empty, 0); check_sum(0, -1); check_sum(0, -1); }
static void test_three(void)
{
    struct node a = {-3, 0}, *b = malloc(sizeof *b);
    b->value = 4;
    b->next = &a;
    check_sum(&(struct stack){b, 2.5, 5, \"three\"}, 14);
    free(b);
}
static void test_find(void) { int v[] = {3, 7, 4}, at; assert(find(v, 3, &at)); assert(!find(v + 2, 1, &at)); }
static int local(int x) { return x; }
int twice(int x);
static void test_apply(void) { apply(0, 1); apply(twice, 6); apply(local, 6); }
static void test_same(void)
{
    struct node a[2] = {{1, a + 1}, {2, 0}}, ring = {1, &ring};
    assert(!same(a, a + 1) && same(&ring, &ring) && !same(&ring, (struct node *)8));
}
int main(void)
{
    test_empty();
    test_three();
    test_find();
    test_apply();
    test_same();
    return 0;
}
";

fn bench(test: &str, text: &str) -> Bench {
    Bench::new(&[("src/stack.h", HEADER), ("src/stack.c", STACK), (test, text)])
}

/// The imported tests: name, origin, input.
fn imported(bench: &Bench) -> Vec<(String, String, Value)> {
    let names = bench.list("suite/tests");
    let tests = names.iter().filter(|name| name.ends_with(".json"));
    let read = |name: &String| {
        let test = bench.json(&format!("suite/tests/{name}"));
        let word = |key: &str| test[key].as_str().expect("a text").to_owned();
        (word("name"), word("origin"), test["input"].clone())
    };
    tests.map(read).collect()
}

const FLAGS: [&str; 4] = ["-o", "suite", "--tests-flags", "-Isrc"];

fn import(bench: &Bench, function: &str, test: &str, status: i32, said: &[&str], shown: &[&str]) {
    let arguments = ["import", "src/stack.c", "--function", function, "--tests", test];
    bench.quarry(&[arguments.as_slice(), &FLAGS].concat()).check(status, said).shows(shown);
}

#[test]
fn calls_of_a_plain_program_are_recorded_with_all_that_is_behind_them() {
    let bench = bench("tests/plain.c", PLAIN);
    import(
        &bench,
        "sum",
        "tests/plain.c",
        0,
        &[],
        &["note: tests/plain.c: 1 call with the input of another left out", "3 tests imported"],
    );
    let stack = |top: Value, weight: f64, flags: u32, name: &str| json!({"top": top, "weight": weight, "flags": flags, "name": name});
    let input = |stack: Value| json!({"stack": stack, "mode": {"text": "abs", "size": 3}, "limit": 100});
    let list = json!({"value": 4, "next": {"value": -3, "next": null}});
    // a helper of the tests is no test
    let expected = [
        ("test_empty", "tests/plain.c:5", input(stack(Value::Null, 0.0, 0, ""))),
        ("test_empty_2", "tests/plain.c:5", input(Value::Null)),
        ("test_three", "tests/plain.c:11", input(stack(list, 2.5, 5, "three"))),
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(name, origin, input)| (name.to_owned(), origin.to_owned(), input))
        .collect();
    assert_eq!(imported(&bench), expected);
    bench.quarry(&["cover", "src/stack.c", "suite"]).check(0, &[]).shows(&["by 3 inputs"]);
    bench
        .quarry(&["confirm", "suite"])
        .check(0, &[])
        .shows(&["llvm-cov counts 9 of the 9 branches reported as covered"]);
}

#[test]
fn arrays_are_as_long_as_their_memory() {
    let bench = bench("tests/plain.c", PLAIN);
    import(&bench, "find", "tests/plain.c", 0, &[], &["2 tests imported"]);
    let inputs: Vec<Value> = imported(&bench).into_iter().map(|(.., input)| input).collect();
    assert_eq!(inputs[0]["values"], json!([3, 7, 4]));
    assert_eq!(inputs[1]["values"], json!([4]));
}

#[test]
fn functions_of_the_source_are_named_and_others_get_stubs() {
    let bench = bench("tests/plain.c", PLAIN);
    import(&bench, "apply", "tests/plain.c", 0, &[], &["1 pointer to functions of the tests"]);
    let callbacks: Vec<Value> = imported(&bench).into_iter().map(|(.., input)| input["f"].clone()).collect();
    assert_eq!(callbacks, [Value::Null, json!("twice"), json!("stub_0")]);
}

#[test]
fn pointers_that_an_input_cannot_say_are_left_out_by_name() {
    let bench = bench("tests/plain.c", PLAIN);
    import(
        &bench,
        "same",
        "tests/plain.c",
        1,
        &[
            "left out: test_same (tests/plain.c:21): a->next points into what a points to",
            "b points to no memory of the program",
        ],
        &["1 test imported"],
    );
    let (_, _, ring) = imported(&bench).remove(0);
    assert_eq!(ring, json!({"a": {"value": 1, "next": {"alias": "a"}}, "b": {"alias": "a"}}));
}

#[test]
fn globals_are_recorded_when_they_are_inputs() {
    let bench = bench("tests/plain.c", PLAIN);
    let arguments =
        ["import", "src/stack.c", "--function", "sum", "--tests", "tests/plain.c", "--global", "n_calls"];
    bench.quarry(&[arguments.as_slice(), &FLAGS].concat()).check(0, &[]).shows(&["4 tests imported"]);
    let mut calls: Vec<Value> =
        imported(&bench).into_iter().map(|(.., input)| input["n_calls"].clone()).collect();
    calls.sort_by_key(Value::as_i64);
    assert_eq!(calls, [json!(0), json!(1), json!(2), json!(3)]);
}

#[test]
fn a_test_that_includes_the_source_reaches_static_functions() {
    let inside = "#include \"../src/stack.c\"\nint main(void) { return clamp(5, 3) + clamp(-5, 3) != -2; }\n";
    let bench = bench("tests/inside.c", inside);
    import(&bench, "clamp", "tests/inside.c", 0, &[], &["2 tests imported", "clamp(x = 5, limit = 3)"]);
    let bench = self::bench("tests/plain.c", PLAIN);
    import(
        &bench,
        "clamp",
        "tests/plain.c",
        2,
        &["clamp is static: only a test that includes its source can call it"],
        &[],
    );
}

#[test]
fn cmocka_and_googletest_are_linked_by_themselves() {
    let cmocka = "#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <cmocka.h>\n\
         #include \"stack.h\"\nstatic void sums(void **state) { (void)state; struct node a = {-7, NULL}; struct stack s = {&a, 1, 4, \"m\"};\n\
         assert_int_equal(sum(&s, \"abs\", 50), 14); }\n\
         int main(void) { const struct CMUnitTest tests[] = { cmocka_unit_test(sums) }; return cmocka_run_group_tests(tests, NULL, NULL); }\n";
    let bench = bench("tests/cm.c", cmocka);
    import(&bench, "sum", "tests/cm.c", 0, &[], &["sums  sum(stack = {.top = {.value = -7, .next = NULL}"]);
    let google = "#include \"stack.h\"\n#include <gtest/gtest.h>\n\
         TEST(Stack, Sums) { struct node a = {7, nullptr}; struct stack s = {&a, 1, 0, \"g\"}; EXPECT_EQ(sum(&s, \"sum\", 5), 5); }\n\
         TEST(Stack, Null) { EXPECT_EQ(sum(nullptr, \"\", 0), -1); }\n";
    let bench = self::bench("tests/google.cc", google);
    import(
        &bench,
        "sum",
        "tests/google.cc",
        0,
        &[],
        &["Stack_Sums  sum(", "Stack_Null  sum(stack = NULL", "2 tests imported"],
    );
}

#[test]
fn unity_is_built_where_its_header_is() {
    let header =
        "void UnityBegin(void);\nvoid UnityRun(void (*test)(void));\n#define RUN_TEST(f) UnityRun(f)\n";
    let source = "#include \"unity.h\"\nvoid setUp(void);\nvoid UnityBegin(void) {}\nvoid UnityRun(void (*test)(void)) { setUp(); test(); }\n";
    let test = "#include \"unity/unity.h\"\n#include \"stack.h\"\nvoid setUp(void) {}\n\
         static void test_null(void) { sum(0, \"\", 1); }\nint main(void) { UnityBegin(); RUN_TEST(test_null); return 0; }\n";
    let bench = Bench::new(&[
        ("src/stack.h", HEADER),
        ("src/stack.c", STACK),
        ("tests/unity/unity.h", header),
        ("tests/unity/unity.c", source),
        ("tests/test.c", test),
    ]);
    import(&bench, "sum", "tests/test.c", 0, &[], &["test_null  sum(stack = NULL", "1 test imported"]);
}

#[test]
fn calls_before_a_crash_count() {
    let crash = "#include \"stack.h\"\n#include <stdlib.h>\nint main(void) { sum(0, \"a\", 1); abort(); }\n";
    let bench = bench("tests/crash.c", crash);
    import(
        &bench,
        "sum",
        "tests/crash.c",
        0,
        &[],
        &["was ended by signal 6: later calls are missing", "1 test imported"],
    );
}

#[test]
fn what_cannot_be_built_or_calls_nothing_is_named() {
    let bench = bench("tests/broken.c", "#include \"stack.h\"\nint main(void) { return missing(; }\n");
    import(&bench, "sum", "tests/broken.c", 2, &["tests/broken.c", "--tests-flags"], &[]);
    let bench = self::bench("tests/idle.c", "int main(void) { return 3; }\n");
    import(&bench, "sum", "tests/idle.c", 2, &["it ends with exit code 3 and never calls the function"], &[]);
}

#[test]
fn tests_are_added_to_those_in_c() {
    let bench = bench("tests/plain.c", PLAIN);
    let arguments = [
        "augment",
        "src/stack.c",
        "--function",
        "find",
        "--tests",
        "tests/plain.c",
        "--max-executions",
        "60",
    ];
    bench
        .quarry(&[arguments.as_slice(), &FLAGS].concat())
        .check(0, &[])
        .shows(&["2 tests were there and cover 4 goals, and no test was added"]);
}
