//! Sources on runs of a program played in Rust: who proposes what, and in which order?

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coverage::Facts;
use coverage::structure::Structure;
use model::input::{Input, Key};
use wire::CellKind;

use super::*;
use crate::campaign::reaching::Reaching;
use crate::campaign::source::{KnownCells, Origin, Proposal, RunNews};
use crate::campaign::{Clock, Enums, GivenInput, Provenance, Test};
use crate::executor::{End, Output};
use crate::pool::{CandidateId, Judge, Pool, Run, RunId, Turn};
use crate::strategy::{StrategyOptions, strategy_named};
use crate::testing::{Machine, To, ULT, branch_goals, program};
use crate::trace::Tracer;

struct StoppedClock;

impl Clock for StoppedClock {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// What a campaign knows, to be looked at by sources.
struct Scene<'a> {
    tracer: &'a Tracer<'a>,
    coverage: Coverage,
    structure: Structure<'a>,
    pool: Pool,
    tests: Vec<Test>,
    cells: KnownCells,
    enums: Enums,
    facts: Facts,
    reaching: Reaching,
    executions: u64,
    n_searched: u64,
}

impl<'a> Scene<'a> {
    fn new(tracer: &'a Tracer<'a>) -> Self {
        let coverage = branch_goals(tracer.program());
        let structure = Structure::new(tracer.marking(), &coverage);
        let cells = [(Key(1), (8, CellKind::Value))].into();
        Self {
            tracer,
            coverage,
            structure,
            pool: Pool::new(100, 1000, true),
            tests: Vec::new(),
            cells,
            enums: Enums::default(),
            facts: Facts::new(tracer.marking()),
            reaching: Reaching::default(),
            executions: 0,
            n_searched: 0,
        }
    }

    fn view(&self) -> CampaignView<'_> {
        CampaignView {
            program: self.tracer.program(),
            tracer: self.tracer,
            clock: &StoppedClock,
            coverage: &self.coverage,
            facts: &self.facts,
            reaching: &self.reaching,
            structure: &self.structure,
            pool: &self.pool,
            tests: &self.tests,
            cells: &self.cells,
            enums: &self.enums,
            is_blind: false,
            executions: self.executions,
            n_searched: self.n_searched,
        }
    }

    /// Plays a run and takes its candidates into the pool.
    fn run(&mut self, play: fn(&mut Machine), origin: Option<CandidateId>) -> (RunId, Vec<CandidateId>) {
        let mut machine = Machine::new(&Input::default());
        play(&mut machine);
        let output = Output::default();
        let execution = machine.execution(End::Returned, &output);
        let trace = self.tracer.trace(&execution, None, &|| false).expect("the log is whole");
        let program = self.tracer.program();
        let mut judge = Judge { program, coverage: &self.coverage, structure: &mut self.structure };
        let (input, distances, path) = (Arc::default(), BTreeMap::new(), None);
        let candidates =
            self.pool.add_run(&mut judge, Run { input, origin, n_new_goals: 0, distances, path }, &trace);
        (self.pool.newest_run(), candidates)
    }
}

/// Lets `check` look at a scene in which nothing has run.
fn in_scene(check: impl FnOnce(Scene<'_>)) {
    let program = program(vec![To::If(1, 1), To::Return]);
    let tracer = Tracer::new(&program);
    check(Scene::new(&tracer));
}

/// A run with a pin, an access within bounds, and a step.
fn play(machine: &mut Machine) {
    let x = machine.cell(1, 8);
    machine.pin(x);
    let within = machine.push(ULT, 1, 1, x.node, 200);
    machine.within(within, 7);
    machine.equals(x, 5);
}

fn sources(strategy: &str, given: Vec<GivenInput>) -> Sources<'static> {
    let strategy = strategy_named(strategy, &StrategyOptions::default()).expect("known");
    let options = CampaignOptions { given, ..CampaignOptions::default() };
    Sources::new(
        &Program::default(),
        &options,
        false,
        StrategySource::new(strategy, None, Box::leak(Box::default())),
    )
}

fn given(value: u64, place: GivenPlace) -> GivenInput {
    let input = Input { values: [(Key(1), value)].into() };
    GivenInput { input, provenance: Provenance::Imported(1), place }
}

const WORKED: News<'_> = News::Worked { origin: Origin::Input, solver_effort: 0, effort: 0 };

/// Where the inputs come from that are proposed one after the other, each heard of before the next.
fn provenances(
    sources: &mut Sources<'_>,
    order: &[(Name, Occasion)],
    scene: &mut Scene<'_>,
) -> Vec<Provenance> {
    let mut rng = Rng::new(1);
    let mut found = Vec::new();
    while let Answer::Propose(Proposal::Run { provenance, .. }) =
        sources.ask(order, true, &scene.view(), &mut rng)
    {
        found.push(provenance);
        (scene.executions, scene.n_searched) = (scene.executions + 1, scene.n_searched + 1);
        sources.tell(&WORKED, &scene.view());
    }
    found
}

#[test]
fn a_campaign_begins_with_zeros_and_then_a_random_input() {
    in_scene(|mut scene| {
        let mut sources = sources("dfs", Vec::new());
        let found = provenances(&mut sources, SEARCH, &mut scene);
        assert_eq!(found, [Provenance::Zero, Provenance::Random]);
    });
}

#[test]
fn a_first_input_from_outside_replaces_zeros_and_the_random_one() {
    in_scene(|mut scene| {
        let mut sources = sources("dfs", vec![given(2, GivenPlace::AfterFirst), given(1, GivenPlace::First)]);
        let mut rng = Rng::new(1);
        for value in [1, 2] {
            let answer = sources.ask(SEARCH, true, &scene.view(), &mut rng);
            let GivenInput { input, provenance, .. } = given(value, GivenPlace::First);
            assert_eq!(answer, Answer::Propose(Proposal::Run { input, provenance, symbolic: true }));
            (scene.executions, scene.n_searched) = (value, value);
            sources.tell(&WORKED, &scene.view());
        }
        assert_eq!(sources.ask(SEARCH, true, &scene.view(), &mut rng), Answer::Pass);
    });
}

#[test]
fn an_input_that_runs_after_the_first_leaves_zeros_and_the_random_one_in_place() {
    in_scene(|mut scene| {
        let mut sources = sources("dfs", vec![given(2, GivenPlace::AfterFirst)]);
        let found = provenances(&mut sources, SEARCH, &mut scene);
        assert_eq!(found, [Provenance::Zero, Provenance::Imported(1), Provenance::Random]);
    });
}

#[test]
fn what_comes_after_the_first_input_waits_for_its_result() {
    in_scene(|scene| {
        let (mut sources, mut rng) = (sources("dfs", Vec::new()), Rng::new(1));
        for _ in 0..2 {
            assert!(matches!(sources.ask(SEARCH, true, &scene.view(), &mut rng), Answer::Propose(_)));
            assert_eq!(sources.ask(SEARCH, true, &scene.view(), &mut rng), Answer::Wait);
            sources.tell(&WORKED, &scene.view());
        }
        assert_eq!(sources.ask(SEARCH, true, &scene.view(), &mut rng), Answer::Pass);
    });
}

#[test]
fn inputs_of_an_earlier_campaign_come_in_their_order_and_at_once() {
    in_scene(|scene| {
        let (mut rng, resumed) = (Rng::new(1), [4, 3].map(|value| given(value, GivenPlace::BeforeBudget)));
        let mut sources = sources("dfs", resumed.to_vec());
        for GivenInput { input, provenance, .. } in resumed {
            let proposal = Proposal::Run { input, provenance, symbolic: true };
            let answer = sources.ask(BEFORE_BUDGET, true, &scene.view(), &mut rng);
            assert_eq!(answer, Answer::Propose(proposal), "nobody waits for the first");
        }
        assert_eq!(sources.resumed.n_given(), 2);
        assert_eq!(sources.ask(BEFORE_BUDGET, true, &scene.view(), &mut rng), Answer::Pass);
    });
}

#[test]
fn nothing_is_begun_when_an_earlier_campaign_covered_everything() {
    let program = program(vec![To::Return]);
    let tracer = Tracer::new(&program);
    let mut scene = Scene::new(&tracer);
    assert!(scene.coverage.is_complete(), "there are no goals");
    scene.executions = 1;
    assert_eq!(provenances(&mut sources("dfs", Vec::new()), ALL_COVERED, &mut scene), []);
    scene.executions = 0;
    let found = provenances(&mut sources("dfs", Vec::new()), ALL_COVERED, &mut scene);
    assert_eq!(found.first(), Some(&Provenance::Zero), "without goals there should be a test");
}

#[test]
fn random_inputs_are_all_there_is_for_a_strategy_without_candidates() {
    in_scene(|mut scene| {
        scene.cells = [(Key(1), (3, CellKind::Value))].into();
        let mut sources = sources("random-input", Vec::new());
        let found = provenances(&mut sources, SEARCH, &mut scene);
        assert_eq!(found[0], Provenance::Zero);
        assert!(found[1..].iter().all(|provenance| *provenance == Provenance::Random));
        assert_eq!(found.len(), 1 + 8, "each of the eight values once");
        let answer = sources.ask(SEARCH, true, &scene.view(), &mut Rng::new(1));
        assert_eq!(answer, Answer::Wait, "no other source is asked when chance repeats itself");
    });
}

#[test]
fn the_search_comes_before_pins_retries_and_bounds() {
    in_scene(|mut scene| {
        let (mut sources, mut rng) = (sources("dfs", Vec::new()), Rng::new(1));
        provenances(&mut sources, SEARCH, &mut scene);
        let (run, candidates) = scene.run(play, None);
        sources.tell(&News::Collected { run, candidates: &candidates }, &scene.view());
        let mut turns = Vec::new();
        while let Answer::Propose(Proposal::Flip(id)) = sources.ask(SEARCH, true, &scene.view(), &mut rng) {
            scene.pool.take(id);
            turns.push(scene.pool.candidate(id).turn);
            // the first one times out
            if turns.len() == 1 {
                sources.tell(&News::Unsolved { candidate: id, timed_out: true }, &scene.view());
            }
        }
        assert!(
            matches!(
                turns[..],
                [Turn::Step { .. }, Turn::Pin { .. }, Turn::Step { .. }, Turn::Bounds { .. }]
            ),
            "{turns:?}"
        );
    });
}

#[test]
fn bounds_are_asked_about_when_all_goals_are_covered() {
    in_scene(|mut scene| {
        let (mut sources, mut rng) = (sources("dfs", Vec::new()), Rng::new(1));
        provenances(&mut sources, SEARCH, &mut scene);
        let (run, candidates) = scene.run(play, None);
        sources.tell(&News::Collected { run, candidates: &candidates }, &scene.view());
        let answer = sources.ask(ALL_COVERED, true, &scene.view(), &mut rng);
        let Answer::Propose(Proposal::Flip(id)) = answer else { panic!("{answer:?}") };
        assert!(matches!(scene.pool.candidate(id).turn, Turn::Bounds { .. }));
        assert!(sources.bounds.is_empty());
        assert_eq!(sources.ask(ALL_COVERED, true, &scene.view(), &mut rng), Answer::Pass);
    });
}

#[test]
fn a_pin_that_led_to_a_new_path_is_worth_more_tries() {
    let program = program(vec![To::If(1, 2), To::If(2, 2), To::Return]);
    let tracer = Tracer::new(&program);
    let (mut scene, mut pinned) = (Scene::new(&tracer), PinnedAlternatives::default());
    let mut hear = |scene: &mut Scene<'_>, play, origin| {
        let (run, candidates) = scene.run(play, origin);
        pinned.heard(&News::Collected { run, candidates: &candidates }, &scene.view());
        (candidates, pinned.allowance())
    };
    let (candidates, at_first) = hear(&mut scene, play, None);
    let is_pin = |id: &&CandidateId| matches!(scene.pool.candidate(**id).turn, Turn::Pin { .. });
    let pin = candidates.iter().find(is_pin).copied();
    assert!(pin.is_some(), "the run has a pin");
    assert_eq!(hear(&mut scene, play, pin).1, at_first, "the same path again");
    let elsewhere = |machine: &mut Machine| {
        let x = machine.cell(1, 8);
        machine.equals(x, 0);
        machine.equals(x, 9);
    };
    assert!(hear(&mut scene, elsewhere, pin).1 > at_first);
}

#[test]
fn sizes_grow_in_turn_when_the_search_is_stuck() {
    in_scene(|mut scene| {
        scene.cells = [(Key(1), (32, CellKind::Size { most: 8 }))].into();
        let input = Input { values: [(Key(1), 2)].into() };
        scene.tests = vec![Test {
            id: coverage::TestId(1),
            input: input.clone(),
            provenance: Provenance::Zero,
            end: End::Returned,
            covers: Vec::new(),
            satisfies: Vec::new(),
            output: Output::default(),
            is_unchecked: false,
        }];
        let (mut growth, mut rng) = (Growth::default(), Rng::new(1));
        assert_eq!(growth.propose(Occasion::InTurn, &scene.view(), &mut rng), Answer::Pass);
        let (observations, distances) = (Default::default(), BTreeMap::new());
        let run = |origin| {
            News::Ran(RunNews {
                origin,
                provenance: Provenance::Zero,
                input: &input,
                observations: &observations,
                distances: &distances,
                cells: &[],
                without_influence: None,
                end: End::Returned,
                outside: None,
                covers_new: false,
                changed: false,
            })
        };
        for _ in 0..1000 {
            growth.heard(&run(Origin::Trial), &scene.view());
        }
        let answer = growth.propose(Occasion::InTurn, &scene.view(), &mut rng);
        assert_eq!(answer, Answer::Pass, "mutation that covers nothing is no sign");
        for _ in 0..256 {
            growth.heard(&run(Origin::Input), &scene.view());
        }
        let answer = growth.propose(Occasion::InTurn, &scene.view(), &mut rng);
        let input = Input { values: [(Key(1), 4)].into() };
        let provenance = Provenance::Grown;
        assert_eq!(answer, Answer::Propose(Proposal::Run { input, provenance, symbolic: true }));
    });
}
