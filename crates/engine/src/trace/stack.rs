//! The call stack along a walk. Stacks are numbered only when a step asks for its own: most calls have none.

use coverage::structure::Back;
use model::walk::Call;
use model::{BlockId, FunctionId};

#[derive(Clone, Default)]
pub(super) struct Stack {
    frames: Vec<Frame>,
    /// Numbered from 1: the number of the stack below, and where to return to.
    pub(super) contexts: Vec<(u32, Back)>,
}

#[derive(Clone)]
struct Frame {
    /// The root returns to nothing that is known.
    back: Option<Back>,
    context: Option<u32>,
    at: (FunctionId, BlockId),
    /// The head of a loop that it came to last.
    head: Option<BlockId>,
}

impl Stack {
    pub(super) fn enter(&mut self, call: Option<Call>) {
        let called_back = self.frames.last().map(|below| Back::Within(below.at.0, below.at.1));
        let back = call.map(Back::Behind).or(called_back);
        let context = back.is_none().then_some(0);
        self.frames.push(Frame { back, context, at: (FunctionId(0), BlockId(0)), head: None });
    }

    pub(super) fn leave(&mut self) {
        self.frames.pop();
    }

    pub(super) fn block(&mut self, function: FunctionId, block: BlockId, is_head: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = (function, block);
            frame.head = if is_head { Some(block) } else { frame.head };
        }
    }

    /// The head of a loop that the innermost activation came to last.
    pub(super) fn head(&self) -> Option<BlockId> {
        self.frames.last().and_then(|frame| frame.head)
    }

    /// The number of the present stack.
    pub(super) fn context(&mut self) -> u32 {
        let known = self.frames.iter().rposition(|frame| frame.context.is_some());
        let mut below = known.and_then(|known| self.frames[known].context).unwrap_or(0);
        for frame in &mut self.frames[known.map_or(0, |known| known + 1)..] {
            if let Some(back) = frame.back {
                self.contexts.push((below, back));
                below = u32::try_from(self.contexts.len()).expect("fewer than 2^32 calls");
            }
            frame.context = Some(below);
        }
        below
    }
}
