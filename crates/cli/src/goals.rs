//! `quarry goals`: what a criterion counts, with positions.

use coverage::{Coverage, Criterion, Goal, Independence, Scope, criterion_named};
use model::{FunctionId, Program};
use serde::Serialize;

use crate::arguments::{CriteriaArguments, Goals, McdcRule, MessageFormat};
use crate::exit::{Exit, Failure};
use crate::only::narrow;
use crate::pipeline::{Front, Start, work_directory};
use crate::report::cut_points::cut_points;
use crate::report::goals::listing;
use crate::report::mcdc::{DecisionTable, tables};
use crate::report::record::{Counts, GoalLine, Place, SCHEMA, counts};
use crate::say::{say, show};

/// Criteria of the stable command line that are not built yet.
const PLANNED_CRITERIA: [&str; 1] = ["boundary"];

/// Runs the command.
pub fn goals(arguments: &Goals) -> Result<Exit, Failure> {
    let criteria = criteria(&arguments.criteria)?;
    let work = work_directory()?;
    let front = Front::mark(&arguments.sources, work.path(), Start::Main)?;
    let root = arguments.function.as_deref().map(|name| front.function(Some(name))).transpose()?;
    let built = front.build(None, &[])?;
    let program = &built.lowered.program;
    let scope = match root {
        Some(function) => Scope::reachable_from(program, function_id(program, &function.name)?),
        None => Scope::whole(program),
    };
    let scope = narrow(program, scope, &criteria, &arguments.only)?;
    let coverage = Coverage::new(program, &scope, &criteria);
    match arguments.message_format {
        MessageFormat::Human if scope.functions().next().is_none() => say("no function is defined"),
        MessageFormat::Human => show(listing(program, &scope, &coverage).as_bytes()),
        MessageFormat::Json => say(json(program, &scope, &coverage)?),
    }
    Ok(Exit::Done)
}

/// The criteria asked for.
pub fn criteria(arguments: &CriteriaArguments) -> Result<Vec<Box<dyn Criterion>>, Failure> {
    let available = || coverage::CRITERIA.join(", ");
    let independence = match arguments.mcdc {
        McdcRule::Masking => Independence::Masking,
        McdcRule::UniqueCause => Independence::UniqueCause,
    };
    let one = |name: &String| {
        if name == "mcdc" {
            return Ok(coverage::mcdc(independence));
        }
        if let Some(criterion) = coverage::data_flow_criterion(name, arguments.dataflow_elements) {
            return Ok(criterion);
        }
        criterion_named(name).map_err(|error| {
            if PLANNED_CRITERIA.contains(&name.as_str()) {
                Failure::usage(format!("criterion '{name}' is not available yet"))
                    .help(format!("available are {}", available()))
            } else {
                Failure::usage(error)
            }
        })
    };
    arguments.criterion.iter().map(one).collect()
}

/// The function of the model with this name.
pub fn function_id(program: &Program, name: &str) -> Result<FunctionId, Failure> {
    let id = program.function_named(name).filter(|id| program.function(*id).is_defined());
    id.ok_or_else(|| Failure::internal(format!("the model has no code for '{name}'")))
}

/// The last line of `--message-format json`.
#[derive(Serialize)]
struct Listed {
    schema: u32,
    total: usize,
    per_criterion: std::collections::BTreeMap<String, usize>,
    goals: Vec<GoalLine>,
    /// What MC/DC asks of each decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<DecisionTable>,
}

fn json(program: &Program, scope: &Scope, coverage: &Coverage) -> Result<String, Failure> {
    let (all, per_criterion) = counts(coverage);
    let cut_points = cut_points(program, scope, coverage);
    let line = |id, goal: &Goal| {
        let mut line = GoalLine::listed(program, id, goal);
        if let (Some(pair), Some(flow)) = (goal.demand.pair(), &mut line.flow) {
            let points = cut_points.get(&pair).map(Vec::as_slice).unwrap_or_default();
            flow.cut_points = points.iter().map(|span| Place::of(program, *span)).collect();
        }
        line
    };
    let total = |(name, counts): (String, Counts)| (name, counts.total);
    let listed = Listed {
        schema: SCHEMA,
        total: all.total,
        per_criterion: per_criterion.into_iter().map(total).collect(),
        goals: coverage.goals().map(|(id, goal, _)| line(id, goal)).collect(),
        decisions: tables(program, coverage.goals().map(|(id, goal, _)| (id, goal)), None),
    };
    serde_json::to_string(&listed)
        .map_err(|error| Failure::internal(format!("cannot write the goals as JSON: {error}")))
}
