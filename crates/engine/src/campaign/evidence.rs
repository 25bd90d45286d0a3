//! What do the jobs of a campaign say about goals that stay open? Counted as they are merged.

use std::collections::BTreeSet;

use coverage::{Facts, Lost, Marking};
use model::input::{Input, Key};
use model::walk::{Choice, Site};
use wire::CellKind;

use super::InputLimit;
use super::worker::{Ran, lost};
use crate::pool::{CandidateId, Pool};
use crate::trace::{Note, Trace};

/// What raises the limit of arrays that vary.
const ARRAY_LIMIT: &str = "--max-len";

pub(super) struct Evidence {
    pub(super) facts: Facts,
    /// Candidates that the solver gave up on, and has not answered since.
    unsolved: BTreeSet<CandidateId>,
    /// Sizes of arrays, with the largest that each may have.
    sizes: BTreeSet<(Key, u64)>,
}

impl Evidence {
    pub(super) fn new(marking: &Marking<'_>) -> Self {
        Self { facts: Facts::new(marking), unsolved: BTreeSet::new(), sizes: BTreeSet::new() }
    }

    /// Takes in the cells that a run asked for.
    pub(super) fn asked(&mut self, ran: &Ran) {
        for cell in &ran.cells {
            if let CellKind::Size { most } = cell.kind {
                self.sizes.insert((Key(cell.key), u64::from(most)));
            }
        }
    }

    /// Takes in the path of a run.
    pub(super) fn ran(&mut self, trace: &Trace, has_expressions: bool) {
        self.facts.ran(&trace.observations, has_expressions);
        trace.steps.iter().for_each(|step| self.facts.depends(step.site));
        trace.unfollowed.iter().for_each(|site| self.facts.unfollowed(*site));
        let pinned = trace.notes.iter().filter_map(|note| match note {
            Note::Pin { place, .. } => Some(lost(*place)),
            // other objects are tried, and sizes grow
            Note::Pointer { .. } | Note::Size { .. } => None,
            Note::Assume { .. } | Note::Prefer { .. } | Note::Bounds { .. } => None,
        });
        let pinned: BTreeSet<Lost> = pinned.collect();
        pinned.into_iter().for_each(|place| self.facts.pinned(place));
    }

    /// The run that was made for a direction went another way.
    pub(super) fn diverged(&mut self, (site, choice): (Site, Choice), given_up: &BTreeSet<Lost>) {
        let way = self.facts.way(site, choice);
        way.diverged += 1;
        way.given_up.extend(given_up);
    }

    /// No input takes a direction behind this prefix.
    pub(super) fn unsatisfiable(
        &mut self,
        (site, choice): (Site, Choice),
        parent: &Input,
        limits: &[InputLimit],
    ) {
        let value = |key: &Key| parent.values.get(key).copied();
        let is_full = |limit: &&InputLimit| {
            limit.cells.iter().any(|(key, most)| value(key) == Some(*most))
                || limit.texts.iter().any(|text| text.iter().all(|key| value(key).is_some_and(|c| c != 0)))
        };
        let of_array = || self.sizes.iter().any(|(key, most)| value(key) == Some(*most));
        let limit = limits.iter().find(is_full).map(|limit| limit.option.clone());
        let limit = limit.or_else(|| of_array().then(|| ARRAY_LIMIT.to_owned()));
        let way = self.facts.way(site, choice);
        way.unsatisfiable += 1;
        way.limit = way.limit.take().or(limit);
    }

    /// The solver gave up on a candidate, for now.
    pub(super) fn unsolved(&mut self, candidate: CandidateId) {
        self.unsolved.insert(candidate);
    }

    /// It answered.
    pub(super) fn answered(&mut self, candidate: CandidateId) {
        self.unsolved.remove(&candidate);
    }

    /// All of it, with what is left in the pool.
    pub(super) fn finish(mut self, pool: &Pool) -> Facts {
        for (site, choice) in pool.open_directions() {
            self.facts.way(site, choice).waiting += 1;
        }
        for ((site, choice), n) in pool.left_out_directions() {
            self.facts.way(*site, *choice).left_out += n;
        }
        for (site, choice) in self.unsolved.iter().filter_map(|id| pool.candidate(*id).branch()) {
            self.facts.way(site, choice).unsolved += 1;
        }
        self.facts
    }
}
