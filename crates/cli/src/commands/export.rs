//! `quarry export`: the tests of an earlier run as sources for a test framework, or in a format of other tools.

use std::path::{Path, PathBuf};

use cache::Cache;
use report::words::counted;
use runner::export::{self, ExportFormat, ExportOptions, default_directory};

use super::generate::tell_exported;
use crate::arguments::Export;
use crate::exit::{Exit, Failure};
use crate::interrupt::interrupt;
use crate::say::say;

/// Runs the command.
pub fn export(arguments: &Export, cache: Cache) -> Result<Exit, Failure> {
    let format = arguments.format.into();
    let directory = arguments.out.clone().unwrap_or_else(|| default_directory(&arguments.run, format));
    let options = ExportOptions {
        format,
        directory: absolute(&directory)?,
        n_ulps: arguments.ulp,
        unity_dir: arguments.unity_dir.as_deref().map(absolute).transpose()?,
        verifier: arguments.verifier.as_deref().map(found_from_here).transpose()?,
        limit: arguments.timeout,
        interrupt: interrupt(),
        cache,
    };
    let exported = export::write(&absolute(&arguments.run)?, &options)?;
    tell_exported(Some(&exported));
    let what = match format {
        ExportFormat::Verifier => "open goal",
        ExportFormat::Witness => "infeasible goal",
        ExportFormat::C
        | ExportFormat::Unity
        | ExportFormat::Cmocka
        | ExportFormat::Googletest
        | ExportFormat::Json
        | ExportFormat::Ktest
        | ExportFormat::Testcomp => "test",
    };
    say(format_args!("{} in {}", counted(exported.n_tests, what), directory.display()));
    Ok(if exported.left_out.is_empty() { Exit::Done } else { Exit::No })
}

/// A shell command whose program is found from any directory: a verifier does not run in the current one.
fn found_from_here(command: &str) -> Result<String, Failure> {
    let command = command.trim_start();
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_plain = program.chars().all(|char| char.is_alphanumeric() || "/._-+".contains(char));
    if program.starts_with('/') || !program.contains('/') || !is_plain {
        return Ok(command.to_owned());
    }
    let path = absolute(Path::new(program))?.display().to_string();
    Ok(format!("'{}'{}", path.replace('\'', r"'\''"), &command[program.len()..]))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("cannot find {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_a_program_in_a_relative_directory_changes() {
        let here = std::env::current_dir().expect("tests run somewhere");
        let found = |command: &str| found_from_here(command).expect("a directory is known");
        assert_eq!(found("./check --deep ./x"), format!("'{}/check' --deep ./x", here.display()));
        assert_eq!(found(" tools/check"), format!("'{}/tools/check'", here.display()));
        for same in
            ["cbmc --trace", "/opt/check ./x", "$HOME/check", "'my tools/check' x", "LIMIT=./x check", ""]
        {
            assert_eq!(found(same), same);
        }
    }
}
