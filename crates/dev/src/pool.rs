//! `quarry-dev bench-pool`: what does filtering a pool cost after more has been covered?
//!
//! Method: a function with a loop of symbolic conditions and decisions in three functions is run once; its first N
//! candidates make the pool. Then a goal is covered that leaves all of them relevant, and one that makes all of them
//! irrelevant. Each is measured with pools of growing size: the first must not grow with the pool, the second only with
//! what is dropped. Then `cpgs` aims at a def-use pair, which ranks every candidate once, and picks. Limit: one program,
//! one kind of loop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use analysis::cut_points::Dominance;
use analysis::distance::Routes;
use analysis::icfg::Icfg;
use coverage::structure::Structure;
use coverage::{Coverage, TestId, criterion_named};
use engine::executor::{Executor, ExecutorError, ForkServer};
use engine::pool::{Judge, Pool, Run};
use engine::rng::Rng;
use engine::strategy::{StrategyOptions, View, strategy_named};
use engine::target::{Guidance, Target, TargetPair};
use engine::trace::{Trace, Tracer};
use model::input::Input;
use wire::Flags;

use crate::bench::{options, prepare};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::say::say;
use runner::error::with_causes;
use runner::front::work_directory;
use runner::subject::Subject;

const PROGRAM: &str = "
static int classify(unsigned x, unsigned i)
{
    if ((x ^ i) % 7 == 3 && x > i)
        return 1;
    return (x + i) % 5 == 2 ? 2 : 0;
}

static unsigned step(unsigned x, unsigned i)
{
    switch (classify(x, i)) {
    case 1: return x * 3 + 1;
    case 2: return x / 2;
    default: return x + i;
    }
}

int pool(unsigned x, unsigned y)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 60000; i++)
        n += step(x, i) & 1;
    if (y == 77)
        return 1;
    return n == y;
}
";

const RUN_LIMIT: Duration = Duration::from_secs(60);
const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];
/// Measurements of each kind, of which the shortest counts.
const N_MEASUREMENTS: usize = 5;

/// Runs the command.
pub fn bench() -> Result<Exit, Failure> {
    let work = work_directory()?;
    let subject = prepare(work.path(), "pool", PROGRAM)?;
    let tracer = Tracer::new(subject.program());
    let mut server = ForkServer::new(options(&subject, work.path())).map_err(failed)?;
    // below and above what the loop's conditions compare with
    let [first, second] = [[3, 5], [70_000, 77]].map(|values| input(&subject, values));
    let first = trace(&tracer, &mut server, &first)?;
    let second = trace(&tracer, &mut server, &second)?;
    say(format_args!(
        "{:>10} {:>10} {:>14} {:>14} {:>14} {:>14} {:>14}",
        "candidates",
        "outlooks",
        "all stay, µs",
        "all go, µs",
        "pps picks, µs",
        "cpgs aims, µs",
        "cpgs picks, µs"
    ));
    for size in SIZES {
        let mut best: Option<Measured> = None;
        for _ in 0..N_MEASUREMENTS {
            let measured = measure(&tracer, size, &first, &second);
            best = Some(best.map_or(measured, |best| best.min(measured)));
        }
        let Some(best) = best else { continue };
        say(format_args!(
            "{:>10} {:>10} {:>14.1} {:>14.1} {:>14.1} {:>14.1} {:>14.1}",
            best.n_candidates,
            best.n_outlooks,
            micros(best.stay),
            micros(best.go),
            micros(best.pick),
            micros(best.aim),
            micros(best.guided_pick)
        ));
    }
    Ok(Exit::Done)
}

#[derive(Clone, Copy)]
struct Measured {
    n_candidates: usize,
    n_outlooks: usize,
    stay: Duration,
    go: Duration,
    pick: Duration,
    /// Of `cpgs`: ranking the pool for a pair, and the pick after that.
    aim: Duration,
    guided_pick: Duration,
}

impl Measured {
    fn min(self, other: Self) -> Self {
        let (stay, go, pick) = (self.stay.min(other.stay), self.go.min(other.go), self.pick.min(other.pick));
        let (aim, guided_pick) = (self.aim.min(other.aim), self.guided_pick.min(other.guided_pick));
        Self { stay, go, pick, aim, guided_pick, ..self }
    }
}

fn measure(tracer: &Tracer<'_>, size: usize, first: &Trace, second: &Trace) -> Measured {
    let program = tracer.program();
    let scope = coverage::Scope::whole(program);
    let criterion = criterion_named("branch").expect("a criterion that there is");
    let mut coverage = Coverage::new(program, &scope, &[criterion]);
    let mut structure = Structure::new(tracer.marking(), &coverage);
    let mut pool = Pool::new(size, usize::MAX, true);
    let run =
        Run { input: Arc::default(), origin: None, n_new_goals: 1, distances: BTreeMap::new(), path: None };
    let mut judge = Judge { program, coverage: &coverage, structure: &mut structure };
    let candidates = pool.add_run(&mut judge, run, first);
    let n_candidates = pool.n_open();
    let mut strategy = strategy_named("pps", &StrategyOptions::default()).expect("a strategy that there is");
    let view = View { program, coverage: &coverage, structure: &structure, pool: &pool, target: None };
    candidates.into_iter().for_each(|candidate| strategy.add(candidate, &view));

    // the run itself covers what most flips would: the rest stays, for what is behind the loop
    coverage.cover(TestId(1), &first.observations);
    let started = Instant::now();
    structure.refresh(&coverage);
    pool.drop_irrelevant(&structure, &coverage);
    let stay = started.elapsed();
    let n_outlooks = structure.outlooks().count();
    let view = View { program, coverage: &coverage, structure: &structure, pool: &pool, target: None };
    let started = Instant::now();
    strategy.next(&view, &mut Rng::new(1));
    let pick = started.elapsed();

    coverage.cover(TestId(2), &second.observations);
    let started = Instant::now();
    structure.refresh(&coverage);
    pool.drop_irrelevant(&structure, &coverage);
    let go = started.elapsed();
    let (aim, guided_pick) = measure_guided(tracer, size, first);
    Measured { n_candidates, n_outlooks, stay, go, pick, aim, guided_pick }
}

/// What `cpgs` takes to aim at the pair that most candidates may cover, and to pick one of them.
fn measure_guided(tracer: &Tracer<'_>, size: usize, first: &Trace) -> (Duration, Duration) {
    let program = tracer.program();
    let criterion = criterion_named("def-use").expect("a criterion that there is");
    let coverage = Coverage::new(program, &coverage::Scope::whole(program), &[criterion]);
    let flow = coverage.data_flow().expect("the criterion asks for it");
    let mut structure = Structure::new(tracer.marking(), &coverage);
    let graph = Icfg::new(program);
    let routes = Routes::of(&graph);
    let dominance = Dominance::of(&graph, &routes, program.root.expect("a harness starts the run"));
    let mut pool = Pool::new(size, usize::MAX, false);
    let run =
        Run { input: Arc::default(), origin: None, n_new_goals: 1, distances: BTreeMap::new(), path: None };
    let mut judge = Judge { program, coverage: &coverage, structure: &mut structure };
    let candidates = pool.add_run(&mut judge, run, first);
    let ways = coverage.goals().filter_map(|(goal, asked, _)| {
        let pair = asked.demand.pair()?;
        Some(TargetPair { goal, pair: flow.pair(pair) })
    });
    let n_ranked = |target: &Target| {
        candidates.iter().filter(|id| target.rank(**id, &pool, &structure).is_some()).count()
    };
    let targets = ways.filter_map(|way| Target::new(way, flow, &dominance, Guidance::CutPoints, true));
    let target = targets.max_by_key(n_ranked).expect("the program has pairs");
    assert!(n_ranked(&target) > 0, "behind some flip lies a use");
    let mut strategy = strategy_named("cpgs", &StrategyOptions::default()).expect("a strategy that there is");
    let view = View { program, coverage: &coverage, structure: &structure, pool: &pool, target: None };
    candidates.iter().for_each(|candidate| strategy.add(*candidate, &view));
    let view = View { target: Some(&target), ..view };
    let started = Instant::now();
    strategy.aim(&view);
    let aim = started.elapsed();
    let started = Instant::now();
    strategy.next(&view, &mut Rng::new(1));
    (aim, started.elapsed())
}

fn input(subject: &Subject, values: [u64; 2]) -> Input {
    let keys = subject.shape().cells().into_iter().map(|(_, cell)| cell.key);
    Input { values: keys.zip(values).collect() }
}

fn trace(tracer: &Tracer<'_>, server: &mut ForkServer, input: &Input) -> Result<Trace, Failure> {
    let flags = Flags { symbolic: true, ..Flags::default() };
    let execution = server.execute(input, flags, RUN_LIMIT).map_err(failed)?;
    tracer.trace(&execution, None, &|| false).map_err(|error| Failure::internal(with_causes(&error)))
}

fn failed(error: ExecutorError) -> Failure {
    Failure::internal(with_causes(&error))
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
