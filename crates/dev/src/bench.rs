//! `quarry-dev bench-exec`: how fast are executions, expressions and queries?
//!
//! Method: two small functions are built with their harness; each measurement repeats one operation for a given time and
//! reports the mean. Limit: one worker, one machine; the program's start-up is that of a small C program without static
//! initialisation, so a larger one gains more from the fork server.

use std::path::Path;
use std::time::{Duration, Instant};

use engine::executor::{Executor, ExecutorError, ExecutorOptions, ForkServer, FreshProcess};
use frontend::instrument::Mode;
use model::input::Input;
use smt::{BitwuzlaSolver, Solver, Term, TermStore, Verdict};
use wire::Flags;

use crate::arguments::{BenchExec, cache};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::say::say;
use runner::error::with_causes;
use runner::front::work_directory;
use runner::spec::{SourceSpec, Spec, SubjectSpec};
use runner::subject::{Need, Subject};

const SMALL: &str = "
int small(int a, int b)
{
    if (a > b)
        return a == 77 ? 1 : 2;
    return b % 5 == 3 ? 3 : 4;
}
";

const SYMBOLIC: &str = "
int symbolic(unsigned a, unsigned b)
{
    for (int i = 0; i < 200000; i++) {
        a = a * 31 + b;
        b ^= a >> 3;
    }
    return a == b;
}
";

const RUN_LIMIT: Duration = Duration::from_secs(20);
const QUERY_LIMIT: Duration = Duration::from_secs(5);

/// Runs the command.
pub fn bench(arguments: &BenchExec) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let time = arguments.time;
    let small = prepare(work.path(), "small", SMALL)?;
    let server = executions(&mut ForkServer::new(options(&small, work.path())).map_err(failed)?, time)?;
    let fresh = executions(&mut FreshProcess::new(options(&small, work.path())).map_err(failed)?, time)?;
    let symbolic = prepare(work.path(), "symbolic", SYMBOLIC)?;
    let nodes = nodes(&mut ForkServer::new(options(&symbolic, work.path())).map_err(failed)?, time)?;
    let query = query_time(time)?;
    let rows = [
        ("executions per second, fork server", format!("{server:.0}")),
        ("executions per second, fork and exec", format!("{fresh:.0}")),
        ("fork server against fork and exec (aim 5)", format!("{:.1}", server / fresh)),
        ("expression nodes per second", format!("{nodes:.0}")),
        ("microseconds per small query", format!("{:.1}", query.as_secs_f64() * 1e6)),
    ];
    for (what, number) in rows {
        say(format_args!("{what:<44} {number:>12}"));
    }
    Ok(Exit::Done)
}

pub(crate) fn prepare(work: &Path, function: &str, text: &str) -> Result<Subject, Failure> {
    let file = work.join(format!("{function}.c"));
    std::fs::write(&file, text)
        .map_err(|error| Failure::internal(format!("cannot write {}: {error}", file.display())))?;
    let spec = Spec {
        sources: SourceSpec { files: vec![file], ..SourceSpec::default() },
        subject: SubjectSpec { function: Some(function.to_owned()), ..SubjectSpec::default() },
        ..Spec::default()
    };
    Ok(Subject::build(&spec, work, &work.join(function), Need::Mode(Mode::Symbolic), &cache()?)?)
}

pub(crate) fn options(subject: &Subject, work: &Path) -> ExecutorOptions {
    let binary = subject.binary(Mode::Symbolic);
    ExecutorOptions::new(binary, work.join("run"), subject.program().pointer_bits)
}

fn failed(error: ExecutorError) -> Failure {
    Failure::internal(with_causes(&error))
}

fn executions(executor: &mut dyn Executor, time: Duration) -> Result<f64, Failure> {
    let flags = Flags { symbolic: true, ..Flags::default() };
    // the first run starts the server
    executor.execute(&Input::default(), flags, RUN_LIMIT).map_err(failed)?;
    let started = Instant::now();
    let mut n_executions = 0u32;
    while started.elapsed() < time {
        executor.execute(&Input::default(), flags, RUN_LIMIT).map_err(failed)?;
        n_executions += 1;
    }
    Ok(f64::from(n_executions) / started.elapsed().as_secs_f64())
}

fn nodes(executor: &mut dyn Executor, time: Duration) -> Result<f64, Failure> {
    let flags = Flags { symbolic: true, ..Flags::default() };
    let mut n_nodes = 0;
    let mut spent = Duration::ZERO;
    while spent < time {
        let execution = executor.execute(&Input::default(), flags, RUN_LIMIT).map_err(failed)?;
        if execution.nodes.is_empty() {
            return Err(Failure::internal("a fully symbolic function made no expression"));
        }
        n_nodes += execution.nodes.len();
        spent += execution.wall;
    }
    Ok(n_nodes as f64 / spent.as_secs_f64())
}

/// The mean time of a query about two words, different each time and too hard to guess.
fn query_time(time: Duration) -> Result<Duration, Failure> {
    let mut solver = BitwuzlaSolver::new();
    let started = Instant::now();
    let mut n_queries = 0u32;
    while started.elapsed() < time {
        let mut store = TermStore::default();
        let assertions = small_query(&mut store, u128::from(n_queries));
        match solver.check(&store, &assertions, QUERY_LIMIT.into()) {
            Verdict::Sat(_) => n_queries += 1,
            other @ (Verdict::Unsat { .. } | Verdict::Unknown(_)) => {
                return Err(Failure::internal(format!("a small query was answered {other:?}")));
            }
        }
    }
    Ok(started.elapsed() / n_queries.max(1))
}

/// `3x + y = n` and `x < y`, in words of 32 bits.
fn small_query(store: &mut TermStore, n: u128) -> [Term; 2] {
    let (x, y) = (store.var("x", 32), store.var("y", 32));
    let three = store.constant(32, 3);
    let product = store.mul(x, three);
    let sum = store.add(product, y);
    let n = store.constant(32, 1000 + n);
    [store.eq(sum, n), store.ult(x, y)]
}
