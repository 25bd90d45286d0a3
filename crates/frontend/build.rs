//! Names the sources that decide what is built of a program, so that no version of Quarry uses what another one has built, and
//! compiles the C that programs are linked with.
//!
//! Without a compiler, or when it fails, nothing is prepared, and the same is compiled when a program first needs it.

#[expect(dead_code, reason = "its libraries are not asked for here")]
#[path = "src/tools/compiler.rs"]
mod compiler;
#[path = "src/embedded.rs"]
mod embedded;
#[path = "src/linking.rs"]
mod linking;
#[expect(dead_code, unused_imports, reason = "few of its functions are needed here")]
#[path = "src/llvm/mod.rs"]
mod llvm;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use inkwell::context::Context;
use inkwell::module::Module;

const CLANG: &str = "clang-19";

fn main() {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the crate")).join("../..");
    let sources = ["Cargo.lock", "runtime", "crates/frontend/src", "crates/model/src", "crates/wire/src"];
    let sources = sources.map(|source| root.join(source));
    for source in &sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    if let Some(compiler) = compiler::find(CLANG) {
        println!("cargo::rerun-if-changed={}", compiler.display());
    }
    let hash = cache::hash_of_sources(&sources).expect("the sources of the crates can be read");
    println!("cargo::rustc-env=QUARRY_FRONTEND_SOURCES={hash}");

    let output = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names a directory for output"));
    let state = compiler::state(CLANG);
    let prepared_by = match prepare(&output, &state) {
        Ok(()) => state,
        Err(error) => {
            println!("cargo::warning=the runtime is compiled when it is first needed, not now: {error}");
            for file in FILES {
                std::fs::write(output.join(file), "").expect("the directory for output can be written");
            }
            "nothing".to_owned()
        }
    };
    println!("cargo::rustc-env=QUARRY_PREPARED_BY={prepared_by}");
}

/// What is prepared.
const FILES: [&str; 5] = [INLINED, OBJECT, MODELS, BUFFERED, LINKER];
const INLINED: &str = "inlined.bc";
const OBJECT: &str = "runtime.o";
const MODELS: &str = "library.bc";
const BUFFERED: &str = "buffered.so";
const LINKER: &str = "linker";

/// Says what the files were made of.
const STAMP: &str = "prepared";

/// Compiles the runtime and the models of library functions, unless they are there.
fn prepare(output: &Path, compiler: &str) -> Result<(), Box<dyn Error>> {
    let own = ["build.rs", "src/llvm", "src/linking.rs"].map(PathBuf::from);
    let own = cache::hash_of_sources(&own)?;
    let mut key = cache::Key::new().part("compiler", compiler).part("script", own);
    for embedded in [embedded::RUNTIME, embedded::MODELS, embedded::BUFFERED] {
        let texts = embedded.sources.iter().flat_map(|(name, text)| [*name, *text]);
        key = key.parts("sources", texts).parts("flags", embedded.flags);
    }
    let stamp = output.join(STAMP);
    if std::fs::read_to_string(&stamp).is_ok_and(|stamped| stamped == key.hex()) {
        return Ok(());
    }
    let whole = output.join("runtime.bc");
    compile(embedded::RUNTIME, output, &whole)?;
    compile(embedded::MODELS, output, &output.join(MODELS))?;
    compile(embedded::BUFFERED, output, &output.join(BUFFERED))?;
    let question = linking::question(&[], &[linking::MATHEMATICS.to_owned()]);
    let said = Command::new(CLANG).args(question).output()?;
    let words = linking::answer(&String::from_utf8_lossy(&said.stderr)).ok_or("it names no linker")?;
    std::fs::write(output.join(LINKER), words.join("\n"))?;
    let context = Context::create();
    let module = Module::parse_bitcode_from_path(&whole, &context).map_err(|message| message.to_string())?;
    llvm::share(&module, llvm::Owner::Runtime);
    llvm::write_object(&module, llvm::Effort::Optimised, &output.join(OBJECT))?;
    llvm::keep_inlined(&module)?;
    if !module.write_bitcode_to_path(output.join(INLINED)) {
        return Err("bitcode cannot be written".into());
    }
    std::fs::write(stamp, key.hex())?;
    Ok(())
}

fn compile(embedded: embedded::Embedded, output: &Path, bitcode: &Path) -> Result<(), Box<dyn Error>> {
    let directory = output.join(embedded.name);
    std::fs::create_dir_all(&directory)?;
    let done = embedded.compiler(CLANG, &[], &directory, bitcode)?.output()?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into()) }
}
