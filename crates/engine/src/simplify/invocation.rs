//! The parts of what a program is given, and simpler variants of each.
//!
//! Characters become simpler, equal ones together, but different ones stay different: a pattern and a text of nothing but `a`s show nothing.

use std::collections::BTreeSet;

use model::input::{Input, Shape};
use model::invocation::{Invocation, InvocationShape};

use super::scalar::simpler_unused;
use super::shape;

/// Variants of the part with this number; what calls give comes behind what the program is given.
pub fn variants(given: &InvocationShape, calls: &Shape, input: &Input, part: usize) -> Option<Vec<Input>> {
    let parts = parts(&given.invocation(input));
    let Some(variants) = parts.get(part) else {
        return shape::variants(calls, input, part - parts.len());
    };
    // a variant says the same or less than the input, which fits
    let mut variants: Vec<Input> = variants.iter().filter_map(|variant| given.input(variant).ok()).collect();
    let answers = shape::answers(calls, input);
    variants.iter_mut().for_each(|variant| variant.values.extend(answers.iter().copied()));
    Some(variants)
}

fn parts(given: &Invocation) -> Vec<Vec<Invocation>> {
    // what the input has behind zero bytes or limits is not told, and need not be there
    let mut parts = vec![vec![given.clone()]];
    parts.push(removed(given.failing.len(), |index| {
        with(given, |new| {
            new.failing.remove(index);
        })
    }));
    // whole things before their bytes: those may take all tries that there are; first what nobody may have read
    parts.push(vec![with(given, |new| new.stdin.clear())]);
    parts.push(vec![with(given, |new| new.arguments.clear())]);
    parts.push(removed(given.arguments.len(), |index| with(given, |new| drop(new.arguments.remove(index)))));
    let set = (0..given.variables.len()).filter(|index| given.variables[*index].1.is_some());
    parts.extend(set.map(|index| vec![with(given, |new| new.variables[index].1 = None)]));
    let there = (0..given.files.len()).filter(|index| given.files[*index].1.is_some());
    parts.extend(there.map(|index| vec![with(given, |new| new.files[index].1 = None)]));
    let used: BTreeSet<u8> = texts(given).flatten().copied().collect();
    for byte in &used {
        if texts(given).flatten().filter(|other| *other == byte).count() > 1 {
            parts.push(
                simpler_unused(*byte, &used).into_iter().map(|new| replaced(given, *byte, new)).collect(),
            );
        }
    }
    for index in 0..given.variables.len() {
        text_parts(&mut parts, given, &used, |new| new.variables[index].1.as_mut());
    }
    for index in 0..given.files.len() {
        text_parts(&mut parts, given, &used, |new| new.files[index].1.as_mut());
    }
    text_parts(&mut parts, given, &used, |new| Some(&mut new.stdin));
    for index in 0..given.arguments.len() {
        text_parts(&mut parts, given, &used, |new| new.arguments.get_mut(index));
    }
    parts
}

/// All texts that a program is given.
fn texts(given: &Invocation) -> impl Iterator<Item = &Vec<u8>> {
    let variables = given.variables.iter().filter_map(|(_, text)| text.as_ref());
    let files = given.files.iter().filter_map(|(_, text)| text.as_ref());
    given.arguments.iter().chain([&given.stdin]).chain(variables).chain(files)
}

/// All occurrences of a character replaced.
fn replaced(given: &Invocation, old: u8, new: u8) -> Invocation {
    let mut changed = given.clone();
    let variables = changed.variables.iter_mut().filter_map(|(_, text)| text.as_mut());
    let files = changed.files.iter_mut().filter_map(|(_, text)| text.as_mut());
    let texts = changed.arguments.iter_mut().chain([&mut changed.stdin]).chain(variables).chain(files);
    texts.flatten().filter(|byte| **byte == old).for_each(|byte| *byte = new);
    changed
}

fn with(given: &Invocation, change: impl FnOnce(&mut Invocation)) -> Invocation {
    let mut new = given.clone();
    change(&mut new);
    new
}

/// One variant per element that can be missing, the last first.
fn removed(n: usize, without: impl Fn(usize) -> Invocation) -> Vec<Invocation> {
    (0..n).rev().map(without).collect()
}

/// A text: empty, with runs of bytes missing (long ones first), then its characters one by one.
fn text_parts(
    parts: &mut Vec<Vec<Invocation>>,
    given: &Invocation,
    used: &BTreeSet<u8>,
    text: impl Fn(&mut Invocation) -> Option<&mut Vec<u8>>,
) {
    let mut copy = given.clone();
    let Some(bytes) = text(&mut copy).cloned() else { return };
    let replaced = |bytes: Vec<u8>| {
        with(given, |new| {
            if let Some(text) = text(new) {
                *text = bytes;
            }
        })
    };
    let mut shorter = Vec::new();
    let mut run = bytes.len();
    while run > 0 {
        for start in (0..=bytes.len() - run).step_by(run) {
            shorter.push(replaced([&bytes[..start], &bytes[start + run..]].concat()));
        }
        run /= 2;
    }
    parts.push(shorter);
    for (index, byte) in bytes.iter().enumerate() {
        let simpler = simpler_unused(*byte, used).into_iter();
        let changed = |new: u8| {
            let mut bytes = bytes.clone();
            bytes[index] = new;
            replaced(bytes)
        };
        parts.push(simpler.map(changed).collect());
    }
}
