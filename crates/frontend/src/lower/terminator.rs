//! How blocks end: jumps, branches, switches, and the compares that clang makes of large `case low ... high` ranges.

use std::collections::{BTreeMap, HashMap};

use model::{Decided, FunctionId, GapKind, LabelValues, RangeTest, SwitchCase, SwitchId, Terminator};

use super::function::Code;
use crate::llvm::{self, LLVMIntPredicate, LLVMOpcode, Value};
use crate::{agreement::decided_by_mark, marks::Marks};

/// The source's switches found in a function's code.
#[derive(Default)]
pub(crate) struct SwitchCode<'m> {
    /// Source of each `switch` instruction.
    sources: HashMap<Value<'m>, SwitchId>,
    /// Branches that test a range.
    ranges: HashMap<Value<'m>, RangeTest>,
}

/// Marked switches by function and line of the keyword.
pub(crate) type SwitchLines = BTreeMap<(FunctionId, u32), SwitchId>;

/// Finds the switches of a function and the range tests behind their default edges.
pub(crate) fn find_switches<'m>(
    function: Value<'m>,
    id: FunctionId,
    lines: &SwitchLines,
    marks: &Marks,
) -> SwitchCode<'m> {
    let mut found = SwitchCode::default();
    let switches = function.blocks().into_iter().filter_map(llvm::Block::terminator);
    for switch in switches.filter(|terminator| terminator.opcode() == LLVMOpcode::LLVMSwitch) {
        let line = switch.location().map_or(0, |location| location.line);
        let Some(&source) = lines.get(&(id, line)) else {
            continue;
        };
        found.sources.insert(switch, source);
        let mut next = switch.successors().first().copied();
        while let Some((branch, range)) = next.and_then(|block| range_test(block, switch.operand(0))) {
            let label = label_of(&marks.switches[source.index()].labels, range);
            let Some(label) = label.filter(|_| !found.ranges.contains_key(&branch)) else {
                break;
            };
            found.ranges.insert(branch, RangeTest { switch: source, label });
            next = branch.successors().get(1).copied();
        }
    }
    found
}

/// Low bound, length and width of the range that a block tests: `(operand - low) ule length`.
fn range_test<'m>(block: llvm::Block<'m>, operand: Value<'m>) -> Option<(Value<'m>, (u128, u128, u32))> {
    let branch = block.terminator()?;
    if branch.opcode() != LLVMOpcode::LLVMBr || !branch.is_conditional() {
        return None;
    }
    let compare = branch.operand(0);
    let is_compare = compare.is_instruction()
        && compare.opcode() == LLVMOpcode::LLVMICmp
        && compare.predicate() == LLVMIntPredicate::LLVMIntULE;
    if !is_compare || !compare.operand(1).is_int() {
        return None;
    }
    let moved = compare.operand(0);
    let low = match () {
        () if moved == operand => 0,
        () if moved.is_instruction()
            && moved.opcode() == LLVMOpcode::LLVMSub
            && moved.operand(0) == operand
            && moved.operand(1).is_int() =>
        {
            moved.operand(1).wide_integer()?
        }
        () => return None,
    };
    Some((branch, (low, compare.operand(1).wide_integer()?, operand.ty().int_bits()?)))
}

/// The label of a range; labels hold values as C sees them, code as bits.
fn label_of(labels: &[model::Label], (low, length, bits): (u128, u128, u32)) -> Option<u32> {
    let mask = u128::MAX >> (128 - bits);
    let position = labels.iter().position(|label| match label.values {
        LabelValues::Range { low: first, high } => {
            first.cast_unsigned() & mask == low
                && high.cast_unsigned().wrapping_sub(first.cast_unsigned()) & mask == length
        }
        LabelValues::Default => false,
    });
    position.map(|label| label as u32)
}

impl<'m> Code<'_, 'm, '_> {
    pub(crate) fn terminator(&mut self, instruction: Value<'m>) -> Terminator {
        let targets = instruction.successors();
        let target = |number: usize| self.block_id(targets[number]);
        match instruction.opcode() {
            LLVMOpcode::LLVMBr if !instruction.is_conditional() => Terminator::Jump(target(0)),
            LLVMOpcode::LLVMBr => {
                let (then, otherwise) = (target(0), target(1));
                let mark = decided_by_mark(instruction);
                Terminator::Branch {
                    condition: self.operand(instruction.operand(0)),
                    then,
                    otherwise,
                    decided: mark.map(|(condition, negated)| Decided {
                        condition: model::ConditionId(condition),
                        negated,
                    }),
                    range: self.switches.ranges.get(&instruction).copied(),
                }
            }
            LLVMOpcode::LLVMSwitch => self.switch(instruction, &targets),
            LLVMOpcode::LLVMIndirectBr => {
                let targets = targets.iter().map(|block| self.block_id(*block)).collect();
                Terminator::IndirectJump { address: self.operand(instruction.operand(0)), targets }
            }
            LLVMOpcode::LLVMRet => {
                let value = (instruction.n_operands() > 0).then(|| instruction.operand(0));
                Terminator::Return(value.map(|value| self.operand(value)))
            }
            LLVMOpcode::LLVMUnreachable => Terminator::Unreachable,
            opcode => unreachable!("functions with {opcode:?} are not lowered"),
        }
    }

    fn switch(&mut self, instruction: Value<'m>, targets: &[llvm::Block<'m>]) -> Terminator {
        let value = self.operand(instruction.operand(0));
        let Some(bits) = instruction.operand(0).ty().int_bits().filter(|bits| *bits <= 128) else {
            self.gap(GapKind::WideInteger, "switch");
            return Terminator::Unreachable;
        };
        let cases = targets.iter().skip(1).enumerate().map(|(number, target)| SwitchCase {
            value: instruction.operand(2 + 2 * number as u32).wide_integer().expect("a case is an integer"),
            target: self.block_id(*target),
        });
        Terminator::Switch {
            value,
            bits,
            cases: cases.collect(),
            default: self.block_id(targets[0]),
            source: self.switches.sources.get(&instruction).copied(),
        }
    }
}
