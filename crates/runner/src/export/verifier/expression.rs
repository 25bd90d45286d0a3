//! A formula of a proof as an expression of C that means the same, whatever the types of the variables are.
//!
//! Method: every operand is cast to the integer type of its width, signed or not as the operator asks; arithmetic is unsigned, because it wraps around.
//! Limit: what has no name where loops begin (parameters as they were at the call, memory behind pointers, members), and
//! operators that are seldom needed, have no expression.

use model::{FunctionId, InstrId, Layout, Op, Operand, Program, Storage, Type, Variable};
use proof::{Context, Formula, Operator};

/// Expressions over the variables of a function.
pub struct Expressions<'a> {
    pub program: &'a Program,
    pub function: FunctionId,
}

impl Expressions<'_> {
    /// A truth value.
    pub fn truth(&self, formula: &Formula) -> Option<String> {
        let Formula::Apply(operator, operands) = formula else {
            return match formula {
                Formula::Bool(value) => Some(u8::from(*value).to_string()),
                _ => None,
            };
        };
        let joined = |between: &str| {
            let parts: Option<Vec<String>> = operands.iter().map(|one| self.truth(one)).collect();
            Some(format!("({})", parts?.join(between)))
        };
        match (operator, &operands[..]) {
            (Operator::Not, [one]) => Some(format!("!{}", self.truth(one)?)),
            (Operator::And, []) => Some("1".to_owned()),
            (Operator::Or, []) => Some("0".to_owned()),
            (Operator::And, _) => joined(" && "),
            (Operator::Or, _) => joined(" || "),
            (Operator::Implies, [when, then]) => {
                Some(format!("(!{} || {})", self.truth(when)?, self.truth(then)?))
            }
            (Operator::Equal, [left, right]) if self.bits(left).is_none() => {
                Some(format!("({} == {})", self.truth(left)?, self.truth(right)?))
            }
            (Operator::Equal, _) => self.compared(operands, "==", true),
            (Operator::BvSlt, _) => self.compared(operands, "<", true),
            (Operator::BvSle, _) => self.compared(operands, "<=", true),
            (Operator::BvSgt, _) => self.compared(operands, ">", true),
            (Operator::BvSge, _) => self.compared(operands, ">=", true),
            (Operator::BvUlt, _) => self.compared(operands, "<", false),
            (Operator::BvUle, _) => self.compared(operands, "<=", false),
            (Operator::BvUgt, _) => self.compared(operands, ">", false),
            (Operator::BvUge, _) => self.compared(operands, ">=", false),
            _ => None,
        }
    }

    fn compared(&self, operands: &[Formula], operator: &str, signed: bool) -> Option<String> {
        let [left, right] = operands else { return None };
        let bits = self.bits(left)?;
        // single bits have no sign
        let signed = signed && integer_type(bits, true).is_some();
        Some(format!("({} {operator} {})", self.value(left, signed)?, self.value(right, signed)?))
    }

    /// A number of its width, zero-extended where no type has that width.
    fn value(&self, formula: &Formula, signed: bool) -> Option<String> {
        let bits = self.bits(formula)?;
        match formula {
            Formula::Bits { value, .. } => constant(bits, *value, signed),
            Formula::Local { .. } | Formula::Load { .. } => {
                Some(format!("({}) {}", integer_type(bits, signed)?, self.variable(formula)?.name))
            }
            Formula::Global(_) | Formula::Alloca { .. } => {
                Some(format!("({}) &{}", integer_type(bits, signed)?, self.variable(formula)?.name))
            }
            Formula::Apply(operator, operands) => {
                let text = self.applied(*operator, operands, bits)?;
                Some(match integer_type(bits, signed) {
                    Some(name) => format!("({name}) ({text})"),
                    None if signed => return None,
                    None => format!("({text} & {}ull)", (1_u128 << bits) - 1),
                })
            }
            Formula::Bool(_) | Formula::Parameter(_) | Formula::Function(_) | Formula::Flag(_) => None,
        }
    }

    /// The result of an operator, of which only the lowest bits count.
    fn applied(&self, operator: Operator, operands: &[Formula], bits: u32) -> Option<String> {
        // narrower types would become int, which may overflow
        let wide = |one: &Formula| Some(format!("(unsigned long long) {}", self.value(one, false)?));
        let joined = |between: &str| {
            let parts: Option<Vec<String>> = operands.iter().map(wide).collect();
            Some(parts?.join(between))
        };
        match (operator, operands) {
            (Operator::BvAdd, _) => joined(" + "),
            (Operator::BvSub, [_, _]) => joined(" - "),
            (Operator::BvMul, _) => joined(" * "),
            (Operator::BvAnd, _) => joined(" & "),
            (Operator::BvOr, _) => joined(" | "),
            (Operator::BvXor, _) => joined(" ^ "),
            (Operator::BvNot, [one]) => Some(format!("~({})", wide(one)?)),
            (Operator::BvNeg, [one]) => Some(format!("0ull - ({})", wide(one)?)),
            (Operator::ZeroExtend(_), [one]) => wide(one),
            (Operator::SignExtend(_), [one]) => Some(format!("(long long) {}", self.value(one, true)?)),
            (Operator::Extract { low, .. }, [one]) => Some(format!("({}) >> {low}", wide(one)?)),
            (Operator::Ite, [when, then, otherwise]) if bits <= 64 => {
                Some(format!("{} ? {} : {}", self.truth(when)?, wide(then)?, wide(otherwise)?))
            }
            _ => None,
        }
    }

    /// The width of a number; none for truth values, and for what has no expression.
    fn bits(&self, formula: &Formula) -> Option<u32> {
        let bits = match formula {
            Formula::Bits { bits, .. } | Formula::Load { bits, .. } => *bits,
            Formula::Local { context, alloca } if *context == Context::entry() => {
                self.scalar_bits(*alloca)?
            }
            Formula::Global(_) | Formula::Alloca { .. } => self.program.pointer_bits,
            Formula::Apply(Operator::Extract { high, low }, _) => high.checked_sub(*low)? + 1,
            Formula::Apply(Operator::ZeroExtend(by) | Operator::SignExtend(by), operands) => {
                self.bits(operands.first()?)? + by
            }
            Formula::Apply(Operator::Ite, operands) => self.bits(operands.get(1)?)?,
            Formula::Apply(
                Operator::BvAdd
                | Operator::BvSub
                | Operator::BvMul
                | Operator::BvAnd
                | Operator::BvOr
                | Operator::BvXor
                | Operator::BvNot
                | Operator::BvNeg,
                operands,
            ) => self.bits(operands.first()?)?,
            Formula::Local { .. }
            | Formula::Bool(_)
            | Formula::Parameter(_)
            | Formula::Function(_)
            | Formula::Flag(_)
            | Formula::Apply(..) => return None,
        };
        (bits <= 64).then_some(bits)
    }

    /// The width of a local that is always accessed as one integer or pointer.
    fn scalar_bits(&self, alloca: InstrId) -> Option<u32> {
        let code = self.program.function(self.function);
        let accessed = code.instrs.iter().filter_map(|instr| match instr.op {
            Op::Load { address: Operand::Result(at), .. } if at == alloca => Some(instr.ty),
            Op::Store { address: Operand::Result(at), value_type, .. } if at == alloca => Some(value_type),
            _ => None,
        });
        let bits = |ty: Type| match ty {
            Type::Int(bits) => Some(bits),
            Type::Ptr => Some(self.program.pointer_bits),
            _ => None,
        };
        let all: Option<Vec<u32>> = accessed.map(bits).collect();
        match all?[..] {
            [first, ref others @ ..] if others.iter().all(|other| *other == first) => Some(first),
            _ => None,
        }
    }

    /// The variable that a formula names: whole, and the only one of its name that a loop of the function could mean.
    fn variable(&self, formula: &Formula) -> Option<&Variable> {
        let storage = match formula {
            Formula::Local { context, alloca } | Formula::Alloca { context, alloca } => {
                (*context == Context::entry()).then_some(Storage::Stack(self.function, *alloca))?
            }
            Formula::Global(global) => Storage::Global(*global),
            Formula::Load { bits, address } => match **address {
                Formula::Global(global)
                    if self.program.global(global).size * 8 == u64::from(*bits)
                        && self.is_integer(Storage::Global(global)) =>
                {
                    Storage::Global(global)
                }
                _ => return None,
            },
            _ => return None,
        };
        let mut variables = self.program.variables.iter();
        let variable = variables.find(|variable| variable.storage == storage)?;
        let is_visible = |other: &&Variable| match other.storage {
            Storage::Stack(function, _) => function == self.function,
            Storage::Global(_) => true,
        };
        let n_named =
            self.program.variables.iter().filter(is_visible).filter(|other| other.name == variable.name);
        (variable.layout == Layout::Whole && n_named.count() == 1).then_some(variable)
    }

    /// Whether a global is accessed by its name, and everywhere as one integer or pointer.
    fn is_integer(&self, storage: Storage) -> bool {
        let is_it = |operand: Operand| match (storage, operand) {
            (Storage::Global(global), Operand::Global { global: of, offset: 0 }) => global == of,
            _ => false,
        };
        let accesses = self.program.functions.iter().flat_map(|function| &function.instrs);
        let mut types = accesses.filter_map(|instr| match instr.op {
            Op::Load { address, .. } if is_it(address) => Some(instr.ty),
            Op::Store { address, value_type, .. } if is_it(address) => Some(value_type),
            _ => None,
        });
        types.all(|ty| matches!(ty, Type::Int(_) | Type::Ptr))
    }
}

fn integer_type(bits: u32, signed: bool) -> Option<&'static str> {
    Some(match (bits, signed) {
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned int",
        (64, true) => "long long",
        (64, false) => "unsigned long long",
        _ => return None,
    })
}

fn constant(bits: u32, value: u128, signed: bool) -> Option<String> {
    let suffix = if bits > 32 { "ll" } else { "" };
    if !signed {
        return Some(format!("{value}u{suffix}"));
    }
    let shift = 128_u32.checked_sub(bits)?;
    let number = ((value << shift) as i128) >> shift;
    // the lowest number is no constant of C: its absolute value does not fit
    let is_lowest = number == -(1_i128 << (bits - 1));
    Some(if is_lowest {
        format!("(-{}{suffix} - 1)", -(number + 1))
    } else if number < 0 {
        format!("({number}{suffix})")
    } else {
        format!("{number}{suffix}")
    })
}
