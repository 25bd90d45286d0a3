//! System calls that a program without the runtime is refused: network, signals to others, changes of the machine.
//!
//! `runtime/sandbox.c` installs the counterpart in instrumented programs. A refused call fails with "not permitted".
//! seccompiler writes the filter for programs of this machine's own architecture and ends those of any other; the few
//! instructions before it are ours, because it does not know i386 and programs may be built with `-m32`. Limit: where
//! seccompiler does not know the machine's architecture nothing is refused.

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter, sock_filter};

/// By their numbers on this machine's architecture.
const REFUSED: [i64; 17] = [
    libc::SYS_socket,
    libc::SYS_io_uring_setup,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// The same on i386: socket, socketcall, io_uring_setup, ptrace, process_vm_writev, unshare, setns, mount, umount2,
/// mount_setattr, open_tree, fsopen, pivot_root, chroot, kill, tkill, rt_sigqueueinfo, pidfd_send_signal.
const REFUSED_I386: [u32; 18] =
    [359, 102, 425, 26, 348, 310, 346, 21, 52, 442, 428, 430, 217, 61, 37, 238, 178, 424];

/// What starts a process or a thread, refused to programs that must stay alone.
#[cfg(target_arch = "x86_64")]
const STARTS: [i64; 4] = [libc::SYS_clone, libc::SYS_clone3, libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const STARTS: [i64; 2] = [libc::SYS_clone, libc::SYS_clone3];

/// The same on i386: clone, clone3, fork, vfork.
const STARTS_I386: [u32; 4] = [120, 435, 2, 190];

/// A filter, made before the child that installs it.
pub(super) struct Filter {
    program: BpfProgram,
}

impl Filter {
    /// For a program that may start others, or for one that may not.
    pub(super) fn new(may_start: bool) -> Self {
        let program = TargetArch::try_from(std::env::consts::ARCH).map_or(Vec::new(), |architecture| {
            let mut program = match architecture {
                TargetArch::x86_64 => for_i386(may_start),
                TargetArch::aarch64 | TargetArch::riscv64 => Vec::new(),
            };
            program.extend(for_machine(architecture, may_start));
            program
        });
        Self { program }
    }

    /// Called in the child; where the kernel refuses there is no filter.
    pub(super) fn install(&self) {
        let _ = apply_filter(&self.program);
    }
}

fn for_machine(architecture: TargetArch, may_start: bool) -> BpfProgram {
    let always = |number: i64| (number, Vec::new());
    let starts = STARTS.into_iter().filter(|_| !may_start);
    let rules = REFUSED.into_iter().chain(starts).map(always).collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal(), architecture);
    filter.and_then(BpfProgram::try_from).expect("a few rules without conditions are a valid filter")
}

fn refusal() -> SeccompAction {
    SeccompAction::Errno(libc::EPERM.cast_unsigned())
}

/// Judges calls of i386 and leaves all others to what follows.
fn for_i386(may_start: bool) -> BpfProgram {
    const AUDIT_I386: u32 = 0x4000_0003;
    // offsets in the structure that the kernel shows a filter
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    let mut body = vec![load(NUMBER)];
    for number in REFUSED_I386.into_iter().chain(STARTS_I386.into_iter().filter(|_| !may_start)) {
        body.extend([unless_skip(number, 1), give(refusal())]);
    }
    body.push(give(SeccompAction::Allow));
    let length = u8::try_from(body.len()).expect("a few dozen instructions");
    let mut program = vec![load(ARCHITECTURE), unless_skip(AUDIT_I386, length)];
    program.extend(body);
    program
}

fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, offset)
}

/// Skips so many instructions unless the loaded value is this one.
fn unless_skip(value: u32, n_skipped: u8) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, n_skipped, value)
}

fn give(action: SeccompAction) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, action.into())
}

fn instruction(code: u32, jf: u8, k: u32) -> sock_filter {
    let code = u16::try_from(code).expect("codes have 16 bits");
    sock_filter { code, jt: 0, jf, k }
}
