//! Why is a goal open?
//!
//! Method: the program of a run is built again and its tests are executed, so that it is known what stands between them and the
//! goal: a branch that none of them takes. What decides that branch comes from definitions; data flow knows them, the tests tell which
//! of them they bring there, and event sequences ([`analysis::chaining`]) say in which order what would have to happen. What the search followed
//! of them it left in `chains.jsonl` ([`crate::chains`]). What variables held comes from the model's interpreter. Limit: it does not run what it
//! has no model of; then no values are shown.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use analysis::Place;
use analysis::chaining::{Chaining, Deciders, Extension, Problem, Promise, Sequence, directions_to};
use analysis::dataflow::{DataFlow, DataFlowOptions, DefinitionId, DefinitionKind, ObjectId, UseId};
use analysis::icfg::Icfg;
use cache::Cache;
use coverage::{
    Coverage, Demand, Facts, GoalId, Marking, SearchEnd, TestId, criterion_named, explain, obstacles,
};
use engine::strategy::Chains;
use frontend::instrument::Mode;
use model::Program;
use model::walk::{Choice, Site};
use report::explanation::{
    CHAINS_FILE, ChainLine, EXPLANATIONS_FILE, ExplainedDefinition, ExplainedProblem, ExplainedSequence,
    Explanation,
};
use report::record::{GoalLine, State};

use crate::chains::{EventWords, wanted};
use crate::error::Error;
use crate::front::work_directory;
use crate::interrupt::Interrupt;
use crate::measure::{Measurer, Settings};
use crate::seen_values::Seen;
use crate::store::output::{Output, RUN_FILE};
use crate::store::results;
use crate::store::run::Run;
use crate::store::suite::{Suite, read_input, read_record};
use crate::subject::{Need, Subject};

/// Where the goals of a run are listed.
const GOALS_FILE: &str = "goals.jsonl";
/// Sequences, and problems of one goal, that are shown.
const MOST_SEQUENCES: usize = 6;
const MOST_PROBLEMS: usize = 4;
/// Goals that a report explains.
const MOST_EXPLAINED: usize = 100;

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

/// Explains the open goals of a run for its report, as far as that costs little: in a program whose data flow is quickly computed, and not
/// more goals than somebody reads.
pub fn explain_open(output: &Output, subject: &Subject, settings: Settings<'_>) -> Result<(), Error> {
    let root = output.root();
    let lines = results::goals(&root.join(GOALS_FILE))?;
    let open: Vec<&GoalLine> = lines.iter().filter(|line| line.state == Some(State::Undecided)).collect();
    let mut explanations = Vec::new();
    if !open.is_empty() && Chains::InSmallPrograms.of(subject.program()) {
        let run: Run = read_record(&root.join(RUN_FILE))?;
        let explainer = Explainer::new(root, &run, subject, settings)?;
        explanations.extend(open.into_iter().take(MOST_EXPLAINED).map(|line| explainer.explain(line)));
    }
    if explanations.is_empty() && !root.join(EXPLANATIONS_FILE).exists() {
        return Ok(());
    }
    output.write_lines(EXPLANATIONS_FILE, explanations.iter()).map(drop)
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
    deciders: Deciders,
    n_tests: usize,
    /// By pair: the tests that cover it; by site: those that come there.
    brought: BTreeMap<(DefinitionId, UseId), usize>,
    reached: BTreeMap<Site, usize>,
    seen: Seen,
    /// What the search followed.
    chains: Vec<ChainLine>,
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
        let mut seen = Seen::of(program, &flow);
        for file in &Suite::open(root)?.files {
            let input = read_input(file, subject)
                .map_err(|error| Error::usage(format!("{} {error}", file.display())))?;
            let Ok(measured) = measurer.measure(&input) else { continue };
            n_tests += 1;
            seen.run(program, &input);
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
        let (graph, deciders) = (Icfg::new(program), Deciders::of(program));
        let chains = results::lines(&root.join(CHAINS_FILE))?;
        Ok(Self { subject, coverage, facts, flow, graph, deciders, n_tests, brought, reached, seen, chains })
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
            let problems = Problem::at_site(program, &self.flow, &self.deciders, site, choice);
            problems.into_iter().map(move |problem| (site, choice, problem))
        });
        found.map(|(site, choice, problem)| self.problem(site, choice, &problem)).collect()
    }

    fn problem(&self, site: Site, choice: Choice, problem: &Problem) -> ExplainedProblem {
        let program = self.program();
        let words = EventWords::new(self.subject, &self.flow);
        let chaining = Chaining::new(program, &self.graph, &self.flow);
        let mut definitions = Vec::new();
        for use_ in &problem.uses {
            for definition in chaining.definitions_of(*use_) {
                definitions.push(self.definition(&words, definition, *use_, problem));
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
        let (at, wanted) = (words.place_of(site), wanted(program, site, choice));
        let tried = self.chains.iter().find(|line| line.at == at && line.wanted == wanted);
        ExplainedProblem {
            at,
            wanted,
            line: words.source_line(words.span_of(site)).to_owned(),
            reached: self.reached.get(&site).copied().unwrap_or(0),
            values: self.seen.at(site, problem, &self.flow),
            definitions,
            sequences: useful
                .iter()
                .take(MOST_SEQUENCES)
                .map(|one| self.sequence(&chaining, &words, one))
                .collect(),
            more_sequences: useful.len().saturating_sub(MOST_SEQUENCES),
            tried: tried.map(|line| line.tried.clone()),
        }
    }

    fn definition(
        &self,
        words: &EventWords<'_>,
        id: DefinitionId,
        use_: UseId,
        problem: &Problem,
    ) -> ExplainedDefinition {
        let definition = self.flow.definition(id);
        let promise = match problem.promise(self.program(), &self.flow, id, use_) {
            Promise::Solves => "solves",
            Promise::Open => "open",
            Promise::Fails => "fails",
        };
        let line = match definition.kind {
            DefinitionKind::Initial => "its value when the run starts".to_owned(),
            DefinitionKind::Parameter => "the argument".to_owned(),
            DefinitionKind::Assigned | DefinitionKind::Returned => {
                words.source_line(definition.span).to_owned()
            }
        };
        ExplainedDefinition {
            variable: words.name(definition.object),
            at: words.at(definition.span),
            line,
            promise: promise.to_owned(),
            tests: self.brought.get(&(id, use_)).copied().unwrap_or(0),
        }
    }

    fn sequence(
        &self,
        chaining: &Chaining<'_>,
        words: &EventWords<'_>,
        extension: &Extension,
    ) -> ExplainedSequence {
        let events = &extension.sequence.events;
        let mut threats = Vec::new();
        for pair in events.windows(2) {
            for (place, object) in chaining.threats(&pair[0], &pair[1]) {
                threats.push(self.threat(words, place, object));
            }
        }
        threats.dedup();
        ExplainedSequence { events: events.iter().map(|event| words.event(event)).collect(), threats }
    }

    /// `success is defined anew at a.c:14:13, where (A[i] != 25) at a.c:13:9 leads if it is true`
    fn threat(&self, words: &EventWords<'_>, place: Place, object: ObjectId) -> String {
        let program = self.program();
        let new = format!("{} is defined anew at {}", words.name(object), words.at(place.span(program)));
        let leads = directions_to(&self.graph, place);
        let Some(direction) = leads.last().map(|id| &self.graph.directions[id.index()]) else { return new };
        match direction.site {
            Site::Condition(condition) => {
                let condition = program.condition(condition);
                let at = words.at(Some(condition.span));
                format!("{new}, where ({}) at {at} leads if it is {}", condition.text, direction.choice)
            }
            Site::Branch(..) | Site::Switch(..) => new,
        }
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
