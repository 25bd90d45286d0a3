//! The pipeline from files to a program and binaries, and what it says when it fails.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use frontend::{
    Blame, Error,
    build::{AppendedCode, BuildError, Built, NativeUnit, Request, build, compile_native},
    instrument::Mode,
    mark::{MarkOptions, mark},
    marks::Marks,
    sources::Sources,
};
use model::GapKind;

struct Project {
    directory: tempfile::TempDir,
    marks: Marks,
}

impl Project {
    fn new(files: &[(&str, &str)], rename_main: bool) -> Self {
        let directory = tempfile::tempdir().expect("a directory for the test");
        let write = |(name, text): &(&str, &str)| -> PathBuf {
            let path = directory.path().join(name);
            std::fs::write(&path, text).expect("the test's file");
            path
        };
        let sources =
            Sources { files: files.iter().map(write).collect(), ..Sources::below(directory.path()) };
        let options = MarkOptions {
            root: directory.path().to_owned(),
            directory: "marked".into(),
            rename_main,
            cache: None,
        };
        let marks = mark(&sources.commands().expect("readable sources"), &options).expect("markable sources");
        Self { directory, marks }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn build(&self, harness: Option<&str>, modes: &[Mode]) -> Result<Built, BuildError> {
        self.build_with(&test_cache(), harness, modes)
    }

    fn build_with(
        &self,
        cache: &cache::Cache,
        harness: Option<&str>,
        modes: &[Mode],
    ) -> Result<Built, BuildError> {
        build(&Request {
            marks: &self.marks,
            units: None,
            harness: harness.map(|text| AppendedCode { unit: 0, text }),
            stubs: &std::collections::BTreeMap::new(),
            work_dir: &self.path().join("work"),
            cache,
            link_flags: &[],
            modes,
            watch: |_| model::walk::Watch::default(),
            free_of_input: |_| Default::default(),
        })
    }
}

#[test]
fn a_symbol_defined_twice_is_named_with_both_files() {
    let text = "int twice(void) { return 1; }";
    let project = Project::new(&[("one.c", text), ("two.c", text)], false);
    let error = Error::from(project.build(None, &[]).expect_err("two definitions"));
    let message = error.to_string();
    assert!(message.starts_with("twice is defined twice"), "{message}");
    assert!(message.contains("one.c") && message.contains("two.c"), "{message}");
    assert_eq!(error.blame(), Blame::Program);
}

#[test]
fn a_unit_may_be_compiled_in_another_directory() {
    let mut project = Project::new(&[("one.c", "int main(void) { return 0; }")], false);
    let elsewhere = project.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a directory");
    project.marks.units[0].directory = elsewhere;
    let program = project
        .build(Some("int __quarry_harness(void) { return main(); }"), &[])
        .expect("a build")
        .lowered
        .program;
    let main = program.function(program.function_named("main").expect("main is there"));
    assert!(main.span.is_some(), "its text is found again");
}

#[test]
fn weak_definitions_give_way() {
    let weak = "__attribute__((weak)) int pick(void) { return 1; } int f(void) { return pick(); }";
    let project = Project::new(&[("one.c", weak), ("two.c", "int pick(void) { return 2; }")], false);
    project.build(None, &[]).expect("one strong definition");
}

#[test]
fn a_harness_sees_static_functions_and_is_the_root() {
    let project = Project::new(&[("one.c", "static int hidden(int a) {\n  return a > 2;\n}\n")], false);
    let harness = "int __quarry_harness(void) { return hidden(3); }";
    let program = project.build(Some(harness), &[]).expect("a harness that compiles").lowered.program;
    let root = program.function(program.root.expect("the harness is the root"));
    assert!(root.generated && root.name == "__quarry_harness" && root.span.is_none());
    // The unit's own lines are not moved by what was added.
    let hidden = program.function(program.function_named("hidden").expect("hidden is there"));
    let line = |span| program.span(span).at.line;
    assert_eq!(hidden.span.map(line), Some(1));
    assert!(hidden.instrs.iter().any(|instr| instr.span.map(line) == Some(2)));
}

#[test]
fn a_harness_that_does_not_compile_is_told_in_its_own_lines() {
    let project = Project::new(&[("one.c", "int f(int a) { return a; }")], false);
    let error = Error::from(
        project.build(Some("\nint __quarry_harness(void) { return missing; }"), &[]).expect_err("an error"),
    );
    assert!(error.to_string().contains("quarry-harness.c:2"), "{error}");
    assert_eq!(error.blame(), Blame::Program);
}

#[test]
fn a_program_without_code_has_an_empty_model() {
    let project = Project::new(&[("empty.c", "")], false);
    let program = project.build(None, &[]).expect("an empty unit").lowered.program;
    assert!(program.functions.is_empty() && program.root.is_none());
}

#[test]
fn symbols_defined_nowhere_are_gaps() {
    let text = "int outside(int a); int main(void) { return outside(3); }";
    let project = Project::new(&[("one.c", text)], false);
    let built = project.build(None, &[Mode::Fast]).expect("a stand-in is made");
    let gaps: Vec<_> = built.lowered.program.gaps.iter().map(|gap| (gap.kind, gap.what.as_str())).collect();
    assert_eq!(gaps, [(GapKind::UndefinedSymbol, "outside")]);
    assert!(built.binaries.iter().all(|(_, binary)| binary.exists()));
}

#[test]
fn code_that_no_run_reaches_is_not_built() {
    let unused = "const char *told(void) { return \"nobody asks for this\"; }";
    let has_it = |main: &str| {
        let project = Project::new(&[("one.c", main), ("two.c", unused)], false);
        let built = project.build(None, &[Mode::Fast]).expect("a whole program");
        assert!(built.lowered.program.function_named("told").is_some(), "the model has all code");
        let code = std::fs::read(&built.binaries[0].1).expect("a binary");
        code.windows(20).any(|bytes| bytes == b"nobody asks for this")
    };
    assert!(!has_it("int main(void) { return 0; }"));
    assert!(has_it("const char *told(void); int main(void) { return told() == 0; }"));
    // assembly may name anything
    assert!(has_it("__asm__(\"nop\"); int main(void) { return 0; }"));
    assert!(has_it("int main(void) { __asm__(\"nop\"); return 0; }"));
}

#[test]
fn what_libraries_call_by_its_name_stays_theirs_to_call() {
    let text = "#define _GNU_SOURCE\n#include <stdio.h>\n\
        static _Alignas(16) char pool[65536]; static unsigned long used; static int asked;\n\
        void *malloc(unsigned long n) { asked++; void *at = pool + used; used += (n + 15) / 16 * 16; return at; }\n\
        void free(void *p) { (void)p; }\n\
        int main(void) { char *t; int before = asked; asprintf(&t, \"%d\", 7); return asked > before ? 3 : 4; }\n";
    let project = Project::new(&[("one.c", text)], false);
    let built = project.build(None, &[Mode::Fast]).expect("a whole program");
    let status = Command::new(&built.binaries[0].1).status().expect("it runs");
    assert_eq!(status.code(), Some(3), "the library asks the program's own malloc");
}

#[test]
fn assembly_that_the_assembler_refuses_is_the_programs_fault() {
    let project = Project::new(&[("one.c", "int main(void) { __asm__(\"nosuch\"); return 0; }")], false);
    let error = Error::from(project.build(None, &[Mode::Fast]).expect_err("an error of the assembler"));
    assert!(error.to_string().contains("invalid instruction mnemonic 'nosuch'"), "{error}");
    assert_eq!(error.blame(), Blame::Program);
}

#[test]
fn each_mode_gets_a_binary_of_its_own() {
    let project = Project::new(&[("one.c", "int main(void) { return 0; }")], false);
    let built = project.build(None, &[Mode::Fast, Mode::Symbolic]).expect("a whole program");
    let [(first, fast), (second, symbolic)] = built.binaries.as_slice() else {
        panic!("two binaries, not {:?}", built.binaries);
    };
    assert_eq!((*first, *second), (Mode::Fast, Mode::Symbolic));
    assert!(fast != symbolic && fast.exists() && symbolic.exists());
}

#[test]
fn the_users_own_program_is_built_as_it_is() {
    let project = Project::new(
        &[
            ("main.c", "int twice(int); int main(void) { return twice(21); }"),
            ("twice.c", "int twice(int a) { return 2 * a; }"),
        ],
        false,
    );
    let units: Vec<NativeUnit<'_>> = project.marks.units.iter().map(NativeUnit::from).collect();
    let output = project.path().join("native");
    compile_native(project.path(), &units, &[], &output, &["-O1"]).expect("a program that builds");
    let status = Command::new(&output).status().expect("the program runs");
    assert_eq!(status.code(), Some(42));
}

#[test]
fn a_link_that_fails_is_the_programs_fault() {
    let project =
        Project::new(&[("main.c", "int missing(void); int main(void) { return missing(); }")], false);
    let units: Vec<NativeUnit<'_>> = project.marks.units.iter().map(NativeUnit::from).collect();
    let error =
        compile_native(project.path(), &units, &[], Path::new("native"), &[]).expect_err("a missing symbol");
    assert!(
        matches!(&error, BuildError::Link { diagnostics, .. } if diagnostics.contains("missing")),
        "{error}"
    );
    assert_eq!(Error::from(error).blame(), Blame::Program);
}

#[test]
fn a_program_gets_the_models_it_needs_and_keeps_its_own_functions() {
    let text = "#include <stdlib.h>\n#include <string.h>\n\
        unsigned long strtoul(const char *text, char **end, int base) { return 7; }\n\
        int (*const order)(const char *, const char *) = strcmp;\n\
        unsigned long f(const char *text) {\n\
          if (strcmp(text, \"a\") && order(text, \"b\")) return strchr(text, 'c') != 0;\n\
          return strtoul(text, 0, 10) + strlen(text);\n}\n";
    let project = Project::new(&[("one.c", text)], false);
    let program = project.build(None, &[]).expect("a build").lowered.program;
    let is_model = |name: &str| name.starts_with("__quarry_lib_");
    let models: Vec<_> = program.functions.iter().filter(|function| is_model(&function.name)).collect();
    let names: Vec<_> = models.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["__quarry_lib_strchr", "__quarry_lib_strcmp"]);
    assert!(models.iter().all(|model| model.generated && model.is_defined() && model.span.is_none()));
    let is_defined =
        |name: &str| program.function(program.function_named(name).expect("it is used")).is_defined();
    assert!(is_defined("strtoul"), "the program's own");
    assert!(!is_defined("strcmp") && !is_defined("strlen"), "direct calls have a term and need no model");
    assert!(program.function_named("strchr").is_none(), "nothing calls the library's");
}

/// What all tests share: the compiled runtime.
fn test_cache() -> cache::Cache {
    cache::Cache::open(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), cache::DEFAULT_LIMIT)
}

/// All that a harness can have to do with its unit.
const UNIT: &str = r#"
#include <stdio.h>
static int counter = 3;
static const char *names[] = { "one", "two" };
int shared = 10;
static int twice(int a) { static int calls; calls++; return a * 2 + calls; }
static inline int thrice(int a) { return a * 3; }
int old(a, b) int a; short b; { return a - b; }
__attribute__((constructor)) static void begin(void) { counter++; puts("begin"); }
static int (*chosen)(int) = twice;
struct pair { int a, b; };
static struct pair sum(struct pair p) {
#pragma pack(1)
  p.a += counter; return p; }
struct packed { char c; int i; };
enum { LAST = sizeof names / sizeof *names };
"#;

/// Uses it, and says what it has seen.
const HARNESS: &str = r#"
extern int __quarry_static_twice$calls;
int __quarry_harness(void) {
  counter += 1;
  shared++;
  int n = twice(2);
  n += thrice(3) + old(9, 4);
  n += chosen(1);
  n += sum((struct pair){1, 2}).a + LAST + __quarry_static_twice$calls;
  printf("%d %s %d %d %d\n", n, names[1], counter, shared, (int)sizeof(struct packed));
  return n;
}
"#;

/// Runs the harness of a unit with some more code in it.
fn check_harness(more: &str) {
    let project = Project::new(&[("one.c", &format!("{UNIT}{more}"))], false);
    let built = project.build(Some(HARNESS), &[Mode::Fast, Mode::Symbolic]).expect("a harness");
    let program = &built.lowered.program;
    assert!(program.function(program.function_named("twice").expect("twice is there")).is_defined());
    let named = |name: &str| program.variables.iter().filter(|variable| variable.name == name).count();
    assert_eq!((named("counter"), named("calls"), named("shared")), (1, 1, 1));
    for (mode, binary) in &built.binaries {
        let output = Command::new(binary).output().expect("the program runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "begin\n33 two 5 11 5\n", "{mode:?}");
        assert_eq!(output.status.code(), Some(33), "{mode:?}");
    }
}

/// Code that makes a unit large.
fn filler() -> String {
    let function =
        |n: usize| format!("static int filler_{n}(int a) {{ if (a > {n}) a += {n} - a * 3; return a; }}\n");
    (0..400).map(function).collect()
}

#[test]
fn a_harness_in_a_small_unit_sees_all_of_it() {
    check_harness("");
}

#[test]
fn a_harness_apart_from_a_large_unit_sees_all_of_it() {
    check_harness(&filler());
}

#[test]
fn a_harness_sees_all_of_a_large_unit_with_aliases_or_assembly() {
    check_harness(&format!("{}int alias(int a, short b) __attribute__((alias(\"old\")));\n", filler()));
    check_harness(&format!("{}__asm__(\".globl quarry_label\\nquarry_label:\");\n", filler()));
}

#[test]
fn a_large_unit_is_compiled_once_for_all_harnesses() {
    let project = Project::new(&[("one.c", &format!("{UNIT}{}", filler()))], false);
    let cache = cache::Cache::open(&project.path().join("cache"), cache::DEFAULT_LIMIT);
    let n_units = || cache.stats().kinds.get("unit").map_or(0, |kind| kind.n_entries);
    let build = |harness: &str| project.build_with(&cache, Some(harness), &[]).expect("a harness");
    build(HARNESS);
    assert_eq!(n_units(), 1);
    let program = build("int __quarry_harness(void) { return filler_7(8); }").lowered.program;
    assert_eq!(n_units(), 1, "the second harness needs no other code of the unit");
    assert!(program.function(program.function_named("filler_7").expect("it is there")).is_defined());
}

#[test]
fn a_large_function_with_computed_gotos_is_built_with_its_table_of_labels() {
    // larger than what is optimised, beside a small function that is
    let labels: String = (0..200).map(|n| format!("&&step_{n}, ")).collect();
    let steps: String = (0..200)
        .map(|n| format!("step_{n}: x = x * 3 + {n}; y ^= x >> 2; x += y * {n}; if (x > 1000) x -= y; goto *table[at = at * 7 + 3 & 127];\n"))
        .collect();
    let text = format!(
        "static unsigned run(unsigned x, unsigned y)\n{{\n\
           static const void *const table[] = {{ {labels} &&end }};\n\
           unsigned at = y & 127, n = 0;\n\
           goto *table[at];\n{steps}end: return x;\n}}\n\
         int small(int a) {{ return a > 3 ? a : 3; }}\n"
    )
    .replace("step_81: ", "step_81: if (++n > 40) goto end; ");
    let harness = "int __quarry_harness(void) { return (int)(run(5, 9) + small(7) & 63); }";
    let project = Project::new(&[("jumps.c", &text)], false);
    let built = project.build(Some(harness), &[Mode::Fast, Mode::Symbolic]).expect("a program");
    let native = project.path().join("native.c");
    std::fs::write(&native, format!("{text}{harness}\nint main(void) {{ return __quarry_harness(); }}\n"))
        .expect("a file");
    let program = project.path().join("native");
    let compiled = Command::new("clang-19").arg(&native).arg("-o").arg(&program).status();
    assert!(compiled.expect("clang starts").success());
    let code = |binary: &Path| Command::new(binary).status().expect("it runs").code();
    let expected = code(&program);
    assert!(expected.is_some(), "it ends in order");
    for (mode, binary) in &built.binaries {
        assert_eq!(code(binary), expected, "{mode:?}");
    }
}
