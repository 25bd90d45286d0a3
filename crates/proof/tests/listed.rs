//! Lists of states that lie: each leaves out something that a run does, or speaks of something that is no state.

#[path = "support/mod.rs"]
mod support;

use support::{program, proof, verdict};

/// `x = 0; while (1) { in = ask(); if (in == 7) x = (x + 1) & 3; else if (in == 2 && in == 4) x = 9; if (x == 9) … }`.
const ASKING: &str = "function f0 \"f\" exported (i8) -> i32 {
b0: %0 = alloca 1 align 1
  %1 = alloca 1 align 1
  %2 = store i8 0, %0
  %3 = store i8 0, %1
  jump b1
b1: %4 = load i8, %0
  %5 = call i8 f1()
  %6 = compare eq i8 %5, 7
  branch %6, b2, b3
b2: %7 = add i8 %4, 1
  %8 = and i8 %7, 3
  %9 = store i8 %8, %0
  jump b4
b3: %10 = compare eq i8 %5, 2
  %11 = compare eq i8 %5, 4
  %12 = and i1 %10, %11
  branch %12, b5, b4
b4: %13 = load i8, %0
  %14 = compare eq i8 %13, 9
  %15 = mark c0 %14
  branch %15, b6, b1 decided c0
b5: %16 = store i8 9, %0
  jump b4
b6: return 1
}
function f1 \"ask\" external () -> i8";

const LACKS: &str = "rejected listed: a row leads to a state that no row lists";
const FALSE: &str = "rejected cut @ b1: the formula does not hold in a row";
const REACHED: &str = "rejected @ b4 %15: it can be reached against the claim";
const GOAL: &str = "entry f0 goal outcome c0 true cut @ b1";
/// All that a run comes to.
const FORMULA: &str = "(bvule (local @ %0) i8:3)";

#[track_caller]
fn check(code: &str, formula: &str, listed: &str, expected: &str) {
    let program = program(&["d0 f0 c0"], code);
    let text = format!("{GOAL} {formula} listed {listed} end");
    assert_eq!(verdict(&program, &proof(&program, &text)), expected, "{text}");
}

fn rows(values: &[u8]) -> String {
    values.iter().map(|value| format!(" row {value}")).collect()
}

#[test]
fn an_input_is_taken_every_way() {
    let listed = |values: &[u8]| format!("states 0 (local @ %0){}", rows(values));
    check(ASKING, FORMULA, &listed(&[0, 1, 2, 3]), "accepted");
    for left_out in 0..4 {
        let values: Vec<u8> = (0..4).filter(|value| *value != left_out).collect();
        check(ASKING, FORMULA, &listed(&values), LACKS);
    }
    // an input that is 2 and 4 there is none, but one that is 2 or 4
    let either = ASKING.replace("%12 = and i1", "%12 = or i1");
    check(&either, FORMULA, &listed(&[0, 1, 2, 3]), REACHED);
    // a row that nothing leads to must be followed, too, and meets the goal
    check(ASKING, FORMULA, &listed(&[0, 1, 2, 3, 9]), FALSE);
    check(ASKING, "true", &listed(&[0, 1, 2, 3]), REACHED);
}

#[test]
fn what_a_row_says_of_anything_but_the_state_excludes_nothing() {
    let with = |scalar: &str, row: &dyn Fn(u8) -> String| {
        let rows: String = (0..4).map(|value| format!(" row {value} {}", row(value))).collect();
        format!("states 0 (local @ %0) {scalar}{rows}")
    };
    // a constant is what it is, whatever rows say
    check(ASKING, FORMULA, &with("i8:5", &|_| "5".to_owned()), "accepted");
    check(ASKING, FORMULA, &with("i8:5", &|_| "6".to_owned()), LACKS);
    check(ASKING, FORMULA, &with("i8:3", &|value| if value == 0 { "3" } else { "2" }.to_owned()), LACKS);
    // the same scalar twice
    check(ASKING, FORMULA, &with("(local @ %0)", &|value| value.to_string()), "accepted");
    check(ASKING, FORMULA, &with("(local @ %0)", &|value| (value ^ 1).to_string()), LACKS);
    // a part of it, which says something else
    let low = "(extract 0 0 (local @ %0))";
    check(ASKING, FORMULA, &with(low, &|value| (value & 1).to_string()), "accepted");
    check(ASKING, FORMULA, &with(low, &|_| "0".to_owned()), LACKS);
    // a value that it cannot have
    check(ASKING, FORMULA, "states 0 (local @ %0) row 0 row 1 row 2 row 3 row 300", FALSE);
    check(ASKING, "true", "states 0 (local @ %0) row 256 row 1 row 2 row 3", LACKS);
    // a parameter that rows allow one value of, and an address
    check(ASKING, FORMULA, &with("(parameter 0)", &|_| "1".to_owned()), LACKS);
    check(ASKING, FORMULA, &with("(address f1)", &|_| "4096".to_owned()), LACKS);
    // no numbers of up to 64 bits
    let refused = "rejected listed: a scalar has 1 to 64 bits";
    check(ASKING, FORMULA, &with("true", &|_| "1".to_owned()), refused);
    check(ASKING, FORMULA, &with("(zero_extend 120 (local @ %0))", &|value| value.to_string()), refused);
    check(ASKING, FORMULA, "states 0 (flag @) row 1", "rejected listed: @ has no flag");
}

#[test]
fn each_cut_has_one_list_at_most_and_without_one_nothing_is_known_there() {
    let all = "states 0 (local @ %0) row 0 row 1 row 2 row 3";
    check(ASKING, FORMULA, &format!("{all} {all}"), "rejected listed: two lists are about the same cut");
    check(ASKING, FORMULA, "", FALSE);
    check(ASKING, "true", "", REACHED);
    // a second cut between two turns; the list of the first relies on it
    let second = |listed: &str, expected: &str| {
        let program = program(&["d0 f0 c0"], ASKING);
        let text = format!("{GOAL} {FORMULA} cut @ b4 (bvule (local @ %0) i8:3) listed {listed} end");
        assert_eq!(verdict(&program, &proof(&program, &text)), expected, "{text}");
    };
    second(&format!("{all} {}", all.replace("states 0", "states 1")), "accepted");
    second(all, LACKS);
    second(&format!("{all} states 1 (local @ %0) row 0 row 1 row 2"), LACKS);
}

#[test]
fn what_was_never_stored_is_in_no_row() {
    // without its first store the local is anything at each load
    let unset = ASKING.replace("%2 = store i8 0, %0", "%2 = add i8 0, 0");
    check(&unset, FORMULA, "states 0 (local @ %0) row 0 row 1 row 2 row 3", LACKS);
    // with any first value, the goal's is among them
    check(&unset, FORMULA, "states 0 (local @ %0) row _", FALSE);
}
