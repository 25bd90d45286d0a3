//! Which definitions of a variable may reach which of its uses? Def-use pairs of the whole program, as data-flow testing
//! counts them (combining symbolic execution and model checking for data flow testing, sections II and IV).
//!
//! Method: the code is not optimised, so a variable of the source is an `alloca` or a global, a definition is a store to it
//! and a use is a load from it. Reaching definitions are then computed object by object over the inter-procedural control
//! flow graph, with matched calls and returns ([`reaching`]). Definitions and uses are identified by their position in the
//! source: several instructions of one token are one. Code that Quarry adds (harness, models of library functions) has no
//! goals; what a harness puts into a global is its initial value.
//!
//! Accesses through pointers are definitions and uses of every variable in the points-to set ([`crate::points_to`]); in a
//! run, logged addresses tell which of them it was ([`DataFlow::watch`]).
//!
//! Limits: a store through a pointer kills nothing, unless the pointer can only point to one scalar that exists once at a
//! time. Unnamed memory (heap, objects a harness builds) and constants are not variables. Code outside the program is
//! assumed to write to whatever its pointer arguments point to, unless it is known to only read. A function that returns a
//! structure through memory has no definition of its result. Handlers passed to `atexit` or `signal` are not followed.

mod accesses;
mod block_accesses;
mod builder;
mod calls;
mod ends;
mod predicates;
mod reaching;
mod value_flow;

use std::collections::BTreeSet;
use std::ops::Range;

use model::walk::Watch;
use model::{BlockId, FunctionId, Position, Program, SpanId, VariableId};

pub use block_accesses::{Access, AccessKind, BlockAccesses};
pub use ends::{Definition, DefinitionKind, Use, UseKind};
pub use value_flow::ValueFlow;

use crate::Place;
use crate::cut_points::Extent;
pub use crate::ids::{DefinitionId, ObjectId, PairId, UseId};
pub use crate::objects::{Home, Object};

/// What to compute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFlowOptions {
    /// Where runs start; what they cannot reach has no pairs. Every function when empty.
    pub roots: Vec<FunctionId>,
    /// Whether elements of small arrays are objects of their own.
    pub elements: bool,
}

/// A definition and a use that it may reach without another definition in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    pub definition: DefinitionId,
    pub use_: UseId,
}

/// Objects, definitions, uses and pairs of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFlow {
    objects: Vec<Object>,
    definitions: Vec<Definition>,
    uses: Vec<Use>,
    /// In order, so that a pair is found by its ends.
    pairs: Vec<Pair>,
    blocks: BlockAccesses,
    watch: Watch,
    /// By variable: its objects.
    variables: Vec<Range<u32>>,
    /// By object: where its values can be used.
    extents: Vec<Extent>,
    /// Where an object is overwritten for certain.
    kills: BTreeSet<(FunctionId, BlockId, u32, ObjectId)>,
}

impl DataFlow {
    /// The data flow of `program`.
    pub fn of(program: &Program, options: &DataFlowOptions) -> Self {
        builder::build(program, options)
    }

    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.index()]
    }

    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.index()]
    }

    pub fn use_(&self, id: UseId) -> &Use {
        &self.uses[id.index()]
    }

    pub fn pair(&self, id: PairId) -> Pair {
        self.pairs[id.index()]
    }

    /// The pair with these ends, if the definition may reach the use.
    pub fn pair_of(&self, definition: DefinitionId, use_: UseId) -> Option<PairId> {
        self.pairs.binary_search(&Pair { definition, use_ }).ok().map(PairId::new)
    }

    /// The uses that a definition may reach.
    pub fn uses_of(&self, definition: DefinitionId) -> impl Iterator<Item = UseId> + '_ {
        let first = self.pairs.partition_point(|pair| pair.definition < definition);
        let of = self.pairs[first..].iter().take_while(move |pair| pair.definition == definition);
        of.map(|pair| pair.use_)
    }

    /// All objects, in order.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        (0..).map(ObjectId).zip(&self.objects)
    }

    /// All definitions, also those that reach no use.
    pub fn definitions(&self) -> impl Iterator<Item = (DefinitionId, &Definition)> {
        (0..).map(DefinitionId).zip(&self.definitions)
    }

    /// All uses, also those that no definition reaches.
    pub fn uses(&self) -> impl Iterator<Item = (UseId, &Use)> {
        (0..).map(UseId).zip(&self.uses)
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (PairId, Pair)> {
        (0..).map(PairId).zip(self.pairs.iter().copied())
    }

    /// What each block reads and writes.
    pub fn blocks(&self) -> &BlockAccesses {
        &self.blocks
    }

    /// The objects that these instructions of a block overwrite for certain.
    pub fn kills(
        &self,
        function: FunctionId,
        block: BlockId,
        instrs: Range<u32>,
    ) -> impl Iterator<Item = ObjectId> + '_ {
        let at = |at: u32| (function, block, at, ObjectId(0));
        self.kills.range(at(instrs.start)..at(instrs.end.max(instrs.start))).map(|(.., object)| *object)
    }

    /// Where each object is overwritten for certain.
    pub fn all_kills(&self) -> impl Iterator<Item = (Place, ObjectId)> + '_ {
        let place = |function, block, at| Place { function, block, at };
        self.kills.iter().map(move |(function, block, at, object)| (place(*function, *block, *at), *object))
    }

    /// The addresses that runs must log to be followed.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The objects of a variable, by offset.
    pub fn objects_of(&self, variable: VariableId) -> impl Iterator<Item = ObjectId> + use<> {
        self.variables[variable.index()].clone().map(ObjectId)
    }

    /// The variable of a pair, as the source names it: `res`, `f()`.
    pub fn name(&self, pair: Pair) -> &str {
        &self.object(self.definition(pair.definition).object).name
    }

    /// Places where the definition of a pair happens; any of them is one.
    pub fn definition_places(&self, pair: Pair) -> &[Place] {
        &self.definition(pair.definition).places
    }

    /// Places where the use of a pair happens; any of them is one.
    pub fn use_places(&self, pair: Pair) -> &[Place] {
        &self.use_(pair.use_).places
    }

    /// `res: 8 -> 17 (c-use)`, with the file where the two lie in different ones.
    pub fn describe(&self, program: &Program, pair: Pair) -> String {
        let (definition, use_) = (self.definition(pair.definition), self.use_(pair.use_));
        let at = |span: Option<SpanId>| span.map(|span| program.span(span).at);
        let (from, to) = (at(definition.span), at(use_.span));
        let same_file = match (from, to) {
            (Some(from), Some(to)) => from.file == to.file,
            (None, _) | (_, None) => true,
        };
        let text = |position: Option<Position>| match position {
            None => "?".to_owned(),
            Some(position) if same_file => position.line.to_string(),
            Some(position) => format!("{}:{}", program.file(position.file).path, position.line),
        };
        format!("{}: {} -> {} ({})", self.name(pair), text(from), text(to), use_.kind)
    }

    /// The variable an object belongs to; none for what a function returns.
    pub fn variable(&self, object: ObjectId) -> Option<VariableId> {
        self.object(object).variable
    }
}
