//! Campaigns through the library: side by side in one process, in another checkout, merged, and on a stored build.

mod verifier;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cache::{Cache, DEFAULT_LIMIT};
use engine::campaign::SystemClock;
use frontend::instrument::Mode;
use model::input::Input;
use report::record::{GoalLine, State, Summary};
use runner::campaign::{Ended, Order};
use runner::error::Error;
use runner::generate::Generated;
use runner::interrupt::Interrupt;
use runner::measure::{Measurer, Settings};
use runner::merge::merge;
use runner::phases::Phases;
use runner::session::Session;
use runner::spec::{SourceSpec, Spec, SubjectSpec};
use runner::store::run::Run;
use runner::store::suite::{read_record, tests_in};
use runner::subject::{Need, Subject};
use runner::watcher::Nobody;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(10);

/// Branches that random bytes reach now and then.
const SPREAD: &str = "
int spread(unsigned char a, unsigned char b)
{
    if (a < 64)
        return b < 128 ? 1 : 2;
    if (a < 128)
        return b < 128 ? 3 : 4;
    if (a < 192)
        return b < 128 ? 5 : 6;
    return b < 128 ? 7 : 8;
}
";

/// A directory with these files.
fn checkout(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().expect("temporary directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("below the directory")).expect("created");
        fs::write(path, text).expect("writable");
    }
    directory
}

fn spec_of(file: &str, function: &str) -> Spec {
    Spec {
        sources: SourceSpec { files: vec![file.into()], ..SourceSpec::default() },
        subject: SubjectSpec { function: Some(function.to_owned()), ..SubjectSpec::default() },
        ..Spec::default()
    }
}

/// Does something with a session in which nobody listens.
fn in_session<T>(act: impl FnOnce(&mut Session<'_>) -> Result<T, Error>) -> T {
    let interrupt = Interrupt::default();
    let mut session = Session {
        interrupt: &interrupt,
        clock: &SystemClock::start(),
        watcher: &mut Nobody,
        phases: &Phases::default(),
        cache: &test_cache(),
    };
    act(&mut session).unwrap_or_else(|error| panic!("{error}"))
}

fn generate(spec: Spec, root: &Path, out: &Path) -> Summary {
    let order = Order {
        until: None,
        spec,
        root: root.to_owned(),
        out: out.to_owned(),
        title: None,
        command: Vec::new(),
        fresh: false,
        searches: true,
        confirm: false,
        format: None,
    };
    summary(in_session(|session| runner::generate(order, session)))
}

fn summary(generated: Generated) -> Summary {
    match generated {
        Generated::One(Ended::Searched(searched)) => searched.summary,
        Generated::One(Ended::NothingLeft { .. } | Ended::Early { .. }) => panic!("nothing was searched"),
        Generated::Several(ended) => ended.total,
    }
}

/// The goals that a run covers.
fn covered(out: &Path) -> BTreeSet<u32> {
    let text = fs::read_to_string(out.join("goals.jsonl")).expect("goals are written");
    let lines = text.lines().map(|line| serde_json::from_str::<GoalLine>(line).expect("a goal"));
    lines.filter(|line| line.state == Some(State::Covered)).map(|line| line.id).collect()
}

/// Names and contents of the tests of a run.
fn suite(out: &Path) -> Vec<(PathBuf, String)> {
    let named = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("readable");
        (file.file_name().expect("a name").into(), text)
    };
    tests_in(&out.join("tests")).expect("a suite").into_iter().map(named).collect()
}

fn end_and_goals(subject: &Subject, work: &Path, mode: Mode) -> (String, usize) {
    let interrupt = Interrupt::default();
    let settings = Settings { mode, work, limit: LIMIT, interrupt: &interrupt };
    let mut measurer = Measurer::new(subject, settings).unwrap_or_else(|error| panic!("{error}"));
    let measured = measurer.measure(&Input::default()).expect("executed");
    let coverage = coverage::Coverage::new(
        subject.program(),
        &subject.scope().unwrap_or_else(|error| panic!("{error}")),
        &spec_of("", "").criteria.criteria().unwrap_or_else(|error| panic!("{error}")),
    );
    (measured.end.to_string(), coverage.satisfied(&measured.observations).len())
}

#[test]
fn two_subjects_are_built_and_executed_side_by_side() {
    let quick = checkout(&[("src/f.c", "int f(int n) { if (n) return 1; return 0; }")]);
    let loud = checkout(&[(
        "src/f.c",
        "#include <stdlib.h>\nint f(int n) { if (n > 5) exit(3); if (n) return 1; if (n < 1) exit(4); return 0; }",
    )]);
    let build = |root: &Path| {
        let spec = spec_of("src/f.c", "f");
        Subject::build(&spec, root, &root.join("work"), Need::Mode(Mode::Fast), &test_cache())
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let run = |root: &Path| {
        let subject = build(root);
        move || end_and_goals(&subject, &subject.root().join("runs"), Mode::Fast)
    };
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| run(loud.path())());
        let subject = run(quick.path());
        // a subject can be handed to another thread
        let first = scope.spawn(subject);
        (first.join().expect("no panic"), second.join().expect("no panic"))
    });
    assert_eq!(first, ("returned".to_owned(), 1));
    assert_eq!(second, ("exited with 4".to_owned(), 3));
}

#[test]
fn a_stored_spec_reproduces_its_campaign_in_another_checkout() {
    let files = [("lib/spread.c", SPREAD), ("lib/other.h", "")];
    let (here, there) = (checkout(&files), checkout(&files));
    let results = tempfile::tempdir().expect("temporary directory");
    let (first, second) = (results.path().join("first"), results.path().join("second"));
    let mut spec = spec_of("lib/spread.c", "spread");
    spec.criteria.criterion = vec!["mcdc".to_owned(), "branch".to_owned()];
    spec.search.seed = 42;
    generate(spec.clone(), here.path(), &first);
    let run: Run = read_record(&first.join("run.json")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.spec, spec, "nothing of the checkout is in the spec");
    let summary = generate(run.spec, there.path(), &second);
    assert_eq!(summary.goals.covered, summary.goals.total);
    assert_eq!(suite(&first), suite(&second));
    assert_eq!(
        fs::read_to_string(first.join("goals.jsonl")).expect("goals"),
        fs::read_to_string(second.join("goals.jsonl")).expect("goals")
    );
}

#[test]
fn merged_runs_cover_what_they_cover_together() {
    let here = checkout(&[("spread.c", SPREAD)]);
    let run = |seed: u64| {
        let mut spec = spec_of("spread.c", "spread");
        spec.search.strategy = "random-input".to_owned();
        spec.search.seed = seed;
        spec.budget.max_executions = Some(4);
        let out = here.path().join(format!("out{seed}"));
        generate(spec, here.path(), &out);
        out
    };
    let runs: Vec<PathBuf> = [1, 2, 3].into_iter().map(run).collect();
    let parts: Vec<BTreeSet<u32>> = runs.iter().map(|out| covered(out)).collect();
    let union: BTreeSet<u32> = parts.iter().flatten().copied().collect();
    assert!(parts.iter().all(|part| part.len() < union.len()), "no run has everything: {parts:?}");
    let merged = here.path().join("merged");
    let summary = summary(in_session(|session| merge(&runs, &merged, &[], session)));
    assert_eq!(covered(&merged), union);
    assert_eq!(summary.goals.covered, union.len());
    assert!(summary.tests < parts.iter().map(BTreeSet::len).sum(), "the suite is minimised as a whole");
}

#[test]
fn runs_of_other_campaigns_are_not_merged() {
    let here = checkout(&[("spread.c", SPREAD)]);
    let run = |name: &str, criterion: &str| {
        let mut spec = spec_of("spread.c", "spread");
        spec.criteria.criterion = vec![criterion.to_owned()];
        let out = here.path().join(name);
        generate(spec, here.path(), &out);
        out
    };
    let runs = [run("branches", "branch"), run("conditions", "condition")];
    let interrupt = Interrupt::default();
    let mut session = Session {
        interrupt: &interrupt,
        clock: &SystemClock::start(),
        watcher: &mut Nobody,
        phases: &Phases::default(),
        cache: &test_cache(),
    };
    let error = merge(&runs, &here.path().join("merged"), &[], &mut session).err().expect("refused");
    let message = error.to_string();
    assert!(message.contains("--criterion was branch, now condition"), "{message}");
    assert!(!here.path().join("merged").exists(), "nothing is written");
}

/// Builds the function that the text defines, in a cache of its own.
fn build_in(here: &TempDir, text: &str, need: Need) -> Subject {
    fs::write(here.path().join("spread.c"), text).expect("writable");
    let cache = Cache::open(&here.path().join("cache"), DEFAULT_LIMIT);
    let work = here.path().join("work");
    let built = Subject::build(&spec_of("spread.c", "spread"), here.path(), &work, need, &cache);
    // what is kept needs nothing of it
    fs::remove_dir_all(work).ok();
    built.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_subject_from_the_cache_is_the_one_that_was_built() {
    let here = checkout(&[]);
    for mode in [Mode::Fast, Mode::Symbolic] {
        let built = build_in(&here, SPREAD, Need::Mode(mode));
        let before = end_and_goals(&built, &here.path().join("runs"), mode);
        let read = build_in(&here, SPREAD, Need::Mode(mode));
        assert_eq!(read.binary(mode), built.binary(mode));
        assert_eq!(read.program(), built.program());
        assert_eq!(read.harness(), built.harness());
        assert_eq!(end_and_goals(&read, &here.path().join("runs"), mode), before);
    }
}

#[test]
fn what_is_built_is_used_for_all_that_it_does() {
    let here = checkout(&[]);
    let symbolic = build_in(&here, SPREAD, Need::Mode(Mode::Symbolic));
    for need in [Need::Model, Need::Paths] {
        let found = build_in(&here, SPREAD, need);
        assert_eq!(found.modes().collect::<Vec<_>>(), [Mode::Symbolic], "{need:?}");
        assert_eq!(found.binary(Mode::Symbolic), symbolic.binary(Mode::Symbolic));
    }
    let fast = build_in(&here, SPREAD, Need::Mode(Mode::Fast));
    assert_eq!(fast.modes().collect::<Vec<_>>(), [Mode::Fast]);
}

#[test]
fn a_build_is_used_until_something_changes() {
    let here = checkout(&[]);
    let build = |text: &str| build_in(&here, text, Need::Mode(Mode::Fast)).binary(Mode::Fast).to_owned();
    let commented = |word: &str| format!("/* {word} */{SPREAD}");
    let first = build(&commented("one"));
    assert_eq!(build(&commented("one")), first);
    let others = [commented("two"), SPREAD.replace("64", "65"), SPREAD.replace("    ", "  ")];
    for other in others {
        assert_ne!(build(&other), first, "positions count: {other}");
    }
    assert_eq!(build(&commented("one")), first, "what was there is used again");
}

#[test]
fn positions_are_those_of_the_text_that_was_built() {
    let here = checkout(&[]);
    let column = |text: &str| {
        let subject = build_in(&here, text, Need::Model);
        let span = subject.program().decisions[0].span;
        subject.program().spans[span.index()].at.column
    };
    let plain = "int spread(int a) { if (a) return 1; return 0; }";
    let commented = "int spread(int a) { /* not zero */ if (a) return 1; return 0; }";
    assert_ne!(column(plain), column(commented), "the preprocessed text is the same");
}

/// What all tests share: the compiled runtime.
fn test_cache() -> Cache {
    Cache::open(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), DEFAULT_LIMIT)
}
