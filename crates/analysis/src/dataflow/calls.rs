//! The call structure that data flow needs: for each function its blocks in order and its calls with their possible
//! callees.

use std::collections::{BTreeMap, BTreeSet};

use model::{BinaryOp, BlockId, Callee, Function, FunctionId, InstrId, Op, Operand, Program, Terminator};

/// A call of code that is known, or that never comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallSite {
    pub(super) block: u32,
    pub(super) at: u32,
    pub(super) callees: Vec<FunctionId>,
    /// Whether it may come back without having entered any of them.
    pub(super) passes: bool,
    /// Whether it is `setjmp`.
    pub(super) is_landing: bool,
}

/// One function.
pub(super) struct FunctionFlow {
    pub(super) successors: Vec<Vec<u32>>,
    /// Blocks that can be reached, each after those that come before it but for ways back.
    pub(super) order: Vec<u32>,
    pub(super) has_cycle: bool,
    /// By block: whether it ends in a return.
    pub(super) returns: Vec<bool>,
    pub(super) calls: Vec<CallSite>,
}

/// The whole graph.
pub(super) struct CallFlow {
    functions: Vec<FunctionFlow>,
    callers: Vec<BTreeSet<FunctionId>>,
    /// By function: whether it may come back.
    may_return: Vec<bool>,
    roots: Vec<FunctionId>,
    reachable: Vec<bool>,
    /// By function: its place in an order in which callers come before callees but for recursion.
    ranks: Vec<u32>,
}

/// The functions that a call which does not name one may enter, and whether it may also go elsewhere.
pub(super) type Targets = BTreeMap<(FunctionId, u32, u32), (Vec<FunctionId>, bool)>;

impl CallFlow {
    /// The graph of a program; `targets` are those of calls that do not name a function with code.
    pub(super) fn new(program: &Program, roots: &[FunctionId], targets: &Targets) -> Self {
        let ids = (0..program.functions.len()).map(FunctionId::new);
        let functions: Vec<FunctionFlow> =
            ids.clone().map(|id| function_flow(program, id, program.function(id), targets)).collect();
        let mut callers = vec![BTreeSet::new(); functions.len()];
        for (flow, id) in functions.iter().zip(ids.clone()) {
            for callee in flow.calls.iter().flat_map(|call| &call.callees) {
                callers[callee.index()].insert(id);
            }
        }
        let roots = match roots {
            [] => ids.filter(|id| program.function(*id).is_defined()).collect(),
            roots => roots.to_vec(),
        };
        let mut flow = Self {
            ranks: ranks(&functions),
            may_return: vec![false; functions.len()],
            reachable: vec![false; functions.len()],
            functions,
            callers,
            roots,
        };
        flow.find_returns();
        flow.find_reachable();
        flow
    }

    pub(super) fn function(&self, id: FunctionId) -> &FunctionFlow {
        &self.functions[id.index()]
    }

    pub(super) fn callers(&self, id: FunctionId) -> &BTreeSet<FunctionId> {
        &self.callers[id.index()]
    }

    pub(super) fn roots(&self) -> &[FunctionId] {
        &self.roots
    }

    /// Its place in an order in which callers come before callees but for recursion.
    pub(super) fn rank(&self, id: FunctionId) -> u32 {
        self.ranks[id.index()]
    }

    /// Whether a run may enter the function.
    pub(super) fn is_reachable(&self, id: FunctionId) -> bool {
        self.reachable[id.index()]
    }

    /// Whether the function may come back.
    pub(super) fn returns(&self, id: FunctionId) -> bool {
        self.may_return[id.index()]
    }

    /// Whether the call may come back.
    pub(super) fn comes_back(&self, call: &CallSite) -> bool {
        call.passes || call.is_landing || call.callees.iter().any(|callee| self.returns(*callee))
    }

    /// What may be entered while a function is active; the function itself when it may be entered again.
    pub(super) fn entered_from(&self, id: FunctionId) -> BTreeSet<FunctionId> {
        let callees = |id: FunctionId| self.function(id).calls.iter().flat_map(|call| &call.callees);
        let mut found: BTreeSet<FunctionId> = callees(id).copied().collect();
        let mut open: Vec<FunctionId> = found.iter().copied().collect();
        while let Some(next) = open.pop() {
            open.extend(callees(next).filter(|callee| found.insert(**callee)));
        }
        found
    }

    /// These functions and all that may call them.
    pub(super) fn leading_to(&self, functions: impl Iterator<Item = FunctionId>) -> BTreeSet<FunctionId> {
        let mut found: BTreeSet<FunctionId> = functions.filter(|id| self.is_reachable(*id)).collect();
        let mut open: Vec<FunctionId> = found.iter().copied().collect();
        while let Some(id) = open.pop() {
            let callers = self.callers(id).iter().filter(|caller| self.is_reachable(**caller));
            open.extend(callers.filter(|caller| found.insert(**caller)));
        }
        found
    }

    fn find_returns(&mut self) {
        let mut open: Vec<FunctionId> = (0..self.functions.len()).map(FunctionId::new).collect();
        while let Some(id) = open.pop() {
            if !self.may_return[id.index()] && self.finds_return(id) {
                self.may_return[id.index()] = true;
                open.extend(&self.callers[id.index()]);
            }
        }
    }

    fn finds_return(&self, id: FunctionId) -> bool {
        let flow = self.function(id);
        self.reached_blocks(id, |_| {}).into_iter().any(|block| flow.returns[block as usize])
    }

    fn find_reachable(&mut self) {
        let mut open = self.roots.clone();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut self.reachable[id.index()], true) {
                self.reached_blocks(id, |call| open.extend(&call.callees));
            }
        }
    }

    /// The blocks whose end an activation may get to, told of each call on the way.
    fn reached_blocks(&self, id: FunctionId, mut visit: impl FnMut(&CallSite)) -> Vec<u32> {
        let flow = self.function(id);
        let mut reached = Vec::new();
        let mut seen = vec![false; flow.successors.len()];
        let mut open: Vec<u32> = flow.order.first().copied().into_iter().collect();
        while let Some(block) = open.pop() {
            if std::mem::replace(&mut seen[block as usize], true) {
                continue;
            }
            // calls are listed block by block, in order
            let first = flow.calls.partition_point(|call| call.block < block);
            let mut calls = flow.calls[first..].iter().take_while(|call| call.block == block);
            let stops = calls.any(|call| {
                visit(call);
                !self.comes_back(call)
            });
            if !stops {
                reached.push(block);
                open.extend(&flow.successors[block as usize]);
            }
        }
        reached
    }
}

fn ranks(functions: &[FunctionFlow]) -> Vec<u32> {
    // node 0 calls everybody
    let everybody = (1..).take(functions.len()).collect();
    let callees = functions.iter().map(|flow| {
        let callees = flow.calls.iter().flat_map(|call| &call.callees);
        callees.map(|callee| callee.0 + 1).collect()
    });
    let (order, _) = order(&std::iter::once(everybody).chain(callees).collect::<Vec<Vec<u32>>>());
    let mut ranks = vec![0; functions.len()];
    for (&node, rank) in order.iter().skip(1).zip(0..) {
        ranks[node as usize - 1] = rank;
    }
    ranks
}

fn function_flow(program: &Program, id: FunctionId, function: &Function, targets: &Targets) -> FunctionFlow {
    let successors = function.blocks().map(|(id, block)| {
        let next = block.terminator.successors().into_iter();
        let next: BTreeSet<u32> = next.map(|to| behind_constants(function, id, to).0).collect();
        next.into_iter().collect()
    });
    let successors: Vec<Vec<u32>> = successors.collect();
    let (order, has_cycle) = order(&successors);
    let returns =
        function.blocks.iter().map(|block| matches!(block.terminator, Terminator::Return(_))).collect();
    let mut calls = Vec::new();
    for (block_id, block) in function.blocks() {
        for (&instr, at) in block.instrs.iter().zip(0..) {
            if let Op::Call { callee, .. } = &function.instr(instr).op {
                let found = targets.get(&(id, block_id.0, at));
                calls.extend(call_site(program, callee, found, block_id.0, at));
            }
        }
    }
    FunctionFlow { successors, order, has_cycle, returns, calls }
}

/// Where an edge leads: code for `while (a || b)` joins the outcomes in a value and then branches on it, so that a way on which
/// the value is constant would seem to go both ways. Blocks that only do this are passed over.
fn behind_constants(function: &Function, from: BlockId, to: BlockId) -> BlockId {
    let mut known: BTreeMap<InstrId, bool> = BTreeMap::new();
    let (mut before, mut here) = (from, to);
    // a chain is as long as conditions nest
    for _ in 0..function.blocks.len() {
        let block = function.block(here);
        for &id in &block.instrs {
            let value = match &function.instr(id).op {
                Op::Phi(edges) => edges.iter().find(|(block, _)| *block == before).map(|(_, value)| *value),
                // `!(a || b)`
                Op::Binary(BinaryOp::Xor, value, Operand::Int { value: 1, .. }) => {
                    let negated = truth(&known, *value).map(|value| !value);
                    known.extend(negated.map(|value| (id, value)));
                    continue;
                }
                // something happens here
                _ => return to,
            };
            let value = value.and_then(|value| truth(&known, value));
            known.extend(value.map(|value| (id, value)));
        }
        match &block.terminator {
            Terminator::Jump(next) => (before, here) = (here, *next),
            Terminator::Branch { condition, then, otherwise, .. } => {
                let joined = matches!(condition, Operand::Result(_)).then(|| truth(&known, *condition));
                return match joined.flatten() {
                    Some(true) => *then,
                    Some(false) => *otherwise,
                    None => to,
                };
            }
            Terminator::Switch { .. }
            | Terminator::IndirectJump { .. }
            | Terminator::Return(_)
            | Terminator::Unreachable => return to,
        }
    }
    to
}

fn truth(known: &BTreeMap<InstrId, bool>, value: Operand) -> Option<bool> {
    match value {
        Operand::Int { bits: 1, value } => Some(value == 1),
        Operand::Result(id) => known.get(&id).copied(),
        Operand::Int { .. }
        | Operand::Parameter(_)
        | Operand::Float { .. }
        | Operand::Null
        | Operand::Global { .. }
        | Operand::Function(_)
        | Operand::Undefined(_) => None,
    }
}

fn call_site(
    program: &Program,
    callee: &Callee,
    targets: Option<&(Vec<FunctionId>, bool)>,
    block: u32,
    at: u32,
) -> Option<CallSite> {
    let site = |callees, passes, is_landing| Some(CallSite { block, at, callees, passes, is_landing });
    if let Callee::Direct(id) = callee {
        let callee = program.function(*id);
        if callee.returns_twice {
            return site(Vec::new(), true, true);
        }
        if callee.is_defined() {
            return site(vec![*id], false, false);
        }
        if callee.no_return {
            return site(targets.map(|(callees, _)| callees.clone()).unwrap_or_default(), false, false);
        }
    }
    let (callees, passes) = targets?;
    site(callees.clone(), *passes, false)
}

/// Reverse postorder from the first block, and whether there is a way back.
fn order(successors: &[Vec<u32>]) -> (Vec<u32>, bool) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut order = Vec::new();
    let mut has_cycle = false;
    let mut states = vec![State::New; successors.len()];
    let mut stack = Vec::new();
    if !successors.is_empty() {
        stack.push((0u32, 0usize));
        states[0] = State::Open;
    }
    while let Some((block, next)) = stack.last_mut() {
        match successors[*block as usize].get(*next) {
            Some(&to) => {
                *next += 1;
                match states[to as usize] {
                    State::New => {
                        states[to as usize] = State::Open;
                        stack.push((to, 0));
                    }
                    State::Open => has_cycle = true,
                    State::Done => {}
                }
            }
            None => {
                states[*block as usize] = State::Done;
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    (order, has_cycle)
}
