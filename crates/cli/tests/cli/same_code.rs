//! Measuring a criterion adds nothing to the program: what is built is the same, byte by byte, whatever is to be covered.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::Bench;
use rustix::process::{Pid, Signal, kill_process};

/// No search is done with this before it is interrupted.
const HASH: &str = "\
unsigned hash(const unsigned char *bytes, int strict)
{
    unsigned h = 2166136261u;
    for (int i = 0; i < 64; i++)
        h = (h ^ bytes[i]) * 16777619u;
    if ((h == 0x12345678u && strict) || !(h != 0x9abcdef0u || bytes[0] == 7))
        return strict ? h == 77u || bytes[1] : !strict;
    return h;
}
";

/// Starts a search and takes the executable it works with.
fn executable(bench: &Bench, options: &[&str], name: &str) -> Vec<u8> {
    let arguments = [&["gen", "hash.c", "--len", "bytes=64", "--budget", "10m"], options].concat();
    let mut command = bench.command(&arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("quarry starts");
    let deadline = Instant::now() + Duration::from_secs(120);
    // the harness is written when everything is built
    while !bench.path("quarry.out/harness/harness.c").exists() {
        assert!(Instant::now() < deadline, "the search does not start");
        assert!(child.try_wait().expect("alive").is_none(), "ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(20));
    }
    let programs = bench.path("cache/v1/program");
    let entries = bench.list("cache/v1/program");
    let [entry] = entries.as_slice() else { panic!("one program is built, not {entries:?}") };
    let built = fs::read(programs.join(entry).join(name));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is running");
    child.wait().expect("it ends");
    // nothing of it is left: the next program is built anew
    for used in [bench.path("quarry.out"), programs] {
        fs::remove_dir_all(used).expect("removed");
    }
    built.unwrap_or_else(|error| panic!("{}: {error}", Path::new(name).display()))
}

#[test]
fn no_criterion_changes_the_code() {
    let bench = Bench::new(&[("hash.c", HASH)]).with_own_cache();
    for (strategy, name) in [("auto", "symbolic"), ("random-input", "fast")] {
        let strategy = ["--strategy", strategy, "--criterion"];
        let branch = executable(&bench, &[&strategy[..], &["branch"]].concat(), name);
        let others: [&[&str]; 3] =
            [&["mcdc"], &["mcdc", "--mcdc", "unique-cause"], &["statement,condition,multiple-condition"]];
        for criterion in others {
            let other = executable(&bench, &[&strategy[..], criterion].concat(), name);
            assert!(branch == other, "{name} differs when built for {criterion:?}");
        }
    }
}

#[test]
fn other_code_gives_another_executable() {
    let bench = Bench::new(&[("hash.c", HASH)]).with_own_cache();
    let before = executable(&bench, &[], "symbolic");
    fs::write(bench.path("hash.c"), HASH.replace("strict) ||", "!strict) ||")).expect("writable");
    assert!(before != executable(&bench, &[], "symbolic"), "the comparison cannot fail");
}
