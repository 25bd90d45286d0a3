//! Random programs for tests: a few functions that call each other.

use model::{
    Block, BlockId, Callee, Function, FunctionId, Instr, InstrId, Op, Operand, Program, Terminator, Type,
};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    Nothing,
    Call(u32),
    /// Any function whose address is taken.
    CallAny,
    /// Code that is not known.
    CallUnknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    Jump(u32),
    Branch(u32, u32),
    Return,
}

pub(crate) type Blocks = Vec<(Vec<Do>, To)>;

pub(crate) fn program(functions: &[Blocks]) -> Program {
    let mut program = Program { root: Some(FunctionId(0)), pointer_bits: 64, ..Program::default() };
    // the last stands for code that is not known
    for (number, blocks) in functions.iter().chain([&Blocks::new()]).enumerate() {
        let mut instrs = Vec::new();
        let blocks = blocks.iter().map(|(code, to)| block(functions.len(), code, *to, &mut instrs)).collect();
        program.functions.push(Function::procedure(format!("f{number}"), instrs, blocks));
    }
    program
}

fn block(n_functions: usize, code: &[Do], to: To, instrs: &mut Vec<Instr>) -> Block {
    let mut ids = Vec::new();
    for doing in code {
        let op = match doing {
            // every function but the root has its address taken wherever nothing happens
            Do::Nothing => Op::Opaque {
                what: "nothing".to_owned(),
                operands: (1..n_functions).map(|index| Operand::Function(FunctionId::new(index))).collect(),
            },
            Do::Call(callee) => {
                Op::Call { callee: Callee::Direct(FunctionId(*callee)), arguments: Vec::new() }
            }
            Do::CallUnknown => {
                let callee = Callee::Direct(FunctionId::new(n_functions));
                Op::Call { callee, arguments: Vec::new() }
            }
            Do::CallAny => Op::Call { callee: Callee::Indirect(Operand::Null), arguments: Vec::new() },
        };
        instrs.push(Instr { op, ty: Type::Void, span: None });
        ids.push(InstrId::new(instrs.len() - 1));
    }
    let condition = Operand::Undefined(Type::Int(1));
    let terminator = match to {
        To::Jump(to) => Terminator::Jump(BlockId(to)),
        To::Branch(then, otherwise) => {
            let (then, otherwise) = (BlockId(then), BlockId(otherwise));
            Terminator::Branch { condition, then, otherwise, decided: None, range: None }
        }
        To::Return => Terminator::Return(None),
    };
    Block { instrs: ids, terminator, span: None }
}

fn blocks(n_functions: u32) -> impl Strategy<Value = Blocks> {
    let doing = prop_oneof![
        9 => Just(Do::Nothing),
        5 => (1..=n_functions).prop_map(Do::Call),
        1 => Just(Do::CallAny),
        1 => Just(Do::CallUnknown),
    ];
    let to = prop_oneof![
        2 => (0..9_u32).prop_map(To::Jump),
        4 => (0..9_u32, 0..9_u32).prop_map(|(then, otherwise)| To::Branch(then, otherwise)),
        3 => Just(To::Return),
    ];
    prop::collection::vec((prop::collection::vec(doing, 1..4), to), 2..4)
}

/// Up to three functions; names of blocks and functions are brought into range.
pub(crate) fn any_program() -> impl Strategy<Value = Vec<Blocks>> {
    prop::collection::vec(blocks(3), 2..4).prop_map(|mut functions| {
        let n_functions = u32::try_from(functions.len()).expect("few");
        for blocks in &mut functions {
            let n_blocks = u32::try_from(blocks.len()).expect("few");
            // most functions shall come back
            blocks.last_mut().expect("there are blocks").1 = To::Return;
            for (code, to) in blocks {
                for doing in code {
                    if let Do::Call(callee) = doing {
                        *callee %= n_functions;
                    }
                }
                match to {
                    To::Jump(to) => *to %= n_blocks,
                    To::Branch(then, otherwise) => {
                        (*then, *otherwise) = (*then % n_blocks, *otherwise % n_blocks)
                    }
                    To::Return => {}
                }
            }
        }
        functions
    })
}
