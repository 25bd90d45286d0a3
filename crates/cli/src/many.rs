//! Several functions: a campaign for each, with one budget.
//!
//! Method: files that do not build are set aside, with the reason. Every function has a directory of its own in the output
//! directory, which is like that of a single run. Time is shared fairly: each function in turn gets an equal part of what is
//! left, so what one does not use goes to those behind it; what is left in the end is shared likewise among those that could
//! use more. All sources are built as one program; where that does not work (two programs in one build directory), each
//! function with its own file. Limit: building is not part of the budget.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::arguments::{Gen, MessageFormat, SourceArguments};
use crate::confirm;
use crate::exit::{Exit, Failure};
use crate::generate::{Ended, Entry, Order, enter, exit_of_summary, search};
use crate::interrupt;
use crate::output::{Output, RUN_FILE};
use crate::pipeline::{self, Front, Subject};
use crate::progress::ProgressView;
use crate::report::confirmation::Confirmation;
use crate::report::functions::{FUNCTIONS_FILE, FunctionEntry, Functions, conclusion, table, total};
use crate::report::record::{Run, RunState, SCHEMA, Summary};
use crate::reports::{self, PAGE_FILE};
use crate::say::{say, show};
use crate::suite::INPUT_DIRECTORIES;

/// Less time than this is not worth building for.
const SHORTEST_TURN: Duration = Duration::from_secs(1);

/// What there is to test when no function is named.
pub enum Subjects {
    /// One function, or none: the sources.
    One(Rc<Front>),
    Several(Several),
}

/// Functions to test, and files that do not build.
pub struct Several {
    front: Rc<Front>,
    subjects: Vec<Subject>,
    sources: SourceArguments,
    broken: Vec<(PathBuf, Failure)>,
}

/// Reads the sources and finds the functions in them.
pub fn subjects(arguments: &Gen, output: &Output) -> Result<Subjects, Failure> {
    let mut sources = arguments.sources.clone();
    let mut broken = Vec::new();
    if sources.sources.len() > 1 {
        let commands = pipeline::commands(&sources)?;
        let files = std::mem::take(&mut sources.sources);
        for (file, command) in files.into_iter().zip(&commands) {
            match pipeline::objection(command) {
                Ok(()) => sources.sources.push(file),
                Err(failure) => broken.push((file, failure)),
            }
        }
    }
    if sources.sources.is_empty() {
        let (_, failure) = broken.swap_remove(0);
        return Err(failure);
    }
    let front = Rc::new(Front::with_stand_ins(&sources, &arguments.stubs.files, &output.work())?);
    let subjects = front.subjects();
    if subjects.len() < 2 && broken.is_empty() {
        return Ok(Subjects::One(front));
    }
    Ok(Subjects::Several(Several { front, subjects, sources, broken }))
}

/// Runs a campaign for each function.
pub fn generate(
    order: &Order<'_>,
    several: Several,
    output: &Output,
    mut run: Run,
    progress: ProgressView,
) -> Result<Exit, Failure> {
    for directory in INPUT_DIRECTORIES.iter().chain(&["harness", "logs"]) {
        // each function has its own; one that is not empty is somebody's
        let _ = std::fs::remove_dir(output.root().join(directory));
    }
    run.state = RunState::Running;
    output.write_json(RUN_FILE, &run)?;
    let mut campaigns = Campaigns {
        order,
        entries: entries(&several),
        alone: None,
        several,
        output,
        run: &run,
        left: order.arguments.budget,
        progress,
    };
    let interrupted = campaigns.work()?;
    let Campaigns { entries, mut progress, .. } = campaigns;
    progress.clear();
    let total = total(&entries, interrupted, output.root());
    (run.state, run.result) = (RunState::Finished, Some(total.clone()));
    run.confirmation = order.arguments.confirm.then(|| confirm::of_several(output.root(), &entries));
    output.write_json(RUN_FILE, &run)?;
    reports::write_summary(output.root(), &entries, &total)?;
    tell(order.arguments, &entries, &total, run.confirmation.as_ref())?;
    if interrupted {
        eprintln!("interrupted; the same command goes on from there");
        return Ok(Exit::Interrupted);
    }
    let nothing_done = entries.iter().all(|entry| entry.result.is_none());
    Ok(if nothing_done { Exit::Build } else { exit_of_summary(order.arguments, &total) })
}

fn tell(
    arguments: &Gen,
    entries: &[FunctionEntry],
    total: &Summary,
    confirmation: Option<&Confirmation>,
) -> Result<(), Failure> {
    match arguments.message_format {
        MessageFormat::Human => {
            show(table(entries).as_bytes());
            say(format_args!("\n{}", conclusion(entries, total)));
            show(confirmation.map(Confirmation::text).unwrap_or_default().as_bytes());
            say(format_args!("results: {}", total.out.display()));
            say(format_args!("report: {}", total.out.join(PAGE_FILE).display()));
        }
        MessageFormat::Json => {
            let text = serde_json::to_string(total)
                .map_err(|error| Failure::internal(format!("cannot write the summary as JSON: {error}")))?;
            say(text);
        }
    }
    Ok(())
}

/// A line per function and per file that does not build, before anything is done.
fn entries(several: &Several) -> Vec<FunctionEntry> {
    let entry = |subject: &Subject| FunctionEntry {
        function: subject.qualified.clone(),
        file: subject.file.display().to_string(),
        directory: Some(directory(subject)),
        result: None,
        reason: None,
    };
    let broken = several.broken.iter().map(|(file, failure)| FunctionEntry {
        function: String::new(),
        file: file.display().to_string(),
        directory: None,
        result: None,
        reason: Some(failure.message().to_owned()),
    });
    several.subjects.iter().map(entry).chain(broken).collect()
}

/// `parse`, or `reader-parse` when there are several of that name.
fn directory(subject: &Subject) -> String {
    if subject.name == subject.qualified {
        return subject.name.clone();
    }
    let path = subject.file.with_extension("");
    let parts = path.components().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        std::path::Component::Prefix(_)
        | std::path::Component::RootDir
        | std::path::Component::CurDir
        | std::path::Component::ParentDir => None,
    });
    let parts: Vec<String> = parts.chain([subject.name.clone()]).collect();
    parts.join("-")
}

struct Campaigns<'a> {
    order: &'a Order<'a>,
    several: Several,
    /// The functions first, in their order.
    entries: Vec<FunctionEntry>,
    output: &'a Output,
    run: &'a Run,
    /// Time that nobody has used.
    left: Duration,
    /// Set when the sources do not build as one program: the file marked last, alone.
    alone: Option<(PathBuf, Rc<Front>)>,
    progress: ProgressView,
}

impl Campaigns<'_> {
    /// Works until everything is done or the time is over; whether it was interrupted.
    fn work(&mut self) -> Result<bool, Failure> {
        let mut is_first = true;
        loop {
            let open: Vec<usize> = (0..self.several.subjects.len())
                .filter(|index| if is_first { true } else { self.entries[*index].is_open() })
                .collect();
            let n_open = u32::try_from(open.len()).unwrap_or(u32::MAX);
            if open.is_empty() || (!is_first && self.left < SHORTEST_TURN * n_open) {
                return Ok(false);
            }
            for (turn, index) in (0..).zip(open) {
                let share = self.left / (n_open - turn);
                let interrupted = self.turn(index, share)?;
                self.progress.done(&self.entries[index]);
                self.write()?;
                if interrupted {
                    return Ok(true);
                }
            }
            is_first = false;
        }
    }

    fn write(&self) -> Result<(), Failure> {
        let functions = Functions { schema: SCHEMA, functions: self.entries.clone() };
        self.output.write_json(FUNCTIONS_FILE, &functions).map(drop)
    }

    /// One function's turn; whether it was interrupted.
    fn turn(&mut self, index: usize, share: Duration) -> Result<bool, Failure> {
        let subject = self.several.subjects[index].clone();
        let ended = self.campaign(index, &subject, share);
        let entry = &mut self.entries[index];
        match ended {
            Ok(Ended { exit, summary }) => {
                entry.result = summary.or(entry.result.take());
                return Ok(exit == Exit::Interrupted);
            }
            Err(failure) if failure.exit() == Exit::Unwritten => return Err(failure),
            Err(_) if interrupt::requested() => return Ok(true),
            Err(failure) => entry.reason = Some(failure.message().to_owned()),
        }
        Ok(false)
    }

    fn campaign(&mut self, index: usize, subject: &Subject, share: Duration) -> Result<Ended, Failure> {
        if self.alone.is_none() {
            let front = Rc::clone(&self.several.front);
            match self.campaign_with(index, subject, share, front, self.several.sources.clone()) {
                Err(failure) if failure.exit() == Exit::Build && self.several.sources.sources.len() > 1 => {}
                ended => return ended,
            }
        }
        let sources = SourceArguments { sources: vec![subject.file.clone()], ..self.several.sources.clone() };
        let front = self.front_alone(&subject.file, &sources)?;
        self.campaign_with(index, subject, share, front, sources)
    }

    /// The marks of one file.
    fn front_alone(&mut self, file: &Path, sources: &SourceArguments) -> Result<Rc<Front>, Failure> {
        if let Some((marked, front)) = &self.alone
            && marked == file
        {
            return Ok(Rc::clone(front));
        }
        let work = self.output.work().join("alone");
        let front = Rc::new(Front::with_stand_ins(sources, &self.order.arguments.stubs.files, &work)?);
        self.alone = Some((file.to_owned(), Rc::clone(&front)));
        Ok(front)
    }

    fn campaign_with(
        &mut self,
        index: usize,
        subject: &Subject,
        share: Duration,
        front: Rc<Front>,
        sources: SourceArguments,
    ) -> Result<Ended, Failure> {
        let arguments = &Gen {
            sources,
            function: Some(subject.qualified.clone()),
            out: self.output.root().join(directory(subject)),
            budget: share,
            fresh: false,
            ..self.order.arguments.clone()
        };
        let n_subjects = self.several.subjects.len();
        let order = Order {
            arguments,
            config: self.order.config,
            front: Some(front),
            title: format!("{} ({} of {n_subjects})", subject.name, index + 1),
            tells: false,
        };
        let asked = self.run.asked.for_function(arguments, order.config);
        let ended = match enter(arguments, asked)? {
            Entry::Done(_, summary) => return Ok(Ended { exit: Exit::Done, summary: Some(*summary) }),
            Entry::Work(entered) => {
                let (output, run) = *entered;
                search(&order, &output, run, &mut self.progress)?
            }
        };
        let spent = ended.summary.as_ref().map_or(0.0, |summary| summary.seconds);
        self.left = self.left.saturating_sub(Duration::from_secs_f64(spent));
        Ok(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_named_by_the_function_and_by_the_file_where_that_is_needed() {
        let subject = |qualified: &str| Subject {
            name: "parse".to_owned(),
            qualified: qualified.to_owned(),
            file: PathBuf::from("/src/./reader.c"),
        };
        assert_eq!(directory(&subject("parse")), "parse");
        assert_eq!(directory(&subject("/src/./reader.c:parse")), "src-reader-parse");
    }
}
