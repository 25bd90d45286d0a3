//! Which path did a run take? Answered by walking the program with the outcomes the run logged.
//!
//! The log holds only what the program leaves open: outcomes of conditions and branches, cases of switches, callees of
//! indirect calls, entries from uninstrumented code, returns of `setjmp`. Everything else follows from the program, so a
//! [`Visitor`] sees every function entered and left, every block, every outcome with its site. Each entry has a payload
//! that the walk ignores (the engine's expression node). Limits: for a run that was killed by a signal, the walk stops at
//! the last block that was certainly entered; an entry from outside is attributed to the first call into uninstrumented
//! code after the last entry, although a later one may have made it; a call that ends the run is assumed to have returned
//! unless its function is declared not to.

mod jump;
mod script;
mod visitor;
mod watch;

use crate::{BlockId, FunctionId};
use jump::SetjmpPlace;
pub use script::Script;
use script::{Action, Ending, Step};
pub use visitor::{Call, Choice, Entry, Site, Visitor};
pub use watch::{Watch, Watched};

/// How a walk ended when the log agreed with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEnd {
    /// The root function returned.
    Returned,
    /// A call that does not come back was the last thing done.
    NoReturn(FunctionId, BlockId),
    /// The log ended here.
    CutOff(FunctionId, BlockId),
}

/// The log and the program disagree: one of them is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    #[error("{function} {block}: the program expects {expected}, the log has {found} (entry {index})")]
    Unexpected { function: FunctionId, block: BlockId, expected: &'static str, found: String, index: u64 },
    #[error("{function} {block}: the log names {what} that the program does not have (entry {index})")]
    OutOfRange { function: FunctionId, block: BlockId, what: &'static str, index: u64 },
    #[error("entries are left after the root function returned (entry {index})")]
    LeftOver { index: u64 },
}

/// How the run came to its end, as far as the walk must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// It returned or exited: what follows the last entry was executed too.
    Complete,
    /// It was cut off: nothing after the block that follows the last entry is certain.
    Partial,
}

/// Walks `entries` from `root` and tells `visitor` the path.
pub fn walk<P: Copy>(
    script: &Script,
    root: FunctionId,
    mut entries: impl Iterator<Item = Entry<P>>,
    completeness: Completeness,
    visitor: &mut impl Visitor<P>,
) -> Result<WalkEnd, WalkError> {
    match walk_on(script, Start::Root(root), &mut entries, completeness, visitor, u64::MAX)? {
        Walked::Ended(end) => Ok(end),
        Walked::Paused(_) => unreachable!("no log has 2^64 entries"),
    }
}

/// Where a walk begins.
#[derive(Clone, Debug)]
pub enum Start {
    /// At the entry of this function, which the visitor is told.
    Root(FunctionId),
    /// Where another walk paused, whose visitor goes on.
    Position(Position),
}

impl Start {
    /// How many entries were taken before.
    pub fn n_entries(&self) -> u64 {
        match self {
            Self::Root(_) => 0,
            Self::Position(position) => position.n_entries,
        }
    }
}

/// Where a walk stands between two entries.
#[derive(Clone, Debug)]
pub struct Position {
    frames: Vec<Frame>,
    setjmps: Vec<SetjmpPlace>,
    n_entries: u64,
}

/// How far a walk came.
#[derive(Clone, Debug)]
pub enum Walked {
    Ended(WalkEnd),
    Paused(Position),
}

/// Like [`walk`], but pauses when so many entries were taken, counted from the root. No entry but those was looked at.
pub fn walk_on<P: Copy>(
    script: &Script,
    start: Start,
    entries: &mut impl Iterator<Item = Entry<P>>,
    completeness: Completeness,
    visitor: &mut impl Visitor<P>,
    pause_at: u64,
) -> Result<Walked, WalkError> {
    let (root, Position { frames, setjmps, n_entries }) = match start {
        Start::Root(root) => (Some(root), Position { frames: Vec::new(), setjmps: Vec::new(), n_entries: 0 }),
        Start::Position(position) => (None, position),
    };
    let entries = Lookahead { entries, next: None, index: n_entries };
    let mut walk = Walk { script, entries, completeness, visitor, frames, setjmps };
    if let Some(root) = root {
        walk.enter(root, None);
    }
    let Some(end) = walk.run(pause_at)? else {
        let Walk { frames, setjmps, entries, .. } = walk;
        return Ok(Walked::Paused(Position { frames, setjmps, n_entries: entries.index }));
    };
    while !walk.frames.is_empty() {
        walk.abandon();
    }
    Ok(Walked::Ended(end))
}

struct Lookahead<'a, I, P> {
    entries: &'a mut I,
    next: Option<Entry<P>>,
    index: u64,
}

impl<P: Copy, I: Iterator<Item = Entry<P>>> Lookahead<'_, I, P> {
    fn peek(&mut self) -> Option<Entry<P>> {
        if self.next.is_none() {
            self.next = self.entries.next();
        }
        self.next
    }

    fn advance(&mut self) {
        self.next = None;
        self.index += 1;
    }
}

#[derive(Clone, Debug)]
struct Frame {
    function: FunctionId,
    block: BlockId,
    action: usize,
    /// The last instruction of the block that is certain to have been begun; their number when the terminator was.
    at: u32,
    /// An indirect call of the present action has gone to uninstrumented code.
    outside: bool,
    /// Outcome of the newest mark in the block, which may decide the branch at its end.
    marked: bool,
}

impl Frame {
    fn call(&self) -> Call {
        Call { function: self.function, block: self.block, at: self.at }
    }
}

struct Walk<'a, P: Copy, I, V> {
    script: &'a Script,
    entries: Lookahead<'a, I, P>,
    completeness: Completeness,
    visitor: &'a mut V,
    frames: Vec<Frame>,
    setjmps: Vec<SetjmpPlace>,
}

/// What the loop does next.
enum Next {
    Go,
    Stop(WalkEnd),
}

/// What the log offers to a position that needs an entry.
enum Offer<P> {
    Entry(Entry<P>),
    /// Control went elsewhere first; the position is tried again when it comes back.
    Detour,
    Over,
}

/// Takes the entry a position needs out of the log, or leaves the enclosing function with what the log says instead.
macro_rules! take {
    ($walk:ident, $expected:literal, $pattern:pat => $value:expr) => {
        match $walk.offer() {
            Offer::Entry($pattern) => {
                $walk.entries.advance();
                $value
            }
            Offer::Entry(other) => return Err($walk.unexpected($expected, &other)),
            Offer::Detour => return Ok(Next::Go),
            Offer::Over => return Ok($walk.cut_off()),
        }
    };
}

impl<P: Copy, I: Iterator<Item = Entry<P>>, V: Visitor<P>> Walk<'_, P, I, V> {
    /// How the walk ended; `None` when it is to pause.
    fn run(&mut self, pause_at: u64) -> Result<Option<WalkEnd>, WalkError> {
        loop {
            if self.entries.index >= pause_at && self.entries.next.is_none() {
                return Ok(None);
            }
            let next = match self.frames.last() {
                Some(frame) => {
                    let block = self.script.block(frame.function, frame.block);
                    match block.actions.get(frame.action) {
                        Some(step) => self.act(*step)?,
                        None => self.end(&block.ending, block.n_instrs)?,
                    }
                }
                None => self.after_root()?,
            };
            if let Next::Stop(end) = next {
                return Ok(Some(end));
            }
        }
    }

    /// Handlers registered with `atexit` run after the root came back.
    fn after_root(&mut self) -> Result<Next, WalkError> {
        match self.offer() {
            Offer::Detour => Ok(Next::Go),
            Offer::Over => Ok(Next::Stop(WalkEnd::Returned)),
            Offer::Entry(_) => Err(WalkError::LeftOver { index: self.entries.index }),
        }
    }

    fn act(&mut self, Step { at, action }: Step) -> Result<Next, WalkError> {
        match action {
            Action::Mark(condition) => {
                let (taken, payload) = take!(self, "the outcome of a condition", Entry::Outcome { taken, payload } => (taken, payload));
                let frame = self.pass(at);
                frame.marked = taken;
                self.visitor.outcome(Site::Condition(condition), taken, payload);
            }
            Action::Call(function) => {
                if self.uncertain() {
                    return Ok(self.cut_off());
                }
                let call = self.pass(at).call();
                self.enter(function, Some(call));
            }
            Action::CallIndirect if self.top().outside => return self.external(at, true),
            Action::CallIndirect => {
                let function =
                    take!(self, "the callee of an indirect call", Entry::Callee { function } => function);
                match function {
                    Some(function) if !self.script.defines(function) => {
                        return Err(self.out_of_range("a function"));
                    }
                    Some(function) => {
                        let call = self.pass(at).call();
                        self.enter(function, Some(call));
                    }
                    None => self.top().outside = true,
                }
            }
            Action::CallExternal { returns } => return self.external(at, returns),
            Action::Setjmp => {
                let activation =
                    take!(self, "a return of setjmp", Entry::Setjmp { activation } => activation);
                let depth = self.frames.len();
                let frame = self.pass(at).clone();
                self.setjmps.push(SetjmpPlace { activation, depth, frame });
            }
            Action::Address => {
                let (address, size) =
                    take!(self, "an address", Entry::Address { address, size } => (address, size));
                self.pass(at);
                self.visitor.address(at, address, size);
            }
        }
        Ok(Next::Go)
    }

    /// A call into code that logs nothing itself, but may call back or jump away.
    fn external(&mut self, at: u32, returns: bool) -> Result<Next, WalkError> {
        if !self.uncertain() {
            self.top().at = at;
        }
        if returns && self.jumps_later() {
            self.pass(at).outside = false;
            return Ok(Next::Go);
        }
        match self.offer() {
            Offer::Detour => Ok(Next::Go),
            Offer::Over if !returns => {
                Ok(Next::Stop(WalkEnd::NoReturn(self.top().function, self.top().block)))
            }
            Offer::Entry(other) if !returns => {
                Err(self.unexpected("nothing after a call that does not return", &other))
            }
            Offer::Entry(_) | Offer::Over => {
                if self.uncertain() {
                    return Ok(self.cut_off());
                }
                self.pass(at).outside = false;
                Ok(Next::Go)
            }
        }
    }

    fn end(&mut self, ending: &Ending, n_instrs: u32) -> Result<Next, WalkError> {
        let frame = self.top();
        let (function, block, marked) = (frame.function, frame.block, frame.marked);
        match ending {
            Ending::Jump(to) => {
                if self.uncertain() {
                    return Ok(self.cut_off());
                }
                self.go(*to);
            }
            Ending::Decided { then, otherwise, negated } => {
                self.go(if marked != *negated { *then } else { *otherwise });
            }
            Ending::Branch { then, otherwise } => {
                let (taken, payload) = take!(self, "the outcome of a branch", Entry::Outcome { taken, payload } => (taken, payload));
                self.visitor.outcome(Site::Branch(function, block), taken, payload);
                self.go(if taken { *then } else { *otherwise });
            }
            Ending::Switch { targets } => {
                let (case, payload) =
                    take!(self, "the case of a switch", Entry::Switch { case, payload } => (case, payload));
                let (case, target) = self.choose(targets, case, "a case")?;
                self.visitor.switch(function, block, case, payload);
                self.go(target);
            }
            Ending::IndirectJump { targets } => {
                let successor =
                    take!(self, "the target of a computed goto", Entry::Jump { successor } => successor);
                let (_, target) = self.choose(targets, successor, "a successor")?;
                self.go(target);
            }
            Ending::Return => {
                if self.uncertain() {
                    return Ok(self.cut_off());
                }
                self.frames.pop();
                self.visitor.leave();
            }
            Ending::Unreachable => return self.external(n_instrs, false),
        }
        Ok(Next::Go)
    }

    /// The next entry, after taking detours that the log shows: entries from outside, returns to `setjmp`.
    fn offer(&mut self) -> Offer<P> {
        match self.entries.peek() {
            None => Offer::Over,
            Some(Entry::Callback { function }) if self.script.defines(function) => {
                self.entries.advance();
                self.tell_waiting();
                self.enter(function, None);
                Offer::Detour
            }
            Some(Entry::Setjmp { activation }) => match self.setjmp_of(activation) {
                Some(index) => {
                    self.entries.advance();
                    self.jump_back(index);
                    Offer::Detour
                }
                None => Offer::Entry(Entry::Setjmp { activation }),
            },
            Some(entry) => Offer::Entry(entry),
        }
    }

    /// Tells where the innermost function stands: at its next action, or at the end of its block.
    fn tell_waiting(&mut self) {
        if let Some(frame) = self.frames.last() {
            let block = self.script.block(frame.function, frame.block);
            let at = block.actions.get(frame.action).map_or(block.n_instrs, |step| step.at);
            self.visitor.wait(Call { function: frame.function, block: frame.block, at });
        }
    }

    fn enter(&mut self, function: FunctionId, call: Option<Call>) {
        let block = BlockId(0);
        self.frames.push(Frame { function, block, action: 0, at: 0, outside: false, marked: false });
        self.visitor.enter(function, call);
        self.visitor.block(function, block);
    }

    fn go(&mut self, block: BlockId) {
        let frame = self.top();
        frame.block = block;
        frame.action = 0;
        frame.at = 0;
        let function = frame.function;
        self.visitor.block(function, block);
    }

    /// The present action, which is this instruction, is done or begins another function.
    fn pass(&mut self, at: u32) -> &mut Frame {
        let frame = self.top();
        frame.action += 1;
        frame.at = at;
        frame
    }

    /// Ends the innermost activation where it stands.
    fn abandon(&mut self) {
        if let Some(Frame { function, block, at, .. }) = self.frames.pop() {
            self.visitor.abandon(function, block, at);
            self.visitor.leave();
        }
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("actions happen in a frame")
    }

    /// After a cut-off run's last entry nothing but the block entered last is known.
    fn uncertain(&mut self) -> bool {
        self.completeness == Completeness::Partial && self.entries.peek().is_none()
    }

    fn cut_off(&mut self) -> Next {
        let frame = self.top();
        Next::Stop(WalkEnd::CutOff(frame.function, frame.block))
    }

    fn choose(
        &mut self,
        targets: &[BlockId],
        index: u64,
        what: &'static str,
    ) -> Result<(usize, BlockId), WalkError> {
        let found = usize::try_from(index).ok().and_then(|index| Some((index, *targets.get(index)?)));
        found.ok_or_else(|| self.out_of_range(what))
    }

    fn unexpected(&mut self, expected: &'static str, found: &Entry<P>) -> WalkError {
        let found = found.describe();
        let index = self.entries.index;
        let frame = self.top();
        WalkError::Unexpected { function: frame.function, block: frame.block, expected, found, index }
    }

    fn out_of_range(&mut self, what: &'static str) -> WalkError {
        let index = self.entries.index;
        let frame = self.top();
        WalkError::OutOfRange { function: frame.function, block: frame.block, what, index }
    }
}

#[cfg(test)]
mod tests;
