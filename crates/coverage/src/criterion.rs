//! What a criterion is: from a program to its goals.

use analysis::dataflow::DataFlow;
use model::Program;

use crate::{Goal, Scope};

/// Defines what must be covered.
pub trait Criterion {
    /// The name users give.
    fn name(&self) -> &'static str;
    /// Whether its goals are about data flow.
    fn needs_data_flow(&self) -> bool {
        false
    }
    /// Whether, of data flow, it looks at elements of small arrays one by one.
    fn tells_elements_apart(&self) -> bool {
        false
    }
    /// What it asks for within `scope`; `flow` is there when a criterion needs it.
    fn goals(&self, program: &Program, scope: &Scope, flow: Option<&DataFlow>) -> Vec<Goal>;
}
