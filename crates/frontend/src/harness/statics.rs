//! Static variables of functions as inputs, which have no name outside of their function.
//!
//! Method: the harness declares a variable for each, and where the code of the unit is put together that declaration becomes
//! the variable itself, which the compiler calls `function.variable` ([`SYMBOL`]). A replay program names the symbol. Limits:
//! numbers and arrays of them, because a structure or enum may be known in the function alone; of variables of one name in one
//! function the first; replays must be built with clang, whose symbols these are.

use model::ctype::declare::declaration;
use model::ctype::{CStatic, CTypeKind, CTypes};

use crate::mark::USER_MAIN;
use crate::marks::Marks;

use super::HarnessError;
use super::names;

/// How the variables of a harness start that stand for static variables of functions; the symbol follows, `.` as `$`.
pub const SYMBOL: &str = "__quarry_static_";

/// What the harness calls it.
pub fn harness_name(variable: &CStatic) -> String {
    let function = if variable.function == "main" { USER_MAIN } else { &variable.function };
    format!("{SYMBOL}{function}${}", variable.name)
}

/// The symbol that a variable of the harness stands for.
pub fn symbol(name: &str) -> Option<String> {
    name.strip_prefix(SYMBOL).map(|rest| rest.replace('$', "."))
}

/// Its declaration in the harness.
pub fn declared(types: &CTypes, variable: &CStatic) -> String {
    format!("extern {};\n", declaration(types, variable.ty, &harness_name(variable)))
}

/// Whether it can be written down outside of its function.
pub fn is_possible(types: &CTypes, variable: &CStatic) -> bool {
    let mut kind = &types[variable.ty].kind;
    while let CTypeKind::Array { element, .. } = kind {
        kind = &types[*element].kind;
    }
    !variable.is_repeated
        && match kind {
            CTypeKind::Bool | CTypeKind::Char { .. } | CTypeKind::Integer { .. } => true,
            CTypeKind::Float { bits } => *bits <= 64,
            CTypeKind::Void
            | CTypeKind::Enum { .. }
            | CTypeKind::Pointer { .. }
            | CTypeKind::Array { .. }
            | CTypeKind::Struct { .. }
            | CTypeKind::Function(_)
            | CTypeKind::Other => false,
        }
}

/// The variable that `function.variable` names in a unit; `None` when that is no such name.
pub fn named<'m>(marks: &'m Marks, unit: usize, name: &str) -> Result<Option<&'m CStatic>, HarnessError> {
    if !name.contains('.') {
        return Ok(None);
    }
    let of_unit = || marks.declarations.statics.iter().filter(|variable| variable.unit == unit);
    let Some(variable) = of_unit().find(|variable| variable.qualified_name() == name) else {
        let known: Vec<String> = of_unit().map(CStatic::qualified_name).collect();
        return Err(HarnessError::UnknownGlobal {
            name: name.to_owned(),
            file: marks.units[unit].source.display().to_string(),
            near: names::near(name, known.iter().map(String::as_str)),
        });
    };
    if !is_possible(&marks.declarations.types, variable) {
        return Err(HarnessError::StaticVariable { name: name.to_owned() });
    }
    Ok(Some(variable))
}
