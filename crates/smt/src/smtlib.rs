//! Terms as SMT-LIB 2 text.
//!
//! Method: one `define-fun` per inner node, so that the text is linear in the size of the graph and nests no deeper
//! than one operator. Variables print as `v3` with their name in a comment, because names may be anything.

mod float;

use std::fmt::Write;

use crate::lower::{FloatStep, Lowered, Slot, Sort, Step, lower};
use crate::term::{BinaryOp, Extension, Term, TermStore, UnaryOp, Value, Var};

/// A whole script that declares the variables, asserts the terms (named `a0`, `a1`, …) and asks for a verdict.
pub fn script(store: &TermStore, assertions: &[Term]) -> String {
    let lowered = lower(store, assertions);
    let mut text = format!("(set-logic {})\n", logic(&lowered));
    write_assertions(store, &lowered, &mut text);
    text.push_str("(check-sat)\n");
    text
}

/// The smallest logic that has everything.
pub(crate) fn logic(lowered: &Lowered) -> &'static str {
    let has_floats = lowered.steps.iter().any(|step| matches!(step, Step::Float(_)));
    if has_floats { "QF_BVFP" } else { "QF_BV" }
}

/// Declarations, definitions and named assertions.
pub(crate) fn write_assertions(store: &TermStore, lowered: &Lowered, text: &mut String) {
    for &(var, _) in &lowered.vars {
        let width = store.var_width(var);
        let name: String = store.var_name(var).chars().filter(|char| !char.is_control()).collect();
        push(text, format_args!("(declare-const {var} (_ BitVec {width})) ; {name}\n"));
    }
    let mut names = Vec::with_capacity(lowered.steps.len());
    for (index, step) in lowered.steps.iter().enumerate() {
        names.push(match leaf(step) {
            Some(leaf) => leaf,
            None => {
                define(index, step, lowered, &names, text);
                format!("d{index}")
            }
        });
    }
    for (index, slot) in lowered.assertions.iter().enumerate() {
        push(text, format_args!("(assert (! {} :named a{index}))\n", names[slot.index()]));
    }
}

/// The request for the values of variables.
pub(crate) fn get_value(vars: &[(Var, Slot)]) -> String {
    let mut text = String::from("(get-value (");
    for (var, _) in vars {
        push(&mut text, format_args!("{var} "));
    }
    text.push_str("))\n");
    text
}

/// What needs no definition of its own.
fn leaf(step: &Step) -> Option<String> {
    match *step {
        Step::Bool(value) => Some(value.to_string()),
        Step::BitVector(value) => Some(constant(value)),
        Step::Variable(var) => Some(var.to_string()),
        Step::BoolNot(_)
        | Step::BoolAnd(..)
        | Step::BoolOr(..)
        | Step::Equal(..)
        | Step::Compare(..)
        | Step::Unary(..)
        | Step::Binary(..)
        | Step::Extract { .. }
        | Step::Extend { .. }
        | Step::Ite(..)
        | Step::Float(_) => None,
    }
}

fn constant(value: Value) -> String {
    if value.width().is_multiple_of(4) {
        format!("#x{:0digits$x}", value.bits(), digits = value.width() as usize / 4)
    } else {
        format!("#b{:0digits$b}", value.bits(), digits = value.width() as usize)
    }
}

fn define(index: usize, step: &Step, lowered: &Lowered, names: &[String], text: &mut String) {
    let name = |slot: Slot| names[slot.index()].as_str();
    let sort = match lowered.sorts[index] {
        Sort::Bool => "Bool".to_owned(),
        Sort::BitVector => format!("(_ BitVec {})", lowered.widths[index]),
        Sort::Float(format) => float::sort(format),
    };
    if let Step::Float(step @ (FloatStep::Bits(_) | FloatStep::Any(_))) = *step {
        push(text, format_args!("(declare-const d{index} {sort})\n"));
        return float::constrain(index, step, lowered, names, text);
    }
    push(text, format_args!("(define-fun d{index} () {sort} ("));
    match *step {
        Step::Bool(_) | Step::BitVector(_) | Step::Variable(_) => unreachable!("leaves are not defined"),
        Step::BoolNot(operand) => push(text, format_args!("not {}", name(operand))),
        Step::BoolAnd(left, right) => push(text, format_args!("and {} {}", name(left), name(right))),
        Step::BoolOr(left, right) => push(text, format_args!("or {} {}", name(left), name(right))),
        Step::Equal(left, right) => push(text, format_args!("= {} {}", name(left), name(right))),
        Step::Unary(UnaryOp::Not, operand) => push(text, format_args!("bvnot {}", name(operand))),
        Step::Unary(UnaryOp::Neg, operand) => push(text, format_args!("bvneg {}", name(operand))),
        Step::Compare(op, left, right) | Step::Binary(op, left, right) => {
            push(text, format_args!("{} {} {}", operator(op), name(left), name(right)));
        }
        Step::Extract { operand, high, low } => {
            push(text, format_args!("(_ extract {high} {low}) {}", name(operand)));
        }
        Step::Extend { extension: Extension::Zero, operand, n_bits } => {
            push(text, format_args!("(_ zero_extend {n_bits}) {}", name(operand)));
        }
        Step::Extend { extension: Extension::Sign, operand, n_bits } => {
            push(text, format_args!("(_ sign_extend {n_bits}) {}", name(operand)));
        }
        Step::Ite(condition, then, otherwise) => {
            push(text, format_args!("ite {} {} {}", name(condition), name(then), name(otherwise)));
        }
        Step::Float(step) => float::apply(step, names, text),
    }
    text.push_str("))\n");
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "bvadd",
        BinaryOp::Mul => "bvmul",
        BinaryOp::Udiv => "bvudiv",
        BinaryOp::Sdiv => "bvsdiv",
        BinaryOp::Urem => "bvurem",
        BinaryOp::Srem => "bvsrem",
        BinaryOp::And => "bvand",
        BinaryOp::Or => "bvor",
        BinaryOp::Xor => "bvxor",
        BinaryOp::Shl => "bvshl",
        BinaryOp::Lshr => "bvlshr",
        BinaryOp::Ashr => "bvashr",
        BinaryOp::Concat => "concat",
        BinaryOp::Eq => "=",
        BinaryOp::Ult => "bvult",
        BinaryOp::Ule => "bvule",
        BinaryOp::Slt => "bvslt",
        BinaryOp::Sle => "bvsle",
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_shared_term_is_defined_once() {
        let mut store = TermStore::new();
        let (x, y) = (store.var("in[0]", 8), store.var("flag", 1));
        let product = store.mul(x, x);
        let five = store.constant(8, 5);
        let less = store.ult(product, five);
        let remainder = store.urem(product, x);
        let equal = store.eq(remainder, five);
        let assertion = store.ite(y, less, equal);
        expect![[r#"
            (set-logic QF_BV)
            (declare-const v0 (_ BitVec 8)) ; in[0]
            (declare-const v1 (_ BitVec 1)) ; flag
            (define-fun d2 () (_ BitVec 8) (bvmul v0 v0))
            (define-fun d3 () (_ BitVec 8) (bvurem d2 v0))
            (define-fun d4 () Bool (= d3 #x05))
            (define-fun d5 () Bool (bvult d2 #x05))
            (define-fun d8 () Bool (= v1 #b1))
            (define-fun d9 () Bool (ite d8 d5 d4))
            (assert (! d9 :named a0))
            (check-sat)
        "#]]
        .assert_eq(&script(&store, &[assertion]));
    }
}
