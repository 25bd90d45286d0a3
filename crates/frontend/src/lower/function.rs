//! One function's code: blocks in LLVM's order, each instruction under an id that is fixed before lowering starts.
//!
//! Ids come first because a phi, or a block placed before its dominator, names results that are lowered later.
//! Instructions that lowering adds (parts of constants, expansions) take ids after those.

use std::collections::HashMap;

use model::{Block, BlockId, FunctionId, GapKind, Instr, InstrId, MemoryOp, Op, Operand, Terminator, Type};

use super::{
    call::is_dropped,
    constant::{Step, gep_steps, symbolic_address},
    context::Context,
    source::InstructionOrigin,
    terminator::SwitchCode,
};
use crate::llvm::{self, AttributePlace, Ir, LLVMOpcode, Value};

/// The function being lowered.
pub(crate) struct Code<'c, 'm, 'a> {
    pub(crate) cx: &'c mut Context<'m, 'a>,
    pub(crate) id: FunctionId,
    pub(crate) function: Value<'m>,
    ids: HashMap<Value<'m>, InstrId>,
    parameters: HashMap<Value<'m>, Operand>,
    instrs: Vec<Option<Instr>>,
    lists: Vec<Vec<InstrId>>,
    /// Where instructions are added now.
    block: BlockId,
    pub(crate) place: InstructionOrigin,
    lines: Vec<CodeLine>,
    pub(crate) switches: SwitchCode<'m>,
}

/// A line of the unit's text that code comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeLine {
    pub(crate) line: u32,
    pub(crate) block: BlockId,
    /// Position in the block; `None` for the terminator.
    pub(crate) position: Option<u32>,
}

/// A function's code and where it comes from.
pub(crate) struct FunctionCode {
    pub(crate) instrs: Vec<Instr>,
    pub(crate) blocks: Vec<Block>,
    /// In code order.
    pub(crate) lines: Vec<CodeLine>,
}

/// Lowers the code of a defined function.
pub(crate) fn lower_code<'m>(
    cx: &mut Context<'m, '_>,
    function: Value<'m>,
    switches: SwitchCode<'m>,
) -> FunctionCode {
    let id = cx.functions[&function];
    let ids: HashMap<_, _> = function
        .blocks()
        .into_iter()
        .flat_map(llvm::Block::instructions)
        .filter(|instruction| has_id(*instruction))
        .enumerate()
        .map(|(number, instruction)| (instruction, InstrId::new(number)))
        .collect();
    let blocks: Vec<_> = function.blocks();
    let mut code = Code {
        instrs: vec![None; ids.len()],
        lists: vec![Vec::new(); blocks.len()],
        cx,
        id,
        function,
        ids,
        parameters: HashMap::new(),
        block: BlockId(0),
        place: InstructionOrigin::default(),
        lines: Vec::new(),
        switches,
    };
    code.take_parameters();
    let terminators: Vec<_> =
        blocks.iter().enumerate().map(|(number, block)| code.block(BlockId::new(number), *block)).collect();
    code.complete_phis();
    code.declare_variables();
    code.finish(terminators)
}

/// The instructions of each function in the order of their ids; those that lowering adds come behind.
pub(crate) fn numbered<'m>(ir: &Ir<'m>) -> Vec<(String, Vec<Value<'m>>)> {
    let of = |function: Value<'m>| {
        let instructions =
            function.blocks().into_iter().flat_map(llvm::Block::instructions).filter(|of| has_id(*of));
        (function.name(), instructions.collect())
    };
    ir.functions().into_iter().map(of).collect()
}

/// Whether the instruction stands in the model under its own id.
fn has_id(instruction: Value<'_>) -> bool {
    !is_terminator(instruction) && !is_dropped(instruction)
}

impl<'m> Code<'_, 'm, '_> {
    /// A structure passed by value in memory is the callee's own copy; the model makes the copy visible.
    fn take_parameters(&mut self) {
        for (number, parameter) in self.function.parameters().into_iter().enumerate() {
            let given = Operand::Parameter(number as u32);
            let copied = match self.function.type_attribute(AttributePlace::Parameter(number as u32), "byval")
            {
                Some(ty) => {
                    let size = self.cx.ir.allocation_size(ty);
                    let align = self.cx.ir.align(ty);
                    let count = Operand::Int { bits: 32, value: 1 };
                    let copy = self.emit(Op::Alloca { size, align, count }, Type::Ptr);
                    let length = Operand::Int { bits: self.cx.ir.pointer_bits(), value: size.into() };
                    self.emit(Op::Memory { op: MemoryOp::Copy, to: copy, from: given, length }, Type::Void);
                    copy
                }
                None => given,
            };
            self.parameters.insert(parameter, copied);
        }
    }

    fn block(&mut self, id: BlockId, block: llvm::Block<'m>) -> Terminator {
        self.block = id;
        let mut terminator = Terminator::Unreachable;
        for instruction in block.instructions() {
            self.place = self.cx.source.place(instruction);
            if is_terminator(instruction) {
                terminator = self.terminator(instruction);
                self.note_line(None);
            } else if !is_dropped(instruction) {
                self.instruction(instruction);
            }
        }
        terminator
    }

    fn note_line(&mut self, position: Option<u32>) {
        if self.place.line != 0 {
            self.lines.push(CodeLine { line: self.place.line, block: self.block, position });
        }
    }

    /// Adds an instruction that LLVM does not have.
    pub(crate) fn emit(&mut self, op: Op, ty: Type) -> Operand {
        let id = InstrId::new(self.instrs.len());
        self.instrs.push(None);
        self.put(id, op, ty);
        Operand::Result(id)
    }

    /// Places what an LLVM instruction became, under its id.
    pub(crate) fn define(&mut self, instruction: Value<'m>, op: Op, ty: Type) {
        self.put(self.ids[&instruction], op, ty);
    }

    fn put(&mut self, id: InstrId, op: Op, ty: Type) {
        self.instrs[id.index()] = Some(Instr { op, ty, span: self.place.span });
        let list = &mut self.lists[self.block.index()];
        list.push(id);
        let position = list.len() as u32 - 1;
        self.note_line(Some(position));
    }

    pub(crate) fn gap(&mut self, kind: GapKind, what: impl Into<String>) {
        let (function, span) = (self.id, self.place.span);
        self.cx.gap(kind, Some(function), span, what);
    }

    pub(crate) fn ty(&mut self, value: Value<'m>) -> Type {
        self.cx.types.lower(value.ty())
    }

    pub(crate) fn block_id(&self, block: llvm::Block<'m>) -> BlockId {
        self.cx.blocks[&block]
    }

    /// The operand for a value; constants that are more than a number or symbol become instructions first.
    pub(crate) fn operand(&mut self, value: Value<'m>) -> Operand {
        if let Some(id) = self.ids.get(&value) {
            return Operand::Result(*id);
        }
        if let Some(parameter) = self.parameters.get(&value) {
            return *parameter;
        }
        let ty = self.ty(value);
        if value.is_undefined() {
            return Operand::Undefined(ty);
        }
        if let Some(operand) = self.scalar_constant(value, ty) {
            return operand;
        }
        match (ty, value.constant_opcode()) {
            (Type::Record(_), None) => self.record_constant(value, ty),
            (_, Some(opcode)) => self.expression(value, opcode, ty),
            _ => {
                let what = value.print();
                self.gap(GapKind::Instruction, format!("constant {what}"));
                self.emit(Op::Opaque { what: "constant".into(), operands: Vec::new() }, ty)
            }
        }
    }

    fn scalar_constant(&mut self, value: Value<'m>, ty: Type) -> Option<Operand> {
        match ty {
            Type::Int(bits) if value.is_int() => {
                value.wide_integer().map(|value| Operand::Int { bits, value })
            }
            Type::Float(kind) if value.is_float() => {
                let bits = self.cx.ir.float_bits(value, kind.bits())?;
                Some(Operand::Float { kind, bits })
            }
            Type::Ptr if value.is_null_pointer() => Some(Operand::Null),
            Type::Ptr => {
                let (target, offset) = symbolic_address(self.cx, value)?;
                Some(self.symbol(target, offset))
            }
            Type::Int(_) | Type::Float(_) | Type::Void | Type::Record(_) | Type::Opaque => None,
        }
    }

    fn symbol(&mut self, target: model::RelocationTarget, offset: i64) -> Operand {
        match target {
            model::RelocationTarget::Global(global) => Operand::Global { global, offset },
            model::RelocationTarget::Function(function) if offset == 0 => Operand::Function(function),
            model::RelocationTarget::Function(function) => {
                let base = Operand::Function(function);
                self.emit(Op::Address { base, offset, indices: Vec::new() }, Type::Ptr)
            }
        }
    }

    /// A structure constant, put together leaf by leaf.
    fn record_constant(&mut self, value: Value<'m>, ty: Type) -> Operand {
        let mut leaves = Vec::new();
        self.constant_leaves(value, &mut leaves);
        let mut record = Operand::Undefined(ty);
        for (leaf, (value, value_type)) in leaves.into_iter().enumerate() {
            record = self.emit(Op::Insert { record, leaf: leaf as u32, value, value_type }, ty);
        }
        record
    }

    fn constant_leaves(&mut self, value: Value<'m>, leaves: &mut Vec<(Operand, Type)>) {
        let ty = self.ty(value);
        let Type::Record(record) = ty else {
            let leaf = self.operand(value);
            leaves.push((leaf, ty));
            return;
        };
        if value.is_zero_aggregate() || value.is_undefined() {
            let types = self.cx.types.records[record.index()].leaves.clone();
            leaves.extend(types.into_iter().map(|(_, ty)| (zero(ty), ty)));
            return;
        }
        let elements = (0..).map_while(|number| value.element(number));
        for element in elements.collect::<Vec<_>>() {
            self.constant_leaves(element, leaves);
        }
    }

    /// Base, constant part and variable parts of a `getelementptr`.
    pub(crate) fn address(&mut self, gep: Value<'m>) -> Option<Op> {
        let steps = gep_steps(self.cx.ir, gep)?;
        let base = self.operand(gep.operand(0));
        let (mut offset, mut indices) = (0_i64, Vec::new());
        for step in steps {
            match step {
                Step::Bytes(bytes) => offset = offset.wrapping_add(bytes),
                Step::Scaled(index, scale) => {
                    let ty = self.ty(index);
                    indices.push((ty, self.operand(index), scale));
                }
            }
        }
        Some(Op::Address { base, offset, indices })
    }

    fn complete_phis(&mut self) {
        let phis: Vec<_> = self
            .function
            .blocks()
            .into_iter()
            .flat_map(llvm::Block::instructions)
            .filter(|instruction| instruction.opcode() == LLVMOpcode::LLVMPHI)
            .collect();
        for phi in phis {
            if self.ty(phi) == Type::Opaque {
                continue;
            }
            let mut incoming: Vec<(BlockId, Operand)> = Vec::new();
            for (value, from) in phi.incoming() {
                let from = self.block_id(from);
                // A predecessor with two edges to this block comes twice, with one value.
                if incoming.iter().all(|(known, _)| *known != from) {
                    self.block = from;
                    self.place = InstructionOrigin::default();
                    let operand = self.operand(value);
                    incoming.push((from, operand));
                }
            }
            let instr = self.instrs[self.ids[&phi].index()].as_mut().expect("blocks are lowered");
            instr.op = Op::Phi(incoming);
        }
    }

    fn finish(self, terminators: Vec<Terminator>) -> FunctionCode {
        let instrs: Vec<_> = self
            .instrs
            .into_iter()
            .map(|instr| instr.expect("every instruction with an id is lowered"))
            .collect();
        let blocks = self.lists.into_iter().zip(terminators).map(|(list, terminator)| {
            let span = list.iter().find_map(|id| instrs[id.index()].span);
            Block { instrs: list, terminator, span }
        });
        FunctionCode { blocks: blocks.collect(), instrs, lines: self.lines }
    }

    /// The `alloca` that an address stands for.
    pub(crate) fn alloca_at(&self, address: Value<'m>) -> Option<InstrId> {
        let id = match self.parameters.get(&address) {
            Some(Operand::Result(copy)) => *copy,
            Some(_) | None => *self.ids.get(&address)?,
        };
        matches!(&self.instrs[id.index()], Some(Instr { op: Op::Alloca { .. }, .. })).then_some(id)
    }
}

fn is_terminator(instruction: Value<'_>) -> bool {
    matches!(
        instruction.opcode(),
        LLVMOpcode::LLVMRet
            | LLVMOpcode::LLVMBr
            | LLVMOpcode::LLVMSwitch
            | LLVMOpcode::LLVMIndirectBr
            | LLVMOpcode::LLVMUnreachable
    )
}

/// Zero of a scalar type.
fn zero(ty: Type) -> Operand {
    match ty {
        Type::Int(bits) => Operand::Int { bits, value: 0 },
        Type::Float(kind) => Operand::Float { kind, bits: 0 },
        Type::Ptr => Operand::Null,
        Type::Void | Type::Record(_) | Type::Opaque => Operand::Undefined(ty),
    }
}
