//! Which inputs did the adviser give?
//!
//! They are run before the search goes on, in their order, each once.

use std::collections::{BTreeSet, VecDeque};

use model::input::Input;

use crate::campaign::Provenance;
use crate::campaign::source::{Answer, CampaignView, Occasion, Proposal, Source};
use crate::rng::Rng;

#[derive(Default)]
pub(in crate::campaign) struct AdvisedInputs {
    left: VecDeque<Input>,
    known: BTreeSet<Input>,
}

impl AdvisedInputs {
    /// Takes up inputs that were not given before.
    pub(in crate::campaign) fn take_up(&mut self, inputs: Vec<Input>) {
        for input in inputs {
            if self.known.insert(input.clone()) {
                self.left.push_back(input);
            }
        }
    }
}

impl Source for AdvisedInputs {
    fn propose(&mut self, _: Occasion, _: &CampaignView<'_>, _: &mut Rng) -> Answer {
        match self.left.pop_front() {
            Some(input) => {
                let provenance = Provenance::Counterexample;
                Answer::Propose(Proposal::Run { input, provenance, symbolic: true })
            }
            None => Answer::Pass,
        }
    }
}
