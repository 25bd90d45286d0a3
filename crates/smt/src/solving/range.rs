//! Can the goal hold at all, if each variable is only known to be between two numbers?
//!
//! Method: constraints over one small variable give its least and greatest value; ranges are then computed bottom-up
//! through the goal, unsigned and signed, and a goal whose range is 0 is refuted. This decides checks for overflow on
//! numbers with too few digits, on which a bit-blasting solver takes long. Limit: constraints between variables are
//! ignored, and an operation that may wrap around has an unknown result.

use crate::term::hash::FastMap;
use crate::term::{BinaryOp, Extension, Node, Term, TermStore, UnaryOp, Var, value};

/// Terms of a goal that are looked at, at most.
const MAX_TERMS: usize = 4096;

/// Numbers of some width: unsigned and signed bounds of the same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    least: u128,
    most: u128,
    signed_least: i128,
    signed_most: i128,
}

/// Whether the goal is 0 whatever values its variables have between these bounds.
pub(super) fn refutes(store: &TermStore, goal: Term, bounds: &FastMap<Var, (u128, u128)>) -> bool {
    let Some(terms) = terms_of(store, goal) else { return false };
    let mut ranges: FastMap<Term, Range> = FastMap::default();
    for term in terms {
        let range = compute(store, &store.node(term), store.width(term), bounds, &ranges);
        ranges.insert(term, range);
    }
    ranges[&goal].most == 0
}

/// The terms that a goal is made of, operands first; `None` when they are too many.
fn terms_of(store: &TermStore, goal: Term) -> Option<Vec<Term>> {
    let mut terms = vec![goal];
    let mut seen: FastMap<Term, ()> = FastMap::default();
    seen.insert(goal, ());
    let mut at = 0;
    while at < terms.len() {
        store.node(terms[at]).for_each_operand(|operand| {
            if seen.insert(operand, ()).is_none() {
                terms.push(operand);
            }
        });
        at += 1;
        if terms.len() > MAX_TERMS {
            return None;
        }
    }
    terms.sort_unstable();
    Some(terms)
}

fn compute(
    store: &TermStore,
    node: &Node,
    width: u32,
    bounds: &FastMap<Var, (u128, u128)>,
    ranges: &FastMap<Term, Range>,
) -> Range {
    let all = Range::all(width);
    match *node {
        Node::Constant(constant) => Range::unsigned(width, constant.bits(), constant.bits()),
        Node::Variable(var) => match bounds.get(&var) {
            Some(&(least, most)) => Range::unsigned(width, least, most),
            None => all,
        },
        Node::Unary(UnaryOp::Not, operand) => {
            let (operand, mask) = (ranges[&operand], value::mask(width));
            Range::unsigned(width, mask - operand.most, mask - operand.least)
        }
        Node::Unary(UnaryOp::Neg, operand) => {
            let operand = ranges[&operand];
            operand
                .signed_most
                .checked_neg()
                .zip(operand.signed_least.checked_neg())
                .map_or(all, |(least, most)| Range::signed(width, least, most))
        }
        Node::Binary(op, left, right) => binary(op, store.width(right), width, ranges[&left], ranges[&right]),
        Node::Extract { operand, high: _, low: 0 } => {
            let operand = ranges[&operand];
            if operand.most <= value::mask(width) {
                Range::unsigned(width, operand.least, operand.most)
            } else if Range::signed_fits(width, operand.signed_least, operand.signed_most) {
                Range::signed(width, operand.signed_least, operand.signed_most)
            } else {
                all
            }
        }
        Node::Extend { extension: Extension::Zero, operand, .. } => {
            let operand = ranges[&operand];
            Range::unsigned(width, operand.least, operand.most)
        }
        Node::Extend { extension: Extension::Sign, operand, .. } => {
            let operand = ranges[&operand];
            Range::signed(width, operand.signed_least, operand.signed_most)
        }
        Node::Ite { condition, then, otherwise } => {
            let (condition, then, otherwise) = (ranges[&condition], ranges[&then], ranges[&otherwise]);
            match (condition.least, condition.most) {
                (1, _) => then,
                (_, 0) => otherwise,
                _ => then.or(otherwise),
            }
        }
        Node::Extract { .. } | Node::FloatUnary(..) | Node::FloatBinary(..) | Node::FloatFused(..) => all,
    }
}

fn binary(op: BinaryOp, right_width: u32, width: u32, a: Range, b: Range) -> Range {
    let all = Range::all(width);
    match op {
        BinaryOp::Add => {
            let unsigned = a.least.checked_add(b.least).zip(a.most.checked_add(b.most));
            let signed =
                a.signed_least.checked_add(b.signed_least).zip(a.signed_most.checked_add(b.signed_most));
            Range::either(width, unsigned, signed)
        }
        BinaryOp::Mul => {
            let unsigned = a.least.checked_mul(b.least).zip(a.most.checked_mul(b.most));
            Range::either(width, unsigned, a.signed_products(b))
        }
        BinaryOp::Udiv if b.least > 0 => Range::unsigned(width, a.least / b.most, a.most / b.least),
        BinaryOp::Urem if b.least > 0 => Range::unsigned(width, 0, a.most.min(b.most - 1)),
        BinaryOp::And => Range::unsigned(width, 0, a.most.min(b.most)),
        BinaryOp::Or => Range::unsigned(width, a.least.max(b.least), filled(a.most | b.most)),
        BinaryOp::Xor => Range::unsigned(width, 0, filled(a.most | b.most)),
        BinaryOp::Shl if b.most < u128::from(width) => {
            let shifted = |bits: u128, by: u128| bits.checked_mul(1 << by);
            Range::either(width, shifted(a.least, b.least).zip(shifted(a.most, b.most)), None)
        }
        BinaryOp::Lshr if b.most < u128::from(width) => {
            Range::unsigned(width, a.least >> b.most, a.most >> b.least)
        }
        BinaryOp::Concat => {
            let joined = |high: u128, low: u128| high << right_width | low;
            Range::unsigned(width, joined(a.least, b.least), joined(a.most, b.most))
        }
        BinaryOp::Eq => {
            let apart = a.most < b.least
                || b.most < a.least
                || a.signed_most < b.signed_least
                || b.signed_most < a.signed_least;
            Range::truth(a.least == a.most && a == b, apart)
        }
        BinaryOp::Ult => Range::truth(a.most < b.least, a.least >= b.most),
        BinaryOp::Ule => Range::truth(a.most <= b.least, a.least > b.most),
        BinaryOp::Slt => Range::truth(a.signed_most < b.signed_least, a.signed_least >= b.signed_most),
        BinaryOp::Sle => Range::truth(a.signed_most <= b.signed_least, a.signed_least > b.signed_most),
        BinaryOp::Udiv
        | BinaryOp::Urem
        | BinaryOp::Sdiv
        | BinaryOp::Srem
        | BinaryOp::Shl
        | BinaryOp::Lshr
        | BinaryOp::Ashr => all,
    }
}

/// The number with all bits below its highest one set.
fn filled(bits: u128) -> u128 {
    u128::MAX.checked_shr(bits.leading_zeros()).unwrap_or(0)
}

impl Range {
    fn all(width: u32) -> Range {
        let signed_most = i128::MAX >> (128 - width);
        Range { least: 0, most: value::mask(width), signed_least: -signed_most - 1, signed_most }
    }

    /// Numbers by their unsigned bounds, which must fit.
    fn unsigned(width: u32, least: u128, most: u128) -> Range {
        let all = Range::all(width);
        let sign = 1 << (width - 1);
        let signed =
            |bits: u128| if bits < sign { bits as i128 } else { (bits | !value::mask(width)) as i128 };
        // on one side of the sign the order is the same
        if (least < sign) == (most < sign) {
            Range { least, most, signed_least: signed(least), signed_most: signed(most) }
        } else {
            Range { least, most, ..all }
        }
    }

    /// Numbers by their signed bounds, which must fit.
    fn signed(width: u32, signed_least: i128, signed_most: i128) -> Range {
        let all = Range::all(width);
        if !Range::signed_fits(width, signed_least, signed_most) {
            return all;
        }
        let bits = |number: i128| number as u128 & value::mask(width);
        if (signed_least < 0) == (signed_most < 0) {
            Range { least: bits(signed_least), most: bits(signed_most), signed_least, signed_most }
        } else {
            Range { signed_least, signed_most, ..all }
        }
    }

    fn signed_fits(width: u32, least: i128, most: i128) -> bool {
        let all = Range::all(width);
        all.signed_least <= least && most <= all.signed_most
    }

    /// What is known by either kind of bounds, as far as they fit the width.
    fn either(width: u32, unsigned: Option<(u128, u128)>, signed: Option<(i128, i128)>) -> Range {
        let all = Range::all(width);
        let unsigned = unsigned.filter(|(_, most)| *most <= all.most);
        let unsigned = unsigned.map_or(all, |(least, most)| Range::unsigned(width, least, most));
        let signed = signed.map_or(all, |(least, most)| Range::signed(width, least, most));
        Range {
            least: unsigned.least.max(signed.least),
            most: unsigned.most.min(signed.most),
            signed_least: unsigned.signed_least.max(signed.signed_least),
            signed_most: unsigned.signed_most.min(signed.signed_most),
        }
    }

    fn truth(is_true: bool, is_false: bool) -> Range {
        Range::unsigned(1, u128::from(is_true), u128::from(!is_false))
    }

    fn or(self, other: Range) -> Range {
        Range {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            signed_least: self.signed_least.min(other.signed_least),
            signed_most: self.signed_most.max(other.signed_most),
        }
    }

    fn signed_products(self, other: Range) -> Option<(i128, i128)> {
        let mut bounds: Option<(i128, i128)> = None;
        for a in [self.signed_least, self.signed_most] {
            for b in [other.signed_least, other.signed_most] {
                let product = a.checked_mul(b)?;
                let (least, most) = bounds.unwrap_or((product, product));
                bounds = Some((least.min(product), most.max(product)));
            }
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assignment::Assignment;
    use crate::evaluate::evaluate;

    /// Small terms over two variables of four bits, by the numbers in `recipe`.
    fn random_term(store: &mut TermStore, recipe: &[u8]) -> Term {
        let mut terms =
            vec![store.var("x", 4), store.var("y", 4), store.constant(4, 3), store.constant(4, 13)];
        for step in recipe.chunks_exact(3) {
            let (a, b) =
                (terms[usize::from(step[1]) % terms.len()], terms[usize::from(step[2]) % terms.len()]);
            let term = match step[0] % 16 {
                0 => store.add(a, b),
                1 => store.mul(a, b),
                2 => store.udiv(a, b),
                3 => store.urem(a, b),
                4 => store.and(a, b),
                5 => store.or(a, b),
                6 => store.xor(a, b),
                7 => store.shl(a, b),
                8 => store.lshr(a, b),
                9 => store.neg(a),
                10 => store.not(a),
                11 => {
                    let wide = store.sext(a, 8);
                    let other = store.zext(b, 8);
                    let product = store.mul(wide, other);
                    store.extract(product, 3, 0)
                }
                12 => {
                    let joined = store.concat(a, b);
                    store.extract(joined, 5, 2)
                }
                13 => {
                    let condition = store.slt(a, b);
                    store.ite(condition, b, a)
                }
                14 => {
                    let condition = store.ult(a, b);
                    store.ite(condition, a, b)
                }
                _ => store.sdiv(a, b),
            };
            terms.push(term);
        }
        *terms.last().expect("there are variables")
    }

    proptest::proptest! {
        #[test]
        fn ranges_hold_whatever_the_values(
            recipe in proptest::collection::vec(0_u8.., 3..30),
            bounds in proptest::array::uniform4(0_u128..16),
        ) {
            let mut store = TermStore::new();
            let term = random_term(&mut store, &recipe);
            let (x, y) = (store.var("x", 4), store.var("y", 4));
            let [x, y] = [x, y].map(|var| store.var_of(var).expect("a variable"));
            let of = |a: u128, b: u128| (a.min(b), a.max(b));
            let (of_x, of_y) = (of(bounds[0], bounds[1]), of(bounds[2], bounds[3]));
            let known: FastMap<Var, (u128, u128)> = [(x, of_x), (y, of_y)].into_iter().collect();
            let mut ranges = FastMap::default();
            for part in terms_of(&store, term).expect("few") {
                let range = compute(&store, &store.node(part), store.width(part), &known, &ranges);
                ranges.insert(part, range);
                for a in of_x.0..=of_x.1 {
                    for b in of_y.0..=of_y.1 {
                        let values: Assignment = [(x, a), (y, b)].into_iter().collect();
                        let bits = evaluate(&store, part, &values);
                        let single = Range::unsigned(store.width(part), bits, bits);
                        proptest::prop_assert_eq!(range.or(single), range, "{} {} {}", part, a, b);
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_of_few_digits_cannot_overflow() {
        let mut store = TermStore::new();
        let digits: Vec<Term> = (0..5).map(|index| store.var(format!("d{index}"), 8)).collect();
        let (zero, ten) = (store.constant(64, 48), store.constant(64, 10));
        let mut number = store.constant(64, 0);
        for &digit in &digits {
            let wide = store.zext(digit, 64);
            let value = store.sub(wide, zero);
            let shifted = store.mul(number, ten);
            number = store.add(shifted, value);
        }
        let limit = store.constant(64, i64::MAX as u128);
        let shifted = store.mul(number, ten);
        let room = store.sub(limit, shifted);
        let nine = store.constant(64, 9);
        let overflows = store.slt(room, nine);
        let bounds: FastMap<Var, (u128, u128)> =
            digits.iter().map(|&digit| (store.var_of(digit).expect("a variable"), (48, 57))).collect();
        assert!(refutes(&store, overflows, &bounds));
        assert!(!refutes(&store, overflows, &FastMap::default()), "any byte may be there");
    }
}
