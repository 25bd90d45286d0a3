//! Is this program well formed? Reports every violated rule, with its location.
//!
//! Method: ids first, because everything else uses them; then, for each function with valid ids, phis, dominance and types;
//! then consistency of the source tables. Limits: unreachable code may use values that nothing defines before it, as
//! unoptimised code does; a call may differ from its callee in scalar types, because C allows it through declarations
//! without prototypes.

mod dominance;
mod function;
mod ids;
mod tables;
mod types;

use std::fmt;

use crate::{BlockId, FunctionId, InstrId, Program};

/// A broken rule and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub function: Option<FunctionId>,
    pub block: Option<BlockId>,
    /// `None` in a block means its terminator.
    pub instr: Option<InstrId>,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "{function}")?;
            match (self.block, self.instr) {
                (Some(block), Some(instr)) => write!(f, " {block} {instr}")?,
                (Some(block), None) => write!(f, " {block}")?,
                (None, Some(instr)) => write!(f, " {instr}")?,
                (None, None) => {}
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.what)
    }
}

/// Every rule that the program breaks; none when it is well formed.
pub fn verify(program: &Program) -> Vec<Violation> {
    let mut verifier = Verifier { program, found: Vec::new(), function: None, block: None, instr: None };
    ids::check_tables(&mut verifier);
    let tables_hold = verifier.found.is_empty();
    for (index, function) in program.functions.iter().enumerate() {
        verifier.function = Some(FunctionId::new(index));
        let before = verifier.found.len();
        ids::check_function(&mut verifier, function);
        if tables_hold && verifier.found.len() == before {
            function::check(&mut verifier, function);
        }
        (verifier.function, verifier.block, verifier.instr) = (None, None, None);
    }
    if verifier.found.is_empty() {
        tables::check(&mut verifier);
    }
    verifier.found
}

/// Violations so far, and the place being looked at.
struct Verifier<'p> {
    program: &'p Program,
    found: Vec<Violation>,
    function: Option<FunctionId>,
    block: Option<BlockId>,
    instr: Option<InstrId>,
}

impl Verifier<'_> {
    fn flag(&mut self, what: impl Into<String>) {
        let (function, block, instr) = (self.function, self.block, self.instr);
        self.found.push(Violation { function, block, instr, what: what.into() });
    }

    /// Flags an id that is not below the number of its kind.
    fn in_range(&mut self, id: impl fmt::Display, index: usize, n_items: usize) {
        if index >= n_items {
            self.flag(format!("{id} does not exist"));
        }
    }
}
