//! A program that nobody instrumented, run once: where may it write, and what came of it?
//!
//! Method: the same confinement as for all executions (own mounts, Landlock), the limits and the filter of system calls that
//! the runtime sets in an instrumented program, a working directory of its own with the files it is given, and a few
//! variables. It may write a record to [`RECORD_FD`], apart from what it prints. Addresses are random, unlike in
//! instrumented programs: what depends on them differs between runs, as it would for a user. A program under test may start no
//! process, as in instrumented runs; one that runs tests, each in a process of its own, may.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, mkdir, open};
use rustix::process::{Resource, Rlimit, Signal, chdir, kill_process_group, setrlimit};

use super::child::{self, Handover};
use super::confine::Confinement;
use super::filter::Filter;
use super::output::Capture;
use super::spawn::{Process, Start};
use super::stopwatch::Stopwatch;
use super::{ExecutorError, Limits, Output, failed, file_in_memory};

/// The descriptor for records.
pub const RECORD_FD: RawFd = 197;
/// Bytes of a record that are read: as many as a program may write to a file.
const MOST_RECORDED: usize = 64 << 20;
/// Between two looks at whether to stop.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// What every run has in its environment; the same as in instrumented runs.
const ENVIRONMENT: [(&str, &str); 4] =
    [("PATH", "/usr/bin:/bin"), ("HOME", "."), ("LC_ALL", "C"), ("TZ", "UTC0")];

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct NativeRun {
    pub program: PathBuf,
    /// What it is called, then its arguments.
    pub arguments: Vec<OsString>,
    /// Variables on top of the usual ones.
    pub variables: Vec<(OsString, OsString)>,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// Files in its directory.
    pub files: Vec<(String, Vec<u8>)>,
    pub limits: Limits,
    /// Whether it may start processes, which end with it.
    pub may_start: bool,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeEnd {
    Exited(i32),
    Signalled(i32),
    TimedOut,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct NativeResult {
    pub end: NativeEnd,
    pub output: Output,
    pub record: Vec<u8>,
}

impl NativeRun {
    /// Runs it for at most `limit`; its directory is made below `work` and removed.
    pub fn run(
        &self,
        work: &Path,
        limit: Duration,
        interrupt: &AtomicBool,
    ) -> Result<NativeResult, ExecutorError> {
        let act = || format!("run {}", self.program.display());
        std::fs::create_dir_all(work).map_err(failed(act()))?;
        let directory = work.canonicalize().map_err(failed(act()))?.join("native");
        // what a run before this one left where it was not confined
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(failed(act()))?;
        let (stdout, stderr, record) = (Capture::new()?, Capture::new()?, Capture::new()?);
        let mut child = self.spawn(&directory, &stdout, &stderr, &record).map_err(failed(act()))?;
        let status = wait(&mut child, Stopwatch::start(limit), interrupt);
        let _ = std::fs::remove_dir_all(&directory);
        let end = match status? {
            None => NativeEnd::TimedOut,
            Some(status) => match status.signal() {
                Some(signal) => NativeEnd::Signalled(signal),
                None => NativeEnd::Exited(status.code().unwrap_or(0)),
            },
        };
        let (printed, more) = stdout.take().map_err(failed(act()))?;
        let (complained, more_complaints) = stderr.take().map_err(failed(act()))?;
        let (record, _) = record.take_most(MOST_RECORDED).map_err(failed(act()))?;
        let output = Output { stdout: printed, stderr: complained, truncated: more || more_complaints };
        Ok(NativeResult { end, output, record })
    }

    fn spawn(
        &self,
        directory: &Path,
        stdout: &Capture,
        stderr: &Capture,
        record: &Capture,
    ) -> io::Result<Process> {
        let limits = self.limits;
        let confinement = Confinement::new(directory, limits.directory)?;
        let files = self.files.iter().map(GivenFile::new).collect::<io::Result<Vec<_>>>()?;
        let filter = Filter::new(self.may_start);
        // by descriptor: the program's own path may be out of sight when it is confined
        let program = File::open(&self.program)?;
        let called = self.arguments.first().map_or(OsStr::new("program"), OsString::as_os_str);
        let arguments = [called].into_iter().chain(self.arguments.iter().skip(1).map(OsString::as_os_str));
        let usual = ENVIRONMENT.iter().map(|(name, value)| (OsStr::new(*name), OsStr::new(*value)));
        let own = self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        // a variable of its own replaces a usual one of the same name
        let variables: BTreeMap<&OsStr, &OsStr> = usual.chain(own).collect();
        let start = Start::new(program.as_raw_fd(), arguments, variables.into_iter())?;
        let directory = CString::new(directory.as_os_str().as_bytes()).map_err(io::Error::other)?;
        let stdin = readable(&self.stdin)?;
        let handover = Handover::new(&[
            (stdin.as_fd(), libc::STDIN_FILENO),
            (stdout.fd(), libc::STDOUT_FILENO),
            (stderr.fd(), libc::STDERR_FILENO),
            (record.fd(), RECORD_FD),
        ])?;
        start.spawn(|namespaces| {
            chdir(directory.as_c_str())?;
            confinement.enter(namespaces);
            files.iter().for_each(GivenFile::write);
            child::detach();
            child::take_default_signals();
            handover.complete()?;
            bound(&limits);
            filter.install();
            Ok(())
        })
    }
}

/// A file to be made in the child, where no memory may be asked for.
struct GivenFile {
    path: CString,
    /// The directories above it, outermost first.
    above: Vec<CString>,
    bytes: Vec<u8>,
}

impl GivenFile {
    fn new((name, bytes): &(String, Vec<u8>)) -> io::Result<Self> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        let path = Path::new(name);
        let mut above: Vec<&Path> =
            path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        above.reverse();
        let above = above.into_iter().map(text).collect::<io::Result<Vec<_>>>()?;
        Ok(Self { path: text(path)?, above, bytes: bytes.clone() })
    }

    /// Called in the child. What cannot be made is missing for the program too.
    fn write(&self) {
        for above in &self.above {
            let _ = mkdir(above.as_c_str(), Mode::from_raw_mode(0o755));
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        if let Ok(file) = open(self.path.as_c_str(), flags, Mode::from_raw_mode(0o644)) {
            let mut left = self.bytes.as_slice();
            while let Ok(n_written @ 1..) = rustix::io::write(&file, left) {
                left = &left[n_written..];
            }
        }
    }
}

/// Called in the child: bounds what the program may use; 0 is no bound. A limit that is lower already stays.
fn bound(limits: &Limits) {
    let set = |resource, most| {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    };
    set(Resource::Core, 0);
    for (resource, most) in [(Resource::Fsize, limits.file), (Resource::As, limits.memory)] {
        if most > 0 {
            set(resource, most);
        }
    }
}

/// A file in memory with these bytes, to be read from its beginning and not to be written, as standard input mostly is.
fn readable(bytes: &[u8]) -> io::Result<File> {
    let mut file = file_in_memory(c"quarry-input")?;
    file.write_all(bytes)?;
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Waits for the end; `None` when it took too long and was ended.
fn wait(
    child: &mut Process,
    mut stopwatch: Stopwatch,
    interrupt: &AtomicBool,
) -> Result<Option<ExitStatus>, ExecutorError> {
    let descriptor = child.descriptor().ok();
    loop {
        if let Some(status) = child.try_wait().map_err(failed("wait for a run"))? {
            return Ok(Some(status));
        }
        let interrupted = interrupt.load(Ordering::Relaxed);
        let left = stopwatch.left(child.pid());
        if interrupted || left.is_zero() {
            // its own group, still, because nobody has waited for it
            let _ = kill_process_group(child.pid(), Signal::KILL);
            let _ = child.wait();
            return if interrupted { Err(ExecutorError::Interrupted) } else { Ok(None) };
        }
        pause(descriptor.as_ref(), left.clamp(SHORTEST_PAUSE, LONGEST_PAUSE));
    }
}

/// Waits until a process has ended, or for so long; where the kernel does not tell, a short while.
fn pause(process: Option<&OwnedFd>, most: Duration) {
    match (process, Timespec::try_from(most)) {
        (Some(process), Ok(most)) => {
            // an interrupted wait is only shorter
            let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&most));
        }
        (None, _) | (_, Err(_)) => std::thread::sleep(SHORTEST_PAUSE),
    }
}
