//! Shadows of memory: loads, stores, fresh stack objects, atomics.
//!
//! An address that is symbolic is pinned, by what it is computed from: an index used again and again is one node, the
//! addresses made of it are many. Address computations that serve accesses only therefore have no shadow. This is the
//! seam for reads at symbolic addresses: `pin_address` is the one place where an access meets such an address.

use model::GapKind;

use super::function::{FunctionPass, untracked_kind};
use super::ir::{LLVMOpcode, Value};
use super::leaf::Leaf;
use super::prepare::is_fixed_alloca;

impl FunctionPass<'_, '_> {
    pub fn visit_load(&mut self, load: Value) {
        self.ir.place_before(load);
        self.pin_address(load.operand(0));
        self.place_after(load);
        let mut shadow = Vec::new();
        for leaf in self.leaves(load.ty()) {
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
            shadow.push(self.node("__quarry_load", &arguments));
        }
        self.set_shadow(load, shadow);
    }

    pub fn visit_store(&mut self, store: Value) {
        let (value, pointer) = (store.operand(0), store.operand(1));
        self.ir.place_before(store);
        self.pin_address(pointer);
        self.place_after(store);
        for (leaf, shadow) in self.leaves(value.ty()).into_iter().zip(self.shadow(value)) {
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
    pub fn visit_alloca(&mut self, alloca: Value) {
        let in_entry = alloca.block() == self.function.blocks()[0];
        if !(in_entry && is_fixed_alloca(alloca)) {
            self.place_after(alloca);
            self.clear_alloca(alloca);
        }
    }

    /// Clears the shadow of a stack object at the current place.
    pub fn clear_alloca(&self, alloca: Value) {
        let size = self.address_type().constant(self.ir.allocation_size(alloca.allocated_type()));
        let count = self.ir.as_int(alloca.operand(0), self.ir.pointer_bits());
        self.act("__quarry_clear", &[self.address(alloca), self.ir.mul(size, count)]);
    }

    /// Read-modify-write: concrete, and the run depends on what was read.
    pub fn visit_atomic(&mut self, instruction: Value) {
        self.pin_operands(instruction, GapKind::AtomicOperation, "atomic read-modify-write");
        let (pointer, value) = (instruction.operand(0), instruction.operand(1));
        let bytes = self.address_type().constant(self.ir.store_size(value.ty()));
        self.act("__quarry_pin_bytes", &[self.address(pointer), bytes]);
        self.place_after(instruction);
        self.act("__quarry_clear", &[self.address(pointer), bytes]);
    }

    /// The access happens at this address only; another address would be another run.
    pub fn pin_address(&self, pointer: Value) {
        if !self.is_bare_address(pointer) {
            return self.pin_by("__quarry_pin_access", pointer);
        }
        self.pin_address(pointer.operand(0));
        for index in pointer.operands().into_iter().skip(1) {
            self.pin(extended(index));
        }
    }
}

/// Whether an address is used for nothing but accesses, here or at a further offset; asked before it is used by code
/// of the instrumentation.
pub fn is_only_accessed(address: Value) -> bool {
    address.users().into_iter().all(|user| match user.opcode() {
        LLVMOpcode::LLVMLoad => true,
        LLVMOpcode::LLVMStore => user.operand(0) != address,
        LLVMOpcode::LLVMGetElementPtr => user.operand(0) == address && is_only_accessed(user),
        _ => false,
    })
}

/// What an index was before it was widened.
fn extended(mut index: Value) -> Value {
    while index.is_instruction() && matches!(index.opcode(), LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMZExt) {
        index = index.operand(0);
    }
    index
}

/// Whether an access may reach into a second page: not when it is aligned to its own size.
fn may_cross(access: Value, leaf: &Leaf, bytes: u64) -> u32 {
    let declared = access.alignment();
    let alignment = match leaf.offset {
        0 => declared,
        offset => declared.min(offset & offset.wrapping_neg()),
    };
    u32::from(!(bytes.is_power_of_two() && alignment >= bytes))
}
