//! How is the program under test run, and what did a run leave behind?
//!
//! One trait, two implementations: [`ForkServer`] keeps a prepared process, which it forks per run or for many runs one after
//! another ([`reuse`]); [`FreshProcess`] starts the program anew each time, which is slower but shares nothing between runs.
//! Both read what the run wrote to shared memory in place. Limit: what a run left is lent until the next run of the same
//! executor.

mod child;
mod confine;
mod end;
mod filter;
mod fork_server;
mod memory;
mod native;
mod output;
mod pairing;
mod process;
mod reuse;
mod spawn;
mod stopwatch;
mod workplace;

use std::ffi::CStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::input::{Input, Key};
use rustix::fs::{MemfdFlags, memfd_create};
use wire::{Cell, Flags, Layout, Marks, Outside};

pub use confine::{Guards, guards};
pub use end::End;
pub use fork_server::{ForkServer, FreshProcess};
pub use memory::Nodes;
pub use native::{NativeEnd, NativeResult, NativeRun};
pub use output::Output;
pub use pairing::Seat;
pub use reuse::{ProcessCounts, ProcessReason};

/// Runs the program under test.
pub trait Executor {
    /// Runs `input` for at most `limit`, not counting time in which other processes keep it from running.
    fn execute(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError>;

    /// Begins to run an input, of which [`Self::finish`] waits for the end. With `beside`, whoever asks has other work until then. An executor
    /// that cannot do so does nothing yet.
    fn start(
        &mut self,
        _input: &Input,
        _flags: Flags,
        _limit: Duration,
        _beside: bool,
    ) -> Result<(), ExecutorError> {
        Ok(())
    }

    /// Waits for the end of the run that was started with the same input, flags and limit.
    fn finish(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        self.execute(input, flags, limit)
    }

    /// The same as [`Self::execute`] in a process that has run nothing before.
    fn execute_alone(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        self.execute(input, flags, limit)
    }

    /// From now on every run has a process of its own: one left another trace there.
    fn stop_reuse(&mut self) {}

    /// What processes were started, and what for, since this was asked last.
    fn take_counts(&mut self) -> ProcessCounts {
        ProcessCounts::default()
    }

    /// The newest execution again, if it came to an end.
    fn newest(&self) -> Option<Execution<'_>>;

    /// Tries many inputs in a hurry, to see which are worth executing: the first ones, when a process takes all of its time,
    /// which is `limit`. An executor that cannot tell says so of all.
    fn try_all(
        &mut self,
        tries: &[Values],
        _flags: Flags,
        _limit: Duration,
    ) -> Result<Vec<Tried>, ExecutorError> {
        Ok(vec![Tried { looks_new: true, n_logged: 0 }; tries.len()])
    }
}

/// An input as a list, sorted by key.
pub type Values = Vec<(Key, u64)>;

/// What a try came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Whether it seems to have done something that no run did before.
    pub looks_new: bool,
    /// Bytes of its path log: how much it did.
    pub n_logged: u32,
}

/// A run that came to an end, and what it left behind.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'m> {
    pub end: End,
    /// What went short.
    pub marks: Marks,
    /// The first access that went outside of its object.
    pub outside: Option<Outside>,
    /// The cells it asked for, in order.
    pub cells: Cells<'m>,
    /// Its expression nodes.
    pub nodes: Nodes<'m>,
    /// Its path log.
    pub log: &'m [u8],
    /// What it printed.
    pub output: &'m Output,
    /// How long it ran.
    pub wall: Duration,
    /// Whether its process runs again and again.
    pub in_reused_process: bool,
}

impl Execution<'_> {
    /// A hash of all that a run leaves behind, which is the same in every process. How far an endless run came is not.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.end.hash(&mut hasher);
        if self.end != End::TimedOut {
            self.cells.bytes.hash(&mut hasher);
            self.nodes.bytes().hash(&mut hasher);
            self.log.hash(&mut hasher);
            (&self.output.stdout, &self.output.stderr, self.output.truncated).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// The cells a run asked for.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'m> {
    bytes: &'m [u8],
}

impl<'m> Cells<'m> {
    /// Cells from their records.
    pub fn new(bytes: &'m [u8]) -> Self {
        Self { bytes }
    }

    /// Their records.
    pub fn bytes(self) -> &'m [u8] {
        self.bytes
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.bytes.len() / wire::CELL_SIZE
    }

    /// Whether the run asked for none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The cell with this index.
    pub fn get(self, index: usize) -> Option<Cell> {
        let start = index.checked_mul(wire::CELL_SIZE)?;
        let record = self.bytes.get(start..)?.first_chunk()?;
        Some(Cell::decode(record))
    }

    /// All of them, in order.
    pub fn iter(self) -> impl Iterator<Item = Cell> + 'm {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

/// What a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory besides the runtime's own; 0: no limit.
    pub memory: u64,
    /// Bytes that a file written by the program may have, its output included; 0: no limit.
    pub file: u64,
    /// Bytes that a run may leave in its directory, where the kernel lets that be bounded; 0: no limit.
    pub directory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 1 << 30, file: 64 << 20, directory: 256 << 20 }
    }
}

/// What to run, where, and within which bounds.
#[derive(Clone, Debug)]
pub struct ExecutorOptions {
    /// The instrumented program.
    pub program: PathBuf,
    /// Arguments after the program's name.
    pub arguments: Vec<String>,
    /// Its working directory: the executor's own, emptied after runs that leave something there.
    pub directory: PathBuf,
    pub layout: Layout,
    pub limits: Limits,
    /// Whether a process runs many inputs one after another.
    pub reuse: bool,
    /// Where such a process is kept on the processor of the thread that waits for it: better unless there are more threads that
    /// work than processors.
    pub seat: Option<Seat>,
    /// Set from outside to end a run, and everything else, soon.
    pub interrupt: Arc<AtomicBool>,
}

impl ExecutorOptions {
    /// A program with pointers of this many bits in a directory of its own; the rest as usual.
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>, pointer_bits: u32) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            directory: directory.into(),
            layout: usual_layout(pointer_bits),
            limits: Limits::default(),
            reuse: false,
            seat: Some(Seat::alone()),
            interrupt: Arc::default(),
        }
    }
}

/// Room for runs of tens of millions of outcomes. A 32-bit program maps all of it into its own address space.
fn usual_layout(pointer_bits: u32) -> Layout {
    if pointer_bits == 32 {
        let (input_capacity, cell_capacity) = (1 << 18, 1 << 18);
        Layout { input_capacity, cell_capacity, node_capacity: 1 << 23, log_capacity: 1 << 26 }
    } else {
        Layout { log_capacity: 1 << 26, ..Layout::default() }
    }
}

/// A program that could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    #[error("cannot {act}")]
    System {
        act: String,
        #[source]
        source: io::Error,
    },
    #[error("cannot start {}: it ended before its first run ({status})", program.display())]
    NoServer { program: PathBuf, status: String },
    #[error("cannot run {}: its server died {attempts} times in a row", program.display())]
    ServerDies { program: PathBuf, attempts: u32 },
    #[error("cannot run {}: its server has not answered for {} s", program.display(), waited.as_secs())]
    ServerSilent { program: PathBuf, waited: Duration },
    #[error("cannot run {}: its server cannot fork", program.display())]
    CannotFork { program: PathBuf },
    #[error("an input of {n_cells} cells does not fit into the shared memory ({capacity})")]
    InputTooLarge { n_cells: usize, capacity: u32 },
    #[error("interrupted")]
    Interrupted,
}

/// A file without a path, open in this process alone; the name only shows in listings of open files.
fn file_in_memory(name: &CStr) -> io::Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

/// Names the act that a system call failed in.
fn failed(act: impl Into<String>) -> impl FnOnce(io::Error) -> ExecutorError {
    let act = act.into();
    move |source| ExecutorError::System { act, source }
}
