//! Which compiler is there? Known by its files, without starting it. The build of this crate asks, too, so this file stands for itself.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cache::Key;

/// The files of the compiler that the search path has under a name, as one hash; empty when there is none.
pub fn state(name: &str) -> String {
    let Some(compiler) = find(name) else { return String::new() };
    let describe = |file: PathBuf| [file.to_string_lossy().into_owned(), file_state(&file)];
    Key::new().parts("compiler", files_of(&compiler).into_iter().flat_map(describe)).hex()
}

/// Where the search path has a program.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// Where the libraries of a compiler are, whose name may lead to another file.
fn libraries_of(compiler: &Path) -> Option<PathBuf> {
    let real = compiler.canonicalize().ok()?;
    Some(real.parent()?.parent()?.join("lib"))
}

/// libclang of the compiler that the search path has under a name.
pub fn libclang(name: &str) -> Option<PathBuf> {
    Some(libraries_of(&find(name)?)?.join("libclang.so")).filter(|library| library.is_file())
}

/// A compiler, the file that its name leads to, and its libraries.
fn files_of(compiler: &Path) -> Vec<PathBuf> {
    let real = compiler.canonicalize().unwrap_or_else(|_| compiler.to_owned());
    let mut files = vec![compiler.to_owned(), real];
    let found =
        libraries_of(compiler).and_then(|libraries| std::fs::read_dir(libraries).ok()).into_iter().flatten();
    let is_library = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.contains(".so") && (name.starts_with("libLLVM") || name.starts_with("libclang"))
    };
    let mut libraries: Vec<PathBuf> = found.flatten().map(|file| file.path()).filter(is_library).collect();
    libraries.sort();
    files.extend(libraries);
    files
}

/// Size and time of last change.
fn file_state(file: &Path) -> String {
    std::fs::metadata(file).map_or_else(
        |error| error.to_string(),
        |metadata| format!("{} {}.{}", metadata.len(), metadata.mtime(), metadata.mtime_nsec()),
    )
}
