//! Which vertices does every path from the start of a graph pass?
//!
//! Method: the iteration of Cooper, Harvey and Kennedy in reverse postorder. Knows nothing of programs.

/// No vertex.
const NONE: u32 = u32::MAX;

/// A directed graph; vertices are numbers from 0 on.
pub struct Digraph {
    /// By vertex: where its successors begin in `to`; one more for the end.
    first: Vec<u32>,
    to: Vec<u32>,
}

impl Digraph {
    /// The graph with these edges.
    pub fn new(n_vertices: usize, edges: &[(u32, u32)]) -> Self {
        let mut first = vec![0; n_vertices + 1];
        edges.iter().for_each(|(from, _)| first[*from as usize + 1] += 1);
        for vertex in 0..n_vertices {
            first[vertex + 1] += first[vertex];
        }
        let mut next = first.clone();
        let mut to = vec![0; edges.len()];
        for (from, target) in edges {
            let place = &mut next[*from as usize];
            to[*place as usize] = *target;
            *place += 1;
        }
        Self { first, to }
    }

    /// How many vertices there are.
    pub fn n_vertices(&self) -> usize {
        self.first.len() - 1
    }

    /// Where one step leads.
    pub fn successors(&self, vertex: u32) -> &[u32] {
        &self.to[self.first[vertex as usize] as usize..self.first[vertex as usize + 1] as usize]
    }

    /// The graph with all edges turned round.
    pub fn reversed(&self) -> Self {
        let vertices = 0..u32::try_from(self.n_vertices()).expect("fewer than 2^32 vertices");
        let edges: Vec<(u32, u32)> =
            vertices.flat_map(|from| self.successors(from).iter().map(move |to| (*to, from))).collect();
        Self::new(self.n_vertices(), &edges)
    }

    /// The vertices that paths from the start reach, each after all that it leads to (but for cycles).
    fn postorder(&self, start: u32) -> Vec<u32> {
        let mut is_seen = vec![false; self.n_vertices()];
        let mut order = Vec::new();
        is_seen[start as usize] = true;
        let mut open = vec![(start, 0)];
        while let Some((vertex, n_done)) = open.last_mut() {
            match self.successors(*vertex).get(*n_done) {
                Some(to) => {
                    *n_done += 1;
                    if !std::mem::replace(&mut is_seen[*to as usize], true) {
                        open.push((*to, 0));
                    }
                }
                None => {
                    order.push(*vertex);
                    open.pop();
                }
            }
        }
        order
    }
}

/// The dominator tree of a graph.
pub struct Dominators {
    /// By vertex: its immediate dominator; the start is its own.
    parents: Vec<u32>,
}

impl Dominators {
    /// The dominators of what paths from the start reach.
    pub fn of(graph: &Digraph, start: u32) -> Self {
        Self::with(graph, &graph.reversed(), start)
    }

    /// The same, of a graph that is also there with all edges turned round.
    pub fn with(graph: &Digraph, backwards: &Digraph, start: u32) -> Self {
        let order = graph.postorder(start);
        let mut ranks = vec![0_u32; graph.n_vertices()];
        for (rank, vertex) in (0..).zip(&order) {
            ranks[*vertex as usize] = rank;
        }
        let mut parents = vec![NONE; graph.n_vertices()];
        parents[start as usize] = start;
        let mut changes = true;
        while changes {
            changes = false;
            for vertex in order.iter().rev().filter(|vertex| **vertex != start) {
                let known = backwards.successors(*vertex).iter().copied();
                let known = known.filter(|from| parents[*from as usize] != NONE);
                let parent = known.reduce(|one, other| meet(&parents, &ranks, one, other));
                let parent = parent.expect("a vertex follows one that comes before it");
                changes |= std::mem::replace(&mut parents[*vertex as usize], parent) != parent;
            }
        }
        Self { parents }
    }

    /// Whether a path from the start reaches the vertex.
    pub fn is_reached(&self, vertex: u32) -> bool {
        self.parents[vertex as usize] != NONE
    }

    /// What every path to the vertex passes, in order, from the start to the vertex itself; `None` when no path does.
    pub fn chain(&self, vertex: u32) -> Option<Vec<u32>> {
        self.is_reached(vertex).then(|| {
            let mut chain = vec![vertex];
            let mut last = vertex;
            while self.parents[last as usize] != last {
                last = self.parents[last as usize];
                chain.push(last);
            }
            chain.reverse();
            chain
        })
    }
}

/// The last vertex that dominates both.
fn meet(parents: &[u32], ranks: &[u32], mut one: u32, mut other: u32) -> u32 {
    while one != other {
        while ranks[one as usize] < ranks[other as usize] {
            one = parents[one as usize];
        }
        while ranks[other as usize] < ranks[one as usize] {
            other = parents[other as usize];
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reaches(graph: &Digraph, start: u32, target: u32, without: Option<u32>) -> bool {
        let mut is_seen = vec![false; graph.n_vertices()];
        let mut open = vec![start];
        while let Some(vertex) = open.pop() {
            if Some(vertex) != without && !std::mem::replace(&mut is_seen[vertex as usize], true) {
                open.extend(graph.successors(vertex));
            }
        }
        is_seen[target as usize]
    }

    proptest! {
        #[test]
        fn a_dominator_is_what_cannot_be_avoided(edges in prop::collection::vec((0..9_u32, 0..9_u32), 0..25)) {
            let graph = Digraph::new(9, &edges);
            let dominators = Dominators::of(&graph, 0);
            for target in 0..9 {
                let chain = dominators.chain(target);
                prop_assert_eq!(chain.is_some(), reaches(&graph, 0, target, None));
                for vertex in 0..9 {
                    let Some(chain) = &chain else { continue };
                    prop_assert_eq!(chain.contains(&vertex), !reaches(&graph, 0, target, Some(vertex)));
                }
            }
        }
    }
}
