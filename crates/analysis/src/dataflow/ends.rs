//! The two ends of pairs: definitions and uses, each named by object and position in the source.

use std::collections::HashMap;
use std::fmt;

use model::{FunctionId, Program, Span, SpanId};

use super::{DefinitionId, ObjectId, UseId};
use crate::Place;

/// Where an object gets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub object: ObjectId,
    pub function: FunctionId,
    /// Where a reader sees it.
    pub span: Option<SpanId>,
    /// The instructions that are it, in order; for an initial value where the run starts.
    pub places: Vec<Place>,
    pub kind: DefinitionKind,
}

/// What makes a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefinitionKind {
    /// An assignment, an initialiser, an increment, or code that was given the address.
    Assigned,
    /// A parameter takes its argument.
    Parameter,
    /// What a variable with static storage holds when the run starts: its initial value, or an input.
    Initial,
    /// A `return` with a value.
    Returned,
}

/// Where the value of an object is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub object: ObjectId,
    pub function: FunctionId,
    pub span: Option<SpanId>,
    /// The instructions that are it, in order.
    pub places: Vec<Place>,
    pub kind: UseKind,
}

/// What a use is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseKind {
    /// c-use: something is computed of it.
    Computation,
    /// p-use: it takes part in a condition.
    Predicate,
}

impl fmt::Display for UseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Computation => "c-use",
            Self::Predicate => "p-use",
        })
    }
}

/// What names an end: the object, the function and the token; the place where there is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Token(ObjectId, FunctionId, Span),
    Place(ObjectId, Place),
}

impl Key {
    fn of(program: &Program, object: ObjectId, place: Place, span: Option<SpanId>) -> Self {
        match span {
            Some(span) => Self::Token(object, place.function, program.span(span)),
            None => Self::Place(object, place),
        }
    }
}

/// All ends found so far.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) definitions: Vec<Definition>,
    pub(super) uses: Vec<Use>,
    known_definitions: HashMap<(Key, DefinitionKind), DefinitionId>,
    known_uses: HashMap<Key, UseId>,
}

impl Ends {
    pub(super) fn define(
        &mut self,
        program: &Program,
        object: ObjectId,
        place: Place,
        span: Option<SpanId>,
        kind: DefinitionKind,
    ) -> DefinitionId {
        let key = (Key::of(program, object, place, span), kind);
        let id = *self.known_definitions.entry(key).or_insert_with(|| {
            let function = place.function;
            self.definitions.push(Definition { object, function, span, places: Vec::new(), kind });
            DefinitionId::new(self.definitions.len() - 1)
        });
        let places = &mut self.definitions[id.index()].places;
        if !places.contains(&place) {
            places.push(place);
        }
        id
    }

    /// A use that takes part in a condition anywhere is a p-use.
    pub(super) fn take(
        &mut self,
        program: &Program,
        object: ObjectId,
        place: Place,
        span: Option<SpanId>,
        kind: UseKind,
    ) -> UseId {
        let key = Key::of(program, object, place, span);
        let id = *self.known_uses.entry(key).or_insert_with(|| {
            self.uses.push(Use { object, function: place.function, span, places: Vec::new(), kind });
            UseId::new(self.uses.len() - 1)
        });
        let of = &mut self.uses[id.index()];
        of.kind = of.kind.max(kind);
        if !of.places.contains(&place) {
            of.places.push(place);
        }
        id
    }
}
