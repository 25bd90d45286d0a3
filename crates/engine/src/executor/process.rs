//! One server process: started in a fixed environment, spoken to over pipes.
//!
//! The program sees the same few variables, the same name and the same addresses each time, nothing on its standard
//! input, and is the leader of its own session. It does not outlive the thread that started it.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, chdir, kill_process_group};
use wire::{
    AGAIN_FD, COMMAND_FD, REPLY_FD, REUSE_COMMAND, RUN_COMMAND, SERVER_VARIABLE, SHM_FD, TRY_COMMAND,
};

use super::child::{self, Handover};
use super::confine::Confinement;
use super::spawn::{Process, Start};
use super::{ExecutorError, ExecutorOptions, failed};

/// How often a wait looks at the interrupt flag.
const SLICE: Duration = Duration::from_millis(50);
const ENVIRONMENT: [(&str, &str); 5] =
    [("PATH", "/usr/bin:/bin"), ("HOME", "."), ("LC_ALL", "C"), ("TZ", "UTC0"), (SERVER_VARIABLE, "1")];

pub(super) struct ServerProcess {
    child: Process,
    command: PipeWriter,
    /// To the process that is reused.
    again: PipeWriter,
    reply: PipeReader,
}

/// What a server is asked for.
#[derive(Clone, Copy)]
pub(super) enum Request {
    /// A process that runs the input.
    Run,
    /// A process that runs the input and then waits to be asked to run [again](ServerProcess::ask_again).
    Reuse,
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
        let (again_end, again) = io::pipe().map_err(failed(act()))?;
        let (reply, reply_end) = io::pipe().map_err(failed(act()))?;
        let files = [
            (streams.stdout, libc::STDOUT_FILENO),
            (streams.stderr, libc::STDERR_FILENO),
            (streams.memory, SHM_FD),
            (command_end.as_fd(), COMMAND_FD),
            (again_end.as_fd(), AGAIN_FD),
            (reply_end.as_fd(), REPLY_FD),
        ];
        let child = spawn(options, &files).map_err(failed(act()))?;
        Ok(Self { child, command, again, reply })
    }

    /// Asks for something; false when the server is gone.
    pub(super) fn ask(&mut self, request: Request) -> bool {
        let command = match request {
            Request::Run => RUN_COMMAND,
            Request::Reuse => REUSE_COMMAND,
            Request::Try => TRY_COMMAND,
        };
        self.command.write_all(&[command]).is_ok()
    }

    /// Asks the process that is reused to run again; false when everybody is gone.
    pub(super) fn ask_again(&mut self) -> bool {
        self.again.write_all(&[REUSE_COMMAND]).is_ok()
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
            if readable(self.reply.as_fd(), left.min(SLICE)).map_err(failed("wait for a run"))? {
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

    pub(super) fn pid(&self) -> Pid {
        self.child.pid()
    }

    /// Ends the server and everything in its session.
    pub(super) fn stop(&mut self) -> io::Result<ExitStatus> {
        // its own group, still, because nobody has waited for it; one that is empty is fine
        let _ = kill_process_group(self.child.pid(), Signal::KILL);
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

fn spawn(options: &ExecutorOptions, files: &[(BorrowedFd<'_>, RawFd)]) -> io::Result<Process> {
    let confinement = Confinement::new(&options.directory, options.limits.directory)?;
    let directory = CString::new(options.directory.as_os_str().as_bytes()).map_err(io::Error::other)?;
    let nothing = File::open("/dev/null")?;
    let files: Vec<_> = [(nothing.as_fd(), libc::STDIN_FILENO)].iter().chain(files).copied().collect();
    let handover = Handover::new(&files)?;
    // by descriptor: the program's own path may be out of sight when it is confined
    let program = File::open(&options.program)?;
    let arguments = ["program"].into_iter().chain(options.arguments.iter().map(String::as_str));
    let variables = ENVIRONMENT.iter().map(|(name, value)| (OsStr::new(*name), OsStr::new(*value)));
    let start = Start::new(program.as_raw_fd(), arguments.map(OsStr::new), variables)?;
    start.spawn(|namespaces| {
        chdir(directory.as_c_str())?;
        // first: the kernel forgets the death signal when rights change
        confinement.enter(namespaces);
        child::detach();
        child::take_default_signals();
        child::fix_addresses();
        handover.complete()
    })
}

fn readable(fd: BorrowedFd<'_>, wait: Duration) -> io::Result<bool> {
    // waiting for less than a millisecond again and again would be a busy loop
    let wait = if wait.is_zero() { wait } else { wait.max(Duration::from_millis(1)) };
    let wait = Timespec::try_from(wait).expect("a slice of a second fits");
    match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&wait)) {
        Ok(n_ready) => Ok(n_ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
