//! What the runtime knows of objects: the table of globals, stack objects that other functions may see.
//!
//! Method: a stack object whose address leaves its function is pushed to the runtime's list on entry; every way out drops
//! what the function pushed. Accesses to the others name their object themselves. Limit: scalars are not listed.

use super::Mode;
use super::function::FunctionPass;
use super::pass::Pass;
use super::prepare::is_fixed_alloca;
use super::watch::WATCH_HOOK;
use crate::agreement::direct_callee;
use crate::llvm::{AttributePlace, LLVMLinkage, LLVMOpcode, Value};

/// Intrinsics that do not keep the addresses they get.
const FORGETFUL: [&str; 5] = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset.", "llvm.lifetime.", WATCH_HOOK];

impl<'m> Pass<'m> {
    /// Addresses, sizes and constness of the program's globals.
    pub fn make_global_table(&self) {
        let ir = self.ir;
        let size = ir.int(ir.pointer_bits());
        let rows: Vec<_> = ir
            .globals()
            .into_iter()
            .filter(|global| self.mode == Mode::Symbolic && is_listed(*global))
            .filter_map(|global| {
                let bytes = ir.known_size(global.value_type())?;
                let is_constant = u64::from(global.is_constant_global());
                Some(ir.constant_struct(&[global, size.constant(bytes), size.constant(is_constant)]))
            })
            .collect();
        let empty = ir.constant_struct(&[ir.pointer().zero(), size.zero(), size.zero()]);
        let table = ir.add_global("__quarry_globals", ir.array(empty.ty(), rows.len() as u64));
        table.set_initializer(ir.constant_array(empty.ty(), &rows));
        table.set_hidden();
        let count = ir.add_global("__quarry_n_globals", ir.int(32));
        count.set_initializer(ir.int(32).constant(rows.len() as u64));
        count.set_hidden();
    }
}

/// Whether a global is the program's own and one object wherever it is used.
fn is_listed(global: Value<'_>) -> bool {
    use LLVMLinkage::*;
    let is_one = matches!(
        global.linkage(),
        LLVMExternalLinkage | LLVMInternalLinkage | LLVMPrivateLinkage | LLVMCommonLinkage
    );
    let name = global.name();
    is_one && !global.is_thread_local() && !name.starts_with("__quarry_") && !name.starts_with("llvm.")
}

/// The stack objects of a function that are to be listed, and whether some have a size known only at run time.
pub struct Locals<'m> {
    listed: Vec<(Value<'m>, u64)>,
    has_sized: bool,
}

impl<'m> FunctionPass<'_, 'm> {
    /// Found before code of the instrumentation uses the addresses.
    pub fn find_locals(&self, bodies: &[Vec<Value<'m>>]) -> Locals<'m> {
        let allocas = bodies.iter().flatten().copied().filter(|instruction| instruction.is_alloca());
        let (fixed, sized): (Vec<_>, Vec<_>) = allocas.partition(|alloca| self.is_fixed(*alloca));
        let copies = (0..self.function.n_parameters())
            .filter(|index| self.function.has_attribute(AttributePlace::Parameter(*index), "byval"))
            .map(|index| self.function.parameter(index));
        let listed = fixed
            .into_iter()
            .filter(|alloca| alloca.allocated_type().is_array() || alloca.allocated_type().is_struct())
            .chain(copies)
            .filter(|object| escapes(*object))
            .filter_map(|object| Some((object, self.object_size(object)?)))
            .collect();
        Locals { listed, has_sized: !sized.is_empty() }
    }

    /// Lists the stack objects, at the current place on entry.
    pub fn list_locals(&mut self, locals: &Locals<'m>) {
        if locals.listed.is_empty() && !locals.has_sized {
            return;
        }
        let frame = self.node("__quarry_frame", &[]);
        for (number, (object, size)) in (0..).zip(&locals.listed) {
            let number = self.ir.add(frame, self.number(number));
            let size = self.address_type().constant(*size);
            self.act("__quarry_local", &[number, self.address(*object), size]);
        }
        self.set_frame(frame);
    }

    /// Drops this function's stack objects before `instruction`, which leaves it.
    pub fn drop_locals(&self, instruction: Value<'m>) {
        if let Some(frame) = self.frame() {
            self.ir.place_before(instruction);
            self.act("__quarry_leave", &[frame]);
        }
    }

    fn is_fixed(&self, alloca: Value<'m>) -> bool {
        alloca.block() == self.function.blocks()[0] && is_fixed_alloca(alloca)
    }

    /// Bytes of the object that begins at this address, if it follows from the code itself.
    pub fn object_size(&self, address: Value<'m>) -> Option<u64> {
        if let Some(global) = address.as_global_variable() {
            let is_known = !global.is_declaration() && is_listed(global);
            return is_known.then(|| self.ir.known_size(global.value_type())).flatten();
        }
        if address.is_instruction() && address.is_alloca() {
            let bytes = self.ir.allocation_size(address.allocated_type());
            return is_fixed_alloca(address)
                .then(|| address.operand(0).integer())?
                .map(|count| count * bytes);
        }
        let copied =
            (0..self.function.n_parameters()).find(|index| self.function.parameter(*index) == address)?;
        let ty = self.function.type_attribute(AttributePlace::Parameter(copied), "byval")?;
        Some(self.ir.allocation_size(ty))
    }
}

/// Whether an address may be known outside of the instructions that access it.
fn escapes(address: Value<'_>) -> bool {
    address.users().into_iter().any(|user| match user.opcode() {
        LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp => false,
        LLVMOpcode::LLVMStore => user.operand(0) == address,
        LLVMOpcode::LLVMGetElementPtr => user.operand(0) != address || escapes(user),
        LLVMOpcode::LLVMCall => {
            let name = direct_callee(user).map(Value::name).unwrap_or_default();
            !FORGETFUL.iter().any(|prefix| name.starts_with(prefix))
        }
        _ => true,
    })
}
