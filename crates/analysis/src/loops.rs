//! Where do loops begin?
//!
//! Method: a depth-first search from the entry. Limit: of a cycle with several entries, which block is its head depends on the order of successors.

use std::collections::{BTreeMap, BTreeSet};

use model::{BlockId, Function};

/// Targets of retreating edges of a depth-first search: every cycle has one. None without code.
pub fn loop_heads(function: &Function) -> BTreeSet<BlockId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Open,
        Done,
    }
    if !function.is_defined() {
        return BTreeSet::new();
    }
    let successors = |block: BlockId| function.block(block).terminator.successors();
    let mut heads = BTreeSet::new();
    let mut marks: BTreeMap<BlockId, Mark> = BTreeMap::from([(BlockId(0), Mark::Open)]);
    let mut stack = vec![(BlockId(0), successors(BlockId(0)))];
    while let Some((block, open)) = stack.last_mut() {
        match open.pop() {
            Some(next) => match marks.get(&next) {
                Some(Mark::Open) => {
                    heads.insert(next);
                }
                Some(Mark::Done) => {}
                None => {
                    marks.insert(next, Mark::Open);
                    stack.push((next, successors(next)));
                }
            },
            None => {
                marks.insert(*block, Mark::Done);
                stack.pop();
            }
        }
    }
    heads
}
