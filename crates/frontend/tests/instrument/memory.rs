//! Accesses at addresses that depend on the input: tables, choices, bounds, and what is pinned after all.

use frontend::instrument::Mode;
use wire::{Event, Node, ObjectKind, Outside};

use crate::build::{Flags, instrumented};
use crate::evaluate::{check_predictions, self_check};
use crate::server::{Server, Trace};

const ROUNDS: usize = 60;

fn server(text: &str, flags: &Flags) -> (Server, crate::build::Program) {
    let program = instrumented(text, Mode::Symbolic, flags);
    (Server::start(&program.path), program)
}

fn count(trace: &Trace, is: fn(&Event) -> bool) -> usize {
    trace.events.iter().filter(|event| is(event)).count()
}

fn is_pin(event: &Event) -> bool {
    matches!(event, Event::Pin { .. } | Event::Pointer { .. })
}

fn is_bounds(event: &Event) -> bool {
    matches!(event, Event::Bounds { .. })
}

fn n_tables(trace: &Trace) -> usize {
    trace.nodes.iter().filter(|node| matches!(node, Node::Table { .. })).count()
}

/// Predictions hold between random inputs, and no access is pinned on the input of zeros.
fn check(n_keys: u64, text: &str) {
    check_with(n_keys, text, &Flags::default());
}

fn check_with(n_keys: u64, text: &str, flags: &Flags) {
    let (mut server, _program) = server(text, flags);
    let zeros: Vec<_> = (0..n_keys).map(|key| (key, 0)).collect();
    let trace = server.run(&zeros);
    self_check(&trace);
    assert_eq!(count(&trace, is_pin), 0, "{:?}", trace.events);
    assert!(n_tables(&trace) > 0);
    check_predictions(&mut server, n_keys, ROUNDS);
}

const MANY_KINDS: &str = r#"
    #include <stdlib.h>
    struct point { char tag; short x; long long y; unsigned flag : 3; };
    static const unsigned char bytes[40] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 200, 255 };
    static const signed char signs[16] = { -1, 1, -128, 127, 0, -5 };
    static struct point points[5] = { { 'a', -1, 10, 1 }, { 'b', 300, -20, 7 }, { 'c', 3, 1LL << 40, 0 } };
    static int grid[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } };
    static long computed[20];
    static _Bool truths[8] = { 1, 0, 0, 1, 1, 0, 1 };
    static int through(const int *p, unsigned n, unsigned i) { return p[i % n]; }
    void __quarry_harness(void) {
        unsigned i = 0, j = 0; signed char s = 0; CELL(0, i); CELL(1, j); CELL(2, s);
        for (int k = 0; k < 20; k++) computed[k] = k * k - 7;
        if (__q(0, bytes[i % 40] > 4)) ; if (__q(1, signs[i & 15] < 0)) ;
        if (__q(2, points[i % 5].x == 300)) ; if (__q(3, points[j % 5].y > 5)) ; if (__q(4, points[j % 5].flag == 7)) ;
        if (__q(5, grid[i % 3][j % 4] == 7)) ; if (__q(6, computed[j % 20] == 57)) ;
        int local[6] = { 9, 8, 7, 6, 5, (int)j }; if (__q(7, local[i % 6] == 5)) ;
        if (__q(8, through(local, 6, j) == 9)) ; if (__q(9, through(&grid[1][0], 4, j) == 8)) ;
        int *heap = malloc(7 * sizeof *heap); for (int k = 0; k < 7; k++) heap[k] = 3 * k;
        if (__q(10, through(heap + 1, 5, i) == 9)) ; if (__q(11, truths[i & 7])) ;
        const int *middle = &local[3]; if (__q(12, middle[(int)(j % 6) - 3] == 6)) ;
        if (__q(13, bytes[20 + s / 7] == 200)) ; if (__q(14, (bytes + i % 8)[j % 8] == 5)) ;
        free(heap);
    }"#;

#[test]
fn reads_of_every_kind_of_object_become_tables() {
    check(3, MANY_KINDS);
}

#[test]
fn reads_become_tables_in_32_bit_programs() {
    check_with(3, MANY_KINDS, &Flags { target: vec!["-m32".to_owned()], ..Flags::default() });
}

#[test]
fn entries_may_be_symbolic_and_change_between_reads() {
    check(
        4,
        r#"void __quarry_harness(void) {
            int v[4] = {0}; unsigned i = 0; for (int k = 0; k < 3; k++) CELL(k, v[k]); CELL(3, i);
            if (__q(0, v[i & 3] > 3)) ; v[1] += 5; if (__q(1, v[i & 3] == 8)) ; v[0] = 1; v[3] = v[0] + v[2];
            if (__q(2, v[i & 3] == v[(i + 1) & 3])) ;
            unsigned char *b = (unsigned char *)v; if (__q(3, b[i & 15] == 5)) ;
        }"#,
    );
}

#[test]
fn a_pointer_moved_by_an_input_still_reads_its_object() {
    check(
        3,
        r#"static int total(const unsigned char *p, const unsigned char *end) {
            int n = 0; while (__q(0, p < end)) { n += *p; p += 1 + (*p & 1); } return n; }
        void __quarry_harness(void) {
            unsigned char m[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }; CELL(0, m[0]); CELL(1, m[1]); unsigned n = 0; CELL(2, n);
            const unsigned char *p = m + (m[0] & 3); p += 2; if (__q(1, *p == 5)) ; if (__q(2, p[1] > 6)) ;
            if (__q(3, total(m + (n & 3), m + 6) > 9)) ;
        }"#,
    );
}

#[test]
fn small_objects_are_written_by_choice() {
    let text = r#"struct s { char c; int v; }; static struct s table[6];
        void __quarry_harness(void) {
            unsigned i = 0, j = 0; int x = 0; CELL(0, i); CELL(1, j); CELL(2, x);
            char seen[8] = {0}; seen[i & 7] = 1; seen[j & 7] += 2; table[i % 6].v = x; table[j % 6].c = (char)i;
            for (int k = 0; k < 8; k++) if (__q(0, seen[k] == 3)) ;
            for (int k = 0; k < 6; k++) { if (__q(1, table[k].v > 5)) ; if (__q(2, table[k].c == 2)) ; }
            if (__q(3, table[j % 6].v == 7)) ;
        }"#;
    check(3, text);
    check_with(3, text, &Flags { target: vec!["-m32".to_owned()], ..Flags::default() });
}

#[test]
fn constant_rows_are_made_once() {
    let text = r#"static const unsigned char class_of[256] = { [32] = 1, [48 ... 57] = 2 };
        void __quarry_harness(void) { unsigned char text[20] = {0}; int n = 0;
            for (int k = 0; k < 20; k++) CELL(k, text[k]);
            for (int k = 0; k < 20; k++) n += class_of[text[k]]; if (__q(0, n == 3)) ; }"#;
    let (mut server, _program) = server(text, &Flags::default());
    let trace = server.run(&[(0, 48)]);
    self_check(&trace);
    assert_eq!(n_tables(&trace), 20);
    assert!(trace.nodes.len() < 256 + 20 * 6, "{} nodes", trace.nodes.len());
    assert_eq!(count(&trace, is_bounds), 0, "a byte cannot leave a table of 256");
}

#[test]
fn objects_on_the_stack_are_known_after_jumps_and_with_sizes_of_run_time() {
    check(
        2,
        r#"#include <setjmp.h>
        static jmp_buf back;
        static int read(const int *p, unsigned i) { return p[i & 3]; }
        static void deep(int n) { int local[9]; local[0] = n; read(local, (unsigned)n); if (n == 0) longjmp(back, 1); deep(n - 1); }
        static int sized(unsigned n, unsigned i) { int sum = 0;
            for (unsigned k = 4; k < n; k++) { int v[k]; for (unsigned m = 0; m < k; m++) v[m] = (int)(m * k); sum += read(v, i); }
            return sum; }
        void __quarry_harness(void) {
            unsigned i = 0, j = 0; int mine[4] = { 4, 3, 2, 1 }; CELL(0, i); CELL(1, j);
            if (!setjmp(back)) deep(5);
            if (__q(0, read(mine, i) == 2)) ; if (__q(1, sized(7, j) == 30)) ; if (__q(2, read(mine, j) == 1)) ;
        }"#,
    );
}

#[test]
fn tables_of_the_library_are_known() {
    check(
        1,
        r#"#include <ctype.h>
        void __quarry_harness(void) { signed char c = 0; CELL(0, c);
            if (__q(0, ((*__ctype_b_loc())[(int)c] & (unsigned short)_ISalpha) != 0)) ;
            if (__q(1, (*__ctype_toupper_loc())[(int)c] == 'X')) ; }"#,
    );
}

#[test]
fn pointers_from_tables_are_pinned_and_what_they_point_to_is_read() {
    let text = r#"static const char *const names[4] = { "zero", "one", "two", "three" };
        void __quarry_harness(void) { unsigned i = 0, j = 0; CELL(0, i); CELL(1, j);
            const char *name = names[i & 3]; if (__q(0, name[j & 3] == 'e')) ; }"#;
    let (mut server, _program) = server(text, &Flags::default());
    let trace = server.run(&[(0, 2), (1, 1)]);
    self_check(&trace);
    assert!(matches!(trace.events[0], Event::Pointer { .. }), "{:?}", trace.events);
    assert_eq!((count(&trace, is_pin), n_tables(&trace)), (1, 2));
    check_predictions(&mut server, 2, ROUNDS);
}

#[test]
fn objects_with_too_many_entries_are_pinned_and_marked() {
    let text =
        "static int large[100000]; void __quarry_harness(void) { unsigned i = 0; CELL(0, i); large[7] = 1;
                if (__q(0, large[i % 100000] == 1)) ; }";
    let (mut server, _program) = server(text, &Flags::default());
    let trace = server.run(&[(0, 7)]);
    self_check(&trace);
    assert_eq!((count(&trace, is_pin), n_tables(&trace)), (1, 0));
    assert!(trace.header.marks.large_object);
    check_predictions(&mut server, 1, ROUNDS);
}

#[test]
fn memory_of_nobody_knows_what_is_pinned() {
    let text = "#include <stdlib.h>
        void __quarry_harness(void) { unsigned i = 0; CELL(0, i); int *p = malloc(64); p[3] = 5; free(p);
            if (__q(0, p[i & 7] == 5)) ; }";
    let (mut server, _program) = server(text, &Flags::default());
    let trace = server.run(&[(0, 1)]);
    self_check(&trace);
    assert_eq!((count(&trace, is_pin), n_tables(&trace)), (1, 0));
}

#[test]
fn sizes_are_pinned_and_bounds_of_such_blocks_hold_with_them() {
    let text = "#include <stdlib.h>
        #include <string.h>
        void __quarry_harness(void) { unsigned n = 0, i = 0; CELL(0, n); CELL(1, i); char from[16] = {0};
            char *p = malloc(n); memset(p, 1, n & 15); memcpy(p, from, n & 7); if (__q(0, i < n && p[i] == 1)) ; }";
    let (mut server, _program) = server(text, &Flags::default());
    let trace = server.run(&[(0, 15), (1, 9)]);
    self_check(&trace);
    assert_eq!(count(&trace, |event| matches!(event, Event::Size { .. })), 3);
    assert_eq!(count(&trace, |event| matches!(event, Event::Bounds { is_pinned: true, .. })), 1);
}

fn outside(text: &str, input: &[(u64, u64)]) -> Option<Outside> {
    let (mut server, _program) = server(text, &Flags::default());
    server.run(input).header.outside
}

#[test]
fn an_access_outside_of_its_object_is_told_with_its_place() {
    let text = "#include <stdlib.h>
        static int table[6], other[6]; static int get(int *p, int i) {
            return p[i]; }
        void __quarry_harness(void) { int i = 0, k = 0, local[4] = {0}; short *heap = malloc(10); CELL(0, i); CELL(1, k);
            switch (k) { case 0: local[1] = table[i]; break;
                case 1: get(other, i); break;
                case 2: get(local, i); break;
                case 3: heap[i] = 1; break; } }";
    let check = |k: u64, i: i64, expected: Option<(ObjectKind, u64, i64, u32, bool, u32)>| {
        let found = outside(text, &[(0, i.cast_unsigned()), (1, k)]);
        let expected = expected.map(|(object, size, offset, bytes, is_write, line)| Outside {
            object,
            size,
            offset,
            bytes,
            is_write,
            place: line,
        });
        assert_eq!(found, expected, "case {k}, index {i}");
    };
    check(0, 5, None);
    check(0, 6, Some((ObjectKind::Global, 24, 24, 4, false, 5)));
    check(0, -1, Some((ObjectKind::Global, 24, -4, 4, false, 5)));
    check(2, 3, None);
    check(2, 4, Some((ObjectKind::Local, 16, 16, 4, false, 3)));
    check(3, 4, None);
    check(3, 5, Some((ObjectKind::Heap, 10, 10, 2, true, 8)));
}

#[test]
fn a_pointer_belongs_to_the_object_it_was_computed_from() {
    let text = "#include <stdint.h>
        #include <stdlib.h>
        static char one[64], two[64], *kept; static void keep(char *p) { kept = p; }
        void __quarry_harness(void) { int n = 0, k = 0; char *a = malloc(24), *b = malloc(24); CELL(0, n); CELL(1, k);
            switch (k) { case 0: keep(two + 1 + n); kept -= 2; break;
                case 1: keep(b + n); kept -= 20; break;
                case 2: keep(one + 4 + n); keep(two + 4 + (kept - (one + 4))); kept -= 8; break;
                case 3: keep((char *)((uintptr_t)(two + 8) * 3 + n - (uintptr_t)(two + 8) * 2)); break;
                default: kept = a; }
            *kept = 1; }";
    let check = |k: u64, n: i64, expected: Option<(u64, i64)>| {
        let found = outside(text, &[(0, n.cast_unsigned()), (1, k)]);
        assert_eq!(found.map(|found| (found.size, found.offset)), expected, "case {k}, n is {n}");
    };
    // before the start lies another object, to which these accesses do not belong
    check(0, 1, None);
    check(0, 64, None);
    check(0, 0, Some((64, -1)));
    check(1, 20, None);
    check(1, 43, None);
    check(1, 19, Some((24, -1)));
    // a distance moves from one object to another
    check(2, 4, None);
    check(2, 67, None);
    check(2, 68, Some((64, 64)));
    // what was an integer is not judged
    check(3, 55, None);
    check(3, 56, None);
}

#[test]
fn a_pointer_between_two_objects_accuses_nobody() {
    let text = "static struct { int v[4]; } one; static int two[4];
        static int get(int *p, int i) { return p[i]; }
        void __quarry_harness(void) { int i = 0; CELL(0, i); one.v[0] = two[0]; get(one.v + 4, i - 4); get(two + 4, i - 4);
            get(one.v, i); get(two, i); }";
    assert_eq!(outside(text, &[(0, 3)]), None);
    assert_eq!(outside(text, &[(0, 0)]), None);
}
