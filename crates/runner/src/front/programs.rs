//! Which files of a project make up the program that a file belongs to?
//!
//! Method: as a linker takes members of an archive: a file brings in those that define what it names and does not define
//! itself, and so do they. Of several that define a name, the nearest counts: one in the same directory, then one without
//! `main`, then the first. A file that defines something that is defined already stays out, so programs and tests of one
//! project do not meet. Limit: any token that is the name of a function or variable counts as a use of it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use frontend::marks::Marks;

use crate::error::Error;

/// What the files of a project define and name.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    units: Vec<Symbols>,
    /// The units that define a name.
    providers: BTreeMap<String, Vec<usize>>,
}

#[derive(Clone, Debug, Default)]
struct Symbols {
    directory: Option<std::path::PathBuf>,
    defines: BTreeSet<String>,
    /// Of what other units define.
    names: BTreeSet<String>,
}

impl Programs {
    /// Of the first units, which are the project's own.
    pub fn of(marks: &Marks, n_units: usize) -> Result<Self, Error> {
        let mut units: Vec<Symbols> = marks.units[..n_units]
            .iter()
            .map(|unit| Symbols {
                directory: unit.real_path.parent().map(Path::to_owned),
                ..Default::default()
            })
            .collect();
        let mut providers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (unit, name) in definitions(marks).filter(|(unit, _)| *unit < n_units) {
            if units[unit].defines.insert(name.to_owned()) {
                providers.entry(name.to_owned()).or_default().push(unit);
            }
        }
        for (symbols, unit) in units.iter_mut().zip(&marks.units) {
            let text = std::fs::read(&unit.text)
                .map_err(|error| Error::internal(format!("cannot read {}: {error}", unit.text.display())))?;
            // a token per line
            let tokens: HashSet<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            let is_named = |name: &&String| tokens.contains(name.as_bytes());
            let others = providers.keys().filter(|name| !symbols.defines.contains(*name));
            symbols.names = others.filter(is_named).cloned().collect();
        }
        Ok(Self { units, providers })
    }

    /// The units of the program that a unit belongs to.
    pub fn around(&self, home: usize) -> BTreeSet<usize> {
        let mut program = BTreeSet::from([home]);
        let mut defined: BTreeSet<&str> = self.units[home].defines.iter().map(String::as_str).collect();
        let mut open = vec![home];
        while let Some(unit) = open.pop() {
            for name in &self.units[unit].names {
                if defined.contains(name.as_str()) {
                    continue;
                }
                let fits = |unit: &usize| {
                    self.units[*unit].defines.iter().all(|name| !defined.contains(name.as_str()))
                };
                let providers = self.providers[name].iter().copied().filter(fits);
                if let Some(provider) = providers.min_by_key(|provider| self.farness(unit, *provider)) {
                    defined.extend(self.units[provider].defines.iter().map(String::as_str));
                    program.insert(provider);
                    open.push(provider);
                }
            }
        }
        program
    }

    fn farness(&self, unit: usize, provider: usize) -> (bool, bool, usize) {
        let (from, to) = (&self.units[unit], &self.units[provider]);
        (from.directory != to.directory, to.defines.contains("main"), provider)
    }
}

/// What units define for others, wherever it stands; of what a header defines only `main`, because `inline` functions may be in several.
fn definitions(marks: &Marks) -> impl Iterator<Item = (usize, &str)> {
    let declarations = &marks.declarations;
    let functions = declarations.functions.iter().filter(|function| !function.is_static && !function.system);
    let functions = functions.map(|function| (function.key.unit, function.key.name.as_str(), function.span));
    let globals = declarations.globals.iter().filter(|global| !global.is_static);
    let globals = globals.map(|global| (global.unit, global.name.as_str(), global.span));
    let is_of_header = |span: model::SpanId| {
        let file = marks.spans[span.index()].at.file;
        Path::new(&marks.files[file.index()].path).extension().is_some_and(|extension| extension == "h")
    };
    let counts = move |name: &str, span| name == "main" || !is_of_header(span);
    functions
        .chain(globals)
        .filter(move |(_, name, span)| counts(name, *span))
        .map(|(unit, name, _)| (unit, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units as `directory: what it defines < what it names`.
    fn programs(units: &[(&str, &str, &str)]) -> Programs {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
        let mut providers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, (_, defines, _)) in units.iter().enumerate() {
            for name in words(defines) {
                providers.entry(name).or_default().push(number);
            }
        }
        let symbols = |(directory, defines, names): &(&str, &str, &str)| Symbols {
            directory: Some(directory.into()),
            defines: words(defines),
            names: words(names).into_iter().filter(|name| providers.contains_key(name)).collect(),
        };
        Programs { units: units.iter().map(symbols).collect(), providers }
    }

    #[track_caller]
    fn check(units: &[(&str, &str, &str)], home: usize, expected: &[usize]) {
        let program: Vec<usize> = programs(units).around(home).into_iter().collect();
        assert_eq!(program, expected);
    }

    #[test]
    fn what_is_named_is_brought_in_with_what_it_names() {
        let units = [
            ("a", "f", "g printf"),
            ("a", "g", "table"),
            ("a", "table", ""),
            ("a", "unused", "f"),
            ("t", "main", "f"),
        ];
        check(&units, 0, &[0, 1, 2]);
        check(&units, 3, &[0, 1, 2, 3]);
        check(&units, 4, &[0, 1, 2, 4]);
    }

    #[test]
    fn of_several_that_define_a_name_the_nearest_counts_and_one_without_main() {
        let units = [
            ("a", "f", "g"),
            ("b", "g", ""),
            ("a", "g main", ""),
            ("a", "g other", ""),
            ("a", "g third", ""),
        ];
        check(&units, 0, &[0, 3]);
        check(&units[..3], 0, &[0, 2]);
    }

    #[test]
    fn what_is_defined_already_is_not_defined_again() {
        let units = [("a", "main f", "g h"), ("a", "g f", ""), ("a", "h", ""), ("b", "g", "")];
        check(&units, 0, &[0, 2, 3]);
    }
}
