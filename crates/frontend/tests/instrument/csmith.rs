//! Random programs free of undefined behaviour: they print the same checksum instrumented as natively, and with some
//! globals symbolic their traces predict other runs.
//!
//! `QUARRY_CSMITH_SEEDS=100..150` runs other seeds than the few of every test run.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use frontend::instrument::Mode;
use wire::Layout;

use crate::build::{Flags, instrumented, native, run};
use crate::evaluate::check_predictions;
use crate::server::Server;

fn seeds() -> Range<u32> {
    let Ok(text) = std::env::var("QUARRY_CSMITH_SEEDS") else { return 1..5 };
    let (from, to) = text.split_once("..").expect("FROM..TO");
    from.parse().expect("a seed")..to.parse().expect("a seed")
}

fn flags() -> Flags {
    Flags { compile: vec!["-I/usr/include/csmith".to_owned()], ..Flags::default() }
}

fn program(seed: u32) -> String {
    let directory = tempfile::tempdir().expect("a directory for what csmith leaves where it runs");
    let mut command = Command::new("csmith");
    command
        .args(["--seed", &seed.to_string(), "--max-funcs", "5", "--no-float"])
        .current_dir(directory.path());
    String::from_utf8(run(&mut command).stdout).expect("C text")
}

#[test]
fn random_programs_behave_as_natively() {
    for seed in seeds() {
        let text = program(seed);
        let (expected, _dir) = native(&text, &flags());
        let Some(expected) = output_in_time(&expected) else { continue };
        for mode in [Mode::Symbolic, Mode::Fast] {
            let program = instrumented(&text, mode, &flags());
            assert_eq!(output_in_time(&program.path).as_deref(), Some(&*expected), "seed {seed}, {mode:?}");
        }
    }
}

#[test]
fn traces_of_random_programs_predict_other_runs() {
    for seed in seeds() {
        let text = program(seed);
        let (native, _dir) = native(&text, &flags());
        let Some((harnessed, n_cells)) = with_symbolic_globals(&text) else { continue };
        if output_in_time(&native).is_none() {
            continue;
        }
        let program = instrumented(&harnessed, Mode::Symbolic, &flags());
        let layout =
            Layout { input_capacity: 64, cell_capacity: 64, node_capacity: 1 << 22, log_capacity: 1 << 24 };
        let mut server = Server::start_with(&program.path, layout);
        server.seconds = 2;
        println!("seed {seed}: {n_cells} cells");
        check_predictions(&mut server, n_cells, 6);
    }
}

/// The program with a harness that makes its integer globals symbolic.
fn with_symbolic_globals(text: &str) -> Option<(String, u64)> {
    let is_scalar = |line: &&str| line.starts_with("static int") || line.starts_with("static uint");
    let names = text.lines().filter(is_scalar).filter_map(|line| {
        let (declaration, _) = line.split_once(" = ")?;
        let (_, name) = declaration.rsplit_once(' ')?;
        (name.starts_with("g_") && !name.contains('[') && !declaration.contains('*')).then_some(name)
    });
    let mut cells = String::new();
    let mut n_cells = 0;
    for name in names.take(12) {
        writeln!(cells, "CELL({n_cells}, {name});").expect("written");
        n_cells += 1;
    }
    let harness =
        format!("{text}\n#undef main\nvoid __quarry_harness(void) {{ {cells} csmith_main(1, 0); }}\n");
    (n_cells > 0).then(|| (format!("#define main csmith_main\n{harness}"), n_cells))
}

/// Output of a program that may run forever.
fn output_in_time(program: &Path) -> Option<Vec<u8>> {
    let output = Command::new("timeout").arg("10").arg(program).output().expect("timeout runs");
    output.status.success().then_some(output.stdout)
}
