//! Marking files in tests.

use std::path::{Path, PathBuf};

use frontend::mark::{MarkOptions, mark};
use frontend::marks::Marks;
use frontend::sources::Sources;
use tempfile::TempDir;

/// The path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mark").join(format!("{name}.c"))
}

/// Marks one file with flags; the texts live as long as the directory.
pub fn mark_file(file: &Path, flags: &[&str], rename_main: bool) -> (Marks, TempDir) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let root = directory.path().to_owned();
    let sources = Sources {
        root: root.clone(),
        files: vec![file.to_owned()],
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        build_dir: None,
    };
    let commands = sources.commands().expect("the file can be read");
    let options = MarkOptions { root, directory: "texts".into(), rename_main, cache: None };
    let marks = mark(&commands, &options).expect("the file can be marked");
    (marks, directory)
}
