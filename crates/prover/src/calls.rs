//! Which functions may a call lead to?
//!
//! Method: the transitive closure of direct calls; a call through a pointer, and code that is not known, may lead to every
//! function whose address is taken anywhere.

use std::collections::BTreeSet;

use model::{Callee, FunctionId, Linkage, Op, Operand, Program, RelocationTarget};

/// By function, the functions that a call of it may enter, itself among them.
pub(crate) struct MayCall {
    reached: Vec<BTreeSet<FunctionId>>,
    by_pointer: BTreeSet<FunctionId>,
    direct: Vec<(BTreeSet<FunctionId>, bool)>,
    taken: BTreeSet<FunctionId>,
}

impl MayCall {
    pub(crate) fn of(program: &Program) -> Self {
        let taken = address_taken(program);
        let direct: Vec<(BTreeSet<FunctionId>, bool)> =
            program.functions.iter().map(|function| callees(program, function)).collect();
        let functions = (0..program.functions.len()).map(FunctionId::new);
        let mut may_call = Self { reached: Vec::new(), by_pointer: BTreeSet::new(), direct, taken };
        may_call.reached = functions.map(|function| may_call.reach([function], None)).collect();
        may_call.by_pointer = may_call.reach(may_call.taken.iter().copied(), None);
        may_call
    }

    /// Everything that calls of these may enter, without entering `avoided`.
    fn reach(
        &self,
        starts: impl IntoIterator<Item = FunctionId>,
        avoided: Option<FunctionId>,
    ) -> BTreeSet<FunctionId> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<FunctionId> = starts.into_iter().collect();
        while let Some(function) = open.pop() {
            if Some(function) != avoided && reached.insert(function) {
                let (callees, calls_unknown) = &self.direct[function.index()];
                open.extend(callees);
                if *calls_unknown {
                    open.extend(&self.taken);
                }
            }
        }
        reached
    }

    /// What a run from `root` may enter without being called by `under_test`.
    pub(crate) fn around(&self, root: FunctionId, under_test: FunctionId) -> BTreeSet<FunctionId> {
        self.reach([root], Some(under_test))
    }

    /// Whether an activation of the function may lead to another one of it.
    pub(crate) fn reenters(&self, program: &Program, function: FunctionId) -> bool {
        program.function(function).instrs.iter().any(|instr| match instr.op {
            Op::Call { callee, .. } => self.leads(callee, function),
            Op::Opaque { .. } => self.by_pointer.contains(&function),
            _ => false,
        })
    }

    /// Whether an activation of the function may lead to two of one function, one within the other.
    pub(crate) fn has_recursion(&self, program: &Program, function: FunctionId) -> bool {
        let mut entered = self.reached[function.index()].iter();
        entered.any(|id| program.function(*id).is_defined() && self.reenters(program, *id))
    }

    /// Whether code that runs in an activation of the function mentions a global that may change.
    pub(crate) fn uses_variables(&self, program: &Program, function: FunctionId) -> bool {
        let is_variable = |operand: Operand| match operand {
            Operand::Global { global, .. } => {
                let global = program.global(global);
                !global.constant && global.linkage != Linkage::External
            }
            _ => false,
        };
        self.reached[function.index()].iter().map(|id| program.function(*id)).any(|function| {
            let of_blocks = function.blocks.iter().filter_map(|block| block.terminator.operand());
            function.instrs.iter().flat_map(|instr| instr.op.operands()).chain(of_blocks).any(is_variable)
        })
    }

    /// Whether an activation of one function may lead to one of another.
    pub(crate) fn enters(&self, from: FunctionId, to: FunctionId) -> bool {
        self.reached[from.index()].contains(&to)
    }

    /// Whether a call may enter the function.
    pub(crate) fn leads(&self, callee: Callee, to: FunctionId) -> bool {
        match callee {
            Callee::Direct(callee) => self.reached[callee.index()].contains(&to),
            Callee::Indirect(_) => self.by_pointer.contains(&to),
        }
    }
}

/// The functions that are called directly, and whether unknown code may be called.
fn callees(program: &Program, function: &model::Function) -> (BTreeSet<FunctionId>, bool) {
    // an intrinsic calls nobody
    let mut calls_unknown = !function.is_defined() && !function.name.starts_with("llvm.");
    let mut callees = BTreeSet::new();
    for instr in &function.instrs {
        match &instr.op {
            Op::Call { callee: Callee::Direct(callee), .. } => {
                callees.insert(*callee);
            }
            Op::Call { callee: Callee::Indirect(_), .. } | Op::Opaque { .. } => calls_unknown = true,
            _ => {}
        }
    }
    debug_assert!(callees.iter().all(|callee| callee.index() < program.functions.len()));
    (callees, calls_unknown)
}

fn address_taken(program: &Program) -> BTreeSet<FunctionId> {
    let mut taken = BTreeSet::new();
    let mut note = |operand: Operand| {
        if let Operand::Function(function) = operand {
            taken.insert(function);
        }
    };
    for function in &program.functions {
        function.instrs.iter().flat_map(|instr| instr.op.operands()).for_each(&mut note);
        function.blocks.iter().filter_map(|block| block.terminator.operand()).for_each(&mut note);
    }
    for relocation in program.globals.iter().flat_map(|global| &global.relocations) {
        if let RelocationTarget::Function(function) = relocation.target {
            taken.insert(function);
        }
    }
    taken
}
