//! Turns types into cells: the tree that describes the input, and the C that fills it.
//!
//! Arrays are filled by loops, so that the code stays short; the key of an element is computed from the loop counters in
//! the same order in which the tree lists its cells.

use std::fmt::Write;

use model::input::{Cell, Key, Kind, Node, Scalar};

use crate::ctype::{CGlobal, CMember, CParameter, CType, CTypeId, CTypeKind, CTypes};

use super::DEFAULT_LENGTH;
use super::declare::{declaration, of, parameter_object};

/// More cells than this are no input a search can handle, and the tree would eat the memory.
const CELL_LIMIT: u64 = 1 << 16;

/// Nesting of structures; types cannot contain themselves, so this only bounds strange code.
const DEPTH_LIMIT: usize = 32;

/// Builds the tree and the code side by side.
pub struct Cells<'a> {
    types: &'a CTypes,
    body: String,
    next_key: u64,
    reasons: Vec<String>,
    /// Loops around the code being written.
    loops: usize,
    /// What the loop counters add to a key.
    key_terms: String,
}

/// A type's cells without keys: built once per element type, then repeated.
enum Plan {
    Scalar(Scalar),
    BitField { scalar: Scalar, ty: CTypeId },
    Array { element: Box<Plan>, element_type: String, length: u64, pointer: bool },
    Struct(Vec<(String, String, Plan)>),
    Unsupported(String),
}

impl<'a> Cells<'a> {
    pub fn new(types: &'a CTypes) -> Self {
        Self {
            types,
            body: String::new(),
            next_key: 0,
            reasons: Vec::new(),
            loops: 0,
            key_terms: String::new(),
        }
    }

    /// The code, and what is not built.
    pub fn finish(self) -> (String, Vec<String>) {
        (self.body, self.reasons)
    }

    /// Fills a global in place.
    pub fn global(&mut self, global: &CGlobal) -> Node {
        let plan = self.plan(global.ty, 0);
        self.place(&global.name, &of(self.types, global.ty).spelling, plan)
    }

    /// Declares and fills the variable of a parameter.
    pub fn parameter(&mut self, parameter: &CParameter, name: &str, length: Option<u64>) -> Node {
        let plan = match &of(self.types, parameter.ty).kind {
            CTypeKind::Pointer { to, .. } => self.pointer(*to, length, parameter.declared_length),
            _ => self.plan(parameter.ty, 0),
        };
        let start = self.body.len();
        let node = self.place(name, &of(self.types, parameter.ty).spelling, plan);
        let zero = match of(self.types, parameter.ty).kind {
            CTypeKind::Struct { .. } | CTypeKind::Array { .. } | CTypeKind::Other => "{0}",
            CTypeKind::Pointer { .. } if matches!(node.kind, Kind::Array { .. }) => "{0}",
            _ => "0",
        };
        let declared = parameter_object(self.types, parameter.ty, &node, name);
        self.body.insert_str(start, &format!("    {declared} = {zero};\n"));
        node
    }

    /// What a pointer parameter points to.
    fn pointer(&self, to: CTypeId, asked: Option<u64>, declared: Option<u64>) -> Plan {
        let target = of(self.types, to);
        let element = match (&target.kind, asked) {
            (CTypeKind::Void, Some(_)) => Plan::Scalar(Scalar::Char { signed: false }),
            (CTypeKind::Void, None) => {
                return Plan::Unsupported("pointer to void (give its size in bytes with --len)".to_owned());
            }
            (CTypeKind::Function, _) => return Plan::Unsupported("pointer to a function".to_owned()),
            _ if target.size == 0 => {
                return Plan::Unsupported(format!("pointer to incomplete type {}", target.spelling));
            }
            _ => self.plan(to, 0),
        };
        if let Plan::Unsupported(reason) = element {
            return Plan::Unsupported(format!("pointer to {reason}"));
        }
        let default = if matches!(element, Plan::Struct(_)) { 1 } else { DEFAULT_LENGTH };
        let length = asked.or(declared).unwrap_or(default);
        let element_type = target.spelling.clone();
        limited(Plan::Array { element: Box::new(element), element_type, length, pointer: true })
    }

    fn plan(&self, ty: CTypeId, depth: usize) -> Plan {
        let ty = of(self.types, ty);
        if depth > DEPTH_LIMIT {
            return Plan::Unsupported("structure nested too deeply".to_owned());
        }
        match &ty.kind {
            CTypeKind::Bool | CTypeKind::Char { .. } | CTypeKind::Integer { .. } | CTypeKind::Enum { .. } => {
                match scalar(ty) {
                    Some(scalar) if scalar.bits() <= 64 => Plan::Scalar(scalar),
                    _ => Plan::Unsupported(ty.spelling.clone()),
                }
            }
            CTypeKind::Array { element, length: Some(length) } => match self.plan(*element, depth + 1) {
                Plan::Unsupported(reason) => Plan::Unsupported(format!("array of {reason}")),
                plan => limited(Plan::Array {
                    element: Box::new(plan),
                    element_type: of(self.types, *element).spelling.clone(),
                    length: *length,
                    pointer: false,
                }),
            },
            CTypeKind::Array { length: None, .. } => Plan::Unsupported("array of unknown length".to_owned()),
            CTypeKind::Struct { members, union: false } => limited(self.structure(members, depth)),
            CTypeKind::Struct { union: true, .. } => Plan::Unsupported(ty.spelling.clone()),
            CTypeKind::Pointer { .. } => Plan::Unsupported(ty.spelling.clone()),
            CTypeKind::Float { bits: bits @ (32 | 64) } => Plan::Scalar(Scalar::Float { bits: *bits }),
            CTypeKind::Float { .. } => Plan::Unsupported(format!("floating-point {}", ty.spelling)),
            CTypeKind::Void | CTypeKind::Function | CTypeKind::Other => {
                Plan::Unsupported(ty.spelling.clone())
            }
        }
    }

    fn structure(&self, members: &[CMember], depth: usize) -> Plan {
        let mut parts = Vec::new();
        for member in members {
            let ty = of(self.types, member.ty);
            let plan = match member.bit_field {
                // A bit-field without a name is padding.
                Some(_) if member.name.is_empty() => continue,
                Some(width) => match scalar(ty) {
                    Some(scalar) => Plan::BitField { scalar: narrowed(scalar, width), ty: member.ty },
                    None => Plan::Unsupported(ty.spelling.clone()),
                },
                None => self.plan(member.ty, depth + 1),
            };
            match (member.name.is_empty(), plan) {
                // Members of an anonymous structure belong to the one around it.
                (true, Plan::Struct(inner)) => parts.extend(inner),
                (true, plan) => parts.push(("(anonymous)".to_owned(), ty.spelling.clone(), plan)),
                (false, plan) => parts.push((member.name.clone(), ty.spelling.clone(), plan)),
            }
        }
        Plan::Struct(parts)
    }

    /// Gives the cells of a root their keys and writes the code that fills them.
    fn place(&mut self, name: &str, c_type: &str, plan: Plan) -> Node {
        let first_key = self.next_key;
        let count = plan.n_cells();
        self.fill(name, first_key, &plan);
        self.next_key += count;
        let mut key = first_key;
        let kind = kind(&plan, &mut key);
        self.explain(name, &plan);
        Node { name: name.to_owned(), c_type: c_type.to_owned(), kind }
    }

    /// Writes the code that fills `lvalue`; its first cell has the key `key`, moved by the loops around it.
    fn fill(&mut self, lvalue: &str, key: u64, plan: &Plan) {
        let indent = "    ".repeat(1 + self.loops);
        let terms = &self.key_terms;
        let cell_key = match terms.strip_prefix(" + ") {
            Some(terms) if key == 0 => terms.to_owned(),
            _ => format!("{key}{terms}"),
        };
        match plan {
            Plan::Scalar(scalar) => {
                let bits = scalar.bits();
                let _ = writeln!(
                    self.body,
                    "{indent}__quarry_cell({cell_key}, (void *)&{lvalue}, sizeof {lvalue}, {bits});"
                );
            }
            Plan::BitField { scalar, ty } => {
                let bits = scalar.bits();
                let declared = declaration(self.types, *ty, "__value");
                let _ = writeln!(
                    self.body,
                    "{indent}{{\n{indent}    {declared} = {lvalue};\n\
                     {indent}    __quarry_cell({cell_key}, &__value, sizeof __value, {bits});\n\
                     {indent}    {lvalue} = __value;\n{indent}}}"
                );
            }
            Plan::Array { element, length, .. } => {
                let per_element = element.n_cells();
                if per_element == 0 || *length == 0 {
                    return;
                }
                if *length == 1 {
                    return self.fill(&format!("{lvalue}[0]"), key, element);
                }
                let counter = format!("__i{}", self.loops);
                let _ = writeln!(
                    self.body,
                    "{indent}for (unsigned {counter} = 0; {counter} < {length}; {counter}++) {{"
                );
                let outer = self.key_terms.clone();
                self.key_terms = match per_element {
                    1 => format!("{outer} + {counter}"),
                    n => format!("{outer} + {n} * {counter}"),
                };
                self.loops += 1;
                self.fill(&format!("{lvalue}[{counter}]"), key, element);
                self.loops -= 1;
                self.key_terms = outer;
                let _ = writeln!(self.body, "{indent}}}");
            }
            Plan::Struct(members) => {
                let mut key = key;
                for (name, _, member) in members {
                    self.fill(&format!("{lvalue}.{name}"), key, member);
                    key += member.n_cells();
                }
            }
            Plan::Unsupported(_) => {}
        }
    }

    /// Notes what below `path` is not built.
    fn explain(&mut self, path: &str, plan: &Plan) {
        match plan {
            Plan::Scalar(_) | Plan::BitField { .. } => {}
            Plan::Array { element, .. } => self.explain(&format!("{path}[]"), element),
            Plan::Struct(members) => {
                for (name, _, member) in members {
                    self.explain(&format!("{path}.{name}"), member);
                }
            }
            Plan::Unsupported(reason) => self.reasons.push(format!("{path}: {reason}")),
        }
    }
}

impl Plan {
    fn n_cells(&self) -> u64 {
        match self {
            Self::Scalar(_) | Self::BitField { .. } => 1,
            Self::Array { element, length, .. } => element.n_cells().saturating_mul(*length),
            Self::Struct(members) => {
                members.iter().fold(0, |sum, (_, _, member)| sum.saturating_add(member.n_cells()))
            }
            Self::Unsupported(_) => 0,
        }
    }
}

/// Refuses what has too many cells.
fn limited(plan: Plan) -> Plan {
    if plan.n_cells() <= CELL_LIMIT {
        return plan;
    }
    Plan::Unsupported(format!("{} cells, more than {CELL_LIMIT}", plan.n_cells()))
}

fn kind(plan: &Plan, key: &mut u64) -> Kind {
    match plan {
        Plan::Scalar(scalar) | Plan::BitField { scalar, .. } => {
            let cell = Cell { key: Key(*key), scalar: scalar.clone() };
            *key += 1;
            Kind::Scalar(cell)
        }
        Plan::Array { element, element_type, length, pointer } => {
            let node = |index: u64, key: &mut u64| Node {
                name: format!("[{index}]"),
                c_type: element_type.clone(),
                kind: kind(element, key),
            };
            Kind::Array { elements: (0..*length).map(|index| node(index, key)).collect(), pointer: *pointer }
        }
        Plan::Struct(members) => {
            let node = |(name, c_type, plan): &(String, String, Plan), key: &mut u64| Node {
                name: name.clone(),
                c_type: c_type.clone(),
                kind: kind(plan, key),
            };
            Kind::Struct { members: members.iter().map(|member| node(member, key)).collect() }
        }
        Plan::Unsupported(reason) => Kind::Unsupported { reason: reason.clone() },
    }
}

fn scalar(ty: &CType) -> Option<Scalar> {
    match &ty.kind {
        CTypeKind::Bool => Some(Scalar::Bool),
        CTypeKind::Char { signed } if ty.spelling.contains("char") => Some(Scalar::Char { signed: *signed }),
        // `uint8_t` and its kin are numbers to whoever named them so.
        CTypeKind::Char { signed } => Some(Scalar::Integer { bits: 8, signed: *signed }),
        CTypeKind::Integer { bits, signed } => Some(Scalar::Integer { bits: *bits, signed: *signed }),
        CTypeKind::Enum { bits, signed, enumerators } => {
            Some(Scalar::Enum { bits: *bits, signed: *signed, enumerators: enumerators.clone() })
        }
        CTypeKind::Void
        | CTypeKind::Float { .. }
        | CTypeKind::Pointer { .. }
        | CTypeKind::Array { .. }
        | CTypeKind::Struct { .. }
        | CTypeKind::Function
        | CTypeKind::Other => None,
    }
}

/// A bit-field holds a number of its width, whatever its type.
fn narrowed(scalar: Scalar, width: u32) -> Scalar {
    match scalar {
        Scalar::Bool => Scalar::Bool,
        Scalar::Char { signed } | Scalar::Integer { signed, .. } => Scalar::Integer { bits: width, signed },
        Scalar::Enum { signed, enumerators, .. } => Scalar::Enum { bits: width, signed, enumerators },
        Scalar::Float { bits } => Scalar::Float { bits }, // C has no such bit-fields
    }
}
