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
use values::{DEFAULT_FILE_SIZE, input_file, percentage, stub_writes};

/// Generates tests for C that cover what a criterion counts.
#[derive(Debug, Parser)]
#[command(name = "quarry", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct CommandLine {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the answer is no (replay, doctor; confirm: sanitizers found \
    something; cover: an input could not be measured), 2 usage (also an output directory \
    that cannot be written), 10 below --fail-under, 11 crash found with --fail-on-crash, 12 llvm-cov disagrees \
    with what is called covered (--confirm), 20 the program does not build, 70 internal error, 74 the disk takes no more \
    results, 130 interrupted; the last two can be gone on with by the same command";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate a suite for a function, or for each of several
    Gen(Box<Gen>),
    /// List what a criterion counts, with positions
    Goals(Goals),
    /// Measure what an existing suite covers
    #[command(override_usage = "quarry cover [OPTIONS] <SRC>... <DIR> [-- <CFLAGS>...]")]
    Cover(Box<Cover>),
    /// Execute the tests of an earlier run again
    Replay(Replay),
    /// Ask llvm-cov and the sanitizers about the tests of an earlier run
    Confirm(Confirm),
    /// Write the tests of an earlier run in a format of other tools
    Export(Export),
    /// Write what an earlier run covers as a page, and as files for other tools
    Report(Report),
    /// Write a quarry.toml that explains itself
    Init(Init),
    /// Print completions for a shell
    Completions(Completions),
    /// Write manual pages, one per command
    Man(Man),
    /// Say what Quarry needs, what is there and what is missing
    Doctor,
}

/// C files and how to compile them.
#[derive(Clone, Debug, Args)]
pub struct SourceArguments {
    /// C source files; all those of the build directory when none are named
    #[arg(value_name = "SRC", required_unless_present_any = ["build_dir", "from"])]
    pub sources: Vec<PathBuf>,
    /// Directory with compile_commands.json, from which flags are taken
    #[arg(short = 'p', value_name = "BUILD_DIR")]
    pub build_dir: Option<PathBuf>,
    /// Compiler flags
    #[arg(last = true, value_name = "CFLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
}

/// What stands in for functions that are defined nowhere.
#[derive(Clone, Debug, Default, Args)]
pub struct StubArguments {
    /// C source with your own stand-ins for functions that are defined nowhere; its goals do not count
    #[arg(long = "stubs", value_name = "FILE.c")]
    pub files: Vec<PathBuf>,
    /// Stub that also writes fresh values through its pointer parameters: all, or those named
    #[arg(long = "stub-writes", value_name = "NAME[=PARAM,…]", value_parser = stub_writes)]
    pub writes: Vec<(String, Vec<String>)>,
}

/// What is to be covered.
#[derive(Clone, Debug, Args)]
pub struct CriteriaArguments {
    /// Criteria, separated by commas
    #[arg(long, value_name = "C", value_delimiter = ',', default_value = "branch")]
    pub criterion: Vec<String>,
    /// How mcdc wants a condition's effect to be shown
    #[arg(long, value_name = "RULE", default_value = "masking")]
    pub mcdc: McdcRule,
    /// For criteria of data flow, elements of small arrays are variables of their own
    #[arg(long)]
    pub dataflow_elements: bool,
}

/// The two kinds of MC/DC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum McdcRule {
    /// By evaluations in which no other condition hides it
    #[default]
    Masking,
    /// By two evaluations that differ in nothing else
    UniqueCause,
}

/// `quarry gen`.
#[derive(Clone, Debug, Args)]
pub struct Gen {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Function to test; one after the other when none is named
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub criteria: CriteriaArguments,
    /// Order in which the search tries candidates
    #[arg(long, value_name = "S", default_value = "auto")]
    pub strategy: String,
    /// Levels that pps looks ahead
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub pps_depth: u32,
    /// Try also candidates that cannot reach anything uncovered
    #[arg(long)]
    pub no_filter: bool,
    /// Time for one def-use pair at a time, with cpgs and sdgs; doubled when its turn comes again
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    pub per_goal: Duration,
    /// With cpgs and sdgs: try also what lies behind another definition of the variable
    #[arg(long)]
    pub no_redefinition_pruning: bool,
    /// Time for the search: 60s, 2m, 500ms
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub budget: Duration,
    /// Executions for the search
    #[arg(long, value_name = "N")]
    pub max_executions: Option<u64>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Workers that execute and solve at the same time
    #[arg(short = 'j', value_name = "N", default_value = "1")]
    pub jobs: NonZeroUsize,
    #[command(flatten)]
    pub inputs: InputArguments,
    /// C expression over the parameters that every input must make true
    #[arg(long, value_name = "EXPR")]
    pub assume: Vec<String>,
    #[command(flatten)]
    pub stubs: StubArguments,
    /// Defaults of options, and what must hold of functions' inputs [default: the nearest quarry.toml, here or above]
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// Options of this name in quarry.toml
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Only goals here: file.c, file.c:10, file.c:10-80, function=f; may be repeated
    #[arg(long, value_name = "WHERE", value_parser = Where::parse)]
    pub only: Vec<Where>,
    /// Input to start from, as in the files of tests/
    #[arg(long, value_name = "FILE.json")]
    pub first_input: Option<PathBuf>,
    /// Keep every test that covered something new, as it was found
    #[arg(long)]
    pub no_minimise: bool,
    /// Check every symbolic condition against the outcome of the run
    #[arg(long)]
    pub self_check: bool,
    /// bitwuzla, or the command of a solver that reads SMT-LIB ("z3 -in")
    #[arg(long, value_name = "SOLVER", default_value = "bitwuzla")]
    pub solver: String,
    /// Run the campaign of an earlier run again, with the options given here on top
    #[arg(long, value_name = "OUT_DIR")]
    pub from: Option<PathBuf>,
    /// Directory where paths of sources start [default: this one; with --from that of the earlier run]
    #[arg(short = 'C', value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Directory for the results
    #[arg(short = 'o', value_name = "DIR", default_value = "quarry.out")]
    pub out: PathBuf,
    /// Start over, although an earlier run of the same could be gone on with
    #[arg(long)]
    pub fresh: bool,
    /// Run the tests on native builds with llvm-cov and sanitizers, as quarry confirm does
    #[arg(long)]
    pub confirm: bool,
    /// Write the tests also in a format of other tools, as quarry export does
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// What stdout is for
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
    /// No progress on stderr
    #[arg(long)]
    pub quiet: bool,
    /// Say on stderr how long each step took
    #[arg(long)]
    pub timings: bool,
    /// Exit with 10 when less than this percentage is covered
    #[arg(long, value_name = "PCT", value_parser = percentage)]
    pub fail_under: Option<f64>,
    /// Exit with 11 when an input makes the program crash, or a sanitizer finds something
    #[arg(long)]
    pub fail_on_crash: bool,
    #[command(flatten)]
    pub program: ProgramArguments,
}

/// A whole program and what it is given.
#[derive(Clone, Debug, Args)]
pub struct ProgramArguments {
    /// Test the whole program: arguments, standard input, files and environment are inputs
    #[arg(long, conflicts_with_all = ["function", "len"])]
    pub program: bool,
    /// With --program: arguments at most
    #[arg(long, value_name = "N", default_value_t = 4, requires = "program")]
    pub max_args: u32,
    /// With --program: characters of an argument or of a variable's value at most
    #[arg(long, value_name = "N", default_value_t = 16, requires = "program")]
    pub arg_len: u32,
    /// With --program: bytes on standard input at most
    #[arg(long, value_name = "N", default_value_t = DEFAULT_FILE_SIZE, requires = "program")]
    pub stdin_size: u32,
    /// With --program: a file that is input, and how many bytes it has at most; may be repeated
    #[arg(long, value_name = "NAME[=SIZE]", value_parser = input_file, requires = "program")]
    pub file: Vec<(String, u32)>,
    /// With --program: a variable of the environment that is input; may be repeated
    #[arg(long, value_name = "NAME", requires = "program")]
    pub env: Vec<String>,
}

/// `quarry goals`.
#[derive(Clone, Debug, Args)]
pub struct Goals {
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Only what a call of this function can reach
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub criteria: CriteriaArguments,
    /// Only goals here: file.c, file.c:10, file.c:10-80, function=f; may be repeated
    #[arg(long, value_name = "WHERE", value_parser = Where::parse)]
    pub only: Vec<Where>,
    /// What stdout is for
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
}

/// `quarry cover`.
#[derive(Clone, Debug, Args)]
pub struct Cover {
    /// C source files; the last one is the directory of tests, or an output directory of quarry gen
    #[arg(value_names = ["SRC", "DIR"], required = true, num_args = 2..)]
    pub paths: Vec<PathBuf>,
    /// Directory with compile_commands.json, from which flags are taken
    #[arg(short = 'p', value_name = "BUILD_DIR")]
    pub build_dir: Option<PathBuf>,
    /// Compiler flags
    #[arg(last = true, value_name = "CFLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Function under test; from run.json when that is beside the tests
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub criteria: CriteriaArguments,
    /// Only goals here: file.c, file.c:10, file.c:10-80, function=f; may be repeated
    #[arg(long, value_name = "WHERE", value_parser = Where::parse)]
    pub only: Vec<Where>,
    // what is not given is taken from run.json, when that is beside the tests
    #[command(flatten)]
    pub inputs: InputArguments,
    #[command(flatten)]
    pub program: ProgramArguments,
    #[command(flatten)]
    pub stubs: StubArguments,
    /// Time for one execution
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
    /// What stdout is for
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,
    /// Exit with 10 when less than this percentage is covered
    #[arg(long, value_name = "PCT", value_parser = percentage)]
    pub fail_under: Option<f64>,
}

/// `quarry init`.
#[derive(Clone, Debug, Args)]
pub struct Init {
    /// Where to write it
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
    /// Where to write them
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// `quarry replay`.
#[derive(Clone, Debug, Args)]
pub struct Replay {
    /// An output directory, or test files within one
    #[arg(value_name = "DIR|TEST.json", default_value = "quarry.out")]
    pub what: Vec<PathBuf>,
    /// Time for one execution
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
}

/// `quarry confirm`.
#[derive(Clone, Debug, Args)]
pub struct Confirm {
    /// An output directory of quarry gen
    #[arg(value_name = "OUT_DIR", default_value = "quarry.out")]
    pub run: PathBuf,
    /// Time for one test
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
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
    /// Directory to write to; OUT_DIR/FORMAT when left out
    #[arg(short = 'o', value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Floating-point values that may lie between a result and what is expected; 0: equal to the bit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub ulp: u64,
    /// Directory with unity.h and unity.c, or with their src/
    #[arg(long, value_name = "DIR")]
    pub unity_dir: Option<PathBuf>,
    /// Time for one test
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
}

/// `quarry report`.
#[derive(Clone, Debug, Args)]
pub struct Report {
    /// An output directory of quarry gen
    #[arg(value_name = "OUT_DIR", default_value = "quarry.out")]
    pub run: PathBuf,
    /// MC/DC records in lcov.info; genhtml knows them from version 2.2 on
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
    /// C, called from tests of GoogleTest
    Googletest,
    /// All tests in one JSON file
    Json,
    /// A file of KLEE's format per test
    Ktest,
    /// A suite as Test-Comp and TestCov want it, also as a zip archive beside the directory
    Testcomp,
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
