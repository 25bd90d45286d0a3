//! From C text to a program model and an executor for it.

use std::path::PathBuf;
use std::time::Duration;

use engine::campaign::{GivenInput, GivenPlace, Provenance};
use engine::executor::{End, Executor, ExecutorOptions, ForkServer, FreshProcess, Output};
use engine::trace::{Trace, Tracer};
use frontend::build::{AppendedCode, Request, build};
use frontend::instrument::Mode;
use frontend::mark::{MarkOptions, mark};
use frontend::sources::Sources;
use model::Program;
use model::input::{Input, Key};
use wire::{Cell, Flags};

/// Time that no run here needs.
pub const LONG: Duration = Duration::from_secs(20);
pub const SYMBOLIC: Flags = Flags { symbolic: true, addresses: false, alone: false };

/// A built program and the directory it lives in.
pub struct Built {
    pub program: Program,
    pub binary: PathBuf,
    directory: tempfile::TempDir,
}

/// What a run left, copied out of its memory.
#[derive(Debug)]
pub struct Left {
    pub end: End,
    pub cells: Vec<Cell>,
    pub n_nodes: usize,
    pub log: Vec<u8>,
    pub output: Output,
    pub trace: Trace,
}

/// Builds C text with a harness that gives `int` cells with keys 0, 1, … to the call's arguments `a`, `b`, ….
pub fn with_cells(text: &str, n_cells: usize, call: &str) -> Built {
    with_flags(text, n_cells, call, &[])
}

/// The same with compiler flags.
pub fn with_flags(text: &str, n_cells: usize, call: &str, flags: &[&str]) -> Built {
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let cell = |(key, name): (usize, &&str)| format!("int {name} = 0; __quarry_cell({key}, &{name}, 4, 32);");
    let cells: String = names[..n_cells].iter().enumerate().map(cell).collect();
    let declaration = "void __quarry_cell(unsigned long long, void *, unsigned, unsigned);";
    built(text, Some(&format!("{declaration}\nvoid __quarry_harness(void) {{ {cells} {call}; }}")), flags)
}

/// Builds C text as it is.
pub fn built(text: &str, harness: Option<&str>, flags: &[&str]) -> Built {
    let directory = tempfile::tempdir().expect("a directory for the test");
    let source = directory.path().join("program.c");
    std::fs::write(&source, text).expect("the test's file");
    let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let sources = Sources { files: vec![source], flags, ..Sources::below(directory.path()) };
    let options = MarkOptions {
        root: directory.path().to_owned(),
        directory: "marked".into(),
        rename_main: harness.is_some(),
        cache: None,
    };
    let marks = mark(&sources.commands().expect("readable sources"), &options).expect("markable sources");
    let request = Request {
        marks: &marks,
        units: None,
        harness: harness.map(|text| AppendedCode { unit: 0, text }),
        stubs: &std::collections::BTreeMap::new(),
        work_dir: &directory.path().join("work"),
        cache: &cache::Cache::open(
            &std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
            cache::DEFAULT_LIMIT,
        ),
        link_flags: &[],
        modes: &[Mode::Symbolic],
        watch: analysis::watch,
        free_of_input: analysis::free_of_input,
    };
    let mut built = build(&request).expect("a program that builds");
    let binary = built.binaries.remove(0).1;
    Built { program: built.lowered.program, binary, directory }
}

impl Built {
    pub fn options(&self) -> ExecutorOptions {
        let place = tempfile::tempdir_in(self.directory.path()).expect("a directory for the run").keep();
        ExecutorOptions::new(&self.binary, place, self.program.pointer_bits)
    }

    pub fn server(&self) -> ForkServer {
        ForkServer::new(self.options()).expect("an executor")
    }

    pub fn fresh(&self) -> FreshProcess {
        FreshProcess::new(self.options()).expect("an executor")
    }

    /// Runs once with the values for keys 0, 1, ….
    pub fn run(&self, executor: &mut dyn Executor, values: &[u64], limit: Duration) -> Left {
        let execution = executor.execute(&input(values), SYMBOLIC, limit).expect("a run");
        let trace = Tracer::new(&self.program).trace(&execution, None, &|| false).expect("a path");
        Left {
            end: execution.end,
            cells: execution.cells.iter().collect(),
            n_nodes: execution.nodes.len(),
            log: execution.log.to_vec(),
            output: execution.output.clone(),
            trace,
        }
    }
}

pub fn input(values: &[u64]) -> Input {
    Input { values: (0..).map(Key).zip(values.iter().copied()).collect() }
}

/// An input to begin a campaign with.
pub fn given_first(input: Input) -> GivenInput {
    GivenInput { input, provenance: Provenance::Given, place: GivenPlace::First }
}
