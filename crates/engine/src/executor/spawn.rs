//! Starts a process without copying this one.
//!
//! `fork` copies the page tables of the engine, which holds hundreds of megabytes, and lets it fault on every page that it
//! writes to after that: far more work than most programs under test do. Here the new process shares the memory of this one
//! until it executes its program (`CLONE_VM`), with a stack of its own, and the thread that starts it waits until then
//! (`CLONE_VFORK`), as in `posix_spawn`. Namespaces are made by the same call, because a process that shares its memory cannot make a
//! user namespace later. Limit: what runs in between may only make system calls; a panic there ends the new process.

use std::ffi::{CString, OsStr, c_int, c_void};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitStatus;
use std::ptr;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpid};

/// Bytes of stack for what happens before the program is executed.
const STACK: usize = 256 << 10;
/// What the new process ends with when it cannot execute its program.
const NOT_EXECUTED: c_int = 127;

/// The program and what it is given.
pub(super) struct Start {
    program: CString,
    arguments: Vec<CString>,
    variables: Vec<CString>,
}

/// Which namespaces of its own a new process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespaces {
    /// Its own mounts, as the administrator of its own user namespace.
    UserAndMounts,
    /// Its own mounts.
    Mounts,
    None,
}

impl Namespaces {
    /// As many as the kernel allows come first.
    const ALL: [Self; 3] = [Self::UserAndMounts, Self::Mounts, Self::None];

    fn flags(self) -> c_int {
        match self {
            Self::UserAndMounts => libc::CLONE_NEWUSER | libc::CLONE_NEWNS,
            Self::Mounts => libc::CLONE_NEWNS,
            Self::None => 0,
        }
    }
}

/// A process that was started.
#[derive(Debug)]
pub(super) struct Process {
    pid: Pid,
    status: Option<ExitStatus>,
}

impl Start {
    /// Of the program behind a descriptor of this process.
    pub(super) fn new<'a>(
        program: RawFd,
        arguments: impl Iterator<Item = &'a OsStr>,
        variables: impl Iterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> io::Result<Self> {
        let text = |bytes: &[u8]| CString::new(bytes).map_err(io::Error::other);
        let variable =
            |(name, value): (&OsStr, &OsStr)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat());
        // in a fixed order: addresses on the stack depend on it
        let mut variables = variables.map(variable).collect::<io::Result<Vec<_>>>()?;
        variables.sort();
        Ok(Self {
            program: text(format!("/proc/self/fd/{program}").as_bytes())?,
            arguments: arguments.map(|argument| text(argument.as_bytes())).collect::<io::Result<_>>()?,
            variables,
        })
    }

    /// Starts the program; `prepare` is called in the new process before, and told which namespaces it has.
    pub(super) fn spawn(&self, mut prepare: impl FnMut(Namespaces) -> io::Result<()>) -> io::Result<Process> {
        let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
            texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
        };
        let (arguments, variables) = (pointers(&self.arguments), pointers(&self.variables));
        let mut stack = vec![0u128; STACK / size_of::<u128>()];
        let _all_blocked = BlockedSignals::new();
        let mut last = io::Error::from(Errno::INVAL);
        for namespaces in Namespaces::ALL {
            let mut entry = Entry {
                prepare: &mut || prepare(namespaces),
                program: self.program.as_ptr(),
                arguments: arguments.as_ptr(),
                variables: variables.as_ptr(),
                error: 0,
            };
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | namespaces.flags();
            // SAFETY: the stack is aligned, grows down from its end, and lives until the call returns, when the new process has
            // executed its program or ended; so does everything that `entry` points to.
            let pid = unsafe {
                let top = stack.as_mut_ptr_range().end.cast::<c_void>();
                libc::clone(enter, top, flags, (&raw mut entry).cast())
            };
            let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 0) else {
                last = io::Error::last_os_error();
                continue;
            };
            let mut process = Process { pid, status: None };
            if entry.error == 0 {
                return Ok(process);
            }
            process.wait()?;
            return Err(io::Error::from_raw_os_error(entry.error));
        }
        Err(last)
    }
}

/// What the new process needs.
struct Entry<'a> {
    prepare: &'a mut dyn FnMut() -> io::Result<()>,
    program: *const libc::c_char,
    arguments: *const *const libc::c_char,
    variables: *const *const libc::c_char,
    /// Why it could not execute the program.
    error: c_int,
}

/// Where the new process begins. It shares all memory with the thread that waits for it.
extern "C" fn enter(entry: *mut c_void) -> c_int {
    // SAFETY: `spawn` passes an entry that lives until this process executes its program or ends.
    let entry = unsafe { &mut *entry.cast::<Entry<'_>>() };
    let prepared = catch_unwind(AssertUnwindSafe(|| {
        (entry.prepare)()?;
        unblock_signals();
        Ok(())
    }));
    let error: io::Error = match prepared {
        Ok(Ok(())) => {
            // SAFETY: C strings and lists of them that end with a null pointer.
            unsafe { libc::execve(entry.program, entry.arguments, entry.variables) };
            io::Error::last_os_error()
        }
        Ok(Err(error)) => error,
        Err(_) => Errno::CANCELED.into(),
    };
    entry.error = error.raw_os_error().unwrap_or(libc::EINVAL);
    // SAFETY: ends this process without running what this program registered for its end.
    unsafe { libc::_exit(NOT_EXECUTED) }
}

impl Process {
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// A descriptor that is readable when the process has ended; an error on kernels without.
    pub(super) fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(pidfd_open(self.pid, PidfdFlags::empty())?)
    }

    /// How it ended, if it did.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.wait_with(WaitOptions::NOHANG)
    }

    /// Waits for its end.
    pub(super) fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.wait_with(WaitOptions::empty())? {
                return Ok(status);
            }
        }
    }

    fn wait_with(&mut self, options: WaitOptions) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            match waitpid(Some(self.pid), options) {
                Ok(ended) => self.status = ended.map(|(_, status)| ExitStatus::from_raw(status.as_raw())),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.status)
    }
}

/// No signal is delivered to this thread while this lives: a handler must not run in a process that shares its memory.
struct BlockedSignals {
    before: libc::sigset_t,
}

impl BlockedSignals {
    fn new() -> Self {
        // SAFETY: fills the sets in that it is given; a set of zeros is a set.
        unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self { before }
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: a set that was filled in.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut()) };
    }
}

/// The program begins with no signal blocked.
fn unblock_signals() {
    // SAFETY: a set of no signals.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    fn shell(script: &str) -> (File, Start) {
        let shell = File::open("/bin/sh").expect("there is a shell");
        let arguments = ["sh", "-c", script].map(OsStr::new);
        let variables =
            [("WHO", "quarry"), ("A", "b")].map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let start = Start::new(shell.as_raw_fd(), arguments.into_iter(), variables.into_iter());
        (shell, start.expect("plain texts"))
    }

    #[test]
    fn a_program_gets_its_arguments_and_variables_alone() {
        let (_shell, start) = shell(r#"test "$WHO$A" = quarryb && test -z "$HOME" && exit 7"#);
        let mut process = start.spawn(|_| Ok(())).expect("it starts");
        assert_eq!(process.wait().expect("it ends").code(), Some(7));
        assert_eq!(process.try_wait().expect("it has ended").and_then(|status| status.code()), Some(7));
    }

    #[test]
    fn what_fails_before_the_program_is_told() {
        let (_shell, start) = shell("exit 0");
        let failed = start.spawn(|_| Err(Errno::NODEV.into())).expect_err("it is not prepared");
        assert_eq!(failed.raw_os_error(), Some(libc::ENODEV));
        let panicked = start.spawn(|_| panic!("on purpose")).expect_err("it is not prepared");
        assert_eq!(panicked.raw_os_error(), Some(libc::ECANCELED));
        let nothing = File::open("/dev/null").expect("there is a null device");
        let start = Start::new(nothing.as_raw_fd(), [OsStr::new("x")].into_iter(), [].into_iter());
        assert!(start.expect("plain texts").spawn(|_| Ok(())).is_err());
    }

    #[test]
    fn its_descriptor_tells_the_end() {
        let (_shell, start) = shell("exit 3");
        let mut process = start.spawn(|_| Ok(())).expect("it starts");
        let Ok(descriptor) = process.descriptor() else { return };
        let mut files = [rustix::event::PollFd::new(&descriptor, rustix::event::PollFlags::IN)];
        assert_eq!(rustix::event::poll(&mut files, None), Ok(1));
        assert_eq!(process.wait().expect("it has ended").code(), Some(3));
    }
}
