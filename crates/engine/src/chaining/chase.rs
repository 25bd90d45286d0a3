//! The search for one branch direction that runs reach and do not take: event sequences, the runs that follow them, and what came of
//! each.
//!
//! Method: the first sequence is ⟨entry, direction⟩. A sequence is followed from the run that passes most of it, by changing outcomes
//! of that run as [`super::plan`] says; a run that gets further is followed next. Where a problem stands in the way that no change of
//! the run helps, the definitions that may decide it make longer sequences. They are tried in this order: fewest events first, where an
//! event counts more whose definition promises nothing (its constant does not decide the problem) or that stands elsewhere than right
//! before its problem; a definition whose constant decides the problem otherwise is refuted without a run. A sequence that was refuted is
//! not tried again, and has no children but those its problem made. Limit: runs that do not help, sequences and events are bounded; what a bound
//! cut off is not called saturated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use analysis::Place;
use analysis::chaining::{Chaining, Happening, Problem, Promise, SearchTree, Sequence};
use model::walk::{Choice, Site};
use tracing::debug;

use super::plan::{Lore, Move, Task, passed};
use super::record::Followed;
use super::values::Change;
use crate::pool::RunId;
use crate::trace::PathHash;

/// Sequences of one direction, and events of a sequence.
const MOST_SEQUENCES: usize = 96;
const MOST_EVENTS: usize = 16;
/// Runs that may not help, and queries that may have no answer, while a sequence is followed.
const MOST_FRUITLESS: u32 = 6;
const MOST_UNSOLVED: u32 = 48;
/// Runs for one direction, and how many it has before others have a turn; four times as many in each further turn.
const MOST_RUNS: u32 = 160;
const RUNS_PER_TURN: u32 = 10;
/// So often in a row the same change helps before it is made everywhere at once.
const ALIKE_AFTER: [u32; 3] = [2, 8, 32];
/// Runs from which a sequence is followed.
const MOST_BASES: usize = 3;

/// What to do for a chase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The path of this run is to be read.
    Read(RunId),
    /// These outcomes of a run are to be changed.
    Change(RunId, Vec<Change>),
    /// The second run came of the first by one change that helps again and again: what was changed in its input is to be changed
    /// alike everywhere.
    Alike(RunId, RunId),
    /// It had as many runs as it may have now.
    Pause,
    /// There is nothing more to try.
    Over,
}

/// Why a sequence was given up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrailEnd {
    /// Its definition decides the problem as it should not be.
    Refuted(Happening),
    /// Runs did not pass this problem.
    Problem(Happening),
    /// Nothing could be changed on the way to this event.
    Stuck(Happening),
    /// As many runs as it may have did not help on the way to this event.
    Cut(Happening),
    /// The search ended on the way to this event.
    Unfinished(Happening),
}

/// A sequence that was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    pub sequence: Sequence,
    pub end: TrailEnd,
    /// The last of its events that a run passed.
    pub passed: usize,
    /// The runs that were made for it.
    pub n_runs: u32,
}

/// What came of the event sequences for a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chased {
    pub n_sequences: usize,
    /// In the order in which the sequences were made.
    pub trails: Vec<Trail>,
    pub n_runs: u32,
    /// Whether every sequence was tried to its end.
    pub is_saturated: bool,
}

impl Chased {
    /// The directions that sequences ended at, the most frequent first.
    pub fn directions(&self) -> Vec<(Site, Choice)> {
        let mut counts: BTreeMap<(Site, Choice), usize> = BTreeMap::new();
        for trail in &self.trails {
            let (TrailEnd::Refuted(at)
            | TrailEnd::Problem(at)
            | TrailEnd::Stuck(at)
            | TrailEnd::Cut(at)
            | TrailEnd::Unfinished(at)) = &trail.end;
            if let Happening::Taken(site, choice) = at {
                *counts.entry((*site, *choice)).or_default() += 1;
            }
        }
        let mut directions: Vec<_> = counts.into_iter().collect();
        directions.sort_by_key(|(direction, n)| (Reverse(*n), *direction));
        directions.into_iter().map(|(direction, _)| direction).collect()
    }
}

/// Paths that were read.
pub(crate) type Records = BTreeMap<RunId, Followed>;

/// The order of sequences: what it costs, then age.
type Rank = (usize, usize);

pub(crate) struct Chase {
    pub goal: (Site, Choice),
    tree: SearchTree,
    /// By sequence: the problem that made it, its detours, the run to follow it from first.
    made: Vec<Made>,
    open: BTreeSet<(Rank, usize)>,
    expanded: BTreeSet<(usize, Happening)>,
    present: Option<Following>,
    ends: BTreeMap<usize, TrailEnd>,
    /// By sequence: how far runs got with it, and how many there were.
    followed: BTreeMap<usize, (usize, u32)>,
    n_runs: u32,
    /// Runs after which others have a turn.
    pauses_at: u32,
    is_cut: bool,
    /// A run got further, since that was asked.
    came_nearer: bool,
}

struct Made {
    problem: Option<Problem>,
    detours: usize,
    base: Option<RunId>,
}

/// A sequence that is followed.
struct Following {
    sequence: usize,
    bases: VecDeque<RunId>,
    base: Option<RunId>,
    /// How far the base gets: events, then changes that are missing.
    best: (usize, Reverse<u32>),
    avoid: BTreeSet<PathHash>,
    /// What is planned for the base while nothing is avoided.
    planned: Option<Move>,
    trying: Option<PathHash>,
    /// The one change that is tried, if it is one, and how often in a row it helped.
    repeated: (Option<(Site, Choice)>, u32),
    /// The run that came of what was tried.
    newest: Option<RunId>,
    n_fruitless: u32,
    n_unsolved: u32,
}

impl Chase {
    pub fn new(entry: Place, place: Place, goal: (Site, Choice)) -> Self {
        let root = Sequence::to_direction(entry, place, goal.0, goal.1);
        Self {
            goal,
            tree: SearchTree::new(root),
            made: vec![Made { problem: None, detours: 0, base: None }],
            open: [((0, 0), 0)].into(),
            expanded: BTreeSet::new(),
            present: None,
            ends: BTreeMap::new(),
            followed: BTreeMap::new(),
            n_runs: 0,
            pauses_at: RUNS_PER_TURN,
            is_cut: false,
            came_nearer: false,
        }
    }

    /// Whether a run got further since this was asked.
    pub fn came_nearer(&mut self) -> bool {
        std::mem::take(&mut self.came_nearer)
    }

    /// Begins another turn.
    pub fn resume(&mut self) {
        self.pauses_at = self.n_runs + 4 * self.pauses_at;
    }

    /// Hears what came of a change: the run, if there was one.
    pub fn answered(&mut self, run: Option<RunId>) {
        let Some(following) = &mut self.present else { return };
        match run {
            Some(run) => {
                self.n_runs += 1;
                self.followed.entry(following.sequence).or_default().1 += 1;
                following.newest = Some(run);
            }
            None => {
                following.n_unsolved += 1;
                following.avoid.extend(following.trying.take());
            }
        }
    }

    /// Hears that the path of a run is not to be had.
    pub fn unreadable(&mut self, run: RunId) {
        let Some(following) = &mut self.present else { return };
        following.newest = following.newest.filter(|newest| *newest != run);
        following.base = following.base.filter(|base| *base != run);
    }

    /// What to do next. `records` has the paths that were read, `runs` those that may be followed.
    pub fn next(&mut self, lore: &mut Lore<'_>, records: &Records, runs: &[RunId]) -> Wish {
        loop {
            if self.n_runs >= MOST_RUNS {
                self.is_cut = true;
                return Wish::Over;
            }
            // not while it is to be seen what came of the last one
            let is_waiting = self.present.as_ref().is_some_and(|present| present.newest.is_some());
            if self.n_runs >= self.pauses_at && !is_waiting {
                return Wish::Pause;
            }
            let Some(mut following) = self.present.take() else {
                let Some((_, sequence)) = self.open.pop_first() else { return Wish::Over };
                self.present = Some(self.follow(sequence, runs));
                continue;
            };
            let step = self.step(&mut following, lore, records);
            debug!(goal = ?self.goal, sequence = following.sequence, base = ?following.base, ?step, "chained");
            match step {
                Step::Wish(wish) => {
                    self.present = Some(following);
                    return wish;
                }
                Step::Again => self.present = Some(following),
                Step::End(end) => _ = self.ends.insert(following.sequence, end),
            }
        }
    }

    /// What came of it.
    pub fn ended(&self) -> Chased {
        let followed = |number: usize| self.followed.get(&number).copied().unwrap_or_default();
        let trail = |number: usize, end: TrailEnd| {
            let (passed, n_runs) = followed(number);
            Trail { sequence: self.tree.node(number).sequence.clone(), end, passed, n_runs }
        };
        let present = self.present.as_ref().map(|present| {
            let events = &self.tree.node(present.sequence).sequence.events;
            let next = events.get(followed(present.sequence).0 + 1);
            let next = next.map_or(self.goal_happening(), |next| next.happening);
            trail(present.sequence, TrailEnd::Unfinished(next))
        });
        let ended = self
            .ends
            .iter()
            .filter(|(number, _)| self.present.as_ref().is_none_or(|present| present.sequence != **number));
        let trails = ended.map(|(number, end)| trail(*number, end.clone())).chain(present).collect();
        let is_saturated = !self.is_cut && self.open.is_empty() && self.present.is_none();
        Chased { n_sequences: self.tree.n_sequences(), trails, n_runs: self.n_runs, is_saturated }
    }

    fn follow(&self, sequence: usize, runs: &[RunId]) -> Following {
        let mut bases: VecDeque<RunId> = self.made[sequence].base.into_iter().collect();
        let others = runs.iter().filter(|run| Some(**run) != self.made[sequence].base);
        bases.extend(others.take(MOST_BASES - bases.len()));
        Following {
            sequence,
            bases,
            base: None,
            best: (0, Reverse(u32::MAX)),
            avoid: BTreeSet::new(),
            planned: None,
            trying: None,
            repeated: (None, 0),
            newest: None,
            n_fruitless: 0,
            n_unsolved: 0,
        }
    }

    fn step(&mut self, following: &mut Following, lore: &mut Lore<'_>, records: &Records) -> Step {
        let number = following.sequence;
        if let Some(run) = following.newest {
            let Some(followed) = records.get(&run) else { return Step::Wish(Wish::Read(run)) };
            following.newest = None;
            let (score, planned) = self.score(number, followed, lore);
            if score > following.best {
                let before = following.base;
                (following.base, following.best, following.planned) = (Some(run), score, Some(planned));
                following.n_fruitless = 0;
                self.came_nearer = true;
                following.repeated.1 += 1;
                if let (Some(before), Some(_)) = (before, following.trying.take())
                    && following.repeated.0.is_some()
                    && ALIKE_AFTER.contains(&following.repeated.1)
                {
                    return Step::Wish(Wish::Alike(before, run));
                }
            } else {
                following.n_fruitless += 1;
                following.avoid.extend(following.trying);
            }
            following.trying = None;
        }
        let Some(base) = following.base.or_else(|| following.bases.pop_front()) else {
            return Step::End(self.ends.remove(&number).unwrap_or(TrailEnd::Stuck(self.goal_happening())));
        };
        let Some(followed) = records.get(&base) else {
            following.base = Some(base);
            return Step::Wish(Wish::Read(base));
        };
        if following.base.is_none() || following.best.1 == Reverse(u32::MAX) {
            let (score, planned) = self.score(number, followed, lore);
            (following.base, following.best, following.planned) = (Some(base), score, Some(planned));
        }
        let node = self.tree.node(number);
        let event = passed(&followed.record, &node.sequence.events).event;
        let furthest = &mut self.followed.entry(number).or_default().0;
        *furthest = event.max(*furthest);
        let next = node.sequence.events.get(event + 1).map_or(Happening::Reached, |next| next.happening);
        if following.n_fruitless >= MOST_FRUITLESS || following.n_unsolved >= MOST_UNSOLVED {
            self.is_cut = true;
            return Step::End(TrailEnd::Cut(next));
        }
        let planned = following.planned.take().filter(|_| following.avoid.is_empty());
        match planned.unwrap_or_else(|| lore.plan(self.task(number, followed, &following.avoid))) {
            Move::Change(changes, _) => {
                let first = changes[0];
                let only = (changes.len() == 1).then_some((first.site, first.choice));
                if only != following.repeated.0 {
                    following.repeated = (only, 0);
                }
                following.trying =
                    Some(followed.record.outcomes[first.outcome as usize].path_with(first.choice));
                Step::Wish(Wish::Change(base, changes))
            }
            Move::Problem(event, problem) => {
                let happening = problem.happening;
                self.expand(number, event, problem, base, lore);
                Step::End(TrailEnd::Problem(happening))
            }
            // no run that is longer or shorter changes that
            Move::Excluded if following.avoid.is_empty() => Step::End(TrailEnd::Refuted(next)),
            Move::Stuck | Move::Excluded => {
                self.ends.insert(number, TrailEnd::Stuck(next));
                following.base = None;
                following.best = (0, Reverse(u32::MAX));
                Step::Again
            }
        }
    }

    fn goal_happening(&self) -> Happening {
        Happening::Taken(self.goal.0, self.goal.1)
    }

    fn task<'t>(&'t self, number: usize, followed: &'t Followed, avoid: &'t BTreeSet<PathHash>) -> Task<'t> {
        let node = self.tree.node(number);
        let problem = self.made[number].problem.as_ref();
        let Followed { record, distances } = followed;
        Task { record, sequence: &node.sequence, made: node.extension, problem, distances, avoid }
    }

    /// How far a run gets with a sequence.
    fn score(
        &self,
        number: usize,
        followed: &Followed,
        lore: &mut Lore<'_>,
    ) -> ((usize, Reverse<u32>), Move) {
        let event = passed(&followed.record, &self.tree.node(number).sequence.events).event;
        let planned = lore.plan(self.task(number, followed, &BTreeSet::new()));
        let missing = match planned {
            Move::Change(_, cost) => cost,
            Move::Problem(..) | Move::Stuck | Move::Excluded => u32::MAX - 1,
        };
        ((event, Reverse(missing)), planned)
    }

    /// Makes the sequences that get round a problem.
    fn expand(&mut self, number: usize, event: usize, problem: Problem, base: RunId, lore: &mut Lore<'_>) {
        let n_events = self.tree.node(number).sequence.events.len();
        if n_events + 2 > MOST_EVENTS || self.tree.n_sequences() >= MOST_SEQUENCES {
            self.is_cut = true;
            return;
        }
        if !self.expanded.insert((number, problem.happening)) {
            return;
        }
        let chaining = Chaining::new(lore.program, lore.graph, lore.flow);
        let new = self.tree.expand(&chaining, number, event, &problem);
        debug!(number, event, ?problem.happening, ?new, "extended");
        let detours = self.made[number].detours;
        let latest: BTreeMap<_, usize> = new
            .clone()
            .filter_map(|child| self.tree.node(child).extension)
            .fold(BTreeMap::new(), |mut latest, made| {
                let known = latest.entry(made.definition).or_insert(made.defined);
                *known = made.defined.max(*known);
                latest
            });
        for child in new {
            let made = self.tree.node(child).extension.expect("only the root was not made of another");
            let is_latest = latest[&made.definition] == made.defined;
            let promise = match made.promise {
                Promise::Solves => 0,
                Promise::Open => 1,
                Promise::Fails => 0,
            };
            let detours = detours + promise + if is_latest { 0 } else { 3 };
            let of_child = Made { problem: Some(problem.clone()), detours, base: Some(base) };
            self.made.push(of_child);
            if made.promise == Promise::Fails {
                self.ends.insert(child, TrailEnd::Refuted(problem.happening));
            } else {
                let n_events = self.tree.node(child).sequence.events.len();
                self.open.insert(((n_events + 2 * detours, child), child));
            }
        }
    }
}

/// What came of a look at a sequence.
#[derive(Debug)]
enum Step {
    Wish(Wish),
    Again,
    End(TrailEnd),
}
