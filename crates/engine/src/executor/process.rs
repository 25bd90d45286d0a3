//! One server process: started in a fixed environment, spoken to over pipes.
//!
//! The program sees the same few variables, the same name and the same addresses each time, nothing on its standard
//! input, and is the leader of its own session. It does not outlive the thread that started it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use wire::{
    AGAIN_FD, COMMAND_FD, REPLY_FD, REUSE_COMMAND, RUN_COMMAND, SERVER_VARIABLE, SHM_FD, TRY_COMMAND,
};

use super::child::{self, Handover};
use super::confine::Confinement;
use super::{ExecutorError, ExecutorOptions, failed};

/// How often a wait looks at the interrupt flag.
const SLICE: Duration = Duration::from_millis(50);
const ENVIRONMENT: [(&str, &str); 5] =
    [("PATH", "/usr/bin:/bin"), ("HOME", "."), ("LC_ALL", "C"), ("TZ", "UTC0"), (SERVER_VARIABLE, "1")];

pub(super) struct ServerProcess {
    child: Child,
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
            (streams.memory, SHM_FD),
            (command_end.as_fd(), COMMAND_FD),
            (again_end.as_fd(), AGAIN_FD),
            (reply_end.as_fd(), REPLY_FD),
        ];
        let child = Handover::new(&files).and_then(|handover| spawn(options, streams, handover));
        let child = child.map_err(failed(act()))?;
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

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the server and everything in its session.
    pub(super) fn stop(&mut self) -> io::Result<ExitStatus> {
        // its own group, still, because nobody has waited for it; one that is empty is fine
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
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

fn spawn(options: &ExecutorOptions, streams: &Streams<'_>, handover: Handover) -> io::Result<Child> {
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
    let prepare = move || {
        // first: the kernel forgets the death signal when rights change
        confinement.enter();
        child::detach();
        child::take_default_signals();
        child::fix_addresses();
        handover.complete()
    };
    // SAFETY: this only makes system calls and asks for no memory.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
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
