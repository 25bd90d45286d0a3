//! Terms as a straight-line program over SMT-LIB's sorts, from which every solver is fed.
//!
//! Method: our truth values are bit-vectors of width 1 and our numbers are their bits; solvers do better with Bool and with
//! floating-point sorts. Each term is produced in the sort its user needs: predicates and connectives as Bool, numbers as
//! such, the rest as bit-vectors, with conversions only in between. Operands precede users, shared terms appear once, and
//! no recursion limits the depth.

mod float;

use crate::term::hash::FastMap;
use crate::term::{BinaryOp, Extension, Format, Node, Term, TermStore, UnaryOp, Value, Var};
pub(crate) use float::FloatStep;

/// A result within [`Lowered`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u32);

/// How one result is computed from earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Bool(bool),
    BitVector(Value),
    /// A declared constant of bit-vector sort.
    Variable(Var),
    BoolNot(Slot),
    BoolAnd(Slot, Slot),
    BoolOr(Slot, Slot),
    /// Equality of two results of one sort.
    Equal(Slot, Slot),
    /// An order on bit-vectors, giving Bool.
    Compare(BinaryOp, Slot, Slot),
    Unary(UnaryOp, Slot),
    /// A bit-vector operator giving a bit-vector.
    Binary(BinaryOp, Slot, Slot),
    Extract {
        operand: Slot,
        high: u32,
        low: u32,
    },
    Extend {
        extension: Extension,
        operand: Slot,
        n_bits: u32,
    },
    /// Condition of sort Bool, branches of one sort.
    Ite(Slot, Slot, Slot),
    /// Something about numbers.
    Float(FloatStep),
}

/// The program.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) steps: Vec<Step>,
    /// Sorts of the results.
    pub(crate) sorts: Vec<Sort>,
    /// Widths of the results; 1 for Bool.
    pub(crate) widths: Vec<u32>,
    /// The assertions, of sort Bool.
    pub(crate) assertions: Vec<Slot>,
    /// The variables that occur, in order of creation.
    pub(crate) vars: Vec<(Var, Slot)>,
}

/// What kind of thing a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sort {
    Bool,
    BitVector,
    Float(Format),
}

/// Translates assertions, which are terms of width 1.
pub(crate) fn lower(store: &TermStore, assertions: &[Term]) -> Lowered {
    let mut lowering = Lowering {
        store,
        slots: FastMap::default(),
        lowered: Lowered {
            steps: Vec::new(),
            sorts: Vec::new(),
            widths: Vec::new(),
            assertions: Vec::new(),
            vars: Vec::new(),
        },
    };
    for &assertion in assertions {
        let slot = lowering.lower(assertion);
        lowering.lowered.assertions.push(slot);
    }
    lowering.lowered.vars.sort_unstable();
    lowering.lowered
}

struct Lowering<'s> {
    store: &'s TermStore,
    slots: FastMap<(Term, Sort), Slot>,
    lowered: Lowered,
}

/// What has to exist before a term can be produced in a sort.
type Wants = [Option<(Term, Sort)>; 3];

impl Lowering<'_> {
    fn lower(&mut self, assertion: Term) -> Slot {
        let mut stack = vec![(assertion, Sort::Bool)];
        while let Some(&(term, sort)) = stack.last() {
            if self.slots.contains_key(&(term, sort)) {
                stack.pop();
                continue;
            }
            let wants = self.wants(term, sort);
            let n_waiting = stack.len();
            stack.extend(wants.into_iter().flatten().filter(|want| !self.slots.contains_key(want)));
            if stack.len() == n_waiting {
                stack.pop();
                let slot = self.produce(term, sort, wants);
                self.slots.insert((term, sort), slot);
            }
        }
        self.slots[&(assertion, Sort::Bool)]
    }

    fn wants(&self, term: Term, sort: Sort) -> Wants {
        let bits = |term| Some((term, Sort::BitVector));
        let node = self.store.node(term);
        if let Some(wants) = self.wants_float(term, sort, &node) {
            return wants;
        }
        match node {
            Node::Constant(_) => [None; 3],
            Node::Variable(_) | Node::Extract { .. } | Node::Unary(UnaryOp::Neg, _) if sort == Sort::Bool => {
                [bits(term), None, None]
            }
            Node::Variable(_) => [None; 3],
            Node::Extract { operand, .. } | Node::Extend { operand, .. } => [bits(operand), None, None],
            Node::Unary(UnaryOp::Not, operand) => [Some((operand, sort)), None, None],
            Node::Unary(UnaryOp::Neg, operand) => [bits(operand), None, None],
            Node::Binary(op, left, right) if op.is_predicate() => match sort {
                Sort::Bool if op == BinaryOp::Eq && self.store.width(left) == 1 => {
                    [Some((left, Sort::Bool)), Some((right, Sort::Bool)), None]
                }
                Sort::Bool => [bits(left), bits(right), None],
                Sort::BitVector | Sort::Float(_) => [Some((term, Sort::Bool)), None, None],
            },
            Node::Binary(op, left, right) => match op {
                BinaryOp::And | BinaryOp::Or => [Some((left, sort)), Some((right, sort)), None],
                _ if sort == Sort::Bool => [bits(term), None, None],
                _ => [bits(left), bits(right), None],
            },
            Node::Ite { condition, then, otherwise } => {
                [Some((condition, Sort::Bool)), Some((then, sort)), Some((otherwise, sort))]
            }
            Node::FloatUnary(..) | Node::FloatBinary(..) | Node::FloatFused(..) => {
                unreachable!("numbers were looked at before")
            }
        }
    }

    /// Everything in `wants` has its slot.
    fn produce(&mut self, term: Term, sort: Sort, wants: Wants) -> Slot {
        let slots = wants.map(|want| want.map(|want| self.slots[&want]));
        let slot = |position: usize| slots[position].expect("the node has this operand");
        // A term that waits for itself in the other sort is converted.
        if let [Some((same, from)), None, None] = wants
            && same == term
        {
            return self.convert(slot(0), from, sort);
        }
        let node = self.store.node(term);
        if let Some(slot) = self.produce_float(sort, &node, slots) {
            return slot;
        }
        let step = match node {
            Node::Constant(value) => match sort {
                Sort::Bool => Step::Bool(value.bits() == 1),
                Sort::BitVector | Sort::Float(_) => Step::BitVector(value),
            },
            Node::Variable(var) => Step::Variable(var),
            Node::Extract { high, low, .. } => Step::Extract { operand: slot(0), high, low },
            Node::Extend { extension, operand, width } => {
                let n_bits = width - self.store.width(operand);
                Step::Extend { extension, operand: slot(0), n_bits }
            }
            Node::Unary(UnaryOp::Not, _) if sort == Sort::Bool => Step::BoolNot(slot(0)),
            Node::Unary(op, _) => Step::Unary(op, slot(0)),
            Node::Binary(BinaryOp::Eq, ..) => Step::Equal(slot(0), slot(1)),
            Node::Binary(op, ..) if op.is_predicate() => Step::Compare(op, slot(0), slot(1)),
            Node::Binary(BinaryOp::And, ..) if sort == Sort::Bool => Step::BoolAnd(slot(0), slot(1)),
            Node::Binary(BinaryOp::Or, ..) if sort == Sort::Bool => Step::BoolOr(slot(0), slot(1)),
            Node::Binary(op, ..) => Step::Binary(op, slot(0), slot(1)),
            Node::Ite { .. } => Step::Ite(slot(0), slot(1), slot(2)),
            Node::FloatUnary(..) | Node::FloatBinary(..) | Node::FloatFused(..) => {
                unreachable!("numbers were produced before")
            }
        };
        let slot = self.push(step, sort, self.store.width(term));
        if let Step::Variable(var) = step {
            self.lowered.vars.push((var, slot));
        }
        slot
    }

    fn convert(&mut self, slot: Slot, from: Sort, to: Sort) -> Slot {
        match (from, to) {
            (_, Sort::Float(format)) => self.push_float(FloatStep::FromBits(format, slot)),
            (Sort::Float(_), _) => self.push_float(FloatStep::Bits(slot)),
            (Sort::BitVector, _) => {
                let one = self.push(Step::BitVector(Value::new(1, 1)), Sort::BitVector, 1);
                self.push(Step::Equal(slot, one), Sort::Bool, 1)
            }
            (Sort::Bool, _) => {
                let one = self.push(Step::BitVector(Value::new(1, 1)), Sort::BitVector, 1);
                let zero = self.push(Step::BitVector(Value::new(1, 0)), Sort::BitVector, 1);
                self.push(Step::Ite(slot, one, zero), Sort::BitVector, 1)
            }
        }
    }

    fn push(&mut self, step: Step, sort: Sort, width: u32) -> Slot {
        let slot = Slot(u32::try_from(self.lowered.steps.len()).expect("fewer than 2^32 steps"));
        self.lowered.steps.push(step);
        self.lowered.sorts.push(sort);
        self.lowered.widths.push(width);
        slot
    }
}

impl Slot {
    /// Position of the step that computes the result.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
