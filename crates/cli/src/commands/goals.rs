//! `quarry goals`: what a criterion counts, with positions.

use std::path::Path;

use cache::Cache;
use coverage::{Coverage, Goal, Scope};
use model::Program;
use report::cut_points::cut_points;
use report::dictionary::{HintRecord, hints};
use report::goals::listing;
use report::mcdc::{DecisionTable, tables};
use report::record::{Counts, GoalLine, SCHEMA, SourcePosition, counts};
use runner::background::interruptible;
use runner::error::Error;
use runner::front::{Front, Start, work_directory};
use runner::scope::narrow;
use runner::spec::Spec;
use runner::subject::function_id;
use serde::Serialize;

use super::current_directory;
use crate::arguments::{Goals, MessageFormat};
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::say::{say, show};

/// Runs the command.
pub fn goals(arguments: &Goals, cache: &Cache) -> Result<Exit, Failure> {
    let (spec, root, cache) = (arguments.spec(), current_directory()?, cache.clone());
    let with_goals = !arguments.dictionary;
    let read = move || Counted::of(&spec, &root, &cache, with_goals);
    let counted = interruptible(&interrupt(), "reading", read)?;
    let program = &counted.program;
    let Some((scope, coverage)) = &counted.goals else {
        return dictionary(program, arguments.message_format);
    };
    match arguments.message_format {
        MessageFormat::Human if scope.functions().next().is_none() => say("no function is defined"),
        MessageFormat::Human => show(listing(program, scope, coverage).as_bytes()),
        MessageFormat::Json => say(json(program, scope, coverage)?),
    }
    Ok(Exit::Done)
}

/// A program and its goals.
struct Counted {
    program: Program,
    goals: Option<(Scope, Coverage)>,
}

impl Counted {
    /// Reads the program, and counts its goals if these are asked for.
    fn of(spec: &Spec, root: &Path, cache: &Cache, with_goals: bool) -> Result<Self, Error> {
        let criteria = spec.criteria.criteria()?;
        let work = work_directory()?;
        let front = Front::mark(&spec.sources, root, work.path(), Start::Main, cache)?;
        let front = front.for_criteria(&spec.criteria);
        let function = spec.subject.function.as_deref().map(|name| front.function(Some(name))).transpose()?;
        let program = front.model()?.program;
        if !with_goals {
            return Ok(Self { program, goals: None });
        }
        let scope = match function {
            Some(function) => Scope::of_runs(&program, function_id(&program, &function.name)?),
            None => Scope::whole(&program),
        };
        let scope = narrow(&program, scope, &criteria, &spec.criteria.only, root)?;
        let coverage = Coverage::new(&program, &scope, &criteria);
        Ok(Self { program, goals: Some((scope, coverage)) })
    }
}

/// What the program's text says of its input.
fn dictionary(program: &Program, format: MessageFormat) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Listed {
        schema: u32,
        hints: Vec<HintRecord>,
    }
    match format {
        MessageFormat::Human => show(report::dictionary::listing(program).as_bytes()),
        MessageFormat::Json => say(as_json(&Listed { schema: SCHEMA, hints: hints(program) })?),
    }
    Ok(Exit::Done)
}

fn as_json(listed: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(listed)
        .map_err(|error| Failure::internal(format!("cannot write the goals as JSON: {error}")))
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
        let mut line = GoalLine::listed(program, coverage, id);
        if let (Some(pair), Some(flow)) = (goal.demand.pair(), &mut line.flow) {
            let points = cut_points.get(&pair).map(Vec::as_slice).unwrap_or_default();
            flow.cut_points = points.iter().map(|span| SourcePosition::of(program, *span)).collect();
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
    as_json(&listed)
}
