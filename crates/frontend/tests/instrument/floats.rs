//! Expressions of floating-point arithmetic: between any two runs, what the first one's expressions predict of the second
//! happens. Bits of NaNs are not looked at: which NaN is computed is the compiler's choice.

use frontend::instrument::Mode;
use model::GapKind;
use wire::{Event, FloatOp, Node};

use crate::build::{Flags, instrumented};
use crate::evaluate::{check_prediction, self_check};
use crate::server::Server;

const PRELUDE: &str = "#define _GNU_SOURCE
    #include <math.h>
    #include <string.h>
    #include <stdint.h>
    static void integer(uint64_t r) { for (int i = 0; i < 64; i += 5) if (__q(1, r >> i & 1)) ;
        if (__q(2, r == 0)) ; if (__q(3, r < 100)) ; }
    static void single(float r) { uint32_t u; memcpy(&u, &r, 4); if (__q(4, r != r)) return;
        integer(u); if (__q(5, r > 1)) ; if (__q(6, r <= -0.5f)) ; }
    static void number(double r) { uint64_t u; memcpy(&u, &r, 8); if (__q(7, r != r)) return;
        integer(u); if (__q(8, r >= 10)) ; if (__q(9, r == 0.25)) ; }
    #define SEE(r) _Generic((r), float: single, double: number, default: integer)(r)
    ";

/// Numbers that are awkward to compute with, and others.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, width: u32) -> u64 {
        const AWKWARD: [f64; 24] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.5,
            -2.5,
            0.1,
            3.0,
            100.0,
            255.5,
            65_536.0,
            2_147_483_648.0,
            -2_147_483_648.5,
            4_294_967_295.5,
            9_223_372_036_854_775_808.0,
            1.8e19,
            1e300,
            5e-324,
            1e-40,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let random = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = match random % 4 {
            0 | 1 => AWKWARD[(random >> 8) as usize % AWKWARD.len()],
            2 => ((random >> 8) as i32 % 2000) as f64 / 8.0,
            _ => return if width == 32 { random >> 32 } else { random },
        };
        if width == 32 { u64::from((number as f32).to_bits()) } else { number.to_bits() }
    }
}

/// Predictions hold for a harness body over `a` and `b` of a type, and an integer `n`.
fn check(ty: &str, body: &str, flags: &Flags) {
    let text = format!(
        "{PRELUDE} typedef {ty} T;
         void __quarry_harness(void) {{ T a = 1, b = 1; int64_t n = 1; CELL(0, a); CELL(1, b); CELL(2, n); {body} }}"
    );
    let program = instrumented(&text, Mode::Symbolic, flags);
    let mut server = Server::start(&program.path);
    let width = if ty == "float" { 32 } else { 64 };
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut predicted = 0;
    for round in 0..80 {
        let integer = numbers.next(64) >> (round % 64);
        let first = [(0, numbers.next(width)), (1, numbers.next(width)), (2, integer)];
        let mut second = first;
        match round % 4 {
            0 => second[0].1 ^= 1 << (numbers.next(64) % 32),
            1 => second[1].1 = numbers.next(width),
            2 => second[2].1 = numbers.next(64),
            _ => second = [(0, numbers.next(width)), (1, numbers.next(width)), (2, numbers.next(64))],
        }
        predicted += check_prediction(&mut server, &first, &second);
    }
    assert!(predicted > 0, "no event was ever predicted");
}

fn check_each(expressions: &[&str], flags: &Flags) {
    let body: String = expressions.iter().map(|expression| format!("SEE({expression});\n")).collect();
    for ty in ["float", "double"] {
        check(ty, &body, flags);
    }
}

fn with_math() -> Flags {
    Flags::link("-lm")
}

const ARITHMETIC: [&str; 12] = [
    "a + b",
    "a - b",
    "a * b",
    "a / b",
    "-a",
    "a * a + b * (T)0.5",
    "(T)(a > b ? a : b)",
    "(float)a",
    "(double)b",
    "(T)(1 / a)",
    "(T)((float)a * (double)b)",
    "fmod(a, b)",
];

const COMPARISONS: [&str; 12] = [
    "(int)(a < b)",
    "(int)(a <= b)",
    "(int)(a > b)",
    "(int)(a >= b)",
    "(int)(a == b)",
    "(int)(a != b)",
    "(int)!(a < b)",
    "(int)isunordered(a, b)",
    "(int)islessgreater(a, b)",
    "(int)isgreater(a, b)",
    "(int)(a && !b)",
    "(int)(a == a)",
];

const CONVERSIONS: [&str; 18] = [
    "(signed char)a",
    "(unsigned char)a",
    "(short)a",
    "(unsigned short)a",
    "(int)a",
    "(unsigned)a",
    "(int64_t)a",
    "(uint64_t)a",
    "(T)n",
    "(T)(int)n",
    "(T)(unsigned)n",
    "(T)(uint64_t)n",
    "(T)(signed char)n",
    "(T)(unsigned short)n",
    "(float)(uint64_t)n",
    "(float)n",
    "(_Bool)a",
    "(int)a == a",
];

const FUNCTIONS: [&str; 34] = [
    "fabs(a)",
    "fabsf(a)",
    "sqrt(a)",
    "sqrtf(b)",
    "floor(a)",
    "floorf(a)",
    "ceil(a)",
    "ceilf(b)",
    "trunc(a)",
    "truncf(a)",
    "rint(a)",
    "rintf(a)",
    "nearbyint(a)",
    "round(a)",
    "roundf(a)",
    "roundeven(a)",
    "copysign(a, b)",
    "copysignf(a, b)",
    "fmin(a, b)",
    "fmax(a, b)",
    "fminf(a, b)",
    "fmaxf(b, a)",
    "fma(a, b, a)",
    "fmaf(a, b, b)",
    "fmodf(a, b)",
    "lround(a)",
    "llround(a)",
    "lrint(b)",
    "llrintf(a)",
    "__builtin_sqrt(a)",
    "__builtin_floor(b)",
    "a - floor(a / 3) * 3",
    "sin(a)",
    "pow(a, b)",
];

const CLASSES: [&str; 9] = [
    "(int)isnan(a)",
    "(int)isinf(a)",
    "(int)isfinite(a)",
    "(int)isnormal(a)",
    "(int)fpclassify(a)",
    "(int)(isnan(b) || signbit(b) != 0)",
    "(int)isinf(a * b)",
    "(int)isnormal(a * b)",
    "(int)isfinite(a + b)",
];

#[test]
fn arithmetic_on_numbers_is_followed() {
    check_each(&ARITHMETIC, &with_math());
}

#[test]
fn comparisons_of_numbers_are_followed() {
    check_each(&COMPARISONS, &with_math());
}

#[test]
fn conversions_between_numbers_and_integers_are_followed() {
    check_each(&CONVERSIONS, &with_math());
}

#[test]
fn functions_of_numbers_are_followed() {
    check_each(&FUNCTIONS, &with_math());
}

#[test]
fn classes_of_numbers_are_followed() {
    check_each(&CLASSES, &with_math());
    let negative = "SEE((int)__builtin_isfpclass(a, 0x2a)); SEE((int)__builtin_isfpclass(b, 0x195));";
    check("double", negative, &with_math());
}

#[test]
fn numbers_on_32_bits_are_followed_with_sse2() {
    for target in [&["-m32", "-msse2"][..], &["-m32"]] {
        let target: Vec<String> = target.iter().map(|flag| (*flag).to_owned()).collect();
        let asks_for_x87 = target.len() == 1;
        let flags = Flags { target, ..with_math() };
        check_each(&["a * a + b * (T)0.5", "a / b - (T)n", "(int)(a < b)", "fmin(a, b)", "(int)a"], &flags);
        let text = "void __quarry_harness(void) { double a = 1; CELL(0, a); if (__q(0, a * 2 > 3)) ; }";
        let program = instrumented(text, Mode::Symbolic, &flags);
        let is_gap = program.gaps.iter().any(|gap| gap.kind == GapKind::FloatingPoint);
        assert_eq!(
            is_gap, asks_for_x87,
            "another rounding than the flags ask for is said: {:?}",
            program.gaps
        );
    }
}

#[test]
fn numbers_in_structures_arguments_and_results_are_followed() {
    let body = "SEE(norm((struct pair){ a, b })); SEE(shift((struct three){ a, b, 3 }, 2).z);
        SEE(swap((struct mixed){ a, n, b }).d); SEE(half(a)); double v[3] = { a, b, 0 }; v[2] = v[0] * v[1];
        SEE(v[2]); union { double d; uint64_t u; } u = { v[0] }; SEE(u.u >> 52); u.u &= ~(1ull << 63); SEE(u.d);";
    let functions = "struct pair { float x, y; }; struct three { float x, y, z; };
        struct mixed { float f; int i; double d; };
        static float norm(struct pair p) { return p.x * p.x + p.y; }
        static struct pair turn(struct pair p) { struct pair r = { p.y, -p.x }; return r; }
        static struct three shift(struct three t, float by) { struct pair p = turn((struct pair){ t.x, t.y });
            t.x = p.x; t.z += p.y + by; return t; }
        static struct mixed swap(struct mixed m) { double d = m.d; m.d = m.f + m.i; m.f = d; return m; }
        static double half(double x) { return x / 2; }";
    let text = format!(
        "{PRELUDE} {functions}
         void __quarry_harness(void) {{ double a = 1, b = 1; int64_t n = 1; CELL(0, a); CELL(1, b); CELL(2, n); {body} }}"
    );
    let program = instrumented(&text, Mode::Symbolic, &with_math());
    let mut server = Server::start(&program.path);
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    for _ in 0..40 {
        let [first, second] =
            [0, 1].map(|_| [(0, numbers.next(64)), (1, numbers.next(64)), (2, numbers.next(64))]);
        check_prediction(&mut server, &first, &second);
    }
    let trace = server.run(&[(0, 2.5_f64.to_bits()), (1, 3.0_f64.to_bits()), (2, 4)]);
    assert!(!trace.events.iter().any(|event| matches!(event, Event::Pin { .. })), "nothing is concrete");
    assert!(program.gaps.is_empty(), "{:?}", program.gaps);
}

#[test]
fn a_nan_with_another_payload_is_still_explained() {
    let text =
        "void __quarry_harness(void) { double a = 1; unsigned long u; CELL(0, a); double r = a * 2 + 1;
                __builtin_memcpy(&u, &r, 8); if (__q(0, u >> 63)) ; if (__q(1, (u & 0xffff) == 0x1234)) ; }";
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let mut server = Server::start(&program.path);
    for bits in [0x7ff8_0000_0000_1234, 0xfff0_0000_0000_1234, 0x7ff0_0000_0000_0000] {
        self_check(&server.run(&[(0, bits)]));
    }
}

#[test]
fn another_rounding_mode_makes_the_rest_concrete() {
    let text =
        "#include <fenv.h>\nvoid __quarry_harness(void) { double a = 1; CELL(0, a); fesetround(FE_UPWARD);
                double r = a / 3; if (__q(0, r * 3 > a)) ; }";
    let program = instrumented(text, Mode::Symbolic, &with_math());
    let trace = Server::start(&program.path).run(&[(0, 1.0_f64.to_bits())]);
    self_check(&trace);
    assert!(trace.events.iter().any(|event| matches!(event, Event::Pin { .. })));
    let quotient = |node: &Node| matches!(node, Node::FloatBinary { op: FloatOp::Div | FloatOp::Mul, .. });
    assert!(!trace.nodes.iter().any(quotient), "{:?}", trace.nodes);
}

#[test]
fn long_double_is_a_gap_and_pinned() {
    let text = "void __quarry_harness(void) { double a = 1; CELL(0, a); long double l = a; if (__q(0, l * 2 > 3)) ; }";
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let trace = Server::start(&program.path).run(&[(0, 1.0_f64.to_bits())]);
    assert!(trace.events.iter().any(|event| matches!(event, Event::Pin { .. })));
    assert!(program.gaps.iter().any(|gap| gap.kind == GapKind::FloatingPoint), "{:?}", program.gaps);
}

#[test]
fn a_function_that_nobody_knows_is_opaque_and_its_argument_pinned() {
    let text = "#include <math.h>\nvoid __quarry_harness(void) { double a = 1; CELL(0, a); if (__q(0, sin(a) > 0.5)) ; }";
    let program = instrumented(text, Mode::Symbolic, &with_math());
    let trace = Server::start(&program.path).run(&[(0, 1.0_f64.to_bits())]);
    self_check(&trace);
    assert!(trace.nodes.iter().any(|node| matches!(node, Node::Opaque { width: 64, b: None, .. })));
    assert!(trace.events.iter().any(|event| matches!(event, Event::Outcome { taken: true, node: Some(_) })));
    assert!(trace.events.iter().any(|event| matches!(event, Event::Pin { .. })));
}
