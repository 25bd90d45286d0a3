//! Objects with an address: globals, functions, locals that are not promoted, and allocated memory.
//!
//! Method: each has a symbolic address that stays the same in the whole proof. Defined objects are not null, do not wrap
//! around the address space, and do not overlap. Limit: nothing else is known of where they are.

use std::collections::HashMap;

use model::{FunctionId, GlobalId, InstrId, Linkage, Op, Predicate, Program};

use crate::graph::ContextId;
use crate::terms::{Bits, ObjectId, Terms, Truth};

/// Addresses below it trap when they are accessed, so nothing is there.
const LOWEST_ADDRESS: u128 = 4096;

/// Something with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Object {
    Global(GlobalId),
    Function(FunctionId),
    /// The result of an `alloca` of an activation.
    Local(ContextId, InstrId),
    /// Memory that was allocated, zeroed at first.
    Heap(u32),
}

/// The objects that the encoding mentions.
#[derive(Default)]
pub(crate) struct Objects<'m> {
    list: Vec<(Object, Bits<'m>, Option<u64>)>,
    ids: HashMap<Object, ObjectId>,
    facts: Vec<Truth<'m>>,
}

impl<'m> Objects<'m> {
    pub(crate) fn object(&self, id: ObjectId) -> Object {
        self.list[id.index()].0
    }

    /// Bytes of the object, if accesses within them are known not to touch another one.
    pub(crate) fn size(&self, id: ObjectId) -> Option<u64> {
        self.list[id.index()].2
    }

    /// Where the object begins.
    pub(crate) fn base(&self, id: ObjectId) -> Bits<'m> {
        self.list[id.index()].1
    }

    /// The address of an object, if the code mentions it.
    pub(crate) fn known(&self, object: Object) -> Option<Bits<'m>> {
        self.ids.get(&object).map(|id| self.list[id.index()].1)
    }

    /// What is known of the addresses so far.
    pub(crate) fn facts(&self) -> &[Truth<'m>] {
        &self.facts
    }

    /// The address of a global.
    pub(crate) fn global(&mut self, terms: &mut Terms<'m>, program: &Program, id: GlobalId) -> Bits<'m> {
        let global = program.global(id);
        // what is only declared may be missing, or be another name of something else
        let size = (global.linkage != Linkage::External).then_some(global.size);
        self.address(terms, program, Object::Global(id), size)
    }

    /// The address of a function.
    pub(crate) fn function(&mut self, terms: &mut Terms<'m>, program: &Program, id: FunctionId) -> Bits<'m> {
        self.address(terms, program, Object::Function(id), None)
    }

    /// The address of a local.
    pub(crate) fn local(
        &mut self,
        terms: &mut Terms<'m>,
        program: &Program,
        context: ContextId,
        alloca: (InstrId, &Op),
    ) -> Bits<'m> {
        let size = match alloca.1 {
            Op::Alloca { size, count, .. } => count.constant().and_then(|count| count.checked_mul(*size)),
            _ => None,
        };
        self.address(terms, program, Object::Local(context, alloca.0), size)
    }

    /// The address of so many new bytes.
    pub(crate) fn heap(&mut self, terms: &mut Terms<'m>, program: &Program, size: u64) -> Bits<'m> {
        let number = u32::try_from(self.list.len()).expect("fewer than 2^32 objects");
        self.address(terms, program, Object::Heap(number), Some(size))
    }

    fn address(
        &mut self,
        terms: &mut Terms<'m>,
        program: &Program,
        object: Object,
        size: Option<u64>,
    ) -> Bits<'m> {
        if let Some(id) = self.ids.get(&object) {
            return self.list[id.index()].1;
        }
        let id = ObjectId::new(self.list.len());
        let width = program.pointer_bits;
        let address = terms.fresh(width);
        terms.name_address(address, id);
        if let Some(size) = size {
            let size = u128::from(size.max(1));
            let lowest = terms.constant(width, LOWEST_ADDRESS);
            self.facts.push(terms.compare(Predicate::Uge, address, lowest));
            let highest = terms.constant(width, crate::terms::ones(width) - size);
            self.facts.push(terms.compare(Predicate::Ule, address, highest));
            for at in 0..self.list.len() {
                let (_, other, other_size) = self.list[at];
                if let Some(other_size) = other_size {
                    let apart = self.apart(terms, (address, size), (other, u128::from(other_size.max(1))));
                    self.facts.push(apart);
                }
            }
        }
        self.list.push((object, address, size));
        self.ids.insert(object, id);
        address
    }

    fn apart(&self, terms: &mut Terms<'m>, a: (Bits<'m>, u128), b: (Bits<'m>, u128)) -> Truth<'m> {
        let mut ends_before = |(first, size): (Bits<'m>, u128), (second, _): (Bits<'m>, u128)| {
            let size = terms.constant(first.width, size);
            let end = terms.add(first, size);
            terms.compare(Predicate::Ule, end, second)
        };
        let (before, behind) = (ends_before(a, b), ends_before(b, a));
        terms.or(before, behind)
    }
}
