//! Generated functions for function pointers: each call returns the next result of the test.

use model::ctype::declare::declaration;
use model::ctype::{CSignature, CTypeKind, CTypes};
use model::input::{Input, Kind, Node};

use crate::values::literal;

/// The definition of a stub, before the tests.
pub fn definition(types: &CTypes, stub: &Node) -> String {
    let Some(signature) = signature(types, stub) else { return String::new() };
    let name = &stub.name;
    let parameter = |(index, ty)| declaration(types, ty, &format!("arg{index} __attribute__((unused))"));
    let parameters: Vec<_> = signature.parameters.iter().copied().enumerate().map(parameter).collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let head = declaration(types, signature.result, &format!("quarry_{name}({parameters})"));
    let unused = "__attribute__((unused)) static";
    if matches!(types[signature.result].kind, CTypeKind::Void) {
        return format!("\n{unused} {head}\n{{\n}}\n");
    }
    let zero = declaration(types, signature.result, "none");
    if returns_inputs(stub) {
        let results = declaration(types, signature.result, &format!("*quarry_{name}_results"));
        format!(
            "\nstatic const {results};\nstatic unsigned quarry_{name}_left;\n\n{unused} {head}\n{{\n\
             \x20   static const {zero};\n\
             \x20   return quarry_{name}_left ? quarry_{name}_left--, *quarry_{name}_results++ : none;\n}}\n"
        )
    } else {
        format!("\n{unused} {head}\n{{\n    static {zero};\n    return none;\n}}\n")
    }
}

/// Sets the results that a stub returns in one test.
pub fn results(types: &CTypes, stub: &Node, input: &Input) -> String {
    let (Some(signature), Kind::Results(calls)) = (signature(types, stub), &stub.kind) else {
        return String::new();
    };
    if !returns_inputs(stub) {
        return String::new();
    }
    let name = &stub.name;
    let value = |node: &Node| match &node.kind {
        Kind::Scalar(cell) => literal(&cell.scalar, input.values.get(&cell.key).copied().unwrap_or(0)),
        _ => "0".to_owned(),
    };
    let values: Vec<_> = calls.results(input).iter().map(value).collect();
    if values.is_empty() {
        return format!("    quarry_{name}_left = 0;\n");
    }
    let n = values.len();
    let declared = declaration(types, signature.result, &format!("{name}[{n}]"));
    format!(
        "    static const {declared} = {{{}}};\n    quarry_{name}_results = {name};\n    quarry_{name}_left = {n};\n",
        values.join(", ")
    )
}

fn returns_inputs(stub: &Node) -> bool {
    matches!(&stub.kind, Kind::Results(calls) if matches!(calls.result.kind, Kind::Scalar(_)))
}

/// The type of a stub, which is found by how it is written.
fn signature<'t>(types: &'t CTypes, stub: &Node) -> Option<&'t CSignature> {
    types.types.iter().find_map(|ty| match &ty.kind {
        CTypeKind::Function(signature) if ty.spelling == stub.c_type => Some(signature),
        _ => None,
    })
}
