//! Queries as SMT-LIB, with every shared term defined once.

use std::fmt::Write;

use super::terms::{Node, Sort, Term, Terms};
use crate::Operator;

/// Whether all assertions can hold together, up to `(check-sat)`.
pub(crate) fn script(terms: &Terms, assertions: &[Term]) -> String {
    let needed = cone(terms, assertions);
    let mut out = String::from("(set-logic QF_ABV)\n");
    for index in (0..needed.len()).filter(|index| needed[*index]) {
        define(&mut out, terms, Term(index as u32));
    }
    for assertion in assertions {
        let text = name(terms, *assertion);
        writeln!(out, "(assert {text})").expect("writing to a string does not fail");
    }
    out
}

/// By number of a term: whether it is one of these or something that they are made of.
pub(crate) fn cone(terms: &Terms, roots: &[Term]) -> Vec<bool> {
    let mut needed = vec![false; terms.len()];
    let mut open = roots.to_vec();
    while let Some(term) = open.pop() {
        if !std::mem::replace(&mut needed[term.0 as usize], true) {
            open.extend(terms.operands(term));
        }
    }
    needed
}

fn define(out: &mut String, terms: &Terms, term: Term) {
    let own = name(terms, term);
    let sort = sort(terms, term);
    let applied = match terms.node(term) {
        Node::Bool(_) | Node::Bits(_) => return,
        Node::Symbol(_) => {
            writeln!(out, "(declare-fun {own} () {sort})").expect("writing to a string does not fail");
            return;
        }
        Node::Apply(operator, operands) => {
            let head = match operator {
                Operator::Extract { high, low } => format!("(_ extract {high} {low})"),
                Operator::ZeroExtend(by) | Operator::SignExtend(by) => {
                    format!("(_ {} {by})", operator.word())
                }
                plain => plain.word().to_owned(),
            };
            application(terms, &head, operands)
        }
        Node::Select(memory, address) => application(terms, "select", &[*memory, *address]),
        Node::Store(memory, address, byte) => application(terms, "store", &[*memory, *address, *byte]),
    };
    writeln!(out, "(define-fun {own} () {sort} {applied})").expect("writing to a string does not fail");
}

fn application(terms: &Terms, head: &str, operands: &[Term]) -> String {
    let operands: Vec<String> = operands.iter().map(|operand| name(terms, *operand)).collect();
    format!("({head} {})", operands.join(" "))
}

fn name(terms: &Terms, term: Term) -> String {
    match (terms.node(term), terms.sort(term)) {
        (Node::Bool(value), _) => value.to_string(),
        (Node::Bits(value), Sort::Bits(bits)) => format!("(_ bv{value} {bits})"),
        _ => format!("t{}", term.0),
    }
}

fn sort(terms: &Terms, term: Term) -> String {
    match terms.sort(term) {
        Sort::Bool => "Bool".to_owned(),
        Sort::Bits(bits) => format!("(_ BitVec {bits})"),
        Sort::Memory => format!("(Array (_ BitVec {}) (_ BitVec 8))", terms.pointer_bits),
    }
}
