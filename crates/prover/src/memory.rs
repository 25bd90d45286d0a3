//! Memory: bytes by address, as what was stored since the segment began.
//!
//! Method: a memory is a chain of stores and joins that ends at unknown bytes. A read walks the chain: stores that are
//! known to be elsewhere are passed, one at the same place gives its value, and where the addresses do not tell the answer
//! is a choice by their equality. So a solver sees no store, only reads of unknown bytes. Constant globals are read from
//! the program. Limit: what is read is not shared between different addresses.

use std::collections::HashMap;

use model::{Predicate, Program};

use crate::objects::{Object, Objects};
use crate::terms::{Bits, Bytes, ObjectId, Terms, Truth};

/// Bytes of a constant global up to which a read at an unknown offset chooses among them.
const LARGEST_TABLE: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Memory(u32);

#[derive(Clone, Copy)]
enum Node<'m> {
    /// Nothing is known but the initial bytes of globals, if they are.
    Unknown {
        bytes: Bytes<'m>,
        is_initial: bool,
    },
    Store {
        address: Bits<'m>,
        value: Bits<'m>,
        before: Memory,
    },
    Join {
        condition: Truth<'m>,
        then: Memory,
        otherwise: Memory,
    },
}

/// All memories of an encoding.
#[derive(Default)]
pub(crate) struct Memories<'m> {
    nodes: Vec<Node<'m>>,
    joins: HashMap<(Truth<'m>, Memory, Memory), Memory>,
    reads: HashMap<(Memory, Bits<'m>, u32), Bits<'m>>,
    /// Whether an unknown byte at a known place is a symbol of its own. Reads at other addresses do not know of these, so this
    /// says less where there are such reads, and costs less where there are none.
    pub(crate) is_by_place: bool,
    places: HashMap<(Memory, ObjectId, i128), Bits<'m>>,
    /// Whether unknown bytes were read at a place that is not known.
    pub(crate) has_unknown_places: bool,
}

/// What terms about memory are made with.
pub(crate) struct Access<'a, 'm> {
    pub(crate) terms: &'a mut Terms<'m>,
    pub(crate) objects: &'a mut Objects<'m>,
    pub(crate) program: &'a Program,
    /// Whether no access leaves the object that its address was computed from.
    pub(crate) stays_inside: bool,
}

/// How two accesses lie to each other.
enum Overlap {
    Same,
    Apart,
    Maybe,
}

impl<'m> Memories<'m> {
    pub(crate) fn unknown(&mut self, terms: &mut Terms<'m>, address_bits: u32, is_initial: bool) -> Memory {
        let bytes = terms.fresh_bytes(address_bits);
        self.push(Node::Unknown { bytes, is_initial })
    }

    /// The memory after a store of whole bytes, at most 16.
    pub(crate) fn store(&mut self, before: Memory, address: Bits<'m>, value: Bits<'m>) -> Memory {
        self.push(Node::Store { address, value, before })
    }

    pub(crate) fn join(&mut self, condition: Truth<'m>, then: Memory, otherwise: Memory) -> Memory {
        if then == otherwise {
            return then;
        }
        if let Some(&known) = self.joins.get(&(condition, then, otherwise)) {
            return known;
        }
        let join = self.push(Node::Join { condition, then, otherwise });
        self.joins.insert((condition, then, otherwise), join);
        join
    }

    /// Whole bytes, at most 16, the least significant first.
    pub(crate) fn read(
        &mut self,
        access: &mut Access<'_, 'm>,
        memory: Memory,
        address: Bits<'m>,
        width: u32,
    ) -> Bits<'m> {
        if let Some(&known) = self.reads.get(&(memory, address, width)) {
            return known;
        }
        let value = if let Some((condition, a, b)) = access.terms.choice(address) {
            let (a, b) = (self.read(access, memory, a, width), self.read(access, memory, b, width));
            access.terms.choose(condition, a, b)
        } else if let Some(value) = constant_bytes(access, address, width) {
            value
        } else {
            self.walk(access, memory, address, width)
        };
        self.reads.insert((memory, address, width), value);
        value
    }

    fn walk(
        &mut self,
        access: &mut Access<'_, 'm>,
        memory: Memory,
        address: Bits<'m>,
        width: u32,
    ) -> Bits<'m> {
        let mut at = memory;
        loop {
            match self.nodes[at.0 as usize] {
                Node::Unknown { bytes, is_initial } => {
                    let Some((object, offset)) = place(access, address, width) else {
                        self.has_unknown_places = true;
                        return unknown_bytes(access, bytes, is_initial, address, width);
                    };
                    // what is known of initial values is found where these are
                    let is_known = match access.objects.object(object) {
                        Object::Global(global) => is_initial || access.program.global(global).constant,
                        Object::Heap(_) => is_initial,
                        Object::Function(_) | Object::Local(..) => false,
                    };
                    if is_known || !self.is_by_place {
                        return unknown_bytes(access, bytes, is_initial, address, width);
                    }
                    return self.at_place(access, (at, object, offset), width);
                }
                Node::Join { condition, then, otherwise } => {
                    let then = self.read(access, then, address, width);
                    let otherwise = self.read(access, otherwise, address, width);
                    return access.terms.choose(condition, then, otherwise);
                }
                Node::Store { address: written, value, before } => {
                    match overlap(access, (address, width), (written, value.width)) {
                        Overlap::Apart => at = before,
                        Overlap::Same => return value,
                        Overlap::Maybe if width == 8 => {
                            return self.byte_behind_store(access, (written, value), before, address);
                        }
                        Overlap::Maybe => return self.read_bytewise(access, at, address, width),
                    }
                }
            }
        }
    }

    /// Unknown bytes at a known place, each a symbol.
    fn at_place(
        &mut self,
        access: &mut Access<'_, 'm>,
        (memory, object, offset): (Memory, ObjectId, i128),
        width: u32,
    ) -> Bits<'m> {
        let mut value: Option<Bits<'m>> = None;
        for at in offset..offset + i128::from(width / 8) {
            let byte = *self.places.entry((memory, object, at)).or_insert_with(|| access.terms.fresh(8));
            value = Some(value.map_or(byte, |low| access.terms.concat(byte, low)));
        }
        value.expect("a read has at least one byte")
    }

    fn read_bytewise(
        &mut self,
        access: &mut Access<'_, 'm>,
        memory: Memory,
        address: Bits<'m>,
        width: u32,
    ) -> Bits<'m> {
        let mut value: Option<Bits<'m>> = None;
        for byte in 0..width / 8 {
            let offset = access.terms.constant(address.width, byte.into());
            let at = access.terms.add(address, offset);
            let byte = self.read(access, memory, at, 8);
            value = Some(value.map_or(byte, |low| access.terms.concat(byte, low)));
        }
        value.expect("a read has at least one byte")
    }

    fn byte_behind_store(
        &mut self,
        access: &mut Access<'_, 'm>,
        (written, value): (Bits<'m>, Bits<'m>),
        before: Memory,
        address: Bits<'m>,
    ) -> Bits<'m> {
        let mut result = self.read(access, before, address, 8);
        for byte in 0..value.width / 8 {
            let offset = access.terms.constant(address.width, byte.into());
            let at = access.terms.add(written, offset);
            let hit = access.terms.equal(address, at);
            if access.terms.is_false(hit) {
                continue;
            }
            let stored = access.terms.extract(value, 8 * byte, 8);
            result = access.terms.choose(hit, stored, result);
        }
        result
    }

    fn push(&mut self, node: Node<'m>) -> Memory {
        let id = Memory(u32::try_from(self.nodes.len()).expect("fewer than 2^32 memories"));
        self.nodes.push(node);
        id
    }
}

/// The object and the offset of an access that is known to be within one.
fn place<'m>(access: &Access<'_, 'm>, address: Bits<'m>, width: u32) -> Option<(ObjectId, i128)> {
    let (object, offset) = access.terms.address(address)?;
    let size = i128::from(access.objects.size(object)?);
    (offset >= 0 && offset + i128::from(width / 8) <= size).then_some((object, offset))
}

fn overlap<'m>(
    access: &Access<'_, 'm>,
    (read, read_width): (Bits<'m>, u32),
    (written, written_width): (Bits<'m>, u32),
) -> Overlap {
    if read == written && read_width == written_width {
        return Overlap::Same;
    }
    let objects = (access.terms.object(read), access.terms.object(written));
    if let (Some(object), Some(other)) = objects
        && access.stays_inside
        && object != other
    {
        return Overlap::Apart;
    }
    let (Some((object, at)), Some((other, start))) =
        (access.terms.address(read), access.terms.address(written))
    else {
        return Overlap::Maybe;
    };
    let (end, stop) = (at + i128::from(read_width / 8), start + i128::from(written_width / 8));
    if object == other {
        return match (at, end) == (start, stop) {
            true => Overlap::Same,
            false if end <= start || stop <= at => Overlap::Apart,
            false => Overlap::Maybe,
        };
    }
    let is_inside = |object, at: i128, end: i128| {
        at >= 0 && access.objects.size(object).is_some_and(|size| end <= i128::from(size))
    };
    if is_inside(object, at, end) && is_inside(other, start, stop) { Overlap::Apart } else { Overlap::Maybe }
}

/// What a constant global holds there, if the access is known to be within one.
fn constant_bytes<'m>(access: &mut Access<'_, 'm>, address: Bits<'m>, width: u32) -> Option<Bits<'m>> {
    let object = access.terms.object(address)?;
    let Object::Global(global) = access.objects.object(object) else { return None };
    let description = access.program.global(global);
    if !description.constant || access.objects.size(object).is_none() {
        return None;
    }
    let (_, offset) = access.terms.address(address)?;
    initial_bytes(access, global, offset, width)
}

/// The initial bytes of a global from an offset on, if all are within it.
fn initial_bytes<'m>(
    access: &mut Access<'_, 'm>,
    global: model::GlobalId,
    offset: i128,
    width: u32,
) -> Option<Bits<'m>> {
    let program = access.program;
    let description = program.global(global);
    let first = u64::try_from(offset).ok()?;
    let end = first + u64::from(width / 8);
    if end > description.size {
        return None;
    }
    let pointer_bytes = u64::from(program.pointer_bits / 8);
    if let Some(relocation) = description
        .relocations
        .iter()
        .find(|relocation| relocation.offset < end && first < relocation.offset + pointer_bytes)
    {
        if relocation.offset != first || width != program.pointer_bits {
            return None;
        }
        let target = match relocation.target {
            model::RelocationTarget::Global(global) => access.objects.global(access.terms, program, global),
            model::RelocationTarget::Function(function) => {
                access.objects.function(access.terms, program, function)
            }
        };
        let addend = access.terms.constant(program.pointer_bits, relocation.addend as u128);
        return Some(access.terms.add(target, addend));
    }
    let mut value = 0u128;
    for at in (first..end).rev() {
        let byte = usize::try_from(at).ok().and_then(|at| description.bytes.get(at)).copied().unwrap_or(0);
        value = value << 8 | u128::from(byte);
    }
    Some(access.terms.constant(width, value))
}

/// Bytes that nothing was stored to.
fn unknown_bytes<'m>(
    access: &mut Access<'_, 'm>,
    bytes: Bytes<'m>,
    is_initial: bool,
    address: Bits<'m>,
    width: u32,
) -> Bits<'m> {
    let global = access.terms.object(address).and_then(|id| match access.objects.object(id) {
        Object::Global(global) if access.objects.size(id).is_some() => Some(global),
        Object::Global(_) | Object::Function(_) | Object::Local(..) | Object::Heap(_) => None,
    });
    let object = access.terms.object(address).map(|id| access.objects.object(id));
    if is_initial && matches!(object, Some(Object::Heap(_))) {
        return access.terms.constant(width, 0);
    }
    let global = global.filter(|global| is_initial || access.program.global(*global).constant);
    if let (Some(global), Some((_, offset))) = (global, access.terms.address(address))
        && let Some(known) = initial_bytes(access, global, offset, width)
    {
        return known;
    }
    let mut value: Option<Bits<'m>> = None;
    for byte in 0..width / 8 {
        let offset = access.terms.constant(address.width, byte.into());
        let at = access.terms.add(address, offset);
        let byte = access.terms.select(bytes, at);
        value = Some(value.map_or(byte, |low| access.terms.concat(byte, low)));
    }
    let value = value.expect("a read has at least one byte");
    match global.filter(|global| access.program.global(*global).size <= LARGEST_TABLE) {
        Some(global) => table(access, global, address, value),
        None => value,
    }
}

/// A choice among the bytes of a global by the address, or else this.
fn table<'m>(
    access: &mut Access<'_, 'm>,
    global: model::GlobalId,
    address: Bits<'m>,
    otherwise: Bits<'m>,
) -> Bits<'m> {
    let base = access.objects.global(access.terms, access.program, global);
    let size = access.program.global(global).size;
    // an offset that is no multiple of the access's size is rare, and reads as unknown
    let step = u64::from(otherwise.width / 8);
    let mut value = otherwise;
    let mut offset = 0;
    while offset + step <= size {
        if let Some(known) = initial_bytes(access, global, offset.into(), otherwise.width) {
            let constant = access.terms.constant(address.width, offset.into());
            let at = access.terms.add(base, constant);
            let hit = access.terms.compare(Predicate::Eq, address, at);
            value = access.terms.choose(hit, known, value);
        }
        offset += step;
    }
    value
}
