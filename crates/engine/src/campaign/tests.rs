//! Campaigns over programs played in Rust: no compiler, no processes, a real solver.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coverage::{Cause, Evidence, GoalId, Status};
use model::ConditionId;
use model::input::{Input, Key};
use model::walk::{Choice, Site};
use smt::{BitwuzlaSolver, Limit, Term, TermStore, UnknownReason, Verdict};
use wire::{Flags, ObjectKind, Outside};

use super::*;
use crate::executor::{End, Execution, ExecutorError};
use crate::pool::Refuted;
use crate::strategy::{Chains, STRATEGIES, StrategyOptions, strategy_named};
use crate::testing::{Machine, Player, To, ULT, branch_goals, program};

/// Time that passes by itself: one step per look.
struct Ticking {
    looks: AtomicU64,
    step: Duration,
}

impl Clock for Ticking {
    fn elapsed(&self) -> Duration {
        self.step * u32::try_from(self.looks.fetch_add(1, Ordering::Relaxed)).expect("few looks")
    }
}

/// `if (x == 42) if (y < x) switch (x + y) case 50: if (y == 8)`: the last condition cannot be false.
fn nested() -> Program {
    let switch = To::Switch(vec![(50, 3), (60, 4)], 4);
    program(vec![To::If(1, 4), To::If(2, 4), switch, To::If(4, 4), To::Return])
}

fn play_nested(machine: &mut Machine) -> End {
    let (x, y) = (machine.cell(1, 8), machine.cell(2, 8));
    if machine.equals(x, 42) && machine.less(y, x) {
        let sum = machine.add(x, y);
        let case = [50, 60].iter().position(|value| *value == sum.value).unwrap_or(2);
        machine.case(u8::try_from(case).expect("small"), sum.node);
        if case == 0 {
            machine.equals(y, 8);
        }
    }
    End::Returned
}

struct Trial {
    program: Program,
    play: fn(&mut Machine) -> End,
    strategy: &'static str,
    n_workers: usize,
    options: CampaignOptions,
    solver: fn() -> Box<dyn Solver>,
    tick: Duration,
    interrupt: bool,
    /// Goals that were proved infeasible before the campaign.
    infeasible: Vec<GoalId>,
}

impl Trial {
    fn of(program: Program, play: fn(&mut Machine) -> End) -> Self {
        Self {
            program,
            play,
            strategy: "dfs",
            n_workers: 1,
            options: CampaignOptions::default(),
            solver: || Box::new(BitwuzlaSolver::new()),
            tick: Duration::ZERO,
            interrupt: false,
            infeasible: Vec::new(),
        }
    }

    fn run(&self) -> CampaignResult {
        let executors = (0..self.n_workers).map(|_| Player::boxed(self.play)).collect();
        self.run_with(executors)
    }

    fn run_with(&self, executors: Vec<Box<dyn Executor + Send>>) -> CampaignResult {
        self.observed(executors, &mut ())
    }

    fn observed(
        &self,
        executors: Vec<Box<dyn Executor + Send>>,
        observer: &mut dyn Observer,
    ) -> CampaignResult {
        self.advised(executors, observer, None)
    }

    fn advised(
        &self,
        executors: Vec<Box<dyn Executor + Send>>,
        observer: &mut dyn Observer,
        adviser: Option<&mut dyn Adviser>,
    ) -> CampaignResult {
        let mut coverage = branch_goals(&self.program);
        for goal in &self.infeasible {
            let evidence = Evidence { proof: format!("proofs/{goal}.proof"), ..Evidence::default() };
            coverage.decide(*goal, evidence).expect("nothing is covered yet");
        }
        let setup = Setup {
            memory: None,
            program: &self.program,
            coverage,
            strategy: strategy_named(self.strategy, &StrategyOptions::default()).expect("known"),
            executors,
            solver: &self.solver,
            clock: &Ticking { looks: AtomicU64::new(0), step: self.tick },
            interrupt: Arc::new(AtomicBool::new(self.interrupt)),
            adviser: adviser.map(|adviser| -> &mut dyn Adviser { adviser }),
        };
        run(setup, &self.options, observer)
    }
}

fn given(input: Input, provenance: Provenance, place: GivenPlace) -> GivenInput {
    GivenInput { input, provenance, place }
}

fn undecided(result: &CampaignResult) -> Vec<(GoalId, Cause)> {
    let reason = |status: &Status| match status {
        Status::Undecided(reason) => Some(reason.cause.clone()),
        Status::Covered { .. } | Status::Infeasible { .. } => None,
    };
    result.coverage.goals().filter_map(|(id, _, status)| Some((id, reason(status)?))).collect()
}

/// Every covered goal names a test that covers it; every test is needed.
fn assert_consistent(result: &CampaignResult) {
    let findings = result.crashes.iter().chain(&result.hangs).map(|finding| &finding.test);
    let tests: Vec<&Test> = result.tests.iter().chain(findings).collect();
    let ids: BTreeSet<_> = tests.iter().map(|test| test.id).collect();
    assert_eq!(ids.len(), tests.len(), "ids are distinct");
    for (id, _, status) in result.coverage.goals() {
        if let Status::Covered { by } = status {
            let witness = tests.iter().find(|test| test.id == *by).expect("the witness is kept");
            assert!(witness.covers.contains(&id) && witness.satisfies.contains(&id));
        }
    }
    for test in &result.tests {
        assert!(!test.covers.is_empty() || result.coverage.n_goals() == 0, "{} is not needed", test.id);
    }
}

#[test]
fn every_searching_strategy_covers_what_can_be_covered() {
    for strategy in STRATEGIES.into_iter().filter(|name| *name != "random-input") {
        let result = Trial { strategy, ..Trial::of(nested(), play_nested) }.run();
        assert_eq!(result.coverage.n_covered(), 5, "{strategy}");
        assert_eq!(undecided(&result), [(GoalId(4), Cause::Unsatisfiable)], "{strategy}");
        assert!(matches!(result.stop, StopReason::Exhausted), "{strategy}");
        assert!(result.queries.unsat > 0 && result.queries.unknown == 0, "{strategy}");
        assert_eq!((result.divergences, result.unrepeated, result.n_troubles), (0, 0, 0), "{strategy}");
        assert_consistent(&result);
    }
}

#[test]
fn a_goal_that_was_proved_infeasible_is_not_searched_for() {
    for strategy in STRATEGIES.into_iter().filter(|name| *name != "random-input") {
        let undecided = Trial { strategy, ..Trial::of(nested(), play_nested) }.run();
        let infeasible = vec![GoalId(4)];
        let decided = Trial { strategy, infeasible, ..Trial::of(nested(), play_nested) }.run();
        assert!(matches!(decided.stop, StopReason::Complete), "{strategy}: {:?}", decided.stop);
        assert_eq!((decided.coverage.n_covered(), decided.coverage.n_infeasible()), (5, 1), "{strategy}");
        assert!(matches!(decided.coverage.status(GoalId(4)), Status::Infeasible { .. }), "{strategy}");
        assert!(decided.queries.unsat < undecided.queries.unsat, "{strategy} asked for what is infeasible");
        assert_consistent(&decided);
    }
}

#[test]
fn a_run_that_contradicts_a_proof_ends_the_campaign_and_is_kept() {
    let infeasible = vec![GoalId(0)];
    let result = Trial { infeasible, ..Trial::of(nested(), play_nested) }.run();
    let StopReason::Failed(CampaignError::Contradiction(contradiction)) = &result.stop else {
        panic!("{:?}", result.stop)
    };
    assert_eq!(contradiction.goal, GoalId(0));
    let witness = result.tests.iter().find(|test| test.id == contradiction.test).expect("it is kept");
    assert!(witness.satisfies.contains(&GoalId(0)));
    assert!(matches!(result.coverage.status(GoalId(0)), Status::Infeasible { .. }));
}

/// Says the same whenever it is asked, and notes what was open.
struct Oracle {
    advice: Advice,
    asked: Vec<usize>,
}

impl Adviser for Oracle {
    fn advise(&mut self, asked: &Asked<'_>) -> Advice {
        let coverage = asked.coverage;
        self.asked.push(coverage.n_goals() - coverage.n_covered() - coverage.n_infeasible());
        self.advice.clone()
    }
}

fn advised(trial: &Trial, advice: Advice) -> (CampaignResult, Vec<usize>) {
    let mut oracle = Oracle { advice, asked: Vec::new() };
    let executors = (0..trial.n_workers).map(|_| Player::boxed(trial.play)).collect();
    let result = trial.advised(executors, &mut (), Some(&mut oracle));
    (result, oracle.asked)
}

#[test]
fn the_adviser_is_asked_about_what_the_search_leaves_open() {
    let evidence = Evidence { proof: "proofs/4.proof".to_owned(), ..Evidence::default() };
    let advice = Advice { infeasible: vec![(GoalId(4), evidence)], effort: 10, ..Advice::default() };
    for n_workers in [1, 2] {
        let (result, asked) =
            advised(&Trial { n_workers, ..Trial::of(nested(), play_nested) }, advice.clone());
        assert!(matches!(result.stop, StopReason::Complete), "{:?}", result.stop);
        assert_eq!((result.coverage.n_covered(), result.coverage.n_infeasible()), (5, 1));
        assert_eq!(asked, [1], "once, when one goal is left");
    }
}

#[test]
fn candidates_that_proofs_exclude_are_dropped_and_with_a_self_check_followed() {
    let way = Refuted { site: Site::Condition(ConditionId(0)), choice: Choice::Outcome(true), head: None };
    let advice = Advice { refuted: vec![way], effort: 10, is_final: true, ..Advice::default() };
    let budget = Budget { executions: Some(1), ..Budget::default() };
    let trial = |self_check| {
        let options = CampaignOptions { self_check, budget, ..CampaignOptions::default() };
        advised(&Trial { options, ..Trial::of(nested(), play_nested) }, advice.clone()).0
    };
    assert_eq!((trial(false).candidates_refuted, trial(true).candidates_refuted), (1, 0));
}

#[test]
fn inputs_of_the_adviser_are_run_beyond_the_budget_of_executions_and_lead_on() {
    let input = Input { values: [(Key(1), 42), (Key(2), 8)].into() };
    let budget = Budget { executions: Some(1), ..Budget::default() };
    let options = CampaignOptions { budget, ..CampaignOptions::default() };
    let trial = Trial { options, ..Trial::of(nested(), play_nested) };
    let advice = Advice { inputs: vec![input.clone()], effort: 10, is_final: true, ..Advice::default() };
    let (result, asked) = advised(&trial, advice);
    assert_eq!((result.executions, result.n_advised), (2, 1), "each input once");
    let found = result.tests.iter().find(|test| test.provenance == Provenance::Counterexample);
    assert_eq!(found.expect("it is a test").input, input);
    assert_eq!(asked.len(), 2, "its input covered something, so it was asked again: {asked:?}");
    assert!(matches!(result.stop, StopReason::Budget(BudgetKind::Executions)), "{:?}", result.stop);
}

#[test]
fn without_a_search_only_the_first_inputs_and_those_of_the_adviser_run() {
    let options = CampaignOptions { searches: false, ..CampaignOptions::default() };
    let trial = Trial { options, ..Trial::of(nested(), play_nested) };
    let advice = Advice { effort: 10, is_final: true, ..Advice::default() };
    let (result, asked) = advised(&trial, advice);
    assert_eq!((result.executions, asked.len()), (2, 1));
    assert_eq!(result.queries, Queries::default());
}

#[test]
fn a_proof_of_what_a_run_covered_ends_the_campaign() {
    let evidence = Evidence { proof: "proofs/0.proof".to_owned(), ..Evidence::default() };
    let advice = Advice { infeasible: vec![(GoalId(0), evidence)], effort: 10, ..Advice::default() };
    let (result, _) = advised(&Trial::of(nested(), play_nested), advice);
    assert!(matches!(result.stop, StopReason::Failed(CampaignError::Contradiction(_))), "{:?}", result.stop);
    assert_eq!(result.coverage.contradictions().len(), 1);
}

#[test]
fn a_campaign_ends_when_everything_is_covered() {
    let program = program(vec![To::If(1, 1), To::Return]);
    let result = Trial::of(program, |machine| {
        let x = machine.cell(1, 32);
        machine.equals(x, 0xdead_beef);
        End::Returned
    })
    .run();
    assert!(matches!(result.stop, StopReason::Complete));
    assert_eq!(result.tests.len(), 2);
    assert_eq!(result.tests[0].input.values, [(Key(1), 0)].into(), "the first input is zeros");
    assert_eq!(result.tests[1].input.values, [(Key(1), 0xdead_beef)].into());
    let provenances = [result.tests[0].provenance, result.tests[1].provenance];
    assert_eq!(provenances, [Provenance::Zero, Provenance::Solved]);
    assert_consistent(&result);
}

#[test]
fn the_same_seed_gives_the_same_campaign() {
    for n_workers in [1, 3] {
        for strategy in STRATEGIES {
            let budget = Budget { executions: Some(30), ..Budget::default() };
            let options = CampaignOptions { seed: 7, budget, ..CampaignOptions::default() };
            let trial = Trial { strategy, n_workers, options, ..Trial::of(nested(), play_nested) };
            let (first, second) = (trial.run(), trial.run());
            assert_eq!(first.tests, second.tests, "{strategy} with {n_workers}");
            assert_eq!(first.executions, second.executions, "{strategy} with {n_workers}");
            assert_eq!(first.queries, second.queries, "{strategy} with {n_workers}");
        }
    }
}

/// Plays like another executor, and takes a time of its own for it.
struct Delayed {
    player: Box<dyn Executor + Send>,
    delays: Rng,
}

impl Executor for Delayed {
    fn execute(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        let microseconds = [0, 0, 50, 1500][self.delays.below(4)];
        std::thread::sleep(Duration::from_micros(microseconds));
        self.player.execute(input, flags, limit)
    }

    fn newest(&self) -> Option<Execution<'_>> {
        self.player.newest()
    }
}

/// Ten conditions about sums of four bytes, the last of which is never true.
fn sums() -> Program {
    let ifs = (1..=10).map(|next| To::If(next, next));
    program(ifs.chain([To::Return]).collect())
}

fn play_sums(machine: &mut Machine) -> End {
    let cells: Vec<_> = (1..=4).map(|key| machine.cell(key, 8)).collect();
    for at in 0..9usize {
        let sum = machine.add(cells[at % 4], cells[(at / 2) % 4]);
        machine.equals(sum, 20 + at as u64 % 3);
    }
    machine.outcome(false, 0);
    End::Returned
}

/// What a campaign decided, one decision after the other.
#[derive(Debug, Default, PartialEq)]
struct Decisions(Vec<(u64, usize, usize, Queries)>);

impl Observer for Decisions {
    fn worked(&mut self, progress: &Progress) {
        let Progress { executions, n_covered, n_candidates, queries, .. } = *progress;
        self.0.push((executions, n_covered, n_candidates, queries));
    }
}

#[test]
fn the_order_in_which_workers_finish_decides_nothing() {
    for n_workers in [2, 3] {
        for strategy in ["auto", "dfs", "random-path", "generational"] {
            let budget = Budget { executions: Some(50), ..Budget::default() };
            let options = CampaignOptions { seed: 5, budget, filter: false, ..CampaignOptions::default() };
            let trial = Trial { strategy, n_workers, options, ..Trial::of(sums(), play_sums) };
            let run = |seed: u64| {
                let delayed = |worker: u64| Delayed {
                    player: Player::boxed(play_sums),
                    delays: Rng::new(seed * 16 + worker),
                };
                let executors = (0..n_workers as u64).map(|worker| Box::new(delayed(worker)) as _).collect();
                let mut decisions = Decisions::default();
                (trial.observed(executors, &mut decisions), decisions)
            };
            let ((first, decisions), (second, others)) = (run(1), run(2));
            assert_eq!(first.executions, 50, "{strategy}");
            assert_eq!(decisions, others, "{strategy} with {n_workers}");
            assert_eq!(first.tests, second.tests, "{strategy} with {n_workers}");
            assert_eq!(first.n_picks, second.n_picks, "{strategy} with {n_workers}");
        }
    }
}

/// What happened in a campaign of one worker, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Start { beside: bool },
    Solve,
    Finish,
}

thread_local! {
    static EVENTS: std::cell::RefCell<Vec<Event>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn note(event: Event) {
    EVENTS.with_borrow_mut(|events| events.push(event));
}

/// Plays like another executor, and lets whoever asks work meanwhile.
struct Asynchronous {
    player: Box<dyn Executor + Send>,
}

impl Executor for Asynchronous {
    fn start(&mut self, _: &Input, _: Flags, _: Duration, beside: bool) -> Result<(), ExecutorError> {
        note(Event::Start { beside });
        Ok(())
    }

    fn finish(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        note(Event::Finish);
        self.player.execute(input, flags, limit)
    }

    fn execute(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        self.start(input, flags, limit, false)?;
        self.finish(input, flags, limit)
    }

    fn newest(&self) -> Option<Execution<'_>> {
        self.player.newest()
    }
}

struct Noted(BitwuzlaSolver);

impl Solver for Noted {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn check(&mut self, store: &TermStore, assertions: &[Term], limit: Limit) -> Verdict {
        note(Event::Solve);
        self.0.check(store, assertions, limit)
    }

    fn effort(&self) -> Option<u64> {
        self.0.effort()
    }

    fn on_step(&mut self, step: std::rc::Rc<dyn Fn()>) {
        self.0.on_step(step);
    }
}

/// A campaign of one worker, what it decided, and what happened in it.
fn noted_campaign(
    play: fn(&mut Machine) -> End,
    options: CampaignOptions,
) -> (CampaignResult, Decisions, Vec<Event>) {
    let solver: fn() -> Box<dyn Solver> = || Box::new(Noted(BitwuzlaSolver::new()));
    let trial = Trial { strategy: "auto", options, solver, ..Trial::of(sums(), play) };
    let executor = Asynchronous { player: Player::boxed(play) };
    let mut decisions = Decisions::default();
    EVENTS.take();
    let result = trial.observed(vec![Box::new(executor)], &mut decisions);
    (result, decisions, EVENTS.take())
}

/// How many queries are solved while something is executed.
fn n_overlapping(events: &[Event]) -> usize {
    let mut runs = false;
    let mut n_overlapping = 0;
    for event in events {
        match event {
            Event::Start { .. } => {
                assert!(!runs, "an executor has one run at a time");
                runs = true;
            }
            Event::Finish => runs = false,
            Event::Solve => n_overlapping += usize::from(runs),
        }
    }
    n_overlapping
}

#[test]
fn one_worker_solves_while_a_long_execution_runs_and_decides_the_same_each_time() {
    let play_long = |machine: &mut Machine| {
        let end = play_sums(machine);
        let x = machine.cell(5, 8);
        // as many expressions as a run of half a millisecond makes
        for _ in 0..70_000 {
            machine.add(x, x);
        }
        end
    };
    let options = |whole_program| {
        let budget = Budget { executions: Some(40), ..Budget::default() };
        CampaignOptions { seed: 5, budget, filter: false, whole_program, ..CampaignOptions::default() }
    };
    let short = noted_campaign(play_sums, options(false));
    assert_eq!(n_overlapping(&short.2), 0, "a short execution is over too soon");
    assert!(!short.2.contains(&Event::Start { beside: true }));
    for (play, whole_program) in [(play_long as fn(&mut Machine) -> End, false), (play_sums, true)] {
        let (first, decisions, events) = noted_campaign(play, options(whole_program));
        assert!(n_overlapping(&events) > 2, "{events:?}");
        assert!(events.contains(&Event::Start { beside: true }));
        let (again, same_decisions, same_events) = noted_campaign(play, options(whole_program));
        assert_eq!((decisions, events), (same_decisions, same_events));
        assert_eq!((&first.tests, first.executions), (&again.tests, again.executions));
        // an executor for which nobody can do anything else meanwhile makes no difference
        let plain =
            Trial { strategy: "auto", options: options(whole_program), ..Trial::of(sums(), play) }.run();
        assert_eq!(
            (first.tests, first.executions, first.queries),
            (plain.tests, plain.executions, plain.queries)
        );
        assert_eq!(first.coverage.n_covered(), short.0.coverage.n_covered());
    }
}

#[test]
fn what_is_in_flight_when_everything_is_covered_does_not_count() {
    let chain = || program(vec![To::If(1, 1), To::Return]);
    let play = |machine: &mut Machine| {
        let (x, y) = (machine.cell(1, 8), machine.cell(2, 8));
        machine.equals(x, 9);
        machine.pin(y);
        End::Returned
    };
    let run = |n_workers| Trial { n_workers, ..Trial::of(chain(), play) }.run();
    let (alone, several) = (run(1), run(4));
    assert!(matches!(several.stop, StopReason::Complete));
    assert_eq!((several.executions, several.tests), (alone.executions, alone.tests));
}

#[test]
fn a_parent_is_executed_again_only_when_it_is_not_held() {
    for strategy in STRATEGIES.into_iter().filter(|name| *name != "random-input") {
        let with_room = |max_bytes_held| {
            let options = CampaignOptions { max_bytes_held, ..CampaignOptions::default() };
            Trial { strategy, options, ..Trial::of(nested(), play_nested) }.run()
        };
        let (held, repeated) = (with_room(1 << 20), with_room(0));
        assert!(held.n_picks > 3, "{strategy}");
        assert_eq!(held.n_parents_repeated, 0, "{strategy}");
        // paths that event sequences are read from are executed again, and runs that they change are no picks
        let chains =
            strategy_named(strategy, &StrategyOptions::default()).expect("known").chains() != Chains::Never;
        assert!(chains || held.re_executions == 0, "{strategy}");
        assert!(
            chains && repeated.n_parents_repeated >= repeated.n_picks
                || repeated.n_parents_repeated == repeated.n_picks,
            "{strategy}"
        );
        assert_eq!((held.tests, held.queries), (repeated.tests, repeated.queries), "{strategy}");
    }
}

#[test]
fn several_workers_cover_the_same() {
    let result = Trial { n_workers: 3, ..Trial::of(nested(), play_nested) }.run();
    assert_eq!(result.coverage.n_covered(), 5);
    assert_consistent(&result);
}

#[test]
fn executions_stay_within_their_budget() {
    for (n_workers, most) in [(1, 0), (1, 1), (1, 3), (3, 4)] {
        let budget = Budget { executions: Some(most), ..Budget::default() };
        let options = CampaignOptions { budget, ..CampaignOptions::default() };
        let result = Trial { n_workers, options, ..Trial::of(nested(), play_nested) }.run();
        assert_eq!(result.executions, most, "{n_workers} workers");
        assert!(matches!(result.stop, StopReason::Budget(BudgetKind::Executions)));
        assert!(undecided(&result).iter().all(|(_, cause)| *cause == Cause::Budget));
    }
}

#[test]
fn what_an_earlier_campaign_found_counts_whatever_the_budget() {
    let earlier = Trial::of(nested(), play_nested).run();
    let recorded: Vec<GivenInput> = earlier
        .tests
        .iter()
        .map(|test| given(test.input.clone(), test.provenance, GivenPlace::BeforeBudget))
        .collect();
    for n_workers in [1, 3] {
        let budget = Budget { executions: Some(0), time: Some(Duration::ZERO) };
        let options = CampaignOptions { budget, given: recorded.clone(), ..CampaignOptions::default() };
        let result = Trial { n_workers, options, ..Trial::of(nested(), play_nested) }.run();
        assert_eq!(result.coverage.n_covered(), earlier.coverage.n_covered());
        assert_eq!((result.n_recorded, result.n_recorded_left), (recorded.len() as u64, 0));
        assert_eq!(result.executions, result.n_recorded, "nothing else is run");
        let provenances = |result: &CampaignResult| -> BTreeSet<Provenance> {
            result.tests.iter().map(|test| test.provenance).collect()
        };
        assert_eq!(provenances(&result), provenances(&earlier));
        assert_consistent(&result);
    }
    let options = CampaignOptions { given: recorded[..1].to_vec(), ..CampaignOptions::default() };
    let result = Trial { options, ..Trial::of(nested(), play_nested) }.run();
    assert_eq!(result.coverage.n_covered(), 5, "the search goes on from there");
}

#[test]
fn time_stays_within_its_budget() {
    let budget = Budget { time: Some(Duration::from_millis(50)), ..Budget::default() };
    let options = CampaignOptions { budget, ..CampaignOptions::default() };
    let tick = Duration::from_millis(1);
    let result = Trial { options, tick, strategy: "random-input", ..Trial::of(nested(), play_nested) }.run();
    assert!(matches!(result.stop, StopReason::Budget(BudgetKind::Time)));
    assert!(result.executions > 1, "{}", result.executions);
    assert!(result.seconds < 0.08, "{}", result.seconds);
}

#[test]
fn an_interrupted_campaign_keeps_what_it_found() {
    let result = Trial { interrupt: true, ..Trial::of(nested(), play_nested) }.run();
    assert!(matches!(result.stop, StopReason::Interrupted));
    assert_eq!(result.executions, 0);
}

#[test]
fn random_input_ends_when_chance_brings_nothing_new() {
    let program = program(vec![To::If(1, 1), To::Return]);
    let play = |machine: &mut Machine| {
        let x = machine.cell(1, 1);
        machine.outcome(x.value > 1, 0);
        End::Returned
    };
    let result = Trial { strategy: "random-input", ..Trial::of(program, play) }.run();
    assert!(matches!(result.stop, StopReason::Exhausted));
    assert_eq!(result.queries, Queries::default());
}

#[test]
fn crashes_are_findings_and_witnesses_of_last_resort() {
    // the crash covers what only it reaches; x == 5 comes back in order only when y == 1
    let program = program(vec![To::If(1, 2), To::If(2, 2), To::Return]);
    let result = Trial::of(program, |machine| {
        let (x, y) = (machine.cell(1, 8), machine.cell(2, 8));
        if machine.equals(x, 5) && !machine.equals(y, 1) {
            return End::Signalled { signal: libc::SIGSEGV, address: Some(0) };
        }
        End::Returned
    })
    .run();
    assert!(matches!(result.stop, StopReason::Complete));
    let [crash] = &result.crashes[..] else { panic!("one kind of crash: {:?}", result.crashes) };
    assert_eq!(crash.at, Some((model::FunctionId(0), model::BlockId(2))));
    assert_eq!(crash.test.covers, [GoalId(2)], "what orderly tests cover is theirs");
    assert_eq!(result.tests.len(), 2);
    assert!(result.tests.iter().all(|test| test.end == End::Returned));
    assert_consistent(&result);
}

#[test]
fn an_access_is_asked_to_go_outside_when_all_goals_are_covered() {
    let program = program(vec![To::If(1, 1), To::Return]);
    let result = Trial::of(program, |machine| {
        let x = machine.cell(1, 8);
        let within = machine.push(ULT, 1, 1, x.node, 200);
        if x.value >= 200 {
            let outside = Outside {
                object: ObjectKind::Global,
                size: 200,
                offset: i64::try_from(x.value).expect("a byte"),
                bytes: 1,
                is_write: false,
                place: 7,
            };
            machine.equals(x, 5);
            return End::OutOfBounds(outside);
        }
        machine.within(within, 7);
        machine.equals(x, 5);
        End::Returned
    })
    .run();
    assert!(matches!(result.stop, StopReason::Complete));
    let [crash] = &result.crashes[..] else { panic!("one finding: {:?}", result.crashes) };
    assert!(matches!(crash.test.end, End::OutOfBounds(outside) if outside.place == 7));
    assert!(result.executions <= 4, "an answered question is not asked again: {}", result.executions);
    assert!(result.tests.iter().all(|test| test.end == End::Returned));
    assert_consistent(&result);
}

#[test]
fn hangs_are_kept_apart_from_crashes() {
    let program = program(vec![To::If(1, 1), To::Return]);
    let result = Trial::of(program, |machine| {
        let x = machine.cell(1, 8);
        if machine.equals(x, 5) { End::TimedOut } else { End::Returned }
    })
    .run();
    assert_eq!((result.tests.len(), result.crashes.len(), result.hangs.len()), (1, 0, 1));
    assert!(matches!(result.stop, StopReason::Complete));
    assert_consistent(&result);
}

#[test]
fn a_run_that_leaves_its_prefix_is_a_divergence() {
    // the expression says x == 9, the program tests something else
    let program = program(vec![To::If(1, 1), To::If(2, 2), To::Return]);
    let result = Trial::of(program, |machine| {
        let x = machine.cell(1, 8);
        let node = machine.push(16, 1, 1, x.node, 9);
        machine.outcome(x.value == 200, 0);
        machine.outcome(x.value == 77, node);
        End::Returned
    })
    .run();
    assert!(result.divergences > 0);
}

#[test]
fn pins_give_way_when_they_are_in_the_way() {
    let program = program(vec![To::If(1, 1), To::Return]);
    let trial = Trial::of(program, |machine| {
        let x = machine.cell(1, 8);
        machine.pin(x);
        machine.equals(x, 9);
        End::Returned
    });
    let result = trial.run();
    assert!(matches!(result.stop, StopReason::Complete), "{:?}", result.stop);
    assert_eq!((result.queries.sat, result.queries.unsat), (1, 1));
}

#[test]
fn other_values_of_a_pin_are_tried_when_nothing_else_is_left() {
    // the callee depends on x / 64 in a way that no expression shows
    let program = program(vec![To::If(1, 1), To::If(2, 2), To::If(3, 3), To::Return]);
    let play = |machine: &mut Machine| {
        let x = machine.cell(1, 8);
        let mut quotient = x;
        quotient.node = machine.push(6, 8, 1, x.node, 64);
        quotient.value = x.value / 64;
        machine.pin(quotient);
        for callee in [1, 2, 3] {
            machine.outcome(quotient.value == callee, 0);
        }
        End::Returned
    };
    for strategy in STRATEGIES.into_iter().filter(|name| *name != "random-input") {
        for n_workers in [1, 2] {
            let given = vec![given(Input::default(), Provenance::Given, GivenPlace::First)];
            let options = CampaignOptions { given, ..CampaignOptions::default() };
            let result = Trial { strategy, n_workers, options, ..Trial::of(program.clone(), play) }.run();
            assert!(matches!(result.stop, StopReason::Complete), "{strategy}: {:?}", result.stop);
            assert_eq!((result.executions, result.divergences), (4, 0), "{strategy}");
        }
    }
}

#[test]
fn what_the_solver_gives_up_is_its_reason() {
    struct Helpless;
    impl Solver for Helpless {
        fn name(&self) -> &str {
            "helpless"
        }
        fn check(&mut self, _: &TermStore, _: &[Term], _: Limit) -> Verdict {
            Verdict::Unknown(UnknownReason::Overdue)
        }
    }
    let program = program(vec![To::If(1, 1), To::Return]);
    let play = |machine: &mut Machine| {
        let (x, y) = (machine.cell(1, 32), machine.cell(2, 32));
        let product = machine.push(5, 32, 0, x.node, u64::from(y.node));
        let node = machine.push(16, 1, 1, product, 0x1234_5679);
        machine.outcome(x.value.wrapping_mul(y.value) & 0xffff_ffff == 0x1234_5679, node);
        End::Returned
    };
    let result = Trial { solver: || Box::new(Helpless), ..Trial::of(program, play) }.run();
    assert!(result.queries.unknown > 0);
    assert_eq!(result.n_overdue, result.queries.unknown);
    assert_eq!(undecided(&result), [(GoalId(1), Cause::Unsolved)]);
}

#[test]
fn the_self_check_reports_wrong_expressions() {
    let program = program(vec![To::If(1, 1), To::Return]);
    let play = |machine: &mut Machine| {
        let x = machine.cell(1, 8);
        let node = machine.push(16, 1, 1, x.node, 0);
        machine.outcome(x.value == 9, node);
        End::Returned
    };
    let options = CampaignOptions { self_check: true, ..CampaignOptions::default() };
    let result = Trial { options, ..Trial::of(program, play) }.run();
    assert!(result.n_mismatches > 0);
    assert_eq!(result.mismatches[0].input.values, [(Key(1), 0)].into());
    let silent = Trial {
        options: CampaignOptions { self_check: true, ..CampaignOptions::default() },
        ..Trial::of(nested(), play_nested)
    };
    assert_eq!(silent.run().n_mismatches, 0);
}

#[test]
fn a_path_log_that_does_not_fit_is_a_trouble() {
    let program = program(vec![To::If(1, 1), To::Return]);
    let result = Trial::of(program, |machine| {
        machine.case(0, 1);
        End::Returned
    })
    .run();
    assert_eq!(result.n_troubles, result.executions);
    assert!(matches!(result.troubles[0], Trouble::Trace { .. }));
    assert!(undecided(&result).iter().all(|(_, cause)| *cause == Cause::Trouble));
}

#[test]
fn a_program_that_cannot_run_any_more_ends_the_campaign() {
    struct Dying {
        player: Box<dyn Executor + Send>,
        n_left: u32,
    }
    impl Executor for Dying {
        fn execute(
            &mut self,
            input: &Input,
            flags: Flags,
            limit: Duration,
        ) -> Result<Execution<'_>, ExecutorError> {
            self.n_left = self
                .n_left
                .checked_sub(1)
                .ok_or_else(|| ExecutorError::CannotFork { program: "p".into() })?;
            self.player.execute(input, flags, limit)
        }
        fn newest(&self) -> Option<Execution<'_>> {
            self.player.newest()
        }
    }
    let dying = Dying { player: Player::boxed(play_nested), n_left: 2 };
    let result = Trial::of(nested(), play_nested).run_with(vec![Box::new(dying)]);
    assert!(matches!(result.stop, StopReason::Failed(CampaignError::Executor(_))));
    assert!(!result.tests.is_empty());
}

#[test]
fn a_first_input_given_is_the_first_run() {
    let first = Input { values: [(Key(1), 42), (Key(2), 8)].into() };
    let budget = Budget { executions: Some(1), ..Budget::default() };
    let given = vec![given(first.clone(), Provenance::Given, GivenPlace::First)];
    let options = CampaignOptions { budget, given, ..CampaignOptions::default() };
    let result = Trial { options, ..Trial::of(nested(), play_nested) }.run();
    assert_eq!(result.tests[0].input, first);
    assert_eq!(result.tests[0].provenance, Provenance::Given);
    assert_eq!(result.coverage.n_covered(), 3);
}

#[test]
fn a_function_without_goals_gets_one_test() {
    let result = Trial::of(program(vec![To::Return]), |machine| {
        machine.cell(1, 8);
        End::Returned
    })
    .run();
    assert!(matches!(result.stop, StopReason::Complete));
    assert_eq!(result.tests.len(), 1);
}
