//! What memory holds at an address, and how a choice compares with a constant: equivalences that spare the solvers work.
//!
//! Method: `(ite c m n)` holds at an address what `m` holds there if `c` and what `n` holds there otherwise; a store elsewhere
//! changes nothing, and one at the same address gives its byte. So a number in memory, whose bytes were stored together, stays one
//! choice of numbers where looking up each byte by itself would give as many choices of bytes. In the same way `(= (ite c a b) k)` is
//! `(ite c (= a k) (= b k))`, by which comparisons of choices of constants become booleans.

use super::terms::{Node, Sort, Term, Terms};
use crate::Operator;

/// Choices that a lookup or a comparison goes through.
const MAX_CHOICES: usize = 1000;

impl Terms {
    /// This many bytes at an address, the least significant first.
    pub(crate) fn load(&mut self, memory: Term, address: Term, n_bytes: u32) -> Term {
        if let Some((condition, then, otherwise)) = self.addresses(address) {
            let then = self.load(memory, then, n_bytes);
            let otherwise = self.load(memory, otherwise, n_bytes);
            return self.ite(condition, then, otherwise);
        }
        self.look_up(memory, address, n_bytes, MAX_CHOICES)
    }

    fn look_up(&mut self, memory: Term, address: Term, n_bytes: u32, depth: usize) -> Term {
        if let Some(known) = self.read.get(&(memory, address, n_bytes)) {
            return *known;
        }
        let mut at = memory;
        let found = loop {
            match *self.node(at) {
                Node::Store(before, written, byte) => match self.is_within(written, address, n_bytes) {
                    Some(false) => at = before,
                    Some(true) if n_bytes == 1 => break byte,
                    Some(true) | None => break self.bytes(at, address, n_bytes, depth),
                },
                Node::Apply(Operator::Ite, ref parts) if depth > 0 => {
                    let (condition, then, otherwise) = (parts[0], parts[1], parts[2]);
                    let then = self.look_up(then, address, n_bytes, depth - 1);
                    let otherwise = self.look_up(otherwise, address, n_bytes, depth - 1);
                    break self.ite(condition, then, otherwise);
                }
                _ => break self.bytes(at, address, n_bytes, depth),
            }
        };
        self.read.insert((memory, address, n_bytes), found);
        found
    }

    /// The bytes one by one.
    fn bytes(&mut self, memory: Term, address: Term, n_bytes: u32, depth: usize) -> Term {
        if n_bytes == 1 {
            return self.keep(Node::Select(memory, address), Sort::Bits(8));
        }
        let mut value = self.look_up(memory, address, 1, depth);
        for index in 1..n_bytes {
            let by = self.address(u64::from(index));
            let address = self.apply(Operator::BvAdd, &[address, by]);
            let byte = self.look_up(memory, address, 1, depth);
            value = self.joined(byte, value);
        }
        value
    }

    /// Two neighbours as one: parts of the same that lie side by side are a part of it.
    fn joined(&mut self, high: Term, low: Term) -> Term {
        if let (
            Node::Apply(Operator::Extract { high: top, low: middle }, one),
            Node::Apply(Operator::Extract { high: below, low: bottom }, other),
        ) = (self.node(high), self.node(low))
            && one == other
            && *middle == below + 1
        {
            let (whole, top, bottom) = (one[0], *top, *bottom);
            return match bottom == 0 && top + 1 == self.bits(whole) {
                true => whole,
                false => self.apply(Operator::Extract { high: top, low: bottom }, &[whole]),
            };
        }
        self.apply(Operator::Concat, &[high, low])
    }

    /// Whether the byte at `written` is one of so many from an address on, as far as is evident.
    fn is_within(&mut self, written: Term, address: Term, n_bytes: u32) -> Option<bool> {
        let mut is_known = true;
        for index in 0..n_bytes {
            let by = self.address(u64::from(index));
            let at = if index == 0 { address } else { self.apply(Operator::BvAdd, &[address, by]) };
            match self.is_same(written, at) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_known = false,
            }
        }
        is_known.then_some(false)
    }

    /// A comparison of a choice with a constant, as a choice of comparisons.
    pub(super) fn distributed(&mut self, operator: Operator, left: Term, right: Term) -> Option<Term> {
        let is_constant = |terms: &Self, term: Term| matches!(terms.node(term), Node::Bits(_));
        let is_choice = |terms: &Self, term: Term| matches!(terms.node(term), Node::Apply(Operator::Ite, _));
        match is_choice(self, left) && is_constant(self, right) {
            true => Some(self.distribute(operator, left, right, MAX_CHOICES)),
            false => None,
        }
    }

    fn distribute(&mut self, operator: Operator, left: Term, right: Term, depth: usize) -> Term {
        if let Some(known) = self.compared.get(&(operator, left, right)) {
            return *known;
        }
        let compared = match self.node(left) {
            Node::Apply(Operator::Ite, parts) if depth > 0 => {
                let (condition, then, otherwise) = (parts[0], parts[1], parts[2]);
                let then = self.distribute(operator, then, right, depth - 1);
                let otherwise = self.distribute(operator, otherwise, right, depth - 1);
                self.ite(condition, then, otherwise)
            }
            Node::Apply(Operator::Ite, _) => self.keep(Node::Apply(operator, vec![left, right]), Sort::Bool),
            _ => self.apply(operator, &[left, right]),
        };
        self.compared.insert((operator, left, right), compared);
        compared
    }
}
