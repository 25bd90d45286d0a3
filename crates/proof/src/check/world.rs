//! What stays the same in a run: addresses of globals and functions, parameters of the entry, contents of constants; and
//! what is known of the addresses of locals.
//!
//! Facts become assertions only in queries that speak of what they are about: leaving one out can only make a query
//! harder to refute.

use std::collections::{BTreeMap, BTreeSet};

use model::{FunctionId, GapKind, Global, GlobalId, Linkage, Operand, Program, RelocationTarget, Type};

use super::locals::scalar_bits;
use super::smtlib;
use super::terms::{Sort, Term, Terms};
use crate::Operator;

/// No object lies below.
pub(crate) const FIRST_ADDRESS: u64 = 4096;
/// Larger globals have no known contents.
const MAX_CONTENT: u64 = 4096;
/// Nothing is said of locals that are larger: so all of them always fit beside each other.
pub(crate) const MAX_LOCAL: u64 = 1 << 20;
/// Of further globals in one query nothing is said but what each holds.
const MAX_APART: usize = 64;

pub(crate) struct World<'p> {
    pub(crate) program: &'p Program,
    pub(crate) terms: Terms,
    /// The entry's parameters.
    pub(crate) parameters: Vec<Vec<Term>>,
    /// Memory in which only constants are looked up.
    pub(crate) constants: Term,
    globals: BTreeMap<GlobalId, Term>,
    functions: BTreeMap<FunctionId, Term>,
    /// Memories of which nothing is known but what constants hold, and whether all globals hold their initial bytes.
    memories: Vec<(Term, bool)>,
    locals: Vec<LocalObject>,
    /// Whether the bytes of every initialiser are known.
    knows_initialisers: bool,
}

/// A local that lies in memory.
struct LocalObject {
    address: Term,
    size: u64,
    /// Addresses and sizes of the locals that exist together with it.
    apart_from: Vec<(Term, u64)>,
}

impl<'p> World<'p> {
    pub(crate) fn new(program: &'p Program, parameters: &[Type]) -> Self {
        let mut terms = Terms::new(program.pointer_bits);
        let constants = terms.fresh(Sort::Memory);
        let undescribed =
            program.gaps.iter().any(|gap| gap.kind == GapKind::Instruction && gap.function.is_none());
        let mut world = Self {
            program,
            terms,
            parameters: Vec::new(),
            constants,
            globals: BTreeMap::new(),
            functions: BTreeMap::new(),
            memories: vec![(constants, false)],
            locals: Vec::new(),
            knows_initialisers: !undescribed,
        };
        world.parameters = parameters.iter().map(|ty| world.fresh(*ty)).collect();
        world
    }

    /// An arbitrary value of this type: a term per scalar.
    pub(crate) fn fresh(&mut self, ty: Type) -> Vec<Term> {
        let types = match ty {
            Type::Record(record) => self.program.record(record).leaves.iter().map(|(_, ty)| *ty).collect(),
            Type::Void | Type::Int(_) | Type::Ptr | Type::Float(_) | Type::Opaque => vec![ty],
        };
        let bits = types.into_iter().filter_map(|ty| scalar_bits(ty, self.program.pointer_bits));
        bits.map(|bits| self.terms.fresh(Sort::Bits(bits))).collect()
    }

    /// Memory with arbitrary contents, but for constants; with `initial`, but for all globals.
    pub(crate) fn fresh_memory(&mut self, initial: bool) -> Term {
        let memory = self.terms.fresh(Sort::Memory);
        self.memories.push((memory, initial));
        memory
    }

    pub(crate) fn global(&mut self, id: GlobalId) -> Term {
        if let Some(known) = self.globals.get(&id) {
            return *known;
        }
        let address = self.terms.fresh(Sort::Bits(self.terms.pointer_bits));
        let (program, own) = (self.program, self.program.global(id));
        let is_defined = |global: &Global| global.linkage != Linkage::External && global.size > 0;
        if is_defined(own) {
            for (other, other_address) in &self.globals {
                let other = program.global(*other);
                if is_defined(other) && !(own.constant && other.constant) {
                    self.terms.note_apart((address, own.size), (*other_address, other.size));
                }
            }
            for local in &self.locals {
                self.terms.note_apart((address, own.size), (local.address, local.size));
            }
        }
        self.globals.insert(id, address);
        address
    }

    pub(crate) fn function(&mut self, id: FunctionId) -> Term {
        let sort = Sort::Bits(self.terms.pointer_bits);
        *self.functions.entry(id).or_insert_with(|| self.terms.fresh(sort))
    }

    /// A constant operand's value; none for results and parameters.
    pub(crate) fn constant(&mut self, operand: Operand) -> Option<Vec<Term>> {
        Some(match operand {
            Operand::Result(_) | Operand::Parameter(_) => return None,
            Operand::Int { bits, value } => vec![self.terms.constant(bits, value)],
            Operand::Float { kind, bits } => vec![self.terms.constant(kind.bits(), bits)],
            Operand::Null => vec![self.terms.address(0)],
            Operand::Global { global, offset } => {
                let base = self.global(global);
                vec![self.moved(base, offset)]
            }
            Operand::Function(function) => vec![self.function(function)],
            Operand::Undefined(ty) => self.fresh(ty),
        })
    }

    /// An address moved by bytes.
    pub(crate) fn moved(&mut self, address: Term, by: i64) -> Term {
        if by == 0 {
            return address;
        }
        let by = self.terms.constant(self.terms.pointer_bits, by as u128);
        self.terms.apply(Operator::BvAdd, &[address, by])
    }

    /// Notes a local of this size at this address, which lies apart from the others given.
    pub(crate) fn place_local(&mut self, address: Term, size: u64, apart_from: Vec<(Term, u64)>) {
        for (global, other) in &self.globals {
            let global = self.program.global(*global);
            if global.linkage != Linkage::External && global.size > 0 {
                self.terms.note_apart((address, size), (*other, global.size));
            }
        }
        for other in &apart_from {
            self.terms.note_apart((address, size), *other);
        }
        self.locals.push(LocalObject { address, size, apart_from });
    }

    /// Whether the global's initial bytes are known.
    pub(crate) fn is_initialised(&self, id: GlobalId) -> bool {
        let global = self.program.global(id);
        self.knows_initialisers && global.linkage != Linkage::External && global.size <= MAX_CONTENT
    }

    /// The assertions, and the facts about what they speak of.
    pub(crate) fn with_facts(&mut self, assertions: Vec<Term>) -> Vec<Term> {
        let mut all = assertions;
        let mut stated = BTreeSet::new();
        loop {
            let needed = smtlib::cone(&self.terms, &all);
            let is_needed = |term: Term| needed.get(term.0 as usize) == Some(&true);
            let globals: Vec<GlobalId> =
                self.globals.iter().filter(|(_, address)| is_needed(**address)).map(|(id, _)| *id).collect();
            let memories: Vec<(Term, bool)> =
                self.memories.iter().copied().filter(|(memory, _)| is_needed(*memory)).collect();
            let before = all.len();
            for (memory, initial) in memories {
                for &id in &globals {
                    let holds = initial || self.program.global(id).constant;
                    if holds && self.is_initialised(id) && stated.insert((memory, id)) {
                        self.contents(memory, id, &mut all);
                    }
                }
            }
            if all.len() == before {
                let locals: Vec<usize> =
                    (0..self.locals.len()).filter(|index| is_needed(self.locals[*index].address)).collect();
                let is_defined = |id: FunctionId| self.program.function(id).is_defined();
                let functions = self.functions.iter().filter(|(id, _)| is_defined(**id));
                let functions: Vec<Term> =
                    functions.map(|(_, address)| *address).filter(|address| is_needed(*address)).collect();
                self.layout(&globals, &locals, &needed, &mut all);
                for function in functions {
                    let zero = self.terms.address(0);
                    let null = self.terms.equal(function, zero);
                    all.push(self.terms.not(null));
                }
                return all;
            }
        }
    }

    /// That `memory` holds the initial bytes of a global.
    fn contents(&mut self, memory: Term, id: GlobalId, all: &mut Vec<Term>) {
        let global = self.program.global(id);
        let base = self.global(id);
        let pointer_bytes = u64::from(self.terms.pointer_bits / 8);
        let in_relocation = |offset: u64| {
            global
                .relocations
                .iter()
                .any(|relocation| offset >= relocation.offset && offset - relocation.offset < pointer_bytes)
        };
        for offset in (0..global.size).filter(|offset| !in_relocation(*offset)) {
            let byte = global.bytes.get(offset as usize).copied().unwrap_or(0);
            let address = self.moved(base, offset as i64);
            let (held, byte) =
                (self.terms.load(memory, address, 1), self.terms.constant(8, u128::from(byte)));
            all.push(self.terms.equal(held, byte));
        }
        for relocation in &global.relocations {
            let target = match relocation.target {
                RelocationTarget::Global(target) => self.global(target),
                RelocationTarget::Function(target) => self.function(target),
            };
            let target = self.moved(target, relocation.addend);
            let address = self.moved(base, relocation.offset as i64);
            let held = self.load(memory, address, self.terms.pointer_bits);
            all.push(self.terms.equal(held, target));
        }
    }

    /// That objects have addresses, do not reach around the end of memory and do not overlap. Constants may overlap each
    /// other, because linkers merge them; of objects defined elsewhere nothing is said.
    fn layout(&mut self, globals: &[GlobalId], locals: &[usize], needed: &[bool], all: &mut Vec<Term>) {
        let defined = globals.iter().filter(|id| {
            let global = self.program.global(**id);
            global.linkage != Linkage::External && global.size > 0
        });
        let globals: Vec<(Term, u64, bool)> = defined
            .take(MAX_APART)
            .map(|id| (self.globals[id], self.program.global(*id).size, self.program.global(*id).constant))
            .collect();
        for (index, &(address, size, constant)) in globals.iter().enumerate() {
            all.extend(self.exists(address, size));
            for &(other, other_size, other_constant) in &globals[..index] {
                if !(constant && other_constant) {
                    all.push(self.apart((address, size), (other, other_size)));
                }
            }
        }
        for &index in locals {
            let LocalObject { address, size, ref apart_from } = self.locals[index];
            let mut others: Vec<(Term, u64)> = apart_from.clone();
            others.retain(|(other, _)| needed.get(other.0 as usize) == Some(&true));
            others.extend(globals.iter().map(|(address, size, _)| (*address, *size)));
            all.extend(self.exists(address, size));
            for other in others {
                all.push(self.apart((address, size), other));
            }
        }
    }

    /// Not even the address behind an object is 0.
    fn exists(&mut self, address: Term, size: u64) -> [Term; 2] {
        let (first, size) = (self.terms.address(FIRST_ADDRESS), self.terms.address(size));
        let last = self.terms.apply(Operator::BvNeg, &[size]);
        [
            self.terms.apply(Operator::BvUge, &[address, first]),
            self.terms.apply(Operator::BvUlt, &[address, last]),
        ]
    }

    fn apart(&mut self, one: (Term, u64), other: (Term, u64)) -> Term {
        let mut before = |(a, size): (Term, u64), b: Term| {
            let size = self.terms.address(size);
            let end = self.terms.apply(Operator::BvAdd, &[a, size]);
            self.terms.apply(Operator::BvUle, &[end, b])
        };
        let (left, right) = (before(one, other.0), before(other, one.0));
        self.terms.or(&[left, right])
    }

    /// This many bits at an address, the least significant byte first.
    pub(crate) fn load(&mut self, memory: Term, address: Term, bits: u32) -> Term {
        let value = self.terms.load(memory, address, bits.div_ceil(8));
        self.terms.resize(value, bits)
    }

    /// Memory with a value stored; bits that fill up its last byte are arbitrary.
    pub(crate) fn store(&mut self, memory: Term, address: Term, value: Term) -> Term {
        let bits = self.terms.bits(value);
        let filling = bits.div_ceil(8) * 8 - bits;
        let whole = if filling == 0 {
            value
        } else {
            let any = self.terms.fresh(Sort::Bits(filling));
            self.terms.apply(Operator::Concat, &[any, value])
        };
        let mut memory = memory;
        for index in 0..bits.div_ceil(8) {
            let byte = self.terms.apply(Operator::Extract { high: 8 * index + 7, low: 8 * index }, &[whole]);
            let address = self.moved(address, i64::from(index));
            memory = self.terms.store(memory, address, byte);
        }
        memory
    }
}
