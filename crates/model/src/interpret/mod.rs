//! Runs a program by its model alone, as an oracle for native and instrumented runs.
//!
//! Method: every function is prepared once (operands become frame slots or constants, phis become moves on edges), then
//! steps are executed over one stack of registers. Memory is objects at made-up addresses with gaps between them; pointers
//! are plain integers, so casts, unions and pointer arithmetic work, and each access is checked for bounds and lifetime.
//! Limits: uninitialised memory reads as zero; a by-value structure is whatever pointer or record the model passes; inline
//! assembly, variable arguments in a callee, `setjmp`, computed goto and floating-point formats other than single and
//! double end the run as [`End::Unsupported`]. The program must be well formed ([`crate::verify`]).

mod call;
mod float;
mod image;
pub mod integer;
mod intrinsics;
mod library;
mod machine;
mod memory;
mod observe;
mod prepare;
mod step;

use std::collections::BTreeMap;
use std::fmt;

pub use observe::{Observer, PathLog, Unobserved};

use crate::{BlockId, FloatKind, FunctionId, GlobalId, InstrId, Program};
use image::Prepared;
use machine::Machine;

/// How far a run may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions and terminators executed.
    pub steps: u64,
    /// Bytes of globals, stack, heap and output together.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 100_000_000, memory: 1 << 30 }
    }
}

/// A value passed to a run or returned by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Zero-extended.
    Int {
        bits: u32,
        value: u128,
    },
    Ptr(u64),
    /// By its bits.
    Float {
        kind: FloatKind,
        bits: u128,
    },
    /// Leaves in order.
    Record(Vec<Value>),
}

/// Where in the program something happened; without an instruction, at the block's terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeLocation {
    pub function: FunctionId,
    pub block: BlockId,
    pub instr: Option<InstrId>,
}

impl fmt::Display for CodeLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.function, self.block)?;
        self.instr.map_or(Ok(()), |instr| write!(f, " {instr}"))
    }
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    pub end: End,
    /// What was written to standard output.
    pub output: Vec<u8>,
    /// What was written to standard error.
    pub errors: Vec<u8>,
    /// Instructions and terminators executed.
    pub steps: u64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Returned(Option<Value>),
    /// `exit` or `_exit` with this status.
    Exit(i32),
    /// `abort` or a failed assertion.
    Abort,
    Fault(FaultKind, CodeLocation),
    OutOfSteps,
    /// What the interpreter does not run, with its place.
    Unsupported(String),
}

/// What went wrong in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// An access near address 0.
    NullAccess,
    /// An access outside every live object.
    InvalidAccess,
    /// An access to freed heap memory.
    UseAfterFree,
    /// A store to a constant.
    WriteToConstant,
    /// `free` or `realloc` of what was not allocated, or was freed.
    InvalidFree,
    DivisionByZero,
    /// The least integer divided by -1.
    DivisionOverflow,
    /// A shift by the width or more, or a floating-point number that no integer of the type is.
    Undefined,
    /// Code that claims not to be reached.
    Unreachable,
    /// A call of an address that is no function.
    BadCall,
    StackOverflow,
    OutOfMemory,
}

/// Runs functions of one program.
pub struct Interpreter<'p> {
    program: &'p Program,
    prepared: Prepared,
    limits: Limits,
    inputs: BTreeMap<u64, u64>,
}

impl<'p> Interpreter<'p> {
    /// Prepares a well-formed program.
    pub fn new(program: &'p Program, limits: Limits) -> Self {
        Self { program, prepared: Prepared::new(program, limits), limits, inputs: BTreeMap::new() }
    }

    /// Values for the cells that `__quarry_cell` asks for, by key; a cell without a value keeps what memory holds.
    pub fn set_inputs(&mut self, inputs: BTreeMap<u64, u64>) {
        self.inputs = inputs;
    }

    /// Where a global lies in every run.
    pub fn address_of(&self, global: GlobalId) -> u64 {
        self.prepared.addresses[global.index()]
    }

    /// Runs a function in fresh memory. Missing arguments are zero, surplus ones are ignored.
    pub fn run(&self, function: FunctionId, arguments: &[Value]) -> RunResult {
        self.run_observed(function, arguments, &mut Unobserved)
    }

    /// Runs a function in fresh memory and tells an observer what happens.
    pub fn run_observed(
        &self,
        function: FunctionId,
        arguments: &[Value],
        observer: &mut dyn Observer,
    ) -> RunResult {
        Machine::new(self.program, &self.prepared, self.limits, &self.inputs, observer)
            .run(function, arguments)
    }
}
