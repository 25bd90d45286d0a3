//! Why is each goal undecided?
//!
//! Method: a goal is decided by directions of sites. If runs came to one of them, what was tried there is the reason. Else the
//! reason is what keeps runs from the nearest place that they did not come to: one search of the control flow graph from
//! everything that was reached labels all the rest with the way in that no run took. Whether a value that never depended on
//! the input comes from a stub or from a library function is asked of `analysis::origins`. Limits: goals of data flow have no
//! place of their own; of several ways to a place the one with the fewest nodes is told.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use analysis::icfg::{Callees, Exit, Icfg, NodeId};
use analysis::origins::{Asked, Origins};
use model::walk::{Choice, Site};
use model::{BlockId, Callee, FunctionId, GapKind, Op, Operand, Program};

use crate::demand::DemandPlaces;
use crate::directions::directions;
use crate::facts::{Facts, Way};
use crate::reason::{Barrier, Cause, Lost, MODEL_PREFIX, Reason, Tried};
use crate::{Coverage, Demand, Goal, GoalId, Status};

/// Calls that are followed into what never returned.
const MAX_CALLS: u32 = 16;

/// How a search ended, as far as reasons depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// Nothing was left to try.
    Exhausted,
    /// There was more to try.
    CutShort,
}

/// Gives every undecided goal its reason. `stubs` are those that do not give everything.
pub fn explain(
    coverage: &mut Coverage,
    program: &Program,
    facts: &Facts,
    end: SearchEnd,
    stubs: &BTreeMap<FunctionId, Asked>,
) {
    let libraries = libraries(program, facts);
    let of_libraries: BTreeMap<FunctionId, Asked> =
        libraries.keys().map(|function| (*function, Asked { result: true, memory: true })).collect();
    let of_allocations = allocations(program);
    let graph = Icfg::new(program);
    let mut explainer = Explainer {
        program,
        facts,
        end,
        barriers: barriers(&graph, facts),
        graph,
        stubs: Origins::new(program, stubs),
        from_libraries: Origins::new(program, &of_libraries).without_pointers(),
        from_allocations: Origins::new(program, &of_allocations).without_pointers().within_functions(),
        libraries,
        values: values(program),
        places: DemandPlaces::of(program),
        known: BTreeMap::new(),
    };
    let open = coverage.goals().filter(|(.., status)| matches!(status, Status::Undecided(_)));
    let reasons: Vec<(GoalId, Reason)> = open.map(|(id, goal, _)| (id, explainer.reason(goal))).collect();
    for (id, reason) in reasons {
        coverage.give_reason(id, reason);
    }
}

/// The outcomes that would bring runs nearer to a goal and that none had: of what stands before it, or of what decides it.
pub fn obstacles(coverage: &Coverage, program: &Program, facts: &Facts, goal: GoalId) -> Vec<(Site, Choice)> {
    let Status::Undecided(reason) = coverage.status(goal) else { return Vec::new() };
    match reason.before {
        Some(Barrier::Direction(site, choice)) => vec![(site, choice)],
        Some(Barrier::Call(..) | Barrier::Inside(..) | Barrier::Function(_)) => Vec::new(),
        None => {
            let places = DemandPlaces::of(program);
            let ways = directions(program, &places, coverage.goal(goal).demand);
            let is_untaken = |(site, choice): &(Site, Choice)| facts.was_taken(*site, *choice) != Some(true);
            let untaken: Vec<_> = ways.iter().copied().filter(is_untaken).collect();
            if untaken.is_empty() { ways } else { untaken }
        }
    }
}

/// The functions that were given symbolic values and are not followed, each with its first site.
fn libraries(program: &Program, facts: &Facts) -> BTreeMap<FunctionId, u32> {
    let mut libraries = BTreeMap::new();
    let pinned = facts.all_pinned().keys().filter_map(|place| match place {
        Lost::Site(site) => Some(*site),
        Lost::Access(_) | Lost::Unknown => None,
    });
    for site in facts.all_unfollowed().keys().copied().chain(pinned) {
        let Some(gap) = program.sites.get(site as usize).filter(|gap| gap.kind == GapKind::LibraryFunction)
        else {
            continue;
        };
        let model = format!("{MODEL_PREFIX}{}", gap.what);
        let is_it = |name: &str| name == gap.what || name == model;
        let functions = program.functions.iter().zip((0..).map(FunctionId));
        for (_, id) in functions.filter(|(function, _)| is_it(&function.name)) {
            libraries.entry(id).or_insert(site);
        }
    }
    libraries
}

/// Functions that give memory, and fail only when that is asked for.
const ALLOCATIONS: [&str; 6] = ["malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup"];

fn allocations(program: &Program) -> BTreeMap<FunctionId, Asked> {
    let is_meant = |name: &str| ALLOCATIONS.contains(&name.strip_prefix(MODEL_PREFIX).unwrap_or(name));
    let functions = program.functions.iter().zip((0..).map(FunctionId));
    let meant = functions.filter(|(function, _)| is_meant(&function.name));
    meant.map(|(_, id)| (id, Asked { result: true, memory: false })).collect()
}

/// By site: the values that decide there.
fn values(program: &Program) -> BTreeMap<Site, Vec<(FunctionId, Operand)>> {
    let mut values: BTreeMap<Site, Vec<(FunctionId, Operand)>> = BTreeMap::new();
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        for (block_id, block) in function.blocks() {
            for instr in &block.instrs {
                if let Op::Mark { condition, value } = function.instr(*instr).op {
                    values.entry(Site::Condition(condition)).or_default().push((id, value));
                }
            }
            if let Some(operand) = block.terminator.operand() {
                for site in [Site::Branch(id, block_id), Site::Switch(id, block_id)] {
                    values.entry(site).or_default().push((id, operand));
                }
            }
        }
    }
    values
}

/// By node that no run came to: the way in that no run took.
fn barriers(graph: &Icfg, facts: &Facts) -> BTreeMap<NodeId, Barrier> {
    let is_reached = |id: NodeId| {
        let node = graph.node(id);
        facts.begun(node.function, node.block) > node.first
    };
    let is_passed = |id: NodeId| {
        let node = graph.node(id);
        facts.begun(node.function, node.block) >= node.end
    };
    let mut labels: BTreeMap<NodeId, Barrier> = BTreeMap::new();
    // an indirect call may go anywhere: it is told only where nothing else leads
    for pointers in [false, true] {
        let mut open: VecDeque<NodeId> = VecDeque::new();
        let is_known = |id: NodeId, labels: &BTreeMap<_, _>| is_reached(id) || labels.contains_key(&id);
        for id in graph.ids().filter(|id| is_known(*id, &labels)).collect::<Vec<_>>() {
            let node = graph.node(id);
            for (next, barrier) in steps(graph, id, pointers) {
                let barrier = match labels.get(&id) {
                    Some(label) => *label,
                    None if is_passed(id) => barrier,
                    None => Barrier::Inside(node.function, node.block),
                };
                if !is_known(next, &labels) {
                    labels.insert(next, barrier);
                    open.push_back(next);
                }
            }
        }
        while let Some(id) = open.pop_front() {
            let barrier = labels[&id];
            for (next, _) in steps(graph, id, pointers) {
                if !is_known(next, &labels) {
                    labels.insert(next, barrier);
                    open.push_back(next);
                }
            }
        }
    }
    labels
}

/// The nodes that may come next, each with what it means that a run that came to the end of this one did not go there.
fn steps(graph: &Icfg, id: NodeId, pointers: bool) -> Vec<(NodeId, Barrier)> {
    let node = graph.node(id);
    let inside = Barrier::Inside(node.function, node.block);
    match &node.exit {
        Exit::Jump(next) => vec![(*next, inside)],
        Exit::Follow(targets) => targets.iter().map(|next| (*next, inside)).collect(),
        Exit::Choose(choices) => {
            let directions = choices.iter().map(|direction| &graph.directions[direction.index()]);
            directions
                .flat_map(|direction| {
                    let barrier = Barrier::Direction(direction.site, direction.choice);
                    let own =
                        direction.sources.iter().zip(&direction.targets).filter(|(from, _)| **from == id);
                    own.map(move |(_, next)| (*next, barrier))
                })
                .collect()
        }
        Exit::Call { callees, then } => {
            let call = Barrier::Call(node.function, node.block, node.end.saturating_sub(1));
            let mut next: Vec<(NodeId, Barrier)> = match callees {
                Callees::One(callee) => graph.entry(*callee).map(|entry| (entry, call)).into_iter().collect(),
                Callees::Indirect if pointers => {
                    let entry =
                        |callee: &FunctionId| Some((graph.entry(*callee)?, Barrier::Function(*callee)));
                    graph.address_taken.iter().filter_map(entry).collect()
                }
                // whether it calls back is a guess
                Callees::Indirect | Callees::Unknown => Vec::new(),
            };
            next.extend(then.map(|then| (then, call)));
            next
        }
        Exit::Return | Exit::Dead => Vec::new(),
    }
}

/// What a site depends on.
#[derive(Clone, Copy, Debug, Default)]
struct SiteOrigin {
    stub: Option<FunctionId>,
    library: Option<FunctionId>,
    allocation: Option<FunctionId>,
}

struct Explainer<'p> {
    program: &'p Program,
    facts: &'p Facts,
    end: SearchEnd,
    graph: Icfg,
    barriers: BTreeMap<NodeId, Barrier>,
    stubs: Origins<'p>,
    from_libraries: Origins<'p>,
    from_allocations: Origins<'p>,
    libraries: BTreeMap<FunctionId, u32>,
    values: BTreeMap<Site, Vec<(FunctionId, Operand)>>,
    places: DemandPlaces<'p>,
    known: BTreeMap<Site, SiteOrigin>,
}

impl Explainer<'_> {
    fn reason(&mut self, goal: &Goal) -> Reason {
        let ways = directions(self.program, &self.places, goal.demand);
        // what no run did at all says more than how its parts were combined
        let is_untaken =
            |(site, choice): &(Site, Choice)| self.facts.was_taken(*site, *choice) == Some(false);
        let untaken: Vec<_> = ways.iter().copied().filter(is_untaken).collect();
        let ways = if untaken.is_empty() { ways } else { untaken };
        let reached: Vec<_> =
            ways.iter().copied().filter(|(site, _)| self.n_reached(*site).is_some()).collect();
        if !reached.is_empty() {
            return Reason { before: None, ..self.judge(&reached) };
        }
        let mut nodes: Vec<NodeId> =
            ways.iter().flat_map(|(site, choice)| self.sources(*site, *choice)).collect();
        nodes.extend(self.starts(goal.demand));
        let Some(first) = nodes.first().copied().filter(|_| self.has_begun()) else {
            return self.in_general();
        };
        let barrier = nodes.iter().find_map(|node| self.barriers.get(node)).copied();
        let barrier = barrier.map(|barrier| self.within_callees(barrier));
        match barrier {
            Some(Barrier::Direction(site, choice)) => {
                Reason { before: barrier, ..self.judge(&[(site, choice)]) }
            }
            Some(Barrier::Call(..) | Barrier::Inside(..)) => {
                Reason { before: barrier, ..Reason::only(Cause::Ended) }
            }
            Some(Barrier::Function(_)) => Reason { before: barrier, ..Reason::only(Cause::Pointer) },
            None => {
                let function = self.graph.node(first).function;
                let before = Some(Barrier::Function(function));
                Reason { before, ..Reason::only(Cause::NoWay) }
            }
        }
    }

    /// For a call that never came back: what stands before the callee's end, as far as that is known.
    fn within_callees(&self, mut barrier: Barrier) -> Barrier {
        for _ in 0..MAX_CALLS {
            let Barrier::Call(function, block, at) = barrier else { break };
            let instrs = &self.program.function(function).block(block).instrs;
            let op = instrs.get(at as usize).map(|instr| &self.program.function(function).instr(*instr).op);
            let Some(Op::Call { callee: Callee::Direct(callee), .. }) = op else { break };
            let returns = self.graph.nodes_of(*callee).map(NodeId);
            let mut returns = returns.filter(|id| matches!(self.graph.node(*id).exit, Exit::Return));
            let Some(inner) = returns.find_map(|id| self.barriers.get(&id)) else { break };
            barrier = *inner;
        }
        barrier
    }

    /// Whether a run is known to have begun.
    fn has_begun(&self) -> bool {
        let root = self.program.root.filter(|root| self.program.function(*root).is_defined());
        root.is_some_and(|root| self.facts.begun(root, BlockId::new(0)) > 0)
    }

    /// The reason where nothing is known of a goal's own place.
    fn in_general(&self) -> Reason {
        let tried = Tried { troubled: self.facts.n_unread(), ..Tried::default() };
        let cause = match self.end {
            _ if tried.troubled > 0 && !self.has_begun() => Cause::Trouble,
            SearchEnd::Exhausted => Cause::Saturated,
            SearchEnd::CutShort => Cause::Budget,
        };
        Reason { cause, before: None, tried, attempt: None }
    }

    /// Where a demand is met by being there.
    fn starts(&self, demand: Demand) -> Vec<NodeId> {
        if let Demand::Executed(statement) = demand {
            let statement = self.program.statement(statement);
            let node = |(block, at)| self.graph.node_at(statement.function, block, at);
            return statement.code.map(node).into_iter().collect();
        }
        let places = self.places.deciding(demand).into_iter();
        places.map(|place| self.graph.block(place.function, place.block)).collect()
    }

    fn sources(&self, site: Site, choice: Choice) -> Vec<NodeId> {
        let direction = self.graph.direction(site, choice);
        direction.map(|id| self.graph.directions[id.index()].sources.clone()).unwrap_or_default()
    }

    /// How many runs came to a site, and how many of them had expressions; `None` when no run did.
    fn n_reached(&self, site: Site) -> Option<(u64, u64)> {
        let all = [Choice::Outcome(true), Choice::Outcome(false), Choice::Default];
        let nodes: BTreeSet<NodeId> = all.iter().flat_map(|choice| self.sources(site, *choice)).collect();
        let reached = nodes.iter().map(|id| self.graph.node(*id));
        let reached = reached.filter(|node| self.facts.begun(node.function, node.block) >= node.end);
        reached.map(|node| self.facts.n_runs(node.function, node.block)).max()
    }

    /// The reason at directions that runs came to and did not take.
    fn judge(&mut self, ways: &[(Site, Choice)]) -> Reason {
        let mut tried = Tried::default();
        let mut sum = Way::default();
        let mut n_expressed = 0;
        for (site, choice) in ways {
            let (n_runs, n_with) = self.n_reached(*site).unwrap_or_default();
            tried.reached = tried.reached.max(n_runs);
            n_expressed = n_expressed.max(n_with);
            let Some(way) = self.facts.known(*site, *choice) else { continue };
            tried.unsatisfiable += way.unsatisfiable;
            tried.unsolved += way.unsolved;
            tried.diverged += way.diverged;
            tried.troubled += way.troubled;
            tried.waiting += way.waiting;
            tried.left_out += way.left_out;
            sum.given_up.extend(&way.given_up);
            sum.limit = sum.limit.or_else(|| way.limit.clone());
            sum.sequences = sum.sequences.or_else(|| way.sequences.clone());
        }
        let is_symbolic = ways.iter().any(|(site, _)| self.facts.is_symbolic(*site));
        let is_over = self.end == SearchEnd::Exhausted;
        let lost = if is_symbolic { None } else { self.lost(ways) };
        // the first sequence alone says no more than what else is known, and the solver knows better where it was asked
        let is_excluded = is_symbolic && tried.unsatisfiable > 0;
        let saturated = sum.sequences.take();
        let saturated =
            saturated.filter(|sequences| sequences.is_saturated && sequences.n > 1 && !is_excluded);
        let cause = if let Some(cause) = lost {
            cause
        } else if let Some(sequences) =
            saturated.filter(|_| tried.unsolved + tried.troubled + tried.left_out == 0)
        {
            (tried.sequences, tried.ends_at) = (sequences.n, sequences.ends.first().copied());
            Cause::Saturated
        } else if !is_symbolic && n_expressed > 0 {
            Cause::Concrete
        } else if tried.waiting > 0 && !is_over {
            Cause::Budget
        } else if tried.left_out > 0 {
            Cause::LeftOut
        } else if tried.unsolved > 0 {
            Cause::Unsolved
        } else if tried.diverged > 0 {
            let known = sum.given_up.iter().find(|place| **place != Lost::Unknown);
            known.or(sum.given_up.first()).map_or(Cause::Diverged, |place| Cause::Pinned(*place))
        } else if tried.troubled > 0 {
            Cause::Trouble
        } else if let Some(stub) = self.origin(ways, |known| known.stub).filter(|_| is_over) {
            Cause::Stub(stub)
        } else if tried.unsatisfiable > 0 {
            sum.limit.map_or(Cause::Unsatisfiable, Cause::Limit)
        } else if is_over {
            Cause::Saturated
        } else {
            Cause::Budget
        };
        Reason { cause, before: None, tried, attempt: None }
    }

    /// Where what decides may have lost its dependence on the input.
    fn lost(&mut self, ways: &[(Site, Choice)]) -> Option<Cause> {
        if let Some(stub) = self.origin(ways, |known| known.stub) {
            return Some(Cause::Stub(stub));
        }
        if let Some(library) = self.origin(ways, |known| known.library) {
            return Some(Cause::Library(self.libraries[&library]));
        }
        self.origin(ways, |known| known.allocation).map(Cause::Allocation)
    }

    /// The first function that one of the sites depends on.
    fn origin(
        &mut self,
        ways: &[(Site, Choice)],
        which: impl Fn(SiteOrigin) -> Option<FunctionId>,
    ) -> Option<FunctionId> {
        ways.iter().find_map(|(site, _)| {
            let known = self.known.get(site).copied().unwrap_or_else(|| {
                let values = self.values.get(site).map(Vec::as_slice).unwrap_or_default();
                let first = |origins: &Origins<'_>| {
                    values.iter().find_map(|(function, value)| origins.of(*function, *value))
                };
                SiteOrigin {
                    stub: first(&self.stubs),
                    library: first(&self.from_libraries),
                    allocation: first(&self.from_allocations),
                }
            });
            self.known.insert(*site, known);
            which(known)
        })
    }
}
