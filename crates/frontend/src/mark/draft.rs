//! What walking one unit finds, before it is known that the compiler accepts every mark.

use std::collections::BTreeSet;

use model::ctype::Declarations;
use model::{DecisionKind, Gap, GapKind, Label, Shape, SpanId};

use crate::marks::{MarkedStatement, MarkedSwitch};

/// Everything found in one unit. Ids are local to it.
#[derive(Default)]
pub struct Draft {
    pub declarations: Declarations,
    pub decisions: Vec<DraftDecision>,
    pub leaves: Vec<DraftLeaf>,
    pub switches: Vec<MarkedSwitch>,
    pub statements: Vec<MarkedStatement>,
    pub gaps: Vec<Gap>,
    /// First and last line of the bodies of functions, also of system headers.
    pub bodies: Vec<(u32, u32)>,
    /// Lines on which `main` is named.
    pub main_names: Vec<u32>,
    /// Line of the brace that ends `main`, when it returns `int`.
    pub main_end: Option<u32>,
}

/// A decision; leaves of its shape are indices into [`Draft::leaves`].
pub struct DraftDecision {
    pub function: String,
    pub kind: DecisionKind,
    pub shape: Shape,
    pub span: Option<SpanId>,
    pub text: String,
}

/// A condition: the lines to wrap in a mark.
pub struct DraftLeaf {
    /// Index into [`Draft::decisions`].
    pub decision: usize,
    pub lines: (u32, u32),
    pub span: Option<SpanId>,
    pub text: String,
    /// If it compares numbers: whether they have a sign, and the sides as they are written.
    pub compares: Option<(bool, (String, String))>,
}

/// A switch that is being walked.
#[derive(Default)]
pub struct OpenSwitch {
    pub labels: Vec<Label>,
}

impl Draft {
    /// Records what gets no mark.
    pub fn unmarked(&mut self, span: Option<SpanId>, what: String) {
        self.gaps.push(Gap { kind: GapKind::UnmarkedCondition, function: None, span, what });
    }

    /// Takes decisions out and records each as a gap; a decision is dropped whole, because what is left of it could not
    /// be measured.
    pub fn drop_decisions(&mut self, dropped: &BTreeSet<usize>) {
        let mut new_index = Vec::with_capacity(self.decisions.len());
        let mut kept = Vec::new();
        for (index, decision) in std::mem::take(&mut self.decisions).into_iter().enumerate() {
            new_index.push(kept.len());
            if dropped.contains(&index) {
                self.unmarked(decision.span, decision.text);
            } else {
                kept.push(decision);
            }
        }
        let mut new_leaf = Vec::with_capacity(self.leaves.len());
        let mut leaves: Vec<DraftLeaf> = Vec::new();
        for leaf in std::mem::take(&mut self.leaves) {
            new_leaf.push(leaves.len());
            if !dropped.contains(&leaf.decision) {
                leaves.push(DraftLeaf { decision: new_index[leaf.decision], ..leaf });
            }
        }
        for decision in &mut kept {
            decision.shape.renumber(&|id| new_leaf[id]);
        }
        self.decisions = kept;
        self.leaves = leaves;
    }
}

/// Changing the ids of a shape's leaves.
pub trait Renumber {
    /// Replaces the index of every leaf.
    fn renumber(&mut self, new: &dyn Fn(usize) -> usize);
}

impl Renumber for Shape {
    fn renumber(&mut self, new: &dyn Fn(usize) -> usize) {
        match self {
            Self::Leaf(id) => *id = model::ConditionId::new(new(id.index())),
            Self::Constant(_) => {}
            Self::Not(a) => a.renumber(new),
            Self::And(a, b) | Self::Or(a, b) | Self::Equal(a, b) | Self::Differ(a, b) => {
                a.renumber(new);
                b.renumber(new);
            }
            Self::Ternary(a, b, c) => {
                a.renumber(new);
                b.renumber(new);
                c.renumber(new);
            }
        }
    }
}
