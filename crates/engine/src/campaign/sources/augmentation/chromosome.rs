//! Inputs as sequences of genes that can be crossed and mutated.
//!
//! Method: of a program, genes are its arguments and the lines of standard input and files, or characters where there is one alone;
//! of a function, the cells in the order in which its run asked for them. One-point crossover swaps everything behind a position;
//! of a program also whole files. Children keep the limits of the input, nothing else: most tests are well formed, and what is
//! not may cover something.

use model::input::{Input, Key};
use model::invocation::{Invocation, InvocationShape};
use wire::Cell;

use crate::campaign::sources::mutation::mutate::{Seed, Vocabulary, mutated};
use crate::rng::Rng;

/// An input with its structure.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Chromosome {
    Program(Invocation),
    Function(Vec<Cell>, Input),
}

/// Changes made to one child at most; few are more likely.
const MOST_CHANGES: usize = 4;
/// Characters put into a text at once.
const LONGEST_INSERTION: usize = 8;

impl Chromosome {
    pub(super) fn of(input: &Input, cells: &[Cell], shape: Option<&InvocationShape>) -> Self {
        match shape {
            Some(shape) => Self::Program(shape.invocation(input)),
            None => Self::Function(cells.to_vec(), input.clone()),
        }
    }

    /// The input, within all limits.
    pub(super) fn input(&self, shape: Option<&InvocationShape>) -> Input {
        match (self, shape) {
            (Self::Program(invocation), Some(shape)) => shape
                .input(&within(invocation.clone(), shape))
                .expect("what is within all limits is an input"),
            (Self::Function(cells, input), _) => {
                let mut input = input.clone();
                input.values.extend(cells.iter().map(|cell| (Key(cell.key), cell.value)));
                input
            }
            (Self::Program(_), None) => Input::default(),
        }
    }
}

/// Cuts an invocation to the limits of a shape.
fn within(mut invocation: Invocation, shape: &InvocationShape) -> Invocation {
    let cut = |text: &mut Vec<u8>, most: u64| text.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    invocation.arguments.truncate(usize::try_from(shape.arguments.most).unwrap_or(usize::MAX));
    for argument in &mut invocation.arguments {
        argument.retain(|byte| *byte != 0);
        cut(argument, shape.arguments.length);
    }
    if let Some(stdin) = shape.files.first() {
        cut(&mut invocation.stdin, stdin.most);
    }
    for (name, contents) in &mut invocation.files {
        let file = shape.files.iter().find(|file| file.name.as_ref() == Some(name));
        if let (Some(contents), Some(file)) = (contents, file) {
            cut(contents, file.most);
        }
    }
    for (name, value) in &mut invocation.variables {
        let variable = shape.variables.iter().find(|variable| variable.name == *name);
        if let (Some(value), Some(variable)) = (value, variable) {
            value.retain(|byte| *byte != 0);
            cut(value, variable.length);
        }
    }
    invocation
}

/// The two children of two inputs.
pub(super) fn cross(one: &Chromosome, two: &Chromosome, rng: &mut Rng) -> [Chromosome; 2] {
    match (one, two) {
        (Chromosome::Program(one), Chromosome::Program(two)) => {
            cross_programs(one, two, rng).map(Chromosome::Program)
        }
        (Chromosome::Function(one, own), Chromosome::Function(two, others)) => {
            let at = rng.below(one.len().min(two.len()) + 1);
            let child = |head: &[Cell], tail: &[Cell], input: &Input| {
                let taken: Vec<u64> = head[..at].iter().map(|cell| cell.key).collect();
                let rest = tail.iter().filter(|cell| !taken.contains(&cell.key));
                Chromosome::Function(head[..at].iter().chain(rest).copied().collect(), input.clone())
            };
            [child(one, two, own), child(two, one, others)]
        }
        (one, two) => [one.clone(), two.clone()],
    }
}

fn cross_programs(one: &Invocation, two: &Invocation, rng: &mut Rng) -> [Invocation; 2] {
    let (mut a, mut b) = (one.clone(), two.clone());
    // a position in the arguments, in standard input, or in one of the files; what lies behind is swapped whole
    let n_parts = 2 + a.files.len().min(b.files.len());
    let part = rng.below(n_parts);
    if rng.below(4) == 0 && part > 0 {
        // a text as a whole is a gene, too
        swap_text(&mut a, &mut b, part);
        return [a, b];
    }
    if part == 0 {
        let (short, at) = (a.arguments.len().min(b.arguments.len()), rng.below(2));
        if short > 0 && at == 0 {
            // the characters of one argument, and all arguments behind it
            let place = rng.below(short);
            let (x, y) = cross_texts(&a.arguments[place], &b.arguments[place], rng);
            (a.arguments[place], b.arguments[place]) = (x, y);
            swap_tails(&mut a.arguments, &mut b.arguments, place + 1);
        } else {
            let at = rng.below(short + 1);
            swap_tails(&mut a.arguments, &mut b.arguments, at);
        }
    } else {
        let (x, y) = cross_texts(text(&a, part), text(&b, part), rng);
        set_text(&mut a, part, x);
        set_text(&mut b, part, y);
    }
    for behind in part + 1..n_parts {
        swap_text(&mut a, &mut b, behind);
    }
    std::mem::swap(&mut a.variables, &mut b.variables);
    std::mem::swap(&mut a.failing, &mut b.failing);
    [a, b]
}

/// Standard input is part 1, the files follow.
fn text(invocation: &Invocation, part: usize) -> &[u8] {
    match part {
        1 => &invocation.stdin,
        _ => invocation.files.get(part - 2).and_then(|(_, contents)| contents.as_deref()).unwrap_or_default(),
    }
}

fn set_text(invocation: &mut Invocation, part: usize, text: Vec<u8>) {
    match part {
        1 => invocation.stdin = text,
        _ => {
            if let Some((_, contents)) = invocation.files.get_mut(part - 2) {
                *contents = Some(text);
            }
        }
    }
}

fn swap_text(a: &mut Invocation, b: &mut Invocation, part: usize) {
    let (x, y) = (text(a, part).to_vec(), text(b, part).to_vec());
    set_text(a, part, y);
    set_text(b, part, x);
}

fn swap_tails<T: Clone>(a: &mut Vec<T>, b: &mut Vec<T>, at: usize) {
    let (tail_a, tail_b) = (a.split_off(at.min(a.len())), b.split_off(at.min(b.len())));
    a.extend(tail_b);
    b.extend(tail_a);
}

/// By lines where there are several in both, else by characters.
fn cross_texts(one: &[u8], two: &[u8], rng: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (mut a, mut b) = (lines(one), lines(two));
    if a.len() > 1 && b.len() > 1 && rng.below(2) == 0 {
        let at = rng.below(a.len().min(b.len()) + 1);
        swap_tails(&mut a, &mut b, at);
        return (a.concat(), b.concat());
    }
    let (mut a, mut b) = (one.to_vec(), two.to_vec());
    let at = rng.below(a.len().min(b.len()) + 1);
    swap_tails(&mut a, &mut b, at);
    (a, b)
}

/// Changes an input a little; `mate` is another one to take something from.
pub(super) fn mutate(chromosome: &mut Chromosome, mate: &Chromosome, vocabulary: &Vocabulary, rng: &mut Rng) {
    match chromosome {
        Chromosome::Program(invocation) => {
            let n_changes = 1 + rng.below(MOST_CHANGES).min(rng.below(MOST_CHANGES));
            for _ in 0..n_changes {
                change(invocation, mate, vocabulary, rng);
            }
        }
        Chromosome::Function(cells, _) => {
            *cells = mutated(&[Seed::new(cells.clone(), &Default::default())], vocabulary, rng);
        }
    }
}

fn change(invocation: &mut Invocation, mate: &Chromosome, vocabulary: &Vocabulary, rng: &mut Rng) {
    let part = rng.below(2 + invocation.files.len());
    if part > 0 {
        let mut changed = text(invocation, part).to_vec();
        let of_mate = match mate {
            Chromosome::Program(mate) => text(mate, part).to_vec(),
            Chromosome::Function(..) => Vec::new(),
        };
        change_text(&mut changed, &of_mate, vocabulary, rng);
        set_text(invocation, part, changed);
        return;
    }
    let arguments = &mut invocation.arguments;
    match rng.below(6) {
        // another argument, of another test or of the program's words
        0 => {
            let of_mate = match mate {
                Chromosome::Program(mate) if !mate.arguments.is_empty() => {
                    Some(mate.arguments[rng.below(mate.arguments.len())].clone())
                }
                Chromosome::Program(_) | Chromosome::Function(..) => None,
            };
            let new = of_mate.or_else(|| vocabulary.word(rng)).unwrap_or_else(|| b"a".to_vec());
            arguments.insert(rng.below(arguments.len() + 1), new);
        }
        1 if !arguments.is_empty() => {
            arguments.remove(rng.below(arguments.len()));
        }
        2 if arguments.len() > 1 => {
            let (one, two) = (rng.below(arguments.len()), rng.below(arguments.len()));
            arguments.swap(one, two);
        }
        3 if !arguments.is_empty() => {
            if let Some(word) = vocabulary.word(rng) {
                let at = rng.below(arguments.len());
                arguments[at] = word;
            }
        }
        _ if !arguments.is_empty() => {
            let at = rng.below(arguments.len());
            let other = arguments[rng.below(arguments.len())].clone();
            change_text(&mut arguments[at], &other, vocabulary, rng);
        }
        _ => {}
    }
}

/// Changes a text: numbers to neighbours, characters, words, lines.
fn change_text(text: &mut Vec<u8>, other: &[u8], vocabulary: &Vocabulary, rng: &mut Rng) {
    let at = rng.below(text.len() + 1);
    let number = number_at(text, at);
    match rng.below(9) {
        0 | 1 if at < text.len() => text[at] = character(vocabulary, rng),
        2 => text.insert(at, character(vocabulary, rng)),
        3 if at < text.len() => {
            let n = 1 + rng.below(LONGEST_INSERTION.min(text.len() - at));
            text.drain(at..at + n);
        }
        4 => {
            if let Some(word) = vocabulary.word(rng) {
                text.splice(at..at, word);
            }
        }
        5 if !other.is_empty() => {
            let from = rng.below(other.len());
            let n = 1 + rng.below(LONGEST_INSERTION.min(other.len() - from));
            text.splice(at..at, other[from..from + n].iter().copied());
        }
        6 => change_lines(text, rng),
        7 | 8 if number.is_some() => {
            let (range, value) = number.expect("there is one");
            let changed = match rng.below(4) {
                0 => value.wrapping_add(1),
                1 => value.wrapping_sub(1),
                2 => vocabulary.number(rng).unwrap_or(value),
                _ => value.wrapping_mul(if rng.below(2) == 0 { 10 } else { -1 }),
            };
            text.splice(range, changed.to_string().into_bytes());
        }
        _ if at < text.len() => text[at] ^= 1 << rng.below(7),
        _ => text.push(character(vocabulary, rng)),
    }
}

fn change_lines(text: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (one, two) = (rng.below(lines.len()), rng.below(lines.len()));
    match rng.below(3) {
        0 => lines.swap(one, two),
        1 => {
            let line = lines[one].clone();
            lines.insert(two, line);
        }
        _ => {
            lines.remove(one);
        }
    }
    *text = lines.concat();
}

/// The decimal number around a position, and where it stands.
fn number_at(text: &[u8], at: usize) -> Option<(std::ops::Range<usize>, i64)> {
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    if !is_digit(at) {
        return None;
    }
    let mut start = at;
    while start > 0 && is_digit(start - 1) {
        start -= 1;
    }
    let end = (at..).find(|at| !is_digit(*at)).unwrap_or(text.len());
    if start > 0 && text[start - 1] == b'-' {
        start -= 1;
    }
    let value = std::str::from_utf8(&text[start..end]).ok()?.parse().ok()?;
    Some((start..end, value))
}

/// A character: one that the program knows, a usual one, or any.
fn character(vocabulary: &Vocabulary, rng: &mut Rng) -> u8 {
    const USUAL: &[u8] = b" \n\t0129azAZ.,;:-+*/()[]{}<>=\"'#%&|!?_^$@~\\";
    match rng.below(5) {
        0 | 1 => vocabulary.constant(0x7f, rng).map_or(b'a', |constant| constant.to_le_bytes()[0]),
        2 | 3 => USUAL[rng.below(USUAL.len())],
        _ => rng.bits().to_le_bytes()[0],
    }
}

#[cfg(test)]
mod tests {
    use model::Program;
    use model::invocation::InvocationLimits;

    use super::*;

    fn invocation(arguments: &[&str], stdin: &str) -> Invocation {
        Invocation {
            arguments: arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect(),
            stdin: stdin.as_bytes().to_vec(),
            ..Invocation::default()
        }
    }

    #[test]
    fn children_have_the_genes_of_both_parents() {
        let (one, two) = (invocation(&["a", "b"], "1\n2\n"), invocation(&["c", "d", "e"], "3\n4\n"));
        let mut rng = Rng::new(3);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let [a, b] = cross_programs(&one, &two, &mut rng);
            assert_eq!(a.arguments.len() + b.arguments.len(), 5);
            assert_eq!(a.stdin.len() + b.stdin.len(), 8);
            seen.insert((a.arguments.concat(), a.stdin.clone()));
        }
        let has = |arguments: &str, stdin: &str| {
            seen.contains(&(arguments.as_bytes().to_vec(), stdin.as_bytes().to_vec()))
        };
        assert!(has("ade", "3\n4\n") && has("ab", "1\n4\n") && has("ab", "3\n4\n"), "{seen:?}");
    }

    #[test]
    fn what_is_changed_keeps_the_limits() {
        let shape = InvocationShape::new(&InvocationLimits {
            arguments: 2,
            length: 3,
            stdin: 4,
            files: vec![("f".to_owned(), 2)],
            variables: Vec::new(),
            allocations: 0,
        });
        let mut chromosome = Chromosome::Program(Invocation {
            files: vec![("f".to_owned(), Some(b"x1".to_vec()))],
            ..invocation(&["-9", "b"], "12\n")
        });
        let mate = chromosome.clone();
        let (vocabulary, mut rng) = (Vocabulary::of(&Program::default()), Rng::new(5));
        let mut different = std::collections::BTreeSet::new();
        for _ in 0..500 {
            mutate(&mut chromosome, &mate, &vocabulary, &mut rng);
            let input = chromosome.input(Some(&shape));
            different.insert(input.clone());
            chromosome = Chromosome::of(&input, &[], Some(&shape));
        }
        assert!(different.len() > 100, "{}", different.len());
    }

    #[test]
    fn cells_behind_a_position_are_swapped_by_key() {
        let cell = |key: u64, value: u64| Cell { key, value, node: 0, width: 8, kind: wire::CellKind::Value };
        let one = Chromosome::Function(vec![cell(1, 10), cell(2, 20)], Input::default());
        let two = Chromosome::Function(vec![cell(1, 11), cell(2, 21), cell(3, 31)], Input::default());
        let mut rng = Rng::new(1);
        let mut all = std::collections::BTreeSet::new();
        for _ in 0..50 {
            let [child, _] = cross(&one, &two, &mut rng);
            all.insert(child.input(None).values.into_values().collect::<Vec<u64>>());
        }
        let expected = [vec![10, 20, 31], vec![10, 21, 31], vec![11, 21, 31]];
        assert_eq!(all, expected.into());
    }
}
