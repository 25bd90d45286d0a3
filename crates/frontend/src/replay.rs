//! A plain C program that runs tests without Quarry.
//!
//! It includes the user's source by its path, has one function per test with the values written out, calls the function
//! under test and prints what it returned. Limit: inputs the harness does not build are zero here too.

mod callbacks;
mod check;
mod leaves;
mod objects;
mod program;
mod record;
mod undefined;
mod values;

use std::fmt::Write;

use model::ctype::declare::{declaration, parameter_object};
use model::ctype::{CFunction, CStatic, CTypeId, CTypeKind, FunctionKey};
use model::input::{Input, Kind, Node, Shape};

use crate::marks::Marks;

use crate::stubs::Stubs;
pub use check::{
    CHECKS_HEADER, Checked, Ending, Expectation, Framework, SUPPORT_HEADER, SUPPORT_SOURCE, UNIT_HEADER,
    check_program,
};
pub use leaves::{Leaf, LeafKind, Seen};
use objects::Writer;
pub use program::{ALLOCATIONS, TEST_VARIABLE, driver, stubbed_unit};
pub use record::{Observed, Recorder, WRAPPED, recorder};
use undefined::Replayed;
pub use values::value_text;

/// What `main` of the source is called in the program.
const USER_MAIN: &str = "quarry_user_main";

/// Names for truth values. The header that has them also makes `bool` a macro, which some sources define in their own way.
const TRUTH: &str = "#ifndef true\n#define true 1\n#define false 0\n#endif\n";

/// Lets allocations fail, by their numbers, in a program that is linked with what it takes.
const FAIL_ALLOCATIONS: &str = "\
/* Some tests make allocations fail: failing_allocations.c says how to build them. */
__attribute__((weak)) void quarry_fail_allocations(const char *numbers);
";

/// What replay programs are of. The roots of `stubs` are the last ones of `shape`.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub marks: &'a Marks,
    pub function: &'a FunctionKey,
    pub shape: &'a Shape,
    pub stubs: &'a Stubs,
}

/// A test of a replay program.
#[derive(Clone, Debug)]
pub struct Test<I> {
    /// What it is called in the program.
    pub name: String,
    /// What people are told about it, in a comment; may be empty.
    pub about: String,
    pub input: I,
}

impl<I> Test<I> {
    /// The comment before the test, if there is something to tell.
    fn comment(&self) -> String {
        if self.about.is_empty() {
            return String::new();
        }
        // the text must not end the comment, nor begin another
        let about = self.about.replace("*/", "* /").replace("/*", "/ *");
        format!("/* {about} */\n")
    }
}

/// The program that runs `tests`, each by its name; empty when the function is not defined. The roots of `stubs` are the
/// last ones of `shape`.
pub fn c_program(
    marks: &Marks,
    function: &FunctionKey,
    shape: &Shape,
    stubs: &Stubs,
    tests: &[Test<Input>],
) -> String {
    let Some(program) = Program::new(&Subject { marks, function, shape, stubs }) else {
        return String::new();
    };
    let names: Vec<String> = tests.iter().map(|test| program.test_name(&test.name)).collect();
    let mut text = program.head();
    program.undefined.definitions(&mut text);
    for (test, name) in tests.iter().zip(&names) {
        let _ = write!(text, "\n{}", test.comment());
        program.test(&mut text, name, &test.input);
    }
    program.main(&mut text, &names);
    text
}

/// What a test has around its call.
struct Scene {
    /// The call itself.
    call: String,
    /// A name for what it returns.
    result: String,
    /// The objects behind pointers, each a variable that points to it.
    objects: Vec<(String, Node)>,
    /// The parameters that are arrays of the test.
    arrays: Vec<(String, Node)>,
    /// The names of all parameters.
    names: Vec<String>,
}

/// What of a test's call can be compared.
pub fn leaves(subject: &Subject<'_>, input: &Input) -> Vec<Leaf> {
    Program::new(subject).map_or_else(Vec::new, |program| {
        let scene = program.scene(&mut String::new(), input);
        program.all_leaves(&scene, input)
    })
}

/// A name for a test that the source does not use.
pub fn free_name(subject: &Subject<'_>, name: &str) -> String {
    Program::new(subject).map_or_else(|| name.to_owned(), |program| program.test_name(name))
}

struct Program<'a> {
    marks: &'a Marks,
    function: &'a CFunction,
    shape: &'a Shape,
    undefined: Replayed<'a>,
}

impl<'a> Program<'a> {
    /// `None` when the function is not defined.
    fn new(subject: &Subject<'a>) -> Option<Self> {
        let Subject { marks, shape, stubs, .. } = *subject;
        let function = marks.declarations.functions.iter().find(|known| known.key == *subject.function)?;
        let first_root = shape.roots.len().saturating_sub(stubs.roots.len());
        let undefined = Replayed {
            types: &marks.declarations.types,
            unit: function.key.unit,
            shape,
            first_root,
            all: stubs,
        };
        Some(Self { marks, function, shape, undefined })
    }

    fn head(&self) -> String {
        let source = self.source();
        let name = &self.function.key.name;
        let about = format!(
            "/* Tests of {name}. Compile with the flags of {source};\n\
             \x20  run without arguments for all tests, or with names or numbers of tests. */\n"
        );
        format!("{about}{}{}", self.inclusion(&source), self.definitions())
    }

    /// The function's source, as an absolute path.
    fn source(&self) -> String {
        let unit = &self.marks.units[self.function.key.unit];
        let source = unit.directory.join(&unit.source);
        source.canonicalize().unwrap_or(source).display().to_string()
    }

    /// Includes the source, with another name for its `main`.
    fn inclusion(&self, source: &str) -> String {
        let mut text = format!("#define main {USER_MAIN}\n");
        let of_unit = |function: &&CFunction| function.key.unit == self.function.key.unit;
        let has_main =
            self.marks.declarations.functions.iter().filter(of_unit).any(|known| known.key.name == "main");
        let include = format!("#include \"{}\"\n", source.replace('\\', "\\\\").replace('"', "\\\""));
        if has_main {
            // Under its new name, main must say what it returns.
            text.push_str("#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wreturn-type\"\n");
            text.push_str(&include);
            text.push_str("#pragma GCC diagnostic pop\n");
        } else {
            text.push_str(&include);
        }
        text.push_str("#undef main\n");
        text
    }

    /// What tests need besides the source.
    fn definitions(&self) -> String {
        let mut text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n".to_owned();
        if self.has_truth_values() {
            text.push_str(TRUTH);
        }
        if !self.shape.targets.is_empty() {
            text.push_str(objects::NEW);
        }
        if self.shape.roots.iter().any(|root| matches!(root.kind, Kind::Stream(_))) {
            text.push_str(objects::STREAM);
        }
        if self.shape.allocations.is_some() {
            text.push_str(FAIL_ALLOCATIONS);
        }
        text.push_str(&self.statics());
        for stub in &self.shape.stubs {
            text.push_str(&callbacks::definition(&self.marks.declarations.types, stub));
        }
        text
    }

    /// Declares the static variables of functions that are inputs, by the symbols that clang gives them.
    fn statics(&self) -> String {
        let is_input = |variable: &&CStatic| {
            let told = variable.qualified_name();
            variable.unit == self.function.key.unit && self.shape.roots.iter().any(|root| root.name == told)
        };
        let declared = |variable: &CStatic| {
            let function = if variable.function == "main" { USER_MAIN } else { &variable.function };
            let declared = declaration(
                &self.marks.declarations.types,
                variable.ty,
                &static_name(&variable.qualified_name()),
            );
            format!("extern {declared} __asm__(\"{function}.{}\");\n", variable.name)
        };
        let statics: Vec<String> =
            self.marks.declarations.statics.iter().filter(is_input).map(declared).collect();
        if statics.is_empty() {
            return String::new();
        }
        format!("/* Static variables of functions, as clang calls them. */\n{}", statics.concat())
    }

    /// Whether `true` or `false` may be written somewhere.
    fn has_truth_values(&self) -> bool {
        let shape = self.shape;
        // what exists in some tests only may hold anything
        let varies = !shape.targets.is_empty() || !shape.stubs.is_empty();
        let is_composed =
            |root: &Node| matches!(root.kind, Kind::Union(_) | Kind::Struct { .. } | Kind::Sequence { .. });
        varies
            || shape.roots.iter().any(is_composed)
            || shape.cells().iter().any(|(_, cell)| cell.scalar == model::input::Scalar::Bool)
    }

    /// A name for the test's function that the source does not use.
    fn test_name(&self, name: &str) -> String {
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = name.chars().map(word).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert_str(0, "test_");
        }
        let functions = self.marks.declarations.functions.iter().map(|function| &function.key.name);
        let mut used = functions.chain(self.marks.declarations.globals.iter().map(|global| &global.name));
        if used.any(|used| *used == name) { format!("quarry_{name}") } else { name }
    }

    fn test(&self, text: &mut String, name: &str, input: &Input) {
        let _ = writeln!(text, "static void {name}(void)\n{{");
        let scene = self.scene(text, input);
        let failing: Vec<String> = self.shape.failing(input).iter().map(u64::to_string).collect();
        if !failing.is_empty() {
            let missing = format!("printf(\"{name}: not run without failing_allocations.c\\n\")");
            let _ = writeln!(
                text,
                "    if (!quarry_fail_allocations) {{\n        {missing};\n        return;\n    }}"
            );
            let _ = writeln!(text, "    quarry_fail_allocations(\"{}\");", failing.join(","));
        }
        self.call(text, name, &scene.call, &scene.result);
        if !failing.is_empty() {
            text.push_str("    quarry_fail_allocations(\"\");\n");
        }
        text.push_str("}\n");
    }

    /// Writes the variables and settings of a test; what is left is the call.
    fn scene<'s>(&'s self, text: &mut String, input: &'s Input) -> Scene {
        let names = self.function.parameter_names();
        let roots = &self.shape.roots[..self.undefined.first_root];
        let n_globals = roots.len().saturating_sub(names.len());
        let (globals, parameters) = roots.split_at(n_globals);
        let called = if self.function.key.name == "main" { USER_MAIN } else { &self.function.key.name };
        let mut call = format!("{called}({})", names.join(", "));
        let taken: Vec<String> = globals.iter().map(|global| global.name.clone()).collect();
        let mut writer = Writer::new(self.shape, input, &names, &taken);
        for global in globals {
            writer.assignments(&static_name(&global.name), global);
        }
        writer.close();
        text.push_str(&std::mem::take(&mut writer.text));
        if names.iter().any(|name| name == called) {
            let _ = writeln!(text, "    __typeof__({called}) *function = {called};");
            call = format!("function({})", names.join(", "));
        }
        for ((parameter, node), name) in self.function.parameters.iter().zip(parameters).zip(&names) {
            self.parameter(&mut writer, parameter.ty, node, name);
        }
        writer.close();
        text.push_str(&writer.text);
        for stub in &self.shape.stubs {
            text.push_str(&callbacks::results(&self.marks.declarations.types, stub, input));
        }
        self.undefined.settings(text, input);
        let objects = writer.into_objects();
        let mut result = "result".to_owned();
        while names.contains(&result) || objects.iter().any(|(name, _)| *name == result) {
            result.push('_');
        }
        let arrays = names.iter().zip(parameters);
        let arrays = arrays.filter(|(_, node)| matches!(node.kind, Kind::Array { pointer: true, .. }));
        let arrays = arrays.map(|(name, node)| (name.clone(), node.clone())).collect();
        Scene { call, result, objects, arrays, names }
    }

    /// Declares the variable of a parameter.
    fn parameter(&self, writer: &mut Writer<'_>, ty: CTypeId, node: &Node, name: &str) {
        let declared = parameter_object(&self.marks.declarations.types, ty, node, name);
        let value = match &node.kind {
            Kind::Unsupported { .. } => match self.marks.declarations.types[ty].kind {
                CTypeKind::Struct { .. } | CTypeKind::Array { .. } | CTypeKind::Other => "{0}".to_owned(),
                _ => "0".to_owned(),
            },
            Kind::Pointer(pointer) => {
                let value = writer.pointer(pointer, name);
                if writer.owns(pointer) {
                    return; // the object's own variable
                }
                value
            }
            Kind::Array { elements, .. } => writer.elements(elements, self.has_extra_zero(ty), name),
            Kind::Scalar(_)
            | Kind::Struct { .. }
            | Kind::Sized(_)
            | Kind::Union(_)
            | Kind::Function(_)
            | Kind::Stream(_)
            | Kind::Results(_)
            | Kind::Sequence { .. }
            | Kind::Optional { .. } => writer.initialiser(node, name, "."),
        };
        let _ = writeln!(writer.text, "    {declared} = {value};");
    }

    /// The harness ends what a `char *` points to with a zero byte of its own.
    fn has_extra_zero(&self, ty: CTypeId) -> bool {
        let types = &self.marks.declarations.types;
        matches!(&types[ty].kind, CTypeKind::Pointer { to, .. } if types[*to].is_text())
    }

    /// Calls the function and prints its result in a way that is the same in every run.
    fn call(&self, text: &mut String, name: &str, call: &str, result: &str) {
        let types = &self.marks.declarations.types;
        let declared = declaration(types, self.function.result, result);
        let (format, argument) = match types[self.function.result].kind {
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
                let discard =
                    if matches!(types[self.function.result].kind, CTypeKind::Void) { "" } else { "(void)" };
                let _ = writeln!(text, "    {discard}{call};\n    printf(\"{name}: returned\\n\");");
                return;
            }
        };
        let _ = writeln!(text, "    {declared} = {call};");
        let _ = writeln!(text, "    printf(\"{name}: returned {format}\\n\", {argument});");
    }

    fn main(&self, text: &mut String, names: &[String]) {
        text.push_str(
            "\nstatic const struct {\n    const char *name;\n    void (*run)(void);\n} quarry_tests[] = {\n",
        );
        for name in names {
            let _ = writeln!(text, "    {{\"{name}\", {name}}},");
        }
        text.push_str("    {0, 0},\n};\n");
        text.push_str(MAIN);
    }
}

/// What a global is called in the program: a static variable of a function has a name of its own.
fn static_name(name: &str) -> String {
    if name.contains('.') { format!("quarry_static_{}", name.replace('.', "_")) } else { name.to_owned() }
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
