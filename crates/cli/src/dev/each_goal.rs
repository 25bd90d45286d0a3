//! `quarry dev bench-strategies --each-goal`: what does a strategy spend on one goal, knowing nothing from the others?
//!
//! Method: every goal has campaigns of its own, for each strategy and seed, as data-flow testing is compared. A goal that none of
//! the strategies covers with its first few seeds can be given up: it costs every further campaign all of its limit and
//! tells nothing, because only what was spent on covered goals is compared. Its further campaigns are printed as not tried.
//! Limit: a goal that only a later seed would have covered counts as not covered by anyone.

use std::ops::RangeInclusive;

use coverage::{Coverage, GoalId};
use serde::Serialize;

use super::BenchStrategies;
use super::strategies::{Series, Subject, criterion, print};
use crate::exit::Failure;

/// What a campaign for one goal came to.
#[derive(Serialize)]
struct GoalLine<'a> {
    strategy: &'a str,
    seed: u64,
    goal: String,
    line: Option<u32>,
    is_tried: bool,
    is_covered: bool,
    executions: u64,
    queries: u64,
    seconds: f64,
}

/// Runs all series, those that follow each other with the same criterion goal by goal.
pub(super) fn bench(subject: &Subject, arguments: &BenchStrategies) -> Result<(), Failure> {
    for all_series in arguments.run.chunk_by(|one, next| one.criterion == next.criterion) {
        let goals = GoalBench {
            subject,
            coverage: Coverage::new(
                subject.prepared.program(),
                &subject.scope,
                &[criterion(&all_series[0])?],
            ),
            give_up_after: arguments.give_up_after.unwrap_or(u64::MAX),
        };
        for goal in goals.chosen(arguments.most_goals) {
            goals.bench(goal, all_series)?;
        }
    }
    Ok(())
}

/// The goals of one criterion.
struct GoalBench<'a> {
    subject: &'a Subject<'a>,
    coverage: Coverage,
    /// Seeds after which a goal that nobody covered is left.
    give_up_after: u64,
}

impl GoalBench<'_> {
    /// All goals, or so many of them from all over the list.
    fn chosen(&self, most: Option<usize>) -> Vec<GoalId> {
        let goals: Vec<GoalId> = self.coverage.goals().map(|(id, _, _)| id).collect();
        let n_chosen = most.map_or(goals.len(), |most| most.min(goals.len()));
        (0..n_chosen).map(|number| goals[number * goals.len() / n_chosen]).collect()
    }

    fn bench(&self, goal: GoalId, all_series: &[Series]) -> Result<(), Failure> {
        let mut is_covered = false;
        for series in all_series {
            is_covered |= self.campaigns(goal, series, 1..=self.n_first(series))?;
        }
        for series in all_series {
            let further = self.n_first(series) + 1..=series.n_seeds;
            if is_covered {
                self.campaigns(goal, series, further)?;
            } else {
                further.into_iter().try_for_each(|seed| print(&self.not_tried(goal, series, seed)))?;
            }
        }
        Ok(())
    }

    fn n_first(&self, series: &Series) -> u64 {
        series.n_seeds.min(self.give_up_after)
    }

    /// Whether one of the campaigns with these seeds covered the goal.
    fn campaigns(&self, goal: GoalId, series: &Series, seeds: RangeInclusive<u64>) -> Result<bool, Failure> {
        let mut is_covered = false;
        for seed in seeds {
            let alone = self.coverage.only(self.subject.prepared.program(), goal);
            let result = self.subject.campaign_alone(series, seed, alone)?;
            is_covered |= result.coverage.is_complete();
            print(&GoalLine {
                is_tried: true,
                is_covered: result.coverage.is_complete(),
                executions: result.executions,
                queries: result.queries.sat + result.queries.unsat + result.queries.unknown,
                seconds: result.seconds,
                ..self.not_tried(goal, series, seed)
            })?;
        }
        Ok(is_covered)
    }

    /// The line of a campaign that is not run.
    fn not_tried<'s>(&self, id: GoalId, series: &'s Series, seed: u64) -> GoalLine<'s> {
        let program = self.subject.prepared.program();
        let goal = self.coverage.goal(id);
        GoalLine {
            strategy: &series.strategy,
            seed,
            goal: goal.describe(program),
            line: goal.position(program).map(|position| position.line),
            is_tried: false,
            is_covered: false,
            executions: 0,
            queries: 0,
            seconds: 0.0,
        }
    }
}
