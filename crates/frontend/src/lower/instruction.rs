//! Instructions to operations of the model, one to one wherever the model has the operation.
//!
//! What it lacks (arithmetic on vectors, integers above 128 bits, …) becomes [`Op::Opaque`] with its operands, and a gap.

use model::{BinaryOp, GapKind, Op, Operand, Predicate, Type};

use super::{
    function::Code,
    opcode::{Change, atomic_change, binary, cast, float_binary, float_predicate, opcode_name, predicate},
};
use crate::llvm::{LLVMOpcode, Value};

impl<'m> Code<'_, 'm, '_> {
    /// Lowers an instruction that is no terminator.
    pub(crate) fn instruction(&mut self, instruction: Value<'m>) {
        let ty = self.ty(instruction);
        let op = match instruction.opcode() {
            LLVMOpcode::LLVMAlloca => Some(self.alloca(instruction)),
            LLVMOpcode::LLVMLoad => {
                let address = self.operand(instruction.operand(0));
                (ty != Type::Opaque).then_some(Op::Load { address, volatile: instruction.is_volatile() })
            }
            LLVMOpcode::LLVMStore => self.store(instruction),
            LLVMOpcode::LLVMGetElementPtr => self.address(instruction),
            // Completed when all blocks are lowered. An opaque one keeps no operands: they need not be computed here.
            LLVMOpcode::LLVMPHI if ty == Type::Opaque => {
                self.gap(self.gap_kind(instruction), "phi");
                Some(Op::Opaque { what: "phi".into(), operands: Vec::new() })
            }
            LLVMOpcode::LLVMPHI => Some(Op::Phi(Vec::new())),
            LLVMOpcode::LLVMCall => return self.call(instruction),
            LLVMOpcode::LLVMSelect => self.select(instruction),
            LLVMOpcode::LLVMFreeze => Some(Op::Freeze(self.operand(instruction.operand(0)))),
            LLVMOpcode::LLVMExtractValue => return self.extract_value(instruction),
            LLVMOpcode::LLVMInsertValue => return self.insert_value(instruction),
            LLVMOpcode::LLVMExtractElement => self.extract_element(instruction),
            LLVMOpcode::LLVMInsertElement => self.insert_element(instruction),
            LLVMOpcode::LLVMAtomicRMW => return self.atomic_update(instruction),
            LLVMOpcode::LLVMAtomicCmpXchg => return self.compare_exchange(instruction),
            opcode => self.scalar_op(instruction, opcode, ty),
        };
        match op {
            Some(op) => self.define(instruction, op, ty),
            None => self.opaque(instruction),
        }
    }

    /// Operations that also stand in constant expressions, and all others over scalars.
    fn scalar_op(&mut self, value: Value<'m>, opcode: LLVMOpcode, ty: Type) -> Option<Op> {
        if let (Some(op), Type::Int(_)) = (binary(opcode), ty) {
            let (left, right) = self.two(value);
            return Some(Op::Binary(op, left, right));
        }
        if let (Some(op), Type::Float(_)) = (float_binary(opcode), ty) {
            let (left, right) = self.two(value);
            return Some(Op::FloatBinary(op, left, right));
        }
        match (opcode, ty) {
            (LLVMOpcode::LLVMFNeg, Type::Float(_)) => Some(Op::FloatNegate(self.operand(value.operand(0)))),
            (LLVMOpcode::LLVMICmp, Type::Int(1)) => self.compare(value),
            (LLVMOpcode::LLVMFCmp, Type::Int(1)) => self.float_compare(value),
            _ => self.cast(value, opcode, ty),
        }
    }

    fn two(&mut self, value: Value<'m>) -> (Operand, Operand) {
        let left = self.operand(value.operand(0));
        (left, self.operand(value.operand(1)))
    }

    fn compare(&mut self, value: Value<'m>) -> Option<Op> {
        let operand_type = self.ty(value.operand(0));
        if !matches!(operand_type, Type::Int(_) | Type::Ptr) {
            return None;
        }
        let (left, right) = self.two(value);
        Some(Op::Compare(predicate(value.predicate()), operand_type, left, right))
    }

    fn float_compare(&mut self, value: Value<'m>) -> Option<Op> {
        let Type::Float(kind) = self.ty(value.operand(0)) else {
            return None;
        };
        let (left, right) = self.two(value);
        Some(Op::FloatCompare(float_predicate(value.float_predicate()), kind, left, right))
    }

    fn cast(&mut self, value: Value<'m>, opcode: LLVMOpcode, to: Type) -> Option<Op> {
        let op = cast(opcode)?;
        let from = self.ty(value.operand(0));
        let scalar = |ty| matches!(ty, Type::Int(_) | Type::Float(_) | Type::Ptr);
        (scalar(from) && scalar(to)).then(|| Op::Cast(op, from, self.operand(value.operand(0))))
    }

    /// A constant expression as instructions before its use.
    pub(crate) fn expression(&mut self, value: Value<'m>, opcode: LLVMOpcode, ty: Type) -> Operand {
        let op = match opcode {
            LLVMOpcode::LLVMGetElementPtr => self.address(value),
            _ => self.scalar_op(value, opcode, ty),
        };
        match op {
            Some(op) => self.emit(op, ty),
            None => {
                self.gap(GapKind::Instruction, format!("constant {}", value.print()));
                self.emit(Op::Opaque { what: opcode_name(opcode), operands: Vec::new() }, ty)
            }
        }
    }

    fn alloca(&mut self, instruction: Value<'m>) -> Op {
        let ty = instruction.allocated_type();
        let count = self.operand(instruction.operand(0));
        Op::Alloca { size: self.cx.ir.allocation_size(ty), align: instruction.alignment(), count }
    }

    fn store(&mut self, instruction: Value<'m>) -> Option<Op> {
        let value_type = self.ty(instruction.operand(0));
        if value_type == Type::Opaque {
            return None;
        }
        let value = self.operand(instruction.operand(0));
        Some(Op::Store { address: self.operand(instruction.operand(1)), value, value_type })
    }

    fn select(&mut self, instruction: Value<'m>) -> Option<Op> {
        if self.ty(instruction.operand(0)) != Type::Int(1) || self.ty(instruction) == Type::Opaque {
            return None;
        }
        let condition = self.operand(instruction.operand(0));
        let then = self.operand(instruction.operand(1));
        Some(Op::Select { condition, then, otherwise: self.operand(instruction.operand(2)) })
    }

    fn extract_value(&mut self, instruction: Value<'m>) {
        let whole = instruction.operand(0);
        let (whole_type, ty) = (self.ty(whole), self.ty(instruction));
        let covered = self.cx.types.leaves_at(whole.ty(), &instruction.indices());
        let (Type::Record(record_type), Some((first, n_leaves))) = (whole_type, covered) else {
            return self.opaque(instruction);
        };
        let record = self.operand(whole);
        let Type::Record(part) = ty else {
            return self.define(instruction, Op::Extract { record, record_type, leaf: first }, ty);
        };
        let mut result = Op::Freeze(Operand::Undefined(ty));
        for leaf in 0..n_leaves {
            let so_far = if leaf == 0 { Operand::Undefined(ty) } else { self.emit(result, ty) };
            let value_type = self.cx.types.records[part.index()].leaves[leaf as usize].1;
            let value = self.emit(Op::Extract { record, record_type, leaf: first + leaf }, value_type);
            result = Op::Insert { record: so_far, leaf, value, value_type };
        }
        self.define(instruction, result, ty);
    }

    fn insert_value(&mut self, instruction: Value<'m>) {
        let (whole, part) = (instruction.operand(0), instruction.operand(1));
        let (ty, part_type) = (self.ty(instruction), self.ty(part));
        let covered = self.cx.types.leaves_at(whole.ty(), &instruction.indices());
        let (Type::Record(_), Some((first, n_leaves))) = (ty, covered) else {
            return self.opaque(instruction);
        };
        let (record, value) = (self.operand(whole), self.operand(part));
        let Type::Record(record_type) = part_type else {
            let op = Op::Insert { record, leaf: first, value, value_type: part_type };
            return self.define(instruction, op, ty);
        };
        let mut result = Op::Freeze(record);
        for leaf in 0..n_leaves {
            let so_far = if leaf == 0 { record } else { self.emit(result, ty) };
            let value_type = self.cx.types.records[record_type.index()].leaves[leaf as usize].1;
            let value = self.emit(Op::Extract { record: value, record_type, leaf }, value_type);
            result = Op::Insert { record: so_far, leaf: first + leaf, value, value_type };
        }
        self.define(instruction, result, ty);
    }

    fn extract_element(&mut self, instruction: Value<'m>) -> Option<Op> {
        let Type::Record(record_type) = self.ty(instruction.operand(0)) else {
            return None;
        };
        let leaf = self.lane(instruction.operand(1), record_type)?;
        Some(Op::Extract { record: self.operand(instruction.operand(0)), record_type, leaf })
    }

    fn insert_element(&mut self, instruction: Value<'m>) -> Option<Op> {
        let Type::Record(record_type) = self.ty(instruction) else {
            return None;
        };
        let leaf = self.lane(instruction.operand(2), record_type)?;
        let (record, value) = self.two(instruction);
        Some(Op::Insert { record, leaf, value, value_type: self.ty(instruction.operand(1)) })
    }

    /// A constant lane that the vector has.
    fn lane(&self, index: Value<'m>, vector: model::RecordId) -> Option<u32> {
        let lane = u32::try_from(if index.is_int() { index.wide_integer()? } else { return None }).ok()?;
        ((lane as usize) < self.cx.types.records[vector.index()].leaves.len()).then_some(lane)
    }

    /// Read, change, write: programs under test run one thread, so the three steps are one.
    fn atomic_update(&mut self, instruction: Value<'m>) {
        let (address, value) = self.two(instruction);
        let ty = self.ty(instruction);
        let Some(change) =
            atomic_change(instruction.atomic_operation()).filter(|_| matches!(ty, Type::Int(_)))
        else {
            return self.opaque(instruction);
        };
        self.define(instruction, Op::Load { address, volatile: instruction.is_volatile() }, ty);
        let old = self.operand(instruction);
        let new = match change {
            Change::Replace => value,
            Change::Binary(op) => self.emit(Op::Binary(op, old, value), ty),
            Change::Nand => {
                let both = self.emit(Op::Binary(BinaryOp::And, old, value), ty);
                let Type::Int(bits) = ty else { unreachable!("checked above") };
                let ones = Operand::Int { bits, value: u128::MAX >> (128 - bits) };
                self.emit(Op::Binary(BinaryOp::Xor, both, ones), ty)
            }
            Change::Choose(predicate) => {
                let condition = self.emit(Op::Compare(predicate, ty, old, value), Type::Int(1));
                self.emit(Op::Select { condition, then: old, otherwise: value }, ty)
            }
        };
        self.emit(Op::Store { address, value: new, value_type: ty }, Type::Void);
    }

    fn compare_exchange(&mut self, instruction: Value<'m>) {
        let (address, expected) = self.two(instruction);
        let value_type = self.ty(instruction.operand(1));
        let ty = self.ty(instruction);
        if !matches!(value_type, Type::Int(_) | Type::Ptr) {
            return self.opaque(instruction);
        }
        let new = self.operand(instruction.operand(2));
        let old = self.emit(Op::Load { address, volatile: instruction.is_volatile() }, value_type);
        let condition = self.emit(Op::Compare(Predicate::Eq, value_type, old, expected), Type::Int(1));
        let value = self.emit(Op::Select { condition, then: new, otherwise: old }, value_type);
        self.emit(Op::Store { address, value, value_type }, Type::Void);
        let record = Operand::Undefined(ty);
        let record = self.emit(Op::Insert { record, leaf: 0, value: old, value_type }, ty);
        let success = Op::Insert { record, leaf: 1, value: condition, value_type: Type::Int(1) };
        self.define(instruction, success, ty);
    }

    /// Keeps an instruction's operands but not its meaning.
    pub(crate) fn opaque(&mut self, instruction: Value<'m>) {
        let what = opcode_name(instruction.opcode());
        self.gap(self.gap_kind(instruction), what.clone());
        let operands = instruction.operands().into_iter().filter(|value| is_data(*value)).collect::<Vec<_>>();
        let operands = operands.into_iter().map(|value| self.operand(value)).collect();
        let ty = self.ty(instruction);
        self.define(instruction, Op::Opaque { what, operands }, ty);
    }

    fn gap_kind(&self, instruction: Value<'m>) -> GapKind {
        use crate::llvm::LLVMTypeKind::*;
        match instruction.opcode() {
            LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => return GapKind::AtomicOperation,
            LLVMOpcode::LLVMVAArg => return GapKind::VariableArguments,
            LLVMOpcode::LLVMLandingPad | LLVMOpcode::LLVMCatchPad | LLVMOpcode::LLVMCleanupPad => {
                return GapKind::Exception;
            }
            _ => {}
        }
        let types = instruction.operands().into_iter().chain([instruction]).map(Value::ty);
        let kinds: Vec<_> = types.map(|ty| (ty.kind(), ty.int_bits().unwrap_or(0))).collect();
        let any = |wanted: &dyn Fn(_, u32) -> bool| kinds.iter().any(|(kind, bits)| wanted(*kind, *bits));
        if any(&|kind, _| kind == LLVMVectorTypeKind || kind == LLVMScalableVectorTypeKind) {
            GapKind::Vector
        } else if any(&|_, bits| bits > 128) {
            GapKind::WideInteger
        } else if any(&|kind, _| kind == LLVMBFloatTypeKind || kind == LLVMPPC_FP128TypeKind) {
            GapKind::FloatingPoint
        } else {
            GapKind::Instruction
        }
    }
}

/// Whether an operand is a value, not a block or a name.
pub(crate) fn is_data(value: Value<'_>) -> bool {
    use crate::llvm::LLVMTypeKind::*;
    !matches!(value.ty().kind(), LLVMLabelTypeKind | LLVMMetadataTypeKind | LLVMTokenTypeKind)
}
