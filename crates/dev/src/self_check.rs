//! `quarry-dev self-check`: a whole program with symbolic integer globals, every condition compared with its term.
//!
//! Method: a generated harness requests the globals' cells and then calls the program's `main`; without input values the
//! cells keep the initial values, so the program must behave as it does natively. Some more runs in one process must leave the
//! same trace. Limit: one input, arguments are empty.

use engine::executor::{End, Executor, ExecutorOptions, ForkServer};
use engine::self_check::check;
use engine::terms::Expressions;
use engine::trace::Tracer;
use frontend::harness::HarnessOptions;
use frontend::instrument::Mode;
use model::Program;
use model::ctype::CTypeKind;
use model::input::Input;
use model::walk::Site;
use wire::Flags;

use crate::arguments::{SelfCheck, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::interrupt::{self, interrupt};
use quarry_cli::say::show;
use runner::error::with_causes;
use runner::front::work_directory;
use runner::front::{Front, Start, binary};

/// Runs in one process that are compared with one alone.
const N_AGAIN: u64 = 3;

/// Runs the command.
pub fn self_check(arguments: &SelfCheck) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let front = Front::mark(&sources(&arguments.sources), &here()?, work.path(), Start::Harness, &cache()?)?;
    let main = front.function(Some("main"))?;
    let globals = integer_globals(&front, main.unit, arguments.globals);
    let options = HarnessOptions { globals, ..HarnessOptions::default() };
    let harness = front.harness(&main, &options)?;
    let built = front.build(Some((&main, &harness)), &[Mode::Symbolic])?;
    let program = &built.lowered.program;
    let mut options =
        ExecutorOptions::new(binary(&built, Mode::Symbolic), work.path().join("run"), program.pointer_bits);
    options.interrupt = interrupt().flag();
    let failed = |error: engine::executor::ExecutorError| Failure::internal(with_causes(&error));
    let mut reusing = ForkServer::new(ExecutorOptions {
        reuse: true,
        directory: work.path().join("again"),
        ..options.clone()
    })
    .map_err(failed)?;
    let mut server = ForkServer::new(options).map_err(failed)?;
    let input = Input::default();
    let flags = Flags { symbolic: true, ..Flags::default() };
    let execution = server.execute(&input, flags, arguments.timeout).map_err(failed)?;
    show(&execution.output.stdout);
    let trace = Tracer::new(program)
        .trace(&execution, None, &interrupt::requested)
        .map_err(|error| Failure::new(Exit::No, with_causes(&error)))?;
    let mismatches = check(program, &Expressions::of(&execution), &trace, &input)
        .map_err(|error| Failure::new(Exit::No, with_causes(&error)))?;
    for mismatch in &mismatches {
        eprintln!("error: {mismatch}{}", source_of(program, mismatch.at));
    }
    eprintln!(
        "checked {} conditions ({} symbolic), {} nodes, {}",
        trace.n_outcomes,
        trace.steps.len(),
        execution.nodes.len(),
        execution.end
    );
    let marks = execution.marks;
    for (short, what) in
        [(marks.nodes_full, "nodes"), (marks.log_full, "path log"), (marks.cells_full, "cells")]
    {
        if short {
            eprintln!("note: the run ran out of {what}");
        }
    }
    let timed_out = execution.end == End::TimedOut;
    let mut is_alike = true;
    for _ in 0..N_AGAIN {
        let again = reusing.execute(&input, flags, arguments.timeout).map_err(failed)?;
        if again.fingerprint() != execution.fingerprint() {
            is_alike = false;
            let (end, n_nodes, n_logged) = (again.end, again.nodes.len(), again.log.len());
            let (same_cells, same_nodes) = (
                again.cells.bytes() == execution.cells.bytes(),
                again.nodes.bytes() == execution.nodes.bytes(),
            );
            let (same_log, same_output) = (again.log == execution.log, again.output == execution.output);
            eprintln!(
                "error: in a reused process the run differs: {end}, {n_nodes} nodes, {n_logged} bytes of path log \
                 (same cells {same_cells}, nodes {same_nodes}, log {same_log}, output {same_output})"
            );
        }
    }
    if !is_alike {
        eprintln!("note: processes were started {:?}", reusing.take_counts().n_started);
    }
    Ok(if mismatches.is_empty() && is_alike && !timed_out { Exit::Done } else { Exit::No })
}

/// The first integer globals of a unit that can be varied.
fn integer_globals(front: &Front, unit: usize, most: usize) -> Vec<String> {
    let types = &front.marks.declarations.types.types;
    let varies = |kind: &CTypeKind| match kind {
        CTypeKind::Bool | CTypeKind::Char { .. } | CTypeKind::Integer { .. } => true,
        CTypeKind::Void
        | CTypeKind::Enum { .. }
        | CTypeKind::Float { .. }
        | CTypeKind::Pointer { .. }
        | CTypeKind::Array { .. }
        | CTypeKind::Struct { .. }
        | CTypeKind::Function(_)
        | CTypeKind::Other => false,
    };
    let of_unit =
        front.marks.declarations.globals.iter().filter(|global| global.unit == unit && !global.is_const);
    let integers = of_unit.filter(|global| varies(&types[global.ty.0 as usize].kind));
    integers.take(most).map(|global| global.name.clone()).collect()
}

fn source_of(program: &Program, at: engine::self_check::MismatchSite) -> String {
    match at {
        engine::self_check::MismatchSite::Step { site: Site::Condition(condition), .. } => {
            let condition = program.condition(condition);
            format!(" ({} at {})", condition.text, program.describe(program.span(condition.span).at))
        }
        engine::self_check::MismatchSite::Step { site: Site::Branch(..) | Site::Switch(..), .. }
        | engine::self_check::MismatchSite::Note { .. } => String::new(),
    }
}
