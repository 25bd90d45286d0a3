//! Which nodes of an execution have their term already. Room is taken only where nodes are wanted.

use smt::Term;
use wire::NodeId;

const PAGE: usize = 1024;

/// Terms by node.
#[derive(Default)]
pub struct Memo {
    pages: Vec<Option<Box<[Option<Term>; PAGE]>>>,
}

impl Memo {
    pub(super) fn get(&self, id: NodeId) -> Option<Term> {
        let index = id.0 as usize;
        self.pages.get(index / PAGE)?.as_ref()?[index % PAGE]
    }

    pub(super) fn set(&mut self, id: NodeId, term: Term) {
        let index = id.0 as usize;
        if self.pages.len() <= index / PAGE {
            self.pages.resize_with(index / PAGE + 1, || None);
        }
        let page = self.pages[index / PAGE].get_or_insert_with(|| Box::new([None; PAGE]));
        page[index % PAGE] = Some(term);
    }
}
