//! Campaigns of strategies on one function, compared.
//!
//! Method: the function is built once, then every requested campaign runs in this process, each with its own fork server
//! and seed. Campaigns on one function repeat many queries: the solver remembers their verdicts, except where time is
//! measured. A line of JSON per campaign has its effort, what it covered and after which executions. Limit: campaigns run
//! one after another; for more at a time, start the command for several functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use coverage::{Coverage, Criterion, GoalId, Scope, criterion_named};
use engine::campaign::{
    self, Budget, CampaignOptions, CampaignResult, Finding, Observer, Progress, Setup, StopReason,
    SystemClock, Test,
};
use engine::executor::{Executor, ExecutorOptions, ForkServer, Seat};
use engine::strategy::{Strategy, StrategyOptions, UnknownStrategy, strategy_named};
use frontend::instrument::Mode;
use model::{DecisionId, Program};
use serde::Serialize;
use smt::{Memory, RememberingSolver, Solver};

use crate::series::Series;
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::interrupt::interrupt;
use quarry_cli::say::say;
use runner::error::with_causes;
use runner::measure::SEARCH_LOG;
use runner::solvers::SolverChoice;
use runner::store::writer::{Stop, stop_of};
use runner::subject::Subject;

/// The strategy of the measurement of overhead: it looks at no coverage, so that every criterion sees the same runs.
const BLIND_STRATEGY: &str = "dfs";

/// One campaign's line.
#[derive(Serialize)]
struct CampaignLine<'a> {
    criterion: &'a str,
    strategy: &'a str,
    filter: bool,
    seed: u64,
    max_executions: u64,
    executions: u64,
    re_executions: u64,
    sat: u64,
    unsat: u64,
    unknown: u64,
    filtered: u64,
    tests: usize,
    crashes: usize,
    hangs: usize,
    divergences: u64,
    troubles: u64,
    n_goals: usize,
    n_covered: usize,
    n_decisions: usize,
    n_decisions_covered: usize,
    seconds: f64,
    stop: Stop,
    /// Executions after which more was covered, with the goals covered then.
    curve: Vec<(u64, usize)>,
    /// The same with decisions of which every goal is covered.
    decision_curve: Vec<(u64, usize)>,
}

/// A series that cannot be run.
#[derive(Serialize)]
struct SkippedLine<'a> {
    skipped: &'a str,
    why: String,
}

/// The same executions with two criteria, in seconds, in turn.
#[derive(Serialize)]
struct OverheadLine {
    overhead: &'static str,
    executions: u64,
    branch: Vec<f64>,
    mcdc: Vec<f64>,
}

/// The function that all campaigns are about.
pub(crate) struct Compared<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) scope: Scope,
    pub(crate) work: &'a Path,
    pub(crate) limit: Duration,
    pub(crate) n_workers: usize,
    /// Answers of the solver, for all campaigns but those that are timed.
    pub(crate) memory: Memory,
}

impl Compared<'_> {
    pub(crate) fn series(&self, series: &Series) -> Result<(), Failure> {
        let known = criterion_named(&series.criterion)
            .map_err(|error| error.to_string())
            .and_then(|_| strategy(series).map_err(|error| error.to_string()));
        if let Err(why) = known {
            return print(&SkippedLine { skipped: &series.strategy, why });
        }
        for seed in 1..=series.n_seeds {
            let (result, curves) = self.campaign(series, seed, Some(&self.memory))?;
            print(&line(series, seed, &result, curves))?;
        }
        Ok(())
    }

    fn campaign(
        &self,
        series: &Series,
        seed: u64,
        memory: Option<&Memory>,
    ) -> Result<(CampaignResult, Curves), Failure> {
        let coverage = Coverage::new(self.subject.program(), &self.scope, &[criterion(series)?]);
        let mut curves = Curves::new(self.subject.program(), &coverage);
        let result = self.run(series, self.options(series, seed), memory, coverage, &mut curves)?;
        Ok((result, curves))
    }

    /// A campaign until this goal is covered, without answers of others.
    pub(crate) fn campaign_until(
        &self,
        series: &Series,
        seed: u64,
        goal: GoalId,
        coverage: Coverage,
    ) -> Result<CampaignResult, Failure> {
        let options = CampaignOptions { enough: Some(goal), minimise: false, ..self.options(series, seed) };
        self.run(series, options, None, coverage, &mut ())
    }

    fn options(&self, series: &Series, seed: u64) -> CampaignOptions {
        CampaignOptions {
            seed,
            budget: Budget { time: Some(self.limit), executions: Some(series.max_executions) },
            filter: series.filter,
            prune_redefinitions: series.prunes,
            ..CampaignOptions::default()
        }
    }

    fn run(
        &self,
        series: &Series,
        options: CampaignOptions,
        memory: Option<&Memory>,
        coverage: Coverage,
        observer: &mut dyn Observer,
    ) -> Result<CampaignResult, Failure> {
        let solver = || -> Box<dyn Solver> {
            let fresh = SolverChoice::Bitwuzla.make(interrupt().flag().into());
            match memory {
                Some(memory) => Box::new(RememberingSolver::new(fresh, memory.clone())),
                None => fresh,
            }
        };
        let setup = Setup {
            memory: None,
            program: self.subject.program(),
            coverage,
            strategy: strategy(series).map_err(Failure::usage)?,
            executors: self.executors()?,
            solver: &solver,
            clock: &SystemClock::start(),
            interrupt: interrupt().flag(),
            adviser: None,
        };
        let result = campaign::run(setup, &options, observer);
        match &result.stop {
            StopReason::Failed(error) => Err(Failure::internal(with_causes(error))),
            StopReason::Interrupted => Err(Failure::new(Exit::Interrupted, "interrupted")),
            StopReason::Complete | StopReason::Exhausted | StopReason::Budget(_) => Ok(result),
        }
    }

    fn executors(&self) -> Result<Vec<Box<dyn Executor + Send>>, Failure> {
        let seats = Seat::among(self.n_workers).into_iter().enumerate();
        seats.map(|(worker, seat)| self.executor(worker, seat)).collect()
    }

    fn executor(&self, worker: usize, seat: Seat) -> Result<Box<dyn Executor + Send>, Failure> {
        let binary = self.subject.binary(Mode::Symbolic);
        let pointer_bits = self.subject.program().pointer_bits;
        let mut options = ExecutorOptions::new(binary, self.work.join(format!("run-{worker}")), pointer_bits);
        (options.reuse, options.seat) = (true, Some(seat));
        options.layout.log_capacity = SEARCH_LOG;
        options.interrupt = interrupt().flag();
        Ok(Box::new(ForkServer::new(options).map_err(Failure::internal)?))
    }

    /// Times the same executions with branch and MC/DC coverage, as often as asked.
    pub(crate) fn overhead(&self, n_times: usize, max_executions: u64) -> Result<(), Failure> {
        let mut series: Series = format!("branch:{BLIND_STRATEGY}:off:1:{max_executions}")
            .parse()
            .expect("a series is written like this");
        let mut times = BTreeMap::from([("branch", Vec::new()), ("mcdc", Vec::new())]);
        // whichever is covered first ends both: the runs must be the same
        for name in ["branch", "mcdc", "branch"] {
            name.clone_into(&mut series.criterion);
            if let Err(error) = criterion_named(name) {
                return print(&SkippedLine { skipped: "overhead", why: error.to_string() });
            }
            series.max_executions = self.campaign(&series, 1, None)?.0.executions;
        }
        for _ in 0..n_times {
            for (name, seconds) in &mut times {
                (*name).clone_into(&mut series.criterion);
                seconds.push(self.campaign(&series, 1, None)?.0.seconds);
            }
        }
        let executions = series.max_executions;
        let mut of = |name| times.remove(name).expect("both criteria are there");
        print(&OverheadLine { overhead: BLIND_STRATEGY, executions, branch: of("branch"), mcdc: of("mcdc") })
    }
}

pub(crate) fn criterion(series: &Series) -> Result<Box<dyn Criterion>, Failure> {
    criterion_named(&series.criterion).map_err(Failure::usage)
}

fn strategy(series: &Series) -> Result<Box<dyn Strategy + Send>, UnknownStrategy> {
    strategy_named(&series.strategy, &StrategyOptions::default())
}

fn line<'a>(series: &'a Series, seed: u64, result: &CampaignResult, curves: Curves) -> CampaignLine<'a> {
    CampaignLine {
        criterion: &series.criterion,
        strategy: &series.strategy,
        filter: series.filter,
        seed,
        max_executions: series.max_executions,
        executions: result.executions,
        re_executions: result.re_executions,
        sat: result.queries.sat,
        unsat: result.queries.unsat,
        unknown: result.queries.unknown,
        filtered: result.candidates_filtered,
        tests: result.tests.len(),
        crashes: result.crashes.len(),
        hangs: result.hangs.len(),
        divergences: result.divergences,
        troubles: result.n_troubles,
        n_goals: result.coverage.n_goals(),
        n_covered: result.coverage.n_covered(),
        n_decisions: curves.n_decisions,
        n_decisions_covered: curves.n_decisions - curves.open.len(),
        seconds: result.seconds,
        stop: stop_of(&result.stop),
        curve: curves.goals,
        decision_curve: curves.decisions,
    }
}

pub(crate) fn print(line: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(line)
        .map_err(|error| Failure::internal(format!("cannot write a campaign as JSON: {error}")))?;
    say(text);
    Ok(())
}

/// Notes when coverage grows.
struct Curves {
    goals: Vec<(u64, usize)>,
    decisions: Vec<(u64, usize)>,
    n_decisions: usize,
    /// The goals not yet covered of every decision that has some.
    open: BTreeMap<DecisionId, BTreeSet<GoalId>>,
    decision_of: BTreeMap<GoalId, DecisionId>,
}

impl Curves {
    fn new(program: &Program, coverage: &Coverage) -> Self {
        let mut open: BTreeMap<DecisionId, BTreeSet<GoalId>> = BTreeMap::new();
        let mut decision_of = BTreeMap::new();
        for (id, goal, _) in coverage.goals() {
            if let Some(decision) = goal.demand.decision(program) {
                open.entry(decision).or_default().insert(id);
                decision_of.insert(id, decision);
            }
        }
        let n_decisions = open.len();
        Self { goals: Vec::new(), decisions: Vec::new(), n_decisions, open, decision_of }
    }

    fn covered(&mut self, test: &Test, progress: &Progress) {
        for goal in &test.covers {
            let Some(decision) = self.decision_of.get(goal) else { continue };
            let Some(open) = self.open.get_mut(decision) else { continue };
            open.remove(goal);
            if open.is_empty() {
                self.open.remove(decision);
            }
        }
        note(&mut self.decisions, progress.executions, self.n_decisions - self.open.len());
        note(&mut self.goals, progress.executions, progress.n_covered);
    }
}

impl Observer for Curves {
    fn worked(&mut self, progress: &Progress) {
        note(&mut self.goals, progress.executions, progress.n_covered);
    }

    fn kept(&mut self, test: &Test, progress: &Progress) {
        self.covered(test, progress);
    }

    fn found(&mut self, finding: &Finding, progress: &Progress) {
        self.covered(&finding.test, progress);
    }
}

fn note(curve: &mut Vec<(u64, usize)>, executions: u64, n: usize) {
    if n > curve.last().map_or(0, |(_, last)| *last) {
        curve.push((executions, n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_only_the_points_where_it_rises() {
        let mut curve = Vec::new();
        for (executions, n) in [(1, 0), (2, 3), (3, 3), (4, 5)] {
            note(&mut curve, executions, n);
        }
        assert_eq!(curve, [(2, 3), (4, 5)]);
    }
}
