//! `quarry import`: tests that are there already, as a suite of Quarry.

use std::fmt::Write;

use cache::Cache;
use engine::campaign::SystemClock;
use report::record::{Counts, SCHEMA, counts};
use report::words::{counted, goal_word};
use runner::import::{ImportOrder, ImportedSuite, ImportedTest, LeftOut};
use runner::session::Session;
use serde::Serialize;

use super::current_directory;
use crate::arguments::{Import, MessageFormat};
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::log::phases;
use crate::progress::ProgressView;
use crate::say::{say, show};

/// Of more tests only those are listed that add to what the ones before them cover.
const FEW: usize = 50;

/// Runs the command.
pub fn import(arguments: &Import, cache: &Cache) -> Result<Exit, Failure> {
    if arguments.tests.tests.is_empty() {
        return Err(Failure::usage("there is nothing to import: name the tests with --tests"));
    }
    let here = current_directory()?;
    let interrupt = interrupt();
    let mut view = ProgressView::new(super::generate::audience(false, arguments.message_format));
    let mut session = Session {
        interrupt: &interrupt,
        clock: &SystemClock::start(),
        watcher: &mut view,
        phases: phases(),
        cache,
    };
    let order = ImportOrder {
        spec: arguments.spec(),
        out: here.join(&arguments.out),
        root: here,
        command: std::env::args().collect(),
        limit: arguments.timeout,
    };
    let imported = runner::import::import(order, &mut session)?;
    drop(view);
    match arguments.message_format {
        MessageFormat::Human => show(text(&imported).as_bytes()),
        MessageFormat::Json => say(json(&imported)?),
    }
    tell_left_out(&imported.left_out);
    if imported.interrupted {
        eprintln!("interrupted; the tests so far are in {}", imported.root.display());
        return Ok(Exit::Interrupted);
    }
    Ok(if imported.left_out.is_empty() { Exit::Done } else { Exit::No })
}

/// Says on stderr which tests were not imported.
pub fn tell_left_out(left_out: &[LeftOut]) {
    for LeftOut { name, origin, why } in left_out {
        eprintln!("left out: {name} ({origin}): {why}");
    }
}

fn text(imported: &ImportedSuite) -> String {
    let mut text = String::new();
    let is_shown = |test: &&ImportedTest| test.adds > 0 || imported.tests.len() <= FEW;
    for test in imported.tests.iter().filter(is_shown) {
        let call = imported.subject.call(&test.input);
        let adds =
            if test.adds == 0 { String::new() } else { format!(": adds {}", counted(test.adds, "goal")) };
        writeln!(text, "{}  {call}  {}{adds}", test.name, test.end).expect("writing to a string succeeds");
    }
    let (_, per_criterion) = counts(&imported.coverage);
    let n_hidden = imported.tests.iter().filter(|test| !is_shown(test)).count();
    if n_hidden > 0 {
        writeln!(text, "{} add nothing to these", counted(n_hidden, "further test"))
            .expect("writing to a string succeeds");
    }
    text.push('\n');
    for note in &imported.notes {
        writeln!(text, "note: {note}").expect("writing to a string succeeds");
    }
    for (criterion, counts) in &per_criterion {
        let (share, percentage) = (counts.share(goal_word(criterion)), counts.percentage());
        writeln!(text, "{share} covered ({percentage:.1}%)").expect("writing to a string succeeds");
    }
    let n_tests = counted(imported.tests.len(), "test");
    let left_out = match imported.left_out.len() {
        0 => String::new(),
        n => format!(", {n} left out"),
    };
    let root = imported.root.display();
    writeln!(text, "{n_tests} imported{left_out}: {root}").expect("writing to a string succeeds");
    if !imported.interrupted {
        writeln!(text, "report: {root}/report/index.html").expect("writing to a string succeeds");
    }
    text
}

/// The last line of stdout with `--message-format json`.
#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    goals: Counts,
    tests: Vec<TestLine<'a>>,
    left_out: &'a [LeftOut],
    notes: &'a [String],
    out: &'a std::path::Path,
}

#[derive(Serialize)]
struct TestLine<'a> {
    name: &'a str,
    origin: &'a str,
    file: &'a str,
    end: &'a str,
    covers: usize,
    adds: usize,
}

fn json(imported: &ImportedSuite) -> Result<String, Failure> {
    let tests = imported.tests.iter().map(|test| TestLine {
        name: &test.name,
        origin: &test.origin,
        file: &test.file,
        end: &test.end,
        covers: test.covers,
        adds: test.adds,
    });
    let summary = Summary {
        schema: SCHEMA,
        goals: counts(&imported.coverage).0,
        tests: tests.collect(),
        left_out: &imported.left_out,
        notes: &imported.notes,
        out: &imported.root,
    };
    serde_json::to_string(&summary)
        .map_err(|error| Failure::internal(format!("cannot write the summary as JSON: {error}")))
}
