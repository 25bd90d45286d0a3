//! The open goals of a run as programs for a verifier: `reach_error` is called exactly where a goal is covered.
//!
//! Method: the marked text of the function's unit, with its harness, is a complete program once the harness gets its values from
//! `__VERIFIER_nondet_ulonglong` and a monitor watches the conditions; the other units are files beside it. Everything is
//! compiled before it is written. Limit: functions only; goals that a monitor cannot express are listed with the reason.

mod claims;
mod expression;
mod flow;
mod monitor;
mod tokens;
mod witness;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use coverage::{Coverage, GoalId};
use frontend::instrument::Mode;
use frontend::preprocess::check_syntax;
use frontend::sources::CompileCommand;
use report::record::{GoalLine, State};
use serde_json::{Value, json};

use super::{ExportOptions, Exported, write_files};
use crate::error::Error;
use crate::front::work_directory;
use crate::kept_proofs::{infeasible_lines, proof_of};
use crate::measure::{Measurer, Settings};
use crate::recheck::coverage_of;
use crate::store::recorder::{GOALS_FILE, goal_of};
use crate::store::results::goals;
use crate::store::run::Run;
use crate::subject::{Need, Subject};
use claims::{Answer, Verifier};
use monitor::{Monitor, Side, Texts};
use witness::{loop_invariants, witness, written_at};

/// What the harness calls.
const INPUTS: &str = include_str!("inputs.c");
/// The file that lists the programs.
const LIST: &str = "goals.jsonl";
/// The file with what a verifier says of them.
const CLAIMS: &str = "claims.jsonl";
/// Objects that the harness can make, those that one pointer can choose from, and functions that one can; the last two as the runtime has it.
const LIMITS: &str = "enum { QUARRY_OBJECTS = 64, QUARRY_ALIASES = 6, QUARRY_FUNCTIONS = 16 };\n";

/// Writes a program per goal that the run left undecided.
pub fn write(root: &Path, run: &Run, options: &ExportOptions) -> Result<Exported, Error> {
    if run.spec.subject.program.is_some() {
        return Err(no_programs());
    }
    let work = work_directory()?;
    let need = if options.verifier.is_some() { Need::Mode(Mode::Fast) } else { Need::Model };
    let subject = run.rebuild(work.path(), need, &options.interrupt, &options.cache)?;
    let coverage = coverage_of(&subject, run)?;
    let lines = goals(&root.join(GOALS_FILE))?;
    let is_open = |line: &&GoalLine| !matches!(line.state, Some(State::Covered | State::Infeasible));
    let open: Vec<&GoalLine> = lines.iter().filter(is_open).collect();
    let exported = programs(&subject, &coverage, &open, work.path())?;
    write_files(&options.directory, &exported.files)?;
    let mut notes = Vec::new();
    if let Some(command) = &options.verifier {
        let covered: Vec<&GoalLine> = lines.iter().filter(|line| line.test.is_some()).collect();
        let control = first_program(&subject, &coverage, &covered, work.path())?;
        let asked = Asked { command, subject: &subject, coverage: &coverage, options, work: work.path() };
        notes = asked.all(&exported.listed, control)?;
    }
    Ok(Exported { n_tests: exported.listed.len(), left_out: exported.left_out, notes })
}

/// Writes a program and a witness per goal that the run proved infeasible.
pub fn write_witnesses(root: &Path, run: &Run, options: &ExportOptions) -> Result<Exported, Error> {
    if run.spec.subject.program.is_some() {
        return Err(no_programs());
    }
    let work = work_directory()?;
    let subject = run.rebuild(work.path(), Need::Model, &options.interrupt, &options.cache)?;
    let coverage = coverage_of(&subject, run)?;
    let units = subject.texts()?;
    let flow = coverage.data_flow().map(AsRef::as_ref);
    let texts = Texts { program: subject.program(), marks: subject.marks(), units: &units, flow };
    let writer = Writer { subject: &subject, texts: &texts, work: work.path() };
    let (mut files, mut exported) = (BTreeMap::new(), Exported::default());
    for (line, evidence) in infeasible_lines(root)? {
        let made = proof_of(root, subject.program(), &coverage, &line, &evidence).and_then(|(id, proof)| {
            let monitor = texts.monitor(coverage.goal(id).demand)?;
            Ok((writer.program(&line, &monitor)?, proof))
        });
        match made {
            Ok((program, proof)) => {
                let invariants = loop_invariants(&writer, &program, &proof);
                let written_at = written_at(&root.join(&evidence.proof));
                let text = witness(subject.program(), &program, &invariants, written_at);
                files.insert(format!("{}.yml", line.key), text.into_bytes());
                files.extend(program.into_iter().map(|file| (file.name, file.text.into_bytes())));
                exported.n_tests += 1;
            }
            Err(why) => exported.left_out.push((line.key.clone(), why)),
        }
    }
    write_files(&options.directory, &files.into_iter().collect::<Vec<_>>())?;
    Ok(exported)
}

/// What `quarry export` answers for whole programs.
pub fn no_programs() -> Error {
    Error::usage("goals of whole programs are not written for verifiers")
        .help("generate with --function main, or name a function")
}

/// Programs by file name.
#[derive(Default)]
struct Programs {
    files: Vec<(String, Vec<u8>)>,
    listed: Vec<Listed>,
    left_out: Vec<(String, String)>,
}

/// A goal with its program.
struct Listed {
    goal: GoalId,
    key: String,
    files: Vec<String>,
}

/// The first of these goals that has a program, with its files.
fn first_program(
    subject: &Subject,
    coverage: &Coverage,
    goals: &[&GoalLine],
    work: &Path,
) -> Result<Option<Programs>, Error> {
    for goal in goals {
        let programs = programs(subject, coverage, &[goal], work)?;
        if !programs.listed.is_empty() {
            return Ok(Some(programs));
        }
    }
    Ok(None)
}

fn programs(
    subject: &Subject,
    coverage: &Coverage,
    goals: &[&GoalLine],
    work: &Path,
) -> Result<Programs, Error> {
    let units = subject.texts()?;
    let flow = coverage.data_flow().map(AsRef::as_ref);
    let texts = Texts { program: subject.program(), marks: subject.marks(), units: &units, flow };
    let writer = Writer { subject, texts: &texts, work };
    let mut programs = Programs::default();
    let mut list = String::new();
    for line in goals {
        let Some(id) = goal_of(subject.program(), coverage, line) else {
            programs.left_out.push((line.key.clone(), "the sources have changed since the run".to_owned()));
            continue;
        };
        let goal = coverage.goal(id);
        let written = texts.monitor(goal.demand).and_then(|monitor| writer.program(line, &monitor));
        match written {
            Ok(files) => {
                let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
                let entry = json!({ "key": line.key, "criterion": line.criterion, "demand": line.demand, "files": names });
                let _ = writeln!(list, "{entry}");
                programs.listed.push(Listed { goal: id, key: line.key.clone(), files: names });
                for ProgramFile { name, text, .. } in files {
                    if !programs.files.iter().any(|(known, _)| *known == name) {
                        programs.files.push((name, text.into_bytes()));
                    }
                }
            }
            Err(why) => programs.left_out.push((line.key.clone(), why)),
        }
    }
    programs.files.push((LIST.to_owned(), list.into_bytes()));
    Ok(programs)
}

/// A verifier and what it is asked about.
struct Asked<'a> {
    command: &'a str,
    subject: &'a Subject,
    coverage: &'a Coverage,
    options: &'a ExportOptions,
    work: &'a Path,
}

impl Asked<'_> {
    /// Asks about every program, writes what comes of it, and gives it in words.
    fn all(&self, listed: &[Listed], control: Option<Programs>) -> Result<Vec<String>, Error> {
        let ExportOptions { directory, limit, interrupt, .. } = self.options;
        let work = self.work.join("verifier");
        let verifier = Verifier { command: self.command, work: &work, limit: *limit, interrupt };
        let ask = |files: &[String], directory: &Path| {
            verifier.ask(files, directory).map_err(|error| {
                Error::usage(format!("cannot run {}: {error}", self.command))
                    .help("name an installed verifier")
            })
        };
        if let Some(control) = control {
            let place = self.work.join("control");
            write_files(&place, &control.files)?;
            if ask(&control.listed[0].files, &place)? == Answer::Unreachable {
                let (command, key) = (self.command, &control.listed[0].key);
                return Err(Error::usage(format!("{command} calls {key} unreachable, which a test covers"))
                    .help("nothing it says of open goals would count; are its options right?"));
            }
        }
        let settings = Settings { mode: Mode::Fast, work: &self.work.join("runs"), limit: *limit, interrupt };
        let mut measurer = Measurer::new(self.subject, settings)?.for_goals(self.coverage);
        let (mut lines, mut notes) = (String::new(), Vec::new());
        for listed in listed {
            let (claim, words) = self.heard(listed, ask(&listed.files, directory)?, &mut measurer)?;
            let _ = writeln!(lines, "{claim}");
            notes.push(format!("{}: {words}", listed.key));
            if interrupt.is_requested() {
                break;
            }
        }
        write_files(directory, &[(CLAIMS.to_owned(), lines.into_bytes())])?;
        Ok(notes)
    }

    /// An answer as a record and in words. The input of a counterexample is written and executed.
    fn heard(
        &self,
        listed: &Listed,
        answer: Answer,
        measurer: &mut Measurer<'_>,
    ) -> Result<(Value, String), Error> {
        let (key, by) = (&listed.key, self.command);
        Ok(match answer {
            Answer::Unreachable => (
                json!({ "key": key, "by": by, "claim": "unreachable" }),
                format!("claimed unreachable by {by}: no proof of Quarry's"),
            ),
            Answer::Nothing(why) => {
                (json!({ "key": key, "by": by, "claim": "none", "why": why }), format!("no answer: {why}"))
            }
            Answer::Reachable(None) => (
                json!({ "key": key, "by": by, "claim": "reachable" }),
                "claimed reachable, without the values of an input (is an option for traces missing?)"
                    .to_owned(),
            ),
            Answer::Reachable(Some(input)) => {
                let file = format!("{key}.json");
                let text = format!("{:#}\n", self.subject.to_json(&input));
                write_files(&self.options.directory, &[(file.clone(), text.into_bytes())])?;
                let measured = measurer.measure(&input);
                let covers = measured.is_ok_and(|measured| {
                    self.coverage.satisfied(&measured.observations).contains(&listed.goal)
                });
                let place = self.options.directory.join(&file);
                let words = if covers {
                    format!("covered by {} (quarry gen --first-input makes a test of it)", place.display())
                } else {
                    format!("claimed reachable, but {} does not cover it", place.display())
                };
                let claim =
                    json!({ "key": key, "by": by, "claim": "reachable", "input": file, "covers": covers });
                (claim, words)
            }
        })
    }
}

/// A file of a program for a verifier.
struct ProgramFile {
    name: String,
    text: String,
    /// The unit that it has the text of, behind so many other lines.
    unit: usize,
    n_before: u32,
}

/// Puts programs together.
struct Writer<'a> {
    subject: &'a Subject,
    texts: &'a Texts<'a>,
    work: &'a Path,
}

impl Writer<'_> {
    /// The files of the program for a goal, or why there are none: that of the function's unit first, by name.
    fn program(&self, line: &GoalLine, monitor: &Monitor) -> Result<Vec<ProgramFile>, String> {
        let main = self.subject.unit();
        let mut files = Vec::new();
        for (unit, text) in
            self.texts.units.iter().enumerate().filter(|(unit, _)| self.subject.has_unit(*unit))
        {
            let is_edited = monitor.edits.iter().any(|edit| edit.unit == unit);
            let body = without_reach_error(&edited(text, unit, monitor));
            let stubs = self.subject.stubs().texts.get(&unit).map_or("", String::as_str);
            let (name, text) = if unit == main {
                (format!("{}.c", line.key), self.main_unit(line, monitor, &body, stubs))
            } else if is_edited {
                (
                    format!("{}.unit{unit}.c", line.key),
                    format!("extern void reach_error(void);\n{}{body}{stubs}", monitor.shared),
                )
            } else {
                (format!("unit{unit}.c"), format!("{body}{stubs}"))
            };
            self.check(unit, &text)?;
            let before = text.find(&body).map_or("", |at| &text[..at]);
            let n_before = u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
            files.push(ProgramFile { name, text, unit, n_before });
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(files)
    }

    /// The unit of the function, with everything that makes it a program.
    fn main_unit(&self, line: &GoalLine, monitor: &Monitor, body: &str, stubs: &str) -> String {
        let place =
            line.place.as_ref().map_or(String::new(), |place| format!("{}:{}: ", place.file, place.line));
        let about = format!("{place}{} [{}]", line.demand, line.criterion).replace("*/", "* /");
        format!(
            "/* {about}\n * reach_error is called exactly when this happens. */\n\
             extern void __assert_fail(const char *, const char *, unsigned, const char *);\n\
             void reach_error(void)\n{{\n    __assert_fail(\"0\", \"{key}\", 1, \"reach_error\");\n}}\n\
             {state}_Bool __q(unsigned id, _Bool leaf)\n{{\n    (void)id;\n{conditions}    return leaf;\n}}\n\n\
             {LIMITS}{INPUTS}\n{body}\n{harness}{stubs}\nint main(void)\n{{\n    __quarry_harness();\n    return 0;\n}}\n",
            key = line.key,
            state = monitor.state,
            conditions = monitor.at_conditions,
            harness = self.subject.harness_alone(),
        )
    }

    /// A program that does not compile would be a verifier's problem, and one with an edit in the wrong place its mistake.
    fn check(&self, unit: usize, text: &str) -> Result<(), String> {
        let unit = &self.texts.marks.units[unit];
        let source = self.work.join("checked.c");
        std::fs::write(&source, text)
            .map_err(|error| format!("cannot write {}: {error}", source.display()))?;
        let (directory, preprocess) = (unit.directory.clone(), unit.flags.clone());
        let command = CompileCommand { source, directory, preprocess, compile: Vec::new(), link: Vec::new() };
        match check_syntax(&command) {
            Ok(None) => Ok(()),
            Ok(Some(error)) | Err(error) => {
                let message = error.to_string();
                let first = message.lines().find(|line| line.contains("error:")).unwrap_or(&message);
                Err(format!("its program does not compile: {first}"))
            }
        }
    }
}

/// The text of a unit with what a monitor inserts.
fn edited(text: &str, unit: usize, monitor: &Monitor) -> String {
    // by line and column: what ends there and what begins there
    let mut inserted: BTreeMap<(u32, usize), (String, String)> = BTreeMap::new();
    for edit in monitor.edits.iter().filter(|edit| edit.unit == unit) {
        let at = |column| (edit.line, column);
        match edit.side {
            Side::Before => inserted.entry(at(0)).or_default().1.insert_str(0, &format!("{} ", edit.text)),
            Side::After => inserted.entry(at(usize::MAX)).or_default().0.push_str(&format!(" {}", edit.text)),
            Side::Opening(column) => inserted.entry(at(column)).or_default().1.insert_str(0, &edit.text),
            Side::Closing(column) => inserted.entry(at(column)).or_default().0.push_str(&edit.text),
        }
    }
    let mut edited = String::new();
    for (line, number) in text.lines().zip(1..) {
        let mut done = 0;
        for ((_, column), (ends, begins)) in inserted.range((number, 0)..=(number, usize::MAX)) {
            let column = (*column).min(line.len());
            edited.extend([&line[done..column], ends, begins]);
            done = column;
        }
        edited.extend([&line[done..], "\n"]);
    }
    edited
}

/// A program that has a function of this name keeps it under another.
fn without_reach_error(text: &str) -> String {
    let renamed = text.lines().map(|line| if line == "reach_error" { "user_reach_error" } else { line });
    renamed.collect::<Vec<_>>().join("\n") + "\n"
}
