//! Variations of what a program is given: near enough to go the same ways, different enough to show something else.
//!
//! Method: one or two changes of one text (an argument, standard input, a file): a number becomes a neighbour, its double, its negative or one of another input; words and
//! lines are left out, repeated, exchanged, taken from another input or put behind; a character becomes its neighbour. Limit: what has no text stays as it is.

use engine::rng::Rng;
use model::input::Input;
use model::invocation::{Invocation, InvocationShape};

/// A variation of `base` with parts of `other`; nothing when it does not fit.
pub fn varied(shape: &InvocationShape, base: &Input, other: &Input, rng: &mut Rng) -> Option<Input> {
    let (mut invocation, other) = (shape.invocation(base), shape.invocation(other));
    for _ in 0..=rng.below(2) {
        change(&mut invocation, &other, rng);
    }
    let mut input = shape.input(&invocation).ok()?;
    // what calls give stays
    for (key, value) in &base.values {
        input.values.entry(*key).or_insert(*value);
    }
    Some(input)
}

/// Changes one part of what a program is given.
fn change(invocation: &mut Invocation, other: &Invocation, rng: &mut Rng) {
    let n_arguments = invocation.arguments.len();
    let texts = n_arguments + 1 + invocation.files.len();
    match rng.below(texts + 2) {
        at if at < n_arguments => {
            let theirs = other.arguments.get(rng.below(other.arguments.len().max(1)));
            let theirs = theirs.map(Vec::as_slice).unwrap_or_default();
            change_text(&mut invocation.arguments[at], theirs, rng);
        }
        at if at == n_arguments => change_text(&mut invocation.stdin, &other.stdin, rng),
        at if at < texts => {
            let file = at - n_arguments - 1;
            let theirs = other.files.get(file).and_then(|(_, text)| text.as_deref()).unwrap_or_default();
            match &mut invocation.files[file].1 {
                Some(text) => change_text(text, theirs, rng),
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

fn change_text(text: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    match rng.below(6) {
        0 | 1 => change_number(text, other, rng),
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

/// The numbers in a text, as ranges of digits.
fn numbers(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let n = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if n > 0 {
            found.push((at, at + n));
        }
        at += n.max(1);
    }
    found
}

fn change_number(text: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let found = numbers(text);
    if found.is_empty() {
        return change_character(text, rng);
    }
    let (begin, end) = found[rng.below(found.len())];
    let number = |text: &[u8]| std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    let value = number(&text[begin..end]).unwrap_or(1);
    let theirs = numbers(other);
    let new = match rng.below(7) {
        0 => value.wrapping_add(1),
        1 => value.wrapping_sub(1).max(0),
        2 => value.wrapping_mul(2),
        3 => value / 2,
        4 => rng.below(12) as i64,
        5 if !theirs.is_empty() => {
            let (begin, end) = theirs[rng.below(theirs.len())];
            number(&other[begin..end]).unwrap_or(3)
        }
        _ => value.wrapping_add(10),
    };
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
            let vary = |_| varied(&shape, &base, &other, &mut rng);
            (0..200).filter_map(vary).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        let distinct: std::collections::BTreeSet<_> = all(1).into_iter().collect();
        assert!(distinct.len() > 60, "{}", distinct.len());
    }

    #[test]
    fn numbers_are_found_in_any_text() {
        assert_eq!(numbers(b"a12-3,"), [(1, 3), (4, 5)]);
    }
}
