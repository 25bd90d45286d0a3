//! What did earlier campaigns find?
//!
//! Their inputs are run before all others, in their order.

use std::collections::VecDeque;

use crate::campaign::source::{Answer, CampaignView, Occasion, Proposal, Source};
use crate::campaign::{GivenInput, GivenPlace};
use crate::rng::Rng;

pub(in crate::campaign) struct ResumedInputs {
    left: VecDeque<GivenInput>,
}

impl ResumedInputs {
    pub(super) fn new(given: &[GivenInput]) -> Self {
        let is_resumed = |given: &&GivenInput| given.place == GivenPlace::BeforeBudget;
        Self { left: given.iter().filter(is_resumed).cloned().collect() }
    }

    /// How many have not been proposed.
    pub(in crate::campaign) fn n_left(&self) -> usize {
        self.left.len()
    }
}

impl Source for ResumedInputs {
    fn propose(&mut self, _: Occasion, _: &CampaignView<'_>, _: &mut Rng) -> Answer {
        match self.left.pop_front() {
            Some(GivenInput { input, provenance, .. }) => {
                Answer::Propose(Proposal::Run { input, provenance, symbolic: true })
            }
            None => Answer::Pass,
        }
    }
}
