//! What may a pointer point to? A points-to analysis of the whole program.
//!
//! Method: inclusion constraints (after Andersen, 1994) over values and the content of memory, one set of pointees for each,
//! solved by propagating what is new; values that include each other become one on the way. A variable takes part as a pointee
//! only when its address is used for more than naming it. Code that is not in the program may put any pointer it was given, or
//! can read there, wherever the others point to, and may call functions that it is given; what the harness offers to pointers
//! of the input is a pointee of all of them.
//!
//! Limits: it knows neither the order of things nor who calls (flow- and context-insensitive), and the fields and elements of
//! an object are one. Pointers that are put together from parts of a byte, read from files or handed over by signals are not
//! followed. All memory that one call allocates is one object, and memory without a place in the text is [`Pointee::Unknown`].

mod constraints;
mod solve;

use model::{Function, FunctionId, GlobalId, InstrId, Op, Operand, Program};

use crate::address::{Base, address};
use constraints::Constraints;

/// Something that pointers point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pointee {
    /// Memory of the C library, of the system, or of nobody.
    Unknown,
    /// The `alloca` of a function.
    Local(FunctionId, InstrId),
    Global(GlobalId),
    Function(FunctionId),
    /// What a call allocated.
    Heap(FunctionId, InstrId),
    /// The arguments behind the last parameter.
    Variadic(FunctionId),
}

/// What each pointer of a program may point to.
pub struct PointsTo {
    constraints: Constraints,
    sets: Vec<Vec<u32>>,
    /// By node: the one that stands for it.
    found: Vec<u32>,
}

impl PointsTo {
    /// The analysis of `program`.
    pub fn of(program: &Program) -> Self {
        let constraints = Constraints::of(program);
        let (sets, found) = solve::solve(program, &constraints);
        Self { constraints, sets, found }
    }

    /// What an operand of a function may point to, in order; nothing when it is no pointer.
    pub fn pointees(&self, program: &Program, id: FunctionId, operand: Operand) -> Vec<Pointee> {
        let function = program.function(id);
        if let Some(at) = address(function, operand) {
            return vec![pointee(id, at.base)];
        }
        let Some(node) = self.constraints.node_of(id, root(function, operand)) else { return Vec::new() };
        let set = &self.sets[self.found[node as usize] as usize];
        set.iter().map(|object| self.constraints.pointees[*object as usize]).collect()
    }
}

fn pointee(function: FunctionId, base: Base) -> Pointee {
    match base {
        Base::Local(instr) => Pointee::Local(function, instr),
        Base::Global(global) => Pointee::Global(global),
    }
}

/// The value that an operand is computed from by moving or renaming a pointer: it points to the same objects.
fn root(function: &Function, mut operand: Operand) -> Operand {
    while let Operand::Result(id) = operand {
        match &function.instr(id).op {
            Op::Address { base, .. } => operand = *base,
            Op::Freeze(inner) | Op::Cast(_, _, inner) => operand = *inner,
            _ => break,
        }
    }
    operand
}

#[cfg(test)]
mod tests;
