//! Compiler processes: all are started here, so that those nobody waits for any more can be ended.
//!
//! Every thread belongs to a group, at first to that of all threads, and what it starts belongs to it as well. A thread that is
//! started on behalf of another must join its group ([`Group::run`]), or a part of it ([`Group::part`]).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

/// Compilers that are ended together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    state: Arc<Mutex<State>>,
    /// What this is a part of.
    whole: Option<Arc<Group>>,
}

#[derive(Debug, Default)]
struct State {
    running: BTreeSet<u32>,
    is_closed: bool,
}

static COMMON: LazyLock<Group> = LazyLock::new(Group::default);

thread_local! {
    static CURRENT: RefCell<Group> = RefCell::new(COMMON.clone());
}

impl Group {
    /// The group of this thread.
    pub fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
    }

    /// Does something as part of the group.
    pub fn run<T>(&self, act: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(self.clone());
        let result = act();
        CURRENT.set(before);
        result
    }

    /// A group that ends with this one, and may be ended before.
    pub fn part(&self) -> Self {
        Self { state: Arc::default(), whole: Some(Arc::new(self.clone())) }
    }

    /// Ends all compilers of the group that run: whoever waits for one is told that it failed.
    pub fn stop(&self) {
        self.state().stop();
    }

    /// Ends all compilers of the group, and those that are still to be started.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.stop();
    }

    /// Starts a process as one of the group and of all that it is a part of. They are locked meanwhile, so that none ends without it.
    fn start(&self, spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
        fn start_in(group: &Group, spawn: &mut dyn FnMut() -> io::Result<Child>) -> io::Result<Child> {
            let mut state = group.state();
            if state.is_closed {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "the build was stopped"));
            }
            let child = match &group.whole {
                Some(whole) => start_in(whole, spawn)?,
                None => spawn()?,
            };
            state.running.insert(child.id());
            Ok(child)
        }
        let mut spawn = Some(spawn);
        start_in(self, &mut || spawn.take().expect("there is one group that is part of none")())
    }

    fn forget(&self, id: u32) {
        self.state().running.remove(&id);
        self.whole.iter().for_each(|whole| whole.forget(id));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while compilers are counted")
    }
}

impl State {
    fn stop(&self) {
        for id in self.running.iter().filter_map(|id| i32::try_from(*id).ok().and_then(Pid::from_raw)) {
            // one that has just ended needs no signal
            let _ = kill_process(id, Signal::TERM);
        }
    }
}

/// Deep expressions recurse deeply.
const STACK: usize = 256 << 20;

/// Does some items at a time, on threads of the group of this one; the results have the order of the items.
pub fn in_parallel<I: Sync, T: Send>(
    items: &[I],
    n_at_a_time: usize,
    work: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let group = Group::current();
    let worker = || {
        while let number = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(number)
        {
            let result = work(item);
            results.lock().expect("no working thread panics").push((number, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..n_at_a_time.min(items.len()) {
            let thread = thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, || group.run(worker)).expect("a thread can be started");
        }
    });
    let mut results = results.into_inner().expect("no working thread panics");
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// As many at a time as there are processors.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A compiler that was started.
pub(crate) struct Running {
    child: Child,
    group: Group,
}

/// Starts a command, with its outputs as pipes.
pub(crate) fn start(command: &mut Command) -> io::Result<Running> {
    command.stdin(Stdio::null());
    with_pipes(command)
}

fn with_pipes(command: &mut Command) -> io::Result<Running> {
    let group = Group::current();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = group.start(|| command.spawn())?;
    Ok(Running { child, group })
}

impl Running {
    /// Waits for its end.
    pub fn output(self) -> io::Result<Output> {
        let id = self.child.id();
        let output = self.child.wait_with_output();
        self.group.forget(id);
        output
    }
}

/// Runs a command to its end, like [`Command::output`].
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    start(command)?.output()
}

/// Runs a command that reads `input` before it writes much.
pub(crate) fn output_for(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    let mut running = with_pipes(command.stdin(Stdio::piped()))?;
    if let Some(mut stdin) = running.child.stdin.take() {
        // a tool that does not read its input reports why itself
        let _ = stdin.write_all(input);
    }
    running.output()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn sleep() -> io::Result<Output> {
        output(Command::new("sleep").arg("600"))
    }

    #[test]
    fn a_group_ends_its_own_compilers_and_no_others() {
        let (one, other) = (Group::default(), Group::default());
        let start = |group: &Group| {
            let group = group.clone();
            std::thread::spawn(move || group.run(sleep))
        };
        let (first, second) = (start(&one), start(&other));
        let has_started = |group: &Group| !group.state().running.is_empty();
        let begin = Instant::now();
        while !(has_started(&one) && has_started(&other)) {
            assert!(begin.elapsed() < Duration::from_secs(60), "processes start");
            std::thread::yield_now();
        }
        one.stop();
        let ended = first.join().expect("no panic").expect("a process that was started");
        assert!(!ended.status.success());
        assert!(has_started(&other), "it goes on");
        other.stop();
        second.join().expect("no panic").expect("a process that was started");
        assert!(!has_started(&Group::current()), "they were of groups of their own");
    }

    #[test]
    fn a_part_ends_with_the_whole_and_starts_nothing_once_it_is_closed() {
        let whole = Group::default();
        let (first, second) = (whole.part(), whole.part());
        let ran = |group: &Group| {
            let group = group.clone();
            std::thread::spawn(move || group.run(sleep))
        };
        first.close();
        let refused = first.run(sleep).expect_err("it is closed");
        assert_eq!(refused.kind(), io::ErrorKind::Interrupted);
        let other = ran(&second);
        let begin = Instant::now();
        while whole.state().running.is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(60), "processes start");
            std::thread::yield_now();
        }
        first.close();
        assert!(!whole.state().running.is_empty(), "the other part goes on");
        whole.stop();
        assert!(!other.join().expect("no panic").expect("a process that was started").status.success());
        assert!(whole.state().running.is_empty() && second.state().running.is_empty());
    }
}
