//! What tries need: counters of outcomes, by which a run is seen to do something new, and a list of the variables that are
//! set back between two of them.

use super::pass::Pass;
use crate::llvm::{LLVMLinkage, Value};

/// The counters are shared between processes, so they have pages of their own.
const PAGE: u32 = 4096;

impl<'m> Pass<'m> {
    /// The first of that many consecutive counters that nothing else uses.
    pub(super) fn take_counters(&self, n: u32) -> u32 {
        self.n_counters.replace(self.n_counters.get() + n)
    }

    /// The counters that were given out, in whole pages.
    pub(super) fn make_counters(&self) {
        let n_bytes = self.n_counters.get().max(1).next_multiple_of(PAGE);
        let counters =
            self.ir.add_global("__quarry_counters", self.ir.array(self.ir.int(8), u64::from(n_bytes)));
        counters.set_zeros(PAGE);
        counters.set_hidden();
        self.make_number("__quarry_n_counter_bytes", n_bytes);
    }

    /// The variables of the program and of its harness that a run may change.
    pub(super) fn make_state_table(&self) {
        let ir = self.ir;
        let size = ir.int(ir.pointer_bits());
        let row = |global: Value<'m>| {
            let bytes = ir.known_size(global.value_type())?;
            Some(ir.constant_struct(&[global, size.constant(bytes)]))
        };
        let rows: Vec<_> =
            ir.globals().into_iter().filter(|global| is_state(*global)).filter_map(row).collect();
        let empty = ir.constant_struct(&[ir.pointer().zero(), size.zero()]);
        let table = ir.add_global("__quarry_state", ir.array(empty.ty(), rows.len() as u64));
        table.set_initializer(ir.constant_array(empty.ty(), &rows));
        table.set_hidden();
        self.make_number("__quarry_n_state", u32::try_from(rows.len()).expect("fewer than 2^32 variables"));
    }

    fn make_number(&self, name: &str, value: u32) {
        let number = self.ir.add_global(name, self.ir.int(32));
        number.set_initializer(self.ir.int(32).constant(u64::from(value)));
        number.set_hidden();
    }
}

fn is_state(global: Value<'_>) -> bool {
    use LLVMLinkage::*;
    let is_defined = !global.is_declaration()
        && matches!(
            global.linkage(),
            LLVMExternalLinkage | LLVMInternalLinkage | LLVMPrivateLinkage | LLVMCommonLinkage
        );
    let is_fixed = global.is_constant_global() || global.is_thread_local();
    is_defined && !is_fixed && !global.name().starts_with("llvm.")
}
