//! LLVM's intrinsics: memory, overflow checks, bit tricks; the others run concretely.

use model::GapKind;

use super::arithmetic::Operation;
use super::function::FunctionPass;
use crate::llvm::Value;

/// Intrinsics with an expression, by the numbers of the runtime.
const EXPRESSED: [(&str, u32); 13] = [
    ("llvm.abs.", 0),
    ("llvm.smin.", 1),
    ("llvm.smax.", 2),
    ("llvm.umin.", 3),
    ("llvm.umax.", 4),
    ("llvm.bswap.", 5),
    ("llvm.ctpop.", 6),
    ("llvm.ctlz.", 7),
    ("llvm.cttz.", 8),
    ("llvm.fshl.", 9),
    ("llvm.fshr.", 10),
    ("llvm.uadd.sat.", 11),
    ("llvm.usub.sat.", 12),
];

/// Intrinsics whose result is their first operand.
const TRANSPARENT: [&str; 5] =
    ["llvm.expect.", "llvm.launder.", "llvm.strip.", "llvm.ssa.copy", "llvm.annotation."];

/// Intrinsics whose result does not depend on the operands' values, or that return nothing.
const INDIFFERENT: [&str; 3] = ["llvm.objectsize.", "llvm.is.constant.", "llvm.returnaddress"];

const OVERFLOW: [(&str, Operation, bool); 6] = [
    ("llvm.sadd.with.overflow.", Operation::Add, true),
    ("llvm.uadd.with.overflow.", Operation::Add, false),
    ("llvm.ssub.with.overflow.", Operation::Sub, true),
    ("llvm.usub.with.overflow.", Operation::Sub, false),
    ("llvm.smul.with.overflow.", Operation::Mul, true),
    ("llvm.umul.with.overflow.", Operation::Mul, false),
];

impl<'m> FunctionPass<'_, 'm> {
    /// `name` is the intrinsic's full name, or the start of one with the same meaning.
    pub fn visit_intrinsic(&mut self, call: Value<'m>, name: &str) {
        let arguments = call.call_arguments();
        let is = |prefix: &str| name.starts_with(prefix);
        self.ir.place_before(call);
        if is("llvm.memcpy.") || is("llvm.memmove.") {
            self.copy_memory(call, arguments[0], arguments[1], arguments[2]);
        } else if is("llvm.memset.") {
            self.fill_memory(call, arguments[0], arguments[1], arguments[2]);
        } else if is("llvm.va_start") {
            self.place_after(call);
            self.act("__quarry_va_start", &[arguments[0]]);
        } else if is("llvm.va_copy") {
            let bytes = self.address_type().constant(if self.ir.pointer_bits() == 64 { 24 } else { 4 });
            self.place_after(call);
            self.act("__quarry_clear", &[self.address(arguments[0]), bytes]);
        } else if TRANSPARENT.iter().any(|prefix| is(prefix)) {
            self.set_shadow(call, self.shadow(arguments[0]));
        } else if let Some((_, operation, signed)) = OVERFLOW.iter().find(|(prefix, ..)| is(prefix)) {
            self.check_overflow(call, *operation, *signed, &arguments);
        } else if let Some((_, kind)) = EXPRESSED.iter().find(|(prefix, _)| is(prefix)) {
            self.express(call, *kind, &arguments);
        } else if self.visit_float_intrinsic(call, name, &arguments) {
        } else if !call.ty().is_void() && !INDIFFERENT.iter().any(|prefix| is(prefix)) {
            self.pin_operands(call, GapKind::Instruction, name);
        }
    }

    /// The shadow moves with the bytes; before the call, which may overwrite its source.
    pub fn copy_memory(&mut self, call: Value<'m>, to: Value<'m>, from: Value<'m>, bytes: Value<'m>) {
        let site = self.site(GapKind::PinnedValue, call, "the address of a copy");
        self.pin(to, site);
        self.pin(from, site);
        self.pin_size("__quarry_bytes", call, bytes);
        let bytes = self.ir.as_int(bytes, self.ir.pointer_bits());
        self.act("__quarry_copy", &[self.address(to), self.address(from), bytes]);
    }

    /// Every byte gets the shadow of the value's low byte.
    pub fn fill_memory(&mut self, call: Value<'m>, to: Value<'m>, value: Value<'m>, bytes: Value<'m>) {
        let site = self.site(GapKind::PinnedValue, call, "the address of a copy");
        self.pin(to, site);
        self.pin_size("__quarry_bytes", call, bytes);
        let shadow = self.scalar_shadow(value);
        let bytes = self.ir.as_int(bytes, self.ir.pointer_bits());
        self.act("__quarry_fill", &[self.address(to), bytes, shadow, self.wide(value)]);
    }

    fn check_overflow(
        &mut self,
        call: Value<'m>,
        operation: Operation,
        signed: bool,
        arguments: &[Value<'m>],
    ) {
        let (a, b) = (arguments[0], arguments[1]);
        let Some(width) = self.tracked_width(a) else { return };
        let (shadow_a, shadow_b) = (self.scalar_shadow(a), self.scalar_shadow(b));
        if shadow_a.is_zero() && shadow_b.is_zero() {
            return;
        }
        let result = self.operate("__quarry_binary", operation, width, a, b);
        let numbers = [operation as u32, u32::from(signed), width].map(|number| self.number(number));
        let [operation, signed, width] = numbers;
        let (a, b) = (self.wide(a), self.wide(b));
        let overflow = self.node("__quarry_overflow", &[operation, signed, width, shadow_a, a, shadow_b, b]);
        self.set_shadow(call, vec![result, overflow]);
    }

    fn express(&mut self, call: Value<'m>, kind: u32, arguments: &[Value<'m>]) {
        let Some(width) = self.tracked_width(call) else { return };
        // the last operand of abs, ctlz and cttz is a flag of another type
        let operands: Vec<_> = arguments.iter().copied().filter(|a| a.ty() == call.ty()).collect();
        if operands.iter().all(|operand| self.scalar_shadow(*operand).is_zero()) {
            return;
        }
        let mut passed = vec![self.number(kind), self.number(width)];
        for index in 0..3 {
            match operands.get(index) {
                Some(operand) => passed.extend([self.scalar_shadow(*operand), self.wide(*operand)]),
                None => passed.extend([self.word().zero(), self.ir.int(64).zero()]),
            }
        }
        let shadow = self.node("__quarry_intrinsic", &passed);
        self.set_shadow(call, vec![shadow]);
    }
}
