//! The harness takes a number for the length of an array, or a constant text for all there is: does the function, too?
//!
//! Method: an experiment. The array grows, and only it, until nothing is wrong: the function needs so many elements more than it
//! was told. Then it is told of more elements by a fixed number: the length is larger, or the text longer. If it now needs
//! exactly as many more, then it goes by what it is told, and going beyond that is its error. If it needs no more than before
//! (a number that is no length, a record of fixed size in a `const char *`), or more than that (each number stands for
//! several elements), the guess was wrong. What the new elements hold may matter, so several contents are tried.
//! Limit: a number that is the index of the last element looks like a length that the function exceeds by one.

use model::input::{Input, Key, Kind, Node, Reach, Shape};

use super::enlarge::{Array, arrays};
use super::{Checker, Verdict};
use crate::error::Error;

/// Elements beyond what the function is told, at most.
const MOST_BEYOND: u64 = 64;
/// Elements that the function is told of in addition. A multiple of the steps in which functions go through arrays.
const ADDED: u64 = 48;
/// Sizes that are tried at a time.
const PER_ROUND: u64 = 8;

/// What an experiment shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    Holds,
    Fails,
    /// It was not made.
    Unknown,
}

/// What new elements of an array hold.
#[derive(Clone, Copy, Debug)]
enum Added {
    /// Behind the others: zeros.
    Zeros,
    /// Behind the others: the letter a.
    Letters,
    /// Behind the others: what the last one holds.
    Last,
    /// Before the others: what the first one holds.
    First,
}

const ALL: [Added; 4] = [Added::Zeros, Added::Letters, Added::Last, Added::First];

/// Whether the function goes by what `array` of `input` says of its length; `larger` is the same input with enough room everywhere.
pub(super) fn holds(
    checker: &Checker<'_>,
    shape: &Shape,
    input: &Input,
    larger: &Input,
    array: &Array,
) -> Result<Guess, Error> {
    let beyond = match needed(checker, larger, array)? {
        Ok(beyond) => beyond,
        Err(guess) => return Ok(guess),
    };
    let mut pairs: Vec<Input> = Vec::new();
    for told in told_of_more(shape, input, larger, array) {
        pairs.extend([beyond, beyond - 1].map(|more| with_size(&told, array, array.now + ADDED + more)));
    }
    let verdicts = checker.check(&pairs.iter().collect::<Vec<_>>())?;
    let is_wrong = |verdict: &Verdict| matches!(verdict, Verdict::Wrong { in_harness: true, .. });
    if verdicts.chunks(2).any(|pair| is_clean(&pair[0]) && is_wrong(&pair[1])) {
        return Ok(Guess::Holds);
    }
    Ok(if verdicts.iter().any(is_open) { Guess::Unknown } else { Guess::Fails })
}

/// How many elements more than it has an array needs, at most as many as it has in `larger`; or what is known without.
fn needed(checker: &Checker<'_>, larger: &Input, array: &Array) -> Result<Result<u64, Guess>, Error> {
    // wrong with so many more, clean with so many
    let (mut low, mut high) = (0, array.sized.n_elements(larger).saturating_sub(array.now));
    while high - low > 1 {
        let step = (high - low).div_ceil(PER_ROUND).max(1);
        let steps: Vec<u64> = (1..).map(|n| low + n * step).take_while(|more| *more < high).collect();
        let sizes: Vec<Input> = steps.iter().map(|more| with_size(larger, array, array.now + more)).collect();
        let verdicts = checker.check(&sizes.iter().collect::<Vec<_>>())?;
        if verdicts.iter().any(is_open) {
            return Ok(Err(Guess::Unknown));
        }
        match verdicts.iter().position(is_clean) {
            Some(first) => (low, high) = (if first == 0 { low } else { steps[first - 1] }, steps[first]),
            None => low = steps.last().copied().unwrap_or(low),
        }
    }
    Ok(if high > MOST_BEYOND { Err(Guess::Fails) } else { Ok(high) })
}

fn is_clean(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Clean { .. })
}

/// Whether a run came to no end.
fn is_open(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unknown | Verdict::TimedOut)
}

fn with_size(input: &Input, array: &Array, size: u64) -> Input {
    let mut resized = input.clone();
    resized.values.insert(array.sized.size, size);
    resized
}

/// Inputs that tell the function of more elements: with other contents, and with other numbers where these count.
fn told_of_more(shape: &Shape, input: &Input, larger: &Input, array: &Array) -> Vec<Input> {
    let contents = ALL.map(|added| with_elements(input, larger, array, added));
    match &array.reach {
        Reach::Open => Vec::new(),
        Reach::Text => contents.to_vec(),
        Reach::Counted(by) => {
            let mut choices: Vec<&[Key]> = by.iter().map(std::slice::from_ref).collect();
            if by.len() > 1 {
                choices.push(by);
            }
            let told = |numbers: &&[Key]| {
                let numbers = numbers.to_vec();
                contents.iter().map(move |content| with_numbers(shape, content, &numbers))
            };
            choices.iter().flat_map(told).collect()
        }
    }
}

/// The same with larger numbers, and with room for them in all other arrays that they count.
fn with_numbers(shape: &Shape, input: &Input, numbers: &[Key]) -> Input {
    let mut told = input.clone();
    for number in numbers {
        *told.values.entry(*number).or_insert(0) += ADDED;
    }
    for other in arrays(shape, input) {
        if matches!(&other.reach, Reach::Counted(by) if numbers.iter().any(|number| by.contains(number))) {
            told.values.insert(other.sized.size, other.now + ADDED + MOST_BEYOND);
        }
    }
    told
}

/// The same with more elements, which stand before the end of a text.
fn with_elements(input: &Input, larger: &Input, array: &Array, added: Added) -> Input {
    let value = |index: u64| -> Vec<u64> {
        keys(&array.sized.element(index))
            .iter()
            .map(|key| input.values.get(key).copied().unwrap_or(0))
            .collect()
    };
    let old: Vec<Vec<u64>> = (0..array.now).map(value).collect();
    let end = match array.sized.zero_ended {
        true => old.iter().position(|cells| cells.iter().all(|cell| *cell == 0)).unwrap_or(old.len()),
        false => old.len(),
    };
    let n_cells = keys(&array.sized.element(0)).len();
    let letter = || vec![u64::from(b'a'); n_cells];
    let (at, content) = match added {
        Added::Zeros => (end, vec![0; n_cells]),
        Added::Letters => (end, letter()),
        Added::Last => (end, end.checked_sub(1).map_or_else(letter, |last| old[last].clone())),
        Added::First => (0, old.first().filter(|_| end > 0).cloned().unwrap_or_else(letter)),
    };
    let mut told = larger.clone();
    let new = std::iter::repeat_n(&content, usize::try_from(ADDED).unwrap_or(0));
    let all = old[..at].iter().chain(new).chain(&old[at..]);
    for (index, cells) in (0..).zip(all) {
        told.values.extend(keys(&array.sized.element(index)).into_iter().zip(cells.iter().copied()));
    }
    told
}

/// The cells of an element that hold numbers.
fn keys(element: &Node) -> Vec<Key> {
    match &element.kind {
        Kind::Scalar(cell) => vec![cell.key],
        Kind::Struct { members } => members.iter().flat_map(keys).collect(),
        Kind::Array { elements, .. } => elements.iter().flat_map(keys).collect(),
        Kind::Sized(_)
        | Kind::Pointer(_)
        | Kind::Union(_)
        | Kind::Function(_)
        | Kind::Stream(_)
        | Kind::Results(_)
        | Kind::Sequence { .. }
        | Kind::Optional { .. }
        | Kind::Unsupported { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use model::input::{Cell, Scalar, Sized};

    use super::*;

    fn array(n: u64, zero_ended: bool) -> Array {
        let scalar = Scalar::Char { signed: true };
        let kind = Kind::Scalar(Cell { key: Key(0), scalar });
        let element = Box::new(Node { name: String::new(), c_type: "char".to_owned(), kind });
        let counted_by = Vec::new();
        let sized = Sized { size: Key(7), first: n, least: 0, most: 64, element, zero_ended, counted_by };
        Array { sized, reach: Reach::Text, now: n }
    }

    fn text(array: &Array, bytes: &[u8]) -> Input {
        let key = |index: u64| keys(&array.sized.element(index))[0];
        Input { values: (0..).zip(bytes).map(|(index, byte)| (key(index), u64::from(*byte))).collect() }
    }

    fn told(bytes: &[u8], zero_ended: bool, added: Added) -> Vec<u8> {
        let array = array(bytes.len() as u64, zero_ended);
        let input = text(&array, bytes);
        let told = with_elements(&input, &input, &array, added);
        let value = |index: u64| told.values.get(&keys(&array.sized.element(index))[0]).copied().unwrap_or(0);
        (0..bytes.len() as u64 + ADDED).map(|index| value(index).to_le_bytes()[0]).collect()
    }

    #[test]
    fn new_elements_stand_before_the_end_of_a_text_or_before_all_others() {
        let letters = told(b"xy\0z", true, Added::Letters);
        assert_eq!((&letters[..3], &letters[49..]), (&b"xya"[..], &b"a\0z"[..]));
        let first = told(b"xy\0z", true, Added::First);
        assert_eq!((&first[..2], &first[47..]), (&b"xx"[..], &b"xxy\0z"[..]));
        let last = told(b"xy\0z", false, Added::Last);
        assert_eq!((&last[..6], last[51]), (&b"xy\0zzz"[..], b'z'));
    }

    #[test]
    fn a_length_grows_with_what_it_counts_and_leaves_room_elsewhere() {
        let counted = |key: u64| {
            let reach = Reach::Counted(vec![Key(3)]);
            let pointer = model::input::Pointer { choice: Key(key), first: 1, target: 0, reach };
            Node { name: format!("p{key}"), c_type: "char *".to_owned(), kind: Kind::Pointer(pointer) }
        };
        let target = Node {
            name: String::new(),
            c_type: "char".to_owned(),
            kind: Kind::Sized(Sized { size: Key(0), ..array(4, false).sized }),
        };
        let (roots, targets) = (vec![counted(1), counted(2)], vec![target]);
        let shape = Shape { roots, targets, max_depth: 4, ..Shape::default() };
        let input = Input { values: [(Key(3), 4)].into() };
        let told = with_numbers(&shape, &input, &[Key(3)]);
        assert_eq!(told.values[&Key(3)], 4 + ADDED);
        let sizes: Vec<u64> = arrays(&shape, &told).iter().map(|array| array.now).collect();
        assert_eq!(sizes, [4 + ADDED + MOST_BEYOND; 2]);
    }
}
