//! Returns to `setjmp`: which frames a jump leaves, and which call made it.

use super::script::{Action, Ending};
use super::{Entry, Frame, Visitor, Walk};
use crate::BlockId;

/// A place that `longjmp` can return to.
#[derive(Clone, Debug)]
pub(super) struct SetjmpPlace {
    pub(super) activation: u64,
    pub(super) depth: usize,
    pub(super) frame: Frame,
}

/// How far a walk looks for the call that jumped: code without outcomes is short, unless it never ends.
const LOOK: usize = 10_000;

impl<P: Copy, I: Iterator<Item = Entry<P>>, V: Visitor<P>> Walk<'_, P, I, V> {
    /// The newest return of `setjmp` in this activation, if the activation is still there.
    pub(super) fn setjmp_of(&self, activation: u64) -> Option<usize> {
        let depth = self.frames.len();
        self.setjmps.iter().rposition(|place| place.activation == activation && place.depth <= depth)
    }

    pub(super) fn jump_back(&mut self, index: usize) {
        let SetjmpPlace { depth, ref frame, .. } = self.setjmps[index];
        let back = frame.clone();
        while self.frames.len() > depth {
            self.abandon();
        }
        let left = std::mem::replace(self.top(), back.clone());
        self.visitor.abandon(left.function, left.block, left.at);
        self.visitor.resume(back.function, back.block, back.at);
    }

    /// Whether the log goes on with a jump that a later call made: one that does not return, reached from here by code that
    /// logs nothing.
    pub(super) fn jumps_later(&mut self) -> bool {
        match self.entries.peek() {
            Some(Entry::Setjmp { activation }) if self.setjmp_of(activation).is_some() => {
                self.ends_in_no_return()
            }
            Some(_) | None => false,
        }
    }

    fn ends_in_no_return(&self) -> bool {
        let mut frames = self.frames.clone();
        if let Some(frame) = frames.last_mut() {
            frame.action += 1;
        }
        for _ in 0..LOOK {
            let Some(frame) = frames.last_mut() else { return false };
            let block = self.script.block(frame.function, frame.block);
            let to = match block.actions.get(frame.action).map(|step| step.action) {
                Some(Action::CallExternal { returns }) => {
                    if !returns {
                        return true;
                    }
                    frame.action += 1;
                    continue;
                }
                Some(Action::Call(function)) => {
                    frame.action += 1;
                    let block = BlockId(0);
                    frames.push(Frame { function, block, action: 0, at: 0, outside: false, marked: false });
                    continue;
                }
                Some(Action::Mark(_) | Action::CallIndirect | Action::Setjmp | Action::Address) => {
                    return false;
                }
                None => match block.ending {
                    Ending::Jump(to) => to,
                    Ending::Decided { then, otherwise, negated } => {
                        if frame.marked == negated {
                            otherwise
                        } else {
                            then
                        }
                    }
                    Ending::Return => {
                        frames.pop();
                        continue;
                    }
                    Ending::Unreachable => return true,
                    Ending::Branch { .. } | Ending::Switch { .. } | Ending::IndirectJump { .. } => {
                        return false;
                    }
                },
            };
            frame.block = to;
            frame.action = 0;
        }
        false
    }
}
