//! Blocks of memory: `<string.h>` for bytes, allocation, sorting and searching, input cells.

use super::super::machine::{Argument, Machine};
use super::super::memory::{Checked, Stop};
use super::{Native, int, nothing, one, signed, word};
use crate::Type;
use crate::input::Key;

pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "memcpy" | "memmove" => |machine, arguments| {
            let to = word(arguments, 0)?;
            machine.memory.copy(to, word(arguments, 1)?, word(arguments, 2)?)?;
            one(to)
        },
        "memset" => |machine, arguments| {
            let to = word(arguments, 0)?;
            machine.memory.bytes_mut(to, word(arguments, 2)?)?.fill(int(arguments, 1)? as u8);
            one(to)
        },
        "bzero" => |machine, arguments| {
            machine.memory.bytes_mut(word(arguments, 0)?, word(arguments, 1)?)?.fill(0);
            nothing()
        },
        "memcmp" => memcmp,
        "memchr" => |machine, arguments| {
            let (from, byte) = (word(arguments, 0)?, int(arguments, 1)? as u8);
            let bytes = machine.memory.bytes(from, word(arguments, 2)?)?;
            let found = bytes.iter().position(|other| *other == byte);
            one(found.map_or(0, |position| from + position as u64))
        },
        "malloc" => |machine, arguments| one(machine.memory.allocate(word(arguments, 0)?).unwrap_or(0)),
        "calloc" => |machine, arguments| {
            let size = word(arguments, 0)?.checked_mul(word(arguments, 1)?);
            one(size.and_then(|size| machine.memory.allocate(size)).unwrap_or(0))
        },
        "realloc" => realloc,
        "free" => |machine, arguments| {
            if word(arguments, 0)? != 0 {
                machine.memory.free(word(arguments, 0)?)?;
            }
            nothing()
        },
        "qsort" => qsort,
        "bsearch" => bsearch,
        "__quarry_cell" => quarry_cell,
        "__quarry_call" => |_, _| nothing(),
        "__quarry_part_key" => |_, arguments| one(Key(word(arguments, 0)?).part(word(arguments, 1)?).0),
        _ => return None,
    })
}

fn memcmp(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let length = word(arguments, 2)?;
    let left = machine.memory.bytes(word(arguments, 0)?, length)?.to_vec();
    let right = machine.memory.bytes(word(arguments, 1)?, length)?;
    let difference = left.iter().zip(right).find(|(left, right)| left != right);
    signed(difference.map_or(0, |(left, right)| i64::from(*left) - i64::from(*right)))
}

fn realloc(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let (old, size) = (word(arguments, 0)?, word(arguments, 1)?);
    if old == 0 {
        return one(machine.memory.allocate(size).unwrap_or(0));
    }
    let kept = machine.memory.allocated_size(old)?.min(size);
    if size == 0 {
        machine.memory.free(old)?;
        return one(0);
    }
    let Some(new) = machine.memory.allocate(size) else { return one(0) };
    machine.memory.copy(new, old, kept)?;
    machine.memory.free(old)?;
    one(new)
}

/// An array being sorted or searched.
#[derive(Clone, Copy)]
struct Array {
    base: u64,
    size: u64,
    compare: u64,
}

impl Array {
    fn element(&self, index: u64) -> u64 {
        self.base.wrapping_add(index.wrapping_mul(self.size))
    }

    fn compare(&self, machine: &mut Machine<'_>, left: u64, right: u64) -> Checked<i32> {
        let argument = |address: u64| Argument { ty: Type::Ptr, value: address.into() };
        let order = machine.call_back(self.compare, &[argument(left), argument(right)])?;
        Ok(order as u32 as i32)
    }

    /// Merge sort in the order of comparisons of the GNU library.
    fn sort(&self, machine: &mut Machine<'_>, from: u64, to: u64) -> Checked<()> {
        if to - from < 2 {
            return Ok(());
        }
        let middle = from + (to - from) / 2;
        self.sort(machine, from, middle)?;
        self.sort(machine, middle, to)?;
        let mut merged = Vec::new();
        let (mut left, mut right) = (from, middle);
        while left < middle && right < to {
            let taken = if self.compare(machine, self.element(left), self.element(right))? <= 0 {
                left += 1;
                left - 1
            } else {
                right += 1;
                right - 1
            };
            merged.extend_from_slice(machine.memory.bytes(self.element(taken), self.size)?);
        }
        // What is left on the right stands where it belongs.
        merged.extend_from_slice(machine.memory.bytes(self.element(left), (middle - left) * self.size)?);
        let place = machine.memory.bytes_mut(self.element(from), merged.len() as u64)?;
        place.copy_from_slice(&merged);
        Ok(())
    }
}

fn qsort(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let n_elements = word(arguments, 1)?;
    let array = Array { base: word(arguments, 0)?, size: word(arguments, 2)?, compare: word(arguments, 3)? };
    array.sort(machine, 0, n_elements)?;
    nothing()
}

fn bsearch(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let key = word(arguments, 0)?;
    let array = Array { base: word(arguments, 1)?, size: word(arguments, 3)?, compare: word(arguments, 4)? };
    let (mut low, mut high) = (0, word(arguments, 2)?);
    while low < high {
        let middle = low + (high - low) / 2;
        match array.compare(machine, key, array.element(middle))? {
            0 => return one(array.element(middle)),
            order if order < 0 => high = middle,
            _ => low = middle + 1,
        }
    }
    one(0)
}

/// `__quarry_cell(key, memory, bytes, bits)`: memory gets the input's value for the key, if there is one.
fn quarry_cell(machine: &mut Machine<'_>, arguments: &[Argument]) -> Checked<[u128; 2]> {
    let (key, to) = (word(arguments, 0)?, word(arguments, 1)?);
    let (bytes, bits) = (int(arguments, 2)?, int(arguments, 3)?);
    if !(1..=8).contains(&bytes) || !(1..=64).contains(&bits) {
        return Err(Stop::Unsupported(format!("input cell of {bytes} bytes, {bits} bits").into()));
    }
    if let Some(value) = machine.inputs.get(&key) {
        let value = value & (u64::MAX >> (64 - bits));
        machine.memory.store(to, value.into(), bytes as u8)?;
    }
    nothing()
}
