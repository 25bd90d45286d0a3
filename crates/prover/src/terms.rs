//! Terms of the encoding: booleans and bit-vectors of Bitwuzla, folded while they are made.
//!
//! Method: beside each term stands what is known of it without a solver: its constant value, the object whose address it
//! is with which offset, the boolean that a single bit was made of. Most of a program's addresses and many of its
//! conditions are decided by that alone. Limit: nothing else is simplified; the solver does that.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use bitwuzla_sys::{Sort, Term, TermKind, TermManager};
use model::{BinaryOp, Predicate};

use crate::effort::Effort;
use crate::nodes::{NodeId, Nodes};

/// Something with an address, which terms about addresses name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(u32);

impl ObjectId {
    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 objects"))
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Truth<'m>(Term<'m>);

/// A bit-vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bits<'m> {
    term: Term<'m>,
    pub(crate) width: u32,
}

/// An array from addresses to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bytes<'m>(Term<'m>);

impl<'m> Truth<'m> {
    pub(crate) fn term(self) -> Term<'m> {
        self.0
    }
}

impl<'m> Bits<'m> {
    pub(crate) fn term(self) -> Term<'m> {
        self.term
    }
}

/// Makes terms.
pub(crate) struct Terms<'m> {
    manager: &'m TermManager,
    yes: Truth<'m>,
    no: Truth<'m>,
    sorts: HashMap<u32, Sort<'m>>,
    constants: HashMap<Term<'m>, u128>,
    values: HashMap<(u32, u128), Term<'m>>,
    /// Bits that are an object's address, moved by so many bytes.
    addresses: HashMap<Term<'m>, (ObjectId, i128)>,
    /// Bits that are an object's address, moved by an amount that is not known.
    within: HashMap<Term<'m>, ObjectId>,
    /// Bits that are one of two addresses, each known as such.
    choices: HashMap<Term<'m>, (Truth<'m>, Bits<'m>, Bits<'m>)>,
    /// Bits that are one of two.
    ites: HashMap<Term<'m>, (Truth<'m>, Bits<'m>, Bits<'m>)>,
    /// Comparisons of these with constants.
    compared: HashMap<(Term<'m>, Term<'m>), Truth<'m>>,
    /// Single bits made of a boolean.
    truths: HashMap<Term<'m>, Truth<'m>>,
    negations: HashMap<Term<'m>, Term<'m>>,
    conjunctions: HashMap<Term<'m>, (Term<'m>, Term<'m>)>,
    /// Which bits of which term an extraction takes: the lowest.
    extracts: HashMap<Term<'m>, (Bits<'m>, u32)>,
    nodes: Nodes<'m>,
    n_terms: Rc<Cell<usize>>,
    effort: Effort,
}

/// Terms that are made, and first understood by a solver, in a unit of effort.
pub(crate) const TERMS_PER_UNIT: usize = 50;

/// Addresses that a pointer may be, each followed by itself.
const MAX_CHOICES: usize = 6;

/// Choices one within the other that a comparison goes through.
const MAX_DEPTH: usize = 1000;

const SOUND: &str = "terms are made with the sorts of their operators";

impl<'m> Terms<'m> {
    pub(crate) fn new(manager: &'m TermManager, effort: &Effort) -> Self {
        let (yes, no) = (manager.bool_value(true).expect(SOUND), manager.bool_value(false).expect(SOUND));
        let mut nodes = Nodes::default();
        nodes.constant(yes, 1, 1);
        nodes.constant(no, 0, 1);
        Self {
            manager,
            yes: Truth(yes),
            no: Truth(no),
            sorts: HashMap::new(),
            constants: HashMap::new(),
            values: HashMap::new(),
            addresses: HashMap::new(),
            within: HashMap::new(),
            choices: HashMap::new(),
            ites: HashMap::new(),
            compared: HashMap::new(),
            truths: HashMap::new(),
            negations: HashMap::new(),
            conjunctions: HashMap::new(),
            extracts: HashMap::new(),
            nodes,
            n_terms: Rc::default(),
            effort: effort.clone(),
        }
    }

    pub(crate) fn manager(&self) -> &'m TermManager {
        self.manager
    }

    fn count(&mut self) {
        let n_terms = self.n_terms.get() + 1;
        self.n_terms.set(n_terms);
        if n_terms.is_multiple_of(TERMS_PER_UNIT) {
            self.effort.spend(1);
        }
    }

    /// Whether no more terms may be made.
    pub(crate) fn is_spent(&self) -> bool {
        self.effort.is_spent()
    }

    /// How many applications were made.
    pub(crate) fn n_terms(&self) -> usize {
        self.n_terms.get()
    }

    /// The same as it grows.
    pub(crate) fn size(&self) -> Rc<Cell<usize>> {
        Rc::clone(&self.n_terms)
    }

    pub(crate) fn truth(&self, value: bool) -> Truth<'m> {
        if value { self.yes } else { self.no }
    }

    /// Whether it is false without asking.
    pub(crate) fn is_false(&self, truth: Truth<'m>) -> bool {
        truth == self.no
    }

    pub(crate) fn is_true(&self, truth: Truth<'m>) -> bool {
        truth == self.yes
    }

    pub(crate) fn constant(&mut self, width: u32, value: u128) -> Bits<'m> {
        let value = value & ones(width);
        if let Some(&term) = self.values.get(&(width, value)) {
            return Bits { term, width };
        }
        let sort = self.sort(width);
        let term = self.manager.bit_vector_value(sort, value).expect(SOUND);
        self.values.insert((width, value), term);
        self.constants.insert(term, value);
        self.nodes.constant(term, value, width);
        Bits { term, width }
    }

    pub(crate) fn fresh(&mut self, width: u32) -> Bits<'m> {
        let sort = self.sort(width);
        self.count();
        let term = self.manager.fresh_constant(sort).expect(SOUND);
        self.nodes.leaf(term, width);
        Bits { term, width }
    }

    pub(crate) fn fresh_bytes(&mut self, address_bits: u32) -> Bytes<'m> {
        let (index, element) = (self.sort(address_bits), self.sort(8));
        let sort = self.manager.array_sort(index, element).expect(SOUND);
        self.count();
        Bytes(self.manager.fresh_constant(sort).expect(SOUND))
    }

    /// Notes that the bits are the address of an object.
    pub(crate) fn name_address(&mut self, address: Bits<'m>, object: ObjectId) {
        self.addresses.insert(address.term, (object, 0));
    }

    pub(crate) fn value(&self, bits: Bits<'m>) -> Option<u128> {
        self.constants.get(&bits.term).copied()
    }

    /// The object and the offset in it, if both are known.
    pub(crate) fn address(&self, bits: Bits<'m>) -> Option<(ObjectId, i128)> {
        self.addresses.get(&bits.term).copied()
    }

    /// The object that the address was computed from.
    pub(crate) fn object(&self, bits: Bits<'m>) -> Option<ObjectId> {
        self.address(bits).map(|(object, _)| object).or_else(|| self.within.get(&bits.term).copied())
    }

    pub(crate) fn not(&mut self, a: Truth<'m>) -> Truth<'m> {
        if a == self.yes {
            return self.no;
        }
        if a == self.no {
            return self.yes;
        }
        if let Some(&negated) = self.negations.get(&a.0) {
            return Truth(negated);
        }
        let negated = self.apply(TermKind::Not, &[a.0]);
        self.negations.insert(a.0, negated);
        self.negations.insert(negated, a.0);
        Truth(negated)
    }

    pub(crate) fn and(&mut self, a: Truth<'m>, b: Truth<'m>) -> Truth<'m> {
        if a == self.no || b == self.no || self.negations.get(&a.0) == Some(&b.0) {
            return self.no;
        }
        if a == self.yes || a == b {
            return b;
        }
        if b == self.yes {
            return a;
        }
        let both = self.apply(TermKind::And, &[a.0, b.0]);
        self.conjunctions.insert(both, (a.0, b.0));
        Truth(both)
    }

    pub(crate) fn or(&mut self, a: Truth<'m>, b: Truth<'m>) -> Truth<'m> {
        if a == self.yes || b == self.yes || self.negations.get(&a.0) == Some(&b.0) {
            return self.yes;
        }
        if a == self.no || a == b {
            return b;
        }
        if b == self.no {
            return a;
        }
        // both sides of a branch come together again
        if let (Some(&(p, c)), Some(&(q, d))) = (self.conjunctions.get(&a.0), self.conjunctions.get(&b.0))
            && p == q
            && self.negations.get(&c) == Some(&d)
        {
            return Truth(p);
        }
        Truth(self.apply(TermKind::Or, &[a.0, b.0]))
    }

    pub(crate) fn all(&mut self, truths: impl IntoIterator<Item = Truth<'m>>) -> Truth<'m> {
        let yes = self.yes;
        truths.into_iter().fold(yes, |all, truth| self.and(all, truth))
    }

    pub(crate) fn implies(&mut self, a: Truth<'m>, b: Truth<'m>) -> Truth<'m> {
        let negated = self.not(a);
        self.or(negated, b)
    }

    /// A single bit as a boolean.
    pub(crate) fn is_set(&mut self, bit: Bits<'m>) -> Truth<'m> {
        if let Some(&truth) = self.truths.get(&bit.term) {
            return truth;
        }
        let one = self.constant(bit.width, 1);
        self.equal(bit, one)
    }

    /// A boolean as a single bit.
    pub(crate) fn bit(&mut self, truth: Truth<'m>) -> Bits<'m> {
        let (one, zero) = (self.constant(1, 1), self.constant(1, 0));
        let bit = self.choose(truth, one, zero);
        self.truths.insert(bit.term, truth);
        bit
    }

    pub(crate) fn choose(&mut self, condition: Truth<'m>, then: Bits<'m>, otherwise: Bits<'m>) -> Bits<'m> {
        if condition == self.yes || then == otherwise {
            return then;
        }
        if condition == self.no {
            return otherwise;
        }
        let term = self.apply(TermKind::Ite, &[condition.0, then.term, otherwise.term]);
        let bits = Bits { term, width: then.width };
        self.ites.insert(term, (condition, then, otherwise));
        if let (Some(a), Some(b)) = (self.object(then), self.object(otherwise))
            && a == b
        {
            self.within.insert(term, a);
        } else if self.n_addresses(then) + self.n_addresses(otherwise) <= MAX_CHOICES {
            self.choices.insert(term, (condition, then, otherwise));
        }
        bits
    }

    /// The two addresses of which it is one.
    pub(crate) fn choice(&self, bits: Bits<'m>) -> Option<(Truth<'m>, Bits<'m>, Bits<'m>)> {
        self.choices.get(&bits.term).copied()
    }

    /// How many addresses that are known it may be; more than are told apart if it may be something else.
    fn n_addresses(&self, bits: Bits<'m>) -> usize {
        match self.choice(bits) {
            Some((_, a, b)) => self.n_addresses(a) + self.n_addresses(b),
            None if self.object(bits).is_some() => 1,
            // null is as good as an address
            None if bits.width >= 32 && self.value(bits) == Some(0) => 1,
            None => MAX_CHOICES + 1,
        }
    }

    pub(crate) fn equal(&mut self, a: Bits<'m>, b: Bits<'m>) -> Truth<'m> {
        if a == b {
            return self.yes;
        }
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            return self.truth(x == y);
        }
        if let (Some((object, x)), Some((other, y))) = (self.address(a), self.address(b))
            && object == other
        {
            return self.truth(x == y);
        }
        if a.width == 1 {
            for (bit, other) in [(a, b), (b, a)] {
                if let (Some(value), Some(&truth)) = (self.value(other), self.truths.get(&bit.term)) {
                    return if value == 1 { truth } else { self.not(truth) };
                }
            }
        }
        for (chosen, constant) in [(a, b), (b, a)] {
            if self.value(constant).is_some() && self.ites.contains_key(&chosen.term) {
                return self.equal_to(chosen, constant, MAX_DEPTH);
            }
        }
        Truth(self.apply(TermKind::Equal, &[a.term, b.term]))
    }

    /// Whether a choice is a constant, as a choice of booleans: many values that one of many branches stores are told apart by
    /// the branches, without a bit of the values.
    fn equal_to(&mut self, chosen: Bits<'m>, constant: Bits<'m>, depth: usize) -> Truth<'m> {
        let Some(&(condition, then, otherwise)) = self.ites.get(&chosen.term).filter(|_| depth > 0) else {
            return match self.value(chosen) {
                Some(value) => self.truth(Some(value) == self.value(constant)),
                None => Truth(self.apply(TermKind::Equal, &[chosen.term, constant.term])),
            };
        };
        if let Some(&known) = self.compared.get(&(chosen.term, constant.term)) {
            return known;
        }
        let then = self.equal_to(then, constant, depth - 1);
        let otherwise = self.equal_to(otherwise, constant, depth - 1);
        let equal = self.either(condition, then, otherwise);
        self.compared.insert((chosen.term, constant.term), equal);
        equal
    }

    /// A choice of booleans.
    fn either(&mut self, condition: Truth<'m>, then: Truth<'m>, otherwise: Truth<'m>) -> Truth<'m> {
        if then == otherwise {
            return then;
        }
        let negated = self.not(condition);
        match (then, otherwise) {
            (then, otherwise) if then == self.yes => self.or(condition, otherwise),
            (then, otherwise) if then == self.no => self.and(negated, otherwise),
            (then, otherwise) if otherwise == self.yes => self.or(negated, then),
            (then, otherwise) if otherwise == self.no => self.and(condition, then),
            (then, otherwise) => Truth(self.apply(TermKind::Ite, &[condition.0, then.0, otherwise.0])),
        }
    }

    pub(crate) fn compare(&mut self, predicate: Predicate, a: Bits<'m>, b: Bits<'m>) -> Truth<'m> {
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            let (s, t) = (signed(x, a.width), signed(y, b.width));
            return self.truth(match predicate {
                Predicate::Eq => x == y,
                Predicate::Ne => x != y,
                Predicate::Ult => x < y,
                Predicate::Ule => x <= y,
                Predicate::Ugt => x > y,
                Predicate::Uge => x >= y,
                Predicate::Slt => s < t,
                Predicate::Sle => s <= t,
                Predicate::Sgt => s > t,
                Predicate::Sge => s >= t,
            });
        }
        let (kind, a, b) = match predicate {
            Predicate::Eq => return self.equal(a, b),
            Predicate::Ne => {
                let equal = self.equal(a, b);
                return self.not(equal);
            }
            Predicate::Ult => (TermKind::BvUlt, a, b),
            Predicate::Ule => (TermKind::BvUle, a, b),
            Predicate::Ugt => (TermKind::BvUlt, b, a),
            Predicate::Uge => (TermKind::BvUle, b, a),
            Predicate::Slt => (TermKind::BvSlt, a, b),
            Predicate::Sle => (TermKind::BvSle, a, b),
            Predicate::Sgt => (TermKind::BvSlt, b, a),
            Predicate::Sge => (TermKind::BvSle, b, a),
        };
        if a == b {
            return self.truth(matches!(kind, TermKind::BvUle | TermKind::BvSle));
        }
        Truth(self.apply(kind, &[a.term, b.term]))
    }

    pub(crate) fn add(&mut self, a: Bits<'m>, b: Bits<'m>) -> Bits<'m> {
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            return self.constant(a.width, x.wrapping_add(y));
        }
        for (base, moved) in [(a, b), (b, a)] {
            match self.value(moved) {
                Some(0) => return base,
                Some(by) => {
                    if let Some((object, offset)) = self.address(base) {
                        let sum =
                            Bits { term: self.apply(TermKind::BvAdd, &[base.term, moved.term]), ..base };
                        self.addresses.insert(sum.term, (object, offset + signed(by, base.width)));
                        return sum;
                    }
                }
                None => {}
            }
            if let Some((condition, then, otherwise)) = self.choice(base) {
                let (then, otherwise) = (self.add(then, moved), self.add(otherwise, moved));
                return self.choose(condition, then, otherwise);
            }
        }
        let term = self.apply(TermKind::BvAdd, &[a.term, b.term]);
        if let (Some(object), None) | (None, Some(object)) = (self.object(a), self.object(b)) {
            self.within.insert(term, object);
        }
        Bits { term, width: a.width }
    }

    /// An operation of the program, with SMT-LIB's meaning where C has none.
    pub(crate) fn binary(&mut self, op: BinaryOp, a: Bits<'m>, b: Bits<'m>) -> Bits<'m> {
        let width = a.width;
        if let (Some(x), Some(y)) = (self.value(a), self.value(b))
            && let Some(value) = fold(op, x, y, width)
        {
            return self.constant(width, value);
        }
        if self.value(b) == Some(0)
            && matches!(
                op,
                BinaryOp::Sub
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shl
                    | BinaryOp::Lshr
                    | BinaryOp::Ashr
            )
        {
            return a;
        }
        let kind = match op {
            BinaryOp::Add => return self.add(a, b),
            BinaryOp::Sub if self.value(b).is_some() => {
                let negated = self.value(b).expect("just seen").wrapping_neg();
                let negated = self.constant(width, negated);
                return self.add(a, negated);
            }
            BinaryOp::Sub => TermKind::BvSub,
            BinaryOp::Mul => TermKind::BvMul,
            BinaryOp::Udiv => TermKind::BvUdiv,
            BinaryOp::Sdiv => TermKind::BvSdiv,
            BinaryOp::Urem => TermKind::BvUrem,
            BinaryOp::Srem => TermKind::BvSrem,
            BinaryOp::And => TermKind::BvAnd,
            BinaryOp::Or => TermKind::BvOr,
            BinaryOp::Xor => TermKind::BvXor,
            BinaryOp::Shl => TermKind::BvShl,
            BinaryOp::Lshr => TermKind::BvLshr,
            BinaryOp::Ashr => TermKind::BvAshr,
        };
        if width == 1
            && let (Some(&x), Some(&y)) = (self.truths.get(&a.term), self.truths.get(&b.term))
        {
            let truth = match op {
                BinaryOp::And => Some(self.and(x, y)),
                BinaryOp::Or => Some(self.or(x, y)),
                _ => None,
            };
            if let Some(truth) = truth {
                return self.bit(truth);
            }
        }
        // `!x` is an exclusive or with one
        if width == 1
            && op == BinaryOp::Xor
            && self.value(b) == Some(1)
            && let Some(&truth) = self.truths.get(&a.term)
        {
            let negated = self.not(truth);
            return self.bit(negated);
        }
        Bits { term: self.apply(kind, &[a.term, b.term]), width }
    }

    /// Bits from `low` on.
    pub(crate) fn extract(&mut self, a: Bits<'m>, low: u32, width: u32) -> Bits<'m> {
        if low == 0 && width == a.width {
            return a;
        }
        if let Some(value) = self.value(a) {
            return self.constant(width, value >> low);
        }
        if let Some(&(whole, first)) = self.extracts.get(&a.term) {
            return self.extract(whole, first + low, width);
        }
        let indices = [u64::from(low + width - 1), u64::from(low)];
        self.count();
        let term = self.manager.apply_indexed(TermKind::BvExtract, &[a.term], &indices).expect(SOUND);
        self.extracts.insert(term, (a, low));
        self.nodes.extracted(term, a.term, low, width);
        Bits { term, width }
    }

    pub(crate) fn concat(&mut self, high: Bits<'m>, low: Bits<'m>) -> Bits<'m> {
        let width = high.width + low.width;
        if let (Some(x), Some(y)) = (self.value(high), self.value(low))
            && width <= 128
        {
            return self.constant(width, x << low.width | y);
        }
        if let (Some(&(whole, first)), Some(&(same, start))) =
            (self.extracts.get(&high.term), self.extracts.get(&low.term))
            && whole == same
            && first == start + low.width
        {
            return self.extract(whole, start, width);
        }
        Bits { term: self.apply(TermKind::BvConcat, &[high.term, low.term]), width }
    }

    pub(crate) fn zero_extend(&mut self, a: Bits<'m>, width: u32) -> Bits<'m> {
        self.extend(TermKind::BvZeroExtend, a, width)
    }

    pub(crate) fn sign_extend(&mut self, a: Bits<'m>, width: u32) -> Bits<'m> {
        self.extend(TermKind::BvSignExtend, a, width)
    }

    fn extend(&mut self, kind: TermKind, a: Bits<'m>, width: u32) -> Bits<'m> {
        if width == a.width {
            return a;
        }
        if let Some(value) = self.value(a) {
            let value = if kind == TermKind::BvSignExtend { signed(value, a.width) as u128 } else { value };
            return self.constant(width, value);
        }
        self.count();
        let by = u64::from(width - a.width);
        let term = self.manager.apply_indexed(kind, &[a.term], &[by]).expect(SOUND);
        self.nodes.extended(term, kind, a.term, width);
        Bits { term, width }
    }

    pub(crate) fn select(&mut self, bytes: Bytes<'m>, address: Bits<'m>) -> Bits<'m> {
        Bits { term: self.apply(TermKind::ArraySelect, &[bytes.0, address.term]), width: 8 }
    }

    fn apply(&mut self, kind: TermKind, operands: &[Term<'m>]) -> Term<'m> {
        self.count();
        let term = self.manager.apply(kind, operands).expect(SOUND);
        self.nodes.applied(term, kind, operands);
        term
    }

    /// How all terms were made.
    pub(crate) fn nodes(&self) -> &Nodes<'m> {
        &self.nodes
    }

    pub(crate) fn node_of_bits(&self, bits: Bits<'m>) -> NodeId {
        self.nodes.number(bits.term).expect("every term is noted when it is made")
    }

    pub(crate) fn node_of_truth(&self, truth: Truth<'m>) -> NodeId {
        self.nodes.number(truth.0).expect("every term is noted when it is made")
    }

    fn sort(&mut self, width: u32) -> Sort<'m> {
        let manager = self.manager;
        *self.sorts.entry(width).or_insert_with(|| manager.bit_vector_sort(width).expect(SOUND))
    }
}

/// The lowest `width` bits.
pub(crate) fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

pub(crate) fn signed(value: u128, width: u32) -> i128 {
    let shift = 128 - width;
    (value << shift) as i128 >> shift
}

/// The value of an operation on constants, where C gives it one.
fn fold(op: BinaryOp, x: u128, y: u128, width: u32) -> Option<u128> {
    let (s, t) = (signed(x, width), signed(y, width));
    let is_shift = y < u128::from(width);
    match op {
        BinaryOp::Add => Some(x.wrapping_add(y)),
        BinaryOp::Sub => Some(x.wrapping_sub(y)),
        BinaryOp::Mul => Some(x.wrapping_mul(y)),
        BinaryOp::Udiv => x.checked_div(y),
        BinaryOp::Urem => x.checked_rem(y),
        BinaryOp::Sdiv => s.checked_div(t).map(|value| value as u128),
        BinaryOp::Srem => s.checked_rem(t).map(|value| value as u128),
        BinaryOp::And => Some(x & y),
        BinaryOp::Or => Some(x | y),
        BinaryOp::Xor => Some(x ^ y),
        BinaryOp::Shl => is_shift.then(|| x << y),
        BinaryOp::Lshr => is_shift.then(|| x >> y),
        BinaryOp::Ashr => is_shift.then(|| (s >> y) as u128),
    }
}
