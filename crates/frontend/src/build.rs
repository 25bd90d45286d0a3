//! From marked texts to a program model and binaries that run.
//!
//! Method: compile each unit to LLVM code, link the units and the models of library functions to one module, lower it,
//! then instrument a copy of it per mode and link each with the runtime. Limit: symbols defined in no unit and no linked
//! library become stubs, named as gaps.

mod boundaries;
mod compile;
mod link;
mod native;
mod sanitized;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use cache::{Cache, CacheError};
use inkwell::{context::Context, memory_buffer::MemoryBuffer, module::Module};
use model::walk::Watch;
use model::{FunctionId, Program, SpanId};
use serde::{Deserialize, Serialize};
use tracing::info_span;

use crate::{
    clang::ClangError,
    compilers::in_parallel,
    instrument::{self, Build, InstrumentError, Libraries, Mode, NotFollowed},
    llvm::take_errors,
    lower::{self, Lowered},
    marks::Marks,
};
pub use compile::{AppendedCode, HARNESS_FILE};
pub use native::{KeptObject, NativeUnit, compile_native};
pub use sanitized::{SanitizedRequest, build_sanitized};

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub marks: &'a Marks,
    /// The units that the program consists of; all when none are named.
    pub units: Option<&'a BTreeSet<usize>>,
    /// Code added to one unit, so that it sees the unit's `static` functions.
    pub harness: Option<AppendedCode<'a>>,
    /// Code that stands in for functions defined nowhere, by unit.
    pub stubs: &'a BTreeMap<usize, String>,
    /// Where intermediate files and binaries go; created when it does not exist. A relative path starts at the root of `marks`,
    /// here and below.
    pub work_dir: &'a Path,
    /// Where what programs share (the compiled runtime) is kept between runs.
    pub cache: &'a Cache,
    /// Libraries and linker flags of the program.
    pub link_flags: &'a [String],
    pub modes: &'a [Mode],
    /// Which addresses runs of a program can be asked for.
    pub watch: fn(&Program) -> Watch,
    /// Which functions no input reaches: they get no expressions.
    pub free_of_input: fn(&Program) -> BTreeSet<FunctionId>,
}

/// What was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// The program, with the gaps of all steps.
    pub lowered: Lowered,
    /// One per mode asked for, in that order.
    pub binaries: Vec<(Mode, PathBuf)>,
}

/// Why a program cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Clang(#[from] ClangError),
    #[error("{symbol} is defined twice, in {} and in {}: leave out one of the files", first.display(), second.display())]
    DefinedTwice { symbol: String, first: PathBuf, second: PathBuf },
    #[error("cannot link {}: {diagnostics}", output.display())]
    Link { output: PathBuf, diagnostics: String },
    #[error("cannot {act} {}: {error}", file.display())]
    File { act: &'static str, file: PathBuf, error: std::io::Error },
    #[error("LLVM cannot read the code that clang made of {}: {message}", file.display())]
    Bitcode { file: PathBuf, message: String },
    #[error("cannot make code of the program: {0}")]
    Code(String),
    #[error("cannot instrument the program: {0}")]
    Instrument(#[from] InstrumentError),
    /// Nothing can be kept, not even for a moment.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// Compilers that run at a time.
const AT_A_TIME: usize = 2;

/// Builds the model and one binary per mode.
pub fn build(request: &Request<'_>) -> Result<Built, BuildError> {
    // Absolute: compilers run in the units' own directories.
    let work_dir = directory(&request.marks.root.join(request.work_dir))?;
    let context = Context::create();
    let units = compile::Units {
        marks: request.marks,
        chosen: request.units,
        harness: request.harness,
        stubs: request.stubs,
        cache: request.cache,
    };
    let compiled = compile::units(&units, &work_dir, compile::BITCODE)?;
    let module = link::modules(&context, &compiled, &units, &work_dir)?;
    // Before lowering: what is followed into must be part of the program model.
    instrument::link_models(&module, request.cache)?;
    // Before annotating: the model describes the user's code, without hooks.
    let mut lowered = info_span!("lower").in_scope(|| lower::lower(&module, request.marks));
    // Before the module is optimised: what the log relies on must be read off the code that the model has.
    instrument::annotate(&module);
    if !request.modes.is_empty() {
        let _span = info_span!("find accesses").entered();
        let watch = (request.watch)(&lowered.program);
        instrument::insert_watch(&module, &lowered, &watch);
    }
    let free_of_input: BTreeSet<u32> = if request.modes.contains(&Mode::Symbolic) {
        let _span = info_span!("follow input").entered();
        (request.free_of_input)(&lowered.program).into_iter().map(|id| id.0).collect()
    } else {
        BTreeSet::new()
    };
    let target_flags = target_flags(&lowered.program);
    let libraries = Libraries {
        root: &request.marks.root,
        target_flags: &target_flags,
        link_flags: request.link_flags,
        work_dir: &work_dir,
        cache: request.cache,
    };
    if !request.modes.is_empty() {
        // Behind the model, which describes all code, and before any is made for what no run can reach.
        instrument::hide(&module, &libraries)?;
    }
    let made = match request.modes {
        [mode] => vec![instrumented(request, &module, *mode, &libraries, &lowered, &free_of_input)],
        modes => {
            // By way of bitcode, because LLVM's own cloning breaks the addresses of labels and does not cross threads.
            let annotated = module.write_bitcode_to_memory();
            let code = annotated.as_slice();
            in_parallel(modes, AT_A_TIME, |mode| {
                instrumented_copy(request, code, *mode, &libraries, &lowered, &free_of_input)
            })
        }
    };
    let mut binaries = Vec::new();
    for (&mode, made) in request.modes.iter().zip(made) {
        let (binary, met) = made?;
        binaries.push((mode, binary));
        add_gaps(&mut lowered, request.marks, met);
    }
    Ok(Built { lowered, binaries })
}

fn directory(path: &Path) -> Result<PathBuf, BuildError> {
    let error = |error| BuildError::File { act: "make directory", file: path.to_owned(), error };
    std::fs::create_dir_all(path).map_err(error)?;
    Ok(path.to_owned())
}

/// The binary of one mode of a copy of the annotated module, and what its code does not follow.
fn instrumented_copy(
    request: &Request<'_>,
    annotated: &[u8],
    mode: Mode,
    libraries: &Libraries<'_>,
    lowered: &Lowered,
    free_of_input: &BTreeSet<u32>,
) -> Result<(PathBuf, NotFollowed), BuildError> {
    let context = Context::create();
    let bitcode = MemoryBuffer::create_from_memory_range_copy(annotated, "program");
    let module = Module::parse_bitcode_from_buffer(&bitcode, &context)
        .map_err(|message| BuildError::Bitcode { file: "all units".into(), message: message.to_string() })?;
    instrumented(request, &module, mode, libraries, lowered, free_of_input)
}

/// The binary of one mode, and what its code does not follow. The module is instrumented then.
fn instrumented(
    request: &Request<'_>,
    module: &Module<'_>,
    mode: Mode,
    libraries: &Libraries<'_>,
    lowered: &Lowered,
    free_of_input: &BTreeSet<u32>,
) -> Result<(PathBuf, NotFollowed), BuildError> {
    let _span = info_span!("instrument", ?mode).entered();
    let place = |symbol: &str, line: u32| {
        let function = FunctionId(*lowered.function_numbers.get(symbol)?);
        span_of(request.marks, lowered, function, line).map(|span| span.0)
    };
    let mut met = instrument::instrument(module, mode, &lowered.function_numbers, free_of_input, &place)?;
    let output = libraries.work_dir.join(match mode {
        Mode::Symbolic => "program.symbolic",
        Mode::Fast => "program.fast",
    });
    let finished = instrument::finish(module, &Build { libraries, output: &output });
    // First: a link fails because of them, and says less.
    if let Some(errors) = take_errors() {
        return Err(BuildError::Code(errors));
    }
    met.gaps.extend(finished?);
    Ok((output, met))
}

fn add_gaps(lowered: &mut Lowered, marks: &Marks, met: NotFollowed) {
    if !met.sites.is_empty() {
        // only code that makes expressions has sites
        lowered.program.sites = met.sites.into_iter().map(|site| locate(marks, lowered, site)).collect();
    }
    for gap in met.gaps {
        let gap = locate(marks, lowered, gap);
        if !lowered.program.gaps.contains(&gap) {
            lowered.program.gaps.push(gap);
        }
    }
}

/// Flags that make the compiler build for the program's own target.
fn target_flags(program: &Program) -> Vec<String> {
    if program.pointer_bits == 32 { vec!["-m32".to_owned()] } else { Vec::new() }
}

/// An instrumentation gap with the program's ids.
fn locate(marks: &Marks, lowered: &Lowered, gap: instrument::CodeGap) -> model::Gap {
    let function = lowered.function_numbers.get(&gap.function).map(|number| FunctionId(*number));
    let span = function.and_then(|function| span_of(marks, lowered, function, gap.line));
    model::Gap { kind: gap.kind, function, span, what: gap.what }
}

/// The span on a line of the text of a function's unit.
fn span_of(marks: &Marks, lowered: &Lowered, function: FunctionId, line: u32) -> Option<SpanId> {
    let unit = lowered.units[function.index()]?;
    let index = (line as usize).checked_sub(1)?;
    *marks.units[unit].lines.get(index)?
}
