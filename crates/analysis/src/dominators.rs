//! Which vertices does every path from the start of a graph pass?
//!
//! Method: semidominators with path compression, and from them the nearest common ancestors in the search tree (semi-NCA);
//! long chains cost no more than short ones. Independent of programs. Ours rather than petgraph's, whose iterative method is quadratic on
//! the long chains of whole programs and which wants the graph in a form of its own.

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
        let search = Search::new(graph, start);
        // by number, as all that follows: the semidominator, once it is known
        let mut semis: Vec<u32> = (0..).take(search.order.len()).collect();
        let mut forest =
            Forest { ancestors: search.parents.clone(), labels: semis.clone(), path: Vec::new() };
        for number in (1..search.parents.len()).rev() {
            let before = backwards.successors(search.order[number]).iter();
            let before = before.map(|from| search.numbers[*from as usize]).filter(|from| *from != NONE);
            let reached = before.map(|from| semis[forest.least(from, number, &semis) as usize]);
            semis[number] = reached.fold(search.parents[number], u32::min);
        }
        let mut nearest = search.parents.clone();
        for number in 1..nearest.len() {
            while nearest[number] > semis[number] {
                nearest[number] = nearest[nearest[number] as usize];
            }
        }
        let mut parents = vec![NONE; graph.n_vertices()];
        for (vertex, nearest) in search.order.iter().zip(&nearest) {
            parents[*vertex as usize] = search.order[*nearest as usize];
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

/// What a search in depth from a vertex reaches, numbered as it is met.
struct Search {
    /// By number: the vertex.
    order: Vec<u32>,
    /// By vertex.
    numbers: Vec<u32>,
    /// By number: that of the vertex from which it was met; the start is its own.
    parents: Vec<u32>,
}

impl Search {
    fn new(graph: &Digraph, start: u32) -> Self {
        let mut search =
            Self { order: Vec::new(), numbers: vec![NONE; graph.n_vertices()], parents: Vec::new() };
        search.meet(start, 0);
        let mut open = vec![(0, graph.successors(start).iter())];
        while let Some((number, ahead)) = open.last_mut() {
            let Some(to) = ahead.next() else {
                open.pop();
                continue;
            };
            if search.numbers[*to as usize] == NONE {
                let met = search.meet(*to, *number);
                open.push((met, graph.successors(*to).iter()));
            }
        }
        search
    }

    fn meet(&mut self, vertex: u32, parent: u32) -> u32 {
        let number = u32::try_from(self.order.len()).expect("fewer than 2^32 vertices");
        self.numbers[vertex as usize] = number;
        self.order.push(vertex);
        self.parents.push(parent);
        number
    }
}

/// The tree of the search as far as semidominators are known, paths in it compressed.
struct Forest {
    ancestors: Vec<u32>,
    /// By number: that with the least semidominator on the path up to its ancestor.
    labels: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The number with the least semidominator on the path from a vertex up to the last that is behind `bound`.
    fn least(&mut self, from: u32, bound: usize, semis: &[u32]) -> u32 {
        let mut top = from;
        while self.ancestors[top as usize] as usize > bound {
            self.path.push(top);
            top = self.ancestors[top as usize];
        }
        let (mut label, ancestor) = (self.labels[top as usize], self.ancestors[top as usize]);
        while let Some(number) = self.path.pop() {
            let own = &mut self.labels[number as usize];
            if semis[label as usize] < semis[*own as usize] {
                *own = label;
            }
            label = *own;
            self.ancestors[number as usize] = ancestor;
        }
        label
    }
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

    const N_VERTICES: u32 = 20;

    proptest! {
        #[test]
        fn a_dominator_is_what_cannot_be_avoided(
            edges in prop::collection::vec((0..N_VERTICES, 0..N_VERTICES), 0..50),
        ) {
            let graph = Digraph::new(N_VERTICES as usize, &edges);
            let dominators = Dominators::of(&graph, 0);
            for target in 0..N_VERTICES {
                let chain = dominators.chain(target);
                prop_assert_eq!(chain.is_some(), reaches(&graph, 0, target, None));
                for vertex in 0..N_VERTICES {
                    let Some(chain) = &chain else { continue };
                    prop_assert_eq!(chain.contains(&vertex), !reaches(&graph, 0, target, Some(vertex)));
                }
            }
        }
    }
}
