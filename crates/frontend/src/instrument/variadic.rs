//! Variable arguments: where the callee finds each of them in memory, and their shadows there.
//!
//! Method: the target's calling convention says for each argument of a call whether the callee saves it with its registers or
//! finds it on the stack. A caller passes these places beside the shadows; the callee, on entry, takes a list of its own
//! and gives the bytes of each argument their shadow, so that `va_arg`, which clang has lowered to loads, is a load like all
//! others. Limit: structures that are passed in memory, `long double` and wide integers arrive concrete.

use model::GapKind;

use super::function::FunctionPass;
use crate::agreement::direct_callee;
use crate::llvm::{AttributePlace, LLVMTypeKind, Type, Value};

/// Integer and vector registers that x86-64 passes arguments in.
const REGISTERS: u64 = 6;
const VECTOR_REGISTERS: u64 = 8;

/// Two words for each argument, behind their number.
const MOST_ARGUMENTS: usize = 127;

/// Where an argument lies in memory, as seen by the callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// So many bytes behind the start of the saved registers.
    Saved(u64),
    /// So many bytes behind the first variable argument on the stack.
    Stack(u64),
}

impl Place {
    /// As the runtime reads it, for a scalar of so many bytes.
    fn encoded(self, bytes: u64) -> u32 {
        let (offset, area) = match self {
            Place::Saved(offset) => (offset, 0),
            Place::Stack(offset) => (offset, 1 << 31),
        };
        area | u32::try_from(offset << 4 | bytes).expect("arguments of less than 128 MiB")
    }
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug)]
enum Class {
    Integer,
    Vector,
    /// On the stack: bytes and alignment.
    Memory(u64, u64),
}

/// Hands out places in the order of the arguments.
#[derive(Debug, Default)]
struct Layout {
    n_integers: u64,
    n_vectors: u64,
    stack: u64,
    /// Where the variable arguments on the stack begin.
    first: u64,
}

impl Layout {
    fn place(&mut self, class: Class, has_registers: bool) -> Place {
        let (bytes, align) = match class {
            Class::Integer if has_registers && self.n_integers < REGISTERS => {
                self.n_integers += 1;
                return Place::Saved(8 * (self.n_integers - 1));
            }
            Class::Vector if has_registers && self.n_vectors < VECTOR_REGISTERS => {
                self.n_vectors += 1;
                return Place::Saved(8 * REGISTERS + 16 * (self.n_vectors - 1));
            }
            Class::Integer | Class::Vector => (8, 8),
            Class::Memory(bytes, align) => (bytes, align),
        };
        let at = self.stack.next_multiple_of(align);
        self.stack = at + bytes;
        Place::Stack(at.saturating_sub(self.first))
    }
}

impl<'m> FunctionPass<'_, 'm> {
    /// Passes the variable arguments of a call, if it has any.
    pub fn pass_variable_arguments(&mut self, call: Value<'m>) {
        if !call.call_type().is_variadic() {
            return;
        }
        let n_fixed = call.call_type().parameters().len();
        let mut layout = Layout::default();
        let mut n_passed = 0;
        for (index, argument) in call.call_arguments().into_iter().enumerate() {
            if index == n_fixed {
                layout.first = layout.stack.next_multiple_of(u64::from(self.ir.pointer_bits()) / 8);
            }
            let places = self.places(call, index, argument, &mut layout);
            if index < n_fixed {
                continue;
            }
            let width = self.tracked_width(argument).filter(|width| width % 8 == 0);
            let [place] = places[..] else {
                self.leave_concrete(call, argument);
                continue;
            };
            let Some(width) = width.filter(|_| n_passed < MOST_ARGUMENTS) else {
                self.leave_concrete(call, argument);
                continue;
            };
            let place = self.number(place.encoded(u64::from(width) / 8));
            self.ir.store(place, self.variadic_slot(1 + 2 * n_passed));
            self.ir.store(self.scalar_shadow(argument), self.variadic_slot(2 + 2 * n_passed));
            n_passed += 1;
        }
        let count = self.word().constant(n_passed as u64);
        self.ir.store(count, self.variadic_slot(0));
    }

    /// The callee learns nothing of variable arguments.
    pub fn pass_no_variable_arguments(&self) {
        self.ir.store(self.word().zero(), self.variadic_slot(0));
    }

    /// On entry of a function that takes a list of its variable arguments: gives them their shadows.
    pub fn receive_variable_arguments(&self) {
        let starts = |callee: &Value<'m>| callee.is_intrinsic() && callee.name().starts_with("llvm.va_start");
        let instructions = self.function.blocks().into_iter().flat_map(|block| block.instructions());
        let start = instructions.filter(|i| i.is_call()).filter_map(direct_callee).find(starts);
        let Some(start) = start else { return };
        let list = self.ir.alloca(self.ir.array(self.ir.int(64), 3));
        self.ir.call(start, &[list]);
        self.act("__quarry_receive_variadic", &[list]);
    }

    fn variadic_slot(&self, index: usize) -> Value<'m> {
        self.slot("__quarry_variadic", self.word(), index)
    }

    fn leave_concrete(&mut self, call: Value<'m>, argument: Value<'m>) {
        let site = self.site(GapKind::VariableArguments, call, "a variable argument");
        self.pin(argument, site);
        if self.tracked_width(argument).is_none() {
            self.gap(GapKind::VariableArguments, call, "a variable argument that is no scalar");
        }
    }

    /// Where the parts of an argument lie: a structure in registers has several.
    fn places(&self, call: Value<'m>, index: usize, argument: Value<'m>, layout: &mut Layout) -> Vec<Place> {
        let has_registers = self.ir.pointer_bits() == 64;
        let attribute = AttributePlace::Parameter(u32::try_from(index).expect("few arguments"));
        if let Some(ty) = call.call_type_attribute(attribute, "byval") {
            let word = u64::from(self.ir.pointer_bits()) / 8;
            let bytes = self.ir.allocation_size(ty).next_multiple_of(word);
            let align = u64::from(self.ir.align(ty)).max(word);
            layout.place(Class::Memory(bytes, if has_registers { align } else { word }), has_registers);
            return Vec::new();
        }
        let leaves = self.leaves(argument.ty());
        let classes = leaves.iter().flat_map(|leaf| self.classes(leaf.ty, has_registers));
        classes.map(|class| layout.place(class, has_registers)).collect()
    }

    fn classes(&self, ty: Type<'m>, has_registers: bool) -> Vec<Class> {
        use LLVMTypeKind::*;
        let bytes = self.ir.allocation_size(ty);
        match ty.kind() {
            _ if !has_registers => vec![Class::Memory(bytes.next_multiple_of(4), 4)],
            LLVMIntegerTypeKind => vec![Class::Integer; ty.bits().div_ceil(64) as usize],
            LLVMPointerTypeKind => vec![Class::Integer],
            LLVMX86_FP80TypeKind => vec![Class::Memory(16, 16)],
            LLVMFloatTypeKind | LLVMDoubleTypeKind => vec![Class::Vector],
            _ if bytes <= 16 => vec![Class::Vector],
            _ => vec![Class::Memory(bytes, bytes)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_register_is_on_the_stack() {
        let mut layout = Layout::default();
        let classes =
            [Class::Integer; 7].into_iter().chain([Class::Vector, Class::Memory(16, 16), Class::Integer]);
        let places: Vec<_> = classes.map(|class| layout.place(class, true)).collect();
        assert_eq!(
            places[5..],
            [Place::Saved(40), Place::Stack(0), Place::Saved(48), Place::Stack(16), Place::Stack(32)]
        );
    }

    #[test]
    fn without_registers_all_are_on_the_stack() {
        let mut layout = Layout::default();
        layout.place(Class::Memory(4, 4), false);
        layout.first = layout.stack;
        assert_eq!(layout.place(Class::Memory(8, 4), false), Place::Stack(0));
        assert_eq!(layout.place(Class::Memory(4, 4), false), Place::Stack(8));
    }
}
