//! Which goals does a change concern?
//!
//! Method: what a goal demands is looked up in what an impact concerns ([`analysis::impact::Concerned`]). Goals of MC/DC and of
//! vectors are about their whole decision: another condition may mask theirs.

use analysis::dataflow::DataFlow;
use analysis::impact::Concerned;
use model::Program;

use crate::{Case, Demand, Goal};

/// Whether a goal is about something that a change concerns; `flow` is the data flow that it was made from.
pub fn is_concerned(program: &Program, concerned: &Concerned, goal: &Goal, flow: Option<&DataFlow>) -> bool {
    let decision = |id| concerned.decisions.contains(&id);
    let any = |places: &[analysis::Place]| places.iter().any(|place| concerned.places.contains(place));
    match goal.demand {
        Demand::Entered(function) => concerned.entered.contains(&function),
        Demand::Ended(function) => concerned.ended.contains(&function),
        Demand::Executed(statement) => concerned.statements.contains(&statement),
        Demand::Decision(id, _) | Demand::Vector(id, _) => decision(id),
        Demand::Condition(id, _) => concerned.conditions.contains(&id),
        Demand::Independent(id, _) | Demand::Paired(id, _) => decision(program.condition(id).decision),
        Demand::Label(switch, case) => {
            let is_changed = match case {
                Case::Label(number) => concerned.labels.contains(&(switch, number)),
                Case::ImplicitDefault => {
                    concerned.labels.range((switch, 0)..=(switch, u32::MAX)).next().is_some()
                }
            };
            is_changed || concerned.switches.contains(&switch)
        }
        Demand::Defined(definition) => flow.is_some_and(|flow| any(&flow.definition(definition).places)),
        Demand::Used(use_) => flow.is_some_and(|flow| any(&flow.use_(use_).places)),
        Demand::Pair(pair) => flow.is_some_and(|flow| {
            let pair = flow.pair(pair);
            any(flow.definition_places(pair)) || any(flow.use_places(pair))
        }),
    }
}
