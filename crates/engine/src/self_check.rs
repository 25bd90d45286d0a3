//! Do the expressions agree with what the program did?
//!
//! Method: all nodes are evaluated in one pass over the arena (operands come first) with the run's own cell values; at
//! every step, pin and assumption the value must be the one that the run had. The arithmetic here is written on its own:
//! it shares nothing with the solver's terms. Limit: it needs memory for one word per node.

use std::fmt;

use model::Program;
use model::input::Input;
use model::walk::Site;
use wire::NodeId;

use crate::terms::{Expressions, TermError};
use crate::trace::{Choice, Note, Trace, switch_cases};
use crate::values::Values;

/// An expression whose value is not what the program computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub at: MismatchSite,
    pub node: NodeId,
    /// What the program did.
    pub native: String,
    /// What the expression says.
    pub expression: String,
    pub input: Input,
}

/// Where an expression with another value was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchSite {
    /// The outcome at this site, so many outcomes into the run.
    Step { site: Site, position: u64 },
    /// The note with this number.
    Note { index: usize },
}

impl fmt::Display for MismatchSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step { site: Site::Condition(condition), position } => {
                write!(f, "condition {condition}, outcome {position} of the run")
            }
            Self::Step { site: Site::Branch(function, block), position } => {
                write!(f, "branch {function} {block}, outcome {position} of the run")
            }
            Self::Step { site: Site::Switch(function, block), position } => {
                write!(f, "switch {function} {block}, outcome {position} of the run")
            }
            Self::Note { index } => write!(f, "note {index} of the run"),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, node, native, expression, .. } = self;
        write!(f, "{at}: the program had {native}, its expression {node} gives {expression}")
    }
}

/// Compares every expression that `trace` uses with what the run did.
pub fn check(
    program: &Program,
    expressions: &Expressions<'_>,
    trace: &Trace,
    input: &Input,
) -> Result<Vec<Mismatch>, TermError> {
    let values = Values::of(expressions)?;
    let mut mismatches = Vec::new();
    let mut compare = |at, node, native: String, expression: String| {
        if native != expression {
            mismatches.push(Mismatch { at, node, native, expression, input: input.clone() });
        }
    };
    for step in &trace.steps {
        let value = values.get(step.node)?;
        let expression = match step.site {
            Site::Condition(_) | Site::Branch(..) => Choice::Outcome(value != 0),
            Site::Switch(function, block) => {
                let cases = switch_cases(program, function, block);
                let case = cases.iter().zip(0..).find(|(case, _)| case.value == u128::from(value));
                case.map_or(Choice::Default, |(_, index)| Choice::Case(index))
            }
        };
        let at = MismatchSite::Step { site: step.site, position: step.position };
        compare(at, step.node, step.taken.to_string(), expression.to_string());
    }
    for (index, note) in trace.notes.iter().enumerate() {
        let (node, native) = match *note {
            Note::Pin { node, value, .. }
            | Note::Pointer { node, value, .. }
            | Note::Size { node, value, .. } => (node, value),
            Note::Assume { node } | Note::Prefer { node } | Note::Bounds { node, .. } => (node, 1),
        };
        compare(MismatchSite::Note { index }, node, native.to_string(), values.get(node)?.to_string());
    }
    Ok(mismatches)
}

#[cfg(test)]
mod tests;
