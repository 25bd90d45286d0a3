//! Compiler processes: all are started here, so that all can be ended when nobody waits for them any more.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

use rustix::process::{Pid, Signal, kill_process};

/// Those that run now.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Runs a command to its end, like [`Command::output`].
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    wait(child)
}

/// Waits for a compiler that was started with pipes.
pub(crate) fn wait(child: Child) -> io::Result<Output> {
    let id = child.id();
    with_running(|running| running.insert(id));
    let output = child.wait_with_output();
    with_running(|running| running.remove(&id));
    output
}

/// Ends all compilers that run: whoever waits for one is told that it failed.
pub fn stop() {
    with_running(|running| {
        for id in running.iter().filter_map(|id| i32::try_from(*id).ok().and_then(Pid::from_raw)) {
            // one that has just ended needs no signal
            let _ = kill_process(id, Signal::TERM);
        }
    });
}

fn with_running<T>(act: impl FnOnce(&mut BTreeSet<u32>) -> T) -> T {
    act(&mut RUNNING.lock().expect("nobody panics while compilers are counted"))
}
