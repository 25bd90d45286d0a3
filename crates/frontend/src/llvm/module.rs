//! A module: its functions and globals, its types, its data layout.

use std::ffi::c_uint;
use std::iter::successors;
use std::marker::PhantomData;

use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;

use super::{Block, Type, Value, c_string};

/// The code of a module, as long as it is borrowed.
#[derive(Clone, Copy)]
pub struct Ir<'m> {
    module: LLVMModuleRef,
    pub(super) context: LLVMContextRef,
    layout: LLVMTargetDataRef,
    /// Whether the code generator computes with numbers as wide as their types.
    rounds_each: bool,
    borrowed: PhantomData<&'m ()>,
}

impl<'m> Ir<'m> {
    /// Access to a module of inkwell.
    pub fn of(module: &'m inkwell::module::Module<'_>) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: inkwell's module is valid as long as it is borrowed.
        unsafe {
            let (context, layout) = (LLVMGetModuleContext(module), LLVMGetModuleDataLayout(module));
            let mut ir = Self { module, context, layout, rounds_each: true, borrowed: PhantomData };
            if LLVMPointerSize(layout) < 8 {
                let mut features = ir.functions().into_iter().map(|function| features_of(function.0));
                let features = features.find(|features| !features.is_empty()).unwrap_or_default();
                ir.rounds_each = features.split(',').any(|feature| feature == "+sse2");
            }
            ir
        }
    }

    /// Whether each operation on `float` and `double` is rounded to its type: not where x87's registers are used, which hold more digits.
    pub fn rounds_each(&self) -> bool {
        self.rounds_each
    }

    /// Whether there is assembly outside of functions.
    pub fn has_module_assembly(&self) -> bool {
        let mut length = 0;
        // SAFETY: the text is LLVM's own and only its length is looked at.
        unsafe { LLVMGetModuleInlineAsm(self.module, &mut length) };
        length > 0
    }

    /// Whether there is assembly, outside of functions or in one of them.
    pub fn has_assembly(&self) -> bool {
        let calls_assembly = |function: &Value<'m>| {
            let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
            instructions
                .filter(|instruction| instruction.is_call())
                .any(|call| call.callee().is_inline_assembly())
        };
        self.has_module_assembly() || self.functions().iter().any(calls_assembly)
    }

    pub fn functions(&self) -> Vec<Value<'m>> {
        // SAFETY: the list is not changed meanwhile.
        let next = |function: &Value<'m>| Value::new(unsafe { LLVMGetNextFunction(function.0) });
        // SAFETY: as above.
        successors(Value::new(unsafe { LLVMGetFirstFunction(self.module) }), next).collect()
    }

    pub fn globals(&self) -> Vec<Value<'m>> {
        // SAFETY: the list is not changed meanwhile.
        let next = |global: &Value<'m>| Value::new(unsafe { LLVMGetNextGlobal(global.0) });
        // SAFETY: as above.
        successors(Value::new(unsafe { LLVMGetFirstGlobal(self.module) }), next).collect()
    }

    /// Whether a symbol is another name for one, or is bound when the program starts.
    pub fn has_aliases(&self) -> bool {
        // SAFETY: handles are valid.
        unsafe {
            !LLVMGetFirstGlobalAlias(self.module).is_null() || !LLVMGetFirstGlobalIFunc(self.module).is_null()
        }
    }

    pub fn function_named(&self, name: &str) -> Option<Value<'m>> {
        // SAFETY: the name ends in a zero byte.
        Value::new(unsafe { LLVMGetNamedFunction(self.module, c_string(name).as_ptr()) })
    }

    pub fn global_named(&self, name: &str) -> Option<Value<'m>> {
        // SAFETY: the name ends in a zero byte.
        Value::new(unsafe { LLVMGetNamedGlobal(self.module, c_string(name).as_ptr()) })
    }

    /// The function or variable of this name that has code or a value.
    pub fn definition(&self, name: &str) -> Option<Value<'m>> {
        let symbol = self.function_named(name).or_else(|| self.global_named(name))?;
        (!symbol.is_declaration()).then_some(symbol)
    }

    /// Number of a metadata kind.
    pub fn metadata_kind(&self, name: &str) -> u32 {
        let length = u32::try_from(name.len()).expect("short names");
        // SAFETY: the pointer and length describe `name`.
        unsafe { LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), length) }
    }

    /// A metadata node that holds nothing: its presence says it all.
    pub fn empty_node(&self) -> Value<'m> {
        // SAFETY: an empty list of operands.
        unsafe {
            let node = LLVMMDNodeInContext2(self.context, std::ptr::null_mut(), 0);
            Value::of(LLVMMetadataAsValue(self.context, node))
        }
    }

    pub fn int(&self, bits: u32) -> Type<'m> {
        // SAFETY: handles are valid.
        Type::of(unsafe { LLVMIntTypeInContext(self.context, bits) })
    }

    pub fn pointer(&self) -> Type<'m> {
        // SAFETY: handles are valid.
        Type::of(unsafe { LLVMPointerTypeInContext(self.context, 0) })
    }

    pub fn void(&self) -> Type<'m> {
        // SAFETY: handles are valid.
        Type::of(unsafe { LLVMVoidTypeInContext(self.context) })
    }

    pub fn array(&self, element: Type<'m>, length: u64) -> Type<'m> {
        // SAFETY: handles are valid.
        Type::of(unsafe { LLVMArrayType2(element.0, length) })
    }

    pub fn function_type(&self, result: Type<'m>, parameters: &[Type<'m>]) -> Type<'m> {
        let mut types: Vec<_> = parameters.iter().map(|ty| ty.0).collect();
        let n = c_uint::try_from(types.len()).expect("few parameters");
        // SAFETY: the pointer and count describe `types`.
        Type::of(unsafe { LLVMFunctionType(result.0, types.as_mut_ptr(), n, 0) })
    }

    pub fn add_function(&self, name: &str, ty: Type<'m>) -> Value<'m> {
        // SAFETY: the name ends in a zero byte.
        Value::of(unsafe { LLVMAddFunction(self.module, c_string(name).as_ptr(), ty.0) })
    }

    pub fn add_global(&self, name: &str, ty: Type<'m>) -> Value<'m> {
        // SAFETY: the name ends in a zero byte.
        Value::of(unsafe { LLVMAddGlobal(self.module, ty.0, c_string(name).as_ptr()) })
    }

    pub fn append_block(&self, function: Value<'m>) -> Block<'m> {
        // SAFETY: handles are valid.
        Block::of(unsafe { LLVMAppendBasicBlockInContext(self.context, function.0, c"".as_ptr()) })
    }

    /// A constant array.
    pub fn constant_array(&self, element: Type<'m>, values: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = values.iter().map(|value| value.0).collect();
        // SAFETY: the pointer and count describe `raw`, whose values are constants of the element type.
        Value::of(unsafe { LLVMConstArray2(element.0, raw.as_mut_ptr(), raw.len() as u64) })
    }

    /// A constant structure.
    pub fn constant_struct(&self, values: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = values.iter().map(|value| value.0).collect();
        let n = c_uint::try_from(raw.len()).expect("few fields");
        // SAFETY: as for `constant_array`.
        Value::of(unsafe { LLVMConstStructInContext(self.context, raw.as_mut_ptr(), n, 0) })
    }

    /// Bits of a pointer.
    pub fn pointer_bits(&self) -> u32 {
        // SAFETY: the layout belongs to the module.
        unsafe { LLVMPointerSize(self.layout) * 8 }
    }

    /// Bytes a store of the type writes.
    pub fn store_size(&self, ty: Type<'m>) -> u64 {
        // SAFETY: called for sized types only.
        unsafe { LLVMStoreSizeOfType(self.layout, ty.0) }
    }

    /// Bytes from one array element of the type to the next.
    pub fn allocation_size(&self, ty: Type<'m>) -> u64 {
        // SAFETY: called for sized types only.
        unsafe { LLVMABISizeOfType(self.layout, ty.0) }
    }

    /// Bytes of an object of the type; `None` when it is not complete or has none.
    pub fn known_size(&self, ty: Type<'m>) -> Option<u64> {
        // SAFETY: handles are valid.
        let is_sized = unsafe { LLVMTypeIsSized(ty.0) != 0 };
        is_sized.then(|| self.allocation_size(ty)).filter(|bytes| *bytes > 0)
    }

    /// Byte offset of a structure's field.
    pub fn field_offset(&self, ty: Type<'m>, field: u32) -> u64 {
        // SAFETY: called for structure types, below the number of fields.
        unsafe { LLVMOffsetOfElement(self.layout, ty.0, field) }
    }

    /// Alignment of a type in bytes.
    pub fn align(&self, ty: Type<'m>) -> u32 {
        // SAFETY: called for sized types only.
        unsafe { LLVMABIAlignmentOfType(self.layout, ty.0) }
    }

    /// A floating-point constant as an integer of the same bits.
    pub fn float_bits(&self, constant: Value<'m>, bits: u32) -> Option<u128> {
        // SAFETY: called for floating-point constants of that width.
        let integer = unsafe { LLVMConstBitCast(constant.0, self.int(bits).0) };
        Value::new(integer).filter(|value| value.is_int()).and_then(Value::wide_integer)
    }
}

const FEATURES: &str = "target-features";

/// Has all functions of a module of 32 bits computed with SSE2 instead of x87; whether that is a change.
pub fn use_sse2(module: &inkwell::module::Module<'_>) -> bool {
    let ir = Ir::of(module);
    if ir.rounds_each {
        return false;
    }
    let defined = ir.functions().into_iter().filter(|function| !function.is_declaration());
    for function in defined {
        let mut features = features_of(function.0);
        features.push_str(if features.is_empty() { "+sse,+sse2" } else { ",+sse,+sse2" });
        let name: (*const std::ffi::c_char, c_uint) = (FEATURES.as_ptr().cast(), FEATURES.len() as c_uint);
        let value = (features.as_ptr().cast(), features.len() as c_uint);
        // SAFETY: both texts live as long as the call; an attribute of the same name is replaced.
        unsafe {
            let attribute = LLVMCreateStringAttribute(ir.context, name.0, name.1, value.0, value.1);
            LLVMAddAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, attribute);
        }
    }
    true
}

/// What a function's processor has, as LLVM writes it; empty when nothing is said.
fn features_of(function: LLVMValueRef) -> String {
    // SAFETY: called for functions; the text is the attribute's own, and copied.
    unsafe {
        let (name, length) = (FEATURES.as_ptr().cast(), FEATURES.len() as c_uint);
        let attribute = LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, name, length);
        if attribute.is_null() {
            return String::new();
        }
        let mut length = 0;
        let value = LLVMGetStringAttributeValue(attribute, &mut length).cast::<u8>();
        String::from_utf8_lossy(std::slice::from_raw_parts(value, length as usize)).into_owned()
    }
}
