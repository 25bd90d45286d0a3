//! Instructions: static single assignment over typed values, as in unoptimised code.

use crate::{BlockId, ConditionId, FunctionId, GlobalId, InstrId, RecordId, SpanId, SwitchId};

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Void,
    /// Bits, at most 128.
    Int(u32),
    Ptr,
    Float(FloatKind),
    /// A structure held in a register.
    Record(RecordId),
    /// A value the model has no type for (vectors, wide integers); only opaque instructions make and take it.
    Opaque,
}

/// Floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    Half,
    Single,
    Double,
    X87,
    Quad,
}

impl FloatKind {
    /// Width of the format in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Half => 16,
            Self::Single => 32,
            Self::Double => 64,
            Self::X87 => 80,
            Self::Quad => 128,
        }
    }

    /// Bytes that a store writes.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits() / 8)
    }
}

/// What an instruction takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// The result of an instruction of the same function.
    Result(InstrId),
    /// The parameter with this number.
    Parameter(u32),
    /// An integer constant, zero-extended.
    Int {
        bits: u32,
        value: u128,
    },
    /// A floating-point constant by its bits (X87 in the low 80).
    Float {
        kind: FloatKind,
        bits: u128,
    },
    Null,
    /// The address of a global, moved by bytes.
    Global {
        global: GlobalId,
        offset: i64,
    },
    /// The address of a function.
    Function(FunctionId),
    /// No particular value; reads as zero.
    Undefined(Type),
}

impl Operand {
    /// The integer constant that it is, when 64 bits hold it.
    pub fn constant(self) -> Option<u64> {
        if let Self::Int { value, .. } = self { u64::try_from(value).ok() } else { None }
    }
}

/// One instruction; its [`InstrId`] names its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Instr {
    pub op: Op,
    /// Type of the result.
    pub ty: Type,
    pub span: Option<SpanId>,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Stack memory for `count` elements of `size` bytes.
    Alloca {
        size: u64,
        align: u32,
        count: Operand,
    },
    Load {
        address: Operand,
        /// What it gives may change from outside of the program.
        volatile: bool,
    },
    Store {
        address: Operand,
        value: Operand,
        value_type: Type,
    },
    Binary(BinaryOp, Operand, Operand),
    /// Operands of the type given: an integer or a pointer.
    Compare(Predicate, Type, Operand, Operand),
    FloatBinary(FloatBinaryOp, Operand, Operand),
    FloatNegate(Operand),
    FloatCompare(FloatPredicate, FloatKind, Operand, Operand),
    /// From the type given to the instruction's own.
    Cast(CastOp, Type, Operand),
    /// `base + offset + Σ index · scale`, in bytes; an index has the type given and is sign-extended.
    Address {
        base: Operand,
        offset: i64,
        indices: Vec<(Type, Operand, i64)>,
    },
    Select {
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    },
    Phi(Vec<(BlockId, Operand)>),
    Call {
        callee: Callee,
        arguments: Vec<(Type, Operand)>,
    },
    /// A condition's value passes here.
    Mark {
        condition: ConditionId,
        value: Operand,
    },
    /// One leaf of a record.
    Extract {
        record: Operand,
        record_type: RecordId,
        leaf: u32,
    },
    /// A record with one leaf replaced.
    Insert {
        record: Operand,
        leaf: u32,
        value: Operand,
        value_type: Type,
    },
    Memory {
        op: MemoryOp,
        to: Operand,
        from: Operand,
        length: Operand,
    },
    Freeze(Operand),
    /// Start of variable arguments into the list at this address, copy, or end; the interpreter does not run them.
    VaStart(Operand),
    VaCopy {
        to: Operand,
        from: Operand,
    },
    VaEnd(Operand),
    /// What the model does not describe: its name and operands, so that data flow can be kept conservative.
    Opaque {
        what: String,
        operands: Vec<Operand>,
    },
}

/// Who is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Callee {
    Direct(FunctionId),
    Indirect(Operand),
}

/// Copying or filling memory. `from` is the byte to fill with for `Set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOp {
    Copy,
    Move,
    Set,
}

/// Integer operations, with wrapping arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Udiv,
    Sdiv,
    Urem,
    Srem,
    And,
    Or,
    Xor,
    Shl,
    Lshr,
    Ashr,
}

/// Integer comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predicate {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

/// Floating-point operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatBinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// Floating-point comparisons: ordered ones are false on NaN, unordered ones true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatPredicate {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Uno,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    True,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOp {
    Trunc,
    Zext,
    Sext,
    PtrToInt,
    IntToPtr,
    Bitcast,
    FloatTrunc,
    FloatExtend,
    FloatToUnsigned,
    FloatToSigned,
    UnsignedToFloat,
    SignedToFloat,
}

/// A basic block: instructions in order (ids are not necessarily consecutive), then one terminator.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub instrs: Vec<InstrId>,
    pub terminator: Terminator,
    pub span: Option<SpanId>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    Jump(BlockId),
    Branch {
        condition: Operand,
        then: BlockId,
        otherwise: BlockId,
        /// The mark of the same block that fixes the outcome; such a branch logs nothing itself.
        decided: Option<Decided>,
        /// Set when the branch tests a large `case low ... high` range of a switch.
        range: Option<RangeTest>,
    },
    Switch {
        value: Operand,
        bits: u32,
        /// In the order that the path log's case index counts.
        cases: Vec<SwitchCase>,
        default: BlockId,
        source: Option<SwitchId>,
    },
    /// Computed goto.
    IndirectJump {
        address: Operand,
        targets: Vec<BlockId>,
    },
    Return(Option<Operand>),
    Unreachable,
}

/// A branch follows the mark of this condition, or its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    pub condition: ConditionId,
    pub negated: bool,
}

/// A branch that leads to the label with this index when taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeTest {
    pub switch: SwitchId,
    pub label: u32,
}

/// One value of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCase {
    pub value: u128,
    pub target: BlockId,
}

impl Terminator {
    /// The blocks control may go to next, in order; a block may come twice.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Self::Jump(to) => vec![*to],
            Self::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Self::Switch { cases, default, .. } => {
                cases.iter().map(|case| case.target).chain([*default]).collect()
            }
            Self::IndirectJump { targets, .. } => targets.clone(),
            Self::Return(_) | Self::Unreachable => Vec::new(),
        }
    }

    /// The value it takes, if any.
    pub fn operand(&self) -> Option<Operand> {
        match self {
            Self::Jump(_) | Self::Unreachable => None,
            Self::Branch { condition: value, .. }
            | Self::Switch { value, .. }
            | Self::IndirectJump { address: value, .. } => Some(*value),
            Self::Return(value) => *value,
        }
    }
}

impl Op {
    /// Everything the instruction takes, in order.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Self::Alloca { count: a, .. }
            | Self::Load { address: a, .. }
            | Self::FloatNegate(a)
            | Self::Cast(_, _, a)
            | Self::Mark { value: a, .. }
            | Self::Extract { record: a, .. }
            | Self::Freeze(a)
            | Self::VaStart(a)
            | Self::VaEnd(a) => vec![*a],
            Self::Store { address: a, value: b, .. }
            | Self::Binary(_, a, b)
            | Self::Compare(_, _, a, b)
            | Self::FloatBinary(_, a, b)
            | Self::FloatCompare(_, _, a, b)
            | Self::Insert { record: a, value: b, .. }
            | Self::VaCopy { to: a, from: b } => vec![*a, *b],
            Self::Select { condition: a, then: b, otherwise: c }
            | Self::Memory { to: a, from: b, length: c, .. } => vec![*a, *b, *c],
            Self::Address { base, indices, .. } => {
                std::iter::once(*base).chain(indices.iter().map(|(_, index, _)| *index)).collect()
            }
            Self::Phi(edges) => edges.iter().map(|(_, value)| *value).collect(),
            Self::Call { callee, arguments } => {
                let callee = match callee {
                    Callee::Direct(_) => None,
                    Callee::Indirect(address) => Some(*address),
                };
                callee.into_iter().chain(arguments.iter().map(|(_, argument)| *argument)).collect()
            }
            Self::Opaque { operands, .. } => operands.clone(),
        }
    }
}
