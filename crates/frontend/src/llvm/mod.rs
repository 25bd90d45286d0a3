//! LLVM code as typed handles: the only place that calls LLVM's C interface.
//!
//! inkwell owns contexts and modules; its typed values are too narrow for passes that treat every instruction of every type, so
//! the code itself is read and changed through [`Value`], [`Type`] and [`Block`]. Each handle carries the lifetime of the
//! borrow of its module, so none outlives it. [`Ir`] reads a module and makes types and constants, [`Builder`] adds
//! instructions, [`DebugNode`] is a piece of debug information.
//!
//! Limit: the lifetime does not know about erased instructions: whoever erases one must not use its handles again.
//! Instrumentation erases nothing but marks, at its very end. The methods of [`Value`] are defined for some kinds of values only, as each says.

mod builder;
mod debug;
mod diagnostics;
mod global;
mod instruction;
mod machine;
mod module;
mod share;
mod targets;
mod types;
mod value;

use std::ffi::{CStr, CString, c_char, c_uint};
use std::iter::successors;
use std::marker::PhantomData;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
pub use inkwell::llvm_sys::{
    LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind,
};

pub use builder::Builder;
pub use debug::{DebugMember, DebugType, OldDebugFormat};
pub use diagnostics::{keep_errors, link_in, take_errors};
pub use machine::{Effort, LlvmError, run_passes, write_object};
pub use module::{Ir, use_sse2};
pub use share::{Owner, declare, keep_inlined, share};
pub use targets::alone;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($raw:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name<'m>($raw, PhantomData<&'m ()>);

        impl<'m> $name<'m> {
            /// `None` for a null pointer, by which the C interface says that there is none.
            fn new(raw: $raw) -> Option<Self> {
                (!raw.is_null()).then_some(Self(raw, PhantomData))
            }

            /// A handle of something that is there.
            fn of(raw: $raw) -> Self {
                Self::new(raw).expect("LLVM gives what it has")
            }
        }
    )*};
}

handles! {
    /// A value: instruction, argument, constant, function, global.
    Value(LLVMValueRef);
    /// A type.
    Type(LLVMTypeRef);
    /// A basic block.
    Block(LLVMBasicBlockRef);
    /// A node of debug information.
    DebugNode(LLVMMetadataRef);
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

/// A message that LLVM hands over.
///
/// # Safety
/// `message` must be an owned message of LLVM.
unsafe fn take_message(message: *mut c_char) -> String {
    // SAFETY: by the caller's promise.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Where an attribute of a function or call stands.
#[derive(Clone, Copy, Debug)]
pub enum AttributePlace {
    Function,
    Result,
    Parameter(u32),
}

impl AttributePlace {
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

impl<'m> Block<'m> {
    pub fn instructions(self) -> Vec<Value<'m>> {
        // SAFETY: handles are valid, and the list is not changed meanwhile.
        let next = |value: &Value<'m>| Value::new(unsafe { LLVMGetNextInstruction(value.0) });
        // SAFETY: as above.
        successors(Value::new(unsafe { LLVMGetFirstInstruction(self.0) }), next).collect()
    }

    pub fn terminator(self) -> Option<Value<'m>> {
        // SAFETY: handles are valid; a block that is being built has none.
        Value::new(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    pub fn successors(self) -> Vec<Block<'m>> {
        // SAFETY: a block of a finished function has a terminator, and the count bounds the index.
        unsafe {
            let terminator = LLVMGetBasicBlockTerminator(self.0);
            (0..LLVMGetNumSuccessors(terminator))
                .map(|k| Block::of(LLVMGetSuccessor(terminator, k)))
                .collect()
        }
    }

    /// The function the block stands in.
    pub fn function(self) -> Value<'m> {
        // SAFETY: the block stands in a function.
        Value::of(unsafe { LLVMGetBasicBlockParent(self.0) })
    }
}
