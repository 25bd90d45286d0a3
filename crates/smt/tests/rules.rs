//! What the constructors make of the shapes C programs produce.

use smt::{Node, Term, TermStore, evaluate};

/// Both ways of building give the same term.
fn same(build: impl Fn(&mut TermStore) -> (Term, Term)) {
    let mut store = TermStore::new();
    let (built, expected) = build(&mut store);
    assert_eq!(built, expected, "{:?} is not {:?}", store.node(built), store.node(expected));
}

#[test]
fn a_promoted_byte_compares_as_a_byte() {
    same(|store| {
        let byte = store.var("byte", 8);
        let promoted = store.zext(byte, 32);
        let wide = store.constant(32, 65);
        let narrow = store.constant(8, 65);
        (store.slt(promoted, wide), store.ult(byte, narrow))
    });
    same(|store| {
        let byte = store.var("byte", 8);
        let promoted = store.sext(byte, 32);
        let wide = store.constant(32, -3_i128 as u128);
        let narrow = store.constant(8, -3_i128 as u128);
        (store.eq(promoted, wide), store.eq(byte, narrow))
    });
}

#[test]
fn a_comparison_beyond_the_range_of_a_byte_is_decided() {
    same(|store| {
        let byte = store.var("byte", 8);
        let promoted = store.zext(byte, 32);
        let bound = store.constant(32, 300);
        (store.slt(promoted, bound), store.bool(true))
    });
}

#[test]
fn arithmetic_cut_back_to_a_byte_is_byte_arithmetic() {
    same(|store| {
        let byte = store.var("byte", 8);
        let promoted = store.sext(byte, 32);
        let one = store.constant(32, 1);
        let sum = store.add(promoted, one);
        let narrow_one = store.constant(8, 1);
        (store.extract(sum, 7, 0), store.add(byte, narrow_one))
    });
}

#[test]
fn a_cut_above_bit_zero_keeps_the_carry_from_below() {
    let mut store = TermStore::new();
    let (x, y) = (store.var("x", 8), store.var("y", 8));
    let (wide_x, wide_y) = (store.zext(x, 32), store.zext(y, 32));
    let sum = store.add(wide_x, wide_y);
    let high_nibble = store.extract(sum, 7, 4);
    let assignment = store.vars_of(sum).into_iter().zip([0x0f, 0x01]).collect();
    assert_eq!(evaluate(&store, high_nibble, &assignment), 1);
}

#[test]
fn bytes_put_together_by_shifts_are_a_concatenation() {
    same(|store| {
        let bytes: Vec<Term> = (0..4).map(|index| store.var(format!("b{index}"), 8)).collect();
        let mut word = store.zext(bytes[0], 32);
        for (&byte, shift) in bytes[1..].iter().zip([8, 16, 24]) {
            let (wide, shift) = (store.zext(byte, 32), store.constant(32, shift));
            let shifted = store.shl(wide, shift);
            word = store.or(word, shifted);
        }
        let mut expected = bytes[3];
        for &byte in bytes[..3].iter().rev() {
            expected = store.concat(expected, byte);
        }
        (word, expected)
    });
}

#[test]
fn a_word_taken_apart_and_put_together_is_the_word() {
    same(|store| {
        let word = store.var("word", 32);
        let bytes: Vec<Term> = (0..4).map(|index| store.extract(word, 8 * index + 7, 8 * index)).collect();
        let low = store.concat(bytes[1], bytes[0]);
        let high = store.concat(bytes[3], bytes[2]);
        (store.concat(high, low), word)
    });
}

#[test]
fn a_truth_value_turned_into_int_and_tested_is_the_truth_value() {
    same(|store| {
        let flag = store.var("flag", 1);
        let (one, zero) = (store.constant(32, 1), store.constant(32, 0));
        let int = store.ite(flag, one, zero);
        (store.ne(int, zero), flag)
    });
}

#[test]
fn negated_comparisons_have_no_negation() {
    same(|store| {
        let (x, y) = (store.var("x", 32), store.var("y", 32));
        let less = store.slt(x, y);
        (store.not(less), store.sge(x, y))
    });
}

#[test]
fn sums_collect_their_constants() {
    same(|store| {
        let (x, y) = (store.var("x", 32), store.var("y", 32));
        let (two, three, one) = (store.constant(32, 2), store.constant(32, 3), store.constant(32, 1));
        let left = store.add(x, two);
        let right = store.sub(y, three);
        let built = store.add(left, right);
        let sum = store.add(y, x);
        (built, store.sub(sum, one))
    });
}

#[test]
fn a_bit_test_is_an_extract() {
    same(|store| {
        let x = store.var("x", 32);
        let (mask, zero) = (store.constant(32, 0x40), store.constant(32, 0));
        let masked = store.and(x, mask);
        (store.ne(masked, zero), store.extract(x, 6, 6))
    });
}

#[test]
fn long_chains_of_invertible_operators_are_undone_without_deep_recursion() {
    let mut store = TermStore::new();
    let x = store.var("x", 32);
    let (addend, mask) = (store.constant(32, 3), store.constant(32, 0x5a5a));
    let mut term = x;
    for _ in 0..500_000 {
        let sum = store.add(term, addend);
        term = store.xor(sum, mask);
    }
    let zero = store.constant(32, 0);
    let equation = store.eq(term, zero);
    let Node::Binary(_, left, _) = store.node(equation) else { panic!("an equation") };
    assert_eq!(left, x);
}
