//! How each term was made, for those who evaluate terms without a solver.
//!
//! Method: terms are numbered as they are made, so operands come before what they are operands of. Limit: a term that Bitwuzla
//! gives for something that it knows already is what it was first.

use std::collections::HashMap;

use bitwuzla_sys::{Term, TermKind};

/// The number of a term.
pub(crate) type NodeId = u32;

/// How a term was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// A symbol, or something that is not followed.
    Leaf,
    /// A constant of at most 64 bits.
    Constant(u64),
    One(TermKind, NodeId),
    Two(TermKind, NodeId, NodeId),
    Ite(NodeId, NodeId, NodeId),
    /// Bits of a term from the lowest of these on.
    Extract(NodeId, u32),
}

/// A term; booleans count as one bit wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) made: Made,
    pub(crate) width: u32,
}

/// All terms by number.
#[derive(Default)]
pub(crate) struct Nodes<'m> {
    numbers: HashMap<Term<'m>, NodeId>,
    list: Vec<Node>,
}

impl<'m> Nodes<'m> {
    pub(crate) fn all(&self) -> &[Node] {
        &self.list
    }

    pub(crate) fn number(&self, term: Term<'m>) -> Option<NodeId> {
        self.numbers.get(&term).copied()
    }

    pub(crate) fn leaf(&mut self, term: Term<'m>, width: u32) {
        self.note(term, Made::Leaf, width);
    }

    pub(crate) fn constant(&mut self, term: Term<'m>, value: u128, width: u32) {
        let made = u64::try_from(value).map_or(Made::Leaf, Made::Constant);
        self.note(term, made, width);
    }

    pub(crate) fn applied(&mut self, term: Term<'m>, kind: TermKind, operands: &[Term<'m>]) {
        let numbers: Option<Vec<NodeId>> = operands.iter().map(|operand| self.number(*operand)).collect();
        let width = |at: usize| numbers.as_ref().map_or(0, |numbers| self.list[numbers[at] as usize].width);
        let width = match kind {
            TermKind::Ite => width(1),
            TermKind::BvConcat => width(0) + width(1),
            TermKind::ArraySelect => 8,
            TermKind::BvAdd
            | TermKind::BvSub
            | TermKind::BvMul
            | TermKind::BvUdiv
            | TermKind::BvUrem
            | TermKind::BvSdiv
            | TermKind::BvSrem
            | TermKind::BvAnd
            | TermKind::BvOr
            | TermKind::BvXor
            | TermKind::BvShl
            | TermKind::BvLshr
            | TermKind::BvAshr => width(0),
            _ => 1,
        };
        let made = match (kind, numbers.as_deref()) {
            (TermKind::ArraySelect, _) | (_, None) => Made::Leaf,
            (TermKind::Ite, Some(&[condition, then, otherwise])) => Made::Ite(condition, then, otherwise),
            (_, Some(&[one, other])) => Made::Two(kind, one, other),
            (_, Some(&[only])) => Made::One(kind, only),
            _ => Made::Leaf,
        };
        self.note(term, made, width);
    }

    pub(crate) fn extended(&mut self, term: Term<'m>, kind: TermKind, of: Term<'m>, width: u32) {
        let made = self.number(of).map_or(Made::Leaf, |of| Made::One(kind, of));
        self.note(term, made, width);
    }

    pub(crate) fn extracted(&mut self, term: Term<'m>, of: Term<'m>, low: u32, width: u32) {
        let made = self.number(of).map_or(Made::Leaf, |of| Made::Extract(of, low));
        self.note(term, made, width);
    }

    fn note(&mut self, term: Term<'m>, made: Made, width: u32) {
        let next = u32::try_from(self.list.len()).expect("fewer than 2^32 terms");
        let list = &mut self.list;
        self.numbers.entry(term).or_insert_with(|| {
            list.push(Node { made, width });
            next
        });
    }
}
