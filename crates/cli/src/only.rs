//! `--only WHERE`: the parts of a program that somebody is interested in.
//!
//! Method: a file is meant by the last components of its path, as people type it, or by any path that leads to it; all files
//! and functions that fit are meant. A WHERE without a goal is a mistake, and the message names what there is.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use coverage::{Coverage, Criterion, Goal, Part, Scope};
use model::{FileId, FunctionId, Program};

use crate::exit::Failure;

/// Names and lines shown before the rest is left out.
const SHOWN: usize = 30;

/// A part of the program as its user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    File(PathBuf),
    /// Lines of a file, both ends included.
    Lines {
        file: PathBuf,
        first: u32,
        last: u32,
    },
    Function(String),
}

impl Where {
    /// Reads `file.c`, `file.c:10`, `file.c:10-80` and `function=f`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("'{text}' is none of file.c, file.c:10, file.c:10-80, function=NAME");
        if let Some(name) = text.strip_prefix("function=") {
            let name = name.trim();
            return if name.is_empty() { Err(expected()) } else { Ok(Self::Function(name.to_owned())) };
        }
        let (file, lines) = match text.rsplit_once(':') {
            Some((file, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => (file, Some(lines)),
            Some(_) | None => (text, None),
        };
        if file.is_empty() {
            return Err(expected());
        }
        let file = PathBuf::from(file);
        let Some(lines) = lines else { return Ok(Self::File(file)) };
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let line = |digits: &str| digits.parse::<u32>().map_err(|_| expected());
        let (first, last) = (line(first)?, line(last)?);
        if first == 0 || first > last {
            return Err(format!("'{lines}' is no range of lines: they count from 1, the smaller one first"));
        }
        Ok(Self::Lines { file, first, last })
    }

    fn parts(&self, program: &Program) -> Vec<Part> {
        let lines = |file: &Path, first, last| {
            files(program, file).map(|file| Part::Lines { file, first, last }).collect()
        };
        match self {
            Self::File(file) => lines(file, 1, u32::MAX),
            Self::Lines { file, first, last } => lines(file, *first, *last),
            Self::Function(name) => {
                let named = (0..).map(FunctionId::new).zip(&program.functions);
                let named = named.filter(|(_, function)| function.is_defined() && function.name == *name);
                named.map(|(id, _)| Part::Function(id)).collect()
            }
        }
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Lines { file, first, last } if first == last => write!(f, "{}:{first}", file.display()),
            Self::Lines { file, first, last } => write!(f, "{}:{first}-{last}", file.display()),
            Self::Function(name) => write!(f, "function={name}"),
        }
    }
}

/// `scope` with only the goals that lie in one of `only`; all of them when that is empty.
pub fn narrow(
    program: &Program,
    scope: Scope,
    criteria: &[Box<dyn Criterion>],
    only: &[Where],
) -> Result<Scope, Failure> {
    let all = Coverage::new(program, &scope, criteria);
    let goals: Vec<&Goal> = all.goals().map(|(_, goal, _)| goal).collect();
    let mut parts = Vec::new();
    for place in only {
        let found = place.parts(program);
        let here = scope.clone().only(found.clone());
        if found.is_empty() || !goals.iter().any(|goal| here.includes(program, goal)) {
            return Err(without_goal(program, &goals, place, !found.is_empty()));
        }
        parts.extend(found);
    }
    Ok(scope.only(parts))
}

fn files<'a>(program: &'a Program, wanted: &'a Path) -> impl Iterator<Item = FileId> + 'a {
    let all = (0..).map(FileId::new).zip(&program.files);
    all.filter(|(_, file)| means(wanted, Path::new(&file.path))).map(|(id, _)| id)
}

/// Whether `wanted` is `file`, or the end of its path.
fn means(wanted: &Path, file: &Path) -> bool {
    let plain =
        |path: &Path| path.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>();
    let same =
        || wanted.canonicalize().is_ok_and(|wanted| file.canonicalize().is_ok_and(|file| wanted == file));
    plain(file).ends_with(plain(wanted)) || same()
}

/// What is wrong with a WHERE that has no goal, and what would be right.
fn without_goal(program: &Program, goals: &[&Goal], place: &Where, exists: bool) -> Failure {
    if goals.is_empty() {
        return Failure::usage(format!("--only {place}: the program has no goals for the criteria given"));
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
            let meant: BTreeSet<_> = files(program, file).collect();
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
    Failure::usage(message).help(help)
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
    fn a_where_is_a_file_lines_or_a_function() {
        let lines = |first, last| Where::Lines { file: PathBuf::from("src/a.c"), first, last };
        for (text, expected) in [
            ("src/a.c", Where::File(PathBuf::from("src/a.c"))),
            ("src/a.c:7", lines(7, 7)),
            ("src/a.c:10-80", lines(10, 80)),
            ("function=f", Where::Function("f".to_owned())),
            ("odd:name.c", Where::File(PathBuf::from("odd:name.c"))),
        ] {
            let read = Where::parse(text).expect("valid");
            assert_eq!(read, expected);
            assert_eq!(read.to_string(), text);
        }
        for text in
            ["", ":7", "a.c:7-", "a.c:9-7", "a.c:0", "a.c:1-2-3", "a.c:4x", "function=", "a.c:99999999999"]
        {
            assert!(Where::parse(text).is_err(), "{text}");
        }
    }

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
            assert_eq!(means(Path::new(wanted), Path::new(file)), expected, "{wanted} {file}");
        }
    }
}
