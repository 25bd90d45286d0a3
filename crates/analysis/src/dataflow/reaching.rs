//! Which definitions of one object reach which of its uses, over the inter-procedural control flow graph?
//!
//! Method: reaching definitions by iteration, with matched calls and returns: because there is one object, a function is
//! summarised by the definitions that leave it and by whether a path through it has none. Summaries come first, callees
//! before callers until nothing changes; then what reaches each call is carried into the callee, top down; then the uses
//! are evaluated. Only functions with an access to the object, or with a path to one, take part. A local is followed for
//! one activation: accesses by name in a further activation concern another object. Limit: `setjmp` may return with every
//! definition of the object.

use std::collections::{BTreeMap, BTreeSet};

use model::FunctionId;

use super::calls::CallFlow;
use super::{DefinitionId, Pair, UseId};

/// An access to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) block: u32,
    pub(super) at: u32,
    pub(super) kind: EventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    Use(UseId),
    Define {
        definition: DefinitionId,
        /// Whether nothing of the object is left as it was.
        kills: bool,
    },
}

/// All accesses to one object.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectEvents {
    /// The function whose activation the object lives in.
    pub(super) owner: Option<FunctionId>,
    /// By function, in order within a block: accesses by name.
    pub(super) named: BTreeMap<FunctionId, Vec<Event>>,
    /// The same through pointers.
    pub(super) through: BTreeMap<FunctionId, Vec<Event>>,
    /// Definitions that are there when a run starts.
    pub(super) initial: Vec<DefinitionId>,
}

impl ObjectEvents {
    /// Where nothing of the object is left as it was.
    pub(super) fn kills(&self) -> impl Iterator<Item = (FunctionId, &Event)> {
        let all = self.named.iter().chain(&self.through);
        let all = all.flat_map(|(function, events)| events.iter().map(|event| (*function, event)));
        all.filter(|(_, event)| matches!(event.kind, EventKind::Define { kills: true, .. }))
    }
}

/// The pairs of one object, in no particular order.
pub(super) fn pairs(call_flow: &CallFlow, object: &ObjectEvents) -> Vec<Pair> {
    let mut solver = Solver::new(call_flow, object);
    solver.sum_up();
    solver.carry_down();
    solver.collect()
}

/// Something that happens in a block, as far as the object is concerned.
#[derive(Clone, Copy)]
enum Step {
    Use(UseId),
    Define {
        bit: usize,
        kills: bool,
    },
    /// The call with this number among those of the function.
    Call(usize),
    /// Control does not come back.
    Stop,
    /// `setjmp` comes back.
    Landing,
}

/// A function, or the activation that owns the object.
struct Body {
    function: FunctionId,
    /// By block.
    steps: Vec<Vec<Step>>,
    summary: Summary,
    /// What is there when it is entered.
    entry: Set,
    is_entered: bool,
    has_uses: bool,
}

#[derive(Clone, PartialEq, Eq)]
struct Summary {
    /// Definitions that are there when it returns, the bit behind them for what was there when it was entered.
    leaves: Set,
    returns: bool,
}

/// Definitions by their number within the object.
#[derive(Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn empty(n_bits: usize) -> Self {
        Self(vec![0; n_bits.div_ceil(64)])
    }

    fn insert(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn contains(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn remove(&mut self, bit: usize) {
        self.0[bit / 64] &= !(1 << (bit % 64));
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Adds everything in `other`; whether that was anything new.
    fn add(&mut self, other: &Self) -> bool {
        add(&mut self.0, &other.0)
    }

    fn bits(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        })
    }
}

/// Adds everything in `others` to `mine`; whether that was anything new.
fn add(mine: &mut [u64], others: &[u64]) -> bool {
    let mut changed = 0;
    for (mine, others) in mine.iter_mut().zip(others) {
        changed |= *others & !*mine;
        *mine |= *others;
    }
    changed != 0
}

/// Sets by block, side by side in memory.
struct BlockSets {
    words: Vec<u64>,
    n_words: usize,
    /// By block: whether control was seen to get there.
    reached: Vec<bool>,
}

impl BlockSets {
    fn new(n_blocks: usize, n_words: usize) -> Self {
        Self { words: vec![0; n_blocks * n_words], n_words, reached: vec![false; n_blocks] }
    }

    /// Adds a set to that of a block; whether that was anything new.
    fn add(&mut self, block: u32, set: &Set) -> bool {
        let first = block as usize * self.n_words;
        let is_first = !std::mem::replace(&mut self.reached[block as usize], true);
        add(&mut self.words[first..first + self.n_words], &set.0) || is_first
    }

    /// Makes `set` that of the block; false when control does not get there.
    fn get(&self, block: u32, set: &mut Set) -> bool {
        let first = block as usize * self.n_words;
        set.0.copy_from_slice(&self.words[first..first + self.n_words]);
        self.reached[block as usize]
    }
}

struct Solver<'a> {
    call_flow: &'a CallFlow,
    object: &'a ObjectEvents,
    definitions: Vec<DefinitionId>,
    bodies: Vec<Body>,
    /// By function: its body as a callee.
    callees: BTreeMap<FunctionId, usize>,
}

impl<'a> Solver<'a> {
    fn new(call_flow: &'a CallFlow, object: &'a ObjectEvents) -> Self {
        let events = object.named.values().chain(object.through.values()).flatten();
        let defined = events.filter_map(|event| match event.kind {
            EventKind::Define { definition, .. } => Some(definition),
            EventKind::Use(_) => None,
        });
        let definitions: BTreeSet<DefinitionId> = defined.chain(object.initial.iter().copied()).collect();
        let mut solver = Self {
            call_flow,
            object,
            definitions: definitions.into_iter().collect(),
            bodies: Vec::new(),
            callees: BTreeMap::new(),
        };
        solver.make_bodies();
        solver
    }

    fn make_bodies(&mut self) {
        let object = self.object;
        let no_events = Vec::new();
        let through = |function| object.through.get(&function).unwrap_or(&no_events);
        let named = |function| object.named.get(&function).unwrap_or(&no_events);
        let relevant = match object.owner {
            Some(_) if object.through.is_empty() => BTreeSet::new(),
            // nobody has a pointer to it when it is gone
            Some(owner) => {
                let leading = self.call_flow.leading_to(object.through.keys().copied());
                let entered = self.call_flow.entered_from(owner);
                leading.into_iter().filter(|function| entered.contains(function)).collect()
            }
            None => self.call_flow.leading_to(object.named.keys().chain(object.through.keys()).copied()),
        };
        if let Some(owner) = object.owner {
            self.add_body(owner, &[named(owner), through(owner)], &relevant);
        }
        // callers first: summaries are made from the end, entries from the start
        let mut in_order: Vec<FunctionId> = relevant.iter().copied().collect();
        in_order.sort_by_key(|function| self.call_flow.rank(*function));
        for function in in_order {
            self.callees.insert(function, self.bodies.len());
            match object.owner {
                Some(_) => self.add_body(function, &[through(function)], &relevant),
                None => self.add_body(function, &[named(function), through(function)], &relevant),
            }
        }
    }

    fn add_body(&mut self, function: FunctionId, events: &[&Vec<Event>], relevant: &BTreeSet<FunctionId>) {
        let flow = self.call_flow.function(function);
        let mut steps: Vec<Vec<(u32, u32, Step)>> = vec![Vec::new(); flow.successors.len()];
        // an instruction takes values first, then calls, then defines; behind that control stops
        let mut add = |block: u32, at: u32, step| {
            let order = match step {
                Step::Use(_) => 0,
                Step::Call(_) => 1,
                Step::Define { .. } => 2,
                Step::Landing | Step::Stop => 3,
            };
            steps[block as usize].push((at, order, step));
        };
        for event in events.iter().flat_map(|events| events.iter()) {
            let step = match event.kind {
                EventKind::Use(use_) => Step::Use(use_),
                EventKind::Define { definition, kills } => {
                    let bit = self.definitions.binary_search(&definition).expect("all are listed");
                    Step::Define { bit, kills }
                }
            };
            add(event.block, event.at, step);
        }
        for (call, number) in flow.calls.iter().zip(0..) {
            if call.is_landing {
                add(call.block, call.at, Step::Landing);
            } else if !self.call_flow.comes_back(call) {
                // what the callee does with it still counts
                if call.callees.iter().any(|callee| relevant.contains(callee)) {
                    add(call.block, call.at, Step::Call(number));
                }
                add(call.block, call.at, Step::Stop);
            } else if call.callees.iter().any(|callee| relevant.contains(callee)) {
                add(call.block, call.at, Step::Call(number));
            }
        }
        let in_order = |mut list: Vec<(u32, u32, Step)>| {
            list.sort_by_key(|(at, order, _)| (*at, *order));
            list.into_iter().map(|(_, _, step)| step).collect()
        };
        let steps = steps.into_iter().map(in_order).collect();
        let mut all_events = events.iter().flat_map(|events| events.iter());
        let has_uses = all_events.any(|event| matches!(event.kind, EventKind::Use(_)));
        let nothing = Set::empty(self.n_bits());
        let summary = Summary { leaves: nothing.clone(), returns: false };
        self.bodies.push(Body { function, steps, summary, entry: nothing, is_entered: false, has_uses });
    }

    /// One bit more than there are definitions, for what was there on entry.
    fn n_bits(&self) -> usize {
        self.definitions.len() + 1
    }

    fn sum_up(&mut self) {
        let mut open: BTreeSet<usize> = (0..self.bodies.len()).collect();
        while let Some(index) = open.pop_last() {
            let mut entry = Set::empty(self.n_bits());
            entry.insert(self.definitions.len());
            let summary = self.flow(index, &entry, &mut |_, _| {}, &mut |_, _| {});
            if summary != self.bodies[index].summary {
                self.bodies[index].summary = summary;
                let callers = self.call_flow.callers(self.bodies[index].function);
                open.extend(callers.iter().filter_map(|caller| self.callees.get(caller)));
                if self.object.owner.is_some() {
                    open.insert(0);
                }
            }
        }
    }

    fn carry_down(&mut self) {
        let mut open = BTreeSet::new();
        let mut initial = Set::empty(self.n_bits());
        for definition in &self.object.initial {
            initial.insert(self.definitions.binary_search(definition).expect("all are listed"));
        }
        match self.object.owner {
            Some(_) => {
                self.bodies[0].is_entered = true;
                open.insert(0);
            }
            None => {
                for root in self.call_flow.roots() {
                    if let Some(&index) = self.callees.get(root) {
                        self.bodies[index].is_entered = true;
                        self.bodies[index].entry.add(&initial);
                        open.insert(index);
                    }
                }
            }
        }
        while let Some(index) = open.pop_first() {
            let entry = self.bodies[index].entry.clone();
            let mut given: BTreeMap<usize, Set> = BTreeMap::new();
            let function = self.bodies[index].function;
            self.flow(index, &entry, &mut |_, _| {}, &mut |call, set| {
                for callee in &self.call_flow.function(function).calls[call].callees {
                    if let Some(&body) = self.callees.get(callee) {
                        given.entry(body).or_insert_with(|| Set::empty(self.n_bits())).add(set);
                    }
                }
            });
            for (body, set) in given {
                let body_ref = &mut self.bodies[body];
                let is_new = !std::mem::replace(&mut body_ref.is_entered, true);
                if body_ref.entry.add(&set) || is_new {
                    open.insert(body);
                }
            }
        }
    }

    fn collect(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (index, body) in
            self.bodies.iter().enumerate().filter(|(_, body)| body.is_entered && body.has_uses)
        {
            let mut at_use = |use_: UseId, set: &Set| {
                let reaching = set.bits().filter(|bit| *bit < self.definitions.len());
                pairs.extend(reaching.map(|bit| Pair { definition: self.definitions[bit], use_ }));
            };
            self.flow(index, &body.entry, &mut at_use, &mut |_, _| {});
        }
        pairs
    }

    /// Iterates over a body until nothing changes, then tells what is there at uses and calls; gives what leaves it.
    fn flow(
        &self,
        index: usize,
        entry: &Set,
        at_use: &mut dyn FnMut(UseId, &Set),
        at_call: &mut dyn FnMut(usize, &Set),
    ) -> Summary {
        let body = &self.bodies[index];
        let flow = self.call_flow.function(body.function);
        let (mut set, mut scratch) = (entry.clone(), Set::empty(self.n_bits()));
        let mut before = BlockSets::new(flow.successors.len(), set.0.len());
        before.add(0, entry);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &flow.order {
                if before.get(block, &mut set)
                    && self.pass(body, block, (&mut set, &mut scratch), &mut |_, _| {}, &mut |_, _| {})
                {
                    for &next in &flow.successors[block as usize] {
                        changed |= before.add(next, &set);
                    }
                }
            }
            // without a way back, what comes later in the order was just looked at
            changed &= flow.has_cycle;
        }
        let mut summary = Summary { leaves: Set::empty(self.n_bits()), returns: false };
        for &block in &flow.order {
            if before.get(block, &mut set)
                && self.pass(body, block, (&mut set, &mut scratch), at_use, at_call)
                && flow.returns[block as usize]
            {
                summary.leaves.add(&set);
                summary.returns = true;
            }
        }
        summary
    }

    /// What a block makes of a set; false when control does not get to its end.
    fn pass(
        &self,
        body: &Body,
        block: u32,
        (set, scratch): (&mut Set, &mut Set),
        at_use: &mut dyn FnMut(UseId, &Set),
        at_call: &mut dyn FnMut(usize, &Set),
    ) -> bool {
        for step in &body.steps[block as usize] {
            match *step {
                Step::Use(use_) => at_use(use_, set),
                Step::Define { bit, kills } => {
                    if kills {
                        set.clear();
                    }
                    set.insert(bit);
                }
                Step::Call(number) => {
                    at_call(number, set);
                    if !self.call(body.function, number, set, scratch) {
                        return false;
                    }
                }
                Step::Stop => return false,
                Step::Landing => (0..self.definitions.len()).for_each(|bit| set.insert(bit)),
            }
        }
        true
    }

    /// What a call makes of a set, put together in `after`; false when it does not come back, as far as is known.
    fn call(&self, function: FunctionId, number: usize, set: &mut Set, after: &mut Set) -> bool {
        let call = &self.call_flow.function(function).calls[number];
        let entry_bit = self.definitions.len();
        after.clear();
        let (mut comes_back, mut passes) = (call.passes, call.passes);
        for callee in &call.callees {
            match self.callees.get(callee) {
                Some(&index) => {
                    let summary = &self.bodies[index].summary;
                    passes |= summary.returns && summary.leaves.contains(entry_bit);
                    comes_back |= summary.returns;
                    after.add(&summary.leaves);
                }
                None => {
                    let returns = self.call_flow.returns(*callee);
                    passes |= returns;
                    comes_back |= returns;
                }
            }
        }
        after.remove(entry_bit);
        if passes {
            after.add(set);
        }
        std::mem::swap(set, after);
        comes_back
    }
}
