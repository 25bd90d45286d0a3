//! Expression nodes as the runtime writes them: sixteen bytes each, operands before users.

use std::fmt;

use crate::float::{FloatOp, FloatUnary};

/// Bytes per node.
pub const NODE_SIZE: usize = 16;

/// Number of a node in the arena; ids run from 1, 0 means "concrete".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// Second-class operand: another node or a constant of the other operand's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Another node.
    Node(NodeId),
    /// A constant.
    Constant(u64),
}

/// What a two-operand node computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeOp {
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
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
}

impl NodeOp {
    /// Whether the result is a truth value of width 1 whatever the operands' width.
    pub fn is_compare(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Ult | Self::Ule | Self::Slt | Self::Sle)
    }
}

/// A decoded node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A constant.
    Constant { width: u8, value: u64 },
    /// The cell with this index in the run's cell table.
    Input { width: u8, cell: u32 },
    /// Two operands, at most one of them a constant.
    Binary { op: NodeOp, width: u8, a: Operand, b: Operand },
    /// Bitwise complement.
    Not { width: u8, a: NodeId },
    /// Extension with zeros.
    Zext { width: u8, a: NodeId },
    /// Extension with the sign.
    Sext { width: u8, a: NodeId },
    /// `width` bits of `a` from bit `low` on.
    Extract { width: u8, a: NodeId, low: u16 },
    /// `high` above `low`.
    Concat { width: u8, high: NodeId, low: NodeId },
    /// Choice by a node of width 1.
    Ite { width: u8, condition: NodeId, then: NodeId, otherwise: NodeId },
    /// Floating-point arithmetic on one operand.
    FloatUnary { op: FloatUnary, width: u8, a: NodeId },
    /// Floating-point arithmetic on two operands, at most one of them a constant.
    FloatBinary { op: FloatOp, width: u8, a: Operand, b: Operand },
    /// `a * b + c`, rounded once.
    FloatFused { width: u8, a: NodeId, b: NodeId, c: NodeId },
    /// What a function nobody looks into returned for these arguments; `value` is a constant.
    Opaque { width: u8, a: NodeId, b: Option<NodeId>, value: NodeId },
    /// One of the `n` nodes from `first` on: see [`row_of`].
    Table { width: u8, index: NodeId, first: NodeId, n: u32 },
    /// Another node, as an entry of a table.
    Same { width: u8, a: NodeId },
}

impl Node {
    /// Whether it is floating-point arithmetic.
    pub fn is_float(&self) -> bool {
        matches!(self, Self::FloatUnary { .. } | Self::FloatBinary { .. } | Self::FloatFused { .. })
    }
}

/// Which of a table's `n` rows an index chooses: by as many of its low bits as are needed to count the rows; beyond the
/// last row the last one.
pub fn row_of(index: u64, n: u32) -> u32 {
    let mask = u64::from(n.max(1)).next_power_of_two() - 1;
    u32::try_from(index & mask).unwrap_or(u32::MAX).min(n.saturating_sub(1))
}

/// Bytes that are no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeError {
    /// The operation byte found.
    pub op: u8,
    /// The width byte found.
    pub width: u8,
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no expression node has operation {} and width {}", self.op, self.width)
    }
}

impl std::error::Error for NodeError {}

const AUX_IMMEDIATE: u16 = 1;
const AUX_SWAP: u16 = 2;

const BINARY: [NodeOp; 19] = [
    NodeOp::Add,
    NodeOp::Sub,
    NodeOp::Mul,
    NodeOp::Udiv,
    NodeOp::Sdiv,
    NodeOp::Urem,
    NodeOp::Srem,
    NodeOp::And,
    NodeOp::Or,
    NodeOp::Xor,
    NodeOp::Shl,
    NodeOp::Lshr,
    NodeOp::Ashr,
    NodeOp::Eq,
    NodeOp::Ne,
    NodeOp::Ult,
    NodeOp::Ule,
    NodeOp::Slt,
    NodeOp::Sle,
];
const FIRST_BINARY: u8 = 3;

impl Node {
    /// Decodes sixteen bytes.
    pub fn decode(bytes: &[u8; NODE_SIZE]) -> Result<Self, NodeError> {
        let [op, width, ..] = *bytes;
        let aux = u16::from_le_bytes([bytes[2], bytes[3]]);
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (a, b, c) = (NodeId(word(4)), NodeId(word(8)), NodeId(word(12)));
        let imm = u64::from(b.0) | u64::from(c.0) << 32;
        let error = NodeError { op, width };
        if width == 0 || width > 64 {
            return Err(error);
        }
        Ok(match op {
            1 => Self::Constant { width, value: imm },
            2 => Self::Input { width, cell: a.0 },
            22 => Self::Not { width, a },
            23 => Self::Zext { width, a },
            24 => Self::Sext { width, a },
            25 => Self::Extract { width, a, low: aux },
            26 => Self::Concat { width, high: a, low: b },
            27 => Self::Ite { width, condition: a, then: b, otherwise: c },
            79 => Self::FloatFused { width, a, b, c },
            80 => Self::Opaque { width, a, b: (b.0 != 0).then_some(b), value: c },
            60 if c.0 > 0 => Self::Table { width, index: a, first: b, n: c.0 },
            61 => Self::Same { width, a },
            _ => {
                if let Some(op) = FloatUnary::decode(op, aux) {
                    return Ok(Self::FloatUnary { op, width, a });
                }
                let second = if aux & AUX_IMMEDIATE != 0 { Operand::Constant(imm) } else { Operand::Node(b) };
                let (a, b) =
                    if aux & AUX_SWAP != 0 { (second, Operand::Node(a)) } else { (Operand::Node(a), second) };
                if let Some(op) = FloatOp::decode(op) {
                    return Ok(Self::FloatBinary { op, width, a, b });
                }
                let op =
                    *op.checked_sub(FIRST_BINARY).and_then(|k| BINARY.get(usize::from(k))).ok_or(error)?;
                Self::Binary { op, width, a, b }
            }
        })
    }

    /// Width of the result in bits.
    pub fn width(&self) -> u8 {
        match *self {
            Self::Constant { width, .. }
            | Self::Input { width, .. }
            | Self::Binary { width, .. }
            | Self::Not { width, .. }
            | Self::Zext { width, .. }
            | Self::Sext { width, .. }
            | Self::Extract { width, .. }
            | Self::Concat { width, .. }
            | Self::Ite { width, .. }
            | Self::FloatUnary { width, .. }
            | Self::FloatBinary { width, .. }
            | Self::FloatFused { width, .. }
            | Self::Opaque { width, .. }
            | Self::Table { width, .. }
            | Self::Same { width, .. } => width,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(op: u8, width: u8, aux: u16, a: u32, imm: u64) -> [u8; NODE_SIZE] {
        let mut bytes = [0; NODE_SIZE];
        bytes[0] = op;
        bytes[1] = width;
        bytes[2..4].copy_from_slice(&aux.to_le_bytes());
        bytes[4..8].copy_from_slice(&a.to_le_bytes());
        bytes[8..].copy_from_slice(&imm.to_le_bytes());
        bytes
    }

    #[test]
    fn swapped_immediate_is_the_first_operand() {
        let node = Node::decode(&bytes(4, 32, 3, 7, 5)).expect("valid");
        let b = Operand::Node(NodeId(7));
        assert_eq!(node, Node::Binary { op: NodeOp::Sub, width: 32, a: Operand::Constant(5), b });
    }

    #[test]
    fn an_index_beyond_a_table_chooses_its_last_row() {
        assert_eq!([0, 4, 5, 7, 8, 12].map(|index| row_of(index, 5)), [0, 4, 4, 4, 0, 4]);
        assert_eq!([0, 1, 2].map(|index| row_of(index, 1)), [0; 3]);
        assert_eq!(row_of(u64::MAX, u32::MAX), u32::MAX - 1);
    }

    #[test]
    fn unknown_operation_and_width_are_refused() {
        assert_eq!(Node::decode(&bytes(99, 8, 0, 0, 0)), Err(NodeError { op: 99, width: 8 }));
        assert_eq!(Node::decode(&bytes(3, 65, 0, 0, 0)), Err(NodeError { op: 3, width: 65 }));
    }
}
