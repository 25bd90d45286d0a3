//! Names the sources that decide what is built of a program, so that no version of Quarry uses what another one has built.

use std::path::PathBuf;

fn main() {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the crate")).join("../..");
    let sources = ["Cargo.lock", "runtime", "crates/frontend/src", "crates/model/src", "crates/wire/src"];
    let sources = sources.map(|source| root.join(source));
    for source in &sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let hash = cache::hash_of_sources(&sources).expect("the sources of the crates can be read");
    println!("cargo::rustc-env=QUARRY_FRONTEND_SOURCES={hash}");
}
