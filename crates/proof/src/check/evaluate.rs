//! The value of terms, where those of some of their parts are known.
//!
//! Method: terms are computed from their operands, of a choice only the side that is taken. A boolean that depends on something unknown is
//! taken to be true first, and to be false when the evaluator is asked to go on ([`Evaluator::next`]); one that says that something unknown
//! equals a constant gives it this value while it is taken to be true. All that can be is among what is tried, and more. Limit: an
//! operation on something unknown is unknown.

use super::terms::{Node, Sort, Term, Terms};
use crate::Operator;

/// What is known of a term; a boolean is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    Exactly(u128),
}

/// What was computed, kept so that its room is used again.
#[derive(Default)]
pub(super) struct Values {
    /// By number of a term: the round in which it was computed, and what came out.
    known: Vec<(u64, Known)>,
    round: u64,
    /// The round that stands for all of one evaluator: what depends on nothing that is taken is computed once.
    every_round: u64,
}

pub(super) struct Evaluator<'t> {
    terms: &'t Terms,
    values: &'t mut Values,
    /// How the booleans that nobody knows are taken, in the order in which they are met.
    taken: Vec<(Term, bool)>,
    n_met: usize,
    /// Whether what is computed now depends on how something is taken.
    depends_on_taken: bool,
    n_steps: u64,
}

impl<'t> Evaluator<'t> {
    /// Nothing is known yet, nor taken.
    pub(super) fn new(terms: &'t Terms, values: &'t mut Values) -> Self {
        values.known.resize(terms.len(), (0, Known::Nothing));
        values.every_round = values.round + 1;
        values.round += 2;
        Self { terms, values, taken: Vec::new(), n_met: 0, depends_on_taken: false, n_steps: 0 }
    }

    /// Gives a term its value; what lies side by side is given part by part.
    pub(super) fn give(&mut self, term: Term, value: u128) {
        self.give_in(self.values.every_round, term, value);
    }

    fn give_in(&mut self, when: u64, term: Term, value: u128) {
        self.values.known[term.0 as usize] = (when, Known::Exactly(value));
        if let Node::Apply(Operator::Concat, parts) = self.terms.node(term) {
            let (high, low) = (parts[0], parts[1]);
            let width = self.terms.bits(low);
            self.give_in(when, high, value >> width);
            self.give_in(when, low, value & ones(width));
        }
    }

    /// Begins the next round, with something taken otherwise; false if all was tried. What was given must be given again.
    pub(super) fn next(&mut self) -> bool {
        self.taken.truncate(self.n_met);
        while let Some((term, value)) = self.taken.pop() {
            if value {
                self.taken.push((term, false));
                self.values.round += 1;
                self.n_met = 0;
                return true;
            }
        }
        false
    }

    /// How booleans were taken in this round.
    pub(super) fn taken(&self) -> Vec<(Term, bool)> {
        self.taken[..self.n_met].to_vec()
    }

    pub(super) fn n_steps(&self) -> u64 {
        self.n_steps
    }

    pub(super) fn holds(&mut self, boolean: Term) -> bool {
        self.evaluate(boolean) == Known::Exactly(1)
    }

    pub(super) fn evaluate(&mut self, term: Term) -> Known {
        let mut open = vec![term];
        while let Some(&at) = open.last() {
            if self.seen(at).is_some() {
                open.pop();
                continue;
            }
            self.n_steps += 1;
            self.depends_on_taken = false;
            match self.step(at) {
                Ok(known) => {
                    let known = match (known, self.terms.sort(at)) {
                        (Known::Nothing, Sort::Bool) => Known::Exactly(self.take(at).into()),
                        (known, _) => known,
                    };
                    let Values { round, every_round, .. } = *self.values;
                    let when = if self.depends_on_taken { round } else { every_round };
                    self.values.known[at.0 as usize] = (when, known);
                    open.pop();
                }
                Err(operand) => open.push(operand),
            }
        }
        self.values.known[term.0 as usize].1
    }

    fn seen(&self, term: Term) -> Option<Known> {
        let (when, known) = self.values.known[term.0 as usize];
        (when == self.values.round || when == self.values.every_round).then_some(known)
    }

    fn need(&mut self, term: Term) -> Result<Known, Term> {
        let known = self.seen(term).ok_or(term)?;
        self.depends_on_taken |= self.values.known[term.0 as usize].0 == self.values.round;
        Ok(known)
    }

    /// How a boolean is taken that is met for the first time in this round.
    fn take(&mut self, boolean: Term) -> bool {
        self.depends_on_taken = true;
        if self.n_met == self.taken.len() {
            self.taken.push((boolean, true));
        }
        let (met, value) = self.taken[self.n_met];
        assert_eq!(met, boolean, "what depends on nothing taken before is met in the same order");
        self.n_met += 1;
        if value && let Some((term, constant)) = equals(self.terms, boolean) {
            self.give_in(self.values.round, term, constant);
        }
        value
    }

    /// The value of a term, or the operand that it needs first.
    fn step(&mut self, at: Term) -> Result<Known, Term> {
        let terms = self.terms;
        match terms.node(at) {
            Node::Symbol(_) | Node::Select(..) | Node::Store(..) => Ok(Known::Nothing),
            Node::Bool(value) => Ok(Known::Exactly((*value).into())),
            Node::Bits(value) => Ok(Known::Exactly(*value)),
            Node::Apply(operator @ (Operator::And | Operator::Or), operands) => {
                // booleans are always known
                let decides = u128::from(*operator == Operator::Or);
                for operand in operands {
                    if self.need(*operand)? == Known::Exactly(decides) {
                        return Ok(Known::Exactly(decides));
                    }
                }
                Ok(Known::Exactly(1 - decides))
            }
            Node::Apply(Operator::Ite, parts) => {
                let holds = self.need(parts[0])? == Known::Exactly(1);
                self.need(if holds { parts[1] } else { parts[2] })
            }
            Node::Apply(operator, operands) => {
                let mut values = [0; 2];
                if operands.len() > values.len() {
                    return Ok(Known::Nothing);
                }
                let mut are_known = true;
                for (value, operand) in values.iter_mut().zip(operands) {
                    match self.need(*operand)? {
                        Known::Exactly(known) => *value = known,
                        Known::Nothing => are_known = false,
                    }
                }
                let widths = operands.iter().map(|operand| match self.terms.sort(*operand) {
                    Sort::Bool => Some(1),
                    Sort::Bits(bits @ 1..=64) => Some(bits),
                    Sort::Bits(_) | Sort::Memory => None,
                });
                let Some(widths) = widths.collect::<Option<Vec<u32>>>().filter(|_| are_known) else {
                    return Ok(Known::Nothing);
                };
                let value = operation(*operator, values, widths[0], widths.get(1).copied().unwrap_or(0));
                Ok(value.map_or(Known::Nothing, Known::Exactly))
            }
        }
    }
}

/// What a boolean says that a term equals, if that is a constant.
pub(super) fn equals(terms: &Terms, boolean: Term) -> Option<(Term, u128)> {
    let Node::Apply(Operator::Equal, sides) = terms.node(boolean) else { return None };
    match (terms.node(sides[0]), terms.node(sides[1])) {
        (_, Node::Bits(constant)) => Some((sides[0], *constant)),
        (Node::Bits(constant), _) => Some((sides[1], *constant)),
        _ => None,
    }
}

fn ones(width: u32) -> u128 {
    if width < 128 { (1 << width) - 1 } else { u128::MAX }
}

/// What SMT-LIB says of values of at most 64 bits; none where it is not said here.
fn operation(operator: Operator, [x, y]: [u128; 2], width: u32, width_of_second: u32) -> Option<u128> {
    let signed = |value: u128| (value << (128 - width)) as i128 >> (128 - width);
    let (s, t) = (signed(x), signed(y));
    let value = match operator {
        Operator::Not => 1 - x,
        Operator::Implies => u128::from(x == 0 || y == 1),
        Operator::Equal => u128::from(x == y),
        Operator::BvUlt => u128::from(x < y),
        Operator::BvUle => u128::from(x <= y),
        Operator::BvUgt => u128::from(x > y),
        Operator::BvUge => u128::from(x >= y),
        Operator::BvSlt => u128::from(s < t),
        Operator::BvSle => u128::from(s <= t),
        Operator::BvSgt => u128::from(s > t),
        Operator::BvSge => u128::from(s >= t),
        Operator::BvNot => !x & ones(width),
        Operator::BvNeg => x.wrapping_neg() & ones(width),
        Operator::BvAdd => x.wrapping_add(y) & ones(width),
        Operator::BvSub => x.wrapping_sub(y) & ones(width),
        Operator::BvMul => x.wrapping_mul(y) & ones(width),
        // by zero, and where the quotient does not fit, the program says what is meant
        Operator::BvUdiv => x.checked_div(y)?,
        Operator::BvUrem => x.checked_rem(y)?,
        Operator::BvSdiv => s.checked_div(t)? as u128 & ones(width),
        Operator::BvSrem => s.checked_rem(t)? as u128 & ones(width),
        Operator::BvAnd => x & y,
        Operator::BvOr => x | y,
        Operator::BvXor => x ^ y,
        Operator::BvShl if y < u128::from(width) => (x << y) & ones(width),
        Operator::BvLshr if y < u128::from(width) => x >> y,
        Operator::BvAshr if y < u128::from(width) => (s >> y) as u128 & ones(width),
        Operator::Concat => x << width_of_second | y,
        Operator::Extract { high, low } => x >> low & ones(high - low + 1),
        Operator::ZeroExtend(_) => x,
        Operator::SignExtend(by) if width + by <= 128 => s as u128 & ones(width + by),
        Operator::BvShl
        | Operator::BvLshr
        | Operator::BvAshr
        | Operator::SignExtend(_)
        | Operator::And
        | Operator::Or
        | Operator::Ite => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all rounds say of a term.
    fn all(terms: &Terms, term: Term, given: &[(Term, u128)]) -> Vec<(Known, Vec<(Term, bool)>)> {
        let mut values = Values::default();
        let mut evaluator = Evaluator::new(terms, &mut values);
        let mut found = Vec::new();
        loop {
            given.iter().for_each(|(term, value)| evaluator.give(*term, *value));
            found.push((evaluator.evaluate(term), evaluator.taken()));
            if !evaluator.next() {
                return found;
            }
        }
    }

    #[test]
    fn what_nobody_knows_is_taken_both_ways_and_an_equality_gives_a_value() {
        let mut terms = Terms::new(64);
        let (x, y) = (terms.fresh(Sort::Bits(32)), terms.fresh(Sort::Bits(32)));
        let [one, two] = [1, 2].map(|value| terms.constant(32, value));
        let (is_one, is_two) = (terms.equal(x, one), terms.equal(x, two));
        let sum = terms.apply(Operator::BvAdd, &[x, y]);
        let inner = terms.ite(is_two, y, sum);
        let whole = terms.ite(is_one, sum, inner);
        let found = all(&terms, whole, &[(y, 7)]);
        let values: Vec<Known> = found.iter().map(|(known, _)| *known).collect();
        assert_eq!(values, [Known::Exactly(8), Known::Exactly(7), Known::Nothing]);
        assert_eq!(found[2].1, [(is_one, false), (is_two, false)]);
        // with x given there is nothing to take
        assert_eq!(all(&terms, whole, &[(y, 7), (x, 2)]), [(Known::Exactly(7), Vec::new())]);
    }

    #[test]
    fn bytes_that_make_a_number_are_given_with_it() {
        let mut terms = Terms::new(64);
        let (high, low) = (terms.fresh(Sort::Bits(8)), terms.fresh(Sort::Bits(8)));
        let number = terms.apply(Operator::Concat, &[high, low]);
        let swapped = terms.apply(Operator::Concat, &[low, high]);
        assert_eq!(all(&terms, swapped, &[(number, 0x1234)]), [(Known::Exactly(0x3412), Vec::new())]);
    }

    #[test]
    fn operations_are_those_of_smt_lib() {
        let by_eight = |operator, x: u128, y: u128| operation(operator, [x, y], 8, 8);
        assert_eq!(by_eight(Operator::BvSdiv, 0xf9, 2), Some(0xfd)); // -7 / 2 is -3
        assert_eq!(by_eight(Operator::BvSrem, 0xf9, 2), Some(0xff)); // -7 % 2 is -1
        assert_eq!(by_eight(Operator::BvSdiv, 0x80, 0xff), Some(0x80));
        assert_eq!(by_eight(Operator::BvSrem, 1, 0), None);
        assert_eq!(by_eight(Operator::BvMul, 0x90, 0x10), Some(0));
        assert_eq!(by_eight(Operator::BvSlt, 0x80, 0x7f), Some(1));
        assert_eq!(by_eight(Operator::BvAshr, 0x80, 3), Some(0xf0));
        assert_eq!(by_eight(Operator::BvShl, 1, 8), None);
        assert_eq!(operation(Operator::SignExtend(8), [0x80, 0], 8, 0), Some(0xff80));
        assert_eq!(operation(Operator::Extract { high: 5, low: 2 }, [0xb4, 0], 8, 0), Some(0xd));
        assert_eq!(operation(Operator::BvNeg, [1, 0], 8, 0), Some(0xff));
    }
}
