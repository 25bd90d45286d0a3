//! Which functions of two versions correspond?
//!
//! Method: by name; of several with one name, those in files of the same name. What is left is paired by the likeness of its
//! code, the most alike first, as long as that is likely no accident. Limit: a function that was both renamed and rewritten is a
//! removed one and an added one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{FunctionId, Program};

use super::code::Names;
use super::items::{Sources, items};

/// Functions that have less than this in common are different functions.
const LEAST_LIKENESS: f64 = 0.6;

/// Smaller functions look all alike.
const FEWEST_INSTRUCTIONS: usize = 6;

/// Functions that correspond.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    pub(super) pairs: Vec<(FunctionId, FunctionId)>,
    pub(super) removed: Vec<FunctionId>,
    pub(super) added: Vec<FunctionId>,
}

/// Whether a person wrote the function's code, and not in a header of the system.
pub fn is_written(program: &Program, id: FunctionId) -> bool {
    let function = program.function(id);
    let in_system_header = function.span.is_some_and(|span| program.file(program.span(span).at.file).system);
    function.is_defined() && !function.generated && !in_system_header
}

pub(super) fn pairing(old: &Program, new: &Program) -> Pairing {
    let mut found = by_name(old, new);
    let renamed = by_likeness(old, new, &found.removed, &found.added);
    found.removed.retain(|id| !renamed.iter().any(|(a, _)| a == id));
    found.added.retain(|id| !renamed.iter().any(|(_, b)| b == id));
    found.pairs.extend(renamed);
    found.pairs.sort_by_key(|(_, new)| *new);
    found
}

fn by_name(old: &Program, new: &Program) -> Pairing {
    let named = |program: &Program| {
        let mut named: BTreeMap<String, Vec<FunctionId>> = BTreeMap::new();
        for id in (0..program.functions.len()).map(FunctionId::new).filter(|id| is_written(program, *id)) {
            named.entry(program.function(id).name.clone()).or_default().push(id);
        }
        named
    };
    let (old_named, mut new_named) = (named(old), named(new));
    let mut found = Pairing::default();
    for (name, olds) in old_named {
        let mut news = new_named.remove(&name).unwrap_or_default();
        if let ([a], [b]) = (olds.as_slice(), news.as_slice()) {
            found.pairs.push((*a, *b));
            continue;
        }
        for a in olds {
            match news.iter().position(|b| file_name(old, a) == file_name(new, *b)) {
                Some(at) => found.pairs.push((a, news.remove(at))),
                None => found.removed.push(a),
            }
        }
        found.added.extend(news);
    }
    found.added.extend(new_named.into_values().flatten());
    found.added.sort();
    found
}

fn file_name(program: &Program, id: FunctionId) -> Option<&str> {
    let span = program.function(id).span?;
    program.file(program.span(span).at.file).path.rsplit('/').next()
}

fn by_likeness(
    old: &Program,
    new: &Program,
    removed: &[FunctionId],
    added: &[FunctionId],
) -> Vec<(FunctionId, FunctionId)> {
    if removed.is_empty() || added.is_empty() {
        return Vec::new();
    }
    let (olds, news) = (bags(old, removed), bags(new, added));
    let mut alike = Vec::new();
    for (a, bag) in removed.iter().zip(&olds) {
        for (b, other) in added.iter().zip(&news) {
            let likeness = likeness(bag, other);
            if likeness >= LEAST_LIKENESS {
                alike.push((likeness, *a, *b));
            }
        }
    }
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut taken_old, mut taken_new, mut pairs) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for (_, a, b) in alike {
        if !taken_old.contains(&a) && taken_new.insert(b) {
            taken_old.insert(a);
            pairs.push((a, b));
        }
    }
    pairs
}

/// How often each fingerprint comes in a function.
type Bag = HashMap<u64, usize>;

fn bags(program: &Program, ids: &[FunctionId]) -> Vec<Bag> {
    let names = Names::new(program, BTreeMap::new());
    let sources = Sources::of(program);
    let bag = |id: &FunctionId| {
        let mut bag = Bag::new();
        for item in items(program, &names, &sources, *id).items {
            item.code.iter().for_each(|code| *bag.entry(code.shape).or_default() += 1);
        }
        bag
    };
    ids.iter().map(bag).collect()
}

fn likeness(a: &Bag, b: &Bag) -> f64 {
    let size = |bag: &Bag| bag.values().sum::<usize>();
    let (n_a, n_b) = (size(a), size(b));
    if n_a.min(n_b) < FEWEST_INSTRUCTIONS {
        return 0.0;
    }
    let common: usize = a.iter().map(|(code, n)| *n.min(b.get(code).unwrap_or(&0))).sum();
    2.0 * common as f64 / (n_a + n_b) as f64
}
