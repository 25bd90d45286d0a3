//! An integer expression of the program over what variables hold, made ready to be computed very often.
//!
//! Method: the instructions that a value is computed from become a list in which each stands behind its operands. A load takes what is
//! known of its variable. Limit: what is no integer, and what calls return, is known only where it is given.

use std::collections::BTreeMap;

use model::interpret::integer;
use model::{BinaryOp, CastOp, Function, InstrId, Op, Operand, Predicate, Type};

/// Instructions of an expression; what a longer one computes is not known.
const MOST_NODES: usize = 256;

/// An expression over numbered values that may be known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Formula {
    /// Each behind its operands; the last one is the value.
    nodes: Vec<Node>,
}

/// Number of a node.
type At = u32;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Unknown,
    Constant(u128),
    /// The last of these that is known, else what the instruction computes.
    Given(Vec<u32>, Option<At>),
    Binary(BinaryOp, u32, At, At),
    Compare(Predicate, u32, At, At),
    Mask(u32, At),
    Extend(u32, u32, At),
}

impl Formula {
    /// What an operand of a function is, where `given` says of loads and calls which numbered values they give.
    pub(super) fn of(function: &Function, value: Operand, given: &BTreeMap<InstrId, Vec<u32>>) -> Self {
        let mut made = Maker { function, given, nodes: Vec::new(), known: BTreeMap::new(), depth: 0 };
        let root = made.operand(value);
        if made.nodes.len() > MOST_NODES {
            return Self { nodes: vec![Node::Unknown] };
        }
        // shared nodes may stand behind it
        made.nodes.truncate(root as usize + 1);
        Self { nodes: made.nodes }
    }

    /// The value, as far as that follows.
    pub(super) fn value(&self, known: &dyn Fn(u32) -> Option<u128>) -> Option<u128> {
        let mut small = [None; 16];
        let mut large = Vec::new();
        let values: &mut [Option<u128>] = match small.get_mut(..self.nodes.len()) {
            Some(values) => values,
            None => {
                large.resize(self.nodes.len(), None);
                &mut large
            }
        };
        for (at, node) in self.nodes.iter().enumerate() {
            let of = |at: &At| values[*at as usize];
            values[at] = match node {
                Node::Unknown => None,
                Node::Constant(value) => Some(*value),
                Node::Given(numbers, otherwise) => {
                    let given = numbers.iter().rev().find_map(|number| known(*number));
                    given.or_else(|| otherwise.as_ref().and_then(of))
                }
                Node::Binary(op, bits, left, right) => match (of(left), of(right)) {
                    (Some(left), Some(right)) => integer::binary(*op, *bits, left, right).ok(),
                    (None, _) | (_, None) => None,
                },
                Node::Compare(predicate, bits, left, right) => match (of(left), of(right)) {
                    (Some(left), Some(right)) => {
                        Some(u128::from(integer::compare(*predicate, *bits, left, right)))
                    }
                    (None, _) | (_, None) => None,
                },
                Node::Mask(bits, from) => of(from).map(|value| value & integer::mask(*bits)),
                Node::Extend(from, to, value) => {
                    of(value).map(|value| integer::signed(value, *from).cast_unsigned() & integer::mask(*to))
                }
            };
        }
        values.last().copied().flatten()
    }
}

struct Maker<'m> {
    function: &'m Function,
    given: &'m BTreeMap<InstrId, Vec<u32>>,
    nodes: Vec<Node>,
    known: BTreeMap<InstrId, At>,
    depth: usize,
}

impl Maker<'_> {
    fn add(&mut self, node: Node) -> At {
        self.nodes.push(node);
        At::try_from(self.nodes.len() - 1).expect("expressions are bounded")
    }

    fn operand(&mut self, operand: Operand) -> At {
        match operand {
            Operand::Int { value, .. } => self.add(Node::Constant(value)),
            Operand::Null => self.add(Node::Constant(0)),
            Operand::Result(instr) => match self.known.get(&instr) {
                Some(known) => *known,
                None => {
                    let at = self.result(instr);
                    self.known.insert(instr, at);
                    at
                }
            },
            _ => self.add(Node::Unknown),
        }
    }

    fn result(&mut self, instr: InstrId) -> At {
        let computed = self.computed(instr);
        match self.given.get(&instr) {
            Some(numbers) => self.add(Node::Given(numbers.clone(), Some(computed))),
            None => computed,
        }
    }

    fn computed(&mut self, instr: InstrId) -> At {
        let Type::Int(bits) = self.function.instr(instr).ty else { return self.add(Node::Unknown) };
        if self.nodes.len().max(self.depth) > MOST_NODES {
            return self.add(Node::Unknown);
        }
        self.depth += 1;
        let node = self.operation(instr, bits);
        self.depth -= 1;
        match node {
            Ok(node) => self.add(node),
            Err(same) => same,
        }
    }

    /// What an instruction computes, or the node that has the same value.
    fn operation(&mut self, instr: InstrId, bits: u32) -> Result<Node, At> {
        Ok(match &self.function.instr(instr).op {
            Op::Binary(op, left, right) => Node::Binary(*op, bits, self.operand(*left), self.operand(*right)),
            Op::Compare(predicate, Type::Int(bits), left, right) => {
                Node::Compare(*predicate, *bits, self.operand(*left), self.operand(*right))
            }
            Op::Cast(CastOp::Trunc | CastOp::Zext, _, of) => Node::Mask(bits, self.operand(*of)),
            Op::Cast(CastOp::Sext, Type::Int(from), of) => Node::Extend(*from, bits, self.operand(*of)),
            Op::Mark { value, .. } | Op::Freeze(value) => return Err(self.operand(*value)),
            _ => Node::Unknown,
        })
    }
}
