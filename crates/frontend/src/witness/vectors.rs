//! Evaluations of decisions as `llvm-cov show --show-mcdc` prints them; the export of version 19 leaves them out.

/// A decision of several conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredDecision {
    /// Line and column.
    pub begin: (u32, u32),
    pub end: (u32, u32),
    /// Where each condition begins, in order of evaluation, and whether it is a constant.
    pub conditions: Vec<((u32, u32), bool)>,
    pub evaluations: Vec<Evaluation>,
}

/// An evaluation: the values of all conditions, those that were not evaluated missing, and the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    pub values: Vec<Option<bool>>,
    pub outcome: bool,
}

/// The decisions of a page; one that is there several times, in instances of its function, is one.
pub(super) fn read(page: &str) -> Vec<MeasuredDecision> {
    let mut all: Vec<MeasuredDecision> = Vec::new();
    for line in page.lines() {
        let Some(line) = line.trim_start().strip_prefix('|') else { continue };
        if let Some(extent) = line.strip_prefix("---> MC/DC Decision Region ") {
            if let [begin, end] = places(extent)[..] {
                all.push(MeasuredDecision { begin, end, conditions: Vec::new(), evaluations: Vec::new() });
            }
            continue;
        }
        let (Some(decision), line) = (all.last_mut(), line.trim()) else { continue };
        if line.starts_with("Condition C") {
            decision.conditions.extend(places(line).first().map(|place| (*place, false)));
        } else if let Some((number, verdict)) = pair(line) {
            let is_folded = verdict.starts_with("constant folded");
            let condition = number.checked_sub(1).and_then(|index| decision.conditions.get_mut(index));
            condition.into_iter().for_each(|condition| condition.1 = is_folded);
        } else if let Some(evaluation) = evaluation(line) {
            decision.evaluations.push(evaluation);
        }
    }
    joined(all)
}

fn joined(all: Vec<MeasuredDecision>) -> Vec<MeasuredDecision> {
    let mut joined: Vec<MeasuredDecision> = Vec::new();
    for decision in all {
        let same = |known: &&mut MeasuredDecision| {
            (known.begin, known.end, &known.conditions)
                == (decision.begin, decision.end, &decision.conditions)
        };
        match joined.iter_mut().find(same) {
            Some(known) => known.evaluations.extend(decision.evaluations),
            None => joined.push(decision),
        }
    }
    joined
}

/// `(21:13) to (21:19)`.
fn places(text: &str) -> Vec<(u32, u32)> {
    let inside = text.split('(').skip(1).filter_map(|part| part.split(')').next());
    inside
        .filter_map(|place| {
            let (line, column) = place.split_once(':')?;
            Some((line.parse().ok()?, column.parse().ok()?))
        })
        .collect()
}

/// `C1-Pair: covered: (1,3)`.
fn pair(line: &str) -> Option<(usize, &str)> {
    let (number, verdict) = line.strip_prefix('C')?.split_once("-Pair: ")?;
    Some((number.parse().ok()?, verdict))
}

/// `1 { T,  -      = F      }`; `C` stands for a constant.
fn evaluation(line: &str) -> Option<Evaluation> {
    let (number, rest) = line.split_once(" { ")?;
    number.parse::<u64>().ok()?;
    let (values, outcome) = rest.split_once('=')?;
    let value = |word: &str| match word.trim() {
        "T" => Some(Some(true)),
        "F" => Some(Some(false)),
        "-" | "C" => Some(None),
        _ => None,
    };
    let values = values.split(',').map(value).collect::<Option<Vec<_>>>()?;
    Some(Evaluation { values, outcome: outcome.trim().starts_with('T') })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "   21|      1|    int r = a && (b || 1);
  ------------------
  |---> MC/DC Decision Region (21:13) to (21:26)
  |
  |  Number of Conditions: 3
  |     Condition C1 --> (21:13)
  |     Condition C2 --> (21:19)
  |     Condition C3 --> (21:24)
  |
  |  Executed MC/DC Test Vectors:
  |
  |     C1, C2, C3    Result
  |  1 { F,  -,  C  = F      }
  |  2 { T,  T,  C  = T      }
  |
  |  C1-Pair: covered: (1,2)
  |  C2-Pair: not covered
  |  C3-Pair: constant folded
  |  MC/DC Coverage for Decision: 50.00%
  |
";

    #[test]
    fn evaluations_are_read_from_the_page() {
        let evaluation = |values: &[Option<bool>], outcome| Evaluation { values: values.to_vec(), outcome };
        let expected = MeasuredDecision {
            begin: (21, 13),
            end: (21, 26),
            conditions: vec![((21, 13), false), ((21, 19), false), ((21, 24), true)],
            evaluations: vec![
                evaluation(&[Some(false), None, None], false),
                evaluation(&[Some(true), Some(true), None], true),
            ],
        };
        assert_eq!(read(PAGE), [expected]);
    }

    #[test]
    fn instances_of_a_decision_are_one() {
        let twice = read(&format!("{PAGE}{PAGE}"));
        assert_eq!((twice.len(), twice[0].evaluations.len()), (1, 4));
    }
}
