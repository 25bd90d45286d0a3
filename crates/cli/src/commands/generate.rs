//! `quarry gen`: a suite for a function or a program.

use std::path::Path;
use std::time::Duration;

use cache::Cache;
use engine::campaign::{CampaignResult, SystemClock};
use engine::executor::ProcessCounts;
use report::PAGE_FILE;
use report::confirmation::Confirmation;
use report::functions::{conclusion, table};
use report::record::{Counts, Summary, gaps};
use runner::campaign::{Ended, Order, Searched};
use runner::export::Exported;
use runner::generate::Generated;
use runner::phases::PhaseTime;
use runner::session::Session;
use runner::several::SeveralEnded;
use runner::store::output::RUN_FILE;
use runner::store::run::Run;
use runner::store::suite::read_record;
use runner::stubs;

use super::{check_output, current_directory};
use crate::arguments::{Augment, Gen, MessageFormat};
use crate::defaults;
use crate::exit::{Exit, Failure, below};
use crate::interrupt::interrupt;
use crate::log::phases;
use crate::progress::{Audience, ProgressView};
use crate::say::{say, show};
use crate::text::campaign::CampaignText;

/// Runs the command. `given` are the options that stand on the command line.
pub fn generate(arguments: &Gen, given: &[String], cache: &Cache) -> Result<Exit, Failure> {
    run(arguments, order(arguments, given)?, cache)
}

/// Runs `quarry augment`.
pub fn augment(arguments: &Augment, given: &[String], cache: &Cache) -> Result<Exit, Failure> {
    let mut order = order(&arguments.generate, given)?;
    if order.spec.tests.tests.is_empty() {
        return Err(Failure::usage(
            "there is nothing to augment: name the tests that are there with --tests",
        ));
    }
    order.spec.augment = Some(arguments.augment_spec());
    run(&arguments.generate, order, cache)
}

fn run(arguments: &Gen, order: Order, cache: &Cache) -> Result<Exit, Failure> {
    let interrupt = interrupt();
    let mut view = ProgressView::new(audience(arguments.quiet, arguments.message_format));
    let mut session = Session {
        interrupt: &interrupt,
        clock: &SystemClock::start(),
        watcher: &mut view,
        phases: phases(),
        cache,
    };
    let generated = runner::generate(order, &mut session)?;
    drop(view);
    tell(&Ending::of(arguments), generated)
}

/// How a command that ran campaigns ends.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    pub message_format: MessageFormat,
    pub timings: bool,
    pub confirm: bool,
    pub fail_under: Option<f64>,
    pub accept_bounded: bool,
    pub fail_on_crash: bool,
    pub fail_on_difference: bool,
}

impl Ending {
    fn of(arguments: &Gen) -> Self {
        Self {
            message_format: arguments.message_format,
            timings: arguments.timings,
            confirm: arguments.confirm,
            fail_under: arguments.fail_under,
            accept_bounded: arguments.accept_bounded,
            fail_on_crash: arguments.fail_on_crash,
            fail_on_difference: arguments.fail_on_difference,
        }
    }
}

/// Tells what came of it.
pub fn tell(ending: &Ending, generated: Generated) -> Result<Exit, Failure> {
    match generated {
        Generated::One(Ended::Searched(searched)) => tell_searched(ending, &searched),
        Generated::One(Ended::NothingLeft { root, summary, exported }) => {
            tell_exported(exported.as_ref());
            tell_nothing_left(ending, &root, &summary)
        }
        Generated::One(Ended::Early { root, was_resumed }) => {
            if was_resumed {
                eprintln!("interrupted before the search started; earlier results are in {}", root.display());
            }
            Ok(Exit::Interrupted)
        }
        Generated::Several(ended) => tell_several(ending, &ended),
    }
}

/// What is to be done: as asked here, or as an earlier run was asked, with the options of the command line on top.
fn order(arguments: &Gen, given: &[String]) -> Result<Order, Failure> {
    let here = current_directory()?;
    let chosen = arguments.directory.as_ref().map(|directory| here.join(directory));
    let (spec, root) = match &arguments.from {
        None => {
            let root = chosen.unwrap_or_else(|| here.clone());
            let config = defaults::load(arguments.config.as_deref())?;
            (arguments.spec(config.preconditions(&root)), root)
        }
        Some(directory) => {
            check_output(directory)?;
            let run: Run = read_record(&directory.join(RUN_FILE))?;
            let newer = arguments.spec(Default::default());
            (run.spec.overridden(&newer, given), chosen.unwrap_or(run.directory))
        }
    };
    Ok(Order {
        until: None,
        spec,
        root,
        out: arguments.out.clone(),
        title: None,
        command: std::env::args().collect(),
        fresh: arguments.fresh,
        searches: true,
        confirm: arguments.confirm,
        format: arguments.format.map(Into::into),
    })
}

/// Who is told how it goes.
pub fn audience(quiet: bool, message_format: MessageFormat) -> Audience {
    match (quiet, message_format) {
        (true, _) => Audience::Nobody,
        (false, MessageFormat::Human) => Audience::Person,
        (false, MessageFormat::Json) => Audience::Program,
    }
}

/// Tells of a campaign that was run.
fn tell_searched(ending: &Ending, searched: &Searched) -> Result<Exit, Failure> {
    let Searched { subject, result, likenesses, summary, confirmation, exported, built, finishing, .. } =
        searched;
    tell_exported(exported.as_ref());
    match ending.message_format {
        MessageFormat::Human => {
            let text = CampaignText {
                subject,
                result,
                likenesses,
                is_augmented: searched.is_augmented,
                summary,
                stubs: &stubs::records(subject, result),
                gaps: &gaps(subject.program(), &result.facts),
                confirmation: confirmation.as_ref(),
            };
            show(text.text().as_bytes());
            if let Some(differences) = &searched.differences {
                show(differences.listing().as_bytes());
            }
        }
        MessageFormat::Json => say(json(summary)?),
    }
    if ending.timings {
        print_timings(built.as_secs_f64(), result, finishing);
    }
    let faults = searched.faults();
    if let Some((first, examples)) = faults.split_first() {
        eprintln!("error: {first}");
        examples.iter().for_each(|line| eprintln!("{line}"));
        if !examples.is_empty() {
            eprintln!("help: logs/troubles.txt has the inputs");
        }
        return Ok(Exit::Internal);
    }
    if searched.was_interrupted() {
        eprintln!("interrupted; the results so far are in {}", summary.out.display());
        eprintln!("help: run the same command again to resume");
        return Ok(Exit::Interrupted);
    }
    Ok(exit_of(ending, summary))
}

/// Tells of a campaign that has nothing left to do.
fn tell_nothing_left(ending: &Ending, root: &Path, summary: &Summary) -> Result<Exit, Failure> {
    match ending.message_format {
        MessageFormat::Human => {
            let Counts { covered, total, infeasible, infeasible_bounded, undecided, .. } = summary.goals;
            let why = match (undecided, infeasible + infeasible_bounded) {
                (0, 0) => "every goal is covered",
                (0, _) => "every goal is covered or infeasible",
                (_, _) => "every candidate was tried",
            };
            say(format_args!("nothing left to do: {why}, {covered} of {total} (--fresh starts over)"));
            if ending.confirm {
                let run: Run = read_record(&root.join(RUN_FILE))?;
                show(run.confirmation.unwrap_or_default().text().as_bytes());
            }
            say(format_args!("results: {}", root.display()));
            let page = root.join(PAGE_FILE);
            if page.is_file() {
                say(format_args!("report: {}", page.display()));
            }
        }
        MessageFormat::Json => say(json(summary)?),
    }
    Ok(exit_of(ending, summary))
}

/// Tells of several functions.
fn tell_several(ending: &Ending, ended: &SeveralEnded) -> Result<Exit, Failure> {
    let SeveralEnded { entries, total, confirmation, interrupted } = ended;
    match ending.message_format {
        MessageFormat::Human => {
            show(table(entries).as_bytes());
            say(format_args!("\n{}", conclusion(entries, total)));
            show(confirmation.as_ref().map(Confirmation::text).unwrap_or_default().as_bytes());
            say(format_args!("results: {}", total.out.display()));
            say(format_args!("report: {}", total.out.join(PAGE_FILE).display()));
        }
        MessageFormat::Json => say(json(total)?),
    }
    if *interrupted {
        eprintln!("interrupted; run the same command again to resume");
        return Ok(Exit::Interrupted);
    }
    let nothing_done = !entries.is_empty() && entries.iter().all(|entry| entry.result.is_none());
    Ok(if nothing_done { Exit::Build } else { exit_of(ending, total) })
}

/// Says on stderr what was not exported.
pub fn tell_exported(exported: Option<&Exported>) {
    if let Some(exported) = exported {
        exported.notes.iter().for_each(|note| eprintln!("note: {note}"));
        exported.left_out.iter().for_each(|(name, why)| eprintln!("left out: {name}: {why}"));
    }
}

/// The summary on one line.
fn json(summary: &Summary) -> Result<String, Failure> {
    serde_json::to_string(summary)
        .map_err(|error| Failure::internal(format!("cannot write the summary as JSON: {error}")))
}

fn print_timings(built: f64, result: &CampaignResult, finishing: &[(&str, Duration)]) {
    let timings = &result.timings;
    eprintln!("build    {built:.3} s");
    for (phase, PhaseTime { n, time, processor }) in phases().times() {
        let times = if n > 1 { format!(", {n} times") } else { String::new() };
        let processor = processor.as_secs_f64();
        eprintln!("  {phase:<18} {:.3} s, {processor:.3} s of this process{times}", time.as_secs_f64());
    }
    eprintln!("campaign {:.3} s", result.seconds);
    for (what, time) in [
        ("execute", timings.execute),
        ("walk", timings.walk),
        ("terms", timings.terms),
        ("solve", timings.solve),
    ] {
        eprintln!("  {what:<8} {:.3} s", time.as_secs_f64());
    }
    eprintln!(
        "  {} executions, {} repeated; {} mutated inputs tried, {} of them cut off",
        result.executions, result.re_executions, result.tries, result.tries_cut_off
    );
    eprintln!(
        "  {} of {} candidates' parents executed again for their expressions",
        result.n_parents_repeated, result.n_picks
    );
    eprintln!("  {} candidates dropped because proofs exclude them", result.candidates_refuted);
    print_processes(&result.processes);
    let finished: Duration = finishing.iter().map(|(_, time)| *time).sum();
    eprintln!("finish   {:.3} s", finished.as_secs_f64());
    for (what, time) in finishing {
        eprintln!("  {what:<8} {:.3} s", time.as_secs_f64());
    }
}

/// How many executions had a process that had executed before, and why processes were started.
fn print_processes(processes: &ProcessCounts) {
    if processes.n_started.is_empty() {
        return;
    }
    let n_started: u64 = processes.n_started.values().sum();
    eprintln!("  {} executions in reused processes, {n_started} processes started:", processes.n_reused);
    for (reason, n) in &processes.n_started {
        eprintln!("    {n} {reason}");
    }
}

/// What the numbers alone say.
fn exit_of(ending: &Ending, summary: &Summary) -> Exit {
    let confirmation = summary.confirmation.unwrap_or_default();
    if confirmation.disagreements > 0 {
        eprintln!("error: llvm-cov does not count {} reported as covered", confirmation.disagreements);
        eprintln!("help: this is a bug in Quarry, or the program behaves differently in different builds");
        return Exit::Unconfirmed;
    }
    if ending.fail_on_crash && (summary.crashes > 0 || confirmation.findings > 0) {
        return Exit::CrashFound;
    }
    if ending.fail_on_difference && summary.differences.unwrap_or(0) > 0 {
        return Exit::DifferenceFound;
    }
    let goals = if ending.accept_bounded { summary.goals.accepting_bounded() } else { summary.goals };
    if below(goals.percentage(), ending.fail_under) {
        return Exit::BelowFailUnder;
    }
    Exit::Done
}
