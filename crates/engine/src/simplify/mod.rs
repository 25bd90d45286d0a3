//! Can the same be shown by a simpler input?
//!
//! Method: an input has parts (a number, an array, a pointer, an argument), each with simpler variants, the simplest first:
//! null pointers, short arrays and texts, zero, small numbers, printable characters, the first enumerator. Part by part a
//! variant that still does what is asked is taken, until a round changes nothing or a bound is reached; nothing is tried
//! twice. The order is fixed, so the same input gives the same result. Numbers that are equal are also made simpler
//! together. Limit: else parts are changed one at a time; what only two of them together allow is not found.

mod invocation;
mod scalar;
mod shape;

use std::collections::BTreeSet;

use model::input::{Input, Shape};
use model::invocation::InvocationShape;

/// What an input is of.
#[derive(Clone, Copy, Debug)]
pub enum Of<'a> {
    Function(&'a Shape),
    /// What it is given, and what functions give it that are defined nowhere.
    Program(&'a InvocationShape, &'a Shape),
}

impl Of<'_> {
    /// Simpler variants of one part, the simplest first; `None` behind the last part.
    fn variants(self, input: &Input, part: usize) -> Option<Vec<Input>> {
        match self {
            Self::Function(shape) => shape::variants(shape, input, part),
            Self::Program(given, calls) => invocation::variants(given, calls, input, part),
        }
    }
}

/// What a try came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Try {
    /// It still does what is asked; the input as the execution used it, sizes and counts cut down to what is possible.
    Holds(Input),
    Fails,
    /// No more tries; what was found until now is kept.
    Stop,
}

/// How much is tried.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub n_tries: usize,
    /// Asked before each part: a large input has many of which nothing is tried.
    pub is_over: &'a dyn Fn() -> bool,
}

/// The simplest input found that holds, within limits.
pub fn simplify(
    of: Of<'_>,
    input: &Input,
    limits: Limits<'_>,
    attempt: &mut dyn FnMut(&Input) -> Try,
) -> Input {
    let mut best = input.clone();
    let mut tried = BTreeSet::from([best.clone()]);
    let mut n_left = limits.n_tries;
    loop {
        let before = best.clone();
        let mut part = 0;
        while let Some(variants) = of.variants(&best, part) {
            if (limits.is_over)() {
                return best;
            }
            let mut found = None;
            for variant in variants {
                if !tried.insert(variant.clone()) {
                    continue;
                }
                if n_left == 0 {
                    return best;
                }
                n_left -= 1;
                match attempt(&variant) {
                    Try::Stop => return best,
                    Try::Holds(used) => {
                        found = Some(used);
                        break;
                    }
                    Try::Fails => {}
                }
            }
            match found {
                // the same part may become simpler still
                Some(used) => {
                    tried.insert(used.clone());
                    best = used;
                }
                None => part += 1,
            }
        }
        if best == before {
            return best;
        }
    }
}

/// An input whose values tell more than zeros: each scalar that may have another value gets a small one of its own. What a
/// program is given stays as it is.
pub fn diversify(
    of: Of<'_>,
    input: &Input,
    limits: Limits<'_>,
    attempt: &mut dyn FnMut(&Input) -> Try,
) -> Input {
    let mut best = input.clone();
    let Of::Function(shape) = of else { return best };
    let (mut n_left, mut number) = (limits.n_tries, 0);
    while let Some(variants) = shape::telling_variants(shape, &best, number) {
        if (limits.is_over)() {
            return best;
        }
        number += 1;
        for variant in variants {
            if n_left == 0 {
                return best;
            }
            n_left -= 1;
            match attempt(&variant) {
                Try::Stop => return best,
                Try::Holds(used) => {
                    best = used;
                    break;
                }
                Try::Fails => {}
            }
        }
    }
    best
}

#[cfg(test)]
mod tests;
