//! A table is its rows: reading it means reading the array, and solvers agree on what index gives which row.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;
use smt::{BitwuzlaSolver, ProcessSolver, Solver, Term, TermStore, Verdict, evaluate};

/// The row that an index chooses, said once more: as many low bits as count the rows, and at most the last row.
fn row(index: u64, n: usize) -> usize {
    let index = usize::try_from(index).expect("64 bits") & (n.next_power_of_two() - 1);
    index.min(n - 1)
}

/// A row: a constant, or a variable with the value it is to have.
#[derive(Debug, Clone, Copy)]
enum Row {
    Constant(u64),
    Variable(u64),
}

impl Row {
    fn value(self) -> u64 {
        match self {
            Self::Constant(value) | Self::Variable(value) => value,
        }
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

fn rows() -> impl Strategy<Value = (u32, Vec<Row>)> {
    let width = prop_oneof![Just(1), Just(8), Just(16), Just(32), Just(64)];
    width.prop_flat_map(|width| {
        // few values, so that halves of the table are equal
        let value = prop_oneof![4 => 0..3_u64, 1 => any::<u64>()].prop_map(move |value| value & mask(width));
        let row = prop_oneof![6 => value.clone().prop_map(Row::Constant), 1 => value.prop_map(Row::Variable)];
        (Just(width), prop::collection::vec(row, 1..300))
    })
}

proptest! {
    #![proptest_config(Config { cases: 200, ..Config::default() })]

    #[test]
    fn a_table_evaluates_to_the_row_of_its_index((width, rows) in rows(), index_width in 9..=64_u32, index: u64) {
        let mut store = TermStore::new();
        let i = store.var("i", index_width);
        let terms: Vec<Term> = rows
            .iter()
            .enumerate()
            .map(|(number, row)| match row {
                Row::Constant(value) => store.constant(width, u128::from(*value)),
                Row::Variable(_) => store.var(format!("row{number}"), width),
            })
            .collect();
        let table = store.table(i, &terms);
        let index = index & mask(index_width);
        for index in [index, index % rows.len() as u64, rows.len() as u64 - 1] {
            let values = terms.iter().zip(&rows);
            let mut assignment: smt::Assignment =
                values.filter_map(|(term, row)| Some((store.var_of(*term)?, u128::from(row.value())))).collect();
            assignment.set(store.var_of(i).expect("a variable"), u128::from(index));
            let expected = rows[row(index, rows.len())].value();
            prop_assert_eq!(evaluate(&store, table, &assignment), u128::from(expected));
        }
    }
}

#[test]
fn equal_halves_of_a_table_are_built_once() {
    let mut store = TermStore::new();
    let i = store.var("i", 64);
    let is_letter = |byte: u8| byte.is_ascii_alphabetic();
    let rows: Vec<Term> = (0..=255).map(|byte| store.constant(8, u128::from(is_letter(byte)))).collect();
    let n_before = store.n_terms();
    store.table(i, &rows);
    assert!(store.n_terms() - n_before < 60, "{} terms for a class of letters", store.n_terms() - n_before);
}

fn solvers() -> Vec<Box<dyn Solver>> {
    let mut solvers: Vec<Box<dyn Solver>> = vec![Box::new(BitwuzlaSolver::new())];
    if std::process::Command::new("z3").arg("--version").output().is_ok() {
        solvers.push(Box::new(ProcessSolver::new("z3", &["-in"])));
    }
    solvers
}

#[test]
fn solvers_find_the_index_of_a_row_and_know_when_there_is_none() {
    for mut solver in solvers() {
        let mut store = TermStore::new();
        let i = store.var("i", 64);
        // the values differ, so exactly one index gives each
        let value = |k: u64| k.wrapping_mul(0x9e37_79b9).wrapping_add(7) & 0xffff_ffff;
        let rows: Vec<Term> = (0..200).map(|k| store.constant(32, u128::from(value(k)))).collect();
        let table = store.table(i, &rows);
        let n = store.constant(64, 200);
        let inside = store.ult(i, n);
        for wanted in [0, 1, 63, 64, 128, 199] {
            let constant = store.constant(32, u128::from(value(wanted)));
            let found = store.eq(table, constant);
            let Verdict::Sat(model) = solver.check(&store, &[inside, found], Duration::from_secs(60).into())
            else {
                panic!("{} does not find row {wanted}", solver.name());
            };
            assert_eq!(model.value(store.var_of(i).expect("a variable")), u128::from(wanted));
        }
        let absent = store.constant(32, 12_345);
        let found = store.eq(table, absent);
        let verdict = solver.check(&store, &[inside, found], Duration::from_secs(60).into());
        assert!(matches!(verdict, Verdict::Unsat { .. }), "{}: {verdict:?}", solver.name());
    }
}
