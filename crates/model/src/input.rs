//! Inputs: a tree of typed cells, and the values for them.
//!
//! A [`Shape`] says what can be varied: one [`Node`] per parameter (later also globals, files, arguments), down to
//! scalar [`Cell`]s. Each cell has a key that the harness asks for; an [`Input`] maps keys to values. A key that an input
//! lacks keeps what memory held, so inputs stay valid when structures grow. Kinds of nodes are a closed enum. What
//! exists in some runs only (elements of an array that grows, what a pointer points to) is described by a template,
//! whose cells get the keys of the object's parts.

mod allocations;
pub mod calls;
mod objects;
mod scalars;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use allocations::Allocations;
pub use objects::{OBJECT_DEPTH, Object, Objects, Pointed};

/// Key of a cell, the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key(pub u64);

impl Key {
    /// Set in the keys of parts, never in those of a shape's own cells, which are counted from 0.
    const PART: u64 = 1 << 63;

    /// The key of one part of an object that exists in some runs only: an element, a member behind a pointer, the result
    /// of a call. `__quarry_part_key` of the runtime computes the same.
    pub fn part(self, index: u64) -> Self {
        // the finaliser of SplitMix64: keys of different objects do not meet
        let mut x = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index.wrapping_add(1));
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((x ^ x >> 31) | Self::PART)
    }

    /// Whether it is the key of a part, which some runs do not ask for.
    pub fn is_part(self) -> bool {
        self.0 & Self::PART != 0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}", self.0)
    }
}

/// What can be varied for one function or program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    pub roots: Vec<Node>,
    /// What pointers point to, as templates.
    pub targets: Vec<Node>,
    /// Functions that the harness defines, for pointers to functions; what they return is input.
    pub stubs: Vec<Node>,
    /// How many pointers lead one behind the other; those further on are null.
    pub max_depth: u32,
    /// Allocations that may fail, if any may.
    pub allocations: Option<Allocations>,
}

/// A named part of the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Parameter, member or global name; `[3]` for an element.
    pub name: String,
    /// The C type as written, for people.
    pub c_type: String,
    pub kind: Kind,
}

/// What a part of the input is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    Scalar(Cell),
    /// A fixed array, or the elements a pointer parameter is given.
    Array {
        elements: Vec<Node>,
        pointer: bool,
    },
    Struct {
        members: Vec<Node>,
    },
    /// An array whose number of elements is part of the input.
    Sized(Sized),
    /// Null, an object of its own, or one that is there already.
    Pointer(Pointer),
    /// One of several members, in the same place.
    Union(Union),
    /// Null or one of several functions.
    Function(Function),
    /// A stream that reads an input file.
    Stream(Stream),
    /// What a generated function returns, call by call.
    Results(Results),
    /// What functions that are defined nowhere give, in the order of their calls ([`calls::calls`]).
    Sequence {
        /// Call number j is its part j.
        root: Key,
        /// What each function of the sequence gives, by its name; cells are numbered from 0 through all of them.
        results: Vec<Node>,
    },
    /// A pointer that is null, or points to something of its own that is made when it is asked for.
    Optional {
        /// Whether it is not null.
        present: Cell,
        to: Box<Node>,
    },
    /// Not built by the harness: passed as zero bytes, a named gap.
    Unsupported {
        reason: String,
    },
}

/// Elements that an array may have beyond what a search tries, so that all accesses of a function fit; the runtime's
/// `Q_LARGEST`.
pub const LARGEST: u64 = 4096;

/// An array of a size that varies. Element `j` is the object `size.part(j)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sized {
    /// The cell that says how many elements there are.
    pub size: Key,
    /// How many there are when the input does not say.
    pub first: u64,
    /// How many there are at least: a pointer to a number points to one.
    #[serde(default)]
    pub least: u64,
    /// How many a search tries.
    pub most: u64,
    /// An element, as a template.
    pub element: Box<Node>,
    /// Whether a zero element follows the last one: the end of a string or of a list of pointers.
    pub zero_ended: bool,
    /// The numbers that are taken for the number of elements, when it ends a structure.
    #[serde(default)]
    pub counted_by: Vec<Key>,
}

/// How a function is taken to know how far it may go behind a pointer. All of it is guessed from names and types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    /// Nothing says so.
    #[default]
    Open,
    /// A constant text ends with a zero.
    Text,
    /// These numbers are at most the number of elements.
    Counted(Vec<Key>),
}

impl Reach {
    fn instance(&self, base: Key) -> Self {
        match self {
            Self::Open => Self::Open,
            Self::Text => Self::Text,
            Self::Counted(by) => Self::Counted(by.iter().map(|key| base.part(key.0)).collect()),
        }
    }
}

/// A pointer that chooses. An object of its own has the choice's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// The cell that says what it points to: 0 null, 1 an object of its own, further numbers the objects of its target
    /// that are there already, in order.
    pub choice: Key,
    /// The choice when the input does not say.
    pub first: u64,
    /// Number of the template among [`Shape::targets`].
    pub target: usize,
    /// How far the function may go.
    #[serde(default)]
    pub reach: Reach,
}

/// A union: one member is there. The cells of member `m` are parts of the object `choice.part(m)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Union {
    /// The cell that says which.
    pub choice: Key,
    /// The member when the input does not say.
    pub first: u64,
    /// As templates.
    pub members: Vec<Node>,
}

/// A pointer to a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// The cell that says which: 0 null, then the functions in order.
    pub choice: Key,
    /// The choice when the input does not say.
    pub first: u64,
    pub options: Vec<Callee>,
}

/// What a pointer to a function may point to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callee {
    /// A generated function that returns inputs, by its number among [`Shape::stubs`].
    Stub(usize),
    /// A function of the program.
    Function(String),
}

impl Kind {
    /// The cell of a single value.
    pub fn scalar(&self) -> Option<&Cell> {
        if let Self::Scalar(cell) = self { Some(cell) } else { None }
    }

    /// The cell of a single character.
    pub fn character(&self) -> Option<&Cell> {
        self.scalar().filter(|cell| matches!(cell.scalar, Scalar::Char { .. }))
    }

    /// Whether it has members.
    pub fn has_members(&self) -> bool {
        matches!(self, Self::Struct { .. } | Self::Union(_))
    }
}

impl fmt::Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stub(number) => write!(f, "stub_{number}"),
            Self::Function(name) => f.write_str(name),
        }
    }
}

/// A stream over a file whose bytes are input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// The cell that says that there is no such file: the pointer is null.
    pub is_missing: Key,
    pub bytes: Sized,
}

impl Stream {
    /// Whether there is a stream.
    pub fn is_there(&self, input: &Input) -> bool {
        input.values.get(&self.is_missing).copied().unwrap_or(0) == 0
    }
}

/// Results of calls: what call `j` returns is the object `key.part(j)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    pub key: Key,
    /// One result, as a template.
    pub result: Box<Node>,
}

/// A scalar that can be varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    pub key: Key,
    pub scalar: Scalar,
}

/// How a cell's bits read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scalar {
    Integer {
        bits: u32,
        signed: bool,
    },
    Bool,
    /// `char`, `signed char`, `unsigned char`: an integer people like to read as text.
    Char {
        signed: bool,
    },
    Enum {
        bits: u32,
        signed: bool,
        enumerators: Vec<(String, i128)>,
    },
    /// `float` (32 bits) or `double` (64), by its IEEE 754 bits.
    Float {
        bits: u32,
    },
}

impl Scalar {
    /// Width of the value in bits.
    pub fn bits(&self) -> u32 {
        match self {
            Self::Integer { bits, .. } | Self::Enum { bits, .. } | Self::Float { bits } => *bits,
            Self::Bool => 1,
            Self::Char { .. } => 8,
        }
    }

    /// Whether the top bit is a sign.
    pub fn signed(&self) -> bool {
        match self {
            Self::Integer { signed, .. } | Self::Enum { signed, .. } | Self::Char { signed } => *signed,
            Self::Bool | Self::Float { .. } => false,
        }
    }

    /// The number that these bits stand for; of a floating-point value, the bits themselves.
    pub fn number(&self, bits: u64) -> i128 {
        let width = self.bits();
        let value = if width >= 64 { bits } else { bits & ((1 << width) - 1) };
        if self.signed() && width <= 64 && value >> (width - 1) & 1 == 1 {
            i128::from(value) - (1i128 << width)
        } else {
            i128::from(value)
        }
    }
}

impl Sized {
    /// How many elements there are.
    pub fn n_elements(&self, input: &Input) -> u64 {
        let asked = input.values.get(&self.size).copied().unwrap_or(self.first);
        asked.clamp(self.least, self.most.max(LARGEST))
    }

    /// The elements that an input has.
    pub fn elements(&self, input: &Input) -> Vec<Node> {
        (0..self.n_elements(input)).map(|index| self.element(index)).collect()
    }

    /// The element with this index.
    pub fn element(&self, index: u64) -> Node {
        Node { name: format!("[{index}]"), ..self.element.instance(self.size.part(index)) }
    }
}

impl Union {
    /// The member that an input has.
    pub fn chosen(&self, input: &Input) -> Option<Node> {
        let choice = input.values.get(&self.choice).copied().unwrap_or(self.first);
        self.member(choice).or_else(|| self.member(self.first))
    }

    /// The member with this number.
    pub fn member(&self, number: u64) -> Option<Node> {
        let member = self.members.get(usize::try_from(number).ok()?)?;
        Some(member.instance(self.choice.part(number)))
    }
}

impl Function {
    /// What it points to.
    pub fn callee(&self, input: &Input) -> Option<&Callee> {
        let choice = input.values.get(&self.choice).copied().unwrap_or(self.first);
        self.options.get(usize::try_from(choice).ok()?.checked_sub(1)?)
    }
}

impl Results {
    /// The results that an input has, for the calls that were made.
    pub fn results(&self, input: &Input) -> Vec<Node> {
        let known =
            |node: &Node| matches!(&node.kind, Kind::Scalar(cell) if input.values.contains_key(&cell.key));
        (0..).map(|call| self.result(call)).take_while(known).collect()
    }

    /// What this call returns.
    pub fn result(&self, call: u64) -> Node {
        Node { name: format!("[{call}]"), ..self.result.instance(self.key.part(call)) }
    }
}

impl Shape {
    /// The numbers of the allocations that fail, from 1.
    pub fn failing(&self, input: &Input) -> Vec<u64> {
        self.allocations.as_ref().map(|allocations| allocations.failing(input)).unwrap_or_default()
    }

    /// All cells that every input has, with their paths (`p`, `s.x`, `v[2]`), in order.
    pub fn cells(&self) -> Vec<(String, &Cell)> {
        let mut cells = Vec::new();
        for root in &self.roots {
            root.collect(&root.name, &mut cells);
        }
        cells
    }
}

impl Node {
    /// The node as part of the object `base`: its cells, numbered from 0 here, get the keys of the object's parts.
    #[must_use]
    pub fn instance(&self, base: Key) -> Self {
        let all = |nodes: &[Self]| nodes.iter().map(|node| node.instance(base)).collect();
        let kind = match &self.kind {
            Kind::Scalar(cell) => {
                Kind::Scalar(Cell { key: base.part(cell.key.0), scalar: cell.scalar.clone() })
            }
            Kind::Array { elements, pointer } => Kind::Array { elements: all(elements), pointer: *pointer },
            Kind::Struct { members } => Kind::Struct { members: all(members) },
            Kind::Sized(sized) => {
                let counted_by = sized.counted_by.iter().map(|key| base.part(key.0)).collect();
                Kind::Sized(Sized { size: base.part(sized.size.0), counted_by, ..sized.clone() })
            }
            Kind::Pointer(pointer) => {
                let (choice, reach) = (base.part(pointer.choice.0), pointer.reach.instance(base));
                Kind::Pointer(Pointer { choice, reach, ..pointer.clone() })
            }
            Kind::Union(union) => Kind::Union(Union { choice: base.part(union.choice.0), ..union.clone() }),
            Kind::Function(function) => {
                Kind::Function(Function { choice: base.part(function.choice.0), ..function.clone() })
            }
            // streams belong to the whole run, never to an object
            Kind::Stream(_) => self.kind.clone(),
            Kind::Results(calls) => Kind::Results(Results { key: base.part(calls.key.0), ..calls.clone() }),
            Kind::Optional { present, to } => Kind::Optional {
                present: Cell { key: base.part(present.key.0), scalar: present.scalar.clone() },
                to: Box::new(to.instance(base)),
            },
            // sequences belong to the whole run, never to an object
            Kind::Sequence { .. } => self.kind.clone(),
            Kind::Unsupported { reason } => Kind::Unsupported { reason: reason.clone() },
        };
        Self { name: self.name.clone(), c_type: self.c_type.clone(), kind }
    }

    fn collect<'a>(&'a self, path: &str, cells: &mut Vec<(String, &'a Cell)>) {
        match &self.kind {
            Kind::Scalar(cell) => cells.push((path.to_owned(), cell)),
            Kind::Array { elements, .. } => {
                for element in elements {
                    element.collect(&format!("{path}{}", element.name), cells);
                }
            }
            Kind::Struct { members } => {
                for member in members {
                    member.collect(&format!("{path}.{}", member.name), cells);
                }
            }
            Kind::Sized(_)
            | Kind::Pointer(_)
            | Kind::Union(_)
            | Kind::Function(_)
            | Kind::Results(_)
            | Kind::Stream(_)
            | Kind::Sequence { .. }
            | Kind::Optional { .. }
            | Kind::Unsupported { .. } => {}
        }
    }

    /// How C names it as a member of `path`: a member without a name adds nothing.
    pub fn joined(&self, path: &str, arrow: &str) -> String {
        if self.is_anonymous() { path.to_owned() } else { format!("{path}{arrow}{}", self.name) }
    }

    /// Whether C has no name for it; the name here is for people.
    pub fn is_anonymous(&self) -> bool {
        self.name.starts_with('(')
    }
}

/// Values for cells, zero-extended to 64 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Input {
    pub values: BTreeMap<Key, u64>,
}
