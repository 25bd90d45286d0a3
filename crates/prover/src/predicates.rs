//! Which predicates tell the states at a cut apart?
//!
//! Method: of a variable that takes few values, which of them it has; of another one, on which side of the constants that it is
//! compared with it lies ([`crate::domains`]); of two that the code compares, which is the smaller; of a flow of data, whether a
//! definition of it reaches this point. A group holds the predicates of one variable, of which a state needs few to be described.

use std::collections::BTreeSet;

use model::Type;
use proof::{FlowHome, Formula, Operator};

use crate::candidates::{address_of, integer_width};
use crate::domains::{Domain, Domains, Variable};
use crate::encode::Encoder;
use crate::graph::{ContextId, Node};
use crate::objects::Object;
use crate::terms::{ones, signed};

/// Constants that a variable is compared with at most.
const MAX_THRESHOLDS: usize = 24;
/// Pairs of variables that are compared with each other at most.
const MAX_RELATIONS: usize = 24;
/// Variables of a cut at most.
const MAX_VARIABLES: usize = 120;

/// Predicates that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// That a variable has one of its values: at most one of these holds.
    Values(Vec<Formula>),
    /// That a variable is at most so much, in rising order: where one holds, so do those after it.
    AtMost(Vec<Formula>),
    Single(Formula),
    /// The flag of the goal with this number.
    Flag(usize, Formula),
}

/// A variable where a cut sees it.
struct Seen {
    variable: Option<Variable>,
    formula: Formula,
    width: u32,
    is_pointer: bool,
    domain: Domain,
}

/// The predicates of a cut.
pub(crate) fn predicates(encoder: &Encoder<'_, '_>, domains: &Domains, cut: Node) -> Vec<Group> {
    let enclosing = encoder.graph.enclosing(cut.context);
    let seen = seen(encoder, domains, &enclosing);
    let mut groups: Vec<Group> = seen.iter().filter_map(group).collect();
    groups.extend(relations(domains, &seen));
    groups.extend(flags(encoder, &enclosing));
    groups
}

/// The numbers that a cut sees, with their widths.
pub(crate) fn scalars(encoder: &Encoder<'_, '_>, domains: &Domains, cut: Node) -> Vec<(Formula, u32)> {
    let seen = seen(encoder, domains, &encoder.graph.enclosing(cut.context)).into_iter();
    seen.filter(|seen| !seen.is_pointer).map(|seen| (seen.formula, seen.width)).collect()
}

fn seen(encoder: &Encoder<'_, '_>, domains: &Domains, enclosing: &[ContextId]) -> Vec<Seen> {
    let mut seen = Vec::new();
    for &context in enclosing {
        seen.extend(locals(encoder, domains, context));
    }
    seen.extend(cells(encoder, domains, enclosing));
    seen.truncate(MAX_VARIABLES);
    seen
}

fn locals<'a>(
    encoder: &'a Encoder<'_, '_>,
    domains: &'a Domains,
    context: ContextId,
) -> impl Iterator<Item = Seen> + 'a {
    let activation = encoder.graph.context(context);
    let promoted = &encoder.locals[&activation.function].promoted;
    promoted.iter().filter_map(move |(&alloca, &ty)| {
        let width = integer_width(encoder, ty)?;
        let variable = Variable::Local(activation.function, alloca);
        let formula = Formula::Local { context: activation.path.clone(), alloca };
        let (is_pointer, domain) = (ty == Type::Ptr, domains.get(variable));
        Some(Seen { variable: Some(variable), formula, width, is_pointer, domain })
    })
}

fn cells(encoder: &Encoder<'_, '_>, domains: &Domains, enclosing: &[ContextId]) -> Vec<Seen> {
    let mut seen = Vec::new();
    for (cell, stored) in &encoder.cells.all {
        let Some(base) = address_of(encoder, enclosing, cell.object) else { continue };
        let moved = Formula::Bits { bits: encoder.program.pointer_bits, value: cell.offset.into() };
        let address = if cell.offset == 0 { base } else { Formula::apply(Operator::BvAdd, [base, moved]) };
        let formula = Formula::Load { bits: cell.width, address: Box::new(address) };
        let (variable, domain) = match cell.object {
            Object::Global(global) => {
                let variable = Variable::Global(global, cell.offset);
                (Some(variable), domains.get(variable))
            }
            Object::Local(..) | Object::Function(_) | Object::Heap(_) => {
                let constants = stored.constants.clone();
                (None, Domain { compared: constants.clone(), constants, is_open: stored.others })
            }
        };
        let is_pointer = false;
        seen.push(Seen { variable, formula, width: cell.width, is_pointer, domain });
    }
    seen
}

fn group(seen: &Seen) -> Option<Group> {
    let apply = |operator, value| {
        let constant = Formula::Bits { bits: seen.width, value };
        Formula::apply(operator, [seen.formula.clone(), constant])
    };
    if seen.is_pointer {
        return Some(Group::Single(apply(Operator::Equal, 0)));
    }
    let fits = |value: &u128| *value <= ones(seen.width);
    if let Some(members) = seen.domain.members() {
        let members: Vec<u128> = members.iter().copied().filter(fits).collect();
        return (!members.is_empty()).then(|| {
            Group::Values(members.into_iter().map(|value| apply(Operator::Equal, value)).collect())
        });
    }
    let mut thresholds: BTreeSet<i128> = BTreeSet::new();
    for value in seen.domain.compared.iter().chain(&seen.domain.constants).filter(|value| fits(value)) {
        let value = signed(*value, seen.width);
        let lowest = -(1_i128 << (seen.width - 1));
        thresholds.extend([value, value - 1].into_iter().filter(|value| *value >= lowest));
    }
    let at_most = thresholds.into_iter().take(MAX_THRESHOLDS);
    let at_most: Vec<Formula> =
        at_most.map(|value| apply(Operator::BvSle, value as u128 & ones(seen.width))).collect();
    (!at_most.is_empty()).then_some(Group::AtMost(at_most))
}

fn relations(domains: &Domains, seen: &[Seen]) -> Vec<Group> {
    let find = |variable: Variable| seen.iter().find(|seen| seen.variable == Some(variable));
    let mut groups = Vec::new();
    for (one, other, is_signed) in &domains.relations {
        let (Some(one), Some(other)) = (find(*one), find(*other)) else { continue };
        if one.width != other.width || one.formula == other.formula {
            continue;
        }
        let operators = match is_signed {
            true => [Operator::BvSlt, Operator::BvSle],
            false => [Operator::BvUlt, Operator::BvUle],
        };
        for operator in operators {
            let formula = Formula::apply(operator, [one.formula.clone(), other.formula.clone()]);
            groups.push(Group::Single(formula));
        }
        if groups.len() >= 2 * MAX_RELATIONS {
            break;
        }
    }
    groups
}

/// The flags of flows of data whose variable lives here.
fn flags(encoder: &Encoder<'_, '_>, enclosing: &[ContextId]) -> Vec<Group> {
    let mut groups = Vec::new();
    for &context in enclosing {
        let activation = encoder.graph.context(context);
        let flag = |goal| Group::Flag(goal, Formula::Flag(activation.path.clone()));
        if encoder.counts(context) {
            let flows = encoder.watch.flows.get(&activation.function).into_iter().flatten();
            groups.extend(flows.map(|flow| flag(flow.goal)));
        }
        for flow in &encoder.watch.memory {
            let is_owner = match flow.object.home {
                FlowHome::Global(_) => context == ContextId::ENTRY,
                FlowHome::Local(function, _) => function == activation.function,
            };
            groups.extend(is_owner.then(|| flag(flow.goal)));
        }
    }
    groups
}
