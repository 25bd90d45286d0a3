//! Pairs against brute force: every path of small random programs is walked, definition by definition.
//!
//! The oracle knows nothing of summaries or sets: it explores all states (call stack, newest definition of each object) that
//! execution can get into, and notes which definition each use meets. Calls go to later functions only, so there are finitely
//! many; with recursion the stack is bounded, and what is found must be among the pairs.

use std::collections::BTreeSet;
use std::fmt::Write;

use analysis::dataflow::{DataFlow, DataFlowOptions};
use model::{Program, text};
use proptest::prelude::*;

/// What an instruction does; variables are numbered globals first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Define(usize),
    Use(usize),
    Call(usize),
    /// The run ends here.
    Exit,
}

#[derive(Clone, Debug)]
struct Block {
    acts: Vec<Act>,
    /// None: the function returns.
    next: Option<(usize, usize)>,
}

type Functions = Vec<Vec<Block>>;

const N_GLOBALS: usize = 2;
const N_LOCALS: usize = 2;

/// A pair by the lines of its ends; line 0 for initial values.
type Found = BTreeSet<(usize, u32, u32)>;

/// The line of an act: each has its own.
fn line(functions: &Functions, function: usize, block: usize, at: usize) -> u32 {
    let before = functions[..function].iter().flatten().map(|block| block.acts.len());
    let within = functions[function][..block].iter().map(|block| block.acts.len());
    u32::try_from(before.chain(within).sum::<usize>() + at + 10).expect("small")
}

fn program(functions: &Functions) -> Program {
    let n_lines = functions.iter().flatten().map(|block| block.acts.len()).sum::<usize>() + 20;
    let mut out = "program pointer 64 root f0\nfile file0 \"t.c\"\n".to_owned();
    let mut put = |line: String| writeln!(out, "{line}").expect("a string takes all");
    (0..n_lines).for_each(|line| put(format!("span s{line} file0:{}:1", line + 1)));
    (0..N_GLOBALS).for_each(|g| put(format!("global g{g} \"g{g}\" exported size 4 align 4")));
    (0..N_GLOBALS).for_each(|g| put(format!("variable v{g} \"g{g}\" global at s0 in g{g}")));
    for f in 0..functions.len() {
        for x in 0..N_LOCALS {
            let v = N_GLOBALS + f * N_LOCALS + x;
            put(format!("variable v{v} \"x{x}\" local at s1 in f{f} %{x}"));
        }
    }
    for (f, blocks) in functions.iter().enumerate() {
        put(format!("function f{f} \"f{f}\" exported () -> void at s0 {{"));
        let mut instr = 0;
        let mut next = || {
            instr += 1;
            instr - 1
        };
        for (b, block) in blocks.iter().enumerate() {
            put(format!("b{b}:"));
            if b == 0 {
                (0..N_LOCALS).for_each(|_| put(format!("  %{} = alloca 4 align 4", next())));
            }
            let mut ends = false;
            for (at, act) in block.acts.iter().enumerate() {
                let span = line(functions, f, b, at) - 1;
                let place = |v: usize| match v.checked_sub(N_GLOBALS) {
                    None => format!("g{v}"),
                    Some(x) => format!("%{x}"),
                };
                let id = next();
                match act {
                    Act::Define(v) => put(format!("  %{id} = store i32 1, {} at s{span}", place(*v))),
                    Act::Use(v) => put(format!("  %{id} = load i32, {} at s{span}", place(*v))),
                    Act::Call(callee) => put(format!("  %{id} = call void f{callee}() at s{span}")),
                    Act::Exit => {
                        put(format!("  %{id} = call void f{}() at s{span}", functions.len()));
                        ends = true;
                    }
                }
            }
            put(match block.next {
                _ if ends => "  unreachable".to_owned(),
                None => "  return".to_owned(),
                Some((a, b)) => format!("  branch 1, b{a}, b{b}"),
            });
        }
        put("}".to_owned());
    }
    put(format!("function f{} \"exit\" external () -> void no_return", functions.len()));
    text::parse(&out).unwrap_or_else(|error| panic!("{error}\n{out}"))
}

/// Lines of the pairs that the analysis finds.
fn analysed(functions: &Functions) -> Found {
    let program = program(functions);
    let flow = DataFlow::of(
        &program,
        &DataFlowOptions { roots: program.root.into_iter().collect(), ..DataFlowOptions::default() },
    );
    let line = |span: Option<model::SpanId>| span.map_or(0, |span| program.span(span).at.line);
    let pair = |pair: analysis::dataflow::Pair| {
        let (definition, use_) = (flow.definition(pair.definition), flow.use_(pair.use_));
        let variable = flow.object(definition.object).variable.expect("there are no results").index();
        // an initial value has the line of its variable
        let from = line(definition.span);
        (variable, if from == 1 { 0 } else { from }, line(use_.span))
    };
    flow.pairs().map(|(_, found)| pair(found)).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    function: usize,
    block: usize,
    at: usize,
    locals: [Option<u32>; N_LOCALS],
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    frames: Vec<Frame>,
    globals: [Option<u32>; N_GLOBALS],
}

/// Lines of the pairs that executions show, with at most so many frames.
fn executed(functions: &Functions, max_depth: usize) -> Found {
    let enter = |function| Frame { function, block: 0, at: 0, locals: [None; N_LOCALS] };
    let start = State { frames: vec![enter(0)], globals: [Some(0); N_GLOBALS] };
    let mut seen = BTreeSet::from([start.clone()]);
    let (mut open, mut found) = (vec![start], Found::new());
    while let Some(mut state) = open.pop() {
        let depth = state.frames.len();
        let Some(frame) = state.frames.last_mut() else { continue };
        let block = &functions[frame.function][frame.block];
        let mut next = Vec::new();
        match block.acts.get(frame.at).copied() {
            Some(act) => {
                let at = line(functions, frame.function, frame.block, frame.at);
                frame.at += 1;
                let function = frame.function;
                let slot = |state: &mut State, v: usize, set: Option<u32>| -> Option<u32> {
                    let place = match v.checked_sub(N_GLOBALS) {
                        None => &mut state.globals[v],
                        Some(x) => &mut state.frames.last_mut().expect("it runs").locals[x],
                    };
                    if set.is_some() {
                        *place = set;
                    }
                    *place
                };
                match act {
                    Act::Define(v) => {
                        slot(&mut state, v, Some(at));
                        next.push(state);
                    }
                    Act::Use(v) => {
                        if let Some(from) = slot(&mut state, v, None) {
                            let id = if v < N_GLOBALS { v } else { v + function * N_LOCALS };
                            found.insert((id, from, at));
                        }
                        next.push(state);
                    }
                    Act::Call(callee) if depth < max_depth => {
                        state.frames.push(enter(callee));
                        next.push(state);
                    }
                    Act::Call(_) | Act::Exit => {}
                }
            }
            None => match block.next {
                None => {
                    state.frames.pop();
                    next.push(state);
                }
                Some((a, b)) => {
                    for to in [a, b] {
                        let mut state = state.clone();
                        let frame = state.frames.last_mut().expect("it runs");
                        (frame.block, frame.at) = (to, 0);
                        next.push(state);
                    }
                }
            },
        }
        open.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
    }
    found
}

/// Functions that call later ones only, or any.
fn functions(may_recur: bool) -> impl Strategy<Value = Functions> {
    let n_functions = 3usize;
    let function = move |number: usize| {
        let first = if may_recur { 0 } else { number + 1 };
        let act = (0..12usize, 0..N_GLOBALS + N_LOCALS, first..=n_functions.max(first)).prop_map(
            move |(what, variable, callee)| match what {
                0..4 => Act::Define(variable),
                4..9 => Act::Use(variable),
                9..11 if callee < n_functions => Act::Call(callee),
                _ if what == 11 => Act::Exit,
                _ => Act::Use(variable),
            },
        );
        let acts = prop::collection::vec(act, 0..4).prop_map(|mut acts| {
            if let Some(exit) = acts.iter().position(|act| *act == Act::Exit) {
                acts.truncate(exit + 1);
            }
            acts
        });
        (1..5usize).prop_flat_map(move |n_blocks| {
            let next = prop::option::weighted(0.7, (0..n_blocks, 0..n_blocks));
            prop::collection::vec((acts.clone(), next), n_blocks).prop_map(|blocks| {
                blocks.into_iter().map(|(acts, next)| Block { acts, next }).collect::<Vec<_>>()
            })
        })
    };
    (function(0), function(1), function(2)).prop_map(|(a, b, c)| {
        let mut all = vec![a, b, c];
        // the entry of a function has no predecessors
        for blocks in &mut all {
            for block in blocks.iter_mut() {
                block.next = block.next.map(|(a, b)| (a + 1, b + 1));
            }
            blocks.insert(0, Block { acts: Vec::new(), next: Some((1, 1)) });
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pairs_are_those_of_all_paths(functions in functions(false)) {
        prop_assert_eq!(analysed(&functions), executed(&functions, 4));
    }

    #[test]
    fn recursion_shows_no_other_pairs(functions in functions(true)) {
        let (analysed, executed) = (analysed(&functions), executed(&functions, 3));
        prop_assert!(executed.is_subset(&analysed), "{:?}", executed.difference(&analysed));
    }
}

#[test]
fn what_a_callee_defines_reaches_the_caller_and_nobody_else() {
    let block = |acts: &[Act], next| Block { acts: acts.to_vec(), next };
    // f0 calls f1, which defines g0, and uses it; f2 is never called
    let functions = vec![
        vec![block(&[Act::Define(0), Act::Call(1), Act::Use(0)], None)],
        vec![block(&[Act::Define(0)], None)],
        vec![block(&[Act::Use(0)], None)],
    ];
    assert_eq!(analysed(&functions), Found::from([(0, 13, 12)]));
}

#[test]
fn a_condition_joined_in_a_value_goes_one_way() {
    // while (a || (x = 1)) x is defined whenever the loop is left, although its code has one block for both outcomes
    let text = "program pointer 64 root f0\nfile file0 \"t.c\"\n\
        span s0 file0:1:1\nspan s1 file0:2:1\nspan s2 file0:3:1\nspan s3 file0:4:1\n\
        variable v0 \"x\" local at s0 in f0 %0\n\
        function f0 \"f\" exported (i1) -> void at s0 {\n\
        b0:\n %0 = alloca 4 align 4\n %1 = store i32 0, %0 at s1\n jump b1\n\
        b1:\n branch p0, b3, b2\n\
        b2:\n %2 = store i32 1, %0 at s2\n jump b3\n\
        b3:\n %3 = phi i1 [b1: 1], [b2: p0]\n branch %3, b1, b4\n\
        b4:\n %4 = load i32, %0 at s3\n return\n}\n";
    let program = text::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let flow = DataFlow::of(
        &program,
        &DataFlowOptions { roots: program.root.into_iter().collect(), ..DataFlowOptions::default() },
    );
    let pairs: Vec<String> = flow.pairs().map(|(_, pair)| flow.describe(&program, pair)).collect();
    assert_eq!(pairs, ["x: 3 -> 4 (c-use)"]);
}
