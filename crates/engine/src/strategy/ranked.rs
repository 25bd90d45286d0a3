//! Candidates by a rank that their outlook gives and that can only fall as more is covered.
//!
//! Method: candidates of one outlook share a rank, so the heap holds outlooks, each with its best candidate. An entry is
//! looked at again when it comes up: if its rank has fallen it goes back, else nothing else can be better.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use coverage::structure::OutlookId;

use super::View;
use crate::pool::CandidateId;

/// Outlooks whose best candidate may be passed over.
const MAX_PASSED: usize = 8;

pub(super) struct Ranked<R> {
    heap: BinaryHeap<Entry<R>>,
    /// By outlook: its candidates, the shortest prefix first.
    waiting: Vec<BTreeSet<PrefixOrder>>,
    /// By outlook: its rank, and the version of the structure that gave it.
    ranks: Vec<Option<(u64, R)>>,
}

/// Steps before the flip, then age.
type PrefixOrder = (u32, CandidateId);
type Entry<R> = (R, Reverse<PrefixOrder>, OutlookId);

impl<R> Default for Ranked<R>
where
    R: Ord,
{
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), waiting: Vec::new(), ranks: Vec::new() }
    }
}

impl<R: Ord + Copy> Ranked<R> {
    /// Takes in a candidate; `rank` is asked for its outlook's rank.
    pub(super) fn add(&mut self, id: CandidateId, view: &View<'_>, rank: impl Fn(OutlookId) -> R) {
        let candidate = view.pool.candidate(id);
        let index = candidate.outlook.index();
        if self.waiting.len() <= index {
            self.waiting.resize_with(index + 1, BTreeSet::new);
            self.ranks.resize(index + 1, None);
        }
        let place = (candidate.step, id);
        self.waiting[index].insert(place);
        // behind the best of its outlook it can wait until that has been picked
        if self.waiting[index].first() == Some(&place) {
            let rank = self.rank(candidate.outlook, view, rank);
            self.heap.push((rank, Reverse(place), candidate.outlook));
        }
    }

    fn rank(&mut self, outlook: OutlookId, view: &View<'_>, rank: impl Fn(OutlookId) -> R) -> R {
        let version = view.structure.version();
        let known = self.ranks[outlook.index()].filter(|(known, _)| *known == version);
        let rank = known.map_or_else(|| rank(outlook), |(_, rank)| rank);
        self.ranks[outlook.index()] = Some((version, rank));
        rank
    }

    /// The rank of the best candidate that is open.
    pub(super) fn peek(&mut self, view: &View<'_>, rank: impl Fn(OutlookId) -> R) -> Option<&R> {
        loop {
            let (old_rank, Reverse(old_place), outlook) = self.heap.pop()?;
            let waiting = &mut self.waiting[outlook.index()];
            while waiting.first().is_some_and(|(_, id)| !view.pool.is_open(*id)) {
                waiting.pop_first();
            }
            let Some(&place) = waiting.first() else { continue };
            let rank = self.rank(outlook, view, &rank);
            let has_fallen = (&rank, Reverse(place)) < (&old_rank, Reverse(old_place));
            self.heap.push((rank, Reverse(place), outlook));
            if !has_fallen {
                return self.heap.peek().map(|(rank, ..)| rank);
            }
        }
    }

    /// The best candidate that is open and welcome, among the best of the best outlooks.
    pub(super) fn find(
        &mut self,
        view: &View<'_>,
        rank: impl Fn(OutlookId) -> R,
        is_welcome: impl Fn(&R, CandidateId) -> bool,
    ) -> Option<(R, CandidateId)> {
        let mut passed = Vec::new();
        let mut found = None;
        while passed.len() < MAX_PASSED && found.is_none() {
            if self.peek(view, &rank).is_none() {
                break;
            }
            let Some(entry) = self.heap.pop() else { break };
            let (rank, Reverse((_, candidate)), _) = entry;
            found = is_welcome(&rank, candidate).then_some((rank, candidate));
            passed.push(entry);
        }
        self.heap.extend(passed);
        found
    }

    /// Takes out a candidate that was found.
    pub(super) fn take(&mut self, id: CandidateId, view: &View<'_>) {
        let candidate = view.pool.candidate(id);
        self.waiting[candidate.outlook.index()].remove(&(candidate.step, id));
    }

    /// Takes out the best candidate that is open; the shortest, then the oldest among equals.
    pub(super) fn pop(&mut self, view: &View<'_>, rank: impl Fn(OutlookId) -> R) -> Option<CandidateId> {
        self.peek(view, rank)?;
        let (rank, Reverse(place), outlook) = self.heap.pop()?;
        let waiting = &mut self.waiting[outlook.index()];
        waiting.remove(&place);
        if let Some(&next) = waiting.first() {
            self.heap.push((rank, Reverse(next), outlook));
        }
        Some(place.1)
    }
}
