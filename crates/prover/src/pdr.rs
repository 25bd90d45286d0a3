//! Property-directed reachability: clauses that exclude what leads to a goal, found backwards from it.
//!
//! Method: a state from which the goal is covered is blocked: if no state that is reached before leads to it, a part of it
//! that nothing leads to either is excluded from now on; otherwise what leads to it is blocked first. When clauses that hold
//! within n segments hold within one more, all of them hold always ([`crate::frames`]). States are described by predicates that
//! the program's text suggests ([`crate::predicates`]), on top of invariants that Houdini finds. So a system with many
//! combinations of states needs as many clauses as lead to a goal, not as it has states; and clauses that one goal needed are
//! there for the next. Limit: what no predicate tells apart; such a goal seems to be reached, and is given up.

use std::collections::{BTreeMap, BTreeSet};

use model::FunctionId;
use tracing::debug;

use crate::candidates::Richness;
use crate::domains::Domains;
use crate::frames::{ALWAYS, Cube, Frames, Lemma, Step};
use crate::graph::{ContextId, CutId};
use crate::houdini::Candidates;
use crate::question::{Effort, Questions};
use crate::system::{Argument, Prover, System};

/// Segments one after the other that are looked at.
const MAX_LEVEL: usize = 80;
/// States that are blocked for one goal.
const MAX_STATES: usize = 4000;
/// Literals that are left out of a cube one by one, to see whether it is still excluded.
const MAX_DROPPED: usize = 12;
/// The part of the effort that one goal may take.
const SHARE: u64 = 4;
/// The part of it that Houdini may take.
const BACKGROUND: u64 = 6;

/// The engine.
pub(crate) struct Pdr;

impl Prover for Pdr {
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Argument> {
        system.encoder.allow_more();
        // what is left is for the proofs of what was found
        let search = effort.keeping(8);
        let known = background(system, &search);
        debug!(
            n_open = open.len(),
            n_known = known.believed().iter().map(Vec::len).sum::<usize>(),
            left = effort.left(),
            "background"
        );
        let functions: BTreeSet<FunctionId> =
            system.encoder.graph.contexts.iter().map(|context| context.function).collect();
        let entry = system.encoder.graph.context(ContextId::ENTRY).function;
        let domains = Domains::of(system.encoder.program, entry, &functions);
        let (flows, others): (BTreeSet<usize>, BTreeSet<usize>) =
            open.iter().partition(|goal| system.encoder.watch.has_flag(**goal));
        let mut proved = BTreeMap::new();
        if !others.is_empty()
            && let Some(mut frames) = Frames::new(system, &domains, &known.believed(), None, &search)
        {
            let excluded: BTreeSet<usize> =
                others.into_iter().filter(|goal| exclude(&mut frames, system, *goal, &search)).collect();
            debug!(
                n_excluded = excluded.len(),
                n_lemmas = frames.lemmas.len(),
                left = effort.left(),
                "searched"
            );
            proved.extend(argue(system, &known, &frames, &excluded, effort));
            keep(system, &frames);
        }
        for goal in flows {
            if search.is_spent() {
                break;
            }
            let Some(mut frames) = Frames::new(system, &domains, &known.believed(), Some(goal), &search)
            else {
                break;
            };
            if exclude(&mut frames, system, goal, &search) {
                proved.extend(argue(system, &known, &frames, &BTreeSet::from([goal]), effort));
            }
        }
        proved
    }
}

/// What Houdini finds; nothing if it does not end in time.
fn background<'m>(system: &mut System<'_, 'm>, effort: &Effort) -> Candidates<'m> {
    let share = effort.part(BACKGROUND);
    let found = Candidates::new(system, Richness::Plain).and_then(|mut candidates| {
        for (cut, lemmas) in system.facts.lemmas.clone() {
            lemmas.into_iter().for_each(|lemma| candidates.add(system, CutId::new(cut), lemma));
        }
        let mut questions: Vec<Questions<'m>> =
            (0..system.segments.len()).map(|_| system.similar_questions(&share)).collect();
        let is_inductive = candidates.strike_out(system, &mut questions);
        candidates.note_broken(system, Richness::Plain);
        is_inductive.then_some(candidates)
    });
    found.unwrap_or_else(|| Candidates::none(system))
}

/// Keeps what holds always for later turns.
fn keep(system: &mut System<'_, '_>, frames: &Frames<'_>) {
    for lemma in frames.lemmas.iter().filter(|lemma| lemma.level == ALWAYS) {
        system.facts.lemmas.entry(lemma.cut.index()).or_default().insert(frames.formula(lemma));
    }
}

/// The proofs of these goals by what holds always.
fn argue<'m>(
    system: &mut System<'_, 'm>,
    known: &Candidates<'m>,
    frames: &Frames<'m>,
    goals: &BTreeSet<usize>,
    effort: &Effort,
) -> BTreeMap<usize, Argument> {
    let mut candidates = known.clone();
    system.encoder.flag_goal = frames.goal();
    for lemma in frames.lemmas.iter().filter(|lemma| lemma.level == ALWAYS) {
        candidates.add(system, lemma.cut, frames.formula(lemma));
    }
    let mut questions: Vec<Questions<'m>> =
        (0..system.segments.len()).map(|_| system.similar_questions(effort)).collect();
    candidates.decide_together(system, &mut questions, goals)
}

/// Excludes all that leads to the goal; false if that was not possible.
fn exclude<'m>(frames: &mut Frames<'m>, system: &mut System<'_, 'm>, goal: usize, effort: &Effort) -> bool {
    let before = effort.left();
    let mut n_states = 0;
    let is_excluded = loop {
        let level = frames.highest;
        if level == MAX_LEVEL || before - effort.left() > before / SHARE || effort.is_spent() {
            break false;
        }
        match frames.bad(system, goal, level) {
            None => break false,
            Some(None) if settle(frames, system, level) => break true,
            Some(None) => frames.highest += 1,
            Some(Some((cut, cube))) => {
                if !block(frames, system, (cut, cube, level), level, &mut n_states) {
                    break false;
                }
            }
        }
    };
    let (n_lemmas, spent) = (frames.lemmas.len(), before - effort.left());
    debug!(goal, is_excluded, level = frames.highest, n_states, n_lemmas, spent, "goal");
    is_excluded
}

/// Excludes a state, and before it what leads there; false if the entry does, or nobody knows.
fn block<'m>(
    frames: &mut Frames<'m>,
    system: &mut System<'_, 'm>,
    state: (CutId, Cube, usize),
    highest: usize,
    n_states: &mut usize,
) -> bool {
    let mut open = vec![state];
    while let Some((cut, cube, level)) = open.last().cloned() {
        if frames.excludes(cut, &cube, level) {
            open.pop();
            continue;
        }
        match frames.step(system, cut, &cube, level) {
            Step::Entered | Step::Unknown => return false,
            Step::From(before, cube) => {
                *n_states += 1;
                if *n_states > MAX_STATES {
                    return false;
                }
                open.push((before, cube, level - 1));
            }
            Step::Excluded(needed) => {
                let cube = generalise(frames, system, cut, needed, level);
                let level = highest_level(frames, system, (cut, &cube), level, highest);
                frames.add(system, Lemma { cut, cube, level, witness: None });
                open.pop();
            }
        }
    }
    true
}

/// A smaller cube, so a larger set of states, that nothing leads to.
fn generalise<'m>(
    frames: &mut Frames<'m>,
    system: &mut System<'_, 'm>,
    cut: CutId,
    cube: Cube,
    level: usize,
) -> Cube {
    let mut cube = drop_literals(frames, system, cut, cube, level);
    let spread = frames.spread(cut, &cube);
    if spread != cube
        && let Step::Excluded(needed) = frames.step(system, cut, &spread, level)
    {
        cube = drop_literals(frames, system, cut, needed, level);
    }
    cube
}

fn drop_literals<'m>(
    frames: &mut Frames<'m>,
    system: &mut System<'_, 'm>,
    cut: CutId,
    mut cube: Cube,
    level: usize,
) -> Cube {
    for literal in cube.clone().into_iter().take(MAX_DROPPED) {
        let mut fewer = cube.clone();
        if fewer.remove(&literal)
            && let Step::Excluded(needed) = frames.step(system, cut, &fewer, level)
        {
            cube = needed;
        }
    }
    cube
}

/// Within how many segments the cube is excluded, as far as is of interest.
fn highest_level<'m>(
    frames: &mut Frames<'m>,
    system: &mut System<'_, 'm>,
    (cut, cube): (CutId, &Cube),
    level: usize,
    highest: usize,
) -> usize {
    let mut level = level;
    while level < highest && matches!(frames.step(system, cut, cube, level + 1), Step::Excluded(_)) {
        level += 1;
    }
    level
}

/// Raises lemmas to higher levels where they hold there; whether some hold always that exclude all that was blocked.
fn settle<'m>(frames: &mut Frames<'m>, system: &mut System<'_, 'm>, highest: usize) -> bool {
    for level in 1..=highest {
        for at in 0..frames.lemmas.len() {
            let Lemma { cut, cube, level: of, witness } = frames.lemmas[at].clone();
            let still_leads = |(cut, cube): &(CutId, Cube)| !frames.excludes(*cut, cube, level);
            if of != level || witness.as_ref().is_some_and(still_leads) {
                continue;
            }
            match frames.step(system, cut, &cube, level + 1) {
                Step::Excluded(_) => frames.raise(system, at, level + 1),
                Step::From(cut, cube) => frames.lemmas[at].witness = Some((cut, cube)),
                Step::Entered | Step::Unknown => {}
            }
        }
        if frames.lemmas.iter().all(|lemma| lemma.level != level) {
            for at in 0..frames.lemmas.len() {
                if (level + 1..ALWAYS).contains(&frames.lemmas[at].level) {
                    frames.raise(system, at, ALWAYS);
                }
            }
            return true;
        }
    }
    false
}
