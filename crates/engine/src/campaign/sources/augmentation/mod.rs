//! What do the tests that are there lead to?
//!
//! Method (directed test-suite augmentation, Algorithm 1): the directions that cover something open are targets, in depth-first
//! order on the graph or at random. For each, a generator makes inputs from the tests: [`concolic`] negates conditions on
//! their paths, [`genetic`] crosses and mutates them. A round goes through all targets; rounds are repeated until one
//! covers nothing. New tests are reused if so asked. The hybrid of section 6.3 lets the concolic generator reuse new tests until it is
//! dry, then the genetic one works from existing tests in depth-first order; whenever it covers something, the concolic one has its
//! turn again. Unlike the paper's, a generator stops when its target is covered, and a negation is tried once.

mod chromosome;
mod concolic;
mod fitness;
mod genetic;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use analysis::approach::{Callers, callers, depth_first_order};
use analysis::chaining::ControlDependence;
use analysis::icfg::NodeId;
use model::Program;
use model::walk::{Choice, Site};
use wire::Cell;

use crate::branch_distance::OpenBranches;
use crate::campaign::source::{Answer, CampaignView, News, Occasion, RunNews, Source};
use crate::campaign::{Augment, Generator, Reuse, TargetOrder};
use crate::pool::RunId;
use crate::rng::Rng;
use concolic::Concolic;
use fitness::Reached;
use genetic::Genetic;

use super::mutation::mutate::Vocabulary;

type Direction = (Site, Choice);

/// Makes inputs from tests.
pub(super) struct Augmentation {
    options: Augment,
    vocabulary: Vocabulary,
    /// Tests that inputs may be made from, in the order in which they were run.
    tests: Vec<KnownTest>,
    /// The run that was heard of last, until its number is known.
    heard: Option<KnownTest>,
    ground: Option<Ground>,
    concolic: Option<Round<Concolic>>,
    genetic: Option<Round<Genetic>>,
    /// Jobs that were proposed and are not done.
    n_in_flight: usize,
    /// Goals covered when nothing was left to try.
    over_at: Option<usize>,
    /// The targets when so many goals were covered.
    open: (usize, BTreeSet<Direction>),
}

/// A test that inputs may be made from.
pub(super) struct KnownTest {
    run: RunId,
    /// It was there already.
    is_existing: bool,
    reached: Reached,
    /// In the order in which its run asked for them; of functions.
    cells: Vec<Cell>,
}

/// What does not change while a program is augmented.
struct Ground {
    order: BTreeMap<NodeId, usize>,
    callers: Callers,
    dependence: ControlDependence,
}

/// One way through all targets.
struct Round<G> {
    targets: VecDeque<Direction>,
    present: Option<(Direction, G)>,
    /// Goals covered when it began, and when its present target was taken up.
    n_covered: usize,
    n_covered_before: usize,
}

impl<G> Round<G> {
    fn new(targets: VecDeque<Direction>, n_covered: usize) -> Self {
        Self { targets, present: None, n_covered, n_covered_before: n_covered }
    }
}

impl Augmentation {
    pub(super) fn new(program: &Program, options: &Augment) -> Self {
        Self {
            options: options.clone(),
            vocabulary: Vocabulary::of(program),
            tests: Vec::new(),
            heard: None,
            ground: None,
            concolic: None,
            genetic: None,
            n_in_flight: 0,
            over_at: None,
            open: (usize::MAX, BTreeSet::new()),
        }
    }

    /// The directions that runs are measured for at the moment.
    pub(super) fn watched(&self) -> Option<Arc<OpenBranches>> {
        let (_, genetic) = self.genetic.as_ref()?.present.as_ref()?;
        Some(genetic.watched())
    }

    /// Whether the search is to go on behind it.
    pub(super) fn searches(&self) -> bool {
        self.options.searches
    }

    fn uses_new(&self, generator: Generator) -> bool {
        match (self.options.generator, generator) {
            (Generator::Hybrid, Generator::Concolic) => true,
            (Generator::Hybrid, Generator::Genetic) => false,
            (Generator::Concolic | Generator::Genetic | Generator::Hybrid, _) => {
                self.options.reuse == Reuse::ExistingAndNew
            }
        }
    }

    /// The targets, in the order in which they are taken up.
    fn targets(&mut self, view: &CampaignView<'_>, rng: &mut Rng) -> VecDeque<Direction> {
        self.look_for_open(view);
        let graph = view.structure.icfg();
        let ground = self.ground.get_or_insert_with(|| Ground {
            order: view.program.root.map(|root| depth_first_order(graph, root)).unwrap_or_default(),
            callers: callers(graph),
            dependence: ControlDependence::default(),
        });
        let place = |(site, choice): &Direction| {
            let direction = graph.direction(*site, *choice)?;
            let sources = &graph.directions[direction.index()].sources;
            sources.iter().filter_map(|source| ground.order.get(source)).min().copied()
        };
        // nothing leads to what the root does not reach
        let reached = self.open.1.iter().filter_map(|target| Some((place(target)?, *target)));
        let mut targets: Vec<(usize, Direction)> = reached.collect();
        targets.sort();
        let mut targets: Vec<Direction> = targets.into_iter().map(|(_, target)| target).collect();
        let is_random =
            self.options.order == TargetOrder::Random && self.options.generator != Generator::Hybrid;
        if is_random {
            for last in (1..targets.len()).rev() {
                targets.swap(last, rng.below(last + 1));
            }
        }
        targets.into()
    }

    fn look_for_open(&mut self, view: &CampaignView<'_>) {
        let n_covered = view.coverage.n_covered();
        if self.open.0 != n_covered {
            self.open = (n_covered, view.structure.targets(view.coverage));
        }
    }

    /// The next job of the concolic generator; nothing when all its rounds are over.
    fn next_concolic(&mut self, view: &CampaignView<'_>, rng: &mut Rng) -> Option<Answer> {
        loop {
            let n_covered = view.coverage.n_covered();
            let Some(round) = &mut self.concolic else { return None };
            if let Some((target, concolic)) = &mut round.present {
                if self.open.1.contains(target)
                    && let Some(proposal) = concolic.next(view)
                {
                    return Some(Answer::Propose(proposal));
                }
                round.present = None;
            }
            if let Some(target) = round.targets.pop_front() {
                if self.open.1.contains(&target) {
                    let (uses_new, negations) = (self.uses_new(Generator::Concolic), self.options.negations);
                    let runs =
                        self.tests.iter().filter(|test| uses_new || test.is_existing).map(|test| test.run);
                    let concolic = Concolic::new(target, negations, runs, view);
                    if let Some(round) = &mut self.concolic {
                        round.present = Some((target, concolic));
                    }
                }
                continue;
            }
            if self.n_in_flight > 0 {
                return Some(Answer::Wait);
            }
            let was_useful = n_covered > round.n_covered;
            self.concolic = None;
            if was_useful {
                let targets = self.targets(view, rng);
                self.concolic = Some(Round::new(targets, n_covered));
            }
        }
    }

    /// The same of the genetic one. The hybrid leaves it when it covers something.
    fn next_genetic(&mut self, view: &CampaignView<'_>, rng: &mut Rng) -> Option<Answer> {
        loop {
            let n_covered = view.coverage.n_covered();
            let Some(round) = &mut self.genetic else { return None };
            if let Some((target, genetic)) = &mut round.present {
                let is_open = self.open.1.contains(target);
                let limit = self.options.generations;
                let shape = self.options.shape.as_ref();
                match genetic.next(is_open, limit, shape, &self.vocabulary, view, rng) {
                    Some(proposal) => return Some(Answer::Propose(proposal)),
                    None if self.n_in_flight > 0 => return Some(Answer::Wait),
                    None if genetic.is_over(is_open, limit) => {
                        round.present = None;
                        let is_useful = n_covered > round.n_covered_before;
                        if is_useful && self.options.generator == Generator::Hybrid {
                            let targets = self.targets(view, rng);
                            self.concolic = Some(Round::new(targets, n_covered));
                            return Some(Answer::AskAgain);
                        }
                    }
                    None => {}
                }
                continue;
            }
            if let Some(target) = round.targets.pop_front() {
                round.n_covered_before = n_covered;
                if self.open.1.contains(&target) {
                    let genetic = self.begin_genetic(target, view, rng);
                    if let Some(round) = &mut self.genetic {
                        round.present = genetic.map(|genetic| (target, genetic));
                    }
                }
                continue;
            }
            if self.n_in_flight > 0 {
                return Some(Answer::Wait);
            }
            let was_useful = n_covered > round.n_covered;
            self.genetic = None;
            if was_useful {
                let targets = self.targets(view, rng);
                self.genetic = Some(Round::new(targets, n_covered));
            }
        }
    }

    fn begin_genetic(
        &mut self,
        target: Direction,
        view: &CampaignView<'_>,
        rng: &mut Rng,
    ) -> Option<Genetic> {
        let uses_new = self.uses_new(Generator::Genetic);
        let graph = view.structure.icfg();
        let direction = graph.direction(target.0, target.1)?;
        let ground = self.ground.as_mut()?;
        let approach =
            analysis::approach::Approach::to(direction, graph, &mut ground.dependence, &ground.callers);
        let tests = self.tests.iter().filter(|test| uses_new || test.is_existing);
        let shape = self.options.shape.as_ref();
        Genetic::new(approach, tests, shape, &self.vocabulary, view, rng)
    }

    /// Begins with the first generator.
    fn begin(&mut self, view: &CampaignView<'_>, rng: &mut Rng) {
        let n_covered = view.coverage.n_covered();
        let targets = self.targets(view, rng);
        match self.options.generator {
            Generator::Concolic => self.concolic = Some(Round::new(targets, n_covered)),
            Generator::Genetic => self.genetic = Some(Round::new(targets, n_covered)),
            Generator::Hybrid => {
                self.concolic = Some(Round::new(targets.clone(), n_covered));
                self.genetic = Some(Round::new(targets, n_covered));
            }
        }
    }

    fn take_in(&mut self, run: &RunNews<'_>, view: &CampaignView<'_>) {
        let is_existing = run.provenance.imported().is_some();
        let reached = || Reached::of(run.observations, view);
        if let Some((_, genetic)) = self.genetic.as_mut().and_then(|round| round.present.as_mut()) {
            genetic.heard(run, &reached(), self.options.shape.as_ref());
        }
        self.heard = (is_existing || run.covers_new).then(|| KnownTest {
            run: RunId(0),
            is_existing,
            reached: reached(),
            cells: if self.options.shape.is_none() { run.cells.to_vec() } else { Vec::new() },
        });
    }
}

impl Source for Augmentation {
    fn propose(&mut self, _: Occasion, view: &CampaignView<'_>, rng: &mut Rng) -> Answer {
        self.look_for_open(view);
        let n_covered = view.coverage.n_covered();
        if self.over_at.is_some_and(|before| before == n_covered) {
            return Answer::Pass;
        }
        if self.concolic.is_none() && self.genetic.is_none() {
            self.begin(view, rng);
        }
        let answer = self.next_concolic(view, rng).or_else(|| self.next_genetic(view, rng));
        match answer {
            Some(Answer::Propose(proposal)) => {
                self.n_in_flight += 1;
                self.over_at = None;
                Answer::Propose(proposal)
            }
            Some(answer @ (Answer::AskAgain | Answer::Wait | Answer::Pass)) => answer,
            None => {
                self.over_at = Some(n_covered);
                Answer::Pass
            }
        }
    }

    fn heard(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        match news {
            News::Worked { .. } => self.n_in_flight = self.n_in_flight.saturating_sub(1),
            News::Ran(run) => self.take_in(run, view),
            News::Collected { run, .. } => {
                if let Some(test) = self.heard.take() {
                    self.tests.push(KnownTest { run: *run, ..test });
                }
            }
            News::Tried { .. } | News::Unsolved { .. } | News::Read { .. } => {}
        }
    }
}
