//! LLVM's operation codes and predicates as the model's.

use model::{BinaryOp, CastOp, FloatBinaryOp, FloatPredicate, Predicate};

use crate::llvm::{LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

/// `shufflevector`, `vaarg`, …
pub(crate) fn opcode_name(opcode: LLVMOpcode) -> String {
    format!("{opcode:?}").trim_start_matches("LLVM").to_lowercase()
}

/// What an atomic update does to the old value.
pub(crate) enum Change {
    Replace,
    Binary(BinaryOp),
    Nand,
    /// The old value when this holds between it and the new one.
    Choose(Predicate),
}

pub(crate) fn atomic_change(operation: LLVMAtomicRMWBinOp) -> Option<Change> {
    Some(match operation {
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg => Change::Replace,
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd => Change::Binary(BinaryOp::Add),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpSub => Change::Binary(BinaryOp::Sub),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAnd => Change::Binary(BinaryOp::And),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpOr => Change::Binary(BinaryOp::Or),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXor => Change::Binary(BinaryOp::Xor),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpNand => Change::Nand,
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMax => Change::Choose(Predicate::Sgt),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMin => Change::Choose(Predicate::Sle),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMax => Change::Choose(Predicate::Ugt),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMin => Change::Choose(Predicate::Ule),
        LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFAdd
        | LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFSub
        | LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFMax
        | LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFMin
        | LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUIncWrap
        | LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUDecWrap => return None,
    })
}

pub(crate) fn binary(opcode: LLVMOpcode) -> Option<BinaryOp> {
    Some(match opcode {
        LLVMOpcode::LLVMAdd => BinaryOp::Add,
        LLVMOpcode::LLVMSub => BinaryOp::Sub,
        LLVMOpcode::LLVMMul => BinaryOp::Mul,
        LLVMOpcode::LLVMUDiv => BinaryOp::Udiv,
        LLVMOpcode::LLVMSDiv => BinaryOp::Sdiv,
        LLVMOpcode::LLVMURem => BinaryOp::Urem,
        LLVMOpcode::LLVMSRem => BinaryOp::Srem,
        LLVMOpcode::LLVMAnd => BinaryOp::And,
        LLVMOpcode::LLVMOr => BinaryOp::Or,
        LLVMOpcode::LLVMXor => BinaryOp::Xor,
        LLVMOpcode::LLVMShl => BinaryOp::Shl,
        LLVMOpcode::LLVMLShr => BinaryOp::Lshr,
        LLVMOpcode::LLVMAShr => BinaryOp::Ashr,
        _ => return None,
    })
}

pub(crate) fn float_binary(opcode: LLVMOpcode) -> Option<FloatBinaryOp> {
    Some(match opcode {
        LLVMOpcode::LLVMFAdd => FloatBinaryOp::Add,
        LLVMOpcode::LLVMFSub => FloatBinaryOp::Sub,
        LLVMOpcode::LLVMFMul => FloatBinaryOp::Mul,
        LLVMOpcode::LLVMFDiv => FloatBinaryOp::Div,
        LLVMOpcode::LLVMFRem => FloatBinaryOp::Rem,
        _ => return None,
    })
}

pub(crate) fn cast(opcode: LLVMOpcode) -> Option<CastOp> {
    Some(match opcode {
        LLVMOpcode::LLVMTrunc => CastOp::Trunc,
        LLVMOpcode::LLVMZExt => CastOp::Zext,
        LLVMOpcode::LLVMSExt => CastOp::Sext,
        LLVMOpcode::LLVMPtrToInt => CastOp::PtrToInt,
        LLVMOpcode::LLVMIntToPtr => CastOp::IntToPtr,
        LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast => CastOp::Bitcast,
        LLVMOpcode::LLVMFPTrunc => CastOp::FloatTrunc,
        LLVMOpcode::LLVMFPExt => CastOp::FloatExtend,
        LLVMOpcode::LLVMFPToUI => CastOp::FloatToUnsigned,
        LLVMOpcode::LLVMFPToSI => CastOp::FloatToSigned,
        LLVMOpcode::LLVMUIToFP => CastOp::UnsignedToFloat,
        LLVMOpcode::LLVMSIToFP => CastOp::SignedToFloat,
        _ => return None,
    })
}

pub(crate) fn predicate(predicate: LLVMIntPredicate) -> Predicate {
    match predicate {
        LLVMIntPredicate::LLVMIntEQ => Predicate::Eq,
        LLVMIntPredicate::LLVMIntNE => Predicate::Ne,
        LLVMIntPredicate::LLVMIntUGT => Predicate::Ugt,
        LLVMIntPredicate::LLVMIntUGE => Predicate::Uge,
        LLVMIntPredicate::LLVMIntULT => Predicate::Ult,
        LLVMIntPredicate::LLVMIntULE => Predicate::Ule,
        LLVMIntPredicate::LLVMIntSGT => Predicate::Sgt,
        LLVMIntPredicate::LLVMIntSGE => Predicate::Sge,
        LLVMIntPredicate::LLVMIntSLT => Predicate::Slt,
        LLVMIntPredicate::LLVMIntSLE => Predicate::Sle,
    }
}

pub(crate) fn float_predicate(predicate: LLVMRealPredicate) -> FloatPredicate {
    match predicate {
        LLVMRealPredicate::LLVMRealPredicateFalse => FloatPredicate::False,
        LLVMRealPredicate::LLVMRealOEQ => FloatPredicate::Oeq,
        LLVMRealPredicate::LLVMRealOGT => FloatPredicate::Ogt,
        LLVMRealPredicate::LLVMRealOGE => FloatPredicate::Oge,
        LLVMRealPredicate::LLVMRealOLT => FloatPredicate::Olt,
        LLVMRealPredicate::LLVMRealOLE => FloatPredicate::Ole,
        LLVMRealPredicate::LLVMRealONE => FloatPredicate::One,
        LLVMRealPredicate::LLVMRealORD => FloatPredicate::Ord,
        LLVMRealPredicate::LLVMRealUNO => FloatPredicate::Uno,
        LLVMRealPredicate::LLVMRealUEQ => FloatPredicate::Ueq,
        LLVMRealPredicate::LLVMRealUGT => FloatPredicate::Ugt,
        LLVMRealPredicate::LLVMRealUGE => FloatPredicate::Uge,
        LLVMRealPredicate::LLVMRealULT => FloatPredicate::Ult,
        LLVMRealPredicate::LLVMRealULE => FloatPredicate::Ule,
        LLVMRealPredicate::LLVMRealUNE => FloatPredicate::Une,
        LLVMRealPredicate::LLVMRealPredicateTrue => FloatPredicate::True,
    }
}
