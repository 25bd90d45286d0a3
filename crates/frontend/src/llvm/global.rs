//! Functions and global variables.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMUnnamedAddr, LLVMVisibility};

use super::{AttributePlace, Block, Type, Value, attribute_kind};

impl<'m> Value<'m> {
    pub fn as_function(self) -> Option<Value<'m>> {
        // SAFETY: a checked cast.
        Self::new(unsafe { LLVMIsAFunction(self.0) })
    }

    pub fn as_global_variable(self) -> Option<Value<'m>> {
        // SAFETY: a checked cast.
        Self::new(unsafe { LLVMIsAGlobalVariable(self.0) })
    }

    /// What an alias stands for.
    pub fn aliasee(self) -> Option<Value<'m>> {
        // SAFETY: a checked cast before the access.
        unsafe {
            let alias = LLVMIsAGlobalAlias(self.0);
            if alias.is_null() { None } else { Self::new(LLVMAliasGetAliasee(alias)) }
        }
    }

    pub fn is_declaration(self) -> bool {
        // SAFETY: called for globals only.
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    pub fn is_intrinsic(self) -> bool {
        // SAFETY: called for functions only.
        unsafe { LLVMGetIntrinsicID(self.0) != 0 }
    }

    pub fn linkage(self) -> LLVMLinkage {
        // SAFETY: called for globals only.
        unsafe { LLVMGetLinkage(self.0) }
    }

    pub fn set_linkage(self, linkage: LLVMLinkage) {
        // SAFETY: called for globals only.
        unsafe { LLVMSetLinkage(self.0, linkage) }
    }

    pub fn set_hidden(self) {
        // SAFETY: called for globals only.
        unsafe { LLVMSetVisibility(self.0, LLVMVisibility::LLVMHiddenVisibility) }
    }

    pub fn is_hidden(self) -> bool {
        // SAFETY: called for globals only.
        unsafe { LLVMGetVisibility(self.0) == LLVMVisibility::LLVMHiddenVisibility }
    }

    pub fn is_constant_global(self) -> bool {
        // SAFETY: called for global variables only.
        unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    pub fn is_thread_local(self) -> bool {
        // SAFETY: called for global variables only.
        unsafe { LLVMIsThreadLocal(self.0) != 0 }
    }

    pub fn set_initializer(self, value: Value<'m>) {
        // SAFETY: called for global variables with a value of their type.
        unsafe {
            LLVMSetInitializer(self.0, value.0);
            LLVMSetGlobalConstant(self.0, 1);
            LLVMSetUnnamedAddress(self.0, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
        }
    }

    /// Makes it a variable that begins as zeros, with this alignment in bytes.
    pub fn set_zeros(self, alignment: u32) {
        // SAFETY: called for global variables; the initial value is of their type.
        unsafe {
            LLVMSetInitializer(self.0, LLVMConstNull(LLVMGlobalGetValueType(self.0)));
            LLVMSetAlignment(self.0, alignment);
        }
    }

    /// Type of a function or global variable.
    pub fn value_type(self) -> Type<'m> {
        // SAFETY: called for globals only.
        Type::of(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    pub fn parameter(self, index: u32) -> Value<'m> {
        // SAFETY: called for functions, below the number of parameters.
        Value::of(unsafe { LLVMGetParam(self.0, index) })
    }

    pub fn n_parameters(self) -> u32 {
        // SAFETY: called for functions only.
        unsafe { LLVMCountParams(self.0) }
    }

    pub fn blocks(self) -> Vec<Block<'m>> {
        // SAFETY: the buffer has room for all blocks.
        unsafe {
            let n = LLVMCountBasicBlocks(self.0) as usize;
            let mut blocks = vec![std::ptr::null_mut(); n];
            LLVMGetBasicBlocks(self.0, blocks.as_mut_ptr());
            blocks.into_iter().map(Block::of).collect()
        }
    }

    pub fn has_attribute(self, place: AttributePlace, name: &str) -> bool {
        // SAFETY: called for functions only.
        !unsafe { LLVMGetEnumAttributeAtIndex(self.0, place.index(), attribute_kind(name)) }.is_null()
    }

    /// The type a `byval` or `sret` attribute carries.
    pub fn type_attribute(self, place: AttributePlace, name: &str) -> Option<Type<'m>> {
        // SAFETY: called for functions only; type attributes carry a type.
        unsafe {
            let attribute = LLVMGetEnumAttributeAtIndex(self.0, place.index(), attribute_kind(name));
            (!attribute.is_null()).then(|| Type::of(LLVMGetTypeAttributeValue(attribute)))
        }
    }

    pub fn remove_attribute(self, place: AttributePlace, name: &str) {
        // SAFETY: called for functions only; removing what is not there is allowed.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, place.index(), attribute_kind(name)) }
    }

    /// Takes a function out of the module for good.
    pub fn delete_function(self) {
        // SAFETY: called for functions that nothing uses any more.
        unsafe { LLVMDeleteFunction(self.0) }
    }

    /// Takes a global variable out of the module for good.
    pub fn delete_global(self) {
        // SAFETY: called for global variables that nothing uses any more.
        unsafe { LLVMDeleteGlobal(self.0) }
    }

    pub fn parameters(self) -> Vec<Value<'m>> {
        (0..self.n_parameters()).map(|index| self.parameter(index)).collect()
    }

    /// Initial value of a global variable that has one.
    pub fn initializer(self) -> Option<Value<'m>> {
        // SAFETY: called for global variables only.
        Self::new(unsafe { LLVMGetInitializer(self.0) })
    }
}
