//! Ctrl-C: the first stops the search cleanly, so that what was found is written; the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use runner::interrupt::Interrupt;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Exit;

static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Takes over SIGINT and SIGTERM; a file that becomes too large is an error like others.
pub fn install() {
    let code = Exit::Interrupted.code().into();
    for signal in [SIGINT, SIGTERM] {
        // in this order: the first signal finds the flag not yet set
        let second = flag::register_conditional_shutdown(signal, code, shared());
        let registered = second.and_then(|_| flag::register(signal, shared()));
        registered.expect("these signals can be handled");
    }
    // a handler, because processes that are started would inherit that it is ignored
    flag::register(SIGXFSZ, Arc::default()).expect("this signal can be handled");
}

/// What the first Ctrl-C requests.
pub fn interrupt() -> Interrupt {
    shared().into()
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    FLAG.load(Ordering::Relaxed)
}

fn shared() -> Arc<AtomicBool> {
    Arc::clone(&FLAG)
}
