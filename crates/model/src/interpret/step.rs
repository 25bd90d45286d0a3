//! What a function is prepared to: steps over frame slots.

use super::library::Native;
use crate::{
    BinaryOp, BlockId, CastOp, ConditionId, FloatBinaryOp, FloatKind, FloatPredicate, FunctionId, InstrId,
    MemoryOp, Predicate, Type,
};

/// Where a step takes a value from; a record takes consecutive places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A slot of the frame.
    Slot(u32),
    /// A constant of the function.
    Constant(u32),
}

impl Source {
    /// The place this many after it.
    #[inline]
    pub(super) fn plus(self, distance: u32) -> Self {
        match self {
            Self::Slot(first) => Self::Slot(first + distance),
            Self::Constant(first) => Self::Constant(first + distance),
        }
    }
}

/// A prepared function.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) steps: Vec<Step>,
    /// The block and instruction of each step.
    pub(super) origins: Vec<(BlockId, Option<InstrId>)>,
    pub(super) constants: Vec<u128>,
    pub(super) edges: Vec<Edge>,
    pub(super) parameters: Vec<Slots>,
    pub(super) n_slots: u32,
    /// Slots of the value it returns.
    pub(super) n_results: u32,
}

/// Places of a value in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    pub(super) first: u32,
    pub(super) count: u32,
    /// Bits that a scalar may have set.
    pub(super) mask: u128,
}

/// A way into a block.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) block: BlockId,
    /// Index of its first step.
    pub(super) step: usize,
    /// What phis take on this way: destination slot and source, all at once.
    pub(super) moves: Vec<(u32, Source)>,
}

/// Index of an edge in [`Code::edges`].
pub(super) type EdgeIndex = u32;

/// One instruction or terminator, ready to run.
#[derive(Debug)]
pub(super) enum Step {
    Load {
        to: u32,
        address: Source,
        bytes: u8,
        mask: u64,
    },
    Store {
        address: Source,
        value: Source,
        bytes: u8,
    },
    Binary {
        op: BinaryOp,
        bits: u8,
        to: u32,
        left: Source,
        right: Source,
    },
    Compare {
        predicate: Predicate,
        bits: u8,
        to: u32,
        left: Source,
        right: Source,
    },
    /// Keeps the bits of the mask: truncation, and conversions that change no bit.
    Mask {
        to: u32,
        value: Source,
        mask: u128,
    },
    SignExtend {
        to: u32,
        value: Source,
        from_bits: u8,
        mask: u128,
    },
    Offset {
        to: u32,
        base: Source,
        offset: i64,
    },
    Index {
        to: u32,
        base: Source,
        offset: i64,
        index: Source,
        bits: u8,
        scale: i64,
    },
    Mark {
        to: u32,
        condition: ConditionId,
        value: Source,
    },
    Call(Box<Call>),
    Jump(EdgeIndex),
    Branch {
        condition: Source,
        then: EdgeIndex,
        otherwise: EdgeIndex,
        decided: bool,
    },
    Switch(Box<Switch>),
    Return(Option<Source>),
    Rare(Box<Rare>),
}

/// Steps that are rarer or take longer; apart, so that the frequent ones stay small.
#[derive(Debug)]
pub(super) enum Rare {
    Alloca {
        to: u32,
        size: u64,
        align: u32,
        count: Source,
    },
    LoadWide {
        to: u32,
        address: Source,
        bytes: u8,
        mask: u128,
    },
    /// Leaves as offset and number of bytes, to consecutive slots.
    LoadRecord {
        to: u32,
        address: Source,
        size: u64,
        leaves: Vec<(u64, u8)>,
    },
    StoreRecord {
        address: Source,
        value: Source,
        size: u64,
        leaves: Vec<(u64, u8)>,
    },
    FloatBinary {
        op: FloatBinaryOp,
        kind: FloatKind,
        to: u32,
        left: Source,
        right: Source,
    },
    FloatNegate {
        kind: FloatKind,
        to: u32,
        value: Source,
    },
    FloatCompare {
        predicate: FloatPredicate,
        kind: FloatKind,
        to: u32,
        left: Source,
        right: Source,
    },
    FloatCast {
        op: CastOp,
        from: Type,
        into: Type,
        to: u32,
        value: Source,
    },
    /// Indices as width, source and scale.
    IndexMany {
        to: u32,
        base: Source,
        offset: i64,
        indices: Vec<(u8, Source, i64)>,
    },
    Select {
        to: u32,
        condition: Source,
        then: Source,
        otherwise: Source,
        count: u32,
    },
    Copy {
        to: u32,
        from: Source,
        count: u32,
    },
    Insert {
        to: u32,
        record: Source,
        count: u32,
        leaf: u32,
        value: Source,
    },
    Memory {
        op: MemoryOp,
        to: Source,
        from: Source,
        length: Source,
    },
    Unsupported(String),
    Unreachable,
}

/// A call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) callee: Callee,
    pub(super) arguments: Vec<(Type, Source)>,
    pub(super) result: Slots,
}

/// Who is called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Callee {
    Known(Target),
    Address(Source),
}

/// What is behind a function id.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Code(FunctionId),
    Native(Native),
    /// Declared, and not in the library of the interpreter.
    Missing(FunctionId),
}

/// A switch with its cases sorted by value.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) value: Source,
    /// Value, position in the program's list, edge.
    pub(super) cases: Vec<(u128, usize, EdgeIndex)>,
    pub(super) default: EdgeIndex,
}
