//! What C sources declare, as data: types, functions, variables.
//!
//! The front end reads it off the sources; whoever writes C for them ([`declare`]) needs nothing else. Ids are indices into
//! [`CTypes`], so that recursive types end. Limit: what no harness could fill (vectors, `__int128`, …) is one kind, without detail.

pub mod declare;

use std::ops::Index;

use serde::{Deserialize, Serialize};

use crate::SpanId;

/// What the units of a program declare.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declarations {
    pub types: CTypes,
    pub functions: Vec<CFunction>,
    /// Functions that units use and do not define themselves, by unit and name.
    pub foreign: Vec<CForeign>,
    pub globals: Vec<CGlobal>,
    /// Static variables of functions.
    pub statics: Vec<CStatic>,
}

impl Declarations {
    /// The definition of a function.
    pub fn definition(&self, key: &FunctionKey) -> Option<&CFunction> {
        self.functions.iter().find(|function| function.key == *key)
    }
}

/// A function by unit and source name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FunctionKey {
    /// Number of the translation unit.
    pub unit: usize,
    /// The name in the source.
    pub name: String,
}

/// Index into [`CTypes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CTypeId(pub u32);

/// All types met, so that recursive ones end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CTypes {
    pub types: Vec<CType>,
}

impl Index<CTypeId> for CTypes {
    type Output = CType;

    fn index(&self, id: CTypeId) -> &CType {
        &self.types[id.0 as usize]
    }
}

/// One C type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CType {
    /// As written in declarations, `struct point`, `uint8_t`, `int *`.
    pub spelling: String,
    /// Bytes; 0 when incomplete.
    pub size: u64,
    /// Names the declaration of a structure, union or enumeration, whatever it is called here; 0 for other types.
    pub identity: u32,
    pub kind: CTypeKind,
}

impl CType {
    /// Plain `char`: behind a pointer, it may be a string.
    pub fn is_text(&self) -> bool {
        matches!(self.kind, CTypeKind::Char { .. }) && self.spelling == "char"
    }
}

/// What kind of type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CTypeKind {
    Void,
    Bool,
    Char {
        signed: bool,
    },
    Integer {
        bits: u32,
        signed: bool,
    },
    Enum {
        bits: u32,
        signed: bool,
        enumerators: Vec<(String, i128)>,
    },
    Float {
        bits: u32,
    },
    Pointer {
        to: CTypeId,
        const_target: bool,
    },
    /// `length` is `None` for flexible or incomplete arrays.
    Array {
        element: CTypeId,
        length: Option<u64>,
    },
    Struct {
        members: Vec<CMember>,
        union: bool,
    },
    Function(CSignature),
    /// Incomplete, vector, complex, `__int128`, …
    Other,
}

/// How a function is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CSignature {
    /// The type without typedefs, equal for functions that can stand for each other.
    pub canonical: String,
    pub result: CTypeId,
    pub parameters: Vec<CTypeId>,
    pub variadic: bool,
}

/// A member of a structure or union.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CMember {
    /// Empty for an anonymous structure or union.
    pub name: String,
    pub ty: CTypeId,
    /// Width of a bit-field.
    pub bit_field: Option<u32>,
    pub is_const: bool,
}

/// A function defined in some unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CFunction {
    pub key: FunctionKey,
    pub span: SpanId,
    /// Defined in a system header.
    pub system: bool,
    pub is_static: bool,
    pub variadic: bool,
    /// The type without typedefs.
    pub canonical: String,
    pub parameters: Vec<CParameter>,
    pub result: CTypeId,
}

impl CFunction {
    /// The names its parameters have in generated C; those without one are `arg0`, `arg1`, …
    pub fn parameter_names(&self) -> Vec<String> {
        let named = |(index, parameter): (usize, &CParameter)| {
            if parameter.name.is_empty() { format!("arg{index}") } else { parameter.name.clone() }
        };
        self.parameters.iter().enumerate().map(named).collect()
    }
}

/// A function that a unit uses and does not define.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CForeign {
    /// As the unit declares it.
    pub function: CFunction,
    pub no_return: bool,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CParameter {
    /// Empty when unnamed.
    pub name: String,
    pub ty: CTypeId,
    /// `int v[6]`: the length the source states, although C only passes a pointer.
    pub declared_length: Option<u64>,
}

/// A global or file-level static variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CGlobal {
    pub unit: usize,
    pub name: String,
    pub span: SpanId,
    pub ty: CTypeId,
    pub is_const: bool,
    pub is_static: bool,
}

/// A static variable of a function that is not constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CStatic {
    pub unit: usize,
    pub function: String,
    pub name: String,
    pub span: SpanId,
    pub ty: CTypeId,
    /// Whether the function has another one of that name before it.
    pub is_repeated: bool,
}

impl CStatic {
    /// Its name outside of its function: `function.variable`.
    pub fn qualified_name(&self) -> String {
        format!("{}.{}", self.function, self.name)
    }
}
