//! A C program that runs tests of a whole program: it starts the natively built program with the arguments, standard input,
//! files and environment of each test, in a fresh directory, and prints how it ended.
//!
//! Undefined functions are defined in the same file, which then also replaces the file with `main` ([`stubbed_unit`]).
//! Limit: allocations fail only in a program that is linked with [`ALLOCATIONS`].

use std::fmt::Write;

use model::ctype::declare::c_string;
use model::input::Input;
use model::invocation::Invocation;

use crate::frame::Frame;
use crate::test::{FunctionUnderTest, Test};

/// The driver's code behind the tests.
const DRIVER: &str = include_str!("support/program_driver.c");

/// C that a program is linked with, under names that its objects call instead, so that its allocations can fail.
pub const ALLOCATIONS: &str = include_str!("support/failing_allocations.c");

/// What every test has in its environment; the same as in Quarry's own runs.
const ENVIRONMENT: [&str; 4] = ["PATH=/usr/bin:/bin", "HOME=.", "LC_ALL=C", "TZ=UTC0"];

/// The macro that makes the program of the file that has the driver, too.
pub const STUBS_MACRO: &str = "QUARRY_STUBS";

/// The variable of the environment that names the test whose values stubs give.
pub const TEST_VARIABLE: &str = "QUARRY_TEST";

/// Picks the values of the test that runs, before `main` does.
const SELECT: &str = r#"
__attribute__((constructor)) static void quarry_select(void)
{
    const char *test = getenv("QUARRY_TEST");
    for (int i = 0; test && quarry_tests[i].name; i++)
        if (strcmp(test, quarry_tests[i].name) == 0)
            quarry_tests[i].give();
}
"#;

/// The unit with `main` and, behind it, functions that are defined nowhere: they give what the test says that the
/// environment names.
pub fn stubbed_unit(under_test: &FunctionUnderTest<'_>, tests: &[Test<Input>]) -> String {
    let frame = Frame::new(under_test);
    let mut text = format!("#include {}\n", c_string(frame.source.as_bytes()));
    text.push_str(&frame.definitions());
    frame.undefined.definitions(&mut text);
    let mut rows = String::new();
    for test in tests {
        let name = frame.test_name(&test.name);
        let _ = writeln!(text, "\nstatic void {name}(void)\n{{");
        frame.undefined.settings(&mut text, &test.input);
        text.push_str("}\n");
        let _ = writeln!(rows, "    {{{}, {name}}},", c_string(test.name.as_bytes()));
    }
    let head = "static const struct {\n    const char *name;\n    void (*give)(void);\n} quarry_tests[]";
    let _ = write!(text, "\n{head} = {{\n{rows}    {{0, 0}},\n}};\n{SELECT}");
    text
}

/// The driver for `tests`, each by its name; `program` is what the program is called, `stubbed` what takes the place of its
/// unit with `main`, if something must.
pub fn driver(program: &str, tests: &[Test<Invocation>], stubbed: Option<&str>) -> String {
    let text = driver_alone(program, tests, stubbed.is_some());
    let Some(stubbed) = stubbed else { return text };
    format!(
        "/* {program} calls undefined functions. They are defined here: build the program with this file\n\
         \x20  in place of the one with main, and -D{STUBS_MACRO}. */\n\
         #ifdef {STUBS_MACRO}\n{stubbed}#else\n{text}#endif\n"
    )
}

fn driver_alone(program: &str, tests: &[Test<Invocation>], has_stubs: bool) -> String {
    let mut text = format!(
        "/* Tests of the program {program}. Compile this file and run it with the path of the natively built program,\n\
         \x20  and with names of tests to run only those: ./replay ./{program} test_001 */\n\
         #define _GNU_SOURCE\n#include <stddef.h>\n\n\
         struct file {{\n    const char *name, *bytes;\n    size_t size;\n}};\n\n\
         struct test {{\n    const char *name;\n    const char *const *arguments, *const *environment;\n    \
         struct file input;\n    const struct file *files;\n    const char *failing;\n}};\n\n"
    );
    for test in tests {
        text.push_str(&test.comment());
        arrays(&mut text, program, &test.name, &test.input, has_stubs);
    }
    text.push_str("static const struct test tests[] = {\n");
    for Test { name, input: test, .. } in tests {
        let stdin = c_string(&test.stdin);
        let failing: Vec<String> = test.failing.iter().map(u64::to_string).collect();
        let _ = writeln!(
            text,
            "    {{\"{name}\", {name}_arguments, {name}_environment, {{0, {stdin}, {}}}, {name}_files, \"{}\"}},",
            test.stdin.len(),
            failing.join(",")
        );
    }
    text.push_str("    {0, 0, 0, {0, 0, 0}, 0, 0},\n};\n\n");
    text.push_str(DRIVER);
    text
}

fn arrays(text: &mut String, program: &str, name: &str, test: &Invocation, has_stubs: bool) {
    let mut arguments = vec![c_string(program.as_bytes())];
    arguments.extend(test.arguments.iter().map(|argument| c_string(argument)));
    let _ = writeln!(text, "static const char *const {name}_arguments[] = {{{}, 0}};", arguments.join(", "));
    let is_base =
        |entry: &&str| !test.variables.iter().any(|(given, _)| entry.split('=').next() == Some(given));
    let mut environment: Vec<String> = ENVIRONMENT
        .iter()
        .copied()
        .filter(|entry| is_base(entry))
        .map(|entry| c_string(entry.as_bytes()))
        .collect();
    for (variable, value) in &test.variables {
        if let Some(value) = value {
            environment.push(c_string(&[variable.as_bytes(), b"=", value].concat()));
        }
    }
    if has_stubs {
        environment.push(c_string(format!("{TEST_VARIABLE}={name}").as_bytes()));
    }
    let _ =
        writeln!(text, "static const char *const {name}_environment[] = {{{}, 0}};", environment.join(", "));
    let _ = write!(text, "static const struct file {name}_files[] = {{");
    for (file, bytes) in &test.files {
        if let Some(bytes) = bytes {
            let _ = write!(text, "{{{}, {}, {}}}, ", c_string(file.as_bytes()), c_string(bytes), bytes.len());
        }
    }
    text.push_str("{0, 0, 0}};\n\n");
}
