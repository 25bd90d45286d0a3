//! Shadows of memory: loads, stores, fresh stack objects, atomics.
//!
//! The runtime learns what an address is computed from: an index used again and again is one node, the addresses made of
//! it are many. Address computations that serve accesses only therefore have no shadow. What becomes of an access with
//! symbolic parts is the runtime's decision (`runtime/access.c`); structures and arrays as a whole are pinned.

use model::GapKind;

use super::arithmetic::{Step, steps};
use super::function::{FunctionPass, untracked_kind};
use super::leaf::Leaf;
use super::prepare::is_fixed_alloca;
use super::watch::WATCH_HOOK;
use crate::agreement::direct_callee;
use crate::llvm::{LLVMOpcode, Value};

impl<'m> FunctionPass<'_, 'm> {
    pub fn visit_load(&mut self, load: Value<'m>) {
        let leaves = self.leaves(load.ty());
        let width = if let [leaf] = leaves.as_slice() { leaf.width.unwrap_or(0) } else { 0 };
        self.ir.place_before(load);
        let table = self.announce_read(load, load.operand(0), self.ir.store_size(load.ty()), width);
        self.place_after(load);
        let mut shadow = Vec::new();
        for leaf in leaves {
            let address = self.address(self.ir.offset(load.operand(0), leaf.offset));
            let bytes = self.ir.store_size(leaf.ty);
            let Some(width) = leaf.width else {
                self.act("__quarry_pin_bytes", &[address, self.address_type().constant(bytes)]);
                self.gap(untracked_kind(leaf.ty), load, leaf.ty.text());
                shadow.push(self.word().zero());
                continue;
            };
            let value = self.wide(self.ir.extract(load, &leaf.path));
            let crosses = may_cross(load, &leaf, bytes);
            let bytes = self.word().constant(bytes);
            let arguments = [address, bytes, self.number(width), self.number(crosses), value];
            shadow.push(match table {
                Some(table) => self.node("__quarry_load_at", &[table.as_slice(), &arguments].concat()),
                None => self.node("__quarry_load", &arguments),
            });
        }
        self.set_shadow(load, shadow);
    }

    pub fn visit_store(&mut self, store: Value<'m>) {
        let (value, pointer) = (store.operand(0), store.operand(1));
        self.ir.place_before(store);
        let written = self.announce_write(store);
        self.place_after(store);
        for (leaf, shadow) in self.leaves(value.ty()).into_iter().zip(self.shadow(value)) {
            let shadow = written.unwrap_or(shadow);
            let address = self.address(self.ir.offset(pointer, leaf.offset));
            let bytes = self.ir.store_size(leaf.ty);
            if leaf.width.is_none() {
                self.act("__quarry_clear", &[address, self.address_type().constant(bytes)]);
                continue;
            }
            let part = self.wide(self.ir.extract(value, &leaf.path));
            let crosses = self.number(may_cross(store, &leaf, bytes));
            self.act("__quarry_store", &[address, self.word().constant(bytes), crosses, shadow, part]);
        }
    }

    /// Stack objects start concrete. Those of fixed size in the entry are cleared when the function is entered.
    pub fn visit_alloca(&mut self, alloca: Value<'m>) {
        let in_entry = alloca.block() == self.function.blocks()[0];
        if !(in_entry && is_fixed_alloca(alloca)) {
            self.place_after(alloca);
            self.clear_alloca(alloca);
            self.act("__quarry_local_sized", &[self.address(alloca), self.alloca_bytes(alloca)]);
        }
    }

    /// Clears the shadow of a stack object at the current place.
    pub fn clear_alloca(&self, alloca: Value<'m>) {
        self.act("__quarry_clear", &[self.address(alloca), self.alloca_bytes(alloca)]);
    }

    fn alloca_bytes(&self, alloca: Value<'m>) -> Value<'m> {
        let size = self.address_type().constant(self.ir.allocation_size(alloca.allocated_type()));
        let count = self.ir.as_int(alloca.operand(0), self.ir.pointer_bits());
        self.ir.mul(size, count)
    }

    /// Read-modify-write: concrete, and the run depends on what was read.
    pub fn visit_atomic(&mut self, instruction: Value<'m>) {
        self.pin_operands(instruction, GapKind::AtomicOperation, "atomic read-modify-write");
        let (pointer, value) = (instruction.operand(0), instruction.operand(1));
        let bytes = self.address_type().constant(self.ir.store_size(value.ty()));
        self.act("__quarry_pin_bytes", &[self.address(pointer), bytes]);
        self.place_after(instruction);
        self.act("__quarry_clear", &[self.address(pointer), bytes]);
    }

    /// Tells the runtime of a read at an address that may be symbolic. Gives whether it is, and the node of one that became
    /// a table; `None` when no part of the address can be symbolic. `width` is 0 for what is not one scalar.
    pub fn announce_read(
        &self,
        access: Value<'m>,
        pointer: Value<'m>,
        bytes: u64,
        width: u32,
    ) -> Option<[Value<'m>; 2]> {
        let arguments = self.describe(access, pointer, packed(bytes, width, false))?;
        Some([arguments[0], self.node("__quarry_read", &arguments)])
    }

    /// Tells the runtime of a store; gives the node that is there afterwards if it stores one scalar.
    fn announce_write(&self, store: Value<'m>) -> Option<Value<'m>> {
        let (value, pointer) = (store.operand(0), store.operand(1));
        let bytes = self.ir.store_size(value.ty());
        let scalar = self.tracked_width(value);
        let mut arguments = self.describe(store, pointer, packed(bytes, scalar.unwrap_or(0), true))?;
        arguments.push(self.scalar_shadow(value));
        arguments.push(if scalar.is_some() { self.wide(value) } else { self.ir.int(64).zero() });
        let written = self.node("__quarry_write", &arguments);
        scalar.map(|_| written)
    }

    /// What the runtime wants to know of an access at a symbolic address, beginning with whether it is one.
    fn describe(&self, access: Value<'m>, pointer: Value<'m>, packed: u32) -> Option<Vec<Value<'m>>> {
        let mut parts = Vec::new();
        let root = self.find_parts(pointer, &mut parts);
        let any = parts.iter().map(|part| part.shadow).reduce(|a, b| self.ir.or(a, b))?;
        for (part, is_first) in parts.iter().zip(std::iter::once(1).chain(std::iter::repeat(0))) {
            match part.stride {
                None => self.act("__quarry_base", &[any, part.shadow, part.value]),
                Some(stride) => {
                    let stride = self.ir.int(64).constant(stride);
                    let arguments = [any, self.number(is_first), stride, part.shadow, part.value];
                    self.act("__quarry_index", &arguments);
                }
            }
        }
        let size = self.address_type().constant(self.object_size(root).unwrap_or(0));
        let place = self.number(self.pass.place(&self.function.name(), access));
        let (address, root) = (self.address(pointer), self.address(root));
        Some(vec![any, address, root, size, self.number(packed), place])
    }

    /// The parts of an address that may be symbolic, the pointer first. Returns the pointer that it starts from.
    fn find_parts(&self, pointer: Value<'m>, parts: &mut Vec<Part<'m>>) -> Value<'m> {
        if !self.is_bare_address(pointer) {
            let shadow = self.scalar_shadow(pointer);
            if !shadow.is_zero() {
                parts.push(Part { stride: None, shadow, value: self.wide(pointer) });
            }
            return start_of(pointer);
        }
        let root = self.find_parts(pointer.operand(0), parts);
        let width = self.ir.pointer_bits();
        for (index, step) in pointer.operands().into_iter().skip(1).zip(steps(self, pointer)) {
            let Step::Stride(stride) = step else { continue };
            let shadow = self.resize(self.scalar_shadow(index), index.ty().bits(), width, true);
            if !shadow.is_zero() {
                let value = self.wide(self.ir.as_signed(index, width));
                parts.push(Part { stride: Some(stride), shadow, value });
            }
        }
        root
    }
}

/// A part of an address that may be symbolic.
struct Part<'m> {
    /// Bytes that one more of it adds; `None` for the pointer itself.
    stride: Option<u64>,
    shadow: Value<'m>,
    value: Value<'m>,
}

/// An access in one number, as the runtime takes it apart.
fn packed(bytes: u64, width: u32, is_write: bool) -> u32 {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(0xffff);
    bytes | width << 16 | u32::from(is_write) << 24
}

/// The start of the object that a constant address lies in, if it names one.
fn start_of<'m>(mut pointer: Value<'m>) -> Value<'m> {
    while pointer.is_constant() && pointer.is_gep() {
        pointer = pointer.operand(0);
    }
    pointer
}

/// Whether an address is used for nothing but accesses, here or at a further offset; asked before it is used by code
/// of the instrumentation.
pub fn is_only_accessed(address: Value<'_>) -> bool {
    address.users().into_iter().all(|user| match user.opcode() {
        LLVMOpcode::LLVMLoad => true,
        LLVMOpcode::LLVMStore => user.operand(0) != address,
        LLVMOpcode::LLVMGetElementPtr => user.operand(0) == address && is_only_accessed(user),
        LLVMOpcode::LLVMCall => direct_callee(user).is_some_and(|callee| callee.name() == WATCH_HOOK),
        _ => false,
    })
}

/// Whether an access may reach into a second page: not when it is aligned to its own size.
fn may_cross(access: Value<'_>, leaf: &Leaf<'_>, bytes: u64) -> u32 {
    let declared = u64::from(access.alignment());
    let alignment = match leaf.offset {
        0 => declared,
        offset => declared.min(offset & offset.wrapping_neg()),
    };
    u32::from(!(bytes.is_power_of_two() && alignment >= bytes))
}
