//! Which calls may lead to a function, and which programs are refused altogether?
//!
//! An indirect call, and a call of code outside of the program, may go to every function whose address is taken anywhere.
//! A function whose code the model does not have, though the program does, may call every function.

use std::collections::BTreeSet;

use model::{Callee, Function, FunctionId, GapKind, Linkage, Op, Operand, Program, RelocationTarget};

/// Functions after which code runs beside what calls show: handlers and threads.
const BESIDE: [&str; 9] = [
    "signal",
    "sigaction",
    "bsd_signal",
    "__sysv_signal",
    "sigset",
    "pthread_create",
    "thrd_create",
    "timer_create",
    "clone",
];

/// Functions that come back in other ways than calls do, besides those that the model says so of.
const JUMPS: [&str; 5] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "vfork"];

/// The functions in which a call may lead to `target`.
pub(crate) struct MayReach {
    functions: BTreeSet<FunctionId>,
    address_taken: bool,
}

impl MayReach {
    pub(crate) fn of(program: &Program, target: FunctionId) -> Self {
        let taken = address_taken(program);
        let mut reach = Self { functions: BTreeSet::from([target]), address_taken: false };
        loop {
            reach.address_taken = taken.iter().any(|function| reach.functions.contains(function));
            let before = reach.functions.len();
            for (index, function) in program.functions.iter().enumerate() {
                let id = FunctionId::new(index);
                if calls(function).any(|callee| reach.by_call(program, callee)) {
                    reach.functions.insert(id);
                }
            }
            if reach.functions.len() == before {
                return reach;
            }
        }
    }

    /// Whether this call, or this code that the model does not describe, may lead to the function.
    pub(crate) fn by_call(&self, program: &Program, callee: Option<FunctionId>) -> bool {
        let Some(id) = callee else { return self.address_taken };
        let function = program.function(id);
        if self.functions.contains(&id) {
            return true;
        }
        if function.is_defined() || function.name.starts_with("llvm.") {
            return false;
        }
        function.linkage != Linkage::External
            || program.gaps.iter().any(|gap| gap.function == Some(id))
            || self.address_taken
    }
}

/// What the instructions of a function call; none where that is not known.
fn calls(function: &Function) -> impl Iterator<Item = Option<FunctionId>> {
    function.instrs.iter().filter_map(|instr| match &instr.op {
        Op::Call { callee: Callee::Direct(callee), .. } => Some(Some(*callee)),
        Op::Call { callee: Callee::Indirect(_), .. } | Op::Opaque { .. } => Some(None),
        _ => None,
    })
}

fn address_taken(program: &Program) -> BTreeSet<FunctionId> {
    let mut taken = BTreeSet::new();
    for function in &program.functions {
        let operands = function.instrs.iter().flat_map(|instr| instr.op.operands());
        let of_terminators = function.blocks.iter().filter_map(|block| block.terminator.operand());
        for operand in operands.chain(of_terminators) {
            if let Operand::Function(id) = operand {
                taken.insert(id);
            }
        }
    }
    for relocation in program.globals.iter().flat_map(|global| &global.relocations) {
        if let RelocationTarget::Function(id) = relocation.target {
            taken.insert(id);
        }
    }
    taken
}

/// Why nothing can be claimed of the program, if so: code runs beside what calls show.
pub(crate) fn runs_beside(program: &Program) -> Option<String> {
    if let Some(gap) = program.gaps.iter().find(|gap| gap.kind == GapKind::Thread) {
        return Some(format!("the program has threads: {}", gap.what));
    }
    let named = |function: &&Function| !function.is_defined() && BESIDE.contains(&function.name.as_str());
    let found = program.functions.iter().find(named)?;
    Some(format!("the program uses {}: code may run beside what calls show", found.name))
}

/// Whether a call of the function may come back more than once, or lead to where another did.
pub(crate) fn jumps(callee: &Function) -> bool {
    callee.returns_twice
        || callee.name.starts_with("llvm.eh.")
        || (!callee.is_defined() && JUMPS.contains(&callee.name.as_str()))
}
