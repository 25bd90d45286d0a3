//! Search that is guided to one def-use pair at a time (data flow testing by DSE and model checking, section III).
//!
//! `cpgs`, cut-point-guided search: the candidate whose path has passed most cut points of the pair, then the one from which
//! the next is nearest. `sdgs`, shortest-distance-guided search: the same with the definition and the use alone. Candidates
//! from which the pair cannot be covered wait for another one. Without a pair, for goals of other criteria, the candidate is
//! picked that is nearest to something open.
//!
//! Method: nearest by the graph may lead nowhere, and there are exponentially many paths that go there again. So `cpgs` counts
//! how often it has tried each branch with each number of points passed, and every second pick is among those tried least, by
//! powers of two: each that was never tried, in the paper's order; then those tried once, then two or three times, and so
//! on. Nothing waits forever, and where the paper's order is right it costs twice the picks at most. Among candidates of one
//! branch that are equally near, the shortest and the newest take turns: some pairs need few steps, others many. Limit: a
//! branch is a site and a choice; other values, or another caller, do not make it another one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use model::walk::Site;

use super::{Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;
use crate::target::{Guidance, Rank};
use crate::trace::Choice;

pub(super) struct Guided {
    guidance: Guidance,
    /// All that may be open.
    candidates: BTreeSet<CandidateId>,
    /// Those that may cover the present pair.
    kinds: BTreeMap<KindId, Kind>,
    /// The best candidate of each kind that has any, in the paper's order; the last is the best of all.
    order: BTreeSet<(Key, KindId)>,
    /// The same, those that were tried least last.
    rested: BTreeSet<(Reverse<u32>, Key, KindId)>,
    n_picks: u32,
}

/// Points passed and the branch that is taken; none for a pin.
type KindId = (u32, Option<(Site, Choice)>);

/// Candidates that count as the same try.
#[derive(Default)]
struct Kind {
    /// By distance, then the shorter path, then the older.
    by_length: BTreeSet<(u32, u32, CandidateId)>,
    /// By distance, then the newer.
    by_age: BTreeSet<(u32, Reverse<CandidateId>)>,
    n_tries: u32,
    /// Under which its best is in the orders, and how tired the search was of it.
    key: Option<(u32, Key)>,
}

/// Its rank, and among equals the shorter path, then the older.
type Key = (Rank, Reverse<(u32, CandidateId)>);

impl Kind {
    /// The best, with its distance.
    fn best(&self) -> Option<(u32, CandidateId)> {
        if self.n_tries.is_multiple_of(2) {
            self.by_length.first().map(|(distance, _, candidate)| (*distance, *candidate))
        } else {
            self.by_age.first().map(|(distance, Reverse(candidate))| (*distance, *candidate))
        }
    }
}

impl Guided {
    pub(super) fn new(guidance: Guidance) -> Self {
        Self {
            guidance,
            candidates: BTreeSet::new(),
            kinds: BTreeMap::new(),
            order: BTreeSet::new(),
            rested: BTreeSet::new(),
            n_picks: 0,
        }
    }

    fn push(&mut self, id: CandidateId, view: &View<'_>) {
        let Some((n_passed, Reverse(distance))) = rank(id, view) else { return };
        let candidate = view.pool.candidate(id);
        let kind_id = (n_passed, candidate.branch());
        let kind = self.kinds.entry(kind_id).or_default();
        kind.by_length.insert((distance, candidate.step, id));
        kind.by_age.insert((distance, Reverse(id)));
        // behind the best of its kind it can wait until that has been picked
        if kind.best() == Some((distance, id)) {
            self.place(kind_id, view);
        }
    }

    /// Takes out the best candidate of a kind and counts the try.
    fn take(&mut self, kind_id: KindId, view: &View<'_>) -> Option<CandidateId> {
        let kind = self.kinds.get_mut(&kind_id)?;
        let (distance, id) = kind.best()?;
        kind.by_length.remove(&(distance, view.pool.candidate(id).step, id));
        kind.by_age.remove(&(distance, Reverse(id)));
        let is_open = self.candidates.remove(&id) && view.pool.is_open(id);
        // the baseline of the paper's comparison repeats itself
        kind.n_tries += u32::from(is_open && self.guidance == Guidance::CutPoints);
        self.place(kind_id, view);
        is_open.then_some(id)
    }

    /// Puts a kind where its best candidate belongs.
    fn place(&mut self, kind_id: KindId, view: &View<'_>) {
        let Some(kind) = self.kinds.get_mut(&kind_id) else { return };
        if let Some((weariness, key)) = kind.key.take() {
            self.order.remove(&(key, kind_id));
            self.rested.remove(&(Reverse(weariness), key, kind_id));
        }
        if let Some((distance, id)) = kind.best() {
            let step = view.pool.candidate(id).step;
            let key = ((kind_id.0, Reverse(distance)), Reverse((step, id)));
            let weariness = weariness(kind.n_tries);
            kind.key = Some((weariness, key));
            self.order.insert((key, kind_id));
            self.rested.insert((Reverse(weariness), key, kind_id));
        }
    }
}

impl Strategy for Guided {
    fn name(&self) -> &'static str {
        match self.guidance {
            Guidance::CutPoints => "cpgs",
            Guidance::Ends => "sdgs",
        }
    }

    fn guidance(&self) -> Option<Guidance> {
        Some(self.guidance)
    }

    fn aim(&mut self, view: &View<'_>) {
        self.kinds.clear();
        self.order.clear();
        self.rested.clear();
        self.n_picks = 0;
        self.candidates.retain(|candidate| view.pool.is_open(*candidate));
        for candidate in self.candidates.clone() {
            self.push(candidate, view);
        }
    }

    fn add(&mut self, candidate: CandidateId, view: &View<'_>) {
        self.candidates.insert(candidate);
        self.push(candidate, view);
    }

    fn next(&mut self, view: &View<'_>, _: &mut Rng) -> Option<CandidateId> {
        self.n_picks += 1;
        let first = if self.n_picks.is_multiple_of(2) {
            |this: &Self| this.rested.last().map(|(_, _, kind)| *kind)
        } else {
            |this: &Self| this.order.last().map(|(_, kind)| *kind)
        };
        while let Some(kind_id) = first(self) {
            if let Some(candidate) = self.take(kind_id, view) {
                return Some(candidate);
            }
        }
        None
    }
}

/// How good a candidate is; `None` when it is of no use for the present pair.
fn rank(id: CandidateId, view: &View<'_>) -> Option<Rank> {
    match view.target {
        Some(target) => target.rank(id, view.pool, view.structure),
        None => {
            let distance = view.structure.distance(view.pool.candidate(id).outlook);
            Some((0, Reverse(distance.unwrap_or(u32::MAX))))
        }
    }
}

/// Grows by one as often as the tries double: 0, 1, 2–3, 4–7 and so on.
fn weariness(n_tries: u32) -> u32 {
    u32::BITS - n_tries.leading_zeros()
}
