//! Where a program under test may write: a directory of its own that is in memory, and nowhere else.
//!
//! Method: before it executes its program the server gets a mount namespace in which every file system is read-only, with small ones
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

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, RestrictSelf, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr,
};
use rustix::fs::{Mode, OFlags, mkdir, open};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{chdir, getegid, geteuid};
use rustix::thread::{UnshareFlags, secure_computing_mode, unshare_unsafe};

use super::child::{fix_addresses, make_mounts_read_only};
use super::file_in_memory;
use super::spawn::Namespaces;

/// Programs expect to be able to write here.
const SCRATCH: [&CStr; 2] = [c"/tmp", c"/dev/shm"];
/// Devices that may be written to: they keep nothing.
const HARMLESS: [&CStr; 4] = [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/tty"];

/// What is needed before the program is executed, made in advance: there no memory may be asked for.
pub(super) struct Confinement {
    directory: CString,
    /// The directories above it, outermost first.
    above: Vec<CString>,
    user: CString,
    group: CString,
    size: CString,
    ruleset: Option<RulesetCreated>,
}

/// What the kernel allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guards {
    /// Mount namespaces for ordinary users.
    pub namespaces: bool,
    /// The version of Landlock, 0 when there is none.
    pub landlock: u32,
    /// Filters of system calls.
    pub filters: bool,
    /// Files without a path, which carry what runs leave behind.
    pub memory_files: bool,
    /// Address-space randomisation can be turned off.
    pub fixed_addresses: bool,
}

/// Finds out what the kernel allows.
pub fn guards() -> Guards {
    let own_mounts = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    Guards {
        namespaces: succeeds_in_child(move || unshare(own_mounts)),
        landlock: landlock_version(),
        filters: secure_computing_mode().is_ok(),
        memory_files: file_in_memory(c"quarry-guards").is_ok(),
        fixed_addresses: succeeds_in_child(|| if fix_addresses() { Ok(()) } else { Err(Errno::PERM) }),
    }
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
            ruleset: ruleset(),
        })
    }

    /// Called in the child, which has these namespaces; does what is possible, and nothing that needs memory.
    pub(super) fn enter(&self, namespaces: Namespaces) {
        let in_namespace = self.enter_namespace(namespaces);
        self.restrict(in_namespace);
    }

    /// Own mounts: everything read-only, and places in memory to write to.
    fn enter_namespace(&self, namespaces: Namespaces) -> bool {
        match namespaces {
            Namespaces::UserAndMounts => {
                write_all(c"/proc/self/setgroups", c"deny");
                write_all(c"/proc/self/uid_map", &self.user);
                write_all(c"/proc/self/gid_map", &self.group);
            }
            Namespaces::Mounts => {}
            Namespaces::None => return false,
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
        let Some(Ok(mut ruleset)) = self.ruleset.as_ref().map(RulesetCreated::try_clone) else { return };
        allow_below(&mut ruleset, &self.directory, writing());
        for harmless in HARMLESS {
            allow_below(&mut ruleset, harmless, AccessFs::WriteFile | AccessFs::Truncate);
        }
        for scratch in SCRATCH.iter().filter(|_| in_namespace) {
            allow_below(&mut ruleset, scratch, writing());
        }
        let _ = ruleset.restrict_self();
    }
}

/// Every kind of change to files and directories. Landlock drops from it what an older kernel does not know.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(ABI::V4)
}

/// Rules that allow no writing and no TCP yet; none on a kernel without Landlock, where there is nothing to do in the child.
fn ruleset() -> Option<RulesetCreated> {
    if landlock_version() == 0 {
        return None;
    }
    let files = Ruleset::default().handle_access(writing());
    let both = files.and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(ABI::V4)));
    both.and_then(Ruleset::create).ok()
}

/// What the kernel knows of Landlock; 0 is nothing.
fn landlock_version() -> u32 {
    // restricts nothing: the library tells its findings only to those who apply something
    match RestrictSelf::default().no_new_privs(false).apply().map(|status| status.landlock) {
        Ok(LandlockStatus::Available { effective_abi, kernel_abi }) => {
            kernel_abi.map_or(effective_abi as u32, i32::cast_unsigned)
        }
        Ok(LandlockStatus::NotEnabled | LandlockStatus::NotImplemented) | Err(_) => 0,
    }
}

/// Adds a rule to a set; a place that does not exist needs none.
fn allow_below(ruleset: &mut RulesetCreated, place: &CStr, access: BitFlags<AccessFs>) {
    if let Ok(parent) = open(place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        let _ = ruleset.add_rule(PathBeneath::new(parent, access));
    }
}

/// Writes a whole small file of the kernel's.
fn write_all(place: &CStr, text: &CStr) {
    if let Ok(file) = open(place, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::io::write(&file, text.to_bytes());
    }
}
