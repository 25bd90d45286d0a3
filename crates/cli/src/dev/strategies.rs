//! `quarry dev bench-strategies`: how do strategies fare on one function?
//!
//! Method: the function is built once, then every campaign asked for runs in this process, each with its own fork
//! server and seed. Campaigns of a function ask many questions that another one asked before: the solver remembers, except
//! where time is measured. A line of JSON per campaign has what it spent, what it covered and after which executions.
//! Limit: campaigns run one after another with one worker; who wants more starts the command for several functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use coverage::{Coverage, Criterion, Demand, GoalId, Scope, criterion_named};
use engine::campaign::{
    self, Budget, BudgetKind, CampaignResult, Finding, Observer, Options, Progress, Setup, StopReason,
    SystemClock, Test,
};
use engine::executor::{Executor, ExecutorOptions, ForkServer};
use engine::strategy::{Strategy, StrategyOptions, UnknownStrategy, strategy_named};
use frontend::instrument::Mode;
use model::{DecisionId, Program};
use serde::Serialize;
use smt::{Memory, RememberingSolver, Solver};

use super::{BenchStrategies, each_goal, work_directory};
use crate::exit::{Exit, Failure, with_causes};
use crate::interrupt;
use crate::prepare::{Prepared, Wanted};
use crate::say::say;
use crate::solvers::SolverChoice;
use crate::task::SEARCH_LOG;

/// The strategy of the measurement of overhead: it looks at no coverage, so that every criterion sees the same runs.
const BLIND_STRATEGY: &str = "dfs";

/// Campaigns that differ in their seed alone, written `CRITERION:STRATEGY:on|off:SEEDS:EXECUTIONS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    pub(super) criterion: String,
    pub(super) strategy: String,
    filter: bool,
    /// Seeds 1 up to this one.
    pub(super) n_seeds: u64,
    max_executions: u64,
}

impl FromStr for Series {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [criterion, strategy, filter, seeds, executions] = parts[..] else {
            return Err(format!("'{text}' is not CRITERION:STRATEGY:on|off:SEEDS:EXECUTIONS"));
        };
        let filter = match filter {
            "on" => true,
            "off" => false,
            _ => return Err(format!("filtering is on or off, not '{filter}'")),
        };
        let number = |text: &str| text.parse().map_err(|_| format!("'{text}' is no number"));
        Ok(Self {
            criterion: criterion.to_owned(),
            strategy: strategy.to_owned(),
            filter,
            n_seeds: number(seeds)?,
            max_executions: number(executions)?,
        })
    }
}

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
    stop: &'static str,
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

/// Runs the command.
pub fn bench(arguments: &BenchStrategies) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let wanted = Wanted {
        function: Some(&arguments.function),
        inputs: (&arguments.inputs).into(),
        assumptions: &arguments.assume,
        program: None,
        stubs: &crate::arguments::StubArguments::default(),
        config: None,
    };
    let prepared = Prepared::new(&arguments.sources, &wanted, work.path(), &[Mode::Symbolic])?;
    let subject = Subject {
        scope: prepared.scope()?,
        prepared: &prepared,
        work: work.path(),
        limit: arguments.limit,
        memory: Memory::default(),
    };
    if arguments.each_goal {
        each_goal::bench(&subject, arguments)?;
    } else {
        arguments.run.iter().try_for_each(|series| subject.series(series))?;
    }
    if arguments.overhead > 0 {
        subject.overhead(arguments.overhead, arguments.overhead_executions)?;
    }
    Ok(Exit::Done)
}

/// The function that all campaigns are about.
pub(super) struct Subject<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) scope: Scope,
    work: &'a Path,
    limit: Duration,
    /// Answers of the solver, for all campaigns but those that are timed.
    memory: Memory,
}

impl Subject<'_> {
    fn series(&self, series: &Series) -> Result<(), Failure> {
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
        let coverage = Coverage::new(self.prepared.program(), &self.scope, &[criterion(series)?]);
        self.campaign_for(series, seed, memory, coverage)
    }

    /// A campaign for the open goals of this coverage, without answers of others.
    pub(super) fn campaign_alone(
        &self,
        series: &Series,
        seed: u64,
        coverage: Coverage,
    ) -> Result<CampaignResult, Failure> {
        Ok(self.campaign_for(series, seed, None, coverage)?.0)
    }

    fn campaign_for(
        &self,
        series: &Series,
        seed: u64,
        memory: Option<&Memory>,
        coverage: Coverage,
    ) -> Result<(CampaignResult, Curves), Failure> {
        let program = self.prepared.program();
        let options = Options {
            seed,
            budget: Budget { time: Some(self.limit), executions: Some(series.max_executions) },
            filter: series.filter,
            ..Options::default()
        };
        let mut curves = Curves::new(program, &coverage);
        let solver = || -> Box<dyn Solver> {
            let fresh = SolverChoice::Bitwuzla.make(interrupt::flag().into());
            match memory {
                Some(memory) => Box::new(RememberingSolver::new(fresh, memory.clone())),
                None => fresh,
            }
        };
        let setup = Setup {
            program,
            coverage,
            strategy: strategy(series).map_err(Failure::usage)?,
            executors: vec![self.executor()?],
            solver: &solver,
            clock: &SystemClock::start(),
            interrupt: interrupt::flag(),
        };
        let result = campaign::run(setup, &options, &mut curves);
        match &result.stop {
            StopReason::Failed(error) => Err(Failure::internal(with_causes(error))),
            StopReason::Interrupted => Err(Failure::new(Exit::Interrupted, "interrupted")),
            StopReason::Complete | StopReason::Exhausted | StopReason::Budget(_) => Ok((result, curves)),
        }
    }

    fn executor(&self) -> Result<Box<dyn Executor + Send>, Failure> {
        let binary = self.prepared.binary(Mode::Symbolic);
        let pointer_bits = self.prepared.program().pointer_bits;
        let mut options = ExecutorOptions::new(binary, self.work.join("run"), pointer_bits);
        options.layout.log_capacity = SEARCH_LOG;
        options.interrupt = interrupt::flag();
        Ok(Box::new(ForkServer::new(options).map_err(Failure::internal)?))
    }

    /// Times the same executions with branch and MC/DC coverage, as often as asked.
    fn overhead(&self, n_times: usize, max_executions: u64) -> Result<(), Failure> {
        let mut series = Series {
            criterion: "branch".to_owned(),
            strategy: BLIND_STRATEGY.to_owned(),
            filter: false,
            n_seeds: 1,
            max_executions,
        };
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

pub(super) fn criterion(series: &Series) -> Result<Box<dyn Criterion>, Failure> {
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
        stop: match &result.stop {
            StopReason::Complete => "complete",
            StopReason::Exhausted => "exhausted",
            StopReason::Budget(BudgetKind::Executions) => "executions",
            StopReason::Budget(BudgetKind::Time) => "time",
            StopReason::Interrupted => "interrupted",
            StopReason::Failed(_) => "failed",
        },
        curve: curves.goals,
        decision_curve: curves.decisions,
    }
}

pub(super) fn print(line: &impl Serialize) -> Result<(), Failure> {
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
            if let Some(decision) = decision(program, goal.demand) {
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

/// The decision that a demand is about.
fn decision(program: &Program, demand: Demand) -> Option<DecisionId> {
    match demand {
        Demand::Decision(decision, _) | Demand::Vector(decision, _) => Some(decision),
        Demand::Condition(condition, _)
        | Demand::Independent(condition, _)
        | Demand::Paired(condition, _) => Some(program.condition(condition).decision),
        Demand::Entered(_)
        | Demand::Ended(_)
        | Demand::Executed(_)
        | Demand::Label(..)
        | Demand::Defined(_)
        | Demand::Used(_)
        | Demand::Pair(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_names_everything_but_the_seed() {
        let series: Series = "mcdc:pps+fitness:off:30:100".parse().expect("well formed");
        let expected = Series {
            criterion: "mcdc".to_owned(),
            strategy: "pps+fitness".to_owned(),
            filter: false,
            n_seeds: 30,
            max_executions: 100,
        };
        assert_eq!(series, expected);
        for wrong in ["branch:dfs:on:3", "branch:dfs:maybe:3:100", "branch:dfs:on:few:100"] {
            assert!(wrong.parse::<Series>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_curve_has_only_the_points_where_it_rises() {
        let mut curve = Vec::new();
        for (executions, n) in [(1, 0), (2, 3), (3, 3), (4, 5)] {
            note(&mut curve, executions, n);
        }
        assert_eq!(curve, [(2, 3), (4, 5)]);
    }
}
