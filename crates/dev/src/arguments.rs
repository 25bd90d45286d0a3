//! The command line of `quarry-dev`.

use std::path::PathBuf;

use cache::{Cache, DEFAULT_LIMIT};
use clap::{Args, Parser, Subcommand, ValueEnum};
use quarry_cli::arguments::{LogArguments, SourceArguments};
use quarry_cli::exit::Failure;
use runner::error::Error;
use runner::spec::SourceSpec;

use crate::series;

/// Checks and benchmarks of Quarry itself.
#[derive(Clone, Debug, Parser)]
#[command(name = "quarry-dev", version, max_term_width = 100)]
pub struct Dev {
    #[command(subcommand)]
    pub stage: Stage,
}

/// The stage to run.
#[derive(Clone, Debug, Subcommand)]
pub enum Stage {
    /// Front end and model: print counts, verify
    Lower(Lower),
    /// Run main in the model interpreter
    Interpret(Interpret),
    /// Build the instrumented program with its own main
    Build(Build),
    /// Print the tests of a run by the cells of its harness
    Cells(Cells),
    /// Run main with integer globals symbolic and compare every condition with its term
    SelfCheck(SelfCheck),
    /// Run main in the model interpreter and compare pairs found by the path with those at real addresses
    CheckDataflow(CheckDataflow),
    /// Compare the pairs of a small function with those found by enumerating its paths
    CheckPairs(CheckPairs),
    /// Ask the prover about every goal of a function, also those that runs cover
    Prove(Prove),
    /// Check the text of proofs of a function's goals
    CheckProofs(CheckProofs),
    /// Measure executions, nodes and queries per second
    BenchExec(BenchExec),
    /// Measure how long def-use pairs take, and how many there are
    BenchDataflow(BenchDataflow),
    /// Measure what filtering a pool of candidates costs
    BenchPool,
    /// Measure the cost of the cut points of all definitions and uses by name
    BenchCutPoints(BenchCutPoints),
    /// Run many campaigns on one function, a line of JSON for each
    BenchStrategies(Box<BenchStrategies>),
}

#[derive(Clone, Debug, Args)]
pub struct Lower {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Print the model
    #[arg(long)]
    pub print: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Interpret {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Blocks to run before giving up
    #[arg(long, default_value_t = 500_000_000)]
    pub max_steps: u64,
}

#[derive(Clone, Debug, Args)]
pub struct Build {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// The executable to write
    #[arg(short = 'o', value_name = "EXE")]
    pub executable: PathBuf,
    #[arg(long, default_value = "symbolic")]
    pub mode: Mode,
}

#[derive(Clone, Debug, Args)]
pub struct Cells {
    /// An output directory of quarry gen
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
}

/// Which instrumentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    Symbolic,
    Fast,
}

#[derive(Clone, Debug, Args)]
pub struct SelfCheck {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Integer globals to make symbolic
    #[arg(long, default_value_t = 8)]
    pub globals: usize,
    /// Time for the run
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quarry_cli::arguments::duration)]
    pub timeout: std::time::Duration,
}

#[derive(Clone, Debug, Args)]
pub struct BenchExec {
    /// Time for each measurement
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = quarry_cli::arguments::duration)]
    pub time: std::time::Duration,
}

#[derive(Clone, Debug, Args)]
pub struct CheckDataflow {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Blocks to run before giving up
    #[arg(long, default_value_t = 500_000_000)]
    pub max_steps: u64,
    /// Elements of small arrays are variables of their own
    #[arg(long = "dataflow-elements")]
    pub elements: bool,
}

#[derive(Clone, Debug, Args)]
pub struct CheckPairs {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// The function where paths start
    #[arg(long, value_name = "NAME")]
    pub function: String,
    /// Elements of small arrays are variables of their own
    #[arg(long = "dataflow-elements")]
    pub elements: bool,
}

/// A function whose goals are asked about.
#[derive(Clone, Debug, Args)]
pub struct ProveSubject {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// The function under test
    #[arg(long, value_name = "NAME")]
    pub function: String,
    #[arg(long, value_name = "C", default_value = "branch", value_delimiter = ',')]
    pub criterion: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Prove {
    #[command(flatten)]
    pub subject: ProveSubject,
    /// auto or one of the engines
    #[arg(long, default_value = "auto")]
    pub prover: String,
    /// Units of about a tenth of a millisecond
    #[arg(long, default_value_t = 50_000)]
    pub effort: u64,
    /// Directory for the proofs
    #[arg(short = 'o', value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub log: LogArguments,
}

#[derive(Clone, Debug, Args)]
pub struct CheckProofs {
    #[command(flatten)]
    pub subject: ProveSubject,
    /// Directory with *.proof
    #[arg(long, value_name = "DIR")]
    pub proofs: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct BenchDataflow {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// The function where runs start; the program's main, or every function, without
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// List the pairs
    #[arg(long)]
    pub print: bool,
    /// Elements of small arrays are variables of their own
    #[arg(long = "dataflow-elements")]
    pub elements: bool,
}

#[derive(Clone, Debug, Args)]
pub struct BenchCutPoints {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Where paths begin, if not in main
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Print the lines of the cut points of every pair
    #[arg(long)]
    pub print: bool,
}

#[derive(Clone, Debug, Args)]
pub struct BenchStrategies {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// The function that all campaigns are about
    #[arg(long, value_name = "NAME")]
    pub function: String,
    #[command(flatten)]
    pub inputs: quarry_cli::arguments::InputArguments,
    /// C expression over the parameters that every input must make true
    #[arg(long, value_name = "EXPR")]
    pub assume: Vec<String>,
    /// Campaigns: CRITERION[+CRITERION]:STRATEGY:on|off:SEEDS:EXECUTIONS[:unpruned], with path filtering on or off; with
    /// --each-goal the second criterion's goals lead the search, too; unpruned: without redefinition pruning
    #[arg(long, value_name = "SERIES")]
    pub run: Vec<series::Series>,
    /// Time for one campaign
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = quarry_cli::arguments::duration)]
    pub limit: std::time::Duration,
    /// Workers of each campaign
    #[arg(short = 'j', long, value_name = "N", default_value = "1")]
    pub workers: std::num::NonZeroUsize,
    /// A campaign for each goal alone, as data-flow testing is compared; the solver is not helped by other campaigns
    #[arg(long)]
    pub each_goal: bool,
    /// With --each-goal: only so many goals, from all over the list
    #[arg(long, value_name = "N", requires = "each_goal")]
    pub most_goals: Option<usize>,
    /// With --each-goal: leave a goal that no strategy covered with its first so many seeds
    #[arg(long, value_name = "SEEDS", requires = "each_goal")]
    pub give_up_after: Option<u64>,
    /// With --each-goal: a strategy leaves a goal that it did not cover with its first so many seeds
    #[arg(long, value_name = "SEEDS", requires = "each_goal")]
    pub despair_after: Option<u64>,
    /// Time the same executions with branch and MC/DC coverage so many times
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub overhead: usize,
    /// Executions for that
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub overhead_executions: u64,
}

/// C files and how to compile them, as a spec has them.
pub fn sources(arguments: &SourceArguments) -> SourceSpec {
    arguments.into()
}

/// Where paths of the command line start.
pub fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::usage(format!("cannot find the current directory: {error}")))
}

/// The user's cache.
pub fn cache() -> Result<Cache, Failure> {
    Ok(Cache::of_user(DEFAULT_LIMIT).map_err(Error::from)?)
}
