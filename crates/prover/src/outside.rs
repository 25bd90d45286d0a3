//! What does a call do to memory that is not executed here, where proofs are looked for?
//!
//! Method: output, allocation and the harness's questions for input are known by name; everything else may do anything.

use model::{Callee, Linkage, Operand, Predicate, Type};

use crate::encode::{Encoder, Run};
use crate::graph::ContextId;
use crate::state::{State, Value};

/// Bytes that a harness fills at once at most.
const MAX_FILLED: u64 = 16;

impl<'m> Encoder<'_, 'm> {
    /// A call whose code is not executed; its result, if something is known of it.
    pub(crate) fn call_unknown(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        callee: Callee,
        arguments: &[(Type, Operand)],
    ) -> Option<Value<'m>> {
        let name = match callee {
            Callee::Direct(callee) => {
                let function = self.program.function(callee);
                let is_outside = !function.is_defined() && function.linkage == Linkage::External;
                is_outside.then_some(function.name.as_str())
            }
            Callee::Indirect(_) => None,
        };
        match name {
            // a run that ends here is one less
            Some(
                "__quarry_part_key" | "__quarry_call" | "__quarry_size" | "__quarry_option"
                | "__quarry_is_fresh",
            ) => None,
            Some("malloc" | "calloc") => {
                let address = self.terms.fresh(self.program.pointer_bits);
                if self.is_allocated {
                    let null = self.terms.constant(address.width, 0);
                    let exists = self.terms.compare(Predicate::Ne, address, null);
                    state.path = self.terms.and(state.path, exists);
                }
                Some(Value::Bits(address))
            }
            Some("__quarry_cell") => {
                match arguments {
                    [_, (_, to), (_, length), ..] if length.constant().is_some_and(|n| n <= MAX_FILLED) => {
                        let n_bytes = length.constant().unwrap_or(0) as u32;
                        let address = self.bits(run, state, context, *to, Type::Ptr);
                        let value = self.terms.fresh(8 * n_bytes.max(1));
                        state.memory = self.write(state.memory, address, value);
                    }
                    _ => self.forget_memory(state),
                }
                None
            }
            Some(name) if self.only_writes_output(name, arguments) => None,
            Some(_) | None => {
                self.forget_memory(state);
                None
            }
        }
    }

    /// Whether the function writes output and is given no pointer that it could store through.
    fn only_writes_output(&self, name: &str, arguments: &[(Type, Operand)]) -> bool {
        let n_read = match name {
            "putchar" => 0,
            "printf" | "puts" | "putc" | "fflush" => 1,
            "fprintf" | "fputs" => 2,
            _ => return false,
        };
        let n_pointers = arguments.iter().filter(|(ty, _)| !matches!(ty, Type::Int(_) | Type::Float(_)));
        let has_buffer = |name: &str| {
            matches!(
                name,
                "setvbuf"
                    | "setbuf"
                    | "setbuffer"
                    | "open_memstream"
                    | "fmemopen"
                    | "fopencookie"
                    | "register_printf_specifier"
            )
        };
        n_pointers.count() <= n_read
            && !self.program.functions.iter().any(|function| has_buffer(&function.name))
    }
}
