//! What must happen, and in which order, before a goal that the search does not reach? (Precise guidance to dynamic test
//! generation, section 4.)
//!
//! Method: an event sequence begins as ⟨entry, goal⟩. Where runs do not pass a problem between two of its events, each
//! definition that may reach what decides the problem makes longer sequences: with the definition at every position that
//! allows it, and with the problem itself. An event keeps variables, which no path to the next event may define anew; the
//! paper's three rules say which. Sequences form a tree ([`SearchTree`]). A definition can be a problem as well: what its
//! value is computed from may need events of its own (the extended chaining approach of McMinn and Holcombe).
//!
//! Limits: only variables that data flow knows have definitions. Paths match calls with returns no more than
//! the graph does, so a sequence may be possible here that no run can follow; activations of a recursive function are not told apart.

mod control;
mod formula;
mod meeting;
mod paths;
mod problem;

use std::collections::BTreeSet;

use model::Program;
use model::walk::{Choice, Site};

use crate::Place;
use crate::dataflow::{DataFlow, DefinitionId, DefinitionKind, ObjectId, UseId};
use crate::icfg::Icfg;
pub use control::{ControlDependence, approach, directions_to};
pub use meeting::{Ahead, AheadId};
use paths::Paths;
pub use problem::{Deciders, Happening, Problem, Promise, StoredValue, computed_from, stored_value};

/// Control is at the place, and what these variables hold then is what they hold at the next event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub place: Place,
    /// What happens there.
    pub happening: Happening,
    pub keeps: BTreeSet<ObjectId>,
}

impl Event {
    fn of(problem: &Problem, keeps: BTreeSet<ObjectId>) -> Self {
        Self { place: problem.place, happening: problem.happening, keeps }
    }
}

/// A definition of an object at one of its places.
#[derive(Clone, Copy)]
struct Defined {
    place: Place,
    definition: DefinitionId,
    object: ObjectId,
}

/// Events in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence {
    pub events: Vec<Event>,
}

impl Sequence {
    /// From the beginning of a run to a goal.
    pub fn new(entry: Place, goal: Place) -> Self {
        let event = |place: Place, happening| Event { place, happening, keeps: BTreeSet::new() };
        Self { events: vec![event(entry, Happening::Start), event(goal, Happening::Reached)] }
    }

    /// The same for a direction as the goal, whose target is at `place`.
    pub fn to_direction(entry: Place, place: Place, site: Site, choice: Choice) -> Self {
        let mut sequence = Self::new(entry, place);
        sequence.events[1].happening = Happening::Taken(site, choice);
        sequence
    }

    /// With a definition of `object` behind event `k`, and with a problem that it is meant for behind event `i`, which is not
    /// before that.
    fn with(&self, defined: Defined, k: usize, problem: &Problem, i: usize) -> Self {
        let Defined { place, definition, object } = defined;
        let mut events = self.events.clone();
        let problem = Event::of(problem, events[i].keeps.clone());
        let happening = Happening::Defined(definition);
        let mut defined = Event { place, happening, keeps: events[k].keeps.clone() };
        defined.keeps.insert(object);
        for event in &mut events[k + 1..=i] {
            event.keeps.insert(object);
        }
        events.insert(i + 1, problem);
        events.insert(k + 1, defined);
        Self { events }
    }

    /// The same for what `object` holds from the beginning.
    fn keeping(&self, object: ObjectId, problem: &Problem, i: usize) -> Self {
        let mut events = self.events.clone();
        let problem = Event::of(problem, events[i].keeps.clone());
        for event in &mut events[..=i] {
            event.keeps.insert(object);
        }
        events.insert(i + 1, problem);
        Self { events }
    }
}

/// A sequence that a definition made of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub sequence: Sequence,
    /// Which of its events is the definition.
    pub defined: usize,
    pub definition: DefinitionId,
    pub use_: UseId,
    pub promise: Promise,
}

/// Makes event sequences for one program.
pub struct Chaining<'a> {
    program: &'a Program,
    flow: &'a DataFlow,
    paths: Paths<'a>,
}

impl<'a> Chaining<'a> {
    pub fn new(program: &'a Program, graph: &'a Icfg, flow: &'a DataFlow) -> Self {
        Self { program, flow, paths: Paths::new(graph, flow) }
    }

    /// Whether paths lead from each event to the next that keep what it keeps.
    pub fn is_possible(&self, sequence: &Sequence) -> bool {
        let leads = |pair: &[Event]| self.paths.lead(pair[0].place, pair[1].place, &pair[0].keeps);
        sequence.events.windows(2).all(leads)
    }

    /// The sequences that get round a problem between event `i` and the next, the most promising first: by what
    /// the definition's value makes of the problem, then the later the definition stands the better.
    pub fn extend(&self, sequence: &Sequence, i: usize, problem: &Problem) -> Vec<Extension> {
        let mut found: Vec<Extension> = Vec::new();
        for use_ in &problem.uses {
            let object = self.flow.use_(*use_).object;
            for definition in self.definitions_of(*use_) {
                let promise = problem.promise(self.program, self.flow, definition, *use_);
                for (longer, defined) in self.with_definition(sequence, i, problem, definition, object) {
                    if self.is_possible(&longer) {
                        let use_ = *use_;
                        found.push(Extension { sequence: longer, defined, definition, use_, promise });
                    }
                }
            }
        }
        found.sort_by_key(|one| (one.promise, std::cmp::Reverse(one.defined), one.definition));
        found
    }

    /// The sequence with a definition at every position before a problem, and which of the events it is.
    fn with_definition(
        &self,
        sequence: &Sequence,
        i: usize,
        problem: &Problem,
        id: DefinitionId,
        object: ObjectId,
    ) -> Vec<(Sequence, usize)> {
        let definition = self.flow.definition(id);
        if definition.kind == DefinitionKind::Initial {
            return vec![(sequence.keeping(object, problem, i), 0)];
        }
        // there already, with nothing in between that needs it again
        let is_there = |event: &Event, place: Place| event.place == place && event.keeps.contains(&object);
        let at = |place: Place| {
            let free =
                move |k: &usize| !sequence.events[*k..=*k + 1].iter().any(|event| is_there(event, place));
            let defined = Defined { place, definition: id, object };
            (0..=i).filter(free).map(move |k| (sequence.with(defined, k, problem, i), k + 1))
        };
        definition.places.iter().flat_map(|place| at(*place)).collect()
    }

    /// Where what an event keeps may be defined anew on a path to the next one, which that path then does not keep.
    pub fn threats(&self, event: &Event, next: &Event) -> Vec<(Place, ObjectId)> {
        let mut found = Vec::new();
        for (place, object) in self.flow.all_kills().filter(|(_, object)| event.keeps.contains(object)) {
            let nothing = BTreeSet::new();
            if place != next.place
                && self.paths.lead(event.place, place, &event.keeps)
                && self.paths.lead(place, next.place, &nothing)
            {
                found.push((place, object));
            }
        }
        found
    }

    /// The definitions that may reach a use.
    pub fn definitions_of(&self, use_: UseId) -> impl Iterator<Item = DefinitionId> + '_ {
        self.flow.pairs().filter(move |(_, pair)| pair.use_ == use_).map(|(_, pair)| pair.definition)
    }
}

/// The sequences that were made for a goal, each with the one that it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchTree {
    nodes: Vec<TreeNode>,
}

/// A sequence of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode {
    pub sequence: Sequence,
    pub parent: Option<usize>,
    /// What made it; nothing for the root.
    pub extension: Option<Made>,
}

/// What made a sequence of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    pub definition: DefinitionId,
    pub use_: UseId,
    pub promise: Promise,
    /// Which event is the definition; 0 for a value that is there from the beginning.
    pub defined: usize,
    /// Which event is the problem that it is meant for.
    pub problem: usize,
}

impl SearchTree {
    /// A tree of one sequence.
    pub fn new(root: Sequence) -> Self {
        Self { nodes: vec![TreeNode { sequence: root, parent: None, extension: None }] }
    }

    pub fn node(&self, number: usize) -> &TreeNode {
        &self.nodes[number]
    }

    pub fn n_sequences(&self) -> usize {
        self.nodes.len()
    }

    /// Adds what gets round a problem of a sequence, as far as the tree does not have it; gives the numbers of the new ones.
    pub fn expand(
        &mut self,
        chaining: &Chaining<'_>,
        number: usize,
        i: usize,
        problem: &Problem,
    ) -> std::ops::Range<usize> {
        let first = self.nodes.len();
        for extension in chaining.extend(&self.nodes[number].sequence.clone(), i, problem) {
            let is_known = self.nodes.iter().any(|node| node.sequence == extension.sequence);
            if !is_known {
                let Extension { sequence, defined, definition, use_, promise } = extension;
                // behind the event that it comes after, and behind the definition if that is an event of its own
                let problem = i + 1 + usize::from(defined > 0);
                let made = Made { definition, use_, promise, defined, problem };
                self.nodes.push(TreeNode { sequence, parent: Some(number), extension: Some(made) });
            }
        }
        first..self.nodes.len()
    }
}

#[cfg(test)]
mod tests {
    use model::{BlockId, FunctionId};

    use super::*;

    fn place(block: u32) -> Place {
        Place { function: FunctionId(0), block: BlockId(block), at: 0 }
    }

    fn event(block: u32, keeps: &[u32]) -> Event {
        let keeps = keeps.iter().map(|object| ObjectId(*object)).collect();
        Event { place: place(block), happening: Happening::Reached, keeps }
    }

    #[test]
    fn constraint_sets_change_by_the_three_rules() {
        let before = Sequence { events: vec![event(0, &[1]), event(3, &[2]), event(5, &[3]), event(9, &[])] };
        // a definition of 7 behind the first event for a problem behind the third
        let problem = Problem::unknown(place(8));
        let defined = Defined { place: place(1), definition: DefinitionId(0), object: ObjectId(7) };
        let mut after = before.with(defined, 0, &problem, 2);
        assert_eq!(after.events[1].happening, Happening::Defined(DefinitionId(0)));
        after.events[1].happening = Happening::Reached;
        let expected = [
            event(0, &[1]),
            event(1, &[1, 7]),
            event(3, &[2, 7]),
            event(5, &[3, 7]),
            event(8, &[3]),
            event(9, &[]),
        ];
        assert_eq!(after.events, expected);
        // a value that is there from the beginning needs no event
        let kept = before.keeping(ObjectId(7), &problem, 1);
        let expected = [event(0, &[1, 7]), event(3, &[2, 7]), event(8, &[2]), event(5, &[3]), event(9, &[])];
        assert_eq!(kept.events, expected);
    }
}
