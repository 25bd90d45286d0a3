//! The inlined control flow graph of a proof: activations, points, and the order in which segments visit them.

use std::collections::{BTreeMap, BTreeSet};

use model::{BlockId, Callee, Function, FunctionId, InstrId, Op, Program, Terminator};

use super::{Checked, rejected, unknown};
use crate::{Assumption, Context, Proof};

const MAX_ACTIVATIONS: usize = 1000;
const MAX_POINTS: usize = 200_000;

/// An activation that the proof inlines, or the entry's own, which is number 0.
pub(crate) struct Activation<'p> {
    pub(crate) context: Context,
    pub(crate) function: FunctionId,
    pub(crate) code: &'p Function,
    /// The activation that called, the call, and the point behind it.
    pub(crate) caller: Option<(usize, InstrId, Point)>,
}

/// Where segments begin, join or end: the start of a block, or what follows an inlined call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) activation: usize,
    pub(crate) block: BlockId,
    /// How many instructions of the block come before.
    pub(crate) position: usize,
}

pub(crate) struct Inlined<'p> {
    pub(crate) activations: Vec<Activation<'p>>,
    /// By caller and call.
    calls: BTreeMap<(usize, InstrId), usize>,
    by_context: BTreeMap<Context, usize>,
}

impl<'p> Inlined<'p> {
    /// Resolves the contexts of a proof.
    pub(crate) fn of(program: &'p Program, proof: &Proof) -> Checked<Self> {
        let entry = proof.claim.entry;
        let code = program.functions.get(entry.index()).filter(|function| function.is_defined());
        let Some(code) = code else {
            return rejected("claim", format!("{entry} is no defined function"));
        };
        let first = Activation { context: Context::entry(), function: entry, code, caller: None };
        let by_context = BTreeMap::from([(Context::entry(), 0)]);
        let mut inlined = Self { activations: vec![first], calls: BTreeMap::new(), by_context };
        if proof.contexts.len() > MAX_ACTIVATIONS {
            return unknown(format!("more than {MAX_ACTIVATIONS} inlined calls"));
        }
        for context in &proof.contexts {
            inlined.add(program, context, proof.claim.assumptions.contains(&Assumption::Stubs))?;
        }
        Ok(inlined)
    }

    fn add(&mut self, program: &'p Program, context: &Context, has_stubs: bool) -> Checked<()> {
        let at = format!("inline {context}");
        let Some((outer, call)) = context.caller() else {
            return rejected(at, "the entry's own activation is no call");
        };
        let Some(&caller) = self.by_context.get(&outer) else {
            return rejected(at, format!("{outer} is not inlined before it"));
        };
        let code = self.activations[caller].code;
        let callee = match code.instrs.get(call.index()).map(|instr| &instr.op) {
            Some(Op::Call { callee: Callee::Direct(callee), .. }) => *callee,
            Some(_) | None => return rejected(at, format!("{call} is no direct call")),
        };
        if !program.function(callee).is_defined() {
            return rejected(at, format!("{callee} is not defined"));
        }
        if is_stub(program.function(callee)) && !has_stubs {
            return rejected(at, format!("{callee} is a stub, which stands for code that nobody has"));
        }
        let Some((block, position)) = place(code, call) else {
            return rejected(at, format!("{call} is in no block"));
        };
        let back = Point { activation: caller, block, position: position + 1 };
        let number = self.activations.len();
        if self.calls.insert((caller, call), number).is_some() {
            return rejected(at, "it is inlined twice");
        }
        self.by_context.insert(context.clone(), number);
        self.activations.push(Activation {
            context: context.clone(),
            function: callee,
            code: program.function(callee),
            caller: Some((caller, call, back)),
        });
        Ok(())
    }

    pub(crate) fn find(&self, context: &Context) -> Option<usize> {
        self.by_context.get(context).copied()
    }

    /// The activation that this call makes, if it is inlined.
    pub(crate) fn callee(&self, activation: usize, call: InstrId) -> Option<usize> {
        self.calls.get(&(activation, call)).copied()
    }

    pub(crate) fn start(&self, activation: usize) -> Point {
        Point { activation, block: BlockId(0), position: 0 }
    }

    /// Whether `outer` still exists while `inner` runs.
    pub(crate) fn encloses(&self, outer: usize, inner: usize) -> bool {
        self.activations[outer].context.encloses(&self.activations[inner].context)
    }

    pub(crate) fn describe(&self, point: Point) -> String {
        format!("{} {}", self.activations[point.activation].context, point.block)
    }

    fn successors(&self, point: Point) -> Vec<Point> {
        let Activation { code, caller, .. } = &self.activations[point.activation];
        let block = code.block(point.block);
        let called = block.instrs[point.position..].iter().find_map(|id| self.callee(point.activation, *id));
        if let Some(callee) = called {
            return vec![self.start(callee)];
        }
        match &block.terminator {
            Terminator::Return(_) => caller.iter().map(|(_, _, back)| *back).collect(),
            Terminator::Jump(_)
            | Terminator::Branch { .. }
            | Terminator::Switch { .. }
            | Terminator::IndirectJump { .. }
            | Terminator::Unreachable => {
                let targets = block.terminator.successors();
                targets.into_iter().map(|block| Point { block, position: 0, ..point }).collect()
            }
        }
    }

    /// All points that control can get to, each after those that lead to it without passing a cut. A cycle without a cut
    /// is rejected.
    pub(crate) fn order(&self, cuts: &BTreeSet<Point>) -> Checked<Vec<Point>> {
        let roots = [self.start(0)].into_iter().chain(cuts.iter().copied());
        let mut finished: BTreeMap<Point, bool> = BTreeMap::new();
        let mut postorder = Vec::new();
        for root in roots {
            if finished.contains_key(&root) {
                continue;
            }
            finished.insert(root, false);
            let mut path = vec![(root, self.successors(root))];
            while let Some((point, left)) = path.last_mut() {
                let Some(next) = left.pop() else {
                    finished.insert(*point, true);
                    postorder.push(*point);
                    path.pop();
                    continue;
                };
                match finished.get(&next) {
                    _ if cuts.contains(&next) => {}
                    Some(true) => {}
                    Some(false) => {
                        let cycle = path.iter().map(|(point, _)| *point).skip_while(|point| *point != next);
                        let cycle: Vec<String> = cycle.map(|point| self.describe(point)).collect();
                        return rejected(format!("cycle {}", cycle.join(", ")), "no cut is on it");
                    }
                    None => {
                        finished.insert(next, false);
                        path.push((next, self.successors(next)));
                    }
                }
                if finished.len() > MAX_POINTS {
                    return unknown(format!("more than {MAX_POINTS} points of the inlined code"));
                }
            }
        }
        postorder.reverse();
        Ok(postorder)
    }
}

/// Whether the function was made in place of one that is defined nowhere. Those of verification competitions do what their
/// names say, and models of the C library what the library does.
fn is_stub(function: &Function) -> bool {
    function.generated && !["__VERIFIER_", "__quarry_"].iter().any(|first| function.name.starts_with(first))
}

/// The block of an instruction and its position there.
pub(crate) fn place(function: &Function, wanted: InstrId) -> Option<(BlockId, usize)> {
    function.blocks().find_map(|(id, block)| {
        let position = block.instrs.iter().position(|instr| *instr == wanted)?;
        Some((id, position))
    })
}
