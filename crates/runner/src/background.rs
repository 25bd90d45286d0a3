//! Work that cannot be stopped halfway, done on a thread of its own, so that its caller can stop waiting.
//!
//! LLVM's passes do not look at an interrupt. When one is requested, compilers are ended, the thread is left alone with its work,
//! and the caller goes on at once; usually the process ends soon after, and the thread with it.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use engine::campaign::Clock as _;
use frontend::compilers::Group;

use crate::error::{Error, Explanation};
use crate::interrupt::Interrupt;
use crate::session::{Session, Since};

/// How often the interrupt is looked at, and progress told.
const PAUSE: Duration = Duration::from_millis(50);
/// As much as a main thread has at least: code that recurses over the program's own nesting needs it.
const STACK: usize = 64 << 20;

/// Waits for `work`, telling the watcher `what` is under way and in which phase; an error at once when interrupted.
pub fn wait_for<T: Send + 'static>(
    session: &mut Session<'_>,
    what: &str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    wait_until(None, session, what, work)
}

/// The same, and an error at this time of the session's clock.
pub fn wait_until<T: Send + 'static>(
    end: Option<Duration>,
    session: &mut Session<'_>,
    what: &str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    session.watcher.step(what);
    wait_quietly(end, session, what, work)
}

/// The same of what takes long only when much has changed, and is not told when it begins.
pub fn wait_quietly<T: Send + 'static>(
    end: Option<Duration>,
    session: &mut Session<'_>,
    what: &str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let clock = Since::now(session.clock);
    let (interrupt, phases, watcher) = (session.interrupt, session.phases, &mut *session.watcher);
    let mut look = || {
        watcher.phase(what, phases.current().as_deref(), clock.elapsed());
        match end {
            Some(end) if session.clock.elapsed() >= end => Some("the budget ended"),
            _ => None,
        }
    };
    wait(interrupt, what, &mut look, work)
}

/// Waits for `work`; an error at once when interrupted.
pub fn interruptible<T: Send + 'static>(
    interrupt: &Interrupt,
    what: &str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    wait(interrupt, what, &mut || None, work)
}

/// Looks again and again whether there is a reason to stop waiting.
fn wait<T: Send + 'static>(
    interrupt: &Interrupt,
    what: &str,
    look: &mut dyn FnMut() -> Option<&'static str>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (send, receive) = sync_channel(1);
    // nobody waits for the result after an interrupt
    let compilers = Group::current().part();
    let group = compilers.clone();
    let work = move || drop(send.send(group.run(work)));
    let thread = Builder::new()
        .name(what.to_owned())
        .stack_size(STACK)
        .spawn(work)
        .map_err(|error| Error::internal(format!("cannot start a thread: {error}")))?;
    loop {
        match receive.recv_timeout(PAUSE) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {
                let reason = if interrupt.is_requested() { Some("interrupted") } else { look() };
                if let Some(reason) = reason {
                    compilers.close();
                    return Err(Error::Interrupted(Explanation::new(format!("{reason} while {what}"))));
                }
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Err(Error::internal(format!("no result of {what}"))),
            },
        }
    }
}
