//! Who may call whom.
//!
//! Method: direct calls, plus every function whose address a reachable function takes (in an operand or in a global it
//! uses), because an indirect call may go there. Limit: addresses that only uninstrumented code knows are not seen.

use std::collections::BTreeSet;

use model::{Callee, Function, FunctionId, GlobalId, Op, Operand, Program, RelocationTarget, Terminator};

/// All functions that a run starting at `root` may enter, `root` among them.
pub fn reachable(program: &Program, root: FunctionId) -> BTreeSet<FunctionId> {
    explore(program, root).reached
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
    let mut globals = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let mut mentioned = Mentioned::default();
        mentioned.function(program.function(id));
        let mut open_globals = mentioned.globals;
        while let Some(global) = open_globals.pop() {
            if globals.insert(global) {
                for relocation in &program.global(global).relocations {
                    match relocation.target {
                        RelocationTarget::Global(global) => open_globals.push(global),
                        RelocationTarget::Function(function) => mentioned.addresses.push(function),
                    }
                }
            }
        }
        explored.address_taken.extend(&mentioned.addresses);
        let functions = mentioned.callees.into_iter().chain(mentioned.addresses);
        open.extend(functions.filter(|function| explored.reached.insert(*function)));
    }
    explored
}

#[derive(Default)]
struct Mentioned {
    callees: Vec<FunctionId>,
    addresses: Vec<FunctionId>,
    globals: Vec<GlobalId>,
}

impl Mentioned {
    fn function(&mut self, function: &Function) {
        for block in &function.blocks {
            for &id in &block.instrs {
                self.op(&function.instr(id).op);
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

    fn op(&mut self, op: &Op) {
        if let Op::Call { callee: Callee::Direct(function), .. } = op {
            self.callees.push(*function);
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
