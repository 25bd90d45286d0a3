//! Paths of hand-made logs.

use model::ConditionId;

use super::*;
use crate::executor::Output;
use crate::testing::{Machine, Sym, To, program};

fn trace(program: &Program, machine: &Machine, end: End) -> Result<Trace, TraceError> {
    Tracer::new(program).trace(&machine.execution(end, &Output::default()), None, &|| false)
}

fn two_conditions() -> Program {
    program(vec![To::If(1, 2), To::If(2, 2), To::Return])
}

#[test]
fn only_steps_with_expressions_are_kept() {
    let program = two_conditions();
    let mut machine = Machine::default();
    machine.outcome(true, 0);
    machine.outcome(false, 7);
    let trace = trace(&program, &machine, End::Returned).expect("fits");
    assert_eq!(trace.n_outcomes, 2);
    let [step] = trace.steps[..] else { panic!("one step: {:?}", trace.steps) };
    assert_eq!(step.site, Site::Condition(ConditionId(1)));
    assert_eq!((step.taken, step.node, step.position), (Choice::Outcome(false), NodeId(7), 1));
    let first = PathHash::EMPTY.then(Site::Condition(ConditionId(0)), Choice::Outcome(true));
    assert_eq!(step.prefix, first, "the concrete step is part of the path");
}

#[test]
fn notes_keep_their_place_between_steps() {
    let program = two_conditions();
    let mut machine = Machine::default();
    machine.outcome(true, 1);
    machine.log.extend([9, 5, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4]);
    machine.log.extend([10, 6, 0, 0, 0]);
    machine.outcome(true, 2);
    let trace = trace(&program, &machine, End::Returned).expect("fits");
    let place = Some(LogPlace::Site(1));
    let pin = Note::Pin { node: NodeId(5), value: 3, place };
    assert_eq!(trace.notes, [pin, Note::Assume { node: NodeId(6) }]);
    let before: Vec<u32> = trace.steps.iter().map(|step| step.n_notes).collect();
    assert_eq!(before, [0, 2]);
    let [pin] = trace.pins[..] else { panic!("one pin: {:?}", trace.pins) };
    assert_eq!((pin.note, pin.value, pin.n_steps, pin.before.n_outcomes), (0, 3, 1, 1));
    assert_eq!(pin.before.path, trace.steps[1].prefix);
}

#[test]
fn the_same_choices_behind_pointers_to_other_objects_are_another_path() {
    let program = two_conditions();
    let walked = |address: u64| {
        let mut machine = Machine::default();
        machine.outcome(true, 1);
        machine.pointer(Sym { value: address, node: 5, width: 64 });
        machine.outcome(true, 2);
        trace(&program, &machine, End::Returned).expect("fits")
    };
    let (a, b) = (walked(16), walked(32));
    let choice = Choice::Outcome(false);
    assert_eq!(a.steps[0].name_with(choice), b.steps[0].name_with(choice));
    assert_eq!(a.steps[1].path_with(choice), b.steps[1].path_with(choice));
    assert_ne!(a.steps[1].name_with(choice), b.steps[1].name_with(choice));
}

#[test]
fn the_same_choices_behind_an_access_outside_of_its_object_are_another_path() {
    let program = two_conditions();
    let walked = |goes_outside: bool| {
        let mut machine = Machine::default();
        machine.outcome(true, 1);
        if goes_outside {
            machine.outside();
        }
        machine.outcome(true, 2);
        trace(&program, &machine, End::Returned).expect("fits")
    };
    let (inside, outside) = (walked(false), walked(true));
    let choice = Choice::Outcome(false);
    assert_eq!(inside.steps[0].name_with(choice), outside.steps[0].name_with(choice));
    assert_ne!(inside.steps[1].name_with(choice), outside.steps[1].name_with(choice));
}

#[test]
fn accesses_are_named_by_their_place() {
    let program = two_conditions();
    let mut machine = Machine::default();
    machine.outcome(true, 1);
    machine.within(5, 9);
    machine.within(6, 9);
    machine.outcome(true, 2);
    let trace = trace(&program, &machine, End::Returned).expect("fits");
    let [first, second] = trace.accesses[..] else { panic!("two accesses: {:?}", trace.accesses) };
    assert_eq!((first.note, first.place, first.n_steps, first.before.n_outcomes), (0, SpanId(9), 1, 1));
    assert_ne!(first.path, second.path);
    let note = Note::Bounds { node: NodeId(6), place: Some(SpanId(9)), is_pinned: false };
    assert_eq!(trace.notes[1], note);
}

#[test]
fn a_case_beyond_the_list_is_the_default() {
    let program = program(vec![To::Switch(vec![(3, 1), (9, 1)], 1), To::Return]);
    let choice = |case| {
        let mut machine = Machine::default();
        machine.case(case, 1);
        let trace = trace(&program, &machine, End::Returned).expect("fits");
        (trace.steps[0].taken, alternatives(&program, &trace.steps[0]))
    };
    assert_eq!(choice(1), (Choice::Case(1), vec![Choice::Case(0), Choice::Default]));
    assert_eq!(choice(2), (Choice::Default, vec![Choice::Case(0), Choice::Case(1)]));
}

#[test]
fn divergence_is_seen_at_the_predicted_place() {
    let program = two_conditions();
    let mut machine = Machine::default();
    machine.outcome(true, 1);
    machine.outcome(true, 2);
    let path = trace(&program, &machine, End::Returned).expect("fits").steps[1];
    let expect = |choice| {
        let expectation = Expectation { n_outcomes: 2, path: path.path_with(choice) };
        let output = Output::default();
        let execution = machine.execution(End::Returned, &output);
        Tracer::new(&program).trace(&execution, Some(expectation), &|| false).expect("fits").as_expected
    };
    assert!(expect(Choice::Outcome(true)));
    assert!(!expect(Choice::Outcome(false)));
}

#[test]
fn a_run_too_short_for_its_prediction_diverged() {
    let program = two_conditions();
    let mut machine = Machine::default();
    machine.outcome(false, 1);
    let expectation = Expectation { n_outcomes: 2, path: PathHash::EMPTY };
    let output = Output::default();
    let execution = machine.execution(End::Returned, &output);
    let trace = Tracer::new(&program).trace(&execution, Some(expectation), &|| false).expect("fits");
    assert!(!trace.as_expected);
}

#[test]
fn a_path_that_goes_on_from_another_is_the_same_as_one_from_the_start() {
    // a loop: the first condition leaves it
    let program = program(vec![To::If(2, 1), To::If(0, 0), To::Return]);
    let n_rounds = 100_000_u32;
    let run = |turn: u32, n_symbolic: u32| {
        let mut machine = Machine::default();
        for round in 0..n_rounds {
            machine.outcome(false, if round % 10_000 < n_symbolic { round + 1 } else { 0 });
            machine.outcome(round >= turn, 0);
        }
        machine.outcome(true, 9);
        machine
    };
    let (tracer, output) = (Tracer::new(&program), Output::default());
    let mut prefixes = PrefixCache::default();
    for (turn, n_symbolic) in
        [(90_000, 1), (50_000, 1), (50_000, 1), (60_000, 1), (60_000, 900), (3, 1), (n_rounds, 1)]
    {
        let machine = run(turn, n_symbolic);
        let execution = machine.execution(End::Returned, &output);
        let whole = tracer.trace(&execution, None, &|| false).expect("fits");
        let last = *whole.steps.last().expect("the last outcome has an expression");
        for step in [whole.steps[0], last] {
            for choice in [true, false].map(Choice::Outcome) {
                let expected = Some(step.expectation(choice));
                let resumed = tracer.trace_after(&mut prefixes, &execution, expected, &|| false);
                let as_expected = choice == step.taken;
                assert_eq!(resumed, Ok(Trace { as_expected, ..whole.clone() }), "{turn} {n_symbolic}");
            }
        }
    }
}

#[test]
fn an_entry_cut_short_is_forgiven_only_to_a_run_that_died() {
    let program = two_conditions();
    let mut machine = Machine::default();
    machine.outcome(true, 0);
    machine.log.extend([3, 0]);
    let died = trace(&program, &machine, End::TimedOut).expect("fits");
    assert_eq!((died.n_outcomes, died.end), (1, WalkEnd::CutOff(FunctionId(0), BlockId(1))));
    let returned = trace(&program, &machine, End::Returned);
    assert_eq!(returned, Err(TraceError::Log(EventError::CutShort { at: 1 })));
}

#[test]
fn a_log_of_another_program_is_refused() {
    let mut machine = Machine::default();
    machine.case(0, 1);
    assert!(matches!(trace(&two_conditions(), &machine, End::Returned), Err(TraceError::Walk(_))));
}

#[test]
fn different_choices_give_different_paths() {
    let sites = [
        Site::Condition(ConditionId(1)),
        Site::Branch(FunctionId(0), BlockId(1)),
        Site::Switch(FunctionId(0), BlockId(1)),
    ];
    let choices =
        [Choice::Outcome(false), Choice::Outcome(true), Choice::Case(0), Choice::Case(1), Choice::Default];
    let mut paths = std::collections::BTreeSet::new();
    for first in sites {
        for choice in choices {
            for second in sites {
                paths.insert(PathHash::EMPTY.then(first, choice).then(second, Choice::Outcome(true)));
            }
        }
    }
    assert_eq!(paths.len(), 45);
}
