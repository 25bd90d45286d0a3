//! Which def-use pair is the search guided to now, and how near is each candidate to covering it?
//!
//! Method (data flow testing by DSE and model checking, section III): a pair has cut points, which every path passes that
//! covers it, in order. For each run with open candidates, [`Progress`] knows how many of them its path had passed before each
//! step. A candidate is better the more it has passed, then the nearer the next one is behind its flip, by
//! instructions along the shortest path. Where the variable was defined anew the definition is to be passed again, and a
//! candidate from which it cannot be is dropped for this pair. Limit: paths of runs are kept up to a bound on their size; of
//! the others it is only known where they flip, and which points can be reached from there.

mod progress;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use analysis::Place;
use analysis::cut_points::Dominance;
use analysis::dataflow::{DataFlow, Pair};
use analysis::distance::Towards;
use coverage::GoalId;
use coverage::structure::Structure;
use model::Program;

use crate::pool::{CandidateId, Pool, RunId};
pub(crate) use progress::{Follower, Progress};

/// What of a pair leads the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guidance {
    /// All its cut points, one after the other.
    CutPoints,
    /// Its definition, then its use.
    Ends,
}

/// How good a candidate is for a target: cut points passed, then the distance to the next one.
pub type Rank = (u32, Reverse<u32>);

/// A pair, and what is known about covering it.
pub struct Target {
    pub goal: GoalId,
    pub pair: Pair,
    points: Vec<Point>,
    /// Which of the points is the definition.
    definition: usize,
    /// Whether a definition in between sends the search back.
    prunes: bool,
    progress: BTreeMap<RunId, Progress>,
}

struct Point {
    place: Place,
    /// Made when it is needed.
    towards: RefCell<Option<Towards>>,
}

/// A pair by which a goal can be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetPair {
    pub goal: GoalId,
    pub pair: Pair,
}

impl Target {
    /// The target for a pair; `None` when no path covers it.
    pub fn new(
        target: TargetPair,
        flow: &DataFlow,
        dominance: &Dominance<'_>,
        guidance: Guidance,
        prunes: bool,
    ) -> Option<Self> {
        let TargetPair { goal, pair } = target;
        let (defined, used) = (*flow.definition_places(pair).first()?, *flow.use_places(pair).first()?);
        let (mut places, mut definition) = (vec![defined, used], 0);
        if guidance == Guidance::CutPoints {
            let cut_points = flow.value_flow(dominance, pair.definition)?.cut_points(used)?;
            (places, definition) = (cut_points.places, cut_points.definition);
        }
        let point = |place: Place| Point { place, towards: RefCell::new(None) };
        let points = places.into_iter().map(point).collect();
        Some(Self { goal, pair, points, definition, prunes, progress: BTreeMap::new() })
    }

    /// What is passed in order; the last is the use.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        self.points.iter().map(|point| point.place)
    }

    /// Which of the places is the definition.
    pub fn definition(&self) -> usize {
        self.definition
    }

    /// Follows a path for what it passes.
    pub(crate) fn follower<'t>(&'t self, program: &'t Program, flow: &'t DataFlow) -> Follower<'t> {
        let places: Vec<Place> = self.places().collect();
        Follower::new(program, flow, self.pair.definition, &places, self.definition, self.prunes)
    }

    /// Takes in what a run passed.
    pub(crate) fn add(&mut self, run: RunId, progress: Progress) {
        self.progress.insert(run, progress);
    }

    /// How good a candidate is; `None` when no path behind its flip covers the pair.
    pub fn rank(&self, id: CandidateId, pool: &Pool, structure: &Structure<'_>) -> Option<Rank> {
        let candidate = pool.candidate(id);
        let distance = |point: &Point| {
            let mut towards = point.towards.borrow_mut();
            let towards = towards.get_or_insert_with(|| structure.towards(point.place));
            structure.distance_towards(towards, candidate.outlook).map(Reverse)
        };
        match self.progress.get(&candidate.run) {
            Some(progress) => {
                let n_passed = progress.before(candidate.step);
                Some((n_passed, distance(self.points.get(n_passed as usize)?)?))
            }
            // behind those of which more is known
            None => Some((0, self.points.iter().find_map(distance)?)),
        }
    }
}
