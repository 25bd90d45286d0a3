//! Two versions of a program: from where they are to what changed and what that may affect.
//!
//! Method: both are read as `quarry goals` reads a program, without a harness, and compared as models ([`analysis::versions`],
//! [`analysis::impact`]). A file that does not build is left out of a comparison of directories, with its reason.

pub mod differences;
mod locate;
pub mod product;

use std::collections::BTreeSet;
use std::path::Path;

use analysis::call_graph::reachable;
use analysis::impact::{Concerned, Impact, Reach, impact};
use analysis::versions::{Comparison, compare, is_written};
use cache::{Cache, sha256};
use coverage::{Coverage, is_concerned};
use frontend::preprocess::states;
use model::{FunctionId, Program};
use report::versions::{SourceLines, Versions, VersionsRecord};

use crate::error::Error;
use crate::front::{self, Front, Start, TestableFunction};
use crate::spec::{CriteriaSpec, SourceSpec, Spec};
use crate::subject::Subject;
pub use locate::Version;

/// Two versions that were read and compared.
pub struct Compared {
    pub old: Program,
    pub new: Program,
    pub comparison: Comparison,
    pub impact: Impact,
    /// Files that do not build, with the reason.
    pub left_out: Vec<String>,
}

/// Reads and compares two versions; files go below `work`.
pub fn compared(old: &Version, new: &Version, work: &Path, cache: &Cache) -> Result<Compared, Error> {
    let plain = CriteriaSpec::default();
    let mut left_out = Vec::new();
    let old_program = program(old, &plain, &work.join("old"), cache, &mut left_out)?;
    let new_program = program(new, &plain, &work.join("new"), cache, &mut left_out)?;
    let comparison = compare(&old_program, &new_program);
    check_related(&comparison, old, new)?;
    let impact = impact(&old_program, &new_program, &comparison);
    Ok(Compared { old: old_program, new: new_program, comparison, impact, left_out })
}

/// Fails when nothing of one version is in the other.
pub fn check_related(comparison: &Comparison, old: &Version, new: &Version) -> Result<(), Error> {
    let is_pair =
        |function: &&analysis::versions::FunctionMatch| function.old.is_some() && function.new.is_some();
    if !comparison.functions.is_empty() && !comparison.functions.iter().any(|function| is_pair(&function)) {
        let message = format!("{} and {} have no function in common", old.title, new.title);
        return Err(
            Error::usage(message).help("the two versions of a program are compared by their functions")
        );
    }
    Ok(())
}

/// The model of a version, without a harness.
pub fn program(
    version: &Version,
    criteria: &CriteriaSpec,
    work: &Path,
    cache: &Cache,
    left_out: &mut Vec<String>,
) -> Result<Program, Error> {
    let named = |error: Error| match error {
        Error::Build(mut why) => {
            why.message = format!("{}: {}", version.title, why.message);
            Error::Build(why)
        }
        Error::Usage(_)
        | Error::DiskFull(_)
        | Error::Interrupted(_)
        | Error::Contradiction(_)
        | Error::Internal(_) => error,
    };
    let mut sources = version.sources.clone();
    let mark = |sources: &SourceSpec| Front::mark(sources, &version.root, work, Start::Harness, cache);
    let front = match mark(&sources) {
        Err(Error::Build(_)) if sources.files.len() > 1 => {
            let commands = front::commands(&sources, &version.root)?;
            for (file, command) in std::mem::take(&mut sources.files).into_iter().zip(&commands) {
                match front::objection(command) {
                    Ok(()) => sources.files.push(file),
                    Err(error) => {
                        left_out.push(format!("{}: {}: {}", version.title, file.display(), error.message()))
                    }
                }
            }
            mark(&sources).map_err(named)?
        }
        marked => marked.map_err(named)?,
    };
    let program = front.for_criteria(criteria).model().map_err(named)?.program;
    if !(0..program.functions.len()).map(FunctionId::new).any(|id| is_written(&program, id)) {
        return Err(Error::usage(format!("{} defines no function", version.title)));
    }
    Ok(program)
}

/// The goals that count, and what changed if that decides it.
pub enum Concern {
    All(Coverage),
    Change(Coverage, Box<Before>),
}

/// The version before, as a campaign needs it.
pub struct Before {
    pub version: Version,
    pub record: VersionsRecord,
    /// What the function under test was called; nothing when there was none.
    pub function: Option<String>,
    /// Whether few of all goals count.
    pub is_narrow: bool,
}

/// One goal in so many counts, or fewer: then the search goes to the nearest one first.
const NARROW: usize = 5;

/// Of `coverage` the goals that changes since the version before concern, if the spec names one.
pub fn since(spec: &Spec, subject: &Subject, coverage: Coverage) -> Result<Concern, Error> {
    let Some(named) = &spec.criteria.since else { return Ok(Concern::All(coverage)) };
    let old = Version::before(named, &spec.sources, subject.root())?;
    let new = Version::present(subject.root(), spec.sources.clone(), "this version");
    let work = front::work_directory()?;
    let old_program = program(&old, &spec.criteria, work.path(), subject.cache(), &mut Vec::new())?;
    let new_program = subject.program();
    let comparison = compare(&old_program, new_program);
    check_related(&comparison, &old, &new)?;
    let impact = impact(&old_program, new_program, &comparison);
    let concerned = Concerned::of(new_program, &comparison, &impact, reach(spec));
    let flow = coverage.data_flow().cloned();
    let counts = |_, goal: &coverage::Goal| is_concerned(new_program, &concerned, goal, flow.as_deref());
    let n_all = coverage.goals().count();
    let coverage = coverage.with(new_program, counts);
    let is_narrow = coverage.goals().count() * NARROW <= n_all;
    let versions = Versions { old: &old_program, new: new_program, comparison: &comparison, impact: &impact };
    let mut record = versions.record(&old.title, &new.title);
    read_sources(&mut record, &old.root, &new.root);
    let tested = crate::subject::function_id(new_program, subject.function())?;
    let of_function = comparison.functions.iter().find(|function| function.new == Some(tested));
    let function = of_function.and_then(|function| function.old);
    let function = function.map(|id| old_program.function(id).name.clone());
    Ok(Concern::Change(coverage, Box::new(Before { version: old, record, function, is_narrow })))
}

fn reach(spec: &Spec) -> Reach {
    if spec.criteria.changed_only { Reach::Changed } else { Reach::Impacted }
}

/// Of these functions those that a change since the version before concerns: themselves, or in what they call and nobody else tests. Nothing
/// when the spec names no version.
pub fn concerned(
    spec: &Spec,
    front: &Front,
    functions: &[TestableFunction],
    root: &Path,
    work: &Path,
) -> Result<Option<BTreeSet<String>>, Error> {
    let Some(named) = &spec.criteria.since else { return Ok(None) };
    let old = Version::before(named, &spec.sources, root)?;
    let new = Version::present(root, spec.sources.clone(), "this version");
    let old_program = program(&old, &spec.criteria, &work.join("old"), front.cache(), &mut Vec::new())?;
    let new_program = front.model()?.program;
    let comparison = compare(&old_program, &new_program);
    check_related(&comparison, &old, &new)?;
    let impact = impact(&old_program, &new_program, &comparison);
    let concerned = Concerned::of(&new_program, &comparison, &impact, reach(spec));
    let mut touched: BTreeSet<FunctionId> =
        concerned.statements.iter().map(|statement| new_program.statement(*statement).function).collect();
    touched.extend(&concerned.entered);
    touched.extend(concerned.labels.iter().map(|(switch, _)| new_program.switch(*switch).function));
    let is_tested = |id: &FunctionId| functions.iter().any(|one| one.name == new_program.function(*id).name);
    let (own, inner): (BTreeSet<FunctionId>, BTreeSet<FunctionId>) = touched.into_iter().partition(is_tested);
    let mut names = BTreeSet::new();
    for function in functions {
        let Some(id) = new_program.function_named(&function.name) else { continue };
        let reaches = || reachable(&new_program, id).iter().any(|callee| inner.contains(callee));
        if own.contains(&id) || (!inner.is_empty() && reaches()) {
            names.insert(function.qualified.clone());
        }
    }
    Ok(Some(names))
}

/// What tells a version before from another: the commit of a revision, the preprocessed text of files.
pub fn identity(since: &str, sources: &SourceSpec, root: &Path, cache: &Cache) -> Result<String, Error> {
    if let Some(commit) = locate::commit(since, root) {
        return Ok(commit);
    }
    let old = Version::before(since, sources, root)?;
    let commands = front::commands(&old.sources, &old.root)?;
    let texts = states(&commands, cache).into_iter().filter_map(|state| Some(state.ok()?.preprocessed));
    Ok(sha256(texts.collect::<Vec<_>>().join(" ").as_bytes()))
}

/// Reads the sources of the functions that changed.
fn read_sources(record: &mut VersionsRecord, old: &Path, new: &Path) {
    let read = |lines: &mut Option<SourceLines>, root: &Path| {
        let Some(wanted) = lines else { return };
        // one that cannot be read is not shown
        let text = std::fs::read(root.join(&wanted.file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let first = (wanted.first as usize).saturating_sub(1);
        let n = (wanted.last as usize).saturating_sub(first);
        wanted.lines = text.lines().skip(first).take(n).map(str::to_owned).collect();
    };
    for change in &mut record.changes {
        read(&mut change.old_source, old);
        read(&mut change.new_source, new);
    }
}
