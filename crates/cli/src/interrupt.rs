//! Ctrl-C: the first stops the search cleanly, so that what was found is written; the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use runner::interrupt::Interrupt;

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Takes over SIGINT and SIGTERM; a file that becomes too large is an error like others.
pub fn install() {
    // made before the handler can run, which must not allocate
    let _ = interrupt();
    // SAFETY: the handler only reads an initialised cell, touches an atomic and calls async-signal-safe functions.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut());
        libc::sigaction(libc::SIGTERM, &action, std::ptr::null_mut());
        // a handler, because processes that are started would inherit that it is ignored
        action.sa_sigaction = on_large_file as *const () as libc::sighandler_t;
        libc::sigaction(libc::SIGXFSZ, &action, std::ptr::null_mut());
    }
}

/// What the first Ctrl-C requests.
pub fn interrupt() -> Interrupt {
    Arc::clone(FLAG.get_or_init(Arc::default)).into()
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

extern "C" fn on_signal(_: libc::c_int) {
    if let Some(flag) = FLAG.get()
        && flag.swap(true, Ordering::Relaxed)
    {
        // SAFETY: _exit is async-signal-safe.
        unsafe { libc::_exit(130) }
    }
}

extern "C" fn on_large_file(_: libc::c_int) {}
