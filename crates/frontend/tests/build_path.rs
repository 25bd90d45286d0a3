//! Model and binary agree: what a run logs, walked through the model, is a whole path from the root to its return.

#[path = "instrument/server.rs"]
#[expect(dead_code, reason = "this client of the fork server also serves the instrumentation's tests")]
mod server;

use std::{path::Path, process::Command};

use frontend::{
    build::{Built, Request, build},
    instrument::Mode,
    mark::{MarkOptions, mark},
    sources::Sources,
};
use model::{
    BlockId, Callee, FunctionId, GlobalId, Linkage, MemoryOp, Op, Operand, Program, Type,
    walk::{Completeness, Entry, Script, Visitor, WalkEnd, Watch, Watched, walk},
};
use server::Server;
use wire::{Event, Flags};

/// Builds the program in both modes.
fn built(directory: &Path, text: &str, flags: &[&str], watch: fn(&Program) -> Watch) -> Built {
    let file = directory.join("program.c");
    std::fs::write(&file, text).expect("the test's file");
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let sources = Sources { files: vec![file], flags: flags.clone(), ..Sources::below(directory) };
    let options = MarkOptions {
        root: directory.to_owned(),
        directory: "marked".into(),
        rename_main: false,
        cache: None,
    };
    let marks = mark(&sources.commands().expect("readable sources"), &options).expect("markable sources");
    let request = Request {
        marks: &marks,
        units: None,
        harness: None,
        stubs: &std::collections::BTreeMap::new(),
        work_dir: &directory.join("work"),
        cache: &test_cache(),
        link_flags: &flags.into_iter().filter(|flag| flag == "-m32").collect::<Vec<_>>(),
        modes: &[Mode::Fast, Mode::Symbolic],
        watch,
        free_of_input: |_| Default::default(),
    };
    let built = build(&request).expect("a program that builds");
    assert_eq!(model::verify(&built.lowered.program), []);
    built
}

/// Every address there is.
fn everything(program: &Program) -> Watch {
    let mut watch = Watch::default();
    for (global, id) in program.globals.iter().zip((0..).map(GlobalId)) {
        let is_plain = !global.name.starts_with("__quarry_") && !global.name.starts_with("llvm.");
        if is_plain && global.linkage != Linkage::External {
            watch.globals.push(id);
        }
    }
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        for &instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            let what = match &function.instr(instr).op {
                Op::Alloca { .. } => vec![Watched::Variable],
                Op::Load { .. } => vec![Watched::From],
                Op::Store { .. } => vec![Watched::To],
                // the copy of a structure passed by value is the call's
                Op::Memory { from: Operand::Parameter(_), .. } => Vec::new(),
                Op::Memory { op: MemoryOp::Copy | MemoryOp::Move, .. } => vec![Watched::From, Watched::To],
                Op::Memory { op: MemoryOp::Set, .. } => vec![Watched::To],
                Op::Call { callee: Callee::Direct(_), arguments } => {
                    let pointers = arguments.iter().zip(0..).filter(|((ty, _), _)| *ty == Type::Ptr);
                    pointers.map(|(_, number)| Watched::Argument(number)).collect()
                }
                _ => Vec::new(),
            };
            if !what.is_empty() {
                watch.instrs.insert((id, instr), what);
            }
        }
    }
    watch
}

fn entry(event: Event) -> Option<Entry<()>> {
    let function = |number: u64| FunctionId(u32::try_from(number).expect("a function's number"));
    match event {
        Event::Outcome { taken, .. } => Some(Entry::Outcome { taken, payload: () }),
        Event::Switch { case, .. } => Some(Entry::Switch { case, payload: () }),
        Event::Callee { function: to } => Some(Entry::Callee { function: to.map(function) }),
        Event::Callback { function: to } => Some(Entry::Callback { function: function(to) }),
        Event::Setjmp { activation } => Some(Entry::Setjmp { activation }),
        Event::Address { address, size } => Some(Entry::Address { address, size }),
        Event::Jump { successor } => Some(Entry::Jump { successor }),
        Event::Pin { .. }
        | Event::Pointer { .. }
        | Event::Size { .. }
        | Event::Unfollowed { .. }
        | Event::Outside
        | Event::Assume { .. }
        | Event::Bounds { .. }
        | Event::Prefer { .. } => None,
    }
}

#[derive(Default)]
struct Blocks(Vec<(FunctionId, BlockId)>);

impl Visitor<()> for Blocks {
    fn block(&mut self, function: FunctionId, block: BlockId) {
        self.0.push((function, block));
    }
}

/// Runs each binary and walks its log; the paths of both must be the same.
fn check_with(text: &str, flags: &[&str], expected: fn(WalkEnd) -> bool) {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let built = built(directory.path(), text, flags, everything);
    for addresses in [false, true] {
        let program = &built.lowered.program;
        let watch = everything(program);
        let script = Script::new(program, addresses.then_some(&watch));
        let root = program.root.expect("a program has a main");
        let paths = built.binaries.iter().map(|(mode, binary)| {
            let mut server = Server::start(binary);
            server.flags = Flags { symbolic: *mode == Mode::Symbolic, addresses, alone: false };
            let trace = server.run(&[]);
            let mut path = Blocks::default();
            let entries = trace.events.into_iter().filter_map(entry);
            let end = walk(&script, root, entries, Completeness::Complete, &mut path);
            assert!(
                end.as_ref().is_ok_and(|end| expected(*end)),
                "{mode:?}, addresses {addresses}: {end:?}\n{}",
                model::text::print(program)
            );
            path.0
        });
        let paths: Vec<_> = paths.collect();
        assert!(paths[0] == paths[1], "both binaries take one path");
    }
}

fn check(text: &str) {
    check_with(text, &[], |end| end == WalkEnd::Returned);
}

#[test]
fn marks_decide_branches_and_values() {
    check(
        "int f(int a, int b) { int r = (a > 1 && b) || !a; if (!(a && !(b > 2))) r += 2; return r ? a ?: b : b; }
         int main(void) { int s = 0; for (int i = -3; i < 4; i++) for (int j = 0; j < 5; j++) s += f(i, j); return s & 1; }",
    );
}

/// Optimised code and code that is not stand in objects of their own, and share what is known to one unit alone.
#[test]
fn functions_too_large_to_optimise_take_the_same_path() {
    let branch =
        |n: usize| format!("if (v[{}] > {}) s += next(); else s ^= seen[{}];\n", n % 7, n % 11, n % 3);
    let branches: String = (0..900).map(branch).collect();
    check(&format!(
        "#include <string.h>
         static int count; static int seen[3] = {{ 1, 2, 3 }}; static const char *const name = \"name\";
         static int next(void) {{ static int calls; return ++calls % 3 ? ++count : -1; }}
         static int large(const int *v) {{ int s = 0; {branches} return s; }}
         static int small(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += seen[i % 3] > 1; return s; }}
         int main(void) {{
           int (*called)(const int *) = large; int v[7]; int s = 0;
           for (int i = 0; i < 4; i++) {{
             for (int k = 0; k < 7; k++) v[k] = i * k + count % 5;
             s += called(v) + small(i) + (strlen(name) == 4); seen[i % 3]++;
           }}
           return s & 1;
         }}"
    ));
}

#[test]
fn switches_ranges_and_computed_gotos() {
    check(
        "int f(int x) {
           static void *const to[] = { &&zero, &&one };
           switch (x) { case 1: x = 7; break; case 100 ... 900: x = 8; break; case -900 ... -100: return 3; }
           goto *to[x & 1];
           zero: return 5;
           one: return 6;
         }
         int main(void) { int s = 0; for (int i = -1000; i < 1000; i += 50) s += f(i) + f(i + 1); return s & 1; }",
    );
}

#[test]
fn indirect_calls_and_callbacks() {
    check(
        "#include <stdlib.h>
         static int up(const void *a, const void *b) { return *(int *)a < *(int *)b ? -1 : 1; }
         static int down(const void *a, const void *b) { return up(b, a); }
         static int twice(int a) { return 2 * a; }
         int apply(int (*f)(int), int a) { return a > 2 ? f(a) : f(-a); }
         int main(void) {
           int v[] = { 3, 1, 2, 9, 4 };
           for (int i = 0; i < 2; i++) qsort(v, 5, sizeof *v, i ? up : down);
           return apply(twice, v[0]) + apply(abs, v[4]) > 100;
         }",
    );
}

#[test]
fn setjmp_and_longjmp() {
    check(
        "#include <setjmp.h>
         static jmp_buf out;
         static void deep(int n) { if (n > 3) longjmp(out, n); deep(n + 1); }
         int main(void) { volatile int n = 0; int r = setjmp(out); if (r && n++ > 1) return 0; deep(r ? 2 : 0); return 1; }",
    );
}

#[test]
fn exits_end_the_path_at_their_call() {
    let text = "#include <stdlib.h>
         static void leave(int a) { if (a > 2) exit(0); }
         int main(void) { for (int i = 0;; i++) leave(i); }";
    check_with(text, &[], |end| matches!(end, WalkEnd::NoReturn(..)));
}

#[test]
fn stores_to_members_elements_and_structures_by_value() {
    check(
        "struct big { int a[20]; struct { char c; long l; } in; };
         static struct big g, *p = &g; static int table[4];
         static int change(struct big b, int i) { b.a[1] = i; b.in.l = 3; b.a[i] = 4; *&b = g; return b.a[i]; }
         struct big make(int i) { struct big b = { { 0 } }; b.a[i] = i; b.in.c = 1; return b; }
         int main(void) {
           struct big l = make(3); int i = 2, *q = &l.a[1];
           l.a[0] = 1; l.a[i] = 2; *q = 3; q[1] = 4; p->in.c = 5; p->a[i] = 6; g.a[2] = 7; table[3] = 8; table[i] = 9;
           *p = l; l = *p; p->in = l.in;
           __atomic_fetch_add(q, 1, 5); __atomic_store_n(&table[1], 1, 5);
           int seen = 5; __atomic_compare_exchange_n(q, &seen, 8, 0, 5, 5);
           return change(l, i) > 100;
         }",
    );
}

#[test]
fn variable_length_arrays_variable_arguments_and_threads_variables() {
    check(
        "#include <stdarg.h>
         static __thread int calls;
         static int sum(int n, ...) {
           va_list list; int s = 0; va_start(list, n);
           for (int i = 0; i < n; i++) s += va_arg(list, int);
           va_end(list); calls++; return s;
         }
         int main(void) { int n = sum(9, 1, 2, 3, 1, 2, 3, 1, 2, 3) - 10, v[n]; for (int i = 0; i < n; i++) v[i] = i;
           return v[n - 1] + calls < 0; }",
    );
}

#[test]
fn aliases_weak_functions_and_functions_left_as_they_are() {
    check(
        "static int log_(int a) { return a > 3 ? 1 : 2; }
         int real(int a) { return log_(a) + 1; } int other(int a) __attribute__((alias(\"real\")));
         __attribute__((weak)) int maybe(int a) { return a ? 3 : 4; }
         int jumps(int a) { __asm__ goto (\"\" : : \"r\"(a) : : out); return real(a); out: return 2; }
         int main(void) { return other(1) + maybe(2) + jumps(5) > 100; }",
    );
}

#[test]
fn thirty_two_bit_programs() {
    check_with(
        "struct s { long long a; char b[30]; } ; long f(struct s s, int i) { s.b[i] = 1; return s.a > 3 ? s.b[i] : 0; }
         int main(void) { struct s s = { 9 }; return f(s, 3) > 4; }",
        &["-m32"],
        |end| end == WalkEnd::Returned,
    );
}

#[test]
fn random_programs() {
    // csmith leaves a file where it runs.
    let directory = tempfile::tempdir().expect("a directory for csmith");
    for seed in 11..15_u32 {
        let mut csmith = Command::new("csmith");
        csmith.args(["--seed", &seed.to_string(), "--max-funcs", "4"]).current_dir(directory.path());
        let text = String::from_utf8(csmith.output().expect("csmith runs").stdout).expect("C text");
        check_with(&text, &["-I/usr/include/csmith"], |end| end == WalkEnd::Returned);
    }
}

/// What all tests share: the compiled runtime.
fn test_cache() -> cache::Cache {
    cache::Cache::open(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), cache::DEFAULT_LIMIT)
}
