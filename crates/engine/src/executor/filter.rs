//! System calls that a program without the runtime is refused: network, signals to others, changes of the machine.
//!
//! `runtime/sandbox.c` installs the counterpart in instrumented programs. A refused call fails with "not permitted". Limit: for
//! programs of x86-64 and i386; others are refused nothing here.

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

const AUDIT_X86_64: u32 = 0xc000_003e;
const AUDIT_I386: u32 = 0x4000_0003;
/// Offsets in the structure that the kernel shows a filter.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// By their numbers on x86-64.
const REFUSED_64: [i64; 17] = [
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
const REFUSED_32: [u32; 18] =
    [359, 102, 425, 26, 348, 310, 346, 21, 52, 442, 428, 430, 217, 61, 37, 238, 178, 424];

/// A filter, made before the child that installs it.
pub(super) struct Filter {
    program: Vec<sock_filter>,
}

impl Filter {
    pub(super) fn new() -> Self {
        let numbers_64: Vec<u32> =
            REFUSED_64.iter().filter_map(|number| u32::try_from(*number).ok()).collect();
        let mut program = vec![load(ARCHITECTURE)];
        for (architecture, numbers) in [(AUDIT_X86_64, numbers_64.as_slice()), (AUDIT_I386, &REFUSED_32)] {
            let body = refusals(numbers);
            let length = u8::try_from(body.len()).expect("a few dozen instructions");
            program.push(jump_if(architecture, 0, length));
            program.extend(body);
        }
        program.push(give(libc::SECCOMP_RET_ALLOW));
        Self { program }
    }

    /// Called in the child; where the kernel refuses there is no filter.
    pub(super) fn install(&self) {
        let length = u16::try_from(self.program.len()).expect("a few dozen instructions");
        let filter = libc::sock_fprog { len: length, filter: self.program.as_ptr().cast_mut() };
        // SAFETY: system calls with a structure that describes the program above.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter);
        }
    }
}

/// Refuses these calls and allows all others.
fn refusals(numbers: &[u32]) -> Vec<sock_filter> {
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
    let mut body = vec![load(NUMBER)];
    for number in numbers {
        body.extend([jump_if(*number, 0, 1), give(refuse)]);
    }
    body.push(give(libc::SECCOMP_RET_ALLOW));
    body
}

fn load(offset: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset)
}

/// Goes on `then` instructions further when the loaded value is this one, else `other`.
fn jump_if(value: u32, then: u8, other: u8) -> sock_filter {
    instruction(BPF_JMP | BPF_JEQ | BPF_K, then, other, value)
}

fn give(value: u32) -> sock_filter {
    instruction(BPF_RET | BPF_K, 0, 0, value)
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    let code = u16::try_from(code).expect("codes have 16 bits");
    sock_filter { code, jt, jf, k }
}
