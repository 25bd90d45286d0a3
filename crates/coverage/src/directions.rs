//! By which directions of which sites is a demand met?

use analysis::decision::{independent, vectors};
use model::walk::{Choice, Site};
use model::{BlockId, ConditionId, DecisionId, FunctionId, Program, SwitchId, Terminator};

use crate::demand::DemandPlaces;
use crate::observe::case_of;
use crate::vector::{Progress, Vector, progress};
use crate::{Case, Demand};

/// Decisions with more conditions are not taken apart.
const MAX_CONDITIONS: usize = 10;

/// The directions that runs take which meet it; none when reaching a block does, or when no single site decides.
pub(crate) fn directions(
    program: &Program,
    places: &DemandPlaces<'_>,
    demand: Demand,
) -> Vec<(Site, Choice)> {
    match demand {
        Demand::Condition(condition, value) => vec![(Site::Condition(condition), Choice::Outcome(value))],
        Demand::Decision(decision, outcome) => in_vectors(program, decision, |_, result| result == outcome),
        Demand::Vector(decision, number) => {
            let mut n_before = number;
            in_vectors(program, decision, |_, _| {
                let is_it = n_before == 0;
                n_before = n_before.wrapping_sub(1);
                is_it
            })
        }
        Demand::Independent(condition, value) | Demand::Paired(condition, value) => {
            let decision = program.condition(condition).decision;
            let shape = &program.decision(decision).shape;
            in_vectors(program, decision, |vector, _| {
                let shown = independent(shape, &vector.by_condition(shape));
                shown.into_iter().any(|shown| shown == (condition, value))
            })
        }
        Demand::Label(switch, case) => {
            let places = places.deciding(demand).into_iter();
            places.flat_map(|place| to_label(program, (place.function, place.block), switch, case)).collect()
        }
        Demand::Entered(_)
        | Demand::Ended(_)
        | Demand::Executed(_)
        | Demand::Defined(_)
        | Demand::Used(_)
        | Demand::Pair(_) => Vec::new(),
    }
}

/// The outcomes of conditions in the evaluations that are meant.
fn in_vectors(
    program: &Program,
    decision: DecisionId,
    mut is_meant: impl FnMut(&Vector, bool) -> bool,
) -> Vec<(Site, Choice)> {
    let shape = &program.decision(decision).shape;
    let conditions = shape.conditions();
    let direction = |condition: ConditionId, value| (Site::Condition(condition), Choice::Outcome(value));
    if conditions.len() > MAX_CONDITIONS {
        return conditions.iter().flat_map(|c| [direction(*c, true), direction(*c, false)]).collect();
    }
    let mut found = Vec::new();
    for outcomes in vectors(shape) {
        let Progress::Done(result) = progress(shape, &outcomes) else { continue };
        if is_meant(&Vector::from(outcomes.as_slice()), result) {
            let evaluated = conditions.iter().zip(&outcomes);
            found.extend(evaluated.filter_map(|(condition, value)| Some(direction(*condition, (*value)?))));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The directions at the end of a block by which a switch goes to a label.
fn to_label(
    program: &Program,
    (function, block): (FunctionId, BlockId),
    switch: SwitchId,
    case: Case,
) -> Vec<(Site, Choice)> {
    match &program.function(function).block(block).terminator {
        Terminator::Switch { cases, bits, .. } => {
            let values = cases.iter().map(|case| Some(case.value)).zip((0..).map(Choice::Case));
            let all = values.chain([(None, Choice::Default)]);
            let is_meant = |value: &Option<u128>| case_of(program, switch, *value, *bits) == Some(case);
            let meant = all.filter(|(value, _)| is_meant(value));
            meant.map(|(_, choice)| (Site::Switch(function, block), choice)).collect()
        }
        Terminator::Branch { range: Some(test), .. } => {
            vec![(Site::Branch(function, block), Choice::Outcome(case == Case::Label(test.label)))]
        }
        Terminator::Branch { .. }
        | Terminator::Jump(_)
        | Terminator::IndirectJump { .. }
        | Terminator::Return(_)
        | Terminator::Unreachable => Vec::new(),
    }
}
