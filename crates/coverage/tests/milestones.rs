//! Single outcomes guide a search for MC/DC: each counts once, while its decision has an open goal, and never as a goal.

use coverage::observe::{Observations, Observer};
use coverage::{
    Coverage, Criterion, Evidence, GoalId, Independence, Marking, Scope, TestId, criterion_named, mcdc,
};
use model::walk::{Site, Visitor};
use model::{ConditionId, FunctionId, Program, text};

/// `if (a && b) …; if (c || d) …`.
fn program() -> Program {
    let written = r#"
program pointer 64 root f0
file file0 "f.c"
span s0 file0:1:5
span s1 file0:2:9
span s2 file0:2:14
span s3 file0:3:9
span s4 file0:3:14
decision d0 if f0 at s1 (c0 && c1) "a && b"
decision d1 if f0 at s3 (c2 || c3) "c || d"
condition c0 of d0 at s1 "a"
condition c1 of d0 at s2 "b"
condition c2 of d1 at s3 "c"
condition c3 of d1 at s4 "d"
function f0 "f" exported (i1, i1, i1, i1) -> void at s0 {
b0:
  %0 = mark c0 p0
  branch %0, b1, b2 decided c0
b1:
  %1 = mark c1 p1
  branch %1, b2, b2 decided c1
b2:
  %2 = mark c2 p2
  branch %2, b4, b3 decided c2
b3:
  %3 = mark c3 p3
  branch %3, b4, b4 decided c3
b4:
  return
}
"#;
    text::parse(written).expect("the text is a program")
}

fn coverage_of(program: &Program, criteria: Vec<Box<dyn Criterion>>) -> Coverage {
    Coverage::new(program, &Scope::whole(program), &criteria)
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

const NEITHER: [(u32, bool); 3] = [(0, false), (2, false), (3, false)];
const SECOND: [(u32, bool); 4] = [(0, true), (1, false), (2, false), (3, true)];

#[test]
fn an_outcome_counts_when_it_is_seen_first() {
    let program = program();
    let mut coverage = coverage_of(&program, vec![mcdc(Independence::UniqueCause)]);
    let n_goals = coverage.n_goals();
    let (first, second) = (observe(&program, &NEITHER), observe(&program, &SECOND));
    assert!(coverage.nears(&first));
    assert_eq!(coverage.cover(TestId(1), &first).n_milestones, 3, "a, c and d are false");
    assert!(!coverage.nears(&first));
    assert_eq!(coverage.cover(TestId(2), &first).n_milestones, 0, "they were seen");
    assert!(coverage.nears(&second));
    assert_eq!(coverage.cover(TestId(3), &second).n_milestones, 3, "a and d are true, b is false");
    assert_eq!(coverage.n_goals(), n_goals);
}

#[test]
fn an_outcome_that_is_a_goal_is_no_milestone() {
    let program = program();
    let condition = criterion_named("condition").expect("known");
    let mut coverage = coverage_of(&program, vec![condition, mcdc(Independence::UniqueCause)]);
    let first = observe(&program, &NEITHER);
    assert!(!coverage.nears(&first));
    let covered = coverage.cover(TestId(1), &first);
    assert_eq!(covered.n_milestones, 0);
    assert!(!covered.goals.is_empty());
}

#[test]
fn both_outcomes_of_each_condition_lead_to_vectors() {
    let program = program();
    let vectors = criterion_named("multiple-condition").expect("known");
    let mut coverage = coverage_of(&program, vec![vectors]);
    assert_eq!(coverage.cover(TestId(1), &observe(&program, &NEITHER)).n_milestones, 3);
    assert_eq!(coverage.cover(TestId(2), &observe(&program, &SECOND)).n_milestones, 3);
}

#[test]
fn a_decision_without_open_goals_asks_for_nothing() {
    let program = program();
    let mut coverage = coverage_of(&program, vec![mcdc(Independence::UniqueCause)]);
    let of_second: Vec<GoalId> = coverage
        .goals()
        .filter(|(_, goal, _)| goal.demand.decision(&program) == Some(model::DecisionId(1)))
        .map(|(id, ..)| id)
        .collect();
    assert_eq!(of_second.len(), 4);
    for goal in &of_second[..3] {
        coverage.decide(*goal, Evidence::default()).expect("no test covers it");
    }
    let second_alone = observe(&program, &NEITHER[1..]);
    assert!(coverage.nears(&second_alone), "one goal is open");
    coverage.decide(of_second[3], Evidence::default()).expect("no test covers it");
    assert!(!coverage.nears(&second_alone));
    assert_eq!(coverage.cover(TestId(1), &observe(&program, &NEITHER)).n_milestones, 1, "only a");
}
