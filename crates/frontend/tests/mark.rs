//! What marking finds in the fixtures, as whole-output snapshots.

#[path = "support/marking.rs"]
mod marking;

use std::fmt::Write;

use expect_test::expect_file;
use frontend::marks::Marks;
use marking::{fixture, mark_file};
use model::{LabelValues, Shape, SpanId, StatementKind};

fn check(name: &str) {
    let (marks, _directory) = mark_file(&fixture(name), &[], false);
    let path = format!("../fixtures/mark/{name}.txt");
    expect_file![path].assert_eq(&describe(&marks));
}

fn describe(marks: &Marks) -> String {
    let mut out = String::new();
    for function in &marks.declarations.functions {
        let name = &function.key.name;
        let parameters: Vec<_> = function
            .parameters
            .iter()
            .map(|parameter| {
                let ty = &marks.declarations.types[parameter.ty].spelling;
                let length = parameter.declared_length.map_or(String::new(), |length| format!(" [{length}]"));
                format!("{}: {ty}{length}", parameter.name)
            })
            .collect();
        writeln!(out, "{name}({}) at {}", parameters.join(", "), place(marks, function.span))
            .expect("string");
        for decision in marks.decisions.iter().filter(|decision| decision.function.name == *name) {
            let at = place(marks, decision.span);
            writeln!(out, "  {:?} {at} {}", decision.kind, decision.text).expect("string");
            writeln!(out, "    {}", shape(&decision.shape)).expect("string");
            for (index, condition) in marks.conditions.iter().enumerate() {
                if std::ptr::eq(&marks.decisions[condition.decision.index()], decision) {
                    let at = place(marks, condition.span);
                    writeln!(out, "    c{index} {at} {}", condition.text).expect("string");
                }
            }
        }
        for switch in marks.switches.iter().filter(|switch| switch.function.name == *name) {
            let labels: Vec<_> = switch
                .labels
                .iter()
                .map(|label| match label.values {
                    LabelValues::Range { low, high } if low == high => format!("{low} {}", label.text),
                    LabelValues::Range { low, high } => format!("{low}..{high} {}", label.text),
                    LabelValues::Default => "default".to_owned(),
                })
                .collect();
            let at = place(marks, switch.span);
            writeln!(out, "  switch {at} {}: {}", switch.text, labels.join(", ")).expect("string");
        }
        let statements = marks.statements.iter().filter(|statement| statement.function.name == *name);
        let statements: Vec<_> = statements
            .map(|statement| match statement.kind {
                StatementKind::Return => format!("return@{}", place(marks, statement.span)),
                StatementKind::Other => place(marks, statement.span),
            })
            .collect();
        writeln!(out, "  statements {}", statements.join(" ")).expect("string");
    }
    for gap in &marks.gaps {
        let at = gap.span.map_or(String::new(), |span| place(marks, span));
        writeln!(out, "gap {:?} {at} {}", gap.kind, gap.what).expect("string");
    }
    out
}

fn place(marks: &Marks, span: SpanId) -> String {
    let span = marks.spans[span.index()];
    let file = |file: model::FileId| {
        let path = &marks.files[file.index()].path;
        let name = path.rsplit('/').next().unwrap_or(path);
        if name.ends_with(".c") { String::new() } else { format!("{name}:") }
    };
    let spelled = span.spelled.map_or(String::new(), |spelled| {
        format!("<{}{}:{}>", file(spelled.file), spelled.line, spelled.column)
    });
    format!("{}{}:{}{spelled}", file(span.at.file), span.at.line, span.at.column)
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Leaf(id) => id.to_string(),
        Shape::Constant(value) => value.to_string(),
        Shape::Not(a) => format!("!{}", self::shape(a)),
        Shape::And(a, b) => format!("({} && {})", self::shape(a), self::shape(b)),
        Shape::Or(a, b) => format!("({} || {})", self::shape(a), self::shape(b)),
        Shape::Ternary(a, b, c) => {
            format!("({} ? {} : {})", self::shape(a), self::shape(b), self::shape(c))
        }
        Shape::Equal(a, b) => format!("({} == {})", self::shape(a), self::shape(b)),
        Shape::Differ(a, b) => format!("({} != {})", self::shape(a), self::shape(b)),
    }
}

#[test]
fn loops_and_array_parameters_are_found() {
    check("bubble");
}

#[test]
fn decisions_split_into_conditions() {
    check("shapes");
}

#[test]
fn constants_and_unevaluated_operands_stay_unmarked() {
    check("constants");
}

#[test]
fn statements_and_labels_are_found() {
    check("statements");
}

#[test]
fn macros_keep_both_positions() {
    check("macros");
}

#[test]
fn extensions_are_marked_or_named_as_gaps() {
    check("gnu");
}
