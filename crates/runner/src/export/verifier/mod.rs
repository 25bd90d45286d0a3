//! The open goals of a run as programs for a verifier: `reach_error` is called exactly where a goal is covered.
//!
//! Method: the marked text of the function's unit, with its harness, is a complete program once the harness gets its values from
//! `__VERIFIER_nondet_ulonglong` and a monitor watches the conditions; the other units are files beside it. Everything is
//! compiled before it is written. Limit: functions only; goals that a monitor cannot express are listed with the reason.

mod monitor;
mod tokens;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use coverage::Coverage;
use frontend::preprocess::check_syntax;
use frontend::sources::CompileCommand;
use report::record::{GoalLine, State};
use serde_json::json;

use super::{ExportOptions, Exported, write_files};
use crate::error::Error;
use crate::front::work_directory;
use crate::recheck::coverage_of;
use crate::store::recorder::{GOALS_FILE, goal_of};
use crate::store::results::goals;
use crate::store::run::Run;
use crate::subject::{Need, Subject};
use monitor::{Monitor, Side, Texts};

/// What the harness calls.
const INPUTS: &str = include_str!("inputs.c");
/// The file that lists the programs.
const LIST: &str = "goals.jsonl";
/// Objects that the harness can make, those that one pointer can choose from, and functions that one can; the last two as the runtime has it.
const LIMITS: &str = "enum { QUARRY_OBJECTS = 64, QUARRY_ALIASES = 6, QUARRY_FUNCTIONS = 16 };\n";

/// Writes a program per goal that the run left undecided.
pub fn write(root: &Path, run: &Run, options: &ExportOptions) -> Result<Exported, Error> {
    if run.spec.subject.program.is_some() {
        return Err(no_programs());
    }
    let work = work_directory()?;
    let subject = run.rebuild(work.path(), Need::Model, &options.cache)?;
    let coverage = coverage_of(&subject, run)?;
    let is_open = |line: &GoalLine| !matches!(line.state, Some(State::Covered | State::Infeasible));
    let open: Vec<GoalLine> = goals(&root.join(GOALS_FILE))?.into_iter().filter(is_open).collect();
    let exported = programs(&subject, &coverage, &open, work.path())?;
    write_files(&options.directory, &exported.files)?;
    Ok(Exported { n_tests: exported.n_goals, left_out: exported.left_out, notes: Vec::new() })
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
    n_goals: usize,
    left_out: Vec<(String, String)>,
}

fn programs(
    subject: &Subject,
    coverage: &Coverage,
    goals: &[GoalLine],
    work: &Path,
) -> Result<Programs, Error> {
    let units = subject.texts()?;
    let texts = Texts { program: subject.program(), marks: subject.marks(), units: &units };
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
                let names: Vec<&String> = files.keys().collect();
                let entry = json!({ "key": line.key, "criterion": line.criterion, "demand": line.demand, "files": names });
                let _ = writeln!(list, "{entry}");
                programs.n_goals += 1;
                for (name, text) in files {
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

/// Puts programs together.
struct Writer<'a> {
    subject: &'a Subject,
    texts: &'a Texts<'a>,
    work: &'a Path,
}

impl Writer<'_> {
    /// The files of the program for a goal, or why there are none: that of the function's unit first, by name.
    fn program(&self, line: &GoalLine, monitor: &Monitor) -> Result<BTreeMap<String, String>, String> {
        let main = self.subject.unit();
        let mut files = BTreeMap::new();
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
                    format!("extern void reach_error(void);\n{body}{stubs}"),
                )
            } else {
                (format!("unit{unit}.c"), format!("{body}{stubs}"))
            };
            self.check(unit, &text)?;
            files.insert(name, text);
        }
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
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for edit in monitor.edits.iter().filter(|edit| edit.unit == unit) {
        let Some(line) = (edit.line as usize).checked_sub(1).and_then(|at| lines.get_mut(at)) else {
            continue;
        };
        *line = match edit.side {
            Side::Before => format!("{} {line}", edit.text),
            Side::After => format!("{line} {}", edit.text),
        };
    }
    lines.join("\n") + "\n"
}

/// A program that has a function of this name keeps it under another.
fn without_reach_error(text: &str) -> String {
    let renamed = text.lines().map(|line| if line == "reach_error" { "user_reach_error" } else { line });
    renamed.collect::<Vec<_>>().join("\n") + "\n"
}
