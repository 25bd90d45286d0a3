//! What does Quarry need, what is installed, what is missing, and which command installs it?
//!
//! Method: every tool is run or looked up, never guessed from a package list. Limit: versions are shown; only those of
//! clang and LLVM are part of the tools' names.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use engine::executor::guards;
use runner::solvers::{bitwuzla_version, on_path};

use crate::exit::Exit;
use crate::say::say;

/// How much Quarry depends on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Required,
    /// Only for what is said.
    For(&'static str),
}

/// One thing looked for.
struct Check {
    name: &'static str,
    need: Need,
    found: Option<Found>,
    install: &'static str,
}

/// What was found.
struct Found {
    version: String,
    place: String,
}

/// Prints the table; the answer is no when something required is missing.
pub fn doctor() -> Exit {
    let checks = checks();
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in &checks {
        say(line(check, width));
    }
    let missing: Vec<_> =
        checks.iter().filter(|check| check.found.is_none() && check.need == Need::Required).collect();
    if missing.is_empty() {
        say("\neverything Quarry requires is installed");
        Exit::Done
    } else {
        let names: Vec<_> = missing.iter().map(|check| check.name).collect();
        say(format_args!("\nmissing: {}", names.join(", ")));
        Exit::No
    }
}

fn line(check: &Check, width: usize) -> String {
    let name = check.name;
    match (&check.found, check.need) {
        (Some(found), _) => format!("ok       {name:width$}  {:12}  {}", found.version, found.place),
        (None, Need::Required) => format!("MISSING  {name:width$}  install: {}", check.install),
        (None, Need::For(purpose)) => {
            format!("absent   {name:width$}  only for {purpose}; install: {}", check.install)
        }
    }
}

fn checks() -> Vec<Check> {
    let required = |name, found, install| Check { name, need: Need::Required, found, install };
    let optional = |name, purpose, found, install| Check { name, need: Need::For(purpose), found, install };
    let tests = "Quarry's own tests";
    let guards = guards();
    vec![
        required("clang-19", tool("clang-19", "--version"), "apt-get install clang-19"),
        required("LLVM 19", tool("llvm-config-19", "--version"), "apt-get install llvm-19-dev"),
        required("libclang 19", libclang(), "apt-get install libclang-19-dev"),
        optional(
            "llvm-cov-19",
            "quarry confirm and Quarry's own tests",
            tool("llvm-cov-19", "--version"),
            "apt-get install llvm-19",
        ),
        optional(
            "llvm-symbolizer-19",
            "quarry confirm",
            tool("llvm-symbolizer-19", "--version"),
            "apt-get install llvm-19",
        ),
        required("Bitwuzla", bitwuzla(), "scripts/build-bitwuzla.sh, then build Quarry again"),
        required(
            "shared memory (memfd)",
            feature(guards.memory_files),
            "a kernel and sandbox that allow memfd_create",
        ),
        required(
            "randomisation off",
            feature(guards.fixed_addresses),
            "a sandbox that allows personality(ADDR_NO_RANDOMIZE)",
        ),
        required("seccomp filters", feature(guards.filters), "a kernel with CONFIG_SECCOMP_FILTER"),
        optional(
            "mount namespaces",
            "keeping programs from writing outside their directory",
            feature(guards.namespaces),
            "a kernel and sandbox that allow unprivileged user namespaces",
        ),
        optional(
            "Landlock",
            "the same, as a second line of defence",
            landlock(guards.landlock),
            "a kernel of version 5.13 or later with CONFIG_SECURITY_LANDLOCK",
        ),
        optional(
            "compiler-rt",
            "coverage by llvm-cov and sanitizers",
            compiler_rt(),
            "apt-get install libclang-rt-19-dev",
        ),
        optional(
            "llvm-profdata-19",
            "quarry confirm and Quarry's own tests",
            tool("llvm-profdata-19", "--version"),
            "apt-get install llvm-19",
        ),
        optional("32-bit target", "programs built with -m32", multilib(), "apt-get install gcc-multilib"),
        optional("z3", "--solver 'z3 -in'", tool("z3", "--version"), "apt-get install z3"),
        optional("csmith", "make check-csmith", tool("csmith", "--version"), "apt-get install csmith"),
        optional("genhtml", tests, tool("genhtml", "--version"), "apt-get install lcov"),
        optional(
            "Chromium",
            "make check-report",
            tool("chromium", "--version"),
            "apt-get install chromium fonts-dejavu-core",
        ),
    ]
}

/// A program on the path that answers when asked for its version.
fn tool(name: &str, ask: &str) -> Option<Found> {
    let path = on_path(name)?;
    let output = Command::new(&path).arg(ask).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| Found { version: version_in(&text), place: path.display().to_string() })
}

/// The first word that looks like a version.
fn version_in(text: &str) -> String {
    let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    text.split([' ', '\n', '(', ')', ',']).find(is_version).unwrap_or("").to_owned()
}

fn libclang() -> Option<Found> {
    let directories = ["/usr/lib/llvm-19/lib", "/usr/lib/x86_64-linux-gnu", "/usr/local/lib", "/usr/lib"];
    let names = ["libclang-19.so.1", "libclang-19.so", "libclang.so.1", "libclang.so"];
    let own = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    let places = own.into_iter().chain(directories.map(PathBuf::from));
    let mut candidates = places.flat_map(|directory| names.map(|name| directory.join(name)));
    let path = candidates.find(|path| path.is_file())?;
    Some(Found { version: "19".to_owned(), place: path.display().to_string() })
}

fn bitwuzla() -> Option<Found> {
    Some(Found { version: bitwuzla_version(), place: "linked in".to_owned() })
}

fn compiler_rt() -> Option<Found> {
    let name = "libclang_rt.profile-x86_64.a";
    let path = file_of_clang(&[], name).or_else(|| file_of_clang(&[], "libclang_rt.profile.a"))?;
    Some(Found { version: String::new(), place: path.display().to_string() })
}

fn multilib() -> Option<Found> {
    let path = file_of_clang(&["-m32"], "crtbeginS.o")?;
    Some(Found { version: String::new(), place: path.display().to_string() })
}

/// The file clang would use, when it exists.
fn file_of_clang(flags: &[&str], name: &str) -> Option<PathBuf> {
    let print = format!("-print-file-name={name}");
    let output = Command::new("clang-19").args(flags).arg(print).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let path = Path::new(text.trim_end());
    // clang echoes the bare name of what it does not find
    (path.is_absolute() && path.is_file()).then(|| path.to_owned())
}

/// A feature of the kernel.
fn feature(is_there: bool) -> Option<Found> {
    is_there.then(kernel)
}

fn landlock(version: u32) -> Option<Found> {
    (version > 0).then(|| Found { version: version.to_string(), place: kernel().place })
}

fn kernel() -> Found {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Found { version: String::new(), place: format!("kernel {}", release.trim_end()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_tools_say() {
        assert_eq!(version_in("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"), "19.1.7");
        assert_eq!(version_in("csmith 2.3.0\nGit version: 30dccd7"), "2.3.0");
        assert_eq!(version_in("none"), "");
    }

    #[test]
    fn a_missing_requirement_says_how_to_install_it() {
        let check = Check { name: "x", need: Need::Required, found: None, install: "apt-get install x" };
        assert_eq!(line(&check, 3), "MISSING  x    install: apt-get install x");
    }
}
