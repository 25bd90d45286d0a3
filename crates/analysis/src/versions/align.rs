//! Which items of a function correspond to which of its other version?
//!
//! Method: locals correspond by name and size, parameters also by position. Items are aligned for the greatest sum of likeness, equal
//! ones first of all; common beginnings and ends are set aside. Locals that are left over take the names that equal items
//! give them. Then an item is unchanged when its code and its words are equal under this correspondence; what is left on
//! both sides and equal was moved. Limit: very long functions are aligned by equal items alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::InstrId;

use super::Change;
use super::code::{Code, Local};
use super::items::{FunctionItems, Item, ItemKind};
use crate::Place;

/// Pairs of items that are compared, at most; longer functions are aligned by equal items alone.
const MOST_COMPARED: usize = 4_000_000;

/// Items that have less than this in common are different items.
const LEAST_LIKENESS: f64 = 0.35;

/// One item of either version, or two that correspond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aligned {
    pub(super) old: Option<usize>,
    pub(super) new: Option<usize>,
    pub(super) change: Change,
}

/// The correspondence of one function with its other version.
#[derive(Default)]
pub(super) struct Alignment {
    /// In the order of the new version; what was removed stands where it was.
    pub(super) items: Vec<Aligned>,
    /// Old instructions that are there still.
    pub(super) places: BTreeMap<Place, Place>,
}

/// Old locals by new ones.
type Locals = HashMap<InstrId, InstrId>;

pub(super) fn align(
    old: &FunctionItems,
    new: &FunctionItems,
    old_locals: &[Local],
    new_locals: &[Local],
) -> Alignment {
    let mut locals = by_name(old_locals, new_locals);
    let pairs = pairs_of(&old.items, &new.items, &locals);
    rename(&mut locals, old, new, &pairs, old_locals, new_locals);
    let equal = |(a, b): (usize, usize)| is_equal(&old.items[a], &new.items[b], &locals);
    let mut items: Vec<Aligned> = merged(&pairs, old.items.len(), new.items.len());
    for aligned in &mut items {
        if let (Some(a), Some(b)) = (aligned.old, aligned.new) {
            aligned.change = if equal((a, b)) { Change::Unchanged } else { Change::Changed };
        }
    }
    find_moved(&mut items, old, new, &locals);
    let places = corresponding(&items, old, new, &locals);
    Alignment { items, places }
}

/// Locals with the same name and size, in order; parameters that are left over by position.
fn by_name(old: &[Local], new: &[Local]) -> Locals {
    let mut locals = Locals::new();
    let mut taken = BTreeSet::new();
    for local in old {
        let same = new.iter().find(|other| {
            let is_parameter = other.parameter.is_some() == local.parameter.is_some();
            other.name == local.name
                && is_parameter
                && other.size == local.size
                && !taken.contains(&other.instr)
        });
        if let Some(same) = same {
            taken.insert(same.instr);
            locals.insert(local.instr, same.instr);
        }
    }
    for local in old.iter().filter(|local| local.parameter.is_some()) {
        let same = new.iter().find(|other| {
            other.parameter == local.parameter && other.size == local.size && !taken.contains(&other.instr)
        });
        if let Some(same) = same.filter(|_| !locals.contains_key(&local.instr)) {
            taken.insert(same.instr);
            locals.insert(local.instr, same.instr);
        }
    }
    locals
}

/// Gives locals that are left over the names that they have in items of the same shape.
fn rename(
    locals: &mut Locals,
    old: &FunctionItems,
    new: &FunctionItems,
    pairs: &[(usize, usize)],
    old_locals: &[Local],
    new_locals: &[Local],
) {
    let mut free_old: BTreeSet<InstrId> = old_locals.iter().map(|local| local.instr).collect();
    let mut free_new: BTreeSet<InstrId> = new_locals.iter().map(|local| local.instr).collect();
    for (from, to) in locals.iter() {
        free_old.remove(from);
        free_new.remove(to);
    }
    let mut votes: BTreeMap<(InstrId, InstrId), usize> = BTreeMap::new();
    for (a, b) in pairs {
        for (a, b) in old.items[*a].code.iter().zip(&new.items[*b].code) {
            if a.shape == b.shape {
                for (from, to) in a.locals.iter().zip(&b.locals) {
                    if free_old.contains(from) && free_new.contains(to) {
                        *votes.entry((*from, *to)).or_default() += 1;
                    }
                }
            }
        }
    }
    let mut votes: Vec<_> = votes.into_iter().collect();
    votes.sort_by_key(|(pair, n)| (std::cmp::Reverse(*n), *pair));
    for ((from, to), _) in votes {
        if free_old.contains(&from) && free_new.remove(&to) {
            free_old.remove(&from);
            locals.insert(from, to);
        }
    }
}

fn is_equal_code(a: &Code, b: &Code, locals: &Locals) -> bool {
    a.shape == b.shape
        && a.locals.len() == b.locals.len()
        && a.locals.iter().zip(&b.locals).all(|(from, to)| locals.get(from) == Some(to))
}

fn is_equal(a: &Item, b: &Item, locals: &Locals) -> bool {
    is_same_kind(a.kind, b.kind)
        && a.words == b.words
        && a.code.len() == b.code.len()
        && a.code.iter().zip(&b.code).all(|(a, b)| is_equal_code(a, b, locals))
}

fn is_same_kind(a: ItemKind, b: ItemKind) -> bool {
    match (a, b) {
        (ItemKind::Entry, ItemKind::Entry)
        | (ItemKind::Statement(_), ItemKind::Statement(_))
        | (ItemKind::Label(..), ItemKind::Label(..)) => true,
        (ItemKind::Entry | ItemKind::Statement(_) | ItemKind::Label(..), _) => false,
    }
}

/// How much two items have in common, from 0 to 1.
fn likeness(a: &Item, b: &Item, locals: &Locals) -> f64 {
    if !is_same_kind(a.kind, b.kind) {
        return 0.0;
    }
    if is_equal(a, b, locals) {
        return 1.0;
    }
    if let ItemKind::Label(..) = a.kind {
        return 0.0;
    }
    if a.code.is_empty() || b.code.is_empty() {
        return if a.words == b.words && a.code.len() == b.code.len() { 1.0 } else { 0.0 };
    }
    let common = |of: fn(&Code) -> u64| {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        a.code.iter().for_each(|code| *counts.entry(of(code)).or_default() += 1);
        let take = |code: &&Code| match counts.get_mut(&of(code)) {
            Some(n) if *n > 0 => {
                *n -= 1;
                true
            }
            Some(_) | None => false,
        };
        2.0 * b.code.iter().filter(take).count() as f64 / (a.code.len() + b.code.len()) as f64
    };
    let words = if a.words == b.words { 0.1 } else { 0.0 };
    let target = if writes_same(a, b, locals) { 0.15 } else { 0.0 };
    // never as much as an item that is equal
    0.45 * common(|code| code.shape) + 0.25 * common(|code| code.kind) + words + target
}

/// Whether both end with a store to the same local.
fn writes_same(a: &Item, b: &Item, locals: &Locals) -> bool {
    let (Some(a), Some(b)) = (a.code.last(), b.code.last()) else { return false };
    match (a.locals.first(), b.locals.first()) {
        (Some(from), Some(to)) => a.kind == b.kind && locals.get(from) == Some(to),
        (None, _) | (_, None) => false,
    }
}

/// The items that correspond, in order.
fn pairs_of(old: &[Item], new: &[Item], locals: &Locals) -> Vec<(usize, usize)> {
    let alike = |a: usize, b: usize| is_alike(&old[a], &new[b]);
    let most = old.len().min(new.len());
    let n_first = (0..most).take_while(|n| alike(*n, *n)).count();
    let from_end = |n: usize| (old.len() - 1 - n, new.len() - 1 - n);
    let n_last = (0..most - n_first).take_while(|n| alike(from_end(*n).0, from_end(*n).1)).count();
    let mut pairs: Vec<(usize, usize)> = (0..n_first).map(|n| (n, n)).collect();
    let (old_middle, new_middle) = (n_first..old.len() - n_last, n_first..new.len() - n_last);
    let middle = if old_middle.len() * new_middle.len() <= MOST_COMPARED {
        best(&old[old_middle], &new[new_middle], |a, b| likeness(a, b, locals))
    } else {
        in_order(&old[old_middle], &new[new_middle])
    };
    pairs.extend(middle.into_iter().map(|(a, b)| (a + n_first, b + n_first)));
    pairs.extend((0..n_last).rev().map(from_end));
    pairs
}

/// Equal but for the names of locals.
fn is_alike(a: &Item, b: &Item) -> bool {
    is_same_kind(a.kind, b.kind)
        && a.words == b.words
        && a.code.len() == b.code.len()
        && a.code.iter().zip(&b.code).all(|(a, b)| a.shape == b.shape)
}

/// The alignment with the greatest sum of likeness.
fn best(old: &[Item], new: &[Item], likeness: impl Fn(&Item, &Item) -> f64) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut sums = vec![0.0f32; (old.len() + 1) * width];
    let mut values = vec![0.0f32; old.len() * new.len()];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            let value = likeness(&old[a], &new[b]);
            let value = if value < LEAST_LIKENESS { 0.0 } else { value as f32 };
            values[a * new.len() + b] = value;
            let paired = if value > 0.0 { sums[(a + 1) * width + b + 1] + value } else { 0.0 };
            sums[a * width + b] = paired.max(sums[(a + 1) * width + b]).max(sums[a * width + b + 1]);
        }
    }
    let (mut a, mut b, mut pairs) = (0, 0, Vec::new());
    while a < old.len() && b < new.len() {
        let value = values[a * new.len() + b];
        let here = sums[a * width + b];
        if value > 0.0 && here <= sums[(a + 1) * width + b + 1] + value {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if here <= sums[(a + 1) * width + b] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

/// Items that are equal and come in the same order: each takes the next one that is.
fn in_order(old: &[Item], new: &[Item]) -> Vec<(usize, usize)> {
    /// How far ahead is looked.
    const AHEAD: usize = 200;
    let (mut pairs, mut first) = (Vec::new(), 0);
    for (a, item) in old.iter().enumerate() {
        let ahead = new.iter().enumerate().skip(first).take(AHEAD);
        if let Some((b, _)) = ahead.clone().find(|(_, other)| is_alike(item, other)) {
            pairs.push((a, b));
            first = b + 1;
        }
    }
    pairs
}

/// Pairs and what is left on either side, in order.
fn merged(pairs: &[(usize, usize)], n_old: usize, n_new: usize) -> Vec<Aligned> {
    let removed = |a| Aligned { old: Some(a), new: None, change: Change::Removed };
    let added = |b| Aligned { old: None, new: Some(b), change: Change::Added };
    let (mut a, mut b, mut items) = (0, 0, Vec::new());
    for (to_a, to_b) in pairs.iter().copied().chain([(n_old, n_new)]) {
        items.extend((a..to_a).map(removed));
        items.extend((b..to_b).map(added));
        if to_a < n_old && to_b < n_new {
            items.push(Aligned { old: Some(to_a), new: Some(to_b), change: Change::Unchanged });
        }
        (a, b) = (to_a + 1, to_b + 1);
    }
    items
}

/// Of what was removed and added, pairs what is equal.
fn find_moved(items: &mut Vec<Aligned>, old: &FunctionItems, new: &FunctionItems, locals: &Locals) {
    let removed: Vec<usize> =
        items.iter().filter(|item| item.new.is_none()).filter_map(|item| item.old).collect();
    let mut gone = BTreeSet::new();
    for aligned in items.iter_mut().filter(|item| item.old.is_none()) {
        let Some(b) = aligned.new else { continue };
        let item = &new.items[b];
        let same = removed
            .iter()
            .find(|a| !gone.contains(*a) && !item.code.is_empty() && is_equal(&old.items[**a], item, locals));
        if let Some(&a) = same {
            gone.insert(a);
            *aligned = Aligned { old: Some(a), new: Some(b), change: Change::Moved };
        }
    }
    items.retain(|item| item.new.is_some() || item.old.is_none_or(|a| !gone.contains(&a)));
}

/// Old instructions by new ones, of items that correspond.
fn corresponding(
    items: &[Aligned],
    old: &FunctionItems,
    new: &FunctionItems,
    locals: &Locals,
) -> BTreeMap<Place, Place> {
    let mut places = BTreeMap::new();
    for aligned in items {
        let (Some(a), Some(b)) = (aligned.old, aligned.new) else { continue };
        let (a, b) = (&old.items[a], &new.items[b]);
        match aligned.change {
            Change::Unchanged | Change::Moved => {
                places.extend(a.code.iter().zip(&b.code).map(|(a, b)| (a.place, b.place)));
            }
            Change::Changed => {
                let mut first = 0;
                for code in &a.code {
                    let ahead = b.code.iter().enumerate().skip(first);
                    let same = ahead.clone().find(|(_, other)| is_equal_code(code, other, locals));
                    if let Some((number, same)) = same {
                        places.insert(code.place, same.place);
                        first = number + 1;
                    }
                }
            }
            Change::Added | Change::Removed => {}
        }
    }
    places
}
