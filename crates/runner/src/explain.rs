//! Why is a goal open?
//!
//! Method: the program of a run is built again and its tests are executed, so that it is known what stands between them and the
//! goal: a branch that none of them takes. What decides that branch comes from definitions; data flow knows them, the tests tell which
//! of them they bring there, and event sequences ([`analysis::chaining`]) say in which order what would have to happen. Limit: what the search itself
//! tried is known by the reason in `goals.jsonl` alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use analysis::Place;
use analysis::chaining::{Chaining, Extension, Problem, Promise, Sequence, directions_to};
use analysis::dataflow::{DataFlow, DataFlowOptions, DefinitionId, DefinitionKind, ObjectId, UseId};
use analysis::icfg::Icfg;
use cache::Cache;
use coverage::{
    Coverage, Demand, Facts, GoalId, Marking, SearchEnd, TestId, criterion_named, explain, obstacles,
};
use frontend::instrument::Mode;
use model::walk::{Choice, Site};
use model::{Program, SpanId};
use report::record::{GoalLine, State};
use serde::Serialize;

use crate::error::Error;
use crate::front::work_directory;
use crate::gather::absolute;
use crate::interrupt::Interrupt;
use crate::measure::{Measurer, Settings};
use crate::store::output::RUN_FILE;
use crate::store::results;
use crate::store::run::Run;
use crate::store::suite::{Suite, read_input, read_record};
use crate::subject::{Need, Subject};

/// Where the goals of a run are listed.
const GOALS_FILE: &str = "goals.jsonl";
/// Sequences, and problems of one goal, that are shown.
const MOST_SEQUENCES: usize = 6;
const MOST_PROBLEMS: usize = 4;

/// What is known about a goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub id: u32,
    pub key: String,
    /// `a.c:12:7  (n > 3) is true  [branch]`
    pub goal: String,
    pub state: String,
    pub tests: usize,
    pub problems: Vec<ExplainedProblem>,
}

/// A branch that no test takes as it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedProblem {
    pub at: String,
    /// `(success) should be true`
    pub wanted: String,
    /// Tests that come there.
    pub reached: usize,
    pub definitions: Vec<ExplainedDefinition>,
    pub sequences: Vec<ExplainedSequence>,
    /// Sequences beyond those that are listed.
    pub more_sequences: usize,
}

/// A definition that may reach it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedDefinition {
    pub variable: String,
    pub at: String,
    /// The line of the source.
    pub line: String,
    /// What its value makes of the problem: `solves`, `fails`, `open`.
    pub promise: String,
    /// Tests that bring it there.
    pub tests: usize,
}

/// What would have to happen, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedSequence {
    pub events: Vec<String>,
    /// What must not happen in between.
    pub threats: Vec<String>,
}

/// Explains the goal of a run that a number, a key or a place names.
pub fn explain_goal(
    root: &Path,
    asked: &str,
    limit: Duration,
    interrupt: &Interrupt,
    cache: &Cache,
) -> Result<Vec<Explanation>, Error> {
    let lines = results::goals(&root.join(GOALS_FILE))?;
    let meant = named(&lines, asked)?;
    let run: Run = read_record(&root.join(RUN_FILE))?;
    let work = work_directory()?;
    let subject = run.rebuild(work.path(), Need::Mode(Mode::Symbolic), interrupt, cache)?;
    let settings = Settings { mode: Mode::Symbolic, work: work.path(), limit, interrupt };
    let explainer = Explainer::new(root, &run, &subject, settings)?;
    Ok(meant.into_iter().map(|line| explainer.explain(line)).collect())
}

/// The goals that a number, a key, `file:line` or `file:line:column` means.
fn named<'l>(lines: &'l [GoalLine], asked: &str) -> Result<Vec<&'l GoalLine>, Error> {
    let is_meant = |line: &&GoalLine| {
        let place = line.place.as_ref();
        asked.parse() == Ok(line.id)
            || line.key == asked
            || place.is_some_and(|place| {
                let by_line = format!("{}:{}", place.file, place.line);
                asked == by_line || asked == format!("{by_line}:{}", place.column)
            })
    };
    let meant: Vec<&GoalLine> = lines.iter().filter(is_meant).collect();
    if meant.is_empty() {
        return Err(Error::usage(format!("no goal is called {asked}"))
            .help("give its number or key in goals.jsonl, or its place: FILE:LINE"));
    }
    Ok(meant)
}

struct Explainer<'s> {
    subject: &'s Subject,
    coverage: Coverage,
    facts: Facts,
    flow: DataFlow,
    graph: Icfg,
    n_tests: usize,
    /// By pair: the tests that cover it; by site: those that come there.
    brought: BTreeMap<(DefinitionId, UseId), usize>,
    reached: BTreeMap<Site, usize>,
}

impl<'s> Explainer<'s> {
    fn new(root: &Path, run: &Run, subject: &'s Subject, settings: Settings<'_>) -> Result<Self, Error> {
        let (program, scope) = (subject.program(), subject.scope()?);
        let mut coverage = Coverage::new(program, &scope, &run.spec.criteria.criteria()?);
        let pairs = criterion_named("def-use").map_err(|error| Error::caused(&error))?;
        let of_pairs = Coverage::new(program, &scope, &[pairs]);
        let roots = program.root.into_iter().collect();
        let flow = match of_pairs.data_flow() {
            Some(flow) => DataFlow::clone(flow),
            None => DataFlow::of(program, &DataFlowOptions { roots, elements: false }),
        };
        let mut facts = Facts::new(&Marking::new(program));
        let mut measurer = Measurer::new(subject, settings)?.for_goals(&of_pairs);
        let (mut brought, mut reached) = (BTreeMap::new(), BTreeMap::new());
        let mut n_tests = 0;
        for file in &Suite::open(root)?.files {
            let input = read_input(file, subject)
                .map_err(|error| Error::usage(format!("{} {error}", file.display())))?;
            let Ok(measured) = measurer.measure(&input) else { continue };
            n_tests += 1;
            let observations = &measured.observations;
            facts.ran(observations, true);
            coverage.cover(TestId(u32::try_from(n_tests).unwrap_or(u32::MAX)), observations);
            for goal in of_pairs.satisfied(observations) {
                if let Demand::Pair(pair) = of_pairs.goal(goal).demand {
                    let pair = flow.pair(pair);
                    *brought.entry((pair.definition, pair.use_)).or_default() += 1;
                }
            }
            let conditions = (0..).take(program.conditions.len()).map(model::ConditionId);
            for condition in conditions.filter(|condition| {
                [false, true]
                    .iter()
                    .any(|value| observations.do_their_part(Demand::Condition(*condition, *value)))
            }) {
                *reached.entry(Site::Condition(condition)).or_default() += 1;
            }
        }
        explain(&mut coverage, program, &facts, SearchEnd::CutShort, &subject.limited_stubs());
        Ok(Self { subject, coverage, facts, flow, graph: Icfg::new(program), n_tests, brought, reached })
    }

    fn program(&self) -> &'s Program {
        self.subject.program()
    }

    fn explain(&self, line: &GoalLine) -> Explanation {
        let goal = self.coverage.with_key(&line.key);
        let problems = goal.map_or_else(Vec::new, |goal| self.problems(goal));
        let at = line.place.as_ref().map(|place| format!("{}:{}:{}  ", place.file, place.line, place.column));
        Explanation {
            id: line.id,
            key: line.key.clone(),
            goal: format!("{}{}  [{}]", at.unwrap_or_default(), line.demand, line.criterion),
            state: state(line),
            tests: self.n_tests,
            problems,
        }
    }

    fn problems(&self, goal: GoalId) -> Vec<ExplainedProblem> {
        let program = self.program();
        let ways = obstacles(&self.coverage, program, &self.facts, goal);
        let found = ways.into_iter().take(MOST_PROBLEMS).flat_map(|(site, choice)| {
            let problems = Problem::at_site(program, &self.flow, site, choice);
            problems.into_iter().map(move |problem| (site, choice, problem))
        });
        found.map(|(site, choice, problem)| self.problem(site, choice, &problem)).collect()
    }

    fn problem(&self, site: Site, choice: Choice, problem: &Problem) -> ExplainedProblem {
        let program = self.program();
        let chaining = Chaining::new(program, &self.graph, &self.flow);
        let mut definitions = Vec::new();
        for use_ in &problem.uses {
            for definition in chaining.definitions_of(*use_) {
                definitions.push(self.definition(definition, *use_, problem));
            }
        }
        definitions.dedup();
        let target = self.graph.direction(site, choice).and_then(|direction| {
            let node = self.graph.directions[direction.index()].targets.first()?;
            Some(self.graph.node(*node).place())
        });
        let root = program.root.map(Place::entry);
        let sequences = match (root, target) {
            (Some(root), Some(target)) => chaining.extend(&Sequence::new(root, target), 0, problem),
            (None, _) | (_, None) => Vec::new(),
        };
        let useful: Vec<&Extension> = sequences.iter().filter(|one| one.promise != Promise::Fails).collect();
        ExplainedProblem {
            at: self.at(problem.place.span(program)),
            wanted: wanted(program, site, choice),
            reached: self.reached.get(&site).copied().unwrap_or(0),
            definitions,
            sequences: useful.iter().take(MOST_SEQUENCES).map(|one| self.sequence(&chaining, one)).collect(),
            more_sequences: useful.len().saturating_sub(MOST_SEQUENCES),
        }
    }

    fn definition(&self, id: DefinitionId, use_: UseId, problem: &Problem) -> ExplainedDefinition {
        let definition = self.flow.definition(id);
        let promise = match problem.promise(self.program(), &self.flow, id, use_) {
            Promise::Solves => "solves",
            Promise::Open => "open",
            Promise::Fails => "fails",
        };
        let line = match definition.kind {
            DefinitionKind::Initial => "its value when the run starts".to_owned(),
            DefinitionKind::Parameter => "the argument".to_owned(),
            DefinitionKind::Assigned | DefinitionKind::Returned => self.line(definition.span),
        };
        ExplainedDefinition {
            variable: self.name(definition.object),
            at: self.at(definition.span),
            line,
            promise: promise.to_owned(),
            tests: self.brought.get(&(id, use_)).copied().unwrap_or(0),
        }
    }

    fn sequence(&self, chaining: &Chaining<'_>, extension: &Extension) -> ExplainedSequence {
        let events = &extension.sequence.events;
        let event = |number: usize| {
            let at = self.at(events[number].place.span(self.program()));
            let names: Vec<String> = events[number].keeps.iter().map(|object| self.name(*object)).collect();
            let keeps = if names.is_empty() { String::new() } else { format!(" [{}]", names.join(", ")) };
            match number {
                0 => format!("start{keeps}"),
                _ => format!("{at}{keeps}"),
            }
        };
        let mut threats = Vec::new();
        for pair in events.windows(2) {
            for (place, object) in chaining.threats(&pair[0], &pair[1]) {
                threats.push(self.threat(place, object));
            }
        }
        threats.dedup();
        ExplainedSequence { events: (0..events.len()).map(event).collect(), threats }
    }

    /// `success is defined anew at a.c:14:13, where (A[i] != 25) at a.c:13:9 leads if it is true`
    fn threat(&self, place: Place, object: ObjectId) -> String {
        let program = self.program();
        let new = format!("{} is defined anew at {}", self.name(object), self.at(place.span(program)));
        let leads = directions_to(&self.graph, place);
        let Some(direction) = leads.last().map(|id| &self.graph.directions[id.index()]) else { return new };
        match direction.site {
            Site::Condition(condition) => {
                let condition = program.condition(condition);
                let at = self.at(Some(condition.span));
                format!("{new}, where ({}) at {at} leads if it is {}", condition.text, direction.choice)
            }
            Site::Branch(..) | Site::Switch(..) => new,
        }
    }

    fn name(&self, object: ObjectId) -> String {
        self.flow.object(object).name.clone()
    }

    fn at(&self, span: Option<SpanId>) -> String {
        let program = self.program();
        span.map_or_else(|| "?".to_owned(), |span| program.describe(program.span(span).at))
    }

    /// The line of the source that something stands in.
    fn line(&self, span: Option<SpanId>) -> String {
        let program = self.program();
        let Some(position) = span.map(|span| program.span(span).at) else { return String::new() };
        let file = absolute(&program.file(position.file).path, self.subject);
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().nth((position.line as usize).saturating_sub(1));
        line.unwrap_or_default().trim().to_owned()
    }
}

/// How a goal stands, as its run left it.
fn state(line: &GoalLine) -> String {
    match line.state {
        Some(State::Covered) => match &line.test {
            Some(test) => format!("covered by {test}"),
            None => "covered".to_owned(),
        },
        Some(State::Infeasible) => "infeasible: no input covers it".to_owned(),
        Some(State::Undecided) => {
            format!("undecided: {}", line.reason.as_deref().unwrap_or("no reason is recorded"))
        }
        None => "not searched for".to_owned(),
    }
}

/// What a site should do.
fn wanted(program: &Program, site: Site, choice: Choice) -> String {
    match site {
        Site::Condition(condition) => {
            format!("({}) should be {choice}", program.condition(condition).text)
        }
        Site::Branch(..) => format!("the branch should go {choice}"),
        Site::Switch(..) => format!("the switch should go to {choice}"),
    }
}
