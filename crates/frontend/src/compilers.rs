//! Compiler processes: all are started here, so that those nobody waits for any more can be ended.
//!
//! Every thread belongs to a group, at first to that of all threads, and what it starts belongs to it as well. A thread that is
//! started on behalf of another must join its group ([`Group::run`]). Limit: one that starts at the very moment of the end outlives it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

/// Compilers that are ended together.
#[derive(Clone, Debug, Default)]
pub struct Group(Arc<Mutex<BTreeSet<u32>>>);

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

    /// Ends all compilers of the group that run: whoever waits for one is told that it failed.
    pub fn stop(&self) {
        self.with_running(|running| {
            for id in running.iter().filter_map(|id| i32::try_from(*id).ok().and_then(Pid::from_raw)) {
                // one that has just ended needs no signal
                let _ = kill_process(id, Signal::TERM);
            }
        });
    }

    fn with_running<T>(&self, act: impl FnOnce(&mut BTreeSet<u32>) -> T) -> T {
        act(&mut self.0.lock().expect("nobody panics while compilers are counted"))
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

/// Runs a command to its end, like [`Command::output`].
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    wait(child)
}

/// Waits for a compiler that was started with pipes.
pub(crate) fn wait(child: Child) -> io::Result<Output> {
    let (id, group) = (child.id(), Group::current());
    group.with_running(|running| running.insert(id));
    let output = child.wait_with_output();
    group.with_running(|running| running.remove(&id));
    output
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
        let has_started = |group: &Group| group.with_running(|running| !running.is_empty());
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
}
