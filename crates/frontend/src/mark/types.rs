//! Takes C types out of libclang, so that the harness needs no clang.
//!
//! Each type is taken once: a type that refers to itself ends at its own id. Types without a name get a spelling that
//! can still be used in a declaration (`__typeof__`), derived from where they were met.

use std::collections::HashMap;

use model::ctype::{CMember, CParameter, CSignature, CType, CTypeId, CTypeKind, CTypes};

use crate::clang::{ClangType, Cursor, TypeNode};
use crate::preprocess::Text;

/// The types of one unit.
pub struct TypeTable<'t> {
    pub types: CTypes,
    text: &'t Text,
    pointer_bytes: u64,
    /// By spelling, and by declaration for types that share a spelling in different scopes.
    known: HashMap<(String, u32), CTypeId>,
}

impl<'t> TypeTable<'t> {
    /// An empty table for a text and a target with pointers of this size.
    pub fn new(text: &'t Text, pointer_bytes: u64) -> Self {
        Self { types: CTypes::default(), text, pointer_bytes, known: HashMap::new() }
    }

    /// The id of a type; `fallback` is how to spell it when it has no name.
    pub fn id(&mut self, ty: ClangType<'_>, fallback: &str) -> CTypeId {
        let ty = ty.unqualified();
        let node = ty.node();
        let identity = match node {
            TypeNode::Record | TypeNode::Enum => ty.declaration().identity(),
            _ => 0,
        };
        let spelling = spelling(ty, fallback);
        let key = (spelling.clone(), identity);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = CTypeId(u32::try_from(self.types.types.len()).expect("fewer than 2^32 types"));
        self.known.insert(key, id);
        let size = ty.size().unwrap_or(0);
        self.types.types.push(CType { spelling: spelling.clone(), size, identity, kind: CTypeKind::Other });
        let kind = self.kind(ty, node, size, &spelling);
        self.types.types[id.0 as usize].kind = kind;
        id
    }

    /// A parameter: arrays are pointers with a stated length.
    pub fn parameter(&mut self, cursor: Cursor<'_>) -> CParameter {
        let ty = cursor.ty();
        if ty.node() != TypeNode::Array {
            return CParameter { name: cursor.name(), ty: self.id(ty, "void *"), declared_length: None };
        }
        if ty.spelling().contains("va_list") {
            // An array on some targets, but nothing that could be filled.
            let spelling = "__builtin_va_list".to_owned();
            let id = self.add(spelling, ty.size().unwrap_or(0), CTypeKind::Other);
            return CParameter { name: cursor.name(), ty: id, declared_length: None };
        }
        let element = ty.element();
        let to = self.id(element, "char");
        let spelling = pointer_spelling(&self.types[to].spelling);
        let kind = CTypeKind::Pointer { to, const_target: element.is_const() };
        let id = self.add(spelling, self.pointer_bytes, kind);
        CParameter { name: cursor.name(), ty: id, declared_length: ty.array_length().filter(|n| *n > 0) }
    }

    /// A type that libclang does not show as such.
    fn add(&mut self, spelling: String, size: u64, kind: CTypeKind) -> CTypeId {
        let next = CTypeId(u32::try_from(self.types.types.len()).expect("fewer than 2^32 types"));
        let id = *self.known.entry((spelling.clone(), 0)).or_insert(next);
        if id == next {
            self.types.types.push(CType { spelling, size, identity: 0, kind });
        }
        id
    }

    fn kind(&mut self, ty: ClangType<'_>, node: TypeNode, size: u64, spelling: &str) -> CTypeKind {
        let bits = u32::try_from(size * 8).unwrap_or(0);
        match node {
            TypeNode::Void => CTypeKind::Void,
            TypeNode::Bool => CTypeKind::Bool,
            TypeNode::Char { signed } => CTypeKind::Char { signed },
            TypeNode::Integer { signed } => CTypeKind::Integer { bits, signed },
            TypeNode::Float => CTypeKind::Float { bits },
            TypeNode::Pointer => {
                let target = ty.pointee();
                let to = self.id(target, &format!("__typeof__(*({spelling})0)"));
                CTypeKind::Pointer { to, const_target: target.is_const() }
            }
            TypeNode::Array => {
                let element = self.id(ty.element(), &format!("__typeof__((*({spelling} *)0)[0])"));
                CTypeKind::Array { element, length: ty.array_length() }
            }
            TypeNode::Record if ty.size().is_some() && !self.is_opaque(ty) => self.record(ty, spelling),
            TypeNode::Enum if ty.size().is_some() => enumeration(ty, bits),
            TypeNode::Function => {
                let (parameters, variadic) = ty.parameters();
                let parameters = parameters.into_iter().map(|ty| self.id(ty, "void *")).collect();
                let canonical = ty.canonical().spelling();
                CTypeKind::Function(CSignature {
                    canonical,
                    result: self.id(ty.result(), "int"),
                    parameters,
                    variadic,
                })
            }
            TypeNode::Record | TypeNode::Enum | TypeNode::Other => CTypeKind::Other,
        }
    }

    /// A structure of the system with members of reserved names (`FILE`) is internal to the library.
    fn is_opaque(&self, ty: ClangType<'_>) -> bool {
        self.text.in_system_header(ty.declaration().name_line())
            && ty.fields().iter().any(|field| field.name().starts_with('_'))
    }

    fn record(&mut self, ty: ClangType<'_>, spelling: &str) -> CTypeKind {
        let mut members = Vec::new();
        for field in ty.fields() {
            let name = field.name();
            let anonymous = field.ty().node() == TypeNode::Record
                && field.ty().declaration().is_anonymous()
                && name.contains('(');
            let name = if anonymous { String::new() } else { name };
            let fallback = if name.is_empty() {
                format!("{spelling} (anonymous member {})", members.len())
            } else {
                format!("__typeof__((*({spelling} *)0).{name})")
            };
            let member_type = self.id(field.ty(), &fallback);
            let (bit_field, is_const) = (field.bit_field_width(), field.ty().is_const());
            members.push(CMember { name, ty: member_type, bit_field, is_const });
        }
        CTypeKind::Struct { members, union: ty.declaration().is_union() }
    }
}

fn enumeration(ty: ClangType<'_>, bits: u32) -> CTypeKind {
    let declaration = ty.declaration();
    let signed = matches!(
        declaration.enum_integer().node(),
        TypeNode::Integer { signed: true } | TypeNode::Char { signed: true }
    );
    let constants = declaration.children().into_iter().filter(|child| child.is_enumerator());
    let enumerators = constants.map(|child| (child.name(), child.enumerator_value(signed))).collect();
    CTypeKind::Enum { bits, signed, enumerators }
}

/// libclang writes types without a name as `struct (unnamed at …)`.
fn spelling(ty: ClangType<'_>, fallback: &str) -> String {
    let spelling = ty.spelling();
    if spelling.contains("(unnamed") || spelling.contains("(anonymous") {
        fallback.to_owned()
    } else {
        spelling
    }
}

/// `int` to `int *`, `int[4]` to `int (*)[4]`.
fn pointer_spelling(target: &str) -> String {
    match target.find('[') {
        Some(at) if !target.starts_with("__typeof__") => {
            format!("{} (*){}", target[..at].trim_end(), &target[at..])
        }
        _ if target.ends_with('*') => format!("{target}*"),
        _ => format!("{target} *"),
    }
}
