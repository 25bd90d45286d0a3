//! Many proofs of one program that argue alike: decided with one query instead of one each.
//!
//! Method: proofs with the same activations, cuts and kind of argument are taken together: at each cut the formulas of all of them hold, and none of their goals may
//! be covered. What is accepted so is a proof of each: the formulas together are shown as those of one proof are, and a query that excludes all goals excludes each.
//! Where that fails, each is checked by itself. Limit: goals with a flag are always checked by themselves.

use std::sync::Arc;

use super::{Checker, mentions_flag};
use crate::{Body, Cut, Decide, Formula, Goal, Operator, Proof, Verdict};

/// Goals in one query at most.
const MAX_TOGETHER: usize = 64;

impl Checker<'_> {
    /// Whether each proof shows its claim, in their order.
    pub fn check_all(&self, proofs: &[&Proof], decide: &mut dyn Decide) -> Vec<Verdict> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (number, proof) in proofs.iter().enumerate() {
            let fits =
                |group: &&mut Vec<usize>| group.len() < MAX_TOGETHER && are_alike(proofs[group[0]], proof);
            match groups.iter_mut().find(fits) {
                Some(group) => group.push(number),
                None => groups.push(vec![number]),
            }
        }
        let mut verdicts = vec![Verdict::Unknown(String::new()); proofs.len()];
        for group in groups {
            let members: Vec<&Proof> = group.iter().map(|number| proofs[*number]).collect();
            let all = if members.len() > 1 { self.together(&members, decide) } else { None };
            for number in group {
                verdicts[number] = match &all {
                    Some(verdict) => verdict.clone(),
                    None => self.check(proofs[number], decide),
                };
            }
        }
        verdicts
    }

    /// What holds of all of the proofs, if one query for each cut decides it.
    fn together(&self, proofs: &[&Proof], decide: &mut dyn Decide) -> Option<Verdict> {
        let (first, others) = proofs.split_first()?;
        let mut cuts = first.cuts.clone();
        for (number, cut) in cuts.iter_mut().enumerate() {
            cut.formula = conjunction(proofs.iter().map(|proof| &proof.cuts[number].formula));
        }
        let all = Proof { cuts, ..(*first).clone() };
        match self.check_beside(&all, others, decide) {
            verdict @ (Verdict::Accepted { .. } | Verdict::Disagreement(_)) => Some(verdict),
            Verdict::Rejected(_) | Verdict::Unknown(_) => None,
        }
    }
}

/// Whether two proofs differ in nothing but their goals, of which neither has a flag, and in their formulas.
fn are_alike(one: &Proof, other: &Proof) -> bool {
    let is_simple = |proof: &Proof| {
        proof.halves.is_none()
            && !matches!(proof.claim.goal, Goal::Pair { .. } | Goal::End { .. } | Goal::Flow { .. })
            && !proof.cuts.iter().any(|cut| mentions_flag(&cut.formula))
    };
    let are_points = |(one, other): (&Cut, &Cut)| one.context == other.context && one.block == other.block;
    let is_same_argument = match (&one.body, &other.body) {
        (Body::Inductive, Body::Inductive) => true,
        (Body::Listed(one), Body::Listed(other)) => Arc::ptr_eq(one, other) || one == other,
        (Body::Inductive | Body::KInduction(_) | Body::Unrolled(_) | Body::Listed(_), _) => false,
    };
    is_simple(one)
        && is_simple(other)
        && is_same_argument
        && (&one.claim.program, one.claim.entry, &one.claim.assumptions)
            == (&other.claim.program, other.claim.entry, &other.claim.assumptions)
        && one.contexts == other.contexts
        && one.cuts.len() == other.cuts.len()
        && one.cuts.iter().zip(&other.cuts).all(are_points)
}

/// All that the formulas say, each part once.
fn conjunction<'f>(formulas: impl Iterator<Item = &'f Formula>) -> Formula {
    let mut parts: Vec<Formula> = Vec::new();
    for formula in formulas {
        let own = match formula {
            Formula::Apply(Operator::And, operands) => operands.as_slice(),
            other => std::slice::from_ref(other),
        };
        for part in own {
            if *part != Formula::Bool(true) && !parts.contains(part) {
                parts.push(part.clone());
            }
        }
    }
    match parts.len() {
        0 => Formula::Bool(true),
        1 => parts.remove(0),
        _ => Formula::apply(Operator::And, parts),
    }
}
