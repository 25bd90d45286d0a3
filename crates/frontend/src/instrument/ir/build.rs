//! Building instructions at the current place.

use std::ffi::c_uint;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMTypeKind};

use super::{Block, Ir, Type, Value};

impl Ir {
    /// New instructions go before this one and get its debug location.
    pub fn place_before(&self, instruction: Value) {
        // SAFETY: called for instructions only.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, instruction.0);
            self.locate_at(instruction);
        }
    }

    /// New instructions go before `place` but get the debug location of `origin`.
    pub fn place_before_from(&self, place: Value, origin: Value) {
        // SAFETY: called for instructions only.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, place.0);
            self.locate_at(origin);
        }
    }

    unsafe fn locate_at(&self, instruction: Value) {
        // SAFETY: by the caller.
        unsafe { LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(instruction.0)) }
    }

    /// New instructions go to the end of the block, without debug location.
    pub fn place_at_end(&self, block: Block) {
        // SAFETY: handles are valid; a null location is allowed.
        unsafe {
            LLVMPositionBuilderAtEnd(self.builder, block.0);
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
        }
    }

    /// Puts a detached instruction at the current place.
    pub fn insert(&self, instruction: Value) {
        // SAFETY: the instruction stands in no block.
        unsafe { LLVMInsertIntoBuilder(self.builder, instruction.0) }
    }

    pub fn call(&self, function: Value, arguments: &[Value]) -> Value {
        self.call_as(function.value_type(), function, arguments)
    }

    /// A call through any pointer with this function type.
    pub fn call_as(&self, ty: Type, callee: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<_> = arguments.iter().map(|value| value.0).collect();
        let n = c_uint::try_from(raw.len()).expect("few arguments");
        // SAFETY: the pointer and count describe `raw`.
        Value(unsafe { LLVMBuildCall2(self.builder, ty.0, callee.0, raw.as_mut_ptr(), n, c"".as_ptr()) })
    }

    pub fn load(&self, ty: Type, address: Value) -> Value {
        // SAFETY: `address` is a pointer.
        Value(unsafe { LLVMBuildLoad2(self.builder, ty.0, address.0, c"".as_ptr()) })
    }

    pub fn store(&self, value: Value, address: Value) {
        // SAFETY: `address` is a pointer.
        unsafe { LLVMBuildStore(self.builder, value.0, address.0) };
    }

    /// A store or load that no optimisation may move or merge.
    pub fn store_volatile(&self, value: Value, address: Value) {
        // SAFETY: as for `store`.
        unsafe { LLVMSetVolatile(LLVMBuildStore(self.builder, value.0, address.0), 1) }
    }

    pub fn load_volatile(&self, ty: Type, address: Value) -> Value {
        let load = self.load(ty, address);
        // SAFETY: a load may be volatile.
        unsafe { LLVMSetVolatile(load.0, 1) };
        load
    }

    pub fn alloca(&self, ty: Type) -> Value {
        // SAFETY: handles are valid.
        Value(unsafe { LLVMBuildAlloca(self.builder, ty.0, c"".as_ptr()) })
    }

    pub fn phi(&self, ty: Type) -> Value {
        // SAFETY: handles are valid.
        Value(unsafe { LLVMBuildPhi(self.builder, ty.0, c"".as_ptr()) })
    }

    pub fn freeze(&self, value: Value) -> Value {
        // SAFETY: handles are valid.
        Value(unsafe { LLVMBuildFreeze(self.builder, value.0, c"".as_ptr()) })
    }

    pub fn and(&self, a: Value, b: Value) -> Value {
        // SAFETY: both are integers of one type.
        Value(unsafe { LLVMBuildAnd(self.builder, a.0, b.0, c"".as_ptr()) })
    }

    pub fn or(&self, a: Value, b: Value) -> Value {
        // SAFETY: as for `and`.
        Value(unsafe { LLVMBuildOr(self.builder, a.0, b.0, c"".as_ptr()) })
    }

    pub fn sub(&self, a: Value, b: Value) -> Value {
        // SAFETY: as for `and`.
        Value(unsafe { LLVMBuildSub(self.builder, a.0, b.0, c"".as_ptr()) })
    }

    pub fn add(&self, a: Value, b: Value) -> Value {
        // SAFETY: as for `and`.
        Value(unsafe { LLVMBuildAdd(self.builder, a.0, b.0, c"".as_ptr()) })
    }

    pub fn mul(&self, a: Value, b: Value) -> Value {
        // SAFETY: as for `and`.
        Value(unsafe { LLVMBuildMul(self.builder, a.0, b.0, c"".as_ptr()) })
    }

    pub fn equal(&self, a: Value, b: Value) -> Value {
        // SAFETY: as for `and`.
        Value(unsafe { LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntEQ, a.0, b.0, c"".as_ptr()) })
    }

    pub fn select(&self, condition: Value, a: Value, b: Value) -> Value {
        // SAFETY: `condition` is an `i1`, the others have one type.
        Value(unsafe { LLVMBuildSelect(self.builder, condition.0, a.0, b.0, c"".as_ptr()) })
    }

    /// An integer, pointer or number (by its bits) as an integer of `bits`, zero-extended or cut.
    pub fn as_int(&self, value: Value, bits: u32) -> Value {
        let ty = self.int(bits);
        let value = match value.ty().kind() {
            LLVMTypeKind::LLVMFloatTypeKind => self.bit_cast(value, self.int(32)),
            LLVMTypeKind::LLVMDoubleTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                self.bit_cast(value, self.int(64))
            }
            _ => value,
        };
        // SAFETY: integers and pointers are left, and pairs of numbers have become integers.
        Value(unsafe {
            if value.ty().is_pointer() {
                LLVMBuildPtrToInt(self.builder, value.0, ty.0, c"".as_ptr())
            } else if value.ty().bits() > bits {
                LLVMBuildTrunc(self.builder, value.0, ty.0, c"".as_ptr())
            } else {
                LLVMBuildZExt(self.builder, value.0, ty.0, c"".as_ptr())
            }
        })
    }

    fn bit_cast(&self, value: Value, ty: Type) -> Value {
        // SAFETY: both types have the same size.
        Value(unsafe { LLVMBuildBitCast(self.builder, value.0, ty.0, c"".as_ptr()) })
    }

    /// An integer as one of `bits`, sign-extended or cut.
    pub fn as_signed(&self, value: Value, bits: u32) -> Value {
        let ty = self.int(bits);
        // SAFETY: called for integers only.
        Value(unsafe { LLVMBuildIntCast2(self.builder, value.0, ty.0, 1, c"".as_ptr()) })
    }

    /// A scalar inside a structure or array value.
    pub fn extract(&self, aggregate: Value, path: &[u32]) -> Value {
        path.iter().fold(aggregate, |value, &index| {
            // SAFETY: the path was made from the value's type.
            Value(unsafe { LLVMBuildExtractValue(self.builder, value.0, index, c"".as_ptr()) })
        })
    }

    /// The address `offset` bytes after `address`.
    pub fn offset(&self, address: Value, offset: u64) -> Value {
        if offset == 0 {
            return address;
        }
        let (byte, index) = (self.int(8), self.int(64).constant(offset));
        // SAFETY: one index into bytes.
        Value(unsafe {
            LLVMBuildGEP2(self.builder, byte.0, address.0, [index.0].as_mut_ptr(), 1, c"".as_ptr())
        })
    }

    pub fn ret(&self, value: Value) {
        // SAFETY: the value has the function's result type.
        unsafe { LLVMBuildRet(self.builder, value.0) };
    }
}
