//! The command line as clap reads it. Names are stable: scripts depend on them.

mod inputs;
mod spec;
mod values;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use runner::spec::Where;

pub use inputs::InputArguments;
pub use values::duration;
use values::{DEFAULT_FILE_SIZE, input_file, percentage, size, stub_writes};

/// Generates tests for C that satisfy a coverage criterion
#[derive(Debug, Parser)]
#[command(name = "quarry", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct CommandLine {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub log: LogArguments,
    #[command(flatten)]
    pub cache: CacheArguments,
}

/// What is logged, and where: the same for every command.
#[derive(Clone, Debug, Args)]
pub struct LogArguments {
    /// File to log to, step by step
    #[arg(long, value_name = "FILE", env = "QUARRY_LOG", hide_env = true, global = true)]
    pub log: Option<PathBuf>,
    /// How much is logged
    #[arg(
        long,
        value_name = "LEVEL",
        env = "QUARRY_LOG_LEVEL",
        hide_env = true,
        default_value = "info",
        hide_possible_values = true,
        global = true
    )]
    pub log_level: LogLevel,
}

/// Where what was built is kept: the same for every command.
#[derive(Clone, Copy, Debug, Args)]
pub struct CacheArguments {
    /// Build everything anew, and keep nothing of it for later commands
    #[arg(long, global = true)]
    pub no_cache: bool,
    /// Maximum size of the cache: 500M, 2G
    #[arg(
        long,
        value_name = "SIZE",
        env = "QUARRY_CACHE_SIZE",
        hide_env = true,
        default_value = "2G",
        value_parser = size,
        global = true
    )]
    pub cache_size: u64,
}

/// How much is logged; each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// What failed
    Error,
    /// What is wrong and can be worked around
    Warn,
    /// The steps of a build and of a campaign
    Info,
    /// Compiler commands, rounds of the search, queries
    Debug,
    /// Every execution
    Trace,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 negative result (replay, doctor; confirm: sanitizer findings; cover: an input \
    could not be measured; import: a test was left out), 2 usage (including an output directory that is not writable), 10 coverage below \
    --fail-under, 11 crash found with --fail-on-crash, 12 llvm-cov does not confirm the coverage (--confirm), \
    13 difference found with --fail-on-difference, \
    20 the program does not build, 70 internal error, 74 disk full, 130 interrupted. Interrupted campaigns, and those \
    that filled the disk, can be resumed with the same command.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate a suite for a function, for several, or for a whole program
    Gen(Box<Gen>),
    /// List what a criterion counts, with positions
    Goals(Goals),
    /// Measure what an existing suite covers
    #[command(override_usage = "quarry cover [OPTIONS] <SRC>... <DIR> [-- <CFLAGS>...]")]
    Cover(Box<Cover>),
    /// Show what changed between two versions of a program, and what that may affect
    Diff(Diff),
    /// Read tests that are there already, in many forms
    Import(Box<Import>),
    /// Add tests to those that are there already, like them, for what they leave uncovered
    Augment(Box<Augment>),
    /// Run the tests of an earlier run again
    Replay(Replay),
    /// Say why a goal of an earlier run is open
    Explain(Explain),
    /// Check the tests of an earlier run with llvm-cov and the sanitizers
    Confirm(Confirm),
    /// Find out which small changes of the code the suite of an earlier run notices
    Mutate(Mutate),
    /// Check the proofs of an earlier run again
    CheckProof(CheckProof),
    /// Write the tests of an earlier run for a test framework or another tool
    Export(Export),
    /// Write the coverage of an earlier run as a web page and as files for other tools
    Report(Report),
    /// Merge runs of the same campaign that had different seeds or budgets
    Merge(Merge),
    /// Write a quarry.toml that explains every option
    Init(Init),
    /// Print completions for a shell
    Completions(Completions),
    /// Write manual pages, one per command
    Man(Man),
    /// Show how large the cache of built programs is, or empty it
    Cache(CacheCommand),
    /// List what Quarry needs and what is missing
    Doctor,
}

/// `quarry cache`.
#[derive(Clone, Debug, Args)]
pub struct CacheCommand {
    #[command(subcommand)]
    pub act: CacheAct,
}

/// What to do with the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum CacheAct {
    /// Show where the cache is and what it holds
    Stats,
    /// Remove everything that no process uses
    Clean,
}

/// C files and how to compile them.
#[derive(Clone, Debug, Args)]
pub struct SourceArguments {
    /// C source files; all files of the build directory if none is named
    #[arg(value_name = "SRC")]
    pub sources: Vec<PathBuf>,
    /// Directory with compile_commands.json, which provides the compiler flags
    #[arg(short = 'p', value_name = "BUILD_DIR")]
    pub build_dir: Option<PathBuf>,
    /// Compiler flags
    #[arg(last = true, value_name = "CFLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
}

/// Stubs for undefined functions.
#[derive(Clone, Debug, Default, Args)]
pub struct StubArguments {
    /// C source with your own definitions of undefined functions; its goals do not count
    #[arg(long = "stubs", value_name = "FILE.c")]
    pub files: Vec<PathBuf>,
    /// Function whose stub also writes inputs through its pointer parameters: all, or those named
    #[arg(long = "stub-writes", value_name = "NAME[=PARAM,…]", value_parser = stub_writes)]
    pub writes: Vec<(String, Vec<String>)>,
}

/// What to cover.
#[derive(Clone, Debug, Args)]
pub struct CriteriaArguments {
    /// Criteria, separated by commas. What gcov and llvm-cov call a branch is an outcome of a condition: gcov-branch
    #[arg(long, value_name = "C", value_delimiter = ',', default_value = "branch")]
    pub criterion: Vec<String>,
    /// How mcdc requires a condition's effect to be shown
    #[arg(long, value_name = "RULE", default_value = "masking")]
    pub mcdc: McdcRule,
    /// For data-flow criteria, treat elements of small arrays as separate variables
    #[arg(long)]
    pub dataflow_elements: bool,
}

/// Which engines look for proofs
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProverChoice {
    /// All of these, one after the other
    Auto,
    /// Proofs with invariants of loops that are guessed and checked
    Houdini,
    /// Proofs without
    LoopFree,
    /// Proofs that look at several iterations together
    KInduction,
    /// Proofs by unrolling loops until they end
    Unrolled,
    /// Proofs by predicate abstraction, refined from counterexamples
    Cegar,
    /// Proofs that exclude what leads to a goal, backwards from it
    Pdr,
    /// Proofs from the states that are reached, where these are few
    States,
    /// Inputs that cover what is open, by unrolling loops
    Bounded,
}

/// The two kinds of MC/DC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum McdcRule {
    /// By evaluations in which no other condition masks it
    #[default]
    Masking,
    /// By two evaluations that differ in no other condition
    UniqueCause,
}

/// `quarry gen`.
#[derive(Clone, Debug, Args)]
pub struct Gen {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Function to test; all functions, one after the other, if none is named
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub criteria: CriteriaArguments,
    /// Order in which the search tries candidates
    #[arg(long, value_name = "S", default_value = "auto")]
    pub strategy: String,
    /// Number of levels that pps looks ahead
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub pps_depth: u32,
    /// Also try candidates that cannot reach anything uncovered
    #[arg(long)]
    pub no_filter: bool,
    /// With cpgs and sdgs: time for each def-use pair, doubled on each retry
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    pub per_goal: Duration,
    /// With cpgs and sdgs: also try candidates after a redefinition of the variable
    #[arg(long)]
    pub no_redefinition_pruning: bool,
    /// Memory for everything together: 500M, 2G; half of the machine's if not given
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// Time for everything after the build: 60s, 2m, 500ms
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub budget: Duration,
    /// Maximum number of executions of the search
    #[arg(long, value_name = "N")]
    pub max_executions: Option<u64>,
    /// Ask the prover about what the search leaves open, also with another strategy than auto
    #[arg(long, overrides_with_all = ["no_prove", "prove_only"])]
    pub prove: bool,
    /// Only search: prove nothing about what the search leaves open
    #[arg(long, overrides_with_all = ["prove", "prove_only"])]
    pub no_prove: bool,
    /// Do not search: only prove, and run the inputs that the prover finds
    #[arg(long, overrides_with_all = ["prove", "no_prove"])]
    pub prove_only: bool,
    /// How the prover works
    #[arg(long, value_name = "P", value_enum, default_value_t = ProverChoice::Auto)]
    pub prover: ProverChoice,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of workers that execute and solve in parallel, or of functions at a time when there are several [default: 1, or all
    /// processors for several functions]
    #[arg(short = 'j', value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Give every execution a process of its own; to compare and to find mistakes
    #[arg(long, hide = true)]
    pub fork_each: bool,
    #[command(flatten)]
    pub inputs: InputArguments,
    /// C expression over the parameters that every input must satisfy; may be repeated
    #[arg(long, value_name = "EXPR")]
    pub assume: Vec<String>,
    #[command(flatten)]
    pub stubs: StubArguments,
    /// Default options and preconditions of functions [default: the nearest quarry.toml, in this directory or above]
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// Use the options of this profile in quarry.toml
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Count only goals here: file.c, file.c:10, file.c:10-80, function=f; may be repeated
    #[arg(long, value_name = "WHERE", value_parser = Where::parse)]
    pub only: Vec<Where>,
    /// Count only goals that changes since this version concern: a C file, a directory, or a git revision
    #[arg(long, value_name = "OLD")]
    pub since: Option<String>,
    /// With --since: count only what is different itself, not what that may affect
    #[arg(long, requires = "since")]
    pub changed_only: bool,
    /// With --since: take half of the time, not a quarter, to search for inputs on which the versions differ
    #[arg(long, requires = "since")]
    pub equivalent: bool,
    #[command(flatten)]
    pub tests: TestArguments,
    /// Input to start from, in the format of the files in tests/
    #[arg(long, value_name = "FILE.json")]
    pub first_input: Option<PathBuf>,
    /// Keep every test that covered something new, unchanged
    #[arg(long)]
    pub no_minimise: bool,
    /// Add tests that notice small changes of the code which the suite misses (whole programs: the default with a budget of time)
    #[arg(long, overrides_with = "no_strengthen")]
    pub strengthen: bool,
    /// Keep only what goals need
    #[arg(long)]
    pub no_strengthen: bool,
    /// Compare every symbolic condition with its concrete outcome, every execution with one in a process of its own
    #[arg(long)]
    pub self_check: bool,
    /// bitwuzla, or the command line of a solver that reads SMT-LIB ("z3 -in")
    #[arg(long, value_name = "SOLVER", default_value = "bitwuzla")]
    pub solver: String,
    /// Repeat the campaign of an earlier run, with the options given here taking precedence
    #[arg(long, value_name = "OUT_DIR")]
    pub from: Option<PathBuf>,
    /// Directory that source paths are relative to [default: the current one; with --from that of the earlier run]
    #[arg(short = 'C', value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Directory for the results
    #[arg(short = 'o', value_name = "DIR", default_value = "quarry.out")]
    pub out: PathBuf,
    /// Start over instead of resuming an earlier campaign
    #[arg(long)]
    pub fresh: bool,
    /// Write tests and findings without running them with address and undefined-behaviour sanitizers first
    #[arg(long)]
    pub no_sanitize: bool,
    /// The default; wins over no-sanitize in a configuration file
    #[arg(long, hide = true, conflicts_with = "no_sanitize")]
    pub sanitize: bool,
    /// Check the tests on native builds with llvm-cov and sanitizers, as quarry confirm does
    #[arg(long)]
    pub confirm: bool,
    /// Also write the tests for a test framework or another tool, as quarry export does
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// Format of stdout
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
    /// No progress on stderr
    #[arg(long)]
    pub quiet: bool,
    /// Print on stderr how long each step took
    #[arg(long)]
    pub timings: bool,
    /// Exit with 10 if less than this percentage is covered
    #[arg(long, value_name = "PCT", value_parser = percentage)]
    pub fail_under: Option<f64>,
    /// With --fail-under: what is infeasible only within limits of the input model counts as infeasible, too
    #[arg(long)]
    pub accept_bounded: bool,
    /// Exit with 11 if an input makes the program crash, or if a sanitizer finds something
    #[arg(long)]
    pub fail_on_crash: bool,
    /// With --since: exit with 13 if the version before behaves differently on an input
    #[arg(long, requires = "since")]
    pub fail_on_difference: bool,
    #[command(flatten)]
    pub program: ProgramArguments,
}

/// Tests that are there already.
#[derive(Clone, Debug, Default, Args)]
pub struct TestArguments {
    /// Tests that are there already: a suite of Quarry, JSON, a text file of lines "name: arguments [< file]", a corpus of a
    /// fuzzer, .ktest files, a Test-Comp suite, tests in C; may be repeated
    #[arg(long, value_name = "WHERE")]
    pub tests: Vec<PathBuf>,
    /// With a corpus for a program: its arguments, in which @@ stands for a file of the corpus [default: standard input, or
    /// as AFL++ ran it]
    #[arg(long, value_name = "ARGS", requires = "tests", allow_hyphen_values = true)]
    pub corpus_args: Option<String>,
    /// How the tests are written down [default: judging by names and contents]
    #[arg(long, value_name = "FORM", value_enum, requires = "tests")]
    pub tests_form: Option<TestsForm>,
    /// What the program is called in a shell script of tests, besides the names of its sources; may be repeated
    #[arg(long, value_name = "NAME", requires = "tests")]
    pub command: Vec<String>,
    /// Flags, libraries and further sources that tests in C are built with, separated by blanks; may be repeated
    #[arg(long, value_name = "FLAGS", requires = "tests", value_delimiter = ' ', allow_hyphen_values = true)]
    pub tests_flags: Vec<String>,
}

/// How tests are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestsForm {
    /// Inputs as JSON, also of Quarry's suites
    Json,
    /// A command line per line
    Lines,
    /// A shell script that calls the program
    Script,
    /// Files that are inputs as they are
    Corpus,
    /// KLEE's files
    Ktest,
    /// Test-Comp's exchange format
    Testcomp,
    /// C or C++ that calls the function: Unity, CMocka, GoogleTest, or no framework
    C,
}

/// `quarry augment`.
#[derive(Clone, Debug, Args)]
pub struct Augment {
    #[command(flatten)]
    pub generate: Gen,
    /// Order in which targets are taken up
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = TargetOrder::Dfo)]
    pub order: TargetOrder,
    /// Tests that new ones are made from
    #[arg(long, value_name = "REUSE", value_enum, default_value_t = Reuse::ExistingAndNew)]
    pub reuse: Reuse,
    /// How new tests are made
    #[arg(long, value_name = "GENERATOR", value_enum, default_value_t = Generator::Hybrid)]
    pub generator: Generator,
    /// Conditions on the path of a test that are negated for a target: the last one that leads away from it, and those before
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    pub negations: u32,
    /// Generations of the genetic generator for a target
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    pub generations: u32,
    /// End when the generator finds nothing more, instead of searching on as gen does
    #[arg(long)]
    pub no_search: bool,
}

/// In which order targets are taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TargetOrder {
    /// Depth-first on the control flow graph
    Dfo,
    /// At random
    Random,
}

/// Which tests are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reuse {
    /// Those that are there already
    Existing,
    /// The new ones, too
    #[value(name = "existing+new")]
    ExistingAndNew,
}

/// How new tests are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generator {
    /// Negating and solving conditions on paths
    Concolic,
    /// Crossing and mutating tests
    Genetic,
    /// Both in turns
    Hybrid,
}

/// `quarry import`.
#[derive(Clone, Debug, Args)]
pub struct Import {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Function that the tests are for
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub tests: TestArguments,
    #[command(flatten)]
    pub criteria: CriteriaArguments,
    /// Count only goals here: file.c, file.c:10, file.c:10-80, function=f; may be repeated
    #[arg(long, value_name = "WHERE", value_parser = Where::parse)]
    pub only: Vec<Where>,
    #[command(flatten)]
    pub inputs: InputArguments,
    #[command(flatten)]
    pub program: ProgramArguments,
    #[command(flatten)]
    pub stubs: StubArguments,
    /// Timeout of one execution
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
    /// Directory for the imported suite
    #[arg(short = 'o', value_name = "DIR", default_value = "quarry.imported")]
    pub out: PathBuf,
    /// Format of stdout
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
}

/// A whole program and its inputs.
#[derive(Clone, Debug, Args)]
pub struct ProgramArguments {
    /// Test the whole program: arguments, standard input, files and environment are inputs
    #[arg(long, conflicts_with_all = ["function", "len"])]
    pub program: bool,
    /// With --program: maximum number of arguments [default: as many as the program asks about, at least 4]
    #[arg(long, value_name = "N", requires = "program")]
    pub max_args: Option<u32>,
    /// With --program: maximum length of an argument or of a variable's value
    #[arg(long, value_name = "N", default_value_t = 128, requires = "program")]
    pub arg_len: u32,
    /// With --program: maximum number of bytes on standard input
    #[arg(long, value_name = "N", default_value_t = DEFAULT_FILE_SIZE, requires = "program")]
    pub stdin_size: u32,
    /// With --program: a file that is input, and its maximum size in bytes; may be repeated
    #[arg(long, value_name = "NAME[=SIZE]", value_parser = input_file, requires = "program")]
    pub file: Vec<(String, u32)>,
    /// With --program: an environment variable that is input; may be repeated
    #[arg(long, value_name = "NAME", requires = "program")]
    pub env: Vec<String>,
}

/// `quarry goals`.
#[derive(Clone, Debug, Args)]
pub struct Goals {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// List only what a call of this function can reach
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub criteria: CriteriaArguments,
    /// Count only goals here: file.c, file.c:10, file.c:10-80, function=f; may be repeated
    #[arg(long, value_name = "WHERE", value_parser = Where::parse)]
    pub only: Vec<Where>,
    /// List what the program's text says of its input instead
    #[arg(long)]
    pub dictionary: bool,
    /// Format of stdout
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
}

/// `quarry diff`.
#[derive(Clone, Debug, Args)]
pub struct Diff {
    /// The old version and the new one: two C files, or two directories with compile_commands.json; with --git the files to compare
    #[arg(value_name = "OLD NEW")]
    pub paths: Vec<PathBuf>,
    /// A git revision: given once, the old version of the files as they are; given twice, the old one and the new one
    #[arg(long, value_name = "REV", num_args = 1, action = clap::ArgAction::Append)]
    pub git: Vec<String>,
    /// With --git: directory with compile_commands.json, which provides files and compiler flags
    #[arg(short = 'p', value_name = "BUILD_DIR", requires = "git")]
    pub build_dir: Option<PathBuf>,
    /// Compiler flags, of both versions
    #[arg(last = true, value_name = "CFLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Format of stdout
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
}

/// `quarry cover`.
#[derive(Clone, Debug, Args)]
pub struct Cover {
    /// C source files, and last a directory of tests or an output directory of quarry gen
    #[arg(value_names = ["SRC", "DIR"], required = true, num_args = 2..)]
    pub paths: Vec<PathBuf>,
    /// Directory with compile_commands.json, which provides the compiler flags
    #[arg(short = 'p', value_name = "BUILD_DIR")]
    pub build_dir: Option<PathBuf>,
    /// Compiler flags
    #[arg(last = true, value_name = "CFLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Function under test; taken from run.json if that is next to the tests
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub criteria: CriteriaArguments,
    /// Count only goals here: file.c, file.c:10, file.c:10-80, function=f; may be repeated
    #[arg(long, value_name = "WHERE", value_parser = Where::parse)]
    pub only: Vec<Where>,
    // missing options are taken from run.json if that is next to the tests
    #[command(flatten)]
    pub inputs: InputArguments,
    #[command(flatten)]
    pub program: ProgramArguments,
    #[command(flatten)]
    pub stubs: StubArguments,
    /// Timeout of one execution
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
    /// Format of stdout
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
    /// Exit with 10 if less than this percentage is covered
    #[arg(long, value_name = "PCT", value_parser = percentage)]
    pub fail_under: Option<f64>,
    /// With --fail-under: what is infeasible only within limits of the input model counts as infeasible, too
    #[arg(long)]
    pub accept_bounded: bool,
}

/// `quarry merge`.
#[derive(Clone, Debug, Args)]
pub struct Merge {
    /// Output directories of quarry gen
    #[arg(value_name = "OUT_DIR", required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// Directory for the merged results
    #[arg(short = 'o', value_name = "DIR", default_value = "quarry.merged")]
    pub out: PathBuf,
    /// What stdout is for
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
    /// No progress on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// `quarry init`.
#[derive(Clone, Debug, Args)]
pub struct Init {
    /// Directory to write it to
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
}

/// `quarry completions`.
#[derive(Clone, Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `quarry man`.
#[derive(Clone, Debug, Args)]
pub struct Man {
    /// Directory to write them to
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// `quarry replay`.
#[derive(Clone, Debug, Args)]
pub struct Replay {
    /// An output directory, or test files within one
    #[arg(value_name = "DIR|TEST.json", default_value = "quarry.out")]
    pub what: Vec<PathBuf>,
    /// Timeout of one execution
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
}

/// `quarry explain`.
#[derive(Clone, Debug, Args)]
pub struct Explain {
    /// An output directory of quarry gen
    #[arg(value_name = "OUT_DIR")]
    pub run: PathBuf,
    /// The goal: its number or key in goals.jsonl, or its place (FILE:LINE, FILE:LINE:COLUMN)
    #[arg(value_name = "GOAL")]
    pub goal: String,
    /// Timeout of one execution
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
    /// Format of stdout
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
}

/// `quarry confirm`.
#[derive(Clone, Debug, Args)]
pub struct Confirm {
    /// An output directory of quarry gen
    #[arg(value_name = "OUT_DIR", default_value = "quarry.out")]
    pub run: PathBuf,
    /// Timeout of one test
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
}

/// `quarry mutate`.
#[derive(Clone, Debug, Args)]
pub struct Mutate {
    /// An output directory of quarry gen
    #[arg(value_name = "OUT_DIR", default_value = "quarry.out")]
    pub run: PathBuf,
    /// Time after which mutants stay undecided
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Number of mutants that run in parallel
    #[arg(short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Exit with 10 if less than this percentage of the mutants is killed, without those that are equivalent
    #[arg(long, value_name = "PCT", value_parser = percentage)]
    pub fail_under: Option<f64>,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    /// Format of stdout; its last line is a JSON object in both
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
}

/// `quarry check-proof`.
#[derive(Clone, Debug, Args)]
pub struct CheckProof {
    /// An output directory of quarry gen
    #[arg(value_name = "OUT_DIR", default_value = "quarry.out")]
    pub run: PathBuf,
}

/// `quarry export`.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// An output directory of quarry gen
    #[arg(value_name = "OUT_DIR", default_value = "quarry.out")]
    pub run: PathBuf,
    /// What to write
    #[arg(long, value_name = "FORMAT")]
    pub format: ExportFormat,
    /// Directory to write to [default: OUT_DIR/FORMAT]
    #[arg(short = 'o', value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Number of floating-point values allowed between a result and the expected one; 0: equal bit by bit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub ulp: u64,
    /// Directory with unity.h and unity.c, or with their src/
    #[arg(long, value_name = "DIR")]
    pub unity_dir: Option<PathBuf>,
    /// With --format verifier: a command to run on the program of each open goal, such as 'cbmc --trace --unwind 20'
    #[arg(long, value_name = "COMMAND")]
    pub verifier: Option<String>,
    /// Timeout of one test, and of one answer of a verifier
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
}

/// `quarry report`.
#[derive(Clone, Debug, Args)]
pub struct Report {
    /// An output directory of quarry gen
    #[arg(value_name = "OUT_DIR", default_value = "quarry.out")]
    pub run: PathBuf,
    /// Write MC/DC records to lcov.info; lcov supports them since version 2.2
    #[arg(long)]
    pub lcov_mcdc: bool,
}

/// What tests are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// C that needs nothing but a compiler
    C,
    /// C for ThrowTheSwitch's Unity
    Unity,
    /// C for cmocka
    Cmocka,
    /// C, called from GoogleTest tests
    #[value(alias = "gtest")]
    Googletest,
    /// All tests in one JSON file
    Json,
    /// One file per test in KLEE's format
    Ktest,
    /// A suite for Test-Comp and TestCov, also as a zip archive next to the directory
    Testcomp,
    /// A C program per open goal, in which reach_error is called where the goal is covered
    Verifier,
    /// The same per infeasible goal, with the invariants of its proof as a witness of SV-COMP
    Witness,
}

/// Who reads stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// A person
    Human,
    /// A program: the last line is one JSON object
    Json,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn flags_after_two_dashes_reach_the_compiler() {
        let line = CommandLine::try_parse_from(["quarry", "gen", "a.c", "b.c", "--", "-DX", "--sysroot=/y"])
            .expect("valid");
        let Command::Gen(arguments) = line.command else { panic!("gen was asked for") };
        assert_eq!(arguments.sources.sources.len(), 2);
        assert_eq!(arguments.sources.flags, ["-DX", "--sysroot=/y"]);
    }
}
