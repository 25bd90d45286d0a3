//! What a formula of a proof means in a symbolic state.

use model::{BinaryOp, Predicate};
use proof::{Formula, Operator};

use crate::encode::{Encoder, Symbols};
use crate::graph::ContextId;
use crate::objects::Object;
use crate::state::{Slot, State, Value};
use crate::terms::{Bits, Truth};

impl<'m> Encoder<'_, 'm> {
    /// The formula in this state; none if it speaks of something that is not there or uses an operator without need here.
    pub(crate) fn truth_of(
        &mut self,
        symbols: &mut Symbols<'m>,
        state: &State<'m>,
        formula: &Formula,
    ) -> Option<Truth<'m>> {
        let (operator, operands) = match formula {
            Formula::Apply(operator, operands) => (operator, operands),
            Formula::Bool(value) => return Some(self.terms.truth(*value)),
            Formula::Flag(context) => {
                let slot = Slot::Defined(self.graph.context_of(context)?, self.flag_goal?);
                return match self.get(symbols, state, slot)? {
                    Value::Bits(bit) => Some(self.terms.is_set(bit)),
                    Value::Record(_) => None,
                };
            }
            Formula::Bits { .. }
            | Formula::Local { .. }
            | Formula::Parameter(_)
            | Formula::Load { .. }
            | Formula::Global(_)
            | Formula::Function(_)
            | Formula::Alloca { .. } => return None,
        };
        if let Some(predicate) = predicate(*operator) {
            let [a, b] = operands.as_slice() else { return None };
            let (a, b) = (self.bits_of(symbols, state, a)?, self.bits_of(symbols, state, b)?);
            return (a.width == b.width).then(|| self.terms.compare(predicate, a, b));
        }
        let mut truths = Vec::new();
        for operand in operands {
            truths.push(self.truth_of(symbols, state, operand)?);
        }
        match (operator, truths.as_slice()) {
            (Operator::Not, [a]) => Some(self.terms.not(*a)),
            (Operator::And, all) => Some(self.terms.all(all.iter().copied())),
            (Operator::Or, any) => {
                let no = self.terms.truth(false);
                Some(any.iter().fold(no, |found, truth| self.terms.or(found, *truth)))
            }
            (Operator::Implies, [a, b]) => Some(self.terms.implies(*a, *b)),
            _ => None,
        }
    }

    pub(crate) fn bits_of(
        &mut self,
        symbols: &mut Symbols<'m>,
        state: &State<'m>,
        formula: &Formula,
    ) -> Option<Bits<'m>> {
        let bits = |value: Option<Value<'m>>| match value? {
            Value::Bits(bits) => Some(bits),
            Value::Record(_) => None,
        };
        match formula {
            Formula::Bits { bits, value } => Some(self.terms.constant(*bits, *value)),
            Formula::Local { context, alloca } => {
                let context = self.graph.context_of(context)?;
                bits(self.get(symbols, state, Slot::Local(context, *alloca)))
            }
            Formula::Parameter(number) => {
                bits(self.get(symbols, state, Slot::Parameter(ContextId::ENTRY, *number)))
            }
            Formula::Load { bits, address } => {
                let address = self.bits_of(symbols, state, address)?;
                Some(self.read(state.memory, address, *bits))
            }
            Formula::Global(global) => Some(self.objects.global(&mut self.terms, self.program, *global)),
            Formula::Apply(Operator::BvAdd, operands) => {
                self.binary_of(symbols, state, BinaryOp::Add, operands)
            }
            Formula::Apply(Operator::BvSub, operands) => {
                self.binary_of(symbols, state, BinaryOp::Sub, operands)
            }
            Formula::Apply(Operator::BvAnd, operands) => {
                self.binary_of(symbols, state, BinaryOp::And, operands)
            }
            Formula::Apply(Operator::Extract { high, low }, operands) => {
                let [whole] = operands.as_slice() else { return None };
                let whole = self.bits_of(symbols, state, whole)?;
                (high >= low && *high < whole.width).then(|| self.terms.extract(whole, *low, high - low + 1))
            }
            Formula::Alloca { context, alloca } => {
                let context = self.graph.context_of(context)?;
                self.objects.known(Object::Local(context, *alloca))
            }
            Formula::Apply(..) | Formula::Bool(_) | Formula::Function(_) | Formula::Flag(_) => None,
        }
    }

    fn binary_of(
        &mut self,
        symbols: &mut Symbols<'m>,
        state: &State<'m>,
        op: BinaryOp,
        operands: &[Formula],
    ) -> Option<Bits<'m>> {
        let [a, b] = operands else { return None };
        let (a, b) = (self.bits_of(symbols, state, a)?, self.bits_of(symbols, state, b)?);
        (a.width == b.width).then(|| self.terms.binary(op, a, b))
    }
}

fn predicate(operator: Operator) -> Option<Predicate> {
    match operator {
        Operator::Equal => Some(Predicate::Eq),
        Operator::BvUlt => Some(Predicate::Ult),
        Operator::BvUle => Some(Predicate::Ule),
        Operator::BvUgt => Some(Predicate::Ugt),
        Operator::BvUge => Some(Predicate::Uge),
        Operator::BvSlt => Some(Predicate::Slt),
        Operator::BvSle => Some(Predicate::Sle),
        Operator::BvSgt => Some(Predicate::Sgt),
        Operator::BvSge => Some(Predicate::Sge),
        _ => None,
    }
}
