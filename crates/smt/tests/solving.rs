//! The layers in front of the solver: which one answers, and that no answer is taken on trust.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use smt::{
    Assignment, BitwuzlaSolver, Limit, Solver, Solving, SolvingStats, Term, TermStore, UnknownReason, Var,
    Verdict, evaluate,
};

const LIMIT: Duration = Duration::from_secs(10);

/// Answers what it was told to and remembers what it was asked.
#[derive(Default, Clone)]
struct Scripted {
    answers: Rc<RefCell<VecDeque<Verdict>>>,
    asked: Rc<RefCell<Vec<Vec<Term>>>>,
}

impl Scripted {
    fn will_answer(&self, verdict: Verdict) {
        self.answers.borrow_mut().push_back(verdict);
    }
}

impl Solver for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn check(&mut self, _: &TermStore, assertions: &[Term], _: Limit) -> Verdict {
        self.asked.borrow_mut().push(assertions.to_vec());
        self.answers.borrow_mut().pop_front().expect("the layers in front answer this query")
    }
}

fn front() -> (Solving, Scripted) {
    let scripted = Scripted::default();
    (Solving::new(Box::new(scripted.clone())), scripted)
}

fn var(store: &TermStore, term: Term) -> Var {
    store.var_of(term).expect("a variable")
}

/// x * x == 49 cannot be guessed from its constants.
fn square(store: &mut TermStore, x: Term, result: u128) -> Term {
    let product = store.mul(x, x);
    let result = store.constant(store.width(x), result);
    store.eq(product, result)
}

#[test]
fn constants_never_reach_the_solver() {
    let (mut solving, _) = front();
    let mut store = TermStore::new();
    let (yes, no) = (store.bool(true), store.bool(false));
    let hint = Assignment::new();
    assert_eq!(solving.solve(&store, &[], yes, &hint, LIMIT.into()), Verdict::Sat(Assignment::new()));
    assert_eq!(solving.solve(&store, &[], no, &hint, LIMIT.into()), Verdict::Unsat { core: vec![no] });
    assert_eq!(solving.solve(&store, &[no], yes, &hint, LIMIT.into()), Verdict::Unsat { core: vec![no] });
}

#[test]
fn the_hint_is_tried_first_and_a_constant_of_the_goal_next() {
    let (mut solving, _) = front();
    let mut store = TermStore::new();
    let (x, y) = (store.var("x", 8), store.var("y", 8));
    let letter = store.constant(8, 65);
    let (is_letter, below) = (store.eq(x, letter), store.ult(y, x));
    let hint: Assignment = [(var(&store, x), 3), (var(&store, y), 2)].into_iter().collect();
    assert_eq!(solving.solve(&store, &[], below, &hint, LIMIT.into()), Verdict::Sat(hint.clone()));
    let expected: Assignment = [(var(&store, x), 65), (var(&store, y), 2)].into_iter().collect();
    assert_eq!(solving.solve(&store, &[below], is_letter, &hint, LIMIT.into()), Verdict::Sat(expected));
    assert_eq!(solving.stats().model_reuse, 2);
    assert_eq!(solving.stats().solver_calls, 0);
}

#[test]
fn the_solver_sees_the_slice_and_the_answer_covers_only_its_variables() {
    let (mut solving, scripted) = front();
    let mut store = TermStore::new();
    let (x, y) = (store.var("x", 16), store.var("y", 16));
    let (about_x, about_y) = (square(&mut store, x, 49), square(&mut store, y, 25));
    let model: Assignment = [(var(&store, x), 7)].into_iter().collect();
    scripted.will_answer(Verdict::Sat(model.clone()));
    assert_eq!(
        solving.solve(&store, &[about_y], about_x, &Assignment::new(), LIMIT.into()),
        Verdict::Sat(model)
    );
    assert_eq!(*scripted.asked.borrow(), [[about_x]]);
}

#[test]
fn a_query_asked_again_is_answered_from_the_cache() {
    let (mut solving, scripted) = front();
    let mut store = TermStore::new();
    let x = store.var("x", 16);
    let goal = square(&mut store, x, 3);
    scripted.will_answer(Verdict::Unsat { core: vec![goal] });
    let hint = Assignment::new();
    let first = solving.solve(&store, &[], goal, &hint, LIMIT.into());
    assert_eq!(solving.solve(&store, &[], goal, &hint, LIMIT.into()), first);
    assert_eq!(solving.stats().cache_hits, 1);
}

#[test]
fn a_recent_model_answers_a_similar_query() {
    let (mut solving, scripted) = front();
    let mut store = TermStore::new();
    let x = store.var("x", 16);
    let goal = square(&mut store, x, 49);
    let model: Assignment = [(var(&store, x), 7)].into_iter().collect();
    scripted.will_answer(Verdict::Sat(model.clone()));
    let hint = Assignment::new();
    solving.solve(&store, &[], goal, &hint, LIMIT.into());
    let hundred = store.constant(16, 100);
    let small = store.ult(x, hundred);
    assert_eq!(solving.solve(&store, &[small], goal, &hint, LIMIT.into()), Verdict::Sat(model));
    assert_eq!(solving.stats().model_reuse, 1);
}

#[test]
fn a_known_core_answers_a_larger_query() {
    let (mut solving, scripted) = front();
    let mut store = TermStore::new();
    let x = store.var("x", 16);
    let goal = square(&mut store, x, 3);
    scripted.will_answer(Verdict::Unsat { core: vec![goal] });
    let hint = Assignment::new();
    solving.solve(&store, &[], goal, &hint, LIMIT.into());
    let other = square(&mut store, x, 49);
    assert_eq!(
        solving.solve(&store, &[other], goal, &hint, LIMIT.into()),
        Verdict::Unsat { core: vec![goal] }
    );
    assert_eq!(solving.stats().core_subsumed, 1);
}

#[test]
fn a_wrong_model_is_not_believed_and_not_remembered() {
    let (mut solving, scripted) = front();
    let mut store = TermStore::new();
    let x = store.var("x", 16);
    let goal = square(&mut store, x, 49);
    let wrong = [(var(&store, x), 8)].into_iter().collect();
    let right: Assignment = [(var(&store, x), 7)].into_iter().collect();
    scripted.will_answer(Verdict::Sat(wrong));
    scripted.will_answer(Verdict::Sat(right.clone()));
    let hint = Assignment::new();
    let first = solving.solve(&store, &[], goal, &hint, LIMIT.into());
    assert_eq!(first, Verdict::Unknown(UnknownReason::WrongModel));
    assert_eq!(solving.solve(&store, &[], goal, &hint, LIMIT.into()), Verdict::Sat(right));
    let SolvingStats { queries, sat, unsat, unknown, .. } = solving.stats();
    assert_eq!((queries, sat, unsat, unknown), (2, 1, 0, 1));
}

#[test]
fn values_of_the_hint_come_back_where_they_do_no_harm() {
    let (mut solving, scripted) = front();
    let mut store = TermStore::new();
    let (x, y) = (store.var("x", 16), store.var("y", 16));
    let goal = square(&mut store, x, 49);
    let related = store.ult(x, y);
    let model = [(var(&store, x), 7), (var(&store, y), 255)].into_iter().collect();
    scripted.will_answer(Verdict::Sat(model));
    let hint = [(var(&store, x), 0), (var(&store, y), 32)].into_iter().collect();
    let expected = [(var(&store, x), 7), (var(&store, y), 32)].into_iter().collect();
    assert_eq!(solving.solve(&store, &[related], goal, &hint, LIMIT.into()), Verdict::Sat(expected));
}

#[test]
fn memories_of_one_store_do_not_answer_for_another() {
    let (mut solving, scripted) = front();
    let hint = Assignment::new();
    let mut first = TermStore::new();
    let x = first.var("x", 16);
    let impossible = square(&mut first, x, 3);
    scripted.will_answer(Verdict::Unsat { core: vec![impossible] });
    solving.solve(&first, &[], impossible, &hint, LIMIT.into());

    let mut second = TermStore::new();
    let x = second.var("x", 16);
    let possible = square(&mut second, x, 49);
    assert_eq!(possible, impossible, "the same name for another term");
    scripted.will_answer(Verdict::Sat([(var(&second, x), 7)].into_iter().collect()));
    assert!(matches!(solving.solve(&second, &[], possible, &hint, LIMIT.into()), Verdict::Sat(_)));
}

#[test]
fn a_small_variable_is_decided_without_the_solver() {
    let (mut solving, _) = front();
    let mut store = TermStore::new();
    let (x, y) = (store.var("x", 8), store.var("y", 16));
    let (possible, impossible) = (square(&mut store, x, 49), square(&mut store, x, 3));
    let unrelated = square(&mut store, y, 3);
    let hint = Assignment::new();
    let readable = [(var(&store, x), 121)].into_iter().collect();
    assert_eq!(solving.solve(&store, &[], possible, &hint, LIMIT.into()), Verdict::Sat(readable));
    assert_eq!(
        solving.solve(&store, &[unrelated], impossible, &hint, LIMIT.into()),
        Verdict::Unsat { core: vec![impossible] }
    );
    assert_eq!((solving.stats().domain_empty, solving.stats().solver_calls), (1, 0));
}

#[test]
fn what_shares_the_goals_variables_is_asked_about_first() {
    let (mut solving, scripted) = front();
    let mut store = TermStore::new();
    let vars: Vec<Term> = (0..12).map(|index| store.var(format!("x{index}"), 16)).collect();
    let goal = square(&mut store, vars[0], 49);
    let far: Vec<Term> = vars.windows(2).map(|pair| store.ule(pair[0], pair[1])).collect();
    scripted.will_answer(Verdict::Sat([(var(&store, vars[0]), 7)].into_iter().collect()));
    scripted.will_answer(Verdict::Unsat { core: vec![goal, far[0]] });
    let hint = Assignment::new();
    let verdict = solving.solve(&store, &far, goal, &hint, LIMIT.into());
    assert_eq!(verdict, Verdict::Unsat { core: vec![goal, far[0]] });
    let whole = [&[goal], &far[..]].concat();
    assert_eq!(*scripted.asked.borrow(), [vec![goal], whole]);
}

#[test]
fn a_path_of_flips_is_solved_with_bitwuzla_and_repeats_itself() {
    let run = || {
        let mut store = TermStore::new();
        let mut solving = Solving::new(Box::new(BitwuzlaSolver::new()));
        let mut hint = Assignment::new();
        let mut path = Vec::new();
        for index in 0_u32..40 {
            let (x, y) = (store.var(format!("in{index}"), 8), store.var(format!("in{}", index / 2), 8));
            let product = store.mul(x, y);
            let sum = store.add(product, x);
            let wanted = store.constant(8, u128::from(index) * 6);
            let goal = store.eq(sum, wanted);
            match solving.solve(&store, &path, goal, &hint, LIMIT.into()) {
                Verdict::Sat(model) => {
                    hint.overlay(&model);
                    path.push(goal);
                }
                Verdict::Unsat { core } => {
                    assert!(core.contains(&goal), "the path alone is satisfied by the hint");
                    path.push(store.not(goal));
                }
                Verdict::Unknown(reason) => panic!("{reason:?}"),
            }
            assert!(path.iter().all(|&term| evaluate(&store, term, &hint) == 1));
        }
        let stats = SolvingStats { solver_time: Duration::ZERO, ..solving.stats() };
        (hint, stats)
    };
    let (first, second) = (run(), run());
    assert_eq!(first, second);
    assert!(first.1.sat > 10 && first.1.solver_calls > 0, "{:?}", first.1);
}
