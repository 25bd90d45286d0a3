//! `quarry-dev lower`: does C become a well-formed model, and how large is it?

use std::time::Instant;

use model::Program;

use crate::arguments::{Lower, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::say::show;
use runner::front::work_directory;
use runner::front::{Front, Start};

/// Runs the command.
pub fn lower(arguments: &Lower) -> Result<Exit, Failure> {
    let started = Instant::now();
    let work = work_directory()?;
    let front = Front::mark(&sources(&arguments.sources), &here()?, work.path(), Start::Main, &cache()?)?;
    let built = front.build(None, &[])?;
    let program = &built.lowered.program;
    let seconds = started.elapsed().as_secs_f64();
    if arguments.print {
        show(model::text::print(program).as_bytes());
    }
    eprintln!("{} in {seconds:.2} s", sizes(program));
    let violations = model::verify::verify(program);
    for violation in &violations {
        eprintln!("error: the model is not well formed: {violation}");
    }
    Ok(if violations.is_empty() { Exit::Done } else { Exit::No })
}

fn sizes(program: &Program) -> String {
    let defined = || program.functions.iter().filter(|function| function.is_defined());
    let n_blocks: usize = defined().map(|function| function.blocks.len()).sum();
    let n_instrs: usize = defined().map(|function| function.instrs.len()).sum();
    format!(
        "{} functions, {n_blocks} blocks, {n_instrs} instructions, {} decisions, {} conditions, {} switches, {} gaps",
        defined().count(),
        program.decisions.len(),
        program.conditions.len(),
        program.switches.len(),
        program.gaps.len(),
    )
}
