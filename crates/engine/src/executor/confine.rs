//! Where a program under test may write: a directory of its own that is in memory, and nowhere else.
//!
//! Method: between fork and exec the server gets a mount namespace in which every file system is read-only, with small ones
//! in memory over its working directory, `/tmp` and `/dev/shm`; on top of that, Landlock allows writing below these alone,
//! and no TCP. Each is done where the kernel allows it, so that either is enough to keep files safe. Sockets, processes and
//! signals are the runtime's affair. Limit: without namespaces files are bounded one by one, not in sum, and `/tmp`
//! cannot be written at all; without Landlock and namespaces nothing guards the files, and `quarry doctor` says so.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::{Mode, OFlags, mkdir, open};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{chdir, getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::child::make_mounts_read_only;

/// Programs expect to be able to write here.
const SCRATCH: [&CStr; 2] = [c"/tmp", c"/dev/shm"];
/// Devices that may be written to: they keep nothing.
const HARMLESS: [&CStr; 4] = [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/tty"];

/// What is needed between fork and exec, made before: there no memory may be asked for.
pub(super) struct Confinement {
    directory: CString,
    /// The directories above it, outermost first.
    above: Vec<CString>,
    user: CString,
    group: CString,
    size: CString,
}

/// What the kernel allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guards {
    /// Mount namespaces for ordinary users.
    pub namespaces: bool,
    /// The version of Landlock, 0 when there is none.
    pub landlock: u32,
}

/// Finds out what the kernel allows.
pub fn guards() -> Guards {
    let own_mounts = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    Guards { namespaces: succeeds_in_child(move || unshare(own_mounts)), landlock: landlock_version() }
}

/// Whether a system call succeeds, tried in a child that ends before it executes anything.
fn succeeds_in_child(mut call: impl FnMut() -> rustix::io::Result<()> + Send + Sync + 'static) -> bool {
    // an error that the call itself does not know: the only way a child has to report success without executing a program
    const SUCCESS: Errno = Errno::ALREADY;
    let mut command = Command::new("/");
    let attempt = move || Err(call().err().unwrap_or(SUCCESS).into());
    // SAFETY: this only makes a system call.
    unsafe { command.pre_exec(attempt) };
    command.spawn().is_err_and(|error| error.raw_os_error() == Some(SUCCESS.raw_os_error()))
}

/// Gives this process namespaces of its own.
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: only sharing a table of descriptors no longer would be unsound, and namespaces leave that alone.
    unsafe { unshare_unsafe(flags) }
}

impl Confinement {
    /// For a program that works in `directory`, where it may leave so many bytes.
    pub(super) fn new(directory: &Path, n_bytes: u64) -> io::Result<Self> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        let mut above = directory.ancestors().skip(1).map(text).collect::<io::Result<Vec<_>>>()?;
        above.reverse();
        let (user, group) = (geteuid(), getegid());
        let plain = |text: String| CString::new(text).expect("no zero byte in digits");
        let size = if n_bytes == 0 { String::new() } else { format!("size={n_bytes}") };
        Ok(Self {
            directory: text(directory)?,
            above,
            user: plain(format!("{user} {user} 1")),
            group: plain(format!("{group} {group} 1")),
            size: plain(size),
        })
    }

    /// Called in the child; does what is possible, and nothing that needs memory.
    pub(super) fn enter(&self) {
        let in_namespace = self.enter_namespace();
        self.restrict(in_namespace);
    }

    /// Own mounts: everything read-only, and places in memory to write to.
    fn enter_namespace(&self) -> bool {
        if unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS).is_ok() {
            write_all(c"/proc/self/setgroups", c"deny");
            write_all(c"/proc/self/uid_map", &self.user);
            write_all(c"/proc/self/gid_map", &self.group);
        } else if unshare(UnshareFlags::NEWNS).is_err() {
            return false;
        }
        let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
        if mount_change(c"/", private).is_err() {
            return false;
        }
        let is_read_only = make_mounts_read_only();
        for scratch in SCRATCH {
            self.mount_memory(scratch);
        }
        // in memory now, or there already
        for directory in self.above.iter().chain([&self.directory]) {
            let _ = mkdir(directory.as_c_str(), Mode::from_raw_mode(0o755));
        }
        let mounted = self.mount_memory(&self.directory);
        // into what was mounted over it
        let _ = chdir(self.directory.as_c_str());
        is_read_only && mounted
    }

    fn mount_memory(&self, place: &CStr) -> bool {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount(c"tmpfs", place, c"tmpfs", flags, self.size.as_c_str()).is_ok()
    }

    /// Landlock: writing below the directory only, in a namespace also to scratch places.
    fn restrict(&self, in_namespace: bool) {
        let version = landlock_version();
        if version == 0 {
            return;
        }
        let all = write_rights(version);
        let handled: [u64; 2] = [all, if version >= 4 { NETWORK } else { 0 }];
        let size = if version >= 4 { 16usize } else { 8 };
        // SAFETY: system calls with a structure of the size that is said; the descriptors are closed.
        unsafe {
            let ruleset = libc::syscall(libc::SYS_landlock_create_ruleset, handled.as_ptr(), size, 0u32);
            let Ok(ruleset @ 0..) = libc::c_int::try_from(ruleset) else { return };
            allow_below(ruleset, &self.directory, all);
            for harmless in HARMLESS {
                allow_below(ruleset, harmless, all & (WRITE_FILE | TRUNCATE));
            }
            for scratch in SCRATCH.iter().filter(|_| in_namespace) {
                allow_below(ruleset, scratch, all);
            }
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0u32);
            libc::close(ruleset);
        }
    }
}

// Landlock's access rights, as the kernel numbers them.
const WRITE_FILE: u64 = 1 << 1;
/// Removing and making files of every kind.
const CHANGE_DIRECTORIES: u64 = 0b1_1111_1111 << 4;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
/// Binding and connecting TCP.
const NETWORK: u64 = 0b11;

fn write_rights(version: u32) -> u64 {
    let mut rights = WRITE_FILE | CHANGE_DIRECTORIES;
    if version >= 2 {
        rights |= REFER;
    }
    if version >= 3 {
        rights |= TRUNCATE;
    }
    rights
}

fn landlock_version() -> u32 {
    const ASK_VERSION: u32 = 1;
    // SAFETY: asked for the version, the call takes no pointers.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, ASK_VERSION)
    };
    u32::try_from(version).unwrap_or(0)
}

/// Adds a rule to a set; a place that does not exist needs none.
fn allow_below(ruleset: libc::c_int, place: &CStr, rights: u64) {
    const PATH_BENEATH: u32 = 1;
    #[repr(C, packed)]
    struct Rule {
        rights: u64,
        parent: i32,
    }
    // SAFETY: system calls with a C string and a structure laid out as the kernel has it; the descriptor is closed.
    unsafe {
        let parent = libc::open(place.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        if parent >= 0 {
            let rule = Rule { rights, parent };
            libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, &raw const rule, 0u32);
            libc::close(parent);
        }
    }
}

/// Writes a whole small file of the kernel's.
fn write_all(place: &CStr, text: &CStr) {
    if let Ok(file) = open(place, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::io::write(&file, text.to_bytes());
    }
}
