//! Commands for Quarry's own checks: every stage from C to a run, one at a time.

mod arguments;
mod bench;
mod bench_strategies;
mod build;
mod cells;
mod check_dataflow;
mod check_pairs;
mod cut_points;
mod dataflow;
mod each_goal;
mod interpret;
mod lower;
mod pool;
mod prove;
mod self_check;
mod series;
mod strategies;

use std::process::ExitCode;

use clap::Parser;
use quarry_cli::exit::{Exit, Failure};

use arguments::{Dev, Stage};

fn main() -> ExitCode {
    quarry_cli::run(|| run(&Dev::parse().stage))
}

/// Runs one stage.
fn run(stage: &Stage) -> Result<Exit, Failure> {
    match stage {
        Stage::Lower(arguments) => lower::lower(arguments),
        Stage::Interpret(arguments) => interpret::interpret(arguments),
        Stage::Build(arguments) => build::build(arguments),
        Stage::Cells(arguments) => cells::cells(arguments),
        Stage::SelfCheck(arguments) => self_check::self_check(arguments),
        Stage::CheckDataflow(arguments) => check_dataflow::check(arguments),
        Stage::CheckPairs(arguments) => check_pairs::check(arguments),
        Stage::Prove(arguments) => prove::prove(arguments),
        Stage::CheckProofs(arguments) => prove::check(arguments),
        Stage::BenchExec(arguments) => bench::bench(arguments),
        Stage::BenchDataflow(arguments) => dataflow::bench(arguments),
        Stage::BenchPool => pool::bench(),
        Stage::BenchCutPoints(arguments) => cut_points::bench(arguments),
        Stage::BenchStrategies(arguments) => bench_strategies::bench(arguments),
    }
}
