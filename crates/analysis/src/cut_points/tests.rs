//! Cut points against walks with explicit call stacks, on random programs.

use std::cell::Cell;
use std::collections::BTreeSet;

use model::{BlockId, Callee, Op, Program, Terminator};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::call_graph::address_taken;
use crate::random::{Blocks, Do, any_program, program};

/// Calls that a walk makes at most without coming back; more than most of these programs need to go anywhere.
const MAX_DEPTH: usize = 5;
/// The same, where no such walk was found but there should be one.
const MORE_DEPTH: usize = 9;

/// Added to the number of a call's instruction: in the code that is not known that it called.
const OUTSIDE: u32 = 1 << 31;

/// How a walk treats an activation it enters, or one that was there at the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// It will return, before the definition or between definition and use.
    ComesBack,
    /// It stays until the definition, or until the use if it begins after the definition.
    Stays,
}

/// A moment of a walk: just before an instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    place: Place,
    /// Where to return to, outermost first; the fate is that of the activation above.
    stack: Vec<(Place, Fate)>,
    fate: Fate,
    /// After the definition: how many activations were open there (fewer once some have returned).
    defined: Option<usize>,
    /// How many places of a sequence have been passed.
    n_passed: usize,
}

struct Walker<'a> {
    program: &'a Program,
    definition: DefinedValue<'a>,
    used: Place,
    /// Passed in order, when it is a sequence that is checked.
    sequence: Option<&'a CutPoints>,
    /// Never to be passed in an activation that stays: before the definition, or behind it.
    avoided: Option<(Place, bool)>,
    max_depth: usize,
}

impl Walker<'_> {
    /// A walk over the definition to the use that avoids what it must, or does not pass the sequence.
    fn finds_a_walk(&self) -> bool {
        let start = Moment {
            place: Place::entry(FunctionId(0)),
            stack: Vec::new(),
            fate: Fate::Stays,
            defined: None,
            n_passed: 0,
        };
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(moment) = open.pop() {
            let Some(moment) = self.arrive(moment) else { continue };
            if !seen.insert(moment.clone()) {
                continue;
            }
            if self.is_end(&moment) {
                return true;
            }
            open.extend(self.steps(&moment));
        }
        false
    }

    /// Counts the places of the sequence, and refuses what is to be avoided.
    fn arrive(&self, mut moment: Moment) -> Option<Moment> {
        if let Some((avoided, behind)) = self.avoided {
            let stays = moment.fate == Fate::Stays && behind == moment.defined.is_some();
            if stays && moment.place == avoided {
                return None;
            }
        }
        if let Some(sequence) = self.sequence {
            let next = sequence.places.get(moment.n_passed);
            let waits = moment.n_passed != sequence.definition || moment.defined.is_some();
            moment.n_passed += usize::from(waits && next == Some(&moment.place));
        }
        Some(moment)
    }

    fn is_end(&self, moment: &Moment) -> bool {
        let Some(n_open) = moment.defined else { return false };
        let here = moment.place == self.used && moment.fate == Fate::Stays;
        let same = self.definition.extent != Extent::Activation || moment.stack.len() == n_open;
        let missed = self.sequence.is_none_or(|sequence| moment.n_passed < sequence.places.len());
        here && same && missed
    }

    fn steps(&self, moment: &Moment) -> Vec<Moment> {
        let (program, place) = (self.program, moment.place);
        let next = |moment: &Moment| Moment { place: Place { at: place.at + 1, ..place }, ..moment.clone() };
        let own = self.definition.extent != Extent::Activation || moment.defined == Some(moment.stack.len());
        let is_killed = moment.defined.is_some() && own && self.definition.kills.contains(&place);
        let mut steps = Vec::new();
        let may_define = place == self.definition.place && self.has_owner(moment);
        if may_define && moment.defined.is_none() && moment.fate == Fate::Stays {
            let n_passed = match self.sequence {
                // one that is missing can never be made up for
                Some(sequence) if moment.n_passed < sequence.definition => 0,
                Some(sequence) => sequence.definition + 1,
                None => 0,
            };
            let defined = Moment { defined: Some(moment.stack.len()), n_passed, ..moment.clone() };
            steps.push(next(&defined));
        }
        if is_killed {
            return steps;
        }
        if place.at >= OUTSIDE {
            for callee in address_taken(program).into_iter().filter(|_| moment.stack.len() < self.max_depth) {
                steps.extend(self.enter(moment, callee, place));
            }
            let back = Place { at: place.at - OUTSIDE + 1, ..place };
            steps.push(Moment { place: back, ..moment.clone() });
            return steps;
        }
        let function = program.function(place.function);
        match place.op(program) {
            Some(Op::Call { callee: Callee::Direct(callee), .. })
                if !program.function(*callee).is_defined() =>
            {
                let outside = Place { at: place.at + OUTSIDE, ..place };
                steps.push(Moment { place: outside, ..moment.clone() });
            }
            Some(Op::Call { callee, .. }) => {
                let callees = match callee {
                    Callee::Direct(callee) => vec![*callee],
                    Callee::Indirect(_) => address_taken(program).into_iter().collect(),
                };
                for callee in callees.into_iter().filter(|_| moment.stack.len() < self.max_depth) {
                    steps.extend(self.enter(moment, callee, next(moment).place));
                }
                // the graph does not say which functions an indirect call enters, and lets it come back
                if matches!(callee, Callee::Indirect(_)) {
                    steps.push(next(moment));
                }
            }
            Some(_) => steps.push(next(moment)),
            None => match &function.block(place.block).terminator {
                Terminator::Return(_) => steps.extend(self.leave(moment)),
                terminator => steps.extend(
                    terminator
                        .successors()
                        .into_iter()
                        .map(|block| Moment { place: Place { block, at: 0, ..place }, ..moment.clone() }),
                ),
            },
        }
        steps
    }

    /// Whether the function is active whose variable is defined.
    fn has_owner(&self, moment: &Moment) -> bool {
        match self.definition.extent {
            Extent::Activation | Extent::Program => true,
            Extent::Below(owner) => {
                let mut open = moment.stack.iter().map(|(place, _)| place.function);
                moment.place.function == owner || open.any(|function| function == owner)
            }
        }
    }

    fn enter(&self, moment: &Moment, callee: FunctionId, back: Place) -> Vec<Moment> {
        let fates = match moment.fate {
            Fate::ComesBack => vec![Fate::ComesBack],
            Fate::Stays => vec![Fate::ComesBack, Fate::Stays],
        };
        let enter = |fate| Moment {
            place: Place::entry(callee),
            stack: [moment.stack.clone(), vec![(back, moment.fate)]].concat(),
            fate,
            ..moment.clone()
        };
        fates.into_iter().map(enter).collect()
    }

    fn leave(&self, moment: &Moment) -> Option<Moment> {
        let mut stack = moment.stack.clone();
        let (place, fate) = stack.pop()?;
        // what was open at the definition may be left, if the value lives on
        let was_open = moment.defined.is_some_and(|n_open| moment.stack.len() <= n_open);
        let may_leave = match moment.fate {
            Fate::ComesBack => true,
            Fate::Stays => {
                let lives = match self.definition.extent {
                    Extent::Activation => false,
                    Extent::Below(owner) => moment.place.function != owner,
                    Extent::Program => true,
                };
                was_open && lives
            }
        };
        let defined = moment.defined.map(|n_open| n_open.min(stack.len()));
        may_leave.then(|| Moment { place, stack, fate, defined, ..moment.clone() })
    }
}

fn check(functions: &[Blocks], definition: DefinedValue<'_>, used: Place) -> Result<bool, TestCaseError> {
    let program = program(functions);
    let graph = Icfg::new(&program);
    let routes = Routes::of(&graph);
    let dominance = Dominance::of(&graph, &routes, FunctionId(0));
    let cut_points = dominance.downstream(definition).cut_points(used);
    let walker = |sequence, avoided, max_depth| Walker {
        program: &program,
        definition,
        used,
        sequence,
        avoided,
        max_depth,
    };
    let walks = |avoided| walker(None, avoided, MAX_DEPTH).finds_a_walk();
    let walks_deeper = |avoided| walker(None, avoided, MORE_DEPTH).finds_a_walk();
    let told = |what: &str| format!("{what} of {definition:?} -> {used} are {cut_points:?} in {functions:?}");
    let is_covered = walks(None) || cut_points.is_some() && walks_deeper(None);
    prop_assert_eq!(is_covered, cut_points.is_some(), "{}", told("the cut points"));
    if definition.kills.is_empty() {
        let asked = dominance.downstream_of(definition.place, definition.extent, &[used]).cut_points(used);
        prop_assert_eq!(
            &asked,
            &cut_points,
            "{}",
            told("without looking further than the use, the cut points")
        );
    }
    let Some(found) = &cut_points else { return Ok(false) };
    prop_assert!(!walker(Some(found), None, MAX_DEPTH).finds_a_walk(), "{}", told("too many"));
    // neither which activation of a recursive function defines is told apart, nor which functions an indirect call enters
    let calls_any = functions
        .iter()
        .flatten()
        .any(|(code, _)| code.iter().any(|doing| matches!(doing, Do::CallAny | Do::CallUnknown)));
    let mut callers = (0..).map(FunctionId).take(functions.len());
    let is_vague = calls_any
        || callers.any(|caller| {
            let entered = entered(&graph, caller);
            entered.contains(&caller) && entered.contains(&definition.place.function)
        });
    for node in graph.ids() {
        let place = graph.node(node).place();
        let (before, behind) = found.places.split_at(found.definition);
        for (is_behind, cuts) in [(false, before), (true, behind)] {
            if !is_behind && is_vague {
                continue;
            }
            let here = |cut: &Place| graph.at(*cut) == node;
            let is_cut = cuts.iter().any(here) || !is_behind && graph.at(definition.place) == node;
            let side = if is_behind { "behind" } else { "before" };
            let avoided = Some((place, is_behind));
            let is_avoidable = || walks(avoided) || walks_deeper(avoided);
            prop_assert!(is_cut || is_avoidable(), "{} ({place} {side} is missing)", told("too few"));
        }
    }
    Ok(true)
}

/// What may be entered while a function is active.
fn entered(graph: &Icfg, function: FunctionId) -> BTreeSet<FunctionId> {
    let mut entered = BTreeSet::new();
    let mut open = vec![function];
    while let Some(caller) = open.pop() {
        for node in graph.nodes_of(caller).map(NodeId) {
            let callees = match graph.node(node).exit {
                Exit::Call { callees: Callees::One(callee), .. } => vec![callee],
                Exit::Call { callees: Callees::Indirect | Callees::Unknown, .. } => {
                    graph.address_taken.clone()
                }
                Exit::Jump(_) | Exit::Choose(_) | Exit::Follow(_) | Exit::Return | Exit::Dead => Vec::new(),
            };
            open.extend(callees.into_iter().filter(|callee| entered.insert(*callee)));
        }
    }
    entered
}

/// A function that is not recursive, chosen by a number.
fn owner(functions: &[Blocks], chosen: usize) -> Option<FunctionId> {
    let program = program(functions);
    let graph = Icfg::new(&program);
    let may: Vec<FunctionId> =
        (0..).map(FunctionId).take(functions.len()).filter(|id| !entered(&graph, *id).contains(id)).collect();
    (!may.is_empty()).then(|| may[chosen % may.len()])
}

/// A place of a program chosen by a number.
fn place(functions: &[Blocks], chosen: usize, may: impl Fn(Option<&Do>) -> bool) -> Option<Place> {
    let mut places = Vec::new();
    for (function, blocks) in (0..).map(FunctionId).zip(functions) {
        for (block, (code, _)) in (0..).map(BlockId).zip(blocks) {
            let ats = code.iter().map(Some).chain([None]).zip(0..).filter(|(doing, _)| may(*doing));
            places.extend(ats.map(|(_, at)| Place { function, block, at }));
        }
    }
    (!places.is_empty()).then(|| places[chosen % places.len()])
}

#[test]
fn cut_points_are_what_walks_cannot_avoid() {
    let config = ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let pair = (prop::array::uniform4(0..1000_usize), 0..3_usize, 0..3_u32);
    // pairs that a walk covers, and those of them where control leaves the function of the definition
    let (n_covered, n_elsewhere) = (Cell::new(0), Cell::new(0));
    let cases = (any_program(), prop::collection::vec(pair, 6));
    let result = runner.run(&cases, |(functions, pairs)| {
        for (chosen, n_kills, everywhere) in pairs {
            let nothing = |doing: Option<&Do>| matches!(doing, Some(Do::Nothing));
            let defined = place(&functions, chosen[0], nothing);
            let (Some(defined), Some(used)) = (defined, place(&functions, chosen[1], |_| true)) else {
                continue;
            };
            let killing = chosen[2..].iter().filter_map(|chosen| place(&functions, *chosen, nothing));
            let kills = killing.take(n_kills).collect();
            let extent = match everywhere {
                0 => Extent::Activation,
                1 => Extent::Program,
                _ => match owner(&functions, chosen[3]) {
                    Some(owner) => Extent::Below(owner),
                    None => continue,
                },
            };
            if check(&functions, DefinedValue { place: defined, extent, kills: &kills }, used)? {
                n_covered.set(n_covered.get() + 1);
                n_elsewhere.set(n_elsewhere.get() + u32::from(used.function != defined.function));
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(n_covered.get() > 200 && n_elsewhere.get() > 40, "{} {}", n_covered.get(), n_elsewhere.get());
}
