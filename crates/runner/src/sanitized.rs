//! A build with sanitizers, apart from the subject, so that it can be made on a thread of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cache::{Entry, Key};
use frontend::build::{AppendedCode, NativeUnit, SanitizedRequest, build_sanitized, compile_native};
use frontend::witness::{ReportReader, SANITIZERS};

use crate::error::Error;
use crate::front::Front;

/// The kind of entry that has such a build, and its file.
const SANITIZED: &str = "sanitized";
const PROGRAM: &str = "program";

/// A build with sanitizers.
pub struct Sanitized {
    /// The executable.
    pub program: PathBuf,
    /// Reads what its runs report.
    reports: Mutex<ReportReader>,
    /// Has it, if the cache does.
    _entry: Option<Entry>,
}

impl Sanitized {
    fn new(program: PathBuf, entry: Option<Entry>) -> Self {
        let reports = Mutex::new(ReportReader::new(program.clone()));
        Self { program, reports, _entry: entry }
    }

    /// Reads what one of its runs reported.
    pub fn read_reports<T>(&self, read: impl FnOnce(&mut ReportReader) -> T) -> T {
        read(&mut self.reports.lock().expect("nobody panics while reports are read"))
    }
}

/// What it takes.
pub struct SanitizedOrder {
    pub front: Arc<Front>,
    /// The unit with the function.
    pub unit: usize,
    /// The units of the program; all when none are named.
    pub program_units: Option<BTreeSet<usize>>,
    /// The harness of a function; a whole program is built as it is.
    pub harness: Option<String>,
    /// Code that stands in for functions defined nowhere, by unit.
    pub stubs: BTreeMap<usize, String>,
    /// Variables that are defined nowhere, with their sizes.
    pub variables: Vec<(String, u64)>,
    /// Whether inputs make allocations fail.
    pub fails_allocations: bool,
    /// What the subject was built from, if it is known.
    pub key: Option<Key>,
    /// Where intermediate files go.
    pub work: PathBuf,
}

impl SanitizedOrder {
    /// Builds it, or finds it in the cache.
    pub fn build(&self) -> Result<Sanitized, Error> {
        let cache = self.front.cache();
        let key = self.key.clone().map(|key| key.part("sanitizers", SANITIZERS.source));
        if let Some(entry) = key.as_ref().and_then(|key| cache.get(SANITIZED, key)) {
            return Ok(Sanitized::new(entry.file(PROGRAM), Some(entry)));
        }
        std::fs::create_dir_all(&self.work)
            .map_err(|error| Error::internal(format!("cannot create {}: {error}", self.work.display())))?;
        let Some(key) = key else {
            let program = self.work.join(PROGRAM);
            self.build_to(&program)?;
            return Ok(Sanitized::new(program, None));
        };
        let entry = cache.make(SANITIZED, &key, |directory| self.build_to(&directory.join(PROGRAM)))?;
        Ok(Sanitized::new(entry.file(PROGRAM), Some(entry)))
    }

    fn build_to(&self, program: &Path) -> Result<(), Error> {
        let marks = &self.front.marks;
        let target_flags: Vec<String> = marks.units[self.unit]
            .flags
            .iter()
            .filter(|flag| matches!(flag.as_str(), "-m32" | "-m64"))
            .cloned()
            .collect();
        let link_flags = self.front.link_flags();
        let built = match &self.harness {
            Some(text) => build_sanitized(&SanitizedRequest {
                marks,
                units: self.program_units.as_ref(),
                cache: self.front.cache(),
                harness: AppendedCode { unit: self.unit, text },
                stubs: &self.stubs,
                variables: &self.variables,
                link_flags: &link_flags,
                fails_allocations: self.fails_allocations,
                target_flags: &target_flags,
                work_dir: &self.work,
                output: program,
            }),
            None => {
                let watcher = self.work.join("note_reports.c");
                std::fs::write(&watcher, SANITIZERS.source).map_err(|error| {
                    Error::internal(format!("cannot write {}: {error}", watcher.display()))
                })?;
                let mut units: Vec<NativeUnit<'_>> = marks.units.iter().map(NativeUnit::from).collect();
                let directory = &marks.units[self.unit].directory;
                units.push(NativeUnit { file: &watcher, directory, flags: [&target_flags, &[]], kept: None });
                let output = self.work.join(PROGRAM);
                compile_native(&marks.root, &units, &link_flags, &output, SANITIZERS.flags).inspect(|()| {
                    // beside its objects it would be kept with them
                    let _ = std::fs::copy(&output, program);
                })
            }
        };
        built.map_err(|error| Error::build(format!("it does not build with sanitizers: {error}")))
    }
}
