//! A suite in Test-Comp's exchange format, also as a zip archive for TestCov.

use std::fs;
use std::path::Path;

use super::{Exported, cannot, zip};
use crate::error::Error;
use crate::spec::ProgramSpec;
use crate::store::run::Run;
use crate::store::suite::{read_record, tests_in};
use report::record::Test;
use report::testcomp::{self, Metadata, testcase};

/// Directories of tests that are exported. TestCov counts what a run covers before it is ended; those that it has to end come last.
const DIRECTORIES: [&str; 3] = ["tests", "crashes", "hangs"];

/// Test-Comp knows programs of one file.
pub fn check(function: &str, n_sources: usize) -> Result<(), Error> {
    if function != "main" {
        return Err(Error::usage(format!(
            "a Test-Comp suite is for a program, not for the function {function}"
        ))
        .help("generate it with --program, or with --function main"));
    }
    if n_sources != 1 {
        return Err(Error::usage(format!(
            "a Test-Comp suite is for a program of one file, and there are {n_sources}"
        )));
    }
    Ok(())
}

/// What a whole program is given when its suite is for Test-Comp: nothing but what its calls of `__VERIFIER_nondet_*` functions give.
pub fn limit(program: &mut ProgramSpec) -> Result<(), Error> {
    let has_inputs = program.max_args.is_some_and(|most| most > 0)
        || program.failing_allocations > 0
        || !(program.files.is_empty() && program.env.is_empty());
    if has_inputs {
        return Err(Error::usage(
            "a Test-Comp suite has no arguments, files, variables or failing allocations",
        )
        .help("leave out --max-args, --file, --env and --malloc-failure, or --format testcomp"));
    }
    (program.max_args, program.stdin_size) = (Some(0), 0);
    Ok(())
}

/// Writes the suite and its archive, `DIRECTORY.zip`.
pub fn write(root: &Path, run: &Run, directory: &Path) -> Result<Exported, Error> {
    check(&run.function, run.spec.sources.files.len())?;
    fs::create_dir_all(directory).map_err(|error| cannot("create", directory, &error))?;
    let mut left_out = Vec::new();
    let mut files = vec![("metadata.xml".to_owned(), metadata(run)?)];
    for name in DIRECTORIES {
        let tests = root.join(name);
        for file in if tests.is_dir() { tests_in(&tests)? } else { Vec::new() } {
            let test: Test = read_record(&file)?;
            match testcase(&test.input) {
                Ok(text) => files.push((format!("testcase-{}.xml", files.len()), text)),
                Err(why) => left_out.push((test.name, why)),
            }
        }
    }
    for (name, text) in &files {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| cannot("write", &path, &error))?;
    }
    let mut archive = directory.as_os_str().to_owned();
    archive.push(".zip");
    let archive = Path::new(&archive);
    let bytes = zip::stored(&files).map_err(|error| cannot("write", archive, &error.into()))?;
    fs::write(archive, bytes).map_err(|error| cannot("write", archive, &error))?;
    Ok(Exported { n_tests: files.len() - 1, left_out, notes: Vec::new() })
}

fn metadata(run: &Run) -> Result<String, Error> {
    let source = run.directory.join(&run.spec.sources.files[0]);
    let text = fs::read(&source)
        .map_err(|error| Error::usage(format!("cannot read {}: {error}", source.display())))?;
    let target = run.spec.sources.flags.iter().rfind(|flag| matches!(flag.as_str(), "-m32" | "-m64"));
    Ok(testcomp::metadata(&Metadata {
        producer: &run.quarry,
        criterion: run.spec.criteria.criterion.first().map(String::as_str),
        program_file: run.spec.sources.files[0].display().to_string(),
        program_hash: cache::sha256(&text),
        is_32_bit: target.is_some_and(|flag| flag == "-m32"),
        created: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
    }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_suite_is_for_a_program_of_one_file() {
        assert!(super::check("main", 1).is_ok());
        assert!(super::check("f", 1).is_err());
        assert!(super::check("main", 2).is_err());
    }
}
