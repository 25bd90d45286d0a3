//! An input whose objects are too small for what the function does with them: which larger one is large enough?
//!
//! Method: all arrays of varying size grow together until nothing is wrong any more; then each that need not be larger gets its
//! size back. New elements are zero. Limit: an access that no size up to [`LARGEST`] holds is not fixed, and is a finding.

use model::input::{Input, Key, Kind, LARGEST, Object, Objects, Shape};

use super::{Checker, Verdict};
use crate::error::Error;

/// Sizes that are tried.
const SIZES: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 256, 1024, LARGEST];
/// Inputs that are enlarged in one go, and arrays that get their sizes back.
const MOST_INPUTS: usize = 64;
const MOST_ARRAYS: usize = 6;

/// For each input the smallest enlargement that nothing is wrong with, if there is one.
pub fn enlarged(
    checker: &Checker<'_>,
    shape: &Shape,
    inputs: &[&Input],
) -> Result<Vec<Option<Input>>, Error> {
    let mut variants: Vec<(usize, Input)> = Vec::new();
    for (number, input) in inputs.iter().enumerate().take(MOST_INPUTS) {
        let sizes = sizes(shape, input);
        let steps = SIZES.into_iter().filter(|size| sizes.iter().any(|(_, now)| now < size));
        variants.extend(steps.map(|size| (number, with_sizes(input, &sizes, size))));
    }
    let clean = clean(checker, &variants)?;
    let mut found: Vec<Option<Input>> = vec![None; inputs.len()];
    for ((number, input), is_clean) in variants.into_iter().zip(clean) {
        if is_clean && found[number].is_none() {
            found[number] = Some(input);
        }
    }
    narrowed(checker, shape, inputs, found)
}

/// Gives arrays their sizes back that need not be larger, one after the other.
fn narrowed(
    checker: &Checker<'_>,
    shape: &Shape,
    inputs: &[&Input],
    mut found: Vec<Option<Input>>,
) -> Result<Vec<Option<Input>>, Error> {
    for array in 0..MOST_ARRAYS {
        let mut variants: Vec<(usize, Input)> = Vec::new();
        for (number, (input, larger)) in inputs.iter().zip(&found).enumerate() {
            let Some(larger) = larger else { continue };
            let sizes = sizes(shape, input);
            let Some((key, now)) = sizes.get(array).filter(|_| sizes.len() > 1) else { continue };
            let mut smaller = larger.clone();
            if smaller.values.insert(*key, *now) != Some(*now) {
                variants.push((number, smaller));
            }
        }
        if variants.is_empty() {
            break;
        }
        let clean = clean(checker, &variants)?;
        for ((number, input), is_clean) in variants.into_iter().zip(clean) {
            if is_clean {
                found[number] = Some(input);
            }
        }
    }
    Ok(found)
}

fn clean(checker: &Checker<'_>, variants: &[(usize, Input)]) -> Result<Vec<bool>, Error> {
    let inputs: Vec<&Input> = variants.iter().map(|(_, input)| input).collect();
    let verdicts = checker.check(&inputs)?;
    Ok(verdicts.into_iter().map(|verdict| matches!(verdict, Verdict::Clean { .. })).collect())
}

/// Whether the object that an error is about is one that says how far a function may go, by what the report tells of its size.
pub fn is_limited(shape: &Shape, input: &Input, message: &str) -> bool {
    let region = message.split(' ').find_map(|word| word.strip_suffix("-byte")?.parse::<u64>().ok());
    let of_region = |object: &&Object| match &object.node.kind {
        Kind::Sized(sized) => {
            let n = sized.n_elements(input) + u64::from(sized.zero_ended);
            let bytes = sized.element.kind.scalar().map(|cell| u64::from(cell.scalar.bits().div_ceil(8)) * n);
            bytes.is_some() && bytes.map(|bytes| bytes.max(1)) == region
        }
        _ => false,
    };
    let objects = Objects::of(shape, input);
    let mut meant = objects.objects.iter().filter(of_region).peekable();
    meant.peek().is_some() && meant.all(|object| !may_grow(object))
}

fn may_grow(object: &Object) -> bool {
    matches!(object.node.kind, Kind::Sized(_)) && !object.limited
}

/// The sizes of the arrays that may grow, in the order of their objects: where nothing tells the function how far it may go.
fn sizes(shape: &Shape, input: &Input) -> Vec<(Key, u64)> {
    let size = |object: &Object| match &object.node.kind {
        Kind::Sized(sized) if may_grow(object) => Some((sized.size, sized.n_elements(input))),
        _ => None,
    };
    Objects::of(shape, input).objects.iter().filter_map(size).collect()
}

fn with_sizes(input: &Input, sizes: &[(Key, u64)], size: u64) -> Input {
    let mut larger = input.clone();
    larger.values.extend(sizes.iter().map(|(key, now)| (*key, size.max(*now))));
    larger
}
