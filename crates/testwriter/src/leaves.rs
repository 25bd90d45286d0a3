//! What can be compared in a test: the scalars and pointers that a call may change or return, as C expressions.
//!
//! Method: visits objects and arrays of the test by the input's shape, globals and results by their types. Limits: of a
//! union only the member that the input has; `static` variables of functions cannot be named; a global that a variable of
//! the test hides is left out; at most [`MOST`] leaves per object.

use model::ctype::{CTypeId, CTypeKind, CTypes};
use model::input::{Input, Kind, Node, Scalar};

use crate::frame::{Frame, Scene};
use crate::test::FunctionUnderTest;

/// Leaves of one global, object or result.
const MOST: usize = 512;

/// Something that has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// As C writes it in the test.
    pub expression: String,
    pub kind: LeafKind,
    /// Of a byte of the input, what it is before the call.
    pub byte_before: Option<u8>,
}

/// What kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafKind {
    Signed {
        bits: u32,
    },
    Unsigned {
        bits: u32,
    },
    Truth,
    /// `float` or `double`.
    Float {
        bits: u32,
    },
    Pointer,
    /// A pointer to characters.
    Text,
}

/// A value that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Number(i128),
    Truth(bool),
    /// By its bits.
    Float(u64),
    Null,
    /// A pointer into an object of the test, `offset` bytes behind its start.
    Inside {
        object: String,
        offset: i64,
    },
    /// Any other pointer.
    Elsewhere,
    /// A pointer to a text, without its zero byte.
    Text(Vec<u8>),
}

/// What of a test's call can be compared.
pub fn leaves(under_test: &FunctionUnderTest<'_>, input: &Input) -> Vec<Leaf> {
    let frame = Frame::new(under_test);
    let scene = frame.scene(&mut String::new(), input);
    frame.all_leaves(&scene, input)
}

/// A part of a test whose leaves stand or fall together.
pub struct Group {
    /// The number of the object on the heap, which the call may free.
    pub object: Option<usize>,
    pub leaves: Vec<Leaf>,
}

impl Frame<'_> {
    /// What a call may change: globals, arrays of the test, objects.
    pub fn changeable(&self, scene: &Scene, input: &Input) -> Vec<Group> {
        let mut groups = Vec::new();
        let hidden = |name: &String| {
            scene.names.contains(name)
                || *name == scene.result
                || scene.objects.iter().any(|(object, _)| object == name)
        };
        let unit = self.function.key.unit;
        let globals =
            self.declarations.globals.iter().filter(|global| global.unit == unit && !global.is_const);
        for global in globals.filter(|global| !hidden(&global.name)) {
            let mut leaves = Vec::new();
            of_type(&self.declarations.types, global.ty, &global.name, &mut leaves);
            groups.push(Group { object: None, leaves });
        }
        for (name, node) in &scene.arrays {
            let mut leaves = Vec::new();
            of_node(node, name, ".", input, &mut leaves);
            groups.push(Group { object: None, leaves });
        }
        for (index, (name, node)) in scene.objects.iter().enumerate() {
            let mut leaves = Vec::new();
            match &node.kind {
                Kind::Scalar(_) | Kind::Pointer(_) => {
                    of_node(node, &format!("*{name}"), ".", input, &mut leaves)
                }
                _ => of_node(node, name, "->", input, &mut leaves),
            }
            groups.push(Group { object: Some(index), leaves });
        }
        for group in &mut groups {
            group.leaves.truncate(MOST);
        }
        groups
    }

    /// What the call returns.
    pub fn returned(&self, scene: &Scene) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        of_type(&self.declarations.types, self.function.result, &scene.result, &mut leaves);
        leaves.truncate(MOST);
        leaves
    }

    /// What lies behind a returned pointer, other than text.
    pub fn behind(&self, scene: &Scene) -> Vec<Leaf> {
        let types = &self.declarations.types;
        let CTypeKind::Pointer { to, .. } = types[self.function.result].kind else { return Vec::new() };
        let mut leaves = Vec::new();
        if types[to].size > 0 {
            match types[to].kind {
                CTypeKind::Struct { .. } => members(types, to, &scene.result, "->", &mut leaves),
                CTypeKind::Char { .. } | CTypeKind::Array { .. } => {}
                _ => of_type(types, to, &format!("*{}", scene.result), &mut leaves),
            }
        }
        leaves.truncate(MOST);
        leaves
    }

    /// Every leaf of a test.
    pub fn all_leaves(&self, scene: &Scene, input: &Input) -> Vec<Leaf> {
        let changeable = self.changeable(scene, input).into_iter().flat_map(|group| group.leaves);
        self.returned(scene).into_iter().chain(self.behind(scene)).chain(changeable).collect()
    }
}

fn of_node(node: &Node, path: &str, arrow: &str, input: &Input, leaves: &mut Vec<Leaf>) {
    match &node.kind {
        Kind::Scalar(cell) => {
            let kind = match &cell.scalar {
                Scalar::Bool => LeafKind::Truth,
                Scalar::Float { bits } => LeafKind::Float { bits: *bits },
                other if other.signed() => LeafKind::Signed { bits: other.bits() },
                other => LeafKind::Unsigned { bits: other.bits() },
            };
            let is_byte = matches!(kind, LeafKind::Signed { bits: 8 } | LeafKind::Unsigned { bits: 8 });
            let byte_before = is_byte.then(|| input.values.get(&cell.key).copied().unwrap_or(0) as u8);
            leaves.push(Leaf { expression: path.to_owned(), kind, byte_before });
        }
        Kind::Array { elements, .. } => {
            for element in elements {
                of_node(element, &format!("{path}{}", element.name), ".", input, leaves);
            }
        }
        Kind::Sized(sized) => {
            for element in sized.elements(input).iter().take(MOST) {
                of_node(element, &format!("{path}{}", element.name), ".", input, leaves);
            }
        }
        Kind::Struct { members } => {
            for member in members {
                let arrow_below = if member.is_anonymous() { arrow } else { "." };
                of_node(member, &member.joined(path, arrow), arrow_below, input, leaves);
            }
        }
        Kind::Union(union) => {
            if let Some(member) = union.chosen(input) {
                of_node(&member, &member.joined(path, arrow), ".", input, leaves);
            }
        }
        Kind::Pointer(_) => {
            leaves.push(Leaf { expression: path.to_owned(), kind: LeafKind::Pointer, byte_before: None })
        }
        Kind::Function(_)
        | Kind::Results(_)
        | Kind::Stream(_)
        | Kind::Sequence { .. }
        | Kind::Optional { .. }
        | Kind::Unsupported { .. } => {}
    }
}

fn of_type(types: &CTypes, ty: CTypeId, path: &str, leaves: &mut Vec<Leaf>) {
    let kind = match &types[ty].kind {
        CTypeKind::Bool => LeafKind::Truth,
        CTypeKind::Char { signed } => integer(8, *signed),
        CTypeKind::Integer { bits, signed } | CTypeKind::Enum { bits, signed, .. } => integer(*bits, *signed),
        CTypeKind::Float { bits: bits @ (32 | 64) } => LeafKind::Float { bits: *bits },
        CTypeKind::Pointer { to, .. } => match types[*to].kind {
            CTypeKind::Char { .. } => LeafKind::Text,
            CTypeKind::Function(_) => return,
            _ => LeafKind::Pointer,
        },
        CTypeKind::Array { element, length } => {
            for index in 0..length.unwrap_or(0).min(MOST as u64) {
                if leaves.len() < MOST {
                    of_type(types, *element, &format!("{path}[{index}]"), leaves);
                }
            }
            return;
        }
        CTypeKind::Struct { .. } => return members(types, ty, path, ".", leaves),
        CTypeKind::Void | CTypeKind::Float { .. } | CTypeKind::Function(_) | CTypeKind::Other => return,
    };
    leaves.push(Leaf { expression: path.to_owned(), kind, byte_before: None });
}

/// The members of a structure; of a union none, because nothing says which one counts.
fn members(types: &CTypes, ty: CTypeId, path: &str, arrow: &str, leaves: &mut Vec<Leaf>) {
    let CTypeKind::Struct { members: all, union: false } = &types[ty].kind else { return };
    for member in all {
        if leaves.len() >= MOST {
            return;
        }
        if member.name.is_empty() {
            if member.bit_field.is_none() {
                members(types, member.ty, path, arrow, leaves);
            }
        } else {
            of_type(types, member.ty, &format!("{path}{arrow}{}", member.name), leaves);
        }
    }
}

fn integer(bits: u32, signed: bool) -> LeafKind {
    if signed { LeafKind::Signed { bits } } else { LeafKind::Unsigned { bits } }
}
