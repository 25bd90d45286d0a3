//! Safe, typed reading of LLVM modules through the C API.
//!
//! The C API answers by bare pointers that are valid as long as their module lives; here each carries the module's
//! lifetime, so a value cannot outlive it. Nothing here changes a module but [`OldDebugFormat`], which undoes its change.
//! Limit: covers what lowering asks for, not all of LLVM.

mod debug;
pub(crate) use debug::{DebugMember, DebugType};

use std::{
    ffi::{CStr, c_char, c_uint},
    marker::PhantomData,
};

use inkwell::llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMTypeKind, core::*, prelude::*, target::*,
};
use inkwell::{
    module::Module,
    values::{FunctionValue, InstructionValue},
};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($raw:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub(crate) struct $name<'m>($raw, PhantomData<&'m ()>);

        impl<'m> $name<'m> {
            fn new(raw: $raw) -> Option<Self> {
                (!raw.is_null()).then_some(Self(raw, PhantomData))
            }
        }
    )*};
}

handles! {
    /// Anything that can be an operand: constants, instructions, functions, arguments.
    Value(LLVMValueRef);
    /// A type.
    Ty(LLVMTypeRef);
    /// A basic block.
    Bb(LLVMBasicBlockRef);
    /// A node of debug information.
    Meta(LLVMMetadataRef);
}

/// The module being read.
#[derive(Clone, Copy)]
pub(crate) struct Ir<'m> {
    raw: LLVMModuleRef,
    layout: LLVMTargetDataRef,
    module: PhantomData<&'m ()>,
}

/// While it lives, debug records are calls of `llvm.dbg.*`, the only form the C API can read.
pub(crate) struct OldDebugFormat {
    module: LLVMModuleRef,
    was_new: LLVMBool,
}

impl OldDebugFormat {
    pub(crate) fn of(module: &Module<'_>) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: the module is alive; the change only rewrites how debug records are stored.
        unsafe {
            let was_new = LLVMIsNewDbgInfoFormat(module);
            LLVMSetIsNewDbgInfoFormat(module, 0);
            Self { module, was_new }
        }
    }
}

impl Drop for OldDebugFormat {
    fn drop(&mut self) {
        // SAFETY: made from a module that the maker keeps alive.
        unsafe { LLVMSetIsNewDbgInfoFormat(self.module, self.was_new) }
    }
}

/// A C API list: first element, then the next of each.
fn list<'m, T: Copy + 'm>(
    first: Option<T>,
    next: impl Fn(T) -> Option<T> + 'm,
) -> impl Iterator<Item = T> + 'm {
    std::iter::successors(first, move |&item| next(item))
}

/// Text given by pointer and length; not necessarily ended by a zero.
///
/// # Safety
/// `data` must be null or point to `length` bytes that live long enough to be copied.
unsafe fn text(data: *const c_char, length: usize) -> String {
    if data.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

// SAFETY of all calls below: the handles come from a module that outlives `'m`, and each call is made only on the kind of
// value it is defined for; the C API returns null where it has no answer, which becomes `None`.

impl<'m> Ir<'m> {
    pub(crate) fn of(module: &'m Module<'_>) -> Self {
        let raw = module.as_mut_ptr();
        Self { raw, layout: unsafe { LLVMGetModuleDataLayout(raw) }, module: PhantomData }
    }

    pub(crate) fn functions(self) -> impl Iterator<Item = Value<'m>> + 'm {
        list(Value::new(unsafe { LLVMGetFirstFunction(self.raw) }), |f| {
            Value::new(unsafe { LLVMGetNextFunction(f.0) })
        })
    }

    pub(crate) fn globals(self) -> impl Iterator<Item = Value<'m>> + 'm {
        list(Value::new(unsafe { LLVMGetFirstGlobal(self.raw) }), |g| {
            Value::new(unsafe { LLVMGetNextGlobal(g.0) })
        })
    }

    pub(crate) fn pointer_bits(self) -> u32 {
        8 * unsafe { LLVMPointerSize(self.layout) }
    }

    /// Bytes a value of the type takes in an array.
    pub(crate) fn size(self, ty: Ty<'m>) -> u64 {
        unsafe { LLVMABISizeOfType(self.layout, ty.0) }
    }

    /// Bytes a store of the type writes.
    pub(crate) fn store_size(self, ty: Ty<'m>) -> u64 {
        unsafe { LLVMStoreSizeOfType(self.layout, ty.0) }
    }

    pub(crate) fn align(self, ty: Ty<'m>) -> u32 {
        unsafe { LLVMABIAlignmentOfType(self.layout, ty.0) }
    }

    /// Byte offset of a structure's member.
    pub(crate) fn member_offset(self, structure: Ty<'m>, member: u32) -> u64 {
        unsafe { LLVMOffsetOfElement(self.layout, structure.0, member) }
    }

    fn context(self) -> LLVMContextRef {
        unsafe { LLVMGetModuleContext(self.raw) }
    }

    /// A floating-point constant as an integer of the same bits.
    pub(crate) fn float_bits(self, constant: Value<'m>, bits: u32) -> Option<u128> {
        let integer = unsafe { LLVMConstBitCast(constant.0, LLVMIntTypeInContext(self.context(), bits)) };
        Value::new(integer).filter(|value| value.is_int()).and_then(Value::int)
    }
}

impl<'m> Value<'m> {
    pub(crate) fn name(self) -> String {
        let mut length = 0;
        unsafe { text(LLVMGetValueName2(self.0, &mut length), length) }
    }

    pub(crate) fn ty(self) -> Ty<'m> {
        Ty(unsafe { LLVMTypeOf(self.0) }, PhantomData)
    }

    pub(crate) fn linkage(self) -> LLVMLinkage {
        unsafe { LLVMGetLinkage(self.0) }
    }

    pub(crate) fn is_declaration(self) -> bool {
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    pub(crate) fn is_function(self) -> bool {
        !unsafe { LLVMIsAFunction(self.0) }.is_null()
    }

    pub(crate) fn is_instruction(self) -> bool {
        !unsafe { LLVMIsAInstruction(self.0) }.is_null()
    }

    pub(crate) fn is_int(self) -> bool {
        !unsafe { LLVMIsAConstantInt(self.0) }.is_null()
    }

    pub(crate) fn is_float(self) -> bool {
        !unsafe { LLVMIsAConstantFP(self.0) }.is_null()
    }

    pub(crate) fn is_null_pointer(self) -> bool {
        !unsafe { LLVMIsAConstantPointerNull(self.0) }.is_null()
    }

    /// `undef` or `poison`.
    pub(crate) fn is_undefined(self) -> bool {
        !unsafe { LLVMIsAUndefValue(self.0) }.is_null()
    }

    pub(crate) fn is_zero(self) -> bool {
        !unsafe { LLVMIsAConstantAggregateZero(self.0) }.is_null()
    }

    pub(crate) fn is_inline_assembly(self) -> bool {
        !unsafe { LLVMIsAInlineAsm(self.0) }.is_null()
    }

    /// Text of inline assembly.
    pub(crate) fn assembly_text(self) -> String {
        let mut length = 0;
        unsafe { text(LLVMGetInlineAsmAsmString(self.0, &mut length), length) }
    }

    /// The aliased constant of an alias.
    pub(crate) fn aliasee(self) -> Option<Self> {
        if unsafe { LLVMIsAGlobalAlias(self.0) }.is_null() {
            return None;
        }
        Self::new(unsafe { LLVMAliasGetAliasee(self.0) })
    }

    /// Function and block of a `blockaddress`.
    pub(crate) fn block_address(self) -> Option<(Self, Bb<'m>)> {
        if unsafe { LLVMIsABlockAddress(self.0) }.is_null() {
            return None;
        }
        let block = Bb::new(unsafe { LLVMGetBlockAddressBasicBlock(self.0) })?;
        Self::new(unsafe { LLVMGetBlockAddressFunction(self.0) }).map(|function| (function, block))
    }

    /// Operation of a constant expression.
    pub(crate) fn constant_opcode(self) -> Option<LLVMOpcode> {
        let expression = !unsafe { LLVMIsAConstantExpr(self.0) }.is_null();
        expression.then(|| unsafe { LLVMGetConstOpcode(self.0) })
    }

    /// An integer constant of at most 128 bits, zero-extended.
    /// For other users of the C API, as long as the module lives.
    pub(crate) fn raw(self) -> LLVMValueRef {
        self.0
    }

    pub(crate) fn int(self) -> Option<u128> {
        let bits = self.ty().int_bits()?;
        match bits {
            0..=64 => Some(u128::from(unsafe { LLVMConstIntGetZExtValue(self.0) })),
            // The C API reads no wider ones; their text is `i128 -12`.
            65..=128 => {
                let text = self.print();
                let value: i128 = text.rsplit(' ').next()?.parse().ok()?;
                Some(value.cast_unsigned() & (u128::MAX >> (128 - bits)))
            }
            _ => None,
        }
    }

    /// The value as LLVM writes it; slow for anything but plain constants.
    pub(crate) fn print(self) -> String {
        unsafe {
            let raw = LLVMPrintValueToString(self.0);
            let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
            LLVMDisposeMessage(raw);
            text
        }
    }

    pub(crate) fn n_operands(self) -> u32 {
        u32::try_from(unsafe { LLVMGetNumOperands(self.0) }).unwrap_or(0)
    }

    /// The operand with this number, which must exist.
    pub(crate) fn operand(self, number: u32) -> Self {
        Self::new(unsafe { LLVMGetOperand(self.0, number) }).expect("the operand exists")
    }

    pub(crate) fn operands(self) -> impl Iterator<Item = Self> + 'm {
        (0..self.n_operands()).map(move |number| self.operand(number))
    }

    /// Element of a constant array, structure or vector.
    pub(crate) fn element(self, number: u32) -> Option<Self> {
        Self::new(unsafe { LLVMGetAggregateElement(self.0, number) })
    }

    /// Bytes of a constant array of `i8`.
    pub(crate) fn string_bytes(self) -> Option<Vec<u8>> {
        unsafe {
            if LLVMIsAConstantDataSequential(self.0).is_null() || LLVMIsConstantString(self.0) == 0 {
                return None;
            }
            let mut length = 0;
            let data = LLVMGetAsString(self.0, &mut length);
            Some(std::slice::from_raw_parts(data.cast::<u8>(), length).to_vec())
        }
    }

    /// Whether the function has this attribute.
    pub(crate) fn has_attribute(self, name: &str) -> bool {
        self.attribute(LLVMAttributeFunctionIndex, name).is_some()
    }

    fn attribute(self, index: c_uint, name: &str) -> Option<LLVMAttributeRef> {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMGetEnumAttributeAtIndex(self.0, index, kind);
            (!attribute.is_null()).then_some(attribute)
        }
    }

    /// What a parameter passed by value in the caller's memory points to.
    pub(crate) fn by_value_type(self, parameter: u32) -> Option<Ty<'m>> {
        let attribute = self.attribute(parameter + 1, "byval")?;
        Ty::new(unsafe { LLVMGetTypeAttributeValue(attribute) })
    }

    pub(crate) fn function_type(self) -> Ty<'m> {
        Ty(unsafe { LLVMGlobalGetValueType(self.0) }, PhantomData)
    }

    /// Type of a global's contents.
    pub(crate) fn content_type(self) -> Ty<'m> {
        self.function_type()
    }

    pub(crate) fn parameters(self) -> Vec<Self> {
        (0..unsafe { LLVMCountParams(self.0) })
            .filter_map(|number| Self::new(unsafe { LLVMGetParam(self.0, number) }))
            .collect()
    }

    pub(crate) fn blocks(self) -> impl Iterator<Item = Bb<'m>> + 'm {
        list(Bb::new(unsafe { LLVMGetFirstBasicBlock(self.0) }), |block| {
            Bb::new(unsafe { LLVMGetNextBasicBlock(block.0) })
        })
    }

    pub(crate) fn initializer(self) -> Option<Self> {
        Self::new(unsafe { LLVMGetInitializer(self.0) })
    }

    pub(crate) fn is_constant_global(self) -> bool {
        unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    /// Alignment of a global, `alloca`, load or store; 0 when only the type's.
    pub(crate) fn alignment(self) -> u32 {
        unsafe { LLVMGetAlignment(self.0) }
    }
}

/// Instructions.
impl<'m> Value<'m> {
    pub(crate) fn opcode(self) -> LLVMOpcode {
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    /// The function as inkwell sees it.
    pub(crate) fn as_function(self) -> Option<FunctionValue<'m>> {
        unsafe { FunctionValue::new(self.0) }
    }

    /// The instruction as inkwell sees it.
    pub(crate) fn as_instruction(self) -> InstructionValue<'m> {
        unsafe { InstructionValue::new(self.0) }
    }

    /// Called value, arguments and function type of a call.
    pub(crate) fn call(self) -> (Self, Vec<Self>, Ty<'m>) {
        let callee = Self::new(unsafe { LLVMGetCalledValue(self.0) }).expect("a call calls something");
        let arguments = (0..unsafe { LLVMGetNumArgOperands(self.0) }).map(|number| self.operand(number));
        (callee, arguments.collect(), Ty(unsafe { LLVMGetCalledFunctionType(self.0) }, PhantomData))
    }

    pub(crate) fn allocated_type(self) -> Ty<'m> {
        Ty(unsafe { LLVMGetAllocatedType(self.0) }, PhantomData)
    }

    /// The type that the first index of a `getelementptr` steps over.
    pub(crate) fn gep_source_type(self) -> Ty<'m> {
        Ty(unsafe { LLVMGetGEPSourceElementType(self.0) }, PhantomData)
    }

    pub(crate) fn integer_predicate(self) -> inkwell::llvm_sys::LLVMIntPredicate {
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    pub(crate) fn float_predicate(self) -> inkwell::llvm_sys::LLVMRealPredicate {
        unsafe { LLVMGetFCmpPredicate(self.0) }
    }

    pub(crate) fn atomic_operation(self) -> inkwell::llvm_sys::LLVMAtomicRMWBinOp {
        unsafe { LLVMGetAtomicRMWBinOp(self.0) }
    }

    /// Values and blocks of a phi.
    pub(crate) fn incoming(self) -> Vec<(Self, Bb<'m>)> {
        let one = |number| unsafe {
            let value = Self::new(LLVMGetIncomingValue(self.0, number));
            value.zip(Bb::new(LLVMGetIncomingBlock(self.0, number)))
        };
        (0..unsafe { LLVMCountIncoming(self.0) }).filter_map(one).collect()
    }

    /// Member path of `extractvalue` and `insertvalue`.
    pub(crate) fn member_path(self) -> Vec<u32> {
        unsafe {
            let count = LLVMGetNumIndices(self.0) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.0), count).to_vec()
        }
    }

    pub(crate) fn successors(self) -> Vec<Bb<'m>> {
        (0..unsafe { LLVMGetNumSuccessors(self.0) })
            .filter_map(|number| Bb::new(unsafe { LLVMGetSuccessor(self.0, number) }))
            .collect()
    }

    pub(crate) fn is_conditional(self) -> bool {
        unsafe { LLVMIsConditional(self.0) != 0 }
    }
}

impl<'m> Bb<'m> {
    pub(crate) fn instructions(self) -> impl Iterator<Item = Value<'m>> + 'm {
        list(Value::new(unsafe { LLVMGetFirstInstruction(self.0) }), |instruction| {
            Value::new(unsafe { LLVMGetNextInstruction(instruction.0) })
        })
    }

    pub(crate) fn terminator(self) -> Option<Value<'m>> {
        Value::new(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }
}

impl<'m> Ty<'m> {
    pub(crate) fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    pub(crate) fn int_bits(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMIntegerTypeKind).then(|| unsafe { LLVMGetIntTypeWidth(self.0) })
    }

    pub(crate) fn is_sized(self) -> bool {
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }

    pub(crate) fn result(self) -> Self {
        Self(unsafe { LLVMGetReturnType(self.0) }, PhantomData)
    }

    pub(crate) fn is_variadic(self) -> bool {
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    pub(crate) fn parameters(self) -> Vec<Self> {
        let mut parameters = vec![std::ptr::null_mut(); unsafe { LLVMCountParamTypes(self.0) } as usize];
        unsafe { LLVMGetParamTypes(self.0, parameters.as_mut_ptr()) };
        parameters.into_iter().filter_map(Self::new).collect()
    }

    pub(crate) fn members(self) -> Vec<Self> {
        let mut members = vec![std::ptr::null_mut(); unsafe { LLVMCountStructElementTypes(self.0) } as usize];
        unsafe { LLVMGetStructElementTypes(self.0, members.as_mut_ptr()) };
        members.into_iter().filter_map(Self::new).collect()
    }

    /// Element type of an array or vector.
    pub(crate) fn element(self) -> Self {
        Self(unsafe { LLVMGetElementType(self.0) }, PhantomData)
    }

    pub(crate) fn array_length(self) -> u64 {
        unsafe { LLVMGetArrayLength2(self.0) }
    }

    pub(crate) fn vector_length(self) -> u64 {
        u64::from(unsafe { LLVMGetVectorSize(self.0) })
    }
}
