//! Which candidate next? A strategy chooses; the campaign acts.
//!
//! Strategies see the whole pool, the coverage and the program through a [`View`], and keep whatever order they need.
//! They may be asked for several picks before the first result is known.

mod auto;
mod bfs;
mod cfg_directed;
mod chaining;
mod dfs;
mod directed;
mod fitness;
mod generational;
mod guided;
mod pps;
mod pps_fitness;
mod random_input;
mod random_path;
mod ranked;
mod rp_md2u;

use coverage::Coverage;
use coverage::structure::Structure;
use model::Program;

use crate::pool::{CandidateId, Pool, RunId};
use crate::rng::Rng;
use crate::target::{Guidance, Target};

/// What a strategy may look at.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub program: &'a Program,
    pub coverage: &'a Coverage,
    pub structure: &'a Structure<'a>,
    pub pool: &'a Pool,
    /// The def-use pair that the search is guided to, if the strategy asks for one.
    pub target: Option<&'a Target>,
}

/// What a run was good for that event sequences asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helped {
    /// It covered something new.
    Covered,
    /// It covered nothing, and the one before came nearer to what they are followed for.
    CameNearer,
    No,
}

/// Whether a strategy lets event sequences be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chains {
    Never,
    /// Where data flow costs next to nothing.
    InSmallPrograms,
    Always,
}

/// The cost of data flow grows faster than programs do.
const MOST_INSTRUCTIONS: usize = 20_000;

impl Chains {
    /// Whether event sequences of this program are followed, and runs are asked for addresses to know them.
    pub fn of(self, program: &Program) -> bool {
        match self {
            Self::Never => false,
            Self::InSmallPrograms => {
                let blocks = program.functions.iter().flat_map(|function| &function.blocks);
                blocks.map(|block| block.instrs.len()).sum::<usize>() <= MOST_INSTRUCTIONS
            }
            Self::Always => true,
        }
    }
}

/// An order in which candidates are tried.
pub trait Strategy {
    /// The name users give.
    fn name(&self) -> &'static str;

    /// Whether it picks candidates at all; without, none are collected, and random inputs are all there is.
    fn uses_candidates(&self) -> bool {
        true
    }

    /// Whether runs are to be measured for how near they came to branches that no run has taken.
    fn wants_branch_distances(&self) -> bool {
        false
    }

    /// Hears what solving a pick has cost, whatever came of it; before [`Self::ran`].
    fn cost(&mut self, _candidate: CandidateId, _effort: u64) {}

    /// Hears that a pick is not worked off: its path was taken meanwhile, or leads to nothing open.
    fn refused(&mut self, _candidate: CandidateId) {}

    /// What of a def-use pair it is led by; `None` when it does not ask for one.
    fn guidance(&self) -> Option<Guidance> {
        None
    }

    /// Hears that there is another target, or none any more.
    fn aim(&mut self, _view: &View<'_>) {}

    /// Whether mutations of kept inputs may be tried while the solver is slow.
    fn allows_mutation(&self) -> bool {
        false
    }

    /// Whether it lets event sequences be followed ([`crate::chaining`]).
    fn chains(&self) -> Chains {
        Chains::Never
    }

    /// Whether it gives its turn to that now; when it has nothing left, it does so anyway.
    fn gives_way(&mut self, _view: &View<'_>) -> bool {
        false
    }

    /// Whether nothing more is to be tried when event sequences say of all that runs reach that it is saturated.
    fn ends_when_saturated(&self) -> bool {
        false
    }

    /// Hears of a run in such a turn.
    fn gave_way(&mut self, _helped: Helped) {}

    /// Hears of a new candidate that turns at a step. Those of one run come in the order of its path.
    fn add(&mut self, candidate: CandidateId, view: &View<'_>);

    /// Hears that a run was taken in, after its candidates.
    fn ran(&mut self, _run: RunId, _view: &View<'_>) {}

    /// The next pick, never a candidate twice; `None` when there is nothing left.
    fn next(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<CandidateId>;
}

/// A strategy that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy '{name}'; known are {}", STRATEGIES.join(", "))]
pub struct UnknownStrategy {
    pub name: String,
}

/// Names of all strategies.
pub const STRATEGIES: [&str; 15] = [
    "auto",
    "dfs",
    "bfs",
    "random-input",
    "random-path",
    "generational",
    "cfg-directed",
    "rp-md2u",
    "pps",
    "fitness",
    "pps+fitness",
    "sdgs",
    "cpgs",
    "chaining",
    "directed",
];

/// What users may set of strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrategyOptions {
    /// How many levels predictive path search looks ahead.
    pub pps_depth: u32,
}

impl Default for StrategyOptions {
    fn default() -> Self {
        Self { pps_depth: 3 }
    }
}

/// The strategy with this name.
pub fn strategy_named(
    name: &str,
    options: &StrategyOptions,
) -> Result<Box<dyn Strategy + Send>, UnknownStrategy> {
    Ok(match name {
        "dfs" => Box::new(dfs::DepthFirst::default()),
        "bfs" => Box::new(bfs::BreadthFirst::default()),
        "random-input" => Box::new(random_input::RandomInput),
        "random-path" => Box::new(random_path::RandomPath::default()),
        "cfg-directed" => Box::new(cfg_directed::CfgDirected::default()),
        "rp-md2u" => Box::new(rp_md2u::RandomPathAndNearest::default()),
        "pps" => Box::new(pps::PredictivePathSearch::new(options.pps_depth)),
        "fitness" => Box::new(fitness::Fitness::default()),
        "pps+fitness" => Box::new(pps_fitness::PredictiveAndFitness::new(options.pps_depth)),
        "auto" => Box::new(auto::Auto::new(options.pps_depth)),
        "sdgs" => Box::new(guided::Guided::new(Guidance::Ends)),
        "cpgs" => Box::new(guided::Guided::new(Guidance::CutPoints)),
        "chaining" => Box::new(chaining::Chaining::new(options.pps_depth)),
        "directed" => Box::new(directed::Directed::new(options.pps_depth)),
        "generational" => Box::new(generational::Generational::default()),
        _ => return Err(UnknownStrategy { name: name.to_owned() }),
    })
}

#[cfg(test)]
mod conformance;
