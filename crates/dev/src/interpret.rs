//! `quarry-dev interpret`: the program in the model interpreter, as an oracle for native and instrumented runs.

use model::interpret::{End, Interpreter, Limits, Value};

use crate::arguments::{Interpret, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::say::show;
use runner::front::work_directory;
use runner::front::{Front, Start};

/// Runs the command.
pub fn interpret(arguments: &Interpret) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let front = Front::mark(&sources(&arguments.sources), &here()?, work.path(), Start::Main, &cache()?)?;
    let built = front.build(None, &[])?;
    let program = &built.lowered.program;
    let main = program
        .function_named("main")
        .filter(|main| program.function(*main).is_defined())
        .ok_or_else(|| Failure::usage("the program defines no main"))?;
    let limits = Limits { steps: arguments.max_steps, ..Limits::default() };
    let outcome = Interpreter::new(program, limits).run(main, &[]);
    show(&outcome.output);
    eprint!("{}", String::from_utf8_lossy(&outcome.errors));
    match outcome.end {
        End::Returned(value) => Ok(Exit::Passed(status(value))),
        End::Exit(code) => Ok(Exit::Passed(code.to_le_bytes()[0])),
        // as a shell reports the signal
        End::Abort => Ok(Exit::Passed(128 + 6)),
        End::Fault(kind, place) => {
            Err(Failure::new(Exit::Passed(128 + 11), format!("the program faults at {place}: {kind:?}")))
        }
        End::OutOfSteps => Err(unsupported(&format!("{} steps are not enough", arguments.max_steps))),
        End::Unsupported(what) => Err(unsupported(&what)),
    }
}

fn status(value: Option<Value>) -> u8 {
    match value {
        Some(Value::Int { value, .. }) => value.to_le_bytes()[0],
        Some(Value::Ptr(_) | Value::Float { .. } | Value::Record(_)) | None => 0,
    }
}

fn unsupported(what: &str) -> Failure {
    Failure::new(Exit::Unsupported, format!("the model interpreter does not run this: {what}"))
}
