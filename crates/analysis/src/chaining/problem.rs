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
use crate::dataflow::{DataFlow, DefinitionId, UseId};

/// A place that runs reach and do not pass as they should.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub place: Place,
    /// The uses that decide it.
    pub uses: Vec<UseId>,
    /// What is decided, and what it should be; nothing where a value is to be computed.
    decides: Option<(Operand, Choice)>,
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
            Self { place, uses, decides: Some((value, choice)) }
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
        let place = *flow.definition(definition).places.first()?;
        let Some(Op::Store { value, .. }) = place.op(program) else { return None };
        let uses = uses_of(program, flow, place.function, *value);
        (!uses.is_empty()).then_some(Self { place, uses, decides: None })
    }

    /// What a definition would make of it by this use.
    pub fn promise(
        &self,
        program: &Program,
        flow: &DataFlow,
        definition: DefinitionId,
        use_: UseId,
    ) -> Promise {
        let Some((value, choice)) = self.decides else { return Promise::Open };
        let places = &flow.definition(definition).places;
        let Some(stored) = places.first().and_then(|place| stored_constant(program, *place)) else {
            return Promise::Open;
        };
        let function = program.function(self.place.function);
        let loads: BTreeSet<InstrId> =
            flow.use_(use_).places.iter().filter_map(|place| instruction(program, *place)).collect();
        let Some(found) = (Given { function, loads, stored }).value(value) else { return Promise::Open };
        let terminator = &function.block(self.place.block).terminator;
        let taken = match (choice, terminator) {
            (Choice::Outcome(wanted), _) => (found != 0) == wanted,
            (Choice::Case(case), Terminator::Switch { cases, .. }) => {
                cases.get(case as usize).is_some_and(|case| case.value == found)
            }
            (Choice::Default, Terminator::Switch { cases, .. }) => {
                cases.iter().all(|case| case.value != found)
            }
            (Choice::Case(_) | Choice::Default, _) => return Promise::Open,
        };
        if taken { Promise::Solves } else { Promise::Fails }
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

/// The constant that a store stores.
fn stored_constant(program: &Program, place: Place) -> Option<u128> {
    match place.op(program)? {
        Op::Store { value: Operand::Int { value, .. }, .. } => Some(*value),
        Op::Store { value: Operand::Null, .. } => Some(0),
        _ => None,
    }
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
    loads: BTreeSet<InstrId>,
    stored: u128,
}

impl Given<'_> {
    /// What an operand is then, if that follows.
    fn value(&self, operand: Operand) -> Option<u128> {
        match operand {
            Operand::Int { value, .. } => Some(value),
            Operand::Null => Some(0),
            Operand::Result(instr) if self.loads.contains(&instr) => Some(self.stored),
            Operand::Result(instr) => self.result(instr),
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
