//! What did variables hold where they decide a branch?
//!
//! Method: the model's interpreter runs the inputs once more, and the loads that a condition is computed from are listened to: what they
//! gave last when the condition is evaluated is what it was decided by. Limit: integers; runs of a bounded length; what the interpreter does not
//! run, such as library functions without a model, ends a run, and what was seen before counts.

use std::collections::{BTreeMap, BTreeSet};

use analysis::chaining::Problem;
use analysis::dataflow::{DataFlow, UseId};
use model::input::Input;
use model::interpret::{CodeLocation, Interpreter, Limits, Observer};
use model::walk::Site;
use model::{ConditionId, FunctionId, InstrId, Program, Type};
use report::explanation::SeenValues;

/// Steps of a run, inputs that are run, and values of a variable that are kept and shown.
const MOST_STEPS: u64 = 200_000;
const MOST_INPUTS: usize = 40;
const MOST_KEPT: usize = 1000;
const MOST_SHOWN: usize = 8;

/// Values by condition and variable.
#[derive(Debug, Default)]
pub struct Seen {
    /// By load: what it reads, with the width.
    loads: BTreeMap<(FunctionId, InstrId), (UseId, u32)>,
    by_condition: BTreeMap<ConditionId, BTreeMap<UseId, BTreeSet<i128>>>,
    n_inputs: usize,
}

impl Seen {
    pub fn of(program: &Program, flow: &DataFlow) -> Self {
        let mut loads = BTreeMap::new();
        // what a pointer leads to may be one variable or another
        let mut ambiguous = BTreeSet::new();
        for (id, use_) in flow.uses() {
            for place in &use_.places {
                let function = program.function(place.function);
                let Some(instr) = function.block(place.block).instrs.get(place.at as usize) else { continue };
                if let Type::Int(bits) = function.instr(*instr).ty {
                    let load = (place.function, *instr);
                    if loads.insert(load, (id, bits)).is_some_and(|(known, _)| known != id) {
                        ambiguous.insert(load);
                    }
                }
            }
        }
        loads.retain(|load, _| !ambiguous.contains(load));
        Self { loads, ..Self::default() }
    }

    /// Runs an input and takes in what was seen.
    pub fn run(&mut self, program: &Program, input: &Input) {
        let Some(root) = program.root.filter(|_| self.n_inputs < MOST_INPUTS) else { return };
        self.n_inputs += 1;
        let limits = Limits { steps: MOST_STEPS, ..Limits::default() };
        let mut interpreter = Interpreter::new(program, limits);
        interpreter.set_inputs(input.values.iter().map(|(key, value)| (key.0, *value)).collect());
        let mut listener = Listening { seen: self, activations: Vec::new() };
        interpreter.run_observed(root, &[], &mut listener);
    }

    /// What the variables of a problem held.
    pub fn at(&self, site: Site, problem: &Problem, flow: &DataFlow) -> Vec<SeenValues> {
        let Site::Condition(condition) = site else { return Vec::new() };
        let Some(seen) = self.by_condition.get(&condition) else { return Vec::new() };
        let of_use = |use_: &UseId| {
            let values = seen.get(use_)?;
            Some(SeenValues {
                variable: flow.object(flow.use_(*use_).object).name.clone(),
                values: values.iter().take(MOST_SHOWN).map(ToString::to_string).collect(),
                more: values.len().saturating_sub(MOST_SHOWN),
            })
        };
        problem.uses.iter().filter_map(of_use).collect()
    }
}

/// The newest values of the loads of each activation.
struct Listening<'s> {
    seen: &'s mut Seen,
    activations: Vec<BTreeMap<UseId, i128>>,
}

impl Observer for Listening<'_> {
    fn call(&mut self, _: Option<CodeLocation>, _: FunctionId) {
        self.activations.push(BTreeMap::new());
    }

    fn returned(&mut self, _: FunctionId) {
        self.activations.pop();
    }

    fn loaded(&mut self, at: CodeLocation, value: u128) {
        let Some(instr) = at.instr else { return };
        let Some((use_, bits)) = self.seen.loads.get(&(at.function, instr)).copied() else { return };
        let shift = 128 - bits;
        if let Some(newest) = self.activations.last_mut() {
            newest.insert(use_, ((value << shift).cast_signed()) >> shift);
        }
    }

    fn condition(&mut self, condition: ConditionId, _: bool) {
        let Some(newest) = self.activations.last_mut() else { return };
        let seen = self.seen.by_condition.entry(condition).or_default();
        // the next condition loads what it needs itself
        for (use_, value) in std::mem::take(newest) {
            let values = seen.entry(use_).or_default();
            if values.len() < MOST_KEPT {
                values.insert(value);
            }
        }
    }
}
