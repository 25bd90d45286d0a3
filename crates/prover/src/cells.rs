//! Which scalars in memory does the code access at places that are known?
//!
//! Method: noted while the code is executed symbolically, with what is stored there. Where the place within a small object is
//! not known, each of its parts of that width counts. Invariants are guessed about these.

use std::collections::{BTreeMap, BTreeSet};

use crate::objects::Object;
use crate::terms::{Bits, Terms};

/// Bytes of an object up to which all its parts count.
const MAX_OBJECT: u64 = 128;

/// Bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub(crate) object: Object,
    pub(crate) offset: u64,
    /// In bits.
    pub(crate) width: u32,
}

/// What is stored to a cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) constants: BTreeSet<u128>,
    /// Whether something else is stored, too.
    pub(crate) others: bool,
}

/// The cells that were accessed.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) all: BTreeMap<Cell, Stored>,
}

impl Cells {
    /// Notes an access of so many bits at an address in an object of so many bytes.
    pub(crate) fn note<'m>(
        &mut self,
        terms: &Terms<'m>,
        (object, size): (Object, u64),
        address: Bits<'m>,
        width: u32,
        stored: Option<Bits<'m>>,
    ) {
        if !width.is_multiple_of(8) || !(8..=64).contains(&width) {
            return;
        }
        let bytes = u64::from(width / 8);
        let offsets: Vec<u64> = match terms.address(address) {
            Some((_, offset)) => u64::try_from(offset).into_iter().collect(),
            None if size <= MAX_OBJECT => (0..size / bytes).map(|number| number * bytes).collect(),
            None => Vec::new(),
        };
        for offset in offsets.into_iter().filter(|offset| offset + bytes <= size) {
            let cell = self.all.entry(Cell { object, offset, width }).or_default();
            if let Some(value) = stored {
                match terms.value(value) {
                    Some(constant) => _ = cell.constants.insert(constant),
                    None => cell.others = true,
                }
            }
        }
    }
}
