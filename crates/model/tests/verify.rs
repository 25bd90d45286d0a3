//! The verifier: random programs are well formed, and each broken rule is told with its place.

mod support;

use expect_test::{Expect, expect};
use model::{text, verify};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn programs_made_well_formed_break_no_rule(seed: u64) {
        let violations: Vec<String> = verify(&support::program(seed)).iter().map(ToString::to_string).collect();
        prop_assert_eq!(violations, Vec::<String>::new());
    }
}

/// Replaces a part of the example and compares all that the verifier says.
fn check(replace: &str, by: &str, expected: Expect) {
    let example = include_str!("texts/classify.quarry");
    assert!(example.contains(replace), "the example has no `{replace}`");
    let program = text::parse(&example.replacen(replace, by, 1)).expect("the change keeps the form");
    let said: Vec<String> = verify(&program).iter().map(|violation| format!("{violation}\n")).collect();
    expected.assert_eq(&said.concat());
}

#[test]
fn ids_must_exist() {
    check(
        "branch %4, b1, b4",
        "branch %4, b1, b40",
        expect![[r#"
        f0 b0: b40 does not exist
    "#]],
    );
    check(
        "load i32, %0 at s1",
        "load i32, %99 at s77",
        expect![[r#"
        f0 %2: s77 does not exist
        f0 %2: %99 does not exist
    "#]],
    );
    check(
        "mark c2 %6",
        "mark c9 %6",
        expect![[r#"
        f0 %7: c9 does not exist
    "#]],
    );
    check(
        "8: g1+1",
        "8: g7+1",
        expect![[r#"
        g7 does not exist
    "#]],
    );
    check(
        "root f0",
        "root f5",
        expect![[r#"
        f5 does not exist
    "#]],
    );
}

#[test]
fn a_value_must_be_defined_on_every_way_to_its_use() {
    check(
        "return %2\n",
        "return %9\n",
        expect![[r#"
        f0 b4: %9 is used where it need not be defined
    "#]],
    );
    check(
        "%3 = compare sgt i32 %2, 0",
        "%3 = compare sgt i32 %11, 0",
        expect![[r#"
        f0 b0 %3: %11 is used where it need not be defined
    "#]],
    );
    check(
        "[b2: %2]",
        "[b2: %11]",
        expect![[r#"
        f0 b3 %9: %11 is used where it need not be defined
    "#]],
    );
}

#[test]
fn phis_have_exactly_the_predecessors() {
    check(
        "[b1: -1], [b2: %2]",
        "[b1: -1]",
        expect![[r#"
        f0 b3 %9: the phi has no value for predecessor b2
    "#]],
    );
    check(
        "[b1: -1], [b2: %2]",
        "[b1: -1], [b2: %2], [b0: 3]",
        expect![[r#"
        f0 b3 %9: the phi has a value for b0, which is no predecessor
    "#]],
    );
    check(
        "[b1: -1], [b2: %2]",
        "[b1: -1], [b1: 4], [b2: %2]",
        expect![[r#"
        f0 b3 %9: the phi has more values for b1 than there are edges
        f0 b3 %9: the phi has different values for b1
    "#]],
    );
}

#[test]
fn operands_have_the_types_their_instructions_take() {
    check(
        "store i32 p0, %0",
        "store i64 p0, %0",
        expect![[r#"
        f0 b0 %1: takes i32 where i64 belongs
    "#]],
    );
    check(
        "xor i1 %7, 1",
        "xor i32 %7, 1",
        expect![[r#"
        f0 b2 %8: takes i1 where i32 belongs
        f0 b2: takes i32 where i1 belongs
    "#]],
    );
    check(
        "sitofp i32 %13 to f64",
        "sitofp i32 %13 to i64",
        expect![[r#"
        f0 b5 %16: sitofp does not lead from i32 to i64
        f0 b5 %17: takes i64 where f64 belongs
    "#]],
    );
    check(
        "extract i32, r0 %12, 0",
        "extract i32, r0 %12, 1",
        expect![[r#"
        f0 b5 %13: leaf 1 of r0 is ptr, not i32
    "#]],
    );
    check(
        "insert r0 undef, 0,",
        "insert r0 undef, 5,",
        expect![[r#"
        f0 b5 %12: r0 has no leaf 5
    "#]],
    );
    check(
        "return %19",
        "return",
        expect![[r#"
        f0 b6: returns nothing, not i32
    "#]],
    );
}

#[test]
fn scalar_arguments_may_differ_as_without_a_prototype_but_not_be_missing() {
    check("call i32 *%10(i32 3, f64 1.5)", "call i32 f1(f64 1.5)", expect![[""]]);
    check(
        "call i32 *%10(i32 3, f64 1.5)",
        "call i32 f1(r0 undef)",
        expect![[r#"
        f0 b5 %11: gives r0 to f1 where i32 belongs
    "#]],
    );
    check(
        "call i32 *%10(i32 3, f64 1.5)",
        "call i32 f1()",
        expect![[r#"
        f0 b5 %11: gives 0 arguments to f1, which takes 1
    "#]],
    );
}

#[test]
fn marks_conditions_and_decisions_agree() {
    check(
        "(c0 && (c1 || !c2))",
        "(c0 && (c1 || !c1))",
        expect![[r#"
        c1 is 2 leaves of d0, not one
        c2 is 0 leaves of d0, not one
    "#]],
    );
    check(
        "condition c0 of d0 at s1 \"a > 0\"",
        "condition c0 of d0 at s1 \"a\"\ndecision d1 if f1 at s1 c0 \"a\"",
        expect![[r#"
            c0 is a leaf of d1 but belongs to d0
            c0 is 2 leaves of d0, not one
        "#]],
    );
    check(
        "decided c1",
        "decided c2",
        expect![[r#"
        f0 b1: the branch is decided by c2, which the block does not mark
    "#]],
    );
    check(
        "decision d0 if f0",
        "decision d0 if f1",
        expect![[r#"
        f0 b0 %4: c0 belongs to d0 of f1
        f0 b1 %5: c1 belongs to d0 of f1
        f0 b2 %7: c2 belongs to d0 of f1
    "#]],
    );
}

#[test]
fn switch_cases_are_distinct_and_fit() {
    check(
        "{ 1: b4, -5: b5,",
        "{ 1: b4, 1: b5,",
        expect![[r#"
        f0 b3: case 0x1 comes twice
    "#]],
    );
    check(
        "{ 1: b4, -5: b5,",
        "{ 1: b4, 0x100000000: b5,",
        expect![[r#"
        f0 b3: case 0x100000000 does not fit i32
    "#]],
    );
}

#[test]
fn globals_records_statements_and_variables_hold_together() {
    check(
        "size 16 align 16 rel",
        "size 12 align 16 rel",
        expect![[r#"
        the relocation at 8 of g0 leaves the global
    "#]],
    );
    check(
        "bytes \"a",
        "bytes \"ab",
        expect![[r#"
        g1 has 5 initial bytes but size 4
    "#]],
    );
    check(
        "record r0 size 16",
        "record r0 size 12",
        expect![[r#"
        leaf 1 of r0 leaves the record
    "#]],
    );
    check(
        "in b0 0",
        "in b0 9",
        expect![[r#"
        a statement begins at f0 b0 9: no such code
    "#]],
    );
    check(
        "in f0 %0",
        "in f0 %1",
        expect![[r#"
        variable a lives in f0 %1, which is no alloca
    "#]],
    );
}
