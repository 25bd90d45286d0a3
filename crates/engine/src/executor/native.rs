//! A program that nobody instrumented, run once: where may it write, and what came of it?
//!
//! Method: the same confinement as for all executions (own mounts, Landlock), the limits and the filter of system calls that
//! the runtime sets in an instrumented program, a working directory of its own with the files it is given, and a few
//! variables. It may write a record to [`RECORD_FD`], apart from what it prints. Addresses are random, unlike in
//! instrumented programs: what depends on them differs between runs, as it would for a user. Limit: it may start processes of
//! its own, which end with it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::confine::Confinement;
use super::filter::Filter;
use super::output::Capture;
use super::process::close_others_at_exec;
use super::stopwatch::Stopwatch;
use super::{ExecutorError, Limits, Output, failed};

/// The descriptor for records.
pub const RECORD_FD: RawFd = 197;
/// Bytes of a record that are read: as many as a program may write to a file.
const MOST_RECORDED: usize = 64 << 20;
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
    ) -> io::Result<Child> {
        let limits = self.limits;
        let confinement = Confinement::new(directory, limits.directory)?;
        let files = self.files.iter().map(GivenFile::new).collect::<io::Result<Vec<_>>>()?;
        let filter = Filter::new();
        // by descriptor: the program's own path may be out of sight when it is confined
        let program = File::open(&self.program)?;
        let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
        command
            .arg0(self.arguments.first().map_or(OsStr::new("program"), OsString::as_os_str))
            .args(self.arguments.iter().skip(1))
            .env_clear()
            .envs(ENVIRONMENT)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(directory)
            .stdin(Stdio::from(readable(&self.stdin)?))
            .stdout(stdout.fd().try_clone_to_owned()?)
            .stderr(stderr.fd().try_clone_to_owned()?);
        let record = record.fd().as_raw_fd();
        let enter = move || {
            confinement.enter();
            files.iter().for_each(GivenFile::write);
            set_up(record, &limits)?;
            filter.install();
            Ok(())
        };
        // SAFETY: this only makes system calls.
        unsafe { command.pre_exec(enter) };
        command.spawn()
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

    fn write(&self) {
        // SAFETY: system calls with C strings and a buffer of the size that is said; the descriptor is closed.
        unsafe {
            for above in &self.above {
                libc::mkdir(above.as_ptr(), 0o755);
            }
            let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
            let file = libc::open(self.path.as_ptr(), flags, 0o644);
            if file >= 0 {
                libc::write(file, self.bytes.as_ptr().cast(), self.bytes.len());
                libc::close(file);
            }
        }
    }
}

static NO_CORE: libc::rlimit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };

/// Runs in the child between fork and exec.
fn set_up(record: RawFd, limits: &Limits) -> io::Result<()> {
    let bound = |resource, most: u64| {
        if most == 0 {
            return;
        }
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: a system call with a structure that is filled.
        unsafe { libc::setrlimit(resource, &raw const limit) };
    };
    close_others_at_exec();
    // SAFETY: system calls on integers.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::dup2(record, RECORD_FD) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: a system call with a structure that is filled.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const NO_CORE) };
    bound(libc::RLIMIT_FSIZE, limits.file);
    bound(libc::RLIMIT_AS, limits.memory);
    Ok(())
}

/// A file in memory with these bytes, to be read from its beginning and not to be written, as standard input mostly is.
fn readable(bytes: &[u8]) -> io::Result<File> {
    // SAFETY: the name is a C string; the result is checked and nobody else's.
    let mut file = unsafe {
        let fd = libc::memfd_create(c"quarry-input".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(fd)
    };
    file.write_all(bytes)?;
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Waits for the end; `None` when it took too long and was ended.
fn wait(
    child: &mut Child,
    mut stopwatch: Stopwatch,
    interrupt: &AtomicBool,
) -> Result<Option<ExitStatus>, ExecutorError> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait().map_err(failed("wait for a run"))? {
            return Ok(Some(status));
        }
        let interrupted = interrupt.load(Ordering::Relaxed);
        if interrupted || stopwatch.left(child.id().cast_signed()).is_zero() {
            // SAFETY: a system call; the group is the child's own, which has not been waited for yet.
            unsafe { libc::kill(-child.id().cast_signed(), libc::SIGKILL) };
            let _ = child.wait();
            return if interrupted { Err(ExecutorError::Interrupted) } else { Ok(None) };
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}
