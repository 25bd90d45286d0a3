//! Which goals do the conditions on the way to them exclude, when nothing is known where loops are cut?
//!
//! Method: one question for each segment and goal; where they are many, one solver keeps what it learns, and one model rules out all goals
//! that it covers.

use std::collections::{BTreeMap, BTreeSet};

use proof::Body;

use crate::frames::name;
use crate::question::{Answer, Effort};
use crate::system::{Argument, Prover, System};
use crate::terms::Truth;

/// Questions about one segment from which on they count as similar.
const MANY: usize = 8;

/// Cuts loops without knowing anything there.
pub(crate) struct LoopFree {
    /// How many times the usual effort a question may cost.
    pub(crate) patience: u64,
}

impl Prover for LoopFree {
    fn prove(
        &self,
        system: &mut System<'_, '_>,
        open: &BTreeSet<usize>,
        effort: &Effort,
    ) -> BTreeMap<usize, Argument> {
        let mut possible: BTreeSet<usize> = BTreeSet::new();
        for segment in 0..system.segments.len() {
            let mut events: Vec<(usize, Truth<'_>)> = Vec::new();
            for &goal in open.difference(&possible) {
                let event = system.bad(segment, 1, goal);
                if !system.encoder.terms.is_false(event) {
                    events.push((goal, event));
                }
            }
            // many are answered soon by one solver that keeps what it has learnt
            let are_many = events.len() > MANY;
            let mut questions = match are_many {
                true => system.similar_questions(effort),
                false => system.questions(effort),
            }
            .with_patience(self.patience);
            if are_many {
                events.iter_mut().for_each(|(_, event)| *event = name(system, &mut questions, *event));
            }
            while let Some((goal, event)) = events.pop() {
                match questions.ask(&[event]) {
                    Answer::Impossible => continue,
                    Answer::Possible => {
                        let mut covered = vec![goal];
                        // what is covered on the same way
                        events.retain(|(other, event)| {
                            let is_covered = questions.holds(*event);
                            covered.extend(is_covered.then_some(*other));
                            !is_covered
                        });
                        // nothing is known where an activation begins
                        if segment == 0 {
                            system.reached.extend(&covered);
                        }
                        possible.extend(covered);
                    }
                    Answer::Unknown => {}
                }
                possible.insert(goal);
            }
        }
        let nothing = Argument { invariants: system.nothing(), body: Body::Inductive };
        open.difference(&possible).map(|goal| (*goal, nothing.clone())).collect()
    }
}
