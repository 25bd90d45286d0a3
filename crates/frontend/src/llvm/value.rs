//! Values of every kind: names, types, operands, users, constants.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::{Block, Type, Value, take_message, text};

impl<'m> Value<'m> {
    pub fn ty(self) -> Type<'m> {
        // SAFETY: handles are valid.
        Type::of(unsafe { LLVMTypeOf(self.0) })
    }

    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM returns a pointer to `length` bytes.
        unsafe { text(LLVMGetValueName2(self.0, &mut length), length) }
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

    /// The function of a label, if the constant is the address of one.
    pub fn function_of_label(self) -> Option<Value<'m>> {
        // SAFETY: a checked cast.
        unsafe {
            let address = LLVMIsABlockAddress(self.0);
            (!address.is_null()).then(|| Value::of(LLVMGetBlockAddressFunction(address)))
        }
    }

    /// Value of an integer constant, zero-extended.
    pub fn integer(self) -> Option<u64> {
        // SAFETY: a checked cast; wider constants are refused.
        unsafe {
            let constant = LLVMIsAConstantInt(self.0);
            (!constant.is_null() && self.ty().bits() <= 64).then(|| LLVMConstIntGetZExtValue(constant))
        }
    }

    /// Whether a load, store or atomic operation may have effects outside of the program.
    pub fn is_volatile(self) -> bool {
        // SAFETY: called for instructions that access memory.
        unsafe { LLVMGetVolatile(self.0) != 0 }
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

    pub fn operand(self, index: u32) -> Value<'m> {
        // SAFETY: callers stay below `n_operands`.
        Value::of(unsafe { LLVMGetOperand(self.0, index) })
    }

    pub fn operands(self) -> Vec<Value<'m>> {
        (0..self.n_operands()).map(|index| self.operand(index)).collect()
    }

    pub fn set_operand(self, index: u32, value: Value<'m>) {
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
    pub fn block(self) -> Block<'m> {
        // SAFETY: called for instructions only.
        Block::of(unsafe { LLVMGetInstructionParent(self.0) })
    }

    pub fn next(self) -> Option<Value<'m>> {
        // SAFETY: called for instructions only.
        Self::new(unsafe { LLVMGetNextInstruction(self.0) })
    }

    /// Users of the value.
    pub fn users(self) -> Vec<Value<'m>> {
        // SAFETY: the use list is not changed meanwhile.
        let mut next = unsafe { LLVMGetFirstUse(self.0) };
        std::iter::from_fn(|| {
            let current = (!next.is_null()).then_some(next)?;
            // SAFETY: as above.
            unsafe {
                next = LLVMGetNextUse(current);
                Some(Value::of(LLVMGetUser(current)))
            }
        })
        .collect()
    }

    pub fn replace_uses_with(self, other: Value<'m>) {
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

    pub fn metadata(self, kind: u32) -> Option<Value<'m>> {
        // SAFETY: called for instructions only.
        Self::new(unsafe { LLVMGetMetadata(self.0, kind) })
    }

    pub fn set_metadata(self, kind: u32, node: Value<'m>) {
        // SAFETY: called for instructions only.
        unsafe { LLVMSetMetadata(self.0, kind, node.0) }
    }

    pub fn is_int(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsAConstantInt(self.0) }.is_null()
    }

    pub fn is_float(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsAConstantFP(self.0) }.is_null()
    }

    pub fn is_null_pointer(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsAConstantPointerNull(self.0) }.is_null()
    }

    /// Whether it is a constant structure, array or vector of zeros.
    pub fn is_zero_aggregate(self) -> bool {
        // SAFETY: a checked cast.
        !unsafe { LLVMIsAConstantAggregateZero(self.0) }.is_null()
    }

    /// Text of inline assembly.
    pub fn assembly_text(self) -> String {
        let mut length = 0;
        // SAFETY: called for inline assembly only; LLVM returns a pointer to `length` bytes.
        unsafe { text(LLVMGetInlineAsmAsmString(self.0, &mut length), length) }
    }

    /// Function and block of a `blockaddress`.
    pub fn block_address(self) -> Option<(Self, Block<'m>)> {
        // SAFETY: a checked cast before the access.
        unsafe {
            if LLVMIsABlockAddress(self.0).is_null() {
                return None;
            }
            let block = Block::new(LLVMGetBlockAddressBasicBlock(self.0))?;
            Self::new(LLVMGetBlockAddressFunction(self.0)).map(|function| (function, block))
        }
    }

    /// Operation of a constant expression.
    pub fn constant_opcode(self) -> Option<LLVMOpcode> {
        // SAFETY: a checked cast before the access.
        unsafe { (!LLVMIsAConstantExpr(self.0).is_null()).then(|| LLVMGetConstOpcode(self.0)) }
    }

    /// An integer constant of at most 128 bits, zero-extended.
    pub fn wide_integer(self) -> Option<u128> {
        let bits = self.ty().int_bits()?;
        match bits {
            // SAFETY: called for integer constants only.
            0..=64 => Some(u128::from(unsafe { LLVMConstIntGetZExtValue(self.0) })),
            // The C interface reads no wider ones; their text is `i128 -12`.
            65..=128 => {
                let text = self.print();
                let value: i128 = text.rsplit(' ').next()?.parse().ok()?;
                Some(value.cast_unsigned() & (u128::MAX >> (128 - bits)))
            }
            _ => None,
        }
    }

    /// The value as LLVM writes it; slow for anything but plain constants.
    pub fn print(self) -> String {
        // SAFETY: the message is copied and disposed of.
        unsafe { take_message(LLVMPrintValueToString(self.0)) }
    }

    /// Element of a constant array, structure or vector.
    pub fn element(self, number: u32) -> Option<Self> {
        // SAFETY: called for constants only; there is none beyond the last.
        Self::new(unsafe { LLVMGetAggregateElement(self.0, number) })
    }

    /// Bytes of a constant array of `i8`.
    pub fn string_bytes(self) -> Option<Vec<u8>> {
        // SAFETY: a checked cast before the access; LLVM returns a pointer to `length` bytes.
        unsafe {
            if LLVMIsAConstantDataSequential(self.0).is_null() || LLVMIsConstantString(self.0) == 0 {
                return None;
            }
            let mut length = 0;
            let data = LLVMGetAsString(self.0, &mut length);
            Some(std::slice::from_raw_parts(data.cast::<u8>(), length).to_vec())
        }
    }
}
