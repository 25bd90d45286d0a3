//! LLVM types as model types.
//!
//! First-class structures, arrays and short vectors become records of scalar leaves, so that what a calling convention
//! puts in registers (`<2 x float>` for two floats) is described exactly. Limit: vectors of bits, scalable vectors and
//! integers above 128 bits have no description ([`Type::Opaque`]).

use std::collections::HashMap;

use model::{FloatKind, Record, RecordId, Type};

use crate::llvm::{self, Ir, LLVMTypeKind};

/// Most leaves a record may have; larger first-class aggregates are not made from C.
const MAX_LEAVES: usize = 4096;

/// Records met so far.
pub(crate) struct Types<'m> {
    ir: Ir<'m>,
    known: HashMap<llvm::Type<'m>, Type>,
    pub(crate) records: Vec<Record>,
}

impl<'m> Types<'m> {
    pub(crate) fn new(ir: Ir<'m>) -> Self {
        Self { ir, known: HashMap::new(), records: Vec::new() }
    }

    /// The model's type for an LLVM type.
    pub(crate) fn lower(&mut self, ty: llvm::Type<'m>) -> Type {
        if let Some(scalar) = scalar(ty) {
            return scalar;
        }
        if let Some(known) = self.known.get(&ty) {
            return *known;
        }
        let mut leaves = Vec::new();
        let lowered = match self.flatten(ty, 0, &mut leaves) {
            Some(()) => Type::Record(self.record(Record { size: self.ir.allocation_size(ty), leaves })),
            None => Type::Opaque,
        };
        self.known.insert(ty, lowered);
        lowered
    }

    /// Records are named by their contents: two LLVM types of one layout are one record.
    fn record(&mut self, record: Record) -> RecordId {
        let known = self.records.iter().position(|other| *other == record);
        RecordId::new(known.unwrap_or_else(|| {
            self.records.push(record);
            self.records.len() - 1
        }))
    }

    fn flatten(&self, ty: llvm::Type<'m>, offset: u64, leaves: &mut Vec<(u64, Type)>) -> Option<()> {
        match scalar(ty) {
            Some(Type::Opaque | Type::Void) => return None,
            Some(leaf) => {
                leaves.push((offset, leaf));
                return (leaves.len() <= MAX_LEAVES).then_some(());
            }
            None => {}
        }
        for (member, at) in self.members(ty)? {
            self.flatten(member, offset + at, leaves)?;
        }
        Some(())
    }

    /// Types and offsets of an aggregate's direct members.
    fn members(&self, ty: llvm::Type<'m>) -> Option<Vec<(llvm::Type<'m>, u64)>> {
        let elements = |length: u64, step: u64| (0..length).map(|n| (ty.element(), n * step)).collect();
        match ty.kind() {
            LLVMTypeKind::LLVMStructTypeKind => {
                let members = ty.fields().into_iter().enumerate();
                Some(members.map(|(n, member)| (member, self.ir.field_offset(ty, n as u32))).collect())
            }
            LLVMTypeKind::LLVMArrayTypeKind if ty.array_length() <= MAX_LEAVES as u64 => {
                Some(elements(ty.array_length(), self.ir.allocation_size(ty.element())))
            }
            LLVMTypeKind::LLVMVectorTypeKind if ty.vector_length() <= MAX_LEAVES as u64 => {
                // Vector elements lie without padding; only then is a lane a place in memory.
                let step = self.ir.store_size(ty.element());
                let packed = self.ir.store_size(ty) == step * ty.vector_length();
                packed.then(|| elements(ty.vector_length(), step))
            }
            _ => None,
        }
    }

    /// The leaves that the member at `path` covers: the first and how many.
    pub(crate) fn leaves_at(&self, ty: llvm::Type<'m>, path: &[u32]) -> Option<(u32, u32)> {
        let count = |ty: llvm::Type<'m>| {
            let mut leaves = Vec::new();
            self.flatten(ty, 0, &mut leaves).map(|()| leaves.len() as u32)
        };
        let Some((&index, rest)) = path.split_first() else {
            return count(ty).map(|all| (0, all));
        };
        let members = self.members(ty)?;
        let mut before = 0;
        for (member, _) in members.iter().take(index as usize) {
            before += count(*member)?;
        }
        let (first, covered) = self.leaves_at(members.get(index as usize)?.0, rest)?;
        Some((before + first, covered))
    }
}

/// A type that is not made of others.
fn scalar(ty: llvm::Type<'_>) -> Option<Type> {
    Some(match ty.kind() {
        LLVMTypeKind::LLVMVoidTypeKind => Type::Void,
        LLVMTypeKind::LLVMHalfTypeKind => Type::Float(FloatKind::Half),
        LLVMTypeKind::LLVMFloatTypeKind => Type::Float(FloatKind::Single),
        LLVMTypeKind::LLVMDoubleTypeKind => Type::Float(FloatKind::Double),
        LLVMTypeKind::LLVMX86_FP80TypeKind => Type::Float(FloatKind::X87),
        LLVMTypeKind::LLVMFP128TypeKind => Type::Float(FloatKind::Quad),
        LLVMTypeKind::LLVMPointerTypeKind => Type::Ptr,
        LLVMTypeKind::LLVMIntegerTypeKind => match ty.int_bits() {
            Some(bits) if bits <= 128 => Type::Int(bits),
            Some(_) | None => Type::Opaque,
        },
        LLVMTypeKind::LLVMStructTypeKind
        | LLVMTypeKind::LLVMArrayTypeKind
        | LLVMTypeKind::LLVMVectorTypeKind => return None,
        LLVMTypeKind::LLVMPPC_FP128TypeKind
        | LLVMTypeKind::LLVMBFloatTypeKind
        | LLVMTypeKind::LLVMLabelTypeKind
        | LLVMTypeKind::LLVMFunctionTypeKind
        | LLVMTypeKind::LLVMMetadataTypeKind
        | LLVMTypeKind::LLVMTokenTypeKind
        | LLVMTypeKind::LLVMScalableVectorTypeKind
        | LLVMTypeKind::LLVMX86_MMXTypeKind
        | LLVMTypeKind::LLVMX86_AMXTypeKind
        | LLVMTypeKind::LLVMTargetExtTypeKind => Type::Opaque,
    })
}
