//! Programs built by hand and an executor that plays them, for tests without a compiler.

use std::time::Duration;

use coverage::{Coverage, Scope, criterion_named};
use model::input::{Input, Key};
use model::{
    Block, BlockId, Condition, ConditionId, Decided, Decision, DecisionId, DecisionKind, Function,
    FunctionId, Instr, InstrId, Op, Operand, Program, Shape, Span, SpanId, SwitchCase, Terminator, Type,
};
use wire::{CELL_SIZE, Flags, Marks, NODE_SIZE};

use crate::executor::{Cells, End, Execution, Executor, ExecutorError, Nodes, Output};

/// Wire numbers of the operations that tests use.
pub(crate) const ADD: u8 = 3;
pub(crate) const EQ: u8 = 16;
pub(crate) const ULT: u8 = 18;

/// How a block of a test program ends.
pub(crate) enum To {
    /// A condition of its own decides between two blocks.
    If(u32, u32),
    /// A switch over these values, the default last.
    Switch(Vec<(u128, u32)>, u32),
    Return,
}

/// A program of one function whose blocks end like this; conditions are numbered in order of blocks.
pub(crate) fn program(blocks: Vec<To>) -> Program {
    let mut program = Program { root: Some(FunctionId(0)), pointer_bits: 64, ..Program::default() };
    let mut instrs = Vec::new();
    let blocks = blocks.into_iter().map(|to| {
        let mut ids = Vec::new();
        let terminator = match to {
            To::If(then, otherwise) => {
                let condition = add_decision(&mut program);
                let value = Operand::Undefined(Type::Int(1));
                instrs.push(Instr { op: Op::Mark { condition, value }, ty: Type::Int(1), span: None });
                ids.push(InstrId::new(instrs.len() - 1));
                Terminator::Branch {
                    condition: Operand::Result(InstrId::new(instrs.len() - 1)),
                    then: BlockId(then),
                    otherwise: BlockId(otherwise),
                    decided: Some(Decided { condition, negated: false }),
                    range: None,
                }
            }
            To::Switch(cases, default) => Terminator::Switch {
                value: Operand::Undefined(Type::Int(8)),
                bits: 8,
                cases: cases
                    .into_iter()
                    .map(|(value, to)| SwitchCase { value, target: BlockId(to) })
                    .collect(),
                default: BlockId(default),
                source: None,
            },
            To::Return => Terminator::Return(None),
        };
        Block { instrs: ids, terminator, span: None }
    });
    let blocks = blocks.collect();
    program.functions.push(Function::procedure("f", instrs, blocks));
    program
}

fn add_decision(program: &mut Program) -> ConditionId {
    let (span, index) = (SpanId::new(program.spans.len()), program.decisions.len());
    let at = model::Position { file: model::FileId(0), line: 1, column: 1 };
    if program.files.is_empty() {
        program.files.push(model::SourceFile { path: "f.c".to_owned(), system: false });
    }
    program.spans.push(Span { at, spelled: None });
    let condition = ConditionId::new(index);
    program.decisions.push(Decision {
        function: FunctionId(0),
        span,
        kind: DecisionKind::If,
        shape: Shape::Leaf(condition),
        text: format!("c{index}"),
    });
    program.conditions.push(Condition { decision: DecisionId::new(index), span, text: format!("c{index}") });
    condition
}

/// The branch goals of a test program.
pub(crate) fn branch_goals(program: &Program) -> Coverage {
    let criteria = [criterion_named("branch").expect("known")];
    Coverage::new(program, &Scope::whole(program), &criteria)
}

/// A value with the node that stands for it, 0 when concrete.
#[derive(Clone, Copy)]
pub(crate) struct Sym {
    pub(crate) value: u64,
    pub(crate) node: u32,
    pub(crate) width: u8,
}

/// What a played run writes to its memory.
#[derive(Default)]
pub(crate) struct Machine {
    input: Input,
    pub(crate) cells: Vec<u8>,
    pub(crate) nodes: Vec<u8>,
    pub(crate) log: Vec<u8>,
    pub(crate) printed: Vec<u8>,
}

impl Machine {
    pub(crate) fn new(input: &Input) -> Self {
        Self { input: input.clone(), nodes: vec![0; NODE_SIZE], ..Self::default() }
    }

    pub(crate) fn cell(&mut self, key: u64, width: u8) -> Sym {
        let value = self.input.values.get(&Key(key)).copied().unwrap_or(0);
        let cell = u32::try_from(self.cells.len() / CELL_SIZE).expect("few cells");
        let node = self.push(2, width, 0, cell, 0);
        self.cells.extend(key.to_le_bytes());
        self.cells.extend(value.to_le_bytes());
        self.cells.extend(node.to_le_bytes());
        self.cells.extend(u32::from(width).to_le_bytes());
        self.cells.extend([0; 8]);
        Sym { value, node, width }
    }

    pub(crate) fn push(&mut self, op: u8, width: u8, aux: u16, a: u32, imm: u64) -> u32 {
        let id = u32::try_from(self.nodes.len() / NODE_SIZE).expect("few nodes");
        self.nodes.extend([op, width]);
        self.nodes.extend(aux.to_le_bytes());
        self.nodes.extend(a.to_le_bytes());
        self.nodes.extend(imm.to_le_bytes());
        id
    }

    pub(crate) fn add(&mut self, a: Sym, b: Sym) -> Sym {
        let node = self.push(ADD, a.width, 0, a.node, u64::from(b.node));
        Sym { value: a.value.wrapping_add(b.value) & ((1 << a.width) - 1), node, width: a.width }
    }

    /// `a == constant`, logged as the outcome of the present condition.
    pub(crate) fn equals(&mut self, a: Sym, constant: u64) -> bool {
        let node = self.push(EQ, 1, 1, a.node, constant);
        self.outcome(a.value == constant, node)
    }

    /// `a < b`, logged as the outcome of the present condition.
    pub(crate) fn less(&mut self, a: Sym, b: Sym) -> bool {
        let node = self.push(ULT, 1, 0, a.node, u64::from(b.node));
        self.outcome(a.value < b.value, node)
    }

    pub(crate) fn outcome(&mut self, taken: bool, node: u32) -> bool {
        self.log.push(u8::from(taken) | if node == 0 { 0 } else { 2 });
        if node != 0 {
            self.log.extend(node.to_le_bytes());
        }
        taken
    }

    pub(crate) fn case(&mut self, case: u8, node: u32) {
        self.log.extend([5, case]);
        self.log.extend(node.to_le_bytes());
    }

    pub(crate) fn pin(&mut self, a: Sym) {
        self.log.push(9);
        self.log.extend(a.node.to_le_bytes());
        self.log.extend(a.value.to_le_bytes());
        self.log.push(0);
    }

    /// A truth value that was true: an access at this span lies within its object.
    pub(crate) fn within(&mut self, node: u32, place: u8) {
        self.log.push(14);
        self.log.extend(node.to_le_bytes());
        self.log.push((place + 1) << 1);
    }

    /// A pointer that is followed.
    pub(crate) fn pointer(&mut self, a: Sym) {
        self.log.push(16);
        self.log.extend(a.node.to_le_bytes());
        self.log.extend(a.value.to_le_bytes());
        self.log.push(0);
    }

    /// An access goes outside of its object.
    pub(crate) fn outside(&mut self) {
        self.log.push(18);
    }

    pub(crate) fn execution<'m>(&'m self, end: End, output: &'m Output) -> Execution<'m> {
        Execution {
            end,
            marks: Marks::default(),
            outside: if let End::OutOfBounds(outside) = end { Some(outside) } else { None },
            cells: Cells::new(&self.cells),
            nodes: Nodes::new(&self.nodes),
            log: &self.log,
            output,
            wall: Duration::ZERO,
            in_reused_process: false,
        }
    }
}

/// Plays a program written in Rust.
pub(crate) struct Player {
    play: fn(&mut Machine) -> End,
    newest: Option<(Machine, End, Output)>,
}

impl Player {
    pub(crate) fn boxed(play: fn(&mut Machine) -> End) -> Box<dyn Executor + Send> {
        Box::new(Self { play, newest: None })
    }
}

impl Executor for Player {
    fn execute(&mut self, input: &Input, _: Flags, _: Duration) -> Result<Execution<'_>, ExecutorError> {
        let mut machine = Machine::new(input);
        let end = (self.play)(&mut machine);
        let output = Output { stdout: machine.printed.clone(), ..Output::default() };
        self.newest = Some((machine, end, output));
        Ok(self.newest().expect("just played"))
    }

    fn newest(&self) -> Option<Execution<'_>> {
        let (machine, end, output) = self.newest.as_ref()?;
        Some(machine.execution(*end, output))
    }
}
