//! Event sequences against brute force: on small random programs, paths are followed instruction by instruction.
//!
//! The oracle explores all states (place, events passed) that execution can get into. A function that calls nothing has exactly the
//! sequences that it finds; where functions are called, more may count as possible, and never fewer.

use std::collections::BTreeSet;
use std::fmt::Write;

use analysis::Place;
use analysis::chaining::{Chaining, Deciders, Event, Happening, Problem, Promise, SearchTree, Sequence};
use analysis::dataflow::{DataFlow, DataFlowOptions, DefinitionKind, ObjectId};
use analysis::icfg::Icfg;
use model::walk::{Choice, Site};
use model::{BlockId, FunctionId, Program, text};
use proptest::prelude::*;

const N_GLOBALS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Act {
    /// The global gets this value.
    Define(usize, u8),
    /// The second function is called, which defines this global.
    Call,
}

#[derive(Clone, Debug)]
struct Block {
    acts: Vec<Act>,
    /// Whether a global is 1 decides where control goes; none: the function returns.
    next: Option<(usize, usize, usize)>,
}

fn program(blocks: &[Block], callee_defines: usize) -> Program {
    let mut out = "program pointer 64 root f0\nfile file0 \"t.c\"\n".to_owned();
    let mut put = |line: String| writeln!(out, "{line}").expect("a string takes all");
    (0..60).for_each(|line| put(format!("span s{line} file0:{}:1", line + 1)));
    (0..N_GLOBALS).for_each(|g| put(format!("global g{g} \"g{g}\" exported size 4 align 4")));
    (0..N_GLOBALS).for_each(|g| put(format!("variable v{g} \"g{g}\" global at s0 in g{g}")));
    put("function f0 \"f0\" exported () -> void at s0 {".to_owned());
    let (mut instr, mut span) = (0, 1);
    let mut id = || {
        instr += 1;
        instr - 1
    };
    for (b, block) in blocks.iter().enumerate() {
        put(format!("b{b}:"));
        for act in &block.acts {
            span += 1;
            match act {
                Act::Define(g, value) => {
                    put(format!("  %{} = store i32 {value}, g{g} at s{span}", id()));
                }
                Act::Call => put(format!("  %{} = call void f1() at s{span}", id())),
            }
        }
        match block.next {
            None => put("  return".to_owned()),
            Some((g, then, otherwise)) => {
                span += 1;
                let (loaded, compared) = (id(), id());
                put(format!("  %{loaded} = load i32, g{g} at s{span}"));
                put(format!("  %{compared} = compare eq i32 %{loaded}, 1 at s{span}"));
                put(format!("  branch %{compared}, b{then}, b{otherwise}"));
            }
        }
    }
    put("}".to_owned());
    put("function f1 \"f1\" exported () -> void at s0 {".to_owned());
    put("b0:".to_owned());
    put(format!("  %0 = store i32 1, g{callee_defines} at s59"));
    put("  return".to_owned());
    put("}".to_owned());
    text::parse(&out).unwrap_or_else(|error| panic!("{error}\n{out}"))
}

/// The data flow and the graph of a program.
fn analysed(program: &Program) -> (DataFlow, Icfg) {
    let options = DataFlowOptions { roots: vec![FunctionId(0)], ..DataFlowOptions::default() };
    (DataFlow::of(program, &options), Icfg::new(program))
}

/// Places that follow a place, with the object that is defined at it for certain.
struct Machine<'p> {
    program: &'p Program,
    flow: &'p DataFlow,
}

/// Where control is, and where the callee returns to.
type Control = (Place, Option<Place>);

impl Machine<'_> {
    fn kills(&self, place: Place, object: ObjectId) -> bool {
        self.flow.kills(place.function, place.block, place.at..place.at + 1).any(|killed| killed == object)
    }

    fn next(&self, (place, back): Control) -> Vec<Control> {
        let block = self.program.function(place.function).block(place.block);
        let after = Place { at: place.at + 1, ..place };
        if let Some(op) = place.op(self.program) {
            return match op {
                model::Op::Call { .. } => vec![(Place::entry(FunctionId(1)), Some(after))],
                _ => vec![(after, back)],
            };
        }
        let to = |block: BlockId| (Place { function: place.function, block, at: 0 }, back);
        match &block.terminator {
            model::Terminator::Branch { then, otherwise, .. } => vec![to(*then), to(*otherwise)],
            model::Terminator::Return(_) => back.map(|back| (back, None)).into_iter().collect(),
            other => panic!("no program has {other:?}"),
        }
    }

    /// Whether a path passes all events in order and keeps what they keep.
    fn follows(&self, events: &[Event]) -> bool {
        let start: (Control, usize) = ((events[0].place, None), 1);
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        // at the place of event n - 1, which has happened
        while let Some((control, n)) = open.pop() {
            if n == events.len() {
                return true;
            }
            for control in self.next(control) {
                self.advance(control, n, events, &mut seen, &mut open);
            }
        }
        false
    }

    fn advance(
        &self,
        control: Control,
        n: usize,
        events: &[Event],
        seen: &mut BTreeSet<(Control, usize)>,
        open: &mut Vec<(Control, usize)>,
    ) {
        if control.0 == events[n].place && seen.insert((control, n + 1)) {
            open.push((control, n + 1));
        }
        let is_killed = events[n - 1].keeps.iter().any(|object| self.kills(control.0, *object));
        if !is_killed && seen.insert((control, n)) {
            open.push((control, n));
        }
    }
}

fn blocks(may_call: bool) -> impl Strategy<Value = Vec<Block>> {
    let define = (0..N_GLOBALS, 0..2_u8).prop_map(|(g, value)| Act::Define(g, value));
    let act = if may_call { prop_oneof![4 => define, 1 => Just(Act::Call)].boxed() } else { define.boxed() };
    let next = prop_oneof![
        5 => (0..N_GLOBALS, 0..9_usize, 0..9_usize).prop_map(Some),
        1 => Just(None),
    ];
    let block = (prop::collection::vec(act, 0..3), next).prop_map(|(acts, next)| Block { acts, next });
    prop::collection::vec(block, 2..6).prop_map(|mut blocks| {
        let n = blocks.len();
        for block in &mut blocks {
            block.next = block.next.map(|(g, then, otherwise)| (g, then % n, otherwise % n));
        }
        blocks
    })
}

/// All sequences up to two extensions for all branches, with what brute force says of them.
fn compare(blocks: &[Block], is_exact: bool) -> Result<(), TestCaseError> {
    let program = program(blocks, 0);
    let (flow, graph) = analysed(&program);
    let chaining = Chaining::new(&program, &graph, &flow);
    let machine = Machine { program: &program, flow: &flow };
    let problems: Vec<Problem> = (0..blocks.len())
        .filter(|block| blocks[*block].next.is_some())
        .flat_map(|block| {
            let site = Site::Branch(FunctionId(0), BlockId::new(block));
            Problem::at_site(&program, &flow, &Deciders::of(&program), site, Choice::Outcome(true))
        })
        .collect();
    for problem in &problems {
        let Some((_, then, _)) = blocks[problem.place.block.index()].next else { continue };
        let goal = Place { function: FunctionId(0), block: BlockId::new(then), at: 0 };
        let root = Sequence::new(Place::entry(FunctionId(0)), goal);
        let mut tree = SearchTree::new(root);
        let first = tree.expand(&chaining, 0, 0, problem);
        for number in first.clone().take(4) {
            for other in &problems {
                tree.expand(&chaining, number, 0, other);
            }
        }
        for number in 1..tree.n_sequences() {
            let events = &tree.node(number).sequence.events;
            let follows = machine.follows(events);
            prop_assert!(!is_exact || follows, "no path follows {events:?}\n{}", text::print(&program));
        }
        // what a definition makes of the root without being possible must be impossible for brute force as well
        for use_ in &problem.uses {
            for definition in chaining.definitions_of(*use_) {
                let defined = flow.definition(definition);
                if defined.kind == DefinitionKind::Initial {
                    continue;
                }
                let event = |place: Place, keeps: &[ObjectId]| Event {
                    place,
                    happening: Happening::Reached,
                    keeps: keeps.iter().copied().collect(),
                };
                let place = defined.places[0];
                let (entry, object) = (Place::entry(FunctionId(0)), defined.object);
                let events = vec![
                    event(entry, &[]),
                    event(place, &[object]),
                    event(problem.place, &[]),
                    event(goal, &[]),
                ];
                let same = |found: &[Event]| {
                    found.len() == events.len()
                        && found.iter().zip(&events).all(|(a, b)| (a.place, &a.keeps) == (b.place, &b.keeps))
                };
                let is_found = first.clone().any(|number| same(&tree.node(number).sequence.events));
                prop_assert_eq!(is_found || place == entry, machine.follows(&events) || place == entry);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sequences_of_one_function_are_those_that_a_path_follows(blocks in blocks(false)) {
        compare(&blocks, true)?;
    }

    #[test]
    fn with_calls_nothing_that_a_path_follows_is_missing(blocks in blocks(true)) {
        compare(&blocks, false)?;
    }
}

/// A flag that is 1 at first and that a loop may clear: `CheckArray` of the paper, with `g1` as the array's say.
fn check_array() -> Program {
    let block = |acts: &[Act], next: Option<(usize, usize, usize)>| Block { acts: acts.to_vec(), next };
    program(
        &[
            block(&[], Some((2, 1, 1))),
            block(&[Act::Define(0, 1)], Some((2, 2, 2))),
            // the loop
            block(&[], Some((2, 3, 5))),
            block(&[], Some((1, 2, 4))),
            block(&[Act::Define(0, 0)], Some((2, 2, 2))),
            block(&[], Some((0, 6, 7))),
            block(&[], None),
            block(&[], None),
        ],
        1,
    )
}

#[test]
fn the_definition_that_solves_the_problem_comes_first() {
    let program = check_array();
    let (flow, graph) = analysed(&program);
    let chaining = Chaining::new(&program, &graph, &flow);
    let place = |block: u32, at: u32| Place { function: FunctionId(0), block: BlockId(block), at };
    let site = Site::Branch(FunctionId(0), BlockId(5));
    let [problem] =
        &Problem::at_site(&program, &flow, &Deciders::of(&program), site, Choice::Outcome(true))[..]
    else {
        panic!("one branch")
    };
    let root = Sequence::new(Place::entry(FunctionId(0)), place(6, 0));
    let found = chaining.extend(&root, 0, problem);
    let told: Vec<(Place, Promise)> =
        found.iter().map(|one| (one.sequence.events[one.defined].place, one.promise)).collect();
    assert_eq!(told, [(place(1, 0), Promise::Solves), (place(4, 0), Promise::Fails)]);
    let places: Vec<Place> = found[0].sequence.events.iter().map(|event| event.place).collect();
    assert_eq!(places, [place(0, 0), place(1, 0), problem.place, place(6, 0)]);
    let defined = &found[0].sequence.events[1];
    assert_eq!(defined.keeps.len(), 1, "the flag must last until the problem");
}
