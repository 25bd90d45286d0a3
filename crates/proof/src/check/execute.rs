//! Executes a segment symbolically: from the entry or a cut, point by point, until every way has ended or is at a cut.
//!
//! Everything that the model does not define gives an arbitrary value: see the head of the crate.

use std::collections::{BTreeMap, BTreeSet};

use model::{BlockId, FunctionId, InstrId, Op, Operand, Terminator, Type};

use super::flow::Range;
use super::inline::{Inlined, Point};
use super::locals::{Locals, scalar_bits};
use super::monitor::Monitor;
use super::reach::MayReach;
use super::state::{LocalValue, State, ValueName, merge};
use super::terms::{Sort, Term};
use super::world::World;
use super::{Checked, unknown};
use crate::{Decide, Operator};

/// Instructions executed in one check, over all segments.
const MAX_STEPS: usize = 1_000_000;
const MAX_TERMS: usize = 1_000_000;
/// Copies and fillings of more bytes make all memory arbitrary.
pub(super) const MAX_COPY: u64 = 64;

/// What is known before any segment.
pub(crate) struct Plan<'p> {
    pub(crate) inlined: Inlined<'p>,
    pub(crate) monitor: Monitor<'p>,
    /// Monitors of other goals that are decided together with it; none has a flag.
    pub(crate) beside: Vec<Monitor<'p>>,
    /// By function of an activation.
    pub(crate) locals: BTreeMap<FunctionId, Locals>,
    /// Results that are used outside of the block that computes them, by a phi, or perhaps after a call in it.
    pub(crate) lasting: BTreeMap<FunctionId, BTreeSet<InstrId>>,
    pub(crate) cuts: BTreeSet<Point>,
    pub(crate) order: Vec<Point>,
    /// Whether allocation never fails.
    pub(crate) is_allocated: bool,
    /// Every call that may lead there must be inlined.
    pub(crate) may_reach: Vec<MayReach>,
}

impl Plan<'_> {
    /// All monitors begin to watch an activation, if it counts; at a cut, nothing is known of what they saw before.
    pub(crate) fn begin(&self, world: &mut World<'_>, state: &mut State, activation: usize, is_known: bool) {
        let function = self.inlined.activations[activation].function;
        for monitor in std::iter::once(&self.monitor).chain(&self.beside) {
            if monitor.counts(activation, function) {
                monitor.begin(&mut world.terms, state, activation, is_known);
            }
        }
    }
}

/// What must be impossible, and where.
pub(crate) struct Covering {
    pub(crate) under: Term,
    pub(crate) at: String,
}

pub(crate) struct Segment<'s, 'p> {
    pub(crate) plan: &'s Plan<'p>,
    pub(crate) world: &'s mut World<'p>,
    /// Values that were computed before the segment.
    before: BTreeMap<(usize, ValueName), Vec<Term>>,
    arrived: BTreeMap<Point, Vec<State>>,
    pub(crate) covering: Vec<Covering>,
    n_steps: &'s mut usize,
    decide: &'s dyn Decide,
}

pub(super) enum Step {
    Next,
    Ended,
    Called(usize),
}

impl<'s, 'p> Segment<'s, 'p> {
    pub(crate) fn new(
        plan: &'s Plan<'p>,
        world: &'s mut World<'p>,
        n_steps: &'s mut usize,
        decide: &'s dyn Decide,
    ) -> Self {
        let (before, arrived, covering) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { plan, world, before, arrived, covering, n_steps, decide }
    }

    /// Follows all ways from these points, which are the entry or cuts and whose states exclude each other; gives the merged
    /// states at the cuts that they lead to.
    pub(crate) fn run(&mut self, starts: Vec<(Point, State)>) -> Checked<Vec<(Point, State)>> {
        for (start, state) in starts {
            self.visit(start, state)?;
        }
        for point in &self.plan.order {
            if self.plan.cuts.contains(point) {
                continue;
            }
            if let Some(states) = self.arrived.remove(point) {
                let state = self.join(states);
                self.visit(*point, state)?;
            }
        }
        let arrived = std::mem::take(&mut self.arrived).into_iter();
        Ok(arrived.map(|(point, states)| (point, self.join(states))).collect())
    }

    /// One state for several. What only some ways computed, the others still have from before the segment.
    fn join(&mut self, mut states: Vec<State>) -> State {
        let values = states.iter().flat_map(|state| state.values.iter());
        let all: BTreeMap<(usize, ValueName), Vec<Term>> =
            values.map(|(key, value)| (*key, value.clone())).collect();
        for (key, like) in all {
            for state in states.iter_mut().filter(|state| !state.values.contains_key(&key)) {
                let terms = &mut self.world.terms;
                let before = self.before.entry(key).or_insert_with(|| {
                    like.iter()
                        .map(|term| terms.sort(*term))
                        .collect::<Vec<Sort>>()
                        .into_iter()
                        .map(|sort| terms.fresh(sort))
                        .collect()
                });
                state.values.insert(key, before.clone());
            }
        }
        merge(&mut self.world.terms, states)
    }

    fn visit(&mut self, point: Point, mut state: State) -> Checked<()> {
        if self.decide.is_over() {
            return unknown("the time for proofs ended before it was checked");
        }
        let activation = &self.plan.inlined.activations[point.activation];
        let code = activation.code;
        let block = code.block(point.block);
        let counts = self.plan.monitor.counts(point.activation, activation.function);
        if counts && point.position == 0 {
            self.plan.monitor.entered(&mut self.world.terms, &mut state, point.activation, point.block);
        }
        for position in point.position..=block.instrs.len() {
            *self.n_steps += 1;
            if *self.n_steps > MAX_STEPS || self.world.terms.len() > MAX_TERMS {
                return unknown("the code between cuts is too large");
            }
            if counts {
                let under = self.plan.monitor.place(&state, point.block, position);
                self.cover(under, point, None);
            }
            for monitor in self.beside(point.activation) {
                self.cover(monitor.place(&state, point.block, position), point, None);
            }
            let Some(&id) = block.instrs.get(position) else { break };
            if matches!(code.instr(id).op, Op::Phi(_)) {
                continue; // took its value on the edge
            }
            match self.step(point, &mut state, id, counts)? {
                Step::Next => {}
                Step::Ended => return Ok(()),
                Step::Called(callee) => {
                    self.forget(point.activation, &mut state);
                    self.arrive(self.plan.inlined.start(callee), state);
                    return Ok(());
                }
            }
        }
        self.leave(point, state, &block.terminator, counts);
        Ok(())
    }

    /// The other monitors for which what happens in the activation counts.
    fn beside(&self, activation: usize) -> impl Iterator<Item = &'s Monitor<'p>> + use<'s, 'p> {
        let plan = self.plan;
        let function = plan.inlined.activations[activation].function;
        plan.beside.iter().filter(move |monitor| monitor.counts(activation, function))
    }

    pub(super) fn cover(&mut self, under: Option<Term>, point: Point, instr: Option<InstrId>) {
        if let Some(under) = under {
            let instr = instr.map_or_else(String::new, |instr| format!(" {instr}"));
            let at = format!("{}{instr}", self.plan.inlined.describe(point));
            self.covering.push(Covering { under, at });
        }
    }

    pub(super) fn arrive(&mut self, point: Point, state: State) {
        let never = self.world.terms.truth(false);
        if state.reached != never {
            self.arrived.entry(point).or_default().push(state);
        }
    }

    /// Drops results that are not used beyond their block.
    fn forget(&self, activation: usize, state: &mut State) {
        let lasting = &self.plan.lasting[&self.plan.inlined.activations[activation].function];
        state.values.retain(|(of, name), _| match name {
            ValueName::Result(id) => *of != activation || lasting.contains(id),
            ValueName::Parameter(_) => true,
        });
    }

    fn leave(&mut self, point: Point, mut state: State, terminator: &Terminator, counts: bool) {
        let activation = point.activation;
        let mut edges: Vec<(Term, BlockId)> = Vec::new();
        match terminator {
            Terminator::Jump(to) => edges.push((self.world.terms.truth(true), *to)),
            Terminator::Branch { condition, then, otherwise, .. } => {
                let bit = self.scalar(&state, activation, *condition, 1);
                let holds = self.world.terms.is_one(bit);
                let fails = self.world.terms.not(holds);
                edges = vec![(holds, *then), (fails, *otherwise)];
            }
            Terminator::Switch { value, bits, cases, default, .. } => {
                let value = self.scalar(&state, activation, *value, *bits);
                let mut others = Vec::new();
                for case in cases {
                    let constant = self.world.terms.constant(*bits, case.value);
                    let equal = self.world.terms.equal(value, constant);
                    edges.push((equal, case.target));
                    others.push(self.world.terms.not(equal));
                }
                edges.push((self.world.terms.and(&others), *default));
            }
            Terminator::IndirectJump { targets, .. } => {
                // any of them: an arbitrary number chooses
                let chosen = self.world.terms.fresh(Sort::Bits(32));
                for (number, target) in targets.iter().enumerate() {
                    let number = self.world.terms.constant(32, number as u128);
                    edges.push((self.world.terms.equal(chosen, number), *target));
                }
            }
            Terminator::Return(value) => {
                if counts {
                    let under = self.plan.monitor.returned(&mut self.world.terms, &state, activation);
                    self.cover(under, point, None);
                }
                return self.give_back(point, state, *value);
            }
            Terminator::Unreachable => {}
        }
        self.forget(activation, &mut state);
        for (number, (under, target)) in edges.into_iter().enumerate() {
            let mut next = state.clone();
            next.reached = self.world.terms.and(&[state.reached, under]);
            if counts && self.plan.monitor.edge(point.block, number) {
                self.cover(Some(next.reached), point, None);
            }
            for monitor in self.beside(activation) {
                self.cover(monitor.edge(point.block, number).then_some(next.reached), point, None);
            }
            let target = Point { block: target, position: 0, ..point };
            self.take_phis(&state, &mut next, point, target);
            self.arrive(target, next);
        }
    }

    fn take_phis(&mut self, before: &State, next: &mut State, from: Point, to: Point) {
        let activation = to.activation;
        let code = self.plan.inlined.activations[activation].code;
        for &id in &code.block(to.block).instrs {
            let instr = code.instr(id);
            let Op::Phi(incoming) = &instr.op else { break };
            let value = match incoming.iter().find(|(block, _)| *block == from.block) {
                Some((_, operand)) => self.operand(before, activation, *operand, instr.ty),
                None => self.world.fresh(instr.ty),
            };
            next.values.insert((activation, ValueName::Result(id)), value);
        }
    }

    /// The terms of a value, one per scalar.
    pub(super) fn operand(
        &mut self,
        state: &State,
        activation: usize,
        operand: Operand,
        ty: Type,
    ) -> Vec<Term> {
        let name = match operand {
            Operand::Result(id) => {
                if let Some(address) = state.addresses.get(&(activation, id)) {
                    return vec![*address];
                }
                ValueName::Result(id)
            }
            Operand::Parameter(number) if activation == 0 => {
                return self.world.parameters[number as usize].clone();
            }
            Operand::Parameter(number) => ValueName::Parameter(number),
            constant => return self.world.constant(constant).expect("neither a result nor a parameter"),
        };
        let key = (activation, name);
        if let Some(value) = state.values.get(&key) {
            return value.clone();
        }
        let world = &mut *self.world;
        self.before.entry(key).or_insert_with(|| world.fresh(ty)).clone()
    }

    /// A value of this many bits; an arbitrary one where the operand has another width.
    pub(super) fn scalar(&mut self, state: &State, activation: usize, operand: Operand, bits: u32) -> Term {
        let ty = Type::Int(bits);
        match self.operand(state, activation, operand, ty)[..] {
            [term] if self.world.terms.bits(term) == bits => term,
            _ => self.world.terms.fresh(Sort::Bits(bits)),
        }
    }

    pub(super) fn pointer(&mut self, state: &State, activation: usize, operand: Operand) -> Term {
        self.scalar(state, activation, operand, self.world.terms.pointer_bits)
    }

    fn step(&mut self, point: Point, state: &mut State, id: InstrId, counts: bool) -> Checked<Step> {
        let a = point.activation;
        let code = self.plan.inlined.activations[a].code;
        let instr = code.instr(id);
        let ty = instr.ty;
        let pointer_bits = self.world.terms.pointer_bits;
        let value = match &instr.op {
            Op::Alloca { .. } => self.alloca(point, state, id),
            Op::Load { address, volatile } => {
                if let Some((local, held)) = self.promoted(state, a, *address) {
                    let under = self.plan.monitor.loaded(&mut self.world.terms, state, a, id);
                    self.cover(
                        under.filter(|_| counts && self.plan.monitor.local() == Some(local)),
                        point,
                        Some(id),
                    );
                    let any = self.world.fresh(ty);
                    match any[..] {
                        [any] if !volatile => vec![self.world.terms.ite(held.stored, held.value, any)],
                        _ => any,
                    }
                } else {
                    let range = Range { address: self.pointer(state, a, *address), n_bytes: self.extent(ty) };
                    self.flow_read(point, state, id, range);
                    if *volatile { self.world.fresh(ty) } else { self.load(state, a, *address, ty) }
                }
            }
            Op::Store { address, value, value_type } => {
                let stored = self.operand(state, a, *value, *value_type);
                if let Some((local, _)) = self.promoted(state, a, *address) {
                    let value = stored.first().copied().expect("promoted locals are scalars");
                    let stored = self.world.terms.truth(true);
                    state.locals.insert((a, local), LocalValue { value, stored });
                    if counts {
                        self.plan.monitor.stored(&mut self.world.terms, state, a, id, local);
                    }
                } else {
                    let address = self.pointer(state, a, *address);
                    let range = Range { address, n_bytes: self.extent(*value_type) };
                    self.flow_write(point, state, id, range);
                    self.store(state, address, *value_type, &stored);
                }
                Vec::new()
            }
            Op::Binary(op, left, right) => {
                let bits = scalar_bits(ty, pointer_bits).unwrap_or(1);
                let left = self.scalar(state, a, *left, bits);
                let right = self.scalar(state, a, *right, bits);
                vec![self.binary(*op, bits, left, right)]
            }
            Op::Compare(predicate, of, left, right) => {
                let bits = scalar_bits(*of, pointer_bits).unwrap_or(1);
                let left = self.scalar(state, a, *left, bits);
                let right = self.scalar(state, a, *right, bits);
                vec![self.compare(*predicate, left, right)]
            }
            Op::Cast(op, from, value) => self.cast(state, a, *op, (*from, ty), *value),
            Op::Address { base, offset, indices } => {
                let base = self.pointer(state, a, *base);
                let mut address = self.world.moved(base, *offset);
                for (of, index, scale) in indices {
                    let bits = scalar_bits(*of, pointer_bits).unwrap_or(1);
                    let index = self.scalar(state, a, *index, bits);
                    let terms = &mut self.world.terms;
                    let index = match bits {
                        narrow if narrow < pointer_bits => {
                            terms.apply(Operator::SignExtend(pointer_bits - narrow), &[index])
                        }
                        _ => terms.resize(index, pointer_bits),
                    };
                    let scale = terms.constant(pointer_bits, *scale as u128);
                    let by = terms.apply(Operator::BvMul, &[index, scale]);
                    address = terms.apply(Operator::BvAdd, &[address, by]);
                }
                vec![address]
            }
            Op::Select { condition, then, otherwise } => {
                let bit = self.scalar(state, a, *condition, 1);
                let holds = self.world.terms.is_one(bit);
                let then = self.operand(state, a, *then, ty);
                let otherwise = self.operand(state, a, *otherwise, ty);
                let pairs = then.into_iter().zip(otherwise);
                pairs.map(|(then, otherwise)| self.world.terms.ite(holds, then, otherwise)).collect()
            }
            Op::Phi(_) => return Ok(Step::Next),
            Op::Call { callee, arguments } => return self.call(point, state, id, *callee, arguments),
            Op::Mark { condition, value } => {
                let value = self.scalar(state, a, *value, 1);
                if counts {
                    let holds = self.world.terms.is_one(value);
                    let under = self.plan.monitor.mark(&mut self.world.terms, state, a, *condition, holds);
                    self.cover(under, point, Some(id));
                }
                for monitor in self.beside(a) {
                    let holds = self.world.terms.is_one(value);
                    let under = monitor.mark(&mut self.world.terms, state, a, *condition, holds);
                    self.cover(under, point, Some(id));
                }
                vec![value]
            }
            Op::Extract { record, record_type, leaf } => {
                let leaves = self.operand(state, a, *record, Type::Record(*record_type));
                leaves.get(*leaf as usize).map_or_else(|| self.world.fresh(ty), |leaf| vec![*leaf])
            }
            Op::Insert { record, leaf, value, value_type } => {
                let mut leaves = self.operand(state, a, *record, ty);
                let value = self.operand(state, a, *value, *value_type);
                if let (Some(place), [value]) = (leaves.get_mut(*leaf as usize), &value[..]) {
                    *place = *value;
                }
                leaves
            }
            Op::Memory { op, to, from, length } => {
                let n_bytes = length.constant();
                if !matches!(op, model::MemoryOp::Set) {
                    let address = self.pointer(state, a, *from);
                    self.flow_read(point, state, id, Range { address, n_bytes });
                }
                let address = self.pointer(state, a, *to);
                self.flow_write(point, state, id, Range { address, n_bytes });
                self.copy(state, a, *op, *to, *from, *length);
                Vec::new()
            }
            Op::Freeze(value) => self.operand(state, a, *value, ty),
            Op::FloatBinary(..) | Op::FloatNegate(_) | Op::FloatCompare(..) => self.world.fresh(ty),
            Op::VaStart(_) | Op::VaCopy { .. } | Op::VaEnd(_) => {
                state.memory = self.world.fresh_memory(false);
                Vec::new()
            }
            Op::Opaque { what, .. } => {
                self.may_not_lead_to_goal(None, point, id, what)?;
                state.memory = self.world.fresh_memory(false);
                self.world.fresh(ty)
            }
        };
        state.values.insert((a, ValueName::Result(id)), value);
        Ok(Step::Next)
    }

    /// The promoted local that an address is the address of.
    fn promoted(&self, state: &State, activation: usize, address: Operand) -> Option<(InstrId, LocalValue)> {
        let Operand::Result(local) = address else { return None };
        Some((local, *state.locals.get(&(activation, local))?))
    }
}
