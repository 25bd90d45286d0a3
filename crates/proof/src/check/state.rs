//! The state of a run at a point: what changes while it goes on, as terms.

use std::collections::{BTreeMap, BTreeSet};

use model::InstrId;

use super::decisions::Register;
use super::terms::{Sort, Term, Terms};

/// The name of a value that is computed once: within its activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ValueName {
    Result(InstrId),
    Parameter(u32),
}

/// A promoted local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalValue {
    pub(crate) value: Term,
    /// Whether it was stored to; before, every load gives another arbitrary value.
    pub(crate) stored: Term,
}

/// Activations are given by number.
#[derive(Clone)]
pub(crate) struct State {
    /// Under what control gets here. States that are merged exclude each other.
    pub(crate) reached: Term,
    pub(crate) memory: Term,
    pub(crate) locals: BTreeMap<(usize, InstrId), LocalValue>,
    /// Addresses of the locals that are not promoted.
    pub(crate) addresses: BTreeMap<(usize, InstrId), Term>,
    /// Those of them that exist.
    pub(crate) placed: BTreeSet<(usize, InstrId)>,
    pub(crate) values: BTreeMap<(usize, ValueName), Vec<Term>>,
    /// Outcomes of the conditions of a goal's decision, by its monitor and by activation in which it counts.
    pub(crate) registers: BTreeMap<(usize, usize), Vec<Register>>,
    /// By activation in which the goal counts: whether the local of a def-use pair holds what a definition of the pair stored,
    /// or whether a block began in which a `return` statement begins.
    pub(crate) flags: BTreeMap<usize, Term>,
}

/// One state for several that exclude each other, whatever each has computed: what one does not have is arbitrary there.
pub(crate) fn meet(terms: &mut Terms, mut states: Vec<State>) -> State {
    let values = states.iter().flat_map(|state| state.values.iter());
    let all: BTreeMap<(usize, ValueName), Vec<Sort>> =
        values.map(|(key, value)| (*key, value.iter().map(|term| terms.sort(*term)).collect())).collect();
    for (key, sorts) in all {
        for state in &mut states {
            state.values.entry(key).or_insert_with(|| sorts.iter().map(|sort| terms.fresh(*sort)).collect());
        }
    }
    merge(terms, states)
}

/// One state for several ways to the same point. All have the same values.
pub(crate) fn merge(terms: &mut Terms, states: Vec<State>) -> State {
    let reached: Vec<Term> = states.iter().map(|state| state.reached).collect();
    let mut states = states.into_iter().rev();
    let mut merged = states.next().expect("a point is visited when a state arrived");
    for state in states {
        let mut choose = |mine: Term, other: Term| terms.ite(state.reached, mine, other);
        merged.memory = choose(state.memory, merged.memory);
        for (key, local) in &mut merged.locals {
            let mine = state.locals[key];
            local.value = choose(mine.value, local.value);
            local.stored = choose(mine.stored, local.stored);
        }
        for (key, address) in &mut merged.addresses {
            *address = choose(state.addresses[key], *address);
        }
        merged.placed = &merged.placed & &state.placed;
        for (key, value) in &mut merged.values {
            for (term, mine) in value.iter_mut().zip(&state.values[key]) {
                *term = choose(*mine, *term);
            }
        }
        for (key, registers) in &mut merged.registers {
            for (register, mine) in registers.iter_mut().zip(&state.registers[key]) {
                register.evaluated = choose(mine.evaluated, register.evaluated);
                register.value = choose(mine.value, register.value);
            }
        }
        for (activation, flag) in &mut merged.flags {
            *flag = choose(state.flags[activation], *flag);
        }
    }
    merged.reached = terms.or(&reached);
    merged
}
