//! Memory as objects at made-up addresses.
//!
//! Three regions (globals, heap, stack) hand out increasing addresses with a gap after every object, so that running off
//! one never hits another. An address is looked up by a hint from its last use, checked each time, or by binary search.
//! Stack addresses are reused only when their region is exhausted, heap addresses never, so a dangling pointer stays
//! invalid. Limit: a program with 32-bit pointers that allocates more than 1.2 GB in total, freed or not, gets null
//! pointers.

use std::collections::BTreeMap;

use super::FaultKind;
use crate::GlobalId;

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Fault(FaultKind),
    Exit(i32),
    Abort,
    OutOfSteps,
    Unsupported(Box<str>),
    /// The program touched a variable that is only declared.
    Outside(GlobalId),
}

impl From<FaultKind> for Stop {
    fn from(kind: FaultKind) -> Self {
        Self::Fault(kind)
    }
}

pub(super) type Checked<T> = Result<T, Stop>;

const GAP: u64 = 16;
const N_HINTS: usize = 256;
/// No object lies below; an access there is one through a null pointer.
const NULL_END: u64 = 4096;

/// What may be done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Live,
    Constant,
    Freed,
    /// Only declared in the program.
    Outside(GlobalId),
}

#[derive(Clone, Copy, Debug)]
struct Object {
    base: u64,
    size: u64,
    /// Where its bytes lie in the region.
    at: usize,
    state: State,
}

impl Object {
    fn contains(&self, address: u64, length: u64) -> bool {
        address >= self.base && length <= self.size && address - self.base <= self.size - length
    }
}

/// A range of addresses with the objects in it, by rising address.
#[derive(Clone, Debug)]
pub(super) struct Region {
    low: u64,
    high: u64,
    next: u64,
    objects: Vec<Object>,
    bytes: Vec<u8>,
    hints: Vec<u32>,
}

impl Region {
    pub(super) fn new(low: u64, high: u64) -> Self {
        Self { low, high, next: low, objects: Vec::new(), bytes: Vec::new(), hints: vec![0; N_HINTS] }
    }

    /// A new object of zero bytes; `None` when addresses run out.
    pub(super) fn place(&mut self, size: u64, align: u64, state: State) -> Option<u64> {
        let at = self.bytes.len();
        let base = self.reserve(size, align)?;
        self.bytes.resize(at + size as usize, 0);
        self.objects.push(Object { base, size, at, state });
        Some(base)
    }

    fn reserve(&mut self, size: u64, align: u64) -> Option<u64> {
        let fits = |next: u64| {
            let base = next.checked_next_multiple_of(align.max(GAP))?;
            let end = base.checked_add(size)?.checked_add(GAP)?;
            (end <= self.high).then_some((base, end))
        };
        let above_live = self.objects.last().map_or(self.low, |object| object.base + object.size + GAP);
        let (base, end) = fits(self.next).or_else(|| fits(above_live))?;
        self.next = end;
        Some(base)
    }

    fn find(&self, address: u64) -> Option<usize> {
        self.objects.partition_point(|object| object.base <= address).checked_sub(1)
    }

    /// The bytes of a global while the program is prepared.
    pub(super) fn bytes_of(&mut self, address: u64, length: usize) -> &mut [u8] {
        let object = self.find(address).map(|index| self.objects[index]).expect("the object was placed");
        let start = object.at + (address - object.base) as usize;
        &mut self.bytes[start..start + length]
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    #[inline]
    fn locate(&mut self, address: u64, length: u64, write: bool) -> Checked<usize> {
        let slot = (address >> 4) as usize % N_HINTS;
        if let Some(object) = self.objects.get(self.hints[slot] as usize)
            && object.contains(address, length)
            && (object.state == State::Live || (object.state == State::Constant && !write))
        {
            return Ok(object.at + (address - object.base) as usize);
        }
        self.locate_slowly(address, length, write, slot)
    }

    #[cold]
    fn locate_slowly(&mut self, address: u64, length: u64, write: bool, slot: usize) -> Checked<usize> {
        let Some(index) = self.find(address) else {
            return Err(FaultKind::InvalidAccess.into());
        };
        let object = self.objects[index];
        if !object.contains(address, length) {
            return Err(FaultKind::InvalidAccess.into());
        }
        match object.state {
            State::Live => {}
            State::Constant if !write => {}
            State::Constant => return Err(FaultKind::WriteToConstant.into()),
            State::Freed => return Err(FaultKind::UseAfterFree.into()),
            State::Outside(global) => return Err(Stop::Outside(global)),
        }
        self.hints[slot] = index as u32;
        Ok(object.at + (address - object.base) as usize)
    }
}

/// Where regions begin and end, by width of a pointer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) functions: u64,
    pub(super) globals: u64,
    pub(super) heap: u64,
    pub(super) stack: u64,
    pub(super) end: u64,
}

impl Layout {
    pub(super) fn of(pointer_bits: u32) -> Self {
        if pointer_bits == 32 {
            let (functions, globals) = (0x0100_0000, 0x1000_0000);
            Self { functions, globals, heap: 0x4000_0000, stack: 0x9000_0000, end: 0xf000_0000 }
        } else {
            let (functions, globals) = (0x4000_0000, 0x1000_0000_0000);
            let (heap, stack) = (0x2000_0000_0000, 0x4000_0000_0000);
            Self { functions, globals, heap, stack, end: 0x7fff_0000_0000 }
        }
    }
}

/// The memory of one run.
pub(super) struct Memory {
    globals: Region,
    heap: Region,
    stack: Region,
    limit: u64,
    /// Places of freed heap bytes by size, to be used again under new addresses.
    spare: BTreeMap<usize, Vec<usize>>,
}

impl Memory {
    pub(super) fn new(globals: Region, layout: Layout, limit: u64) -> Self {
        let heap = Region::new(layout.heap, layout.stack);
        let stack = Region::new(layout.stack, layout.end);
        Self { globals, heap, stack, limit, spare: BTreeMap::new() }
    }

    fn room_for(&self, size: u64) -> bool {
        let used = self.globals.n_bytes() + self.heap.n_bytes() + self.stack.n_bytes();
        used.checked_add(size).is_some_and(|used| used <= self.limit)
    }

    #[inline]
    fn region(&mut self, address: u64) -> Checked<&mut Region> {
        if address >= self.stack.low {
            Ok(&mut self.stack)
        } else if address >= self.heap.low {
            Ok(&mut self.heap)
        } else if address >= self.globals.low {
            Ok(&mut self.globals)
        } else if address < NULL_END {
            Err(FaultKind::NullAccess.into())
        } else {
            Err(FaultKind::InvalidAccess.into())
        }
    }

    /// An integer of at most 8 bytes.
    #[inline]
    pub(super) fn load(&mut self, address: u64, length: u8) -> Checked<u64> {
        let region = self.region(address)?;
        let at = region.locate(address, length.into(), false)?;
        let bytes = &region.bytes[at..at + usize::from(length)];
        let mut value = [0; 8];
        match length {
            // Fixed lengths compile to single moves.
            1 => value[..1].copy_from_slice(&bytes[..1]),
            2 => value[..2].copy_from_slice(&bytes[..2]),
            4 => value[..4].copy_from_slice(&bytes[..4]),
            8 => value.copy_from_slice(&bytes[..8]),
            _ => value[..bytes.len()].copy_from_slice(bytes),
        }
        Ok(u64::from_le_bytes(value))
    }

    /// An integer of at most 16 bytes.
    pub(super) fn load_wide(&mut self, address: u64, length: u8) -> Checked<u128> {
        let mut value = [0; 16];
        value[..usize::from(length)].copy_from_slice(self.bytes(address, length.into())?);
        Ok(u128::from_le_bytes(value))
    }

    /// Writes the low bytes of an integer.
    #[inline]
    pub(super) fn store(&mut self, address: u64, value: u128, length: u8) -> Checked<()> {
        let region = self.region(address)?;
        let at = region.locate(address, length.into(), true)?;
        let bytes = &mut region.bytes[at..at + usize::from(length)];
        let narrow = (value as u64).to_le_bytes();
        match length {
            1 => bytes[..1].copy_from_slice(&narrow[..1]),
            2 => bytes[..2].copy_from_slice(&narrow[..2]),
            4 => bytes[..4].copy_from_slice(&narrow[..4]),
            8 => bytes[..8].copy_from_slice(&narrow),
            _ => bytes.copy_from_slice(&value.to_le_bytes()[..usize::from(length)]),
        }
        Ok(())
    }

    /// Bytes to read; none are read at any address.
    pub(super) fn bytes(&mut self, address: u64, length: u64) -> Checked<&[u8]> {
        if length == 0 {
            return Ok(&[]);
        }
        let region = self.region(address)?;
        let at = region.locate(address, length, false)?;
        Ok(&region.bytes[at..at + length as usize])
    }

    /// Bytes to write; none are written at any address.
    pub(super) fn bytes_mut(&mut self, address: u64, length: u64) -> Checked<&mut [u8]> {
        if length == 0 {
            return Ok(&mut []);
        }
        let region = self.region(address)?;
        let at = region.locate(address, length, true)?;
        Ok(&mut region.bytes[at..at + length as usize])
    }

    /// The bytes from an address to the end of its object.
    pub(super) fn rest(&mut self, address: u64) -> Checked<&[u8]> {
        let region = self.region(address)?;
        let at = region.locate(address, 1, false)?;
        let object = region.objects[region.find(address).expect("the address was located")];
        Ok(&region.bytes[at..object.at + object.size as usize])
    }

    /// The bytes of a string without its zero; an unterminated one runs out of its object.
    pub(super) fn string(&mut self, address: u64) -> Checked<Vec<u8>> {
        let rest = self.rest(address)?;
        let length = rest.iter().position(|byte| *byte == 0).ok_or(FaultKind::InvalidAccess)?;
        Ok(rest[..length].to_vec())
    }

    /// Copies as if through a buffer.
    pub(super) fn copy(&mut self, to: u64, from: u64, length: u64) -> Checked<()> {
        let bytes = self.bytes(from, length)?.to_vec();
        self.bytes_mut(to, length)?.copy_from_slice(&bytes);
        Ok(())
    }

    /// Stack memory until [`Memory::release`].
    pub(super) fn push(&mut self, size: u64, align: u64) -> Checked<u64> {
        if !self.room_for(size) {
            return Err(FaultKind::StackOverflow.into());
        }
        self.stack.place(size, align, State::Live).ok_or(Stop::Fault(FaultKind::StackOverflow))
    }

    /// How many objects the stack holds.
    pub(super) fn stack_depth(&self) -> usize {
        self.stack.objects.len()
    }

    /// Ends the life of stack objects above this many.
    pub(super) fn release(&mut self, depth: usize) {
        if let Some(first) = self.stack.objects.get(depth) {
            self.stack.bytes.truncate(first.at);
            self.stack.objects.truncate(depth);
        }
    }

    /// A token for [`Memory::release_to`].
    pub(super) fn stack_top(&self) -> u64 {
        self.stack.next
    }

    /// Ends the life of stack objects made after the token was taken.
    pub(super) fn release_to(&mut self, token: u64) {
        let depth = self.stack.objects.partition_point(|object| object.base < token);
        self.release(depth);
    }

    /// Heap memory of zero bytes; `None` when there is no room.
    pub(super) fn allocate(&mut self, size: u64) -> Option<u64> {
        let class = usize::try_from(size.checked_next_multiple_of(16)?).ok()?;
        if let Some(at) = self.spare.get_mut(&class).and_then(Vec::pop) {
            let base = self.heap.reserve(size, GAP)?;
            self.heap.bytes[at..at + class].fill(0);
            self.heap.objects.push(Object { base, size, at, state: State::Live });
            return Some(base);
        }
        if !self.room_for(class as u64) {
            return None;
        }
        let base = self.heap.place(size, GAP, State::Live)?;
        let at = self.heap.bytes.len() - size as usize;
        self.heap.bytes.resize(at + class, 0);
        Some(base)
    }

    /// Size of the heap object that begins here.
    pub(super) fn allocated_size(&self, address: u64) -> Checked<u64> {
        self.heap_object(address).map(|index| self.heap.objects[index].size)
    }

    fn heap_object(&self, address: u64) -> Checked<usize> {
        let index = self.heap.find(address).ok_or(Stop::Fault(FaultKind::InvalidFree))?;
        let object = self.heap.objects[index];
        let begins = object.base == address && object.state == State::Live;
        if begins { Ok(index) } else { Err(FaultKind::InvalidFree.into()) }
    }

    /// Ends the life of the heap object that begins here.
    pub(super) fn free(&mut self, address: u64) -> Checked<()> {
        let index = self.heap_object(address)?;
        let object = &mut self.heap.objects[index];
        object.state = State::Freed;
        let class = (object.size as usize).next_multiple_of(16);
        self.spare.entry(class).or_default().push(object.at);
        Ok(())
    }
}
