//! The interpreter on programs written by hand, and its own log against the walk of the model.

mod support;

use std::collections::BTreeMap;

use model::interpret::{
    CodeLocation, End, FaultKind, Interpreter, Limits, Observer, PathLog, RunResult, Value,
};
use model::walk::{Completeness, Script, Visitor, walk};
use model::{BlockId, FunctionId, Program, text, verify};
use proptest::prelude::*;

const LIMITS: Limits = Limits { steps: 1_000_000, memory: 1 << 20 };

fn program(text: &str) -> Program {
    let program = text::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let violations: Vec<String> = verify(&program).iter().map(ToString::to_string).collect();
    assert_eq!(violations, Vec::<String>::new());
    program
}

fn run(text: &str, arguments: &[Value]) -> RunResult {
    Interpreter::new(&program(text), LIMITS).run(FunctionId(0), arguments)
}

fn int(bits: u32, value: i128) -> Value {
    Value::Int { bits, value: value as u128 & (u128::MAX >> (128 - bits)) }
}

/// Runs the body of a function `i64 (i64, i64)` with globals and declarations before it.
fn evaluate(tables: &str, body: &str, arguments: [i128; 2]) -> End {
    let declared = tables.lines().filter(|line| line.starts_with("function")).collect::<Vec<_>>().join("\n");
    let others = tables.lines().filter(|line| !line.starts_with("function")).collect::<Vec<_>>().join("\n");
    let text = format!(
        "program pointer 64\n{others}\nfunction f0 \"f\" internal (i64, i64) -> i64 {{\n{body}\n}}\n{declared}\n"
    );
    run(&text, &arguments.map(|argument| int(64, argument))).end
}

#[track_caller]
fn check(tables: &str, body: &str, arguments: [i128; 2], expected: i128) {
    assert_eq!(evaluate(tables, body, arguments), End::Returned(Some(int(64, expected))));
}

#[track_caller]
fn check_fault(tables: &str, body: &str, arguments: [i128; 2], expected: FaultKind, place: &str) {
    match evaluate(tables, body, arguments) {
        End::Fault(kind, at) => assert_eq!((kind, at.to_string().as_str()), (expected, place)),
        other => panic!("no fault but {other:?}"),
    }
}

const FACTORIAL: &str = r#"
program pointer 64
function f0 "factorial" exported (i64) -> i64 {
b0:
  %0 = compare ule i64 p0, 1
  branch %0, b1, b2
b1:
  return 1
b2:
  %1 = sub i64 p0, 1
  %2 = call i64 f0(i64 %1)
  %3 = mul i64 p0, %2
  return %3
}
"#;

#[test]
fn recursion_keeps_one_frame_per_call() {
    assert_eq!(run(FACTORIAL, &[int(64, 20)]).end, End::Returned(Some(int(64, 2_432_902_008_176_640_000))));
}

#[test]
fn recursion_without_end_overflows_the_stack() {
    let endless = FACTORIAL.replace("compare ule i64 p0, 1", "compare ult i64 p0, 0");
    let End::Fault(FaultKind::StackOverflow, place) = run(&endless, &[int(64, 20)]).end else {
        panic!("the stack has an end")
    };
    assert_eq!(place.to_string(), "f0 b2 %2");
}

#[test]
fn loops_stop_at_the_limit_of_steps() {
    let outcome =
        run("program pointer 64\nfunction f0 \"f\" internal () -> void { b0: jump b1 b1: jump b1 }", &[]);
    assert_eq!((outcome.end, outcome.steps), (End::OutOfSteps, LIMITS.steps));
}

#[test]
fn phis_of_a_block_read_before_any_is_written() {
    // Fibonacci by swapping two phis.
    let body = "b0: jump b1
        b1: %0 = phi i64 [b0: 0], [b2: %1]
            %1 = phi i64 [b0: 1], [b2: %3]
            %2 = phi i64 [b0: p0], [b2: %4]
            %5 = compare eq i64 %2, 0
            branch %5, b3, b2
        b2: %3 = add i64 %0, %1
            %4 = sub i64 %2, 1
            jump b1
        b3: return %0";
    check("", body, [30, 0], 832_040);
}

#[test]
fn memory_holds_bytes_in_little_endian_order() {
    let body = "b0: %0 = alloca 8 align 8
        %1 = store i64 p0, %0
        %2 = address %0, 1
        %3 = load i16, %2
        %4 = zext i16 %3 to i64
        return %4";
    check("", body, [0x1122_3344_5566_7788, 0], 0x6677);
}

#[test]
fn addresses_sum_sign_extended_scaled_indices() {
    let tables = r#"global g0 "a" internal size 32 align 8 bytes "\x00\x00\x00\x00\x00\x00\x00\x00\x11\x00\x00\x00\x00\x00\x00\x00\x22\x00\x00\x00\x00\x00\x00\x00\x33\x00\x00\x00\x00\x00\x00\x00""#;
    let body = "b0: %0 = trunc i64 p0 to i8
        %1 = address g0+24, 8, i8 %0 * 8, i64 p1 * -4
        %2 = load i64, %1
        return %2";
    check(tables, body, [-2, 2], 0x11);
    check(tables, body, [-1, 2], 0x22);
}

#[test]
fn relocations_lead_to_globals_and_functions() {
    let tables = r#"global g0 "table" internal size 16 align 8 relocations { 0: g1+1, 8: f1 }
        global g1 "text" internal constant size 3 align 1 bytes "ab\x00"
function f1 "inc" internal (i64) -> i64 { b0: %0 = add i64 p0, 1 return %0 }"#;
    let body = "b0: %0 = load ptr, g0
        %1 = load i8, %0
        %2 = zext i8 %1 to i64
        %3 = load ptr, g0+8
        %4 = call i64 *%3(i64 %2)
        return %4";
    check(tables, body, [0, 0], 99);
}

#[test]
fn switches_find_their_case_or_the_default() {
    let body = "b0: switch i64 p0 { 7: b1, -1: b2, 300: b1, default: b3 }
        b1: return 10
        b2: return 20
        b3: return 30";
    for (value, expected) in [(7, 10), (-1, 20), (300, 10), (0, 30)] {
        check("", body, [value, 0], expected);
    }
}

#[test]
fn structures_travel_through_registers_calls_and_memory() {
    let tables = r#"record r0 size 16 { 0: i32, 8: i64 }
function f1 "swap" internal (r0) -> r0 { b0: %0 = extract i64, r0 p0, 1 %1 = trunc i64 %0 to i32 %2 = insert r0 p0, 0, i32 %1 return %2 }"#;
    let body = "b0: %0 = insert r0 undef, 1, i64 p0
        %1 = call r0 f1(r0 %0)
        %2 = alloca 16 align 8
        %3 = store r0 %1, %2
        %4 = load r0, %2
        %5 = compare eq i64 p1, 0
        %6 = select r0 %5, %4, undef
        %7 = extract i32, r0 %6, 0
        %8 = sext i32 %7 to i64
        return %8";
    check(tables, body, [-5, 0], -5);
    check(tables, body, [-5, 1], 0);
}

#[test]
fn wide_integers_multiply_exactly() {
    let body = "b0: %0 = sext i64 p0 to i128
        %1 = sext i64 p1 to i128
        %2 = mul i128 %0, %1
        %3 = alloca 16 align 16
        %4 = store i128 %2, %3
        %5 = load i128, %3
        %6 = ashr i128 %5, 64
        %7 = trunc i128 %6 to i64
        return %7";
    check("", body, [i64::MAX.into(), i64::MAX.into()], (i128::from(i64::MAX) * i128::from(i64::MAX)) >> 64);
    check("", body, [-1, 1], -1);
}

#[test]
fn floating_point_rounds_as_the_machine_does() {
    let body = "b0: %0 = sitofp i64 p0 to f64
        %1 = fdiv f64 %0, 3.0
        %2 = fptrunc f64 %1 to f32
        %3 = fpext f32 %2 to f64
        %4 = bitcast f64 %3 to i64
        return %4";
    let expected = f64::from((10f64 / 3.0) as f32).to_bits();
    check("", body, [10, 0], expected.into());
}

#[test]
fn accesses_outside_objects_fault_where_they_happen() {
    let beyond = "b0: %0 = alloca 8 align 8
        %1 = address %0, 0, i64 p0 * 1
        %2 = load i32, %1
        return 0";
    assert_eq!(evaluate("", beyond, [4, 0]), End::Returned(Some(int(64, 0))));
    for offset in [5, 8, -1, 1 << 20] {
        check_fault("", beyond, [offset, 0], FaultKind::InvalidAccess, "f0 b0 %2");
    }
    let null = "b0: %0 = inttoptr i64 p0 to ptr\n %1 = store i8 1, %0\n return 0";
    check_fault("", null, [8, 0], FaultKind::NullAccess, "f0 b0 %1");
    let constant = "b0: %0 = store i8 1, g0\n return 0";
    let tables = "global g0 \"k\" internal constant size 1 align 1";
    check_fault(tables, constant, [0, 0], FaultKind::WriteToConstant, "f0 b0 %0");
}

#[test]
fn what_is_gone_cannot_be_used() {
    let tables = r#"function f1 "dangle" internal () -> ptr { b0: %0 = alloca 4 align 4 return %0 }
function f2 "malloc" external (i64) -> ptr
function f3 "free" external (ptr) -> void"#;
    let stack = "b0: %0 = call ptr f1()\n %1 = call ptr f1()\n %2 = load i32, %0\n return 0";
    check_fault(tables, stack, [0, 0], FaultKind::InvalidAccess, "f0 b0 %2");
    let heap = "b0: %0 = call ptr f2(i64 8)
        %1 = store i64 1, %0
        %2 = call void f3(ptr %0)
        %3 = call ptr f2(i64 8)
        %4 = load i64, %0
        return 0";
    check_fault(tables, heap, [0, 0], FaultKind::UseAfterFree, "f0 b0 %4");
    let twice =
        "b0: %0 = call ptr f2(i64 8)\n %1 = call void f3(ptr %0)\n %2 = call void f3(ptr %0)\n return 0";
    check_fault(tables, twice, [0, 0], FaultKind::InvalidFree, "f0 b0 %2");
}

#[test]
fn reused_heap_bytes_start_as_zero() {
    let tables = r#"function f1 "malloc" external (i64) -> ptr
function f2 "free" external (ptr) -> void"#;
    let body = "b0: %0 = call ptr f1(i64 8)
        %1 = store i64 -1, %0
        %2 = call void f2(ptr %0)
        %3 = call ptr f1(i64 8)
        %4 = load i64, %3
        return %4";
    check(tables, body, [0, 0], 0);
}

#[test]
fn undefined_arithmetic_faults() {
    for (op, arguments, kind) in [
        ("udiv", [1, 0], FaultKind::DivisionByZero),
        ("srem", [1, 0], FaultKind::DivisionByZero),
        ("sdiv", [i64::MIN.into(), -1], FaultKind::DivisionOverflow),
        ("shl", [1, 64], FaultKind::Undefined),
        ("ashr", [1, -1], FaultKind::Undefined),
    ] {
        check_fault("", &format!("b0: %0 = {op} i64 p0, p1\n return %0"), arguments, kind, "f0 b0 %0");
    }
    check_fault("", "b0: unreachable", [0, 0], FaultKind::Unreachable, "f0 b0");
    check_fault("", "b0: %0 = call i64 *null()\n return 0", [0, 0], FaultKind::BadCall, "f0 b0 %0");
}

#[test]
fn what_is_not_run_is_named_with_its_place() {
    for (tables, instr, expected) in [
        ("", "opaque void \"asm nop\"()", "f0 b0 %0: asm nop"),
        ("", "va_start null", "f0 b0 %0: va_start"),
        (
            "function f1 \"fork\" external () -> i32",
            "call i32 f1()",
            "f0 b0 %0: call of `fork`, which has no code",
        ),
        (
            "function f1 \"_setjmp\" external (ptr) -> i32 returns_twice",
            "call i32 f1(ptr null)",
            "f0 b0 %0: setjmp",
        ),
        (
            "global g0 \"environ\" external size 8 align 8",
            "load ptr, g0",
            "f0 b0 %0: variable `environ`, which is only declared",
        ),
        ("", "fadd f80 #0, #0", "f0 b0 %0: arithmetic in f80"),
    ] {
        let end = evaluate(tables, &format!("b0: %0 = {instr}\n return 0"), [0, 0]);
        assert_eq!(end, End::Unsupported(expected.to_owned()));
    }
}

#[test]
fn pointers_of_32_bits_wrap_and_take_four_bytes() {
    let text = r#"program pointer 32
global g0 "p" internal size 8 align 4 relocations { 0: g1+2 }
global g1 "a" internal size 4 align 4 bytes "abcd"
function f0 "f" internal (i64) -> i64 {
b0:
  %0 = load ptr, g0
  %1 = address %0, -1, i64 p0 * 1
  %2 = store ptr %1, g0+4
  %3 = load ptr, g0+4
  %4 = load i8, %3
  %5 = zext i8 %4 to i64
  return %5
}"#;
    assert_eq!(run(text, &[int(64, 1 << 32)]).end, End::Returned(Some(int(64, b'b'.into()))));
}

/// Calls a function of the library on pointers to the given texts.
fn library(declaration: &str, call: &str, texts: &[&str]) -> RunResult {
    let mut globals = String::new();
    for (number, text) in texts.iter().enumerate() {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let size = text.len() + 1;
        globals += &format!(
            "global g{number} \"t{number}\" internal size {size} align 1 bytes \"{escaped}\\x00\"\n"
        );
    }
    run(
        &format!(
            "program pointer 64\n{globals}global g{} \"stdout\" external size 8 align 8\nfunction f0 \"f\" internal () -> i64 {{\nb0:\n{call}\n}}\n{declaration}",
            texts.len()
        ),
        &[],
    )
}

#[track_caller]
fn check_printf(format: &str, arguments: &str, expected: &str) {
    let call = format!("%0 = call i32 f1(ptr g0{arguments})\n%1 = sext i32 %0 to i64\nreturn %1");
    let outcome = library("function f1 \"printf\" external (ptr, ...) -> i32", &call, &[format, "text"]);
    assert_eq!(String::from_utf8_lossy(&outcome.output), expected, "{format}");
    assert_eq!(outcome.end, End::Returned(Some(int(64, expected.len() as i128))));
}

#[test]
fn printf_formats_as_the_c_library_does() {
    check_printf("checksum = %X\n", ", i32 -17958194", "checksum = FEEDFACE\n");
    check_printf("%d|%5d|%-5d|%05d|%+d|% d", &", i32 -7".repeat(6), "-7|   -7|-7   |-0007|-7|-7");
    check_printf("%hhd %hd %ld %lld %zu", ", i32 300, i32 70000, i64 -1, i64 -2, i64 3", "44 4464 -1 -2 3");
    check_printf("%#x %#o %#X %x", ", i32 255, i32 8, i32 0, i64 -1", "0xff 010 0 ffffffff");
    check_printf(
        "%8.3d|%.0d|%-8s|%.2s|%c%%",
        ", i32 5, i32 0, ptr g1, ptr g1, i32 65",
        "     005||text    |te|A%",
    );
    check_printf("%*d|%-*d|%.*s", ", i32 4, i32 7, i32 4, i32 7, i32 1, ptr g1", "   7|7   |t");
    check_printf("%p %p", ", ptr null, ptr f0", "(nil) 0x40000000");
    check_printf(
        "%f %.2f %e %g %g %g",
        ", f64 1.5, f64 -2.675, f64 12345.678, f64 100000.0, f64 1e6, f64 0.0001",
        "1.500000 -2.67 1.234568e+04 100000 1e+06 0.0001",
    );
    check_printf(
        "%08.2f|%+.0e|%G|%f",
        ", f64 3.14159, f64 0.00015, f64 1e-10, f64 #7ff0000000000000",
        "00003.14|+1e-04|1E-10|inf",
    );
    check_printf(
        "%#g|%#.0f|%g|%g|%.3g",
        ", f64 1.0, f64 3.0, f64 0.0, f64 123456789.0, f64 0.00001234",
        "1.00000|3.|0|1.23457e+08|1.23e-05",
    );
}

#[test]
fn output_goes_to_the_stream_it_names() {
    let call = "%0 = load ptr, g2\n%1 = call i32 f1(ptr g0, ptr %0)\n%2 = call i32 f2(ptr g1)\nreturn 0";
    let declaration =
        "function f1 \"fputs\" external (ptr, ptr) -> i32\nfunction f2 \"puts\" external (ptr) -> i32";
    let outcome = library(declaration, call, &["one ", "two"]);
    assert_eq!(outcome.output, b"one two\n");
}

#[test]
fn strings_compare_search_and_copy() {
    for (function, left, right, expected) in [
        ("strcmp", "abc", "abd", -1),
        ("strcmp", "abc", "abc", 0),
        ("strcmp", "b", "abc", 1),
        ("strcasecmp", "ABC", "abc", 0),
    ] {
        let declaration = format!("function f1 \"{function}\" external (ptr, ptr) -> i32");
        let outcome = library(
            &declaration,
            "%0 = call i32 f1(ptr g0, ptr g1)\n%1 = sext i32 %0 to i64\nreturn %1",
            &[left, right],
        );
        assert_eq!(outcome.end, End::Returned(Some(int(64, expected))), "{function} {left} {right}");
    }
    let distance = "%1 = ptrtoint ptr %0 to i64\n%2 = ptrtoint ptr g0 to i64\n%3 = sub i64 %1, %2\nreturn %3";
    for (function, argument, expected) in
        [("strchr", "i32 99", 2), ("strrchr", "i32 97", 3), ("strstr", "ptr g1", 1)]
    {
        let ty = argument.split(' ').next().expect("a type");
        let declaration = format!("function f1 \"{function}\" external (ptr, {ty}) -> ptr");
        let call = format!("%0 = call ptr f1(ptr g0, {argument})\n{distance}");
        let outcome = library(&declaration, &call, &["abcabc", "bca"]);
        assert_eq!(outcome.end, End::Returned(Some(int(64, expected))), "{function}");
    }
    let outcome = library(
        "function f1 \"strcpy\" external (ptr, ptr) -> ptr",
        "%0 = call ptr f1(ptr g0, ptr g1)\nreturn 0",
        &["ab", "longer"],
    );
    assert!(matches!(outcome.end, End::Fault(FaultKind::InvalidAccess, _)), "{:?}", outcome.end);
}

#[test]
fn numbers_are_read_as_atoi_does() {
    for (text, expected) in [("  -42x", -42), ("+7", 7), ("", 0), ("99999999999999999999", -1), ("x1", 0)] {
        let call = "%0 = call i32 f1(ptr g0)\n%1 = sext i32 %0 to i64\nreturn %1";
        let outcome = library("function f1 \"atoi\" external (ptr) -> i32", call, &[text]);
        assert_eq!(outcome.end, End::Returned(Some(int(64, expected))), "{text}");
    }
}

#[test]
fn character_classes_come_from_the_library_table_too() {
    // isdigit by the GNU library's macro: bit 11 of the table's entry.
    let tables = "function f1 \"__ctype_b_loc\" external () -> ptr";
    let body = "b0: %0 = call ptr f1()
        %1 = load ptr, %0
        %2 = address %1, 0, i64 p0 * 2
        %3 = load i16, %2
        %4 = zext i16 %3 to i64
        %5 = and i64 %4, 2048
        return %5";
    check(tables, body, ['7' as i128, 0], 2048);
    check(tables, body, ['x' as i128, 0], 0);
    check(tables, body, [-1, 0], 0);
}

#[test]
fn intrinsics_work_on_their_own_width() {
    for (name, signature, arguments, expected) in [
        ("bswap.i32", "i32", "i32 0x11223344", 0x4433_2211),
        ("ctpop.i32", "i32", "i32 -1", 32),
        ("ctlz.i32", "i32, i1", "i32 1, i1 0", 31),
        ("ctlz.i32", "i32, i1", "i32 0, i1 0", 32),
        ("cttz.i32", "i32, i1", "i32 8, i1 1", 3),
        ("abs.i32", "i32, i1", "i32 -5, i1 0", 5),
        ("smin.i32", "i32, i32", "i32 -5, i32 3", -5),
        ("umin.i32", "i32, i32", "i32 -5, i32 3", 3),
        ("fshl.i32", "i32, i32, i32", "i32 0x80000001, i32 0x40000000, i32 33", 2),
        ("fshr.i32", "i32, i32, i32", "i32 1, i32 4, i32 1", -0x7fff_fffe),
    ] {
        let tables = format!("function f1 \"llvm.{name}\" external ({signature}) -> i32");
        let body = format!("b0: %0 = call i32 f1({arguments})\n %1 = sext i32 %0 to i64\n return %1");
        assert_eq!(evaluate(&tables, &body, [0, 0]), End::Returned(Some(int(64, expected))), "{name}");
    }
}

#[test]
fn arithmetic_with_overflow_gives_a_record() {
    for (name, arguments, value, overflow) in [
        ("sadd", "i8 100, i8 100", -56, 1),
        ("sadd", "i8 100, i8 27", 127, 0),
        ("usub", "i8 1, i8 2", -1, 1),
        ("umul", "i8 16, i8 15", -16, 0),
        ("smul", "i8 -128, i8 -1", -128, 1),
    ] {
        let tables = format!(
            "record r0 size 2 {{ 0: i8, 1: i1 }}\nfunction f1 \"llvm.{name}.with.overflow.i8\" external (i8, i8) -> r0"
        );
        let body = format!(
            "b0: %0 = call r0 f1({arguments})
            %1 = extract i8, r0 %0, 0
            %2 = extract i1, r0 %0, 1
            %3 = sext i8 %1 to i64
            %4 = zext i1 %2 to i64
            %5 = mul i64 %3, 2
            %6 = add i64 %5, %4
            return %6"
        );
        assert_eq!(
            evaluate(&tables, &body, [0, 0]),
            End::Returned(Some(int(64, value * 2 + overflow))),
            "{name}"
        );
    }
}

#[test]
fn ends_of_a_process_are_told_apart() {
    let exit = "b0: %0 = call void f1(i32 3)\n unreachable";
    assert_eq!(evaluate("function f1 \"exit\" external (i32) -> void no_return", exit, [0, 0]), End::Exit(3));
    let abort = "b0: %0 = call void f1()\n unreachable";
    assert_eq!(evaluate("function f1 \"abort\" external () -> void no_return", abort, [0, 0]), End::Abort);
}

const SORT: &str = r#"
program pointer 64
global g0 "a" internal size 20 align 4 bytes "\x05\x00\x00\x00\x03\x00\x00\x00\x09\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00"
function f0 "f" internal (i64) -> i32 {
b0:
  %0 = call void f2(ptr g0, i64 5, i64 4, ptr f1)
  %1 = address g0, 0, i64 p0 * 4
  %2 = load i32, %1
  return %2
}
function f1 "compare" internal (ptr, ptr) -> i32 {
b0:
  %0 = load i32, p0
  %1 = load i32, p1
  %2 = sub i32 %0, %1
  return %2
}
function f2 "qsort" external (ptr, i64, i64, ptr) -> void
"#;

#[test]
fn qsort_calls_back_and_sorts() {
    for (index, expected) in [1, 3, 4, 5, 9].into_iter().enumerate() {
        assert_eq!(run(SORT, &[int(64, index as i128)]).end, End::Returned(Some(int(32, expected))));
    }
}

#[test]
fn cells_take_their_values_from_the_inputs() {
    let program = program(
        r#"program pointer 64
function f0 "harness" internal () -> i32 generated {
b0:
  %0 = alloca 4 align 4
  %1 = store i32 -1, %0
  %2 = call void f1(i64 7, ptr %0, i32 1, i32 8)
  %3 = call void f1(i64 9, ptr %0, i32 4, i32 32)
  %4 = load i32, %0
  return %4
}
function f1 "__quarry_cell" external (i64, ptr, i32, i32) -> void"#,
    );
    let mut interpreter = Interpreter::new(&program, LIMITS);
    assert_eq!(interpreter.run(FunctionId(0), &[]).end, End::Returned(Some(int(32, -1))));
    interpreter.set_inputs(BTreeMap::from([(7, 0x12)]));
    assert_eq!(interpreter.run(FunctionId(0), &[]).end, End::Returned(Some(int(32, 0xffff_ff12))));
    interpreter.set_inputs(BTreeMap::from([(7, 0x12), (9, 5)]));
    assert_eq!(interpreter.run(FunctionId(0), &[]).end, End::Returned(Some(int(32, 5))));
}

/// Everything that happens, as text.
#[derive(Default)]
struct Transcript(Vec<String>);

impl Observer for Transcript {
    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.0.push(format!("{function} {block}"));
    }
    fn condition(&mut self, condition: model::ConditionId, outcome: bool) {
        self.0.push(format!("{condition} {outcome}"));
    }
    fn branch(&mut self, at: CodeLocation, taken: bool, decided: bool) {
        self.0.push(format!("branch {at} {taken} {decided}"));
    }
    fn switch(&mut self, at: CodeLocation, case: usize) {
        self.0.push(format!("switch {at} {case}"));
    }
    fn load(&mut self, at: CodeLocation, _address: u64, size: u64) {
        self.0.push(format!("load {at} {size}"));
    }
    fn store(&mut self, at: CodeLocation, _address: u64, size: u64) {
        self.0.push(format!("store {at} {size}"));
    }
}

#[test]
fn observers_see_events_in_program_order() {
    let program = program(include_str!("texts/classify.quarry"));
    let mut transcript = Transcript::default();
    let arguments = [int(32, 7), int(1, 0)];
    let outcome = Interpreter::new(&program, LIMITS).run_observed(FunctionId(0), &arguments, &mut transcript);
    assert_eq!(outcome.end, End::Returned(Some(int(32, 7))));
    let expected = [
        "f0 b0",
        "store f0 b0 %1 4",
        "load f0 b0 %2 4",
        "c0 true",
        "branch f0 b0 true true",
        "f0 b1",
        "c1 false",
        "branch f0 b1 false true",
        "f0 b2",
        "c2 true",
        "branch f0 b2 false true",
        "f0 b4",
    ];
    assert_eq!(transcript.0, expected);
}

/// The blocks of a run, as the interpreter entered them or as a walk recovers them.
#[derive(Default)]
struct Blocks {
    entered: Vec<(FunctionId, BlockId)>,
    log: PathLog,
}

impl Observer for Blocks {
    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.entered.push((function, block));
    }
    fn condition(&mut self, condition: model::ConditionId, outcome: bool) {
        self.log.condition(condition, outcome);
    }
    fn branch(&mut self, at: CodeLocation, taken: bool, decided: bool) {
        self.log.branch(at, taken, decided);
    }
    fn switch(&mut self, at: CodeLocation, case: usize) {
        self.log.switch(at, case);
    }
    fn callee(&mut self, at: CodeLocation, function: Option<FunctionId>) {
        self.log.callee(at, function);
    }
    fn callback(&mut self, function: FunctionId) {
        self.log.callback(function);
    }
}

impl Visitor<()> for Blocks {
    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.entered.push((function, block));
    }
}

fn check_walk(program: &Program, arguments: &[Value]) {
    let mut run = Blocks::default();
    let outcome = Interpreter::new(program, LIMITS).run_observed(FunctionId(0), arguments, &mut run);
    assert!(matches!(outcome.end, End::Returned(_)), "{:?}", outcome.end);
    let mut walked = Blocks::default();
    let entries = run.log.entries.iter().copied();
    walk(&Script::new(program, None), FunctionId(0), entries, Completeness::Complete, &mut walked)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(walked.entered, run.entered);
}

#[test]
fn walking_the_path_log_recovers_the_blocks_of_the_run() {
    check_walk(&program(FACTORIAL), &[int(64, 9)]);
    check_walk(&program(SORT), &[int(64, 2)]);
    let classify = program(include_str!("texts/classify.quarry"));
    for (a, b) in [(7, 0), (7, 1), (0, 0), (1, 1)] {
        check_walk(&classify, &[int(32, a), int(1, b)]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn random_programs_run_to_an_end_and_alike_each_time(seed: u64) {
        let program = support::program(seed);
        let limits = Limits { steps: 2000, memory: 1 << 16 };
        let interpreter = Interpreter::new(&program, limits);
        let mut first = Blocks::default();
        let mut second = Blocks::default();
        let outcome = interpreter.run_observed(FunctionId(0), &[], &mut first);
        prop_assert_eq!(&outcome, &interpreter.run_observed(FunctionId(0), &[], &mut second));
        prop_assert_eq!(first.entered, second.entered);
        prop_assert!(outcome.steps <= limits.steps);
    }
}
