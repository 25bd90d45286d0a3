//! Keys of goals: what keeps its key when the program changes elsewhere.

use std::collections::BTreeSet;

use coverage::{CRITERIA, Coverage, Criterion, Scope, criterion_named};
use model::{Program, text};

/// A function that is one line per part.
struct Written {
    linkage: &'static str,
    name: &'static str,
    file: usize,
    decisions: Vec<&'static str>,
}

fn function(name: &'static str, decisions: &[&'static str]) -> Written {
    Written { linkage: "exported", name, file: 0, decisions: decisions.to_vec() }
}

/// `if (a) r = 1;` for each decision, in a program of these functions; the first begins in this line.
fn program(first_line: usize, functions: &[Written]) -> Program {
    let (mut spans, mut decisions, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut statements, mut code, mut line) = (Vec::new(), Vec::new(), first_line);
    for (number, function) in functions.iter().enumerate() {
        let mut span = |line: usize, column: usize| {
            spans.push(format!("span s{} file{}:{line}:{column}", spans.len(), function.file));
            spans.len() - 1
        };
        let Written { linkage, name, .. } = function;
        code.push(format!("function f{number} \"{name}\" {linkage} (i1) -> void at s{} {{", span(line, 5)));
        for (block, written) in function.decisions.iter().enumerate() {
            line += 1;
            let (head, body, id) = (span(line, 9), span(line, 30), decisions.len());
            decisions.push(format!("decision d{id} if f{number} at s{head} c{id} \"{written}\""));
            conditions.push(format!("condition c{id} of d{id} at s{head} \"{written}\""));
            let (test, then) = (2 * block, 2 * block + 1);
            statements.push(format!("statement f{number} at s{head} in b{test} 0 \"if ({written})\""));
            statements.push(format!("statement f{number} at s{body} in b{then} 0 \"r = 1\""));
            let next = then + 1;
            code.push(format!(
                "b{test}:\n  %{block} = mark c{id} p0\n  branch %{block}, b{then}, b{next} decided c{id}"
            ));
            code.push(format!("b{then}:\n  jump b{next}"));
        }
        code.push(format!("b{}:\n  return\n}}", 2 * function.decisions.len()));
        line += 2;
    }
    let files = ["file file0 \"f.c\"", "file file1 \"lib/f.c\"", "file file2 \"g.c\""].map(str::to_owned);
    let parts = [files.to_vec(), spans, decisions, conditions, statements, code].concat();
    let written = format!("program pointer 64 root f0\n{}\n", parts.join("\n"));
    text::parse(&written).unwrap_or_else(|error| panic!("{error}:\n{written}"))
}

fn keys(program: &Program) -> BTreeSet<String> {
    let structural = CRITERIA.into_iter().filter(|name| !["all-defs", "all-uses", "def-use"].contains(name));
    let criteria: Vec<Box<dyn Criterion>> =
        structural.map(|name| criterion_named(name).expect("known")).collect();
    let coverage = Coverage::new(program, &Scope::whole(program), &criteria);
    let keys: BTreeSet<String> = coverage.goals().map(|(id, ..)| coverage.key(id).to_owned()).collect();
    assert_eq!(keys.len(), coverage.n_goals(), "keys are unique");
    for (id, ..) in coverage.goals() {
        assert_eq!(coverage.with_key(coverage.key(id)), Some(id));
    }
    keys
}

/// All keys of the first are among those of the second.
fn check_kept(before: &Program, after: &Program) {
    let (before, after) = (keys(before), keys(after));
    let lost: Vec<&String> = before.difference(&after).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}

#[test]
fn an_inserted_line_changes_no_key() {
    let functions = || [function("f", &["a > 1", "b", "a > 1"]), function("g", &["b"])];
    let (before, after) = (program(1, &functions()), program(7, &functions()));
    assert_eq!(keys(&before), keys(&after));
}

#[test]
fn an_inserted_decision_changes_no_other_key() {
    let before = program(1, &[function("f", &["a > 1", "b", "a > 1"]), function("g", &["b"])]);
    let after = program(1, &[function("f", &["new", "a > 1", "b", "a > 1"]), function("g", &["b"])]);
    check_kept(&before, &after);
}

#[test]
fn an_inserted_function_changes_no_other_key() {
    let before = program(1, &[function("f", &["a > 1"]), function("g", &["b"])]);
    let after =
        program(1, &[function("e", &["a > 1", "b"]), function("f", &["a > 1"]), function("g", &["b"])]);
    check_kept(&before, &after);
}

#[test]
fn goals_that_are_alike_are_numbered_from_the_second_on() {
    let keys = keys(&program(1, &[function("f", &["a > 1", "a > 1"])]));
    let branches: Vec<&String> = keys.iter().filter(|key| key.starts_with("f.branch.t-")).collect();
    let [first, second] = branches[..] else { panic!("{branches:?}") };
    assert_eq!(*second, format!("{first}.2"));
}

#[test]
fn static_functions_of_the_same_name_have_keys_of_their_own() {
    let local = |file| Written { linkage: "internal", file, ..function("helper", &["a"]) };
    let both = program(1, &[local(0), local(2), function("f", &["a"])]);
    check_kept(&program(1, &[local(0), function("f", &["a"])]), &both);
    assert!(keys(&both).iter().any(|key| key.starts_with("helper~g.c.branch.")));
    // files of the same name
    keys(&program(1, &[local(0), local(1)]));
}

#[test]
fn keys_need_no_quotes() {
    let odd = Written { linkage: "internal", ..function("f$\\xc3\\xa9", &["a && \\\"b c\\\""]) };
    for key in keys(&program(1, &[odd])) {
        assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || "._~-".contains(c)), "{key}");
    }
}
