//! Which values does the code give each variable, and with which does it compare it?
//!
//! Method: without regard to the order of execution. A variable is a promoted local, a scalar of a global, a parameter or a
//! function's result; each gets the constants that are stored to it and those of the variables that are copied to it, until
//! nothing changes. What it is compared with goes to copies in both directions. Only guesses are made of this, so a store
//! through a pointer may be missed. Limit: results of arithmetic have any value.

use std::collections::{BTreeMap, BTreeSet};

use model::{CastOp, FunctionId, GlobalId, InstrId, Op, Operand, Predicate, Program, Terminator, Type};

use crate::locals::Locals;
use crate::terms::{ones, signed};

/// Constants of one variable at most; with more, its values are not listed.
const MAX_VALUES: usize = 24;
/// Constants that one variable is compared with at most.
const MAX_COMPARED: usize = 16;
/// Operations that are looked through for where a value comes from.
const MAX_STEPS: usize = 8;

/// Something with a value, in all activations of its function alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variable {
    Local(FunctionId, InstrId),
    /// At an offset in bytes.
    Global(GlobalId, u64),
    Parameter(FunctionId, u32),
    Result(FunctionId),
}

/// What a variable may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Domain {
    pub(crate) constants: BTreeSet<u128>,
    /// Whether something else is stored, too.
    pub(crate) is_open: bool,
    /// What it is compared with.
    pub(crate) compared: BTreeSet<u128>,
}

impl Domain {
    /// All its values, if they are few and known.
    pub(crate) fn members(&self) -> Option<&BTreeSet<u128>> {
        (!self.is_open && (1..=MAX_VALUES).contains(&self.constants.len())).then_some(&self.constants)
    }
}

/// Where a stored value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Constant(u128),
    Copy(Variable, Change),
    Anything,
}

/// How the value of a variable is changed when it is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    /// From so many bits to so many.
    SignExtended(u32, u32),
    Truncated(u32),
}

impl Change {
    fn apply(self, value: u128) -> u128 {
        match self {
            Self::None => value,
            Self::SignExtended(from, to) => signed(value, from) as u128 & ones(to),
            Self::Truncated(to) => value & ones(to),
        }
    }
}

/// The variables of some functions.
pub(crate) struct Domains {
    of: BTreeMap<Variable, Domain>,
    /// Variables that are compared with each other, and how.
    pub(crate) relations: BTreeSet<(Variable, Variable, IsSigned)>,
}

/// Whether a comparison takes its operands as signed numbers.
pub(crate) type IsSigned = bool;

impl Domains {
    /// The variables of these functions, of which the first call is one of the entry with any parameters.
    pub(crate) fn of(program: &Program, entry: FunctionId, functions: &BTreeSet<FunctionId>) -> Self {
        let mut domains = Self { of: BTreeMap::new(), relations: BTreeSet::new() };
        let mut copies: Vec<(Variable, Variable, Change)> = Vec::new();
        for &function in functions {
            let locals = Locals::of(program, program.function(function));
            Reader { program, functions, function, locals }.read(&mut domains, &mut copies);
        }
        for number in 0..program.function(entry).parameters.len() as u32 {
            domains.entry(Variable::Parameter(entry, number)).is_open = true;
        }
        for (variable, domain) in &mut domains.of {
            if let Variable::Global(global, offset) = variable {
                domain.constants.extend(initial(program, *global, *offset));
            }
        }
        domains.spread(&copies);
        domains
    }

    /// What is known of a variable; nothing is stored to one that no code mentions.
    pub(crate) fn get(&self, variable: Variable) -> Domain {
        self.of.get(&variable).cloned().unwrap_or_default()
    }

    fn entry(&mut self, variable: Variable) -> &mut Domain {
        self.of.entry(variable).or_default()
    }

    /// Follows copies until nothing changes.
    fn spread(&mut self, copies: &[(Variable, Variable, Change)]) {
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for &(to, from, change) in copies {
                let (source, mut target) = (self.get(from), self.get(to));
                let before = target.clone();
                target.constants.extend(source.constants.iter().map(|value| change.apply(*value)));
                target.is_open |= source.is_open || target.constants.len() > MAX_VALUES;
                if target.is_open {
                    target.constants = before.constants.clone(); // they say nothing any more
                }
                let mut source_compared = source.compared.clone();
                if change == Change::None {
                    join(&mut target.compared, &source.compared);
                    join(&mut source_compared, &target.compared);
                }
                if source_compared != source.compared {
                    self.entry(from).compared = source_compared;
                    is_changed = true;
                }
                if target != before {
                    *self.entry(to) = target;
                    is_changed = true;
                }
            }
        }
    }
}

fn join(to: &mut BTreeSet<u128>, from: &BTreeSet<u128>) {
    for value in from {
        if to.len() < MAX_COMPARED {
            to.insert(*value);
        }
    }
}

/// What a global holds before anything is stored; its own scalar begins at the offset and is as wide as what is read there.
fn initial(program: &Program, global: GlobalId, offset: u64) -> Option<u128> {
    let description = program.global(global);
    let bytes = description.size.checked_sub(offset)?.min(4);
    let value = (offset..offset + bytes).rev().fold(0, |value: u128, at| {
        value << 8 | u128::from(description.bytes.get(at as usize).copied().unwrap_or(0))
    });
    Some(value)
}

/// Reads the code of a function.
struct Reader<'p> {
    program: &'p Program,
    functions: &'p BTreeSet<FunctionId>,
    function: FunctionId,
    locals: Locals,
}

impl Reader<'_> {
    fn read(&self, domains: &mut Domains, copies: &mut Vec<(Variable, Variable, Change)>) {
        let code = self.program.function(self.function);
        let mut store = |to: Variable, sources: Vec<Source>| {
            for source in sources {
                match source {
                    Source::Constant(value) => _ = domains.entry(to).constants.insert(value),
                    Source::Copy(from, change) => copies.push((to, from, change)),
                    Source::Anything => domains.entry(to).is_open = true,
                }
            }
        };
        for instr in &code.instrs {
            match &instr.op {
                Op::Store { address, value, .. } => {
                    if let Some(to) = self.variable(*address) {
                        store(to, self.sources(*value, MAX_STEPS));
                    }
                }
                Op::Call { callee: model::Callee::Direct(callee), arguments } => {
                    for (number, (_, argument)) in (0..).zip(arguments) {
                        store(Variable::Parameter(*callee, number), self.sources(*argument, MAX_STEPS));
                    }
                }
                _ => {}
            }
        }
        for block in &code.blocks {
            if let Terminator::Return(Some(value)) = block.terminator {
                store(Variable::Result(self.function), self.sources(value, MAX_STEPS));
            }
        }
        self.comparisons(domains);
    }

    fn comparisons(&self, domains: &mut Domains) {
        let code = self.program.function(self.function);
        let mut compare = |variable: Variable, value: u128| {
            let compared = &mut domains.entry(variable).compared;
            if compared.len() < MAX_COMPARED {
                compared.insert(value);
            }
        };
        let mut relations = Vec::new();
        for instr in &code.instrs {
            let Op::Compare(predicate, ty, left, right) = &instr.op else { continue };
            if *ty == Type::Ptr {
                continue;
            }
            match (self.read_from(*left), self.read_from(*right)) {
                (Some(one), Some(other)) => relations.push((one, other, is_signed(*predicate))),
                (Some(variable), None) | (None, Some(variable)) => {
                    for operand in [left, right] {
                        if let Operand::Int { value, .. } = operand {
                            compare(variable, *value);
                        }
                    }
                }
                (None, None) => {}
            }
        }
        for block in &code.blocks {
            if let Terminator::Switch { value, cases, .. } = &block.terminator
                && let Some(variable) = self.read_from(*value)
            {
                cases.iter().for_each(|case| compare(variable, case.value));
            }
        }
        domains.relations.extend(relations);
    }

    /// The variable at an address.
    fn variable(&self, address: Operand) -> Option<Variable> {
        match address {
            Operand::Global { global, offset } => Some(Variable::Global(global, u64::try_from(offset).ok()?)),
            Operand::Result(id) if self.locals.promoted.contains_key(&id) => {
                Some(Variable::Local(self.function, id))
            }
            Operand::Result(id) => match &self.program.function(self.function).instr(id).op {
                Op::Address { base: Operand::Global { global, offset: first }, offset, indices }
                    if indices.is_empty() =>
                {
                    Some(Variable::Global(*global, u64::try_from(first + offset).ok()?))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The variable whose value, unchanged, this is.
    fn read_from(&self, operand: Operand) -> Option<Variable> {
        match self.sources(operand, 1)[..] {
            [Source::Copy(variable, Change::None)] => Some(variable),
            _ => None,
        }
    }

    fn sources(&self, operand: Operand, depth: usize) -> Vec<Source> {
        let id = match operand {
            Operand::Int { value, .. } => return vec![Source::Constant(value)],
            Operand::Null => return vec![Source::Constant(0)],
            Operand::Parameter(number) => {
                return vec![Source::Copy(Variable::Parameter(self.function, number), Change::None)];
            }
            Operand::Result(id) => id,
            Operand::Float { .. } | Operand::Global { .. } | Operand::Function(_) | Operand::Undefined(_) => {
                return vec![Source::Anything];
            }
        };
        let instr = self.program.function(self.function).instr(id);
        let deeper = |operands: &[Operand]| match depth.checked_sub(1) {
            Some(depth) => operands.iter().flat_map(|operand| self.sources(*operand, depth)).collect(),
            None => vec![Source::Anything],
        };
        match &instr.op {
            Op::Load { address, volatile: false } => match self.variable(*address) {
                Some(variable) => vec![Source::Copy(variable, Change::None)],
                None => vec![Source::Anything],
            },
            Op::Phi(edges) => deeper(&edges.iter().map(|(_, value)| *value).collect::<Vec<_>>()),
            Op::Select { then, otherwise, .. } => deeper(&[*then, *otherwise]),
            Op::Freeze(value) => deeper(&[*value]),
            Op::Compare(..) | Op::Mark { .. } | Op::FloatCompare(..) => {
                vec![Source::Constant(0), Source::Constant(1)]
            }
            Op::Call { callee: model::Callee::Direct(callee), .. } if self.functions.contains(callee) => {
                vec![Source::Copy(Variable::Result(*callee), Change::None)]
            }
            Op::Cast(op, Type::Int(from), value) => {
                let Type::Int(to) = instr.ty else { return vec![Source::Anything] };
                let change = match op {
                    CastOp::Zext => Change::None,
                    CastOp::Sext => Change::SignExtended(*from, to),
                    CastOp::Trunc => Change::Truncated(to),
                    _ => return vec![Source::Anything],
                };
                let changed = |source: Source| match source {
                    Source::Constant(value) => Source::Constant(change.apply(value)),
                    Source::Copy(variable, Change::None) => Source::Copy(variable, change),
                    Source::Copy(..) | Source::Anything => Source::Anything,
                };
                deeper(&[*value]).into_iter().map(changed).collect()
            }
            _ => vec![Source::Anything],
        }
    }
}

fn is_signed(predicate: Predicate) -> IsSigned {
    match predicate {
        Predicate::Ult | Predicate::Ule | Predicate::Ugt | Predicate::Uge => false,
        Predicate::Eq | Predicate::Ne | Predicate::Slt | Predicate::Sle | Predicate::Sgt | Predicate::Sge => {
            true
        }
    }
}
