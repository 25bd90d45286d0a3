//! Goals that were proved infeasible: what still counts as open, and what happens when a run says otherwise.

use coverage::observe::{Observations, Observer};
use coverage::structure::{ContextId, Relevance, Structure};
use coverage::{
    Coverage, Criterion, Evidence, GoalId, Independence, Marking, Scope, Status, TestId, criterion_named,
    mcdc,
};
use model::walk::{Choice, Site, Visitor};
use model::{ConditionId, FunctionId, Program, text};

/// `if (a && b) …; if (c) …`.
fn program() -> Program {
    let written = r#"
program pointer 64 root f0
file file0 "f.c"
span s0 file0:1:5
span s1 file0:2:9
span s2 file0:2:14
span s3 file0:3:9
decision d0 if f0 at s1 (c0 && c1) "a && b"
decision d1 if f0 at s3 c2 "c"
condition c0 of d0 at s1 "a"
condition c1 of d0 at s2 "b"
condition c2 of d1 at s3 "c"
function f0 "f" exported (i1, i1, i1) -> void at s0 {
b0:
  %0 = mark c0 p0
  branch %0, b1, b2 decided c0
b1:
  %1 = mark c1 p1
  branch %1, b2, b2 decided c1
b2:
  %2 = mark c2 p2
  branch %2, b3, b3 decided c2
b3:
  return
}
"#;
    text::parse(written).expect("the text is a program")
}

fn coverage_of(program: &Program, criterion: Box<dyn Criterion>) -> Coverage {
    Coverage::new(program, &Scope::whole(program), &[criterion])
}

fn branches(program: &Program) -> Coverage {
    coverage_of(program, criterion_named("branch").expect("known"))
}

fn proof() -> Evidence {
    Evidence { proof: "proofs/1.proof".to_owned(), ..Evidence::default() }
}

fn bounded() -> Evidence {
    Evidence { under: vec!["arrays have at most 64 elements".to_owned()], ..proof() }
}

fn observe(program: &Program, outcomes: &[(u32, bool)]) -> Observations {
    let marking = Marking::new(program);
    let mut observer = Observer::new(&marking);
    let visitor: &mut dyn Visitor<()> = &mut observer;
    visitor.enter(FunctionId(0), None);
    for (condition, taken) in outcomes {
        visitor.outcome(Site::Condition(ConditionId(*condition)), *taken, ());
    }
    observer.finish()
}

#[test]
fn all_goals_covered_or_infeasible_is_complete() {
    let program = program();
    let mut coverage = branches(&program);
    coverage.cover(TestId(1), &observe(&program, &[(0, true), (1, true), (2, true)]));
    coverage.cover(TestId(2), &observe(&program, &[(0, false), (2, true)]));
    assert!(!coverage.is_complete());
    coverage.decide(GoalId(2), proof()).expect("no test covers it");
    assert!(coverage.is_complete() && !coverage.is_open(GoalId(2)));
    assert_eq!((coverage.n_goals(), coverage.n_covered(), coverage.n_infeasible()), (4, 3, 1));
    assert_eq!(coverage.status(GoalId(2)), &Status::Infeasible { evidence: proof() });
}

#[test]
fn a_covered_goal_cannot_be_decided_infeasible() {
    let program = program();
    let mut coverage = branches(&program);
    coverage.cover(TestId(7), &observe(&program, &[(0, false), (2, true)]));
    let contradiction = coverage.decide(GoalId(3), proof()).expect_err("a test covers it");
    assert_eq!((contradiction.goal, contradiction.test), (GoalId(3), TestId(7)));
    assert_eq!(coverage.status(GoalId(3)), &Status::Covered { by: TestId(7) });
    assert_eq!(
        contradiction.to_string(),
        "test_007 covers goal3, which the proof proofs/1.proof calls infeasible"
    );
}

#[test]
fn covering_an_infeasible_goal_is_a_contradiction_and_covers_nothing() {
    let program = program();
    let mut coverage = branches(&program);
    coverage.decide(GoalId(3), bounded()).expect("no test covers it");
    for test in [TestId(1), TestId(2)] {
        let covered = coverage.cover(test, &observe(&program, &[(0, false), (2, true)]));
        assert!(covered.goals.iter().all(|(goal, _)| *goal != GoalId(3)));
        assert_eq!(covered.is_promising, test == TestId(1), "the first run that contradicts is kept");
    }
    let [contradiction] = coverage.contradictions() else { panic!("{:?}", coverage.contradictions()) };
    assert_eq!((contradiction.goal, contradiction.test), (GoalId(3), TestId(1)));
    assert_eq!(coverage.status(GoalId(3)), &Status::Infeasible { evidence: bounded() });
    assert_eq!((coverage.n_covered(), coverage.n_infeasible()), (1, 1));
}

#[test]
fn a_proof_without_limits_replaces_one_with_limits_and_not_the_other_way_round() {
    let program = program();
    let mut coverage = branches(&program);
    for evidence in [bounded(), proof(), bounded()] {
        coverage.decide(GoalId(0), evidence).expect("no test covers it");
    }
    assert_eq!(coverage.status(GoalId(0)), &Status::Infeasible { evidence: proof() });
    assert_eq!(coverage.n_infeasible(), 1);
}

#[test]
fn a_proof_outlives_a_choice_of_goals_and_a_reason_does_not_replace_it() {
    let program = program();
    let mut coverage = branches(&program);
    coverage.decide(GoalId(3), proof()).expect("no test covers it");
    let mut only = coverage.only(&program, GoalId(3));
    assert!(only.is_complete());
    only.close(&coverage::Cause::Budget);
    assert_eq!(only.status(GoalId(0)), &Status::Infeasible { evidence: proof() });
}

#[test]
fn candidates_for_an_infeasible_goal_are_irrelevant() {
    let program = program();
    let marking = Marking::new(&program);
    let mut coverage = branches(&program);
    coverage.cover(TestId(1), &observe(&program, &[(0, true), (1, true), (2, true)]));
    coverage.cover(TestId(2), &observe(&program, &[(0, false), (2, true)]));
    let mut structure = Structure::new(&marking, &coverage);
    let last = Site::Condition(ConditionId(2));
    let [first, again] = [Site::Condition(ConditionId(0)), last]
        .map(|site| structure.outlook(ContextId::ROOT, site, Choice::Outcome(false), None));
    assert_eq!(structure.relevance(first, &coverage), Relevance::May);
    assert_eq!(structure.relevance(again, &coverage), Relevance::Must);
    assert!(structure.targets(&coverage).contains(&(last, Choice::Outcome(false))));
    coverage.decide(GoalId(2), proof()).expect("no test covers it");
    structure.refresh(&coverage);
    for outlook in [first, again] {
        assert_eq!(structure.relevance(outlook, &coverage), Relevance::Irrelevant);
        assert_eq!(structure.potential(outlook, u32::MAX, &coverage), 0);
        assert_eq!(structure.distance(outlook), None);
    }
    assert!(structure.targets(&coverage).is_empty());
}

#[test]
fn runs_are_not_kept_for_a_pair_that_is_infeasible_but_one_that_shows_it_contradicts() {
    let program = program();
    let mut coverage = coverage_of(&program, mcdc(Independence::UniqueCause));
    let of_decision = |coverage: &Coverage| -> Vec<GoalId> {
        let goals = coverage
            .goals()
            .filter(|(_, goal, _)| goal.demand.decision(&program).is_some_and(|of| of.0 == 0));
        goals.map(|(id, ..)| id).collect()
    };
    for goal in of_decision(&coverage) {
        coverage.decide(goal, proof()).expect("no test covers it");
    }
    let n_covered = coverage.n_covered();
    let first = coverage.cover(TestId(1), &observe(&program, &[(0, false)]));
    assert!(!first.is_promising && first.goals.len() <= 1, "{first:?}");
    let second = coverage.cover(TestId(2), &observe(&program, &[(0, true), (1, true)]));
    assert!(second.is_promising);
    // both halves of the first condition, on the word of the run that was kept
    let found: Vec<TestId> = coverage.contradictions().iter().map(|found| found.test).collect();
    assert_eq!(found, [TestId(2), TestId(2)]);
    assert!(coverage.n_covered() <= n_covered + 1);
}

#[test]
fn a_run_may_break_what_a_proof_assumes_of_runs() {
    let program = program();
    let mut coverage = branches(&program);
    let refutable = || Evidence { is_refutable: true, ..bounded() };
    coverage.decide(GoalId(3), refutable()).expect("no test covers it");
    assert_eq!((coverage.n_covered(), coverage.n_infeasible()), (0, 1));
    let covered = coverage.cover(TestId(1), &observe(&program, &[(0, false), (2, true)]));
    assert!(covered.goals.contains(&(GoalId(3), TestId(1))));
    assert_eq!((coverage.n_infeasible(), coverage.contradictions()), (0, &[][..]));
    coverage.decide(GoalId(3), refutable()).expect("the run is right");
    assert_eq!(coverage.status(GoalId(3)), &Status::Covered { by: TestId(1) });
}
