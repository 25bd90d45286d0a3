//! Who may call whom?
//!
//! Method: direct calls, and among the functions whose address a reachable function takes (in an operand or in a global it
//! uses) those that match a reachable indirect call, or all of them once a pointer is passed to code outside the program,
//! which may call back. Limit: a call through a pointer that was cast to another number of parameters is not followed.

use std::collections::BTreeSet;

use model::{
    Callee, Function, FunctionId, GlobalId, Op, Operand, Program, RelocationTarget, Terminator, Type,
};

/// All functions that a run starting at `root` may enter, `root` among them.
pub fn reachable(program: &Program, root: FunctionId) -> BTreeSet<FunctionId> {
    explore(program, root).reached
}

/// Whether a function may be called while one of its activations lasts; one whose address is taken may always be.
pub fn is_recursive(program: &Program, function: FunctionId) -> bool {
    let calls_it = |id: FunctionId| {
        let mut mentioned = Mentioned::default();
        mentioned.function(program, program.function(id));
        mentioned.callees.contains(&function)
    };
    address_taken(program).contains(&function) || reachable(program, function).into_iter().any(calls_it)
}

/// The functions whose address a run may have in hand: an indirect call goes to one of them.
pub fn address_taken(program: &Program) -> BTreeSet<FunctionId> {
    let explored = match program.root {
        Some(root) => vec![explore(program, root)],
        None => (0..program.functions.len()).map(|index| explore(program, FunctionId::new(index))).collect(),
    };
    explored.into_iter().flat_map(|explored| explored.address_taken).collect()
}

struct Explored {
    reached: BTreeSet<FunctionId>,
    address_taken: BTreeSet<FunctionId>,
}

fn explore(program: &Program, root: FunctionId) -> Explored {
    let mut explored = Explored { reached: BTreeSet::from([root]), address_taken: BTreeSet::new() };
    let mut mentioned = Mentioned::default();
    let mut globals = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        mentioned.function(program, program.function(id));
        while let Some(global) = mentioned.globals.pop() {
            if globals.insert(global) {
                for relocation in &program.global(global).relocations {
                    match relocation.target {
                        RelocationTarget::Global(global) => mentioned.globals.push(global),
                        RelocationTarget::Function(function) => {
                            explored.address_taken.insert(function);
                        }
                    }
                }
            }
        }
        explored.address_taken.extend(mentioned.addresses.drain(..));
        let callees = std::mem::take(&mut mentioned.callees).into_iter();
        let by_address = explored.address_taken.iter().copied();
        let by_address = by_address.filter(|function| mentioned.may_call(program.function(*function)));
        open.extend(callees.chain(by_address).filter(|function| explored.reached.insert(*function)));
    }
    explored
}

/// What the functions looked at so far mention; lists hold what was not followed yet.
#[derive(Default)]
struct Mentioned {
    callees: Vec<FunctionId>,
    addresses: Vec<FunctionId>,
    globals: Vec<GlobalId>,
    /// Numbers of arguments of indirect calls.
    n_arguments: BTreeSet<usize>,
    /// Whether code outside of the program is given pointers.
    calls_out: bool,
}

impl Mentioned {
    /// Whether a call without a name may be one of this function.
    fn may_call(&self, function: &Function) -> bool {
        let n_parameters = function.parameters.len();
        let fits = |n_arguments: &usize| *n_arguments >= n_parameters;
        self.calls_out
            || self.n_arguments.contains(&n_parameters)
            || (function.variadic && self.n_arguments.iter().any(fits))
    }

    fn function(&mut self, program: &Program, function: &Function) {
        for block in &function.blocks {
            for &id in &block.instrs {
                self.op(program, function, &function.instr(id).op);
            }
            match &block.terminator {
                Terminator::Branch { condition: operand, .. }
                | Terminator::Switch { value: operand, .. }
                | Terminator::IndirectJump { address: operand, .. }
                | Terminator::Return(Some(operand)) => self.operand(*operand),
                Terminator::Jump(_) | Terminator::Return(None) | Terminator::Unreachable => {}
            }
        }
    }

    fn op(&mut self, program: &Program, caller: &Function, op: &Op) {
        if let Op::Call { callee, arguments } = op {
            match callee {
                Callee::Direct(function) => {
                    self.callees.push(*function);
                    // what the harness asks the runtime for calls nothing back
                    let is_outside = program.function(*function).blocks.is_empty() && !caller.generated;
                    self.calls_out |= is_outside && arguments.iter().any(|(ty, _)| *ty == Type::Ptr);
                }
                Callee::Indirect(_) => {
                    self.n_arguments.insert(arguments.len());
                }
            }
        }
        for operand in op.operands() {
            self.operand(operand);
        }
    }

    fn operand(&mut self, operand: Operand) {
        match operand {
            Operand::Function(function) => self.addresses.push(function),
            Operand::Global { global, .. } => self.globals.push(global),
            Operand::Result(_)
            | Operand::Parameter(_)
            | Operand::Int { .. }
            | Operand::Float { .. }
            | Operand::Null
            | Operand::Undefined(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use model::text;

    use super::*;

    /// What a function with this body reaches of one parameter (`f1`), two (`f2`), and code that is not known (`f3`).
    fn reached(body: &str) -> Vec<usize> {
        let program = text::parse(&format!(
            "program pointer 64 root f0\n\
             global g0 \"table\" internal size 8 align 8 relocations {{ 0: f2 }}\n\
             function f0 \"f\" internal (ptr) -> void {{\nb0:\n{body}\n return\n}}\n\
             function f1 \"one\" internal (i64) -> void {{\nb0:\n return\n}}\n\
             function f2 \"two\" internal (i64, ptr) -> void {{\nb0:\n return\n}}\n\
             function f3 \"outside\" external (ptr) -> void\n"
        ));
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        reachable(&program, FunctionId::new(0)).into_iter().map(FunctionId::index).collect()
    }

    #[test]
    fn an_address_that_nobody_calls_reaches_nothing() {
        assert_eq!(reached(" %0 = store ptr f1, p0"), [0]);
    }

    #[test]
    fn indirect_calls_reach_what_fits_them() {
        let store = " %0 = store ptr f1, p0\n %1 = store ptr g0, p0\n";
        assert_eq!(reached(&format!("{store} %2 = call void *p0(i64 1)")), [0, 1]);
        assert_eq!(reached(&format!("{store} %2 = call void *p0(i64 1, ptr p0)")), [0, 2]);
    }

    #[test]
    fn code_outside_may_call_back_what_it_is_given() {
        assert_eq!(reached(" %0 = store ptr f1, p0\n %1 = call void f3(ptr p0)"), [0, 1, 3]);
    }
}
