//! Random inputs without solving: the baseline. It ends only when the campaign does.

use super::{Pick, Strategy, View};
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

    fn next(&mut self, _: &View<'_>, _: &mut Rng) -> Option<Pick> {
        Some(Pick::RandomInput)
    }
}
