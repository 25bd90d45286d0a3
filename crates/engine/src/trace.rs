//! What path did an execution take, and which of its steps depend on the input?
//!
//! Method: the path log is decoded lazily and walked over the program; the walk feeds coverage's observer and keeps one
//! [`PathStep`] per outcome with an expression. Pins and assumptions between steps are kept apart, with their place.
//! Steps without expression leave no record but enter the rolling hash, which names a path prefix by its sites and
//! choices. Limit: a run that was cut off is known up to the last block that is certain.

mod decode;
mod hash;
mod prefix_cache;
mod stack;

use std::collections::BTreeSet;

use analysis::loops::loop_heads;
use coverage::observe::{Observations, Observer};
use coverage::structure::Back;
use coverage::tally::{Tally, Teller};
use coverage::vector::Vector;
use coverage::{Coverage, Marking};
pub use model::walk::Choice;
use model::walk::{
    Call, Completeness, Script, Site, Start, Visitor, WalkEnd, WalkError, Walked, Watch, walk, walk_on,
};
use model::{BlockId, FunctionId, Program, SpanId};
use wire::{EventError, Flags, LogPlace, NodeId};

use crate::executor::{End, Execution};
pub(crate) use decode::Payload;
use decode::{Decoder, Found};
pub use hash::PathHash;
use prefix_cache::Checkpoint;
pub use prefix_cache::PrefixCache;
use stack::Stack;

/// An outcome that depends on the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    pub site: Site,
    pub taken: Choice,
    /// The truth value, or the operand of the switch.
    pub node: NodeId,
    /// How many of the trace's notes come before it.
    pub n_notes: u32,
    /// How many outcomes of any kind come before it.
    pub position: u64,
    /// The path before it.
    pub prefix: PathHash,
    /// The path of the program itself before it, without how the harness built the input.
    pub program_path: Expectation,
    /// The objects that pinned pointers before it led to, and whether an access went outside of its object.
    pub objects: PathHash,
    /// The call stack, among those of the trace.
    pub context: u32,
    /// For a condition among others: the outcomes before it in the same evaluation, among those of the trace.
    pub begun: Option<u32>,
    /// The head of a loop that its activation came to last.
    pub head: Option<BlockId>,
}

impl PathStep {
    /// The path up to and including this step, had it had this outcome.
    pub fn path_with(&self, choice: Choice) -> PathHash {
        self.prefix.then(self.site, choice)
    }

    /// What is expected of a run that has this outcome here.
    pub fn expectation(&self, choice: Choice) -> Expectation {
        let Expectation { n_outcomes, path } = self.program_path;
        Expectation { n_outcomes: n_outcomes + 1, path: path.then(self.site, choice) }
    }

    /// Names that path among all: the same choices with pointers to other objects are another one.
    pub fn name_with(&self, choice: Choice) -> PathHash {
        self.path_with(choice).among(self.objects)
    }
}

/// A constraint between steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// What follows holds only as long as the node has this value; to be given up when it contradicts the flip.
    Pin { node: NodeId, value: u64, place: Option<LogPlace> },
    /// Like a pin, of a pointer that is followed: another value is another object.
    Pointer { node: NodeId, value: u64, place: Option<LogPlace> },
    /// The node was true, and must be.
    Assume { node: NodeId },
    /// The node was true, and should be; to be given up when it contradicts the flip.
    Prefer { node: NodeId },
    /// The node was true, and must be (if `is_pinned`, like a pin): the access at this place lies within its object.
    Bounds { node: NodeId, place: Option<SpanId>, is_pinned: bool },
    /// Like a pin, of a number of bytes.
    Size { node: NodeId, value: u64, place: Option<LogPlace> },
}

impl Note {
    /// What it is about.
    pub fn node(&self) -> NodeId {
        match *self {
            Self::Pin { node, .. }
            | Self::Pointer { node, .. }
            | Self::Assume { node }
            | Self::Prefer { node }
            | Self::Bounds { node, .. }
            | Self::Size { node, .. } => node,
        }
    }
}

/// An access that depends on the input and lay within its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The place of its bounds among the notes.
    pub note: u32,
    /// Where it stands in the source.
    pub place: SpanId,
    /// How many steps come before it.
    pub n_steps: u32,
    /// The path before it.
    pub before: Expectation,
    /// Names it among all accesses of all runs.
    pub path: PathHash,
}

/// Where a run was pinned to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its place among the notes.
    pub note: u32,
    pub value: u64,
    /// How many steps come before it.
    pub n_steps: u32,
    /// The path before it.
    pub before: Expectation,
    /// Names it among all pins of all runs: the path before it, and its place since the last outcome.
    pub path: PathHash,
}

/// The walked path of one execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub steps: Vec<PathStep>,
    pub notes: Vec<Note>,
    /// Sites where code that is not followed was given symbolic bytes.
    pub unfollowed: Vec<u32>,
    /// The pins among the notes, in order.
    pub pins: Vec<Pin>,
    /// The accesses whose bounds are among the notes, in order.
    pub accesses: Vec<Access>,
    /// The call stacks of steps: the number of the one below, and where to return to. They are numbered from 1; 0 is the
    /// empty one.
    pub contexts: Vec<(u32, Back)>,
    /// The unfinished evaluations of decisions that steps stand in.
    pub begun: Vec<Vector>,
    /// Outcomes of any kind.
    pub n_outcomes: u64,
    /// Where the walk ended.
    pub end: WalkEnd,
    pub observations: Observations,
    /// Whether the run went where it was expected to; true when nothing was expected.
    pub as_expected: bool,
}

/// A path prefix that a run is expected to have: so many outcomes, with this hash. How the input was built is left out: an
/// object more changes the path of the harness, and not that of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    pub n_outcomes: u64,
    pub path: PathHash,
}

impl Expectation {
    /// Nothing is expected.
    pub const NONE: Self = Self { n_outcomes: 0, path: PathHash::EMPTY };
}

/// A path log that does not tell a path of this program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    #[error("cannot decode the path log: {0}")]
    Log(#[from] EventError),
    #[error("the path log does not fit the program: {0}")]
    Walk(#[from] WalkError),
    #[error("the program has no function to start at")]
    NoRoot,
    #[error("stopped while following the path")]
    Stopped,
}

/// Walks executions of one program.
pub struct Tracer<'p> {
    marking: Marking<'p>,
    script: Script,
    /// Whether its runs log addresses.
    addresses: bool,
    /// By function: whether it is part of the harness.
    builders: Vec<bool>,
    /// By function: where its loops begin.
    heads: Vec<BTreeSet<BlockId>>,
}

/// How the names of the harness's own functions start.
const BUILDERS: [&str; 2] = ["__quarry_harness", "__quarry_point_"];

impl<'p> Tracer<'p> {
    /// A tracer for runs that log no addresses.
    pub fn new(program: &'p Program) -> Self {
        let builds =
            |function: &model::Function| BUILDERS.iter().any(|start| function.name.starts_with(start));
        let builders = program.functions.iter().map(builds).collect();
        let heads = program.functions.iter().map(loop_heads).collect();
        let (marking, script) = (Marking::new(program), Script::new(program, None));
        Self { marking, script, addresses: false, builders, heads }
    }

    /// A tracer for runs that are measured by the goals of `coverage`.
    pub fn for_goals(program: &'p Program, coverage: &Coverage) -> Self {
        let tracer = Self::new(program);
        let watch = coverage.data_flow().map(|flow| flow.watch());
        let (script, addresses) = (Script::new(program, watch), watch.is_some());
        let marking = tracer.marking.with_data_flow(coverage.data_flow().cloned());
        Self { marking, script, addresses, ..tracer }
    }

    /// A tracer for paths that were read with these addresses.
    pub(crate) fn with_addresses(program: &'p Program, watch: &Watch) -> Self {
        Self { script: Script::new(program, Some(watch)), addresses: true, ..Self::new(program) }
    }

    /// What runs must be asked for to be traced.
    pub fn flags(&self, symbolic: bool) -> Flags {
        Flags { symbolic, addresses: self.addresses, alone: false }
    }

    /// The program whose runs are traced.
    pub fn program(&self) -> &'p Program {
        self.marking.program()
    }

    /// The tables that coverage is measured by.
    pub fn marking(&self) -> &Marking<'p> {
        &self.marking
    }

    /// The path of `execution`. `stop` is asked now and then, because logs can be long.
    pub fn trace(
        &self,
        execution: &Execution<'_>,
        expectation: Option<Expectation>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Trace, TraceError> {
        self.trace_after(&mut PrefixCache::default(), execution, expectation, stop)
    }

    /// The same, continuing where the path leaves the one that was traced before.
    pub fn trace_after<'a>(
        &'a self,
        prefixes: &mut PrefixCache<'a>,
        execution: &Execution<'_>,
        expectation: Option<Expectation>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Trace, TraceError> {
        let root = self.program().root.ok_or(TraceError::NoRoot)?;
        let (log, completeness) = (execution.log, completeness(execution));
        let (mut n_bytes, mut start, mut recorder, mut found) = match prefixes.resume(log, expectation) {
            Some(Checkpoint { n_bytes, position, recorder, found }) => {
                (n_bytes, Start::Position(position), recorder, found)
            }
            None => (
                0,
                Start::Root(root),
                Recorder::new(&self.marking, &self.builders, &self.heads),
                Found::default(),
            ),
        };
        recorder.expect(expectation);
        let end = loop {
            let pause_at = prefixes.next_pause(start.n_entries());
            let mut entries = Decoder::new(log, n_bytes, &mut found, stop);
            let walked = walk_on(&self.script, start, &mut entries, completeness, &mut recorder, pause_at);
            n_bytes = entries.n_bytes();
            match walked {
                Ok(Walked::Ended(end)) => break Ok(end),
                Err(error) => break Err(error),
                Ok(Walked::Paused(position)) => {
                    let checkpoint = Checkpoint { n_bytes, position, recorder, found };
                    prefixes.keep(log, &checkpoint);
                    let Checkpoint { position, .. } = checkpoint;
                    (recorder, found, start) =
                        (checkpoint.recorder, checkpoint.found, Start::Position(position));
                }
            }
        };
        let end = found.check(completeness, end)?;
        Ok(Trace { unfollowed: found.unfollowed, ..recorder.finish(found.notes, end) })
    }

    /// How often `execution` did what goals ask about, and where it ended.
    pub fn tally(
        &self,
        execution: &Execution<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(Tally, WalkEnd), TraceError> {
        let mut teller = Teller::new(&self.marking);
        let end = self.follow(execution, stop, &mut teller)?;
        Ok((teller.finish(), end))
    }

    fn follow(
        &self,
        execution: &Execution<'_>,
        stop: &dyn Fn() -> bool,
        visitor: &mut impl Visitor<Payload>,
    ) -> Result<WalkEnd, TraceError> {
        self.follow_log(execution.log, completeness(execution), stop, visitor)
    }

    /// Tells `visitor` the path that was kept.
    pub(crate) fn follow_path(
        &self,
        path: &PathLog,
        visitor: &mut impl Visitor<Payload>,
    ) -> Result<WalkEnd, TraceError> {
        self.follow_log(&path.log, path.completeness, &|| false, visitor)
    }

    fn follow_log(
        &self,
        log: &[u8],
        completeness: Completeness,
        stop: &dyn Fn() -> bool,
        visitor: &mut impl Visitor<Payload>,
    ) -> Result<WalkEnd, TraceError> {
        let root = self.program().root.ok_or(TraceError::NoRoot)?;
        let mut found = Found::default();
        let entries = Decoder::new(log, 0, &mut found, stop);
        let end = walk(&self.script, root, entries, completeness, visitor);
        found.check(completeness, end)
    }
}

/// A path log, to be walked again.
#[derive(Clone, Debug)]
pub struct PathLog {
    log: Vec<u8>,
    completeness: Completeness,
}

impl PathLog {
    /// The log of an execution.
    pub fn of(execution: &Execution<'_>) -> Self {
        Self { log: execution.log.to_vec(), completeness: completeness(execution) }
    }

    /// Bytes that it takes.
    pub fn size(&self) -> usize {
        self.log.len()
    }
}

/// Whether the log of an execution tells all that was executed.
fn completeness(execution: &Execution<'_>) -> Completeness {
    let is_complete = match execution.end {
        End::Returned | End::Exited(_) | End::OutOfBounds(_) => !execution.marks.log_full,
        // libc may abort by itself, anywhere
        End::Aborted => execution.marks.aborts && !execution.marks.log_full,
        End::Signalled { .. } | End::TimedOut | End::OutOfMemory | End::StackOverflow => false,
    };
    if is_complete { Completeness::Complete } else { Completeness::Partial }
}

impl Found {
    /// How the walk ended, unless something is wrong with the log.
    fn check(
        &self,
        completeness: Completeness,
        end: Result<WalkEnd, WalkError>,
    ) -> Result<WalkEnd, TraceError> {
        match &self.error {
            // a run that was killed may have been about to finish its last entry
            Some(EventError::CutShort { .. }) if completeness == Completeness::Partial => {}
            Some(error) => return Err((*error).into()),
            None if self.stopped => return Err(TraceError::Stopped),
            None => {}
        }
        Ok(end?)
    }
}

/// Gathers steps and observations along a walk.
#[derive(Clone)]
struct Recorder<'a> {
    observer: Observer<'a>,
    program: &'a Program,
    steps: Vec<PathStep>,
    stack: Stack,
    begun: Vec<Vector>,
    /// For each note so far, what comes before it.
    places: Vec<NotePlace>,
    builders: &'a [bool],
    heads: &'a [BTreeSet<BlockId>],
    n_outcomes: u64,
    path: PathHash,
    /// The same without how the input was built.
    program_path: Expectation,
    expectation: Option<Expectation>,
    as_expected: bool,
}

/// What comes before a note: so many steps and outcomes, and the path.
#[derive(Clone, Copy)]
struct NotePlace {
    n_steps: u32,
    n_outcomes: u64,
    path: PathHash,
    program_path: Expectation,
}

impl<'a> Recorder<'a> {
    fn new(marking: &'a Marking<'a>, builders: &'a [bool], heads: &'a [BTreeSet<BlockId>]) -> Self {
        Self {
            observer: Observer::new(marking),
            program: marking.program(),
            steps: Vec::new(),
            stack: Stack::default(),
            begun: Vec::new(),
            places: Vec::new(),
            builders,
            heads,
            n_outcomes: 0,
            path: PathHash::EMPTY,
            program_path: Expectation::NONE,
            expectation: None,
            as_expected: true,
        }
    }

    /// Says what the run is to be compared with when it comes there.
    fn expect(&mut self, expectation: Option<Expectation>) {
        self.expectation = expectation;
        self.as_expected = expectation.is_none_or(|expected| expected.n_outcomes == 0);
    }

    fn step(&mut self, site: Site, taken: Choice, payload: Payload) {
        self.place_notes(payload.n_notes as usize);
        if let Some(node) = payload.node {
            let (n_notes, position, prefix) = (payload.n_notes, self.n_outcomes, self.path);
            let (program_path, context, begun) =
                (self.program_path, self.stack.context(), self.begun_before(site));
            let (objects, head) = (payload.objects, self.stack.head());
            self.steps.push(PathStep {
                site,
                taken,
                node,
                n_notes,
                position,
                prefix,
                program_path,
                objects,
                context,
                begun,
                head,
            });
        }
        self.n_outcomes += 1;
        self.path = self.path.then(site, taken);
        if self.builds(site) && payload.node.is_none() {
            return;
        }
        self.program_path.n_outcomes += 1;
        self.program_path.path = self.program_path.path.then(site, taken);
        if let Some(expected) = self.expectation
            && expected.n_outcomes == self.program_path.n_outcomes
        {
            self.as_expected = expected.path == self.program_path.path;
        }
    }

    /// Whether a site belongs to the harness.
    fn builds(&self, site: Site) -> bool {
        match site {
            Site::Condition(_) => false,
            Site::Branch(function, _) | Site::Switch(function, _) => {
                self.builders.get(function.index()).copied().unwrap_or(false)
            }
        }
    }

    /// The number of the unfinished evaluation that the site stands in.
    fn begun_before(&mut self, site: Site) -> Option<u32> {
        let Site::Condition(condition) = site else { return None };
        let begun = Vector::from(self.observer.begun(condition)?);
        // in loops the same few come again and again, the newest first
        let known = self.begun.iter().rposition(|known| *known == begun);
        let index = known.unwrap_or_else(|| {
            self.begun.push(begun);
            self.begun.len() - 1
        });
        Some(u32::try_from(index).expect("fewer vectors than steps"))
    }

    /// Notes up to this many came before what is happening now.
    fn place_notes(&mut self, n_notes: usize) {
        if self.places.len() < n_notes {
            let n_steps = u32::try_from(self.steps.len()).expect("a log holds fewer than 2^32 steps");
            let (n_outcomes, path, program_path) = (self.n_outcomes, self.path, self.program_path);
            self.places.resize(n_notes, NotePlace { n_steps, n_outcomes, path, program_path });
        }
    }

    fn finish(mut self, notes: Vec<Note>, end: WalkEnd) -> Trace {
        self.place_notes(notes.len());
        Trace {
            steps: self.steps,
            pins: pins(&notes, &self.places),
            accesses: accesses(&notes, &self.places),
            unfollowed: Vec::new(),
            notes,
            contexts: self.stack.contexts,
            begun: self.begun,
            n_outcomes: self.n_outcomes,
            end,
            observations: self.observer.finish(),
            as_expected: self.as_expected,
        }
    }
}

fn pins(notes: &[Note], places: &[NotePlace]) -> Vec<Pin> {
    let mut pins: Vec<Pin> = Vec::new();
    let (mut n_since_outcome, mut last_outcome) = (0, None);
    for ((note, place), index) in notes.iter().zip(places).zip(0..) {
        let (Note::Pin { value, .. } | Note::Pointer { value, .. } | Note::Size { value, .. }) = *note else {
            continue;
        };
        let same_place = last_outcome == Some(place.n_outcomes);
        n_since_outcome = if same_place { n_since_outcome + 1 } else { 0 };
        last_outcome = Some(place.n_outcomes);
        let (n_steps, before, path) =
            (place.n_steps, place.program_path, place.path.then_pin(n_since_outcome));
        pins.push(Pin { note: index, value, n_steps, before, path });
    }
    pins
}

fn accesses(notes: &[Note], places: &[NotePlace]) -> Vec<Access> {
    let mut accesses = Vec::new();
    for ((note, at), index) in notes.iter().zip(places).zip(0..) {
        if let Note::Bounds { place: Some(place), .. } = *note {
            let (n_steps, before, path) = (at.n_steps, at.program_path, at.path.then_access(place, index));
            accesses.push(Access { note: index, place, n_steps, before, path });
        }
    }
    accesses
}

impl Visitor<Payload> for Recorder<'_> {
    fn enter(&mut self, function: FunctionId, call: Option<Call>) {
        self.stack.enter(call);
        Visitor::<Payload>::enter(&mut self.observer, function, call);
    }

    fn wait(&mut self, call: Call) {
        Visitor::<Payload>::wait(&mut self.observer, call);
    }

    fn leave(&mut self) {
        self.stack.leave();
        Visitor::<Payload>::leave(&mut self.observer);
    }

    fn block(&mut self, function: FunctionId, block: BlockId) {
        let is_head = self.heads.get(function.index()).is_some_and(|heads| heads.contains(&block));
        self.stack.block(function, block, is_head);
        Visitor::<Payload>::block(&mut self.observer, function, block);
    }

    fn abandon(&mut self, function: FunctionId, block: BlockId, at: u32) {
        Visitor::<Payload>::abandon(&mut self.observer, function, block, at);
    }

    fn resume(&mut self, function: FunctionId, block: BlockId, at: u32) {
        Visitor::<Payload>::resume(&mut self.observer, function, block, at);
    }

    fn address(&mut self, at: u32, address: u64, size: u64) {
        Visitor::<Payload>::address(&mut self.observer, at, address, size);
    }

    fn outcome(&mut self, site: Site, taken: bool, payload: Payload) {
        self.step(site, Choice::Outcome(taken), payload);
        self.observer.outcome(site, taken, payload);
    }

    fn switch(&mut self, function: FunctionId, block: BlockId, case: usize, payload: Payload) {
        let n_cases = switch_cases(self.program, function, block).len();
        let taken = if case < n_cases { Choice::Case(case_number(case)) } else { Choice::Default };
        self.step(Site::Switch(function, block), taken, payload);
        self.observer.switch(function, block, case, payload);
    }
}

/// The cases of the switch that ends this block.
pub(crate) fn switch_cases(program: &Program, function: FunctionId, block: BlockId) -> &[model::SwitchCase] {
    match &program.function(function).block(block).terminator {
        model::Terminator::Switch { cases, .. } => cases,
        model::Terminator::Jump(_)
        | model::Terminator::Branch { .. }
        | model::Terminator::IndirectJump { .. }
        | model::Terminator::Return(_)
        | model::Terminator::Unreachable => &[],
    }
}

fn case_number(case: usize) -> u32 {
    u32::try_from(case).expect("a switch has fewer than 2^32 cases")
}

/// All other outcomes that a step could have.
pub fn alternatives(program: &Program, step: &PathStep) -> Vec<Choice> {
    other_choices(program, step.site, step.taken)
}

/// All other outcomes that a site could have had.
pub(crate) fn other_choices(program: &Program, site: Site, taken: Choice) -> Vec<Choice> {
    match (site, taken) {
        (_, Choice::Outcome(taken)) => vec![Choice::Outcome(!taken)],
        (Site::Switch(function, block), taken) => {
            let n_cases = switch_cases(program, function, block).len();
            let all = (0..n_cases).map(|case| Choice::Case(case_number(case))).chain([Choice::Default]);
            all.filter(|choice| *choice != taken).collect()
        }
        (Site::Condition(_) | Site::Branch(..), Choice::Case(_) | Choice::Default) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
