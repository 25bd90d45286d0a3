//! Which nodes of an execution have their term already. Room is taken only where nodes are wanted.

use smt::Term;
use wire::{Node, NodeId};

const PAGE: usize = 1024;

/// Terms by node.
#[derive(Default)]
pub struct Memo {
    pages: Vec<Option<Box<[Option<Term>; PAGE]>>>,
    meets: Meets,
}

/// What is hard to solve among the nodes that became terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meets {
    /// Results of opaque functions.
    pub(crate) opaque: bool,
    /// Floating-point arithmetic.
    pub(crate) floats: bool,
}

impl Memo {
    pub(super) fn get(&self, id: NodeId) -> Option<Term> {
        let index = id.0 as usize;
        self.pages.get(index / PAGE)?.as_ref()?[index % PAGE]
    }

    /// What has been met so far.
    pub(crate) fn meets(&self) -> Meets {
        self.meets
    }

    /// Bytes that it takes.
    pub fn n_bytes(&self) -> usize {
        let n_pages = self.pages.iter().flatten().count();
        size_of_val(&*self.pages) + n_pages * size_of::<[Option<Term>; PAGE]>()
    }

    pub(super) fn set(&mut self, id: NodeId, node: &Node, term: Term) {
        self.meets.opaque |= matches!(node, Node::Opaque { .. });
        self.meets.floats |= node.is_float();
        let index = id.0 as usize;
        if self.pages.len() <= index / PAGE {
            self.pages.resize_with(index / PAGE + 1, || None);
        }
        let page = self.pages[index / PAGE].get_or_insert_with(|| Box::new([None; PAGE]));
        page[index % PAGE] = Some(term);
    }
}
