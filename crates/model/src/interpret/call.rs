//! Calls: passing arguments, entering and leaving functions, library functions, callbacks from them.
//!
//! Types of arguments and parameters may differ, as C allows without a prototype: a scalar keeps the bits that fit, missing
//! bits are zero, excess bits are dropped.

use super::machine::{Argument, Frame, Machine};
use super::memory::{Checked, Stop};
use super::prepare::n_slots;
use super::step::{Call, Callee, Slots, Source, Target};
use super::{CodeLocation, FaultKind, Value};
use crate::{BlockId, FunctionId};

/// Callbacks within callbacks that are followed before the run counts as overflowing the stack.
const MAX_CALLBACK_DEPTH: u32 = 64;
const REGISTER_BYTES: u64 = 16;

impl Machine<'_> {
    pub(super) fn call(&mut self, call: &Call) -> Checked<()> {
        if self.observer.wants_arguments() {
            let values = call.arguments.iter().map(|(_, source)| self.get(*source) as u64);
            let values: Vec<u64> = values.collect();
            self.observer.arguments(self.place(), &values);
        }
        let target = match call.callee {
            Callee::Known(target) => target,
            Callee::Address(address) => {
                let target = self.prepared.function_at(self.get(address) as u64);
                let target = target.ok_or(FaultKind::BadCall)?;
                let function = match target {
                    Target::Code(id) => Some(id),
                    Target::Native(_) | Target::Missing(_) => None,
                };
                self.observer.callee(self.place(), function);
                target
            }
        };
        match target {
            Target::Code(id) => {
                self.pass_all(id, call)?;
                let from = self.place();
                self.enter(id, Some(call.result), Some(from));
                Ok(())
            }
            Target::Native(native) => {
                let argument = |(ty, source): &(_, Source)| Argument { ty: *ty, value: self.get(*source) };
                let arguments: Vec<Argument> = call.arguments.iter().map(argument).collect();
                let results = native(self, &arguments)?;
                for (slot, value) in (call.result.first..).zip(results).take(call.result.count as usize) {
                    self.set(slot, value & call.result.mask);
                }
                self.current.step += 1;
                Ok(())
            }
            Target::Missing(id) => Err(self.missing(id)),
        }
    }

    fn missing(&self, id: FunctionId) -> Stop {
        let name = &self.program.function(id).name;
        Stop::Unsupported(format!("call of `{name}`, which has no code").into())
    }

    /// First register of the function that would be entered now.
    fn next_base(&self) -> usize {
        self.current.base + self.current.code.n_slots as usize
    }

    /// Makes registers for a function about to be entered.
    pub(super) fn make_room(&mut self, id: FunctionId) -> Checked<()> {
        let n_registers = self.next_base() + self.prepared.codes[id.index()].n_slots as usize;
        if n_registers as u64 * REGISTER_BYTES > self.limits.memory {
            return Err(FaultKind::StackOverflow.into());
        }
        if n_registers > self.registers.len() {
            // Registers are written before they are read, so those of earlier activations may stay.
            self.registers.resize(n_registers, 0);
        }
        Ok(())
    }

    /// Sets a parameter of the function about to be entered.
    pub(super) fn pass(&mut self, parameter: Slots, values: &[u128]) {
        let first = self.next_base() + parameter.first as usize;
        for slot in 0..parameter.count as usize {
            self.registers[first + slot] = values.get(slot).copied().unwrap_or(0) & parameter.mask;
        }
    }

    fn pass_all(&mut self, id: FunctionId, call: &Call) -> Checked<()> {
        self.make_room(id)?;
        let base = self.next_base();
        let prepared = self.prepared;
        for (number, parameter) in prepared.codes[id.index()].parameters.iter().enumerate() {
            let argument = call.arguments.get(number);
            let given = argument.map_or(0, |(ty, _)| n_slots(self.program, *ty));
            for slot in 0..parameter.count {
                let value = match argument {
                    Some((_, source)) if slot < given => self.get(source.plus(slot)),
                    Some(_) | None => 0,
                };
                self.registers[base + (parameter.first + slot) as usize] = value & parameter.mask;
            }
        }
        Ok(())
    }

    /// Enters a function whose parameters are set.
    pub(super) fn enter(&mut self, function: FunctionId, result: Option<Slots>, from: Option<CodeLocation>) {
        let code = &self.prepared.codes[function.index()];
        let (base, depth) = (self.next_base(), self.memory.stack_depth());
        self.callers.push(self.current);
        self.current = Frame { function, code, step: 0, base, depth, result };
        self.observer.call(from, function);
        self.observer.block(function, BlockId(0));
    }

    /// Returns to the caller, with the value in `moving`.
    pub(super) fn leave(&mut self, value: Option<Source>) {
        self.moving.clear();
        if let Some(source) = value {
            for slot in 0..self.current.code.n_results {
                let value = self.get(source.plus(slot));
                self.moving.push(value);
            }
        }
        let Frame { function, depth, result, .. } = self.current;
        self.memory.release(depth);
        self.observer.returned(function);
        self.current = self.callers.pop().expect("every function was entered from a frame");
        // A library function that called back goes on by itself.
        let Some(result) = result else { return };
        for slot in 0..result.count {
            let value = self.moving.get(slot as usize).copied().unwrap_or(0);
            self.set(result.first + slot, value & result.mask);
        }
        self.current.step += 1;
    }

    /// Calls the function at an address from a library function, with scalar arguments, for a scalar result.
    pub(super) fn call_back(&mut self, address: u64, arguments: &[Argument]) -> Checked<u128> {
        let id = match self.prepared.function_at(address).ok_or(FaultKind::BadCall)? {
            Target::Code(id) => id,
            Target::Native(native) => return native(self, arguments).map(|[first, _]| first),
            Target::Missing(id) => return Err(self.missing(id)),
        };
        if self.callback_depth == MAX_CALLBACK_DEPTH {
            return Err(FaultKind::StackOverflow.into());
        }
        self.make_room(id)?;
        let prepared = self.prepared;
        for (number, parameter) in prepared.codes[id.index()].parameters.iter().enumerate() {
            let value = arguments.get(number).map_or(0, |argument| argument.value);
            self.pass(*parameter, &[value]);
        }
        self.callback_depth += 1;
        self.observer.callback(id);
        let floor = self.callers.len();
        self.enter(id, None, None);
        self.execute(floor)?;
        self.callback_depth -= 1;
        Ok(self.moving.first().copied().unwrap_or(0))
    }
}

/// The scalars of a value in order.
pub(super) fn flatten(value: &Value, scalars: &mut Vec<u128>) {
    match value {
        Value::Int { value, .. } => scalars.push(*value),
        Value::Ptr(address) => scalars.push((*address).into()),
        Value::Float { bits, .. } => scalars.push(*bits),
        Value::Record(leaves) => leaves.iter().for_each(|leaf| flatten(leaf, scalars)),
    }
}
