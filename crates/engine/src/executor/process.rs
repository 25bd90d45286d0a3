//! One server process: started in a fixed environment, spoken to over two pipes.
//!
//! The program sees the same few variables, the same name and the same addresses each time, nothing on its standard
//! input, and is the leader of its own session. It does not outlive the thread that started it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wire::{COMMAND_FD, REPLY_FD, RUN_COMMAND, SERVER_VARIABLE, SHM_FD, TRY_COMMAND};

use super::confine::Confinement;
use super::{ExecutorError, ExecutorOptions, failed};

/// Descriptors that are duplicated for the child are first moved away from the numbers it gets them under.
const FIRST_FREE_FD: RawFd = 256;
/// How often a wait looks at the interrupt flag.
const SLICE: Duration = Duration::from_millis(50);
const ENVIRONMENT: [(&str, &str); 5] =
    [("PATH", "/usr/bin:/bin"), ("HOME", "."), ("LC_ALL", "C"), ("TZ", "UTC0"), (SERVER_VARIABLE, "1")];

pub(super) struct ServerProcess {
    child: Child,
    command: PipeWriter,
    reply: PipeReader,
}

/// What a server is asked for.
#[derive(Clone, Copy)]
pub(super) enum Request {
    /// A process that runs the input.
    Run,
    /// A process that goes on with the tries.
    Try,
}

/// What a wait for a reply brought.
pub(super) enum Reply {
    Word(i32),
    /// The server is gone.
    Gone,
    TimedOut,
}

/// The files a server is given.
pub(super) struct Streams<'a> {
    pub(super) memory: BorrowedFd<'a>,
    pub(super) stdout: BorrowedFd<'a>,
    pub(super) stderr: BorrowedFd<'a>,
}

impl ServerProcess {
    pub(super) fn start(options: &ExecutorOptions, streams: &Streams<'_>) -> Result<Self, ExecutorError> {
        let act = || format!("start {}", options.program.display());
        let (command_end, command) = io::pipe().map_err(failed(act()))?;
        let (reply, reply_end) = io::pipe().map_err(failed(act()))?;
        let moves =
            [(streams.memory, SHM_FD), (command_end.as_fd(), COMMAND_FD), (reply_end.as_fd(), REPLY_FD)];
        let child = spawn(options, streams, moves).map_err(failed(act()))?;
        Ok(Self { child, command, reply })
    }

    /// Asks for something; false when the server is gone.
    pub(super) fn ask(&mut self, request: Request) -> bool {
        let command = match request {
            Request::Run => RUN_COMMAND,
            Request::Try => TRY_COMMAND,
        };
        self.command.write_all(&[command]).is_ok()
    }

    /// Waits for the server's next word at most until the deadline.
    pub(super) fn wait(&mut self, deadline: Instant, interrupt: &AtomicBool) -> Result<Reply, ExecutorError> {
        self.wait_while(interrupt, || deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits for the server's next word while there is time left.
    pub(super) fn wait_while(
        &mut self,
        interrupt: &AtomicBool,
        mut time_left: impl FnMut() -> Duration,
    ) -> Result<Reply, ExecutorError> {
        loop {
            let left = time_left();
            if readable(self.reply.as_raw_fd(), left.min(SLICE)).map_err(failed("wait for a run"))? {
                let mut word = [0; 4];
                return Ok(match self.reply.read_exact(&mut word) {
                    Ok(()) => Reply::Word(i32::from_le_bytes(word)),
                    Err(_) => Reply::Gone,
                });
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(ExecutorError::Interrupted);
            }
            if left.is_zero() {
                return Ok(Reply::TimedOut);
            }
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the server and everything in its session.
    pub(super) fn stop(&mut self) -> io::Result<ExitStatus> {
        let group = -self.child.id().cast_signed();
        // SAFETY: a system call; the group is the server's own, which has not been waited for yet.
        unsafe { libc::kill(group, libc::SIGKILL) };
        self.child.wait()
    }

    /// How a server that went away ended.
    pub(super) fn status(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // a server that is gone already is fine
        let _ = self.stop();
    }
}

fn spawn(
    options: &ExecutorOptions,
    streams: &Streams<'_>,
    moves: [(BorrowedFd<'_>, RawFd); 3],
) -> io::Result<Child> {
    let sources = moves.map(|(fd, target)| duplicate(fd).map(|fd| (fd, target)));
    let [memory, command, reply] = sources;
    let sources = [memory?, command?, reply?];
    let raw = [&sources[0], &sources[1], &sources[2]].map(|(fd, target)| (fd.as_raw_fd(), *target));
    let confinement = Confinement::new(&options.directory, options.limits.directory)?;
    // by descriptor: the program's own path may be out of sight when it is confined
    let program = File::open(&options.program)?;
    let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
    command
        .arg0(OsStr::new("program"))
        .args(&options.arguments)
        .env_clear()
        .envs(ENVIRONMENT)
        .current_dir(&options.directory)
        .stdin(Stdio::null())
        .stdout(streams.stdout.try_clone_to_owned()?)
        .stderr(streams.stderr.try_clone_to_owned()?);
    let confine = move || {
        // first: the kernel forgets the death signal when rights change
        confinement.enter();
        set_up(raw)
    };
    // SAFETY: this only makes system calls.
    unsafe { command.pre_exec(confine) };
    command.spawn()
}

fn duplicate(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: a system call on an open descriptor; the result is checked and nobody else's.
    unsafe {
        let new = libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if new < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(new)) }
    }
}

/// Closes at exec what this process holds or was given: a program finds its three streams, and what it is meant to have.
/// Runs in the child between fork and exec; a kernel that does not know how leaves things as they are.
pub(super) fn close_others_at_exec() {
    let (first, last) = (libc::STDERR_FILENO + 1, libc::c_uint::MAX);
    // SAFETY: a system call on integers.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Runs in the child between fork and exec.
fn set_up(moves: [(RawFd, RawFd); 3]) -> io::Result<()> {
    close_others_at_exec();
    // SAFETY: system calls on integers.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // where this is forbidden the server tries it itself; one server's runs are alike in any case
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        for (from, to) in moves {
            if libc::dup2(from, to) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

fn readable(fd: RawFd, wait: Duration) -> io::Result<bool> {
    // rounded up: waiting for less than a millisecond must not become a busy loop
    let ms = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, as said.
    match unsafe { libc::poll(&raw mut poll, 1, ms) } {
        0 => Ok(false),
        n if n > 0 => Ok(true),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            error => Err(error),
        },
    }
}
