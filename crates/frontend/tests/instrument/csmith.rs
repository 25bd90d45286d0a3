//! Random programs free of undefined behaviour print the same checksum instrumented as natively.

use std::process::Command;

use frontend::instrument::Mode;

use crate::build::{Flags, instrumented, native, run};

const SEEDS: std::ops::Range<u32> = 1..5;

#[test]
fn random_programs_behave_as_natively() {
    let flags = Flags { compile: vec!["-I/usr/include/csmith".to_owned()], ..Flags::default() };
    for seed in SEEDS {
        let text = run(Command::new("csmith").args(["--seed", &seed.to_string(), "--max-funcs", "5"])).stdout;
        let text = String::from_utf8(text).expect("C text");
        let (expected, _dir) = native(&text, &flags);
        let Some(expected) = output_in_time(&expected) else { continue };
        for mode in [Mode::Symbolic, Mode::Fast] {
            let program = instrumented(&text, mode, &flags);
            assert_eq!(output_in_time(&program.path).as_deref(), Some(&*expected), "seed {seed}, {mode:?}");
        }
    }
}

/// Output of a program that may run forever.
fn output_in_time(program: &std::path::Path) -> Option<Vec<u8>> {
    let output = Command::new("timeout").arg("10").arg(program).output().expect("timeout runs");
    output.status.success().then_some(output.stdout)
}
