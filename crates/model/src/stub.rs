//! Functions that a program calls and nothing defines: what stands in for each of them, and what its calls give.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Gap;
use crate::ctype::{CFunction, CTypeKind, CTypes};
use crate::input::Node;

/// Bytes behind a pointer to something of unknown size that a stub gives.
pub const BLOCK: u64 = 4096;

/// The stubs of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stubs {
    /// By name.
    pub stubs: Vec<Stub>,
    /// What calls give, to be added to the shape of the input.
    pub roots: Vec<Node>,
    /// C code to be appended to units, by index.
    pub texts: BTreeMap<usize, String>,
    /// What stubs do not give.
    pub gaps: Vec<Gap>,
    /// Variables that are defined nowhere, which are zero, with their sizes in bytes.
    pub variables: Vec<(String, u64)>,
}

/// What stands in for one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stub {
    /// As the unit declares it that the stub is added to.
    pub function: CFunction,
    pub behaviour: Behaviour,
    /// The parameters that it writes through, by index.
    pub writes: Vec<usize>,
}

impl Stub {
    /// Whether what it returns is less than the function could: nothing, a block of zeros, or structures without what their
    /// pointers lead to.
    pub fn result_is_limited(&self, types: &CTypes) -> bool {
        let is_value = |ty| match types[ty].kind {
            CTypeKind::Bool
            | CTypeKind::Char { .. }
            | CTypeKind::Integer { .. }
            | CTypeKind::Enum { .. }
            | CTypeKind::Float { .. } => true,
            CTypeKind::Void
            | CTypeKind::Pointer { .. }
            | CTypeKind::Array { .. }
            | CTypeKind::Struct { .. }
            | CTypeKind::Function(_)
            | CTypeKind::Other => false,
        };
        match (self.behaviour, &types[self.function.result].kind) {
            (_, CTypeKind::Void) => false,
            (Behaviour::Nothing, _) => true,
            (Behaviour::Gives { .. }, CTypeKind::Pointer { to, .. }) => !is_value(*to),
            (Behaviour::Gives { .. } | Behaviour::Ends | Behaviour::Assumes | Behaviour::Fails, _) => false,
        }
    }

    /// Whether it is handed memory that the function could write to and it does not.
    pub fn leaves_memory(&self, types: &CTypes) -> bool {
        let is_left = |index: usize| !self.writes.contains(&index);
        match self.behaviour {
            Behaviour::Gives { .. } | Behaviour::Nothing => {
                (0..self.function.parameters.len()).filter(|index| is_left(*index)).any(|index| {
                    let ty = &types[self.function.parameters[index].ty].kind;
                    matches!(ty, CTypeKind::Pointer { const_target: false, .. })
                })
            }
            Behaviour::Ends | Behaviour::Assumes | Behaviour::Fails => false,
        }
    }
}

/// What a stub does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Behaviour {
    /// Gives values: those of function `result` in the sequence that is root `root` among those of the stubs.
    Gives { root: usize, result: usize },
    /// Has nothing to give.
    Nothing,
    /// Ends the run in order, because the function is said not to return.
    Ends,
    /// Ends the run in order when its argument is false.
    Assumes,
    /// Ends the run as an error found.
    Fails,
}
