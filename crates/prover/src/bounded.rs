//! Which inputs cover open goals?
//!
//! Method: the harness and all that it calls are unrolled, so that a model of "the goal is covered" is the value of each cell.
//! Choices and sizes come from inputs that were executed, and from the same with larger arrays. The number of iterations of
//! a loop grows while runs are cut short and effort is left. Limit: an input only; executing it decides. What is not
//! followed exactly is named with the input.

use std::collections::{BTreeMap, BTreeSet};

use bitwuzla_sys::TermManager;
use model::input::{Input, Key};
use tracing::debug;

use crate::calls::MayCall;
use crate::encode::Encoder;
use crate::graph::{Graph, Inlining};
use crate::known::{Known, Shape};
use crate::plan::Task;
use crate::question::{Answer, Effort, Questions};
use crate::terms::{Terms, Truth};
use crate::unroll::unrolling_of;
use crate::unrolling::{Template, Unrolling};
use crate::watch::Watch;

/// Iterations of a loop, tried one after the other.
const ITERATIONS: [usize; 4] = [4, 16, 40, 140];
/// Inputs whose shapes are tried.
const MAX_SHAPES: usize = 6;
/// Elements of arrays in the shapes that are tried beyond those of inputs.
const LARGER: [u64; 2] = [16, 64];
/// Instructions of all contexts up to which calls are inlined.
const MAX_INLINED: usize = 15_000;
/// Activations of a function within each other.
const MAX_RECURSION: usize = 12;

/// An input that should cover a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    pub input: Input,
    /// What the encoding did not follow exactly.
    pub approximations: Vec<String>,
}

/// What became of the goals.
pub(crate) struct Found {
    /// By number of the goal.
    pub(crate) counterexamples: BTreeMap<usize, Counterexample>,
    /// Why the others have none.
    pub(crate) reason: String,
}

/// Looks for inputs that cover the goals of these numbers.
pub(crate) fn counterexamples(
    task: &Task<'_>,
    may_call: &MayCall,
    known: &mut Known,
    open: &BTreeSet<usize>,
    effort: &Effort,
) -> Found {
    let Task { program, goals, inputs, .. } = task;
    let mut found = Found { counterexamples: BTreeMap::new(), reason: String::new() };
    let Some(root) = program.root else {
        found.reason = "there is no harness".to_owned();
        return found;
    };
    let inlining = Inlining {
        towards: BTreeSet::new(),
        max_instrs: MAX_INLINED,
        max_recursion: MAX_RECURSION,
        has_stubs: true,
    };
    let graph = match Graph::new(program, may_call, root, &inlining) {
        Ok(graph) => graph,
        Err(why) => {
            found.reason = why.to_owned();
            return found;
        }
    };
    let (watch, left_out) = Watch::of(program, goals);
    let mut open: BTreeSet<usize> = open.difference(&left_out).copied().collect();
    let mut templates = templates(inputs);
    let mut shapes = BTreeSet::new();
    for iterations in ITERATIONS {
        let mut cut_short = Vec::new();
        for template in std::mem::take(&mut templates) {
            if open.is_empty() || effort.is_spent() {
                break;
            }
            let shape: Shape = (template.values.clone(), template.least_size, iterations);
            let wanted: BTreeSet<usize> =
                open.iter().copied().filter(|goal| !known.was_unrolled(&shape, &goals[*goal])).collect();
            let said = if wanted.is_empty() {
                let (counterexamples, is_cut_short) = (BTreeMap::new(), known.is_cut_short(&shape));
                Said { counterexamples, is_cut_short }
            } else {
                let effort = &effort.watched();
                let mut attempt = Attempt { graph: &graph, watch: &watch, iterations, effort };
                let said = attempt.run(&template, &wanted, &mut shapes);
                if !effort.ran_short() {
                    let without = wanted.iter().filter(|goal| !said.counterexamples.contains_key(goal));
                    known.unrolled(shape, said.is_cut_short, without.map(|goal| goals[*goal].clone()));
                }
                said
            };
            debug!(iterations, n_found = said.counterexamples.len(), said.is_cut_short, "unrolled");
            for (goal, counterexample) in said.counterexamples {
                open.remove(&goal);
                found.counterexamples.insert(goal, counterexample);
            }
            if said.is_cut_short {
                cut_short.push(template);
            }
        }
        // the same shape is worth another try with more iterations
        shapes.clear();
        templates = cut_short;
        if open.is_empty() || effort.is_spent() {
            found.reason = format!("the effort was spent at {iterations} iterations of each loop");
            break;
        }
        found.reason = if templates.is_empty() {
            "no run with these shapes of the input covers it".to_owned()
        } else {
            format!("no run with at most {iterations} iterations of each loop covers it")
        };
    }
    found
}

/// The shapes of the inputs, the largest first, and the largest with larger arrays.
fn templates(inputs: &[Input]) -> Vec<Template> {
    let mut inputs: Vec<&Input> = inputs.iter().collect();
    inputs.sort_by_key(|input| std::cmp::Reverse(input.values.len()));
    inputs.truncate(MAX_SHAPES);
    let largest = inputs.first().map(|input| input.values.clone()).unwrap_or_default();
    let of = |values: &BTreeMap<Key, u64>, least_size| Template { values: values.clone(), least_size };
    let mut all: Vec<Template> = inputs.iter().map(|input| of(&input.values, 0)).collect();
    // without any choice it is the first input's shape
    all.push(of(&BTreeMap::new(), 0));
    for least_size in LARGER {
        all.push(of(&largest, least_size));
        all.push(of(&BTreeMap::new(), least_size));
    }
    all
}

/// One unrolling.
struct Attempt<'a> {
    graph: &'a Graph<'a>,
    watch: &'a Watch,
    iterations: usize,
    effort: &'a Effort,
}

struct Said {
    counterexamples: BTreeMap<usize, Counterexample>,
    is_cut_short: bool,
}

impl Attempt<'_> {
    fn run(
        &mut self,
        template: &Template,
        open: &BTreeSet<usize>,
        shapes: &mut BTreeSet<BTreeMap<Key, u64>>,
    ) -> Said {
        let manager = TermManager::new();
        let mut encoder =
            Encoder::new(self.graph, Terms::new(&manager, self.effort), self.watch, false, true);
        encoder.stays_inside = true;
        let unrolling = Unrolling::new(template.clone(), self.iterations);
        let mut run = encoder.unroll(unrolling, self.effort);
        let events = std::mem::take(&mut run.events);
        let unrolling = unrolling_of(&mut run);
        let mut said = Said { counterexamples: BTreeMap::new(), is_cut_short: unrolling.is_cut_short };
        if !shapes.insert(unrolling.decided.clone()) {
            said.is_cut_short = false; // another template stands for it
            return said;
        }
        let mut by_goal: BTreeMap<usize, Truth<'_>> = BTreeMap::new();
        for (goal, when) in events.into_iter().filter(|(goal, _)| open.contains(goal)) {
            let before = by_goal.get(&goal).copied().unwrap_or(encoder.terms.truth(false));
            by_goal.insert(goal, encoder.terms.or(before, when));
        }
        let facts: Vec<Truth<'_>> = encoder.objects.facts().iter().chain(&unrolling.facts).copied().collect();
        let mut questions = Questions::new(&encoder.terms, 1, &facts, self.effort, false);
        for (&goal, &when) in &by_goal {
            if said.counterexamples.contains_key(&goal) {
                continue;
            }
            if questions.ask(&[when]) != Answer::Possible {
                continue;
            }
            let cells = unrolling.cells.iter().filter_map(|(key, cell)| {
                let value = questions.value(*cell)?;
                Some((*key, u64::try_from(value).ok()?))
            });
            let mut values: BTreeMap<Key, u64> = cells.collect();
            values.extend(&unrolling.decided);
            let approximations = unrolling.approximations.iter().cloned().collect();
            let counterexample = Counterexample { input: Input { values }, approximations };
            for (&other, &event) in &by_goal {
                if other == goal || questions.holds(event) {
                    said.counterexamples.entry(other).or_insert_with(|| counterexample.clone());
                }
            }
        }
        said
    }
}
