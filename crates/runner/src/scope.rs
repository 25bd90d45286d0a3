//! The parts of a program whose goals count: `--only WHERE`.
//!
//! Method: a file is identified by the last components of its path, as people type it, or by any path that leads to it; all
//! matching files and functions count. A WHERE without a goal is an error, and the message lists what there is.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use coverage::{Coverage, Criterion, Goal, Part, Scope};
use model::{FileId, FunctionId, Program};

use crate::error::Error;
use crate::spec::Where;

/// Names and lines shown before the rest is left out.
const SHOWN: usize = 30;

/// `scope` with only the goals that lie in one of `only`; all of them when that is empty.
pub fn narrow(
    program: &Program,
    scope: Scope,
    criteria: &[Box<dyn Criterion>],
    only: &[Where],
    root: &Path,
) -> Result<Scope, Error> {
    let all = Coverage::new(program, &scope, criteria);
    let goals: Vec<&Goal> = all.goals().map(|(_, goal, _)| goal).collect();
    let mut parts = Vec::new();
    for place in only {
        let found = meant(place, program, root);
        let here = scope.clone().only(found.clone());
        if found.is_empty() || !goals.iter().any(|goal| here.includes(program, goal)) {
            return Err(without_goal(program, &goals, place, root, !found.is_empty()));
        }
        parts.extend(found);
    }
    Ok(scope.only(parts))
}

/// What a WHERE means.
fn meant(place: &Where, program: &Program, root: &Path) -> Vec<Part> {
    let lines = |file: &Path, first, last| {
        files(program, file, root).map(|file| Part::Lines { file, first, last }).collect()
    };
    match place {
        Where::File(file) => lines(file, 1, u32::MAX),
        Where::Lines { file, first, last } => lines(file, *first, *last),
        Where::Function(name) => {
            let named = (0..).map(FunctionId::new).zip(&program.functions);
            let named = named.filter(|(_, function)| function.is_defined() && function.name == *name);
            named.map(|(id, _)| Part::Function(id)).collect()
        }
    }
}

fn files<'a>(program: &'a Program, wanted: &'a Path, root: &'a Path) -> impl Iterator<Item = FileId> + 'a {
    let all = (0..).map(FileId::new).zip(&program.files);
    all.filter(|(_, file)| means(wanted, Path::new(&file.path), root)).map(|(id, _)| id)
}

/// Whether `wanted` is `file`, or the end of its path.
fn means(wanted: &Path, file: &Path, root: &Path) -> bool {
    let plain =
        |path: &Path| path.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>();
    let real = |path: &Path| root.join(path).canonicalize().ok();
    let same = || real(wanted).is_some_and(|wanted| real(file) == Some(wanted));
    plain(file).ends_with(plain(wanted)) || same()
}

/// What is wrong with a WHERE that has no goal, and what would be right.
fn without_goal(program: &Program, goals: &[&Goal], place: &Where, root: &Path, exists: bool) -> Error {
    if goals.is_empty() {
        return Error::usage(format!("--only {place}: the program has no goals for the criteria given"));
    }
    let positions = || goals.iter().filter_map(|goal| goal.position(program));
    let file_names = || {
        let names: BTreeSet<_> = positions().map(|at| program.file(at.file).path.clone()).collect();
        format!("files with goals are: {}", listed(names))
    };
    let (message, help) = match place {
        Where::Function(name) => {
            let message = if exists {
                format!(
                    "--only {place}: function '{name}' has no goal for the criteria given, or cannot be reached"
                )
            } else {
                format!("--only {place}: no function is called '{name}'")
            };
            let names: BTreeSet<_> =
                goals.iter().map(|goal| program.function(goal.function).name.clone()).collect();
            (message, format!("functions with goals are: {}", listed(names)))
        }
        Where::File(file) | Where::Lines { file, .. } if !exists => {
            (format!("--only {place}: no file of the program is called '{}'", file.display()), file_names())
        }
        Where::File(_) => {
            (format!("--only {place}: the file has no goal for the criteria given"), file_names())
        }
        Where::Lines { file, .. } => {
            let meant: BTreeSet<_> = files(program, file, root).collect();
            let lines: BTreeSet<_> =
                positions().filter(|at| meant.contains(&at.file)).map(|at| at.line).collect();
            let help = if lines.is_empty() {
                file_names()
            } else {
                let lines = listed(lines.into_iter().map(|line| line.to_string()).collect::<Vec<_>>());
                format!("goals in {} are on the lines: {lines}", file.display())
            };
            (format!("--only {place}: there is no goal for the criteria given"), help)
        }
    };
    Error::usage(message).help(help)
}

fn listed(names: impl IntoIterator<Item = String>) -> String {
    let mut names: Vec<String> = names.into_iter().collect();
    if names.len() > SHOWN {
        names.truncate(SHOWN);
        names.push("…".to_owned());
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_meant_by_the_end_of_its_path() {
        for (wanted, file, expected) in [
            ("a.c", "src/a.c", true),
            ("src/a.c", "src/a.c", true),
            ("./src/a.c", "src/a.c", true),
            ("src/a.c", "./src/a.c", true),
            ("a.c", "src/ba.c", false),
            ("lib/a.c", "src/a.c", false),
            ("/home/x/src/a.c", "src/a.c", false),
        ] {
            assert_eq!(
                means(Path::new(wanted), Path::new(file), Path::new("/project")),
                expected,
                "{wanted} {file}"
            );
        }
    }
}
