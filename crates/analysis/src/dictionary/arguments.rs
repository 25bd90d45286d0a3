//! Which values are the number of arguments, the vector of arguments, or one of them?
//!
//! Method: from the parameters of `main` through the variables that they are stored in, and through calls into the parameters of other
//! functions, until nothing changes. What is stored into a variable anywhere counts for all loads of it. Limit: what a
//! program copies out of an argument is not followed.

use std::collections::BTreeMap;

use model::{BinaryOp, Callee, FunctionId, GlobalId, InstrId, Op, Operand, Program};

/// How often a value is passed on at most, so that a counter does not run away.
const ROUNDS: usize = 8;
/// How much may be taken from the number of arguments.
const MOST_LESS: i64 = 4;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// `argc`, less this.
    Count { less: i64 },
    /// `argv`, or a place in it.
    Vector,
    /// An argument, or a place in it.
    Argument,
}

/// Where a value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Variable {
    Parameter(FunctionId, u32),
    Local(FunctionId, InstrId),
    Global(GlobalId),
}

pub(super) struct Arguments<'p> {
    program: &'p Program,
    known: BTreeMap<Variable, Carried>,
}

impl<'p> Arguments<'p> {
    pub(super) fn of(program: &'p Program) -> Self {
        let mut arguments = Self { program, known: BTreeMap::new() };
        if let Some(main) = program.function_named("main") {
            arguments.known.insert(Variable::Parameter(main, 0), Carried::Count { less: 0 });
            arguments.known.insert(Variable::Parameter(main, 1), Carried::Vector);
        }
        for (index, global) in program.globals.iter().enumerate() {
            if global.name == "optarg" {
                arguments.known.insert(Variable::Global(GlobalId::new(index)), Carried::Argument);
            }
        }
        for _ in 0..ROUNDS {
            if !arguments.pass_on() {
                break;
            }
        }
        arguments
    }

    /// What a value of a function is, if it is one of these.
    pub(super) fn of_value(&self, function: FunctionId, value: Operand) -> Option<Carried> {
        match value {
            Operand::Parameter(number) => self.known.get(&Variable::Parameter(function, number)).copied(),
            Operand::Result(id) => match &self.program.function(function).instr(id).op {
                Op::Load { address, .. } => match self.variable(function, *address) {
                    Some(variable) => self.known.get(&variable).copied(),
                    None => match self.of_value(function, *address)? {
                        Carried::Vector => Some(Carried::Argument),
                        Carried::Count { .. } | Carried::Argument => None,
                    },
                },
                Op::Address { base, .. } => {
                    self.of_value(function, *base).filter(|it| !matches!(it, Carried::Count { .. }))
                }
                Op::Cast(_, _, from) | Op::Freeze(from) => self.of_value(function, *from),
                Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), from, by) => {
                    let Carried::Count { less } = self.of_value(function, *from)? else { return None };
                    let by = super::signed(self.program.function(function).instr(id).ty, *by)?;
                    let less = if *op == BinaryOp::Sub { less + by } else { less - by };
                    (less.abs() <= MOST_LESS).then_some(Carried::Count { less })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The variable that an address is of.
    fn variable(&self, function: FunctionId, address: Operand) -> Option<Variable> {
        match address {
            Operand::Global { global, offset: 0 } => Some(Variable::Global(global)),
            Operand::Result(id) => {
                let is_local = matches!(self.program.function(function).instr(id).op, Op::Alloca { .. });
                is_local.then_some(Variable::Local(function, id))
            }
            _ => None,
        }
    }

    /// Stores and calls once; whether that was news.
    fn pass_on(&mut self) -> bool {
        let mut news: Vec<(Variable, Carried)> = Vec::new();
        for (index, function) in self.program.functions.iter().enumerate() {
            let id = FunctionId::new(index);
            for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
                match &function.instr(*instr).op {
                    Op::Store { address, value, .. } => {
                        let carried = self.of_value(id, *value);
                        news.extend(self.variable(id, *address).zip(carried));
                    }
                    Op::Call { callee: Callee::Direct(callee), arguments } => {
                        for ((_, argument), number) in arguments.iter().zip(0..) {
                            let carried = self.of_value(id, *argument);
                            news.extend(carried.map(|it| (Variable::Parameter(*callee, number), it)));
                        }
                    }
                    _ => {}
                }
            }
        }
        let n_before = self.known.len();
        for (variable, carried) in news {
            // the first word counts: `argc--` is still the number of arguments
            self.known.entry(variable).or_insert(carried);
        }
        self.known.len() != n_before
    }
}
