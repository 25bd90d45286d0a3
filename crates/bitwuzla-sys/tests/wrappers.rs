//! What the wrappers promise: the right library, the right operator numbers, errors as values.

use std::time::{Duration, Instant};

use bitwuzla_sys::{CheckResult, Result, Solver, SolverOptions, Term, TermKind, TermManager};

#[test]
fn the_declared_version_is_linked() {
    assert_eq!(TermManager::version(), "0.9.1");
}

/// Every operator applied to 4-bit values 13 and 3 gives what it should: a wrong number in `TermKind` shows here.
#[test]
fn kinds_have_the_numbers_of_the_library() -> Result<()> {
    let cases: [(TermKind, u128); 19] = [
        (TermKind::BvAdd, 0),
        (TermKind::BvSub, 10),
        (TermKind::BvMul, 7),
        (TermKind::BvUdiv, 4),
        (TermKind::BvUrem, 1),
        (TermKind::BvSdiv, 15),
        (TermKind::BvSrem, 0),
        (TermKind::BvAnd, 1),
        (TermKind::BvOr, 15),
        (TermKind::BvXor, 14),
        (TermKind::BvShl, 8),
        (TermKind::BvLshr, 1),
        (TermKind::BvAshr, 15),
        (TermKind::BvConcat, 0xd3),
        (TermKind::Equal, 0),
        (TermKind::BvUlt, 0),
        (TermKind::BvUle, 0),
        (TermKind::BvSlt, 1),
        (TermKind::BvSle, 1),
    ];
    let manager = TermManager::new();
    let sort = manager.bit_vector_sort(4)?;
    let (a, b) = (manager.bit_vector_value(sort, 13)?, manager.bit_vector_value(sort, 3)?);
    for (kind, expected) in cases {
        assert_eq!(value(&manager, manager.apply(kind, &[a, b])?)?, expected, "{kind:?}");
    }
    assert_eq!(value(&manager, manager.apply(TermKind::BvNot, &[a])?)?, 2);
    assert_eq!(value(&manager, manager.apply(TermKind::BvNeg, &[a])?)?, 3);
    assert_eq!(value(&manager, manager.apply_indexed(TermKind::BvExtract, &[a], &[3, 1])?)?, 6);
    assert_eq!(value(&manager, manager.apply_indexed(TermKind::BvZeroExtend, &[a], &[4])?)?, 0x0d);
    assert_eq!(value(&manager, manager.apply_indexed(TermKind::BvSignExtend, &[a], &[4])?)?, 0xfd);
    let (yes, no) = (manager.bool_value(true)?, manager.bool_value(false)?);
    assert_eq!(value(&manager, manager.apply(TermKind::Ite, &[yes, a, b])?)?, 13);
    assert_eq!(value(&manager, manager.apply(TermKind::And, &[yes, no])?)?, 0);
    assert_eq!(value(&manager, manager.apply(TermKind::Or, &[yes, no])?)?, 1);
    assert_eq!(value(&manager, manager.apply(TermKind::Xor, &[yes, yes])?)?, 0);
    assert_eq!(value(&manager, manager.apply(TermKind::Not, &[yes])?)?, 0);
    Ok(())
}

fn value(manager: &TermManager, term: Term<'_>) -> Result<u128> {
    let mut solver = Solver::new(manager, &SolverOptions { models: true, ..SolverOptions::default() })?;
    assert_eq!(solver.check()?, CheckResult::Sat);
    solver.value(term)
}

#[test]
fn an_api_error_is_a_value_and_leaves_the_thread_usable() -> Result<()> {
    let manager = TermManager::new();
    let (narrow, wide) = (manager.bit_vector_sort(4)?, manager.bit_vector_sort(8)?);
    let (a, b) = (manager.fresh_constant(narrow)?, manager.fresh_constant(wide)?);
    let error = manager.apply(TermKind::BvAdd, &[a, b]).expect_err("widths differ");
    assert_eq!(error.act, "make a term");
    assert!(error.message.contains("sort"), "{error}");
    manager.bit_vector_value(narrow, 16).expect_err("16 needs five bits");
    assert!(manager.apply(TermKind::BvAdd, &[a, a]).is_ok());
    Ok(())
}

#[test]
fn a_value_without_a_model_is_an_error() -> Result<()> {
    let manager = TermManager::new();
    let x = manager.fresh_constant(manager.bool_sort()?)?;
    let mut solver = Solver::new(&manager, &SolverOptions::default())?;
    solver.check()?;
    assert!(solver.value(x).is_err());
    Ok(())
}

#[test]
fn cores_and_failed_assumptions_name_the_culprits() -> Result<()> {
    let manager = TermManager::new();
    let sort = manager.bool_sort()?;
    let (x, y) = (manager.fresh_constant(sort)?, manager.fresh_constant(sort)?);
    let not_x = manager.apply(TermKind::Not, &[x])?;

    let mut solver = Solver::new(&manager, &SolverOptions { unsat_cores: true, ..SolverOptions::default() })?;
    for term in [x, y, not_x] {
        solver.assert(term)?;
    }
    assert_eq!(solver.check()?, CheckResult::Unsat);
    let core = solver.unsat_core()?;
    assert!(core.contains(&x) && core.contains(&not_x) && !core.contains(&y));

    let mut solver =
        Solver::new(&manager, &SolverOptions { unsat_assumptions: true, ..SolverOptions::default() })?;
    solver.assert(x)?;
    assert_eq!(solver.check_assuming(&[y, not_x])?, CheckResult::Unsat);
    assert_eq!(solver.unsat_assumptions()?, [not_x]);
    assert_eq!(solver.check()?, CheckResult::Sat);
    Ok(())
}

#[test]
fn a_popped_assertion_is_forgotten() -> Result<()> {
    let manager = TermManager::new();
    let mut solver = Solver::new(&manager, &SolverOptions::default())?;
    solver.push()?;
    solver.assert(manager.bool_value(false)?)?;
    assert_eq!(solver.check()?, CheckResult::Unsat);
    solver.pop()?;
    assert_eq!(solver.check()?, CheckResult::Sat);
    solver.pop().expect_err("there is no level left");
    Ok(())
}

/// Factoring a product of two primes of 31 bits takes far longer than the limits below.
fn assert_hard<'m>(manager: &'m TermManager, solver: &mut Solver<'m>) -> Result<()> {
    let sort = manager.bit_vector_sort(64)?;
    let (x, y) = (manager.fresh_constant(sort)?, manager.fresh_constant(sort)?);
    let product = manager.apply(TermKind::BvMul, &[x, y])?;
    let wanted = manager.bit_vector_value(sort, 1_812_433_261 * 2_038_074_743)?;
    solver.assert(manager.apply(TermKind::Equal, &[product, wanted])?)?;
    let (bound, one) = (manager.bit_vector_value(sort, 1 << 31)?, manager.bit_vector_value(sort, 1)?);
    for factor in [x, y] {
        solver.assert(manager.apply(TermKind::BvUlt, &[factor, bound])?)?;
        solver.assert(manager.apply(TermKind::BvUlt, &[one, factor])?)?;
    }
    Ok(())
}

#[test]
fn a_time_limit_ends_a_check() -> Result<()> {
    let manager = TermManager::new();
    let options = SolverOptions { time_limit: Some(Duration::from_millis(100)), ..SolverOptions::default() };
    let mut solver = Solver::new(&manager, &options)?;
    assert_hard(&manager, &mut solver)?;
    let started = Instant::now();
    assert_eq!(solver.check()?, CheckResult::Unknown);
    assert!(started.elapsed() < Duration::from_secs(5));
    Ok(())
}

#[test]
fn a_terminator_ends_a_check_even_by_panicking() -> Result<()> {
    for panics in [false, true] {
        let manager = TermManager::new();
        let mut solver = Solver::new(&manager, &SolverOptions::default())?;
        assert_hard(&manager, &mut solver)?;
        solver.set_terminator(move || if panics { panic!("a terminator gone wrong") } else { true })?;
        assert_eq!(solver.check()?, CheckResult::Unknown);
    }
    Ok(())
}

#[test]
fn a_cleared_manager_serves_again() -> Result<()> {
    let mut manager = TermManager::new();
    for _ in 0..3 {
        let x = manager.fresh_constant(manager.bit_vector_sort(128)?)?;
        let wanted = manager.bit_vector_value(manager.bit_vector_sort(128)?, u128::MAX - 5)?;
        let mut solver = Solver::new(&manager, &SolverOptions { models: true, ..SolverOptions::default() })?;
        solver.assert(manager.apply(TermKind::Equal, &[x, wanted])?)?;
        assert_eq!(solver.check()?, CheckResult::Sat);
        assert_eq!(solver.value(x)?, u128::MAX - 5);
        drop(solver);
        manager.clear()?;
    }
    Ok(())
}

#[test]
fn an_array_gives_the_same_element_at_the_same_index() -> Result<()> {
    let manager = TermManager::new();
    let sort = manager.bit_vector_sort(8)?;
    let array = manager.fresh_constant(manager.array_sort(sort, sort)?)?;
    let (a, b) = (manager.fresh_constant(sort)?, manager.fresh_constant(sort)?);
    let at = |index| manager.apply(TermKind::ArraySelect, &[array, index]);
    let mut solver = Solver::new(&manager, &SolverOptions::default())?;
    let same = manager.apply(TermKind::Equal, &[at(a)?, at(b)?])?;
    solver.assert(manager.apply(TermKind::Not, &[same])?)?;
    assert_eq!(solver.check()?, CheckResult::Sat);
    solver.assert(manager.apply(TermKind::Equal, &[a, b])?)?;
    assert_eq!(solver.check()?, CheckResult::Unsat);
    Ok(())
}
