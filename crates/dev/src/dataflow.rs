//! `quarry-dev bench-dataflow`: how long do the def-use pairs of a program take, and how many are there?
//!
//! Method: the model is built without instrumentation, then the analysis alone is timed, and then the cut points of every
//! pair, definition by definition, as a search requests them. Memory is the peak of the process (`VmHWM`), before and
//! after; the peak of the front end hides what the analysis needs below that.

use std::time::Instant;

use analysis::cut_points::Dominance;
use analysis::dataflow::{DataFlow, DataFlowOptions, Pair};
use analysis::distance::Routes;
use analysis::icfg::Icfg;
use model::{FunctionId, Program};

use crate::arguments::{BenchDataflow, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::say::say;
use runner::front::work_directory;
use runner::front::{Front, Start};
use runner::subject::function_id;

/// Runs the command.
pub fn bench(arguments: &BenchDataflow) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let front = Front::mark(&sources(&arguments.sources), &here()?, work.path(), Start::Main, &cache()?)?;
    let built = front.build(None, &[])?;
    let program = &built.lowered.program;
    let root = match &arguments.function {
        Some(name) => Some(function_id(program, name)?),
        None => program.root,
    };
    let before = peak_memory();
    let started = Instant::now();
    let flow = DataFlow::of(
        program,
        &DataFlowOptions { roots: root.into_iter().collect(), elements: arguments.elements },
    );
    let seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let n_cut_points = root.map(|root| n_cut_points(program, &flow, root));
    let cut_point_seconds = started.elapsed().as_secs_f64();
    let after = peak_memory();
    if arguments.print {
        flow.pairs().for_each(|(_, pair)| say(flow.describe(program, pair)));
    }
    let n_instrs: usize = program.functions.iter().map(|function| function.instrs.len()).sum();
    let rows = [
        ("instructions", n_instrs.to_string()),
        ("variables", program.variables.len().to_string()),
        ("objects", flow.objects().count().to_string()),
        (
            "watched accesses and variables",
            (flow.watch().instrs.len() + flow.watch().globals.len()).to_string(),
        ),
        ("definitions", flow.definitions().count().to_string()),
        ("uses", flow.uses().count().to_string()),
        ("pairs", flow.pairs().count().to_string()),
        ("seconds", format!("{seconds:.3}")),
        ("cut points", n_cut_points.map_or("-".to_owned(), |n_points| n_points.to_string())),
        ("seconds for cut points", format!("{cut_point_seconds:.3}")),
        ("MiB at most, before", format!("{}", before / 1024)),
        ("MiB at most, after", format!("{}", after / 1024)),
    ];
    for (what, number) in rows {
        say(format_args!("{what:<48} {number:>12}"));
    }
    Ok(Exit::Done)
}

/// How many cut points all pairs have together.
fn n_cut_points(program: &Program, flow: &DataFlow, root: FunctionId) -> usize {
    let graph = Icfg::new(program);
    let routes = Routes::of(&graph);
    let dominance = Dominance::of(&graph, &routes, root);
    let mut pairs: Vec<Pair> = flow.pairs().map(|(_, pair)| pair).collect();
    pairs.sort_by_key(|pair| pair.definition);
    let mut n_points = 0;
    for of_definition in pairs.chunk_by(|one, next| one.definition == next.definition) {
        let Some(value_flow) = flow.value_flow(&dominance, of_definition[0].definition) else { continue };
        for pair in of_definition {
            let used = flow.use_places(*pair).first();
            let cut_points = used.and_then(|used| value_flow.cut_points(*used));
            n_points += cut_points.map_or(0, |cut_points| cut_points.places.len());
        }
    }
    n_points
}

/// The most memory this process ever had, in KiB; 0 when the system does not say.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
