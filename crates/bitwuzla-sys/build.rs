//! Finds the cached Bitwuzla build, making it when missing, and tells rustc how to link it.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Dependents before dependencies, as the static linker wants it.
const STATIC_LIBRARIES: [&str; 7] =
    ["bitwuzla", "bitwuzlabb", "bitwuzlals", "bitwuzlabv", "bzlautil", "bzlarng", "cadical"];
const SYSTEM_LIBRARIES: [&str; 3] = ["mpfr", "gmp", "stdc++"];

fn main() {
    let manifest_dir =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let script = manifest_dir.join("../../scripts/build-bitwuzla.sh");
    let installed = build_or_find(&script);

    println!("cargo:rustc-link-search=native={}", installed.join("lib").display());
    for library in STATIC_LIBRARIES {
        println!("cargo:rustc-link-lib=static={library}");
    }
    for library in SYSTEM_LIBRARIES {
        println!("cargo:rustc-link-lib=dylib={library}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", script.display());
    // The stamp goes away with a cleaned cache: look again then.
    println!("cargo:rerun-if-changed={}", installed.join("stamp").display());
    for variable in ["QUARRY_CACHE", "XDG_CACHE_HOME", "HOME"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
}

fn build_or_find(script: &PathBuf) -> PathBuf {
    let output = Command::new("bash")
        .arg(script)
        .stderr(Stdio::inherit())
        .output()
        .unwrap_or_else(|error| panic!("cannot run bash {}: {error}", script.display()));
    if !output.status.success() {
        panic!("cannot build Bitwuzla: {} ended with {}", script.display(), output.status);
    }
    let directory = String::from_utf8(output.stdout).expect("the script prints a UTF-8 path");
    PathBuf::from(directory.trim_end())
}
