//! A plain C program that runs tests without Quarry.
//!
//! It includes the user's source by its path, has one function per test with the values written out, calls the function
//! under test and prints its result. Limit: inputs that the harness does not build are zero here as well.

use std::fmt::Write;

use model::ctype::CTypeKind;
use model::ctype::declare::declaration;
use model::input::Input;

use crate::frame::Frame;
use crate::layout;
use crate::test::{FunctionUnderTest, Test};

/// The program that runs `tests`, each by its name.
pub fn replay_program(under_test: &FunctionUnderTest<'_>, tests: &[Test<Input>]) -> String {
    let frame = Frame::new(under_test);
    let names: Vec<String> = tests.iter().map(|test| frame.test_name(&test.name)).collect();
    let mut text = head(&frame);
    frame.undefined.definitions(&mut text);
    for (test, name) in tests.iter().zip(&names) {
        let _ = write!(text, "\n{}", test.comment());
        write_test(&frame, &mut text, name, &test.input);
    }
    write_main(&mut text, &names);
    layout::folded(&text)
}

fn head(frame: &Frame<'_>) -> String {
    let (source, name) = (&frame.source, &frame.function.key.name);
    let about = format!(
        "/* Tests of {name}. Compile with the flags of {source};\n\
         \x20  run without arguments for all tests, or with names or numbers of tests. */\n"
    );
    format!("{about}{}{}", frame.inclusion(), frame.definitions())
}

fn write_test(frame: &Frame<'_>, text: &mut String, name: &str, input: &Input) {
    let _ = writeln!(text, "static void {name}(void)\n{{");
    let scene = frame.scene(text, input);
    let failing: Vec<String> = frame.shape.failing(input).iter().map(u64::to_string).collect();
    if !failing.is_empty() {
        let missing = format!("printf(\"{name}: not run without failing_allocations.c\\n\")");
        let _ = writeln!(
            text,
            "    if (!quarry_fail_allocations) {{\n        {missing};\n        return;\n    }}"
        );
        let _ = writeln!(text, "    quarry_fail_allocations(\"{}\");", failing.join(","));
    }
    let has_result = write_call(frame, text, name, &scene.call, &scene.result);
    frame.clean_up(text, &scene, has_result, None);
    if !failing.is_empty() {
        text.push_str("    quarry_fail_allocations(\"\");\n");
    }
    text.push_str("}\n");
}

/// Calls the function and prints its result in a way that is the same in every run; whether there is a variable for it.
fn write_call(frame: &Frame<'_>, text: &mut String, name: &str, call: &str, result: &str) -> bool {
    let types = &frame.declarations.types;
    let declared = declaration(types, frame.function.result, result);
    let (format, argument) = match types[frame.function.result].kind {
        CTypeKind::Bool => ("%s", format!("{result} ? \"true\" : \"false\"")),
        CTypeKind::Char { signed: true } | CTypeKind::Integer { signed: true, .. } => {
            ("%lld", format!("(long long){result}"))
        }
        CTypeKind::Char { signed: false } | CTypeKind::Integer { signed: false, .. } => {
            ("%llu", format!("(unsigned long long){result}"))
        }
        CTypeKind::Enum { .. } => ("%lld", format!("(long long){result}")),
        CTypeKind::Float { .. } => ("%.17g", format!("(double){result}")),
        // An address differs from run to run.
        CTypeKind::Pointer { .. } => ("%s", format!("{result} ? \"a pointer\" : \"NULL\"")),
        CTypeKind::Void
        | CTypeKind::Array { .. }
        | CTypeKind::Struct { .. }
        | CTypeKind::Function(_)
        | CTypeKind::Other => {
            let has_result = frame.returns_pointers();
            let before = match types[frame.function.result].kind {
                CTypeKind::Void => String::new(),
                _ if has_result => format!("{declared} = "),
                _ => "(void)".to_owned(),
            };
            let _ = writeln!(text, "    {before}{call};\n    printf(\"{name}: returned\\n\");");
            return has_result;
        }
    };
    let _ = writeln!(text, "    {declared} = {call};");
    let _ = writeln!(text, "    printf(\"{name}: returned {format}\\n\", {argument});");
    true
}

fn write_main(text: &mut String, names: &[String]) {
    text.push_str(
        "\nstatic const struct {\n    const char *name;\n    void (*run)(void);\n} quarry_tests[] = {\n",
    );
    for name in names {
        let _ = writeln!(text, "    {{\"{name}\", {name}}},");
    }
    text.push_str("    {0, 0},\n};\n");
    text.push_str(MAIN);
}

/// Runs all tests, or those named.
const MAIN: &str = r#"
int main(int argc, char **argv)
{
    for (int i = 0; quarry_tests[i].name; i++) {
        int wanted = argc < 2;
        for (int a = 1; a < argc; a++)
            if (strcmp(argv[a], quarry_tests[i].name) == 0 || atoi(argv[a]) == i + 1)
                wanted = 1;
        if (wanted) {
            quarry_tests[i].run();
            fflush(stdout);
        }
    }
    return 0;
}
"#;
