//! Where does the work of a campaign come from, and who is asked first?
//!
//! Each source answers for one kind of work. The lists below say in which order they are asked for the next piece of it, and
//! why; the first proposal wins. A source that stands in a list twice may be asked in turn, when it decides itself whether
//! it is time, and as a last resort, when it gives what it has.

mod advised;
mod augmentation;
mod bounds;
mod chaser;
mod first;
mod given;
mod growth;
mod mutation;
mod pinned;
mod random;
mod retries;
mod room;
mod strategy;
mod target_queue;

use std::sync::Arc;

use coverage::Coverage;
use model::Program;

use super::source::{Answer, CampaignView, News, Occasion, Source};
use super::{CampaignOptions, GivenPlace};
use crate::branch_distance::OpenBranches;
use crate::rng::Rng;
use advised::AdvisedInputs;
use augmentation::Augmentation;
use bounds::BoundsQueries;
use first::FirstInputs;
use given::ResumedInputs;
use growth::Growth;
use mutation::Mutation;
use pinned::PinnedAlternatives;
use random::RandomInputs;
use retries::RetryQueue;
use room::Room;
pub(super) use strategy::StrategySource;
pub use target_queue::Search;
pub(super) use target_queue::TargetQueue;

/// Names a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Resumed,
    Advised,
    Augmentation,
    First,
    Random,
    Room,
    Growth,
    Mutation,
    Bounds,
    Strategy,
    Pinned,
    Retries,
}

/// Before the budget begins: an earlier campaign has paid for these.
pub(super) const BEFORE_BUDGET: &[(Name, Occasion)] = &[(Name::Resumed, Occasion::InTurn)];

/// When the adviser gave inputs: it has paid for these.
pub(super) const ADVISED: &[(Name, Occasion)] = &[(Name::Advised, Occasion::InTurn)];

/// Without a search: what shows which cells there are.
pub(super) const BEGINNING: &[(Name, Occasion)] =
    &[(Name::First, Occasion::InTurn), (Name::Random, Occasion::InTurn)];

/// While goals are open and tests that are there already are augmented.
pub(super) const AUGMENT: &[(Name, Occasion)] = &[(Name::Augmentation, Occasion::InTurn)];

/// The same when the search goes on behind it.
const AUGMENT_AND_SEARCH: &[(Name, Occasion)] = &[
    // first of all: what it makes is like the tests that are there
    (Name::Augmentation, Occasion::InTurn),
    // behind it as without it; nothing is to be begun
    (Name::Room, Occasion::InTurn),
    (Name::Growth, Occasion::InTurn),
    (Name::Mutation, Occasion::InTurn),
    (Name::Bounds, Occasion::InTurn),
    (Name::Strategy, Occasion::InTurn),
    (Name::Random, Occasion::LastResort),
    (Name::Growth, Occasion::LastResort),
    (Name::Pinned, Occasion::LastResort),
    (Name::Retries, Occasion::LastResort),
    (Name::Bounds, Occasion::LastResort),
    (Name::Mutation, Occasion::LastResort),
];

/// While goals are open.
pub(super) const SEARCH: &[(Name, Occasion)] = &[
    // before anything has run, it is not known which cells there are, and there is no path to leave
    (Name::First, Occasion::InTurn),
    // second, so that the search begins with two different paths
    (Name::Random, Occasion::InTurn),
    // before the search: one run for each that covered something, whose candidates the search then has
    (Name::Room, Occasion::InTurn),
    // before the search: it asks for a turn only when the search has covered nothing new for long
    (Name::Growth, Occasion::InTurn),
    // before the search: it spends only what the search has earned for it
    (Name::Mutation, Occasion::InTurn),
    // before the search, now and then: no criterion asks for it, but it should not wait for the end
    (Name::Bounds, Occasion::InTurn),
    // the search proper
    (Name::Strategy, Occasion::InTurn),
    // behind the search: only where the strategy uses no candidates do random inputs take its place
    (Name::Random, Occasion::LastResort),
    // first of what is left: more room opens paths that no candidate leads to
    (Name::Growth, Occasion::LastResort),
    // next: other values at pins are cheap to solve, though most repeat a path
    (Name::Pinned, Occasion::LastResort),
    // behind those: queries that timed out are the most expensive ones
    (Name::Retries, Occasion::LastResort),
    // behind everything that may cover a goal
    (Name::Bounds, Occasion::LastResort),
    // last: without other work nothing more is earned, so what is left is spent
    (Name::Mutation, Occasion::LastResort),
];

/// When all goals are covered.
pub(super) const ALL_COVERED: &[(Name, Occasion)] = &[
    // a function without goals should have a test, too
    (Name::First, Occasion::InTurn),
    (Name::Random, Occasion::InTurn),
    // all that is left to find out is whether accesses can go out of bounds
    (Name::Bounds, Occasion::LastResort),
];

/// The sources of a campaign.
pub(super) struct Sources<'a> {
    pub(super) resumed: ResumedInputs,
    pub(super) advised: AdvisedInputs,
    augmentation: Option<Augmentation>,
    first: FirstInputs,
    random: RandomInputs,
    room: Option<Room>,
    growth: Growth,
    mutation: Option<Mutation>,
    pub(super) bounds: BoundsQueries,
    pub(super) strategy: StrategySource<'a>,
    pub(super) pinned: PinnedAlternatives,
    pub(super) retries: RetryQueue,
}

impl<'a> Sources<'a> {
    pub(super) fn new(
        program: &Program,
        options: &CampaignOptions,
        mutates: bool,
        strategy: StrategySource<'a>,
    ) -> Self {
        let has_first = options.given.iter().any(|given| given.place == GivenPlace::First);
        Self {
            resumed: ResumedInputs::new(&options.given),
            advised: AdvisedInputs::default(),
            augmentation: options.augment.as_ref().map(|augment| Augmentation::new(program, augment)),
            first: FirstInputs::new(&options.given),
            random: RandomInputs::new(!has_first, !strategy.uses_candidates()),
            room: strategy.uses_candidates().then(|| options.invocation.as_ref().map(Room::new)).flatten(),
            growth: Growth::default(),
            mutation: mutates.then(|| Mutation::new(program, options.invocation.as_ref())),
            bounds: BoundsQueries::default(),
            strategy,
            pinned: PinnedAlternatives::default(),
            retries: RetryQueue::new(options.solver_effort, options.solver_time),
        }
    }

    /// The order for what is covered so far.
    pub(super) fn order(&self, coverage: &Coverage) -> &'static [(Name, Occasion)] {
        match &self.augmentation {
            _ if coverage.is_complete() => ALL_COVERED,
            None => SEARCH,
            Some(augmentation) if augmentation.searches() => AUGMENT_AND_SEARCH,
            Some(_) => AUGMENT,
        }
    }

    /// The directions that runs are measured for at the moment, when a source says so.
    pub(super) fn watched(&self) -> Option<Arc<OpenBranches>> {
        self.augmentation.as_ref().and_then(Augmentation::watched)
    }

    /// The first answer of sources in this order that do not pass. The last resorts are left out when no worker is idle: what is
    /// in flight may lead to something better.
    pub(super) fn ask(
        &mut self,
        order: &[(Name, Occasion)],
        has_idle_workers: bool,
        view: &CampaignView<'_>,
        rng: &mut Rng,
    ) -> Answer {
        let is_asked = |occasion: Occasion| match occasion {
            Occasion::InTurn => true,
            Occasion::LastResort => has_idle_workers,
        };
        for (name, occasion) in order.iter().filter(|(_, occasion)| is_asked(*occasion)) {
            match self.source(*name).propose(*occasion, view, rng) {
                Answer::Pass => {}
                answer @ (Answer::Propose(_) | Answer::AskAgain | Answer::Wait) => return answer,
            }
        }
        Answer::Pass
    }

    /// Tells all sources what came of work.
    pub(super) fn tell(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        for name in [
            Name::Resumed,
            Name::Advised,
            Name::Augmentation,
            Name::First,
            Name::Random,
            Name::Room,
            Name::Growth,
            Name::Mutation,
            Name::Bounds,
            Name::Strategy,
            Name::Pinned,
            Name::Retries,
        ] {
            self.source(name).heard(news, view);
        }
    }

    fn source(&mut self, name: Name) -> &mut dyn Source {
        match name {
            Name::Resumed => &mut self.resumed,
            Name::Advised => &mut self.advised,
            Name::Augmentation => &mut self.augmentation,
            Name::First => &mut self.first,
            Name::Random => &mut self.random,
            Name::Room => &mut self.room,
            Name::Growth => &mut self.growth,
            Name::Mutation => &mut self.mutation,
            Name::Bounds => &mut self.bounds,
            Name::Strategy => &mut self.strategy,
            Name::Pinned => &mut self.pinned,
            Name::Retries => &mut self.retries,
        }
    }
}

/// A source that a campaign may do without.
impl<S: Source> Source for Option<S> {
    fn propose(&mut self, occasion: Occasion, view: &CampaignView<'_>, rng: &mut Rng) -> Answer {
        self.as_mut().map_or(Answer::Pass, |source| source.propose(occasion, view, rng))
    }

    fn heard(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        if let Some(source) = self {
            source.heard(news, view);
        }
    }
}

#[cfg(test)]
mod tests;
