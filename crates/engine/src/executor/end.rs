//! How a run ended, told from the server's wait status and from what the run noted in the header.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::Signal;
use wire::{Header, ObjectKind, Outside, RunState};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The harness, or `main`, came back.
    Returned,
    /// The program called `exit`.
    Exited(i32),
    /// The program called `abort`, or an assertion failed.
    Aborted,
    /// A signal ended it; the address is that of a faulting access.
    Signalled { signal: i32, address: Option<u64> },
    /// It ran longer than allowed.
    TimedOut,
    /// It died after an allocation failed under the memory limit.
    OutOfMemory,
    /// The stack ran out.
    StackOverflow,
    /// It came to an end that it chose itself, after an access outside of its object.
    OutOfBounds(Outside),
}

impl End {
    /// The end without the address of the fault or access, which differs between runs that fail alike.
    pub fn without_address(self) -> Self {
        match self {
            Self::OutOfBounds(outside) => {
                Self::OutOfBounds(Outside { offset: 0, size: 0, bytes: 0, ..outside })
            }
            Self::Signalled { signal, .. } => Self::Signalled { signal, address: None },
            Self::Returned
            | Self::Exited(_)
            | Self::Aborted
            | Self::TimedOut
            | Self::OutOfMemory
            | Self::StackOverflow => self,
        }
    }

    /// Whether the program came to an end that it chose itself.
    pub fn is_orderly(self) -> bool {
        match self {
            Self::Returned | Self::Exited(_) => true,
            Self::Aborted
            | Self::Signalled { .. }
            | Self::TimedOut
            | Self::OutOfMemory
            | Self::StackOverflow
            | Self::OutOfBounds(_) => false,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned => f.write_str("returned"),
            Self::Exited(code) => write!(f, "exited with {code}"),
            Self::Aborted => f.write_str("aborted"),
            Self::Signalled { signal, address } => {
                match signal_name(*signal) {
                    Some(name) => write!(f, "killed by {name}")?,
                    None => write!(f, "killed by signal {signal}")?,
                }
                address.map_or(Ok(()), |address| write!(f, " at address {address:#x}"))
            }
            Self::TimedOut => f.write_str("timed out"),
            Self::OutOfMemory => f.write_str("ran out of memory"),
            Self::StackOverflow => f.write_str("overflowed the stack"),
            Self::OutOfBounds(outside) => outside_text(f, outside),
        }
    }
}

fn outside_text(f: &mut fmt::Formatter<'_>, outside: &Outside) -> fmt::Result {
    let Outside { object, size, offset, bytes, is_write, .. } = outside;
    let act = if *is_write { "write" } else { "read" };
    let object = match object {
        ObjectKind::Global => "a global",
        ObjectKind::Local => "a local object",
        ObjectKind::Heap => "an allocation",
        ObjectKind::Foreign => "a table of the C library",
    };
    let s = if *bytes == 1 { "" } else { "s" };
    write!(f, "out-of-bounds {act} of {bytes} byte{s} at offset {offset} of {object} of {size} bytes")
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match Signal::from_named_raw(signal)? {
        Signal::SEGV => "SIGSEGV",
        Signal::BUS => "SIGBUS",
        Signal::FPE => "SIGFPE",
        Signal::ILL => "SIGILL",
        Signal::TRAP => "SIGTRAP",
        Signal::ABORT => "SIGABRT",
        Signal::KILL => "SIGKILL",
        Signal::TERM => "SIGTERM",
        Signal::PIPE => "SIGPIPE",
        Signal::SYS => "SIGSYS",
        Signal::ALARM => "SIGALRM",
        _ => return None,
    })
}

/// What `status` (as `wait` gives it) and the run's own notes say together.
pub(super) fn classify(status: i32, header: &Header, killed_for_time: bool) -> End {
    let status = ExitStatus::from_raw(status);
    let Some(signal) = status.signal() else {
        if let Some(outside) = header.outside {
            return End::OutOfBounds(outside);
        }
        return match header.state {
            Some(RunState::Returned) => End::Returned,
            // also a way out that the runtime did not see, such as a system call
            Some(RunState::Exited | RunState::Ready | RunState::Started | RunState::StackOverflow) | None => {
                End::Exited(status.code().unwrap_or(0))
            }
        };
    };
    let named = Signal::from_named_raw(signal);
    if killed_for_time || named == Some(Signal::XCPU) {
        End::TimedOut
    } else if header.state == Some(RunState::StackOverflow) {
        End::StackOverflow
    } else if header.marks.out_of_memory || named == Some(Signal::KILL) {
        // nobody else kills runs: it was the kernel, short of memory
        End::OutOfMemory
    } else if named == Some(Signal::ABORT) {
        End::Aborted
    } else {
        // a null pointer's fault lies at address 0, so the signal tells whether there is an address
        let has_address = matches!(named, Some(Signal::SEGV | Signal::BUS));
        End::Signalled { signal, address: has_address.then_some(header.fault_address) }
    }
}

#[cfg(test)]
mod tests {
    use wire::Marks;

    use super::*;

    fn header(state: RunState, marks: Marks) -> Header {
        Header {
            state: Some(state),
            marks,
            n_cells: 0,
            n_nodes: 0,
            log_length: 0,
            exit_code: 0,
            n_tried: 0,
            fault_address: 16,
            outside: None,
            not_undone: None,
        }
    }

    #[test]
    fn ends_are_told_apart() {
        let fine = Marks::default();
        let short = Marks { out_of_memory: true, ..fine };
        let exited = |code: i32| code << 8;
        let check = |status, state, marks, killed, end| {
            assert_eq!(classify(status, &header(state, marks), killed), end);
        };
        check(exited(0), RunState::Returned, fine, false, End::Returned);
        check(exited(3), RunState::Exited, fine, false, End::Exited(3));
        check(exited(4), RunState::Started, fine, false, End::Exited(4));
        check(libc::SIGABRT, RunState::Started, fine, false, End::Aborted);
        check(libc::SIGABRT, RunState::Started, short, false, End::OutOfMemory);
        check(libc::SIGKILL, RunState::Started, fine, true, End::TimedOut);
        check(libc::SIGKILL, RunState::Started, fine, false, End::OutOfMemory);
        check(libc::SIGXCPU, RunState::Started, fine, false, End::TimedOut);
        check(libc::SIGSEGV, RunState::StackOverflow, fine, false, End::StackOverflow);
        let fault = End::Signalled { signal: libc::SIGSEGV, address: Some(16) };
        check(libc::SIGSEGV, RunState::Started, fine, false, fault);
        let division = End::Signalled { signal: libc::SIGFPE, address: None };
        check(libc::SIGFPE, RunState::Started, fine, false, division);
    }

    #[test]
    fn an_access_outside_of_its_object_is_no_orderly_end() {
        let outside =
            Outside { object: ObjectKind::Heap, size: 8, offset: -4, bytes: 4, is_write: true, place: 3 };
        let header = Header { outside: Some(outside), ..header(RunState::Returned, Marks::default()) };
        let end = classify(0, &header, false);
        assert!(!end.is_orderly());
        assert_eq!(
            end.to_string(),
            "out-of-bounds write of 4 bytes at offset -4 of an allocation of 8 bytes"
        );
        let fault = End::Signalled { signal: libc::SIGSEGV, address: Some(16) };
        assert_eq!(classify(libc::SIGSEGV, &header, false), fault);
    }

    #[test]
    fn ends_read_as_sentences() {
        let fault = End::Signalled { signal: libc::SIGSEGV, address: Some(0) };
        assert_eq!(fault.to_string(), "killed by SIGSEGV at address 0x0");
        assert_eq!(End::Exited(2).to_string(), "exited with 2");
    }
}
