//! A module: its functions and globals, its types, its data layout.

use std::ffi::c_uint;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;

use super::{Block, Type, Value, c_string};

/// A module and what is needed to make values in it.
pub struct Ir {
    module: LLVMModuleRef,
    context: LLVMContextRef,
    layout: LLVMTargetDataRef,
    pub(super) builder: LLVMBuilderRef,
}

impl Drop for Ir {
    fn drop(&mut self) {
        // SAFETY: the builder is ours.
        unsafe { LLVMDisposeBuilder(self.builder) }
    }
}

impl Ir {
    /// Access to a module of inkwell.
    pub fn new(module: &inkwell::module::Module<'_>) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: inkwell's module is valid.
        unsafe {
            let context = LLVMGetModuleContext(module);
            let builder = LLVMCreateBuilderInContext(context);
            Self { module, context, layout: LLVMGetModuleDataLayout(module), builder }
        }
    }

    /// Whether there is assembly, outside of functions or in one of them.
    pub fn has_assembly(&self) -> bool {
        let mut length = 0;
        // SAFETY: the text is LLVM's own and only its length is looked at.
        unsafe { LLVMGetModuleInlineAsm(self.module, &mut length) };
        let calls_assembly = |function: &Value| {
            let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
            instructions
                .filter(|instruction| instruction.is_call())
                .any(|call| call.callee().is_inline_assembly())
        };
        length > 0 || self.functions().iter().any(calls_assembly)
    }

    pub fn functions(&self) -> Vec<Value> {
        // SAFETY: the list is not changed meanwhile.
        let mut next = unsafe { LLVMGetFirstFunction(self.module) };
        std::iter::from_fn(|| {
            let function = Value::known(next)?;
            // SAFETY: as above.
            next = unsafe { LLVMGetNextFunction(next) };
            Some(function)
        })
        .collect()
    }

    pub fn globals(&self) -> Vec<Value> {
        // SAFETY: the list is not changed meanwhile.
        let mut next = unsafe { LLVMGetFirstGlobal(self.module) };
        std::iter::from_fn(|| {
            let global = Value::known(next)?;
            // SAFETY: as above.
            next = unsafe { LLVMGetNextGlobal(next) };
            Some(global)
        })
        .collect()
    }

    pub fn function_named(&self, name: &str) -> Option<Value> {
        // SAFETY: the name ends in a zero byte.
        Value::known(unsafe { LLVMGetNamedFunction(self.module, c_string(name).as_ptr()) })
    }

    pub fn global_named(&self, name: &str) -> Option<Value> {
        // SAFETY: the name ends in a zero byte.
        Value::known(unsafe { LLVMGetNamedGlobal(self.module, c_string(name).as_ptr()) })
    }

    /// Number of a metadata kind.
    pub fn metadata_kind(&self, name: &str) -> u32 {
        let length = u32::try_from(name.len()).expect("short names");
        // SAFETY: the pointer and length describe `name`.
        unsafe { LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), length) }
    }

    /// A metadata node that holds nothing: its presence says it all.
    pub fn empty_node(&self) -> Value {
        // SAFETY: an empty list of operands.
        unsafe {
            let node = LLVMMDNodeInContext2(self.context, std::ptr::null_mut(), 0);
            Value(LLVMMetadataAsValue(self.context, node))
        }
    }

    pub fn int(&self, bits: u32) -> Type {
        // SAFETY: handles are valid.
        Type(unsafe { LLVMIntTypeInContext(self.context, bits) })
    }

    pub fn pointer(&self) -> Type {
        // SAFETY: handles are valid.
        Type(unsafe { LLVMPointerTypeInContext(self.context, 0) })
    }

    pub fn void(&self) -> Type {
        // SAFETY: handles are valid.
        Type(unsafe { LLVMVoidTypeInContext(self.context) })
    }

    pub fn array(&self, element: Type, length: u64) -> Type {
        // SAFETY: handles are valid.
        Type(unsafe { LLVMArrayType2(element.0, length) })
    }

    pub fn function_type(&self, result: Type, parameters: &[Type]) -> Type {
        let mut types: Vec<_> = parameters.iter().map(|ty| ty.0).collect();
        let n = c_uint::try_from(types.len()).expect("few parameters");
        // SAFETY: the pointer and count describe `types`.
        Type(unsafe { LLVMFunctionType(result.0, types.as_mut_ptr(), n, 0) })
    }

    pub fn add_function(&self, name: &str, ty: Type) -> Value {
        // SAFETY: the name ends in a zero byte.
        Value(unsafe { LLVMAddFunction(self.module, c_string(name).as_ptr(), ty.0) })
    }

    pub fn add_global(&self, name: &str, ty: Type) -> Value {
        // SAFETY: the name ends in a zero byte.
        Value(unsafe { LLVMAddGlobal(self.module, ty.0, c_string(name).as_ptr()) })
    }

    pub fn append_block(&self, function: Value) -> Block {
        // SAFETY: handles are valid.
        Block(unsafe { LLVMAppendBasicBlockInContext(self.context, function.0, c"".as_ptr()) })
    }

    /// A constant array.
    pub fn constant_array(&self, element: Type, values: &[Value]) -> Value {
        let mut raw: Vec<_> = values.iter().map(|value| value.0).collect();
        // SAFETY: the pointer and count describe `raw`, whose values are constants of the element type.
        Value(unsafe { LLVMConstArray2(element.0, raw.as_mut_ptr(), raw.len() as u64) })
    }

    /// A constant structure.
    pub fn constant_struct(&self, values: &[Value]) -> Value {
        let mut raw: Vec<_> = values.iter().map(|value| value.0).collect();
        let n = c_uint::try_from(raw.len()).expect("few fields");
        // SAFETY: as for `constant_array`.
        Value(unsafe { LLVMConstStructInContext(self.context, raw.as_mut_ptr(), n, 0) })
    }

    /// Bits of a pointer.
    pub fn pointer_bits(&self) -> u32 {
        // SAFETY: the layout belongs to the module.
        unsafe { LLVMPointerSize(self.layout) * 8 }
    }

    /// Bytes a store of the type writes.
    pub fn store_size(&self, ty: Type) -> u64 {
        // SAFETY: called for sized types only.
        unsafe { LLVMStoreSizeOfType(self.layout, ty.0) }
    }

    /// Bytes from one array element of the type to the next.
    pub fn allocation_size(&self, ty: Type) -> u64 {
        // SAFETY: called for sized types only.
        unsafe { LLVMABISizeOfType(self.layout, ty.0) }
    }

    /// Bytes of an object of the type; `None` when it is not complete or has none.
    pub fn known_size(&self, ty: Type) -> Option<u64> {
        // SAFETY: handles are valid.
        let is_sized = unsafe { LLVMTypeIsSized(ty.0) != 0 };
        is_sized.then(|| self.allocation_size(ty)).filter(|bytes| *bytes > 0)
    }

    /// Byte offset of a structure's field.
    pub fn field_offset(&self, ty: Type, field: u32) -> u64 {
        // SAFETY: called for structure types, below the number of fields.
        unsafe { LLVMOffsetOfElement(self.layout, ty.0, field) }
    }
}
