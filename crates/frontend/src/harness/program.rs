//! The harness of a whole program: it makes arguments, files and environment, calls `main` and exits with its result.

use std::fmt::Write;

use model::ctype::declare::c_string;
use model::ctype::{CFunction, CTypeKind, FunctionKey};
use model::input::Shape;
use model::invocation::InvocationShape;

use crate::agreement::HARNESS;
use crate::mark::USER_MAIN;
use crate::marks::Marks;

use super::{FAIL_ALLOCATIONS, Harness, HarnessError, names};

const DECLARATIONS: &str = "\
extern char **__quarry_arguments(unsigned long long, const char *, unsigned, unsigned, int *);
extern void __quarry_input_file(unsigned long long, const char *, unsigned long long);
extern void __quarry_input_variable(unsigned long long, const char *, unsigned);
extern char **__quarry_environment(void);
extern void exit(int) __attribute__((noreturn));
";

/// Makes the harness that calls `main`.
pub fn generate_program(
    marks: &Marks,
    shape: &InvocationShape,
) -> Result<(FunctionKey, Harness), HarnessError> {
    let key = names::find(marks, "main")?;
    let main = names::definition(marks, &key)?;
    let parameters = ["__quarry_argc", "__quarry_argv", "__quarry_environment()"];
    let n_parameters = main.parameters.len().min(parameters.len());
    let call = format!("{USER_MAIN}({})", parameters[..n_parameters].join(", "));
    let text = text(marks, main, shape, &call);
    let (shape, next_key) = (Shape::default(), shape.next_key);
    let harness = Harness { text, shape, next_key, call, gaps: Vec::new(), couplings: Vec::new() };
    Ok((key, harness))
}

/// What a program is called when it runs: its file without directory and ending.
pub fn program_name(marks: &Marks, main: &FunctionKey) -> String {
    let stem = marks.units[main.unit].source.file_stem();
    stem.map_or_else(|| "program".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn text(marks: &Marks, main: &CFunction, shape: &InvocationShape, call: &str) -> String {
    let mut text = String::from(DECLARATIONS);
    if shape.allocations.is_some() {
        // its declaration alone makes allocations fail
        text.push_str(FAIL_ALLOCATIONS);
    }
    let name = quoted(&program_name(marks, &main.key));
    let arguments = &shape.arguments;
    let (key, most, length) = (arguments.key.0, arguments.most, arguments.length);
    let _ = writeln!(text, "void {HARNESS}(void)\n{{\n    int __quarry_argc;");
    let _ = writeln!(
        text,
        "    char **__quarry_argv = __quarry_arguments({key}, {name}, {most}, {length}, &__quarry_argc);"
    );
    for file in &shape.files {
        let name = file.name.as_ref().map_or_else(|| "0".to_owned(), |name| quoted(name));
        let _ = writeln!(text, "    __quarry_input_file({}, {name}, {});", file.key.0, file.most);
    }
    for variable in &shape.variables {
        let name = quoted(&variable.name);
        let _ =
            writeln!(text, "    __quarry_input_variable({}, {name}, {});", variable.key.0, variable.length);
    }
    if let Some(allocations) = &shape.allocations {
        let _ = writeln!(text, "    __quarry_fail_allocations({}, {});", allocations.key.0, allocations.most);
    }
    let returns_nothing = matches!(marks.declarations.types[main.result].kind, CTypeKind::Void);
    let _ = match returns_nothing {
        true => writeln!(text, "    {call};\n    exit(0);\n}}"),
        false => writeln!(text, "    exit({call});\n}}"),
    };
    text
}

/// A C string.
pub fn quoted(text: &str) -> String {
    c_string(text.as_bytes())
}
