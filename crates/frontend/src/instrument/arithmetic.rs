//! Shadows of instructions that compute: operators, compares, casts, choices, addresses, parts of structures.

use super::function::{FunctionPass, untracked_kind};
use super::memory::is_only_accessed;
use crate::llvm::{LLVMIntPredicate, LLVMOpcode, Type, Value};

/// Operations of expression nodes, by the numbers of the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Operation {
    Add = 3,
    Sub = 4,
    Mul = 5,
    Udiv = 6,
    Sdiv = 7,
    Urem = 8,
    Srem = 9,
    And = 10,
    Or = 11,
    Xor = 12,
    Shl = 13,
    Lshr = 14,
    Ashr = 15,
    Eq = 16,
    Ne = 17,
    Ult = 18,
    Ule = 19,
    Slt = 20,
    Sle = 21,
    Zext = 23,
    Sext = 24,
    /// The low bits.
    Extract = 25,
}

impl<'m> FunctionPass<'_, 'm> {
    pub fn visit_binary(&mut self, instruction: Value<'m>) {
        use LLVMOpcode::*;
        let (operation, function) = match instruction.opcode() {
            LLVMAdd => (Operation::Add, "__quarry_binary"),
            LLVMSub => (Operation::Sub, "__quarry_binary"),
            LLVMMul => (Operation::Mul, "__quarry_binary"),
            LLVMAnd => (Operation::And, "__quarry_binary"),
            LLVMOr => (Operation::Or, "__quarry_binary"),
            LLVMXor => (Operation::Xor, "__quarry_binary"),
            LLVMUDiv => (Operation::Udiv, "__quarry_divide"),
            LLVMSDiv => (Operation::Sdiv, "__quarry_divide"),
            LLVMURem => (Operation::Urem, "__quarry_divide"),
            LLVMSRem => (Operation::Srem, "__quarry_divide"),
            LLVMShl => (Operation::Shl, "__quarry_shift"),
            LLVMLShr => (Operation::Lshr, "__quarry_shift"),
            LLVMAShr => (Operation::Ashr, "__quarry_shift"),
            other => unreachable!("{other:?} is no integer operator"),
        };
        let Some(width) = self.tracked_width(instruction) else { return };
        self.ir.place_before(instruction); // assumptions come before a division that may trap
        let (a, b) = (instruction.operand(0), instruction.operand(1));
        let shadow = self.operate(function, operation, width, a, b);
        self.set_shadow(instruction, vec![shadow]);
    }

    pub fn visit_compare(&mut self, instruction: Value<'m>) {
        use LLVMIntPredicate::*;
        let (a, b) = (instruction.operand(0), instruction.operand(1));
        let Some(width) = self.tracked_width(a) else { return };
        let (operation, a, b) = match instruction.predicate() {
            LLVMIntEQ => (Operation::Eq, a, b),
            LLVMIntNE => (Operation::Ne, a, b),
            LLVMIntULT => (Operation::Ult, a, b),
            LLVMIntULE => (Operation::Ule, a, b),
            LLVMIntUGT => (Operation::Ult, b, a),
            LLVMIntUGE => (Operation::Ule, b, a),
            LLVMIntSLT => (Operation::Slt, a, b),
            LLVMIntSLE => (Operation::Sle, a, b),
            LLVMIntSGT => (Operation::Slt, b, a),
            LLVMIntSGE => (Operation::Sle, b, a),
        };
        self.ir.place_before(instruction);
        let shadow = self.operate("__quarry_binary", operation, width, a, b);
        self.set_shadow(instruction, vec![shadow]);
    }

    pub fn visit_cast(&mut self, instruction: Value<'m>) {
        let operand = instruction.operand(0);
        let Some(from) = self.tracked_width(operand) else {
            if instruction.ty() == operand.ty() {
                self.set_shadow(instruction, self.shadow(operand)); // freeze of a structure
            }
            return;
        };
        let Some(to) = self.tracked_width(instruction) else {
            let what = instruction.ty().text();
            return self.pin_operands(instruction, untracked_kind(instruction.ty()), &what);
        };
        self.ir.place_before(instruction);
        let signed = instruction.opcode() == LLVMOpcode::LLVMSExt;
        let shadow = self.resize(self.scalar_shadow(operand), from, to, signed);
        self.set_shadow(instruction, vec![shadow]);
    }

    pub fn visit_select(&mut self, instruction: Value<'m>) {
        let (condition, a, b) = (instruction.operand(0), instruction.operand(1), instruction.operand(2));
        if self.tracked_width(condition).is_none() {
            return; // a vector of conditions
        }
        self.ir.place_before(instruction);
        let taken = self.ir.as_int(condition, 32);
        let chosen = self.scalar_shadow(condition);
        let parts =
            self.leaves(instruction.ty()).into_iter().zip(self.shadow(a).into_iter().zip(self.shadow(b)));
        let mut shadow = Vec::new();
        for (leaf, (shadow_a, shadow_b)) in parts {
            let Some(width) = leaf.width else {
                let site = self.site(untracked_kind(leaf.ty), instruction, "select");
                self.pin(condition, site);
                shadow.push(self.word().zero());
                continue;
            };
            let (a, b) = (self.ir.extract(a, &leaf.path), self.ir.extract(b, &leaf.path));
            let (a, b) = (self.wide(a), self.wide(b));
            let arguments = [self.number(width), chosen, taken, shadow_a, a, shadow_b, b];
            let concrete = chosen.is_zero() && shadow_a.is_zero() && shadow_b.is_zero();
            shadow.push(if concrete { self.word().zero() } else { self.node("__quarry_select", &arguments) });
        }
        self.set_shadow(instruction, shadow);
    }

    /// An address is a sum: base, constant offsets, indices times element sizes.
    pub fn visit_gep(&mut self, instruction: Value<'m>) {
        let Some(width) = self.tracked_width(instruction) else {
            let kind = untracked_kind(instruction.ty());
            return self.pin_operands(instruction, kind, "vector of addresses");
        };
        let operands = instruction.operands();
        if is_only_accessed(instruction) {
            self.set_bare_address(instruction);
            return;
        }
        if operands.iter().all(|operand| self.scalar_shadow(*operand).is_zero()) {
            return;
        }
        self.ir.place_before(instruction);
        let address = self.ir.int(width);
        let (mut shadow, mut value) = (self.scalar_shadow(operands[0]), self.address(operands[0]));
        let mut constant = 0u64;
        for (index, step) in operands[1..].iter().zip(steps(self, instruction)) {
            let stride = match step {
                Step::Offset(offset) => {
                    constant = constant.wrapping_add(offset);
                    continue;
                }
                Step::Stride(stride) => stride,
            };
            let from = index.ty().bits();
            let resized = self.resize(self.scalar_shadow(*index), from, width, true);
            let scaled = self.ir.mul(self.ir.as_signed(*index, width), address.constant(stride));
            let index_value = self.ir.as_signed(*index, width);
            let stride = address.constant(stride);
            let product = self.combine(
                "__quarry_binary",
                Operation::Mul,
                width,
                (resized, index_value),
                (self.word().zero(), stride),
            );
            shadow =
                self.combine("__quarry_binary", Operation::Add, width, (shadow, value), (product, scaled));
            value = self.ir.add(value, scaled);
        }
        if constant != 0 {
            let offset = (self.word().zero(), address.constant(constant));
            shadow = self.combine("__quarry_binary", Operation::Add, width, (shadow, value), offset);
        }
        self.set_shadow(instruction, vec![shadow]);
    }

    pub fn visit_extract(&mut self, instruction: Value<'m>) {
        let aggregate = instruction.operand(0);
        let path = instruction.indices();
        let all = self.leaves(aggregate.ty()).into_iter().zip(self.shadow(aggregate));
        let part = all.filter(|(leaf, _)| leaf.path.starts_with(&path)).map(|(_, shadow)| shadow).collect();
        self.set_shadow(instruction, part);
    }

    pub fn visit_insert(&mut self, instruction: Value<'m>) {
        let (aggregate, part) = (instruction.operand(0), instruction.operand(1));
        let path = instruction.indices();
        let mut inserted = self.shadow(part).into_iter();
        let all = self.leaves(aggregate.ty()).into_iter().zip(self.shadow(aggregate));
        let shadow = all
            .map(
                |(leaf, old)| if leaf.path.starts_with(&path) { inserted.next().unwrap_or(old) } else { old },
            )
            .collect();
        self.set_shadow(instruction, shadow);
    }

    /// Node of `a operation b` for two tracked scalars.
    pub fn operate(
        &self,
        function: &str,
        operation: Operation,
        width: u32,
        a: Value<'m>,
        b: Value<'m>,
    ) -> Value<'m> {
        let (shadow_a, shadow_b) = (self.scalar_shadow(a), self.scalar_shadow(b));
        self.combine(function, operation, width, (shadow_a, a), (shadow_b, b))
    }

    fn combine(
        &self,
        function: &str,
        operation: Operation,
        width: u32,
        (shadow_a, a): (Value<'m>, Value<'m>),
        (shadow_b, b): (Value<'m>, Value<'m>),
    ) -> Value<'m> {
        if shadow_a.is_zero() && shadow_b.is_zero() {
            return self.word().zero();
        }
        let numbers = [self.number(operation as u32), self.number(width)];
        let (a, b) = (self.wide(a), self.wide(b));
        self.node(function, &[numbers[0], numbers[1], shadow_a, a, shadow_b, b])
    }

    pub fn resize(&self, shadow: Value<'m>, from: u32, to: u32, signed: bool) -> Value<'m> {
        if from == to || shadow.is_zero() {
            return shadow;
        }
        let operation = match (from > to, signed) {
            (true, _) => Operation::Extract,
            (false, true) => Operation::Sext,
            (false, false) => Operation::Zext,
        };
        self.node("__quarry_cast", &[self.number(operation as u32), self.number(to), shadow])
    }
}

/// What an index of an address computation adds.
pub enum Step {
    /// A known number of bytes.
    Offset(u64),
    /// The index times this many bytes.
    Stride(u64),
}

/// What each index of a `getelementptr` adds.
pub fn steps(pass: &FunctionPass<'_, '_>, gep: Value<'_>) -> Vec<Step> {
    let ir = pass.ir;
    let mut current: Option<Type<'_>> = None; // before the first index: the pointed-to type itself
    let mut steps = Vec::new();
    for index in gep.operands().into_iter().skip(1) {
        let (next, step) = match current {
            Some(ty) if ty.is_struct() => {
                let field =
                    u32::try_from(index.integer().expect("field indices are constant")).expect("few fields");
                (ty.fields()[field as usize], Step::Offset(ir.field_offset(ty, field)))
            }
            other => {
                let element = other.map_or_else(|| gep.gep_type(), Type::element);
                let stride = ir.allocation_size(element);
                let step = match index.integer() {
                    Some(value) => Step::Offset(sign_extend(value, index.ty().bits()).wrapping_mul(stride)),
                    None => Step::Stride(stride),
                };
                (element, step)
            }
        };
        steps.push(step);
        current = Some(next);
    }
    steps
}

fn sign_extend(value: u64, bits: u32) -> u64 {
    let shift = 64 - bits;
    ((value << shift).cast_signed() >> shift).cast_unsigned()
}
