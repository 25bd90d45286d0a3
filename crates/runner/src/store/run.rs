//! `run.json`: the spec, everything needed to build the program again, and the results.

use std::path::{Path, PathBuf};

use cache::Cache;
use report::confirmation::Confirmation;
use report::record::{Gap, SCHEMA, StubRecord, Summary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::background::interruptible;
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::interrupt::Interrupt;
use crate::spec::{InputSpec, Spec};
use crate::subject::{Need, Subject};

/// What was asked, and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    pub schema: u32,
    pub quarry: String,
    /// The command line as given.
    pub command: Vec<String>,
    /// Directory the command was given in; paths as given start here.
    pub directory: PathBuf,
    /// What was asked.
    pub spec: Spec,
    /// The function under test, once it is known.
    pub function: String,
    /// How far it is.
    #[serde(default)]
    pub state: RunState,
    /// How often the campaign was started.
    #[serde(default)]
    pub session: u32,
    /// Missing while the run is under way, or when it was cut short.
    pub result: Option<Summary>,
    /// What other tools say of it, when they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// What stood in for functions that are defined nowhere.
    #[serde(default)]
    pub stubs: Vec<StubRecord>,
    pub gaps: Vec<Gap>,
    /// What the files were that were read.
    #[serde(default, rename = "asked")]
    pub fingerprint: Fingerprint,
    /// The spec once more as other tools read it, one option per field.
    #[serde(flatten)]
    options: Map<String, Value>,
}

/// How far a run is; one that is not finished, in a directory that nobody works in, was cut short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    Building,
    Running,
    #[default]
    Finished,
}

impl Run {
    /// A run that begins.
    pub fn new(spec: Spec, directory: &Path, command: Vec<String>, fingerprint: Fingerprint) -> Self {
        Self {
            schema: SCHEMA,
            quarry: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            directory: directory.to_owned(),
            function: spec.subject.function.clone().unwrap_or_default(),
            state: RunState::Building,
            session: 1,
            result: None,
            confirmation: None,
            stubs: Vec::new(),
            gaps: Vec::new(),
            fingerprint,
            options: options(&spec, &spec.inputs, directory),
            spec,
        }
    }

    /// Its subject, from the cache or built again; an error at once when interrupted.
    pub fn rebuild(
        &self,
        work: &Path,
        need: Need,
        interrupt: &Interrupt,
        cache: &Cache,
    ) -> Result<Subject, Error> {
        let (spec, directory) = (self.spec.clone(), self.directory.clone());
        let (work, cache) = (work.to_owned(), cache.clone());
        let build = move || Subject::build(&spec, &directory, &work, need, &cache);
        interruptible(interrupt, "building", build)
    }

    /// Takes note of what is known once the program is built: the function, and all that is said of its inputs.
    pub fn built(&mut self, function: &str, inputs: &InputSpec) {
        function.clone_into(&mut self.function);
        self.options = options(&self.spec, inputs, &self.directory);
        self.state = RunState::Running;
    }
}

/// The options by the names that they have always had in this file.
fn options(spec: &Spec, inputs: &InputSpec, directory: &Path) -> Map<String, Value> {
    let absolute = |file: &PathBuf| directory.join(file);
    let named = json!({
        "given": spec.sources.files,
        "sources": spec.sources.files.iter().map(absolute).collect::<Vec<_>>(),
        "flags": spec.sources.flags,
        "build_dir": spec.sources.build_dir.as_ref().map(absolute),
        "criteria": spec.criteria.criterion,
        "mcdc": spec.criteria.mcdc,
        "dataflow_elements": spec.criteria.dataflow_elements,
        "only": spec.criteria.only,
        "strategy": spec.search.strategy,
        "solver": spec.search.solver,
        "seed": spec.search.seed,
        "jobs": spec.budget.workers(),
        "len": inputs.len,
        "max_len": inputs.max_len,
        "max_depth": inputs.max_depth,
        "no_couple": inputs.no_couple,
        "globals": inputs.global,
        "all_globals": inputs.globals,
        "precondition": inputs.precondition,
        "malloc_failure": inputs.malloc_failure,
        "assume": inputs.assume,
        "stub_files": spec.subject.stubs,
        "stub_writes": spec.subject.stub_writes,
    });
    let Value::Object(mut options) = named else { unreachable!("an object was written") };
    if let Some(program) = &spec.subject.program {
        options.insert("program".to_owned(), json!(program));
    }
    options
}
