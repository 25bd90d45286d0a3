//! Random well-formed programs, from a seed.
//!
//! Every kind of instruction, terminator, operand and table entry comes up. Operands are chosen among what is certainly
//! defined (parameters, results of the entry block, results earlier in the same block), so dominance holds by construction.

use model::{
    BinaryOp, Block, BlockId, Callee, CastOp, Condition, ConditionId, Decided, Decision, DecisionId,
    DecisionKind, FileId, FloatBinaryOp, FloatKind, FloatPredicate, Function, FunctionId, Gap, GapKind,
    Global, GlobalId, Instr, InstrId, Label, LabelValues, Layout, Linkage, Member, MemoryOp, Op, Operand,
    Position, Predicate, Program, RangeTest, Record, RecordId, Relocation, RelocationTarget, Shape,
    SourceFile, Span, SpanId, Statement, StatementKind, Storage, Switch, SwitchCase, SwitchId, Terminator,
    Type, Variable, VariableKind,
};

/// SplitMix64: enough chance for tests, and the same on every machine.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }
}

const N_GLOBALS: usize = 4;
const N_FUNCTIONS: usize = 4;
const N_SPANS: usize = 5;
const FLOATS: [FloatKind; 5] =
    [FloatKind::Half, FloatKind::Single, FloatKind::Double, FloatKind::X87, FloatKind::Quad];
const TYPES: [Type; 11] = [
    Type::Int(1),
    Type::Int(8),
    Type::Int(16),
    Type::Int(32),
    Type::Int(64),
    Type::Int(128),
    Type::Ptr,
    Type::Float(FloatKind::Single),
    Type::Float(FloatKind::Double),
    Type::Float(FloatKind::X87),
    Type::Record(RecordId(0)),
];

/// A well-formed program; the same one for the same seed.
pub fn program(seed: u64) -> Program {
    let mut rng = Rng(seed);
    let mut program = Program {
        pointer_bits: if rng.chance(3) { 32 } else { 64 },
        root: if rng.chance(4) { None } else { Some(FunctionId(0)) },
        records: vec![Record {
            size: 32,
            leaves: vec![(0, Type::Int(32)), (8, Type::Ptr), (16, Type::Float(FloatKind::Double))],
        }],
        ..Program::default()
    };
    places(&mut rng, &mut program);
    for index in 0..N_GLOBALS {
        let global = global(&mut rng, index, program.pointer_bits);
        program.globals.push(global);
    }
    let signatures: Vec<_> = (0..N_FUNCTIONS).map(|index| signature(&mut rng, index)).collect();
    for index in 0..N_FUNCTIONS {
        let mut function = signatures[index].clone();
        if index == 0 || rng.chance(2) {
            Builder {
                rng: &mut rng,
                program: &mut program,
                signatures: &signatures,
                id: FunctionId::new(index),
            }
            .body(&mut function);
        }
        program.functions.push(function);
    }
    gaps(&mut rng, &mut program);
    program
}

fn text(rng: &mut Rng) -> String {
    const CHARACTERS: [char; 12] = ['a', 'Z', ' ', '"', '\\', '\n', '\t', '\0', '\x7f', 'é', '\u{2028}', '/'];
    (0..rng.below(8)).map(|_| rng.pick(&CHARACTERS)).collect()
}

fn places(rng: &mut Rng, program: &mut Program) {
    for _ in 0..2 {
        program.files.push(SourceFile { path: text(rng), system: rng.chance(2) });
    }
    for _ in 0..N_SPANS {
        let mut position = || Position {
            file: FileId::new(rng.below(2)),
            line: rng.next() as u32,
            column: rng.next() as u32,
        };
        let (at, other) = (position(), position());
        program.spans.push(Span { at, spelled: if rng.chance(2) { Some(other) } else { None } });
    }
}

fn span(rng: &mut Rng) -> SpanId {
    SpanId::new(rng.below(N_SPANS))
}

fn maybe_span(rng: &mut Rng) -> Option<SpanId> {
    if rng.chance(2) { Some(span(rng)) } else { None }
}

fn global(rng: &mut Rng, index: usize, pointer_bits: u32) -> Global {
    let size = 8 * rng.below(5) as u64;
    let bytes = if rng.chance(2) { (0..size).map(|_| rng.next() as u8).collect() } else { Vec::new() };
    let mut relocations = Vec::new();
    for offset in (0..size).step_by(pointer_bits as usize / 8) {
        if rng.chance(3) {
            let target = if rng.chance(2) {
                RelocationTarget::Global(GlobalId::new(rng.below(N_GLOBALS)))
            } else {
                RelocationTarget::Function(FunctionId::new(rng.below(N_FUNCTIONS)))
            };
            relocations.push(Relocation {
                offset,
                target,
                addend: rng.pick(&[0, 4, -4, i64::MIN, i64::MAX]),
            });
        }
    }
    Global {
        name: format!("g{index}{}", text(rng)),
        linkage: rng.pick(&[Linkage::External, Linkage::Exported, Linkage::Internal]),
        constant: rng.chance(3),
        size,
        align: rng.pick(&[1, 2, 8, 64]),
        bytes,
        relocations,
    }
}

fn signature(rng: &mut Rng, index: usize) -> Function {
    Function {
        name: format!("f{index}{}", text(rng)),
        linkage: rng.pick(&[Linkage::External, Linkage::Exported, Linkage::Internal]),
        parameters: (0..rng.below(4)).map(|_| rng.pick(&TYPES)).collect(),
        variadic: rng.chance(3),
        result: if rng.chance(4) { Type::Void } else { rng.pick(&TYPES) },
        span: maybe_span(rng),
        no_return: rng.chance(5),
        returns_twice: rng.chance(5),
        generated: rng.chance(5),
        instrs: Vec::new(),
        blocks: Vec::new(),
    }
}

fn gaps(rng: &mut Rng, program: &mut Program) {
    for _ in 0..rng.below(3) {
        let kind = rng.pick(&[GapKind::InlineAssembly, GapKind::Vector, GapKind::Thread, GapKind::Input]);
        let function = if rng.chance(2) { Some(FunctionId(0)) } else { None };
        program.gaps.push(Gap { kind, function, span: maybe_span(rng), what: text(rng) });
    }
    let storage = Storage::Global(GlobalId::new(rng.below(N_GLOBALS)));
    let kind = rng.pick(&[VariableKind::Global, VariableKind::Static]);
    let (name, span, layout) = (text(rng), span(rng), layout(rng, 3));
    program.variables.push(Variable { name, kind, span, storage, layout });
}

/// A layout of at most so many levels.
fn layout(rng: &mut Rng, depth: usize) -> Layout {
    if depth == 0 || rng.chance(2) {
        return Layout::Whole;
    }
    if rng.chance(2) {
        let (length, stride) = (rng.below(9) as u64, rng.below(9) as u64);
        return Layout::Array { length, stride, element: Box::new(layout(rng, depth - 1)) };
    }
    let member = |rng: &mut Rng, number: usize| {
        let (name, offset, layout) = (text(rng), 8 * number as u64, layout(rng, depth - 1));
        Member { name, offset, size: 1 + rng.below(8) as u64, layout }
    };
    Layout::Structure((0..rng.below(4)).map(|number| member(rng, number)).collect())
}

struct Builder<'a> {
    rng: &'a mut Rng,
    program: &'a mut Program,
    signatures: &'a [Function],
    id: FunctionId,
}

impl Builder<'_> {
    fn body(&mut self, function: &mut Function) {
        let n_blocks = 2 + self.rng.below(5);
        let mut shared = Vec::new();
        for index in 0..n_blocks {
            let mut visible = shared.clone();
            let mut instrs = Vec::new();
            for _ in 0..2 + self.rng.below(8) {
                let (op, ty) = self.op(function, &visible);
                let id = InstrId::new(function.instrs.len());
                function.instrs.push(Instr { op, ty, span: maybe_span(self.rng) });
                visible.push(id);
                instrs.push(id);
            }
            let terminator = self.terminator(function, &visible, &mut instrs, n_blocks);
            if index == 0 {
                shared = visible;
            }
            function.blocks.push(Block { instrs, terminator, span: maybe_span(self.rng) });
        }
        self.phis(function, &shared);
        if self.rng.chance(3) {
            let op = Op::Freeze(Operand::Undefined(Type::Ptr));
            function.instrs.push(Instr { op, ty: Type::Ptr, span: None });
        }
        self.tables(function);
    }

    /// Phis in front of some blocks, with values of the entry block, which dominates all others.
    fn phis(&mut self, function: &mut Function, shared: &[InstrId]) {
        for index in 1..function.blocks.len() {
            if !self.rng.chance(3) {
                continue;
            }
            let ty = self.rng.pick(&TYPES);
            let mut incoming = Vec::new();
            for (from, block) in function.blocks() {
                let n_edges = block.terminator.successors().iter().filter(|to| to.index() == index).count();
                if n_edges > 0 {
                    let visible = if from.0 == 0 { &[] } else { shared };
                    let value = self.operand(function, ty, visible);
                    for _ in 0..1 + self.rng.below(n_edges) {
                        incoming.push((from, value));
                    }
                }
            }
            let id = InstrId::new(function.instrs.len());
            function.instrs.push(Instr { op: Op::Phi(incoming), ty, span: None });
            function.blocks[index].instrs.insert(0, id);
        }
    }

    fn tables(&mut self, function: &Function) {
        for (index, block) in function.blocks.iter().enumerate() {
            let position = self.rng.below(block.instrs.len() + 1) as u32;
            let code = if self.rng.chance(3) { None } else { Some((BlockId::new(index), position)) };
            let kind = self.rng.pick(&[StatementKind::Return, StatementKind::Other]);
            let text = self.rng.pick(&["", "n += 2", "return \"a\\\"\""]).to_owned();
            let (function, span) = (self.id, span(self.rng));
            self.program.statements.push(Statement { function, kind, span, code, text });
        }
        for (index, instr) in function.instrs.iter().enumerate() {
            if matches!(instr.op, Op::Alloca { .. }) {
                let kind = self.rng.pick(&[VariableKind::Local, VariableKind::Parameter(3)]);
                let storage = Storage::Stack(self.id, InstrId::new(index));
                let (name, span, layout) = (text(self.rng), span(self.rng), layout(self.rng, 3));
                self.program.variables.push(Variable { name, kind, span, storage, layout });
            }
        }
    }

    fn condition(&mut self) -> ConditionId {
        let decision = DecisionId::new(self.program.decisions.len());
        let fresh = |program: &mut Program, rng: &mut Rng| {
            let id = ConditionId::new(program.conditions.len());
            program.conditions.push(Condition { decision, span: span(rng), text: text(rng) });
            Box::new(Shape::Leaf(id))
        };
        let first = ConditionId::new(self.program.conditions.len());
        let leaf = fresh(self.program, self.rng);
        let shape = match self.rng.below(7) {
            0 => *leaf,
            1 => Shape::Not(leaf),
            2 => Shape::And(leaf, fresh(self.program, self.rng)),
            3 => Shape::Or(leaf, Box::new(Shape::Constant(self.rng.chance(2)))),
            4 => Shape::Ternary(leaf, fresh(self.program, self.rng), Box::new(Shape::Constant(true))),
            5 => Shape::Equal(Box::new(Shape::Not(leaf)), fresh(self.program, self.rng)),
            _ => Shape::Differ(fresh(self.program, self.rng), leaf),
        };
        const KINDS: [DecisionKind; 6] = [
            DecisionKind::If,
            DecisionKind::While,
            DecisionKind::DoWhile,
            DecisionKind::For,
            DecisionKind::Ternary,
            DecisionKind::Value,
        ];
        let (kind, place, text) = (self.rng.pick(&KINDS), span(self.rng), text(self.rng));
        self.program.decisions.push(Decision { function: self.id, span: place, kind, shape, text });
        first
    }

    fn operand(&mut self, function: &Function, ty: Type, visible: &[InstrId]) -> Operand {
        let mut choices = vec![Operand::Undefined(ty)];
        let typed = |id: &&InstrId| function.instr(**id).ty == ty;
        choices.extend(visible.iter().filter(typed).map(|id| Operand::Result(*id)));
        for (number, parameter) in function.parameters.iter().enumerate() {
            if *parameter == ty {
                choices.push(Operand::Parameter(number as u32));
            }
        }
        let random = u128::from(self.rng.next()) << 64 | u128::from(self.rng.next());
        match ty {
            Type::Int(bits) => {
                let mask = u128::MAX >> (128 - bits);
                for value in [random, 0, 1, 7, u128::MAX] {
                    choices.push(Operand::Int { bits, value: value & mask });
                }
            }
            Type::Float(kind) => {
                let mask = u128::MAX >> (128 - kind.bits());
                let one = if kind == FloatKind::Single { 0x3f80_0000 } else { 0x3ff0_0000_0000_0000 };
                for bits in [random & mask, 0, one & mask, mask] {
                    choices.push(Operand::Float { kind, bits });
                }
            }
            Type::Ptr => {
                let global = GlobalId::new(self.rng.below(N_GLOBALS));
                let offset = self.rng.pick(&[0, 4, 8, -1, i64::MIN]);
                choices.push(Operand::Null);
                choices.push(Operand::Global { global, offset });
                choices.push(Operand::Function(FunctionId::new(self.rng.below(N_FUNCTIONS))));
            }
            Type::Void | Type::Record(_) | Type::Opaque => {}
        }
        self.rng.pick(&choices)
    }

    fn op(&mut self, function: &Function, visible: &[InstrId]) -> (Op, Type) {
        let ty = self.rng.pick(&TYPES);
        let int = Type::Int(self.rng.pick(&[1, 8, 32, 64, 128]));
        let kind = self.rng.pick(&FLOATS);
        let float = Type::Float(kind);
        let mut take = |ty: Type| self.operand(function, ty, visible);
        let (pointer, second) = (take(Type::Ptr), take(Type::Ptr));
        let (value, other, bit) = (take(ty), take(ty), take(Type::Int(1)));
        let (left, right) = (take(int), take(int));
        let (float_left, float_right) = (take(float), take(float));
        let (record, length) = (take(Type::Record(RecordId(0))), take(Type::Int(64)));
        let (size, align) = (self.rng.below(40) as u64, self.rng.pick(&[1, 4, 16]));
        match self.rng.below(24) {
            0 | 1 => {
                let count = if self.rng.chance(2) { left } else { Operand::Int { bits: 32, value: 1 } };
                (Op::Alloca { size, align, count }, Type::Ptr)
            }
            2 | 3 => (Op::Load { address: pointer, volatile: self.rng.chance(4) }, ty),
            4 | 5 => (Op::Store { address: pointer, value, value_type: ty }, Type::Void),
            6 => (Op::Binary(self.rng.pick(&BINARY), left, right), int),
            7 => (Op::Compare(self.rng.pick(&PREDICATES), int, left, right), Type::Int(1)),
            8 => (Op::Compare(self.rng.pick(&PREDICATES), Type::Ptr, pointer, second), Type::Int(1)),
            9 => (Op::FloatBinary(self.rng.pick(&FLOAT_BINARY), float_left, float_right), float),
            10 => (Op::FloatNegate(float_left), float),
            11 => (
                Op::FloatCompare(self.rng.pick(&FLOAT_PREDICATES), kind, float_left, float_right),
                Type::Int(1),
            ),
            12 => self.cast(function, visible),
            13 => {
                let offset = self.rng.pick(&[0, 8, -8]);
                let indices = [(int, left, 4), (int, right, -1)];
                let indices = indices[..self.rng.below(3)].to_vec();
                (Op::Address { base: pointer, offset, indices }, Type::Ptr)
            }
            14 => (Op::Select { condition: bit, then: value, otherwise: other }, ty),
            15 | 16 => self.call(function, visible),
            17 => (Op::Mark { condition: self.condition(), value: bit }, Type::Int(1)),
            18 => {
                let leaf = self.rng.below(3) as u32;
                let ty = self.program.records[0].leaves[leaf as usize].1;
                (Op::Extract { record, record_type: RecordId(0), leaf }, ty)
            }
            19 => {
                let leaf = self.rng.below(3) as u32;
                let value_type = self.program.records[0].leaves[leaf as usize].1;
                let value = self.operand(function, value_type, visible);
                (Op::Insert { record, leaf, value, value_type }, Type::Record(RecordId(0)))
            }
            20 => {
                let op = self.rng.pick(&[MemoryOp::Copy, MemoryOp::Move, MemoryOp::Set]);
                let byte = self.operand(function, Type::Int(8), visible);
                let from = if op == MemoryOp::Set { byte } else { second };
                (Op::Memory { op, to: pointer, from, length }, Type::Void)
            }
            21 => (Op::Freeze(value), ty),
            22 => match self.rng.below(3) {
                0 => (Op::VaStart(pointer), Type::Void),
                1 => (Op::VaCopy { to: pointer, from: second }, Type::Void),
                _ => (Op::VaEnd(pointer), Type::Void),
            },
            _ => {
                let ty = self.rng.pick(&[Type::Opaque, Type::Void, ty]);
                (Op::Opaque { what: text(self.rng), operands: vec![pointer, value, left] }, ty)
            }
        }
    }

    fn cast(&mut self, function: &Function, visible: &[InstrId]) -> (Op, Type) {
        let double = Type::Float(FloatKind::Double);
        let (op, from, to) = self.rng.pick(&[
            (CastOp::Trunc, Type::Int(64), Type::Int(8)),
            (CastOp::Zext, Type::Int(1), Type::Int(32)),
            (CastOp::Sext, Type::Int(8), Type::Int(128)),
            (CastOp::PtrToInt, Type::Ptr, Type::Int(64)),
            (CastOp::IntToPtr, Type::Int(64), Type::Ptr),
            (CastOp::Bitcast, Type::Int(64), double),
            (CastOp::FloatTrunc, double, Type::Float(FloatKind::Single)),
            (CastOp::FloatExtend, Type::Float(FloatKind::Single), double),
            (CastOp::FloatToUnsigned, double, Type::Int(8)),
            (CastOp::FloatToSigned, double, Type::Int(64)),
            (CastOp::UnsignedToFloat, Type::Int(128), Type::Float(FloatKind::Single)),
            (CastOp::SignedToFloat, Type::Int(32), double),
        ]);
        (Op::Cast(op, from, self.operand(function, from, visible)), to)
    }

    fn call(&mut self, function: &Function, visible: &[InstrId]) -> (Op, Type) {
        let id = FunctionId::new(self.rng.below(N_FUNCTIONS));
        let signatures = self.signatures;
        let signature = &signatures[id.index()];
        let mut arguments = Vec::new();
        for ty in &signature.parameters {
            arguments.push((*ty, self.operand(function, *ty, visible)));
        }
        if signature.variadic && self.rng.chance(2) {
            arguments.push((Type::Int(32), self.operand(function, Type::Int(32), visible)));
        }
        let callee = if self.rng.chance(2) {
            Callee::Direct(id)
        } else {
            Callee::Indirect(self.operand(function, Type::Ptr, visible))
        };
        (Op::Call { callee, arguments }, signature.result)
    }

    fn terminator(
        &mut self,
        function: &mut Function,
        visible: &[InstrId],
        instrs: &mut Vec<InstrId>,
        n_blocks: usize,
    ) -> Terminator {
        // Nothing leads back to the entry.
        let block = |rng: &mut Rng| BlockId::new(1 + rng.below(n_blocks - 1));
        let condition = self.operand(function, Type::Int(1), visible);
        match self.rng.below(8) {
            0 => Terminator::Jump(block(self.rng)),
            1 | 2 => {
                let (then, otherwise) = (block(self.rng), block(self.rng));
                let mut decided = None;
                let mut condition = condition;
                if self.rng.chance(2) {
                    let marked = self.condition();
                    let id = InstrId::new(function.instrs.len());
                    let op = Op::Mark { condition: marked, value: condition };
                    function.instrs.push(Instr { op, ty: Type::Int(1), span: None });
                    instrs.push(id);
                    condition = Operand::Result(id);
                    decided = Some(Decided { condition: marked, negated: self.rng.chance(2) });
                }
                let range = (self.rng.chance(3)).then(|| RangeTest { switch: self.switch(), label: 1 });
                Terminator::Branch { condition, then, otherwise, decided, range }
            }
            3 | 4 => {
                let bits = self.rng.pick(&[8, 32, 64, 128]);
                let value = self.operand(function, Type::Int(bits), visible);
                let values = [0, 1, 0x7f, u128::MAX >> (128 - bits)];
                let n_cases = self.rng.below(5);
                let cases =
                    values[..n_cases].iter().map(|&value| SwitchCase { value, target: block(self.rng) });
                let (cases, default) = (cases.collect(), block(self.rng));
                let source = self.rng.chance(2).then(|| self.switch());
                Terminator::Switch { value, bits, cases, default, source }
            }
            5 => {
                let address = self.operand(function, Type::Ptr, visible);
                let targets = (0..self.rng.below(3)).map(|_| block(self.rng)).collect();
                Terminator::IndirectJump { address, targets }
            }
            6 => Terminator::Unreachable,
            _ if function.result == Type::Void => Terminator::Return(None),
            _ => Terminator::Return(Some(self.operand(function, function.result, visible))),
        }
    }

    fn switch(&mut self) -> SwitchId {
        let id = SwitchId::new(self.program.switches.len());
        let values = [
            LabelValues::Default,
            LabelValues::Range { low: -3, high: 900 },
            LabelValues::Range { low: 7, high: 7 },
        ];
        let labels =
            values.map(|values| Label { span: span(self.rng), values, text: text(self.rng) }).to_vec();
        let (place, text) = (span(self.rng), text(self.rng));
        self.program.switches.push(Switch { function: self.id, span: place, text, labels });
        id
    }
}

const BINARY: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Udiv,
    BinaryOp::Sdiv,
    BinaryOp::Urem,
    BinaryOp::Srem,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Lshr,
    BinaryOp::Ashr,
];

const FLOAT_BINARY: [FloatBinaryOp; 5] =
    [FloatBinaryOp::Add, FloatBinaryOp::Sub, FloatBinaryOp::Mul, FloatBinaryOp::Div, FloatBinaryOp::Rem];

const PREDICATES: [Predicate; 10] = [
    Predicate::Eq,
    Predicate::Ne,
    Predicate::Ult,
    Predicate::Ule,
    Predicate::Ugt,
    Predicate::Uge,
    Predicate::Slt,
    Predicate::Sle,
    Predicate::Sgt,
    Predicate::Sge,
];

const FLOAT_PREDICATES: [FloatPredicate; 16] = [
    FloatPredicate::False,
    FloatPredicate::Oeq,
    FloatPredicate::Ogt,
    FloatPredicate::Oge,
    FloatPredicate::Olt,
    FloatPredicate::Ole,
    FloatPredicate::One,
    FloatPredicate::Ord,
    FloatPredicate::Uno,
    FloatPredicate::Ueq,
    FloatPredicate::Ugt,
    FloatPredicate::Uge,
    FloatPredicate::Ult,
    FloatPredicate::Ule,
    FloatPredicate::Une,
    FloatPredicate::True,
];
