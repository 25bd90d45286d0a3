//! The state of a run and the loop that executes steps.

use std::collections::BTreeMap;

use super::call::flatten;
use super::image::Prepared;
use super::library::Tables;
use super::memory::{Checked, Memory, Region, Stop};
use super::step::{Code, EdgeIndex, Rare, Slots, Source, Step, Switch};
use super::{CodeLocation, End, FaultKind, Limits, Observer, RunResult, Value, float, integer};
use crate::{BlockId, FunctionId, MemoryOp, Program, Type};

/// An activation of a function.
#[derive(Clone, Copy)]
pub(super) struct Frame<'m> {
    pub(super) function: FunctionId,
    pub(super) code: &'m Code,
    /// The step being executed.
    pub(super) step: usize,
    /// First of its registers.
    pub(super) base: usize,
    /// Objects on the stack when it was entered.
    pub(super) depth: usize,
    /// Where the caller wants the result; `None` when code without a model called.
    pub(super) result: Option<Slots>,
}

/// An argument of a library function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument {
    pub(super) ty: Type,
    pub(super) value: u128,
}

/// One run.
pub(super) struct Machine<'m> {
    pub(super) program: &'m Program,
    pub(super) prepared: &'m Prepared,
    pub(super) limits: Limits,
    pub(super) inputs: &'m BTreeMap<u64, u64>,
    pub(super) observer: &'m mut dyn Observer,
    pub(super) memory: Memory,
    pub(super) registers: Vec<u128>,
    pub(super) callers: Vec<Frame<'m>>,
    pub(super) current: Frame<'m>,
    /// Values on their way: of phis, or of a return.
    pub(super) moving: Vec<u128>,
    pub(super) callback_depth: u32,
    steps: u64,
    pub(super) output: Vec<u8>,
    pub(super) errors: Vec<u8>,
    pub(super) tables: Tables,
}

impl<'m> Machine<'m> {
    pub(super) fn new(
        program: &'m Program,
        prepared: &'m Prepared,
        limits: Limits,
        inputs: &'m BTreeMap<u64, u64>,
        observer: &'m mut dyn Observer,
    ) -> Self {
        let layout = prepared.layout;
        let globals = prepared.globals.clone().unwrap_or_else(|| Region::new(layout.globals, layout.heap));
        let idle =
            Frame { function: FunctionId(0), code: &prepared.idle, step: 0, base: 0, depth: 0, result: None };
        Self {
            program,
            prepared,
            limits,
            inputs,
            observer,
            memory: Memory::new(globals, layout, limits.memory),
            registers: Vec::new(),
            callers: Vec::new(),
            current: idle,
            moving: Vec::new(),
            callback_depth: 0,
            steps: 0,
            output: Vec::new(),
            errors: Vec::new(),
            tables: Tables::default(),
        }
    }

    pub(super) fn run(mut self, function: FunctionId, arguments: &[Value]) -> RunResult {
        let end = match self.start(function, arguments) {
            Ok(()) => End::Returned(self.returned_value(function)),
            Err(stop) => self.end(stop),
        };
        RunResult { end, output: self.output, errors: self.errors, steps: self.steps }
    }

    fn start(&mut self, function: FunctionId, arguments: &[Value]) -> Checked<()> {
        if !self.program.function(function).is_defined() {
            let name = &self.program.function(function).name;
            return Err(Stop::Unsupported(format!("running `{name}`, which has no code").into()));
        }
        self.make_room(function)?;
        let parameters = &self.prepared.codes[function.index()].parameters;
        for (number, parameter) in parameters.iter().enumerate() {
            let mut values = Vec::new();
            if let Some(argument) = arguments.get(number) {
                flatten(argument, &mut values);
            }
            values.resize(parameter.count as usize, 0);
            self.pass(*parameter, &values);
        }
        if self.prepared.globals.is_none() {
            return Err(FaultKind::OutOfMemory.into());
        }
        self.enter(function, None, None);
        self.execute(0)
    }

    fn end(&self, stop: Stop) -> End {
        let at = |what: &str| match self.callers.is_empty() {
            true => End::Unsupported(what.to_owned()),
            false => End::Unsupported(format!("{}: {what}", self.place())),
        };
        match stop {
            Stop::Fault(kind) => End::Fault(kind, self.place()),
            Stop::Exit(status) => End::Exit(status),
            Stop::Abort => End::Abort,
            Stop::OutOfSteps => End::OutOfSteps,
            Stop::Unsupported(what) => at(&what),
            Stop::Outside(global) => {
                at(&format!("variable `{}`, which is only declared", self.program.global(global).name))
            }
        }
    }

    fn returned_value(&self, function: FunctionId) -> Option<Value> {
        let leaf = |ty: Type, value: u128| match ty {
            Type::Ptr => Value::Ptr(value as u64),
            Type::Float(kind) => Value::Float { kind, bits: value },
            Type::Int(bits) => Value::Int { bits, value },
            Type::Void | Type::Record(_) | Type::Opaque => Value::Int { bits: 128, value },
        };
        match self.program.function(function).result {
            Type::Void => None,
            Type::Record(id) => {
                let leaves = self.program.record(id).leaves.iter().zip(&self.moving);
                Some(Value::Record(leaves.map(|((_, ty), value)| leaf(*ty, *value)).collect()))
            }
            ty => Some(leaf(ty, self.moving.first().copied().unwrap_or(0))),
        }
    }

    pub(super) fn place(&self) -> CodeLocation {
        let code = self.current.code;
        let (block, instr) = code.origins.get(self.current.step).copied().unwrap_or((BlockId(0), None));
        CodeLocation { function: self.current.function, block, instr }
    }

    #[inline]
    pub(super) fn get(&self, source: Source) -> u128 {
        match source {
            Source::Slot(slot) => self.registers[self.current.base + slot as usize],
            Source::Constant(index) => self.current.code.constants[index as usize],
        }
    }

    #[inline]
    pub(super) fn set(&mut self, slot: u32, value: u128) {
        self.registers[self.current.base + slot as usize] = value;
    }

    /// Executes until this many callers are left.
    pub(super) fn execute(&mut self, floor: usize) -> Checked<()> {
        while self.callers.len() > floor {
            if self.steps == self.limits.steps {
                return Err(Stop::OutOfSteps);
            }
            self.steps += 1;
            let code = self.current.code;
            self.step(&code.steps[self.current.step])?;
        }
        Ok(())
    }

    #[inline]
    fn step(&mut self, step: &'m Step) -> Checked<()> {
        match step {
            Step::Load { to, address, bytes, mask } => {
                let address = self.get(*address) as u64;
                let value = self.memory.load(address, *bytes)? & mask;
                self.observer.load(self.place(), address, u64::from(*bytes));
                self.observer.loaded(self.place(), value.into());
                self.set(*to, value.into());
            }
            Step::Store { address, value, bytes } => {
                let address = self.get(*address) as u64;
                self.memory.store(address, self.get(*value), *bytes)?;
                self.observer.store(self.place(), address, u64::from(*bytes));
            }
            Step::Binary { op, bits, to, left, right } => {
                let result = integer::binary(*op, u32::from(*bits), self.get(*left), self.get(*right))?;
                self.set(*to, result);
            }
            Step::Compare { predicate, bits, to, left, right } => {
                let (left, right) = (self.get(*left), self.get(*right));
                self.set(*to, integer::compare(*predicate, u32::from(*bits), left, right).into());
            }
            Step::Mask { to, value, mask } => self.set(*to, self.get(*value) & mask),
            Step::SignExtend { to, value, from_bits, mask } => {
                let value = integer::signed(self.get(*value), u32::from(*from_bits)) as u128;
                self.set(*to, value & mask);
            }
            Step::Offset { to, base, offset } => self.set_address(*to, *base, *offset),
            Step::Index { to, base, offset, index, bits, scale } => {
                let index = integer::signed(self.get(*index), u32::from(*bits)) as i64;
                self.set_address(*to, *base, offset.wrapping_add(index.wrapping_mul(*scale)));
            }
            Step::Mark { to, condition, value } => {
                let value = self.get(*value);
                self.observer.condition(*condition, value != 0);
                self.set(*to, value);
            }
            Step::Jump(edge) => return self.follow(*edge),
            Step::Branch { condition, then, otherwise, decided } => {
                let taken = self.get(*condition) != 0;
                self.observer.branch(self.place(), taken, *decided);
                return self.follow(if taken { *then } else { *otherwise });
            }
            Step::Switch(switch) => return self.switch(switch),
            Step::Call(call) => return self.call(call),
            Step::Return(value) => {
                self.leave(*value);
                return Ok(());
            }
            Step::Rare(step) => self.rare_step(step)?,
        }
        self.current.step += 1;
        Ok(())
    }

    fn rare_step(&mut self, step: &Rare) -> Checked<()> {
        match step {
            Rare::Alloca { to, size, align, count } => {
                let count = u64::try_from(self.get(*count)).unwrap_or(u64::MAX);
                let size = size.checked_mul(count).ok_or(FaultKind::StackOverflow)?;
                let address = self.memory.push(size, (*align).into())?;
                self.observer.allocated(self.place(), address, size);
                self.set(*to, address.into());
            }
            Rare::LoadWide { to, address, bytes, mask } => {
                let address = self.get(*address) as u64;
                let value = self.memory.load_wide(address, *bytes)? & mask;
                self.observer.load(self.place(), address, u64::from(*bytes));
                self.observer.loaded(self.place(), value);
                self.set(*to, value);
            }
            Rare::LoadRecord { to, address, size, leaves } => {
                let address = self.get(*address) as u64;
                for (slot, (offset, bytes)) in (*to..).zip(leaves) {
                    let value = self.memory.load_wide(address.wrapping_add(*offset), *bytes)?;
                    self.set(slot, value);
                }
                self.observer.load(self.place(), address, *size);
            }
            Rare::StoreRecord { address, value, size, leaves } => {
                let address = self.get(*address) as u64;
                for (number, (offset, bytes)) in (0..).zip(leaves) {
                    let leaf = self.get(value.plus(number));
                    self.memory.store(address.wrapping_add(*offset), leaf, *bytes)?;
                }
                self.observer.store(self.place(), address, *size);
            }
            Rare::FloatBinary { op, kind, to, left, right } => {
                self.set(*to, float::binary(*op, *kind, self.get(*left), self.get(*right))?);
            }
            Rare::FloatNegate { kind, to, value } => self.set(*to, float::negate(*kind, self.get(*value))),
            Rare::FloatCompare { predicate, kind, to, left, right } => {
                let holds = float::compare(*predicate, *kind, self.get(*left), self.get(*right))?;
                self.set(*to, holds.into());
            }
            Rare::FloatCast { op, from, into, to, value } => {
                self.set(*to, float::cast(*op, *from, *into, self.get(*value))?);
            }
            Rare::IndexMany { to, base, offset, indices } => {
                let distance = indices.iter().fold(*offset, |sum, (bits, index, scale)| {
                    let index = integer::signed(self.get(*index), u32::from(*bits)) as i64;
                    sum.wrapping_add(index.wrapping_mul(*scale))
                });
                self.set_address(*to, *base, distance);
            }
            Rare::Select { to, condition, then, otherwise, count } => {
                let chosen = if self.get(*condition) != 0 { then } else { otherwise };
                self.copy_slots(*to, *chosen, *count);
            }
            Rare::Copy { to, from, count } => self.copy_slots(*to, *from, *count),
            Rare::Insert { to, record, count, leaf, value } => {
                self.copy_slots(*to, *record, *count);
                self.set(to + leaf, self.get(*value));
            }
            Rare::Memory { op, to, from, length } => self.move_memory(*op, *to, *from, *length)?,
            Rare::Unsupported(what) => return Err(Stop::Unsupported(what.as_str().into())),
            Rare::Unreachable => return Err(FaultKind::Unreachable.into()),
        }
        Ok(())
    }

    fn copy_slots(&mut self, to: u32, from: Source, count: u32) {
        for slot in 0..count {
            self.set(to + slot, self.get(from.plus(slot)));
        }
    }

    fn set_address(&mut self, to: u32, base: Source, distance: i64) {
        let address = (self.get(base) as u64).wrapping_add_signed(distance);
        self.set(to, u128::from(address) & integer::mask(self.program.pointer_bits));
    }

    fn move_memory(&mut self, op: MemoryOp, to: Source, from: Source, length: Source) -> Checked<()> {
        let (to, from) = (self.get(to) as u64, self.get(from));
        let length = u64::try_from(self.get(length)).map_err(|_| FaultKind::InvalidAccess)?;
        match op {
            MemoryOp::Copy | MemoryOp::Move => {
                self.memory.copy(to, from as u64, length)?;
                self.observer.load(self.place(), from as u64, length);
            }
            MemoryOp::Set => self.memory.bytes_mut(to, length)?.fill(from as u8),
        }
        self.observer.store(self.place(), to, length);
        Ok(())
    }

    /// Goes to the block that an edge leads to.
    #[inline]
    fn follow(&mut self, edge: EdgeIndex) -> Checked<()> {
        let code = self.current.code;
        let edge = &code.edges[edge as usize];
        match edge.moves.as_slice() {
            [] => {}
            [(to, from)] => self.set(*to, self.get(*from)),
            moves => {
                // All phis of a block read before any is written.
                self.moving.clear();
                for (_, from) in moves {
                    let value = self.get(*from);
                    self.moving.push(value);
                }
                for (position, (to, _)) in moves.iter().enumerate() {
                    let value = self.moving[position];
                    self.set(*to, value);
                }
            }
        }
        self.current.step = edge.step;
        self.observer.block(self.current.function, edge.block);
        Ok(())
    }

    fn switch(&mut self, switch: &Switch) -> Checked<()> {
        let value = self.get(switch.value);
        let found = switch.cases.binary_search_by_key(&value, |(value, ..)| *value);
        let (case, edge) = match found {
            Ok(index) => (switch.cases[index].1, switch.cases[index].2),
            Err(_) => (switch.cases.len(), switch.default),
        };
        self.observer.switch(self.place(), case);
        self.follow(edge)
    }
}
