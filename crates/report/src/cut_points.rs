//! Cut points of def-use pairs: what does every covering path pass, as positions in the source?
//!
//! Method: those of [`analysis::cut_points`], from the start of a run, by their positions; neighbours on one line are
//! merged. Limit: without a function to start in, it is unknown what is passed before a definition.

use std::collections::BTreeMap;

use analysis::cut_points::Dominance;
use analysis::dataflow::{DefinitionId, PairId};
use analysis::distance::Routes;
use analysis::icfg::Icfg;
use coverage::{Coverage, Scope};
use model::{FileId, Program, SpanId};

/// By pair that is a goal, in the order in which they are passed.
pub type CutPoints = BTreeMap<PairId, Vec<SpanId>>;

/// The cut points of all pairs that are goals.
pub fn cut_points(program: &Program, scope: &Scope, coverage: &Coverage) -> CutPoints {
    let root = scope.start().or(program.root).filter(|root| program.function(*root).is_defined());
    let (Some(root), Some(flow)) = (root, coverage.data_flow()) else { return CutPoints::new() };
    let mut by_definition: BTreeMap<DefinitionId, Vec<PairId>> = BTreeMap::new();
    for (_, goal, _) in coverage.goals() {
        if let Some(id) = goal.demand.pair() {
            by_definition.entry(flow.pair(id).definition).or_default().push(id);
        }
    }
    let graph = Icfg::new(program);
    let routes = Routes::of(&graph);
    let dominance = Dominance::of(&graph, &routes, root);
    let mut found = CutPoints::new();
    for (definition, pairs) in by_definition {
        let Some(value_flow) = flow.value_flow(&dominance, definition) else { continue };
        for id in pairs {
            let used = flow.use_places(flow.pair(id)).first();
            if let Some(points) = used.and_then(|used| value_flow.cut_points(*used)) {
                let mut spans: Vec<SpanId> =
                    points.places.iter().filter_map(|place| place.span(program)).collect();
                spans.dedup_by_key(|span| {
                    let at = program.span(*span).at;
                    (at.file, at.line)
                });
                found.insert(id, spans);
            }
        }
    }
    found
}

/// Their lines, `4, 8, 9`; with the file where it is not this one.
pub fn lines(program: &Program, points: &[SpanId], file: Option<FileId>) -> String {
    let line = |span: &SpanId| {
        let at = program.span(*span).at;
        match Some(at.file) == file {
            true => at.line.to_string(),
            false => format!("{}:{}", program.file(at.file).path, at.line),
        }
    };
    points.iter().map(line).collect::<Vec<_>>().join(", ")
}
