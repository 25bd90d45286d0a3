//! Which event sequences did the search follow, in words, and where did each of them break? Kept as `chains.jsonl`.

use std::collections::BTreeMap;

use analysis::Place;
use analysis::chaining::{Event, Happening};
use analysis::dataflow::{DataFlow, DefinitionId, DefinitionKind, ObjectId};
use engine::campaign::{Chased, Chases, Trail, TrailEnd};
use model::walk::{Choice, Site};
use model::{Program, SpanId};
use report::explanation::{CHAINS_FILE, ChainLine, TriedSequence, TriedSequences};

use crate::error::Error;
use crate::gather::absolute;
use crate::store::output::Output;
use crate::subject::Subject;

/// Sequences of one direction that are kept: those that got furthest.
const MOST_KEPT: usize = 8;

/// Keeps what the search followed; where it followed nothing, nothing of an earlier search is left.
pub fn write(output: &Output, subject: &Subject, chases: &Chases) -> Result<(), Error> {
    let Some(flow) = &chases.flow else {
        return match output.root().join(CHAINS_FILE).exists() {
            true => output.write_lines(CHAINS_FILE, std::iter::empty::<ChainLine>()).map(drop),
            false => Ok(()),
        };
    };
    let words = EventWords::new(subject, flow);
    let lines = chases.by_direction.iter().map(|(direction, chased)| words.line(*direction, chased));
    output.write_lines(CHAINS_FILE, lines).map(drop)
}

/// What a site should do: `(success) should be true`.
pub fn wanted(program: &Program, site: Site, choice: Choice) -> String {
    match site {
        Site::Condition(condition) => {
            format!("({}) should be {choice}", program.condition(condition).text)
        }
        Site::Branch(..) => format!("the branch should go {choice}"),
        Site::Switch(..) => format!("the switch should go to {choice}"),
    }
}

/// Events in terms of the source.
pub struct EventWords<'w> {
    subject: &'w Subject,
    flow: &'w DataFlow,
    /// By file of the program: its lines.
    lines: BTreeMap<u32, Vec<String>>,
}

impl<'w> EventWords<'w> {
    pub fn new(subject: &'w Subject, flow: &'w DataFlow) -> Self {
        let files = subject.program().files.iter().zip(0..);
        let read = |path: &str| {
            let text = std::fs::read_to_string(absolute(path, subject)).unwrap_or_default();
            text.lines().map(|line| line.trim().to_owned()).collect()
        };
        Self { subject, flow, lines: files.map(|(file, number)| (number, read(&file.path))).collect() }
    }

    fn program(&self) -> &'w Program {
        self.subject.program()
    }

    pub fn name(&self, object: ObjectId) -> String {
        self.flow.object(object).name.clone()
    }

    pub fn at(&self, span: Option<SpanId>) -> String {
        let program = self.program();
        span.map_or_else(|| "?".to_owned(), |span| program.describe(program.span(span).at))
    }

    /// The line of the source that something stands in.
    pub fn source_line(&self, span: Option<SpanId>) -> &str {
        let Some(position) = span.map(|span| self.program().span(span).at) else { return "" };
        let lines = self.lines.get(&position.file.0);
        let line = lines.and_then(|lines| lines.get((position.line as usize).saturating_sub(1)));
        line.map(String::as_str).unwrap_or_default()
    }

    /// `success = 0; at a.c:7:21`
    pub fn definition(&self, id: DefinitionId) -> String {
        let definition = self.flow.definition(id);
        let name = self.name(definition.object);
        match definition.kind {
            DefinitionKind::Initial => format!("{name} as it is when the run starts"),
            DefinitionKind::Parameter => format!("{name} as the argument"),
            DefinitionKind::Assigned | DefinitionKind::Returned => {
                format!("{} at {}", self.source_line(definition.span), self.at(definition.span))
            }
        }
    }

    /// Where a site is.
    pub fn place_of(&self, site: Site) -> String {
        let program = self.program();
        self.at(self.span_of(site).or_else(|| program.root.and_then(|root| program.function(root).span)))
    }

    pub fn span_of(&self, site: Site) -> Option<SpanId> {
        let program = self.program();
        match site {
            Site::Condition(condition) => Some(program.condition(condition).span),
            Site::Branch(function, block) | Site::Switch(function, block) => {
                let n_instrs = program.function(function).block(block).instrs.len();
                let at = u32::try_from(n_instrs.saturating_sub(1)).unwrap_or(u32::MAX);
                Place { function, block, at }.span(program)
            }
        }
    }

    /// `(n > 3) is true at a.c:9:9`
    pub fn direction(&self, site: Site, choice: Choice) -> String {
        let program = self.program();
        match site {
            Site::Condition(condition) => {
                let condition = program.condition(condition);
                format!("({}) is {choice} at {}", condition.text, self.at(Some(condition.span)))
            }
            Site::Branch(..) => format!("the branch goes {choice}"),
            Site::Switch(..) => format!("the switch goes to {choice}"),
        }
    }

    fn happening(&self, happening: Happening, place: Option<SpanId>) -> String {
        match happening {
            Happening::Start => "start".to_owned(),
            Happening::Taken(site, choice) => self.direction(site, choice),
            Happening::Defined(definition) => self.definition(definition),
            Happening::Reached => self.at(place),
        }
    }

    /// An event with what must keep its value until the next: `start [success]`.
    pub fn event(&self, event: &Event) -> String {
        let what = self.happening(event.happening, event.place.span(self.program()));
        let names: Vec<String> = event.keeps.iter().map(|object| self.name(*object)).collect();
        if names.is_empty() { what } else { format!("{what} [{}]", names.join(", ")) }
    }

    fn line(&self, (site, choice): (Site, Choice), chased: &Chased) -> ChainLine {
        let program = self.program();
        let mut trails: Vec<&Trail> = chased.trails.iter().collect();
        // what was refuted by its constant is seen among the definitions
        trails.retain(|trail| !matches!(trail.end, TrailEnd::Refuted(_)));
        if trails.len() > MOST_KEPT {
            trails.sort_by_key(|trail| std::cmp::Reverse((trail.passed, trail.n_runs)));
            trails.truncate(MOST_KEPT);
        }
        let tried = TriedSequences {
            runs: chased.n_runs.into(),
            sequences: chased.n_sequences as u64,
            saturated: chased.is_saturated,
            tried: trails.into_iter().map(|trail| self.trail(trail)).collect(),
        };
        ChainLine { at: self.place_of(site), wanted: wanted(program, site, choice), tried }
    }

    fn trail(&self, trail: &Trail) -> TriedSequence {
        let next = |happening: &Happening| self.happening(*happening, None);
        let broke = match &trail.end {
            TrailEnd::Refuted(happening) => {
                format!("the value of its definition rules out that {}", next(happening))
            }
            TrailEnd::Problem(happening) => {
                format!("no change of its run makes it happen that {}", next(happening))
            }
            TrailEnd::Stuck(happening) => {
                format!("no outcome that the input decides leads to: {}", next(happening))
            }
            TrailEnd::Cut(happening) => {
                format!("given up, because changes did not bring runs nearer to: {}", next(happening))
            }
            TrailEnd::Unfinished(happening) => {
                format!("the search ended on the way to: {}", next(happening))
            }
        };
        let mut events: Vec<String> = trail.sequence.events.iter().map(|event| self.event(event)).collect();
        // the problem that a definition was meant for, and the same as the end of the sequence
        if let [.., before, last] = &events[..]
            && before == last
            && trail.passed + 1 < events.len()
        {
            events.pop();
        }
        TriedSequence { events, passed: trail.passed, broke, runs: trail.n_runs.into() }
    }
}
