//! An access leaves an object of the harness: is the object too small, or the function wrong?
//!
//! Method: the arrays that may be the object in question grow until nothing is wrong any more; if that does not help, all whose length
//! nothing states do, then the others too: how far a function may go in them is a guess of the harness. Each array that need not be
//! larger gets its size back. Where an array is left that had to grow against a guess, the [`guess`](super::guess) is put to the test, and only
//! one that holds makes a finding. New elements are zero. An access that no
//! size up to [`LARGEST`] holds is a finding, unless it is beyond the end of an array whose length nothing states.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use engine::campaign::Sighting;
use model::input::{Input, Key, Kind, LARGEST, Object, Objects, Reach, Shape, Sized};

use super::guess::{Guess, holds};
use super::{Checker, Verdict};
use crate::error::Error;

/// Sizes that are tried.
const SIZES: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 256, 1024, LARGEST];
/// Inputs that are enlarged in one go, and arrays that get their sizes back.
const MOST_INPUTS: usize = 64;
const MOST_ARRAYS: usize = 6;
/// How often a guess must fail to be put to the test no more.
const MOST_FAILURES: usize = 2;

/// What an input is whose run leaves an object of the harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Its objects were too small; with these nothing is wrong.
    Enlarged(Input),
    /// The function goes wrong whatever the harness gives it, or beyond a limit that it is told.
    Finding,
    /// There was no time to find out, or no room is enough in an array whose length nothing states.
    Unknown,
}

/// An array of an input.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) sized: Sized,
    pub(super) reach: Reach,
    /// How many elements it has.
    pub(super) now: u64,
}

impl Array {
    fn is_open(&self) -> bool {
        match self.reach {
            Reach::Open => true,
            Reach::Text | Reach::Counted(_) => false,
        }
    }
}

/// What was learned about the arrays of a function, by the cells of their sizes: most inputs that leave an object do so alike.
#[derive(Debug, Default)]
pub(super) struct Lessons {
    /// Sizes with which nothing was wrong.
    enough: BTreeMap<Key, u64>,
    /// Guesses that were put to the test: how often they failed, or that they hold.
    failed: BTreeMap<Key, usize>,
    hold: BTreeSet<Key>,
}

/// What each input is, by what was reported of it.
pub fn settle(
    checker: &Checker<'_>,
    shape: &Shape,
    reported: &[(&Input, &Sighting)],
) -> Result<Vec<Settled>, Error> {
    let inputs: Vec<Input> = reported.iter().map(|(input, _)| settled_numbers(shape, input)).collect();
    let mut settled: Vec<Settled> = vec![Settled::Unknown; inputs.len()];
    let mut left: VecDeque<usize> = (0..inputs.len().min(MOST_INPUTS)).collect();
    loop {
        settle_as_before(checker, shape, &inputs, &mut left, &mut settled)?;
        // one after the other: what is learned from one may do for all
        let Some(number) = left.pop_front() else { return Ok(settled) };
        settled[number] = settle_one(checker, shape, &inputs[number], reported[number].1)?;
        if let Settled::Enlarged(larger) = &settled[number] {
            let enough = &mut checker.lessons().enough;
            for array in arrays(shape, &inputs[number]) {
                let size = array.sized.n_elements(larger);
                if size > array.now {
                    let known = enough.entry(array.sized.size).or_insert(size);
                    *known = size.max(*known);
                }
            }
        }
    }
}

/// Settles inputs with which nothing is wrong when arrays have the sizes that were enough before.
fn settle_as_before(
    checker: &Checker<'_>,
    shape: &Shape,
    inputs: &[Input],
    left: &mut VecDeque<usize>,
    settled: &mut [Settled],
) -> Result<(), Error> {
    let larger = |number: &usize| {
        let larger = roomy(checker, shape, &inputs[*number]);
        (larger != inputs[*number]).then_some((*number, larger))
    };
    let variants: Vec<Variant> = left.iter().filter_map(larger).collect();
    for ((number, input), verdict) in check(checker, variants)? {
        if matches!(verdict, Verdict::Clean { .. }) {
            settled[number] = Settled::Enlarged(input);
            left.retain(|other| *other != number);
        }
    }
    Ok(())
}

/// An input whose arrays have at least the sizes that were enough before.
pub(super) fn roomy(checker: &Checker<'_>, shape: &Shape, input: &Input) -> Input {
    let mut larger = input.clone();
    let enough = &checker.lessons().enough;
    if !enough.is_empty() {
        for array in arrays(shape, input) {
            if let Some(size) = enough.get(&array.sized.size).filter(|size| **size > array.now) {
                larger.values.insert(array.sized.size, *size);
            }
        }
    }
    larger
}

/// Enlarges the array that was reported, then all whose length nothing states, then all.
fn settle_one(
    checker: &Checker<'_>,
    shape: &Shape,
    input: &Input,
    sighting: &Sighting,
) -> Result<Settled, Error> {
    let all = arrays(shape, input);
    let reported: Vec<Array> = all.iter().filter(|array| is_reported(array, sighting)).cloned().collect();
    let open =
        |arrays: &[Array]| -> Vec<Array> { arrays.iter().filter(|array| array.is_open()).cloned().collect() };
    let is_beyond_open = !reported.is_empty() && reported.iter().all(Array::is_open);
    let mut settled = if is_beyond_open { Settled::Unknown } else { Settled::Finding };
    let groups = [open(&reported), reported, open(&all), all];
    for (number, group) in groups.iter().enumerate() {
        let is_tried = |earlier: &Vec<Array>| earlier.len() == group.len();
        if group.is_empty() || groups[..number].iter().any(is_tried) {
            continue;
        }
        match grow(checker, input, &group[..group.len().min(MOST_ARRAYS)])? {
            Settled::Enlarged(larger) => return against_guesses(checker, shape, input, larger),
            Settled::Unknown => settled = Settled::Unknown,
            Settled::Finding => {}
        }
    }
    Ok(settled)
}

/// An input with which nothing is wrong because arrays are larger than a guess says: does one of the guesses hold?
fn against_guesses(
    checker: &Checker<'_>,
    shape: &Shape,
    input: &Input,
    larger: Input,
) -> Result<Settled, Error> {
    let is_larger = |array: &Array| array.sized.n_elements(&larger) > array.now;
    let guessed = arrays(shape, input).into_iter().filter(|array| !array.is_open() && is_larger(array));
    for array in guessed {
        let key = array.sized.size;
        let (holds_as_before, n_failed) = {
            let lessons = checker.lessons();
            (lessons.hold.contains(&key), lessons.failed.get(&key).copied().unwrap_or(0))
        };
        if n_failed >= MOST_FAILURES {
            continue;
        }
        let guess =
            if holds_as_before { Guess::Holds } else { holds(checker, shape, input, &larger, &array)? };
        match guess {
            Guess::Holds => {
                checker.lessons().hold.insert(key);
                return Ok(Settled::Finding);
            }
            Guess::Unknown => return Ok(Settled::Unknown),
            Guess::Fails => *checker.lessons().failed.entry(key).or_default() += 1,
        }
    }
    Ok(Settled::Enlarged(larger))
}

/// The smallest enlargement of these arrays that nothing is wrong with.
fn grow(checker: &Checker<'_>, input: &Input, growing: &[Array]) -> Result<Settled, Error> {
    let steps = SIZES.into_iter().filter(|size| growing.iter().any(|array| array.now < *size));
    let variants = steps.map(|size| (0, with_sizes(input, growing, size))).collect();
    let mut found = Settled::Finding;
    for ((_, input), verdict) in check(checker, variants)? {
        match verdict {
            Verdict::Clean { .. } => {
                found = Settled::Enlarged(input);
                break;
            }
            Verdict::Unknown | Verdict::TimedOut => found = Settled::Unknown,
            Verdict::Wrong { .. } | Verdict::Rejected => {}
        }
    }
    for array in growing.iter().filter(|_| growing.len() > 1) {
        let Settled::Enlarged(larger) = &found else { break };
        let mut smaller = larger.clone();
        if smaller.values.insert(array.sized.size, array.now) == Some(array.now) {
            continue;
        }
        for ((_, smaller), verdict) in check(checker, vec![(0, smaller)])? {
            if matches!(verdict, Verdict::Clean { .. }) {
                found = Settled::Enlarged(smaller);
            }
        }
    }
    Ok(found)
}

/// Whether an access goes beyond the end of this array, by the size of the object that was reported.
fn is_reported(array: &Array, sighting: &Sighting) -> bool {
    let Some((_, region)) = sighting.message.split_once(" after ") else { return false };
    let region = region.split('-').next().and_then(|bytes| bytes.parse::<u64>().ok());
    let n = array.now + u64::from(array.sized.zero_ended);
    let scalar = array.sized.element.kind.scalar();
    let bytes = scalar.map(|cell| u64::from(cell.scalar.bits().div_ceil(8)) * n);
    bytes.is_some() && bytes.map(|bytes| bytes.max(1)) == region
}

/// A variant of the input with a number.
type Variant = (usize, Input);

/// What comes of each variant.
fn check(checker: &Checker<'_>, variants: Vec<Variant>) -> Result<Vec<(Variant, Verdict)>, Error> {
    let inputs: Vec<&Input> = variants.iter().map(|(_, input)| input).collect();
    let verdicts = checker.check(&inputs)?;
    Ok(variants.into_iter().zip(verdicts).collect())
}

/// The arrays of an input, in the order of their objects: what pointers point to, and the ends of structures.
pub(super) fn arrays(shape: &Shape, input: &Input) -> Vec<Array> {
    let array = |object: &Object| match &object.node.kind {
        Kind::Sized(sized) => {
            Some(Array { now: sized.n_elements(input), sized: sized.clone(), reach: object.reach.clone() })
        }
        Kind::Struct { members } => match &members.last()?.kind {
            Kind::Sized(sized) => {
                let by = sized.counted_by.clone();
                let reach = if by.is_empty() { Reach::Open } else { Reach::Counted(by) };
                Some(Array { now: sized.n_elements(input), sized: sized.clone(), reach })
            }
            _ => None,
        },
        _ => None,
    };
    Objects::of(shape, input).objects.iter().filter_map(array).collect()
}

/// The input with the numbers that count elements as the harness passes them: they must not change with a size.
fn settled_numbers(shape: &Shape, input: &Input) -> Input {
    let mut most: BTreeMap<Key, u64> = BTreeMap::new();
    for array in arrays(shape, input) {
        if let Reach::Counted(by) = &array.reach {
            for key in by {
                let most = most.entry(*key).or_insert(array.now);
                *most = array.now.min(*most);
            }
        }
    }
    let mut settled = input.clone();
    for (key, most) in most {
        if let Some(value) = settled.values.get_mut(&key).filter(|value| **value > most) {
            *value %= most + 1;
        }
    }
    settled
}

fn with_sizes(input: &Input, arrays: &[Array], size: u64) -> Input {
    let mut larger = input.clone();
    larger.values.extend(arrays.iter().map(|array| (array.sized.size, size.max(array.now))));
    larger
}
