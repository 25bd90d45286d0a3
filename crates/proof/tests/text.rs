//! Proofs print and parse, and a damaged text is refused without a panic.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{BlockId, ConditionId, DecisionId, FunctionId, GlobalId, InstrId, SwitchId};
use proof::{
    Assumption, Body, Claim, Context, Cut, FlowHome, FlowObject, FlowPlace, Formula, Goal, Listing, Operator,
    ProgramHash, Proof, SwitchTarget, text,
};
use proptest::prelude::*;

fn context() -> impl Strategy<Value = Context> + Clone {
    prop::collection::vec((0..40_u32).prop_map(InstrId), 0..3).prop_map(Context)
}

fn operator() -> impl Strategy<Value = Operator> {
    let plain = prop::sample::select(Operator::PLAIN.to_vec());
    let extract = (0..130_u32, 0..130_u32).prop_map(|(high, low)| Operator::Extract { high, low });
    prop_oneof![
        8 => plain,
        1 => extract,
        1 => (0..130_u32).prop_map(Operator::ZeroExtend),
        1 => (0..130_u32).prop_map(Operator::SignExtend),
    ]
}

fn formula() -> impl Strategy<Value = Formula> {
    let local = (context(), 0..40_u32);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Formula::Bool),
        (1..=128_u32, any::<u128>())
            .prop_map(|(bits, value)| Formula::Bits { bits, value: value >> (128 - bits) }),
        local.clone().prop_map(|(context, id)| Formula::Local { context, alloca: InstrId(id) }),
        local.prop_map(|(context, id)| Formula::Alloca { context, alloca: InstrId(id) }),
        any::<u32>().prop_map(Formula::Parameter),
        any::<u32>().prop_map(|id| Formula::Global(GlobalId(id))),
        any::<u32>().prop_map(|id| Formula::Function(FunctionId(id))),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            (operator(), prop::collection::vec(inner.clone(), 0..4))
                .prop_map(|(operator, operands)| Formula::Apply(operator, operands)),
            (1..200_u32, inner)
                .prop_map(|(bits, address)| Formula::Load { bits, address: Box::new(address) }),
        ]
    })
}

fn places() -> impl Strategy<Value = BTreeSet<FlowPlace>> {
    let place = (0..9_u32, 0..99_u32)
        .prop_map(|(function, instr)| FlowPlace { function: FunctionId(function), instr: InstrId(instr) });
    prop::collection::btree_set(place, 0..3)
}

fn goal() -> impl Strategy<Value = Goal> {
    let ids = || prop::collection::btree_set((0..40_u32).prop_map(InstrId), 0..4);
    let (id, value) = (0..40_u32, any::<bool>());
    let to = prop_oneof![any::<u32>().prop_map(SwitchTarget::Label), Just(SwitchTarget::ImplicitDefault),];
    prop_oneof![
        (id.clone(), id.clone(), any::<u32>()).prop_map(|(function, block, position)| Goal::Reach {
            function: FunctionId(function),
            block: BlockId(block),
            position
        }),
        (id.clone(), value).prop_map(|(id, value)| Goal::Outcome { condition: ConditionId(id), value }),
        (id.clone(), to).prop_map(|(id, to)| Goal::Label { switch: SwitchId(id), to }),
        (id.clone(), value).prop_map(|(id, value)| Goal::Decision { decision: DecisionId(id), value }),
        (id.clone(), value).prop_map(|(id, value)| Goal::Independent { condition: ConditionId(id), value }),
        (id.clone(), any::<u32>()).prop_map(|(id, number)| Goal::Vector { decision: DecisionId(id), number }),
        (id.clone(), value).prop_map(|(id, value)| Goal::Paired { condition: ConditionId(id), value }),
        (id.clone(), prop::option::of(id.clone()), 0..9_u64, 1..9_u64, value, places(), places()).prop_map(
            |(id, local, offset, size, is_initial, definitions, uses)| {
                let home = match local {
                    Some(local) => FlowHome::Local(FunctionId(id), InstrId(local)),
                    None => FlowHome::Global(GlobalId(id)),
                };
                Goal::Flow { object: FlowObject { home, offset, size, is_initial }, definitions, uses }
            }
        ),
        id.clone().prop_map(|function| Goal::End { function: FunctionId(function) }),
        (id.clone(), id, ids(), ids()).prop_map(|(function, local, definitions, uses)| Goal::Pair {
            function: FunctionId(function),
            local: InstrId(local),
            definitions,
            uses
        }),
    ]
}

fn proof() -> impl Strategy<Value = Proof> {
    let cut = (context(), 0..40_u32, formula()).prop_map(|(context, block, formula)| Cut {
        context,
        block: BlockId(block),
        formula,
    });
    let numbers = || prop::collection::vec(any::<u32>(), 0..3);
    let listing = (any::<u32>(), prop::collection::vec(formula(), 0..3)).prop_flat_map(|(cut, scalars)| {
        let row = prop::collection::vec(any::<Option<u64>>(), scalars.len());
        prop::collection::vec(row, 0..3).prop_map(move |rows| Listing { cut, scalars: scalars.clone(), rows })
    });
    let body = prop_oneof![
        Just(Body::Inductive),
        any::<u32>().prop_map(Body::KInduction),
        numbers().prop_map(Body::Unrolled),
        prop::collection::vec(listing, 0..3).prop_map(|listings| Body::Listed(Arc::new(listings)))
    ];
    let claim =
        (any::<[u8; 32]>(), any::<u32>(), goal(), any::<bool>()).prop_map(|(hash, id, goal, given)| {
            let assumptions: BTreeSet<_> = given.then_some(Assumption::InitialGlobals).into_iter().collect();
            Claim { program: ProgramHash(hash), entry: FunctionId(id), goal, assumptions }
        });
    (
        claim,
        prop::collection::vec(context(), 0..3),
        prop::collection::vec(cut, 0..3),
        prop::option::of(numbers()),
        body,
    )
        .prop_map(|(claim, contexts, cuts, halves, body)| Proof { claim, contexts, cuts, halves, body })
}

proptest! {
    #[test]
    fn a_printed_proof_parses_to_an_equal_one(proof in proof()) {
        prop_assert_eq!(text::parse(&text::print(&proof)), Ok(proof));
    }

    #[test]
    fn a_damaged_text_is_refused_or_parsed_without_a_panic(proof in proof(), at in any::<prop::sample::Index>(), by in "[ -~\n]{0,6}") {
        let text = text::print(&proof);
        let at = at.index(text.len());
        for damaged in [format!("{}{by}{}", &text[..at], &text[at..]), format!("{}{by}", &text[..at])] {
            if let Ok(parsed) = text::parse(&damaged) {
                prop_assert_eq!(text::parse(&text::print(&parsed)), Ok(parsed));
            }
        }
    }
}

const GOOD: &str = "quarry-proof 1
program 0000000000000000000000000000000000000000000000000000000000000000
entry f0
goal outcome c0 true
cut @ b1
  (bvule (local @ %0) i32:-1)
inductive
";

#[track_caller]
fn refused(from: &str, to: &str, message: &str) {
    assert!(GOOD.contains(from));
    let error = text::parse(&GOOD.replacen(from, to, 1)).expect_err("it is refused");
    assert_eq!(error.to_string(), format!("cannot parse the proof, {message}"));
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    text::parse(GOOD).expect("it is a proof");
    refused("quarry-proof 1", "quarry-proof 2", "line 1: expected `1`, found `2`");
    refused("000\n", "00\n", &format!("line 2: expected 64 hexadecimal digits, found `{}`", "0".repeat(40)));
    refused("c0 true", "c0 maybe", "line 4: expected `true` or `false`, found `maybe`");
    refused("@ b1", "@%1 b1", "line 5: expected an activation such as `@.%3`, found `@%1`");
    refused("bvule", "bvless", "line 6: expected an operator, found `bvless`");
    refused("i32:-1", "i8:-129", "line 6: expected a formula, found `i8:-129`");
    refused("i32:-1", "i8:256", "line 6: expected a formula, found `i8:256`");
    refused("i32:-1)", "i32:-1", "line 7: expected a formula, found `inductive`");
    refused(
        "inductive\n",
        "",
        "line 6: expected `assume`, `inline`, `cut`, `halves`, or how it is shown: `inductive`, `k-induction`, `unrolled` or `listed`, found the end",
    );
    refused("inductive\n", "inductive cut\n", "line 7: expected the end, found `cut`");
}

#[test]
fn deep_formulas_are_refused_before_the_stack_ends() {
    let deep = format!("{}true{}", "(not ".repeat(100_000), ")".repeat(100_000));
    let text = GOOD.replace("(bvule (local @ %0) i32:-1)", &deep);
    let error = text::parse(&text).expect_err("it is refused");
    assert_eq!(error.message, "formulas may be nested 200 deep");
}
