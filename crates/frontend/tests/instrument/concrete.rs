//! Instrumented programs without a server behave as native ones.

use std::process::Command;

use frontend::instrument::Mode;
use model::GapKind;

use crate::build::{Flags, instrumented, native};

/// Output and exit status are those of the native program, in both modes.
fn check(text: &str) {
    check_with(text, &Flags::default());
}

fn check_with(text: &str, flags: &Flags) {
    let (expected, _dir) = native(text, flags);
    let expected = Command::new(&expected).args(["one", "two"]).output().expect("native program runs");
    for mode in [Mode::Symbolic, Mode::Fast] {
        let program = instrumented(text, mode, flags);
        let got =
            Command::new(&program.path).args(["one", "two"]).output().expect("instrumented program runs");
        assert_eq!(
            String::from_utf8_lossy(&got.stdout),
            String::from_utf8_lossy(&expected.stdout),
            "{mode:?}"
        );
        assert_eq!(got.status.code(), expected.status.code(), "{mode:?}: {:?}", got.status);
    }
}

#[test]
fn arguments_and_exit_code_of_main() {
    check(
        r#"#include <stdio.h>
        int main(int argc, char **argv, char **envp) { for (int i = 1; __q(0, i < argc); i++) puts(argv[i]);
            if (__q(1, envp[0] != 0)) puts("env"); return 40 + argc; }"#,
    );
}

/// Such a function is compiled apart from the rest, with as little effort as possible.
#[test]
fn a_function_too_large_to_be_optimised_behaves_the_same() {
    let branch = |n: u32| {
        let factor = n * 7 + 1;
        format!("if (__q({n}, (x = x * {factor}u + {n}) % 3 > {}u)) s += x; else s ^= {n};\n", n % 2)
    };
    let branches: String = (0..800).map(branch).collect();
    check(&format!(
        r#"#include <stdio.h>
        static int seen[4];
        static unsigned step(unsigned s) {{ static int n; for (int i = 0; i < 3; i++) s += seen[i] + n++; return s; }}
        static unsigned large(unsigned x) {{ unsigned s = 0; {branches}
            switch (s % 4) {{ case 0: seen[0]++; break; case 1: seen[1] += 2; break; default: seen[2]--; }}
            return step(s); }}
        int main(int argc, char **argv) {{ unsigned all = 0;
            for (unsigned i = 0; i < 5; i++) all = all * 31 + large(i + (unsigned)argc);
            printf("%u %d %d %d\n", all, seen[0], seen[1], seen[2]); return (int)(all % 100); }}"#
    ));
}

#[test]
fn exit_handlers_constructors_and_destructors() {
    check(
        r#"#include <stdio.h>
        #include <stdlib.h>
        static void bye(void) { puts("bye"); }
        __attribute__((constructor)) static void hello(void) { puts("hello"); }
        __attribute__((destructor)) static void last(void) { puts("last"); fflush(stdout); }
        int main(void) { atexit(bye); if (__q(0, getenv("NOT_THERE") == 0)) exit(3); return 1; }"#,
    );
}

#[test]
fn floating_point_complex_and_long_double() {
    let text = r#"#include <stdio.h>
        #include <math.h>
        #include <complex.h>
        static double mean(int n, const float *v) { double s = 0; for (int i = 0; __q(0, i < n); i++) s += v[i]; return s / n; }
        int main(void) { float v[] = { 1.5f, 2.25f, -3 }; long double l = 1.0L / 3; double complex z = 1 + 2 * I;
            z *= z; printf("%.6f %.10Lf %.3f %.3f %d\n", mean(3, v), l, creal(z), cimag(z), (int)sqrt(50.0));
            union { double d; unsigned long u; } u = { 2.5 }; printf("%lx\n", u.u); return __q(1, u.d > 2) ? 0 : 1; }"#;
    check_with(text, &Flags::link("-lm"));
}

#[test]
fn vectors_wide_integers_and_atomics() {
    check(
        r#"#include <stdio.h>
        #include <stdatomic.h>
        typedef int v4 __attribute__((vector_size(16)));
        static _Thread_local int counter = 5;
        int main(void) { v4 a = { 1, 2, 3, 4 }, b = a * a + 3; __int128 w = (__int128)1 << 100; w /= 7;
            unsigned __int128 x = w * 3; atomic_int n = 3; atomic_fetch_add(&n, 4); int want = 7;
            _Bool done = atomic_compare_exchange_strong(&n, &want, 9); counter += b[2];
            switch (w > 0 ? (__int128)1 << 90 : 2) { case (__int128)1 << 90: puts("wide"); break; default: puts("none"); }
            printf("%d %d %llx %llx %d %d %d\n", b[0], b[3], (unsigned long long)(w >> 64), (unsigned long long)x, n, done,
                   counter); return 0; }"#,
    );
}

#[test]
fn computed_goto_variable_length_arrays_and_statement_expressions() {
    check(
        r#"#include <stdio.h>
        #include <alloca.h>
        #include <string.h>
        static int machine(const char *code) { static void *ops[] = { &&add, &&dbl, &&end }; int acc = 1, pc = 0;
            goto *ops[code[pc++] - '0']; add: acc += 3; goto *ops[code[pc++] - '0']; dbl: acc *= 2;
            goto *ops[code[pc++] - '0']; end: return acc; }
        static int fill(int n) { int v[n][n]; int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) v[i][j] = i * j;
            char *p = alloca(n + 1); memset(p, 'x', n); p[n] = 0; for (int i = 0; i < n; i++) s += v[i][n - 1] + p[i];
            return s + ({ int t = n; t * t; }); }
        int main(void) { printf("%d %d %d\n", machine("00112"), fill(5), fill(20)); return 0; }"#,
    );
}

#[test]
fn variable_arguments_aliases_and_ifuncs() {
    check(
        r#"#include <stdarg.h>
        #include <stdio.h>
        static int sum(int n, ...) { va_list l, m; va_start(l, n); va_copy(m, l); int s = 0;
            for (int i = 0; __q(0, i < n); i++) s += va_arg(l, int); s += (int)va_arg(l, double); s += va_arg(m, int);
            va_end(l); va_end(m); return s; }
        int base(int x) { return x + 1; } int other(int x) __attribute__((alias("base")));
        static int fast(int x) { return x * 2; } static int (*choose(void))(int) { if (__q(1, 1)) return fast; return base; }
        int chosen(int x) __attribute__((ifunc("choose")));
        static int old(a, b) int a; char b; { return a + b; }
        int main(void) { char b[20]; snprintf(b, sizeof b, "%d-%s", sum(3, 1, 2, 3, 4.5), "x"); puts(b);
            int (*p)(int) = other; printf("%d %d %d %d\n", other(1), p(2), chosen(21), old(1, 2)); return 0; }"#,
    );
}

#[test]
fn inline_assembly_naked_functions_and_tail_calls() {
    check(
        r#"#include <stdio.h>
        static int asm_add(int a, int b) { int r; __asm__("addl %2, %0" : "=r"(r) : "0"(a), "r"(b) : "cc"); return r; }
        __attribute__((naked)) int seven(void) { __asm__("movl $7, %eax\n ret"); }
        static int jump(int x) { __asm__ goto("testl %0, %0\n jne %l1" : : "r"(x) : "cc" : nonzero); return 0; nonzero: return 1; }
        static int even(unsigned n); static int odd(unsigned n) { if (__q(0, n == 0)) return 0;
            __attribute__((musttail)) return even(n - 1); }
        static int even(unsigned n) { if (__q(1, n == 0)) return 1; __attribute__((musttail)) return odd(n - 1); }
        int main(void) { printf("%d %d %d%d %d\n", asm_add(2, 3), seven(), jump(0), jump(5), even(3000001)); return 0; }"#,
    );
}

#[test]
fn setjmp_signals_and_callbacks() {
    check(
        r#"#include <setjmp.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        static jmp_buf env; static volatile sig_atomic_t seen;
        static void handler(int s) { seen += s == SIGUSR1 ? 1 : 100; }
        static void deep(int n) { if (__q(0, n == 0)) longjmp(env, 7); deep(n - 1); }
        static int down(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
        int main(void) { volatile int tries = 0; int got = setjmp(env); tries++; if (__q(1, tries < 3)) deep(tries);
            signal(SIGUSR1, handler); raise(SIGUSR1); raise(SIGUSR1); int v[] = { 3, 9, 1, 4 }; qsort(v, 4, 4, down);
            printf("%d %d %d %d%d%d%d\n", got, tries, seen, v[0], v[1], v[2], v[3]); return 0; }"#,
    );
}

#[test]
fn structures_unions_and_bit_fields() {
    check(
        r#"#include <stdio.h>
        #include <string.h>
        struct big { long a[5]; char t; }; struct mixed { float f; int i; double d; }; struct bits { int a : 5; unsigned b : 11; };
        static struct big make(int k) { struct big b = { { k, k + 1 }, 'a' + k }; return b; }
        static long use(struct big b, struct mixed m, struct bits s) { b.a[0] += 2; return b.a[0] + b.a[1] + b.t + m.i + (int)m.d + s.a + s.b; }
        int main(void) { struct mixed m = { 1.5, 2, 3.5 }; struct bits s = { -3, 1000 }; struct big b = make(4), c; memcpy(&c, &b, sizeof c);
            printf("%ld %ld %d\n", use(b, m, s), use(make(1), m, s), memcmp(&b, &c, sizeof b)); return 0; }"#,
    );
}

#[test]
fn a_program_may_define_library_functions_itself() {
    check(
        r#"#include <stddef.h>
        #include <stdio.h>
        void *memcpy(void *to, const void *from, size_t n) { char *t = to; const char *f = from; while (__q(0, n-- != 0)) *t++ = *f++; return to; }
        size_t strlen(const char *s) { size_t n = 0; while (__q(1, s[n] != 0)) n++; return n; }
        int q_new(int x) { return x + 1; }
        int main(void) { char b[32]; struct { char c[40]; } x = { "struct" }, y; y = x; memcpy(b, y.c, 7);
            printf("%s %zu %d\n", b, strlen(b), q_new(1)); return 0; }"#,
    );
}

#[test]
fn undefined_symbols_return_zero_and_are_named() {
    let text = r#"int missing(int); extern int absent[8]; double lost(void);
        int main(void) { return missing(3) + absent[5] + (int)lost() + 9; }"#;
    let program = instrumented(text, Mode::Fast, &Flags::default());
    let names: Vec<_> =
        program.gaps.iter().filter(|g| g.kind == GapKind::UndefinedSymbol).map(|g| g.what.as_str()).collect();
    assert_eq!(names, ["absent", "lost", "missing"]);
    let status = Command::new(&program.path).status().expect("runs");
    assert_eq!(status.code(), Some(9));
}

#[test]
fn what_is_not_followed_is_named_with_its_function() {
    let text = r#"#include <stdarg.h>
        static long double f(int x) { return x * 0.5L; }
        static int g(int x) { int r; __asm__("movl %1, %0" : "=r"(r) : "r"(x)); return r; }
        static int h(int n, ...) { return n; }
        __attribute__((naked)) int seven(void) { __asm__("movl $7, %eax\n ret"); }
        int main(int argc, char **argv) { return (int)f(argc) + g(argc) + h(1, (long double)argc) + seven(); }"#;
    let program = instrumented(text, Mode::Symbolic, &Flags::default());
    let has =
        |kind, function: &str| program.gaps.iter().any(|gap| gap.kind == kind && gap.function == function);
    assert!(has(GapKind::FloatingPoint, "f"));
    assert!(has(GapKind::InlineAssembly, "g"));
    assert!(has(GapKind::InlineAssembly, "seven"));
    assert!(has(GapKind::VariableArguments, "main"));
}

#[test]
fn thirty_two_bit_programs_run() {
    let flags = Flags { target: vec!["-m32".to_owned()], ..Flags::default() };
    check_with(
        r#"#include <stdio.h>
        #include <stdlib.h>
        struct s { long long a; int b[7]; };
        static long long f(struct s s, int (*g)(int)) { return s.a * g(s.b[3]); } static int twice(int x) { return 2 * x; }
        int main(int argc, char **argv) { struct s s = { 1LL << 33, { 0, 0, 0, 21 } }; long long *p = malloc(16); p[1] = f(s, twice);
            printf("%lld %d %s\n", p[1], (int)sizeof p, argv[argc - 1]); return 5; }"#,
        &flags,
    );
}
