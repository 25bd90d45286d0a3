//! Solves the constraints: the least sets that satisfy them.
//!
//! Method: a work list of nodes with new pointees, which propagate along copies and, with an offset, along moves; loads,
//! stores and calls through a node add copies as its pointees become known. From time to time, nodes on a cycle of copies
//! are merged: their sets are equal in the end.

use std::collections::{BTreeSet, HashSet, VecDeque};

use model::Program;

use super::constraints::Constraints;
use super::locations::Locations;
use super::{Pointee, PointerOffset};

/// A search for circles costs as much as a pass over the graph; this many nodes are processed between two, for each node.
const PASSES_BETWEEN_SEARCHES: usize = 2;

/// For each node its pointees in order, and for each node the one whose set counts.
pub(super) fn solve(
    program: &Program,
    constraints: &Constraints,
    locations: &mut Locations,
) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut solver = Solver::new(program, constraints, locations);
    solver.collapse();
    let mut n_processed = 0;
    while let Some(node) = solver.open.pop_front() {
        solver.process(node);
        n_processed += 1;
        if n_processed > PASSES_BETWEEN_SEARCHES * solver.nodes.len() {
            n_processed = 0;
            solver.collapse();
        }
    }
    let found = (0..solver.nodes.len()).map(|node| solver.find(node as u32)).collect();
    let sets = solver.nodes.into_iter().map(|node| node.set.bits().collect()).collect();
    (sets, found)
}

#[derive(Clone, Default)]
struct Node {
    set: Bits,
    /// What was not passed on yet.
    new: Bits,
    is_open: bool,
    copies: Vec<u32>,
    moves: Vec<(PointerOffset, u32)>,
    loads: Vec<u32>,
    stores: Vec<u32>,
    calls: Vec<u32>,
}

struct Solver<'a> {
    program: &'a Program,
    constraints: &'a Constraints,
    locations: &'a mut Locations,
    nodes: Vec<Node>,
    /// By node: the one it was made part of, or itself.
    parents: Vec<u32>,
    edges: HashSet<(u32, u32)>,
    open: VecDeque<u32>,
}

impl<'a> Solver<'a> {
    fn new(program: &'a Program, constraints: &'a Constraints, locations: &'a mut Locations) -> Self {
        let n_nodes = constraints.n_nodes as usize;
        let mut solver = Self {
            program,
            constraints,
            locations,
            nodes: vec![Node::default(); n_nodes],
            parents: (0..constraints.n_nodes).collect(),
            edges: HashSet::new(),
            open: VecDeque::new(),
        };
        for &(from, to) in &constraints.loads {
            solver.nodes[from as usize].loads.push(to);
        }
        for &(to, value) in &constraints.stores {
            solver.nodes[to as usize].stores.push(value);
        }
        for (call, number) in constraints.calls.iter().zip(0..) {
            solver.nodes[call.callee as usize].calls.push(number);
        }
        for &(from, to) in &constraints.copies {
            solver.connect(from, to);
        }
        for &(from, by, to) in &constraints.moves {
            solver.nodes[from as usize].moves.push((by, to));
        }
        for &(object, spot, node) in &constraints.addresses {
            let pointee = constraints.pointees[object as usize];
            let mut one = Bits::default();
            solver.locations.at(object, pointee, spot).into_iter().for_each(|location| one.insert(location));
            solver.add(node, &one);
        }
        solver
    }

    fn find(&mut self, node: u32) -> u32 {
        let mut root = node;
        while self.parents[root as usize] != root {
            root = self.parents[root as usize];
        }
        let mut at = node;
        while self.parents[at as usize] != root {
            at = std::mem::replace(&mut self.parents[at as usize], root);
        }
        root
    }

    /// A node gets these pointees, too.
    fn add(&mut self, node: u32, objects: &Bits) {
        let of = &mut self.nodes[node as usize];
        if of.set.add(objects, &mut of.new) && !std::mem::replace(&mut of.is_open, true) {
            self.open.push_back(node);
        }
    }

    /// `to` takes what `from` has and will have.
    fn connect(&mut self, from: u32, to: u32) {
        let (from, to) = (self.find(from), self.find(to));
        if from == to || !self.edges.insert((from, to)) {
            return;
        }
        self.nodes[from as usize].copies.push(to);
        // what waits to be passed on comes here, too, when it is
        let held = std::mem::take(&mut self.nodes[from as usize].set);
        self.add(to, &held);
        self.nodes[from as usize].set = held;
    }

    fn process(&mut self, node: u32) {
        if self.parents[node as usize] != node {
            return;
        }
        self.nodes[node as usize].is_open = false;
        let new = std::mem::take(&mut self.nodes[node as usize].new);
        let copies = std::mem::take(&mut self.nodes[node as usize].copies);
        for to in &copies {
            let to = self.find(*to);
            if to != node {
                self.add(to, &new);
            }
        }
        self.nodes[node as usize].copies = copies;
        self.pass_moved(node, &new);
        let of = &self.nodes[node as usize];
        let (loads, stores, calls) = (of.loads.clone(), of.stores.clone(), of.calls.clone());
        if loads.is_empty() && stores.is_empty() && calls.is_empty() {
            return;
        }
        let objects: BTreeSet<u32> = new.bits().map(|location| self.locations.object(location)).collect();
        for object in objects {
            let content = self.constraints.contents[object as usize];
            loads.iter().for_each(|to| self.connect(content, *to));
            stores.iter().for_each(|value| self.connect(*value, content));
            calls.iter().for_each(|call| self.call(*call, object));
        }
    }

    /// What is new goes along moves.
    fn pass_moved(&mut self, node: u32, new: &Bits) {
        let moves = std::mem::take(&mut self.nodes[node as usize].moves);
        for (by, to) in &moves {
            let mut moved = Bits::default();
            for location in new.bits() {
                self.locations.moved(location, *by).into_iter().for_each(|location| moved.insert(location));
            }
            let to = self.find(*to);
            self.add(to, &moved);
        }
        self.nodes[node as usize].moves = moves;
    }

    /// An indirect call may go to this pointee.
    fn call(&mut self, call: u32, object: u32) {
        let constraints = self.constraints;
        let Pointee::Function(function) = constraints.pointees[object as usize] else { return };
        let call = &constraints.calls[call as usize];
        let Some(interface) = constraints.interfaces.get(&function) else {
            // code that is not in the program gives back what it was given
            for (argument, result) in call.arguments.iter().flatten().zip(call.result) {
                self.connect(*argument, result);
            }
            return;
        };
        if call.is_outside {
            for parameter in &interface.parameters {
                call.arguments.iter().flatten().for_each(|argument| self.connect(*argument, *parameter));
            }
            return;
        }
        let n_parameters = self.program.function(function).parameters.len();
        let n_arguments = call.arguments.len();
        if n_arguments != n_parameters && !(interface.variadic.is_some() && n_parameters <= n_arguments) {
            return;
        }
        for (number, argument) in call.arguments.iter().enumerate() {
            let parameter = interface.parameters.get(number).copied().or(interface.variadic);
            if let Some((argument, parameter)) = argument.zip(parameter) {
                self.connect(argument, parameter);
            }
        }
        call.result.into_iter().for_each(|result| self.connect(interface.result, result));
    }

    /// Makes the nodes of each circle one.
    fn collapse(&mut self) {
        for circle in circles(self) {
            let [first, rest @ ..] = circle.as_slice() else { continue };
            for other in rest {
                self.merge(*first, *other);
            }
            // all of it passes everything on once more, to whom only one of them passed
            let of = &mut self.nodes[*first as usize];
            of.new = of.set.clone();
            if !std::mem::replace(&mut of.is_open, true) {
                self.open.push_back(*first);
            }
        }
    }

    fn merge(&mut self, into: u32, other: u32) {
        self.parents[other as usize] = into;
        let gone = std::mem::take(&mut self.nodes[other as usize]);
        let of = &mut self.nodes[into as usize];
        of.set.add(&gone.set, &mut of.new);
        of.copies.extend(gone.copies);
        of.moves.extend(gone.moves);
        of.loads.extend(gone.loads);
        of.stores.extend(gone.stores);
        of.calls.extend(gone.calls);
    }
}

/// The circles of copies (strongly connected components of more than one node), by Tarjan's algorithm without recursion.
fn circles(solver: &mut Solver<'_>) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let n_nodes = solver.nodes.len();
    let (mut order, mut low) = (vec![NEW; n_nodes], vec![NEW; n_nodes]);
    let mut on_stack = vec![false; n_nodes];
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    for start in 0..u32::try_from(n_nodes).expect("nodes are numbered by u32") {
        if solver.find(start) != start || order[start as usize] != NEW {
            continue;
        }
        let mut path = vec![(start, 0usize)];
        while let Some((node, next)) = path.last().copied() {
            let index = node as usize;
            if next == 0 && order[index] == NEW {
                (order[index], low[index]) = (counter, counter);
                counter += 1;
                stack.push(node);
                on_stack[index] = true;
            }
            match solver.nodes[index].copies.get(next).copied() {
                Some(to) => {
                    if let Some(top) = path.last_mut() {
                        top.1 += 1;
                    }
                    let to = solver.find(to);
                    if order[to as usize] == NEW {
                        path.push((to, 0));
                    } else if on_stack[to as usize] {
                        low[index] = low[index].min(order[to as usize]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((above, _)) = path.last() {
                        low[*above as usize] = low[*above as usize].min(low[index]);
                    }
                    if low[index] == order[index] {
                        let first = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                        let circle = stack.split_off(first);
                        circle.iter().for_each(|node| on_stack[*node as usize] = false);
                        if circle.len() > 1 {
                            found.push(circle);
                        }
                    }
                }
            }
        }
    }
    found
}

/// A set of small numbers.
#[derive(Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn insert(&mut self, number: u32) {
        let (word, bit) = (number as usize / 64, number % 64);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    /// Adds the numbers of `other`; those that were not there also to `new`. Whether there were any.
    fn add(&mut self, other: &Self, new: &mut Self) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut is_changed = false;
        for (number, (mine, others)) in self.0.iter_mut().zip(&other.0).enumerate() {
            let fresh = others & !*mine;
            if fresh != 0 {
                *mine |= fresh;
                if new.0.len() <= number {
                    new.0.resize(number + 1, 0);
                }
                new.0[number] |= fresh;
                is_changed = true;
            }
        }
        is_changed
    }

    fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.0).flat_map(|(word, bits)| {
            let mut left = *bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(word * 64 + bit)
            })
        })
    }
}
