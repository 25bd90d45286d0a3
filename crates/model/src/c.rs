//! What the C source says beyond the code: decisions, conditions, switches, statements, variables.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{BlockId, ConditionId, DecisionId, FunctionId, GlobalId, InstrId, SpanId};

/// A boolean expression that is no operand of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub function: FunctionId,
    pub span: SpanId,
    pub kind: DecisionKind,
    /// How its conditions combine.
    pub shape: Shape,
    /// The source text, as the source spells it, on one line.
    pub text: String,
}

/// Where a decision stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DecisionKind {
    If,
    While,
    DoWhile,
    For,
    /// The condition of `?:`.
    Ternary,
    /// Its value is used: assigned, passed, returned, an index, an operand of arithmetic.
    Value,
    /// No expression of the source: how near the two sides of a comparison are, noted beside it where boundaries are goals.
    Boundary,
}

impl DecisionKind {
    /// Whether the source has the expression.
    pub fn is_of_source(self) -> bool {
        self != Self::Boundary
    }

    /// Whether the outcome decides where control goes next.
    pub fn controls_flow(self) -> bool {
        match self {
            Self::If | Self::While | Self::DoWhile | Self::For | Self::Ternary => true,
            Self::Value | Self::Boundary => false,
        }
    }
}

/// The tree of a decision over its conditions, in order of evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// A condition with a mark.
    Leaf(ConditionId),
    /// A constant operand, which has no mark and no goals.
    Constant(bool),
    Not(Box<Shape>),
    And(Box<Shape>, Box<Shape>),
    Or(Box<Shape>, Box<Shape>),
    /// `c ? a : b` with boolean arms.
    Ternary(Box<Shape>, Box<Shape>, Box<Shape>),
    /// Boolean `==` of two conditions or decisions; both sides are always evaluated.
    Equal(Box<Shape>, Box<Shape>),
    /// Boolean `!=` or `^`.
    Differ(Box<Shape>, Box<Shape>),
}

/// An atomic leaf of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    pub decision: DecisionId,
    pub span: SpanId,
    /// The source text, as the source spells it, on one line.
    pub text: String,
}

/// A `switch` statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub function: FunctionId,
    pub span: SpanId,
    pub text: String,
    /// The labels in source order; when none is `Default`, the default is implicit.
    pub labels: Vec<Label>,
}

/// A `case` or `default` label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    pub span: SpanId,
    pub values: LabelValues,
    /// The values as the source spells them; empty where it has none.
    pub text: String,
}

/// What a label matches, as bits of the switch operand's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabelValues {
    /// `case low ... high`; `low == high` for an ordinary case. Signed order is that of the operand's type.
    Range {
        low: i128,
        high: i128,
    },
    Default,
}

/// An executable source statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub function: FunctionId,
    pub kind: StatementKind,
    pub span: SpanId,
    /// The block and the first instruction position in it that belongs to the statement; `None` when the compiler made no
    /// code for it (it cannot be reached).
    pub code: Option<(BlockId, u32)>,
    /// The source text, as the source spells it, on one line; of `if`, loops and `switch` the head alone.
    pub text: String,
}

/// What kind of statement, as far as a criterion asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatementKind {
    /// `return`: a way out of the function.
    Return,
    Other,
}

/// A variable of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub kind: VariableKind,
    pub span: SpanId,
    pub storage: Storage,
    pub layout: Layout,
}

/// What a variable or a part of one is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One piece: a scalar, a union, or something of unknown making.
    #[default]
    Whole,
    /// In the order of their offsets; what lies between them is padding.
    Structure(Vec<Member>),
    Array {
        length: u64,
        /// Bytes of an element.
        stride: u64,
        element: Box<Layout>,
    },
}

/// A member of a structure; bit-fields next to each other are one, because code cannot touch one without the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Empty for a member without a name, whose own members are spoken of instead.
    pub name: String,
    /// Bytes from the start of the structure.
    pub offset: u64,
    pub size: u64,
    pub layout: Layout,
}

/// What kind of variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    Local,
    /// The parameter with this number, from 0.
    Parameter(u32),
    Global,
    /// Local to a function or file, with static storage.
    Static,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The `alloca` of a function.
    Stack(FunctionId, InstrId),
    Global(GlobalId),
}

impl Shape {
    /// Whether no condition can change the outcome because there is none.
    pub fn is_constant(&self) -> bool {
        self.conditions().is_empty()
    }

    /// The conditions in order of evaluation.
    pub fn conditions(&self) -> Vec<ConditionId> {
        match self {
            Self::Leaf(condition) => vec![*condition],
            Self::Constant(_) => Vec::new(),
            Self::Not(inner) => inner.conditions(),
            Self::And(a, b) | Self::Or(a, b) | Self::Equal(a, b) | Self::Differ(a, b) => {
                [a.conditions(), b.conditions()].concat()
            }
            Self::Ternary(a, b, c) => [a.conditions(), b.conditions(), c.conditions()].concat(),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.values {
            LabelValues::Range { .. } if !self.text.is_empty() => write!(f, "case {}", self.text),
            LabelValues::Range { .. } | LabelValues::Default => self.values.fmt(f),
        }
    }
}

impl fmt::Display for LabelValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range { low, high } if low == high => write!(f, "case {low}"),
            Self::Range { low, high } => write!(f, "case {low} ... {high}"),
            Self::Default => f.write_str("default"),
        }
    }
}
