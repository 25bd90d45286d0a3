//! Calls and the other instructions that carry more than operands.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{
    LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, LLVMTailCallKind,
};

use super::{AttributePlace, Block, Type, Value, attribute_kind};

impl<'m> Value<'m> {
    pub fn is_call(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsACallInst(self.0) }.is_null()
    }

    pub fn callee(self) -> Value<'m> {
        // SAFETY: called for calls only.
        Value::of(unsafe { LLVMGetCalledValue(self.0) })
    }

    /// Function type of a call.
    pub fn call_type(self) -> Type<'m> {
        // SAFETY: called for calls only.
        Type::of(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    pub fn call_arguments(self) -> Vec<Value<'m>> {
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

    pub fn call_has_attribute(self, place: AttributePlace, name: &str) -> bool {
        // SAFETY: called for calls only.
        !unsafe { LLVMGetCallSiteEnumAttribute(self.0, place.index(), attribute_kind(name)) }.is_null()
    }

    /// The type that an attribute such as `byval` of an argument carries.
    pub fn call_type_attribute(self, place: AttributePlace, name: &str) -> Option<Type<'m>> {
        // SAFETY: called for calls only; type attributes carry a type.
        unsafe {
            let attribute = LLVMGetCallSiteEnumAttribute(self.0, place.index(), attribute_kind(name));
            (!attribute.is_null()).then(|| Type::of(LLVMGetTypeAttributeValue(attribute)))
        }
    }

    pub fn remove_call_attribute(self, place: AttributePlace, name: &str) {
        // SAFETY: called for calls only.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, place.index(), attribute_kind(name)) }
    }

    pub fn predicate(self) -> LLVMIntPredicate {
        // SAFETY: called for integer compares only.
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    pub fn float_predicate(self) -> LLVMRealPredicate {
        // SAFETY: called for compares of numbers only.
        unsafe { LLVMGetFCmpPredicate(self.0) }
    }

    pub fn atomic_operation(self) -> LLVMAtomicRMWBinOp {
        // SAFETY: called for atomic operations only.
        unsafe { LLVMGetAtomicRMWBinOp(self.0) }
    }

    /// Blocks that a terminator may go to.
    pub fn successors(self) -> Vec<Block<'m>> {
        // SAFETY: called for terminators only; the count bounds the index.
        unsafe { (0..LLVMGetNumSuccessors(self.0)).map(|k| Block::of(LLVMGetSuccessor(self.0, k))).collect() }
    }

    /// Whether a `br` has a condition.
    pub fn is_conditional(self) -> bool {
        // SAFETY: called for branches only.
        unsafe { LLVMIsConditional(self.0) != 0 }
    }

    pub fn condition(self) -> Value<'m> {
        // SAFETY: called for conditional branches only.
        Value::of(unsafe { LLVMGetCondition(self.0) })
    }

    pub fn set_condition(self, condition: Value<'m>) {
        // SAFETY: called for conditional branches with an `i1`.
        unsafe { LLVMSetCondition(self.0, condition.0) }
    }

    /// Declared alignment of a global, load, store or alloca, in bytes; 0 when only the type's.
    pub fn alignment(self) -> u32 {
        // SAFETY: called for globals and memory accesses only.
        unsafe { LLVMGetAlignment(self.0) }
    }

    pub fn allocated_type(self) -> Type<'m> {
        // SAFETY: called for allocas only.
        Type::of(unsafe { LLVMGetAllocatedType(self.0) })
    }

    pub fn is_alloca(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsAAllocaInst(self.0) }.is_null()
    }

    /// Type over which a `getelementptr` (instruction or constant) steps.
    pub fn gep_type(self) -> Type<'m> {
        // SAFETY: called for getelementptr only.
        Type::of(unsafe { LLVMGetGEPSourceElementType(self.0) })
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
    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        // SAFETY: called for phis only; the count bounds the index.
        unsafe {
            (0..LLVMCountIncoming(self.0))
                .map(|k| {
                    (Value::of(LLVMGetIncomingValue(self.0, k)), Block::of(LLVMGetIncomingBlock(self.0, k)))
                })
                .collect()
        }
    }

    pub fn add_incoming(self, value: Value<'m>, block: Block<'m>) {
        // SAFETY: called for phis with a value of their type.
        unsafe { LLVMAddIncoming(self.0, [value.0].as_mut_ptr(), [block.0].as_mut_ptr(), 1) }
    }
}
