//! What instructions do, and what is left open: each line is a body that marks `c0`, and whether `c0` can be true.

#[path = "support/mod.rs"]
mod support;

use support::{program, proof, verdict};

/// Whether the checker accepts that `c0` is never true in a body `(i32, ptr) -> i32` whose last result is the condition.
#[track_caller]
fn is_proved(tables: &str, body: &str, proof_text: &str) -> bool {
    let n = body.matches(" = ").count();
    let code = format!(
        "{tables}\nfunction f0 \"f\" exported (i32, ptr) -> i32 {{\n{body}\n %{n} = mark c0 %{}\n branch %{n}, bT, bF decided c0",
        n - 1
    );
    let last = body.lines().filter(|line| line.starts_with('b')).count();
    let code = code.replace("bT", &format!("b{last}")).replace("bF", &format!("b{}", last + 1));
    let code = format!(
        "{code}\nb{last}: return 1\nb{}: return 0\n}}\nfunction f1 \"outside\" external (ptr) -> void",
        last + 1
    );
    let program = program(&["d0 f0 c0"], &code);
    let said =
        verdict(&program, &proof(&program, &format!("entry f0 goal outcome c0 true {proof_text} inductive")));
    assert!(said == "accepted" || said.ends_with("against the claim"), "{said}");
    said == "accepted"
}

#[track_caller]
fn never(tables: &str, body: &str) {
    assert!(is_proved(tables, body, ""), "should be accepted:\n{body}");
}

#[track_caller]
fn may_be(tables: &str, body: &str) {
    assert!(!is_proved(tables, body, ""), "should be rejected:\n{body}");
}

#[test]
fn undefined_results_are_arbitrary() {
    // within the width a shift is what it is, beyond it anything
    never("", "b0: %0 = and i32 p0, 31\n %1 = lshr i32 0, %0\n %2 = compare ne i32 %1, 0");
    may_be("", "b0: %0 = lshr i32 0, p0\n %1 = compare ne i32 %0, 0");
    never("", "b0: %0 = trunc i32 p0 to i1\n %1 = shl i1 0, 0\n %2 = compare ne i1 %1, 0");
    may_be("", "b0: %0 = trunc i32 p0 to i1\n %1 = shl i1 0, 1\n %2 = compare ne i1 %1, 0");
    // divisions
    never("", "b0: %0 = or i32 p0, 1\n %1 = udiv i32 0, %0\n %2 = compare ne i32 %1, 0");
    may_be("", "b0: %0 = udiv i32 0, p0\n %1 = compare ne i32 %0, 0");
    may_be("", "b0: %0 = sdiv i32 -2147483648, p0\n %1 = compare eq i32 %0, 7");
    // a division whose result nobody needs may vanish with its trap
    may_be("", "b0: %0 = sdiv i32 7, p0\n %1 = compare eq i32 p0, 0");
    // no particular value, another one at each use
    may_be("", "b0: %0 = compare ne i32 undef, undef");
    // a local before it is stored to
    may_be(
        "",
        "b0: %0 = alloca 4 align 4\n %1 = load i32, %0\n %2 = load i32, %0\n %3 = compare ne i32 %1, %2",
    );
    never(
        "",
        "b0: %0 = alloca 4 align 4\n %1 = store i32 p0, %0\n %2 = load i32, %0\n %3 = load i32, %0\n %4 = compare ne i32 %2, %3",
    );
    // memory from outside
    may_be("", "b0: %0 = volatile load i32, p1\n %1 = volatile load i32, p1\n %2 = compare ne i32 %0, %1");
    never("", "b0: %0 = load i32, p1\n %1 = load i32, p1\n %2 = compare ne i32 %0, %1");
    // floating point is left open
    may_be("", "b0: %0 = fadd f64 1.0, 1.0\n %1 = fcompare olt f64 %0, 0.0");
    never("", "b0: %0 = bitcast f32 1.0 to i32\n %1 = compare ne i32 %0, 1065353216");
    may_be("", "b0: %0 = opaque i32 \"asm\"(p0)\n %1 = compare ne i32 %0, p0");
}

#[test]
fn memory_keeps_bytes_until_something_may_change_them() {
    let stored = "b0: %0 = store i32 5, p1\n";
    never("", &format!("{stored} %1 = load i32, p1\n %2 = compare ne i32 %1, 5"));
    // little endian
    never("", &format!("{stored} %1 = address p1, 1\n %2 = load i8, %1\n %3 = compare ne i8 %2, 0"));
    never("", &format!("{stored} %1 = load i8, p1\n %2 = compare ne i8 %1, 5"));
    // another pointer may be the same or overlap
    let other = " %1 = sext i32 p0 to i64\n %2 = address p1, i64 %1 * 1\n %3 = store i8 9, %2\n";
    may_be("", &format!("{stored}{other} %4 = load i32, p1\n %5 = compare ne i32 %4, 5"));
    // code that is not known
    may_be(
        "",
        &format!("{stored} %1 = call void f1(p1:ptr)\n %2 = load i32, p1\n %3 = compare ne i32 %2, 5")
            .replace("p1:ptr", "ptr p1"),
    );
    may_be(
        "",
        &format!("{stored} %1 = opaque void \"asm\"()\n %2 = load i32, p1\n %3 = compare ne i32 %2, 5"),
    );
    may_be("", &format!("{stored} %1 = va_start p1\n %2 = load i32, p1\n %3 = compare ne i32 %2, 5"));
    // a store below the first page ends the run; a load whose value nobody needs may vanish
    never("", &format!("{stored} %1 = compare eq ptr p1, null"));
    may_be("", "b0: %0 = load i32, p1\n %1 = compare eq ptr p1, null");
}

#[test]
fn copies_and_fillings() {
    let locals = "b0: %0 = alloca 8 align 8\n %1 = alloca 8 align 8\n %2 = set %0, 7, 8\n";
    never("", &format!("{locals} %3 = copy %1, %0, 8\n %4 = load i16, %1\n %5 = compare ne i16 %4, 1799"));
    // only so many bytes
    may_be("", &format!("{locals} %3 = copy %1, %0, 1\n %4 = load i16, %1\n %5 = compare ne i16 %4, 1799"));
    never("", &format!("{locals} %3 = move %1, %0, 8\n %4 = load i16, %1\n %5 = compare ne i16 %4, 1799"));
    // of unknown length, or partly onto itself
    let unknown = " %3 = sext i32 p0 to i64\n %4 = copy %1, %0, %3\n";
    may_be("", &format!("{locals}{unknown} %5 = load i16, %0\n %6 = compare ne i16 %5, 1799"));
    let onto = " %3 = address %0, 1\n %4 = copy %3, %0, 4\n";
    may_be("", &format!("{locals}{onto} %5 = load i8, %3\n %6 = compare ne i8 %5, 7"));
    let moved = onto.replace("copy", "move");
    never("", &format!("{locals}{moved} %5 = load i8, %3\n %6 = compare ne i8 %5, 7"));
}

#[test]
fn locals_lie_apart() {
    // %0 is promoted, %1 escapes: what others do to it, they do not do to %0
    let locals = "b0: %0 = alloca 4 align 4\n %1 = alloca 4 align 4\n %2 = store i32 5, %0\n %3 = store i32 6, %1\n %4 = call void f1(ptr %1)\n";
    never("", &format!("{locals} %5 = load i32, %0\n %6 = compare ne i32 %5, 5"));
    may_be("", &format!("{locals} %5 = load i32, %1\n %6 = compare ne i32 %5, 6"));
    // two in memory
    let both = "b0: %0 = alloca 4 align 4\n %1 = alloca 4 align 4\n";
    never("", &format!("{both} %2 = compare eq ptr %0, %1"));
    never("", &format!("{both} %2 = compare eq ptr %0, null"));
    let array =
        "b0: %0 = alloca 4 align 4\n %1 = alloca 4 align 4\n %2 = set %0, 0, 4\n %3 = store i32 6, %1\n";
    never("", &format!("{array} %4 = load i8, %0\n %5 = address %1, 0\n %6 = compare ne i8 %4, 0"));
    // what they hold before the first store
    may_be("", &format!("{both} %2 = load i32, %0\n %3 = address %1, 0\n %4 = compare ne i32 %2, 0"));
    // with a number of elements that is not known nothing is said
    may_be(
        "",
        "b0: %0 = alloca 4 align 4 count p0\n %1 = alloca 4 align 4\n %2 = address %0, 0\n %3 = compare eq ptr %2, %1",
    );
    // a parameter may point anywhere
    may_be("", &format!("{both} %2 = compare eq ptr %0, p1"));
}

const GLOBALS: &str = "global g0 \"v\" internal size 4 align 4 bytes \"\\x05\\x00\\x00\\x00\"
global g1 \"k\" internal constant size 8 align 4 bytes \"\\x05\\x00\\x00\\x00\\x06\\x00\\x00\\x00\"
global g2 \"t\" internal constant size 16 align 8 relocations { 0: g1+4, 8: f0 }
global g3 \"e\" external constant size 4 align 4
global g4 \"l\" internal constant size 4 align 4 bytes \"\\x05\\x00\\x00\\x00\"";

#[test]
fn constants_hold_their_bytes_and_other_globals_only_by_assumption() {
    never(GLOBALS, "b0: %0 = load i32, g1\n %1 = compare ne i32 %0, 5");
    never(GLOBALS, "b0: %0 = store i32 1, p1\n %1 = load i32, g1\n %2 = compare ne i32 %1, 5");
    let indexed =
        "b0: %0 = and i32 p0, 1\n %1 = address g1, i32 %0 * 4\n %2 = store i32 1, p1\n %3 = load i32, %1\n";
    never(GLOBALS, &format!("{indexed} %4 = compare ugt i32 %3, 6"));
    // outside of it, anything
    may_be(GLOBALS, &format!("{indexed} %4 = compare ugt i32 %3, 6").replace("p0, 1", "p0, 3"));
    // through an initial pointer
    never(GLOBALS, "b0: %0 = load ptr, g2\n %1 = load i32, %0\n %2 = compare ne i32 %1, 6");
    never(GLOBALS, "b0: %0 = load ptr, g2+8\n %1 = compare eq ptr %0, null");
    // what is defined elsewhere may be anything, even absent
    may_be(GLOBALS, "b0: %0 = load i32, g3\n %1 = compare ne i32 %0, 0");
    may_be(GLOBALS, "b0: %0 = compare eq ptr g3, null");
    may_be(GLOBALS, "b0: %0 = compare eq ptr f1, null");
    // variables
    let variable = "b0: %0 = load i32, g0\n %1 = compare ne i32 %0, 5";
    may_be(GLOBALS, variable);
    assert!(is_proved(GLOBALS, variable, "assume initial-globals"));
    let called = "b0: %0 = call void f1(ptr p1)\n %1 = load i32, g0\n %2 = compare ne i32 %1, 5";
    assert!(!is_proved(&GLOBALS.replace("8: f0", "8: g1"), called, "assume initial-globals"));
    // objects do not overlap, but constants may be one
    never(GLOBALS, "b0: %0 = compare eq ptr g0, g1");
    may_be(GLOBALS, "b0: %0 = compare eq ptr g1, g4");
    // an initialiser that the model does not describe makes all of them unknown
    let undescribed = format!("{GLOBALS}\ngap instruction \"initialiser of k: vector\"");
    may_be(&undescribed, "b0: %0 = load i32, g1\n %1 = compare ne i32 %0, 5");
}

#[test]
fn values_meet_where_ways_join() {
    let phi = "b0: %0 = compare sgt i32 p0, 0\n branch %0, b1, b2
b1: jump b3
b2: jump b3
b3: %1 = phi i32 [b1: 1], [b2: p0]\n %2 = compare sgt i32 %1, 1";
    never("", phi);
    may_be(
        "",
        &phi.replace("[b2: p0]", "[b2: %1]")
            .replace("%1 = phi i32 [b1: 1], [b2: %1]", "%1 = phi i32 [b1: p0], [b2: 0]"),
    );
    never("", "b0: %0 = compare sgt i32 p0, 0\n %1 = select i32 %0, 1, p0\n %2 = compare sgt i32 %1, 1");
    // a computed jump goes to any of its targets
    let jump = "b0: jump *p1 [b1, b2]
b1: jump b3
b2: jump b3
b3: %0 = phi i32 [b1: 1], [b2: 2]\n %1 = compare eq i32 %0, 2";
    may_be("", jump);
    never("", &jump.replace("%0, 2", "%0, 3"));
    // code that cannot be reached ends the run
    let ends = "b0: %0 = compare sgt i32 p0, 0\n branch %0, b1, b2
b1: unreachable
b2: %1 = compare sgt i32 p0, 0";
    never("", ends);
}
