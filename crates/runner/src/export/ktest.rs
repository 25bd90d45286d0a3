//! Tests in KLEE's file format, a file each.

use std::path::Path;

use report::ktest::{encoded, of_function, of_program};

use super::{ExportOptions, Exported, loaded, write_files};
use crate::error::Error;
use crate::front::work_directory;
use crate::store::run::Run;
use crate::subject::Need;

/// Writes a file per test.
pub fn write(root: &Path, run: &Run, options: &ExportOptions) -> Result<Exported, Error> {
    let work = work_directory()?;
    let subject = run.rebuild(work.path(), Need::Model, &options.interrupt, &options.cache)?;
    let tests = loaded::tests(root, &subject, &work.path().join("expected"), options)?;
    let mut files = Vec::new();
    for test in &tests {
        let (arguments, objects) = match subject.invocation_of(&test.input) {
            Some(given) => {
                let calls = of_function(subject.shape(), &test.input);
                (vec![subject.program_name()], [of_program(&given), calls].concat())
            }
            None => (vec![subject.function().to_owned()], of_function(subject.shape(), &test.input)),
        };
        files.push((format!("{}.ktest", test.file), encoded(&arguments, &objects)));
    }
    write_files(&options.directory, &files)?;
    Ok(Exported { n_tests: files.len(), ..Exported::default() })
}
