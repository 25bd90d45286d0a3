use std::collections::BTreeSet;

use model::input::{Cell, Key, Kind, Node, Pointer, Reach, Scalar, Sized};
use model::invocation::{Invocation, InvocationLimits};

use super::*;

fn node(name: &str, c_type: &str, kind: Kind) -> Node {
    Node { name: name.to_owned(), c_type: c_type.to_owned(), kind }
}

fn int(name: &str, key: u64) -> Node {
    let scalar = Scalar::Integer { bits: 32, signed: true };
    node(name, "int", Kind::Scalar(Cell { key: Key(key), scalar }))
}

/// `int n, char *s, int *p`: a text of any size, and a pointer to a number.
fn shape() -> Shape {
    let character =
        node("", "char", Kind::Scalar(Cell { key: Key(0), scalar: Scalar::Char { signed: true } }));
    let text = Sized {
        size: Key(2),
        first: 4,
        least: 0,
        most: 64,
        element: Box::new(character),
        zero_ended: true,
        counted_by: Vec::new(),
    };
    Shape {
        roots: vec![
            int("n", 1),
            node("s", "char *", Kind::Sized(text)),
            node(
                "p",
                "int *",
                Kind::Pointer(Pointer { choice: Key(3), first: 1, target: 0, reach: Reach::Open }),
            ),
        ],
        targets: vec![int("", 0)],
        max_depth: 4,
        ..Shape::default()
    }
}

fn text_key(index: u64) -> Key {
    Key(2).part(index).part(0)
}

fn input(n: u64, text: &[u8], pointed: Option<u64>) -> Input {
    let mut input = Input::default();
    input.values.insert(Key(1), n);
    input.values.insert(Key(2), text.len() as u64);
    for (index, byte) in (0..).zip(text) {
        input.values.insert(text_key(index), u64::from(*byte));
    }
    input.values.insert(Key(3), u64::from(pointed.is_some()));
    if let Some(value) = pointed {
        input.values.insert(Key(3).part(0), value);
    }
    input
}

fn text(input: &Input) -> Vec<u8> {
    let size = input.values[&Key(2)];
    (0..size).map(|index| input.values.get(&text_key(index)).copied().unwrap_or(0) as u8).collect()
}

fn tried(input: &Input, holds: bool) -> Try {
    if holds { Try::Holds(input.clone()) } else { Try::Fails }
}

fn tries(n_tries: usize) -> Limits<'static> {
    Limits { n_tries, is_over: &|| false }
}

#[test]
fn what_is_over_ends_before_the_next_part() {
    let shape = shape();
    let first = input(5, b"ab", None);
    let limits = Limits { n_tries: 1000, is_over: &|| true };
    let never = |_: &Input| panic!("nothing is tried");
    assert_eq!(simplify(Of::Function(&shape), &first, limits, &mut { never }), first);
}

#[test]
fn what_is_asked_for_is_kept_and_the_rest_becomes_simple() {
    let first = input(1234, b"\x07x=\xff(long tail)", Some(77));
    let mut n_asked = 0;
    let shape = shape();
    let best = simplify(Of::Function(&shape), &first, tries(1000), &mut |input| {
        n_asked += 1;
        tried(input, text(input).contains(&b'=') && (100..1 << 31).contains(&input.values[&Key(1)]))
    });
    assert_eq!((best.values[&Key(1)], text(&best), best.values[&Key(3)]), (100, b"=".to_vec(), 0));
    assert!(n_asked < 100, "{n_asked}");
}

#[test]
fn numbers_that_must_be_equal_become_small_together() {
    let shape = Shape { roots: vec![int("a", 1), int("b", 2), int("c", 3)], ..Shape::default() };
    let mut first = Input::default();
    first.values.extend([(Key(1), 24577), (Key(2), 5), (Key(3), 24577)]);
    let best = simplify(Of::Function(&shape), &first, tries(1000), &mut |input| {
        let [a, b, c] = [1, 2, 3].map(|key| input.values.get(&Key(key)).copied().unwrap_or(0));
        tried(input, a == c && a > 6 && a < 1 << 31 && b < a)
    });
    assert_eq!([best.values[&Key(1)], best.values[&Key(2)], best.values[&Key(3)]], [7, 0, 7]);
}

#[test]
fn characters_become_readable_where_their_values_do_not_matter() {
    let shape = shape();
    let best = simplify(Of::Function(&shape), &input(0, b"\x01\x02\xff", None), tries(1000), &mut |input| {
        tried(input, text(input).iter().filter(|byte| **byte != 0).count() >= 2)
    });
    assert_eq!(text(&best), b"aa");
}

#[test]
fn no_more_is_asked_than_allowed_and_nothing_after_a_stop() {
    let (shape, first) = (shape(), input(1 << 30, b"some text", Some(9)));
    let mut n_asked = 0;
    let never = simplify(Of::Function(&shape), &first, tries(7), &mut |_| {
        n_asked += 1;
        Try::Fails
    });
    assert_eq!((n_asked, never), (7, first.clone()));
    let mut n_asked = 0;
    simplify(Of::Function(&shape), &first, tries(7), &mut |_| {
        n_asked += 1;
        Try::Stop
    });
    assert_eq!(n_asked, 1);
}

#[test]
fn programs_get_fewer_and_shorter_arguments() {
    let shape = InvocationShape::new(&InvocationLimits {
        arguments: 3,
        length: 8,
        stdin: 16,
        files: vec![("a.txt".to_owned(), 8)],
        variables: vec!["HOME".to_owned()],
        allocations: 4,
    });
    let given = Invocation {
        arguments: vec![b"zz".to_vec(), b"-v\x02".to_vec(), Vec::new()],
        stdin: b"some input".to_vec(),
        files: vec![("a.txt".to_owned(), Some(b"xyz".to_vec()))],
        variables: vec![("HOME".to_owned(), Some(b"/".to_vec()))],
        failing: vec![2],
    };
    let first = shape.input(&given).expect("it fits");
    let scalar = Scalar::Integer { bits: 32, signed: false };
    let result = node("next", "unsigned", Kind::Scalar(Cell { key: Key(0), scalar }));
    let sequence = Key(shape.next_key);
    let calls = Shape {
        roots: vec![node("next()", "int", Kind::Sequence { root: sequence, results: vec![result] })],
        ..Shape::default()
    };
    let answer = |number: u64| sequence.part(number).part(0);
    let mut first = first;
    first.values.extend((0..3).map(|number| (answer(number), 77)));
    let best = simplify(Of::Program(&shape, &calls), &first, tries(1000), &mut |input| {
        let given = shape.invocation(input);
        let has_option = given.arguments.iter().any(|argument| argument.starts_with(b"-v"));
        let is_answered = input.values.get(&answer(1)).is_some_and(|value| *value > 3);
        tried(input, has_option && given.stdin.len() > 2 && is_answered)
    });
    let answers: Vec<_> = (0..3).map(|number| best.values.get(&answer(number)).copied()).collect();
    assert_eq!(answers, [Some(0), Some(4), None]);
    let best = shape.invocation(&best);
    assert_eq!(best.arguments, [b"-v".to_vec()]);
    let distinct: BTreeSet<u8> = best.stdin.iter().copied().collect();
    assert_eq!((best.stdin.len(), distinct.len()), (3, 3), "different characters stay different: {best:?}");
    assert_eq!(
        (best.files[0].1.clone(), best.variables[0].1.clone(), best.failing),
        (None, None, Vec::new())
    );
}

#[test]
fn values_that_do_not_matter_become_different() {
    let shape = shape();
    let best = diversify(Of::Function(&shape), &input(0, b"aa", Some(0)), tries(100), &mut |input| {
        tried(input, text(input)[0] == b'a')
    });
    assert_eq!((best.values[&Key(1)], text(&best), best.values[&Key(3).part(0)]), (1, b"ad".to_vec(), 4));
}
