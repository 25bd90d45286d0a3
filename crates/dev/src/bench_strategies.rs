//! `quarry-dev bench-strategies`: how do strategies perform on one function?

use frontend::instrument::Mode;
use quarry_cli::exit::{Exit, Failure};
use runner::spec::{CriteriaSpec, InputSpec, Spec, SubjectSpec};
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
        criteria: criteria(arguments),
        inputs: InputSpec { assume: arguments.assume.clone(), ..(&arguments.inputs).into() },
        ..Spec::default()
    };
    let subject = Subject::build(&spec, &here()?, work.path(), Need::Mode(Mode::Symbolic), &cache()?)?;
    let compared = Compared {
        scope: subject.scope()?,
        subject: &subject,
        work: work.path(),
        limit: arguments.limit,
        n_workers: arguments.workers.get(),
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

/// The criteria of all campaigns, which decide what the program can be asked for; those that are not known are skipped later.
fn criteria(arguments: &BenchStrategies) -> CriteriaSpec {
    let names = arguments.run.iter().flat_map(|series| [Some(&series.criterion), series.led_by.as_ref()]);
    let known = names.flatten().filter(|name| coverage::criterion_named(name).is_ok());
    CriteriaSpec { criterion: known.cloned().collect(), ..CriteriaSpec::default() }
}
