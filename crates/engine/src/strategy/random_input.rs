//! Random inputs without solving: the baseline. It uses no candidates, and the campaign fills the gap with random inputs
//! until chance brings nothing new.

use super::{Strategy, View};
use crate::pool::CandidateId;
use crate::rng::Rng;

pub(super) struct RandomInput;

impl Strategy for RandomInput {
    fn name(&self) -> &'static str {
        "random-input"
    }

    fn uses_candidates(&self) -> bool {
        false
    }

    fn add(&mut self, _: CandidateId, _: &View<'_>) {}

    fn next(&mut self, _: &View<'_>, _: &mut Rng) -> Option<CandidateId> {
        None
    }
}
