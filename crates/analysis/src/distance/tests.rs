//! Distances against a search that keeps its call stack, on random programs.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::random::{any_program, program};

/// Calls that a search makes at most without coming back.
const MAX_DEPTH: usize = 6;

/// Instructions along a shortest walk from the beginning of a node to that of another, with these places to return to.
fn walked(graph: &Icfg, start: NodeId, stack: &[NodeId], target: NodeId) -> Option<u32> {
    let mut seen = BTreeSet::new();
    let mut heap = BinaryHeap::from([(Reverse(0), start, stack.to_vec())]);
    while let Some((Reverse(distance), node, stack)) = heap.pop() {
        if node == target {
            return Some(distance);
        }
        if !seen.insert((node, stack.clone())) {
            continue;
        }
        let onwards = distance + graph.node(node).weight;
        match &graph.node(node).exit {
            Exit::Return => {
                if let Some((back, below)) = stack.split_last() {
                    heap.push((Reverse(onwards), *back, below.to_vec()));
                }
            }
            Exit::Call { callees, then } => {
                let entries = match callees {
                    Callees::One(callee) => vec![*callee],
                    Callees::Indirect | Callees::Unknown => {
                        // any function, or one that is not known and takes an instruction
                        heap.extend(then.map(|then| (Reverse(onwards + 1), then, stack.clone())));
                        graph.address_taken.clone()
                    }
                };
                for entry in entries.into_iter().filter_map(|callee| graph.entry(callee)) {
                    let deeper: Vec<NodeId> = stack.iter().copied().chain(*then).collect();
                    if deeper.len() <= MAX_DEPTH {
                        heap.push((Reverse(onwards), entry, deeper));
                    }
                }
            }
            Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) | Exit::Dead => {
                let ahead = graph.successors(node).iter().copied();
                heap.extend(ahead.map(|to| (Reverse(onwards), to, stack.clone())));
            }
        }
    }
    None
}

#[test]
fn distances_are_lengths_of_shortest_walks() {
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let n_found = Cell::new(0);
    let chosen = prop::collection::vec((0..1000_usize, 0..1000_usize, 0..1000_usize), 8);
    let result = runner.run(&(any_program(), chosen), |(functions, chosen)| {
        let program = program(&functions);
        let graph = Icfg::new(&program);
        let routes = Routes::of(&graph);
        let nodes: Vec<NodeId> = graph.ids().collect();
        for (start, target, back) in chosen {
            let [start, target, back] = [start, target, back].map(|number| nodes[number % nodes.len()]);
            let mut stacks = CallStacks::default();
            let stack = stacks.push(ContextId::ROOT, back);
            let mut towards = Towards::new(&graph, &routes, graph.node(target).place());
            towards.extend(&stacks, &routes);
            let expected = walked(&graph, start, &[back], target);
            let found = towards.from_node(&graph, &routes, start, stack);
            prop_assert_eq!(found, expected, "{:?} -> {:?} in {:?}", start, target, functions);
            n_found.set(n_found.get() + u32::from(found.is_some()));
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(n_found.get() > 1000, "{}", n_found.get());
}
