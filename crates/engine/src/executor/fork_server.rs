//! The two executors: a server that forks a prepared process per run or for many, and a new process per run.
//!
//! A process that is reused says itself that a run is over and sets its memory back (`runtime/reuse.c`); whatever happens to
//! it, the server forks the next one. A server that dies is started again; one that dies on every attempt is an error. A run is killed when it
//! has [used](super::stopwatch) its time.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use model::input::Input;
use rustix::process::{Pid, Signal, kill_process};
use tracing::{debug, trace};
use wire::{ENDED_ALIVE, Flags, NotUndone, RunState, TryVerdict};

use super::end::{End, classify};
use super::memory::SharedMemory;
use super::output::{Capture, Output};
use super::pairing::Pairing;
use super::process::{Reply, Request, ServerProcess, Streams};
use super::reuse::{ProcessCounts, ProcessReason, Reuse};
use super::stopwatch::Stopwatch;
use super::workplace::Workplace;
use super::{Execution, Executor, ExecutorError, ExecutorOptions, Tried, Values, failed};

/// How long a server may take to start and to answer: far longer than it does, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const ATTEMPTS: u32 = 3;
/// Tries together may take as long as so many processes that take all of their time; this is asked of the clock only when they
/// are so slow that it is far beyond.
const SLOW_PROCESSES: u32 = 8;
const SLOW_FACTOR: u32 = 10;
/// Bytes of path log after which there were enough tries.
const ENOUGH_LOGGED: u64 = 256 << 20;

/// Forks a prepared process per run, or for many.
pub struct ForkServer {
    options: ExecutorOptions,
    workplace: Workplace,
    memory: SharedMemory,
    stdout: Capture,
    stderr: Capture,
    server: Option<ServerProcess>,
    reuse: Reuse,
    /// The process that is reused.
    reused: Option<Pid>,
    pairing: Pairing,
    counts: ProcessCounts,
    under_way: Option<UnderWay>,
    newest: Option<Ended>,
}

/// A run that was asked for.
struct UnderWay {
    request: Request,
    /// The process that was asked to run again, and how long ago that is.
    again: Option<(Pid, Stopwatch)>,
    /// Whether there was somebody to ask.
    is_asked: bool,
}

/// What is known of a finished run besides its memory.
struct Ended {
    end: End,
    output: Output,
    wall: Duration,
    in_reused_process: bool,
}

/// What one attempt at a run came to.
enum Attempt {
    Done { status: i32, killed_for_time: bool, wall: Duration },
    ServerGone,
}

impl ForkServer {
    /// Makes memory and directory; the process starts with the first run, and belongs to the thread that asks for it.
    pub fn new(mut options: ExecutorOptions) -> Result<Self, ExecutorError> {
        let workplace = Workplace::new(&options.directory)?;
        options.directory = workplace.path().to_owned();
        // looked up from the new directory otherwise
        let act = format!("find {}", options.program.display());
        options.program = options.program.canonicalize().map_err(failed(act))?;
        let memory = SharedMemory::new(options.layout)?;
        let (stdout, stderr) = (Capture::new()?, Capture::new()?);
        Ok(Self {
            options,
            workplace,
            memory,
            stdout,
            stderr,
            server: None,
            reuse: Reuse::new(),
            reused: None,
            pairing: Pairing::default(),
            counts: ProcessCounts::default(),
            under_way: None,
            newest: None,
        })
    }

    /// Lets a process run many inputs one after another from now on, or no more.
    pub fn set_reuse(&mut self, reuse: bool) {
        self.options.reuse = reuse;
    }

    /// Asks for a run, in a process that is reused if there may be one.
    fn ask(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
        beside: bool,
    ) -> Result<(), ExecutorError> {
        assert!(self.under_way.is_none(), "the memory is that of one run at a time");
        self.newest = None;
        self.memory.trim();
        self.memory.prepare(input, flags, self.options.limits, limit)?;
        let request = match self.options.reuse.then(|| self.reuse.is_possible()) {
            Some(Ok(())) => Request::Reuse,
            Some(Err(reason)) => {
                self.counts.start(reason);
                Request::Run
            }
            None => Request::Run,
        };
        if matches!(request, Request::Reuse) && self.reused.is_none() {
            self.counts.start(self.reuse.start_reason());
        }
        let asked = self.submit(request, limit, beside).inspect_err(|_| self.lose_server())?;
        self.under_way = Some(asked);
        Ok(())
    }

    /// Waits for the end of what was asked for; what needs a process of its own gets one then.
    fn end(&mut self, input: &Input, flags: Flags, limit: Duration) -> Result<(), ExecutorError> {
        let under_way = self.under_way.take().expect("a run was asked for");
        if matches!(under_way.request, Request::Reuse) {
            if self.end_again(under_way, input, flags, limit)? {
                return Ok(());
            }
            return self.run_alone(None, input, flags, limit);
        }
        self.run_alone(Some(under_way), input, flags, limit)
    }

    fn lose_server(&mut self) {
        (self.server, self.reused) = (None, None);
    }

    /// Waits for the end of a run in a process that runs again and again; false when it needs one of its own.
    fn end_again(
        &mut self,
        under_way: UnderWay,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<bool, ExecutorError> {
        let is_again = under_way.again.is_some();
        let (status, killed_for_time, wall) = match self.wait_for(under_way, limit) {
            Ok(Attempt::Done { status, killed_for_time, wall }) => (status, killed_for_time, wall),
            Ok(Attempt::ServerGone) => {
                self.end_reused(ProcessReason::Lost);
                self.server = None;
                return Ok(false);
            }
            Err(ExecutorError::CannotFork { .. }) => {
                self.end_reused(ProcessReason::NotUndone(NotUndone::Kernel));
                return Ok(false);
            }
            Err(error) => {
                self.lose_server();
                return Err(error);
            }
        };
        let header = self.memory.header();
        let is_alive = status & ENDED_ALIVE != 0;
        // it cannot say why when it has blocked the signal by which it would hear
        let is_cut = !is_alive && ExitStatus::from_raw(status).signal() == Some(Signal::SYS.as_raw());
        let not_undone = header.not_undone.or(is_cut.then_some(NotUndone::Signal));
        if let (Some(what), false) = (not_undone, is_alive) {
            self.end_reused(ProcessReason::NotUndone(what));
            self.take_output()?;
            self.counts.start(ProcessReason::NotUndone(what));
            return Ok(false);
        }
        if !is_alive && header.state == Some(RunState::Ready) && !killed_for_time {
            self.end_reused(ProcessReason::Lost);
            return Ok(false);
        }
        self.counts.n_reused += u64::from(is_again);
        if is_alive {
            self.reuse.survived();
        } else if killed_for_time {
            self.end_reused(ProcessReason::Hang);
        } else {
            self.end_reused(ProcessReason::Crash);
        }
        let end = classify(status & !ENDED_ALIVE, &header, killed_for_time);
        let output = self.take_output()?;
        trace!(%end, ?wall, n_cells = input.values.len(), symbolic = flags.symbolic, is_again, "execution");
        self.newest = Some(Ended { end, output, wall, in_reused_process: true });
        Ok(true)
    }

    fn end_reused(&mut self, reason: ProcessReason) {
        self.reused = None;
        self.reuse.ended(reason);
    }

    /// Runs an input in a process of its own; it may have been asked for already.
    fn run_alone(
        &mut self,
        mut asked: Option<UnderWay>,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<(), ExecutorError> {
        self.newest = None;
        if asked.is_none() {
            self.memory.trim();
        }
        let mut status = String::new();
        for _ in 0..ATTEMPTS {
            let attempt = match asked.take() {
                Some(under_way) => self.wait_for(under_way, limit),
                None => {
                    self.memory.prepare(input, flags, self.options.limits, limit)?;
                    self.attempt(Request::Run, limit)
                }
            };
            match attempt {
                Ok(Attempt::Done { status, killed_for_time, wall }) => {
                    let end = classify(status, &self.memory.header(), killed_for_time);
                    let output = self.take_output()?;
                    self.workplace.empty(self.server.as_ref().map(ServerProcess::pid))?;
                    trace!(%end, ?wall, n_cells = input.values.len(), symbolic = flags.symbolic, "execution");
                    self.newest = Some(Ended { end, output, wall, in_reused_process: false });
                    return Ok(());
                }
                Ok(Attempt::ServerGone) => {
                    self.reused = None;
                    if let Some(mut server) = self.server.take() {
                        status = server.status();
                    }
                }
                Err(error) => {
                    self.lose_server();
                    return Err(error);
                }
            }
        }
        let program = self.options.program.clone();
        Err(if self.memory.has_started() {
            ExecutorError::ServerDies { program, attempts: ATTEMPTS }
        } else {
            ExecutorError::NoServer { program, status }
        })
    }

    fn attempt(&mut self, request: Request, limit: Duration) -> Result<Attempt, ExecutorError> {
        let under_way = self.submit(request, limit, false)?;
        self.wait_for(under_way, limit)
    }

    /// Asks the process that is reused, or the server. One that runs beside other work of this thread has a processor of its own.
    fn submit(&mut self, request: Request, limit: Duration, beside: bool) -> Result<UnderWay, ExecutorError> {
        let Self { options, memory, stdout, stderr, pairing, .. } = self;
        let server = match &mut self.server {
            Some(server) => server,
            None => {
                let streams = Streams { memory: memory.fd(), stdout: stdout.fd(), stderr: stderr.fd() };
                debug!(program = %options.program.display(), "server starts");
                self.server.insert(ServerProcess::start(options, &streams)?)
            }
        };
        let again = self.reused.filter(|_| matches!(request, Request::Reuse));
        match (again, request, &options.seat) {
            (Some(pid), _, _) if beside => pairing.let_go(pid),
            (Some(pid), _, Some(seat)) => pairing.begin(pid, seat),
            (None, Request::Reuse, _) => pairing.forget(),
            (Some(_), _, None) | (None, Request::Run | Request::Try, _) => {}
        }
        let is_asked = if again.is_some() { server.ask_again() } else { server.ask(request) };
        let again = again.map(|pid| (pid, Stopwatch::start_again(limit)));
        Ok(UnderWay { request, again, is_asked })
    }

    fn wait_for(&mut self, under_way: UnderWay, limit: Duration) -> Result<Attempt, ExecutorError> {
        let attempt = self.reply_to(under_way, limit);
        self.pairing.end();
        attempt
    }

    fn reply_to(&mut self, under_way: UnderWay, limit: Duration) -> Result<Attempt, ExecutorError> {
        let UnderWay { request, again, is_asked } = under_way;
        let Self { options, pairing, .. } = self;
        let Some(server) = self.server.as_mut().filter(|_| is_asked) else {
            return Ok(Attempt::ServerGone);
        };
        let silent = || ExecutorError::ServerSilent { program: options.program.clone(), waited: PATIENCE };
        let (pid, mut stopwatch) = match again {
            Some(again) => again,
            None => {
                let started = match server.wait(Instant::now() + PATIENCE, &options.interrupt)? {
                    Reply::Word(pid) => Some(pid).filter(|pid| *pid > 0).and_then(Pid::from_raw),
                    Reply::Gone => return Ok(Attempt::ServerGone),
                    Reply::TimedOut => return Err(silent()),
                };
                let pid =
                    started.ok_or_else(|| ExecutorError::CannotFork { program: options.program.clone() })?;
                (pid, Stopwatch::start(limit))
            }
        };
        if matches!(request, Request::Reuse) {
            self.reused = Some(pid);
        }
        let time_left = || {
            if stopwatch.is_long() {
                pairing.let_go(pid);
            }
            stopwatch.left(pid)
        };
        let mut reply = server.wait_while(&options.interrupt, time_left)?;
        let killed_for_time = matches!(reply, Reply::TimedOut);
        if killed_for_time {
            // the server has not yet waited for this process, so the number is still its own; it may have ended by itself
            let _ = kill_process(pid, Signal::KILL);
            reply = server.wait(Instant::now() + PATIENCE, &options.interrupt)?;
        }
        match reply {
            Reply::Word(status) => Ok(Attempt::Done { status, killed_for_time, wall: stopwatch.wall() }),
            Reply::Gone => Ok(Attempt::ServerGone),
            Reply::TimedOut => Err(silent()),
        }
    }

    /// Tries as many as there is room for in memory. Fewer when a process takes all of its time, or when they did very much
    /// together; the clock ends them only when each is very slow, because the same tries must come to the same.
    fn try_some(
        &mut self,
        tries: &[Values],
        flags: Flags,
        limit: Duration,
    ) -> Result<Vec<Tried>, ExecutorError> {
        let n_tries = self.memory.prepare_tries(tries, flags, self.options.limits, limit);
        let (started, mut n_tried, mut n_logged, mut was_given_up) = (Instant::now(), 0, 0, false);
        let most = limit.saturating_mul(SLOW_PROCESSES * SLOW_FACTOR);
        while n_tried < n_tries && n_logged < ENOUGH_LOGGED && started.elapsed() < most {
            let is_endless = match self.attempt(Request::Try, limit) {
                Ok(Attempt::Done { killed_for_time, .. }) => killed_for_time,
                Ok(Attempt::ServerGone) => {
                    self.lose_server();
                    break;
                }
                Err(error) => {
                    self.lose_server();
                    return Err(error);
                }
            };
            let header = self.memory.header();
            let n_more = header.n_tried as usize;
            // what is not undone is tried again in a process of its own, once
            if n_more == n_tried && header.not_undone.is_some() && !was_given_up {
                was_given_up = true;
                continue;
            }
            was_given_up = false;
            if n_more <= n_tried {
                break;
            }
            let logged = |index: usize| u64::from(self.memory.tried(index).n_logged);
            n_logged += (n_tried..n_more.min(n_tries)).map(logged).sum::<u64>();
            n_tried = n_more;
            if is_endless {
                break; // others like it may be, too
            }
        }
        trace!(n_tried, n_tries, "tries");
        self.take_output()?;
        self.workplace.empty(self.server.as_ref().map(ServerProcess::pid))?;
        let tried = |index: usize| {
            let record = self.memory.tried(index);
            Tried { looks_new: record.verdict == Some(TryVerdict::New), n_logged: record.n_logged }
        };
        Ok((0..n_tried.min(n_tries)).map(tried).collect())
    }

    fn take_output(&self) -> Result<Output, ExecutorError> {
        let take = |capture: &Capture| capture.take().map_err(failed("read what a run printed"));
        let ((stdout, more_stdout), (stderr, more_stderr)) = (take(&self.stdout)?, take(&self.stderr)?);
        Ok(Output { stdout, stderr, truncated: more_stdout || more_stderr })
    }
}

impl Executor for ForkServer {
    fn execute(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        self.ask(input, flags, limit, false)?;
        self.finish(input, flags, limit)
    }

    fn start(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
        beside: bool,
    ) -> Result<(), ExecutorError> {
        self.ask(input, flags, limit, beside)
    }

    fn finish(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        self.end(input, flags, limit)?;
        Ok(self.newest().expect("a run that came to an end is the newest"))
    }

    fn execute_alone(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        self.counts.start(ProcessReason::Confirmation);
        self.run_alone(None, input, flags, limit)?;
        Ok(self.newest().expect("a run that came to an end is the newest"))
    }

    fn stop_reuse(&mut self) {
        self.reuse.stop(ProcessReason::Different);
    }

    fn take_counts(&mut self) -> ProcessCounts {
        std::mem::take(&mut self.counts)
    }

    fn newest(&self) -> Option<Execution<'_>> {
        let Ended { end, output, wall, in_reused_process } = self.newest.as_ref()?;
        Some(Execution {
            end: *end,
            marks: self.memory.header().marks,
            outside: self.memory.header().outside,
            cells: self.memory.cells(),
            nodes: self.memory.nodes(),
            log: self.memory.log(),
            output,
            wall: *wall,
            in_reused_process: *in_reused_process,
        })
    }

    fn try_all(
        &mut self,
        tries: &[Values],
        flags: Flags,
        limit: Duration,
    ) -> Result<Vec<Tried>, ExecutorError> {
        self.newest = None;
        let mut tried = Vec::with_capacity(tries.len());
        while tried.len() < tries.len() {
            let more = self.try_some(&tries[tried.len()..], flags, limit)?;
            let is_over = more.len() < wire::MAX_TRIES;
            tried.extend(more);
            if is_over {
                break;
            }
        }
        Ok(tried)
    }
}

/// Starts the program anew for every run: nothing a run or the start-up did can leak into the next.
pub struct FreshProcess {
    server: ForkServer,
}

impl FreshProcess {
    /// Makes memory and directory.
    pub fn new(options: ExecutorOptions) -> Result<Self, ExecutorError> {
        Ok(Self { server: ForkServer::new(options)? })
    }
}

impl Executor for FreshProcess {
    fn execute(
        &mut self,
        input: &Input,
        flags: Flags,
        limit: Duration,
    ) -> Result<Execution<'_>, ExecutorError> {
        let ran =
            self.server.ask(input, flags, limit, false).and_then(|()| self.server.end(input, flags, limit));
        self.server.server = None;
        ran?;
        Ok(self.server.newest().expect("a run that came to an end is the newest"))
    }

    fn newest(&self) -> Option<Execution<'_>> {
        self.server.newest()
    }
}
