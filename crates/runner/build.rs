//! Names the sources that, besides those of the front end, decide what is built of a program.

use std::path::PathBuf;

fn main() {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the crate")).join("..");
    let sources = ["analysis/src", "testwriter/src", "runner/src"].map(|source| root.join(source));
    for source in &sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let hash = cache::hash_of_sources(&sources).expect("the sources of the crates can be read");
    println!("cargo::rustc-env=QUARRY_RUNNER_SOURCES={hash}");
}
