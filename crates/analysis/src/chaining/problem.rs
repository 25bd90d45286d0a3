//! What decides a problem node, and what would a value make of it?
//!
//! Method: backwards from the condition, or from the value that a definition stores, through what computes it to the loads and
//! calls that it comes from. A constant that a definition stores is put in the place of its load; what follows from it is
//! computed where nothing else affects it ([`super::formula`]). Limit: floating-point numbers and values of several loads are not computed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::walk::{Choice, Site};
use model::{ConditionId, FunctionId, InstrId, Op, Operand, Program, Terminator};

use super::formula::Formula;
use crate::Place;
use crate::dataflow::{DataFlow, DefinitionId, DefinitionKind, ObjectId, UseId};

/// A place that runs reach and do not pass as they should.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub place: Place,
    /// What it is about: a branch, or a definition whose value should be another one.
    pub happening: Happening,
    /// The uses that decide it.
    pub uses: Vec<UseId>,
    decides: Decides,
}

/// What is to happen at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Happening {
    /// The run begins.
    Start,
    /// The site has this outcome.
    Taken(Site, Choice),
    /// The definition is executed.
    Defined(DefinitionId),
    /// Control is there.
    Reached,
}

/// What a problem is decided by.
#[derive(Clone, Debug, PartialEq)]
enum Decides {
    /// This value, computed from the uses by their numbers, and what it should be.
    Outcome(Arc<Formula>, Test),
    /// What a definition stores, which is to solve the problem that this use of it belongs to.
    Stored(Arc<Formula>, Box<Problem>, UseId),
    /// Nothing that can be computed.
    Unknown,
}

/// What a value should be, so that a site has an outcome.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    Outcome(bool),
    Case(u128),
    NoneOf(Vec<u128>),
    Unknown,
}

impl Test {
    fn of(choice: Choice, terminator: &Terminator) -> Self {
        match (choice, terminator) {
            (Choice::Outcome(wanted), _) => Self::Outcome(wanted),
            (Choice::Case(case), Terminator::Switch { cases, .. }) => {
                cases.get(case as usize).map_or(Self::Unknown, |case| Self::Case(case.value))
            }
            (Choice::Default, Terminator::Switch { cases, .. }) => {
                Self::NoneOf(cases.iter().map(|case| case.value).collect())
            }
            (Choice::Case(_) | Choice::Default, _) => Self::Unknown,
        }
    }

    fn passes(&self, value: u128) -> Option<bool> {
        match self {
            Self::Outcome(wanted) => Some((value != 0) == *wanted),
            Self::Case(wanted) => Some(value == *wanted),
            Self::NoneOf(cases) => Some(!cases.contains(&value)),
            Self::Unknown => None,
        }
    }
}

/// The values that decide at sites, found in one pass over a program.
#[derive(Debug, Default)]
pub struct Deciders {
    conditions: BTreeMap<ConditionId, Vec<(Place, Operand)>>,
}

impl Deciders {
    pub fn of(program: &Program) -> Self {
        let mut conditions: BTreeMap<ConditionId, Vec<(Place, Operand)>> = BTreeMap::new();
        for (place, op) in instructions(program) {
            if let Op::Mark { condition, value } = op {
                conditions.entry(*condition).or_default().push((place, *value));
            }
        }
        Self { conditions }
    }
}

/// What the value of a definition makes of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// It decides it as it should be.
    Solves,
    /// It is not known.
    Open,
    /// It decides it as it should not be.
    Fails,
}

impl Problem {
    /// The places where a site should have this outcome: usually one, several when the compiler made it more than once.
    pub fn at_site(
        program: &Program,
        flow: &DataFlow,
        deciders: &Deciders,
        site: Site,
        choice: Choice,
    ) -> Vec<Self> {
        let decided = |place: Place, value: Operand| {
            let uses = uses_of(program, flow, place.function, value);
            let formula = Arc::new(formula_of(program, flow, place.function, value, &uses));
            let terminator = &program.function(place.function).block(place.block).terminator;
            let decides = Decides::Outcome(formula, Test::of(choice, terminator));
            Self { place, happening: Happening::Taken(site, choice), uses, decides }
        };
        match site {
            Site::Condition(condition) => {
                let marks = deciders.conditions.get(&condition).into_iter().flatten();
                marks.map(|(place, value)| decided(*place, *value)).collect()
            }
            Site::Branch(function, block) | Site::Switch(function, block) => {
                let code = program.function(function).block(block);
                let at = u32::try_from(code.instrs.len()).expect("fewer than 2^32 instructions");
                let place = Place { function, block, at };
                match &code.terminator {
                    Terminator::Branch { condition: value, .. } | Terminator::Switch { value, .. } => {
                        vec![decided(place, *value)]
                    }
                    Terminator::Jump(_)
                    | Terminator::IndirectJump { .. }
                    | Terminator::Return(_)
                    | Terminator::Unreachable => Vec::new(),
                }
            }
        }
    }

    /// A definition whose value is to be another one; `None` where it computes nothing.
    pub fn at_definition(program: &Program, flow: &DataFlow, definition: DefinitionId) -> Option<Self> {
        let (place, value) = stored_operand(program, flow, definition)?;
        let uses = uses_of(program, flow, place.function, value);
        let happening = Happening::Defined(definition);
        (!uses.is_empty()).then_some(Self { place, happening, uses, decides: Decides::Unknown })
    }

    /// One that nothing is known of.
    #[cfg(test)]
    pub(super) fn unknown(place: Place) -> Self {
        Self { place, happening: Happening::Reached, uses: Vec::new(), decides: Decides::Unknown }
    }

    /// The same where it is known what the value is for: it is to solve this problem by this use.
    pub fn through(
        &self,
        program: &Program,
        flow: &DataFlow,
        definition: DefinitionId,
        use_: UseId,
    ) -> Option<Self> {
        let of_definition = Self::at_definition(program, flow, definition)?;
        let (place, value) = stored_operand(program, flow, definition)?;
        let formula = formula_of(program, flow, place.function, value, &of_definition.uses);
        let decides = Decides::Stored(Arc::new(formula), Box::new(self.clone()), use_);
        Some(Self { decides, ..of_definition })
    }

    /// Whether it is solved when its uses take these values, as far as that follows.
    pub fn holds(&self, value_of: &dyn Fn(UseId) -> Option<u128>) -> Option<bool> {
        let of_number = |number: u32| value_of(self.uses[number as usize]);
        match &self.decides {
            Decides::Outcome(formula, test) => test.passes(formula.value(&of_number)?),
            Decides::Stored(formula, problem, solving) => {
                let stored = formula.value(&of_number)?;
                problem.holds(&|use_| (use_ == *solving).then_some(stored))
            }
            Decides::Unknown => None,
        }
    }

    /// What a definition would make of it by this use.
    pub fn promise(
        &self,
        program: &Program,
        flow: &DataFlow,
        definition: DefinitionId,
        use_: UseId,
    ) -> Promise {
        let Some(stored) = stored_value(program, flow, definition, &|_| None) else { return Promise::Open };
        match self.holds(&|known| (known == use_).then_some(stored)) {
            Some(true) => Promise::Solves,
            Some(false) => Promise::Fails,
            None => Promise::Open,
        }
    }
}

/// What a definition stores, to be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredValue {
    formula: Formula,
    /// The objects that it is computed from, by their numbers in the formula.
    objects: Vec<ObjectId>,
}

impl StoredValue {
    /// Of a definition; `None` where it computes nothing.
    pub fn of(program: &Program, flow: &DataFlow, definition: DefinitionId) -> Option<Self> {
        let (place, value) = stored_operand(program, flow, definition)?;
        let mut loads: BTreeMap<InstrId, Option<ObjectId>> = BTreeMap::new();
        for use_ in uses_of(program, flow, place.function, value) {
            let use_ = flow.use_(use_);
            for load in use_.places.iter().filter_map(|place| instruction(program, *place)) {
                // a pointer may lead to several
                let is_first = !loads.contains_key(&load);
                loads.insert(load, is_first.then_some(use_.object));
            }
        }
        let mut objects: Vec<ObjectId> = Vec::new();
        let mut given: BTreeMap<InstrId, Vec<u32>> = BTreeMap::new();
        for (load, object) in loads {
            let Some(object) = object else { continue };
            let number = objects.iter().position(|known| *known == object).unwrap_or_else(|| {
                objects.push(object);
                objects.len() - 1
            });
            given.insert(load, vec![u32::try_from(number).expect("a value is computed from few variables")]);
        }
        let formula = Formula::of(program.function(place.function), value, &given);
        Some(Self { formula, objects })
    }

    /// The value, as far as that follows from constants and from what these objects hold.
    pub fn value(&self, held: &dyn Fn(ObjectId) -> Option<u128>) -> Option<u128> {
        self.formula.value(&|number| held(self.objects[number as usize]))
    }
}

/// What a definition stores, as far as that follows from constants and from what these objects hold.
pub fn stored_value(
    program: &Program,
    flow: &DataFlow,
    definition: DefinitionId,
    held: &dyn Fn(ObjectId) -> Option<u128>,
) -> Option<u128> {
    StoredValue::of(program, flow, definition)?.value(held)
}

/// The objects that what a definition stores is computed from.
pub fn computed_from(program: &Program, flow: &DataFlow, definition: DefinitionId) -> BTreeSet<ObjectId> {
    let Some((place, value)) = stored_operand(program, flow, definition) else { return BTreeSet::new() };
    uses_of(program, flow, place.function, value).into_iter().map(|use_| flow.use_(use_).object).collect()
}

/// What a definition stores or returns, and where.
fn stored_operand(program: &Program, flow: &DataFlow, definition: DefinitionId) -> Option<(Place, Operand)> {
    let definition = flow.definition(definition);
    let place = *definition.places.first()?;
    match (definition.kind, place.op(program)) {
        (DefinitionKind::Initial, _) => None,
        (_, Some(Op::Store { value, .. })) => Some((place, *value)),
        (DefinitionKind::Returned, None) => {
            let Terminator::Return(Some(value)) =
                &program.function(place.function).block(place.block).terminator
            else {
                return None;
            };
            Some((place, *value))
        }
        _ => None,
    }
}

/// All instructions with their places.
fn instructions(program: &Program) -> impl Iterator<Item = (Place, &Op)> {
    let functions = (0..).map(FunctionId).zip(&program.functions);
    functions.flat_map(|(id, function)| {
        function.blocks().flat_map(move |(block, code)| {
            let place = move |at: u32| Place { function: id, block, at };
            code.instrs.iter().zip(0..).map(move |(instr, at)| (place(at), &function.instr(*instr).op))
        })
    })
}

fn instruction(program: &Program, place: Place) -> Option<InstrId> {
    program.function(place.function).block(place.block).instrs.get(place.at as usize).copied()
}

/// The uses that a value is computed from, in the order of the code.
fn uses_of(program: &Program, flow: &DataFlow, id: FunctionId, value: Operand) -> Vec<UseId> {
    let function = program.function(id);
    let mut sources: BTreeSet<InstrId> = BTreeSet::new();
    let mut open = vec![value];
    let mut seen: BTreeSet<InstrId> = BTreeSet::new();
    while let Some(operand) = open.pop() {
        let Operand::Result(instr) = operand else { continue };
        if !seen.insert(instr) {
            continue;
        }
        let op = &function.instr(instr).op;
        if matches!(op, Op::Load { .. } | Op::Call { .. }) {
            sources.insert(instr);
        }
        match op {
            Op::Call { .. } | Op::Alloca { .. } => {}
            op => open.extend(op.operands()),
        }
    }
    let mut uses: BTreeMap<(u32, u32, u32), UseId> = BTreeMap::new();
    for (block, code) in function.blocks() {
        for access in flow.blocks().of(id, block) {
            let is_source = code.instrs.get(access.at as usize).is_some_and(|instr| sources.contains(instr));
            for (number, (_, use_)) in (0..).zip(&access.uses).filter(|_| is_source) {
                uses.insert((block.0, access.at, number), *use_);
            }
        }
    }
    let mut found = Vec::new();
    for use_ in uses.into_values() {
        if !found.contains(&use_) {
            found.push(use_);
        }
    }
    found
}

/// What an operand is, by the values of these uses.
fn formula_of(
    program: &Program,
    flow: &DataFlow,
    function: FunctionId,
    value: Operand,
    uses: &[UseId],
) -> Formula {
    let mut given: BTreeMap<InstrId, Vec<u32>> = BTreeMap::new();
    for (use_, number) in uses.iter().zip(0..) {
        for load in flow.use_(*use_).places.iter().filter_map(|place| instruction(program, *place)) {
            given.entry(load).or_default().push(number);
        }
    }
    Formula::of(program.function(function), value, &given)
}
