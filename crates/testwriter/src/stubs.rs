//! Stubs in a replay program: the same functions, which return what each test recorded.
//!
//! A stub that the included source declares uses its types. For one that only another file declares, numbers are spelled by
//! their width; any other result is left to whoever links the program, and a comment says so.

use std::fmt::Write;

use model::ctype::declare::{declaration, prototype};
use model::ctype::{CFunction, CType, CTypeId, CTypeKind, CTypes};
use model::input::calls::{calls, ends_behind};
use model::input::{Input, Kind, Node, Shape};
use model::stub::{BLOCK, Behaviour, Stub, Stubs};

use crate::objects::Writer;

/// Stubs of one replay program.
pub struct Replayed<'a> {
    pub types: &'a CTypes,
    /// The unit that the program includes.
    pub unit: usize,
    pub shape: &'a Shape,
    /// Where the roots of stubs start in the shape.
    pub first_root: usize,
    pub all: &'a Stubs,
}

/// Bytes of a variable whose size is not known.
const LEAST: u64 = 16;

impl Replayed<'_> {
    /// The definitions.
    pub fn definitions(&self, text: &mut String) {
        for (number, (name, size)) in self.all.variables.iter().enumerate() {
            // by its symbol: the source declares its type
            let _ = writeln!(
                text,
                "\n/* {name} is undefined: zero. */\n__attribute__((weak, aligned(16))) char \
                 quarry_undefined_{number}[{}] __asm__(\"{name}\");",
                size.max(&LEAST)
            );
        }
        for stub in &self.all.stubs {
            let name = &stub.function.key.name;
            match self.head(stub) {
                Some(head) => self.definition(text, stub, &head),
                None => {
                    let _ = writeln!(text, "\n/* {name} is declared elsewhere and undefined. */");
                }
            }
        }
    }

    /// Sets the values that the stubs return, before a test calls the function.
    pub fn settings(&self, text: &mut String, input: &Input) {
        for (stub, root, results, result) in self.giving() {
            let name = &stub.function.key.name;
            let made = calls(root, results, input);
            let ends = u32::from(ends_behind(root, made.len(), input));
            let _ = writeln!(text, "    quarry_ends_{name} = {ends};");
            let rows: Vec<String> = made
                .iter()
                .filter(|call| call.function == result)
                .map(|call| self.row(stub, &call.value, input))
                .collect();
            if rows.is_empty() {
                let _ = writeln!(text, "    quarry_left_{name} = 0;");
                continue;
            }
            let rows_text = rows.join(", ");
            let _ = writeln!(text, "    static struct quarry_{name} {name}_calls[] = {{{rows_text}}};");
            let _ =
                writeln!(text, "    quarry_next_{name} = {name}_calls, quarry_left_{name} = {};", rows.len());
        }
    }

    /// Stubs that give values, with their sequence and their place in it.
    fn giving(&self) -> impl Iterator<Item = (&Stub, model::input::Key, &[Node], usize)> {
        self.all.stubs.iter().filter(|stub| self.head(stub).is_some()).filter_map(|stub| {
            match stub.behaviour {
                Behaviour::Gives { root, result } => {
                    match &self.shape.roots.get(self.first_root + root)?.kind {
                        Kind::Sequence { root, results } => Some((stub, *root, results.as_slice(), result)),
                        _ => None,
                    }
                }
                Behaviour::Nothing | Behaviour::Ends | Behaviour::Assumes | Behaviour::Fails => None,
            }
        })
    }

    /// The function's declaration in the program; `None` when its types are not known there.
    fn head(&self, stub: &Stub) -> Option<String> {
        let function = &stub.function;
        if function.key.unit == self.unit {
            return Some(prototype(self.types, function));
        }
        let plain = plain(&self.types[function.result])?;
        let name = &function.key.name;
        // by its symbol: a header may declare it here too, with parameters
        let head = || {
            format!(
                "{plain} quarry_elsewhere_{name}() __asm__(\"{name}\");\n{plain} quarry_elsewhere_{name}()"
            )
        };
        stub.writes.is_empty().then(head)
    }

    fn definition(&self, text: &mut String, stub: &Stub, head: &str) {
        let CFunction { key, result, .. } = &stub.function;
        let name = &key.name;
        let is_void = matches!(self.types[*result].kind, CTypeKind::Void);
        let act = match stub.behaviour {
            Behaviour::Gives { .. } => return self.giver(text, stub, head),
            Behaviour::Assumes => {
                format!("    if (!{})\n        exit(0);\n", stub.function.parameter_names()[0])
            }
            Behaviour::Fails => "    abort();\n".to_owned(),
            Behaviour::Ends => "    exit(0);\n".to_owned(),
            Behaviour::Nothing if is_void => String::new(),
            Behaviour::Nothing => {
                let zero = fresh("zero", stub);
                let declared = self.result_declaration(stub, *result, &zero);
                format!("    static {declared};\n    return {zero};\n")
            }
        };
        let _ = writeln!(text, "\n/* {name} is undefined. */\n{head}\n{{\n{}{act}}}", self.unused(stub));
    }

    /// A function that gives what the test says, then zeros.
    fn giver(&self, text: &mut String, stub: &Stub, head: &str) {
        let name = &stub.function.key.name;
        let template = self.template(stub);
        let _ = writeln!(
            text,
            "\n/* {name} is undefined: its calls return the values of a test, then zeros or nothing more. */"
        );
        let _ = writeln!(text, "static struct quarry_{name} {{");
        for index in &stub.writes {
            let _ = writeln!(text, "    {};", self.written_declaration(stub, *index));
        }
        let returned = template.and_then(|template| returned(stub, template));
        let object = match returned.map(|node| &node.kind) {
            Some(Kind::Optional { to, .. }) => {
                let _ = writeln!(text, "    int {};", fresh("given", stub));
                self.object(stub, to).inspect(|(declared, _)| {
                    let _ = writeln!(text, "    {declared};");
                })
            }
            Some(_) => {
                let declared = self.result_declaration(stub, stub.function.result, &fresh("result", stub));
                let _ = writeln!(text, "    {declared};");
                None
            }
            None => None,
        };
        let [none, call, result, given] = ["none", "call", "result", "given"].map(|base| fresh(base, stub));
        let _ = writeln!(
            text,
            "}} *quarry_next_{name};\nstatic unsigned quarry_left_{name}, quarry_ends_{name};"
        );
        let _ = writeln!(text, "{head}\n{{\n    static struct quarry_{name} {none};");
        let _ = writeln!(text, "    struct quarry_{name} *{call} = &{none};");
        let _ = writeln!(
            text,
            "    if (quarry_left_{name} > 0)\n        quarry_left_{name}--, {call} = quarry_next_{name}++;\n    \
             else if (quarry_ends_{name})\n        exit(0);"
        );
        text.push_str(&self.unused(stub));
        let names = stub.function.parameter_names();
        for index in &stub.writes {
            let parameter = &names[*index];
            let _ = writeln!(
                text,
                "    if ({parameter})\n        memcpy({parameter}, {call}->{parameter}, sizeof {call}->{parameter});"
            );
        }
        match returned.map(|node| &node.kind) {
            Some(Kind::Optional { .. }) => {
                // its own memory each time: whoever gets it may free it
                let size =
                    if object.is_some() { format!("sizeof {call}->{result}") } else { BLOCK.to_string() };
                let made = fresh("object", stub);
                let _ = writeln!(text, "    void *{made} = {call}->{given} ? calloc(1, {size}) : 0;");
                if object.is_some() {
                    let copied = format!("memcpy({made}, {call}->{result}, sizeof {call}->{result})");
                    let _ = writeln!(text, "    if ({made})\n        {copied};");
                }
                let _ = writeln!(text, "    return {made};");
            }
            Some(_) => {
                let _ = writeln!(text, "    return {call}->{result};");
            }
            None => {}
        }
        text.push_str("}\n");
    }

    /// Marks the parameters as unused on purpose.
    fn unused(&self, stub: &Stub) -> String {
        if stub.function.key.unit != self.unit {
            return String::new(); // declared without parameters
        }
        stub.function.parameter_names().iter().map(|name| format!("    (void){name};\n")).collect()
    }

    /// What a call of the stub gives.
    fn template(&self, stub: &Stub) -> Option<&Node> {
        let name = &stub.function.key.name;
        let (_, _, results, result) = self.giving().find(|(other, ..)| other.function.key.name == *name)?;
        results.get(result)
    }

    /// One call's values, as a row of the table.
    fn row(&self, stub: &Stub, value: &Node, input: &Input) -> String {
        let mut parts = Vec::new();
        let names = stub.function.parameter_names();
        let [result, given] = ["result", "given"].map(|base| fresh(base, stub));
        if let (Kind::Struct { members }, false) = (&value.kind, stub.writes.is_empty()) {
            for (index, member) in stub.writes.iter().zip(members) {
                parts.push(format!(".{} = {}", names[*index], self.value(member, input, false)));
            }
        }
        if let Some(node) = returned(stub, value) {
            match &node.kind {
                Kind::Optional { present, to } => {
                    let is_given = input.values.get(&present.key).copied().unwrap_or(0) != 0;
                    parts.push(format!(".{given} = {}", u32::from(is_given)));
                    if let (true, Some((_, extra))) = (is_given, self.object(stub, to)) {
                        parts.push(format!(".{result} = {}", self.value(to, input, extra)));
                    }
                }
                Kind::Unsupported { .. } => {}
                _ => parts.push(format!(".{result} = {}", self.value(node, input, false))),
            }
        }
        if parts.is_empty() { "{0}".to_owned() } else { format!("{{{}}}", parts.join(", ")) }
    }

    /// A value as an initialiser; `extra` says that an array has a zero element more.
    fn value(&self, node: &Node, input: &Input, extra: bool) -> String {
        let mut writer = Writer::new(self.shape, input, &[], &[]);
        match &node.kind {
            Kind::Array { elements, .. } => writer.elements(elements, extra, ""),
            _ => writer.initialiser(node, "", "."),
        }
    }

    /// The array that a pointer result points to, and whether it has a zero more than its cells; none when its size is
    /// not known.
    fn object(&self, stub: &Stub, to: &Node) -> Option<(String, bool)> {
        let CTypeKind::Pointer { to: target, .. } = self.types[stub.function.result].kind else {
            return None;
        };
        let extra = self.types[target].is_text();
        let n_elements = match &to.kind {
            Kind::Array { elements, .. } => elements.len().max(1),
            _ => return None,
        };
        let length = n_elements + usize::from(extra);
        Some((declaration(self.types, target, &format!("{}[{length}]", fresh("result", stub))), extra))
    }

    fn written_declaration(&self, stub: &Stub, index: usize) -> String {
        let parameter = &stub.function.parameters[index];
        let length = parameter.declared_length.unwrap_or(1);
        let name = &stub.function.parameter_names()[index];
        match self.types[parameter.ty].kind {
            CTypeKind::Pointer { to, .. } => declaration(self.types, to, &format!("{name}[{length}]")),
            _ => declaration(self.types, parameter.ty, name),
        }
    }

    fn result_declaration(&self, stub: &Stub, ty: CTypeId, name: &str) -> String {
        if stub.function.key.unit == self.unit {
            return declaration(self.types, ty, name);
        }
        format!("{} {name}", plain(&self.types[ty]).unwrap_or("int"))
    }
}

/// A name that no parameter has.
fn fresh(base: &str, stub: &Stub) -> String {
    let taken = stub.function.parameter_names();
    let mut name = base.to_owned();
    while taken.contains(&name) {
        name.push('_');
    }
    name
}

/// The part of a call's values that is returned.
fn returned<'n>(stub: &Stub, value: &'n Node) -> Option<&'n Node> {
    match (&value.kind, stub.writes.is_empty()) {
        (Kind::Struct { members }, false) => members.get(stub.writes.len()),
        _ => Some(value),
    }
}

/// A number's type by its width alone.
fn plain(ty: &CType) -> Option<&'static str> {
    Some(match ty.kind {
        CTypeKind::Void => "void",
        CTypeKind::Bool => "_Bool",
        CTypeKind::Char { signed: true } => "signed char",
        CTypeKind::Char { signed: false } => "unsigned char",
        CTypeKind::Integer { bits, signed } | CTypeKind::Enum { bits, signed, .. } => match (bits, signed) {
            (16, true) => "short",
            (16, false) => "unsigned short",
            (32, true) => "int",
            (32, false) => "unsigned",
            (64, true) => "long long",
            (64, false) => "unsigned long long",
            _ => return None,
        },
        CTypeKind::Float { bits: 32 } => "float",
        CTypeKind::Float { bits: 64 } => "double",
        CTypeKind::Float { .. }
        | CTypeKind::Pointer { .. }
        | CTypeKind::Array { .. }
        | CTypeKind::Struct { .. }
        | CTypeKind::Function(_)
        | CTypeKind::Other => return None,
    })
}
