//! Does an activation end after a bounded number of segments, and does none of them cover the goal?
//!
//! Method: states wait at cuts in a weak topological order, so a loop ends before what is behind it begins, and the first is
//! executed to the next cuts; states that cannot be are dropped. When none waits any more, everything was executed, and each
//! goal costs one question. Limit: loops whose number of iterations is not bounded by the code, or is large.

use std::collections::{BTreeMap, BTreeSet};

use proof::Body;

use crate::encode::Run;
use crate::graph::CutId;
use crate::question::{Answer, Effort};
use crate::state::State;
use crate::system::{Argument, Prover, System};
use crate::terms::Truth;
use crate::unrolling::{Rank, Ranks};

/// Segments that are executed at most.
const MAX_SEGMENTS: usize = 400;

/// The engine.
pub(crate) struct Unwinding;

/// Everything that was executed.
struct Unwound<'m> {
    /// Cuts in the order in which they were executed.
    schedule: Vec<u32>,
    events: Vec<(usize, Truth<'m>)>,
}

impl Prover for Unwinding {
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Argument> {
        let Some(Unwound { schedule, events }) = unwind(system, effort) else { return BTreeMap::new() };
        let mut questions = system.questions(effort);
        let mut proved = BTreeMap::new();
        for &goal in open {
            let no = system.encoder.terms.truth(false);
            let of_goal = events.iter().filter(|(of, _)| *of == goal);
            let any = of_goal.fold(no, |any, (_, when)| system.encoder.terms.or(any, *when));
            let answer = match system.encoder.terms.is_false(any) {
                true => Answer::Impossible,
                false => questions.ask(&[any]),
            };
            match answer {
                Answer::Impossible => {
                    let body = Body::Unrolled(schedule.clone());
                    proved.insert(goal, Argument { invariants: system.nothing(), body });
                }
                Answer::Possible => _ = system.reached.insert(goal),
                Answer::Unknown => {}
            }
        }
        proved
    }
}

/// Executes everything; none if that does not end within the limits.
fn unwind<'m>(system: &mut System<'_, 'm>, effort: &Effort) -> Option<Unwound<'m>> {
    system.encoder.allow_more();
    let graph = system.encoder.graph;
    let mut questions = system.questions(effort);
    let mut run = Run::with(system.segments[0].symbols.take());
    let first = &system.segments[0].levels[0];
    let mut unwound = Unwound { schedule: Vec::new(), events: first.events.clone() };
    let mut arrived: Vec<(CutId, State<'m>)> =
        first.arrivals.iter().map(|(cut, state)| (*cut, state.clone())).collect();
    let mut waiting: BTreeMap<Rank, (CutId, Vec<State<'m>>)> = BTreeMap::new();
    let mut ranks = Ranks::default();
    let is_whole = loop {
        for (cut, state) in arrived.drain(..) {
            let rank = ranks.of(graph, graph.cut(cut));
            waiting.entry(rank).or_insert_with(|| (cut, Vec::new())).1.push(state);
        }
        let Some((_, (cut, states))) = waiting.pop_first() else { break true };
        if unwound.schedule.len() >= MAX_SEGMENTS || effort.is_spent() {
            break false;
        }
        let state = system.encoder.merge(&mut run.symbols, states);
        match questions.ask(&[state.path]) {
            Answer::Impossible => continue,
            Answer::Possible => {}
            Answer::Unknown => break false,
        }
        unwound.schedule.push(cut.index() as u32);
        let Ok(level) = system.encoder.advance(&mut run, BTreeMap::from([(graph.cut(cut), state)])) else {
            break false;
        };
        unwound.events.extend(level.events);
        arrived.extend(level.arrivals);
    };
    system.segments[0].symbols = run.symbols;
    is_whole.then_some(unwound)
}
