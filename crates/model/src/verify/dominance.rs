//! Which blocks are on every path from the entry to a block?
//!
//! Method: immediate dominators by iteration over reverse postorder (Cooper, Harvey and Kennedy, "A simple, fast dominance
//! algorithm"). Separate from the analyses that use the model, so that the verifier depends on nothing it verifies for.

use crate::{BlockId, Function};

/// Predecessors and immediate dominators of a function's blocks.
pub(super) struct Dominance {
    /// With repetition, as many as there are edges.
    pub(super) predecessors: Vec<Vec<BlockId>>,
    /// Position in reverse postorder; `None` for a block that cannot be reached.
    order: Vec<Option<usize>>,
    immediate: Vec<Option<BlockId>>,
}

impl Dominance {
    pub(super) fn of(function: &Function) -> Self {
        let n_blocks = function.blocks.len();
        let mut predecessors = vec![Vec::new(); n_blocks];
        for (id, block) in function.blocks() {
            for successor in block.terminator.successors() {
                predecessors[successor.index()].push(id);
            }
        }
        let postorder = postorder(function);
        let mut order = vec![None; n_blocks];
        for (position, block) in postorder.iter().rev().enumerate() {
            order[block.index()] = Some(position);
        }
        let mut dominance = Self { predecessors, order, immediate: vec![None; n_blocks] };
        dominance.settle(&postorder);
        dominance
    }

    fn settle(&mut self, postorder: &[BlockId]) {
        let Some((entry, _)) = postorder.split_last() else { return };
        self.immediate[entry.index()] = Some(*entry);
        let mut changed = true;
        while changed {
            changed = false;
            for block in postorder.iter().rev().skip(1) {
                let known = |block: &&BlockId| self.immediate[block.index()].is_some();
                let mut candidates = self.predecessors[block.index()].iter().filter(known);
                let Some(&first) = candidates.next() else { continue };
                let met = candidates.fold(first, |met, &other| self.meet(met, other));
                if self.immediate[block.index()] != Some(met) {
                    self.immediate[block.index()] = Some(met);
                    changed = true;
                }
            }
        }
    }

    fn meet(&self, mut left: BlockId, mut right: BlockId) -> BlockId {
        let above = |block: BlockId| self.immediate[block.index()].expect("settled before it is met");
        while left != right {
            if self.order[left.index()] > self.order[right.index()] {
                left = above(left);
            } else {
                right = above(right);
            }
        }
        left
    }

    pub(super) fn reachable(&self, block: BlockId) -> bool {
        self.order[block.index()].is_some()
    }

    /// Whether every way to `lower`, which can be reached, passes `upper`; each block dominates itself.
    pub(super) fn dominates(&self, upper: BlockId, lower: BlockId) -> bool {
        let mut block = lower;
        loop {
            if block == upper {
                return true;
            }
            match self.immediate[block.index()] {
                // A dominator comes earlier in reverse postorder: below `upper` there is nothing left to find.
                Some(above) if above != block && self.order[block.index()] > self.order[upper.index()] => {
                    block = above;
                }
                Some(_) | None => return false,
            }
        }
    }
}

fn postorder(function: &Function) -> Vec<BlockId> {
    let mut visited = vec![false; function.blocks.len()];
    let mut order = Vec::new();
    if function.blocks.is_empty() {
        return order;
    }
    let entry = BlockId(0);
    visited[0] = true;
    let mut path = vec![(entry, function.block(entry).terminator.successors().into_iter())];
    while let Some((block, successors)) = path.last_mut() {
        match successors.next() {
            Some(next) if !visited[next.index()] => {
                visited[next.index()] = true;
                path.push((next, function.block(next).terminator.successors().into_iter()));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    order
}
