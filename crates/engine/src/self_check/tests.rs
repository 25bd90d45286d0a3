//! Expressions against runs, and this module's arithmetic against the solver's.

use model::input::Key;
use smt::evaluate as evaluate_term;

use super::*;
use crate::executor::{Cells, End, Nodes, Output};
use crate::rng::Rng;
use crate::terms::{Memo, Vocabulary};
use crate::testing::{Machine, To, program};
use crate::trace::{PathHash, PathStep, Tracer};

fn check_run(machine: &Machine, input: &Input) -> Vec<Mismatch> {
    let program = program(vec![To::If(1, 1), To::Switch(vec![(3, 2), (5, 2)], 2), To::Return]);
    let output = Output::default();
    let execution = machine.execution(End::Returned, &output);
    let trace = Tracer::new(&program).trace(&execution, None, &|| false).expect("fits");
    check(&program, &Expressions::of(&execution), &trace, input).expect("sound nodes")
}

#[test]
fn a_faithful_run_passes() {
    let input = Input { values: [(Key(0), 5)].into() };
    let mut machine = Machine::new(&input);
    let x = machine.cell(0, 8);
    machine.equals(x, 4);
    machine.pin(x);
    machine.case(1, x.node);
    assert_eq!(check_run(&machine, &input), []);
}

#[test]
fn every_kind_of_lie_is_found() {
    let input = Input { values: [(Key(0), 5)].into() };
    let mut machine = Machine::new(&input);
    let mut x = machine.cell(0, 8);
    machine.push(16, 1, 1, x.node, 4);
    machine.outcome(true, 2);
    x.value = 6;
    machine.pin(x);
    machine.case(0, x.node);
    let found = check_run(&machine, &input);
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "condition c0, outcome 0 of the run: the program had true, its expression n2 gives false",
            "switch f0 b1, outcome 1 of the run: the program had case 0, its expression n1 gives case 1",
            "note 0 of the run: the program had 6, its expression n1 gives 5",
        ]
    );
    assert_eq!(found[0].input, input);
}

/// All operations on random operands of random widths: two implementations, one result.
#[test]
fn node_values_are_those_of_the_terms() {
    let mut rng = Rng::new(11);
    let program = program(vec![To::If(1, 1), To::Return]);
    for _ in 0..3000 {
        let width = u8::try_from([1, 7, 8, 16, 31, 32, 63, 64][rng.below(8)]).expect("small");
        let small = rng.below(2) == 0;
        let mut operand = || if small { rng.bits() % 70 } else { rng.bits() };
        let (a, b) = (operand(), operand());
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        let input = Input { values: [(Key(0), a & mask), (Key(1), b & mask)].into() };
        let mut machine = Machine::new(&input);
        let (x, y) = (machine.cell(0, width), machine.cell(1, width));
        let node = random_node(&mut machine, &mut rng, width, x.node, y.node);
        let expressions =
            Expressions { nodes: Nodes::new(&machine.nodes), cells: Cells::new(&machine.cells) };
        let value = Values::of(&expressions).and_then(|values| values.get(NodeId(node))).expect("sound");
        let (mut vocabulary, mut memo) = (Vocabulary::default(), Memo::default());
        // a comparison with the value must hold, so that the term's value is compared whole
        let equal = machine.push(16, 1, 1, node, value);
        let expressions =
            Expressions { nodes: Nodes::new(&machine.nodes), cells: Cells::new(&machine.cells) };
        let (site, taken) = (Site::Condition(model::ConditionId(0)), Choice::Outcome(true));
        let (prefix, objects) = (PathHash::EMPTY, PathHash::EMPTY);
        let step = PathStep {
            site,
            taken,
            node: NodeId(equal),
            n_notes: 0,
            position: 0,
            prefix,
            program_path: crate::trace::Expectation::NONE,
            objects,
            context: 0,
            begun: None,
            head: None,
        };
        let term = vocabulary.constraint(&program, &expressions, &mut memo, &step, taken).expect("sound");
        let assignment = vocabulary.assignment(&input);
        let decoded = expressions.node(NodeId(node));
        assert_eq!(evaluate_term(vocabulary.store(), term, &assignment), 1, "{decoded:?} of {a:#x}, {b:#x}");
    }
}

/// A table of constants and operands, chosen from by the first operand.
fn random_table(machine: &mut Machine, rng: &mut Rng, width: u8, x: u32, y: u32) -> u32 {
    let n = 1 + rng.below(70);
    let mut row = |machine: &mut Machine| match rng.below(4) {
        0 => machine.push(61, width, 0, y, 0),
        _ => machine.push(1, width, 0, 0, (rng.bits() % 5) & if width == 1 { 1 } else { 63 }),
    };
    let rows: Vec<u32> = (0..n).map(|_| row(machine)).collect();
    machine.push(60, width, 0, x, u64::from(rows[0]) | (n as u64) << 32)
}

fn random_node(machine: &mut Machine, rng: &mut Rng, width: u8, x: u32, y: u32) -> u32 {
    let op = u8::try_from(3 + rng.below(26)).expect("small");
    let compares = (16..=21).contains(&op);
    let result = if compares { 1 } else { width };
    match op {
        22 => machine.push(op, width, 0, x, 0),
        23 | 24 => machine.push(
            op,
            width + u8::try_from(rng.below(65 - usize::from(width))).expect("small"),
            0,
            x,
            0,
        ),
        25 => {
            let low = u8::try_from(rng.below(usize::from(width))).expect("small");
            machine.push(op, width - low, u16::from(low), x, 0)
        }
        26 if width <= 32 => machine.push(op, 2 * width, 0, x, u64::from(y)),
        27 => {
            let condition = machine.push(18, 1, 0, x, u64::from(y));
            machine.push(op, width, 0, condition, u64::from(x) | u64::from(y) << 32)
        }
        26 => machine.push(22, width, 0, y, 0),
        28 => random_table(machine, rng, width, x, y),
        _ => match rng.below(3) {
            0 => machine.push(op, result, 0, x, u64::from(y)),
            1 => machine.push(op, result, 1, x, rng.bits() % 80),
            _ => machine.push(op, result, 3, x, rng.bits()),
        },
    }
}
