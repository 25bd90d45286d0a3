//! What do the tests of an output directory execute in the source? The facts from which all reports are generated.
//!
//! Method: every input in `tests/`, `crashes/` and `hangs/` is read back from its file and executed once more; its path is
//! walked and counted. So the facts describe the files, whatever search, minimisation or editing they went through. Limit:
//! for an execution that does not end, only what fits into the path log counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use coverage::tally::Tally;
use coverage::{Case, Scope};
use engine::executor::End;
use model::walk::WalkEnd;
use model::{DecisionId, FileId, FunctionId, LabelValues, Position, Program, SpanId, StatementId, SwitchId};

mod extent;
mod obligations;

use crate::end_text::end_text;
use crate::error::Error;
use crate::measure::{Counted, Measurer, Settings};
use crate::store::suite::{INPUT_DIRECTORIES, read_input, read_record, tests_in};
use crate::subject::Subject;
use extent::{LineStarts, end_of};
use report::facts::{
    At, Cause, DecisionFacts, Facts, FileFacts, FunctionFacts, Hits, LabelFacts, StatementFacts, SwitchFacts,
    TestFacts,
};
use report::record::{SCHEMA, SourcePosition};
use report::words::kind_word;

/// Inputs that hang get no longer than this: they fill any log soon.
const HANG_LIMIT: Duration = Duration::from_millis(500);

/// Executes the tests in `root` and counts.
pub fn gather(root: &Path, subject: &Subject, settings: Settings<'_>) -> Result<Facts, Error> {
    let limit = settings.limit;
    let mut measurer = Measurer::new(subject, settings)?;
    let mut tests = Vec::new();
    for directory in INPUT_DIRECTORIES {
        let path = root.join(directory);
        measurer.set_limit(if directory == "hangs" { limit.min(HANG_LIMIT) } else { limit });
        for file in if path.is_dir() { tests_in(&path)? } else { Vec::new() } {
            tests.push(executed(subject, &mut measurer, &file, directory));
        }
    }
    let scope = subject.scope()?;
    let (tests, tallies): (Vec<Executed>, Vec<Option<Tally>>) = tests.into_iter().unzip();
    Ok(Gathering::new(subject, &scope, &tallies).facts(tests))
}

/// A test, and where it went wrong.
type Executed = (TestFacts, Option<Position>);

/// A place of a record in the program.
fn position(program: &Program, told: &SourcePosition) -> Option<Position> {
    let file = program.files.iter().position(|file| file.path == told.file)?;
    Some(Position { file: FileId::new(file), line: told.line, column: told.column })
}

fn executed(
    subject: &Subject,
    measurer: &mut Measurer<'_>,
    file: &Path,
    directory: &str,
) -> (Executed, Option<Tally>) {
    let program = subject.program();
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut facts = TestFacts {
        file: format!("{directory}/{name}.json"),
        name,
        call: String::new(),
        end: String::new(),
        cause: None,
        place: None,
        unmeasured: None,
    };
    let counted = read_input(file, subject).map_err(|error| error.to_string()).and_then(|input| {
        facts.call = subject.call(&input);
        measurer.tally(&input).map_err(|error| error.to_string())
    });
    match counted {
        Ok(Counted { end, walk_end, tally }) => {
            facts.end = end_text(program, end);
            facts.cause = cause_of(end);
            let place = facts.cause.and_then(|_| place_of(program, end, walk_end));
            let place = place.map(|span| program.span(span).at);
            match read_record::<report::record::Test>(file)
                .ok()
                .and_then(|record| Some((record.end, record.finding?)))
            {
                Some((told, finding)) => {
                    facts.end = told;
                    facts.cause = Some(Cause::of_report(&finding.kind, &finding.message));
                    let shown = finding.place.and_then(|shown| position(program, &shown));
                    ((facts, shown.or(place)), Some(tally))
                }
                None => ((facts, place), Some(tally)),
            }
        }
        Err(why) => {
            facts.unmeasured = Some(why);
            ((facts, None), None)
        }
    }
}

fn cause_of(end: End) -> Option<Cause> {
    match end {
        End::Returned | End::Exited(_) => None,
        End::Aborted => Some(Cause::Abort),
        End::Signalled { .. } => Some(Cause::Signal),
        End::TimedOut => Some(Cause::Hang),
        End::OutOfMemory => Some(Cause::OutOfMemory),
        End::StackOverflow => Some(Cause::StackOverflow),
        End::OutOfBounds(outside) if outside.is_write => Some(Cause::OutOfBoundsWrite),
        End::OutOfBounds(_) => Some(Cause::OutOfBoundsRead),
    }
}

/// The access that went outside of its object, or the last code that was certainly reached.
fn place_of(program: &Program, end: End, walk_end: WalkEnd) -> Option<SpanId> {
    if let End::OutOfBounds(outside) = end {
        return Some(SpanId(outside.place)).filter(|span| span.index() < program.spans.len());
    }
    let (function, block) = match walk_end {
        WalkEnd::Returned => return None,
        WalkEnd::NoReturn(function, block) | WalkEnd::CutOff(function, block) => (function, block),
    };
    let function = program.function(function);
    let instrs = function.block(block).instrs.iter();
    instrs.filter_map(|instr| function.instr(*instr).span).next().or(function.span)
}

/// Which tests did something, and how often.
pub(super) fn hits(tallies: &[Option<Tally>], n: impl Fn(&Tally) -> u64) -> Hits {
    let counted = tallies.iter().map(|tally| tally.as_ref().map_or(0, &n)).enumerate();
    Hits(counted.filter(|(_, n)| *n > 0).collect())
}

struct Gathering<'a> {
    subject: &'a Subject,
    program: &'a Program,
    tallies: &'a [Option<Tally>],
    functions: BTreeMap<FunctionId, usize>,
    files: BTreeMap<FileId, usize>,
    sources: Vec<FileFacts>,
    /// Of each of the sources.
    lines: Vec<LineStarts>,
}

impl<'a> Gathering<'a> {
    fn new(subject: &'a Subject, scope: &Scope, tallies: &'a [Option<Tally>]) -> Self {
        let program = subject.program();
        let placed = |id: &FunctionId| program.function(*id).span.is_some();
        let functions = scope.functions().filter(placed).zip(0..).collect();
        let (files, sources, lines) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut gathering = Self { subject, program, tallies, functions, files, sources, lines };
        let in_scope = |function: &FunctionId| gathering.functions.contains_key(function);
        let mut spans: Vec<SpanId> =
            gathering.functions.keys().filter_map(|id| program.function(*id).span).collect();
        let statements = program.statements.iter().filter(|statement| in_scope(&statement.function));
        spans.extend(statements.map(|statement| statement.span));
        let decisions = program.decisions.iter().filter(|decision| in_scope(&decision.function));
        for decision in decisions {
            spans.push(decision.span);
            spans.extend(decision.shape.conditions().into_iter().map(|id| program.condition(id).span));
        }
        let switches = program.switches.iter().filter(|switch| in_scope(&switch.function));
        spans.extend(
            switches.flat_map(|switch| switch.labels.iter().map(|label| label.span).chain([switch.span])),
        );
        for span in spans {
            gathering.take_file(program.span(span).at.file);
        }
        gathering
    }

    fn take_file(&mut self, id: FileId) {
        if self.files.contains_key(&id) {
            return;
        }
        let path = self.program.file(id).path.clone();
        let absolute = absolute(&path, self.subject);
        let text = std::fs::read(&absolute).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.files.insert(id, self.sources.len());
        self.lines.push(LineStarts::of(text.as_deref().unwrap_or_default()));
        self.sources.push(FileFacts { path, absolute, text });
    }

    fn facts(self, tests: Vec<Executed>) -> Facts {
        let decisions = (0..self.program.decisions.len()).map(DecisionId::new);
        let switches = (0..self.program.switches.len()).map(SwitchId::new);
        let statements = (0..self.program.statements.len()).map(StatementId::new);
        let placed = |(facts, place): Executed| {
            // code that is not of the run, such as the harness, means nothing to a reader
            let place = place.and_then(|Position { file, line, column }| {
                Some(At { file: *self.files.get(&file)?, line, column })
            });
            TestFacts { place, ..facts }
        };
        Facts {
            schema: SCHEMA,
            tests: tests.into_iter().map(placed).collect(),
            functions: self.functions.keys().map(|id| self.function(*id)).collect(),
            statements: statements.filter_map(|id| self.statement(id)).collect(),
            decisions: decisions.filter_map(|id| self.decision(id)).collect(),
            switches: switches.filter_map(|id| self.switch(id)).collect(),
            files: self.sources,
        }
    }

    fn at(&self, span: SpanId) -> At {
        let Position { file, line, column } = self.program.span(span).at;
        At { file: self.files[&file], line, column }
    }

    fn end(&self, at: At, text: &str) -> Option<(u32, u32)> {
        end_of(self.sources[at.file].text.as_deref()?, &self.lines[at.file], (at.line, at.column), text)
    }

    fn function(&self, id: FunctionId) -> FunctionFacts {
        let function = self.program.function(id);
        let at = self.at(function.span.expect("functions without a place were left out"));
        let lines = function.instrs.iter().filter_map(|instr| instr.span);
        let lines = lines.map(|span| self.program.span(span).at);
        let same_file = lines.filter(|place| self.files.get(&place.file) == Some(&at.file));
        FunctionFacts {
            name: function.name.clone(),
            at,
            last_line: same_file.map(|place| place.line).max().unwrap_or(at.line).max(at.line),
            hits: hits(self.tallies, |tally| tally.entered(id)),
        }
    }

    fn statement(&self, id: StatementId) -> Option<StatementFacts> {
        let statement = self.program.statement(id);
        let function = *self.functions.get(&statement.function)?;
        statement.code?;
        let hits = hits(self.tallies, |tally| tally.executed(id));
        Some(StatementFacts { function, at: self.at(statement.span), hits })
    }

    fn decision(&self, id: DecisionId) -> Option<DecisionFacts> {
        let decision = self.program.decision(id);
        let function = *self.functions.get(&decision.function)?;
        if decision.shape.is_constant() || !decision.kind.is_of_source() {
            return None;
        }
        let at = self.at(decision.span);
        let vectors = obligations::vectors(self.tallies, id);
        let place = |span, text: &str| {
            let at = self.at(span);
            (at, self.end(at, text))
        };
        Some(DecisionFacts {
            function,
            at,
            end: self.end(at, &decision.text),
            kind: kind_word(decision.kind).to_owned(),
            controls: decision.kind.controls_flow(),
            text: decision.text.clone(),
            conditions: obligations::conditions(self.program, decision, self.tallies, &vectors, place),
            vectors: vectors.into_iter().map(|(_, facts)| facts).collect(),
        })
    }

    fn switch(&self, id: SwitchId) -> Option<SwitchFacts> {
        let switch = self.program.switch(id);
        let function = *self.functions.get(&switch.function)?;
        let label = |what: String, span, case| LabelFacts {
            at: self.at(span),
            what,
            hits: hits(self.tallies, |tally| tally.label(id, case)),
        };
        let written = switch.labels.iter().zip((0..).map(Case::Label));
        let mut labels: Vec<LabelFacts> =
            written.map(|(written, case)| label(written.to_string(), written.span, case)).collect();
        if !switch.labels.iter().any(|label| label.values == LabelValues::Default) {
            labels.push(label("no case matches".to_owned(), switch.span, Case::ImplicitDefault));
        }
        Some(SwitchFacts { function, at: self.at(switch.span), text: switch.text.clone(), labels })
    }
}

/// Where a file is: paths start where the command was given, or where the compiler runs.
/// The real path of a file that the program names, as far as it is found.
pub fn absolute(path: &str, subject: &Subject) -> PathBuf {
    let here = subject.root();
    let mut places = vec![here.join(path)];
    places.extend(subject.directories().map(|directory| directory.join(path)));
    let found = places.iter().find(|place| place.is_file());
    found.and_then(|place| place.canonicalize().ok()).unwrap_or_else(|| here.join(path))
}
