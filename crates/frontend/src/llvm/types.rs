//! Types.

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;

use super::{Type, Value, take_message};

impl<'m> Type<'m> {
    pub fn kind(self) -> LLVMTypeKind {
        // SAFETY: handles are valid (module head).
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// Bits of an integer type.
    pub fn bits(self) -> u32 {
        // SAFETY: called for integer types only.
        unsafe { LLVMGetIntTypeWidth(self.0) }
    }

    pub fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    pub fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    pub fn is_struct(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMStructTypeKind
    }

    pub fn is_array(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMArrayTypeKind
    }

    /// Whether it is `<2 x float>`.
    pub fn is_pair_of_singles(self) -> bool {
        // SAFETY: the size is asked of vectors only.
        self.kind() == LLVMTypeKind::LLVMVectorTypeKind
            && unsafe { LLVMGetVectorSize(self.0) } == 2
            && self.element().kind() == LLVMTypeKind::LLVMFloatTypeKind
    }

    /// Types of a structure's fields.
    pub fn fields(self) -> Vec<Type<'m>> {
        // SAFETY: called for structure types only; the count bounds the index.
        unsafe {
            (0..LLVMCountStructElementTypes(self.0))
                .map(|k| Type::of(LLVMStructGetTypeAtIndex(self.0, k)))
                .collect()
        }
    }

    /// Element type of an array or vector.
    pub fn element(self) -> Type<'m> {
        // SAFETY: called for arrays and vectors only.
        Type::of(unsafe { LLVMGetElementType(self.0) })
    }

    /// Elements of an array.
    pub fn array_length(self) -> u64 {
        // SAFETY: called for arrays only.
        unsafe { LLVMGetArrayLength2(self.0) }
    }

    /// Whether a function type takes variable arguments.
    pub fn is_variadic(self) -> bool {
        // SAFETY: called for function types only.
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    /// Result type of a function type.
    pub fn result(self) -> Type<'m> {
        // SAFETY: called for function types only.
        Type::of(unsafe { LLVMGetReturnType(self.0) })
    }

    /// Parameter types of a function type.
    pub fn parameters(self) -> Vec<Type<'m>> {
        // SAFETY: called for function types only; the buffer has room for all.
        unsafe {
            let n = LLVMCountParamTypes(self.0) as usize;
            let mut types = vec![std::ptr::null_mut(); n];
            LLVMGetParamTypes(self.0, types.as_mut_ptr());
            types.into_iter().map(Type::of).collect()
        }
    }

    /// The constant with all bits zero.
    pub fn zero(self) -> Value<'m> {
        // SAFETY: every first-class type has a null value.
        Value::of(unsafe { LLVMConstNull(self.0) })
    }

    /// An integer constant.
    pub fn constant(self, value: u64) -> Value<'m> {
        // SAFETY: called for integer types only.
        Value::of(unsafe { LLVMConstInt(self.0, value, 0) })
    }

    /// The type as LLVM prints it.
    pub fn text(self) -> String {
        // SAFETY: the message is copied and disposed of.
        unsafe { take_message(LLVMPrintTypeToString(self.0)) }
    }

    /// Bits of an integer type; `None` for others.
    pub fn int_bits(self) -> Option<u32> {
        self.is_integer().then(|| self.bits())
    }

    pub fn is_sized(self) -> bool {
        // SAFETY: handles are valid.
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }

    /// Elements of a vector.
    pub fn vector_length(self) -> u64 {
        // SAFETY: called for vectors only.
        u64::from(unsafe { LLVMGetVectorSize(self.0) })
    }
}
