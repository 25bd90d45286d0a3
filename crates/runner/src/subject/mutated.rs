//! A native program that has all mutants of the code under test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use coverage::Scope;
use frontend::build::{NativeUnit, compile_native};
use frontend::mutate::{self, Mutant, MutatedUnit};
use frontend::sources::CompileCommand;

use super::{OTHER_MAIN, Subject, plain_unit, target_flags};
use crate::error::Error;
use crate::front::mark_failure;

/// A unit with its mutants: what it was made of, and where its text is.
#[derive(Debug)]
pub struct Mutated {
    pub command: CompileCommand,
    pub text: PathBuf,
    pub unit: MutatedUnit,
}

impl Subject {
    /// The functions whose goals count, by their unit, as the source names them.
    fn mutable(&self, scope: &Scope) -> BTreeMap<usize, BTreeSet<String>> {
        let lowered = &self.parts.built.lowered;
        let mut functions: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for id in scope.functions() {
            let name = &lowered.program.function(id).name;
            let Some(unit) = lowered.units[id.index()].filter(|unit| self.front.is_own(*unit)) else {
                continue;
            };
            let declared = &self.front.marks.declarations.functions;
            let is_its =
                |name: &str| declared.iter().any(|known| known.key.unit == unit && known.key.name == name);
            // linking numbers functions that are static in several units; a harness renames main
            let plain = name.rsplit_once('.').map_or(name.as_str(), |(plain, _)| plain);
            let own = [name.as_str(), plain].into_iter().find(|name| is_its(name));
            let main = || (name == frontend::mark::USER_MAIN).then_some("main");
            if let Some(name) = own.or_else(main) {
                functions.entry(unit).or_default().insert(name.to_owned());
            }
        }
        functions
    }

    /// The function's own unit with mutants of the functions in `scope`, as text alone.
    pub fn mutated_unit(&self, scope: &Scope) -> Result<MutatedUnit, Error> {
        let own = self.parts.function.unit;
        let functions = self.mutable(scope).remove(&own).unwrap_or_default();
        let command = &self.front.commands[own];
        mutate::mutate(command, &functions, 1, Some(self.front.cache())).map_err(mark_failure)
    }

    /// Builds the program natively with all mutants of the functions in `scope`. The unit under test is `file` if one is given, which includes
    /// it; files go to `work`.
    pub fn build_mutated(
        &self,
        scope: &Scope,
        file: Option<&Path>,
        work: &Path,
        output: &Path,
        extra: &[&str],
    ) -> Result<Vec<Mutated>, Error> {
        let functions = self.mutable(scope);
        let (marks, own) = (&self.front.marks, self.parts.function.unit);
        let cannot =
            |path: &Path, error| Error::internal(format!("cannot write {}: {error}", path.display()));
        let (mut mutated, mut units): (Vec<Mutated>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut first = 1;
        for (number, names) in &functions {
            let mut command = self.front.commands[*number].clone();
            match file {
                Some(file) if *number == own => command.source = file.to_owned(),
                Some(_) => command.preprocess.push(OTHER_MAIN.to_owned()),
                None => {}
            }
            let renamed = |name: &String| match (file, name.as_str()) {
                (Some(_), "main") if *number == own => testwriter::USER_MAIN.to_owned(),
                (Some(_), "main") => "quarry_other_main".to_owned(),
                (Some(_) | None, _) => name.clone(),
            };
            let names = names.iter().map(renamed).collect();
            let unit =
                mutate::mutate(&command, &names, first, Some(self.front.cache())).map_err(mark_failure)?;
            first += u32::try_from(unit.mutants.len()).expect("fewer mutants than tokens");
            let text = work.join(format!("mutants{number}.i"));
            std::fs::write(&text, &unit.text).map_err(|error| cannot(&text, error))?;
            mutated.push(Mutated { command, text, unit });
            units.push(*number);
        }
        let support = work.join("mutants.c");
        std::fs::write(&support, mutate::SUPPORT).map_err(|error| cannot(&support, error))?;
        let flags: Vec<String> = mutate::text_flags().iter().map(|flag| (*flag).to_owned()).collect();
        let mut natives: Vec<NativeUnit<'_>> = Vec::new();
        for (mutated, number) in mutated.iter().zip(&units) {
            let unit = &marks.units[*number];
            natives.push(NativeUnit {
                file: &mutated.text,
                flags: [&unit.flags, &flags],
                ..NativeUnit::from(unit)
            });
        }
        let is_current = || self.is_current();
        let rest = (0..marks.units.len()).filter(|unit| self.has_unit(*unit) && !units.contains(unit));
        let rest: Vec<usize> = rest.collect();
        let without_main: Vec<Vec<String>> = rest
            .iter()
            .map(|unit| [marks.units[*unit].preprocess.clone(), vec![OTHER_MAIN.to_owned()]].concat())
            .collect();
        for (number, without_main) in rest.iter().zip(&without_main) {
            let unit = &marks.units[*number];
            let kept = self.kept_object(*number, &is_current);
            match file {
                Some(file) if *number == own => natives.push(NativeUnit { file, ..NativeUnit::from(unit) }),
                Some(_) => natives.push(NativeUnit {
                    flags: [without_main, &unit.flags],
                    kept,
                    ..NativeUnit::from(unit)
                }),
                None => natives.push(NativeUnit { kept, ..NativeUnit::from(unit) }),
            }
        }
        let target = target_flags(&marks.units[own]);
        natives.push(plain_unit(&support, &marks.units[own], &target));
        compile_native(&marks.root, &natives, &self.front.link_flags(), output, extra)
            .map_err(|error| Error::build(format!("its mutants do not build: {error}")))?;
        Ok(mutated)
    }

    /// C that takes the place of the unit with `main`, if the program needs stubs.
    pub fn stubbed_main(&self, tests: &[testwriter::Test<model::input::Input>]) -> Option<String> {
        self.stubbed(tests)
    }

    /// The path of a file of a mutated unit, as goals name it.
    pub fn path_of_mutant(&self, mutated: &Mutated, mutant: &Mutant) -> String {
        let file = &mutated.unit.files[mutant.at.file.index()];
        let path = mutate::path_of(file, &mutated.command.directory);
        let real = path.canonicalize().unwrap_or(path);
        let known = &self.program().files;
        let is_it = |known: &&model::SourceFile| {
            let path = self.front.marks.root.join(&known.path);
            path.canonicalize().unwrap_or(path) == real
        };
        known.iter().find(is_it).map_or_else(|| file.path.clone(), |known| known.path.clone())
    }
}
