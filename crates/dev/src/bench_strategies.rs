//! `quarry-dev bench-strategies`: how do strategies perform on one function?

use frontend::instrument::Mode;
use quarry_cli::exit::{Exit, Failure};
use runner::spec::{InputSpec, Spec, SubjectSpec};
use runner::subject::{Need, Subject};
use smt::Memory;

use crate::arguments::{BenchStrategies, cache, here, sources};
use crate::each_goal;
use crate::strategies::Compared;
use runner::front::work_directory;

/// Runs the command.
pub fn bench(arguments: &BenchStrategies) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let spec = Spec {
        sources: sources(&arguments.sources),
        subject: SubjectSpec { function: Some(arguments.function.clone()), ..SubjectSpec::default() },
        inputs: InputSpec { assume: arguments.assume.clone(), ..(&arguments.inputs).into() },
        ..Spec::default()
    };
    let subject = Subject::build(&spec, &here()?, work.path(), Need::Mode(Mode::Symbolic), &cache()?)?;
    let compared = Compared {
        scope: subject.scope()?,
        subject: &subject,
        work: work.path(),
        limit: arguments.limit,
        memory: Memory::default(),
    };
    if arguments.each_goal {
        each_goal::bench(&compared, arguments)?;
    } else {
        arguments.run.iter().try_for_each(|series| compared.series(series))?;
    }
    if arguments.overhead > 0 {
        compared.overhead(arguments.overhead, arguments.overhead_executions)?;
    }
    Ok(Exit::Done)
}
