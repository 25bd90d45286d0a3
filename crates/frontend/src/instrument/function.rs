//! One function: entry, the shadow of every value, the way out.
//!
//! Blocks are visited so that definitions come before uses; phis get their shadow phi first and its operands last. No
//! block is split and no edge touched: every insertion is a call of the runtime, whose short test is inlined later.

use std::collections::{HashMap, HashSet};

use model::GapKind;

use super::Mode;
use super::leaf::{Leaf, leaves, tracked_width};
use super::library::is_model;
use super::objects::Locals;
use super::pass::Pass;
use super::prepare::is_fixed_alloca;
use crate::agreement::is_mark;
use crate::llvm::{AttributePlace, Block, Builder, LLVMOpcode, LLVMTypeKind, Type, Value};

/// Slots for the leaves of arguments and results in the runtime.
const SLOTS: usize = 256;

/// State while a function is instrumented.
pub struct FunctionPass<'p, 'a> {
    pub pass: &'p mut Pass<'a>,
    pub ir: &'a Builder<'a>,
    pub function: Value<'a>,
    name: String,
    /// Shadow of each leaf of a value; values without entry are concrete.
    shadows: HashMap<Value<'a>, Vec<Value<'a>>>,
    /// Addresses that serve accesses only: their parts have shadows, they do not.
    bare_addresses: HashSet<Value<'a>>,
    /// How many stack objects the callers have listed, if this function lists any.
    frame: Option<Value<'a>>,
}

/// Instruments one function.
pub fn instrument_function<'m>(pass: &mut Pass<'m>, function: Value<'m>, number: u32) {
    let ir = pass.ir;
    let name = function.name();
    let (shadows, bare_addresses) = (HashMap::new(), HashSet::new());
    let mut this = FunctionPass { pass, ir, function, name, shadows, bare_addresses, frame: None };
    let blocks = reverse_postorder(function);
    let bodies: Vec<Vec<Value<'m>>> = blocks.iter().map(|block| block.instructions()).collect();
    let locals = this.find_locals(&bodies);
    this.add_shadow_phis(&bodies);
    this.enter(number, &locals);
    this.add_landings(&bodies); // before anything else a target logs
    for instruction in bodies.iter().flatten() {
        this.visit(*instruction);
    }
    this.fill_shadow_phis(&bodies);
}

impl<'m> FunctionPass<'_, 'm> {
    /// Whether its values have expressions: in code that no input reaches they have none.
    pub fn is_symbolic(&self) -> bool {
        self.pass.has_expressions(self.function)
    }

    /// Whether the runtime knows the program's objects, which other functions may access by expressions.
    pub fn lists_objects(&self) -> bool {
        self.pass.mode == Mode::Symbolic
    }

    pub fn word(&self) -> Type<'m> {
        self.ir.int(32)
    }

    pub fn number(&self, value: u32) -> Value<'m> {
        self.word().constant(u64::from(value))
    }

    /// An integer of the target's address size.
    pub fn address_type(&self) -> Type<'m> {
        self.ir.int(self.ir.pointer_bits())
    }

    /// A pointer as an integer of the target's address size.
    pub fn address(&self, pointer: Value<'m>) -> Value<'m> {
        self.ir.as_int(pointer, self.ir.pointer_bits())
    }

    /// A tracked scalar as 64 bits.
    pub fn wide(&self, value: Value<'m>) -> Value<'m> {
        self.ir.as_int(value, 64)
    }

    /// Calls a function of the runtime that returns nothing.
    pub fn act(&self, name: &str, arguments: &[Value<'m>]) {
        self.pass.runtime(name, self.ir.void(), arguments);
    }

    /// Calls a function of the runtime that returns a node.
    pub fn node(&self, name: &str, arguments: &[Value<'m>]) -> Value<'m> {
        self.pass.runtime(name, self.word(), arguments)
    }

    pub fn gap(&mut self, kind: GapKind, instruction: Value<'m>, what: impl Into<String>) {
        self.pass.gaps.note(kind, &self.name, instruction, what);
    }

    pub fn leaves(&self, ty: Type<'m>) -> Vec<Leaf<'m>> {
        leaves(self.ir, ty)
    }

    pub fn tracked_width(&self, value: Value<'m>) -> Option<u32> {
        tracked_width(self.ir, value.ty())
    }

    /// Shadows of all leaves of a value.
    pub fn shadow(&self, value: Value<'m>) -> Vec<Value<'m>> {
        match self.shadows.get(&value) {
            Some(shadow) => shadow.clone(),
            None => vec![self.word().zero(); self.leaves(value.ty()).len()],
        }
    }

    /// Shadow of a scalar.
    pub fn scalar_shadow(&self, value: Value<'m>) -> Value<'m> {
        self.shadow(value).first().copied().unwrap_or_else(|| self.word().zero())
    }

    pub fn set_shadow(&mut self, value: Value<'m>, shadow: Vec<Value<'m>>) {
        self.shadows.insert(value, shadow);
    }

    pub fn set_bare_address(&mut self, address: Value<'m>) {
        self.bare_addresses.insert(address);
    }

    pub fn is_bare_address(&self, address: Value<'m>) -> bool {
        self.bare_addresses.contains(&address)
    }

    pub fn frame(&self) -> Option<Value<'m>> {
        self.frame
    }

    pub fn set_frame(&mut self, frame: Value<'m>) {
        self.frame = Some(frame);
    }

    /// Code to be added goes right after this instruction.
    pub fn place_after(&self, instruction: Value<'m>) {
        let next = instruction.next().expect("only terminators end a block");
        self.ir.place_before_from(next, instruction);
    }

    /// Tells the log that the run goes on at this site with the concrete value of a tracked scalar.
    pub fn pin(&self, value: Value<'m>, site: Value<'m>) {
        // another value of a pointer is another object, where the same path may do something else
        let runtime = if value.ty().is_pointer() { "__quarry_pin_pointer" } else { "__quarry_pin" };
        let shadow = self.scalar_shadow(value);
        if !shadow.is_zero() && self.tracked_width(value).is_some() {
            self.act(runtime, &[shadow, self.wide(value), site]);
        }
    }

    /// What a run calls the place where values of `instruction` may be lost; in a model it is that of the call of the model.
    pub fn site(&mut self, kind: GapKind, instruction: Value<'m>, what: &str) -> Value<'m> {
        if is_model(&self.name) {
            return self.word().zero();
        }
        let number = self.pass.gaps.site(kind, &self.name, instruction, what);
        self.number(number)
    }

    /// Pins every tracked operand; `instruction` is not followed.
    pub fn pin_operands(&mut self, instruction: Value<'m>, kind: GapKind, what: &str) {
        let operands: Vec<_> =
            instruction.operands().into_iter().filter(|operand| operand.is_data()).collect();
        let mut met = false;
        let site = self.site(kind, instruction, what);
        self.ir.place_before(instruction);
        for operand in operands {
            met |= !self.scalar_shadow(operand).is_zero();
            self.pin(operand, site);
        }
        if met {
            self.gap(kind, instruction, what);
        }
    }

    /// The address of a slot of one of the runtime's tables.
    pub fn slot(&self, table: &str, element: Type<'m>, index: usize) -> Value<'m> {
        let global = self.ir.global_named(table).unwrap_or_else(|| {
            let global = self.ir.add_global(table, self.ir.array(element, SLOTS as u64));
            global.set_hidden();
            global
        });
        self.ir.offset(global, index as u64 * self.ir.store_size(element))
    }

    /// Where each parameter's leaves lie in the runtime's table; those that do not fit are concrete.
    pub fn parameter_slots(&self, parameters: &[Type<'m>]) -> Vec<Option<usize>> {
        let mut next = 0;
        let place = |ty: &Type<'m>| {
            let start = next;
            next += self.leaves(*ty).len();
            (next <= SLOTS).then_some(start)
        };
        parameters.iter().map(place).collect()
    }

    fn enter(&mut self, number: u32, locals: &Locals<'m>) {
        let entry = self.function.blocks()[0].instructions();
        let (allocas, rest): (Vec<_>, Vec<_>) = entry.into_iter().partition(|i| is_fixed_alloca(*i));
        self.ir.place_before(rest[0]);
        if !self.pass.is_unannounced(self.function) {
            self.act("__quarry_enter", &[self.function, self.number(number)]);
        }
        if self.is_symbolic() {
            self.receive_arguments();
            self.receive_variable_arguments();
        }
        if self.lists_objects() {
            for alloca in allocas {
                self.clear_alloca(alloca);
            }
            self.list_locals(locals);
        }
    }

    fn receive_arguments(&mut self) {
        let slots = self.parameter_slots(&self.function.value_type().parameters());
        for (index, slot) in (0..).zip(slots) {
            let parameter = self.function.parameter(index);
            let Some(slot) = slot else { continue };
            if let Some(ty) = self.function.type_attribute(AttributePlace::Parameter(index), "byval") {
                let source = self.slot("__quarry_byval", self.address_type(), slot);
                let source = self.ir.load(self.address_type(), source);
                let bytes = self.address_type().constant(self.ir.store_size(ty));
                self.act("__quarry_receive", &[self.address(parameter), source, bytes]);
                continue;
            }
            let shadow = self
                .leaves(parameter.ty())
                .iter()
                .enumerate()
                .map(|(k, leaf)| match leaf.width {
                    Some(_) => self.ir.load(self.word(), self.slot("__quarry_args", self.word(), slot + k)),
                    None => self.word().zero(),
                })
                .collect();
            self.set_shadow(parameter, shadow);
        }
    }

    fn add_shadow_phis(&mut self, bodies: &[Vec<Value<'m>>]) {
        if !self.is_symbolic() {
            return;
        }
        for phi in phis(bodies) {
            self.ir.place_before(phi);
            let shadow = self
                .leaves(phi.ty())
                .iter()
                .map(|leaf| match leaf.width {
                    Some(_) => self.ir.phi(self.word()),
                    None => self.word().zero(),
                })
                .collect();
            self.set_shadow(phi, shadow);
        }
    }

    fn fill_shadow_phis(&self, bodies: &[Vec<Value<'m>>]) {
        if !self.is_symbolic() {
            return;
        }
        for phi in phis(bodies) {
            let shadow_phis = self.shadow(phi);
            for (value, block) in phi.incoming() {
                for (shadow_phi, shadow) in shadow_phis.iter().zip(self.shadow(value)) {
                    if !shadow_phi.is_constant() {
                        shadow_phi.add_incoming(shadow, block);
                    }
                }
            }
        }
    }

    fn visit(&mut self, instruction: Value<'m>) {
        use LLVMOpcode::*;
        if is_mark(instruction) {
            return self.visit_mark(instruction);
        }
        match instruction.opcode() {
            LLVMBr => return self.visit_branch(instruction),
            LLVMSwitch => return self.visit_switch(instruction),
            LLVMIndirectBr => return self.visit_jump(instruction),
            LLVMCall => return self.visit_call(instruction),
            LLVMRet => return self.visit_return(instruction),
            _ => {}
        }
        if !self.is_symbolic() {
            return;
        }
        match instruction.opcode() {
            LLVMPHI | LLVMUnreachable | LLVMFence => {}
            LLVMAdd | LLVMSub | LLVMMul | LLVMAnd | LLVMOr | LLVMXor | LLVMUDiv | LLVMSDiv | LLVMURem
            | LLVMSRem | LLVMShl | LLVMLShr | LLVMAShr => self.visit_binary(instruction),
            LLVMICmp => self.visit_compare(instruction),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMFreeze
            | LLVMAddrSpaceCast => self.visit_cast(instruction),
            LLVMSelect => self.visit_select(instruction),
            LLVMGetElementPtr => self.visit_gep(instruction),
            LLVMExtractValue => self.visit_extract(instruction),
            LLVMInsertValue => self.visit_insert(instruction),
            LLVMLoad => self.visit_load(instruction),
            LLVMStore => self.visit_store(instruction),
            LLVMAlloca => self.visit_alloca(instruction),
            LLVMAtomicRMW | LLVMAtomicCmpXchg => self.visit_atomic(instruction),
            LLVMExtractElement | LLVMInsertElement => self.visit_pair(instruction),
            LLVMShuffleVector => self.pin_operands(instruction, GapKind::Vector, "vector element"),
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem => self.visit_float_binary(instruction),
            LLVMFNeg => self.visit_float_negation(instruction),
            LLVMFCmp => self.visit_float_compare(instruction),
            LLVMSIToFP | LLVMUIToFP | LLVMFPToUI | LLVMFPToSI | LLVMFPTrunc | LLVMFPExt => {
                self.visit_float_cast(instruction);
            }
            _ => self.pin_operands(instruction, GapKind::Instruction, "instruction"),
        }
    }

    fn visit_return(&mut self, instruction: Value<'m>) {
        let tail_call =
            instruction.block().instructions().into_iter().find(|i| i.is_call() && i.is_must_tail());
        self.drop_locals(tail_call.unwrap_or(instruction));
        if !self.is_symbolic() || tail_call.is_some() || instruction.n_operands() == 0 {
            return; // the callee of a guaranteed tail call has left its shadows
        }
        self.ir.place_before(instruction);
        let value = instruction.operand(0);
        let shadows = self.shadow(value);
        for (index, (leaf, shadow)) in self.leaves(value.ty()).iter().zip(shadows).enumerate() {
            if leaf.width.is_some() {
                self.ir.store(shadow, self.slot("__quarry_returns", self.word(), index));
            }
        }
    }
}

/// The gap a value without shadow stands for.
pub fn untracked_kind(ty: Type<'_>) -> GapKind {
    use LLVMTypeKind::*;
    match ty.kind() {
        LLVMIntegerTypeKind => GapKind::WideInteger,
        LLVMVectorTypeKind | LLVMScalableVectorTypeKind => GapKind::Vector,
        _ => GapKind::FloatingPoint,
    }
}

fn phis<'m>(bodies: &[Vec<Value<'m>>]) -> impl Iterator<Item = Value<'m>> {
    bodies.iter().flatten().copied().filter(|instruction| instruction.opcode() == LLVMOpcode::LLVMPHI)
}

/// Reachable blocks, each after those that dominate it.
fn reverse_postorder<'m>(function: Value<'m>) -> Vec<Block<'m>> {
    let entry = function.blocks()[0];
    let mut seen = HashSet::from([entry]);
    let mut stack = vec![(entry, entry.successors().into_iter())];
    let mut order = Vec::new();
    while let Some((block, successors)) = stack.last_mut() {
        let block = *block;
        match successors.find(|successor| !seen.contains(successor)) {
            Some(next) => {
                seen.insert(next);
                stack.push((next, next.successors().into_iter()));
            }
            None => {
                order.push(block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
