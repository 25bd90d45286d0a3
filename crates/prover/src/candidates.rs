//! Formulas that may hold at a cut: guesses, of which those that do hold are kept.
//!
//! Method: atoms are the promoted locals of the activations at the cut, scalars in memory that the code accesses at known
//! places ([`crate::cells`]), and the entry's parameters; constants are those of the program's text. Candidates compare atoms with constants and with each other; the
//! larger set adds what holds for one value of an atom. Limit: no arithmetic between atoms, nothing about arrays.

use std::collections::{BTreeMap, BTreeSet};

use model::{FunctionId, Op, Operand, Terminator, Type};
use proof::{Formula, Operator};

use crate::cells::Cell;
use crate::encode::Encoder;
use crate::graph::{ContextId, Node};
use crate::objects::Object;
use crate::terms::{ones, signed};

/// Atoms of a cut at most; those of the innermost activation come first.
const MAX_ATOMS: usize = 20;
/// Scalars in memory at most.
const MAX_CELLS: usize = 60;
/// Pairs of atoms that are compared with each other at most.
const MAX_PAIRS: usize = 300;
/// Objects that pointers are compared with at most.
const MAX_OBJECTS: usize = 10;
/// Constants of one width at most.
const MAX_CONSTANTS: usize = 20;
/// Values up to which an atom is believed to be one of what is stored to it.
const MAX_MEMBERS: usize = 12;

/// How many candidates there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Richness {
    /// Comparisons of atoms with constants and with each other.
    Plain,
    /// Also comparisons that hold while another atom has a certain value.
    Conditional,
}

/// Something whose value a candidate speaks of.
struct Atom {
    formula: Formula,
    width: u32,
    /// The constants that are stored to it; empty if something else is stored, too.
    members: BTreeSet<u128>,
    /// Whether code stores to it.
    is_variable: bool,
    is_pointer: bool,
}

/// Constants that the code of the proof mentions.
pub(crate) struct Constants {
    /// Sign-extended, the most frequent first.
    by_count: Vec<u128>,
}

impl Constants {
    pub(crate) fn of(encoder: &Encoder<'_, '_>) -> Self {
        let mut found: BTreeMap<u128, usize> = BTreeMap::new();
        let functions: BTreeSet<FunctionId> =
            encoder.graph.contexts.iter().map(|context| context.function).collect();
        for function in functions {
            let function = encoder.program.function(function);
            for instr in &function.instrs {
                // sizes and offsets say nothing of values
                if matches!(instr.op, Op::Alloca { .. } | Op::Memory { .. } | Op::Address { .. }) {
                    continue;
                }
                for operand in instr.op.operands() {
                    if let Operand::Int { bits, value } = operand
                        && bits > 1
                    {
                        *found.entry(signed(value, bits) as u128).or_default() += 1;
                    }
                }
            }
            for block in &function.blocks {
                if let Terminator::Switch { cases, bits, .. } = &block.terminator {
                    for case in cases {
                        *found.entry(signed(case.value, *bits) as u128).or_default() += 1;
                    }
                }
            }
        }
        let mut by_count: Vec<(u128, usize)> = found.into_iter().collect();
        by_count.sort_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
        Self { by_count: by_count.into_iter().map(|(value, _)| value).collect() }
    }

    fn with_width(&self, width: u32) -> Vec<u128> {
        let fits = |value: u128| {
            let value = value as i128;
            (-(1 << (width - 1))..1 << (width - 1)).contains(&value) || (0..1 << width).contains(&value)
        };
        let mut values = vec![0, 1];
        for value in &self.by_count {
            if fits(*value) && !values.contains(&(value & ones(width))) {
                values.push(value & ones(width));
            }
        }
        values.truncate(MAX_CONSTANTS);
        values
    }
}

/// The candidates for a cut.
pub(crate) fn candidates(
    encoder: &Encoder<'_, '_>,
    constants: &Constants,
    cut: Node,
    richness: Richness,
) -> Vec<Formula> {
    let atoms = atoms(encoder, cut.context);
    let mut all = Vec::new();
    atoms.iter().for_each(|atom| against_constants(atom, constants, &mut all));
    let objects = addresses(encoder, &encoder.graph.enclosing(cut.context));
    for atom in atoms.iter().filter(|atom| atom.is_pointer) {
        all.extend(objects.iter().map(|address| apply(Operator::Equal, atom, address.clone())));
    }
    let mut n_pairs = 0;
    for (at, atom) in atoms.iter().enumerate() {
        for other in &atoms[at + 1..] {
            let are_comparable = atom.width == other.width
                && (atom.is_variable || other.is_variable)
                && (atom.members.is_empty() || other.members.is_empty());
            if are_comparable && n_pairs < MAX_PAIRS {
                against_atom(atom, other, &mut all);
                n_pairs += 1;
            }
        }
    }
    match richness {
        Richness::Plain => {}
        Richness::Conditional => conditional(&atoms, constants, &mut all),
    }
    all
}

fn against_constants(atom: &Atom, constants: &Constants, all: &mut Vec<Formula>) {
    use Operator::{BvSge, BvSle, BvUle, Equal};
    let is_enumerated = (1..=MAX_MEMBERS).contains(&atom.members.len());
    let values: Vec<u128> = match is_enumerated {
        true => atom.members.iter().copied().collect(),
        false => constants.with_width(atom.width),
    };
    for value in values {
        let constant = || Formula::Bits { bits: atom.width, value };
        all.push(apply(Equal, atom, constant()));
        all.push(Formula::apply(Operator::Not, [apply(Equal, atom, constant())]));
        for operator in [BvSle, BvSge, BvUle] {
            all.push(apply(operator, atom, constant()));
        }
    }
    if atom.width > 1 {
        for value in [0, 1] {
            let bit = Formula::apply(Operator::Extract { high: 0, low: 0 }, [atom.formula.clone()]);
            all.push(Formula::apply(Equal, [bit, Formula::Bits { bits: 1, value }]));
        }
    }
    if is_enumerated && atom.members.len() > 1 {
        let member = |value: &u128| apply(Equal, atom, Formula::Bits { bits: atom.width, value: *value });
        let members: Vec<Formula> = atom.members.iter().map(member).collect();
        all.push(Formula::apply(Operator::Or, members));
    }
}

fn against_atom(atom: &Atom, other: &Atom, all: &mut Vec<Formula>) {
    use Operator::{BvSge, BvSgt, BvSle, BvSlt, BvUge, BvUgt, BvUle, BvUlt, Equal};
    for operator in [Equal, BvSle, BvSge, BvUle, BvUge, BvSlt, BvSgt, BvUlt, BvUgt] {
        all.push(apply(operator, atom, other.formula.clone()));
    }
    all.push(Formula::apply(Operator::Not, [apply(Equal, atom, other.formula.clone())]));
}

/// What holds of one atom while another, which takes few values, has one of them.
fn conditional(atoms: &[Atom], constants: &Constants, all: &mut Vec<Formula>) {
    use Operator::{BvSge, BvSle, Equal};
    const MAX_CLAUSES: usize = 3000;
    let first = all.len();
    for (at, flag) in atoms.iter().enumerate() {
        if flag.members.is_empty() || flag.members.len() > MAX_MEMBERS {
            continue;
        }
        for &value in &flag.members {
            let has_value = || apply(Equal, flag, Formula::Bits { bits: flag.width, value });
            for (index, atom) in atoms.iter().enumerate() {
                if index == at {
                    continue;
                }
                let few = (1..=MAX_MEMBERS).contains(&atom.members.len());
                let values: Vec<u128> = match few {
                    true => atom.members.iter().copied().collect(),
                    false => constants.with_width(atom.width).into_iter().take(6).collect(),
                };
                for value in values {
                    let constant = || Formula::Bits { bits: atom.width, value };
                    let equal = apply(Equal, atom, constant());
                    let mut then = vec![equal.clone(), Formula::apply(Operator::Not, [equal])];
                    if !few {
                        then.extend([BvSle, BvSge].map(|operator| apply(operator, atom, constant())));
                    }
                    for then in then {
                        all.push(Formula::apply(Operator::Implies, [has_value(), then]));
                        if all.len() - first >= MAX_CLAUSES {
                            return;
                        }
                    }
                }
            }
        }
    }
}

fn apply(operator: Operator, atom: &Atom, other: Formula) -> Formula {
    Formula::apply(operator, [atom.formula.clone(), other])
}

fn atoms(encoder: &Encoder<'_, '_>, context: ContextId) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let enclosing = encoder.graph.enclosing(context);
    for &context in &enclosing {
        atoms.extend(locals(encoder, context));
    }
    atoms.truncate(MAX_ATOMS);
    atoms.extend(cells(encoder, &enclosing));
    let parameters = encoder.graph.function(ContextId::ENTRY).parameters.iter().enumerate();
    for (number, ty) in parameters.take(MAX_ATOMS / 2) {
        if let Some(width) = integer_width(encoder, *ty) {
            let formula = Formula::Parameter(number as u32);
            let (members, is_pointer) = (BTreeSet::new(), *ty == Type::Ptr);
            atoms.push(Atom { formula, width, members, is_variable: false, is_pointer });
        }
    }
    atoms
}

pub(crate) fn integer_width(encoder: &Encoder<'_, '_>, ty: Type) -> Option<u32> {
    let is_number = matches!(ty, Type::Int(_) | Type::Ptr);
    encoder.width(ty).filter(|width| is_number && (2..=64).contains(width))
}

fn locals(encoder: &Encoder<'_, '_>, context: ContextId) -> Vec<Atom> {
    let activation = encoder.graph.context(context);
    let function = encoder.program.function(activation.function);
    let mut atoms = Vec::new();
    for (&alloca, &ty) in &encoder.locals[&activation.function].promoted {
        let Some(width) = integer_width(encoder, ty) else { continue };
        let formula = Formula::Local { context: activation.path.clone(), alloca };
        let stored = function.instrs.iter().filter_map(|instr| match instr.op {
            Op::Store { address: Operand::Result(to), value, .. } if to == alloca => Some(value),
            _ => None,
        });
        let (members, is_pointer) = (members(stored), ty == Type::Ptr);
        atoms.push(Atom { formula, width, members, is_variable: true, is_pointer });
    }
    atoms
}

/// Addresses of objects that the code accesses: globals, and locals of these activations.
fn addresses(encoder: &Encoder<'_, '_>, enclosing: &[ContextId]) -> Vec<Formula> {
    let objects: BTreeSet<Object> = encoder.cells.all.keys().map(|cell| cell.object).collect();
    objects
        .into_iter()
        .filter_map(|object| address_of(encoder, enclosing, object))
        .take(MAX_OBJECTS)
        .collect()
}

pub(crate) fn address_of(
    encoder: &Encoder<'_, '_>,
    enclosing: &[ContextId],
    object: Object,
) -> Option<Formula> {
    match object {
        Object::Global(global) if !encoder.program.global(global).constant => Some(Formula::Global(global)),
        Object::Local(context, alloca) if enclosing.contains(&context) => {
            Some(Formula::Alloca { context: encoder.graph.context(context).path.clone(), alloca })
        }
        Object::Global(_) | Object::Local(..) | Object::Function(_) | Object::Heap(_) => None,
    }
}

/// The constants among what is stored, if nothing else is.
fn members(stored: impl Iterator<Item = Operand>) -> BTreeSet<u128> {
    let mut members = BTreeSet::new();
    for value in stored {
        match value {
            Operand::Int { value, .. } => members.insert(value),
            Operand::Null => members.insert(0),
            _ => return BTreeSet::new(),
        };
    }
    members
}

/// Scalars in memory: of globals, and of locals of the activations at the cut.
fn cells(encoder: &Encoder<'_, '_>, enclosing: &[ContextId]) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for (cell, stored) in &encoder.cells.all {
        let Some(base) = address_of(encoder, enclosing, cell.object) else { continue };
        let moved = Formula::Bits { bits: encoder.program.pointer_bits, value: cell.offset.into() };
        let address = if cell.offset == 0 { base } else { Formula::apply(Operator::BvAdd, [base, moved]) };
        let formula = Formula::Load { bits: cell.width, address: Box::new(address) };
        let mut members = if stored.others { BTreeSet::new() } else { stored.constants.clone() };
        if !members.is_empty()
            && let Object::Global(global) = cell.object
        {
            members.insert(initial(&encoder.program.global(global).bytes, cell));
        }
        let (width, is_variable, is_pointer) = (cell.width, true, false);
        atoms.push(Atom { formula, width, members, is_variable, is_pointer });
    }
    atoms.truncate(MAX_CELLS);
    atoms
}

/// What a global holds there before anything is stored.
fn initial(bytes: &[u8], cell: &Cell) -> u128 {
    let first = cell.offset as usize;
    let all = (first..first + cell.width as usize / 8).rev();
    all.fold(0, |value, at| value << 8 | u128::from(bytes.get(at).copied().unwrap_or(0)))
}
