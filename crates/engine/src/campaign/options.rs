//! How a campaign is done.

use std::collections::BTreeMap;
use std::time::Duration;

use analysis::origins::Asked;
use coverage::GoalId;
use model::FunctionId;
use model::input::{Input, Key};
use model::invocation::InvocationShape;

use super::{Augment, Budget, Enums, Provenance};

/// How a campaign is done.
#[derive(Clone, Debug)]
pub struct CampaignOptions {
    pub seed: u64,
    pub budget: Budget,
    /// What the budget is worth in units of effort, by which search and adviser take turns.
    pub effort: u64,
    /// Whether to search beyond the first inputs.
    pub searches: bool,
    /// Effort for one query; queries that are not answered at once get it only when nothing else is left to try.
    pub solver_effort: u64,
    /// Processor time after which a query is given up whatever its effort.
    pub solver_time: Duration,
    /// Time for one execution.
    pub execution_limit: Duration,
    /// Compare every expression with what the program computed.
    pub self_check: bool,
    /// Inputs from outside.
    pub given: Vec<GivenInput>,
    /// How the tests that are there already are augmented, if they are: all of them are kept.
    pub augment: Option<Augment>,
    /// Which cells of inputs are enums.
    pub enums: Enums,
    /// Whether a run is one of a whole program, which leaves more behind than variables.
    pub whole_program: bool,
    /// Then: what it can be given.
    pub invocation: Option<InvocationShape>,
    /// Leave out candidates that cannot reach anything open.
    pub filter: bool,
    /// Leave out tests whose goals the others cover.
    pub minimise: bool,
    /// Whether a run covers goals that crashes, hangs or goes out of bounds; otherwise only what one can keep as a test does.
    pub crashes_cover: bool,
    /// Covered, this goal is enough: the others only guide the search.
    pub enough: Option<GoalId>,
    /// Time for one def-use pair at a time, with strategies that are guided to pairs; doubled when its turn comes again.
    pub per_goal: Duration,
    /// For such strategies: what lies behind another definition of the variable is of no use for the pair.
    pub prune_redefinitions: bool,
    /// Stubs that do not give everything that the functions may.
    pub limited_stubs: BTreeMap<FunctionId, Asked>,
    /// What is known of limits on the size of inputs beyond what their cells say.
    pub limits: Vec<InputLimit>,
    /// Candidates taken from one run; a bound on memory for runs with very many steps.
    pub max_candidates_per_run: usize,
    /// Candidates taken in all; a bound on memory for long campaigns.
    pub max_candidates: usize,
    /// Bytes of memory that this process may have; only where a gauge is given.
    pub max_memory: Option<u64>,
    /// Bytes of runs that are held so that queries about them cost no execution.
    pub max_bytes_held: usize,
}

/// A limit on the size of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputLimit {
    /// The option that raises it.
    pub option: String,
    /// It is reached when one of these cells has its value.
    pub cells: Vec<(Key, u64)>,
    /// Or when none of the cells of one of these is zero: characters of a text.
    pub texts: Vec<Vec<Key>>,
}

/// An input from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenInput {
    pub input: Input,
    pub provenance: Provenance,
    pub place: GivenPlace,
}

/// When an input from outside is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenPlace {
    /// Before all others, whatever the budget, which counts from then on: an earlier campaign has paid for it.
    BeforeBudget,
    /// First of the search, instead of zeros and then a random input.
    First,
    /// Behind the first.
    AfterFirst,
}

impl Default for CampaignOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            budget: Budget::default(),
            effort: 600_000,
            searches: true,
            // about five seconds of Bitwuzla's work
            solver_effort: 40_000,
            solver_time: Duration::from_secs(15),
            execution_limit: Duration::from_secs(2),
            self_check: false,
            given: Vec::new(),
            augment: None,
            enums: Enums::default(),
            whole_program: false,
            invocation: None,
            filter: true,
            minimise: true,
            crashes_cover: true,
            enough: None,
            per_goal: Duration::from_secs(20),
            prune_redefinitions: true,
            limited_stubs: BTreeMap::new(),
            limits: Vec::new(),
            max_candidates_per_run: 1 << 16,
            max_candidates: 1 << 24,
            max_memory: None,
            max_bytes_held: 512 << 20,
        }
    }
}
