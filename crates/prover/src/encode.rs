//! Executes the program symbolically between cuts: under which condition does control arrive where, in which state?
//!
//! Method: from the entry or from a cut, nodes are executed in topological order, and states that meet are merged into one
//! by choices; no path is enumerated. What is not modelled (calls that are not inlined, floating-point arithmetic, undefined
//! values) is a fresh symbol. Division by zero and accesses to null are not taken to end a run, because a compiler may drop
//! an operation whose result nothing uses. Limit: memory is one array, and an unknown call may change all of it.

use std::collections::{BTreeMap, HashMap};

use model::{FunctionId, InstrId, Program, Type};

use crate::cells::Cells;
use crate::graph::{ContextId, CutId, Graph, Node};
use crate::locals::Locals;
use crate::memory::{Access, Memories, Memory};
use crate::objects::Objects;
use crate::state::{Slot, State, Value};
use crate::terms::{Bits, Terms, Truth};
use crate::unrolling::Unrolling;
use crate::watch::Watch;

/// Terms of one encoding; more are given up.
pub(crate) const MAX_TERMS: usize = 400_000;

/// Where a segment begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Entry,
    Cut(CutId),
}

/// What was unknown when a segment began.
pub(crate) struct Symbols<'m> {
    pub(crate) start: Start,
    pub(crate) memory: Memory,
    values: HashMap<Slot, Option<Value<'m>>>,
}

/// All executions from a start to the next cuts, and from these on.
pub(crate) struct Segment<'m> {
    pub(crate) symbols: Symbols<'m>,
    /// By how many cuts were passed before.
    pub(crate) levels: Vec<Level<'m>>,
}

/// What is executed between two cuts.
pub(crate) struct Level<'m> {
    /// The state in which control arrives at a cut; its path condition says when.
    pub(crate) arrivals: BTreeMap<CutId, State<'m>>,
    /// Goals by number, and when they would be covered.
    pub(crate) events: Vec<(usize, Truth<'m>)>,
}

impl<'m> Segment<'m> {
    /// Where control arrives first.
    pub(crate) fn arrivals(&self) -> &BTreeMap<CutId, State<'m>> {
        &self.levels[0].arrivals
    }
}

/// Encodes the segments of one graph.
pub(crate) struct Encoder<'a, 'm> {
    pub(crate) program: &'a Program,
    pub(crate) graph: &'a Graph<'a>,
    pub(crate) terms: Terms<'m>,
    pub(crate) objects: Objects<'m>,
    pub(crate) memories: Memories<'m>,
    pub(crate) cells: Cells,
    pub(crate) watch: &'a Watch,
    /// Whether goals of the entry's own activation alone count.
    pub(crate) counts_entry_only: bool,
    pub(crate) initial_globals: bool,
    /// Whether allocation never fails.
    pub(crate) is_allocated: bool,
    /// Whether accesses outside of objects are left out; no proof may do that.
    pub(crate) stays_inside: bool,
    pub(crate) locals: HashMap<FunctionId, Locals>,
    /// The goal whose flag formulas speak of.
    pub(crate) flag_goal: Option<usize>,
    parameters: HashMap<u32, Value<'m>>,
    /// Terms that there may be.
    max_terms: usize,
}

/// An encoding that grew too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// A segment that is being executed.
pub(crate) struct Run<'m> {
    pub(crate) symbols: Symbols<'m>,
    pending: HashMap<Node, Vec<State<'m>>>,
    arrivals: BTreeMap<CutId, Vec<State<'m>>>,
    pub(crate) events: Vec<(usize, Truth<'m>)>,
    /// Loops are not cut, but executed for so many iterations.
    pub(crate) unrolling: Option<Unrolling<'m>>,
}

impl<'m> Symbols<'m> {
    /// Leaves none behind.
    pub(crate) fn take(&mut self) -> Self {
        Self { values: std::mem::take(&mut self.values), ..*self }
    }
}

impl<'m> Run<'m> {
    /// Nothing waits yet.
    pub(crate) fn with(symbols: Symbols<'m>) -> Self {
        let (pending, arrivals) = (HashMap::new(), BTreeMap::new());
        Self { symbols, pending, arrivals, events: Vec::new(), unrolling: None }
    }

    pub(crate) fn event(&mut self, goal: usize, when: Truth<'m>) {
        self.events.push((goal, when));
    }
}

impl<'a, 'm> Encoder<'a, 'm> {
    pub(crate) fn new(
        graph: &'a Graph<'a>,
        terms: Terms<'m>,
        watch: &'a Watch,
        counts_entry_only: bool,
        initial_globals: bool,
    ) -> Self {
        let program = graph.program;
        let mut locals = HashMap::new();
        for context in &graph.contexts {
            let make = || Locals::of(program, program.function(context.function));
            locals.entry(context.function).or_insert_with(make);
        }
        Self {
            program,
            graph,
            terms,
            objects: Objects::default(),
            memories: Memories::default(),
            cells: Cells::default(),
            watch,
            counts_entry_only,
            initial_globals,
            is_allocated: false,
            stays_inside: false,
            locals,
            flag_goal: None,
            parameters: HashMap::new(),
            max_terms: MAX_TERMS,
        }
    }

    /// The first encoding may have so many terms.
    pub(crate) fn limit(&mut self, max_terms: usize) {
        self.max_terms = max_terms;
    }

    /// As many terms again may be made.
    pub(crate) fn allow_more(&mut self) {
        self.max_terms = self.terms.n_terms() + MAX_TERMS;
    }

    /// Whether there are too many terms, or no effort is left for more.
    pub(crate) fn is_too_large(&self) -> bool {
        self.terms.n_terms() > self.max_terms || self.terms.is_spent()
    }

    /// Executes everything from a start to the next cuts.
    pub(crate) fn segment(&mut self, start: Start) -> Result<Segment<'m>, TooLarge> {
        let (node, is_initial) = match start {
            Start::Entry => (self.graph.entry(), self.initial_globals),
            Start::Cut(cut) => (self.graph.cut(cut), false),
        };
        let (mut run, first) = self.begin(start, is_initial);
        let mut firsts = BTreeMap::new();
        // an entry that is a cut itself only arrives there
        if start == Start::Entry && self.graph.cut_at(node).is_some() {
            self.go(&mut run, node, first);
        } else {
            firsts.insert(node, first);
        }
        let level = self.advance(&mut run, firsts)?;
        Ok(Segment { symbols: run.symbols, levels: vec![level] })
    }

    /// Adds what is executed from the cuts on where the segment arrives last.
    pub(crate) fn deepen(&mut self, segment: &mut Segment<'m>) -> Result<(), TooLarge> {
        let last = segment.levels.last().expect("there is a first");
        let firsts = last.arrivals.iter().map(|(cut, state)| (self.graph.cut(*cut), state.clone())).collect();
        let mut run = Run::with(segment.symbols.take());
        let level = self.advance(&mut run, firsts);
        segment.symbols = run.symbols;
        segment.levels.push(level?);
        Ok(())
    }

    /// Executes what waits at these nodes, which are cuts or the entry, to the next cuts.
    pub(crate) fn advance(
        &mut self,
        run: &mut Run<'m>,
        mut firsts: BTreeMap<Node, State<'m>>,
    ) -> Result<Level<'m>, TooLarge> {
        for &at in self.graph.order() {
            let state = match firsts.remove(&at) {
                Some(state) => state,
                None => match run.pending.remove(&at) {
                    Some(states) => self.merge(&mut run.symbols, states),
                    None => continue,
                },
            };
            self.node(run, at, state);
            if self.is_too_large() {
                return Err(TooLarge);
            }
        }
        let mut arrivals = BTreeMap::new();
        for (cut, states) in std::mem::take(&mut run.arrivals) {
            arrivals.insert(cut, self.merge(&mut run.symbols, states));
        }
        Ok(Level { arrivals, events: std::mem::take(&mut run.events) })
    }

    /// Nothing was executed yet.
    pub(crate) fn begin(&mut self, start: Start, is_initial: bool) -> (Run<'m>, State<'m>) {
        let memory = self.memories.unknown(&mut self.terms, self.program.pointer_bits, is_initial);
        let symbols = Symbols { start, memory, values: HashMap::new() };
        let first = State { path: self.terms.truth(true), values: BTreeMap::new(), memory };
        (Run::with(symbols), first)
    }

    /// Control goes to the node.
    pub(crate) fn go(&mut self, run: &mut Run<'m>, node: Node, state: State<'m>) {
        if self.terms.is_false(state.path) {
            return;
        }
        if let Some(unrolling) = &mut run.unrolling {
            return unrolling.wait(self.graph, node, state);
        }
        match self.graph.cut_at(node) {
            Some(cut) => run.arrivals.entry(cut).or_default().push(state),
            None => run.pending.entry(node).or_default().push(state),
        }
    }

    /// The value of a slot.
    pub(crate) fn get(
        &mut self,
        symbols: &mut Symbols<'m>,
        state: &State<'m>,
        slot: Slot,
    ) -> Option<Value<'m>> {
        match state.values.get(&slot) {
            Some(value) => Some(value.clone()),
            None => self.symbol(symbols, slot),
        }
    }

    /// What the slot held when the segment began.
    fn symbol(&mut self, symbols: &mut Symbols<'m>, slot: Slot) -> Option<Value<'m>> {
        if let Some(known) = symbols.values.get(&slot) {
            return known.clone();
        }
        let value = match slot {
            Slot::Parameter(ContextId::ENTRY, number) => self.entry_parameter(number),
            Slot::Defined(_, goal) if symbols.start == Start::Entry => {
                let begins_set = self.watch.begins_set(goal);
                Some(Value::Bits(self.terms.constant(1, begins_set.into())))
            }
            Slot::Evaluated(..) if symbols.start == Start::Entry => {
                Some(Value::Bits(self.terms.constant(1, 0)))
            }
            Slot::Evaluated(..) | Slot::Outcome(..) | Slot::Defined(..) => {
                Some(Value::Bits(self.terms.fresh(1)))
            }
            Slot::Local(context, id) | Slot::Result(context, id) => {
                let ty = self.slot_type(context, id, matches!(slot, Slot::Local(..)));
                self.unknown(ty)
            }
            Slot::Parameter(context, number) => {
                let ty = self.graph.function(context).parameters.get(number as usize).copied();
                ty.and_then(|ty| self.unknown(ty))
            }
        };
        symbols.values.insert(slot, value.clone());
        value
    }

    fn slot_type(&self, context: ContextId, id: InstrId, is_local: bool) -> Type {
        let function = self.graph.context(context).function;
        if is_local {
            return self.locals[&function].promoted[&id];
        }
        self.program.function(function).instr(id).ty
    }

    fn entry_parameter(&mut self, number: u32) -> Option<Value<'m>> {
        if let Some(known) = self.parameters.get(&number) {
            return Some(known.clone());
        }
        let ty = *self.graph.function(ContextId::ENTRY).parameters.get(number as usize)?;
        let value = self.unknown(ty)?;
        self.parameters.insert(number, value.clone());
        Some(value)
    }

    /// Width of a scalar.
    pub(crate) fn width(&self, ty: Type) -> Option<u32> {
        match ty {
            Type::Int(bits) => Some(bits),
            Type::Ptr => Some(self.program.pointer_bits),
            Type::Float(kind) => Some(kind.bits()),
            Type::Void | Type::Record(_) | Type::Opaque => None,
        }
    }

    /// A value of which nothing is known; none for a type without values here.
    pub(crate) fn unknown(&mut self, ty: Type) -> Option<Value<'m>> {
        match ty {
            Type::Int(_) | Type::Ptr | Type::Float(_) => {
                let width = self.width(ty)?;
                Some(Value::Bits(self.terms.fresh(width)))
            }
            Type::Record(record) => {
                let leaves = self.program.record(record).leaves.clone();
                let mut all = Vec::new();
                for leaf in &leaves {
                    let width = self.width(leaf.1)?;
                    all.push(self.terms.fresh(width));
                }
                Some(Value::Record(all.into()))
            }
            Type::Void | Type::Opaque => None,
        }
    }

    pub(crate) fn access(&mut self) -> (Access<'_, 'm>, &mut Memories<'m>) {
        let Self { terms, objects, memories, program, stays_inside, .. } = self;
        (Access { terms, objects, program, stays_inside: *stays_inside }, memories)
    }

    pub(crate) fn read(&mut self, memory: Memory, address: Bits<'m>, width: u32) -> Bits<'m> {
        let (mut access, memories) = self.access();
        memories.read(&mut access, memory, address, width)
    }

    /// The memory after a store of whole bytes.
    pub(crate) fn write(&mut self, memory: Memory, address: Bits<'m>, value: Bits<'m>) -> Memory {
        match self.terms.choice(address) {
            Some((condition, a, b)) => {
                let (a, b) = (self.write(memory, a, value), self.write(memory, b, value));
                self.memories.join(condition, a, b)
            }
            None => self.memories.store(memory, address, value),
        }
    }

    /// One state for several whose path conditions exclude each other.
    pub(crate) fn merge(&mut self, symbols: &mut Symbols<'m>, mut states: Vec<State<'m>>) -> State<'m> {
        let mut merged = states.pop().expect("something arrives");
        while let Some(state) = states.pop() {
            merged = self.join(symbols, state, merged);
        }
        merged
    }

    fn join(&mut self, symbols: &mut Symbols<'m>, a: State<'m>, b: State<'m>) -> State<'m> {
        let mut values = BTreeMap::new();
        let slots: Vec<Slot> = a.values.keys().chain(b.values.keys()).copied().collect();
        for slot in slots {
            if values.contains_key(&slot) {
                continue;
            }
            let (left, right) = (self.get(symbols, &a, slot), self.get(symbols, &b, slot));
            if let (Some(left), Some(right)) = (left, right) {
                values.insert(slot, self.choose(a.path, &left, &right));
            }
        }
        State {
            path: self.terms.or(a.path, b.path),
            values,
            memory: self.memories.join(a.path, a.memory, b.memory),
        }
    }

    pub(crate) fn choose(
        &mut self,
        condition: Truth<'m>,
        then: &Value<'m>,
        otherwise: &Value<'m>,
    ) -> Value<'m> {
        match (then, otherwise) {
            (Value::Bits(a), Value::Bits(b)) => Value::Bits(self.terms.choose(condition, *a, *b)),
            (Value::Record(a), Value::Record(b)) => {
                let leaves = a.iter().zip(b.iter());
                Value::Record(leaves.map(|(a, b)| self.terms.choose(condition, *a, *b)).collect())
            }
            (Value::Bits(_), Value::Record(_)) | (Value::Record(_), Value::Bits(_)) => {
                unreachable!("a slot has one type")
            }
        }
    }

    /// Whether what happens in the context may cover goals of this function.
    pub(crate) fn counts(&self, context: ContextId) -> bool {
        !self.counts_entry_only || context == ContextId::ENTRY
    }
}
