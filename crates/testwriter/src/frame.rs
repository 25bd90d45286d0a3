//! What every program with tests has: the source it includes, definitions, and around each call the variables of its input.

use std::fmt::Write;

use model::ctype::declare::{declaration, parameter_object};
use model::ctype::{CFunction, CStatic, CTypeId, CTypeKind, CTypes, Declarations};
use model::input::{Input, Kind, Node, Shape};

use crate::callbacks;
use crate::objects::{self, Writer};
use crate::stubs::Replayed;
use crate::test::FunctionUnderTest;

/// What `main` of the source is called in the program.
pub const USER_MAIN: &str = "quarry_user_main";

/// Names for truth values. The header that has them also makes `bool` a macro, which some sources define in their own way.
const TRUTH: &str = "#ifndef true\n#define true 1\n#define false 0\n#endif\n";

/// Lets allocations fail by number, in a program that is linked with the support for it.
const FAIL_ALLOCATIONS: &str = "\
/* Some tests make allocations fail: failing_allocations.c says how to build them. */
__attribute__((weak)) void quarry_fail_allocations(const char *numbers);
";

/// What a test has around its call.
pub struct Scene {
    /// The call itself.
    pub call: String,
    /// A name for what it returns.
    pub result: String,
    /// The objects behind pointers, each a variable that points to it.
    pub objects: Vec<(String, Node)>,
    /// The parameters that are arrays of the test.
    pub arrays: Vec<(String, Node)>,
    /// The names of all parameters.
    pub names: Vec<String>,
}

/// A name for a test that the source does not use.
pub fn free_name(under_test: &FunctionUnderTest<'_>, name: &str) -> String {
    Frame::new(under_test).test_name(name)
}

/// The parts that programs with tests of one function share.
pub struct Frame<'a> {
    pub declarations: &'a Declarations,
    pub function: &'a CFunction,
    pub shape: &'a Shape,
    pub undefined: Replayed<'a>,
    /// The function's source, as an absolute path.
    pub source: String,
}

impl<'a> Frame<'a> {
    pub fn new(under_test: &FunctionUnderTest<'a>) -> Self {
        let FunctionUnderTest { function, declarations, source, shape, stubs } = *under_test;
        let first_root = shape.roots.len().saturating_sub(stubs.roots.len());
        let (types, unit) = (&declarations.types, function.key.unit);
        let undefined = Replayed { types, unit, shape, first_root, all: stubs };
        Self { declarations, function, shape, undefined, source: source.display().to_string() }
    }

    /// Includes the source, with another name for its `main`.
    pub fn inclusion(&self) -> String {
        let mut text = format!("#define main {USER_MAIN}\n");
        let of_unit = |function: &&CFunction| function.key.unit == self.function.key.unit;
        let has_main =
            self.declarations.functions.iter().filter(of_unit).any(|known| known.key.name == "main");
        let include = format!("#include \"{}\"\n", self.source.replace('\\', "\\\\").replace('"', "\\\""));
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
    pub fn definitions(&self) -> String {
        let mut text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n".to_owned();
        if self.has_truth_values() {
            text.push_str(TRUTH);
        }
        if !self.shape.targets.is_empty() {
            text.push_str(objects::NEW);
        }
        if !self.shape.targets.is_empty() || self.returns_pointers() {
            text.push_str(objects::KEEP);
        }
        if self.shape.roots.iter().any(|root| matches!(root.kind, Kind::Stream(_))) {
            text.push_str(objects::STREAM);
        }
        if self.shape.allocations.is_some() {
            text.push_str(FAIL_ALLOCATIONS);
        }
        text.push_str(&self.statics());
        for stub in &self.shape.stubs {
            text.push_str(&callbacks::definition(&self.declarations.types, stub));
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
            let declared =
                declaration(&self.declarations.types, variable.ty, &static_name(&variable.qualified_name()));
            format!("extern {declared} __asm__(\"{function}.{}\");\n", variable.name)
        };
        let statics: Vec<String> = self.declarations.statics.iter().filter(is_input).map(declared).collect();
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

    /// Whether the call may return pointers.
    pub fn returns_pointers(&self) -> bool {
        has_pointers(&self.declarations.types, self.function.result, 0)
    }

    /// Whether something that outlives a call may point to objects of a test.
    pub fn has_memory(&self) -> bool {
        let types = &self.declarations.types;
        let globals = self.declarations.globals.iter().filter(|global| !global.is_const);
        globals
            .map(|global| global.ty)
            .chain(self.declarations.statics.iter().map(|variable| variable.ty))
            .any(|ty| has_pointers(types, ty, 0))
    }

    /// Writes what happens to a test's objects and to what was returned: `freed` names the objects that the call has freed,
    /// when it leaves nothing else behind.
    pub fn clean_up(&self, text: &mut String, scene: &Scene, has_result: bool, freed: Option<&[String]>) {
        match freed.filter(|_| !self.has_memory()) {
            Some(freed) => {
                for (name, _) in scene.objects.iter().rev().filter(|(name, _)| !freed.contains(name)) {
                    let _ = writeln!(text, "    free((void *){name});");
                }
            }
            None => {
                for (name, _) in &scene.objects {
                    let _ = writeln!(text, "    quarry_keep(&{name}, sizeof {name});");
                }
                if has_result && self.returns_pointers() {
                    let _ = writeln!(text, "    quarry_keep(&{0}, sizeof {0});", scene.result);
                }
            }
        }
    }

    /// A name for the test's function that the source does not use.
    pub fn test_name(&self, name: &str) -> String {
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = name.chars().map(word).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert_str(0, "test_");
        }
        let functions = self.declarations.functions.iter().map(|function| &function.key.name);
        let mut used = functions.chain(self.declarations.globals.iter().map(|global| &global.name));
        if used.any(|used| *used == name) { format!("quarry_{name}") } else { name }
    }

    /// Writes the variables and settings of a test; what is left is the call.
    pub fn scene<'s>(&'s self, text: &mut String, input: &'s Input) -> Scene {
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
            text.push_str(&callbacks::results(&self.declarations.types, stub, input));
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
        let declared = parameter_object(&self.declarations.types, ty, node, name);
        let value = match &node.kind {
            Kind::Unsupported { .. } => match self.declarations.types[ty].kind {
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
        let types = &self.declarations.types;
        matches!(&types[ty].kind, CTypeKind::Pointer { to, .. } if types[*to].is_text())
    }
}

/// What a global is called in the program: a static variable of a function has a name of its own.
pub fn static_name(name: &str) -> String {
    if name.contains('.') { format!("quarry_static_{}", name.replace('.', "_")) } else { name.to_owned() }
}

/// Types nest; what is deeper may have pointers.
const DEEPEST: usize = 8;

/// Whether a value of the type may contain a pointer to an object.
fn has_pointers(types: &CTypes, ty: CTypeId, depth: usize) -> bool {
    if depth > DEEPEST {
        return true;
    }
    match &types[ty].kind {
        CTypeKind::Pointer { to, .. } => !matches!(types[*to].kind, CTypeKind::Function(_)),
        CTypeKind::Array { element, .. } => has_pointers(types, *element, depth + 1),
        CTypeKind::Struct { members, .. } => {
            members.iter().any(|member| has_pointers(types, member.ty, depth + 1))
        }
        CTypeKind::Other => true,
        CTypeKind::Void
        | CTypeKind::Bool
        | CTypeKind::Char { .. }
        | CTypeKind::Integer { .. }
        | CTypeKind::Enum { .. }
        | CTypeKind::Float { .. }
        | CTypeKind::Function(_) => false,
    }
}
