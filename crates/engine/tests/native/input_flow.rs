//! Functions that no input reaches get no expressions, and everything else has the ones that it had.

use std::collections::BTreeSet;

use crate::build::{LONG, with_cells};

/// The functions of a program that no input reaches.
fn free(text: &str, n_cells: usize, call: &str) -> BTreeSet<String> {
    let built = with_cells(text, n_cells, call);
    let names = analysis::free_of_input(&built.program).into_iter();
    let names = names.map(|id| built.program.function(id).name.clone());
    names.filter(|name| !name.starts_with("__")).collect() // the headers' own
}

#[track_caller]
fn check(text: &str, call: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(free(text, 2, call), expected);
}

#[test]
fn what_computes_a_table_of_constants_is_free_of_input() {
    let text = "static int table[8]; static int step(int v) { return v * 5 + 1; }\n\
         static void fill(void) { int v = 1; for (int i = 0; i < 8; i++) table[i] = v = step(v); }\n\
         int look_up(int a) { fill(); return table[a & 7] > 99; }";
    check(text, "look_up(a)", &["fill", "step"]);
}

#[test]
fn what_gets_input_once_is_not() {
    let text = "static int step(int v) { return v * 5 + 1; } int f(int a) { return step(2) + step(a); }";
    check(text, "f(a)", &[]);
}

#[test]
fn what_reads_or_writes_where_input_may_be_is_not() {
    let text = "static int kept, other; static void clear(void) { kept = 0; } static int get(void) { return kept; }\n\
         static void clear_other(void) { other = 0; }\n\
         int f(int a) { clear(); clear_other(); kept = a; return get() + other; }";
    check(text, "f(a)", &["clear_other"]);
}

#[test]
fn memory_behind_pointers_is_followed() {
    let text = "#include <stdlib.h>\n#include <string.h>\nstruct box { int value; };\n\
         static int open(struct box *box) { return box->value; }\n\
         static int first(void) { struct box own = {3}; return open(&own); }\n\
         static int constant(const int *p) { return *p; } static const int seven = 7;\n\
         int f(int a) { struct box *b = malloc(sizeof *b), c; b->value = a; memcpy(&c, b, sizeof c);\n\
         return open(&c) + first() + constant(&seven); }";
    check(text, "f(a)", &["constant"]);
}

#[test]
fn functions_whose_address_is_taken_are_not() {
    let text = "static int one(void) { return 1; } static int two(void) { return 2; }\n\
         static int (*const table[])(void) = {one};\nint f(int a) { return a ? table[0]() : two(); }";
    check(text, "f(a)", &["two"]);
}

#[test]
fn calls_between_code_with_and_without_expressions_leave_nothing_behind() {
    // classify gets input, then constants from code without expressions, then input again
    let text = "static int sum; static int classify(int v) { if (v > 10) return 2; return v > 5; }\n\
         static int probe(void) { int n = 0; for (int i = 4; i < 13; i += 4) n += classify(i); return n; }\n\
         static int plain(void) { return 6; }\n\
         int f(int a, int b) { int n = classify(a); int m = probe(); if (m == 3) sum++; if (plain() > 5) sum++; return n + classify(b); }";
    let built = with_cells(text, 2, "f(a, b)");
    let names: Vec<String> = analysis::free_of_input(&built.program)
        .into_iter()
        .map(|id| built.program.function(id).name.clone())
        .collect();
    assert_eq!(names, ["plain"], "what probe takes from classify may be input");
    let left = built.run(&mut built.fresh(), &[20, 7], LONG);
    // of all conditions, only v > 10 depends on an input, and only in the first and the last call
    assert_eq!(left.trace.steps.len(), 2);
}

#[test]
fn results_of_code_without_expressions_have_none() {
    let text = "static int id(int v) { return v; } static int six(void) { return 6; }\n\
         int f(int a) { int n = id(a); if (six() > 5) n++; if (n > 3) return 1; return 0; }";
    let built = with_cells(text, 1, "f(a)");
    let left = built.run(&mut built.fresh(), &[3], LONG);
    assert_eq!(left.trace.steps.len(), 1, "n > 3 depends on the input, six() > 5 does not");
}
