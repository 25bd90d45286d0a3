//! What the process of a program under test does before it executes that program.
//!
//! It shares the memory of its parent ([`super::spawn`]), so nothing here allocates: what needs memory is made before.
//! System calls go through rustix; the four that it lacks and `dup2` to a number of our choice are made by hand.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Signal, set_parent_process_death_signal, setsid};

/// Descriptors for the program are first moved away from the numbers it gets them under.
const FIRST_FREE_FD: RawFd = 256;

/// Open files that the program finds under fixed numbers.
pub(super) struct Handover {
    files: Vec<(OwnedFd, RawFd)>,
}

impl Handover {
    /// Each file with its number in the program.
    pub(super) fn new(files: &[(BorrowedFd<'_>, RawFd)]) -> io::Result<Self> {
        let duplicate = |&(file, number): &(BorrowedFd<'_>, RawFd)| {
            Ok((fcntl_dupfd_cloexec(file, FIRST_FREE_FD)?, number))
        };
        Ok(Self { files: files.iter().map(duplicate).collect::<io::Result<_>>()? })
    }

    /// Called in the child: everything but the standard streams and these files, which they may be among, will be closed at exec.
    pub(super) fn complete(&self) -> io::Result<()> {
        close_others_at_exec();
        for (file, number) in &self.files {
            // SAFETY: nothing in this child uses a descriptor of that number.
            if unsafe { libc::dup2(file.as_raw_fd(), *number) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

/// Called in the child: it leads its own session and dies with the thread that started it.
pub(super) fn detach() {
    // neither fails in a process that was just forked
    let _ = setsid();
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Called in the child: every signal does what it does by default. What the caller's shell ignores (`nohup`, background jobs
/// of scripts) would otherwise be ignored in the program as well, and a test would end differently there.
pub(super) fn take_default_signals() {
    for number in 1..=libc::SIGRTMAX() {
        // SAFETY: sets no handler. It fails for signals that cannot be changed, which nobody ignores either.
        unsafe { libc::signal(number, libc::SIG_DFL) };
    }
}

/// Called in the child: turns address-space randomisation off. Where this is forbidden the server tries it itself; one
/// server's runs are alike in any case.
pub(super) fn fix_addresses() -> bool {
    // SAFETY: takes no pointers; it concerns this process alone.
    unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) >= 0 }
}

/// Closes at exec what this process holds or was given. A kernel that does not know how leaves things as they are.
fn close_others_at_exec() {
    let (first, last) = (libc::STDERR_FILENO + 1, libc::c_uint::MAX);
    // SAFETY: a system call on integers, which closes nothing yet.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Called in a child with its own mounts: makes all of them read-only.
pub(super) fn make_mounts_read_only() -> bool {
    const RECURSIVE: libc::c_int = 0x8000;
    const READ_ONLY: u64 = 1;
    let attributes: [u64; 4] = [READ_ONLY, 0, 0, 0];
    let (pointer, size) = (attributes.as_ptr(), size_of_val(&attributes));
    let (set, root) = (libc::SYS_mount_setattr, c"/".as_ptr());
    // SAFETY: a C string, and a structure laid out as the kernel has it, of the size that is given.
    unsafe { libc::syscall(set, libc::AT_FDCWD, root, RECURSIVE, pointer, size) == 0 }
}
