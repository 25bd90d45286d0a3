//! Operands have the types that their instructions take.

use super::Verifier;
use crate::{Callee, CastOp, Function, FunctionId, Instr, MemoryOp, Op, Operand, RecordId, Terminator, Type};

/// Type of an operand of this function.
pub(crate) fn type_of(function: &Function, operand: Operand) -> Type {
    match operand {
        Operand::Result(id) => function.instr(id).ty,
        Operand::Parameter(number) => function.parameters[number as usize],
        Operand::Int { bits, .. } => Type::Int(bits),
        Operand::Float { kind, .. } => Type::Float(kind),
        Operand::Null | Operand::Global { .. } | Operand::Function(_) => Type::Ptr,
        Operand::Undefined(ty) => ty,
    }
}

struct Checker<'r, 'p> {
    verifier: &'r mut Verifier<'p>,
    function: &'r Function,
}

pub(super) fn check_instr(verifier: &mut Verifier<'_>, function: &Function, instr: &Instr) {
    Checker { verifier, function }.instr(instr);
}

pub(super) fn check_terminator(verifier: &mut Verifier<'_>, function: &Function, terminator: &Terminator) {
    let mut checker = Checker { verifier, function };
    match terminator {
        Terminator::Branch { condition, .. } => checker.takes(*condition, Type::Int(1)),
        Terminator::Switch { value, bits, .. } => checker.takes(*value, Type::Int(*bits)),
        Terminator::IndirectJump { address, .. } => checker.takes(*address, Type::Ptr),
        Terminator::Return(Some(value)) => checker.takes(*value, function.result),
        Terminator::Return(None) => {
            if function.result != Type::Void {
                checker.verifier.flag(format!("returns nothing, not {}", function.result));
            }
        }
        Terminator::Jump(_) | Terminator::Unreachable => {}
    }
}

impl Checker<'_, '_> {
    fn takes(&mut self, operand: Operand, wanted: Type) {
        let found = type_of(self.function, operand);
        if found != wanted {
            self.verifier.flag(format!("takes {found} where {wanted} belongs"));
        }
    }

    fn takes_integer(&mut self, operand: Operand) {
        let found = type_of(self.function, operand);
        if !matches!(found, Type::Int(_)) {
            self.verifier.flag(format!("takes {found} where an integer belongs"));
        }
    }

    fn makes(&mut self, instr: &Instr, wanted: Type) {
        if instr.ty != wanted {
            self.verifier.flag(format!("makes {} where {wanted} belongs", instr.ty));
        }
    }

    /// A type that memory and registers hold.
    fn held(&mut self, ty: Type) {
        match ty {
            Type::Int(_) | Type::Ptr | Type::Float(_) | Type::Record(_) => {}
            Type::Void | Type::Opaque => self.verifier.flag(format!("handles {ty} as if it were data")),
        }
    }

    fn instr(&mut self, instr: &Instr) {
        match &instr.op {
            Op::Alloca { count, align, .. } => {
                self.takes_integer(*count);
                self.makes(instr, Type::Ptr);
                if !align.is_power_of_two() {
                    self.verifier.flag(format!("alignment {align} is no power of two"));
                }
            }
            Op::Load { address, .. } => {
                self.takes(*address, Type::Ptr);
                self.held(instr.ty);
            }
            Op::Store { address, value, value_type } => {
                self.takes(*address, Type::Ptr);
                self.takes(*value, *value_type);
                self.held(*value_type);
                self.makes(instr, Type::Void);
            }
            Op::Binary(_, left, right) => {
                self.takes_integer(*left);
                self.takes(*left, instr.ty);
                self.takes(*right, instr.ty);
            }
            Op::Compare(_, ty, left, right) => {
                if !matches!(ty, Type::Int(_) | Type::Ptr) {
                    self.verifier.flag(format!("compares {ty} as integers"));
                }
                self.takes(*left, *ty);
                self.takes(*right, *ty);
                self.makes(instr, Type::Int(1));
            }
            Op::FloatBinary(_, left, right) => {
                self.float(instr.ty);
                self.takes(*left, instr.ty);
                self.takes(*right, instr.ty);
            }
            Op::FloatNegate(value) => {
                self.float(instr.ty);
                self.takes(*value, instr.ty);
            }
            Op::FloatCompare(_, kind, left, right) => {
                self.takes(*left, Type::Float(*kind));
                self.takes(*right, Type::Float(*kind));
                self.makes(instr, Type::Int(1));
            }
            Op::Cast(op, from, value) => {
                self.takes(*value, *from);
                self.cast(*op, *from, instr.ty);
            }
            Op::Address { base, indices, .. } => {
                self.takes(*base, Type::Ptr);
                for (ty, index, _) in indices {
                    self.takes_integer(*index);
                    self.takes(*index, *ty);
                }
                self.makes(instr, Type::Ptr);
            }
            Op::Select { condition, then, otherwise } => {
                self.takes(*condition, Type::Int(1));
                self.takes(*then, instr.ty);
                self.takes(*otherwise, instr.ty);
                self.held(instr.ty);
            }
            Op::Phi(incoming) => {
                for (_, value) in incoming {
                    self.takes(*value, instr.ty);
                }
                self.held(instr.ty);
            }
            Op::Call { callee, arguments } => self.call(*callee, arguments, instr.ty),
            Op::Mark { value, .. } => {
                self.takes(*value, Type::Int(1));
                self.makes(instr, Type::Int(1));
            }
            Op::Extract { record, record_type, leaf } => {
                self.takes(*record, Type::Record(*record_type));
                self.leaf(*record_type, *leaf, instr.ty);
            }
            Op::Insert { record, leaf, value, value_type } => {
                self.takes(*record, instr.ty);
                self.takes(*value, *value_type);
                match instr.ty {
                    Type::Record(record_type) => self.leaf(record_type, *leaf, *value_type),
                    Type::Void | Type::Int(_) | Type::Ptr | Type::Float(_) | Type::Opaque => {
                        self.verifier.flag(format!("inserts into {}, which is no record", instr.ty));
                    }
                }
            }
            Op::Memory { op, to, from, length } => {
                self.takes(*to, Type::Ptr);
                match op {
                    MemoryOp::Copy | MemoryOp::Move => self.takes(*from, Type::Ptr),
                    MemoryOp::Set => self.takes(*from, Type::Int(8)),
                }
                self.takes_integer(*length);
                self.makes(instr, Type::Void);
            }
            Op::Freeze(value) => self.takes(*value, instr.ty),
            Op::VaStart(list) | Op::VaEnd(list) => self.takes(*list, Type::Ptr),
            Op::VaCopy { to, from } => {
                self.takes(*to, Type::Ptr);
                self.takes(*from, Type::Ptr);
            }
            Op::Opaque { .. } => {}
        }
    }

    fn float(&mut self, ty: Type) {
        if !matches!(ty, Type::Float(_)) {
            self.verifier.flag(format!("makes {ty} where a floating-point type belongs"));
        }
    }

    fn leaf(&mut self, record: RecordId, leaf: u32, wanted: Type) {
        match self.verifier.program.record(record).leaves.get(leaf as usize) {
            Some((_, ty)) if *ty == wanted => {}
            Some((_, ty)) => self.verifier.flag(format!("leaf {leaf} of {record} is {ty}, not {wanted}")),
            None => self.verifier.flag(format!("{record} has no leaf {leaf}")),
        }
    }

    fn cast(&mut self, op: CastOp, from: Type, to: Type) {
        let holds = match (op, from, to) {
            (CastOp::Trunc, Type::Int(wide), Type::Int(narrow)) => narrow < wide,
            (CastOp::Zext | CastOp::Sext, Type::Int(narrow), Type::Int(wide)) => narrow < wide,
            (CastOp::PtrToInt, Type::Ptr, Type::Int(_)) | (CastOp::IntToPtr, Type::Int(_), Type::Ptr) => true,
            (CastOp::FloatTrunc, Type::Float(wide), Type::Float(narrow)) => narrow.bits() < wide.bits(),
            (CastOp::FloatExtend, Type::Float(narrow), Type::Float(wide)) => narrow.bits() < wide.bits(),
            (CastOp::FloatToUnsigned | CastOp::FloatToSigned, Type::Float(_), Type::Int(_)) => true,
            (CastOp::UnsignedToFloat | CastOp::SignedToFloat, Type::Int(_), Type::Float(_)) => true,
            (CastOp::Bitcast, Type::Int(bits), Type::Float(kind)) => bits == kind.bits(),
            (CastOp::Bitcast, Type::Float(kind), Type::Int(bits)) => bits == kind.bits(),
            (CastOp::Bitcast, from, to) => from == to,
            _ => false,
        };
        if !holds {
            self.verifier.flag(format!("{op} does not lead from {from} to {to}"));
        }
    }

    fn call(&mut self, callee: Callee, arguments: &[(Type, Operand)], result: Type) {
        for (ty, argument) in arguments {
            self.takes(*argument, *ty);
        }
        match callee {
            Callee::Indirect(address) => self.takes(address, Type::Ptr),
            Callee::Direct(id) => self.direct_call(id, arguments, result),
        }
    }

    fn direct_call(&mut self, id: FunctionId, arguments: &[(Type, Operand)], result: Type) {
        let callee = self.verifier.program.function(id);
        if arguments.len() < callee.parameters.len() {
            let (found, wanted) = (arguments.len(), callee.parameters.len());
            self.verifier.flag(format!("gives {found} arguments to {id}, which takes {wanted}"));
        }
        for ((found, _), wanted) in arguments.iter().zip(&callee.parameters) {
            if !passes_as(*found, *wanted) {
                self.verifier.flag(format!("gives {found} to {id} where {wanted} belongs"));
            }
        }
        if result != Type::Void && !passes_as(callee.result, result) && callee.result != Type::Void {
            self.verifier.flag(format!("takes {result} from {id}, which returns {}", callee.result));
        }
    }
}

/// C lets scalars of different types meet in a call without a prototype; structures never differ.
fn passes_as(found: Type, wanted: Type) -> bool {
    let scalar = |ty: Type| matches!(ty, Type::Int(_) | Type::Ptr | Type::Float(_));
    found == wanted || (scalar(found) && scalar(wanted))
}
