//! What is the solver asked for a candidate, and what does it answer?
//!
//! A query is the path condition up to the flip and the flip itself. Pins are not the program's own conditions: where the
//! solver says that they contradict the flip, they are given up, the rest all at once after a few attempts.

use std::collections::BTreeSet;

use coverage::Lost;
use model::SpanId;
use model::input::Input;
use model::walk::Site;
use smt::{Assignment, Limit, Term, UnknownReason, Verdict};
use wire::LogPlace;

use super::run_terms::{FlipPoint, RunTerms};
use super::{ChangedSteps, Outcome, Wanted, Worker};
use crate::campaign::held::HeldRun;
use crate::pool::RunId;
use crate::terms::{Meets, TermError};
use crate::trace::{Choice, Expectation, Note};

/// How often pins are given up by need, before all of them are.
const MAX_RELAXATIONS: u32 = 3;

/// What should hold, and where the run came to rely on it, unless it was only preferred.
type Pinned = (Term, Option<Lost>);

/// What to ask the solver for a candidate.
#[derive(Clone)]
pub(super) struct Query {
    /// The conditions of the prefix, which must hold.
    hard: Vec<Term>,
    /// What should hold too.
    pins: Vec<Pinned>,
    pub(super) goal: Term,
    /// More than the goal, to be tried first.
    preferred: Option<Term>,
    /// The parent's values.
    hint: Assignment,
    /// What is hard to solve among the expressions.
    pub(super) meets: Meets,
}

/// An input that the solver found.
pub(super) struct Solved {
    pub(super) input: Input,
    /// Whether pins were given up for it, and where they stand.
    pub(super) is_guess: bool,
    pub(super) given_up: BTreeSet<Lost>,
}

impl Worker<'_> {
    /// The query for a candidate of this run.
    pub(super) fn query(
        &mut self,
        held: &HeldRun,
        parent: &Input,
        wanted: &Wanted,
    ) -> Result<Query, Outcome> {
        let started = self.context.clock.elapsed();
        let run = wanted.candidate.run;
        let mut terms = self.dictionary.take(run);
        let query = self.build_query(&mut terms, held, parent, wanted);
        self.dictionary.give_back(run, terms);
        self.timings.terms += self.context.clock.elapsed().saturating_sub(started);
        query
            .map_err(|error| Outcome::BadExpressions { input: parent.clone(), error })?
            .ok_or(Outcome::NotRepeated)
    }

    /// The same; `None` when the run has no such candidate.
    fn build_query(
        &mut self,
        terms: &mut RunTerms,
        held: &HeldRun,
        parent: &Input,
        wanted: &Wanted,
    ) -> Result<Option<Query>, TermError> {
        let Some(turn) = FlipPoint::find(held, &wanted.candidate) else { return Ok(None) };
        let (program, vocabulary) = (self.context.tracer.program(), &mut self.dictionary.vocabulary);
        let (n_steps, n_notes) = turn.counts();
        terms.make(program, vocabulary, held, (n_steps, n_notes))?;
        let (expressions, memo) = (held.expressions.lend(), &mut terms.memo);
        let goal = match turn {
            FlipPoint::Step { step, choice, .. } => {
                vocabulary.constraint(program, &expressions, memo, &step, choice)?
            }
            FlipPoint::Pin { node, .. } | FlipPoint::Size { node, .. } => {
                vocabulary.none_of(&expressions, memo, node, &wanted.pinned)?
            }
            FlipPoint::Bounds { node, .. } => vocabulary.not(&expressions, memo, node)?,
        };
        let preferred = match turn {
            FlipPoint::Size { node, value, .. } => {
                vocabulary.notable_size(&expressions, memo, (node, value), wanted.pinned.len())?
            }
            FlipPoint::Step { .. } | FlipPoint::Pin { .. } | FlipPoint::Bounds { .. } => None,
        };
        let preferred = preferred.map(|notable| vocabulary.both(goal, notable));
        let meets = memo.meets();
        let mut hard = terms.steps[..n_steps].to_vec();
        let (assumed, pins) = notes(&held.notes, &terms.notes[..n_notes]);
        hard.extend(assumed);
        let hint = vocabulary.assignment(parent);
        Ok(Some(Query { hard, pins, goal, preferred, hint, meets }))
    }

    /// An input for all of these outcomes that else keeps to the path; or for the first of them and as many of the others as possible.
    /// Behind the first change the path is a guess: what is kept there may be given up.
    pub(super) fn solve_changes(
        &mut self,
        held: &HeldRun,
        parent: &Input,
        (run, steps): (RunId, &ChangedSteps),
        limit: Limit,
    ) -> Result<(Solved, Expectation), Outcome> {
        let started = self.context.clock.elapsed();
        let mut terms = self.dictionary.take(run);
        let queries = self.build_changes(&mut terms, held, parent, steps);
        self.dictionary.give_back(run, terms);
        self.timings.terms += self.context.clock.elapsed().saturating_sub(started);
        let bad = |error| Outcome::BadExpressions { input: parent.clone(), error };
        let (all, first, expectation) = queries.map_err(bad)?.ok_or(Outcome::NotRepeated)?;
        let solved = match self.solve(parent, &all, limit) {
            Err(Outcome::Unsat) => self.solve(parent, &first, limit)?,
            solved => solved?,
        };
        Ok((solved, expectation))
    }

    /// The queries for all changes, and for the first; `None` when the run has no such steps.
    fn build_changes(
        &mut self,
        terms: &mut RunTerms,
        held: &HeldRun,
        parent: &Input,
        steps: &ChangedSteps,
    ) -> Result<Option<(Query, Query, Expectation)>, TermError> {
        let (program, vocabulary) = (self.context.tracer.program(), &mut self.dictionary.vocabulary);
        let step_of = |(number, site, _): &(u32, Site, Choice)| {
            held.steps.get(*number as usize).filter(|step| step.site == *site)
        };
        let (Some(first), Some(last)) = (steps.changes.first(), steps.changes.last()) else {
            return Ok(None);
        };
        let (Some(first_step), Some(last_step)) = (step_of(first), step_of(last)) else { return Ok(None) };
        let n_notes = last_step.n_notes as usize;
        terms.make(program, vocabulary, held, (last.0 as usize, n_notes))?;
        let (expressions, memo) = (held.expressions.lend(), &mut terms.memo);
        let mut changed = Vec::new();
        for change in &steps.changes {
            let Some(step) = step_of(change) else { return Ok(None) };
            changed.push(vocabulary.constraint(program, &expressions, memo, step, change.2)?);
        }
        let meets = memo.meets();
        let hard = terms.steps[..first.0 as usize].to_vec();
        let n_first_notes = first_step.n_notes as usize;
        let (mut assumed, mut pins) = notes(&held.notes[..n_first_notes], &terms.notes);
        assumed.extend(&hard);
        let hint = vocabulary.assignment(parent);
        let others: Vec<_> = changed[1..].iter().map(|term| (*term, None)).collect();
        let query = |pins, goal| Query {
            hard: assumed.clone(),
            pins,
            goal,
            preferred: None,
            hint: hint.clone(),
            meets,
        };
        let alone = query([pins.clone(), others].concat(), changed[0]);
        let is_kept = |number: &u32| {
            steps.changes.iter().all(|(changed, ..)| changed != number)
                && steps.undone.iter().all(|undone| !undone.contains(number))
        };
        let between = (first.0 + 1..last.0).filter(is_kept);
        pins.extend(between.map(|number| (terms.steps[number as usize], None)));
        let (later, later_pins) = notes(&held.notes[n_first_notes..n_notes], &terms.notes[n_first_notes..]);
        pins.extend(later.into_iter().map(|term| (term, None)).chain(later_pins));
        let all = changed[1..].iter().fold(changed[0], |all, one| vocabulary.both(all, *one));
        Ok(Some((query(pins, all), alone, first_step.expectation(first.2))))
    }

    /// An input for more than the goal if there is one, else for the goal.
    pub(super) fn solve_preferring(
        &mut self,
        parent: &Input,
        query: &Query,
        limit: Limit,
    ) -> Result<Solved, Outcome> {
        if let Some(goal) = query.preferred {
            let preferred = Query { goal, ..query.clone() };
            if let Ok(solved) = self.solve(parent, &preferred, limit) {
                return Ok(solved);
            }
        }
        self.solve(parent, query, limit)
    }

    /// An input with the outcome, whatever came before. Where a text was looked at more than once (where does the line end, what is
    /// its third word?), no input takes the path up to the first look and then another outcome of the second, but an input that has
    /// the outcome may come to the same place on another path.
    pub(super) fn solve_alone(&mut self, parent: &Input, query: &Query, limit: Limit) -> Option<Input> {
        match self.ask(&[], query, limit) {
            Ok(Verdict::Sat(found)) => Some(self.dictionary.vocabulary.input(parent, &found)),
            Ok(Verdict::Unsat { .. } | Verdict::Unknown(_)) | Err(_) => None,
        }
    }

    /// An input for the query that keeps as many pins as it can.
    fn solve(&mut self, parent: &Input, query: &Query, limit: Limit) -> Result<Solved, Outcome> {
        let mut pins = query.pins.clone();
        for n_relaxed in 0.. {
            let pinned: Vec<Term> =
                query.hard.iter().copied().chain(pins.iter().map(|(pin, _)| *pin)).collect();
            match self.ask(&pinned, query, limit)? {
                Verdict::Sat(found) => {
                    let input = self.dictionary.vocabulary.input(parent, &found);
                    let given_up = query.pins.iter().filter(|pin| !pins.contains(pin));
                    let given_up = given_up.filter_map(|(_, place)| *place).collect();
                    return Ok(Solved { input, is_guess: n_relaxed > 0, given_up });
                }
                Verdict::Unsat { core }
                    if core.iter().any(|term| pins.iter().any(|(pin, _)| pin == term)) =>
                {
                    if n_relaxed < MAX_RELAXATIONS {
                        pins.retain(|(pin, _)| !core.contains(pin));
                    } else {
                        pins.clear();
                    }
                }
                Verdict::Unsat { .. } => break,
                Verdict::Unknown(reason) => return Err(unknown(&reason)),
            }
        }
        Err(Outcome::Unsat)
    }

    fn ask(&mut self, prefix: &[Term], query: &Query, limit: Limit) -> Result<Verdict, Outcome> {
        if self.context.must_stop() {
            return Err(Outcome::Stopped);
        }
        let started = self.context.clock.elapsed();
        let limit = Limit { time: limit.time.min(self.context.time_left()), ..limit };
        let store = self.dictionary.vocabulary.store();
        let verdict = self.solving.solve(store, prefix, query.goal, &query.hint, limit);
        self.timings.solve += self.context.clock.elapsed().saturating_sub(started);
        match &verdict {
            Verdict::Sat(_) => self.queries.sat += 1,
            Verdict::Unsat { .. } => self.queries.unsat += 1,
            // cut short by the end of the campaign, which says nothing about the query
            Verdict::Unknown(_) if self.context.must_stop() => return Err(Outcome::Stopped),
            Verdict::Unknown(reason) => {
                self.queries.unknown += 1;
                self.n_overdue += u64::from(*reason == UnknownReason::Overdue);
            }
        }
        Ok(verdict)
    }
}

/// What notes demand: what must hold, and what should.
fn notes(notes: &[Note], terms: &[Term]) -> (Vec<Term>, Vec<Pinned>) {
    let (mut hard, mut pins) = (Vec::new(), Vec::new());
    for (note, term) in notes.iter().zip(terms) {
        match note {
            Note::Pin { place, .. } | Note::Pointer { place, .. } | Note::Size { place, .. } => {
                pins.push((*term, Some(lost(*place))));
            }
            Note::Prefer { .. } => pins.push((*term, None)),
            Note::Bounds { is_pinned: true, place, .. } => {
                pins.push((*term, Some(place.map_or(Lost::Unknown, Lost::Access))));
            }
            Note::Assume { .. } | Note::Bounds { is_pinned: false, .. } => hard.push(*term),
        }
    }
    (hard, pins)
}

/// Where a note of the log stands.
pub(in crate::campaign) fn lost(place: Option<LogPlace>) -> Lost {
    match place {
        Some(LogPlace::Site(site)) => Lost::Site(site),
        Some(LogPlace::Span(span)) => Lost::Access(SpanId(span)),
        None => Lost::Unknown,
    }
}

fn unknown(reason: &UnknownReason) -> Outcome {
    Outcome::Unknown { timed_out: matches!(reason, UnknownReason::Timeout | UnknownReason::Overdue) }
}
