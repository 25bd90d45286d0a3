//! A request of the caller to stop: what was found so far is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once from outside, or by Quarry itself when it cannot go on; everything that takes time looks at it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks everything that shares it to stop soon.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// As the engine takes it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl From<Arc<AtomicBool>> for Interrupt {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}
