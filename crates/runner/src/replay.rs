//! Do the tests of an earlier run still do what their files say?
//!
//! Method: the program is built again from `run.json`; each input is executed and what it covers is compared with its
//! record by criterion, position and demand, so that goals may be renumbered. Expressions are built, because out-of-bounds
//! accesses are detected with them. Limit: a changed source moves its goals, which then count as not covered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cache::Cache;
use coverage::Coverage;
use coverage::observe::Observations;
use engine::executor::Output;
use frontend::instrument::Mode;
use model::input::Input;
use report::record::{Covered, Test};
use tempfile::TempDir;

use crate::end_text::{end_text, sighting_text};
use crate::error::{Error, with_causes};
use crate::front::work_directory;
use crate::interrupt::Interrupt;
use crate::measure::{Measurer, Settings};
use crate::soundness::{Checker, Verdict};
use crate::store::output::RUN_FILE;
use crate::store::run::Run;
use crate::store::suite::{read_input, read_record, tests_in};
use crate::subject::{Need, Subject};

/// Test files by the output directory they belong to.
pub fn group(what: &[PathBuf]) -> Result<BTreeMap<PathBuf, Vec<PathBuf>>, Error> {
    let mut groups: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in what {
        let real = path
            .canonicalize()
            .map_err(|error| Error::usage(format!("cannot find {}: {error}", path.display())))?;
        let (root, tests) = if real.is_dir() {
            (real.clone(), tests_in(&real.join("tests"))?)
        } else {
            let root = real.ancestors().find(|directory| directory.join(RUN_FILE).is_file());
            (root.unwrap_or(Path::new("/")).to_owned(), vec![real])
        };
        if !root.join(RUN_FILE).is_file() {
            return Err(Error::usage(format!(
                "{} does not belong to a run: there is no {RUN_FILE}",
                path.display()
            ))
            .help("name an output directory of quarry gen, or a test file within one"));
        }
        groups.entry(root).or_default().extend(tests);
    }
    Ok(groups)
}

/// The program of an earlier run, built again.
pub struct Rebuilt {
    subject: Subject,
    coverage: Coverage,
    work: TempDir,
}

impl Rebuilt {
    /// Builds the program of the run in `root`.
    pub fn new(root: &Path, interrupt: &Interrupt, cache: &Cache) -> Result<Self, Error> {
        let run: Run = read_record(&root.join(RUN_FILE))?;
        let work = work_directory()?;
        let subject = run.rebuild(work.path(), Need::Mode(Mode::Symbolic), interrupt, cache)?;
        let criteria = run.spec.criteria.criteria()?;
        let coverage = Coverage::new(subject.program(), &subject.scope()?, &criteria);
        Ok(Self { subject, coverage, work })
    }

    /// Executes tests of the run.
    pub fn replayer<'a>(&'a self, limit: Duration, interrupt: &'a Interrupt) -> Result<Replayer<'a>, Error> {
        let settings = Settings { mode: Mode::Symbolic, work: self.work.path(), limit, interrupt };
        let measurer = Measurer::new(&self.subject, settings)?.for_goals(&self.coverage);
        Ok(Replayer { rebuilt: self, limit, interrupt, measurer })
    }
}

/// Executes tests of an earlier run.
pub struct Replayer<'a> {
    rebuilt: &'a Rebuilt,
    limit: Duration,
    interrupt: &'a Interrupt,
    measurer: Measurer<'a>,
}

/// What a test did this time.
pub struct Replayed {
    /// The call it makes, on one line.
    pub call: String,
    /// How it ended.
    pub end: String,
    pub output: Output,
    pub n_covered: usize,
    /// What a native run shows of it, when it is a finding; an error when it could not be run natively.
    pub shown: Option<Result<String, Error>>,
    /// What its record says it covers, and it did not.
    pub missing: Vec<Covered>,
}

impl Replayer<'_> {
    /// Executes the test in a file.
    pub fn test(&mut self, file: &Path) -> Result<Replayed, Error> {
        let subject = &self.rebuilt.subject;
        let record: Test = read_record(file)?;
        let input =
            read_input(file, subject).map_err(|error| Error::usage(format!("{} {error}", file.display())))?;
        let measured = self
            .measurer
            .measure(&input)
            .map_err(|error| Error::internal(format!("{}: {}", file.display(), with_causes(&error))))?;
        let covered = self.covered(&measured.observations);
        let is_missing = |recorded: &Covered| recorded.find(&covered).is_none();
        Ok(Replayed {
            call: subject.call(&input),
            end: end_text(subject.program(), measured.end),
            output: measured.output,
            n_covered: covered.len(),
            shown: record.finding.as_ref().map(|_| self.shown(&input)),
            missing: record.covers.into_iter().filter(is_missing).collect(),
        })
    }

    /// What a native run with sanitizers shows of a finding.
    fn shown(&self, input: &Input) -> Result<String, Error> {
        let (subject, work) = (&self.rebuilt.subject, self.rebuilt.work.path());
        let sanitized = subject.sanitized_order(work.join("sanitizers")).build()?;
        let checker = Checker::new(subject, &sanitized, work.join("checked"), self.limit, self.interrupt);
        let verdict = checker.check(&[input])?.pop().unwrap_or(Verdict::Unknown);
        Ok(match verdict {
            Verdict::Wrong { sighting, .. } => sighting_text(subject.program(), &sighting),
            Verdict::TimedOut => "natively it takes too long".to_owned(),
            Verdict::Clean { .. } => "natively nothing is wrong with it".to_owned(),
            Verdict::Rejected => "natively an assumption about inputs does not hold".to_owned(),
            Verdict::Unknown => "natively it could not be run".to_owned(),
        })
    }

    fn covered(&self, observations: &Observations) -> Vec<Covered> {
        let Rebuilt { subject, coverage, .. } = self.rebuilt;
        let satisfied = coverage.goals().filter(|(_, goal, _)| observations.do_their_part(goal.demand));
        satisfied.map(|(id, ..)| Covered::from_goal(subject.program(), coverage, id, false)).collect()
    }
}
