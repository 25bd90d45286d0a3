//! The rules against the paper's example and against brute force over every shape of up to four conditions.

use super::*;

fn leaf(condition: u32) -> Box<Shape> {
    Box::new(Shape::Leaf(ConditionId(condition)))
}

#[test]
fn the_papers_example_has_its_masks_and_terminations() {
    let (a, b, c) = (ConditionId(0), ConditionId(1), ConditionId(2));
    let shape = Shape::And(leaf(0), Box::new(Shape::Or(leaf(1), leaf(2))));
    let row = |condition, value, masks: &[ConditionId], terminates| Row {
        condition,
        value,
        masks: masks.iter().copied().collect(),
        terminates,
    };
    let expected = [
        row(a, true, &[], Terminates::Never),
        row(a, false, &[], Terminates::Always(false)),
        row(b, true, &[], Terminates::Always(true)),
        row(b, false, &[], Terminates::Never),
        row(c, true, &[b], Terminates::Always(true)),
        row(c, false, &[a], Terminates::Always(false)),
    ];
    assert_eq!(table(&shape), expected);
}

/// The value under a full assignment, and the conditions C evaluates on the way.
fn run(shape: &Shape, full: u32, reached: &mut Outcomes) -> bool {
    match shape {
        Shape::Leaf(condition) => {
            let value = full >> condition.0 & 1 == 1;
            reached.insert(*condition, value);
            value
        }
        Shape::Constant(value) => *value,
        Shape::Not(inner) => !run(inner, full, reached),
        Shape::And(left, right) => run(left, full, reached) && run(right, full, reached),
        Shape::Or(left, right) => run(left, full, reached) || run(right, full, reached),
        Shape::Ternary(condition, then, otherwise) => {
            if run(condition, full, reached) {
                run(then, full, reached)
            } else {
                run(otherwise, full, reached)
            }
        }
        Shape::Equal(left, right) => run(left, full, reached) == run(right, full, reached),
        Shape::Differ(left, right) => run(left, full, reached) != run(right, full, reached),
    }
}

#[test]
fn every_shape_of_up_to_four_conditions_agrees_with_brute_force() {
    let mut n_shapes = 0;
    for n in 1..=4 {
        for shape in every_shape(n as usize) {
            n_shapes += 1;
            check_shape(&shape, n);
        }
    }
    assert!(n_shapes > 10_000, "{n_shapes} shapes");
}

/// By definition: a condition is shown when, for some values of the conditions not reached, flipping it alone flips the
/// outcome.
fn check_shape(shape: &Shape, n: u32) {
    let all = 0..1u32 << n;
    let runs: Vec<(Outcomes, bool)> = all
        .clone()
        .map(|full| {
            let mut reached = Outcomes::new();
            let value = run(shape, full, &mut reached);
            (reached, value)
        })
        .collect();
    for (reached, outcome) in &runs {
        let completions = all
            .clone()
            .filter(|full| reached.iter().all(|(condition, value)| (full >> condition.0 & 1 == 1) == *value));
        let completions: Vec<u32> = completions.collect();
        let shown: Outcomes = reached
            .iter()
            .filter(|(condition, _)| {
                completions.iter().any(|full| runs[(full ^ 1 << condition.0) as usize].1 != *outcome)
            })
            .map(|(condition, value)| (*condition, *value))
            .collect();
        assert_eq!(independent(shape, reached), shown, "{shape:?} after {reached:?}");
        assert_eq!(by_table(shape, reached), shown, "table of {shape:?} after {reached:?}");
    }
}

/// The marking function of the paper, where the table says everything.
fn by_table(shape: &Shape, reached: &Outcomes) -> Outcomes {
    let table = table(shape);
    if table.iter().any(|row| row.terminates == Terminates::Depends) {
        return independent(shape, reached);
    }
    let mut buffer = Outcomes::new();
    for (condition, value) in reached {
        let row = table.iter().find(|row| row.condition == *condition && row.value == *value);
        let row = row.expect("every condition has both rows");
        buffer.insert(*condition, *value);
        buffer.retain(|earlier, _| !row.masks.contains(earlier));
        if row.terminates != Terminates::Never {
            break;
        }
    }
    buffer
}
