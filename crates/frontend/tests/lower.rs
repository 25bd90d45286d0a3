//! C texts go through marking, clang and lowering; every program must verify and survive printing and parsing.

use std::path::PathBuf;

use expect_test::{Expect, expect};
use frontend::{
    build::{Request, build},
    lower::Lowered,
    mark::{MarkOptions, mark},
    sources::Sources,
};
use model::{
    Callee, Function, FunctionId, GapKind, Global, LabelValues, Op, Operand, Program, RangeTest,
    RelocationTarget, Storage, Terminator, Type, Variable, VariableKind,
};

fn lower_files(files: &[(&str, &str)], flags: &[&str], rename_main: bool) -> Lowered {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let write = |(name, text): &(&str, &str)| -> PathBuf {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("the test's file");
        path
    };
    let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let sources =
        Sources { files: files.iter().map(write).collect(), flags, ..Sources::below(directory.path()) };
    let options = MarkOptions {
        root: directory.path().to_owned(),
        directory: "marked".into(),
        rename_main,
        cache: None,
    };
    let marks = mark(&sources.commands().expect("readable sources"), &options).expect("markable sources");
    let request = Request {
        marks: &marks,
        units: None,
        harness: None,
        stubs: &std::collections::BTreeMap::new(),
        work_dir: directory.path(),
        cache: &test_cache(),
        link_flags: &[],
        modes: &[],
        watch: |_| model::walk::Watch::default(),
        free_of_input: |_| Default::default(),
    };
    let lowered = build(&request).expect("sources that build").lowered;
    assert_eq!(model::verify(&lowered.program), [], "the program is well formed");
    let printed = model::text::print(&lowered.program);
    assert_eq!(model::text::parse(&printed).as_ref(), Ok(&lowered.program), "the program survives its text");
    lowered
}

fn lower(text: &str) -> Program {
    lower_files(&[("test.c", text)], &[], false).program
}

fn function<'p>(program: &'p Program, name: &str) -> &'p Function {
    program.function(program.function_named(name).expect("the function is there"))
}

fn global<'p>(program: &'p Program, name: &str) -> &'p Global {
    program.globals.iter().find(|global| global.name == name).expect("the global is there")
}

fn variable<'p>(program: &'p Program, name: &str) -> &'p Variable {
    program.variables.iter().find(|variable| variable.name == name).expect("the variable is there")
}

fn line(program: &Program, span: model::SpanId) -> u32 {
    program.span(span).at.line
}

/// The code of one function, without positions.
fn check_code(text: &str, name: &str, expected: Expect) {
    let mut program = lower(text);
    let id = program.function_named(name).expect("the function is there");
    for function in &mut program.functions {
        function.span = None;
        function.instrs.iter_mut().for_each(|instr| instr.span = None);
        function.blocks.iter_mut().for_each(|block| block.span = None);
    }
    let printed = model::text::print(&program);
    let start = printed.find(&format!("function {id} ")).expect("the function is printed");
    let end = printed[start..].find("\n}\n").expect("the function ends") + start + 3;
    expected.assert_eq(&printed[start..end]);
}

#[test]
fn branches_follow_marks_and_their_negations() {
    check_code(
        "int f(int a, int b) { if (!(a > 3 && b)) return 1; return 2; }",
        "f",
        expect![[r#"
        function f0 "f" exported (i32, i32) -> i32 {
        b0:
          %0 = alloca 4 align 4
          %1 = alloca 4 align 4
          %2 = alloca 4 align 4
          %3 = store i32 p0, %1
          %4 = store i32 p1, %2
          %5 = load i32, %1
          %6 = compare sgt i32 %5, 3
          %7 = mark c0 %6
          branch %7, b1, b2 decided c0
        b1:
          %8 = load i32, %2
          %9 = compare ne i32 %8, 0
          %10 = mark c1 %9
          branch %10, b3, b2 decided c1
        b2:
          %11 = store i32 1, %0
          jump b4
        b3:
          %12 = store i32 2, %0
          jump b4
        b4:
          %13 = load i32, %0
          return %13
        }
    "#]],
    );
}

#[test]
fn a_boolean_value_is_a_phi_over_the_marks() {
    check_code(
        "_Bool f(int a, int b) { return a || b == 7; }",
        "f",
        expect![[r#"
        function f0 "f" exported (i32, i32) -> i1 {
        b0:
          %0 = alloca 4 align 4
          %1 = alloca 4 align 4
          %2 = store i32 p0, %0
          %3 = store i32 p1, %1
          %4 = load i32, %0
          %5 = compare ne i32 %4, 0
          %6 = mark c0 %5
          branch %6, b2, b1 decided c0
        b1:
          %7 = load i32, %1
          %8 = compare eq i32 %7, 7
          %9 = mark c1 %8
          jump b2
        b2:
          %10 = phi i1 [b0: 1], [b1: %9]
          return %10
        }
    "#]],
    );
}

#[test]
fn a_large_case_range_is_a_test_of_its_label() {
    let program = lower(
        "int f(int x) {
           switch (x) {
             case -1: return 1;
             case 100 ... 900: return 2;
             case -5000 ... -1000: return 3;
             default: return 4;
           }
         }",
    );
    let f = function(&program, "f");
    let mut tests = Vec::new();
    for block in &f.blocks {
        match &block.terminator {
            Terminator::Switch { cases, source, bits, .. } => {
                assert_eq!((cases.len(), *source, *bits), (1, Some(model::SwitchId(0)), 32));
                assert_eq!(cases[0].value, 0xffff_ffff);
            }
            Terminator::Branch { range: Some(RangeTest { switch, label }), decided, .. } => {
                assert_eq!(*decided, None);
                tests.push(program.switch(*switch).labels[*label as usize].values);
            }
            _ => {}
        }
    }
    let expected =
        [LabelValues::Range { low: 100, high: 900 }, LabelValues::Range { low: -5000, high: -1000 }];
    assert!(tests.len() == 2 && expected.iter().all(|range| tests.contains(range)), "{tests:?}");
}

#[test]
fn each_switch_instruction_finds_its_statement() {
    let program = lower(
        "#define SWITCH(v) switch (v) { case 1: return 1; case 2: return 2; }
         int f(int x, long y) { SWITCH(x) switch (y) { case 3: switch (x) { case 4: return 9; } } return 0; }",
    );
    let blocks = &function(&program, "f").blocks;
    let found: Vec<_> = blocks
        .iter()
        .filter_map(|block| match &block.terminator {
            Terminator::Switch { source, bits, .. } => source.map(|source| (source.0, *bits)),
            _ => None,
        })
        .collect();
    assert_eq!(found, [(0, 32), (1, 64), (2, 32)]);
}

#[test]
fn a_structure_passed_by_value_is_the_callees_own_copy() {
    let program = lower("struct s { int a[20]; }; int f(struct s p) { p.a[1] = 3; return p.a[1]; }");
    let f = function(&program, "f");
    let Storage::Stack(id, alloca) = variable(&program, "p").storage else {
        panic!("a parameter lives on the stack");
    };
    assert_eq!(program.function(id).name, "f");
    assert!(matches!(f.instr(alloca).op, Op::Alloca { size: 80, .. }));
    let copies = f.instrs.iter().filter(|instr| {
        matches!(instr.op, Op::Memory { to: Operand::Result(to), from: Operand::Parameter(0), .. } if to == alloca)
    });
    assert_eq!(copies.count(), 1);
}

#[test]
fn two_floats_in_one_register_are_a_record() {
    let program = lower("struct p { float x, y; }; float f(struct p p) { return p.y; }");
    let Type::Record(record) = function(&program, "f").parameters[0] else {
        panic!("the structure is passed as a vector");
    };
    assert_eq!(program.record(record).leaves.len(), 2);
    assert!(program.gaps.is_empty());
}

#[test]
fn variables_have_kind_place_and_position() {
    let program = lower(
        "int shared;
         static int hidden;
         int f(int first, char *second) {
           static long counter;
           int local = first;
           { int inner = 2; local += inner; }
           return local + shared + hidden + (int)counter++ + *second;
         }",
    );
    let describe = |name: &str| {
        let variable = variable(&program, name);
        let place = match variable.storage {
            Storage::Stack(..) => "stack".to_owned(),
            Storage::Global(global) => program.global(global).name.clone(),
        };
        (variable.kind, place, line(&program, variable.span))
    };
    assert_eq!(describe("shared"), (VariableKind::Global, "shared".to_owned(), 1));
    assert_eq!(describe("hidden"), (VariableKind::Static, "hidden".to_owned(), 2));
    assert_eq!(describe("first"), (VariableKind::Parameter(0), "stack".to_owned(), 3));
    assert_eq!(describe("second"), (VariableKind::Parameter(1), "stack".to_owned(), 3));
    assert_eq!(describe("counter"), (VariableKind::Static, "f.counter".to_owned(), 4));
    assert_eq!(describe("local"), (VariableKind::Local, "stack".to_owned(), 5));
    assert_eq!(describe("inner"), (VariableKind::Local, "stack".to_owned(), 6));
}

#[test]
fn initial_bytes_are_those_of_the_machine() {
    let program = lower(
        r#"struct bits { unsigned a : 3, b : 5; short c; } bits = { 5, 17, -2 };
           long double wide = 1.5L; __int128 huge = (__int128)3 << 100; float f = -0.5f;
           char text[6] = "ab\n"; int zeros[100]; const double table[2] = { 1, 2 };
           union { char c; long l; } u = { 'x' }; char *minus_one = (char *)-1;"#,
    );
    let bytes = |name: &str| global(&program, name).bytes.clone();
    assert_eq!(bytes("bits"), [0x8d, 0, 0xfe, 0xff]);
    assert_eq!(bytes("wide")[..10], [0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x3f]);
    assert_eq!(bytes("huge")[8..], [0, 0, 0, 0, 0x30, 0, 0, 0]);
    assert_eq!(bytes("f"), [0, 0, 0, 0xbf]);
    assert_eq!(bytes("text"), *b"ab\n\0\0\0");
    assert_eq!(bytes("u"), [b'x', 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes("minus_one"), [0xff; 8]);
    assert_eq!((bytes("zeros").len(), global(&program, "zeros").size), (0, 400));
    assert!(global(&program, "table").constant && !global(&program, "f").constant);
    assert!(program.gaps.is_empty(), "{:?}", program.gaps);
}

#[test]
fn initial_addresses_are_relocations() {
    let program = lower(
        "int f(void); int g(void) { return 1; }
         extern int other[]; static int mine[8];
         struct { int n; int *p; int (*fn)(void); } s[2] = { { 1, &mine[3], g }, { 2, other, f } };
         unsigned long number = (unsigned long)&mine[1];",
    );
    let target = |target: RelocationTarget| match target {
        RelocationTarget::Global(id) => program.global(id).name.clone(),
        RelocationTarget::Function(id) => program.function(id).name.clone(),
    };
    let relocations = |name: &str| -> Vec<_> {
        let found = global(&program, name).relocations.iter();
        found.map(|found| (found.offset, target(found.target), found.addend)).collect()
    };
    let expected = [(8, "mine", 12), (16, "g", 0), (32, "other", 0), (40, "f", 0)];
    assert_eq!(relocations("s"), expected.map(|(at, name, addend)| (at, name.to_owned(), addend)));
    assert_eq!(relocations("number"), [(0, "mine".to_owned(), 4)]);
}

#[test]
fn the_address_of_a_label_is_its_function_and_block() {
    let program = lower(
        "int f(int i) { static void *const to[] = { &&a, &&b }; goto *to[i]; a: return 1; b: return 2; }",
    );
    let f = program.function_named("f").expect("f is there");
    let jump = program.function(f).blocks.iter().find_map(|block| match &block.terminator {
        Terminator::IndirectJump { targets, .. } => Some(targets.clone()),
        _ => None,
    });
    let relocations = &global(&program, "f.to").relocations;
    let named = relocations.iter().map(|relocation| {
        assert_eq!(relocation.target, RelocationTarget::Function(f));
        relocation.addend - 1
    });
    let targets: Vec<_> = jump.expect("a computed goto").iter().map(|block| i64::from(block.0)).collect();
    assert_eq!(named.collect::<Vec<_>>(), targets);
}

#[test]
fn a_constant_expression_in_a_phi_is_computed_in_the_predecessor() {
    let program = lower(
        "char m[9]; void g(void);
         unsigned f(int a) { return a ? (g(), (unsigned)(unsigned long)&m[2]) : 7u; }",
    );
    let f = function(&program, "f");
    let computed = f.blocks.iter().filter(|block| {
        let last = block.instrs.last().map(|id| &f.instr(*id).op);
        matches!(last, Some(Op::Cast(model::CastOp::PtrToInt, Type::Ptr, Operand::Global { offset: 2, .. })))
    });
    assert_eq!(computed.count(), 1);
    assert!(f.instrs.iter().any(|instr| matches!(&instr.op, Op::Phi(incoming) if incoming.len() == 2)));
}

#[test]
fn statements_point_to_their_first_code() {
    let program = lower(
        "int g;
         int f(int a) {
           g = a;
           while (a > 0)
             a--;
           return a;
           g = 9;
         }",
    );
    let f = function(&program, "f");
    let code = |wanted: u32| {
        let statement = program.statements.iter().find(|statement| line(&program, statement.span) == wanted);
        statement.expect("a statement stands on the line").code
    };
    for wanted in [3, 4, 5, 6] {
        let (block, position) = code(wanted).expect("reachable statements have code");
        let instrs = &f.block(block).instrs;
        if let Some(id) = instrs.get(position as usize) {
            let span = f.instr(*id).span.expect("code of a statement has a position");
            assert_eq!(line(&program, span), wanted);
        }
    }
    assert_eq!(code(7), None);
}

#[test]
fn functions_that_nothing_calls_keep_their_code() {
    let program = lower("static int unused(int a) { return a > 1 ? 2 : 3; } int f(void) { return 1; }");
    let unused = function(&program, "unused");
    assert!(unused.is_defined());
    assert!(unused.instrs.iter().any(|instr| matches!(instr.op, Op::Mark { .. })));
}

#[test]
fn functions_that_must_be_inlined_keep_their_own_code() {
    let program = lower(
        "static inline __attribute__((always_inline)) int small(int a) { return a > 1 ? 2 : 3; }
         extern inline __attribute__((gnu_inline, always_inline)) int outer(int a) { return a > 5 ? 4 : small(a); }
         int f(int a) { return small(a) + outer(a); }",
    );
    assert!(function(&program, "small").is_defined());
    // Its definition is elsewhere; this one is only an offer to inline it.
    assert!(!function(&program, "outer").is_defined());
    assert!(function(&program, "f").instrs.iter().all(|instr| !matches!(instr.op, Op::Mark { .. })));
}

#[test]
fn a_function_without_code_still_owns_its_decisions() {
    let program =
        lower("inline int elsewhere(int a) { if (a) return 1; return 2; } int f(void) { return 1; }");
    let decision = &program.decisions[0];
    assert_eq!(program.function(decision.function).name, "elsewhere");
    assert!(!program.function(decision.function).is_defined());
    assert!(
        program.statements.iter().filter(|of| of.function == decision.function).all(|of| of.code.is_none())
    );
}

#[test]
fn static_functions_of_one_name_stay_apart() {
    let one = "static int pick(int a) { return a > 1 ? 5 : 6; } int one(int a) { return pick(a); }";
    let two = "static int pick(int a) { return a > 2 ? 7 : 8; } int two(int a) { return pick(a); }";
    let lowered = lower_files(&[("one.c", one), ("two.c", two)], &[], false);
    let program = &lowered.program;
    let callee = |name: &str| {
        let mut calls = function(program, name).instrs.iter().filter_map(|instr| match instr.op {
            Op::Call { callee: Callee::Direct(id), .. } => Some(id),
            _ => None,
        });
        calls.next_back().expect("a direct call")
    };
    let (first, second) = (callee("one"), callee("two"));
    assert_ne!(first, second);
    assert_eq!(
        (program.function(first).name.as_str(), program.function(second).name.as_str()),
        ("pick", "pick")
    );
    let owners: Vec<FunctionId> = program.decisions.iter().map(|decision| decision.function).collect();
    assert_eq!(owners, [first, second]);
    assert_eq!(lowered.units[second.index()], Some(1));
    let numbers: Vec<u32> = lowered.function_numbers.values().copied().collect();
    assert_eq!(numbers.len(), program.functions.len());
    assert!(lowered.function_numbers.contains_key("pick"));
}

#[test]
fn a_renamed_main_keeps_its_name() {
    let lowered =
        lower_files(&[("m.c", "int main(int argc, char **argv) { return argc > 1 ? 2 : 3; }")], &[], true);
    let main = lowered.function_numbers["__quarry_user_main"];
    let main = &lowered.program.functions[main as usize];
    assert!(main.name == "main" && !main.generated);
    assert_eq!(lowered.program.decisions.len(), 1);
}

#[test]
fn memory_and_variable_arguments_have_operations_of_their_own() {
    let program = lower(
        "#include <stdarg.h>
         #include <string.h>
         struct big { int a[50]; };
         int f(struct big *to, struct big *from, int n, ...) {
           va_list list, copy; va_start(list, n); va_copy(copy, list);
           *to = *from; __builtin_memset(to, n, 8); __builtin_memmove(to, from, 9);
           va_end(list); return 0;
         }",
    );
    let has =
        |wanted: &dyn Fn(&Op) -> bool| function(&program, "f").instrs.iter().any(|instr| wanted(&instr.op));
    assert!(has(&|op| matches!(op, Op::Memory { op: model::MemoryOp::Copy, .. })));
    assert!(has(&|op| matches!(op, Op::Memory { op: model::MemoryOp::Move, .. })));
    assert!(has(&|op| matches!(op, Op::Memory { op: model::MemoryOp::Set, .. })));
    assert!(has(&|op| matches!(op, Op::VaStart(_))) && has(&|op| matches!(op, Op::VaEnd(_))));
    assert!(has(&|op| matches!(op, Op::VaCopy { .. })));
    assert!(program.gaps.is_empty(), "{:?}", program.gaps);
}

#[test]
fn atomic_updates_are_read_change_write() {
    check_code(
        "int f(_Atomic int *p) { return __atomic_fetch_nand((int *)p, 3, 5); }",
        "f",
        expect![[r#"
            function f0 "f" exported (ptr) -> i32 {
            b0:
              %0 = alloca 8 align 8
              %1 = alloca 4 align 4
              %2 = alloca 4 align 4
              %3 = store ptr p0, %0
              %4 = load ptr, %0
              %5 = store i32 3, %1
              %6 = load i32, %1
              %7 = load i32, %4
              %10 = and i32 %7, %6
              %11 = xor i32 %10, -1
              %12 = store i32 %11, %4
              %8 = store i32 %7, %2
              %9 = load i32, %2
              return %9
            }
        "#]],
    );
}

#[test]
fn volatile_loads_are_told_from_others() {
    check_code(
        "int f(volatile int *p) { return *p; }",
        "f",
        expect![[r#"
            function f0 "f" exported (ptr) -> i32 {
            b0:
              %0 = alloca 8 align 8
              %1 = store ptr p0, %0
              %2 = load ptr, %0
              %3 = volatile load i32, %2
              return %3
            }
        "#]],
    );
}

#[test]
fn inline_assembly_is_a_gap_with_a_position() {
    let program = lower("int f(int a) {\n  __asm__(\"incl %0\" : \"+r\"(a));\n  return a;\n}");
    let [gap] = program.gaps.as_slice() else {
        panic!("one gap, not {:?}", program.gaps);
    };
    assert_eq!((gap.kind, gap.what.as_str()), (GapKind::InlineAssembly, "incl $0"));
    assert_eq!(gap.span.map(|span| line(&program, span)), Some(2));
    assert_eq!(gap.function, program.function_named("f"));
}

#[test]
fn a_function_that_is_not_instrumented_has_no_code() {
    let program =
        lower("int f(int a) { __asm__ goto (\"\" : : \"r\"(a) : : out); return 1; out: return 2; }");
    assert!(!function(&program, "f").is_defined());
    assert_eq!(program.gaps.iter().map(|gap| gap.kind).collect::<Vec<_>>(), [GapKind::InlineAssembly]);
}

#[test]
fn vectors_and_wide_integers_are_gaps_that_keep_their_operands() {
    let program = lower(
        "typedef int v4 __attribute__((vector_size(16)));
         v4 add(v4 a, v4 b) { return a + b; }
         int wide(_BitInt(200) a) { return (int)(a * 3); }
         int lane(v4 a) { return a[2]; }",
    );
    let kinds: Vec<_> = program.gaps.iter().map(|gap| gap.kind).collect();
    assert!(kinds.contains(&GapKind::Vector) && kinds.contains(&GapKind::WideInteger), "{kinds:?}");
    let added = function(&program, "add").instrs.iter().find_map(|instr| match &instr.op {
        Op::Opaque { what, operands } if what == "add" => Some(operands.len()),
        _ => None,
    });
    assert_eq!(added, Some(2));
    assert!(
        function(&program, "lane").instrs.iter().any(|instr| matches!(instr.op, Op::Extract { leaf: 2, .. }))
    );
}

#[test]
fn overflow_builtins_call_their_intrinsic() {
    let program = lower("int f(int a, int b, int *c) { return __builtin_mul_overflow(a, b, c); }");
    let called = function(&program, "f").instrs.iter().find_map(|instr| match instr.op {
        Op::Call { callee: Callee::Direct(id), .. } => Some((program.function(id).name.clone(), instr.ty)),
        _ => None,
    });
    assert!(matches!(called, Some((name, Type::Record(_))) if name == "llvm.smul.with.overflow.i32"));
}

#[test]
fn calls_that_do_not_return_or_return_twice_say_so() {
    let program = lower(
        "#include <setjmp.h>
         #include <stdlib.h>
         jmp_buf b; int f(int a) { if (setjmp(b)) exit(1); if (a) longjmp(b, 1); return 0; }",
    );
    let twice: Vec<_> =
        program.functions.iter().filter(|of| of.returns_twice).map(|of| of.name.as_str()).collect();
    assert_eq!(twice, ["_setjmp"]);
    assert!(function(&program, "exit").no_return && function(&program, "longjmp").no_return);
    assert!(!function(&program, "f").no_return);
}

#[test]
fn calls_through_pointers_are_indirect_and_aliases_are_direct() {
    let program = lower(
        "int real(int a) { return a; } int other(int a) __attribute__((alias(\"real\")));
         int f(int (*p)(int)) { return p(1) + other(2); }",
    );
    let callees: Vec<_> = function(&program, "f")
        .instrs
        .iter()
        .filter_map(|instr| match instr.op {
            Op::Call { callee, .. } => Some(callee),
            _ => None,
        })
        .collect();
    let real = program.function_named("real").expect("real is there");
    assert!(matches!(callees.as_slice(), [Callee::Indirect(_), Callee::Direct(id)] if *id == real));
}

#[test]
fn thread_local_variables_are_plain_globals() {
    let program = lower("static __thread int t = 5; int f(void) { return ++t; }");
    assert_eq!(global(&program, "t").bytes, [5, 0, 0, 0]);
    assert_eq!(variable(&program, "t").kind, VariableKind::Static);
    assert!(program.gaps.is_empty(), "{:?}", program.gaps);
}

#[test]
fn pointers_have_the_width_of_the_target() {
    let text = "struct s { char c; void *p; } s[2]; long f(int i) { return (long)s[i].p; }";
    let narrow = lower_files(&[("m.c", text)], &["-m32"], false).program;
    assert_eq!((narrow.pointer_bits, global(&narrow, "s").size), (32, 16));
    assert_eq!((lower(text).pointer_bits, global(&lower(text), "s").size), (64, 32));
}

#[test]
fn the_root_is_main() {
    let program = lower("static int helper(void) { return 1; } int main(void) { return helper(); }");
    assert_eq!(program.root, program.function_named("main"));
    assert_eq!(lower("int f(void) { return 1; }").root, None);
}

/// What all tests share: the compiled runtime.
fn test_cache() -> cache::Cache {
    cache::Cache::open(&std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), cache::DEFAULT_LIMIT)
}
