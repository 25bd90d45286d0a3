//! What MC/DC requires of a decision's conditions, which evaluations of the tests show it, and which would.

use std::collections::BTreeMap;

use analysis::decision::{Row, Terminates, independent, table};
use coverage::tally::Tally;
use coverage::vector::Vector;
use coverage::{only_difference, showing};
use model::{Condition, ConditionId, Decision, DecisionId, Program, SpanId};

use super::hits;
use report::facts::{At, ConditionFacts, ObligationFacts, PairFacts, VectorFacts};

/// Pairs that are kept of a condition.
const PAIRS_KEPT: usize = 8;
/// Evaluations that are named when something is missing.
const MISSING_NAMED: usize = 4;
/// Conditions of a decision in which such evaluations are looked for: the work grows with the fourth power of their number.
const MAX_CONDITIONS: usize = 32;

/// The different evaluations that tests made of a decision.
pub fn vectors(tallies: &[Option<Tally>], id: DecisionId) -> Vec<(Vector, VectorFacts)> {
    let mut seen: BTreeMap<Vector, bool> = BTreeMap::new();
    for tally in tallies.iter().flatten() {
        seen.extend(tally.vectors(id).map(|(vector, seen)| (vector.clone(), seen.outcome)));
    }
    let facts = |(vector, outcome): (Vector, bool)| {
        let times = |tally: &Tally| {
            tally.vectors(id).find(|(seen, _)| **seen == vector).map_or(0, |(_, seen)| seen.n)
        };
        let facts = VectorFacts { vector: vector.to_string(), outcome, hits: hits(tallies, times) };
        (vector, facts)
    };
    seen.into_iter().map(facts).collect()
}

/// The conditions of a decision; `place` says where an expression begins and ends.
pub fn conditions(
    program: &Program,
    decision: &Decision,
    tallies: &[Option<Tally>],
    vectors: &[(Vector, VectorFacts)],
    place: impl Fn(SpanId, &str) -> (At, Option<(u32, u32)>),
) -> Vec<ConditionFacts> {
    let conditions = decision.shape.conditions();
    let rows = table(&decision.shape);
    let maker = Maker { decision, conditions: &conditions, vectors };
    let facts = |id: &ConditionId| {
        let Condition { span, text, .. } = program.condition(*id);
        let (at, end) = place(*span, text);
        let own = rows.iter().filter(|row| row.condition == *id);
        let mut obligations: Vec<ObligationFacts> = own.map(|row| maker.obligation(row)).collect();
        obligations.sort_by_key(|obligation| !obligation.value);
        ConditionFacts {
            at,
            end,
            text: text.clone(),
            when_true: hits(tallies, |tally| tally.condition(*id, true)),
            when_false: hits(tallies, |tally| tally.condition(*id, false)),
            pairs: maker.pairs(*id),
            obligations,
        }
    };
    conditions.iter().map(facts).collect()
}

struct Maker<'a> {
    decision: &'a Decision,
    conditions: &'a [ConditionId],
    vectors: &'a [(Vector, VectorFacts)],
}

impl Maker<'_> {
    fn obligation(&self, row: &Row) -> ObligationFacts {
        let shown_by = self.shown_by(row.condition, row.value);
        let unlisted = self.conditions.len() > MAX_CONDITIONS;
        let missing = if shown_by.is_empty() && !unlisted {
            showing(&self.decision.shape, row.condition, row.value, MISSING_NAMED)
        } else {
            Vec::new()
        };
        let place = |condition: &ConditionId| self.conditions.iter().position(|known| known == condition);
        ObligationFacts {
            value: row.value,
            masks: row.masks.iter().filter_map(place).collect(),
            ends: match row.terminates {
                Terminates::Always(true) => "true",
                Terminates::Always(false) => "false",
                Terminates::Never => "no",
                Terminates::Depends => "depends",
            }
            .to_owned(),
            shown_by,
            missing: missing.iter().map(Vector::to_string).collect(),
            unlisted,
        }
    }

    /// The evaluations that show the condition with this value to affect the outcome.
    fn shown_by(&self, condition: ConditionId, value: bool) -> Vec<usize> {
        let shape = &self.decision.shape;
        let shows =
            |vector: &Vector| independent(shape, &vector.by_condition(shape)).get(&condition) == Some(&value);
        let all = self.vectors.iter().enumerate();
        all.filter(|(_, (vector, _))| shows(vector)).map(|(index, _)| index).collect()
    }

    fn pairs(&self, condition: ConditionId) -> Vec<PairFacts> {
        let place = self.conditions.iter().position(|known| *known == condition);
        let others = self.shown_by(condition, false);
        let mut pairs = Vec::new();
        for when_true in self.shown_by(condition, true) {
            for when_false in &others {
                let ((a, one), (b, other)) = (&self.vectors[when_true], &self.vectors[*when_false]);
                if one.outcome != other.outcome {
                    let unique_cause = only_difference(a, b) == place;
                    pairs.push(PairFacts { when_true, when_false: *when_false, unique_cause });
                }
            }
        }
        pairs.sort_by_key(|pair| !pair.unique_cause);
        pairs.truncate(PAIRS_KEPT);
        pairs
    }
}
