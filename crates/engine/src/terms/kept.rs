//! The expressions of an execution, kept when its memory is needed for the next one.
//!
//! They are kept as the runtime wrote them: copying them takes a small part of the time of the execution, and terms are made
//! of them only if and when a query needs them. What the path does not depend on is left out where it lies behind the rest.

use wire::NodeId;

use super::Expressions;
use crate::executor::{Cells, Nodes};

/// A copy of the expressions of one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptExpressions {
    nodes: Box<[u8]>,
    cells: Box<[u8]>,
}

impl KeptExpressions {
    /// Copies the nodes up to the newest one that is needed, whose operands are all older.
    pub fn copy(expressions: &Expressions<'_>, newest: NodeId) -> Self {
        Self { nodes: expressions.nodes.bytes_to(newest).into(), cells: expressions.cells.bytes().into() }
    }

    /// What was copied.
    pub fn lend(&self) -> Expressions<'_> {
        Expressions { nodes: Nodes::new(&self.nodes), cells: Cells::new(&self.cells) }
    }

    /// Bytes that it takes.
    pub fn n_bytes(&self) -> usize {
        self.nodes.len() + self.cells.len()
    }
}
