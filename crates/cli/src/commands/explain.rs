//! `quarry explain`: why is a goal of an earlier run open?

use cache::Cache;
use report::words::counted;
use runner::explain::{ExplainedProblem, Explanation, explain_goal};

use super::check_output;
use crate::arguments::{Explain, MessageFormat};
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::say::say;

/// Runs the command.
pub fn explain(arguments: &Explain, cache: &Cache) -> Result<Exit, Failure> {
    check_output(&arguments.run)?;
    let root = arguments
        .run
        .canonicalize()
        .map_err(|error| Failure::usage(format!("cannot find {}: {error}", arguments.run.display())))?;
    let found = explain_goal(&root, &arguments.goal, arguments.timeout, &interrupt(), cache)?;
    match arguments.message_format {
        MessageFormat::Human => found.iter().for_each(print),
        MessageFormat::Json => {
            let json = serde_json::to_string(&found);
            say(json.map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?);
        }
    }
    Ok(Exit::Done)
}

fn print(explanation: &Explanation) {
    let Explanation { id, goal, state, tests, problems, .. } = explanation;
    say(format_args!("{id}  {goal}"));
    say(format_args!("    {state}"));
    for problem in problems {
        print_problem(problem, *tests);
    }
}

fn print_problem(problem: &ExplainedProblem, n_tests: usize) {
    let n_reached = problem.reached;
    let n_tests = counted(n_tests, "test");
    say(format_args!("\nproblem: {}  {}", problem.at, problem.wanted));
    say(format_args!("    {n_reached} of {n_tests} come there"));
    if problem.definitions.is_empty() {
        say("    no variable with a name decides it");
    }
    for definition in &problem.definitions {
        let brought = match definition.tests {
            0 => "no test brings it there".to_owned(),
            n => format!("brought by {}", counted(n, "test")),
        };
        let promise = match definition.promise.as_str() {
            "solves" => "; its value would do",
            "fails" => "; its value does not do",
            _ => "",
        };
        say(format_args!("    {} from {}  {}", definition.variable, definition.at, definition.line));
        say(format_args!("        {brought}{promise}"));
    }
    if problem.sequences.is_empty() {
        return;
    }
    say("\nwhat would have to happen (in brackets: what must keep its value until the next):");
    for (sequence, number) in problem.sequences.iter().zip(1..) {
        say(format_args!("    {number}. {}", sequence.events.join(" → ")));
        for threat in &sequence.threats {
            say(format_args!("        in between, {threat}"));
        }
    }
    if problem.more_sequences > 0 {
        say(format_args!("    and {} more", problem.more_sequences));
    }
}
