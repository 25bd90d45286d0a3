//! Terms over booleans, bit-vectors and memory, each kept once.
//!
//! Constructors simplify only what is evident for booleans, `ite` and constants, and bytes of memory are looked up among the
//! stores as far as their addresses tell ([`super::lookup`]); everything else is left to the solvers.

use std::collections::{HashMap, HashSet};

use crate::Operator;

/// The widest bit-vector: formulas come from outside and must not ask for more.
const MAX_BITS: u32 = 1024;

/// A term of a [`Terms`]; operands have lower numbers than what they are operands of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(pub(crate) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sort {
    Bool,
    Bits(u32),
    /// From addresses to bytes.
    Memory,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// An arbitrary value; the number tells it from others.
    Symbol(u32),
    Bool(bool),
    Bits(u128),
    Apply(Operator, Vec<Term>),
    /// The byte at an address.
    Select(Term, Term),
    /// Memory with the byte at an address replaced.
    Store(Term, Term, Term),
}

/// All terms of one check.
pub(crate) struct Terms {
    nodes: Vec<(Node, Sort)>,
    known: HashMap<(Node, Sort), Term>,
    n_symbols: u32,
    pub(crate) pointer_bits: u32,
    /// Bytes at addresses that symbols are, which no others of these share but those that are not in `apart` with them.
    objects: HashMap<Term, u64>,
    apart: HashSet<(Term, Term)>,
    /// Lookups that were done, by memory, address and number of bytes.
    pub(super) read: HashMap<(Term, Term, u32), Term>,
    /// Comparisons that were distributed over choices.
    pub(super) compared: HashMap<(Operator, Term, Term), Term>,
}

impl Terms {
    pub(crate) fn new(pointer_bits: u32) -> Self {
        Self {
            nodes: Vec::new(),
            known: HashMap::new(),
            n_symbols: 0,
            pointer_bits,
            objects: HashMap::new(),
            apart: HashSet::new(),
            read: HashMap::new(),
            compared: HashMap::new(),
        }
    }

    /// Notes that two objects, by address and size, have no byte in common and do not wrap around.
    pub(crate) fn note_apart(&mut self, one: (Term, u64), other: (Term, u64)) {
        self.objects.extend([one, other]);
        self.apart.extend([(one.0, other.0), (other.0, one.0)]);
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    pub(crate) fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// Width of a bit-vector.
    pub(crate) fn bits(&self, term: Term) -> u32 {
        match self.sort(term) {
            Sort::Bits(bits) => bits,
            Sort::Bool | Sort::Memory => panic!("a bit-vector has a width, this term is none"),
        }
    }

    pub(super) fn keep(&mut self, node: Node, sort: Sort) -> Term {
        let next = Term(u32::try_from(self.nodes.len()).expect("the limit of terms is far below 2^32"));
        let key = (node, sort);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.nodes.push(key.clone());
        self.known.insert(key, next);
        next
    }

    /// An arbitrary value that nothing else speaks of yet.
    pub(crate) fn fresh(&mut self, sort: Sort) -> Term {
        self.n_symbols += 1;
        self.keep(Node::Symbol(self.n_symbols), sort)
    }

    pub(crate) fn truth(&mut self, value: bool) -> Term {
        self.keep(Node::Bool(value), Sort::Bool)
    }

    /// A constant, cut to its width.
    pub(crate) fn constant(&mut self, bits: u32, value: u128) -> Term {
        let value = if bits < 128 { value & ((1 << bits) - 1) } else { value };
        self.keep(Node::Bits(value), Sort::Bits(bits))
    }

    pub(crate) fn address(&mut self, value: u64) -> Term {
        self.constant(self.pointer_bits, u128::from(value))
    }

    pub(super) fn as_bool(&self, term: Term) -> Option<bool> {
        if let Node::Bool(value) = self.node(term) { Some(*value) } else { None }
    }

    /// The sort of an operator's result, if it takes such operands.
    pub(crate) fn result(&self, operator: Operator, operands: &[Term]) -> Option<Sort> {
        let sorts: Vec<Sort> = operands.iter().map(|operand| self.sort(*operand)).collect();
        result_sort(operator, &sorts)
    }

    /// An operator on operands that it takes.
    pub(crate) fn apply(&mut self, operator: Operator, operands: &[Term]) -> Term {
        let sort = self.result(operator, operands).expect("the operands have the operator's sorts");
        let simple = match operator {
            Operator::And => return self.junction(operator, true, operands),
            Operator::Or => return self.junction(operator, false, operands),
            Operator::Not => match *self.node(operands[0]) {
                Node::Bool(value) => Some(self.truth(!value)),
                Node::Apply(Operator::Not, ref inner) => Some(inner[0]),
                _ => None,
            },
            Operator::Implies => {
                let negated = self.not(operands[0]);
                Some(self.or(&[negated, operands[1]]))
            }
            Operator::Equal => self.equality(operands[0], operands[1]),
            Operator::BvUlt
            | Operator::BvUle
            | Operator::BvUgt
            | Operator::BvUge
            | Operator::BvSlt
            | Operator::BvSle
            | Operator::BvSgt
            | Operator::BvSge => self
                .folded(operator, operands, sort)
                .or_else(|| self.distributed(operator, operands[0], operands[1])),
            Operator::Ite => self.choice(operands[0], operands[1], operands[2]),
            Operator::BvAdd if self.addresses(operands[0]).is_some() => {
                let (condition, then, otherwise) = self.addresses(operands[0]).expect("just seen");
                let then = self.apply(operator, &[then, operands[1]]);
                let otherwise = self.apply(operator, &[otherwise, operands[1]]);
                Some(self.ite(condition, then, otherwise))
            }
            _ => self.folded(operator, operands, sort),
        };
        simple.unwrap_or_else(|| self.keep(Node::Apply(operator, operands.to_vec()), sort))
    }

    fn junction(&mut self, operator: Operator, neutral: bool, operands: &[Term]) -> Term {
        let mut kept = Vec::new();
        for &operand in operands {
            match self.as_bool(operand) {
                Some(value) if value == neutral => {}
                Some(value) => return self.truth(value),
                None if kept.contains(&operand) => {}
                None => kept.push(operand),
            }
        }
        match kept[..] {
            [] => self.truth(neutral),
            [only] => only,
            _ => self.keep(Node::Apply(operator, kept), Sort::Bool),
        }
    }

    /// Sums, products, parts and comparisons of constants: counters of loops that are unrolled, and bytes that make a number.
    fn folded(&mut self, operator: Operator, operands: &[Term], sort: Sort) -> Option<Term> {
        let value = |term: &Term| if let Node::Bits(value) = self.node(*term) { Some(*value) } else { None };
        let (first, second) = (value(operands.first()?)?, operands.get(1).map(value));
        let bits = self.bits(operands[0]);
        if bits > 128 {
            return None;
        }
        let signed = |value: u128| (value << (128 - bits)) as i128 >> (128 - bits);
        let truth = match (operator, second) {
            (Operator::BvAdd, Some(Some(second))) => {
                return Some(self.constant(bits, first.wrapping_add(second)));
            }
            (Operator::BvSub, Some(Some(second))) => {
                return Some(self.constant(bits, first.wrapping_sub(second)));
            }
            (Operator::BvMul, Some(Some(second))) => {
                return Some(self.constant(bits, first.wrapping_mul(second)));
            }
            (Operator::Extract { high, low }, None) if high < bits && low <= high => {
                return Some(self.constant(high - low + 1, first >> low));
            }
            (Operator::Concat, Some(Some(second))) => {
                let low = self.bits(operands[1]);
                return (bits + low <= 128).then(|| self.constant(bits + low, first << low | second));
            }
            (Operator::SignExtend(_), None) => {
                let Sort::Bits(wider) = sort else { return None };
                return (wider <= 128).then(|| self.constant(wider, signed(first) as u128));
            }
            (Operator::BvUlt, Some(Some(second))) => first < second,
            (Operator::BvUle, Some(Some(second))) => first <= second,
            (Operator::BvUgt, Some(Some(second))) => first > second,
            (Operator::BvUge, Some(Some(second))) => first >= second,
            (Operator::BvSlt, Some(Some(second))) => signed(first) < signed(second),
            (Operator::BvSle, Some(Some(second))) => signed(first) <= signed(second),
            (Operator::BvSgt, Some(Some(second))) => signed(first) > signed(second),
            (Operator::BvSge, Some(Some(second))) => signed(first) >= signed(second),
            _ => return None,
        };
        Some(self.truth(truth))
    }

    fn equality(&mut self, left: Term, right: Term) -> Option<Term> {
        if left == right {
            return Some(self.truth(true));
        }
        match (self.node(left), self.node(right)) {
            (Node::Bits(_), Node::Bits(_)) => Some(self.truth(false)),
            _ => self.distributed(Operator::Equal, left, right),
        }
    }

    fn choice(&mut self, condition: Term, then: Term, otherwise: Term) -> Option<Term> {
        if then == otherwise {
            return Some(then);
        }
        if let Some(value) = self.as_bool(condition) {
            return Some(if value { then } else { otherwise });
        }
        match (self.as_bool(then), self.as_bool(otherwise)) {
            (Some(true), Some(false)) => Some(condition),
            (Some(false), Some(true)) => Some(self.not(condition)),
            (Some(true), None) => Some(self.or(&[condition, otherwise])),
            (None, Some(false)) => Some(self.and(&[condition, then])),
            _ => None,
        }
    }

    pub(crate) fn not(&mut self, operand: Term) -> Term {
        self.apply(Operator::Not, &[operand])
    }

    pub(crate) fn and(&mut self, operands: &[Term]) -> Term {
        self.apply(Operator::And, operands)
    }

    pub(crate) fn or(&mut self, operands: &[Term]) -> Term {
        self.apply(Operator::Or, operands)
    }

    pub(crate) fn equal(&mut self, left: Term, right: Term) -> Term {
        self.apply(Operator::Equal, &[left, right])
    }

    pub(crate) fn ite(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        self.apply(Operator::Ite, &[condition, then, otherwise])
    }

    /// A boolean as a bit.
    pub(crate) fn bit(&mut self, condition: Term) -> Term {
        let (one, zero) = (self.constant(1, 1), self.constant(1, 0));
        self.ite(condition, one, zero)
    }

    /// Whether a bit is 1.
    pub(crate) fn is_one(&mut self, bit: Term) -> Term {
        let one = self.constant(1, 1);
        self.equal(bit, one)
    }

    /// Zero-extended or truncated to this width.
    pub(crate) fn resize(&mut self, term: Term, bits: u32) -> Term {
        match self.bits(term) {
            from if from < bits => self.apply(Operator::ZeroExtend(bits - from), &[term]),
            from if from > bits => self.apply(Operator::Extract { high: bits - 1, low: 0 }, &[term]),
            _ => term,
        }
    }

    /// The two addresses within objects of which a pointer is one, and under what the first.
    pub(super) fn addresses(&self, address: Term) -> Option<(Term, Term, Term)> {
        let Node::Apply(Operator::Ite, parts) = self.node(address) else { return None };
        let is_known = |address: Term| self.objects.contains_key(&self.moved(address).0);
        (is_known(parts[1]) && is_known(parts[2])).then(|| (parts[0], parts[1], parts[2]))
    }

    /// Whether two addresses of bytes are the same, as far as is evident.
    pub(super) fn is_same(&self, one: Term, other: Term) -> Option<bool> {
        let ((base, offset), (other_base, other_offset)) = (self.moved(one), self.moved(other));
        if base == other_base {
            return Some(offset == other_offset);
        }
        let is_inside =
            |base: Term, offset: u128| self.objects.get(&base).is_some_and(|size| offset < u128::from(*size));
        let are_apart = self.apart.contains(&(base, other_base))
            && is_inside(base, offset)
            && is_inside(other_base, other_offset);
        are_apart.then_some(false)
    }

    /// What an address is, moved by a constant.
    fn moved(&self, address: Term) -> (Term, u128) {
        let (mut base, mut offset) = (address, 0_u128);
        while let Node::Apply(Operator::BvAdd, operands) = self.node(base) {
            let Node::Bits(by) = self.node(operands[1]) else { break };
            offset = offset.wrapping_add(*by);
            base = operands[0];
        }
        let bits = self.pointer_bits;
        (base, if bits < 128 { offset & ((1 << bits) - 1) } else { offset })
    }

    pub(crate) fn store(&mut self, memory: Term, address: Term, byte: Term) -> Term {
        if let Some((condition, then, otherwise)) = self.addresses(address) {
            let (then, otherwise) = (self.store(memory, then, byte), self.store(memory, otherwise, byte));
            return self.ite(condition, then, otherwise);
        }
        self.keep(Node::Store(memory, address, byte), Sort::Memory)
    }

    /// The operands of a term.
    pub(crate) fn operands(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            Node::Symbol(_) | Node::Bool(_) | Node::Bits(_) => Vec::new(),
            Node::Apply(_, operands) => operands.clone(),
            Node::Select(memory, address) => vec![*memory, *address],
            Node::Store(memory, address, byte) => vec![*memory, *address, *byte],
        }
    }
}

fn result_sort(operator: Operator, sorts: &[Sort]) -> Option<Sort> {
    use Sort::{Bits, Bool};
    let width = |bits: u32| (1..=MAX_BITS).contains(&bits).then_some(Bits(bits));
    match (operator, sorts) {
        (Operator::Not, [Bool]) | (Operator::Implies, [Bool, Bool]) => Some(Bool),
        (Operator::And | Operator::Or, sorts) if sorts.iter().all(|sort| *sort == Bool) => Some(Bool),
        (Operator::Equal, [left, right]) if left == right => Some(Bool),
        (Operator::Ite, [Bool, then, otherwise]) if then == otherwise => Some(*then),
        (Operator::BvNot | Operator::BvNeg, [Bits(bits)]) => Some(Bits(*bits)),
        (
            Operator::BvAdd
            | Operator::BvSub
            | Operator::BvMul
            | Operator::BvUdiv
            | Operator::BvUrem
            | Operator::BvSdiv
            | Operator::BvSrem
            | Operator::BvAnd
            | Operator::BvOr
            | Operator::BvXor
            | Operator::BvShl
            | Operator::BvLshr
            | Operator::BvAshr,
            [Bits(left), Bits(right)],
        ) if left == right => Some(Bits(*left)),
        (
            Operator::BvUlt
            | Operator::BvUle
            | Operator::BvUgt
            | Operator::BvUge
            | Operator::BvSlt
            | Operator::BvSle
            | Operator::BvSgt
            | Operator::BvSge,
            [Bits(left), Bits(right)],
        ) if left == right => Some(Bool),
        (Operator::Concat, [Bits(left), Bits(right)]) => width(left + right),
        (Operator::Extract { high, low }, [Bits(bits)]) if low <= high && high < *bits => {
            Some(Bits(high - low + 1))
        }
        (Operator::ZeroExtend(by) | Operator::SignExtend(by), [Bits(bits)]) => width(bits.checked_add(by)?),
        _ => None,
    }
}
