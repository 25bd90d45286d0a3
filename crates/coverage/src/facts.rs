//! What did the runs and queries of a campaign show about each place? Gathered as they come, to explain what stays open.

use std::collections::{BTreeMap, BTreeSet};

use model::walk::{Choice, Site};
use model::{BlockId, ConditionId, FunctionId};

use crate::Marking;
use crate::observe::Observations;
use crate::reason::Lost;

/// What a campaign has seen.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// By function: the number of its first block, as a marking counts them.
    first_block: Vec<usize>,
    /// By block: how many of its instructions were begun at most, by how many runs, and by how many with expressions.
    begun: Vec<u32>,
    n_runs: Vec<u32>,
    n_expressed: Vec<u32>,
    /// By condition: the outcomes it had, and whether they ever depended on the input.
    outcomes: Vec<[bool; 2]>,
    symbolic_conditions: Vec<bool>,
    /// Branches and switches that depended on the input.
    symbolic_blocks: BTreeSet<(FunctionId, BlockId)>,
    ways: BTreeMap<(Site, Choice), Way>,
    /// Sites that gave symbolic values to code that is not followed, and places where runs went on with concrete values,
    /// each with the number of runs.
    unfollowed: BTreeMap<u32, u64>,
    /// Runs whose path is not known.
    n_unread: u64,
    pinned: BTreeMap<Lost, u64>,
}

/// What came of the candidates for one direction of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    pub unsatisfiable: u64,
    pub unsolved: u64,
    pub diverged: u64,
    pub troubled: u64,
    pub waiting: u64,
    pub left_out: u64,
    /// What was given up for the inputs whose runs diverged.
    pub given_up: BTreeSet<Lost>,
    /// The limit that a parent had reached of which the solver said that no input takes this way.
    pub limit: Option<String>,
    /// The event sequences that were followed for it.
    pub sequences: Option<Sequences>,
}

/// Event sequences that were followed for a direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequences {
    pub n: u64,
    /// Whether all of them were tried to their end, and none helped.
    pub is_saturated: bool,
    /// Where sequences ended, the most frequent first: directions that runs reached and did not take.
    pub ends: Vec<(Site, Choice)>,
}

impl Facts {
    /// Nothing yet, of the program that the marking is of.
    pub fn new(marking: &Marking<'_>) -> Self {
        let program = marking.program();
        let functions = (0..program.functions.len()).map(FunctionId::new);
        Self {
            first_block: functions.map(|function| marking.block(function, BlockId::new(0))).collect(),
            begun: vec![0; marking.n_blocks()],
            n_runs: vec![0; marking.n_blocks()],
            n_expressed: vec![0; marking.n_blocks()],
            outcomes: vec![[false; 2]; program.conditions.len()],
            symbolic_conditions: vec![false; program.conditions.len()],
            ..Self::default()
        }
    }

    /// Takes in a run.
    pub fn ran(&mut self, observations: &Observations, has_expressions: bool) {
        let begun = observations.begun().iter().enumerate();
        for (block, now) in begun.filter(|(_, now)| **now > 0) {
            self.begun[block] = self.begun[block].max(*now);
            self.n_runs[block] += 1;
            self.n_expressed[block] += u32::from(has_expressions);
        }
        for (known, condition) in self.outcomes.iter_mut().zip((0..).map(ConditionId)) {
            let seen = observations.outcomes(condition);
            *known = [known[0] | seen[0], known[1] | seen[1]];
        }
    }

    /// A run whose path is not known.
    pub fn unread(&mut self) {
        self.n_unread += 1;
    }

    pub(crate) fn n_unread(&self) -> u64 {
        self.n_unread
    }

    /// A site depended on the input.
    pub fn depends(&mut self, site: Site) {
        match site {
            Site::Condition(condition) => self.symbolic_conditions[condition.index()] = true,
            Site::Branch(function, block) | Site::Switch(function, block) => {
                self.symbolic_blocks.insert((function, block));
            }
        }
    }

    /// What is known of a direction, to be added to.
    pub fn way(&mut self, site: Site, choice: Choice) -> &mut Way {
        self.ways.entry((site, choice)).or_default()
    }

    /// A run gave symbolic values to code that is not followed.
    pub fn unfollowed(&mut self, site: u32) {
        *self.unfollowed.entry(site).or_default() += 1;
    }

    /// A run went on with a concrete value.
    pub fn pinned(&mut self, place: Lost) {
        *self.pinned.entry(place).or_default() += 1;
    }

    /// The sites of unfollowed code that was given symbolic values, with the number of runs.
    pub fn all_unfollowed(&self) -> &BTreeMap<u32, u64> {
        &self.unfollowed
    }

    /// The places where runs went on with concrete values, with the number of runs.
    pub fn all_pinned(&self) -> &BTreeMap<Lost, u64> {
        &self.pinned
    }

    pub(crate) fn known(&self, site: Site, choice: Choice) -> Option<&Way> {
        self.ways.get(&(site, choice))
    }

    pub(crate) fn is_symbolic(&self, site: Site) -> bool {
        match site {
            Site::Condition(condition) => self.symbolic_conditions[condition.index()],
            Site::Branch(function, block) | Site::Switch(function, block) => {
                self.symbolic_blocks.contains(&(function, block))
            }
        }
    }

    /// Whether a condition had this outcome; `None` for what is no condition.
    pub fn was_taken(&self, site: Site, choice: Choice) -> Option<bool> {
        match (site, choice) {
            (Site::Condition(condition), Choice::Outcome(value)) => {
                Some(self.outcomes[condition.index()][usize::from(value)])
            }
            (Site::Condition(_), Choice::Case(_) | Choice::Default)
            | (Site::Branch(..) | Site::Switch(..), _) => None,
        }
    }

    /// How many instructions of a block were begun.
    pub(crate) fn begun(&self, function: FunctionId, block: BlockId) -> u32 {
        self.begun[self.first_block[function.index()] + block.index()]
    }

    /// Runs that came to a block, and how many of them had expressions.
    pub(crate) fn n_runs(&self, function: FunctionId, block: BlockId) -> (u64, u64) {
        let number = self.first_block[function.index()] + block.index();
        (self.n_runs[number].into(), self.n_expressed[number].into())
    }

    /// Whether values were lost in code that is not followed. Other values of pins elsewhere are tried.
    pub fn is_blind(&self) -> bool {
        let at_site = |place: &Lost| matches!(place, Lost::Site(_));
        !self.unfollowed.is_empty() || self.pinned.keys().any(at_site)
    }
}
