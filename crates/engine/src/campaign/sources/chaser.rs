//! Which branch is the problem, and what does chaining try for it?
//!
//! A direction that covers something open is a problem when runs come to its site and none takes it. The chaser takes one at a time,
//! those without candidates first, and follows event sequences for it ([`crate::chaining`]): it has paths of runs read, and
//! outcomes of them changed. What came of a direction is remembered; one that was not tried to its end is taken up again when more has been
//! covered. Data flow is computed when the first problem is there, and paths are read with addresses only then: other campaigns pay nothing.
//! Limit: paths are read again, one execution each, and kept up to a bound.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use analysis::Place;
use analysis::chaining::{Ahead, ControlDependence};
use analysis::dataflow::{DataFlow, DataFlowOptions};
use analysis::icfg::Icfg;
use model::Program;
use model::input::{Input, Key};
use model::walk::{Choice, Site};
use tracing::debug;
use wire::CellKind;

use crate::campaign::source::{Answer, CampaignView, News, Origin, Proposal};
use crate::campaign::worker::ChangedSteps;
use crate::chaining::{
    Change, Chase, Chased, Chases, Followed, Levels, Lore, Outlook, Problems, ProgramIndex, Reader, Record,
    Recorder, Records, Stores, Wish,
};
use crate::pool::RunId;
use crate::trace::{PathLog, Tracer};

/// Outcomes and definitions of paths that are kept.
const MOST_KEPT: usize = 1 << 21;
/// How often a direction is taken up.
const MOST_CHASES: u32 = 3;
/// Runs that a direction may be followed from.
const MOST_RUNS: usize = 4;

/// Steps of thought that take as long as a unit of effort.
const THOUGHT_PER_EFFORT: u64 = 256;

/// As much as so many runs of others take may be spent before anything came of it.
const FREE_RUNS: u64 = 64;
/// Cells that a change may change in order to be made everywhere.
const MOST_CHANGED: usize = 4;

/// What chasing may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// Effort before anything came of it, and again whenever something does.
    pub free: u64,
    /// So many hundredths of what all other work takes are added.
    pub percent: u64,
}

type Direction = (Site, Choice);

/// Chases directions.
pub(super) struct Chaser<'a> {
    program: &'a Program,
    allowance: Allowance,
    /// The effort of other work, and its own since it covered something new; both with what was thought for.
    earned: u64,
    /// The effort of runs of others, and how many there were.
    runs: (u64, u64),
    spent: u64,
    /// Steps of thought that were paid for.
    n_paid: u64,
    /// Made when it is needed.
    ground: Option<Ground<'a>>,
    records: Records,
    present: Option<Chase>,
    /// Those that wait for another turn, with the turns they had.
    paused: BTreeMap<Direction, (u32, Chase)>,
    n_turns: BTreeMap<Direction, u32>,
    /// What wants to be covered, by the structure's version.
    wanted: (u64, BTreeSet<Direction>),
    /// What is under way, and what came of it.
    asked: Option<Asked>,
    /// By direction: how often it was taken up, the version of the structure then, and what came of it.
    done: BTreeMap<Direction, (u32, u64, Chased)>,
    /// The structure's version when nothing was left.
    nothing_left: Option<u64>,
}

/// What paths are read by.
struct Ground<'a> {
    flow: Arc<DataFlow>,
    tracer: Tracer<'a>,
    dependence: ControlDependence,
    ahead: Ahead,
    levels: Levels,
    index: ProgramIndex,
    problems: RefCell<Problems>,
    stores: RefCell<Stores>,
    work: Cell<u64>,
}

/// A job of the chaser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Change { is_done: bool, run: Option<RunId>, has_run: bool },
    Read { run: RunId, is_done: bool },
}

impl<'a> Chaser<'a> {
    /// A chaser that may take so much.
    pub(super) fn new(program: &'a Program, allowance: Allowance) -> Self {
        Self {
            program,
            allowance,
            earned: 0,
            runs: (0, 0),
            spent: 0,
            n_paid: 0,
            paused: BTreeMap::new(),
            n_turns: BTreeMap::new(),
            wanted: (0, BTreeSet::new()),
            ground: None,
            records: Records::new(),
            present: None,
            asked: None,
            done: BTreeMap::new(),
            nothing_left: None,
        }
    }

    /// What to do next; nothing when no direction is left to be chased.
    pub(super) fn propose(&mut self, view: &CampaignView<'_>) -> Answer {
        match self.asked {
            Some(Asked::Change { is_done: false, .. } | Asked::Read { is_done: false, .. }) => {
                return Answer::Wait;
            }
            Some(Asked::Change { run, .. }) => self.present.iter_mut().for_each(|chase| chase.answered(run)),
            Some(Asked::Read { run, .. }) if !self.records.contains_key(&run) => {
                self.present.iter_mut().for_each(|chase| chase.unreadable(run));
            }
            Some(Asked::Read { .. }) | None => {}
        }
        self.asked = None;
        if !self.can_pay() {
            debug!(
                spent = self.spent,
                free = self.free(),
                earned = self.earned,
                "event sequences have to wait"
            );
            return Answer::Pass;
        }
        let version = view.structure.version();
        if self.present.is_none() && self.paused.is_empty() && self.nothing_left == Some(version) {
            return Answer::Pass;
        }
        if self.wanted.0 != version {
            self.wanted = (version, view.structure.targets(view.coverage));
        }
        loop {
            if let Some(chase) = self.present.take_if(|chase| !self.wanted.1.contains(&chase.goal)) {
                self.note(&chase, view);
            }
            if self.present.is_none() {
                self.present = self.choose(view);
            }
            let Some(mut chase) = self.present.take() else { return Answer::Pass };
            let runs: Vec<RunId> = self.runs_at(chase.goal, view);
            let ground = self.ground.get_or_insert_with(|| Ground::new(self.program, view.structure.icfg()));
            let wish = chase.next(&mut ground.lore(self.program, view), &self.records, &runs);
            let n_thought = ground.work.get();
            self.spent += (n_thought - self.n_paid) / THOUGHT_PER_EFFORT;
            self.n_paid += (n_thought - self.n_paid) / THOUGHT_PER_EFFORT * THOUGHT_PER_EFFORT;
            match wish {
                Wish::Over => self.note(&chase, view),
                Wish::Pause => {
                    let n_turns = self.n_turns.entry(chase.goal).or_default();
                    *n_turns += 1;
                    self.paused.insert(chase.goal, (*n_turns, chase));
                }
                Wish::Read(run) => {
                    self.present = Some(chase);
                    self.asked = Some(Asked::Read { run, is_done: false });
                    return Answer::Propose(Proposal::Read(run));
                }
                Wish::Alike(before, run) => match alike(before, run, view) {
                    Some(input) => {
                        self.present = Some(chase);
                        self.asked = Some(Asked::Change { is_done: false, run: None, has_run: false });
                        return Answer::Propose(Proposal::Alike(input));
                    }
                    None => {
                        chase.answered(None);
                        self.present = Some(chase);
                    }
                },
                Wish::Change(run, changes) => {
                    self.present = Some(chase);
                    self.asked = Some(Asked::Change { is_done: false, run: None, has_run: false });
                    let steps = changed_steps(&self.records[&run].record, &changes);
                    return Answer::Propose(Proposal::Change { run, steps });
                }
            }
            if !self.can_pay() {
                return Answer::Pass;
            }
        }
    }

    /// What may be spent before anything came of it: more where runs are long.
    fn free(&self) -> u64 {
        let of_runs = self.runs.0.checked_div(self.runs.1).unwrap_or(0) * FREE_RUNS;
        self.allowance.free.max(of_runs)
    }

    /// Whether it may go on.
    fn can_pay(&self) -> bool {
        self.spent <= self.free() + self.earned * self.allowance.percent / 100
    }

    /// Whether the run before the newest got further than those before it.
    pub(super) fn came_nearer(&mut self) -> bool {
        self.present.as_mut().is_some_and(Chase::came_nearer)
    }

    /// Whether a job is under way: what comes next depends on it.
    pub(super) fn is_busy(&self) -> bool {
        match self.asked {
            Some(Asked::Change { is_done, .. } | Asked::Read { is_done, .. }) => !is_done,
            None => false,
        }
    }

    /// Whether every direction that covers something open, and that runs come to without taking it, was tried to its end.
    pub(super) fn is_saturated(&self, view: &CampaignView<'_>) -> bool {
        let wanted = view.structure.targets(view.coverage);
        let mut reached = wanted.into_iter().filter(|goal| {
            view.facts.was_taken(goal.0, goal.1) != Some(true) && !self.runs_at(*goal, view).is_empty()
        });
        let is_done = |goal: Direction| {
            !self.paused.contains_key(&goal)
                && self.done.get(&goal).is_some_and(|(.., ended)| ended.is_saturated)
        };
        self.present.is_none() && reached.next().is_some_and(is_done) && reached.all(is_done)
    }

    /// What came of the directions that were chased.
    pub(super) fn ended(&self) -> Chases {
        let done = self.done.iter().map(|(goal, (.., ended))| (*goal, ended.clone()));
        let present = self.present.iter().chain(self.paused.values().map(|(_, chase)| chase));
        Chases {
            flow: self.ground.as_ref().map(|ground| Arc::clone(&ground.flow)),
            by_direction: done.chain(present.map(|chase| (chase.goal, chase.ended()))).collect(),
        }
    }

    pub(super) fn heard(&mut self, news: &News<'_>, view: &CampaignView<'_>) {
        match news {
            News::Worked { origin: Origin::Change | Origin::Read(_), effort, .. } => self.spent += effort,
            News::Worked { origin: Origin::Trial, effort, .. } => self.earned += effort,
            News::Worked { origin: Origin::Input | Origin::Candidate(_), effort, .. } => {
                self.earned += effort;
                self.runs = (self.runs.0 + effort, self.runs.1 + 1);
            }
            // it was worth what it took
            News::Ran(ran) if ran.origin == Origin::Change && ran.covers_new => {
                self.spent = self.spent.saturating_sub(self.free());
            }
            News::Ran(_)
            | News::Tried { .. }
            | News::Unsolved { .. }
            | News::Read { .. }
            | News::Collected { .. } => {}
        }
        match (news, &mut self.asked) {
            (News::Worked { origin: Origin::Change, .. }, Some(Asked::Change { is_done, .. })) => {
                *is_done = true
            }
            (News::Worked { origin: Origin::Read(_), .. }, Some(Asked::Read { is_done, .. })) => {
                *is_done = true
            }
            (News::Ran(ran), Some(Asked::Change { has_run, .. })) if ran.origin == Origin::Change => {
                *has_run = true;
            }
            (News::Collected { run: new, .. }, Some(Asked::Change { run, has_run: true, .. }))
                if run.is_none() =>
            {
                *run = Some(*new);
            }
            (News::Read { run, path }, Some(Asked::Read { .. })) => self.read(*run, path, view),
            _ => {}
        }
    }

    fn read(&mut self, run: RunId, path: &PathLog, view: &CampaignView<'_>) {
        let Some(ground) = &mut self.ground else { return };
        let (program, graph, flow) = (self.program, view.structure.icfg(), &*ground.flow);
        // a binary that logs no addresses does not say what pointers do
        let read = [&ground.tracer, view.tracer].into_iter().find_map(|tracer| {
            let (dependence, ahead) = (&mut ground.dependence, &mut ground.ahead);
            let reader = Reader { program, graph, flow, dependence, ahead };
            let mut recorder = Recorder::new(reader);
            let followed = tracer.follow_path(path, &mut recorder);
            debug!(?run, ?followed, "path read");
            followed.is_ok().then(|| recorder.finish())
        });
        if let Some(record) = read {
            let n_kept: usize = self.records.values().map(|followed| followed.record.size()).sum();
            if n_kept > MOST_KEPT {
                self.records.clear();
            }
            let distances = view.pool.run(run).distances.clone();
            self.records.insert(run, Followed { record, distances });
        }
    }

    fn note(&mut self, chase: &Chase, view: &CampaignView<'_>) {
        let n_before = self.done.get(&chase.goal).map_or(0, |(n, ..)| *n);
        self.done.insert(chase.goal, (n_before + 1, view.structure.version(), chase.ended()));
    }

    /// The next direction to chase, or one that had its turn before: those with the fewest turns first, then those without candidates.
    fn choose(&mut self, view: &CampaignView<'_>) -> Option<Chase> {
        let version = view.structure.version();
        let entry = Place::entry(self.program.root?);
        let with_candidates: BTreeSet<Direction> = view.pool.open_directions().collect();
        let wanted = &self.wanted.1;
        self.paused.retain(|goal, _| wanted.contains(goal));
        let may = |goal: &&Direction| {
            let is_new =
                self.done.get(goal).is_none_or(|(n, before, _)| *n < MOST_CHASES && *before != version);
            (self.paused.contains_key(goal) || is_new)
                && view.facts.was_taken(goal.0, goal.1) != Some(true)
                && !self.runs_at(**goal, view).is_empty()
        };
        let n_before = |goal: &Direction| match self.paused.get(goal) {
            Some((n_turns, _)) => *n_turns,
            None => self.done.get(goal).map_or(0, |(n, ..)| *n),
        };
        let best = self
            .wanted
            .1
            .iter()
            .filter(may)
            .min_by_key(|goal| (n_before(goal), with_candidates.contains(*goal), **goal));
        let Some(goal) = best.copied() else {
            self.nothing_left = Some(version);
            return None;
        };
        if let Some((_, mut chase)) = self.paused.remove(&goal) {
            chase.resume();
            return Some(chase);
        }
        let graph = view.structure.icfg();
        let direction = graph.direction(goal.0, goal.1)?;
        let target = graph.directions[direction.index()].targets.first()?;
        Some(Chase::new(entry, graph.node(*target).place(), goal))
    }

    /// Runs that came to a site.
    fn runs_at(&self, (site, choice): Direction, view: &CampaignView<'_>) -> Vec<RunId> {
        let graph = view.structure.icfg();
        let Some(direction) = graph.direction(site, choice) else { return Vec::new() };
        let sources = graph.directions[direction.index()].sources.iter().map(|source| graph.node(*source));
        let marking = view.tracer.marking();
        let runs = sources.flat_map(|node| view.reaching.runs(marking, node.function, node.block));
        runs.take(MOST_RUNS).collect()
    }
}

impl<'a> Ground<'a> {
    fn new(program: &'a Program, graph: &Icfg) -> Self {
        let roots = program.root.into_iter().collect();
        let flow = Arc::new(DataFlow::of(program, &DataFlowOptions { roots, elements: false }));
        let tracer = Tracer::with_addresses(program, flow.watch());
        let index = ProgramIndex::of(program, graph, &flow);
        Self {
            flow,
            index,
            tracer,
            dependence: ControlDependence::default(),
            ahead: Ahead::default(),
            levels: Levels::new(),
            problems: RefCell::default(),
            stores: RefCell::default(),
            work: Cell::new(0),
        }
    }

    fn lore<'l>(&'l mut self, program: &'l Program, view: &CampaignView<'l>) -> Lore<'l> {
        let graph = view.structure.icfg();
        let Self { flow, dependence, levels, index, problems, stores, work, .. } = self;
        Lore {
            program,
            graph,
            flow,
            dependence,
            levels,
            index,
            problems,
            missing: None,
            outlook: Outlook::Unknown,
            stores,
            work,
        }
    }
}

/// The input of a run in which all cells have changed that held what those held that have changed since another run, and are of the same
/// kind; of cells that stand in an order only those behind. Nothing where there are none.
fn alike(before: RunId, run: RunId, view: &CampaignView<'_>) -> Option<Input> {
    let (before, input) = (&view.pool.run(before).input, &view.pool.run(run).input);
    let value = |input: &Input, key: Key| input.values.get(&key).copied().unwrap_or(0);
    let changed = input.values.keys().filter(|key| value(before, **key) != value(input, **key));
    let changed: Vec<Key> = changed.copied().take(MOST_CHANGED + 1).collect();
    let mut found = Input::clone(input);
    for key in changed.iter().take_while(|_| changed.len() <= MOST_CHANGED) {
        let (old, new, kind) = (value(before, *key), value(input, *key), view.cells.get(key)?);
        let behind = |other: &Key| other.is_part() || *other > *key;
        let is_alike = |other: &Key, known| known == kind && kind.1 == CellKind::Value && behind(other);
        let others = view.cells.iter().filter(|(other, known)| is_alike(other, *known));
        for (other, _) in others.filter(|(other, _)| value(input, **other) == old && !changed.contains(other))
        {
            found.values.insert(*other, new);
        }
    }
    (found != **input).then_some(found)
}

/// The steps of changes, and those that will not be there any more.
fn changed_steps(record: &Record, changes: &[Change]) -> ChangedSteps {
    let mut steps = ChangedSteps { changes: Vec::new(), undone: Vec::new() };
    for change in changes {
        let happened = record.outcomes[change.outcome as usize];
        let Some(step) = happened.step else { continue };
        steps.changes.push((step, change.site, change.choice));
        let undone = &record.outcomes[change.outcome as usize..change.until as usize];
        let last = undone.iter().filter_map(|undone| undone.step).max().unwrap_or(step);
        steps.undone.push(step + 1..last + 1);
    }
    steps
}
