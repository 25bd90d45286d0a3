//! Does a proof show its claim? Decided without trusting anything of the proof.
//!
//! Method: the calls that the proof lists are inlined; every cycle of the resulting graph must contain a cut. A *segment* is
//! what is executed from the entry or a cut to the next cuts: all ways at once, symbolically, with states merged where ways
//! join. [`argument`] puts segments together and asks the solvers.

mod argument;
mod calls;
mod decisions;
mod evaluate;
mod execute;
mod flow;
mod inline;
mod invariants;
mod listed;
mod locals;
mod lookup;
mod memory;
mod monitor;
mod reach;
mod smtlib;
mod state;
mod terms;
mod together;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use model::{Function, FunctionId, InstrId, Op, Operand, Program, verify};
use sha2::{Digest, Sha256};

use crate::{Assumption, Body, Decide, Formula, Listing, ProgramHash, Proof, Rejection, Verdict};
use argument::Argument;
use execute::Plan;
use inline::{Inlined, Point};
use locals::{Locals, scalar_bits};
use monitor::Monitor;
use reach::MayReach;
use state::{LocalValue, State};
use terms::{Sort, Term};
use world::World;

/// Why a check ended before all was decided.
#[derive(Debug)]
pub(crate) enum Stop {
    Rejected(Rejection),
    Unknown(String),
    Disagreement(String),
}

pub(crate) type Checked<T> = Result<T, Stop>;

pub(crate) fn rejected<T>(at: impl Into<String>, why: impl Into<String>) -> Checked<T> {
    Err(Stop::Rejected(Rejection { at: at.into(), why: why.into() }))
}

pub(crate) fn unknown<T>(why: impl Into<String>) -> Checked<T> {
    Err(Stop::Unknown(why.into()))
}

/// A program of which claims can be checked.
pub struct Checker<'p> {
    program: &'p Program,
    hash: ProgramHash,
    /// Why every proof is rejected, if so.
    refused: Option<String>,
    /// Formulas that were seen to be inductive, with what they are about.
    inductive: Mutex<BTreeSet<String>>,
}

/// Checks one proof; for several of the same program, see [`Checker`].
pub fn check(program: &Program, proof: &Proof, decide: &mut dyn Decide) -> Verdict {
    Checker::new(program).check(proof, decide)
}

impl<'p> Checker<'p> {
    pub fn new(program: &'p Program) -> Self {
        let refused = match verify(program).first() {
            Some(violation) => Some(format!("the program is not well formed: {violation}")),
            None if ![32, 64].contains(&program.pointer_bits) => {
                Some("pointers have 32 or 64 bits".to_owned())
            }
            None => reach::runs_beside(program),
        };
        Self { program, hash: ProgramHash::of(program), refused, inductive: Mutex::new(BTreeSet::new()) }
    }

    /// Whether the proof shows its claim.
    pub fn check(&self, proof: &Proof, decide: &mut dyn Decide) -> Verdict {
        self.check_beside(proof, &[], decide)
    }

    /// Whether the proof shows its claim, and its formulas that the other goals are not covered either.
    fn check_beside(&self, proof: &Proof, beside: &[&Proof], decide: &mut dyn Decide) -> Verdict {
        match self.decide(proof, beside, decide) {
            Ok(n_queries) => Verdict::Accepted { n_queries },
            Err(Stop::Rejected(rejection)) => Verdict::Rejected(rejection),
            Err(Stop::Unknown(why)) => Verdict::Unknown(why),
            Err(Stop::Disagreement(who)) => Verdict::Disagreement(who),
        }
    }

    fn decide(&self, proof: &Proof, beside: &[&Proof], decide: &mut dyn Decide) -> Checked<usize> {
        if proof.claim.program != self.hash {
            return rejected(
                "claim",
                format!("it is about program {}, not {}", proof.claim.program, self.hash),
            );
        }
        if let Some(why) = &self.refused {
            return rejected("program", why);
        }
        let plan = self.plan(proof, beside)?;
        let world = World::new(self.program, &plan.inlined.activations[0].code.parameters);
        let mut argument = Argument { proof, plan: &plan, world, n_steps: 0, decide, is_known: false };
        match &proof.body {
            Body::Inductive => {
                // many proofs of a program have the same formulas
                let about = about(proof);
                let known = |error| format!("{error}");
                let mut inductive = self.inductive.lock().map_err(known).map_err(Stop::Unknown)?;
                argument.is_known = inductive.contains(&about);
                let n_queries = argument.induction(1)?;
                inductive.insert(about);
                Ok(n_queries)
            }
            Body::KInduction(depth) => argument.induction(*depth),
            Body::Unrolled(cuts) => argument.unrolled(cuts),
            Body::Listed(listings) => {
                if proof.cuts.iter().any(|cut| mentions_flag(&cut.formula)) {
                    return rejected("listed", "a formula speaks of a flag");
                }
                let about = about_rows(proof, listings);
                let known = |error| format!("{error}");
                let mut inductive = self.inductive.lock().map_err(known).map_err(Stop::Unknown)?;
                let mut n_queries = 0;
                if !inductive.contains(&about) {
                    n_queries += argument.listed(listings)?;
                    inductive.insert(about);
                }
                argument.hold_in_rows(listings)?;
                argument.is_known = true;
                Ok(n_queries + argument.induction(1)?)
            }
        }
    }

    fn plan(&self, proof: &Proof, beside: &[&Proof]) -> Checked<Plan<'p>> {
        let inlined = Inlined::of(self.program, proof)?;
        let monitor = Monitor::of(self.program, proof, 0)?;
        let beside = beside.iter().zip(1..).map(|(proof, number)| Monitor::of(self.program, proof, number));
        let beside: Vec<Monitor<'p>> = beside.collect::<Checked<_>>()?;
        if beside.iter().any(|monitor| !monitor.has_no_flag()) {
            return rejected("goal", "it is not decided together with others");
        }
        let (mut locals, mut lasting) = (BTreeMap::new(), BTreeMap::new());
        for activation in &inlined.activations {
            let id = activation.function;
            locals.entry(id).or_insert_with(|| Locals::of(activation.code, self.program.pointer_bits));
            lasting.entry(id).or_insert_with(|| lasting_results(activation.code));
        }
        if let Some(local) = monitor.local() {
            let code = self.program.function(monitor.function);
            if !Locals::of(code, self.program.pointer_bits).promoted.contains_key(&local) {
                return rejected("goal", format!("{local} is no promoted local of {}", monitor.function));
            }
        }
        if let Some((function, alloca)) = monitor.flow_local() {
            let code = self.program.function(function);
            if Locals::of(code, self.program.pointer_bits).promoted.contains_key(&alloca) {
                return rejected("goal", format!("{alloca} of {function} does not lie in memory"));
            }
        }
        let mut cuts = BTreeSet::new();
        for cut in &proof.cuts {
            if !cuts.insert(cut_point(&inlined, cut)?) {
                return rejected(format!("cut {} {}", cut.context, cut.block), "it is there twice");
            }
        }
        let order = inlined.order(&cuts)?;
        let whole = beside.iter().chain([&monitor]).filter(|monitor| monitor.is_whole);
        let targets: BTreeSet<FunctionId> = whole.flat_map(Monitor::functions).collect();
        let may_reach = targets.into_iter().map(|target| MayReach::of(self.program, target)).collect();
        let is_allocated = proof.claim.assumptions.contains(&Assumption::Allocation);
        Ok(Plan { inlined, monitor, beside, locals, lasting, cuts, order, is_allocated, may_reach })
    }
}

/// What the formulas of a proof are about: whether they are inductive depends on nothing else. The goal is part of it where they
/// speak of its flag.
fn about(proof: &Proof) -> String {
    let Proof { claim, contexts, cuts, .. } = proof;
    let goal = cuts.iter().any(|cut| mentions_flag(&cut.formula)).then_some(&claim.goal);
    format!("{:?} {:?} {contexts:?} {cuts:?} {goal:?}", claim.entry, claim.assumptions)
}

/// What the rows of a proof are about: whether they are closed under execution depends on nothing else.
fn about_rows(proof: &Proof, listings: &[Listing]) -> String {
    let Proof { claim, contexts, cuts, .. } = proof;
    let points: Vec<_> = cuts.iter().map(|cut| (&cut.context, cut.block)).collect();
    let mut hasher = Sha256::new();
    hasher.update(format!("{listings:?}").as_bytes());
    let listed: [u8; 32] = hasher.finalize().into();
    format!("{:?} {:?} {contexts:?} {points:?} {listed:?}", claim.entry, claim.assumptions)
}

fn mentions_flag(formula: &Formula) -> bool {
    match formula {
        Formula::Flag(_) => true,
        Formula::Load { address, .. } => mentions_flag(address),
        Formula::Apply(_, operands) => operands.iter().any(mentions_flag),
        Formula::Bool(_)
        | Formula::Bits { .. }
        | Formula::Local { .. }
        | Formula::Parameter(_)
        | Formula::Global(_)
        | Formula::Function(_)
        | Formula::Alloca { .. } => false,
    }
}

fn cut_point(inlined: &Inlined<'_>, cut: &crate::Cut) -> Checked<Point> {
    let at = || format!("cut {} {}", cut.context, cut.block);
    let Some(activation) = inlined.find(&cut.context) else {
        return rejected(at(), format!("{} is not inlined", cut.context));
    };
    if cut.block.index() >= inlined.activations[activation].code.blocks.len() {
        return rejected(at(), format!("{} does not exist", cut.block));
    }
    Ok(Point { activation, block: cut.block, position: 0 })
}

/// The results that a later block, a phi, or what comes after a call may use.
fn lasting_results(function: &Function) -> BTreeSet<InstrId> {
    let mut lasting = BTreeSet::new();
    for block in &function.blocks {
        let has_call = block.instrs.iter().any(|id| matches!(function.instr(*id).op, Op::Call { .. }));
        let own: BTreeSet<InstrId> = block.instrs.iter().copied().collect();
        let operands = block.instrs.iter().flat_map(|id| {
            let op = &function.instr(*id).op;
            op.operands().into_iter().map(move |operand| (operand, matches!(op, Op::Phi(_))))
        });
        for (operand, is_phi) in operands.chain(block.terminator.operand().map(|operand| (operand, false))) {
            if let Operand::Result(id) = operand
                && (is_phi || has_call || !own.contains(&id))
            {
                lasting.insert(id);
            }
        }
    }
    lasting
}

/// A state of which nothing is known.
fn blank(plan: &Plan<'_>, world: &mut World<'_>, memory: Term) -> State {
    let mut state = State {
        reached: world.terms.truth(true),
        memory,
        locals: BTreeMap::new(),
        addresses: BTreeMap::new(),
        placed: BTreeSet::new(),
        values: BTreeMap::new(),
        registers: BTreeMap::new(),
        flags: BTreeMap::new(),
    };
    for (number, activation) in plan.inlined.activations.iter().enumerate() {
        let promoted = &plan.locals[&activation.function].promoted;
        for (id, instr) in activation.code.instrs.iter().zip(0..).map(|(instr, id)| (InstrId(id), instr)) {
            if let Some(ty) = promoted.get(&id) {
                let bits = scalar_bits(*ty, world.terms.pointer_bits).expect("promoted locals are scalars");
                let value = world.terms.fresh(Sort::Bits(bits));
                let stored = world.terms.fresh(Sort::Bool);
                state.locals.insert((number, id), LocalValue { value, stored });
            } else if matches!(instr.op, Op::Alloca { .. }) {
                let address = world.terms.fresh(Sort::Bits(world.terms.pointer_bits));
                state.addresses.insert((number, id), address);
            }
        }
        plan.begin(world, &mut state, number, false);
    }
    state
}

/// The state in which an activation of the entry begins.
fn begin(plan: &Plan<'_>, world: &mut World<'_>, initial: bool) -> State {
    let memory = world.fresh_memory(initial);
    let mut state = blank(plan, world, memory);
    plan.begin(world, &mut state, 0, true);
    state
}

/// A state at a cut: what is certain there is what every way through the enclosing activations did.
fn arbitrary(plan: &Plan<'_>, world: &mut World<'_>, at: Point) -> State {
    let memory = world.fresh_memory(false);
    let mut state = blank(plan, world, memory);
    let (mut activation, mut block, mut position) = (at.activation, at.block, at.position);
    loop {
        let code = plan.inlined.activations[activation].code;
        let function = plan.inlined.activations[activation].function;
        for id in plan.locals[&function].settled_at(code, block, position) {
            if let Some(local) = state.locals.get_mut(&(activation, id)) {
                local.stored = world.terms.truth(true);
            } else {
                memory::place(&plan.inlined, world, &mut state, (activation, id), at.activation);
            }
        }
        match plan.inlined.activations[activation].caller {
            Some((caller, _, back)) => {
                (activation, block, position) = (caller, back.block, back.position - 1);
            }
            None => return state,
        }
    }
}
