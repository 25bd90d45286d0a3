//! Searches that are led to one def-use pair.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use coverage::{Cause, Coverage, GoalId, Reason, Scope, Status, criterion_named};
use engine::campaign::{Budget, CampaignOptions, CampaignResult, Setup, SystemClock, run};
use engine::executor::Executor;
use engine::strategy::{StrategyOptions, strategy_named};
use smt::{BitwuzlaSolver, Solver};

use crate::build::{Built, given_first, input, with_cells};

/// Those of the paper's comparison but for random input, which would mostly run the loop for seconds.
const STRATEGIES: [&str; 5] = ["random-path", "cfg-directed", "rp-md2u", "sdgs", "cpgs"];

/// Fig. 1 of the paper on data-flow testing by symbolic execution and model checking, on the paper's lines.
const POWER: &str = "double power(int x, int y) {
    int exp;
    double res;
    if (y > 0)
        exp = y;
    else
        exp = -y;
    res = 1;
    while (exp != 0) {
        res *= x;
        exp -= 1;
    }
    if (y <= 0)
        if (x == 0)
            __builtin_abort();
        else
            return 1.0 / res;
    return res;
}";

/// Paying back is near whenever something is chosen, but only leads on after a coin.
const VENDING: &str = "static int pay_back(int amount) {
    int n_coins = 0;
    while (amount > 0) {
        n_coins++;
        amount -= 10;
    }
    return n_coins;
}
static int sell(int credit, int price) {
    if (credit < price)
        return -1;
    return pay_back(credit - price);
}
int vend(int a, int b, int c, int d, int e) {
    int actions[5] = {a, b, c, d, e};
    int credit = 0;
    for (int i = 0; i < 5; i++) {
        switch (actions[i]) {
        case 1: if (sell(credit, 30) >= 0) return 1; break;
        case 2: if (sell(credit, 40) >= 0) return 2; break;
        case 3: if (sell(credit, 50) >= 0) return 3; break;
        case 4: if (sell(credit, 60) >= 0) return 4; break;
        case 50: credit += 50; break;
        default: break;
        }
    }
    return 0;
}";

fn power() -> Built {
    with_cells(POWER, 2, "power(a, b)")
}

fn coverage(built: &Built) -> Coverage {
    let scope = Scope::reachable_from(&built.program, built.program.root.expect("a root"));
    Coverage::new(&built.program, &scope, &[criterion_named("def-use").expect("known")])
}

/// The pair of a variable with these lines.
fn pair(built: &Built, coverage: &Coverage, variable: &str, definition: u32, used: u32) -> GoalId {
    let is_wanted = |goal: &coverage::Goal| {
        let line = goal.position(&built.program).map(|position| position.line);
        line == Some(used)
            && goal.describe(&built.program).starts_with(&format!("{variable} defined at {definition}:"))
    };
    let found = coverage.goals().find(|(_, goal, _)| is_wanted(goal));
    found.expect("the pair is a goal").0
}

fn search(built: &Built, coverage: Coverage, strategy: &str, options: &CampaignOptions) -> CampaignResult {
    let interrupt = Arc::new(AtomicBool::new(false));
    let setup = Setup {
        memory: None,
        program: &built.program,
        coverage,
        strategy: strategy_named(strategy, &StrategyOptions::default()).expect("known"),
        executors: vec![Box::new(built.server()) as Box<dyn Executor + Send>],
        solver: &|| -> Box<dyn Solver> { Box::new(BitwuzlaSolver::new()) },
        clock: &SystemClock::start(),
        interrupt,
        adviser: None,
    };
    run(setup, options, &mut ())
}

fn options(executions: u64) -> CampaignOptions {
    let budget = Budget { time: Some(Duration::from_secs(60)), executions: Some(executions) };
    // the paper's first input: x = 0, y = 42
    CampaignOptions { budget, given: vec![given_first(input(&[0, 42]))], ..CampaignOptions::default() }
}

#[test]
fn cut_points_lead_to_the_papers_pair_in_three_executions() {
    let built = power();
    let all = coverage(&built);
    let goal = pair(&built, &all, "res", 8, 17);
    let result = search(&built, all.only(&built.program, goal), "cpgs", &options(100));
    assert!(result.coverage.is_complete());
    assert_eq!(result.executions, 3);
    let spent = result.searches.values().next().expect("it was aimed at");
    assert_eq!(spent.executions, 2, "the first input was given");
}

#[test]
fn a_pair_that_no_input_covers_stays_undecided() {
    let built = power();
    let all = coverage(&built);
    let goal = pair(&built, &all, "res", 8, 18);
    let result = search(&built, all.only(&built.program, goal), "cpgs", &options(30));
    let statuses: Vec<Status> = result.coverage.goals().map(|(_, _, status)| status.clone()).collect();
    assert_eq!(statuses, [Status::Undecided(Reason::only(Cause::Budget))]);
}

#[test]
fn behind_another_definition_nothing_is_tried_for_the_pair() {
    let built = power();
    let all = coverage(&built);
    let goal = pair(&built, &all, "res", 8, 17);
    let n_executions = |prune_redefinitions| {
        let options = CampaignOptions { prune_redefinitions, ..options(40) };
        search(&built, all.only(&built.program, goal), "sdgs", &options).executions
    };
    // without pruning, each turn of the loop is nearer to the use than the way around it
    assert!(n_executions(true) < n_executions(false));
}

#[test]
fn a_way_that_is_near_in_vain_does_not_starve_those_that_are_further() {
    let built = with_cells(VENDING, 5, "vend(a, b, c, d, e)");
    let all = coverage(&built);
    let goal = pair(&built, &all, "amount", 1, 3);
    let only = all.only(&built.program, goal);
    let covers = |strategy| {
        let options = CampaignOptions { given: Vec::new(), ..options(60) };
        search(&built, only.clone(), strategy, &options).coverage.is_complete()
    };
    assert!(covers("cpgs"));
    assert!(!covers("sdgs"), "it goes on with what is nearest");
}

#[test]
fn every_strategy_of_the_comparison_covers_pairs() {
    let built = power();
    let all = coverage(&built);
    for strategy in STRATEGIES {
        let result = search(&built, all.clone(), strategy, &options(300));
        assert_eq!(result.coverage.n_covered(), all.n_goals() - 1, "{strategy}: one is infeasible");
    }
}
