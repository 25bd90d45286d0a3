//! What a term is: a node of a shared, acyclic graph, named by its index in a [`TermStore`].

pub mod float;
pub(crate) mod hash;
mod store;
pub mod value;
mod var_set;

use std::fmt;

pub use float::{FloatBinaryOp, FloatUnaryOp, Format, Rounding};
pub use store::{StoreId, TermStore};
pub use value::Value;
pub(crate) use var_set::VarSet;
pub use var_set::Vars;

/// The widest bit-vector.
pub const MAX_WIDTH: u32 = 128;

/// A term of one [`TermStore`]; equal terms are the same term. Prints as `t12`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

/// A variable of one [`TermStore`]. Prints as `v3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(u32);

/// One node of the graph. Operands are older than the node itself, so ids are a topological order.
///
/// Subtraction, `!=`, `>` and `>=` have no nodes: their constructors express them by the operators here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    /// A known value.
    Constant(Value),
    /// An unknown of the query.
    Variable(Var),
    /// `not` or `neg`.
    Unary(UnaryOp, Term),
    /// An operator with two operands.
    Binary(BinaryOp, Term, Term),
    /// Bits `high` down to `low`, both included.
    Extract {
        /// Where the bits come from.
        operand: Term,
        /// The highest bit taken.
        high: u32,
        /// The lowest bit taken.
        low: u32,
    },
    /// The operand made strictly wider.
    Extend {
        /// What the new bits are.
        extension: Extension,
        /// What is extended.
        operand: Term,
        /// The new width.
        width: u32,
    },
    /// `then` where the condition (of width 1) is 1, `otherwise` where it is 0.
    Ite {
        /// Selects the branch.
        condition: Term,
        /// Value for 1.
        then: Term,
        /// Value for 0.
        otherwise: Term,
    },
    /// Floating-point arithmetic on the bits of numbers, with one operand.
    FloatUnary(FloatUnaryOp, Term),
    /// Floating-point arithmetic on the bits of two numbers.
    FloatBinary(FloatBinaryOp, Term, Term),
    /// The product of the first two numbers plus the third, rounded once.
    FloatFused(Term, Term, Term),
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Bitwise complement.
    Not,
    /// Two's complement negation.
    Neg,
}

/// Operators with two operands, with SMT-LIB's meaning for division by zero and shifts beyond the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of SMT-LIB's operators")]
pub enum BinaryOp {
    Add,
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
    Concat,
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
}

/// What an extension fills the new bits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extension {
    /// Zeros.
    Zero,
    /// Copies of the sign bit.
    Sign,
}

impl Term {
    /// Position in the store: operands come before the terms built from them.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn from_index(index: usize) -> Term {
        Term(u32::try_from(index).expect("a store holds fewer than 2^32 terms"))
    }
}

impl Var {
    /// Position among the variables of the store, in order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn from_index(index: usize) -> Var {
        Var(u32::try_from(index).expect("a store holds fewer than 2^32 variables"))
    }
}

impl Node {
    /// Calls `visit` for each operand, left to right.
    pub fn for_each_operand(&self, mut visit: impl FnMut(Term)) {
        match *self {
            Node::Constant(_) | Node::Variable(_) => {}
            Node::Unary(_, operand)
            | Node::Extract { operand, .. }
            | Node::Extend { operand, .. }
            | Node::FloatUnary(_, operand) => visit(operand),
            Node::Binary(_, left, right) | Node::FloatBinary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Node::Ite { condition: a, then: b, otherwise: c } | Node::FloatFused(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
        }
    }
}

impl BinaryOp {
    /// Whether the operands may change places.
    pub fn is_commutative(self) -> bool {
        match self {
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Eq => {
                true
            }
            BinaryOp::Udiv
            | BinaryOp::Sdiv
            | BinaryOp::Urem
            | BinaryOp::Srem
            | BinaryOp::Shl
            | BinaryOp::Lshr
            | BinaryOp::Ashr
            | BinaryOp::Concat
            | BinaryOp::Ult
            | BinaryOp::Ule
            | BinaryOp::Slt
            | BinaryOp::Sle => false,
        }
    }

    /// Whether the result is a truth value of width 1.
    pub fn is_predicate(self) -> bool {
        matches!(self, BinaryOp::Eq | BinaryOp::Ult | BinaryOp::Ule | BinaryOp::Slt | BinaryOp::Sle)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "t{}", self.0)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for Var {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v{}", self.0)
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
