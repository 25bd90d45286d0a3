//! Turns errors of Bitwuzla's C interface into Rust values.
//!
//! Method: the interface reports an error by calling a thread-local callback (and calls `exit(1)` if there is none), then
//! returns a default value. Our callback stores the message; [`checked`] looks for it after the call.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};

use crate::ffi;

/// An error reported by Bitwuzla.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Bitwuzla cannot {act}: {message}")]
pub struct Error {
    /// What was asked of Bitwuzla.
    pub act: &'static str,
    /// What Bitwuzla said.
    pub message: String,
}

/// The result of a call into Bitwuzla.
pub type Result<T> = std::result::Result<T, Error>;

thread_local! {
    static LAST_MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Must run on a thread before its first other call; the first wrapper anyone can create does so.
pub(crate) fn install_callback() {
    // SAFETY: the callback is a plain function that stays valid for the whole life of the process.
    unsafe { ffi::bitwuzla_set_abort_callback(Some(keep_message)) }
}

/// Runs one call into Bitwuzla and reports the error it raised, if any.
pub(crate) fn checked<T>(act: &'static str, call: impl FnOnce() -> T) -> Result<T> {
    let value = call();
    match LAST_MESSAGE.with_borrow_mut(Option::take) {
        None => Ok(value),
        Some(message) => Err(Error { act, message }),
    }
}

extern "C" fn keep_message(message: *const c_char) {
    // SAFETY: Bitwuzla passes a NUL-terminated string that lives during the callback.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    let text = text.trim().trim_start_matches("bitwuzla: error:").trim().to_owned();
    LAST_MESSAGE.with_borrow_mut(|last| {
        // The first message is the cause; what follows in the same call is its consequence.
        last.get_or_insert(text);
    });
}
