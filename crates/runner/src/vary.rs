//! Variations of what a program is given: near enough to go the same ways, different enough to show something else.
//!
//! Method: one or two changes of one text (an argument, standard input, a file): a number becomes a neighbour, its double, another number of the input, one that the program
//! compares with, or as far from another number as such a one says; words and
//! lines are left out, repeated, exchanged, taken from another input or put behind; a character becomes its neighbour. Limit: what has no text stays as it is.

use engine::rng::Rng;
use model::input::Input;
use model::invocation::{Invocation, InvocationShape};

/// A variation of `base` with parts of `other`, and with numbers that the program compares with; nothing when it does not fit.
pub fn varied(
    shape: &InvocationShape,
    base: &Input,
    other: &Input,
    compared: &[i64],
    rng: &mut Rng,
) -> Option<Input> {
    let (mut invocation, other) = (shape.invocation(base), shape.invocation(other));
    for _ in 0..=rng.below(2) {
        let numbers = Numbers { own: numbers_of(&invocation), other: numbers_of(&other), compared };
        change(&mut invocation, &other, &numbers, rng);
    }
    let mut input = shape.input(&invocation).ok()?;
    // what calls give stays
    for (key, value) in &base.values {
        input.values.entry(*key).or_insert(*value);
    }
    Some(input)
}

/// Numbers to make others of.
struct Numbers<'a> {
    own: Vec<i64>,
    other: Vec<i64>,
    compared: &'a [i64],
}

impl Numbers<'_> {
    /// What may stand in place of a number.
    fn instead_of(&self, value: i64, rng: &mut Rng) -> i64 {
        let near = |rng: &mut Rng| rng.below(3) as i64 - 1;
        match rng.below(10) {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            2 => value.wrapping_mul(2),
            3 => value / 2,
            4 => rng.below(12) as i64,
            5 => value.wrapping_add(10),
            6 => one_of(&self.other, rng).unwrap_or(3),
            7 => one_of(self.compared, rng).unwrap_or(value).wrapping_add(near(rng)),
            _ => {
                let apart = one_of(self.compared, rng).unwrap_or(0).wrapping_add(near(rng));
                let from = one_of(&self.own, rng).unwrap_or(value);
                if rng.below(2) == 0 { from.wrapping_add(apart) } else { from.wrapping_sub(apart) }
            }
        }
    }
}

fn one_of(numbers: &[i64], rng: &mut Rng) -> Option<i64> {
    (!numbers.is_empty()).then(|| numbers[rng.below(numbers.len())])
}

/// All numbers in what a program is given.
fn numbers_of(invocation: &Invocation) -> Vec<i64> {
    let files = invocation.files.iter().filter_map(|(_, text)| text.as_ref());
    let texts = invocation.arguments.iter().chain([&invocation.stdin]).chain(files);
    texts
        .flat_map(|text| numbers(text).into_iter().filter_map(|(begin, end)| number(&text[begin..end])))
        .collect()
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Changes one part of what a program is given.
fn change(invocation: &mut Invocation, other: &Invocation, numbers: &Numbers<'_>, rng: &mut Rng) {
    let n_arguments = invocation.arguments.len();
    let texts = n_arguments + 1 + invocation.files.len();
    match rng.below(texts + 2) {
        at if at < n_arguments => {
            let theirs = other.arguments.get(rng.below(other.arguments.len().max(1)));
            let theirs = theirs.map(Vec::as_slice).unwrap_or_default();
            change_text(&mut invocation.arguments[at], theirs, numbers, rng);
        }
        at if at == n_arguments => change_text(&mut invocation.stdin, &other.stdin, numbers, rng),
        at if at < texts => {
            let file = at - n_arguments - 1;
            let theirs = other.files.get(file).and_then(|(_, text)| text.as_deref()).unwrap_or_default();
            match &mut invocation.files[file].1 {
                Some(text) => change_text(text, theirs, numbers, rng),
                none => *none = other.files.get(file).and_then(|(_, text)| text.clone()),
            }
        }
        _ => change_arguments(&mut invocation.arguments, &other.arguments, rng),
    }
    invocation.arguments.iter_mut().for_each(|argument| argument.retain(|byte| *byte != 0));
}

fn change_arguments(arguments: &mut Vec<Vec<u8>>, others: &[Vec<u8>], rng: &mut Rng) {
    let n = arguments.len();
    match rng.below(4) {
        0 if n > 0 => drop(arguments.remove(rng.below(n))),
        1 if n > 1 => arguments.swap(rng.below(n), rng.below(n)),
        2 if n > 0 => {
            let again = arguments[rng.below(n)].clone();
            arguments.insert(rng.below(n + 1), again);
        }
        _ if !others.is_empty() => {
            arguments.insert(rng.below(n + 1), others[rng.below(others.len())].clone())
        }
        _ => {}
    }
}

fn change_text(text: &mut Vec<u8>, other: &[u8], numbers: &Numbers<'_>, rng: &mut Rng) {
    match rng.below(6) {
        0 | 1 => change_number(text, numbers, rng),
        2 => change_pieces(text, other, b"\n", rng),
        3 => change_pieces(text, other, b" ,;:\t\n", rng),
        4 => change_character(text, rng),
        _ => {
            // another input behind it: what it does is seen there
            let end = text.ends_with(b"\n") || text.is_empty();
            text.extend_from_slice(if end { b"" } else { b"\n" });
            text.extend_from_slice(other);
        }
    }
}

/// The numbers in a text, as ranges of digits with their signs.
fn numbers(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let n = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if n > 0 {
            // a minus behind a digit or letter takes away
            let is_negative =
                at > 0 && text[at - 1] == b'-' && (at == 1 || !text[at - 2].is_ascii_alphanumeric());
            found.push((at - usize::from(is_negative), at + n));
        }
        at += n.max(1);
    }
    found
}

fn change_number(text: &mut Vec<u8>, known: &Numbers<'_>, rng: &mut Rng) {
    let found = numbers(text);
    if found.is_empty() {
        return change_character(text, rng);
    }
    let (begin, end) = found[rng.below(found.len())];
    let new = known.instead_of(number(&text[begin..end]).unwrap_or(1), rng);
    text.splice(begin..end, new.to_string().into_bytes());
}

/// Splits a text behind each of these bytes.
fn pieces(text: &[u8], ends: &[u8]) -> Vec<Vec<u8>> {
    text.split_inclusive(|byte| ends.contains(byte)).map(<[u8]>::to_vec).collect()
}

fn change_pieces(text: &mut Vec<u8>, other: &[u8], ends: &[u8], rng: &mut Rng) {
    let (mut own, theirs) = (pieces(text, ends), pieces(other, ends));
    let n = own.len();
    match rng.below(5) {
        0 if n > 1 => drop(own.remove(rng.below(n))),
        1 if n > 0 => {
            let again = own[rng.below(n)].clone();
            own.insert(rng.below(n + 1), again);
        }
        2 if n > 1 => own.swap(rng.below(n), rng.below(n)),
        3 if n > 0 && !theirs.is_empty() => own[rng.below(n)] = theirs[rng.below(theirs.len())].clone(),
        _ if !theirs.is_empty() => own.insert(rng.below(n + 1), theirs[rng.below(theirs.len())].clone()),
        _ => {}
    }
    *text = own.concat();
}

fn change_character(text: &mut Vec<u8>, rng: &mut Rng) {
    if text.is_empty() {
        text.push(b'1');
        return;
    }
    let at = rng.below(text.len());
    match rng.below(4) {
        0 => text[at] = text[at].wrapping_add(1).max(1),
        1 => text[at] = text[at].wrapping_sub(1).max(1),
        2 => text[at] = text[rng.below(text.len())],
        _ => text.insert(at, b"a1 -+*/.,;()\"'\n"[rng.below(15)]),
    }
}

#[cfg(test)]
mod tests {
    use model::invocation::InvocationLimits;

    use super::*;

    #[test]
    fn variations_differ_follow_from_the_seed_and_fit() {
        let limits = InvocationLimits {
            arguments: 3,
            length: 8,
            stdin: 64,
            files: Vec::new(),
            variables: Vec::new(),
            allocations: 0,
        };
        let shape = InvocationShape::new(&limits);
        let input = |arguments: &[&[u8]], stdin: &[u8]| {
            let arguments = arguments.iter().map(|argument| argument.to_vec()).collect();
            shape
                .input(&Invocation { arguments, stdin: stdin.to_vec(), ..Invocation::default() })
                .expect("it fits")
        };
        let (base, other) = (input(&[b"-n", b"12"], b"1 + 2\n"), input(&[b"7"], b"x\ny\n"));
        let all = |seed| {
            let mut rng = Rng::new(seed);
            let vary = |_| varied(&shape, &base, &other, &[40], &mut rng);
            (0..2000).filter_map(vary).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        let distinct: std::collections::BTreeSet<_> = all(1).into_iter().collect();
        assert!(distinct.len() > 60, "{}", distinct.len());
        let arguments = all(1).iter().flat_map(|input| shape.invocation(input).arguments).collect::<Vec<_>>();
        for apart in ["40", "39", "52"] {
            assert!(arguments.iter().any(|argument| argument == apart.as_bytes()), "{apart}: 40 and 12");
        }
    }

    #[test]
    fn numbers_are_found_in_any_text() {
        assert_eq!(numbers(b"a12-3,-4 -5"), [(1, 3), (4, 5), (6, 8), (9, 11)]);
    }
}
