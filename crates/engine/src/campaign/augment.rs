//! How are tests that are there already augmented? The factors of directed test-suite augmentation, as options.

use model::invocation::InvocationShape;

/// What is varied between techniques of augmentation (directed test-suite augmentation, section 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Augment {
    pub order: TargetOrder,
    pub reuse: Reuse,
    pub generator: Generator,
    /// Conditions of a path that are negated for a target: the last one that leads away from it, and those before.
    pub negations: u32,
    /// Generations for a target.
    pub generations: u32,
    /// Whether the search goes on when nothing of this helps any more.
    pub searches: bool,
    /// The structure of a whole program's input.
    pub shape: Option<InvocationShape>,
}

/// In which order are targets taken up?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetOrder {
    /// What comes first in control flow comes first.
    #[default]
    DepthFirst,
    Random,
}

/// From which tests are new ones made?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    Existing,
    #[default]
    ExistingAndNew,
}

/// How are new tests made?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// Conditions of paths are negated and solved.
    Concolic,
    /// Populations of tests are crossed and mutated.
    Genetic,
    /// The first until it finds nothing more, then the second, in turns.
    #[default]
    Hybrid,
}
