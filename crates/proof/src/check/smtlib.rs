//! Queries as SMT-LIB, with every shared term defined once.

use std::fmt::Write;

use super::terms::{Node, Sort, Term, Terms};
use crate::Operator;

/// Whether all assertions can hold together, up to `(check-sat)`.
///
/// Shared terms are bound by `let`, all of one depth together: z3 expands definitions one within the other, which takes minutes
/// where these take a second.
pub(crate) fn script(terms: &Terms, assertions: &[Term]) -> String {
    let needed = cone(terms, assertions);
    let mut out = String::from("(set-logic QF_ABV)\n");
    let mut depths = vec![0_usize; needed.len()];
    let mut bindings: Vec<String> = Vec::new();
    for index in (0..needed.len()).filter(|index| needed[*index]) {
        let term = Term(index as u32);
        let Some(applied) = applied(terms, term) else {
            declare(&mut out, terms, term);
            continue;
        };
        // operands come before what they are operands of
        let below = terms.operands(term).into_iter().map(|operand| depths[operand.0 as usize]).max();
        let depth = below.unwrap_or(0) + 1;
        depths[index] = depth;
        bindings.resize(bindings.len().max(depth), String::new());
        write!(bindings[depth - 1], "({} {applied})", name(terms, term))
            .expect("writing to a string does not fail");
    }
    let stated: Vec<String> = assertions.iter().map(|assertion| name(terms, *assertion)).collect();
    out.push_str("(assert ");
    bindings.iter().for_each(|bound| out.extend(["(let (", bound, ")\n"]));
    write!(out, "(and true {})", stated.join(" ")).expect("writing to a string does not fail");
    out.push_str(&")".repeat(bindings.len()));
    out.push_str(")\n");
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

fn declare(out: &mut String, terms: &Terms, term: Term) {
    if let Node::Symbol(_) = terms.node(term) {
        writeln!(out, "(declare-fun {} () {})", name(terms, term), sort(terms, term))
            .expect("writing to a string does not fail");
    }
}

/// A term by its operands; none for constants and symbols.
fn applied(terms: &Terms, term: Term) -> Option<String> {
    match terms.node(term) {
        Node::Bool(_) | Node::Bits(_) | Node::Symbol(_) => None,
        Node::Apply(operator, operands) => {
            let head = match operator {
                Operator::Extract { high, low } => format!("(_ extract {high} {low})"),
                Operator::ZeroExtend(by) | Operator::SignExtend(by) => {
                    format!("(_ {} {by})", operator.word())
                }
                plain => plain.word().to_owned(),
            };
            Some(application(terms, &head, operands))
        }
        Node::Select(memory, address) => Some(application(terms, "select", &[*memory, *address])),
        Node::Store(memory, address, byte) => Some(application(terms, "store", &[*memory, *address, *byte])),
    }
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
