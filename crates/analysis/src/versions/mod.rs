//! How do two versions of a program correspond, and what changed?
//!
//! Method: functions are paired ([`pairing`]), then the statements of each pair are aligned by what their code computes
//! ([`align`]). The code is that before optimisation, after the preprocessor: a change of a type, a macro, a constant or an
//! initialiser is a change wherever it is used; comments, formatting, renamed locals and what compiles to the same code are no
//! change. A statement whose own code is the same but which other unchanged branches decide about has been moved.
//!
//! Limits: code that the compiler drops (after `return`, behind `if (0)`) is compared by its kind alone. Two functions of one name
//! in files of one name are paired in order.

mod align;
mod code;
mod items;
mod nesting;
mod pairing;

use std::collections::{BTreeMap, BTreeSet};

use model::{ConditionId, DecisionId, FunctionId, Program, SpanId};

use crate::Place;
use align::{Alignment, align};
use code::{Names, locals};
pub use items::ItemKind;
use items::{FunctionItems, Sources, items};
pub use pairing::is_written;

/// What happened to something between two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    Unchanged,
    Changed,
    Added,
    Removed,
    /// The same elsewhere.
    Moved,
}

/// A statement, a label or the entry of a function in one version, in the other, or in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemMatch {
    pub old: Option<Side>,
    pub new: Option<Side>,
    pub change: Change,
}

/// An item in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    pub kind: ItemKind,
    pub span: Option<SpanId>,
    /// The instructions of the item that say something.
    pub places: Vec<Place>,
    pub decisions: Vec<DecisionId>,
    /// Where the value of each condition passes.
    pub marks: Vec<(ConditionId, Place)>,
}

/// A function in one version, in the other, or in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionMatch {
    pub old: Option<FunctionId>,
    pub new: Option<FunctionId>,
    /// Another name, found by likeness.
    pub renamed: bool,
    /// Other parameters or another result.
    pub signature: bool,
    /// Of a function with no change in it, nothing; see [`Self::is_changed`].
    pub items: Vec<ItemMatch>,
}

impl FunctionMatch {
    /// Whether anything is different.
    pub fn is_changed(&self) -> bool {
        self.old.is_none()
            || self.new.is_none()
            || self.signature
            || self.items.iter().any(|item| item.change != Change::Unchanged)
    }
}

/// Two versions of a program, side by side.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// In the order of the new version; removed functions come last.
    pub functions: Vec<FunctionMatch>,
    /// Old instructions by the new ones that they correspond to, and the other way round.
    pub forth: BTreeMap<Place, Place>,
    pub back: BTreeMap<Place, Place>,
    /// The item of each instruction of a changed function, by its number in the function's items.
    new_items: BTreeMap<Place, SpanId>,
    old_items: BTreeMap<Place, SpanId>,
}

impl Comparison {
    /// Where the statement with an instruction begins in the new version.
    pub fn new_span(&self, place: Place) -> Option<SpanId> {
        self.new_items.get(&place).copied()
    }

    /// Where the statement with an instruction begins in the old version.
    pub fn old_span(&self, place: Place) -> Option<SpanId> {
        self.old_items.get(&place).copied()
    }

    /// How many functions are different.
    pub fn n_changed(&self) -> usize {
        self.functions.iter().filter(|function| function.is_changed()).count()
    }
}

/// Compares two versions of a program.
pub fn compare(old: &Program, new: &Program) -> Comparison {
    let pairing = pairing::pairing(old, new);
    let name = |id: FunctionId| new.function(id).name.clone();
    let is_renamed = |a: FunctionId, b: FunctionId| old.function(a).name != new.function(b).name;
    let renamed = pairing.pairs.iter().filter(|(a, b)| is_renamed(*a, *b));
    let old_names = Names::new(old, renamed.map(|(a, b)| (*a, name(*b))).collect());
    let new_names = Names::new(new, BTreeMap::new());
    let (old_sources, new_sources) = (Sources::of(old), Sources::of(new));
    let mut found = Comparison::default();
    for (a, b) in pairing.pairs {
        let old_items = items(old, &old_names, &old_sources, a);
        let new_items = items(new, &new_names, &new_sources, b);
        let mut alignment = align(&old_items, &new_items, &locals(&old_names, a), &locals(&new_names, b));
        let signature = signature(old, a) != signature(new, b);
        let mut function = FunctionMatch {
            old: Some(a),
            new: Some(b),
            renamed: is_renamed(a, b),
            signature,
            items: Vec::new(),
        };
        found.remember(&old_items, &new_items, &alignment);
        nesting::find_moved(old, new, (a, b), (&old_items, &new_items), &mut alignment);
        let matches = alignment.items.iter().map(|aligned| ItemMatch {
            old: aligned.old.map(|item| side(&old_items, item)),
            new: aligned.new.map(|item| side(&new_items, item)),
            change: aligned.change,
        });
        function.items = matches.collect();
        found.functions.push(function);
    }
    for b in pairing.added {
        let of = items(new, &new_names, &new_sources, b);
        found.remember(&FunctionItems::default(), &of, &Alignment::default());
        let added = |item| ItemMatch { old: None, new: Some(side(&of, item)), change: Change::Added };
        let items = (0..of.items.len()).map(added).collect();
        found.functions.push(FunctionMatch {
            old: None,
            new: Some(b),
            renamed: false,
            signature: false,
            items,
        });
    }
    found.functions.sort_by_key(|function| function.new);
    for a in pairing.removed {
        let of = items(old, &old_names, &old_sources, a);
        found.remember(&of, &FunctionItems::default(), &Alignment::default());
        let removed = |item| ItemMatch { old: Some(side(&of, item)), new: None, change: Change::Removed };
        let items = (0..of.items.len()).map(removed).collect();
        found.functions.push(FunctionMatch {
            old: Some(a),
            new: None,
            renamed: false,
            signature: false,
            items,
        });
    }
    found
}

impl Comparison {
    fn remember(&mut self, old: &FunctionItems, new: &FunctionItems, alignment: &Alignment) {
        for (from, to) in &alignment.places {
            self.forth.insert(*from, *to);
            self.back.insert(*to, *from);
        }
        let spans = |of: &FunctionItems| {
            let span = |(place, item): (&Place, &usize)| {
                let item = &of.items[*item];
                (item.kind != ItemKind::Entry).then_some((*place, item.span?))
            };
            of.of_place.iter().filter_map(span).collect::<Vec<_>>()
        };
        self.old_items.extend(spans(old));
        self.new_items.extend(spans(new));
    }
}

fn side(of: &FunctionItems, item: usize) -> Side {
    let item = &of.items[item];
    Side {
        kind: item.kind,
        span: item.span,
        places: item.code.iter().map(|code| code.place).collect(),
        decisions: item.decisions.clone(),
        marks: item.marks.clone(),
    }
}

/// What callers see of a function: types, of structures their sizes and members.
fn signature(program: &Program, id: FunctionId) -> String {
    let function = program.function(id);
    let ty = |ty: &model::Type| match ty {
        model::Type::Record(record) => format!("{:?}", program.record(*record)),
        other => format!("{other:?}"),
    };
    let parameters: Vec<String> = function.parameters.iter().map(ty).collect();
    format!("{} ({}) {}", ty(&function.result), parameters.join(", "), function.variadic)
}

/// The lines of a version at which something changed, by file: what `--changed-only` counts.
pub fn changed_spans(comparison: &Comparison) -> BTreeSet<SpanId> {
    let items = comparison.functions.iter().flat_map(|function| &function.items);
    let changed = items.filter(|item| item.change != Change::Unchanged);
    changed.filter_map(|item| item.new.as_ref()?.span).collect()
}

#[cfg(test)]
mod tests;
