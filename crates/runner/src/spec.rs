//! What is asked of a campaign, as plain data: the only definition of an option.
//!
//! The command line, the environment and `quarry.toml` fill a [`Spec`]; `run.json` holds it whole. Paths are kept as they were
//! given and start at the directory of the run, which is not part of it: the same spec describes the same campaign in another
//! checkout. Field names are those of the options. How long to search and with how many workers stands apart in
//! [`BudgetSpec`], because a campaign may be resumed with another budget; everything else says which campaign it is
//! ([`Spec::differences`]).

mod difference;
mod location;
mod overlay;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use coverage::{Criterion, Independence, criterion_named};
use engine::campaign::{Augment, Generator, Reuse, TargetOrder};
use engine::strategy::{Strategy, StrategyOptions, strategy_named};
use frontend::harness::HarnessOptions;
use model::invocation::{InvocationLimits, InvocationShape};
use report::mutation::MUTATION;
use serde::{Deserialize, Serialize};

use crate::error::Error;
pub use location::Where;

/// A budget that leaves time for more than goals.
const SHORTEST_TO_STRENGTHEN: Duration = Duration::from_secs(10);

/// What is asked of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spec {
    pub sources: SourceSpec,
    pub subject: SubjectSpec,
    pub criteria: CriteriaSpec,
    pub search: SearchSpec,
    pub inputs: InputSpec,
    #[serde(skip_serializing_if = "TestsSpec::is_default")]
    pub tests: TestsSpec,
    /// How these are augmented, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub augment: Option<AugmentSpec>,
    pub budget: BudgetSpec,
}

/// How tests that are there already are augmented, by the factors of directed test-suite augmentation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct AugmentSpec {
    pub order: OrderSpec,
    pub reuse: ReuseSpec,
    pub generator: GeneratorSpec,
    /// Conditions of a path that are negated for a target.
    pub negations: u32,
    /// Generations for a target.
    pub generations: u32,
    /// End when nothing of this helps any more.
    pub no_search: bool,
}

/// In which order targets are taken up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderSpec {
    /// Depth-first on the control flow graph.
    #[default]
    Dfo,
    Random,
}

/// From which tests new ones are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReuseSpec {
    #[serde(rename = "existing")]
    Existing,
    #[default]
    #[serde(rename = "existing+new")]
    ExistingAndNew,
}

/// How new tests are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorSpec {
    Concolic,
    Genetic,
    #[default]
    Hybrid,
}

/// As many as in the paper's studies at most.
const NEGATIONS: u32 = 9;
const GENERATIONS: u32 = 25;

impl Default for AugmentSpec {
    fn default() -> Self {
        Self {
            order: OrderSpec::default(),
            reuse: ReuseSpec::default(),
            generator: GeneratorSpec::default(),
            negations: NEGATIONS,
            generations: GENERATIONS,
            no_search: false,
        }
    }
}

impl AugmentSpec {
    /// For an engine, with the structure of a program's input.
    pub fn options(&self, shape: Option<&InvocationShape>) -> Augment {
        Augment {
            order: match self.order {
                OrderSpec::Dfo => TargetOrder::DepthFirst,
                OrderSpec::Random => TargetOrder::Random,
            },
            reuse: match self.reuse {
                ReuseSpec::Existing => Reuse::Existing,
                ReuseSpec::ExistingAndNew => Reuse::ExistingAndNew,
            },
            generator: match self.generator {
                GeneratorSpec::Concolic => Generator::Concolic,
                GeneratorSpec::Genetic => Generator::Genetic,
                GeneratorSpec::Hybrid => Generator::Hybrid,
            },
            negations: self.negations,
            generations: self.generations,
            searches: !self.no_search,
            shape: shape.cloned(),
        }
    }
}

/// Tests that are there already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct TestsSpec {
    /// Files and directories with tests.
    pub tests: Vec<PathBuf>,
    /// How a program is run on a file of a corpus, which `@@` stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corpus_args: Option<String>,
    /// How they are written down, when that is not to be guessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<FormSpec>,
    /// What the program is called in scripts, besides the names of its sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Flags and further sources that tests in C are built with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// How tests are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormSpec {
    Json,
    Lines,
    Script,
    Corpus,
    Ktest,
    Testcomp,
    C,
}

impl TestsSpec {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// C files and how to compile them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SourceSpec {
    pub files: Vec<PathBuf>,
    /// With `compile_commands.json`.
    pub build_dir: Option<PathBuf>,
    /// Compiler flags.
    pub flags: Vec<String>,
}

/// What is tested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SubjectSpec {
    /// The only one there is, or each one, when none is named.
    pub function: Option<String>,
    /// A whole program, and what it is given at most.
    pub program: Option<ProgramSpec>,
    /// Sources that stand in for functions defined nowhere.
    pub stubs: Vec<PathBuf>,
    /// Functions whose stubs write through pointers, with the parameters; all that can be when there are none.
    pub stub_writes: BTreeMap<String, Vec<String>>,
}

/// Arguments of a program that does not say how many it wants.
const FEW_ARGUMENTS: u64 = 4;

/// What a whole program is given at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramSpec {
    /// As many as the program asks about, and a few at least, when nothing is said.
    pub max_args: Option<u64>,
    pub arg_len: u64,
    pub stdin_size: u64,
    /// Names and sizes.
    pub files: Vec<(String, u64)>,
    pub env: Vec<String>,
    pub failing_allocations: u64,
}

/// What is to be covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct CriteriaSpec {
    pub criterion: Vec<String>,
    pub mcdc: McdcRule,
    /// Whether elements of small arrays have def-use pairs of their own.
    pub dataflow_elements: bool,
    /// The parts of interest; everything when empty.
    pub only: Vec<Where>,
    /// The version before: a file, a directory or a git revision. Only goals that the change concerns count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// With `since`: only what is different itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_only: bool,
    /// With `since`: more of the time is for differences.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub equivalent: bool,
}

/// The two kinds of MC/DC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum McdcRule {
    /// By evaluations in which no other condition hides it.
    #[default]
    Masking,
    /// By two evaluations that differ in nothing else.
    UniqueCause,
}

/// How the search goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SearchSpec {
    pub strategy: String,
    pub pps_depth: u32,
    pub no_filter: bool,
    pub no_redefinition_pruning: bool,
    /// `bitwuzla`, or a command that reads SMT-LIB.
    pub solver: String,
    pub seed: u64,
    /// A file with the input to start from.
    pub first_input: Option<PathBuf>,
    pub no_minimise: bool,
    pub self_check: bool,
    /// Write tests and findings without running them with sanitizers first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_sanitize: bool,
    /// Whether tests are added that notice more mutants; by the subject when missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strengthen: Option<bool>,
}

/// How inputs are built, and what must hold of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct InputSpec {
    /// Elements behind pointer parameters.
    pub len: BTreeMap<String, u64>,
    pub max_len: Option<u64>,
    pub max_depth: Option<u32>,
    pub no_couple: bool,
    /// Global variables that are inputs, too.
    pub global: Vec<String>,
    /// Whether all of them are.
    pub globals: bool,
    /// A file with C that checks inputs.
    pub precondition: Option<PathBuf>,
    /// How many allocations may fail.
    pub malloc_failure: Option<u32>,
    /// C expressions that every input makes true.
    pub assume: Vec<String>,
    /// What else holds of the inputs of a function, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub of_function: BTreeMap<String, Preconditions>,
}

/// What holds of the inputs of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preconditions {
    pub len: BTreeMap<String, u64>,
    pub assume: Vec<String>,
    pub precondition: Option<PathBuf>,
    /// The file that says so.
    pub said_in: PathBuf,
}

/// How long to search, and with how many workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct BudgetSpec {
    /// Seconds.
    pub budget: f64,
    pub max_executions: Option<u64>,
    /// Seconds for one def-use pair at a time.
    pub per_goal: f64,
    /// Workers of a campaign, or campaigns at a time when there are several: one, or as many as there are processors, when missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<NonZeroUsize>,
    /// Whether every execution has a process of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fork_each: bool,
    /// Bytes of memory for everything together; half of the machine's when missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Try to prove that nothing covers what the search leaves open, whatever the strategy; only the default one does so unasked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prove: bool,
    /// Only search.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_prove: bool,
    /// Only prove, and run the inputs that are found on the way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prove_only: bool,
    #[serde(skip_serializing_if = "ProverChoice::is_default")]
    pub prover: ProverChoice,
    /// Reports count a difference to the version before as a failure.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fail_on_difference: bool,
}

/// Which engines look for proofs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProverChoice {
    /// All, one after the other.
    #[default]
    Auto,
    /// Nothing is known where loops are cut.
    LoopFree,
    /// Several iterations are looked at together.
    KInduction,
    /// Invariants of loops are guessed and checked.
    Houdini,
    /// Loops are unrolled until they end.
    Unrolled,
    /// Predicates are tracked that counterexamples call for.
    Cegar,
    /// What leads to a goal is excluded backwards from it.
    Pdr,
    /// The states that are reached are listed.
    States,
    /// Loops are unrolled to find inputs.
    Bounded,
}

impl ProverChoice {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for CriteriaSpec {
    fn default() -> Self {
        Self {
            criterion: vec!["branch".to_owned()],
            mcdc: McdcRule::default(),
            dataflow_elements: false,
            only: Vec::new(),
            since: None,
            changed_only: false,
            equivalent: false,
        }
    }
}

impl Default for SearchSpec {
    fn default() -> Self {
        Self {
            strategy: "auto".to_owned(),
            pps_depth: 3,
            no_filter: false,
            no_redefinition_pruning: false,
            solver: "bitwuzla".to_owned(),
            seed: 1,
            first_input: None,
            no_minimise: false,
            strengthen: None,
            self_check: false,
            no_sanitize: false,
        }
    }
}

impl Default for BudgetSpec {
    fn default() -> Self {
        Self {
            budget: 60.0,
            max_executions: None,
            per_goal: 20.0,
            jobs: None,
            fork_each: false,
            memory: None,
            prove: false,
            no_prove: false,
            prove_only: false,
            prover: ProverChoice::default(),
            fail_on_difference: false,
        }
    }
}

impl Spec {
    /// The same for one of the functions; what concerns only others is left out.
    #[must_use]
    pub fn for_function(&self, name: &str, sources: SourceSpec) -> Self {
        let mut spec = Self { sources, ..self.clone() };
        spec.subject.function = Some(name.to_owned());
        spec.inputs.of_function.retain(|function, _| plain_name(name) == function);
        spec
    }

    /// Fails when a name in it means nothing, before anything is built.
    pub fn check(&self) -> Result<(), Error> {
        self.criteria.criteria()?;
        self.search.strategy()?;
        crate::solvers::SolverChoice::parse(&self.search.solver).map(drop)
    }

    /// Whether the prover is asked about what the search leaves open.
    pub fn proves(&self) -> bool {
        let BudgetSpec { prove, no_prove, prove_only, .. } = self.budget;
        !no_prove && (prove || prove_only || self.search.strategy == SearchSpec::default().strategy)
    }

    /// Whether tests are added that notice more: where somebody asks for it, and else to whole programs with a budget of some time.
    pub fn strengthens(&self) -> bool {
        let Self { subject, search, budget, .. } = self;
        let is_usual = subject.program.is_some()
            && budget.max_executions.is_none()
            && budget.time() >= SHORTEST_TO_STRENGTHEN;
        !search.no_minimise && search.strengthen.unwrap_or(is_usual)
    }

    /// Whether several functions are tested when there are several: none is named.
    pub fn is_open(&self) -> bool {
        self.subject.function.is_none() && self.subject.program.is_none()
    }

    /// Files besides the sources that say what inputs are.
    pub fn input_files(&self) -> impl Iterator<Item = &Path> {
        let of_functions = self.inputs.of_function.values().filter_map(|one| one.precondition.as_ref());
        let own = self.inputs.precondition.iter().chain(&self.search.first_input);
        own.chain(of_functions).map(PathBuf::as_path)
    }
}

/// A function's name without its file.
fn plain_name(qualified: &str) -> &str {
    qualified.rsplit_once(':').map_or(qualified, |(_, name)| name)
}

impl SubjectSpec {
    /// What a whole program is given, if it is one.
    pub fn limits(&self) -> Option<InvocationLimits> {
        self.program.as_ref().map(InvocationLimits::from)
    }
}

impl ProgramSpec {
    /// Arguments at most.
    pub fn arguments(&self) -> u64 {
        self.max_args.unwrap_or(FEW_ARGUMENTS)
    }
}

impl From<&ProgramSpec> for InvocationLimits {
    fn from(program: &ProgramSpec) -> Self {
        Self {
            arguments: program.arguments(),
            length: program.arg_len,
            stdin: program.stdin_size,
            files: program.files.clone(),
            variables: program.env.clone(),
            allocations: program.failing_allocations,
        }
    }
}

impl CriteriaSpec {
    /// These criteria, everywhere.
    pub fn named(names: &[&str]) -> Self {
        Self { criterion: names.iter().map(|name| (*name).to_owned()).collect(), ..Self::default() }
    }

    /// The criteria asked for.
    pub fn criteria(&self) -> Result<Vec<Box<dyn Criterion>>, Error> {
        let independence = match self.mcdc {
            McdcRule::Masking => Independence::Masking,
            McdcRule::UniqueCause => Independence::UniqueCause,
        };
        let one = |name: &String| {
            if name == "mcdc" {
                return Ok(coverage::mcdc(independence));
            }
            if let Some(criterion) = coverage::data_flow_criterion(name, self.dataflow_elements) {
                return Ok(criterion);
            }
            criterion_named(name).map_err(Error::usage)
        };
        let mut names: Vec<String> =
            self.criterion.iter().filter(|name| *name != MUTATION).cloned().collect();
        if names.is_empty() && self.counts_mutants() {
            // what the search looks at while mutants are not built yet
            names.push("branch".to_owned());
        }
        names.iter().map(one).collect()
    }

    /// Whether each mutant is a goal.
    pub fn counts_mutants(&self) -> bool {
        self.criterion.iter().any(|name| name == MUTATION)
    }
}

impl SearchSpec {
    /// The strategy for few goals among much that counts as covered, unless another one was asked for.
    pub fn narrow_strategy(&self) -> Result<Box<dyn Strategy + Send>, Error> {
        if self.strategy != Self::default().strategy {
            return self.strategy();
        }
        Self { strategy: "directed".to_owned(), ..self.clone() }.strategy()
    }

    /// The strategy asked for.
    pub fn strategy(&self) -> Result<Box<dyn Strategy + Send>, Error> {
        strategy_named(&self.strategy, &StrategyOptions { pps_depth: self.pps_depth }).map_err(Error::usage)
    }
}

impl InputSpec {
    /// These, with what `newer` says instead.
    #[must_use]
    pub fn overridden_by(mut self, newer: Self) -> Self {
        self.len.extend(newer.len);
        Self {
            len: self.len,
            max_len: newer.max_len.or(self.max_len),
            max_depth: newer.max_depth.or(self.max_depth),
            no_couple: newer.no_couple || self.no_couple,
            global: if newer.global.is_empty() { self.global } else { newer.global },
            globals: newer.globals || self.globals,
            precondition: newer.precondition.or(self.precondition),
            malloc_failure: newer.malloc_failure.or(self.malloc_failure),
            assume: newer.assume,
            of_function: newer.of_function,
        }
    }

    /// These for one function, with what was said of it by name; and who said so.
    pub fn for_function(&self, name: &str) -> (Self, Option<&Path>) {
        let mut inputs = Self { of_function: BTreeMap::new(), ..self.clone() };
        let Some(preconditions) = self.of_function.get(name) else { return (inputs, None) };
        for (parameter, length) in &preconditions.len {
            inputs.len.entry(parameter.clone()).or_insert(*length);
        }
        inputs.precondition = inputs.precondition.or_else(|| preconditions.precondition.clone());
        inputs.assume.extend(preconditions.assume.iter().cloned());
        (inputs, Some(&preconditions.said_in))
    }

    /// What the harness is asked for; files are looked for from `root`.
    pub fn harness_options(&self, root: &Path) -> HarnessOptions {
        let default = HarnessOptions::default();
        HarnessOptions {
            lengths: self.len.clone(),
            assume: self.assume.clone(),
            globals: self.global.clone(),
            all_globals: self.globals,
            max_length: self.max_len.unwrap_or(default.max_length),
            max_depth: self.max_depth.unwrap_or(default.max_depth),
            couple: !self.no_couple,
            precondition: self.precondition.as_ref().map(|file| root.join(file)),
            failing_allocations: self.malloc_failure.unwrap_or(0).into(),
        }
    }
}

impl BudgetSpec {
    /// Workers of one campaign.
    pub fn workers(&self) -> NonZeroUsize {
        self.jobs.unwrap_or(NonZeroUsize::MIN)
    }

    /// Time for search and proofs.
    pub fn time(&self) -> Duration {
        Duration::from_secs_f64(self.budget)
    }

    /// Time for one def-use pair at a time.
    pub fn time_per_goal(&self) -> Duration {
        Duration::from_secs_f64(self.per_goal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_preconditions() -> Spec {
        let parse = Preconditions {
            len: BTreeMap::from([("text".to_owned(), 16), ("out".to_owned(), 8)]),
            assume: vec!["n > 0".to_owned()],
            precondition: Some(PathBuf::from("/project/valid.h")),
            said_in: PathBuf::from("/project/quarry.toml"),
        };
        let inputs = InputSpec {
            len: BTreeMap::from([("text".to_owned(), 4)]),
            assume: vec!["first".to_owned()],
            of_function: BTreeMap::from([
                ("parse".to_owned(), parse),
                ("other".to_owned(), Preconditions::default()),
            ]),
            ..InputSpec::default()
        };
        Spec { inputs, ..Spec::default() }
    }

    #[test]
    fn what_is_said_for_all_functions_wins_over_what_is_said_of_one() {
        let spec = with_preconditions();
        let (inputs, said_in) = spec.inputs.for_function("parse");
        assert_eq!(inputs.len, BTreeMap::from([("text".to_owned(), 4), ("out".to_owned(), 8)]));
        assert_eq!(inputs.assume, ["first", "n > 0"]);
        assert_eq!(inputs.precondition, Some(PathBuf::from("/project/valid.h")));
        assert_eq!(said_in, Some(Path::new("/project/quarry.toml")));
        assert_eq!(spec.inputs.for_function("main").0.assume, ["first"]);
    }

    #[test]
    fn one_spec_maps_to_several() {
        let spec = with_preconditions().for_function("src/a.c:parse", SourceSpec::default());
        assert_eq!(spec.subject.function.as_deref(), Some("src/a.c:parse"));
        assert_eq!(spec.inputs.of_function.keys().collect::<Vec<_>>(), ["parse"]);
    }

    #[test]
    fn a_spec_reads_back_as_it_was_written() {
        let mut spec = with_preconditions();
        spec.criteria.only = vec![Where::parse("a.c:1-7").expect("a range")];
        spec.subject.program = Some(ProgramSpec {
            max_args: Some(2),
            arg_len: 3,
            stdin_size: 4,
            files: vec![("f".to_owned(), 5)],
            env: vec!["HOME".to_owned()],
            failing_allocations: 0,
        });
        let text = serde_json::to_string(&spec).expect("serialisable");
        assert_eq!(serde_json::from_str::<Spec>(&text).expect("readable"), spec);
        assert_eq!(serde_json::from_str::<Spec>("{}").expect("all fields have defaults"), Spec::default());
    }
}
