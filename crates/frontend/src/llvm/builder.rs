//! Building instructions at the current place.

use std::ffi::c_uint;
use std::ops::Deref;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::LLVMBuilderRef;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMRealPredicate, LLVMTypeKind};

use super::{Block, Ir, Type, Value};

/// Adds instructions to a module.
pub struct Builder<'m> {
    ir: Ir<'m>,
    raw: LLVMBuilderRef,
}

impl<'m> Deref for Builder<'m> {
    type Target = Ir<'m>;

    fn deref(&self) -> &Ir<'m> {
        &self.ir
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: the builder is ours.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

impl<'m> Builder<'m> {
    pub fn new(module: &'m inkwell::module::Module<'_>) -> Self {
        let ir = Ir::of(module);
        // SAFETY: the context lives as long as its modules.
        Self { ir, raw: unsafe { LLVMCreateBuilderInContext(ir.context) } }
    }

    /// New instructions go before this one and get its debug location.
    pub fn place_before(&self, instruction: Value<'m>) {
        // SAFETY: called for instructions only.
        unsafe {
            LLVMPositionBuilderBefore(self.raw, instruction.0);
            self.locate_at(instruction);
        }
    }

    /// New instructions go before `place` but get the debug location of `origin`.
    pub fn place_before_from(&self, place: Value<'m>, origin: Value<'m>) {
        // SAFETY: called for instructions only.
        unsafe {
            LLVMPositionBuilderBefore(self.raw, place.0);
            self.locate_at(origin);
        }
    }

    unsafe fn locate_at(&self, instruction: Value<'m>) {
        // SAFETY: by the caller.
        unsafe { LLVMSetCurrentDebugLocation2(self.raw, LLVMInstructionGetDebugLoc(instruction.0)) }
    }

    /// New instructions go to the end of the block, without debug location.
    pub fn place_at_end(&self, block: Block<'m>) {
        // SAFETY: handles are valid; a null location is allowed.
        unsafe {
            LLVMPositionBuilderAtEnd(self.raw, block.0);
            LLVMSetCurrentDebugLocation2(self.raw, std::ptr::null_mut());
        }
    }

    /// Puts a detached instruction at the current place.
    pub fn insert(&self, instruction: Value<'m>) {
        // SAFETY: the instruction stands in no block.
        unsafe { LLVMInsertIntoBuilder(self.raw, instruction.0) }
    }

    pub fn call(&self, function: Value<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        self.call_as(function.value_type(), function, arguments)
    }

    /// A call through any pointer with this function type.
    pub fn call_as(&self, ty: Type<'m>, callee: Value<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = arguments.iter().map(|value| value.0).collect();
        let n = c_uint::try_from(raw.len()).expect("few arguments");
        // SAFETY: the pointer and count describe `raw`.
        Value::of(unsafe { LLVMBuildCall2(self.raw, ty.0, callee.0, raw.as_mut_ptr(), n, c"".as_ptr()) })
    }

    pub fn load(&self, ty: Type<'m>, address: Value<'m>) -> Value<'m> {
        // SAFETY: `address` is a pointer.
        Value::of(unsafe { LLVMBuildLoad2(self.raw, ty.0, address.0, c"".as_ptr()) })
    }

    pub fn store(&self, value: Value<'m>, address: Value<'m>) {
        // SAFETY: `address` is a pointer.
        unsafe { LLVMBuildStore(self.raw, value.0, address.0) };
    }

    /// A store or load that no optimisation may move or merge.
    pub fn store_volatile(&self, value: Value<'m>, address: Value<'m>) {
        // SAFETY: as for `store`.
        unsafe { LLVMSetVolatile(LLVMBuildStore(self.raw, value.0, address.0), 1) }
    }

    pub fn load_volatile(&self, ty: Type<'m>, address: Value<'m>) -> Value<'m> {
        let load = self.load(ty, address);
        // SAFETY: a load may be volatile.
        unsafe { LLVMSetVolatile(load.0, 1) };
        load
    }

    pub fn alloca(&self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: handles are valid.
        Value::of(unsafe { LLVMBuildAlloca(self.raw, ty.0, c"".as_ptr()) })
    }

    pub fn phi(&self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: handles are valid.
        Value::of(unsafe { LLVMBuildPhi(self.raw, ty.0, c"".as_ptr()) })
    }

    pub fn freeze(&self, value: Value<'m>) -> Value<'m> {
        // SAFETY: handles are valid.
        Value::of(unsafe { LLVMBuildFreeze(self.raw, value.0, c"".as_ptr()) })
    }

    pub fn and(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: both are integers of one type.
        Value::of(unsafe { LLVMBuildAnd(self.raw, a.0, b.0, c"".as_ptr()) })
    }

    pub fn or(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: as for `and`.
        Value::of(unsafe { LLVMBuildOr(self.raw, a.0, b.0, c"".as_ptr()) })
    }

    pub fn sub(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: as for `and`.
        Value::of(unsafe { LLVMBuildSub(self.raw, a.0, b.0, c"".as_ptr()) })
    }

    pub fn add(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: as for `and`.
        Value::of(unsafe { LLVMBuildAdd(self.raw, a.0, b.0, c"".as_ptr()) })
    }

    pub fn mul(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: as for `and`.
        Value::of(unsafe { LLVMBuildMul(self.raw, a.0, b.0, c"".as_ptr()) })
    }

    pub fn equal(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: as for `and`.
        Value::of(unsafe { LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntEQ, a.0, b.0, c"".as_ptr()) })
    }

    pub fn compare(&self, predicate: LLVMIntPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: as for `and`.
        Value::of(unsafe { LLVMBuildICmp(self.raw, predicate, a.0, b.0, c"".as_ptr()) })
    }

    pub fn compare_floats(&self, predicate: LLVMRealPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: both are floating-point numbers of one type.
        Value::of(unsafe { LLVMBuildFCmp(self.raw, predicate, a.0, b.0, c"".as_ptr()) })
    }

    pub fn select(&self, condition: Value<'m>, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: `condition` is an `i1`, the others have one type.
        Value::of(unsafe { LLVMBuildSelect(self.raw, condition.0, a.0, b.0, c"".as_ptr()) })
    }

    /// An integer, pointer or number (by its bits) as an integer of `bits`, zero-extended or cut.
    pub fn as_int(&self, value: Value<'m>, bits: u32) -> Value<'m> {
        let ty = self.int(bits);
        let value = match value.ty().kind() {
            LLVMTypeKind::LLVMFloatTypeKind => self.bit_cast(value, self.int(32)),
            LLVMTypeKind::LLVMDoubleTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                self.bit_cast(value, self.int(64))
            }
            _ => value,
        };
        // SAFETY: integers and pointers are left, and pairs of numbers have become integers.
        Value::of(unsafe {
            if value.ty().is_pointer() {
                LLVMBuildPtrToInt(self.raw, value.0, ty.0, c"".as_ptr())
            } else if value.ty().bits() > bits {
                LLVMBuildTrunc(self.raw, value.0, ty.0, c"".as_ptr())
            } else {
                LLVMBuildZExt(self.raw, value.0, ty.0, c"".as_ptr())
            }
        })
    }

    fn bit_cast(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: both types have the same size.
        Value::of(unsafe { LLVMBuildBitCast(self.raw, value.0, ty.0, c"".as_ptr()) })
    }

    /// An integer as one of `bits`, sign-extended or cut.
    pub fn as_signed(&self, value: Value<'m>, bits: u32) -> Value<'m> {
        let ty = self.int(bits);
        // SAFETY: called for integers only.
        Value::of(unsafe { LLVMBuildIntCast2(self.raw, value.0, ty.0, 1, c"".as_ptr()) })
    }

    /// A scalar inside a structure or array value.
    pub fn extract(&self, aggregate: Value<'m>, path: &[u32]) -> Value<'m> {
        path.iter().fold(aggregate, |value, &index| {
            // SAFETY: the path was made from the value's type.
            Value::of(unsafe { LLVMBuildExtractValue(self.raw, value.0, index, c"".as_ptr()) })
        })
    }

    /// The address `offset` bytes after `address`.
    pub fn offset(&self, address: Value<'m>, offset: u64) -> Value<'m> {
        if offset == 0 {
            return address;
        }
        let (byte, index) = (self.int(8), self.int(64).constant(offset));
        // SAFETY: one index into bytes.
        Value::of(unsafe {
            LLVMBuildGEP2(self.raw, byte.0, address.0, [index.0].as_mut_ptr(), 1, c"".as_ptr())
        })
    }

    pub fn ret(&self, value: Value<'m>) {
        // SAFETY: the value has the function's result type.
        unsafe { LLVMBuildRet(self.raw, value.0) };
    }
}
