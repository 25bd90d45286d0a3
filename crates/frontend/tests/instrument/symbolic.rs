//! Expressions: what each operator, cast, access and call contributes.

use frontend::instrument::Mode;
use model::input::Key;
use wire::Event;

use crate::build::{Flags, instrumented};
use crate::evaluate::{check_predictions, self_check};
use crate::server::Server;

const ROUNDS: usize = 60;

/// Predictions hold between random inputs of a harness that reads cells `0..n_keys`.
fn check(n_keys: u64, text: &str) {
    check_with(n_keys, text, &Flags::default());
}

fn check_with(n_keys: u64, text: &str, flags: &Flags) {
    let program = instrumented(text, Mode::Symbolic, flags);
    let mut server = Server::start(&program.path);
    check_predictions(&mut server, n_keys, ROUNDS);
}

/// Bits of the results of `expressions` over `a` and `b` become outcomes.
fn check_operators(ty: &str, expressions: &[&str]) {
    let body: String = expressions
        .iter()
        .map(|e| format!("{{ unsigned long long r = (unsigned long long)({e}); bits(r); }}\n"))
        .collect();
    let text = format!(
        "#include <stdlib.h>
         typedef {ty} T;
         static void bits(unsigned long long r) {{
             for (int i = 0; i < 64; i += 7) if (__q(1, r >> i & 1)) ;
             if (__q(2, r == 0)) ; if (__q(3, r < 100)) ; }}
         void __quarry_harness(void) {{ T a = 1, b = 1; CELL(0, a); CELL(1, b); {body} }}"
    );
    check(2, &text);
}

const OPERATORS: [&str; 16] = [
    "a + b",
    "a - b",
    "a * b",
    "a & b",
    "a | b",
    "a ^ b",
    "~a",
    "-b",
    "!a",
    "a < b",
    "a <= b",
    "a == b",
    "a != b",
    "a > b ? a : b",
    "(T)(a * 3 + 5) >= b",
    "(a && b) + (a || b)",
];

#[test]
fn operators_of_every_integer_type_are_followed() {
    for ty in [
        "signed char",
        "unsigned char",
        "short",
        "unsigned short",
        "int",
        "unsigned",
        "long",
        "unsigned long",
    ] {
        check_operators(ty, &OPERATORS);
    }
}

#[test]
fn division_assumes_what_does_not_trap() {
    for ty in ["unsigned char", "short", "unsigned", "unsigned long"] {
        check_operators(
            ty,
            &["b ? a / b : 0", "b ? a % b : 0", "a / (T)7", "a % (T)10", "(T)100 / (T)(b | 1)"],
        );
    }
    check_operators("int", &["b && b != -1 ? a / b : 0", "b && b != -1 ? a % b : 0", "a / -3"]);
    let text = "void __quarry_harness(void) { int a = 7, b = 2; CELL(0, a); CELL(1, b);
                if (__q(0, a / b == 3)) ; if (__q(1, a % b == 1)) ; }";
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let trace = Server::start(&program.path).run(&[(0, 7), (1, 2)]);
    self_check(&trace);
    assert!(trace.events.iter().any(|event| matches!(event, Event::Assume { .. })));
}

#[test]
fn shifts_assume_an_amount_in_range() {
    for ty in ["unsigned char", "int", "unsigned", "long", "unsigned long"] {
        check_operators(ty, &["a << (b & 7)", "a >> (b & 7)", "(T)1 << (b & 7)", "a << 3", "a >> 5"]);
    }
    check_operators("unsigned", &["a << b", "a >> b"]);
}

#[test]
fn casts_between_widths_are_followed() {
    let casts = [
        "(signed char)a",
        "(unsigned char)b",
        "(short)a",
        "(unsigned short)(a + b)",
        "(int)a",
        "(long)(int)b",
        "(unsigned long)(unsigned)a",
        "(_Bool)a",
        "(unsigned long)(void *)(unsigned long)a",
        "(char *)(unsigned long)a - (char *)(unsigned long)b",
    ];
    for ty in ["signed char", "unsigned short", "int", "long"] {
        check_operators(ty, &casts);
    }
}

#[test]
fn builtins_with_bits_are_followed() {
    check_operators(
        "unsigned",
        &[
            "__builtin_popcount(a)",
            "a ? __builtin_clz(a) : 32",
            "b ? __builtin_ctz(b) : 32",
            "__builtin_bswap32(a)",
            "__builtin_bswap16((unsigned short)a)",
            "__builtin_rotateleft32(a, b)",
            "__builtin_rotateright32(a, b & 15)",
            "__builtin_parity(a)",
            "__builtin_ffs(a)",
            "__builtin_expect(a > b, 1)",
            "abs((int)a)",
        ],
    );
    check_operators(
        "unsigned long",
        &["__builtin_popcountl(a)", "a ? __builtin_clzl(a) : 64", "__builtin_bswap64(a)"],
    );
}

#[test]
fn overflow_checks_are_followed() {
    for ty in ["int", "unsigned", "long", "unsigned long", "short", "unsigned char"] {
        check_operators(
            ty,
            &[
                "({ T r; __builtin_add_overflow(a, b, &r) * 2 + (r & 1); })",
                "({ T r; __builtin_sub_overflow(a, b, &r) * 2 + (r & 1); })",
                "({ T r; __builtin_mul_overflow(a, b, &r) * 2 + (r & 1); })",
            ],
        );
    }
}

#[test]
fn bytes_of_values_are_followed_through_unions_and_copies() {
    check(
        2,
        r#"#include <string.h>
        union u { unsigned long all; unsigned char byte[8]; unsigned short half[4]; struct { unsigned a, b; } two; };
        void __quarry_harness(void) {
            union u x; unsigned long v = 0; unsigned w = 0; CELL(0, v); CELL(1, w);
            x.all = v;
            for (int i = 0; i < 8; i++) if (__q(0, x.byte[i] > 100)) ;
            x.byte[2] = 7;
            if (__q(1, x.two.a == w)) ; if (__q(2, x.half[1] < 1800)) ; if (__q(3, x.all > v)) ;
            unsigned char copy[16]; memset(copy, (int)w, sizeof copy); memcpy(copy + 3, &x, 8);
            unsigned middle; memcpy(&middle, copy + 1, 4); if (__q(4, middle < 0x10000000)) ;
            memmove(copy + 1, copy, 12); memcpy(&middle, copy + 2, 4); if (__q(5, middle & 0x10000)) ;
            unsigned long odd; memcpy(&odd, copy + 5, 8); if (__q(6, odd % 3 == 1)) ;
        }"#,
    );
}

#[test]
fn structures_travel_by_value_in_registers_and_memory() {
    check(
        3,
        r#"struct small { int a; long b; }; struct big { int a[6]; char c; long d; };
        static struct small swap(struct small s) { struct small r = { (int)s.b, s.a }; return r; }
        struct big turn(struct big s, int k) { s.a[k & 3] += k; s.d ^= s.c; return s; }
        long sum(struct big s, struct small t) { return s.a[0] + s.a[3] + s.d + t.a * t.b; }
        void __quarry_harness(void) {
            struct small s = {0}; struct big b = {0}; CELL(0, s.a); CELL(1, s.b); CELL(2, b.a[3]); b.c = (char)s.a;
            s = swap(s); struct big (*f)(struct big, int) = turn; b = f(b, 3);
            if (__q(0, s.a < s.b)) ; if (__q(1, b.a[3] > 10)) ; if (__q(2, sum(b, s) % 5 == 0)) ; if (__q(3, b.d == 1)) ;
        }"#,
    );
}

#[test]
fn bit_fields_and_truth_values_are_followed() {
    check(
        3,
        r#"struct f { unsigned a : 3; int b : 5; unsigned long c : 40; _Bool d : 1; unsigned e : 17; };
        void __quarry_harness(void) {
            struct f f = {0}; unsigned x = 0; long y = 0; _Bool z = 0; CELL(0, x); CELL(1, y);
            __quarry_cell(2, &z, 1, 1);
            f.a = x; f.b = (int)y; f.c = (unsigned long)y; f.d = z; f.e = x >> 3;
            if (__q(0, f.a == 5)) ; if (__q(1, f.b < 0)) ; if (__q(2, f.c > 1000)) ; if (__q(3, f.d)) ; if (__q(4, f.e & 1)) ;
            if (__q(5, z)) ; _Bool n = !z; if (__q(6, n)) ; if (__q(7, z + f.a == 3)) ;
        }"#,
    );
}

#[test]
fn arrays_recursion_and_the_heap_are_followed() {
    check(
        4,
        r#"#include <stdlib.h>
        static int fib(int n) { if (__q(0, n < 2)) return n; return fib(n - 1) + fib(n - 2); }
        int global[4];
        void __quarry_harness(void) {
            int *h = malloc(4 * sizeof *h);
            for (int i = 0; i < 4; i++) { global[i] = i; CELL(i, global[i]); h[i] = global[3 - i]; }
            h = realloc(h, 4096 * sizeof *h);
            for (int i = 1; i < 4; i++)
                for (int j = i; j > 0 && __q(1, h[j - 1] > h[j]); j--) { int t = h[j]; h[j] = h[j - 1]; h[j - 1] = t; }
            if (__q(2, h[0] + h[3] == 10)) ; if (__q(3, fib(global[0] & 7) > 3)) ; free(h);
        }"#,
    );
}

#[test]
fn keys_of_parts_are_those_that_the_model_computes() {
    let text = r#"unsigned long long __quarry_part_key(unsigned long long object, unsigned long long index);
        void __quarry_harness(void) {
            int x = 0, y = 0;
            CELL(__quarry_part_key(3, 0), x);
            CELL(__quarry_part_key(__quarry_part_key(3, 1), 70000), y);
        }"#;
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let trace = Server::start(&program.path).run(&[]);
    let keys: Vec<u64> = trace.cells.iter().map(|cell| cell.key).collect();
    assert_eq!(keys, [Key(3).part(0).0, Key(3).part(1).part(70000).0]);
}

#[test]
fn callbacks_from_the_library_keep_shadows_of_memory() {
    let text = r#"#include <stdlib.h>
        static int order(const void *a, const void *b) { int x = *(int *)a, y = *(int *)b;
            return __q(0, x < y) ? -1 : __q(1, x > y) ? 1 : 0; }
        void __quarry_harness(void) { int v[3] = {0}; for (int i = 0; i < 3; i++) CELL(i, v[i]);
            qsort(v, 3, sizeof *v, order); if (__q(2, v[0] == 4)) ; }"#;
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let trace = Server::start(&program.path).run(&[(0, 4), (1, 9), (2, 5)]);
    self_check(&trace);
    let order = u64::from(program.numbers["order"]);
    let is_callback = |event: &Event| *event == Event::Callback { function: order };
    let first = trace.events.iter().position(is_callback).expect("a callback is logged");
    assert!(matches!(trace.events[first + 1], Event::Outcome { node: Some(_), .. }));
}

#[test]
fn switches_and_function_pointers_are_followed() {
    check(
        2,
        r#"typedef int (*op)(int, int);
        static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; }
        static int pick(int a, int b) { switch (a) { case 1: case 2: return b; case 1000000: return 7; case -5: return 8;
            case 3: b++; default: return b - a; } }
        void __quarry_harness(void) {
            op table[3] = { add, sub, pick }; int a = 0, b = 0; CELL(0, a); CELL(1, b);
            for (int i = 0; i < 3; i++) if (__q(0, table[i](a, b) > 3)) ;
            switch (b & 3) { case 0: break; case 1: if (__q(1, a == 1)) ; case 3: if (__q(2, a == 2)) ; }
        }"#,
    );
}

#[test]
fn selects_and_loops_are_followed() {
    check(
        2,
        r#"void __quarry_harness(void) { unsigned a = 0; int b = 0; CELL(0, a); CELL(1, b);
            unsigned n = 0; while (__q(0, a != 0)) { n += a & 1; a >>= 1; if (__q(1, n > 20)) break; }
            int m = b < 0 ? -1 : 1; m *= (b > 100) ? 2 : 3; if (__q(2, m == -3)) ; if (__q(3, m == 2)) ;
            for (int i = 0; __q(4, i < (b & 3)); i++) n++; if (__q(5, n % 2)) ; }"#,
    );
}

#[test]
fn an_address_written_to_in_a_large_object_is_pinned() {
    let text = "int t[256]; void __quarry_harness(void) { unsigned i = 0; CELL(0, i); t[i & 255] = 1;
                if (__q(0, t[i & 255] == 1)) ; if (__q(1, t[3])) ; }";
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let mut server = Server::start(&program.path);
    let trace = server.run(&[(0, 5)]);
    self_check(&trace);
    assert!(matches!(trace.events[0], Event::Pin { .. }));
    check_predictions(&mut server, 1, ROUNDS);
}

#[test]
fn bytes_written_by_the_library_are_concrete_and_marked() {
    let text = r#"#include <stdio.h>
        void __quarry_harness(void) { char b[8] = "x"; CELL(0, b); sprintf(b, "%d", 42); if (__q(0, b[0] == '4')) ; }"#;
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let mut server = Server::start(&program.path);
    let trace = server.run(&[(0, 0)]);
    let last = Event::Outcome { taken: true, node: None };
    assert_eq!(trace.events, [Event::Unfollowed { site: 1 }, last]);
    assert!(trace.header.marks.overwritten);
}

#[test]
fn thirty_two_bit_programs_are_followed() {
    let flags = Flags { target: vec!["-m32".to_owned()], ..Flags::default() };
    check_with(
        3,
        r#"#include <string.h>
        struct s { int a; long long b; char c[12]; };
        static long long f(struct s s, unsigned k) { return s.b * s.a + s.c[k % 4] ; }
        void __quarry_harness(void) { struct s s = {0}; unsigned k = 0; CELL(0, s.a); CELL(1, s.b); CELL(2, k);
            memcpy(s.c, &k, 4); if (__q(0, f(s, 2) > 100)) ; if (__q(1, s.b / 7 == 3)) ; if (__q(2, (int)s.b < s.a)) ; }"#,
        &flags,
    );
}
