//! A program that notes what a function is called with by tests that are there already.
//!
//! Method: a function takes the place of the one under test, notes the parameters and everything behind them in the order
//! of the input's shape, and calls the real one. It is compiled with AddressSanitizer, which knows how far each object
//! reaches. The linker leads calls of other files to it ([`diverted`]); tests that include the source are included behind
//! it. Limits: what unions hold is noted as their first choice, and what functions that are defined nowhere give is not
//! noted.

use std::fmt::Write;
use std::path::Path;

use model::ctype::declare::{declaration, typed};
use model::ctype::{CParameter, CTypeKind};
use model::input::{Cell, Kind, LARGEST, Node, Pointer, Reach, Scalar, Union};

use crate::frame::{Frame, static_name};
use crate::test::FunctionUnderTest;

const SUPPORT: &str = concat!(include_str!("support/readable.c"), include_str!("support/capture.c"));

/// How deep the pointers of an object are.
const BELOW: &str = "depth + 1";

/// What stands for a function that is none of those that an input can name.
pub const OTHER_FUNCTION: u64 = u64::MAX;

/// How a pointer is noted; the same as in `support/capture.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotedPointer {
    Null,
    /// What it points to comes next.
    Own,
    /// The number of an object that was noted before comes next.
    Shared,
    /// More pointers deep than is built.
    Deep,
    /// To nothing that can be read.
    Nowhere,
    /// Into an object that was noted before, whose number comes next, and not to its start.
    Inside,
}

impl NotedPointer {
    /// By the number in the notes.
    pub fn from_number(number: u64) -> Option<Self> {
        let all = [Self::Null, Self::Own, Self::Shared, Self::Deep, Self::Nowhere, Self::Inside];
        all.get(usize::try_from(number).ok()?).copied()
    }
}

/// The flag by which the linker leads calls of a function to the one that notes them.
pub fn diverted(function: &str) -> String {
    format!("-Wl,--wrap={function}")
}

/// C that is linked with test programs and notes their calls.
pub fn capture_beside(under_test: &FunctionUnderTest<'_>) -> String {
    let frame = Frame::new(under_test);
    let name = &frame.function.key.name;
    let (noting, real) = (format!("__wrap_{name}"), format!("__real_{name}"));
    let mut text = frame.inclusion();
    text.push_str(SUPPORT);
    let _ = writeln!(text, "{};", prototype(&frame, &real));
    frame.noting(&mut text, &prototype(&frame, &noting), &real);
    text
}

/// C that includes a test that includes the source, and notes the test's own calls.
pub fn capture_within(under_test: &FunctionUnderTest<'_>, test: &Path) -> String {
    let frame = Frame::new(under_test);
    let name = &frame.function.key.name;
    // what was imported is not included again
    let mut text = frame.inclusion().replacen("#include \"", "#import \"", 1);
    text.push_str(SUPPORT);
    frame.noting(&mut text, &format!("static {}", prototype(&frame, "quarry_noting")), name);
    let path = test.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let _ = write!(text, "#define {name}(...) quarry_noting(__VA_ARGS__)\n#include \"{path}\"\n");
    text
}

fn prototype(frame: &Frame<'_>, name: &str) -> String {
    let types = &frame.declarations.types;
    let names = frame.function.parameter_names();
    let parameters = frame.function.parameters.iter().zip(&names);
    let parameters: Vec<String> =
        parameters.map(|(CParameter { ty, .. }, name)| declaration(types, *ty, name)).collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    declaration(types, frame.function.result, &format!("{name}({parameters})"))
}

impl Frame<'_> {
    /// The function that notes its parameters and calls the real one, and before it those that note objects.
    fn noting(&self, text: &mut String, declared: &str, real: &str) {
        for number in 0..self.shape.targets.len() {
            let _ = writeln!(
                text,
                "static void quarry_note_{number}(const volatile void *at, int is_text, unsigned depth);"
            );
        }
        for (number, target) in self.shape.targets.iter().enumerate() {
            self.target(text, number, target);
        }
        let _ = writeln!(text, "{declared}\n{{");
        text.push_str("    quarry_begin(__builtin_frame_address(0));\n");
        let names = self.function.parameter_names();
        let roots = &self.shape.roots[..self.undefined.first_root];
        let (globals, parameters) = roots.split_at(roots.len().saturating_sub(names.len()));
        let mut notes = Notes::default();
        for global in globals {
            notes.value(global, &static_name(&global.name), ".", "0");
        }
        let kinds =
            self.function.parameters.iter().map(|parameter| &self.declarations.types[parameter.ty].kind);
        for ((node, name), kind) in parameters.iter().zip(&names).zip(kinds) {
            let points_to_bytes = matches!(kind, CTypeKind::Pointer { to, .. }
                if matches!(self.declarations.types[*to].kind, CTypeKind::Void));
            let expression =
                if points_to_bytes { format!("((unsigned char *){name})") } else { name.clone() };
            notes.value(node, &expression, ".", "0");
        }
        text.push_str(&notes.text);
        let returns = if matches!(self.declarations.types[self.function.result].kind, CTypeKind::Void) {
            ""
        } else {
            "return "
        };
        let _ = writeln!(text, "    quarry_end();\n    {returns}{real}({});\n}}", names.join(", "));
    }

    fn target(&self, text: &mut String, number: usize, target: &Node) {
        let declared = typed(&target.c_type, "*object");
        let mut notes = Notes::default();
        match &target.kind {
            Kind::Sized(sized) if sized.zero_ended => {
                notes.elements(
                    "quarry_ended(object, sizeof *object, is_text)",
                    &sized.element,
                    "object",
                    BELOW,
                );
            }
            Kind::Sized(sized) => {
                notes.elements("quarry_elements(object, sizeof *object)", &sized.element, "object", BELOW)
            }
            Kind::Struct { .. } | Kind::Union(_) => notes.value(target, "object", "->", BELOW),
            _ => notes.value(target, "(*object)", ".", BELOW),
        }
        let _ = writeln!(
            text,
            "static void quarry_note_{number}(const volatile void *at, int is_text, unsigned depth)\n{{\n    \
             {declared} = (void *)at;\n    if (!quarry_is_new(object, {number}, sizeof *object, depth, {}))\n        return;\n    \
             (void)is_text;\n{}}}",
            self.shape.max_depth, notes.text
        );
    }
}

/// Statements that note values.
#[derive(Default)]
struct Notes {
    text: String,
    n_loops: usize,
}

impl Notes {
    fn value(&mut self, node: &Node, expression: &str, arrow: &str, depth: &str) {
        match &node.kind {
            Kind::Scalar(cell) => self.scalar(cell, expression),
            Kind::Array { elements, pointer } => self.array(elements, *pointer, expression, depth),
            Kind::Struct { members } => {
                for member in members {
                    let arrow_below = if member.is_anonymous() { arrow } else { "." };
                    self.value(member, &member.joined(expression, arrow), arrow_below, depth);
                }
            }
            Kind::Sized(sized) => {
                let n = format!("quarry_elements({expression}, sizeof *({expression}))");
                self.elements(&n, &sized.element, expression, depth);
            }
            Kind::Pointer(Pointer { target, reach, .. }) => {
                let is_text = i32::from(*reach == Reach::Text);
                let _ = writeln!(
                    self.text,
                    "    quarry_note_{target}((const volatile void *)({expression}), {is_text}, {depth});"
                );
            }
            Kind::Union(union) => {
                if let Some(member) = first_choice(union) {
                    self.value(member, &member.joined(expression, arrow), ".", depth);
                }
            }
            Kind::Function(function) => {
                let _ = write!(self.text, "    quarry_put(!({expression}) ? 0");
                for (number, option) in function.options.iter().enumerate() {
                    if let model::input::Callee::Function(name) = option {
                        let _ =
                            write!(self.text, " : (void *)({expression}) == (void *){name} ? {}", number + 1);
                    }
                }
                let _ = writeln!(self.text, " : {OTHER_FUNCTION}ULL);");
            }
            Kind::Stream(_) => {
                let _ = writeln!(self.text, "    quarry_put_stream({expression});");
            }
            Kind::Results(_) | Kind::Sequence { .. } | Kind::Optional { .. } | Kind::Unsupported { .. } => {}
        }
    }

    fn scalar(&mut self, cell: &Cell, expression: &str) {
        let _ = match cell.scalar {
            Scalar::Float { bits: 32 } => writeln!(self.text, "    quarry_put_float({expression});"),
            Scalar::Float { .. } => writeln!(self.text, "    quarry_put_double({expression});"),
            Scalar::Integer { .. } | Scalar::Char { .. } | Scalar::Enum { .. } | Scalar::Bool => {
                writeln!(self.text, "    quarry_put((unsigned long long)({expression}));")
            }
        };
    }

    /// A parameter that is an array may be shorter than what is built: then its length is noted as zero.
    fn array(&mut self, elements: &[Node], is_pointer: bool, expression: &str, depth: &str) {
        let n = elements.len();
        let Some(first) = elements.first() else { return };
        let counter = self.counter();
        if is_pointer {
            let _ = writeln!(
                self.text,
                "    int quarry_reaches_{counter} = quarry_elements({expression}, sizeof *({expression})) >= {n};\n    \
                 quarry_put(quarry_reaches_{counter} ? {n} : 0);\n    if (quarry_reaches_{counter})"
            );
        }
        let _ = writeln!(self.text, "    for (size_t {counter} = 0; {counter} < {n}; {counter}++) {{");
        self.value(first, &format!("({expression})[{counter}]"), ".", depth);
        self.text.push_str("    }\n");
    }

    /// As many elements as an expression says.
    fn elements(&mut self, n: &str, element: &Node, expression: &str, depth: &str) {
        let counter = self.counter();
        let _ = writeln!(
            self.text,
            "    size_t quarry_n_{counter} = {n};\n    quarry_put(quarry_n_{counter});\n    \
             for (size_t {counter} = 0; {counter} < quarry_n_{counter} && {counter} <= {LARGEST}; {counter}++) {{"
        );
        self.value(element, &format!("({expression})[{counter}]"), ".", depth);
        self.text.push_str("    }\n");
    }

    fn counter(&mut self) -> String {
        self.n_loops += 1;
        format!("quarry_i{}", self.n_loops)
    }
}

/// The member of a union that is noted.
pub fn first_choice(union: &Union) -> Option<&Node> {
    union.members.get(usize::try_from(union.first).ok()?).or(union.members.first())
}
