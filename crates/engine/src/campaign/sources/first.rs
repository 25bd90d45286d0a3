//! Which inputs does the search begin with?
//!
//! The first is the user's, or zeros, which read well; then come others from outside that are to be run after it. Each is
//! run by itself: what comes next may depend on the cells that it asks for.

use std::collections::VecDeque;

use model::input::Input;

use crate::campaign::source::{Answer, CampaignView, News, Occasion, Proposal, Source};
use crate::campaign::{Enums, GivenInput, GivenPlace, Provenance};
use crate::rng::Rng;

pub(super) struct FirstInputs {
    left: VecDeque<FirstInput>,
    is_waiting: bool,
}

enum FirstInput {
    Zeros,
    Given(Input, Provenance),
}

impl FirstInputs {
    pub(super) fn new(given: &[GivenInput]) -> Self {
        let at = |place: GivenPlace| {
            let given = given.iter().filter(move |given| given.place == place);
            given.map(|given| FirstInput::Given(given.input.clone(), given.provenance))
        };
        let mut left: VecDeque<FirstInput> = at(GivenPlace::First).collect();
        if left.is_empty() {
            left.push_back(FirstInput::Zeros);
        }
        left.extend(at(GivenPlace::AfterFirst));
        Self { left, is_waiting: false }
    }
}

impl Source for FirstInputs {
    fn propose(&mut self, _: Occasion, view: &CampaignView<'_>, _: &mut Rng) -> Answer {
        if self.is_waiting {
            return Answer::Wait;
        }
        if view.is_complete_from_the_start() {
            self.left.clear();
        }
        let Some(first) = self.left.pop_front() else { return Answer::Pass };
        self.is_waiting = true;
        let (input, provenance) = match first {
            FirstInput::Zeros => (zeros(view.enums), Provenance::Zero),
            FirstInput::Given(input, provenance) => (input, provenance),
        };
        Answer::Propose(Proposal::Run { input, provenance, symbolic: true })
    }

    fn heard(&mut self, news: &News<'_>, _: &CampaignView<'_>) {
        match news {
            News::Worked { .. } => self.is_waiting = false,
            News::Tried { .. }
            | News::Unsolved { .. }
            | News::Ran(_)
            | News::Read { .. }
            | News::Collected { .. } => {}
        }
    }
}

/// Zero in every cell, except for enums without it.
fn zeros(enums: &Enums) -> Input {
    let mut input = Input::default();
    enums.begin(&mut input);
    input
}
