//! What the path log needs: outcomes of marks, branches, switches and computed gotos.

use std::collections::HashSet;

use model::GapKind;

use super::function::FunctionPass;
use crate::llvm::{LLVMLinkage, LLVMOpcode, Value};

/// A table by operand is used up to this many entries per case.
const DENSE_PER_CASE: u64 = 16;
const DENSE_BASE: u64 = 256;

impl<'m> FunctionPass<'_, 'm> {
    /// Every evaluation of a condition is logged; its result has no shadow, because the path fixes it.
    pub fn visit_mark(&mut self, mark: Value<'m>) {
        let outcome = mark.operand(1);
        let shadow = self.scalar_shadow(outcome);
        self.ir.place_before(mark);
        let outcome = self.settle(outcome);
        mark.set_operand(1, outcome);
        self.log_outcome(outcome, shadow);
    }

    /// Branches that no mark decides log their own outcome.
    pub fn visit_branch(&mut self, branch: Value<'m>) {
        if !branch.is_conditional() || branch.metadata(self.pass.kinds.decided).is_some() {
            return;
        }
        let shadow = self.scalar_shadow(branch.condition());
        self.ir.place_before(branch);
        let condition = self.settle(branch.condition());
        branch.set_condition(condition);
        self.log_outcome(condition, shadow);
    }

    /// Logs the index of the case taken, found by the operand's value.
    pub fn visit_switch(&mut self, switch: Value<'m>) {
        let shadow = self.scalar_shadow(switch.operand(0));
        self.ir.place_before(switch);
        let operand = self.settle(switch.operand(0));
        switch.set_operand(0, operand);
        let cases: Vec<Value<'m>> = switch.operands().into_iter().skip(2).step_by(2).collect();
        let n_cases = u32::try_from(cases.len()).expect("a switch has fewer than 2^32 cases");
        let Some(values) = cases.iter().map(|case| case.integer()).collect::<Option<Vec<u64>>>() else {
            let index = self.choose_case(operand, &cases);
            return self.act("__quarry_case", &[index, shadow, self.counters(n_cases + 1)]);
        };
        let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
        let span = most.unwrap_or(0) - least.unwrap_or(0);
        if span < DENSE_PER_CASE * u64::from(n_cases) + DENSE_BASE {
            self.log_dense(operand, &values, shadow);
        } else {
            self.log_sparse(operand, &values, shadow);
        }
    }

    /// A computed goto logs that it jumps; its targets log where it arrived.
    pub fn visit_jump(&mut self, jump: Value<'m>) {
        self.ir.place_before(jump);
        if self.is_symbolic() {
            let site = self.site(GapKind::PinnedValue, jump, "the target of a computed goto");
            self.pin(jump.operand(0), site);
        }
        self.act("__quarry_jump", &[]);
    }

    /// Every target of the function's computed gotos, which share one list of successors, logs its index in it.
    pub fn add_landings(&self, bodies: &[Vec<Value<'m>>]) {
        let jumps = bodies.iter().flatten().filter(|i| i.opcode() == LLVMOpcode::LLVMIndirectBr);
        let targets = jumps.map(|jump| jump.block().successors()).next().unwrap_or_default();
        let mut landed = HashSet::new();
        let counters = self.counters(u32::try_from(targets.len()).expect("fewer than 2^32 blocks"));
        for (index, target) in (0..).zip(targets) {
            let first = target.instructions().into_iter().find(|i| i.opcode() != LLVMOpcode::LLVMPHI);
            if landed.insert(target) {
                self.ir.place_before(first.expect("a block has a terminator"));
                self.act("__quarry_landing", &[self.number(index), counters]);
            }
        }
    }

    /// One value for log and program, also where C leaves it undefined.
    fn settle(&self, value: Value<'m>) -> Value<'m> {
        if value.is_constant() { value } else { self.ir.freeze(value) }
    }

    /// The first of that many consecutive counters, used here alone.
    fn counters(&self, n: u32) -> Value<'m> {
        self.number(self.pass.take_counters(n))
    }

    fn log_outcome(&self, outcome: Value<'m>, shadow: Value<'m>) {
        self.act("__quarry_outcome", &[self.ir.as_int(outcome, 32), shadow, self.counters(2)]);
    }

    /// For operands wider than 64 bits: one comparison per case.
    fn choose_case(&self, operand: Value<'m>, cases: &[Value<'m>]) -> Value<'m> {
        let default = self.number(u32::try_from(cases.len()).expect("checked by the caller"));
        (0..).zip(cases).fold(default, |otherwise, (index, case)| {
            self.ir.select(self.ir.equal(operand, *case), self.number(index), otherwise)
        })
    }

    fn log_dense(&self, operand: Value<'m>, values: &[u64], shadow: Value<'m>) {
        let n_cases = u32::try_from(values.len()).expect("checked by the caller");
        let least = values.iter().min().copied().unwrap_or(0);
        let span = values.iter().max().map_or(0, |most| most - least + 1);
        let mut table = vec![self.number(n_cases); usize::try_from(span).expect("a dense span")];
        for (index, value) in (0..).zip(values) {
            table[usize::try_from(value - least).expect("within the span")] = self.number(index);
        }
        let offset = self.wide(self.ir.sub(operand, operand.ty().constant(least)));
        let table = self.constant_table(self.ir.constant_array(self.word(), &table));
        let span = self.ir.int(64).constant(span);
        self.act(
            "__quarry_switch_dense",
            &[offset, table, span, self.number(n_cases), shadow, self.counters(n_cases + 1)],
        );
    }

    fn log_sparse(&self, operand: Value<'m>, values: &[u64], shadow: Value<'m>) {
        let wide = self.ir.int(64);
        let mut rows: Vec<(u64, u64)> = values.iter().copied().zip(0..).collect();
        rows.sort_unstable();
        let rows: Vec<_> = rows
            .iter()
            .map(|&(value, index)| self.ir.constant_struct(&[wide.constant(value), wide.constant(index)]))
            .collect();
        let n_cases = u32::try_from(rows.len()).expect("checked by the caller");
        let table = self.constant_table(self.ir.constant_array(rows[0].ty(), &rows));
        self.act(
            "__quarry_switch_sparse",
            &[self.wide(operand), table, self.number(n_cases), shadow, self.counters(n_cases + 1)],
        );
    }

    fn constant_table(&self, value: Value<'m>) -> Value<'m> {
        let table = self.ir.add_global("__quarry_table", value.ty());
        table.set_initializer(value);
        table.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
        table
    }
}
