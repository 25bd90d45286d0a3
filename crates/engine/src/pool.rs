//! The candidates: where could a path that was taken have gone otherwise?
//!
//! A candidate is a run, a step of it and another outcome for that step; or a pin of it, and another value; or an access of
//! it, out of bounds. It keeps no terms: what queries need of its run is held elsewhere. Paths are named by their
//! hash; one that was taken or proposed before is not proposed again. With filtering, candidates that cannot reach anything
//! open are not taken in, and those that no longer can are dropped, all of one outlook at a time. Limit: of the values that
//! a pin can have, only the first few are looked for.

mod thinning;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use coverage::Coverage;
use coverage::structure::{ContextId, OutlookId, Relevance, Structure};
use model::input::Input;
use model::walk::Site;
use model::{BlockId, Program, SpanId};

use crate::branch_distance::NearestStep;
use crate::trace::{Choice, Expectation, PathHash, PathLog, PathStep, Trace, alternatives};
use thinning::Thinning;

/// Values looked for where a run is pinned.
const MAX_PINNED_VALUES: usize = 16;

/// Runs in which an access of the source is asked about, and how often in each.
const MAX_ASKED: usize = 8;
const MAX_ASKED_PER_RUN: usize = 2;

/// Number of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CandidateId(pub u32);

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "candidate{}", self.0)
    }
}

/// Number of a run whose path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run{}", self.0)
    }
}

/// A path prefix that was taken, with another outcome of its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Whose path it leaves.
    pub run: RunId,
    /// How many steps that depend on the input come before: its depth.
    pub step: u32,
    pub turn: Turn,
    /// Names what is to be different: the path that is to be taken, or the pin.
    pub path: PathHash,
    /// Where a run that follows it arrives.
    pub expectation: Expectation,
    /// What it may lead to.
    pub outlook: OutlookId,
    /// For a step: the head of a loop that its activation came to last.
    pub head: Option<BlockId>,
}

/// A way that no run goes: a step with this outcome, in an activation that came to this head of a loop last, or to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refuted {
    pub site: Site,
    pub choice: Choice,
    pub head: Option<BlockId>,
}

impl Candidate {
    /// The branch that it takes instead; `None` for a pin or an access.
    pub fn branch(&self) -> Option<(Site, Choice)> {
        match self.turn {
            Turn::Step { site, choice } => Some((site, choice)),
            Turn::Pin { .. } | Turn::Bounds { .. } => None,
        }
    }
}

/// What is to be different from the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The step at this site has another outcome.
    Step { site: Site, choice: Choice },
    /// The pin with this place among the notes has a value that it never had there.
    Pin { note: u32 },
    /// The access at this place, whose bounds have this place among the notes, goes outside of its object.
    Bounds { note: u32, place: SpanId },
}

/// A run whose path is known.
#[derive(Clone, Debug)]
pub struct Run {
    pub input: Arc<Input>,
    /// The candidate it was made for; `None` for first and random inputs.
    pub origin: Option<CandidateId>,
    /// How many goals it was the first to cover.
    pub n_new_goals: usize,
    /// How near it came to branches that no run has taken, if the strategy wants to know.
    pub distances: BTreeMap<(Site, Choice), NearestStep>,
    /// Its path, to be walked again, if the strategy is led to pairs.
    pub path: Option<PathLog>,
}

/// A step of a run with another outcome: a candidate that there is already, or what one would lead to. Ordered as the path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Proposal {
    step: u32,
    nth: u32,
    choice: Choice,
    prospect: Prospect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Prospect {
    Known(CandidateId),
    New(OutlookId),
}

/// All candidates and the runs they come from.
#[derive(Clone, Debug)]
pub struct Pool {
    runs: Vec<Run>,
    candidates: Vec<Candidate>,
    open: Vec<bool>,
    n_open: usize,
    /// By run: how many of its candidates are open.
    n_open_by_run: Vec<usize>,
    /// Runs whose last open candidate was closed, since somebody asked.
    closed_runs: Vec<RunId>,
    paths: HashMap<PathHash, Known, BuildHasherDefault<AsIs>>,
    /// The values that pins have had.
    pinned: HashMap<PathHash, Vec<u64>, BuildHasherDefault<AsIs>>,
    /// How often each access of the source was asked about.
    asked: BTreeMap<SpanId, usize>,
    /// By outlook: its candidates, also those no longer open.
    by_outlook: Vec<Vec<CandidateId>>,
    max_per_run: usize,
    /// Candidates in all.
    max_in_all: usize,
    filters: bool,
    n_left_out: u64,
    /// The same by direction, for steps.
    left_out: BTreeMap<(Site, Choice), u64>,
    n_filtered: u64,
    /// Ways that proofs exclude, how many candidates were dropped for them, and whether they are kept to check that.
    refuted: BTreeSet<Refuted>,
    n_refuted: u64,
    keeps_refuted: bool,
    /// By run, if they are kept: the candidates that leave its path, also those that an earlier run with the same beginning had,
    /// in the order of its steps.
    flips: Option<Vec<Vec<CandidateId>>>,
}

/// What a new run is judged by.
pub struct Judge<'a, 's> {
    pub program: &'a Program,
    pub coverage: &'a Coverage,
    pub structure: &'a mut Structure<'s>,
}

/// How a path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Taken,
    Proposed(CandidateId),
}

/// Path hashes need no further hashing.
#[derive(Clone, Copy, Debug, Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Pool {
    /// A pool that takes at most so many candidates from one run and in all, and only relevant ones if it `filters`.
    pub fn new(max_per_run: usize, max_in_all: usize, filters: bool) -> Self {
        Self {
            runs: Vec::new(),
            candidates: Vec::new(),
            open: Vec::new(),
            n_open: 0,
            n_open_by_run: Vec::new(),
            closed_runs: Vec::new(),
            paths: HashMap::default(),
            pinned: HashMap::default(),
            asked: BTreeMap::new(),
            by_outlook: Vec::new(),
            max_per_run,
            max_in_all,
            filters,
            n_left_out: 0,
            left_out: BTreeMap::new(),
            n_filtered: 0,
            refuted: BTreeSet::new(),
            n_refuted: 0,
            keeps_refuted: false,
            flips: None,
        }
    }

    /// Remembers for each run which candidates leave its path.
    pub fn keep_flips(&mut self) {
        self.flips = Some(Vec::new());
    }

    /// The candidates that leave a run's path, in the order of its steps, if they are kept.
    pub fn flips(&self, run: RunId) -> &[CandidateId] {
        self.flips.as_ref().and_then(|flips| flips.get(run.0 as usize)).map_or(&[], Vec::as_slice)
    }

    /// Keeps candidates that proofs exclude, so that it can be checked that no input follows them.
    pub fn keep_refuted(&mut self) {
        self.keeps_refuted = true;
    }

    /// Drops the candidates that go one of these ways, from now on.
    pub fn refute(&mut self, ways: impl IntoIterator<Item = Refuted>) {
        let n_before = self.refuted.len();
        self.refuted.extend(ways);
        if self.refuted.len() == n_before || self.keeps_refuted {
            return;
        }
        for id in (0..number(self.candidates.len())).map(CandidateId) {
            if self.open[id.0 as usize] && self.is_refuted(id) {
                self.n_refuted += u64::from(self.close(id));
            }
        }
    }

    /// Whether proofs exclude that a run follows the candidate.
    pub fn is_refuted(&self, id: CandidateId) -> bool {
        let candidate = self.candidate(id);
        let is_known =
            |(site, choice)| self.refuted.contains(&Refuted { site, choice, head: candidate.head });
        candidate.branch().is_some_and(is_known)
    }

    /// Whether a new candidate is left out because proofs exclude it.
    fn drops(&mut self, site: Site, choice: Choice, head: Option<BlockId>) -> bool {
        let drops = !self.keeps_refuted && self.refuted.contains(&Refuted { site, choice, head });
        self.n_refuted += u64::from(drops);
        drops
    }

    /// How many candidates were dropped, or not taken in, because proofs exclude them.
    pub fn n_refuted(&self) -> u64 {
        self.n_refuted
    }

    /// Takes in a run; returns its candidates that are new: steps in the order of its path, then pins, then accesses.
    pub fn add_run(&mut self, judge: &mut Judge<'_, '_>, run: Run, trace: &Trace) -> Vec<CandidateId> {
        let first = self.candidates.len();
        self.runs.push(run);
        for step in &trace.steps {
            self.paths.insert(step.name_with(step.taken), Known::Taken);
        }
        let mut contexts = Contexts::of(trace);
        let flips = self.propose_steps(judge, &mut contexts, first);
        self.flips.iter_mut().for_each(|all| all.push(flips.clone()));
        self.propose_pins(judge, &mut contexts, first);
        self.propose_accesses(judge, &mut contexts, first);
        self.open.resize(self.candidates.len(), true);
        let n_new = self.candidates.len() - first;
        self.n_open += n_new;
        self.n_open_by_run.push(n_new);
        (number(first)..number(self.candidates.len())).map(CandidateId).collect()
    }

    /// Gives the candidates that leave the path, if they are kept.
    fn propose_steps(
        &mut self,
        judge: &mut Judge<'_, '_>,
        contexts: &mut Contexts<'_>,
        first: usize,
    ) -> Vec<CandidateId> {
        let (run, trace) = (self.newest_run(), contexts.trace);
        let mut flips = Vec::new();
        for proposal in self.thinned_steps(judge, contexts) {
            let step = &trace.steps[proposal.step as usize];
            let Proposal { choice, .. } = proposal;
            let outlook = match proposal.prospect {
                Prospect::Known(id) => {
                    flips.push(id);
                    continue;
                }
                Prospect::New(outlook) => outlook,
            };
            if !self.has_room(first) {
                self.leave_out(step.site, choice);
                continue;
            }
            let id = CandidateId(number(self.candidates.len()));
            let path = step.name_with(choice);
            self.paths.insert(path, Known::Proposed(id));
            if self.flips.is_some() {
                flips.push(id);
            }
            let expectation = step.expectation(choice);
            let turn = Turn::Step { site: step.site, choice };
            let head = step.head;
            self.push(Candidate { run, step: proposal.step, turn, path, expectation, outlook, head });
        }
        flips
    }

    /// The steps of a path that may go otherwise, of very many with one outlook only some; with flips, also those that
    /// are candidates already.
    fn thinned_steps(&mut self, judge: &mut Judge<'_, '_>, contexts: &mut Contexts<'_>) -> Vec<Proposal> {
        let mut thinning = Thinning::new();
        for (step, index) in contexts.trace.steps.iter().zip(0..) {
            for (choice, nth) in alternatives(judge.program, step).into_iter().zip(0..) {
                let proposal = |prospect| Proposal { step: index, nth, choice, prospect };
                match self.paths.get(&step.name_with(choice)) {
                    Some(Known::Taken) => continue,
                    Some(Known::Proposed(id)) => {
                        if self.flips.is_some() {
                            thinning.keep(proposal(Prospect::Known(*id)));
                        }
                        continue;
                    }
                    None => {}
                }
                if self.drops(step.site, choice, step.head) {
                    continue;
                }
                let outlook = contexts.outlook(judge.structure, step, choice);
                if self.is_worthless(judge, outlook) {
                    continue;
                }
                if let Some(left) = thinning.offer(outlook, proposal(Prospect::New(outlook))) {
                    self.n_left_out += 1;
                    self.leave_out(step.site, left.choice);
                }
            }
        }
        thinning.finish()
    }

    fn leave_out(&mut self, site: Site, choice: Choice) {
        *self.left_out.entry((site, choice)).or_default() += 1;
    }

    fn propose_pins(&mut self, judge: &mut Judge<'_, '_>, contexts: &mut Contexts<'_>, first: usize) {
        let run = self.newest_run();
        for pin in &contexts.trace.pins {
            let values = self.pinned.entry(pin.path).or_default();
            if values.contains(&pin.value) {
                continue;
            }
            values.push(pin.value);
            if values.len() > MAX_PINNED_VALUES {
                self.n_left_out += 1;
                continue;
            }
            let outlook = contexts.outlook_after(judge.structure, pin.n_steps);
            if !self.is_worthless(judge, outlook) && self.has_room(first) {
                let turn = Turn::Pin { note: pin.note };
                let (step, path, expectation) = (pin.n_steps, pin.path, pin.before);
                self.push(Candidate { run, step, turn, path, expectation, outlook, head: None });
            }
        }
    }

    /// The last accesses of a run come first: in a loop they are the ones that come near an end. What they may cover
    /// does not matter.
    fn propose_accesses(&mut self, judge: &mut Judge<'_, '_>, contexts: &mut Contexts<'_>, first: usize) {
        let run = self.newest_run();
        let mut in_run: BTreeMap<SpanId, usize> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for access in contexts.trace.accesses.iter().rev() {
            let here = in_run.entry(access.place).or_default();
            let asked = self.asked.get(&access.place).copied().unwrap_or(0);
            let is_known = !seen.insert(access.path) || self.paths.contains_key(&access.path);
            if is_known || *here == MAX_ASKED_PER_RUN || asked == MAX_ASKED || !self.has_room(first) {
                continue;
            }
            *here += 1;
            *self.asked.entry(access.place).or_default() += 1;
            self.paths.insert(access.path, Known::Proposed(CandidateId(number(self.candidates.len()))));
            let turn = Turn::Bounds { note: access.note, place: access.place };
            let outlook = contexts.outlook_after(judge.structure, access.n_steps);
            let (step, path, expectation) = (access.n_steps, access.path, access.before);
            self.candidates.push(Candidate { run, step, turn, path, expectation, outlook, head: None });
        }
    }

    fn push(&mut self, candidate: Candidate) {
        let index = candidate.outlook.index();
        if self.by_outlook.len() <= index {
            self.by_outlook.resize(index + 1, Vec::new());
        }
        self.by_outlook[index].push(CandidateId(number(self.candidates.len())));
        self.candidates.push(candidate);
    }

    fn is_worthless(&mut self, judge: &Judge<'_, '_>, outlook: OutlookId) -> bool {
        let is_worthless =
            self.filters && judge.structure.relevance(outlook, judge.coverage) == Relevance::Irrelevant;
        self.n_filtered += u64::from(is_worthless);
        is_worthless
    }

    /// Drops the candidates that can no longer reach anything open. It costs a look at each outlook, and one at each
    /// candidate dropped.
    pub fn drop_irrelevant(&mut self, structure: &Structure<'_>, coverage: &Coverage) {
        if !self.filters {
            return;
        }
        for (outlook, index) in structure.outlooks().zip(0..self.by_outlook.len()) {
            if self.by_outlook[index].is_empty()
                || structure.relevance(outlook, coverage) != Relevance::Irrelevant
            {
                continue;
            }
            for candidate in std::mem::take(&mut self.by_outlook[index]) {
                self.n_filtered += u64::from(self.close(candidate));
            }
        }
    }

    /// Takes in no more candidates: memory is short.
    pub fn close_to_new(&mut self) {
        self.max_in_all = self.candidates.len();
    }

    /// Closes a candidate; whether it was open.
    fn close(&mut self, id: CandidateId) -> bool {
        let was_open = std::mem::replace(&mut self.open[id.0 as usize], false);
        if was_open {
            let run = self.candidate(id).run;
            self.n_open -= 1;
            self.n_open_by_run[run.0 as usize] -= 1;
            self.closed_runs.extend(Some(run).filter(|run| self.n_open_by_run[run.0 as usize] == 0));
        }
        was_open
    }

    /// The runs whose last open candidate was closed since this was asked before.
    pub fn take_closed_runs(&mut self) -> Vec<RunId> {
        std::mem::take(&mut self.closed_runs)
    }

    /// Whether nothing open can be reached by the candidate any more; false without filtering.
    pub fn is_filtered(&self, id: CandidateId, structure: &Structure<'_>, coverage: &Coverage) -> bool {
        let Candidate { outlook, turn, .. } = *self.candidate(id);
        let is_question = matches!(turn, Turn::Bounds { .. });
        !is_question && self.filters && structure.relevance(outlook, coverage) == Relevance::Irrelevant
    }

    /// The run taken in last.
    pub fn newest_run(&self) -> RunId {
        RunId(number(self.runs.len() - 1))
    }

    /// Whether the run whose candidates begin at `first` may have one more.
    fn has_room(&mut self, first: usize) -> bool {
        let has_room =
            self.candidates.len() - first < self.max_per_run && self.candidates.len() < self.max_in_all;
        self.n_left_out += u64::from(!has_room);
        has_room
    }

    /// The values that a pin has had where this candidate is.
    pub fn pinned_values(&self, id: CandidateId) -> Vec<u64> {
        self.pinned.get(&self.candidate(id).path).cloned().unwrap_or_default()
    }

    /// Closes a candidate; true when it was open and no run has taken its path meanwhile.
    pub fn take(&mut self, id: CandidateId) -> bool {
        self.close(id) && !self.is_taken(id)
    }

    /// Whether a run has taken the candidate's path.
    pub fn is_taken(&self, id: CandidateId) -> bool {
        self.paths.get(&self.candidate(id).path) == Some(&Known::Taken)
    }

    /// Whether the candidate was neither tried nor dropped.
    pub fn is_open(&self, id: CandidateId) -> bool {
        self.open[id.0 as usize]
    }

    pub fn candidate(&self, id: CandidateId) -> &Candidate {
        &self.candidates[id.0 as usize]
    }

    pub fn run(&self, id: RunId) -> &Run {
        &self.runs[id.0 as usize]
    }

    /// The runs with candidates that wait, the newest first.
    pub fn open_runs(&self) -> impl Iterator<Item = RunId> {
        let open = self.candidates.iter().zip(&self.open).filter(|(_, is_open)| **is_open);
        let runs: BTreeSet<RunId> = open.map(|(candidate, _)| candidate.run).collect();
        runs.into_iter().rev()
    }

    /// Whether candidates of the run wait.
    pub fn has_open(&self, run: RunId) -> bool {
        self.n_open_by_run[run.0 as usize] > 0
    }

    /// How many candidates of the run wait.
    pub fn n_open_of(&self, run: RunId) -> usize {
        self.n_open_by_run[run.0 as usize]
    }

    /// How many candidates wait.
    pub fn n_open(&self) -> usize {
        self.n_open
    }

    /// How many candidates were dropped, or not taken in, because they could not reach anything open.
    pub fn n_filtered(&self) -> u64 {
        self.n_filtered
    }

    /// The directions of candidates that wait, one after the other.
    pub fn open_directions(&self) -> impl Iterator<Item = (Site, Choice)> {
        let open = self.candidates.iter().zip(&self.open).filter(|(_, is_open)| **is_open);
        open.filter_map(|(candidate, _)| candidate.branch())
    }

    /// How many candidates were not taken in, by direction.
    pub fn left_out_directions(&self) -> &BTreeMap<(Site, Choice), u64> {
        &self.left_out
    }

    /// How many candidates were not taken in because there were too many.
    pub fn n_left_out(&self) -> u64 {
        self.n_left_out
    }
}

/// The call stacks of a trace as the structure knows them, found when needed.
struct Contexts<'t> {
    trace: &'t Trace,
    known: Vec<Option<ContextId>>,
}

impl<'t> Contexts<'t> {
    fn of(trace: &'t Trace) -> Self {
        let mut known = vec![None; trace.contexts.len() + 1];
        known[0] = Some(ContextId::ROOT);
        Self { trace, known }
    }

    fn outlook(&mut self, structure: &mut Structure<'_>, step: &PathStep, choice: Choice) -> OutlookId {
        let begun = step.begun.map(|begun| self.trace.begun[begun as usize].clone());
        let context = self.context(structure, step.context);
        structure.outlook(context, step.site, choice, begun)
    }

    /// What may be reached after so many steps: whatever may after the last of them, with the outcome that it had.
    fn outlook_after(&mut self, structure: &mut Structure<'_>, n_steps: u32) -> OutlookId {
        let before = (n_steps as usize).checked_sub(1).and_then(|index| self.trace.steps.get(index));
        match before {
            Some(step) => self.outlook(structure, step, step.taken),
            None => structure.start(),
        }
    }

    fn context(&mut self, structure: &mut Structure<'_>, number: u32) -> ContextId {
        let mut unknown = Vec::new();
        let mut at = number as usize;
        let mut id = loop {
            if let Some(known) = self.known[at] {
                break known;
            }
            unknown.push(at);
            at = self.trace.contexts[at - 1].0 as usize;
        };
        for at in unknown.into_iter().rev() {
            id = structure.context(id, self.trace.contexts[at - 1].1);
            self.known[at] = Some(id);
        }
        id
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 candidates")
}
