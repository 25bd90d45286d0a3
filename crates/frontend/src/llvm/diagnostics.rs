//! LLVM's error messages, kept instead of printed.
//!
//! LLVM reports some errors (code that the assembler refuses, symbols that clash) only to a handler of its context; without
//! one it prints and ends the process. inkwell installs a handler while it links and leaves it there pointing into a frame
//! that is gone, so linking goes through here. Limit: one list per thread, as contexts do not move between threads.

use std::{
    cell::RefCell,
    ffi::{CStr, c_void},
    ptr,
};

use inkwell::{
    context::AsContextRef,
    llvm_sys::{
        LLVMDiagnosticSeverity,
        core::{
            LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription,
            LLVMGetDiagInfoSeverity,
        },
        prelude::LLVMDiagnosticInfoRef,
    },
    module::Module,
};

thread_local! {
    static ERRORS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Links `other` into `module`; errors of LLVM are kept from now on.
pub fn link_in<'c>(module: &Module<'c>, other: Module<'c>) -> Result<(), String> {
    let linked = module.link_in_module(other).map_err(|message| message.to_string());
    keep_errors(module);
    linked
}

/// Makes [`take_errors`] receive the errors that LLVM reports in the module's context.
pub fn keep_errors(module: &Module<'_>) {
    let context = module.get_context().as_ctx_ref();
    // SAFETY: the context is alive, and the handler uses no pointer but the one LLVM gives it.
    unsafe { LLVMContextSetDiagnosticHandler(context, Some(keep), ptr::null_mut()) }
}

/// The errors since the last call, one per line; `None` when there were none.
pub fn take_errors() -> Option<String> {
    let errors = ERRORS.take();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

extern "C" fn keep(diagnostic: LLVMDiagnosticInfoRef, _: *mut c_void) {
    // SAFETY: LLVM gives a valid diagnostic, and a description that is ours to dispose of.
    unsafe {
        if LLVMGetDiagInfoSeverity(diagnostic) == LLVMDiagnosticSeverity::LLVMDSError {
            let text = LLVMGetDiagInfoDescription(diagnostic);
            let error = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            ERRORS.with_borrow_mut(|errors| errors.push(error));
        }
    }
}
