//! A small client of the fork server.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};
use wire::{
    CELL_SIZE, COMMAND_FD, Cell, Event, Events, Flags, HEADER_SIZE, Header, InputRecord, Layout, MAGIC,
    NODE_SIZE, Node, REPLY_FD, SERVER_VARIABLE, SHM_FD, WIRE_VERSION, field,
};

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Trace {
    pub header: Header,
    pub wait_status: i32,
    pub cells: Vec<Cell>,
    /// Node k + 1 at index k.
    pub nodes: Vec<Node>,
    pub events: Vec<Event>,
    pub log: Vec<u8>,
}

/// Limits of a run; 0 is none.
#[derive(Clone, Copy, Default)]
pub struct Limits {
    pub memory: u64,
    pub file: u64,
}

pub struct Server {
    child: Child,
    memory: File,
    command: PipeWriter,
    reply: PipeReader,
    layout: Layout,
    pub flags: Flags,
    pub limits: Limits,
    /// Processor time a run may take; 0 is any.
    pub seconds: u64,
}

impl Server {
    pub fn start(program: &Path) -> Self {
        let small = Layout {
            input_capacity: 1024,
            cell_capacity: 1024,
            node_capacity: 1 << 20,
            log_capacity: 1 << 22,
        };
        Self::start_with(program, small)
    }

    pub fn start_with(program: &Path, layout: Layout) -> Self {
        let memory = File::from(memfd_create(c"quarry", MemfdFlags::CLOEXEC).expect("a file in memory"));
        memory.set_len(layout.total_size()).expect("memory of the wanted size");
        let (command_read, command) = std::io::pipe().expect("a pipe");
        let (reply, reply_write) = std::io::pipe().expect("a pipe");
        let server = Self {
            child: spawn(
                program,
                [memory.as_raw_fd(), command_read.as_raw_fd(), reply_write.as_raw_fd()],
                || {
                    write_header(&memory, &layout);
                },
            ),
            memory,
            command,
            reply,
            layout,
            flags: Flags { symbolic: true, ..Flags::default() },
            limits: Limits::default(),
            seconds: 0,
        };
        drop((command_read, reply_write));
        server
    }

    /// Runs the program once on these cell values (by key).
    pub fn run(&mut self, input: &[(u64, u64)]) -> Trace {
        let mut sorted = input.to_vec();
        sorted.sort_unstable();
        for ((key, value), k) in sorted.iter().copied().zip(0..) {
            self.write(self.layout.input_offset() + 16 * k, &InputRecord { key, value }.encode());
        }
        let n_inputs = u32::try_from(sorted.len()).expect("few inputs");
        self.write(field::N_INPUTS as u64, &n_inputs.to_le_bytes());
        self.write(field::FLAGS as u64, &self.flags.bits().to_le_bytes());
        self.write(field::MEMORY_LIMIT as u64, &self.limits.memory.to_le_bytes());
        self.write(field::FILE_LIMIT as u64, &self.limits.file.to_le_bytes());
        self.write(field::CPU_LIMIT_MS as u64, &(1000 * self.seconds).to_le_bytes());
        self.write(field::STATE as u64, &0u32.to_le_bytes());
        self.execute()
    }

    /// One execution with the input as it is.
    pub fn execute(&mut self) -> Trace {
        let wait_status = self.execute_blind();
        self.trace(wait_status)
    }

    /// One execution whose trace nobody reads.
    pub fn execute_blind(&mut self) -> i32 {
        self.command.write_all(b"r").expect("the server listens");
        let mut replies = [0; 8];
        self.reply.read_exact(&mut replies).expect("the server answers");
        i32::from_le_bytes(replies[4..].try_into().expect("four bytes"))
    }

    fn trace(&self, wait_status: i32) -> Trace {
        let header = Header::decode(&self.read(0, HEADER_SIZE));
        let cells = self.read(self.layout.cell_offset(), header.n_cells as usize * CELL_SIZE);
        let cells =
            cells.chunks_exact(CELL_SIZE).map(|c| Cell::decode(c.try_into().expect("a cell"))).collect();
        let nodes =
            self.read(self.layout.node_offset() + NODE_SIZE as u64, header.n_nodes as usize * NODE_SIZE);
        let nodes = nodes
            .chunks_exact(NODE_SIZE)
            .map(|n| Node::decode(n.try_into().expect("a node")).expect("a valid node"))
            .collect();
        let log = self.read(self.layout.log_offset(), usize::try_from(header.log_length).expect("fits"));
        let events = Events::new(&log).collect::<Result<_, _>>().expect("a valid log");
        Trace { header, wait_status, cells, nodes, events, log }
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        self.memory.write_all_at(bytes, at).expect("memory written");
    }

    fn read(&self, at: u64, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        self.memory.read_exact_at(&mut bytes, at).expect("memory read");
        bytes
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn write_header(memory: &File, layout: &Layout) {
    let put = |at: usize, bytes: &[u8]| memory.write_all_at(bytes, at as u64).expect("header written");
    put(field::MAGIC, &MAGIC.to_le_bytes());
    put(field::VERSION, &WIRE_VERSION.to_le_bytes());
    put(field::INPUT_OFFSET, &layout.input_offset().to_le_bytes());
    put(field::CELL_OFFSET, &layout.cell_offset().to_le_bytes());
    put(field::NODE_OFFSET, &layout.node_offset().to_le_bytes());
    put(field::LOG_OFFSET, &layout.log_offset().to_le_bytes());
    put(field::TOTAL_SIZE, &layout.total_size().to_le_bytes());
    put(field::INPUT_CAPACITY, &layout.input_capacity.to_le_bytes());
    put(field::CELL_CAPACITY, &layout.cell_capacity.to_le_bytes());
    put(field::NODE_CAPACITY, &layout.node_capacity.to_le_bytes());
    put(field::LOG_CAPACITY, &layout.log_capacity.to_le_bytes());
}

fn spawn(program: &Path, sources: [RawFd; 3], prepare: impl Fn()) -> Child {
    prepare();
    let targets = [SHM_FD, COMMAND_FD, REPLY_FD];
    let mut command = Command::new(program);
    command.env(SERVER_VARIABLE, "1").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: only dup2 between fork and exec.
    unsafe {
        command.pre_exec(move || {
            for (source, target) in sources.into_iter().zip(targets) {
                if libc::dup2(source, target) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    command.spawn().expect("the program starts")
}
