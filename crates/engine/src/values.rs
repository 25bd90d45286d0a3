//! Values of all nodes of an execution, by one pass in 64-bit arithmetic.

mod float;

use wire::{Node, NodeId, NodeOp, Operand, row_of};

use crate::terms::{Expressions, TermError};
pub(crate) use float::ulps_between;

pub(crate) struct Values {
    /// Width and value by node; node 0 is a filler.
    values: Vec<(u8, u64)>,
}

impl Values {
    pub(crate) fn of(expressions: &Expressions<'_>) -> Result<Self, TermError> {
        let n_nodes = expressions.nodes.len();
        let mut values = Self { values: Vec::with_capacity(n_nodes + 1) };
        values.values.push((0, 0));
        for id in (1..=n_nodes).filter_map(|id| u32::try_from(id).ok()).map(NodeId) {
            let node = expressions.node(id)?;
            let value = values.evaluate(expressions, id, &node)?;
            values.values.push((node.width(), value & mask(node.width())));
        }
        Ok(values)
    }

    pub(crate) fn get(&self, id: NodeId) -> Result<u64, TermError> {
        self.values
            .get(id.0 as usize)
            .filter(|_| id.0 > 0)
            .map(|(_, value)| *value)
            .ok_or(TermError::NoNode(id))
    }

    /// Operands are older, so they are there.
    fn at(&self, id: NodeId) -> (u8, u64) {
        self.values[id.0 as usize]
    }

    fn evaluate(&self, expressions: &Expressions<'_>, id: NodeId, node: &Node) -> Result<u64, TermError> {
        Ok(match *node {
            Node::Constant { value, .. } => value,
            Node::Input { cell, .. } => {
                expressions.cells.get(cell as usize).ok_or(TermError::NoCell(id))?.value
            }
            Node::Binary { op, a, b, .. } => {
                let (width, a, b) = self.pair(a, b).ok_or(TermError::Width(id))?;
                binary(op, width, a, b)
            }
            Node::Not { a, .. } => !self.at(a).1,
            Node::Zext { a, .. } => self.at(a).1,
            Node::Sext { a, .. } => {
                let (width, value) = self.at(a);
                signed(width, value).cast_unsigned()
            }
            Node::Extract { a, low, .. } => self.at(a).1.checked_shr(u32::from(low)).unwrap_or(0),
            Node::Concat { high, low, .. } => {
                let (low_width, low) = self.at(low);
                self.at(high).1.checked_shl(u32::from(low_width)).unwrap_or(0) | low
            }
            Node::Ite { condition, then, otherwise, .. } => {
                self.at(if self.at(condition).1 != 0 { then } else { otherwise }).1
            }
            Node::FloatUnary { op, width, a } => float::unary(op, width, self.at(a)),
            Node::FloatBinary { op, a, b, .. } => {
                let (width, a, b) = self.pair(a, b).ok_or(TermError::Width(id))?;
                float::binary(op, width, a, b)
            }
            Node::FloatFused { width, a, b, c } => float::fused(width, [a, b, c].map(|id| self.at(id).1)),
            Node::Opaque { value, .. } => self.at(value).1,
            Node::Table { index, first, n, .. } => self.at(NodeId(first.0 + row_of(self.at(index).1, n))).1,
            Node::Same { a, .. } => self.at(a).1,
        })
    }

    /// Width and values of two operands, at least one of them a node.
    fn pair(&self, a: Operand, b: Operand) -> Option<(u8, u64, u64)> {
        let width = [a, b].into_iter().find_map(|operand| match operand {
            Operand::Node(operand) => Some(self.at(operand).0),
            Operand::Constant(_) => None,
        })?;
        let [a, b] = [a, b].map(|operand| match operand {
            Operand::Node(operand) => self.at(operand).1,
            Operand::Constant(value) => value & mask(width),
        });
        Some((width, a, b))
    }
}

pub(crate) fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

pub(crate) fn signed(width: u8, value: u64) -> i64 {
    let unused = 64 - u32::from(width.clamp(1, 64));
    (value << unused).cast_signed() >> unused
}

/// What the machine computes; where it computes nothing (division by 0, shifts too far), SMT-LIB's convention.
fn binary(op: NodeOp, width: u8, a: u64, b: u64) -> u64 {
    let (signed_a, signed_b) = (signed(width, a), signed(width, b));
    let too_far = b >= u64::from(width);
    match op {
        NodeOp::Add => a.wrapping_add(b),
        NodeOp::Sub => a.wrapping_sub(b),
        NodeOp::Mul => a.wrapping_mul(b),
        NodeOp::Udiv => a.checked_div(b).unwrap_or(u64::MAX),
        NodeOp::Urem => a.checked_rem(b).unwrap_or(a),
        NodeOp::Sdiv if b == 0 => {
            if signed_a < 0 {
                1
            } else {
                u64::MAX
            }
        }
        NodeOp::Sdiv => signed_a.wrapping_div(signed_b).cast_unsigned(),
        NodeOp::Srem if b == 0 => a,
        NodeOp::Srem => signed_a.wrapping_rem(signed_b).cast_unsigned(),
        NodeOp::And => a & b,
        NodeOp::Or => a | b,
        NodeOp::Xor => a ^ b,
        NodeOp::Shl => {
            if too_far {
                0
            } else {
                a << b
            }
        }
        NodeOp::Lshr => {
            if too_far {
                0
            } else {
                a >> b
            }
        }
        NodeOp::Ashr => (signed_a >> b.min(63)).cast_unsigned(),
        NodeOp::Eq => u64::from(a == b),
        NodeOp::Ne => u64::from(a != b),
        NodeOp::Ult => u64::from(a < b),
        NodeOp::Ule => u64::from(a <= b),
        NodeOp::Slt => u64::from(signed_a < signed_b),
        NodeOp::Sle => u64::from(signed_a <= signed_b),
    }
}
