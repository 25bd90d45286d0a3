//! What may a pointer point to? A points-to analysis of the whole program.
//!
//! Method: inclusion constraints (after Andersen, 1994) over values and the contents of memory, one set of pointees for
//! each, solved by difference propagation; values that include each other are merged. A variable is a pointee only if its
//! address is used for more than naming it. Code outside the program may store any pointer it receives, or can read,
//! wherever the others point to, and may call functions that it receives; what the harness offers to pointers of the input
//! is a pointee of all of them.
//!
//! The offset of a pointer within a variable is known as long as it is moved by known distances ([`PointerOffset`]); the
//! contents of an object's fields and elements are merged.
//!
//! Limits: flow- and context-insensitive. Pointers assembled from bytes, read from files or passed by signals are not
//! followed. All memory that one call allocates is one object, and memory without a place in the program is
//! [`Pointee::Unknown`].

mod constraints;
mod locations;
mod solve;

use std::collections::BTreeSet;

use model::{Function, FunctionId, GlobalId, InstrId, Op, Operand, Program};

use crate::address::{Base, Index, address};
use constraints::Constraints;
use locations::Locations;
pub use locations::PointerOffset;

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
    locations: Locations,
    sets: Vec<Vec<u32>>,
    /// By node: the one that stands for it.
    found: Vec<u32>,
}

impl PointsTo {
    /// The analysis of `program`.
    pub fn of(program: &Program) -> Self {
        let mut locations = Locations::new(program);
        let constraints = Constraints::of(program);
        let (sets, found) = solve::solve(program, &constraints, &mut locations);
        Self { constraints, locations, sets, found }
    }

    /// What an operand of a function may point to, and where in it; nothing when it is no pointer.
    pub fn targets(
        &self,
        program: &Program,
        id: FunctionId,
        operand: Operand,
    ) -> BTreeSet<(Pointee, PointerOffset)> {
        let function = program.function(id);
        if let Some(at) = address(function, operand) {
            let (pointee, by) =
                (pointee(id, at.base), PointerOffset::At { offset: at.offset, index: at.index });
            let spot = self.locations.spot(pointee, PointerOffset::START, by);
            return spot.map(|spot| (pointee, spot)).into_iter().collect();
        }
        let (root, by) = root(function, operand);
        let Some(node) = self.constraints.node_of(id, root) else { return BTreeSet::new() };
        let set = &self.sets[self.found[node as usize] as usize];
        let moved = set.iter().filter_map(|location| {
            let (pointee, from) = self.locations.get(*location);
            self.locations.spot(pointee, from, by).map(|spot| (pointee, spot))
        });
        moved.collect()
    }
}

fn pointee(function: FunctionId, base: Base) -> Pointee {
    match base {
        Base::Local(instr) => Pointee::Local(function, instr),
        Base::Global(global) => Pointee::Global(global),
    }
}

/// The value that an operand is computed from by moving or renaming a pointer, and how far it is moved: it points to the same
/// objects.
fn root(function: &Function, mut operand: Operand) -> (Operand, PointerOffset) {
    let mut by = PointerOffset::START;
    while let Operand::Result(id) = operand {
        match &function.instr(id).op {
            Op::Address { base, offset, indices } => {
                let index = indices.iter().fold(None, |of, (_, _, scale)| Index::join(of, *scale));
                by = by.and(PointerOffset::At { offset: *offset, index });
                operand = *base;
            }
            Op::Freeze(inner) | Op::Cast(_, _, inner) => operand = *inner,
            _ => break,
        }
    }
    (operand, by)
}

#[cfg(test)]
mod tests;
