//! The shared memory as the engine sees it: written before a run, read in place after it.
//!
//! Limit: the program under test can write anywhere in it, so every number found there is checked against the layout.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use memmap2::{Advice, MmapOptions, MmapRaw};
use model::input::Input;
use rustix::fs::{FallocateFlags, fallocate};
use wire::{
    CELL_SIZE, Flags, HEADER_SIZE, Header, INPUT_SIZE, InputRecord, Layout, MAGIC, MAX_TRIES, NODE_SIZE,
    Node, NodeError, NodeId, RunState, TRY_OFFSET, TRY_SIZE, TryRecord, WIRE_VERSION, field,
};

use super::{Cells, ExecutorError, Limits, Values, failed, file_in_memory};

/// Pages beyond this many touched bytes are given back after a run.
const KEPT_BYTES: u64 = 64 << 20;

/// The expression nodes of a run.
#[derive(Clone, Copy, Debug)]
pub struct Nodes<'m> {
    bytes: &'m [u8],
}

impl<'m> Nodes<'m> {
    /// Nodes from their bytes, beginning with the unused node 0.
    pub fn new(bytes: &'m [u8]) -> Self {
        Self { bytes }
    }

    /// How many there are; also the id of the newest.
    pub fn len(self) -> usize {
        (self.bytes.len() / NODE_SIZE).saturating_sub(1)
    }

    /// Bytes that they take.
    pub fn n_bytes(self) -> usize {
        self.bytes.len()
    }

    /// Their bytes; the first ones belong to the unused node 0.
    pub fn bytes(self) -> &'m [u8] {
        self.bytes
    }

    /// Whether the run made none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes of the nodes up to this one, with those of the unused node 0.
    pub fn bytes_to(self, newest: NodeId) -> &'m [u8] {
        let n_bytes = (newest.0 as usize + 1).saturating_mul(NODE_SIZE);
        &self.bytes[..n_bytes.min(self.bytes.len())]
    }

    /// The node with this id; `None` when there is none.
    pub fn get(self, id: NodeId) -> Option<Result<Node, NodeError>> {
        let start = (id.0 as usize).checked_mul(NODE_SIZE).filter(|start| *start > 0)?;
        Some(Node::decode(self.bytes.get(start..)?.first_chunk()?))
    }
}

/// A memfd, mapped whole.
pub(super) struct SharedMemory {
    file: File,
    map: MmapRaw,
    layout: Layout,
}

impl SharedMemory {
    /// Makes the memory; it takes room only where touched.
    pub(super) fn new(layout: Layout) -> Result<Self, ExecutorError> {
        let file = file_in_memory(c"quarry").map_err(failed("make shared memory"))?;
        file.set_len(layout.total_size()).map_err(failed("size shared memory"))?;
        let map = MmapOptions::new().no_reserve_swap().map_raw(&file).map_err(failed("map shared memory"))?;
        // Processes that this one starts get the file, not the mapping: copying the page tables of so much memory takes longer than
        // starting a small program. A kernel that refuses only costs time.
        let _ = map.advise(Advice::DontFork);
        Ok(Self { file, map, layout })
    }

    /// The descriptor to hand to the program.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Prepares a run.
    pub(super) fn prepare(
        &mut self,
        input: &Input,
        flags: Flags,
        limits: Limits,
        limit: Duration,
    ) -> Result<(), ExecutorError> {
        let (n_cells, capacity) = (input.values.len(), self.layout.input_capacity);
        let n_inputs = u32::try_from(n_cells).ok().filter(|n| *n <= capacity);
        let n_inputs = n_inputs.ok_or(ExecutorError::InputTooLarge { n_cells, capacity })?;
        self.write_header(flags, limits, limit, (n_inputs, 0));
        self.write_input(input);
        Ok(())
    }

    /// Prepares tries, as many of them as there is room for; says how many those are.
    pub(super) fn prepare_tries(
        &mut self,
        tries: &[Values],
        flags: Flags,
        limits: Limits,
        limit: Duration,
    ) -> usize {
        let (mut records, mut inputs) = (Vec::new(), Vec::new());
        let mut n_inputs = 0;
        for values in tries.iter().take(MAX_TRIES) {
            let n_more = u32::try_from(values.len()).unwrap_or(u32::MAX);
            if n_more > self.layout.input_capacity - n_inputs {
                break;
            }
            let record = TryRecord { first_input: n_inputs, n_inputs: n_more, verdict: None, n_logged: 0 };
            records.extend_from_slice(&record.encode());
            for &(key, value) in values {
                inputs.extend_from_slice(&InputRecord { key: key.0, value }.encode());
            }
            n_inputs += n_more;
        }
        let n_tries = records.len() / TRY_SIZE;
        self.write_header(flags, limits, limit, (0, n_tries as u32));
        self.write(TRY_OFFSET, &records);
        self.write(self.layout.input_offset(), &inputs);
        n_tries
    }

    /// What came of the try with this index.
    pub(super) fn tried(&self, index: usize) -> TryRecord {
        let record = self.bytes(TRY_OFFSET + (index * TRY_SIZE) as u64, TRY_SIZE as u64);
        TryRecord::decode(record.first_chunk().expect("as many bytes as asked for"))
    }

    fn write_header(
        &mut self,
        flags: Flags,
        limits: Limits,
        limit: Duration,
        (n_inputs, n_tries): (u32, u32),
    ) {
        let mut page = [0; HEADER_SIZE];
        let mut word = |at: usize, value: u32| page[at..at + 4].copy_from_slice(&value.to_le_bytes());
        word(field::MAGIC, MAGIC);
        word(field::VERSION, WIRE_VERSION);
        word(field::FLAGS, flags.bits());
        word(field::N_INPUTS, n_inputs);
        word(field::N_TRIES, n_tries);
        word(field::INPUT_CAPACITY, self.layout.input_capacity);
        word(field::CELL_CAPACITY, self.layout.cell_capacity);
        word(field::NODE_CAPACITY, self.layout.node_capacity);
        let mut long = |at: usize, value: u64| page[at..at + 8].copy_from_slice(&value.to_le_bytes());
        long(field::INPUT_OFFSET, self.layout.input_offset());
        long(field::CELL_OFFSET, self.layout.cell_offset());
        long(field::NODE_OFFSET, self.layout.node_offset());
        long(field::LOG_OFFSET, self.layout.log_offset());
        long(field::TOTAL_SIZE, self.layout.total_size());
        long(field::LOG_CAPACITY, self.layout.log_capacity);
        long(field::MEMORY_LIMIT, limits.memory);
        long(field::FILE_LIMIT, limits.file);
        // processor time is bounded too, loosely, in case this process is stopped while the run goes on
        long(
            field::CPU_LIMIT_MS,
            u64::try_from(limit.as_millis()).unwrap_or(u64::MAX / 2).saturating_add(2000),
        );
        self.write(0, &page[..field::END]);
    }

    fn write_input(&mut self, input: &Input) {
        let offsets = (self.layout.input_offset()..).step_by(INPUT_SIZE);
        for ((key, &value), offset) in input.values.iter().zip(offsets) {
            self.write(offset, &InputRecord { key: key.0, value }.encode());
        }
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        self.check(offset, bytes.len() as u64);
        // SAFETY: within the mapping, and nobody else reads or writes it: no run is under way, and no slice is lent.
        unsafe {
            self.map.as_mut_ptr().add(offset as usize).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
        };
    }

    /// What the run wrote into the header.
    pub(super) fn header(&self) -> Header {
        Header::decode(self.bytes(0, HEADER_SIZE as u64))
    }

    /// Whether the run got as far as starting.
    pub(super) fn has_started(&self) -> bool {
        self.header().state != Some(RunState::Ready)
    }

    pub(super) fn cells(&self) -> Cells<'_> {
        let n_cells = self.header().n_cells.min(self.layout.cell_capacity);
        Cells::new(self.bytes(self.layout.cell_offset(), u64::from(n_cells) * CELL_SIZE as u64))
    }

    pub(super) fn nodes(&self) -> Nodes<'_> {
        let n_nodes = self.header().n_nodes.min(self.layout.node_capacity);
        Nodes::new(self.bytes(self.layout.node_offset(), (u64::from(n_nodes) + 1) * NODE_SIZE as u64))
    }

    pub(super) fn log(&self) -> &[u8] {
        let length = self.header().log_length.min(self.layout.log_capacity);
        self.bytes(self.layout.log_offset(), length)
    }

    /// Gives memory back that an unusually long run took.
    pub(super) fn trim(&mut self) {
        let header = self.header();
        let nodes = u64::from(header.n_nodes.min(self.layout.node_capacity)) * NODE_SIZE as u64;
        let log = header.log_length.min(self.layout.log_capacity);
        for (offset, touched) in [(self.layout.node_offset(), nodes), (self.layout.log_offset(), log)] {
            if touched > KEPT_BYTES {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                // a failure only keeps memory in use
                let _ = fallocate(&self.file, mode, offset + KEPT_BYTES, touched - KEPT_BYTES);
            }
        }
    }

    fn check(&self, offset: u64, length: u64) {
        let end = offset.checked_add(length).filter(|end| *end <= self.layout.total_size());
        assert!(end.is_some(), "parts of the shared memory lie within it");
    }

    fn bytes(&self, offset: u64, length: u64) -> &[u8] {
        self.check(offset, length);
        let (offset, length) = (offset as usize, length as usize);
        // SAFETY: within the mapping, which lives as long as `self`; no run is under way while a slice is lent: runs need `&mut self`.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(offset), length) }
    }
}
