//! Shadows of floating-point instructions, and of functions of numbers.
//!
//! A number is shadowed by an expression for its bits. Functions that the theory of floating-point arithmetic knows get
//! their exact meaning, by the name and type of the intrinsic or library function. Any other function outside the
//! program that takes one or two numbers and returns one is opaque: its value is this run's, its expression says only
//! what it depends on. Limit: `long double`, vectors but for pairs of `float`, and all numbers on 32 bits without SSE2 are concrete.

use model::GapKind;

use super::function::{FunctionPass, untracked_kind};
use super::leaf::float_width;
use crate::llvm::{LLVMOpcode, LLVMTypeKind, Type, Value};

/// Functions with an exact meaning, by the numbers of the runtime; `f` behind a name stands for `float`.
const FUNCTIONS: [(&str, u32); 17] = [
    ("sqrt", 0),
    ("rint", 1),
    ("nearbyint", 1),
    ("roundeven", 1),
    ("round", 2),
    ("ceil", 3),
    ("floor", 4),
    ("trunc", 5),
    ("fabs", 6),
    ("copysign", 8),
    ("minnum", 9),
    ("fmin", 9),
    ("maxnum", 10),
    ("fmax", 10),
    ("fma", 11),
    ("fmod", 12),
    ("fmuladd", 13),
];

/// Functions that round to an integer, with the direction by the numbers of the wire format.
const TO_INTEGERS: [(&str, u32); 4] = [("lrint", 0), ("llrint", 0), ("lround", 1), ("llround", 1)];

/// How a bit pattern becomes another, by the numbers of the runtime.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
enum Conversion {
    FromFloat = 0,
    FromSigned = 1,
    FromUnsigned = 2,
    ToSigned = 3,
    ToUnsigned = 4,
}

impl<'m> FunctionPass<'_, 'm> {
    pub fn visit_float_binary(&mut self, instruction: Value<'m>) {
        let operation = match instruction.opcode() {
            LLVMOpcode::LLVMFAdd => 64,
            LLVMOpcode::LLVMFSub => 65,
            LLVMOpcode::LLVMFMul => 66,
            LLVMOpcode::LLVMFDiv => 67,
            LLVMOpcode::LLVMFRem => 68,
            other => unreachable!("{other:?} is no operator on two numbers"),
        };
        let Some(width) = self.number_width(instruction, instruction.ty()) else { return };
        let (a, b) = (instruction.operand(0), instruction.operand(1));
        let (shadow_a, shadow_b) = (self.scalar_shadow(a), self.scalar_shadow(b));
        if shadow_a.is_zero() && shadow_b.is_zero() {
            return;
        }
        self.place_after(instruction);
        let numbers = [self.number(operation), self.number(width)];
        let [a, b, result] = [a, b, instruction].map(|value| self.wide(value));
        let shadow = self.node("__quarry_float", &[numbers[0], numbers[1], shadow_a, a, shadow_b, b, result]);
        self.set_shadow(instruction, vec![shadow]);
    }

    pub fn visit_float_negation(&mut self, instruction: Value<'m>) {
        let Some(width) = self.number_width(instruction, instruction.ty()) else { return };
        let operand = instruction.operand(0);
        let shadow = self.scalar_shadow(operand);
        if shadow.is_zero() {
            return;
        }
        self.ir.place_before(instruction);
        let sign = self.ir.int(64).constant(1 << (width - 1));
        let numbers = [self.number(super::arithmetic::Operation::Xor as u32), self.number(width)];
        let arguments = [numbers[0], numbers[1], shadow, self.wide(operand), self.word().zero(), sign];
        let shadow = self.node("__quarry_binary", &arguments);
        self.set_shadow(instruction, vec![shadow]);
    }

    pub fn visit_float_compare(&mut self, instruction: Value<'m>) {
        let (a, b) = (instruction.operand(0), instruction.operand(1));
        let Some(width) = self.number_width(instruction, a.ty()) else { return };
        let (shadow_a, shadow_b) = (self.scalar_shadow(a), self.scalar_shadow(b));
        if shadow_a.is_zero() && shadow_b.is_zero() {
            return;
        }
        self.ir.place_before(instruction);
        let numbers = [self.number(instruction.float_predicate() as u32), self.number(width)];
        let (a, b) = (self.wide(a), self.wide(b));
        let shadow = self.node("__quarry_fcmp", &[numbers[0], numbers[1], shadow_a, a, shadow_b, b]);
        self.set_shadow(instruction, vec![shadow]);
    }

    pub fn visit_float_cast(&mut self, instruction: Value<'m>) {
        let kind = match instruction.opcode() {
            LLVMOpcode::LLVMFPExt | LLVMOpcode::LLVMFPTrunc => Conversion::FromFloat,
            LLVMOpcode::LLVMSIToFP => Conversion::FromSigned,
            LLVMOpcode::LLVMUIToFP => Conversion::FromUnsigned,
            LLVMOpcode::LLVMFPToSI => Conversion::ToSigned,
            LLVMOpcode::LLVMFPToUI => Conversion::ToUnsigned,
            other => unreachable!("{other:?} is no conversion of numbers"),
        };
        let operand = instruction.operand(0);
        let shadow = self.scalar_shadow(operand);
        let widths = (self.tracked_width(operand), self.tracked_width(instruction));
        let (Some(from), Some(to)) = widths else {
            let untracked = if widths.0.is_none() { operand } else { instruction };
            let (kind, what) = (untracked_kind(untracked.ty()), untracked.ty().text());
            return self.pin_operands(instruction, kind, &what);
        };
        if shadow.is_zero() {
            return;
        }
        self.place_after(instruction);
        let [kind, from, to] = [kind as u32, from, to].map(|number| self.number(number));
        let (value, result) = (self.wide(operand), self.wide(instruction));
        let shadow = self.node("__quarry_float_convert", &[kind, from, to, shadow, value, result]);
        self.set_shadow(instruction, vec![shadow]);
    }

    /// `extractelement` and `insertelement` of a pair of `float`.
    pub fn visit_pair(&mut self, instruction: Value<'m>) {
        let pair = instruction.operand(0);
        let is_read = instruction.opcode() == LLVMOpcode::LLVMExtractElement;
        let index = instruction.operand(if is_read { 1 } else { 2 }).integer().filter(|index| *index < 2);
        let Some(index) = index.filter(|_| self.tracked_width(pair).is_some()) else {
            return self.pin_operands(instruction, GapKind::Vector, "vector element");
        };
        let index = self.word().constant(index);
        let shadow = self.scalar_shadow(pair);
        self.ir.place_before(instruction);
        let shadow = if is_read {
            self.node("__quarry_pair_get", &[shadow, index])
        } else {
            let element = instruction.operand(1);
            let element_shadow = self.scalar_shadow(element);
            let (pair, number) = (self.wide(pair), self.wide(element));
            self.node("__quarry_pair_set", &[shadow, pair, index, element_shadow, number])
        };
        self.set_shadow(instruction, vec![shadow]);
    }

    /// An intrinsic on numbers; `false` when it is another one.
    pub fn visit_float_intrinsic(&mut self, call: Value<'m>, name: &str, arguments: &[Value<'m>]) -> bool {
        let Some(base) = name.strip_prefix("llvm.").and_then(|rest| rest.split('.').next()) else {
            return false;
        };
        if name.starts_with("llvm.is.fpclass.") {
            return self.classify(call, arguments);
        }
        self.call_of_numbers(call, base, arguments)
    }

    /// A function outside the program that takes and returns numbers; `false` when it is none.
    pub fn call_of_numbers(&mut self, call: Value<'m>, name: &str, arguments: &[Value<'m>]) -> bool {
        let is_single =
            arguments.first().is_some_and(|argument| float_width(self.ir, argument.ty()) == Some(32));
        let base = name.strip_suffix('f').filter(|_| is_single).unwrap_or(name);
        let named = |known: &str| known == base || known == name;
        if let Some((_, kind)) = FUNCTIONS.iter().find(|(known, _)| named(known)) {
            return self.apply_function(call, *kind, arguments);
        }
        if let Some((_, direction)) = TO_INTEGERS.iter().find(|(known, _)| named(known)) {
            return self.round_to_integer(call, *direction, arguments);
        }
        self.apply_opaque(call, arguments)
    }

    fn apply_function(&mut self, call: Value<'m>, kind: u32, arguments: &[Value<'m>]) -> bool {
        let n_expected = match kind {
            0..=6 => 1,
            8..=10 | 12 => 2,
            _ => 3,
        };
        let Some(width) = float_width(self.ir, call.ty()) else { return false };
        if arguments.len() != n_expected || arguments.iter().any(|argument| argument.ty() != call.ty()) {
            return false;
        }
        if arguments.iter().all(|argument| self.scalar_shadow(*argument).is_zero()) {
            return true;
        }
        self.place_after(call);
        let mut passed = vec![self.number(kind), self.number(width)];
        for index in 0..3 {
            match arguments.get(index) {
                Some(argument) => passed.extend([self.scalar_shadow(*argument), self.wide(*argument)]),
                None => passed.extend([self.word().zero(), self.ir.int(64).zero()]),
            }
        }
        passed.push(self.wide(call));
        let shadow = self.node("__quarry_float_function", &passed);
        self.set_shadow(call, vec![shadow]);
        true
    }

    fn round_to_integer(&mut self, call: Value<'m>, direction: u32, arguments: &[Value<'m>]) -> bool {
        let &[argument] = arguments else { return false };
        let Some(from) = float_width(self.ir, argument.ty()) else { return false };
        if !call.ty().is_integer() || !matches!(call.ty().bits(), 32 | 64) {
            return false;
        }
        let shadow = self.scalar_shadow(argument);
        if !shadow.is_zero() {
            let [direction, from, to] = [direction, from, call.ty().bits()].map(|number| self.number(number));
            let shadow =
                self.node("__quarry_float_round", &[direction, from, to, shadow, self.wide(argument)]);
            self.set_shadow(call, vec![shadow]);
        }
        true
    }

    fn classify(&mut self, call: Value<'m>, arguments: &[Value<'m>]) -> bool {
        let (number, mask) = (arguments[0], arguments[1]);
        let Some(width) = float_width(self.ir, number.ty()) else { return false };
        let shadow = self.scalar_shadow(number);
        if !shadow.is_zero() {
            let mask = self.ir.as_int(mask, 32);
            let shadow =
                self.node("__quarry_fpclass", &[self.number(width), mask, shadow, self.wide(number)]);
            self.set_shadow(call, vec![shadow]);
        }
        true
    }

    /// One or two numbers go in, one comes out, and nobody knows how.
    fn apply_opaque(&mut self, call: Value<'m>, arguments: &[Value<'m>]) -> bool {
        let is_scalar = |ty: Type<'m>| self.scalar_number_width(ty).is_some();
        let mut types = arguments.iter().map(|argument| argument.ty()).chain([call.ty()]);
        let fits = matches!(arguments.len(), 1 | 2)
            && types.clone().all(is_scalar)
            && types.any(|ty| float_width(self.ir, ty).is_some());
        let Some(width) = self.scalar_number_width(call.ty()).filter(|_| fits) else { return false };
        if arguments.iter().all(|argument| self.scalar_shadow(*argument).is_zero()) {
            return true;
        }
        self.place_after(call);
        let mut passed = vec![self.number(width)];
        for index in 0..2 {
            match arguments.get(index) {
                Some(argument) => passed.extend([self.scalar_shadow(*argument), self.wide(*argument)]),
                None => passed.extend([self.word().zero(), self.ir.int(64).zero()]),
            }
        }
        passed.push(self.wide(call));
        let shadow = self.node("__quarry_opaque", &passed);
        self.set_shadow(call, vec![shadow]);
        true
    }

    /// Bits of an integer or number.
    fn scalar_number_width(&self, ty: Type<'m>) -> Option<u32> {
        let integer = || (ty.is_integer() && ty.bits() <= 64).then(|| ty.bits());
        float_width(self.ir, ty).or_else(integer)
    }

    /// Bits of the numbers that an instruction computes with; where they have no shadow, its operands are pinned.
    fn number_width(&mut self, instruction: Value<'m>, ty: Type<'m>) -> Option<u32> {
        let width = float_width(self.ir, ty);
        if width.is_none() {
            self.pin_operands(instruction, untracked_kind(ty), &ty.text());
        }
        // of x87: nothing of it has a shadow, so nothing is met, but the gap still has its position
        let is_number =
            matches!(ty.kind(), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind);
        if is_number && width.is_none() {
            self.gap(untracked_kind(ty), instruction, format!("{} of x87", ty.text()));
        } else if is_number && self.pass.is_other_rounding {
            let what = "computed with SSE2; x87, for which the flags ask, may round otherwise (-msse2)";
            self.gap(untracked_kind(ty), instruction, what);
        }
        width
    }
}
