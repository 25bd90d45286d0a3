//! Calls and the other instructions that carry more than operands.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTailCallKind};

use super::{Block, Place, Type, Value, attribute_kind};

impl Value {
    pub fn is_call(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsACallInst(self.0) }.is_null()
    }

    pub fn callee(self) -> Value {
        // SAFETY: called for calls only.
        Value(unsafe { LLVMGetCalledValue(self.0) })
    }

    /// Function type of a call.
    pub fn call_type(self) -> Type {
        // SAFETY: called for calls only.
        Type(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    pub fn call_arguments(self) -> Vec<Value> {
        // SAFETY: called for calls only.
        let n = unsafe { LLVMGetNumArgOperands(self.0) };
        (0..n).map(|index| self.operand(index)).collect()
    }

    pub fn is_inline_assembly(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsAInlineAsm(self.0) }.is_null()
    }

    pub fn is_must_tail(self) -> bool {
        // SAFETY: called for calls only.
        unsafe { LLVMGetTailCallKind(self.0) == LLVMTailCallKind::LLVMTailCallKindMustTail }
    }

    pub fn call_has_attribute(self, place: Place, name: &str) -> bool {
        // SAFETY: called for calls only.
        !unsafe { LLVMGetCallSiteEnumAttribute(self.0, place.index(), attribute_kind(name)) }.is_null()
    }

    pub fn remove_call_attribute(self, place: Place, name: &str) {
        // SAFETY: called for calls only.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, place.index(), attribute_kind(name)) }
    }

    pub fn predicate(self) -> LLVMIntPredicate {
        // SAFETY: called for integer compares only.
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    /// The predicate of a compare of numbers, by LLVM's numbers: 1 equal, 2 greater, 4 less, 8 unordered.
    pub fn float_predicate(self) -> u32 {
        // SAFETY: called for compares of numbers only.
        unsafe { LLVMGetFCmpPredicate(self.0) as u32 }
    }

    /// Whether a `br` has a condition.
    pub fn is_conditional(self) -> bool {
        // SAFETY: called for branches only.
        unsafe { LLVMIsConditional(self.0) != 0 }
    }

    pub fn condition(self) -> Value {
        // SAFETY: called for conditional branches only.
        Value(unsafe { LLVMGetCondition(self.0) })
    }

    pub fn set_condition(self, condition: Value) {
        // SAFETY: called for conditional branches with an `i1`.
        unsafe { LLVMSetCondition(self.0, condition.0) }
    }

    /// Declared alignment of a load, store or alloca, in bytes.
    pub fn alignment(self) -> u64 {
        // SAFETY: called for memory accesses only.
        u64::from(unsafe { LLVMGetAlignment(self.0) })
    }

    pub fn allocated_type(self) -> Type {
        // SAFETY: called for allocas only.
        Type(unsafe { LLVMGetAllocatedType(self.0) })
    }

    pub fn is_alloca(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsAAllocaInst(self.0) }.is_null()
    }

    /// Type over which a `getelementptr` (instruction or constant) steps.
    pub fn gep_type(self) -> Type {
        // SAFETY: called for getelementptr only.
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    /// Whether it is a `getelementptr`, as an instruction or a constant.
    pub fn is_gep(self) -> bool {
        // SAFETY: checked casts.
        unsafe {
            !LLVMIsAGetElementPtrInst(self.0).is_null()
                || (!LLVMIsAConstantExpr(self.0).is_null()
                    && LLVMGetConstOpcode(self.0) == LLVMOpcode::LLVMGetElementPtr)
        }
    }

    /// Drops what a `getelementptr` promises about staying inside its object.
    pub fn forget_bounds(self) {
        // SAFETY: called for getelementptr instructions only.
        unsafe { LLVMGEPSetNoWrapFlags(self.0, 0) }
    }

    /// Index path of an `extractvalue` or `insertvalue`.
    pub fn indices(self) -> Vec<u32> {
        // SAFETY: LLVM returns a pointer to that many indices.
        unsafe {
            std::slice::from_raw_parts(LLVMGetIndices(self.0), LLVMGetNumIndices(self.0) as usize).to_vec()
        }
    }

    /// Values and blocks of a phi.
    pub fn incoming(self) -> Vec<(Value, Block)> {
        // SAFETY: called for phis only; the count bounds the index.
        unsafe {
            (0..LLVMCountIncoming(self.0))
                .map(|k| (Value(LLVMGetIncomingValue(self.0, k)), Block(LLVMGetIncomingBlock(self.0, k))))
                .collect()
        }
    }

    pub fn add_incoming(self, value: Value, block: Block) {
        // SAFETY: called for phis with a value of their type.
        unsafe { LLVMAddIncoming(self.0, [value.0].as_mut_ptr(), [block.0].as_mut_ptr(), 1) }
    }
}
