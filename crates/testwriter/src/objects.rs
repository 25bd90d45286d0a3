//! The objects of a test as C: what a pointer points to becomes a variable named after the pointer.
//!
//! An object is written after the objects it points to, so that its initialiser can name them; pointers that close a cycle
//! are assigned afterwards. Objects are on the heap, as in the harness: the program may free them.

use std::collections::BTreeSet;
use std::fmt::Write;

use model::ctype::declare::typed;
use model::input::{Callee, Input, Kind, Node, Objects, Pointed, Pointer, Shape};

use crate::values::{literal, string};

/// Makes an object; part of every replay program that has any.
pub const NEW: &str = "
__attribute__((unused)) static void *quarry_new(const void *from, size_t size)
{
    void *object = malloc(size ? size : 1);
    return size ? memcpy(object, from, size) : object;
}

__attribute__((unused)) static void *quarry_extend(const void *from, size_t size, size_t more)
{
    return memcpy(calloc(1, size + more), from, size);
}
";

/// Keeps what a call may have left its own memory in; part of every program that needs it.
pub const KEEP: &str = "
/* What a call may still refer to, or what it returned, is not freed. */
__attribute__((unused)) static void quarry_keep(const void *from, size_t size)
{
    static struct quarry_kept {
        struct quarry_kept *next;
    } *quarry_all_kept;
    struct quarry_kept *kept = calloc(1, sizeof *kept + size);
    kept->next = quarry_all_kept;
    quarry_all_kept = kept;
    memcpy(kept + 1, from, size);
}
";

/// Makes a stream; part of every replay program that has one.
pub const STREAM: &str = "
__attribute__((unused)) static FILE *quarry_stream(const unsigned char *bytes, size_t size)
{
    FILE *stream = tmpfile();
    if (stream && fwrite(bytes, 1, size, stream) == size)
        rewind(stream);
    return stream;
}
";

/// Writes the objects and variables of one test.
pub struct Writer<'a> {
    shape: &'a Shape,
    input: &'a Input,
    objects: Objects,
    /// The variable of each object.
    names: Vec<String>,
    written: BTreeSet<usize>,
    /// Assignments that close circles.
    pending: Vec<String>,
    pub text: String,
}

impl<'a> Writer<'a> {
    /// `parameters` are names of variables that hold the objects they point to; `used` names that are taken.
    pub fn new(shape: &'a Shape, input: &'a Input, parameters: &[String], used: &[String]) -> Self {
        let objects = Objects::of(shape, input);
        let mut taken: BTreeSet<String> = used.iter().chain(parameters).cloned().collect();
        let mut names = Vec::new();
        for object in &objects.objects {
            let name = if parameters.contains(&object.name) {
                object.name.clone()
            } else {
                let mut name = variable(&object.name);
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
                name
            };
            names.push(name);
        }
        Self {
            shape,
            input,
            objects,
            names,
            written: BTreeSet::new(),
            pending: Vec::new(),
            text: String::new(),
        }
    }

    /// The variable of each object, with the object.
    pub fn into_objects(self) -> Vec<(String, Node)> {
        self.names.into_iter().zip(self.objects.objects.into_iter().map(|object| object.node)).collect()
    }

    /// What a pointer is, after the objects it leads to were written.
    pub fn pointer(&mut self, pointer: &Pointer, path: &str) -> String {
        match self.objects.pointed(pointer) {
            Pointed::Null => "0".to_owned(),
            Pointed::Own(index) => {
                self.object(index);
                self.names[index].clone()
            }
            Pointed::Shared(index) if self.written.contains(&index) => self.names[index].clone(),
            Pointed::Shared(index) => {
                self.pending.push(format!("    {path} = {};", self.names[index]));
                "0".to_owned()
            }
        }
    }

    /// Whether a root pointer has an object, which is then its variable.
    pub fn owns(&self, pointer: &Pointer) -> bool {
        matches!(self.objects.pointed(pointer), Pointed::Own(_))
    }

    /// Writes the assignments that had to wait.
    pub fn close(&mut self) {
        for line in std::mem::take(&mut self.pending) {
            let _ = writeln!(self.text, "{line}");
        }
    }

    fn object(&mut self, index: usize) {
        let object = self.objects.objects[index].clone();
        let (name, element) = (self.names[index].clone(), &self.shape.targets[object.target].c_type);
        let declared = typed(element, &format!("*{name}"));
        let (ty, value) = match &object.node.kind {
            Kind::Sized(sized) => {
                let elements = sized.elements(self.input);
                let n_elements = elements.len() + usize::from(sized.zero_ended);
                let value = self.elements(&elements, sized.zero_ended, &name);
                (if n_elements == 0 { String::new() } else { array_of(element, n_elements) }, value)
            }
            Kind::Scalar(_)
            | Kind::Array { .. }
            | Kind::Struct { .. }
            | Kind::Pointer(_)
            | Kind::Union(_)
            | Kind::Function(_)
            | Kind::Results(_)
            | Kind::Stream(_)
            | Kind::Sequence { .. }
            | Kind::Optional { .. }
            | Kind::Unsupported { .. } => (element.clone(), self.initialiser(&object.node, &name, "->")),
        };
        self.written.insert(index);
        let tail = self.tail(&object.node, &name);
        let made = if let Some((size, _)) = &tail {
            format!("quarry_extend(&({ty}){value}, sizeof({ty}), {size})")
        } else if ty.is_empty() {
            "quarry_new(0, 0)".to_owned()
        } else {
            let braced = if value.starts_with('{') { value } else { format!("{{{value}}}") };
            let address = if ty.ends_with(']') { "" } else { "&" };
            format!("quarry_new({address}({ty}){braced}, sizeof({ty}))")
        };
        let _ = writeln!(self.text, "    {declared} = {made};");
        if let Some((_, filled)) = tail {
            self.text.push_str(&filled);
        }
    }

    /// Of a structure that ends in an array of varying size: how much larger it is, and what fills the array.
    fn tail(&mut self, node: &Node, name: &str) -> Option<(String, String)> {
        let Kind::Struct { members } = &node.kind else { return None };
        let last = members.last()?;
        let Kind::Sized(sized) = &last.kind else { return None };
        let elements = sized.elements(self.input);
        if elements.is_empty() {
            return Some(("0".to_owned(), String::new()));
        }
        let (member, ty) = (&last.name, array_of(&sized.element.c_type, elements.len()));
        let value = self.elements(&elements, false, &format!("{name}->{member}"));
        let braced = if value.starts_with('{') { value } else { format!("{{{value}}}") };
        let filled = format!("    memcpy({name}->{member}, ({ty}){braced}, sizeof({ty}));\n");
        Some((format!("sizeof({ty})"), filled))
    }

    /// The initialiser of a variable or member; a cell without a value is zero.
    pub fn initialiser(&mut self, node: &Node, path: &str, arrow: &str) -> String {
        match &node.kind {
            Kind::Scalar(cell) => {
                literal(&cell.scalar, self.input.values.get(&cell.key).copied().unwrap_or(0))
            }
            Kind::Array { elements, .. } => self.elements(elements, false, path),
            Kind::Sized(sized) => self.elements(&sized.elements(self.input), sized.zero_ended, path),
            Kind::Struct { members } => {
                // an array at the end is copied there afterwards
                let written = members
                    .iter()
                    .filter(|member| !matches!(member.kind, Kind::Unsupported { .. } | Kind::Sized(_)));
                let values = written.filter_map(|member| self.member(member, path, arrow));
                braces(&values.filter(|member| !is_zero(behind_equals(member))).collect::<Vec<_>>())
            }
            Kind::Union(union) => {
                let member = union.chosen(self.input).and_then(|member| self.member(&member, path, arrow));
                braces(&member.into_iter().collect::<Vec<_>>())
            }
            Kind::Function(function) => function.callee(self.input).map_or("0".to_owned(), callee),
            Kind::Pointer(pointer) => self.pointer(pointer, path),
            Kind::Stream(stream) if stream.is_there(self.input) => {
                let elements = stream.bytes.elements(self.input);
                let n = elements.len();
                let value = self.elements(&elements, true, path);
                let braced = if value.starts_with('{') { value } else { format!("{{{value}}}") };
                format!("quarry_stream((unsigned char[{}]){braced}, {n})", n + 1)
            }
            Kind::Stream(_)
            | Kind::Results(_)
            | Kind::Sequence { .. }
            | Kind::Optional { .. }
            | Kind::Unsupported { .. } => "0".to_owned(),
        }
    }

    /// `.member = value`; of a union without a name, its member as one of the structure around it.
    fn member(&mut self, member: &Node, path: &str, arrow: &str) -> Option<String> {
        match &member.kind {
            Kind::Union(union) if member.is_anonymous() => {
                let chosen = union.chosen(self.input)?;
                self.member(&chosen, path, arrow)
            }
            _ => {
                let value = self.initialiser(member, &member.joined(path, arrow), ".");
                Some(format!(".{} = {value}", member.name))
            }
        }
    }

    /// The initialiser of an array; `extra` says that it has a zero element more.
    pub fn elements(&mut self, elements: &[Node], extra: bool, path: &str) -> String {
        if let Some(text) = string(elements, self.input, extra) {
            return text;
        }
        let element = |element: &Node| {
            let path = format!("{path}{}", element.name);
            self.initialiser(element, &path, ".")
        };
        let mut values: Vec<String> = elements.iter().map(element).collect();
        let n_told = values.iter().rposition(|value| !is_zero(value)).map_or(0, |last| last + 1);
        if n_told == 0 || values.len() - n_told > MOST_ZEROS {
            values.truncate(n_told);
        }
        braces(&values)
    }

    /// Assignments to a global, for the cells that have a value; the others keep theirs.
    pub fn assignments(&mut self, path: &str, node: &Node) {
        match &node.kind {
            Kind::Scalar(cell) => {
                if let Some(bits) = self.input.values.get(&cell.key) {
                    let value = literal(&cell.scalar, *bits);
                    let _ = writeln!(self.text, "    {path} = {value};");
                }
            }
            Kind::Array { elements, .. } => {
                for element in elements {
                    self.assignments(&format!("{path}{}", element.name), element);
                }
            }
            Kind::Struct { members } => {
                for member in members {
                    self.assignments(&member.joined(path, "."), member);
                }
            }
            Kind::Pointer(pointer) => {
                if self.input.values.contains_key(&pointer.choice) {
                    let value = self.pointer(pointer, path);
                    let _ = writeln!(self.text, "    {path} = {value};");
                }
            }
            Kind::Union(union) => {
                if let Some(member) = union.chosen(self.input) {
                    self.assignments(&member.joined(path, "."), &member);
                }
            }
            Kind::Function(function) => {
                if self.input.values.contains_key(&function.choice) {
                    let value = function.callee(self.input).map_or("0".to_owned(), callee);
                    let _ = writeln!(self.text, "    {path} = {value};");
                }
            }
            Kind::Sized(_)
            | Kind::Stream(_)
            | Kind::Results(_)
            | Kind::Sequence { .. }
            | Kind::Optional { .. }
            | Kind::Unsupported { .. } => {}
        }
    }
}

/// What a function is called in the program.
fn callee(callee: &Callee) -> String {
    match callee {
        Callee::Stub(_) => format!("quarry_{callee}"),
        Callee::Function(name) => name.clone(),
    }
}

/// Zeros at the end of an array that are written; more of them are left to C.
const MOST_ZEROS: usize = 8;

/// Whether an initialiser is what C puts where there is none.
fn is_zero(value: &str) -> bool {
    matches!(value, "0" | "0.0" | "0.0f" | "false" | "{0}")
}

/// The value of `.member = value`.
fn behind_equals(member: &str) -> &str {
    member.split_once(" = ").map_or(member, |(_, value)| value)
}

fn braces(values: &[String]) -> String {
    if values.is_empty() { "{0}".to_owned() } else { format!("{{{}}}", values.join(", ")) }
}

/// The type of an array of that many elements.
fn array_of(element: &str, length: usize) -> String {
    if element.contains(['(', '[']) && !element.starts_with("__typeof__") {
        format!("__typeof__({element})[{length}]")
    } else {
        format!("{element}[{length}]")
    }
}

/// `list->next` as the name of a variable.
fn variable(path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}
