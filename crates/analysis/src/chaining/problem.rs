//! What decides a problem node, and what would a value make of it?
//!
//! Method: backwards from the condition, or from the value that a definition stores, through what computes it to the loads and
//! calls that it comes from. A constant that a definition stores is put in the place of its load; what follows from it is
//! computed where nothing else affects it. Limit: floating-point numbers and values of several loads are not computed.

use std::collections::{BTreeMap, BTreeSet};

use model::interpret::integer;
use model::walk::{Choice, Site};
use model::{CastOp, Function, FunctionId, InstrId, Op, Operand, Program, Terminator, Type};

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
    /// This value, and how it should be decided.
    Outcome(Operand, Choice),
    /// What a definition stores, which is to solve the problem that this use of it belongs to.
    Stored(DefinitionId, Box<Problem>, UseId),
    /// Nothing that can be computed.
    Unknown,
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
    pub fn at_site(program: &Program, flow: &DataFlow, site: Site, choice: Choice) -> Vec<Self> {
        let decided = |place: Place, value: Operand| {
            let uses = uses_of(program, flow, place.function, value);
            let (happening, decides) = (Happening::Taken(site, choice), Decides::Outcome(value, choice));
            Self { place, happening, uses, decides }
        };
        match site {
            Site::Condition(condition) => {
                let marks = instructions(program).filter_map(|(place, op)| match op {
                    Op::Mark { condition: marked, value } if *marked == condition => Some((place, *value)),
                    _ => None,
                });
                marks.map(|(place, value)| decided(place, value)).collect()
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
        let decides = Decides::Stored(definition, Box::new(self.clone()), use_);
        Some(Self { decides, ..Self::at_definition(program, flow, definition)? })
    }

    /// Whether it is solved when its uses take these values, as far as that follows.
    pub fn holds(
        &self,
        program: &Program,
        flow: &DataFlow,
        value_of: &dyn Fn(UseId) -> Option<u128>,
    ) -> Option<bool> {
        let given = |function: FunctionId| {
            let known = self.uses.iter().filter_map(|use_| Some((*use_, value_of(*use_)?)));
            let of_use = known.flat_map(|(use_, value)| {
                let places = flow.use_(use_).places.iter();
                places.filter_map(move |place| Some((instruction(program, *place)?, value)))
            });
            Given { function: program.function(function), loads: of_use.collect() }
        };
        match &self.decides {
            Decides::Outcome(value, choice) => {
                let found = given(self.place.function).value(*value)?;
                let terminator = &program.function(self.place.function).block(self.place.block).terminator;
                match (choice, terminator) {
                    (Choice::Outcome(wanted), _) => Some((found != 0) == *wanted),
                    (Choice::Case(case), Terminator::Switch { cases, .. }) => {
                        Some(cases.get(*case as usize).is_some_and(|case| case.value == found))
                    }
                    (Choice::Default, Terminator::Switch { cases, .. }) => {
                        Some(cases.iter().all(|case| case.value != found))
                    }
                    (Choice::Case(_) | Choice::Default, _) => None,
                }
            }
            Decides::Stored(definition, problem, solving) => {
                let (place, value) = stored_operand(program, flow, *definition)?;
                let stored = given(place.function).value(value)?;
                problem.holds(program, flow, &|use_| (use_ == *solving).then_some(stored))
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
        match self.holds(program, flow, &|known| (known == use_).then_some(stored)) {
            Some(true) => Promise::Solves,
            Some(false) => Promise::Fails,
            None => Promise::Open,
        }
    }
}

/// What a definition stores, to be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredValue {
    function: FunctionId,
    value: Operand,
    /// Where it does not depend on anything.
    constant: Option<u128>,
    /// The loads that it is computed from; without an object where a pointer may lead to several.
    loads: Vec<(InstrId, Option<ObjectId>)>,
}

impl StoredValue {
    /// Of a definition; `None` where it computes nothing.
    pub fn of(program: &Program, flow: &DataFlow, definition: DefinitionId) -> Option<Self> {
        let (place, value) = stored_operand(program, flow, definition)?;
        let function = program.function(place.function);
        let constant = Given { function, loads: BTreeMap::new() }.value(value);
        let mut loads: BTreeMap<InstrId, Option<ObjectId>> = BTreeMap::new();
        for use_ in uses_of(program, flow, place.function, value) {
            let use_ = flow.use_(use_);
            for load in use_.places.iter().filter_map(|place| instruction(program, *place)) {
                let is_first = !loads.contains_key(&load);
                loads.insert(load, is_first.then_some(use_.object));
            }
        }
        Some(Self { function: place.function, value, constant, loads: loads.into_iter().collect() })
    }

    /// The value, as far as that follows from constants and from what these objects hold.
    pub fn value(&self, program: &Program, held: &dyn Fn(ObjectId) -> Option<u128>) -> Option<u128> {
        self.constant.or_else(|| {
            let known = self.loads.iter().filter_map(|(load, object)| Some((*load, held((*object)?)?)));
            Given { function: program.function(self.function), loads: known.collect() }.value(self.value)
        })
    }
}

/// What a definition stores, as far as that follows from constants and from what these objects hold.
pub fn stored_value(
    program: &Program,
    flow: &DataFlow,
    definition: DefinitionId,
    held: &dyn Fn(ObjectId) -> Option<u128>,
) -> Option<u128> {
    StoredValue::of(program, flow, definition)?.value(program, held)
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

/// A function in which some loads give a constant.
struct Given<'f> {
    function: &'f Function,
    loads: BTreeMap<InstrId, u128>,
}

impl Given<'_> {
    /// What an operand is then, if that follows.
    fn value(&self, operand: Operand) -> Option<u128> {
        match operand {
            Operand::Int { value, .. } => Some(value),
            Operand::Null => Some(0),
            Operand::Result(instr) => self.loads.get(&instr).copied().or_else(|| self.result(instr)),
            _ => None,
        }
    }

    fn result(&self, instr: InstrId) -> Option<u128> {
        let Type::Int(bits) = self.function.instr(instr).ty else { return None };
        match &self.function.instr(instr).op {
            Op::Binary(op, left, right) => {
                integer::binary(*op, bits, self.value(*left)?, self.value(*right)?).ok()
            }
            Op::Compare(predicate, Type::Int(bits), left, right) => {
                let holds = integer::compare(*predicate, *bits, self.value(*left)?, self.value(*right)?);
                Some(u128::from(holds))
            }
            Op::Cast(CastOp::Trunc | CastOp::Zext, _, of) => Some(self.value(*of)? & integer::mask(bits)),
            Op::Cast(CastOp::Sext, Type::Int(from), of) => {
                Some(integer::signed(self.value(*of)?, *from).cast_unsigned() & integer::mask(bits))
            }
            Op::Mark { value, .. } | Op::Freeze(value) => self.value(*value),
            _ => None,
        }
    }
}
