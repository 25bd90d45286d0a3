//! From C text to native and instrumented executables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use frontend::instrument::{Build, CodeGap, Libraries, Mode, NotFollowed, annotate, finish, instrument};
use inkwell::context::Context;
use inkwell::module::Module;

/// Flags by which programs are compiled before instrumentation.
const FLAGS: [&str; 9] = [
    "-O0",
    "-Xclang",
    "-disable-O0-optnone",
    "-g",
    "-emit-llvm",
    "-c",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
];

/// What the C texts of the tests may use.
const PRELUDE: &str = r#"
#ifdef NATIVE
#define __q(id, leaf) (leaf)
#else
_Bool __q(unsigned id, _Bool leaf);
void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits);
#define CELL(key, variable) __quarry_cell(key, &(variable), sizeof(variable), 8 * sizeof(variable))
#endif
"#;

/// An instrumented executable in its own directory.
pub struct Program {
    pub path: PathBuf,
    pub gaps: Vec<CodeGap>,
    /// Where runs may lose values.
    pub sites: Vec<CodeGap>,
    /// Function numbers by name.
    pub numbers: BTreeMap<String, u32>,
    _dir: tempfile::TempDir,
}

/// Extra compiler, target and linker flags.
#[derive(Clone, Default)]
pub struct Flags {
    pub compile: Vec<String>,
    pub target: Vec<String>,
    pub link: Vec<String>,
}

impl Flags {
    pub fn link(flag: &str) -> Self {
        Self { link: vec![flag.to_owned()], ..Self::default() }
    }
}

fn write_source(dir: &Path, text: &str) -> PathBuf {
    let source = dir.join("program.c");
    std::fs::write(&source, format!("{PRELUDE}\n#line 1 \"program.c\"\n{text}")).expect("source written");
    source
}

pub fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the command starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Compiles, annotates, instruments and links a C text.
pub fn instrumented(text: &str, mode: Mode, flags: &Flags) -> Program {
    let dir = tempfile::tempdir().expect("temporary directory");
    let source = write_source(dir.path(), text);
    let bitcode = dir.path().join("program.bc");
    run(Command::new("clang-19")
        .args(FLAGS)
        .args(["-w"])
        .args(&flags.compile)
        .args(&flags.target)
        .arg(&source)
        .arg("-o")
        .arg(&bitcode));
    let context = Context::create();
    let module = Module::parse_bitcode_from_path(&bitcode, &context).expect("clang's bitcode");
    annotate(&module);
    let numbers = number_functions(&module);
    let NotFollowed { mut gaps, sites } =
        instrument(&module, mode, &numbers, &Default::default(), &|_, line| Some(line)).expect("instruments");
    module.verify().unwrap_or_else(|message| panic!("broken module: {}", message.to_string()));
    let path = dir.path().join("program");
    let cache = test_cache();
    let libraries = Libraries {
        root: dir.path(),
        target_flags: &flags.target,
        link_flags: &flags.link,
        work_dir: dir.path(),
        cache: &cache,
    };
    gaps.extend(finish(&module, &Build { libraries: &libraries, output: &path }).expect("builds"));
    Program { path, gaps, sites, numbers, _dir: dir }
}

fn number_functions(module: &Module<'_>) -> BTreeMap<String, u32> {
    let defined = module.get_functions().filter(|function| function.count_basic_blocks() > 0);
    let names = defined.map(|function| function.get_name().to_string_lossy().into_owned());
    names.zip(0..).collect()
}

/// Compiles the same text without Quarry.
pub fn native(text: &str, flags: &Flags) -> (PathBuf, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("temporary directory");
    let source = write_source(dir.path(), text);
    let path = dir.path().join("native");
    run(Command::new("clang-19")
        .args(["-O0", "-w", "-DNATIVE", "-fwrapv", "-fno-strict-aliasing"])
        .args(&flags.compile)
        .args(&flags.target)
        .arg(&source)
        .arg("-o")
        .arg(&path)
        .args(&flags.link));
    (path, dir)
}

/// What all tests share: the compiled runtime.
fn test_cache() -> cache::Cache {
    cache::Cache::open(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), cache::DEFAULT_LIMIT)
}
