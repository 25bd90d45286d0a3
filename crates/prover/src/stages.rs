//! Which engines look at goals, in which order, and with how much of the effort?
//!
//! Method: what decides soon comes first, and inputs before invariants, because a goal that has an input needs no proof. What needs
//! no assumption comes before what begins with the initial values of globals; of a whole program they are no assumption, and the
//! states that it reaches decide most. Each stage gets a part of the effort that the ones before it left.

use crate::candidates::Richness;
use crate::plan::{Engine, Method};

/// A part of the work.
pub(crate) struct Stage {
    pub(crate) work: Work,
    /// It gets one of so many parts of the effort that is left.
    pub(crate) parts: u64,
}

/// What decides most goals gets one of so many parts of what is left; the others get as much as each other.
const PARTS_OF_FIRST: u64 = 3;

#[derive(Debug)]
pub(crate) enum Work {
    Inputs,
    Proofs(Method),
}

impl Method {
    pub(crate) fn engine(self) -> Engine {
        match self {
            Self::LoopFree | Self::Patience => Engine::LoopFree,
            Self::KInduction => Engine::KInduction,
            Self::Houdini(_) => Engine::Houdini,
            Self::Unrolled => Engine::Unrolled,
            Self::Cegar => Engine::Cegar,
            Self::Pdr => Engine::Pdr,
            Self::States => Engine::States,
        }
    }

    /// What it says of goals that it had enough effort for.
    pub(crate) fn found_nothing(self) -> &'static str {
        match self {
            Self::LoopFree | Self::Patience => "the conditions on the way to it do not exclude it",
            Self::KInduction => "no induction over a few passes of its loops shows it",
            Self::Houdini(_) => "no invariant that excludes it was found",
            Self::Unrolled => "no bound of its loops was found",
            Self::Cegar => "no predicates that exclude it were found",
            Self::Pdr => "no states that exclude it were found",
            Self::States => "the states that are reached do not exclude it, or are too many",
        }
    }

    /// Whether it looks at goals of several functions together.
    pub(crate) fn takes_all(self) -> bool {
        !matches!(self, Self::KInduction | Self::Cegar | Self::Unrolled | Self::Patience)
    }

    /// Whether it needs to know where everything begins.
    pub(crate) fn lists_states(self) -> bool {
        matches!(self, Self::Cegar | Self::Pdr | Self::States)
    }

    /// Whether it looks at calls of a function within itself where they are inlined.
    pub(crate) fn follows_recursion(self) -> bool {
        matches!(self, Self::LoopFree | Self::Unrolled | Self::Patience)
    }

    /// Whether it gives up soon where it does not help.
    pub(crate) fn is_quick(self) -> bool {
        matches!(self, Self::LoopFree | Self::KInduction)
    }
}

/// What is done in which order; `is_program` when runs begin with `main`.
pub(crate) fn stages(engine: Engine, is_program: bool) -> Vec<Stage> {
    use Method::{Cegar, Houdini, KInduction, LoopFree, Patience, Pdr, States, Unrolled};
    let proofs: &[Method] = match engine {
        Engine::LoopFree => &[LoopFree],
        Engine::KInduction => &[LoopFree, KInduction],
        Engine::Houdini => &[LoopFree, Houdini(Richness::Plain), Houdini(Richness::Conditional)],
        Engine::Unrolled => &[LoopFree, Unrolled],
        Engine::Cegar => &[LoopFree, Cegar],
        Engine::Pdr => &[LoopFree, Pdr],
        Engine::States => &[LoopFree, States],
        Engine::Bounded => &[],
        Engine::Auto if is_program => &[
            States,
            LoopFree,
            KInduction,
            Houdini(Richness::Plain),
            Unrolled,
            Pdr,
            Houdini(Richness::Conditional),
            Cegar,
            Patience,
        ],
        Engine::Auto => &[
            LoopFree,
            KInduction,
            Houdini(Richness::Plain),
            // begins with the initial values of globals: what needs no such assumption comes before
            States,
            Unrolled,
            Pdr,
            Houdini(Richness::Conditional),
            Cegar,
            Patience,
        ],
    };
    let mut work: Vec<Work> = proofs.iter().map(|method| Work::Proofs(*method)).collect();
    match engine {
        Engine::Bounded => work.push(Work::Inputs),
        Engine::Auto => work.insert(2, Work::Inputs),
        Engine::LoopFree
        | Engine::KInduction
        | Engine::Houdini
        | Engine::Unrolled
        | Engine::Cegar
        | Engine::Pdr
        | Engine::States => {}
    }
    let n_stages = work.len();
    let parts = |at: usize, work: &Work| {
        let n_left = (n_stages - at) as u64;
        match work {
            // it keeps within bounds of its own, and where it helps, it decides nearly all
            Work::Proofs(States) if is_program => 1,
            Work::Proofs(method) if method.is_quick() || *method == States => n_left.min(PARTS_OF_FIRST),
            Work::Inputs => n_left.min(PARTS_OF_FIRST),
            Work::Proofs(_) => n_left,
        }
    };
    work.into_iter().enumerate().map(|(at, work)| Stage { parts: parts(at, &work), work }).collect()
}
