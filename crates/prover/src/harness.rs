//! What do calls do that leave the code, where loops are unrolled?
//!
//! Method: what the harness asks the runtime for has the meaning that `runtime/input.c` and `runtime/objects.c` give it:
//! choices and sizes are those of a template, cells are symbols by their keys. Allocated memory is a new object. Other calls
//! change nothing and return anything, which is noted. Limit: what a run with another choice would do is not seen.

use model::input::Key;
use model::{Callee, Operand, Predicate, Type};

use crate::encode::{Encoder, Run};
use crate::graph::ContextId;
use crate::state::{State, Value};
use crate::terms::{Bits, ones};
use crate::unroll::unrolling_of;
use crate::unrolling::Named;

/// Pointers may share so many objects (`Q_ALIASES` of the runtime).
const MAX_ALIASES: usize = 6;
/// Bytes of an object; larger ones are not followed.
const MAX_BYTES: u128 = 1 << 20;

/// How a call ends.
pub(crate) enum Called<'m> {
    Returns(Option<Value<'m>>),
    Ends,
}

impl<'m> Encoder<'_, 'm> {
    /// A call of code that is not executed here.
    pub(crate) fn call_outside(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        context: ContextId,
        callee: Callee,
        arguments: &[(Type, Operand)],
    ) -> Called<'m> {
        let Callee::Direct(callee) = callee else {
            run.approximate("call through a pointer");
            return Called::Returns(None);
        };
        let function = self.program.function(callee);
        if function.is_defined() {
            // deeper than calls are inlined
            unrolling_of(run).is_cut_short = true;
            return Called::Ends;
        }
        let given: Vec<Bits<'m>> =
            arguments.iter().map(|(ty, operand)| self.bits(run, state, context, *operand, *ty)).collect();
        let result_width = self.width(function.result);
        let name = function.name.as_str();
        let result = match (self.runtime_call(run, state, name, &given), result_width) {
            (Some(value), Some(width)) => value.filter(|value| value.width == width),
            (Some(_), None) => None,
            (None, _) => {
                run.approximate(&format!("call of {name}"));
                None
            }
        };
        Called::Returns(result.map(Value::Bits))
    }

    /// What is known by name does; none for what is not.
    fn runtime_call(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        name: &str,
        given: &[Bits<'m>],
    ) -> Option<Option<Bits<'m>>> {
        let known: Vec<Option<u128>> = given.iter().map(|bits| self.terms.value(*bits)).collect();
        let key = || known.first().copied().flatten().map(|key| Key(key as u64));
        let number = |at: usize| known.get(at).copied().flatten();
        let width = self.program.pointer_bits;
        match name {
            "__quarry_part_key" => {
                let part = key()?.part(number(1)? as u64);
                Some(Some(self.terms.constant(64, part.0.into())))
            }
            "__quarry_size" => {
                let (first, least, most) = (number(1)? as u64, number(2)? as u64, number(3)? as u64);
                let unrolling = unrolling_of(run);
                let asked = unrolling.template.values.get(&key()?).copied().unwrap_or(first);
                let size = asked.max(unrolling.template.least_size.min(most)).max(least);
                unrolling.decided.insert(key()?, size);
                Some(Some(self.terms.constant(64, size.into())))
            }
            "__quarry_option" => {
                let choice = self.choice(run, key()?, number(1)? as u64);
                let option = if u128::from(choice) < number(2)? { u128::from(choice) } else { number(1)? };
                unrolling_of(run).decided.insert(key()?, option as u64);
                Some(Some(self.terms.constant(32, option)))
            }
            "__quarry_is_fresh" => {
                let is_fresh = self.choice(run, key()?, number(1)? as u64) == 1;
                Some(Some(self.terms.constant(32, is_fresh.into())))
            }
            "__quarry_new" | "calloc" => self.allocate(number(0)?.checked_mul(number(1)?)?),
            "malloc" => self.allocate(number(0)?),
            // the values of the input are as many as the calls: the run does not end here
            "__quarry_call" | "free" | "__quarry_input_file" => Some(None),
            "__quarry_object" => {
                let named = Named {
                    address: given[0],
                    object: self.terms.object(given[0]),
                    ty: number(1)?,
                    n_elements: number(2)? as u64,
                };
                unrolling_of(run).named.push(named);
                Some(None)
            }
            "__quarry_pointer" => {
                let first = number(4)? as u64;
                let is_fresh = self.point(run, state, key()?, given, first, number(3)?, number(5)? as u64);
                Some(Some(self.terms.constant(32, is_fresh.into())))
            }
            "__quarry_function" => {
                let choice = self.choice(run, key()?, number(4)? as u64);
                let choice = if u128::from(choice) <= number(3)? { choice } else { 0 };
                let offset = choice.wrapping_sub(1).wrapping_mul(u64::from(width / 8));
                let offset = self.terms.constant(width, offset.into());
                let at = self.terms.add(given[2], offset);
                let function = match choice {
                    0 => self.terms.constant(width, 0),
                    _ => self.read(state.memory, at, width),
                };
                state.memory = self.memories.store(state.memory, given[1], function);
                unrolling_of(run).decided.insert(key()?, choice);
                Some(None)
            }
            "__quarry_cell" => {
                self.cell(run, state, key()?, given[1], (number(2)? as u32, number(3)? as u32), None)
            }
            "__quarry_count" => {
                let widths = (number(2)? as u32, number(3)? as u32);
                let mut most = ones(widths.1);
                for at in 0..number(5)? {
                    let offset = self.terms.constant(width, at * u128::from(width / 8));
                    let place = self.terms.add(given[4], offset);
                    let place = self.read(state.memory, place, width);
                    let pointer = self.read(state.memory, place, width);
                    most = most.min(self.n_elements(run, pointer));
                }
                self.cell(run, state, key()?, given[1], widths, Some(most))
            }
            _ => None,
        }
    }

    /// What the template chooses.
    fn choice(&mut self, run: &mut Run<'m>, key: Key, first: u64) -> u64 {
        let unrolling = unrolling_of(run);
        let choice = unrolling.template.values.get(&key).copied().unwrap_or(first);
        unrolling.decided.insert(key, choice);
        choice
    }

    fn allocate(&mut self, size: u128) -> Option<Option<Bits<'m>>> {
        let size = Some(size).filter(|size| *size <= MAX_BYTES)? as u64;
        Some(Some(self.objects.heap(&mut self.terms, self.program, size)))
    }

    /// Sets a pointer; whether it points to its own new object.
    #[expect(clippy::too_many_arguments, reason = "the parameters of the runtime's function")]
    fn point(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        key: Key,
        given: &[Bits<'m>],
        first: u64,
        ty: u128,
        n_elements: u64,
    ) -> bool {
        let (place, fresh) = (given[1], given[2]);
        let before = self.read(state.memory, place, self.program.pointer_bits);
        if self.terms.value(before) != Some(0) {
            return false; // a global that points somewhere keeps its value
        }
        let choice = self.choice(run, key, first);
        let unrolling = unrolling_of(run);
        let shared = unrolling.named.iter().filter(|named| named.ty == ty).take(MAX_ALIASES);
        let shared: Vec<Bits<'m>> = shared.map(|named| named.address).collect();
        let null = self.terms.constant(self.program.pointer_bits, 0);
        let target = match choice {
            0 => null,
            1 => fresh,
            _ => shared.get(choice as usize - 2).copied().unwrap_or(null),
        };
        state.memory = self.memories.store(state.memory, place, target);
        if choice == 1 {
            let named = Named { address: fresh, object: self.terms.object(fresh), ty, n_elements };
            unrolling_of(run).named.push(named);
        }
        choice == 1
    }

    /// How many elements are behind a pointer.
    fn n_elements(&mut self, run: &mut Run<'m>, pointer: Bits<'m>) -> u128 {
        if self.terms.value(pointer) == Some(0) {
            return 0;
        }
        let object = self.terms.object(pointer);
        let named = unrolling_of(run).named.iter().find(|named| named.object == object && object.is_some());
        named.map_or(u128::MAX, |named| named.n_elements.into())
    }

    /// Stores the symbol of a cell, at most so large.
    fn cell(
        &mut self,
        run: &mut Run<'m>,
        state: &mut State<'m>,
        key: Key,
        place: Bits<'m>,
        (bytes, bits): (u32, u32),
        most: Option<u128>,
    ) -> Option<Option<Bits<'m>>> {
        if bits == 0 || bits > 8 * bytes || bytes > 8 {
            return None;
        }
        let cell = match unrolling_of(run).cells.get(&key) {
            Some(cell) if cell.width == bits => *cell,
            Some(_) | None => {
                let cell = self.terms.fresh(bits);
                unrolling_of(run).cells.insert(key, cell);
                cell
            }
        };
        if let Some(most) = most.filter(|most| *most < ones(bits)) {
            let most = self.terms.constant(bits, most);
            let fits = self.terms.compare(Predicate::Ule, cell, most);
            unrolling_of(run).facts.push(fits);
        }
        let value = self.terms.zero_extend(cell, 8 * bytes);
        state.memory = self.memories.store(state.memory, place, value);
        Some(None)
    }
}
