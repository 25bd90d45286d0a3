//! What did earlier campaigns find?
//!
//! Their inputs are run before all others, in their order.

use std::collections::VecDeque;

use crate::campaign::source::{Answer, CampaignView, Occasion, Proposal, Source};
use crate::campaign::{GivenInput, GivenPlace};
use crate::rng::Rng;

pub(in crate::campaign) struct ResumedInputs {
    left: VecDeque<GivenInput>,
    n_given: usize,
}

impl ResumedInputs {
    pub(super) fn new(given: &[GivenInput]) -> Self {
        let is_resumed = |given: &&GivenInput| given.place == GivenPlace::BeforeBudget;
        let left: VecDeque<GivenInput> = given.iter().filter(is_resumed).cloned().collect();
        Self { n_given: left.len(), left }
    }

    /// How many there are, whether or not they have been proposed.
    pub(in crate::campaign) fn n_given(&self) -> usize {
        self.n_given
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
