//! Evaluates terms with values in place of symbols: where does control arrive from a state, and with what?
//!
//! Method: a term is evaluated as far as a question needs it. A symbol that the state does not give, mostly an input of the program,
//! takes one after the other of the values that tell its comparisons with constants apart, and a comparison of what is not known is
//! true and false; all combinations are tried. Limit: a value that stands for others is known as a guess, and what is computed from
//! it is not known; so more may seem to be reached than is, and with comparisons between inputs also less.

use std::collections::{BTreeSet, HashMap, HashSet};

use bitwuzla_sys::TermKind;

use crate::nodes::{Made, Node, NodeId};
use crate::terms::{ones, signed};

/// Values that a symbol takes at most; with more it is not known.
const MAX_VALUES: usize = 64;
/// Values between two that matter, up to which all are taken.
const MAX_GAP: i128 = 16;

/// What is known of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Nothing,
    /// One of several values that no comparison tells apart.
    Guess(u64),
    Exactly(u64),
}

impl Known {
    fn value(self) -> Option<u64> {
        match self {
            Self::Nothing => None,
            Self::Guess(value) | Self::Exactly(value) => Some(value),
        }
    }
}

/// The values of the terms for one state and one choice of inputs after the other.
pub(crate) struct Simulation<'n> {
    nodes: &'n [Node],
    /// When it was computed, and what came out.
    known: Vec<(u32, Known)>,
    round: u32,
    /// The round that stands for all choices of one state: what depends on no choice is computed once.
    every_round: u32,
    /// Whether what is computed now depends on a choice.
    depends_on_choice: bool,
    /// What was chosen in this round, in the order of the questions, and among how many.
    chosen: Vec<(usize, usize)>,
    n_asked: usize,
    /// The values of symbols.
    values: &'n HashMap<NodeId, Vec<Known>>,
    /// Whether a comparison of what is not known was chosen in this round.
    pub(crate) is_doubtful: bool,
    /// Terms that were evaluated.
    pub(crate) n_steps: u64,
}

impl<'n> Simulation<'n> {
    pub(crate) fn new(nodes: &'n [Node], values: &'n HashMap<NodeId, Vec<Known>>) -> Self {
        let known = vec![(0, Known::Nothing); nodes.len()];
        Self {
            nodes,
            known,
            round: 0,
            every_round: 0,
            depends_on_choice: false,
            chosen: Vec::new(),
            n_asked: 0,
            values,
            is_doubtful: false,
            n_steps: 0,
        }
    }

    /// Begins with the first choice of everything.
    pub(crate) fn begin(&mut self) {
        self.chosen.clear();
        self.round += 1;
        self.every_round = self.round;
        self.again();
    }

    /// Goes on with the next choice, if there is one. What is known of the state must be given again.
    pub(crate) fn next(&mut self) -> bool {
        self.chosen.truncate(self.n_asked);
        while let Some((chosen, among)) = self.chosen.last_mut() {
            *chosen += 1;
            if chosen < among {
                self.again();
                return true;
            }
            self.chosen.pop();
        }
        false
    }

    fn again(&mut self) {
        self.round += 1;
        self.n_asked = 0;
        self.is_doubtful = false;
    }

    /// Gives a symbol, or several one above the other, a value in this round.
    pub(crate) fn give(&mut self, node: NodeId, value: u64) {
        self.set(node, Known::Exactly(value), self.every_round);
    }

    fn set(&mut self, node: NodeId, known: Known, when: u32) {
        self.known[node as usize] = (when, known);
        if let Made::Two(TermKind::BvConcat, high, low) = self.nodes[node as usize].made {
            let width = self.nodes[low as usize].width;
            let part = |change: &dyn Fn(u64) -> u64| match known {
                Known::Nothing => Known::Nothing,
                Known::Guess(value) => Known::Guess(change(value)),
                Known::Exactly(value) => Known::Exactly(change(value)),
            };
            self.set(high, part(&|value| value >> width), when);
            self.set(low, part(&|value| value & ones(width) as u64), when);
        }
    }

    /// What the term is in this round.
    pub(crate) fn evaluate(&mut self, term: NodeId) -> Known {
        let mut open = vec![term];
        while let Some(&at) = open.last() {
            self.n_steps += 1;
            if self.seen(at).is_some() {
                open.pop();
                continue;
            }
            self.depends_on_choice = false;
            match self.step(at) {
                Ok(known) => {
                    let when = if self.depends_on_choice { self.round } else { self.every_round };
                    self.known[at as usize] = (when, known);
                    open.pop();
                }
                Err(operand) => open.push(operand),
            }
        }
        self.known[term as usize].1
    }

    pub(crate) fn holds(&mut self, truth: NodeId) -> bool {
        self.evaluate(truth).value() == Some(1)
    }

    fn seen(&self, node: NodeId) -> Option<Known> {
        let (when, known) = self.known[node as usize];
        (when == self.round || when == self.every_round).then_some(known)
    }

    fn need(&mut self, node: NodeId) -> Result<Known, NodeId> {
        let known = self.seen(node).ok_or(node)?;
        self.depends_on_choice |= self.known[node as usize].0 == self.round;
        Ok(known)
    }

    fn choose(&mut self, among: usize) -> usize {
        self.depends_on_choice = true;
        if self.n_asked == self.chosen.len() {
            self.chosen.push((0, among));
        }
        self.n_asked += 1;
        self.chosen[self.n_asked - 1].0
    }

    /// The value of a term, or the operand that it needs first.
    fn step(&mut self, at: NodeId) -> Result<Known, NodeId> {
        let Node { made, width } = self.nodes[at as usize];
        match made {
            Made::Constant(value) => Ok(Known::Exactly(value)),
            Made::Leaf => {
                // one that is nothing by itself may be a part of what is chosen in another round
                self.depends_on_choice = true;
                Ok(self.take(at).unwrap_or(Known::Nothing))
            }
            Made::Ite(condition, then, otherwise) => {
                let holds = self.need(condition)?.value() == Some(1);
                self.need(if holds { then } else { otherwise })
            }
            Made::Extract(of, low) => Ok(change(self.need(of)?, |value| (value >> low) & ones(width) as u64)),
            Made::One(TermKind::Not, of) => Ok(change(self.need(of)?, |value| 1 - value)),
            Made::One(TermKind::BvZeroExtend, of) if width <= 64 => self.need(of),
            Made::One(TermKind::BvSignExtend, of) if width <= 64 => {
                let from = self.nodes[of as usize].width;
                Ok(change(self.need(of)?, |value| cut(signed(value.into(), from) as u128, width)))
            }
            Made::One(..) => Ok(Known::Nothing),
            Made::Two(TermKind::And, one, other) => match self.need(one)?.value() {
                Some(0) => Ok(Known::Exactly(0)),
                _ => self.need(other),
            },
            Made::Two(TermKind::Or, one, other) => match self.need(one)?.value() {
                Some(1) => Ok(Known::Exactly(1)),
                _ => self.need(other),
            },
            Made::Two(TermKind::BvConcat, high, low) => {
                if self.is_untouched(at)
                    && let Some(known) = self.take(at)
                {
                    self.set(at, known, self.round);
                    return Ok(known);
                }
                let by = self.nodes[low as usize].width;
                let (high, low) = (self.need(high)?, self.need(low)?);
                Ok(if width <= 64 {
                    both(high, low, |high, low| Some(high << by | low))
                } else {
                    Known::Nothing
                })
            }
            Made::Two(kind, one, other) => {
                let operand_width = self.nodes[one as usize].width;
                let (one, other) = (self.need(one)?, self.need(other)?);
                if is_comparison(kind) {
                    let truth = match (one.value(), other.value()) {
                        (Some(one), Some(other)) => compare(kind, one, other, operand_width),
                        _ => {
                            self.is_doubtful = true;
                            self.choose(2) == 0
                        }
                    };
                    return Ok(Known::Exactly(truth.into()));
                }
                if width > 64 {
                    return Ok(Known::Nothing);
                }
                Ok(both(one, other, |one, other| operation(kind, one, other, width)))
            }
        }
    }

    /// One of the values of a symbol.
    fn take(&mut self, at: NodeId) -> Option<Known> {
        let values = self.values.get(&at)?;
        Some(values[self.choose(values.len())])
    }

    /// Whether nothing is known of any of the symbols one above the other.
    fn is_untouched(&self, at: NodeId) -> bool {
        match self.nodes[at as usize].made {
            Made::Two(TermKind::BvConcat, high, low) => self.is_untouched(high) && self.is_untouched(low),
            _ => self.seen(at).is_none(),
        }
    }
}

fn change(known: Known, to: impl Fn(u64) -> u64) -> Known {
    match known {
        Known::Nothing => Known::Nothing,
        Known::Guess(value) => Known::Guess(to(value)),
        Known::Exactly(value) => Known::Exactly(to(value)),
    }
}

fn both(one: Known, other: Known, operation: impl Fn(u64, u64) -> Option<u64>) -> Known {
    let (Some(x), Some(y)) = (one.value(), other.value()) else { return Known::Nothing };
    match (operation(x, y), one, other) {
        (Some(value), Known::Exactly(_), Known::Exactly(_)) => Known::Exactly(value),
        (Some(value), ..) => Known::Guess(value),
        (None, ..) => Known::Nothing,
    }
}

fn is_comparison(kind: TermKind) -> bool {
    use TermKind::{BvSle, BvSlt, BvUle, BvUlt, Equal};
    matches!(kind, Equal | BvUlt | BvUle | BvSlt | BvSle)
}

fn compare(kind: TermKind, one: u64, other: u64, width: u32) -> bool {
    let (s, t) = (signed(one.into(), width), signed(other.into(), width));
    match kind {
        TermKind::Equal => one == other,
        TermKind::BvUlt => one < other,
        TermKind::BvUle => one <= other,
        TermKind::BvSlt => s < t,
        _ => s <= t,
    }
}

fn cut(value: u128, width: u32) -> u64 {
    (value & ones(width)) as u64
}

/// None where the meaning of SMT-LIB and that of C may differ.
fn operation(kind: TermKind, x: u64, y: u64, width: u32) -> Option<u64> {
    let (a, b) = (u128::from(x), u128::from(y));
    let (s, t) = (signed(a, width), signed(b, width));
    let is_shift = b < u128::from(width);
    let value = match kind {
        TermKind::BvAdd => a.wrapping_add(b),
        TermKind::BvSub => a.wrapping_sub(b),
        TermKind::BvMul => a.wrapping_mul(b),
        TermKind::BvUdiv => a.checked_div(b)?,
        TermKind::BvUrem => a.checked_rem(b)?,
        TermKind::BvSdiv => s.checked_div(t)? as u128,
        TermKind::BvSrem => s.checked_rem(t)? as u128,
        TermKind::BvAnd => a & b,
        TermKind::BvOr => a | b,
        TermKind::BvXor => a ^ b,
        TermKind::BvShl if is_shift => a << b,
        TermKind::BvLshr if is_shift => a >> b,
        TermKind::BvAshr if is_shift => (s >> b) as u128,
        _ => return None,
    };
    Some(cut(value, width))
}

/// What a symbol is compared with.
#[derive(Default)]
struct Compared {
    equal: BTreeSet<i128>,
    ordered: BTreeSet<i128>,
}

/// By symbol, or several one above the other: values that tell its comparisons with constants apart; and the symbols of which some values are taken to
/// be exact that it is not compared with for equality.
pub(crate) fn telling_values(nodes: &[Node]) -> (HashMap<NodeId, Vec<Known>>, HashSet<NodeId>) {
    let mut compared: HashMap<NodeId, Compared> = HashMap::new();
    let mut seen = HashSet::new();
    for node in nodes {
        let Made::Two(kind, one, other) = node.made else { continue };
        if !is_comparison(kind) {
            continue;
        }
        for (term, constant) in [(one, other), (other, one)] {
            if let Made::Constant(value) = nodes[constant as usize].made {
                let value = signed(value.into(), nodes[constant as usize].width);
                let is_equal = kind == TermKind::Equal;
                trace(nodes, term, value, is_equal, &mut compared, &mut seen);
            }
        }
    }
    let width = |node: NodeId| nodes[node as usize].width;
    let (mut all, mut ordered) = (HashMap::new(), HashSet::new());
    for (node, compared) in compared {
        let values = compared.values(width(node));
        let equal: HashSet<u64> =
            compared.equal.iter().map(|value| cut(*value as u128, width(node))).collect();
        let is_ordered = |known: &Known| matches!(known, Known::Exactly(value) if !equal.contains(value));
        if values.len() <= MAX_VALUES {
            ordered.extend(values.iter().any(is_ordered).then_some(node));
            all.insert(node, values);
        }
    }
    (all, ordered)
}

/// Finds the symbols that a term is, and notes that they are compared with the value.
fn trace(
    nodes: &[Node],
    term: NodeId,
    value: i128,
    is_equal: bool,
    compared: &mut HashMap<NodeId, Compared>,
    seen: &mut HashSet<(NodeId, i128, bool)>,
) {
    let mut open = vec![(term, value)];
    while let Some((term, value)) = open.pop() {
        if !seen.insert((term, value, is_equal)) {
            continue;
        }
        match nodes[term as usize].made {
            Made::Leaf | Made::Two(TermKind::BvConcat, ..)
                if nodes[term as usize].width <= 64 && is_symbol(nodes, term) =>
            {
                let compared = compared.entry(term).or_default();
                if is_equal { &mut compared.equal } else { &mut compared.ordered }.insert(value);
            }
            Made::One(TermKind::BvZeroExtend | TermKind::BvSignExtend, of) => open.push((of, value)),
            Made::Two(TermKind::BvAdd, of, by) => {
                if let Made::Constant(by) = nodes[by as usize].made {
                    let width = nodes[term as usize].width;
                    let by = signed(by.into(), width);
                    open.push((of, signed((value - by) as u128 & ones(width), width)));
                }
            }
            Made::Ite(_, then, otherwise) => open.extend([(then, value), (otherwise, value)]),
            _ => {}
        }
    }
}

/// Whether it is a symbol, or several one above the other.
pub(crate) fn is_symbol(nodes: &[Node], term: NodeId) -> bool {
    match nodes[term as usize].made {
        Made::Leaf => true,
        Made::Two(TermKind::BvConcat, high, low) => is_symbol(nodes, high) && is_symbol(nodes, low),
        _ => false,
    }
}

impl Compared {
    /// Each value that is compared with, those beside it where the order counts, all of small gaps, and one more.
    fn values(&self, width: u32) -> Vec<Known> {
        let around = self.ordered.iter().flat_map(|value| [value - 1, *value, value + 1]);
        let mut values: BTreeSet<i128> = self.equal.iter().copied().chain(around).collect();
        let listed: Vec<i128> = values.iter().copied().collect();
        for pair in listed.windows(2) {
            if !self.ordered.is_empty() && pair[1] - pair[0] <= MAX_GAP {
                values.extend(pair[0] + 1..pair[1]);
            }
        }
        let other = (0..).find(|value| !values.contains(value)).expect("there are more numbers than values");
        values.insert(other);
        let is_exact = |value: &i128| {
            self.equal.contains(value)
                || (!self.ordered.is_empty()
                    && values.contains(&(value - 1))
                    && values.contains(&(value + 1)))
        };
        let mut known: Vec<Known> = Vec::new();
        for value in &values {
            let bits = cut(*value as u128, width);
            let each = if is_exact(value) { Known::Exactly(bits) } else { Known::Guess(bits) };
            if !known.iter().any(|before| before.value() == Some(bits)) {
                known.push(each);
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_tell_comparisons_apart() {
        let compared = |equal: &[i128], ordered: &[i128]| {
            Compared { equal: equal.iter().copied().collect(), ordered: ordered.iter().copied().collect() }
                .values(8)
        };
        use Known::{Exactly, Guess};
        assert_eq!(compared(&[1, 2], &[]), [Guess(0), Exactly(1), Exactly(2)]);
        // 1 to 3 and what lies beside it
        let range = compared(&[], &[1, 3]);
        assert_eq!(range, [Guess(0), Exactly(1), Exactly(2), Exactly(3), Exactly(4), Guess(5)]);
    }

    #[test]
    fn every_combination_of_what_is_not_known_is_tried() {
        // a symbol compared with 3, and two others with each other
        let two = |kind, one, other| Node { made: Made::Two(kind, one, other), width: 1 };
        let symbol = Node { made: Made::Leaf, width: 8 };
        let three = Node { made: Made::Constant(3), width: 8 };
        let nodes = [
            symbol,
            three,
            two(TermKind::Equal, 0, 1),
            symbol,
            symbol,
            two(TermKind::BvUlt, 3, 4),
            two(TermKind::And, 2, 5),
        ];
        let (values, ordered) = telling_values(&nodes);
        assert!(ordered.is_empty());
        let mut simulation = Simulation::new(&nodes, &values);
        let mut seen = Vec::new();
        simulation.begin();
        loop {
            seen.push((simulation.holds(6), simulation.evaluate(0)));
            if !simulation.next() {
                break;
            }
        }
        let (three, other) = (Known::Exactly(3), Known::Guess(0));
        assert_eq!(seen, [(false, other), (true, three), (false, three)]);
        // what the state gives is not chosen
        simulation.begin();
        simulation.give(0, 7);
        assert!(!simulation.holds(6));
        assert!(!simulation.next());
    }
}
