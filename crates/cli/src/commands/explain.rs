//! `quarry explain`: why is a goal of an earlier run open?

use cache::Cache;
use report::explanation::{ExplainedProblem, Explanation, SeenValues, TriedSequences};
use report::words::counted;
use runner::explain::explain_goal;

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
    if !problem.line.is_empty() {
        say(format_args!("        {}", problem.line));
    }
    say(format_args!("    {n_reached} of {n_tests} come there"));
    for SeenValues { variable, values, more } in &problem.values {
        let more = if *more == 0 { String::new() } else { format!(" and {}", counted(*more, "other value")) };
        say(format_args!("    {variable} is {} there{more}", values.join(", ")));
    }
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
    match &problem.tried {
        Some(tried) => print_tried(tried),
        None => say("\nthe search followed no event sequences for it"),
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

fn print_tried(tried: &TriedSequences) {
    let TriedSequences { runs, sequences, saturated, tried } = tried;
    let n_runs = counted(usize::try_from(*runs).unwrap_or(usize::MAX), "run");
    let n_sequences = counted(usize::try_from(*sequences).unwrap_or(usize::MAX), "event sequence");
    let end = if *saturated { "all of them to their end" } else { "not all of them to their end" };
    say(format_args!("\nwhat the search tried: {n_sequences} in {n_runs}, {end}"));
    for (sequence, number) in tried.iter().zip(1..) {
        // where it broke lies between what a run passed and what comes next
        let (passed, missing) = sequence.events.split_at((sequence.passed + 1).min(sequence.events.len()));
        let missing =
            if missing.is_empty() { String::new() } else { format!(" ⇥ {}", missing.join(" → ")) };
        say(format_args!("    {number}. {}{missing}", passed.join(" → ")));
        let runs = counted(usize::try_from(sequence.runs).unwrap_or(usize::MAX), "run");
        say(format_args!("        broke at ⇥ after {runs}: {}", sequence.broke));
    }
}
