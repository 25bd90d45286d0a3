//! Finding functions by name, and advice when there is none.

use model::ctype::{CFunction, FunctionKey};

use crate::marks::Marks;

use super::HarnessError;

/// The function called `name`, or `file.c:name` when several files define one.
pub fn find(marks: &Marks, name: &str) -> Result<FunctionKey, HarnessError> {
    let (file, function) = match name.rsplit_once(':') {
        Some((file, function)) => (Some(file), function),
        None => (None, name),
    };
    let source = |unit: usize| marks.units[unit].source.display().to_string();
    let in_file = |unit: usize| {
        file.is_none_or(|file| {
            let source = source(unit);
            source == file || source.strip_suffix(file).is_some_and(|rest| rest.ends_with('/'))
        })
    };
    let named = |candidate: &&CFunction| candidate.key.name == function && in_file(candidate.key.unit);
    let found: Vec<_> = marks.declarations.functions.iter().filter(named).collect();
    match found.as_slice() {
        [] => Err(unknown(marks, function)),
        [only] => Ok(only.key.clone()),
        // The same inline function of a header, seen by several units, is one function.
        [first, others @ ..] if others.iter().all(|other| same_place(marks, first, other)) => {
            Ok(first.key.clone())
        }
        several => Err(HarnessError::AmbiguousFunction {
            name: function.to_owned(),
            files: several.iter().map(|function| source(function.key.unit)).collect(),
        }),
    }
}

/// The definition of a function.
pub fn definition<'a>(marks: &'a Marks, key: &FunctionKey) -> Result<&'a CFunction, HarnessError> {
    marks.declarations.definition(key).ok_or_else(|| unknown(marks, &key.name))
}

fn same_place(marks: &Marks, a: &CFunction, b: &CFunction) -> bool {
    marks.spans[a.span.index()].at == marks.spans[b.span.index()].at
}

fn unknown(marks: &Marks, name: &str) -> HarnessError {
    let files: Vec<_> = marks.units.iter().map(|unit| unit.source.display().to_string()).collect();
    let place = |near: String| {
        let function = marks.declarations.functions.iter().find(|function| function.key.name == near);
        let at = function.map(|function| marks.spans[function.span.index()].at);
        match at {
            Some(at) => format!("{near} ({}:{})", marks.files[at.file.index()].path, at.line),
            None => near,
        }
    };
    let all = marks.declarations.functions.iter().map(|function| function.key.name.as_str());
    let mut close = near(name, all.clone());
    if close.is_empty() && marks.declarations.functions.len() <= 8 {
        close = all.map(str::to_owned).collect();
    }
    HarnessError::UnknownFunction {
        name: name.to_owned(),
        files: files.join(", "),
        near: close.into_iter().map(place).collect(),
    }
}

/// Advice made of near names.
pub fn suggestion(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (there is {})", near.join(", ")) }
}

/// The names most like `name`, nearest first, at most three.
pub fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let limit = (name.chars().count() / 3).max(2);
    let mut close: Vec<_> = names
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= limit || (name.len() > 2 && (candidate.contains(name) || name.contains(candidate)))
        })
        .collect();
    close.sort();
    close.dedup();
    close.into_iter().take(3).map(|(_, candidate)| candidate.to_owned()).collect()
}

/// Insertions, deletions and replacements from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_nearest_first() {
        assert_eq!(distance("kitten", "sitting"), 3);
        let names = ["bubble_sort", "bubbel", "main", "bubble2"];
        assert_eq!(near("bubble", names.into_iter()), ["bubble2", "bubbel", "bubble_sort"]);
    }
}
