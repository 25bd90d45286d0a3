//! What covers the goal? Looks at every step of a segment and notes under what it would.

use std::collections::BTreeSet;

use model::{
    BlockId, ConditionId, DecisionId, FunctionId, InstrId, LabelValues, Op, Operand, Program, RangeTest,
    Shape, Statement, StatementKind, SwitchId, Terminator,
};

use super::decisions::{self, Register, Vector};
use super::flow::Flow;
use super::state::State;
use super::terms::{Sort, Term, Terms};
use super::{Checked, rejected, unknown};
use crate::{Assumption, Claim, FlowHome, Goal, Proof, SwitchTarget};

/// The goal, and where it counts.
pub(crate) struct Monitor<'p> {
    program: &'p Program,
    /// Tells it from others that are decided together with it.
    number: usize,
    /// The function that has the goal; of a flow, the one whose activations have the object, or the entry.
    pub(crate) function: FunctionId,
    /// Whether all activations of the function count, not the entry's alone.
    pub(crate) is_whole: bool,
    watched: Watched<'p>,
}

enum Watched<'p> {
    Reach(BlockId, usize),
    Outcome(ConditionId, bool),
    Label(SwitchId, SwitchTarget),
    Evaluation {
        decision: DecisionId,
        shape: &'p Shape,
        wanted: Wanted,
    },
    Pair {
        local: InstrId,
        definitions: BTreeSet<InstrId>,
        uses: BTreeSet<InstrId>,
    },
    /// The blocks in which a `return` statement begins.
    End(BTreeSet<BlockId>),
    Flow(Flow),
}

enum Wanted {
    Outcome(bool),
    Shown(ConditionId, bool),
    /// One of these vectors.
    Vectors(Vec<Vector>),
}

impl<'p> Monitor<'p> {
    pub(crate) fn of(program: &'p Program, proof: &Proof, number: usize) -> Checked<Self> {
        let (function, watched) = resolve(program, proof)?;
        let Claim { entry, assumptions, .. } = &proof.claim;
        // What is assumed of the beginning of an activation need not hold for one that begins within it.
        let is_whole = *entry != function
            || assumptions.contains(&Assumption::InitialGlobals)
            || matches!(watched, Watched::Flow(_));
        Ok(Self { program, number, function, is_whole, watched })
    }

    /// The functions to which every call must be inlined if all their activations count.
    pub(crate) fn functions(&self) -> BTreeSet<FunctionId> {
        match &self.watched {
            Watched::Flow(flow) => flow.functions(),
            Watched::Reach(..)
            | Watched::Outcome(..)
            | Watched::Label(..)
            | Watched::Evaluation { .. }
            | Watched::Pair { .. }
            | Watched::End(_) => BTreeSet::from([self.function]),
        }
    }

    /// Whether it remembers no more than the outcomes of a decision, which each monitor keeps for itself.
    pub(crate) fn has_no_flag(&self) -> bool {
        match self.watched {
            Watched::Reach(..) | Watched::Outcome(..) | Watched::Label(..) | Watched::Evaluation { .. } => {
                true
            }
            Watched::Pair { .. } | Watched::End(_) | Watched::Flow(_) => false,
        }
    }

    /// The flow that is watched.
    pub(crate) fn flow(&self) -> Option<&Flow> {
        if let Watched::Flow(flow) = &self.watched { Some(flow) } else { None }
    }

    /// The local whose flow is watched.
    pub(crate) fn flow_local(&self) -> Option<(FunctionId, InstrId)> {
        match self.flow()?.object.home {
            FlowHome::Local(function, alloca) => Some((function, alloca)),
            FlowHome::Global(_) => None,
        }
    }

    pub(crate) fn counts(&self, activation: usize, function: FunctionId) -> bool {
        match self.flow().map(|flow| flow.object.home) {
            // one flag for all of the run
            Some(FlowHome::Global(_)) => activation == 0,
            Some(FlowHome::Local(..)) | None => {
                function == self.function && (self.is_whole || activation == 0)
            }
        }
    }

    /// The local whose stores and loads are watched.
    pub(crate) fn local(&self) -> Option<InstrId> {
        match self.watched {
            Watched::Pair { local, .. } => Some(local),
            Watched::Reach(..)
            | Watched::Outcome(..)
            | Watched::Label(..)
            | Watched::Evaluation { .. }
            | Watched::End(_)
            | Watched::Flow(_) => None,
        }
    }

    /// What an activation in which the goal counts begins with; at a cut, where nothing is known, something arbitrary.
    pub(crate) fn begin(&self, terms: &mut Terms, state: &mut State, activation: usize, is_known: bool) {
        let mut term = || if is_known { terms.truth(false) } else { terms.fresh(Sort::Bool) };
        match &self.watched {
            Watched::Flow(flow) => {
                let flag = if is_known { terms.truth(flow.object.is_initial) } else { term() };
                state.flags.insert(activation, flag);
            }
            Watched::Evaluation { shape, .. } => {
                let n = shape.conditions().len();
                let registers = (0..n).map(|_| Register { evaluated: term(), value: term() }).collect();
                state.registers.insert((self.number, activation), registers);
            }
            Watched::Pair { .. } | Watched::End(_) => {
                state.flags.insert(activation, term());
            }
            Watched::Reach(..) | Watched::Outcome(..) | Watched::Label(..) => {}
        }
    }

    /// Under what reaching this place covers the goal.
    pub(crate) fn place(&self, state: &State, block: BlockId, position: usize) -> Option<Term> {
        let Watched::Reach(goal, at) = &self.watched else { return None };
        ((*goal, *at) == (block, position)).then_some(state.reached)
    }

    /// Notes that a block begins.
    pub(crate) fn entered(&self, terms: &mut Terms, state: &mut State, activation: usize, block: BlockId) {
        if let Watched::End(returning) = &self.watched
            && returning.contains(&block)
            && let Some(flag) = state.flags.get_mut(&activation)
        {
            *flag = terms.truth(true);
        }
    }

    /// Under what a return from the function covers the goal.
    pub(crate) fn returned(&self, terms: &mut Terms, state: &State, activation: usize) -> Option<Term> {
        let Watched::End(_) = &self.watched else { return None };
        let has_begun = *state.flags.get(&activation)?;
        let has_not = terms.not(has_begun);
        Some(terms.and(&[state.reached, has_not]))
    }

    /// Follows a mark; under what it covers the goal.
    pub(crate) fn mark(
        &self,
        terms: &mut Terms,
        state: &mut State,
        activation: usize,
        marked: ConditionId,
        value: Term,
    ) -> Option<Term> {
        match &self.watched {
            Watched::Outcome(condition, wanted) if *condition == marked => {
                let same = if *wanted { value } else { terms.not(value) };
                Some(terms.and(&[state.reached, same]))
            }
            Watched::Evaluation { decision, shape, wanted }
                if self.program.condition(marked).decision == *decision =>
            {
                let place = shape.conditions().iter().position(|known| *known == marked)?;
                let registers = state.registers.get_mut(&(self.number, activation))?;
                note(terms, shape, registers, place, value);
                let shown = match wanted {
                    Wanted::Shown(condition, value) => (*condition, *value),
                    Wanted::Outcome(_) | Wanted::Vectors(_) => (marked, true),
                };
                let evaluated = decisions::evaluate(terms, shape, registers, shown);
                let covers = match wanted {
                    Wanted::Outcome(true) => evaluated.value,
                    Wanted::Outcome(false) => terms.not(evaluated.value),
                    Wanted::Shown(..) => evaluated.shown,
                    Wanted::Vectors(vectors) => agree(terms, registers, vectors),
                };
                // an evaluation that is done is forgotten
                let going_on = terms.not(evaluated.done);
                for register in registers {
                    register.evaluated = terms.and(&[register.evaluated, going_on]);
                }
                Some(terms.and(&[state.reached, evaluated.done, covers]))
            }
            Watched::Reach(..)
            | Watched::Outcome(..)
            | Watched::Label(..)
            | Watched::Evaluation { .. }
            | Watched::Pair { .. }
            | Watched::End(_)
            | Watched::Flow(_) => None,
        }
    }

    /// Follows a store to a promoted local.
    pub(crate) fn stored(
        &self,
        terms: &mut Terms,
        state: &mut State,
        activation: usize,
        id: InstrId,
        to: InstrId,
    ) {
        if let Watched::Pair { local, definitions, .. } = &self.watched
            && *local == to
            && let Some(flag) = state.flags.get_mut(&activation)
        {
            *flag = terms.truth(definitions.contains(&id));
        }
    }

    /// Under what a load from a promoted local covers the goal.
    pub(crate) fn loaded(
        &self,
        terms: &mut Terms,
        state: &State,
        activation: usize,
        id: InstrId,
    ) -> Option<Term> {
        let Watched::Pair { uses, .. } = &self.watched else { return None };
        let flag = *state.flags.get(&activation).filter(|_| uses.contains(&id))?;
        Some(terms.and(&[state.reached, flag]))
    }

    /// Whether leaving the block by the edge with this number covers the goal.
    pub(crate) fn edge(&self, block: BlockId, edge: usize) -> bool {
        let Watched::Label(goal, to) = self.watched else { return false };
        let code = self.program.function(self.function);
        match &code.block(block).terminator {
            Terminator::Switch { cases, bits, source: Some(source), default, .. } if *source == goal => {
                match cases.get(edge) {
                    Some(case) => self.label_of(goal, case.value, *bits) == Some(to),
                    // with a large case range the default edge leads to a test of it, which tells where control goes
                    None => !self.tests_range(*default, goal) && self.default_of(goal) == to,
                }
            }
            Terminator::Branch { range: Some(RangeTest { switch, label }), otherwise, .. }
                if *switch == goal =>
            {
                match edge {
                    0 => to == SwitchTarget::Label(*label),
                    _ => !self.tests_range(*otherwise, goal) && self.default_of(goal) == to,
                }
            }
            Terminator::Jump(_)
            | Terminator::Branch { .. }
            | Terminator::Switch { .. }
            | Terminator::IndirectJump { .. }
            | Terminator::Return(_)
            | Terminator::Unreachable => false,
        }
    }

    /// The label that a value goes to: ranges are read as signed or unsigned, as they are written.
    fn label_of(&self, switch: SwitchId, value: u128, bits: u32) -> Option<SwitchTarget> {
        let unsigned = i128::try_from(value).unwrap_or(i128::MAX);
        let negative = bits < 128 && bits > 0 && (value >> (bits - 1)) & 1 == 1;
        let signed = if negative { unsigned - (1 << bits) } else { unsigned };
        let labels = &self.program.switch(switch).labels;
        let found = labels.iter().position(|label| match label.values {
            LabelValues::Range { low, high } => {
                (low <= unsigned && unsigned <= high) || (low <= signed && signed <= high)
            }
            LabelValues::Default => false,
        });
        found.map(|index| SwitchTarget::Label(index as u32))
    }

    fn default_of(&self, switch: SwitchId) -> SwitchTarget {
        let labels = &self.program.switch(switch).labels;
        let default = labels.iter().position(|label| label.values == LabelValues::Default);
        default.map_or(SwitchTarget::ImplicitDefault, |index| SwitchTarget::Label(index as u32))
    }

    fn tests_range(&self, block: BlockId, switch: SwitchId) -> bool {
        let terminator = &self.program.function(self.function).block(block).terminator;
        matches!(terminator, Terminator::Branch { range: Some(test), .. } if test.switch == switch)
    }
}

/// Takes an outcome in. An evaluation that has the condition already was abandoned, and so was every one before the first
/// condition of a decision whose conditions are evaluated in order.
fn note(terms: &mut Terms, shape: &Shape, registers: &mut [Register], place: usize, value: Term) {
    let is_first = place == 0 && !decisions::is_unsequenced(shape);
    let abandoned = if is_first { terms.truth(true) } else { registers[place].evaluated };
    let kept = terms.not(abandoned);
    for register in registers.iter_mut() {
        register.evaluated = terms.and(&[register.evaluated, kept]);
    }
    registers[place] = Register { evaluated: terms.truth(true), value };
}

/// Whether the outcomes are those of one of the vectors.
fn agree(terms: &mut Terms, registers: &[Register], vectors: &[Vector]) -> Term {
    let mut any = Vec::new();
    for vector in vectors {
        let mut all = Vec::new();
        for (register, outcome) in registers.iter().zip(vector) {
            if let Some(outcome) = outcome {
                all.push(register.evaluated);
                all.push(if *outcome { register.value } else { terms.not(register.value) });
            }
        }
        any.push(terms.and(&all));
    }
    terms.or(&any)
}

fn resolve<'p>(program: &'p Program, proof: &Proof) -> Checked<(FunctionId, Watched<'p>)> {
    let missing = |what: &dyn std::fmt::Display| rejected("goal", format!("{what} does not exist"));
    if proof.halves.is_some() && !matches!(proof.claim.goal, Goal::Paired { .. }) {
        return rejected("goal", "halves show only that there is no pair");
    }
    match &proof.claim.goal {
        Goal::Reach { function, block, position } => {
            let code =
                program.functions.get(function.index()).and_then(|code| code.blocks.get(block.index()));
            match code {
                Some(code) if *position as usize <= code.instrs.len() => {
                    Ok((*function, Watched::Reach(*block, *position as usize)))
                }
                Some(_) | None => missing(&format!("{function} {block} {position}")),
            }
        }
        Goal::Outcome { condition, value } => match program.conditions.get(condition.index()) {
            Some(known) => {
                Ok((program.decision(known.decision).function, Watched::Outcome(*condition, *value)))
            }
            None => missing(condition),
        },
        Goal::Label { switch, to } => match program.switches.get(switch.index()) {
            Some(known) => {
                let exists = match to {
                    SwitchTarget::Label(label) => (*label as usize) < known.labels.len(),
                    SwitchTarget::ImplicitDefault => true,
                };
                if !exists || !stays_in(program, *switch, known.function) {
                    return rejected("goal", format!("{switch} has no such label in {}", known.function));
                }
                Ok((known.function, Watched::Label(*switch, *to)))
            }
            None => missing(switch),
        },
        Goal::Decision { decision, value } => evaluation(program, *decision, |_| Ok(Wanted::Outcome(*value))),
        Goal::Independent { condition, value } => match program.conditions.get(condition.index()) {
            Some(known) => evaluation(program, known.decision, |_| Ok(Wanted::Shown(*condition, *value))),
            None => missing(condition),
        },
        Goal::Vector { decision, number } => evaluation(program, *decision, |shape| {
            let all = all_vectors(shape)?;
            match all.get(*number as usize) {
                Some((vector, _)) => Ok(Wanted::Vectors(vec![vector.clone()])),
                None => rejected("goal", format!("vector {number} of {decision} does not exist")),
            }
        }),
        Goal::Paired { condition, value } => match (program.conditions.get(condition.index()), &proof.halves)
        {
            (Some(known), Some(halves)) => evaluation(program, known.decision, |shape| {
                paired(shape, *condition, *value, halves).map(Wanted::Vectors)
            }),
            (Some(_), None) => rejected("goal", "the vectors that break all pairs are not given"),
            (None, _) => missing(condition),
        },
        Goal::End { function } => {
            if program.functions.get(function.index()).is_none_or(|code| !code.is_defined()) {
                return rejected("goal", format!("{function} is no defined function"));
            }
            let is_return = |statement: &&Statement| {
                statement.function == *function && statement.kind == StatementKind::Return
            };
            let returns = program.statements.iter().filter(is_return);
            Ok((*function, Watched::End(returns.filter_map(|statement| Some(statement.code?.0)).collect())))
        }
        Goal::Flow { object, definitions, uses } => {
            let flow = Flow::of(program, *object, definitions, uses)?;
            let function = match object.home {
                FlowHome::Local(function, _) => function,
                FlowHome::Global(_) => proof.claim.entry,
            };
            Ok((function, Watched::Flow(flow)))
        }
        Goal::Pair { function, local, definitions, uses } => {
            let Some(code) = program.functions.get(function.index()) else { return missing(function) };
            let of_local =
                |id: &InstrId, is_use: bool| match code.instrs.get(id.index()).map(|instr| &instr.op) {
                    Some(Op::Load { address, .. }) => is_use && *address == Operand::Result(*local),
                    Some(Op::Store { address, .. }) => !is_use && *address == Operand::Result(*local),
                    Some(_) | None => false,
                };
            if !definitions.iter().all(|id| of_local(id, false)) || !uses.iter().all(|id| of_local(id, true))
            {
                return rejected("goal", format!("the ends are no stores to and loads from {local}"));
            }
            let (definitions, uses) = (definitions.clone(), uses.clone());
            Ok((*function, Watched::Pair { local: *local, definitions, uses }))
        }
    }
}

fn evaluation<'p>(
    program: &'p Program,
    decision: DecisionId,
    wanted: impl FnOnce(&Shape) -> Checked<Wanted>,
) -> Checked<(FunctionId, Watched<'p>)> {
    let Some(known) = program.decisions.get(decision.index()) else {
        return rejected("goal", format!("{decision} does not exist"));
    };
    let wanted = wanted(&known.shape)?;
    Ok((known.function, Watched::Evaluation { decision, shape: &known.shape, wanted }))
}

fn all_vectors(shape: &Shape) -> Checked<Vec<(Vector, bool)>> {
    decisions::vectors(shape).map_or_else(|| unknown("the decision has too many vectors to list"), Ok)
}

/// The vectors with these numbers, if one of them is in every pair that shows the condition with this value.
fn paired(shape: &Shape, condition: ConditionId, value: bool, halves: &[u32]) -> Checked<Vec<Vector>> {
    let all = all_vectors(shape)?;
    let place = shape.conditions().iter().position(|known| *known == condition);
    let Some(place) = place else {
        return rejected("goal", format!("{condition} is no leaf of its decision"));
    };
    if halves.iter().any(|number| *number as usize >= all.len()) {
        return rejected("halves", format!("the decision has {} vectors", all.len()));
    }
    let is_half = |number: usize| halves.iter().any(|half| *half as usize == number);
    for (number, (one, outcome)) in all.iter().enumerate() {
        for (other_number, (other, other_outcome)) in all.iter().enumerate() {
            let is_pair = one[place] == Some(value)
                && outcome != other_outcome
                && decisions::differ_only_at(place, one, other);
            if is_pair && !is_half(number) && !is_half(other_number) {
                let why = format!("vectors {number} and {other_number} are a pair without either of them");
                return rejected("halves", why);
            }
        }
    }
    Ok(halves.iter().map(|number| all[*number as usize].0.clone()).collect())
}

/// Whether only this function has code of the switch.
fn stays_in(program: &Program, switch: SwitchId, function: FunctionId) -> bool {
    program.functions.iter().enumerate().all(|(index, code)| {
        index == function.index()
            || code.blocks.iter().all(|block| match &block.terminator {
                Terminator::Switch { source, .. } => *source != Some(switch),
                Terminator::Branch { range, .. } => range.is_none_or(|range| range.switch != switch),
                Terminator::Jump(_)
                | Terminator::IndirectJump { .. }
                | Terminator::Return(_)
                | Terminator::Unreachable => true,
            })
    })
}
