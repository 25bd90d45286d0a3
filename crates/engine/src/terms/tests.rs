//! Terms of hand-made nodes.

use model::walk::Site;
use model::{BlockId, ConditionId, FunctionId};
use smt::evaluate;

use super::*;
use crate::testing::{Machine, To, program};
use crate::trace::PathHash;

fn step(site: Site, node: u32, taken: Choice) -> PathStep {
    PathStep {
        site,
        taken,
        node: NodeId(node),
        n_notes: 0,
        position: 0,
        prefix: PathHash::EMPTY,
        program_path: crate::trace::Expectation::NONE,
        objects: PathHash::EMPTY,
        context: 0,
        begun: None,
        head: None,
    }
}

fn condition(node: u32) -> PathStep {
    step(Site::Condition(ConditionId(0)), node, Choice::Outcome(true))
}

fn constraint(machine: &Machine, step: &PathStep, choice: Choice) -> (Vocabulary, Result<Term, TermError>) {
    let program = program(vec![To::Switch(vec![(3, 1), (200, 1)], 1), To::Return]);
    let mut vocabulary = Vocabulary::default();
    let expressions = Expressions { nodes: Nodes::new(&machine.nodes), cells: Cells::new(&machine.cells) };
    let term = vocabulary.constraint(&program, &expressions, &mut Memo::default(), step, choice);
    (vocabulary, term)
}

#[test]
fn a_flipped_condition_is_the_negated_term() {
    let input = Input { values: [(Key(7), 9)].into() };
    let mut machine = Machine::new(&input);
    let x = machine.cell(7, 32);
    machine.equals(x, 9);
    let (vocabulary, term) = constraint(&machine, &condition(2), Choice::Outcome(false));
    let hint = vocabulary.assignment(&input);
    assert_eq!(evaluate(vocabulary.store(), term.expect("sound"), &hint), 0);
    let var = hint.iter().next().expect("one variable").0;
    assert_eq!(vocabulary.store().var_name(var), "k7");
    let other = [(var, 8)].into_iter().collect();
    let term = constraint(&machine, &condition(2), Choice::Outcome(false)).1.expect("sound");
    assert_eq!(evaluate(vocabulary.store(), term, &other), 1);
    let found = vocabulary.input(&Input { values: [(Key(1), 1)].into() }, &other);
    assert_eq!(found.values, [(Key(1), 1), (Key(7), 8)].into());
}

#[test]
fn a_switch_constrains_its_operand() {
    let mut machine = Machine::new(&Input::default());
    machine.cell(0, 8);
    let holds = |choice, value: u128| {
        let step = step(Site::Switch(FunctionId(0), BlockId(0)), 1, Choice::Default);
        let (vocabulary, term) = constraint(&machine, &step, choice);
        let term = term.expect("sound");
        let var = vocabulary.store().vars_of(term).into_iter().next().expect("one variable");
        evaluate(vocabulary.store(), term, &[(var, value)].into_iter().collect()) == 1
    };
    assert!(holds(Choice::Case(0), 3) && !holds(Choice::Case(0), 200));
    assert!(holds(Choice::Case(1), 200) && !holds(Choice::Case(1), 3));
    assert!(holds(Choice::Default, 4) && !holds(Choice::Default, 200) && !holds(Choice::Default, 3));
}

#[test]
fn damaged_nodes_are_errors() {
    let check = |damage: fn(&mut Machine) -> u32, error: fn(&TermError) -> bool| {
        let mut machine = Machine::new(&Input::default());
        machine.cell(0, 8);
        let node = damage(&mut machine);
        let found = constraint(&machine, &condition(node), Choice::Outcome(true)).1.expect_err("damaged");
        assert!(error(&found), "{found}");
    };
    check(|_| 99, |error| matches!(error, TermError::NoNode(NodeId(99))));
    check(|_| 0, |error| matches!(error, TermError::NoNode(_)));
    check(|machine| machine.push(200, 8, 0, 1, 0), |error| matches!(error, TermError::Undecodable { .. }));
    check(|machine| machine.push(22, 8, 0, 2, 0), |error| matches!(error, TermError::Disordered(NodeId(2))));
    check(|machine| machine.push(22, 16, 0, 1, 0), |error| matches!(error, TermError::Width(_)));
    check(|machine| machine.push(25, 8, 1, 1, 0), |error| matches!(error, TermError::Width(_)));
    check(|machine| machine.push(24, 4, 0, 1, 0), |error| matches!(error, TermError::Width(_)));
    check(|machine| machine.push(2, 8, 0, 5, 0), |error| matches!(error, TermError::NoCell(_)));
    check(|machine| machine.push(2, 16, 0, 0, 0), |error| matches!(error, TermError::Width(_)));
}

#[test]
fn chains_of_any_depth_become_terms() {
    let mut machine = Machine::new(&Input::default());
    let (x, y) = (machine.cell(0, 32), machine.cell(1, 32));
    let mut sum = x;
    for k in 0..200_000u32 {
        sum = machine.add(sum, if k % 2 == 0 { y } else { x });
        sum.node = machine.push(10, 32, 1, sum.node, 0x7fff_ffff);
    }
    let (_, term) = constraint(&machine, &condition(sum.node), Choice::Outcome(true));
    assert!(term.is_ok());
}
