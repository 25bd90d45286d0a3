//! LLVM values as small copyable handles.
//!
//! The only place of the instrumentation that calls LLVM's C interface: inkwell's typed values are too narrow for a pass
//! that treats every instruction of every type. Limit: handles are valid only while the module they come from lives and,
//! for instructions, while they stand in it; the instrumentation erases nothing but marks, at its very end.

mod build;
mod call;
mod global;
mod module;

use std::ffi::{CStr, CString, c_uint};

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
pub use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMTypeKind};

pub use module::Ir;

/// A value: instruction, argument, constant, function, global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(LLVMValueRef);

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type(LLVMTypeRef);

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block(LLVMBasicBlockRef);

/// Where an attribute of a function or call stands.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Function,
    Result,
    Parameter(u32),
}

impl Place {
    fn index(self) -> c_uint {
        match self {
            Self::Function => c_uint::MAX,
            Self::Result => 0,
            Self::Parameter(index) => index + 1,
        }
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text).expect("names hold no zero byte")
}

fn attribute_kind(name: &str) -> c_uint {
    // SAFETY: the pointer and length describe `name`.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

impl Type {
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
    pub fn fields(self) -> Vec<Type> {
        // SAFETY: called for structure types only; the count bounds the index.
        unsafe {
            (0..LLVMCountStructElementTypes(self.0))
                .map(|k| Type(LLVMStructGetTypeAtIndex(self.0, k)))
                .collect()
        }
    }

    /// Element type of an array or vector.
    pub fn element(self) -> Type {
        // SAFETY: called for arrays and vectors only.
        Type(unsafe { LLVMGetElementType(self.0) })
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
    pub fn result(self) -> Type {
        // SAFETY: called for function types only.
        Type(unsafe { LLVMGetReturnType(self.0) })
    }

    /// Parameter types of a function type.
    pub fn parameters(self) -> Vec<Type> {
        // SAFETY: called for function types only; the buffer has room for all.
        unsafe {
            let n = LLVMCountParamTypes(self.0) as usize;
            let mut types = vec![std::ptr::null_mut(); n];
            LLVMGetParamTypes(self.0, types.as_mut_ptr());
            types.into_iter().map(Type).collect()
        }
    }

    /// The constant with all bits zero.
    pub fn zero(self) -> Value {
        // SAFETY: every first-class type has a null value.
        Value(unsafe { LLVMConstNull(self.0) })
    }

    /// An integer constant.
    pub fn constant(self, value: u64) -> Value {
        // SAFETY: called for integer types only.
        Value(unsafe { LLVMConstInt(self.0, value, 0) })
    }

    /// The type as LLVM prints it.
    pub fn text(self) -> String {
        // SAFETY: the message is copied and disposed of.
        unsafe { take_message(LLVMPrintTypeToString(self.0)) }
    }
}

unsafe fn take_message(message: *mut std::ffi::c_char) -> String {
    // SAFETY: the caller passes an owned message of LLVM.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

impl Block {
    pub fn instructions(self) -> Vec<Value> {
        // SAFETY: handles are valid.
        let mut next = unsafe { LLVMGetFirstInstruction(self.0) };
        std::iter::from_fn(|| {
            let instruction = (!next.is_null()).then_some(Value(next))?;
            // SAFETY: as above.
            next = unsafe { LLVMGetNextInstruction(next) };
            Some(instruction)
        })
        .collect()
    }

    pub fn successors(self) -> Vec<Block> {
        // SAFETY: a block of a finished function has a terminator, and the count bounds the index.
        unsafe {
            let terminator = LLVMGetBasicBlockTerminator(self.0);
            (0..LLVMGetNumSuccessors(terminator)).map(|k| Block(LLVMGetSuccessor(terminator, k))).collect()
        }
    }

    /// The function the block stands in.
    pub fn function(self) -> Value {
        // SAFETY: the block stands in a function.
        Value(unsafe { LLVMGetBasicBlockParent(self.0) })
    }
}

impl Value {
    /// The handle of an inkwell value.
    pub fn of(raw: LLVMValueRef) -> Self {
        Self(raw)
    }

    fn known(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self(raw))
    }

    pub fn ty(self) -> Type {
        // SAFETY: handles are valid.
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM returns a pointer to `length` bytes.
        let bytes = unsafe {
            let start = LLVMGetValueName2(self.0, &mut length);
            std::slice::from_raw_parts(start.cast::<u8>(), length)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    pub fn set_name(self, name: &str) {
        // SAFETY: the pointer and length describe `name`.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    pub fn is_instruction(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsAInstruction(self.0) }.is_null()
    }

    pub fn is_constant(self) -> bool {
        // SAFETY: handles are valid.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    pub fn is_undefined(self) -> bool {
        // SAFETY: handles are valid.
        unsafe { LLVMIsUndef(self.0) != 0 || LLVMIsPoison(self.0) != 0 }
    }

    /// Whether it is the constant with all bits zero.
    pub fn is_zero(self) -> bool {
        // SAFETY: handles are valid.
        self.is_constant() && unsafe { LLVMIsNull(self.0) != 0 }
    }

    /// Value of an integer constant, zero-extended.
    pub fn integer(self) -> Option<u64> {
        // SAFETY: a checked cast; wider constants are refused.
        unsafe {
            let constant = LLVMIsAConstantInt(self.0);
            (!constant.is_null() && self.ty().bits() <= 64).then(|| LLVMConstIntGetZExtValue(constant))
        }
    }

    /// Operation of an instruction.
    pub fn opcode(self) -> LLVMOpcode {
        // SAFETY: called for instructions only.
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    pub fn n_operands(self) -> u32 {
        // SAFETY: handles are valid.
        unsafe { LLVMGetNumOperands(self.0) }.cast_unsigned()
    }

    pub fn operand(self, index: u32) -> Value {
        // SAFETY: callers stay below `n_operands`.
        Value(unsafe { LLVMGetOperand(self.0, index) })
    }

    pub fn operands(self) -> Vec<Value> {
        (0..self.n_operands()).map(|index| self.operand(index)).collect()
    }

    pub fn set_operand(self, index: u32, value: Value) {
        // SAFETY: as for `operand`; the type is the same.
        unsafe { LLVMSetOperand(self.0, index, value.0) }
    }

    /// Whether an operand is a value rather than a block or metadata.
    pub fn is_data(self) -> bool {
        use LLVMTypeKind::*;
        // SAFETY: checked casts.
        let is_block = unsafe { LLVMValueIsBasicBlock(self.0) != 0 };
        !is_block && !matches!(self.ty().kind(), LLVMMetadataTypeKind | LLVMLabelTypeKind | LLVMTokenTypeKind)
    }

    /// The block an instruction stands in.
    pub fn block(self) -> Block {
        // SAFETY: called for instructions only.
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    pub fn next(self) -> Option<Value> {
        // SAFETY: called for instructions only.
        Self::known(unsafe { LLVMGetNextInstruction(self.0) })
    }

    /// Users of the value.
    pub fn users(self) -> Vec<Value> {
        // SAFETY: the use list is not changed meanwhile.
        let mut next = unsafe { LLVMGetFirstUse(self.0) };
        std::iter::from_fn(|| {
            let current = (!next.is_null()).then_some(next)?;
            // SAFETY: as above.
            unsafe {
                next = LLVMGetNextUse(current);
                Some(Value(LLVMGetUser(current)))
            }
        })
        .collect()
    }

    pub fn replace_uses_with(self, other: Value) {
        // SAFETY: same type; checked by LLVM.
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
    }

    /// Takes an instruction out of its function for good.
    pub fn erase(self) {
        // SAFETY: the caller has replaced all uses.
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    /// Takes an instruction out of its block, to be put elsewhere.
    pub fn detach(self) {
        // SAFETY: called for instructions only.
        unsafe { LLVMInstructionRemoveFromParent(self.0) }
    }

    /// Line and column of the debug location, 0 when there is none.
    pub fn position(self) -> (u32, u32) {
        // SAFETY: called for instructions and functions.
        unsafe { (LLVMGetDebugLocLine(self.0), LLVMGetDebugLocColumn(self.0)) }
    }

    pub fn metadata(self, kind: u32) -> Option<Value> {
        // SAFETY: called for instructions only.
        Self::known(unsafe { LLVMGetMetadata(self.0, kind) })
    }

    pub fn set_metadata(self, kind: u32, node: Value) {
        // SAFETY: called for instructions only.
        unsafe { LLVMSetMetadata(self.0, kind, node.0) }
    }
}
