//! In which order does unrolling execute blocks, so that states that meet are merged as early as they can be?
//!
//! Method: a weak topological order: strongly connected components in topological order, each as its head followed by the order
//! of the rest. All blocks of a loop come before those behind it, so whoever always executes the first block that waits
//! ends a loop before going on.

use std::collections::{BTreeMap, BTreeSet};

use model::{BlockId, Function};

/// The place of each block that can be reached.
pub(crate) fn ranks(function: &Function) -> BTreeMap<BlockId, u32> {
    let mut order = Vec::new();
    let mut all = BTreeSet::new();
    let mut open = vec![BlockId(0)];
    while let Some(block) = open.pop() {
        if all.insert(block) {
            open.extend(function.block(block).terminator.successors());
        }
    }
    arrange(function, &all, BlockId(0), &mut order);
    order.into_iter().zip(0..).collect()
}

/// Orders these blocks, beginning at one of them.
fn arrange(function: &Function, blocks: &BTreeSet<BlockId>, first: BlockId, order: &mut Vec<BlockId>) {
    for component in components(function, blocks, first) {
        let head = component[0];
        order.push(head);
        let mut rest: BTreeSet<BlockId> = component.into_iter().collect();
        rest.remove(&head);
        while let Some(&next) =
            function.block(head).terminator.successors().iter().find(|to| rest.contains(to)).or(rest.first())
        {
            let before = order.len();
            arrange(function, &rest, next, order);
            order[before..].iter().for_each(|done| {
                rest.remove(done);
            });
        }
    }
}

/// The components that can be reached within the blocks, in topological order; each begins with the block that was reached first.
fn components(function: &Function, blocks: &BTreeSet<BlockId>, first: BlockId) -> Vec<Vec<BlockId>> {
    struct Visit {
        block: BlockId,
        open: Vec<BlockId>,
    }
    let successors = |block: BlockId| -> Vec<BlockId> {
        let all = function.block(block).terminator.successors();
        all.into_iter().filter(|to| blocks.contains(to)).collect()
    };
    let mut numbers: BTreeMap<BlockId, usize> = BTreeMap::from([(first, 0)]);
    let mut lowest: BTreeMap<BlockId, usize> = BTreeMap::from([(first, 0)]);
    let mut waiting = vec![first];
    let mut found = Vec::new();
    let mut visits = vec![Visit { block: first, open: successors(first) }];
    while let Some(visit) = visits.last_mut() {
        let block = visit.block;
        if let Some(next) = visit.open.pop() {
            if let Some(&number) = numbers.get(&next) {
                if waiting.contains(&next) {
                    let low = lowest.get_mut(&block).expect("it was visited");
                    *low = number.min(*low);
                }
            } else {
                let number = numbers.len();
                numbers.insert(next, number);
                lowest.insert(next, number);
                waiting.push(next);
                visits.push(Visit { block: next, open: successors(next) });
            }
            continue;
        }
        visits.pop();
        let low = lowest[&block];
        if let Some(visit) = visits.last() {
            let parent = lowest.get_mut(&visit.block).expect("it was visited");
            *parent = low.min(*parent);
        }
        if low == numbers[&block] {
            let at = waiting.iter().position(|other| *other == block).expect("it waits for its component");
            found.push(waiting.split_off(at));
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(code: &str) -> Vec<u32> {
        let text = format!(
            "program pointer 64 root f0\nfile file0 \"t.c\"\nspan s0 file0:1:1\nfunction f0 \"f\" exported (i1) -> void {{\n{code}}}\n"
        );
        let program = model::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut order: Vec<_> = ranks(program.function(model::FunctionId(0))).into_iter().collect();
        order.sort_by_key(|(_, rank)| *rank);
        order.into_iter().map(|(block, _)| block.0).collect()
    }

    #[test]
    fn what_is_behind_a_loop_comes_after_all_of_it() {
        // b2 goes back to b1 without a way out, b3 leaves
        let order =
            order_of("b0: jump b1\nb1: branch p0, b2, b3\nb2: jump b1\nb3: branch p0, b4, b1\nb4: return\n");
        assert_eq!((order[0], order[1], order[4]), (0, 1, 4));
    }

    #[test]
    fn an_inner_loop_comes_before_what_follows_it_in_the_outer_one() {
        let order = order_of(
            "b0: jump b1\nb1: branch p0, b2, b5\nb2: branch p0, b3, b4\nb3: jump b2\nb4: jump b1\nb5: return\n",
        );
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }
}
