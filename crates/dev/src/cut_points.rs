//! `quarry-dev bench-cut-points`: what do the cut points of a whole program cost?
//!
//! Method: every store to a named variable is a definition, every load of it a use, every other store to it a kill. Locals
//! live in their activation, globals everywhere. Limit: memory reached through pointers is left out, and so is whether a
//! definition reaches a use at all: pairs without a path are counted separately.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use analysis::Place;
use analysis::cut_points::{CutPoints, DefinedValue, Dominance, Extent};
use analysis::distance::{Routes, Towards};
use analysis::icfg::Icfg;
use model::{FunctionId, GlobalId, InstrId, Op, Operand, Program};

use crate::arguments::{BenchCutPoints, cache, here, sources};
use quarry_cli::exit::{Exit, Failure};
use quarry_cli::say::say;
use runner::front::work_directory;
use runner::front::{Front, Start};

/// What a store or load names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Local(FunctionId, InstrId),
    Global(GlobalId, i64),
}

#[derive(Default)]
struct Accesses {
    stores: BTreeSet<Place>,
    loads: Vec<Place>,
}

/// Runs the command.
pub fn bench(arguments: &BenchCutPoints) -> Result<Exit, Failure> {
    let work = work_directory()?;
    let front = Front::mark(&sources(&arguments.sources), &here()?, work.path(), Start::Main, &cache()?)?;
    let built = front.build(None, &[])?;
    let program = &built.lowered.program;
    let root = match &arguments.function {
        Some(name) => program.function_named(name),
        None => program.root.or_else(|| program.function_named("main")),
    };
    let root = root.filter(|root| program.function(*root).is_defined());
    let root = root.ok_or_else(|| Failure::usage("there is no such function to begin in".to_owned()))?;
    let started = Instant::now();
    let graph = Icfg::new(program);
    let routes = Routes::of(&graph);
    let dominance = Dominance::of(&graph, &routes, root);
    say(format_args!(
        "{} functions, {} nodes: dominators in {:.3} s",
        program.functions.iter().filter(|function| function.is_defined()).count(),
        graph.nodes.len(),
        started.elapsed().as_secs_f64()
    ));
    let accesses = accesses(program);
    for (what, extent) in [("locals", Extent::Activation), ("globals", Extent::Program)] {
        let of_extent = accesses.iter().filter(|(memory, _)| extent_of(**memory) == extent);
        measure(program, &dominance, what, extent, of_extent.map(|(_, accesses)| accesses), arguments.print);
    }
    distances(&graph, &routes);
    if let Some(peak) = peak_memory() {
        say(format_args!("peak memory {peak}"));
    }
    Ok(Exit::Done)
}

fn measure<'a>(
    program: &Program,
    dominance: &Dominance<'_>,
    what: &str,
    extent: Extent,
    variables: impl Iterator<Item = &'a Accesses>,
    print: bool,
) {
    let started = Instant::now();
    let (mut n_definitions, mut n_pairs, mut n_pathless, mut n_places) = (0_u32, 0_u32, 0_u32, 0);
    let mut longest = 0.0_f64;
    for variable in variables {
        for place in &variable.stores {
            let began = Instant::now();
            n_definitions += 1;
            let downstream =
                dominance.downstream(DefinedValue { place: *place, extent, kills: &variable.stores });
            for used in &variable.loads {
                match downstream.cut_points(*used) {
                    Some(found) => {
                        n_pairs += 1;
                        n_places += found.places.len();
                        if print {
                            say(format_args!("{place} -> {used}: {}", lines(program, &found)));
                        }
                    }
                    None => n_pathless += 1,
                }
            }
            longest = longest.max(began.elapsed().as_secs_f64());
        }
    }
    say(format_args!(
        "{what}: {n_definitions} definitions, {n_pairs} pairs ({n_pathless} more without a path), {n_places} cut points \
         in {:.3} s, at most {longest:.3} s for a definition",
        started.elapsed().as_secs_f64()
    ));
}

/// Distances towards a hundred places all over the program, which is what a search asks for.
fn distances(graph: &Icfg, routes: &Routes) {
    let started = Instant::now();
    let targets: Vec<Place> =
        graph.nodes.iter().step_by(graph.nodes.len().div_ceil(100)).map(|node| node.place()).collect();
    targets.iter().for_each(|target| drop(Towards::new(graph, routes, *target)));
    let millis = started.elapsed().as_secs_f64() * 1e3 / targets.len() as f64;
    say(format_args!("distances towards a place: {millis:.3} ms"));
}

fn accesses(program: &Program) -> BTreeMap<Memory, Accesses> {
    let mut accesses: BTreeMap<Memory, Accesses> = BTreeMap::new();
    for (function, id) in program.functions.iter().zip((0..).map(FunctionId)) {
        let memory = |address: &Operand| match address {
            Operand::Result(instr) if matches!(function.instr(*instr).op, Op::Alloca { .. }) => {
                Some(Memory::Local(id, *instr))
            }
            Operand::Global { global, offset } => Some(Memory::Global(*global, *offset)),
            Operand::Result(_)
            | Operand::Parameter(_)
            | Operand::Int { .. }
            | Operand::Float { .. }
            | Operand::Null
            | Operand::Function(_)
            | Operand::Undefined(_) => None,
        };
        for (block, code) in function.blocks() {
            for (instr, at) in code.instrs.iter().zip(0..) {
                let place = Place { function: id, block, at };
                match &function.instr(*instr).op {
                    Op::Store { address, .. } => {
                        if let Some(memory) = memory(address) {
                            accesses.entry(memory).or_default().stores.insert(place);
                        }
                    }
                    Op::Load { address, .. } => {
                        if let Some(memory) = memory(address) {
                            accesses.entry(memory).or_default().loads.push(place);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    accesses
}

fn extent_of(memory: Memory) -> Extent {
    match memory {
        Memory::Local(..) => Extent::Activation,
        Memory::Global(..) => Extent::Program,
    }
}

/// The lines of cut points, each once in a row.
fn lines(program: &Program, cut_points: &CutPoints) -> String {
    let line = |place: &Place| {
        let span = place.span(program)?;
        Some(program.span(span).at.line)
    };
    let mut lines: Vec<u32> = cut_points.places.iter().filter_map(line).collect();
    lines.dedup();
    lines.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// The most memory that this process has had, as the system says it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
