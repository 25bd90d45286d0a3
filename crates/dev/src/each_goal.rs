//! `quarry-dev bench-strategies --each-goal`: what does a strategy spend on one goal, without knowledge from the others?
//!
//! Method: every goal has its own campaigns, for each strategy and seed, as in comparisons of data-flow testing; each ends
//! when the goal is covered. Strategies that follow other goals, such as branches, get those as well. A goal that no
//! strategy covers with its first few seeds can be dropped: every further campaign would use its whole limit and show
//! nothing, because only effort on covered goals is compared. A strategy can also drop a goal after failing with as many
//! seeds in a row from the first. The further campaigns are printed as not tried. Limit: a goal that only a later seed
//! would have covered counts as not covered.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use coverage::{Coverage, Goal, GoalId, Status, criterion_named};
use serde::Serialize;

use crate::arguments::BenchStrategies;
use crate::series::Series;
use crate::strategies::{Compared, print};
use quarry_cli::exit::Failure;

/// What a campaign for one goal came to.
#[derive(Serialize)]
struct GoalLine<'a> {
    series: &'a str,
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
pub(crate) fn bench(compared: &Compared<'_>, arguments: &BenchStrategies) -> Result<(), Failure> {
    for all_series in arguments.run.chunk_by(|one, next| one.criterion == next.criterion) {
        let give_up_after = arguments.give_up_after.unwrap_or(u64::MAX);
        let despair_after = arguments.despair_after.unwrap_or(u64::MAX);
        let coverages = coverages(compared, all_series)?;
        let goals = GoalBench { compared, coverages, give_up_after, despair_after };
        for goal in goals.chosen(&all_series[0], arguments.most_goals) {
            goals.bench(goal, all_series)?;
        }
    }
    Ok(())
}

/// The goals of all series, by what leads them: first those of the criterion that they share.
fn coverages(
    compared: &Compared<'_>,
    all_series: &[Series],
) -> Result<BTreeMap<Option<String>, Coverage>, Failure> {
    let mut coverages = BTreeMap::new();
    for series in all_series {
        if !coverages.contains_key(&series.led_by) {
            let names = [Some(&series.criterion), series.led_by.as_ref()];
            let criteria =
                names.into_iter().flatten().map(|name| criterion_named(name).map_err(Failure::usage));
            let criteria = criteria.collect::<Result<Vec<_>, _>>()?;
            let coverage = Coverage::new(compared.subject.program(), &compared.scope, &criteria);
            coverages.insert(series.led_by.clone(), coverage);
        }
    }
    Ok(coverages)
}

/// The goals of one criterion.
struct GoalBench<'a> {
    compared: &'a Compared<'a>,
    coverages: BTreeMap<Option<String>, Coverage>,
    /// Seeds after which a goal that nobody covered is left.
    give_up_after: u64,
    /// Seeds in a row from the first after which a goal is left by a strategy.
    despair_after: u64,
}

impl GoalBench<'_> {
    /// All goals, or so many of them from all over the list.
    fn chosen(&self, series: &Series, most: Option<usize>) -> Vec<GoalId> {
        let goals: Vec<GoalId> = self.sought(series).map(|(id, _, _)| id).collect();
        let n_chosen = most.map_or(goals.len(), |most| most.min(goals.len()));
        (0..n_chosen).map(|number| goals[number * goals.len() / n_chosen]).collect()
    }

    /// The goals that have campaigns; they have the same numbers whatever leads to them.
    fn sought<'s>(&'s self, series: &'s Series) -> impl Iterator<Item = (GoalId, &'s Goal, &'s Status)> {
        self.coverages[&series.led_by].goals().filter(|(_, goal, _)| goal.criterion == series.criterion)
    }

    fn bench(&self, goal: GoalId, all_series: &[Series]) -> Result<(), Failure> {
        let mut covering = vec![false; all_series.len()];
        for (series, covers) in all_series.iter().zip(&mut covering) {
            *covers = self.campaigns(goal, series, 1..=self.n_first(series), u64::MAX)?;
        }
        for (series, covers) in all_series.iter().zip(&covering) {
            let n_first = self.n_first(series);
            let left = match covering.contains(&true) {
                false => 0,
                true if *covers => u64::MAX,
                true => self.despair_after.saturating_sub(n_first),
            };
            self.campaigns(goal, series, n_first + 1..=series.n_seeds, left)?;
        }
        Ok(())
    }

    fn n_first(&self, series: &Series) -> u64 {
        series.n_seeds.min(self.give_up_after)
    }

    /// Whether one of the campaigns with these seeds covered the goal; after so many in vain the others are not run.
    fn campaigns(
        &self,
        sought: GoalId,
        series: &Series,
        seeds: RangeInclusive<u64>,
        patience: u64,
    ) -> Result<bool, Failure> {
        let mut any = false;
        let coverage = self.coverages[&series.led_by].with(self.compared.subject.program(), |id, goal| {
            id == sought || Some(goal.criterion) == series.led_by.as_deref()
        });
        let first = GoalId(0);
        for (n_before, seed) in (0..).zip(seeds) {
            let line = self.not_tried(sought, series, seed);
            if !any && n_before >= patience {
                print(&line)?;
                continue;
            }
            let result = self.compared.campaign_until(series, seed, first, coverage.clone())?;
            let is_covered = matches!(result.coverage.status(first), Status::Covered { .. });
            any |= is_covered;
            print(&GoalLine {
                is_tried: true,
                is_covered,
                executions: result.executions,
                queries: result.queries.sat + result.queries.unsat + result.queries.unknown,
                seconds: result.seconds,
                ..line
            })?;
        }
        Ok(any)
    }

    /// The line of a campaign that is not run.
    fn not_tried<'s>(&self, id: GoalId, series: &'s Series, seed: u64) -> GoalLine<'s> {
        let program = self.compared.subject.program();
        let goal = self.coverages[&series.led_by].goal(id);
        GoalLine {
            series: &series.text,
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
