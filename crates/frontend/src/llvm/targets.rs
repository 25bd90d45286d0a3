//! LLVM's list of targets, which libclang and LLVM itself fill without a lock of their own.

use std::sync::{Mutex, PoisonError};

static TARGETS: Mutex<()> = Mutex::new(());

/// Does something that registers or looks up targets while nobody else does.
pub fn alone<T>(act: impl FnOnce() -> T) -> T {
    // nothing is left half done by a panic that the list would not survive anyway
    let _guard = TARGETS.lock().unwrap_or_else(PoisonError::into_inner);
    act()
}
