//! Stubs as C.

use std::fmt::Write;

use model::ctype::declare::{declaration, prototype};
use model::ctype::{CFunction, CTypeId, CTypeKind, CTypes};
use model::input::{Cell, Key, Kind, Node, Scalar};
use model::stub::{BLOCK, Behaviour};

use crate::harness::HarnessOptions;
use crate::harness::fill::PROLOGUE;

use super::body::Body;

/// What stubs call besides what harnesses do.
const ENDS: &str = "\
extern void __quarry_end(void) __attribute__((noreturn));
extern void __quarry_call(unsigned long long sequence, unsigned long long number);
";

/// Declarations before the stubs of a unit.
pub fn prologue() -> String {
    format!("{PROLOGUE}{ENDS}")
}

/// A stub that gives values.
pub struct Giving {
    pub text: String,
    /// What a call gives.
    pub result: Node,
    pub n_cells: u64,
    /// What is not given.
    pub reasons: Vec<String>,
}

/// A stub that gives nothing.
pub fn fixed(types: &CTypes, function: &CFunction, behaviour: Behaviour) -> String {
    let act = match behaviour {
        Behaviour::Assumes => {
            format!("    if (!{})\n        __quarry_end();\n", function.parameter_names()[0])
        }
        Behaviour::Fails => "    __builtin_abort();\n".to_owned(),
        Behaviour::Ends => "    __quarry_end();\n".to_owned(),
        Behaviour::Nothing | Behaviour::Gives { .. } => String::new(),
    };
    format!("{}\n{{\n{act}}}\n", prototype(types, function))
}

/// A stub whose calls are members of the sequence `root`, its cells numbered from `first_cell`.
pub fn giving(types: &CTypes, function: &CFunction, writes: &[usize], root: Key, first_cell: u64) -> Giving {
    let options = HarnessOptions::default();
    let mut cells = Body::new(types, &options, "__call", first_cell);
    let names = function.parameter_names();
    let mut members = Vec::new();
    for index in writes {
        let parameter = &function.parameters[*index];
        if let CTypeKind::Pointer { to, .. } = types[parameter.ty].kind {
            let length = Some(parameter.declared_length.unwrap_or(1));
            members.push(written(&mut cells, types, to, &names[*index], length));
        }
    }
    let mut returned = returned(&mut cells, types, function.result);
    let n_cells = cells.next_key() - first_cell;
    let (body, mut reasons) = cells.finish();
    reasons.extend(match &returned.kind {
        Kind::Unsupported { reason } if !reasons.iter().any(|known| known.ends_with(reason.as_str())) => {
            Some(reason.clone())
        }
        _ => None,
    });
    let is_void = matches!(types[function.result].kind, CTypeKind::Void);
    if is_void {
        reasons.retain(|reason| !reason.ends_with("void"));
    }
    let c_type = returned.c_type.clone();
    let result = if members.is_empty() {
        returned
    } else {
        returned.name = "return".to_owned();
        members.extend((!is_void).then_some(returned));
        Node { name: function.key.name.clone(), c_type, kind: Kind::Struct { members } }
    };
    let head = prototype(types, function);
    let number = root.0;
    let mut text = String::new();
    if n_cells > 0 {
        // weak: functions of one sequence count together, in whichever units they are
        let _ = writeln!(text, "__attribute__((weak)) unsigned long long __quarry_calls_{number};");
        let _ = writeln!(text, "{head}\n{{");
        let _ = writeln!(text, "    unsigned long long __number = __quarry_calls_{number}++;");
        let _ = writeln!(text, "    __quarry_call({number}, __number);");
        let _ = writeln!(text, "    unsigned long long __call = __quarry_part_key({number}, __number);");
    } else {
        let _ = writeln!(text, "{head}\n{{");
    }
    text.push_str(&body);
    text.push_str("}\n");
    Giving { text, result, n_cells, reasons }
}

/// Writes through a pointer parameter; every call asks for the values, also when there is nowhere to put them.
fn written(cells: &mut Body<'_>, types: &CTypes, to: CTypeId, name: &str, length: Option<u64>) -> Node {
    let n = length.unwrap_or(1);
    let unused = declaration(types, to, &format!("__unused_{name}[{n}]"));
    cells.line(&format!("{unused};"));
    cells.line(&format!("__builtin_memset(__unused_{name}, 0, sizeof __unused_{name});"));
    cells.line(&format!("__typeof__(&__unused_{name}[0]) __to_{name} = {name} ? {name} : __unused_{name};"));
    let node = cells.behind(&format!("__to_{name}"), to, length);
    Node { name: name.to_owned(), ..node }
}

/// Makes and returns the result.
fn returned(cells: &mut Body<'_>, types: &CTypes, ty: CTypeId) -> Node {
    let result = &types[ty];
    let named = |node: Node| Node { name: "return".to_owned(), c_type: result.spelling.clone(), ..node };
    let nothing = |reason: &str| {
        named(Node {
            name: String::new(),
            c_type: String::new(),
            kind: Kind::Unsupported { reason: reason.to_owned() },
        })
    };
    match &result.kind {
        CTypeKind::Void => nothing("void"),
        CTypeKind::Pointer { to, .. } => {
            let target = &types[*to];
            match target.kind {
                CTypeKind::Function(_) => {
                    cells.line("return 0;");
                    nothing("pointer to a function")
                }
                CTypeKind::Other if target.size > 0 => {
                    cells.line("return 0;");
                    nothing(&format!("pointer to {}", target.spelling))
                }
                _ => named(pointer(cells, types, *to)),
            }
        }
        _ => {
            cells.line(&format!("{};", declaration(types, ty, "__result")));
            cells.line("__builtin_memset(&__result, 0, sizeof __result);");
            let node = cells.variable("__result", ty);
            cells.line("return __result;");
            named(node)
        }
    }
}

/// Returns null, or an object of its own for each call.
fn pointer(cells: &mut Body<'_>, types: &CTypes, to: CTypeId) -> Node {
    let target = &types[to];
    cells.line("_Bool __given = 0;");
    let present: Cell = cells.truth("__given");
    debug_assert_eq!(present.scalar, Scalar::Bool);
    cells.line("if (!__given)");
    cells.line("    return 0;");
    let node = if target.size == 0 {
        cells.line(&format!("void *__object = __builtin_calloc(1, {BLOCK});"));
        let kind = Kind::Struct { members: Vec::new() };
        Node { name: String::new(), c_type: target.spelling.clone(), kind }
    } else {
        cells.line(&format!("{};", declaration(types, to, "(*__object)")));
        let at = cells.mark();
        let node = cells.behind("__object", to, None);
        let n_elements = match &node.kind {
            Kind::Array { elements, .. } => elements.len().max(1),
            _ => 1,
        } + usize::from(target.is_text());
        cells.line_at(
            at,
            &format!(
                "__object = __builtin_calloc({n_elements}, sizeof *__object);\n    \
                 if (!__object)\n        return 0;"
            ),
        );
        node
    };
    cells.line("return (void *)__object;");
    Node { name: String::new(), c_type: String::new(), kind: Kind::Optional { present, to: Box::new(node) } }
}
